//! Builds the runtime that a [`Builder`] describes, or only declares its native types for script checks and glue.

use std::io;
use std::mem;
#[cfg(feature = "script")]
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use alcedo_abi::names::is_identifier;
use alcedo_abi::stack::StackSpan;

use super::Builder;
#[cfg(feature = "script")]
use super::check::check;
use crate::bridge::core::Core;
use crate::callback::Callbacks;
use crate::development::answer::Answered;
use crate::development::{Invitation, answer};
use crate::emit::c_bodies;
#[cfg(any(feature = "dll-bind", feature = "script"))]
use crate::emit::c_bodies::Layouts;
use crate::error::Error;
use crate::handles::with_last_serial;
#[cfg(feature = "script")]
use crate::load::declared::ScriptCheck;
use crate::load::declared::{Declared, of_natives};
use crate::load::master::Loads;
use crate::native::Natives;
use crate::object::World;
use crate::object::construction::make_cdo;
use crate::object::decl::{Batch, ClassDecl, InterfaceDecl};
use crate::object::origin::Origin;
use crate::object::path::TypePath;
use crate::object::refusal::DeclareError;
use crate::object::types::Types;
use crate::runtime::Runtime;
use crate::thread_stack;
use crate::watchdog::Listener;

const HANG: Duration = Duration::from_secs(1);

const DEV: &str = "alcedo dev";

const ROOT_PACKAGE: &str = "Core";

