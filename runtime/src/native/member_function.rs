//! Function that the view of a native class calls. One call cache stores bodies in modules and bodies in the host.

use std::cell::Cell;

use crate::boundary::{CallError, not_found};
use crate::bridge::call_cache::{CallCache, is_plain};
use crate::bridge::calls::Dispatch;
use crate::bridge::core::HostOfWorld;
use crate::bridge::direct::MethodCall;
use crate::handles::ObjectHandle;
use crate::object::World;
use crate::object::member::{FunctionKey as _, FunctionRef};
use crate::object::native_value::{NativeParams, NativeResult, SlotRow, fingerprint};

/// A function of a class. Can call the most-derived body, or the body of a specified class. Keeps no class or module alive. Game thread
/// only.
#[derive(Debug)]
pub struct MemberFunction {
    key: FunctionRef,
    cache: CallCache,
    /// Fingerprint of the signature for which the call cache was filled.
    print: Cell<u64>,
}

impl MemberFunction {
    /// Refers to a function by its name, without a class.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { key: FunctionRef::new(name), cache: CallCache::default(), print: Cell::new(0) }
    }

    /// Calls the most-derived body. If `of` specifies a class, calls the body of this class.
    #[inline]
    pub(super) fn call<A: NativeParams + SlotRow, R: NativeResult>(
        &self,
        world: &World,
        object: ObjectHandle,
        of: Option<&str>,
        args: A,
    ) -> Result<R, CallError> {
        let host = if const { is_plain::<A, R>() } && of.is_none() { HostOfWorld::of(world) } else { None };
        let Some(host) = host else { return world.call_typed(object, &self.key, of, args) };
        let fast_paths = host.fast_paths();
        if self.print.get() != fingerprint::<A, R>() || !self.cache.has_target(fast_paths, object) {
            let called = world.call_typed(object, &self.key, None, args);
            self.resolve::<A, R>(host, object);
            return called;
        }
        let clean_up = |height| {
            if let Some(core) = host.core() {
                core.red.clean_up(height);
            }
        };
        self.cache.call_typed((fast_paths, world), object, args, clean_up, || {
            let missing = || not_found(format!("no function {} any more", (&self.key).name()));
            world.objects.class(object).and_then(|class| (&self.key).find(&class)).ok_or_else(missing)
        })
    }

    /// Fills the call cache for the class of `object`.
    #[cold]
    fn resolve<A: NativeParams, R: NativeResult>(&self, host: &HostOfWorld, object: ObjectHandle) {
        let print = fingerprint::<A, R>();
        if self.print.replace(print) != print {
            self.cache.forget();
        }
        let Some(core) = host.core().filter(|_| self.cache.may_resolve(host.fast_paths(), object)) else { return };
        let class = core.world.objects.class(object);
        let found = class.and_then(|class| (&self.key).find(&class));
        match found.filter(|function| function.fingerprint == print) {
            Some(function) => self.cache.resolve(&core, Some(&MethodCall::new(&function, Dispatch::Virtual)), object),
            None => self.cache.resolve(&core, None, object),
        }
    }
}
