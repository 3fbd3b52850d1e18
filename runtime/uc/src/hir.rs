//! What a checked package is: every name resolved, every type known, every conversion written out, every operator a typed
//! one. Bytecode is made of this tree and of nothing else; whoever does so needs no lookup by name except of what reflection
//! finds by path.
//!
//! Rules that hold for every tree that [`check`](crate::check) gives back:
//!
//! - Names of members are spelled as reflection spells them (or as this package declares them), whatever the spelling in the
//!   text: so `find_property(name)` and `find_function(name)` find them as they are.
//! - Types of this package and types of reflection are both named by path. [`Type::words`] gives the words that
//!   [`PropertyType::resolve`](alcedo_reflect::property::PropertyType::resolve) reads, once the package is declared.
//! - The type of an expression is exact: where a value of another type is needed, an [`ExprKind::Convert`] or a
//!   [`ExprKind::Cast`] stands around it. Both operands of a [`Binary`] have the type of the operation.
//! - An expression is a place if [`Expr::is_place`] says so; what is assigned to, and what an `out` argument is, always is one.

use std::fmt;
use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;
use alcedo_reflect::type_text::{SignatureText, TypeText};

/// The path of a type, `/Script/Package.Name`, or of a delegate of a class, `/Script/Package.Class:Name`.
pub type Path = Rc<str>;

/// A package, checked as a whole.
#[derive(Clone, Debug, Default)]
pub struct Package {
    /// Its name, without `/Script/`.
    pub name: String,
    /// The files, as they were named in their [`Source`](crate::Source). [`Class::file`] counts in here.
    pub files: Vec<String>,
    /// The enums of all classes.
    pub enums: Vec<Enum>,
    /// The structs of all classes, what is held or extended before what holds or extends it.
    pub structs: Vec<Struct>,
    /// The delegates of all classes.
    pub delegates: Vec<Delegate>,
    /// The classes, a base before what extends it.
    pub classes: Vec<Class>,
}

/// An enum. Its numbers are `u8`, from zero on, without gaps. It ends with no hidden entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Enum {
    /// Its path.
    pub path: Path,
    /// Its name in the package.
    pub name: String,
    /// Its entries in order; the number of each is its place.
    pub entries: Vec<String>,
    /// The comment before it.
    pub doc: String,
    /// The line in the file of its class.
    pub line: u32,
}

/// A struct.
#[derive(Clone, PartialEq, Debug)]
pub struct Struct {
    /// Its path.
    pub path: Path,
    /// Its name in the package.
    pub name: String,
    /// The struct that it extends.
    pub base: Option<Path>,
    /// Its own fields in order.
    pub fields: Vec<Property>,
    /// The comment before it.
    pub doc: String,
    /// The line in the file of its class.
    pub line: u32,
}

/// What a `delegate` declares as a type: the signature. Its path is `/Script/Package.Class:Name`; reflection's
/// [`DelegateDecl`](alcedo_reflect::decl::DelegateDecl) has the class beside it. The property that holds the function to be
/// called is one of [`Class::properties`], named [`delegate_property`]; the body, if the text has one, is one of
/// [`Class::functions`], named [`delegate_body`], and runs when nothing is bound.
#[derive(Clone, PartialEq, Debug)]
pub struct Delegate {
    /// Its path.
    pub path: Path,
    /// The path of its class.
    pub class: Path,
    /// Its name in the class.
    pub name: String,
    /// What it takes.
    pub params: Vec<Param>,
    /// What it gives.
    pub result: Option<Type>,
    /// The comment before it.
    pub doc: String,
    /// The line in the file of its class.
    pub line: u32,
}

/// The name of the property that holds what the delegate of that name calls.
pub fn delegate_property(delegate: &str) -> String {
    format!("__{delegate}__Delegate")
}

/// The name of the function that runs when nothing is bound to the delegate of that name.
pub fn delegate_body(delegate: &str) -> String {
    format!("__{delegate}__Default")
}

