//! The C metronome for safe code: one at a time, from `start` to `stop`.
#![expect(unsafe_code, reason = "calls C functions, and is called back by one")]

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

/// What the running metronome calls. It stays where it is until the thread has been joined.
static RUNNING: Mutex<Option<Box<Beat>>> = Mutex::new(None);

/// Calls `beat` every so many microseconds, less than a second of them, on the metronome's thread. False when one runs
/// already or no thread can be had.
pub(crate) fn start(microseconds: u32, beat: impl Fn() + Send + Sync + 'static) -> bool {
    let mut running = running();
    if running.is_some() || microseconds >= 1_000_000 {
        return false;
    }
    let beat: &mut Box<Beat> = running.insert(Box::new(Box::new(beat)));
    let context: *const Beat = &raw const **beat;
    // SAFETY: `on_beat` takes just this context, and the box is dropped only after the thread was joined.
    let failed = unsafe { metronome_start(on_beat, context.cast_mut().cast(), c_long::from(microseconds) * 1_000) };
    if failed != 0 {
        *running = None;
    }
    failed == 0
}

/// Stops the metronome, if it runs, and waits until its thread has ended.
pub(crate) fn stop() {
    let mut running = running();
    if running.is_some() {
        // SAFETY: it only stores a flag.
        unsafe { metronome_ask_to_stop() };
        // SAFETY: there is a thread that was not joined: `RUNNING` says so.
        unsafe { metronome_join() };
        *running = None;
    }
}

fn running() -> MutexGuard<'static, Option<Box<Beat>>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// # Safety
/// `context` is the box that `start` handed over, and is alive.
unsafe extern "C" fn on_beat(context: *mut c_void, _beat: c_uint) {
    // SAFETY: promised by the caller, which is the metronome's thread.
    let beat = unsafe { &*context.cast::<Beat>() };
    beat();
}
