//! Operators, conversions, and what containers can do.

use alcedo_abi::kinds::PropertyKind;

use super::Path;
use super::types::{Num, Triple, Type};

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
    /// a whole number that is not zero; names; triples as `x,y,z`; enums by the name of an entry, else the zero value. To that type.
    FromText(Type),
    /// The other text types and `name` to each other and to `string`: from, to. Letters that do not fit become `?`.
    Text(Type, Type),
    /// Whether there is an object, class, interface.
    ObjectToBool,
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
