//! Streams of the C library that call functions of an image (`fopencookie`) or write into memory of one when they are
//! flushed (`open_memstream`, `fmemopen`). The C library knows every open stream and flushes all of them at the end of the
//! process, so an image may not go while one of its own can still lead to it.
//!
//! Behind a stream of the first sort stand functions of the host, which lead to those of the module for as long as it is
//! there; afterwards such a stream takes everything and gives nothing. One of the second sort keeps its image: where its
//! bytes go is known only to the C library, and it may well be a stack that is gone.
#![expect(unsafe_code, reason = "stands for functions of the C library and calls those of modules")]

use std::collections::HashSet;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::{exits, lock};
use crate::ledger::plan::Step;
use crate::ledger::repair::Repair;
use crate::ledger::{Holder, HolderKind};

pub(super) const REPAIR: Repair = Repair {
    name: "a stream of the C library",
    holders: |image, all| all.extend(holders(image.owner())),
    facts: |image, facts| {
        facts.exit_handlers |= lead_to(image.owner());
        facts.outside |= !holders(image.owner()).is_empty();
    },
    // An exit handler may write to a stream, and may have registered another handler.
    act: |image, step, _| {
        if step == Step::RunExitHandlers && exits::held(image.owner()) == 0 {
            cut_off(image.owner());
        }
    },
    free: |gone, _| forget(gone.image.owner()),
    ..Repair::NONE
};

/// The functions of a stream; any may be missing.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct StreamFunctions {
    /// Reads.
    read: Option<unsafe extern "C" fn(*mut c_void, *mut c_char, usize) -> isize>,
    /// Writes.
    write: Option<unsafe extern "C" fn(*mut c_void, *const c_char, usize) -> isize>,
    /// Moves.
    seek: Option<unsafe extern "C" fn(*mut c_void, *mut i64, c_int) -> c_int>,
    /// Ends.
    ends: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
}

/// What the functions of the host know of a stream: the cookie of the stream itself.
struct Led {
    /// The functions and their cookie; nothing once they are not called any more, so that a look for what still leads to the
    /// image does not take this for it. In a box: what is in an option itself stays in memory when it becomes `None`.
    to: Mutex<Option<Box<To>>>,
    /// How many calls into them have not returned.
    inside: AtomicUsize,
}

/// Where a stream leads.
#[derive(Clone, Copy)]
struct To {
    functions: StreamFunctions,
    cookie: *mut c_void,
}

/// A stream that leads to functions.
struct Open {
    owner: usize,
    stream: *mut c_void,
    led: *const Led,
}

/// A stream that leads to memory.
struct Bound {
    owner: usize,
    stream: *mut c_void,
    made_by: &'static str,
    /// Where its bytes will be when it is closed, in a block that is then the image's; null if they are in its own memory.
    place: *const *mut c_void,
}

// SAFETY: the stream has a lock of its own, and what is behind `led` is made for all threads.
unsafe impl Send for Open {}

// SAFETY: the addresses are compared and handed back, and not followed.
unsafe impl Send for Bound {}

static OPEN: Mutex<Vec<Open>> = Mutex::new(Vec::new());

/// Those that were cut off, until their image is gone.
static CUT: Mutex<Vec<Open>> = Mutex::new(Vec::new());

static BOUND: Mutex<Vec<Bound>> = Mutex::new(Vec::new());

/// `fopencookie`.
///
/// # Safety
///
/// What the C function demands.
pub(super) unsafe fn open(
    owner: usize,
    cookie: *mut c_void,
    mode: *const c_char,
    functions: StreamFunctions,
) -> *mut c_void {
    let led = Led { to: Mutex::new(Some(Box::new(To { functions, cookie }))), inside: AtomicUsize::new(0) };
    let led = Box::into_raw(Box::new(led));
    // A function that is missing means something to the C library, so it stays missing.
    let ours = StreamFunctions {
        read: functions.read.map(|_| read as unsafe extern "C" fn(_, _, _) -> _),
        write: functions.write.map(|_| write as unsafe extern "C" fn(_, _, _) -> _),
        seek: functions.seek.map(|_| seek as unsafe extern "C" fn(_, _, _) -> _),
        ends: Some(close),
    };
    // SAFETY: the functions are for this cookie, which lives until the last of them is called; the mode is our caller's. Where
    // there is no stream the box is taken back.
    let stream = unsafe {
        let stream = fopencookie(led.cast(), mode, ours);
        if stream.is_null() {
            drop(Box::from_raw(led));
            return stream;
        }
        stream
    };
    lock(&OPEN).push(Open { owner, stream, led });
    stream
}

/// An image has made a stream that writes into its memory.
pub(super) fn bound(owner: usize, stream: *mut c_void, made_by: &'static str, place: *const *mut c_void) {
    lock(&BOUND).push(Bound { owner, stream, made_by, place });
}

/// A stream is about to be closed. Where its bytes will be then, in a block that is the image's; null if there will be none.
pub(super) fn closed(stream: *mut c_void) -> *const *mut c_void {
    let mut bound = lock(&BOUND);
    let at = bound.iter().position(|bound| bound.stream == stream);
    at.map_or(ptr::null(), |at| bound.swap_remove(at).place)
}

/// Whether an image has streams that lead to its functions.
fn lead_to(owner: usize) -> bool {
    lock(&OPEN).iter().any(|open| open.owner == owner)
}

