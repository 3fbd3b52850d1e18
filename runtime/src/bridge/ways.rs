//! Short ways into functions of modules: looked up once, good until anything kept about calls may be wrong. A call by one asks three
//! words of the host whether that is so and nothing stands in its way, opens a red frame, and puts plain values into registers. All
//! else goes the long way, which says why when a call is refused.
#![expect(unsafe_code, reason = "calls the direct shells of modules")]

mod batch;

use std::cell::Cell;
use std::mem::{MaybeUninit, transmute};
use std::rc::{Rc, Weak};

use alcedo_abi::black_direct::CLOSED;
use alcedo_abi::call::Failure;
use alcedo_abi::direct::{BatchShell, DirectAnswer, DirectShell, DirectStatus};
use alcedo_abi::zcall::Slot;

use crate::border::CallError;
use crate::conjugate::hot::{FrameNumber, HotFrames, Opened};
use crate::conjugate::pairs::Pairs;
use crate::conjugate::red::RedStack;
use crate::handles::{ClassId, ObjectHandle};
use crate::object::World;
use crate::object::hot_columns::HotColumns;
use crate::object::mode::ModeWord;
use crate::object::slices::LentSlices;
use crate::stamp::Stamp;

/// What calls by short ways look at. It outlives its host, and is shut then. A clone is the same. Game thread only.
#[derive(Clone)]
pub(crate) struct Ways {
    hot: Rc<HotFrames>,
    columns: Rc<HotColumns>,
    pairs: Weak<Pairs>,
    mode: ModeWord,
    slices: LentSlices,
}

/// A way into a static function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StaticWay {
    looked: u64,
    shell: DirectShell,
    /// How many parameters it has.
    count: usize,
    frame: FrameNumber,
}

/// A way into what answers a call of a method on objects of one class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MethodWay {
    looked: u64,
    shell: DirectShell,
    batch: BatchShell,
    count: usize,
    frame: FrameNumber,
    /// The class of the objects.
    class: ClassId,
    /// The class that declares what answers.
    owner: ClassId,
    /// The place of its part among those of an object, where another class of a module is more derived.
    place: usize,
}

/// So many classes have a place for what was looked up for them.
pub(crate) const CLASSES: usize = 4;

/// The place of what was looked up for a class; another class may have it.
#[inline]
pub(crate) fn place_of<T>(places: &[Cell<T>; CLASSES], class: ClassId) -> &Cell<T> {
    &places[class.0 as usize % CLASSES]
}

/// What a call by a short way came to; none where it is to go the long way.
pub(crate) type Called = Option<Result<u64, Box<CallError>>>;

/// The words of a call, or the slots that they lie in.
pub(crate) trait Words: Copy {
    /// How many there are.
    fn count(self) -> usize;

    /// The one of that number, which there is.
    fn word(self, at: usize) -> u64;
}

impl Words for &[Slot] {
    #[inline(always)]
    fn count(self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn word(self, at: usize) -> u64 {
        self[at].bits()
    }
}

impl Words for &[u64] {
    #[inline(always)]
    fn count(self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn word(self, at: usize) -> u64 {
        self[at]
    }
}

/// A static function whose module cannot go: its red frame is open, or the calling thread is inside the gate of its context.
pub(crate) struct HotShell<'a> {
    shell: DirectShell,
    count: usize,
    /// Lent slices of the Master; other modules have none.
    slices: Option<&'a LentSlices>,
}

impl HotShell<'_> {
    /// A function of a module that belongs to no thread.
    ///
    /// # Safety
    /// The shell is that of a static function with so many parameters, and its image stays mapped as long as this.
    #[inline]
    pub(crate) unsafe fn new(shell: DirectShell, count: usize) -> Self {
        Self { shell, count, slices: None }
    }

    /// Calls it. None when it has another number of parameters, or a slice is lent.
    ///
    /// # Errors
    /// What it fails with.
    #[inline]
    pub(crate) fn call(&self, slots: &[Slot]) -> Called {
        if slots.len() != self.count || self.slices.is_some_and(LentSlices::are_out) {
            return None;
        }
        let mut failure = MaybeUninit::uninit();
        // SAFETY: `Ways::within` makes one, and lends it while a red frame is open that was opened when the way was right: no safe point
        // comes before it closes, so all gates stay open and all images mapped. Callers of `HotShell::new` promise the same.
        let answer = unsafe { call_static(self.shell, slots, &mut failure) };
        Some(result(answer, &failure))
    }
}

