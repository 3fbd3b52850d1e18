//! What a host holds: all contexts of a runtime, and one of them. Both may go to any thread.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use alcedo_sys::process;
use semver::VersionReq;

use crate::dynamic_call::Signature;
use crate::lease::Blocker;
use crate::load::canary::Canary;
use crate::load::context::error::ContextError;
use crate::load::context::function::{ContextFunction, FunctionPointer};
use crate::load::context::guides::{FoundModule, ModuleRequest, ResolverFailure};
use crate::load::context::hub::Hub;
use crate::load::context::id::{ContextId, ContextInfo, ContextKind, ModuleSummary};
use crate::load::context::identity::{TypeRef, find_type, owner_of};
use crate::load::context::line::Line;
use crate::load::context::loading::Library;
use crate::load::context::native_libs::{self, NativeLibrary, RetainedNative};
use crate::load::context::notice::ContextNotice;
use crate::load::context::peek::ManifestInfo;
use crate::load::context::scope::{self, ContextScope, Scoped};
use crate::load::state::ContextState;
use crate::load::ticket::UnloadTicket;

/// The load contexts of one runtime: the Default, every Slim, and a picture of the Master. A clone is another handle to
/// the same; it may outlive the runtime. Any thread.
#[derive(Clone)]
pub struct Contexts {
    hub: Arc<Hub>,
}

/// One context that belongs to no thread: a Slim, or the Default. A clone is another handle to it; when the last handle
/// to a Slim is dropped, it begins to unload. Any thread.
#[derive(Clone)]
pub struct LoadContext {
    kept: Arc<Kept>,
}

/// Lives as long as any handle to the context.
pub(super) struct Kept {
    /// The registry stays as long as any context in it can be reached.
    _hub: Arc<Hub>,
    line: Arc<Line>,
    made_at: &'static Location<'static>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        if self.line.kind != ContextKind::Slim || !self.line.is_open() {
            return;
        }
        let thread = std::thread::current();
        tracing::warn!(
            context = self.line.title(),
            thread = thread.name().unwrap_or("without a name"),
            made_at = %self.made_at,
            "the last handle to a load context was dropped, so it unloads"
        );
        let _ticket = self.line.begin_unload("its last handle was dropped");
    }
}

impl Contexts {
    /// A handle to the contexts of a runtime.
    pub(crate) fn of(hub: &Arc<Hub>) -> Self {
        Self { hub: Arc::clone(hub) }
    }

    /// Makes a Slim: named, without classes, to be loaded, called and unloaded from any thread.
    ///
    /// # Errors
    /// When the name is taken by a living Slim, is that of another kind of context, or is no name.
    #[track_caller]
    pub fn create_slim(&self, name: &str) -> Result<LoadContext, ContextError> {
        let line = self.hub.create(name)?;
        Ok(self.handle(line, Location::caller()))
    }

    /// The living Slim of that name. This handle counts like the one that was given when it was made.
    #[must_use]
    pub fn slim(&self, name: &str) -> Option<LoadContext> {
        let line = self.hub.slim(name)?;
        line.handle().upgrade().map(|kept| LoadContext { kept })
    }

    /// The Default: modules in it are shared by all contexts and never unloaded.
    #[must_use]
    #[track_caller]
    pub fn default_context(&self) -> LoadContext {
        self.handle(Arc::clone(self.hub.default_line()), Location::caller())
    }

    /// Every generation of every context that is not dead, the Master's included; what cannot die stays listed.
    #[must_use]
    pub fn all(&self) -> Vec<ContextInfo> {
        self.hub.all()
    }

