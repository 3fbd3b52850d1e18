//! Classes, structs and enums that the host declares in Rust. Native types and module types are declared in one common form, and reflection
//! does not distinguish native types from module types.

#[doc(hidden)]
pub mod __private;
mod c_functions;
mod class_macros;
mod declared;
mod delegates;
mod direct;
#[cfg(feature = "dll-bind")]
pub(crate) mod dll;
mod failing;
mod functions;
mod handles;
mod interfaces;
mod member_function;
mod method;
pub(crate) mod net;
mod part_cell;
mod part_row;
mod parts;
mod property;
mod registration;
mod this;
mod type_macros;
pub(crate) mod wildcards;

pub use alcedo_abi::net::{NetArchive, NetMap, NetNumber, NetObject};
#[doc(hidden)]
pub use alcedo_macros::{
    add_references, begin_destroy, class_constructor, dll_import, overrides, post_init_properties, red_constructor,
    ufunction,
};
pub use alcedo_macros::{
    native_uclass as uclass, native_udelegate as udelegate, native_uenum as uenum, native_uinterface as uinterface,
    native_ustruct as ustruct,
};
pub use declared::Declared;
pub use delegates::{Delegate, DelegateRef, MulticastDelegate, MulticastRef, Signature, SparseDelegate};
pub(crate) use failing::failing;
pub use handles::{AnyPropertyHandle, FunctionHandle, PropertyHandle};
pub use interfaces::Interface;
pub use method::Part;
pub(crate) use method::run_for;
pub use registration::Natives;
pub(crate) use registration::{DestroyHook, Ticker};
pub use this::{Class, Obj, Object, ObjectView, This, View};

use std::rc::Rc;

use alcedo_abi::kinds::{PropertyKind, function_flags, property_flags};

use crate::boundary::CallError;
use crate::callback::Guarded;
use crate::handles::ObjectHandle;
use crate::object;
use crate::object::decl::{
    ClassDecl, DelegateDecl, EnumDecl, FunctionDecl, InterfaceDecl, PropertyDecl, RESULT_NAME, StructDecl,
};
use crate::object::enums::EnumEntry;
use crate::object::natives::World;
use crate::object::origin::Origin;
use crate::object::path::TypePath;
use crate::object::thunk::{Frame, Thunk, idle};
use crate::object::typed::PlainStruct;

/// Builder for the declaration of a native enum.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
/// use alcedo_runtime::kinds::PropertyKind;
/// use alcedo_runtime::native::{NativeEnum, Natives};
///
/// let damage = NativeEnum::new("Game", "Damage", PropertyKind::U8).flags().entry("Fire", 1).entry("Ice", 2);
/// let runtime = Runtime::builder().natives(Natives::in_package("Game").enumeration(damage)).build()?;
/// let declared = runtime.types().declared_natives().enums;
/// let damage = declared.iter().find(|declared| declared.path == "/Script/Game.Damage").unwrap();
/// assert!(damage.is_flags);
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
pub struct NativeEnum(EnumDecl);

impl NativeEnum {
    /// Declares an enum of `package`. `underlying` must be one of the eight integer kinds.
    pub fn new(package: &str, name: &str, underlying: PropertyKind) -> Self {
        Self(EnumDecl::new(package, name, underlying, Origin::Native))
    }

    /// Adds an entry. An enum that is not a set of flags needs an entry with the number 0.
    #[must_use]
    pub fn entry(mut self, name: &str, number: i128) -> Self {
        let (display, doc) = (std::sync::Arc::from(""), std::sync::Arc::from(""));
        self.0.entries.push(EnumEntry { name: name.into(), number, display, is_hidden: false, doc });
        self
    }

    /// Declares the enum as a set of flags: each entry is one bit, and a value combines any number of entries.
    #[must_use]
    pub fn flags(mut self) -> Self {
        self.0.is_flags = true;
        self
    }
}

/// Builder for the declaration of a named native delegate, a type for properties and parameters.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
/// use alcedo_runtime::kinds::PropertyKind;
/// use alcedo_runtime::native::{NativeDelegate, Natives};
///
/// let on_hit = NativeDelegate::multicast("Game", "OnHit").param("damage", (PropertyKind::U32, ""));
/// let runtime = Runtime::builder().natives(Natives::in_package("Game").delegate(on_hit)).build()?;
/// let declared = runtime.types().delegate("/Script/Game.OnHit").unwrap();
/// assert_eq!(declared.params[0].name, "damage");
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
pub struct NativeDelegate(DelegateDecl);

impl NativeDelegate {
    /// Declares a single delegate of `package`, which has at most one binding.
    pub fn single(package: &str, name: &str) -> Self {
        Self(DelegateDecl::new(package, name, PropertyKind::DELEGATE, Origin::Native))
    }

