//! Delegate types for native properties and for `#[udelegate]`. The accessor of a property returns a [`DelegateRef`] or a [`MulticastRef`].
//! These references are valid only during the running call. A [`DelegateOf`] can also be used outside of calls.

use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;

use crate::boundary::{CallError, mismatch, not_found};
use crate::bridge::core::{Core, HostOfWorld};
use crate::bridge::delegates::bound_name;
use crate::handles::ObjectHandle;
use crate::host::DelegateOf;
use crate::kinds::PropertyKind;
use crate::native::declared::Declared;
use crate::native::failing::or_end;
use crate::native::property::NativeProperty;
use crate::native::this::{At, Class, Obj, Object, View};
use crate::native::{NativeDelegate, Natives};
use crate::object::decl::{DelegateDecl, PropertyDecl};
use crate::object::member::{FunctionRef, PropertyRef};
use crate::object::native_value::{NativeParam, NativeParams, NativeResult, ValueParams, fingerprint, signature_of};
use crate::object::natives::{World, core_of};
use crate::object::origin::Origin;
use crate::object::path::TypePath;
use crate::object::property::PropertyType;
use crate::object::thunk::{Frame, ParamBlock};
use crate::object::value::{Binding, Value};

/// Signature of a delegate, as a function type with at most eight parameters.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::native::{Delegate, Signature};
/// use alcedo_runtime::{CallError, Runtime};
///
/// /// Calls a delegate of any signature if it is bound.
/// fn call_bound<F: Signature>(
///     runtime: &Runtime,
///     delegate: &Delegate<F>,
///     arguments: F::Args,
/// ) -> Result<Option<F::Result>, CallError> {
///     if !delegate.is_bound() {
///         return Ok(None);
///     }
///     delegate.call(runtime.world(), arguments).map(Some)
/// }
///
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// let runtime = Runtime::builder().build()?;
/// let unbound = Delegate::<fn(u32) -> bool>::none();
/// assert_eq!(call_bound(&runtime, &unbound, (3,))?, None);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a signature of a delegate",
    label = "write `fn(A, B) -> R`, of values that native functions take and return"
)]
pub trait Signature: 'static {
    /// Parameter types.
    type Args: ValueParams;
    /// Result type.
    type Result: NativeResult;
    /// Fingerprint of the signature.
    #[doc(hidden)]
    const FINGERPRINT: u64 = fingerprint::<Self::Args, Self::Result>();
    /// Returns the signature string, which is the part in parentheses of a delegate type.
    #[doc(hidden)]
    fn signature_text() -> String {
        // For an invalid signature, returns the error message. The declaration of the property then rejects the message as an invalid type.
        signature_of::<Self::Args, Self::Result>().map_or_else(|error| error.to_string(), |words| words.to_string())
    }
}

macro_rules! signatures {
    ($([$($name:ident)*])*) => {$(
        impl<$($name: 'static,)* Z: NativeResult> Signature for fn($($name),*) -> Z
        where
            ($($name,)*): ValueParams,
        {
            type Args = ($($name,)*);
            type Result = Z;
        }
    )*};
}
signatures!([] [A] [A B] [A B C] [A B C D] [A B C D E] [A B C D E F] [A B C D E F G] [A B C D E F G H]);

/// Delegate type that `#[udelegate]` declares.
#[doc(hidden)]
pub trait NamedSignature: 'static {
    /// Signature as a function type.
    type Function: Signature;
    /// Package of the delegate and path of its class. For a delegate that belongs to a class, the package is empty. For a delegate of a
    /// package, the class path is empty.
    const SCOPE: (&'static str, &'static str);
    /// Name in the package or in the class.
    const NAME: &'static str;
    /// Parameter names.
    const PARAMS: &'static [&'static str];
    /// Doc comment.
    const DOC: &'static str;
}

/// Signature of a named delegate.
#[doc(hidden)]
#[derive(Debug)]
pub struct Named<S>(PhantomData<fn() -> S>);

