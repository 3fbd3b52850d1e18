//! An interpreter of checked packages, as plain as can be: it shows that programs mean what their heads say, and the machine is
//! compared with it. It knows classes of the package alone, above a class `Object` without members.

pub(crate) mod operators;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use alcedo_uc::hir::{
    Arg, Call, Callee, Cast, Class, Const, DefaultAction, Expr, ExprKind, Function, Intrinsic, LocalId, Num, Op,
    Package, Stmt, StmtKind, Type, delegate_body,
};
use operators::{binary, converted, unary, wrapped};

/// A value.
#[derive(Clone, PartialEq, Debug)]
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
    Map(Vec<(Value, Value)>),
    Delegate(Option<(usize, String)>),
    Nothing,
}

impl Value {
    pub(crate) fn int(&self) -> i128 {
        match self {
            Self::Int(number) => *number,
            other => panic!("{other:?} is no whole number"),
        }
    }

    pub(crate) fn float(&self) -> f64 {
        match self {
            Self::Float(number) => *number,
            other => panic!("{other:?} is no float"),
        }
    }

    pub(crate) fn bool(&self) -> bool {
        match self {
            Self::Bool(yes) => *yes,
            other => panic!("{other:?} is no bool"),
        }
    }
}

struct Object {
    class: String,
    properties: HashMap<String, Value>,
}

/// A place: where it begins, and the steps from there.
#[derive(Clone)]
struct Place {
    root: Root,
    steps: Vec<Step>,
}

#[derive(Clone)]
enum Root {
    Local(usize),
    Property(Option<usize>, String),
}

#[derive(Clone)]
enum Step {
    Field(String),
    Index(i128, Type),
}

/// How a statement ended.
enum Flow {
    On,
    Break,
    Continue,
    Return(Value),
}

/// A call that runs.
struct Frame<'p> {
    object: Option<usize>,
    class: String,
    locals: Vec<Value>,
    types: Vec<Type>,
    function: &'p Function,
}

/// A package that runs.
pub(crate) struct Interpreter<'p> {
    package: &'p Package,
    objects: RefCell<Vec<Object>>,
    steps: RefCell<u64>,
}

impl<'p> Interpreter<'p> {
    pub(crate) fn new(package: &'p Package) -> Self {
        Self { package, objects: RefCell::default(), steps: RefCell::default() }
    }

