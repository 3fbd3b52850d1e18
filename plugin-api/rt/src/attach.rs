//! Attaches a module to its host and detaches it. After `detach`, calls of the host fail and logs are dropped.

use std::io::Write as _;

use alcedo_abi::call::{Failure, FailureKind, Status};
use alcedo_abi::host::ModuleContext;

use crate::error::CallError;
use crate::panic_guard::{self, catch_panics};
use crate::{attached, loggers, panic_hook};

/// Attaches the module to its host: enables logging and the recording of panics. The host calls this function once, before all
/// others. With `own_logger`, main sets the loggers of the module.
pub fn attach(context: &ModuleContext, own_logger: bool, failure: &mut Failure) -> Status {
    catch_panics(failure, || {
        if !attached::begin(context) {
            return Err(CallError::new(FailureKind::OTHER, "the module is already attached: load a new copy"));
        }
        // Creates the output buffer now, because `detach` flushes it when the thread-locals of an author's allocator may have
        // been destroyed; mimalloc then crashes in an allocation.
        let _made = std::io::stdout();
        panic_guard::install_hook();
        loggers::install(context.level, own_logger);
        Ok(())
    })
}

/// Detaches the module: later calls fail and logs are dropped. Called last, by the host.
pub fn detach() {
    // An unfinished line would be lost with the image. Flushing fails if the stream has no reader, and the line is then not needed.
    let _flushed = std::io::stdout().flush();
    attached::end();
    panic_hook::remove();
}
