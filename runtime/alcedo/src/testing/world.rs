//! A headless host for one test. If plugin code fails, most methods panic. The panic message contains the location of the method's caller.
//! Methods with the prefix `try_` return the error instead.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::{fmt, fs, thread};

use alcedo_build::BuildError;
use alcedo_runtime::host::{HostValue, NativeParams, NativeResult, Obj, Object, Reference};
use alcedo_runtime::{Budget, Builder, Canary, Error, ReloadReport, Runtime, Value};
use tracing::{Dispatch, dispatcher};

use super::log::{Log, Recorder};
use super::plugin::{Built, Edits, Plugin};

/// Builder of a [`TestWorld`]. [`TestWorld::builder`] creates the builder.
///
/// # Examples
/// ```no_run
/// use alcedo::Runtime;
/// use alcedo::testing::TestWorld;
///
/// let world = TestWorld::builder(env!("CARGO_MANIFEST_DIR"), env!("CARGO_PKG_NAME"))
///     .host(Runtime::builder().package("Mods").natives(alcedo::engine::natives()))
///     .and("../glue-base")
///     .feature("later")
///     .build();
/// ```
#[must_use]
pub struct TestWorldBuilder {
    plugin: Plugin,
    host: Option<Builder>,
}

impl fmt::Debug for TestWorldBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.plugin, f)
    }
}

impl TestWorldBuilder {
    /// Sets the builder of the host. The default is the small engine, with the package `Game`.
    pub fn host(self, host: Builder) -> Self {
        Self { host: Some(host), ..self }
    }

    /// Also builds and loads the plugins in the folder `folder`. Call this method for each dependency of the tested plugin. `folder` is
    /// relative to the folder of the tested plugin.
    pub fn and(mut self, folder: impl Into<PathBuf>) -> Self {
        self.plugin.others.push(folder.into());
        self
    }

    /// Enables a cargo feature of the plugin.
    pub fn feature(mut self, name: &str) -> Self {
        self.plugin.features.push(name.to_owned());
        self
    }

    /// Builds the plugins with the release profile. [`test_world!`](crate::test_world) selects the profile of the test.
    pub fn release(mut self, yes: bool) -> Self {
        self.plugin.release = yes;
        self
    }

    /// Sets cargo's folder of intermediate files. The default is the build folder of the plugin. [`test_world!`](crate::test_world) sets
    /// the build folder of the test. All files of the tests are in the subfolder `alcedo-tests`.
    pub fn build_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.plugin.build_dir = Some(folder.into());
        self
    }

    /// Loads the libraries into a new host. The first call in this process builds the libraries. The calling thread becomes the game thread
    /// of the host.
    ///
    /// # Panics
    /// Panics if a build fails, if the host cannot be built, or if the host rejects a library. After a failed build, the panic message
    /// contains the compiler errors.
    #[track_caller]
    pub fn build(self) -> TestWorld {
        match self.try_build() {
            Ok(world) => world,
            Err(error) => panic!("{error}"),
        }
    }

    fn try_build(self) -> Result<TestWorld, String> {
        let built = self.plugin.built().map_err(|error| error.to_string())?;
        let recorder = Recorder::default();
        let dispatch = Dispatch::new(recorder.clone());
        let engine = || Runtime::builder().package("Game").natives(alcedo_engine::natives()).canary(Canary::Off);
        let host = self.host.unwrap_or_else(engine);
        // The host stores the subscriber that is the default while it is built, and uses this subscriber for log records of other threads.
        let runtime = dispatcher::with_default(&dispatch, || host.build()).map_err(|error| error.to_string())?;
        let libraries = RefCell::new(built.libraries.clone());
        let edits = RefCell::default();
        let world = TestWorld { runtime, recorder, dispatch, plugin: self.plugin, built, libraries, edits };
        world.inside(|runtime| runtime.create_master(&world.built.libraries)).map_err(|error| error.to_string())?;
        Ok(world)
    }
}

