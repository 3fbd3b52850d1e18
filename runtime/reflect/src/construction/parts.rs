//! Fast path of construction for a class with subobjects, if the template is the CDO of the class. A plan caches the subobjects with their
//! classes, templates and reference offsets. The hooks run in the same order as on the slow path. Only constructors can observe the steps
//! that change the store, so the final copy of the values replaces all steps after the last constructor.

use std::rc::Rc;

use alcedo_abi::kinds::class_flags;
use alcedo_base::boundary::CallError;
use alcedo_base::handles::{ClassId, ObjectHandle};
use smallvec::SmallVec;

use crate::class::{Class, Member, PartLocation, PartStep, PartsPlan, Subobject};
use crate::construction::{
    ConstructionArgs, ConstructionFailed, ConstructionStep, Constructor, StepError, destroy, has_defaults,
};
use crate::objects::object_flags;
use crate::origin::Origin;
use crate::property::Property;

/// Objects that a [`PartsPlan`] has constructed, with their classes.
type Made = SmallVec<[(ObjectHandle, Rc<Class>); 4]>;

/// Plan that is being computed.
#[derive(Default)]
struct Draft {
    members: Vec<Member>,
    steps: Vec<PartStep>,
    inits: Vec<usize>,
    dynamic: u64,
    /// Number of steps up to and including the last constructor.
    observed: usize,
    /// Classes of the current member and of its owners.
    around: Vec<ClassId>,
}

