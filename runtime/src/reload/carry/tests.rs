//! Tests the values of one object after a new build of its class is declared.

use std::rc::Rc;

use alcedo_abi::describe::CONVERTS;
use alcedo_abi::kinds::{PropertyKind, function_flags, property_flags};

use super::{Carried, Surroundings, carry};
use crate::bridge::core::Core;
use crate::handles::ObjectHandle;
use crate::object::class::Class;
use crate::object::collect::unreachable;
use crate::object::decl::{
    Batch, ClassDecl, EnumDecl, FunctionDecl, InterfaceDecl, PropertyDecl, RESULT_NAME, StructDecl,
};
use crate::object::enums::EnumEntry;
use crate::object::objects::object_flags;
use crate::object::origin::Origin;
use crate::object::property::PropertyType;
use crate::object::thunk::idle;
use crate::object::value::Value;
use crate::reload::changes::PropertyChange;
use crate::reload::class_mapping::ClassMapping;
use crate::reload::compiled::stays;
use crate::reload::conversion::keep_original;
use crate::reload::converted::Later;
use crate::reload::defaults::refer_to_own;
use crate::reload::object_plan::ObjectPlan;
use crate::reload::plan::{Notes, plan_class};

pub(super) fn whole(object: ObjectHandle) -> Carried {
    Carried { object, templates: None }
}

pub(super) const OBJECT: &str = "/Script/Game.Thing";

fn entry(name: &str, number: i128) -> EnumEntry {
    EnumEntry { name: name.into(), number, display: "".into(), is_hidden: false, doc: "".into() }
}

pub(super) fn core() -> Rc<Core> {
    let core = Core::new().expect("a finalizer thread");
    for package in ["Game", "Test"] {
        core.world.types.declare_package(package);
    }
    let enumeration = |name: &str, underlying, angry| EnumDecl {
        package: "Test".into(),
        name: name.into(),
        origin: Origin::Native,
        underlying,
        is_flags: false,
        entries: [("Calm", 0), ("Angry", angry)].map(|(name, number)| entry(name, number)).into(),
        fingerprint: 0,
        doc: String::new(),
    };
    let batch = Batch {
        enums: vec![enumeration("Mood", PropertyKind::U8, 1), enumeration("OtherMood", PropertyKind::I16, -300)],
        interfaces: vec![InterfaceDecl::new("Game", "Sings", Origin::Native)],
        classes: vec![ClassDecl {
            interfaces: vec!["/Script/Game.Sings".into()],
            ..ClassDecl::new("Game", "Thing", "", Origin::Native)
        }],
        ..Batch::default()
    };
    core.world.types.declare(&core.world.names, &batch).expect("a right declaration");
    core
}

/// Build of the test class, with type and default of its only property. An empty type means that the class has no property.
#[derive(Clone, Copy, Debug)]
pub(super) struct Build<'a> {
    pub(super) words: &'a str,
    pub(super) default: &'a str,
    pub(super) name: &'a str,
    /// Set if a dynamic base class declares the property.
    pub(super) is_in_base: bool,
    /// Source type of the conversion function in the class. Empty if the class has no conversion function.
    pub(super) from: &'a str,
}

impl<'a> From<(&'a str, &'a str)> for Build<'a> {
    fn from((words, default): (&'a str, &'a str)) -> Self {
        Self { words, default, name: "x", is_in_base: false, from: "" }
    }
}

