//! Tests which objects keep their bodies in a reload.

use std::rc::Rc;

use super::tests::{GONE, OBJECT, SAME, allocate, build, core, print, set, whole};
use super::{Carried, Surroundings};
use crate::handles::ObjectHandle;
use crate::object::class::Class;
use crate::object::objects::object_flags;
use crate::object::value::Value;
use crate::reload::changes::PropertyChange;
use crate::reload::class_mapping::ClassMapping;
use crate::reload::compiled::stays;
use crate::reload::object_plan::ObjectPlan;
use crate::reload::plan::{Notes, plan_class};

#[test]
fn a_body_stays_in_place_only_if_neither_layout_nor_default_changes() {
    for (new, is_in_place) in [(("f64", "1"), true), (("f64", "3"), false), (("u64", "1"), false), (GONE, false)] {
        let core = core();
        let before = build(&core, ("f64", "1"), SAME);
        let (follower, own) = (allocate(&core, &before, 0), allocate(&core, &before, 0));
        set(&core, own, "2.5");
        let memory = core.world.objects.memory(own);
        core.world.types.begin_shadow();
        core.world.types.hide_in_shadow(["/Script/Test.Point", "/Script/Game.Cube"]);
        core.world.objects.begin_shadow();
        let after = build(&core, new, SAME);
        let (mut changes, mut structure) = Default::default();
        let mut notes = Notes { changes: &mut changes, structure: &mut structure };
        let plan = plan_class(&core, (&before, &after), &ObjectPlan::Carried, None, &mut notes).expect("a plan");
        let mapping = ClassMapping::default();
        for object in [follower, own] {
            let from = Surroundings { core: &core, mapping: &mapping };
            let is_kept = stays(from, whole(object), &plan, &mut changes).expect("its values are compared");
            assert_eq!(is_kept, is_in_place, "{new:?}");
            if is_kept {
                core.world.objects.keep_body(object, &after).expect("it lives");
            }
        }
        let sum = |count: fn(&PropertyChange) -> u64| changes.iter().map(count).sum::<u64>();
        let counts = (sum(|change| change.kept), sum(|change| change.followed));
        assert_eq!(counts, if is_in_place { (3, 1) } else { (0, 0) }, "{new:?}: each value is counted once");
        core.world.objects.write_unasked(own, "x", &Value::F64(7.0)).expect("it fits");
        if is_in_place {
            drop(core.world.objects.drop_shadow());
            assert_eq!((print(&core, own).as_str(), core.world.objects.memory(own)), ("2.5", memory));
        }
    }
}

#[test]
fn a_reference_to_itself_stays_in_place_unless_the_owner_overrides_it() {
    for is_overridden in [false, true] {
        let core = core();
        let objects = &core.world.objects;
        let thing = core.world.types.class_by_path(OBJECT).expect("it is declared");
        let refer = |object: ObjectHandle, to: ObjectHandle| {
            objects.write_unasked(object, "x", &Value::Object(to)).expect("it fits");
        };
        let declare = || {
            let class = build(&core, ("Object(/Script/Game.Thing)", ""), SAME);
            refer(class.cdo.get(), class.cdo.get());
            class
        };
        // The template is a subobject of the class default object of an owner.
        let template = |class: &Rc<Class>| {
            let owner = objects.allocate(&thing, None, ObjectHandle::NONE, object_flags::CDO);
            let template = allocate(&core, class, object_flags::SUBOBJECT);
            refer(template, if is_overridden { owner } else { template });
            template
        };
        let before = declare();
        let old = template(&before);
        let object = allocate(&core, &before, object_flags::SUBOBJECT);
        refer(object, object);
        core.world.types.begin_shadow();
        core.world.types.hide_in_shadow(["/Script/Test.Point", "/Script/Game.Cube"]);
        objects.begin_shadow();
        let after = declare();
        let new = template(&after);
        let (mut changes, mut structure) = Default::default();
        let mut notes = Notes { changes: &mut changes, structure: &mut structure };
        let plan = plan_class(&core, (&before, &after), &ObjectPlan::Carried, None, &mut notes).expect("a plan");
        let mapping = ClassMapping { is_settled: true, ..ClassMapping::default() };
        let from = Surroundings { core: &core, mapping: &mapping };
        for (carried, is_in_place) in
            [(whole(object), true), (Carried { object, templates: Some((old, new)) }, !is_overridden)]
        {
            let is_kept = stays(from, carried, &plan, &mut changes).expect("its values are compared");
            assert_eq!(is_kept, is_in_place, "overridden: {is_overridden}");
        }
    }
}
