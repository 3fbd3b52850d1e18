//! Fast path of construction for a class without subobjects and a template of exactly that class, which is the common case.
//! Runs the steps in the order of the general path, and omits steps without a visible effect.

use std::rc::Rc;

use alcedo_base::handles::ObjectHandle;

use crate::class::{Class, ConstructionPlan};
use crate::construction::{ConstructionArgs, ConstructionFailed, ConstructionStep, Constructor, StepError, destroy};
use crate::origin::Origin;

impl Constructor<'_> {
    /// Constructs an object of the requested class with the values of `template`.
    pub(super) fn construct_whole(
        &self,
        args: &ConstructionArgs,
        template: ObjectHandle,
    ) -> Result<ObjectHandle, ConstructionFailed> {
        let plan = self.plan();
        // Without constructors, all classes count as constructed.
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
                // Sets the defaults only for constructors to observe, because the template's values overwrite the defaults
                // below.
                let step = || ConstructionStep::Defaults(turn.path.to_string());
                self.step(object, step, || self.set_defaults(object, turn))?;
                self.construct(object, turn)?;
            }
        } else {
            world.counters.class_constructors_on_instances.add(plan.dynamic);
        }
        // No code runs during the copy, so it needs no panic guard.
        if !world.objects.copy_plain(object, template)
            && let Err(error) = world.objects.copy_values(object, template, &class.properties, &[(template, object)])
        {
            return Err(self.failed_for(
                object,
                ConstructionStep::CopyValues(class.path.to_string()),
                StepError::from(error),
            ));
        }
        if plan.has_post_init { self.init(object, class) } else { Ok(()) }
    }

    #[inline]
    fn plan(&self) -> ConstructionPlan {
        self.requested.members.construction.get().unwrap_or_else(|| self.find_plan())
    }

    #[cold]
    fn find_plan(&self) -> ConstructionPlan {
        let has_constructor = |turn: &Rc<Class>| match turn.origin {
            Origin::Native => turn.native_constructor.is_some(),
            Origin::Dynamic => self.hooks.has_class_constructor(turn),
            Origin::Script => false,
        };
        let is_dynamic = |turn: &&Rc<Class>| turn.origin == Origin::Dynamic;
        let has_post_init =
            |turn: &Rc<Class>| turn.native_post_init.is_some() || (is_dynamic(&turn) && self.hooks.has_post_init(turn));
        let plan = ConstructionPlan {
            has_constructors: self.requested.lineage().any(has_constructor),
            has_post_init: self.requested.lineage().any(has_post_init),
            dynamic: self.requested.lineage().filter(is_dynamic).count() as u64,
        };
        self.requested.members.construction.set(Some(plan));
        plan
    }

    /// Rejects a name if another object in the same outer already has it.
    pub(super) fn check_name(&self, args: &ConstructionArgs) -> Result<(), ConstructionFailed> {
        let Some(name) = args.name else { return Ok(()) };
        let name = self.world.names.text(name);
        match self.world.objects.find(args.outer, &name) {
            None => Ok(()),
            Some(holder) => {
                let problem = format!("{holder} is called so in there: choose another name, or rename that first");
                Err(self.failed(
                    &name,
                    ConstructionStep::Name(self.requested.path.to_string()),
                    StepError::new(problem),
                ))
            }
        }
    }
}
