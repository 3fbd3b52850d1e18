//! Tests values that an edit of a script leaves without a property, because the class, field or element is removed or has another type. The
//! values return when the edit is undone, also from saved worlds.

use std::collections::BTreeSet;

use alcedo_runtime::{ObjectHandle, Runtime, Value};

use super::host;
use crate::scripts::{Package, builder, get, reload_of, spawn};
use crate::support;

struct Draws(u64);

impl Draws {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// Returns a random selection of the lines, in random order.
    fn some(&mut self, lines: &[String]) -> String {
        let mut lines: Vec<_> = lines.iter().filter(|_| self.below(4) != 0).cloned().collect();
        for at in (1..lines.len()).rev() {
            lines.swap(at, self.below(at as u64 + 1) as usize);
        }
        lines.join(" ")
    }

    fn one_of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len() as u64) as usize]
    }
}

fn nest(inner: &str, row: &str, class: &str) -> String {
    format!("class Nest extends Object;\nstruct Cell {{ {inner} }};\nstruct Row {{ {row} }};\n{class}\n")
}

const CELL: &str = "var int A; var string B; var int C[3];";
const ROW: &str = "var int X; var Cell In; var int F[4]; var array<Cell> Cells; var string T;";
const NEST: &str = "var int Fixed[4]; var Row One; var Row Pair[2]; var array<Row> Rows; var map<int, Row> ByNumber; var map<string, Cell> ByText; var int N;";

/// Returns a random build of the class: omits and reorders fields, and changes their types and the lengths of fixed arrays.
fn another_nest(draws: &mut Draws) -> String {
    let cell = ["int A", "string B", "bool Z"].map(|field| format!("var {field};"));
    let (c, f, fixed) =
        (draws.one_of(&["1", "2", "3", "5"]), draws.one_of(&["1", "3", "4", "6"]), draws.one_of(&["1", "2", "4", "7"]));
    let x = draws.one_of(&["int", "int", "string", "float"]);
    let cell: Vec<_> = cell.into_iter().chain([format!("var int C[{c}];")]).collect();
    let row = [&format!("{x} X"), "Cell In", &format!("int F[{f}]"), "array<Cell> Cells", "string T", "name New"];
    let row = row.map(|field| format!("var {field};"));
    let pair = draws.one_of(&["1", "2", "3"]);
    let class = [
        &format!("int Fixed[{fixed}]"),
        "Row One",
        &format!("Row Pair[{pair}]"),
        "array<Row> Rows",
        "map<int, Row> ByNumber",
        "map<string, Cell> ByText",
        draws.one_of(&["int N", "string N", "bool N"]),
        "int Fresh",
    ];
    let class = class.map(|field| format!("var {field};"));
    nest(&draws.some(&cell), &draws.some(&row), &draws.some(&class))
}

