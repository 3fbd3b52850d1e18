//! Tests script objects after changes to their class. Covers the types of variables, enum entries, struct fields, defaults, and class
//! names.

use std::collections::BTreeSet;

use alcedo_runtime::{ObjectHandle, Runtime, Value};

use crate::scripts::{HERO_TEXT, LAMP_TEXT, Package, builder, call, get, host_of, reload_of, spawn};

mod renames;

const HERO: &str = "/Script/Tale.Hero";

fn host(package: &Package) -> Runtime {
    host_of(builder(), package)
}

#[test]
fn a_class_with_another_name_is_another_class() {
    let package = Package::new("Tale", &[("Hero.uc", HERO_TEXT)]);
    let host = host(&package);
    let hero = spawn(&host, HERO);
    call(&host, hero, "Hurt", &[Value::I32(30)]);
    package.remove("Hero.uc");
    package.write("Knight.uc", &HERO_TEXT.replace("class Hero", "class Knight"));
    reload_of(&host, &package);
    assert!(host.objects().spawn(HERO).is_err() && host.objects().call(hero, "Hurt", &[Value::I32(1)]).is_err());
    let knight = spawn(&host, "/Script/Tale.Knight");
    assert_eq!(get(&host, knight, "Health"), Value::I32(100));
    package.remove("Knight.uc");
    package.write("Hero.uc", HERO_TEXT);
    reload_of(&host, &package);
    assert_eq!(call(&host, hero, "Hurt", &[Value::I32(1)]), Some(Value::I32(69)), "it has slept");
}

#[test]
fn a_subobject_that_a_reconstructed_owner_lacks_ends_with_its_new_subobjects() {
    let spark = "class Spark extends Actor;
        var SceneComponent First;
        var SceneComponent Second;
        defaultproperties
        {
            Begin Object Class=SceneComponent Name=One
            End Object
            Begin Object Class=SceneComponent Name=Two
            End Object
            First=One
            Second=Two
        }";
    let package = Package::new("Tale", &[("Spark.uc", "class Spark extends Actor;\n"), ("Lamp.uc", LAMP_TEXT)]);
    let host = host(&package);
    let lamp = spawn(&host, "/Script/Tale.Lamp");
    package.remove("Lamp.uc");
    reload_of(&host, &package);
    assert_eq!(host.objects().iter().len(), 2, "the dormant owner keeps the subobject");
    // The class returns with another native base and without the subobject. The class of the subobject has new subobjects.
    package.write("Lamp.uc", "class Lamp extends Object;\n");
    package.write("Spark.uc", spark);
    let report = host.reload(std::slice::from_ref(&package.folder)).expect("a Master");
    let report = report.into_result().unwrap_or_else(|report| panic!("{report}"));
    assert_eq!((report.objects_kept, host.objects().iter().collect::<Vec<_>>()), (1, vec![lamp]));
}

#[test]
fn a_reconstructed_subobject_follows_the_defaults_that_its_owner_overrides() {
    let lamp = "class Lamp extends Actor;
        var Spark Shade;
        defaultproperties
        {
            Begin Object Class=Spark Name=Bulb
                Watts=5
            End Object
            Shade=Bulb
        }";
    let spark = "class Spark extends Actor;
        var int Watts;
        defaultproperties
        {
            Watts=1
        }";
    let package = Package::new("Tale", &[("Spark.uc", spark), ("Lamp.uc", lamp)]);
    let host = host(&package);
    let bulbs = [(); 3].map(|()| match get(&host, spawn(&host, "/Script/Tale.Lamp"), "Shade") {
        Value::Object(bulb) => bulb,
        other => panic!("{other:?}"),
    });
    for (bulb, watts) in bulbs[1..].iter().zip([1, 9]) {
        host.objects().set(*bulb, "Watts", &Value::I32(watts)).expect("a number");
    }
    let watts = || bulbs.map(|bulb| get(&host, bulb, "Watts"));
    assert_eq!(watts(), [5, 1, 9].map(Value::I32));
    package.edit("Spark.uc", "extends Actor", "extends SceneComponent");
    reload_of(&host, &package);
    assert_eq!(watts(), [5, 1, 9].map(Value::I32), "the native base has changed");
    package.edit("Lamp.uc", "Watts=5", "Watts=6");
    reload_of(&host, &package);
    assert_eq!(watts(), [6, 1, 9].map(Value::I32));
}

