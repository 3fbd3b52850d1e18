//! C layout of reflected types. Maps declared types to C types and rejects types without a C representation. This module handles no
//! addresses.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use alcedo_base::cells::RefCell;
use alcedo_reflect::fixed;
use alcedo_reflect::origin::Origin;
use alcedo_reflect::property::PropertyType;
use alcedo_reflect::structs::StructType;

use crate::number::Number;

/// Maximum alignment of struct members in bytes. C code sets the same alignment with `#pragma pack(4)`.
const PACK: usize = 4;

/// Size of `{ T* data; int32_t num; int32_t max; }` in bytes.
pub(crate) const HEADER: usize = 16;

/// C representation of a type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A number.
    Number(Number),
    /// UTF-16 string with a terminating zero. In a struct, the string is represented by a header with address, length and capacity in
    /// UTF-16 units.
    Text,
    /// A struct, packed at 4 bytes.
    Struct(Rc<Struct>),
    /// Array of a fixed number of values.
    Fixed(Rc<Shape>, usize),
    /// Dynamic array with length and capacity. Occurs only in structs.
    List(Rc<Shape>),
    /// A number that is a `float` in C and an `f64` in reflection. Occurs only in structs that were passed to [`Layouts::floats`].
    Single,
}

/// C representation of a struct.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Struct {
    /// Fields in order.
    pub fields: Vec<Field>,
    /// Size in bytes, a multiple of the alignment.
    pub size: usize,
    /// Alignment in bytes, at most 4.
    pub align: usize,
}

/// A field of a struct.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// Name of the field.
    pub name: Arc<str>,
    /// Type of the field.
    pub shape: Shape,
    /// Offset from the start of the struct in bytes.
    pub offset: usize,
}

/// Facts about the C layouts of structs that reflection does not contain: the lengths of fixed-size arrays, and the C types of `f64`
/// fields. Without an entry here, an array field is a dynamic array, and an `f64` field is a `double`.
///
/// # Examples
/// ```
/// use alcedo_dll_bind::Layouts;
///
/// let vector = Layouts::default().floats("/Script/Engine.Vector");
/// let path = Layouts::default().fixed("/Script/Game.Path", "points", 8);
/// assert_ne!(vector.clone().and(path), vector);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Layouts {
    /// Lengths of fixed-size arrays, by the path of the struct and the name of the field.
    lens: BTreeMap<(String, String), usize>,
    reals: BTreeMap<String, Real>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Real {
    Float,
    Double,
}

/// Reason why a function cannot be bound.
///
/// # Examples
/// ```
/// use alcedo_dll_bind::BindError;
///
/// let error = BindError::TooLarge { function: "Fill".into(), location: "`pixels`".into(), limit: 1 << 24 };
/// assert_eq!(error.to_string(), "`Fill` cannot be bound: `pixels` is larger than 16777216 bytes");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BindError {
    /// The type has no C representation.
    #[error("`{function}` cannot be bound: {location} is {found}, which C cannot read; {help}")]
    Type {
        /// Name of the C function.
        function: String,
        /// The parameter or the result, with the path to the field inside it (if any).
        location: String,
        /// The type, formatted for the message.
        found: String,
        /// Types that the author of the declaration can use instead.
        help: &'static str,
    },
    /// A script declares a function with a struct of the host or of a plugin. The script does not state if the `f64` fields of this struct
    /// are `float` or `double` in C.
    #[error(
        "`{function}` cannot be bound: the C layout of {found} is not stated: {location} may be a `float` or a `double`; the host \
         states it by `UserCode::layouts` with `Layouts::floats(\"{found}\")` or `Layouts::doubles(\"{found}\")`"
    )]
    Layout {
        /// Name of the function.
        function: String,
        /// The parameter or the result, with the path to the field inside it (if any).
        location: String,
        /// Path of the struct.
        found: String,
    },
    /// The function returns a struct that contains strings or arrays.
    #[error(
        "`{function}` cannot be bound: it returns {found}, which contains strings or arrays, whose memory would belong to the \
         library: use an out parameter"
    )]
    OwningResult {
        /// Name of the function.
        function: String,
        /// Path of the struct.
        found: String,
    },
    /// A parameter or result is too large.
    #[error("`{function}` cannot be bound: {location} is larger than {limit} bytes")]
    TooLarge {
        /// Name of the function.
        function: String,
        /// The parameter or the result, with the path to the field inside it (if any).
        location: String,
        /// Maximum size in bytes.
        limit: usize,
    },
}