impl Builder {
    /// Checks script packages against the native types of this builder, against each other, and against plugin libraries. `modules`
    /// contains paths of script folders and libraries, in any order. Libraries are read, but not mapped. No plugin code runs, and no
    /// runtime is built.
    ///
    /// # Errors
    /// Returns an error if a native declaration breaks a rule. Errors in a script package do not make this function fail: the
    /// [`ScriptCheck`] of the package lists these errors. The returned list contains a library only if the library cannot be read or
    /// declared.
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
        let (world, natives) = self.declare_natives()?;
        let modules: Vec<_> = modules.iter().map(|module| module.as_ref().to_owned()).collect();
        Ok(check(&world, &modules, &self.layouts(&natives)))
    }

    /// Returns the C layouts of structs. The layouts are declared by the native types and by the folder of C libraries. Layouts from the
    /// folder take precedence.
    #[cfg(any(feature = "dll-bind", feature = "script"))]
    fn layouts(&self, collected: &Natives) -> Layouts {
        let layouts = c_bodies::floats(&collected.c_floats);
        #[cfg(feature = "dll-bind")]
        let layouts = match &self.user_code {
            Some(code) => layouts.and(code.stated_layouts().clone()),
            None => layouts,
        };
        layouts
    }

    /// Returns the native types of this builder in the form in which a [`Runtime`] declares the types. Intended for tools that write glue.
    /// Constructs no object, and builds no runtime.
    ///
    /// # Errors
    /// Returns an error if a native declaration breaks a rule.
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
        let (world, _) = self.declare_natives()?;
        Ok(of_natives(&world))
    }

    /// If `alcedo glue --host` started this process, writes the result of [`Builder::declared`] and ends the process. Otherwise returns the
    /// builder unchanged. [`Builder::build`] also calls this function first. A host needs a direct call of this function only if the host
    /// opens a window, a port or a file before it builds its runtime.
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
        let (world, natives) = self.declare_natives()?;
        let declared = of_natives(&world);
        #[cfg(feature = "script")]
        let scripts = Some(check(&world, &answer::scripts(), &self.layouts(&natives)));
        #[cfg(not(feature = "script"))]
        let (scripts, _) = (None, natives);
        Ok(Answered { declared, scripts, ..Answered::default() })
    }

    /// Builds the runtime. The calling thread becomes the game thread. Log records of a plugin thread without a `tracing` subscriber are
    /// sent to the current subscriber of the calling thread. The runtime holds this subscriber until the runtime is dropped.
    ///
    /// # Errors
    /// Returns an error if a native declaration breaks a rule, or if the system cannot create the finalizer thread or the folder for
    /// copies. Returns an error if the caller runs on the stack of a coroutine, or on a thread with a stack below 256 KiB.
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
        // Checks the stack in a separate frame, because the frame of `build_here` may be larger than the stack of a coroutine.
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
            // Only logs an error, because the host may already have armed the crash guard in `main`.
            if let Err(error) = crate::crash_guard::arm_if_supervised() {
                log!(DEBUG, %error, "the crash guard is not armed here");
            }
        }
        let core = with_last_serial(self.last_serial.unwrap_or(u32::MAX), Core::new)
            .map_err(system("starting the finalizer thread"))?;
        #[cfg(feature = "script")]
        core.limit_scripts(self.script_limits);
        let mut collected = self.take_natives(&core.world.types)?;
        #[cfg(feature = "dll-bind")]
        let layouts = self.layouts(&collected);
        let on_hang: Arc<Callbacks<Listener>> = Arc::new(self.on_hang.into_iter().collect());
        if let Some(limit) = self.watchdog {
            core.watch(limit, Arc::clone(&on_hang)).map_err(system("starting the watchdog"))?;
        }
        self.stack_reserve.into_iter().for_each(|bytes| core.set_stack_reserve(bytes));
        core.collection.owned_values_are_roots.set(!self.owned_values_are_no_roots);
        let loads = Loads::new(&core, self.loads);
        let mut loads = loads.map_err(system("making the folder for copies of libraries"))?;
        loads.planted_rerun = self.planted_rerun;
        loads.observers = self.observers.into_iter().collect();
        #[cfg(feature = "dll-bind")]
        let _first = self.user_code.map(|code| core.user_code.set(code));
        #[cfg(feature = "dll-bind")]
        let _first = core.c_layouts.set(layouts);
        for class in &mut collected.batch.classes {
            // A `DllClass` has already provided bodies for the functions of this class.
            #[cfg(feature = "dll-bind")]
            if collected.c_bodies.iter().any(|body| body.is_of(class)) {
                continue;
            }
            #[cfg(feature = "dll-bind")]
            collected.c_bodies.extend(c_bodies::attach(&core, None, class));
            #[cfg(not(feature = "dll-bind"))]
            c_bodies::attach(&core, None, class);
        }
        let declared = core.world.types.declare(&core.world.names, &collected.batch)?;
        #[cfg(feature = "dll-bind")]
        c_bodies::bind(&collected.c_bodies, &declared.classes)?;
        for class in declared.classes {
            make_cdo(&core.world, &core.plugins(), &class)?;
        }
        let callbacks = (collected.tickers, collected.before_destroy, on_hang);
        let runtime = Runtime::of(core, loads, callbacks, collected.net_structs);
        #[cfg(feature = "script")]
        runtime.add_scripts(self.scripts);
        if let Some(invitation) = invitation {
            runtime.join(invitation).map_err(system("starting the thread that listens to `alcedo dev`"))?;
        }
        Ok(runtime)
    }

    /// Declares the native types in a world without objects.
    fn declare_natives(&mut self) -> Result<(World, Natives), Error> {
        let world = World::new();
        let natives = self.take_natives(&world.types)?;
        world.types.declare(&world.names, &natives.batch)?;
        Ok((world, natives))
    }

    /// Declares the packages, and returns the native types of these packages. Returns an error if the name of a package is invalid.
    fn take_natives(&mut self, types: &Types) -> Result<Natives, Error> {
        let root = ClassDecl::new(ROOT_PACKAGE, "Object", "", Origin::Native);
        let mut collected = mem::take(&mut self.own);
        collected.batch.classes.push(root);
        self.natives.drain(..).for_each(|natives| collected.append(natives));
        if let Some(name) = collected.packages.iter().find(|name| !is_identifier(name)) {
            let owner = "the packages of the host".to_owned();
            return Err(DeclareError::BadName { name: name.clone(), owner }.into());
        }
        types.declare_package(ROOT_PACKAGE);
        collected.packages.iter().for_each(|package| types.declare_package(package));
        declare_implemented(&mut collected.batch);
        Ok(collected)
    }
}

/// Minimum stack size of a game thread in bytes. A reload could exhaust a smaller stack.
const LEAST_STACK: usize = 256 << 10;

/// Returns the reason why no host can be built on a thread with this stack. Returns `None` if a host can be built.
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

/// Returns a function that creates the error of a failed system operation.
fn system(doing: &'static str) -> impl Fn(io::Error) -> Error {
    move |source| Error::System { doing: doing.to_owned(), source }
}

/// Declares each interface that a native class implements and that has no explicit declaration. An interface with an invalid path stays
/// undeclared. The declaration of the class later reports this path.
fn declare_implemented(batch: &mut Batch) {
    let Batch { interfaces, classes, .. } = batch;
    for path in classes.iter().flat_map(|class| &class.interfaces) {
        let Ok(path) = path.parse::<TypePath>() else { continue };
        if !interfaces.iter().any(|known| known.package == path.package && known.name == path.name) {
            interfaces.push(InterfaceDecl::new(&path.package, &path.name, Origin::Native));
        }
    }
}
