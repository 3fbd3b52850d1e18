//! Tests functions that accept any struct or any array, called from source, from bytecode, and through a parameter block.

use alcedo_base::boundary::CallError;
use alcedo_reflect::decl::{Batch, EnumDecl, PropertyDecl, StructDecl};
use alcedo_reflect::enums::EnumEntry;
use alcedo_reflect::origin::Origin;
use alcedo_reflect::thunk::ParamBlock;
use alcedo_reflect::value::Value;

use alcedo_abi::kinds::PropertyKind;

use crate::package::Scripts;

/// Compiles a class `Demo` with these members. Then runs each function that `expected` names, and compares the outcome with the expected
/// string. After a `~`, the string is only a part of the outcome.
fn check(members: &str, expected: &[(&str, &str)]) {
    let scripts = Scripts::new();
    let text = format!("class Demo extends Machine;\n{members}");
    let class = scripts.load("Scripts", &[("Demo.uc", &text)]).remove(0);
    let object = scripts.object(&class);
    for (name, value) in expected {
        let outcome = scripts.outcome(object, name);
        match value.strip_prefix('~') {
            Some(part) => assert!(outcome.contains(part), "{name}: {outcome} has not `{part}`"),
            None => assert_eq!(outcome, *value, "{name}"),
        }
    }
}

const DEMO: &str = r#"
    enum Rank { Low, Mid1, High };
    struct MyStruct { var string Title; var int Value; var byte Size; var float Ratio; var Rank Level; };
    var array<MyStruct> Mine;
    var array<Score> Theirs;
    var array<int> Numbers;
    function Fill() {
        local MyStruct one; local Score score; local int i;
        Mine.Length = 0; Theirs.Length = 0;
        for (i = 0; i < 4; i++) {
            one.Title = "t" $ i; one.Value = i * 10; one.Size = i + 200; one.Ratio = i / 2.0; one.Level = i > 1 ? High : Low;
            Mine.AddItem(one);
            score.points = i; score.weight = i * 0.25; Theirs.AddItem(score);
        }
    }
"#;

