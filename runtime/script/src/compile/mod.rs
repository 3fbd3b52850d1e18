//! Compiler from the checked tree to bytecode. Compiles one function at a time, without access to the world. A mistake in this compiler can
//! cause a rejection but never an invalid memory access, because the loader verifies the bytecode.

mod call;
mod effects;
mod expr;
mod place;
mod statement;

use alcedo_abi::kinds::PropertyKind;
use alcedo_reflect::type_text::TypeText;
use alcedo_uc::hir::{self, Const, Conversion, Expr, Intrinsic, LocalId, Type};
use rustc_hash::FxHashMap;

use crate::code::{At, FunctionCode, Ins, MAX_OMITTED, Place, Reg, Register, Root};
use crate::compiled::CompileError;

/// Compiles all functions of a package that have a body. Declare the types of the package, then pass the result to
/// [`Machine::load`](crate::Machine::load). Moves the bodies out of the package to limit peak memory.
///
/// # Errors
/// Returns an error for each function that exceeds a limit of the bytecode format.
///
/// # Examples
/// ```
/// # use alcedo_reflect::World;
/// # use alcedo_reflect::decl::{Batch, ClassDecl};
/// # use alcedo_reflect::origin::Origin;
/// # let world = World::new();
/// # world.types.declare_package("Engine");
/// # world.types.declare_package("Game");
/// # let classes = vec![ClassDecl::new("Engine", "Object", "", Origin::Native)];
/// # world.types.declare(&world.names, &Batch { classes, ..Batch::default() }).expect("a root");
/// # let source = alcedo_uc::Source::new(
/// #     "Door.uc",
/// #     "class Door extends Object;\nvar int Health;\nfunction Hit(int Damage) { Health = Health - Damage; }\n",
/// # );
/// # let checked = alcedo_uc::check("Game", &[source], &world.types, &alcedo_uc::Options::default());
/// # let mut package = checked.expect("no errors").package;
/// use alcedo_script::compile;
///
/// let code = compile(&mut package).expect("within the limits");
/// assert_eq!(code.len(), 1);
/// ```
pub fn compile(package: &mut hir::Package) -> Result<Vec<FunctionCode>, Vec<CompileError>> {
    let (mut compiler, mut made, mut errors) = (FunctionCompiler::default(), Vec::new(), Vec::new());
    for class in &mut package.classes {
        let file = package.files.get(class.file as usize).map_or("", String::as_str);
        for function in &mut class.functions {
            let Some(body) = function.body.as_mut().map(std::mem::take) else { continue };
            match compiler.make(&class.path, file, function, &body) {
                Ok(code) => made.push(code),
                Err(error) => errors.push(error),
            }
        }
    }
    if errors.is_empty() { Ok(made) } else { Err(errors) }
}

/// Compiles functions one after another, and reuses its buffers for each function.
#[derive(Default)]
pub(super) struct FunctionCompiler {
    code: FunctionCode,
    /// First register after the parameters that holds a local.
    locals: Reg,
    params: Reg,
    kinds: Vec<Kind>,
    /// Temporary registers that the current statement uses, each with the index of its type.
    used: Vec<(usize, Reg)>,
    /// Existing registers of struct fields, by the register of the struct. Each pair has the field name and the register of the field.
    fields: FxHashMap<Reg, Vec<(String, Reg)>>,
    constants: FxHashMap<(usize, Key), Reg>,
    places: FxHashMap<Place, u16>,
    /// `break` jumps of each open loop or `switch`. The compiler sets their targets at the end of the statement.
    breaks: Vec<Vec<At>>,
    /// `continue` jumps of each open loop. The compiler sets their targets at the end of the body.
    continues: Vec<Vec<At>>,
    line: u32,
    problem: Option<(u32, String)>,
}

struct Kind {
    ty: Type,
    text: TypeText,
    /// Temporary registers of this type that are not in use.
    free: Vec<Reg>,
}

/// Key that identifies a constant among the constants of one type. Floats are compared by their bits.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Number(i128),
    Float(u64),
    Text(String),
    Other(String),
}

impl Key {
    /// Returns `None` for structs and arrays, because a comparison of these constants would take too long.
    fn of(value: &Const) -> Option<Self> {
        Some(match value {
            Const::Bool(value) => Self::Number((*value).into()),
            Const::Int(value) | Const::Enum(_, _, value) => Self::Number(*value),
            Const::Float(value) => Self::Float(value.to_bits()),
            Const::Text(text) | Const::Name(text) => Self::Text(text.clone()),
            Const::Struct(_) | Const::Array(_) | Const::Elements(..) => return None,
            other => Self::Other(format!("{other:?}")),
        })
    }
}

