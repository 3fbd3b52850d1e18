//! What a host does with one context.

use std::future::Future;
use std::io::Read;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use alcedo_sys::StageDir;
use semver::VersionReq;

use crate::callback::{Registered, Registration, Site};
use crate::lease::{Blocker, Lease, LeaseKind, host_verb};
use crate::load::canary::Canary;
use crate::load::context::event::{ContextEvent, Listener};
use crate::load::context::free_context::FreeContext;
use crate::load::context::function::{ContextFunction, FunctionPointer, TableModule};
use crate::load::context::home::behind;
use crate::load::context::identity::TypeRef;
use crate::load::context::info::ModuleSummary;
use crate::load::context::library::Library;
use crate::load::context::loading;
use crate::load::context::lookup;
use crate::load::context::native_libs::NativeLibrary;
use crate::load::context::native_search;
use crate::load::context::registry::ContextRegistry;
use crate::load::context::resolvers::{
    FoundModule, ModuleRequest, ModuleResolver, NativeResolver, ResolverFailure, Told,
};
use crate::load::context::scope::{ContextScope, Scoped};
use crate::load::context_id::{ContextId, ContextKind};
use crate::load::error::context::ContextError;
use crate::load::tables::Table;
use crate::signature::Signature;
use crate::unload::state::ContextState;
use crate::unload::ticket::UnloadTicket;

use super::{Contexts, LoadContext, WeakLoadContext};

impl LoadContext {
    /// A handle to a context: to a Slim where there is one already, to what is never unloaded always.
    #[track_caller]
    pub(in crate::load::context) fn of(registry: &Arc<ContextRegistry>, line: &Arc<FreeContext>) -> Option<Self> {
        match behind(&line.handle()) {
            Some(kept) => Some(Self { kept }),
            None if !line.kind.is_collectible() => {
                Some(Contexts::of(registry).handle(Arc::clone(line), Location::caller()))
            }
            None => None,
        }
    }

    /// A handle that does not keep it from unloading: for its own callbacks, which would keep it for ever otherwise. See
    /// [`Contexts::downgrade`].
    #[must_use]
    pub fn downgrade(&self) -> WeakLoadContext {
        WeakLoadContext { registry: Arc::downgrade(&self.kept.registry), line: Arc::downgrade(self.line()) }
    }

    /// All contexts of its host.
    #[must_use]
    pub fn contexts(&self) -> Contexts {
        Contexts::of(&self.kept.registry)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.line().name
    }

    /// What sort of context it is.
    #[must_use]
    pub fn kind(&self) -> ContextKind {
        self.line().kind
    }

    /// How far its life has come. Generations that were replaced are not looked at.
    #[must_use]
    pub fn state(&self) -> ContextState {
        self.line().state()
    }

    /// Its current generation; none once it unloads.
    #[must_use]
    pub fn id(&self) -> Option<ContextId> {
        self.line().current().map(|generation| generation.id)
    }

    /// The modules of its current generation, dependencies first.
    #[must_use]
    pub fn modules(&self) -> Vec<ModuleSummary> {
        self.line().current().map(|generation| generation.info().modules).unwrap_or_default()
    }

    /// Loads a library file and what it needs. Their mains run on this thread, before they can be found in the context;
    /// the `Loaded` events come after. The file is copied first, so it may be overwritten at once.
    ///
    /// Threads that load one module at once get one: its main runs once, and the others wait for it. If it fails they try
    /// themselves. Loads of other modules wait for nothing.
    ///
    /// # Errors
    /// When the path is not absolute, there is no such file, it is no module for this host, declares classes, needs what
    /// is not to be found or, in a context that stays, what may go, has the name of another build that is loaded, or its
    /// main panics; when the context unloads. Nothing of it is in the context then. [`ContextError::LoadRing`] when it is asked for inside of its own load, or
    /// threads would wait for each other's modules in a ring.
    #[track_caller]
    pub fn load_path(&self, path: impl AsRef<Path>) -> Result<ModuleSummary, ContextError> {
        let (_door, _open) = (host_verb(), self.line().open("loading a file")?);
        self.load(Library::read(path.as_ref(), self.stage_dir())?)
    }

    /// Loads a library that is in memory, and what it needs; `name` stands for its path in errors. `symbols` is what
    /// debuggers read, where that is apart from the library.
    ///
    /// # Errors
    /// As [`LoadContext::load_path`].
    #[track_caller]
    pub fn load_bytes(&self, name: &str, image: &[u8], symbols: Option<&[u8]>) -> Result<ModuleSummary, ContextError> {
        let (_door, _open) = (host_verb(), self.line().open("loading from memory")?);
        let dir = self.stage_dir();
        self.load(Library::from_bytes(name, image, symbols.map(<[u8]>::to_vec), dir)?)
    }

