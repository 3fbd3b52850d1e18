//! What a host does with all contexts of a runtime.

use std::panic::Location;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use alcedo_sys::process;

use crate::callback::{Registered, Registration, Site};
use crate::load::context::at_exit;
use crate::load::context::event::{ContextEvent, Listener};
use crate::load::context::free_context::FreeContext;
use crate::load::context::free_generation::FreeGeneration;
use crate::load::context::function::ContextFunction;
use crate::load::context::home::behind;
use crate::load::context::identity::{TypeRef, owner_of};
use crate::load::context::info::ContextInfo;
use crate::load::context::lookup;
use crate::load::context::native_libs::RetainedNative;
use crate::load::context::registry::ContextRegistry;
use crate::load::context::scope::{self, ContextScope};
use crate::load::context_id::{ContextId, ContextKind};
use crate::load::error::context::ContextError;
use crate::load::module::info::ManifestInfo;
use crate::signature::Signature;
use crate::unload::report::BlockerReport;
use crate::unload::ticket::UnloadTicket;

use super::{Contexts, Kept, LoadContext, WeakContexts};

impl Contexts {
    /// A handle to the contexts of a runtime.
    pub(crate) fn of(registry: &Arc<ContextRegistry>) -> Self {
        Self { registry: Arc::clone(registry) }
    }

    /// A handle that keeps nothing: for callbacks. A callback belongs to its host, so one that owns a `Contexts` or a
    /// [`LoadContext`] closes a circle, which keeps the contexts, and the folder of private copies, until the callback is
    /// dropped: those of a Slim when it has ended, all of them when the runtime has. Then the log names those that
    /// owned a handle, as a warning, with the place where they were registered. One that is registered when the runtime
    /// has gone, and owns a handle, is dropped with its Slim or never.
    #[must_use]
    pub fn downgrade(&self) -> WeakContexts {
        WeakContexts { registry: Arc::downgrade(&self.registry) }
    }

    /// Makes a Slim: named, without classes, to be loaded, called and unloaded from any thread.
    ///
    /// # Errors
    /// When the name is taken by a living Slim, is that of another kind of context, or is no name.
    #[track_caller]
    pub fn create_slim(&self, name: &str) -> Result<LoadContext, ContextError> {
        let line = self.registry.create(ContextKind::Slim, name)?;
        Ok(self.handle(line, Location::caller()))
    }

    /// Makes a pinned context: named like a Slim, with modules of its own, and like the Default never unloaded. It stays
    /// without a handle, ends with the runtime, and its modules depend on nothing that may go.
    ///
    /// # Errors
    /// When the name is taken by a living Slim or a pinned context, is that of another kind of context, or is no name.
    #[track_caller]
    pub fn create_pinned(&self, name: &str) -> Result<LoadContext, ContextError> {
        let line = self.registry.create(ContextKind::Pinned, name)?;
        Ok(self.handle(line, Location::caller()))
    }

    /// The pinned context of that name.
    #[must_use]
    #[track_caller]
    pub fn pinned(&self, name: &str) -> Option<LoadContext> {
        let line = self.registry.named(name).filter(|line| line.kind == ContextKind::Pinned)?;
        Some(self.handle(line, Location::caller()))
    }

    /// The living Slim of that name. This handle counts like the one that was given when it was made.
    #[must_use]
    pub fn slim(&self, name: &str) -> Option<LoadContext> {
        let line = self.registry.named(name).filter(|line| line.kind == ContextKind::Slim)?;
        behind(&line.handle()).map(|kept| LoadContext { kept })
    }

    /// The Default: modules in it are shared by all contexts and never unloaded.
    #[must_use]
    #[track_caller]
    pub fn default_context(&self) -> LoadContext {
        self.handle(Arc::clone(&self.registry.default), Location::caller())
    }

    /// Every generation of every context that is not dead, the Master's included; what cannot die stays listed.
    #[must_use]
    pub fn all(&self) -> Vec<ContextInfo> {
        self.registry.all()
    }

    /// The unloads of all contexts that have begun and are not over, the Master's included; one that was given up stays
    /// listed. No handle to the context is needed: a Slim whose last handle was dropped is here as well.
    #[must_use]
    pub fn unloads(&self) -> Vec<UnloadTicket> {
        self.registry.unloads().into_iter().map(|(_, ticket)| ticket).collect()
    }

