//! The code of packages of scripts, by the module of each. It refers to the functions whose bodies it is, and they lead to it; so it is
//! kept here, and goes when its module ends.

use alcedo_script::Compiled;
use rustc_hash::FxHashMap;

use crate::cells::RefCell;
use crate::handles::{ClassId, ModuleId};

/// The code that runs. Game thread only.
#[derive(Debug, Default)]
pub(crate) struct ScriptCodes(RefCell<FxHashMap<ModuleId, Package>>);

#[derive(Debug)]
struct Package {
    _code: Compiled,
    classes: Vec<ClassId>,
}

impl ScriptCodes {
    /// Keeps the code of a module, which has these classes.
    pub(crate) fn keep(&self, module: ModuleId, code: Compiled, classes: Vec<ClassId>) {
        self.0.borrow_mut().insert(module, Package { _code: code, classes });
    }

    /// The code of a module goes. The classes that it had.
    pub(crate) fn end_module(&self, module: ModuleId) -> Vec<ClassId> {
        let gone = self.0.borrow_mut().remove(&module);
        gone.map(|package| package.classes).unwrap_or_default()
    }

    /// How many packages have code.
    pub(crate) fn len(&self) -> usize {
        self.0.borrow().len()
    }
}