#[test]
fn a_number_keeps_its_value_across_types_and_losses_are_reported() {
    let package = Package::new("Tale", &[("Hero.uc", HERO_TEXT)]);
    let host = host(&package);
    let hero = spawn(&host, HERO);
    call(&host, hero, "Hurt", &[Value::I32(30)]);
    package.edit("Hero.uc", "var() int Health;", "var() float Health;");
    package.edit("Hero.uc", "function int Hurt(int Amount)", "function float Hurt(int Amount)");
    reload_of(&host, &package);
    assert_eq!(get(&host, hero, "Health"), Value::F32(70.0));
    assert_eq!(call(&host, hero, "Hurt", &[Value::I32(1)]), Some(Value::F32(69.0)));
    package.edit("Hero.uc", "var string Title;", "var name Title;");
    package.edit("Hero.uc", "Title=\"Hero\"", "Title=Hero");
    let report = host.reload(std::slice::from_ref(&package.folder)).expect("a Master");
    let report = report.into_result().unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(get(&host, hero, "Title"), Value::Name(host.intern("Hero")), "{report}");
}

const KIT_TEXT: &str = r#"
class Kit extends Object;

enum ERank
{
    Low,
    Middle,
    High
};

struct Item
{
    var int Count;
    var string Label;
};

var ERank Rank;
var Item First;
var array<Item> Items;
var array<ERank> Ranks;

function Fill()
{
    local Item I;

    I.Count = 3;
    I.Label = "rope";
    First = I;
    Items.AddItem(I);
    Rank = High;
    Ranks.AddItem(Middle);
    Ranks.AddItem(High);
}

function string Told()
{
    return First.Count $ First.Label $ Items.Length $ Items[0].Count $ Items[0].Label $ Rank $ Ranks[0] $ Ranks[1];
}
"#;

fn answer_of(host: &Runtime, kit: ObjectHandle) -> Value {
    call(host, kit, "Told", &[]).expect("a text")
}

#[test]
fn entries_of_enums_are_kept_by_name_and_structs_by_their_fields() {
    let package = Package::new("Tale", &[("Kit.uc", KIT_TEXT)]);
    let host = host(&package);
    let kit = spawn(&host, "/Script/Tale.Kit");
    call(&host, kit, "Fill", &[]);
    assert_eq!(answer_of(&host, kit), Value::Text("3rope13ropeHighMiddleHigh".into()));
    package.edit("Kit.uc", "    Low,\n    Middle,\n    High\n", "    High,\n    Higher,\n    Low,\n    Middle\n");
    reload_of(&host, &package);
    assert_eq!(answer_of(&host, kit), Value::Text("3rope13ropeHighMiddleHigh".into()), "the order of an enum");
    package.edit("Kit.uc", "    var int Count;\n", "    var float Weight;\n    var int Count;\n");
    reload_of(&host, &package);
    assert_eq!(answer_of(&host, kit), Value::Text("3rope13ropeHighMiddleHigh".into()), "a field more");
    package.edit(
        "Kit.uc",
        "    var float Weight;\n    var int Count;\n    var string Label;\n",
        "    var string Label;\n    var int Count;\n    var float Weight;\n",
    );
    reload_of(&host, &package);
    assert_eq!(answer_of(&host, kit), Value::Text("3rope13ropeHighMiddleHigh".into()), "another order of fields");
    // After the rename of a field, a struct keeps the values of its other fields: see `docs/migration.md`.
    package.edit("Kit.uc", "    var int Count;\n", "    var int Number;\n");
    package.edit("Kit.uc", "I.Count = 3;", "I.Number = 3;");
    package.edit(
        "Kit.uc",
        "First.Count $ First.Label $ Items.Length $ Items[0].Count $ Items[0].Label $ ",
        "First.Label $ Items.Length $ ",
    );
    reload_of(&host, &package);
    assert_eq!(answer_of(&host, kit), Value::Text("rope1HighMiddleHigh".into()), "a field less");
}

