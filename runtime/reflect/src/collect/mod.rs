//! Garbage collector. Finds unreachable objects, in one step or incrementally. An incremental collection runs in slices. Host and plugin
//! code runs between slices. The caller destroys the unreachable objects.
//!
//! An incremental mark finds every reachable object, because it tracks every change. Plugins notify the host before each write. After the
//! host or a plugin writes to an object, the mark scans the object again. The mark also scans new objects and new roots. The final slice
//! runs without interruption, calls the hooks of native objects again, and marks the objects that code outside the store holds. An
//! object that becomes unreachable during a mark may survive until the next mark.
//!
//! The sweep of an incremental collection continues the mark. Between slices, code can find an unreachable object by name, in a list or by
//! a weak handle. This code can make the object reachable again. Changes are therefore tracked until the end of the sweep. Each slice of
//! the sweep first completes the mark. The sweep returns only objects that are still unmarked.

#[cfg(test)]
#[path = "tests/random.rs"]
mod random;

use alcedo_abi::host::mode;
use alcedo_base::boundary::{CallError, catch_panics};
use alcedo_base::handles::ObjectHandle;

use crate::World;
use crate::marker::{MarkClass, Marker};
use crate::objects::Objects;

pub use crate::marker::{RootSource, Sweep};

/// Returns the unreachable objects in order of creation. The roots are the root set, the CDOs of all classes, the objects that running
/// calls of the host hold, and the objects that `others` reports. An object keeps alive all objects to which its properties refer,
/// including references inside structs and containers. An object also keeps its subobjects and its outer alive. An outer does not keep
/// alive the objects inside it that are not its subobjects. Aborts an incremental mark in progress. Runs no host code except
/// `add_references` hooks. Call at safe points only.
///
/// # Errors
/// Fails if an `add_references` hook panics or returns an error. A hook returns [`CallError::ReentrantBorrow`] while a method borrows the
/// Rust fields of the object exclusively.
pub fn unreachable(world: &World, others: &dyn RootSource) -> Result<Vec<ObjectHandle>, CallError> {
    world.objects.abandon_mark();
    begin(world, others);
    let is_complete = mark(world, others, &mut || true)?;
    assert!(is_complete, "a mark without a time limit is complete");
    Ok(end_mark(world))
}

/// Starts an incremental mark if the mode is normal and no mark is in progress. After the start, each write to an object is reported to the
/// mark before the write happens. Call at safe points only.
pub fn begin(world: &World, others: &dyn RootSource) {
    if world.objects.is_marking() || world.mode.get() != mode::NORMAL {
        return;
    }
    let mut marker = Marker::new(&world.types.all_classes());
    shade_roots(world, others, &mut marker);
    *world.objects.marker.borrow_mut() = Some(marker);
    world.mode.set(mode::MARKING);
}

/// Continues the mark until the mark is complete or `has_time` returns `false`. The mark polls `has_time`, and ignores the result after
/// many scans. Returns `true` if the mark is complete. A complete mark remains in progress for [`next_dead`] or [`end_mark`]. A later call
/// of `mark` completes the mark again after changes. Call at safe points only.
///
/// # Errors
/// Returns the errors of [`unreachable()`]. An error aborts the mark.
pub fn mark(world: &World, others: &dyn RootSource, has_time: &mut dyn FnMut() -> bool) -> Result<bool, CallError> {
    finish(world, others, has_time).inspect_err(|_| world.objects.abandon_mark())
}

fn finish(world: &World, others: &dyn RootSource, has_time: &mut dyn FnMut() -> bool) -> Result<bool, CallError> {
    if !run(world, has_time)? {
        return Ok(false);
    }
    // The mark tracks neither new roots of `others` nor changes to the references that native objects report, so both are read again. Hooks
    // of native objects can add roots, so the roots are read in a loop.
    world.objects.with_marker(|marker| marker.requeue_natives());
    while world.objects.with_marker(|marker| shade_roots(world, others, marker)) == Some(true) {
        run(world, &mut || true)?;
    }
    Ok(true)
}

