//! Operations on one context.

use std::future::Future;
use std::io::Read;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use semver::VersionReq;

use crate::callback::{Registered, Registration, Site};
use crate::lease::{Blocker, Lease, LeaseKind, host_verb};
use crate::load::canary::Canary;
use crate::load::context::event::{ContextEvent, Listener};
use crate::load::context::free_context::FreeContext;
use crate::load::context::function::{ContextFunction, FunctionPointer, TableModule};
use crate::load::context::identity::TypeRef;
use crate::load::context::info::ModuleSummary;
use crate::load::context::loading::{self, Library};
use crate::load::context::lookup;
use crate::load::context::native_libs::NativeLibrary;
use crate::load::context::native_search;
use crate::load::context::registry::ContextRegistry;
use crate::load::context::resolvers::{
    FoundModule, ModuleRequest, ModuleResolver, NativeResolver, Rank, ResolverFailure,
};
use crate::load::context::scope::{ContextScope, Scoped};
use crate::load::context_id::{ContextId, ContextKind};
use crate::load::error::context::ContextError;
use crate::load::tables::Table;
use crate::unload::state::ContextState;
use crate::unload::ticket::UnloadTicket;

use super::{Contexts, LoadContext, WeakLoadContext};

impl LoadContext {
    /// Returns a handle: of a Slim only if a handle already exists, of other contexts always.
    #[track_caller]
    pub(in crate::load::context) fn of(registry: &Arc<ContextRegistry>, line: &Arc<FreeContext>) -> Option<Self> {
        match line.handle() {
            Some(kept) => Some(Self { kept }),
            None if !line.kind.is_collectible() => {
                Some(Contexts::of(registry).handle(Arc::clone(line), Location::caller()))
            }
            None => None,
        }
    }

    /// Returns a weak handle for callbacks of this context, which would otherwise keep it permanently. See
    /// [`Contexts::downgrade`].
    #[must_use]
    pub fn downgrade(&self) -> WeakLoadContext {
        WeakLoadContext { registry: Arc::downgrade(&self.kept.registry), line: Arc::downgrade(self.line()) }
    }

    /// Returns all contexts of the host.
    #[must_use]
    pub fn contexts(&self) -> Contexts {
        Contexts::of(&self.kept.registry)
    }

