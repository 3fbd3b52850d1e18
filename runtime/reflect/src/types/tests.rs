//! Tests of type declarations, lookup, and the shadow of a reload.

mod redirects;

use std::collections::BTreeSet;
use std::rc::Rc;

use alcedo_abi::kinds::{PropertyKind, class_flags, function_flags, property_flags};
use alcedo_base::handles::ClassId;
use expect_test::{Expect, expect};

use crate::World;
use crate::class::{Class, Subobject};
use crate::decl::{Batch, ClassDecl, FunctionDecl, InterfaceDecl, PropertyDecl, StructDecl};
use crate::function::Function;
use crate::origin::Origin;
use crate::property::Property;
use crate::testing::{declare, dynamic, native, world};

const OBJECT: &str = "/Script/Engine.Object";

fn f64(name: &str) -> PropertyDecl {
    PropertyDecl::new(name, PropertyKind::F64)
}

fn reference(name: &str, class: &str) -> PropertyDecl {
    PropertyDecl::new(name, PropertyKind::OBJECT).of_type(class)
}

fn held(name: &str, path: &str) -> PropertyDecl {
    PropertyDecl::new(name, PropertyKind::STRUCT).of_type(path)
}

fn function(name: &str, flags: u64, params: &[PropertyDecl]) -> FunctionDecl {
    FunctionDecl { flags, params: params.to_vec(), ..FunctionDecl::new(name, Rc::new(|_, _| Ok(()))) }
}

fn event(name: &str, params: &[PropertyDecl]) -> FunctionDecl {
    function(name, function_flags::NATIVE_EVENT, params)
}

fn overriding(name: &str, class: &str, params: &[PropertyDecl]) -> FunctionDecl {
    FunctionDecl { overrides: class.to_owned(), ..function(name, 0, params) }
}

fn with_functions(decl: ClassDecl, functions: Vec<FunctionDecl>) -> ClassDecl {
    ClassDecl { functions, ..decl }
}

fn structure(name: &str, fields: &[PropertyDecl]) -> StructDecl {
    StructDecl { fields: fields.to_vec(), ..StructDecl::new("Game", name, Origin::Dynamic) }
}

/// Declares `Actor` with a property, an event and a plain function, and an empty `Component`.
fn engine() -> World {
    let world = world();
    let actor = with_functions(
        native("Actor", OBJECT, &[f64("seed"), reference("part", OBJECT)]),
        vec![
            event("tick", &[PropertyDecl::new("delta", PropertyKind::F32)]),
            function("describe", 0, &[PropertyDecl::result(PropertyKind::STRING)]),
        ],
    );
    declare(&world, [actor, native("Component", OBJECT, &[])]);
    world
}

const ACTOR: &str = "/Script/Engine.Actor";

fn refused(structs: Vec<StructDecl>, classes: Vec<ClassDecl>, expected: &str) {
    let world = engine();
    let before = describe_all(&world);
    let error =
        world.types.declare(&world.names, &Batch { structs, classes, ..Batch::default() }).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}\n does not say\n{expected}");
    assert_eq!(describe_all(&world), before, "nothing of the batch is there");
}

fn describe_all(world: &World) -> Vec<String> {
    world.types.all_classes().iter().map(|class| describe(class)).collect()
}

/// Formats all metadata of a class except its origin, one line per member.
fn describe(class: &Class) -> String {
    let property = |property: &Rc<Property>| {
        let Property { text, display, ty, flags, default, doc, offset, owner, .. } = &**property;
        format!("{owner}:{text} \"{display}\" {ty} {flags:x} {default:?} {doc:?} @{offset}")
    };
    let function = |function: &Rc<Function>| {
        let Function { flags, vslot, overrides, fingerprint, doc, .. } = &**function;
        format!("{function:?} {flags:x} {vslot:?} {overrides:?} {fingerprint:x} {doc:?}")
    };
    let part = |part: &Subobject| {
        format!("part {} {} {}", part.name, part.class_path, if part.is_root { "Root" } else { "Part" })
    };
    let head = format!("{} {:x} {:?} {}/{}", class.path, class.flags, class.doc, class.size(), class.align());
    let mut lines = vec![head, format!("{:?} {:?}", class.subobject_overrides, class.interfaces)];
    lines.extend(class.properties.iter().map(property));
    lines.extend(class.own_functions.iter().map(function));
    lines.extend(class.vtable.iter().map(|function| function.path.to_string()));
    lines.extend(class.subobjects.iter().map(part));
    lines.join("\n")
}

