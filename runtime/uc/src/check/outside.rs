//! Reports unsupported constructs, and specifiers that have no effect in this language.

use super::Checker;
use crate::ast::{ClassHead, Ident, Modifier, Outside, OutsideKind};
use crate::diagnostic::Diagnostic;
use crate::parse::{directive_outside, macro_outside};

/// Known class specifiers. Most of them have no effect here, because they concern editors, native code and serialization.
const CLASS_SPECIFIERS: &[&str] = &[
    "abstract",
    "final",
    "transient",
    "placeable",
    "notplaceable",
    "dllbind",
    "noexport",
    "nativereplication",
    "perobjectconfig",
    "perobjectlocalized",
    "hidecategories",
    "showcategories",
    "dontsortcategories",
    "collapsecategories",
    "dontcollapsecategories",
    "autoexpandcategories",
    "autocollapsecategories",
    "dontautocollapsecategories",
    "editinlinenew",
    "noteditinlinenew",
    "hidedropdown",
    "parseconfig",
    "cacheexempt",
    "dependson",
    "implements",
    "guid",
    "safereplace",
    "instanced",
    "intrinsic",
    "inherits",
    "classgroup",
    "deprecated",
    "iterationoptimized",
    "nousercreate",
    "forcescriptorder",
    "exportstructs",
    "nonplaceable",
    "notlistable",
    "unsafe",
    "nontransient",
    "showfunctions",
    "hidefunctions",
    "shoulddecorate",
];

/// Known struct specifiers.
pub(super) const STRUCT_SPECIFIERS: &[&str] = &[
    "native",
    "export",
    "immutable",
    "immutablewhencooked",
    "atomic",
    "atomicwhencooked",
    "transient",
    "strictconfig",
    "init",
    "noexport",
    "long",
];

impl Checker<'_> {
    pub(super) fn outside_item(&self, found: &Outside, file: usize) {
        let at = (file, found.span);
        let error = |id, message: String| Diagnostic::error(id, at, message);
        let name = || found.name.as_ref().map_or(String::new(), |name| format!(" `{}`", name.text));
        let diagnostic = match found.what {
            OutsideKind::State => error("uc-state", format!("the state{} is outside of the language", name()))
                .hint("keep the state in a variable, and check it in the functions"),
            OutsideKind::Replication => {
                error("uc-replication", "variables and calls are not replicated: this block has no effect".to_owned())
                    .warning()
            }
            OutsideKind::CppText => {
                error("uc-cpptext", "C++ for the headers of a native class has no effect".to_owned()).warning()
            }
            OutsideKind::Exec => {
                error("uc-exec", "editor commands are not run: nothing is imported".to_owned()).warning()
            }
            OutsideKind::Directive => directive_outside(&found.raw, at),
            OutsideKind::Macro => macro_outside(found.name.as_ref().map_or("", |name| name.text.as_str()), at),
        };
        self.report(diagnostic);
    }

    pub(super) fn check_class_specifiers(&self, head: &ClassHead, file: usize) {
        for Modifier { name: word, argument } in &head.modifiers {
            match word.text.to_ascii_lowercase().as_str() {
                "native" => {
                    let message = "a script class has no native code: `native` has no effect";
                    self.warn_once(file, word, "uc-native-class", message);
                }
                "config" | "localized" => {}
                "within" => {
                    let outer = argument.as_deref().unwrap_or("");
                    let message =
                        format!("the outer of new objects is not checked: `Outer` is `none` if it is not a `{outer}`");
                    self.warn_once(file, word, "uc-within", &message);
                }
                _ => self.known_specifier(word, CLASS_SPECIFIERS, "class", file),
            }
        }
    }

    /// Reports a specifier that is not among the known specifiers of a declaration.
    pub(super) fn known_specifier(&self, word: &Ident, known: &[&str], what: &str, file: usize) {
        if !known.iter().any(|known| word.is(known)) {
            let message = format!("`{}` is not a {what} specifier", word.text);
            self.report(Diagnostic::error("uc-unknown-word", (file, word.span), message));
        }
    }
}
