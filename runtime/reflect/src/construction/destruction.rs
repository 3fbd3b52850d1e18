//! Destruction of objects: defines the order of the steps, and runs the hooks of native classes that an object leaves.

use std::rc::Rc;

use alcedo_base::boundary::catch_panics_as;
use alcedo_base::handles::ObjectHandle;
use alcedo_base::log;
use smallvec::{SmallVec, smallvec};

use super::{ConstructionHooks, StepError};
use crate::World;
use crate::class::Class;

/// Destroys an object. First runs `begin_destroy` of the object's native classes. Then destroys the subobjects of the object in reverse
/// order of creation. Finally destroys the conjugate of the object and makes its handle stale. Has no effect if the destruction of the
/// object is already in progress. The memory of the object remains allocated until the graveyard is freed. Game thread only.
pub fn destroy(world: &World, hooks: &dyn ConstructionHooks, object: ObjectHandle) {
    // The loop replaces recursion, because the nesting depth of subobjects has no limit.
    enum Step {
        Begin(ObjectHandle),
        End(ObjectHandle, Option<Rc<Class>>),
    }
    // Most objects have no subobjects, and need no allocation.
    let mut steps: SmallVec<[Step; 1]> = smallvec![Step::Begin(object)];
    while let Some(step) = steps.pop() {
        match step {
            Step::Begin(object) if world.objects.begin_end(object) => {
                if let Some(left) = world.objects.take_left(object) {
                    leave(world, object, &left);
                }
                let class = world.objects.class(object);
                notify_end(world, object, class.iter().flat_map(|class| class.lineage().rev()));
                steps.push(Step::End(object, class));
                // The last step is popped first. The subobject that was created last is therefore destroyed first.
                steps.extend(world.objects.children(object).into_iter().map(Step::Begin));
            }
            Step::Begin(_) => {}
            Step::End(object, class) => end(world, hooks, object, class),
        }
    }
}

/// Maximum number of objects for which a step of [`destroy_plain`] runs at once. The slots of these objects stay in the processor cache.
const RUN: usize = 256;

/// Variant of [`destroy`] for objects whose destruction runs no hook and includes no other object. Stops before the first object that
/// requires [`destroy`]. Returns the number of destroyed objects. Frees the memory of these objects while it is in the processor cache, and
/// must therefore be called at a safe point. Game thread only.
pub fn destroy_plain(world: &World, hooks: &dyn ConstructionHooks, objects: &[ObjectHandle]) -> usize {
    let mut done = 0;
    loop {
        let rest = &objects[done..];
        let run = &rest[..world.objects.begin_plain_ends(&rest[..rest.len().min(RUN)])];
        if run.is_empty() {
            return done;
        }
        end_conjugates(world, hooks, run);
        world.objects.release_all(run);
        world.counters.deaths.add(run.len() as u64);
        done += run.len();
    }
}

/// Destroys the conjugates of objects. If this step panics for an object, logs the panic and continues with the next object.
fn end_conjugates(world: &World, hooks: &dyn ConstructionHooks, objects: &[ObjectHandle]) {
    let mut rest = objects.iter();
    while let Err(error) = catch_panics_as(|| {
        for object in rest.by_ref() {
            hooks.end_conjugate(*object);
        }
        Ok::<_, StepError>(())
    }) {
        let object = world.objects.display(objects[objects.len() - rest.len() - 1]);
        log!(ERROR, %object, message = error.into_facts().message, "ending a conjugate panicked; the object is destroyed anyway");
    }
}

/// Destroys the conjugate of an object, then releases the object.
fn end(world: &World, hooks: &dyn ConstructionHooks, object: ObjectHandle, class: Option<Rc<Class>>) {
    end_conjugates(world, hooks, &[object]);
    if let Some(class) = class.filter(|class| class.cdo.get() == object) {
        class.cdo.set(ObjectHandle::NONE);
    }
    world.objects.release(object);
    world.counters.deaths.bump();
}

/// For each object that a reload has moved to another native class, runs `begin_destroy` of the native classes that the object has left. If
/// one of these hooks destroys another of these objects, the destruction runs the remaining hooks of that object. Called immediately after
/// the commit, or in a rollback. Game thread only.
pub fn leave_classes(world: &World) {
    while let Some((object, left)) = world.objects.next_left() {
        leave(world, object, &left);
    }
}

/// Runs `begin_destroy` of the native classes that an object has left.
fn leave(world: &World, object: ObjectHandle, left: &Rc<Class>) {
    let Some(class) = world.objects.class(object) else { return };
    notify_end(world, object, left.lineage().rev().filter(|left| !class.is_a(left)));
}

/// Runs `begin_destroy` of native classes for an object. `classes` are ordered from derived to base.
fn notify_end<'c>(world: &World, object: ObjectHandle, classes: impl Iterator<Item = &'c Rc<Class>>) {
    for class in classes {
        let Some(hook) = &class.begin_destroy else { continue };
        let _running = world.stack.enter_hook("begin_destroy", object);
        if let Err(error) = catch_panics_as(|| {
            hook(world.context(), object);
            Ok::<_, StepError>(())
        }) {
            let class = class.short_path();
            let message = error.into_facts().message;
            let object = world.objects.display(object);
            log!(ERROR, %object, class, message, "`begin_destroy` panicked; the object is destroyed anyway");
        }
    }
}
