//! Tests whole scripts: their source is checked, compiled to bytecode, declared, and run on real objects.

use alcedo_reflect::value::{Binding, Value};

use crate::package::Scripts;

/// Compiles a class `Robot` with these members. Then runs each function that `expected` names, and compares the result, as a string, with
/// the expected string.
fn check(members: &str, expected: &[(&str, &str)]) {
    let scripts = Scripts::new();
    let text = format!("class Robot extends Machine;\n{members}");
    let class = scripts.load("Scripts", &[("Robot.uc", &text)]).remove(0);
    let robot = scripts.object(&class);
    for (name, value) in expected {
        assert_eq!(scripts.outcome(robot, name), *value, "{name}");
    }
}

#[test]
fn numbers_are_computed_and_converted() {
    check(
        r#"
        function int Whole() { local int a, b; a = 7; b = 3; return (a * b - 1) / 4 + a % b; }
        function float Real() { local float x; x = 1.5; return (x + 2) * 2 - 1 / x; }
        function int ToWhole() { local float x; x = -2.75; return int(x); }
        function byte Small() { local byte b; b = 250; b += 10; return b; }
        function int Bits() { local int a; a = 0xF0; return (a >> 4) | (a << 4) ^ 3; }
        function int ByZero() { local int a, b; a = 4; return a / b; }
        function string Words() { local int i; local float f; i = 4; f = 0.5; return i $ " and " $ f @ true; }
        function int Counting() { local int i, s; for (i = 0; i < 10; ++i) { if (i == 3) continue; if (i == 8) break; s += i; } return s; }
        function int Steps() { local int i, j; i = 5; j = i++ + ++i; i = i--; return j * 100 + i; }
        function bool Logic() { local bool a, b; a = true; b = a && !b || false; return b ^^ false; }
        "#,
        &[
            ("Whole", "6"),
            ("Real", "6.3333335"),
            ("ToWhole", "-2"),
            ("Small", "4"),
            ("ByZero", "0"),
            ("Words", "4 and 0.5000 True"),
            ("Counting", "25"),
            ("Steps", "1207"),
            ("Logic", "true"),
        ],
    );
}

#[test]
fn control_flow_of_statements() {
    check(
        r#"
        function int While1() { local int i; while (i < 5) i += 2; return i; }
        function int Do1() { local int i; do { i += 3; } until (i > 7); return i; }
        function string Switch1() { return Sort(1) $ Sort(2) $ Sort(3) $ Sort(9); }
        function string Sort(int i) {
            local string s;
            switch (i) {
                case 1: s = "one "; break;
                case 2: s = "two ";
                case 3: s $= "three "; break;
                default: s = "many";
            }
            return s;
        }
        function int Nested() {
            local int i, j, n;
            for (i = 0; i < 4; i++) { for (j = 0; j < 4; j++) { if (j > i) break; n++; } }
            return n;
        }
        function string Each() {
            local array<string> words; local string word, all; local int i;
            words.AddItem("a"); words.AddItem("b"); words.AddItem("c");
            foreach words(word, i) { all $= word $ i; }
            return all;
        }
        function int Early() { local int i; while (true) { i++; if (i > 3) return i; } return -1; }
        "#,
        &[
            ("While1", "6"),
            ("Do1", "9"),
            ("Switch1", "one two three three many"),
            ("Nested", "10"),
            ("Each", "a0b1c2"),
            ("Early", "4"),
        ],
    );
}

