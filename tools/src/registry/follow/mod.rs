//! `alcedo follow`: rolls out the modules of a document to hosts. One host receives the new files first, and the remaining hosts follow in
//! steps. If one host is unhealthy, all hosts return to their last good files. A host is represented by a folder: this program writes
//! libraries to the folder, and the host watches the folder and loads them. The status file of the host reports the result. `rollout.rs`
//! decides the next step, and `hosts.rs` carries it out.

mod document;
mod event;
mod hosts;
mod libraries;
mod rollout;
mod state;
mod status;

use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use alcedo_runtime::development::plain_file;
use anyhow::{anyhow, bail};

use super::client::Access;
use super::{Trust, artifact, file_name, read_keys};
use crate::error::{Error, file};
use document::Document;
use event::{Event, Output};
use hosts::{Target, progress_of};
use libraries::{Download, Libraries};
use rollout::{Files, Next, Progress, next};
use state::{Failure, State, Store};

/// Interval between two reads of status files.
const POLL: Duration = Duration::from_millis(200);

/// Minimum and maximum wait before a rejected document is tried again.
const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// Maximum size of a document in bytes.
const LARGEST_DOCUMENT: u64 = 1 << 20;

/// Brings hosts to the modules of a document, one host first, and back to the last good files if a host is unhealthy.
///
/// The document names the content of each module by digest. All libraries are downloaded and checked before the first file of a host is
/// replaced. A host reports the result by the status file of its health watch (`Runtime::watch_health`). Runs until it is ended, and follows
/// each change of the document. Runs on the machine of its hosts, since it checks that the process of each status file runs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The document, a TOML file with `[modules]` and `[[hosts]]`. State is kept in a folder next to it, with `.state` appended to the name.
    #[arg(value_name = "DOCUMENT")]
    document: PathBuf,
    #[command(flatten)]
    trust: Trust,
    /// End after the present document: with exit code 0 if all hosts run its modules, otherwise with 1.
    #[arg(long)]
    once: bool,
    /// Try a document again that has failed.
    #[arg(long)]
    retry: bool,
    /// Permit versions that are older than those of the hosts.
    #[arg(long)]
    allow_older: bool,
    /// Target of the libraries, if it differs from the target of this program.
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// Print each event as a JSON object on a separate line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

/// Result of one attempt to follow the document.
enum Outcome {
    /// All hosts run the modules of the document.
    Done,
    /// A host was unhealthy, and all hosts have returned to their last good files.
    Failed,
    /// The document has changed during the rollout. Contains the text of the next document, whose rollout can begin, and the hosts of the
    /// rollout that has ended.
    Superseded(String, Vec<Target>),
}

