//! Names that a package declares and mentions. Hosts collect these names before the check of a package, to determine the order in which
//! packages are declared.

use std::collections::BTreeSet;

use crate::ast::{DataType, Enum, File, FunctionKind, Ident, Item, each_type};
use crate::hash::HashSet;
use crate::parse::Parsed;
use crate::source::Source;
use crate::token::{Kind, Tokens};

/// Names that a package declares and mentions.
///
/// # Examples
/// ```
/// use alcedo_uc::{Parsed, Source, outline};
///
/// let sources = [Source::new("Door.uc", "class Door extends Actor;\nvar Key Opener;\n")];
/// let outline = outline("Game", &sources, &Parsed::of(&sources));
/// assert_eq!(&*outline.types[0], "/Script/Game.Door");
/// assert!(outline.mentions.contains("key"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// Paths of declared classes, structs and enums in source order.
    pub types: Vec<String>,
    /// Paths of declared classes, without interfaces.
    pub classes: Vec<String>,
    /// Paths of declared delegates: `/Script/Package.Class:Name`.
    pub delegates: Vec<String>,
    /// Names under which other packages use the declarations, in lower case. Contains types (as `type` and as `package.type`), delegates,
    /// enum entries, and the names that denote the numbers of enum entries.
    pub names: BTreeSet<String>,
    /// Names that occur in the files, in lower case: identifiers, components of quoted names, and pairs of identifiers joined by a dot. A
    /// name outside this set cannot be a dependency. The set does not contain names of the package's own types, because they are not
    /// dependencies.
    pub mentions: BTreeSet<String>,
}

/// Collects the names of a package without access to reflection.
///
/// # Examples
/// ```
/// use alcedo_uc::{Parsed, Source, outline};
///
/// let door = Source::new("Door.uc", "class Door extends Actor;");
/// let sources = [door, Source::new("Key.uc", "class Key extends Actor;")];
/// let outline = outline("Game", &sources, &Parsed::of(&sources));
/// assert_eq!(outline.classes.len(), 2);
/// ```
pub fn outline(package: &str, sources: &[Source], parsed: &Parsed) -> Outline {
    let mut outline = Outline::default();
    parsed.files.iter().for_each(|file| outline.declared(package, file));
    let mut mentions = HashSet::default();
    sources.iter().for_each(|source| mentioned(source, &mut mentions));
    let types: BTreeSet<_> = outline.types.iter().filter_map(|path| path.rsplit('.').next()).collect();
    let types: BTreeSet<_> = types.into_iter().map(str::to_ascii_lowercase).collect();
    outline.mentions = mentions.into_iter().filter(|word| !types.contains(word)).collect();
    outline
}

impl Outline {
    fn declared(&mut self, package: &str, file: &File) {
        let Some(class) = &file.class else { return };
        let path = self.add_type(package, &class.name);
        if !class.is_interface {
            self.classes.push(path.clone());
        }
        each_type(&file.items, &mut |found| match found {
            DataType::Struct(found) => drop(self.add_type(package, &found.name)),
            DataType::Enum(found) => self.enumeration(package, found),
        });
        for item in &file.items {
            if let Item::Function(found) = item
                && found.kind == FunctionKind::Delegate
            {
                self.names.insert(found.name.text.to_ascii_lowercase());
                self.delegates.push(format!("{path}:{}", found.name.text));
            }
        }
    }

    fn enumeration(&mut self, package: &str, found: &Enum) {
        self.add_type(package, &found.name);
        let name = found.name.text.to_ascii_lowercase();
        // Scripts write the number of entries as `X_MAX`, where `X` is the enum name or the prefix of the entries.
        self.names.insert(format!("{name}_max"));
        for entry in &found.entries {
            let entry = entry.name.text.to_ascii_lowercase();
            self.names.extend(entry.split_once('_').map(|(prefix, _)| format!("{prefix}_max")));
            self.names.insert(entry);
        }
    }

