//! Unloads of the Master's generations. Contains the unloads in progress and the unloading callbacks.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use crate::bridge::core::Core;
use crate::callback::Callbacks;
use crate::cells::RefCell;
use crate::handles::{Generation, ModuleId};
use crate::load::context::masters::Masters;
use crate::unload::steps::UnloadStep;
use crate::unload::ticket::UnloadTicket;

/// Host callback for the start of an unload. The argument is the number of the unloading generation.
pub(crate) type UnloadingCallback = Rc<dyn Fn(u64)>;

/// Closure that runs the delayed exit hooks of a generation. Then runs the destructors of the generation's thread-locals on the game
/// thread.
pub(crate) type DelayedExits = Box<dyn FnOnce(&Core, &Masters)>;

pub(crate) struct OneUnload {
    pub(crate) generation: Generation,
    /// Modules that are unloading. Omits modules that a reload has kept.
    pub(crate) modules: Vec<ModuleId>,
    pub(crate) ticket: UnloadTicket,
    /// Delayed exit hooks. `None` once the exit hooks have run.
    pub(crate) exits: RefCell<Option<DelayedExits>>,
    /// Time at which the delayed exit hooks ran. The time until parking is measured from this time, because exit hooks may stop threads of
    /// the module.
    pub(crate) exited: Cell<Option<Instant>>,
    pub(crate) left: Cell<&'static [UnloadStep]>,
    /// Set if an event was raised for the generation. A generation that never started raises no events.
    pub(crate) is_known: bool,
    pub(crate) raised_unloaded: Cell<bool>,
    pub(crate) raised_blocked: Cell<bool>,
    pub(crate) logged_blocked: Cell<bool>,
    /// Set once the completion of the unload was reported. A listener that polls the unload must not cause a second report.
    pub(crate) raised_end: Cell<bool>,
    /// Set if a finalizer hung at the last safe point.
    pub(crate) hangs: Cell<bool>,
}

/// Unloads of the generations of the Master. Game thread only.
#[derive(Default)]
pub(crate) struct Unloads {
    pub in_progress: RefCell<Vec<Rc<OneUnload>>>,
    pub callbacks: Callbacks<UnloadingCallback>,
}

impl Unloads {
    /// Calls every callback. Records a panic of a callback as a problem of the generation, and continues with the next callback. Returns
    /// the priorities of the callbacks in call order.
    pub(crate) fn call_back(&self, masters: &Masters, generation: Generation) -> Vec<i32> {
        let mut called = Vec::new();
        self.callbacks.each(|priority, callback| {
            called.push(priority);
            let call = || {
                (callback.code)(generation.0);
                Ok(())
            };
            if let Err(error) = crate::boundary::catch_panics(call) {
                log!(ERROR, %generation, priority, callback = %callback.site, %error, "an unloading callback failed");
                masters.note(generation, format!("the unloading callback of priority {priority} {error}"));
            }
        });
        called
    }

    pub(crate) fn is_busy(&self) -> bool {
        !self.in_progress.borrow().is_empty()
    }
}
