//! Short ways into functions of modules: looked up once, good until anything kept about calls may be wrong. A call by one asks three
//! words of the host whether that is so and nothing stands in its way, opens a red frame, and puts plain values into registers. All
//! else goes the long way, which says why when a call is refused.
#![expect(unsafe_code, reason = "calls the direct shells of modules")]

use std::cell::Cell;
use std::mem::{MaybeUninit, transmute};
use std::rc::{Rc, Weak};

use alcedo_abi::call::{Failure, Status};
use alcedo_abi::direct::{Answer, Batch, BatchItem, BatchShell, DirectShell};
use alcedo_abi::host::Directory;
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

/// What calls by short ways look at. It outlives its host, and is shut then. Game thread only.
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

/// How a batch went on.
pub(crate) struct Went {
    /// What the first object behind the ones that are done has failed with; none when all are done.
    pub(crate) failed: Option<CallError>,
    /// Where to go on.
    pub(crate) at: usize,
    /// How many had ended.
    pub(crate) ended: usize,
    /// How many did not meet the condition.
    pub(crate) unmet: usize,
}

/// What a call by a short way came to; none where it is to go the long way.
pub(crate) type Called = Option<Result<u64, Box<CallError>>>;

/// A static function whose red frame is open.
pub(crate) struct HotShell<'a> {
    shell: DirectShell,
    count: usize,
    slices: &'a LentSlices,
}

impl HotShell<'_> {
    /// Calls it. None when it has another number of parameters, or a slice is lent.
    ///
    /// # Errors
    /// What it fails with.
    #[inline]
    pub(crate) fn call(&self, slots: &[Slot]) -> Called {
        if slots.len() != self.count || self.slices.are_out() {
            return None;
        }
        let mut failure = MaybeUninit::uninit();
        // SAFETY: only `Ways::within` makes one, and lends it while a red frame is open that was opened when the way was right. Until
        // it closes there is no safe point, so no gate is shut and no image unmapped.
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

    /// Calls a static function. The words are those of the slots. `settle` is called where the frame leaves something to be done.
    #[inline]
    pub(crate) fn call(&self, way: &StaticWay, slots: &[Slot], settle: impl FnOnce(usize)) -> Called {
        if !self.are_open(way.looked) || slots.len() != way.count {
            return None;
        }
        let opened = self.hot.open(way.frame)?;
        let mut failure = MaybeUninit::uninit();
        // SAFETY: the way was made for a function with so many parameters. Nothing has changed since it was looked up, so the gate of
        // its module is open and its image mapped; the red frame, which is open until the call is over, keeps both so.
        let answer = unsafe { call_static(way.shell, slots, &mut failure) };
        // Read first: the words of a failure lie in the heap of the module, which may be unmapped when the frame has closed.
        let done = result(answer, &failure);
        if !self.hot.close(opened) {
            settle(opened.lent());
        }
        Some(done)
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
        let done = code(&HotShell { shell: way.shell, count: way.count, slices: &self.slices });
        drop(closing);
        Some(done)
    }

    /// Calls a method on an object, if one of these ways is for objects of its class: the one at the place of the class's number.
    #[inline]
    pub(crate) fn call_on(
        &self,
        ways: &[Cell<Option<MethodWay>>; CLASSES],
        object: ObjectHandle,
        slots: &[Slot],
        settle: impl FnOnce(usize),
    ) -> Called {
        let entry = self.columns.find(object)?;
        let way = place_of(ways, entry.class).get().filter(|way| way.class == entry.class)?;
        if !self.are_open(way.looked) || slots.len() != way.count {
            return None;
        }
        let part = match self.columns.part(object, way.owner) {
            Some(part) => part,
            None => self.inherited_part(object, &way)?,
        };
        let opened = self.hot.open(way.frame)?;
        let mut failure = MaybeUninit::uninit();
        // SAFETY: as in `call`. The object is there, and of the class that the way is for; the part is the one that stands beside it
        // for the class that declares the function. Memory and part stay until a safe point, and so does the frame.
        let answer = unsafe { call_method(way.shell, (object, entry.memory, part), slots, &mut failure) };
        // Read first: the words of a failure lie in the heap of the module, which may be unmapped when the frame has closed.
        let done = result(answer, &failure);
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

    /// Calls a method on these objects from `at` on, in one crossing, until one fails. None where it is to go the long way.
    ///
    /// # Safety
    /// Each item has the memory of an object of the way's class and its part for the class that declares what answers, and was found
    /// so since the last safe point, or while [`Ways::population`] has not changed since. All were there at the count `ends` of the directory.
    /// `condition`, if there is one, is the offset of a byte in objects of the class.
    pub(super) unsafe fn call_batch(
        &self,
        way: &MethodWay,
        items: &[BatchItem],
        at: usize,
        (words, results): (&[u64], Option<&mut [Answer]>),
        (condition, ends): (Option<usize>, u64),
        settle: impl FnOnce(usize),
    ) -> Option<Went> {
        let has_room = results.as_ref().is_none_or(|results| results.len() >= items.len());
        if !self.are_open(way.looked) || words.len() != way.count || !has_room {
            return None;
        }
        let opened = self.hot.open(way.frame)?;
        let mut failure = MaybeUninit::<Failure>::uninit();
        let directory: *const Directory = self.columns.head();
        let mut batch = Batch {
            items: items.as_ptr(),
            len: items.len(),
            at,
            words: words.as_ptr(),
            results: results.map_or(std::ptr::null_mut(), |results| results.as_mut_ptr()),
            directory,
            ends,
            condition: condition.unwrap_or(Batch::UNCONDITIONAL),
            ended: 0,
            unmet: 0,
            failure: failure.as_mut_ptr(),
        };
        // SAFETY: as in `call_on`, for each object that has not ended since the items were found, as the caller promises; the module
        // looks that up. All that is lent stays where it is.
        let status = unsafe { (way.batch.0)(&mut batch) };
        // Read first, as in `call`.
        let failed = (status != Status::OK).then(|| *failed(&failure));
        if !self.hot.close(opened) {
            settle(opened.lent());
        }
        let Batch { at, ended, unmet, .. } = batch;
        Some(Went { failed, at, ended, unmet })
    }
}

#[inline]
fn result(answer: Answer, failure: &MaybeUninit<Failure>) -> Result<u64, Box<CallError>> {
    if answer.failed == 0 { Ok(answer.bits) } else { Err(failed(failure)) }
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
        type Shell = unsafe extern "C" fn($($ty,)* &mut MaybeUninit<Failure>) -> Answer;
        // SAFETY: it was made of a function of this type, as the caller of this function promises; and what `DirectShell` demands.
        unsafe { transmute::<unsafe extern "C" fn(), Shell>($shell.0)($($value,)* $failure) }
    }};
}

