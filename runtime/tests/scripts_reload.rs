//! What becomes of objects of scripts when the text of their class changes: types of variables, entries of enums, fields of structs,
//! defaults, names of classes, and what delegates are bound to.

use alcedo_runtime::{ObjectHandle, Runtime, Value};

use crate::scripts::{HERO_TEXT, Package, builder, call, get, reload_of, spawn};

const HERO: &str = "/Script/Tale.Hero";

fn host(package: &Package) -> Runtime {
    let host = builder().build().expect("a host");
    host.create_master(std::slice::from_ref(&package.folder)).unwrap_or_else(|error| panic!("{error}"));
    host
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
fn a_number_of_another_type_keeps_its_value_and_what_cannot_be_kept_is_told() {
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

fn told(host: &Runtime, kit: ObjectHandle) -> Value {
    call(host, kit, "Told", &[]).expect("a text")
}

#[test]
fn entries_of_enums_are_kept_by_name_and_structs_by_their_fields() {
    let package = Package::new("Tale", &[("Kit.uc", KIT_TEXT)]);
    let host = host(&package);
    let kit = spawn(&host, "/Script/Tale.Kit");
    call(&host, kit, "Fill", &[]);
    assert_eq!(told(&host, kit), Value::Text("3rope13ropeHighMiddleHigh".into()));
    package.edit("Kit.uc", "    Low,\n    Middle,\n    High\n", "    High,\n    Higher,\n    Low,\n    Middle\n");
    reload_of(&host, &package);
    assert_eq!(told(&host, kit), Value::Text("3rope13ropeHighMiddleHigh".into()), "the order of an enum");
    package.edit("Kit.uc", "    var int Count;\n", "    var float Weight;\n    var int Count;\n");
    reload_of(&host, &package);
    assert_eq!(told(&host, kit), Value::Text("3rope13ropeHighMiddleHigh".into()), "a field more");
    package.edit(
        "Kit.uc",
        "    var float Weight;\n    var int Count;\n    var string Label;\n",
        "    var string Label;\n    var int Count;\n    var float Weight;\n",
    );
    reload_of(&host, &package);
    assert_eq!(told(&host, kit), Value::Text("3rope13ropeHighMiddleHigh".into()), "another order of fields");
    // A struct is kept when every field of it has a place: see `docs/migration.md`.
    package.edit("Kit.uc", "    var int Count;\n", "    var int Number;\n");
    package.edit("Kit.uc", "I.Count = 3;", "I.Number = 3;");
    package.edit(
        "Kit.uc",
        "First.Count $ First.Label $ Items.Length $ Items[0].Count $ Items[0].Label $ ",
        "First.Label $ Items.Length $ ",
    );
    reload_of(&host, &package);
    assert_eq!(told(&host, kit), Value::Text("0HighMiddleHigh".into()), "a field less");
}

#[test]
fn an_object_follows_the_default_of_a_base_unless_its_class_or_itself_says_otherwise() {
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

const BELL_TEXT: &str = r#"
class Bell extends Object;

var int Rung;
var delegate<OnRing> Kept;

delegate int OnRing(int Times);

function int Ring(int Times)
{
    Rung += Times;
    return Rung;
}

function Bind()
{
    Kept = Ring;
}

function int Run(int Times)
{
    if (Kept == none)
    {
        return -1;
    }
    return Kept(Times);
}
"#;

#[test]
fn a_delegate_that_is_kept_calls_the_new_body_and_none_when_the_function_is_gone() {
    let package = Package::new("Tale", &[("Bell.uc", BELL_TEXT)]);
    let host = host(&package);
    let bell = spawn(&host, "/Script/Tale.Bell");
    let run = || host.objects().call(bell, "Run", &[Value::I32(2)]);
    call(&host, bell, "Bind", &[]);
    assert_eq!(run().expect("it is bound"), Some(Value::I32(2)));
    package.edit("Bell.uc", "Rung += Times;", "Rung += 10 * Times;");
    reload_of(&host, &package);
    assert_eq!(run().expect("it is bound still"), Some(Value::I32(22)));
    package.edit("Bell.uc", "function int Ring(", "function int Rang(");
    package.edit("Bell.uc", "Kept = Ring;", "Kept = Rang;");
    reload_of(&host, &package);
    let answer = run().map_err(|error| error.to_string());
    assert!(
        answer.as_ref().is_ok_and(|value| *value == Some(Value::I32(-1)))
            || answer.as_ref().is_err_and(|told| told.contains("Ring")),
        "{answer:?}"
    );
    assert_eq!(get(&host, bell, "Rung"), Value::I32(22), "no other function was called");
    call(&host, bell, "Bind", &[]);
    assert_eq!(run().expect("it is bound anew"), Some(Value::I32(42)));
}