#[test]
fn each_broken_declaration_is_refused_by_name() {
    let d = |properties: &[PropertyDecl]| vec![dynamic("X", ACTOR, properties)];
    let f = |function: FunctionDecl| vec![with_functions(dynamic("X", ACTOR, &[]), vec![function])];
    let s = |structs: &[StructDecl]| structs.to_vec();
    let none = Vec::new;
    for (structs, classes, expected) in [
        (
            none(),
            vec![dynamic("Default__Actor", ACTOR, &[])],
            "the class /Script/Game.Default__Actor cannot have this name: names that begin with Default__ belong",
        ),
        (
            none(),
            vec![ClassDecl::new("Gone", "X", OBJECT, Origin::Dynamic)],
            "the package Gone, which the host does not know",
        ),
        (none(), vec![dynamic("9x", OBJECT, &[])], "\"9x\" in Game cannot be a name"),
        (
            none(),
            vec![ClassDecl { interfaces: vec!["/Script/Game.Hums".to_owned()], ..dynamic("X", OBJECT, &[]) }],
            "/Script/Game.X implements /Script/Game.Hums, which is not declared",
        ),
        (
            none(),
            d(&[PropertyDecl::new("who", PropertyKind::SCRIPT_INTERFACE).of_type(ACTOR)]),
            "/Script/Game.X:who cannot be a ScriptInterface(/Script/Engine.Actor): unknown interface /Script/Engine.Actor",
        ),
        (none(), d(&[f64("a b")]), "\"a b\" in /Script/Game.X cannot be a name"),
        (none(), vec![native("Actor", OBJECT, &[])], "/Script/Engine.Actor is declared already"),
        (none(), vec![dynamic("X", OBJECT, &[]), dynamic("X", OBJECT, &[])], "/Script/Game.X is declared already"),
        (s(&[structure("X", &[])]), vec![dynamic("X", OBJECT, &[])], "/Script/Game.X is declared already"),
        (
            s(&[
                structure("A", &[held("b", "/Script/Game.B")]),
                structure("B", &[held("c", "/Script/Game.C")]),
                structure("C", &[held("b", "/Script/Game.B")]),
            ]),
            none_classes(),
            "types would have no end: /Script/Game.B → /Script/Game.C → /Script/Game.B;",
        ),
        (
            none(),
            vec![dynamic("A", "/Script/Game.B", &[]), dynamic("B", "/Script/Game.A", &[])],
            "derived from each other: /Script/Game.A → /Script/Game.B → /Script/Game.A;",
        ),
        (
            none(),
            vec![dynamic("X", "/Script/Game.Gone", &[])],
            "/Script/Game.X is derived from /Script/Game.Gone, which is not declared: declare it or load its \
             module first; delete a library that is left from an earlier build",
        ),
        (none(), vec![dynamic("X", "", &[])], "/Script/Game.X names no base class"),
        (
            none(),
            d(&[held("v", "/Script/Game.V")]),
            "/Script/Game.X:v is a struct of /Script/Game.V, which is not declared",
        ),
        (
            none(),
            d(&[reference("o", "/Script/Game.O")]),
            "/Script/Game.X:o is a reference of /Script/Game.O, which is not",
        ),
        (none(), d(&[reference("o", "Actor")]), "/Script/Game.X:o refers to a type: \"Actor\" is not a path"),
        (none(), d(&[PropertyDecl::new("k", PropertyKind(77))]), "/Script/Game.X:k has the kind 77"),
        (none(), d(&[f64("a"), f64("a")]), "/Script/Game.X has two members of the name a"),
        (none(), d(&[f64("seed")]), "/Script/Game.X:seed would hide /Script/Engine.Actor:seed"),
        (none(), d(&[f64("tick")]), "/Script/Game.X:tick would hide /Script/Engine.Actor:tick"),
        (none(), f(function("describe", 0, &[])), "/Script/Game.X:describe would hide /Script/Engine.Actor:describe"),
        (
            none(),
            vec![
                with_functions(dynamic("X", ACTOR, &[f64("seed")]), vec![event("tick", &[])]),
                with_functions(dynamic("Y", ACTOR, &[]), vec![overriding("seed", ACTOR, &[])]),
            ],
            "/Script/Game.X:seed would hide /Script/Engine.Actor:seed, /Script/Game.X:tick would hide /Script/Engine.Actor:tick, \
             /Script/Game.Y:seed would hide /Script/Engine.Actor:seed: rename each new member",
        ),
        (none(), f(event("tick", &[])), "/Script/Game.X:tick would hide /Script/Engine.Actor:tick"),
        (none(), f(overriding("seed", ACTOR, &[])), "/Script/Game.X:seed would hide /Script/Engine.Actor:seed"),
        (
            none(),
            d(&[f64("a").with_default("fast")]),
            "the default of /Script/Game.X:a cannot be read: `fast` is not a valid f64",
        ),
        (none(), d(&[reference("o", ACTOR).with_default("#1.1")]), "only none can be a default"),
        (none(), f(function("f", 0, &[PropertyDecl::result(PropertyKind::U8), f64("a")])), "not its last parameter"),
        (none(), f(function("f", 0, &[f64("a"), f64("a")])), "/Script/Game.X:f has two members of the name a"),
        (
            none(),
            f(overriding("tock", ACTOR, &[])),
            "overrides /Script/Engine.Actor:tock: the base has no function with this name",
        ),
        (none(), f(overriding("describe", ACTOR, &[])), "/Script/Engine.Actor:describe: it is a plain function"),
        (none(), f(overriding("tick", "/Script/Engine.Component", &[])), "that class is not one of its bases"),
        (none(), f(overriding("tick", "/Script/Engine.Gone", &[])), "the class is unknown"),
        (
            none(),
            f(overriding("tick", ACTOR, &[f64("delta")])),
            "/Script/Game.X:tick(f64) overrides /Script/Engine.Actor:tick(f32)",
        ),
        (
            none(),
            f(FunctionDecl { fingerprint: 1, ..function("f", 0, &[f64("a")]) }),
            "/Script/Game.X:f is (f64) here, but its module was compiled for another declaration: rebuild the module; if it names types of the \
             host or of another module, first write their glue again with `alcedo glue`",
        ),
        (
            s(&[StructDecl { fingerprint: 1, ..structure("S", &[f64("x")]) }]),
            none_classes(),
            "/Script/Game.S is (x: f64 at 0; 8 bytes, aligned to 8) here",
        ),
        (
            none(),
            d(&[f64("p").with_flags(property_flags::DEFAULT_SUBOBJECT)]),
            "the property is a f64; it must be a reference",
        ),
        (
            none(),
            vec![part_of_class(dynamic("X", ACTOR, &[]), "part", ACTOR)],
            "neither the class nor a base has such a subobject",
        ),
        (
            none(),
            vec![part_of_class(dynamic("X", OBJECT, &[reference("p", ACTOR)]), "p", "/Script/Engine.Component")],
            "/Script/Engine.Component is not a /Script/Engine.Actor",
        ),
    ] {
        refused(structs, classes, expected);
    }
}

