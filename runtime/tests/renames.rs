//! Tests types and members that are renamed with `was`, and then renamed back. Objects, values, kept fields and saved worlds must follow
//! both renames.

use alcedo_runtime::native::Delegate;
use alcedo_runtime::{Binding, EnumValue, ObjectHandle, ReloadReport, Runtime, Value, WorldLoadReport};
use expect_test::{Expect, expect};

use crate::support;

const MERCHANT: &str = "/Script/Game.Merchant";
const SMUGGLER: &str = "/Script/Game.Smuggler";

fn host(features: &[&str]) -> Runtime {
    support::host(&[support::plugin("renames", features)])
}

fn reload(host: &Runtime, features: &[&str]) -> ReloadReport {
    let report = host.reload(&[support::plugin("renames", features)]).expect("a Master");
    report.into_result().unwrap_or_else(|report| panic!("{report}"))
}

/// Returns the lines of a report that follow the object counts.
fn changes(report: &ReloadReport) -> String {
    report.to_string().lines().skip(3).map(str::trim).collect::<Vec<_>>().join("\n")
}

/// Creates a merchant with only default values, and a smuggler whose values all differ from the defaults.
fn people(host: &Runtime) -> [ObjectHandle; 2] {
    let objects = host.objects();
    let [merchant, smuggler] = [MERCHANT, SMUGGLER].map(|class| objects.spawn(class).expect("spawned"));
    let purse =
        |gold, silver| Value::Struct(vec![("gold".into(), Value::I32(gold)), ("silver".into(), Value::I32(silver))]);
    let mood = |name: &str| Value::Enum(EnumValue::named(name));
    for (property, value) in [
        ("weight", Value::I32(90)),
        ("mood", mood("Lost")),
        ("moods", Value::Array(vec![mood("Lost"), mood("Calm")])),
        ("purse", purse(5, 6)),
        ("purses", Value::Array(vec![purse(7, 8), purse(9, 10)])),
        ("stall", Value::Struct(vec![("east".into(), Value::F64(2.5))])),
        ("friend", Value::Object(merchant)),
        ("hidden", Value::I32(4)),
    ] {
        objects.set(smuggler, property, &value).unwrap_or_else(|error| panic!("{property}: {error}"));
    }
    host.links().point_at_class(smuggler, "calling", SMUGGLER).expect("a class");
    host.links().bind(smuggler, "on_hail", merchant, "hail").unwrap_or_else(|error| panic!("{error}"));
    for regrets in 1..=3 {
        assert_eq!(objects.call(smuggler, "regret", &[]).expect("it regrets"), Some(Value::U32(regrets)));
    }
    [merchant, smuggler]
}

/// Returns all values of an object, one per line.
fn state_of(host: &Runtime, object: ObjectHandle) -> String {
    let objects = host.objects();
    let mut lines = vec![objects.class_of(object).unwrap_or_default()];
    for property in objects.properties_of(object) {
        let formatted = match objects.get(object, &*property) {
            Ok(Value::Object(friend)) => objects.class_of(friend).unwrap_or_else(|| "-".to_owned()),
            Ok(Value::Struct(fields)) => fields.iter().map(|(name, value)| format!("{name}={value:?} ")).collect(),
            Ok(Value::Enum(value)) => value.text.to_string(),
            Ok(Value::Array(values)) => values
                .iter()
                .map(|value| match value {
                    Value::Enum(value) => format!("{} ", value.text),
                    other => format!("{other:?} "),
                })
                .collect(),
            Ok(Value::I32(number)) => number.to_string(),
            _ if property == "calling" => format!("{:?}", host.links().resolve_class(object, "calling")),
            _ => continue,
        };
        lines.push(format!("{property}: {}", formatted.trim()));
    }
    lines.push(format!("regrets once more: {:?}", objects.call(object, "regret", &[])));
    lines.push(format!("on_hail: {:?}", host.links().broadcast(object, "on_hail", &[])));
    lines.join("\n")
}

fn check(host: &Runtime, object: ObjectHandle, expected: Expect) {
    expected.assert_eq(&state_of(host, object));
}

