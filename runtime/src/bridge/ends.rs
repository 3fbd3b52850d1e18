//! Orders nested destructions. A hook that runs before the destruction of an object may destroy an owner of this object. The owner is then
//! destroyed after the hooks, so that every hook receives a live object.

use crate::cells::RefCell;
use crate::handles::ObjectHandle;

/// Destructions whose hooks run, and destructions that wait for these hooks.
#[derive(Default)]
pub(crate) struct Ends {
    /// Objects whose destruction was requested and whose hooks run, including the hooks of subobjects. The innermost object is last.
    running: RefCell<Vec<ObjectHandle>>,
    /// Owners whose hooks have run. Each entry has the position in `running` of the outermost object that the owner contains.
    waiting: RefCell<Vec<(usize, ObjectHandle)>>,
}

impl Ends {
    /// Records that the hooks of a destruction run. Returns the position for [`Ends::finish`].
    pub(super) fn begin(&self, object: ObjectHandle) -> usize {
        let mut running = self.running.borrow_mut();
        running.push(object);
        running.len() - 1
    }

    /// Returns the position of an object whose hooks run.
    pub(super) fn position(&self, object: ObjectHandle) -> Option<usize> {
        self.running.borrow().iter().position(|running| *running == object)
    }

    /// Records that the hooks of the destruction at `position` have run. `holder` is the position of the outermost object that `object`
    /// contains and whose hooks still run. If `holder` is set, `object` waits for these hooks. Returns the owners that have waited for the
    /// hooks at `position`. The caller must destroy these owners.
    pub(super) fn finish(&self, position: usize, object: ObjectHandle, holder: Option<usize>) -> Vec<ObjectHandle> {
        self.running.borrow_mut().truncate(position);
        let mut waiting = self.waiting.borrow_mut();
        waiting.extend(holder.map(|holder| (holder, object)));
        if waiting.is_empty() {
            return Vec::new();
        }
        let all = std::mem::take(&mut *waiting).into_iter();
        let (ready, others): (Vec<_>, Vec<_>) = all.partition(|(holder, _)| *holder >= position);
        *waiting = others;
        ready.into_iter().map(|(_, owner)| owner).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Ends;
    use crate::handles::ObjectHandle;

    #[test]
    fn an_owner_waits_for_the_outermost_object_that_it_contains() {
        let ends = Ends::default();
        let [outer, inner, owner] = [1, 2, 3].map(|index| ObjectHandle::new(index, 1));
        assert_eq!((ends.begin(outer), ends.begin(inner), ends.begin(owner)), (0, 1, 2));
        assert_eq!((ends.position(outer), ends.position(inner)), (Some(0), Some(1)));
        assert!(ends.finish(2, owner, Some(0)).is_empty());
        assert!(ends.finish(1, inner, None).is_empty());
        assert_eq!(ends.finish(0, outer, None), [owner]);
        assert_eq!(ends.position(outer), None);
    }
}