fn none_classes() -> Vec<ClassDecl> {
    Vec::new()
}

fn part_of_class(decl: ClassDecl, property: &str, class: &str) -> ClassDecl {
    ClassDecl { subobjects: vec![(property.to_owned(), class.to_owned())], ..decl }
}

#[test]
fn an_own_subobject_keeps_its_class_and_role() {
    let world = engine();
    let root = reference("root", "/Script/Engine.Component")
        .with_flags(property_flags::DEFAULT_SUBOBJECT | property_flags::ROOT_COMPONENT);
    let class = part_of_class(dynamic("X", ACTOR, &[root]), "root", ACTOR);
    let class = declare(&world, [class]).remove(0);
    let Subobject { class_path, is_root, .. } = &class.subobjects[0];
    assert_eq!((&**class_path, *is_root), ("/Script/Engine.Component", true));
}

#[test]
fn too_large_types_are_refused_immediately() {
    let mut structs = vec![structure("S0", &[PropertyDecl::new("text", PropertyKind::STRING)])];
    for level in 1..30 {
        let path = format!("/Script/Game.S{}", level - 1);
        structs.push(structure(&format!("S{level}"), &[held("a", &path), held("b", &path)]));
    }
    refused(structs, Vec::new(), "bytes, more than a type may have");
}

