//! Methods called by name. The name is resolved once. Each call then runs the method on one object, or on many objects in one host call.
#![expect(unsafe_code, reason = "lends objects, slots and places for results to the host")]

use core::marker::PhantomData;

use alcedo_abi::call::Failure;
use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::host_direct::EachCall;
use alcedo_abi::zcall::Slot;
use alcedo_rt::CallError;

use crate::direct::is_direct;
use crate::signature::{Params, ReturnValue, fingerprint};
use crate::zcall::is_of_objects;
use crate::{Class, Obj, ZFunction, host};

/// Method with parameters `A` and result `R`, found by its `uf` name, or by its `uf!` name for calls that ignore overrides.
/// [`find`](Self::find) resolves the name and compares the signature once. Each call uses the resulting handle. As with a
/// [`ZFunction`](crate::ZFunction), the handle is valid until the generation of the class in the name ends. A `ZMethod` cannot leave the
/// game thread.
///
/// ```
/// # use alcedo_plugin_api::prelude::*;
/// use alcedo_plugin_api::ZMethod;
///
/// fn heal(wounded: &[Obj<Object>]) -> Result<f64, CallError> {
///     let heal = ZMethod::<(f64,), f64>::find("uf:/Script/Game.Actor:heal")?;
///     let healed = heal.call_each(wounded, (10.0,))?;
///     for (object, error) in healed.failed() {
///         log_it(object, error);
///     }
///     Ok(healed.results().flatten().sum())
/// }
/// # fn log_it(_object: Obj<Object>, _error: &CallError) {}
/// ```
pub struct ZMethod<A, R>(ZFunction<A, R>);

impl<A: Params, R: ReturnValue> ZMethod<A, R> {
    /// Resolves `name`, for example `uf:/Script/Engine.Actor:heal`.
    ///
    /// # Errors
    /// Fails with `NOT_FOUND` for an unknown name, with `SIGNATURE` for different parameters or a different result, or with `BUFFER` for a
    /// static function.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// use alcedo_plugin_api::ZMethod;
    ///
    /// // `find` accepts no name of a function without an object.
    /// let error = ZMethod::<(f64,), f64>::find("ex:/noise.at").expect_err("`ex` functions have no object");
    /// assert_eq!(error.to_string(), "`ex:/noise.at` is called on no object: write `ZFunction::find`");
    /// ```
    pub fn find(name: &str) -> Result<Self, CallError> {
        if !is_of_objects(name) {
            return Err(CallError::other(format!("`{name}` is called on no object: write `ZFunction::find`")));
        }
        let function = ZFunction::<A, R>::resolve(name)?;
        // Calls the function on zero objects, so that the host checks that the function needs an object.
        let (mut slots, mut failed) = ([Slot::EMPTY], Vec::<Failed<crate::Object>>::new());
        let mut call = EachCall {
            objects: core::ptr::null(),
            count: 0,
            slots: slots.as_mut_ptr(),
            len: slots.len(),
            results: core::ptr::null_mut(),
            failures: (&raw mut failed).cast(),
            failed: note::<crate::Object>,
        };
        // SAFETY: the name was resolved on this thread, which is the game thread.
        // There is one slot and no object, so no function is called.
        unsafe { host::host(name)?.zcall_each(function.handle(), fingerprint::<A, R>(), &mut call)? };
        Ok(Self(function))
    }

    /// Returns the name passed to [`find`](Self::find).
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Calls the function on `object` with `args`.
    ///
    /// # Errors
    /// Fails with `STALE` for a destroyed object, or with `WRONG_CLASS` if the object's class does not have the method. Fails with
    /// `DEAD_HANDLE` or `UNAVAILABLE` after the generation of the method has ended. Before the commit, fails with `DURING_REBUILD` as
    /// [`zcall()`](crate::zcall()) does. Also returns errors of the method.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// use alcedo_plugin_api::ZMethod;
    ///
    /// fn heal(heal: &ZMethod<(f64,), f64>, wounded: Obj<Object>) -> f64 {
    ///     match heal.call(wounded, (10.0,)) {
    ///         Ok(health) => health,
    ///         Err(error) if error.kind() == FailureKind::STALE => 0.0,
    ///         Err(error) => panic!("{}: {error}", heal.name()),
    ///     }
    /// }
    /// ```
    #[inline]
    pub fn call<C: Class>(&self, object: Obj<C>, args: A) -> Result<R, CallError> {
        self.0.call_on(Some(object.handle()), args)
    }

    /// Calls the function on each of these objects, in order, with equal arguments, in one host call. A failure or a panic does not stop
    /// the remaining calls. Parameters and result must be numbers, `bool`, names or objects, as the compiler checks. If a host or tool
    /// turns on the observation of calls during the host call, only those of the remaining calls that call events are counted.
    ///
    /// # Errors
    /// Fails with `DEAD_HANDLE` or `UNAVAILABLE` after the generation of the function has ended, or with `BORROWED` while a slice is
    /// borrowed. If `call_each` itself returns an error, no call was made.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// use alcedo_plugin_api::ZMethod;
    ///
    /// fn burn(targets: &[Obj<Object>]) -> Result<usize, CallError> {
    ///     let damage = ZMethod::<(f64, bool), f64>::find("uf:/Script/Game.Actor:damage")?;
    ///     let damaged = damage.call_each(targets, (25.0, true))?;
    ///     Ok(damaged.results().flatten().filter(|health| *health <= 0.0).count())
    /// }
    /// ```
    pub fn call_each<C: Class>(&self, objects: &[Obj<C>], args: A) -> Result<Each<C, R>, CallError> {
        const {
            assert!(
                is_direct::<A, R>(),
                "`call_each` is for functions whose values are plain: numbers, `bool`, names and objects"
            )
        }
        let mut each = Each { results: Vec::with_capacity(objects.len()), failed: Vec::new(), of: PhantomData };
        // SAFETY: the name was resolved on this thread, which is the game thread. No slot is used after the call.
        let called = unsafe {
            args.with_slots(ObjectHandle::NONE, Slot::EMPTY, |slots| {
                let end = slots.len() - usize::from(R::VALUE.is_none());
                let (results, failures) = (each.results.as_mut_ptr(), (&raw mut each.failed).cast());
                let mut call = EachCall {
                    objects: objects.as_ptr().cast(),
                    count: objects.len(),
                    slots: slots.as_mut_ptr(),
                    len: end,
                    results,
                    failures,
                    failed: note::<C>,
                };
                host::host(self.name())?.zcall_each(self.0.handle(), fingerprint::<A, R>(), &mut call)
            })
        };
        called?;
        // SAFETY: the vector has the capacity, and the host has written a result for each object, as `EachCall` promises.
        unsafe { each.results.set_len(objects.len()) };
        for (object, at, _error) in &mut each.failed {
            *object = objects.get(*at).copied().unwrap_or_default();
        }
        Ok(each)
    }
}

