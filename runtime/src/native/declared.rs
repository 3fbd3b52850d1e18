//! Native classes as Rust types: what `#[uclass]` of this crate makes of a struct and its `impl` block. The words are those
//! of plugins; what they become here are the declarations of [`super`], in one runtime each.
//!
//! The fields with `#[uproperty]` are properties of the object. The others stay in the struct, which is a value beside each
//! object: it is made when it is first used, by the red constructor, before the native constructors at the latest; it is
//! dropped on the game thread after `begin_destroy`; reloads leave it alone.

use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use crate::border::{CallError, SourcePlace};
use crate::handles::ObjectHandle;
use crate::kinds::property_flags;
use crate::native::parts::{PartCell, Parts};
use crate::native::this::{At, Class, This, View};
use crate::native::world::World;
use crate::native::{NativeClass, Natives};
use crate::object::class::SubobjectRole;
use crate::object::decl::{ClassDecl, FunctionDecl, PropertyDecl, SubobjectDecl};
use crate::object::member::{FunctionRef, PropertyRef};
use crate::object::native_value::{NativeParams, NativeResult, NativeReturned, NativeValue};
use crate::object::origin::Origin;
use crate::object::thunk::Thunk;

/// A native class that this host declares with `#[uclass]`.
pub trait Part: Class {
    #[doc(hidden)]
    const PACKAGE: &'static str;
    #[doc(hidden)]
    fn red_constructor(this: This<'_, Self>) -> Self;
    #[doc(hidden)]
    fn description() -> Description<Self>;
}

/// How a method takes its `self`.
pub trait Receiver {
    /// `&C` or `&mut C`.
    type Ref<'p, C: 'p>;
    #[doc(hidden)]
    fn with<C, R>(
        cell: &PartCell<C>,
        object: ObjectHandle,
        wanted: &'static str,
        code: impl FnOnce(Self::Ref<'_, C>) -> R,
    ) -> Result<R, CallError>;
}

/// `&self`.
#[derive(Debug)]
pub enum Shared {}

/// `&mut self`.
#[derive(Debug)]
pub enum Exclusive {}

impl Receiver for Shared {
    type Ref<'p, C: 'p> = &'p C;

    fn with<C, R>(
        cell: &PartCell<C>,
        object: ObjectHandle,
        wanted: &'static str,
        code: impl FnOnce(&C) -> R,
    ) -> Result<R, CallError> {
        cell.share(object, wanted, code)
    }
}

impl Receiver for Exclusive {
    type Ref<'p, C: 'p> = &'p mut C;

    fn with<C, R>(
        cell: &PartCell<C>,
        object: ObjectHandle,
        wanted: &'static str,
        code: impl FnOnce(&mut C) -> R,
    ) -> Result<R, CallError> {
        cell.take(object, wanted, code)
    }
}

/// A place in an author's sources.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Source file.
    pub file: &'static str,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// A method, as a type.
pub trait Method: 'static {
    /// Its class.
    type Class: Part;
    /// Its parameters.
    type Args: Params;
    /// Its result.
    type Result: NativeResult;
    /// What it gives in Rust: the result, or a `Result` of it.
    type Returned: NativeReturned<Value = Self::Result>;
    /// How it takes its `self`.
    type Receiver: Receiver;
    /// Its name, for errors.
    const NAME: &'static str;
    /// Where it stands.
    const PLACE: Place;

    /// Calls it.
    fn run<'f>(part: Held<'_, Self>, this: This<'f, Self::Class>, args: Given<'f, Self>) -> Self::Returned;
}

/// Parameters, as a method sees them.
pub trait Params: NativeParams {
    /// In the call `'f`.
    type Seen<'f>: From<Self>;
}

impl<T: NativeParams> Params for T {
    type Seen<'f> = T;
}

/// The parameters of a method as it sees them.
pub type Given<'f, M> = <<M as Method>::Args as Params>::Seen<'f>;

/// The `self` of a method.
pub type Held<'p, M> = <<M as Method>::Receiver as Receiver>::Ref<'p, <M as Method>::Class>;

/// The part of an object.
fn part_of<C: Part>(parts: &Parts<C>, this: This<'_, C>) -> Result<Rc<PartCell<C>>, CallError> {
    let At { world, object } = this.0.at();
    parts.get(object, || match world.is_alive(object) {
        true => Ok(C::red_constructor(this)),
        false => Err(CallError::Stale { handle: object }),
    })
}

/// Runs a method on an object.
fn run<M: Method>(parts: &Parts<M::Class>, this: This<'_, M::Class>, args: M::Args) -> Result<M::Result, CallError> {
    let returned = failing(|| {
        let part = part_of(parts, this)?;
        M::Receiver::with(&part, this.0.at().object, M::NAME, |part| M::run(part, this, args.into()))
    })?;
    let Place { file, line, column } = M::PLACE;
    returned.crossing(|| SourcePlace { file: file.to_owned(), line, column })
}

