//! Operations on all contexts of a runtime.

use std::panic::Location;
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
use crate::unload::report::BlockerReport;
use crate::unload::ticket::UnloadTicket;

use super::{Contexts, Kept, LoadContext, WeakContexts};

impl Contexts {
    pub(crate) fn of(registry: &Arc<ContextRegistry>) -> Self {
        Self { registry: Arc::clone(registry) }
    }

    /// Returns a weak handle for callbacks. A callback that owns a `Contexts` or a [`LoadContext`] creates a reference cycle. The cycle
    /// keeps the contexts and the folder of private copies until the callback is dropped. The callbacks of a Slim are dropped when its
    /// unload is over. All callbacks are dropped when the runtime shuts down. If a dropped callback owned a handle, a warning with the
    /// location of the registration is logged. Callbacks that are registered after the shutdown are dropped only with their Slim.
    #[must_use]
    pub fn downgrade(&self) -> WeakContexts {
        WeakContexts { registry: Arc::downgrade(&self.registry) }
    }

    /// Creates a Slim: a named context without classes. Any thread may load modules into the Slim, call the modules, and unload the Slim.
    ///
    /// # Errors
    /// Fails if the name is invalid, if an existing context uses the name, or if the name is reserved for a different kind of context.
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

    /// Creates a pinned context. A pinned context is a named context that is never unloaded. The context exists until the runtime shuts
    /// down, even without a handle. Modules of a pinned context cannot depend on collectible contexts.
    ///
    /// # Errors
    /// Fails if the name is invalid, if an existing context uses the name, or if the name is reserved for a different kind of context.
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

    /// Returns the pinned context with this name.
    #[must_use]
    #[track_caller]
    pub fn pinned(&self, name: &str) -> Option<LoadContext> {
        let line = self.registry.named(name).filter(|line| line.kind == ContextKind::Pinned)?;
        Some(self.handle(line, Location::caller()))
    }

    /// Returns the living Slim with this name. The handle keeps the Slim alive.
    #[must_use]
    pub fn slim(&self, name: &str) -> Option<LoadContext> {
        let line = self.registry.named(name).filter(|line| line.kind == ContextKind::Slim)?;
        line.handle().map(|kept| LoadContext { kept })
    }

    /// Returns the Default context. Its modules are shared by all contexts and never unloaded.
    #[must_use]
    #[track_caller]
    pub fn default_context(&self) -> LoadContext {
        self.handle(Arc::clone(self.registry.default_context()), Location::caller())
    }

    /// Lists the generations of all contexts, including the Master. Includes parked generations. Omits dead generations.
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

    /// Lists the unfinished and the parked unloads of all contexts, including the Master. Also includes Slims without handles, and the
    /// modules of failed loads into Slims, pinned contexts and the Default.
    #[must_use]
    pub fn unloads(&self) -> Vec<UnloadTicket> {
        let failed = self.registry.failed_loads().clone();
        self.registry.unloads().into_iter().chain(failed).map(|(_, ticket)| ticket).collect()
    }

    /// Lists the unloads of contexts with this name, oldest first. Includes replaced generations of a Slim. Also includes parked contexts,
    /// even if a new context uses the name. The name of the Master is `Master`.
    #[must_use]
    pub fn unloads_of(&self, name: &str) -> Vec<UnloadTicket> {
        let named: Vec<_> = self.all().into_iter().filter(|info| info.name == name).map(|info| info.id).collect();
        self.registry.unloads().into_iter().filter(|(id, _)| named.contains(id)).map(|(_, ticket)| ticket).collect()
    }

    /// Returns the ticket of the unload of one generation. [`Contexts::all`] provides the id of the generation. Returns `None`
    /// before the unload has begun, and after the generation is dead. A parked generation has a ticket. A generation of the Master has a
    /// ticket once its objects are destroyed.
    #[must_use]
    pub fn unload_of(&self, id: ContextId) -> Option<UnloadTicket> {
        self.registry.unloads().into_iter().find(|(other, _)| *other == id).map(|(_, ticket)| ticket)
    }

