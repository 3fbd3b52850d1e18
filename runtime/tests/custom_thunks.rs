//! Tests functions of a host and of a plugin that have custom thunks. Hosts and tools call these functions with values. Only scripts can
//! pass arguments for wildcard parameters, so a call that passes values for such parameters returns a typed error. `scripts_thunks.rs`
//! calls these functions from scripts.

use std::cell::RefCell;

use crate::support;

use alcedo_runtime::native::uclass;
use alcedo_runtime::thunk::{AnyArray, AnyStruct, ArrayWildcard, array_ref};
use alcedo_runtime::{CallError, Error, Frame, Runtime, Value, World, natives};

thread_local! {
    /// Closure that host functions run during a call.
    static INSIDE: RefCell<Option<Box<dyn Fn() -> String>>> = const { RefCell::new(None) };
}

/// Runs `test`. Functions of `Sums` run `code` when `test` calls them.
pub(crate) fn with_action_inside<R>(code: impl Fn() -> String + 'static, test: impl FnOnce() -> R) -> R {
    INSIDE.set(Some(Box::new(code)));
    let done = test();
    INSIDE.set(None);
    done
}

fn run_inside() -> String {
    INSIDE.with_borrow(|code| code.as_ref().map_or_else(String::new, |code| code()))
}

/// Functions of the host for scripts.
#[uclass(package = "Test", blueprint_type)]
#[derive(Default)]
pub(crate) struct Sums {}

#[uclass]
impl Sums {
    /// Returns the number of fields of the struct.
    #[ufunction(blueprint_pure, custom_thunk = Self::exec_fields, custom_struct_param = "value")]
    fn fields(value: alcedo_engine::Vector) -> i32;

    fn exec_fields(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
        let value = frame.step_compiled_in::<AnyStruct>()?;
        frame.finish()?;
        let alcedo_runtime::thunk::PropertyType::Struct(of) = frame.value(value).ty() else {
            return Err(CallError::other("no struct"));
        };
        let count = of.fields().len() as i32;
        frame.set_result(count)
    }

    /// Returns the number of elements of the array.
    #[ufunction(blueprint_pure, custom_thunk = Self::exec_length, array_parm = "target")]
    fn length(target: ArrayWildcard) -> i32;

    fn exec_length(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
        let target = frame.step_compiled_in::<AnyArray>()?;
        frame.finish()?;
        let count = array_ref(frame.value(target)).map_or(0, |rows| rows.len());
        frame.set_result(count as i32)
    }

    /// Returns the sum of two numbers. No parameter is a wildcard.
    #[ufunction(blueprint_callable, custom_thunk = Self::exec_sum)]
    fn sum(one: i32, two: i32) -> i32;

    fn exec_sum(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
        let (one, two) = (frame.take::<i32>()?, frame.take::<i32>()?);
        frame.finish()?;
        frame.set_result(one + two)
    }

    /// Runs the closure that the test has set.
    #[ufunction(blueprint_callable)]
    fn run_code() -> String {
        run_inside()
    }

    /// Runs the closure of the test, and reads an array before and after.
    #[ufunction(blueprint_callable, custom_thunk = Self::exec_describe, array_parm = "target")]
    fn describe(target: ArrayWildcard) -> String;

    fn exec_describe(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
        let target = frame.step_compiled_in::<AnyArray>()?;
        frame.finish()?;
        let rows = array_ref(frame.value(target)).expect("an array");
        let first = rows.get(0).expect("it has one");
        let (before, output) = (first.read(), run_inside());
        let after = (first.read(), rows.len());
        frame.set_result(format!("{before:?} {after:?} {output}"))
    }

    /// Copies the argument, and then runs the closure of the test.
    #[ufunction(blueprint_callable, custom_thunk = Self::exec_copy_around, array_parm = "target")]
    fn copy_around(target: ArrayWildcard) -> String;

