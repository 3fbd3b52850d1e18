//! Native classes as Rust types: the expansion of `#[uclass]` on a struct and its `impl` block. Hosts and plugins use attributes with equal
//! names. In a host, the attributes expand to declarations that use the types of [`super`]. Each runtime declares its own copy of the
//! classes.
//!
//! Fields with `#[uproperty]` become properties of the object. All remaining fields form a Rust struct. Each object has one value of this
//! struct. The red constructor builds this value when the value is first used, and at the latest before the class constructor runs. If the
//! struct has no fields, no destructor and no hooks, the value is built only when it is first used. The value is dropped on the game thread
//! after `begin_destroy`. Reloads do not change the value.

use std::mem::needs_drop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use alcedo_abi::describe::Metadata;

use crate::boundary::CallError;
use crate::emit::read::Copied as _;
use crate::handles::ObjectHandle;
use crate::native::failing::failing;
use crate::native::functions::{Function, owned};
use crate::native::member_function::MemberFunction;
use crate::native::method::{Method, Part, Receiver as _, Shared, part_of, run, try_run};
use crate::native::net::NetHooks;
use crate::native::part_cell::PartCell;
use crate::native::parts::{LateHook, Parts};
use crate::native::property::NativeProperty;
use crate::native::this::{At, Class, This, View};
use crate::native::{NativeClass, NativeEnum, NativeStruct, Natives};
use crate::object;
use crate::object::decl::{ClassDecl, EnumDecl, PropertyDecl, StructDecl};
use crate::object::native_enums::NativeEnumeration;
use crate::object::native_value::{NativeParams, NativeResult, NativeValue, SlotRow};
use crate::object::natives::core_of;
use crate::object::origin::Origin;
use crate::object::typed::PlainStruct;
use crate::panic_guard;

/// A native type declared with `#[uclass]`, `#[ustruct]`, `#[uenum]`, `#[udelegate]` or `#[uinterface]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not declared as a native type",
    label = "declare it with `#[uclass]`, `#[ustruct]`, `#[uenum]`, `#[udelegate]` or `#[uinterface]` of `alcedo::native`"
)]
pub trait Declared {
    /// Adds this type to `natives`.
    #[doc(hidden)]
    fn add_to(natives: Natives) -> Natives;
}

/// A class declared with `#[uclass]`.
pub trait DeclaredClass: Part {
    #[doc(hidden)]
    const PACKAGE: &'static str;
    #[doc(hidden)]
    fn description() -> Description<Self>;
}

