//! State that every call from the host into a module uses: call depth, frame names, and number of borrowed values. A call on a fast path
//! opens its frame with two writes, and closes the frame with one write. A list stores the frame names. Frames refer to names by number.

use std::cell::Cell;
use std::rc::Rc;

use alcedo_abi::stack::StackSpan;

use crate::boundary::CallError;
use crate::cells::RefCell;
use crate::epoch::Epoch;
use crate::handles::ModuleId;
use crate::thread_stack;

/// Maximum number of named frames. Deeper frames take the slow path.
const FAST_FRAMES: usize = 64;

/// Number of a frame name. Denotes one pair of module and name. A pair has several numbers if several [`FrameName`]s contain the name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FrameNumber(u32);

impl FrameNumber {
    /// Number of a frame whose name is not in the list.
    pub(crate) const NONE: Self = Self(0);
}

/// Name of a frame with its own number. The number is assigned when the first frame with this name opens.
#[derive(Clone, Debug)]
pub(crate) struct FrameName {
    text: Rc<str>,
    number: Cell<FrameNumber>,
}

impl FrameName {
    pub(crate) fn new(text: impl Into<Rc<str>>) -> Self {
        Self { text: text.into(), number: Cell::new(FrameNumber::NONE) }
    }

    pub(crate) fn text(&self) -> &Rc<str> {
        &self.text
    }

    /// Returns the number for frames of `module`, the only module whose frames have this name.
    #[inline]
    pub(crate) fn number(&self, frames: &HotFrames, module: ModuleId) -> FrameNumber {
        if self.number.get() == FrameNumber::NONE {
            self.number.set(frames.add(module, &self.text));
        }
        self.number.get()
    }
}

/// Open frames. Game thread only.
#[derive(Debug)]
pub(crate) struct HotFrames {
    epoch: Rc<Epoch>,
    depth: Cell<usize>,
    numbers: [Cell<FrameNumber>; FAST_FRAMES],
    /// Number of borrowed values, combined with [`Self::WAITS`].
    height: Cell<usize>,
    /// Range of the game thread's stack in which frames may open: the stack without its reserve.
    room: Cell<StackSpan>,
    /// Number of stack bytes in the reserve, as set by the host.
    reserve: Cell<usize>,
    stack: StackSpan,
    /// Module and name of each frame number. Numbers begin at 1.
    names: RefCell<Vec<(ModuleId, Rc<str>)>>,
    /// Numbers of unloaded modules, for reuse. An unload changes the epoch, so no cached call uses such a number.
    free: RefCell<Vec<FrameNumber>>,
}

impl Default for HotFrames {
    fn default() -> Self {
        Self::new(Rc::default())
    }
}

#[derive(Clone, Copy, Debug)]
#[must_use = "the frame must be closed"]
pub(crate) struct Opened {
    depth: usize,
    height: usize,
}

impl Opened {
    /// Returns the number of values that were borrowed before the frame was opened.
    #[inline]
    pub(crate) fn borrowed_height(self) -> usize {
        self.height & !HotFrames::WAITS
    }
}

impl HotFrames {
    /// Flag in `height`: set if an operation is deferred to the end of the outermost frame.
    const WAITS: usize = 1 << (usize::BITS - 1);

    /// Default number of bytes of the game thread's stack that calls leave free.
    pub(crate) const RESERVE: usize = 256 << 10;

    /// Number of bytes above the reserve that a late build of a plugin part needs. The frames that restore the kept fields of the part are
    /// deeper than the frame of the caller.
    const BUILD: usize = 64 << 10;

    /// Creates a value without open frames. The calling thread becomes the game thread.
    pub(crate) fn new(epoch: Rc<Epoch>) -> Self {
        let numbers = [const { Cell::new(FrameNumber::NONE) }; FAST_FRAMES];
        let stack = thread_stack::span();
        let room = Cell::new(stack.above(Self::RESERVE));
        let reserve = Cell::new(Self::RESERVE);
        Self {
            epoch,
            depth: Cell::new(0),
            numbers,
            height: Cell::new(0),
            room,
            reserve,
            stack,
            names: RefCell::default(),
            free: RefCell::default(),
        }
    }

    #[inline]
    pub(crate) fn stack(&self) -> StackSpan {
        self.stack
    }

    /// Sets the number of stack bytes that calls into modules leave free.
    pub(crate) fn set_reserve(&self, bytes: usize) {
        self.reserve.set(bytes);
        self.room.set(self.stack.above(bytes));
    }

    /// Returns the number of stack bytes that calls into modules leave free.
    pub(crate) fn reserve(&self) -> usize {
        self.reserve.get()
    }

