//! The code of a function of the host, for calls without slots.
#![expect(unsafe_code, reason = "declares the function by which whoever made the code vouches for it")]

use std::any::Any;
use std::mem::MaybeUninit;
use std::rc::Rc;

use alcedo_abi::black_direct::{DirectCallee, EachCode};
use alcedo_abi::direct::{DirectAnswer, DirectStatus};
use alcedo_abi::handles::ObjectHandle;

/// The code of a leaf: a function that follows no context. Any thread.
#[derive(Clone, Copy, Debug)]
pub struct LeafCode(fn() -> *const ());

impl LeafCode {
    /// Makes one of the function that returns its address.
    ///
    /// # Safety
    /// The code has the form that [`BlackCode::new`] demands. It needs no context and no runtime, and may be called at all times on any
    /// thread.
    #[must_use]
    pub unsafe fn new(address: fn() -> *const ()) -> Self {
        Self(address)
    }

    /// Returns its address.
    #[must_use]
    pub fn address(self) -> *const () {
        (self.0)()
    }
}

/// A function as plugins call it directly. A clone is the same.
#[derive(Clone)]
pub struct BlackCode {
    code: *const (),
    each: Option<EachCode>,
    context: Option<Rc<dyn Any>>,
    is_leaf: bool,
}

impl BlackCode {
    /// The code, and what it is given first: the address of what `context` has, or null.
    ///
    /// # Safety
    /// The code is one of the form that [`DirectBits::Code`](alcedo_abi::black_direct::DirectBits::Code) has for the number of arguments of
    /// the signature it stands beside, whose values all lie in slots. It may be called with such values and with any object, on the
    /// game thread, outside of what is before a commit, while the runtime of the table that it stands in is there.
    #[must_use]
    pub unsafe fn new(code: *const (), context: Option<Rc<dyn Any>>) -> Self {
        Self { code, each: None, context, is_leaf: false }
    }

    /// The code of a leaf.
    #[must_use]
    pub fn of_leaf(code: LeafCode) -> Self {
        Self { code: code.address(), each: None, context: None, is_leaf: true }
    }

    /// The same with code for several objects.
    ///
    /// # Safety
    /// It does on each object what the other code does.
    #[must_use]
    pub unsafe fn with_each(self, each: EachCode) -> Self {
        Self { each: Some(each), ..self }
    }

    /// Calls it on objects one after the other until one is not done: how that ended, and how many were done before. Their results
    /// are written in order.
    ///
    /// # Safety
    /// This is the game thread, outside of what is before a commit; the words are those of values of the signature.
    pub unsafe fn call_each(
        &self,
        objects: &[ObjectHandle],
        bits: &[u64],
        results: &mut [MaybeUninit<u64>],
    ) -> DirectAnswer {
        let Some(each) = self.each else { return DirectAnswer::without(DirectStatus::NOT_DONE) };
        let count = objects.len().min(results.len());
        let context = self.callee(0).context;
        // SAFETY: both rows have so many; the rest our caller promises, and whoever made the code.
        unsafe { each(context, objects.as_ptr(), count, bits.as_ptr(), results.as_mut_ptr().cast()) }
    }

    /// As it is given to a plugin, under a version of what is called directly. The context lives as long as the handle.
    #[must_use]
    pub fn callee(&self, version: u64) -> DirectCallee {
        let without = if self.is_leaf { DirectCallee::LEAF } else { std::ptr::null() };
        let context = self.context.as_ref().map_or(without, |context| Rc::as_ptr(context).cast());
        DirectCallee { code: self.code, context, version }
    }
}
