//! Compares marks and sweeps of a changing world with a model. The model traverses the whole world in one step.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;
use alcedo_base::handles::ObjectHandle;

use super::{Sweep, begin, end_mark, mark, next_dead, unreachable};
use crate::World;
use crate::class::Class;
use crate::decl::{Batch, PropertyDecl, StructDecl};
use crate::origin::Origin;
use crate::testing::{Dice, declare, dynamic, world};
use crate::value::Value;

const ROUNDS: usize = 200;

/// Number of rounds with a sweep. A round with a sweep has more comparisons than a round without a sweep.
const SWEEPS: usize = 40;

struct Test {
    world: World,
    class: Rc<Class>,
    dice: Dice,
    /// All handles of this round, including stale handles.
    known: Vec<ObjectHandle>,
    /// Objects that plugin code holds, as reported to the collector.
    held: Vec<ObjectHandle>,
}

fn node() -> Vec<PropertyDecl> {
    let object = |name| PropertyDecl::new(name, PropertyKind::OBJECT).of_type("/Script/Engine.Object");
    let link = PropertyDecl::new("link", PropertyKind::STRUCT).of_type("/Script/Game.Link");
    vec![object("one"), PropertyDecl::new("label", PropertyKind::STRING), object("two"), link]
}

impl Test {
    fn new() -> Self {
        let world = world();
        let link = StructDecl {
            fields: vec![PropertyDecl::new("to", PropertyKind::OBJECT).of_type("/Script/Engine.Object")],
            ..StructDecl::new("Game", "Link", Origin::Dynamic)
        };
        world.types.declare(&world.names, &Batch { structs: vec![link], ..Batch::default() }).unwrap();
        let class = declare(&world, [dynamic("Node", "/Script/Engine.Object", &node())]).remove(0);
        Self { world, class, dice: Dice(0xa1ced0), known: Vec::new(), held: Vec::new() }
    }

    fn any(&mut self) -> ObjectHandle {
        if self.known.is_empty() || self.dice.roll(12) == 0 {
            return ObjectHandle::NONE;
        }
        self.known[self.dice.roll(self.known.len())]
    }

    /// Performs one random change that host or plugin code may make between two slices.
    fn change(&mut self) {
        let objects = &self.world.objects;
        match self.dice.roll(16) {
            0 | 1 => {
                let outer = if self.dice.roll(4) == 0 { self.any() } else { ObjectHandle::NONE };
                let outer = if self.world.objects.is_alive(outer) { outer } else { ObjectHandle::NONE };
                self.known.push(self.world.objects.allocate(&self.class, None, outer, 0));
            }
            2 => {
                let object = self.any();
                self.world.objects.release(object);
                self.world.objects.free_graveyard();
            }
            3 => drop(self.any()),
            4 => {
                let object = self.any();
                self.world.objects.remove_root(object);
            }
            5 if objects.roots().len() < 8 => {
                let object = self.any();
                self.world.objects.add_root(object);
            }
            6 => {
                let (object, outer) = (self.any(), self.any());
                // The store rejects stale handles, and an outer that is inside the object.
                let name = format!("n{}", self.dice.roll(1 << 30));
                let _refused = self.world.objects.rename(object, &name, outer);
            }
            7 => {
                let object = self.any();
                match self.held.len() {
                    0..4 => self.held.push(object),
                    _ => self.held.truncate(2),
                }
            }
            _ => {
                // Moves a reference from one object to another.
                let (from, to) = (self.any(), self.any());
                let names = ["one", "two"];
                let source = names[self.dice.roll(2)];
                if let Ok(value) = self.world.objects.read_value(from, source) {
                    let _gone = self.write(to, value);
                    let _gone = self.world.objects.write_value(from, source, &Value::Object(ObjectHandle::NONE));
                }
                let (to, value) = (self.any(), Value::Object(self.any()));
                let _gone = self.write(to, value);
            }
        }
    }