/// A class.
#[derive(Clone, Debug)]
pub struct Class {
    /// Its path.
    pub path: Path,
    /// Its name in the package.
    pub name: String,
    /// The path of its base class.
    pub base: Path,
    /// What is said of it beside.
    pub flags: ClassFlags,
    /// The C library that it is bound to: `DLLBind(Name)`.
    pub dll_bind: Option<String>,
    /// The paths of the interfaces that it implements.
    pub interfaces: Vec<Path>,
    /// Its file, by its place in [`Package::files`].
    pub file: u32,
    /// Its own properties in order. Their defaults are in [`Class::defaults`].
    pub properties: Vec<Property>,
    /// Its constants in order, for tools: they are written out wherever they are used.
    pub consts: Vec<NamedConst>,
    /// Its own functions in order.
    pub functions: Vec<Function>,
    /// Objects that every object of the class has of its own: `Begin Object Class=… Name=…`.
    pub subobjects: Vec<Subobject>,
    /// What `defaultproperties` says, in order, of own and inherited properties. It is for the class default object, after its
    /// base's values were taken over.
    pub defaults: Vec<Default>,
    /// The comment before it.
    pub doc: String,
    /// The line of `class`.
    pub line: u32,
}

/// What is said of a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClassFlags {
    /// `abstract`: only classes that extend it have objects.
    pub is_abstract: bool,
    /// It has `DLLBind` or is marked `final`: no class extends it.
    pub is_final: bool,
    /// `transient`.
    pub transient: bool,
    /// `placeable`, and not `notplaceable`.
    pub placeable: bool,
}

/// A property of a class or a field of a struct.
#[derive(Clone, PartialEq, Debug)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Bits of [`alcedo_abi::kinds::property_flags`]. Scripts may always read and write it.
    pub flags: u64,
    /// What else is said: `category`, `config`, `localized`, and what `<…|…>` behind it says.
    pub meta: Vec<(String, String)>,
    /// The default of a field (`structdefaultproperties`); properties of classes have theirs in [`Class::defaults`].
    pub default: Option<Const>,
    /// Whether code of other classes may use it.
    pub access: Access,
    /// Whether nothing but defaults changes it: `const`.
    pub is_const: bool,
    /// The comment before it.
    pub doc: String,
    /// The line in its file.
    pub line: u32,
}

/// Who may use a member. It is checked already; this is for tools.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Access {
    /// Everyone.
    #[default]
    Public,
    /// The class and what extends it.
    Protected,
    /// The class.
    Private,
}

/// A constant that has a name.
#[derive(Clone, PartialEq, Debug)]
pub struct NamedConst {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Const,
}

/// A value that is known when the text is checked.
#[derive(Clone, PartialEq, Debug)]
pub enum Const {
    /// `true`, `false`.
    Bool(bool),
    /// A whole number. It fits the type that it is for.
    Int(i128),
    /// A number with a fraction. For an `f32` it is what that `f32` is.
    Float(f64),
    /// Text, of whichever of the text types.
    Text(String),
    /// A name.
    Name(String),
    /// An entry of an enum: its path, the entry's name and number.
    Enum(Path, String, i128),
    /// A class, by its path.
    Class(Path),
    /// An object that is not of this package, by class and name as they are written: `Texture'Pkg.Name'`.
    Object(Path, String),
    /// A subobject of the class that the default is for, by its name.
    Subobject(String),
    /// No object, no class, nothing bound.
    None,
    /// A struct: the fields that are said; all others are as the struct's defaults.
    Struct(Vec<(String, Self)>),
    /// A row of values, of a dynamic or fixed array.
    Array(Vec<Self>),
    /// A function of the object itself, for a delegate: the name.
    Function(String),
}

/// One line of `defaultproperties`.
#[derive(Clone, PartialEq, Debug)]
pub struct Default {
    /// The path of the class that declares the property.
    pub owner: Path,
    /// The property.
    pub property: String,
    /// What is done.
    pub action: DefaultAction,
    /// The line in its file.
    pub line: u32,
}

/// What one line of `defaultproperties` does to its property.
#[derive(Clone, PartialEq, Debug)]
pub enum DefaultAction {
    /// The property becomes that.
    Set(Const),
    /// One element of an array becomes that; a dynamic array that is too short grows with zeros.
    SetElement(u32, Const),
    /// A dynamic array gets one more.
    Add(Const),
    /// A dynamic array loses every element equal to that.
    Remove(Const),
    /// A dynamic array loses one element.
    RemoveIndex(u32),
    /// A dynamic array loses all.
    Empty,
}

