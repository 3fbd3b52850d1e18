//! Direct calls of the host: where all values of a signature lie in slots, the host gives out the address of the code, and calls go
//! there without slots. Each looks at one word before: the version, which changes whenever the address may stand for something else, and
//! says while nothing may be called so: before a commit, and while a slice of host memory is lent. What is not done in this way takes
//! the call with slots, which does it or says why not.
#![expect(unsafe_code, reason = "calls the code whose address the host has given")]

use core::marker::PhantomData;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use alcedo_abi::black_direct::{CLOSED, DirectBits, DirectCallee};
use alcedo_abi::call::FailureKind;
use alcedo_abi::direct::{DirectAnswer, DirectStatus};
use alcedo_abi::handles::{ObjectHandle, ZCallHandle};
use alcedo_rt::{CallError, direct_version, may_call_directly};

use crate::signature::{Params, ReturnValue, fingerprint};
use crate::this::InterfaceThis;
use crate::{Class, Interface, Object, This, host};

/// No version of the host's, nor what it says while nothing may be called.
const NEVER: u64 = u64::MAX;

/// Proof that functions of the host may be called directly on this thread: it is the game thread, as the borrow of an object of a frame
/// shows, or the module has to do with no objects. It does not leave the thread.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Called<'a> {
    object: ObjectHandle,
    frame: PhantomData<(&'a (), *const ())>,
}

impl Called<'_> {
    /// The object of a frame.
    pub(crate) fn new<C: Class>(this: &This<'_, C>) -> Self {
        Self { object: this.object(), frame: PhantomData }
    }

    /// Returns the object of a call by a name that the host has found on this thread: the game thread, or any thread of a module that
    /// belongs to none.
    #[inline]
    pub(crate) fn by_name(object: ObjectHandle) -> Self {
        Self { object, frame: PhantomData }
    }

    /// No object, on the game thread or in a module that belongs to no thread; `None` elsewhere.
    #[inline]
    pub(crate) fn without_object() -> Option<Self> {
        may_call_directly().then_some(Self { object: ObjectHandle::NONE, frame: PhantomData })
    }

    /// Its handle.
    #[inline]
    pub(crate) fn object(self) -> ObjectHandle {
        self.object
    }
}

/// An object on which functions of `T` can be called: of a class, or of an interface.
pub trait CalledAs<T> {
    /// The object, and that this is its thread.
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

/// The code behind a cell of a function that takes `A` and gives `R`, once a call has found it. Read on the game thread, or on any thread
/// in a module that belongs to none, where a handle has the same code and context as long as the version is that of an open word.
pub(crate) struct DirectCell<A, R> {
    /// The version it was found under; written after the others, and read before them.
    version: AtomicU64,
    code: AtomicPtr<()>,
    context: AtomicPtr<()>,
    /// The last version under which the host had none.
    refused: AtomicU64,
    of: PhantomData<fn(A) -> R>,
}

impl<A, R> DirectCell<A, R> {
    /// One that has found nothing.
    pub(crate) const fn new() -> Self {
        let (code, context) = (AtomicPtr::new(core::ptr::null_mut()), AtomicPtr::new(core::ptr::null_mut()));
        Self { version: AtomicU64::new(NEVER), code, context, refused: AtomicU64::new(NEVER), of: PhantomData }
    }
}

impl<A: Params, R: ReturnValue> DirectCell<A, R> {
    /// Calls the code behind the handle that a function cell was filled with; nothing where the call takes slots.
    #[inline]
    pub(crate) fn call<Given: Params<Bits = A::Bits>>(
        &self,
        handle: impl FnOnce() -> ZCallHandle,
        called: Called<'_>,
        args: &Given,
    ) -> Option<Result<u64, CallError>> {
        if !(is_direct::<A, R>() && Given::IN_SLOTS) {
            return None;
        }
        if self.version.load(Ordering::Acquire) != direct_version() && !self.find(handle()) {
            return None;
        }
        let (code, context) = (self.code.load(Ordering::Relaxed), self.context.load(Ordering::Relaxed));
        // SAFETY: the host returned code and context for a function with this signature, and its version is still the same: they are right,
        // and calls are open. `called` proves the thread. A module that belongs to no thread reads both from one host for its whole life,
        // which keeps them as long as the module is mapped. The bits are those of values of the types.
        given(unsafe { args.direct_bits().call(code, context, called.object()) })
    }