/// Sets every property to a value that differs from all defaults.
fn fill(host: &Runtime, object: ObjectHandle) {
    let ints = |from: i32, len: i32| Value::Array((from..from + len).map(Value::I32).collect());
    let text = |text: &str| Value::Text(text.into());
    let cell = |at: i32| {
        Value::Struct(vec![
            ("A".into(), Value::I32(at)),
            ("B".into(), text(&format!("b{at}"))),
            ("C".into(), ints(at + 1, 3)),
        ])
    };
    let row = |at: i32| {
        Value::Struct(vec![
            ("X".into(), Value::I32(at + 10)),
            ("In".into(), cell(at + 20)),
            ("F".into(), ints(at + 30, 4)),
            ("Cells".into(), Value::Array(vec![cell(at + 40), cell(at + 50)])),
            ("T".into(), text(&format!("t{at}"))),
        ])
    };
    for (name, value) in [
        ("Fixed", ints(100, 4)),
        ("One", row(200)),
        ("Pair", Value::Array(vec![row(300), row(400)])),
        ("Rows", Value::Array(vec![row(500), row(600), row(700)])),
        ("ByNumber", Value::Map(vec![(Value::I32(1), row(800)), (Value::I32(2), row(900))])),
        ("ByText", Value::Map(vec![(text("one"), cell(1000)), (text("two"), cell(1100))])),
        ("N", Value::I32(1200)),
    ] {
        host.objects().set(object, name, &value).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// Reloads random builds. Some builds lack the class of one object, which therefore becomes dormant.
#[test]
fn an_undone_edit_loses_nothing_and_reports_count_each_value() {
    let (whole, kid) = (nest(CELL, ROW, NEST), "class Kid extends Nest;\nvar int Mine;\n");
    let package = Package::new("Tale", &[("Nest.uc", &whole), ("Kid.uc", kid)]);
    let host = host(&package);
    let names = |object: ObjectHandle| -> BTreeSet<String> {
        host.objects().properties_of(object).into_iter().map(|name| name.to_string()).collect()
    };
    let values = |object: ObjectHandle| -> Vec<_> {
        names(object).into_iter().map(|name| (host.objects().get(object, &name).expect("it has it"), name)).collect()
    };
    for seed in 0..12 {
        let mut draws = Draws(seed);
        let objects = ["/Script/Tale.Nest", "/Script/Tale.Nest", "/Script/Tale.Kid"].map(|class| spawn(&host, class));
        objects[1..].iter().for_each(|object| fill(&host, *object));
        host.objects().set(objects[2], "Mine", &Value::I32(7)).expect("it has it");
        let before = objects.map(values);
        let mut known = objects.map(names);
        for step in 0..4 {
            let is_undone = step == 3;
            let text = if is_undone { whole.clone() } else { another_nest(&mut draws) };
            package.write("Nest.uc", &text);
            package.write("Kid.uc", kid);
            if !is_undone && draws.below(2) == 0 {
                package.remove("Kid.uc");
            }
            let report = host.reload(std::slice::from_ref(&package.folder)).expect("a Master");
            let report = report.into_result().unwrap_or_else(|report| panic!("seed {seed}: {text}\n{report}"));
            let mut all = 0;
            for (known, object) in known.iter_mut().zip(objects) {
                let is_asleep =
                    host.objects().class_of(object).is_none_or(|class| !class.ends_with("Kid")) && object == objects[2];
                let after = names(object);
                all += known.union(&after).count() as u64;
                if is_asleep {
                    known.extend(after);
                } else {
                    *known = after;
                }
            }
            assert_eq!(report.values.total(), all, "seed {seed}, step {step}: {text}\n{report}");
        }
        for (object, before) in objects.into_iter().zip(&before) {
            assert_eq!(values(object), *before, "seed {seed}, {object}");
            host.objects().destroy(object);
        }
    }
}

#[test]
fn a_dormant_value_returns_although_a_base_took_its_name_and_retyped_it() {
    let (nest, kid) = ("class Nest extends Object;\nvar int Old;\n", "class Kid extends Nest;\nvar string Mine;\n");
    let package = Package::new("Tale", &[("Nest.uc", nest), ("Kid.uc", kid)]);
    let host = host(&package);
    let object = spawn(&host, "/Script/Tale.Kid");
    let mine = Value::Text("hello".into());
    host.objects().set(object, "Old", &Value::I32(3)).expect("it fits");
    host.objects().set(object, "Mine", &mine).expect("it fits");
    package.remove("Kid.uc");
    reload_of(&host, &package);
    package.write("Nest.uc", &nest.replace("Old", "Mine<Was=Old>"));
    reload_of(&host, &package);
    assert_eq!(get(&host, object, "Mine"), Value::I32(3));
    let file = package.folder.parent().expect("a folder").join("world");
    host.worlds().save(&file).expect("saved");
    package.write("Nest.uc", nest);
    reload_of(&host, &package);
    package.write("Kid.uc", kid);
    reload_of(&host, &package);
    assert_eq!(["Old", "Mine"].map(|name| get(&host, object, name)), [Value::I32(3), mine]);
    host.worlds().load(&file).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn values_survive_one_undo_of_several_edits() {
    let [first, reordered] = ["enum E { M_0, M_3, M_1, M_4 };\n", "enum E { M_4, M_3, M_0, M_1 };\n"];
    let field = |order: &str, fields: &str| format!("{order}struct S {{ {fields} }};\nvar S b;\n");
    let of_struct = [
        field(first, "var byte g; var int h;"),
        field(first, "var double f; var byte g; var int h;"),
        field(first, "var double f; var E g; var int h;"),
        field(reordered, "var i64 f; var E g; var int h;"),
    ];
    let of_set = ["var set<int> b;\n", "var set<double> b;\n", "var double b[3];\n"].map(String::from);
    for (fill, edits) in [("b.g = 3; b.h = 5;", &of_struct[..]), ("b.Add(1); b.Add(3);", &of_set)] {
        let class = |edit: &str| format!("class A extends Object;\n{edit}function Fill();\n");
        let filled = class(&edits[0]).replace("Fill();", &format!("Fill() {{ {fill} }}"));
        let package = Package::new("Tale", &[("A.uc", &filled)]);
        let host = host(&package);
        let object = spawn(&host, "/Script/Tale.A");
        host.objects().call(object, "Fill", &[]).expect("it fills");
        let before = get(&host, object, "b");
        for edit in edits[1..].iter().chain([&edits[0]]) {
            package.write("A.uc", &class(edit));
            reload_of(&host, &package);
        }
        assert_eq!(get(&host, object, "b"), before, "{fill}");
    }
}

#[test]
fn excess_values_of_a_world_file_are_listed_and_return_later() {
    const LONG: &str = "class Foe extends Object;\nstruct Row { var int X; var int F[3]; };\nvar int Fixed[4];\nvar array<Row> Rows;\n";
    let short = LONG.replace("var int X; var int F[3];", "var int F[2];").replace("Fixed[4]", "Fixed[2]");
    let package = Package::new("Tale", &[("Foe.uc", LONG)]);
    let first = host(&package);
    let foe = spawn(&first, "/Script/Tale.Foe");
    let ints = |values: &[i32]| Value::Array(values.iter().copied().map(Value::I32).collect());
    let row = Value::Struct(vec![("X".into(), Value::I32(5)), ("F".into(), ints(&[6, 7, 8]))]);
    let own = [("Fixed", ints(&[1, 2, 3, 4])), ("Rows", Value::Array(vec![row.clone(), row]))];
    for (name, value) in &own {
        first.objects().set(foe, *name, value).expect("it fits");
    }
    let file = package.folder.parent().expect("a folder").join("world");
    first.worlds().save(&file).expect("saved");
    drop(first);
    package.write("Foe.uc", &short);
    let second = host(&package);
    let report = second.worlds().load(&file).unwrap_or_else(|error| panic!("{error}"));
    let lines: Vec<_> = report.properties.iter().map(|it| (it.property.as_str(), it.kept, it.dormant)).collect();
    assert_eq!(lines, [("Fixed", 0, 1), ("Rows", 0, 1)], "{report}");
    let is_foe = |object: &ObjectHandle| second.objects().class_of(*object).as_deref() == Some("/Script/Tale.Foe");
    let foe = second.objects().iter().find(is_foe).expect("it was loaded");
    assert_eq!(get(&second, foe, "Fixed"), ints(&[1, 2]));
    second.objects().set(foe, "Fixed", &ints(&[1, 9])).expect("it fits");
    package.write("Foe.uc", LONG);
    reload_of(&second, &package);
    assert_eq!(get(&second, foe, "Fixed"), ints(&[1, 9, 3, 4]), "with what was written since");
    assert_eq!(get(&second, foe, "Rows"), own[1].1);
}

#[test]
fn a_dormant_value_whose_name_the_base_takes_is_saved_once() {
    let (nest, kid) = ("class Nest extends Object;\nvar int Old;\n", "class Kid extends Nest;\nvar int Mine;\n");
    let package = Package::new("Tale", &[("Nest.uc", nest), ("Kid.uc", kid)]);
    let host = host(&package);
    let object = spawn(&host, "/Script/Tale.Kid");
    for (name, value) in [("Old", 3), ("Mine", 7)] {
        host.objects().set(object, name, &Value::I32(value)).expect("it fits");
    }
    package.remove("Kid.uc");
    reload_of(&host, &package);
    package.write("Nest.uc", &nest.replace("Old", "Mine<Was=Old>"));
    reload_of(&host, &package);
    assert_eq!(get(&host, object, "Mine"), Value::I32(7));
    let file = package.folder.parent().expect("a folder").join("world");
    host.worlds().save(&file).expect("saved");
    package.write("Nest.uc", nest);
    package.write("Kid.uc", kid);
    reload_of(&host, &package);
    assert_eq!(["Old", "Mine"].map(|name| get(&host, object, name)), [3, 7].map(Value::I32));
    host.worlds().load(&file).unwrap_or_else(|error| panic!("{error}"));
    let object = host.objects().iter().next().expect("it was loaded");
    assert_eq!(get(&host, object, "Mine"), Value::I32(7));
}

/// Removes a field of a struct. Then makes the object in the other field unsuitable by an edit of another package. Undoes both edits. Code
/// writes to `Q` between the edits.
#[test]
fn a_removed_field_returns_although_a_reference_was_reset_in_between() {
    let text = "class Keeper extends Object;\nstruct Pair { var Actor A; var Actor B; };\nvar Pair P;\nvar Pair Q;\n";
    let tale = Package::new("Tale", &[("Keeper.uc", text)]);
    let saga = Package::new("Saga", &[("Diver.uc", "class Diver extends Actor;\n")]);
    let folders = [tale.folder.clone(), saga.folder.clone()];
    let host = support::host_of(builder().package("Saga"), &folders);
    let reload = || {
        let report = host.reload_changed(&folders).expect("a Master").into_result();
        let report = report.unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(report.modules.len(), 1, "{report}");
    };
    let classes = ["/Script/Tale.Keeper", "/Script/Saga.Diver", "/Script/Saga.Diver", "/Script/Engine.Actor"];
    let [keeper, diver, other, actor] = classes.map(|class| spawn(&host, class));
    let pair = |fields: &[(&str, ObjectHandle)]| {
        Value::Struct(fields.iter().map(|(name, object)| ((*name).into(), Value::Object(*object))).collect())
    };
    let set = |name: &str, value: &Value| host.objects().set(keeper, name, value).expect("it fits");
    let check = |expected: [Value; 2]| assert_eq!(["P", "Q"].map(|name| get(&host, keeper, name)), expected);
    for name in ["P", "Q"] {
        set(name, &pair(&[("A", diver), ("B", actor)]));
    }
    tale.edit("Keeper.uc", " var Actor B;", "");
    reload();
    set("Q", &pair(&[("A", other)]));
    saga.edit("Diver.uc", "Actor", "Object");
    reload();
    check([(); 2].map(|()| pair(&[("A", ObjectHandle::NONE)])));
    saga.edit("Diver.uc", "Object", "Actor");
    reload();
    check([diver, other].map(|first| pair(&[("A", first)])));
    tale.edit("Keeper.uc", "var Actor A;", "var Actor A; var Actor B;");
    reload();
    check([diver, other].map(|first| pair(&[("A", first), ("B", actor)])));
}