/// An object that every object of a class has of its own.
#[derive(Clone, PartialEq, Debug)]
pub struct Subobject {
    /// Its name in its owner.
    pub name: String,
    /// The path of its class.
    pub class: Path,
    /// Whether it changes a subobject that a base class has under that name, and makes none.
    pub inherited: bool,
    /// What its properties begin with.
    pub defaults: Vec<Default>,
    /// The line in its file.
    pub line: u32,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name. An override is spelled as what it overrides.
    pub name: String,
    /// What it is.
    pub flags: FunctionFlags,
    /// Who may call it.
    pub access: Access,
    /// What it takes. Parameters are the first locals: parameter 0 is [`LocalId`] 0.
    pub params: Vec<Param>,
    /// What it gives.
    pub result: Option<Type>,
    /// What it overrides: the path of the function that was declared first in the chain, `/Script/Package.Class:name`. It may
    /// be an event of a native class or of a plugin's, or a function of a script class.
    pub overrides: Option<Path>,
    /// The function that `super` leads to: the nearest one above, by its path.
    pub super_function: Option<Path>,
    /// Locals behind the parameters: the first is [`LocalId`] `params.len()`. Those the checker adds have names in `<>`.
    pub locals: Vec<Local>,
    /// The statements; `None` for a function without a body: `dllimport`, an event that only others implement.
    pub body: Option<Vec<Stmt>>,
    /// Key and value, for reflection.
    pub meta: Vec<(String, String)>,
    /// The comment before it.
    pub doc: String,
    /// The line of its name.
    pub line: u32,
    /// The line of the closing brace, where a call returns that ran to the end.
    pub end_line: u32,
}

/// What a function is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, core::default::Default)]
pub struct FunctionFlags {
    /// It takes no object.
    pub is_static: bool,
    /// No class below overrides it, and calls of it are [`Callee::Final`].
    pub is_final: bool,
    /// It was written `event`.
    pub is_event: bool,
    /// `dllimport`: its body is in the library that its class names.
    pub dll_import: bool,
    /// It is the body of a delegate; see [`delegate_body`].
    pub delegate_body: bool,
    /// `exec`: a console may call it.
    pub exec: bool,
    /// `singular`: a call while one of the same object runs does nothing.
    pub singular: bool,
}

/// A parameter.
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Whether it comes back to the caller.
    pub out: bool,
    /// Whether a caller may leave it away.
    pub optional: bool,
    /// What an optional one is that was left away: evaluated in the called function, in order, before its body. `None` is the
    /// zero value.
    pub default: Option<Expr>,
    /// Whether an argument is turned into text, or whatever the type is, where it would otherwise be refused.
    pub coerce: bool,
    /// The line in its file.
    pub line: u32,
}

/// A local variable. It starts at zero in every call.
#[derive(Clone, PartialEq, Debug)]
pub struct Local {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// A parameter or local, counted from the first parameter on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LocalId(pub u32);

/// A type. Its zero value is what zero bytes mean, except that a struct's is what the struct's defaults say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    /// A number: `byte`, `int`, `float`, and the others of reflection.
    Num(Num),
    /// `bool`.
    Bool,
    /// `string`: reflection's `String`.
    Text,
    /// Reflection's `Utf8String`.
    Utf8Text,
    /// Reflection's `AnsiString`.
    AnsiText,
    /// Reflection's `Text`.
    LocalText,
    /// `name`.
    Name,
    /// Reflection's `FieldPath`.
    FieldPath,
    /// An enum, and the kind of its numbers: `u8` for those of scripts.
    Enum(Path, Num),
    /// A struct.
    Struct(Path),
    /// An object of that class or of one that extends it, or none.
    Object(Path),
    /// `class<X>`: that class or one that extends it, or none. Reflection's `SubclassOf`.
    Class(Path),
    /// An object of a class that implements the interface, or none. Reflection's `ScriptInterface`.
    Interface(Path),
    /// Reflection's `WeakObject`, `SoftObject`, `LazyObject` and `SoftClass`, told apart by the kind.
    Reference(PropertyKind, Path),
    /// `array<T>`.
    Array(Box<Self>),
    /// `T name[N]`. Reflection has it as `Array(T)` with the meta key `array_dim`; it always has `N` elements.
    Fixed(Box<Self>, u32),
    /// Reflection's `Set`.
    Set(Box<Self>),
    /// Reflection's `Map`: `map<K, V>`.
    Map(Box<Self>, Box<Self>),
    /// Reflection's `Optional`.
    Optional(Box<Self>),
    /// A delegate: which of the three kinds, its path if it has a name, and its signature.
    Delegate(PropertyKind, Option<Path>, Rc<SignatureText>),
    /// What `none` is before it is known what it is for. No property or local has it.
    None,
    /// What a call without a result gives. No property or local has it.
    Nothing,
}

