//! Tests edge cases of the script library's functions, and related language features: sorts by a function, singular
//! functions, missing elements.

use alcedo_base::boundary::CallError;
use alcedo_reflect::property::PropertyType;
use alcedo_script::{Limits, library};

use crate::package::Scripts;

/// Evaluates expressions in a class with these members. Runs the statements before each expression.
fn table(members: &str, before: &str, rows: &[(&str, &str)]) {
    let functions: String = rows
        .iter()
        .enumerate()
        .map(|(at, (expression, _))| match expression.split_once(" -> ") {
            None => format!("function string F{at}() {{ {before} return string({expression}); }}\n"),
            Some((does, value)) => format!("function string F{at}() {{ {before} {does}; return string({value}); }}\n"),
        })
        .collect();
    let scripts = Scripts::new();
    let text = format!("class Robot extends Machine;\n{members}\n{functions}");
    let class = scripts.load("Scripts", &[("Robot.uc", &text)]).remove(0);
    for (at, (expression, expected)) in rows.iter().enumerate() {
        let outcome = scripts.outcome(scripts.object(&class), &format!("F{at}"));
        match expected.strip_prefix('~') {
            Some(part) => assert!(outcome.contains(part), "{expression}: {outcome} has not `{part}`"),
            None => assert_eq!(outcome, *expected, "{expression}"),
        }
    }
}

#[test]
fn mathematics_at_the_edges() {
    table(
        "",
        "",
        &[
            ("Abs(-2.5)", "2.5000"),
            ("Abs(-0.0)", "0.0000"),
            ("Sin(0)", "0.0000"),
            ("Cos(0)", "1.0000"),
            ("Tan(0)", "0.0000"),
            ("Asin(1) * 2", "3.1416"),
            ("Asin(2)", "NaN"),
            ("Acos(1)", "0.0000"),
            ("Atan(1) * 4", "3.1416"),
            ("Atan2(0, -1)", "3.1416"),
            ("Atan2(0, 0)", "0.0000"),
            ("Exp(0)", "1.0000"),
            ("Loge(1)", "0.0000"),
            ("Loge(0)", "-inf"),
            ("Sqrt(2.25)", "1.5000"),
            ("Sqrt(-1)", "NaN"),
            ("Square(-3)", "9.0000"),
            ("Min(3, -4)", "-4"),
            ("Max(3, -4)", "3"),
            ("Clamp(5, 1, 3)", "3"),
            ("Clamp(-5, 1, 3)", "1"),
            ("Clamp(2, 3, 1)", "1"),
            ("FMin(1.5, -1.5)", "-1.5000"),
            ("FMax(1.5, -1.5)", "1.5000"),
            ("FClamp(0.5, 1, 2)", "1.0000"),
            ("FClamp(Sqrt(-1), 1, 2)", "1.0000"),
            ("Lerp(2, 4, 0.25)", "2.5000"),
            ("Lerp(2, 4, -1)", "0.0000"),
            ("Round(2.5)", "3"),
            ("Round(-2.5)", "-3"),
            ("Round(1e20)", "2147483647"),
            ("FFloor(-1.5)", "-2"),
            ("FCeil(-1.5)", "-1"),
            ("Rand(0)", "0"),
            ("Rand(-7)", "0"),
            ("Rand(1)", "0"),
            ("Rand(10) < 10", "True"),
            ("FRand() < 1 && FRand() >= 0", "True"),
            ("RandRange(2, 3) < 3 && RandRange(2, 3) >= 2", "True"),
            ("RandRange(2, 2)", "2.0000"),
            ("RandRange(3, 2)", "3.0000"),
            ("Sign(-0.1)", "-1.0000"),
            ("Sign(0)", "0.0000"),
            ("Sign(7)", "1.0000"),
            ("Sign(Sqrt(-1))", "0.0000"),
            ("Frac(2.25)", "0.2500"),
            ("Frac(-2.25)", "-0.2500"),
            ("VSize(vect(3, 4, 12))", "13.0000"),
            ("VSize(vect(0, 0, 0))", "0.0000"),
            ("Normal(vect(0, 3, 4))", "0.00,0.60,0.80"),
            ("Normal(vect(0, 0, 0))", "0.00,0.00,0.00"),
            ("Abs(VSize(VRand()) - 1) < 0.001", "True"),
            ("ATan(1, -1)", "2.3562"),
            ("ATan(1)", "0.7854"),
            ("VSizeSq(vect(3, 4, 12))", "169.0000"),
            ("VSizeSq(rot(2000000000, 0, 0))", "3999999937226997760.0000"),
        ],
    );
}

