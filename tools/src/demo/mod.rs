//! `alcedo demo`: a session like `dev` with scripted edits. After each edit, the demo checks the world. `steps.rs` contains the edits and
//! the checks. This file runs the steps.

mod edit;
mod output;
mod scratch;
mod steps;

use std::fmt::Display;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use alcedo_runtime::{ObjectHandle, Runtime, Value};
use anyhow::{anyhow, bail};

use crate::described::read_text;
use crate::error::{Error, file};
use crate::input::Input;
use crate::modules::{BuildOptions, session_builder};
use crate::paint::Paint;
use crate::screen::{Screen, log_to};
use crate::session::{Event, Live, Session, Sources, Step};
use crate::world::{HostOptions, Local};
use edit::Edit;
use output::{Check, Edited, Message, Output, Reloaded, Summary};
use scratch::{PLUGIN, Scratch};

/// Class of the objects that must survive all edits.
const CUBE: &str = "/Script/Game.MagicCube";
/// Time limit of the first build. This build may compile all dependencies of a plugin.
const FIRST_BUILD: Duration = Duration::from_secs(900);
/// Duration of a build after which its progress is printed, and interval between further progress messages.
const PROGRESS: Duration = Duration::from_secs(3);
/// Time limit of later builds. A later build compiles only one small crate.
const BUILD: Duration = Duration::from_secs(180);

/// Edits a scratch copy of an example plugin four times, and prints the effect on a living world.
///
/// Exits with 0 only if every step had the expected result.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Number of objects that exist during the edits.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(4..=1_000_000))]
    objects: u64,
    /// Print one JSON object per line on standard output, and nothing else.
    #[arg(long)]
    json: bool,
    /// For tests of the demo: a host that reruns a class constructor in each reload, which the demo must detect.
    #[arg(long, hide = true)]
    planted_rerun: bool,
}