    fn write(&mut self, object: ObjectHandle, value: Value) -> Result<(), alcedo_base::boundary::CallError> {
        let objects = &self.world.objects;
        let property = |at: usize| &self.class.properties[at];
        match self.dice.roll(5) {
            0 => objects.write_value(object, "one", &value),
            1 => objects.write_unasked(object, "two", &value),
            2 => objects.with_body_to_write(object, |body| body.view().write(property(2), &value))?,
            3 => {
                // Writes like a plugin: reports the write to the host, then writes to memory.
                objects.may_write(object)?;
                objects.with_body(object, |body| body.view().write(property(0), &value))?
            }
            _ => objects.write_value(object, "link", &Value::Struct(vec![("to".into(), value)])),
        }
    }

    /// Returns all reachable objects, found by a simple traversal. The tests compare marks and sweeps with this result.
    fn reachable(&self) -> HashSet<ObjectHandle> {
        let mut open = self.world.objects.roots();
        open.extend(&self.held);
        let mut reached = HashSet::new();
        while let Some(object) = open.pop() {
            if self.world.objects.is_alive(object) && reached.insert(object) {
                open.extend(self.world.objects.references(object));
            }
        }
        reached
    }

    /// Runs an incremental mark. Returns the number of slices.
    fn round(&mut self) -> usize {
        let held = self.held.clone();
        begin(&self.world, &|visit: &mut dyn FnMut(ObjectHandle)| held.iter().copied().for_each(visit));
        for slices in 1.. {
            let held = self.held.clone();
            let others = |visit: &mut dyn FnMut(ObjectHandle)| held.iter().copied().for_each(visit);
            // A slice ends at the second call of `has_time`, after a few dozen objects.
            let mut left = 1;
            if mark(&self.world, &others, &mut || std::mem::replace(&mut left, 0) > 0) != Ok(true) {
                (0..4).for_each(|_| self.change());
                continue;
            }
            let dead = end_mark(&self.world);
            let reachable = self.reachable();
            let lost: Vec<_> = dead.iter().filter(|object| reachable.contains(object)).collect();
            assert!(lost.is_empty(), "{lost:?} can be reached and would be destroyed");
            let all: Vec<_> = self.world.objects.alive();
            let model: Vec<_> = all.into_iter().filter(|object| !reachable.contains(object)).collect();
            assert_eq!(
                unreachable(&self.world, &others).as_ref(),
                Ok(&model),
                "a whole mark finds what the model does"
            );
            assert!(dead.iter().all(|object| model.contains(object)));
            dead.iter().for_each(|object| assert!(self.world.objects.release(*object)));
            self.world.objects.free_graveyard();
            return slices;
        }
        unreachable!("the mark phase terminates")
    }

    /// Performs one random change that code may make during the destruction of an object.
    fn change_in_sweep(&mut self) {
        match self.dice.roll(4) {
            0 => {
                let object = self.any();
                self.world.objects.add_root(object);
            }
            1 => {
                // A new object may refer to an unreachable object.
                let new = self.world.objects.allocate(&self.class, None, ObjectHandle::NONE, 0);
                let value = Value::Object(self.any());
                self.known.push(new);
                let _gone = self.write(new, value);
            }
            _ => {
                let (to, value) = (self.any(), Value::Object(self.any()));
                let _gone = self.write(to, value);
            }
        }
    }

    /// Runs an incremental collection. Returns the number of slices of the sweep, and the number of destroyed objects.
    fn sweep(&mut self) -> (usize, usize) {
        let held = self.held.clone();
        begin(&self.world, &|visit: &mut dyn FnMut(ObjectHandle)| held.iter().copied().for_each(visit));
        let order: HashMap<_, _> = self.world.objects.alive().into_iter().zip(0..).collect();
        let (mut slices, mut destroyed, mut last) = (0, 0, None);
        loop {
            let held = self.held.clone();
            let others = |visit: &mut dyn FnMut(ObjectHandle)| held.iter().copied().for_each(visit);
            let mut left = 1;
            let mut has_time = || std::mem::replace(&mut left, 0) > 0;
            if mark(&self.world, &others, &mut has_time) == Ok(true) {
                slices += 1;
                let mut reachable = self.reachable();
                for _ in 0..8 {
                    let step = next_dead(&self.world, &mut || self.dice.roll(4) != 0);
                    match step.expect("no class has hooks") {
                        Sweep::More => break,
                        Sweep::Done => {
                            self.world.objects.abandon_mark();
                            return (slices, destroyed);
                        }
                        Sweep::Dead(object) => {
                            assert!(!reachable.contains(&object), "{object} can be reached and would be destroyed");
                            assert!(last < Some(order[&object]), "{object} is not in order of creation");
                            last = Some(order[&object]);
                            destroyed += usize::from(self.world.objects.release(object));
                            self.world.objects.free_graveyard();
                        }
                    }
                    if self.dice.roll(3) == 0 {
                        self.change_in_sweep();
                        reachable = self.reachable();
                    }
                }
            }
            (0..4).for_each(|_| self.change());
        }
    }
}