#[test]
fn only_vectors_have_a_length() {
    table("", "local Score s;", &[("VSize(s)", "~v_size: a /Script/Engine.Score is not a vector")]);
}

#[test]
fn a_package_may_spell_its_own_vector_and_rotator_in_any_case() {
    table(
        "struct vector { var float X, Y, Z; };\nstruct Rotator { var int Pitch, Yaw, Roll; };",
        "local vector v; local rotator r; v = vect(1, 2, 3); r = rot(4, 5, 6);",
        &[("v + vect(1, 0, 0)", "2.00,2.00,3.00"), ("r", "4,5,6"), ("VSize(vect(3, 4, 12))", "13.0000")],
    );
}

#[test]
fn new_structs_of_a_resized_array_have_defaults() {
    table(
        "struct Part { var int Count; structdefaultproperties { Count=7 } };",
        "local array<Part> a;",
        &[
            ("array_resize(a, 1) -> a[0].Count", "7"),
            ("array_resize(a, 3) -> a[0].Count + a[1].Count + a[2].Count", "21"),
        ],
    );
}

#[test]
fn letters_whose_lower_case_is_shorter_keep_their_offsets() {
    table(
        "",
        "",
        &[
            ("Repl(\"\u{212a}bA\", \"a\", \"-\", false)", "\u{212a}b-"),
            ("InStr(\"\u{212a}bA\", \"a\", false, true)", "2"),
        ],
    );
}

