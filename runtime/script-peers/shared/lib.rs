//! The robot of the benchmarks: a class with the functions that are measured, as bytecode that the code generator would make of
//! the text in the comments.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use alcedo_abi::kinds::{PropertyKind, function_flags};
use alcedo_base::border::CallError;
use alcedo_base::handles::{Name, ObjectHandle};
use alcedo_reflect::World;
use alcedo_reflect::class::Class;
use alcedo_reflect::decl::{Batch, ClassDecl, FunctionDecl, PropertyDecl, StructDecl};
use alcedo_reflect::function::Function;
use alcedo_reflect::origin::Origin;
use alcedo_reflect::thunk::{ParamBlock, Thunk};
use alcedo_reflect::value::Value;
use alcedo_script::code::{Argument, CallSite, FunctionCode, Ins, Place, Reg, Register, Root, Target};
use alcedo_script::{Compiled, Limits, Machine, library};
use alcedo_uc::hir::{Const, Num, Op, Operand};

/// How often loops go round.
pub const ROUNDS: i32 = 1_000_000;
/// Which number of Fibonacci.
pub const FIB: i32 = 27;
/// How many structs there is an average of.
pub const ROWS: usize = 100_000;

alcedo_reflect::plain_struct! {
    /// What there is an average of.
    pub struct Row in "/Script/Game.Row" {
        /// A float.
        pub weight: f32,
        /// A whole number.
        pub value: i32,
        /// Another one.
        pub size: f64,
    }
}

/// The rows of which an average is taken.
pub fn rows() -> Vec<Row> {
    (0..ROWS).map(|at| Row { weight: at as f32 * 0.5, value: at as i32 % 1_000, size: at as f64 }).collect()
}

/// A world with a robot and its functions.
pub struct Stage {
    world: World,
    class: Rc<Class>,
    robot: ObjectHandle,
    _compiled: Compiled,
    _machine: Rc<Machine>,
}

const I32: PropertyKind = PropertyKind::I32;
const ROBOT: &str = "/Script/Game.Robot";

struct Made {
    name: &'static str,
    code: FunctionCode,
    params: Vec<PropertyDecl>,
}

impl Made {
    fn new(name: &'static str, params: &[&str], result: Option<PropertyKind>) -> Self {
        let mut params: Vec<_> = params.iter().map(|name| PropertyDecl::new(name, I32)).collect();
        let code = FunctionCode {
            path: format!("{ROBOT}:{name}"),
            file: "Robot.uc".to_owned(),
            params: params.len() as u16,
            result: result.map(|_| params.len() as Reg),
            ..FunctionCode::default()
        };
        let mut made = Self { name, code, params: Vec::new() };
        params.extend(result.map(PropertyDecl::result));
        params.iter().for_each(|param| {
            made.register(param.kind);
        });
        Self { params, ..made }
    }

    fn register(&mut self, kind: PropertyKind) -> Reg {
        self.push(Register::Value { name: String::new(), ty: alcedo_reflect::type_text::TypeText::Plain(kind) })
    }

    fn constant(&mut self, kind: PropertyKind, value: Const) -> Reg {
        self.push(Register::Const { ty: alcedo_reflect::type_text::TypeText::Plain(kind), value })
    }

    fn push(&mut self, register: Register) -> Reg {
        self.code.registers.push(register);
        self.code.registers.len() as Reg - 1
    }

    fn code(mut self, code: Vec<Ins>) -> Self {
        self.code.lines = vec![1; code.len()];
        self.code.code = code;
        self
    }
}

fn binary(op: Op, to: Reg, left: Reg, right: Reg) -> Ins {
    Ins::Binary { op, on: Operand::Num(Num::I32), to, left, right }
}

fn less(left: Reg, right: Reg, to: u32) -> Ins {
    Ins::JumpCompare { op: Op::Lt, num: Num::I32, left, right, is: true, to }
}

