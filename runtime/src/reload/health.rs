//! Decides if the new code of a watched library remains in use. A health window opens after each commit. If the health function of the host
//! returns an error during the window, the host loads the earlier library again. Libraries are identified by the digests of their files.

use std::io;
use std::path::Path;
use std::time::Duration;

use alcedo_sys::plain_file;
use serde::{Deserialize, Serialize};

/// Maximum size of a status file in bytes.
const LARGEST_STATUS: u64 = 1 << 20;
/// Maximum size of one reason in the status file, in bytes.
const LARGEST_REASON: usize = 1 << 12;
/// Maximum total size of all reasons of one kind in the status file. Both kinds fit into [`LARGEST_STATUS`], even if JSON escapes each byte
/// as six bytes.
const LARGEST_REASONS: usize = 1 << 16;

/// Status of a host with a health watch, as stored in the status file. The names of the fields are stable. Later versions may add fields.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{HostStatus, ModuleState};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("status.json");
/// // The host has not started yet.
/// assert_eq!(HostStatus::read(&path)?, None);
/// let digest = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
/// let module = format!("{{\"file\": \"libweather.so\", \"digest\": \"{digest}\", \"state\": \"running\", \"rejected\": null}}");
/// std::fs::write(&path, format!("{{\"process\": 7, \"generation\": 2, \"modules\": [{module}]}}"))?;
/// let status = HostStatus::read(&path)?.expect("the host has written it");
/// assert_eq!(status.modules[0].state, ModuleState::Running);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HostStatus {
    /// Process id of the host.
    pub process: u32,
    /// Start time of the process in clock ticks since the boot of the machine, as in `/proc/<id>/stat`. 0 if unknown. Distinguishes the
    /// host from a later process with the same id.
    #[serde(default)]
    pub started: u64,
    /// Generation of the Master.
    pub generation: u64,
    /// Watched libraries.
    pub modules: Vec<ModuleStatus>,
}

/// Status of a watched library.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModuleStatus {
    /// File name of the library.
    pub file: String,
    /// SHA-256 digest of the file whose code runs. If the file was replaced after the host itself had loaded the library, contains `image:`
    /// and the digest of the image. Empty if the library is absent.
    pub digest: String,
    /// State of the running code.
    #[serde(flatten)]
    pub state: ModuleState,
    /// File that could not be loaded, or whose code was unhealthy. `None` after the file was replaced.
    pub rejected: Option<Rejected>,
}

/// State of the running code of a library.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
#[non_exhaustive]
pub enum ModuleState {
    /// The health window is open.
    #[default]
    Checking,
    /// The code was healthy during its health window.
    Running,
    /// The host has unloaded the Master, or has reloaded the Master without this library. The watch does not load the library.
    Absent,
    /// The code is unhealthy. The code still runs, because the host has no earlier library, or could not load the earlier library.
    Unhealthy {
        /// Error of the health function, truncated after 4 KiB.
        reason: String,
    },
}

/// Rejected library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Rejected {
    /// SHA-256 digest of the file.
    pub digest: String,
    /// Step that rejected the file.
    pub by: RejectedBy,
    /// Error of this step, truncated after 4 KiB.
    pub reason: String,
}

/// Step that rejected a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RejectedBy {
    /// The reload was rolled back.
    Load,
    /// The health function returned an error, and the earlier library was loaded again.
    Health,
}

impl HostStatus {
    /// Reads a status file. Returns `None` if the file does not exist. Can be called on any thread and in any process.
    ///
    /// # Errors
    /// Returns the error of the operating system, or `InvalidData` if the file is not a status file.
    pub fn read(path: &Path) -> io::Result<Option<Self>> {
        match plain_file::read(path, LARGEST_STATUS) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(io::Error::from),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces the status file atomically.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        plain_file::replace(path, &text)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Module {
    file: String,
    /// Digest of the running code. `None` if the Master does not contain the library.
    runs: Option<String>,
    /// Digest of the last healthy code.
    good: Option<String>,
    /// Reason why the running code is unhealthy.
    unhealthy: Option<String>,
    rejected: Option<Rejected>,
    /// Set if the rejected file could not be copied.
    is_uncopied: bool,
    /// Digest of the watched file at the time when the host loaded the module from a different file. The watch loads the watched file only
    /// after its content has changed.
    passed_over: Option<String>,
}

/// Code of a watched library after a reload that the host itself has started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Adopted {
    /// Digest of the running code.
    pub digest: String,
    /// Digest of the watched file. `None` if the file cannot be read.
    pub file: Option<String>,
    /// Set if the code was loaded from a different file than the watched file.
    pub is_elsewhere: bool,
}

/// Health of the watched libraries. Reads no clock. The caller passes the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Health {
    window: Duration,
    modules: Vec<Module>,
    /// Start of the open window. `None` if no window is open.
    opened: Option<Duration>,
}

