//! Tests that values are restored if an edit of a script type is undone, as `docs/migration.md` promises.

use std::fs;
use std::path::PathBuf;

use alcedo_runtime::Value;

use crate::support;

const MOODS: &str = "enum EMood { MA, MB, MD };\n";

/// Reloads these builds in order, and returns the value of `V` in one object after each build. Each build consists of declarations, and of
/// statements that run in the object.
fn values(builds: &[(&str, &str)]) -> Vec<Value> {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("Tale");
    fs::create_dir(&folder).expect("made");
    let write = |(declarations, statements): &(&str, &str)| {
        let text = format!("class Foe extends Actor;\n{declarations}\nfunction Fill() {{ {statements} }}\n");
        fs::write(folder.join("Foe.uc"), text).expect("written");
    };
    write(&builds[0]);
    let host = support::builder().package("Tale").build().unwrap_or_else(|error| panic!("{error}"));
    let libraries = std::slice::from_ref(&folder);
    host.create_master(libraries).unwrap_or_else(|error| panic!("{error}"));
    let foe = host.objects().spawn("/Script/Tale.Foe").unwrap_or_else(|error| panic!("{error}"));
    let fill = || {
        host.objects().call(foe, "Fill", &[]).unwrap_or_else(|error| panic!("{error}"));
        host.objects().get(foe, "V").unwrap_or_else(|error| panic!("{error}"))
    };
    let first = fill();
    let later = builds[1..].iter().map(|build| {
        write(build);
        host.reload(libraries).expect("a Master").into_result().unwrap_or_else(|report| panic!("{report}"));
        fill()
    });
    std::iter::once(first).chain(later).collect()
}

fn assert_kept(types: &str, var: &str, (from, to): (&str, &str), fill: &str) {
    let first = format!("{types}{var}");
    assert!(first.contains(from), "{from}");
    let values = values(&[(&first, fill), (&first.replace(from, to), ""), (&first, "")]);
    assert_eq!(values[2], values[0], "{first}\n{from} to {to}");
}

/// Compares the value after the last build with the value that the statements `expected` produce in a new object of this build.
fn assert_becomes(builds: &[(&str, &str)], expected: &str) {
    let (last, _) = builds[builds.len() - 1];
    assert_eq!(values(builds).last(), values(&[(last, expected)]).last(), "{builds:?}");
}

const ENTRY: (&str, &str) = (", MD }", " }");

#[test]
fn undoing_an_element_type_change_keeps_an_array_in_a_struct() {
    let edit = ("var array<int> F;", "var array<bool> F;");
    assert_kept("struct S { var int X; var array<int> F; };\n", "var S V;", edit, "V.X = 3; V.F.AddItem(7);");
}

#[test]
fn undoing_a_value_type_change_keeps_a_map_in_a_struct() {
    let edit = ("var map<int, int> F;", "var map<int, bool> F;");
    assert_kept("struct S { var int X; var map<int, int> F; };\n", "var S V;", edit, "V.X = 3; V.F.Set(7, 7);");
}

#[test]
fn undoing_an_entry_removal_keeps_a_container_next_to_a_reference() {
    let types = format!("{MOODS}struct S {{ var weak<Foe> A; var array<EMood> F; }};\n");
    assert_kept(&types, "var S V;", ENTRY, "V.F.AddItem(MD); V.F.AddItem(MB); V.A = self;");
}

#[test]
fn undoing_an_entry_removal_keeps_a_set_in_a_map_of_structs() {
    let types = format!("{MOODS}struct S {{ var set<EMood> F; var weak<Foe> A; }};\n");
    let fill = "local S L; L.F.Add(MD); L.F.Add(MB); L.A = self; V.Set(1, L);";
    assert_kept(&types, "var map<int, S> V;", ENTRY, fill);
}

#[test]
fn undoing_a_change_to_a_fixed_array_keeps_the_container() {
    let types = "struct S { var int X; var array< array<double> > F; };\n";
    let edit = ("var array< array<double> > F;", "var float F[3];");
    assert_kept(types, "var S V;", edit, "V.X = 3; V.F.Length = 1; V.F[0].AddItem(7.5);");
}

