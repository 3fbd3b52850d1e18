//! What a host says before it starts: packages, native classes, listeners. Nothing runs until all of it is declared.

use std::cell::Cell;
#[cfg(feature = "script")]
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use alcedo_sys::{Demands, PublicKey, ReferenceSearch};

use crate::bridge::core::Core;
use crate::callback::{Callbacks, Registered, Site};
use crate::development::answer::Answered;
use crate::development::{Invitation, answer};
use crate::emit::c_bodies;
#[cfg(any(feature = "dll-bind", feature = "script"))]
use crate::emit::c_bodies::Layouts;
use crate::error::Error;
use crate::handles::with_last_serial;
use crate::load::canary::{Canary, Rehearsal};
#[cfg(feature = "script")]
use crate::load::declared::ScriptCheck;
use crate::load::declared::{Declared, of_natives};
use crate::load::events::MasterEvent;
use crate::load::master::{self, Loads};
use crate::native::{Natives, Ticker};
use crate::object::World;
use crate::object::construction::make_cdo;
use crate::object::decl::{Batch, ClassDecl, InterfaceDecl};
use crate::object::origin::Origin;
use crate::object::path::TypePath;
use crate::object::types::Types;
use crate::runtime::Runtime;
use crate::thread_stack;
use crate::unload::policy::UnloadPolicy;
use crate::watchdog::{Hang, Listener};

#[cfg(feature = "script")]
mod check;

/// Under `alcedo dev`, what does not return for so long is named.
const HANG: Duration = Duration::from_secs(1);

/// The name of the callbacks that report to the tool.
const DEV: &str = "alcedo dev";

/// The package of the class that all others extend.
const ROOT_PACKAGE: &str = "Core";

/// Makes a [`Runtime`].
#[derive(Default)]
pub struct Builder {
    packages: Vec<String>,
    natives: Vec<Natives>,
    tickers: Vec<Registered<Ticker>>,
    observers: Vec<Registered<master::Observer>>,
    args: Vec<String>,
    require_seal: bool,
    demands: Demands,
    canary: Canary,
    canary_deadline: Option<Duration>,
    watchdog: Option<Duration>,
    on_hang: Vec<Registered<Listener>>,
    /// Bytes of the stack that calls into modules leave free.
    stack_reserve: Option<usize>,
    unloads: UnloadPolicy,
    blacks_are_no_roots: bool,
    development: bool,
    last_serial: Option<u32>,
    planted_rerun: bool,
    #[cfg(feature = "script")]
    scripts: Vec<PathBuf>,
    #[cfg(feature = "script")]
    script_limits: alcedo_script::Limits,
    #[cfg(feature = "dll-bind")]
    user_code: Option<alcedo_dll_bind::UserCode>,
}

impl Runtime {
    /// Starts a builder.
    pub fn builder() -> Builder {
        Builder::default()
    }
}

impl Builder {
    /// Declares a package that modules may bind to: `Game` stands for `/Script/Game`.
    #[must_use]
    pub fn package(mut self, name: &str) -> Self {
        self.packages.push(name.to_owned());
        self
    }

    /// Adds native classes and what drives them.
    #[must_use]
    pub fn natives(mut self, natives: Natives) -> Self {
        self.natives.push(natives);
        self
    }

    /// Is called once in every tick, with the seconds since the last.
    #[must_use]
    #[track_caller]
    pub fn ticker(mut self, ticker: impl FnMut(&Runtime, f32) + 'static) -> Self {
        let site = Site::new("ticker", &ticker);
        self.tickers.push(Registered { site, code: Rc::new(Cell::new(Some(Box::new(ticker)))) });
        self
    }

    /// The arguments for the mains of modules.
    #[must_use]
    pub fn module_args(mut self, args: &[&str]) -> Self {
        self.args = args.iter().map(|arg| (*arg).to_owned()).collect();
        self
    }

    /// Refuses libraries that carry no seal of `alcedo build`.
    #[must_use]
    pub fn require_seal(mut self, require: bool) -> Self {
        self.require_seal = require;
        self
    }

