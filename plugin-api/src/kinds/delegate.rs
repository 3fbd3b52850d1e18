//! Delegates: functions of objects, bound by name and called later.
#![expect(unsafe_code, reason = "calls what is bound, by the signature of the type")]

use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::value::{ArrayRaw, DelegateRaw, SparseRaw};
use alcedo_rt::{CallError, fail};

use super::kind;
use super::verbs;
use crate::zcall::Callee;
use crate::{Class, Lent, Obj, Object, Signature};

kind! {
    /// A function of an object, to be called later: `Delegate<fn(f64) -> bool>`. It keeps the object alive,
    /// which may be destroyed all the same: then nothing is called.
    ///
    /// ```no_run
    /// # use alcedo_plugin_api::prelude::*;
    /// # #[uclass(package = "Game")]
    /// # #[derive(Default)]
    /// # pub struct Thing {
    /// #     #[uproperty]
    /// #     decide: Delegate<fn(f64) -> bool>,
    /// # }
    /// # fn show(this: This<'_, Thing>, judge: Obj<Object>) -> Result<(), CallError> {
    /// this.decide().bind(judge, "is_good");
    /// let good = this.decide().call((0.5,))?;
    /// # Ok(())
    /// # }
    /// ```
    Delegate<F: Signature>, raw: DelegateRaw, kind: DELEGATE, path: F::TEXT.as_str(), literal: crate::value::NoDefault,
    pointer
}

kind! {
    /// Any number of such functions, called one after the other: `MulticastDelegate<fn(f64)>`.
    ///
    /// ```no_run
    /// # use alcedo_plugin_api::prelude::*;
    /// # #[uclass(package = "Game")]
    /// # #[derive(Default)]
    /// # pub struct Thing {
    /// #     #[uproperty]
    /// #     on_hit: MulticastDelegate<fn(f64)>,
    /// # }
    /// # fn show(this: This<'_, Thing>, listener: Obj<Object>) {
    /// this.on_hit().bind(listener, "hit");
    /// this.on_hit().broadcast((12.0,));
    /// # }
    /// ```
    MulticastDelegate<F: Signature>, raw: ArrayRaw, kind: MULTICAST_DELEGATE, path: F::TEXT.as_str(),
    literal: crate::value::NoDefault, pointer
}

kind! {
    /// The same, for where there mostly is none: it takes one word until something is bound.
    SparseDelegate<F: Signature>, raw: SparseRaw, kind: SPARSE_DELEGATE, path: F::TEXT.as_str(),
    literal: crate::value::NoDefault, pointer
}

macro_rules! delegates {
    ($($name:ident;)*) => {$(
        impl<F: Signature> Lent<'_, $name<F>> {
            /// Binds a function of an object, by name. One that takes or gives something else is refused.
            pub fn bind<C: Class>(&self, object: Obj<C>, function: &str) {
                self.try_bind(object, function).unwrap_or_else(|error| fail(error));
            }

            /// Binds a function of an object, or says why not.
            ///
            /// # Errors
            /// `NOT_FOUND` when the object has no such function; `SIGNATURE` when it takes or gives something else;
            /// `STALE` when it is gone; `EXPIRED`; `DURING_REBUILD`.
            pub fn try_bind<C: Class>(&self, object: Obj<C>, function: &str) -> Result<(), CallError> {
                verbs::delegate_bind(&self.place()?, object.handle(), function)
            }

            fn take_out(&self, object: ObjectHandle, function: &str) -> u32 {
                let taken = self.place().and_then(|place| verbs::delegate_unbind(&place, object, function));
                taken.unwrap_or_else(|error| fail(error))
            }

            fn run(&self, args: &F::Args) -> Result<F::Result, CallError> {
                let delegate = self.place()?;
                // SAFETY: the path of the type is the text of the signature, and the place was promised a live value of the type.
                unsafe { Callee::bound(delegate.raw()) }.call(None, "calling a delegate", args)
            }
        }
    )*};
}
delegates! {
    Delegate;
    MulticastDelegate;
    SparseDelegate;
}

impl<F: Signature> Lent<'_, Delegate<F>> {
    /// Calls what is bound.
    ///
    /// # Errors
    /// `NOT_FOUND` when nothing is bound; whatever the callee fails with.
    pub fn call(&self, args: F::Args) -> Result<F::Result, CallError> {
        self.run(&args)
    }

    /// Takes the binding out: whether there was one.
    pub fn unbind(&self) -> bool {
        self.take_out(ObjectHandle::NONE, "") > 0
    }

    /// Whether something is bound, be its object alive or not.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        !self.object().is_none()
    }

    /// The object that is bound, or none.
    #[must_use]
    pub fn object(&self) -> Obj<Object> {
        Obj::from_handle(self.ptr().unwrap_or_else(|error| fail(error)).read().object)
    }
}

macro_rules! multicasts {
    ($($name:ident;)*) => {$(
        impl<F: Signature<Result = ()>> Lent<'_, $name<F>> {
            /// Calls all that is bound whose objects live, the last one added first. One that fails ends nothing but itself.
            pub fn broadcast(&self, args: F::Args) {
                self.try_broadcast(args).unwrap_or_else(|error| fail(error));
            }

            /// Calls all that is bound, or says what the first of those that failed failed with.
            ///
            /// # Errors
            /// As the host reports it; `EXPIRED`.
            pub fn try_broadcast(&self, args: F::Args) -> Result<(), CallError> {
                self.run(&args)
            }

            /// Takes the binding to a function of an object out: whether there was one.
            pub fn unbind<C: Class>(&self, object: Obj<C>, function: &str) -> bool {
                self.take_out(object.handle(), function) > 0
            }

            /// Takes all bindings to an object out: how many there were.
            pub fn unbind_all<C: Class>(&self, object: Obj<C>) -> u32 {
                if object.is_none() { 0 } else { self.take_out(object.handle(), "") }
            }

            /// Takes all bindings out.
            pub fn clear(&self) {
                self.take_out(ObjectHandle::NONE, "");
            }

            /// Whether something is bound, be its object alive or not.
            #[must_use]
            pub fn is_bound(&self) -> bool {
                self.len() > 0
            }
        }
    )*};
}
multicasts! {
    MulticastDelegate;
    SparseDelegate;
}

impl<F: Signature<Result = ()>> Lent<'_, MulticastDelegate<F>> {
    /// How many functions are bound.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ptr().unwrap_or_else(|error| fail(error)).len()
    }
}

impl<F: Signature<Result = ()>> Lent<'_, SparseDelegate<F>> {
    /// How many functions are bound.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ptr().unwrap_or_else(|error| fail(error)).bound()
    }
}
