//! Tests enums of modules and of the host in properties, elements, keys, parameters and results. Reloads change the discriminants of the
//! entries. Host and module may declare different entries.

use std::path::PathBuf;

use alcedo_runtime::kinds::PropertyKind;
use alcedo_runtime::native::{NativeEnum, Natives};
use alcedo_runtime::{EnumValue, ObjectHandle, Runtime, Value};

use crate::support;

const PERSON: &str = "/Script/Game.Person";

fn moods(features: &[&str]) -> PathBuf {
    support::plugin("moods", features)
}

fn host(features: &[&str]) -> (Runtime, ObjectHandle) {
    let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    host.create_master(&[moods(features)]).unwrap_or_else(|error| panic!("{error}"));
    let person = host.objects().spawn(PERSON).unwrap_or_else(|error| panic!("{error}"));
    (host, person)
}

fn named(name: &str) -> Value {
    Value::Enum(EnumValue::named(name))
}

fn value_of(host: &Runtime, person: ObjectHandle, property: &str) -> String {
    match host.objects().get(person, property) {
        Ok(Value::Enum(value)) => format!("{} = {}", value.text, value.number),
        Ok(Value::Array(values)) => values.iter().map(display).collect::<Vec<_>>().join(", "),
        Ok(Value::Map(entries)) => {
            let mut entries: Vec<_> =
                entries.iter().map(|(key, value)| format!("{}: {value:?}", display(key))).collect();
            entries.sort();
            entries.join(", ")
        }
        other => format!("{other:?}"),
    }
}

fn display(value: &Value) -> String {
    if let Value::Enum(value) = value { value.text.to_string() } else { format!("{value:?}") }
}

fn call(host: &Runtime, person: ObjectHandle, function: &str, arguments: &[Value]) -> String {
    match host.objects().call(person, function, arguments) {
        Ok(Some(value)) => display(&value),
        Ok(None) => "nothing".to_owned(),
        Err(error) => format!("an error: {error}"),
    }
}