impl<S: NamedSignature> Signature for Named<S> {
    type Args = <S::Function as Signature>::Args;
    type Result = <S::Function as Signature>::Result;

    fn signature_text() -> String {
        let path = match S::SCOPE {
            (package, "") => TypePath::new(package, S::NAME).to_string(),
            (_, class) => format!("{class}:{}", S::NAME),
        };
        format!("{path}({})", S::Function::signature_text())
    }
}

/// A binding to a function of an object. `Delegate<fn(f64) -> bool>` is a type for native properties and for parameters of native
/// functions. A property keeps the object alive, but a value in Rust code does not. Each call resolves the function again, so overrides and
/// reloads take effect. [`Links::delegate`](crate::Links::delegate) creates a bound delegate. For a property of this type, the accessor
/// returns a [`DelegateRef`], which can bind the delegate.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::native::{Delegate, uclass};
/// use alcedo_runtime::{Runtime, natives};
///
/// #[uclass(package = "Game")]
/// #[derive(Default)]
/// struct Shop {}
///
/// #[uclass]
/// impl Shop {
///     #[ufunction]
///     fn is_cheap(&self, price: u32) -> bool {
///         price < 10
///     }
/// }
///
/// let runtime = Runtime::builder().natives(natives![Shop]).build()?;
/// let shop = runtime.objects().spawn("/Script/Game.Shop")?;
/// let is_cheap: Delegate<fn(u32) -> bool> = runtime.links().delegate(shop, "is_cheap")?;
/// assert!(is_cheap.call(runtime.world(), (3,))?);
/// runtime.objects().destroy(shop);
/// assert!(is_cheap.call(runtime.world(), (3,)).is_err());
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
pub struct Delegate<F>(Binding, PhantomData<fn() -> F>);

alcedo_abi::copies! { impl[F] Delegate<F>; }

impl<F> PartialEq for Delegate<F> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<F> Eq for Delegate<F> {}

impl<F> Default for Delegate<F> {
    fn default() -> Self {
        Self::none()
    }
}

impl<F: Signature> fmt::Debug for Delegate<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a delegate ({}) of {}", F::signature_text(), self.0.object)
    }
}

impl<F> Delegate<F> {
    /// Returns an unbound delegate.
    #[must_use]
    pub fn none() -> Self {
        Self::of(Binding::default())
    }

    pub(crate) fn of(binding: Binding) -> Self {
        Self(binding, PhantomData)
    }

    /// Returns `true` if a function is bound, even if the bound object is destroyed.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        !self.0.object.is_none()
    }

    /// Returns the bound object. Returns `ObjectHandle::NONE` if the delegate is unbound.
    #[must_use]
    pub fn object(&self) -> ObjectHandle {
        self.0.object
    }
}

impl<F: Signature> Delegate<F> {
    /// Calls the bound function. Pass `this.world()` in native code, and `runtime.world()` outside of calls.
    ///
    /// # Errors
    /// Returns [`CallError::NotFound`] if the delegate is unbound, if the bound object or function no longer exists, or if the object is
    /// dormant. Returns [`CallError::Signature`] if the function now has a different signature. If the function fails, returns the error of
    /// the function.
    pub fn call(&self, world: &World, arguments: F::Args) -> Result<F::Result, CallError> {
        let nothing = |why: &str| not_found(format!("a delegate ({}) {why}: bind it first", F::signature_text()));
        if !self.is_bound() {
            return Err(nothing("is bound to nothing"));
        }
        if !world.is_alive(self.0.object) {
            return Err(nothing("is bound to a destroyed object"));
        }
        let expected = signature_of::<F::Args, F::Result>()?.to_string();
        let world = core_of(world);
        if world.objects.is_dormant(self.0.object) {
            return Err(nothing("is bound to a dormant object"));
        }
        let function = FunctionRef::new(&bound_name(world, &self.0));
        world.check_function(self.0.object, &function, &expected)?;
        world.call_typed(self.0.object, &function, None, arguments)
    }
}

