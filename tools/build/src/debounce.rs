//! Decides when a burst of saves is over, and which files are sources. `watch.rs` receives the events. The caller provides the current
//! time. Times are durations since an arbitrary start.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::record::TOOLCHAIN_FILES;
use crate::scripts::is_script;

/// Collects changes until a burst of saves is over and a build can start.
///
/// Call [`take`](Debounce::take) when the build *starts*. Changes during the build then belong to the next build, so no save is lost.
///
/// # Examples
/// ```
/// use std::path::Path;
/// use std::time::Duration;
///
/// use alcedo_build::Debounce;
///
/// let at = Duration::from_millis;
/// let mut saves = Debounce::new(at(10), at(200));
/// saves.add(at(0), Path::new("src/lib.rs"));
/// assert_eq!(saves.due(at(4)), Some(at(6)));
/// assert_eq!(saves.due(at(10)), Some(Duration::ZERO));
/// assert_eq!(saves.take(), [Path::new("src/lib.rs")]);
/// ```
#[derive(Debug, Clone)]
pub struct Debounce {
    quiet: Duration,
    longest: Duration,
    /// Number of builds canceled since the last completed build.
    canceled: u32,
    pending: Option<Pending>,
}

#[derive(Debug, Clone)]
struct Pending {
    first: Duration,
    last: Duration,
    paths: BTreeSet<PathBuf>,
}

impl Default for Debounce {
    /// Creates a debounce with a quiet window of 10 ms, which can grow to 200 ms.
    ///
    /// The build of each edit starts only after the full quiet window. The window is therefore only as long as one save: an editor's write,
    /// sync and rename, or "save all" on a few files, happen within a few milliseconds. A longer burst, for example by `git checkout` or a
    /// formatter, is split. The second part of the burst cancels the build of the first part. [`build_canceled`](Self::build_canceled) then
    /// doubles the window, so that a burst starts few builds.
    fn default() -> Self {
        Self::new(Duration::from_millis(10), Duration::from_millis(200))
    }
}

impl Debounce {
    /// Creates a debounce. A burst is over when `quiet` has passed without an event, and at the latest `longest` after the first event.
    /// Continuous writes therefore delay a build, but do not prevent the build.
    pub fn new(quiet: Duration, longest: Duration) -> Self {
        Self { quiet, longest, canceled: 0, pending: None }
    }

    /// Doubles the quiet window, up to the longest wait, because more changes are likely after changes have canceled a build.
    ///
    /// # Examples
    /// ```
    /// use std::path::Path;
    /// use std::time::Duration;
    ///
    /// use alcedo_build::Debounce;
    ///
    /// let at = Duration::from_millis;
    /// let mut saves = Debounce::new(at(10), at(200));
    /// saves.build_canceled();
    /// saves.add(at(0), Path::new("src/lib.rs"));
    /// assert_eq!(saves.due(at(4)), Some(at(16)));
    /// saves.build_ended();
    /// assert_eq!(saves.due(at(4)), Some(at(6)));
    /// ```
    pub fn build_canceled(&mut self) {
        self.canceled = self.canceled.saturating_add(1);
    }

    /// Resets the quiet window after a build that was not canceled.
    pub fn build_ended(&mut self) {
        self.canceled = 0;
    }

    /// Records a change to the file or folder `path` at time `at`, for example from an event of a [`SourceWatch`](crate::SourceWatch).
    ///
    /// # Examples
    /// ```
    /// use std::path::Path;
    /// use std::time::Duration;
    ///
    /// use alcedo_build::Debounce;
    ///
    /// let mut saves = Debounce::default();
    /// saves.add(Duration::ZERO, Path::new("src/included.txt"));
    /// assert_eq!(saves.take().len(), 1);
    /// ```
    pub fn add(&mut self, at: Duration, path: &Path) {
        let pending = self.pending.get_or_insert_with(|| Pending { first: at, last: at, paths: BTreeSet::new() });
        // Compares the times, because events from another thread may be slightly out of order.
        pending.first = pending.first.min(at);
        pending.last = pending.last.max(at);
        pending.paths.insert(path.to_owned());
    }

