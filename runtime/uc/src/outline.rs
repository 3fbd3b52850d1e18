//! What a package declares and which names it mentions, known before anything is checked: by this a host decides in which order
//! packages are declared.

use std::collections::BTreeSet;

use crate::ast::{File, Item, Struct, TypeKind};
use crate::parse::parse_file;
use crate::source::Source;
use crate::token::{Kind, Tokens};
use crate::{Diagnostic, hir};

/// A package before it is checked.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// Paths of the classes, structs and enums that it declares, in the order of the text.
    pub types: Vec<hir::Path>,
    /// Paths of the delegates that it declares: `/Script/Package.Class:Name`.
    pub delegates: Vec<hir::Path>,
    /// Every word and every part of a quoted name in its files, in lower case: what it does not mention, it does not depend on.
    pub mentions: BTreeSet<String>,
    /// Messages of the syntax, errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the files of a package without looking at reflection.
pub fn outline(package: &str, sources: &[Source]) -> Outline {
    let mut outline = Outline::default();
    for (at, source) in sources.iter().enumerate() {
        let (file, diagnostics) = parse_file(source, at);
        outline.diagnostics.extend(diagnostics);
        outline.declared(package, &file);
        outline.mentioned(source);
    }
    outline
}

impl Outline {
    fn declared(&mut self, package: &str, file: &File) {
        let Some(class) = &file.class else { return };
        let path: hir::Path = format!("/Script/{package}.{}", class.name.text).into();
        self.types.push(path.clone());
        self.items(package, &path, &file.items);
    }

    fn items(&mut self, package: &str, class: &str, items: &[Item]) {
        for item in items {
            match item {
                Item::Struct(found) => self.structure(package, class, found),
                Item::Enum(found) => self.types.push(format!("/Script/{package}.{}", found.name.text).into()),
                Item::Var(found) => match &found.ty.kind {
                    TypeKind::Struct(inner) => self.structure(package, class, inner),
                    TypeKind::Enum(inner) => self.types.push(format!("/Script/{package}.{}", inner.name.text).into()),
                    _ => {}
                },
                Item::Function(found) if found.kind == crate::ast::FunctionKind::Delegate => {
                    self.delegates.push(format!("{class}:{}", found.name.text).into());
                }
                _ => {}
            }
        }
    }

    fn structure(&mut self, package: &str, class: &str, found: &Struct) {
        self.items(package, class, &found.items);
        self.types.push(format!("/Script/{package}.{}", found.name.text).into());
    }

    fn mentioned(&mut self, source: &Source) {
        let mut tokens = Tokens::new(&source.text);
        loop {
            let token = tokens.next();
            let text = source.slice(token.span);
            match token.kind {
                Kind::End => return,
                Kind::Word => {
                    self.mentions.insert(text.to_ascii_lowercase());
                }
                Kind::Quoted => {
                    let parts = text.trim_matches('\'').split('.').map(str::trim).filter(|part| !part.is_empty());
                    self.mentions.extend(parts.map(str::to_ascii_lowercase));
                }
                // `implements(…)` and the like are kept as text, but their words are words all the same.
                _ => {}
            }
        }
    }
}
