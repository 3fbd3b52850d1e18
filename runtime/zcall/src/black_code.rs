//! Native code of host functions that plugins call directly, without slots.
#![expect(unsafe_code, reason = "declares the function by which the creator of the code vouches for it")]

use std::any::Any;
use std::rc::Rc;

use alcedo_abi::host_direct::{DirectCallee, EachCode};

/// Code of a leaf function: a host function that needs neither a context nor a runtime, and is callable on any thread.
#[derive(Clone, Copy, Debug)]
pub struct LeafCode(fn() -> *const ());

impl LeafCode {
    /// Wraps a function that returns the address of the leaf function's code.
    ///
    /// # Safety
    /// The code has the form that [`BlackCode::new`] requires. The code needs neither context nor runtime, and may be called at any time on
    /// any thread.
    #[must_use]
    pub unsafe fn new(address: fn() -> *const ()) -> Self {
        Self(address)
    }

    /// Returns the address of the code.
    #[must_use]
    pub fn address(self) -> *const () {
        (self.0)()
    }
}

/// Host function that plugins call directly. Clones share the context.
#[derive(Clone)]
pub struct BlackCode {
    code: *const (),
    each: Option<EachCode>,
    context: Option<Rc<dyn Any>>,
    is_leaf: bool,
}

impl BlackCode {
    /// Wraps `code`. Each call passes the address of the value in `context` as the first argument, or null if `context` is `None`.
    ///
    /// # Safety
    /// `code` has the form that [`DirectBits::Code`](alcedo_abi::host_direct::DirectBits::Code) defines for the number of arguments of its
    /// signature. `code` must be registered with this signature, and all values of the signature fit in slots. `code` may be called with
    /// any values of the signature and with any object, on the game thread and outside the pre-commit phase, while the runtime whose table
    /// contains `code` exists.
    #[must_use]
    pub unsafe fn new(code: *const (), context: Option<Rc<dyn Any>>) -> Self {
        Self { code, each: None, context, is_leaf: false }
    }

    /// Wraps the code of a leaf function.
    #[must_use]
    pub fn of_leaf(code: LeafCode) -> Self {
        Self { code: code.address(), each: None, context: None, is_leaf: true }
    }

    /// Adds code that runs the function on several objects in one call.
    ///
    /// # Safety
    /// On every object, `each` has the same effect as the code that was passed to [`Self::new`].
    #[must_use]
    pub unsafe fn with_each(self, each: EachCode) -> Self {
        Self { each: Some(each), ..self }
    }

    /// Returns the code for several objects, and the context that this code receives. The context exists as long as this value. Returns
    /// `None` if [`Self::with_each`] has not added code for several objects.
    #[must_use]
    pub fn each(&self) -> Option<(EachCode, *const ())> {
        self.each.map(|each| (each, self.callee(0).context))
    }

    /// Returns the code in the ABI form that plugins receive. `version` is the current version of direct calls: except for leaf functions,
    /// plugins call the address only while this version is current. The context is valid as long as the call handle is valid.
    #[must_use]
    pub fn callee(&self, version: u64) -> DirectCallee {
        let without = if self.is_leaf { DirectCallee::LEAF } else { std::ptr::null() };
        let context = self.context.as_ref().map_or(without, |context| Rc::as_ptr(context).cast());
        DirectCallee { code: self.code, context, version }
    }
}
