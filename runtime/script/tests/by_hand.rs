//! Tests hand-written bytecode, which covers cases that the compiler never emits.

use alcedo_abi::kinds::PropertyKind;
use alcedo_base::boundary::CallError;
use alcedo_base::handles::ObjectHandle;
use alcedo_reflect::decl::{FunctionDecl, PropertyDecl};
use alcedo_reflect::testing::native_thunk;
use alcedo_reflect::value::Value;
use alcedo_script::Limits;
use alcedo_script::code::{Argument, CallSite, Ins, Place, Root, Target};
use alcedo_uc::hir::{Const, Num, Op, Operand};

use crate::support::{TestFunction, path, stage, test_function, try_stage};

const I32: PropertyKind = PropertyKind::I32;

fn binary(op: Op, to: u16, left: u16, right: u16) -> Ins {
    Ins::Binary { op, on: Operand::Num(Num::I32), to, left, right }
}

/// `fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)`.
fn fib() -> TestFunction {
    let mut fib = test_function("fib", &[I32], Some(I32));
    let (a, b) = (fib.register(I32), fib.register(I32));
    let (one, two) = (fib.constant(I32, Const::Int(1)), fib.constant(I32, Const::Int(2)));
    let call = |arg, to| CallSite {
        callee: Target::Static(None, path("fib").into()),
        args: vec![Argument::In(arg)],
        to: Some(to),
    };
    fib.code.calls = vec![call(a, a), call(b, b)];
    fib.code([
        Ins::JumpCompare { op: Op::Lt, num: Num::I32, left: 0, right: two, is: false, to: 3 },
        Ins::Copy { to: 1, from: 0 },
        Ins::Return,
        binary(Op::Sub, a, 0, one),
        Ins::Call { site: 0 },
        binary(Op::Sub, b, 0, two),
        Ins::Call { site: 1 },
        binary(Op::Add, 1, a, b),
        Ins::Return,
    ])
}

/// Recurses without end. The argument increases with each call.
fn deeper() -> TestFunction {
    let mut deeper = test_function("deeper", &[I32], None);
    let next = deeper.register(I32);
    let one = deeper.constant(I32, Const::Int(1));
    deeper.code.calls = vec![CallSite {
        callee: Target::Static(None, path("deeper").into()),
        args: vec![Argument::In(next)],
        to: None,
    }];
    deeper.code([binary(Op::Add, next, 0, one), Ins::Call { site: 0 }])
}

#[test]
fn a_function_calls_itself() {
    let stage = stage(vec![fib()]);
    assert_eq!(stage.run("fib", &[Value::I32(15)]), Ok(Some(Value::I32(610))));
}

#[test]
fn too_deep_recursion_is_an_error_with_a_call_stack() {
    let limits = Limits { depth: 5, ..Limits::default() };
    let stage = try_stage(vec![deeper(), fib()], Vec::new(), limits).unwrap();
    let error = stage.run("deeper", &[Value::I32(0)]).unwrap_err();
    let lines: Vec<_> = error.lines().collect();
    assert!(lines[0].contains("calls itself through other functions, 5 deep"), "{error}");
    assert_eq!(lines[1..], ["    in /Script/Game.Robot:deeper at Robot.uc:2"; 5]);
    // The machine is still usable.
    assert_eq!(stage.run("fib", &[Value::I32(4)]), Ok(Some(Value::I32(3))));
}

#[test]
fn frames_that_take_too_much_memory_are_an_error() {
    let limits = Limits { depth: 1_000_000, memory: 1 << 16, ..Limits::default() };
    let stage = try_stage(vec![deeper()], Vec::new(), limits).unwrap();
    assert!(stage.run("deeper", &[Value::I32(0)]).unwrap_err().contains("deep"));
}

#[test]
fn a_loop_that_never_ends_is_an_error() {
    let limits = Limits { rounds: 1_000, ..Limits::default() };
    let endless = test_function("endless", &[], None).code([Ins::Nop, Ins::Jump { to: 0 }]);
    let stage = try_stage(vec![endless], Vec::new(), limits).unwrap();
    let error = stage.run("endless", &[]).unwrap_err();
    assert!(error.contains("1000 loop rounds") && error.ends_with("endless at Robot.uc:2"), "{error}");
}

#[test]
fn a_conditional_jump_back_counts_as_a_round() {
    let limits = Limits { rounds: 1_000, ..Limits::default() };
    let mut endless = test_function("endless", &[], None);
    let zero = endless.register(I32);
    let one = endless.constant(I32, Const::Int(1));
    let jump = Ins::JumpCompare { op: Op::Lt, num: Num::I32, left: zero, right: one, is: true, to: 0 };
    let stage = try_stage(vec![endless.code([Ins::Nop, jump])], Vec::new(), limits).unwrap();
    assert!(stage.run("endless", &[]).unwrap_err().contains("1000 loop rounds"));
}

