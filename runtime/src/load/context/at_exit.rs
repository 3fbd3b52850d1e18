//! The end of the process, for registries whose host has requested that their listeners are called then. The handler
//! that C calls gets no argument, so this is the one place where a static leads to registries; it keeps none of them
//! alive.
//!
//! Nothing is unloaded then: other threads may be inside the images, and the loader runs what is left of them itself.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::load::context::registry::ContextRegistry;
use crate::load::error::context::ContextError;

/// The registries whose listeners are to be called.
static HUBS: Mutex<Vec<Weak<ContextRegistry>>> = Mutex::new(Vec::new());

/// From now on the end of the process is an event for the listeners to contexts of `registry`. A second call changes
/// nothing.
///
/// # Errors
/// [`ContextError::System`] where the platform has no such handlers, or takes no more.
pub(super) fn tell(registry: &Arc<ContextRegistry>) -> Result<(), ContextError> {
    let mut hubs = hubs();
    let is_known = |known: &Weak<ContextRegistry>| std::ptr::eq(known.as_ptr(), Arc::as_ptr(registry));
    if hubs.iter().any(is_known) {
        return Ok(());
    }
    // One handler for each, so that its place among the other handlers of the process is that of this call.
    let registered = alcedo_sys::at_exit(tell_next);
    registered
        .map_err(|source| ContextError::System { doing: "registering for the end of the process".into(), source })?;
    hubs.push(Arc::downgrade(registry));
    Ok(())
}

/// Handlers run in the opposite order of their registration, and so do these.
extern "C" fn tell_next() {
    let Some(registry) = hubs().pop().and_then(|registry| registry.upgrade()) else { return };
    // A panic outside of a listener, as one of the log's may be, is dropped here.
    let _told = crate::border::trap(|| {
        registry.tell_end();
        Ok(())
    });
    // Were this the last share, its drop would do more than call listeners.
    mem::forget(registry);
}

fn hubs() -> MutexGuard<'static, Vec<Weak<ContextRegistry>>> {
    HUBS.lock().unwrap_or_else(PoisonError::into_inner)
}
