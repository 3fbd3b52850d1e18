//! Orders nested destructions. A hook that runs before the destruction of an object may destroy an owner of this object. The owner is then
//! destroyed after the hooks, so that every hook receives a live object.

use crate::cells::RefCell;
use crate::handles::ObjectHandle;

/// Destructions whose hooks run, and destructions that wait for these hooks.
#[derive(Default)]
pub(crate) struct Ends {
    /// Objects whose destruction was requested and whose hooks run, including the hooks of subobjects. The object whose hooks began last is
    /// last. Hooks in a coroutine may end before hooks that began later.
    running: RefCell<Vec<ObjectHandle>>,
    /// Owners whose hooks have run. Each entry first has the object for whose hooks the owner waits.
    waiting: RefCell<Vec<(ObjectHandle, ObjectHandle)>>,
}

impl Ends {
    /// Records that the hooks of a destruction run. The caller must call [`Ends::finish`] after the hooks.
    pub(super) fn begin(&self, object: ObjectHandle) {
        self.running.borrow_mut().push(object);
    }

    /// Returns the object whose hooks began first, of `holder` and `part`. Returns `None` if the hooks of neither object run.
    pub(super) fn outermost(&self, holder: Option<ObjectHandle>, part: ObjectHandle) -> Option<ObjectHandle> {
        let running = self.running.borrow();
        running.iter().copied().find(|running| *running == part || Some(*running) == holder)
    }

    /// Records that the hooks of the destruction of `object` have run. `holder` is the outermost object that `object` contains and whose
    /// hooks still run. If `holder` is set, `object` waits for these hooks. Returns the owners that have waited for the hooks of `object`.
    /// The caller must destroy these owners.
    pub(super) fn finish(&self, object: ObjectHandle, holder: Option<ObjectHandle>) -> Vec<ObjectHandle> {
        self.running.borrow_mut().retain(|running| *running != object);
        let mut waiting = self.waiting.borrow_mut();
        waiting.extend(holder.map(|holder| (holder, object)));
        if waiting.is_empty() {
            return Vec::new();
        }
        let all = std::mem::take(&mut *waiting).into_iter();
        let (ready, others): (Vec<_>, Vec<_>) = all.partition(|(holder, _)| *holder == object);
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
        [outer, inner, owner].into_iter().for_each(|object| ends.begin(object));
        let holder = [inner, outer].into_iter().fold(None, |holder, part| ends.outermost(holder, part));
        assert_eq!(holder, Some(outer));
        assert!(ends.finish(owner, holder).is_empty());
        assert!(ends.finish(inner, None).is_empty());
        assert_eq!(ends.finish(outer, None), [owner]);
        assert_eq!(ends.outermost(None, outer), None);
    }

    #[test]
    fn an_owner_waits_for_hooks_that_began_later_than_hooks_that_have_ended() {
        let ends = Ends::default();
        let [in_coroutine, inner, owner] = [1, 2, 3].map(|index| ObjectHandle::new(index, 1));
        [in_coroutine, inner].into_iter().for_each(|object| ends.begin(object));
        assert!(ends.finish(in_coroutine, None).is_empty());
        ends.begin(owner);
        let holder = ends.outermost(None, inner);
        assert_eq!(holder, Some(inner));
        assert!(ends.finish(owner, holder).is_empty());
        assert_eq!(ends.finish(inner, None), [owner]);
    }
}