#[test]
fn an_object_follows_base_defaults_unless_overridden() {
    let elder = "class Elder extends Hero;\n";
    let saint = "class Saint extends Hero;\n\ndefaultproperties\n{\n    Health=500\n}\n";
    let package = Package::new("Tale", &[("Hero.uc", HERO_TEXT), ("Elder.uc", elder), ("Saint.uc", saint)]);
    let host = host(&package);
    let [elder, hurt] = [(); 2].map(|()| spawn(&host, "/Script/Tale.Elder"));
    let saint = spawn(&host, "/Script/Tale.Saint");
    call(&host, hurt, "Hurt", &[Value::I32(30)]);
    package.edit("Hero.uc", "Health=100", "Health=150");
    reload_of(&host, &package);
    let health = |object| get(&host, object, "Health");
    assert_eq!((health(elder), health(hurt), health(saint)), (Value::I32(150), Value::I32(70), Value::I32(500)));
    package.edit("Saint.uc", "    Health=500\n", "");
    reload_of(&host, &package);
    assert_eq!(health(saint), Value::I32(150), "it has the default of its base now");
    package.edit("Hero.uc", "    Health=150\n", "");
    reload_of(&host, &package);
    assert_eq!((health(elder), health(hurt), health(saint)), (Value::I32(0), Value::I32(70), Value::I32(0)));
}

const HOLDER_TEXT: &str = r#"
class Holder extends Object;

var Friend One;
var array<Friend> Many;
var Object Any;
var SPair Both;

struct SPair
{
    var Friend Of;
    var int Count;
};

function Fill(Friend F)
{
    One = F;
    Many.AddItem(F);
    Any = F;
    Both.Of = F;
    Both.Count = 3;
}
"#;

/// Returns a host with a holder. Four properties of the holder refer to a `Friend`, whose class extends `Actor`.
fn holding() -> (Package, Runtime, [ObjectHandle; 2]) {
    let friend = "class Friend extends Actor;\n";
    let buddy = "class Buddy extends Friend;\n";
    let package = Package::new("Tale", &[("Holder.uc", HOLDER_TEXT), ("Friend.uc", friend), ("Buddy.uc", buddy)]);
    let host = host(&package);
    let [holder, buddy] = ["/Script/Tale.Holder", "/Script/Tale.Buddy"].map(|class| spawn(&host, class));
    call(&host, holder, "Fill", &[Value::Object(buddy)]);
    (package, host, [holder, buddy])
}

fn pair(of: ObjectHandle, count: i32) -> Value {
    Value::Struct(vec![("Of".into(), Value::Object(of)), ("Count".into(), Value::I32(count))])
}

#[test]
fn a_retyped_reference_is_kept_only_for_objects_of_the_class() {
    let (package, host, [holder, buddy]) = holding();
    package.edit("Holder.uc", "var Friend One;", "var Actor One;");
    package.edit("Holder.uc", "var array<Friend> Many;", "var array<Buddy> Many;");
    package.edit("Holder.uc", "var Object Any;", "var SceneComponent Any;");
    package.edit("Holder.uc", "    Any = F;\n    Both", "    Both");
    package.edit("Holder.uc", "    Many.AddItem(F);\n", "");
    package.edit("Holder.uc", "    var Friend Of;", "    var SceneComponent Of;");
    package.edit("Holder.uc", "    Both.Of = F;\n", "");
    let report = host.reload(std::slice::from_ref(&package.folder)).expect("a Master");
    let report = report.into_result().unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(get(&host, holder, "One"), Value::Object(buddy), "an actor still");
    assert_eq!(get(&host, holder, "Many"), Value::Array(vec![Value::Object(buddy)]), "it is a Buddy");
    assert_eq!(get(&host, holder, "Any"), Value::Object(ObjectHandle::NONE), "its object is not a component");
    assert_eq!(get(&host, holder, "Both"), pair(ObjectHandle::NONE, 0), "a struct is kept whole or not");
    let text = report.to_string();
    assert!(text.contains("Tale.Holder.Any") && text.contains("1 got the default"), "{text}");
}

#[test]
fn references_reset_while_their_objects_class_has_another_base() {
    let (package, host, [holder, buddy]) = holding();
    package.edit("Buddy.uc", "extends Friend", "extends Actor");
    let report = host.reload(std::slice::from_ref(&package.folder)).expect("a Master");
    let report = report.into_result().unwrap_or_else(|report| panic!("{report}"));
    let none = ObjectHandle::NONE;
    assert_eq!(get(&host, holder, "One"), Value::Object(none));
    assert_eq!(get(&host, holder, "Many"), Value::Array(vec![]));
    assert_eq!(get(&host, holder, "Any"), Value::Object(buddy), "any object may be there");
    assert_eq!(get(&host, holder, "Both"), pair(none, 0));
    let text = report.to_string();
    let line = "Tale.Holder.One   the referenced objects now have another class: 1 got the default";
    assert!(text.contains(line), "{text}");
    package.edit("Holder.uc", "var int Count;", "var int Count; // the same");
    reload_of(&host, &package);
    assert_eq!(get(&host, holder, "One"), Value::Object(none), "its object is still not a Friend");
    package.edit("Buddy.uc", "extends Actor", "extends Friend");
    reload_of(&host, &package);
    assert_eq!(get(&host, holder, "One"), Value::Object(buddy));
    assert_eq!(get(&host, holder, "Many"), Value::Array(vec![Value::Object(buddy)]));
    assert_eq!(get(&host, holder, "Both"), pair(buddy, 3));
}