/// Follows the document until this program is stopped.
///
/// # Errors
/// Fails if a key cannot be read, or if the saved state is in use or damaged. Other errors are printed, and the document is tried again.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Error> {
    let path = std::path::absolute(&args.document).map_err(file("find", &args.document))?;
    let keys = read_keys(&args.trust)?;
    let out = Output { json: args.json };
    // Creates the folder of the saved state only for a valid document.
    let mut reported = String::new();
    while let Err(error) = read(&path).and_then(|text| Document::parse(&text)) {
        let error = format!("{error:#}");
        if error != reported {
            out.print(&Event::Refused { error: &error });
        }
        if args.once {
            return Ok(ExitCode::FAILURE);
        }
        reported = error;
        thread::sleep(POLL);
    }
    let store = Arc::new(Store::open(&path)?);
    let mut state = store.state()?;
    if args.retry {
        state.failed = None;
    }
    let target = args.target.clone().unwrap_or_else(artifact::own_target);
    if state.target != target {
        state.resolved.clear();
        state.target.clone_from(&target);
    }
    let libraries = Libraries { access: args.access.clone(), keys, target, store: Arc::clone(&store), out };
    let mut follower = Follower { args, path, libraries, store, state, out };
    let (mut wait, mut last, mut successor) = (RETRY.0, None::<Document>, None::<(String, Vec<Target>)>);
    loop {
        // Uses the stored text of a successor. A later text may name libraries that are not fetched yet, and the hosts would wait for them.
        let (found, earlier) = match successor.take() {
            Some((text, targets)) => (Ok(text), targets),
            None => (read(&follower.path), Vec::new()),
        };
        let (text, parsed) = match found {
            Ok(text) => {
                let parsed = Document::parse(&text);
                (text, parsed)
            }
            Err(error) => (String::new(), Err(error)),
        };
        let outcome = match parsed {
            Ok(document) => follower.follow(last.insert(document), &text, &earlier),
            // Continues an unfinished return of hosts to their last good files, because a valid document may not follow soon.
            Err(error) => match &last {
                Some(last) if follower.state.is_unfinished => follower.go_back(last, &text).and(Err(error)),
                _ => Err(error),
            },
        };
        if let Err(error) = &outcome {
            follower.out.print(&Event::Refused { error: &format!("{error:#}") });
        }
        if args.once {
            return Ok(if matches!(outcome, Ok(Outcome::Done)) { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        let retry = match outcome {
            Ok(Outcome::Superseded(text, targets)) => {
                (wait, successor) = (RETRY.0, Some((text, targets)));
                continue;
            }
            Ok(Outcome::Done | Outcome::Failed) => None,
            Err(_) => Some(Instant::now() + wait),
        };
        wait = RETRY.1.min(wait * 2);
        while retry.is_none_or(|at| Instant::now() < at) {
            // A document that cannot be read counts as unchanged.
            if read(&follower.path).is_ok_and(|present| present != text) {
                wait = RETRY.0;
                break;
            }
            thread::sleep(POLL);
        }
    }
}

fn read(path: &Path) -> Result<String, Error> {
    plain_file::read_text(path, LARGEST_DOCUMENT)
        .map_err(|error| anyhow!("could not read {}: {error}; write the document there", path.display()))
}

struct Follower<'a> {
    args: &'a Args,
    /// The document.
    path: PathBuf,
    libraries: Libraries,
    store: Arc<Store>,
    state: State,
    out: Output,
}

/// Next document during a rollout.
#[derive(Default)]
struct Successor {
    text: String,
    download: Option<Download>,
    /// Time of the last refusal.
    refused: Option<Instant>,
}

impl Follower<'_> {
    /// Follows the document until its rollout ends. `earlier` contains the hosts of a rollout that the document has interrupted.
    ///
    /// # Errors
    /// Fails if a library or a host is rejected. In this case, files of hosts have changed only if hosts of an earlier rollout have
    /// returned to their last good files.
    fn follow(&mut self, document: &Document, text: &str, earlier: &[Target]) -> Result<Outcome, Error> {
        if let Some(failure) = self.state.failed.clone().filter(|failure| failure.document == document.id) {
            if self.state.is_unfinished {
                self.go_back(document, text)?;
            }
            self.out.print(&Event::Failed { host: &failure.host, reason: &failure.reason });
            return Ok(Outcome::Failed);
        }
        // If an earlier rollout has not ended, for example because this program was killed, first returns its hosts to their last good
        // files. Fetching the libraries of this document may take long.
        if self.state.is_unfinished && !self.libraries.are_stored(document, &self.state.resolved) {
            // Ignores errors, because the new document may repair the hosts. Otherwise, the return is repeated below.
            let _ = self.go_back(document, text);
        }
        let (expected, mut targets) = match self.begin(document) {
            Err(error) if self.state.is_unfinished => {
                self.go_back(document, text)?;
                return Err(error);
            }
            Err(error) => {
                // Ignores errors, because remaining libraries only occupy space.
                let _ = self.settle(document);
                return Err(error);
            }
            Ok(begun) => begun,
        };
        // A document that changes only hosts or limits does not start the time limit of a host again.
        for target in &mut targets {
            let before = earlier.iter().find(|before| before.host == target.host).and_then(|before| before.written);
            target.written = target.written.map(|now| before.unwrap_or(now));
        }
        let mut successor = Successor::default();
        loop {
            let progress: Vec<_> =
                targets.iter().map(|target| progress_of(target, &expected, document.patience)).collect();
            for (target, progress) in targets.iter_mut().zip(&progress) {
                if *progress == Progress::Healthy && !target.is_reported {
                    target.is_reported = true;
                    self.out.print(&Event::Healthy { host: &target.name });
                }
            }
            match next(&progress, document.step) {
                Next::Write(wave) => {
                    for at in wave {
                        self.write(&mut targets[at], &expected);
                    }
                }
                Next::Wait => {
                    thread::sleep(POLL);
                    if !self.args.once && self.is_superseded(document, text, &mut successor) {
                        return Ok(Outcome::Superseded(successor.text, targets));
                    }
                }
                Next::Back(culprit) => {
                    let Progress::Unhealthy(reason) = &progress[culprit] else { continue };
                    let host = &targets[culprit].name;
                    self.out.print(&Event::Unhealthy { host, reason });
                    // Does not record a failure after a finished rollout. The host may be down, and later documents may add hosts.
                    if targets.iter().all(|target| self.state.good.get(&target.name) == Some(&expected)) {
                        self.state.is_unfinished = false;
                        self.store.save(&self.state)?;
                        bail!("{host} has its last good files, and is unhealthy: start or repair this host");
                    }
                    // Saves the failure before the first file is written, so that this program can continue the return of the hosts after a
                    // restart.
                    let (host, reason) = (host.clone(), reason.clone());
                    self.state.failed = Some(Failure { document: document.id.clone(), host, reason });
                    let saved = self.store.save(&self.state);
                    let outcome = self.follow(document, text, &[]);
                    return saved.and(outcome);
                }
                Next::Done => {
                    for target in &targets {
                        self.state.good.insert(target.name.clone(), expected.clone());
                    }
                    self.state.is_unfinished = false;
                    self.settle(document)?;
                    self.out.print(&Event::Done { hosts: targets.len() });
                    return Ok(Outcome::Done);
                }
            }
        }
    }

    /// Checks if the document `next` replaces `document`, whose text is `text`, during its rollout. A document whose rollout cannot begin,
    /// for example without a registry, does not replace `document`: an unhealthy host must return to its last good files.
    fn is_superseded(&mut self, document: &Document, text: &str, next: &mut Successor) -> bool {
        let Ok(present) = read(&self.path) else { return false };
        if present == text {
            return false;
        }
        if present != next.text {
            *next = Successor { text: present, ..Successor::default() };
        }
        if next.refused.is_some_and(|at| at.elapsed() < RETRY.1) {
            return false;
        }
        let Some(new) = document.successor(&next.text) else { return false };
        // Begins no rollout of a document that has failed before. For such a document, `follow` only returns all hosts to their last good
        // files.
        if self.state.failed.as_ref().is_some_and(|failure| failure.document == new.id) {
            return true;
        }
        let download = match next.download.take() {
            Some(download) if download.is_finished() => download,
            running => {
                let begin = || self.libraries.download(new, self.state.resolved.clone());
                next.download = Some(running.unwrap_or_else(begin));
                return false;
            }
        };
        let begun = download.join().unwrap_or_else(|panic| resume_unwind(panic)).and_then(|resolved| {
            self.state.resolved = resolved;
            self.begin(&new)
        });
        if let Err(error) = &begun {
            self.out.print(&Event::Refused { error: &format!("{error:#}") });
            next.refused = Some(Instant::now());
        }
        begun.is_ok()
    }

    /// Fetches the libraries of the document, and checks all hosts. Returns the new files and the hosts. Changes no file of a host.
    ///
    /// # Errors
    /// Fails if a library or a host is rejected.
    fn begin(&mut self, document: &Document) -> Result<(Files, Vec<Target>), Error> {
        let libraries = self.libraries.of(document, &mut self.state.resolved)?;
        self.store.save(&self.state)?;
        let expected: Files =
            libraries.iter().map(|library| (file_name(&library.module), library.digest.clone())).collect();
        let (good, is_unfinished) = (self.state.good.clone(), self.state.is_unfinished);
        let prepared = self.prepare(document, &libraries, &expected);
        // Restores the saved values if a host is refused, because files of an unfinished rollout may have become good files of an earlier
        // host.
        let targets = prepared.inspect_err(|_| (self.state.good, self.state.is_unfinished) = (good, is_unfinished))?;
        Ok((expected, targets))
    }

    /// Saves the state after a rollout, a return or the refusal of a document. Then removes the libraries that neither the document nor the
    /// last good files of a host contain.
    fn settle(&mut self, document: &Document) -> Result<(), Error> {
        let references: Vec<_> = document.modules.values().map(ToString::to_string).collect();
        let good: Vec<_> = self.state.good.values().flat_map(Files::values).collect();
        self.state
            .resolved
            .retain(|reference, library| references.contains(reference) || good.contains(&&library.digest));
        self.store.save(&self.state)?;
        self.store.prune(&self.state);
        Ok(())
    }
}