/// Ends a mark that [`mark`] has completed. Returns all unreachable objects in order of creation. Returns an empty list if no mark is in
/// progress.
pub fn end_mark(world: &World) -> Vec<ObjectHandle> {
    let dead = world.objects.with_marker(|marker| marker.unmarked(&world.objects.store.borrow().slots));
    world.objects.abandon_mark();
    dead.unwrap_or_default()
}

/// Returns the next object to destroy, in order of creation. First marks the objects that became reachable since the last step. Code that
/// runs during the destruction of an object can make a different object reachable, by a property or the root set. Call only after [`mark`]
/// has returned `true` in the same slice.
///
/// # Errors
/// Returns the errors of [`unreachable()`]. An error aborts the mark.
pub fn next_dead(world: &World, has_time: &mut dyn FnMut() -> bool) -> Result<Sweep, CallError> {
    let has_queued = world.objects.with_marker(|marker| marker.has_queued()) == Some(true);
    if has_queued && !run(world, has_time).inspect_err(|_| world.objects.abandon_mark())? {
        return Ok(Sweep::More);
    }
    let store = world.objects.store.borrow();
    let next = world.objects.with_marker(|marker| marker.next_dead(&store.slots, has_time));
    Ok(next.unwrap_or(Sweep::More))
}

/// Marks all roots that are not in the root set: the CDOs of all classes, the objects that running calls hold, and the objects that
/// `others` reports. Returns `true` if any object is queued for a scan.
fn shade_roots(world: &World, others: &dyn RootSource, marker: &mut Marker) -> bool {
    let store = world.objects.store.borrow();
    marker.shade_roots(&store.slots, |visit| {
        world.types.all_classes().iter().for_each(|class| visit(class.cdo.get()));
        world.stack.each_object(visit);
        others.each_object(visit);
    })
}

/// Continues the mark until all queues are empty or `has_time` returns `false`. The queues contain objects to scan, and native objects
/// whose hooks are pending. Returns `true` if all queues are empty.
///
/// The hook of a native object is arbitrary host code. Hooks run under the same conditions as code between two slices: no store is
/// borrowed, and the mark tracks all writes, new objects and new roots. If a hook writes to an object, the object is scanned again, but the
/// object's own hooks are not called a second time.
///
/// # Errors
/// Fails if a hook panics or returns an error, because the references of the hook's object are then unknown. Also fails if hooks create too
/// many objects.
fn run(world: &World, has_time: &mut dyn FnMut() -> bool) -> Result<bool, CallError> {
    loop {
        let pending = {
            let store = world.objects.store.borrow();
            let run = world
                .objects
                .with_marker(|marker| marker.run(&store.slots, &store.roots, has_time).then(|| marker.next_hooks()));
            // A hook cannot end the mark, because the end of a mark requires a safe point.
            let Some(Some(pending)) = run else { return Ok(run.is_none()) };
            pending
        };
        if pending.is_empty() {
            return Ok(true);
        }
        for (class, object) in pending.iter().filter(|(_, object)| world.objects.is_alive(*object)) {
            world.objects.with_marker(Marker::begin_hooks);
            let found = call_hooks(world, class, *object)?;
            if world.objects.with_marker(|marker| marker.end_hooks(*object, found)) == Some(true) {
                let why =
                    "creates objects without an end, so nothing is collected: let it read the world and change nothing";
                return Err(CallError::other(format!("add_references of {} {why}", class.path)));
            }
        }
        if !has_time() {
            return Ok(false);
        }
    }
}

/// Calls the hooks of the class and its bases for an object. Returns the references that the hooks report.
fn call_hooks(world: &World, class: &MarkClass, object: ObjectHandle) -> Result<Vec<ObjectHandle>, CallError> {
    let mut found = Vec::new();
    let called = catch_panics(|| {
        class.hooks.iter().try_for_each(|hook| hook(world.context(), object, &mut |object| found.push(object)))
    });
    called.map_err(|error| {
        if matches!(error, CallError::ReentrantBorrow { .. }) {
            return error;
        }
        let why = "so nothing is collected, because its references are unknown";
        let object = world.objects.display(object);
        CallError::other(format!("add_references of {} failed on {object}, {why}: {error}", class.path))
    })?;
    Ok(found)
}

