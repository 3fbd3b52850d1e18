//! Tests the values of an object that stays dormant in a reload.

use std::rc::Rc;

use super::tests::{Build, OBJECT, SAME, allocate, build, core, set, whole};
use super::{Surroundings, asleep};
use crate::object::body::Body;
use crate::object::dormant::{Dormant, KeptValue};
use crate::object::objects::object_flags;
use crate::object::value::Value;
use crate::reload::class_mapping::ClassMapping;
use crate::reload::object_plan::ObjectPlan;
use crate::reload::plan::{Notes, plan_class};

/// Removes the base class of a dormant object. The base class has a property with the name of a dormant value, because an edit has renamed
/// the property, and the property could not hold the dormant value.
#[test]
fn a_dormant_object_keeps_one_value_per_name() {
    let text = || Some(Value::Text("a".into()));
    let number = || Some(Value::F64(2.5));
    for (dormant, of_base, expected) in
        [(None, "", None), (None, "2.5", number()), (text(), "2.5", number()), (text(), "", text())]
    {
        let core = core();
        let types = &core.world.types;
        build(&core, Build { is_in_base: true, ..Build::from(("f64", "1")) }, SAME);
        let solid = types.class_by_path("/Script/Game.Solid").expect("it is declared");
        let thing = types.class_by_path(OBJECT).expect("it is declared");
        thing.cdo.set(allocate(&core, &thing, object_flags::CDO));
        let object = allocate(&core, &solid, 0);
        if !of_base.is_empty() {
            set(&core, object, of_base);
        }
        let before = Dormant {
            class: "/Script/Game.Cube".into(),
            bases: vec!["/Script/Game.Solid".into()],
            values: vec![("x".into(), dormant)],
            fields: Vec::new(),
        };
        core.world.objects.set_dormant(object, before).expect("it lives");

        let (mut changes, mut structure) = Default::default();
        let mut notes = Notes { changes: &mut changes, structure: &mut structure };
        let sleeps = ObjectPlan::Dormant { seen_as: OBJECT.into() };
        let plan = plan_class(&core, (&solid, &thing), &sleeps, Some("/Script/Game.Cube"), &mut notes).expect("a plan");
        let mapping = ClassMapping { is_settled: true, ..ClassMapping::default() };
        let (from, mut body) = (Surroundings { core: &core, mapping: &mapping }, Body::new(&thing));
        let after = asleep(from, whole(object), &plan, Vec::new(), (&mut body, &mut changes)).expect("it is read");
        let expected: [(Rc<str>, KeptValue); 1] = [("x".into(), expected)];
        assert_eq!(after.values, expected);
    }
}
