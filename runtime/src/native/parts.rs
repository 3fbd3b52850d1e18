//! Rust fields of native objects. Each object of a class has one struct with its Rust fields, called the part. `part_cell.rs` checks
//! borrows of the fields. Each runtime has separate parts.

use std::cell::Cell;
use std::mem::needs_drop;
use std::ptr::NonNull;
use std::rc::Rc;

use crate::boundary::CallError;
use crate::cells::RefCell;
use crate::handles::ObjectHandle;
use crate::native::part_cell::PartCell;
use crate::native::part_row::PartRow;
use crate::object::natives::World;

enum State<C> {
    Absent,
    /// The red constructor is running.
    Building,
    There(Rc<PartCell<C>>),
    /// The object is destroyed, and its part has ended.
    Ended,
}

struct Entry<C> {
    object: ObjectHandle,
    state: State<C>,
}

/// Destruction hook that is deferred, because the hook could not borrow the fields during the destruction of the object. Does not panic.
pub(super) type LateHook<C> = Box<dyn FnOnce(&World, &PartCell<C>)>;

/// Part whose object was destroyed while one of its methods was running.
struct EndedPart<C> {
    part: Rc<PartCell<C>>,
    hook: Option<LateHook<C>>,
}

/// Rust fields of all objects of a class, in one runtime. Game thread only.
pub(super) struct Parts<C> {
    class: &'static str,
    /// Entries, by the index of the object.
    row: RefCell<Vec<Entry<C>>>,
    /// Addresses of existing parts.
    addresses: PartRow<C>,
    /// Parts that ended while one of their methods was running.
    in_use: RefCell<Vec<EndedPart<C>>>,
    /// True if `in_use` is not empty.
    has_ended: Cell<bool>,
    /// Ended parts that later objects reuse. See [`Parts::IS_REUSED`].
    spare: RefCell<Vec<Rc<PartCell<C>>>>,
}

/// Maximum number of parts that are kept for reuse.
const MOST_SPARE: usize = 1024;