    /// Returns the time until a build can start, which is zero after the burst. Check again after this time, or at the next event. Returns
    /// `None` if no change is pending.
    pub fn due(&self, now: Duration) -> Option<Duration> {
        let pending = self.pending.as_ref()?;
        let quiet = self.quiet.saturating_mul(2_u32.saturating_pow(self.canceled)).min(self.longest);
        let deadline = (pending.last + quiet).min(pending.first + self.longest);
        Some(deadline.saturating_sub(now))
    }

    /// Removes and returns all pending changes, even if the burst is not over.
    pub fn take(&mut self) -> Vec<PathBuf> {
        self.pending.take().map(|pending| pending.paths.into_iter().collect()).unwrap_or_default()
    }
}

/// Returns `true` if a change to this file can change a library. Excludes Cargo.lock, because cargo itself writes this file.
pub(crate) fn is_source(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(OsStr::to_str) else { return false };
    // Excludes temporary files of editors: `.#x.rs` and `._x.rs` are hidden, and `x.rs~`, `#x.rs#`, `.x.rs.swp` and vim's probe `4913` have
    // other extensions.
    let hidden = name.starts_with('.');
    let extension = path.extension().and_then(OsStr::to_str);
    !hidden && (matches!(extension, Some("rs" | "toml" | "c" | "h")) || is_script(path))
}

/// Returns `true` for a lock, toolchain or configuration file of cargo. Includes Cargo.lock, although cargo itself writes this file.
pub(crate) fn is_cargo_file(path: &Path) -> bool {
    let mut files = ["Cargo.lock", ".cargo/config", ".cargo/config.toml"].iter().chain(&TOOLCHAIN_FILES);
    files.any(|name| path.ends_with(name))
}

/// Returns `true` if a folder with this name can contain sources. Checks only the name, because new folders are still empty.
pub(crate) fn is_source_folder(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(OsStr::to_str) else { return false };
    name != "target" && !name.contains(['.', '~', '#']) && name != "4913"
}

/// Returns `true` for paths in a folder of git or in a target folder of cargo. A source folder may also have the name `target`. The target
/// folder of cargo is therefore recognized by its content.
pub(crate) fn is_made_by_tools(path: &Path) -> bool {
    let parts: Vec<_> = path.iter().filter_map(OsStr::to_str).collect();
    let of_cargo =
        |below: &str| matches!(below, "debug" | "release" | "doc" | "package" | "tmp") || below.contains('-');
    let mut pairs = parts.iter().zip(parts.iter().skip(1));
    parts.contains(&".git") || pairs.any(|(folder, below)| *folder == "target" && of_cargo(below))
}

#[cfg(test)]
mod tests {
    use super::{Debounce, is_cargo_file, is_made_by_tools, is_source};
    use std::path::Path;
    use std::time::Duration;

    /// Runs `script` with windows of 10 and 50 ms: `3:a` is an event of `a.rs` at 3, `?4` calls `due` at 4, `take` calls `take`,
    /// `canceled` and `ended` report the end of a build.
    fn check(script: &str, expected: &str) {
        let ms = |text: &str| Duration::from_millis(text.parse().unwrap());
        let names = |paths: Vec<std::path::PathBuf>| {
            let names: Vec<_> = paths.iter().map(|path| path.file_stem().unwrap().to_str().unwrap()).collect();
            names.join("+")
        };
        let mut debounce = Debounce::new(ms("10"), ms("50"));
        let mut answers = Vec::new();
        for step in script.split(' ') {
            if let Some(now) = step.strip_prefix('?') {
                answers.push(match debounce.due(ms(now)) {
                    None => "-".into(),
                    Some(Duration::ZERO) => "due".into(),
                    Some(rest) => format!("wait{}", rest.as_millis()),
                });
            } else if let Some((at, name)) = step.split_once(':') {
                debounce.add(ms(at), Path::new(&format!("/p/src/{name}.rs")));
            } else {
                match step {
                    "canceled" => debounce.build_canceled(),
                    "ended" => debounce.build_ended(),
                    _ => answers.push(format!("took({})", names(debounce.take()))),
                }
            }
        }
        assert_eq!(answers.join(" "), expected, "{script}");
    }

    #[test]
    fn no_action_is_due_before_a_change() {
        check("?0 ?1000 take", "- - took()");
    }

    #[test]
    fn one_save_is_due_after_the_quiet_window() {
        check("0:a ?0 ?9 ?10 ?11", "wait10 wait1 due due");
    }