const RENAMED_SMUGGLER: &str = "/Script/Game.Runner
mass: 90
mood: Furious
moods: Furious Calm
purse: coins=I32(5) silver=I32(6)
purses: Struct([(\"coins\", I32(7)), (\"silver\", I32(8))]) Struct([(\"coins\", I32(9)), (\"silver\", I32(10))])
stall: x=F64(2.5)
friend: /Script/Game.Trader
calling: Ok(Some(\"/Script/Game.Runner\"))
hidden: 4
regrets once more: Ok(Some(U32(4)))
on_hail: Ok(Some(Text(\"greetings, 70 pounds\")))";

const SMUGGLER_AGAIN: &str = "/Script/Game.Smuggler
weight: 90
mood: Lost
moods: Lost Calm
purse: gold=I32(5) silver=I32(6)
purses: Struct([(\"gold\", I32(7)), (\"silver\", I32(8))]) Struct([(\"gold\", I32(9)), (\"silver\", I32(10))])
stall: east=F64(2.5)
friend: /Script/Game.Merchant
calling: Ok(Some(\"/Script/Game.Smuggler\"))
hidden: 4
regrets once more: Ok(Some(U32(5)))
on_hail: Ok(Some(Text(\"hail, 70 pounds\")))";

#[test]
fn objects_and_values_follow_their_types_to_other_names_and_back() {
    let host = host(&[]);
    let [merchant, smuggler] = people(&host);
    let before = host.objects().iter().len();
    let weight = host.property::<i32>("up:/Script/Game.Merchant:weight").expect("it exists");
    let report = reload(&host, &["renamed"]);
    assert_eq!(state_of(&host, smuggler), RENAMED_SMUGGLER);
    let mass = host.property::<i32>("up:/Script/Game.Trader:mass").expect("it exists");
    assert_eq!(weight.get(smuggler).expect("it is renamed"), 90);
    check(
        &host,
        merchant,
        expect![[r#"
            /Script/Game.Trader
            mass: 70
            mood: Calm
            moods: 
            purse: coins=I32(1) silver=I32(0)
            purses: 
            stall: x=F64(0.0)
            friend: -
            calling: Ok(None)
            regrets once more: Ok(Some(U32(1)))
            on_hail: Err(Call(NotFound { message: "a delegate (-> String) is bound to nothing: bind it first" }))"#]],
    );
    expect![[r#"
          Game.Merchant is now called Game.Trader: 1 object
          Game.Smuggler is now called Game.Runner: 1 object
          Game.Trader.weight is now called mass
          Game.Runner.weight is now called mass"#]]
    .assert_eq(&changes(&report));
    assert_eq!(host.objects().iter().len(), before, "the count of objects is the same");
    assert_eq!(host.objects().dormant_class(smuggler), None);
    for path in ["uf:/Script/Game.Merchant:hail", "uf:/Script/Game.Trader:greet", "uf:/Script/Game.Trader:hail"] {
        host.function::<(), String>(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    }
    let report = reload(&host, &[]);
    assert_eq!(state_of(&host, smuggler), SMUGGLER_AGAIN);
    assert_eq!([&weight, &mass].map(|found| found.get(smuggler).expect("it has its first name")), [90, 90]);
    expect![[r#"
          Game.Runner is now called Game.Smuggler: 1 object
          Game.Trader is now called Game.Merchant: 1 object
          Game.Merchant.mass is now called weight
          Game.Smuggler.mass is now called weight"#]]
    .assert_eq(&changes(&report));
    host.function::<(), String>("uf:/Script/Game.Trader:greet").expect("the later name after the undo");
    reload(&host, &["renamed"]);
    assert_eq!(host.objects().class_of(smuggler).as_deref(), Some("/Script/Game.Runner"), "and again");
    assert_eq!(host.objects().call(smuggler, "regret", &[]).expect("it regrets"), Some(Value::U32(6)));
}

#[test]
fn objects_dormant_during_a_rename_wake_as_the_new_class() {
    let host = host(&[]);
    let [_, smuggler] = people(&host);
    let other = support::plugin("moods", &[]);
    host.reload(&[other]).expect("a Master").into_result().unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(host.objects().dormant_class(smuggler).as_deref(), Some(SMUGGLER));
    reload(&host, &["renamed"]);
    assert_eq!(state_of(&host, smuggler), RENAMED_SMUGGLER);
}

#[test]
fn a_delegate_of_the_host_calls_a_function_under_its_other_name() {
    let host = host(&[]);
    let [merchant, smuggler] = people(&host);
    let hail: Delegate<fn() -> String> = host.links().delegate(merchant, "hail").expect("the types match");
    let value = Value::Delegate(Binding { object: merchant, function: host.intern("hail") });
    for (features, expected) in [(&["renamed"][..], "greetings, 70 pounds"), (&[][..], "hail, 70 pounds")] {
        reload(&host, features);
        assert_eq!(hail.call(host.world(), ()).expect("it is bound"), expected);
        let called = host.calls().call("nd:/", std::slice::from_ref(&value)).expect("it is bound");
        assert_eq!(called, Some(Value::Text(expected.to_owned())));
        host.objects().set(smuggler, "on_hail", &value).expect("the types match");
        assert_eq!(host.links().broadcast(smuggler, "on_hail", &[]).expect("it is bound"), called);
    }
}

fn load(host: &Runtime, path: &std::path::Path) -> WorldLoadReport {
    host.worlds().load(path).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn saved_worlds_follow_types_to_other_names_and_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, again) = (folder.path().join("world"), folder.path().join("again"));
    let first = host(&[]);
    let [_, smuggler] = people(&first);
    let saved_path = first.objects().path_of(smuggler).expect("a path");
    first.worlds().save(&path).expect("it is saved");

    let second = host(&["renamed"]);
    let report = load(&second, &path);
    let found = second.objects().at_path(&saved_path).expect("it was loaded");
    assert_eq!(state_of(&second, found), RENAMED_SMUGGLER);
    expect![[r#"
        2 objects loaded · 2 conjugates built · 2 fields put back
          Game.Merchant.mass   was called weight: 1 followed
          Game.Smuggler.mass   was called weight: 1 kept their own"#]]
    .assert_eq(&report.to_string());
    second.worlds().save(&again).expect("it is saved");

    // A host that has undone the renames can still load a world that contains the new names.
    let third = host(&["renamed"]);
    reload(&third, &[]);
    load(&third, &again);
    let found = third.objects().at_path(&saved_path).expect("it was loaded");
    assert_eq!(state_of(&third, found), SMUGGLER_AGAIN);
}

#[test]
fn a_reload_hints_at_a_rename_that_nothing_lists() {
    let host = host(&[]);
    let scale = host.objects().spawn("/Script/Game.Scale").expect("spawned");
    host.objects().set(scale, "weight", &Value::I32(5)).expect("a number");
    let report = reload(&host, &["unlisted"]);
    let hint = "Game.Scale.weight is removed and mass of its type is added; if that is a new name, write `was = \"weight\"` on mass";
    assert!(report.structure.iter().any(|line| line == hint), "{report}");
    assert_eq!(host.objects().get(scale, "mass").expect("a number"), Value::I32(70));
    reload(&host, &[]);
    assert_eq!(host.objects().get(scale, "weight").expect("a number"), Value::I32(5), "the undo loses no value");
}

#[test]
fn a_name_that_is_listed_only_after_the_rename_restores_the_values() {
    let host = host(&[]);
    let [plain, written] = [(); 2].map(|()| host.objects().spawn("/Script/Game.Scale").expect("spawned"));
    for scale in [plain, written] {
        host.objects().set(scale, "weight", &Value::I32(5)).expect("a number");
    }
    reload(&host, &["unlisted"]);
    host.objects().set(written, "mass", &Value::I32(6)).expect("a number");
    let check = |property: &str, expected: [i32; 2]| {
        let found = [plain, written].map(|scale| host.objects().get(scale, property).expect("a number"));
        assert_eq!(found, expected.map(Value::I32), "{property}");
    };
    for _ in 0..2 {
        reload(&host, &["renamed", "unlisted"]);
        check("mass", [5, 6]);
    }
    reload(&host, &[]);
    check("weight", [5, 5]);
}

/// Creates an object of a class whose kept fields all have standard types.
fn tally(host: &Runtime) -> ObjectHandle {
    let tally = host.objects().spawn("/Script/Game.Tally").expect("spawned");
    for text in ["one", "two"] {
        host.objects().call(tally, "note", &[Value::Text(text.to_owned())]).expect("it notes");
    }
    tally
}

/// Compares the kept fields of a tally with the expected text. `Some(None)` shows that the reload copied the fields as bytes: CBOR has a
/// single null for `None` and `Some(None)`.
fn check_tally(host: &Runtime, tally: ObjectHandle, expected: &str) {
    let all = host.objects().call(tally, "all", &[]).expect("it prints");
    assert_eq!(all, Some(Value::Text(expected.to_owned())));
}

#[test]
fn objects_with_a_field_aside_are_carried_by_name() {
    let host = host(&["unlisted"]);
    let tallies = [tally(&host), tally(&host)];
    for tally in tallies {
        host.objects().call(tally, "fill", &[Value::U64(1 << 40)]).expect("it counts");
    }
    // The count does not fit, so it is put aside.
    reload(&host, &[]);
    for tally in tallies {
        host.objects().call(tally, "note", &[Value::Text("three".to_owned())]).expect("it notes");
    }
    reload(&host, &[]);
    for tally in tallies {
        check_tally(&host, tally, "1 None one two three");
    }
}

#[test]
fn kept_fields_that_a_reload_does_not_change_are_carried_as_bytes() {
    let host = host(&[]);
    let tally = tally(&host);
    for _ in 0..2 {
        let report = reload(&host, &[]);
        assert_eq!((report.fields_kept, report.fields_lost), (3, vec![]));
        check_tally(&host, tally, "2 Some(None) one two");
    }
}

#[test]
fn a_class_with_a_retyped_or_renamed_kept_field_is_carried_by_name() {
    for features in [["unlisted"], ["renamed"]] {
        let host = host(&[]);
        let tally = tally(&host);
        let report = reload(&host, &features);
        assert_eq!((report.fields_kept, report.fields_lost), (3, vec![]), "{features:?}");
        check_tally(&host, tally, "2 None one two");
        host.objects().call(tally, "note", &[Value::Text("three".to_owned())]).expect("it notes");
        reload(&host, &features);
        check_tally(&host, tally, "3 Some(None) one two three");
        reload(&host, &[]);
        check_tally(&host, tally, "3 None one two three");
    }
}

#[test]
fn a_kept_field_that_moves_to_the_base_class_and_back_keeps_its_value() {
    let host = host(&[]);
    let chalk = host.objects().spawn("/Script/Game.Chalk").expect("spawned");
    let mark = || host.objects().call(chalk, "mark", &[]).expect("it marks");
    assert_eq!((mark(), mark()), (Some(Value::U32(1)), Some(Value::U32(2))));
    for (marks, features) in (3..).zip([&["unlisted"][..], &[], &["unlisted"]]) {
        let report = reload(&host, features);
        assert_eq!((report.fields_kept, report.fields_lost), (1, vec![]), "{features:?}");
        assert_eq!(mark(), Some(Value::U32(marks)), "{features:?}");
    }
}

#[test]
fn a_kept_field_that_moves_and_is_retyped_has_its_value_again_after_the_type_returns() {
    let host = host(&[]);
    let chalk = host.objects().spawn("/Script/Game.Chalk").expect("spawned");
    let mark = || host.objects().call(chalk, "mark", &[]).expect("it marks");
    assert_eq!((mark(), mark()), (Some(Value::U32(1)), Some(Value::U32(2))));
    for (marks, features) in (3..).zip([&["unlisted"][..], &[]]) {
        let lost = reload(&host, &["renamed", "unlisted"]).fields_lost;
        assert_eq!(lost, ["Game.Slate.marks is of another type: 1 value put aside"], "{features:?}");
        assert_eq!(reload(&host, features).fields_lost, [""; 0], "{features:?}");
        assert_eq!(mark(), Some(Value::U32(marks)), "{features:?}");
    }
}

#[test]
fn a_kept_field_that_is_renamed_and_retyped_has_its_value_again_after_the_type_returns() {
    let host = host(&[]);
    let [plain, written] = [tally(&host), tally(&host)];
    let both = ["renamed", "unlisted"];
    let lost = reload(&host, &both).fields_lost;
    assert_eq!(lost, ["Game.Tally.notes is of another type: 2 values put aside"]);
    host.objects().call(written, "note", &[Value::Text("3".to_owned())]).expect("it notes");
    assert_eq!(reload(&host, &both).fields_lost, [""; 0]);
    check_tally(&host, plain, "2 None ");
    check_tally(&host, written, "3 None 3");
    // The first build has no value of the other type for `plain`, so an undo and a redo each put aside the value of one object.
    for (features, notes) in [(&["renamed"][..], ["one two", "one two"]), (&both[..], ["", "3"])] {
        let lost = reload(&host, features).fields_lost;
        assert_eq!(lost, ["Game.Tally.remarks is of another type: 1 value put aside"], "{features:?}");
        check_tally(&host, plain, &format!("2 None {}", notes[0]));
        check_tally(&host, written, &format!("3 None {}", notes[1]));
    }
}

#[test]
fn a_kept_field_that_merges_two_fields_takes_the_value_of_the_first() {
    let host = host(&[]);
    let pair = host.objects().spawn("/Script/Game.Pair").expect("spawned");
    host.objects().call(pair, "fill", &[Value::U32(1), Value::U32(2)]).expect("it is filled");
    let check = |expected: &str| {
        let numbers = host.objects().call(pair, "numbers", &[]).expect("it prints");
        assert_eq!(numbers, Some(Value::Text(expected.to_owned())));
    };
    for lost in [&["Game.Pair.right is no longer kept: 1 value put aside"][..], &[][..]] {
        assert_eq!(reload(&host, &["renamed"]).fields_lost, lost);
        check("1");
    }
    assert_eq!(reload(&host, &[]).fields_lost, [""; 0]);
    check("1 2");
}

#[test]
fn saved_worlds_have_kept_fields_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("world");
    let first = host(&[]);
    let tally = tally(&first);
    let saved_path = first.objects().path_of(tally).expect("a path");
    first.worlds().save(&path).expect("it is saved");
    for features in [vec![], vec!["unlisted"], vec!["renamed"]] {
        let second = host(&features);
        assert_eq!(load(&second, &path).fields_kept, 3, "{features:?}");
        let found = second.objects().at_path(&saved_path).expect("it was loaded");
        check_tally(&second, found, "2 None one two");
    }
}
