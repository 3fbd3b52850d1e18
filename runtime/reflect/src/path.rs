//! Reflection paths: `/Script/Package.Type` and `/Script/Package.Type:Member`. A lookup requires an exact match. A parse error means that a
//! path is malformed. A well-formed path to an unknown type is not a parse error.

use std::fmt;
use std::str::FromStr;

use alcedo_base::escape::line;

/// Path of a type, such as a class or a struct.
///
/// # Examples
/// ```
/// use alcedo_reflect::path::TypePath;
///
/// let path: TypePath = "/Script/Game.Lamp".parse()?;
/// assert_eq!((path.package.as_str(), path.name.as_str()), ("Game", "Lamp"));
/// assert_eq!(path.to_string(), "/Script/Game.Lamp");
/// # Ok::<(), alcedo_reflect::path::PathError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TypePath {
    /// Name of the package, without the prefix `/Script/`.
    pub package: String,
    /// Name of the type within the package.
    pub name: String,
}

/// Path of a property or function.
///
/// # Examples
/// ```
/// use alcedo_reflect::path::{MemberPath, TypePath};
///
/// let path: MemberPath = "/Script/Game.Lamp:brightness".parse()?;
/// assert_eq!(path.owner, TypePath::new("Game", "Lamp"));
/// assert_eq!(path.member, "brightness");
/// # Ok::<(), alcedo_reflect::path::PathError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MemberPath {
    /// Type that declares the member.
    pub owner: TypePath,
    /// Name of the member.
    pub member: String,
}

/// Error for text that is not a path.
///
/// # Examples
/// ```
/// use alcedo_reflect::path::{PathProblem, TypePath};
///
/// let error = "Game.Lamp".parse::<TypePath>().expect_err("no root");
/// assert_eq!((error.problem, error.form), (PathProblem::NoScript, "/Script/<Package>.<Type>"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("\"{}\" is not a path: {problem}; write {form}", line(text))]
pub struct PathError {
    /// Rejected text.
    pub text: String,
    /// Problem that the parser found in the text.
    pub problem: PathProblem,
    /// Expected form of the path.
    pub form: &'static str,
}

/// Reason why a path is malformed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PathProblem {
    /// Missing `/Script/` prefix.
    #[error("it does not start with /Script/")]
    NoScript,
    /// Missing dot between package and type.
    #[error("the dot between package and type is missing")]
    NoDot,
    /// Missing colon before the member.
    #[error("the colon before the member is missing")]
    NoColon,
    /// Member path where a type path is expected.
    #[error("it names a member")]
    Member,
    /// A component is not an identifier.
    #[error("\"{}\" is not an identifier (letters, digits and _, not starting with a digit)", line(part))]
    Identifier {
        /// Rejected component.
        part: String,
    },
}

const ROOT: &str = "/Script/";
const TYPE_FORM: &str = "/Script/<Package>.<Type>";
const MEMBER_FORM: &str = "/Script/<Package>.<Type>:<Member>";

pub use alcedo_abi::names::is_identifier;

/// Returns a type path without the prefix `/Script/`, for reports and names: `Game.MagicCube`.
///
/// # Examples
/// ```
/// use alcedo_reflect::path::short;
///
/// assert_eq!(short("/Script/Game.Lamp"), "Game.Lamp");
/// ```
pub fn short(path: &str) -> &str {
    path.strip_prefix(ROOT).unwrap_or(path)
}

/// Replaces each type path in a text by the result of `replace`.
///
/// # Examples
/// ```
/// use alcedo_reflect::path::with_paths;
///
/// let text = with_paths("Map(Name, /Script/Game.Old)", |path| path.replace("Old", "New"));
/// assert_eq!(text, "Map(Name, /Script/Game.New)");
/// ```
pub fn with_paths<P: AsRef<str>>(text: &str, replace: impl Fn(&str) -> P) -> String {
    let (mut replaced, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(ROOT) {
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '/');
        let len = rest[at..].find(|letter| !is_part(letter)).unwrap_or(rest.len() - at);
        replaced.push_str(&rest[..at]);
        replaced.push_str(replace(&rest[at..at + len]).as_ref());
        rest = &rest[at + len..];
    }
    replaced + rest
}

