//! What can be told of a package before anything it builds on is there: the types it declares, and every word it says, by which
//! the modules that it needs are found.

use std::collections::BTreeSet;

use alcedo_uc::ast::{File, FunctionKind, Item, Struct, TypeKind, TypeRef};
use alcedo_uc::{Diagnostic, Source};

/// What a package declares and names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outline {
    /// Paths of all types it declares.
    pub types: Vec<String>,
    /// Those of them that are classes.
    pub classes: Vec<String>,
    /// Names by which others use what it declares, in small letters.
    pub names: BTreeSet<String>,
    /// All words of its text that are no comment, no literal text and no type of its own, in small letters; two with a dot between also
    /// with it.
    pub words: BTreeSet<String>,
}

/// The outline of the files of a package.
///
/// # Errors
/// What is no text of a script, each with its place; and what is outside of the language, since it would not be told before the
/// text is right.
pub(crate) fn outline(package: &str, sources: &[Source]) -> Result<Outline, Vec<Diagnostic>> {
    let mut outline = Outline::default();
    let mut is_wrong = false;
    for source in sources {
        let (file, diagnostics) = alcedo_uc::parse(source);
        is_wrong |= diagnostics.iter().any(Diagnostic::is_error);
        outline.add(package, &file);
    }
    let said = alcedo_uc::outline(package, sources);
    (outline.names, outline.words) = (said.names, said.mentions);
    if is_wrong { Err(alcedo_uc::outside(package, sources)) } else { Ok(outline) }
}

impl Outline {
    fn add(&mut self, package: &str, file: &File) {
        let class = file.class.as_ref().map(|head| format!("/Script/{package}.{}", head.name.text));
        if let Some(class) = &class {
            self.types.push(class.clone());
            if file.class.as_ref().is_some_and(|head| !head.is_interface) {
                self.classes.push(class.clone());
            }
        }
        self.add_items(package, class.as_deref(), &file.items);
    }

    fn add_items(&mut self, package: &str, class: Option<&str>, items: &[Item]) {
        for item in items {
            match item {
                Item::Struct(found) => self.add_struct(package, found),
                Item::Enum(found) => self.types.push(format!("/Script/{package}.{}", found.name.text)),
                Item::Var(found) => self.add_type(package, &found.ty),
                Item::Function(found) if found.kind == FunctionKind::Delegate => {
                    self.types.extend(class.map(|class| format!("{class}:{}", found.name.text)));
                }
                _ => {}
            }
        }
    }

    fn add_struct(&mut self, package: &str, found: &Struct) {
        self.types.push(format!("/Script/{package}.{}", found.name.text));
        self.add_items(package, None, &found.items);
    }

    /// A type that is declared where it is used.
    fn add_type(&mut self, package: &str, ty: &TypeRef) {
        match &ty.kind {
            TypeKind::Struct(found) => self.add_struct(package, found),
            TypeKind::Enum(found) => self.types.push(format!("/Script/{package}.{}", found.name.text)),
            TypeKind::Generic(_, inner) => inner.iter().for_each(|inner| self.add_type(package, inner)),
            TypeKind::Named(_) | TypeKind::Delegate(_) => {}
        }
    }
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
    fn types_are_found_wherever_they_are_declared() {
        check("class A extends Object;", &["/Script/Tale.A"]);
        check(
            "class A extends Object;\nenum E { One, Two };\nstruct S { var int X; };\ndelegate Rung(int Times);",
            &["/Script/Tale.A", "/Script/Tale.E", "/Script/Tale.S", "/Script/Tale.A:Rung"],
        );
        check("class A extends Object;\nvar enum E { One } Now;", &["/Script/Tale.A", "/Script/Tale.E"]);
    }

    #[test]
    fn words_are_in_small_letters_and_comments_have_none() {
        let text = "class A extends MagicCube; // of Shade\nvar Lamp_2 L;\n";
        let found = outline("Tale", &[Source::new("A.uc", text)]).expect("text");
        let words: Vec<_> = found.words.iter().map(String::as_str).collect();
        assert_eq!(words, ["class", "extends", "l", "lamp_2", "magiccube", "var"]);
    }

    #[test]
    fn names_of_ones_own_are_no_words_but_behind_the_name_of_another_package() {
        let text = "class A extends Rung . A;\nenum E { M_One, M_Two };\nvar E X; function F() { X = M_One; B'Shade.B_1'; X = m_max; }";
        let found = outline("Tale", &[Source::new("A.uc", text)]).expect("text");
        let listed = |set: &std::collections::BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(listed(&found.names), "a e e_max m_max m_one m_two tale.a tale.e");
        let words = "b b_1 class enum extends f function m_max m_one m_two rung rung.a shade shade.b_1 var x";
        assert_eq!(listed(&found.words), words);
    }

    #[test]
    fn text_that_is_none_is_told_with_its_file() {
        let good = Source::new("A.uc", "class A extends Object;");
        let bad = Source::new("B.uc", "class B extends Object;\nfunction F( {");
        let found = outline("Tale", &[good, bad]).expect_err("it is no text of a script");
        assert!(found.iter().all(|found| found.file == 1) && !found.is_empty(), "{found:?}");
    }
}
