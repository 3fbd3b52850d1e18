//! Where the objects of each class go in a reload: decided once per class, when the new types are declared, and then asked for every
//! object, and for every reference to one.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::bridge::core::Core;
use crate::handles::{ClassId, ModuleId, ObjectHandle};
use crate::object::body::Body;
use crate::object::class::Class;
use crate::reload::fate::{Before, Fate, fate};
use crate::reload::plan::native_ancestor;

/// Living objects of the classes of these modules, and all that are dormant, in creation order, without class default
/// objects and their templates.
pub(crate) fn living_of(core: &Core, modules: &BTreeSet<ModuleId>) -> Vec<ObjectHandle> {
    let objects = &core.world.objects;
    // Its most derived class decides: the module of a base goes only together with those that build on it.
    let is_theirs = |body: &Body| body.dormant.is_some() || modules.contains(&ModuleId(body.class().tag));
    let concerns = |object: &ObjectHandle| objects.with_body(*object, is_theirs) == Ok(true);
    objects.living().into_iter().filter(concerns).collect()
}

/// The class of an object's body, and the path of the class it waits for where it is dormant.
pub(super) type ClassKey = (ClassId, Option<Rc<str>>);

pub(super) fn key_of(core: &Core, object: ObjectHandle) -> Option<ClassKey> {
    let seen = |body: &Body| (body.class().id, body.dormant.as_ref().map(|dormant| Rc::clone(&dormant.class)));
    core.world.objects.with_body(object, seen).ok()
}

/// Where the objects of one class go.
pub(super) struct Goal {
    /// What becomes of them.
    pub(super) fate: Fate,
    /// The class of their new bodies.
    pub(super) class: Rc<Class>,
    /// The class they are of, whether it is there or not.
    pub(super) path: Rc<str>,
    /// How many went there.
    pub(super) objects: u64,
}

/// Where the objects of each class go.
#[derive(Default)]
pub(crate) struct Goals(pub(super) HashMap<ClassKey, Goal>);

impl Goals {
    /// The class that an object will be of when all have their new bodies, whether it has its own already or not. None for one that is
    /// gone, and for one that sleeps then: what it will be is known when it wakes.
    pub(super) fn class_after(&self, core: &Core, object: ObjectHandle) -> Option<Rc<Class>> {
        match self.0.get(&key_of(core, object)?) {
            Some(Goal { fate: Fate::Asleep { .. }, .. }) => None,
            Some(goal) => Some(Rc::clone(&goal.class)),
            None => class_awake(core, object),
        }
    }
}

/// The class that an object is of, unless it sleeps.
pub(super) fn class_awake(core: &Core, object: ObjectHandle) -> Option<Rc<Class>> {
    core.world.objects.with_body(object, |body| body.dormant.is_none().then(|| Rc::clone(body.class()))).ok()?
}

/// Decides where the objects of each class go, for the classes of these objects, now that the new types are declared.
pub(crate) fn decide(core: &Core, living: &[ObjectHandle]) -> Goals {
    let types = &core.world.types;
    let mut goals = Goals::default();
    for object in living {
        let Some(key) = key_of(core, *object) else { continue };
        if goals.0.contains_key(&key) {
            continue;
        }
        let Some(before) = before(core, *object) else { continue };
        let fate = fate(&before, |path| types.class_by_path(path).map(|class| native_ancestor(&class)));
        let to = match &fate {
            Fate::Asleep { seen_as } => seen_as,
            Fate::Carried | Fate::Reborn { .. } => &before.path,
        };
        let Some(class) = types.class_by_path(to) else { continue };
        goals.0.insert(key, Goal { fate, class, path: before.path, objects: 0 });
    }
    goals
}

fn before(core: &Core, object: ObjectHandle) -> Option<Before> {
    let seen = |body: &Body| {
        let native = native_ancestor(body.class());
        if let Some(dormant) = &body.dormant {
            return Before { path: Rc::clone(&dormant.class), bases: dormant.bases.clone(), native };
        }
        let chain = body.class().module_chain();
        let bases = chain.iter().rev().skip(1).rev().map(|class| Rc::clone(&class.path)).collect();
        Before { path: Rc::clone(&body.class().path), bases, native }
    };
    core.world.objects.with_body(object, seen).ok()
}
