//! The syntax tree of a file: what is written, not yet what it means. Every node knows its place.

use std::cell::RefCell;

use crate::source::Span;

/// A word of the text: a name, spelled as it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ident {
    /// The word.
    pub text: String,
    /// Its place.
    pub span: Span,
}

impl Ident {
    /// Whether it is that word, in whatever case.
    pub fn is(&self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(word)
    }
}

/// A file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct File {
    /// The class that it declares.
    pub class: Option<ClassHead>,
    /// What stands behind it, and before it, in order.
    pub items: Vec<Item>,
    /// Whether there is something that could not be read, so that what is not declared here may have been.
    pub is_partial: bool,
}

/// `class X extends Y …;`
#[derive(Clone, PartialEq, Debug)]
pub struct ClassHead {
    /// Whether it is an `interface`.
    pub is_interface: bool,
    /// Its name.
    pub name: Ident,
    /// Metadata between `<` and `>` after the name.
    pub meta: Option<String>,
    /// What it extends: a class, with the package before it if that is written.
    pub base: Option<Vec<Ident>>,
    /// The words behind, with what stands in parentheses behind them.
    pub modifiers: Vec<Modifier>,
    /// The comment before it.
    pub doc: String,
    /// From `class` to the semicolon.
    pub span: Span,
}

/// A word that says something of a declaration: `final`, `native(12)`, `config(User)`.
#[derive(Clone, PartialEq, Debug)]
pub struct Modifier {
    /// The word.
    pub word: Ident,
    /// What stands in parentheses behind it, as it is written.
    pub argument: Option<String>,
}

/// A declaration.
#[derive(Clone, PartialEq, Debug)]
pub enum Item {
    /// `var`.
    Var(Var),
    /// `struct`.
    Struct(Struct),
    /// `enum`.
    Enum(Enum),
    /// `const`.
    Const(Const),
    /// `function`, `event`, `delegate`, and operators.
    Function(Function),
    /// `defaultproperties`.
    Defaults(Defaults),
    /// What is recognized and is outside of the language.
    Outside(Outside),
}

/// What is outside of the language: a state, `replication`, `cpptext`, a line with `#`, a macro.
#[derive(Clone, PartialEq, Debug)]
pub struct Outside {
    /// What it is.
    pub what: OutsideKind,
    /// Its text.
    pub raw: String,
    /// Its name, if it has one.
    pub name: Option<Ident>,
    /// The place of its head.
    pub span: Span,
}

/// Kinds of what is outside of the language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutsideKind {
    /// A state.
    State,
    /// `replication { }`.
    Replication,
    /// `cpptext { }`, `structcpptext { }`.
    CppText,
    /// `#exec …`.
    Exec,
    /// `#` with another word.
    Directive,
    /// A macro, where declarations stand.
    Macro,
}

/// `var(Category) config int A, B[4];`
#[derive(Clone, PartialEq, Debug)]
pub struct Var {
    /// What stands in the parentheses behind `var`; empty for `var()`.
    pub category: Option<String>,
    /// Words before the type.
    pub modifiers: Vec<Modifier>,
    /// The type.
    pub ty: TypeRef,
    /// The names.
    pub names: Vec<VarName>,
    /// The comment before it.
    pub doc: String,
    /// Its place.
    pub span: Span,
}

/// A name that is declared, with what belongs to it alone.
#[derive(Clone, PartialEq, Debug)]
pub struct VarName {
    /// The name.
    pub name: Ident,
    /// What stands in brackets behind it.
    pub dim: Option<Expr>,
    /// What stands between `<` and `>` behind it.
    pub meta: Option<String>,
}

/// `struct [native] X extends Y { … };`
#[derive(Clone, PartialEq, Debug)]
pub struct Struct {
    /// Words before the name.
    pub modifiers: Vec<Modifier>,
    /// Its name.
    pub name: Ident,
    /// Metadata between `<` and `>` after the name.
    pub meta: Option<String>,
    /// What it extends.
    pub base: Option<Vec<Ident>>,
    /// Its fields, and types that are declared in it.
    pub items: Vec<Item>,
    /// Whether there is something in it that could not be read.
    pub is_partial: bool,
    /// The comment before it.
    pub doc: String,
    /// From `struct` to the name.
    pub span: Span,
}