    /// A function of a living Slim by name, type and method, and its signature as `i32, String -> bool`.
    ///
    /// # Errors
    /// When there is no such Slim, it offers no such function, or offers it with another signature.
    pub fn function(
        &self,
        context: &str,
        type_path: &str,
        method: &str,
        signature: &str,
    ) -> Result<ContextFunction, ContextError> {
        let line = self.hub.slim(context);
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

    /// Is told what happens to Slims and to the Default, on the thread on which it happens. A panic in here is another
    /// listener's as little as the context's.
    pub fn on_notice(&self, listener: impl Fn(&ContextNotice) + Send + Sync + 'static) {
        self.hub.listeners.add(0, Arc::new(listener));
    }

    /// The context whose scope this thread, or the task it polls, is in.
    #[must_use]
    pub fn current() -> Option<ContextInfo> {
        scope::here().map(|space| space.info())
    }

    /// Leaves every scope for as long as the guard lives.
    pub fn enter_none() -> ContextScope {
        ContextScope::none()
    }

    /// Finds a type where no context is named: in the one whose scope this thread is in, else in the Default.
    /// `module::Type` asks one module.
    ///
    /// # Errors
    /// When it is not there, or several modules have one.
    pub fn resolve_type(&self, path: &str) -> Result<TypeRef, ContextError> {
        let space = scope::here().unwrap_or_else(|| self.hub.default_space());
        find_type(&space.info(), path)
    }

    /// Finds a type in a generation, also of the Master.
    ///
    /// # Errors
    /// When there is no such generation, it has no such type, or several modules have one.
    pub fn resolve_type_in(&self, context: ContextId, path: &str) -> Result<TypeRef, ContextError> {
        let all = self.all();
        let info = all.iter().find(|info| info.id == context);
        let info = info.ok_or_else(|| ContextError::NoSuchType {
            context: self.hub.title_of(context),
            path: path.to_owned(),
            known: "it is gone".into(),
        })?;
        find_type(info, path)
    }

    /// The generation that an address of code or data belongs to: the Default for the host's own; none for what belongs
    /// to the system, to a heap or to nobody.
    #[must_use]
    pub fn context_of_address(&self, address: *const ()) -> Option<ContextInfo> {
        let image = process::file_at(address.addr())?;
        let all = self.all();
        if let Some(owner) = owner_of(&image, &all, &self.hub.natives()) {
            return Some(owner.clone());
        }
        let ours = process::file_at(owner_of as *const () as usize);
        all.into_iter().find(|info| info.kind == ContextKind::Default).filter(|_| ours.as_ref() == Some(&image))
    }

    /// Native libraries that contexts hold, and those that dead contexts have left open.
    #[must_use]
    pub fn natives(&self) -> Vec<RetainedNative> {
        self.hub.natives()
    }

    /// Gives up Slims that have been unloading for this long: their images stay mapped. `None`, as at first, waits for
    /// ever.
    pub fn park_after(&self, after: Option<Duration>) {
        self.hub.set_park_after(after);
    }

    fn handle(&self, line: Arc<Line>, made_at: &'static Location<'static>) -> LoadContext {
        let kept = Arc::new(Kept { _hub: Arc::clone(&self.hub), line, made_at });
        kept.line.set_handle(Arc::downgrade(&kept));
        LoadContext { kept }
    }
}

impl fmt::Debug for Contexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all().iter().map(ToString::to_string)).finish()
    }
}

