//! The static functions that modules offer as `nm:/module:type:name`.
#![expect(unsafe_code, reason = "enters module code through the function pointers of its descriptions")]

use std::collections::BTreeMap;
use std::rc::Rc;

use alcedo_abi::describe::ZCallInvoke;

use crate::border::{CallError, from_module};
use crate::cells::RefCell;
use crate::conjugate::gate::Gate;
use crate::conjugate::red::RedStack;
use crate::game_thread::GameThread;
use crate::handles::ModuleId;
use crate::object::mode::Reach;
use crate::zcall::buffer::BufferMut;
use crate::zcall::chain::Dispatcher;

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

/// Calls a static function of a module.
pub(crate) struct ExportDispatcher {
    export: Export,
    what: Rc<str>,
    /// As it is called by name.
    name: String,
    red: Rc<dyn Fn() -> Option<Rc<crate::bridge::core::Core>>>,
}

impl ExportDispatcher {
    /// For an export; `core` leads to the red stack while the runtime lives.
    pub(crate) fn new(export: Export, core: std::rc::Weak<crate::bridge::core::Core>) -> Self {
        let what: Rc<str> = format!("{}:{}:{}", export.gate.tag().name, export.type_path, export.name).into();
        let name = if export.type_path.is_empty() { format!("ex:/{}", export.name) } else { format!("nm:/{what}") };
        Self { export, what, name, red: Rc::new(move || core.upgrade()) }
    }
}

impl Dispatcher for ExportDispatcher {
    fn call(&self, _gt: GameThread<'_>, mut buffer: BufferMut<'_>) -> Result<(), CallError> {
        let core = (self.red)().ok_or_else(|| CallError::Unavailable { what: self.what.to_string() })?;
        core.world.mode.may_call(&self.name, || Reach::Static(self.export.gate.tag().id))?;
        let red: &RedStack = &core.red;
        red.enter_module(&self.export.gate.tag().name, &self.what, || {
            self.export.gate.through(|| {
                from_module(|failure| {
                    // SAFETY: the gate is open, so the image is mapped; the buffer is lent for the call, and its
                    // pointer slots are what the fingerprint, compared when the name was resolved, says.
                    unsafe { (self.export.invoke.0)(buffer.raw(), failure) }
                })
            })
        })
    }
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
