//! Garbage collection of objects: in one step, or incrementally within a time budget per tick.

use std::time::{Duration, Instant};

use super::Runtime;
use crate::boundary::CallError;
use crate::bridge::collection::Requested;
use crate::bridge::core::Core;
use crate::error::{A_COLLECTION, Error};
use crate::handles::ObjectHandle;
use crate::object::collect::{RootSource, Sweep, begin, mark, next_dead, unreachable};

/// Divisor for the minimum time that each sweep tick spends on destruction. Each sweep tick first repeats the last step of the mark. The
/// minimum time is the duration of this step, divided by `LEAST_SWEEP`. Without a minimum, this step could use up the whole budget of every
/// tick, and the sweep would never complete.
const LEAST_SWEEP: u32 = 4;

/// Result of a collection at a safe point.
///
/// # Examples
/// ```rust
/// use std::time::Duration;
///
/// use alcedo_runtime::{Budget, Collected, Runtime};
///
/// let runtime = Runtime::builder().build()?;
/// let level = runtime.objects().spawn("/Script/Core.Object")?;
/// runtime.objects().remove_root(level);
/// runtime.collection().begin_in_slices();
/// while !runtime.collection().take_done().iter().any(|Collected { objects, .. }| *objects == 1) {
///     runtime.tick(Budget::frame().with_collection(Duration::from_millis(2)));
/// }
/// assert!(!runtime.objects().is_alive(level));
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Collected {
    /// Number of destroyed objects. If a reload or a full collection interrupted an incremental collection, the number includes the objects
    /// destroyed before the interruption.
    pub objects: usize,
    /// Number of ticks in which objects were marked. Ticks that only destroyed objects are not counted. The number is 1 for a collection in
    /// one step.
    pub slices: u32,
}

/// Garbage collection of unreachable objects; see [`Runtime::collection`]. Game thread only.
///
/// ```
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// let runtime = alcedo_runtime::Runtime::builder().build()?;
/// assert_eq!(runtime.collection().collect()?, 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Collection<'a>(pub(super) &'a Runtime);

impl Collection<'_> {
    /// Destroys all unreachable objects, and returns their number. The roots are the root set and the values that plugin code owns. Also
    /// destroys an object that a listener for destroyed objects makes reachable. Aborts and restarts an incremental collection that is in
    /// progress.
    ///
    /// # Errors
    /// Returns an error if plugin code is on the stack. The next safe point then runs the collection. Returns an error if an
    /// `add_references` hook of a native class panics. Also returns an error while an object with this hook runs a `&mut self` method,
    /// unless the method has lent its `self`. After these errors, no object was destroyed.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let level = runtime.objects().spawn("/Script/Core.Object")?;
    /// // The level is a root, but no property refers to the tree.
    /// let tree = runtime.objects().spawn_in("/Script/Core.Object", level)?;
    /// assert_eq!(runtime.collection().collect()?, 1);
    /// assert!(!runtime.objects().is_alive(tree));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn collect(&self) -> Result<usize, Error> {
        self.0.collect().map_err(|error| match error {
            Error::Call(CallError::ReentrantBorrow { object, held, .. }) => CallError::other(format!(
                "nothing is collected: `{held}` of {} borrows the Rust fields, so their references are unknown; collect after \
                 `{held}` returns, or in `this.lend(self, …)`",
                self.0.inner.core.world.objects.display(object)
            ))
            .into(),
            error => error,
        })
    }

    /// Requests an incremental collection. From the next safe point on, each tick continues the mark within the [`Budget`](crate::Budget)
    /// of the tick. After the mark, each tick destroys unreachable objects within this budget, in order of creation. The world runs
    /// normally between these ticks, and code may find an unreachable object, for example by its name. If the code makes the object
    /// reachable again through a property or the root set, the collection keeps the object. A reload aborts the collection. The collection
    /// restarts after the reload. [`Collection::take_done`] returns the result of the collection.
    pub fn begin_in_slices(&self) {
        self.0.inner.core.collection.request(Requested::InSlices);
    }

    /// Returns `true` if an incremental collection is in its mark phase, or is destroying unreachable objects.
    pub fn is_in_progress(&self) -> bool {
        self.0.inner.core.world.objects.is_marking()
    }

    /// Removes and returns the results of the collections that safe points have completed, oldest first. The runtime stores the last 256
    /// results.
    pub fn take_done(&self) -> Vec<Collected> {
        self.0.inner.collected.take()
    }
}

