//! Streams of the C library that call functions of an image (`fopencookie`) or write to memory of the image when flushed (`open_memstream`,
//! `fmemopen`). The C library lists all open streams and flushes them at process exit. Therefore no stream may refer to an unmapped image.
//!
//! Streams of the first kind receive functions of the host, which forward to the functions of the module. When the module ends, these
//! streams are cut off: from then on, they discard their output and have no input. Streams of the second kind keep the image mapped,
//! because the host cannot replace the addresses to which these streams write.
#![expect(unsafe_code, reason = "replaces functions of the C library and calls those of modules")]

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
        facts.exit_handlers |= lock(&OPEN).iter().any(|open| open.owner == image.owner() && !open.is_cut_off);
        facts.outside |= !holders(image.owner()).is_empty();
    },
    // Waits until all exit handlers have run, because an exit handler may write to a stream, and may register further handlers.
    act: |image, step, _| {
        if step == Step::RunExitHandlers && exits::held(image.owner()) == 0 {
            cut_off(image.owner());
        }
    },
    free: |gone, _| lock(&OPEN).retain(|open| open.owner != gone.image().owner() || !open.is_cut_off),
    ..Repair::NONE
};

/// Functions of a stream. Each function is optional.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct StreamFunctions {
    read: Option<unsafe extern "C" fn(*mut c_void, *mut c_char, usize) -> isize>,
    write: Option<unsafe extern "C" fn(*mut c_void, *const c_char, usize) -> isize>,
    seek: Option<unsafe extern "C" fn(*mut c_void, *mut i64, c_int) -> c_int>,
    ends: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
}

/// Forwarding record of a stream. The address of this record is the cookie that the C library stores in the stream.
struct Forwarding {
    /// Functions and cookie of the module. `None` once the stream is cut off. The value is boxed, because an unboxed value would stay in
    /// memory when the `Option` becomes `None`. A memory scan would then find a stale reference to the image.
    to: Mutex<Option<Box<To>>>,
    inside: AtomicUsize,
}

#[derive(Clone, Copy)]
struct To {
    functions: StreamFunctions,
    cookie: *mut c_void,
}

struct Open {
    owner: usize,
    stream: *mut c_void,
    forwarding: *const Forwarding,
    /// `true` once the stream is cut off. A stream that is cut off remains in the list until its image is unmapped.
    is_cut_off: bool,
}

struct Bound {
    owner: usize,
    stream: *mut c_void,
    made_by: &'static str,
    /// Address of the variable to which the C library writes the address of the stream's bytes. After the stream is closed, these bytes are
    /// in a block that belongs to the image. Null for a stream without such a pointer.
    variable: *const *mut c_void,
}

// SAFETY: the stream has its own lock, and the target of `forwarding` is thread-safe.
unsafe impl Send for Open {}

// SAFETY: the addresses are compared and returned, never dereferenced.
unsafe impl Send for Bound {}

static OPEN: Mutex<Vec<Open>> = Mutex::new(Vec::new());

static BOUND: Mutex<Vec<Bound>> = Mutex::new(Vec::new());

/// Executes `fopencookie` for one image.
///
/// # Safety
///
/// The requirements of the C function apply.
pub(super) unsafe fn open(
    owner: usize,
    cookie: *mut c_void,
    mode: *const c_char,
    functions: StreamFunctions,
) -> *mut c_void {
    let forwarding =
        Forwarding { to: Mutex::new(Some(Box::new(To { functions, cookie }))), inside: AtomicUsize::new(0) };
    let forwarding = Box::into_raw(Box::new(forwarding));
    // Does not forward functions that the module omitted, because the C library treats a missing function differently from a function that
    // does nothing.
    let ours = StreamFunctions {
        read: functions.read.map(|_| read as unsafe extern "C" fn(_, _, _) -> _),
        write: functions.write.map(|_| write as unsafe extern "C" fn(_, _, _) -> _),
        seek: functions.seek.map(|_| seek as unsafe extern "C" fn(_, _, _) -> _),
        ends: Some(close),
    };
    // SAFETY: the functions accept this cookie, which lives until the last call of one of these functions; our caller provides the mode.
    // If no stream is created, the box is freed.
    let stream = unsafe {
        let stream = fopencookie(forwarding.cast(), mode, ours);
        if stream.is_null() {
            drop(Box::from_raw(forwarding));
            return stream;
        }
        stream
    };
    lock(&OPEN).push(Open { owner, stream, forwarding, is_cut_off: false });
    stream
}

pub(super) fn bound(owner: usize, stream: *mut c_void, made_by: &'static str, variable: *const *mut c_void) {
    lock(&BOUND).push(Bound { owner, stream, made_by, variable });
}

/// Removes a stream that is about to be closed. Returns the address of the variable that points to the stream's bytes, which the image owns
/// after the closing. Returns null if the stream has no such variable, or belongs to another image.
pub(super) fn closed(owner: usize, stream: *mut c_void) -> *const *mut c_void {
    let mut bound = lock(&BOUND);
    let at = bound.iter().position(|bound| bound.stream == stream);
    let closed = at.map(|at| bound.swap_remove(at)).filter(|bound| bound.owner == owner);
    closed.map_or(ptr::null(), |bound| bound.variable)
}

