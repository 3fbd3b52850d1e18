//! Reports panics of plugin code in a running host. Converts the files that `alcedo_sys::panics` writes to backtraces.

use std::collections::HashSet;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use alcedo_runtime::development::plain_file;
use serde::Serialize;

use super::calls::{self, Call};
use super::dump::CrashDump;
use super::trace;
use crate::paint::Paint;

/// Maximum number of frames in a brief report.
const BRIEF: usize = 4;

/// A readable panic report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Panic {
    /// File, line and column, as recorded by the compiler.
    pub(crate) location: String,
    /// Panic message, in one line.
    pub(crate) message: String,
    thread: String,
    /// Frames, innermost first.
    calls: Vec<Call>,
}

impl Panic {
    /// Formats the panic as a few lines, with the author's frames only.
    pub(crate) fn brief(&self, paint: Paint) -> String {
        let head = format!("{} {}: {:?}", paint.red("panicked at"), self.location, self.message);
        head + &calls::brief(&self.calls, None, BRIEF)
    }

    /// Formats the panic as lines.
    pub(crate) fn report(&self, paint: Paint) -> String {
        let head =
            format!("{} {}, thread {}\n  {:?}", paint.red("panicked at"), self.location, self.thread, self.message);
        head + &calls::report(&self.calls)
    }
}

/// The recorded panics of a host.
pub(super) struct Panics {
    folder: PathBuf,
    /// Number of bytes of the list file that have been read already.
    read: u64,
    /// Locations of reported panics, each with the number of modules loaded before the panic. A panic at a reported location is reported
    /// again only after another module was loaded.
    known: HashSet<(String, u64)>,
}

impl Panics {
    pub(super) fn of(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), read: 0, known: HashSet::new() }
    }

    pub(super) fn new_ones(&mut self) -> Vec<Panic> {
        // If no list file exists, no panic has occurred, or the host does not record panics.
        let list = self.unread().unwrap_or_default();
        slots(&list).into_iter().filter_map(|slot| self.panic(slot)).collect()
    }

    fn unread(&mut self) -> Option<String> {
        let (mut list, _) = plain_file::open(&self.folder.join("panics")).ok()?;
        list.seek(SeekFrom::Start(self.read)).ok()?;
        let mut text = String::new();
        self.read += list.read_to_string(&mut text).ok()? as u64;
        Some(text)
    }

    fn panic(&mut self, slot: u32) -> Option<Panic> {
        let dump = CrashDump::read_panic(&self.folder, slot)?;
        let (file, line, column) = &dump.at;
        let location = format!("{file}:{line}:{column}");
        let is_new = self.known.insert((location.clone(), dump.modules()));
        is_new.then(|| {
            let calls = behind_the_hook(trace::trace(&dump).calls);
            Panic { location, message: dump.message, thread: dump.thread, calls }
        })
    }
}

/// Returns the slot numbers in lines of the file `panics`, each once. The host writes lines atomically, so every line is complete.
fn slots(list: &str) -> Vec<u32> {
    let mut slots = Vec::new();
    for slot in list.lines().filter_map(|line| line.strip_prefix("panic ")?.parse().ok()) {
        if !slots.contains(&slot) {
            slots.push(slot);
        }
    }
    slots
}

/// Removes the frames of the panic hook, and of the functions that the hook calls.
fn behind_the_hook(mut calls: Vec<Call>) -> Vec<Call> {
    // Checks for each function of the hook, because inlined functions have no frames if debug information is missing.
    let is_of_hook = |function: &str| {
        function.contains("alcedo_rt::panic_hook::") || function.ends_with("alcedo_rt::panic_guard::hook")
    };
    let hook = calls.iter().rposition(|call| is_of_hook(&call.function));
    calls.split_off(hook.map_or(0, |hook| hook + 1))
}

#[cfg(test)]
mod tests {
    use super::super::calls::{Call, Owner};
    use super::{behind_the_hook, slots};

    #[test]
    fn a_list_names_each_slot_once() {
        assert_eq!(slots("panic 3\npanic 11\npanic 3\nnonsense\npanic\n"), [3, 11]);
    }

    #[test]
    fn the_recorder_is_not_in_the_backtrace() {
        let call = |function: &str| Call {
            function: function.into(),
            location: None,
            of: Owner::Library,
            image: "x.so".into(),
            module: None,
        };
        let hooks = ["alcedo_rt::panic_guard::hook", "alcedo_rt::panic_hook::put::{{closure}}"];
        let calls = hooks.map(|hook| ["alcedo_sys::panics::record", hook, "cube::turn"].map(call).to_vec());
        calls.iter().for_each(|calls| assert_eq!(behind_the_hook(calls.clone()), calls[2..]));
        let [calls, _] = calls;
        assert_eq!(behind_the_hook(calls[2..].to_vec()), calls[2..], "a hook that was not seen takes nothing with it");
    }
}