/// The kinds of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[expect(missing_docs, reason = "a number's name says all")]
pub enum Num {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
}

impl Num {
    /// All kinds.
    pub const ALL: [Self; 10] =
        [Self::U8, Self::U16, Self::U32, Self::U64, Self::I8, Self::I16, Self::I32, Self::I64, Self::F32, Self::F64];

    /// The kind in reflection.
    pub const fn kind(self) -> PropertyKind {
        match self {
            Self::U8 => PropertyKind::U8,
            Self::U16 => PropertyKind::U16,
            Self::U32 => PropertyKind::U32,
            Self::U64 => PropertyKind::U64,
            Self::I8 => PropertyKind::I8,
            Self::I16 => PropertyKind::I16,
            Self::I32 => PropertyKind::I32,
            Self::I64 => PropertyKind::I64,
            Self::F32 => PropertyKind::F32,
            Self::F64 => PropertyKind::F64,
        }
    }

    /// The number of that kind of reflection.
    pub fn of(kind: PropertyKind) -> Option<Self> {
        Self::ALL.into_iter().find(|num| num.kind() == kind)
    }

    /// Whether it has fractions.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// Whether it is a whole number with a sign.
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// Bits of a value.
    pub const fn bits(self) -> u32 {
        match self {
            Self::U8 | Self::I8 => 8,
            Self::U16 | Self::I16 => 16,
            Self::U32 | Self::I32 | Self::F32 => 32,
            Self::U64 | Self::I64 | Self::F64 => 64,
        }
    }

    /// The smallest and the largest whole number; `None` for floats.
    pub const fn range(self) -> Option<(i128, i128)> {
        Some(match self {
            Self::U8 => (0, u8::MAX as i128),
            Self::U16 => (0, u16::MAX as i128),
            Self::U32 => (0, u32::MAX as i128),
            Self::U64 => (0, u64::MAX as i128),
            Self::I8 => (i8::MIN as i128, i8::MAX as i128),
            Self::I16 => (i16::MIN as i128, i16::MAX as i128),
            Self::I32 => (i32::MIN as i128, i32::MAX as i128),
            Self::I64 => (i64::MIN as i128, i64::MAX as i128),
            Self::F32 | Self::F64 => return None,
        })
    }

    /// Its name in scripts.
    pub const fn script_name(self) -> &'static str {
        match self {
            Self::U8 => "byte",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "int",
            Self::I64 => "i64",
            Self::F32 => "float",
            Self::F64 => "double",
        }
    }
}

/// Three floats (or ints) in a row: the structs that are named `Vector` and `Rotator` in reflection and have exactly three
/// fields of one number kind, `x y z` or `pitch yaw roll`. Operators and the literals `vect(…)` and `rot(…)` work on them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Triple {
    /// The path of the struct.
    pub path: Path,
    /// Of what the three are.
    pub of: Num,
}

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
        array: Expr,
        /// Where each element goes: of the type of the elements, after `convert`.
        element: Expr,
        /// How an element becomes what the place holds.
        convert: Option<Conversion>,
        /// Where the index goes, an `int`.
        index: Option<Expr>,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `switch`. The value is evaluated once; the first arm with an equal value is entered, and execution runs on into the next
    /// arm, until a `break`.
    Switch {
        /// What is compared.
        value: Expr,
        /// The operation that compares, [`Op::Eq`] of the type of the value.
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
    /// `vect(…)` or `rot(…)`: the three values, for a [`Triple`].
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
        /// The path of the [`delegate_body`], if there is one.
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
}