impl Constructor<'_> {
    /// Returns the plan for objects of the requested class. Returns `None` if the object needs the slow path. This is the case if
    /// `template` is not the CDO, or if a subobject of the CDO is missing or has an unexpected class.
    pub(super) fn parts_plan(&self, template: ObjectHandle) -> Option<Rc<PartsPlan>> {
        let class = self.requested;
        if !class.members.has_subobjects || template != class.cdo.get() {
            return None;
        }
        let key = (self.world.types.epoch(), template);
        let known = class.members.parts.borrow().clone().filter(|plan| plan.key == key);
        let plan = known.unwrap_or_else(|| self.make_parts_plan(key));
        let is_there = |member: &Member| self.world.objects.class_id(member.template) == Some(member.class);
        (!plan.members.is_empty() && plan.members.iter().all(is_there)).then_some(plan)
    }

    #[cold]
    fn make_parts_plan(&self, key: (u64, ObjectHandle)) -> Rc<PartsPlan> {
        let mut draft = Draft::default();
        let is_planned = self.plan_member(self.requested, key.1, None, &mut draft).is_some();
        let draft = if is_planned { draft } else { Draft::default() };
        let plan = Rc::new(draft.finish(key));
        *self.requested.members.parts.borrow_mut() = Some(Rc::clone(&plan));
        plan
    }

    /// Adds a member and its subobjects to the plan. Returns the index of the member, or `None` if the object needs the slow path.
    fn plan_member(
        &self,
        class: &Rc<Class>,
        template: ObjectHandle,
        part: Option<PartLocation>,
        draft: &mut Draft,
    ) -> Option<usize> {
        let plan = self.plan_of(class);
        let own_parts = || class.lineage().flat_map(|turn| &turn.subobjects);
        let is_own = |property: &Rc<Property>| own_parts().any(|own| own.property.text == property.text);
        let at = draft.members.len();
        draft.members.push(Member {
            class: class.id,
            template,
            part,
            own: own_parts().map(|own| own.property.offset).collect(),
            names_others: class.properties.iter().any(|property| property.ty.names_objects() && !is_own(property)),
            has_plugin_part: class.has_plugin_part(),
            has_constructors: plan.has_constructors,
            has_post_init: plan.has_post_init,
            has_end: false,
        });
        draft.dynamic += if plan.has_constructors { 0 } else { u64::from(plan.dynamic) };
        draft.steps.push(PartStep::Begin(at));
        // The red constructor of the subobject can observe all earlier steps. The first member has no earlier steps.
        if class.has_plugin_part() && part.is_some() {
            draft.observed = draft.steps.len();
        }
        draft.around.push(class.id);
        for (turn, of) in class.lineage().enumerate() {
            for subobject in &of.subobjects {
                self.plan_part((at, class, template), subobject, draft)?;
            }
            let has_constructor = self.has_constructor(of);
            // The step of a native class or script class without a constructor only sets the number of constructed classes. The next such
            // step of the object includes the class, and no hook can observe this number before then.
            let is_counted = of.origin == Origin::Dynamic || turn + 1 == class.depth();
            let constructs = plan.has_constructors && (has_constructor || is_counted);
            draft.steps.push(PartStep::Turn { member: at, turn, sets_defaults: has_defaults(of), constructs });
            if has_constructor {
                draft.observed = draft.steps.len();
            }
        }
        draft.around.pop();
        draft.inits.push(at);
        Some(at)
    }

    fn plan_part(
        &self,
        (owner, owner_class, owner_template): (usize, &Rc<Class>, ObjectHandle),
        subobject: &Subobject,
        draft: &mut Draft,
    ) -> Option<()> {
        let objects = &self.world.objects;
        let class = self.world.types.class_by_path(&owner_class.subobject_class(subobject))?;
        let template = objects.subobject(owner_template, &subobject.name)?;
        let offset = subobject.property.offset;
        // Plans only the plain case. In all other cases, the slow path reports an error, or selects a different template.
        let is_plain = class.flags & class_flags::ABSTRACT == 0
            && objects.class_id(template) == Some(class.id)
            && !draft.around.contains(&class.id)
            && owner_class.schema().has_reference(offset);
        if !is_plain {
            return None;
        }
        let part = PartLocation { owner, name: objects.part_name(&subobject.name), offset };
        let member = self.plan_member(&class, template, Some(part), draft)?;
        draft.steps.push(PartStep::End(member));
        Some(())
    }

    /// Constructs an object of the requested class and its subobjects with the values of the CDO.
    pub(super) fn construct_with_parts(
        &self,
        args: &ConstructionArgs,
        plan: &PartsPlan,
    ) -> Result<ObjectHandle, ConstructionFailed> {
        let (world, class) = (self.world, self.requested);
        let constructed = constructed_at_start(&plan.members[0], class);
        let object = world.objects.allocate_as(class, args.name, args.outer, 0, constructed);
        let mut made = Made::new();
        made.push((object, Rc::clone(class)));
        for step in &plan.steps {
            if let Err(failed) = self.run_part_step(plan, *step, &mut made) {
                self.destroy_with_owners(plan, step.member(), &made);
                return Err(failed);
            }
        }
        world.counters.class_constructors_on_instances.add(plan.dynamic);
        if let Err(failed) = self.complete_parts(plan, &made) {
            destroy(world, self.hooks, object);
            return Err(failed);
        }
        if args.root {
            world.objects.add_root(object);
        }
        // PostInitProperties may have destroyed subobjects.
        let constructed = made.iter().filter(|(object, _)| world.objects.is_alive(*object)).count();
        world.counters.constructions.add(constructed as u64);
        Ok(object)
    }

    fn run_part_step(&self, plan: &PartsPlan, step: PartStep, made: &mut Made) -> Result<(), ConstructionFailed> {
        match step {
            PartStep::Begin(at) => self.begin_member(&plan.members[at], made),
            PartStep::Turn { member, turn, sets_defaults, constructs } => {
                let (object, class) = &made[member];
                let Some(turn) = class.lineage().nth(turn) else { return Ok(()) };
                if sets_defaults {
                    let step = || ConstructionStep::Defaults(turn.path.to_string());
                    self.step(*object, step, || self.write_defaults(*object, turn))?;
                }
                if constructs { self.construct(*object, turn) } else { Ok(()) }
            }
            PartStep::End(at) => {
                // All later members are inside this member. Copies the values of all these members, including the references between them.
                self.copy_members(plan, at, made)?;
                self.refer_to_member(&plan.members[at], at, made)
            }
        }
    }

    /// Allocates a member and builds its plugin part. The first member is already allocated.
    #[inline]
    fn begin_member(&self, member: &Member, made: &mut Made) -> Result<(), ConstructionFailed> {
        if let Some(part) = member.part {
            let (objects, owner) = (&self.world.objects, made[part.owner].0);
            let Some(class) = objects.class(member.template) else {
                return Err(self.part_failed(part, member.template, made));
            };
            let constructed = constructed_at_start(member, &class);
            let object = objects.allocate_part(&class, part.name, owner, object_flags::SUBOBJECT, constructed);
            made.push((object, class));
        }
        match made.last() {
            Some((object, class)) if member.has_plugin_part => {
                let build = || self.hooks.build_conjugate(*object, class);
                self.step(*object, || ConstructionStep::RedConstructor(class.path.to_string()), build)
            }
            _ => Ok(()),
        }
    }

    /// Copies the values of all members, and calls PostInitProperties.
    fn complete_parts(&self, plan: &PartsPlan, made: &Made) -> Result<(), ConstructionFailed> {
        for (at, member) in plan.members.iter().enumerate().filter(|(_, member)| !member.has_end) {
            self.refer_to_member(member, at, made)?;
        }
        self.copy_members(plan, 0, made)?;
        for at in &plan.inits {
            let (object, class) = &made[*at];
            self.init(*object, class)?;
        }
        Ok(())
    }

    /// Copies the values of the templates to the member `first` and all later members, except references to own subobjects.
    fn copy_members(&self, plan: &PartsPlan, first: usize, made: &Made) -> Result<(), ConstructionFailed> {
        let members = || plan.members.iter().zip(made);
        let mut pairs: SmallVec<[(ObjectHandle, ObjectHandle); 4]> = SmallVec::new();
        if members().skip(first).any(|(member, _)| member.names_others) {
            pairs.extend(members().map(|(member, (object, _))| (member.template, *object)));
        }
        for (member, (object, class)) in members().skip(first) {
            let pairs = if member.names_others { &pairs[..] } else { &[] };
            // The copy needs no panic guard, because it runs no foreign code.
            self.world.objects.copy_whole(*object, member.template, &member.own, pairs).map_err(|error| {
                let step = ConstructionStep::CopyValues(class.path.to_string());
                self.failed_for(*object, step, StepError::from(error))
            })?;
        }
        Ok(())
    }

    /// Sets the owner's reference to a subobject.
    #[inline]
    fn refer_to_member(&self, member: &Member, at: usize, made: &Made) -> Result<(), ConstructionFailed> {
        let Some(part) = member.part else { return Ok(()) };
        let owner = made[part.owner].0;
        match self.world.objects.put_reference(owner, part.offset, made[at].0) {
            true => Ok(()),
            false => Err(self.part_failed(part, owner, made)),
        }
    }

    /// Returns the error for a subobject whose construction failed because `missing` was destroyed.
    #[cold]
    fn part_failed(&self, part: PartLocation, missing: ObjectHandle, made: &Made) -> ConstructionFailed {
        let (owner, class) = &made[part.owner];
        let name = self.world.names.text(part.name.name);
        let step = ConstructionStep::Subobject(class.path.to_string(), name.to_string());
        self.failed_for(*owner, step, StepError::from(CallError::Stale { handle: missing }))
    }

    /// Destroys a member whose step failed, then its direct and indirect owners, as on the slow path.
    #[cold]
    fn destroy_with_owners(&self, plan: &PartsPlan, failed: usize, made: &Made) {
        let owner = |at: &usize| plan.members[*at].part.map(|part| part.owner);
        for at in std::iter::successors(Some(failed), owner) {
            if let Some((object, _)) = made.get(at) {
                destroy(self.world, self.hooks, *object);
            }
        }
    }
}