/// A hook of class `C`.
pub struct Hook<C: Class> {
    run: fn(&Parts<C>, This<'_, C>) -> Result<(), CallError>,
    try_run: TryRun<C>,
}

/// Runs a hook on the Rust fields of an object, even if the object is destroyed. Returns `None` if an open borrow of the fields conflicts
/// with the hook.
type TryRun<C> = fn(&PartCell<C>, This<'_, C>) -> Option<Result<(), CallError>>;

alcedo_abi::copies! { impl[C: Class] Hook<C>; }

/// Returns the hook with the body `M`.
pub const fn hook<M: Method<Args = (), Result = ()>>() -> Hook<M::Class> {
    Hook { run: |parts, this| run::<M>(parts, this, ()), try_run: |part, this| try_run::<M>(part, this, ()) }
}

/// Function that reports the objects to which the Rust fields of a class refer.
pub type References<C> = fn(&C, This<'_, C>, &mut dyn FnMut(ObjectHandle));

/// Contents of the `impl` blocks of a class: functions, constructors and hooks.
pub struct Body<C: Class> {
    functions: &'static [Function<C>],
    class_constructor: Option<Hook<C>>,
    post_init_properties: Option<Hook<C>>,
    begin_destroy: Option<Hook<C>>,
    add_references: Option<References<C>>,
    has_red_constructor: bool,
}

impl<C: Class> Body<C> {
    /// Body of a class without an `impl` block.
    pub const EMPTY: Self = Self::new(&[], None, None);

    /// Creates a body from functions and constructors.
    pub const fn new(
        functions: &'static [Function<C>],
        class_constructor: Option<Hook<C>>,
        post_init_properties: Option<Hook<C>>,
    ) -> Self {
        Self {
            functions,
            class_constructor,
            post_init_properties,
            begin_destroy: None,
            add_references: None,
            has_red_constructor: false,
        }
    }

    /// Adds the destruction hook and the reference hook. Only native classes support these hooks. `has_red_constructor` is true if the
    /// class has a handwritten red constructor.
    #[must_use]
    pub const fn with_ends(
        self,
        begin_destroy: Option<Hook<C>>,
        add_references: Option<References<C>>,
        has_red_constructor: bool,
    ) -> Self {
        Self { begin_destroy, add_references, has_red_constructor, ..self }
    }
}

/// Default body for a class without a `#[uclass] impl` block.
pub trait NoBody: Class {
    /// Empty body.
    const ONE_UCLASS_IMPL_BLOCK_PER_CLASS: Body<Self> = Body::EMPTY;
}

impl<C: Class> NoBody for C {}

/// Declares a property whose values have type `T`.
pub fn class_property<T: NativeProperty>(name: &str, flags: u64, default: &str, metadata: Metadata) -> PropertyDecl {
    PropertyDecl {
        doc: metadata.doc.to_owned(),
        meta: owned(metadata.meta),
        ..T::declared(name).with_flags(flags).with_default(default)
    }
}

/// Declaration of a class.
pub struct Description<C: Class> {
    /// Name in the package.
    pub name: &'static str,
    /// Class flags.
    pub flags: u64,
    /// Doc comment.
    pub doc: &'static str,
    /// Properties.
    pub properties: Vec<PropertyDecl>,
    /// Inherited subobjects for which this class specifies a different class. Each entry contains the property of the subobject, and the
    /// path of the new class.
    pub subobjects: &'static [(&'static str, &'static str)],
    /// Defaults of inherited properties and of properties in subobjects. Each entry contains the path of the property, and its default.
    pub defaults: &'static [(&'static str, &'static str)],
    /// Functions and hooks.
    pub body: Body<C>,
    /// Functions that implement the interfaces of the class.
    pub bodies: &'static [&'static [Function<C>]],
    /// True if the class has Rust fields.
    pub has_fields: bool,
}

/// Returns the declaration of a class for one runtime.
fn class_decl<C: DeclaredClass>() -> ClassDecl {
    let Description { name, flags, doc, properties, subobjects, defaults, body, bodies, has_fields } = C::description();
    let Body { functions, class_constructor, post_init_properties, begin_destroy, add_references, has_red_constructor } =
        body;
    let parts = Rc::new(Parts::new(C::PATH));
    let mut decl = ClassDecl::new(C::PACKAGE, name, C::Base::PATH, Origin::Native);
    decl.flags = flags;
    decl.doc = doc.to_owned();
    let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
    decl.subobjects = subobjects.iter().map(owned).collect();
    decl.default_overrides = defaults.iter().map(owned).collect();
    decl.properties = properties;
    let functions = functions.iter().chain(bodies.iter().copied().flatten());
    decl.functions = functions.map(|function| function.declared(&parts)).collect();
    decl.interfaces = C::IMPLEMENTS.iter().map(|path| (*path).to_owned()).collect();
    // Without fields, constructor, destructor or hooks, no code can observe when the empty struct is built.
    let is_observed = has_fields || has_red_constructor || needs_drop::<C>() || add_references.is_some();
    if is_observed || class_constructor.is_some() || begin_destroy.is_some() {
        let parts = Rc::clone(&parts);
        decl.native_constructor = Some(Rc::new(move |context, object| {
            let this = This::new(object::World::of(context), object);
            failing(|| part_of(&parts, this).map(drop))
                .and_then(|()| class_constructor.map_or(Ok(()), |hook| (hook.run)(&parts, this)))
                .map_err(|error| error.to_string())
        }));
    }
    if let Some(hook) = post_init_properties {
        let parts = Rc::clone(&parts);
        decl.native_post_init = Some(Rc::new(move |context, object| {
            (hook.run)(&parts, This::new(object::World::of(context), object)).map_err(|error| error.to_string())
        }));
    }
    decl.begin_destroy = {
        let parts = Rc::clone(&parts);
        Some(Rc::new(move |context, object| end(&parts, This::new(object::World::of(context), object), begin_destroy)))
    };
    if let Some(references) = add_references {
        let parts = Rc::clone(&parts);
        decl.add_references = Some(Rc::new(move |context, object, visit| {
            let Some(part) = parts.there(object) else { return Ok(()) };
            let this = This::new(object::World::of(context), object);
            Shared::with(&part, object, "add_references", |part| references(part, this, visit))
        }));
    }
    decl
}

/// Runs the hook on the Rust fields of an object, and then drops the fields. Called if the object is being destroyed, or if a reload has
/// moved the object to another native class. If a running method has borrowed the fields, the fields are dropped after the running method
/// returns. If this borrow conflicts with the hook, the hook also runs after the running method returns.
fn end<C: DeclaredClass>(parts: &Parts<C>, this: This<'_, C>, hook: Option<Hook<C>>) {
    let At { world, object } = this.view.at();
    let objects = &core_of(world).objects;
    let is_left = objects.is_alive(object) && !objects.is_ending(object);
    let part = parts.there(object);
    let ended = match (hook, &part) {
        // Catches the panic of a hook, because the fields must be dropped even if the hook fails.
        (Some(hook), Some(part)) => catch_unwind(AssertUnwindSafe(|| (hook.try_run)(part, this))),
        _ => Ok(Some(Ok(()))),
    };
    let late = hook
        .filter(|_| matches!(ended, Ok(None)))
        .map(|hook| -> LateHook<C> { Box::new(move |world, part| run_late(hook, part, This::new(world, object))) });
    drop(part);
    // Drops the fields while no borrow is open, because destructors of fields may access objects.
    drop(parts.end(object, late, is_left));
    match ended {
        Ok(ended) => log_failure::<C>(ended),
        // The caller that destroys the object logs the panic.
        Err(panic) => resume_unwind(panic),
    }
}

/// Runs the destruction hook of an object that was destroyed during one of its methods. Only the Rust fields of this object still exist.
fn run_late<C: DeclaredClass>(hook: Hook<C>, part: &PartCell<C>, this: This<'_, C>) {
    let At { world, object } = this.view.at();
    let _running = core_of(world).stack.enter_hook("begin_destroy", object);
    match panic_guard::caught(|| (hook.try_run)(part, this)) {
        Ok(ended) => log_failure::<C>(ended),
        Err(message) => {
            log!(ERROR, class = C::PATH, message, "`begin_destroy` panicked; the object is destroyed anyway");
        }
    }
}

fn log_failure<C: Class>(ended: Option<Result<(), CallError>>) {
    if let Some(Err(error)) = ended {
        log!(ERROR, class = C::PATH, %error, "`begin_destroy` failed; the object is destroyed anyway");
    }
}

/// Calls the most derived body of a function, or the body of class `of`.
///
/// # Errors
/// Fails if the callee fails.
#[inline]
pub fn invoke_member<'f, A: NativeParams + SlotRow, R: NativeResult>(
    view: &impl View<'f>,
    function: &MemberFunction,
    of: Option<&'static str>,
    args: A,
) -> Result<R, CallError> {
    let At { world, object } = view.at();
    function.call(core_of(world), object, of, args)
}

impl Natives {
    /// Adds a type and its package. The type is declared by an attribute such as `#[uclass]`.
    #[must_use]
    pub fn declare<D: Declared>(self) -> Self {
        D::add_to(self)
    }