/// Operations that the language has on containers and delegates. `T` is the type of the elements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Intrinsic {
    /// `array.Length` → `int`. Also of fixed arrays, sets and maps.
    Length,
    /// `array.Add(int n)` → `int`: so many new elements with their defaults behind the last; where the first of them is.
    ArrayAdd,
    /// `array.AddItem(T)` → `int`: where it is.
    ArrayAddItem,
    /// `array.Insert(int at, int n)`: new elements with their defaults.
    ArrayInsert,
    /// `array.InsertItem(int at, T)` → `int`: where it is.
    ArrayInsertItem,
    /// `array.Remove(int at, int n)`. Outside of the array it is an error of the script, and nothing changes.
    ArrayRemove,
    /// `array.RemoveItem(T)` → `int`: how many equal ones were removed.
    ArrayRemoveItem,
    /// `array.Find(T)` → `int`: where the first equal one is; -1 without one.
    ArrayFind,
    /// `array.Find('Field', value)` → `int`: the first whose field is equal. The second operand is the value.
    ArrayFindField(String),
    /// `array.Sort(delegate)`: a delegate `(T, T) -> int` that gives less than zero where the two are the wrong way round. A
    /// stable sort; the delegate may be called in any order.
    ArraySort,
    /// `array.Empty()`.
    ArrayEmpty,
    /// `map.Find(K)` → `V`: the zero value without one. Also `map[key]` read.
    MapGet,
    /// `map.Set(K, V)`.
    MapSet,
    /// `map.Contains(K)`, `set.Contains(T)` → `bool`.
    Contains,
    /// `map.Remove(K)`, `set.Remove(T)` → `bool`: whether it was there.
    Remove,
    /// `set.Add(T)` → `bool`: whether it is new.
    SetAdd,
    /// `map.Empty()`, `set.Empty()`.
    Empty,
    /// `map.Keys()`, → `array<K>`.
    MapKeys,
    /// `map.Values()`, → `array<V>`.
    MapValues,
    /// `set.Values()` → `array<T>`.
    SetValues,
    /// `optional.IsSet()` → `bool`.
    OptionalIsSet,
    /// `optional.Get()` → `T`: the zero value without one.
    OptionalGet,
    /// `optional.Reset()`.
    OptionalReset,
    /// `multicast.Add(delegate)`, each function once.
    MulticastAdd,
    /// `multicast.Remove(delegate)`.
    MulticastRemove,
    /// `multicast.Clear()`.
    MulticastClear,
    /// Whether a delegate is bound → `bool`: `d != none`.
    DelegateIsBound,
}

/// An operator with one operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unary {
    /// `!`.
    Not,
    /// `-` of a number: `i32`, `i64`, `f32`, `f64`. Whole numbers wrap.
    Neg(Num),
    /// `~` of `i32`, `u32`, `i64`, `u64`.
    BitNot(Num),
    /// `-` of each of the three.
    NegTriple(Triple),
}

/// An operator with two operands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Binary {
    /// Which.
    pub op: Op,
    /// On what.
    pub on: Operand,
}

/// The type of the operands of an operator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operand {
    /// Two numbers of that kind: `I32 U32 I64 U64 F32 F64`, narrower ones are widened before. For the shifts the right operand
    /// is an `i32`.
    Num(Num),
    /// Two `bool`s.
    Bool,
    /// Two `string`s.
    Text,
    /// Two `name`s.
    Name,
    /// Two values of an enum, compared by number.
    Enum(Num),
    /// Two objects or classes: whether they are the same one. Their types may differ.
    Object,
    /// Two structs of that path: whether all fields are equal.
    Struct(Path),
    /// Two triples.
    Triple(Triple),
    /// A triple and a number of its kind; `f64` for triples of whole numbers.
    TripleScalar(Triple),
    /// A number and a triple.
    ScalarTriple(Triple),
    /// A vector and a rotator: `>>` turns the vector by it, `<<` turns it back.
    Turned(Triple, Triple),
    /// Two delegates: whether they call the same function of the same object.
    Delegate,
    /// Two arrays, sets, maps, or other values of the same type, by the equality of reflection.
    Value,
}

