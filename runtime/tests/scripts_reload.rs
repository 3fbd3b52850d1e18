//! Tests script objects after changes to their class. Covers the types of variables, enum entries, struct fields, defaults, and class
//! names.

use alcedo_runtime::{ObjectHandle, Runtime, Value};

use crate::scripts::{HERO_TEXT, LAMP_TEXT, Package, builder, call, get, host_of, reload_of, spawn};

mod renames;
mod undone;

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
fn an_old_value_of_a_retyped_variable_is_refused_with_both_types() {
    let text = "class Hero extends Actor;\nvar int Health;\n";
    let package = Package::new("Tale", &[("Hero.uc", text)]);
    let host = host(&package);
    let hero = spawn(&host, HERO);
    let earlier = get(&host, hero, "Health");
    package.edit("Hero.uc", "var int Health", "var string Health");
    reload_of(&host, &package);
    let error = host.objects().set(hero, "Health", &earlier).expect_err("it is an integer").to_string();
    assert_eq!(
        error,
        "/Script/Tale.Hero:Health has the signature (String), the caller was built for (i32): rebuild or correct \
         the caller"
    );
}

#[test]
fn an_object_has_the_subobject_that_its_base_has_gained_during_the_dormancy() {
    let (lamp, torch) = ("class Lamp extends Actor;\n", "class Torch extends Lamp;\n");
    let files = [("Spark.uc", "class Spark extends Actor;\n"), ("Lamp.uc", lamp), ("Torch.uc", torch)];
    let package = Package::new("Tale", &files);
    let host = host(&package);
    let object = spawn(&host, "/Script/Tale.Torch");
    package.remove("Torch.uc");
    package.write("Lamp.uc", LAMP_TEXT);
    reload_of(&host, &package);
    package.write("Torch.uc", torch);
    reload_of(&host, &package);
    let Value::Object(bulb) = get(&host, object, "Bulb") else { panic!("a reference") };
    assert_eq!(host.objects().outer_of(bulb), Some(object));
}

#[test]
fn an_object_that_was_dormant_keeps_the_object_that_replaced_a_subobject_of_its_base() {
    let torch = "class Torch extends Lamp;\n";
    let files = [("Spark.uc", "class Spark extends Actor;\n"), ("Lamp.uc", LAMP_TEXT), ("Torch.uc", torch)];
    let package = Package::new("Tale", &files);
    let host = host(&package);
    let [object, other] = ["/Script/Tale.Torch", "/Script/Tale.Spark"].map(|class| spawn(&host, class));
    host.objects().set(object, "Bulb", &Value::Object(other)).unwrap_or_else(|error| panic!("{error}"));
    package.remove("Torch.uc");
    reload_of(&host, &package);
    package.write("Torch.uc", torch);
    reload_of(&host, &package);
    assert_eq!(get(&host, object, "Bulb"), Value::Object(other));
}

#[test]
fn a_cleared_reference_survives_a_file_that_is_saved_during_the_dormancy() {
    let torch = "class Torch extends Lamp;\ndefaultproperties\n{\n    Aim=Actor'Sun'\n}\n";
    let package = Package::new("Tale", &[("Lamp.uc", "class Lamp extends Actor;\nvar Actor Aim;\n")]);
    let host = host(&package);
    let sun = spawn(&host, "/Script/Engine.Actor");
    host.objects().rename(sun, "Sun", ObjectHandle::NONE).unwrap_or_else(|error| panic!("{error}"));
    package.write("Torch.uc", torch);
    reload_of(&host, &package);
    let object = spawn(&host, "/Script/Tale.Torch");
    assert_eq!(get(&host, object, "Aim"), Value::Object(sun));
    host.objects().set(object, "Aim", &Value::Object(ObjectHandle::NONE)).unwrap_or_else(|error| panic!("{error}"));
    let location = host.objects().path_of(object).expect("it lives");
    package.remove("Torch.uc");
    reload_of(&host, &package);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("world");
    host.worlds().save(&path).unwrap_or_else(|error| panic!("{error}"));
    host.worlds().load(&path).unwrap_or_else(|error| panic!("{error}"));
    package.write("Torch.uc", torch);
    reload_of(&host, &package);
    let object = host.objects().at_path(&location).expect("it was loaded");
    assert_eq!(get(&host, object, "Aim"), Value::Object(ObjectHandle::NONE));
}

#[test]
fn new_subobjects_of_one_reload_refer_to_each_other() {
    let spark = "class Spark extends Actor;
        var Spark Next;";
    let bare = "class Lamp extends Actor;\n";
    let full = "class Lamp extends Actor;
        var Spark First;
        var Spark Second;
        defaultproperties
        {
            Begin Object Class=Spark Name=One
                Next=Two
            End Object
            Begin Object Class=Spark Name=Two
                Next=One
            End Object
            First=One
            Second=Two
        }";
    let package = Package::new("Tale", &[("Spark.uc", spark), ("Lamp.uc", bare)]);
    let host = host(&package);
    let lamp = spawn(&host, "/Script/Tale.Lamp");
    let folder = tempfile::tempdir().expect("a folder");
    let (world, path) = (folder.path().join("world"), host.objects().path_of(lamp).expect("a path"));
    host.worlds().save(&world).expect("it is saved");
    package.edit("Lamp.uc", bare, full);
    reload_of(&host, &package);
    let loaded = host_of(builder(), &package);
    let _report = loaded.worlds().load(&world).expect("it is loaded");
    let restored = loaded.objects().at_path(&path).expect("it was saved");
    for (host, lamp) in [(&host, lamp), (&loaded, restored)] {
        let part = |object, name: &str| match get(host, object, name) {
            Value::Object(part) => part,
            other => panic!("{other:?}"),
        };
        let [first, second] = ["First", "Second"].map(|name| part(lamp, name));
        assert_eq!([first, second].map(|object| part(object, "Next")), [second, first]);
    }
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
fn a_native_subobject_follows_the_defaults_that_its_owner_overrides() {
    let lamp = "class Lamp extends Actor;
        var SceneComponent Shade;
        defaultproperties
        {
            Begin Object Class=SceneComponent Name=Bulb
                CanTick=true
            End Object
            Shade=Bulb
        }";
    let package = Package::new("Tale", &[("Lamp.uc", lamp)]);
    let host = host(&package);
    let bulbs = [(); 2].map(|()| match get(&host, spawn(&host, "/Script/Tale.Lamp"), "Shade") {
        Value::Object(bulb) => bulb,
        other => panic!("{other:?}"),
    });
    host.objects().set(bulbs[1], "can_tick", &Value::Bool(false)).expect("a property of it");
    for (from, to, expected) in [("true", "false", [false, false]), ("false", "true", [true, false])] {
        package.edit("Lamp.uc", &format!("CanTick={from}"), &format!("CanTick={to}"));
        reload_of(&host, &package);
        assert_eq!(bulbs.map(|bulb| get(&host, bulb, "can_tick")), expected.map(Value::Bool), "{to}");
    }
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
