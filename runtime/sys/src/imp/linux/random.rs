//! State of the C function `random`. A module may move the state to its own memory. Before that memory is freed, the state is moved to
//! memory of the host. The sequence of numbers continues.
#![expect(unsafe_code, reason = "replaces two functions of the C library and moves their state")]

use std::ffi::{c_char, c_uint};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::c::peek;
use super::lock;
use crate::ledger::repair::Repair;

pub(super) const REPAIR: Repair = Repair {
    name: "the state of `random`",
    redirect_references: |_, is_ours, report| report.addresses += u64::from(move_out(is_ours)),
    ..Repair::NONE
};

const LARGEST: usize = 256;

/// Two buffers that alternately hold the state, and a third buffer. The third buffer is installed temporarily to query the state.
static mut ROOMS: [[u64; LARGEST / 8]; 3] = [[0; LARGEST / 8]; 3];

/// Buffer of the last move. `None` before the first move. The mutex is locked during a move.
static LAST: Mutex<Option<usize>> = Mutex::new(None);

/// `true` as soon as a module may have moved the state. While this flag is `false`, no check is necessary.
static MOVED: AtomicBool = AtomicBool::new(false);

/// Executes a call by which an image may move the state.
pub(super) fn moved<T>(call: impl FnOnce() -> T) -> T {
    MOVED.store(true, Ordering::SeqCst);
    call()
}

/// Moves the state out of memory that is about to be freed. Returns `false` if the state is in other memory.
fn move_out(is_ours: impl Fn(usize) -> bool) -> bool {
    if !MOVED.load(Ordering::SeqCst) {
        return false;
    }
    let mut last = lock(&LAST);
    // The address of the state can only be queried by installing another state.
    let waiting = room(2);
    let next = last.map_or(0, |last| 1 - last);
    let mut bytes = [0; LARGEST];
    // SAFETY: the buffers have the size of the largest state and are exclusive, because the lock is held. The restored state was in use
    // just now and was left consistent. The target buffer is not in use, since the last move was to the other buffer; the copied bytes are
    // those of a consistent state, whose first word specifies its size.
    unsafe {
        let was = initstate(1, waiting, 8);
        if !is_ours(was.addr()) {
            setstate(was);
            return false;
        }
        let there = peek::read(was.addr(), &mut bytes);
        ptr::copy_nonoverlapping(bytes.as_ptr().cast(), room(next), there);
        if setstate(room(next)).is_null() {
            // Uses a new state, because the module has overwritten its own state.
            initstate(1, room(next), 128);
        }
    }
    *last = Some(next);
    true
}

fn room(at: usize) -> *mut c_char {
    (&raw mut ROOMS).cast::<c_char>().wrapping_add(at * LARGEST)
}

unsafe extern "C" {
    pub(super) fn initstate(seed: c_uint, state: *mut c_char, size: usize) -> *mut c_char;
    pub(super) fn setstate(state: *mut c_char) -> *mut c_char;
}
