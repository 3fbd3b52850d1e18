//! Fast paths into functions of modules. A fast path is resolved once, and is valid until the epoch of calls changes. A call through a fast
//! path reads three fields of the host, opens a red frame, and passes plain values in registers. If a fast path is invalid, the call takes
//! the slow path. If the call must be rejected, the slow path returns the reason.
#![expect(unsafe_code, reason = "calls the direct trampolines of modules")]

mod batch;

use std::cell::Cell;
use std::mem::{MaybeUninit, transmute};
use std::rc::{Rc, Weak};

use alcedo_abi::call::Failure;
use alcedo_abi::direct::{BatchTrampoline, DirectAnswer, DirectStatus, DirectTrampoline};
use alcedo_abi::host_direct::CLOSED;
use alcedo_abi::zcall::Slot;

use crate::boundary::CallError;
use crate::conjugate::gate::Gate;
use crate::conjugate::hot::{FrameNumber, HotFrames, Opened};
use crate::conjugate::pairs::Pairs;
use crate::conjugate::red::RedStack;
use crate::epoch::Epoch;
use crate::handles::{ClassId, ObjectHandle};
use crate::object::World;
use crate::object::hot_columns::HotColumns;
use crate::object::mode::ModeWord;
use crate::object::slices::BorrowedSlices;

/// State that calls through fast paths check. This state can outlive its host. After the host has shut down, all checks fail. Clones share
/// the state. Game thread only.
#[derive(Clone)]
pub(crate) struct FastPaths {
    hot: Rc<HotFrames>,
    columns: Rc<HotColumns>,
    pairs: Weak<Pairs>,
    mode: ModeWord,
    slices: BorrowedSlices,
}

/// Fast path into a function of a module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FastPath<T> {
    resolved_at: u64,
    trampoline: DirectTrampoline,
    count: usize,
    frame: FrameNumber,
    on: T,
}

/// Fast path into a static function.
pub(crate) type StaticFastPath = FastPath<()>;

/// Fast path into the function that a method call on objects of one class executes.
pub(crate) type MethodFastPath = FastPath<OnClass>;

#[derive(Clone, Copy, Debug)]
pub(crate) struct OnClass {
    pub(super) batch: BatchTrampoline,
    pub(super) class: ClassId,
    /// Class that declares the target. `class` is this class or a class derived from it.
    pub(super) owner: ClassId,
}

/// Number of entries of a call cache that is indexed by class.
pub(crate) const CLASSES: usize = 4;

/// Returns the cache entry at the index of a class. The entry may belong to a different class with this index.
#[inline]
pub(crate) fn entry_of<T>(entries: &[Cell<T>; CLASSES], class: ClassId) -> &Cell<T> {
    &entries[class.0 as usize % CLASSES]
}

/// Result of a call through a fast path. `None` if the call must take the slow path.
pub(crate) type Called = Option<Result<u64, Box<CallError>>>;

/// Argument of a call, as a machine word or as a slot.
pub(crate) trait Word: Copy {
    fn word(self) -> u64;
}

impl Word for Slot {
    #[inline(always)]
    fn word(self) -> u64 {
        self.bits()
    }
}

impl Word for u64 {
    #[inline(always)]
    fn word(self) -> u64 {
        self
    }
}

/// Static function of a module. The module stays loaded while this value exists, because a red frame is open, or because the calling thread
/// has entered the gate of the module's context.
pub(crate) struct HotTrampoline<'a> {
    trampoline: DirectTrampoline,
    count: usize,
    /// Borrowed slices of host memory, for a module of the Master. `None` for a module outside of the Master.
    slices: Option<&'a BorrowedSlices>,
}

impl HotTrampoline<'_> {
    /// Wraps a function of a module outside of the Master. The function may be called on any thread.
    ///
    /// # Safety
    /// The trampoline must belong to a static function with `count` parameters. The image of the function must stay mapped while this value
    /// exists.
    #[inline]
    pub(crate) unsafe fn new(trampoline: DirectTrampoline, count: usize) -> Self {
        Self { trampoline, count, slices: None }
    }

    /// Calls the function. Returns `None` if the number of parameters differs, or if a slice is borrowed. Returns the error of the callee.
    #[inline]
    pub(crate) fn call(&self, slots: &[Slot]) -> Called {
        if slots.len() != self.count || self.slices.is_some_and(BorrowedSlices::are_out) {
            return None;
        }
        let mut failure = MaybeUninit::uninit();
        // SAFETY: `FastPaths::within` creates this value and lends it only inside a red frame that was opened at a valid epoch. No safe
        // point occurs before the frame closes, so all gates stay open and all images stay mapped. For `HotTrampoline::new`, the caller
        // promises that the image stays mapped.
        let answer = unsafe { call_static(self.trampoline, slots, &mut failure) };
        Some(result(answer, &failure))
    }
}

