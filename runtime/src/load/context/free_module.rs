//! Module without classes, callable on any thread. The gate and the leases of the context control the calls into the module.
#![expect(unsafe_code, reason = "attaches a module, calls its functions and moves its code to the unload")]

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use alcedo_sys::crash;

use crate::boundary::{CallError, from_module};
use crate::bridge::exports::ModuleExport;
use crate::conjugate::gate::ModuleTag;
use crate::emit::strings;
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
use crate::unload::image::Unused;
use crate::unload::job::ModuleUnload;
use crate::unload::policy::UnloadPolicy;
use crate::unload::report::ParkedImage;
use crate::zcall::buffer::BufferMut;

/// Module of a Slim, a pinned context or the Default. Usable on any thread.
pub(super) struct FreeModule {
    core: Module,
    /// Id of the generation that contains the module.
    pub context: ContextId,
    pub exports: Vec<ModuleExport>,
    /// Leases of all possible callers: dependent modules, and contexts that have borrowed the module. The exit hook runs once these leases
    /// have ended.
    pub users: Arc<Leases>,
}

pub(super) struct ModuleHost<'a> {
    pub id: ModuleId,
    pub context: ContextId,
    pub host_context: &'a Arc<SharedHostContext>,
    pub logs: &'a Arc<Logs>,
    pub tables: &'a HostTables,
    /// Receives an image of the module that stays mapped although the module was not opened.
    pub note_parked: &'a dyn Fn(ParkedImage),
}

impl FreeModule {
    /// Maps a staged library, checks the root module and attaches the module, on this thread. Appends the module to `opened`, even if the
    /// attachment fails. Returns an error if the dynamic linker rejects the library, if the layout differs, or if the attachment fails.
    /// After an error, the caller unloads `opened`.
    pub(super) fn open(
        staged: Staged,
        needs: Vec<Need>,
        host: ModuleHost<'_>,
        opened: &mut Vec<Arc<Self>>,
    ) -> Result<Arc<Self>, LoadError> {
        let generation = Generation(host.context.generation);
        crash::module(generation.0, &staged.info.name, staged.path());
        let (info, library) = staged.map(host.note_parked)?;
        let tag = ModuleTag { id: host.id, name: info.name.as_str().into(), generation };
        host.logs.introduce(&tag);
        let codeless = Codeless {
            leases: Leases::new(format!("module {}", info.name)),
            info,
            tag,
            logs: host.logs,
            context: host.host_context.lasting(host.id, generation),
        };
        let ready = |core: &Module| {
            strings::check(core.name(), core.described())?;
            Ok(host.tables.check(core.name(), core.described().tables)?)
        };
        let (core, attached) = library.attach(codeless, |core| core, ready);
        needs.into_iter().for_each(|need| core.need(need));
        let module = match &attached {
            Ok(()) => Self::new(core, host.context),
            // Omits the exports, because `ready` may not have checked their strings.
            Err(_) => Self::offering(core, host.context, Vec::new()),
        };
        opened.push(Arc::clone(&module));
        attached.map(|()| module)
    }

    pub(super) fn new(core: Module, context: ContextId) -> Arc<Self> {
        let described = core.described().exports;
        let exports = described.iter().map(|described| ModuleExport::of(core.name(), described)).collect();
        Self::offering(core, context, exports)
    }

    fn offering(core: Module, context: ContextId, exports: Vec<ModuleExport>) -> Arc<Self> {
        let users = Leases::new(core.leases().owner());
        Arc::new(Self { core, context, exports, users })
    }

    pub(super) fn folder(&self) -> Option<&Path> {
        self.info().origin.as_deref().and_then(Path::parent)
    }

    /// Takes leases on the module for a dependent module. Reports use `owner` as the name of the dependent. Returns an error if the module
    /// is unloading.
    pub(super) fn add_dependent(&self, owner: &str) -> Result<Need, Sealed> {
        let use_of = self.users.take_inside(LeaseKind::Dependent, owner)?;
        let code = self.leases().take_inside(LeaseKind::Dependent, owner)?;
        Ok(Need { use_of: Some(use_of), code })
    }

    /// Rejects new dependents.
    pub(super) fn seal(&self) {
        self.users.seal();
        self.leases().seal();
    }

    pub(super) fn summary(&self) -> ModuleSummary {
        let summary = ModuleSummary::new(self.info(), self.context, self.code().path().to_owned());
        summary.offering(self.exports.iter().map(|export| &*export.type_path))
    }

    /// Returns the unload job. Returns `None` if the job was already taken. The caller must ensure that the last call into the context has
    /// returned, or that the job only parks the module.
    pub(super) fn unload(&self, policy: &UnloadPolicy) -> Option<ModuleUnload> {
        self.seal();
        // SAFETY: the gate of the context is closed, no call is active, and the leases are sealed. The module has no conjugates,
        // and dependent modules hold its leases.
        let unused = unsafe { Unused::of(self.core.code()) };
        self.core.unload_job(0, policy, unused).map(ModuleUnload::new)
    }
}

impl Deref for FreeModule {
    type Target = Module;

    fn deref(&self) -> &Module {
        &self.core
    }
}

impl ModuleExport {
    /// Calls the function on this thread. Returns the error or the panic of the callee.
    ///
    /// # Safety
    /// The image must stay mapped until the call returns. A lease or an entered gate of the caller ensures this. The slots of the buffer
    /// must match the signature.
    pub(super) unsafe fn call(&self, mut buffer: BufferMut<'_>) -> Result<(), CallError> {
        // SAFETY: the caller promises that the image stays mapped until the call returns, and that the slots match the
        // signature.
        from_module(|failure| unsafe { (self.invoke.0)(buffer.raw(), failure) })
    }
}
