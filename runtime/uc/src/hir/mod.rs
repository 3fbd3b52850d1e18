//! Checked tree of a package. Names are resolved, types are known, conversions are explicit, and operators are typed. The bytecode compiler
//! uses only this tree. The paths in the tree are looked up in reflection when the bytecode is linked.
//!
//! Invariants of every tree that [`check`](crate::check) returns:
//!
//! - Member names have the spelling of reflection (or of the declaration in this package), so that `find_property(name)` and
//!   `find_function(name)` find them.
//! - Types of this package and of reflection are named by path. [`Type::type_text`] returns a description of a type. After the package is
//!   declared, [`PropertyType::resolve`](alcedo_reflect::property::PropertyType::resolve) resolves this description.
//! - Types of expressions are exact. If a value has a different type, an [`ExprKind::Convert`] or [`ExprKind::Cast`] wraps the value. Both
//!   operands of a [`Binary`] have the type of the operation.
//! - Assignment targets and `out` arguments are places: [`Expr::is_place`] returns true for them.

mod code;
mod operators;
mod types;

use std::rc::Rc;

pub use code::{Arg, Arm, Call, Callee, Cast, Compound, Expr, ExprKind, New, Stmt, StmtKind, Wildcard};
pub use operators::{Binary, Conversion, Intrinsic, Op, Operand, Unary};
pub use types::{Num, Triple, Type};

/// Path of a type (`/Script/Package.Name`), or of a delegate of a class (`/Script/Package.Class:Name`).
pub type Path = Rc<str>;

/// A checked package.
#[derive(Clone, Debug, Default)]
pub struct Package {
    /// Name without `/Script/`.
    pub name: String,
    /// File names as in [`Source`](crate::Source). [`Class::file`] is an index into this list.
    pub files: Vec<String>,
    /// Enums that the classes declare.
    pub enums: Vec<Enum>,
    /// Structs that the classes declare. Each struct follows its base and the structs in its fields.
    pub structs: Vec<Struct>,
    /// Delegates that the classes declare.
    pub delegates: Vec<Delegate>,
    /// Interfaces. Each interface follows its bases.
    pub interfaces: Vec<Interface>,
    /// Classes. Each class follows its base.
    pub classes: Vec<Class>,
    /// Earlier names of types and enum entries. Each pair has the current path, and the earlier names separated by commas.
    /// [`Property::meta`] contains the earlier names of properties.
    pub earlier_names: Vec<(String, String)>,
}

/// An interface. Because reflection does not support interface inheritance, an interface contains copies of the functions of its bases, and
/// an implementing class also lists the bases.
#[derive(Clone, PartialEq, Debug)]
pub struct Interface {
    /// Name in the package.
    pub name: String,
    /// Functions in order. Inherited functions are first.
    pub functions: Vec<InterfaceFunction>,
    /// Comment before the declaration.
    pub doc: String,
}

/// Function of an interface, without a body. The path of the function is `/Script/Package.Interface:name`. An implementing class has a
/// function with the same name, including case.
#[derive(Clone, PartialEq, Debug)]
pub struct InterfaceFunction {
    /// Function name.
    pub name: String,
    /// Parameters.
    pub params: Vec<Param>,
    /// Type of the result.
    pub result: Option<Type>,
    /// Comment before the declaration.
    pub doc: String,
}

/// An enum. The discriminants of the entries have the type `u8`, start at zero and have no gaps. The list does not contain Unreal's hidden
/// last entry `X_MAX`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Enum {
    /// Path of the enum.
    pub path: Path,
    /// Name in the package.
    pub name: String,
    /// Entries in order. The discriminant of an entry is its index.
    pub entries: Vec<String>,
    /// Comment before the declaration.
    pub doc: String,
}

/// A struct.
#[derive(Clone, PartialEq, Debug)]
pub struct Struct {
    /// Path of the struct.
    pub path: Path,
    /// Name in the package.
    pub name: String,
    /// Base struct.
    pub base: Option<Path>,
    /// Fields that the struct itself declares, in order of declaration.
    pub fields: Vec<Property>,
    /// Comment before the declaration.
    pub doc: String,
}

/// Delegate declaration, whose signature is also a type. The path of the delegate is `/Script/Package.Class:Name`;
/// [`DelegateDecl`](alcedo_reflect::decl::DelegateDecl) stores the class separately. [`Class::properties`] contains a property for the
/// bound function, named [`delegate_property`]. If the declaration has a body, [`Class::functions`] contains the body as a function named
/// [`delegate_body`], which runs if no function is bound.
#[derive(Clone, PartialEq, Debug)]
pub struct Delegate {
    /// Path of the class.
    pub class: Path,
    /// Name in the class.
    pub name: String,
    /// Parameters.
    pub params: Vec<Param>,
    /// Type of the result.
    pub result: Option<Type>,
    /// Comment before the declaration.
    pub doc: String,
}