    /// Takes only libraries that this key has signed, or another that was given here: see `alcedo keygen` and `alcedo build
    /// --sign`. It holds for everything that is loaded as a module, from a file or from memory, into whatever context. What
    /// a signature says and what it does not is in `runtime/docs/trusting-files.md`.
    ///
    /// ```
    /// # let text = alcedo_runtime::SecretKey::generate()?.public().to_pem();
    /// let builder = alcedo_runtime::Runtime::builder().trust(text.parse()?);
    /// # Ok::<(), alcedo_runtime::KeyError>(())
    /// ```
    #[must_use]
    pub fn trust(mut self, key: PublicKey) -> Self {
        self.demands.trusted.push(key);
        self
    }

    /// The longest library file that is looked at, in bytes: 1 GiB by default. A longer one is refused by its
    /// length, before anything of it is read.
    #[must_use]
    pub fn largest_library(mut self, bytes: u64) -> Self {
        self.demands.largest = bytes;
        self
    }

    /// Which process loads new modules before this host does, in every context: see [`Canary`]. One context can have
    /// its own setting with [`LoadContext::set_canary`](crate::LoadContext::set_canary).
    #[must_use]
    pub fn canary(mut self, canary: Canary) -> Self {
        self.canary = canary;
        self
    }

    /// How long that may take for all modules of a generation, or of a load, together: ten seconds by default.
    #[must_use]
    pub fn canary_deadline(mut self, deadline: Duration) -> Self {
        self.canary_deadline = Some(deadline);
        self
    }

    /// Starts a thread that notices when a call into a module, a phase of a reload or a finalizer takes longer than
    /// `limit`, and says which in the log. It costs some ten nanoseconds per call into a module.
    #[must_use]
    pub fn watchdog(mut self, limit: Duration) -> Self {
        self.watchdog = Some(limit);
        self
    }

    /// Listens to the watchdog. Called on its thread, while the other one still hangs; without effect unless
    /// [`Builder::watchdog`] sets a limit.
    #[must_use]
    #[track_caller]
    pub fn on_hang(mut self, listener: impl Fn(&Hang) + Send + Sync + 'static) -> Self {
        self.on_hang.push(Registered { site: Site::new("listener for hangs", &listener), code: Arc::new(listener) });
        self
    }

    /// Names the callback of this builder that was added last: a ticker, or a listener for events or hangs. The running host
    /// finds its registration by the name in [`Runtime::registrations`], and can take it back. Several callbacks may have one name.
    ///
    /// ```
    /// use alcedo_runtime::{Budget, Runtime};
    ///
    /// let runtime = Runtime::builder().ticker(|_, _| println!("tick")).named("clock").build()?;
    /// runtime.tick(Budget::frame());
    /// let clock = runtime.registrations().into_iter().filter(|registration| registration.name() == Some("clock"));
    /// clock.for_each(alcedo_runtime::Registration::remove);
    /// assert!(runtime.registrations().is_empty());
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn named(mut self, name: &'static str) -> Self {
        let tickers = self.tickers.iter_mut().map(|ticker| &mut ticker.site);
        let observers = self.observers.iter_mut().map(|observer| &mut observer.site);
        let sites = tickers.chain(observers).chain(self.on_hang.iter_mut().map(|listener| &mut listener.site));
        Site::name_newest(sites, name);
        self
    }

    /// Sets the bytes of the game thread's stack that calls into modules and calls of the host's functions leave free: 256 KiB by
    /// default, three quarters of the stack at most. A call that would begin below is refused with
    /// [`CallError::TooDeep`](crate::CallError::TooDeep), so recursion between host and plugins, and of the host by its own verbs, ends
    /// with an error and not with the process. Ends of objects leave a quarter of it free.
    #[must_use]
    pub fn stack_reserve(mut self, bytes: usize) -> Self {
        self.stack_reserve = Some(bytes);
        self
    }

    /// What the host does about unloads that do not come to their end by themselves.
    #[must_use]
    pub fn unloads(mut self, change: impl FnOnce(&mut UnloadPolicy)) -> Self {
        change(&mut self.unloads);
        self
    }

    /// How long a blocked generation is waited for before its images stay mapped for good, with the names of what kept
    /// them.
    #[must_use]
    pub fn park_after(self, after: Duration) -> Self {
        self.unloads(|policy| policy.park_after = Some(after))
    }

    /// How many images may stay mapped on purpose; beyond it, no more modules are loaded.
    #[must_use]
    pub fn parked_budget(self, images: usize) -> Self {
        self.unloads(|policy| policy.parked_budget = images)
    }