    /// Returns the current blockers of one generation, even before its unload. Blockers are calls, leases, and dependent modules in
    /// different contexts. Returns `None` for a dead generation. For the living Master, call [`Unloads::leases`](crate::Unloads::leases) on
    /// the game thread.
    #[must_use]
    pub fn report(&self, id: ContextId) -> Option<BlockerReport> {
        if let Some(ticket) = self.unload_of(id) {
            return Some(ticket.report());
        }
        let info = self.all().into_iter().find(|info| info.id == id)?;
        // Only the game thread can access the blockers of the living Master.
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

    /// Parks one unloading generation of a Slim. Its images stay mapped, and active calls continue. The name of the Slim
    /// becomes free. Does nothing if the generation is already parked. Also parks the modules of failed loads into the context.
    ///
    /// # Errors
    /// Returns [`ContextError::NotUnloading`] if neither the generation nor a module of a failed load is unloading. The generations of the
    /// Default and of pinned contexts are never unloading. For the Master, this function always returns this error. Use
    /// [`Unloads::park`](crate::Unloads::park) for the Master.
    pub fn park(&self, id: ContextId) -> Result<(), ContextError> {
        let refuse = |reason: &str| {
            let context = self.registry.title_of(id);
            Err(ContextError::NotUnloading { context, id, reason: reason.to_owned() })
        };
        if id.index == ContextId::master(0).index {
            return refuse("only its game thread can, with `Unloads::park`");
        }
        let has_failed_loads = self.registry.park_failed_loads(id.index);
        match self.unload_of(id) {
            Some(ticket) => {
                ticket.park();
                Ok(())
            }
            None if has_failed_loads => Ok(()),
            None => match self.registry.generation(id) {
                Some(generation) if generation.kind.is_collectible() => refuse("it is alive: begin its unload first"),
                Some(_) => refuse("it is never unloaded"),
                None => refuse("nothing of it is left"),
            },
        }
    }

    /// Enables the `Unloading` event at process exit, for listeners of Slims, pinned contexts and the Default ([`Contexts::on_event`],
    /// [`LoadContext::on_unloading`]). The exit begins when a thread calls [`std::process::exit`] or when `main` returns. Each generation
    /// raises the event only once. A generation that was unloaded before the exit raises no second event.
    ///
    /// A C `atexit` handler calls the listeners, on the thread that exits the process. Exit handlers run in reverse order of registration.
    /// The remaining threads continue to run. Thread-locals of the exiting thread are already destroyed. Listeners must therefore use
    /// [`std::thread::LocalKey::try_with`]. A listener must not wait for a lock that the exiting thread may hold. After a panic in a
    /// listener, the remaining listeners are called. No module is unloaded. No module code runs, not even exit hooks.
    ///
    /// No event is raised if the process is killed, aborts, crashes, or calls `_exit` or `quick_exit`. No event is raised for
    /// the Master, because its listeners belong to the game thread. To raise the events of all contexts, call
    /// [`Runtime::shutdown`](crate::Runtime::shutdown) before `exit`.
    ///
    /// # Errors
    /// Returns [`ContextError::System`] if the platform has no exit handlers, or rejects the handler.
    pub fn raise_at_exit(&self) -> Result<(), ContextError> {
        at_exit::enable(&self.registry)
    }

    /// Returns a function of a living Slim, a pinned context or the Default. Parameters: name of the context, type, method, and signature
    /// such as `i32, String -> bool`. See [`LoadContext::function`].
    ///
    /// # Errors
    /// Fails if the context or the function does not exist, or if the function has a different signature.
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

    /// Registers a listener for events of all load contexts. The thread that raises an event calls the listener. Events of the Master are
    /// raised on the game thread, after the listeners of [`Builder::on_event`](crate::Builder::on_event). A panic in the listener does not
    /// affect the remaining listeners or the context.
    ///
    /// The listener remains registered until [`Registration::remove`], or until the runtime shuts down. The listener must not own a handle
    /// to the contexts; see [`Contexts::downgrade`]. [`ContextEvent::contexts`] returns a handle for use in the listener.
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
        let remove = move || registry.upgrade().iter().for_each(|registry| registry.listeners.remove(site));
        Registration::new(site, Box::new(remove))
    }

    /// Returns the context whose scope this thread has entered. A task enters its scope in each poll.
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

    /// Leaves all scopes of this thread until the guard is dropped.
    pub fn enter_none() -> ContextScope {
        ContextScope::none()
    }

    /// Resolves a type in the context whose scope this thread has entered. Outside of scopes, resolves the type in the Default. The forms
    /// of names and the search order are the same as for [`LoadContext::resolve_type`].
    ///
    /// # Errors
    /// Returns the errors of [`LoadContext::resolve_type`].
    pub fn resolve_type(&self, path: &str) -> Result<TypeRef, ContextError> {
        lookup::type_of(&self.here(), &self.registry, path)
    }

    /// Returns a function of the context whose scope this thread has entered. Outside of scopes, returns a function of the Default. The
    /// function remains bound to that context after the thread leaves the scope. On a thread in a scope of that context, calls use the
    /// entered generation, even if that generation was replaced or is unloading. On threads outside of such a scope, calls use the current
    /// generation.
    ///
    /// # Errors
    /// Returns the errors of [`LoadContext::function`].
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

    /// Resolves a type in a generation. For a generation of the Master, searches only the modules of that generation and the Default. The
    /// forms of names and the search order are the same as for [`LoadContext::resolve_type`].
    ///
    /// # Errors
    /// Fails if the generation does not exist. Returns the errors of [`LoadContext::resolve_type`].
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

    /// Returns the generation that owns an address of code or data. The host's own addresses belong to the Default. Returns `None` for
    /// addresses without an owner, such as addresses of a heap or of system libraries.
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

    /// Lists the open native libraries of all contexts, including the libraries that dead contexts have left open.
    #[must_use]
    pub fn natives(&self) -> Vec<RetainedNative> {
        self.registry.natives()
    }

    /// Sets the time after which an unloading Slim is parked. The images of a parked Slim stay mapped. With `None`, the default, no Slim is
    /// parked because of its age.
    pub fn park_after(&self, after: Option<Duration>) {
        self.registry.unloader.set_park_after(after);
    }

    /// Returns the generation whose scope this thread has entered. Outside of scopes, returns the generation of the Default. For a scope of
    /// a different runtime, also returns the generation of the Default.
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
