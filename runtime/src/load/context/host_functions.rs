//! Functions of the host that modules of Slims, pinned contexts and the Default call by `ex:/` name, on any thread.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::border::CallError;
use crate::callback::{HostId, Registered, Site, let_go};
use crate::dynamic_call::PlainBody;
use crate::signature::Signature;
use crate::zcall::buffer::BufferMut;

/// A function of the host. Any thread.
pub(crate) struct HostFunction {
    /// `ex:/name`, for errors.
    pub full: Arc<str>,
    /// Fingerprint of its signature.
    pub fingerprint: u64,
    /// The signature in words.
    pub signature: Arc<str>,
    /// Removed when the host ends.
    body: RwLock<Option<Registered<Arc<PlainBody>>>>,
}

impl HostFunction {
    /// Calls it on this thread.
    ///
    /// # Errors
    /// [`CallError::Unavailable`] once the host has ended; those of the body.
    pub(crate) fn call(&self, buffer: &mut BufferMut<'_>) -> Result<(), CallError> {
        let body = self.body.read().unwrap_or_else(PoisonError::into_inner).as_ref().map(|body| Arc::clone(&body.code));
        let body = body.ok_or_else(|| CallError::Unavailable { what: format!("`{}`", self.full) })?;
        body(buffer)
    }
}

/// All of a host. Any thread.
#[derive(Default)]
pub(crate) struct HostFunctions(RwLock<HashMap<Box<str>, Arc<HostFunction>>>);

impl HostFunctions {
    /// Adds a function under `ex:/name`, which no other one of the host has.
    pub(crate) fn add(&self, name: &str, signature: &Signature, body: Arc<PlainBody>, site: Site) {
        let function = HostFunction {
            full: format!("ex:/{name}").into(),
            fingerprint: signature.fingerprint(),
            signature: signature.to_string().into(),
            body: RwLock::new(Some(Registered { code: body, site })),
        };
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(name.into(), Arc::new(function));
    }

    /// The function of that name, without `ex:/`.
    pub(crate) fn find(&self, name: &str) -> Option<Arc<HostFunction>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// The names of all, for errors.
    pub(crate) fn names(&self) -> Vec<Arc<str>> {
        let functions = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut names: Vec<_> = functions.values().map(|function| Arc::clone(&function.full)).collect();
        names.sort();
        names
    }

    /// Drops the bodies, because the host has ended.
    pub(crate) fn let_go(&self, host: HostId) {
        let functions: Vec<_> = {
            let mut functions = self.0.write().unwrap_or_else(PoisonError::into_inner);
            functions.drain().map(|(_name, function)| function).collect()
        };
        let take = |function: &Arc<HostFunction>| function.body.write().unwrap_or_else(PoisonError::into_inner).take();
        let_go(host, functions.iter().filter_map(take));
    }
}
