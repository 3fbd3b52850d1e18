//! Tests script values that reflection stores, and conversions that the interpreter makes. Each test compiles source code and checks the
//! result of a function.

use alcedo_runtime::{ObjectHandle, Value};

use crate::scripts::{Package, builder, call, get, host_of, reload_of, spawn};
use crate::support;

/// Checks the results of functions in the class `Foo`. `text` is the class body after its first line.
fn check_values(text: &str, expected: &[(&str, &str)]) {
    let package = Package::new("Tale", &[("Foo.uc", &format!("class Foo extends Actor;\n{text}"))]);
    let host = host_of(builder(), &package);
    let object = spawn(&host, "/Script/Tale.Foo");
    for (function, value) in expected {
        assert_eq!(call(&host, object, function, &[]), Some(Value::Text((*value).into())), "{function} of {text}");
    }
}

#[test]
fn a_fixed_array_in_a_struct_keeps_elements_without_defaults() {
    let text = "
        struct S { var int fx[3]; var string row[3]; structdefaultproperties {
            fx(1)=9
            row=(\"a\")
        } };
        var S p, q;
        function string A() { local S o; return o.fx[0] @ o.fx[1] @ o.fx[2] $ o.row[0] $ o.row[2]; }
        function string B() { return p.fx[0] @ p.fx[1] @ p.fx[2] $ p.row[0] $ p.row[2]; }
        function string C() { return q.fx[0] @ q.fx[1] @ q.fx[2] $ q.row[0] $ q.row[2]; }
        defaultproperties {
            p=(fx[0]=4)
        }";
    check_values(text, &[("A", "0 9 0a"), ("B", "4 9 0a"), ("C", "0 9 0a")]);
}

#[test]
fn a_plugin_keeps_the_length_of_a_fixed_array_in_a_script_struct() {
    let text = "class Singer extends Actor; struct Verse { var int syllables[3]; }; var int songs;
        function int sing(int times) { return songs; }";
    let package = Package::new("Ballad", &[("Singer.uc", text)]);
    let host = support::builder().package("Ballad").build().expect("a host");
    let modules = [support::plugin("listener", &["verses"]), package.folder.clone()];
    host.create_master(&modules).unwrap_or_else(|error| panic!("{error}"));
    let reader = spawn(&host, "/Script/Game.Reader");
    let verse =
        |cells: [i32; 3]| Value::Struct(vec![("syllables".into(), Value::Array(cells.map(Value::I32).to_vec()))]);
    host.objects().set(reader, "verse", &verse([1, 2, 3])).expect("a verse");
    let refused = "syllables is a fixed array of 3 elements and cannot have 2: overwrite its elements";
    assert_eq!(call(&host, reader, "recite", &[]), Some(Value::Text(refused.into())));
    assert_eq!(get(&host, reader, "verse"), verse([4, 5, 6]));
}

#[test]
fn a_string_is_true_if_it_reads_true_or_nonzero() {
    let text = "
        function string A() { return bool(\"false\") @ bool(\"0\") @ bool(\"\") @ bool(\"yes\") @ bool(\"0.5\"); }
        function string B() { return bool(\"TRUE\") @ bool(\" true \") @ bool(\"1\") @ bool(\"-7x\"); }
        function string C() { return Given(\"false\") @ Given(\"true\"); }
        function string Given(coerce bool b) { return string(b); }";
    check_values(text, &[("A", "False False False False False"), ("B", "True True True True"), ("C", "False True")]);
}

#[test]
fn a_value_convertible_to_an_optionals_content_is_assigned_to_it() {
    let text = "
        var optional<byte> ob;
        var optional<Actor> oa;
        var optional<weak<Actor> > ow;
        var optional<float> of;
        function string A() { ob = 200; oa = self; ow = self; of = 3; return ob.Get() @ oa.Get() @ ow.IsSet() @ of.Get(); }
        function string B() { oa = none; ow = none; return oa.IsSet() @ oa.Get() @ ow.IsSet(); }
        function string C() { ob.Reset(); Given(9); return ob.IsSet() @ ob.Get(); }
        function Given(optional<byte> x) { ob = x; }";
    check_values(text, &[("A", "200 Foo_1 True 3.0000"), ("B", "True None True"), ("C", "True 9")]);
}

#[test]
fn an_object_assigned_to_any_reference_is_its_target() {
    let text = "
        var weak<Actor> w;
        var soft<Actor> s;
        var lazy<Actor> l;
        function string A() {
            local Actor a, b, c;
            w = self; s = self; l = self;
            a = w; b = s; c = l;
            return a @ b @ c;
        }
        function string B() {
            local Actor a, b, c;
            w = none; s = none; l = none;
            a = w; b = s; c = l;
            return a @ b @ c;
        }";
    check_values(text, &[("A", "Foo_1 Foo_1 Foo_1"), ("B", "None None None")]);
}

/// Returns the result of the function `Named` of a new `Foo`, whose class has these variables and functions. The actor `Lamp` exists when
/// the defaults are applied.
fn named_by_defaults(body: &str, defaults: &str) -> Option<Value> {
    let text = format!("class Foo extends Actor;\nvar Actor a;\n{body}\ndefaultproperties\n{{\na=none\n}}");
    let package = Package::new("Tale", &[("Foo.uc", &text)]);
    let host = host_of(builder(), &package);
    let lamp = spawn(&host, "/Script/Engine.Actor");
    host.objects().rename(lamp, "Lamp", ObjectHandle::NONE).unwrap_or_else(|error| panic!("{error}"));
    package.edit("Foo.uc", "a=none", defaults);
    reload_of(&host, &package);
    let foe = spawn(&host, "/Script/Tale.Foo");
    call(&host, foe, "Named", &[])
}

#[test]
fn a_default_of_any_reference_names_an_object_after_its_package() {
    let body = "
        var weak<Actor> w;
        var soft<Actor> s;
        var lazy<Actor> l;
        function string Named() { local Actor x, y, z; x = w; y = s; z = l; return a @ x @ y @ z; }";
    let defaults = "a=Actor'Lamp'\nw=Actor'Town.Lamp'\ns=Actor'Town.Lamp'\nl=Actor'Town.Street.Lamp'";
    assert_eq!(named_by_defaults(body, defaults), Some(Value::Text("Lamp Lamp Lamp Lamp".into())));
}

#[test]
fn a_default_names_objects_inside_containers_and_structs() {
    let body = "
        struct S { var lazy<Actor> l; };
        var array<lazy<Actor> > ls;
        var array<soft<Actor> > ss;
        var map<name, lazy<Actor> > m;
        var S st;
        var optional<Actor> o;
        function string Named() {
            local Actor x, y, z, u;
            x = ls[1]; y = ss[0]; z = m['a']; u = st.l;
            return ls.Length @ x @ y @ z @ u @ o.Get();
        }";
    let defaults =
        "ls=(none, Actor'Lamp')\nss=(Actor'Town.Lamp')\nm=((a, Actor'Lamp'))\nst=(l=Actor'Lamp')\no=Actor'Lamp'";
    assert_eq!(named_by_defaults(body, defaults), Some(Value::Text("2 Lamp Lamp Lamp Lamp Lamp".into())));
}

#[test]
fn a_struct_in_defaults_keeps_the_inherited_values_of_other_fields() {
    let base = "class Base extends Actor;
        struct Pair { var int A, B; structdefaultproperties { A=1 } };
        struct Whole { var Pair P; var int C; };
        var Whole One;
        var array<Pair> Row;
        defaultproperties
        {
            One=(P=(B=2),C=3)
            Row(0)=(A=4,B=5)
        }";
    let foo = "class Foo extends Base;
        function string Read() { return One.P.A @ One.P.B @ One.C @ Row[0].A @ Row[0].B @ Row[1].A; }
        defaultproperties
        {
            One=(P=(A=7))
            Row(0)=(B=6)
            Row(1)=(B=8)
        }";
    let package = Package::new("Tale", &[("Base.uc", base), ("Foo.uc", foo)]);
    let host = host_of(builder(), &package);
    let foe = spawn(&host, "/Script/Tale.Foo");
    assert_eq!(call(&host, foe, "Read", &[]), Some(Value::Text("7 2 3 4 6 1".into())));
}

#[test]
fn an_array_in_a_struct_in_defaults_keeps_the_inherited_elements() {
    let base = "class Base extends Actor;
        struct Pair { var int A, B; };
        struct Row { var int Cells[3]; var array<int> List; var Pair Pairs[2]; structdefaultproperties {
            Cells(0)=7
            Cells(2)=9
        } };
        var Row One;
        defaultproperties
        {
            One=(Cells[1]=8,List=(1,2),Pairs[1]=(A=3,B=4))
        }";
    let foo = "class Foo extends Base;
        var array<Row> All;
        function string Cells() { return One.Cells[0] @ One.Cells[1] @ One.Cells[2]; }
        function string Rest() { return One.List[0] @ One.List[1] @ One.List[3] @ One.Pairs[1].A @ One.Pairs[1].B; }
        function string Added() { return All[0].Cells[0] @ All[0].Cells[1] @ All[0].Cells[2]; }
        defaultproperties
        {
            One=(Cells[0]=5,List[0]=6,List[3]=7,Pairs[1]=(A=2))
            One=(Cells[2]=4)
            All.Add((Cells[1]=1))
        }";
    let package = Package::new("Tale", &[("Base.uc", base), ("Foo.uc", foo)]);
    let host = host_of(builder(), &package);
    let foe = spawn(&host, "/Script/Tale.Foo");
    for (function, expected) in [("Cells", "5 8 4"), ("Rest", "6 2 7 2 4"), ("Added", "7 1 9")] {
        assert_eq!(call(&host, foe, function, &[]), Some(Value::Text(expected.into())), "{function}");
    }
}

#[test]
fn only_scripts_omit_an_argument_whose_default_names_an_object() {
    let text = "class Foo extends Actor;
        function string Named(optional Actor a = none) { return string(a); }
        function string Own() { return Named(); }";
    let package = Package::new("Tale", &[("Foo.uc", text)]);
    let host = host_of(builder(), &package);
    let lamp = spawn(&host, "/Script/Engine.Actor");
    host.objects().rename(lamp, "Lamp", ObjectHandle::NONE).unwrap_or_else(|error| panic!("{error}"));
    let foe = spawn(&host, "/Script/Tale.Foo");
    assert_eq!(call(&host, foe, "Named", &[]), Some(Value::Text("None".into())));
    package.edit("Foo.uc", "= none", "= Actor'Lamp'");
    reload_of(&host, &package);
    assert_eq!(call(&host, foe, "Own", &[]), Some(Value::Text("Lamp".into())));
    let error = host.objects().call(foe, "Named", &[]).expect_err("an argument is missing").to_string();
    assert!(error.contains("0 arguments"), "{error}");
}

#[test]
fn const_parameters_can_be_passed_on() {
    let text = "
        function string A() { local array<int> l; l[1] = 4; return string(B(5, l)); }
        function int B(const int x, const out array<int> list) { return C(x, list) + x; }
        function int C(const out int y, const out array<int> list) { return y + list[1]; }";
    check_values(text, &[("A", "14")]);
}

#[test]
fn a_class_overrides_a_subobject_of_its_base_in_the_package() {
    let foe = "class Foo extends Actor;
        var SceneComponent Shade;
        defaultproperties
        {
            Begin Object Class=SceneComponent Name=Bulb
                CanTick=false
            End Object
            Shade=Bulb
        }";
    let bar = "class Bar extends Foo;
        function bool Ticks() { return Shade.CanTick; }
        defaultproperties
        {
            Begin Object Name=BULB
                CanTick=true
            End Object
        }";
    let package = Package::new("Tale", &[("Foo.uc", foe), ("Bar.uc", bar)]);
    let host = host_of(builder(), &package);
    let bar = spawn(&host, "/Script/Tale.Bar");
    assert_eq!(call(&host, bar, "Ticks", &[]), Some(Value::Bool(true)));
}
