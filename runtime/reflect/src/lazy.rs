//! Ids that name objects for ever, in this process and in others. An object has none until code points a
//! lazy reference at it; a saved world carries them, so that the reference finds its object again. A copy of an object
//! is another object: the ids lie here and not in its memory, so nothing copies them.

use alcedo_abi::value::LazyRaw;
use alcedo_base::border::CallError;
use alcedo_base::cells::RefCell;
use alcedo_base::handles::ObjectHandle;
use rustc_hash::FxHashMap;

/// The ids of a world. Game thread only.
#[derive(Debug, Default)]
pub struct LazyIds {
    table: RefCell<Table>,
}

/// Which object has which id. Ends of objects are not reported here: an entry of one that is gone leads to a stale
/// handle, and goes when there are so many that it is worth a walk.
#[derive(Clone, Debug, Default)]
pub struct Table {
    objects: FxHashMap<LazyRaw, ObjectHandle>,
    ids: FxHashMap<ObjectHandle, LazyRaw>,
    /// How many entries the last walk left.
    kept: usize,
}

/// Below so many entries no walk is worth it.
const FEW: usize = 64;

impl LazyIds {
    /// The object's id, where it has one.
    #[inline]
    pub fn find(&self, object: ObjectHandle) -> Option<LazyRaw> {
        self.table.borrow().ids.get(&object).copied()
    }

    /// The object of that id, which may be gone.
    #[inline]
    pub fn object(&self, id: LazyRaw) -> Option<ObjectHandle> {
        self.table.borrow().objects.get(&id).copied()
    }

    /// The object's id: the one it has, or a new one.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub(crate) fn give(&self, object: ObjectHandle) -> Result<LazyRaw, CallError> {
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

    /// From now on the id is this object's, and no other's.
    pub fn put(&self, id: LazyRaw, object: ObjectHandle) {
        let mut table = self.table.borrow_mut();
        if let Some(former) = table.objects.insert(id, object) {
            table.ids.remove(&former);
        }
        if let Some(former) = table.ids.insert(object, id).filter(|former| *former != id) {
            table.objects.remove(&former);
        }
    }

    /// Forgets objects that are gone, if it is worth it. Not while a rollback could bring them back.
    pub(crate) fn sweep(&self, is_alive: impl Fn(ObjectHandle) -> bool) {
        let mut table = self.table.borrow_mut();
        let Table { objects, ids, kept } = &mut *table;
        if ids.len() < FEW.max(*kept * 2) {
            return;
        }
        ids.retain(|object, _| is_alive(*object));
        objects.retain(|_, object| is_alive(*object));
        *kept = ids.len();
    }

    /// A line for each id, in order.
    pub fn lines(&self) -> Vec<String> {
        let table = self.table.borrow();
        let line = |(id, object): (&LazyRaw, &ObjectHandle)| format!("{:016x}{:016x} is {object}", id.high, id.low);
        let mut lines: Vec<_> = table.objects.iter().map(line).collect();
        lines.sort_unstable();
        lines
    }

    /// All ids as they are now.
    #[inline]
    pub fn snapshot(&self) -> Table {
        self.table.borrow().clone()
    }

    /// All ids as they were.
    #[inline]
    pub fn restore(&self, table: Table) {
        *self.table.borrow_mut() = table;
    }
}

fn random() -> Result<u64, CallError> {
    getrandom::u64().map_err(|error| {
        CallError::other(format!("an id for a lazy reference needs random numbers, and the system gave none: {error}"))
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
        let (one, two) = (ids.give(ONE).unwrap(), ids.give(TWO).unwrap());
        assert_eq!(ids.give(ONE), Ok(one));
        assert_ne!(one, two);
        assert_eq!([one, two].map(|id| ids.object(id)), [Some(ONE), Some(TWO)]);
    }

    #[test]
    fn an_id_that_is_put_is_no_other_objects_any_more() {
        let ids = LazyIds::default();
        let (id, other) = (LazyRaw { high: 1, low: 2 }, LazyRaw { high: 3, low: 4 });
        ids.put(id, ONE);
        ids.put(id, TWO);
        assert_eq!((ids.find(ONE), ids.find(TWO), ids.object(id)), (None, Some(id), Some(TWO)));
        ids.put(other, TWO);
        assert_eq!((ids.object(id), ids.object(other)), (None, Some(TWO)));
    }

    #[test]
    fn what_is_gone_is_forgotten_when_it_is_worth_it() {
        let ids = LazyIds::default();
        let given: Vec<_> = (0..100).map(|index| ids.give(ObjectHandle::new(index, 1)).unwrap()).collect();
        ids.sweep(|object| object.index().is_multiple_of(2));
        let left: Vec<_> = given.iter().filter_map(|id| ids.object(*id)).map(ObjectHandle::index).collect();
        assert_eq!(left, (0..100).step_by(2).collect::<Vec<_>>());
        ids.sweep(|_| false);
        assert_eq!(given.iter().filter(|id| ids.object(**id).is_some()).count(), 50, "fifty are not worth a walk");
    }

    #[test]
    fn a_snapshot_brings_everything_back() {
        let ids = LazyIds::default();
        let id = ids.give(ONE).unwrap();
        let before = ids.snapshot();
        ids.put(id, TWO);
        ids.restore(before);
        assert_eq!((ids.object(id), ids.find(TWO)), (Some(ONE), None));
    }
}
