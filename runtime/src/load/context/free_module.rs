//! A module that belongs to no thread: the core of every module without classes, its functions open to every thread.
//! Which calls may enter, and until when, is not decided here: the context's gate and leases do that.
#![expect(unsafe_code, reason = "attaches a module, calls its functions and hands its code over")]

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use alcedo_abi::describe::ZCallInvoke;
use alcedo_abi::direct::DirectShell;
use alcedo_sys::crash;

use crate::border::{CallError, from_module};
use crate::bridge::exports::export_name;
use crate::conjugate::gate::ModuleTag;
use crate::emit::texts;
use crate::handles::{Generation, ModuleId};
use crate::host_api::SharedHostContext;
use crate::lease::{LeaseKind, Leases, Sealed};
use crate::load::context::info::ModuleSummary;
use crate::load::context_id::ContextId;
use crate::load::error::LoadError;
use crate::load::module::library::{Codeless, Staged};
use crate::load::module::{Module, Need};
use crate::load::tables::HostTables;
use crate::logs::Logs;
use crate::unload::job::ModuleUnload;
use crate::unload::policy::UnloadPolicy;
use crate::zcall::buffer::BufferMut;

/// A function that a module offers. Its address is good as long as the image is mapped, which a lease sees to.
#[derive(Clone)]
pub(super) struct FreeExport {
    /// The type it belongs to, as the module says.
    pub type_path: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// `nm:/module:type:name`, for errors and reports.
    pub full: Arc<str>,
    /// Fingerprint of its signature.
    pub fingerprint: u64,
    /// The signature in words.
    pub signature: Arc<str>,
    /// The body.
    invoke: ZCallInvoke,
    /// Body without a buffer, where it has plain values only.
    pub direct: Option<DirectShell>,
}

/// A module of a Slim or of the Default. Any thread.
pub(super) struct FreeModule {
    core: Module,
    context: ContextId,
    exports: Vec<FreeExport>,
    /// Every possible caller holds one: the exit hook waits for these.
    users: Arc<Leases>,
}

/// What a module gets of its host, and what the host needs of the place that it is loaded into.
pub(super) struct ModulePlace<'a> {
    /// The number of the module.
    pub id: ModuleId,
    /// The generation of its context.
    pub context: ContextId,
    /// the host context.
    pub host_context: &'a Arc<SharedHostContext>,
    /// The host's ear.
    pub logs: &'a Arc<Logs>,
    /// The tables of the host.
    pub tables: &'a HostTables,
}

impl FreeModule {
    /// Maps a staged library, checks its root module and attaches it, on this thread.
    ///
    /// # Errors
    /// When the linker refuses it, its layout differs, or it does not take its host. The image has ended then.
    pub(super) fn open(staged: Staged, needs: Vec<Need>, place: ModulePlace<'_>) -> Result<Arc<Self>, LoadError> {
        let generation = Generation(place.context.generation);
        crash::module(generation.0, &staged.info.name, staged.path());
        let (info, library) = staged.map()?;
        let tag = ModuleTag { id: place.id, name: info.name.as_str().into(), generation };
        place.logs.introduce(&tag);
        let codeless = Codeless {
            leases: Leases::new(format!("module {}", info.name)),
            info,
            tag,
            logs: place.logs,
            context: place.host_context.lasting(place.id, generation),
        };
        let whole = |core: Module| {
            needs.into_iter().for_each(|need| core.need(need));
            core
        };
        let ready = |core: &Module| {
            texts::check(core.name(), core.described())?;
            Ok(place.tables.check(core.name(), core.described().tables)?)
        };
        let core = library.attach(codeless, whole, |core| core, ready, |core| place.logs.forget(core.tag()))?;
        Ok(Self::new(core, place.context))
    }

    /// A module that takes calls.
    pub(super) fn new(core: Module, context: ContextId) -> Arc<Self> {
        let exports = core.described().exports.iter().map(|described| FreeExport::of(core.name(), described)).collect();
        let users = Leases::new(core.leases().owner());
        Arc::new(Self { core, context, exports, users })
    }

    /// The folder of the file it was loaded from.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.info().origin.as_deref().and_then(Path::parent)
    }

    /// What it offers.
    pub(super) fn exports(&self) -> &[FreeExport] {
        &self.exports
    }

    /// Its possible callers: modules that depend on it and have not ended, and contexts that were given it.
    pub(super) fn users(&self) -> &Arc<Leases> {
        &self.users
    }

    /// Keeps it for `owner`, the name of the dependent in reports.
    ///
    /// # Errors
    /// When it is on its way out.
    pub(super) fn lend(&self, owner: &str) -> Result<Need, Sealed> {
        let use_of = self.users.take_inside(LeaseKind::Dependent, owner)?;
        let code = self.leases().take_inside(LeaseKind::Dependent, owner)?;
        Ok(Need { use_of: Some(use_of), code })
    }

    /// From now on no other module may begin to depend on it.
    pub(super) fn seal(&self) {
        self.users.seal();
        self.leases().seal();
    }

    /// A copy of its public data.
    pub(super) fn summary(&self) -> ModuleSummary {
        let summary = ModuleSummary::new(self.info(), self.context, self.code().path().to_owned());
        summary.offering(self.exports.iter().map(|export| &*export.type_path))
    }

    /// Returns the number of its context and generation.
    pub(super) fn context(&self) -> ContextId {
        self.context
    }

    /// The generation of its context.
    pub(super) fn generation(&self) -> u64 {
        self.context.generation
    }

    /// What is left to do of it; none if that was taken before. Only after the last call into its context has returned, or to
    /// be parked.
    pub(super) fn unload(&self, policy: &UnloadPolicy) -> Option<ModuleUnload> {
        self.seal();
        // SAFETY: the context's gate is shut and no call is inside, and its leases are sealed; the module has no
        // conjugates, and modules that need it hold its own leases.
        unsafe { self.core.unload_job(0, policy) }.map(ModuleUnload::new)
    }
}

impl Deref for FreeModule {
    type Target = Module;

    fn deref(&self) -> &Module {
        &self.core
    }
}

impl FreeExport {
    fn of(module: &str, described: &alcedo_abi::describe::ExportDesc) -> Self {
        let (type_path, name) = (described.type_path.as_str(), described.name.as_str());
        Self {
            full: export_name(module, type_path, name).into(),
            type_path: type_path.into(),
            name: name.into(),
            fingerprint: described.fingerprint,
            signature: described.signature.as_str().into(),
            invoke: described.invoke,
            direct: described.direct.into_option(),
        }
    }

    /// Where its body is.
    pub(super) fn address(&self) -> *const () {
        self.invoke.0 as *const ()
    }

    /// The body itself.
    pub(super) fn invoke(&self) -> ZCallInvoke {
        self.invoke
    }

    /// Calls it, on this thread.
    ///
    /// # Safety
    /// The image is mapped until the call returns, which a lease or a place in its gate sees to, and the slots of the
    /// buffer are what the signature says.
    ///
    /// # Errors
    /// What the callee fails with, its panic included.
    pub(super) unsafe fn call(&self, mut buffer: BufferMut<'_>) -> Result<(), CallError> {
        // SAFETY: our caller promises that the image is mapped until this returns, and that the slots fit the signature.
        from_module(|failure| unsafe { (self.invoke.0)(buffer.raw(), failure) })
    }
}