    /// Declares a multicast delegate of `package`, which has any number of bindings.
    pub fn multicast(package: &str, name: &str) -> Self {
        Self(DelegateDecl::new(package, name, PropertyKind::MULTICAST_DELEGATE, Origin::Native))
    }

    /// Declares a sparse multicast delegate of `package`. Sparse delegates save memory if they usually have no bindings.
    pub fn sparse(package: &str, name: &str) -> Self {
        Self(DelegateDecl::new(package, name, PropertyKind::SPARSE_DELEGATE, Origin::Native))
    }

    /// Makes the delegate a member of a native class in the delegate's package. The path of the delegate is then
    /// `/Script/<Package>.<Class>:<Name>`.
    #[must_use]
    pub fn of_class(mut self, class: &str) -> Self {
        self.0.class = TypePath::new(&self.0.package, class).to_string();
        self
    }

    /// Adds a parameter.
    #[must_use]
    pub fn param(mut self, name: &str, (kind, type_path): NativeType) -> Self {
        let at = self.0.params.iter().take_while(|param| param.flags & property_flags::RETURN == 0).count();
        self.0.params.insert(at, property(name, kind, type_path, 0, ""));
        self
    }

    /// Sets the result type. Only single delegates may have a result.
    #[must_use]
    pub fn result(mut self, (kind, type_path): NativeType) -> Self {
        self.0.params.push(property(RESULT_NAME, kind, type_path, property_flags::RETURN, ""));
        self
    }
}

/// Builder for the declaration of a native class.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::kinds::PropertyKind;
/// use alcedo_runtime::native::{NativeClass, Natives};
/// use alcedo_runtime::{Runtime, Value};
///
/// let lamp = NativeClass::new("Game", "Lamp", "/Script/Core.Object")
///     .doc("A light source.")
///     .property("gain", (PropertyKind::F64, ""), 0, "2.5")
///     .member_doc("gain", "Factor of the brightness.");
/// let runtime = Runtime::builder().natives(Natives::in_package("Game").class(lamp)).build()?;
/// let lamp = runtime.objects().spawn("/Script/Game.Lamp")?;
/// assert_eq!(runtime.objects().get(lamp, "gain")?, Value::F64(2.5));
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
pub struct NativeClass(ClassDecl);