    #[test]
    fn a_burst_is_one_change() {
        check("0:a 4:b 8:a ?10 ?18 take", "wait8 due took(a+b)");
    }

    #[test]
    fn endless_writes_cannot_put_a_build_off_for_ever() {
        check("0:a 9:a 18:a 27:a 36:a 45:a ?49 ?50", "wait1 due");
    }

    #[test]
    fn a_save_during_a_build_makes_the_next_one_due() {
        check("0:a ?10 take ?11 12:a ?13 ?22 take ?23", "due took(a) - wait9 due took(a) -");
    }

    #[test]
    fn canceled_builds_lengthen_the_quiet_window_up_to_the_longest_wait() {
        check("canceled 0:a ?0 canceled ?0 canceled ?0 canceled ?0", "wait20 wait40 wait50 wait50");
        check("canceled canceled ended 0:a ?0", "wait10");
    }

    /// Returns the start times of the builds, if a file is saved at the times `saves` and each build takes `build`. All times are in
    /// milliseconds.
    fn starts(saves: &[u64], build: u64) -> Vec<u64> {
        let mut debounce = Debounce::default();
        let mut starts = Vec::<u64>::new();
        let mut is_building = false;
        for now in 0..10_000 {
            if is_building && starts.last().is_some_and(|start| start + build == now) {
                debounce.build_ended();
                is_building = false;
            }
            if saves.contains(&now) {
                debounce.add(Duration::from_millis(now), Path::new("/p/src/a.rs"));
            }
            if debounce.due(Duration::from_millis(now)) == Some(Duration::ZERO) {
                debounce.take();
                if is_building {
                    debounce.build_canceled();
                }
                starts.push(now);
                is_building = true;
            }
        }
        starts
    }

    #[test]
    fn a_burst_of_saves_starts_few_builds() {
        assert_eq!(starts(&[0], 300), [10]);
        assert_eq!(starts(&[0, 1000], 300), [10, 1010]);
        assert_eq!(starts(&[0, 100], 300), [10, 110]);
        let every = |gap: u64, count: u64| (0..count).map(|save| save * gap).collect::<Vec<_>>();
        assert_eq!(starts(&every(11, 120), 300), [10, 21, 222, 431, 640, 849, 1058, 1267, 1476]);
        assert_eq!(starts(&every(106, 17), 300), [10, 116, 232, 358, 504, 730, 942, 1154, 1366, 1578, 1790]);
    }

    #[test]
    fn asking_changes_nothing() {
        check("0:a ?10 ?10 ?5 take", "due due wait5 took(a)");
    }

    #[test]
    fn events_out_of_order_count_from_the_earliest_to_the_latest() {
        check("8:a 0:b ?17 ?18", "wait1 due");
    }

    #[test]
    fn files_of_cargo_are_recognized() {
        let is_watched = |path: &Path| is_cargo_file(path) && !is_made_by_tools(path);
        let check = |path: &str, expected: bool| assert_eq!(is_watched(Path::new(path)), expected, "{path}");
        for path in
            ["w/Cargo.lock", "w/rust-toolchain", "w/rust-toolchain.toml", "w/.cargo/config", "w/.cargo/config.toml"]
        {
            check(path, true);
        }
        for path in ["w/config.toml", "w/.cargo/credentials.toml", "w/Cargo.lock~", "target/package/x/Cargo.lock"] {
            check(path, false);
        }
    }

    #[test]
    fn only_sources_count() {
        let is_watched = |path: &Path| is_source(path) && !is_made_by_tools(path);
        let check = |path: &str, expected: bool| assert_eq!(is_watched(Path::new(path)), expected, "{path}");
        for path in ["src/lib.rs", "Cargo.toml", "src/a.c", "src/a.h", "src/target/mod.rs", "src/target/arch/x.rs"] {
            check(path, true);
        }
        for path in [
            "Cargo.lock",
            "4913",
            "src/.lib.rs.swp",
            "src/lib.rs~",
            "src/#lib.rs#",
            "src/.#lib.rs",
            "src/lib.rs.bck",
            "README.md",
            ".git/refs/heads/fix.rs",
            "target/debug/build/x-1/out/made.rs",
            "target/x86_64-unknown-linux-gnu/debug/build/x-1/out/made.rs",
        ] {
            check(path, false);
        }
    }
}