/// Operators with two operands, and what gives which type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// `+`: of whole numbers wrapping; triples; not of texts.
    Add,
    /// `-`, as `+`.
    Sub,
    /// `*`, as `+`; of a triple and a number; of two vectors by component.
    Mul,
    /// `/`: of whole numbers toward zero. By zero: 0, and the log tells it. The smallest number by -1 wraps. Floats as IEEE 754
    /// says. Of a triple by a number, of two vectors by component.
    Div,
    /// `%`: the remainder of `/`, with the sign of the left. By zero: 0, and the log tells it. Floats as `fmod`.
    Rem,
    /// `**`: floats.
    Pow,
    /// `<<`: whole numbers; of the right operand as many low bits count as the left has places (5 or 6).
    Shl,
    /// `>>`: the sign moves in, for signed numbers.
    Shr,
    /// `>>>`: zeros move in.
    Ushr,
    /// `&` of whole numbers.
    BitAnd,
    /// `|` of whole numbers.
    BitOr,
    /// `^` of whole numbers.
    BitXor,
    /// `^^` of two `bool`s → `bool`.
    Xor,
    /// `==` → `bool`. Text to the letter; floats as IEEE 754.
    Eq,
    /// `!=` → `bool`.
    Ne,
    /// `<` → `bool`: numbers, text (by code points), enums.
    Lt,
    /// `<=` → `bool`.
    Le,
    /// `>` → `bool`.
    Gt,
    /// `>=` → `bool`.
    Ge,
    /// `~=` → `bool`: floats that differ by less than 0.0001; texts that are the same but for upper and lower case.
    Near,
    /// `$` → `string`: one text behind the other.
    Concat,
    /// `@` → `string`: the same with a space between.
    ConcatSpaced,
    /// `-=` of texts → `string`: every occurrence of the right one taken out of the left one.
    TextWithout,
    /// `Dot` of two vectors → the number of their kind.
    Dot,
    /// `Cross` of two vectors → a vector.
    Cross,
    /// `ClockwiseFrom` of two `int`s → `bool`: whether the left angle is clockwise from the right one, of 65536 a turn.
    ClockwiseFrom,
}

/// How a value becomes one of another type. None of them fails.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Conversion {
    /// A number of another kind. Whole to whole keeps the low bits; float to whole rounds toward zero and stops at the ends of
    /// the range, NaN is 0 (as Rust's `as`).
    Num(Num, Num),
    /// An enum to the number that it is, of that kind, or that becomes one of another.
    EnumToNum(Num, Num),
    /// A number to an enum of that path, with numbers of the second kind. A number without an entry stays one.
    NumToEnum(Num, Path, Num),
    /// A number, whether it is not zero.
    NumToBool(Num),
    /// 1 or 0.
    BoolToNum(Num),
    /// Whole numbers as digits, floats with four digits behind the point, `f64` and `f32` alike (`%.4f`, as UnrealScript 3);
    /// `True` and `False`; names; enums by the name of the entry; objects by their name, `None` without one; classes by their
    /// name; vectors and rotators as `x,y,z` with two digits; other structs, containers, delegates as reflection prints them. From
    /// that type.
    ToText(Type),
    /// Text to a value. Numbers as far as the text reads as one (leading spaces left out), else 0; `bool`: "true" in any case, or
    /// a number that is not zero; names; triples as `x,y,z`; enums by the name of an entry, else the zero value. To that type.
    FromText(Type),
    /// The other text types and `name` to each other and to `string`: from, to. Letters that do not fit become `?`.
    Text(Type, Type),
    /// Whether there is an object, class, interface.
    ObjectToBool,
    /// Whether the text is not empty.
    TextToBool,
    /// Whether the name is not `None` and not empty.
    NameToBool,
    /// Whether any of the three is not zero.
    TripleToBool(Triple),
    /// A class, seen as an object. The same handle in a host that has classes as objects; see the notes of the machine.
    ClassToObject,
    /// An object as one of a base class, a class as `class<Base>`, `none` as any of them, a delegate as another of the same
    /// signature: nothing happens.
    Up,
    /// A struct as the one that it extends: the fields of that one.
    StructUp(Path),
    /// An object of a class that implements the interface, as that.
    ObjectToInterface(Path),
    /// An interface as the object.
    InterfaceToObject,
    /// An object as a weak, soft or lazy reference to it, of that kind.
    ToReference(PropertyKind, Path),
    /// A weak, soft or lazy reference as the object, if it is there.
    FromReference(PropertyKind),
    /// A value as an optional one.
    ToOptional,
    /// A vector as the rotator that looks along it.
    VectorToRotator(Triple, Triple),
    /// A rotator as the vector of length 1 along it.
    RotatorToVector(Triple, Triple),
    /// A triple as one of another struct of the same three names, whose numbers are of another kind.
    Triple(Triple, Triple),
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

