//! Statements and expressions of the checked tree.

use super::operators::{Binary, Conversion, Intrinsic, Operand, Unary};
use super::types::Type;
use super::{Const, LocalId, Path};

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    /// Kind of statement.
    pub kind: StmtKind,
    /// Line in the file of the class.
    pub line: u32,
}

/// Kinds of statements.
#[derive(Clone, PartialEq, Debug)]
pub enum StmtKind {
    /// Evaluates an expression and drops its value.
    Expr(Expr),
    /// `place = value`, of the same type. The place is resolved first, then the value is evaluated and stored.
    Assign(Expr, Expr),
    /// `array.Length = n`: the array and an `int`. Negative values count as zero.
    SetLength(Expr, Expr),
    /// An `if` statement. The condition is a `bool`.
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// A `while` or `do … while` loop. `continue` jumps to the condition.
    While {
        /// True if the body runs once before the first check of the condition.
        body_first: bool,
        /// Condition, of type `bool`. The condition of `until` is already negated. `do { … }` without a condition has `true`.
        condition: Expr,
        /// The body.
        body: Vec<Stmt>,
    },
    /// A `for` loop. `continue` jumps to the step.
    For {
        /// Statements before the loop.
        init: Vec<Stmt>,
        /// The condition, a `bool`.
        condition: Expr,
        /// Statements after each iteration.
        step: Vec<Stmt>,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `foreach Array(element, index)`: copies the elements of a dynamic or fixed array in order into a place. Each iteration reads
    /// the length of the array again.
    ForEach {
        /// The array: a place, or a value that exists until the loop ends.
        array: Box<Expr>,
        /// Target place of the element. Has the element type, or the type that `convert` yields.
        element: Box<Expr>,
        /// Conversion from the element type to the type of the target place.
        convert: Option<Conversion>,
        /// Target place of the index, an `int`.
        index: Option<Box<Expr>>,
        /// The body.
        body: Vec<Stmt>,
    },
    /// A `switch` statement. Evaluates the value once and enters the first arm with an equal value. Execution falls through to the
    /// next arms until `break`.
    Switch {
        /// Value to compare.
        value: Expr,
        /// Operand type of the comparison, which is [`Op::Eq`](super::Op::Eq) on the type of the value.
        compare: Operand,
        /// Arms in order. `default` is tried last, regardless of its position.
        arms: Vec<Arm>,
    },
    /// `break` of the nearest loop or `switch`.
    Break,
    /// `continue` of the nearest loop.
    Continue,
    /// `return`; the value has the type of the result. Without a value, a function with a result returns the zero value.
    Return(Option<Expr>),
    /// `assert(condition)`: raises a script error if the condition is false.
    Assert(Expr),
    /// Statements in braces.
    Block(Vec<Stmt>),
}

/// An arm of a `switch`.
#[derive(Clone, PartialEq, Debug)]
pub struct Arm {
    /// Value; `None` for `default`.
    pub value: Option<Expr>,
    /// Statements of the arm.
    pub body: Vec<Stmt>,
    /// Line of the arm.
    pub line: u32,
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// Kind of expression.
    pub kind: ExprKind,
    /// Type of the value.
    pub ty: Type,
    /// Line in the file of the class.
    pub line: u32,
}

/// Kinds of expressions.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// A constant. Structs have all fields here; arrays do not occur.
    Const(Const),
    /// `vect(…)` or `rot(…)`: the three components of a [`Triple`](super::Triple).
    Triple([f64; 3]),
    /// Parameter or local, which is a place.
    Local(LocalId),
    /// The `self` object; never occurs in static functions.
    SelfObject,
    /// Class of the `self` object. In a static function, the class on which the function was called.
    SelfClass,
    /// Class of an object: `x.Class`. The class of `None` is `None`.
    ClassOf(Box<Expr>),
    /// Property of an object, which is a place. If the object is `None`, reads return the zero value and writes do nothing; both
    /// are logged with the script call stack.
    Property {
        /// The object; `None` means `self`.
        object: Option<Box<Expr>>,
        /// Path of the class that declares the property.
        owner: Path,
        /// Property name.
        name: String,
    },
    /// Property of a class default object. Expressions can read the property, but not assign to it.
    DefaultProperty {
        /// The class, of type [`Type::Class`].
        class: Box<Expr>,
        /// Path of the class that declares the property.
        owner: Path,
        /// Property name.
        name: String,
    },
    /// Field of a struct. If the struct is a place, the field is a place; otherwise the field is extracted from a value.
    Field {
        /// The struct.
        base: Box<Expr>,
        /// Path of the struct type.
        structure: Path,
        /// Field name; the field may be inherited.
        field: String,
    },
    /// Element of a dynamic or fixed array, which is a place if the array is a place. The index is an `int`. Past the end of a
    /// dynamic array, reads return the zero value and writes grow the array. A negative index reads the zero value and never grows
    /// the array. Any access outside of a fixed array is a script error.
    Index(Box<Expr>, Box<Expr>),
    /// A call.
    Call(Box<Call>),
    /// Built-in operation on arrays, maps, sets and delegates. The first operand is the receiver, which is a place if the operation
    /// changes it.
    Intrinsic(Intrinsic, Vec<Expr>),
    /// Unary operator.
    Unary(Unary, Box<Expr>),
    /// Binary operator; both operands are evaluated, left before right.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `a && b`; `b` is not evaluated if `a` is false.
    And(Box<Expr>, Box<Expr>),
    /// `a || b`; `b` is not evaluated if `a` is true.
    Or(Box<Expr>, Box<Expr>),
    /// `c ? a : b`; only one of `a` and `b` is evaluated.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Compound assignment such as `place += value`. The place is resolved once, before the value is evaluated. The result is the
    /// new value of the place.
    Compound(Box<Compound>),
    /// `++` and `--`. The result is the old or the new value of the place.
    Step {
        /// The place, of a number type.
        place: Box<Expr>,
        /// True to increment, false to decrement. Integers wrap.
        up: bool,
        /// True if the result is the old value: `i++`.
        post: bool,
    },
    /// Infallible conversion to another type.
    Convert(Conversion, Box<Expr>),
    /// Checked cast of an object or class; the result is `None` if the check fails.
    Cast(Cast, Box<Expr>),
    /// An object creation `new(outer, name) class(template)`.
    New(Box<New>),
    /// Function of an object, which a delegate binds. If the object is `None`, the delegate is unbound.
    FunctionOf {
        /// The object; `None` means `self`.
        object: Option<Box<Expr>>,
        /// Path of the class that declares the function.
        owner: Path,
        /// Function name.
        name: String,
    },
}