impl<F: Signature> NativeParam for Delegate<F> {
    const KIND: PropertyKind = PropertyKind::DELEGATE;
    const TYPE_PATH: &'static str = "";
    const INSIDE: u64 = F::FINGERPRINT;
    type Seen = Self;
    type Kept = ();
    type Back = ();
    type Slotted = Binding;

    fn declared(name: &str) -> PropertyDecl {
        PropertyDecl::new(name, PropertyKind::DELEGATE).of_type(&F::signature_text())
    }

    fn into_slotted(self) -> (Binding, ()) {
        (self.0, ())
    }

    fn from_slotted(slotted: Binding) -> (Self, ()) {
        (Self::of(slotted), ())
    }

    fn give((): (), _frame: &mut Frame<'_>, _at: usize) -> Result<(), CallError> {
        Ok(())
    }

    fn take_back((): (), _block: &ParamBlock<'_>, _at: usize) -> Result<(), CallError> {
        Ok(())
    }

    fn into_value(self, ty: Option<&PropertyType>) -> Result<Value, CallError> {
        let words = ty.and_then(PropertyType::signature);
        let expected = signature_of::<F::Args, F::Result>()?.to_string();
        if words != Some(&*expected) {
            let found = ty.map(ToString::to_string).unwrap_or_default();
            return Err(mismatch(&"a value", &found, &format_args!("Delegate({expected})")));
        }
        Ok(Value::Delegate(self.0))
    }
}

/// Declares property types for multicast and sparse delegates. These types have no values.
macro_rules! of_several {
    ($($(#[$doc:meta])* $delegate:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $delegate<F>(Infallible, PhantomData<fn() -> F>);
    )*};
}
of_several! {
    /// Native property type of a delegate with any number of bindings: `MulticastDelegate<fn(f64)>`. The type has no values. The accessor
    /// of the property returns a [`MulticastRef`].
    MulticastDelegate;
    /// Native property type like [`MulticastDelegate`]. Saves memory if the delegate is usually unbound.
    SparseDelegate;
}

/// Location of a delegate property, for use in the running call.
struct Located<'f, F: Signature> {
    world: &'f World,
    of: DelegateOf<F::Args, F::Result>,
}