#[test]
fn batches_are_declared_base_first_in_any_order() {
    let world = engine();
    let classes = declare(
        &world,
        [
            dynamic("C", "/Script/Game.B", &[reference("d", "/Script/Game.D")]),
            dynamic("D", OBJECT, &[]),
            dynamic("B", ACTOR, &[]),
        ],
    );
    let names: Vec<_> = classes.iter().map(|class| (&*class.name, class.id)).collect();
    assert_eq!(names, [("B", ClassId(4)), ("C", ClassId(5)), ("D", ClassId(6))]);
    let (b, c) = (&classes[0], &classes[1]);
    assert!(c.is_a(b) && c.is_a(c) && !b.is_a(c) && !classes[2].is_a(b));
    let names = |chain: Vec<Rc<Class>>| chain.iter().map(|class| class.name.to_string()).collect::<Vec<_>>().join(" ");
    assert_eq!(names(c.chain()), "Object Actor B C");
    assert_eq!(names(c.dynamic_chain()), "B C");
    assert_eq!(&*c.nearest_native().unwrap().name, "Actor");
    assert_eq!(&*c.common_base(&classes[2]).unwrap().name, "Object");
}

#[test]
fn properties_follow_those_of_the_base() {
    let world = world();
    let small = PropertyDecl::new("small", PropertyKind::U8);
    let classes = declare(
        &world,
        [
            native("A", OBJECT, &[f64("a"), small.clone()]),
            dynamic("B", "/Script/Engine.A", &[PropertyDecl::new("tiny", PropertyKind::U8), f64("b")]),
        ],
    );
    let offsets: Vec<_> = classes[1].properties.iter().map(|property| (&*property.text, property.offset)).collect();
    assert_eq!(offsets, [("a", 0), ("small", 8), ("tiny", 9), ("b", 16)]);
    assert_eq!((classes[0].end(), classes[0].size(), classes[1].size()), (9, 16, 24));
    assert!(Rc::ptr_eq(classes[1].find_property("a").unwrap(), &classes[0].properties[0]));
    assert_eq!(classes[1].find_property("tiny").map(|property| &*property.owner), Some("/Script/Game.B"));
}

#[test]
fn an_event_resolves_to_the_nearest_override() {
    let world = engine();
    let delta = PropertyDecl::new("delta", PropertyKind::F32);
    let classes = declare(
        &world,
        [
            with_functions(
                dynamic("A", ACTOR, &[]),
                vec![overriding("tick", ACTOR, std::slice::from_ref(&delta)), event("ring", &[])],
            ),
            with_functions(dynamic("B", "/Script/Game.A", &[]), vec![overriding("ring", "/Script/Game.A", &[])]),
            with_functions(dynamic("C", "/Script/Game.B", &[]), vec![overriding("tick", ACTOR, &[delta])]),
        ],
    );
    let tick = world.types.function_by_path("/Script/Engine.Actor:tick").unwrap();
    let ring = world.types.function_by_path("/Script/Game.A:ring").unwrap();
    let targets: Vec<_> = classes.iter().map(|class| class.dispatch(&tick).path.to_string()).collect();
    assert_eq!(targets, ["/Script/Game.A:tick", "/Script/Game.A:tick", "/Script/Game.C:tick"]);
    assert_eq!(&*classes[2].dispatch(&ring).path, "/Script/Game.B:ring");
    assert_eq!((tick.vslot, ring.vslot), (Some(0), Some(1)));
    let last = &classes[2].own_functions[0];
    assert_eq!(last.overrides.as_deref(), Some("/Script/Engine.Actor:tick"), "the event, not the override before");
    assert_eq!((last.owner, last.flags), (classes[2].id, function_flags::OVERRIDE));
    assert_eq!(&*world.types.function_by_path("/Script/Game.C:ring").unwrap().path, "/Script/Game.B:ring");
    assert_eq!(
        &*world.types.function_by_path("/Script/Game.C:describe").unwrap().path,
        "/Script/Engine.Actor:describe"
    );
}