/// Maximum size of one parameter in bytes. Does not include the data of strings and dynamic arrays in structs.
const LARGEST: usize = 1 << 24;

pub(crate) struct Site<'a> {
    pub(crate) function: &'a str,
    pub(crate) layouts: &'a Layouts,
    /// `true` if a script declares the function. In a struct of the host or of a plugin, an `f64` field may then be `float` or `double` in
    /// C.
    pub(crate) of_script: bool,
    /// Cache of finished layouts. Without this cache, structs that contain each other could be visited along exponentially many paths.
    pub(crate) known: RefCell<BTreeMap<*const StructType, Rc<Struct>>>,
}

impl Layouts {
    /// Declares that a field of a struct is an array of `len` values.
    #[must_use]
    pub fn fixed(mut self, structure: &str, field: &str, len: usize) -> Self {
        self.lens.insert((structure.to_owned(), field.to_owned()), len);
        self
    }

    /// Declares that the `f64` fields of a struct are `float` in C. Calls convert the values of these fields in both directions, and reject
    /// values beyond the range of `float`.
    #[must_use]
    pub fn floats(mut self, structure: &str) -> Self {
        self.reals.insert(structure.to_owned(), Real::Float);
        self
    }

    /// Declares that the `f64` fields of a struct are `double` in C.
    #[must_use]
    pub fn doubles(mut self, structure: &str) -> Self {
        self.reals.insert(structure.to_owned(), Real::Double);
        self
    }

    /// Merges `other` into these layouts. Entries of `other` have priority.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.lens.extend(other.lens);
        self.reals.extend(other.reals);
        self
    }

    fn len_of(&self, structure: &str, field: &str) -> Option<usize> {
        self.lens.get(&(structure.to_owned(), field.to_owned())).copied()
    }
}

impl Shape {
    /// Returns the size in bytes of a struct field of this type. For a string field, this is the size of its header.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::Number(number) => number.size(),
            Self::Single => Number::F32.size(),
            Self::Text | Self::List(_) => HEADER,
            Self::Struct(of) => of.size,
            Self::Fixed(of, len) => of.size().saturating_mul(*len),
        }
    }

    /// Returns the alignment in bytes of a struct field of this type.
    #[must_use]
    pub fn packed_align(&self) -> usize {
        match self {
            Self::Number(number) => number.size().min(PACK),
            Self::Single | Self::Text | Self::List(_) => PACK,
            Self::Struct(of) => of.align,
            Self::Fixed(of, _) => of.packed_align(),
        }
    }

    /// Returns `true` if the type is or contains a string or dynamic array. Such values store their data in separate memory.
    #[must_use]
    pub fn owns_memory(&self) -> bool {
        match self {
            Self::Number(_) | Self::Single => false,
            Self::Text | Self::List(_) => true,
            Self::Struct(of) => of.fields.iter().any(|field| field.shape.owns_memory()),
            Self::Fixed(of, _) => of.owns_memory(),
        }
    }

    /// Returns the layout of a parameter. `len` is the declared length of an array parameter.
    pub(crate) fn of_param(
        site: &Site<'_>,
        name: &str,
        ty: &PropertyType,
        len: Option<usize>,
    ) -> Result<Self, BindError> {
        let shape = match (ty, len) {
            (PropertyType::Array(of), Some(len)) => Self::Fixed(Rc::new(site.inner(name, of.ty())?), len),
            (PropertyType::Array(_), None) => {
                return Err(site.refused(name, ty, "give it a fixed length, or put it into a struct"));
            }
            (_, Some(_)) => return Err(site.refused(name, ty, "only arrays have a length")),
            (_, None) => site.inner(name, ty)?,
        };
        site.check_size(name, &shape)?;
        Ok(shape)
    }

    pub(crate) fn of_result(site: &Site<'_>, ty: &PropertyType) -> Result<Self, BindError> {
        let location = "the result";
        if let PropertyType::Array(_) = ty {
            return Err(site.refused(location, ty, "return a struct, or take an out parameter"));
        }
        let shape = site.inner(location, ty)?;
        match &shape {
            Self::Struct(_) if shape.owns_memory() => {
                Err(BindError::OwningResult { function: site.function.to_owned(), found: ty.to_string() })
            }
            _ => site.check_size(location, &shape).map(|()| shape),
        }
    }
}