alcedo_abi::copies! { impl[F: Signature] Located<'_, F>; }

impl<'f, F: Signature> Located<'f, F> {
    fn new(view: &impl View<'f>, class: &'static str, name: &'static str) -> Self {
        let At { world, object } = view.at();
        Self { world, of: DelegateOf::new(class, name, object) }
    }

    fn core(&self) -> Result<Rc<Core>, CallError> {
        let host = HostOfWorld::of(core_of(self.world)).and_then(HostOfWorld::core);
        host.ok_or_else(|| CallError::Unavailable { what: "the runtime of the delegate".to_owned() })
    }

    fn call(&self, arguments: F::Args) -> Result<F::Result, CallError> {
        self.of.call_in(&*self.core()?, arguments)
    }

    fn unbind(&self, target: ObjectHandle, function: &str) -> u32 {
        or_end(self.core().and_then(|core| self.of.unbind_in(&core, target, function)))
    }

    fn bindings(&self) -> Vec<Binding> {
        or_end(self.of.bindings_in(core_of(self.world)))
    }
}

macro_rules! refs {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        pub struct $name<'f, F: Signature>(Located<'f, F>);

        alcedo_abi::copies! { impl[F: Signature] $name<'_, F>; }

        impl<F: Signature> fmt::Debug for $name<'_, F> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.of.fmt(f)
            }
        }

        impl<F: Signature> $name<'_, F> {
            /// Returns a reference to the delegate property. This reference can also be used outside of the running call.
            #[must_use]
            pub fn detach(self) -> DelegateOf<F::Args, F::Result> {
                self.0.of
            }

            /// Binds a function of an object, by name. If the binding is rejected, the running call fails with the error.
            pub fn bind<C: Class>(&self, object: Obj<C>, function: &str) {
                or_end(self.try_bind(object, function));
            }

            /// Binds a function of an object, by name.
            ///
            /// # Errors
            /// Returns [`CallError::NotFound`] if the object has no such function. Returns [`CallError::Signature`] if the signature of the
            /// function differs. Returns [`CallError::Stale`] if the object is destroyed. Returns [`CallError::DuringRebuild`] if a reload
            /// in progress could not undo the binding.
            pub fn try_bind<C: Class>(&self, object: Obj<C>, function: &str) -> Result<(), CallError> {
                self.0.of.bind_in(&*self.0.core()?, object.handle(), function)
            }

            /// Returns `true` if a function is bound, even if the bound object is destroyed.
            #[must_use]
            pub fn is_bound(&self) -> bool {
                !self.0.bindings().is_empty()
            }
        }
    )*};
}
refs! {
    /// Single delegate property of an object, for use in the running call. Returned by accessors. Game thread only.
    ///
    /// # Examples
    /// ```rust
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// use alcedo_runtime::native::{Delegate, This, uclass};
    /// use alcedo_runtime::{CallError, Runtime, natives};
    ///
    /// #[uclass(package = "Game")]
    /// #[derive(Default)]
    /// struct Bell {
    ///     #[uproperty]
    ///     rule: Delegate<fn(u32) -> bool>,
    /// }
    ///
    /// #[uclass]
    /// impl Bell {
    ///     #[ufunction]
    ///     fn at_most_four(&self, times: u32) -> bool {
    ///         times <= 4
    ///     }
    ///     #[ufunction]
    ///     fn may_ring(&self, this: This<Self>, times: u32) -> Result<bool, CallError> {
    ///         this.rule().bind(this.as_obj(), "at_most_four");
    ///         this.rule().call((times,))
    ///     }
    /// }
    ///
    /// let runtime = Runtime::builder().natives(natives![Bell]).build()?;
    /// let bell = runtime.objects().spawn_as::<Bell>()?;
    /// assert!(runtime.objects().with(bell, |bell| bell.may_ring(3))??);
    /// # Ok(())
    /// # }
    /// ```
    DelegateRef;
    /// Multicast or sparse delegate property of an object, for use in the running call. Returned by accessors. Game thread only.
    ///
    /// ```
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// use alcedo_runtime::native::{MulticastDelegate, This, uclass};
    /// use alcedo_runtime::{Runtime, natives};
    ///
    /// #[uclass(package = "Engine")]
    /// #[derive(Default)]
    /// struct Cat {
    ///     #[uproperty]
    ///     on_mood: MulticastDelegate<fn(u32)>,
    /// }
    ///
    /// #[uclass]
    /// impl Cat {
    ///     #[ufunction]
    ///     fn purr(&self, this: This<Self>) {
    ///         this.on_mood().broadcast((3,));
    ///     }
    /// }
    ///
    /// let runtime = Runtime::builder().natives(natives![Cat]).build()?;
    /// let cat = runtime.objects().spawn_as::<Cat>()?;
    /// runtime.objects().with(cat, |cat| cat.purr())?;
    /// # Ok(())
    /// # }
    /// ```
    MulticastRef;
}

impl<F: Signature> DelegateRef<'_, F> {
    /// Calls the bound function.
    ///
    /// # Errors
    /// Returns [`CallError::NotFound`] if the delegate is unbound. If the function fails, returns the error of the function.
    pub fn call(&self, arguments: F::Args) -> Result<F::Result, CallError> {
        self.0.call(arguments)
    }

    /// Removes the binding. Returns `true` if a binding existed.
    pub fn unbind(&self) -> bool {
        self.0.unbind(ObjectHandle::NONE, "") > 0
    }

    /// Returns the bound object. Returns a null reference if the delegate is unbound.
    #[must_use]
    pub fn object(&self) -> Obj<Object> {
        Obj::new(self.0.bindings().first().map_or(ObjectHandle::NONE, |binding| binding.object))
    }
}