    pub(super) fn of_package(mut self, name: &str) -> Self {
        if !self.packages.iter().any(|package| package == name) {
            self.packages.push(name.to_owned());
        }
        self
    }
}

/// Adds a class.
#[must_use]
pub fn add_class<C: DeclaredClass>(natives: Natives) -> Natives {
    natives.of_package(C::PACKAGE).class(NativeClass(class_decl::<C>()))
}

/// Adds a struct.
#[must_use]
pub fn add_struct<T: PlainStruct>(natives: Natives, package: &str, net: &NetHooks) -> Natives {
    add_struct_decl(natives, T::PATH, NativeStruct::plain::<T>(), package, net)
}

/// Declares a field of a struct.
#[must_use]
pub fn struct_field<T: NativeValue>(name: &str, default: &str, doc: &str) -> PropertyDecl {
    PropertyDecl { doc: doc.to_owned(), ..T::declared(name).with_default(default) }
}

/// Adds a struct with fields of any type.
#[must_use]
pub fn add_structure<T: NativeValue>(
    natives: Natives,
    (package, name, doc): (&str, &str, &str),
    fields: Vec<PropertyDecl>,
    net: &NetHooks,
) -> Natives {
    let decl = StructDecl { fields, doc: doc.to_owned(), ..StructDecl::new(package, name, Origin::Native) };
    add_struct_decl(natives, T::TYPE_PATH, NativeStruct(decl), package, net)
}

fn add_struct_decl(natives: Natives, path: &str, decl: NativeStruct, package: &str, net: &NetHooks) -> Natives {
    let mut natives = natives.of_package(package).structure(decl);
    natives.net_structs.extend(net.functions().map(|functions| (path.to_owned(), functions)));
    natives
}

/// Adds an enum.
#[must_use]
pub fn add_enum<E: NativeEnumeration>(natives: Natives) -> Natives {
    let decl = EnumDecl { origin: Origin::Native, ..E::DESC.copied() };
    natives.of_package(&decl.package).enumeration(NativeEnum(decl))
}

#[cfg(test)]
mod tests {
    use super::{Body, DeclaredClass, Description, Part, class_decl};
    use crate::native::this::{Class, Object, ObjectView, This};

