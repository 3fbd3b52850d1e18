//! Statements and expressions as the tree has them.

use super::operators::{Binary, Conversion, Intrinsic, Operand, Unary};
use super::types::Type;
use super::{Const, LocalId, Path};

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Its line in the file of the class.
    pub line: u32,
}

/// What a statement does.
#[derive(Clone, PartialEq, Debug)]
#[expect(clippy::large_enum_variant, reason = "a tree lives for as long as bytecode is made of it")]
pub enum StmtKind {
    /// An expression, whose value is dropped.
    Expr(Expr),
    /// `place = value`. Both have the same type. The place is found first, then the value is evaluated, then it is stored.
    Assign(Expr, Expr),
    /// `array.Length = n`, the array and an `int`. Less than zero is zero.
    SetLength(Expr, Expr),
    /// `if`. The condition is a `bool`.
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// `while`; also the `do … while`s, whose body comes first. The body is left by `continue` to the condition.
    While {
        /// Whether the body runs before the condition is asked for the first time.
        body_first: bool,
        /// The condition, a `bool`. `until` is turned around already. `do { … }` without either has `true`.
        condition: Expr,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `for`. `continue` goes to the step.
    For {
        /// Before the loop.
        init: Vec<Stmt>,
        /// The condition, a `bool`.
        condition: Expr,
        /// After each round.
        step: Vec<Stmt>,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `foreach Array(element, index)`: the elements of a dynamic or fixed array, from the first on, copied into a place one after
    /// the other. The length is asked in each round.
    ForEach {
        /// The array: a place, or a value that is kept for the loop.
        array: Box<Expr>,
        /// Where each element goes: of the type of the elements, after `convert`.
        element: Box<Expr>,
        /// How an element becomes what the place holds.
        convert: Option<Conversion>,
        /// Where the index goes, an `int`.
        index: Option<Box<Expr>>,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `switch`. The value is evaluated once; the first arm with an equal value is entered, and execution runs on into the next
    /// arm, until a `break`.
    Switch {
        /// What is compared.
        value: Expr,
        /// The operation that compares, [`Op::Eq`](super::Op::Eq) of the type of the value.
        compare: Operand,
        /// The arms in order; `default` is the last that is tried wherever it stands.
        arms: Vec<Arm>,
    },
    /// `break`, of the nearest loop or `switch`.
    Break,
    /// `continue`, of the nearest loop.
    Continue,
    /// `return`; the value has the type of the result. Without one in a function with a result it gives the zero value.
    Return(Option<Expr>),
    /// `assert(condition)`: an error of the script unless it is true.
    Assert(Expr),
    /// Statements in braces.
    Block(Vec<Stmt>),
}

/// An arm of a `switch`.
#[derive(Clone, PartialEq, Debug)]
pub struct Arm {
    /// The value; `None` for `default`.
    pub value: Option<Expr>,
    /// What follows.
    pub body: Vec<Stmt>,
    /// Its line.
    pub line: u32,
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// The type of its value.
    pub ty: Type,
    /// Its line in the file of the class.
    pub line: u32,
}

/// What an expression is.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// A value that is known. Structs are complete here, and arrays do not occur.
    Const(Const),
    /// `vect(…)` or `rot(…)`: the three values, for a [`Triple`](super::Triple).
    Triple([f64; 3]),
    /// A parameter or local. A place.
    Local(LocalId),
    /// The object that the function runs for. Not in static functions.
    SelfObject,
    /// The class of the object that a function runs for; in a static function the class that it was called on.
    SelfClass,
    /// The class of an object: `x.Class`. None for none.
    ClassOf(Box<Expr>),
    /// A property of an object, or of the object itself. A place. Of none, reading gives the zero value and writing does
    /// nothing; the log tells of either, with the calls that led there.
    Property {
        /// The object; `None` is the object itself.
        object: Option<Box<Expr>>,
        /// The path of the class that declares the property.
        owner: Path,
        /// The property.
        name: String,
    },
    /// A property of the class default object of a class. Not a place for assignments, but for reading by address.
    DefaultProperty {
        /// The class, of type [`Type::Class`].
        class: Box<Expr>,
        /// The path of the class that declares the property.
        owner: Path,
        /// The property.
        name: String,
    },
    /// A field of a struct. A place if the struct is one; otherwise it is taken out of a value.
    Field {
        /// The struct.
        base: Box<Expr>,
        /// The path of its type.
        structure: Path,
        /// The field, which may be one of a struct that it extends.
        field: String,
    },
    /// An element of a dynamic or fixed array, whose type says which. A place if the array is one. The index is an `int`. Outside of
    /// a dynamic array, reading gives the zero value and writing grows the array (not below zero); outside of a fixed one the
    /// access is an error of the script.
    Index(Box<Expr>, Box<Expr>),
    /// A call.
    Call(Box<Call>),
    /// An operation that the language has on arrays, maps, sets and delegates. The first operand is what it works on, a place for
    /// those that change it.
    Intrinsic(Intrinsic, Vec<Expr>),
    /// An operator with one operand.
    Unary(Unary, Box<Expr>),
    /// An operator with two operands, both evaluated, the left one first.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `a && b`: the second is not evaluated when the first is false.
    And(Box<Expr>, Box<Expr>),
    /// `a || b`: the second is not evaluated when the first is true.
    Or(Box<Expr>, Box<Expr>),
    /// `c ? a : b`: one of the two is evaluated.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `place += value` and the like. The place is found once, then the value is evaluated. The value of the expression is
    /// what the place holds then.
    Compound(Box<Compound>),
    /// `++` and `--`. The value is what the place held before, or holds after.
    Step {
        /// The place, of a number type.
        place: Box<Expr>,
        /// Whether one is added or taken away. Whole numbers wrap.
        up: bool,
        /// Whether the value of the expression is what was there before: `i++`.
        post: bool,
    },
    /// A value of another type, which always succeeds.
    Convert(Conversion, Box<Expr>),
    /// An object or class seen as one of another class: none, if it is not one.
    Cast(Cast, Box<Expr>),
    /// `new(outer, name) class(template)`.
    New(Box<New>),
    /// A function of an object, for a delegate. Of none, nothing is bound.
    FunctionOf {
        /// The object; `None` is the object itself.
        object: Option<Box<Expr>>,
        /// The path of the class that declares the function.
        owner: Path,
        /// The function.
        name: String,
    },
}

/// A compound assignment: `place = narrow(op(widen(place), value))`.
#[derive(Clone, PartialEq, Debug)]
pub struct Compound {
    /// What is changed.
    pub place: Expr,
    /// How what it holds becomes the left operand.
    pub widen: Option<Conversion>,
    /// The operator.
    pub op: Binary,
    /// The right operand.
    pub value: Expr,
    /// How the value of the operator becomes what the place holds.
    pub narrow: Option<Conversion>,
}

/// `new`.
#[derive(Clone, PartialEq, Debug)]
pub struct New {
    /// The class, of type [`Type::Class`].
    pub class: Expr,
    /// What the object belongs to; none is the object itself.
    pub outer: Option<Expr>,
    /// Its name, a `string` or a `name`.
    pub name: Option<Expr>,
    /// The object whose values it starts with.
    pub template: Option<Expr>,
}

/// What a cast asks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cast {
    /// Whether the object is of that class.
    Object(Path),
    /// Whether the class is that class or extends it.
    Class(Path),
    /// Whether the class of the object implements that interface.
    Interface(Path),
}

/// A call.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// What is called.
    pub callee: Callee,
    /// The arguments in the order of the parameters, one for each.
    pub args: Vec<Arg>,
    /// The wildcards of a `custom_thunk` function, by the place of the parameter; empty for all others.
    pub wildcards: Vec<Wildcard>,
}