/// Type of a native property or parameter: its kind, and the path of the struct or class.
pub type NativeType = (PropertyKind, &'static str);

impl NativeClass {
    /// Declares a class of `package` that extends the class with the path `base`.
    pub fn new(package: &str, name: &str, base: &str) -> Self {
        Self(ClassDecl::new(package, name, base, Origin::Native))
    }

    /// Adds flags of `class_flags`.
    #[must_use]
    pub fn flags(mut self, flags: u64) -> Self {
        self.0.flags |= flags;
        self
    }

    /// Sets the doc comment of the property or function `name`, for editors and glue. Has an effect only if the member was already added.
    #[must_use]
    pub fn member_doc(mut self, name: &str, doc: &str) -> Self {
        let Self(ClassDecl { properties, functions, .. }) = &mut self;
        let properties = properties.iter_mut().map(|found| (&found.name, &mut found.doc));
        let all = properties.chain(functions.iter_mut().map(|found| (&found.name, &mut found.doc)));
        all.filter(|(found, _)| *found == name).for_each(|(_, text)| doc.clone_into(text));
        self
    }

    /// Sets the doc comments of several members; see [`NativeClass::member_doc`].
    #[must_use]
    pub fn member_docs(self, docs: &[(&str, &str)]) -> Self {
        docs.iter().fold(self, |class, (name, doc)| class.member_doc(name, doc))
    }

    /// Adds a property. `default` is parsed as a value of the property's kind. An empty string means zero. [`NativeClass::add_property`]
    /// also returns a handle, which native functions of the class use to access the property.
    #[must_use]
    pub fn property(mut self, name: &str, (kind, type_path): NativeType, flags: u64, default: &str) -> Self {
        self.0.properties.push(property(name, kind, type_path, flags, default));
        self
    }

    /// Adds a function with a native body. The body reads the parameters from a call frame.
    #[must_use]
    pub fn function(
        self,
        name: &str,
        params: &[(&str, NativeType)],
        result: Option<NativeType>,
        flags: u64,
        body: impl Fn(&World, &mut Frame<'_>) -> Result<(), CallError> + 'static,
    ) -> Self {
        let body = Guarded::new(body);
        let thunk: Thunk = Rc::new(move |context, frame| body(object::World::of(context), frame));
        self.with_function(name, params, result, flags, thunk)
    }

    /// Adds an event that derived classes can override. Its default body does nothing.
    #[must_use]
    pub fn event(self, name: &str, params: &[(&str, NativeType)]) -> Self {
        self.with_function(name, params, None, function_flags::NATIVE_EVENT, idle())
    }

    /// Declares that the class implements the interface with this path. References to the interface can then refer to objects of the class.
    /// If the interface has no explicit declaration, the interface is also declared.
    #[must_use]
    pub fn implements(mut self, interface: &str) -> Self {
        self.0.interfaces.push(interface.to_owned());
        self
    }

    /// Sets a hook that runs once for each object of the class, after the hooks of its base classes.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::kinds::PropertyKind;
    /// use alcedo_runtime::native::{NativeClass, Natives};
    /// use alcedo_runtime::{Runtime, Value};
    ///
    /// let robot = NativeClass::new("Game", "Robot", "/Script/Core.Object")
    ///     .property("charge", (PropertyKind::U32, ""), 0, "")
    ///     .constructor(|world, robot| world.set(robot, "charge", 5_u32).map_err(|error| error.to_string()));
    /// let runtime = Runtime::builder().natives(Natives::in_package("Game").class(robot)).build()?;
    /// let robot = runtime.objects().spawn("/Script/Game.Robot")?;
    /// assert_eq!(runtime.objects().get(robot, "charge")?, Value::U32(5));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn constructor(mut self, hook: impl Fn(&World, ObjectHandle) -> Result<(), String> + 'static) -> Self {
        let hook = Guarded::new(hook);
        self.0.native_constructor = Some(Rc::new(move |context, object| hook(object::World::of(context), object)));
        self
    }

    /// Sets a hook that runs for each object of the class, after the defaults are set and the hook of the plugin has run.
    #[must_use]
    pub fn post_init_properties(mut self, hook: impl Fn(&World, ObjectHandle) -> Result<(), String> + 'static) -> Self {
        let hook = Guarded::new(hook);
        self.0.native_post_init = Some(Rc::new(move |context, object| hook(object::World::of(context), object)));
        self
    }

    /// Sets a hook that runs when the destruction of an object begins. The hook of a derived class runs before the hooks of its base
    /// classes. The object is intact while the hook runs. The hook also runs after a reload has moved the object to another native class.
    /// In this case, the hook cannot access the properties of its own class.
    ///
    /// # Examples
    /// ```rust
    /// use std::cell::Cell;
    /// use std::rc::Rc;
    ///
    /// use alcedo_runtime::Runtime;
    /// use alcedo_runtime::native::{NativeClass, Natives};
    ///
    /// let explosions = Rc::new(Cell::new(0));
    /// let counter = Rc::clone(&explosions);
    /// let mine = NativeClass::new("Game", "Mine", "/Script/Core.Object")
    ///     .begin_destroy(move |_world, _mine| counter.set(counter.get() + 1));
    /// let runtime = Runtime::builder().natives(Natives::in_package("Game").class(mine)).build()?;
    /// let mine = runtime.objects().spawn("/Script/Game.Mine")?;
    /// runtime.objects().destroy(mine);
    /// assert_eq!(explosions.get(), 1);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn begin_destroy(mut self, hook: impl Fn(&World, ObjectHandle) + 'static) -> Self {
        let hook = Guarded::new(hook);
        self.0.begin_destroy = Some(Rc::new(move |context, object| hook(object::World::of(context), object)));
        self
    }

    /// Sets a hook that reports references of an object to the garbage collector. The collector does not need this hook for references in
    /// properties. The hook must not change the world. An incremental collection calls the hook when it visits the object, and again at the
    /// end of the mark.
    ///
    /// # Examples
    /// ```rust
    /// use std::cell::Cell;
    /// use std::rc::Rc;
    ///
    /// use alcedo_runtime::native::{NativeClass, Natives};
    /// use alcedo_runtime::{ObjectHandle, Runtime};
    ///
    /// let focused = Rc::new(Cell::new(ObjectHandle::NONE));
    /// let reference = Rc::clone(&focused);
    /// let camera = NativeClass::new("Game", "Camera", "/Script/Core.Object")
    ///     .add_references(move |_world, _camera, visit| visit(reference.get()));
    /// let runtime = Runtime::builder().natives(Natives::in_package("Game").class(camera)).build()?;
    /// let camera = runtime.objects().spawn("/Script/Game.Camera")?;
    /// focused.set(runtime.objects().spawn_in("/Script/Core.Object", camera)?);
    /// assert_eq!(runtime.collection().collect()?, 0);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn add_references(
        mut self,
        hook: impl Fn(&World, ObjectHandle, &mut dyn FnMut(ObjectHandle)) + 'static,
    ) -> Self {
        let hook = Guarded::new(hook);
        self.0.add_references = Some(Rc::new(move |context, object, visit| {
            hook(object::World::of(context), object, visit);
            Ok(())
        }));
        self
    }

    fn with_function(
        mut self,
        name: &str,
        params: &[(&str, NativeType)],
        result: Option<NativeType>,
        flags: u64,
        thunk: Thunk,
    ) -> Self {
        let params = parameters(params, result);
        self.0.functions.push(FunctionDecl { flags, params, ..FunctionDecl::new(name, thunk) });
        self
    }
}

