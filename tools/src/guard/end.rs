//! The end of a host: determines the cause from the exit status and the crash files, and formats the report.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;

use serde_json::{Value, json};
use signal_hook::consts::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGKILL, SIGSEGV};
use signal_hook::low_level::signal_name;

use super::calls::{self, Call};
use super::dump::CrashDump;
use super::trace::{self, Trace};
use super::unmapped;
use crate::paint::Paint;

/// Maximum number of frames in a brief report.
const BRIEF: usize = 8;

/// Reason why the process of a host has ended.
#[derive(Debug)]
pub(crate) enum End {
    /// The host exited normally, or was killed by a signal that is not a crash.
    Ordered(ExitStatus),
    Crashed(Box<Crash>),
    /// The end is unknown, because the system returned this error.
    Lost(String),
}

impl End {
    /// Returns true if the host exited with a successful status.
    pub(crate) fn is_orderly(&self) -> bool {
        matches!(self, Self::Ordered(status) if status.success())
    }

    /// Returns true if the host was killed, as by [`Watched::kill`](super::Watched::kill).
    pub(crate) fn is_killed(&self) -> bool {
        matches!(self, Self::Ordered(status) if status.signal() == Some(SIGKILL))
    }

    /// Adds to the crash report a message about exhausted memory, which the program printed before its crash.
    pub(crate) fn out_of_memory(mut self, text: &str) -> Self {
        if let Self::Crashed(crash) = &mut self {
            crash.what = format!("out of memory, {text}; {}", crash.what);
        }
        self
    }

    /// Formats the end as a few lines, with the author's frames only.
    pub(crate) fn brief(&self, paint: Paint) -> String {
        if let Self::Crashed(crash) = self { crash.brief(paint) } else { self.report(paint) }
    }

    /// Returns the end as JSON fields, for other programs.
    pub(crate) fn facts(&self) -> Value {
        match self {
            Self::Crashed(crash) => json!({
                "how": "crash", "what": crash.what, "frames": crash.calls, "text": crash.report(Paint::off()),
            }),
            Self::Lost(error) => json!({ "how": "unknown", "error": error }),
            Self::Ordered(status) => json!({ "how": "exit", "code": status.code(), "signal": status.signal() }),
        }
    }

    /// Formats the end as lines, for a host that exited unexpectedly.
    pub(crate) fn report(&self, paint: Paint) -> String {
        let ended = |how: String| format!("{} {how}", paint.red("the host ended:"));
        match self {
            Self::Crashed(crash) => crash.report(paint),
            Self::Lost(error) => ended(error.clone()),
            Self::Ordered(status) => match status.signal() {
                Some(SIGKILL) => {
                    ended("by SIGKILL, from outside: by hand, or because the machine was out of memory".to_owned())
                }
                Some(signal) => ended(format!("by signal {signal}, from outside")),
                None => ended(format!(
                    "by itself, with exit code {}, without an end of its runtime",
                    status.code().unwrap_or_default()
                )),
            },
        }
    }
}

/// A readable crash report.
#[derive(Debug)]
pub(crate) struct Crash {
    /// Signal and details, such as address and thread.
    what: String,
    /// Frames, innermost first. Empty if the host could not record the stack.
    calls: Vec<Call>,
    /// States if the crash was caused by the use of an unmapped image.
    unmapped: UnmappedUse,
    /// Set if the host had called `crash_guard::arm_if_supervised`.
    armed: bool,
}

/// Message for a crash whose location the host has not recorded.
const NOT_ARMED: &str = "the location is unknown: the host has not armed its crash guard\n  add to the start of its main: \
     alcedo::crash_guard::arm_if_supervised()?;";

/// Use of an unmapped image that caused a crash.
#[derive(Debug, Default, PartialEq, Eq)]
enum UnmappedUse {
    /// The crash is not related to an unmapped image, or the cause is unknown.
    #[default]
    Unrelated,
    /// The host jumped to code of an unmapped image. The string names the image and, if known, the caller.
    Called(String),
    /// Mapped code accessed an address in the former range of an unmapped image.
    Accessed(String),
}

impl Crash {
    /// Formats the crash as a few lines, with the author's frames only.
    fn brief(&self, paint: Paint) -> String {
        let brief = if self.calls.is_empty() {
            String::new()
        } else {
            calls::brief(&self.calls, calls::culprit(&self.calls), BRIEF)
        };
        self.head(paint) + &brief
    }

    /// Formats the crash as lines.
    pub(crate) fn report(&self, paint: Paint) -> String {
        self.head(paint) + &calls::report(&self.calls)
    }

    fn head(&self, paint: Paint) -> String {
        let mut text = format!("{} {}", paint.red("the host crashed:"), self.what);
        match (&self.unmapped, calls::culprit(&self.calls)) {
            // The report names the unmapped image instead of the author's frame, because the address may come from code that is now
            // unmapped.
            (UnmappedUse::Called(sentence), _) => text += &format!("\n  {}", paint.bold(sentence)),
            (_, Some(call)) => match calls::innermost_stranger(&self.calls, call) {
                None => text += &format!("\n  {}", paint.bold(&format!("in {call}"))),
                Some(inner) => {
                    text += &format!("\n  {}", paint.bold(&format!("in {inner}")));
                    text += &format!("\n  the innermost call of a module: {call}");
                }
            },
            (_, None) if !self.armed => text += &format!("\n  {NOT_ARMED}"),
            (_, None) => {
                text += "\n  the location is unknown: a plugin's thread ran out of stack, or the host was killed from outside"
            }
        }
        if let UnmappedUse::Accessed(sentence) = &self.unmapped {
            text += &format!("\n  {sentence}");
        }
        text
    }
}