impl TypePath {
    /// Creates the path of `name` in `package`. Both should be identifiers.
    pub fn new(package: &str, name: &str) -> Self {
        Self { package: package.to_owned(), name: name.to_owned() }
    }
}

impl FromStr for TypePath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let fail = |problem| PathError { text: text.to_owned(), problem, form: TYPE_FORM };
        if text.contains(':') {
            return Err(fail(PathProblem::Member));
        }
        type_path(text).map_err(fail)
    }
}

impl FromStr for MemberPath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let fail = |problem| PathError { text: text.to_owned(), problem, form: MEMBER_FORM };
        let (owner, member) = text.split_once(':').ok_or_else(|| fail(PathProblem::NoColon))?;
        let owner = type_path(owner).map_err(fail)?;
        Ok(Self { owner, member: identifier(member).map_err(fail)? })
    }
}

impl fmt::Display for TypePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{ROOT}{}.{}", self.package, self.name)
    }
}

impl fmt::Display for MemberPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.owner, self.member)
    }
}

fn type_path(text: &str) -> Result<TypePath, PathProblem> {
    let rest = text.strip_prefix(ROOT).ok_or(PathProblem::NoScript)?;
    let (package, name) = rest.split_once('.').ok_or(PathProblem::NoDot)?;
    Ok(TypePath { package: identifier(package)?, name: identifier(name)? })
}

fn identifier(part: &str) -> Result<String, PathProblem> {
    if is_identifier(part) { Ok(part.to_owned()) } else { Err(PathProblem::Identifier { part: part.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use super::{MemberPath, TypePath, short};

    fn check_type(text: &str, expected: &str) {
        let result = match text.parse::<TypePath>() {
            Ok(path) => format!("{} | {}", path.package, path.name),
            Err(error) => error.problem.to_string(),
        };
        assert_eq!(result, expected, "{text}");
    }

    fn check_member(text: &str, expected: &str) {
        let result = match text.parse::<MemberPath>() {
            Ok(path) => format!("{} | {} | {}", path.owner.package, path.owner.name, path.member),
            Err(error) => error.problem.to_string(),
        };
        assert_eq!(result, expected, "{text}");
    }

    #[test]
    fn a_type_path_has_a_package_and_a_name() {
        check_type("/Script/Engine.Actor", "Engine | Actor");
        check_type("/Script/_a1.B_2", "_a1 | B_2");
    }

    #[test]
    fn errors_of_type_paths_name_the_problem() {
        check_type("", "it does not start with /Script/");
        check_type("/script/Engine.Actor", "it does not start with /Script/");
        check_type("/Script/Engine", "the dot between package and type is missing");
        check_type("/Script/Engine.Actor:tick", "it names a member");
        check_type("/Script/.Actor", "\"\" is not an identifier (letters, digits and _, not starting with a digit)");
        check_type("/Script/A.9b", "\"9b\" is not an identifier (letters, digits and _, not starting with a digit)");
        check_type("/Script/A.b.c", "\"b.c\" is not an identifier (letters, digits and _, not starting with a digit)");
    }

    #[test]
    fn a_member_path_has_a_type_and_a_member() {
        check_member("/Script/Engine.Actor:receive_tick", "Engine | Actor | receive_tick");
        check_member("/Script/Engine.Actor", "the colon before the member is missing");
        check_member(
            "/Script/A.B:c:d",
            "\"c:d\" is not an identifier (letters, digits and _, not starting with a digit)",
        );
    }

    #[test]
    fn an_error_shows_the_text_and_the_right_form() {
        assert_eq!(
            "Engine.Actor".parse::<TypePath>().unwrap_err().to_string(),
            "\"Engine.Actor\" is not a path: it does not start with /Script/; write /Script/<Package>.<Type>"
        );
    }

    #[test]
    fn printed_paths_parse_to_equal_paths() {
        for text in ["/Script/Engine.Actor:receive_tick", "/Script/A.B:c"] {
            assert_eq!(text.parse::<MemberPath>().unwrap().to_string(), text);
        }
        assert_eq!(TypePath::new("Game", "Cube").to_string(), "/Script/Game.Cube");
        assert_eq!(short("/Script/Game.Cube"), "Game.Cube");
    }
}