/// Closes a red frame, also when the host's own code panics in it.
struct Closing<'a, F: FnOnce(usize)> {
    hot: &'a HotFrames,
    opened: Opened,
    settle: Option<F>,
}

impl<F: FnOnce(usize)> Drop for Closing<'_, F> {
    fn drop(&mut self) {
        if !self.hot.close(self.opened)
            && let Some(settle) = self.settle.take()
        {
            settle(self.opened.lent());
        }
    }
}

impl StaticWay {
    /// The way into the function behind this shell, in the module of this frame.
    ///
    /// # Safety
    /// It is the shell of a static function of a module with so many parameters, and the gate of the module, which is among the calls
    /// of this host, was open when the stamp had the count `looked`.
    pub(super) unsafe fn new(looked: u64, shell: DirectShell, count: usize, frame: FrameNumber) -> Self {
        Self { looked, shell, count, frame }
    }

    /// Whether it is for calls with so many words.
    pub(super) fn takes(&self, count: usize) -> bool {
        self.count == count
    }
}

impl MethodWay {
    /// The way into a method of the class `owner`, for objects of `class`, which is that or extends it. `place` is that of `owner` among
    /// the classes of modules that these objects have parts for, base first.
    ///
    /// # Safety
    /// As for [`StaticWay::new`], of a method of `owner` in the module that declares it.
    pub(super) unsafe fn new(
        looked: u64,
        (shell, batch): (DirectShell, BatchShell),
        count: usize,
        frame: FrameNumber,
        (class, owner, place): (ClassId, ClassId, usize),
    ) -> Self {
        Self { looked, shell, batch, count, frame, class, owner, place }
    }

    /// The class of the objects.
    #[inline]
    pub(crate) fn class(&self) -> ClassId {
        self.class
    }

    /// Whether it is for calls with so many words.
    pub(crate) fn takes(&self, count: usize) -> bool {
        self.count == count
    }

    /// The count of the stamp at which it was found.
    #[inline]
    pub(crate) fn looked(&self) -> u64 {
        self.looked
    }

    /// The class that declares what answers.
    pub(crate) fn owner(&self) -> ClassId {
        self.owner
    }
}

impl Ways {
    pub(super) fn new(red: &RedStack, pairs: &Rc<Pairs>, world: &World) -> Self {
        let (hot, columns, pairs) = (Rc::clone(red.hot()), Rc::clone(world.objects.columns()), Rc::downgrade(pairs));
        Self { hot, columns, pairs, mode: world.mode.clone(), slices: world.slices.clone() }
    }

    /// What changes when a way may be wrong.
    #[inline]
    pub(crate) fn stamp(&self) -> &Stamp {
        self.hot.stamp()
    }

    /// Whether what was looked up at that count may be used now.
    #[inline]
    pub(crate) fn are_open(&self, looked: u64) -> bool {
        looked == self.hot.stamp().get() && !self.mode.is_before_commit() && !self.slices.are_out()
    }

    /// The same for what only reads.
    #[inline]
    pub(crate) fn may_read(&self, looked: u64) -> bool {
        looked == self.hot.stamp().get() && !self.slices.are_out()
    }

    /// The objects.
    #[inline]
    pub(crate) fn columns(&self) -> &HotColumns {
        &self.columns
    }

    /// Calls a static function. `settle` is called where the frame leaves something to be done.
    #[inline]
    pub(crate) fn call(&self, way: &StaticWay, words: impl Words, settle: impl FnOnce(usize)) -> Called {
        if !self.are_open(way.looked) || words.count() != way.count {
            return None;
        }
        // SAFETY: the way was made for a function with so many parameters. Nothing has changed since it was looked up, so the gate of
        // its module is open and its image mapped.
        unsafe { self.enter(way, words, settle) }
    }

