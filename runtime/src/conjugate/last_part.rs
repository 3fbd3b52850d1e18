//! Plugin part on its way to the finalizer thread, with the function that finalizes the part.
#![expect(unsafe_code, reason = "enters the finalizers of modules")]

use alcedo_abi::call::{Failure, Status};

use crate::boundary::{CallError, from_module};
use crate::conjugate::pairs::Part;
use crate::handles::PartPtr;

/// Plugin part of an ended conjugate. Only the finalizer thread uses this part.
pub(crate) struct LastPart {
    ptr: PartPtr,
    /// Finalizer of the part's class.
    finalize: unsafe extern "C" fn(part: PartPtr, failure: &mut Failure) -> Status,
}

// SAFETY: the plugin's macro proves that the state at `ptr` is `Send`. The host passes the part to the finalizer thread, and never uses it
// again.
unsafe impl Send for LastPart {}

impl From<Part> for LastPart {
    fn from(part: Part) -> Self {
        Self { ptr: part.ptr, finalize: part.hooks.finalize }
    }
}

impl LastPart {
    pub(crate) fn finalize(self) -> Result<(), CallError> {
        // SAFETY: the module is mapped permanently, or until its last barrier was passed. The trampoline of the module catches its own
        // panics. The module created this part, and receives it back only once.
        from_module(|failure| unsafe { (self.finalize)(self.ptr, failure) })
    }
}