    fn exec_copy_around(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
        let copy = frame.take_value()?;
        assert!(frame.most_recent_property().is_some() && frame.most_recent_value().is_none());
        frame.finish()?;
        let output = run_inside();
        frame.set_result(format!("{copy:?} {output}"))
    }

    /// Returns without setting the result.
    #[ufunction(blueprint_callable, custom_thunk = Self::exec_hasty)]
    fn hasty(one: i32) -> i32;

    fn exec_hasty(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
        frame.take::<i32>()?;
        frame.finish()
    }
}

fn host() -> Runtime {
    let host = support::builder().package("Test").natives(natives![Sums]).build().expect("a host");
    host.create_master(&[support::plugin("wildcards", &[])]).unwrap_or_else(|error| panic!("{error}"));
    host
}

fn call(host: &Runtime, function: &str, arguments: &[Value]) -> Result<Option<Value>, Error> {
    host.calls().call(&format!("uf:/Script/{function}"), arguments)
}

fn error(host: &Runtime, function: &str, arguments: &[Value]) -> String {
    call(host, function, arguments).expect_err("it is refused").to_string()
}

#[test]
fn a_custom_thunk_without_wildcards_is_called_with_values() {
    let host = host();
    let sum = call(&host, "Test.Sums:sum", &[Value::I32(3), Value::I32(4)]);
    assert_eq!(sum.expect("it is called"), Some(Value::I32(7)));
    let doubled = call(&host, "Game.Wildcards:double", &[Value::I32(21)]);
    assert_eq!(doubled.expect("it is called"), Some(Value::Bool(true)));
    let object = host.objects().spawn("/Script/Game.Wildcards").expect("it is declared");
    assert_eq!(host.console(&format!("call {object} double 21")), "true\n42", "the result and the out parameter");
}

#[test]
fn calling_a_wildcard_function_with_values_is_a_typed_error() {
    let host = host();
    for (function, arguments) in [
        ("Test.Sums:length", vec![Value::Array(vec![Value::I32(1)])]),
        ("Game.Wildcards:average", vec![Value::Array(vec![Value::I32(1)]), Value::Name(alcedo_runtime::Name(0))]),
    ] {
        let message = error(&host, function, &arguments);
        assert!(message.contains("a wildcard, whose type the call in a script decides"), "{message}");
    }
}

#[test]
fn a_thunk_breaking_its_contract_is_an_error_and_later_calls_work() {
    let host = host();
    for function in ["Test.Sums:hasty", "Game.Wildcards:hasty", "Game.Wildcards:garbled"] {
        let message = error(&host, function, &[Value::I32(1)]);
        assert!(message.contains("returned before its call was done"), "{message}");
    }
    let message = error(&host, "Game.Wildcards:greedy", &[Value::I32(1)]);
    assert!(message.contains("takes one parameter too many (declared: 1)"), "{message}");
    let sum = call(&host, "Test.Sums:sum", &[Value::I32(1), Value::I32(1)]);
    assert_eq!(sum.expect("it is called"), Some(Value::I32(2)));
}

#[test]
fn metadata_marks_parameters_that_take_any_type() {
    let host = host();
    let types = host.types();
    for (path, key, names) in [
        ("/Script/Test.Sums:fields", "custom_struct_param", "value"),
        ("/Script/Test.Sums:length", "array_parm", "target"),
        ("/Script/Game.Wildcards:average", "array_parm", "target"),
        ("/Script/Game.Wildcards:describe", "custom_struct_param", "value"),
    ] {
        assert_eq!(types.member_meta(path, key).as_deref(), Some(names), "{path}");
        let flags = types.member_flags(path).expect("it is there");
        assert_ne!(flags & alcedo_runtime::kinds::function_flags::CUSTOM_THUNK, 0, "{path}");
    }
    let declared = host.types().declared_by("wildcards").expect("it is loaded");
    let average = declared.classes[0].functions.iter().find(|found| found.name == "average").expect("declared");
    assert!(average.flags.iter().any(|flag| flag == "custom_thunk"), "{average:?}");
}
