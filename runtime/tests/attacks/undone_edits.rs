//! Edits of script types and their undo: each value is what it was, as `docs/migration.md` promises.

use std::fs;

use alcedo_runtime::Value;

use crate::support;

const MOODS: &str = "enum EMood { MA, MB, MD };\n";

/// Returns the property `V` of one object before an edit, and after the edit and its undo.
fn undone(types: &str, var: &str, (from, to): (&str, &str), fill: &str) -> (Value, Value) {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("Tale");
    fs::create_dir(&folder).expect("made");
    let bare = format!("class Foe extends Actor;\n{types}{var}\n");
    let write = |text: &str| fs::write(folder.join("Foe.uc"), text).expect("written");
    write(&format!("{bare}function Fill() {{ {fill} }}\n"));
    let host = support::builder().package("Tale").build().unwrap_or_else(|error| panic!("{error}"));
    let libraries = std::slice::from_ref(&folder);
    host.create_master(libraries).unwrap_or_else(|error| panic!("{error}"));
    let foe = host.objects().spawn("/Script/Tale.Foe").unwrap_or_else(|error| panic!("{error}"));
    host.objects().call(foe, "Fill", &[]).unwrap_or_else(|error| panic!("{error}"));
    let get = || host.objects().get(foe, "V").unwrap_or_else(|error| panic!("{error}"));
    let before = get();
    assert!(bare.contains(from), "{from}");
    for text in [bare.replace(from, to), bare] {
        write(&text);
        host.reload(libraries).expect("a Master").into_result().unwrap_or_else(|report| panic!("{report}"));
    }
    (before, get())
}

fn assert_kept(types: &str, var: &str, edit: (&str, &str), fill: &str) {
    let (before, after) = undone(types, var, edit, fill);
    assert_eq!(after, before, "{types}{var}\n{edit:?}");
}

const ENTRY: (&str, &str) = (", MD }", " }");

#[test]
fn an_undone_change_of_the_elements_of_an_array_in_a_struct_keeps_them() {
    let edit = ("var array<int> F;", "var array<bool> F;");
    assert_kept("struct S { var int X; var array<int> F; };\n", "var S V;", edit, "V.X = 3; V.F.AddItem(7);");
}

#[test]
fn an_undone_change_of_the_values_of_a_map_in_a_struct_keeps_them() {
    let edit = ("var map<int, int> F;", "var map<int, bool> F;");
    assert_kept("struct S { var int X; var map<int, int> F; };\n", "var S V;", edit, "V.X = 3; V.F.Set(7, 7);");
}

#[test]
fn an_undone_removal_of_an_entry_keeps_the_container_beside_a_reference() {
    let types = format!("{MOODS}struct S {{ var weak<Foe> A; var array<EMood> F; }};\n");
    assert_kept(&types, "var S V;", ENTRY, "V.F.AddItem(MD); V.F.AddItem(MB); V.A = self;");
}

#[test]
fn an_undone_removal_of_an_entry_keeps_a_set_in_a_struct_in_a_map() {
    let types = format!("{MOODS}struct S {{ var set<EMood> F; var weak<Foe> A; }};\n");
    let fill = "local S L; L.F.Add(MD); L.F.Add(MB); L.A = self; V.Set(1, L);";
    assert_kept(&types, "var map<int, S> V;", ENTRY, fill);
}

#[test]
fn an_undone_change_of_a_container_in_a_struct_to_a_fixed_array_keeps_it() {
    let types = "struct S { var int X; var array< array<double> > F; };\n";
    let edit = ("var array< array<double> > F;", "var float F[3];");
    assert_kept(types, "var S V;", edit, "V.X = 3; V.F.Length = 1; V.F[0].AddItem(7.5);");
}

#[test]
fn an_undone_removal_of_all_fields_of_the_structs_in_a_map_keeps_the_map() {
    let types = "struct T { var int A; var int B; };\nstruct S { var int X; var map<int, T> F; };\n";
    let edit = ("var int A; var int B;", "var int Filler;");
    assert_kept(types, "var S V;", edit, "local T L; L.A = 5; L.B = 6; V.X = 3; V.F.Set(4, L);");
}

#[test]
fn an_undone_removal_of_an_entry_keeps_maps_by_it_in_a_struct_in_a_map() {
    let types = format!("{MOODS}struct S {{ var array< map<EMood, bool> > F; var Actor A; }};\n");
    let fill = "local S L; L.F.Length = 2; L.F[0].Set(MD, true); L.F[1].Set(MB, true); L.A = self; V.Set(1, L);";
    assert_kept(&types, "var map<int, S> V;", ENTRY, fill);
}

#[test]
fn an_undone_removal_of_the_first_entry_keeps_the_value_that_was_the_second() {
    let edit = ("{ MA, ", "{ ");
    assert_kept(MOODS, "var EMood V;", edit, "V = MB;");
}

#[test]
fn an_undone_change_of_an_array_in_a_struct_of_a_plugin_keeps_its_elements() {
    let [one, two] = [&[][..], &["v2"]].map(|features| support::plugin("siege", features));
    let host = support::host(std::slice::from_ref(&one));
    let foe = host.objects().spawn("/Script/Game.Foe").unwrap_or_else(|error| panic!("{error}"));
    let list = Value::Array(vec![Value::U64(7), Value::U64(8)]);
    let pack = Value::Struct(vec![("x".into(), Value::U64(3)), ("list".into(), list)]);
    host.objects().set(foe, "pack", &pack).unwrap_or_else(|error| panic!("{error}"));
    for library in [two, one] {
        host.reload(&[library]).expect("a Master").into_result().unwrap_or_else(|report| panic!("{report}"));
    }
    assert_eq!(host.objects().get(foe, "pack").unwrap_or_else(|error| panic!("{error}")), pack);
}
