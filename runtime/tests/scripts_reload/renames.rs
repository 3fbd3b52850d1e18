//! Tests values of classes, variables, fields, entries and map keys whose names change, merge and return with `Was`.

use alcedo_runtime::{EnumValue, ObjectHandle, Value};

use super::host;
use crate::scripts::{Package, builder, call, get, reload_of, spawn};

/// Reloads a class with the variables of each build, in order. Checks that one object has the listed values in each build.
fn check_builds(builds: &[(&str, &[(&str, i32)])]) {
    let text = |variables: &str| format!("class Foe extends Object;\n{variables}\n");
    let package = Package::new("Tale", &[("Foe.uc", &text(builds[0].0))]);
    let host = host(&package);
    let foe = spawn(&host, "/Script/Tale.Foe");
    for (name, value) in builds[0].1 {
        host.objects().set(foe, *name, &Value::I32(*value)).expect("it fits");
    }
    for (at, (variables, expected)) in builds.iter().enumerate().skip(1) {
        package.write("Foe.uc", &text(variables));
        reload_of(&host, &package);
        for (name, value) in *expected {
            assert_eq!(get(&host, foe, name), Value::I32(*value), "{name} in build {at}: {builds:?}");
        }
    }
}

#[test]
fn a_variable_renamed_twice_keeps_its_value_through_every_undo() {
    check_builds(&[
        ("var int A;", &[("A", 7)]),
        ("var int B<Was=A>;", &[("B", 7)]),
        ("var int C<Was=B>;", &[("C", 7)]),
        ("var int A;", &[("A", 7)]),
        ("var int B<Was=A>;", &[("B", 7)]),
        ("var int C<Was=B>;", &[("C", 7)]),
        ("var int B<Was=A>;", &[("B", 7)]),
        ("var int A;", &[("A", 7)]),
    ]);
    check_builds(&[
        ("var int A;", &[("A", 7)]),
        ("var int B<Was=A>;", &[("B", 7)]),
        ("var int C<Was=A,B>;", &[("C", 7)]),
        ("var int B<Was=A>;", &[("B", 7)]),
        ("var int C<Was=A,B>;", &[("C", 7)]),
        ("var int A;", &[("A", 7)]),
    ]);
    // The `Was` list is added in the build after the rename.
    check_builds(&[
        ("var int A;", &[("A", 7)]),
        ("var int B;", &[("B", 0)]),
        ("var int B<Was=A>;", &[("B", 7)]),
        ("var int A;", &[("A", 7)]),
    ]);
}

#[test]
fn merged_and_shifted_variables_return_with_their_own_values() {
    let (both, own): (_, &[(&str, i32)]) = ("var int A; var int B;", &[("A", 7), ("B", 8)]);
    check_builds(&[
        (both, own),
        ("var int C<Was=A,B>;", &[("C", 7)]),
        ("var int C<Was=A,B>;", &[("C", 7)]),
        (both, own),
        ("var int C<Was=B,A>;", &[("C", 8)]),
        (both, own),
        ("var int B<Was=A>; var int C<Was=B>;", &[("B", 8), ("C", 0)]),
        ("var int B<Was=A>; var int C<Was=B>;", &[("B", 8), ("C", 0)]),
        (both, own),
    ]);
    // A copy of the value of `A` is put aside, because the value equals the later default.
    let later = "var int A; var int B;\ndefaultproperties\n{\n    A=7\n}\n";
    check_builds(&[
        (both, &[("A", 7)]),
        (later, &[("A", 7)]),
        ("var int B<Was=A>;", &[("B", 0)]),
        (both, &[("A", 7), ("B", 0)]),
    ]);
}

#[test]
fn names_merged_once_do_not_resolve_to_each_other() {
    let (both, own): (_, &[(&str, i32)]) = ("var int A; var int B;", &[("A", 7), ("B", 8)]);
    // If two values merge, a value that was kept under the merged name has priority over a value from a redirected name.
    for (merged, values) in [("var int C<Was=A,B>;", ("C", 7)), ("var int B<Was=A>;", ("B", 8))] {
        check_builds(&[
            (both, own),
            (merged, &[values]),
            (both, own),
            ("var int A;", &[("A", 7)]),
            ("var int B;", &[("B", 8)]),
            (both, own),
        ]);
    }
    // The `Was` list redirects `B` to `C`, and replaces the redirect from `A` to `B` by a redirect from `A` to `C`.
    check_builds(&[
        ("var int A;", &[("A", 7)]),
        ("var int B<Was=A>;", &[("B", 7)]),
        ("var int B;", &[("B", 7)]),
        ("var int C<Was=A,B>;", &[("C", 7)]),
        ("var int B;", &[("B", 7)]),
        ("var int A;", &[("A", 7)]),
    ]);
}

