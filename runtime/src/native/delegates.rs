//! Delegates as types of native properties: what a property of such a type is, what `#[udelegate]` of a host declares, and how a
//! host has the property in hand: as a [`DelegateOf`], by which it binds, listens and calls.

use std::convert::Infallible;
use std::marker::PhantomData;

use crate::border::CallError;
use crate::host::DelegateOf;
use crate::kinds::PropertyKind;
use crate::native::declared::Declared;
use crate::native::property::NativeProperty;
use crate::native::this::View;
use crate::native::{NativeDelegate, Natives};
use crate::object::decl::{DelegateDecl, PropertyDecl};
use crate::object::host_value::signature_of;
use crate::object::member::PropertyRef;
use crate::object::native_value::{NativeParams, NativeResult, ValueParams};
use crate::object::origin::Origin;
use crate::object::path::TypePath;

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

macro_rules! delegates {
    ($($(#[$doc:meta])* $delegate:ident: $kind:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $delegate<F>(Infallible, PhantomData<fn() -> F>);

        impl<F: Signature> NativeProperty for $delegate<F> {
            type Seen = DelegateOf<F::Args, F::Result>;

            fn declared(name: &str) -> PropertyDecl {
                PropertyDecl::new(name, PropertyKind::$kind).of_type(&F::words())
            }

            fn see<'f>(view: &impl View<'f>, _: &PropertyRef, (class, name): (&'static str, &'static str)) -> Self::Seen {
                DelegateOf::new(class, name, view.at().object)
            }

            fn put<'f>(self, _: &impl View<'f>, _: &PropertyRef) -> Result<(), CallError> {
                match self.0 {}
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
    /// A native property that calls one function: `Delegate<fn(f64) -> bool>`. There is no value of this type: the property is used
    /// where it lies, by the [`DelegateOf`] that its accessor gives.
    Delegate: DELEGATE;
    /// A native property that calls any number of functions: `MulticastDelegate<fn(f64)>`. See [`Delegate`].
    MulticastDelegate: MULTICAST_DELEGATE;
    /// The same, for where there mostly is none. See [`Delegate`].
    SparseDelegate: SPARSE_DELEGATE;
}