impl Site<'_> {
    fn refused(&self, location: &str, ty: &PropertyType, help: &'static str) -> BindError {
        BindError::Type {
            function: self.function.to_owned(),
            location: location.to_owned(),
            found: ty.to_string(),
            help,
        }
    }

    fn check_size(&self, location: &str, shape: &Shape) -> Result<(), BindError> {
        if shape.size() <= LARGEST {
            return Ok(());
        }
        Err(BindError::TooLarge { function: self.function.to_owned(), location: location.to_owned(), limit: LARGEST })
    }

    fn inner(&self, location: &str, ty: &PropertyType) -> Result<Shape, BindError> {
        Ok(match ty {
            PropertyType::Text => Shape::Text,
            PropertyType::Struct(of) => Shape::Struct(self.structure(location, of)?),
            PropertyType::Array(of) => Shape::List(Rc::new(self.inner(location, of.ty())?)),
            PropertyType::Bool => {
                return Err(self.refused(location, ty, "use a u8 or an i32; only a result may be a bool"));
            }
            _ => {
                let help = "numbers, String, structs and arrays of these can be passed";
                Shape::Number(Number::of(ty.kind()).ok_or_else(|| self.refused(location, ty, help))?)
            }
        })
    }

    /// Returns the layout of the field at an index of a struct, or of an element of this field. `ty` is the type of the field or element.
    fn field(&self, location: &str, (of, index): (&StructType, usize), ty: &PropertyType) -> Result<Shape, BindError> {
        match ty {
            PropertyType::F64 => {}
            PropertyType::Array(element) => {
                return Ok(Shape::List(Rc::new(self.field(location, (of, index), element.ty())?)));
            }
            _ => return self.inner(location, ty),
        }
        let declaring = holders(of, index).last().unwrap_or(of);
        match holders(of, index).find_map(|of| self.layouts.reals.get(&*of.path)) {
            Some(Real::Float) => Ok(Shape::Single),
            None if self.of_script && declaring.origin != Origin::Script => Err(BindError::Layout {
                function: self.function.to_owned(),
                location: location.to_owned(),
                found: declaring.path.to_string(),
            }),
            Some(Real::Double) | None => Ok(Shape::Number(Number::F64)),
        }
    }

    fn structure(&self, location: &str, of: &Rc<StructType>) -> Result<Rc<Struct>, BindError> {
        if let Some(known) = self.known.borrow().get(&Rc::as_ptr(of)) {
            return Ok(Rc::clone(known));
        }
        let mut fields = Vec::with_capacity(of.fields().len());
        let (mut end, mut align) = (0_usize, 1);
        for (index, field) in of.fields().iter().enumerate() {
            let location = format!("{location}.{}", field.text);
            let stated = holders(of, index).find_map(|of| self.layouts.len_of(&of.path, &field.text));
            let shape = match (&field.ty, stated.or_else(|| fixed::dim(field).map(|len| len as usize))) {
                (PropertyType::Array(element), Some(len)) => {
                    Shape::Fixed(Rc::new(self.field(&location, (of, index), element.ty())?), len)
                }
                (ty, Some(_)) => return Err(self.refused(&location, ty, "only arrays have a length")),
                (ty, None) => self.field(&location, (of, index), ty)?,
            };
            self.check_size(&location, &shape)?;
            let offset = end.next_multiple_of(shape.packed_align());
            (end, align) = (offset + shape.size(), align.max(shape.packed_align()));
            fields.push(Field { name: Arc::from(&*field.text), shape, offset });
        }
        // An empty struct has size zero in C and size one in C++. A buffer of one byte is suitable for both languages.
        let structure = Rc::new(Struct { fields, size: end.next_multiple_of(align).max(1), align });
        self.known.borrow_mut().insert(Rc::as_ptr(of), Rc::clone(&structure));
        Ok(structure)
    }
}

