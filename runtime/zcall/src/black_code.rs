//! The code of a function of the host, for calls without slots.
#![expect(unsafe_code, reason = "declares the function by which whoever made the code vouches for it")]

use std::any::Any;
use std::rc::Rc;

use alcedo_abi::black_direct::DirectCallee;

/// A function as plugins call it directly. A clone is the same.
#[derive(Clone)]
pub struct BlackCode {
    code: *const (),
    context: Option<Rc<dyn Any>>,
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
        Self { code, context }
    }

    /// As it is given to a plugin, under a version of what is called directly. The context lives as long as the handle.
    #[must_use]
    pub fn callee(&self, version: u64) -> DirectCallee {
        let context = self.context.as_ref().map_or(std::ptr::null(), |context| Rc::as_ptr(context).cast());
        DirectCallee { code: self.code, context, version }
    }
}