#[test]
fn reachable_objects_are_never_collected_between_slices() {
    let mut test = Test::new();
    let (mut slices, mut collected) = (0, 0);
    for round in 0..ROUNDS {
        (0..600).for_each(|_| test.change());
        let alive = &test.world.objects;
        test.known.retain(|object| alive.is_alive(*object));
        if round % 3 == 0 {
            // Creates a long chain of objects that one root keeps alive, so that the mark takes many slices.
            let first = test.world.objects.allocate(&test.class, None, ObjectHandle::NONE, 0);
            test.world.objects.add_root(first);
            let mut last = first;
            for _ in 0..300 {
                let next = test.world.objects.allocate(&test.class, None, ObjectHandle::NONE, 0);
                test.world.objects.write_value(last, "one", &Value::Object(next)).unwrap();
                test.known.push(next);
                last = next;
            }
        }
        let before = test.world.objects.len();
        slices += test.round();
        collected += before.saturating_sub(test.world.objects.len());
        if round % 3 == 2 {
            test.world.objects.roots().into_iter().for_each(|root| assert!(test.world.objects.remove_root(root)));
        }
    }
    assert!(slices > 5 * ROUNDS && collected > 10 * ROUNDS, "{slices} slices, {collected} collected");
}

#[test]
fn reachable_objects_are_never_destroyed_by_a_sweep() {
    let mut test = Test::new();
    let (mut slices, mut destroyed) = (0, 0);
    for _ in 0..SWEEPS {
        (0..600).for_each(|_| test.change());
        let (more_slices, more_destroyed) = test.sweep();
        (slices, destroyed) = (slices + more_slices, destroyed + more_destroyed);
        let alive = &test.world.objects;
        test.known.retain(|object| alive.is_alive(*object));
        let roots = test.world.objects.roots();
        roots.into_iter().skip(4).for_each(|root| assert!(test.world.objects.remove_root(root)));
    }
    assert!(slices > 5 * SWEEPS && destroyed > 10 * SWEEPS, "{slices} slices, {destroyed} destroyed");
}

#[test]
fn a_mark_completes_although_all_objects_are_written_between_slices() {
    let test = Test::new();
    let objects = &test.world.objects;
    let roots: Vec<_> = (0..100).map(|_| objects.allocate(&test.class, None, ObjectHandle::NONE, 0)).collect();
    roots.iter().for_each(|root| assert!(objects.add_root(*root)));
    let no_roots = |_: &mut dyn FnMut(ObjectHandle)| ();
    begin(&test.world, &no_roots);
    let write = |object: &ObjectHandle| objects.write_value(*object, "one", &Value::Object(roots[0])).unwrap();
    let is_complete = (0..1000).any(|_| {
        let is_complete = mark(&test.world, &no_roots, &mut || false) == Ok(true);
        if !is_complete {
            roots.iter().for_each(write);
        }
        is_complete
    });
    assert!(is_complete && end_mark(&test.world).is_empty());
}

#[test]
fn starting_a_shadow_aborts_the_mark() {
    let test = Test::new();
    let no_roots = |_: &mut dyn FnMut(ObjectHandle)| ();
    begin(&test.world, &no_roots);
    assert!(test.world.objects.is_marking());
    test.world.objects.begin_shadow();
    assert!(!test.world.objects.is_marking());
    assert_eq!(test.world.mode.get(), alcedo_abi::host::mode::NORMAL);
    assert_eq!(mark(&test.world, &no_roots, &mut || true), Ok(true));
    assert!(end_mark(&test.world).is_empty());
}