/// A headless host with the libraries of a plugin, for one test. Created by [`test_world!`](crate::test_world) or
/// [`TestWorld::builder`].
///
/// A world belongs to one thread, and each test creates its own world. Tests can run in parallel, because each world loads private copies
/// of the libraries. Dropping a world unloads all plugins. [`TestWorld::finish`] also checks that the unload succeeded. If the test panics,
/// the drop of the world prints the log.
///
/// # Examples
/// ```no_run
/// let world = alcedo::test_world!();
/// let cube = world.spawn("MagicCube");
/// world.set(cube, "rotation_speed", 90.0);
/// world.call::<()>(cube, "say_hello", ());
/// world.tick(0.5);
/// world.assert_logged("hello for the 1. time");
///
/// // A second build, of a copy of the sources.
/// let report = world.edit("src/lib.rs", |text| text.replace("hello for the", "good morning for the"));
/// assert_eq!(report.conjugates_rebuilt, 1);
/// assert_eq!(world.get::<f64>(cube, "rotation_speed"), 90.0);
/// assert_eq!(world.call::<u32>(cube, "greeting_count", ()), 1);
/// world.finish();
/// ```
pub struct TestWorld {
    runtime: Runtime,
    recorder: Recorder,
    dispatch: Dispatch,
    plugin: Plugin,
    built: Built,
    /// Libraries of the last committed generation.
    libraries: RefCell<Vec<PathBuf>>,
    edits: RefCell<Edits>,
}

impl fmt::Debug for TestWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a test world of `{}`, generation {}", self.plugin.package, self.runtime.generation())
    }
}

impl TestWorld {
    /// Returns a builder for a world with the plugin `package`. `folder` is the folder that contains the `Cargo.toml` of the plugin.
    pub fn builder(folder: impl Into<PathBuf>, package: &str) -> TestWorldBuilder {
        let (folder, package) = (folder.into(), package.to_owned());
        let (features, others) = (Vec::new(), Vec::new());
        let plugin = Plugin { folder, package, features, release: false, build_dir: None, others };
        TestWorldBuilder { plugin, host: None }
    }

    /// Returns the host, for operations that this type does not provide. During these operations, the log of the world receives log records
    /// of plugins, but none of the host.
    #[must_use]
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Creates an object of a plugin class. `class` is the class name, the name with its package (`Game.Cube`), or a path. With a path, the
    /// class may also be a class of the host.
    ///
    /// # Panics
    /// Panics if the name is unknown or ambiguous, or if the construction of the object fails.
    #[track_caller]
    pub fn spawn(&self, class: &str) -> Obj<Object> {
        let path = self.class(class);
        match self.inside(|runtime| runtime.objects().spawn(&path)) {
            Ok(object) => Obj::new(object),
            Err(error) => panic!("spawning `{path}`: {error}"),
        }
    }

    /// Reads a property.
    ///
    /// # Panics
    /// Panics if the object is destroyed, or if the object has no property with this name and type.
    #[track_caller]
    pub fn get<T: HostValue>(&self, object: impl Reference, property: &str) -> T {
        let object = object.to_handle();
        match self.inside(|runtime| runtime.world().get::<T::Raw>(object, property)) {
            Ok(raw) => T::from_raw(raw),
            Err(error) => panic!("reading `{property}`: {error}"),
        }
    }

    /// Reads a property of any type.
    ///
    /// # Panics
    /// Panics if the object is destroyed, or if the object has no property with this name.
    #[track_caller]
    pub fn value(&self, object: impl Reference, property: &str) -> Value {
        match self.inside(|runtime| runtime.objects().get(object.to_handle(), property)) {
            Ok(value) => value,
            Err(error) => panic!("reading `{property}`: {error}"),
        }
    }

    /// Writes a property.
    ///
    /// # Panics
    /// Panics if the object is destroyed, or if the object has no property with this name and type.
    #[track_caller]
    pub fn set<T: HostValue>(&self, object: impl Reference, property: &str, value: T) {
        let object = object.to_handle();
        if let Err(error) = self.inside(|runtime| runtime.world().set(object, property, value.into_raw())) {
            panic!("writing `{property}`: {error}");
        }
    }

