//! Operations on all contexts of a runtime.

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
use crate::load::context::identity::{TypeRef, owner_of};
use crate::load::context::info::ContextInfo;
use crate::load::context::lookup;
use crate::load::context::native_libs::RetainedNative;
use crate::load::context::registry::ContextRegistry;
use crate::load::context::scope::{self, ContextScope};
use crate::load::context_id::{ContextId, ContextKind, title};
use crate::load::error::context::ContextError;
use crate::load::module::info::ManifestInfo;
use crate::unload::report::BlockerReport;
use crate::unload::ticket::UnloadTicket;

use super::{Contexts, Kept, LoadContext, WeakContexts};

impl Contexts {
    pub(crate) fn of(registry: &Arc<ContextRegistry>) -> Self {
        Self { registry: Arc::clone(registry) }
    }

    /// Returns a weak handle for callbacks. A callback that owns a `Contexts` or a [`LoadContext`] creates a reference cycle,
    /// which keeps the contexts and the folder of private copies until the callback is dropped: callbacks of a Slim when it has
    /// ended, all callbacks when the runtime has ended. The log then warns about callbacks that owned a handle, with the
    /// location of their registration. A callback registered after the end of the runtime is dropped with its Slim, or never.
    #[must_use]
    pub fn downgrade(&self) -> WeakContexts {
        WeakContexts { registry: Arc::downgrade(&self.registry) }
    }

    /// Creates a Slim: a named context without classes, which any thread may load into, call and unload.
    ///
    /// # Errors
    /// If the name is invalid, used by a living Slim, or the name of another kind of context.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{ContextError, Runtime};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let reports = runtime.contexts().create_slim("reports")?;
    /// // The name is in use.
    /// let second = runtime.contexts().create_slim("reports");
    /// assert!(matches!(second, Err(ContextError::Name { .. })));
    /// # drop(reports);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[track_caller]
    pub fn create_slim(&self, name: &str) -> Result<LoadContext, ContextError> {
        let line = self.registry.create(ContextKind::Slim, name)?;
        Ok(self.handle(line, Location::caller()))
    }

    /// Creates a pinned context: named like a Slim and with its own modules, but never unloaded. It remains without a handle
    /// until the runtime ends, and its modules cannot depend on collectible contexts.
    ///
    /// # Errors
    /// If the name is invalid, used by a living Slim or a pinned context, or the name of another kind of context.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{ContextKind, Runtime};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let codecs = runtime.contexts().create_pinned("codecs")?;
    /// assert_eq!(codecs.kind(), ContextKind::Pinned);
    /// // The context needs no handle.
    /// drop(codecs);
    /// assert!(runtime.contexts().pinned("codecs").is_some());
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[track_caller]
    pub fn create_pinned(&self, name: &str) -> Result<LoadContext, ContextError> {
        let line = self.registry.create(ContextKind::Pinned, name)?;
        Ok(self.handle(line, Location::caller()))
    }

    /// Returns the pinned context of that name.
    #[must_use]
    #[track_caller]
    pub fn pinned(&self, name: &str) -> Option<LoadContext> {
        let line = self.registry.named(name).filter(|line| line.kind == ContextKind::Pinned)?;
        Some(self.handle(line, Location::caller()))
    }

    /// Returns the living Slim of that name. The handle keeps the Slim alive like the original one.
    #[must_use]
    pub fn slim(&self, name: &str) -> Option<LoadContext> {
        let line = self.registry.named(name).filter(|line| line.kind == ContextKind::Slim)?;
        line.handle().map(|kept| LoadContext { kept })
    }

    /// Returns the Default context, whose modules are shared by all contexts and never unloaded.
    #[must_use]
    #[track_caller]
    pub fn default_context(&self) -> LoadContext {
        self.handle(Arc::clone(self.registry.default_context()), Location::caller())
    }

