//! Operators, conversions, and operations on containers.

use alcedo_abi::kinds::PropertyKind;

use super::Path;
use super::types::{Num, Triple, Type};

/// Built-in operations on containers and delegates. `T` is the element type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Intrinsic {
    /// `array.Length` → `int`. Also applies to fixed arrays, sets and maps.
    Length,
    /// `array.Add(int n)` → `int`: appends `n` default elements. Returns the index of the first new element.
    ArrayAdd,
    /// `array.AddItem(T)` → `int`: appends an element. Returns its index.
    ArrayAddItem,
    /// `array.Insert(int at, int n)`: inserts `n` default elements.
    ArrayInsert,
    /// `array.InsertItem(int at, T)` → `int`: inserts an element. Returns its index.
    ArrayInsertItem,
    /// `array.Remove(int at, int n)`: removes `n` elements. A range outside the array raises a script error and removes no element.
    ArrayRemove,
    /// `array.RemoveItem(T)` → `int`: removes all equal elements. Returns the number of removed elements.
    ArrayRemoveItem,
    /// `array.Find(T)` → `int`: index of the first equal element, or -1.
    ArrayFind,
    /// `array.Find('Field', value)` → `int`: index of the first element whose field equals the second operand, or -1.
    ArrayFindField(String),
    /// `array.Sort(delegate)`: sorts stably by the delegate `(T, T) -> int`, which returns a negative number if the two elements are out of
    /// order. The order in which the delegate is called is unspecified.
    ArraySort,
    /// `array.Empty()`: removes all elements.
    ArrayEmpty,
    /// `map.Find(K)` → `V`: returns the zero value if the key is absent. A read of `map[key]` is this operation too.
    MapGet,
    /// `map.Set(K, V)`: inserts or replaces an entry.
    MapSet,
    /// `map.Contains(K)`, `set.Contains(T)` → `bool`.
    Contains,
    /// `map.Remove(K)`, `set.Remove(T)` → `bool`: true if the key was present.
    Remove,
    /// `set.Add(T)` → `bool`: true if the element was absent.
    SetAdd,
    /// `map.Empty()`, `set.Empty()`.
    Empty,
    /// `map.Keys()` → `array<K>`.
    MapKeys,
    /// `map.Values()` → `array<V>`.
    MapValues,
    /// `set.Values()` → `array<T>`.
    SetValues,
    /// `optional.IsSet()` → `bool`.
    OptionalIsSet,
    /// `optional.Get()` → `T`: the zero value if unset.
    OptionalGet,
    /// `optional.Reset()`: removes the value.
    OptionalReset,
    /// `multicast.Add(delegate)`: binds a further function. Ignores functions that are already bound.
    MulticastAdd,
    /// `multicast.Remove(delegate)`: removes a bound function.
    MulticastRemove,
    /// `multicast.Clear()`: removes all bound functions.
    MulticastClear,
    /// `d != none` → `bool`: true if the delegate is bound.
    DelegateIsBound,
}

impl Intrinsic {
    /// Returns true for operations that leave their receiver unchanged.
    pub fn is_reading(&self) -> bool {
        matches!(
            self,
            Self::Length
                | Self::ArrayFind
                | Self::ArrayFindField(_)
                | Self::MapGet
                | Self::Contains
                | Self::MapKeys
                | Self::MapValues
                | Self::SetValues
                | Self::OptionalIsSet
                | Self::OptionalGet
                | Self::DelegateIsBound
        )
    }
}

/// An operator with one operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unary {
    /// Logical not: `!`.
    Not,
    /// `-` of `i32`, `i64`, `f32`, `f64`. Integers wrap.
    Neg(Num),
    /// `~` of `i32`, `u32`, `i64`, `u64`.
    BitNot(Num),
    /// `-` of all three components.
    NegTriple(Triple),
}

/// An operator with two operands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Binary {
    /// The operator.
    pub op: Op,
    /// Type of the operands.
    pub on: Operand,
}

/// The type of the operands of an operator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operand {
    /// Two numbers of kind `I32 U32 I64 U64 F32 F64`. Operands of narrower types are already widened. The right operand of a shift is an
    /// `i32`.
    Num(Num),
    /// Two `bool`s.
    Bool,
    /// Two `string`s.
    Text,
    /// Two `name`s.
    Name,
    /// Two values of the same enum, compared by discriminant.
    Enum(Num),
    /// Two objects or classes, compared by identity. Their types may differ.
    Object,
    /// Two structs of the type at this path, compared by all fields.
    Struct(Path),
    /// Two triples.
    Triple(Triple),
    /// A triple and a number. The number has the component kind of the triple. If the components are integers, the number is an `f64`.
    TripleScalar(Triple),
    /// A number and a triple. [`Self::TripleScalar`] specifies the kind of the number.
    ScalarTriple(Triple),
    /// A vector and a rotator. `>>` rotates the vector, and `<<` applies the inverse rotation.
    Turned(Triple, Triple),
    /// Two delegates. Delegates are equal if their objects and functions are equal.
    Delegate,
    /// Two arrays, sets, maps, or other values of the same type, compared as reflection compares values.
    Value,
}