/// Returns the struct, and then each base that also has the field at this index. The last of these structs declares the field.
fn holders(of: &StructType, index: usize) -> impl Iterator<Item = &StructType> {
    std::iter::successors(Some(of), move |of| of.base().map(|base| &**base).filter(|base| index < base.fields().len()))
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use alcedo_abi::kinds::PropertyKind;
    use alcedo_base::cells::RefCell;
    use alcedo_reflect::decl::PropertyDecl;
    use alcedo_reflect::property::PropertyType;
    use alcedo_reflect::testing::{structure, type_of};

    use super::{BindError, Layouts, Shape, Site};

    fn site(layouts: &Layouts) -> Site<'_> {
        Site { function: "f", layouts, of_script: false, known: RefCell::default() }
    }

    fn check(fields: &[(PropertyKind, &str, Option<usize>)], offsets: &[usize], size: usize, align: usize) {
        let mut layouts = Layouts::default();
        let mut decls = Vec::new();
        for (at, (kind, path, len)) in fields.iter().enumerate() {
            decls.push(PropertyDecl::new(&format!("f{at}"), *kind).of_type(path));
            if let Some(len) = len {
                layouts = layouts.fixed("/Script/Test.S", &format!("f{at}"), *len);
            }
        }
        let ty = PropertyType::Struct(structure("S", &decls));
        let shape = Shape::of_param(&site(&layouts), "p", &ty, None).expect("it can be passed");
        let Shape::Struct(of) = shape else { panic!("{shape:?}") };
        let found: Vec<_> = of.fields.iter().map(|field| field.offset).collect();
        assert_eq!((&*found, of.size, of.align), (offsets, size, align));
    }

    #[test]
    fn structs_are_packed_at_four_bytes() {
        use PropertyKind as K;
        check(&[(K::U8, "", None), (K::F64, "", None), (K::U8, "", None)], &[0, 4, 12], 16, 4);
        check(&[(K::U8, "", None), (K::U16, "", None)], &[0, 2], 4, 2);
        check(&[(K::U8, "", None)], &[0], 1, 1);
        check(&[], &[], 1, 1);
        check(&[(K::U8, "", None), (K::STRING, "", None), (K::U8, "", None)], &[0, 4, 20], 24, 4);
        check(&[(K::U8, "", None), (K::ARRAY, "i32", None)], &[0, 4], 20, 4);
        check(&[(K::U8, "", None), (K::ARRAY, "u16", Some(3)), (K::I64, "", None)], &[0, 2, 8], 16, 4);
        check(&[(K::U8, "", None), (K::STRUCT, "/Script/Test.Point", None)], &[0, 4], 20, 4);
        check(&[(K::U16, "", None), (K::ARRAY, "/Script/Test.Point", Some(2))], &[0, 4], 36, 4);
    }

    #[test]
    fn a_struct_that_occurs_twice_is_laid_out_once() {
        let point = |name: &str| PropertyDecl::new(name, PropertyKind::STRUCT).of_type("/Script/Test.Point");
        let ty = PropertyType::Struct(structure("S", &[point("a"), point("b")]));
        let shape = Shape::of_param(&site(&Layouts::default()), "p", &ty, None).expect("it can be passed");
        let Shape::Struct(of) = shape else { panic!("{shape:?}") };
        let inner = |at: usize| match &of.fields[at].shape {
            Shape::Struct(inner) => Rc::as_ptr(inner),
            other => panic!("{other:?}"),
        };
        assert_eq!(inner(0), inner(1));
    }

    #[test]
    fn types_that_c_cannot_read_are_refused_with_help() {
        let layouts = Layouts::default();
        for (ty, len) in [
            ("bool", None),
            ("Name", None),
            ("Object(/Script/Engine.Object)", None),
            ("Map(i32, i32)", None),
            ("Optional(i32)", None),
            ("Array(i32)", None),
            ("Array(bool)", Some(2)),
            ("i32", Some(2)),
        ] {
            let refused = Shape::of_param(&site(&layouts), "p", &type_of(ty), len).expect_err(ty);
            assert!(matches!(refused, BindError::Type { .. }) && refused.to_string().contains("`f`"), "{refused}");
        }
        let large = Shape::of_param(&site(&layouts), "p", &type_of("Array(i32)"), Some(usize::MAX / 4));
        assert!(matches!(large, Err(BindError::TooLarge { .. })), "{large:?}");
        assert!(Shape::of_result(&site(&layouts), &type_of("Array(i32)")).is_err());
        let named = PropertyType::Struct(structure("S", &[PropertyDecl::new("name", PropertyKind::STRING)]));
        let result = Shape::of_result(&site(&layouts), &named);
        assert!(matches!(result, Err(BindError::OwningResult { .. })), "{result:?}");
    }
}