/// Reloads these declarations in order. The first build sets the variable `V` to `own`. In each later build, `V` must have the listed
/// value. Each report must count as many values as there are variables.
fn check_values(own: &Value, builds: &[(&str, Value)]) {
    let text = |declarations: &str| format!("class Foe extends Object;\n{declarations}\n");
    let package = Package::new("Tale", &[("Foe.uc", &text(builds[0].0))]);
    let host = host(&package);
    let foe = spawn(&host, "/Script/Tale.Foe");
    host.objects().set(foe, "V", own).expect("it fits");
    for (at, (declarations, expected)) in builds.iter().enumerate() {
        if at != 0 {
            package.write("Foe.uc", &text(declarations));
            let report = host.reload(std::slice::from_ref(&package.folder)).expect("a Master");
            let report = report.into_result().unwrap_or_else(|report| panic!("build {at}: {report}"));
            let is_changed = *declarations != builds[at - 1].0;
            let all = host.objects().properties_of(foe).len() as u64;
            assert!(!is_changed || report.values.total() == all, "build {at}: {report}");
        }
        assert_eq!(get(&host, foe, "V"), *expected, "build {at}: {builds:?}");
    }
}

fn entry(name: &str) -> Value {
    Value::Enum(EnumValue::named(name))
}

#[test]
fn merged_entries_return_as_themselves() {
    for (merged, names) in [
        ("enum En { E0, EC<Was=EA,EB> };", ["EC", "EC"]),
        ("enum En { E0, EA<Was=EB> };", ["EA", "EA"]),
        ("enum En { E0, EB<Was=EA>, EC<Was=EB> };", ["EB", "EB"]),
    ] {
        for (own, now) in ["EA", "EB"].into_iter().zip(names) {
            let build = |entries: &str| format!("{entries}\nvar En V;");
            let (first, merged) = (build("enum En { E0, EA, EB };"), build(merged));
            let builds = [(&*first, entry(own)), (&*merged, entry(now)), (&*merged, entry(now)), (&*first, entry(own))];
            check_values(&entry(own), &builds);
        }
    }
    // A new entry has the former name of a renamed entry. Its declaration does not undo the rename of stored values.
    check_values(
        &entry("EB"),
        &[
            ("enum En { E0, EB };\nvar En V;", entry("EB")),
            ("enum En { E0, EX<Was=EB> };\nvar En V;", entry("EX")),
            ("enum En { E0, EX<Was=EB>, EB };\nvar En V;", entry("EX")),
            ("enum En { E0, EX<Was=EB> };\nvar En V;", entry("EX")),
            ("enum En { E0, EB };\nvar En V;", entry("EB")),
        ],
    );
}

#[test]
fn merged_keys_of_a_map_return_as_themselves() {
    let map =
        |keys: &[(&str, i32)]| Value::Map(keys.iter().map(|(key, value)| (entry(key), Value::I32(*value))).collect());
    let own = map(&[("EA", 1), ("EB", 2)]);
    for (merged, now) in
        [("enum En { EA, EC<Was=EA,EB> };", map(&[("EA", 1), ("EC", 2)])), ("enum En { EC<Was=EA,EB> };", map(&[]))]
    {
        let build = |entries: &str| format!("{entries}\nvar map<En, int> V;");
        let (first, merged) = (build("enum En { EA, EB };"), build(merged));
        check_values(&own, &[(&*first, own.clone()), (&*merged, now), (&*first, own.clone())]);
    }
}