    /// Checks that a frame may open here. Returns [`CallError::WrongStack`] on the stack of a coroutine, and
    /// [`CallError::TooDeep`] if the stack of the game thread is nearly exhausted.
    #[inline]
    pub(crate) fn may_open(&self, what: &dyn std::fmt::Display) -> Result<(), CallError> {
        if self.room.get().is_here() { Ok(()) } else { Err(self.no_room(what)) }
    }

    /// Checks that a plugin part may be built here, and its kept fields restored. Requires more stack than [`Self::may_open`], and returns
    /// the same errors.
    pub(crate) fn may_build(&self, what: &dyn std::fmt::Display) -> Result<(), CallError> {
        self.has_room_for(Self::BUILD, what)
    }

    /// Checks that a call from a few frames deeper may open its frame and build a plugin part. Returns the errors of [`Self::may_open`].
    pub(crate) fn may_call(&self, what: &dyn std::fmt::Display) -> Result<(), CallError> {
        self.has_room_for(2 * Self::BUILD, what)
    }

    /// Checks that the stack has room for `size` bytes above the reserve.
    fn has_room_for(&self, size: usize, what: &dyn std::fmt::Display) -> Result<(), CallError> {
        let room = self.stack.above(self.reserve().saturating_add(size));
        if room.is_here() { Ok(()) } else { Err(self.no_room(what)) }
    }

    #[cold]
    fn no_room(&self, what: &dyn std::fmt::Display) -> CallError {
        match self.stack.is_here() {
            true => {
                CallError::TooDeep { what: what.to_string(), limit: u32::try_from(self.depth()).unwrap_or(u32::MAX) }
            }
            false => CallError::WrongStack { action: format!("calling {what}") },
        }
    }

    /// Returns the epoch. The epoch changes when cached call targets may become invalid.
    #[inline]
    pub(crate) fn epoch(&self) -> &Epoch {
        &self.epoch
    }

    /// Returns the number of open frames, including frames whose names are not in the list.
    #[inline]
    pub(crate) fn depth(&self) -> usize {
        self.depth.get()
    }

    /// Opens a frame. Returns `None` if all `FAST_FRAMES` are open, or if [`HotFrames::may_open`] fails.
    #[inline]
    pub(crate) fn open(&self, number: FrameNumber) -> Option<Opened> {
        if !self.room.get().is_here() {
            return None;
        }
        let depth = self.depth.get();
        self.numbers.get(depth)?.set(number);
        self.depth.set(depth + 1);
        Some(Opened { depth, height: self.height.get() })
    }

    #[inline]
    pub(crate) fn open_unnamed(&self) -> Opened {
        let (depth, height) = (self.depth.get(), self.height.get());
        if let Some(number) = self.numbers.get(depth) {
            number.set(FrameNumber::NONE);
        }
        self.depth.set(depth + 1);
        Opened { depth, height }
    }

    /// Checks if an open frame has no number. The stack of red frames then lists its name.
    #[inline]
    pub(crate) fn is_unnamed(&self, frame: Opened) -> bool {
        self.numbers.get(frame.depth).is_none_or(|number| number.get() == FrameNumber::NONE)
    }

    /// Closes a frame. Returns `false` if the caller must end borrows, or must run operations that were deferred to the end of the frame.
    #[inline]
    pub(crate) fn close(&self, opened: Opened) -> bool {
        self.depth.set(opened.depth);
        self.height.get() == opened.height
    }

    #[inline]
    pub(crate) fn height(&self) -> usize {
        self.height.get() & !Self::WAITS
    }

    #[inline]
    pub(crate) fn set_height(&self, height: usize) {
        self.height.set(height | self.height.get() & Self::WAITS);
    }

    /// Checks if an operation is deferred to the end of the outermost frame.
    pub(crate) fn waits(&self) -> bool {
        self.height.get() & Self::WAITS != 0
    }

    /// Sets or clears the flag for operations that are deferred to the end of the outermost frame.
    pub(crate) fn set_waits(&self, waits: bool) {
        self.height.set(self.height() | if waits { Self::WAITS } else { 0 });
    }

    /// Returns the frame number for a function of a module.
    pub(crate) fn number(&self, module: ModuleId, what: &Rc<str>) -> FrameNumber {
        let known = self.names.borrow().iter().position(|(of, name)| *of == module && name == what);
        known.map_or_else(|| self.add(module, what), |at| FrameNumber(at as u32 + 1))
    }

    /// Assigns a number to a new name of a module.
    #[cold]
    fn add(&self, module: ModuleId, what: &Rc<str>) -> FrameNumber {
        let (mut names, name) = (self.names.borrow_mut(), (module, Rc::clone(what)));
        if let Some(number) = self.free.borrow_mut().pop() {
            names[number.0 as usize - 1] = name;
            return number;
        }
        names.push(name);
        FrameNumber(names.len() as u32)
    }