    /// Loads a library from wherever it can be read, and what it needs: from where `image` stands to its end. Otherwise as
    /// [`LoadContext::load_bytes`]. What is longer than [`Builder::largest_library`](crate::Builder::largest_library), be it
    /// library or symbols, is not read further.
    ///
    /// # Errors
    /// As [`LoadContext::load_path`]; [`ContextError::Reading`] with what the reader said, [`ContextError::ReadsTooLong`].
    #[track_caller]
    pub fn load_reader(
        &self,
        name: &str,
        image: impl Read,
        symbols: Option<&mut dyn Read>,
    ) -> Result<ModuleSummary, ContextError> {
        let (_door, _open) = (host_verb(), self.line().open("loading from a reader")?);
        self.load(Library::from_reader(name, image, symbols, self.stage_dir())?)
    }

    /// Loads what a name stands for: what it has, what its resolver finds, what the Default has, what the handlers find,
    /// in this order.
    ///
    /// # Errors
    /// As [`LoadContext::load_path`]; with the ordered trace when the name is not found.
    #[track_caller]
    pub fn load_name(&self, name: &str, range: &VersionReq) -> Result<ModuleSummary, ContextError> {
        let _door = host_verb();
        let generation = self.line().open(format!("loading {name}"))?;
        Ok(loading::load_name(self.registry(), &generation, name, range)?.summary())
    }

    /// Swaps in a new generation with this library and what it needs, and lets the current one go: the ticket is the old
    /// one's. Until the new main has returned the old one answers; if it does not come up, the old one stays. Whatever
    /// else the old generation has goes with it. Before the first new main the old modules that have a `suspend` are asked to
    /// give up what only one can have, on this thread and while others may call them; if the new ones do not come up, they
    /// take it again in `resume`.
    ///
    /// # Errors
    /// As [`LoadContext::load_path`], and when a `suspend` fails; [`ContextError::NotCollectible`] for the Default and for pinned contexts.
    #[track_caller]
    pub fn replace(&self, path: impl AsRef<Path>) -> Result<UnloadTicket, ContextError> {
        let _door = host_verb();
        self.line().replace(self.registry(), Library::read(path.as_ref(), self.stage_dir())?)
    }

    /// As [`LoadContext::replace`], with a library that is in memory.
    ///
    /// # Errors
    /// As [`LoadContext::replace`].
    #[track_caller]
    pub fn replace_bytes(
        &self,
        name: &str,
        image: &[u8],
        symbols: Option<&[u8]>,
    ) -> Result<UnloadTicket, ContextError> {
        let (_door, dir) = (host_verb(), self.stage_dir());
        self.line().replace(self.registry(), Library::from_bytes(name, image, symbols.map(<[u8]>::to_vec), dir)?)
    }

    /// As [`LoadContext::replace`], with a library that is read as in [`LoadContext::load_reader`].
    ///
    /// # Errors
    /// As [`LoadContext::replace`] and [`LoadContext::load_reader`].
    #[track_caller]
    pub fn replace_reader(
        &self,
        name: &str,
        image: impl Read,
        symbols: Option<&mut dyn Read>,
    ) -> Result<UnloadTicket, ContextError> {
        let _door = host_verb();
        self.line().replace(self.registry(), Library::from_reader(name, image, symbols, self.stage_dir())?)
    }

    /// Begins to unload it, and does not wait. A second call gives the same ticket. The `Unloading` event and the
    /// callbacks run in here, and the exit hooks and destructors as well when no call is inside.
    ///
    /// # Errors
    /// [`ContextError::NotCollectible`] for the Default and for pinned contexts.
    pub fn begin_unload(&self) -> Result<UnloadTicket, ContextError> {
        self.line().begin_unload(self.registry(), "it was requested")
    }

    /// The unloads of its generations that are under way or blocked, oldest first.
    #[must_use]
    pub fn unloads(&self) -> Vec<UnloadTicket> {
        self.line().old_tickets()
    }

    /// The calls and other leases that its current generation has now, longest first.
    #[must_use]
    pub fn held_by(&self) -> Vec<Blocker> {
        self.line().current().map(|generation| generation.held_by()).unwrap_or_default()
    }

