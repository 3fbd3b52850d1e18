//! Syntax tree of a file, before names are resolved. Every node contains its span in the source.

use std::cell::RefCell;

use crate::hir::Op;
use crate::source::Span;
use crate::token::Kind;

/// An identifier or keyword as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ident {
    /// Text as written.
    pub text: String,
    /// Span in the source.
    pub span: Span,
}

impl Ident {
    /// Splits a text at its dots into names. Each name has the span of the whole text.
    pub(crate) fn dotted(text: &str, span: Span) -> Vec<Self> {
        text.split('.').map(|part| Self { text: part.trim().to_owned(), span }).collect()
    }

    /// Returns true if the text equals `word`, ignoring case.
    pub fn is(&self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(word)
    }
}

/// A file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct File {
    /// Header of the class or interface that the file declares.
    pub class: Option<ClassHead>,
    /// Declarations before and after the class header, in source order.
    pub items: Vec<Item>,
    /// True if a part of the file could not be parsed. The tree may then lack declarations from this part.
    pub is_partial: bool,
}

/// `class X extends Y …;`
#[derive(Clone, PartialEq, Debug)]
pub struct ClassHead {
    /// True for `interface`.
    pub is_interface: bool,
    /// Class name.
    pub name: Ident,
    /// Metadata between `<` and `>` after the name.
    pub meta: Option<String>,
    /// Base class, with its package if written.
    pub base: Option<Vec<Ident>>,
    /// Specifiers after the base, with their arguments.
    pub modifiers: Vec<Modifier>,
    /// Comment before the declaration.
    pub doc: String,
    /// Span from `class` to the semicolon.
    pub span: Span,
}

/// A specifier of a declaration: `final`, `native(12)`, `config(User)`.
#[derive(Clone, PartialEq, Debug)]
pub struct Modifier {
    /// Name of the specifier.
    pub name: Ident,
    /// Text in parentheses after the specifier, as written.
    pub argument: Option<String>,
}

/// A declaration.
#[derive(Clone, PartialEq, Debug)]
pub enum Item {
    /// A `var` declaration.
    Var(Var),
    /// A `struct` declaration.
    Struct(Struct),
    /// An `enum` declaration.
    Enum(Enum),
    /// A `const` declaration.
    Const(Const),
    /// A `function`, `event`, `delegate` or operator declaration.
    Function(Function),
    /// A `defaultproperties` block.
    Defaults(Defaults),
    /// A construct that is recognized but unsupported.
    Outside(Outside),
}

/// An unsupported construct: a state, `replication`, `cpptext`, a line with `#`, or a macro.
#[derive(Clone, PartialEq, Debug)]
pub struct Outside {
    /// Kind of construct.
    pub what: OutsideKind,
    /// Source text of the construct as written.
    pub raw: String,
    /// Name of the construct, if it has a name.
    pub name: Option<Ident>,
    /// Span of the construct without its body.
    pub span: Span,
}

/// Kinds of unsupported constructs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutsideKind {
    /// A state.
    State,
    /// A `replication { }` block.
    Replication,
    /// A `cpptext { }` or `structcpptext { }` block.
    CppText,
    /// A line `#exec …`.
    Exec,
    /// Line that starts with `#` and a keyword that is not `exec`.
    Directive,
    /// A macro between declarations.
    Macro,
}

/// `var(Category) config int A, B[4];`
#[derive(Clone, PartialEq, Debug)]
pub struct Var {
    /// Text in parentheses after `var`. Empty for `var()`.
    pub category: Option<String>,
    /// Specifiers before the type.
    pub modifiers: Vec<Modifier>,
    /// Type of the variables.
    pub ty: TypeRef,
    /// Declared names.
    pub names: Vec<VarName>,
    /// Comment before the declaration.
    pub doc: String,
    /// Span of the declaration.
    pub span: Span,
}

/// A declared name with its array size and metadata.
#[derive(Clone, PartialEq, Debug)]
pub struct VarName {
    /// Name of the variable or parameter.
    pub name: Ident,
    /// Expression in brackets after the name.
    pub dim: Option<Expr>,
    /// Metadata between `<` and `>` after the name.
    pub meta: Option<String>,
}

