//! A simple interpreter of checked packages. The interpreter computes the results that the test programs list. These results are the
//! reference for the machine. Supports only classes of the package that derive from a class `Object` without members.

mod calls;
mod intrinsics;
pub(crate) mod operators;
mod places;
mod values;

use std::cell::RefCell;
use std::collections::HashMap;

use alcedo_uc::hir::{Cast, Class, Expr, ExprKind, Function, Num, Op, Package, Stmt, StmtKind, Type};
use operators::{binary, converted, unary, wrapped};

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Int(i128),
    Float(f64),
    Bool(bool),
    Text(String),
    Name(String),
    Object(Option<usize>),
    Class(Option<String>),
    Struct(Vec<(String, Value)>),
    Array(Vec<Value>),
    Set(Vec<Value>),
    Map(Vec<(Value, Value)>),
    Delegate(Option<(usize, String)>),
    Nothing,
}

/// Compares floats by their bits, and the entries of sets and maps in any order, as reflection compares values.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Int(one), Self::Int(two)) => one == two,
            (Self::Float(one), Self::Float(two)) => one.to_bits() == two.to_bits(),
            (Self::Bool(one), Self::Bool(two)) => one == two,
            (Self::Text(one), Self::Text(two)) | (Self::Name(one), Self::Name(two)) => one == two,
            (Self::Object(one), Self::Object(two)) => one == two,
            (Self::Class(one), Self::Class(two)) => one == two,
            (Self::Struct(one), Self::Struct(two)) => one == two,
            (Self::Array(one), Self::Array(two)) => one == two,
            (Self::Set(one), Self::Set(two)) => one.len() == two.len() && one.iter().all(|key| two.contains(key)),
            (Self::Map(one), Self::Map(two)) => one.len() == two.len() && one.iter().all(|entry| two.contains(entry)),
            (Self::Delegate(one), Self::Delegate(two)) => one == two,
            (Self::Nothing, Self::Nothing) => true,
            _ => false,
        }
    }
}

impl Value {
    pub(crate) fn int(&self) -> i128 {
        match self {
            Self::Int(number) => *number,
            other => panic!("{other:?} is not an integer"),
        }
    }

    pub(crate) fn float(&self) -> f64 {
        match self {
            Self::Float(number) => *number,
            other => panic!("{other:?} is not a float"),
        }
    }

    pub(crate) fn bool(&self) -> bool {
        match self {
            Self::Bool(yes) => *yes,
            other => panic!("{other:?} is not a bool"),
        }
    }
}

struct Object {
    class: String,
    properties: HashMap<String, Value>,
}

/// Control flow after a statement.
enum Flow {
    On,
    Break,
    Continue,
    Return(Value),
}

/// A running call.
struct Frame<'p> {
    object: Option<usize>,
    class: String,
    locals: Vec<Value>,
    types: Vec<Type>,
    function: &'p Function,
}

/// A running package.
pub(crate) struct Interpreter<'p> {
    package: &'p Package,
    objects: RefCell<Vec<Object>>,
    steps: RefCell<u64>,
    /// Functions and objects of the running calls.
    running: RefCell<Vec<(*const Function, Option<usize>)>>,
}

impl<'p> Interpreter<'p> {
    pub(crate) fn new(package: &'p Package) -> Self {
        Self { package, objects: RefCell::default(), steps: RefCell::default(), running: RefCell::default() }
    }