/// `enum X { A, B };`
#[derive(Clone, PartialEq, Debug)]
pub struct Enum {
    /// Its name.
    pub name: Ident,
    /// Metadata between `<` and `>` after the name.
    pub meta: Option<String>,
    /// Its entries.
    pub entries: Vec<VarName>,
    /// The comment before it.
    pub doc: String,
    /// From `enum` to the name.
    pub span: Span,
}

/// `const X = value;`
#[derive(Clone, PartialEq, Debug)]
pub struct Const {
    /// Its name.
    pub name: Ident,
    /// Its value.
    pub value: Expr,
    /// The comment before it.
    pub doc: String,
    /// Its place.
    pub span: Span,
}

/// What kind of function it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FunctionKind {
    /// `function`.
    Function,
    /// `event`.
    Event,
    /// `delegate`.
    Delegate,
    /// `operator`, `preoperator`, `postoperator`.
    Operator,
}

/// A function.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// All words before the result, `function` itself left out.
    pub modifiers: Vec<Modifier>,
    /// What kind it is.
    pub kind: FunctionKind,
    /// The word that says so, with what stands in parentheses behind it: `operator(20)`.
    pub kind_word: Modifier,
    /// The result.
    pub result: Option<TypeRef>,
    /// Its name; the sign of an operator.
    pub name: Ident,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Words behind the parameters: `const`.
    pub behind: Vec<Modifier>,
    /// Statements of the body; `None` for a semicolon. The check moves them out, so a tree shrinks while the checked one grows.
    pub body: RefCell<Option<Vec<Stmt>>>,
    /// The comment before it.
    pub doc: String,
    /// From its first word to the parenthesis behind the parameters.
    pub span: Span,
    /// Its last brace, or its semicolon.
    pub end: Span,
}

/// A parameter.
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    /// Words before the type.
    pub modifiers: Vec<Modifier>,
    /// The type.
    pub ty: TypeRef,
    /// The name, with brackets behind it.
    pub name: VarName,
    /// What an optional one is that is left away.
    pub default: Option<Expr>,
}

/// A type as it is written.
#[derive(Clone, PartialEq, Debug)]
pub struct TypeRef {
    /// What it is.
    pub kind: TypeKind,
    /// Its place.
    pub span: Span,
}

/// What a type is.
#[derive(Clone, PartialEq, Debug)]
pub enum TypeKind {
    /// A name, with names before it: `int`, `Actor`, `Object.Vector`.
    Named(Vec<Ident>),
    /// A name with types between `<` and `>`: `array<int>`, `class<Actor>`, `map<name, int>`.
    Generic(Ident, Vec<TypeRef>),
    /// `delegate<X>` and `delegate<A.X>`.
    Delegate(Vec<Ident>),
    /// A struct that is declared where it is used.
    Struct(Box<Struct>),
    /// An enum that is declared where it is used.
    Enum(Box<Enum>),
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Its place: the whole of a small one, the head of a large one.
    pub span: Span,
}

/// What a statement does.
#[derive(Clone, PartialEq, Debug)]
pub enum StmtKind {
    /// A semicolon.
    Empty,
    /// An expression; also assignments.
    Expr(Expr),
    /// `local int A, B;`
    Local(TypeRef, Vec<VarName>),
    /// `{ … }`.
    Block(Vec<Stmt>),
    /// `if … else if … else …`.
    If(Vec<(Expr, Vec<Stmt>)>, Option<Vec<Stmt>>),
    /// `while (…) …`.
    While(Expr, Vec<Stmt>),
    /// `do { … } until (…);`, `do { … } while (…);`, and `do { … }` without either.
    Do(Vec<Stmt>, DoEnd),
    /// `for (…; …; …) …`.
    For(Vec<Expr>, Option<Box<Expr>>, Vec<Expr>, Vec<Stmt>),
    /// `foreach call(…) …`, or the array form.
    ForEach(Expr, Vec<Stmt>),
    /// `switch (…) { … }`.
    Switch(Expr, Vec<Arm>),
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// `return`.
    Return(Option<Expr>),
    /// `assert(…)`.
    Assert(Expr),
    /// `goto X`.
    Goto(Ident),
    /// `stop`.
    Stop,
    /// `X:`.
    Label(Ident),
    /// A line with `#`.
    Directive(String),
    /// A constant of the function.
    Const(Box<Const>),
}

