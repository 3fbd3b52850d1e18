//! Tests scripts that pass script values to functions with custom thunks, which a host or a plugin declares. Also tests thunks that call
//! back into the scripts during such a call.

use alcedo_runtime::{CallError, ObjectHandle, Runtime, Value};

use crate::scripts::{Package, builder, call, spawn};
use crate::support;

/// Scripts from the article on which custom thunks are modeled: a script struct, a Rust struct, and averages.
const STATS_TEXT: &str = r#"
class Stats extends Object;

enum Rank
{
    Low,
    Middle,
    High
};

struct Sample
{
    var string Name;
    var int Value;
    var float Weight;
    var Rank Grade;
};

var array<Sample> Samples;
var array<int> Numbers;

function Fill()
{
    local Sample S;

    S.Name = "one";
    S.Value = 1;
    S.Weight = 0.5;
    S.Grade = High;
    Samples.AddItem(S);
    S.Value = 4;
    S.Weight = 1.5;
    S.Grade = Low;
    Samples.AddItem(S);
}

function double AverageOf(name Field)
{
    return class'Wildcards'.static.average(Samples, Field);
}

function string DescribeSample()
{
    return class'Wildcards'.static.describe(Samples[0]);
}

function string DescribeVector()
{
    local vector V;

    V.X = 1;
    return class'Wildcards'.static.describe(V);
}

function int Doubled(int N)
{
    class'Wildcards'.static.double(N);
    return N;
}

function int FieldsOf()
{
    return class'Sums'.static.fields(Samples[0]);
}

function int LengthOf()
{
    return class'Sums'.static.length(Samples) * 10 + class'Sums'.static.length(Numbers);
}
"#;

#[test]
fn scripts_pass_any_struct_and_array_to_host_and_plugin_thunks() {
    let package = Package::new("Tale", &[("Stats.uc", STATS_TEXT)]);
    let natives = alcedo_runtime::natives![crate::custom_thunks::Sums];
    let host = builder().package("Test").natives(natives).build().expect("a host");
    let modules = [package.folder.clone(), support::plugin("wildcards", &[])];
    host.create_master(&modules).unwrap_or_else(|error| panic!("{error}"));
    let stats = spawn(&host, "/Script/Tale.Stats");
    let average = |field: &str| {
        let field = Value::Name(host.intern(field));
        host.objects().call(stats, "AverageOf", &[field]).map_err(|error| error.to_string())
    };
    assert_eq!(average("Value"), Ok(Some(Value::F64(0.0))), "average of an empty array");
    call(&host, stats, "Fill", &[]);
    assert_eq!(average("Value"), Ok(Some(Value::F64(2.5))));
    assert_eq!(average("Weight"), Ok(Some(Value::F64(1.0))));
    assert_eq!(average("Grade"), Ok(Some(Value::F64(1.0))), "the number of an enum");
    let error = average("Nothing").expect_err("the field does not exist");
    assert!(error.contains("Nothing") && error.contains("Stats.uc:"), "{error}");
    let error = average("Name").expect_err("it is not a number");
    assert!(error.contains("a number"), "{error}");
    assert_eq!(average("Value"), Ok(Some(Value::F64(2.5))), "the next call works");
    let Some(Value::Text(sample)) = call(&host, stats, "DescribeSample", &[]) else { panic!("a text") };
    assert!(sample.starts_with("/Script/Tale.Sample (Name=\"one\", Value=1"), "{sample}");
    let Some(Value::Text(vector)) = call(&host, stats, "DescribeVector", &[]) else { panic!("a text") };
    assert!(vector.starts_with("/Script/Engine.Vector (x=1"), "{vector}");
    assert_eq!(call(&host, stats, "Doubled", &[Value::I32(21)]), Some(Value::I32(42)));
    assert_eq!(call(&host, stats, "FieldsOf", &[]), Some(Value::I32(4)));
    assert_eq!(call(&host, stats, "LengthOf", &[]), Some(Value::I32(20)));
}

/// Script with an array inside an element of another array. The inner array is moved when the outer array grows.
const CROWD_TEXT: &str = r#"
class Crowd extends Object;

struct Group
{
    var array<int> Rows;
};

var array<Group> Groups;
var Crowd Other;

function Fill()
{
    Groups.Length = 0;
    Groups.Length = 1;
    Groups[0].Rows.AddItem(1);
    Groups[0].Rows.AddItem(2);
    Groups[0].Rows.AddItem(3);
}

