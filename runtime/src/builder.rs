//! Configuration of a host before it starts: packages, native classes, listeners. No plugin code runs until [`Builder::build`].

use std::cell::Cell;
use std::io;
use std::mem;
#[cfg(feature = "script")]
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use alcedo_abi::names::is_identifier;
use alcedo_abi::stack::StackSpan;
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
use crate::object::refusal::DeclareError;
use crate::object::types::Types;
use crate::runtime::Runtime;
use crate::thread_stack;
use crate::unload::policy::UnloadPolicy;
use crate::watchdog::{Hang, Listener};

#[cfg(feature = "script")]
mod check;

const HANG: Duration = Duration::from_secs(1);

const DEV: &str = "alcedo dev";

const ROOT_PACKAGE: &str = "Core";

/// Builds a [`Runtime`].
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{Budget, Runtime};
///
/// let runtime = Runtime::builder().package("Game").build()?;
/// runtime.tick(Budget::frame());
/// // No plugin is loaded yet.
/// assert_eq!(runtime.generation(), 0);
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
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
    /// Bytes of a thread's stack that calls leave free.
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
    /// Returns a new builder.
    pub fn builder() -> Builder {
        Builder::default()
    }
}

impl Builder {
    /// Declares a package that modules may bind to; `Game` declares `/Script/Game`. [`Builder::build`] fails if the name is not an
    /// identifier.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    /// use alcedo_runtime::native::{NativeClass, Natives};
    ///
    /// let lamp = NativeClass::new("Game", "Lamp", "/Script/Core.Object");
    /// let runtime = Runtime::builder().package("Game").natives(Natives::default().class(lamp)).build()?;
    /// assert!(runtime.types().has("/Script/Game.Lamp"));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn package(mut self, name: &str) -> Self {
        self.packages.push(name.to_owned());
        self
    }

    /// Adds native types with their tickers and hooks.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::native::uclass;
    /// use alcedo_runtime::{Runtime, Value, natives};
    ///
    /// #[uclass(package = "Game")]
    /// struct Lamp {
    ///     #[uproperty(default = 1.5)]
    ///     brightness: f64,
    /// }
    ///
    /// let runtime = Runtime::builder().natives(natives![Lamp]).build()?;
    /// let lamp = runtime.objects().spawn("/Script/Game.Lamp")?;
    /// assert_eq!(runtime.objects().get(lamp, "brightness")?, Value::F64(1.5));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn natives(mut self, natives: Natives) -> Self {
        self.natives.push(natives);
        self
    }

    /// Adds a callback that runs once per tick, with the seconds since the last tick.
    ///
    /// # Examples
    /// ```rust
    /// use std::cell::Cell;
    /// use std::rc::Rc;
    ///
    /// use alcedo_runtime::{Budget, Runtime};
    ///
    /// let played = Rc::new(Cell::new(0.0));
    /// let clock = Rc::clone(&played);
    /// let runtime = Runtime::builder().ticker(move |_, seconds| clock.set(clock.get() + seconds)).build()?;
    /// runtime.tick(Budget::seconds(0.5));
    /// runtime.tick(Budget::seconds(0.25));
    /// assert_eq!(played.get(), 0.75);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    #[track_caller]
    pub fn ticker(mut self, ticker: impl FnMut(&Runtime, f32) + 'static) -> Self {
        let site = Site::new("ticker", &ticker);
        self.tickers.push(Registered { site, code: Rc::new(Cell::new(Some(Box::new(ticker)))) });
        self
    }

    /// Sets the arguments that the `main` function of each module receives.
    ///
    /// # Examples
    /// ```rust,no_run
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().module_args(&["--map", "harbor"]).build()?;
    /// // The `main` of the plugin receives both arguments.
    /// runtime.create_master(&["/opt/game/plugins/libweather.so"])?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn module_args(mut self, args: &[&str]) -> Self {
        self.args = args.iter().map(|arg| (*arg).to_owned()).collect();
        self
    }

    /// Rejects libraries that are not sealed by `alcedo build`.
    ///
    /// # Examples
    /// ```rust,no_run
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().require_seal(true).build()?;
    /// if let Err(error) = runtime.create_master(&["/opt/game/plugins/libweather.so"]) {
    ///     eprintln!("the plugin is not loaded: {error}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn require_seal(mut self, require: bool) -> Self {
        self.require_seal = require;
        self
    }

    /// Accepts only libraries signed with this key or with another key added here; see `alcedo keygen` and `alcedo build --sign`.
    /// Applies to every module in every context, whether loaded from a file or from memory. `runtime/docs/trusting-files.md` explains
    /// the guarantees and limits of a signature.
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

    /// Sets the maximum size of a library file in bytes, 1 GiB by default. A larger file is rejected before it is read.
    ///
    /// # Examples
    /// ```rust
    /// let builder = alcedo_runtime::Runtime::builder().largest_library(64 << 20); // 64 MiB
    /// # let _runtime = builder.build()?;
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn largest_library(mut self, bytes: u64) -> Self {
        self.demands.largest = bytes;
        self
    }

    /// Sets the process that loads new modules before this host does, in every context; see [`Canary`].
    /// [`LoadContext::set_canary`](crate::LoadContext::set_canary) sets it for one context.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{Canary, Runtime};
    ///
    /// // A tool that loads only plugins of its own build.
    /// let runtime = Runtime::builder().canary(Canary::Off).build()?;
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn canary(mut self, canary: Canary) -> Self {
        self.canary = canary;
        self
    }

    /// Sets the time limit of the canary for all modules of a generation or load together, ten seconds by default.
    ///
    /// # Examples
    /// ```rust,no_run
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// use std::time::Duration;
    ///
    /// use alcedo_runtime::Runtime;
    ///
    /// alcedo_runtime::canary::run_if_child();
    /// let runtime = Runtime::builder().canary_deadline(Duration::from_secs(30)).build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn canary_deadline(mut self, deadline: Duration) -> Self {
        self.canary_deadline = Some(deadline);
        self
    }

    /// Starts a thread that logs each call into a module, phase of a reload, or finalizer that takes longer than `limit`. Costs about
    /// ten nanoseconds per call into a module.
    ///
    /// # Examples
    /// ```rust
    /// use std::time::Duration;
    ///
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().watchdog(Duration::from_millis(500)).build()?;
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn watchdog(mut self, limit: Duration) -> Self {
        self.watchdog = Some(limit);
        self
    }

    /// Adds a listener that the watchdog calls on its own thread while the reported call still hangs. Has no effect unless
    /// [`Builder::watchdog`] sets a limit.
    ///
    /// # Examples
    /// ```rust
    /// use std::time::Duration;
    ///
    /// use alcedo_runtime::Runtime;
    ///
    /// let builder = Runtime::builder().watchdog(Duration::from_secs(2));
    /// let builder = builder.on_hang(|hang| eprintln!("{} of {} hangs", hang.function, hang.module));
    /// # let _runtime = builder.build()?;
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    #[track_caller]
    pub fn on_hang(mut self, listener: impl Fn(&Hang) + Send + Sync + 'static) -> Self {
        self.on_hang.push(Registered { site: Site::new("listener for hangs", &listener), code: Arc::new(listener) });
        self
    }

    /// Names the callback of this builder that was added last: a ticker, or a listener for events or hangs. The running host finds its
    /// registration by this name in [`Runtime::registrations`] and can remove it. Several callbacks may share a name.
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

    /// Sets the bytes of the stack that calls into modules and calls of host functions leave free: 256 KiB by default, at most three
    /// quarters of the stack. Applies to the game thread, and to each thread that calls into a Slim, a pinned context or the Default. A
    /// call that would exceed this fails with [`CallError::TooDeep`](crate::CallError::TooDeep), so unbounded recursion returns an error
    /// and does not end the process. Destruction of objects leaves a quarter of the reserve free. Calls into a
    /// Slim, a pinned context or the Default are not checked by pointer, or on the stack of a coroutine, whose size is unknown.
    ///
    /// # Examples
    /// ```rust
    /// // A deep recursion of plugins and host functions fails while half a megabyte of the stack is free.
    /// let builder = alcedo_runtime::Runtime::builder().stack_reserve(512 << 10);
    /// # let _runtime = builder.build()?;
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn stack_reserve(mut self, bytes: usize) -> Self {
        self.stack_reserve = Some(bytes);
        self
    }

    /// Changes the policy for unloads that do not finish by themselves.
    ///
    /// # Examples
    /// ```rust
    /// use std::time::Duration;
    ///
    /// use alcedo_runtime::Runtime;
    ///
    /// let builder = Runtime::builder().unloads(|policy| {
    ///     policy.grace = Duration::from_millis(10);
    ///     policy.reap_children = true;
    /// });
    /// # let _runtime = builder.build()?;
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn unloads(mut self, change: impl FnOnce(&mut UnloadPolicy)) -> Self {
        change(&mut self.unloads);
        self
    }

    /// Sets the time after which a blocked generation is parked: its images stay mapped permanently, and the report names the blockers.
    ///
    /// # Examples
    /// ```rust
    /// use std::time::Duration;
    ///
    /// use alcedo_runtime::Runtime;
    ///
    /// // At most four images stay mapped, each after a minute of waiting.
    /// let builder = Runtime::builder().park_after(Duration::from_secs(60)).parked_budget(4);
    /// # let _runtime = builder.build()?;
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn park_after(self, after: Duration) -> Self {
        self.unloads(|policy| policy.park_after = Some(after))
    }

    /// Sets the number of images that may be parked; beyond this number, no more modules are loaded.
    #[must_use]
    pub fn parked_budget(self, images: usize) -> Self {
        self.unloads(|policy| policy.parked_budget = images)
    }

    /// Sets whether values owned by plugin code keep the objects they refer to from collection, which is the default. If not, a
    /// reference to a collected object reads as none.
    #[must_use]
    pub fn blacks_are_roots(mut self, they_are: bool) -> Self {
        self.blacks_are_no_roots = !they_are;
        self
    }

    /// Adds a listener for events of the Master load context, called on the game thread.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{MasterEvent, Runtime};
    ///
    /// let builder = Runtime::builder().on_event(|event| match event {
    ///     MasterEvent::Blocked(..) => eprintln!("old code is still in use: {event}"),
    ///     other => println!("{other}"),
    /// });
    /// # let _runtime = builder.build()?;
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    #[track_caller]
    pub fn on_event(mut self, observer: impl Fn(&MasterEvent) + 'static) -> Self {
        let site = Site::new("listener for events", &observer);
        self.observers.push(Registered { code: Rc::new(observer), site });
        self
    }

    /// Connects to `alcedo dev` if that tool runs this program; otherwise has no effect.
    ///
    /// The tool builds the plugins. [`Runtime::create_master`] ignores its argument and loads these plugins, and returns when the first
    /// build is loaded; [`Runtime::tick`] loads each later build. One runtime of a process can connect.
    ///
    /// A crash is reported with module and line, and a call that does not return for a second is reported as a hang. In both cases the
    /// next process of this program restores the world as it was a few seconds before: [`Worlds::load`](crate::Worlds::load) is called
    /// at the first safe point with plugins, so earlier handles become stale.
    ///
    /// A host ends by [`Runtime::shutdown`] or by dropping its runtime. The tool treats any other exit as a crash caused by a plugin
    /// and restarts the host.
    ///
    /// Before an image is unmapped, memory is searched for references into it
    /// ([`UnloadPolicy::search_references`](crate::UnloadPolicy::search_references)). A later call of [`Builder::unloads`] can
    /// switch the search off.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// # use alcedo_runtime::{Budget, Runtime};
    /// let runtime = Runtime::builder().package("Game").development().build()?;
    /// runtime.create_master(&["target/debug/libspinner.so"])?;
    /// while !runtime.shutdown_requested() {
    ///     runtime.tick(Budget::frame());
    /// #   break;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn development(mut self) -> Self {
        self.development = true;
        self.unloads.search_references = ReferenceSearch::Always;
        self
    }

    /// For tests only: sets the last serial of a slot for objects and conjugates, so that slots are used up soon. Handles still never
    /// refer to another object, but used-up slots cost memory.
    #[doc(hidden)]
    #[must_use]
    pub fn last_serial(mut self, last: u32) -> Self {
        self.last_serial = Some(last);
        self
    }

    /// For tests only: reruns one class constructor in each reload; tests must detect the rerun.
    #[doc(hidden)]
    #[must_use]
    pub fn planted_rerun(mut self, planted: bool) -> Self {
        self.planted_rerun = planted;
        self
    }

    /// Lets classes of modules be bound to the C libraries of that folder (`#[uclass(dll_bind = "Name")]`). The caller that created the
    /// [`UserCode`](alcedo_dll_bind::UserCode) also vouches for the declarations that modules make for these libraries. Without this
    /// call such classes exist, and their functions do nothing.
    #[cfg(feature = "dll-bind")]
    #[must_use]
    pub fn user_code(mut self, code: &alcedo_dll_bind::UserCode) -> Self {
        self.user_code = Some(code.clone());
        self
    }

    /// Adds script packages: folders of `.uc` files, each named like its package. Declares each package. [`Runtime::create_master`] and
    /// reloads load the scripts along with the libraries.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{Runtime, Value};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let package = folder.path().join("Tale");
    /// std::fs::create_dir(&package)?;
    /// let hero = "class Hero extends Core.Object;\nvar int Health;\ndefaultproperties\n{\n    Health=100\n}\n";
    /// std::fs::write(package.join("Hero.uc"), hero)?;
    /// let runtime = Runtime::builder().scripts(&[&package]).build()?;
    /// runtime.create_master(&[] as &[&str])?;
    /// let hero = runtime.objects().spawn("/Script/Tale.Hero")?;
    /// assert_eq!(runtime.objects().get(hero, "Health")?, Value::I32(100));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "script")]
    #[must_use]
    pub fn scripts(mut self, folders: &[impl AsRef<Path>]) -> Self {
        for folder in folders {
            let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.as_ref().to_owned());
            let name = folder.file_name().and_then(|name| name.to_str()).filter(|name| is_identifier(name));
            // A folder with another name is rejected when its package is loaded.
            self.packages.extend(name.map(str::to_owned));
            self.scripts.push(folder);
        }
        self
    }

    /// Sets the maximum depth of nested script calls and the maximum loop iterations of one call from outside. A script that exceeds a
    /// limit fails with an error.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{Runtime, ScriptLimits};
    ///
    /// // A loop of a quest script ends after a million rounds.
    /// let limits = ScriptLimits { rounds: 1_000_000, ..ScriptLimits::default() };
    /// let runtime = Runtime::builder().script_limits(limits).build()?;
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[cfg(feature = "script")]
    #[must_use]
    pub fn script_limits(mut self, limits: alcedo_script::Limits) -> Self {
        self.script_limits = limits;
        self
    }

    /// Checks script packages against the native types added so far, against each other, and against plugin libraries. The paths may be
    /// folders of scripts and libraries in any order. Libraries are read but not mapped: no plugin code runs and no runtime is built.
    ///
    /// # Errors
    /// When a native declaration breaks a rule. Errors of a package are in its own result, as is the error of a library that cannot be
    /// read or declared. A library without errors has no result.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let package = folder.path().join("Tale");
    /// std::fs::create_dir(&package)?;
    /// std::fs::write(package.join("Hero.uc"), "class Hero extends Core.Object;\nvar ;\n")?;
    /// let checks = Runtime::builder().check_scripts(&[&package])?;
    /// // The second line of the class is incomplete.
    /// assert!(checks[0].declared.as_ref().unwrap_err().contains("Hero.uc:2"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "script")]
    pub fn check_scripts(mut self, modules: &[impl AsRef<Path>]) -> Result<Vec<ScriptCheck>, Error> {
        let world = World::new();
        let taken = self.take_natives(&world.types)?;
        world.types.declare(&world.names, &taken.batch)?;
        let modules: Vec<_> = modules.iter().map(|module| module.as_ref().to_owned()).collect();
        Ok(check::check(&world, &modules, &self.layouts(&taken)))
    }

    /// Returns the C layouts of structs that natives and the folder of C libraries state; the folder takes precedence.
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

    /// Returns the native types added so far as [`Runtime`] would declare them, for writing plugin glue. No object is constructed, and
    /// no runtime is built.
    ///
    /// # Errors
    /// When a native declaration breaks a rule.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::native::uclass;
    /// use alcedo_runtime::{Runtime, natives};
    ///
    /// #[uclass(package = "Game")]
    /// struct Lamp {
    ///     #[uproperty]
    ///     brightness: f64,
    /// }
    ///
    /// let declared = Runtime::builder().natives(natives![Lamp]).declared()?;
    /// let lamp = declared.classes.iter().find(|class| class.path == "/Script/Game.Lamp").unwrap();
    /// assert_eq!(lamp.properties[0].name, "brightness");
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn declared(mut self) -> Result<Declared, Error> {
        let world = World::new();
        let Natives { batch, .. } = self.take_natives(&world.types)?;
        world.types.declare(&world.names, &batch)?;
        Ok(of_natives(&world))
    }

    /// Answers `alcedo glue --host` if that tool started this process: writes the result of [`Builder::declared`] and ends the process.
    /// Otherwise has no effect. [`Builder::build`] does this first, so a host needs this call only if it opens a window, a port or a
    /// file before it builds its runtime.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let builder = Runtime::builder().package("Game").answer_glue();
    /// // Here the host opens its window.
    /// let runtime = builder.build()?;
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn answer_glue(self) -> Self {
        match answer::requested() {
            Some(to) => answer::answer(&to, self.answered()),
            None => self,
        }
    }

    fn answered(mut self) -> Result<Answered, Error> {
        let world = World::new();
        let taken = self.take_natives(&world.types)?;
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
    /// caller runs on the stack of a coroutine, or on a thread with a stack below 256 KiB.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    /// use alcedo_runtime::native::{NativeClass, Natives};
    ///
    /// // The base class does not exist.
    /// let lamp = NativeClass::new("Game", "Lamp", "/Script/Game.Actor");
    /// let builder = Runtime::builder().natives(Natives::in_package("Game").class(lamp));
    /// match builder.build() {
    ///     Ok(_runtime) => unreachable!("the declaration is wrong"),
    ///     Err(error) => assert!(error.to_string().contains("/Script/Game.Actor")),
    /// }
    /// ```
    pub fn build(self) -> Result<Runtime, Error> {
        // Checked in a separate frame: the frame of `build_here` may be larger than the stack of a coroutine.
        if let Some(problem) = stack_problem(thread_stack::span()) {
            return Err(system("building the host")(io::Error::new(io::ErrorKind::Unsupported, problem)));
        }
        self.build_here()
    }

    fn build_here(mut self) -> Result<Runtime, Error> {
        self = self.answer_glue();
        let invitation = if self.development { Invitation::from_environment()? } else { None };
        if let Some(invitation) = &invitation {
            self = self.on_hang(invitation.on_hang()).named(DEV).on_event(invitation.on_event()).named(DEV);
            self.watchdog.get_or_insert(HANG);
            // The host may have armed the guard already, in `main`.
            if let Err(error) = crate::crash_guard::arm_if_supervised() {
                tracing::debug!(%error, "the crash guard is not armed here");
            }
        }
        let core = with_last_serial(self.last_serial.unwrap_or(u32::MAX), Core::new)
            .map_err(system("starting the finalizer thread"))?;
        #[cfg(feature = "script")]
        core.limit_scripts(self.script_limits);
        let mut taken = self.take_natives(&core.world.types)?;
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
            // Classes bound to a library by their builder have bodies already.
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

    /// Declares the packages and returns the native types to declare in them. Returns an error if a package has no valid name.
    fn take_natives(&mut self, types: &Types) -> Result<Natives, Error> {
        let root = ClassDecl::new(ROOT_PACKAGE, "Object", "", Origin::Native);
        let mut taken = Natives {
            packages: mem::take(&mut self.packages),
            batch: Batch { classes: vec![root], ..Batch::default() },
            tickers: mem::take(&mut self.tickers),
            ..Natives::default()
        };
        self.natives.drain(..).for_each(|natives| taken.append(natives));
        if let Some(name) = taken.packages.iter().find(|name| !is_identifier(name)) {
            let owner = "the packages of the host".to_owned();
            return Err(DeclareError::BadName { name: name.clone(), owner }.into());
        }
        types.declare_package(ROOT_PACKAGE);
        taken.packages.iter().for_each(|package| types.declare_package(package));
        declare_implemented(&mut taken.batch);
        Ok(taken)
    }
}

/// Minimum size of a game thread's stack. A reload exhausts a smaller one.
const LEAST_STACK: usize = 256 << 10;

/// Returns the reason why no host can be built on a thread with this stack. `None` if a host can be built.
fn stack_problem(stack: StackSpan) -> Option<String> {
    if !stack.is_here() {
        return Some("a host is built on the stack of its thread, and not on that of a coroutine".to_owned());
    }
    (stack.len < LEAST_STACK).then(|| {
        let (found, least) = (stack.len >> 10, LEAST_STACK >> 10);
        format!(
            "the stack of this thread has {found} KiB, and a host needs at least {least} KiB: spawn the thread with a \
             larger `stack_size`"
        )
    })
}

/// Returns a constructor for errors of a step that the system refuses.
fn system(doing: &'static str) -> impl Fn(io::Error) -> Error {
    move |source| Error::System { doing: doing.to_owned(), source }
}

/// Declares the interfaces that native classes implement and that are not declared elsewhere. A host is compiled as a whole, so a wrong
/// path can only be a misspelling. An invalid path stays undeclared and is rejected later.
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
    fn a_package_with_an_invalid_name_is_refused_with_the_name() {
        let long = "x".repeat(100_000);
        for name in ["", ".Game", "..", "My Game", "Game\u{1f3ae}", "1Game", "A/B", "A\0B", &long] {
            let Err(refused) = Runtime::builder().package(name).build() else { panic!("{name} is accepted") };
            let shown = format!("\"{}\" in the packages of the host cannot be a name", alcedo_base::escape::line(name));
            assert!(refused.to_string().contains(&shown), "{refused}");
        }
        assert!(Runtime::builder().package("Größe_2").declared().is_ok());
    }

    #[test]
    fn reference_search_covers_all_plugins_in_development_else_those_with_libraries() {
        let check = |builder: Builder, expected| assert_eq!(builder.unloads.search_references, expected);
        check(Runtime::builder(), ReferenceSearch::WithLibraries);
        check(Runtime::builder().development(), ReferenceSearch::Always);
        let never = |policy: &mut UnloadPolicy| policy.search_references = ReferenceSearch::Never;
        check(Runtime::builder().development().unloads(never), ReferenceSearch::Never);
    }
}
