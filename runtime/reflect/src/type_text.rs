//! Types as text: `Map(String, Array(Object(/Script/A.B)))`. This module handles only the syntax. The conversion to
//! [`PropertyType`](crate::property::PropertyType) looks up structs and classes. Declarations contain nested types in this form, and only
//! this module parses them.

use std::fmt;
use std::str::FromStr;

use alcedo_abi::kinds::PropertyKind;
use alcedo_base::escape::line;

use crate::delegate_text::format_named;
use crate::path::{MemberPath, TypePath};
use crate::values::{Entry, Form, name_of};

/// Maximum nesting depth of types. Limits the recursion over values.
pub const DEEPEST: usize = 16;

/// Parsed type. The structs and classes that the type names are not looked up.
///
/// # Examples
/// ```
/// use alcedo_abi::kinds::PropertyKind;
/// use alcedo_reflect::type_text::TypeText;
///
/// let scores: TypeText = "Array(f64)".parse()?;
/// assert_eq!((scores.kind(), scores.path().as_str()), (PropertyKind::ARRAY, "f64"));
/// # Ok::<(), alcedo_reflect::type_text::TypeTextError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TypeText {
    /// A kind without parentheses: `f64`, `String`, `FieldPath`.
    Plain(PropertyKind),
    /// A struct, by its path.
    Struct(String),
    /// A reference, with the path of the referenced class.
    Reference(PropertyKind, String),
    /// A container, with its element types.
    Container(PropertyKind, Vec<Self>),
    /// A delegate, with its signature. A named delegate also has its path.
    Delegate(PropertyKind, Option<String>, SignatureText),
}

/// Class to which the type `Object` without parentheses refers. This type corresponds to `Obj<Object>` in the plugin API.
const ANY_OBJECT: &str = "/Script/Core.Object";

/// A parsed signature: `f32, String -> bool`.
///
/// # Examples
/// ```
/// use alcedo_reflect::type_text::SignatureText;
///
/// let signature: SignatureText = "f32, String -> bool".parse()?;
/// assert_eq!((signature.arguments.len(), signature.result.is_some()), (2, true));
/// assert_eq!(signature.to_string(), "f32, String -> bool");
/// # Ok::<(), alcedo_reflect::type_text::TypeTextError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SignatureText {
    /// The parameters.
    pub arguments: Vec<TypeText>,
    /// Indices of the out parameters. Delegate types have no out parameters.
    pub out_parameters: Vec<usize>,
    /// The result.
    pub result: Option<Box<TypeText>>,
}

/// Error for text that is not a type.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{}` is not a type: {}", line(text), line(problem))]
pub struct TypeTextError {
    /// The text.
    pub text: String,
    /// The problem and its location.
    pub problem: String,
}

impl TypeText {
    /// Returns the type of a declaration. A declaration stores kind and path separately.
    ///
    /// # Errors
    /// Fails if kind and path do not form a type, or the path is not in its canonical form.
    pub fn of_declaration(kind: PropertyKind, type_path: &str) -> Result<Self, TypeTextError> {
        let written = match Entry::of(kind) {
            None | Some(Entry { form: Form::Struct, .. }) => type_path.to_owned(),
            Some(Entry { form: Form::Plain, name, .. }) => (*name).to_owned(),
            Some(Entry { name, .. }) => format!("{name}({type_path})"),
        };
        let found: Self = written.parse()?;
        let read = found.to_string();
        if found.kind() != kind || read != written {
            let problem = format!("write it as `{read}`");
            return Err(TypeTextError { text: written, problem });
        }
        Ok(found)
    }

    /// Returns the kind.
    pub fn kind(&self) -> PropertyKind {
        match self {
            Self::Plain(kind) | Self::Reference(kind, _) | Self::Container(kind, _) => *kind,
            Self::Delegate(kind, ..) => *kind,
            Self::Struct(_) => PropertyKind::STRUCT,
        }
    }

    /// Returns the text that a fingerprint contains in addition to the kind: the path, or the content of the parentheses.
    pub fn path(&self) -> String {
        match self {
            Self::Plain(_) => String::new(),
            Self::Struct(path) | Self::Reference(_, path) => path.clone(),
            Self::Container(_, of) => list(of),
            Self::Delegate(_, None, signature) => signature.to_string(),
            Self::Delegate(_, Some(path), signature) => format_named(path, &signature.to_string()),
        }
    }

    /// Calls `visit` with the path of every struct that a value contains. Skips structs in the parameters of delegates.
    pub(crate) fn each_struct(&self, visit: &mut dyn FnMut(&str)) {
        match self {
            Self::Struct(path) => visit(path),
            Self::Container(_, of) => of.iter().for_each(|inner| inner.each_struct(visit)),
            Self::Plain(_) | Self::Reference(..) | Self::Delegate(..) => {}
        }
    }
}

fn list(types: &[TypeText]) -> String {
    types.iter().map(TypeText::to_string).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for TypeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = name_of(self.kind());
        match self {
            Self::Plain(_) => f.write_str(kind),
            Self::Struct(path) => f.write_str(path),
            _ => write!(f, "{kind}({})", self.path()),
        }
    }
}