/// Ends the running call with an error: what accessors without a `Result` do.
#[cold]
pub fn fail(error: CallError) -> ! {
    resume_unwind(Box::new(error))
}

/// Gives the error that [`fail`] ended `code` with.
fn failing<R>(code: impl FnOnce() -> Result<R, CallError>) -> Result<R, CallError> {
    catch_unwind(AssertUnwindSafe(code)).unwrap_or_else(|thrown| match thrown.downcast::<CallError>() {
        Ok(error) => Err(*error),
        Err(panic) => resume_unwind(panic),
    })
}

/// A reflected function of class `C`.
pub struct Function<C: 'static> {
    name: &'static str,
    flags: u64,
    overrides: &'static str,
    params: &'static [&'static str],
    doc: &'static str,
    declare: fn(&Self, &Rc<Parts<C>>) -> FunctionDecl,
}

/// The names of the parameters of a method.
pub struct BlockOf<M>(&'static [&'static str], PhantomData<fn() -> M>);

impl<M> BlockOf<M> {
    /// In order.
    pub const fn new(names: &'static [&'static str]) -> Self {
        Self(names, PhantomData)
    }
}

/// The place of a function in a class; there is nothing in it.
pub struct FunctionCell<C, A, R>(PhantomData<fn(C, A) -> R>);