    /// Those of [`Contexts::unloads`] that are of contexts of this name, oldest first: a Slim may have been replaced, and
    /// the name of one that was given up may have been used again. The Master's name is `Master`.
    #[must_use]
    pub fn unloads_of(&self, name: &str) -> Vec<UnloadTicket> {
        let named: Vec<_> = self.all().into_iter().filter(|info| info.name == name).map(|info| info.id).collect();
        self.registry.unloads().into_iter().filter(|(id, _)| named.contains(id)).map(|(_, ticket)| ticket).collect()
    }

    /// The unload of one generation, by the number that [`Contexts::all`] gives; none for one that is alive or dead.
    #[must_use]
    pub fn unload_of(&self, id: ContextId) -> Option<UnloadTicket> {
        self.registry.unload_of(id)
    }

    /// What keeps one generation now, whether it unloads or not: calls and other leases, and modules of other contexts
    /// that depend on it. None for one that is dead. While the Master is alive,
    /// [`Unloads::leases`](crate::Unloads::leases) says that of it, on its thread.
    #[must_use]
    pub fn report(&self, id: ContextId) -> Option<BlockerReport> {
        self.registry.report(id)
    }

    /// Gives up one generation of a Slim that is unloading: its images stay mapped, and calls inside go on. Its name
    /// is free then. Without effect on one that was given up.
    ///
    /// # Errors
    /// [`ContextError::NotUnloading`] for one that is alive or dead, so for the Default and pinned contexts, and for the
    /// Master, which [`Unloads::park`](crate::Unloads::park) gives up.
    pub fn park(&self, id: ContextId) -> Result<(), ContextError> {
        self.registry.park(id)
    }

    /// From now on listeners to Slims, pinned contexts and the Default ([`Contexts::on_event`],
    /// [`LoadContext::on_unloading`]) get `Unloading` also when the process ends by itself: by [`std::process::exit`],
    /// or because `main` returns while the runtime is still there. The event comes once per generation, so it does not
    /// come for one that has unloaded.
    ///
    /// Listeners are called by a handler of C's `atexit`, on the thread that ends the process. Handlers that were
    /// registered later run before it, earlier ones after it. Other threads go on meanwhile, and thread-locals of this
    /// thread are gone: use [`std::thread::LocalKey::try_with`], and wait for no lock that the thread which calls `exit` may
    /// hold. A panic in a listener keeps no other from being called. Nothing is unloaded, and no code of a module runs, its
    /// exit hook included.
    ///
    /// It is not to be had for a process that is killed, aborts, crashes, or calls `_exit` or `quick_exit`, and not for
    /// the Master, whose listeners belong to one thread. [`Runtime::shutdown`](crate::Runtime::shutdown) before `exit`
    /// calls all of them.
    ///
    /// # Errors
    /// [`ContextError::System`] where the platform has no such handlers, or takes no more.
    pub fn tell_at_exit(&self) -> Result<(), ContextError> {
        at_exit::tell(&self.registry)
    }

    /// A function of a living Slim, or of a pinned context, by name, type and method, and its signature as
    /// `i32, String -> bool`. See [`LoadContext::function`].
    ///
    /// # Errors
    /// When there is no such context, it offers no such function, or offers it with another signature.
    pub fn function(
        &self,
        context: &str,
        type_path: &str,
        method: &str,
        signature: &str,
    ) -> Result<ContextFunction, ContextError> {
        let line = self.registry.named(context);
        let line = line.ok_or_else(|| ContextError::NoSuchContext { name: context.to_owned() })?;
        ContextFunction::new(&line, type_path, method, &signature.parse::<Signature>()?)
    }

    /// What a library file says of itself; no code of it runs.
    ///
    /// # Errors
    /// When the path is not absolute, there is no file, or it is no module that this host could map.
    pub fn peek(&self, path: impl AsRef<Path>) -> Result<ManifestInfo, ContextError> {
        ManifestInfo::peek(path.as_ref())
    }

    /// Registers a listener for what happens to every load context, called on the thread on which it happens: for the
    /// Master that is the game thread, after the listeners of [`Builder::on_event`](crate::Builder::on_event). A panic
    /// in here is another listener's as little as the context's.
    ///
    /// The listener stays until [`Registration::remove`], until its runtime ends, or as long as the contexts. It should own no handle to them, see
    /// [`Contexts::downgrade`]: the event leads to them.
    #[track_caller]
    pub fn on_event(&self, listener: impl Fn(&ContextEvent) + Send + Sync + 'static) -> Registration {
        let site = Site::new("listener for context events", &listener);
        let code: Arc<Listener> = Arc::new(listener);
        self.registry.listeners.add(0, Registered { code, site });
        let registry = self.registry.weak();
        Registration::new(site, move || registry.upgrade().iter().for_each(|registry| registry.listeners.remove(site)))
    }

