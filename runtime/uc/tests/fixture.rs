//! World with the types that an engine would declare, for the test programs. The packages are `Engine` and `Test`. The classes range from
//! `Object` to `PlayerController`. `Vector` and `Rotator` correspond to Unreal Engine 3. The world also contains an interface, an enum, and
//! a library of wildcard functions. The functions have no bodies, because the checker calls no functions.

use alcedo_abi::kinds::{PropertyKind as K, class_flags, function_flags, property_flags};
use alcedo_reflect::World;
use alcedo_reflect::decl::{Batch, ClassDecl, EnumDecl, FunctionDecl, InterfaceDecl, PropertyDecl, StructDecl};
use alcedo_reflect::enums::EnumEntry;
use alcedo_reflect::origin::Origin;

/// Path of the library whose functions are callable without the class name.
pub(crate) const LIBRARY: &str = "/Script/Engine.Library";

const READ: u64 = property_flags::BLUEPRINT_READ;
const BOTH: u64 = READ | property_flags::BLUEPRINT_WRITE;

fn property(name: &str, kind: K, path: &str, flags: u64) -> PropertyDecl {
    PropertyDecl::new(name, kind).of_type(path).with_flags(flags)
}

fn param(name: &str, kind: K, path: &str) -> PropertyDecl {
    PropertyDecl::new(name, kind).of_type(path)
}

fn meta(mut decl: PropertyDecl, key: &str) -> PropertyDecl {
    decl.meta.push((key.to_owned(), "true".to_owned()));
    decl
}

fn result(kind: K, path: &str) -> PropertyDecl {
    PropertyDecl::result(kind).of_type(path)
}

fn function(name: &str, flags: u64, params: Vec<PropertyDecl>) -> FunctionDecl {
    FunctionDecl { flags, params, ..FunctionDecl::without_body(name) }
}

fn wild(name: &str, metas: &[(&str, &str)], params: Vec<PropertyDecl>) -> FunctionDecl {
    let flags = function_flags::CALLABLE | function_flags::STATIC | 1 << 16;
    let meta = metas.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    FunctionDecl { meta, ..function(name, flags, params) }
}

fn structure(name: &str, fields: &[(&str, K)]) -> StructDecl {
    let fields = fields.iter().map(|(name, kind)| PropertyDecl::new(name, *kind)).collect();
    StructDecl { fields, ..StructDecl::new("Engine", name, Origin::Native) }
}

fn class(name: &str, base: &str, properties: Vec<PropertyDecl>, functions: Vec<FunctionDecl>) -> ClassDecl {
    let base = if base.is_empty() { String::new() } else { format!("/Script/Engine.{base}") };
    ClassDecl {
        flags: class_flags::BLUEPRINTABLE,
        properties,
        functions,
        ..ClassDecl::new("Engine", name, &base, Origin::Native)
    }
}

const ACTOR: &str = "/Script/Engine.Actor";
const VECTOR: &str = "/Script/Engine.Vector";

fn actor() -> ClassDecl {
    let properties = vec![
        property("location", K::STRUCT, VECTOR, BOTH),
        property("rotation", K::STRUCT, "/Script/Engine.Rotator", BOTH),
        property("owner", K::OBJECT, ACTOR, BOTH),
        property("health", K::I32, "", BOTH),
        property("label", K::STRING, "", BOTH),
        property("tag", K::NAME, "", BOTH),
        property("seed", K::U32, "", READ),
        property("secret", K::I32, "", 0),
        property("distance_run", K::F64, "", BOTH),
        property("ticks", K::I64, "", BOTH),
        property("mask", K::U64, "", BOTH),
        property("small", K::I16, "", BOTH),
        property("phase", K::ENUM, "/Script/Engine.Phase", BOTH),
        property("title", K::TEXT, "", BOTH),
        property("tags", K::ARRAY, "Name", BOTH),
        property("scores", K::MAP, "Name, i32", BOTH),
        property("marks", K::SET, "i32", BOTH),
        property("target", K::WEAK_OBJECT, ACTOR, BOTH),
        property("maybe", K::OPTIONAL, "i32", BOTH),
        property("singer", K::SCRIPT_INTERFACE, "/Script/Engine.Sings", BOTH),
        property("kind", K::SUBCLASS_OF, ACTOR, BOTH),
        property("on_touch", K::MULTICAST_DELEGATE, &format!("Object({ACTOR})"), BOTH),
        property("on_ask", K::DELEGATE, "i32 -> bool", BOTH),
    ];
    let callable = function_flags::CALLABLE;
    let functions = vec![
        function("get_distance", callable, vec![param("other", K::OBJECT, ACTOR), result(K::F32, "")]),
        function("receive_tick", function_flags::NATIVE_EVENT, vec![param("delta_seconds", K::F32, "")]),
        function("receive_begin_play", function_flags::IMPLEMENTABLE_EVENT, vec![]),
        function(
            "take_damage",
            function_flags::NATIVE_EVENT | callable,
            vec![
                param("amount", K::I32, ""),
                param("absorbed", K::I32, "").with_flags(property_flags::OUT),
                result(K::BOOL, ""),
            ],
        ),
        function("not_for_scripts", 0, vec![]),
        function("destroy", callable, vec![result(K::BOOL, "")]),
        function("count", callable | function_flags::STATIC, vec![result(K::I32, "")]),
    ];
    class("Actor", "Object", properties, functions)
}

