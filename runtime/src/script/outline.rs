//! Outline of a package: the declared types, and the identifiers in its source. The outline does not depend on other packages. The
//! identifiers determine the modules that the package requires.

use std::collections::BTreeSet;

#[cfg(test)]
use alcedo_uc::Diagnostic;
use alcedo_uc::hir::Path;
use alcedo_uc::{Parsed, Source};

/// Declared types of a package, and the identifiers in its source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outline {
    /// Paths of all declared types.
    pub types: Vec<String>,
    pub classes: Vec<String>,
    /// Names under which other packages refer to the declarations, in lower case.
    pub names: BTreeSet<String>,
    /// Identifiers and keywords of the source in lower case. Excludes comments, literals, and types that the package declares. Also
    /// contains each pair of identifiers that are joined by a dot.
    pub words: BTreeSet<String>,
}

/// Returns the outline of the files of a package.
///
/// # Errors
/// Returns syntax errors with their locations. Also reports unsupported language features, because the checker reports such features only
/// for packages without syntax errors.
#[cfg(test)]
fn outline(package: &str, sources: &[Source]) -> Result<Outline, Vec<Diagnostic>> {
    let parsed = Parsed::of(sources);
    match parsed.has_errors() {
        false => Ok(partial_outline(package, sources, &parsed)),
        true => Err(alcedo_uc::outside(package, sources, parsed)),
    }
}

/// Returns the outline of all files that can be parsed.
pub(crate) fn partial_outline(package: &str, sources: &[Source], parsed: &Parsed) -> Outline {
    let outline = alcedo_uc::outline(package, sources, parsed);
    let paths = |paths: &[Path]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
    let types = [paths(&outline.types), paths(&outline.delegates)].concat();
    Outline { types, classes: paths(&outline.classes), names: outline.names, words: outline.mentions }
}

#[cfg(test)]
mod tests {
    use alcedo_uc::Source;

    use super::outline;

    fn check(text: &str, types: &[&str]) {
        let sources = [Source::new("Tale/A.uc", text)];
        let found = outline("Tale", &sources).unwrap_or_else(|found| panic!("{found:?}"));
        assert_eq!(found.types, types, "{text}");
    }

    #[test]
    fn types_are_found_in_every_kind_of_declaration() {
        check("class A extends Object;", &["/Script/Tale.A"]);
        check(
            "class A extends Object;\nenum E { One, Two };\nstruct S { var int X; };\ndelegate Rung(int Times);",
            &["/Script/Tale.A", "/Script/Tale.E", "/Script/Tale.S", "/Script/Tale.A:Rung"],
        );
        check("class A extends Object;\nvar enum E { One } Now;", &["/Script/Tale.A", "/Script/Tale.E"]);
    }

    #[test]
    fn words_are_in_lower_case_and_comments_are_skipped() {
        let text = "class A extends MagicCube; // of Shade\nvar Lamp_2 L;\n";
        let found = outline("Tale", &[Source::new("A.uc", text)]).expect("text");
        let words: Vec<_> = found.words.iter().map(String::as_str).collect();
        assert_eq!(words, ["class", "extends", "l", "lamp_2", "magiccube", "var"]);
    }

    #[test]
    fn own_names_count_only_after_the_name_of_another_package() {
        let text = "class A extends Rung . A;\nenum E { M_One, M_Two };\nvar E X; function F() { X = M_One; B'Shade.B_1'; X = m_max; }";
        let found = outline("Tale", &[Source::new("A.uc", text)]).expect("text");
        let listed = |set: &std::collections::BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(listed(&found.names), "a e e_max m_max m_one m_two tale.a tale.e");
        let words = "b b_1 class enum extends f function m_max m_one m_two rung rung.a shade shade.b_1 var x";
        assert_eq!(listed(&found.words), words);
    }

    #[test]
    fn invalid_source_is_reported_with_its_file() {
        let good = Source::new("A.uc", "class A extends Object;");
        let bad = Source::new("B.uc", "class B extends Object;\nfunction F( {");
        let found = outline("Tale", &[good, bad]).expect_err("it has syntax errors");
        assert!(found.iter().all(|found| found.file == 1) && !found.is_empty(), "{found:?}");
    }
}