impl Runtime {
    fn collect(&self) -> Result<usize, Error> {
        let core = &self.inner.core;
        let _busy = self.exclusively(A_COLLECTION).inspect_err(|_| core.collection.request(Requested::Whole))?;
        Ok(core.collect()?)
    }

    /// Runs a requested collection, and continues an incremental collection for at most `time`. A collection in one step has no time limit.
    pub(super) fn tend_collections(&self, time: Duration) {
        let core = &self.inner.core;
        let begun = Instant::now();
        if self.inner.slicing.get() && !core.world.objects.is_marking() {
            core.begin_collecting();
        }
        match core.collection.take() {
            Some(Requested::Whole) => match self.collect() {
                Ok(objects) => {
                    // Includes the objects that the interrupted incremental collection destroyed, because the interrupted collection does
                    // not restart and returns no result of its own.
                    let objects = objects + core.collection.swept.take();
                    self.note_collected(Collected { objects, slices: 1 });
                }
                Err(error @ Error::NotASafePoint { .. }) => {
                    log!(DEBUG, %error, "a collection waits for the next safe point");
                }
                Err(Error::Call(CallError::ReentrantBorrow { .. })) => core.collection.request(Requested::Whole),
                Err(error) => log!(ERROR, %error, "a collection was aborted"),
            },
            // Starts another collection after the current sweep, because this sweep keeps objects that became unreachable after the mark.
            Some(Requested::InSlices) if core.world.objects.is_sweeping() => {
                core.collection.request(Requested::InSlices);
            }
            Some(Requested::InSlices) => {
                self.inner.slicing.set(true);
                core.begin_collecting();
            }
            None => {}
        }
        if !core.world.objects.is_marking() {
            return;
        }
        let Ok(_busy) = self.at_safe_point(A_COLLECTION) else { return };
        match core.go_on_collecting(&mut || begun.elapsed() < time) {
            Ok(Some((objects, slices))) => self.note_collected(Collected { objects, slices }),
            Ok(None) => {}
            // The next tick tries to begin the collection again.
            Err(CallError::ReentrantBorrow { .. }) => {}
            Err(error) => {
                self.inner.slicing.set(false);
                core.collection.swept.set(0);
                log!(ERROR, %error, "an incremental collection was aborted");
            }
        }
    }

    fn note_collected(&self, collected: Collected) {
        self.inner.slicing.set(false);
        self.inner.collected.push(collected);
    }
}

impl Core {
    /// Destroys all unreachable objects, and returns their number. Must be called at a safe point. If an `add_references` hook fails,
    /// returns the error and destroys no object.
    fn collect(&self) -> Result<usize, CallError> {
        Ok(self.end_all(&unreachable(&self.world, self)?))
    }

    /// Begins an incremental collection, unless one is already in progress. Must be called at a safe point.
    fn begin_collecting(&self) {
        if !self.world.objects.is_marking() {
            self.collection.slices.set(0);
            begin(&self.world, self);
        }
    }

    /// Continues the incremental collection while `has_time` returns `true`. When the collection is complete, returns the number of
    /// destroyed objects, and the number of ticks in which objects were marked. Must be called at a safe point. If an `add_references` hook
    /// panics, aborts the collection and returns an error.
    fn go_on_collecting(&self, has_time: &mut dyn FnMut() -> bool) -> Result<Option<(usize, u32)>, CallError> {
        let (objects, collection) = (&self.world.objects, &self.collection);
        if !objects.is_marking() {
            return Ok(None);
        }
        let was_sweeping = objects.is_sweeping();
        if !was_sweeping {
            collection.slices.set(collection.slices.get() + 1);
        }
        let begun = Instant::now();
        if !mark(&self.world, self, has_time)? {
            return Ok(None);
        }
        let least = if was_sweeping { begun.elapsed() / LEAST_SWEEP } else { Duration::ZERO };
        let begun = Instant::now();
        if !self.sweep(&mut || has_time() || begun.elapsed() < least)? {
            return Ok(None);
        }
        objects.abandon_mark();
        Ok(Some((collection.swept.take(), collection.slices.get())))
    }