/// What is called. `path` is where the function was declared that the checker found: `/Script/Package.Class:name`.
#[derive(Clone, PartialEq, Debug)]
pub enum Callee {
    /// The function of that name that the class of the object has.
    Virtual {
        /// The object; `None` is the object itself.
        object: Option<Box<Expr>>,
        /// The function.
        path: Path,
    },
    /// That very function: a `final` or `private` one, one that reflection has and that is no event, and what `super` leads to.
    Final {
        /// The object; `None` is the object itself.
        object: Option<Box<Expr>>,
        /// The function.
        path: Path,
    },
    /// A static function: the one of that name that the class has.
    Static {
        /// The class that it is called on, of type [`Type::Class`]; `None`: that of the path itself, for functions of libraries
        /// and for `super`.
        class: Option<Box<Expr>>,
        /// The function.
        path: Path,
    },
    /// A function of an interface, on an object of whatever class implements it.
    Interface {
        /// The object, of type [`Type::Interface`].
        object: Box<Expr>,
        /// The function of the interface.
        path: Path,
    },
    /// What a delegate calls. With nothing bound, `fallback` runs, or nothing, which gives the zero value.
    Delegate {
        /// The delegate.
        delegate: Box<Expr>,
        /// The object whose function `fallback` is; `None` is the object itself.
        object: Option<Box<Expr>>,
        /// The path of the [`delegate_body`](super::delegate_body), if there is one.
        fallback: Option<Path>,
    },
}

/// An argument.
#[derive(Clone, PartialEq, Debug)]
pub enum Arg {
    /// A value of the type of the parameter.
    Value(Expr),
    /// A place of the very type of the parameter, which the call writes to.
    Out(Expr),
    /// A place of another type, for an `out` parameter: copied in through the first conversion, and back through the second.
    OutConverted(Expr, Conversion, Conversion),
    /// An optional parameter that was left away.
    Skipped,
    /// The argument for a wildcard: a place, or a value, whose type is that of the [`Wildcard`].
    Wildcard(Expr),
}

/// What a wildcard parameter is in one call.
#[derive(Clone, PartialEq, Debug)]
pub struct Wildcard {
    /// The place of the parameter.
    pub param: u32,
    /// The type of the argument.
    pub ty: Type,
    /// Whether the call writes to it.
    pub out: bool,
}

impl Expr {
    /// Whether the expression names memory that can be written to.
    pub fn is_place(&self) -> bool {
        match &self.kind {
            ExprKind::Local(_) | ExprKind::Property { .. } => true,
            ExprKind::Field { base, .. } => base.is_place(),
            ExprKind::Index(base, _) => base.is_place(),
            _ => false,
        }
    }
}