    /// Calls a function of the object's class by name. Results of [`TestWorld::spawn`] are valid arguments for parameters of their class or
    /// a base class. Private methods cannot be called by name. Test private methods in a unit test in `src`.
    ///
    /// # Panics
    /// Panics if the object has no function with this name, if an argument or the result has a different type, or if the function fails.
    /// After a panic in the plugin, the message contains the plugin's panic message with file and line.
    #[track_caller]
    pub fn call<R: NativeResult>(&self, object: impl Reference, function: &str, arguments: impl NativeParams) -> R {
        match self.try_call(object, function, arguments) {
            Ok(result) => result,
            Err(error) => panic!("calling `{function}`: {error}"),
        }
    }

    /// Variant of [`TestWorld::call`] that returns the error of a failed call.
    ///
    /// # Errors
    /// Returns the error of the call, such as a panic in the plugin.
    ///
    /// # Examples
    /// ```no_run
    /// # let world = alcedo::test_world!();
    /// let listener = world.spawn("Listener");
    /// let error = world.try_call::<()>(listener, "burst", (7, listener)).unwrap_err();
    /// assert!(error.to_string().contains("7 points are too much"));
    /// ```
    pub fn try_call<R: NativeResult>(
        &self,
        object: impl Reference,
        function: &str,
        arguments: impl NativeParams,
    ) -> Result<R, Error> {
        self.inside(|runtime| runtime.objects().call_as(object.to_handle(), function, arguments))
    }

    /// Runs one tick. The tick advances the game time by `seconds` and runs tasks of plugins.
    ///
    /// # Panics
    /// Panics if plugin code fails during the tick. The panic message contains each failure that the host logged, with file and line.
    #[track_caller]
    pub fn tick(&self, seconds: f32) {
        let before = self.recorder.count();
        self.inside(|runtime| runtime.tick(Budget::seconds(seconds)));
        let failures = self.recorder.failures_after(before);
        assert!(failures.is_empty(), "in a tick of {seconds} s:\n{failures}");
    }

    /// Reloads the current libraries: the libraries of the last committed generation.
    ///
    /// # Panics
    /// Panics if the reload is rolled back. The panic message contains the report.
    #[track_caller]
    pub fn reload(&self) -> ReloadReport {
        let libraries = self.libraries.borrow().clone();
        committed(self.inside(|runtime| runtime.reload(&libraries)))
    }

    /// Edits a copy of a source file, builds the plugin with the copy, and reloads the plugin. `file` is relative to the plugin's folder.
    /// `change` receives the text of the copy and returns the new text. The copy contains all previous edits of this world.
    ///
    /// # Panics
    /// Panics if the file does not exist, if `change` returns its argument unchanged, if the build fails, or if the reload is rolled back.
    /// The message contains the compiler errors or the report.
    #[track_caller]
    pub fn edit(&self, file: impl AsRef<Path>, change: impl FnOnce(&str) -> String) -> ReloadReport {
        match self.try_edit(file, change) {
            Ok(report) => committed(Ok(report)),
            Err(error) => panic!("{error}"),
        }
    }

    /// Variant of [`TestWorld::edit`] that expects a rollback of the reload. The returned report contains the phase and the error. The copy
    /// keeps the edit, and the old code continues to run.
    ///
    /// # Panics
    /// Panics if the reload is committed, if the build fails, if the file does not exist, or if `change` returns its argument unchanged.
    ///
    /// # Examples
    /// ```no_run
    /// # let world = alcedo::test_world!();
    /// let broken = r#"fn new(_this: This<Self>) -> Self { panic!("no gears"); }"#;
    /// let report = world.expect_rollback("src/lib.rs", |text| text.replace("// A constructor.", broken));
    /// assert!(report.to_string().contains("no gears"), "{report}");
    /// ```
    #[track_caller]
    pub fn expect_rollback(&self, file: impl AsRef<Path>, change: impl FnOnce(&str) -> String) -> ReloadReport {
        match self.try_edit(file, change) {
            Ok(report) if report.is_committed() => panic!("the reload was not rolled back:\n{report}"),
            Ok(report) => report,
            Err(error) => panic!("{error}"),
        }
    }

