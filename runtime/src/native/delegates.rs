//! Delegates as types of native properties: what a property of such a type is, what `#[udelegate]` of a host declares, and how a
//! host has the property in hand: as a [`DelegateOf`], by which it binds, listens and calls.

use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;

use crate::border::CallError;
use crate::handles::ObjectHandle;
use crate::host::DelegateOf;
use crate::kinds::PropertyKind;
use crate::native::declared::Declared;
use crate::native::property::NativeProperty;
use crate::native::this::View;
use crate::native::world::World;
use crate::native::{NativeDelegate, Natives};
use crate::object::decl::{DelegateDecl, PropertyDecl};
use crate::object::host_value::signature_of;
use crate::object::member::{FunctionRef, PropertyRef};
use crate::object::native_value::{NativeParam, NativeParams, NativeResult, ValueParams, fingerprint};
use crate::object::origin::Origin;
use crate::object::path::TypePath;
use crate::object::property::PropertyType;
use crate::object::thunk::{Frame, ParamBlock};
use crate::object::value::{Binding, Value};

/// What a delegate takes and gives: a function type of up to eight values.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no signature of a delegate",
    label = "write `fn(A, B) -> R`, of values that native functions take and give"
)]
pub trait Signature: 'static {
    /// Its parameters.
    type Args: ValueParams;
    /// Its result.
    type Result: NativeResult;
    /// That of the signature.
    #[doc(hidden)]
    const FINGERPRINT: u64 = fingerprint::<Self::Args, Self::Result>();
    /// What stands in the parentheses of the type.
    #[doc(hidden)]
    fn words() -> String {
        // Words that are none are refused with the property.
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

/// What `#[udelegate]` makes of a declaration.
#[doc(hidden)]
pub trait NamedSignature: 'static {
    /// What it takes and gives: a function type.
    type Function: Signature;
    /// The package, empty for one of a class; and the path of the class, empty for a free one.
    const PLACE: (&'static str, &'static str);
    /// Its name there.
    const NAME: &'static str;
    /// The names of what it takes.
    const PARAMS: &'static [&'static str];
    /// The doc comment.
    const DOC: &'static str;
}

/// The signature of a delegate that has a name.
#[doc(hidden)]
#[derive(Debug)]
pub struct Named<S>(PhantomData<fn() -> S>);

impl<S: NamedSignature> Signature for Named<S> {
    type Args = <S::Function as Signature>::Args;
    type Result = <S::Function as Signature>::Result;

    fn words() -> String {
        let path = match S::PLACE {
            (package, "") => TypePath::new(package, S::NAME).to_string(),
            (_, class) => format!("{class}:{}", S::NAME),
        };
        format!("{path}({})", S::Function::words())
    }
}

/// A function of an object, to be called later, as native functions take it and native properties have it:
/// `Delegate<fn(f64) -> bool>`. It keeps nothing alive, and what it leads to is looked up in each call: an override answers, and
/// after a reload the new code. [`Links::delegate`](crate::Links::delegate) makes one; the accessor of a property of this type gives
/// a [`DelegateOf`], by which the property is bound where it lies.
pub struct Delegate<F>(Binding, PhantomData<fn() -> F>);

impl<F> Clone for Delegate<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for Delegate<F> {}

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
        write!(f, "a delegate ({}) of {}", F::words(), self.0.object)
    }
}

impl<F> Delegate<F> {
    /// One that is bound to nothing.
    #[must_use]
    pub fn none() -> Self {
        Self::of(Binding::default())
    }

    pub(crate) fn of(binding: Binding) -> Self {
        Self(binding, PhantomData)
    }

    /// Whether it is bound to a function, of an object that may be gone.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        !self.0.object.is_none()
    }

    /// The object it is bound to, or none.
    #[must_use]
    pub fn object(&self) -> ObjectHandle {
        self.0.object
    }
}

