//! Configures a host before its start: packages, native classes, listeners. [`Builder::build`] starts the host. Plugin code runs only after
//! the start.

#[cfg(feature = "script")]
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "script")]
use alcedo_abi::names::is_identifier;
use alcedo_sys::{PublicKey, ReferenceSearch};

use crate::callback::{Registered, Site};
use crate::load::canary::Canary;
use crate::load::context::event::ContextEvent;
use crate::load::context::registry::LoadSettings;
use crate::load::master;
use crate::load::permissions::PermissionPolicy;
use crate::native::Natives;
use crate::runtime::Runtime;
use crate::unload::policy::UnloadPolicy;
use crate::watchdog::{Hang, Listener};

mod build;
#[cfg(feature = "script")]
mod check;

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
    /// Packages and tickers of the host.
    own: Natives,
    natives: Vec<Natives>,
    observers: Vec<Registered<master::Observer>>,
    loads: LoadSettings,
    watchdog: Option<Duration>,
    on_hang: Vec<Registered<Listener>>,
    /// Number of stack bytes that calls into modules and host functions leave free on each thread.
    stack_reserve: Option<usize>,
    owned_values_are_no_roots: bool,
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
    /// Declares a package, in which modules can declare types. The name `Game` declares the package `/Script/Game`. [`Builder::build`]
    /// fails if the name is not an identifier.
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
        self.own.packages.push(name.to_owned());
        self
    }

    /// Adds native types, with their tickers and hooks.
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

    /// Adds a callback that runs once per tick and receives the seconds since the previous tick.
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
        self.own = self.own.ticker(ticker);
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
        self.loads.args = args.iter().map(|arg| (*arg).to_owned()).collect();
        self
    }

    /// Sets whether the runtime rejects libraries that `alcedo build` has not sealed.
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
        self.loads.require_seal = require;
        self
    }

    /// Sets the policy for modules that use resources of the process without a permission in their `module!`. Such resources are the
    /// network, files, threads, signals and C libraries. The default policy only reports such uses. A module that declares no permissions
    /// is not checked. The check finds mistakes of plugin authors, but does not restrict the code of a module.
    /// `runtime/docs/trusting-files.md` lists the uses that the check detects.
    ///
    /// # Examples
    /// ```rust,no_run
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// use alcedo_runtime::{PermissionPolicy, Runtime};
    ///
    /// let runtime = Runtime::builder().permissions(PermissionPolicy::Refuse).build()?;
    /// if let Err(error) = runtime.create_master(&["/opt/game/plugins/libweather.so"]) {
    ///     eprintln!("the plugin is not loaded: {error}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn permissions(mut self, policy: PermissionPolicy) -> Self {
        self.loads.permissions = policy;
        self
    }

    /// Accepts only libraries that are signed with this key; see `alcedo keygen` and `alcedo build --sign`. Several calls of this method
    /// accept several keys. The check applies to every module in every context, including modules that are loaded from memory.
    /// `runtime/docs/trusting-files.md` explains the guarantees and limits of a signature.
    ///
    /// ```
    /// # let text = alcedo_runtime::SecretKey::generate()?.public().to_pem();
    /// let builder = alcedo_runtime::Runtime::builder().trust(text.parse()?);
    /// # Ok::<(), alcedo_runtime::KeyError>(())
    /// ```
    #[must_use]
    pub fn trust(mut self, key: PublicKey) -> Self {
        self.loads.demands.trusted.push(key);
        self
    }

    /// Sets the maximum size of a library file in bytes. The default is 1 GiB. The runtime checks the size before it reads the file, and
    /// rejects larger files.
    ///
    /// # Examples
    /// ```rust
    /// let builder = alcedo_runtime::Runtime::builder().largest_library(64 << 20); // 64 MiB
    /// # let _runtime = builder.build()?;
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn largest_library(mut self, bytes: u64) -> Self {
        self.loads.demands.largest = bytes;
        self
    }

    /// Sets the canary of all contexts: a child process that loads new modules before this host loads them; see [`Canary`].
    /// [`LoadContext::set_canary`](crate::LoadContext::set_canary) sets the canary of one context.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{Canary, Runtime};
    ///
    /// // A tool that only loads plugins of its own build.
    /// let runtime = Runtime::builder().canary(Canary::Off).build()?;
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn canary(mut self, canary: Canary) -> Self {
        self.loads.rehearsal.canary = canary;
        self
    }

    /// Sets the time limit for one canary process. A canary process loads all modules of one generation or one load. The default is ten
    /// seconds.
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
        self.loads.rehearsal.deadline = deadline;
        self
    }

    /// Starts a watchdog thread, which logs operations that take longer than `limit`: calls into modules, reload phases and finalizers.
    /// Each call into a module then takes about ten nanoseconds longer.
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

    /// Adds a listener for hangs. The watchdog thread calls the listener while the reported call still hangs. The listener is called only
    /// if [`Builder::watchdog`] sets a limit.
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

    /// Names the last callback that was added to this builder: a ticker, or a listener for events or hangs. [`Runtime::registrations`]
    /// returns the name with the registration of the callback, for example to find and remove the callback. Several callbacks may have the
    /// same name.
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
        let tickers = self.own.tickers.iter_mut().map(|ticker| &mut ticker.site);
        let observers = self.observers.iter_mut().map(|observer| &mut observer.site);
        let sites = tickers.chain(observers).chain(self.on_hang.iter_mut().map(|listener| &mut listener.site));
        Site::name_newest(sites, name);
        self
    }

    /// Sets the stack reserve: the number of stack bytes that calls into modules and calls of host functions leave free. The default is 256
    /// KiB. The maximum is three quarters of the stack. Applies to the game thread, and to each thread that calls into a Slim, a pinned
    /// context or the Default. A call that would leave less stack free fails with [`CallError::TooDeep`](crate::CallError::TooDeep).
    /// Unbounded recursion therefore returns an error, and the process continues. Calls that destroy objects may use up to three quarters
    /// of the reserve. The runtime does not check two kinds of calls into a Slim, a pinned context or the Default: calls through function
    /// pointers, and calls on the stack of a coroutine, whose size is unknown.
    ///
    /// # Examples
    /// ```rust
    /// // Deep recursion of plugins and host functions fails while half a megabyte of the stack is still free.
    /// let builder = alcedo_runtime::Runtime::builder().stack_reserve(512 << 10);
    /// # let _runtime = builder.build()?;
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn stack_reserve(mut self, bytes: usize) -> Self {
        self.stack_reserve = Some(bytes);
        self
    }

    /// Passes the policy for blocked unloads to `change`, which can modify the policy.
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
        change(&mut self.loads.unloads);
        self
    }

    /// Sets the time after which a blocked generation is parked: the images of the generation stay mapped permanently, and the report lists
    /// the blockers.
    ///
    /// # Examples
    /// ```rust
    /// use std::time::Duration;
    ///
    /// use alcedo_runtime::Runtime;
    ///
    /// // At most four images stay mapped, each after a wait of one minute.
    /// let builder = Runtime::builder().park_after(Duration::from_secs(60)).parked_budget(4);
    /// # let _runtime = builder.build()?;
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn park_after(self, after: Duration) -> Self {
        self.unloads(|policy| policy.park_after = Some(after))
    }

    /// Sets the maximum number of parked images. When the runtime has parked more images, loads of modules fail. A health watch can still
    /// return to the last healthy library; see [`Runtime::watch_health`].
    #[must_use]
    pub fn parked_budget(self, images: usize) -> Self {
        self.unloads(|policy| policy.parked_budget = images)
    }

    /// Sets whether references in values that plugin code owns protect the referenced objects from garbage collection. The default is
    /// `true`. With `false`, a reference to a collected object reads as `ObjectHandle::NONE`.
    #[must_use]
    pub fn owned_values_are_roots(mut self, they_are: bool) -> Self {
        self.owned_values_are_no_roots = !they_are;
        self
    }

    /// Adds a listener for events of the Master. The listener is called on the game thread, and can own values of this thread.
    /// [`Contexts::on_event`](crate::Contexts::on_event) registers listeners for all contexts.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{ContextEventKind, Runtime};
    ///
    /// let builder = Runtime::builder().on_event(|event| match event.event {
    ///     ContextEventKind::Blocked(_) => eprintln!("old code is still in use: {event}"),
    ///     _ => println!("{event}"),
    /// });
    /// # let _runtime = builder.build()?;
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    #[track_caller]
    pub fn on_event(mut self, observer: impl Fn(&ContextEvent) + 'static) -> Self {
        let site = Site::new("listener for events", &observer);
        self.observers.push(Registered { code: Rc::new(observer), site });
        self
    }

    /// Connects to `alcedo dev` if `alcedo dev` started this program. Otherwise only enables the memory search below.
    ///
    /// `alcedo dev` builds the plugins. [`Runtime::create_master`] then ignores its argument, waits for the first build, and loads the
    /// plugins of this build. [`Runtime::tick`] loads each later build. Only one runtime per process can connect.
    ///
    /// `alcedo dev` reports a crash with its module and line. A call that runs for more than a second is reported as a hang. In both cases
    /// `alcedo dev` starts this program again, and the new process restores a world that was saved a few seconds earlier. The first safe
    /// point after plugins were loaded calls [`Worlds::load`](crate::Worlds::load). Loading the world makes all earlier object handles
    /// stale.
    ///
    /// A host ends when it calls [`Runtime::shutdown`] or drops its runtime. If the process exits without one of these steps, `alcedo dev`
    /// assumes that a plugin has crashed, and restarts the host.
    ///
    /// Enables [`UnloadPolicy::search_references`](crate::UnloadPolicy::search_references): before an image is unmapped, the runtime
    /// searches memory for references to the image. A later call of [`Builder::unloads`] can disable this search.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// # use alcedo_runtime::{Budget, Runtime};
    /// let runtime = Runtime::builder().package("Game").development().build()?;
    /// runtime.create_master(&["/opt/game/plugins/libspinner.so"])?;
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
        self.loads.unloads.search_references = ReferenceSearch::Always;
        self
    }

    /// For tests only: sets the last serial number of slots for objects and conjugates. With a small number, a test soon exhausts a slot.
    /// Stale handles remain invalid, and exhausted slots continue to occupy memory.
    #[doc(hidden)]
    #[must_use]
    pub fn last_serial(mut self, last: u32) -> Self {
        self.last_serial = Some(last);
        self
    }

    /// For tests only: runs one class constructor a second time in each reload. Tests verify that the reload checks detect the second run.
    #[doc(hidden)]
    #[must_use]
    pub fn planted_rerun(mut self, planted: bool) -> Self {
        self.planted_rerun = planted;
        self
    }

    /// Allows modules to bind classes to the C libraries in the folder of `code` (`#[uclass(dll_bind = "Name")]`). The creator of the
    /// [`UserCode`](alcedo_dll_bind::UserCode) also guarantees that the declarations of modules for these libraries are correct. Without
    /// this setting, the functions of such classes do nothing.
    #[cfg(feature = "dll-bind")]
    #[must_use]
    pub fn user_code(mut self, code: &alcedo_dll_bind::UserCode) -> Self {
        self.user_code = Some(code.clone());
        self
    }

    /// Adds and declares script packages. Each script package is a folder of `.uc` files, and has the name of its folder.
    /// [`Runtime::create_master`] and reloads load the scripts together with the libraries.
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
            // If the folder name is invalid, the later load of the package reports the error.
            self.own.packages.extend(name.map(str::to_owned));
            self.scripts.push(folder);
        }
        self
    }

    /// Sets the limits for scripts: depth of nested calls, loop iterations, memory of frames, and sizes of values. Iterations are counted
    /// per call from the host or a plugin. A script that exceeds a limit fails with an error.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{Runtime, ScriptLimits};
    ///
    /// // A loop of a quest script fails after a million iterations.
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
}

