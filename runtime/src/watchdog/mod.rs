//! Watchdog: a thread that observes other threads and reports activities that take too long. The watchdog cannot interrupt a hanging call,
//! because only the plugin itself can return from the call. `activity.rs` publishes the activities of a thread, and `judge.rs` decides
//! which activities take too long.

mod activity;
mod judge;

use std::fmt;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use serde::Serialize;

use judge::{Judge, Verdict, pause};

use crate::callback::Callbacks;
use crate::panic_guard;
use crate::unheard;

pub(crate) use activity::{Activities, Entered, Published};

/// Number of checks per time limit.
const CHECKS: u32 = 8;
/// Minimum interval between checks.
const SHORTEST_REST: Duration = Duration::from_millis(5);
/// Maximum interval between checks. A longer interval would delay reports.
const LONGEST_REST: Duration = Duration::from_millis(250);

/// Name of the game thread in reports. A hang of this thread blocks the whole world.
pub(crate) const GAME_THREAD: &str = "game thread";

/// Thread activity that takes too long. Each activity is reported at most once.
///
/// # Examples
/// ```rust
/// use std::time::Duration;
///
/// use alcedo_runtime::{Hang, Runtime};
///
/// fn report(hang: &Hang) {
///     eprintln!("{hang}");
///     eprintln!("{} has not returned for {:?}", hang.function, hang.since);
/// }
///
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// let runtime = Runtime::builder().watchdog(Duration::from_secs(1)).on_hang(report).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hang {
    /// Name of the thread: `game thread` or `finalizer thread`.
    pub thread: &'static str,
    /// Module of the function that has not returned. Empty for the host.
    pub module: String,
    /// Function that has not returned, such as `Game.MagicCube:say_hello` or `exit hook of magic_cube`. Empty if code of the host hangs.
    pub function: String,
    /// Active phases of the host, outermost first, such as `a reload`, `retire`. Empty outside of such operations.
    pub phase: Vec<String>,
    /// Observed duration of the activity when the hang was detected, without the time in which the process was stopped. The actual duration
    /// may be longer.
    pub since: Duration,
    /// Calls that have not returned, outermost first. Contains `function` and the calls inside `function`, which may change between two
    /// checks.
    pub calls: Vec<String>,
}

impl fmt::Display for Hang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} has been at ", self.thread)?;
        match (self.function.as_str(), self.module.as_str()) {
            ("", _) => write!(f, "{}", self.phase.join(": "))?,
            (function, "") => write!(f, "{function}")?,
            (function, module) => write!(f, "{function} of module {module}")?,
        }
        write!(f, " for {:.1} s", self.since.as_secs_f64())?;
        if !self.function.is_empty() && !self.phase.is_empty() {
            write!(f, ", in {}", self.phase.join(": "))?;
        }
        Ok(())
    }
}

/// Observed thread. The watchdog's thread calls `activity`.
pub(crate) struct Source {
    /// Name of the thread in reports.
    pub thread: &'static str,
    /// Returns the current activities, outermost first.
    pub activity: Box<dyn Fn() -> Vec<Published> + Send>,
}

/// Listener for hangs. The watchdog's thread calls the listener while the observed thread hangs.
pub(crate) type Listener = Arc<dyn Fn(&Hang) + Send + Sync>;