fn script(name: &str, base: &str, functions: Vec<FunctionDecl>) -> ClassDecl {
    with_functions(ClassDecl::new("Game", name, base, Origin::Script), functions)
}

/// Returns the error of declaring `class`. The classes of the engine and the classes in `before` are declared first.
fn refusal(before: Vec<ClassDecl>, class: ClassDecl) -> Option<String> {
    let world = engine();
    declare(&world, before);
    let batch = Batch { classes: vec![class], ..Batch::default() };
    world.types.declare(&world.names, &batch).err().map(|error| error.to_string())
}

#[test]
fn allowed_base_classes_depend_on_both_origins() {
    const ACTOR: &str = "/Script/Engine.Actor";
    let open = || ClassDecl { flags: class_flags::BLUEPRINTABLE, ..dynamic("Open", ACTOR, &[]) };
    let exported = || ClassDecl { flags: class_flags::BLUEPRINT_TYPE, ..native("Shown", OBJECT, &[]) };
    let check = |before: Vec<ClassDecl>, class: ClassDecl, expected: Option<&str>| {
        let found = refusal(before, class);
        match (&found, expected) {
            (None, None) => {}
            (Some(error), Some(expected)) => assert!(error.contains(expected), "{error}"),
            _ => panic!("{found:?}, not {expected:?}"),
        }
    };
    check(vec![], script("A", ACTOR, vec![]), None);
    check(vec![open()], script("A", "/Script/Game.Open", vec![]), None);
    check(vec![script("A", ACTOR, vec![])], script("B", "/Script/Game.A", vec![]), None);
    check(
        vec![dynamic("Shut", ACTOR, &[])],
        script("A", "/Script/Game.Shut", vec![]),
        Some("declare it `blueprintable`"),
    );
    check(vec![exported()], script("A", "/Script/Engine.Shown", vec![]), Some("declare it `blueprintable`"));
    check(
        vec![script("A", ACTOR, vec![])],
        dynamic("B", "/Script/Game.A", &[]),
        Some("calls between these parts cannot pass"),
    );
    check(
        vec![open(), script("A", "/Script/Game.Open", vec![])],
        dynamic("B", "/Script/Game.A", &[]),
        Some("a class of a script"),
    );
    check(vec![script("A", ACTOR, vec![])], native("B", "/Script/Game.A", &[]), Some("is unloaded with its module"));
}

#[test]
fn only_scripts_implement_implementable_events_and_virtual_calls_find_them() {
    let sings = || function("sing", function_flags::IMPLEMENTABLE_EVENT, &[]);
    let bird = || ClassDecl {
        flags: class_flags::BLUEPRINTABLE,
        ..with_functions(dynamic("Bird", OBJECT, &[]), vec![sings()])
    };
    let override_of = || vec![overriding("sing", "/Script/Game.Bird", &[])];
    let refused = refusal(vec![bird()], with_functions(dynamic("Wren", "/Script/Game.Bird", &[]), override_of()));
    assert!(refused.expect("only scripts may override it").contains("only scripts can implement it"));
    let world = engine();
    declare(&world, [bird(), script("Wren", "/Script/Game.Bird", override_of())]);
    let (bird, wren) = (world.types.class_by_path("/Script/Game.Bird"), world.types.class_by_path("/Script/Game.Wren"));
    let (bird, wren) = (bird.expect("declared"), wren.expect("declared"));
    let event = bird.find_function("sing").expect("declared");
    assert_eq!(&*bird.dispatch(event).path, "/Script/Game.Bird:sing");
    assert_eq!(&*wren.dispatch(event).path, "/Script/Game.Wren:sing");
    assert!(wren.needs_module() && wren.has_plugin_part());
    let paths = |chain: Vec<Rc<Class>>| chain.iter().map(|class| class.name.to_string()).collect::<Vec<_>>();
    assert_eq!(
        (paths(wren.module_chain()), paths(wren.dynamic_chain())),
        (vec!["Bird".into(), "Wren".into()], vec!["Bird".into()])
    );
}