/// Decision after a call to the health function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Wait,
    /// The health window has passed without an error. The running code is now the last healthy code.
    Keep,
    /// The caller must load the last healthy code of these modules again.
    Return(Vec<usize>),
    /// The running code is unhealthy, but no module has an earlier library to load.
    Stuck,
}

impl Health {
    /// Starts with an open window, because the health of the loaded code is unknown. `modules` contains the names and digests of the files.
    pub(crate) fn new(window: Duration, now: Duration, modules: impl IntoIterator<Item = (String, String)>) -> Self {
        let module = |(file, runs)| Module { file, runs: Some(runs), ..Module::default() };
        Self { window, modules: modules.into_iter().map(module).collect(), opened: Some(now) }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.opened.is_some()
    }

    /// Returns the digest of the running code. Returns `None` if the Master does not contain the library.
    pub(crate) fn runs(&self, module: usize) -> Option<&str> {
        self.modules[module].runs.as_deref()
    }

    /// Returns the digest of the last healthy code. If no healthy code is known, returns the digest of the running code.
    pub(crate) fn good(&self, module: usize) -> Option<&str> {
        let module = &self.modules[module];
        module.good.as_deref().or(module.runs.as_deref())
    }

    pub(crate) fn is_unhealthy(&self, module: usize) -> bool {
        self.modules[module].unhealthy.is_some()
    }

    /// Checks if the code with this digest runs, or is the last healthy code. The copy of its file must then be kept.
    pub(crate) fn needs(&self, digest: &str) -> bool {
        let is_needed = |known: &Option<String>| known.as_deref() == Some(digest);
        self.modules.iter().any(|module| is_needed(&module.runs) || is_needed(&module.good))
    }

    /// Compares the digests of the files on disk with the running code. Returns the modules to load. Rejected content can be loaded again
    /// only after the content of the file has changed.
    pub(crate) fn found(&mut self, digests: &[String]) -> Vec<usize> {
        let mut load = Vec::new();
        for (at, (module, found)) in self.modules.iter_mut().zip(digests).enumerate() {
            let Some(runs) = &module.runs else { continue };
            module.rejected.take_if(|rejected| rejected.digest != *found);
            module.passed_over.take_if(|passed| *passed != *found);
            if module.rejected.is_none() && module.passed_over.is_none() && runs != found {
                load.push(at);
            }
        }
        load
    }

    /// Records a committed reload of the modules in `loaded`, and opens the health window.
    pub(crate) fn committed(&mut self, now: Duration, loaded: &[usize], digests: &[String]) {
        for &at in loaded {
            let module = &mut self.modules[at];
            module.runs = Some(digests[at].clone());
            (module.unhealthy, module.rejected, module.passed_over) = (None, None, None);
            self.opened = Some(now);
        }
    }

    /// Records the code of the libraries after a reload that the host itself has started. Opens the health window if code has changed. An
    /// entry of `found` is `None` if the Master does not contain the library.
    pub(crate) fn adopted(&mut self, now: Duration, found: Vec<Option<Adopted>>) {
        for (module, found) in self.modules.iter_mut().zip(found) {
            let Some(Adopted { digest, file, is_elsewhere }) = found else {
                (module.runs, module.unhealthy, module.rejected, module.passed_over) = (None, None, None, None);
                continue;
            };
            let is_replaced = |rejected: &Rejected| file.as_ref().is_some_and(|file| *file != rejected.digest);
            module.rejected.take_if(|rejected| rejected.digest == digest || is_replaced(rejected));
            module.passed_over = file.filter(|_| is_elsewhere);
            if module.runs.as_ref() != Some(&digest) {
                (module.runs, module.unhealthy, self.opened) = (Some(digest), None, Some(now));
            }
        }
        if self.modules.iter().all(|module| module.runs.is_none()) {
            self.opened = None;
        }
    }

