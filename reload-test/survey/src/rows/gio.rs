//! Connects a closure to a signal of a process-wide object, and never disconnects it. Each generation emits the signal. The signal also
//! calls the closures of previous generations.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::local::report;

use gio::prelude::*;
use gio::{Application, ApplicationFlags, SimpleAction};

static CALLS: AtomicU64 = AtomicU64::new(0);

pub(crate) fn begin() {
    if let Ok(action) = action() {
        let name = String::from("a value that the closure has captured");
        action.connect_activate(move |_action, _parameter| {
            CALLS.fetch_add(u64::from(!name.is_empty()), Ordering::SeqCst);
        });
    }
}

pub(crate) fn work() -> String {
    let before = CALLS.load(Ordering::SeqCst);
    report(action().map(|action| {
        action.activate(None);
        CALLS.load(Ordering::SeqCst) == before + 1
    }))
}

/// Returns an action of the process's default application. Creates this application if needed.
fn action() -> Result<SimpleAction, String> {
    let application = Application::default().unwrap_or_else(|| {
        let application = Application::new(None, ApplicationFlags::NON_UNIQUE);
        application.set_default();
        std::mem::forget(application.clone());
        application
    });
    if application.lookup_action("survey").is_none() {
        application.add_action(&SimpleAction::new("survey", None));
    }
    let action = application.lookup_action("survey").ok_or("the action is missing")?;
    action.downcast().map_err(|other| format!("another action: {other:?}"))
}

pub(crate) fn end() {}
