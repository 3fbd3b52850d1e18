//! Lazy ids, the permanent ids of objects. A lazy id identifies its object even in a different process. The first lazy reference to an
//! object creates the object's id. A saved world contains the ids, so that lazy references resolve again after loading. Ids are stored
//! outside object memory. A copy of an object therefore does not inherit the object's id.

use alcedo_abi::value::LazyRaw;
use alcedo_base::boundary::CallError;
use alcedo_base::cells::RefCell;
use alcedo_base::handles::ObjectHandle;
use rustc_hash::FxHashMap;

/// Lazy ids of a world. Game thread only.
#[derive(Debug, Default)]
pub struct LazyIds {
    table: RefCell<Table>,
}

/// Map between ids and objects. The destruction of an object does not change the map. A sweep later removes the entries with stale handles.
#[derive(Clone, Debug, Default)]
pub struct Table {
    objects: FxHashMap<LazyRaw, ObjectHandle>,
    ids: FxHashMap<ObjectHandle, LazyRaw>,
    /// Number of entries after the last sweep.
    kept: usize,
}

/// Minimum number of entries before a sweep runs.
const MIN_SWEPT: usize = 64;

impl LazyIds {
    /// Returns the id of the object. Returns `None` if the object has no id.
    #[inline]
    pub fn find(&self, object: ObjectHandle) -> Option<LazyRaw> {
        self.table.borrow().ids.get(&object).copied()
    }

    /// Returns the object with that id. The object may no longer exist.
    #[inline]
    pub fn object(&self, id: LazyRaw) -> Option<ObjectHandle> {
        self.table.borrow().objects.get(&id).copied()
    }

    /// Returns the id of the object. Generates an id for an object without one.
    ///
    /// # Errors
    /// Fails if the system provides no random numbers.
    pub(crate) fn id_of(&self, object: ObjectHandle) -> Result<LazyRaw, CallError> {
        if let Some(id) = self.find(object) {
            return Ok(id);
        }
        loop {
            let (high, low) = (random()?, random()?);
            let id = LazyRaw { high, low };
            if id != LazyRaw::NONE && self.object(id).is_none() {
                self.put(id, object);
                return Ok(id);
            }
        }
    }

    /// Assigns the id to the object. Removes earlier entries of the id and of the object.
    pub fn put(&self, id: LazyRaw, object: ObjectHandle) {
        let mut table = self.table.borrow_mut();
        if let Some(former) = table.objects.insert(id, object) {
            table.ids.remove(&former);
        }
        if let Some(former) = table.ids.insert(object, id).filter(|former| *former != id) {
            table.objects.remove(&former);
        }
    }

    /// If the table has doubled since the last sweep, removes the entries of destroyed objects. `is_alive` must return `true` for each
    /// object that a rollback may restore.
    pub(crate) fn sweep(&self, is_alive: impl Fn(ObjectHandle) -> bool) {
        let mut table = self.table.borrow_mut();
        let Table { objects, ids, kept } = &mut *table;
        if ids.len() < MIN_SWEPT.max(*kept * 2) {
            return;
        }
        ids.retain(|object, _| is_alive(*object));
        objects.retain(|_, object| is_alive(*object));
        *kept = ids.len();
    }

    /// Returns one line per id, sorted.
    pub fn lines(&self) -> Vec<String> {
        let table = self.table.borrow();
        let line = |(id, object): (&LazyRaw, &ObjectHandle)| format!("{:016x}{:016x} is {object}", id.high, id.low);
        let mut lines: Vec<_> = table.objects.iter().map(line).collect();
        lines.sort_unstable();
        lines
    }

    /// Returns a copy of all ids.
    #[inline]
    pub fn snapshot(&self) -> Table {
        self.table.borrow().clone()
    }

    /// Restores all ids from a snapshot.
    #[inline]
    pub fn restore(&self, table: Table) {
        *self.table.borrow_mut() = table;
    }
}

fn random() -> Result<u64, CallError> {
    getrandom::u64().map_err(|error| {
        CallError::other(format!(
            "an id for a lazy reference needs random numbers, and the system returned none: {error}"
        ))
    })
}

#[cfg(test)]
mod tests {
    use alcedo_abi::value::LazyRaw;
    use alcedo_base::handles::ObjectHandle;

    use super::LazyIds;

    const ONE: ObjectHandle = ObjectHandle::new(1, 1);
    const TWO: ObjectHandle = ObjectHandle::new(2, 1);

    #[test]
    fn an_object_has_one_id_and_no_two_have_the_same() {
        let ids = LazyIds::default();
        assert_eq!(ids.find(ONE), None);
        let (one, two) = (ids.id_of(ONE).unwrap(), ids.id_of(TWO).unwrap());
        assert_eq!(ids.id_of(ONE), Ok(one));
        assert_ne!(one, two);
        assert_eq!([one, two].map(|id| ids.object(id)), [Some(ONE), Some(TWO)]);
    }

    #[test]
    fn an_assigned_id_belongs_to_one_object_only() {
        let ids = LazyIds::default();
        let (id, other) = (LazyRaw { high: 1, low: 2 }, LazyRaw { high: 3, low: 4 });
        ids.put(id, ONE);
        ids.put(id, TWO);
        assert_eq!((ids.find(ONE), ids.find(TWO), ids.object(id)), (None, Some(id), Some(TWO)));
        ids.put(other, TWO);
        assert_eq!((ids.object(id), ids.object(other)), (None, Some(TWO)));
    }

    #[test]
    fn ids_are_swept_only_if_enough_objects_are_gone() {
        let ids = LazyIds::default();
        let ids_of_all: Vec<_> = (0..100).map(|index| ids.id_of(ObjectHandle::new(index, 1)).unwrap()).collect();
        ids.sweep(|object| object.index().is_multiple_of(2));
        let left: Vec<_> = ids_of_all.iter().filter_map(|id| ids.object(*id)).map(ObjectHandle::index).collect();
        assert_eq!(left, (0..100).step_by(2).collect::<Vec<_>>());
        ids.sweep(|_| false);
        assert_eq!(ids_of_all.iter().filter(|id| ids.object(**id).is_some()).count(), 50, "fifty are not worth a walk");
    }

    #[test]
    fn a_snapshot_brings_everything_back() {
        let ids = LazyIds::default();
        let id = ids.id_of(ONE).unwrap();
        let before = ids.snapshot();
        ids.put(id, TWO);
        ids.restore(before);
        assert_eq!((ids.object(id), ids.find(TWO)), (Some(ONE), None));
    }
}