    /// Records a reload that was rolled back, or files that could not be copied for a reload.
    pub(crate) fn refused(&mut self, tried: &[usize], digests: &[String], reason: &str, is_uncopied: bool) {
        for &at in tried {
            let (digest, reason) = (digests[at].clone(), reason.to_owned());
            self.modules[at].rejected = Some(Rejected { digest, by: RejectedBy::Load, reason });
            self.modules[at].is_uncopied = is_uncopied;
        }
    }

    /// Permits a new attempt to load the files that could not be copied.
    pub(crate) fn retry_copies(&mut self) {
        for module in self.modules.iter_mut().filter(|module| module.is_uncopied) {
            module.is_uncopied = false;
            module.rejected.take_if(|rejected| rejected.by == RejectedBy::Load);
        }
    }

    /// Returns the decision after a call to the health function. Returns [`Verdict::Wait`] if no window is open.
    pub(crate) fn judge(&mut self, now: Duration, answer: &Result<(), String>) -> Verdict {
        let Some(opened) = self.opened else { return Verdict::Wait };
        let Err(reason) = answer else {
            if now.saturating_sub(opened) < self.window {
                return Verdict::Wait;
            }
            self.opened = None;
            for module in self.modules.iter_mut().filter(|module| module.runs.is_some()) {
                module.good.clone_from(&module.runs);
                module.unhealthy = None;
            }
            return Verdict::Keep;
        };
        self.opened = None;
        let mut back = Vec::new();
        for (at, module) in self.modules.iter_mut().enumerate() {
            match (&module.runs, &module.good) {
                (None, _) => {}
                (Some(runs), Some(good)) if good == runs => {}
                (Some(_), Some(_)) => back.push(at),
                (Some(_), None) => module.unhealthy = Some(reason.clone()),
            }
        }
        if back.is_empty() { Verdict::Stuck } else { Verdict::Return(back) }
    }

    /// Records an attempt to load the last healthy code of `modules` again. The replaced code was unhealthy for `reason`. `outcome` is the
    /// result of the reload.
    pub(crate) fn returned(&mut self, modules: &[usize], reason: &str, outcome: &Result<(), String>) {
        for &at in modules {
            let module = &mut self.modules[at];
            match (outcome, module.good.clone()) {
                (Ok(()), Some(good)) => {
                    let digest = module.runs.replace(good).unwrap_or_default();
                    module.rejected = Some(Rejected { digest, by: RejectedBy::Health, reason: reason.to_owned() });
                    module.unhealthy = None;
                }
                (Ok(()), None) => {}
                (Err(error), _) => {
                    module.unhealthy = Some(format!("{reason}; the earlier library was not loaded again: {error}"));
                }
            }
        }
    }

    /// Returns the content of the status file. `process` is the id of this process and its start time.
    pub(crate) fn status(&self, (process, started): (u32, u64), generation: u64) -> HostStatus {
        let is_open = self.is_open();
        let most = LARGEST_REASON.min(LARGEST_REASONS / self.modules.len().max(1));
        let status = |module: &Module| ModuleStatus {
            file: module.file.clone(),
            digest: module.runs.clone().unwrap_or_default(),
            state: match &module.unhealthy {
                _ if module.runs.is_none() => ModuleState::Absent,
                Some(reason) => ModuleState::Unhealthy { reason: cut(reason, most) },
                None if is_open && module.good != module.runs => ModuleState::Checking,
                None => ModuleState::Running,
            },
            rejected: module.rejected.as_ref().map(|rejected| Rejected {
                digest: rejected.digest.clone(),
                by: rejected.by,
                reason: cut(&rejected.reason, most),
            }),
        };
        HostStatus { process, started, generation, modules: self.modules.iter().map(status).collect() }
    }
}

