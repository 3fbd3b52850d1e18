//! The beginning and the end of a module's attachment to its host. After `detach` the module is alone again: calls of the host fail,
//! and logs are dropped.

use std::io::Write as _;

use alcedo_abi::call::{Failure, FailureKind, Status};
use alcedo_abi::host::ModuleContext;

use crate::error::CallError;
use crate::trap::trap;
use crate::{attached, loggers, panic_hook, trap as traps};

/// Connects the module to its host: from now on it can log, and panics are noted for the trap.
/// The host calls it once, before anything else.
/// With `own_logger`, main sets loggers of the module's own.
pub fn attach(context: &ModuleContext, own_logger: bool, failure: &mut Failure) -> Status {
    trap(failure, || {
        if !attached::begin(context) {
            return Err(CallError::new(FailureKind::OTHER, "the module is attached already: load a fresh copy of it"));
        }
        // The buffer of the output is made now, since `detach` flushes it when the thread-locals of an author's own
        // allocator may have ended, and with them its way to allocate: mimalloc crashes then.
        let _made = std::io::stdout();
        traps::install_hook();
        loggers::install(context.level, own_logger);
        Ok(())
    })
}

/// The host is gone for this module: later calls and logs go nowhere. Called last, by the host.
pub fn detach() {
    // A line without its end would go with the image. It fails when the stream has no reader, and then it is not
    // missed.
    let _flushed = std::io::stdout().flush();
    attached::end();
    panic_hook::remove();
}