#[test]
fn numbers_and_strings_return_from_an_enum_unless_it_was_written() {
    let (in_order, moved) = ("enum En { EA, EB, EC };", "enum En { EA, EC, EB };");
    let build = |entries: &str, ty: &str| format!("{entries}\nvar {ty} V; var En Z;");
    let [text, number, first, second] =
        [build(in_order, "string"), build(in_order, "int"), build(in_order, "En"), build(moved, "En")];
    let digits = Value::Text("2".into());
    check_values(&digits, &[(&*text, digits.clone()), (&*first, entry("EC")), (&*text, digits.clone())]);
    let one = Value::I32(1);
    check_values(
        &one,
        &[(&*number, one.clone()), (&*first, entry("EB")), (&*second, entry("EB")), (&*number, one.clone())],
    );
    // A value that is written after the first edit is converted when the edit is undone.
    let package = Package::new("Tale", &[("Foe.uc", &format!("class Foe extends Object;\n{number}\n"))]);
    let host = host(&package);
    let foe = spawn(&host, "/Script/Tale.Foe");
    host.objects().set(foe, "V", &one).expect("it fits");
    package.write("Foe.uc", &format!("class Foe extends Object;\n{first}\n"));
    reload_of(&host, &package);
    host.objects().set(foe, "V", &entry("EC")).expect("it fits");
    package.write("Foe.uc", &format!("class Foe extends Object;\n{number}\n"));
    reload_of(&host, &package);
    assert_eq!(get(&host, foe, "V"), Value::I32(2));
}

#[test]
fn a_value_put_aside_without_a_fit_yields_to_a_renamed_one() {
    let package = Package::new("Tale", &[("Foe.uc", "class Foe extends Object;\nvar int A; var string B;\n")]);
    let host = host(&package);
    let foe = spawn(&host, "/Script/Tale.Foe");
    host.objects().set(foe, "A", &Value::I32(7)).expect("it fits");
    host.objects().set(foe, "B", &Value::Text("x".into())).expect("it fits");
    for (declarations, name) in [("var int A;", "A"), ("var int B<Was=A>;", "B")] {
        package.write("Foe.uc", &format!("class Foe extends Object;\n{declarations}\n"));
        reload_of(&host, &package);
        assert_eq!(get(&host, foe, name), Value::I32(7), "{declarations}");
    }
}

#[test]
fn a_field_returns_its_original_over_two_other_types() {
    let build = |ty: &str| format!("enum En {{ EA, EB, EC }};\nstruct Row {{ var {ty} X; var int Y; }};\nvar Row V;");
    let row = |x: Value| Value::Struct(vec![("X".into(), x), ("Y".into(), Value::I32(0))]);
    let (number, text) = (row(Value::I32(1)), row(Value::Text("EB".into())));
    let [first, second, third] = ["int", "En", "string"].map(build);
    check_values(
        &number,
        &[(&*first, number.clone()), (&*second, row(entry("EB"))), (&*third, text), (&*first, number.clone())],
    );
}

#[test]
fn merged_entries_next_to_references_return_to_their_own_elements() {
    let build = |entries: &str| {
        format!("enum En {{ {entries} }};\nstruct Row {{ var Foe Enemy; var En Mood; }};\nvar array<Row> V;")
    };
    let (first, merged) = (build("E0, EA, EB"), build("E0, EC<Was=EA,EB>"));
    let text = |declarations: &str| format!("class Foe extends Object;\n{declarations}\n");
    let package = Package::new("Tale", &[("Foe.uc", &text(&first))]);
    let host = host(&package);
    let [foe, x, y] = [(); 3].map(|()| spawn(&host, "/Script/Tale.Foe"));
    let row = |enemy, mood| Value::Struct(vec![("Enemy".into(), Value::Object(enemy)), ("Mood".into(), entry(mood))]);
    host.objects().set(foe, "V", &Value::Array(vec![row(x, "EA"), row(y, "EB")])).expect("it fits");
    package.write("Foe.uc", &text(&merged));
    reload_of(&host, &package);
    assert_eq!(get(&host, foe, "V"), Value::Array(vec![row(x, "EC"), row(y, "EC")]));
    host.objects().set(foe, "V", &Value::Array(vec![row(y, "EC"), row(x, "EC")])).expect("it fits");
    package.write("Foe.uc", &text(&first));
    reload_of(&host, &package);
    assert_eq!(get(&host, foe, "V"), Value::Array(vec![row(y, "EB"), row(x, "EA")]));
}

