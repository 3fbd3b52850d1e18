//! Runs the sample engine as a world with one `World` object, and some objects of every actor class that the plugins declare. `alcedo dev`
//! runs this host in a separate process by default.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::time::Instant;

use alcedo_engine::{ACTOR, WORLD};
use alcedo_runtime::{Budget, Builder, ObjectHandle, Runtime};

use super::user_code::user_code;
use super::{HostOptions, Population};
use crate::args::World as WorldArgs;
use crate::error::Error;
use crate::pace::Pace;
use crate::paint::Paint;
use crate::screen::print_result;

/// Default package for the types of plugins, because a host must list every package that it permits.
const PACKAGE: &str = "Game";

/// Returns a builder for the sample engine and the packages of plugins.
pub(super) fn builder(options: &HostOptions) -> Builder {
    let packages = BTreeSet::from_iter(options.packages.iter().map(String::as_str).chain([PACKAGE]));
    let args: Vec<_> = options.args.iter().map(String::as_str).collect();
    let builder =
        Runtime::builder().natives(alcedo_engine::natives()).module_args(&args).planted_rerun(options.planted_rerun);
    let builder = options.user_code.iter().fold(builder, |builder, folder| builder.user_code(&user_code(folder)));
    packages.into_iter().fold(builder, |builder, package| builder.package(package))
}

/// Number of objects that were spawned, for each class.
#[derive(Debug, Default)]
pub(super) struct Populated(BTreeMap<String, u64>);

impl Populated {
    /// Spawns objects of each actor class until the class has `objects` objects. A class whose spawn failed is tried again in the next
    /// generation.
    pub(super) fn populate(&mut self, runtime: &Runtime, objects: u64) -> Vec<Population> {
        let mut populations = Vec::new();
        for class in runtime.types().dynamic_classes() {
            // Counts existing objects, because a restored world already contains objects.
            let is_one = |object: &ObjectHandle| runtime.objects().class_of(*object).as_deref() == Some(&*class);
            let living = runtime.objects().iter().filter(is_one).count() as u64;
            let there = living.max(self.0.get(&class).copied().unwrap_or(0));
            if there < objects && runtime.types().is_subclass(&class, ACTOR) {
                let population = spawn(runtime, class, objects - there);
                self.0.insert(population.class.clone(), there + population.count);
                populations.push(population);
            }
        }
        populations
    }
}

fn spawn(runtime: &Runtime, class: String, required: u64) -> Population {
    let mut count = 0;
    while count < required {
        if let Err(error) = runtime.objects().spawn(&class) {
            return Population { class, count, failure: Some(error.to_string()) };
        }
        count += 1;
    }
    Population { class, count, failure: None }
}

/// Arguments of the process that runs the sample world.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    world: WorldArgs,
    #[arg(long = "arg", allow_hyphen_values = true)]
    args: Vec<String>,
}

/// Runs the program of the world's process.
///
/// # Errors
/// Fails if the host cannot be built.
pub(crate) fn run(Args { world, args }: Args) -> Result<ExitCode, Error> {
    let WorldArgs { objects, packages, code } = world;
    let objects = objects.unwrap_or(WorldArgs::OBJECTS);
    let options = &HostOptions { packages, args, objects, user_code: code.user_code, planted_rerun: false };
    let paint = Paint::for_child();
    crate::screen::log_to_stderr("info", paint);
    let runtime = builder(options).development().build()?;
    runtime.objects().spawn(WORLD)?;
    let (mut populated, mut generation) = (Populated::default(), 0);
    // Spawns objects again in each new generation, because the new code may contain a fix for a class whose spawn failed. Returns true in a
    // new generation.
    let mut populate = || {
        let is_new = std::mem::replace(&mut generation, runtime.generation()) != runtime.generation();
        if is_new {
            for population in populated.populate(&runtime, options.objects) {
                // Prints to standard output, which `alcedo dev` forwards to the user.
                print_result(&population.line(paint));
            }
        }
        is_new
    };
    let (begun, mut pace) = (Instant::now(), Pace::default());
    while !runtime.shutdown_requested() {
        let now = begun.elapsed();
        if runtime.wait(pace.rest(now)) {
            // Handles a requested load immediately, without waiting for the next frame.
            runtime.safe_point();
        }
        // Spawns the objects before the next safe point, at which a console line may use them.
        let is_new = populate();
        let now = begun.elapsed();
        // Runs new code immediately, too. The extra tick counts as the tick of the next frame.
        if is_new || pace.rest(now).is_zero() {
            runtime.tick(Budget::frame());
            pace.ticked(begun.elapsed(), begun.elapsed() - now);
            populate();
        } else {
            std::thread::sleep(pace.moment(now));
        }
    }
    let left = runtime.shutdown().left;
    Ok(if left.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