/// Closes a red frame when dropped, also if host code in the frame panics.
struct Closing<'a, F: FnOnce(usize)> {
    hot: &'a HotFrames,
    opened: Opened,
    clean_up: Option<F>,
}

impl<F: FnOnce(usize)> Drop for Closing<'_, F> {
    fn drop(&mut self) {
        if !self.hot.close(self.opened)
            && let Some(clean_up) = self.clean_up.take()
        {
            clean_up(self.opened.borrowed_height());
        }
    }
}

impl<T> FastPath<T> {
    pub(super) fn accepts(&self, count: usize) -> bool {
        self.count == count
    }
}

impl MethodFastPath {
    #[inline]
    pub(crate) fn class(&self) -> ClassId {
        self.on.class
    }

    #[inline]
    pub(crate) fn resolved_at(&self) -> u64 {
        self.resolved_at
    }

    pub(crate) fn owner(&self) -> ClassId {
        self.on.owner
    }
}

impl FastPaths {
    pub(super) fn new(red: &RedStack, pairs: &Rc<Pairs>, world: &World) -> Self {
        let (hot, columns, pairs) = (Rc::clone(red.hot()), Rc::clone(world.objects.columns()), Rc::downgrade(pairs));
        Self { hot, columns, pairs, mode: world.mode.clone(), slices: world.slices.clone() }
    }

    /// Returns the fast path into the function of this trampoline. `what` is the name of the function in red frames. Returns `None` before
    /// a commit, and if the gate of the module is closed.
    ///
    /// # Safety
    /// The trampoline must belong to a function with `count` parameters, in the module of this gate. The module must belong to this host.
    /// If `on` is `()`, the function must be static. If `on` is an [`OnClass`], the function must be a method of the class `owner` in `on`,
    /// and `on` must contain the batch trampoline of this method.
    pub(super) unsafe fn find<T>(
        &self,
        gate: &Gate,
        what: &Rc<str>,
        (trampoline, count): (DirectTrampoline, usize),
        on: T,
    ) -> Option<FastPath<T>> {
        if self.mode.is_before_commit() || !gate.is_open() {
            return None;
        }
        let (frame, resolved_at) = (self.hot.number(gate.tag().id, what), self.epoch().count());
        Some(FastPath { resolved_at, trampoline, count, frame, on })
    }

    #[inline]
    pub(crate) fn epoch(&self) -> &Epoch {
        self.hot.epoch()
    }

    /// Checks if targets that were resolved at the epoch `resolved_at` can currently be called.
    #[inline]
    pub(crate) fn are_open(&self, resolved_at: u64) -> bool {
        resolved_at == self.hot.epoch().get() && !self.mode.is_before_commit() && !self.slices.are_out()
    }

    /// Checks if targets that were resolved at the epoch `resolved_at` can currently be read.
    #[inline]
    pub(crate) fn may_read(&self, resolved_at: u64) -> bool {
        resolved_at == self.hot.epoch().get() && !self.slices.are_out()
    }

    #[inline]
    pub(crate) fn columns(&self) -> &HotColumns {
        &self.columns
    }

    /// Calls a static function. Calls `clean_up` if operations remain when the frame closes.
    // Inlined, because a call takes only a few nanoseconds.
    #[inline(always)]
    pub(crate) fn call(&self, fast_path: &StaticFastPath, words: &[impl Word], clean_up: impl FnOnce(usize)) -> Called {
        if !self.are_open(fast_path.resolved_at) || words.len() != fast_path.count {
            return None;
        }
        // SAFETY: `words` has the number of parameters for which the fast path was created. The epoch has not changed since then, so the
        // gate of the function's module is open, and the module's image is mapped.
        unsafe { self.enter(fast_path, words, clean_up) }
    }