    /// Whether values that plugin code owns keep the objects that they refer to from collection: they do by
    /// default. Where they do not, such a reference reads as none once its object is gone.
    #[must_use]
    pub fn blacks_are_roots(mut self, they_are: bool) -> Self {
        self.blacks_are_no_roots = !they_are;
        self
    }

    /// Listens to the life of the Master load context. Called on the game thread.
    #[must_use]
    #[track_caller]
    pub fn on_event(mut self, observer: impl Fn(&MasterEvent) + 'static) -> Self {
        let site = Site::new("listener for events", &observer);
        self.observers.push(Registered { code: Rc::new(observer), site });
        self
    }

    /// Takes part in `alcedo dev`, if that runs this program; else it does nothing. The tool builds the plugins then,
    /// and they are what [`Runtime::create_master`] loads, whatever it is given: it returns when the first build was loaded,
    /// and [`Runtime::tick`] goes on with each later one. A crash is reported with module and line, a call that does
    /// not return for a second is named, and in both cases the next process of this program gets the world as it was a
    /// few seconds before: [`Worlds::load`](crate::Worlds::load) is called at the first safe point with plugins, so
    /// handles from before it are stale. One runtime of a process takes part. A host ends by [`Runtime::shutdown`] or
    /// by dropping its runtime: an exit without is taken for a plugin's deed, and the host is started again.
    ///
    /// Before an image goes, memory is looked through for what still leads into it
    /// ([`UnloadPolicy::look_for_references`](crate::UnloadPolicy::look_for_references)); [`Builder::unloads`], called after
    /// this, can switch that off.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// # use alcedo_runtime::{Budget, Runtime};
    /// let runtime = Runtime::builder().package("Game").development().build()?;
    /// runtime.create_master(&["target/debug/libspinner.so"])?;
    /// while !runtime.is_asked_to_end() {
    ///     runtime.tick(Budget::frame());
    /// #   break;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn development(mut self) -> Self {
        self.development = true;
        self.unloads.look_for_references = ReferenceSearch::Always;
        self
    }

    /// For tests only: how many objects or conjugates a slot has, one after the other, so that every slot is soon used up.
    /// No handle is ever another thing with it either, but memory is used up by the slots that are.
    #[doc(hidden)]
    #[must_use]
    pub fn last_serial(mut self, last: u32) -> Self {
        self.last_serial = Some(last);
        self
    }

    /// For tests only: a host that reruns one class constructor in each reload, which tests must notice.
    #[doc(hidden)]
    #[must_use]
    pub fn planted_rerun(mut self, planted: bool) -> Self {
        self.planted_rerun = planted;
        self
    }

    /// Lets classes of modules be bound to the C libraries of that folder (`#[uclass(dll_bind = "Name")]`). Who made it has vouched for
    /// what modules declare of these libraries, too. Without it such classes are there, and calls of these functions do nothing.
    #[cfg(feature = "dll-bind")]
    #[must_use]
    pub fn user_code(mut self, code: &alcedo_dll_bind::UserCode) -> Self {
        self.user_code = Some(code.clone());
        self
    }

    /// Adds packages of scripts: folders of `.uc` files, each called as its package. The package of each is declared, and
    /// [`Runtime::create_master`] loads them along with the libraries that it is given; so does a reload.
    #[cfg(feature = "script")]
    #[must_use]
    pub fn scripts(mut self, folders: &[impl AsRef<Path>]) -> Self {
        for folder in folders {
            let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.as_ref().to_owned());
            self.packages.extend(folder.file_name().map(|name| name.to_string_lossy().into_owned()));
            self.scripts.push(folder);
        }
        self
    }

    /// How deep calls of scripts may be inside each other, and how many rounds of loops one call from outside may take: what goes
    /// further is an error of the script.
    #[cfg(feature = "script")]
    #[must_use]
    pub fn script_limits(mut self, limits: alcedo_script::Limits) -> Self {
        self.script_limits = limits;
        self
    }

    /// Checks packages of scripts against the native types that were added so far, against each other, and against the libraries of plugins
    /// that stand among the paths, in any order. Libraries are read and not mapped: no code of them runs, nothing is constructed or loaded,
    /// and no runtime is built.
    ///
    /// # Errors
    /// When a native declaration breaks a rule. What is wrong with a package is in its own result, and so is that a library cannot be read
    /// or declared; one that can has no result.
    #[cfg(feature = "script")]
    pub fn check_scripts(mut self, modules: &[impl AsRef<Path>]) -> Result<Vec<ScriptCheck>, Error> {
        let world = World::new();
        let taken = self.take_natives(&world.types);
        world.types.declare(&world.names, &taken.batch)?;
        let modules: Vec<_> = modules.iter().map(|module| module.as_ref().to_owned()).collect();
        Ok(check::check(&world, &modules, &self.layouts(&taken)))
    }

    /// The C layouts of structs that the natives and the folder of C libraries state; the folder's go first.
    #[cfg(any(feature = "dll-bind", feature = "script"))]
    fn layouts(&self, taken: &Natives) -> Layouts {
        let layouts = c_bodies::floats(&taken.c_floats);
        #[cfg(feature = "dll-bind")]
        let layouts = match &self.user_code {
            Some(code) => layouts.and(code.stated_layouts().clone()),
            None => layouts,
        };
        layouts
    }

    /// The native types that were added so far, as [`Runtime`] would have them: what glue for plugins is written from. Nothing
    /// is constructed, and no runtime is built.
    ///
    /// # Errors
    /// When a native declaration breaks a rule.
    pub fn declared(mut self) -> Result<Declared, Error> {
        let world = World::new();
        let Natives { batch, .. } = self.take_natives(&world.types);
        world.types.declare(&world.names, &batch)?;
        Ok(of_natives(&world))
    }

    /// Callees `alcedo glue --host`, if that has started this process: writes what [`Builder::declared`] gives, and ends the
    /// process. Otherwise it does nothing. [`Builder::build`] does the same before anything else, so a host needs this call only if it
    /// opens a window, a port or a file before it builds its runtime.
    #[must_use]
    pub fn answer_glue(self) -> Self {
        match answer::requested() {
            Some(to) => answer::answer(&to, self.answered()),
            None => self,
        }
    }

    /// What the process was asked.
    fn answered(mut self) -> Result<Answered, Error> {
        let world = World::new();
        let taken = self.take_natives(&world.types);
        world.types.declare(&world.names, &taken.batch)?;
        let declared = of_natives(&world);
        #[cfg(feature = "script")]
        let scripts = Some(check::check(&world, &answer::scripts(), &self.layouts(&taken)));
        #[cfg(not(feature = "script"))]
        let scripts = None;
        Ok(Answered { declared, scripts, ..Answered::default() })
    }

    /// Builds the runtime. The calling thread becomes the game thread.
    ///
    /// # Errors
    /// When a native declaration breaks a rule, the system refuses the finalizer thread or the folder for copies, or the
    /// caller runs on the stack of a coroutine.
    pub fn build(self) -> Result<Runtime, Error> {
        // Refused in a frame of its own: that of the construction may be larger than the stack of a coroutine.
        if !thread_stack::is_here() {
            let why = "a host is built on the stack of its thread, and not on that of a coroutine";
            return Err(system("building the host")(io::Error::new(io::ErrorKind::Unsupported, why)));
        }
        self.build_here()
    }

    fn build_here(mut self) -> Result<Runtime, Error> {
        self = self.answer_glue();
        let invitation = if self.development { Invitation::from_environment()? } else { None };
        if let Some(invitation) = &invitation {
            self = self.on_hang(invitation.on_hang()).named(DEV).on_event(invitation.on_event()).named(DEV);
            self.watchdog.get_or_insert(HANG);
            // A host may have armed it already, in `main`.
            if let Err(error) = crate::crash_guard::arm_if_supervised() {
                tracing::debug!(%error, "the crash guard is not armed here");
            }
        }
        let core = with_last_serial(self.last_serial.unwrap_or(u32::MAX), Core::new)
            .map_err(system("starting the finalizer thread"))?;
        #[cfg(feature = "script")]
        core.limit_scripts(self.script_limits);
        let mut taken = self.take_natives(&core.world.types);
        #[cfg(feature = "dll-bind")]
        let layouts = self.layouts(&taken);
        let on_hang: Arc<Callbacks<Listener>> = Arc::new(self.on_hang.into_iter().collect());
        if let Some(limit) = self.watchdog {
            core.watch(limit, Arc::clone(&on_hang)).map_err(system("starting the watchdog"))?;
        }
        self.stack_reserve.into_iter().for_each(|bytes| core.set_stack_reserve(bytes));
        core.collection.blacks_are_roots.set(!self.blacks_are_no_roots);
        let rehearsal = Rehearsal::new(self.canary, self.canary_deadline);
        let mut loads = Loads::new(&core, self.args, self.require_seal, rehearsal, self.demands)
            .map_err(system("making the folder for copies of libraries"))?;
        loads.registry.set_policy(&self.unloads);
        loads.unloads.policy = self.unloads;
        loads.planted_rerun = self.planted_rerun;
        loads.observers = self.observers.into_iter().collect();
        #[cfg(feature = "dll-bind")]
        let _first = self.user_code.map(|code| core.user_code.set(code));
        #[cfg(feature = "dll-bind")]
        let _first = core.c_layouts.set(layouts);
        for class in &mut taken.batch.classes {
            // Those that were bound to a library by the builder of their class have their bodies.
            #[cfg(feature = "dll-bind")]
            if taken.c_bodies.iter().any(|body| body.is_of(class)) {
                continue;
            }
            #[cfg(feature = "dll-bind")]
            taken.c_bodies.extend(c_bodies::attach(&core, None, class));
            #[cfg(not(feature = "dll-bind"))]
            c_bodies::attach(&core, None, class);
        }
        let declared = core.world.types.declare(&core.world.names, &taken.batch)?;
        #[cfg(feature = "dll-bind")]
        c_bodies::bind(&taken.c_bodies, &declared.classes)?;
        for class in declared.classes {
            make_cdo(&core.world, &core.plugins(), &class)?;
        }
        let callbacks = (taken.tickers, taken.before_destroy, on_hang);
        let runtime = Runtime::of(core, loads, callbacks, taken.net_structs);
        #[cfg(feature = "script")]
        runtime.add_scripts(self.scripts);
        if let Some(invitation) = invitation {
            runtime.join(invitation).map_err(system("starting the thread that listens to `alcedo dev`"))?;
        }
        Ok(runtime)
    }

    /// Declares the packages, and gives what is to be declared in them.
    fn take_natives(&mut self, types: &Types) -> Natives {
        types.declare_package(ROOT_PACKAGE);
        for package in self.packages.drain(..) {
            types.declare_package(&package);
        }
        let root = ClassDecl::new(ROOT_PACKAGE, "Object", "", Origin::Native);
        let mut taken = Natives { batch: Batch { classes: vec![root], ..Batch::default() }, ..Natives::default() };
        taken.tickers.append(&mut self.tickers);
        for natives in self.natives.drain(..) {
            natives.packages.iter().for_each(|package| types.declare_package(package));
            taken.append(natives);
        }
        declare_implemented(&mut taken.batch);
        taken
    }
}