/// Determines if a crash was caused by the use of an unmapped image.
fn unmapped_use(dump: &CrashDump, trace: &Trace) -> UnmappedUse {
    if let Some(former) = unmapped::former_images(dump, dump.pc) {
        let through = trace.calls.get(1).filter(|_| trace.has_jumped).map(|call| match &call.module {
            Some((module, generation)) => format!("module {module}, generation {generation}"),
            None => call.image.clone(),
        });
        return UnmappedUse::Called(match through {
            Some(through) => format!("a call into {}, through {through}", former.description),
            None => format!("the host executed unmapped code at {:#x}: {}", dump.pc, former.description),
        });
    }
    let accessed = unmapped::accessed(dump);
    accessed.map_or(UnmappedUse::Unrelated, |former| {
        UnmappedUse::Accessed(format!("at {:#x} there was {}", dump.address, former.description))
    })
}

/// Returns the end of a host that wrote its crash files to `folder`.
pub(super) fn end(status: ExitStatus, folder: &Path) -> End {
    let Some(signal) = status.signal().filter(|signal| is_fatal(*signal)) else { return End::Ordered(status) };
    let dump = CrashDump::read(folder);
    let trace = dump.as_ref().map(trace::trace).unwrap_or_default();
    let unmapped = dump.as_ref().map(|dump| unmapped_use(dump, &trace)).unwrap_or_default();
    let armed = CrashDump::is_armed(folder);
    let crash = Crash { what: what(signal, dump.as_ref()), calls: trace.calls, unmapped, armed };
    if let Some(dump) = &dump {
        sweep(dump);
    }
    End::Crashed(Box::new(crash))
}

/// Returns true for a signal that a process receives because of its own crash.
fn is_fatal(signal: i32) -> bool {
    [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT].contains(&signal)
}

fn what(signal: i32, dump: Option<&CrashDump>) -> String {
    // Uses the recorded signal, because a second handler may have ended the process by a different signal.
    let signal = dump.map_or(signal, |dump| dump.signal);
    let mut what = signal_name(signal).map_or_else(|| format!("signal {signal}"), str::to_owned);
    let Some(dump) = dump else { return what };
    if dump.is_overflow() {
        what += ", the stack is full";
    } else if !dump.sent {
        what += &format!(" at address {:#x}", dump.address);
    }
    what += &format!(", thread {}", dump.thread);
    dump.fence.iter().for_each(|fence| what += &format!(", {fence}"));
    if let Some(module) = &dump.local {
        what += &format!(", while a thread-local of {module} was dropped: its `Drop` must not panic");
    }
    what
}

/// Checks by its name if a folder contains the private copies of libraries of a host.
pub(crate) fn is_stage(folder: &Path) -> bool {
    folder.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("alcedo-stage-"))
}

/// Removes private copies of libraries that a crashed host did not remove.
fn sweep(dump: &CrashDump) {
    for dir in dump.stages.iter().filter(|dir| is_stage(dir)) {
        // Ignores errors, because a remaining file only occupies space in the temporary folder.
        let _swept = fs::remove_dir_all(dir);
    }
}

#[cfg(test)]
mod tests {
    use super::super::calls::{Call, Owner};
    use super::{Crash, UnmappedUse};
    use crate::paint::Paint;

    fn report(calls: Vec<Call>, unmapped: UnmappedUse) -> String {
        Crash { what: "SIGSEGV".into(), calls, unmapped, armed: true }.report(Paint::off())
    }

    fn call(function: &str, image: &str, module: Option<(&str, u64)>) -> Call {
        let module = module.map(|(name, generation)| (name.to_owned(), generation));
        Call { function: function.into(), location: None, of: Owner::Library, image: image.into(), module }
    }

    #[test]
    fn a_crash_without_a_location_is_reported_as_such() {
        assert!(report(vec![], UnmappedUse::Unrelated).contains("the location is unknown: a plugin's thread"));
    }

    #[test]
    fn an_unarmed_guard_is_reported_with_the_line_to_add() {
        let crash = Crash { what: "SIGSEGV".into(), calls: vec![], unmapped: UnmappedUse::Unrelated, armed: false };
        let report = crash.report(Paint::off());
        assert!(
            report.contains("has not armed its crash guard") && report.contains("arm_if_supervised()?;"),
            "{report}"
        );
    }

    #[test]
    fn a_module_that_called_into_the_host_is_listed_but_not_blamed() {
        let cube = call("cube::tick", "cube.1.so", Some(("cube", 1)));
        let head_of = |inner: Call| {
            let report = report(vec![inner, cube.clone()], UnmappedUse::Unrelated);
            report.lines().skip(1).take_while(|line| !line.starts_with("    0")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(head_of(call("memcpy", "libc.so.6", None)), ["  in cube::tick   module cube, generation 1"]);
        let host =
            ["  in game::draw   game", "  the innermost call of a module: cube::tick   module cube, generation 1"];
        assert_eq!(head_of(call("game::draw", "game", None)), host);
    }

    #[test]
    fn no_mapped_module_is_blamed_for_a_call_into_unmapped_code() {
        let calls = vec![call("0x7000", "cube, generation 1", None), call("other::tick", "o.so", Some(("other", 2)))];
        let sentence = "a call into cube, generation 1, unmapped 3 s ago, through libcrypto.so.3";
        let report = report(calls, UnmappedUse::Called(sentence.into()));
        assert!(report.starts_with(&format!("the host crashed: SIGSEGV\n  {sentence}\n")), "{report}");
        assert!(!report.contains("\n  in "), "{report}");
    }
}