impl<C, A, R> FunctionCell<C, A, R> {
    /// One more.
    #[expect(clippy::new_without_default, reason = "a static is made of it")]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

/// The function whose body is `M`.
pub const fn function_description<M: Method>(
    name: &'static str,
    flags: u64,
    overrides: &'static str,
    block: &BlockOf<M>,
    _cell: &FunctionCell<M::Class, M::Args, M::Result>,
    doc: &'static str,
) -> Function<M::Class> {
    Function { name, flags, overrides, params: block.0, doc, declare: declare_function::<M> }
}

fn declare_function<M: Method>(function: &Function<M::Class>, parts: &Rc<Parts<M::Class>>) -> FunctionDecl {
    let parts = Rc::clone(parts);
    let thunk: Thunk = Rc::new(move |context, frame| {
        let this = This::new(World::of(context), frame.object());
        let args = M::Args::take(frame)?;
        frame.finish()?;
        run::<M>(&parts, this, args)?.give(frame)
    });
    let mut params = M::Args::declared(function.params);
    params.extend(M::Result::declared());
    FunctionDecl {
        flags: function.flags,
        overrides: function.overrides.to_owned(),
        params,
        doc: function.doc.to_owned(),
        ..FunctionDecl::new(function.name, thunk)
    }
}

/// A hook of class `C`.
pub struct Hook<C>(fn(&Parts<C>, This<'_, C>) -> Result<(), CallError>)
where
    C: Class;

impl<C: Class> Clone for Hook<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Class> Copy for Hook<C> {}

/// The hook whose body is `M`.
pub const fn hook<M: Method<Args = (), Result = ()>>() -> Hook<M::Class> {
    Hook(|parts, this| run::<M>(parts, this, ()))
}

/// How a class reports what its Rust fields refer to.
pub type References<C> = fn(&C, This<'_, C>, &mut dyn FnMut(ObjectHandle));

/// What the `impl` block of a class adds up to.
pub struct Body<C: Class> {
    functions: &'static [Function<C>],
    class_constructor: Option<Hook<C>>,
    post_init_properties: Option<Hook<C>>,
    begin_destroy: Option<Hook<C>>,
    add_references: Option<References<C>>,
}

impl<C: Class> Body<C> {
    /// Of a class without one.
    pub const EMPTY: Self = Self::new(&[], None, None);

    /// Of these.
    pub const fn new(
        functions: &'static [Function<C>],
        class_constructor: Option<Hook<C>>,
        post_init_properties: Option<Hook<C>>,
    ) -> Self {
        Self { functions, class_constructor, post_init_properties, begin_destroy: None, add_references: None }
    }

    /// With what is only for native classes.
    #[must_use]
    pub const fn with_ends(self, begin_destroy: Option<Hook<C>>, add_references: Option<References<C>>) -> Self {
        Self { begin_destroy, add_references, ..self }
    }
}

/// What a class without a `#[uclass] impl` block has in its place.
pub trait NoBody: Class {
    /// Nothing.
    const ONE_UCLASS_IMPL_BLOCK_PER_CLASS: Body<Self> = Body::EMPTY;
}

impl<C: Class> NoBody for C {}

/// A property as it is declared.
pub struct Property {
    name: &'static str,
    flags: u64,
    default: &'static str,
    doc: &'static str,
    declare: fn(&str) -> PropertyDecl,
}

impl Property {
    /// Of values of type `T`.
    pub const fn of<T: NativeValue>(name: &'static str, flags: u64, default: &'static str, doc: &'static str) -> Self {
        Self { name, flags, default, doc, declare: T::declared }
    }
}

/// A class as it is declared.
pub struct Description<C: Class> {
    /// Its name in the package.
    pub name: &'static str,
    /// Its flags.
    pub flags: u64,
    /// Its doc comment.
    pub doc: &'static str,
    /// Its properties.
    pub properties: Vec<Property>,
    /// The rest.
    pub body: Body<C>,
}

/// The declaration of a class in one more runtime.
pub(super) fn class_decl<C: Part>() -> ClassDecl {
    let Description { name, flags, doc, properties, body } = C::description();
    let Body { functions, class_constructor, post_init_properties, begin_destroy, add_references } = body;
    let parts = Rc::new(Parts::new(C::PATH));
    let properties: Vec<_> = properties
        .into_iter()
        .map(|Property { name, flags, default, doc, declare }| PropertyDecl {
            doc: doc.to_owned(),
            ..declare(name).with_flags(flags).with_default(default)
        })
        .collect();
    let mut decl = ClassDecl::new(C::PACKAGE, name, C::Base::PATH, Origin::Native);
    decl.flags = flags;
    decl.doc = doc.to_owned();
    decl.subobjects = properties.iter().filter_map(subobject).collect();
    decl.properties = properties;
    decl.functions = functions.iter().map(|function| (function.declare)(function, &parts)).collect();
    decl.native_constructor = {
        let parts = Rc::clone(&parts);
        Some(Rc::new(move |context, object| {
            let this = This::new(World::of(context), object);
            failing(|| part_of(&parts, this).map(drop))
                .and_then(|()| class_constructor.map_or(Ok(()), |hook| hook.0(&parts, this)))
                .map_err(|error| error.to_string())
        }))
    };
    if let Some(hook) = post_init_properties {
        let parts = Rc::clone(&parts);
        decl.native_post_init = Some(Rc::new(move |context, object| {
            hook.0(&parts, This::new(World::of(context), object)).map_err(|error| error.to_string())
        }));
    }
    decl.begin_destroy = {
        let parts = Rc::clone(&parts);
        Some(Rc::new(move |context, object| {
            let ended = match begin_destroy.filter(|_| parts.there(object).is_some()) {
                Some(hook) => hook.0(&parts, This::new(World::of(context), object)),
                None => Ok(()),
            };
            if let Err(error) = ended {
                tracing::error!(class = C::PATH, %error, "`begin_destroy` failed; the object goes all the same");
            }
            // What the fields drop may look at objects.
            drop(parts.end(object));
        }))
    };
    if let Some(references) = add_references {
        let parts = Rc::clone(&parts);
        decl.add_references = Some(Rc::new(move |context, object, visit| {
            let Some(part) = parts.there(object) else { return };
            let this = This::new(World::of(context), object);
            let visited = part.share(object, "add_references", |part| references(part, this, visit));
            if let Err(error) = visited {
                tracing::error!(class = C::PATH, %error, "what the Rust fields refer to is not known");
            }
        }));
    }
    decl
}

fn subobject(property: &PropertyDecl) -> Option<SubobjectDecl> {
    let is = |flag| property.flags & flag != 0;
    is(property_flags::DEFAULT_SUBOBJECT).then(|| SubobjectDecl {
        property: property.name.clone(),
        class_path: property.type_path.clone(),
        role: if is(property_flags::ROOT_COMPONENT) { SubobjectRole::Root } else { SubobjectRole::Part },
    })
}

/// Reads a property.
#[inline]
pub fn read_member<'f, T: NativeValue>(view: &impl View<'f>, property: &PropertyRef) -> T {
    let At { world, object } = view.at();
    world.get(object, property).map_or_else(|error| fail(error), T::from_raw)
}

/// Writes a property.
///
/// # Errors
/// As for [`World::set`].
#[inline]
pub fn write_member<'f, T: NativeValue>(
    view: &impl View<'f>,
    property: &PropertyRef,
    value: T,
) -> Result<(), CallError> {
    let At { world, object } = view.at();
    world.set(object, property, value.into_raw())
}

/// Calls a function: the most derived body, or exactly that of `class`.
///
/// # Errors
/// Whatever the callee fails with.
pub fn invoke_member<'f, A: NativeParams, R: NativeResult>(
    view: &impl View<'f>,
    function: &FunctionRef,
    of: Option<&'static str>,
    args: A,
) -> Result<R, CallError> {
    let At { world, object } = view.at();
    world.call_typed(object, function, of, args)
}

impl Natives {
    /// Adds a class that is declared by `#[uclass]`, and its package.
    #[must_use]
    pub fn declare<C: Part>(mut self) -> Self {
        if !self.packages.iter().any(|package| package == C::PACKAGE) {
            self.packages.push(C::PACKAGE.to_owned());
        }
        self.class(NativeClass(class_decl::<C>()))
    }
}
