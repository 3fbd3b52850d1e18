//! Interface to the code of a module. Library images and script packages implement this interface.

use std::path::Path;

use alcedo_sys::Use;

use crate::boundary::CallError;
use crate::emit::described::Described;
use crate::unload::image::Unused;
use crate::unload::job::CodeUnload;
use crate::unload::policy::UnloadPolicy;

/// Code of a module, such as the image of a library or a script package. Most methods have an empty default implementation, because a
/// script package has no main and no hooks. Callers must be inside a gate or hold a lease, so that the code is not removed.
pub(crate) trait ModuleCode: Send + Sync {
    /// Returns the declared types of the module, its exported functions, and its imports.
    fn described(&self) -> Described;

    /// Returns the source of the types. Only script packages have a source.
    #[cfg(feature = "script")]
    fn scripts(&self) -> Option<&std::sync::Arc<crate::script::package::Package>> {
        None
    }

    /// Returns the path of the private copy, as seen by debuggers. The path is empty for code without a copy.
    fn path(&self) -> &Path {
        Path::new("")
    }

    fn main(&self, _args: &[String]) -> Result<(), CallError> {
        Ok(())
    }

    /// Returns the build id that the running code reports. Returns `None` if the code does not export its build id.
    fn build_id(&self) -> Option<u128> {
        None
    }

    /// Checks if the module declares a `suspend` function. In `suspend`, a module releases resources for the next generation.
    fn suspends(&self) -> bool {
        false
    }

    /// Releases resources for the next generation of the module. Returns the module's error or panic.
    fn suspend(&self) -> Result<(), CallError> {
        Ok(())
    }

    /// Acquires the released resources again. Returns the module's error or panic.
    fn resume(&self) -> Result<(), CallError> {
        Ok(())
    }

    /// Makes the last call into the code. Runs the exit hook if the main has returned. Then drops the values that the module has registered
    /// for a drop at its exit. Returns a panic as an error.
    fn last(&self, _has_started: bool) -> Result<(), CallError> {
        Ok(())
    }

    /// Returns the resource uses that the hooks of the code have noted. Empty for code without hooks.
    fn uses(&self) -> Vec<Use> {
        Vec::new()
    }

    /// Requests the module's threads to stop.
    fn request_stop(&self) {}

    /// Runs the destructors of the module's thread-locals on this thread. Has no effect after `hand_over`.
    fn end_thread_locals_here(&self) {}

    /// Returns a function that runs the destructors of the module's thread-locals on the calling thread. The function works while the image
    /// is mapped, even after `hand_over`. Returns `None` for code without thread-locals.
    fn thread_locals(&self) -> Option<Box<dyn Fn() + Send>> {
        None
    }

    /// Returns the unload of the code. The module must accept no calls. Returns `None` if the unload was already taken. `unused` must be
    /// the promise for this code.
    fn hand_over(&self, policy: &UnloadPolicy, unused: Unused<'_>) -> Option<Box<dyn CodeUnload>>;

    /// Leaks the code of a module that was dropped without an unload. Returns false if `hand_over` has already returned the unload.
    fn abandon(&self) -> bool;
}
