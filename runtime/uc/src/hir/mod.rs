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

mod code;
mod operators;
mod types;

use std::rc::Rc;

pub use code::{Arg, Arm, Call, Callee, Cast, Compound, Expr, ExprKind, New, Stmt, StmtKind, Wildcard};
pub use operators::{Binary, Conversion, Intrinsic, Op, Operand, Unary};
pub use types::{Num, Triple, Type};

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
    /// The interfaces, one before those that extend it.
    pub interfaces: Vec<Interface>,
    /// The classes, a base before what extends it.
    pub classes: Vec<Class>,
    /// Paths of types and entries of enums, each with its earlier names, with commas between. Those of properties are in
    /// [`Property::meta`].
    pub earlier_names: Vec<(String, String)>,
}

/// An interface. Reflection knows of no interfaces that extend others: an interface has the functions of those that it extends, and
/// a class that implements it implements them too.
#[derive(Clone, PartialEq, Debug)]
pub struct Interface {
    /// Its path.
    pub path: Path,
    /// Its name in the package.
    pub name: String,
    /// Its file, by its place in [`Package::files`].
    pub file: u32,
    /// Its functions in order, those of what it extends first.
    pub functions: Vec<InterfaceFunction>,
    /// The comment before it.
    pub doc: String,
    /// The line of `interface`.
    pub line: u32,
}

/// A function of an interface, which has no body. Its path is `/Script/Package.Interface:name`. Classes that implement the interface
/// have one of the very name.
#[derive(Clone, PartialEq, Debug)]
pub struct InterfaceFunction {
    /// Its name.
    pub name: String,
    /// What it takes.
    pub params: Vec<Param>,
    /// What it gives.
    pub result: Option<Type>,
    /// The comment before it.
    pub doc: String,
    /// The line in its file.
    pub line: u32,
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
    /// A row of values, of a dynamic or fixed array, or of a set; of a map, rows of a key and a value.
    Array(Vec<Self>),
    /// A function of the object itself, for a delegate: the name.
    Function(String),
    /// A function of the object that the object of these defaults belongs to.
    OwnerFunction(String),
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
    /// `bool8`: its `bool` result fills one byte in C.
    pub bool8: bool,
    /// `bool32`: its `bool` result fills four bytes in C.
    pub bool32: bool,
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