    /// Returns the name of the context.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.line().name
    }

    /// Returns the kind of the context.
    #[must_use]
    pub fn kind(&self) -> ContextKind {
        self.line().kind
    }

    /// Returns the state of the context. Replaced generations are ignored.
    #[must_use]
    pub fn state(&self) -> ContextState {
        self.line().state()
    }

    /// Returns the id of the current generation; `None` once the context is unloading.
    #[must_use]
    pub fn id(&self) -> Option<ContextId> {
        self.line().current().map(|generation| generation.id)
    }

    /// Lists the modules of the current generation, dependencies first.
    #[must_use]
    pub fn modules(&self) -> Vec<ModuleSummary> {
        self.line().current().map(|generation| generation.info().modules).unwrap_or_default()
    }

    /// Loads a library file and its dependencies. Mains run on this thread, before the modules are visible in the context; the
    /// `Loaded` events follow. The file is copied first, so it may be overwritten immediately.
    ///
    /// Concurrent loads of one module share the result: one thread runs the main, and the others wait. If that load fails, the
    /// others try themselves. Loads of different modules do not wait for each other.
    ///
    /// # Errors
    /// If the path is not absolute, the file does not exist or is not a module for this host; if the module declares classes,
    /// has a missing dependency, has the name of another loaded build, or its main panics; if a permanent context would depend
    /// on a collectible one; if the context is unloading. The context is unchanged then. [`ContextError::LoadCycle`] if called
    /// inside its own load, or if threads would wait for each other's modules in a cycle.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{ContextError, Runtime};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let reports = runtime.contexts().create_slim("reports")?;
    /// let relative = reports.load_path("plugins/libreports.so");
    /// assert!(matches!(relative, Err(ContextError::PathNotAbsolute { .. })));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[track_caller]
    pub fn load_path(&self, path: impl AsRef<Path>) -> Result<ModuleSummary, ContextError> {
        let (_door, _open) = (host_verb(), self.line().open("loading a file")?);
        self.load(Library::read(path.as_ref(), &self.kept.registry.stage_dir)?)
    }

    /// Loads a library in memory and its dependencies. Errors report `name` as its path. `symbols` are separate debug symbols,
    /// if any.
    ///
    /// # Errors
    /// See [`LoadContext::load_path`].
    #[track_caller]
    pub fn load_bytes(&self, name: &str, image: &[u8], symbols: Option<&[u8]>) -> Result<ModuleSummary, ContextError> {
        let (_door, _open) = (host_verb(), self.line().open("loading from memory")?);
        let dir = &self.kept.registry.stage_dir;
        self.load(Library::from_bytes(name, image, symbols.map(<[u8]>::to_vec), dir)?)
    }

    /// Loads a library and its dependencies from a reader, from its current position to its end; see
    /// [`LoadContext::load_bytes`]. Reading the library or the symbols stops beyond
    /// [`Builder::largest_library`](crate::Builder::largest_library).
    ///
    /// # Errors
    /// See [`LoadContext::load_path`]; [`ContextError::Reading`] with the error of the reader, [`ContextError::ReadsTooLong`].
    #[track_caller]
    pub fn load_reader(
        &self,
        name: &str,
        image: impl Read,
        symbols: Option<&mut dyn Read>,
    ) -> Result<ModuleSummary, ContextError> {
        let (_door, _open) = (host_verb(), self.line().open("loading from a reader")?);
        self.load(Library::from_reader(name, image, symbols, &self.kept.registry.stage_dir)?)
    }

    /// Loads a module by name. Searches its own modules, its resolver, the Default and its handlers, in this order.
    ///
    /// # Errors
    /// See [`LoadContext::load_path`]; includes the ordered trace of the search if the module is not found.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{ContextError, Runtime, VersionReq};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let reports = runtime.contexts().create_slim("reports")?;
    /// if let Err(ContextError::NotFound { trace, .. }) = reports.load_name("maps", &VersionReq::STAR) {
    ///     for step in trace {
    ///         println!("{step}");
    ///     }
    /// }
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[track_caller]
    pub fn load_name(&self, name: &str, range: &VersionReq) -> Result<ModuleSummary, ContextError> {
        let _door = host_verb();
        let generation = self.line().open(format!("loading {name}"))?;
        let module = loading::load_name(&self.kept.registry, &generation, name, range)?;
        Ok(module.summary())
    }

    /// Replaces the current generation by a new one with this library and its dependencies, and unloads the current one.
    /// Returns the ticket of the old generation. Calls reach the old generation until the new main has returned; if the new one
    /// fails to start, the old one remains. Further modules of the old generation are unloaded with it. Before the first new
    /// main, old modules with a `suspend` release their exclusive resources, on this thread and while others may call them; if
    /// the new modules fail to start, the old ones acquire the resources again in `resume`.
    ///
    /// # Errors
    /// See [`LoadContext::load_path`]; also if a `suspend` fails. [`ContextError::NotCollectible`] for the Default and for
    /// pinned contexts.
    ///
    /// # Examples
    /// ```rust,no_run
    /// use std::time::Duration;
    ///
    /// use alcedo_runtime::{ContextError, LoadContext};
    ///
    /// fn update(reports: &LoadContext) -> Result<(), ContextError> {
    ///     let old = reports.replace("/srv/plugins/libreports.so")?;
    ///     if let Err(report) = old.wait(Duration::from_secs(5)) {
    ///         eprintln!("{report}");
    ///     }
    ///     Ok(())
    /// }
    /// ```
    #[track_caller]
    pub fn replace(&self, path: impl AsRef<Path>) -> Result<UnloadTicket, ContextError> {
        let _door = host_verb();
        self.replace_by(Library::read(path.as_ref(), &self.kept.registry.stage_dir)?)
    }

    /// Replaces the current generation by a library in memory, like [`LoadContext::replace`].
    ///
    /// # Errors
    /// See [`LoadContext::replace`].
    #[track_caller]
    pub fn replace_bytes(
        &self,
        name: &str,
        image: &[u8],
        symbols: Option<&[u8]>,
    ) -> Result<UnloadTicket, ContextError> {
        let (_door, dir) = (host_verb(), &self.kept.registry.stage_dir);
        self.replace_by(Library::from_bytes(name, image, symbols.map(<[u8]>::to_vec), dir)?)
    }

    /// Replaces the current generation by a library from a reader, see [`LoadContext::replace`] and
    /// [`LoadContext::load_reader`].
    ///
    /// # Errors
    /// See [`LoadContext::replace`] and [`LoadContext::load_reader`].
    #[track_caller]
    pub fn replace_reader(
        &self,
        name: &str,
        image: impl Read,
        symbols: Option<&mut dyn Read>,
    ) -> Result<UnloadTicket, ContextError> {
        let _door = host_verb();
        self.replace_by(Library::from_reader(name, image, symbols, &self.kept.registry.stage_dir)?)
    }

    /// Starts the unload without waiting. A second call returns the same ticket. The `Unloading` event and the callbacks run
    /// inside this call, as do exit hooks and destructors if no call is active.
    ///
    /// # Errors
    /// [`ContextError::NotCollectible`] for the Default and for pinned contexts.
    ///
    /// # Examples
    /// ```rust
    /// use std::time::Duration;
    ///
    /// use alcedo_runtime::{ContextState, Runtime};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let reports = runtime.contexts().create_slim("reports")?;
    /// let ticket = reports.begin_unload()?;
    /// match ticket.wait(Duration::from_secs(5)) {
    ///     Ok(end) => println!("{end}"),
    ///     Err(report) => eprintln!("{report}"),
    /// }
    /// assert_ne!(reports.state(), ContextState::Alive);
    /// // The name is free.
    /// runtime.contexts().create_slim("reports")?;
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn begin_unload(&self) -> Result<UnloadTicket, ContextError> {
        self.line().begin_unload(&self.kept.registry, "it was requested")
    }

    /// Lists the unloads of its generations that are in progress or blocked, oldest first.
    #[must_use]
    pub fn unloads(&self) -> Vec<UnloadTicket> {
        self.line().old_tickets()
    }

    /// Lists the calls and other leases of the current generation, longest first.
    #[must_use]
    pub fn held_by(&self) -> Vec<Blocker> {
        self.line().current().map(|generation| generation.held_by()).unwrap_or_default()
    }

    /// Keeps the current generation mapped while the lease is held, on any thread: for hosts that have borrowed data from it.
    /// Reports name `owner` as the reason.
    ///
    /// # Errors
    /// [`ContextError::ContextUnloading`] once the context is unloading.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{LeaseKind, Runtime};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let reports = runtime.contexts().create_slim("reports")?;
    /// let lease = reports.lease("a page is being sent")?;
    /// let held = reports.held_by();
    /// assert_eq!((held[0].kind, &*held[0].owner), (LeaseKind::Borrow, "a page is being sent"));
    /// drop(lease);
    /// assert!(reports.held_by().is_empty());
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[track_caller]
    pub fn lease(&self, owner: &str) -> Result<Lease, ContextError> {
        let action = "taking a lease";
        let lease = self.line().open(action)?.leases.take(LeaseKind::Borrow, owner);
        lease.map_err(|sealed| ContextError::sealed(sealed, action))
    }

    /// Parks unloading generations: their images stay mapped, and active calls continue. A load in progress in such a
    /// generation fails at its end, and its modules are unloaded.
    pub fn park(&self) {
        self.line().park();
    }

    /// Registers a callback for the start of an unload of each generation, smaller priorities first. The Default and pinned
    /// contexts unload when their runtime ends. A panic of the callback is noted on the ticket and stops nothing.
    ///
    /// The callback remains registered until [`Registration::remove`] or until the context has ended. It should own no handle
    /// to the context, see [`LoadContext::downgrade`]: the event provides access to it.
    ///
    /// # Examples
    /// ```rust
    /// use std::sync::mpsc::channel;
    ///
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let reports = runtime.contexts().create_slim("reports")?;
    /// let (sender, ended) = channel();
    /// reports.on_unloading(0, move |event| drop(sender.send(event.id)));
    /// let id = reports.id();
    /// reports.begin_unload()?;
    /// assert_eq!(ended.try_recv().ok(), id);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
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

    /// Returns a function by type and method, with its signature such as `i32, String -> bool`. The function belongs to a
    /// module of this context, to a dependency in another context, or to the Default; a call keeps the context of the function
    /// loaded. Type names and module lookup are those of [`LoadContext::resolve_type`]; functions without a type (`ex`) belong
    /// to the type `""`.
    ///
    /// # Errors
    /// If the function is missing, ambiguous, or has another signature, if the named module is not found, or if the context is
    /// unloading; if the signature contains types whose layout the Master defines: structs, containers, delegates, strings
    /// other than `String`, and references other than `Object`.
    pub fn function(&self, type_path: &str, method: &str, signature: &str) -> Result<ContextFunction, ContextError> {
        ContextFunction::new(&self.kept.registry, self.line(), None, (type_path, method), signature)
    }

    /// Returns the address of a function with a lease that keeps it valid.
    ///
    /// # Errors
    /// See [`LoadContext::function`].
    #[track_caller]
    pub fn get_function_pointer(
        &self,
        type_path: &str,
        method: &str,
        signature: &str,
    ) -> Result<FunctionPointer, ContextError> {
        self.function(type_path, method, signature)?.pointer()
    }

    /// Returns the module of that name in the current generation, which must implement this table. Returns the errors of
    /// [`TableModule::new`].
    pub(crate) fn table_module(&self, module: &str, table: &Table) -> Result<TableModule, ContextError> {
        TableModule::new(&self.kept.registry, self.line(), module, table)
    }

    /// Resolves a type of the current generation: `Type`, `Package.Type` or `/Script/Package.Type`, optionally after the name
    /// of its module, as `module::Type` or `module:Type`.
    ///
    /// Without a module name, searches the modules of the context, their dependencies in other contexts, and the Default. A
    /// named module is searched as in [`LoadContext::load_name`]: resolvers and handlers are called for a missing module, and a
    /// found module is loaded.
    ///
    /// # Errors
    /// If the type is missing or ambiguous, if the named module is not found, or if the context is unloading.
    pub fn resolve_type(&self, path: &str) -> Result<TypeRef, ContextError> {
        let generation = self.line().open(format!("looking up the type {path}"))?;
        lookup::type_of(&generation, &self.kept.registry, path)
    }

    /// Sets the canary process for new modules of this context, from the next load on. [`Canary::Off`] saves some milliseconds
    /// per load of trusted libraries. Default: [`Builder::canary`](crate::Builder::canary).
    pub fn set_canary(&self, canary: Canary) {
        self.line().resolvers.set_canary(canary);
    }

    /// Sets the resolver for missing modules, called before the Default is searched, on any thread.
    ///
    /// The resolver remains registered until [`Registration::remove`], until another one replaces it, or until the context has
    /// ended. Resolvers and handlers should own no handle to the context, see [`LoadContext::downgrade`]: the request provides
    /// access to the requesting context.
    ///
    /// # Examples
    /// ```rust
    /// use std::path::PathBuf;
    ///
    /// use alcedo_runtime::{FoundModule, Runtime, VersionReq};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let reports = runtime.contexts().create_slim("reports")?;
    /// let folder = PathBuf::from("/srv/plugins");
    /// reports.set_resolver(move |request| {
    ///     let file = folder.join(format!("lib{}.so", request.name));
    ///     Ok(file.exists().then_some(FoundModule::File(file)))
    /// });
    /// if let Err(error) = reports.load_name("maps", &VersionReq::STAR) {
    ///     println!("{error}");
    /// }
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[track_caller]
    pub fn set_resolver(
        &self,
        resolver: impl Fn(&ModuleRequest) -> Result<Option<FoundModule>, ResolverFailure> + Send + Sync + 'static,
    ) -> Registration {
        let site = Site::new("resolver", &resolver);
        let code: Arc<ModuleResolver> = Arc::new(resolver);
        self.line().resolvers.add(Rank::Resolver, Registered { code, site });
        self.resolving(site)
    }

    /// Adds a handler for modules that neither the resolver nor the Default provides. Handlers are called in the order of
    /// registration.
    #[track_caller]
    pub fn on_resolving(
        &self,
        handler: impl Fn(&ModuleRequest) -> Result<Option<FoundModule>, ResolverFailure> + Send + Sync + 'static,
    ) -> Registration {
        let site = Site::new("handler for modules", &handler);
        let code: Arc<ModuleResolver> = Arc::new(handler);
        self.line().resolvers.add(Rank::Handler, Registered { code, site });
        self.resolving(site)
    }

    /// Finds a native library. Searches the open libraries of the context, the resolver of the module, the resolver of the
    /// context, the folders of its modules and the system, and the handlers, in this order. The library remains open with the
    /// context.
    ///
    /// # Errors
    /// If the library is not found, with the ordered trace; if a resolver fails or returns a relative path.
    #[track_caller]
    pub fn native_library(&self, name: &str, for_module: Option<&str>) -> Result<NativeLibrary, ContextError> {
        let _door = host_verb();
        let generation = self.line().open(format!("looking up the native library {name}"))?;
        native_search::find(&generation, name, for_module)
    }

    /// Sets the resolver for the native libraries of one module, called before all others.
    #[track_caller]
    pub fn set_native_resolver_of(
        &self,
        module: &str,
        resolver: impl Fn(&str) -> Result<Option<PathBuf>, ResolverFailure> + Send + Sync + 'static,
    ) -> Registration {
        let site = Site::new("resolver of native libraries", &resolver);
        let code: Arc<NativeResolver> = Arc::new(resolver);
        self.line().resolvers.add_native(Rank::OfModule(module.to_owned()), Registered { code, site });
        self.resolving(site)
    }

    /// Sets the resolver for native libraries, called before the folders and the system are searched.
    #[track_caller]
    pub fn set_native_resolver(
        &self,
        resolver: impl Fn(&str) -> Result<Option<PathBuf>, ResolverFailure> + Send + Sync + 'static,
    ) -> Registration {
        let site = Site::new("resolver of native libraries", &resolver);
        let code: Arc<NativeResolver> = Arc::new(resolver);
        self.line().resolvers.add_native(Rank::Resolver, Registered { code, site });
        self.resolving(site)
    }

    /// Adds a handler for native libraries, called after all others, in the order of registration.
    #[track_caller]
    pub fn on_resolving_native(
        &self,
        handler: impl Fn(&str) -> Result<Option<PathBuf>, ResolverFailure> + Send + Sync + 'static,
    ) -> Registration {
        let site = Site::new("handler for native libraries", &handler);
        let code: Arc<NativeResolver> = Arc::new(handler);
        self.line().resolvers.add_native(Rank::Handler, Registered { code, site });
        self.resolving(site)
    }

    /// Enters the scope of the context on this thread until the guard is dropped.
    ///
    /// # Errors
    /// If the context is unloading.
    #[track_caller]
    pub fn enter(&self) -> Result<ContextScope, ContextError> {
        ContextScope::enter(&self.line().open("entering its scope")?)
    }

    /// Wraps a future that enters the scope of the context whenever it is polled, on any thread.
    ///
    /// # Errors
    /// If the context is unloading.
    #[track_caller]
    pub fn scope<F: Future>(&self, future: F) -> Result<Scoped<F>, ContextError> {
        Scoped::new(self.line().open("entering its scope")?, future)
    }

    /// Returns the registration of a resolver or handler.
    fn resolving(&self, site: Site) -> Registration {
        let line = Arc::downgrade(self.line());
        Registration::new(site, move || line.upgrade().iter().for_each(|line| line.resolvers.remove(site)))
    }

    fn load(&self, library: Library) -> Result<ModuleSummary, ContextError> {
        let generation = self.line().open(format!("loading {}", library.info.name))?;
        let module = loading::load(&self.kept.registry, &generation, library, None)?;
        Ok(module.summary())
    }

    fn replace_by(&self, library: Library) -> Result<UnloadTicket, ContextError> {
        loading::replace(&self.kept.registry, self.line(), library)
    }

    pub(super) fn line(&self) -> &Arc<FreeContext> {
        &self.kept.line
    }
}
