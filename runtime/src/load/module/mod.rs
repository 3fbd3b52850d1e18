//! Module core with types, entry points, leases and unload. Every module contains this core. [`MasterModule`](master::MasterModule) and
//! `FreeModule` add the control of calls and threads. [`ModuleCode`] abstracts the code of a module, such as the image of a library.

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
use std::sync::{Arc, Mutex};

use crate::boundary::CallError;
use crate::conjugate::gate::ModuleTag;
use crate::emit::described::Described;
use crate::host_api::SharedHostContext;
use crate::lease::{Lease, LeaseKind, Leases};
use crate::load::module::code::ModuleCode;
use crate::load::module::info::ModuleInfo;
use crate::logs::Logs;
use crate::sync::lock;
use crate::unload::image::Unused;
use crate::unload::job::UnloadJob;
use crate::unload::policy::UnloadPolicy;

/// Loaded module. The owner must take the unload job before dropping the module. Otherwise the drop leaks the code, the host context and
/// the leases on dependencies. Usable on any thread, if the code allows this.
pub(crate) struct Module {
    info: ModuleInfo,
    tag: ModuleTag,
    code: Box<dyn ModuleCode>,
    leases: Arc<Leases>,
    needs: Mutex<Vec<Need>>,
    has_started: AtomicBool,
    logs: Arc<Logs>,
    /// Reference to the host context, if any. The reference is kept while the code is present.
    host_context: Option<Arc<SharedHostContext>>,
}

/// Leases of a dependent on a module. The dependent is a second module, or a context that has borrowed the module. Leases are counted per
/// module, because each module is unloaded as soon as its last dependent has ended.
pub(crate) struct Need {
    /// Lease that is held until the exit hook of the dependent has run. `None` if the dependent makes no calls and needs only the code.
    pub use_of: Option<Lease>,
    /// Lease that is held until the code of the dependent is unmapped.
    pub code: Lease,
}

impl Module {
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

    pub(crate) fn info(&self) -> &ModuleInfo {
        &self.info
    }

    pub(crate) fn name(&self) -> &str {
        &self.info.name
    }

    pub(crate) fn tag(&self) -> &ModuleTag {
        &self.tag
    }

    pub(crate) fn code(&self) -> &dyn ModuleCode {
        &*self.code
    }

    /// Returns the declared types of the module, its exported functions, and its imports.
    pub(crate) fn described(&self) -> Described {
        self.code.described()
    }

    pub(crate) fn leases(&self) -> &Arc<Leases> {
        &self.leases
    }

    /// Adds the leases on a dependency.
    pub(crate) fn need(&self, need: Need) {
        lock(&self.needs).push(need);
    }

    /// Takes an additional lease on a dependency, for one call from `owner`. Returns `None` once the exit hook of this module has run.
    pub(crate) fn use_again(&self, users: &Leases, owner: &Arc<str>) -> Option<Lease> {
        let needs = lock(&self.needs);
        let mut uses = needs.iter().filter_map(|need| need.use_of.as_ref());
        uses.find(|lease| lease.is_on(users)).map(|lease| lease.again(LeaseKind::Call, Arc::clone(owner), None))
    }

    /// Returns the paths of the module's own types, and of all types that the module uses. Used types are base classes, interfaces, and
    /// types of members. Also included are the types that own imported functions and properties.
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

    pub(crate) fn main(&self, args: &[String]) -> Result<(), CallError> {
        self.code.main(args)?;
        self.has_started.store(true, Ordering::Release);
        Ok(())
    }

    /// Checks if the main has returned and the exit hook has not run.
    pub(crate) fn has_started(&self) -> bool {
        self.has_started.load(Ordering::Acquire)
    }

    /// Runs the exit hook if the main has returned and the exit hook has not run. Then drops the values that the module has registered for
    /// a drop at its exit. This call is the last call into the module. Afterwards, the module does not call its dependencies. Returns a
    /// panic as an error.
    pub(crate) fn exit(&self) -> Result<(), CallError> {
        let ended = self.code.last(self.has_started.swap(false, Ordering::AcqRel));
        let uses: Vec<_> = lock(&self.needs).iter_mut().map(|need| need.use_of.take()).collect();
        drop(uses);
        ended
    }

    /// Returns the unload job. Returns `None` if the job was already taken. `calls` is the number of active calls. `unused` must be the
    /// promise for the code of this module.
    pub(crate) fn unload_job(&self, calls: u32, policy: &UnloadPolicy, unused: Unused<'_>) -> Option<UnloadJob> {
        let code = self.code.hand_over(policy, unused)?;
        let (logs, tag) = (Arc::clone(&self.logs), self.tag.clone());
        // Code that stays mapped needs the host context. For such code, `forget` is dropped without a call. `ManuallyDrop` then keeps the
        // reference.
        let host_context = ManuallyDrop::new(self.host_context.clone());
        let needs = std::mem::take(&mut *lock(&self.needs)).into_iter();
        Some(UnloadJob {
            name: self.info.name.clone(),
            leases: Arc::clone(&self.leases),
            keeps: needs.flat_map(|need| need.use_of.into_iter().chain([need.code])).collect(),
            calls,
            code,
            forget: Box::new(move || {
                logs.forget(&tag);
                drop(ManuallyDrop::into_inner(host_context));
            }),
        })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // If the code was not unloaded, leaks the code, the host context and the leases on dependencies.
        if self.code.abandon() {
            std::mem::forget(self.host_context.clone());
            std::mem::forget(std::mem::take(&mut *lock(&self.needs)));
            log!(DEBUG, module = self.info.name, "a module was dropped without an end");
        }
    }
}
