//! Attaches a module to its host, and detaches it. After `detach`, calls of host functions fail, and log records are dropped.

use std::io::Write as _;

use alcedo_abi::call::{Failure, Status};
use alcedo_abi::host::ModuleContext;

use crate::error::CallError;
use crate::panic_guard::{self, catch_panics};
use crate::{attached, loggers, panic_hook};

/// Attaches the module to its host: enables logging and the recording of panics. The host calls this function once, before all other
/// functions of the module. If `own_logger` is true, the module's main function sets the loggers.
pub fn attach(context: &ModuleContext, own_logger: bool, failure: &mut Failure) -> Status {
    catch_panics(failure, || {
        if !attached::begin(context) {
            return Err(CallError::other("the module is already attached: load a new copy"));
        }
        // Allocates the output buffer now, because `detach` flushes it and must not allocate. The allocator of a plugin author, such as
        // mimalloc, may have thread-locals that are already destroyed when `detach` runs.
        let _made = std::io::stdout();
        panic_guard::install_hook();
        loggers::install(context.level, own_logger);
        Ok(())
    })
}

/// Detaches the module. Later calls to the host fail, and log records are dropped. The host calls this function last.
pub fn detach() {
    // Flushes an unfinished line, which would otherwise be lost with the image. The flush fails if the stream has no reader. The error is
    // ignored, because in this case the line is not needed.
    let _flushed = std::io::stdout().flush();
    attached::end();
    panic_hook::remove();
}
