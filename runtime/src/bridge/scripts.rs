//! Stores the code of script packages by module. The code of a package and the functions of the package refer to each other. This store
//! breaks this reference cycle by removing the code when the module ends.

use alcedo_script::Compiled;
use rustc_hash::FxHashMap;

use crate::cells::RefCell;
use crate::handles::{ClassId, ModuleId};

/// Code of the active script packages. Game thread only.
#[derive(Debug, Default)]
pub(crate) struct ScriptCodes(RefCell<FxHashMap<ModuleId, Package>>);

#[derive(Debug)]
struct Package {
    _code: Compiled,
    classes: Vec<ClassId>,
}

impl ScriptCodes {
    pub(crate) fn keep(&self, module: ModuleId, code: Compiled, classes: Vec<ClassId>) {
        self.0.borrow_mut().insert(module, Package { _code: code, classes });
    }

    /// Removes the code of a module, and returns its classes.
    pub(crate) fn end_module(&self, module: ModuleId) -> Vec<ClassId> {
        let gone = self.0.borrow_mut().remove(&module);
        gone.map(|package| package.classes).unwrap_or_default()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.borrow().len()
    }
}