#[test]
fn only_static_script_functions_may_hide_those_of_a_base() {
    let make = |flags| vec![function("make", flags, &[])];
    let base = |flags| script("A", OBJECT, make(flags));
    let derived = |flags| script("B", "/Script/Game.A", make(flags));
    assert_eq!(refusal(vec![base(function_flags::STATIC)], derived(function_flags::STATIC)), None);
    for (of_base, of_derived) in [(0, 0), (function_flags::STATIC, 0), (0, function_flags::STATIC)] {
        let refused = refusal(vec![base(of_base)], derived(of_derived));
        assert!(refused.is_some_and(|error| error.contains("would hide")), "{of_base} {of_derived}");
    }
}

#[test]
fn native_and_emitted_declarations_give_equal_metadata() {
    let of = |origin| {
        let world = engine();
        let point = StructDecl { origin, ..structure("Point", &[f64("x"), f64("y").with_default("4")]) };
        let base = ClassDecl {
            doc: "A cube.".to_owned(),
            flags: 1,
            origin,
            ..dynamic(
                "Cube",
                ACTOR,
                &[
                    PropertyDecl {
                        doc: "Degrees.".to_owned(),
                        ..f64("speed").with_default("180").with_flags(property_flags::EDIT_ANYWHERE)
                    },
                    held("at", "/Script/Game.Point"),
                    reference("mesh", "/Script/Engine.Component")
                        .with_flags(property_flags::DEFAULT_SUBOBJECT | property_flags::ROOT_COMPONENT),
                ],
            )
        };
        let cube = with_functions(
            base,
            vec![
                event("hello", &[f64("loud"), PropertyDecl::result(PropertyKind::BOOL)]),
                overriding("tick", ACTOR, &[PropertyDecl::new("delta", PropertyKind::F32)]),
            ],
        );
        let batch = Batch { structs: vec![point], classes: vec![cube], ..Batch::default() };
        describe(&world.types.declare(&world.names, &batch).unwrap().classes[0])
    };
    let (native, emitted) = (of(Origin::Native), of(Origin::Dynamic));
    assert_eq!(native, emitted);
    for fact in
        ["\"Speed\" f64 1 Some(F64(180.0)) \"Degrees.\"", "part mesh /Script/Engine.Component Root", "Struct([(\"x\""]
    {
        assert!(native.contains(fact), "{fact} in {native}");
    }
}

/// Creates a world with an active shadow. The shadow hides `Cube` and `Gone`, declares `Cube` again, and adds `Fresh`.
fn shadowed() -> (World, Vec<Rc<Class>>) {
    let world = engine();
    let old = declare(&world, [dynamic("Cube", ACTOR, &[]), dynamic("Gone", ACTOR, &[]), dynamic("Kept", ACTOR, &[])]);
    world.types.begin_shadow();
    world.types.hide_in_shadow(["/Script/Game.Cube", "/Script/Game.Gone", ACTOR]);
    (world, old)
}

fn fresh(world: &World) -> Vec<Rc<Class>> {
    declare(world, [dynamic("Cube", ACTOR, &[f64("speed")]), dynamic("Fresh", "/Script/Game.Cube", &[])])
}

fn visible_classes(world: &World) -> String {
    let format_class = |name: &str| match world.types.class_by_path(&format!("/Script/{name}")) {
        Some(class) => format!("{name} {}", class.id.0),
        None => format!("{name} -"),
    };
    ["Engine.Actor", "Game.Cube", "Game.Gone", "Game.Kept", "Game.Fresh"].map(format_class).join(", ")
}