/// Truncates a reason to at most `most` bytes. A truncated reason ends with a mark.
fn cut(reason: &str, most: usize) -> String {
    if reason.len() <= most {
        return reason.to_owned();
    }
    format!("{}…", &reason[..reason.floor_char_boundary(most)])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use super::{Adopted, Health, HostStatus, ModuleState, Verdict};

    const WINDOW: Duration = Duration::from_secs(2);

    /// Runs steps, one second apart, and returns the state of the modules `a` and `b` after each step. `a2` finds and commits build 2 of
    /// `a`. In `a2!`, the reload to this build is rolled back. `+` and `-` are the results of the health function. In `-!`, the reload of
    /// the earlier code fails. In `a:x`, the host itself loads code `x` as `a` from a different file. In `a:`, the host removes `a` from
    /// the Master.
    fn run(steps: &str) -> Vec<String> {
        let mut health =
            Health::new(WINDOW, Duration::ZERO, ["a", "b"].map(|file| (file.to_owned(), format!("{file}1"))));
        let mut disk = ["a1".to_owned(), "b1".to_owned()];
        let mut lines = Vec::new();
        for (step, second) in steps.split_whitespace().zip(1..) {
            let now = Duration::from_secs(second);
            let (word, fails) = step.strip_suffix('!').map_or((step, false), |word| (word, true));
            match word {
                "+" | "-" => {
                    let answer = if word == "+" { Ok(()) } else { Err("sick".to_owned()) };
                    if let Verdict::Return(back) = health.judge(now, &answer) {
                        let outcome = if fails { Err("no".to_owned()) } else { Ok(()) };
                        health.returned(&back, "sick", &outcome);
                    }
                }
                by_hand if by_hand.contains(':') => {
                    let (file, code) = by_hand.split_once(':').unwrap_or_default();
                    let adopted = |(at, name): (usize, &str)| {
                        let is_elsewhere = name == file;
                        let runs = if is_elsewhere { Some(code) } else { health.runs(at) };
                        let digest = runs.filter(|runs| !runs.is_empty())?.to_owned();
                        Some(Adopted { digest, file: Some(disk[at].clone()), is_elsewhere })
                    };
                    let found = ["a", "b"].into_iter().enumerate().map(adopted).collect();
                    health.adopted(now, found);
                }
                build => {
                    disk[usize::from(build.starts_with('b'))] = build.to_owned();
                    let load = health.found(&disk);
                    if fails { health.refused(&load, &disk, "no", false) } else { health.committed(now, &load, &disk) }
                }
            }
            lines.push(line(&health));
        }
        lines
    }

    /// Formats the modules: `?` is an open window, `!` unhealthy code, and `-a2` a rejected build.
    fn line(health: &Health) -> String {
        let status = health.status((1, 0), 1);
        let module = |module: &super::ModuleStatus| {
            let mark = match module.state {
                ModuleState::Checking => "?",
                ModuleState::Running => "",
                ModuleState::Absent => "~",
                ModuleState::Unhealthy { .. } => "!",
            };
            let rejected = module.rejected.as_ref().map(|rejected| format!("-{}", rejected.digest)).unwrap_or_default();
            format!("{}{mark}{rejected}", module.digest)
        };
        status.modules.iter().map(module).collect::<Vec<_>>().join(" ")
    }

    fn check(steps: &str, last: &str) {
        assert_eq!(run(steps).last().map(String::as_str), Some(last), "{steps}: {:?}", run(steps));
    }

    #[test]
    fn code_that_is_healthy_for_the_window_stays() {
        check("+", "a1? b1?");
        check("+ +", "a1 b1");
        check("+ + a2", "a2? b1");
        check("+ + a2 + +", "a2 b1");
    }

    #[test]
    fn unhealthy_code_is_replaced_by_the_last_healthy_code() {
        check("+ + a2 -", "a1-a2 b1");
        check("+ + a2 + -", "a1-a2 b1");
        check("+ + a2 + + a3 b2 -", "a2-a3 b1-b2");
    }

    #[test]
    fn without_healthy_code_the_unhealthy_code_stays_and_is_marked() {
        check("-", "a1! b1!");
        check("- a2 + +", "a2 b1");
        check("+ + a2 -!", "a2! b1");
    }

    #[test]
    fn a_failed_step_may_be_tried_again() {
        let mut health = Health::new(WINDOW, Duration::ZERO, [("a".to_owned(), "a1".to_owned())]);
        assert_eq!(health.judge(WINDOW, &Ok(())), Verdict::Keep);
        let disk = ["a2".to_owned()];
        health.committed(WINDOW, &[0], &disk);
        assert_eq!(health.judge(WINDOW, &Err("sick".to_owned())), Verdict::Return(vec![0]));
        health.returned(&[0], "sick", &Err("no room".to_owned()));
        assert_eq!(line(&health), "a2!");
        health.returned(&[0], "sick", &Ok(()));
        assert_eq!(line(&health), "a1-a2");
        health.retry_copies();
        assert_eq!(health.found(&disk), [0; 0], "unhealthy code is not tried again");
        let disk = ["a3".to_owned()];
        let tried = health.found(&disk);
        health.refused(&tried, &disk, "no room", true);
        assert_eq!((line(&health).as_str(), health.found(&disk)), ("a1-a3", vec![]));
        health.retry_copies();
        assert_eq!((line(&health).as_str(), health.found(&disk)), ("a1", vec![0]));
    }

    #[test]
    fn each_file_that_was_not_copied_is_tried_again() {
        let mut health =
            Health::new(WINDOW, Duration::ZERO, ["a", "b"].map(|file| (file.to_owned(), format!("{file}1"))));
        // The disk is full at both changes.
        for disk in [["a2", "b1"], ["a2", "b2"]] {
            let disk = disk.map(str::to_owned);
            let tried = health.found(&disk);
            assert_eq!(tried.len(), 1);
            health.refused(&tried, &disk, "no room", true);
        }
        let disk = ["a2", "b2"].map(str::to_owned);
        health.retry_copies();
        assert_eq!(health.found(&disk), [0, 1]);
        health.refused(&[0, 1], &disk, "no library", false);
        health.retry_copies();
        assert_eq!(health.found(&disk), [0; 0], "a complete copy was not loaded");
    }

    #[test]
    fn rejected_content_is_not_loaded_until_the_file_was_replaced() {
        check("+ + a2!", "a1-a2 b1");
        check("+ + a2 - a2", "a1-a2 b1");
        check("+ + a2 - a1", "a1 b1");
        check("+ + a2 - a1 a2", "a2? b1");
        check("+ + a2 - b2", "a1-a2 b2?");
    }

    #[test]
    fn code_that_the_host_loads_itself_becomes_the_last_healthy_code() {
        check("+ + a:x", "x? b1");
        check("+ + a:x + + a2 -", "x-a2 b1");
        check("+ + a2 - a:x", "x?-a2 b1");
        check("+ + a2 - a:a2", "a2? b1");
    }

    #[test]
    fn the_choice_of_the_host_lasts_until_the_watched_file_changes() {
        check("+ + a:x + + b2", "x b2?");
        check("+ + a: a2", "~ b1");
        check("+ + a: b2 -", "~ b1-b2");
        check("+ + a: a:a1", "a1 b1");
    }

    #[test]
    fn the_status_stays_readable_with_long_reasons() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("status.json");
        let reason = format!("\u{1}é{}", "\0".repeat(1 << 21));
        for count in [1, 100] {
            let modules = (0..count).map(|at| (format!("lib{at}.so"), "one".to_owned()));
            let mut health = Health::new(WINDOW, Duration::ZERO, modules);
            let all: Vec<_> = (0..count).collect();
            health.refused(&all, &vec!["two".to_owned(); count], &reason, false);
            assert_eq!(health.judge(Duration::ZERO, &Err(reason.clone())), Verdict::Stuck);
            health.status((1, 0), 1).write(&path).expect("the folder is writable");
            let status = HostStatus::read(&path).expect("it is small enough").expect("it was written");
            let rejected = status.modules[0].rejected.as_ref().expect("it is rejected");
            assert!(rejected.reason.ends_with('…') && rejected.reason.len() <= super::LARGEST_REASON + 3);
        }
        assert_eq!([2, 3, 4].map(|most| super::cut("aéb", most)), ["a…", "aé…", "aéb"]);
    }

    /// Tests all sequences of up to six steps. A step is a result of the health function, a changed file, or a changed file that fails to
    /// load.
    #[test]
    fn the_last_healthy_code_is_never_lost() {
        let steps = ["+", "-", "a1", "a2", "a2!", "b2"];
        let mut sequences = vec![String::new()];
        let mut seen = BTreeSet::new();
        for _ in 0..6 {
            sequences = sequences
                .iter()
                .flat_map(|sequence| steps.iter().map(move |step| format!("{sequence} {step}")))
                .collect();
            for sequence in &sequences {
                let lines = run(sequence);
                let [.., before, after] = lines.as_slice() else { continue };
                // Unhealthy code is never followed by untested code, unless a file has changed.
                if sequence.ends_with('-') && before.contains('?') {
                    assert!(!after.contains('?'), "{sequence}: {lines:?}");
                }
                seen.insert(after.clone());
            }
        }
        assert!(seen.contains("a1-a2 b1") && seen.contains("a2 b2") && seen.contains("a2! b1!"), "{seen:?}");
    }
}