/// Functions of a robot that access the property `energy`: `store(a)` and `load`.
fn store_and_load() -> Vec<TestFunction> {
    let place = || Place { root: Root::OfSelf("/Script/Game.Robot".into(), "energy".to_owned()), steps: Vec::new() };
    let mut store = test_function("store", &[I32], None).method();
    store.code.places = vec![place()];
    let mut load = test_function("load", &[], Some(I32)).method();
    load.code.places = vec![place()];
    vec![
        store.code([Ins::Store { place: 0, from: 0 }, Ins::Return]),
        load.code([Ins::Load { to: 0, place: 0 }, Ins::Return]),
    ]
}

#[test]
fn properties_of_the_object_itself_are_read_and_written() {
    let stage = stage(store_and_load());
    let robot = stage.robot();
    stage.call(robot, "store", &[Value::I32(7)]).unwrap();
    assert_eq!(stage.world.get::<i32>(robot, "energy"), Ok(7));
    assert_eq!(stage.call(robot, "load", &[]), Ok(Some(Value::I32(7))));
    let other = stage.world.objects.allocate(
        &stage.world.types.class_by_path("/Script/Engine.Object").unwrap(),
        None,
        ObjectHandle::NONE,
        0,
    );
    // The machine rejects a call on an object of another class before the code runs.
    assert!(matches!(stage.call(other, "load", &[]), Err(CallError::WrongClass { .. })));
    stage.world.objects.release(robot);
    assert!(matches!(stage.call(robot, "load", &[]), Err(CallError::Stale { .. })));
}

/// A native function `twice(i32) -> i32`.
fn twice() -> FunctionDecl {
    let thunk = native_thunk(|_, frame| {
        let value = frame.take::<i32>()?;
        frame.finish()?;
        if value < 0 {
            return Err(CallError::returned("less than nothing"));
        }
        frame.set_result(value * 2)
    });
    let mut decl = FunctionDecl::new("twice", thunk);
    decl.flags = alcedo_abi::kinds::function_flags::STATIC | alcedo_abi::kinds::function_flags::CALLABLE;
    decl.params = vec![PropertyDecl::new("value", I32), PropertyDecl::result(I32)];
    decl
}

fn calls_twice() -> TestFunction {
    let mut outer = test_function("outer", &[I32], Some(I32));
    outer.code.calls =
        vec![CallSite { callee: Target::Static(None, path("twice").into()), args: vec![Argument::In(0)], to: Some(1) }];
    outer.code([Ins::Call { site: 0 }, Ins::Return])
}

#[test]
fn errors_of_native_code_get_the_calling_stack_of_the_script() {
    let stage = try_stage(vec![calls_twice()], vec![twice()], Limits::default()).unwrap();
    assert_eq!(stage.run("outer", &[Value::I32(4)]), Ok(Some(Value::I32(8))));
    let error = stage.run("outer", &[Value::I32(-1)]).unwrap_err();
    assert!(
        error.contains("less than nothing") && error.ends_with("in /Script/Game.Robot:outer at Robot.uc:1"),
        "{error}"
    );
}

#[test]
fn calling_code_of_an_unloaded_package_is_an_error() {
    let mut stage = stage(vec![fib()]);
    drop(stage.compiled.take());
    assert!(stage.run("fib", &[Value::I32(3)]).unwrap_err().contains("not available"));
}

#[test]
fn bytecode_that_does_not_fit_is_refused_with_the_instruction() {
    type Make = fn(&mut TestFunction) -> Vec<Ins>;
    let cases: Vec<(&str, Make)> = vec![
        ("register 9, of 2", |_| vec![Ins::Copy { to: 1, from: 9 }]),
        ("a jump to instruction 7, of 1", |_| vec![Ins::Jump { to: 7 }]),
        ("is a Name, where a int is expected", |function| {
            let name = function.register(PropertyKind::NAME);
            vec![binary(Op::Add, 1, 0, name)]
        }),
        ("register 2 is a constant", |function| {
            let one = function.constant(I32, Const::Int(1));
            vec![Ins::Copy { to: one, from: 0 }]
        }),
        ("place 0 does not exist", |_| vec![Ins::Load { to: 1, place: 0 }]),
        ("the object itself in a static function", |function| {
            let object = function.typed("Object(/Script/Game.Robot)".parse().unwrap());
            vec![Ins::SelfObject { to: object }]
        }),
        ("is called with 0 arguments, of 1", |function| {
            let callee = Target::Static(None, path("f").into());
            function.code.calls.push(CallSite { callee, args: Vec::new(), to: None });
            vec![Ins::Call { site: 0 }]
        }),
        ("its variables take more than 65519 bytes", |function| {
            for _ in 0..65_519 / 4 {
                let _register = function.register(I32);
            }
            vec![Ins::Return]
        }),
    ];
    for (problem, make) in cases {
        let mut function = test_function("f", &[I32], Some(I32));
        let code = make(&mut function);
        let Err(errors) = try_stage(vec![function.code(code)], Vec::new(), Limits::default()) else {
            panic!("`{problem}` was let through");
        };
        assert!(errors[0].to_string().contains(problem), "{} has not `{problem}`", errors[0]);
    }
}