/// A compound assignment: `place = narrow(op(widen(place), value))`.
#[derive(Clone, PartialEq, Debug)]
pub struct Compound {
    /// The place to change.
    pub place: Expr,
    /// Conversion of the old value to the type of the left operand.
    pub widen: Option<Conversion>,
    /// The operator.
    pub op: Binary,
    /// The right operand.
    pub value: Expr,
    /// Conversion of the result to the type of the place.
    pub narrow: Option<Conversion>,
}

/// An object creation with `new`.
#[derive(Clone, PartialEq, Debug)]
pub struct New {
    /// The class, of type [`Type::Class`].
    pub class: Expr,
    /// Owner of the new object; `None` means `self`.
    pub outer: Option<Expr>,
    /// Name of the new object, a `string` or a `name`.
    pub name: Option<Expr>,
    /// Object whose values are copied to the new object.
    pub template: Option<Expr>,
}

/// Condition under which a cast succeeds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cast {
    /// The object has the class or a class derived from it.
    Object(Path),
    /// The cast class is this class or derived from it.
    Class(Path),
    /// The class of the object implements the interface.
    Interface(Path),
}

/// A call.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// Function to call.
    pub callee: Callee,
    /// Arguments, one per parameter, in order.
    pub args: Vec<Arg>,
    /// Wildcards of a `custom_thunk` function, with parameter indices; empty for other functions.
    pub wildcards: Vec<Wildcard>,
}

/// Function to call. `path` names the declaration that the checker found: `/Script/Package.Class:name`.
#[derive(Clone, PartialEq, Debug)]
pub enum Callee {
    /// Dispatches by name on the class of the object.
    Virtual {
        /// The object; `None` means `self`.
        object: Option<Box<Expr>>,
        /// Path of the function.
        path: Path,
    },
    /// Calls exactly this function: a `final` or `private` function, a reflected function that is not an event, or the target of
    /// `super`.
    Final {
        /// The object; `None` means `self`.
        object: Option<Box<Expr>>,
        /// Path of the function.
        path: Path,
    },
    /// Calls a static function, which is looked up by name in a class.
    Static {
        /// Class on which the function is called, of type [`Type::Class`]. `None` means the class in the path, for library
        /// functions and `super`.
        class: Option<Box<Expr>>,
        /// Path of the function.
        path: Path,
    },
    /// Calls an interface function on an object of any implementing class.
    Interface {
        /// The object, of type [`Type::Interface`].
        object: Box<Expr>,
        /// Path of the interface function.
        path: Path,
    },
    /// Calls the bound function of a delegate. An unbound delegate runs `fallback`; without a fallback the result is the zero
    /// value.
    Delegate {
        /// The delegate.
        delegate: Box<Expr>,
        /// Object on which `fallback` is called; `None` means `self`.
        object: Option<Box<Expr>>,
        /// Path of the [`delegate_body`](super::delegate_body), if present.
        fallback: Option<Path>,
    },
}

/// An argument.
#[derive(Clone, PartialEq, Debug)]
pub enum Arg {
    /// Value of the type of the parameter.
    Value(Expr),
    /// Place of exactly the type of the parameter, which the call writes to.
    Out(Expr),
    /// Place of another type, for an `out` parameter. The first conversion applies when the value is copied in, the second when it
    /// is copied out.
    OutConverted(Expr, Conversion, Conversion),
    /// Omitted optional argument.
    Skipped,
    /// Argument of a wildcard parameter: a place or value of the type that [`Wildcard`] states.
    Wildcard(Expr),
}

/// Type of a wildcard parameter in one call.
#[derive(Clone, PartialEq, Debug)]
pub struct Wildcard {
    /// Index of the parameter.
    pub param: u32,
    /// Type of the argument.
    pub ty: Type,
    /// True if the call writes to the argument.
    pub out: bool,
}

impl Expr {
    /// Returns true if the expression names writable memory.
    pub fn is_place(&self) -> bool {
        match &self.kind {
            ExprKind::Local(_) | ExprKind::Property { .. } => true,
            ExprKind::Field { base, .. } => base.is_place(),
            ExprKind::Index(base, _) => base.is_place(),
            _ => false,
        }
    }
}