#[test]
fn undoing_a_change_to_a_longer_fixed_array_keeps_the_length() {
    let fill = "V.AddItem(5); V.AddItem(6);";
    assert_kept("", "var array<int> V;", ("array<int> V;", "int V[3];"), fill);
    assert_kept("", "var array<int> V;", ("array<int> V;", "int V[3]; defaultproperties { V(2)=9 }"), fill);
    assert_kept("", "var array<bool> V;", ("array<bool> V;", "int V[3];"), "V.AddItem(true); V.AddItem(false);");
    assert_kept("", "var array<Foe> V;", ("array<Foe> V;", "Foe V[3];"), "V.AddItem(self);");
    assert_kept("", "var int V[2];", ("V[2]", "V[4]"), "V[1] = 5;");
    let types = "struct S { var int X; var array<int> F; };\n";
    let edit = ("var array<int> F;", "var int F[3];");
    assert_kept(types, "var S V;", edit, "V.X = 3; V.F.AddItem(7);");
    assert_kept(
        types,
        "var array<S> V;",
        edit,
        "local S L; L.F.AddItem(7); V.AddItem(L); L.F.AddItem(8); V.AddItem(L);",
    );
    assert_kept(types, "var map<int, S> V;", edit, "local S L; L.F.AddItem(7); V.Set(4, L);");
}

#[test]
fn writes_to_a_longer_fixed_array_stay_after_the_undo() {
    let (first, second) = ("var array<int> V;", "var int V[3];");
    let fill = "V.AddItem(5); V.AddItem(6);";
    let after = |write: &str, expected: &str| assert_becomes(&[(first, fill), (second, write), (first, "")], expected);
    after("V[2] = 9;", "V.AddItem(5); V.AddItem(6); V.AddItem(9);");
    after("V[0] = 9;", "V.AddItem(9); V.AddItem(6);");
    after("V[0] = 0; V[1] = 0;", "");
    assert_becomes(
        &[(first, fill), (second, ""), (second, "V[0] = 9;"), (second, ""), (first, "")],
        "V.AddItem(9); V.AddItem(6);",
    );
}

#[test]
fn a_reference_removed_from_a_longer_fixed_array_does_not_return() {
    let builds = [("var array<Foe> V;", "V.AddItem(self);"), ("var Foe V[3];", "V[0] = none;"), ("var Foe V[3];", "")];
    let values = values(&builds);
    assert_ne!(values[1], values[0]);
    assert_eq!(values[2], values[1]);
}

#[test]
fn undoing_the_removal_of_all_struct_fields_keeps_the_map() {
    let types = "struct T { var int A; var int B; };\nstruct S { var int X; var map<int, T> F; };\n";
    let edit = ("var int A; var int B;", "var int Filler;");
    assert_kept(types, "var S V;", edit, "local T L; L.A = 5; L.B = 6; V.X = 3; V.F.Set(4, L);");
}

#[test]
fn undoing_an_entry_removal_keeps_nested_maps_keyed_by_the_entry() {
    let types = format!("{MOODS}struct S {{ var array< map<EMood, bool> > F; var Actor A; }};\n");
    let fill = "local S L; L.F.Length = 2; L.F[0].Set(MD, true); L.F[1].Set(MB, true); L.A = self; V.Set(1, L);";
    assert_kept(&types, "var map<int, S> V;", ENTRY, fill);
}

#[test]
fn undoing_the_removal_of_the_first_entry_keeps_the_second_entry() {
    let edit = ("{ MA, ", "{ ");
    assert_kept(MOODS, "var EMood V;", edit, "V = MB;");
}

#[test]
fn undoing_a_change_keeps_elements_of_an_array_in_a_plugin_struct() {
    let [one, two] = [&[][..], &["flags"]].map(|features| support::plugin("parcels", features));
    let host = support::host(std::slice::from_ref(&one));
    let depot = host.objects().spawn("/Script/Game.Depot").unwrap_or_else(|error| panic!("{error}"));
    let note = |number| {
        let arguments = [Value::Text("there".into()), Value::U32(number)];
        host.objects().call(depot, "note", &arguments).unwrap_or_else(|error| panic!("{error}"))
    };
    note(7);
    let drawer = || host.objects().get(depot, "drawer").unwrap_or_else(|error| panic!("{error}"));
    let before = drawer();
    let reload = |library: &PathBuf| {
        let library = std::slice::from_ref(library);
        host.reload(library).expect("a Master").into_result().unwrap_or_else(|report| panic!("{report}"));
    };
    reload(&two);
    assert_ne!(drawer(), before);
    reload(&one);
    assert_eq!(drawer(), before);
    assert_eq!(note(8), Some(Value::Text("there (7, 8) 1.5".into())));
    reload(&two);
    assert_eq!(note(1), Some(Value::Text("there (true) 1.5".into())));
    reload(&one);
    assert_eq!(note(9), Some(Value::Text("there (1, 9) 1.5".into())));
}