    struct Sample<const HAS_FIELDS: bool, const IS_RED: bool>;

    impl<const HAS_FIELDS: bool, const IS_RED: bool> Class for Sample<HAS_FIELDS, IS_RED> {
        type Base = Object;
        type View<'f> = ObjectView<'f>;
        const PATH: &'static str = "/Script/Test.Sample";
    }

    impl<const HAS_FIELDS: bool, const IS_RED: bool> Part for Sample<HAS_FIELDS, IS_RED> {
        fn red_constructor(_this: This<'_, Self>) -> Self {
            Self
        }
    }

    impl<const HAS_FIELDS: bool, const IS_RED: bool> DeclaredClass for Sample<HAS_FIELDS, IS_RED> {
        const PACKAGE: &'static str = "Test";

        fn description() -> Description<Self> {
            let (body, has_fields) = (Body::<Self>::EMPTY.with_ends(None, None, IS_RED), HAS_FIELDS);
            let (name, doc, flags, properties) = ("Sample", "", 0, Vec::new());
            Description { name, flags, doc, properties, subobjects: &[], defaults: &[], body, bodies: &[], has_fields }
        }
    }

    #[test]
    fn a_constructor_builds_rust_fields_only_if_code_can_observe_that() {
        assert!(class_decl::<Sample<false, false>>().native_constructor.is_none());
        assert!(class_decl::<Sample<true, false>>().native_constructor.is_some());
        assert!(class_decl::<Sample<false, true>>().native_constructor.is_some());
    }
}
