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
    /// Evaluates an expression and discards its value.
    Expr(Expr),
    /// `place = value`. Both sides have the same type. The place is resolved first, then the value is evaluated and stored.
    Assign(Expr, Expr),
    /// `array.Length = n`. The operands are the array and an `int`. Negative lengths count as zero.
    SetLength(Expr, Expr),
    /// An `if` statement. The condition is a `bool`.
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// A `while` or `do … while` loop. `continue` jumps to the condition.
    While {
        /// True if the body runs once before the first check of the condition.
        body_first: bool,
        /// Condition, of type `bool`. The condition of `until` is already negated. A `do { … }` without a condition has the constant
        /// `true`.
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
    /// `foreach Array(element, index)`. Copies the elements of a dynamic or fixed array to a place, one per iteration, in order. Each
    /// iteration reads the length of the array again.
    ForEach {
        /// The array: a place, which is resolved once, or a value that is stored until the loop ends.
        array: Box<Expr>,
        /// Target place of the element. Has the element type, or the type that `convert` yields.
        element: Box<Expr>,
        /// Conversion from the element type to the type of the target place.
        convert: Option<Conversion>,
        /// Target place of the index. Has the type `int`.
        index: Option<Box<Expr>>,
        /// The body.
        body: Vec<Stmt>,
    },
    /// A `switch` statement. Evaluates the value once and enters the first arm with an equal value. Without a `break`, execution continues
    /// with the next arm.
    Switch {
        /// Value to compare.
        value: Expr,
        /// Operand type of the comparison. The comparison is [`Op::Eq`](super::Op::Eq) on the type of the value.
        compare: Operand,
        /// Arms in source order. The `default` arm is entered only if no other arm matches, regardless of its position.
        arms: Vec<Arm>,
    },
    /// `break` of the nearest loop or `switch`.
    Break,
    /// `continue` of the nearest loop.
    Continue,
    /// `return`. The value has the type of the result. Without a value, a function with a result returns the zero value.
    Return(Option<Expr>),
    /// `assert(condition)`. Raises a script error if the condition is false.
    Assert(Expr),
    /// Statements in braces.
    Block(Vec<Stmt>),
}

/// An arm of a `switch`.
#[derive(Clone, PartialEq, Debug)]
pub struct Arm {
    /// Value of the `case`. `None` for `default`.
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
    /// A constant. A struct constant contains all fields of its struct. Array constants do not occur in expressions.
    Const(Const),
    /// `vect(…)` or `rot(…)`: the three components of a [`Triple`](super::Triple).
    Triple([f64; 3]),
    /// Parameter or local. This expression is a place.
    Local(LocalId),
    /// The `self` object. Does not occur in static functions.
    SelfObject,
    /// Class of the `self` object. In a static function, the class that the function was called on.
    SelfClass,
    /// Class of an object: `x.Class`. The class of `None` is `None`.
    ClassOf(Box<Expr>),
    /// Property of an object. This expression is a place. If the object is `None`, reads return the zero value and writes do nothing. Each
    /// access through `None` is logged with the script call stack.
    Property {
        /// The object. `None` means `self`.
        object: Option<Box<Expr>>,
        /// Path of the class that declares the property.
        owner: Path,
        /// Property name.
        name: String,
    },
    /// Property of a class default object. This expression is not a place: scripts can only read the property.
    DefaultProperty {
        /// The class, of type [`Type::Class`].
        class: Box<Expr>,
        /// Path of the class that declares the property.
        owner: Path,
        /// Property name.
        name: String,
    },
    /// Field of a struct. If the struct is a place, the field is also a place. Otherwise, the field is extracted from a temporary struct
    /// value.
    Field {
        /// The struct.
        base: Box<Expr>,
        /// Path of the struct type.
        structure: Path,
        /// Name of the field. The field may be inherited.
        field: String,
    },
    /// Element of a dynamic or fixed array. If the array is a place, the element is also a place. The index is an `int`. Past the end of a
    /// dynamic array, reads return the zero value and writes grow the array. With a negative index, reads return the zero value and writes
    /// do not grow the array. An access outside a fixed array is a script error.
    Index(Box<Expr>, Box<Expr>),
    /// A call. Evaluates the object or class of the callee, then the arguments, also for a call on `None`.
    Call(Box<Call>),
    /// Built-in operation on arrays, maps, sets and delegates. The first operand is the receiver. If the operation changes the receiver,
    /// the receiver is a place. The place is resolved first, and read after the evaluation of the other operands.
    Intrinsic(Intrinsic, Vec<Expr>),
    /// Unary operator.
    Unary(Unary, Box<Expr>),
    /// Binary operator. Both operands are evaluated, left before right.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `a && b`. If `a` is false, `b` is not evaluated.
    And(Box<Expr>, Box<Expr>),
    /// `a || b`. If `a` is true, `b` is not evaluated.
    Or(Box<Expr>, Box<Expr>),
    /// `c ? a : b`. Only one of `a` and `b` is evaluated.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Compound assignment such as `place += value`. The place is resolved once, before the evaluation of the value. The result is the new
    /// value of the place.
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
    /// Conversion to another type. The conversion always succeeds.
    Convert(Conversion, Box<Expr>),
    /// Checked cast of an object or class. The result is `None` if the check fails.
    Cast(Cast, Box<Expr>),
    /// An object creation `new(outer, name) class(template)`.
    New(Box<New>),
    /// Function of an object, used as a delegate value. If the object is `None` at run time, the delegate is unbound.
    FunctionOf {
        /// The object. `None` means `self`.
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
    /// Type of the left operand.
    pub left: Type,
    /// Conversion of the old value to the type of the left operand.
    pub widen: Option<Conversion>,
    /// The operator.
    pub op: Binary,
    /// The right operand.
    pub value: Expr,
    /// Type of the result of the operator.
    pub result: Type,
    /// Conversion of the result to the type of the place.
    pub narrow: Option<Conversion>,
}

/// An object creation with `new`.
#[derive(Clone, PartialEq, Debug)]
pub struct New {
    /// The class, of type [`Type::Class`].
    pub class: Expr,
    /// Owner of the new object. `None` means `self`.
    pub outer: Option<Expr>,
    /// Name of the new object, a `string` or a `name`.
    pub name: Option<Expr>,
    /// Object whose values are copied to the new object.
    pub template: Option<Expr>,
}

/// Kind of a cast. Each variant describes when the cast succeeds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cast {
    /// The class of the object is this class or derived from this class.
    Object(Path),
    /// The class value is this class or derived from this class.
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
    /// Types of the wildcard arguments, if the function is a `custom_thunk` function. Empty for functions without a custom thunk.
    pub wildcards: Vec<Wildcard>,
}

