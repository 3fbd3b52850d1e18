//! The static functions that modules offer.

use std::collections::BTreeMap;
use std::rc::Rc;

use alcedo_abi::describe::ZCallInvoke;
use alcedo_abi::direct::DirectShell;

use crate::cells::RefCell;
use crate::conjugate::gate::Gate;
use crate::handles::ModuleId;

/// One static function of a module.
#[derive(Clone)]
pub(crate) struct Export {
    /// The door of its module.
    pub gate: Rc<Gate>,
    /// Path of its type; empty for functions offered as `ex`.
    pub type_path: Rc<str>,
    /// Its name.
    pub name: Rc<str>,
    /// Fingerprint of its signature.
    pub fingerprint: u64,
    /// The signature in words.
    pub signature: Rc<str>,
    /// The body.
    pub invoke: ZCallInvoke,
    /// The same without a buffer, where it has plain values only.
    pub direct: Option<DirectShell>,
}

/// The name by which a function that a module offers is called.
pub(crate) fn export_name(module: &str, type_path: &str, name: &str) -> String {
    if type_path.is_empty() { format!("ex:/{name}") } else { format!("nm:/{module}:{type_path}:{name}") }
}

/// The static functions of the modules. Game thread only.
#[derive(Default)]
pub(crate) struct Exports {
    /// The oldest module first.
    by_module: RefCell<BTreeMap<ModuleId, Vec<Export>>>,
}

impl Exports {
    /// Adds one.
    pub(crate) fn add(&self, export: Export) {
        self.by_module.borrow_mut().entry(export.gate.tag().id).or_default().push(export);
    }

    /// The module offers nothing any more.
    pub(crate) fn end_module(&self, module: ModuleId) {
        self.by_module.borrow_mut().remove(&module);
    }

    /// A line for each, in order.
    pub(crate) fn lines(&self) -> Vec<String> {
        let exports = self.by_module.borrow();
        let line = |export: &Export| {
            let tag = export.gate.tag();
            format!("nm {}:{}:{} of module {}", tag.name, export.type_path, export.name, tag.id.0)
        };
        let mut lines: Vec<_> = exports.values().flatten().map(line).collect();
        lines.sort_unstable();
        lines
    }

    /// The function of that address. The type may be given as a full path, as `Package.Type` or as its bare name. Of two
    /// builds of a module, the older answers until its gate is shut.
    pub(crate) fn find(&self, module: &str, type_path: &str, name: &str) -> Option<Export> {
        let exports = self.by_module.borrow();
        let is_meant = |export: &&Export| {
            let gate = &export.gate;
            gate.is_open()
                && *gate.tag().name == *module
                && *export.name == *name
                && is_type(&export.type_path, type_path)
        };
        exports.values().flatten().find(is_meant).cloned()
    }
}

/// Whether `asked` names the type of `path`.
pub(crate) fn is_type(path: &str, asked: &str) -> bool {
    path == asked
        || path
            .strip_prefix("/Script/")
            .is_some_and(|short| short == asked || short.split_once('.').is_some_and(|(_package, name)| name == asked))
}

#[cfg(test)]
mod tests {
    use super::is_type;

    #[test]
    fn a_type_is_known_by_its_path_its_short_path_and_its_name() {
        for asked in ["/Script/Game.Cube", "Game.Cube", "Cube"] {
            assert!(is_type("/Script/Game.Cube", asked), "{asked}");
        }
        for asked in ["Script/Game.Cube", "ube", "Other.Cube", ""] {
            assert!(!is_type("/Script/Game.Cube", asked), "{asked}");
        }
    }
}
