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

use crate::bridge::exports::is_type;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TypeName<'a> {
    pub module: Option<&'a str>,
    /// Type name without the module: `Type`, `Package.Type` or `/Script/Package.Type`.
    pub ty: &'a str,
}

impl<'a> TypeName<'a> {
    /// Parses a type name. Returns a description of the defect if the name is invalid.
    pub(super) fn read(text: &'a str) -> Result<Self, String> {
        let (module, ty) = match text.split_once(':') {
            Some((module, rest)) => (Some(module), rest.strip_prefix(':').unwrap_or(rest)),
            None => (None, text),
        };
        let problem = match module {
            Some("") => "no module precedes the colon",
            _ if ty.contains(':') => "more than a module and a type",
            module => return Ok(Self { module, ty }),
        };
        Err(format!(
            "{problem}; write `Type`, `Package.Type` or `/Script/Package.Type`, or one of these after `module::`"
        ))
    }

    /// Checks if the name refers to the type that a module declares under the path `declared`.
    pub(super) fn is(&self, declared: &str) -> bool {
        is_type(declared, self.ty)
    }
}

#[cfg(test)]
mod tests {
    use super::TypeName;

    #[test]
    fn type_names_have_an_optional_module_in_either_spelling() {
        const NO_MODULE: &str = "no module precedes the colon";
        const TOO_LONG: &str = "more than a module and a type";
        let check = |text: &str, expected: Result<(Option<&str>, &str), &str>| match TypeName::read(text) {
            Ok(name) => assert_eq!(Ok((name.module, name.ty)), expected, "{text}"),
            Err(problem) => assert!(expected.is_err_and(|start| problem.starts_with(start)), "{text}: {problem}"),
        };
        check("Cube", Ok((None, "Cube")));
        check("Game.Cube", Ok((None, "Game.Cube")));
        check("/Script/Game.Cube", Ok((None, "/Script/Game.Cube")));
        for colons in [":", "::"] {
            for ty in ["Cube", "Game.Cube", "/Script/Game.Cube", ""] {
                check(&format!("cubes{colons}{ty}"), Ok((Some("cubes"), ty)));
            }
            check(&format!("{colons}Cube"), Err(NO_MODULE));
            check(&format!("cubes{colons}Cube:turn"), Err(TOO_LONG));
            check(&format!("cubes{colons}Cube::turn"), Err(TOO_LONG));
        }
        check("", Ok((None, "")));
        check("cubes:::Cube", Err(TOO_LONG));
    }

    #[test]
    fn a_name_matches_a_type_by_path_package_and_bare_name() {
        let is = |text: &str, declared: &str| TypeName::read(text).expect(text).is(declared);
        for text in ["Cube", "Game.Cube", "/Script/Game.Cube", "cubes:Cube", "cubes::Game.Cube"] {
            assert!(is(text, "/Script/Game.Cube"), "{text}");
        }
        for text in ["Cub", "Other.Cube", "cubes::"] {
            assert!(!is(text, "/Script/Game.Cube"), "{text}");
        }
        assert!(is("", "") && is("cubes:", ""));
    }
}
