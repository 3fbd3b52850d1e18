//! What a host says before it starts: packages, native classes, listeners. Nothing runs until all of it is declared.

use std::rc::Rc;

use crate::bridge::core::Core;
use crate::error::Error;
use crate::load::events::MasterEvent;
use crate::load::master::{self, Loads};
use crate::native::{Natives, Ticker};
use crate::object::birth::make_cdo;
use crate::object::class::Origin;
use crate::object::decl::{Batch, ClassDecl};
use crate::runtime::Runtime;

/// The package of the class that all others extend.
const ROOT_PACKAGE: &str = "Core";

/// Makes a [`Runtime`].
#[derive(Default)]
pub struct Builder {
    packages: Vec<String>,
    natives: Vec<Natives>,
    tickers: Vec<Ticker>,
    observers: Vec<master::Observer>,
    args: Vec<String>,
    require_seal: bool,
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
    pub fn ticker(mut self, ticker: impl FnMut(&Runtime, f32) + 'static) -> Self {
        self.tickers.push(Box::new(ticker));
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

    /// Listens to the life of the Master load context. Called on the game thread.
    #[must_use]
    pub fn on_event(mut self, observer: impl Fn(&MasterEvent) + 'static) -> Self {
        self.observers.push(Rc::new(observer));
        self
    }

    /// Builds the runtime. The calling thread becomes the game thread.
    ///
    /// # Errors
    /// When a native declaration breaks a rule, or the system refuses the finalizer thread or the folder for copies.
    pub fn build(self) -> Result<Runtime, Error> {
        let system = |doing: &'static str| move |source| Error::System { doing: doing.to_owned(), source };
        let core = Core::new().map_err(system("starting the finalizer thread"))?;
        let loads = Loads::new(&core, self.args, self.require_seal)
            .map_err(system("making the folder for copies of libraries"))?;
        self.observers.into_iter().for_each(|observer| loads.observe(observer));
        core.world.types.declare_package(ROOT_PACKAGE);
        let root = ClassDecl::new(ROOT_PACKAGE, "Object", "", Origin::Native);
        let mut batch = Batch { classes: vec![root], ..Batch::default() };
        let mut tickers = self.tickers;
        let mut before_destroy = Vec::new();
        for package in self.packages {
            core.world.types.declare_package(&package);
        }
        for natives in self.natives {
            for package in &natives.packages {
                core.world.types.declare_package(package);
            }
            batch.structs.extend(natives.structs);
            batch.classes.extend(natives.classes);
            tickers.extend(natives.tickers);
            before_destroy.extend(natives.before_destroy);
        }
        let declared = core.world.types.declare(&core.world.names, &batch)?;
        for class in declared.classes {
            make_cdo(&core.world, &core.plugins(), &class)?;
        }
        Ok(Runtime::of(core, loads, tickers, before_destroy))
    }
}
