//! Fast path of construction for a class without subobjects, with a template of exactly that class. Most constructions use this path. Runs
//! the steps in the same order as the slow path, and omits steps without a visible effect.

use std::rc::Rc;

use alcedo_base::handles::ObjectHandle;

use crate::class::{Class, ConstructionPlan};
use crate::construction::{
    ConstructionArgs, ConstructionFailed, ConstructionStep, Constructor, StepError, destroy, has_defaults,
};
use crate::origin::Origin;

impl Constructor<'_> {
    /// Constructs an object of the requested class with the values of `template`.
    #[inline]
    pub(super) fn construct_whole(
        &self,
        args: &ConstructionArgs,
        template: ObjectHandle,
    ) -> Result<ObjectHandle, ConstructionFailed> {
        let plan = self.plan_of(self.requested);
        // Without constructors, all classes are marked as constructed from the start.
        let constructed = if plan.has_constructors { 0 } else { self.requested.depth() };
        let object = self.world.objects.allocate_as(self.requested, args.name, args.outer, 0, constructed);
        if let Err(failed) = self.grow_whole(object, template, plan) {
            destroy(self.world, self.hooks, object);
            return Err(failed);
        }
        if args.root {
            self.world.objects.add_root(object);
        }
        self.world.counters.constructions.bump();
        Ok(object)
    }

    #[inline]
    fn grow_whole(
        &self,
        object: ObjectHandle,
        template: ObjectHandle,
        plan: ConstructionPlan,
    ) -> Result<(), ConstructionFailed> {
        let (world, class) = (self.world, self.requested);
        if class.has_plugin_part() {
            let build = || self.hooks.build_conjugate(object, class);
            self.step(object, || ConstructionStep::RedConstructor(class.path.to_string()), build)?;
        }
        if plan.has_constructors {
            for turn in class.lineage() {
                // Sets the defaults only because constructors may observe them. The copy of the template's values below overwrites the
                // defaults.
                if has_defaults(turn) {
                    let step = || ConstructionStep::Defaults(turn.path.to_string());
                    self.step(object, step, || self.write_defaults(object, turn))?;
                }
                self.construct(object, turn)?;
            }
        } else {
            world.counters.class_constructors_on_instances.add(plan.dynamic.into());
        }
        // The copy needs no panic guard, because it runs no foreign code.
        if !world.objects.copy_plain(object, template)
            && let Err(error) = world.objects.copy_values(object, template, &class.properties, &[(template, object)])
        {
            let step = ConstructionStep::CopyValues(class.path.to_string());
            return Err(self.failed_for(object, step, StepError::from(error)));
        }
        if plan.has_post_init { self.init(object, class) } else { Ok(()) }
    }

    #[inline]
    pub(super) fn plan_of(&self, class: &Rc<Class>) -> ConstructionPlan {
        class.members.construction.get().unwrap_or_else(|| self.find_plan(class))
    }

    #[cold]
    fn find_plan(&self, class: &Rc<Class>) -> ConstructionPlan {
        let is_dynamic = |turn: &&Rc<Class>| turn.origin == Origin::Dynamic;
        let has_post_init =
            |turn: &Rc<Class>| turn.native_post_init.is_some() || (is_dynamic(&turn) && self.hooks.has_post_init(turn));
        let plan = ConstructionPlan {
            has_constructors: class.lineage().any(|turn| self.has_constructor(turn)),
            has_post_init: class.lineage().any(has_post_init),
            dynamic: class.lineage().filter(is_dynamic).count() as u32,
        };
        class.members.construction.set(Some(plan));
        plan
    }

    /// Checks if the class itself has a constructor.
    pub(super) fn has_constructor(&self, turn: &Rc<Class>) -> bool {
        match turn.origin {
            Origin::Native => turn.native_constructor.is_some(),
            Origin::Dynamic => self.hooks.has_class_constructor(turn),
            Origin::Script => false,
        }
    }
}