    /// Variant of [`TestWorld::edit`] that returns the build error if the build fails, and the report even if the reload is rolled back.
    ///
    /// # Errors
    /// Returns [`BuildError::DoesNotCompile`] with the compiler errors, or a different error of the build. The copy keeps the edit.
    ///
    /// # Panics
    /// Panics if the file does not exist, if `change` returns its argument unchanged, or if the host cannot start the reload.
    #[track_caller]
    pub fn try_edit(
        &self,
        file: impl AsRef<Path>,
        change: impl FnOnce(&str) -> String,
    ) -> Result<ReloadReport, BuildError> {
        let file = file.as_ref();
        let edited = self.edits.borrow().get(file).cloned();
        let old = match edited.map_or_else(|| fs::read_to_string(self.plugin.folder.join(file)), Ok) {
            Ok(text) => text,
            Err(error) => panic!("reading `{}` in {}: {error}", file.display(), self.plugin.folder.display()),
        };
        let new = change(&old);
        assert!(new != old, "the edit of `{}` changes nothing: the text has no such part", file.display());
        self.edits.borrow_mut().insert(file.to_owned(), new);
        let library = self.plugin.edited(&self.built, &self.edits.borrow())?;
        let mut libraries = self.libraries.borrow().clone();
        libraries[0] = library;
        match self.inside(|runtime| runtime.reload(&libraries)) {
            Ok(report) => {
                if report.is_committed() {
                    self.libraries.replace(libraries);
                }
                Ok(report)
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Returns all log lines so far. Includes the plugin records of all threads. Includes a host record if its level is INFO or above and a
    /// method of this world was running.
    #[must_use]
    pub fn log(&self) -> Log {
        self.recorder.log()
    }

    /// Checks that at least one log message contains `text`.
    ///
    /// # Panics
    /// Panics if no message contains `text`. The panic message contains the log.
    #[track_caller]
    pub fn assert_logged(&self, text: &str) {
        let log = self.log();
        assert!(log.contains(text), "`{text}` was not logged. The log:\n{log}");
    }

    /// Shuts the host down. Checks that all plugin images were unmapped.
    ///
    /// # Panics
    /// Panics if an image is still mapped. The panic message lists the reasons.
    #[track_caller]
    pub fn finish(self) {
        let report = self.inside(|runtime| runtime.clone().shutdown());
        assert!(report.left.is_empty(), "{report}");
    }

    /// Runs `action` with the log subscriber of this world.
    fn inside<R>(&self, action: impl FnOnce(&Runtime) -> R) -> R {
        dispatcher::with_default(&self.dispatch, || action(&self.runtime))
    }

    /// Returns the path of the plugin class `name`. Panics if no class or several classes have the name.
    #[track_caller]
    fn class(&self, name: &str) -> String {
        if name.starts_with('/') {
            return name.to_owned();
        }
        let classes = self.runtime.types().dynamic_classes();
        let short = |path: &str| path.strip_prefix("/Script/").unwrap_or(path).to_owned();
        let is_named = |path: &str| path == name || path.split_once('.').is_some_and(|(_, class)| class == name);
        let named: Vec<_> = classes.iter().filter(|path| is_named(&short(path))).collect();
        match named[..] {
            [path] => path.clone(),
            [] => {
                let known: Vec<_> = classes.iter().map(|path| short(path)).collect();
                let known = match &known[..] {
                    [] => " or any other class".to_owned(),
                    known => format!(", but {}", known.join(", ")),
                };
                let path = if name.contains('.') { name.to_owned() } else { format!("Package.{name}") };
                panic!(
                    "no plugin declares the class `{name}`{known}; a class of the host needs its path: `/Script/{path}`"
                )
            }
            ref several => panic!("several classes are named `{name}`, so name one by its path: {several:?}"),
        }
    }
}

impl Drop for TestWorld {
    fn drop(&mut self) {
        if thread::panicking() {
            eprint!("the log of the world:\n{}", self.log());
        }
    }
}

/// Returns the report of a reload, or panics unless the reload was committed.
#[track_caller]
fn committed(report: Result<ReloadReport, Error>) -> ReloadReport {
    match report.map(ReloadReport::into_result) {
        Ok(Ok(report)) => report,
        Ok(Err(report)) => panic!("{report}"),
        Err(error) => panic!("{error}"),
    }
}