impl Objects {
    /// Checks if an incremental mark, or the sweep after the mark, is in progress.
    pub fn is_marking(&self) -> bool {
        self.marker.borrow().is_some()
    }

    /// Checks if the sweep after an incremental mark is in progress.
    pub fn is_sweeping(&self) -> bool {
        self.marker.borrow().as_ref().is_some_and(Marker::is_sweeping)
    }

    /// Aborts the mark or sweep in progress, if any. Called before an operation that the mark cannot track, and after the last step of the
    /// sweep. Unreachable objects that the sweep has not returned remain until the next collection.
    pub fn abandon_mark(&self) {
        if self.marker.take().is_some() && self.mode.get() == mode::MARKING {
            self.mode.set(mode::NORMAL);
        }
    }

    pub(crate) fn with_marker<T>(&self, inspect: impl FnOnce(&mut Marker) -> T) -> Option<T> {
        self.marker.borrow_mut().as_mut().map(inspect)
    }
}

#[cfg(test)]
mod tests {
    use alcedo_abi::kinds::PropertyKind;
    use alcedo_base::handles::ObjectHandle;

    use super::unreachable;
    use crate::World;
    use crate::decl::{Batch, ClassDecl, PropertyDecl, StructDecl};
    use crate::origin::Origin;
    use crate::testing::{declare, dynamic, native, references_hook, world};
    use crate::value::Value;

    const OBJECT: &str = "/Script/Engine.Object";

    /// Creates a world with the objects 0 to 5 (0 is the CDO) and the references `edges`. Each reference has the form `from property to`.
    fn check(edges: &[(usize, &str, usize)], roots: &[usize], extra: &[usize], expected: &[usize]) {
        let world = world();
        let link = StructDecl {
            fields: vec![PropertyDecl::new("to", PropertyKind::OBJECT).of_type(OBJECT)],
            ..StructDecl::new("Game", "Link", Origin::Dynamic)
        };
        let node = dynamic(
            "Node",
            OBJECT,
            &[
                PropertyDecl::new("next", PropertyKind::OBJECT).of_type(OBJECT),
                PropertyDecl::new("link", PropertyKind::STRUCT).of_type("/Script/Game.Link"),
            ],
        );
        world.types.declare(&world.names, &Batch { structs: vec![link], ..Batch::default() }).unwrap();
        let class = declare(&world, [node]).remove(0);
        let outers = edges.iter().filter(|(_, how, _)| *how == "outer");
        let outers: Vec<_> = outers.map(|(from, _, to)| (*from, *to)).collect();
        let mut objects: Vec<ObjectHandle> = Vec::new();
        for index in 0..6 {
            let outer =
                outers.iter().find(|(from, _)| *from == index).map_or(ObjectHandle::NONE, |(_, to)| objects[*to]);
            objects.push(world.objects.allocate(&class, None, outer, 0));
        }
        class.cdo.set(objects[0]);
        edges.iter().for_each(|(from, how, to)| connect(&world, objects[*from], how, objects[*to]));
        roots.iter().for_each(|root| assert!(world.objects.add_root(objects[*root])));
        let extra: Vec<_> = extra.iter().map(|index| objects[*index]).collect();
        let expected: Vec<_> = expected.iter().map(|index| objects[*index]).collect();
        let others = |visit: &mut dyn FnMut(ObjectHandle)| extra.iter().copied().for_each(visit);
        assert_eq!(unreachable(&world, &others), Ok(expected));
    }

    fn connect(world: &World, from: ObjectHandle, how: &str, to: ObjectHandle) {
        match how {
            "next" => world.objects.write_value(from, "next", &Value::Object(to)).unwrap(),
            "link" => {
                let link = Value::Struct(vec![("to".into(), Value::Object(to))]);
                world.objects.write_value(from, "link", &link).unwrap();
            }
            "subobject" => world.objects.adopt(from, &"part".into(), to),
            _ => {}
        }
    }

    #[test]
    fn only_the_cdo_is_kept_without_references() {
        check(&[], &[], &[], &[1, 2, 3, 4, 5]);
    }

