//! The world of the development host: the sample engine, one `World`, and some objects of every class of actor that
//! the plugins declare.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use alcedo_engine::{ACTOR, WORLD};
use alcedo_runtime::{Budget, MasterEvent, Reload, Runtime};

use crate::error::Error;

/// The package a plugin declares its types in unless it has reasons for another; a host must name all there may be.
const PACKAGE: &str = "Game";

/// What the host is made of.
#[derive(Clone, Debug)]
pub(crate) struct HostOptions {
    /// Packages besides `Game`.
    pub(crate) packages: Vec<String>,
    /// Arguments for the main of every module.
    pub(crate) args: Vec<String>,
    /// How many objects of each class of actor.
    pub(crate) objects: u64,
}

/// Objects of one class that were born.
#[derive(Clone, Debug)]
pub(crate) struct Population {
    /// `/Script/Game.MagicCube`.
    pub(crate) class: String,
    /// How many.
    pub(crate) count: u64,
    /// Why there are not more.
    pub(crate) failure: Option<String>,
}

/// The runtime and its world. It belongs to the thread that made it.
pub(crate) struct Host {
    runtime: Runtime,
    objects: u64,
    /// How many objects of each class were spawned.
    populated: BTreeMap<String, u64>,
    /// When a generation went live last.
    live: Rc<Cell<Option<Instant>>>,
    running: bool,
}

impl Host {
    pub(crate) fn new(options: &HostOptions) -> Result<Self, Error> {
        let live = Rc::new(Cell::new(None));
        let stamp = Rc::clone(&live);
        let packages = BTreeSet::from_iter(options.packages.iter().map(String::as_str).chain([PACKAGE]));
        let args: Vec<_> = options.args.iter().map(String::as_str).collect();
        let builder = Runtime::builder().natives(alcedo_engine::natives()).module_args(&args).on_event(move |event| {
            if matches!(event, MasterEvent::Loaded(_)) {
                stamp.set(Some(Instant::now()));
            }
        });
        let runtime = packages.into_iter().fold(builder, |builder, package| builder.package(package)).build()?;
        runtime.spawn(WORLD)?;
        Ok(Self { runtime, objects: options.objects, populated: BTreeMap::new(), live, running: false })
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Whether there is plugin code.
    pub(crate) fn is_running(&self) -> bool {
        self.running
    }

    /// Loads the first generation.
    ///
    /// # Errors
    /// Why it was refused; then there is still none, and the next build may do better.
    pub(crate) fn start(&mut self, libraries: &[PathBuf]) -> Result<(), Error> {
        self.runtime.create_master(libraries)?;
        self.running = true;
        Ok(())
    }

    /// Swaps the code. Between two ticks the game thread stands at a safe point, so it happens at once.
    /// With the report comes how long ago the new code went live: what it leaves behind is tidied up after that.
    pub(crate) fn reload(&self, libraries: &[PathBuf]) -> Result<(Reload, Duration), Error> {
        self.live.set(None);
        let report = self.runtime.reload(libraries)?;
        Ok((report, self.live.take().map_or(Duration::ZERO, |at| at.elapsed())))
    }

    /// Spawns objects of the actor classes that have too few. A class that fails has its next chance in the next
    /// generation.
    pub(crate) fn populate(&mut self) -> Vec<Population> {
        let mut populations = Vec::new();
        for class in self.runtime.dynamic_classes() {
            let there = self.populated.get(&class).copied().unwrap_or(0);
            if there < self.objects && self.runtime.is_subclass(&class, ACTOR) {
                let population = self.spawn(class, self.objects - there);
                self.populated.insert(population.class.clone(), there + population.count);
                populations.push(population);
            }
        }
        populations
    }

    fn spawn(&self, class: String, wanted: u64) -> Population {
        let mut count = 0;
        while count < wanted {
            if let Err(error) = self.runtime.spawn(&class) {
                return Population { class, count, failure: Some(error.to_string()) };
            }
            count += 1;
        }
        Population { class, count, failure: None }
    }

    /// One sixtieth of a second in the world.
    pub(crate) fn tick(&self) {
        self.runtime.tick(Budget::frame());
    }

    /// Ends the world. Gives what could not be ended.
    pub(crate) fn shutdown(self) -> Vec<String> {
        self.runtime.shutdown().left
    }
}