    /// Opens one red frame for many calls of a static function, and passes the function to `code`. Returns `None` if the calls
    /// must take the slow path.
    #[inline]
    pub(crate) fn within<T>(
        &self,
        fast_path: &StaticFastPath,
        code: impl FnOnce(&HotTrampoline<'_>) -> T,
        clean_up: impl FnOnce(usize),
    ) -> Option<T> {
        if !self.are_open(fast_path.resolved_at) {
            return None;
        }
        let opened = self.hot.open(fast_path.frame)?;
        let closing = Closing { hot: &self.hot, opened, clean_up: Some(clean_up) };
        let done = code(&HotTrampoline {
            trampoline: fast_path.trampoline,
            count: fast_path.count,
            slices: Some(&self.slices),
        });
        drop(closing);
        Some(done)
    }

    /// Calls a method on an object. Returns `None` if the cache has no valid fast path for the class of the object.
    #[inline]
    pub(crate) fn call_on(
        &self,
        fast_paths: &[Cell<Option<MethodFastPath>>; CLASSES],
        object: ObjectHandle,
        words: &[impl Word],
        clean_up: impl FnOnce(usize),
    ) -> Called {
        let entry = self.columns.find(object)?;
        let fast_path = entry_of(fast_paths, entry.class).get().filter(|known| known.on.class == entry.class)?;
        if !self.are_open(fast_path.resolved_at) || words.len() != fast_path.count {
            return None;
        }
        // SAFETY: as in `call`. The object is alive, `memory` is its memory, and its class is that of the fast path.
        unsafe { self.enter_on(fast_path, (object, entry.memory), words, clean_up) }
    }

    /// Checks if plugins can currently make direct calls of targets that were resolved at `version`. `version` must not be [`CLOSED`]. A
    /// change to the epoch or to the world's mode also changes the version. While a plugin borrows a slice, direct calls are not allowed.
    #[inline]
    pub(super) fn is_version(&self, version: u64) -> bool {
        version == self.mode.direct_version()
    }

    /// Returns the current version of direct calls. Returns `None` while direct calls are not allowed.
    pub(super) fn version(&self) -> Option<u64> {
        let version = self.mode.direct_version();
        (version != CLOSED).then_some(version)
    }

    /// Returns the version of direct calls for targets in modules. Returns `None` while calls into modules are reported to the watchdog.
    /// The version changes when this reporting starts or stops.
    pub(super) fn module_version(&self) -> Option<u64> {
        self.version().filter(|_| self.epoch().get() != Epoch::SHUT)
    }

    /// Checks if module code is on the stack of this thread. While module code is on the stack, no safe point occurs, so no object,
    /// generation or runtime is destroyed. A call that opens no frame of its own also requires [`FastPaths::is_on_stack`].
    #[inline]
    pub(crate) fn has_frame(&self) -> bool {
        self.hot.depth() != 0
    }

    /// Checks if the caller runs on the stack of the game thread. Returns `false` in a coroutine, which may outlive the open frames.
    #[inline]
    pub(crate) fn is_on_stack(&self) -> bool {
        self.hot.stack().is_here()
    }

    /// Checks [`FastPaths::has_frame`] and [`FastPaths::is_on_stack`].
    #[inline]
    pub(crate) fn in_a_frame(&self) -> bool {
        self.has_frame() && self.is_on_stack()
    }

    /// Calls a static function in a new red frame. Returns `None` if the call must take the slow path.
    ///
    /// # Safety
    /// The number of words must match the parameters, and the epoch must not have changed since the target was resolved.
    #[inline(always)]
    pub(super) unsafe fn enter(
        &self,
        fast_path: &StaticFastPath,
        words: &[impl Word],
        clean_up: impl FnOnce(usize),
    ) -> Called {
        debug_assert!(
            !self.slices.are_out(),
            "no module that has lent a slice calls, and no other code of modules runs then"
        );
        let opened = self.hot.open(fast_path.frame)?;
        let mut failure = MaybeUninit::uninit();
        // SAFETY: the caller promises that the epoch is unchanged, so the gate of the module is open and its image is mapped. The open red
        // frame prevents a change until the call returns.
        let answer = unsafe { call_static(fast_path.trampoline, words, &mut failure) };
        self.close(opened, answer, &failure, clean_up)
    }

    /// Calls a method on an object in a new red frame. Returns `None` if the call must take the slow path.
    ///
    /// The requirements of [`FastPaths::enter`] apply. The object must be alive, the class of the object must be the class of the fast
    /// path, and `memory` must be the memory of the object.
    #[inline(always)]
    pub(crate) unsafe fn enter_on(
        &self,
        fast_path: MethodFastPath,
        (object, memory): (ObjectHandle, *mut u8),
        words: &[impl Word],
        clean_up: impl FnOnce(usize),
    ) -> Called {
        debug_assert!(!self.slices.are_out(), "as in `enter`");
        let part = match self.columns.part(object, fast_path.on.owner) {
            Some(part) => part,
            None => self.inherited_part(object, fast_path.on.owner)?,
        };
        let opened = self.hot.open(fast_path.frame)?;
        let mut failure = MaybeUninit::uninit();
        // SAFETY: as in `enter`. `part` is the object's plugin part for the class that declares the function. `memory` and `part` persist
        // until a safe point, which cannot occur while the frame is open.
        let answer = unsafe { call_method(fast_path.trampoline, (object, memory, part), words, &mut failure) };
        self.close(opened, answer, &failure, clean_up)
    }

    /// Closes the red frame of a call, and returns the result that `answer` contains.
    #[inline(always)]
    fn close(
        &self,
        opened: Opened,
        answer: DirectAnswer,
        failure: &MaybeUninit<Failure>,
        clean_up: impl FnOnce(usize),
    ) -> Called {
        if answer.status == DirectStatus::DONE && self.hot.close(opened) {
            return Some(Ok(answer.bits));
        }
        self.close_and_clean_up(opened, answer, failure, clean_up)
    }

    /// Closes the red frame of a call that has failed, or that has left deferred operations.
    #[cold]
    #[inline(never)]
    fn close_and_clean_up(
        &self,
        opened: Opened,
        answer: DirectAnswer,
        failure: &MaybeUninit<Failure>,
        clean_up: impl FnOnce(usize),
    ) -> Called {
        // Reads the failure before the frame closes. The module has allocated the strings of the failure, and may be unmapped after the
        // frame has closed.
        let done = result(answer, failure);
        if !self.hot.close(opened) {
            clean_up(opened.borrowed_height());
        }
        Some(done)
    }

    /// Returns the plugin part of an object for `owner`, the class that declares the target. Used if the object's class is derived from
    /// `owner`.
    // Takes the class and no reference to the fast path, so that the fast path of the caller stays in registers.
    #[inline(never)]
    fn inherited_part(&self, object: ObjectHandle, owner: ClassId) -> Option<*mut ()> {
        let pairs = self.pairs.upgrade()?;
        pairs.address(self.columns.conjugate(object), owner).map(|part| part.0)
    }

    /// Returns a counter that changes when an object is created or destroyed, or when its body or plugin part is replaced.
    #[inline]
    pub(crate) fn population(&self) -> u64 {
        self.columns.changes()
    }
}

#[inline]
fn result(answer: DirectAnswer, failure: &MaybeUninit<Failure>) -> Result<u64, Box<CallError>> {
    if answer.status == DirectStatus::DONE { Ok(answer.bits) } else { Err(failed(failure)) }
}

/// Reads the failure that a trampoline has written. Takes a reference, because a failure is large. Passing the failure by value would copy
/// the failure before each check of the status.
#[cold]
#[inline(never)]
fn failed(failure: &MaybeUninit<Failure>) -> Box<CallError> {
    // SAFETY: the trampoline reported a failure, so it has written `failure`. `failure` is read only once.
    let failure = unsafe { failure.assume_init_read() };
    Box::new(CallError::from_failure(&failure))
}

/// Casts a trampoline to the function type with these parameters, and calls the trampoline.
macro_rules! enter {
    ($trampoline:ident, $failure:ident $(, $value:expr => $ty:ty)*) => {{
        type Trampoline = unsafe extern "C" fn($($ty,)* &mut MaybeUninit<Failure>) -> DirectAnswer;
        // SAFETY: the caller promises that the trampoline was created from a function of this type, and that the requirements of
        // `DirectTrampoline` are met.
        unsafe { transmute::<unsafe extern "C" fn(), Trampoline>($trampoline.0)($($value,)* $failure) }
    }};
}

/// Expands the macro `$enter` with the indexes of the first `$count` words.
macro_rules! with_each {
    ($count:expr, $enter:ident) => {
        match $count {
            0 => $enter!(),
            1 => $enter!(0),
            2 => $enter!(0 1),
            3 => $enter!(0 1 2),
            4 => $enter!(0 1 2 3),
            5 => $enter!(0 1 2 3 4),
            6 => $enter!(0 1 2 3 4 5),
            7 => $enter!(0 1 2 3 4 5 6),
            8 => $enter!(0 1 2 3 4 5 6 7),
            _ => unreachable!("no direct trampoline is made for more than `MOST_WORDS`"),
        }
    };
}

/// # Safety
/// The requirements of [`DirectTrampoline`] must be met for a static function with one parameter per word.
#[inline(always)]
unsafe fn call_static(
    trampoline: DirectTrampoline,
    words: &[impl Word],
    failure: &mut MaybeUninit<Failure>,
) -> DirectAnswer {
    macro_rules! with {
        ($($at:literal)*) => { enter!(trampoline, failure $(, words[$at].word() => u64)*) };
    }
    with_each!(words.len(), with)
}

/// # Safety
/// The requirements of [`DirectTrampoline`] must be met for a method with one parameter per word.
#[inline(always)]
unsafe fn call_method(
    trampoline: DirectTrampoline,
    (object, memory, part): (ObjectHandle, *mut u8, *mut ()),
    words: &[impl Word],
    failure: &mut MaybeUninit<Failure>,
) -> DirectAnswer {
    macro_rules! on {
        ($($at:literal)*) => {
            enter!(
                trampoline, failure, object => ObjectHandle, memory => *mut u8, part => *mut ()
                $(, words[$at].word() => u64)*
            )
        };
    }
    with_each!(words.len(), on)
}
