//! What a host holds: all contexts of a runtime, and one of them. Both may go to any thread.

use std::fmt;
use std::future::Future;
use std::io::Read;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use alcedo_sys::process;
use semver::VersionReq;

use crate::callback::{Registered, Site, handle_goes};
use crate::dynamic_call::Signature;
use crate::lease::{Blocker, Lease, LeaseKind, door};
use crate::load::canary::Canary;
use crate::load::context::at_exit;
use crate::load::context::error::ContextError;
use crate::load::context::function::{ContextFunction, FunctionPointer};
use crate::load::context::guides::{FoundModule, ModuleRequest, ModuleResolver, NativeResolver, ResolverFailure};
use crate::load::context::hub::Hub;
use crate::load::context::id::{ContextId, ContextInfo, ContextKind, ModuleSummary};
use crate::load::context::identity::{TypeRef, owner_of};
use crate::load::context::line::Line;
use crate::load::context::loading::Library;
use crate::load::context::lookup;
use crate::load::context::native_libs::{self, NativeLibrary, RetainedNative};
use crate::load::context::notice::{ContextNotice, Listener};
use crate::load::context::peek::ManifestInfo;
use crate::load::context::scope::{self, ContextScope, Scoped};
use crate::load::context::space::Space;
use crate::unload::report::BlockerReport;
use crate::unload::state::ContextState;
use crate::unload::ticket::UnloadTicket;

/// The load contexts of one runtime: the Default, every Slim and pinned one, and what any thread may know of the Master. A
/// clone is another handle to the same; it may outlive the runtime, whose end unloads the Slims that there are then. Any
/// thread. How-tos, and each member of .NET's `AssemblyLoadContext` beside ours: `runtime/docs/load-contexts.md`.
#[derive(Clone)]
pub struct Contexts {
    hub: Arc<Hub>,
}

/// One context that belongs to no thread: a Slim, a pinned one, or the Default. A clone is another handle to it. When the
/// last handle to a Slim is dropped, it begins to unload; a callback of the Slim that owns a handle to it prevents that, see
/// [`LoadContext::downgrade`]. The others stay without a handle. Any thread.
#[derive(Clone)]
pub struct LoadContext {
    kept: Arc<Kept>,
}

/// A handle to the contexts of a runtime that keeps nothing of them: for callbacks. Any thread.
#[derive(Clone)]
pub struct WeakContexts {
    hub: Weak<Hub>,
}

/// A handle to a context that does not keep it from unloading: for its callbacks. Any thread.
#[derive(Clone)]
pub struct WeakLoadContext {
    hub: Weak<Hub>,
    line: Weak<Line>,
}

impl WeakContexts {
    /// The contexts, while anybody has a handle to them, or to one of them, or to their runtime.
    #[must_use]
    pub fn upgrade(&self) -> Option<Contexts> {
        self.hub.upgrade().as_ref().map(Contexts::of)
    }
}

impl WeakLoadContext {
    /// The context: a Slim while anybody has a handle to it, the Default and a pinned one as long as their runtime is there.
    #[must_use]
    pub fn upgrade(&self) -> Option<LoadContext> {
        LoadContext::of(&self.hub.upgrade()?, &self.line.upgrade()?)
    }
}

impl fmt::Debug for WeakContexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a weak handle to load contexts")
    }
}

impl fmt::Debug for WeakLoadContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line.upgrade() {
            Some(line) => write!(f, "a weak handle to {}", line.title()),
            None => f.write_str("a weak handle to a load context that is gone"),
        }
    }
}