impl FunctionCompiler {
    fn make(
        &mut self,
        class: &str,
        file: &str,
        function: &hir::Function,
        body: &[hir::Stmt],
    ) -> Result<FunctionCode, CompileError> {
        self.params = function.params.len() as Reg;
        self.line = function.line;
        self.code.result = None;
        self.kinds.clear();
        self.used.clear();
        self.fields.clear();
        self.constants.clear();
        self.places.clear();
        self.breaks.clear();
        self.continues.clear();
        for param in &function.params {
            self.value(&param.name, &param.ty);
        }
        if let Some(result) = &function.result {
            self.code.result = Some(self.value("result", result));
        }
        self.locals = self.code.registers.len() as Reg;
        for local in &function.locals {
            self.value(&local.name, &local.ty);
        }
        // The numbers of registers below are wrong if a variable has no register.
        if let Some((line, problem)) = self.problem.take() {
            self.code.registers.clear();
            return Err(CompileError::Limit { function: format!("{class}:{}", function.name), line, problem });
        }
        if let Some((result, ty)) = self.code.result.zip(function.result.as_ref()) {
            self.begin_value(result, ty);
        }
        for (at, local) in function.locals.iter().enumerate() {
            self.begin_value(self.locals + at as Reg, &local.ty);
        }
        for (at, param) in function.params.iter().enumerate() {
            if let Some(default) = param.default.as_ref().filter(|_| param.optional) {
                self.line = default.line;
                let jump = self.jump(Ins::JumpIfPassed { param: at as u16, to: 0 });
                self.expr_into(default, at as Reg);
                self.patch_jump(jump);
                self.end_statement();
            } else if at < MAX_OMITTED && matches!(param.ty, Type::Fixed(..)) {
                // Initializes an omitted fixed array with all its elements, because zero bytes would represent an empty array. A call
                // through an interface may omit the argument even if the parameter of this function is not optional.
                let jump = self.jump(Ins::JumpIfPassed { param: at as u16, to: 0 });
                self.begin_value(at as Reg, &param.ty);
                self.patch_jump(jump);
            }
        }
        self.statements(body);
        self.line = function.end_line;
        self.emit(Ins::Return);
        let FunctionCode { result, registers, places, calls, code, lines, .. } = &mut self.code;
        #[expect(
            clippy::drain_collect,
            reason = "copies to exact length: the vectors are reused for the next function"
        )]
        let code = FunctionCode {
            path: format!("{class}:{}", function.name),
            file: file.to_owned(),
            params: self.params,
            result: *result,
            is_static: function.flags.is_static,
            is_singular: function.flags.singular,
            registers: registers.drain(..).collect(),
            places: places.drain(..).collect(),
            calls: calls.drain(..).collect(),
            code: code.drain(..).collect(),
            lines: lines.drain(..).collect(),
        };
        match self.problem.take() {
            None => Ok(code),
            Some((line, problem)) => Err(CompileError::Limit { function: code.path, line, problem }),
        }
    }

    fn value(&mut self, name: &str, ty: &Type) -> Reg {
        let ty = self.type_text(ty);
        self.register(Register::Value { name: name.to_owned(), ty })
    }

    /// Initializes a local. Emits no instruction if its initial value is zero bytes.
    fn begin_value(&mut self, reg: Reg, ty: &Type) {
        match ty {
            Type::Struct(_) => self.emit(Ins::Init { to: reg }),
            Type::Fixed(_, count) => {
                let count = self.constant(Const::Int(i128::from(*count)), &Type::INT);
                let place = self.place_number(&Root::Register(reg).place());
                self.emit(Ins::Intrinsic { what: Intrinsic::ArrayAdd, place, args: vec![count], to: None });
            }
            _ => {}
        }
    }

    fn type_text(&mut self, ty: &Type) -> TypeText {
        ty.type_text().unwrap_or_else(|| {
            self.refuse(format!("a value of type {ty} cannot be stored in a register"));
            TypeText::Plain(PropertyKind::I32)
        })
    }

    fn refuse(&mut self, problem: String) {
        let line = self.line;
        self.problem.get_or_insert((line, problem));
    }

    fn register(&mut self, register: Register) -> Reg {
        let at = self.code.registers.len();
        if at >= usize::from(u16::MAX) {
            self.refuse("it has more variables and steps than registers: make it two functions".to_owned());
            return 0;
        }
        self.code.registers.push(register);
        at as Reg
    }

    fn emit(&mut self, ins: Ins) {
        self.code.code.push(ins);
        self.code.lines.push(self.line);
    }

    /// Emits a jump whose target is set by [`Self::patch_jump`]. Returns its index.
    fn jump(&mut self, ins: Ins) -> At {
        let at = self.here();
        self.emit(ins);
        at
    }

    fn here(&self) -> At {
        self.code.code.len() as At
    }

    fn patch_jump(&mut self, jump: At) {
        let here = self.here();
        self.patch_jump_to(jump, here);
    }

    fn patch_jump_to(&mut self, jump: At, target: At) {
        match &mut self.code.code[jump as usize] {
            Ins::Jump { to } | Ins::JumpIf { to, .. } | Ins::JumpCompare { to, .. } | Ins::JumpIfPassed { to, .. } => {
                *to = target;
            }
            other => *other = Ins::Nop,
        }
    }

    fn temp(&mut self, ty: &Type) -> Reg {
        let kind = self.kind(ty);
        let reg = self.kinds[kind].free.pop().unwrap_or_else(|| {
            let ty = self.kinds[kind].text.clone();
            self.register(Register::Value { name: String::new(), ty })
        });
        self.used.push((kind, reg));
        reg
    }

    fn kind(&mut self, ty: &Type) -> usize {
        let known = self.kinds.iter().position(|kind| kind.ty == *ty);
        known.unwrap_or_else(|| {
            let text = self.type_text(ty);
            self.kinds.push(Kind { ty: ty.clone(), text, free: Vec::new() });
            self.kinds.len() - 1
        })
    }

    fn end_statement(&mut self) {
        for (kind, reg) in self.used.drain(..) {
            self.kinds[kind].free.push(reg);
        }
    }

    fn constant(&mut self, value: Const, ty: &Type) -> Reg {
        let kind = self.kind(ty);
        let key = Key::of(&value).map(|key| (kind, key));
        if let Some(reg) = key.as_ref().and_then(|key| self.constants.get(key)) {
            return *reg;
        }
        let ty = self.kinds[kind].text.clone();
        let reg = self.register(Register::Const { ty, value });
        self.constants.extend(key.map(|key| (key, reg)));
        reg
    }

    fn is_constant(&self, reg: Reg) -> bool {
        matches!(self.code.registers.get(usize::from(reg)), Some(Register::Const { .. }))
    }

    /// Returns the register of the outermost struct that contains a field register. Returns all other registers unchanged.
    fn whole(&self, reg: Reg) -> Reg {
        match self.code.registers.get(usize::from(reg)) {
            Some(Register::Field { of, .. }) => self.whole(*of),
            _ => reg,
        }
    }

    fn is_temp(&self, reg: Reg) -> bool {
        self.used.iter().any(|(_, used)| *used == reg)
    }

    fn local(&self, id: LocalId) -> Reg {
        let at = id.0 as Reg;
        if at < self.params { at } else { self.locals + (at - self.params) }
    }

    /// Returns a register with this value in the frame. Constants are not in the frame, so a constant is copied to a temporary.
    fn in_frame(&mut self, reg: Reg, ty: &Type) -> Reg {
        if self.is_constant(reg) { self.copied(reg, ty) } else { reg }
    }

    fn copied(&mut self, from: Reg, ty: &Type) -> Reg {
        let to = self.temp(ty);
        self.emit(Ins::Copy { to, from });
        to
    }

    /// Evaluates an expression into a register. If `later_writes` is true, returns a register whose value does not change when later code
    /// writes to locals.
    fn safe(&mut self, expr: &Expr, later_writes: bool) -> Reg {
        let reg = self.expr(expr);
        let is_safe = !later_writes || self.is_constant(reg) || self.is_temp(reg);
        if is_safe { reg } else { self.copied(reg, &expr.ty) }
    }

    /// Variant of [`FunctionCompiler::safe`] whose result is never a constant.
    fn operand(&mut self, expr: &Expr, later_writes: bool) -> Reg {
        let reg = self.safe(expr, later_writes);
        self.in_frame(reg, &expr.ty)
    }

    /// Converts a value and stores the result in a temporary register. If no conversion is needed, returns `from`.
    fn converted_temp(&mut self, by: Option<&Conversion>, from: Reg, ty: &Type) -> Reg {
        let Some(by) = by else { return from };
        let to = self.temp(ty);
        self.emit(Ins::Convert { by: by.clone(), to, from });
        to
    }
}
