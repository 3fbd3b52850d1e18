//! Methods of [`LoadContext`]: the state of one context, and its loads and unloads.

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
use crate::load::context::identity::TypeRef;
use crate::load::context::info::ModuleSummary;
use crate::load::context::loading::{self, Library};
use crate::load::context::lookup;
use crate::load::context::native_libs::NativeLibrary;
use crate::load::context::native_search;
use crate::load::context::registry::ContextRegistry;
use crate::load::context::resolvers::{self, FoundModule, ModuleRequest, Rank, Ranked, ResolverFailure};
use crate::load::context::scope::{ContextScope, Scoped};
use crate::load::context_id::{ContextId, ContextKind};
use crate::load::error::context::ContextError;
use crate::load::tables::Table;
use crate::unload::state::ContextState;
use crate::unload::ticket::UnloadTicket;

use super::{Contexts, LoadContext, WeakLoadContext};

impl LoadContext {
    /// Returns a handle to the context. Returns `None` for a Slim whose last handle was dropped.
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

    /// Returns a weak handle for callbacks of this context. A callback that owns a strong handle keeps the context alive until the callback
    /// is dropped. See [`Contexts::downgrade`].
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

    /// Returns the state of the context. Replaced generations do not affect the state.
    #[must_use]
    pub fn state(&self) -> ContextState {
        self.line().state()
    }

    /// Returns the id of the current generation. Returns `None` once the context is unloading.
    #[must_use]
    pub fn id(&self) -> Option<ContextId> {
        self.line().current().map(|generation| generation.id)
    }

    /// Lists the modules of the current generation, dependencies first.
    #[must_use]
    pub fn modules(&self) -> Vec<ModuleSummary> {
        self.line().current().map(|generation| generation.info().modules).unwrap_or_default()
    }

    /// Loads a library file and its dependencies. Runs the mains of the new modules on this thread. Then adds the modules to the context,
    /// and raises the `Loaded` events. The load uses a private copy of the file. The caller may overwrite the file after the call.
    ///
    /// If several threads load one module concurrently, one thread runs the main, and the remaining threads wait for the result. If that
    /// load fails, each waiting thread tries to load the module. Loads of different modules run in parallel.
    ///
    /// # Errors
    /// Fails if the path is not absolute, if the file does not exist, or if the file is not a module for this host. Fails if the module
    /// declares classes, if a dependency is missing, if a different build of the module is loaded, or if a main panics. Fails if a
    /// permanent context would depend on a collectible context, or if the context is unloading. Returns [`ContextError::LoadCycle`] if a
    /// load would wait for itself, directly or through further threads. After an error, the context has no new modules of its own, but
    /// still borrows modules of other contexts that its resolver has returned during the load.
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

    /// Loads a library from memory, with its dependencies. Errors report `name` as the path of the library. `symbols` is the content of the
    /// separate debug symbol file, if any.
    ///
    /// # Errors
    /// Returns the errors of [`LoadContext::load_path`].
    #[track_caller]
    pub fn load_bytes(&self, name: &str, image: &[u8], symbols: Option<&[u8]>) -> Result<ModuleSummary, ContextError> {
        let (_door, _open) = (host_verb(), self.line().open("loading from memory")?);
        let dir = &self.kept.registry.stage_dir;
        self.load(Library::from_bytes(name, image, symbols.map(<[u8]>::to_vec), dir)?)
    }

    /// Loads a library from a reader, with its dependencies; see [`LoadContext::load_bytes`]. Reads all bytes from the current position of
    /// the reader to the end. Reading fails if the library or the symbols exceed
    /// [`Builder::largest_library`](crate::Builder::largest_library).
    ///
    /// # Errors
    /// Returns the errors of [`LoadContext::load_path`]. Returns [`ContextError::Reading`] with the error of the reader, and
    /// [`ContextError::ReadsTooLong`] if the limit is exceeded.
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

    /// Loads a module by name. Searches the context's own modules, the resolver of the context, the Default, and the handlers of the
    /// context, in this order.
    ///
    /// # Errors
    /// Returns the errors of [`LoadContext::load_path`]. If the module is not found, the error lists all steps of the search.
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