/// How a `do` ends.
#[derive(Clone, PartialEq, Debug)]
pub enum DoEnd {
    /// `until`.
    Until(Expr),
    /// `while`.
    While(Expr),
}

/// An arm of a `switch`.
#[derive(Clone, PartialEq, Debug)]
pub struct Arm {
    /// The value; `None` for `default`.
    pub value: Option<Expr>,
    /// What follows.
    pub body: Vec<Stmt>,
    /// The place of `case` and the value.
    pub span: Span,
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its place.
    pub span: Span,
    /// How many expressions lie in one another in it.
    pub depth: u32,
}

/// What an expression is.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// A whole number, as it is written, and its value; `None` when it does not fit 64 bits.
    Int(String, Option<u64>),
    /// A number with a fraction, as it is written, and its value.
    Float(String, f64),
    /// A text, without its quotes, its escapes resolved.
    Text(String),
    /// `'name'`, without its quotes.
    Name(String),
    /// `Texture'Pkg.Name'`, `class'Pawn'`: the word and what stands in the quotes.
    Object(Ident, String),
    /// `true` or `false`.
    Bool(bool),
    /// `none`.
    None,
    /// `self`.
    SelfObject,
    /// `super` and `super(X)`.
    Super(Option<Ident>),
    /// `global`.
    Global,
    /// `default`: what stands before `.`.
    Default,
    /// `static`: what stands before `.`.
    Static,
    /// `vect(…)`, `rot(…)`, `rng(…)`: the word and the values.
    Triple(Ident, Vec<Expr>),
    /// A name.
    Ident(Ident),
    /// `a.b`.
    Member(Box<Expr>, Ident),
    /// `a[b]`.
    Index(Box<Expr>, Box<Expr>),
    /// `a(b, , c)`.
    Call(Box<Expr>, Vec<Option<Expr>>),
    /// `class<X>(y)`.
    ClassCast(Vec<Ident>, Box<Expr>),
    /// `new(outer, name) class(template)`.
    New(Vec<Option<Expr>>, Box<Expr>, Option<Box<Expr>>),
    /// An operator before its operand.
    Prefix(Prefix, Box<Expr>),
    /// `++` or `--` behind its operand; whether it is `++`.
    Postfix(bool, Box<Expr>),
    /// An operator between its operands.
    Infix(Infix, Span, Box<Expr>, Box<Expr>),
    /// An operator that classes declare: its sign and its operands.
    Operator(Ident, Vec<Expr>),
    /// `a ? b : c`.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a = b`.
    Assign(Box<Expr>, Box<Expr>),
    /// Parentheses around an expression.
    Paren(Box<Expr>),
    /// `` `log(…) ``: the name of the macro and the text behind it in parentheses.
    Macro(String, Option<String>),
    /// What could not be read; that was told already.
    Broken,
}

/// An operator before its operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Prefix {
    /// `!`.
    Not,
    /// `-`.
    Minus,
    /// `+`.
    Plus,
    /// `~`.
    Tilde,
    /// `++`.
    Up,
    /// `--`.
    Down,
}