    /// Destroys unreachable objects in order of creation. Calls `has_time` after each object, and stops if the result is `false`. Returns
    /// `true` if the sweep is complete.
    fn sweep(&self, has_time: &mut dyn FnMut() -> bool) -> Result<bool, CallError> {
        let _batches = self.finalizer.batches();
        loop {
            match next_dead(&self.world, has_time)? {
                Sweep::Dead(object) => {
                    let deaths = &self.world.counters.deaths;
                    let before = deaths.get();
                    // Ignores the error for an object that was already destroyed, for example together with its outer.
                    let _gone = self.end_object(object);
                    // Counts the object and its subobjects. Does not count objects that other code has destroyed between two slices.
                    let ended = (deaths.get() - before) as usize;
                    self.collection.swept.update(|swept| swept + ended);
                    // Frees the memory here, so that this time also counts against the time limit.
                    self.world.objects.free_graveyard();
                    if !has_time() {
                        return Ok(false);
                    }
                }
                Sweep::More => return Ok(false),
                Sweep::Done => return Ok(true),
            }
        }
    }

    fn end_all(&self, dead: &[ObjectHandle]) -> usize {
        let _batches = self.finalizer.batches();
        for object in dead {
            // Ignores the error for a subobject that was already destroyed together with its outer.
            let _gone = self.end_object(*object);
        }
        self.world.objects.free_graveyard();
        dead.len()
    }
}

/// Reports the objects to which values owned by plugin code refer. These objects are roots of the collection.
impl RootSource for Core {
    fn each_object(&self, visit: &mut dyn FnMut(ObjectHandle)) {
        if self.collection.owned_values_are_roots.get() {
            self.owned_values.each_object(visit);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::time::Instant;

    use alcedo_abi::handles::TypeNumber;

    use crate::bridge::core::Core;
    use crate::conjugate::gate::{Gate, ModuleTag};
    use crate::handles::{Generation, ModuleId, ObjectHandle};
    use crate::lease::Leases;
    use crate::object::decl::{Batch, ClassDecl};
    use crate::object::nested::ElementType;
    use crate::object::origin::Origin;
    use crate::object::owned::OwnedValue;
    use crate::object::property::PropertyType;
    use crate::object::value::Value;

    /// Collects while only an array that a module owns refers to an object. Checks that the object survives if `owned_values_are_roots` is
    /// `true`, and is destroyed otherwise.
    fn check(owned_values_are_roots: bool) {
        let core = Core::new().expect("a finalizer thread");
        core.collection.owned_values_are_roots.set(owned_values_are_roots);
        core.world.types.declare_package("Engine");
        let decl = ClassDecl::new("Engine", "Object", "", Origin::Native);
        let batch = Batch { classes: vec![decl], ..Batch::default() };
        let class = core.world.types.declare(&core.world.names, &batch).expect("a right declaration").classes.remove(0);
        let object = core.world.objects.allocate(&class, None, ObjectHandle::NONE, 0);
        let gate = Gate::new(ModuleTag { id: ModuleId(1), name: "m".into(), generation: Generation(1) });
        core.owned_values.admit(&gate, Leases::new("m"));
        let reference = PropertyType::Object { class: "/Script/Engine.Object".into() };
        let mut list = OwnedValue::zero(PropertyType::Array(Rc::new(ElementType::new(reference))));
        list.write(&Value::Array(vec![Value::Object(object)])).expect("an array of references");
        core.owned_values.make(ModuleId(1), TypeNumber(1), list, None, Instant::now()).expect("an open gate");
        assert_eq!(core.collect(), Ok(usize::from(!owned_values_are_roots)));
        assert_eq!(core.world.objects.is_alive(object), owned_values_are_roots);
        // The next incremental collection destroys no object.
        core.begin_collecting();
        let ended = core.go_on_collecting(&mut || true);
        assert_eq!(ended, Ok(Some((0, 1))));
    }

    #[test]
    fn values_owned_by_plugins_keep_their_objects() {
        check(true);
    }

    #[test]
    fn the_host_may_ignore_owned_values_and_their_handles_become_stale() {
        check(false);
    }
}
