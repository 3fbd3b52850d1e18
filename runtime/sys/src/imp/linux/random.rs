//! The state of `random`, which a module may move into memory of its own. Before that memory goes, the sequence is carried
//! over into memory of the host's and goes on from there.
#![expect(unsafe_code, reason = "stands for two functions of the C library and moves the state that they keep")]

use std::ffi::{c_char, c_uint};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::c::peek;
use super::lock;
use crate::ledger::repair::Repair;

pub(super) const REPAIR: Repair = Repair {
    name: "the state of `random`",
    put_right: |_, is_ours, report| report.addresses += u64::from(move_out(is_ours)),
    ..Repair::NONE
};

/// As large as the largest state there is.
const LARGEST: usize = 256;

/// Two rooms: one may be what the state is in now, the other is where it goes.
static mut ROOMS: [[u64; LARGEST / 8]; 3] = [[0; LARGEST / 8]; 3];

/// Which room was moved into last; none before the first move. Held while the state is moved.
static LAST: Mutex<Option<usize>> = Mutex::new(None);

/// Whether any module has ever moved the state: without that nothing is checked.
static MOVED: AtomicBool = AtomicBool::new(false);

/// An image moves the state, or may, by this call.
pub(super) fn moved<T>(call: impl FnOnce() -> T) -> T {
    MOVED.store(true, Ordering::SeqCst);
    call()
}

/// Moves the state out of memory that is about to go. Whether it was there.
fn move_out(is_ours: impl Fn(usize) -> bool) -> bool {
    if !MOVED.load(Ordering::SeqCst) {
        return false;
    }
    let mut last = lock(&LAST);
    // The only way to ask where the state is, is to put another in its place for a moment.
    let waiting = room(2);
    let next = last.map_or(0, |last| 1 - last);
    let mut bytes = [0; LARGEST];
    // SAFETY: the rooms are as large as the largest state, and not shared: the lock is held. What is set again is the state
    // that was in place just now, which was left in order. The room that is written to is not in use, since the other one
    // was moved into last; the bytes are those of a state that was left in order, and its first word says how long it is.
    unsafe {
        let was = initstate(1, waiting, 8);
        if !is_ours(was.addr()) {
            setstate(was);
            return false;
        }
        let there = peek::read(was.addr(), &mut bytes);
        ptr::copy_nonoverlapping(bytes.as_ptr().cast(), room(next), there);
        if setstate(room(next)).is_null() {
            // The module has written over its state; a fresh one is better than none.
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