/// Returns the number of classes that are marked as constructed when the member is allocated. If the chain has no constructors, these are
/// all classes.
fn constructed_at_start(member: &Member, class: &Class) -> usize {
    if member.has_constructors { 0 } else { class.depth() }
}

impl PartStep {
    fn member(self) -> usize {
        match self {
            Self::Begin(member) | Self::End(member) | Self::Turn { member, .. } => member,
        }
    }
}

impl Draft {
    /// Removes the steps that no constructor can observe. If no class has PostInitProperties, also removes the calls of PostInitProperties.
    fn finish(self, key: (u64, ObjectHandle)) -> PartsPlan {
        let Self { mut members, steps, mut inits, dynamic, observed, .. } = self;
        let needed = |(at, step): (usize, PartStep)| match step {
            PartStep::Begin(_) => Some(step),
            PartStep::Turn { member, turn, sets_defaults, constructs } => {
                let sets_defaults = sets_defaults && at < observed;
                let step = PartStep::Turn { member, turn, sets_defaults, constructs };
                (sets_defaults || constructs).then_some(step)
            }
            PartStep::End(_) => (at < observed).then_some(step),
        };
        let steps: Box<[_]> = steps.into_iter().enumerate().filter_map(needed).collect();
        for step in &steps {
            if let PartStep::End(at) = step {
                members[*at].has_end = true;
            }
        }
        let has_any = members.iter().any(|member| member.has_post_init);
        // A member with a plugin part also keeps its entry in `inits`, even if the class has no PostInitProperties. The plugin hook of this
        // entry rejects an object that an earlier hook has destroyed.
        inits.retain(|at| has_any && (members[*at].has_post_init || members[*at].has_plugin_part));
        PartsPlan { key, members: members.into(), steps, inits: inits.into(), dynamic }
    }
}
