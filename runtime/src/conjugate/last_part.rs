//! The end of a plugin part: on the finalizer thread, in the module's own finalizer.
#![expect(unsafe_code, reason = "enters the finalizers of modules")]

use alcedo_abi::describe::PartHooks;

use crate::border::{CallError, from_module};
use crate::conjugate::pairs::Part;
use crate::handles::PartPtr;

/// A part whose conjugate has ended, on its way to the finalizer thread, which alone still uses it.
pub(crate) struct LastPart {
    ptr: PartPtr,
    hooks: PartHooks,
}

// SAFETY: the plugin's macro proves that the state behind `ptr` is `Send`; the host hands the part over and never uses it again.
unsafe impl Send for LastPart {}

impl From<Part> for LastPart {
    fn from(part: Part) -> Self {
        Self { ptr: part.ptr, hooks: part.hooks }
    }
}

impl LastPart {
    /// Runs its finalizer.
    ///
    /// # Errors
    /// Its panic.
    pub(crate) fn finalize(self) -> Result<(), CallError> {
        // SAFETY: the module is mapped until a barrier behind its last job was passed, or for good; its shell traps its
        // own panics, and this part was made by it and is handed back once.
        from_module(|failure| unsafe { (self.hooks.finalize)(self.ptr, failure) })
    }
}