/// `struct [native] X extends Y { … };`
#[derive(Clone, PartialEq, Debug)]
pub struct Struct {
    /// Specifiers before the name.
    pub modifiers: Vec<Modifier>,
    /// Struct name.
    pub name: Ident,
    /// Metadata between `<` and `>` after the name.
    pub meta: Option<String>,
    /// Base struct.
    pub base: Option<Vec<Ident>>,
    /// Fields and nested types.
    pub items: Vec<Item>,
    /// True if a part of the struct could not be parsed. The tree may then lack declarations from this part.
    pub is_partial: bool,
    /// Comment before the declaration.
    pub doc: String,
    /// Span from `struct` to the name.
    pub span: Span,
}

/// `enum X { A, B };`
#[derive(Clone, PartialEq, Debug)]
pub struct Enum {
    /// Enum name.
    pub name: Ident,
    /// Metadata between `<` and `>` after the name.
    pub meta: Option<String>,
    /// Entries.
    pub entries: Vec<VarName>,
    /// Comment before the declaration.
    pub doc: String,
    /// Span from `enum` to the name.
    pub span: Span,
}

/// `const X = value;`
#[derive(Clone, PartialEq, Debug)]
pub struct Const {
    /// Name of the constant.
    pub name: Ident,
    /// Value of the constant.
    pub value: Expr,
    /// Comment before the declaration.
    pub doc: String,
    /// Span of the declaration.
    pub span: Span,
}

/// Kind of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FunctionKind {
    /// A `function`.
    Function,
    /// An `event`.
    Event,
    /// A `delegate`.
    Delegate,
    /// An `operator`, `preoperator` or `postoperator`.
    Operator,
}

/// A function.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Specifiers before the result type, except `function`.
    pub modifiers: Vec<Modifier>,
    /// Kind of function.
    pub kind: FunctionKind,
    /// Keyword of the function kind, with its argument: `operator(20)`.
    pub kind_keyword: Modifier,
    /// Type of the result.
    pub result: Option<TypeRef>,
    /// Name of the function, or symbol of the operator.
    pub name: Ident,
    /// Parameters.
    pub params: Vec<Param>,
    /// Specifiers after the parameters: `const`.
    pub trailing: Vec<Modifier>,
    /// Statements of the body. `None` if the function has a semicolon instead of a body. To limit peak memory, the checker moves the
    /// statements out of the tree.
    pub body: RefCell<Option<Vec<Stmt>>>,
    /// Comment before the declaration.
    pub doc: String,
    /// Span from the first specifier to the closing parenthesis of the parameters.
    pub span: Span,
    /// Span of the closing brace, or of the semicolon.
    pub end: Span,
}

/// A parameter.
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    /// Specifiers before the type.
    pub modifiers: Vec<Modifier>,
    /// Type of the parameter.
    pub ty: TypeRef,
    /// Name of the parameter, with its array size.
    pub name: VarName,
    /// Default value of an optional parameter.
    pub default: Option<Expr>,
}

/// A type as written.
#[derive(Clone, PartialEq, Debug)]
pub struct TypeRef {
    /// Kind of the type reference.
    pub kind: TypeKind,
    /// Span of the type.
    pub span: Span,
}

/// Kinds of type references.
#[derive(Clone, PartialEq, Debug)]
pub enum TypeKind {
    /// Name with optional qualifiers: `int`, `Actor`, `Object.Vector`.
    Named(Vec<Ident>),
    /// Name with type arguments: `array<int>`, `class<Actor>`, `map<name, int>`.
    Generic(Ident, Vec<TypeRef>),
    /// `delegate<X>` and `delegate<A.X>`.
    Delegate(Vec<Ident>),
    /// Struct declared inline.
    Struct(Box<Struct>),
    /// Enum declared inline.
    Enum(Box<Enum>),
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    /// Kind of statement.
    pub kind: StmtKind,
    /// Complete span of an expression, `return` or `assert`. For all other statements, only the span of the first token.
    pub span: Span,
}