    /// Returns the code, if it is that of a leaf and may be called now.
    pub(crate) fn leaf(&self, handle: ZCallHandle, _called: Called<'_>) -> Option<Leaf<'_, A, R>> {
        if !is_direct::<A, R>() || self.version.load(Ordering::Acquire) != direct_version() && !self.find(handle) {
            return None;
        }
        let code = self.code.load(Ordering::Relaxed).cast_const();
        let is_leaf = self.context.load(Ordering::Relaxed).cast_const() == DirectCallee::LEAF;
        is_leaf.then_some(Leaf { code, of: PhantomData })
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

/// The code of a leaf of the host, for calls while code of this module is on the stack of the game thread. Made by [`DirectCell::leaf`]
/// alone, and not for another thread.
pub(crate) struct Leaf<'a, A, R> {
    code: *const (),
    of: PhantomData<(&'a DirectCell<A, R>, *const ())>,
}

impl<A, R> Clone for Leaf<'_, A, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, R> Copy for Leaf<'_, A, R> {}

impl<A: Params, R: ReturnValue> Leaf<'_, A, R> {
    /// Calls it.
    #[inline]
    pub(crate) fn call(self, args: &A) -> Result<u64, CallError> {
        // SAFETY: the host returned the code for a function with this signature, on this thread, where it may be called, and the pointer
        // keeps it there. A leaf may be called at all times while code of the module runs, as `DirectCallee::LEAF` promises, and it does:
        // this is lent for a call of a closure.
        let answer = unsafe { args.direct_bits().call(self.code, DirectCallee::LEAF, ObjectHandle::NONE) };
        if answer.status == DirectStatus::DONE { Ok(answer.bits) } else { Err(leaf_failure(answer.status)) }
    }
}

#[cold]
#[inline(never)]
fn leaf_failure(status: DirectStatus) -> CallError {
    failure(status).unwrap_or_else(|| CallError::new(FailureKind::OTHER, "a leaf of the host was not called"))
}

/// What the host has for direct calls of a handle.
fn found<A: Params, R: ReturnValue>(handle: ZCallHandle) -> Option<DirectCallee> {
    let host = host::host("finding a function for direct calls").ok()?;
    // Why there is none, the call with slots says.
    let callee = host.zcall_direct(handle, fingerprint::<A, R>()).ok()?;
    (!callee.code.is_null() && callee.version != CLOSED).then_some(callee)
}

#[inline]
fn given(answer: DirectAnswer) -> Option<Result<u64, CallError>> {
    if answer.status == DirectStatus::DONE { Some(Ok(answer.bits)) } else { failure(answer.status).map(Err) }
}

/// Whether functions with this signature may be called directly: all that they take and give lies in slots.
pub(crate) const fn is_direct<A: Params, R: ReturnValue>() -> bool {
    A::IN_SLOTS && R::IN_SLOT
}

/// The result that has these bits. Calls of such functions have their results as bits until here, so that they go in registers,
/// whichever way the call has taken.
#[inline]
pub(crate) fn of_bits<R: ReturnValue>(bits: Result<u64, CallError>) -> Result<R, CallError> {
    R::of_direct_bits(bits?).ok_or_else(in_no_slot)
}

#[cold]
fn in_no_slot() -> CallError {
    CallError::new(FailureKind::OTHER, "the result of a direct call does not lie in a slot")
}

/// Why a call failed; nothing for one that was not done. In a register, so that no result goes through memory.
#[cold]
#[inline(never)]
fn failure(status: DirectStatus) -> Option<CallError> {
    if status == DirectStatus::NOT_DONE {
        return None;
    }
    Some(
        host::direct_failure()
            .unwrap_or_else(|| CallError::new(FailureKind::OTHER, "a direct call failed without a reason")),
    )
}