#[test]
fn properties_structs_enums_and_arrays_are_assignable() {
    check(
        r#"
        enum Mood { Calm, Angry };
        struct Part { var string Title; var int Count; var float Weight; var array<int> Sizes; };
        var int Energy;
        var Part Main;
        var array<Part> Parts;
        var Robot Other;
        var Mood Feels;
        var int Slots[4];
        function int Own() { Energy = 4; Energy += 3; Energy++; return Energy; }
        function string Fields() { local Part p; p.Title = "arm"; p.Count = 2; Main = p; Main.Count *= 5; return Main.Title $ Main.Count $ p.Count; }
        function int Elements() {
            local Part p; local int i;
            Parts.Length = 2; Parts[1].Count = 7; Parts[1].Sizes[2] = 9; p.Count = 1; Parts.AddItem(p);
            for (i = 0; i < Parts.Length; i++) Energy += Parts[i].Count;
            return Parts[1].Sizes.Length * 100 + Parts[1].Sizes[2] * 10 + Parts.Length;
        }
        function int Through() { Other = self; Other.Other.Energy = 11; return Energy + Other.Energy; }
        function int OfNone() { local Robot r; r.Energy = 3; return r.Energy; }
        function string Moods() { Feels = Angry; return Feels $ int(Feels) $ (Feels == Calm); }
        function bool MoodIsByte() { local byte b; b = 7; return Feels == (b > 3 ? b : b); }
        function int Fixed() { Slots[3] = 5; Slots[0] = Slots[3] + 1; return Slots[0] * 10 + Slots[3]; }
        function int LocalFixed() { local int a[3]; a[2] = 4; return a[0] + a[2]; }
        function int Grows() { local array<int> a; a[3] = 2; return a.Length * 10 + a[3] + a[9]; }
        "#,
        &[
            ("Own", "8"),
            ("Fields", "arm102"),
            ("Elements", "393"),
            ("Through", "22"),
            ("OfNone", "0"),
            ("Moods", "Angry1False"),
            ("MoodIsByte", "false"),
            ("Fixed", "65"),
            ("LocalFixed", "4"),
            ("Grows", "42"),
        ],
    );
}

#[test]
fn scripts_and_natives_call_each_other() {
    check(
        r#"
        var int Seen;
        function int Native() { return add(add(1, 2), add(3, 4)); }
        function string Outs() { local int half; local string words; split(9, half, words); return half $ words; }
        function int OutToElement() { local array<int> a; local string s; split(8, a[2], s); return a[2] + a.Length; }
        function Twice(out int value, optional int by = 2) { value *= by; }
        function int Out2() { local int v; v = 3; Twice(v); Twice(v, 5); return v; }
        function int Back() { return call_by_name("Answer"); }
        function int Answer() { return 42; }
        function int Deep() { Seen++; if (Seen > 5) return Seen; return call_by_name("Deep"); }
        static final function int Sum(int a, int b) { return a + b; }
        function int Statics() { return Sum(1, 2) + class'Robot'.static.Sum(3, 4); }
        function int Event1() { power = 1; return power_up(5); }
        "#,
        &[
            ("Native", "10"),
            ("Outs", "4half of 9"),
            ("OutToElement", "7"),
            ("Out2", "30"),
            ("Back", "42"),
            ("Deep", "6"),
            ("Statics", "10"),
            ("Event1", "6"),
        ],
    );
}

#[test]
fn scripts_extend_scripts_and_natives_and_call_above() {
    let scripts = Scripts::new();
    let base = "class Base extends Machine;\nfunction string Name1() { return \"base\"; }\nfunction string Ask() { return Name1(); }\n\
                event int power_up(int by) { return super.power_up(by * 2) + 1; }";
    let derived = "class Derived extends Base;\nfunction string Name1() { return \"derived of \" $ super.Name1(); }\n\
                   function int Up() { power = 0; return power_up(3); }\n\
                   function string Casts() { local Machine m; m = self; return Base(m).Name1() $ (Other(m) == none) $ m.Class; }";
    let other = "class Other extends Base;";
    let classes = scripts.load("Scripts", &[("Base.uc", base), ("Derived.uc", derived), ("Other.uc", other)]);
    let derived = classes.iter().find(|class| &*class.name == "Derived").unwrap();
    let object = scripts.object(derived);
    assert_eq!(scripts.outcome(object, "Ask"), "derived of base");
    assert_eq!(scripts.outcome(object, "Up"), "7");
    assert_eq!(scripts.outcome(object, "Casts"), "derived of baseTrueDerived");
}