/// Gives the error of a step that the system refuses.
fn system(doing: &'static str) -> impl Fn(io::Error) -> Error {
    move |source| Error::System { doing: doing.to_owned(), source }
}

/// What a host's own classes implement is declared by their word: the host is compiled as a whole, so a wrong path is a
/// misspelling at worst, and no second place would know better. A path that is none stays undeclared, and is refused then.
fn declare_implemented(batch: &mut Batch) {
    let Batch { interfaces, classes, .. } = batch;
    for path in classes.iter().flat_map(|class| &class.interfaces) {
        let Ok(path) = path.parse::<TypePath>() else { continue };
        if !interfaces.iter().any(|known| known.package == path.package && known.name == path.name) {
            interfaces.push(InterfaceDecl::new(&path.package, &path.name, Origin::Native));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Builder, ReferenceSearch, Runtime, UnloadPolicy};

    #[test]
    fn memory_is_looked_through_for_all_plugins_in_development_and_for_those_with_libraries_in_production() {
        let check = |builder: Builder, expected| assert_eq!(builder.unloads.look_for_references, expected);
        check(Runtime::builder(), ReferenceSearch::WithLibraries);
        check(Runtime::builder().development(), ReferenceSearch::Always);
        let never = |policy: &mut UnloadPolicy| policy.look_for_references = ReferenceSearch::Never;
        check(Runtime::builder().development().unloads(never), ReferenceSearch::Never);
    }
}
