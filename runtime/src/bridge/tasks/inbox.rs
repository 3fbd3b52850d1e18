//! What other threads may do: post, wake, cancel. They leave a message; the game thread reads it when it is at that.
//!
//! A post is sent under the lock that the end of its module takes to write: either the end finds the message, or the
//! post finds the module gone. So no job is left behind whose code is not there any more.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use alcedo_abi::task::{Job, JobId};
use crossbeam_channel::{Receiver, Sender, unbounded};

use crate::border::CallError;
use crate::bridge::tasks::code::Code;
use crate::bridge::tasks::place_of;
use crate::handles::{ModuleId, ObjectHandle};
use crate::lease::{Lease, LeaseKind, Leases};

/// A closure of the host's own; it is given the host as the root made it known.
pub(crate) type HostJob = Box<dyn FnOnce(&dyn Any) + Send>;

/// A closure of a module on its way to the game thread.
pub(super) struct Posted {
    /// Whose it is.
    pub module: ModuleId,
    /// The object it lives with, or none.
    pub object: ObjectHandle,
    /// Where it was asked for.
    pub place: Arc<str>,
    /// What runs.
    pub code: Code,
    /// Whether it runs after a commit, or never.
    pub timing: Timing,
    /// Why its module stays.
    pub lease: Lease,
}

/// Whether what was asked for depends on a commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Timing {
    /// It was asked for on the game thread before a commit: it waits for that, and ends in a rollback.
    Staged,
    /// It runs when its turn comes.
    Certain,
}

/// A message to the game thread.
pub(super) enum Message {
    /// Run this task again.
    Wake(JobId),
    /// End this job.
    Cancel(JobId),
    /// Run this closure of a module.
    Post(Posted),
    /// Run this closure of the host.
    Host(HostJob),
}

/// Where messages come in. Any thread.
pub(crate) struct Inbox {
    sender: Sender<Message>,
    modules: RwLock<BTreeMap<ModuleId, Arc<Leases>>>,
}

impl Inbox {
    /// An empty one, and its reader's end.
    pub(super) fn new() -> (Arc<Self>, Receiver<Message>) {
        let (sender, receiver) = unbounded();
        (Arc::new(Self { sender, modules: RwLock::default() }), receiver)
    }

    /// From now on this module may post.
    pub(super) fn admit(&self, module: ModuleId, leases: Arc<Leases>) {
        self.modules.write().unwrap_or_else(PoisonError::into_inner).insert(module, leases);
    }

    /// From now on it may not; what it has posted is in the inbox.
    pub(super) fn expel(&self, module: ModuleId) {
        self.modules.write().unwrap_or_else(PoisonError::into_inner).remove(&module);
    }

    /// Takes a lease on a module for a job.
    ///
    /// # Errors
    /// When the module is over, or unloading.
    pub(super) fn lease(&self, module: ModuleId, kind: LeaseKind, place: &Arc<str>) -> Result<Lease, CallError> {
        let modules = self.modules.read().unwrap_or_else(PoisonError::into_inner);
        take(modules.get(&module), kind, place)
    }

    /// Leaves a module's closure for the game thread.
    ///
    /// # Errors
    /// When the module is over, or unloading; the closure is still the module's then, and its code is not called.
    pub(crate) fn post(&self, module: ModuleId, job: &Job<'_>, code: Code, timing: Timing) -> Result<(), CallError> {
        let (object, place) = (job.object, place_of(job));
        let modules = self.modules.read().unwrap_or_else(PoisonError::into_inner);
        let lease = take(modules.get(&module), LeaseKind::Posted, &place)?;
        // The reader lives as long as the word through which the module reached this inbox.
        let _read = self.sender.send(Message::Post(Posted { module, object, place, code, timing, lease }));
        drop(modules);
        Ok(())
    }

    /// Leaves a closure of the host for the game thread. Whether there is one any more.
    pub(crate) fn post_host(&self, job: HostJob) -> bool {
        self.sender.send(Message::Host(job)).is_ok()
    }

    /// Asks for the end of a job.
    pub(crate) fn cancel(&self, job: JobId) {
        // A runtime that is gone has ended it.
        let _gone = self.sender.send(Message::Cancel(job));
    }

    /// For the wakers of tasks.
    pub(super) fn sender(&self) -> Sender<Message> {
        self.sender.clone()
    }
}

/// A lease whose place is the module's own line, not one of this file.
fn take(leases: Option<&Arc<Leases>>, kind: LeaseKind, place: &Arc<str>) -> Result<Lease, CallError> {
    let leases = leases.ok_or_else(|| CallError::Unavailable { what: format!("the module of a {kind}") })?;
    leases
        .take_at(kind, leases.owner(), Some(Arc::clone(place)))
        .map_err(|sealed| CallError::Unavailable { what: format!("a new {kind} of {}", sealed.owner) })
}