#[test]
fn merged_fields_take_the_first_listed_value_and_return() {
    const PAIR: &str =
        "class Foe extends Object;\nstruct Row { var int X; var int Y; };\nvar Row First;\nvar array<Row> Rows;\n";
    let package = Package::new("Tale", &[("Foe.uc", PAIR)]);
    let host = host(&package);
    let foe = spawn(&host, "/Script/Tale.Foe");
    let row = |fields: &[(&str, i32)]| {
        Value::Struct(fields.iter().map(|(name, value)| ((*name).into(), Value::I32(*value))).collect())
    };
    let check = |fields: &[(&str, i32)]| {
        assert_eq!(get(&host, foe, "First"), row(fields));
        assert_eq!(get(&host, foe, "Rows"), Value::Array(vec![row(fields)]));
    };
    let own = row(&[("X", 3), ("Y", 4)]);
    host.objects().set(foe, "First", &own).expect("it fits");
    host.objects().set(foe, "Rows", &Value::Array(vec![own])).expect("it fits");
    for (names, first) in [("X,Y", 3), ("Y,X", 4)] {
        package.write("Foe.uc", &PAIR.replace("var int X; var int Y;", &format!("var int Z<Was={names}>;")));
        reload_of(&host, &package);
        check(&[("Z", first)]);
        package.write("Foe.uc", PAIR);
        reload_of(&host, &package);
        check(&[("X", 3), ("Y", 4)]);
    }
}

#[test]
fn a_world_saved_after_two_renames_loads_after_their_undo() {
    let package = Package::new("Tale", &[("Foe.uc", "class Foe extends Object;\nvar int A;\n")]);
    let host = host(&package);
    let foe = spawn(&host, "/Script/Tale.Foe");
    host.objects().set(foe, "A", &Value::I32(7)).expect("it fits");
    let folder = package.folder.parent().expect("a folder").to_owned();
    for (variable, file) in [("B<Was=A>", "b"), ("C<Was=B>", "c")] {
        package.write("Foe.uc", &format!("class Foe extends Object;\nvar int {variable};\n"));
        reload_of(&host, &package);
        host.worlds().save(folder.join(file)).expect("saved");
    }
    package.write("Foe.uc", "class Foe extends Object;\nvar int A;\n");
    reload_of(&host, &package);
    let foes = || {
        let is_foe = |object: &ObjectHandle| host.objects().class_of(*object).as_deref() == Some("/Script/Tale.Foe");
        host.objects().iter().filter(is_foe).collect::<Vec<_>>()
    };
    for file in ["b", "c"] {
        foes().into_iter().for_each(|foe| host.objects().set(foe, "A", &Value::I32(1)).expect("it fits"));
        host.worlds().load(folder.join(file)).unwrap_or_else(|error| panic!("{error}"));
        assert!(foes().into_iter().any(|foe| get(&host, foe, "A") == Value::I32(7)), "{file}");
    }
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

/// Saves an object, loads and saves the object in a host without its class, and loads the object with a renamed variable.
#[test]
fn a_load_reports_a_renamed_variable_of_a_class_that_was_missing() {
    let package = Package::new("Tale", &[("Foe.uc", "class Foe extends Object;\nvar int A;\n")]);
    let file = package.folder.with_file_name("world");
    let first = host(&package);
    let foe = spawn(&first, "/Script/Tale.Foe");
    first.objects().set(foe, "A", &Value::I32(7)).expect("it fits");
    first.worlds().save(&file).expect("it is saved");
    let without = builder().build().unwrap_or_else(|error| panic!("{error}"));
    without.worlds().load(&file).unwrap_or_else(|error| panic!("{error}"));
    without.worlds().save(&file).expect("it is saved");
    package.edit("Foe.uc", "var int A;", "var int B<Was=A>;");
    let last = host(&package);
    let report = last.worlds().load(&file).unwrap_or_else(|error| panic!("{error}"));
    let lines: Vec<_> = report.properties.iter().map(ToString::to_string).collect();
    assert_eq!(lines, ["Tale.Foe.B   was called A: 1 kept their own"]);
    let foe = last.objects().iter().next().expect("it was loaded");
    assert_eq!(get(&last, foe, "B"), Value::I32(7));
}
