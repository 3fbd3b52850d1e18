//! Direct calls from a module to functions of the host. If a slot can store each value of a signature, the host returns the address of the
//! function, and a direct call jumps to this address without a slot buffer. Before each direct call, the module reads the host's version
//! word, which changes whenever the address may become invalid. A reserved version forbids direct calls before a commit, and while a slice
//! of host memory is borrowed. The module then calls with slots instead. A failed call with slots reports the reason.
#![expect(unsafe_code, reason = "calls code at an address from the host")]

use core::marker::PhantomData;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use alcedo_abi::call::FailureKind;
use alcedo_abi::direct::{DirectAnswer, DirectStatus};
use alcedo_abi::handles::{ObjectHandle, ZCallHandle};
use alcedo_abi::host_direct::{CLOSED, DirectBits, DirectCallee};
use alcedo_rt::{CallError, direct_version, may_call_directly};

use crate::signature::{Params, ReturnValue, fingerprint};
use crate::this::InterfaceThis;
use crate::{Class, Interface, Object, This, host};

/// Version of an empty cache. Differs from each version that a host stores, and from the version that forbids direct calls.
const NEVER: u64 = u64::MAX;

/// Proof that this thread may call functions of the host directly. A proof for the object of a frame exists only on the game thread. A
/// proof without an object exists on the game thread, or, in a module that is not bound to a thread, on any thread. A proof never leaves
/// its thread.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Called<'a> {
    object: ObjectHandle,
    frame: PhantomData<(&'a (), *const ())>,
}

impl Called<'_> {
    pub(crate) fn new<C: Class>(this: &This<'_, C>) -> Self {
        Self { object: this.object(), frame: PhantomData }
    }

    /// Creates a proof for the object of a call by name. The host has resolved the name on this thread: the game thread, or any
    /// thread for a module that is not bound to a thread.
    #[inline]
    pub(crate) fn by_name(object: ObjectHandle) -> Self {
        Self { object, frame: PhantomData }
    }

    /// Creates a proof without an object. Returns `None` if the module is bound to the game thread and this is a different thread.
    #[inline]
    pub(crate) fn without_object() -> Option<Self> {
        may_call_directly().then_some(Self { object: ObjectHandle::NONE, frame: PhantomData })
    }

    #[inline]
    pub(crate) fn object(self) -> ObjectHandle {
        self.object
    }
}

/// Object on which functions of `T` can be called. `T` is a class or an interface.
pub trait CalledAs<T> {
    /// Returns the object, with proof that this thread may call the object's functions.
    #[doc(hidden)]
    fn called(&self) -> Called<'_>;
}

impl<C: Class> CalledAs<C> for This<'_, C> {
    #[inline]
    fn called(&self) -> Called<'_> {
        Called::new(self)
    }
}

impl<I: Interface> CalledAs<I> for InterfaceThis<'_, I> {
    #[inline]
    fn called(&self) -> Called<'_> {
        Called::new::<Object>(self)
    }
}

/// Cache for the code address of a function with parameters `A` and result `R`. The first call fills the cache. Only the game thread uses
/// the cache, except in a module that is not bound to a thread. For such a module, code and context of a handle do not change while
/// direct calls are allowed.
pub(crate) struct DirectCell<A, R> {
    /// Version of the cached code. When the cache is filled, this field is written last, so a call reads this field first.
    version: AtomicU64,
    code: AtomicPtr<()>,
    context: AtomicPtr<()>,
    /// Most recent version for which the host returned no code.
    refused: AtomicU64,
    of: PhantomData<fn(A) -> R>,
}

impl<A, R> DirectCell<A, R> {
    pub(crate) const fn new() -> Self {
        let (code, context) = (AtomicPtr::new(core::ptr::null_mut()), AtomicPtr::new(core::ptr::null_mut()));
        Self { version: AtomicU64::new(NEVER), code, context, refused: AtomicU64::new(NEVER), of: PhantomData }
    }
}

impl<A: Params, R: ReturnValue> DirectCell<A, R> {
    /// Calls the code of a handle directly. Returns `None` if the call must use slots.
    #[inline]
    pub(crate) fn call<Argument: Params<Bits = A::Bits>>(
        &self,
        handle: impl FnOnce() -> ZCallHandle,
        called: Called<'_>,
        args: &Argument,
    ) -> Option<Result<u64, CallError>> {
        if !(is_direct::<A, R>() && Argument::IN_SLOTS) {
            return None;
        }
        if self.version.load(Ordering::Acquire) != direct_version() && !self.find(handle()) {
            return None;
        }
        let (code, context) = (self.code.load(Ordering::Relaxed), self.context.load(Ordering::Relaxed));
        // SAFETY: the host returned code and context for this signature, and the unchanged version proves that both are valid.
        // `called` proves the thread.
        // A module that is not bound to a thread has only one host, which keeps code and context while the module is mapped.
        // The bits encode values of the types.
        argument(unsafe { args.direct_bits().call(code, context, called.object()) })
    }

