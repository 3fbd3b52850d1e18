//! A module: it has types, entry points, leases and an end. One of the Master and one that belongs to no thread are both this
//! at their core; who may call, and on which thread, is their own. What the code is (the image of a library, or something else)
//! stands behind [`ModuleCode`].
#![expect(unsafe_code, reason = "hands the code over when nobody uses it")]

pub(crate) mod code;
pub(crate) mod info;
pub(crate) mod library;
pub(crate) mod master;
#[cfg(feature = "script")]
pub(crate) mod scripts;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::border::CallError;
use crate::conjugate::gate::ModuleTag;
use crate::emit::described::Described;
use crate::host_api::SharedHostContext;
use crate::lease::{Lease, LeaseKind, Leases};
use crate::load::module::code::ModuleCode;
use crate::load::module::info::ModuleInfo;
use crate::logs::Logs;
use crate::unload::job::UnloadJob;
use crate::unload::policy::UnloadPolicy;

/// A loaded module. It stays until its unload job is done; dropped without, its code stays for good, and with it all that the
/// code may still reach. Any thread, as far as its code allows that.
pub(crate) struct Module {
    info: ModuleInfo,
    tag: ModuleTag,
    code: Box<dyn ModuleCode>,
    /// Whoever needs its code holds one.
    leases: Arc<Leases>,
    /// What it depends on.
    needs: Mutex<Vec<Need>>,
    has_started: AtomicBool,
    logs: Arc<Logs>,
    /// Its own share of the host context, where it has one: as long as its code is there.
    host_context: Option<Arc<SharedHostContext>>,
}

/// Why a module stays where it is for a dependent: another module, or a context whose resolver has found it.
/// Counted with the module and not with its context, so that what has no dependents can go first.
pub(crate) struct Need {
    /// Until the exit hook of who depends has run; none where only the code counts.
    pub use_of: Option<Lease>,
    /// Until the code of who depends is gone.
    pub code: Lease,
}

impl Need {
    fn into_leases(self) -> impl Iterator<Item = Lease> {
        self.use_of.into_iter().chain([self.code])
    }
}

impl Module {
    /// A module that is ready for its first call. `leases` count who needs its code.
    pub(crate) fn new(
        info: ModuleInfo,
        tag: ModuleTag,
        code: Box<dyn ModuleCode>,
        leases: Arc<Leases>,
        logs: &Arc<Logs>,
        host_context: Option<Arc<SharedHostContext>>,
    ) -> Self {
        let (needs, has_started, logs) = (Mutex::default(), AtomicBool::new(false), Arc::clone(logs));
        Self { info, tag, code, leases, needs, has_started, logs, host_context }
    }

    /// What is known of it before it is loaded.
    pub(crate) fn info(&self) -> &ModuleInfo {
        &self.info
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.info.name
    }

    /// Its number, name and generation.
    pub(crate) fn tag(&self) -> &ModuleTag {
        &self.tag
    }

    /// Its code.
    pub(crate) fn code(&self) -> &dyn ModuleCode {
        &*self.code
    }

    /// The types it declares, and what it uses and offers.
    pub(crate) fn described(&self) -> Described {
        self.code.described()
    }

    /// Why its code must stay.
    pub(crate) fn leases(&self) -> &Arc<Leases> {
        &self.leases
    }

    /// It depends on another module.
    pub(crate) fn need(&self, need: Need) {
        self.needs().push(need);
    }

    /// Takes another lease on a module that it depends on, for a call of `owner`; none once its exit hook has run.
    pub(crate) fn use_again(&self, users: &Leases, owner: &Arc<str>) -> Option<Lease> {
        let needs = self.needs();
        let mut uses = needs.iter().filter_map(|need| need.use_of.as_ref());
        uses.find(|lease| lease.is_on(users)).map(|lease| lease.again(LeaseKind::Call, Arc::clone(owner), None))
    }

    /// Paths of the types that it names: bases, interfaces, types of members, and what it calls or reads of others. Its own are
    /// among them.
    pub(crate) fn named_types(&self) -> BTreeSet<String> {
        let mut named = BTreeSet::new();
        let mut name = |path: &str| {
            let owner = path.split_once(':').map_or(path, |(owner, _member)| owner);
            if !owner.is_empty() {
                named.insert(owner.to_owned());
            }
        };
        let described = self.described();
        for class in described.classes {
            name(class.base.as_str());
            class.implements.iter().for_each(|interface| name(interface.as_str()));
            class.properties.iter().for_each(|property| name(property.type_path.as_str()));
            for function in class.functions.iter() {
                name(function.overrides.as_str());
                function.params.iter().for_each(|param| name(param.type_path.as_str()));
            }
        }
        let of_interfaces = described.interfaces.iter().flat_map(|found| found.functions.iter());
        of_interfaces.flat_map(|function| function.params.iter()).for_each(|param| name(param.type_path.as_str()));
        described.structs.iter().flat_map(|found| found.fields.iter()).for_each(|field| name(field.type_path.as_str()));
        described.all_imports().iter().for_each(|import| name(import.path.as_str()));
        named
    }

    /// Runs its main.
    ///
    /// # Errors
    /// Its panic.
    pub(crate) fn main(&self, args: &[String]) -> Result<(), CallError> {
        self.code.main(args)?;
        self.has_started.store(true, Ordering::Release);
        Ok(())
    }

    /// Whether its main has returned, and its exit hook has not run.
    pub(crate) fn has_started(&self) -> bool {
        self.has_started.load(Ordering::Acquire)
    }

    /// Runs its exit hook, once, if its main has returned, and drops what was left to the module to drop: the last call that
    /// it gets. After that it calls nothing it depends on.
    ///
    /// # Errors
    /// Its panic.
    pub(crate) fn exit(&self) -> Result<(), CallError> {
        let ended = self.code.last(self.has_started.swap(false, Ordering::AcqRel));
        let uses: Vec<_> = self.needs().iter_mut().map(|need| need.use_of.take()).collect();
        drop(uses);
        ended
    }

    /// What is left to do of it; none if that was taken before. `calls` into it have not returned.
    ///
    /// # Safety
    /// Its leases are sealed. Once the last of them has ended, and the finalizers that the unload is driven behind have run,
    /// nothing of its code is used by anybody whom the host has let in: no plugin part, conjugate, thunk or record of it.
    pub(crate) unsafe fn unload_job(&self, calls: u32, policy: &UnloadPolicy) -> Option<UnloadJob> {
        // SAFETY: our caller promises that nothing of the code is used once its leases have ended, before which no end begins.
        let code = unsafe { self.code.hand_over(policy) }?;
        let (logs, tag) = (Arc::clone(&self.logs), self.tag.clone());
        // Code that stays keeps its host context: the closure is dropped without being called then.
        let host_context = ManuallyDrop::new(self.host_context.clone());
        Some(UnloadJob {
            name: self.info.name.clone(),
            leases: Arc::clone(&self.leases),
            keeps: std::mem::take(&mut *self.needs()).into_iter().flat_map(Need::into_leases).collect(),
            calls,
            code,
            forget: Box::new(move || {
                logs.forget(&tag);
                drop(ManuallyDrop::into_inner(host_context));
            }),
        })
    }

    fn needs(&self) -> MutexGuard<'_, Vec<Need>> {
        self.needs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // Nobody ended it: the code stays, and with it all that it may still reach.
        if self.code.abandon() {
            std::mem::forget(self.host_context.clone());
            std::mem::forget(std::mem::take(&mut *self.needs()));
            tracing::debug!(module = self.info.name, "a module was dropped without an end");
        }
    }
}