    /// Adds a type and the names under which other packages use it. Returns the path of the type.
    fn add_type(&mut self, package: &str, name: &Ident) -> String {
        let path = format!("/Script/{package}.{}", name.text);
        self.types.push(path.clone());
        let name = name.text.to_ascii_lowercase();
        self.names.insert(format!("{}.{name}", package.to_ascii_lowercase()));
        self.names.insert(name);
        path
    }
}

/// Adds the identifiers of a file, and pairs of identifiers joined by a dot, to `mentions`.
fn mentioned(source: &Source, mentions: &mut HashSet<String>) {
    let mut tokens = Tokens::new(&source.text);
    // The last identifier, and the identifier before the dot that precedes it.
    let (mut last, mut before): (Option<&str>, Option<&str>) = (None, None);
    let mut lower = String::new();
    let mut mention = |parts: [&str; 2]| {
        lower.clear();
        lower.push_str(parts[0]);
        lower.push_str(if parts[0].is_empty() { "" } else { "." });
        lower.push_str(parts[1]);
        lower.make_ascii_lowercase();
        if !mentions.contains(&lower) {
            mentions.insert(lower.clone());
        }
    };
    loop {
        let token = tokens.next();
        let text = source.slice(token.span);
        match token.kind {
            Kind::End => return,
            Kind::Dot => {
                before = last.take();
                continue;
            }
            Kind::Word => {
                if let Some(before) = before.take() {
                    mention([before, text]);
                }
                mention(["", text]);
                last = Some(text);
                continue;
            }
            Kind::Quoted => {
                let parts = text.trim_matches('\'').split('.').map(str::trim).filter(|part| !part.is_empty());
                let mut last = "";
                for part in parts {
                    if !last.is_empty() {
                        mention([last, part]);
                    }
                    mention(["", part]);
                    last = part;
                }
            }
            // Reads identifiers from tokens, because the tree stores arguments such as those of `implements(…)` as strings.
            _ => {}
        }
        (last, before) = (None, None);
    }
}

#[cfg(test)]
mod tests {
    use super::Outline;
    use crate::{Diagnostic, Parsed, Source, outside};

    fn outline(package: &str, sources: &[Source]) -> Result<Outline, Vec<Diagnostic>> {
        let parsed = Parsed::of(sources);
        match parsed.has_errors() {
            false => Ok(super::outline(package, sources, &parsed)),
            true => Err(outside(package, sources, parsed)),
        }
    }

    fn check(text: &str, types: &[&str]) {
        let sources = [Source::new("Tale/A.uc", text)];
        let found = outline("Tale", &sources).unwrap_or_else(|found| panic!("{found:?}"));
        let found: Vec<_> = found.types.iter().chain(&found.delegates).map(String::as_str).collect();
        assert_eq!(found, types, "{text}");
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
    fn mentions_are_in_lower_case_and_comments_are_skipped() {
        let text = "class A extends MagicCube; // of Shade\nvar Lamp_2 L;\n";
        let found = outline("Tale", &[Source::new("A.uc", text)]).expect("text");
        let mentions: Vec<_> = found.mentions.iter().map(String::as_str).collect();
        assert_eq!(mentions, ["class", "extends", "l", "lamp_2", "magiccube", "var"]);
    }

    #[test]
    fn own_names_count_only_after_the_name_of_another_package() {
        let text = "class A extends Rung . A;\nenum E { M_One, M_Two };\nvar E X; function F() { X = M_One; B'Shade.B_1'; X = m_max; }";
        let found = outline("Tale", &[Source::new("A.uc", text)]).expect("text");
        let listed = |set: &std::collections::BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(listed(&found.names), "a e e_max m_max m_one m_two tale.a tale.e");
        let mentions = "b b_1 class enum extends f function m_max m_one m_two rung rung.a shade shade.b_1 var x";
        assert_eq!(listed(&found.mentions), mentions);
    }

    #[test]
    fn invalid_source_is_reported_with_its_file() {
        let good = Source::new("A.uc", "class A extends Object;");
        let bad = Source::new("B.uc", "class B extends Object;\nfunction F( {");
        let found = outline("Tale", &[good, bad]).expect_err("it has syntax errors");
        assert!(found.iter().all(|found| found.file == 1) && !found.is_empty(), "{found:?}");
    }
}