#[test]
fn a_shadow_hides_the_old_and_shows_the_new() {
    let (world, old) = shadowed();
    assert_eq!(visible_classes(&world), "Engine.Actor 2, Game.Cube -, Game.Gone -, Game.Kept 6, Game.Fresh -");
    assert_eq!(world.types.property_by_path("/Script/Game.Cube:seed").map(|_| ()), None);
    let new = fresh(&world);
    assert_eq!(visible_classes(&world), "Engine.Actor 2, Game.Cube 7, Game.Gone -, Game.Kept 6, Game.Fresh 8");
    assert!(new[1].is_a(&new[0]) && !new[1].is_a(&old[0]));
    assert!(Rc::ptr_eq(&world.types.class(old[0].id).unwrap(), &old[0]), "by number the old is found too");
    let ids = |classes: Vec<Rc<Class>>| classes.iter().map(|class| class.id.0).collect::<Vec<_>>();
    assert_eq!(ids(world.types.classes()), [1, 2, 3, 6, 7, 8]);
    assert_eq!(ids(world.types.all_classes()), [1, 2, 3, 4, 5, 6, 7, 8]);
    let again = Batch { classes: vec![dynamic("Cube", ACTOR, &[])], ..Batch::default() };
    assert!(world.types.declare(&world.names, &again).is_err(), "once in a shadow");
    let actor = Batch { classes: vec![native("Actor", OBJECT, &[])], ..Batch::default() };
    assert!(world.types.declare(&world.names, &actor).is_err(), "native types are not replaced");
}

#[test]
fn a_lowered_shadow_is_ignored_and_declarations_are_permanent() {
    let (world, _) = shadowed();
    fresh(&world);
    {
        let _lowered = world.types.lower_shadow();
        assert_eq!(visible_classes(&world), "Engine.Actor 2, Game.Cube 4, Game.Gone 5, Game.Kept 6, Game.Fresh -");
        world.types.redirect("/Script/Game.Fresh", "/Script/Game.Kept");
        assert_eq!(visible_classes(&world), "Engine.Actor 2, Game.Cube 4, Game.Gone 5, Game.Kept 6, Game.Fresh 6");
    }
    assert_eq!(visible_classes(&world), "Engine.Actor 2, Game.Cube 7, Game.Gone -, Game.Kept 6, Game.Fresh 8");
    world.types.drop_shadow();
    assert_eq!(visible_classes(&world), "Engine.Actor 2, Game.Cube 4, Game.Gone 5, Game.Kept 6, Game.Fresh 6");
}

#[test]
fn a_committed_shadow_replaces() {
    let (world, old) = shadowed();
    fresh(&world);
    world.types.redirect("/Script/Game.Gone", "/Script/Game.Fresh");
    let replaced: Vec<_> = world.types.commit_shadow().iter().map(|class| class.id).collect();
    assert_eq!(replaced, [old[0].id, old[1].id]);
    assert_eq!(visible_classes(&world), "Engine.Actor 2, Game.Cube 7, Game.Gone 8, Game.Kept 6, Game.Fresh 8");
    assert!(world.types.class(old[0].id).is_some());
    world.types.forget(old[0].id);
    world.types.forget(ClassId(7));
    assert!(world.types.class(old[0].id).is_none() && world.types.class(ClassId(7)).is_some());
}

#[test]
fn a_dropped_shadow_has_no_effect() {
    let (world, _) = shadowed();
    fresh(&world);
    world.types.redirect("/Script/Game.Old", "/Script/Game.Kept");
    let dropped: Vec<_> = world.types.drop_shadow().iter().map(|class| class.id.0).collect();
    assert_eq!(dropped, [7, 8]);
    assert_eq!(visible_classes(&world), "Engine.Actor 2, Game.Cube 4, Game.Gone 5, Game.Kept 6, Game.Fresh -");
    assert!(world.types.class(ClassId(7)).is_none() && world.types.class_by_path("/Script/Game.Old").is_none());
    let next = declare(&world, [dynamic("Next", ACTOR, &[])]);
    assert_eq!(next[0].id, ClassId(9), "a number is never used again");
}

