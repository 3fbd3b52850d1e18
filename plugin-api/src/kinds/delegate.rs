//! Delegates, to which functions of objects are bound by name. Calling the delegate calls the bound functions.

use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::value::{ArrayRaw, DelegateRaw, SparseRaw};
use alcedo_rt::{CallError, fail};

use super::kind;
use super::verbs;
use crate::{Borrowed, Class, Obj, Object, Signature};

kind! {
    /// Stores a function of an object for later calls: `Delegate<fn(f64) -> bool>`. The delegate protects the object from collection. If
    /// the object is destroyed explicitly, a call fails.
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
    /// List of bound functions that are called one after another: `MulticastDelegate<fn(f64)>`.
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
    /// A [`MulticastDelegate`] for events that usually have no bound function; it then occupies only eight bytes.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    /// # #[uclass(package = "Game")]
    /// # #[derive(Default)]
    /// # pub struct Crate {
    /// #     #[uproperty]
    /// #     on_broken: SparseDelegate<fn(u32)>,
    /// # }
    /// fn watch(crate_: This<'_, Crate>, listener: Obj<Object>) {
    ///     crate_.on_broken().bind(listener, "crate_broken");
    ///     assert_eq!(crate_.on_broken().len(), 1);
    ///     crate_.on_broken().broadcast((3,));
    /// }
    /// ```
    SparseDelegate<F: Signature>, raw: SparseRaw, kind: SPARSE_DELEGATE, path: F::TEXT.as_str(),
    literal: crate::value::NoDefault, pointer
}

macro_rules! delegates {
    ($($name:ident;)*) => {$(
        impl<F: Signature> Borrowed<'_, $name<F>> {
            /// Binds a function of an object by name. Rejects a function whose signature differs from the delegate's signature.
            pub fn bind<C: Class>(&self, object: Obj<C>, function: &str) {
                self.try_bind(object, function).unwrap_or_else(|error| fail(error));
            }

            /// Binds a function of an object by name. Rejects a function whose signature differs from the delegate's signature.
            ///
            /// # Errors
            /// Fails with `NOT_FOUND` if the object does not have the function, or with `SIGNATURE` if the signatures differ. Fails with
            /// `STALE` if the object was destroyed, with `EXPIRED` if the delegate no longer exists, or with `DURING_REBUILD` while the
            /// host refuses writes to its owner.
            ///
            /// # Examples
            /// ```
            /// # use alcedo_plugin_api::prelude::*;
            #[doc = concat!("fn watch(event: &Borrowed<'_, ", stringify!($name), "<fn()>>, listener: Obj<Object>) {")]
            ///     if let Err(error) = event.try_bind(listener, "on_event") {
            ///         eprintln!("{listener:?} does not listen: {error}");
            ///     }
            /// }
            /// ```
            pub fn try_bind<C: Class>(&self, object: Obj<C>, function: &str) -> Result<(), CallError> {
                verbs::delegate_bind(&self.location()?, object.handle(), function)
            }

            fn take_out(&self, object: ObjectHandle, function: &str) -> u32 {
                let taken = self.location().and_then(|location| verbs::delegate_unbind(&location, object, function));
                taken.unwrap_or_else(|error| fail(error))
            }

            fn run(&self, args: &F::Args) -> Result<F::Result, CallError> {
                let delegate = self.location()?;
                delegate.bound::<F>().call(None, "calling a delegate", args)
            }
        }
    )*};
}
delegates! {
    Delegate;
    MulticastDelegate;
    SparseDelegate;
}

impl<F: Signature> Borrowed<'_, Delegate<F>> {
    /// Calls the bound function with `args`.
    ///
    /// # Errors
    /// Fails with `NOT_FOUND` if no function is bound. Also returns errors of the called function.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn is_good(decide: &Borrowed<'_, Delegate<fn(f64) -> bool>>, score: f64) -> bool {
    ///     match decide.call((score,)) {
    ///         Ok(is_good) => is_good,
    ///         // No function is bound.
    ///         Err(error) if error.kind() == FailureKind::NOT_FOUND => score > 0.5,
    ///         Err(error) => panic!("{error}"),
    ///     }
    /// }
    /// ```
    pub fn call(&self, args: F::Args) -> Result<F::Result, CallError> {
        self.run(&args)
    }

    /// Removes the binding. Returns `true` if a function was bound.
    pub fn unbind(&self) -> bool {
        self.take_out(ObjectHandle::NONE, "") > 0
    }

    /// Returns `true` if a function is bound, even if the function's object was destroyed.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        !self.object().is_none()
    }

    /// Returns the object of the bound function, or [`Obj::none`] if no function is bound.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn judge(decide: &Borrowed<'_, Delegate<fn(f64) -> bool>>) -> String {
    ///     if decide.is_bound() { format!("{:?} decides", decide.object()) } else { "nothing decides".to_owned() }
    /// }
    /// ```
    #[must_use]
    pub fn object(&self) -> Obj<Object> {
        Obj::from_handle(self.ptr().unwrap_or_else(|error| fail(error)).read().object)
    }
}

macro_rules! multicasts {
    ($($name:ident, $count:ident;)*) => {$(
        impl<F: Signature<Result = ()>> Borrowed<'_, $name<F>> {
            /// Calls the bound functions of all live objects, most recent binding first. A failed call does not stop the
            /// remaining calls.
            pub fn broadcast(&self, args: F::Args) {
                self.try_broadcast(args).unwrap_or_else(|error| fail(error));
            }

            /// Calls the bound functions of all live objects, most recent binding first. A failed call does not stop the remaining calls.
            ///
            /// # Errors
            /// Returns the error of the first failed call. Fails with `EXPIRED` if the delegate no longer exists.
            pub fn try_broadcast(&self, args: F::Args) -> Result<(), CallError> {
                self.run(&args)
            }

            /// Removes the binding to a function of an object. Returns `true` if the binding existed.
            ///
            /// # Examples
            /// ```
            /// # use alcedo_plugin_api::prelude::*;
            #[doc = concat!("fn mute(event: &Borrowed<'_, ", stringify!($name), "<fn()>>, listener: Obj<Object>) {")]
            ///     if event.unbind(listener, "on_event") && !event.is_bound() {
            ///         tracing::info!("the event has no listeners");
            ///     }
            /// }
            /// ```
            pub fn unbind<C: Class>(&self, object: Obj<C>, function: &str) -> bool {
                // For the host, an empty name refers to all functions of the object.
                !object.is_none() && !function.is_empty() && self.take_out(object.handle(), function) > 0
            }

            /// Removes all bindings to an object and returns their number.
            pub fn unbind_all<C: Class>(&self, object: Obj<C>) -> u32 {
                if object.is_none() { 0 } else { self.take_out(object.handle(), "") }
            }

            /// Removes all bindings.
            pub fn clear(&self) {
                self.take_out(ObjectHandle::NONE, "");
            }

            /// Returns `true` if a function is bound, even if the function's object was destroyed.
            #[must_use]
            pub fn is_bound(&self) -> bool {
                self.len() > 0
            }

            /// Returns the number of bound functions.
            #[must_use]
            pub fn len(&self) -> usize {
                self.ptr().unwrap_or_else(|error| fail(error)).$count()
            }
        }
    )*};
}
multicasts! {
    MulticastDelegate, len;
    SparseDelegate, bound;
}