#[test]
fn strings_and_names_at_the_edges() {
    table(
        "",
        "local name n;",
        &[
            (r#"Len("")"#, "0"),
            (r#"Len("aÄ€")"#, "3"),
            (r#"InStr("abcabc", "c")"#, "2"),
            (r#"InStr("abcabc", "c", true)"#, "5"),
            (r#"InStr("äöü", "ü")"#, "2"),
            (r#"InStr("abc", "x")"#, "-1"),
            (r#"InStr("abc", "")"#, "0"),
            (r#"InStr("abCabc", "c", false, true)"#, "2"),
            (r#"InStr("äbcabc", "b", false, false, 2)"#, "4"),
            (r#"InStr("abcabc", "b", true, false, 4)"#, "1"),
            (r#"InStr("abc", "b", false, false, 9)"#, "-1"),
            ("InStr(1234, 3)", "2"),
            (r#"Mid("abcdef", 2)"#, "cdef"),
            (r#"Mid("abcdef", 2, 2)"#, "cd"),
            (r#"Mid("abcdef", -1, 2)"#, "ab"),
            (r#"Mid("abcdef", 9)"#, ""),
            (r#"Mid("abcdef", 1, -1)"#, ""),
            (r#"Left("äöü", 2)"#, "äö"),
            (r#"Left("abc", -1)"#, ""),
            (r#"Left("abc", 9)"#, "abc"),
            (r#"Right("äöü", 2)"#, "öü"),
            (r#"Right("abc", 0)"#, ""),
            (r#"Right("abc", 9)"#, "abc"),
            (r#"Caps("aßö")"#, "ASSÖ"),
            (r#"Locs("AÖ")"#, "aö"),
            ("Chr(65)", "A"),
            ("Chr(-1)", ""),
            ("Chr(0xD800)", ""),
            (r#"Asc("A")"#, "65"),
            (r#"Asc("")"#, "0"),
            (r#"Repl("aaa", "a", "bb")"#, "bbbbbb"),
            (r#"Repl("aaa", "", "b")"#, "aaa"),
            (r#"Repl("aÄbÄc", "ä", "-")"#, "aÄbÄc"),
            (r#"Repl("aÄbÄc", "ä", "-", false)"#, "a-b-c"),
            (r#"Repl(12, 1, "x")"#, "x2"),
            (r#"class'TextLibrary'.static.Split("a=b=c", "=")"#, "=b=c"),
            (r#"class'TextLibrary'.static.Split("a=b=c", "=", true)"#, "b=c"),
            (r#"class'TextLibrary'.static.Split("abc", "=")"#, "abc"),
            ("ToHex(255)", "000000FF"),
            ("ToHex(-1)", "FFFFFFFF"),
            (r#"Repl("abc", "x", "y")"#, "abc"),
            ("Trim(\"  a b \")", "a b"),
            (r#"StartsWith("abc", "ab")"#, "True"),
            (r#"StartsWith("abc", "bc")"#, "False"),
            (r#"EndsWith("abc", "bc")"#, "True"),
            (r#"EndsWith("abc", "")"#, "True"),
            (r#"SplitString("a,b,,c").Length"#, "4"),
            (r#"SplitString("a;b", ";")[1]"#, "b"),
            (r#"SplitString("").Length"#, "1"),
            (r#"SplitString("a,b,,c", ",", true).Length"#, "3"),
            (r#"SplitString("abc", "").Length"#, "1"),
            (r#"JoinArray(SplitString("a,b,c"), "-")"#, "a-b-c"),
            (r#"JoinArray(SplitString("a"), "-")"#, "a"),
            (r#"ContainsText("abc", "bc")"#, "True"),
            (r#"ContainsText("abc", "cb")"#, "False"),
            (r#"ContainsText("abc", "")"#, "True"),
            (r#"ReverseText("aöb")"#, "böa"),
            (r#"ReverseText("")"#, ""),
            (r#"IsNumeric("12")"#, "True"),
            (r#"IsNumeric("-1.5e3")"#, "True"),
            (r#"IsNumeric(".5")"#, "True"),
            (r#"IsNumeric("")"#, "False"),
            (r#"IsNumeric("inf")"#, "False"),
            (r#"IsNumeric("1 ")"#, "False"),
            (r#"NameOfText("Some") == 'Some'"#, "True"),
            (r#"NameOfText("") == n"#, "True"),
            (r#"NameOfText("none") == 'None' && NameOfText("none") == name("none")"#, "True"),
            ("TextOfName('Some')", "Some"),
            ("TextOfName(n)", ""),
            ("IsNone(n)", "True"),
            ("IsNone('None')", "True"),
            ("IsNone('Some')", "False"),
            (r#"Log("told") -> "and on""#, "and on"),
            (r#"Log(12, 'Tag') -> "and on""#, "and on"),
            (r#"Warn("told") -> "and on""#, "and on"),
        ],
    );
}

#[test]
fn arrays_at_the_edges() {
    table(
        "struct Named { var string Label; var int Rank; var float Weight; };\n\
         function string Joined(array<int> of) { local string s; local int i; for (i = 0; i < of.Length; i++) s $= of[i] $ \" \"; return s; }\n\
         function string Labels(array<Named> of) { local string s; local int i; for (i = 0; i < of.Length; i++) s $= of[i].Label; return s; }",
        "local array<int> a, none_of_it; local array<Named> named; local Named one; local int i;\n\
         for (i = 3; i > 0; i--) { a.AddItem(i); one.Label = Chr(64 + i); one.Rank = i / 2; one.Weight = -i; named.AddItem(one); }",
        &[
            ("array_add(a, 9)", "3"),
            ("array_add(a, 9) -> Joined(a)", "3 2 1 9 "),
            ("array_append(a, a) -> Joined(a)", "3 2 1 3 2 1 "),
            ("array_append(a, none_of_it) -> Joined(a)", "3 2 1 "),
            ("array_insert(a, 9, 0) -> Joined(a)", "9 3 2 1 "),
            ("array_insert(a, 9, 3) -> Joined(a)", "3 2 1 9 "),
            ("array_insert(a, 9, 4) -> Joined(a)", "~array_insert: element 4 is out of range: the array has 4"),
            ("array_insert(a, 9, -1) -> Joined(a)", "~element -1 is out of range"),
            ("array_remove(a, 1) -> Joined(a)", "3 1 "),
            ("array_remove(a, 3) -> Joined(a)", "~array_remove: element 3 is out of range: the array has 3"),
            ("array_remove_item(a, 2)", "True"),
            ("array_remove_item(a, 7)", "False"),
            ("array_clear(a) -> Joined(a)", ""),
            ("array_resize(a, 5) -> Joined(a)", "3 2 1 0 0 "),
            ("array_resize(a, 1) -> Joined(a)", "3 "),
            ("array_resize(a, -1) -> Joined(a)", "~an array cannot have -1 elements"),
            ("array_shuffle(a) -> a[0] + a[1] + a[2]", "6"),
            ("array_shuffle(none_of_it) -> none_of_it.Length", "0"),
            ("array_sort_by(named, 'Label') -> Labels(named)", "ABC"),
            ("array_sort_by(named, 'Label', true) -> Labels(named)", "CBA"),
            ("array_sort_by(named, 'Rank') -> Labels(named)", "ACB"),
            ("array_sort_by(named, 'Weight') -> Labels(named)", "CBA"),
            ("array_sort_by(named, 'Nothing') -> Labels(named)", "~has no field `Nothing`: it has Label, Rank, Weight"),
            ("array_sort_by(a, 'Label') -> Joined(a)", "~the elements are not structs: it is an array of i32"),
            ("array_length(a)", "3"),
            ("array_length(none_of_it)", "0"),
            ("array_last_index(a)", "2"),
            ("array_last_index(none_of_it)", "-1"),
            ("array_find(a, 1)", "2"),
            ("array_find(a, 7)", "-1"),
            ("array_contains(a, 1)", "True"),
            ("array_contains(none_of_it, 1)", "False"),
            ("array_get(a, 0)", "3"),
            ("array_get(a, 3)", "~array_get: element 3 is out of range: the array has 3"),
            ("array_set(a, 1, 9) -> Joined(a)", "3 9 1 "),
            ("array_set(a, 4, 9) -> Joined(a)", "~array_set: element 4 is out of range: the array has 3"),
            ("array_set(a, 4, 9, true) -> Joined(a)", "3 2 1 0 9 "),
            ("array_set(a, -1, 9, true) -> Joined(a)", "~element -1 is out of range"),
            ("array_is_valid_index(a, 2)", "True"),
            ("array_is_valid_index(a, 3)", "False"),
            ("array_is_valid_index(a, -1)", "False"),
            ("array_is_empty(a)", "False"),
            ("array_is_empty(none_of_it)", "True"),
            ("array_swap(a, 0, 2) -> Joined(a)", "1 2 3 "),
            ("array_swap(a, 1, 1) -> Joined(a)", "3 2 1 "),
            ("array_swap(a, 0, 3) -> Joined(a)", "~array_swap: element 3 is out of range: the array has 3"),
            ("array_reverse(a) -> Joined(a)", "1 2 3 "),
            ("array_reverse(none_of_it) -> none_of_it.Length", "0"),
            ("array_numeric_property_average(named, 'Weight')", "-2.0000"),
        ],
    );
}

#[test]
fn sets_and_maps_at_the_edges() {
    table(
        "var set<int> Own; var map<name, string> Named;\n\
         function int Sum(array<int> of) { local int i, s; for (i = 0; i < of.Length; i++) s += of[i]; return s; }",
        "local set<int> s, other; local map<string, int> m; local array<int> a; local array<string> texts; local array<float> f; local int v;\n\
         set_add(s, 1); set_add(s, 2); set_add(other, 2); set_add(other, 3); map_add(m, \"x\", 7); map_add(m, \"y\", 8);",
        &[
            ("set_add(s, 3)", "True"),
            ("set_add(s, 2)", "False"),
            ("set_remove(s, 2)", "True"),
            ("set_remove(s, 7)", "False"),
            ("set_contains(s, 1)", "True"),
            ("set_contains(s, 7)", "False"),
            ("set_length(s)", "2"),
            ("set_is_empty(s)", "False"),
            ("set_clear(s) -> set_is_empty(s)", "True"),
            ("set_to_array(s, a) -> a.Length $ \" \" $ Sum(a)", "2 3"),
            ("set_to_array(s, f) -> f.Length", "~expected an array of i32"),
            ("set_union(s, other) -> set_length(s)", "3"),
            ("set_union(s, s) -> set_length(s)", "2"),
            ("set_intersection(s, other) -> set_length(s) $ set_contains(s, 2)", "1True"),
            ("set_difference(s, other) -> set_length(s) $ set_contains(s, 1)", "1True"),
            ("set_difference(s, Own) -> set_length(s)", "2"),
            ("set_intersection(s, Own) -> set_length(s)", "0"),
            ("set_add(Own, 4) -> set_contains(Own, 4)", "True"),
            ("map_add(m, \"x\", 9) -> map_length(m)", "2"),
            ("map_find(m, \"x\", v) -> v", "7"),
            ("v = 5; map_find(m, \"z\", v) -> v", "5"),
            ("map_find(m, \"z\", v)", "False"),
            ("map_contains(m, \"y\")", "True"),
            ("map_contains(m, \"z\")", "False"),
            ("map_remove(m, \"y\")", "True"),
            ("map_remove(m, \"z\")", "False"),
            ("map_length(m)", "2"),
            ("map_is_empty(m)", "False"),
            ("map_clear(m) -> map_is_empty(m)", "True"),
            ("map_keys(m, texts) -> texts[0] $ texts[1]", "xy"),
            ("map_values(m, a) -> a[0] $ a[1]", "78"),
            ("map_values(m, texts) -> texts.Length", "~expected an array of i32"),
            ("map_add(Named, 'n', \"t\") -> map_contains(Named, 'n')", "True"),
        ],
    );
}

#[test]
fn the_axes_of_a_rotator_are_written_to_three_vectors() {
    table(
        "",
        "local vector x, y, z; GetAxes(rot(0, 16384, 0), x, y, z);",
        &[("x", "0.00,1.00,0.00"), ("y", "-1.00,0.00,-0.00"), ("z", "-0.00,0.00,1.00")],
    );
}

/// Checks `Outer` and `Name`. `text.rs` covers nested objects.
#[test]
fn object_functions_at_the_edges() {
    table(
        "",
        "local Object o; o = new(self, \"Big\") class'Object';",
        &[
            ("outer_of(o) == self", "True"),
            ("outer_of(none) == none", "True"),
            ("name_of(o) == 'Big'", "True"),
            ("name_of(none) == ''", "True"),
            ("o.IsA('Object') && !o.IsA('Robot')", "True"),
            ("IsA('robot') && self.IsA('Machine')", "True"),
            ("o = none -> o.IsA('Object')", "False"),
            ("ClassIsChildOf(class'Robot', class'Object')", "True"),
            ("ClassIsChildOf(class'Object', class'Robot')", "False"),
            ("ClassIsChildOf(none, class'Robot')", "False"),
        ],
    );
}

#[test]
fn an_object_has_a_name_and_an_outer() {
    table(
        "",
        "local Robot made, nobody; made = new(self) class'Robot';",
        &[
            ("outer_of(made) == self", "True"),
            ("outer_of(nobody)", "None"),
            ("string(name_of(made)) == string(made)", "True"),
            ("name_of(nobody)", "None"),
            ("made.Outer == self && made.Name == name_of(made)", "True"),
            ("dynamic_load_object(\"Scripts.Nobody\", class'Robot', true)", "None"),
            ("dynamic_load_class(\"Scripts.Robot\") == class'Robot'", "True"),
            ("dynamic_load_class(\"Scripts.Nobody\", true) == none", "True"),
        ],
    );
}

#[test]
fn every_function_of_the_library_is_in_one_of_these_tests() {
    let this = include_str!("library.rs").to_lowercase();
    let others = include_str!("wildcards.rs").to_lowercase();
    let batch = library::batch("/Script/Engine.Object");
    for function in batch.classes.iter().flat_map(|class| &class.functions) {
        let plain = function.name.replace('_', "");
        let is_called = |name: &str| this.contains(&format!("{name}(")) || others.contains(&format!("{name}("));
        assert!(is_called(&function.name) || is_called(&plain), "{} has no test", function.name);
    }
}

#[test]
fn a_sort_survives_any_comparison_function() {
    table(
        "var array<int> Own; var int Calls;\n\
         function string Joined(array<int> of) { local string s; local int i; for (i = 0; i < of.Length; i++) s $= of[i] $ \" \"; return s; }\n\
         function int Up(int a, int b) { return b - a; }\n\
         function int Clears(int a, int b) { Own.Length = 0; return b - a; }\n\
         function int Grows(int a, int b) { Own.AddItem(7); return b - a; }\n\
         function int Fails(int a, int b) { Calls++; assert(a != 2 && b != 2); return b - a; }\n\
         function int Never(int a, int b) { return -1; }\n\
         function int Always(int a, int b) { return 1; }\n\
         function int Turns(int a, int b) { Calls++; return (Calls & 1) == 0 ? 1 : -1; }",
        "local array<int> a; local int i; for (i = 5; i > 0; i--) { a.AddItem(i); Own.AddItem(i); }",
        &[
            ("a.Sort(Up) -> Joined(a)", "1 2 3 4 5 "),
            // After the sort, the sorted elements replace the array, even if the comparison function has changed the array.
            ("Own.Sort(Clears) -> Joined(Own)", "1 2 3 4 5 "),
            ("Own.Sort(Grows) -> Joined(Own)", "1 2 3 4 5 "),
            ("Own.Sort(Fails) -> Joined(Own)", "~an assertion does not hold"),
            ("a.Sort(Always) -> Joined(a)", "5 4 3 2 1 "),
            ("a.Sort(Never) -> a[0] + a[1] + a[2] + a[3] + a[4]", "15"),
            ("a.Sort(Turns) -> a[0] + a[1] + a[2] + a[3] + a[4]", "15"),
        ],
    );
}

#[test]
fn a_sort_that_fails_leaves_the_array_as_it_was() {
    let scripts = Scripts::new();
    let text = "class Robot extends Machine;\nvar array<int> Own;\n\
        function int Fails(int a, int b) { assert(a != 2 && b != 2); return b - a; }\n\
        function Sorts() { local int i; Own.Length = 0; for (i = 5; i > 0; i--) Own.AddItem(i); Own.Sort(Fails); }\n\
        function string Joined() { local string s; local int i; for (i = 0; i < Own.Length; i++) s $= Own[i]; return s; }";
    let class = scripts.load("Scripts", &[("Robot.uc", text)]).remove(0);
    let robot = scripts.object(&class);
    assert!(scripts.outcome(robot, "Sorts").contains("an assertion does not hold"));
    assert_eq!(scripts.outcome(robot, "Joined"), "54321");
}

#[test]
fn a_singular_function_does_nothing_while_it_runs_for_the_same_object() {
    let scripts = Scripts::new();
    let text = "class Robot extends Machine;\nvar int Count; var Robot Other;\n\
        singular function int Once(int depth) { Count++; if (depth > 0) return Once(depth - 1) + 10; return 1; }\n\
        singular function Ping() { Count++; if (Other != none) Other.Ping(); }\n\
        function int Again() { return Once(0) + Once(0); }\n\
        function int Nested() { return Once(3); }\n\
        function int Two() { Other = new class'Robot'; Other.Other = self; Ping(); return Count * 10 + Other.Count; }\n\
        singular function int Fails() { Count++; assert(Count > 1); return Count; }";
    let class = scripts.load("Scripts", &[("Robot.uc", text)]).remove(0);
    let outcome = |name: &str| scripts.outcome(scripts.object(&class), name);
    // A nested call on the same object returns the zero value without running. After the outer call has returned, a call runs normally.
    assert_eq!(outcome("Nested"), "10");
    assert_eq!(outcome("Again"), "2");
    assert_eq!(outcome("Two"), "11", "each object runs it once");
    let robot = scripts.object(&class);
    assert!(scripts.outcome(robot, "Fails").contains("an assertion does not hold"));
    assert_eq!(scripts.outcome(robot, "Fails"), "2", "one that failed runs no more");
}

#[test]
fn a_missing_element_is_reported_with_the_array_name() {
    table(
        "struct Row { var int Weight; var array<int> Parts; }; var array<Row> Rows; var int Fixed[3]; var array<Row> Empty;",
        "local int i; Rows.Length = 2; i = 5;",
        &[
            ("array_add(Rows[5].Parts, 1)", "~Rows has 2 elements, and none at 5"),
            ("array_length(Rows[0].Parts)", "0"),
            ("array_length(Rows[-1].Parts)", "~Rows has 2 elements, and none at -1"),
            ("Fixed[i]", "~Fixed has 3 elements, and none at 5"),
            ("Fixed[i] = 1 -> 0", "~Fixed has 3 elements, and none at 5"),
            ("Rows[i].Weight", "0"),
            ("Rows[i].Weight = 3 -> Rows.Length", "6"),
        ],
    );
}

#[test]
fn values_of_one_run_have_a_common_limit() {
    let limits = Limits { values: 1 << 20, ..Limits::default() };
    let scripts = Scripts::with_limits(limits);
    let text = "class Robot extends Machine;\nvar array<string> Own; var array<int> Kept;\n\
        function string Long() { local string s; local int i; s = \"0123456789abcdef\"; for (i = 0; i < 12; i++) s $= s; return s; }\n\
        function int Texts() { local int i; for (i = 0; i < 100; i++) Own.AddItem(Long()); return Own.Length; }\n\
        function int Names() { local int i; for (i = 0; i < 100; i++) NameOfText(Long() $ i); return i; }\n\
        function int Rows() { local int i; for (i = 0; i < 1000000; i++) Kept.AddItem(i); return i; }\n\
        function int Churn() { local int i; local string s; for (i = 0; i < 200; i++) s = Long(); return Len(s); }\n\
        function Drop() { Own.Length = 0; Kept.Length = 0; array_clear(Own); array_clear(Kept); }";
    let class = scripts.load("Scripts", &[("Robot.uc", text)]).remove(0);
    let robot = scripts.object(&class);
    for name in ["Texts", "Names", "Rows"] {
        let error = scripts.call(robot, name, &[]).expect_err("there is a limit");
        let CallError::InScript { error, stack } = error else { panic!("{name}: {error}") };
        let CallError::TooLarge { bytes, limit, setting, .. } = &*error else { panic!("{name}: {error}") };
        assert!(*bytes > *limit && *limit == 1 << 20 && setting == "Limits::values", "{name}: {error}");
        assert!(!stack.is_empty());
    }
    // Destroyed objects do not count toward the limit, and each run has the whole limit.
    assert_eq!(scripts.outcome(robot, "Churn"), "65536");
    assert_eq!(scripts.outcome(robot, "Churn"), "65536");
}

#[test]
fn an_enum_value_without_an_entry_is_an_error() {
    table("enum EE { E_A, E_B };", "local int i; i = 7;", &[("EE(i)", "~is not of type Enum(")]);
}

#[test]
fn placeholder_types_are_those_of_the_library() {
    let scripts = Scripts::new();
    let found = scripts.world.types.function_by_path("/Script/Script.MathLibrary:v_size").expect("it is declared");
    assert!(matches!(found.arguments()[0].ty, PropertyType::Struct(_)) && found.is_wildcard(&found.arguments()[0]));
}