    /// Frees the frame numbers of an unloaded module, unless a frame is open.
    pub(crate) fn forget(&self, module: ModuleId) {
        if self.depth() == 0 {
            let (mut names, mut free) = (self.names.borrow_mut(), self.free.borrow_mut());
            for (name, number) in names.iter_mut().zip(1..).filter(|((of, _), _)| *of == module) {
                *name = (ModuleId::HOST, "".into());
                free.push(FrameNumber(number));
            }
        }
    }

    pub(crate) fn inside(&self, module: ModuleId) -> u32 {
        let names = self.names.borrow();
        let open = self.numbers.iter().take(self.depth());
        open.filter_map(|number| names.get(number.get().0.checked_sub(1)? as usize))
            .filter(|(of, _)| *of == module)
            .count() as u32
    }

    /// Returns the names of the open frames, oldest first. An entry is `None` if the name of the frame is not in the list.
    pub(crate) fn open_frames(&self) -> Vec<Option<Rc<str>>> {
        let names = self.names.borrow();
        let numbers = self.numbers.iter().map(Cell::get).chain(std::iter::repeat(FrameNumber::NONE)).take(self.depth());
        numbers.map(|number| Some(Rc::clone(&names.get(number.0.checked_sub(1)? as usize)?.1))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{FAST_FRAMES, FrameName, HotFrames};
    use crate::boundary::CallError;
    use crate::handles::ModuleId;

    #[test]
    fn frames_have_their_names_and_count_for_their_modules() {
        let frames = HotFrames::default();
        let (one, two) = (ModuleId(1), ModuleId(2));
        let add = frames.number(one, &"add".into());
        assert_eq!(add, frames.number(one, &"add".into()), "one number for each name");
        assert_ne!(add, frames.number(two, &"add".into()));
        let outer = frames.open(add).expect("there is room");
        let middle = frames.open_unnamed();
        let inner = frames.open(add).expect("there is room");
        let names: Vec<_> = frames.open_frames().iter().map(|name| name.as_deref().map(str::to_owned)).collect();
        assert_eq!(names, [Some("add".to_owned()), None, Some("add".to_owned())]);
        assert_eq!((frames.inside(one), frames.inside(two), frames.depth()), (2, 0, 3));
        assert!(frames.close(inner) && frames.close(middle) && frames.close(outer));
        assert_eq!((frames.depth(), frames.inside(one)), (0, 0));
    }

    #[test]
    fn numbers_of_an_unloaded_module_are_reused_once() {
        let (frames, name) = (HotFrames::default(), FrameName::new("build"));
        let (one, two) = (ModuleId(1), ModuleId(2));
        let old = [name.number(&frames, one), frames.number(one, &"add".into())];
        assert_eq!(name.number(&frames, one), old[0], "one number for each name");
        let open = frames.open_unnamed();
        frames.forget(one);
        assert_eq!(frames.number(one, &"add".into()), old[1], "a frame is open");
        assert!(frames.close(open));
        frames.forget(one);
        frames.forget(one);
        let new = ["a", "b", "c"].map(|what| frames.number(two, &what.into()));
        assert!(new[0] != new[1] && old.contains(&new[0]) && old.contains(&new[1]) && !old.contains(&new[2]));
    }

    #[test]
    fn closing_a_frame_reports_borrows_and_queued_work() {
        let frames = HotFrames::default();
        let number = frames.number(ModuleId(1), &"f".into());
        let frame = frames.open(number).expect("there is room");
        frames.set_height(1);
        assert!(!frames.close(frame));
        frames.set_height(0);
        let frame = frames.open(number).expect("there is room");
        frames.set_waits(true);
        frames.set_height(2);
        assert_eq!((frames.height(), frames.waits()), (2, true));
        assert!(!frames.close(frame));
        frames.set_waits(false);
        assert_eq!((frames.height(), frames.waits()), (2, false));
    }

    #[test]
    fn where_no_plugin_part_may_be_built_frames_may_still_open() {
        fn descend(frames: &HotFrames) -> Result<(), CallError> {
            let used = std::hint::black_box([0_u8; 4096]);
            let opened = match frames.may_build(&"a part") {
                Ok(()) => descend(frames),
                Err(_no_room) => frames.may_open(&"a frame"),
            };
            std::hint::black_box(&used);
            opened
        }
        descend(&HotFrames::default()).expect("the frame is above the reserve");
    }

    #[test]
    fn deep_frames_go_elsewhere_and_are_counted() {
        let frames = HotFrames::default();
        let number = frames.number(ModuleId(1), &"f".into());
        for _ in 0..FAST_FRAMES {
            let _open = frames.open(number).expect("there is room");
        }
        assert!(frames.open(number).is_none());
        let _deep = frames.open_unnamed();
        assert_eq!((frames.depth(), frames.open_frames().len()), (FAST_FRAMES + 1, FAST_FRAMES + 1));
        assert_eq!(frames.open_frames()[FAST_FRAMES], None);
    }
}
