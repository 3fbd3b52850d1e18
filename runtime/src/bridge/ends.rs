//! Orders nested destructions. A hook that runs before the destruction of an object may destroy an owner of this object. The owner is then
//! destroyed after the hooks, so that every hook receives a live object.

use crate::cells::RefCell;
use crate::handles::ObjectHandle;

/// Destructions whose hooks run, and destructions that wait for these hooks.
#[derive(Default)]
pub(crate) struct Ends {
    /// Objects whose destruction was requested and whose hooks run, including the hooks of subobjects. Hooks in a coroutine may end before
    /// hooks that began later.
    running: RefCell<Vec<ObjectHandle>>,
    /// Owners whose hooks have run. Each entry also has the objects for whose hooks the owner waits.
    waiting: RefCell<Vec<(ObjectHandle, Vec<ObjectHandle>)>>,
}

impl Ends {
    /// Records that the hooks of a destruction run. The caller must call [`Ends::finish`] after the hooks.
    pub(super) fn begin(&self, object: ObjectHandle) {
        self.running.borrow_mut().push(object);
    }

    /// Checks if the hooks of a destruction of the object run.
    pub(super) fn is_running(&self, object: ObjectHandle) -> bool {
        self.running.borrow().contains(&object)
    }

    /// Records that the hooks of the destruction of `object` have run. `holders` are the objects that `object` contains and whose hooks
    /// still run. `object` waits for the hooks of all holders. Returns the owners that have waited only for the hooks of `object`. The
    /// caller must destroy these owners.
    pub(super) fn finish(&self, object: ObjectHandle, holders: Vec<ObjectHandle>) -> Vec<ObjectHandle> {
        self.running.borrow_mut().retain(|running| *running != object);
        let mut waiting = self.waiting.borrow_mut();
        if !holders.is_empty() {
            waiting.push((object, holders));
        }
        let ready = waiting.extract_if(.., |(_, holders)| {
            holders.retain(|holder| *holder != object);
            holders.is_empty()
        });
        ready.map(|(owner, _)| owner).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Ends;
    use crate::handles::ObjectHandle;

    /// Records the hooks of two objects, and of an owner of both. The owner waits for the hooks of both objects.
    fn waiting() -> (Ends, [ObjectHandle; 3]) {
        let ends = Ends::default();
        let objects = [1, 2, 3].map(|index| ObjectHandle::new(index, 1));
        objects.into_iter().for_each(|object| ends.begin(object));
        let [outer, inner, owner] = objects;
        assert!(ends.finish(owner, vec![inner, outer]).is_empty());
        assert_eq!(objects.map(|object| ends.is_running(object)), [true, true, false]);
        (ends, objects)
    }

    #[test]
    fn an_owner_waits_for_the_outermost_object_that_it_contains() {
        let (ends, [outer, inner, owner]) = waiting();
        assert!(ends.finish(inner, Vec::new()).is_empty());
        assert_eq!(ends.finish(outer, Vec::new()), [owner]);
        assert!(!ends.is_running(outer));
    }

    #[test]
    fn an_owner_waits_for_hooks_that_began_later_than_hooks_that_have_ended() {
        let (ends, [in_coroutine, inner, owner]) = waiting();
        assert!(ends.finish(in_coroutine, Vec::new()).is_empty());
        assert!(ends.is_running(inner));
        assert_eq!(ends.finish(inner, Vec::new()), [owner]);
    }
}
