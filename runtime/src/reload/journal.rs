//! What has happened in a reload so far, step by step. A report is made of it once, when the outcome is known: so the
//! report of a rollback holds what is true after it, and no leftovers of what was on the way to be true.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::bridge::rebuild::Rebuilt;
use crate::handles::ObjectHandle;
use crate::load::master::BroughtUp;
use crate::load::module::master::MasterModule;
use crate::load::record::Record;
use crate::object::mode::CallCount;
use crate::reload::changes::{ClassFate, Phases, PropertyChange, ValueCounts};
use crate::unload::ticket::UnloadTicket;

/// What has happened so far.
#[derive(Default)]
pub(crate) struct Journal {
    /// The generation before.
    pub from: u64,
    /// The modules concerned, in dependency order.
    pub modules: Vec<String>,
    /// Modules that stay as they are, with the generation they are of.
    pub kept_modules: Vec<String>,
    /// Why each module is replaced, where only what has to be is.
    pub replaced_because: Vec<String>,
    /// What becomes of classes and values.
    pub changes: Changes,
    /// What the new plugin parts have cost and kept.
    pub rebuilt: Rebuilt,
    /// Class constructors that ran again on an object that had its own already.
    pub reruns: u64,
    /// How the generation that ends comes along.
    pub ended: Option<UnloadTicket>,
    /// What else the user should know.
    pub warnings: Vec<String>,
    /// How long each phase took.
    pub phases: Phases,
    /// What was done that a rollback does not take back.
    pub done: Done,
}

/// What the migration did to the living.
#[derive(Default)]
pub(crate) struct Changes {
    /// Values by property, where something changed.
    pub properties: Vec<PropertyChange>,
    /// Counts of all values, changed or not.
    pub values: ValueCounts,
    /// Classes that are gone, are back, or sit on another native class.
    pub classes: Vec<ClassFate>,
    /// Default subobjects that were made or taken, and inserted base classes.
    pub structure: Vec<String>,
}

/// What a rollback does not take back.
#[derive(Default)]
pub(crate) struct Done {
    /// Which listeners the load context called, and which modules' code it ran.
    pub record: Record,
    /// Objects that were born and are gone again, by the path of their class.
    pub constructions: BTreeMap<String, u64>,
    /// Calls that went beyond what came up, by name.
    pub calls: BTreeMap<String, CallCount>,
    /// Objects that were put into the root set, and those that were taken from it.
    pub roots: (Vec<ObjectHandle>, Vec<ObjectHandle>),
    /// Names of calls that were looked up and stay known.
    pub resolved: Vec<String>,
}

impl Journal {
    /// A reload of these modules begins.
    pub(crate) fn begin(from: u64, modules: &[Rc<MasterModule>]) -> Self {
        Self { from, modules: names(modules), ..Self::default() }
    }

    /// It is known which modules are replaced, and why.
    pub(crate) fn tell_scope(&mut self, brought_up: &BroughtUp) {
        self.modules = names(&brought_up.new);
        let kept =
            |module: &Rc<MasterModule>| format!("{} of generation {}", module.name(), module.gate().tag().generation);
        self.kept_modules = brought_up.staying.iter().map(kept).collect();
        self.replaced_because = brought_up.why.iter().map(|(name, why)| format!("{name}: {why}")).collect();
    }
}

fn names(modules: &[Rc<MasterModule>]) -> Vec<String> {
    modules.iter().map(|module| module.name().to_owned()).collect()
}