    /// Opens one red frame for many calls of a static function, and lends what calls it. None where it is to go the long way.
    #[inline]
    pub(crate) fn within<T>(
        &self,
        way: &StaticWay,
        code: impl FnOnce(&HotShell<'_>) -> T,
        settle: impl FnOnce(usize),
    ) -> Option<T> {
        if !self.are_open(way.looked) {
            return None;
        }
        let opened = self.hot.open(way.frame)?;
        let closing = Closing { hot: &self.hot, opened, settle: Some(settle) };
        let done = code(&HotShell { shell: way.shell, count: way.count, slices: Some(&self.slices) });
        drop(closing);
        Some(done)
    }

    /// Calls a method on an object, if one of these ways is for objects of its class: the one at the place of the class's number.
    #[inline]
    pub(crate) fn call_on(
        &self,
        ways: &[Cell<Option<MethodWay>>; CLASSES],
        object: ObjectHandle,
        words: impl Words,
        settle: impl FnOnce(usize),
    ) -> Called {
        let entry = self.columns.find(object)?;
        let way = place_of(ways, entry.class).get().filter(|way| way.class == entry.class)?;
        if !self.are_open(way.looked) || words.count() != way.count {
            return None;
        }
        // SAFETY: as in `call`. The object is there, this is its memory, and it is of the class that the way is for.
        unsafe { self.enter_on(way, (object, entry.memory), words, settle) }
    }

    /// Whether what was looked up under that version, which is not [`CLOSED`], may be used now in a call that a plugin makes directly: the
    /// version changes with the stamp and with the mode, and a plugin that has lent a slice makes none.
    #[inline]
    pub(super) fn is_version(&self, version: u64) -> bool {
        version == self.mode.direct_version()
    }

    /// The version of what is looked up now for direct calls; none while there are no such calls.
    pub(super) fn version(&self) -> Option<u64> {
        let version = self.mode.direct_version();
        (version != CLOSED).then_some(version)
    }

    /// The same of what leads into a module; none while somebody is to hear of each call of a module. That comes and goes with another
    /// version.
    pub(super) fn version_of_ways(&self) -> Option<u64> {
        self.version().filter(|_| self.stamp().get() != Stamp::SHUT)
    }

    /// Returns whether code of a module is on this very stack. Then no safe point is near: objects, generations and the runtime stay. A frame
    /// keeps nothing for a coroutine, which may outlive it.
    #[inline]
    pub(crate) fn in_a_frame(&self) -> bool {
        self.hot.depth() != 0 && self.hot.stack().is_here()
    }

    /// Calls a static function in a red frame of its own. None where it is to go the long way.
    ///
    /// # Safety
    /// There are as many words as the function has parameters, and nothing has changed since the way was looked up.
    #[inline(always)]
    pub(super) unsafe fn enter(&self, way: &StaticWay, words: impl Words, settle: impl FnOnce(usize)) -> Called {
        debug_assert!(
            !self.slices.are_out(),
            "no module that has lent a slice calls, and no other code of modules runs then"
        );
        let opened = self.hot.open(way.frame)?;
        let mut failure = MaybeUninit::uninit();
        // SAFETY: by what the caller promises, the gate of the module is open and its image mapped; the red frame, which is open until the
        // call is over, keeps both so.
        let answer = unsafe { call_static(way.shell, words, &mut failure) };
        self.close(opened, answer, &failure, settle)
    }

    /// Calls a method on an object with this memory, in a red frame of its own. None where it is to go the long way.
    ///
    /// # Safety
    /// As for [`Ways::enter`]; the object is there with this memory, and is of the class that the way is for.
    #[inline(always)]
    pub(super) unsafe fn enter_on(
        &self,
        way: MethodWay,
        (object, memory): (ObjectHandle, *mut u8),
        words: impl Words,
        settle: impl FnOnce(usize),
    ) -> Called {
        debug_assert!(!self.slices.are_out(), "as in `enter`");
        let part = match self.columns.part(object, way.owner) {
            Some(part) => part,
            None => self.inherited_part(object, &way)?,
        };
        let opened = self.hot.open(way.frame)?;
        let mut failure = MaybeUninit::uninit();
        // SAFETY: as in `enter`. The part is the one that stands beside the object for the class that declares the function. Memory and
        // part stay until a safe point, and so does the frame.
        let answer = unsafe { call_method(way.shell, (object, memory, part), words, &mut failure) };
        self.close(opened, answer, &failure, settle)
    }

    /// Closes the red frame of a call that has given this.
    #[inline(always)]
    fn close(
        &self,
        opened: Opened,
        answer: DirectAnswer,
        failure: &MaybeUninit<Failure>,
        settle: impl FnOnce(usize),
    ) -> Called {
        if answer.status == DirectStatus::DONE && self.hot.close(opened) {
            return Some(Ok(answer.bits));
        }
        self.close_and_settle(opened, answer, failure, settle)
    }

    /// The same where the call has failed, or something is left to be done.
    #[cold]
    #[inline(never)]
    fn close_and_settle(
        &self,
        opened: Opened,
        answer: DirectAnswer,
        failure: &MaybeUninit<Failure>,
        settle: impl FnOnce(usize),
    ) -> Called {
        // Read first: the words of a failure lie in the heap of the module, which may be unmapped when the frame has closed.
        let done = result(answer, failure);
        if !self.hot.close(opened) {
            settle(opened.lent());
        }
        Some(done)
    }

    /// The part of an object for the class that declares what answers, where its most derived part is for another.
    #[inline(never)]
    fn inherited_part(&self, object: ObjectHandle, way: &MethodWay) -> Option<*mut ()> {
        let pairs = self.pairs.upgrade()?;
        pairs.part_at(self.columns.conjugate(object), way.place, way.owner).map(|part| part.0)
    }

    /// Another number whenever an object has begun or ended, or has another body or plugin part.
    #[inline]
    pub(crate) fn population(&self) -> u64 {
        self.columns.changes()
    }
}

#[inline]
fn result(answer: DirectAnswer, failure: &MaybeUninit<Failure>) -> Result<u64, Box<CallError>> {
    if answer.status == DirectStatus::DONE { Ok(answer.bits) } else { Err(failed(failure)) }
}

/// The failure that a shell has written. Lent, since it is long, and a copy of it would be made before each look at the answer.
#[cold]
#[inline(never)]
fn failed(failure: &MaybeUninit<Failure>) -> Box<CallError> {
    // SAFETY: the shell said that the call failed, and so has written it; nobody reads it again.
    let failure = unsafe { failure.assume_init_read() };
    Box::new(CallError::from_failure(&failure))
}

/// Calls a shell by its true type, as these parameters say.
macro_rules! enter {
    ($shell:ident, $failure:ident $(, $value:expr => $ty:ty)*) => {{
        type Shell = unsafe extern "C" fn($($ty,)* &mut MaybeUninit<Failure>) -> DirectAnswer;
        // SAFETY: it was made of a function of this type, as the caller of this function promises; and what `DirectShell` demands.
        unsafe { transmute::<unsafe extern "C" fn(), Shell>($shell.0)($($value,)* $failure) }
    }};
}

/// Runs a macro with the number of each of the words, of which there are so many.
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
            _ => unreachable!("no direct shell is made for more than `MOST_WORDS`"),
        }
    };
}

/// # Safety
/// As [`DirectShell`] says of a static function, with as many parameters as there are words.
#[inline(always)]
unsafe fn call_static(shell: DirectShell, words: impl Words, failure: &mut MaybeUninit<Failure>) -> DirectAnswer {
    macro_rules! with {
        ($($at:literal)*) => { enter!(shell, failure $(, words.word($at) => u64)*) };
    }
    with_each!(words.count(), with)
}

/// # Safety
/// As [`DirectShell`] says of a method, with as many parameters as there are words.
#[inline(always)]
unsafe fn call_method(
    shell: DirectShell,
    (object, memory, part): (ObjectHandle, *mut u8, *mut ()),
    words: impl Words,
    failure: &mut MaybeUninit<Failure>,
) -> DirectAnswer {
    macro_rules! on {
        ($($at:literal)*) => {
            enter!(
                shell, failure, object => ObjectHandle, memory => *mut u8, part => *mut ()
                $(, words.word($at) => u64)*
            )
        };
    }
    with_each!(words.count(), on)
}
