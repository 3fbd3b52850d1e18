//! Runs one program from the construction of its runtime to its end. Checks that only parked images remain mapped.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use alcedo_runtime::{Canary, Runtime, ShutdownReport, process};

use crate::drive::{Shared, Worker, is_quiet};
use crate::libraries::Libraries;
use crate::model::Model;
use crate::program::{Ending, Op, Program};
use crate::{support, watch};

enum Message {
    Step(Op),
    Race(Vec<Op>),
    Release,
}

/// Channels to and from a thread.
struct Line {
    sender: Sender<Message>,
    answers: Receiver<Result<(), String>>,
}

impl Line {
    fn query(&self, message: Message) -> Result<(), String> {
        self.send(message)?;
        self.answer()
    }

    fn send(&self, message: Message) -> Result<(), String> {
        self.sender.send(message).map_err(|_| "a thread has panicked".to_owned())
    }

    fn answer(&self) -> Result<(), String> {
        self.answers.recv().unwrap_or_else(|_| Err("a thread has panicked".into()))
    }
}

/// Runs the program. Waits at most `patience` for each event that must occur.
///
/// # Errors
/// Returns a description of an outcome that the model does not allow.
pub(crate) fn run(program: &Program, libraries: &Arc<Libraries>, patience: Duration) -> Result<(), String> {
    let canary = if program.has_canary { Canary::Auto } else { Canary::Off };
    let runtime = support::builder().canary(canary).unloads(|policy| policy.shutdown = Duration::from_millis(20));
    let runtime = runtime.build().map_err(|error| error.to_string())?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (contexts, stage_dir) = (runtime.contexts(), runtime.stage_dir());
    let shared = Shared::new(contexts, libraries, patience, folder.path().to_owned());
    watch::begin(&shared);
    let model = Arc::new(Mutex::new(Model::new(program.threads)));
    let runtime = thread::scope(|scope| {
        let lines = (0..program.threads).map(|number| {
            let (sender, messages) = channel();
            let (answer, answers) = channel();
            let (shared, model) = (&shared, Arc::clone(&model));
            scope.spawn(move || {
                let mut worker = Worker::new(shared, number, program.is_race);
                for message in messages {
                    let done = match message {
                        Message::Step(op) => worker.step(&mut model.lock().expect("not poisoned"), op),
                        Message::Race(ops) => ops.into_iter().try_for_each(|op| worker.race(op)),
                        Message::Release => worker.release(),
                    };
                    answer.send(done).expect("the program listens");
                }
            });
            Line { sender, answers }
        });
        let lines: Vec<_> = lines.collect();
        match program.is_race {
            true => race(program, &lines, runtime),
            false => one_at_a_time(program, &lines, &model, runtime),
        }
        // At this point the threads have dropped their holders. Dropping the last handle of a context unloads the context.
    })?;
    let must_end = match program.is_race {
        // A parked generation without own modules is not listed, but may permanently hold its lenders.
        true => !program.ops.iter().any(|(_, op)| matches!(op, Op::Park(_))),
        false => model.lock().expect("not poisoned").all_end(),
    };
    end(&shared, &stage_dir, must_end)?;
    if let Some(runtime) = runtime {
        let ended = runtime.shutdown();
        if !ended.left.is_empty() && !is_parked(&shared) {
            return Err(format!("nothing was left, but the shutdown reports: {ended}"));
        }
    }
    let has_mapped_images = has_images(&shared);
    watch::end();
    drop(shared);
    // A thread that is performing an unload may hold the shared state slightly longer than the runtime.
    match has_mapped_images || until(patience, || !stage_dir.exists()) {
        true => Ok(()),
        false => Err(format!("all are gone, and the folder of their copies is not: {}", stage_dir.display())),
    }
}

/// Runtime to shut down at the end of the program, if the runtime still exists.
type Left = Option<Runtime>;

fn one_at_a_time(program: &Program, lines: &[Line], model: &Mutex<Model>, runtime: Runtime) -> Result<Left, String> {
    for (thread, op) in &program.ops {
        lines[*thread].query(Message::Step(*op))?;
    }
    let mut kept = None;
    match program.ending {
        Ending::ShutdownLast => kept = Some(runtime),
        Ending::ShutdownFirst => {
            let ended = runtime.shutdown();
            let mut model = model.lock().expect("not poisoned");
            model.unload_all();
            expect_left(&ended, &model.left())?;
        }
        Ending::DropFirst => drop(runtime),
    }
    lines.iter().try_for_each(|line| line.query(Message::Release))?;
    let mut model = model.lock().expect("not poisoned");
    model.release_all();
    model.unload_all();
    Ok(kept)
}

fn race(program: &Program, lines: &[Line], runtime: Runtime) -> Result<Left, String> {
    for (number, line) in lines.iter().enumerate() {
        let own = program.ops.iter().filter(|(thread, _)| *thread == number).map(|(_, op)| *op);
        line.send(Message::Race(own.collect()))?;
    }
    let mut kept = None;
    match program.ending {
        Ending::ShutdownLast => kept = Some(runtime),
        Ending::ShutdownFirst => {
            // Ends the runtime while the threads race.
            thread::sleep(Duration::from_millis(program.ops.len() as u64));
            let _left = runtime.shutdown();
        }
        Ending::DropFirst => drop(runtime),
    }
    lines.iter().try_for_each(Line::answer)?;
    lines.iter().try_for_each(|line| line.query(Message::Release))?;
    Ok(kept)
}

/// Checks that the report of the shutdown lists each generation that is still held, once.
fn expect_left(ended: &ShutdownReport, left: &[(String, usize, usize)]) -> Result<(), String> {
    for (title, least, most) in left {
        let found = ended.left.iter().filter(|line| line.starts_with(title)).count();
        if !(*least..=*most).contains(&found) {
            return Err(format!("{title} is left {least} to {most} times, but the shutdown reports: {ended}"));
        }
    }
    Ok(())
}

/// Checks that every context ends and all images are unmapped after the release of the last holder.
fn end(shared: &Arc<Shared>, stage_dir: &Path, must_end: bool) -> Result<(), String> {
    if !must_end || is_parked(shared) {
        // A parked image keeps its dependencies mapped permanently, so these dependencies must also be parked.
        shared.contexts.park_after(Some(Duration::from_secs(1)));
    }
    if !until(shared.patience, || is_quiet(shared)) {
        return Err(format!("without holders, not all contexts have ended:\n{}", shared.holders()));
    }
    let alive_images = || -> Vec<_> {
        let all = shared.contexts.all();
        all.into_iter().flat_map(|info| info.modules).map(|module| module.image).collect()
    };
    let stale = || -> Vec<_> {
        let mapped = process::stale_mappings(stage_dir).expect("it can be asked");
        let alive_images = alive_images();
        mapped
            .into_iter()
            .filter(|path| !alive_images.iter().any(|image| image.file_name() == path.file_name()))
            .collect()
    };
    match until(shared.patience, || stale().is_empty()) {
        true => Ok(()),
        false => Err(format!("images of what has ended are mapped: {:?}", stale())),
    }
}

fn is_parked(shared: &Shared) -> bool {
    shared.listed().iter().any(|listed| listed.is_parked)
}

fn has_images(shared: &Shared) -> bool {
    shared.listed().iter().any(|listed| !listed.modules.is_empty())
}

fn until(patience: Duration, is_so: impl Fn() -> bool) -> bool {
    let until = Instant::now() + patience;
    while !is_so() {
        if Instant::now() >= until {
            return false;
        }
        thread::sleep(Duration::from_millis(1));
    }
    true
}