impl LoadContext {
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
        self.line().current().map(|space| space.id)
    }

    /// The modules of its current generation, dependencies first.
    #[must_use]
    pub fn modules(&self) -> Vec<ModuleSummary> {
        self.line().current().map(|space| space.info().modules).unwrap_or_default()
    }

    /// Loads a library file and what it needs. Their mains run on this thread. The file is copied first, so it may be
    /// overwritten at once.
    ///
    /// # Errors
    /// When the path is not absolute, there is no such file, it is no module for this host, declares classes, needs what
    /// is not to be found, has the name of another build that is loaded, or its main panics; when the context unloads.
    /// Nothing of it is in the context then.
    pub fn load_path(&self, path: impl AsRef<Path>) -> Result<ModuleSummary, ContextError> {
        let _open = self.line().open("loading a file")?;
        self.load(Library::read(path.as_ref(), &*self.line().stage_dir()?)?)
    }

    /// Loads a library that is in memory, and what it needs; `name` stands for its path in errors. `symbols` is what
    /// debuggers read, where that is apart from the library.
    ///
    /// # Errors
    /// As [`LoadContext::load_path`].
    pub fn load_bytes(&self, name: &str, image: &[u8], symbols: Option<&[u8]>) -> Result<ModuleSummary, ContextError> {
        let _open = self.line().open("loading from memory")?;
        let dir = self.line().stage_dir()?;
        self.load(Library::from_bytes(name, image, symbols.map(<[u8]>::to_vec), &dir)?)
    }

    /// Loads what a name stands for: what it has, what its resolver finds, what the Default has, what the handlers find,
    /// in this order.
    ///
    /// # Errors
    /// As [`LoadContext::load_path`]; with the ordered trace when nobody knows the name.
    pub fn load_name(&self, name: &str, range: &VersionReq) -> Result<ModuleSummary, ContextError> {
        let module = self.line().load_name(name, range)?;
        Ok(module.summary())
    }

    /// Swaps in a new generation with this library and what it needs, and lets the current one go: the ticket is the old
    /// one's. Until the new main has returned the old one answers; if it does not come up, the old one stays. Whatever
    /// else the old generation has goes with it.
    ///
    /// # Errors
    /// As [`LoadContext::load_path`]; [`ContextError::NotCollectible`] for the Default.
    pub fn replace(&self, path: impl AsRef<Path>) -> Result<UnloadTicket, ContextError> {
        self.line().replace(Library::read(path.as_ref(), &*self.line().stage_dir()?)?)
    }

    /// As [`LoadContext::replace`], with a library that is in memory.
    ///
    /// # Errors
    /// As [`LoadContext::replace`].
    pub fn replace_bytes(
        &self,
        name: &str,
        image: &[u8],
        symbols: Option<&[u8]>,
    ) -> Result<UnloadTicket, ContextError> {
        let dir = self.line().stage_dir()?;
        self.line().replace(Library::from_bytes(name, image, symbols.map(<[u8]>::to_vec), &dir)?)
    }

    /// Begins to unload it, and waits for nobody. Asked again, it gives the same ticket. The `Unloading` notice and the
    /// callbacks run in here, and the exit hooks and destructors as well when nobody is inside.
    ///
    /// # Errors
    /// [`ContextError::NotCollectible`] for the Default.
    pub fn begin_unload(&self) -> Result<UnloadTicket, ContextError> {
        self.line().begin_unload("somebody asked for it")
    }

    /// The unloads of its generations that are under way or blocked, oldest first.
    #[must_use]
    pub fn unloads(&self) -> Vec<UnloadTicket> {
        self.line().old_tickets()
    }

    /// The calls and other leases that its current generation has now, longest first.
    #[must_use]
    pub fn held_by(&self) -> Vec<Blocker> {
        self.line().current().map(|space| space.held_by()).unwrap_or_default()
    }

    /// Gives up on generations that are unloading: their images stay mapped, and whoever is inside goes on.
    pub fn park(&self) {
        self.line().park();
    }

    /// Is called once when a generation of it begins to unload, smaller priorities first. A panic in here stops nothing
    /// and stands on the ticket.
    pub fn on_unloading(&self, priority: i32, callback: impl Fn(&ContextNotice) + Send + Sync + 'static) {
        self.line().unloading.add(priority, Arc::new(callback));
    }

    /// A function by type and method, and its signature as `i32, String -> bool`.
    ///
    /// # Errors
    /// When it offers no such function, offers it with another signature, or unloads.
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

    /// A type of its current generation: `module::Type`, a path, or a bare name.
    ///
    /// # Errors
    /// When it is not there, or several modules have one.
    pub fn resolve_type(&self, path: &str) -> Result<TypeRef, ContextError> {
        find_type(&self.line().open(format!("looking up the type {path}"))?.info(), path)
    }

    /// Who loads new modules of this context before the host does, from the next load on: [`Canary::Off`] spares a load
    /// of trusted libraries a few milliseconds. What [`Builder::canary`](crate::Builder::canary) says holds until then.
    pub fn set_canary(&self, canary: Canary) {
        self.line().guides.set_canary(canary);
    }

    /// Who is asked for modules that are not here, before the Default. It may be called on any thread.
    pub fn set_resolver(
        &self,
        resolver: impl Fn(&ModuleRequest) -> Result<Option<FoundModule>, ResolverFailure> + Send + Sync + 'static,
    ) {
        self.line().guides.set_resolver(Some(Arc::new(resolver)));
    }

    /// Who is asked for modules that neither the resolver nor the Default knows, in the order in which they were added.
    pub fn on_resolving(
        &self,
        handler: impl Fn(&ModuleRequest) -> Result<Option<FoundModule>, ResolverFailure> + Send + Sync + 'static,
    ) {
        self.line().guides.add_handler(Arc::new(handler));
    }

    /// Finds a native library: what it has, the resolver of the module, its own resolver, the folders of its modules and
    /// the system, the handlers, in this order. It stays open with the context.
    ///
    /// # Errors
    /// With the ordered trace when nobody knows it; when a resolver fails or gives no absolute path.
    pub fn native_library(&self, name: &str, for_module: Option<&str>) -> Result<NativeLibrary, ContextError> {
        let space = self.line().open(format!("looking up the native library {name}"))?;
        native_libs::find(&space, name, for_module)
    }

    /// Who is asked for the native libraries of one module, first.
    pub fn set_native_resolver_of(
        &self,
        module: &str,
        resolver: impl Fn(&str) -> Result<Option<PathBuf>, ResolverFailure> + Send + Sync + 'static,
    ) {
        self.line().guides.set_native_resolver_of(module, Arc::new(resolver));
    }

    /// Who is asked for native libraries before the folders and the system.
    pub fn set_native_resolver(
        &self,
        resolver: impl Fn(&str) -> Result<Option<PathBuf>, ResolverFailure> + Send + Sync + 'static,
    ) {
        self.line().guides.set_native_resolver(Some(Arc::new(resolver)));
    }

    /// Who is asked for native libraries after all others, in the order in which they were added.
    pub fn on_resolving_native(
        &self,
        handler: impl Fn(&str) -> Result<Option<PathBuf>, ResolverFailure> + Send + Sync + 'static,
    ) {
        self.line().guides.add_native_handler(Arc::new(handler));
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

    fn load(&self, library: Library) -> Result<ModuleSummary, ContextError> {
        let module = self.line().load(library)?;
        Ok(module.summary())
    }

    fn line(&self) -> &Arc<Line> {
        &self.kept.line
    }
}

impl fmt::Display for LoadContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line().current() {
            Some(space) => space.info().fmt(f),
            None => write!(f, "{} #{}: {}", self.line().title(), self.line().index, self.state()),
        }
    }
}

impl fmt::Debug for LoadContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
