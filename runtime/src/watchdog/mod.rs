//! The watchdog: a thread that sees what the others are doing, and says so when one of them does it for too long. It
//! ends nothing: a call that hangs is in the plugin's hands, and only its name is in ours. `activity.rs` is what a thread
//! publishes, `judge.rs` decides what is too long.

mod activity;
mod judge;

use std::fmt;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use serde::Serialize;

use judge::{Judge, Verdict};

use crate::callback::Callbacks;

pub(crate) use activity::{Activities, Activity, Entered, Published};

/// It looks this often in the time that it lets pass.
const LOOKS: u32 = 8;
/// No look is needed more often.
const SHORTEST_REST: Duration = Duration::from_millis(5);
/// And none less often, or a hang would be reported too late.
const LONGEST_REST: Duration = Duration::from_millis(250);

/// The thread on which the world stands still when it hangs, as reports name it.
pub(crate) const GAME_THREAD: &str = "game thread";

/// A thread that has been at one thing for too long. Reported once for each such thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hang {
    /// `game thread` or `finalizer thread`.
    pub thread: &'static str,
    /// The module whose code has not returned; empty when it is the host's own.
    pub module: String,
    /// What has not returned: `Game.MagicCube:say_hello`, `exit hook of magic_cube`; empty when it is only a phase.
    pub function: String,
    /// What the host is about, outermost first: `a reload`, `retire`. Empty in an ordinary frame.
    pub phase: Vec<String>,
    /// For how long at least it had been at it when this was noticed.
    pub since: Duration,
    /// The open calls, outermost first, of which the function is one: what it called may change from look to look.
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

/// A thread to look at: its name, and what it is doing, outermost first. Asked on the watchdog's own thread.
pub(crate) struct Source {
    /// As reports name it.
    pub thread: &'static str,
    /// What it does now.
    pub activity: Box<dyn Fn() -> Vec<Published> + Send>,
}

/// A listener to hangs. Called on the watchdog's thread, while the other one hangs.
pub(crate) type Listener = Arc<dyn Fn(&Hang) + Send + Sync>;

/// The thread. It ends when this is dropped.
pub(crate) struct Watchdog {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// Starts to look at `sources`; more than `limit` is too long.
    ///
    /// # Errors
    /// When the system gives no thread.
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
    let begun = Instant::now();
    let rest = (limit / LOOKS).clamp(SHORTEST_REST, LONGEST_REST);
    let mut judges: Vec<_> = sources.iter().map(|_| Judge::new(limit)).collect();
    while stopped.recv_timeout(rest) == Err(RecvTimeoutError::Timeout) {
        for (source, judge) in sources.iter().zip(&mut judges) {
            let activity = (source.activity)();
            let ids: Vec<_> = activity.iter().map(|published| published.id).collect();
            match judge.look(begun.elapsed(), &ids) {
                Verdict::Fine => {}
                Verdict::Over { after } => {
                    tracing::info!(thread = source.thread, seconds = after.as_secs_f64(), "what hung has returned");
                }
                Verdict::Stuck { at, since } => tell(&hang(source.thread, &activity, at, since), listeners),
            }
        }
    }
}

fn tell(hang: &Hang, listeners: &Callbacks<Listener>) {
    tracing::error!(module = hang.module, function = hang.function, calls = hang.calls.join(" > "), "{hang}");
    listeners.each(|_priority, listener| {
        // A listener's panic must not end the watch.
        if let Err(message) = crate::trap::caught(|| (listener.code)(hang)) {
            tracing::error!(message, callback = %listener.site, "a listener of the watchdog panicked");
        }
    });
}

/// What is reported of the activity number `at`, which has not changed for `since`.
fn hang(thread: &'static str, activity: &[Published], at: usize, since: Duration) -> Hang {
    let standing = activity.get(..=at).unwrap_or(activity);
    let phase = standing.iter().filter_map(|published| match &published.activity {
        Activity::Phase(phase) => Some(phase.clone()),
        Activity::Call { .. } => None,
    });
    let calls = activity.iter().filter_map(|published| match &published.activity {
        Activity::Phase(_) => None,
        Activity::Call { function, .. } => Some(function.clone()),
    });
    let (module, function) = match standing.last().map(|published| &published.activity) {
        Some(Activity::Call { module, function }) => (module.clone(), function.clone()),
        _ => (String::new(), String::new()),
    };
    Hang { thread, module, function, phase: phase.collect(), since, calls: calls.collect() }
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