#[cfg(test)]
mod tests {
    use crate::{Builder, ReferenceSearch, Runtime, UnloadPolicy};

    #[test]
    fn a_package_with_an_invalid_name_is_refused_with_the_name() {
        let long = "x".repeat(100_000);
        for name in ["", ".Game", "..", "My Game", "Game\u{1f3ae}", "1Game", "A/B", "A\0B", &long] {
            let Err(refused) = Runtime::builder().package(name).build() else { panic!("{name} is accepted") };
            let message =
                format!("\"{}\" in the packages of the host cannot be a name", alcedo_base::escape::line(name));
            assert!(refused.to_string().contains(&message), "{refused}");
        }
        assert!(Runtime::builder().package("Größe_2").declared().is_ok());
    }

    #[test]
    fn reference_search_covers_all_plugins_in_development_else_those_with_libraries() {
        let check = |builder: Builder, expected| assert_eq!(builder.loads.unloads.search_references, expected);
        check(Runtime::builder(), ReferenceSearch::WithLibraries);
        check(Runtime::builder().development(), ReferenceSearch::Always);
        let never = |policy: &mut UnloadPolicy| policy.search_references = ReferenceSearch::Never;
        check(Runtime::builder().development().unloads(never), ReferenceSearch::Never);
    }
}