/// Records a failed call of a batch.
///
/// # Safety
/// `failures` points to the list of failures of the batch, which no other code uses.
unsafe extern "C" fn note<C>(failures: *mut (), at: usize, failure: &Failure) {
    // SAFETY: the caller promises a list without other users.
    let failed = unsafe { &mut *failures.cast::<Vec<Failed<C>>>() };
    failed.push((Obj::none(), at, CallError::from_failure(failure.clone())));
}

impl<A, R> core::fmt::Debug for ZMethod<A, R> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.fmt(f)
    }
}

/// Failed call of a batch: the object, the object's index in the batch, and the error.
type Failed<C> = (Obj<C>, usize, CallError);

/// Results of calls on several objects; see [`ZMethod::call_each`].
///
/// # Examples
/// ```
/// # use alcedo_plugin_api::prelude::*;
///
/// use alcedo_plugin_api::Each;
///
/// fn report(healed: &Each<Object, f64>) -> String {
///     let total: f64 = healed.results().flatten().sum();
///     format!("{total} in all, {} failed", healed.failed().len())
/// }
/// ```
pub struct Each<C, R> {
    results: Vec<u64>,
    /// Failed calls, with the indices of their objects, in order.
    failed: Vec<Failed<C>>,
    of: PhantomData<fn() -> R>,
}

impl<C, R: ReturnValue> Each<C, R> {
    /// Returns the result of each call, in the order of the objects. The result of a failed call is `None`.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// use alcedo_plugin_api::Each;
    ///
    /// fn weakest(squad: &[Obj<Object>], healths: &Each<Object, f64>) -> Option<Obj<Object>> {
    ///     let known = squad.iter().zip(healths.results()).filter_map(|(member, health)| Some((member, health?)));
    ///     known.min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(member, _)| *member)
    /// }
    /// ```
    pub fn results(&self) -> impl Iterator<Item = Option<R>> {
        // Results before the first failure need no check against the list of failures, so iterating over them is as fast as iterating over
        // a slice of numbers.
        let (done, rest) = self.results.split_at(self.failed.first().map_or(self.results.len(), |(_, at, _)| *at));
        let mut failed = self.failed.iter().map(|(_, at, _)| at - done.len()).peekable();
        let rest = rest.iter().enumerate().map(move |(at, bits)| match failed.next_if_eq(&at) {
            Some(_) => None,
            None => R::of_direct_bits(*bits),
        });
        done.iter().map(|bits| R::of_direct_bits(*bits)).chain(rest)
    }

    /// Returns the objects whose calls have failed, in order, with their errors.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// use alcedo_plugin_api::Each;
    ///
    /// fn forget_destroyed(targets: &mut Vec<Obj<Object>>, hits: &Each<Object, f64>) {
    ///     for (object, error) in hits.failed() {
    ///         if error.kind() == FailureKind::STALE {
    ///             targets.retain(|target| *target != object);
    ///         }
    ///     }
    /// }
    /// ```
    pub fn failed(&self) -> impl ExactSizeIterator<Item = (Obj<C>, &CallError)> {
        self.failed.iter().map(|(object, _, error)| (*object, error))
    }
}

impl<C, R> core::fmt::Debug for Each<C, R> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} calls, {} of which failed", self.results.len(), self.failed.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{Each, ZMethod};
    use crate::{Object, ZFunction, ZProperty};

    /// Trait with two implementations for `Send` types, which makes type inference ambiguous for these types.
    trait NotSend<Which> {
        fn check() {}
    }

    impl<T> NotSend<()> for T {}

    /// Distinguishes the second implementation, which exists only for `Send` types.
    struct Sent;

    impl<T: Send> NotSend<Sent> for T {}

    #[test]
    fn a_resolved_function_remains_on_its_thread() {
        <ZFunction<(i32,), i32> as NotSend<_>>::check();
        <ZMethod<(i32,), i32> as NotSend<_>>::check();
        <ZProperty<f64> as NotSend<_>>::check();
    }

    #[test]
    fn results_have_the_indices_of_their_objects_and_failed_calls_have_none() {
        let error = || alcedo_rt::CallError::other("no");
        let failed = vec![(crate::Obj::<Object>::none(), 0, error()), (crate::Obj::none(), 3, error())];
        let each = Each::<Object, i32> { results: vec![0, 7, u64::MAX, 0], failed, of: core::marker::PhantomData };
        assert_eq!(each.results().collect::<Vec<_>>(), [None, Some(7), Some(-1), None]);
        assert_eq!(each.failed().len(), 2);
    }
}