fn library() -> ClassDecl {
    let plain = function_flags::PURE | function_flags::STATIC;
    let int = |name: &str| param(name, K::I32, "");
    let float = |name: &str| param(name, K::F32, "");
    let text = |name: &str| param(name, K::STRING, "");
    let any = |name: &str| param(name, K::ARRAY, "i32");
    let object = |name: &str| param(name, K::OBJECT, "/Script/Engine.Object");
    let item = |name: &str| param(name, K::I32, "");
    let functions = vec![
        function("Log", plain, vec![meta(text("message"), "coerce"), meta(param("category", K::NAME, ""), "optional")]),
        function("Len", plain, vec![meta(text("text"), "coerce"), result(K::I32, "")]),
        function("Caps", plain, vec![meta(text("text"), "coerce"), result(K::STRING, "")]),
        function("Left", plain, vec![meta(text("text"), "coerce"), int("count"), result(K::STRING, "")]),
        function("Abs", plain, vec![float("a"), result(K::F32, "")]),
        function("Min", plain, vec![int("a"), int("b"), result(K::I32, "")]),
        function("Max", plain, vec![int("a"), int("b"), result(K::I32, "")]),
        function("Clamp", plain, vec![int("v"), int("low"), int("high"), result(K::I32, "")]),
        function("FClamp", plain, vec![float("v"), float("low"), float("high"), result(K::F32, "")]),
        function("Rand", plain, vec![int("below"), result(K::I32, "")]),
        function("FRand", plain, vec![result(K::F32, "")]),
        function("outer_of", plain, vec![object("object"), result(K::OBJECT, "/Script/Engine.Object")]),
        function("name_of", plain, vec![object("object"), result(K::NAME, "")]),
        function("VSize", plain, vec![param("a", K::STRUCT, VECTOR), result(K::F32, "")]),
        function("Normal", plain, vec![param("a", K::STRUCT, VECTOR), result(K::STRUCT, VECTOR)]),
        wild(
            "show_struct_fields",
            &[("custom_struct_param", "custom_struct")],
            vec![param("custom_struct", K::STRUCT, VECTOR)],
        ),
        wild(
            "array_numeric_property_average",
            &[("array_parm", "target_array"), ("array_type_dependent_params", "target_array")],
            vec![any("target_array"), param("property", K::NAME, ""), result(K::F32, "")],
        ),
        wild(
            "array_add",
            &[("array_parm", "target_array"), ("array_type_dependent_params", "new_item")],
            vec![any("target_array").with_flags(property_flags::OUT), item("new_item"), result(K::I32, "")],
        ),
        wild(
            "array_append",
            &[("array_parm", "target_array, source_array")],
            vec![any("target_array").with_flags(property_flags::OUT), any("source_array")],
        ),
        wild(
            "set_has",
            &[("custom_struct_param", "target_set, item")],
            vec![param("target_set", K::SET, "i32"), item("item"), result(K::BOOL, "")],
        ),
        wild(
            "map_find",
            &[("custom_struct_param", "target_map, key, value")],
            vec![param("target_map", K::MAP, "i32, i32"), item("key"), item("value").with_flags(property_flags::OUT)],
        ),
        wild(
            "map_put",
            &[("custom_struct_param", "target_map, key, value")],
            vec![param("target_map", K::MAP, "i32, i32").with_flags(property_flags::OUT), item("key"), item("value")],
        ),
        wild("show_anything", &[("custom_struct_param", "what")], vec![item("what")]),
        wild(
            "array_last",
            &[("array_parm", "target_array"), ("array_type_dependent_params", "return_value")],
            vec![any("target_array"), PropertyDecl::result(K::I32)],
        ),
    ];
    class("Library", "Object", Vec::new(), functions)
}