impl fmt::Display for SignatureText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, argument) in self.arguments.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let out = if self.out_parameters.contains(&at) { "out " } else { "" };
            write!(f, "{comma}{out}{argument}")?;
        }
        match &self.result {
            Some(result) if self.arguments.is_empty() => write!(f, "-> {result}"),
            Some(result) => write!(f, " -> {result}"),
            None => Ok(()),
        }
    }
}

impl FromStr for TypeText {
    type Err = TypeTextError;

    fn from_str(text: &str) -> Result<Self, TypeTextError> {
        whole(text, |reader| reader.one(0))
    }
}

impl FromStr for SignatureText {
    type Err = TypeTextError;

    fn from_str(text: &str) -> Result<Self, TypeTextError> {
        whole(text, |reader| reader.signature(0))
    }
}

fn whole<T>(text: &str, read: impl FnOnce(&mut Reader<'_>) -> Result<T, String>) -> Result<T, TypeTextError> {
    let mut reader = Reader { rest: text.trim_start() };
    let found = read(&mut reader).and_then(|found| match reader.rest {
        "" => Ok(found),
        more => Err(format!("`{more}` follows its end")),
    });
    found.map_err(|problem| TypeTextError { text: text.to_owned(), problem })
}

/// Remaining text of the parser. Leading spaces are skipped.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn one(&mut self, depth: usize) -> Result<TypeText, String> {
        if depth >= DEEPEST {
            return Err(format!("it is nested deeper than {DEEPEST}"));
        }
        if self.rest.starts_with('/') {
            return self.path().map(TypeText::Struct);
        }
        let name = self.word();
        let known = Entry::named(name).filter(|entry| entry.form != Form::Struct);
        let Some(&Entry { kind, form, .. }) = known else {
            return Err(format!("unknown kind `{name}`; write a struct as its path"));
        };
        if form == Form::Plain {
            return Ok(TypeText::Plain(kind));
        }
        if kind == PropertyKind::OBJECT && !self.rest.starts_with('(') {
            return Ok(TypeText::Reference(kind, ANY_OBJECT.to_owned()));
        }
        self.expect("(")?;
        let found = match form {
            Form::Path => TypeText::Reference(kind, self.path()?),
            Form::Signature => {
                let path = self.delegate_path()?;
                let signature = self.signature(depth + 1)?;
                if path.is_some() {
                    self.expect(")")?;
                }
                TypeText::Delegate(kind, path, signature)
            }
            Form::Types(count) => {
                let mut of = vec![self.one(depth + 1)?];
                while of.len() < count {
                    self.expect(",")?;
                    of.push(self.one(depth + 1)?);
                }
                TypeText::Container(kind, of)
            }
            Form::Plain | Form::Struct => TypeText::Plain(kind),
        };
        self.expect(")")?;
        Ok(found)
    }

    fn signature(&mut self, depth: usize) -> Result<SignatureText, String> {
        let mut signature = SignatureText::default();
        if !self.rest.is_empty() && !self.rest.starts_with(")") && !self.rest.starts_with("->") {
            self.argument(depth, &mut signature)?;
            while self.take(",") {
                self.argument(depth, &mut signature)?;
            }
        }
        if self.take("->") {
            signature.result = Some(Box::new(self.one(depth)?));
        }
        Ok(signature)
    }

    fn argument(&mut self, depth: usize, signature: &mut SignatureText) -> Result<(), String> {
        if self.take("out ") {
            if depth > 0 {
                return Err("a function bound to a delegate cannot have out parameters".to_owned());
            }
            signature.out_parameters.push(signature.arguments.len());
        }
        signature.arguments.push(self.one(depth)?);
        Ok(())
    }

    /// Reads the path of a named delegate. Returns `None` for the path of a struct. Only the path of a delegate has an opening parenthesis
    /// after it.
    fn delegate_path(&mut self) -> Result<Option<String>, String> {
        let end = self.rest.find([',', '(', ')', ' ']).unwrap_or(self.rest.len());
        if !self.rest.starts_with('/') || !self.rest[end..].starts_with('(') {
            return Ok(None);
        }
        let path = self.split(end);
        let is_nested = path.contains(':');
        let checked =
            if is_nested { path.parse::<MemberPath>().map(|_| ()) } else { path.parse::<TypePath>().map(|_| ()) };
        checked.map_err(|error| error.to_string())?;
        self.expect("(")?;
        Ok(Some(path.to_owned()))
    }

    fn path(&mut self) -> Result<String, String> {
        let path = self.split(self.rest.find([',', '(', ')', ' ']).unwrap_or(self.rest.len()));
        path.parse::<TypePath>().map_err(|error| error.to_string())?;
        Ok(path.to_owned())
    }

    fn word(&mut self) -> &'a str {
        self.split(self.rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.rest.len()))
    }

    fn split(&mut self, end: usize) -> &'a str {
        let (head, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        head
    }

    fn take(&mut self, token: &str) -> bool {
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.map_or(self.rest, str::trim_start);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        match (self.take(token), self.rest) {
            (true, _) => Ok(()),
            (false, "") => Err(format!("a `{token}` is missing at its end")),
            (false, rest) => Err(format!("a `{token}` is missing before `{rest}`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use alcedo_abi::kinds::PropertyKind;

    use super::{DEEPEST, SignatureText, TypeText};

    fn check(text: &str, expected: &str) {
        let result = text.parse::<TypeText>().map_or_else(|error| format!("! {}", error.problem), |ty| ty.to_string());
        assert_eq!(result, expected, "{text}");
    }

    #[test]
    fn types_parse_as_printed() {
        for text in [
            "u8",
            "String",
            "FieldPath",
            "/Script/A.B",
            "Object(/Script/A.B)",
            "Array(f64)",
            "Map(String, Array(Object(/Script/A.B)))",
            "Optional(Optional(i32))",
            "Delegate()",
            "Delegate(-> bool)",
            "MulticastDelegate(f32, /Script/A.S)",
            "Map(Name, Delegate(Set(u8), String -> Array(Map(u8, u8))))",
            "Delegate(/Script/A.D())",
            "Delegate(/Script/A.D(/Script/A.S, u8 -> bool))",
            "Array(MulticastDelegate(/Script/A.C:D(Delegate(/Script/A.D()))))",
        ] {
            check(text, text);
        }
        check(" Map( String,Array(f64) ) ", "Map(String, Array(f64))");
        check("Delegate(f32->bool)", "Delegate(f32 -> bool)");
        check("Array(Object)", "Array(Object(/Script/Core.Object))");
    }

    #[test]
    fn errors_name_problem_and_location() {
        check("", "! unknown kind ``; write a struct as its path");
        check("Struct(/Script/A.B)", "! unknown kind `Struct`; write a struct as its path");
        check("potato", "! unknown kind `potato`; write a struct as its path");
        check("Array", "! a `(` is missing at its end");
        check("Array(f64", "! a `)` is missing at its end");
        check("Array(f64, f64)", "! a `)` is missing before `, f64)`");
        check("Map(f64)", "! a `,` is missing before `)`");
        check("u8 u8", "! `u8` follows its end");
        check("Array(f64))", "! `)` follows its end");
        check("Delegate(/Script/A.D(u8)", "! a `)` is missing at its end");
        check(
            "Delegate(/Script/A(u8))",
            "! \"/Script/A\" is not a path: the dot between package and type is missing; write /Script/<Package>.<Type>",
        );
        check(
            "Object(A.B)",
            "! \"A.B\" is not a path: it does not start with /Script/; write /Script/<Package>.<Type>",
        );
    }

    #[test]
    fn nesting_depth_is_limited() {
        let nested = |depth: usize| format!("{}u8{}", "Array(".repeat(depth), ")".repeat(depth));
        check(&nested(DEEPEST - 1), &nested(DEEPEST - 1));
        check(&nested(DEEPEST), "! it is nested deeper than 16");
        check(&nested(100_000), "! it is nested deeper than 16");
        let calls = format!("{}{}", "Delegate(".repeat(50_000), ")".repeat(50_000));
        check(&calls, "! it is nested deeper than 16");
    }

    #[test]
    fn declarations_have_one_canonical_form() {
        let check = |kind, path: &str, expected: Result<&str, &str>| {
            let found = TypeText::of_declaration(kind, path).map(|ty| ty.to_string()).map_err(|error| error.problem);
            assert_eq!(found.as_deref().map_err(String::as_str), expected);
        };
        check(PropertyKind::ARRAY, "f64", Ok("Array(f64)"));
        check(PropertyKind::STRUCT, "/Script/A.B", Ok("/Script/A.B"));
        check(PropertyKind::DELEGATE, "", Ok("Delegate()"));
        check(PropertyKind::MAP, "u8,u8", Err("write it as `Map(u8, u8)`"));
        check(PropertyKind::STRUCT, "u8", Err("write it as `u8`"));
        check(PropertyKind(99), "", Err("unknown kind ``; write a struct as its path"));
    }

    #[test]
    fn the_structs_in_a_value_are_found() {
        let ty: TypeText = "Map(/Script/A.K, Optional(/Script/A.V))".parse().unwrap();
        let mut found = Vec::new();
        ty.each_struct(&mut |path| found.push(path.to_owned()));
        assert_eq!(found, ["/Script/A.K", "/Script/A.V"]);
        let ty: TypeText = "Delegate(/Script/A.S)".parse().unwrap();
        ty.each_struct(&mut |path| panic!("{path} is not in a delegate"));
    }

    #[test]
    fn signatures_parse_as_printed() {
        for text in ["", "-> u64", "i32, String -> bool", "Array(Map(u8, f64)) -> Delegate(-> u8)"] {
            assert_eq!(text.parse::<SignatureText>().unwrap().to_string(), text);
        }
    }
}