/// Returns the name of the property that holds the bound function of a delegate.
pub fn delegate_property(delegate: &str) -> String {
    format!("__{delegate}__Delegate")
}

/// Returns the name of the delegate whose bound function is in the property `property`. This is the inverse of [`delegate_property`].
pub(crate) fn delegate_of_property(property: &str) -> Option<&str> {
    property.strip_prefix("__")?.strip_suffix("__Delegate")
}

/// Returns the name of the function that contains the body of a delegate. That function runs if no function is bound to the delegate.
pub fn delegate_body(delegate: &str) -> String {
    format!("__{delegate}__Default")
}

/// A class.
#[derive(Clone, Debug)]
pub struct Class {
    /// Path of the class.
    pub path: Path,
    /// Name in the package.
    pub name: String,
    /// Path of the base class.
    pub base: Path,
    /// Class specifiers.
    pub flags: ClassFlags,
    /// C library of the class: `DLLBind(Name)`.
    pub dll_bind: Option<String>,
    /// Paths of the implemented interfaces.
    pub interfaces: Vec<Path>,
    /// Index of the file in [`Package::files`].
    pub file: u32,
    /// Properties that the class itself declares, in order of declaration. Defaults are in [`Class::defaults`].
    pub properties: Vec<Property>,
    /// Constants in order of declaration, for tools only. The checker replaces each use of a constant by its value.
    pub consts: Vec<NamedConst>,
    /// Functions that the class itself declares, in order of declaration.
    pub functions: Vec<Function>,
    /// Subobjects that each object of the class owns: `Begin Object Class=… Name=…`.
    pub subobjects: Vec<Subobject>,
    /// Lines of `defaultproperties` in order, for declared and inherited properties. The class default object first receives the values of
    /// the base class, and then the lines are applied in order.
    pub defaults: Vec<Default>,
    /// Comment before the declaration.
    pub doc: String,
}

/// Class specifiers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClassFlags {
    /// `abstract`: objects can be created only of derived classes.
    pub is_abstract: bool,
    /// `final` or `DLLBind`: the class cannot be extended.
    pub is_final: bool,
}

/// A property of a class or a field of a struct.
#[derive(Clone, PartialEq, Debug)]
pub struct Property {
    /// Property name.
    pub name: String,
    /// Property type.
    pub ty: Type,
    /// Bits of [`alcedo_abi::kinds::property_flags`]. Scripts have read and write access to every property.
    pub flags: u64,
    /// Metadata: `category`, `config`, `localized`, and the contents of `<…|…>` after the name.
    pub meta: Vec<(String, String)>,
    /// Default of a struct field (`structdefaultproperties`). Defaults of class properties are in [`Class::defaults`].
    pub default: Option<Const>,
    /// Comment before the declaration.
    pub doc: String,
}

/// Classes that may call a function. For tools only, because the checker has already verified every access.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Access {
    /// All classes.
    #[default]
    Public,
    /// The class and its derived classes.
    Protected,
    /// The class only.
    Private,
}

/// A named constant.
#[derive(Clone, PartialEq, Debug)]
pub struct NamedConst {
    /// Name of the constant.
    pub name: String,
    /// Value of the constant.
    pub value: Const,
}

/// A compile-time value.
#[derive(Clone, PartialEq, Debug)]
pub enum Const {
    /// `true`, `false`.
    Bool(bool),
    /// Integer within the range of its type.
    Int(i128),
    /// Floating-point number. An `f32` value is rounded to `f32`.
    Float(f64),
    /// Value of any of the string types.
    Text(String),
    /// A name.
    Name(String),
    /// Enum entry: path of the enum, name and discriminant of the entry.
    Enum(Path, String, i128),
    /// Class by path.
    Class(Path),
    /// Object outside the package, as written: its class and its name, as in `Texture'Pkg.Name'`.
    Object(Path, String),
    /// Subobject of the class whose defaults contain this value, by name.
    Subobject(String),
    /// No object, no class, or an unbound delegate.
    None,
    /// Values of struct fields. Omitted fields keep the values that they have before the line of defaults. In a new value, they have the
    /// defaults of the struct.
    Struct(Vec<(String, Self)>),
    /// Elements of a dynamic or fixed array, or of a set. For a map, the pairs of key and value, each pair stored as an array.
    Array(Vec<Self>),
    /// Elements of an array in a struct value, and the indices of the elements that the source sets. The other elements keep the values that
    /// they have before the line of defaults. In a new value, they have the values that are listed here.
    Elements(Vec<Self>, Vec<u32>),
    /// Delegate that is bound to the function of this name in the class of the object itself.
    Function(String),
    /// Delegate that is bound to the function of this name in the class of the object that owns this subobject.
    OwnerFunction(String),
}

