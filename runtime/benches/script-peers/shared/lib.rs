//! Loads `robot.uc`, the script of the benchmarks, with the steps of a host that loads script packages: check, compile, declare, load.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use alcedo_abi::kinds::{PropertyKind, function_flags, property_flags};
use alcedo_base::boundary::CallError;
use alcedo_base::handles::{Name, ObjectHandle};
use alcedo_reflect::World;
use alcedo_reflect::class::Class;
use alcedo_reflect::decl::{Batch, ClassDecl, FunctionDecl, PropertyDecl, RESULT_NAME, StructDecl};
use alcedo_reflect::function::Function;
use alcedo_reflect::origin::Origin;
use alcedo_reflect::thunk::{ParamBlock, Thunk};
use alcedo_reflect::value::Value;
use alcedo_script::{Compiled, Limits, Machine, compile, library};
use alcedo_uc::hir::{self, Type};
use alcedo_uc::{Options, Source, check};

/// Number of rounds of each loop in the script.
pub const ROUNDS: i32 = 1_000_000;
/// Argument of the Fibonacci function.
pub const FIB: i32 = 27;
/// Number of structs in the array that `average` reads.
pub const ROWS: usize = 100_000;

/// Number of vectors that the benchmark adds.
pub const VECTORS: i32 = 100_000;

const TEXT: &str = include_str!("robot.uc");

alcedo_reflect::plain_struct! {
    /// Element of the array that `average` reads.
    pub struct Row in "/Script/Game.Row" {
        /// A float.
        pub weight: f32,
        /// A whole number.
        pub value: i32,
        /// A double.
        pub size: f64,
    }
}

/// Returns the array that `average` reads.
pub fn rows() -> Vec<Row> {
    (0..ROWS).map(|at| Row { weight: at as f32 * 0.5, value: at as i32 % 1_000, size: at as f64 }).collect()
}

/// A world with one robot, and the compiled script.
pub struct Stage {
    world: World,
    class: Rc<Class>,
    robot: ObjectHandle,
    _compiled: Compiled,
    _machine: Rc<Machine>,
}

/// Cell that stores the thunk of a function after the code of the function is loaded.
type Cell = Rc<RefCell<Option<Thunk>>>;

/// Returns the declaration of the native function that the script calls.
fn add() -> FunctionDecl {
    let mut decl = FunctionDecl::new(
        "add",
        Rc::new(|_context, frame| {
            let (a, b) = (frame.take::<i32>()?, frame.take::<i32>()?);
            frame.finish()?;
            frame.set_result(a.wrapping_add(b))
        }),
    );
    let number = |name| PropertyDecl::new(name, PropertyKind::I32);
    decl.flags = function_flags::STATIC | function_flags::CALLABLE;
    decl.params = vec![number("a"), number("b"), PropertyDecl::result(PropertyKind::I32)];
    decl
}

fn property(name: &str, ty: &Type) -> PropertyDecl {
    let text = ty.type_text().expect("a type that has a place");
    PropertyDecl::new(name, text.kind()).of_type(&text.path())
}

/// Returns the declaration of the script class `of`. Adds one cell for each function of the class to `cells`.
fn declaration(package: &str, of: &hir::Class, cells: &mut BTreeMap<String, Cell>) -> ClassDecl {
    let mut class = ClassDecl::new(package, &of.name, &of.base, Origin::Script);
    class.properties = of.properties.iter().map(|found| property(&found.name, &found.ty)).collect();
    for function in &of.functions {
        let cell: Cell = Rc::default();
        cells.insert(format!("{}:{}", of.path, function.name), Rc::clone(&cell));
        let thunk: Thunk = Rc::new(move |context, frame| {
            let thunk = cell.borrow().clone();
            thunk.ok_or_else(|| CallError::other("no body"))?(context, frame)
        });
        let mut decl = FunctionDecl::new(&function.name, thunk);
        let result = function.result.as_ref();
        let result = result.map(|ty| property(RESULT_NAME, ty).with_flags(property_flags::RETURN));
        decl.params = function.params.iter().map(|param| property(&param.name, &param.ty)).chain(result).collect();
        decl.flags = function_flags::CALLABLE;
        if !function.flags.is_final {
            decl.flags |= function_flags::NATIVE_EVENT;
        }
        class.functions.push(decl);
    }
    class
}

impl Default for Stage {
    fn default() -> Self {
        Self::new()
    }
}

impl Stage {
    /// Creates a world with one robot.
    pub fn new() -> Self {
        let world = World::new();
        ["Engine", "Game", library::PACKAGE].iter().for_each(|package| world.types.declare_package(package));
        let declare = |batch: Batch| world.types.declare(&world.names, &batch).expect("a right declaration");
        let root = ClassDecl::new("Engine", "Object", "", Origin::Native);
        declare(Batch { classes: vec![root], ..Batch::default() });
        declare(library::batch("/Script/Engine.Object"));
        let mut machine = ClassDecl::new("Engine", "Machine", "/Script/Engine.Object", Origin::Native);
        machine.functions.push(add());
        let axis = |name| PropertyDecl::new(name, PropertyKind::F32);
        let vector = StructDecl {
            fields: ["x", "y", "z"].map(axis).into(),
            ..StructDecl::new("Engine", "Vector", Origin::Native)
        };
        let row = StructDecl::plain::<Row>().expect("a right path");
        declare(Batch { structs: vec![vector, row], classes: vec![machine], ..Batch::default() });

        let sources = [Source::decode("Robot.uc", TEXT.as_bytes())];
        let options =
            Options { libraries: library::PATHS.map(str::to_owned).into(), ignore_flags: true, ..Options::default() };
        let mut checked = check("Game", &sources, &world.types, &options).unwrap_or_else(|messages| {
            let messages: Vec<_> = messages.iter().map(|message| message.render(&sources)).collect();
            panic!("{}", messages.join("\n"))
        });
        let code = compile(&mut checked.package).expect("it is small");
        let mut cells = BTreeMap::new();
        let classes = checked.package.classes.iter().map(|of| declaration("Game", of, &mut cells)).collect();
        let declared = declare(Batch { classes, ..Batch::default() });
        let machine = Machine::new(Limits { rounds: u64::MAX, ..Limits::default() });
        let compiled = machine.load(&world, code).expect("right bytecode");
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

    /// Returns the average of one field over all structs.
    pub fn average(&self, property: Name) -> f32 {
        let function = self.function("average");
        let mut block = ParamBlock::new(function);
        block.put(0, property).expect("a name");
        function.invoke(&self.world, self.robot, &mut block).expect("it runs");
        block.result_as().expect("a float")
    }

    /// Interns a name.
    pub fn name(&self, text: &str) -> Name {
        self.world.names.intern(text)
    }
}
