//! Installs the bridges to the host as loggers of the module. The bridges are installed when the module is attached, so that no record is
//! lost. If the module's main function may set a logger, the bridges are installed after it returns, because a logger can be set only once.

use std::sync::atomic::{AtomicU32, Ordering};

use alcedo_abi::hooks::{SETS_LOG, SETS_TRACING};
use alcedo_abi::log::LogLevel;

use crate::outside::context;
use crate::{log_bridge, records, trace_bridge};

/// Loggers to install after the main function of the module, as bits [`SETS_LOG`] and [`SETS_TRACING`].
static BEHIND_MAIN: AtomicU32 = AtomicU32::new(0);

/// Installs the loggers of an attached module. `own_logger` is true if the author has declared that the main function sets loggers.
/// Otherwise, the host has determined from the file of the module whether the main function may set loggers.
pub(crate) fn install(level: LogLevel, own_logger: bool) {
    let behind_main = if own_logger { SETS_LOG | SETS_TRACING } else { may_set() };
    BEHIND_MAIN.store(behind_main, Ordering::Relaxed);
    if behind_main & SETS_TRACING == 0 {
        report("tracing", trace_bridge::install(level));
    }
    if behind_main & SETS_LOG == 0 {
        report("log", log_bridge::install(level));
    }
}

/// Runs the main function of the module, which may set loggers. Until the main function returns, the host receives the `tracing` records
/// of this thread. Records of `log` are dropped until the main function sets a logger.
pub fn with_loggers(main: impl FnOnce()) {
    let behind_main = BEHIND_MAIN.swap(0, Ordering::Relaxed);
    let level = context().map_or(LogLevel::OFF, |context| context.level);
    if behind_main & SETS_TRACING == 0 {
        main();
    } else {
        report("tracing", trace_bridge::install_behind(level, main));
    }
    if behind_main & SETS_LOG != 0 {
        report("log", log_bridge::install(level));
    }
}

/// Logs a message if the module has set its own logger for the crate `of`.
fn report(of: &str, is_of_host: bool) {
    if !is_of_host {
        let message = format!("the module has set its own logger: its records of `{of}` do not reach the host");
        records::event(LogLevel::INFO, "alcedo", &message, "", 0);
    }
}

#[cfg(hooked)]
fn may_set() -> u32 {
    crate::outside::hook_context().map_or(0, |context| context.sets_loggers)
}

#[cfg(not(hooked))]
fn may_set() -> u32 {
    0
}