    fn class(&self, path: &str) -> Option<&'p Class> {
        self.package.classes.iter().find(|class| &*class.path == path)
    }

    /// Returns a class and its bases that are in the package.
    fn chain(&self, path: &str) -> Vec<&'p Class> {
        std::iter::successors(self.class(path), |class| self.class(&class.base)).collect()
    }

    fn extends(&self, path: &str, base: &str) -> bool {
        path == base || self.chain(path).iter().any(|class| &*class.path == base || &*class.base == base)
    }

    fn entry(&self, path: &str, number: i128) -> String {
        let found = self.package.enums.iter().find(|found| &*found.path == path);
        found.and_then(|found| found.entries.get(number as usize)).cloned().unwrap_or_else(|| number.to_string())
    }

    fn find(&self, class: &str, name: &str) -> Option<(&'p Class, &'p Function)> {
        let chain = self.chain(class);
        chain.into_iter().find_map(|class| Some((class, class.functions.iter().find(|found| found.name == name)?)))
    }

    /// Calls a function without parameters. Returns its result as a string.
    pub(crate) fn test(&self, object: usize, name: &str) -> String {
        // Removes the calls of an earlier test that panicked.
        self.running.borrow_mut().clear();
        let class = self.objects.borrow()[object].class.clone();
        let (_, function) = self.find(&class, name).unwrap_or_else(|| panic!("missing {name}"));
        let (value, _) = self.run(function, Some(object), &class, Vec::new());
        let ty = function.result.as_ref().expect("a result");
        operators::format_value(&value, ty, &|path, number| self.entry(path, number))
    }

    fn block(&self, frame: &mut Frame<'p>, statements: &'p [Stmt]) -> Flow {
        for statement in statements {
            match self.statement(frame, statement) {
                Flow::On => {}
                other => return other,
            }
        }
        Flow::On
    }

    fn statement(&self, frame: &mut Frame<'p>, statement: &'p Stmt) -> Flow {
        *self.steps.borrow_mut() += 1;
        assert!(*self.steps.borrow() < 1_000_000, "it does not end");
        match &statement.kind {
            StmtKind::Expr(value) => {
                self.value(frame, value);
            }
            StmtKind::Assign(place, value) => {
                let place = self.place(frame, place);
                let value = self.value(frame, value);
                self.write(frame, &place, value);
            }
            StmtKind::SetLength(array, len) => {
                let place = self.place(frame, array);
                let len = self.value(frame, len).int().max(0) as usize;
                let Type::Array(of) = &array.ty else { panic!("an array") };
                let Value::Array(mut row) = self.read(frame, &place, &array.ty) else { panic!("an array") };
                row.resize_with(len, || self.zero(of));
                self.write(frame, &place, Value::Array(row));
            }
            StmtKind::If(condition, one, other) => {
                let body = if self.value(frame, condition).bool() { one } else { other };
                return self.block(frame, body);
            }
            StmtKind::While { body_first, condition, body } => {
                let mut first = *body_first;
                while std::mem::take(&mut first) || self.value(frame, condition).bool() {
                    match self.block(frame, body) {
                        Flow::Break => break,
                        Flow::Return(value) => return Flow::Return(value),
                        Flow::On | Flow::Continue => {}
                    }
                }
            }
            StmtKind::For { init, condition, step, body } => {
                self.block(frame, init);
                while self.value(frame, condition).bool() {
                    match self.block(frame, body) {
                        Flow::Break => break,
                        Flow::Return(value) => return Flow::Return(value),
                        Flow::On | Flow::Continue => {}
                    }
                    self.block(frame, step);
                }
            }
            StmtKind::ForEach { array, element, convert, index, body } => {
                let mut at = 0;
                let found = self.place_or_value(frame, array);
                loop {
                    let Value::Array(row) = self.current(frame, &found, &array.ty) else { panic!("an array") };
                    let Some(value) = row.get(at).cloned() else { break };
                    let value = match convert {
                        Some(convert) => converted(convert, value, &|path, number| self.entry(path, number)),
                        None => value,
                    };
                    let place = self.place(frame, element);
                    self.write(frame, &place, value);
                    if let Some(index) = index {
                        let place = self.place(frame, index);
                        self.write(frame, &place, Value::Int(at as i128));
                    }
                    match self.block(frame, body) {
                        Flow::Break => break,
                        Flow::Return(value) => return Flow::Return(value),
                        Flow::On | Flow::Continue => {}
                    }
                    at += 1;
                }
            }
            StmtKind::Switch { value, compare, arms } => {
                let value = self.value(frame, value);
                let equal = alcedo_uc::hir::Binary { op: Op::Eq, on: compare.clone() };
                let mut entered = arms.iter().position(|arm| {
                    arm.value.as_ref().is_some_and(|case| {
                        let case = self.value(frame, case);
                        binary(&equal, &value, &case).bool()
                    })
                });
                entered = entered.or_else(|| arms.iter().position(|arm| arm.value.is_none()));
                for arm in arms.iter().skip(entered.unwrap_or(arms.len())) {
                    match self.block(frame, &arm.body) {
                        Flow::Break => break,
                        Flow::On => {}
                        other => return other,
                    }
                }
            }
            StmtKind::Break => return Flow::Break,
            StmtKind::Continue => return Flow::Continue,
            StmtKind::Return(None) => return Flow::Return(Value::Nothing),
            StmtKind::Return(Some(value)) => return Flow::Return(self.value(frame, value)),
            StmtKind::Assert(condition) => assert!(self.value(frame, condition).bool(), "line {}", statement.line),
            StmtKind::Block(body) => return self.block(frame, body),
        }
        Flow::On
    }

    fn value(&self, frame: &mut Frame<'p>, of: &'p Expr) -> Value {
        if of.is_place() {
            let place = self.place(frame, of);
            return self.read(frame, &place, &of.ty);
        }
        let entry = |path: &str, number: i128| self.entry(path, number);
        match &of.kind {
            ExprKind::Const(value) => self.constant(value, &of.ty),
            ExprKind::Triple(values) => {
                let zero = self.zero(&of.ty);
                let Value::Struct(fields) = zero else { panic!("a struct") };
                let number = |value: &Value, new: f64| match value {
                    Value::Int(_) => Value::Int(new as i128),
                    _ => Value::Float(new),
                };
                Value::Struct(
                    fields.iter().zip(values).map(|((name, old), new)| (name.clone(), number(old, *new))).collect(),
                )
            }
            ExprKind::SelfObject => Value::Object(frame.object),
            ExprKind::SelfClass => Value::Class(Some(frame.class.clone())),
            ExprKind::ClassOf(object) => match self.value(frame, object) {
                Value::Object(object) => Value::Class(object.map(|object| self.objects.borrow()[object].class.clone())),
                other => panic!("{other:?} is not an object"),
            },
            ExprKind::DefaultProperty { class, name, .. } => match self.value(frame, class) {
                Value::Class(Some(class)) => {
                    let object = self.create(&class);
                    self.objects.borrow()[object].properties[name].clone()
                }
                _ => self.zero(&of.ty),
            },
            ExprKind::Field { base, field, .. } => match self.value(frame, base) {
                Value::Struct(fields) => fields.into_iter().find(|(name, _)| name == field).expect("a field").1,
                other => panic!("{other:?} is not a struct"),
            },
            ExprKind::Index(base, index) => match self.value(frame, base) {
                Value::Array(row) => {
                    let at = self.value(frame, index).int();
                    usize::try_from(at).ok().and_then(|at| row.get(at).cloned()).unwrap_or_else(|| self.zero(&of.ty))
                }
                other => panic!("{other:?} is not an array"),
            },
            ExprKind::Call(call) => self.call(frame, call, &of.ty),
            ExprKind::Intrinsic(which, operands) => self.intrinsic(frame, which, operands, &of.ty),
            ExprKind::Unary(which, operand) => unary(which, &self.value(frame, operand)),
            ExprKind::Binary(which, one, other) => {
                let one = self.value(frame, one);
                let other = self.value(frame, other);
                binary(which, &one, &other)
            }
            ExprKind::And(one, other) => Value::Bool(self.value(frame, one).bool() && self.value(frame, other).bool()),
            ExprKind::Or(one, other) => Value::Bool(self.value(frame, one).bool() || self.value(frame, other).bool()),
            ExprKind::Conditional(condition, one, other) => {
                if self.value(frame, condition).bool() {
                    self.value(frame, one)
                } else {
                    self.value(frame, other)
                }
            }
            ExprKind::Compound(compound) => {
                let place = self.place(frame, &compound.place);
                let value = self.value(frame, &compound.value);
                let mut left = self.read(frame, &place, &compound.place.ty);
                if let Some(widen) = &compound.widen {
                    left = converted(widen, left, &entry);
                }
                let mut new = binary(&compound.op, &left, &value);
                if let Some(narrow) = &compound.narrow {
                    new = converted(narrow, new, &entry);
                }
                self.write(frame, &place, new.clone());
                new
            }
            ExprKind::Step { place, up, post } => {
                let Type::Num(num) = place.ty else { panic!("a number") };
                let ty = place.ty.clone();
                let place = self.place(frame, place);
                let before = self.read(frame, &place, &ty);
                let by = if *up { 1 } else { -1 };
                let after = match &before {
                    Value::Float(number) if num == Num::F32 => Value::Float(f64::from((number + f64::from(by)) as f32)),
                    Value::Float(number) => Value::Float(number + f64::from(by)),
                    whole => Value::Int(wrapped(whole.int() + i128::from(by), num)),
                };
                self.write(frame, &place, after.clone());
                if *post { before } else { after }
            }
            ExprKind::Convert(conversion, value) => {
                let value = self.value(frame, value);
                converted(conversion, value, &entry)
            }
            ExprKind::Cast(cast, value) => {
                let value = self.value(frame, value);
                match (cast, value) {
                    (Cast::Object(path), Value::Object(Some(object))) => {
                        let fits = self.extends(&self.objects.borrow()[object].class, path);
                        Value::Object(fits.then_some(object))
                    }
                    (Cast::Interface(path), Value::Object(Some(object))) => {
                        let chain = self.chain(&self.objects.borrow()[object].class);
                        let fits = chain.iter().any(|class| class.interfaces.contains(path));
                        Value::Object(fits.then_some(object))
                    }
                    (Cast::Class(path), Value::Class(Some(class))) => {
                        let fits = self.extends(&class, path);
                        Value::Class(fits.then_some(class))
                    }
                    (_, other) => other,
                }
            }
            ExprKind::New(new) => {
                let class = self.value(frame, &new.class);
                // Objects have no names here, so only the evaluation of the outer object and of the name matters.
                for part in new.outer.iter().chain(&new.name) {
                    self.value(frame, part);
                }
                let template = new.template.as_ref().map(|template| self.value(frame, template));
                let Value::Class(Some(class)) = class else { return Value::Object(None) };
                let made = self.create(&class);
                if let Some(Value::Object(Some(template))) = template {
                    let values = self.objects.borrow()[template].properties.clone();
                    let mut objects = self.objects.borrow_mut();
                    let known = |(name, _): &(String, Value)| objects[made].properties.contains_key(name);
                    let values: Vec<_> = values.into_iter().filter(known).collect();
                    objects[made].properties.extend(values);
                }
                Value::Object(Some(made))
            }
            ExprKind::FunctionOf { object, name, .. } => {
                Value::Delegate(self.object(frame, object.as_deref()).map(|object| (object, name.clone())))
            }
            ExprKind::Local(_) | ExprKind::Property { .. } => panic!("a place"),
        }
    }
}
