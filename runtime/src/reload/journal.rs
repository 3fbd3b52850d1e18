//! Records a reload in progress. The report is created from this record after the commit or the rollback. The report of a rollback
//! therefore contains only facts that hold after the rollback.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use crate::bridge::rebuild::Rebuilt;
use crate::handles::ObjectHandle;
use crate::load::master::BroughtUp;
use crate::load::module::master::MasterModule;
use crate::load::record::Record;
use crate::object::mode::CallCount;
use crate::reload::changes::{ClassChange, Phases, PropertyChange, ValueCounts};
use crate::unload::ticket::UnloadTicket;

#[derive(Default)]
pub(crate) struct Journal {
    /// Generation before the reload.
    pub from: u64,
    /// Affected modules, dependencies first.
    pub modules: Vec<String>,
    pub kept_modules: Vec<String>,
    pub replaced_because: Vec<String>,
    pub changes: Changes,
    pub rebuilt: Rebuilt,
    /// Number of class constructors that ran a second time on an object.
    pub reruns: u64,
    /// Ticket of the unloading generation.
    pub ended: Option<UnloadTicket>,
    pub warnings: Vec<String>,
    pub phases: Phases,
    /// Effects that a rollback cannot undo.
    pub done: Done,
}

#[derive(Default)]
pub(crate) struct Changes {
    pub properties: Vec<PropertyChange>,
    pub values: ValueCounts,
    pub classes: Vec<ClassChange>,
    pub structure: Vec<String>,
}

#[derive(Default)]
pub(crate) struct Done {
    /// Events for which listeners were called, and modules whose code ran.
    pub record: Record,
    /// Number of objects that were created and destroyed again, by class path.
    pub constructions: BTreeMap<String, u64>,
    /// Calls from the new modules to other code, by name.
    pub calls: BTreeMap<String, CallCount>,
    /// Objects that were added to the root set, and objects that were removed from the root set.
    pub roots: (Vec<ObjectHandle>, Vec<ObjectHandle>),
    /// Names of calls that were first resolved during the reload. These names keep their call handles.
    pub resolved: Vec<String>,
}

impl Journal {
    pub(crate) fn begin(from: u64, modules: &[Rc<MasterModule>]) -> Self {
        Self { from, modules: names(modules), ..Self::default() }
    }

    /// Records that `file` was rejected. Lists the module that was loaded from this file as the only affected module.
    pub(crate) fn record_refused(&mut self, file: &Path, modules: &[Rc<MasterModule>]) {
        let of_file = |module: &&Rc<MasterModule>| module.info().origin.as_deref() == Some(file);
        if let Some(module) = modules.iter().find(of_file) {
            self.modules = vec![module.name().to_owned()];
        }
    }

    /// Records the replaced modules, with the reasons.
    pub(crate) fn record_scope(&mut self, brought_up: &BroughtUp) {
        self.modules = names(&brought_up.new);
        let kept =
            |module: &Rc<MasterModule>| format!("{} of generation {}", module.name(), module.gate().tag().generation);
        self.kept_modules = brought_up.kept.iter().map(kept).collect();
        self.replaced_because = brought_up.why.iter().map(|(name, why)| format!("{name}: {why}")).collect();
    }
}

fn names(modules: &[Rc<MasterModule>]) -> Vec<String> {
    modules.iter().map(|module| module.name().to_owned()).collect()
}