/// `function int loop(int n) { local int i, s; for (i = 0; i < n; i++) s = (s * 31 + i) % 65536; return s; }`
fn looping() -> Made {
    let mut made = Made::new("loop", &["n"], Some(I32));
    let (i, s, t) = (made.register(I32), made.register(I32), made.register(I32));
    let [zero, one, by, of] = [0, 1, 31, 65_536].map(|it| made.constant(I32, Const::Int(it)));
    made.code(vec![
        Ins::Copy { to: i, from: zero },
        Ins::Jump { to: 6 },
        binary(Op::Mul, t, s, by),
        binary(Op::Add, t, t, i),
        binary(Op::Rem, s, t, of),
        binary(Op::Add, i, i, one),
        less(i, 0, 2),
        Ins::Copy { to: 1, from: s },
        Ins::Return,
    ])
}

/// `final function int fib(int n) { if (n < 2) return n; return fib(n - 1) + fib(n - 2); }`
fn fib() -> Made {
    let mut made = Made::new("fib", &["n"], Some(I32));
    let (a, b, c, d) = (made.register(I32), made.register(I32), made.register(I32), made.register(I32));
    let [one, two] = [1, 2].map(|it| made.constant(I32, Const::Int(it)));
    let callee = Target::Final(None, format!("{ROBOT}:fib").into());
    let call = |arg, to| CallSite { callee: callee.clone(), args: vec![Argument::In(arg)], to: Some(to) };
    made.code.calls = vec![call(a, b), call(c, d)];
    made.code(vec![
        Ins::JumpCompare { op: Op::Lt, num: Num::I32, left: 0, right: two, is: false, to: 3 },
        Ins::Copy { to: 1, from: 0 },
        Ins::Return,
        binary(Op::Sub, a, 0, one),
        Ins::Call { site: 0 },
        binary(Op::Sub, c, 0, two),
        Ins::Call { site: 1 },
        binary(Op::Add, 1, b, d),
        Ins::Return,
    ])
}

/// `function property(int n) { local int i; for (i = 0; i < n; i++) energy = energy + 1; }`
fn property() -> Made {
    let mut made = Made::new("property", &["n"], None);
    let (i, t) = (made.register(I32), made.register(I32));
    let one = made.constant(I32, Const::Int(1));
    made.code.places = vec![Place { root: Root::OfSelf(ROBOT.into(), "energy".to_owned()), steps: Vec::new() }];
    made.code(vec![
        Ins::Jump { to: 5 },
        Ins::Load { to: t, place: 0 },
        binary(Op::Add, t, t, one),
        Ins::Store { place: 0, from: t },
        binary(Op::Add, i, i, one),
        less(i, 0, 1),
        Ins::Return,
    ])
}

/// `function int native_call(int n) { local int i, s; for (i = 0; i < n; i++) s = add(s, i); return s; }`
fn native_call() -> Made {
    let mut made = Made::new("native_call", &["n"], Some(I32));
    let (i, s) = (made.register(I32), made.register(I32));
    let one = made.constant(I32, Const::Int(1));
    let callee = Target::Static(None, format!("{ROBOT}:add").into());
    made.code.calls = vec![CallSite { callee, args: vec![Argument::In(s), Argument::In(i)], to: Some(s) }];
    made.code(vec![
        Ins::Jump { to: 3 },
        Ins::Call { site: 0 },
        binary(Op::Add, i, i, one),
        less(i, 0, 1),
        Ins::Copy { to: 1, from: s },
        Ins::Return,
    ])
}

/// `function float average(name property) { return array_numeric_property_average(rows, property); }`
fn average() -> Made {
    let mut made = Made::new("average", &[], Some(PropertyKind::F32));
    made.params.insert(0, PropertyDecl::new("property", PropertyKind::NAME));
    made.code.params = 1;
    made.code.result = Some(1);
    made.code.registers.clear();
    made.register(PropertyKind::NAME);
    made.register(PropertyKind::F32);
    made.code.places = vec![Place { root: Root::OfSelf(ROBOT.into(), "rows".to_owned()), steps: Vec::new() }];
    let callee = Target::Static(None, "/Script/Script.ArrayLibrary:array_numeric_property_average".into());
    made.code.calls = vec![CallSite { callee, args: vec![Argument::Place(0), Argument::In(0)], to: Some(1) }];
    made.code(vec![Ins::Call { site: 0 }, Ins::Return])
}