#[test]
fn enums_are_properties_elements_keys_parameters_and_results() {
    let (host, person) = host(&[]);
    assert_eq!(value_of(&host, person, "mood"), "Angry = 1");
    assert_eq!(call(&host, person, "in_words", &[]), "Text(\"angry, There, Up\")");
    assert_eq!(call(&host, person, "feel", &[named("Lost")]), "Angry");
    assert_eq!(call(&host, person, "feel", &[named("Calm")]), "Lost");
    assert_eq!(call(&host, person, "feel", &[named("Lost")]), "Calm");
    assert_eq!(value_of(&host, person, "history"), "Lost, Calm, Lost");
    assert_eq!(value_of(&host, person, "counts"), "Calm: U32(1), Lost: U32(2)");
    assert_eq!(
        [value_of(&host, person, "far"), value_of(&host, person, "high")],
        [format!("There = {}", i64::MIN), format!("Up = {}", u64::MAX)]
    );
    let after = host.calls().call("ex:/moods.after", &[named("Calm")]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(after.as_ref().map(display).as_deref(), Some("Angry"));
    let refused = call(&host, person, "feel", &[named("Sad")]);
    assert!(refused.contains("`Sad`, which is none of Calm, Angry, Lost"), "{refused}");
    let refused = host.objects().set(person, "mood", &named("Sad")).expect_err("no such mood").to_string();
    assert!(refused.contains("`Sad`"), "{refused}");
    assert_eq!(value_of(&host, person, "mood"), "Lost = 9", "nothing was written");
}

#[test]
fn flags_are_sets_and_bits_without_an_entry_stay() {
    let (host, person) = host(&[]);
    assert_eq!(value_of(&host, person, "rights"), "0 = 0");
    assert_eq!(call(&host, person, "grant", &[named("Write")]), "Write");
    assert_eq!(call(&host, person, "grant", &[named("Read")]), "All");
    host.objects().set(person, "rights", &named("Write | 64")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(call(&host, person, "grant", &[named("Read")]), "Read | Write | 64");
}

#[test]
fn over_a_reload_values_keep_their_entries_and_not_their_numbers() {
    let (host, person) = host(&[]);
    let lost = host.objects().spawn(PERSON).unwrap_or_else(|error| panic!("{error}"));
    for mood in ["Calm", "Angry", "Angry"] {
        call(&host, person, "feel", &[named(mood)]);
    }
    call(&host, lost, "feel", &[named("Lost")]);
    let report = host.reload(&[moods(&["renumbered"])]).unwrap_or_else(|error| panic!("{error}"));
    assert!(report.to_string().contains("Game.Person.mood   Enum(/Script/Game.Mood) has other entries: "), "{report}");
    assert_eq!(value_of(&host, person, "mood"), "Angry = 300");
    assert_eq!(value_of(&host, person, "history"), "Calm, Angry, Angry");
    assert_eq!(value_of(&host, person, "counts"), "Angry: U32(2), Calm: U32(1)");
    assert_eq!(call(&host, person, "in_words", &[]), "Text(\"angry, There, Up\")");
    assert_eq!(call(&host, person, "feel", &[named("Calm")]), "Angry");
    assert_eq!(value_of(&host, person, "counts"), "Angry: U32(2), Calm: U32(2)", "the key was found by its new number");
    // This build has no entry `Lost`. The property `mood` of `lost` therefore has its default.
    assert_eq!(value_of(&host, lost, "mood"), "Angry = 300");
    // The host stores the entry's name until a build declares the entry again.
    host.reload(&[moods(&[])]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(value_of(&host, lost, "mood"), "Lost = 9");
    assert_eq!(value_of(&host, person, "mood"), "Calm = 0");
}

#[test]
fn a_renamed_entry_is_found_by_a_redirect() {
    let (host, person) = host(&[]);
    for mood in ["Lost", "Calm", "Lost"] {
        call(&host, person, "feel", &[named(mood)]);
    }
    host.types()
        .redirect("/Script/Game.Mood:Lost", "/Script/Game.Mood:Furious")
        .unwrap_or_else(|error| panic!("{error}"));
    host.reload(&[moods(&["renumbered"])]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(value_of(&host, person, "mood"), "Furious = 0");
    assert_eq!(value_of(&host, person, "history"), "Furious, Calm, Furious");
    assert_eq!(value_of(&host, person, "counts"), "Calm: U32(1), Furious: U32(2)");
}

#[test]
fn a_redirect_that_follows_the_removal_of_an_entry_restores_values() {
    let (host, person) = host(&[]);
    for mood in ["Lost", "Calm", "Lost"] {
        call(&host, person, "feel", &[named(mood)]);
    }
    let renumbered = || host.reload(&[moods(&["renumbered"])]).unwrap_or_else(|error| panic!("{error}"));
    let all = || ["mood", "history", "counts"].map(|property| value_of(&host, person, property));
    renumbered();
    assert_eq!(all(), ["Angry = 300", "", ""]);
    host.types()
        .redirect("/Script/Game.Mood:Lost", "/Script/Game.Mood:Furious")
        .unwrap_or_else(|error| panic!("{error}"));
    renumbered();
    assert_eq!(all(), ["Furious = 0", "Furious, Calm, Furious", "Calm: U32(1), Furious: U32(2)"]);
    host.reload(&[moods(&[])]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(all(), ["Lost = 9", "Lost, Calm, Lost", "Calm: U32(1), Lost: U32(2)"]);
}

fn natives() -> Natives {
    let mood = NativeEnum::new("Test", "Mood", PropertyKind::U8).entry("Calm", 0).entry("Angry", 1).entry("Lost", 9);
    Natives::in_package("Test").enumeration(mood.doc("Mood of a person."))
}

#[test]
fn the_glue_of_the_plugin_is_that_of_the_natives() {
    support::glue_is_written(natives(), "Test", "moods", "mood.rs");
}

#[test]
fn a_host_enum_is_used_by_name_and_compared_at_load() {
    let build = || support::builder().natives(natives()).build().unwrap_or_else(|error| panic!("{error}"));
    let host = build();
    host.create_master(&[moods(&["imported"])]).unwrap_or_else(|error| panic!("{error}"));
    let person = host.objects().spawn(PERSON).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(call(&host, person, "feel", &[named("Lost")]), "Angry");
    let stale = build();
    let refused = stale.create_master(&[moods(&["stale"])]).expect_err("other numbers").to_string();
    assert!(
        refused.contains("/Script/Test.Mood")
            && refused.contains("(Calm = 0, Angry = 1, Lost = 9) here and (Calm = 0, Angry = 5) in the module"),
        "{refused}"
    );
    let without = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    let refused = without.create_master(&[moods(&["imported"])]).expect_err("no such enum").to_string();
    assert!(refused.contains("Test.Mood"), "{refused}");
}

#[test]
fn a_file_and_its_loaded_module_agree_on_enums() {
    let (host, _) = host(&[]);
    let loaded = host.types().declared_by("moods").expect("it is loaded");
    let (_, from_file) = alcedo_runtime::ManifestInfo::peek_declared(&moods(&[])).expect("a module");
    assert_eq!(loaded.enums, from_file.enums);
    let mood = loaded.enums.iter().find(|found| found.path == "/Script/Game.Mood").expect("the moods");
    let entries: Vec<_> = mood.entries.iter().map(|entry| (&*entry.name, entry.number, entry.is_hidden)).collect();
    assert_eq!(entries, [("Calm", 0, false), ("Angry", 1, false), ("Lost", 9, true)]);
    assert_eq!((&*mood.entries[1].display, &*mood.entries[1].doc), ("Very angry", "Bad mood."));
    assert_eq!((&*mood.underlying, mood.is_flags), ("u8", false));
}

#[test]
fn a_world_saved_with_other_enum_numbers_restores_entries_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("moods.world");
    let (first, person) = host(&[]);
    for mood in ["Angry", "Calm", "Calm"] {
        call(&first, person, "feel", &[named(mood)]);
    }
    first.objects().set(person, "rights", &named("Write | 64")).unwrap_or_else(|error| panic!("{error}"));
    first.worlds().save(&path).unwrap_or_else(|error| panic!("{error}"));
    let second = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    second.create_master(&[moods(&["renumbered"])]).unwrap_or_else(|error| panic!("{error}"));
    second.worlds().load(&path).unwrap_or_else(|error| panic!("{error}"));
    let person = second.objects().iter().find(|object| second.objects().is_a(*object, PERSON)).expect("one");
    let all = ["mood", "history", "counts", "rights"].map(|property| value_of(&second, person, property));
    assert_eq!(all, ["Calm = -300", "Angry, Calm, Calm", "Angry: U32(1), Calm: U32(2)", "Write | 64 = 66"]);
}

#[test]
fn a_failed_reload_leaves_enum_values_and_numbers_unchanged() {
    use alcedo_runtime::faults::{self, Fault, FaultKind, ReloadStep};
    let (host, person) = host(&[]);
    call(&host, person, "feel", &[named("Lost")]);
    let armed = faults::arm(Fault { step: ReloadStep::BeforeCommit, nth: 0, kind: FaultKind::Error });
    let report = host.reload(&[moods(&["renumbered"])]).unwrap_or_else(|error| panic!("{error}"));
    assert!(armed.has_fired() && !report.is_committed(), "{report}");
    drop(armed);
    assert_eq!(value_of(&host, person, "mood"), "Lost = 9");
    assert_eq!(call(&host, person, "feel", &[named("Angry")]), "Lost");
    assert_eq!(value_of(&host, person, "counts"), "Angry: U32(1), Lost: U32(1)");
}