    #[test]
    fn references_hold_through_properties_structs_and_subobjects() {
        check(&[(1, "next", 2), (2, "link", 3), (3, "subobject", 4)], &[1], &[], &[5]);
        check(&[(0, "next", 5)], &[], &[], &[1, 2, 3, 4]);
        check(&[(5, "link", 1)], &[], &[5], &[2, 3, 4]);
    }

    #[test]
    fn an_object_holds_its_outer_and_not_vice_versa() {
        check(&[(2, "outer", 1)], &[2], &[], &[3, 4, 5]);
        check(&[(2, "outer", 1)], &[1], &[], &[2, 3, 4, 5]);
    }

    #[test]
    fn an_unreferenced_cycle_is_collected() {
        check(&[(1, "next", 2), (2, "next", 1)], &[3], &[], &[1, 2, 4, 5]);
    }

    /// Reports a reference to the first object of the world.
    fn to_the_first(_world: &World, _object: ObjectHandle, visit: &mut dyn FnMut(ObjectHandle)) {
        visit(ObjectHandle::new(0, 1));
    }

    #[test]
    fn native_hooks_report_additional_references() {
        let world = world();
        let holder = ClassDecl { add_references: Some(references_hook(to_the_first)), ..native("Holder", OBJECT, &[]) };
        let classes =
            declare(&world, [holder, dynamic("Heir", "/Script/Engine.Holder", &[]), dynamic("Node", OBJECT, &[])]);
        let new = |class| world.objects.allocate(class, None, ObjectHandle::NONE, 0);
        let (first, second, heir) = (new(&classes[2]), new(&classes[2]), new(&classes[1]));
        assert_eq!(unreachable(&world, &no_roots), Ok([first, second, heir].to_vec()));
        world.objects.add_root(heir);
        assert_eq!(unreachable(&world, &no_roots), Ok(vec![second]), "a derived class refers to what its base does");
    }

    fn create(world: &World, object: ObjectHandle, _visit: &mut dyn FnMut(ObjectHandle)) {
        let class = world.objects.class(object).expect("it is alive");
        world.objects.allocate(&class, None, ObjectHandle::NONE, 0);
    }

    /// Renames the object. The mark must track this change.
    fn rename(world: &World, object: ObjectHandle, _visit: &mut dyn FnMut(ObjectHandle)) {
        world.counters.constructions.bump();
        world.objects.rename(object, "again", ObjectHandle::NONE).expect("the name is unused");
    }

    #[test]
    fn hooks_run_once_per_mark_phase_and_cannot_create_objects_endlessly() {
        let world = world();
        let class = |name, hook| ClassDecl { add_references: Some(references_hook(hook)), ..native(name, OBJECT, &[]) };
        let classes = declare(&world, [class("Renamer", rename), class("Creator", create)]);
        let renamer = world.objects.allocate(&classes[0], None, ObjectHandle::NONE, 0);
        world.objects.add_root(renamer);
        assert_eq!(unreachable(&world, &no_roots), Ok(vec![]));
        assert_eq!(world.counters.constructions.get(), 2);
        let creator = world.objects.allocate(&classes[1], None, ObjectHandle::NONE, 0);
        world.objects.add_root(creator);
        let refused = unreachable(&world, &no_roots).expect_err("it has no end").to_string();
        assert!(refused.starts_with("add_references of /Script/Engine.Creator creates objects"), "{refused}");
        assert!(!world.objects.is_marking());
    }

    #[test]
    fn arguments_of_a_host_call_are_kept_alive() {
        let world = world();
        let class = declare(&world, [dynamic("Node", OBJECT, &[])]).remove(0);
        let object = world.objects.allocate(&class, None, ObjectHandle::NONE, 0);
        {
            let _call = world.stack.hold([object]);
            assert_eq!(unreachable(&world, &no_roots), Ok(vec![]));
        }
        assert_eq!(unreachable(&world, &no_roots), Ok([object].to_vec()));
    }

    fn no_roots(_visit: &mut dyn FnMut(ObjectHandle)) {}
}
