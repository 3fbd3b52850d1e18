//! Maps each class to the class that its objects have after the reload. The mapping is computed once, after the new types are declared. All
//! objects and references use the mapping.

use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::bridge::core::Core;
use crate::handles::{ClassId, ModuleId, ObjectHandle};
use crate::object::body::Body;
use crate::object::class::Class;
use crate::reload::object_plan::{Before, ObjectPlan, plan_objects};
use crate::reload::plan::native_ancestor;

/// Returns the living objects whose class belongs to one of these modules, and all dormant objects, in creation order. Omits class default
/// objects and templates of subobjects.
pub(crate) fn living_of(core: &Core, modules: &BTreeSet<ModuleId>) -> Vec<ObjectHandle> {
    // Checks only the most-derived class. A reload that replaces the module of a base class also replaces the modules of its derived
    // classes.
    core.world.objects.living_of(|class| modules.contains(&ModuleId(class.tag)))
}

/// Class of an object's body. For a dormant object, also the path of its missing class.
pub(super) type ClassKey = (ClassId, Option<Rc<str>>);

#[inline]
pub(super) fn key_of(core: &Core, object: ObjectHandle) -> Option<ClassKey> {
    let objects = &core.world.objects;
    // Reads the class first, so that the next check finds the object with the same reads.
    let class = objects.class_id(object)?;
    let missing = if objects.is_dormant(object) { objects.waits_for(object) } else { None };
    Some((class, missing))
}

/// Mapping of one class.
pub(super) struct ClassTarget {
    pub(super) object_plan: ObjectPlan,
    pub(super) class: Rc<Class>,
    /// Path of the class, even if the class is missing.
    pub(super) path: Rc<str>,
}

#[derive(Default)]
pub(crate) struct ClassMapping {
    pub(super) targets: FxHashMap<ClassKey, ClassTarget>,
    /// Set if every class in the mapping keeps its base classes and interfaces. All references to objects of these classes then remain
    /// valid.
    pub(super) is_settled: bool,
}

impl ClassMapping {
    /// Returns the class that an object has after the migration. Returns `None` for destroyed objects, and for objects that will be
    /// dormant.
    pub(super) fn class_after(&self, core: &Core, object: ObjectHandle) -> Option<Rc<Class>> {
        match self.targets.get(&key_of(core, object)?) {
            Some(ClassTarget { object_plan: ObjectPlan::Dormant { .. }, .. }) => None,
            Some(target) => Some(Rc::clone(&target.class)),
            None => class_awake(core, object),
        }
    }

    /// Returns the new build of a class. Returns `None` if the objects of the class will be dormant.
    pub(super) fn class_rebuilt(&self, class: ClassId) -> Option<&Rc<Class>> {
        let key: ClassKey = (class, None);
        let target = self.targets.get(&key)?;
        (!matches!(target.object_plan, ObjectPlan::Dormant { .. })).then_some(&target.class)
    }
}

/// Returns the class of an object. Returns `None` if the object is dormant or destroyed.
pub(super) fn class_awake(core: &Core, object: ObjectHandle) -> Option<Rc<Class>> {
    core.world.objects.with_body(object, |body| body.dormant.is_none().then(|| Rc::clone(body.class()))).ok()?
}

/// Maps the classes of these objects to the new types.
pub(crate) fn decide(core: &Core, living: &[ObjectHandle]) -> ClassMapping {
    let mut mapping = ClassMapping { is_settled: true, ..ClassMapping::default() };
    // Key of the previous object. Skips the lookup for an equal key, because adjacent objects usually share a class.
    let mut last = None;
    for object in living {
        let Some(key) = key_of(core, *object) else { continue };
        if last.as_ref() == Some(&key) {
            continue;
        }
        last = Some(key.clone());
        if mapping.targets.contains_key(&key) {
            continue;
        }
        let Some(before) = before(core, *object) else { continue };
        let (object_plan, class) = plan_of(core, &before);
        let Some(class) = class else {
            mapping.is_settled = false;
            continue;
        };
        let stays = |old: Rc<Class>| object_plan == ObjectPlan::Carried && !has_moved(&old, &class);
        mapping.is_settled &= class_awake(core, *object).is_some_and(stays);
        mapping.targets.insert(key, ClassTarget { object_plan, class, path: before.path });
    }
    mapping
}

/// Plans the objects of a class. Also returns the class of their new bodies, or `None` if the host does not have this class.
pub(crate) fn plan_of(core: &Core, before: &Before) -> (ObjectPlan, Option<Rc<Class>>) {
    let types = &core.world.types;
    let object_plan = plan_objects(before, |path| types.class_by_path(path).map(|class| native_ancestor(&class)));
    let class = types.class_by_path(match &object_plan {
        ObjectPlan::Dormant { seen_as } => seen_as,
        ObjectPlan::Carried | ObjectPlan::Reconstructed { .. } => &before.path,
    });
    (object_plan, class)
}

/// Checks if the base classes or interfaces of two builds of a class differ.
pub(super) fn has_moved(old: &Rc<Class>, new: &Rc<Class>) -> bool {
    let above = |class: &Rc<Class>| -> HashSet<Rc<str>> {
        class.lineage().flat_map(|class| std::iter::once(&class.path).chain(&class.interfaces).cloned()).collect()
    };
    above(old) != above(new)
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