#[test]
fn delegates_call_what_they_are_bound_to_or_their_default() {
    check(
        r#"
        delegate int Ask(int a) { return a + 1; }
        function int Doubled(int a) { return a * 2; }
        function int Default1() { return Ask(4); }
        function int Bound() { Ask = Doubled; return Ask(4); }
        function int Sorted() {
            local array<int> a; a.AddItem(3); a.AddItem(1); a.AddItem(2);
            a.Sort(Order);
            return a[0] * 100 + a[1] * 10 + a[2];
        }
        function int Order(int a, int b) { return b - a; }
        "#,
        &[("Default1", "5"), ("Bound", "8"), ("Sorted", "123")],
    );
}

#[test]
fn a_delegate_calls_the_static_function_of_its_bound_class() {
    let scripts = Scripts::new();
    let bell = "class Bell extends Machine;
        delegate int OnCount(int n);
        var int extra;
        static function int Twice(int n) { return n * 2 + Bonus(); }
        static function int Bonus() { return default.extra; }
        static function delegate<OnCount> Own() { local delegate<OnCount> d; d = Twice; return d; }
        static function int Order(int a, int b) { return a - b; }
        defaultproperties { extra=1 }";
    let big = "class Big extends Bell;
        var Bell other;
        static function int Bonus() { return 100; }
        function int Written() { OnCount = class'Bell'.static.Twice; return OnCount(5); }
        function int OfSubclass() { OnCount = class'Big'.static.Twice; return OnCount(5); }
        function int OfSelf() { OnCount = Twice; return OnCount(5); }
        function int OfObject() { other = new class'Bell'; OnCount = other.Twice; return OnCount(6); }
        function int OfClassValue() { local class<Bell> c; c = class'Bell'; OnCount = c.static.Twice; return OnCount(7); }
        function int OfNoClass() { local class<Bell> c; OnCount = c.static.Twice; return OnCount(7); }
        function int FromStatic() { local delegate<OnCount> d; d = class'Bell'.static.Own(); return d(8); }
        function int Passed() { return Apply(class'Bell'.static.Twice, 9); }
        function int Apply(delegate<OnCount> d, int n) { return d(n); }
        function bool Same() { local delegate<OnCount> a, b; a = class'Bell'.static.Twice; b = class'Bell'.static.Twice; return a == b; }";
    let class = scripts.load("Scripts", &[("Bell.uc", bell), ("Big.uc", big)]).remove(1);
    let object = scripts.object(&class);
    for (name, expected) in [
        ("Written", "11"),
        ("OfSubclass", "110"),
        ("OfSelf", "110"),
        ("OfObject", "13"),
        ("OfClassValue", "15"),
        ("OfNoClass", "0"),
        ("FromStatic", "17"),
        ("Passed", "19"),
        ("Same", "true"),
    ] {
        assert_eq!(scripts.outcome(object, name), expected, "{name}");
    }
}

#[test]
fn a_delegate_calls_a_function_that_was_renamed_after_the_binding() {
    let scripts = Scripts::new();
    let text = "class Robot extends Machine;
        delegate int OnCount(int n);
        function int Doubled(int n) { return n * 2; }
        function int Apply(delegate<OnCount> d) { return d(4); }";
    let class = scripts.load("Scripts", &[("Robot.uc", text)]).remove(0);
    let robot = scripts.object(&class);
    scripts.world.types.redirect("/Script/Scripts.Robot:Twice", "/Script/Scripts.Robot:Doubled");
    let twice = Value::Delegate(Binding { object: robot, function: scripts.world.names.intern("Twice") });
    assert_eq!(scripts.call(robot, "Apply", &[twice]), Ok(Some(Value::I32(8))));
}

#[test]
fn a_static_function_is_bound_to_a_multicast_delegate_and_sorts() {
    let scripts = Scripts::new();
    let text = "class Robot extends Machine;
        var int touched;
        delegate int ByNumber(int a, int b);
        static function int Down(int a, int b) { return a - b; }
        static function Note(int n) { class'Robot'.static.Add(n, n); }
        function string Sorted() { local array<int> n; n.AddItem(2); n.AddItem(3); n.AddItem(1); n.Sort(Down); return n[0] $ n[1] $ n[2]; }
        function int Bound() { OnTouch.Add(class'Robot'.static.Note); OnTouch(4); return 1; }";
    let class = scripts.load("Scripts", &[("Robot.uc", text)]).remove(0);
    let robot = scripts.object(&class);
    assert_eq!(scripts.outcome(robot, "Sorted"), "321");
    assert_eq!(scripts.outcome(robot, "Bound"), "1");
}