/// Declares the test class and a struct with these fields, and creates the class default object.
pub(super) fn build<'a>(core: &Core, build: impl Into<Build<'a>>, fields: &[(&str, PropertyKind)]) -> Rc<Class> {
    let Build { words, default, name, is_in_base, from } = build.into();
    let fields = fields.iter().map(|(name, kind)| PropertyDecl::new(name, *kind)).collect();
    let structs = vec![StructDecl { fields, ..StructDecl::new("Test", "Point", Origin::Dynamic) }];
    core.world.types.declare(&core.world.names, &Batch { structs, ..Batch::default() }).expect("a right struct");
    let typed = |name: &str, words: &str| {
        let ty = PropertyType::parse(words, &core.world.types).unwrap_or_else(|error| panic!("{words}: {error}"));
        PropertyDecl::new(name, ty.kind()).of_type(ty.type_path())
    };
    let x = (!words.is_empty()).then(|| typed(name, words).with_default(default));
    let function = (!from.is_empty()).then(|| FunctionDecl {
        flags: function_flags::STATIC,
        params: vec![typed("earlier", from), typed(RESULT_NAME, words).with_flags(property_flags::RETURN)],
        meta: vec![(CONVERTS.to_owned(), name.to_owned())],
        ..FunctionDecl::new("converted", idle())
    });
    let part =
        PropertyDecl::new("part", PropertyKind::OBJECT).of_type(OBJECT).with_flags(property_flags::DEFAULT_SUBOBJECT);
    let functions: Vec<_> = function.into_iter().collect();
    let class = |name: &str, base: &str, properties| {
        let functions = functions.clone();
        let decl = ClassDecl { properties, functions, ..ClassDecl::new("Game", name, base, Origin::Dynamic) };
        let batch = Batch { classes: vec![decl], ..Batch::default() };
        let class = core.world.types.declare(&core.world.names, &batch).expect("a right class").classes.remove(0);
        class.cdo.set(allocate(core, &class, object_flags::CDO));
        class
    };
    if is_in_base {
        class("Solid", OBJECT, x.into_iter().collect());
        return class("Cube", "/Script/Game.Solid", vec![part]);
    }
    class("Cube", OBJECT, x.into_iter().chain([part]).collect())
}

/// Creates an object with the defaults of its class. Also creates the subobject of the object.
pub(super) fn allocate(core: &Core, class: &Rc<Class>, flags: u32) -> ObjectHandle {
    let objects = &core.world.objects;
    let object = objects.allocate(class, None, ObjectHandle::NONE, flags);
    let thing = core.world.types.class_by_path(OBJECT).expect("it is declared");
    let name = core.world.names.intern("part");
    let part = objects.allocate(&thing, Some(name), object, object_flags::SUBOBJECT);
    objects.adopt(object, &"part".into(), part);
    if class.find_property("part").is_some() {
        objects.write_unasked(object, "part", &Value::Object(part)).expect("it refers to a thing");
    }
    for property in class.properties.iter().filter(|property| property.default.is_some()) {
        objects.write_unasked(object, &property.text, property.default.as_ref().expect("it has one")).expect("it fits");
    }
    object
}

pub(super) fn print(core: &Core, object: ObjectHandle) -> String {
    core.world.objects.read_value(object, "x").expect("it has x").print(&core.world.names)
}

pub(super) const SAME: &[(&str, PropertyKind)] = &[("a", PropertyKind::U8), ("b", PropertyKind::F64)];

/// Old type and default, value of the object, new type and default, and expected value.
type Row<'a> = ((&'a str, &'a str), &'a str, (&'a str, &'a str), &'a str);

fn check((old, own, new, expected): Row<'_>, fields: &[(&str, PropertyKind)]) {
    let core = core();
    let before = build(&core, old, SAME);
    let object = allocate(&core, &before, 0);
    if !own.is_empty() {
        set(&core, object, own);
    }
    reload(&core, object, &before, new, fields);
    assert_eq!(print(&core, object), expected, "{old:?} {own} to {new:?}");
}

pub(super) fn set(core: &Core, object: ObjectHandle, own: &str) {
    let class = core.world.objects.class(object).expect("it lives");
    let ty = &class.find_property("x").expect("it has x").ty;
    let value = Value::parse(own, ty, &core.world.names).unwrap_or_else(|error| panic!("{error}"));
    core.world.objects.write_unasked(object, "x", &value).expect("it fits");
}

