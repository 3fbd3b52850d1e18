//! Forms of type names in lookups of types and functions:
//!
//! | name | type |
//! | --- | --- |
//! | `Cube` | type of that name, of any module |
//! | `Game.Cube` | type with its package |
//! | `/Script/Game.Cube` | type with its full path |
//! | `cubes::Cube`, `cubes:Cube` | type of the module `cubes`; the part after the colons has any of the three forms |
//!
//! Functions without a type (`ex`) are looked up with the empty string as type name.

use std::fmt;

use crate::bridge::exports::is_type;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TypeName<'a> {
    pub module: Option<&'a str>,
    /// Type name without the module: `Type`, `Package.Type` or `/Script/Package.Type`.
    pub ty: &'a str,
}

/// Reason why a name is invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TypeNameError {
    /// The module name before the colon is empty.
    NoModule,
    /// The name has more than one colon separator.
    TooLong,
}

impl fmt::Display for TypeNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoModule => "no module stands before the colon",
            Self::TooLong => "more than a module and a type",
        })?;
        f.write_str("; write `Type`, `Package.Type` or `/Script/Package.Type`, or one of these behind `module::`")
    }
}

impl<'a> TypeName<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self, TypeNameError> {
        let (module, ty) = match text.split_once(':') {
            Some((module, rest)) => (Some(module), rest.strip_prefix(':').unwrap_or(rest)),
            None => (None, text),
        };
        match module {
            Some("") => Err(TypeNameError::NoModule),
            _ if ty.contains(':') => Err(TypeNameError::TooLong),
            module => Ok(Self { module, ty }),
        }
    }

    /// Checks if the name may refer to a type of the module `module`.
    pub(super) fn may_be_in(&self, module: &str) -> bool {
        self.module.is_none_or(|expected| expected == module)
    }

    /// Checks if the name refers to the type that a module declares under the path `declared`.
    pub(super) fn is(&self, declared: &str) -> bool {
        is_type(declared, self.ty)
    }
}

#[cfg(test)]
mod tests {
    use super::{TypeName, TypeNameError};

    #[test]
    fn type_names_have_an_optional_module_in_either_spelling() {
        let check = |text: &str, expected: Result<(Option<&str>, &str), TypeNameError>| {
            assert_eq!(TypeName::read(text).map(|name| (name.module, name.ty)), expected, "{text}");
        };
        check("Cube", Ok((None, "Cube")));
        check("Game.Cube", Ok((None, "Game.Cube")));
        check("/Script/Game.Cube", Ok((None, "/Script/Game.Cube")));
        for colons in [":", "::"] {
            for ty in ["Cube", "Game.Cube", "/Script/Game.Cube", ""] {
                check(&format!("cubes{colons}{ty}"), Ok((Some("cubes"), ty)));
            }
            check(&format!("{colons}Cube"), Err(TypeNameError::NoModule));
            check(&format!("cubes{colons}Cube:turn"), Err(TypeNameError::TooLong));
            check(&format!("cubes{colons}Cube::turn"), Err(TypeNameError::TooLong));
        }
        check("", Ok((None, "")));
        check("cubes:::Cube", Err(TypeNameError::TooLong));
    }

    #[test]
    fn a_name_matches_a_type_by_path_package_and_bare_name() {
        let is = |text: &str, module: &str, declared: &str| {
            let name = TypeName::read(text).expect(text);
            name.may_be_in(module) && name.is(declared)
        };
        for text in ["Cube", "Game.Cube", "/Script/Game.Cube", "cubes:Cube", "cubes::Game.Cube"] {
            assert!(is(text, "cubes", "/Script/Game.Cube"), "{text}");
        }
        for text in ["Cub", "Other.Cube", "spheres::Cube", "cubes::"] {
            assert!(!is(text, "cubes", "/Script/Game.Cube"), "{text}");
        }
        assert!(is("", "cubes", "") && is("cubes:", "cubes", ""));
    }
}