pub(super) fn is_of(owner: usize, address: usize) -> bool {
    lock(&OPEN).iter().any(|open| open.owner == owner && open.stream.addr() == address)
        || lock(&BOUND).iter().any(|bound| bound.owner == owner && bound.stream.addr() == address)
}

/// Returns the addresses of all forwarding records. A memory scan need not follow these records, because their targets are removed before
/// the image is unmapped.
pub(super) fn forwarding_records() -> HashSet<usize> {
    lock(&OPEN).iter().map(|open| open.forwarding.addr()).collect()
}

fn holders(owner: usize) -> Vec<Holder> {
    let holder = |name: String| Holder::new(HolderKind::Stream, name, Instant::now());
    let mut holders = Vec::new();
    for open in lock(&OPEN).iter().filter(|open| open.owner == owner && !open.is_cut_off) {
        // SAFETY: the target is freed only at the end of its stream, which removes the stream from this list first.
        if unsafe { &*open.forwarding }.inside.load(Ordering::SeqCst) > 0 {
            holders.push(holder("a function of a stream made by `fopencookie`, which runs".to_owned()));
        }
    }
    let bound = lock(&BOUND);
    let bound = bound.iter().filter(|bound| bound.owner == owner);
    holders.extend(bound.map(|bound| holder(format!("a stream made by `{}` that is still open", bound.made_by))));
    holders
}

/// Flushes the streams of an image through the functions of the image, and cuts the streams off. Skips streams that are in use, and tries
/// them again at the next poll.
///
/// A stream that is cut off stays open, because other code may still use the stream.
fn cut_off(owner: usize) {
    let is_own = |open: &Open| open.owner == owner && !open.is_cut_off;
    let streams: Vec<_> = lock(&OPEN).iter().filter(|open| is_own(open)).map(|open| open.stream.addr()).collect();
    for address in streams {
        // Removes the stream from the list first: its functions may close the stream, and the closing thread frees the target of
        // `forwarding`.
        let open = {
            let mut all = lock(&OPEN);
            all.iter().position(|open| is_own(open) && open.stream.addr() == address).map(|at| all.swap_remove(at))
        };
        let Some(mut open) = open else { continue };
        // SAFETY: the stream was on the list of open streams. While this thread holds its lock, no other thread can close it and free the
        // target of `forwarding`.
        open.is_cut_off = unsafe {
            ftrylockfile(open.stream) == 0 && {
                fflush_unlocked(open.stream);
                let forwarding = &*open.forwarding;
                *lock(&forwarding.to) = None;
                let is_inside = forwarding.inside.load(Ordering::SeqCst) > 0;
                funlockfile(open.stream);
                !is_inside
            }
        };
        lock(&OPEN).push(open);
    }
}

/// Calls a function of the module with the cookie of the module. Returns `cut` if the stream is cut off.
///
/// # Safety
/// `cookie` is the cookie of an open stream made by [`open`].
unsafe fn forward<T>(cookie: *mut c_void, call: impl FnOnce(&StreamFunctions, *mut c_void) -> T, cut: T) -> T {
    // SAFETY: promised by our caller.
    let forwarding = unsafe { &*cookie.cast::<Forwarding>() };
    forwarding.inside.fetch_add(1, Ordering::SeqCst);
    // The count of calls was incremented above, and `cut_off` checks this count after it removes the target. No lock is held during the
    // call, because the module's function may close the stream.
    let to = lock(&forwarding.to).as_deref().copied();
    let result = to.map_or(cut, |to| call(&to.functions, to.cookie));
    forwarding.inside.fetch_sub(1, Ordering::SeqCst);
    result
}

/// Defines functions of the host that forward to functions of a module. `cut` is the result of the function for a stream that is cut off.
macro_rules! forward {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty = $cut:expr;)*) => {$(
        unsafe extern "C" fn $name(cookie: *mut c_void, $($argument: $type),*) -> $result {
            let call = |functions: &StreamFunctions, cookie| {
                // SAFETY: the arguments come from the stream; the module is mapped.
                functions.$name.map_or($cut, |function| unsafe { function(cookie, $($argument),*) })
            };
            // SAFETY: a stream does not call its functions after `close`.
            unsafe { forward(cookie, call, $cut) }
        }
    )*};
}

forward! {
    fn read(into: *mut c_char, len: usize) -> isize = 0;
    fn write(from: *const c_char, len: usize) -> isize = isize::try_from(len).unwrap_or(isize::MAX);
    fn seek(offset: *mut i64, whence: c_int) -> c_int = -1;
    fn ends() -> c_int = 0;
}

unsafe extern "C" fn close(cookie: *mut c_void) -> c_int {
    lock(&OPEN).retain(|open| open.forwarding.cast() != cookie.cast_const());
    // SAFETY: `open` made the box for this stream, which calls no function after this one.
    unsafe {
        let result = ends(cookie);
        drop(Box::from_raw(cookie.cast::<Forwarding>()));
        result
    }
}

unsafe extern "C" {
    pub(super) fn fopencookie(cookie: *mut c_void, mode: *const c_char, functions: StreamFunctions) -> *mut c_void;
    fn fflush_unlocked(stream: *mut c_void) -> c_int;
    fn ftrylockfile(stream: *mut c_void) -> c_int;
    fn funlockfile(stream: *mut c_void);
}