pub(crate) fn world() -> World {
    let world = World::new();
    for package in ["Engine", "Test"] {
        world.types.declare_package(package);
    }
    let entry = |(number, name): (i128, &str)| EnumEntry {
        name: name.into(),
        number,
        display: "".into(),
        is_hidden: false,
        doc: "".into(),
    };
    let phase = EnumDecl {
        package: "Engine".to_owned(),
        name: "Phase".to_owned(),
        origin: Origin::Native,
        underlying: K::U8,
        is_flags: false,
        entries: [(0, "PHASE_Waiting"), (1, "PHASE_Running"), (2, "PHASE_Over")].map(entry).to_vec(),
        fingerprint: 0,
        doc: String::new(),
    };
    let sing = FunctionDecl {
        flags: function_flags::CALLABLE,
        params: vec![param("verse", K::I32, ""), result(K::STRING, "")],
        ..FunctionDecl::without_body("sing")
    };
    let sings = InterfaceDecl { functions: vec![sing], ..InterfaceDecl::new("Engine", "Sings", Origin::Native) };
    let tune = FunctionDecl {
        flags: function_flags::CALLABLE,
        params: vec![param("pitch", K::I32, "").with_default("5"), result(K::I32, "")],
        ..FunctionDecl::without_body("tune")
    };
    let tuned = InterfaceDecl { functions: vec![tune], ..InterfaceDecl::new("Engine", "Tuned", Origin::Native) };
    let closed = ClassDecl { flags: class_flags::BLUEPRINT_TYPE, ..class("Sealed", "Object", Vec::new(), Vec::new()) };
    let last = ClassDecl { flags: class_flags::FINAL, ..class("Last", "Object", Vec::new(), Vec::new()) };
    let hud = class(
        "HUD",
        "Actor",
        vec![property("canvas", K::OBJECT, "/Script/Engine.Canvas", BOTH), property("scale", K::F32, "", BOTH)],
        vec![function("draw_hud", function_flags::NATIVE_EVENT, vec![])],
    );
    let canvas = class(
        "Canvas",
        "Object",
        vec![property("clip_x", K::F32, "", BOTH), property("clip_y", K::F32, "", BOTH)],
        vec![
            function("set_pos", function_flags::CALLABLE, vec![param("x", K::F32, ""), param("y", K::F32, "")]),
            function("draw_text", function_flags::CALLABLE, vec![meta(param("text", K::STRING, ""), "coerce")]),
        ],
    );
    let pawn = class(
        "Pawn",
        "Actor",
        vec![property("controller", K::OBJECT, "/Script/Engine.Controller", BOTH), property("speed", K::F32, "", BOTH)],
        vec![function("jump", function_flags::NATIVE_EVENT | function_flags::CALLABLE, vec![result(K::BOOL, "")])],
    );
    let controller =
        class("Controller", "Actor", vec![property("pawn", K::OBJECT, "/Script/Engine.Pawn", BOTH)], vec![]);
    let component = class("Component", "Object", vec![property("size", K::F32, "", BOTH)], vec![]);
    let batch = Batch {
        enums: vec![phase],
        interfaces: vec![sings, tuned],
        structs: vec![
            structure("Vector", &[("x", K::F32), ("y", K::F32), ("z", K::F32)]),
            structure("Rotator", &[("pitch", K::I32), ("yaw", K::I32), ("roll", K::I32)]),
            structure("Color", &[("b", K::U8), ("g", K::U8), ("r", K::U8), ("a", K::U8)]),
        ],
        classes: vec![
            class("Object", "", Vec::new(), Vec::new()),
            actor(),
            pawn,
            controller,
            class("PlayerController", "Controller", Vec::new(), Vec::new()),
            component,
            canvas,
            hud,
            closed,
            last,
            library(),
        ],
        ..Batch::default()
    };
    world.types.declare(&world.names, &batch).expect("a right declaration");
    world
}
