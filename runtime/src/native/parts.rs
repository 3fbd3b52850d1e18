//! The Rust fields of native objects: one value beside each object of a class, with its borrows checked while running.
//! They belong to the declaration of the class in one runtime, so several runtimes of a process do not meet here.

use std::cell::{Cell, RefCell as Borrowed};
use std::rc::Rc;

use crate::border::CallError;
use crate::cells::RefCell;
use crate::handles::ObjectHandle;

/// The Rust fields of one object.
pub struct PartCell<C> {
    part: Borrowed<C>,
    /// The method that borrowed last and has not returned.
    holder: Cell<&'static str>,
}

/// Puts the holder back, also when the method panics.
struct Held<'a>(&'a Cell<&'static str>, &'static str);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.set(self.1);
    }
}

impl<C> PartCell<C> {
    fn new(part: C) -> Self {
        Self { part: Borrowed::new(part), holder: Cell::new("") }
    }

    /// Runs a `&self` method.
    ///
    /// # Errors
    /// [`CallError::ReentrantBorrow`] while a `&mut self` method runs.
    pub(super) fn share<R>(
        &self,
        object: ObjectHandle,
        wanted: &'static str,
        code: impl FnOnce(&C) -> R,
    ) -> Result<R, CallError> {
        let part = self.part.try_borrow().map_err(|_held| self.refused(object, wanted))?;
        let _held = Held(&self.holder, self.holder.replace(wanted));
        Ok(code(&part))
    }

    /// Runs a `&mut self` method.
    ///
    /// # Errors
    /// [`CallError::ReentrantBorrow`] while any method runs.
    pub(super) fn take<R>(
        &self,
        object: ObjectHandle,
        wanted: &'static str,
        code: impl FnOnce(&mut C) -> R,
    ) -> Result<R, CallError> {
        let mut part = self.part.try_borrow_mut().map_err(|_held| self.refused(object, wanted))?;
        let _held = Held(&self.holder, self.holder.replace(wanted));
        Ok(code(&mut part))
    }

    #[cold]
    fn refused(&self, object: ObjectHandle, wanted: &str) -> CallError {
        CallError::ReentrantBorrow { object, held: self.holder.get().to_owned(), wanted: wanted.to_owned() }
    }
}

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