/// Runs all steps with `objects` cubes. `planted_rerun` injects a fault into the host, which the checks must detect.
pub(crate) fn run(&Args { objects, json, planted_rerun }: &Args) -> Result<ExitCode, Error> {
    let paint = Paint::for_stdout();
    let output = if json { Output::Json } else { Output::Text(paint) };
    // Prints only warnings, because log messages from plugins are not part of the demo's output.
    log_to(&Screen::new(false), "warn", false);
    let mut summary = Summary { objects, ..Summary::default() };
    let host = HostOptions { packages: Vec::new(), args: Vec::new(), objects, user_code: None, planted_rerun };
    let played = play(&host, output, paint, &mut summary);
    summary.ok &= played.is_ok();
    output.print(&Message::Summary(&summary));
    played?;
    Ok(if summary.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the steps. Counts the completed steps in `summary`.
fn play(host: &HostOptions, output: Output, paint: Paint, summary: &mut Summary) -> Result<(), Error> {
    // Handles signals only after a wait for another demo, so that Ctrl-C ends this wait.
    let scratch = Scratch::new()?;
    let signals = Input::signals()?;
    let mut stage = Stage::open(&scratch, host, signals, output, paint)?;
    let played = steps::play(&mut stage);
    *summary = stage.summary();
    for what in stage.session.shutdown(&mut |_| {}).left {
        summary.ok = false;
        tracing::error!("the world was shut down, but this is left: {what}");
    }
    played
}

/// A world of cubes, the source of their plugin, and the results so far.
struct Stage {
    session: Session<Local>,
    signals: Input,
    output: Output,
    source: PathBuf,
    cubes: Vec<ObjectHandle>,
    counts: Summary,
    failed_routine: u64,
    step: u32,
}

impl Stage {
    /// Builds the plugin and creates the cubes. Each cube has a unique label, by which later checks identify the cube.
    fn open(
        scratch: &Scratch,
        host: &HostOptions,
        signals: Input,
        output: Output,
        paint: Paint,
    ) -> Result<Self, Error> {
        let target_dir = Some(scratch.target.clone());
        let builder = session_builder();
        let sources = Sources::watch(vec![scratch.plugin()], None)?;
        let options = BuildOptions { release: false, color: paint.is_on(), target_dir, builder };
        let mut stage = Self {
            session: Session::open(sources, options, Local::new(host)?, None)?,
            signals,
            output,
            source: scratch.plugin().join("src/lib.rs"),
            cubes: Vec::new(),
            counts: Summary { ok: true, ..Summary::default() },
            failed_routine: 0,
            step: 0,
        };
        let (generation, build_ms) = stage.started()?;
        stage.cubes = stage.all_cubes();
        let objects = stage.cubes.len() as u64;
        if objects != host.objects {
            return Err(unexpected(&format!("{} objects of {CUBE}", host.objects), &objects.to_string()));
        }
        for (number, cube) in stage.cubes.iter().enumerate() {
            stage.runtime().objects().set(*cube, "label", &Value::Text(label(number)))?;
        }
        output.print(&Message::Start { plugin: PLUGIN, generation, objects, build_ms });
        Ok(stage)
    }

    fn runtime(&self) -> &Runtime {
        &self.session.world.runtime
    }

    fn chapter(&mut self, title: &str) {
        self.step += 1;
        self.output.print(&Message::Step { step: self.step, title });
    }

    /// Changes the plugin's source like an author who saves a file. Waits for the reload.
    fn save(&mut self, edits: &[Edit]) -> Result<Live, Error> {
        let old = read_text(&self.source).map_err(file("read", &self.source))?;
        let new = edit::apply(&old, edits)?;
        self.output.print(&Message::Edit(Edited::new("magic-cube/src/lib.rs", &old, &new)));
        fs::write(&self.source, new).map_err(file("write", &self.source))?;
        let live = self.reloaded()?;
        self.note(&live);
        Ok(live)
    }

    /// Adds the counters in the host's report on a reload to the summary.
    fn note(&mut self, live: &Live) {
        self.output.print(&Message::Reload(Reloaded(live)));
        if live.report.is_committed() {
            self.counts.reloads += 1;
            self.counts.conjugates_rebuilt += live.report.conjugates_rebuilt;
        } else {
            self.counts.rollbacks += 1;
        }
    }

    /// Compares a value of the world with the expected value.
    fn check<T: PartialEq + Display>(&mut self, name: impl Into<String>, expected: T, found: T) {
        self.report_check(name.into(), expected, found, false);
    }

    /// Compares a value that is checked after every reload. A check of this kind is printed as text only if it fails.
    fn routine<T: PartialEq + Display>(&mut self, name: &str, expected: T, found: T) {
        self.report_check(name.to_owned(), expected, found, true);
    }

    /// Reports all routine checks since the last call of this method as a single check.
    fn end_routine(&mut self, name: &str) {
        let failed = std::mem::take(&mut self.failed_routine);
        self.check(name, 0, failed);
    }

    fn report_check<T: PartialEq + Display>(&mut self, name: String, expected: T, found: T, routine: bool) {
        let ok = expected == found;
        self.counts.ok &= ok;
        self.failed_routine += u64::from(!ok && routine);
        let check = Check { name, ok, expected: expected.to_string(), found: found.to_string(), routine };
        self.output.print(&Message::Check(&check));
    }

    fn summary(&self) -> Summary {
        Summary {
            objects: self.cubes.len() as u64,
            objects_kept: self.cubes.iter().filter(|cube| self.is_cube(cube)).count() as u64,
            class_constructors_rerun: self.runtime().counters().class_constructors_rerun,
            ..self.counts.clone()
        }
    }

    /// Returns the existing cubes in the order of their construction.
    fn all_cubes(&self) -> Vec<ObjectHandle> {
        self.runtime().objects().iter().filter(|object| self.is_cube(object)).collect()
    }

    fn is_cube(&self, object: &ObjectHandle) -> bool {
        self.runtime().objects().class_of(*object).is_some_and(|class| class == CUBE)
    }

    fn started(&mut self) -> Result<(u64, f64), Error> {
        self.until("the first build", FIRST_BUILD, |event| match event {
            Event::Started { generation, build_ms } => Ok(Some((generation, build_ms))),
            Event::Refused { error: found, .. } => Err(unexpected("a first generation", &found)),
            _ => Ok(None),
        })
        // After the start, a single message reports the construction of all cubes.
        .and_then(|started| self.populated().map(|()| started))
    }

    fn populated(&mut self) -> Result<(), Error> {
        self.until("the creation of the cubes", BUILD, |event| match event {
            Event::Populated(population) => match population.failure {
                Some(found) => Err(unexpected(&format!("objects of {}", population.class), &found)),
                None => Ok((population.class == CUBE).then_some(())),
            },
            _ => Ok(None),
        })
    }

    fn reloaded(&mut self) -> Result<Live, Error> {
        self.until("the reload after an edit", BUILD, |event| match event {
            Event::Reloaded(live) => Ok(Some(*live)),
            _ => Ok(None),
        })
    }

    /// Prints the progress of a build if `elapsed` has reached `due`. Returns the elapsed time at which the next message is due.
    fn progress(&self, elapsed: Duration, due: Duration) -> Duration {
        match self.session.compiled() {
            Some(compiled) if elapsed >= due => {
                self.output.print(&Message::Building { plugin: PLUGIN, compiled, seconds: elapsed.as_secs() });
                elapsed + PROGRESS
            }
            _ => due,
        }
    }

    /// Runs the world until `result_of` returns a result for one of its events.
    fn until<T>(
        &mut self,
        what: &'static str,
        patience: Duration,
        result_of: impl Fn(Event) -> Result<Option<T>, Error>,
    ) -> Result<T, Error> {
        let (begun, mut progress, mut unchanged) = (Instant::now(), PROGRESS, "");
        loop {
            let event = match self.session.wait(&self.signals.receiver) {
                Step::Event(event) => event,
                Step::Command(_) => {
                    bail!("interrupted: the world was shut down, and the demo did not finish")
                }
                Step::Tick if begun.elapsed() > patience => {
                    bail!(
                        "{what} did not occur within {} s{unchanged}: run the demo again with ALCEDO_LOG=debug to see what it waits for",
                        patience.as_secs()
                    );
                }
                Step::Tick => {
                    progress = self.progress(begun.elapsed(), progress);
                    continue;
                }
            };
            match &event {
                Event::Built { millis, warnings } => {
                    let build_ms = Some(output::rounded(*millis));
                    self.output.print(&Message::Build { outcome: "built", build_ms, message: warnings });
                }
                Event::NotBuilt(error) => {
                    let message = error.to_string();
                    self.output.print(&Message::Build { outcome: "failed", build_ms: None, message: &message });
                }
                Event::Unchanged => unchanged = ", and a build left the library as it was",
                _ => {}
            }
            match event {
                Event::NotBuilt(error) => return Err(error.into()),
                Event::Failed { error } => return Err(unexpected("a world", &error)),
                event => {
                    if let Some(found) = result_of(event)? {
                        return Ok(found);
                    }
                }
            }
        }
    }
}

/// Creates the error for an unexpected state of the world.
fn unexpected(expected: &str, found: &str) -> Error {
    anyhow!("the demo expected {expected}, but found {found}: the example plugin and the demo do not match")
}

fn label(number: usize) -> String {
    format!("cube {number}")
}
