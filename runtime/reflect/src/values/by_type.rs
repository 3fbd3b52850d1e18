//! Operations on types: sizes, names, and conversions of text and values to a type. Each kind implements these operations for its types.

use std::fmt;

use alcedo_abi::kinds::PropertyKind;

use super::{Content as _, Entry, Form, Kind, Parameters as _, Written};
use crate::convert::Conversion;
use crate::delegate_text::split;
use crate::kind_list::of_type;
use crate::names::Names;
use crate::property::PropertyType;
use crate::references::References;
use crate::structs::Nature;
use crate::text::scan::Scanner;
use crate::text::{ParseError, fail};
use crate::value::{Value, WrongType};

impl PropertyType {
    /// Returns the type of a kind without parameters. Returns `None` if the kind has parameters or its number is unknown.
    ///
    /// # Examples
    /// ```
    /// use alcedo_abi::kinds::PropertyKind;
    /// use alcedo_reflect::property::PropertyType;
    ///
    /// let number = PropertyType::plain(PropertyKind::F64).expect("no parameters");
    /// assert_eq!((number.to_string().as_str(), number.size(), number.align()), ("f64", 8, 8));
    /// assert!(PropertyType::plain(PropertyKind::ARRAY).is_none());
    /// ```
    pub fn plain(kind: PropertyKind) -> Option<Self> {
        Entry::of(kind)?.plain.clone()
    }

    /// Returns the type of a kind without parameters. `kind` is the name of the kind.
    ///
    /// # Examples
    /// ```
    /// use alcedo_abi::kinds::PropertyKind;
    /// use alcedo_reflect::property::PropertyType;
    ///
    /// let flag = PropertyType::plain_named("bool").expect("a plain kind");
    /// assert_eq!(flag.kind(), PropertyKind::BOOL);
    /// assert!(PropertyType::plain_named("Lamp").is_none());
    /// ```
    pub fn plain_named(kind: &str) -> Option<Self> {
        Entry::named(kind)?.plain.clone()
    }

    /// Returns the kind.
    #[inline]
    pub fn kind(&self) -> PropertyKind {
        of_type!(self, K, _of => K::KIND)
    }

    /// Returns the parameters of the type as text. The text is the path of a struct or class, the types in a container, or the signature of
    /// a delegate. The text is empty for plain kinds.
    pub fn type_path(&self) -> &str {
        of_type!(self, _K, of => of.path())
    }

    /// Returns the size of a value in bytes.
    #[inline]
    pub fn size(&self) -> usize {
        of_type!(self, K, of => K::bytes(of))
    }

    /// Returns the alignment of a value in bytes.
    #[inline]
    pub fn align(&self) -> usize {
        of_type!(self, K, of => K::align(of).max(align_of::<<K as Kind>::Raw>()))
    }

    /// Returns the characteristics that all values of the type have in common.
    pub(crate) fn nature(&self) -> Nature {
        of_type!(self, K, of => K::nature(of))
    }

    /// Calls `visit` with the types of the values that a value of this type contains.
    pub fn inner_types(&self, visit: &mut dyn FnMut(&Self)) {
        of_type!(self, K, of => K::inner_types(of, visit));
    }

    /// Returns the signature of a delegate type.
    pub fn signature(&self) -> Option<&str> {
        of_type!(self, K, of => (K::KIND.form() == Form::Signature).then(|| split(of.path()).1))
    }

    /// Returns the path of a named delegate type.
    pub fn delegate_path(&self) -> Option<&str> {
        of_type!(self, K, of => (K::KIND.form() == Form::Signature).then(|| split(of.path()).0).flatten())
    }

    /// Records the offsets of the strong references in a value that starts at `offset`.
    pub(crate) fn references(&self, offset: usize, found: &mut References) {
        of_type!(self, K, of => K::references(of, self, offset, found));
    }

    /// Converts a value to the type. Returns `None` if the conversion is not lossless. An optional type also accepts values that convert to
    /// its inner type.
    pub(crate) fn convert(&self, value: &Value, cx: &Conversion<'_>) -> Option<Value> {
        of_type!(self, K, of => K::convert(value, of, cx).map(K::wrap))
    }
}