function Grow()
{
    Groups.Length = 100000;
    Groups[0].Rows.AddItem(4);
}

function Empty()
{
    Groups.Length = 0;
}

function string CountAround(string Called)
{
    return class'Wildcards'.static.count_around(Groups[0].Rows, Called);
}

function string LookAround()
{
    return class'Sums'.static.describe(Groups[0].Rows);
}

function string CopyAround()
{
    return class'Sums'.static.copy_around(Groups[0].Rows);
}

function bool Assign(string S)
{
    return class'Wildcards'.static.assign(Other, S);
}

function Crowd Make()
{
    return new(Other) class'Crowd';
}
"#;

/// Returns a host with `CROWD_TEXT`, and an object of its class with filled arrays.
fn crowd() -> (Package, Runtime, ObjectHandle) {
    let package = Package::new("Tale", &[("Crowd.uc", CROWD_TEXT)]);
    let natives = alcedo_runtime::natives![crate::custom_thunks::Sums];
    let host = builder().package("Test").natives(natives).build().expect("a host");
    let modules = [package.folder.clone(), support::plugin("wildcards", &[])];
    host.create_master(&modules).unwrap_or_else(|error| panic!("{error}"));
    let crowd = spawn(&host, "/Script/Tale.Crowd");
    call(&host, crowd, "Fill", &[]);
    (package, host, crowd)
}

#[test]
fn a_plugin_thunk_finds_arguments_moved_by_a_script() {
    let (_package, host, crowd) = crowd();
    for function in ["Grow", "Empty"] {
        let weak = host.downgrade();
        let run = move |_: &Runtime, _: &[Value]| {
            let host = weak.upgrade().expect("it runs");
            host.objects().call(crowd, function, &[]).map_err(|error| CallError::other(error.to_string()))?;
            Ok(Some(Value::Bool(true)))
        };
        let signature = "-> bool".parse().expect("a signature");
        host.calls().register(&format!("crowd.{function}"), signature, run).expect("a free name");
    }
    let weak = host.downgrade();
    let end = move |_: &Runtime, _: &[Value]| {
        weak.upgrade().expect("it runs").objects().destroy(crowd);
        Ok(Some(Value::Bool(true)))
    };
    host.calls().register("crowd.end", "-> bool".parse().expect("a signature"), end).expect("a free name");
    let around = |name: &str| {
        let called = host.objects().call(crowd, "CountAround", &[Value::Text(format!("ex:/crowd.{name}"))]);
        called.map_err(|error| error.to_string())
    };
    assert_eq!(around("Grow"), Ok(Some(Value::Text("3 4".into()))));
    assert_eq!(around("Grow"), Ok(Some(Value::Text("4 5".into()))));
    let error = around("Empty").expect_err("it is not there any more");
    assert!(error.contains("has 0 elements, and none at 0"), "{error}");
    call(&host, crowd, "Fill", &[]);
    let error = around("end").expect_err("its object is not there any more");
    assert!(error.contains("the object of Rows does not exist"), "{error}");
}

#[test]
fn a_plugin_thunk_writes_only_objects_of_the_class_of_the_argument() {
    let (_package, host, crowd) = crowd();
    let assign = |object: ObjectHandle| host.objects().call(crowd, "Assign", &[Value::Text(object.to_string())]);
    let (right, wrong) = (spawn(&host, "/Script/Tale.Crowd"), spawn(&host, "/Script/Game.Wildcards"));
    assert_eq!(assign(right).map_err(|error| error.to_string()), Ok(Some(Value::Bool(true))));
    let error = assign(wrong).expect_err("its class is another").to_string();
    assert!(error.contains("/Script/Game.Wildcards") && error.contains("/Script/Tale.Crowd"), "{error}");
    assert_eq!(host.objects().get(crowd, "Other").expect("a property"), Value::Object(right));
}