/// The native function that is called.
fn add() -> FunctionDecl {
    let mut decl = FunctionDecl::new(
        "add",
        Rc::new(|_context, frame| {
            let (a, b) = (frame.take::<i32>()?, frame.take::<i32>()?);
            frame.finish()?;
            frame.give_result(a.wrapping_add(b))
        }),
    );
    decl.flags = function_flags::STATIC | function_flags::CALLABLE;
    decl.params = vec![PropertyDecl::new("a", I32), PropertyDecl::new("b", I32), PropertyDecl::result(I32)];
    decl
}

impl Default for Stage {
    fn default() -> Self {
        Self::new()
    }
}

impl Stage {
    /// A world with one robot.
    pub fn new() -> Self {
        let world = World::new();
        ["Engine", "Game", library::PACKAGE].iter().for_each(|package| world.types.declare_package(package));
        let root = ClassDecl::new("Engine", "Object", "", Origin::Native);
        let declare = |batch: Batch| world.types.declare(&world.names, &batch).expect("a right declaration");
        declare(Batch { classes: vec![root], ..Batch::default() });
        declare(library::batch("/Script/Engine.Object"));
        let mut class = ClassDecl::new("Game", "Robot", "/Script/Engine.Object", Origin::Native);
        class.properties = vec![
            PropertyDecl::new("energy", I32),
            PropertyDecl::new("rows", PropertyKind::ARRAY).of_type("/Script/Game.Row"),
        ];
        let mut cells = BTreeMap::new();
        let mut codes = Vec::new();
        class.functions.push(add());
        for made in [looping(), fib(), property(), native_call(), average()] {
            let cell: Rc<RefCell<Option<Thunk>>> = Rc::default();
            cells.insert(made.code.path.clone(), Rc::clone(&cell));
            let thunk: Thunk = Rc::new(move |context, frame| {
                let thunk = cell.borrow().clone();
                thunk.ok_or_else(|| CallError::other("no body"))?(context, frame)
            });
            class.functions.push(FunctionDecl { params: made.params, ..FunctionDecl::new(made.name, thunk) });
            codes.push(made.code);
        }
        let rows = StructDecl::plain::<Row>().expect("a right path");
        let declared = declare(Batch { structs: vec![rows], classes: vec![class], ..Batch::default() });
        let machine = Machine::new(Limits { rounds: u64::MAX, ..Limits::default() });
        let compiled = machine.load(&world, &codes).expect("right bytecode");
        for (path, cell) in &cells {
            *cell.borrow_mut() = compiled.thunk(path);
        }
        let class = Rc::clone(&declared.classes[0]);
        let robot = world.objects.allocate(&class, None, ObjectHandle::NONE, 0);
        world.set(robot, "rows", self::rows()).expect("rows");
        Self { world, class, robot, _compiled: compiled, _machine: machine }
    }

    fn function(&self, name: &str) -> &Rc<Function> {
        self.class.find_function(name).expect("it is declared")
    }

    /// Calls a function of the robot.
    pub fn call(&self, name: &str, arg: i32) -> Option<Value> {
        let function = self.function(name);
        let mut block = ParamBlock::new(function);
        block.put(0, arg).expect("a whole number");
        function.invoke(&self.world, self.robot, &mut block).expect("it runs");
        block.result()
    }

    /// The average of a field of all rows.
    pub fn average(&self, property: Name) -> f32 {
        let function = self.function("average");
        let mut block = ParamBlock::new(function);
        block.put(0, property).expect("a name");
        function.invoke(&self.world, self.robot, &mut block).expect("it runs");
        block.result_as().expect("a float")
    }

    /// A name.
    pub fn name(&self, text: &str) -> Name {
        self.world.names.intern(text)
    }
}
