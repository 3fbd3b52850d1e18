//! Operations that any thread may request: post, wake, cancel. Each operation sends a message, which the game thread processes later.
//!
//! A post holds the read lock of `Inbox::modules`, and ending a module takes the write lock. Therefore, either the message is processed
//! when the module ends, or the post fails. No job outlives the code of its module.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use alcedo_abi::task::{Job, JobId};
use crossbeam_channel::{Receiver, Sender, unbounded};

use crate::boundary::CallError;
use crate::bridge::tasks::code::Code;
use crate::bridge::tasks::location_text;
use crate::handles::{ModuleId, ObjectHandle};
use crate::lease::{Lease, LeaseKind, Leases};

/// Closure that the host has posted. Its argument is the `Runtime` of the host.
pub(crate) type HostJob = Box<dyn FnOnce(&dyn Any) + Send>;

/// Closure that a module has posted to the game thread.
pub(super) struct Posted {
    pub module: ModuleId,
    /// Object that owns the closure, or `NONE`.
    pub object: ObjectHandle,
    /// Source location of the request.
    pub place: Arc<str>,
    pub code: Code,
    /// Set if the closure was requested on the game thread before the commit of a reload. The closure runs after the commit, and a
    /// rollback ends the closure.
    pub is_staged: bool,
    pub lease: Lease,
}

pub(super) enum Message {
    Wake(JobId),
    Cancel(JobId),
    Post(Posted),
    Host(HostJob),
}

/// Sending side of the message queue, and the modules that may post. Can be used on any thread.
pub(crate) struct Inbox {
    sender: Sender<Message>,
    modules: RwLock<BTreeMap<ModuleId, Arc<Leases>>>,
}

impl Inbox {
    /// Creates an inbox, and the receiver of its messages.
    pub(super) fn new() -> (Arc<Self>, Receiver<Message>) {
        let (sender, receiver) = unbounded();
        (Arc::new(Self { sender, modules: RwLock::default() }), receiver)
    }

    pub(super) fn admit(&self, module: ModuleId, leases: Arc<Leases>) {
        self.modules.write().unwrap_or_else(PoisonError::into_inner).insert(module, leases);
    }

    /// Rejects further posts of a module. Closures that the module has posted earlier stay in the inbox.
    pub(super) fn expel(&self, module: ModuleId) {
        self.modules.write().unwrap_or_else(PoisonError::into_inner).remove(&module);
    }

    /// Takes a lease on a module for a job. Returns an error if the module has ended or is unloading.
    pub(super) fn lease(&self, module: ModuleId, kind: LeaseKind, place: &Arc<str>) -> Result<Lease, CallError> {
        let modules = self.modules.read().unwrap_or_else(PoisonError::into_inner);
        take(modules.get(&module), kind, place)
    }

    /// Posts a module's closure to the game thread. Returns an error if the module has ended or is unloading. After an error, the module
    /// still owns the closure, and the closure is not called.
    pub(crate) fn post(&self, module: ModuleId, job: &Job<'_>, code: Code, is_staged: bool) -> Result<(), CallError> {
        let (object, place) = (job.object, location_text(job));
        let modules = self.modules.read().unwrap_or_else(PoisonError::into_inner);
        let lease = take(modules.get(&module), LeaseKind::Posted, &place)?;
        // The send succeeds, because the receiver exists while the module can call this function through the host API.
        let _read = self.sender.send(Message::Post(Posted { module, object, place, code, is_staged, lease }));
        drop(modules);
        Ok(())
    }

    /// Posts a closure of the host to the game thread. Returns `false` if the runtime was dropped.
    pub(crate) fn post_host(&self, job: HostJob) -> bool {
        self.sender.send(Message::Host(job)).is_ok()
    }

    pub(crate) fn cancel(&self, job: JobId) {
        // The send fails only if the runtime was dropped. Dropping the runtime has already ended the job.
        let _gone = self.sender.send(Message::Cancel(job));
    }

    pub(super) fn sender(&self) -> Sender<Message> {
        self.sender.clone()
    }
}

/// Takes a lease with the source location of the request in the module.
fn take(leases: Option<&Arc<Leases>>, kind: LeaseKind, place: &Arc<str>) -> Result<Lease, CallError> {
    let leases = leases.ok_or_else(|| CallError::Unavailable { what: format!("the module of a {kind}") })?;
    leases
        .take_at(kind, leases.owner(), Some(Arc::clone(place)))
        .map_err(|sealed| CallError::Unavailable { what: format!("a new {kind} of {}", sealed.owner) })
}