/// Migrates the object to the next build. Checks that the value of the object is equal before and after the commit.
pub(super) fn reload<'a>(
    core: &Core,
    object: ObjectHandle,
    before: &Rc<Class>,
    new: impl Into<Build<'a>>,
    fields: &[(&str, PropertyKind)],
) -> (Rc<Class>, Vec<PropertyChange>) {
    reload_with(core, object, before, (new.into(), fields), &mut Later::default())
}

/// Migrates the object like [`reload`]. `later` receives the pending conversions.
fn reload_with(
    core: &Core,
    object: ObjectHandle,
    before: &Rc<Class>,
    (new, fields): (Build<'_>, &[(&str, PropertyKind)]),
    later: &mut Later,
) -> (Rc<Class>, Vec<PropertyChange>) {
    core.world.types.begin_shadow();
    core.world.types.hide_in_shadow(["/Script/Test.Point", "/Script/Game.Cube"]);
    core.world.objects.begin_shadow();
    let after = build(core, new, fields);
    let (mut changes, mut structure) = Default::default();
    let mut notes = Notes { changes: &mut changes, structure: &mut structure };
    let plan = plan_class(core, (before, &after), &ObjectPlan::Carried, None, &mut notes).expect("a plan");
    let mapping = ClassMapping { is_settled: true, ..ClassMapping::default() };
    let from = Surroundings { core, mapping: &mapping };
    if stays(from, whole(object), &plan, &mut changes).expect("its values are compared") {
        core.world.objects.keep_body(object, &after).expect("it lives");
    } else {
        let body = carry(from, whole(object), &plan, &mut changes, later).expect("its values come along");
        core.world.objects.stage(object, body).expect("it lives");
    }
    let has = || core.world.objects.read_value(object, "x").map(|value| value.print(&core.world.names)).ok();
    let in_shadow = has();
    drop(core.world.objects.commit_shadow());
    core.world.types.commit_shadow();
    assert_eq!(in_shadow, has(), "when the old body has ended");
    changes.retain(|change| !change.change.is_empty());
    (after, changes)
}

/// Sets the value `own` in the first build, reloads with each further build, and compares the final value with `expected`.
fn check_builds(builds: &[(&str, &str)], own: &str, expected: &str) {
    let core = core();
    let mut class = build(&core, builds[0], SAME);
    let object = allocate(&core, &class, 0);
    set(&core, object, own);
    for next in &builds[1..] {
        class = reload(&core, object, &class, *next, SAME).0;
    }
    assert_eq!(print(&core, object), expected, "{builds:?} {own}");
}

pub(super) const GONE: (&str, &str) = ("", "");

#[test]
fn a_property_that_returns_has_its_values_again() {
    let number = ("f64", "1");
    check_builds(&[number, GONE, number], "2.5", "2.5");
    check_builds(&[number, GONE, GONE, GONE, ("f64", "3")], "2.5", "2.5");
    check_builds(&[number, GONE, number, GONE, number], "2.5", "2.5");
    check_builds(&[number, GONE, ("Optional(f64)", "none")], "2.5", "some(2.5)");
    check_builds(&[number, GONE, ("String", "\"a\""), number], "2.5", "2.5");
    check_builds(
        &[("Array(Object(/Script/Game.Thing))", ""), GONE, ("Array(Object(/Script/Game.Thing))", "")],
        "(none)",
        "(none)",
    );
    // An object with the old default follows the new default.
    check_builds(&[number, GONE, ("f64", "3")], "1", "3");
}

#[test]
fn unconvertible_values_are_restored_when_their_type_returns() {
    let (number, whole) = (("f64", "1"), ("i32", "7"));
    check_builds(&[number, whole], "2.5", "7");
    check_builds(&[number, whole, number], "2.5", "2.5");
    check_builds(&[number, whole, whole, GONE, number], "2.5", "2.5");
    // A property of each type below accepts the value that was put aside, and restores the value.
    check_builds(&[number, whole, ("Optional(f64)", "none")], "2.5", "some(2.5)");

    // A write sets the object's own value. The older value that was put aside is discarded.
    let core = core();
    let first = build(&core, number, SAME);
    let object = allocate(&core, &first, 0);
    set(&core, object, "2.5");
    let (second, changes) = reload(&core, object, &first, whole, SAME);
    assert_eq!(changes.iter().map(|change| (change.defaulted, change.dormant)).collect::<Vec<_>>(), [(1, 0)]);
    set(&core, object, "9");
    let (third, _) = reload(&core, object, &second, number, SAME);
    assert_eq!(print(&core, object), "9");
    set(&core, object, "1");
    reload(&core, object, &third, whole, SAME);
    assert_eq!(print(&core, object), "7");
}

/// Step of a test that migrates one property of one object.
#[derive(Clone, Copy)]
enum Step<'a> {
    /// Reloads with this build, and expects this value.
    Build((&'a str, &'a str), &'a str),
    /// Reloads with this build. A conversion function of the plugin author returns this result.
    Function((&'a str, &'a str), &'a str),
    Write(&'a str),
}

/// Applies the steps to an object with the value `own`, which differs from the default. Returns the report of the last reload.
fn check_steps(first: (&str, &str), own: &str, steps: &[Step<'_>]) -> Vec<PropertyChange> {
    let core = core();
    let mut class = build(&core, first, SAME);
    let object = allocate(&core, &class, 0);
    set(&core, object, own);
    let mut changes = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Build(next, expected) => {
                (class, changes) = reload(&core, object, &class, *next, SAME);
                assert_eq!(print(&core, object), *expected, "step {at}, {next:?}");
            }
            Step::Function(next, result) => {
                let from = class.find_property("x").expect("it has x").ty.to_string();
                let (next, mut later) = (Build { from: &from, ..Build::from(*next) }, Later::default());
                (class, changes) = reload_with(&core, object, &class, (next, SAME), &mut later);
                let pending = later.conversions.pop().unwrap_or_else(|| panic!("step {at}: no function is called"));
                set(&core, object, result);
                let value = core.world.objects.read_value(object, "x").expect("it has x");
                for target in pending.targets {
                    keep_original(&core, (object, class.cdo.get()), target, &value).expect("it lives");
                }
            }
            Step::Write(value) => set(&core, object, value),
        }
    }
    changes
}

#[test]
fn a_redo_restores_a_value_that_was_converted_from_a_result_of_a_function() {
    use Step::{Build, Function, Write};
    let [f64, i32, i64] = [("f64", "1"), ("i32", "3"), ("i64", "3")];
    let mut steps = vec![Function(i32, "4")];
    for _ in 0..12 {
        steps.extend([Build(i64, "4"), Build(f64, "4.5"), Build(f64, "4.5")]);
    }
    steps.push(Build(i64, "4"));
    let changes = check_steps(f64, "4.5", &steps);
    assert_eq!(changes.iter().map(|change| (change.converted, change.defaulted)).collect::<Vec<_>>(), [(1, 0)]);
    // After the redo, each undo restores the original value of the undone step.
    steps.extend([Build(i32, "4"), Build(f64, "4.5"), Build(i64, "4"), Build(f64, "4.5")]);
    check_steps(f64, "4.5", &steps);
    // A write to the property discards the value that was put aside.
    let undo = || vec![Function(i32, "4"), Build(i64, "4"), Build(f64, "4.5")];
    let written = [Write("6.5"), Build(i64, "3"), Build(f64, "6.5")];
    check_steps(f64, "4.5", &undo().into_iter().chain(written).collect::<Vec<_>>());
    let written = [Write("1"), Build(("f64", "2"), "2")];
    check_steps(f64, "4.5", &undo().into_iter().chain(written).collect::<Vec<_>>());
    let written = [Build(i64, "4"), Write("7"), Build(i32, "7"), Build(f64, "7")];
    check_steps(f64, "4.5", &undo().into_iter().chain(written).collect::<Vec<_>>());
}

#[test]
fn a_redo_restores_a_value_that_was_converted_by_an_enum() {
    let (text, whole) = (("String", "\"a\""), ("i32", "3"));
    let mood = ("Enum(/Script/Test.Mood)", "");
    check_builds(&[text, mood, whole, text, whole], "\"1\"", "1");
    check_builds(&[text, mood, whole, text, whole, text, whole, text], "\"1\"", "\"1\"");
    check_builds(&[text, mood, whole, text, GONE, whole], "\"1\"", "1");
}

#[test]
fn an_undo_of_a_redo_restores_a_value_that_was_converted_from_a_written_value() {
    use Step::{Build, Function, Write};
    let [f64, text, i32] = [("f64", "1"), ("String", "\"none\""), ("i32", "3")];
    let steps = [
        Function(text, "\"s9.5\""),
        Write("\"s100\""),
        Function(i32, "100"),
        Build(f64, "100"),
        Build(text, "\"s100\""),
        Build(f64, "100"),
        Build(i32, "100"),
        Build(text, "\"s100\""),
    ];
    check_steps(f64, "9.5", &steps);
}

#[test]
fn an_undo_of_a_function_restores_the_form_that_the_property_had() {
    use Step::{Build, Function, Write};
    let [text, whole, number] = [("String", ""), ("i32", "3"), ("f64", "2")];
    let mood = ("Enum(/Script/Test.Mood)", "");
    let steps = || vec![Build(mood, "Angry"), Build(whole, "1"), Function(number, "10.5")];
    let check_after = |more: &[Step<'_>]| {
        let all: Vec<_> = steps().into_iter().chain(more.iter().copied()).collect();
        check_steps(text, "\"Angry\"", &all);
    };
    check_after(&[Build(whole, "1"), Build(mood, "Angry"), Build(text, "\"Angry\"")]);
    check_after(&[Build(whole, "1"), Build(number, "10.5"), Build(whole, "1")]);
    // Undoes all steps in one reload, and redoes all steps in the next reload.
    check_after(&[Build(text, "\"Angry\""), Build(number, "10.5"), Build(text, "\"Angry\"")]);
    // A second conversion function does not discard the earlier values.
    check_after(&[Function(("u8", "4"), "10"), Build(number, "10.5"), Build(whole, "1"), Build(text, "\"Angry\"")]);
    // A write discards the earlier values.
    check_after(&[Write("7"), Build(whole, "7")]);
    check_after(&[Build(whole, "1"), Write("0"), Build(mood, "Calm")]);
}

#[test]
fn references_of_a_removed_property_stay_alive_with_their_object() {
    let core = core();
    let reference = ("Object(/Script/Game.Thing)", "");
    let first = build(&core, reference, SAME);
    let object = allocate(&core, &first, 0);
    let thing = core.world.types.class_by_path(OBJECT).expect("it is declared");
    let friend = core.world.objects.allocate(&thing, None, ObjectHandle::NONE, 0);
    core.world.objects.write_unasked(object, "x", &Value::Object(friend)).expect("it fits");
    assert!(core.world.objects.add_root(object), "it lives");
    let (second, changes) = reload(&core, object, &first, GONE, SAME);
    assert_eq!(changes.iter().map(|change| (change.dormant, change.dropped)).collect::<Vec<_>>(), [(1, 0)]);
    let lost = || unreachable(&core.world, &*core).expect("it can be marked");
    assert!(!lost().contains(&friend));
    reload(&core, object, &second, reference, SAME);
    assert_eq!(core.world.objects.read_value(object, "x"), Ok(Value::Object(friend)));
    core.world.objects.write_unasked(object, "x", &Value::Object(ObjectHandle::NONE)).expect("it fits");
    assert!(lost().contains(&friend), "nothing of it is left behind");
}

#[test]
fn values_of_every_kind_stay_when_nothing_changes() {
    for (words, own) in [
        ("Utf8String", "\"größer\""),
        ("AnsiString", "\"größer\""),
        ("Text", "(\"Open\", \"menu\", \"open\")"),
        ("SubclassOf(/Script/Game.Thing)", "/Script/Game.Thing"),
        ("SoftClass(/Script/Game.Thing)", "/Script/Game.Gone"),
        ("SoftObject(/Script/Game.Thing)", "/World/door"),
        ("LazyObject(/Script/Game.Thing)", "00000000000000010000000000000002"),
        ("WeakObject(/Script/Game.Thing)", "#900.1"),
        ("ScriptInterface(/Script/Game.Sings)", "none"),
        ("Array(Map(String, Optional(f64)))", "(((\"a\", some(1)), (\"b\", none)), ())"),
        ("Set(Name)", "(a, b)"),
        ("Map(u8, /Script/Test.Point)", "((1, (a=1, b=2)))"),
        ("Optional(Array(/Script/Test.Point))", "some(((a=1, b=2)))"),
        ("Delegate(/Script/Test.Point -> bool)", "#900.1:open"),
        ("MulticastDelegate(u8)", "(#900.1:open, #901.1:shut)"),
        ("SparseDelegate()", "(#900.1:open)"),
        ("FieldPath", "/Script/Game.Cube:x"),
    ] {
        check(((words, ""), own, (words, ""), own), SAME);
    }
}

#[test]
fn objects_with_the_old_default_follow_the_new_one() {
    check((("Array(u8)", "(1, 2)"), "", ("Array(u8)", "(3)"), "(3)"), SAME);
    check((("Array(u8)", "(1, 2)"), "(2, 1)", ("Array(u8)", "(3)"), "(2, 1)"), SAME);
    check((("Set(u8)", "(1, 2)"), "(2, 1)", ("Set(u8)", "(3)"), "(3)"), SAME);
    check((("Map(Name, u8)", "((a, 1))"), "((a, 2))", ("Map(Name, u8)", "()"), "((a, 2))"), SAME);
    check((("Optional(u8)", "some(1)"), "", ("Optional(u8)", "none"), "none"), SAME);
    check((("Array(u8)", "(1)"), "(1)", ("Array(f64)", "(2.5)"), "(2.5)"), SAME);
}

#[test]
fn an_own_value_that_becomes_the_default_remains_own() {
    let (one, seven, nine) = (("i32", "1"), ("i32", "7"), ("i32", "9"));
    check_builds(&[one, seven, one], "7", "7");
    check_builds(&[one, seven, seven, nine, nine], "7", "7");
    check_builds(&[one, ("i64", "7"), ("i64", "9"), one], "7", "7");
    check_builds(&[one, GONE, seven, nine], "7", "7");
    check_builds(&[one, seven, nine], "1", "9");
    let list = "Array(Object(/Script/Game.Thing))";
    check_builds(&[(list, "(none)"), (list, "()"), (list, "(none)")], "()", "()");
}

#[test]
fn another_type_accepts_values_without_loss() {
    check((("Array(u8)", ""), "(1, 2)", ("Set(i64)", "(9)"), "(1, 2)"), SAME);
    check((("Array(i32)", ""), "(1, 300)", ("Array(u8)", "(9)"), "(9)"), SAME);
    check((("u8", ""), "7", ("Optional(f32)", ""), "some(7)"), SAME);
    check((("String", ""), "größer", ("AnsiString", ""), "\"größer\""), SAME);
    check((("Map(String, u8)", ""), "((a, 1))", ("Map(Name, String)", "((b, c))"), "((b, \"c\"))"), SAME);
    check((("Delegate()", ""), "#900.1:open", ("MulticastDelegate()", ""), "(#900.1:open)"), SAME);
}

#[test]
fn a_struct_may_change_deep_inside_of_a_container() {
    let wider = &[("a", PropertyKind::F64), ("b", PropertyKind::F64), ("c", PropertyKind::STRING)];
    let list = "Array(/Script/Test.Point)";
    check(((list, ""), "((a=1, b=2), (a=3))", (list, ""), "((a=1, b=2, c=\"\"), (a=3, b=0, c=\"\"))"), wider);
    let nested = "Map(u8, Optional(/Script/Test.Point))";
    check(((nested, ""), "((1, some((a=1, b=2))))", (nested, ""), "((1, some((a=1, b=2, c=\"\"))))"), wider);
    // Removing a field does not affect the remaining fields. The value of the removed field is put aside.
    let narrower = &[("a", PropertyKind::U8)];
    check(((list, ""), "((a=1, b=2))", (list, "((a=9))"), "((a=1))"), narrower);
    let as_wide = &[("a", PropertyKind::I8), ("b", PropertyKind::F64)];
    check(((list, ""), "((a=100, b=2))", (list, ""), "((a=100, b=2))"), as_wide);
}

#[test]
fn a_default_that_names_parts_names_the_objects_own() {
    let words = "Array(Object(/Script/Game.Thing))";
    for is_own in [false, true] {
        let core = core();
        let part_of = |object| core.world.objects.subobject(object, "part").expect("it has a part");
        let refer = |object, to: ObjectHandle| {
            core.world.objects.write_unasked(object, "x", &Value::Array(vec![Value::Object(to)])).expect("it fits");
        };
        let before = build(&core, (words, ""), SAME);
        refer(before.cdo.get(), part_of(before.cdo.get()));
        let object = allocate(&core, &before, 0);
        // The default is a reference to the object's own subobject. An empty reference differs from the default.
        refer(object, if is_own { ObjectHandle::NONE } else { part_of(object) });
        core.world.types.begin_shadow();
        core.world.types.hide_in_shadow(["/Script/Test.Point", "/Script/Game.Cube"]);
        core.world.objects.begin_shadow();
        let after = build(&core, (words, ""), SAME);
        let twice = Value::Array(vec![Value::Object(part_of(after.cdo.get())); 2]);
        core.world.objects.write_unasked(after.cdo.get(), "x", &twice).expect("it fits");
        let (mut changes, mut structure) = Default::default();
        let mut notes = Notes { changes: &mut changes, structure: &mut structure };
        let plan = plan_class(&core, (&before, &after), &ObjectPlan::Carried, None, &mut notes).expect("a plan");
        let mut later = Later::default();
        let body = carry(
            Surroundings { core: &core, mapping: &ClassMapping::default() },
            whole(object),
            &plan,
            &mut changes,
            &mut later,
        )
        .expect("its values come along");
        core.world.objects.stage(object, body).expect("it lives");
        for own in &later.to_own {
            refer_to_own(&core, own).expect("its parts are there");
        }
        let own = part_of(object);
        let expected = if is_own { "(none)".to_owned() } else { format!("({own}, {own})") };
        assert_eq!(print(&core, object), expected);
        core.world.types.commit_shadow();
    }
}

/// Uses the kind `Toy`. A single file of the reflection core defines this kind, only for tests.
#[test]
fn a_value_of_a_new_kind_is_carried() {
    for row in [
        (("Toy", "#00000001"), "#00000002", ("Toy", "#00000003"), "#00000002"),
        (("Toy", "#00000001"), "", ("Toy", "#00000003"), "#00000003"),
        (("Toy", "#00000001"), "#00000002", ("u8", "9"), "2"),
        (("u16", "1"), "300", ("Toy", "#00000009"), "#0000012c"),
        (("Array(Toy)", "()"), "(#00000002)", ("Array(i64)", "()"), "(2)"),
        (("Toy", "#00000001"), "#00000300", ("u8", "9"), "9"),
    ] {
        check(row, SAME);
    }
}