#[test]
fn interfaces_are_declared_hidden_and_replaced_like_other_types() {
    let world = engine();
    let try_batch = |interfaces: &[&str], implements: &[&str]| {
        let doc = interfaces.join(" ");
        let interface =
            |name: &&str| InterfaceDecl { doc: doc.clone(), ..InterfaceDecl::new("Game", name, Origin::Dynamic) };
        let ear = ClassDecl {
            interfaces: implements.iter().map(|name| format!("/Script/Game.{name}")).collect(),
            ..dynamic("Ear", OBJECT, &[])
        };
        let interfaces = interfaces.iter().map(interface).collect();
        let classes = vec![ear, dynamic("FineEar", "/Script/Game.Ear", &[])];
        let batch = Batch { interfaces, classes, ..Batch::default() };
        world.types.declare(&world.names, &batch).map(drop).map_err(|error| error.to_string())
    };
    let interfaces_text = || {
        let interfaces = world.types.interfaces();
        let interfaces =
            interfaces.iter().map(|found| format!("{} {}", found.path.rsplit('.').next().unwrap(), found.doc));
        let ear = world.types.class_by_path("/Script/Game.FineEar").map_or(Vec::new(), |ear| {
            let chain = ear.chain();
            chain.iter().flat_map(|class| class.interfaces.iter().map(|path| path.to_string())).collect()
        });
        format!("{}; {}", interfaces.collect::<Vec<_>>().join(", "), ear.join(", "))
    };
    let check = |expected: Expect| expected.assert_eq(&interfaces_text());

    try_batch(&["Heeds"], &["Heeds"]).unwrap();
    check(expect!["Sings , Heeds Heeds; /Script/Game.Heeds"]);
    let ear = world.types.class_by_path("/Script/Game.FineEar").unwrap();
    assert!(ear.implements("/Script/Game.Heeds") && !ear.implements("/Script/Engine.Sings"));
    world.types.begin_shadow();
    world.types.hide_in_shadow([
        "/Script/Game.Ear",
        "/Script/Game.FineEar",
        "/Script/Game.Heeds",
        "/Script/Engine.Sings",
    ]);
    check(expect!["Sings ; "]);
    let error = try_batch(&[], &["Heeds"]).unwrap_err();
    assert!(error.contains("/Script/Game.Ear implements /Script/Game.Heeds, which is not declared"), "{error}");
    let error = try_batch(&["Heeds", "Heeds"], &[]).unwrap_err();
    assert!(error.contains("/Script/Game.Heeds is declared already"), "{error}");
    try_batch(&["Heeds", "Sees"], &["Heeds", "Sees"]).unwrap();
    check(expect!["Sings , Heeds Heeds Sees, Sees Heeds Sees; /Script/Game.Heeds, /Script/Game.Sees"]);
    world.types.drop_shadow();
    check(expect!["Sings , Heeds Heeds; /Script/Game.Heeds"]);

    world.types.begin_shadow();
    world.types.hide_in_shadow(["/Script/Game.Ear", "/Script/Game.FineEar", "/Script/Game.Heeds"]);
    world.types.redirect("/Script/Game.Heeds", "/Script/Game.Listens");
    let interfaces = vec![InterfaceDecl::new("Game", "Listens", Origin::Dynamic)];
    world.types.declare(&world.names, &Batch { interfaces, ..Batch::default() }).unwrap();
    try_batch(&[], &["Heeds"]).unwrap();
    world.types.commit_shadow();
    check(expect!["Sings , Listens ; /Script/Game.Listens"]);
    let error = try_batch(&["Listens"], &[]).unwrap_err();
    assert!(error.contains("is declared already"), "{error}");
}

#[test]
fn packages_are_declared_by_the_host() {
    let world = world();
    let registry = world.types.registry.borrow();
    assert!(registry.packages.contains("Game") && !registry.packages.contains("game"));
}

#[test]
fn the_epoch_changes_with_every_declaration_and_is_unique_per_registry() {
    let (world, other) = (engine(), engine());
    let mut epochs = vec![other.types.epoch(), world.types.epoch()];
    let mut after = |change: &dyn Fn()| {
        change();
        epochs.push(world.types.epoch());
    };
    after(&|| drop(declare(&world, [dynamic("Cube", ACTOR, &[])])));
    after(&|| world.types.redirect("/Script/Game.Old", "/Script/Game.Cube"));
    after(&|| world.types.begin_shadow());
    after(&|| world.types.hide_in_shadow(["/Script/Game.Cube"]));
    after(&|| drop(world.types.lower_shadow()));
    after(&|| drop(world.types.drop_shadow()));
    world.types.begin_shadow();
    after(&|| drop(world.types.commit_shadow()));
    let distinct: BTreeSet<_> = epochs.iter().collect();
    assert_eq!(distinct.len(), epochs.len(), "{epochs:?}");
    assert!(world.types.class_by_path("/Script/Game.Cube").is_some());
    assert_eq!(world.types.epoch(), epochs[epochs.len() - 1], "looking changes nothing");
}