/// Function to call. `path` names the declaration that the checker found: `/Script/Package.Class:name`.
#[derive(Clone, PartialEq, Debug)]
pub enum Callee {
    /// Dispatches by name on the class of the object.
    Virtual {
        /// The object. `None` means `self`.
        object: Option<Box<Expr>>,
        /// Path of the function.
        path: Path,
    },
    /// Calls exactly this function. Used for `final` and `private` functions, for reflected functions that are not events, and for `super`.
    Final {
        /// The object. `None` means `self`.
        object: Option<Box<Expr>>,
        /// Path of the function.
        path: Path,
    },
    /// Calls a static function, which is looked up by name in a class.
    Static {
        /// Class for the lookup, of type [`Type::Class`]. `None` means the class in the path, as for library functions and `super`.
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
    /// Calls the bound function of a delegate. If the delegate is unbound, calls `fallback`. Without a fallback, the result is the zero
    /// value.
    Delegate {
        /// The delegate.
        delegate: Box<Expr>,
        /// Object on which `fallback` is called. `None` means `self`.
        object: Option<Box<Expr>>,
        /// Path of the [`delegate_body`](super::delegate_body), if present.
        fallback: Option<Path>,
    },
}

/// An argument.
#[derive(Clone, PartialEq, Debug)]
pub enum Arg {
    /// Value with the type of the parameter. The parameter has no `out`, or is a `const out` parameter.
    Value(Expr),
    /// Place whose type equals the type of the parameter. The value is copied in when the argument is evaluated. After the call, the values
    /// of all `out` parameters are copied out in the order of the arguments.
    Out(Expr),
    /// Place whose type differs from the type of the `out` parameter. The first conversion applies before the call, when the value is
    /// copied in. The second conversion applies after the call, when the value is copied out.
    OutConverted(Expr, Conversion, Conversion),
    /// Omitted optional argument.
    Skipped,
    /// Argument of a wildcard parameter: a place or value of the type in [`Wildcard`].
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
        matches!(self.root().kind, ExprKind::Local(_) | ExprKind::Property { .. })
    }

    /// Returns the expression below all field and element accesses: `a` for `a.b[1].c`. Returns other expressions unchanged.
    pub fn root(&self) -> &Self {
        match &self.kind {
            ExprKind::Field { base, .. } | ExprKind::Index(base, _) => base.root(),
            _ => self,
        }
    }
}