#[test]
fn values_inspected_by_a_host_thunk_stay_unchanged_until_it_returns() {
    let (_package, host, crowd) = crowd();
    let weak = host.downgrade();
    let change = move || {
        let host = weak.upgrade().expect("it runs");
        let objects = host.objects();
        let called = objects.call(crowd, "Grow", &[]).map(drop);
        let written = objects.set(crowd, "Groups", &Value::Array(Vec::new()));
        objects.destroy(crowd);
        host.safe_point();
        [called, written].map(|done| done.err().map_or("done".to_owned(), |error| error.to_string())).join("; ")
    };
    let answer = crate::custom_thunks::with_action_inside(change, || call(&host, crowd, "LookAround", &[]));
    let Some(Value::Text(answer)) = answer else { panic!("{answer:?}") };
    assert!(answer.starts_with("I32(1) (I32(1), 3) "), "{answer}");
    assert_eq!(answer.matches("is refused while a thunk of the host reads an argument").count(), 2, "{answer}");
    call(&host, crowd, "Grow", &[]);
    let weak = host.downgrade();
    let change = move || {
        let host = weak.upgrade().expect("it runs");
        host.objects().call(crowd, "Empty", &[]).map_or_else(|error| error.to_string(), |_| "done".to_owned())
    };
    let copied = crate::custom_thunks::with_action_inside(change, || call(&host, crowd, "CopyAround", &[]));
    assert_eq!(copied, Some(Value::Text("Array([I32(1), I32(2), I32(3), I32(4)]) done".into())));
}

#[test]
fn a_script_makes_nothing_inside_an_object_that_is_gone() {
    let (_package, host, crowd) = crowd();
    let other = spawn(&host, "/Script/Tale.Crowd");
    host.objects().set(crowd, "Other", &Value::Object(other)).expect("a reference");
    assert!(
        matches!(call(&host, crowd, "Make", &[]), Some(Value::Object(made)) if host.objects().outer_of(made) == Some(other))
    );
    let before = host.objects().iter().len();
    host.objects().destroy(other);
    let error = host.objects().call(crowd, "Make", &[]).expect_err("its owner is gone").to_string();
    assert!(error.contains("stale") || error.contains("gone"), "{error}");
    assert_eq!(host.objects().iter().len(), before - 1, "only the owner was destroyed, and no object was created");
}

#[test]
fn console_evaluation_is_not_a_safe_point() {
    let (package, host, crowd) = crowd();
    let weak = host.downgrade();
    let modules = [package.folder.clone(), support::plugin("wildcards", &[])];
    let reload = move || {
        let host = weak.upgrade().expect("it runs");
        host.request_reload(modules.to_vec());
        host.safe_point();
        let reloaded = host.reload(&modules).map_or_else(|error| error.to_string(), |_| "done".to_owned());
        format!("{} {reloaded}; {}", host.generation(), host.console("eval 1 + 1"))
    };
    let output =
        crate::custom_thunks::with_action_inside(reload, || host.console("eval class'Sums'.static.run_code()"));
    assert!(output.starts_with("1 ") && !output.contains("done"), "{output}");
    assert_eq!(output.matches("`eval` has not returned").count(), 2, "{output}");
    host.safe_point();
    assert_eq!(host.generation(), 2, "what was requested is done then");
    assert_eq!(host.console("eval 1 + 1"), "2");
    call(&host, crowd, "Grow", &[]);
}

#[test]
fn a_short_fixed_array_from_a_plugin_thunk_or_a_host_receives_its_missing_elements() {
    let text = "class Rows extends Object;
        var int Own[3];
        struct Row { var int Cells[3]; structdefaultproperties {
            Cells(2)=9
        } };
        function string Assigned(string S)
        {
            local Row R;

            class'Wildcards'.static.assign(R, S);
            return R.Cells[0] @ R.Cells[1] @ R.Cells[2];
        }
        function string Written()
        {
            return Own[0] @ Own[1] @ Own[2];
        }";
    let package = Package::new("Tale", &[("Rows.uc", text)]);
    let host = builder().build().expect("a host");
    let modules = [package.folder.clone(), support::plugin("wildcards", &[])];
    host.create_master(&modules).unwrap_or_else(|error| panic!("{error}"));
    let rows = spawn(&host, "/Script/Tale.Rows");
    for (cells, expected) in [("(Cells=(1, 2))", "1 2 9"), ("(Cells=(1, 2, 3, 4))", "1 2 3")] {
        let assigned = call(&host, rows, "Assigned", &[Value::Text(cells.into())]);
        assert_eq!(assigned, Some(Value::Text(expected.into())), "{cells}");
    }
    host.objects().set(rows, "Own", &Value::Array(vec![Value::I32(4)])).expect("an array of any length");
    assert_eq!(call(&host, rows, "Written", &[]), Some(Value::Text("4 0 0".into())));
    let own = [Value::Object(rows), Value::Array([5, 6, 7, 8].map(Value::I32).to_vec())];
    host.calls().call("up:/Script/Tale.Rows:Own", &own).expect("an array of any length");
    assert_eq!(host.objects().get(rows, "Own").ok(), Some(Value::Array([5, 6, 7].map(Value::I32).to_vec())));
}