impl<F: Signature<Result = ()>> MulticastRef<'_, F> {
    /// Calls the bound functions of all live objects, starting with the newest binding. A failed function does not stop the remaining
    /// functions. If a function has failed, the running call that broadcasts also fails, with the first error.
    pub fn broadcast(&self, arguments: F::Args) {
        or_end(self.try_broadcast(arguments));
    }

    /// Calls the bound functions of all live objects, starting with the newest binding.
    ///
    /// # Errors
    /// Returns the error of the first failed call, after all bound functions were called.
    pub fn try_broadcast(&self, arguments: F::Args) -> Result<(), CallError> {
        self.0.call(arguments)
    }

    /// Removes the binding to a function of an object. Returns `true` if this binding existed.
    pub fn unbind<C: Class>(&self, object: Obj<C>, function: &str) -> bool {
        // An empty name refers to all functions of the object.
        !object.is_none() && !function.is_empty() && self.0.unbind(object.handle(), function) > 0
    }

    /// Removes all bindings to an object. Returns the number of removed bindings.
    pub fn unbind_all<C: Class>(&self, object: Obj<C>) -> u32 {
        if object.is_none() { 0 } else { self.0.unbind(object.handle(), "") }
    }

    /// Removes all bindings.
    pub fn clear(&self) {
        self.0.unbind(ObjectHandle::NONE, "");
    }

    /// Returns the number of bindings.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "`is_bound` has the name that plugins use")]
    pub fn len(&self) -> usize {
        self.0.bindings().len()
    }
}

macro_rules! delegates {
    ($($delegate:ident: $kind:ident, $seen:ident, |$value:ident, $view:ident, $property:ident| $put:expr;)*) => {$(
        impl<F: Signature> NativeProperty for $delegate<F> {
            type Seen<'f> = $seen<'f, F>;

            fn declared(name: &str) -> PropertyDecl {
                PropertyDecl::new(name, PropertyKind::$kind).of_type(&F::signature_text())
            }

            fn see<'f>(view: &impl View<'f>, _: &PropertyRef, (class, name): (&'static str, &'static str)) -> Self::Seen<'f> {
                $seen(Located::new(view, class, name))
            }

            #[allow(unused_variables, reason = "some types have no value")]
            fn put<'f>(self, $view: &impl View<'f>, $property: &PropertyRef) -> Result<(), CallError> {
                let $value = self.0;
                $put
            }
        }

        impl<S: NamedSignature> Declared for $delegate<Named<S>> {
            fn add_to(natives: Natives) -> Natives {
                let (package, class) = S::SCOPE;
                // Ignores an invalid path here. The declaration of the delegate later reports the invalid path.
                let package = class.parse::<TypePath>().map_or_else(|_| package.to_owned(), |path| path.package);
                let params = <<S::Function as Signature>::Args as NativeParams>::declared(S::PARAMS);
                let params = params.into_iter().chain(<S::Function as Signature>::Result::declared()).collect();
                natives.of_package(&package).delegate(NativeDelegate(DelegateDecl {
                    class: class.to_owned(),
                    params,
                    doc: S::DOC.to_owned(),
                    ..DelegateDecl::new(&package, S::NAME, PropertyKind::$kind, Origin::Native)
                }))
            }
        }
    )*};
}
delegates! {
    Delegate: DELEGATE, DelegateRef, |binding, view, property| view.at().world.set(view.at().object, property, binding);
    MulticastDelegate: MULTICAST_DELEGATE, MulticastRef, |never, view, property| match never {};
    SparseDelegate: SPARSE_DELEGATE, MulticastRef, |never, view, property| match never {};
}