/// Builder for the declaration of an interface.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
/// use alcedo_runtime::kinds::PropertyKind;
/// use alcedo_runtime::native::{NativeInterface, Natives};
///
/// let hums = NativeInterface::new("Game", "Hums").function("hum", &[("times", (PropertyKind::U32, ""))], None);
/// let natives = Natives::in_package("Game").interface_with_functions(hums);
/// let runtime = Runtime::builder().natives(natives).build()?;
/// assert!(runtime.types().has("/Script/Game.Hums"));
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
pub struct NativeInterface(InterfaceDecl);

impl NativeInterface {
    /// Declares an interface of `package`.
    pub fn new(package: &str, name: &str) -> Self {
        Self(InterfaceDecl::new(package, name, Origin::Native))
    }

    /// Adds a function without a body. Each class that implements the interface provides a body.
    #[must_use]
    pub fn function(mut self, name: &str, params: &[(&str, NativeType)], result: Option<NativeType>) -> Self {
        let params = parameters(params, result);
        self.0.functions.push(FunctionDecl { params, ..FunctionDecl::without_body(name) });
        self
    }

    /// Sets the doc comment of the function `name`. Has an effect only if the function was already added.
    #[must_use]
    pub fn function_doc(mut self, name: &str, doc: &str) -> Self {
        let functions = self.0.functions.iter_mut().filter(|found| found.name == name);
        functions.for_each(|found| doc.clone_into(&mut found.doc));
        self
    }
}

/// Builder for the declaration of a native struct.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
/// use alcedo_runtime::kinds::PropertyKind;
/// use alcedo_runtime::native::{NativeStruct, Natives};
///
/// let spot = NativeStruct::new("Game", "Spot").field("x", (PropertyKind::F64, "")).field("y", (PropertyKind::F64, ""));
/// let tagged = NativeStruct::new("Game", "Tagged").extends("/Script/Game.Spot").field("tag", (PropertyKind::U32, ""));
/// let natives = Natives::in_package("Game").structure(spot).structure(tagged);
/// let runtime = Runtime::builder().natives(natives).build()?;
/// assert!(runtime.types().struct_extends("/Script/Game.Tagged", "/Script/Game.Spot"));
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
pub struct NativeStruct(StructDecl);

impl NativeStruct {
    /// Declares a struct of `package`.
    pub fn new(package: &str, name: &str) -> Self {
        Self(StructDecl::new(package, name, Origin::Native))
    }

    /// Declares a struct whose Rust type is declared with [`plain_struct!`](crate::plain_struct).
    pub fn plain<T: PlainStruct>() -> Self {
        // An invalid path is reported when the struct is declared.
        Self(StructDecl::plain::<T>().unwrap_or_else(|_| StructDecl::new("", T::PATH, Origin::Native)))
    }

    /// Extends the struct with the path `base`. The fields of the base precede the fields of this struct in memory.
    #[must_use]
    pub fn extends(mut self, base: &str) -> Self {
        base.clone_into(&mut self.0.base);
        self
    }

    /// Adds a field whose default is zero.
    #[must_use]
    pub fn field(self, name: &str, ty: NativeType) -> Self {
        self.field_with_default(name, ty, "")
    }

    /// Adds a field. `default` is parsed as a value of the field's kind. An empty string means zero.
    #[must_use]
    pub fn field_with_default(mut self, name: &str, (kind, type_path): NativeType, default: &str) -> Self {
        self.0.fields.push(property(name, kind, type_path, 0, default));
        self
    }
}

macro_rules! documented {
    ($($native:ident),*) => {$(
        impl $native {
            /// Sets the doc comment.
            #[must_use]
            pub fn doc(mut self, doc: &str) -> Self {
                doc.clone_into(&mut self.0.doc);
                self
            }
        }
    )*};
}
documented!(NativeEnum, NativeDelegate, NativeClass, NativeInterface, NativeStruct);

fn parameters(params: &[(&str, NativeType)], result: Option<NativeType>) -> Vec<PropertyDecl> {
    let params = params.iter().map(|(name, (kind, path))| property(name, *kind, path, 0, ""));
    params.chain(result.map(|(kind, path)| property(RESULT_NAME, kind, path, property_flags::RETURN, ""))).collect()
}

fn property(name: &str, kind: PropertyKind, type_path: &str, flags: u64, default: &str) -> PropertyDecl {
    PropertyDecl::new(name, kind).of_type(type_path).with_flags(flags).with_default(default)
}
