//! Events at process exit, for registries whose host has enabled them. A C exit handler has no argument, so this static is the
//! only one that refers to registries; it keeps none alive.
//!
//! No unload happens at exit: other threads may be inside the images, and the loader runs their remaining destructors itself.

use std::mem;
use std::sync::{Arc, Mutex, Weak};

use crate::load::context::registry::ContextRegistry;
use crate::load::error::context::ContextError;
use crate::sync::lock;

/// Registries whose listeners are called at exit.
static HUBS: Mutex<Vec<Weak<ContextRegistry>>> = Mutex::new(Vec::new());

/// Enables exit events for the contexts of `registry`. Idempotent. Returns [`ContextError::System`] if the platform has no exit
/// handlers, or registers no more.
pub(super) fn enable(registry: &Arc<ContextRegistry>) -> Result<(), ContextError> {
    let mut hubs = lock(&HUBS);
    let is_known = |known: &Weak<ContextRegistry>| std::ptr::eq(known.as_ptr(), Arc::as_ptr(registry));
    if hubs.iter().any(is_known) {
        return Ok(());
    }
    // Registers one handler per registry, so that its order among the exit handlers is that of this call.
    let registered = alcedo_sys::at_exit(notify_next);
    registered
        .map_err(|source| ContextError::System { doing: "registering for the end of the process".into(), source })?;
    hubs.push(Arc::downgrade(registry));
    Ok(())
}

/// Exit handlers run in reverse order of registration, and so do these.
extern "C" fn notify_next() {
    let Some(registry) = lock(&HUBS).pop().and_then(|registry| registry.upgrade()) else { return };
    // Drops a panic outside of a listener, such as one of a log subscriber.
    let _caught = crate::boundary::catch_panics(|| {
        registry.notify_exit();
        Ok(())
    });
    // Dropping the last reference would do more than call listeners.
    mem::forget(registry);
}