/// Handle of the watchdog's thread. The thread ends when the handle is dropped.
pub(crate) struct Watchdog {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// Starts a thread that observes `sources`. Reports activities that last `limit` or longer. Fails if the thread cannot be
    /// started.
    pub(crate) fn start(
        limit: Duration,
        sources: Vec<Source>,
        listeners: Arc<Callbacks<Listener>>,
    ) -> std::io::Result<Self> {
        let (stop, stopped) = bounded(0);
        let thread = std::thread::Builder::new().name("alcedo-watchdog".into());
        let thread = thread.spawn(move || watch(limit, &sources, &listeners, &stopped))?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

fn watch(limit: Duration, sources: &[Source], listeners: &Callbacks<Listener>, stopped: &Receiver<()>) {
    let (begun, mut paused, mut rested) = (Instant::now(), Duration::ZERO, Instant::now());
    let rest = (limit / CHECKS).clamp(SHORTEST_REST, LONGEST_REST);
    let mut judges: Vec<_> = sources.iter().map(|_| Judge::new(limit)).collect();
    while stopped.recv_timeout(rest) == Err(RecvTimeoutError::Timeout) {
        paused += pause(rested.elapsed(), limit);
        // A listener may have created thread-locals of a module, which only this thread can drop.
        alcedo_sys::checkpoint();
        for (source, judge) in sources.iter().zip(&mut judges) {
            let activity = (source.activity)();
            let ids: Vec<_> = activity.iter().map(|published| published.id).collect();
            match judge.check(begun.elapsed().saturating_sub(paused), &ids) {
                Verdict::Fine => {}
                Verdict::Over { after } => {
                    log!(INFO, thread = source.thread, seconds = after.as_secs_f64(), "the hanging call has returned");
                }
                Verdict::Stuck { at, since } => report(&hang(source.thread, &activity, at, since), listeners),
            }
        }
        rested = Instant::now();
    }
}

fn report(hang: &Hang, listeners: &Callbacks<Listener>) {
    log!(ERROR, module = hang.module, function = hang.function, calls = hang.calls.join(" > "), "{hang}");
    if listeners.is_empty() {
        unheard::print(hang);
    }
    listeners.each(|_priority, listener| {
        // Catches the panic of a listener, which would otherwise end the watchdog.
        if let Err(message) = panic_guard::caught(|| (listener.code)(hang)) {
            log!(ERROR, message, callback = %listener.site, "a listener of the watchdog panicked");
        }
    });
}

/// Returns the report for the activity at index `at`. The activity has run for `since`.
fn hang(thread: &'static str, activity: &[Published], at: usize, since: Duration) -> Hang {
    let standing = activity.get(..=at).unwrap_or(activity);
    let names = |of: &[Published], is_phase: bool| -> Vec<String> {
        of.iter().filter(|published| published.is_phase == is_phase).map(|published| published.what.clone()).collect()
    };
    let call = standing.last().filter(|last| !last.is_phase).cloned().unwrap_or_default();
    let (phase, calls) = (names(standing, true), names(activity, false));
    Hang { thread, module: call.module, function: call.what, phase, since, calls }
}

#[cfg(test)]
mod tests {
    use super::{Hang, Published, hang};
    use std::time::Duration;

    fn check(activity: &[Published], at: usize, expected: &str, calls: &str) {
        let hang: Hang = hang("game thread", activity, at, Duration::from_millis(2500));
        assert_eq!((hang.to_string().as_str(), hang.calls.join(" > ").as_str()), (expected, calls));
    }

    #[test]
    fn a_hang_names_module_function_and_phase() {
        let reload = Published::phase(1, "a reload");
        let rebuild = Published::phase(2, "rebuild");
        let outer = Published::call(3, "magic_cube", "red constructor of Game.MagicCube");
        let inner = Published::call(4, "attributes", "Game.Set:value");
        let all = [reload, rebuild, outer, inner];
        let called = "red constructor of Game.MagicCube > Game.Set:value";
        let phase = "in a reload: rebuild";
        check(
            &all,
            3,
            &format!("the game thread has been at Game.Set:value of module attributes for 2.5 s, {phase}"),
            called,
        );
        check(
            &all,
            2,
            &format!(
                "the game thread has been at red constructor of Game.MagicCube of module magic_cube for 2.5 s, {phase}"
            ),
            called,
        );
        check(&all[..2], 1, "the game thread has been at a reload: rebuild for 2.5 s", "");
        check(
            &all[2..],
            0,
            "the game thread has been at red constructor of Game.MagicCube of module magic_cube for 2.5 s",
            called,
        );
    }
}