    /// Keeps its current generation mapped for as long as the lease is held, on whichever thread: for a host that has
    /// borrowed data of it. `owner` is how reports name the reason.
    ///
    /// # Errors
    /// [`ContextError::ContextUnloading`] once it unloads.
    #[track_caller]
    pub fn lease(&self, owner: &str) -> Result<Lease, ContextError> {
        let action = "taking a lease";
        let lease = self.line().open(action)?.leases.take(LeaseKind::Borrow, owner);
        lease.map_err(|sealed| ContextError::sealed(sealed, action))
    }

    /// Gives up on generations that are unloading: their images stay mapped, and calls inside go on.
    /// A load that is under way in one is refused when it is done, and what it brought ends.
    pub fn park(&self) {
        self.line().park();
    }

    /// Is called once when a generation of it begins to unload, smaller priorities first; for the Default and pinned contexts
    /// that is when their runtime ends. A panic in here stops nothing and stands on the ticket.
    ///
    /// The callback stays until [`Registration::remove`] or until the context has ended, and should own no handle to it, see [`LoadContext::downgrade`]: the event
    /// leads to it.
    #[track_caller]
    pub fn on_unloading(
        &self,
        priority: i32,
        callback: impl Fn(&ContextEvent) + Send + Sync + 'static,
    ) -> Registration {
        let site = Site::new("unloading callback", &callback);
        let code: Arc<Listener> = Arc::new(callback);
        self.line().unloading.add(priority, Registered { code, site });
        let line = Arc::downgrade(self.line());
        Registration::new(site, move || line.upgrade().iter().for_each(|line| line.unloading.remove(site)))
    }

    /// A function by type and method, and its signature as `i32, String -> bool`. It may be one of its own modules, of a
    /// module that it depends on in another context, or of the Default; a call keeps the context that it is in. Types are
    /// named, and modules looked for, as [`LoadContext::resolve_type`] says; functions without a type (`ex`) are those of
    /// the type `""`.
    ///
    /// # Errors
    /// When there is no such function, there are several, it has another signature, the module that is named is not to be
    /// found, or the context unloads; when it takes or gives what the types of the Master lay out: structs, containers,
    /// delegates, texts but `String`, and references but `Object`.
    pub fn function(&self, type_path: &str, method: &str, signature: &str) -> Result<ContextFunction, ContextError> {
        ContextFunction::new(self.line(), type_path, method, &signature.parse::<Signature>()?)
    }

    /// The address of a function, and the lease that keeps it good.
    ///
    /// # Errors
    /// As [`LoadContext::function`].
    #[track_caller]
    pub fn get_function_pointer(
        &self,
        type_path: &str,
        method: &str,
        signature: &str,
    ) -> Result<FunctionPointer, ContextError> {
        self.function(type_path, method, signature)?.pointer()
    }

    /// The module of that name in the current generation, which implements this table.
    ///
    /// # Errors
    /// Returns the errors of [`TableModule::new`].
    pub(crate) fn table_module(&self, module: &str, table: &Table) -> Result<TableModule, ContextError> {
        TableModule::new(self.line(), module, table)
    }

    /// A type that its current generation has: `Type`, `Package.Type` or `/Script/Package.Type`, also behind the name of its
    /// module, as `module::Type` or `module:Type`.
    ///
    /// Without a module it is looked for in the modules that the context has itself or depends on in other contexts, then
    /// in the Default. A module that is named is looked for as [`LoadContext::load_name`] does: so resolvers and handlers
    /// are asked for one that is not there yet, and what they find is loaded.
    ///
    /// # Errors
    /// When it is not there, several modules have one, the module that is named is not to be found, or the context unloads.
    pub fn resolve_type(&self, path: &str) -> Result<TypeRef, ContextError> {
        let generation = self.line().open(format!("looking up the type {path}"))?;
        lookup::type_of(&generation, self.registry(), path)
    }

    /// Which process loads new modules of this context before the host does, from the next load on: [`Canary::Off`]
    /// spares a load of trusted libraries a few milliseconds. What [`Builder::canary`](crate::Builder::canary) says
    /// holds until then.
    pub fn set_canary(&self, canary: Canary) {
        self.line().resolvers.change(|told| told.canary = Some(canary));
    }

    /// Sets the resolver for modules that are not here, called before the Default is searched, on any thread.
    ///
    /// The resolver stays until [`Registration::remove`], until another one replaces it, or until the context has ended, as all
    /// resolvers and handlers do, and should own no handle to it, see
    /// [`LoadContext::downgrade`]: the request leads to the context that looks for the module.
    #[track_caller]
    pub fn set_resolver(
        &self,
        resolver: impl Fn(&ModuleRequest) -> Result<Option<FoundModule>, ResolverFailure> + Send + Sync + 'static,
    ) -> Registration {
        let site = Site::new("resolver", &resolver);
        let code: Arc<ModuleResolver> = Arc::new(resolver);
        self.resolving(site, |told| told.resolver.replace(Registered { code, site }))
    }