    /// Runs `code` with a pointer to the function `name`.
    ///
    /// # Errors
    /// Fails with `UNAVAILABLE` if this thread may not call the function directly or the function has no pointer, or with `WRONG_STACK` on
    /// a coroutine's stack.
    pub(crate) fn hot<T>(
        &self,
        handle: ZCallHandle,
        called: Option<Called<'_>>,
        name: &str,
        code: impl FnOnce(HotFunction<'_, A, R>) -> T,
    ) -> Result<T, CallError> {
        let called = called.ok_or_else(|| no_pointer(name))?;
        alcedo_rt::may_open_scope("lending a pointer to a function")?;
        self.leaf(handle, called).map(code).ok_or_else(|| no_pointer(name))
    }

    /// Returns the code of the function if the function is a leaf, and if direct calls are currently allowed.
    fn leaf(&self, handle: ZCallHandle, _called: Called<'_>) -> Option<HotFunction<'_, A, R>> {
        if !is_direct::<A, R>() || self.version.load(Ordering::Acquire) != direct_version() && !self.find(handle) {
            return None;
        }
        let code = self.code.load(Ordering::Relaxed).cast_const();
        let is_leaf = self.context.load(Ordering::Relaxed).cast_const() == DirectCallee::LEAF;
        is_leaf.then_some(HotFunction { code, of: PhantomData })
    }

    #[cold]
    fn find(&self, handle: ZCallHandle) -> bool {
        let version = direct_version();
        if version == CLOSED || self.refused.load(Ordering::Relaxed) == version {
            return false;
        }
        let Some(DirectCallee { code, context, version }) = found::<A, R>(handle) else {
            self.refused.store(version, Ordering::Relaxed);
            return false;
        };
        self.code.store(code.cast_mut(), Ordering::Relaxed);
        self.context.store(context.cast_mut(), Ordering::Relaxed);
        self.version.store(version, Ordering::Release);
        true
    }
}

/// Function pointer to a leaf of the host; see [`ZFunction::hot`](crate::ZFunction::hot).
///
/// # Examples
/// ```
/// # use alcedo_plugin_api::prelude::*;
///
/// use alcedo_plugin_api::{HotFunction, ZFunction};
///
/// fn fill(heights: &mut [f64], noise: HotFunction<'_, (f64,), f64>) -> Result<(), CallError> {
///     for (x, height) in heights.iter_mut().enumerate() {
///         *height = noise.call((x as f64,))?;
///     }
///     Ok(())
/// }
///
/// fn build(heights: &mut [f64]) -> Result<(), CallError> {
///     ZFunction::<(f64,), f64>::find("ex:/noise.at")?.hot(|noise| fill(heights, noise))?
/// }
/// ```
// The function may be called without reading the version word, but only on its thread, while code of this module is on the stack. Only
// `DirectCell::leaf` creates this type.
#[derive(Clone, Copy)]
pub struct HotFunction<'a, A, R> {
    code: *const (),
    of: PhantomData<(&'a DirectCell<A, R>, *const ())>,
}

impl<A: Params, R: ReturnValue> HotFunction<'_, A, R> {
    /// Calls the leaf with `args`.
    ///
    /// # Errors
    /// Fails if the leaf panics.
    #[inline]
    pub fn call(&self, args: A) -> Result<R, CallError> {
        // SAFETY: the host returned the code for a function with this signature, which may be called on this thread.
        // The raw pointer keeps this value on the thread. This value exists only while a closure of the module runs.
        // At that time, a leaf may always be called, as `DirectCallee::LEAF` promises.
        let answer = unsafe { args.direct_bits().call(self.code, DirectCallee::LEAF, ObjectHandle::NONE) };
        of_bits(if answer.status == DirectStatus::DONE { Ok(answer.bits) } else { Err(leaf_failure(answer.status)) })
    }
}

impl<A, R> core::fmt::Debug for HotFunction<'_, A, R> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("a function by its pointer")
    }
}

#[cold]
fn no_pointer(name: &str) -> CallError {
    let message = format!("`{name}` has no pointer now: use `call`, which does not need a pointer");
    CallError::new(FailureKind::UNAVAILABLE, message)
}

#[cold]
#[inline(never)]
fn leaf_failure(status: DirectStatus) -> CallError {
    failure(status).unwrap_or_else(|| CallError::other("a leaf of the host was not called"))
}

/// Returns the host's code for direct calls of a handle.
fn found<A: Params, R: ReturnValue>(handle: ZCallHandle) -> Option<DirectCallee> {
    let host = host::host("finding a function for direct calls").ok()?;
    // A failure is ignored here, because the following call with slots reports the reason.
    let callee = host.zcall_direct(handle, fingerprint::<A, R>()).ok()?;
    (!callee.code.is_null() && callee.version != CLOSED).then_some(callee)
}

#[inline]
fn argument(answer: DirectAnswer) -> Option<Result<u64, CallError>> {
    if answer.status == DirectStatus::DONE { Some(Ok(answer.bits)) } else { failure(answer.status).map(Err) }
}

/// Returns true if functions with this signature may be called directly: a slot can store each parameter and the result.
pub(crate) const fn is_direct<A: Params, R: ReturnValue>() -> bool {
    A::IN_SLOTS && R::IN_SLOT
}

/// Converts the bits of a result. Calls on the fast path and on the slow path both return bits, so that results remain in registers.
#[inline]
pub(crate) fn of_bits<R: ReturnValue>(bits: Result<u64, CallError>) -> Result<R, CallError> {
    R::of_direct_bits(bits?).ok_or_else(in_no_slot)
}

#[cold]
fn in_no_slot() -> CallError {
    CallError::other("the result of a direct call is not in a slot")
}

/// Returns the error of a failed call, or `None` if the call was not performed. Never inlined, so that results remain in registers.
#[cold]
#[inline(never)]
fn failure(status: DirectStatus) -> Option<CallError> {
    if status == DirectStatus::NOT_DONE {
        return None;
    }
    Some(host::direct_failure().unwrap_or_else(|| CallError::other("a direct call failed without a reason")))
}