/// A line of `defaultproperties`.
#[derive(Clone, PartialEq, Debug)]
pub struct Default {
    /// Path of the class that declares the property.
    pub owner: Path,
    /// Property name.
    pub property: String,
    /// Operation on the property.
    pub action: DefaultAction,
    /// Line in the file.
    pub line: u32,
}

/// Operation of one line of `defaultproperties`.
#[derive(Clone, PartialEq, Debug)]
pub enum DefaultAction {
    /// Assigns the value.
    Set(Const),
    /// Assigns one element. A dynamic array that is too short grows with zero values.
    SetElement(u32, Const),
    /// Appends an element to a dynamic array.
    Add(Const),
    /// Removes all elements equal to the value from a dynamic array.
    Remove(Const),
    /// Removes the element at an index from a dynamic array.
    RemoveIndex(u32),
    /// Removes all elements from a dynamic array.
    Empty,
}

/// An object that each object of a class owns.
#[derive(Clone, PartialEq, Debug)]
pub struct Subobject {
    /// Name in its owner.
    pub name: String,
    /// Path of its class.
    pub class: Path,
    /// True if a base class declares the subobject. This entry then only changes the defaults of the inherited subobject.
    pub inherited: bool,
    /// Initial values of its properties.
    pub defaults: Vec<Default>,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Function name. An override has the spelling of the overridden function.
    pub name: String,
    /// Function specifiers.
    pub flags: FunctionFlags,
    /// Classes that may call the function.
    pub access: Access,
    /// Parameters. Their [`LocalId`]s precede those of the locals: parameter 0 is [`LocalId`] 0.
    pub params: Vec<Param>,
    /// Type of the result.
    pub result: Option<Type>,
    /// Path of the overridden function, `/Script/Package.Class:name`. The class in this path is the most basic class that declares the
    /// function: a native class, a plugin class or a script class.
    pub overrides: Option<Path>,
    /// Locals after the parameters. The first local is [`LocalId`] `params.len()`. Names of compiler-generated locals are in `<>`.
    pub locals: Vec<Local>,
    /// Statements of the body. `None` for `dllimport`.
    pub body: Option<Vec<Stmt>>,
    /// Comment before the declaration.
    pub doc: String,
    /// Line of the name.
    pub line: u32,
    /// Line of the closing brace. The implicit return has this line.
    pub end_line: u32,
}

/// Function specifiers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, core::default::Default)]
pub struct FunctionFlags {
    /// `static`: the function has no `self`.
    pub is_static: bool,
    /// True if derived classes cannot override the function. Calls of the function are [`Callee::Final`].
    pub is_final: bool,
    /// `dllimport`: the C library of the class contains the body.
    pub dll_import: bool,
    /// `bool8`: in C, the `bool` result has one byte.
    pub bool8: bool,
    /// `bool32`: in C, the `bool` result has four bytes.
    pub bool32: bool,
    /// `no_cwd`: calls of the C function keep the working directory of the process.
    pub no_cwd: bool,
    /// True if the function is the body of a delegate and is named by [`delegate_body`].
    pub delegate_body: bool,
    /// `singular`: a nested call on the same object does nothing.
    pub singular: bool,
}

/// A parameter.
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    /// Parameter name.
    pub name: String,
    /// Parameter type.
    pub ty: Type,
    /// `out`: the value is copied back to the caller, unless the declaration that the checker finds for the call has `const out`.
    pub out: bool,
    /// `optional`: the caller can omit the argument.
    pub optional: bool,
    /// Default of an optional parameter. The called function evaluates the defaults in order, before its body. If an omitted argument has
    /// no default, the parameter has the zero value.
    pub default: Option<Expr>,
    /// `coerce`: an argument of a different type is converted to the type of the parameter. Without `coerce`, this argument is rejected.
    pub coerce: bool,
    /// `const`: the function does not change the parameter.
    pub is_const: bool,
}

/// A local variable. At the start of every call, the variable has the zero value.
#[derive(Clone, PartialEq, Debug)]
pub struct Local {
    /// Name of the local.
    pub name: String,
    /// Type of the local.
    pub ty: Type,
}

/// Index of a parameter or local, counted from the first parameter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LocalId(pub u32);