    /// Adds a handler for modules that neither the resolver nor the Default has, called in the order in which they were
    /// added.
    #[track_caller]
    pub fn on_resolving(
        &self,
        handler: impl Fn(&ModuleRequest) -> Result<Option<FoundModule>, ResolverFailure> + Send + Sync + 'static,
    ) -> Registration {
        let site = Site::new("handler for modules", &handler);
        let code: Arc<ModuleResolver> = Arc::new(handler);
        self.resolving(site, |told| told.handlers.push(Registered { code, site }))
    }

    /// Finds a native library: what it has, the resolver of the module, its own resolver, the folders of its modules and
    /// the system, the handlers, in this order. It stays open with the context.
    ///
    /// # Errors
    /// With the ordered trace when it is not found; when a resolver fails or gives no absolute path.
    #[track_caller]
    pub fn native_library(&self, name: &str, for_module: Option<&str>) -> Result<NativeLibrary, ContextError> {
        let _door = host_verb();
        let generation = self.line().open(format!("looking up the native library {name}"))?;
        native_search::find(&generation, name, for_module)
    }

    /// Sets the resolver for the native libraries of one module, called first.
    #[track_caller]
    pub fn set_native_resolver_of(
        &self,
        module: &str,
        resolver: impl Fn(&str) -> Result<Option<PathBuf>, ResolverFailure> + Send + Sync + 'static,
    ) -> Registration {
        let site = Site::new("resolver of native libraries", &resolver);
        let code: Arc<NativeResolver> = Arc::new(resolver);
        self.resolving(site, |told| told.native_by_module.insert(module.to_owned(), Registered { code, site }))
    }

    /// Sets the resolver for native libraries, called before the folders and the system are searched.
    #[track_caller]
    pub fn set_native_resolver(
        &self,
        resolver: impl Fn(&str) -> Result<Option<PathBuf>, ResolverFailure> + Send + Sync + 'static,
    ) -> Registration {
        let site = Site::new("resolver of native libraries", &resolver);
        let code: Arc<NativeResolver> = Arc::new(resolver);
        self.resolving(site, |told| told.native_resolver.replace(Registered { code, site }))
    }

    /// Adds a handler for native libraries, called after all others, in the order in which they were added.
    #[track_caller]
    pub fn on_resolving_native(
        &self,
        handler: impl Fn(&str) -> Result<Option<PathBuf>, ResolverFailure> + Send + Sync + 'static,
    ) -> Registration {
        let site = Site::new("handler for native libraries", &handler);
        let code: Arc<NativeResolver> = Arc::new(handler);
        self.resolving(site, |told| told.native_handlers.push(Registered { code, site }))
    }

    /// This thread is in the context until the guard is dropped.
    ///
    /// # Errors
    /// When it is unloading.
    #[track_caller]
    pub fn enter(&self) -> Result<ContextScope, ContextError> {
        ContextScope::enter(&self.line().open("entering its scope")?)
    }

    /// The future is in the context whenever it is polled, on whatever thread.
    ///
    /// # Errors
    /// When it is unloading.
    #[track_caller]
    pub fn scope<F: Future>(&self, future: F) -> Result<Scoped<F>, ContextError> {
        Scoped::new(self.line().open("entering its scope")?, future)
    }

    /// Registers one of its resolvers or handlers.
    fn resolving<T>(&self, site: Site, put: impl FnOnce(&mut Told) -> T) -> Registration {
        drop(self.line().resolvers.change(put));
        let line = Arc::downgrade(self.line());
        Registration::new(site, move || line.upgrade().iter().for_each(|line| line.resolvers.remove(site)))
    }

    fn load(&self, library: Library) -> Result<ModuleSummary, ContextError> {
        let generation = self.line().open(format!("loading {}", library.info.name))?;
        Ok(loading::load(self.registry(), &generation, library, None)?.summary())
    }

    pub(super) fn line(&self) -> &Arc<FreeContext> {
        &self.kept.line
    }

    fn registry(&self) -> &Arc<ContextRegistry> {
        &self.kept.registry
    }

    /// Where libraries are copied to before they are looked at.
    fn stage_dir(&self) -> &StageDir {
        &self.kept.registry.stage_dir
    }
}
