//! The Rust fields of native objects: one value beside each object of a class; `part_cell.rs` checks its borrows.
//! They belong to the declaration of the class in one runtime, so several runtimes of a process do not meet here.

use std::cell::Cell;
use std::ptr::NonNull;
use std::rc::Rc;

use crate::border::CallError;
use crate::cells::RefCell;
use crate::handles::ObjectHandle;
use crate::native::part_cell::PartCell;
use crate::native::part_row::PartRow;

enum State<C> {
    Absent,
    /// Its red constructor runs.
    Building,
    There(Rc<PartCell<C>>),
    /// The object ends, and the part has ended.
    Ended,
}

struct Entry<C> {
    object: ObjectHandle,
    state: State<C>,
}

/// The Rust fields of all objects of a class, in one runtime. Game thread only.
pub(super) struct Parts<C> {
    class: &'static str,
    /// By the index of the object.
    row: RefCell<Vec<Entry<C>>>,
    /// Where those lie that are there.
    places: PartRow<C>,
    /// Those that have ended in the middle of a method of theirs.
    in_use: RefCell<Vec<Rc<PartCell<C>>>>,
    /// Whether there are such.
    has_ended: Cell<bool>,
}

/// A part is being built. When that panics there is none, and the next use builds it anew.
struct Building<'a, C> {
    parts: &'a Parts<C>,
    object: ObjectHandle,
}

impl<C> Drop for Building<'_, C> {
    fn drop(&mut self) {
        if self.parts.is_building(self.object) {
            drop(self.parts.put(self.object, State::Absent));
        }
    }
}

impl<C> Parts<C> {
    /// None yet; `class` is the path of the class.
    pub(super) fn new(class: &'static str) -> Self {
        let (row, in_use, has_ended) = Default::default();
        Self { class, row, places: PartRow::new(), in_use, has_ended }
    }

    /// The part of an object, which `build` makes when it is used for the first time. `lives` says whether the object does: there is a part
    /// of living objects only, since [`Parts::end`] is called when one ends.
    ///
    /// # Errors
    /// [`CallError::Stale`] when the object is gone, also while the part was built; when it is being built, and when it has ended.
    #[inline]
    pub(super) fn get(
        &self,
        object: ObjectHandle,
        lives: impl Fn() -> bool,
        build: impl FnOnce() -> C,
    ) -> Result<Rc<PartCell<C>>, CallError> {
        if let Some(Entry { object: of, state: State::There(part) }) = self.row.borrow().get(object.index() as usize)
            && *of == object
        {
            return Ok(Rc::clone(part));
        }
        self.build(object, lives, build)
    }

    #[cold]
    fn build(
        &self,
        object: ObjectHandle,
        lives: impl Fn() -> bool,
        build: impl FnOnce() -> C,
    ) -> Result<Rc<PartCell<C>>, CallError> {
        let unavailable = |why: &str| {
            Err(CallError::Unavailable {
                what: format!("the Rust fields of {object} for {}, which {why},", self.class),
            })
        };
        if !lives() {
            return Err(CallError::Stale { handle: object });
        }
        match self.row.borrow().get(object.index() as usize).filter(|entry| entry.object == object) {
            Some(Entry { state: State::Building, .. }) => return unavailable("are being built"),
            Some(Entry { state: State::Ended, .. }) => return unavailable("have ended"),
            _ => {}
        }
        drop(self.put(object, State::Building));
        let building = Building { parts: self, object };
        let part = Rc::new(PartCell::new(build()));
        std::mem::forget(building);
        // The code that has built it may have ended the object.
        if !(lives() && self.is_building(object)) {
            return Err(CallError::Stale { handle: object });
        }
        drop(self.put(object, State::There(Rc::clone(&part))));
        Ok(part)
    }

    fn is_building(&self, object: ObjectHandle) -> bool {
        let row = self.row.borrow();
        let entry = row.get(object.index() as usize);
        entry.is_some_and(|entry| entry.object == object && matches!(entry.state, State::Building))
    }

    /// Ends the part of an object; the caller drops it, with nothing borrowed here. One that a method is using stays until
    /// [`Parts::drop_ended`] finds that it is not.
    pub(super) fn end(&self, object: ObjectHandle) -> Option<Rc<PartCell<C>>> {
        match self.put(object, State::Ended) {
            State::There(part) if part.is_in_use() => {
                self.in_use.borrow_mut().push(part);
                self.has_ended.set(true);
                None
            }
            State::There(part) => Some(part),
            _ => None,
        }
    }

    /// Whether something has ended in the middle of a method of its own, and is not dropped.
    #[inline]
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended.get()
    }

    /// A method has returned: what has ended meanwhile, and is used by none any more, is dropped.
    #[inline]
    pub(super) fn drop_ended(&self) {
        if self.has_ended.get() {
            self.drop_unused();
        }
    }

    #[cold]
    fn drop_unused(&self) {
        let mut parts = self.in_use.borrow_mut();
        let unused: Vec<_> = parts.extract_if(.., |part| !part.is_in_use()).collect();
        self.has_ended.set(!parts.is_empty());
        // What the fields drop may end others.
        drop(parts);
        drop(unused);
    }

    /// The part of an object, if it is there, for a look; where it is used for longer, it has to be in use as
    /// [`PartCell::is_in_use`] says.
    #[inline]
    pub(super) fn find(&self, object: ObjectHandle) -> Option<NonNull<PartCell<C>>> {
        self.places.find(object)
    }

    /// The part of an object, if it is there.
    #[inline]
    pub(super) fn there(&self, object: ObjectHandle) -> Option<Rc<PartCell<C>>> {
        match self.row.borrow().get(object.index() as usize) {
            Some(Entry { object: of, state: State::There(part) }) if *of == object => Some(Rc::clone(part)),
            _ => None,
        }
    }

    /// Overwrites the state of an object; gives that which was there, of whatever object had the place.
    fn put(&self, object: ObjectHandle, state: State<C>) -> State<C> {
        let there = if let State::There(part) = &state { Some(part) } else { None };
        self.places.put(object, there);
        let mut row = self.row.borrow_mut();
        let at = object.index() as usize;
        if row.len() <= at {
            row.resize_with(at + 1, || Entry { object: ObjectHandle::NONE, state: State::Absent });
        }
        std::mem::replace(&mut row[at], Entry { object, state }).state
    }
}
