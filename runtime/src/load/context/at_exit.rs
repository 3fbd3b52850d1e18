//! Raises events at process exit, for context registries whose host has enabled these events. A C exit handler receives no argument, so the
//! handlers find the registries in the static `HUBS`.
//!
//! Modules are not unloaded at exit, because concurrent threads may run code of the images. The dynamic linker runs the remaining
//! destructors of the images.

use std::mem;
use std::sync::{Arc, Mutex, Weak};

use crate::load::context::registry::ContextRegistry;
use crate::load::error::context::ContextError;
use crate::sync::lock;

/// Registries whose listeners are called at process exit.
static HUBS: Mutex<Vec<Weak<ContextRegistry>>> = Mutex::new(Vec::new());

/// Enables exit events for the contexts of `registry`. A second call for `registry` has no effect. Returns [`ContextError::System`] if the
/// platform has no exit handlers or rejects the handler.
pub(super) fn enable(registry: &Arc<ContextRegistry>) -> Result<(), ContextError> {
    let mut hubs = lock(&HUBS);
    let is_known = |known: &Weak<ContextRegistry>| std::ptr::eq(known.as_ptr(), Arc::as_ptr(registry));
    if hubs.iter().any(is_known) {
        return Ok(());
    }
    // Registers one handler per registry. Exit handlers run in reverse order of registration, so the time of this call determines when the
    // listeners of `registry` run.
    let registered = alcedo_sys::at_exit(notify_next);
    registered
        .map_err(|source| ContextError::System { doing: "registering for the end of the process".into(), source })?;
    hubs.push(Arc::downgrade(registry));
    Ok(())
}

/// Calls the listeners of the most recently enabled registry, and removes this registry from `HUBS`. Each registry has one handler, and
/// exit handlers run in reverse order of registration.
extern "C" fn notify_next() {
    let Some(registry) = lock(&HUBS).pop().and_then(|registry| registry.upgrade()) else { return };
    // Discards a panic outside of listeners.
    let _caught = crate::boundary::catch_panics(|| {
        registry.notify_exit();
        Ok(())
    });
    // Leaks the reference, because dropping the last reference would run further destructors.
    mem::forget(registry);
}
