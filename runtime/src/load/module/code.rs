//! Interface of a module's code. A library is one implementation.
#![expect(unsafe_code, reason = "code may only be unmapped when unused, which its type cannot express")]

use std::path::Path;

use crate::boundary::CallError;
use crate::emit::described::Described;
use crate::unload::job::CodeUnload;
use crate::unload::policy::UnloadPolicy;

/// Code of a module. Most functions have an empty default, since not every kind of code has the corresponding function. Callers
/// ensure that the code is present and ready, by a gate or a lease.
pub(crate) trait ModuleCode: Send + Sync {
    /// Returns the declared types, and the used and offered functions.
    fn described(&self) -> Described;

    /// Returns the source of the types, for a script package.
    #[cfg(feature = "script")]
    fn scripts(&self) -> Option<&std::sync::Arc<crate::script::package::Package>> {
        None
    }

    /// Returns the path of the private copy, as seen by debuggers; empty if there is none.
    fn path(&self) -> &Path {
        Path::new("")
    }

    fn main(&self, _args: &[String]) -> Result<(), CallError> {
        Ok(())
    }

    /// Checks if the module releases resources for the next generation.
    fn suspends(&self) -> bool {
        false
    }

    /// Releases resources for the next generation. Returns the module's error or panic.
    fn suspend(&self) -> Result<(), CallError> {
        Ok(())
    }

    /// Acquires the released resources again. Returns the module's error or panic.
    fn resume(&self) -> Result<(), CallError> {
        Ok(())
    }

    /// Makes the last call: runs the exit hook if the main has returned, and drops deferred values. Returns a panic as an
    /// error.
    fn last(&self, _has_started: bool) -> Result<(), CallError> {
        Ok(())
    }

    /// Requests the module's threads to stop.
    fn request_stop(&self) {}

    /// Runs the destructors of its thread-locals on this thread.
    fn end_thread_locals_here(&self) {}

    /// Returns a function that does the same while the code is present, also after it was handed over. `None` for code without
    /// thread-locals.
    fn thread_locals(&self) -> Option<Box<dyn Fn() + Send>> {
        None
    }

    /// Returns the remaining unload work once the module accepts no calls. `None` if it was already taken.
    ///
    /// # Safety
    /// No code called by the host may use this code once `CodeUnload::begin` is called.
    unsafe fn hand_over(&self, policy: &UnloadPolicy) -> Option<Box<dyn CodeUnload>>;

    /// Removes the code immediately; its module never ran.
    ///
    /// # Safety
    /// No part of the code may be used afterwards: it declared nothing.
    unsafe fn discard(&self);

    /// Leaves the code permanently, because it was dropped without an unload. Returns false if there was no code left.
    fn abandon(&self) -> bool;
}