    /// Checks if a module of the current generation was loaded from `path`, and the file has changed since the load.
    pub(crate) fn has_changed_file(&self, path: &Path) -> bool {
        let demands = self.kept.registry.stage_dir.demands();
        let modules = self.line().current().map(|generation| generation.modules()).unwrap_or_default();
        let mut of_path = modules.iter().filter(|module| module.info().origin.as_deref() == Some(path));
        of_path.any(|module| module.info().has_changed_file(demands))
    }

    /// Replaces the current generation by a new generation with this library and its dependencies. Then starts the unload of the old
    /// generation, and returns the ticket of the unload. Calls use the new generation as soon as all mains of the new generation have
    /// returned. If the new generation fails to start, the old generation remains current. After a successful start, all modules of the old
    /// generation are unloaded. Before the first new main runs, this thread calls `suspend` of each old module that declares `suspend`. In
    /// `suspend`, a module releases its exclusive resources. During `suspend`, concurrent threads may call the modules. If the new modules
    /// fail to start, the old modules acquire the resources again in `resume`.
    ///
    /// # Errors
    /// Returns the errors of [`LoadContext::load_path`]. Fails if a `suspend` fails. Returns [`ContextError::NotCollectible`]
    /// for the Default and for pinned contexts.
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
        self.replace_by(|dir| Library::read(path.as_ref(), dir))
    }

    /// Replaces the current generation by a new generation with a library from memory; see [`LoadContext::replace`].
    ///
    /// # Errors
    /// Returns the errors of [`LoadContext::replace`].
    #[track_caller]
    pub fn replace_bytes(
        &self,
        name: &str,
        image: &[u8],
        symbols: Option<&[u8]>,
    ) -> Result<UnloadTicket, ContextError> {
        let _door = host_verb();
        self.replace_by(|dir| Library::from_bytes(name, image, symbols.map(<[u8]>::to_vec), dir))
    }

    /// Replaces the current generation by a new generation with a library from a reader. See [`LoadContext::replace`] and
    /// [`LoadContext::load_reader`].
    ///
    /// # Errors
    /// Returns the errors of [`LoadContext::replace`] and [`LoadContext::load_reader`].
    #[track_caller]
    pub fn replace_reader(
        &self,
        name: &str,
        image: impl Read,
        symbols: Option<&mut dyn Read>,
    ) -> Result<UnloadTicket, ContextError> {
        let _door = host_verb();
        self.replace_by(|dir| Library::from_reader(name, image, symbols, dir))
    }

    /// Starts the unload of the context without waiting for its completion. A second call returns the same ticket. This call runs the
    /// listeners and callbacks for the unload. If no call into the context is active, this call also runs exit hooks and destructors.
    ///
    /// # Errors
    /// Returns [`ContextError::NotCollectible`] for the Default and for pinned contexts.
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

    /// Lists the unloads of this context's generations, oldest first. Omits the unloads of dead generations.
    #[must_use]
    pub fn unloads(&self) -> Vec<UnloadTicket> {
        self.line().generations().iter().filter_map(|generation| generation.ticket().cloned()).collect()
    }

    /// Lists the active calls and the leases of the current generation. The oldest call or lease is listed first.
    #[must_use]
    pub fn held_by(&self) -> Vec<Blocker> {
        self.line().current().map(|generation| generation.held_by()).unwrap_or_default()
    }

    /// Returns a lease that keeps the current generation mapped. Intended for hosts that use addresses in the images of the generation. Any
    /// thread may hold the lease. Blocker reports name `owner` as the holder of the lease.
    ///
    /// # Errors
    /// Returns [`ContextError::ContextUnloading`] once the context is unloading.
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

    /// Parks all unloading generations of the context. The images of these generations stay mapped, and active calls continue. If a load
    /// into a parked generation is in progress, the load fails in its last step, and its modules are unloaded. Also parks the modules of
    /// failed loads into the context.
    pub fn park(&self) {
        self.unloads().iter().for_each(UnloadTicket::park);
        self.kept.registry.park_failed_loads(self.line().index);
    }

    /// Registers a callback for the start of the unload of a generation. Callbacks with smaller priorities are called first. The Default
    /// and pinned contexts call their callbacks when their runtime shuts down. A panic in the callback is recorded in the unload ticket and
    /// does not stop the unload.
    ///
    /// The callback remains registered until [`Registration::remove`] or until the unload of the context is over. The callback must not own
    /// a handle to the context; see [`LoadContext::downgrade`]. [`ContextEvent::load_context`] returns a handle for use in the callback.
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
        Registration::new(site, Box::new(move || line.upgrade().iter().for_each(|line| line.unloading.remove(site))))
    }

    /// Returns a function by type and method, with its signature such as `i32, String -> bool`. Searches the modules of this context, their
    /// dependencies outside of this context, and the Default. An active call keeps the owning context of the function loaded. The forms of
    /// type names and the search order are the same as for [`LoadContext::resolve_type`]. Functions without a type (`ex`) belong to the
    /// type `""`.
    ///
    /// # Errors
    /// Fails if the function is missing or ambiguous, if its signature differs, if the named module is not found, or if the context is
    /// unloading. Fails if the signature contains types whose layout the Master defines. These types are structs, containers, delegates,
    /// all strings except `String`, and all references except `Object`.
    pub fn function(&self, type_path: &str, method: &str, signature: &str) -> Result<ContextFunction, ContextError> {
        ContextFunction::new(&self.kept.registry, self.line(), None, (type_path, method), signature)
    }

    /// Returns the address of a function. The result contains a lease that keeps the address valid.
    ///
    /// # Errors
    /// Returns the errors of [`LoadContext::function`].
    #[track_caller]
    pub fn get_function_pointer(
        &self,
        type_path: &str,
        method: &str,
        signature: &str,
    ) -> Result<FunctionPointer, ContextError> {
        self.function(type_path, method, signature)?.pointer()
    }

    /// Returns the module with this name in the current generation, if the module implements the table. Returns the errors of
    /// [`TableModule::new`].
    pub(crate) fn table_module(&self, module: &str, table: &Table) -> Result<TableModule, ContextError> {
        TableModule::new(&self.kept.registry, self.line(), module, table)
    }

    /// Resolves a type of the current generation. The name is `Type`, `Package.Type` or `/Script/Package.Type`. The name of a
    /// module may precede the type, as in `module::Type` or `module:Type`.
    ///
    /// Without a module name, searches the modules of the context, their dependencies outside of the context, and the Default. A named
    /// module is searched as in [`LoadContext::load_name`]. If the module is not loaded, calls the resolvers and handlers, and loads the
    /// module that they return.
    ///
    /// # Errors
    /// Fails if the type is missing or ambiguous, if the named module is not found, or if the context is unloading.
    pub fn resolve_type(&self, path: &str) -> Result<TypeRef, ContextError> {
        let generation = self.line().open(format!("looking up the type {path}"))?;
        lookup::type_of(&generation, &self.kept.registry, path)
    }

    /// Sets the canary for later loads into this context. A canary is a child process that loads new modules before the host does.
    /// [`Canary::Off`] saves some milliseconds per load. Intended for trusted libraries. Default:
    /// [`Builder::canary`](crate::Builder::canary).
    pub fn set_canary(&self, canary: Canary) {
        self.line().resolvers.set_canary(canary);
    }

    /// Sets the resolver for missing modules. The resolver is called on any thread, before the Default is searched.
    ///
    /// The resolver remains registered until [`Registration::remove`], until a new resolver replaces the resolver, or until the context has
    /// ended. A resolver or handler must not own a handle to the context; see [`LoadContext::downgrade`]. [`ModuleRequest::load_context`]
    /// returns a handle to the requesting context.
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
        let all = &self.line().resolvers.modules;
        self.resolving(all, Rank::Resolver, Site::new("resolver", &resolver), Arc::new(resolver))
    }

    /// Adds a handler for missing modules. A handler is called if the resolver and the Default do not provide the module. Handlers are
    /// called in the order of registration.
    #[track_caller]
    pub fn on_resolving(
        &self,
        handler: impl Fn(&ModuleRequest) -> Result<Option<FoundModule>, ResolverFailure> + Send + Sync + 'static,
    ) -> Registration {
        let all = &self.line().resolvers.modules;
        self.resolving(all, Rank::Handler, Site::new("handler for modules", &handler), Arc::new(handler))
    }

    /// Finds a native library. Searches the open libraries of the context. Then calls the resolver of the module `for_module`, if any, and
    /// the resolver of the context. Then searches the folders of the context's modules and the system. Finally calls the handlers. The
    /// context keeps the library open.
    ///
    /// # Errors
    /// Fails if the library is not found. The error lists all steps of the search. Fails if a resolver fails or returns a relative path.
    #[track_caller]
    pub fn native_library(&self, name: &str, for_module: Option<&str>) -> Result<NativeLibrary, ContextError> {
        let _door = host_verb();
        let generation = self.line().open(format!("looking up the native library {name}"))?;
        native_search::find(&generation, name, for_module)
    }

    /// Sets the resolver for the native libraries of one module. This resolver is called before the resolver of the context.
    #[track_caller]
    pub fn set_native_resolver_of(
        &self,
        module: &str,
        resolver: impl Fn(&str) -> Result<Option<PathBuf>, ResolverFailure> + Send + Sync + 'static,
    ) -> Registration {
        let (all, rank) = (&self.line().resolvers.natives, Rank::OfModule(module.to_owned()));
        self.resolving(all, rank, Site::new("resolver of native libraries", &resolver), Arc::new(resolver))
    }

    /// Sets the resolver for native libraries. The resolver is called before the folders of the modules and the system are searched.
    #[track_caller]
    pub fn set_native_resolver(
        &self,
        resolver: impl Fn(&str) -> Result<Option<PathBuf>, ResolverFailure> + Send + Sync + 'static,
    ) -> Registration {
        let all = &self.line().resolvers.natives;
        self.resolving(all, Rank::Resolver, Site::new("resolver of native libraries", &resolver), Arc::new(resolver))
    }

    /// Adds a handler for native libraries. Handlers are called last, in the order of registration.
    #[track_caller]
    pub fn on_resolving_native(
        &self,
        handler: impl Fn(&str) -> Result<Option<PathBuf>, ResolverFailure> + Send + Sync + 'static,
    ) -> Registration {
        let all = &self.line().resolvers.natives;
        self.resolving(all, Rank::Handler, Site::new("handler for native libraries", &handler), Arc::new(handler))
    }

    /// Enters the scope of the context on this thread until the guard is dropped.
    ///
    /// # Errors
    /// Fails if the context is unloading.
    #[track_caller]
    pub fn enter(&self) -> Result<ContextScope, ContextError> {
        ContextScope::enter(&self.line().open("entering its scope")?)
    }

    /// Wraps a future so that each poll enters the scope of the context, on any thread.
    ///
    /// # Errors
    /// Fails if the context is unloading.
    #[track_caller]
    pub fn scope<F: Future>(&self, future: F) -> Result<Scoped<F>, ContextError> {
        Scoped::new(self.line().open("entering its scope")?, future)
    }

    /// Registers a resolver or handler in `all`, a list of this context.
    fn resolving<C: ?Sized>(&self, all: &Ranked<C>, rank: Rank, site: Site, code: Arc<C>) -> Registration {
        resolvers::add(all, rank, Registered { code, site });
        let line = Arc::downgrade(self.line());
        let remove = move || {
            if let Some(line) = line.upgrade() {
                resolvers::remove(&line.resolvers.modules, site);
                resolvers::remove(&line.resolvers.natives, site);
            }
        };
        Registration::new(site, Box::new(remove))
    }

    fn load(&self, library: Library) -> Result<ModuleSummary, ContextError> {
        let generation = self.line().open(format!("loading {}", library.info.name))?;
        let module = loading::load(&self.kept.registry, &generation, library, None)?;
        Ok(module.summary())
    }

    fn replace_by(
        &self,
        read: impl FnOnce(&StageDir) -> Result<Library, ContextError>,
    ) -> Result<UnloadTicket, ContextError> {
        loading::replace(&self.kept.registry, self.line(), read)
    }

    pub(super) fn line(&self) -> &Arc<FreeContext> {
        &self.kept.line
    }
}
