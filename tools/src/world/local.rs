//! Runs the sample world in this process, so that the demo can query the world directly, and a debugger can stop in plugin code. A crash of
//! a plugin also ends this process.

use std::cell::Cell;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use alcedo_engine::WORLD;
use alcedo_runtime::development::link::{FromHost, Status, ToHost};
use alcedo_runtime::development::running_builds;
use alcedo_runtime::{Budget, ContextEventKind, Runtime};
use crossbeam_channel::{Receiver, Sender, never, unbounded};

use super::sample::{Populated, builder};
use super::{HostOptions, Printed, Shutdown, World, WorldEvent};
use crate::error::Error;
use crate::pace::Pace;

/// The runtime and its world. This value must be used on the thread that created it.
pub(crate) struct Local {
    pub(crate) runtime: Runtime,
    objects: u64,
    populated: Populated,
    /// Time at which the last generation became live.
    live: Rc<Cell<Option<Instant>>>,
    begun: Instant,
    pace: Pace,
    events: (Sender<WorldEvent>, Receiver<WorldEvent>),
    printed: Receiver<Printed>,
}

impl Local {
    /// # Errors
    /// Fails if the sample engine cannot be built.
    pub(crate) fn new(options: &HostOptions) -> Result<Self, Error> {
        let live = Rc::new(Cell::new(None));
        let stamp = Rc::clone(&live);
        let runtime = builder(options).on_event(move |event| {
            if matches!(event.event, ContextEventKind::Loaded(_)) {
                stamp.set(Some(Instant::now()));
            }
        });
        let runtime = runtime.build()?;
        runtime.objects().spawn(WORLD)?;
        Ok(Self {
            runtime,
            objects: options.objects,
            populated: Populated::default(),
            live,
            begun: Instant::now(),
            pace: Pace::default(),
            events: unbounded(),
            printed: never(),
        })
    }

    /// Runs a tick now, in addition to the scheduled ticks.
    pub(crate) fn tick(&self) {
        self.runtime.tick(Budget::frame());
    }

    fn report(&self, message: FromHost) {
        let _sent = self.events.0.send(WorldEvent::Host(message, Instant::now()));
    }

    fn load(&mut self, libraries: &[PathBuf]) {
        self.live.set(None);
        let loaded = match self.runtime.generation() {
            0 => {
                let created = self.runtime.create_master(libraries);
                created.map(|()| FromHost::Started {
                    generation: self.runtime.generation(),
                    builds: running_builds(&self.runtime),
                })
            }
            _ => self.runtime.reload(libraries).map(|report| {
                let since_live = self.live.get().map_or(Duration::ZERO, |live| live.elapsed());
                FromHost::Reloaded { report: Box::new(report), since_live, builds: running_builds(&self.runtime) }
            }),
        };
        self.report(loaded.unwrap_or_else(|error| FromHost::Refused { error: error.to_string(), lacks_type: false }));
        for population in self.populated.populate(&self.runtime, self.objects) {
            let _sent = self.events.0.send(WorldEvent::Populated(population));
        }
    }
}

impl World for Local {
    /// Handles the request immediately, because the game thread is at a safe point between two ticks.
    fn request(&mut self, request: ToHost) {
        match request {
            ToHost::Load { libraries } => self.load(&libraries),
            ToHost::Line { line } => self.report(FromHost::Answer { text: self.runtime.console(&line) }),
            ToHost::Complete { line } => {
                let lines = self.runtime.complete(&line);
                self.report(FromHost::Completions { line, lines });
            }
            // Reports success without saving the world, because the world ends with this process, so no saved world can be restored.
            ToHost::Save => self.report(FromHost::Saved),
            ToHost::Settings { .. } | ToHost::Restore { .. } | ToHost::End => {}
        }
    }

    fn events(&self) -> &Receiver<WorldEvent> {
        &self.events.1
    }

    /// Returns a channel that is always empty, because plugin code in this process prints directly to the terminal.
    fn printed(&self) -> &Receiver<Printed> {
        &self.printed
    }

    fn rest(&self) -> Duration {
        self.pace.rest(self.begun.elapsed())
    }

    fn attend(&mut self) {
        let begun = self.begun.elapsed();
        self.tick();
        let ended = self.begun.elapsed();
        self.pace.ticked(ended, ended - begun);
    }

    fn status(&mut self) -> Status {
        Status {
            generation: self.runtime.generation(),
            objects: self.runtime.objects().iter().len() as u64,
            ticks: self.pace.rate(self.begun.elapsed()) as u64,
        }
    }

    /// Reports that a kill is not supported, because a hang also blocks this thread.
    fn kill(&mut self) -> bool {
        let text = "the world is in the tool's own process (--no-guard): q ends both".to_owned();
        self.report(FromHost::Answer { text });
        false
    }

    /// Does nothing, because this process ends together with the world.
    fn restart(&mut self, _saved: bool) -> Result<(), Error> {
        Ok(())
    }

    fn shutdown(self, _print: &mut dyn FnMut(&Printed)) -> Shutdown {
        Shutdown { left: self.runtime.shutdown().left, crash: None }
    }
}