/// Lives as long as any handle to the context.
pub(super) struct Kept {
    /// The registry stays as long as any context in it can be reached.
    hub: Arc<Hub>,
    line: Arc<Line>,
    made_at: &'static Location<'static>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        if self.line.kind != ContextKind::Slim || !self.line.is_open() {
            return;
        }
        tracing::warn!(
            context = self.line.title(),
            thread = %process::this_thread_in_words(),
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

    /// A handle that keeps nothing: for callbacks. A callback belongs to its host, so one that owns a `Contexts` or a
    /// [`LoadContext`] closes a circle, which keeps the contexts, and the folder of private copies, until the callback is
    /// let go: those of a Slim when it has ended, all of them when the runtime has. Then the log names those that owned a
    /// handle, as a warning, with the place where they were registered. One that is registered when the runtime has gone, and
    /// owns a handle, is let go with its Slim or never.
    #[must_use]
    pub fn downgrade(&self) -> WeakContexts {
        WeakContexts { hub: Arc::downgrade(&self.hub) }
    }

    /// Makes a Slim: named, without classes, to be loaded, called and unloaded from any thread.
    ///
    /// # Errors
    /// When the name is taken by a living Slim, is that of another kind of context, or is no name.
    #[track_caller]
    pub fn create_slim(&self, name: &str) -> Result<LoadContext, ContextError> {
        let line = self.hub.create(ContextKind::Slim, name)?;
        Ok(self.handle(line, Location::caller()))
    }

    /// Makes a pinned context: named like a Slim, with modules of its own, and like the Default never unloaded. It stays
    /// without a handle, ends with the runtime, and its modules depend on nothing that may go.
    ///
    /// # Errors
    /// When the name is taken by a living Slim or a pinned context, is that of another kind of context, or is no name.
    #[track_caller]
    pub fn create_pinned(&self, name: &str) -> Result<LoadContext, ContextError> {
        let line = self.hub.create(ContextKind::Pinned, name)?;
        Ok(self.handle(line, Location::caller()))
    }

    /// The pinned context of that name.
    #[must_use]
    #[track_caller]
    pub fn pinned(&self, name: &str) -> Option<LoadContext> {
        let line = self.hub.named(name).filter(|line| line.kind == ContextKind::Pinned)?;
        Some(self.handle(line, Location::caller()))
    }

    /// The living Slim of that name. This handle counts like the one that was given when it was made.
    #[must_use]
    pub fn slim(&self, name: &str) -> Option<LoadContext> {
        let line = self.hub.named(name).filter(|line| line.kind == ContextKind::Slim)?;
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

    /// The unloads of all contexts that have begun and are not over, the Master's included; one that was given up stays
    /// listed. No handle to the context is needed: a Slim whose last handle was dropped is here as well.
    #[must_use]
    pub fn unloads(&self) -> Vec<UnloadTicket> {
        self.hub.unloads().into_iter().map(|(_, ticket)| ticket).collect()
    }

    /// Those of [`Contexts::unloads`] that are of contexts of this name, oldest first: a Slim may have been replaced, and
    /// the name of one that was given up may have been used again. The Master's name is `Master`.
    #[must_use]
    pub fn unloads_of(&self, name: &str) -> Vec<UnloadTicket> {
        let named: Vec<_> = self.all().into_iter().filter(|info| info.name == name).map(|info| info.id).collect();
        self.hub.unloads().into_iter().filter(|(id, _)| named.contains(id)).map(|(_, ticket)| ticket).collect()
    }

    /// The unload of one generation, by the number that [`Contexts::all`] gives; none for one that is alive or dead.
    #[must_use]
    pub fn unload_of(&self, id: ContextId) -> Option<UnloadTicket> {
        self.hub.unload_of(id)
    }

    /// Who keeps one generation now, whether it unloads or not: calls and other leases, and modules of other contexts that
    /// depend on it. None for one that is dead. While the Master lives, [`Runtime::leases`](crate::Runtime::leases) says
    /// that of it, on its thread.
    #[must_use]
    pub fn report(&self, id: ContextId) -> Option<BlockerReport> {
        self.hub.report(id)
    }

    /// Gives up one generation of a Slim that is unloading: its images stay mapped, and whoever is inside goes on. Its name
    /// is free then. Without effect on one that was given up.
    ///
    /// # Errors
    /// [`ContextError::NotLeaving`] for one that is alive or dead, so for the Default and pinned contexts, and for the
    /// Master, which [`Runtime::park`](crate::Runtime::park) gives up.
    pub fn park(&self, id: ContextId) -> Result<(), ContextError> {
        self.hub.park(id)
    }

    /// From now on who listens to Slims, pinned contexts and the Default ([`Contexts::on_notice`],
    /// [`LoadContext::on_unloading`]) is told `Unloading` also when the process ends by itself: by [`std::process::exit`], or because `main` returns while
    /// the runtime is still there. Each generation is told once in its life, so one that has unloaded hears nothing.
    ///
    /// Listeners are called by a handler of C's `atexit`, on the thread that ends the process. Handlers that were
    /// registered later run before it, earlier ones after it. Other threads go on meanwhile, and thread-locals of this
    /// thread are gone: use [`std::thread::LocalKey::try_with`], and wait for no lock that the thread which calls `exit` may
    /// hold. A panic in a listener keeps no other from being called. Nothing is unloaded, and no code of a module runs, its
    /// exit hook included.
    ///
    /// It is not to be had for a process that is killed, aborts, crashes, or calls `_exit` or `quick_exit`, and not for
    /// the Master, whose listeners belong to one thread. [`Runtime::shutdown`](crate::Runtime::shutdown) before `exit`
    /// tells all of them.
    ///
    /// # Errors
    /// [`ContextError::System`] where the platform has no such handlers, or takes no more.
    pub fn tell_at_exit(&self) -> Result<(), ContextError> {
        at_exit::tell(&self.hub)
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
        let line = self.hub.named(context);
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

    /// Is told what happens to every load context, on the thread on which it happens: for the Master that is the game thread,
    /// after the listeners of [`Builder::on_event`](crate::Builder::on_event). A panic in here is another listener's as little
    /// as the context's.
    ///
    /// It stays until its runtime ends, or as long as the contexts. It should own no handle to them, see
    /// [`Contexts::downgrade`]: the notice leads to them.
    #[track_caller]
    pub fn on_notice(&self, listener: impl Fn(&ContextNotice) + Send + Sync + 'static) {
        let site = Site::new("listener for notices", &listener);
        let code: Arc<Listener> = Arc::new(listener);
        self.hub.listeners.add(0, Registered { code, site });
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

    /// Finds a type where no context is named: for the one whose scope this thread is in, else for the Default. Names and
    /// order are those of [`LoadContext::resolve_type`].
    ///
    /// # Errors
    /// As [`LoadContext::resolve_type`].
    pub fn resolve_type(&self, path: &str) -> Result<TypeRef, ContextError> {
        lookup::type_of(&self.here(), &self.hub, path)
    }

    /// A function where no context is named: of the one whose scope this thread is in, else of the Default. It stays that
    /// context's when the scope is left.
    ///
    /// # Errors
    /// As [`LoadContext::function`].
    pub fn function_here(
        &self,
        type_path: &str,
        method: &str,
        signature: &str,
    ) -> Result<ContextFunction, ContextError> {
        let line = self.hub.line(self.here().id).unwrap_or_else(|| Arc::clone(self.hub.default_line()));
        ContextFunction::new(&line, type_path, method, &signature.parse::<Signature>()?)
    }

    /// Finds a type for a generation, also of the Master, which looks in its own modules and in the Default. Names and
    /// order are those of [`LoadContext::resolve_type`].
    ///
    /// # Errors
    /// When there is no such generation; as [`LoadContext::resolve_type`].
    pub fn resolve_type_in(&self, context: ContextId, path: &str) -> Result<TypeRef, ContextError> {
        if let Some(space) = self.hub.space(context) {
            return lookup::type_of(&space, &self.hub, path);
        }
        let all = self.all();
        let info = all.iter().find(|info| info.id == context);
        let info = info.ok_or_else(|| ContextError::NoSuchType {
            context: self.hub.title_of(context),
            path: path.to_owned(),
            known: "it is gone".into(),
        })?;
        lookup::type_in_picture(&self.hub, info, path)
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

    /// The context whose scope this thread is in, if it is one of these; else the Default.
    fn here(&self) -> Arc<Space> {
        let is_ours = |space: &Arc<Space>| self.hub.space(space.id).is_some_and(|known| Arc::ptr_eq(&known, space));
        scope::here().filter(is_ours).unwrap_or_else(|| self.hub.default_space())
    }

    fn handle(&self, line: Arc<Line>, made_at: &'static Location<'static>) -> LoadContext {
        let kept = Arc::new(Kept { hub: Arc::clone(&self.hub), line, made_at });
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
    /// A handle to a context: to a Slim where anybody has one, to what is never unloaded always.
    #[track_caller]
    pub(super) fn of(hub: &Arc<Hub>, line: &Arc<Line>) -> Option<Self> {
        match line.handle().upgrade() {
            Some(kept) => Some(Self { kept }),
            None if !line.kind.is_collectible() => Some(Contexts::of(hub).handle(Arc::clone(line), Location::caller())),
            None => None,
        }
    }

    /// A handle that does not keep it from unloading: for its own callbacks, which would keep it for ever otherwise. See
    /// [`Contexts::downgrade`].
    #[must_use]
    pub fn downgrade(&self) -> WeakLoadContext {
        WeakLoadContext { hub: Arc::downgrade(&self.kept.hub), line: Arc::downgrade(self.line()) }
    }

    /// All contexts of its host.
    #[must_use]
    pub fn contexts(&self) -> Contexts {
        Contexts::of(&self.kept.hub)
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
        self.line().current().map(|space| space.id)
    }

    /// The modules of its current generation, dependencies first.
    #[must_use]
    pub fn modules(&self) -> Vec<ModuleSummary> {
        self.line().current().map(|space| space.info().modules).unwrap_or_default()
    }

    /// Loads a library file and what it needs. Their mains run on this thread, before anybody finds them in the context;
    /// the `Loaded` notices come after. The file is copied first, so it may be overwritten at once.
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
        let (_door, _open) = (door(), self.line().open("loading a file")?);
        self.load(Library::read(path.as_ref(), &*self.line().stage_dir()?)?)
    }

    /// Loads a library that is in memory, and what it needs; `name` stands for its path in errors. `symbols` is what
    /// debuggers read, where that is apart from the library.
    ///
    /// # Errors
    /// As [`LoadContext::load_path`].
    #[track_caller]
    pub fn load_bytes(&self, name: &str, image: &[u8], symbols: Option<&[u8]>) -> Result<ModuleSummary, ContextError> {
        let (_door, _open) = (door(), self.line().open("loading from memory")?);
        let dir = self.line().stage_dir()?;
        self.load(Library::from_bytes(name, image, symbols.map(<[u8]>::to_vec), &dir)?)
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
        let (_door, _open) = (door(), self.line().open("loading from a reader")?);
        self.load(Library::from_reader(name, image, symbols, &*self.line().stage_dir()?)?)
    }

    /// Loads what a name stands for: what it has, what its resolver finds, what the Default has, what the handlers find,
    /// in this order.
    ///
    /// # Errors
    /// As [`LoadContext::load_path`]; with the ordered trace when nobody knows the name.
    #[track_caller]
    pub fn load_name(&self, name: &str, range: &VersionReq) -> Result<ModuleSummary, ContextError> {
        let _door = door();
        let module = self.line().load_name(name, range)?;
        Ok(module.summary())
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
        let _door = door();
        self.line().replace(Library::read(path.as_ref(), &*self.line().stage_dir()?)?)
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
        let (_door, dir) = (door(), self.line().stage_dir()?);
        self.line().replace(Library::from_bytes(name, image, symbols.map(<[u8]>::to_vec), &dir)?)
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
        let _door = door();
        self.line().replace(Library::from_reader(name, image, symbols, &*self.line().stage_dir()?)?)
    }

    /// Begins to unload it, and waits for nobody. Asked again, it gives the same ticket. The `Unloading` notice and the
    /// callbacks run in here, and the exit hooks and destructors as well when nobody is inside.
    ///
    /// # Errors
    /// [`ContextError::NotCollectible`] for the Default and for pinned contexts.
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

    /// Keeps its current generation mapped for as long as the lease lives, on whichever thread: for a host that has borrowed
    /// data of it. `owner` is how reports name the reason.
    ///
    /// # Errors
    /// [`ContextError::ContextUnloading`] once it unloads.
    #[track_caller]
    pub fn lease(&self, owner: &str) -> Result<Lease, ContextError> {
        let action = "taking a lease";
        let lease = self.line().open(action)?.leases.take(LeaseKind::Borrow, owner);
        lease.map_err(|sealed| ContextError::sealed(sealed, action))
    }

    /// Gives up on generations that are unloading: their images stay mapped, and whoever is inside goes on.
    /// A load that is under way in one is refused when it is done, and what it brought ends.
    pub fn park(&self) {
        self.line().park();
    }

    /// Is called once when a generation of it begins to unload, smaller priorities first; for the Default and pinned contexts
    /// that is when their runtime ends. A panic in here stops nothing and stands on the ticket.
    ///
    /// It stays until the context has ended, and should own no handle to it, see [`LoadContext::downgrade`]: the notice
    /// leads to it.
    #[track_caller]
    pub fn on_unloading(&self, priority: i32, callback: impl Fn(&ContextNotice) + Send + Sync + 'static) {
        let site = Site::new("unloading callback", &callback);
        let code: Arc<Listener> = Arc::new(callback);
        self.line().unloading.add(priority, Registered { code, site });
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
        let space = self.line().open(format!("looking up the type {path}"))?;
        lookup::type_of(&space, &self.line().hub()?, path)
    }

    /// Who loads new modules of this context before the host does, from the next load on: [`Canary::Off`] spares a load
    /// of trusted libraries a few milliseconds. What [`Builder::canary`](crate::Builder::canary) says holds until then.
    pub fn set_canary(&self, canary: Canary) {
        self.line().guides.set_canary(canary);
    }

    /// Who is asked for modules that are not here, before the Default. It may be called on any thread.
    ///
    /// It stays until the context has ended, as all resolvers and handlers do, and should own no handle to it, see
    /// [`LoadContext::downgrade`]: the request leads to the context that asks.
    #[track_caller]
    pub fn set_resolver(
        &self,
        resolver: impl Fn(&ModuleRequest) -> Result<Option<FoundModule>, ResolverFailure> + Send + Sync + 'static,
    ) {
        let site = Site::new("resolver", &resolver);
        let code: Arc<ModuleResolver> = Arc::new(resolver);
        self.line().guides.set_resolver(Registered { code, site });
    }

    /// Who is asked for modules that neither the resolver nor the Default knows, in the order in which they were added.
    #[track_caller]
    pub fn on_resolving(
        &self,
        handler: impl Fn(&ModuleRequest) -> Result<Option<FoundModule>, ResolverFailure> + Send + Sync + 'static,
    ) {
        let site = Site::new("handler for modules", &handler);
        let code: Arc<ModuleResolver> = Arc::new(handler);
        self.line().guides.add_handler(Registered { code, site });
    }

    /// Finds a native library: what it has, the resolver of the module, its own resolver, the folders of its modules and
    /// the system, the handlers, in this order. It stays open with the context.
    ///
    /// # Errors
    /// With the ordered trace when nobody knows it; when a resolver fails or gives no absolute path.
    #[track_caller]
    pub fn native_library(&self, name: &str, for_module: Option<&str>) -> Result<NativeLibrary, ContextError> {
        let _door = door();
        let space = self.line().open(format!("looking up the native library {name}"))?;
        native_libs::find(&space, name, for_module)
    }

    /// Who is asked for the native libraries of one module, first.
    #[track_caller]
    pub fn set_native_resolver_of(
        &self,
        module: &str,
        resolver: impl Fn(&str) -> Result<Option<PathBuf>, ResolverFailure> + Send + Sync + 'static,
    ) {
        let site = Site::new("resolver of native libraries", &resolver);
        let code: Arc<NativeResolver> = Arc::new(resolver);
        self.line().guides.set_native_resolver_of(module, Registered { code, site });
    }

    /// Who is asked for native libraries before the folders and the system.
    #[track_caller]
    pub fn set_native_resolver(
        &self,
        resolver: impl Fn(&str) -> Result<Option<PathBuf>, ResolverFailure> + Send + Sync + 'static,
    ) {
        let site = Site::new("resolver of native libraries", &resolver);
        let code: Arc<NativeResolver> = Arc::new(resolver);
        self.line().guides.set_native_resolver(Registered { code, site });
    }

    /// Who is asked for native libraries after all others, in the order in which they were added.
    #[track_caller]
    pub fn on_resolving_native(
        &self,
        handler: impl Fn(&str) -> Result<Option<PathBuf>, ResolverFailure> + Send + Sync + 'static,
    ) {
        let site = Site::new("handler for native libraries", &handler);
        let code: Arc<NativeResolver> = Arc::new(handler);
        self.line().guides.add_native_handler(Registered { code, site });
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

impl Drop for Contexts {
    fn drop(&mut self) {
        handle_goes(self.hub.id());
    }
}

impl Drop for LoadContext {
    fn drop(&mut self) {
        handle_goes(self.kept.hub.id());
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