#[test]
fn fields_of_script_structs_and_host_structs_are_listed() {
    check(
        &format!(
            "{DEMO}
            function string Shown() {{ local MyStruct one; return join_array(show_struct_fields(one), \";\"); }}
            function string ShownOfHost() {{ local Score score; return join_array(show_struct_fields(score), \";\"); }}
            function string ShownElement() {{ Fill(); return join_array(show_struct_fields(Mine[1]), \";\"); }}"
        ),
        &[
            (
                "Shown",
                "Property: [MyStruct].[Title];Property: [MyStruct].[Value];Property: [MyStruct].[Size];Property: [MyStruct].[Ratio];Property: [MyStruct].[Level]",
            ),
            ("ShownOfHost", "Property: [Score].[player_name];Property: [Score].[points];Property: [Score].[weight]"),
            ("ShownElement", "~[MyStruct].[Ratio]"),
        ],
    );
}

#[test]
fn field_averages_work_for_numbers_and_enums_only() {
    let average = |of: &str, name: &str| format!("return array_numeric_property_average({of}, '{name}');");
    check(
        &format!(
            "{DEMO}
            function float OfInt() {{ Fill(); {} }}
            function float OfByte() {{ {} }}
            function float OfFloat() {{ {} }}
            function float OfEnum() {{ {} }}
            function float OfHost() {{ {} }}
            function float ByShownName() {{ return array_numeric_property_average(Theirs, name_of_text(\"Player Name\")); }}
            function float ByShownNumber() {{ return array_numeric_property_average(Theirs, 'Points'); }}
            function float OfLocal() {{ local array<MyStruct> some; some.AddItem(Mine[3]); return array_numeric_property_average(some, 'Value'); }}
            function float Empty() {{ local array<MyStruct> none1; return array_numeric_property_average(none1, 'Value'); }}
            function float Missing() {{ {} }}
            function float NoNumber() {{ {} }}
            function float NoStruct() {{ Numbers.AddItem(3); return array_numeric_property_average(Numbers, 'Value'); }}
            function float Again() {{ {} }}",
            average("Mine", "Value"),
            average("Mine", "Size"),
            average("Mine", "Ratio"),
            average("Mine", "Level"),
            average("Theirs", "weight"),
            average("Mine", "Color"),
            average("Mine", "Title"),
            average("Mine", "Value"),
        ),
        &[
            ("OfInt", "15"),
            ("OfByte", "201.5"),
            ("OfFloat", "0.75"),
            ("OfEnum", "1"),
            ("OfHost", "0.375"),
            ("ByShownName", "~Player Name is a String, which is not a number"),
            ("ByShownNumber", "1.5"),
            ("OfLocal", "30"),
            ("Empty", "0"),
            ("Missing", "~has no field `Color`: it has Title, Value, Size, Ratio, Level"),
            ("NoNumber", "~Title is a String, which is not a number"),
            ("NoStruct", "~the elements are not structs: it is an array of i32"),
            ("Again", "15"),
        ],
    );
}

#[test]
fn arrays_of_any_type_are_changed_in_place() {
    check(
        r#"
        struct Pair { var string Key; var int Count; };
        var array<Pair> Pairs;
        var array<string> Words;
        function string All() { return join_array(Words, ","); }
        function string Changed() {
            array_add(Words, "b"); array_add(Words, "c"); array_insert(Words, "a", 0); array_remove(Words, 1);
            array_set(Words, 3, "d", true); array_add(Words, Words[0]);
            return All() $ array_length(Words) $ array_last_index(Words);
        }
        function string Asked() { return array_find(Words, "c") $ array_contains(Words, "x") $ array_get(Words, 1); }
        function string Copied() { local array<string> more; more.AddItem("x"); array_append(Words, more); array_append(more, more); return All() $ more.Length; }
        function string Removed() { array_remove_item(Words, "a"); array_resize(Words, 2); return All(); }
        function int Shuffled() {
            local array<int> n; local int i, sum;
            for (i = 0; i < 20; i++) n.AddItem(i);
            array_shuffle(n);
            for (i = 0; i < 20; i++) sum += n[i];
            return sum * 100 + n.Length;
        }
        function string Sorted() {
            local Pair p; local string s; local int i;
            p.Key = "two"; p.Count = 2; Pairs.AddItem(p);
            p.Key = "one"; p.Count = 1; Pairs.AddItem(p);
            p.Key = "zwei"; p.Count = 2; Pairs.AddItem(p);
            p.Key = "three"; p.Count = 3; Pairs.AddItem(p);
            array_sort_by(Pairs, 'Count', true);
            for (i = 0; i < Pairs.Length; i++) s $= Pairs[i].Key $ " ";
            array_sort_by(Pairs, 'Key');
            return s $ Pairs[0].Key;
        }
        function Behind() { array_get(Words, 99); }
        "#,
        &[
            ("Changed", "a,c,,d,a54"),
            ("Asked", "1Falsec"),
            ("Copied", "a,c,,d,a,x2"),
            ("Sorted", "three two zwei one one"),
            ("Shuffled", "19020"),
            ("Removed", "c,"),
            ("Behind", "~element 99 is out of range: the array has 2"),
        ],
    );
}

#[test]
fn wildcards_are_refused_in_parameter_blocks_and_direct_calls() {
    let scripts = Scripts::new();
    let path = "/Script/Script.ArrayLibrary:array_length";
    let function = scripts.world.types.function_by_path(path).unwrap();
    let mut block = ParamBlock::new(&function);
    block.set(0, &Value::Array(vec![Value::I32(1)])).unwrap();
    let called = function.invoke(&scripts.world, alcedo_base::handles::ObjectHandle::NONE, &mut block);
    let Err(CallError::Signature { name, found, .. }) = called else { panic!("{called:?}") };
    assert_eq!(name, format!("{path}:target_array"));
    assert!(found.contains("a wildcard"), "{found}");
}

/// Creates a world with an enum of the host, whose numbers are `i32`, and a struct with a field of this enum.
fn with_levels() -> Scripts {
    let scripts = Scripts::new();
    let entry = |name: &str, number| EnumEntry {
        name: name.into(),
        number,
        display: "".into(),
        is_hidden: false,
        doc: "".into(),
    };
    let level = EnumDecl {
        package: "Engine".to_owned(),
        name: "Level".to_owned(),
        origin: Origin::Native,
        underlying: PropertyKind::I32,
        is_flags: false,
        entries: vec![entry("Ground", 0), entry("Sky", -40)],
        fingerprint: 0,
        doc: String::new(),
    };
    let place = StructDecl {
        fields: vec![PropertyDecl::new("level", PropertyKind::ENUM).of_type("/Script/Engine.Level")],
        ..StructDecl::new("Engine", "Place", Origin::Native)
    };
    let batch = Batch { enums: vec![level], structs: vec![place], ..Batch::default() };
    scripts.world.types.declare(&scripts.world.names, &batch).unwrap();
    scripts
}

#[test]
fn wide_enums_of_the_host_are_compared_with_their_entries() {
    let scripts = with_levels();
    let text = "class Demo extends Machine;\nfunction int Chosen() { local Level of; of = Sky; if (of == Ground) return 1; \
                if (of != Sky) return 2; switch (of) { case Ground: return 3; case Sky: return 4; } return 5; }";
    let class = scripts.load("Scripts", &[("Demo.uc", text)]).remove(0);
    assert_eq!(scripts.outcome(scripts.object(&class), "Chosen"), "4");
}

#[test]
fn enums_of_the_host_count_by_their_numbers() {
    let scripts = with_levels();
    let text = "class Demo extends Machine;\nvar array<Place> Places;\nfunction float Level1() { Places.Length = 2; Places[1].level = Sky; \
                return array_numeric_property_average(Places, 'Level'); }";
    let class = scripts.load("Scripts", &[("Demo.uc", text)]).remove(0);
    assert_eq!(scripts.outcome(scripts.object(&class), "Level1"), "-20");
}