/// # Safety
/// As [`DirectShell`] says of a static function, with as many parameters as there are slots.
#[inline(always)]
unsafe fn call_static(shell: DirectShell, slots: &[Slot], failure: &mut MaybeUninit<Failure>) -> Answer {
    macro_rules! with {
        ($($word:ident)*) => {
            enter!(shell, failure $(, $word.bits() => u64)*)
        };
    }
    match slots {
        [] => with!(),
        [a] => with!(a),
        [a, b] => with!(a b),
        [a, b, c] => with!(a b c),
        [a, b, c, d] => with!(a b c d),
        [a, b, c, d, e] => with!(a b c d e),
        [a, b, c, d, e, f] => with!(a b c d e f),
        [a, b, c, d, e, f, g] => with!(a b c d e f g),
        [a, b, c, d, e, f, g, h] => with!(a b c d e f g h),
        _ => unreachable!("no direct shell is made for more than `MOST_WORDS`"),
    }
}

/// # Safety
/// As [`DirectShell`] says of a method, with as many parameters as there are slots.
#[inline(always)]
unsafe fn call_method(
    shell: DirectShell,
    (object, memory, part): (ObjectHandle, *mut u8, *mut ()),
    slots: &[Slot],
    failure: &mut MaybeUninit<Failure>,
) -> Answer {
    macro_rules! on {
        ($($word:ident)*) => {
            enter!(
                shell, failure, object => ObjectHandle, memory => *mut u8, part => *mut ()
                $(, $word.bits() => u64)*
            )
        };
    }
    match slots {
        [] => on!(),
        [a] => on!(a),
        [a, b] => on!(a b),
        [a, b, c] => on!(a b c),
        [a, b, c, d] => on!(a b c d),
        [a, b, c, d, e] => on!(a b c d e),
        [a, b, c, d, e, f] => on!(a b c d e f),
        [a, b, c, d, e, f, g] => on!(a b c d e f g),
        [a, b, c, d, e, f, g, h] => on!(a b c d e f g h),
        _ => unreachable!("no direct shell is made for more than `MOST_WORDS`"),
    }
}