#[test]
fn a_fixed_array_always_has_the_length_of_the_new_source() {
    let text = "class Row extends Object;\n\nstruct SRow\n{\n    var int f[2];\n};\n\nvar int x[2];\nvar array<int> a;\n\
        var array<SRow> r;\n\nfunction Fill()\n{\n    local SRow one;\n\n    x[1] = 3;\n    a.AddItem(8);\n    one.f[1] = 5;\n    r.AddItem(one);\n}\n\n\
        defaultproperties\n{\n    x(0)=7\n}\n";
    let package = Package::new("Tale", &[("Row.uc", text)]);
    let host = host(&package);
    let row = spawn(&host, "/Script/Tale.Row");
    call(&host, row, "Fill", &[]);
    let numbers = |numbers: &[i32]| Value::Array(numbers.iter().copied().map(Value::I32).collect());
    let rows = |of: &[i32]| Value::Array(vec![Value::Struct(vec![("f".into(), numbers(of))])]);
    assert_eq!(get(&host, row, "x"), numbers(&[7, 3]));
    package.edit("Row.uc", "var int x[2];", "var int x[5];");
    package.edit("Row.uc", "    x(0)=7", "    x(0)=7\n    x(3)=4");
    package.edit("Row.uc", "    var int f[2];", "    var int f[4];");
    package.edit("Row.uc", "var array<int> a;", "var int a[3];");
    package.edit("Row.uc", "    a.AddItem(8);\n", "");
    reload_of(&host, &package);
    assert_eq!(get(&host, row, "x"), numbers(&[7, 3, 0, 4, 0]), "the other elements have the default");
    assert_eq!(get(&host, row, "a"), numbers(&[8, 0, 0]));
    assert_eq!(get(&host, row, "r"), rows(&[0, 5, 0, 0]));
    package.edit("Row.uc", "var int x[5];", "var int x[2];");
    package.edit("Row.uc", "\n    x(3)=4", "");
    package.edit("Row.uc", "    var int f[4];", "    var int f[2];");
    reload_of(&host, &package);
    assert_eq!(get(&host, row, "x"), numbers(&[7, 3]));
    assert_eq!(get(&host, row, "r"), rows(&[0, 5]));
}

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

const SQUIRE: &str = "class Squire extends Object;

enum ERank { Low, High };

struct Item { var int Count; };

var int Health;
var ERank Rank;
var Item First;

function Rise() { Health = 7; Rank = High; First.Count = 3; }
";

const KNIGHT: &str = "class Knight<Was=Squire> extends Object;

enum EGrade<Was=ERank> { Bottom<Was=Low>, Middle, Top<Was=High> };

struct Thing<Was=Item> { var int Number<Was=Count>; };

var int Vigor<Was=Health>;
var EGrade Grade<Was=Rank>;
var Thing Best<Was=First>;
";

#[test]
fn scripts_list_earlier_names_after_the_current_names() {
    let package = Package::new("Tale", &[("Squire.uc", SQUIRE)]);
    let host = host(&package);
    let squire = spawn(&host, "/Script/Tale.Squire");
    call(&host, squire, "Rise", &[]);
    package.remove("Squire.uc");
    package.write("Knight.uc", KNIGHT);
    reload_of(&host, &package);
    let rank = |name: &str| match get(&host, squire, name) {
        Value::Enum(value) => value.text.to_string(),
        other => format!("{other:?}"),
    };
    let fields = |name: &str| Value::Struct(vec![(name.into(), Value::I32(3))]);
    assert_eq!(host.objects().class_of(squire).as_deref(), Some("/Script/Tale.Knight"));
    assert_eq!(get(&host, squire, "Vigor"), Value::I32(7));
    assert_eq!(rank("Grade"), "Top");
    assert_eq!(get(&host, squire, "Best"), fields("Number"));
    package.remove("Knight.uc");
    package.write("Squire.uc", SQUIRE);
    reload_of(&host, &package);
    assert_eq!(get(&host, squire, "Health"), Value::I32(7));
    assert_eq!(rank("Rank"), "High");
    assert_eq!(get(&host, squire, "First"), fields("Count"));
}