/// Kinds of statements.
#[derive(Clone, PartialEq, Debug)]
pub enum StmtKind {
    /// A semicolon without a statement.
    Empty,
    /// Expression or assignment.
    Expr(Expr),
    /// `local int A, B;`
    Local(TypeRef, Vec<VarName>),
    /// A block `{ … }`.
    Block(Vec<Stmt>),
    /// A statement `if … else if … else …`.
    If(Vec<(Expr, Vec<Stmt>)>, Option<Vec<Stmt>>),
    /// A loop `while (…) …`.
    While(Expr, Vec<Stmt>),
    /// A loop `do { … } until (…);`, `do { … } while (…);`, or `do { … }` without a condition.
    Do(Vec<Stmt>, DoEnd),
    /// A loop `for (…; …; …) …`.
    For(Vec<Expr>, Option<Box<Expr>>, Vec<Expr>, Vec<Stmt>),
    /// A loop `foreach call(…) …`, or `foreach Array(element, index) …`.
    ForEach(Expr, Vec<Stmt>),
    /// A statement `switch (…) { … }`.
    Switch(Expr, Vec<Arm>),
    /// A `break` statement.
    Break,
    /// A `continue` statement.
    Continue,
    /// A `return` statement.
    Return(Option<Expr>),
    /// A statement `assert(…)`.
    Assert(Expr),
    /// A statement `goto X`.
    Goto(Ident),
    /// A `stop` statement.
    Stop,
    /// A label `X:`.
    Label(Ident),
    /// Line that starts with `#`.
    Directive(String),
    /// Constant local to the function.
    Const(Box<Const>),
}

/// Condition keyword at the end of a `do` loop.
#[derive(Clone, PartialEq, Debug)]
pub enum DoEnd {
    /// A loop that ends with `until`.
    Until(Expr),
    /// A loop that ends with `while`.
    While(Expr),
}

/// An arm of a `switch`.
#[derive(Clone, PartialEq, Debug)]
pub struct Arm {
    /// Value of the `case`. `None` for `default`.
    pub value: Option<Expr>,
    /// Statements of the arm.
    pub body: Vec<Stmt>,
    /// Span of `case` and the value.
    pub span: Span,
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// Kind of expression.
    pub kind: ExprKind,
    /// Span of the expression.
    pub span: Span,
    /// Nesting depth of the expression.
    pub depth: u32,
}

/// Kinds of expressions.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// Integer as written, with its value. The value is `None` if it does not fit in 64 bits.
    Int(String, Option<u64>),
    /// Floating-point number as written, with its value.
    Float(String, f64),
    /// String without quotes, with escapes resolved.
    Text(String),
    /// `'name'`, without its quotes.
    Name(String),
    /// `Texture'Pkg.Name'`, `class'Pawn'`: the class and the text in quotes.
    Object(Ident, String),
    /// `true` or `false`.
    Bool(bool),
    /// The keyword `none`.
    None,
    /// The keyword `self`.
    SelfObject,
    /// `super` and `super(X)`.
    Super(Option<Ident>),
    /// The keyword `global`.
    Global,
    /// The keyword `default`, before `.`.
    Default,
    /// The keyword `static`, before `.`.
    Static,
    /// `vect(…)`, `rot(…)`, `rng(…)`: the keyword and its arguments.
    Triple(Ident, Vec<Expr>),
    /// A name.
    Ident(Ident),
    /// Member access `a.b`.
    Member(Box<Expr>, Ident),
    /// Element access `a[b]`.
    Index(Box<Expr>, Box<Expr>),
    /// A call `a(b, , c)`.
    Call(Box<Expr>, Vec<Option<Expr>>),
    /// A class cast `class<X>(y)`.
    ClassCast(Vec<Ident>, Box<Expr>),
    /// An object creation `new(outer, name) class(template)`.
    New(Vec<Option<Expr>>, Box<Expr>, Option<Box<Expr>>),
    /// An operator before its operand.
    Prefix(Prefix, Box<Expr>),
    /// `++` (`true`) or `--` (`false`) after its operand.
    Postfix(bool, Box<Expr>),
    /// An operator between its operands.
    Infix(Infix, Span, Box<Expr>, Box<Expr>),
    /// An operator that a class declares, with its operands.
    Operator(Ident, Vec<Expr>),
    /// A conditional `a ? b : c`.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// An assignment `a = b`.
    Assign(Box<Expr>, Box<Expr>),
    /// Parentheses around an expression.
    Paren(Box<Expr>),
    /// A macro call `` `log(…) ``: name of the macro, and text in the parentheses after the name.
    Macro(String, Option<String>),
}

/// An operator before its operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Prefix {
    /// Logical not: `!`.
    Not,
    /// Negation: `-`.
    Minus,
    /// Unary plus: `+`.
    Plus,
    /// Bitwise not: `~`.
    Tilde,
    /// Increment: `++`.
    Up,
    /// Decrement: `--`.
    Down,
}