impl<F: Signature> Delegate<F> {
    /// Calls what it is bound to: in native code with `this.world()`, in a host's loop with `runtime.world()`.
    ///
    /// # Errors
    /// [`CallError::NotFound`] when it is bound to nothing, to an object that is gone, or to a function that went;
    /// [`CallError::Signature`] when that takes or gives something else now; and whatever the function fails with.
    pub fn call(&self, world: &World, arguments: F::Args) -> Result<F::Result, CallError> {
        let nothing =
            |why: &str| CallError::NotFound { message: format!("a delegate ({}) {why}: bind it first", F::words()) };
        if !self.is_bound() {
            return Err(nothing("is bound to nothing"));
        }
        if !world.is_alive(self.0.object) {
            return Err(nothing("is bound to an object that is gone"));
        }
        let wanted = signature_of::<F::Args, F::Result>()?.to_string();
        let function = FunctionRef::new(&world.text(self.0.function));
        world.check_function(self.0.object, &function, &wanted)?;
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

    fn declared(name: &str) -> PropertyDecl {
        PropertyDecl::new(name, PropertyKind::DELEGATE).of_type(&F::words())
    }

    fn take(frame: &mut Frame<'_>) -> Result<(Self, ()), CallError> {
        Ok((Self::of(frame.take()?), ()))
    }

    fn give((): (), _frame: &mut Frame<'_>, _at: usize) -> Result<(), CallError> {
        Ok(())
    }

    fn put(self, block: &mut ParamBlock<'_>, at: usize) -> Result<(), CallError> {
        block.put(at, self.0)
    }

    fn take_back((): (), _block: &ParamBlock<'_>, _at: usize) -> Result<(), CallError> {
        Ok(())
    }

    fn into_value(self, ty: Option<&PropertyType>) -> Result<Value, CallError> {
        let words = ty.and_then(PropertyType::signature);
        let wanted = signature_of::<F::Args, F::Result>()?.to_string();
        if words != Some(&*wanted) {
            let (name, found) = ("a value".to_owned(), ty.map(ToString::to_string).unwrap_or_default());
            return Err(CallError::Signature { name, found, wanted: format!("Delegate({wanted})") });
        }
        Ok(Value::Delegate(self.0))
    }

    type Slotted = Binding;

    fn into_slotted(self) -> Binding {
        self.0
    }

    fn from_slotted(slotted: Binding) -> Self {
        Self::of(slotted)
    }
}

/// A delegate that can be bound to several functions: a type of properties, of which there is no value.
macro_rules! of_several {
    ($($(#[$doc:meta])* $delegate:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $delegate<F>(Infallible, PhantomData<fn() -> F>);
    )*};
}
of_several! {
    /// A native property that calls any number of functions: `MulticastDelegate<fn(f64)>`. There is no value of this type: the
    /// property is used where it lies, by the [`DelegateOf`] that its accessor gives.
    MulticastDelegate;
    /// The same, for where there mostly is none. See [`MulticastDelegate`].
    SparseDelegate;
}

macro_rules! delegates {
    ($($delegate:ident: $kind:ident, |$value:ident, $view:ident, $property:ident| $put:expr;)*) => {$(
        impl<F: Signature> NativeProperty for $delegate<F> {
            type Seen = DelegateOf<F::Args, F::Result>;

            fn declared(name: &str) -> PropertyDecl {
                PropertyDecl::new(name, PropertyKind::$kind).of_type(&F::words())
            }

            fn see<'f>(view: &impl View<'f>, _: &PropertyRef, (class, name): (&'static str, &'static str)) -> Self::Seen {
                DelegateOf::new(class, name, view.at().object)
            }

            #[allow(unused_variables, reason = "there is no value of some")]
            fn put<'f>(self, $view: &impl View<'f>, $property: &PropertyRef) -> Result<(), CallError> {
                let $value = self.0;
                $put
            }
        }

        impl<S: NamedSignature> Declared for $delegate<Named<S>> {
            fn add_to(natives: Natives) -> Natives {
                let (package, class) = S::PLACE;
                // A path that is none is refused with the declaration.
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
    Delegate: DELEGATE, |binding, view, property| view.at().world.set(view.at().object, property, binding);
    MulticastDelegate: MULTICAST_DELEGATE, |never, view, property| match never {};
    SparseDelegate: SPARSE_DELEGATE, |never, view, property| match never {};
}