impl Type {
    /// `byte`.
    pub const BYTE: Self = Self::Num(Num::U8);
    /// `int`.
    pub const INT: Self = Self::Num(Num::I32);
    /// `float`.
    pub const FLOAT: Self = Self::Num(Num::F32);

    /// The words of the type, as reflection reads them. `None` for [`Type::None`] and [`Type::Nothing`].
    pub fn words(&self) -> Option<TypeText> {
        let reference = |kind, path: &Path| Some(TypeText::Reference(kind, path.to_string()));
        let container = |kind, of: &[&Self]| {
            let of = of.iter().map(|inner| inner.words()).collect::<Option<Vec<_>>>()?;
            Some(TypeText::Container(kind, of))
        };
        match self {
            Self::Num(num) => Some(TypeText::Plain(num.kind())),
            Self::Bool => Some(TypeText::Plain(PropertyKind::BOOL)),
            Self::Text => Some(TypeText::Plain(PropertyKind::STRING)),
            Self::Utf8Text => Some(TypeText::Plain(PropertyKind::UTF8_STRING)),
            Self::AnsiText => Some(TypeText::Plain(PropertyKind::ANSI_STRING)),
            Self::LocalText => Some(TypeText::Plain(PropertyKind::TEXT)),
            Self::Name => Some(TypeText::Plain(PropertyKind::NAME)),
            Self::FieldPath => Some(TypeText::Plain(PropertyKind::FIELD_PATH)),
            Self::Enum(path, _) => reference(PropertyKind::ENUM, path),
            Self::Struct(path) => Some(TypeText::Struct(path.to_string())),
            Self::Object(path) => reference(PropertyKind::OBJECT, path),
            Self::Class(path) => reference(PropertyKind::SUBCLASS_OF, path),
            Self::Interface(path) => reference(PropertyKind::SCRIPT_INTERFACE, path),
            Self::Reference(kind, path) => reference(*kind, path),
            Self::Array(of) | Self::Fixed(of, _) => container(PropertyKind::ARRAY, &[of]),
            Self::Set(of) => container(PropertyKind::SET, &[of]),
            Self::Map(key, value) => container(PropertyKind::MAP, &[key, value]),
            Self::Optional(of) => container(PropertyKind::OPTIONAL, &[of]),
            Self::Delegate(kind, path, signature) => {
                Some(TypeText::Delegate(*kind, path.as_ref().map(|path| path.to_string()), (**signature).clone()))
            }
            Self::None | Self::Nothing => None,
        }
    }
}

/// The type as messages show it, in the words of the language: `int`, `array<Pawn>`, `class<Actor>`.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |path: &str| path.rsplit(['.', ':']).next().unwrap_or(path).to_owned();
        match self {
            Self::Num(num) => f.write_str(num.script_name()),
            Self::Bool => f.write_str("bool"),
            Self::Text => f.write_str("string"),
            Self::Utf8Text => f.write_str("utf8string"),
            Self::AnsiText => f.write_str("ansistring"),
            Self::LocalText => f.write_str("text"),
            Self::Name => f.write_str("name"),
            Self::FieldPath => f.write_str("fieldpath"),
            Self::Enum(path, _) | Self::Struct(path) | Self::Object(path) | Self::Interface(path) => {
                f.write_str(&short(path))
            }
            Self::Class(path) => write!(f, "class<{}>", short(path)),
            Self::Reference(kind, path) => {
                let word = match *kind {
                    PropertyKind::WEAK_OBJECT => "weak",
                    PropertyKind::SOFT_OBJECT => "soft",
                    PropertyKind::LAZY_OBJECT => "lazy",
                    _ => "softclass",
                };
                write!(f, "{word}<{}>", short(path))
            }
            Self::Array(of) => write!(f, "array<{of}>"),
            Self::Fixed(of, len) => write!(f, "{of}[{len}]"),
            Self::Set(of) => write!(f, "set<{of}>"),
            Self::Map(key, value) => write!(f, "map<{key}, {value}>"),
            Self::Optional(of) => write!(f, "optional<{of}>"),
            Self::Delegate(_, Some(path), _) => write!(f, "delegate<{}>", short(path)),
            Self::Delegate(_, None, signature) => write!(f, "delegate({signature})"),
            Self::None => f.write_str("none"),
            Self::Nothing => f.write_str("nothing"),
        }
    }
}