    /// Lists every generation of every context that is not dead, including those of the Master. Parked generations remain
    /// listed.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let reports = runtime.contexts().create_slim("reports")?;
    /// for context in runtime.contexts().all() {
    ///     println!("{context}: {} modules", context.modules.len());
    /// }
    /// assert!(runtime.contexts().all().iter().any(|context| Some(context.id) == reports.id()));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn all(&self) -> Vec<ContextInfo> {
        self.registry.all()
    }

    /// Lists the unfinished and the parked unloads of all contexts, including the Master. Requires no handle to a context:
    /// Slims whose last handle was dropped are included.
    #[must_use]
    pub fn unloads(&self) -> Vec<UnloadTicket> {
        self.registry.unloads().into_iter().map(|(_, ticket)| ticket).collect()
    }

    /// Lists the unloads of contexts of this name, oldest first. Replaced generations of a Slim, and parked contexts whose name
    /// was used again, are included. The Master's name is `Master`.
    #[must_use]
    pub fn unloads_of(&self, name: &str) -> Vec<UnloadTicket> {
        let named: Vec<_> = self.all().into_iter().filter(|info| info.name == name).map(|info| info.id).collect();
        self.registry.unloads().into_iter().filter(|(id, _)| named.contains(id)).map(|(_, ticket)| ticket).collect()
    }

    /// Returns the unload of one generation, by its id from [`Contexts::all`]. `None` for a generation that is alive or dead.
    #[must_use]
    pub fn unload_of(&self, id: ContextId) -> Option<UnloadTicket> {
        self.registry.unloads().into_iter().find(|(other, _)| *other == id).map(|(_, ticket)| ticket)
    }

    /// Returns the current blockers of one generation, whether it is unloading or not: calls and other leases, and modules of
    /// other contexts that depend on it. `None` for a dead generation. For the living Master, use
    /// [`Unloads::leases`](crate::Unloads::leases) on its thread.
    #[must_use]
    pub fn report(&self, id: ContextId) -> Option<BlockerReport> {
        if let Some(ticket) = self.unload_of(id) {
            return Some(ticket.report());
        }
        let info = self.all().into_iter().find(|info| info.id == id)?;
        // Blockers of the Master are accessible on the game thread only.
        let blockers = self.registry.generation(id).map(|generation| generation.kept_by()).unwrap_or_default();
        Some(BlockerReport {
            subject: title(info.kind, &info.name),
            state: info.state,
            since: Duration::ZERO,
            blockers,
            parked: Vec::new(),
            problems: Vec::new(),
            jobs: Vec::new(),
        })
    }

    /// Parks one unloading generation of a Slim: its images stay mapped, and active calls continue. Its name becomes free. No
    /// effect on a parked generation.
    ///
    /// # Errors
    /// [`ContextError::NotUnloading`] for a generation that is alive or dead, so for the Default and pinned contexts, and for
    /// the Master, which [`Unloads::park`](crate::Unloads::park) parks.
    pub fn park(&self, id: ContextId) -> Result<(), ContextError> {
        let refuse = |reason: &str| {
            let context = self.registry.title_of(id);
            Err(ContextError::NotUnloading { context, id, reason: reason.to_owned() })
        };
        if id.index == ContextId::master(0).index {
            return refuse("only its game thread can, with `Unloads::park`");
        }
        match self.unload_of(id) {
            Some(ticket) => {
                ticket.park();
                Ok(())
            }
            None => match self.registry.generation(id) {
                Some(generation) if generation.kind.is_collectible() => refuse("it is alive: begin its unload first"),
                Some(_) => refuse("it is never unloaded"),
                None => refuse("nothing of it is left"),
            },
        }
    }

    /// Enables the `Unloading` event at process exit, by [`std::process::exit`] or by return from `main`, for listeners of
    /// Slims, pinned contexts and the Default ([`Contexts::on_event`], [`LoadContext::on_unloading`]). The event is raised once
    /// per generation, so unloaded generations raise no second one.
    ///
    /// Listeners are called by a handler of C's `atexit`, on the thread that ends the process. Handlers registered later run
    /// before it, earlier ones after it. Other threads continue to run, and thread-locals of this thread are gone: use
    /// [`std::thread::LocalKey::try_with`], and do not wait for a lock that the thread which calls `exit` may hold. A panic in
    /// a listener does not prevent the other listeners from being called. Nothing is unloaded, and no module code runs, exit
    /// hooks included.
    ///
    /// No event is raised if the process is killed, aborts, crashes, or calls `_exit` or `quick_exit`, nor for the Master,
    /// whose listeners belong to one thread. [`Runtime::shutdown`](crate::Runtime::shutdown) before `exit` calls all of them.
    ///
    /// # Errors
    /// [`ContextError::System`] if the platform has no such handlers, or registers no more.
    pub fn raise_at_exit(&self) -> Result<(), ContextError> {
        at_exit::enable(&self.registry)
    }

    /// Returns a function of a living Slim or a pinned context, by name, type and method, with its signature such as `i32,
    /// String -> bool`. See [`LoadContext::function`].
    ///
    /// # Errors
    /// If the context or the function does not exist, or the signature differs.
    pub fn function(
        &self,
        context: &str,
        type_path: &str,
        method: &str,
        signature: &str,
    ) -> Result<ContextFunction, ContextError> {
        let line = self.registry.named(context);
        let line = line.ok_or_else(|| ContextError::NoSuchContext { name: context.to_owned() })?;
        ContextFunction::new(&self.registry, &line, None, (type_path, method), signature)
    }

    /// Reads the manifest of a library file without running code of the library.
    ///
    /// # Errors
    /// If the path is not absolute, the file does not exist, or is not a module that this host could map.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let folder = tempfile::tempdir()?;
    /// let file = folder.path().join("libreports.so");
    /// std::fs::write(&file, "no library")?;
    /// match runtime.contexts().peek(&file) {
    ///     Ok(manifest) => println!("{} {}", manifest.name, manifest.version),
    ///     Err(error) => println!("not a module: {error}"),
    /// }
    /// # assert!(runtime.contexts().peek(&file).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn peek(&self, path: impl AsRef<Path>) -> Result<ManifestInfo, ContextError> {
        ManifestInfo::peek(path.as_ref())
    }

    /// Registers a listener for events of every load context, called on the thread that raises the event: for the Master the
    /// game thread, after the listeners of [`Builder::on_event`](crate::Builder::on_event). A panic in the listener affects
    /// neither other listeners nor the context.
    ///
    /// The listener remains registered until [`Registration::remove`], until its runtime ends, or as long as the contexts
    /// exist. It should own no handle to the contexts, see [`Contexts::downgrade`]: the event provides access to them.
    ///
    /// # Examples
    /// ```rust
    /// use std::sync::mpsc::channel;
    ///
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let (sender, names) = channel();
    /// let listening = runtime.contexts().on_event(move |event| drop(sender.send(event.name.clone())));
    /// let reports = runtime.contexts().create_slim("reports")?;
    /// reports.begin_unload()?;
    /// assert!(names.try_iter().any(|name| name == "reports"));
    /// listening.remove();
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[track_caller]
    pub fn on_event(&self, listener: impl Fn(&ContextEvent) + Send + Sync + 'static) -> Registration {
        let site = Site::new("listener for context events", &listener);
        let code: Arc<Listener> = Arc::new(listener);
        self.registry.listeners.add(0, Registered { code, site });
        let registry = self.registry.weak();
        Registration::new(site, move || registry.upgrade().iter().for_each(|registry| registry.listeners.remove(site)))
    }

    /// Returns the context whose scope this thread, or the task it polls, has entered.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{Contexts, Runtime};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let reports = runtime.contexts().create_slim("reports")?;
    /// let scope = reports.enter()?;
    /// assert_eq!(Contexts::current().map(|context| context.id), reports.id());
    /// drop(scope);
    /// assert!(Contexts::current().is_none());
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn current() -> Option<ContextInfo> {
        scope::here().map(|generation| generation.info())
    }

    /// Leaves every scope while the guard is held.
    pub fn enter_none() -> ContextScope {
        ContextScope::none()
    }

    /// Resolves a type in the context whose scope this thread has entered, else in the Default. Names and search order are
    /// those of [`LoadContext::resolve_type`].
    ///
    /// # Errors
    /// See [`LoadContext::resolve_type`].
    pub fn resolve_type(&self, path: &str) -> Result<TypeRef, ContextError> {
        lookup::type_of(&self.here(), &self.registry, path)
    }

    /// Returns a function of the context whose scope this thread has entered, else of the Default. The function remains bound
    /// to that context after the scope is left. On a thread in a scope of that context, calls use the entered generation, also
    /// after a replacement or the start of an unload; on any other thread the current one.
    ///
    /// # Errors
    /// See [`LoadContext::function`].
    pub fn function_here(
        &self,
        type_path: &str,
        method: &str,
        signature: &str,
    ) -> Result<ContextFunction, ContextError> {
        let here = self.here();
        let line = self.registry.line(here.id).unwrap_or_else(|| Arc::clone(self.registry.default_context()));
        ContextFunction::new(&self.registry, &line, Some(&here), (type_path, method), signature)
    }

    /// Resolves a type in a generation. A generation of the Master is searched in its own modules and in the Default. Names and
    /// search order are those of [`LoadContext::resolve_type`].
    ///
    /// # Errors
    /// If the generation does not exist; see [`LoadContext::resolve_type`].
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

    /// Returns the generation that owns an address of code or data: the Default for the host's own addresses; `None` for
    /// addresses of the system, of a heap, or of no generation.
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

    /// Lists native libraries held by contexts, and those that dead contexts have left open.
    #[must_use]
    pub fn natives(&self) -> Vec<RetainedNative> {
        self.registry.natives()
    }

    /// Sets the time after which unloading Slims are parked: their images stay mapped. `None`, the default, waits without
    /// limit.
    pub fn park_after(&self, after: Option<Duration>) {
        self.registry.unloader.set_park_after(after);
    }

    /// Returns the generation whose scope this thread has entered, if it belongs to these contexts; else that of the Default.
    fn here(&self) -> Arc<FreeGeneration> {
        let is_ours = |generation: &Arc<FreeGeneration>| {
            self.registry.generation(generation.id).is_some_and(|known| Arc::ptr_eq(&known, generation))
        };
        scope::here().filter(is_ours).unwrap_or_else(|| self.registry.default_generation())
    }

    pub(super) fn handle(&self, line: Arc<FreeContext>, made_at: &'static Location<'static>) -> LoadContext {
        let kept = Arc::new(Kept { registry: Arc::clone(&self.registry), line, made_at });
        let weak = Arc::downgrade(&kept);
        kept.line.set_handle(weak);
        LoadContext { kept }
    }
}