    /// The context whose scope this thread, or the task it polls, is in.
    #[must_use]
    pub fn current() -> Option<ContextInfo> {
        scope::here().map(|generation| generation.info())
    }

    /// Leaves every scope for as long as the guard is held.
    pub fn enter_none() -> ContextScope {
        ContextScope::none()
    }

    /// Finds a type where no context is named: for the one whose scope this thread is in, else for the Default. Names and
    /// order are those of [`LoadContext::resolve_type`].
    ///
    /// # Errors
    /// As [`LoadContext::resolve_type`].
    pub fn resolve_type(&self, path: &str) -> Result<TypeRef, ContextError> {
        lookup::type_of(&self.here(), &self.registry, path)
    }

    /// A function where no context is named: of the one whose scope this thread is in, else of the Default. It stays that
    /// context's when the scope is left. On a thread in a scope of that context it is of the generation that was entered,
    /// as types are, also after a replacement or the begin of an unload; on any other thread of the current one.
    ///
    /// # Errors
    /// As [`LoadContext::function`].
    pub fn function_here(
        &self,
        type_path: &str,
        method: &str,
        signature: &str,
    ) -> Result<ContextFunction, ContextError> {
        let here = self.here();
        let line = self.registry.line(here.id).unwrap_or_else(|| Arc::clone(&self.registry.default));
        ContextFunction::of(&line, &here, type_path, method, &signature.parse::<Signature>()?, true)
    }

    /// Finds a type for a generation, also of the Master, which looks in its own modules and in the Default. Names and
    /// order are those of [`LoadContext::resolve_type`].
    ///
    /// # Errors
    /// When there is no such generation; as [`LoadContext::resolve_type`].
    pub fn resolve_type_in(&self, context: ContextId, path: &str) -> Result<TypeRef, ContextError> {
        if let Some(generation) = self.registry.generation(context) {
            return lookup::type_of(&generation, &self.registry, path);
        }
        let all = self.all();
        let info = all.iter().find(|info| info.id == context);
        let info = info.ok_or_else(|| ContextError::NoSuchType {
            context: self.registry.title_of(context),
            path: path.to_owned(),
            known: "it is gone".into(),
        })?;
        lookup::type_in_picture(&self.registry, info, path)
    }

    /// The generation that an address of code or data belongs to: the Default for the host's own; none for what belongs
    /// to the system, to a heap or to no generation.
    #[must_use]
    pub fn context_of_address(&self, address: *const ()) -> Option<ContextInfo> {
        let image = process::file_at(address.addr())?;
        let all = self.all();
        if let Some(owner) = owner_of(&image, &all, &self.registry.natives()) {
            return Some(owner.clone());
        }
        let ours = process::file_at(owner_of as *const () as usize);
        all.into_iter().find(|info| info.kind == ContextKind::Default).filter(|_| ours.as_ref() == Some(&image))
    }

    /// Native libraries that contexts hold, and those that dead contexts have left open.
    #[must_use]
    pub fn natives(&self) -> Vec<RetainedNative> {
        self.registry.natives()
    }

    /// Gives up Slims that have been unloading for this long: their images stay mapped. `None`, as at first, waits for
    /// ever.
    pub fn park_after(&self, after: Option<Duration>) {
        self.registry.reaper.set_park_after(after);
    }

    /// The context whose scope this thread is in, if it is one of these; else the Default.
    fn here(&self) -> Arc<FreeGeneration> {
        let is_ours = |generation: &Arc<FreeGeneration>| {
            self.registry.generation(generation.id).is_some_and(|known| Arc::ptr_eq(&known, generation))
        };
        scope::here().filter(is_ours).unwrap_or_else(|| self.registry.default_generation())
    }

    pub(super) fn handle(&self, line: Arc<FreeContext>, made_at: &'static Location<'static>) -> LoadContext {
        let kept = Arc::new(Kept { registry: Arc::clone(&self.registry), line, made_at });
        let handle = Arc::downgrade(&kept);
        kept.line.set_handle(handle);
        LoadContext { kept }
    }
}