    fn class(&self, path: &str) -> Option<&'p Class> {
        self.package.classes.iter().find(|class| &*class.path == path)
    }

    /// The classes from that one up, as far as they are of the package.
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

    /// The zero value of a type.
    fn zero(&self, ty: &Type) -> Value {
        match ty {
            Type::Num(num) if num.is_float() => Value::Float(0.0),
            Type::Num(_) | Type::Enum(..) => Value::Int(0),
            Type::Bool => Value::Bool(false),
            Type::Text | Type::Utf8Text | Type::AnsiText | Type::LocalText => Value::Text(String::new()),
            Type::Name | Type::FieldPath => Value::Name(String::new()),
            Type::Class(_) => Value::Class(None),
            Type::Array(_) | Type::Set(_) => Value::Array(Vec::new()),
            Type::Fixed(of, len) => Value::Array(vec![self.zero(of); *len as usize]),
            Type::Map(..) => Value::Map(Vec::new()),
            Type::Delegate(..) => Value::Delegate(None),
            Type::Struct(path) => Value::Struct(self.fields(path)),
            Type::Nothing => Value::Nothing,
            _ => Value::Object(None),
        }
    }

    fn fields(&self, path: &str) -> Vec<(String, Value)> {
        let Some(found) = self.package.structs.iter().find(|found| &*found.path == path) else {
            let names = if path.ends_with("Vector") { ["x", "y", "z"] } else { ["pitch", "yaw", "roll"] };
            let zero = if path.ends_with("Vector") { Value::Float(0.0) } else { Value::Int(0) };
            return names.map(|name| (name.to_owned(), zero.clone())).to_vec();
        };
        let mut fields = found.base.as_ref().map_or_else(Vec::new, |base| self.fields(base));
        for field in &found.fields {
            let value = match &field.default {
                Some(value) => self.constant(value, &field.ty),
                None => self.zero(&field.ty),
            };
            fields.push((field.name.clone(), value));
        }
        fields
    }

    fn constant(&self, value: &Const, ty: &Type) -> Value {
        match (value, ty) {
            (Const::Bool(yes), _) => Value::Bool(*yes),
            (Const::Int(number) | Const::Enum(_, _, number), _) => Value::Int(*number),
            (Const::Float(number), _) => Value::Float(*number),
            (Const::Text(text), _) => Value::Text(text.clone()),
            (Const::Name(name), _) => Value::Name(name.clone()),
            (Const::Class(path), _) => Value::Class(Some(path.to_string())),
            (Const::Array(values), Type::Array(of) | Type::Fixed(of, _)) => {
                let mut made: Vec<_> = values.iter().map(|value| self.constant(value, of)).collect();
                if let Type::Fixed(_, len) = ty {
                    made.resize_with(*len as usize, || self.zero(of));
                }
                Value::Array(made)
            }
            (Const::Struct(said), Type::Struct(path)) => {
                let mut fields = self.fields(path);
                for (name, value) in said {
                    let ty = self.field_type(path, name);
                    let field = fields.iter_mut().find(|(known, _)| known == name).expect("a field");
                    field.1 = self.constant(value, &ty);
                }
                Value::Struct(fields)
            }
            (_, ty) => self.zero(ty),
        }
    }

    fn field_type(&self, path: &str, name: &str) -> Type {
        let Some(found) = self.package.structs.iter().find(|found| &*found.path == path) else {
            return Type::Num(if path.ends_with("Vector") { Num::F32 } else { Num::I32 });
        };
        match found.fields.iter().find(|field| field.name == name) {
            Some(field) => field.ty.clone(),
            None => self.field_type(found.base.as_ref().expect("a base"), name),
        }
    }

    /// A new object of a class, with its defaults.
    pub(crate) fn create(&self, class: &str) -> usize {
        let mut properties = HashMap::new();
        let chain = self.chain(class);
        for class in chain.iter().rev() {
            for property in &class.properties {
                properties.insert(property.name.clone(), self.zero(&property.ty));
            }
            for default in &class.defaults {
                let ty = chain.iter().flat_map(|class| &class.properties).find(|known| known.name == default.property);
                let ty = &ty.expect("a property of the package").ty;
                let place = properties.get_mut(&default.property).expect("it has a value");
                match (&default.action, ty, place) {
                    (DefaultAction::Set(value), ty, place) => *place = self.constant(value, ty),
                    (DefaultAction::SetElement(at, value), Type::Array(of) | Type::Fixed(of, _), Value::Array(row)) => {
                        while row.len() <= *at as usize {
                            row.push(self.zero(of));
                        }
                        row[*at as usize] = self.constant(value, of);
                    }
                    (DefaultAction::Add(value), Type::Array(of), Value::Array(row)) => {
                        row.push(self.constant(value, of))
                    }
                    (DefaultAction::Remove(value), Type::Array(of), Value::Array(row)) => {
                        let value = self.constant(value, of);
                        row.retain(|known| *known != value);
                    }
                    (DefaultAction::RemoveIndex(at), _, Value::Array(row)) => {
                        row.remove(*at as usize);
                    }
                    (DefaultAction::Empty, _, Value::Array(row)) => row.clear(),
                    other => panic!("{:?}", other.0),
                }
            }
        }
        let number = self.objects.borrow().len();
        for class in &chain {
            for default in &class.defaults {
                if let DefaultAction::Set(Const::Function(name)) = &default.action {
                    properties.insert(default.property.clone(), Value::Delegate(Some((number, name.clone()))));
                }
            }
        }
        self.objects.borrow_mut().push(Object { class: class.to_owned(), properties });
        number
    }

    /// Calls a function without parameters; its result as text.
    pub(crate) fn test(&self, object: usize, name: &str) -> String {
        let class = self.objects.borrow()[object].class.clone();
        let (_, function) = self.find(&class, name).unwrap_or_else(|| panic!("there is no {name}"));
        let (value, _) = self.run(function, Some(object), &class, Vec::new());
        let ty = function.result.as_ref().expect("a result");
        operators::shown(&value, ty, &|path, number| self.entry(path, number))
    }

    /// Runs a function: its result, and what its parameters are then.
    fn run(
        &self,
        function: &'p Function,
        object: Option<usize>,
        class: &str,
        args: Vec<Option<Value>>,
    ) -> (Value, Vec<Value>) {
        let types: Vec<_> = function
            .params
            .iter()
            .map(|param| param.ty.clone())
            .chain(function.locals.iter().map(|local| local.ty.clone()))
            .collect();
        let locals = types.iter().map(|ty| self.zero(ty)).collect();
        let mut frame = Frame { object, class: class.to_owned(), locals, types, function };
        for (at, arg) in args.into_iter().enumerate() {
            match (arg, &function.params[at].default) {
                (Some(value), _) => frame.locals[at] = value,
                (None, Some(default)) => frame.locals[at] = self.value(&mut frame, default),
                (None, None) => {}
            }
        }
        let flow = self.block(&mut frame, function.body.as_deref().unwrap_or(&[]));
        let result = match (flow, &function.result) {
            (Flow::Return(value), Some(_)) => value,
            (_, Some(ty)) => self.zero(ty),
            _ => Value::Nothing,
        };
        frame.locals.truncate(function.params.len());
        (result, frame.locals)
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
                let kept = if array.is_place() { None } else { Some(self.value(frame, array)) };
                loop {
                    let now = match &kept {
                        Some(kept) => kept.clone(),
                        None => self.value(frame, array),
                    };
                    let Value::Array(row) = now else { panic!("an array") };
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

    fn place(&self, frame: &mut Frame<'p>, of: &'p Expr) -> Place {
        match &of.kind {
            ExprKind::Local(LocalId(at)) => Place { root: Root::Local(*at as usize), steps: Vec::new() },
            ExprKind::Property { object, name, .. } => {
                let object = self.object(frame, object.as_deref());
                Place { root: Root::Property(object, name.clone()), steps: Vec::new() }
            }
            ExprKind::Field { base, field, .. } => {
                let mut place = self.place(frame, base);
                place.steps.push(Step::Field(field.clone()));
                place
            }
            ExprKind::Index(base, index) => {
                let mut place = self.place(frame, base);
                let at = self.value(frame, index).int();
                place.steps.push(Step::Index(at, base.ty.clone()));
                place
            }
            other => panic!("{other:?} is no place"),
        }
    }

    fn object(&self, frame: &mut Frame<'p>, object: Option<&'p Expr>) -> Option<usize> {
        match object {
            None => frame.object,
            Some(object) => match self.value(frame, object) {
                Value::Object(object) => object,
                other => panic!("{other:?} is no object"),
            },
        }
    }

    fn read(&self, frame: &Frame<'p>, place: &Place, ty: &Type) -> Value {
        let root = match &place.root {
            Root::Local(at) => Some(frame.locals[*at].clone()),
            Root::Property(object, name) => object.map(|object| self.objects.borrow()[object].properties[name].clone()),
        };
        let mut value = root;
        for step in &place.steps {
            value = value.and_then(|value| match (step, value) {
                (Step::Field(name), Value::Struct(fields)) => {
                    fields.into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
                }
                (Step::Index(at, _), Value::Array(row)) => {
                    usize::try_from(*at).ok().and_then(|at| row.get(at).cloned())
                }
                (_, other) => panic!("no step into {other:?}"),
            });
        }
        value.unwrap_or_else(|| self.zero(ty))
    }

    fn write(&self, frame: &mut Frame<'p>, place: &Place, new: Value) {
        let mut objects = self.objects.borrow_mut();
        let mut at = match &place.root {
            Root::Local(at) => &mut frame.locals[*at],
            Root::Property(None, _) => return,
            Root::Property(Some(object), name) => objects[*object].properties.get_mut(name).expect("a property"),
        };
        for step in &place.steps {
            at = match (step, at) {
                (Step::Field(name), Value::Struct(fields)) => {
                    &mut fields.iter_mut().find(|(known, _)| known == name).expect("a field").1
                }
                (Step::Index(at, ty), Value::Array(row)) => {
                    let Ok(at) = usize::try_from(*at) else { return };
                    if let Type::Array(of) = ty {
                        while row.len() <= at {
                            row.push(self.zero(of));
                        }
                    }
                    &mut row[at]
                }
                (_, other) => panic!("no step into {other:?}"),
            };
        }
        *at = new;
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
                other => panic!("{other:?} is no object"),
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
                other => panic!("{other:?} is no struct"),
            },
            ExprKind::Index(base, index) => match self.value(frame, base) {
                Value::Array(row) => {
                    let at = self.value(frame, index).int();
                    usize::try_from(at).ok().and_then(|at| row.get(at).cloned()).unwrap_or_else(|| self.zero(&of.ty))
                }
                other => panic!("{other:?} is no array"),
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
                    (Cast::Class(path), Value::Class(Some(class))) => {
                        let fits = self.extends(&class, path);
                        Value::Class(fits.then_some(class))
                    }
                    (_, other) => other,
                }
            }
            ExprKind::New(new) => match self.value(frame, &new.class) {
                Value::Class(Some(class)) => Value::Object(Some(self.create(&class))),
                _ => Value::Object(None),
            },
            ExprKind::FunctionOf { object, name, .. } => {
                Value::Delegate(self.object(frame, object.as_deref()).map(|object| (object, name.clone())))
            }
            ExprKind::Local(_) | ExprKind::Property { .. } => panic!("a place"),
        }
    }

    fn call(&self, frame: &mut Frame<'p>, call: &'p Call, ty: &Type) -> Value {
        let name = |path: &Rc<str>| path.rsplit(':').next().unwrap_or("").to_owned();
        let owner = |path: &Rc<str>| path.split(':').next().unwrap_or("").to_owned();
        let of = |object: usize| self.objects.borrow()[object].class.clone();
        let (function, object, class) = match &call.callee {
            Callee::Virtual { object, path } => {
                let Some(object) = self.object(frame, object.as_deref()) else { return self.zero(ty) };
                (self.find(&of(object), &name(path)), Some(object), of(object))
            }
            Callee::Final { object, path } => {
                let Some(object) = self.object(frame, object.as_deref()) else { return self.zero(ty) };
                (self.find(&owner(path), &name(path)), Some(object), of(object))
            }
            Callee::Static { class, path } => {
                let class = match class {
                    Some(class) => match self.value(frame, class) {
                        Value::Class(Some(class)) => class,
                        _ => return self.zero(ty),
                    },
                    None => owner(path),
                };
                (self.find(&class, &name(path)), None, class)
            }
            Callee::Delegate { delegate, object, fallback } => match self.value(frame, delegate) {
                Value::Delegate(Some((object, name))) => (self.find(&of(object), &name), Some(object), of(object)),
                _ => {
                    let Some(fallback) = fallback else { return self.zero(ty) };
                    assert!(name(fallback).starts_with(&delegate_body("")[..2]));
                    let Some(object) = self.object(frame, object.as_deref()) else { return self.zero(ty) };
                    (self.find(&of(object), &name(fallback)), Some(object), of(object))
                }
            },
            Callee::Interface { .. } => panic!("interfaces are of native code"),
        };
        let (_, function) = function.unwrap_or_else(|| panic!("{:?} is not of the package", call.callee));
        let mut places = Vec::new();
        let mut args = Vec::new();
        for arg in &call.args {
            args.push(match arg {
                Arg::Value(value) => Some(self.value(frame, value)),
                Arg::Out(place) => {
                    let at = self.place(frame, place);
                    let value = self.read(frame, &at, &place.ty);
                    places.push((args.len(), at, None));
                    Some(value)
                }
                Arg::OutConverted(place, there, back) => {
                    let at = self.place(frame, place);
                    let value = self.read(frame, &at, &place.ty);
                    places.push((args.len(), at, Some(back)));
                    Some(converted(there, value, &|path, number| self.entry(path, number)))
                }
                Arg::Skipped => None,
                Arg::Wildcard(_) => panic!("wildcards are of native code"),
            });
        }
        let (result, params) = self.run(function, object, &class, args);
        for (at, place, back) in places {
            let value = params[at].clone();
            let value = match back {
                Some(back) => converted(back, value, &|path, number| self.entry(path, number)),
                None => value,
            };
            self.write(frame, &place, value);
        }
        assert!(frame.locals.len() == frame.types.len(), "{}", frame.function.name);
        result
    }

    fn intrinsic(&self, frame: &mut Frame<'p>, which: &'p Intrinsic, operands: &'p [Expr], ty: &Type) -> Value {
        use Intrinsic as I;
        let base = &operands[0];
        let whole = self.value(frame, base);
        let rest: Vec<_> = operands[1..].iter().map(|operand| self.value(frame, operand)).collect();
        let fresh = |ty: &Type| match ty {
            Type::Array(of) | Type::Fixed(of, _) | Type::Set(of) => self.zero(of),
            other => panic!("{other:?} has no elements"),
        };
        let (new, result) = match (which, whole) {
            (I::Length, Value::Array(row)) => return Value::Int(row.len() as i128),
            (I::Length, Value::Map(rows)) => return Value::Int(rows.len() as i128),
            (I::ArrayAdd, Value::Array(mut row)) => {
                let at = row.len();
                row.resize_with(at + rest[0].int().max(0) as usize, || fresh(&base.ty));
                (Value::Array(row), Value::Int(at as i128))
            }
            (I::ArrayAddItem, Value::Array(mut row)) => {
                row.push(rest[0].clone());
                let at = row.len() as i128 - 1;
                (Value::Array(row), Value::Int(at))
            }
            (I::ArrayInsert, Value::Array(mut row)) => {
                for _ in 0..rest[1].int() {
                    row.insert(rest[0].int() as usize, fresh(&base.ty));
                }
                (Value::Array(row), Value::Nothing)
            }
            (I::ArrayInsertItem, Value::Array(mut row)) => {
                row.insert(rest[0].int() as usize, rest[1].clone());
                (Value::Array(row), rest[0].clone())
            }
            (I::ArrayRemove, Value::Array(mut row)) => {
                let at = rest[0].int() as usize;
                row.drain(at..at + rest[1].int() as usize);
                (Value::Array(row), Value::Nothing)
            }
            (I::ArrayRemoveItem, Value::Array(mut row)) => {
                let before = row.len();
                row.retain(|value| *value != rest[0]);
                let gone = before - row.len();
                (Value::Array(row), Value::Int(gone as i128))
            }
            (I::ArrayFind, Value::Array(row)) => {
                return Value::Int(row.iter().position(|value| *value == rest[0]).map_or(-1, |at| at as i128));
            }
            (I::ArrayFindField(field), Value::Array(row)) => {
                let fits = |value: &Value| match value {
                    Value::Struct(fields) => fields.iter().any(|(name, value)| name == field && *value == rest[0]),
                    _ => false,
                };
                return Value::Int(row.iter().position(fits).map_or(-1, |at| at as i128));
            }
            (I::ArraySort, Value::Array(mut row)) => {
                let Value::Delegate(Some((object, name))) = &rest[0] else { panic!("a delegate") };
                let class = self.objects.borrow()[*object].class.clone();
                let (_, function) = self.find(&class, name).expect("a function");
                // Insertion sort: the later goes before all that it is the wrong way round with.
                for at in 1..row.len() {
                    let mut to = at;
                    while to > 0 {
                        let args = vec![Some(row[to - 1].clone()), Some(row[to].clone())];
                        let (result, _) = self.run(function, Some(*object), &class, args);
                        if result.int() >= 0 {
                            break;
                        }
                        row.swap(to - 1, to);
                        to -= 1;
                    }
                }
                (Value::Array(row), Value::Nothing)
            }
            (I::ArrayEmpty | I::Empty, Value::Array(_)) => (Value::Array(Vec::new()), Value::Nothing),
            (I::Empty, Value::Map(_)) => (Value::Map(Vec::new()), Value::Nothing),
            (I::MapGet, Value::Map(rows)) => {
                return rows
                    .into_iter()
                    .find(|(key, _)| *key == rest[0])
                    .map_or_else(|| self.zero(ty), |(_, value)| value);
            }
            (I::MapSet, Value::Map(mut rows)) => {
                rows.retain(|(key, _)| *key != rest[0]);
                rows.push((rest[0].clone(), rest[1].clone()));
                (Value::Map(rows), Value::Nothing)
            }
            (I::Contains, Value::Map(rows)) => return Value::Bool(rows.iter().any(|(key, _)| *key == rest[0])),
            (I::Contains, Value::Array(row)) => return Value::Bool(row.contains(&rest[0])),
            (I::Remove, Value::Map(mut rows)) => {
                let before = rows.len();
                rows.retain(|(key, _)| *key != rest[0]);
                let gone = rows.len() < before;
                (Value::Map(rows), Value::Bool(gone))
            }
            (I::Remove, Value::Array(mut row)) => {
                let before = row.len();
                row.retain(|value| *value != rest[0]);
                let gone = row.len() < before;
                (Value::Array(row), Value::Bool(gone))
            }
            (I::SetAdd, Value::Array(mut row)) => {
                let is_new = !row.contains(&rest[0]);
                if is_new {
                    row.push(rest[0].clone());
                }
                (Value::Array(row), Value::Bool(is_new))
            }
            (I::MapKeys, Value::Map(rows)) => return Value::Array(rows.into_iter().map(|(key, _)| key).collect()),
            (I::MapValues, Value::Map(rows)) => {
                return Value::Array(rows.into_iter().map(|(_, value)| value).collect());
            }
            (I::SetValues, row @ Value::Array(_)) => return row,
            (I::DelegateIsBound, Value::Delegate(bound)) => return Value::Bool(bound.is_some()),
            (which, value) => panic!("{which:?} of {value:?} is not in these tests"),
        };
        let place = self.place(frame, base);
        self.write(frame, &place, new);
        result
    }
}