macro_rules! infix {
    ($($(#[$doc:meta])* $name:ident $sign:literal $binding:literal;)*) => {
        /// An operator between its operands.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Infix { $($(#[$doc])* $name,)* }

        impl Infix {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// How it is written.
            pub fn sign(self) -> &'static str {
                match self { $(Self::$name => $sign,)* }
            }

            /// How weakly it binds, as the language's own declarations number it: of two, the one with the smaller number
            /// takes its operands first. All of them take from the left.
            pub fn binding(self) -> u8 {
                match self { $(Self::$name => $binding,)* }
            }
        }
    };
}

infix! {
    /// Power.
    Pow "**" 12;
    /// Product.
    Mul "*" 16;
    /// Quotient.
    Div "/" 16;
    /// Scalar product.
    Dot "Dot" 16;
    /// Vector product.
    Cross "Cross" 16;
    /// Remainder.
    Rem "%" 18;
    /// Sum.
    Add "+" 20;
    /// Difference.
    Sub "-" 20;
    /// Bits to the left.
    Shl "<<" 22;
    /// Bits to the right.
    Shr ">>" 22;
    /// Bits to the right, zeros come in.
    Ushr ">>>" 22;
    /// Less.
    Lt "<" 24;
    /// Greater.
    Gt ">" 24;
    /// Less or equal.
    Le "<=" 24;
    /// Greater or equal.
    Ge ">=" 24;
    /// Equal.
    Eq "==" 24;
    /// Nearly equal.
    Near "~=" 24;
    /// Which of two angles comes first.
    ClockwiseFrom "ClockwiseFrom" 24;
    /// Not equal.
    Ne "!=" 26;
    /// Bits of both.
    BitAnd "&" 28;
    /// Bits of either.
    BitOr "|" 28;
    /// Bits of one.
    BitXor "^" 28;
    /// Both.
    And "&&" 30;
    /// One of the two.
    Xor "^^" 30;
    /// Either.
    Or "||" 32;
    /// Product into the left.
    MulAssign "*=" 34;
    /// Quotient into the left.
    DivAssign "/=" 34;
    /// Sum into the left.
    AddAssign "+=" 34;
    /// Difference into the left.
    SubAssign "-=" 34;
    /// Text behind text.
    Concat "$" 40;
    /// Text, a space, text.
    ConcatSpaced "@" 40;
    /// Text behind the left.
    ConcatAssign "$=" 44;
    /// A space and text behind the left.
    ConcatSpacedAssign "@=" 44;
}

impl Infix {
    /// Whether it changes its left operand.
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
    /// The word at its start.
    pub word: Ident,
    /// Its lines.
    pub lines: Vec<DefaultLine>,
    /// The place of the word.
    pub span: Span,
}

/// A line of default properties.
#[derive(Clone, PartialEq, Debug)]
pub enum DefaultLine {
    /// `Name=value`, `Name(1)=value`, `Name[1]=value`.
    Set(Ident, Option<DefaultIndex>, DefaultValue, Span),
    /// `Name.Add(value)` and the like: `Add`, `Remove`, `RemoveIndex`, `Empty`.
    Method(Ident, Ident, Vec<DefaultValue>, Span),
    /// `Begin Object Class=X Name=Y … End Object`.
    Object(DefaultObject),
}

/// An index in default properties: a number, or a name that stands for one.
#[derive(Clone, PartialEq, Debug)]
pub struct DefaultIndex {
    /// As it is written.
    pub text: String,
    /// Its place.
    pub span: Span,
}

/// `Begin Object`.
#[derive(Clone, PartialEq, Debug)]
pub struct DefaultObject {
    /// `Class=`.
    pub class: Option<Ident>,
    /// `Name=`.
    pub name: Option<Ident>,
    /// Other words in the head: `Archetype=`, with what they are.
    pub others: Vec<(Ident, DefaultValue)>,
    /// Its lines.
    pub lines: Vec<DefaultLine>,
    /// The place of its head.
    pub span: Span,
}

/// A value in default properties.
#[derive(Clone, PartialEq, Debug)]
pub struct DefaultValue {
    /// What it is.
    pub kind: DefaultValueKind,
    /// Its place.
    pub span: Span,
}

/// What a value in default properties is.
#[derive(Clone, PartialEq, Debug)]
pub enum DefaultValueKind {
    /// Nothing stands there.
    Empty,
    /// A whole number as it is written, and its value.
    Int(String, Option<i128>),
    /// A number with a fraction.
    Float(String, f64),
    /// A text.
    Text(String),
    /// `'name'`.
    Name(String),
    /// `Texture'Pkg.Name'`.
    Object(Ident, String),
    /// A word, with words behind dots: `true`, `ROLE_Authority`, `None`, `Page.OnClick`.
    Word(Vec<Ident>),
    /// `(A=1, B(0)=2)`, an empty one too.
    Struct(Vec<(Ident, Option<DefaultIndex>, DefaultValue)>),
    /// `(1, 2)`.
    Array(Vec<DefaultValue>),
    /// What could not be read; that was told already.
    Broken,
}

/// Returns the keys, in lower case, and values of metadata between `<` and `>`.
pub(crate) fn meta_in(text: Option<&str>) -> impl Iterator<Item = (String, String)> {
    let parts = text.unwrap_or_default().split('|').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        (key.trim().to_ascii_lowercase(), value.trim().to_owned())
    })
}