/// Declares the binary operators. Each line contains a variant name, the source text, the token kind, the precedence number, and the
/// operation in the checked tree.
macro_rules! infix {
    ($($(#[$doc:meta])* $name:ident $sign:literal $token:ident $binding:literal [$($op:ident)?];)*) => {
        /// An operator between its operands.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Infix { $($(#[$doc])* $name,)* }

        impl Infix {
            /// Returns the source text of the operator.
            pub fn sign(self) -> &'static str {
                match self { $(Self::$name => $sign,)* }
            }

            /// Returns the precedence number of the operator, as in the language definition. Operators with smaller numbers bind tighter.
            /// All operators are left-associative.
            pub fn binding(self) -> u8 {
                match self { $(Self::$name => $binding,)* }
            }

            /// Returns the operation that represents the operator in the checked tree. For `+=`, this is the operation of `+`. Returns
            /// `None` for `&&` and `||`.
            pub(crate) fn op(self) -> Option<Op> {
                match self { $(Self::$name => None$(.or(Some(Op::$op)))?,)* }
            }

            /// Returns the operator of a token. Operators that are words (`Dot`, `Cross`) share a token kind, and are distinguished by
            /// `text`.
            pub(crate) fn of_token(kind: Kind, text: &str) -> Option<Self> {
                match kind {
                    $(Kind::$token if text.eq_ignore_ascii_case($sign) => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

infix! {
    /// Power.
    Pow "**" Power 12 [Pow];
    /// Product.
    Mul "*" Star 16 [Mul];
    /// Quotient.
    Div "/" Slash 16 [Div];
    /// Scalar product.
    Dot "Dot" Word 16 [Dot];
    /// Vector product.
    Cross "Cross" Word 16 [Cross];
    /// Remainder.
    Rem "%" Percent 18 [Rem];
    /// Sum.
    Add "+" Plus 20 [Add];
    /// Difference.
    Sub "-" Minus 20 [Sub];
    /// Shift left.
    Shl "<<" Shl 22 [Shl];
    /// Arithmetic shift right.
    Shr ">>" Shr 22 [Shr];
    /// Logical shift right.
    Ushr ">>>" Ushr 22 [Ushr];
    /// Less.
    Lt "<" Lt 24 [Lt];
    /// Greater.
    Gt ">" Gt 24 [Gt];
    /// Less or equal.
    Le "<=" Le 24 [Le];
    /// Greater or equal.
    Ge ">=" Ge 24 [Ge];
    /// Equal.
    Eq "==" Eq 24 [Eq];
    /// Nearly equal.
    Near "~=" Near 24 [Near];
    /// Comparison of the directions of two angles.
    ClockwiseFrom "ClockwiseFrom" Word 24 [ClockwiseFrom];
    /// Not equal.
    Ne "!=" Ne 26 [Ne];
    /// Bitwise and.
    BitAnd "&" And 28 [BitAnd];
    /// Bitwise or.
    BitOr "|" Or 28 [BitOr];
    /// Bitwise exclusive or.
    BitXor "^" Xor 28 [BitXor];
    /// Logical and.
    And "&&" AndAnd 30 [];
    /// Logical exclusive or.
    Xor "^^" XorXor 30 [Xor];
    /// Logical or.
    Or "||" OrOr 32 [];
    /// Multiplies and assigns.
    MulAssign "*=" StarAssign 34 [Mul];
    /// Divides and assigns.
    DivAssign "/=" SlashAssign 34 [Div];
    /// Adds and assigns.
    AddAssign "+=" PlusAssign 34 [Add];
    /// Subtracts and assigns.
    SubAssign "-=" MinusAssign 34 [Sub];
    /// Concatenation of strings.
    Concat "$" Dollar 40 [Concat];
    /// Concatenation of strings with a space between them.
    ConcatSpaced "@" At 40 [ConcatSpaced];
    /// Appends to the left string.
    ConcatAssign "$=" DollarAssign 44 [Concat];
    /// Appends a space and the right string to the left.
    ConcatSpacedAssign "@=" AtAssign 44 [ConcatSpaced];
}

impl Infix {
    /// Returns true for operators that change their left operand.
    pub fn assigns(self) -> bool {
        use Infix as I;
        matches!(
            self,
            I::MulAssign | I::DivAssign | I::AddAssign | I::SubAssign | I::ConcatAssign | I::ConcatSpacedAssign
        )
    }
}

/// `defaultproperties { … }` and `structdefaultproperties { … }`.
#[derive(Clone, PartialEq, Debug)]
pub struct Defaults {
    /// The keyword.
    pub keyword: Ident,
    /// Lines of the block.
    pub lines: Vec<DefaultLine>,
}

/// A line of default properties.
#[derive(Clone, PartialEq, Debug)]
pub enum DefaultLine {
    /// `Name=value`, `Name(1)=value`, `Name[1]=value`. The index is a number, or the name of a constant or enum entry.
    Set(Ident, Option<Ident>, DefaultValue),
    /// Call of a list operation: `Name.Add(value)`, `Remove`, `RemoveIndex`, `Empty`.
    Method(Ident, Ident, Vec<DefaultValue>, Span),
    /// A block `Begin Object Class=X Name=Y … End Object`.
    Object(DefaultObject),
}

/// A `Begin Object` block.
#[derive(Clone, PartialEq, Debug)]
pub struct DefaultObject {
    /// Class after `Class=`.
    pub class: Option<Ident>,
    /// Name after `Name=`.
    pub name: Option<Ident>,
    /// Remaining `Keyword=value` pairs of the first line, such as `Archetype=…`.
    pub others: Vec<(Ident, DefaultValue)>,
    /// Lines of the block.
    pub lines: Vec<DefaultLine>,
    /// Span of the first line.
    pub span: Span,
}

/// A value in default properties.
#[derive(Clone, PartialEq, Debug)]
pub struct DefaultValue {
    /// Kind of value.
    pub kind: DefaultValueKind,
    /// Span of the value.
    pub span: Span,
}

/// Kinds of values in default properties.
#[derive(Clone, PartialEq, Debug)]
pub enum DefaultValueKind {
    /// No value, as in `Name=`.
    Empty,
    /// Integer as written, with its value.
    Int(String, Option<i128>),
    /// Floating-point number as written, with its value.
    Float(String, f64),
    /// String.
    Text(String),
    /// A name: `'name'`.
    Name(String),
    /// An object: `Texture'Pkg.Name'`.
    Object(Ident, String),
    /// Identifiers separated by dots: `true`, `ROLE_Authority`, `None`, `Page.OnClick`.
    Word(Vec<Ident>),
    /// A struct: `(A=1, B(0)=2)`. May be empty.
    Struct(Vec<(Ident, Option<Ident>, DefaultValue)>),
    /// A list: `(1, 2)`.
    Array(Vec<DefaultValue>),
}

/// Struct or enum that a class declares.
pub(crate) enum DataType<'a> {
    Struct(&'a Struct),
    Enum(&'a Enum),
}

/// Calls `visit` for each struct and enum in the declarations, including inline types. Visits the types in a struct before the struct.
pub(crate) fn each_type<'a>(items: &'a [Item], visit: &mut impl FnMut(DataType<'a>)) {
    for item in items {
        match item {
            Item::Struct(found) => each_in_struct(found, visit),
            Item::Enum(found) => visit(DataType::Enum(found)),
            Item::Var(found) => each_in_type(&found.ty, visit),
            _ => {}
        }
    }
}

fn each_in_struct<'a>(found: &'a Struct, visit: &mut impl FnMut(DataType<'a>)) {
    each_type(&found.items, visit);
    visit(DataType::Struct(found));
}

fn each_in_type<'a>(ty: &'a TypeRef, visit: &mut impl FnMut(DataType<'a>)) {
    match &ty.kind {
        TypeKind::Struct(found) => each_in_struct(found, visit),
        TypeKind::Enum(found) => visit(DataType::Enum(found)),
        TypeKind::Generic(_, of) => of.iter().for_each(|of| each_in_type(of, visit)),
        TypeKind::Named(_) | TypeKind::Delegate(_) => {}
    }
}

/// Returns the metadata between `<` and `>` as pairs of key and value. The keys are in lower case.
pub(crate) fn meta_in(text: Option<&str>) -> impl Iterator<Item = (String, String)> {
    let parts = text.unwrap_or_default().split('|').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        (key.trim().to_ascii_lowercase(), value.trim().to_owned())
    })
}