/// Declares the binary operators, and the table of all operators in the order of their numbers.
macro_rules! ops {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Binary operators with their operand and result types.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Op { $($(#[$doc])* $name,)* }

        impl Op {
            /// All operators. `ALL[op as usize]` is `op`.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
        }
    };
}

ops! {
    /// `+` of numbers and triples, not of strings. Integers wrap.
    Add,
    /// `-`, with the rules of `+`.
    Sub,
    /// `*`, with the rules of `+`. Also multiplies a triple by a number, and two vectors by component.
    Mul,
    /// `/`: integers round toward zero. Integer division by zero yields 0 and is logged. The minimum value divided by -1 wraps. Floats
    /// follow IEEE 754. Also divides a triple by a number, and two vectors by component.
    Div,
    /// `%`: remainder of `/`, with the sign of the left operand. An integer remainder by zero yields 0 and is logged. Floats follow
    /// `fmod`.
    Rem,
    /// `**` of floats.
    Pow,
    /// `<<` of integers. The shift count is the low 5 or 6 bits of the right operand, depending on the width of the left operand.
    Shl,
    /// `>>`: arithmetic shift for signed numbers.
    Shr,
    /// `>>>`: logical shift.
    Ushr,
    /// `&` of integers.
    BitAnd,
    /// `|` of integers.
    BitOr,
    /// `^` of integers.
    BitXor,
    /// `^^` of two `bool`s → `bool`.
    Xor,
    /// `==` → `bool`. Strings are compared case-sensitively. Floats follow IEEE 754.
    Eq,
    /// `!=` → `bool`.
    Ne,
    /// `<` → `bool`: numbers, strings (by code points), enums.
    Lt,
    /// `<=` → `bool`.
    Le,
    /// `>` → `bool`.
    Gt,
    /// `>=` → `bool`.
    Ge,
    /// `~=` → `bool`: true for floats that differ by less than 0.0001, and for strings that differ only in case.
    Near,
    /// `$` → `string`: concatenation.
    Concat,
    /// `@` → `string`: concatenation with a space between the strings.
    ConcatSpaced,
    /// `-=` of strings → `string`: the left string without all occurrences of the right string.
    TextWithout,
    /// `Dot` of two vectors → a number of their component kind.
    Dot,
    /// `Cross` of two vectors → a vector.
    Cross,
    /// `ClockwiseFrom` of two `int`s → `bool`: true if the left angle is clockwise from the right angle. A full turn has 65536 units.
    ClockwiseFrom,
}

/// Conversions between types. Only [`Conversion::NumToEnum`] rejects some values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Conversion {
    /// Converts a number to another kind, like `as` in Rust. A conversion from integer to integer keeps the low bits. A conversion from
    /// float to integer rounds toward zero and saturates. NaN becomes 0.
    Num(Num, Num),
    /// Converts an enum whose discriminants have the first kind to a number of the second kind.
    EnumToNum(Num, Num),
    /// Converts a number of the first kind to the enum at the path. The discriminants of the enum have the second kind. If the enum
    /// does not accept the number, the conversion fails. A flags enum accepts all numbers of the second kind, and every other enum only
    /// the numbers of its entries.
    NumToEnum(Num, Path, Num),
    /// Converts a number of this kind to the name of the entry with this number. The path names the enum. If no entry has the number, the
    /// result consists of the digits of the number, or, for a flags enum, of the names of all set flags (`A | B`).
    NumToEntryName(Num, Path),
    /// Converts a number to `bool`. The result is true for a nonzero number.
    NumToBool(Num),
    /// Converts a `bool` to 1 or 0.
    BoolToNum(Num),
    /// Converts a value of the type to a string. Integers become digits. Floats (`f64` and `f32`) have four decimals (`%.4f`, as in
    /// UnrealScript 3). `bool` becomes `True` or `False`. A name becomes its string, and an enum value becomes its entry name. Objects and
    /// classes become their name, and no object becomes `None`. Vectors and rotators become `x,y,z` with two decimals. All other structs,
    /// containers and delegates are formatted as in reflection.
    ToText(Type),
    /// Converts a string to a value of the type. Numbers are parsed from the longest numeric prefix after leading spaces. A string without
    /// a numeric prefix is zero. A `bool` is true for "true" in any case, and for a nonzero integer. A name receives the string. Triples
    /// are parsed from `x,y,z`. An enum is parsed from an entry name. An unknown entry name yields the zero value.
    FromText(Type),
    /// Converts between string types and `name`. Contains the source type and the target type. Unrepresentable characters become `?`.
    Text(Type, Type),
    /// Converts an object, class or interface to `bool`. The result is false only for `None`.
    ObjectToBool,
    /// Converts a name to `bool`. The result is false for `None` and for the empty name.
    NameToBool,
    /// Converts a triple to `bool`. The result is true if a component is nonzero.
    TripleToBool(Triple),
    /// Converts a class to an object. Occurs only in hosts whose classes are objects. The handle is unchanged.
    ClassToObject,
    /// Changes the static type without an operation at run time. Converts an object to a base class, a class to `class<Base>`, a delegate
    /// to another delegate type with an equal signature, or `none` to any of these types.
    Up,
    /// Converts a struct to its base struct. Keeps only the fields of the base.
    StructUp(Path),
    /// Converts an object to an interface that its class implements.
    ObjectToInterface(Path),
    /// Converts an interface to its object.
    InterfaceToObject,
    /// Converts an object to a weak, soft or lazy reference, as the kind specifies.
    ToReference(PropertyKind, Path),
    /// Converts a weak, soft or lazy reference to its object. The result is `None` if the object is not available.
    FromReference(PropertyKind),
    /// Converts a value to an optional.
    ToOptional,
    /// Converts a vector to the rotator that points along the vector.
    VectorToRotator(Triple, Triple),
    /// Converts a rotator to the unit vector that points along the rotator.
    RotatorToVector(Triple, Triple),
    /// Converts a triple to another struct with equal component names and a different number kind.
    Triple(Triple, Triple),
}
