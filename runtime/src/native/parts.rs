//! The Rust fields of native objects: one value beside each object of a class; `part_cell.rs` checks its borrows.
//! They belong to the declaration of the class in one runtime, so several runtimes of a process do not meet here.

use std::rc::Rc;

use crate::border::CallError;
use crate::cells::RefCell;
use crate::handles::ObjectHandle;
use crate::native::part_cell::PartCell;

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
}

impl<C> Parts<C> {
    /// None yet; `class` is the path of the class.
    pub(super) fn new(class: &'static str) -> Self {
        Self { class, row: RefCell::new(Vec::new()) }
    }

    /// The part of an object, which `build` makes when it is used for the first time.
    ///
    /// # Errors
    /// Those of `build`; when it is being built, and when it has ended.
    #[inline]
    pub(super) fn get(
        &self,
        object: ObjectHandle,
        build: impl FnOnce() -> Result<C, CallError>,
    ) -> Result<Rc<PartCell<C>>, CallError> {
        if let Some(Entry { object: of, state: State::There(part) }) = self.row.borrow().get(object.index() as usize)
            && *of == object
        {
            return Ok(Rc::clone(part));
        }
        self.build(object, build)
    }

    #[cold]
    fn build(
        &self,
        object: ObjectHandle,
        build: impl FnOnce() -> Result<C, CallError>,
    ) -> Result<Rc<PartCell<C>>, CallError> {
        let unavailable = |why: &str| {
            Err(CallError::Unavailable {
                what: format!("the Rust fields of {object} for {}, which {why},", self.class),
            })
        };
        match self.row.borrow().get(object.index() as usize).filter(|entry| entry.object == object) {
            Some(Entry { state: State::Building, .. }) => return unavailable("are being built"),
            Some(Entry { state: State::Ended, .. }) => return unavailable("have ended"),
            _ => {}
        }
        drop(self.put(object, State::Building));
        match build() {
            Ok(part) => {
                let part = Rc::new(PartCell::new(part));
                drop(self.put(object, State::There(Rc::clone(&part))));
                Ok(part)
            }
            Err(error) => {
                drop(self.put(object, State::Absent));
                Err(error)
            }
        }
    }

    /// Ends the part of an object; the caller drops it, with nothing borrowed here.
    pub(super) fn end(&self, object: ObjectHandle) -> Option<Rc<PartCell<C>>> {
        match self.put(object, State::Ended) {
            State::There(part) => Some(part),
            _ => None,
        }
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
        let mut row = self.row.borrow_mut();
        let at = object.index() as usize;
        if row.len() <= at {
            row.resize_with(at + 1, || Entry { object: ObjectHandle::NONE, state: State::Absent });
        }
        std::mem::replace(&mut row[at], Entry { object, state }).state
    }
}