/// Whether that is the address of a stream which an image has made.
pub(super) fn is_of(owner: usize, address: usize) -> bool {
    let is_in = |streams: &Mutex<Vec<Open>>| {
        lock(streams).iter().any(|open| open.owner == owner && open.stream.addr() == address)
    };
    is_in(&OPEN)
        || is_in(&CUT)
        || lock(&BOUND).iter().any(|bound| bound.owner == owner && bound.stream.addr() == address)
}

/// What the host itself keeps of streams that lead to functions: it is cut off before the image goes, so it leads nowhere.
pub(super) fn notes() -> HashSet<usize> {
    [&OPEN, &CUT]
        .iter()
        .flat_map(|streams| lock(streams).iter().map(|open| open.led.addr()).collect::<Vec<_>>())
        .collect()
}

/// An image is gone; what was cut off belongs to no image now.
fn forget(owner: usize) {
    lock(&CUT).retain(|open| open.owner != owner);
}

/// Lists the streams that keep an image.
fn holders(owner: usize) -> Vec<Holder> {
    let holder = |name: String| Holder::new(HolderKind::Stream, name, Instant::now());
    let mut holders = Vec::new();
    for open in lock(&OPEN).iter().filter(|open| open.owner == owner) {
        // SAFETY: it is freed only by its stream's end, which takes it out of this list before.
        if unsafe { &*open.led }.inside.load(Ordering::SeqCst) > 0 {
            holders.push(holder("a function of a stream made by `fopencookie`, which runs".to_owned()));
        }
    }
    let bound = lock(&BOUND);
    let bound = bound.iter().filter(|bound| bound.owner == owner);
    holders.extend(bound.map(|bound| holder(format!("a stream made by `{}` that is still open", bound.made_by))));
    holders
}

/// Has what is in the buffers of an image's streams written by its functions, and cuts the streams off from them. One that
/// somebody uses just now is left for the next time.
///
/// A stream that is cut off stays open for any code that may have it.
fn cut_off(owner: usize) {
    let mine = |open: &Open| open.owner == owner;
    let streams: Vec<_> = lock(&OPEN).iter().filter(|open| mine(open)).map(|open| open.stream.addr()).collect();
    for address in streams {
        // Taken out first: its functions may close it, and the closing thread frees what `led` leads to.
        let open = {
            let mut all = lock(&OPEN);
            all.iter().position(|open| mine(open) && open.stream.addr() == address).map(|at| all.swap_remove(at))
        };
        let Some(open) = open else { continue };
        // SAFETY: the stream was on the list of those that are open. Once this thread has its lock, no other thread can close it,
        // and so free what `led` leads to, until it is unlocked.
        let is_cut_off = unsafe {
            ftrylockfile(open.stream) == 0 && {
                fflush_unlocked(open.stream);
                let led = &*open.led;
                *lock(&led.to) = None;
                let is_inside = led.inside.load(Ordering::SeqCst) > 0;
                funlockfile(open.stream);
                !is_inside
            }
        };
        let list = if is_cut_off { &CUT } else { &OPEN };
        lock(list).push(open);
    }
}

/// Calls what the module has for it, unless it is gone.
///
/// # Safety
/// `cookie` is the one of a stream of [`open`], which is not closed yet.
unsafe fn lead<T>(cookie: *mut c_void, call: impl FnOnce(&StreamFunctions, *mut c_void) -> T, cut: T) -> T {
    // SAFETY: promised by the caller.
    let led = unsafe { &*cookie.cast::<Led>() };
    led.inside.fetch_add(1, Ordering::SeqCst);
    // Whoever cuts it off looks at the count afterwards. The functions may close the stream, so they are called without the
    // lock.
    let to = lock(&led.to).as_deref().copied();
    let result = to.map_or(cut, |to| call(&to.functions, to.cookie));
    led.inside.fetch_sub(1, Ordering::SeqCst);
    result
}

/// Functions of the host's that call those of a module, and their results where there is none.
macro_rules! lead {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty = $cut:expr;)*) => {$(
        unsafe extern "C" fn $name(cookie: *mut c_void, $($argument: $type),*) -> $result {
            let call = |functions: &StreamFunctions, cookie| {
                // SAFETY: what the stream lends us is lent on; the module is there.
                functions.$name.map_or($cut, |lent| unsafe { lent(cookie, $($argument),*) })
            };
            // SAFETY: a stream calls its functions only until `close`.
            unsafe { lead(cookie, call, $cut) }
        }
    )*};
}

lead! {
    fn read(into: *mut c_char, len: usize) -> isize = 0;
    fn write(from: *const c_char, len: usize) -> isize = isize::try_from(len).unwrap_or(isize::MAX);
    fn seek(offset: *mut i64, whence: c_int) -> c_int = -1;
    fn ends() -> c_int = 0;
}

unsafe extern "C" fn close(cookie: *mut c_void) -> c_int {
    for streams in [&OPEN, &CUT] {
        lock(streams).retain(|open| open.led.cast() != cookie.cast_const());
    }
    // SAFETY: made by `open` for this stream, which calls nothing after this.
    unsafe {
        let result = ends(cookie);
        drop(Box::from_raw(cookie.cast::<Led>()));
        result
    }
}

unsafe extern "C" {
    pub(super) fn fopencookie(cookie: *mut c_void, mode: *const c_char, functions: StreamFunctions) -> *mut c_void;
    fn fflush_unlocked(stream: *mut c_void) -> c_int;
    fn ftrylockfile(stream: *mut c_void) -> c_int;
    fn funlockfile(stream: *mut c_void);
}