const INTS: &str = "struct S { var int X; var array<int> F; };\nvar S V;";
const BOOLS: &str = "struct S { var int X; var array<bool> F; };\nvar S V;";

#[test]
fn a_container_written_in_between_replaces_the_one_put_aside() {
    let fill = "V.X = 3; V.F.AddItem(7);";
    assert_becomes(&[(INTS, fill), (BOOLS, "V.F.AddItem(true);"), (INTS, "")], "V.X = 3; V.F.AddItem(1);");
}

#[test]
fn writing_a_field_between_edits_keeps_the_adjacent_container() {
    assert_becomes(&[(INTS, "V.F.AddItem(7);"), (BOOLS, "V.X = 4;"), (INTS, "")], "V.X = 4; V.F.AddItem(7);");
    let [first, second] =
        ["int", "bool"].map(|ty| format!("struct S {{ var array<{ty}> F; var int X; }};\nvar array<S> V;"));
    let fill = "local S L; L.F.AddItem(7); L.X = 1; V.AddItem(L); L.X = 2; L.F[0] = 8; V.AddItem(L);";
    let expected = "local S L; L.F.AddItem(7); L.X = 1; V.AddItem(L); L.X = 5; L.F[0] = 8; V.AddItem(L);";
    assert_becomes(&[(&first, fill), (&second, "V[1].X = 5;"), (&first, "")], expected);
}

#[test]
fn a_container_returns_over_several_builds() {
    let without = "struct S { var array<bool> F; };\nvar S V;";
    let fill = "V.X = 3; V.F.AddItem(7);";
    assert_becomes(&[(INTS, fill), (BOOLS, ""), (without, ""), (BOOLS, ""), (BOOLS, ""), (INTS, "")], fill);
}

#[test]
fn a_field_returns_though_its_default_changed_in_between() {
    let build = |ty: &str, default: &str| {
        let defaults = format!("structdefaultproperties {{ F={default} }}");
        format!("struct S {{ var int X; var {ty} F; {defaults} }};\nvar S V;")
    };
    let [first, second, third] = [("float", "0.25"), ("int", "7"), ("int", "8")].map(|(ty, of)| build(ty, of));
    let fill = "V.X = 3; V.F = 2.5;";
    assert_becomes(&[(&first, fill), (&second, ""), (&third, ""), (&first, "")], fill);
    // A field that a script has written keeps the written value.
    assert_becomes(&[(&first, fill), (&second, ""), (&third, "V.F = 9;"), (&first, "")], "V.X = 3; V.F = 9;");
}

#[test]
fn fields_return_to_a_struct_field_with_its_own_defaults() {
    let build = |ty: &str, of: &str| {
        let inner = format!("struct T {{ var array<{ty}> F; }};\n");
        format!(
            "{inner}struct S {{ var int X; var T Inner; structdefaultproperties {{ Inner=(F=({of})) }} }};\nvar S V;"
        )
    };
    let [first, second] = [build("int", "1"), build("bool", "true")];
    let fill = "V.X = 3; V.Inner.F.Length = 1; V.Inner.F[0] = 7;";
    assert_becomes(&[(&first, fill), (&second, ""), (&first, "")], fill);
}

#[test]
fn an_own_value_equal_to_a_new_default_remains_an_own_value() {
    let build = |default: u8| format!("var int V;\ndefaultproperties {{ V={default} }}");
    let [three, five, nine] = [3, 5, 9].map(build);
    assert_becomes(&[(&three, "V = 5;"), (&five, ""), (&three, "")], "V = 5;");
    assert_becomes(&[(&three, "V = 5;"), (&five, ""), (&five, ""), (&nine, ""), (&three, "")], "V = 5;");
    // A value that is written later replaces the former value. An object without a written value uses the new default.
    assert_becomes(&[(&three, "V = 5;"), (&five, "V = 4;"), (&three, "")], "V = 4;");
    assert_becomes(&[(&three, ""), (&five, ""), (&nine, "")], "");
}