#[test]
fn dynamic_load_object_finds_what_is_loaded_by_path() {
    let scripts = Scripts::new();
    let bell = "class Bell extends Machine; defaultproperties { Power=4 }";
    let robot = "class Robot extends Machine;
        function class<Machine> Find(string Path) { return class<Machine>(DynamicLoadObject(Path, class'Class')); }
        function int PowerOf() { return Find(\"Scripts.B\" $ \"ell\").default.Power; }
        function bool AnyCase() { return Find(\"scripts.bell\") == class'Bell' && Find(\"/Script/Scripts.Bell\") == class'Bell'; }
        function bool Missing() { return Find(\"Scripts.Gong\") == none && Find(\"\") == none && Find(\"Bell\") == none; }
        function bool Other() { return class<Bell>(DynamicLoadObject(\"Scripts.Robot\", class'Core.Class', true)) == none; }
        function bool Named() {
            local Bell b;
            b = new(none, \"Big\") class'Bell';
            return DynamicLoadObject(\"Scripts.Big\", class'Bell') == b && DynamicLoadObject(\"Scripts.Small\", class'Bell', true) == none;
        }
        function bool OtherClass() { return DynamicLoadObject(\"Scripts.Big\", class'Robot') == none; }
        function int Typed() { return DynamicLoadObject(\"Big\", class'Bell').Power; }";
    let class = scripts.load("Scripts", &[("Bell.uc", bell), ("Robot.uc", robot)]).remove(1);
    let robot = scripts.object(&class);
    for (name, expected) in [
        ("PowerOf", "4"),
        ("AnyCase", "true"),
        ("Missing", "true"),
        ("Other", "true"),
        ("Named", "true"),
        ("OtherClass", "true"),
        ("Typed", "4"),
    ] {
        assert_eq!(scripts.outcome(robot, name), expected, "{name}");
    }
}

#[test]
fn a_class_in_a_variable_of_the_root_class_equals_the_class_and_is_cast_back() {
    let scripts = Scripts::new();
    let text = "class Robot extends Machine;
        var Object Held;
        function string Empty() { return (Held == class'Robot') @ (class<Robot>(Held) == none) @ (none == none) @ (none != none); }
        function string Full() { Held = class'Robot'; return (Held == class'Robot') @ (class'Machine' != Held) @ (class<Machine>(Held) == class'Robot'); }
        function bool Weak() { local weak<Object> w; Held = class'Robot'; w = Held; return w == class'Robot' && class'Robot' == w; }
        function string OfSelf() { Held = self; return (class'Robot' == Held) @ (class<Robot>(Held) == none) @ (self != class'Robot'); }";
    let class = scripts.load("Scripts", &[("Robot.uc", text)]).remove(0);
    let robot = scripts.object(&class);
    assert_eq!(scripts.outcome(robot, "Empty"), "False True True False");
    assert_eq!(scripts.outcome(robot, "Full"), "True True True");
    assert_eq!(scripts.outcome(robot, "OfSelf"), "False True True");
    assert_eq!(scripts.outcome(robot, "Weak"), "true");
}

#[test]
fn an_error_lists_the_calls_of_the_script() {
    let scripts = Scripts::new();
    let text = "class Robot extends Machine;\nvar int Slots[2];\nfunction int Outer() {\n  return Inner();\n}\nfunction int Inner() {\n  fail(\"no luck\");\n  return 1;\n}\n\
                function Outside() { local int i; i = 2; Slots[i] = 1; }\nfunction Assert1() { assert(1 > 2); }\nfunction Bug() { panics(); }\nfunction int Again() { return call_by_name(\"Outer\"); }\n";
    let class = scripts.load("Scripts", &[("Robot.uc", text)]).remove(0);
    let robot = scripts.object(&class);
    let outcome = scripts.outcome(robot, "Outer");
    let lines: Vec<_> = outcome.lines().skip(1).map(str::trim).collect();
    assert!(outcome.contains("no luck"), "{outcome}");
    assert_eq!(lines, ["in /Script/Scripts.Robot:Inner at Robot.uc:7", "in /Script/Scripts.Robot:Outer at Robot.uc:4"]);
    assert!(scripts.outcome(robot, "Outside").contains("Slots has 2 elements, and none at 2"));
    assert!(scripts.outcome(robot, "Assert1").contains("assertion"));
    assert!(scripts.outcome(robot, "Bug").contains("a bug of the host"));
    let again = scripts.outcome(robot, "Again");
    assert_eq!(again.lines().count(), 4, "the calls of both sides of the native are named once: {again}");
    assert_eq!(scripts.outcome(robot, "Outer"), outcome, "the machine is as it was");
}

#[test]
fn objects_that_only_a_running_script_refers_to_are_no_garbage() {
    check(
        r#"
        function int Held() { local Robot r; local array<Robot> all; r = new class'Robot'; all.AddItem(new class'Robot'); return garbage() * 100 + all.Length; }
        function int LetGo() { return garbage(); }
        "#,
        // Only the call keeps the robot of the test alive.
        &[("Held", "1"), ("LetGo", "2")],
    );
}

#[test]
fn using_an_object_destroyed_in_its_own_function_is_an_error() {
    let scripts = Scripts::new();
    let text = "class Robot extends Machine;\nvar int Energy;\nfunction int Gone() { destroy_it(self); return Energy; }\n\
                function int Fine() { destroy_it(self); return 3; }\n\
                function int OfOther() { local Robot r; r = new class'Robot'; r.Energy = 4; destroy_it(r); return r.Energy; }\n\
                function int Below() { local int i; i = End(); return i + Energy; }\nfunction int End() { destroy_it(self); return 1; }";
    let class = scripts.load("Scripts", &[("Robot.uc", text)]).remove(0);
    assert!(scripts.outcome(scripts.object(&class), "Gone").contains("is gone"));
    assert!(scripts.outcome(scripts.object(&class), "Below").contains("is gone"));
    assert_eq!(scripts.outcome(scripts.object(&class), "Fine"), "3");
    assert_eq!(scripts.outcome(scripts.object(&class), "OfOther"), "0");
}

#[test]
fn a_reference_to_a_destroyed_object_equals_none() {
    check(
        r#"
        function string Ended() {
            local Robot gone, kept;
            local Object any;
            gone = new class'Robot';
            kept = new class'Robot';
            any = gone;
            destroy_it(gone);
            return (gone == none) @ (none != any) @ (gone == kept) @ (kept == none) @ (kept == kept);
        }
        delegate OnDone();
        function Done() {}
        function string Unbound() {
            local Robot gone;
            gone = new class'Robot';
            OnDone = gone.Done;
            if (OnDone != none) destroy_it(gone);
            return (gone == none) @ (OnDone == none) @ (OnDone != none);
        }
        struct Slot { var Robot Held; };
        function string Purged() {
            local array<Robot> all;
            local array<Slot> slots;
            local array<weak<Robot> > seen;
            local Robot nobody;
            all.AddItem(self);
            all.AddItem(new class'Robot');
            all.AddItem(none);
            slots[0].Held = all[1];
            seen.AddItem(all[1]);
            destroy_it(all[1]);
            return slots.Find('Held', none) @ all.Find(none) @ all.Find(self) @ seen.Find(none)
                @ array_find(all, nobody) @ all.RemoveItem(none) @ all.Length;
        }
        function string Structs() {
            local array<Slot> slots;
            local Slot empty;
            slots[0].Held = self;
            slots[1].Held = new class'Robot';
            destroy_it(slots[1].Held);
            return (slots[0] == empty) @ (slots[1] == empty) @ slots.Find(empty) @ slots.RemoveItem(empty);
        }
        "#,
        &[
            ("Ended", "True False False False True"),
            ("Unbound", "True True False"),
            ("Purged", "0 1 0 0 1 2 1"),
            ("Structs", "False True 1 1"),
        ],
    );
}

#[test]
fn a_final_function_of_a_destroyed_object_is_called_on_none_by_every_call() {
    let scripts = Scripts::new();
    let text = "class Robot extends Machine;\nfinal function int Own() { return 7; }\n\
                function int Same(bool gone) { if (gone) destroy_it(self); return Own(); }\n\
                function int Gone() { return Same(true); }\nfunction int Kept() { return Same(false); }";
    let class = scripts.load("Scripts", &[("Robot.uc", text)]).remove(0);
    let outcomes = ["Gone", "Kept", "Gone", "Kept"].map(|name| scripts.outcome(scripts.object(&class), name));
    assert_eq!(outcomes, ["0", "7", "0", "7"], "the cached callee changes nothing");
}

#[test]
fn defaults_and_new_objects_have_the_values_of_their_class() {
    let scripts = Scripts::new();
    let text = "class Robot extends Machine;\nvar int Energy;\nvar string Title;\n\
                function string Made() { local Robot r; r = new class'Robot'; return r.Energy $ r.Title $ class'Robot'.default.Energy; }\n\
                defaultproperties\n{\n  Energy=5\n  Title=\"steel\"\n}\n";
    let class = scripts.load("Scripts", &[("Robot.uc", text)]).remove(0);
    let robot = scripts.object(&class);
    assert_eq!(scripts.call(robot, "Made", &[]), Ok(Some(Value::Text("5steel5".to_owned()))));
}

#[test]
fn vectors_and_strings_have_operators() {
    check(
        r#"
        function string Vectors() { local vector a, b; a = vect(1, 2, 3); b.x = 2; return string(a * 2 + b); }
        function float Dots() { return vect(1, 2, 3) dot vect(4, 5, 6); }
        function bool Near() { return 1.0 ~= 1.00001 && "ABC" ~= "abc" && "a" < "b"; }
        function string Texts() { return Mid("Robot", 2, 2) $ Len("four") $ Caps("up") $ InStr("haystack", "st"); }
        function string Clamped() { return Max(3, 4) $ Clamp(9, 1, 5) $ Round(2.5); }
        "#,
        &[("Vectors", "4.00,4.00,6.00"), ("Dots", "32"), ("Near", "true"), ("Texts", "bo4UP3"), ("Clamped", "453")],
    );
}

#[test]
fn maps_and_sets_are_containers() {
    check(
        r#"
        function int Maps() { local map<string, int> m; m.Set("a", 4); m.Set("b", 5); m.Set("a", 6); m.Remove("b"); return m.Find("a") * 10 + m.Length; }
        function bool Has() { local map<int, int> m; m.Set(2, 3); return m.Contains(2) && !m.Contains(3); }
        "#,
        &[("Maps", "61"), ("Has", "true")],
    );
}

#[test]
fn targets_of_out_parameters_may_move_during_the_call() {
    check(
        r#"
        struct Part { var int Count; };
        var array<Part> Parts;
        var Robot Other;
        var int Energy;
        function Bump(out int v) { Parts.Length = 500; v += 1; }
        function Shrink(out int v) { Parts.Length = 0; v += 1; }
        function int Element() { Parts.Length = 1; Parts[0].Count = 4; Bump(Parts[0].Count); return Parts[0].Count * 1000 + Parts.Length; }
        function int Gone() { Parts.Length = 2; Shrink(Parts[1].Count); return Parts.Length * 10 + Parts[1].Count; }
        function NoOther(out int v) { Other = none; v = 9; }
        function string OfOther() { Other = self; NoOther(Other.Energy); return Energy $ Other; }
        "#,
        // The call stores its out value in the object or element that its argument named before the call.
        &[("Element", "5500"), ("Gone", "21"), ("OfOther", "9None")],
    );
}

#[test]
fn a_call_site_resolves_the_override_of_each_class() {
    let scripts = Scripts::new();
    let base = "class Base extends Machine;\nfunction string Name1() { return \"b\"; }\nfinal function string Asked() { return Name1(); }";
    let one = "class One extends Base;\nfunction string Name1() { return \"1\"; }";
    let user = "class User extends Base;\n\
                function string All() { local array<Base> all; local Base one; local string s; local int i;\n\
                for (i = 0; i < 2; i++) { all.AddItem(new class'One'); all.AddItem(new class'Base'); all.AddItem(none); }\n\
                foreach all(one) s $= one.Name1() $ one.Asked(); return s; }";
    let classes = scripts.load("Scripts", &[("Base.uc", base), ("One.uc", one), ("User.uc", user)]);
    let user = classes.iter().find(|class| &*class.name == "User").unwrap();
    assert_eq!(scripts.outcome(scripts.object(user), "All"), "11bb11bb");
}

#[test]
fn writes_are_refused_while_a_rollback_could_not_undo_them() {
    use alcedo_abi::host::mode;
    let scripts = Scripts::new();
    let text = "class Robot extends Machine;\nvar int Energy;\nvar array<string> Words;\nvar Robot Other;\n\
                function int Reads() { return Energy; }\nfunction Writes() { Energy = 5; }\nfunction Adds() { Words.AddItem(\"x\"); }\n\
                function Others() { Other = self; Other.Energy = 3; }\nfunction Library() { array_add(Words, \"y\"); }";
    let class = scripts.load("Scripts", &[("Robot.uc", text)]).remove(0);
    let robot = scripts.object(&class);
    let object = scripts.machine.clone();
    // During an incremental collection, writes are reported to the collector and allowed.
    {
        let _marking = scripts.world.mode.enter(mode::MARKING);
        assert_eq!(scripts.outcome(robot, "Writes"), "");
    }
    assert_eq!(scripts.world.get::<i32>(robot, "Energy"), Ok(5));
    scripts.world.write(robot, "Energy", &Value::I32(1)).unwrap();
    // During a reload, scripts cannot call functions of the host.
    let _staging = scripts.world.mode.enter(mode::REBUILDING);
    for name in ["Writes", "Adds", "Others", "Library"] {
        assert!(scripts.outcome(robot, name).contains("refused before the commit"), "{name}");
    }
    assert_eq!(scripts.world.get::<i32>(robot, "Energy"), Ok(1));
    assert!(!object.is_running());
}

#[test]
fn parameters_that_are_left_away_get_their_defaults_in_the_called_function() {
    check(
        r#"
        var int Calls;
        function int Next() { Calls++; return Calls; }
        function int Sum(int a, optional int b = a * 2, optional int c = Next()) { return a * 100 + b * 10 + c; }
        function int All() { return Sum(1, 2, 3); }
        function int One() { return Sum(1); }
        function int Again() { return Sum(1, 5); }
        "#,
        &[("All", "123"), ("One", "121"), ("Again", "152")],
    );
}

#[test]
fn an_object_has_a_name_and_nested_outers() {
    let scripts = Scripts::new();
    let nest = "class Nest extends Object;\n\
        var int Eggs;\n\
        function bool Lies() { local Egg E; E = new(self) class'Egg'; return E.Outer == self && E.Whose() == self; }\n\
        function bool Named() { local Egg E; E = new(self, \"Big\") class'Egg'; return E.Name == 'Big' && E.Called() == 'Big'; }\n\
        function int Through() { local Egg E; Eggs = 4; E = new(self) class'Egg'; return E.Counted(); }\n\
        function bool Alone() { local Egg E; E = new(new class'Nest') class'Egg'; return E.Outer != self && E.Outer != none; }\n\
        function bool Elsewhere() { local Egg E; E = new(new class'Object') class'Egg'; return E.Outer == none && E.Counted() == 0; }\n\
        function bool Nobody() { local Egg E; return E.Outer == none && E.Name == ''; }\n";
    let egg = "class Egg extends Object within Nest;\n\
        function Nest Whose() { return Outer; }\n\
        function int Counted() { return Outer.Eggs; }\n\
        function name Called() { return Name; }\n";
    let classes = scripts.load("Scripts", &[("Nest.uc", nest), ("Egg.uc", egg)]);
    let nest = scripts.object(classes.iter().find(|class| &*class.name == "Nest").expect("declared"));
    for name in ["Lies", "Named", "Alone", "Elsewhere", "Nobody"] {
        assert_eq!(scripts.outcome(nest, name), "true", "{name}");
    }
    assert_eq!(scripts.outcome(nest, "Through"), "4");
}
