//! Safe wrapper of the C metronome. Only one metronome may run at a time, from `start` to `stop`.
#![expect(unsafe_code, reason = "calls C functions, one of which calls back")]

use std::ffi::{c_int, c_long, c_uint, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

unsafe extern "C" {
    fn metronome_start(
        callback: unsafe extern "C" fn(*mut c_void, c_uint),
        context: *mut c_void,
        period_ns: c_long,
    ) -> c_int;
    fn metronome_ask_to_stop();
    fn metronome_join();
}

type Beat = Box<dyn Fn() + Send + Sync>;

/// Callback of the running metronome. The box must not move or be dropped until the thread is joined.
static RUNNING: Mutex<Option<Box<Beat>>> = Mutex::new(None);

/// Calls `beat` on the metronome's thread every `microseconds`. The period must be shorter than a second. Returns `false` if a metronome is
/// running or if no thread can be created.
pub(crate) fn start(microseconds: u32, beat: impl Fn() + Send + Sync + 'static) -> bool {
    let mut running = running();
    if running.is_some() || microseconds >= 1_000_000 {
        return false;
    }
    let beat: &mut Box<Beat> = running.insert(Box::new(Box::new(beat)));
    let context: *const Beat = &raw const **beat;
    // SAFETY: `on_beat` expects this context, and the box is dropped only after the thread was joined.
    let failed = unsafe { metronome_start(on_beat, context.cast_mut().cast(), c_long::from(microseconds) * 1_000) };
    if failed != 0 {
        *running = None;
    }
    failed == 0
}

/// Stops a running metronome and joins its thread.
pub(crate) fn stop() {
    let mut running = running();
    if running.is_some() {
        // SAFETY: the call only stores a flag.
        unsafe { metronome_ask_to_stop() };
        // SAFETY: `RUNNING` is set, so a thread exists that was not joined.
        unsafe { metronome_join() };
        *running = None;
    }
}

fn running() -> MutexGuard<'static, Option<Box<Beat>>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// # Safety
/// `context` is a valid pointer to the box that `start` passed.
unsafe extern "C" fn on_beat(context: *mut c_void, _beat: c_uint) {
    // SAFETY: promised by the caller, the metronome's thread.
    let beat = unsafe { &*context.cast::<Beat>() };
    beat();
}