/// Guard of a part that is being built. If the build panics, the next use builds the part again.
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
    /// True if ended parts are reused. Without fields and a destructor, a part contains only its borrow state, so only its allocation costs
    /// time.
    const IS_REUSED: bool = size_of::<C>() == 0 && !needs_drop::<C>();

    /// Returns an empty set of parts. `class` is the path of the class.
    pub(super) fn new(class: &'static str) -> Self {
        let (row, in_use, has_ended, spare) = Default::default();
        Self { class, row, addresses: PartRow::new(), in_use, has_ended, spare }
    }

    /// Returns the part of an object. `build` creates the part when the part is first used. `lives` returns `true` if the object is alive.
    /// The destruction of an object calls [`Parts::end`], so only live objects have a part.
    ///
    /// # Errors
    /// Returns [`CallError::Stale`] if the object is destroyed, or if `build` destroys the object. Returns [`CallError::Unavailable`] if
    /// the part is being built or has ended.
    #[inline]
    pub(super) fn get(
        &self,
        object: ObjectHandle,
        lives: impl Fn() -> bool,
        build: impl FnOnce() -> C,
    ) -> Result<Rc<PartCell<C>>, CallError> {
        match self.there(object) {
            Some(part) => Ok(part),
            None => self.build(object, lives, build),
        }
    }

    #[inline(never)]
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
        let fields = build();
        let part = self.spare.borrow_mut().pop().unwrap_or_else(|| Rc::new(PartCell::new(fields)));
        std::mem::forget(building);
        // `build` may have destroyed the object.
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

    /// Ends the part of an object. The caller must hold no borrow when it drops the returned part. Returns `None` if the part is reused. A
    /// part that a running method uses remains until [`Parts::drop_ended`] calls `hook` and drops the part. `is_left` is true if the object
    /// stays alive and only changes to another class. The object may later return to the class, and then receives a new part. A hook may
    /// have destroyed the object after the change of its class. The index of the object can then belong to a later object, whose part
    /// remains.
    pub(super) fn end(
        &self,
        object: ObjectHandle,
        hook: Option<LateHook<C>>,
        is_left: bool,
    ) -> Option<Rc<PartCell<C>>> {
        let is_listed = self.row.borrow().get(object.index() as usize).is_some_and(|entry| entry.object == object);
        if is_left && !is_listed {
            return None;
        }
        match self.put(object, if is_left { State::Absent } else { State::Ended }) {
            State::There(part) if part.is_in_use() => {
                self.in_use.borrow_mut().push(EndedPart { part, hook });
                self.has_ended.set(true);
                None
            }
            State::There(part) => self.keep_spare(part),
            _ => None,
        }
    }

    /// Keeps an ended part for reuse. Returns the part if it cannot be reused.
    fn keep_spare(&self, part: Rc<PartCell<C>>) -> Option<Rc<PartCell<C>>> {
        let mut spare = self.spare.borrow_mut();
        if !Self::IS_REUSED || Rc::strong_count(&part) != 1 || spare.len() >= MOST_SPARE {
            return Some(part);
        }
        spare.push(part);
        None
    }

    /// Returns `true` if a part has ended during one of its methods and is not yet dropped.
    #[inline]
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended.get()
    }

    /// Runs the hooks of ended parts that no method uses any longer, and then drops these parts.
    #[inline]
    pub(super) fn drop_ended(&self, world: &World) {
        if self.has_ended.get() {
            self.drop_unused(world);
        }
    }

    #[cold]
    fn drop_unused(&self, world: &World) {
        let mut parts = self.in_use.borrow_mut();
        let unused: Vec<_> = parts.extract_if(.., |ended| !ended.part.is_in_use()).collect();
        self.has_ended.set(!parts.is_empty());
        // Releases the borrow first, because hooks and destructors of fields may end further parts.
        drop(parts);
        for EndedPart { part, hook } in unused {
            if let Some(hook) = hook {
                hook(world, &part);
            }
        }
    }

    /// Returns the address of an object's part, if the part exists. The address is only for immediate use. Longer use requires a borrow;
    /// see [`PartCell::is_in_use`].
    #[inline]
    pub(super) fn find(&self, object: ObjectHandle) -> Option<NonNull<PartCell<C>>> {
        self.addresses.find(object)
    }

    /// Returns the part of an object, if the part exists.
    #[inline]
    pub(super) fn there(&self, object: ObjectHandle) -> Option<Rc<PartCell<C>>> {
        match self.row.borrow().get(object.index() as usize) {
            Some(Entry { object: of, state: State::There(part) }) if *of == object => Some(Rc::clone(part)),
            _ => None,
        }
    }

    /// Replaces the part state that is stored for the index of an object. Returns the previous state, which may belong to an earlier object
    /// with this index.
    fn put(&self, object: ObjectHandle, state: State<C>) -> State<C> {
        let there = if let State::There(part) = &state { Some(part) } else { None };
        self.addresses.put(object, there);
        let mut row = self.row.borrow_mut();
        let at = object.index() as usize;
        if row.len() <= at {
            row.resize_with(at + 1, || Entry { object: ObjectHandle::NONE, state: State::Absent });
        }
        std::mem::replace(&mut row[at], Entry { object, state }).state
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::Parts;
    use crate::handles::ObjectHandle;

    #[test]
    fn a_later_object_reuses_a_part_without_fields_unless_a_caller_holds_it() {
        struct Empty;
        let parts = Parts::new("/Script/Test.Fuse");
        let [first, second] = [1, 2].map(|serial| ObjectHandle::new(0, serial));
        let get = |object| parts.get(object, || true, || Empty).expect("the object is alive");
        let address = Rc::as_ptr(&get(first));
        assert!(parts.end(first, None, false).is_none() && parts.there(first).is_none());
        let held = get(second);
        assert_eq!(Rc::as_ptr(&held), address);
        assert!(parts.end(second, None, false).is_some_and(|part| Rc::ptr_eq(&part, &held)));
    }

    #[test]
    fn an_object_that_left_a_class_does_not_end_the_part_of_its_successor() {
        let parts = Parts::new("/Script/Test.Fuse");
        let [left, successor] = [1, 2].map(|serial| ObjectHandle::new(0, serial));
        for object in [left, successor] {
            parts.get(object, || true, || 7).expect("the object is alive");
        }
        assert!(parts.end(left, None, true).is_none() && parts.there(successor).is_some());
        assert!(parts.end(successor, None, true).is_some() && parts.there(successor).is_none());
    }
}
