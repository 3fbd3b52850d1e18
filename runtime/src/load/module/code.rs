//! What a module's code is to its host. A library is one sort; whatever has types and entry points can be another.
#![expect(unsafe_code, reason = "code may only be taken away when nobody uses it, which its type cannot tell")]

use std::path::Path;

use crate::border::CallError;
use crate::emit::described::Described;
use crate::unload::job::CodeUnload;
use crate::unload::policy::UnloadPolicy;

/// The code of a module. Most functions do nothing by themselves: not every sort of code has the function that they call. Callers make
/// sure that it is there and ready: a gate is passed, or a lease is held.
pub(crate) trait ModuleCode: Send + Sync {
    /// The types it declares, and what it uses and offers.
    fn described(&self) -> Described;

    /// The text that its types are made of, where it is a package of scripts.
    #[cfg(feature = "script")]
    fn scripts(&self) -> Option<&std::sync::Arc<crate::script::package::Package>> {
        None
    }

    /// The private copy that it runs from, or ran, as debuggers know it; empty where there is none.
    fn path(&self) -> &Path {
        Path::new("")
    }

    /// Runs the main.
    ///
    /// # Errors
    /// Its panic.
    fn main(&self, _args: &[String]) -> Result<(), CallError> {
        Ok(())
    }

    /// Whether it gives something up for the next generation.
    fn suspends(&self) -> bool {
        false
    }

    /// Gives up what the next generation needs.
    ///
    /// # Errors
    /// Its own, or its panic.
    fn suspend(&self) -> Result<(), CallError> {
        Ok(())
    }

    /// Takes it again.
    ///
    /// # Errors
    /// Its own, or its panic.
    fn resume(&self) -> Result<(), CallError> {
        Ok(())
    }

    /// The last call that it gets: its exit hook, if its main has returned, and what drops what was left to it to drop.
    ///
    /// # Errors
    /// Its panic.
    fn last(&self, _has_started: bool) -> Result<(), CallError> {
        Ok(())
    }

    /// Asks the threads it has started to stop.
    fn ask_to_stop(&self) {}

    /// Runs the destructors of its thread-locals on this thread.
    fn end_thread_locals_here(&self) {}

    /// What does that also after the code was handed over, as long as it is there; none where it has none.
    fn thread_locals(&self) -> Option<Box<dyn Fn() + Send>> {
        None
    }

    /// What is left to do of it when it takes no calls any more; none if that was taken before.
    ///
    /// # Safety
    /// Once `CodeUnload::begin` is called, nothing of the code is used by anybody whom the host has let in.
    unsafe fn hand_over(&self, policy: &UnloadPolicy) -> Option<Box<dyn CodeUnload>>;

    /// Takes it away at once: its module never ran.
    ///
    /// # Safety
    /// Nothing of the code is used afterwards: it declared nothing.
    unsafe fn discard(&self);

    /// Nobody ended it: it stays for good. Whether there was anything of it.
    fn abandon(&self) -> bool;
}
