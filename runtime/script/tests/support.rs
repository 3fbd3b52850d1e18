//! Provides small worlds for tests of scripts.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use alcedo_abi::kinds::{PropertyKind, function_flags};
use alcedo_base::boundary::CallError;
use alcedo_base::handles::ObjectHandle;
use alcedo_reflect::World;
use alcedo_reflect::decl::{Batch, ClassDecl, FunctionDecl, PropertyDecl};
use alcedo_reflect::origin::Origin;
use alcedo_reflect::testing::world;
use alcedo_reflect::thunk::{ParamBlock, Thunk};
use alcedo_reflect::type_text::TypeText;
use alcedo_reflect::value::Value;
use alcedo_script::code::{FunctionCode, Ins, Reg, Register};
use alcedo_script::{CompileError, Compiled, Limits, Machine};
use alcedo_uc::hir::Const;

/// Thunks that are set after the declaration.
pub(crate) type Cells = BTreeMap<String, Rc<RefCell<Option<Thunk>>>>;

/// World with a machine and one class, `/Script/Game.Robot`. This class has an `i32` property `energy`.
pub(crate) struct Stage {
    pub(crate) world: World,
    pub(crate) machine: Rc<Machine>,
    pub(crate) compiled: Option<Compiled>,
    pub(crate) class: Rc<alcedo_reflect::class::Class>,
    cells: Cells,
}

/// A function to declare, and its body.
pub(crate) struct TestFunction {
    pub(crate) decl: FunctionDecl,
    pub(crate) code: FunctionCode,
}

/// Returns the path of a function of `Robot`.
pub(crate) fn path(name: &str) -> String {
    format!("/Script/Game.Robot:{name}")
}

/// Creates a thunk that runs the thunk in the cell at the time of the call.
pub(crate) fn late(cells: &mut Cells, path: &str) -> Thunk {
    let cell: Rc<RefCell<Option<Thunk>>> = Rc::default();
    cells.insert(path.to_owned(), Rc::clone(&cell));
    let path = path.to_owned();
    Rc::new(move |context, frame| {
        let thunk = cell.borrow().clone();
        thunk.ok_or_else(|| CallError::NotFound { message: format!("{path} has no body") })?(context, frame)
    })
}

/// Creates a static function whose parameters have plain types. Each parameter has a register.
pub(crate) fn test_function(name: &str, params: &[PropertyKind], result: Option<PropertyKind>) -> TestFunction {
    let mut decl = FunctionDecl::new(name, Rc::new(|_, _| Ok(())));
    decl.flags = function_flags::STATIC | function_flags::CALLABLE;
    let names = ["a", "b", "c", "d"];
    decl.params = params.iter().zip(names).map(|(kind, name)| PropertyDecl::new(name, *kind)).collect();
    decl.params.extend(result.map(PropertyDecl::result));
    let mut code = FunctionCode {
        path: path(name),
        file: "Robot.uc".to_owned(),
        params: params.len() as u16,
        result: result.map(|_| params.len() as Reg),
        is_static: true,
        ..FunctionCode::default()
    };
    for kind in params.iter().chain(&result) {
        code.registers.push(Register::Value { name: String::new(), ty: TypeText::Plain(*kind) });
    }
    TestFunction { decl, code }
}

impl TestFunction {
    /// Makes the function a method of `Robot`.
    pub(crate) fn method(mut self) -> Self {
        self.decl.flags &= !function_flags::STATIC;
        self.code.is_static = false;
        self
    }

    /// Adds a register.
    pub(crate) fn register(&mut self, kind: PropertyKind) -> Reg {
        self.typed(TypeText::Plain(kind))
    }

    /// Adds a register of any type.
    pub(crate) fn typed(&mut self, ty: TypeText) -> Reg {
        self.code.registers.push(Register::Value { name: String::new(), ty });
        self.code.registers.len() as Reg - 1
    }

    /// Adds a constant.
    pub(crate) fn constant(&mut self, kind: PropertyKind, value: Const) -> Reg {
        self.code.registers.push(Register::Const { ty: TypeText::Plain(kind), value });
        self.code.registers.len() as Reg - 1
    }

    /// Sets the instructions. Each instruction has its own line.
    pub(crate) fn code(mut self, code: impl IntoIterator<Item = Ins>) -> Self {
        self.code.code = code.into_iter().collect();
        self.code.lines = (1..=self.code.code.len() as u32).collect();
        self
    }
}

/// Creates a world with these functions of `Robot`. Returns the errors if the machine refuses a body.
pub(crate) fn try_stage(
    functions: Vec<TestFunction>,
    natives: Vec<FunctionDecl>,
    limits: Limits,
) -> Result<Stage, Vec<CompileError>> {
    let world = world();
    let machine = Machine::new(limits);
    let mut cells = Cells::new();
    let mut class = ClassDecl::new("Game", "Robot", "/Script/Engine.Object", Origin::Native);
    class.properties.push(PropertyDecl::new("energy", PropertyKind::I32));
    class.properties.push(PropertyDecl::new("other", PropertyKind::OBJECT).of_type("/Script/Game.Robot"));
    class.functions = natives;
    let mut code = Vec::new();
    for TestFunction { decl, code: body } in functions {
        let thunk = late(&mut cells, &body.path);
        class.functions.push(FunctionDecl { thunk, ..decl });
        code.push(body);
    }
    let batch = Batch { classes: vec![class], ..Batch::default() };
    let declared = world.types.declare(&world.names, &batch).expect("a right declaration");
    let compiled = machine.load(&world, &code)?;
    for (path, cell) in &cells {
        *cell.borrow_mut() = compiled.thunk(path);
    }
    let class = Rc::clone(&declared.classes[0]);
    Ok(Stage { world, machine, compiled: Some(compiled), class, cells })
}

/// Creates a world with these functions of `Robot`.
pub(crate) fn stage(functions: Vec<TestFunction>) -> Stage {
    try_stage(functions, Vec::new(), Limits::default()).unwrap_or_else(|errors| panic!("{errors:?}"))
}

impl Stage {
    pub(crate) fn robot(&self) -> ObjectHandle {
        self.world.objects.allocate(&self.class, None, ObjectHandle::NONE, 0)
    }

    /// Calls a function of `Robot`.
    pub(crate) fn call(&self, object: ObjectHandle, name: &str, args: &[Value]) -> Result<Option<Value>, CallError> {
        let function = self.class.find_function(name).unwrap_or_else(|| panic!("no function {name}"));
        let mut block = ParamBlock::new(function);
        for (at, value) in args.iter().enumerate() {
            block.set(at, value)?;
        }
        function.invoke(&self.world, object, &mut block)?;
        assert!(!self.machine.is_running(), "no frame is left");
        Ok(block.result())
    }

    /// Calls a static function. Returns the error as a string.
    pub(crate) fn run(&self, name: &str, args: &[Value]) -> Result<Option<Value>, String> {
        let called = self.call(ObjectHandle::NONE, name, args).map_err(|error| error.to_string());
        assert!(!self.machine.is_running(), "no frame is left");
        called
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Breaks the reference cycle between functions, thunks and cells.
        self.cells.values().for_each(|cell| drop(cell.borrow_mut().take()));
    }
}