impl Value {
    /// Returns the value that zeroed memory represents.
    ///
    /// # Examples
    /// ```
    /// use alcedo_reflect::property::PropertyType;
    /// use alcedo_reflect::value::Value;
    ///
    /// assert_eq!(Value::zero(&PropertyType::I32), Value::I32(0));
    /// assert_eq!(Value::zero(&PropertyType::Text), Value::Text(String::new()));
    /// ```
    pub fn zero(ty: &PropertyType) -> Self {
        of_type!(ty, K, of => K::wrap(K::zero(of)))
    }

    /// Returns the initial value of a property without a default. Struct fields have the defaults of their struct. All other values are
    /// zero.
    pub fn initial(ty: &PropertyType) -> Self {
        of_type!(ty, K, of => K::wrap(K::initial(of)))
    }

    /// Replaces each directly contained value with the result of `map`. `map` receives the type and the contained value. Keys are
    /// unchanged. If the type of the value differs from `ty`, the value is unchanged.
    pub fn map_parts(self, ty: &PropertyType, map: &mut dyn FnMut(&PropertyType, Self) -> Self) -> Self {
        of_type!(ty, K, of => match K::take(self) {
            Ok(content) => K::wrap(K::with_parts(of, content, map)),
            Err(other) => other,
        })
    }

    /// Parses a value. Strings, names and paths are plain or quoted. Plain text extends to the end of the input. Inside a container or
    /// struct, plain text extends to the next comma or parenthesis. Quoted text may contain the escapes `\" \\ \n \r \t \0 \u{7f}`. Omitted
    /// fields of a struct receive their defaults.
    ///
    /// # Errors
    /// Returns `ParseError` if the text is not a valid value of the type.
    ///
    /// # Examples
    /// ```
    /// use alcedo_reflect::names::Names;
    /// use alcedo_reflect::property::PropertyType;
    /// use alcedo_reflect::value::Value;
    ///
    /// let names = Names::default();
    /// assert_eq!(Value::parse("2.5", &PropertyType::F64, &names), Ok(Value::F64(2.5)));
    /// assert_eq!(Value::parse("true", &PropertyType::Bool, &names), Ok(Value::Bool(true)));
    /// assert!(Value::parse("fast", &PropertyType::F64, &names).is_err());
    /// ```
    pub fn parse(text: &str, ty: &PropertyType, names: &Names) -> Result<Self, ParseError> {
        let mut scanner = Scanner { rest: text, names };
        of_type!(ty, K, _of => match K::WRITTEN {
            Written::Word => return K::from_word(text.trim(), ty, names).map(K::wrap),
            Written::Text(starts) if !text.trim_start().starts_with(starts) => {
                return K::from_word(text, ty, names).map(K::wrap);
            }
            _ => {}
        });
        let value = scanner.value(ty)?;
        match scanner.rest.trim() {
            "" => Ok(value),
            more => Err(fail(more, ty, "it continues after the end of the value")),
        }
    }
}

impl Scanner<'_> {
    /// Parses a value of that type.
    pub(crate) fn value(&mut self, ty: &PropertyType) -> Result<Value, ParseError> {
        of_type!(ty, K, of => K::parse(self, of, ty).map(K::wrap))
    }
}

/// Checks that the value can be written to a property of that type.
///
/// # Errors
/// Returns [`WrongType`] for the first contained value that does not match its type.
pub fn fits(ty: &PropertyType, value: &Value) -> Result<(), WrongType> {
    of_type!(ty, K, of => match K::get(value) {
        Some(content) => K::fits(of, ty, content),
        None => Err(WrongType::of(value.kind_name(), ty)),
    })
}

/// Formats the type for signatures, reports and errors. Examples: `f64`, `Object(/Script/Engine.Actor)`, `/Script/Engine.Rotator`,
/// `Map(String, Array(f64))`.
impl fmt::Display for PropertyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, form) = of_type!(self, K, _of => (K::NAME, K::KIND.form()));
        match form {
            Form::Plain => f.write_str(name),
            Form::Struct => f.write_str(self.type_path()),
            Form::Path | Form::Types(_) | Form::Signature => write!(f, "{name}({})", self.type_path()),
        }
    }
}

/// Two struct types are equal if their paths and all fields are equal, because two generations may have different structs at one path.
impl PartialEq for PropertyType {
    fn eq(&self, other: &Self) -> bool {
        of_type!(self, K, one => K::of(other).is_some_and(|two| one.is_same_as(two)))
    }
}

impl Eq for PropertyType {}
