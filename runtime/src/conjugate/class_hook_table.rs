//! How to enter the modules of dynamic classes, by the number of the class. Every construction looks here, and numbers of classes
//! are small and in a row, so it is a row itself.

use std::rc::Rc;
use std::sync::Arc;

use alcedo_abi::describe::PartHooks;
use alcedo_abi::direct::DirectMethod;
use rustc_hash::FxHashMap;

use crate::conjugate::gate::Gate;
use crate::handles::ClassId;
use crate::numbered::Numbered;

/// What the host keeps of a dynamic class beside its reflection: how to build its part, behind which gate.
#[derive(Clone, Debug)]
pub(crate) struct ClassHooks {
    /// The class.
    pub class: ClassId,
    /// The hooks.
    pub hooks: PartHooks,
    /// The gate of its module.
    pub gate: Rc<Gate>,
    /// Those of its functions that may be called directly, by name, with what they are called in red frames.
    pub direct: FxHashMap<Box<str>, (Rc<str>, DirectMethod)>,
    /// "red constructor of Game.MagicCube", as red frames and errors name it.
    pub names: HookNames,
}

/// The hooks in words.
#[derive(Clone, Debug)]
pub(crate) struct HookNames {
    /// "Game.MagicCube", for reports of waits for the finalizer.
    pub short: Arc<str>,
    pub(super) red: Rc<str>,
    pub(super) class: Rc<str>,
    pub(super) post_init: Rc<str>,
    pub(super) keep: Rc<str>,
}

impl HookNames {
    /// For the class of this short path (`Game.MagicCube`).
    pub(crate) fn new(class: &str) -> Self {
        Self {
            short: class.into(),
            red: format!("red constructor of {class}").into(),
            class: format!("class constructor of {class}").into(),
            post_init: format!("PostInitProperties of {class}").into(),
            keep: format!("kept fields of {class}").into(),
        }
    }
}

/// The hooks of the classes of all modules that have not ended. Game thread only.
#[derive(Debug, Default)]
pub(crate) struct ClassHookTable {
    row: Numbered<Rc<ClassHooks>>,
}

impl ClassHookTable {
    /// The hooks of a class.
    #[inline]
    pub(crate) fn get(&self, class: ClassId) -> Option<&Rc<ClassHooks>> {
        self.row.get(class.0.into())
    }

    /// The class has these hooks from now on.
    pub(crate) fn insert(&mut self, class: ClassId, hooks: ClassHooks) {
        self.row.insert(class.0.into(), Rc::new(hooks));
    }

    /// The class has none from now on.
    pub(crate) fn remove(&mut self, class: ClassId) {
        self.row.remove(class.0.into());
    }

    /// All of them, in the order of the classes' numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ClassId, &ClassHooks)> {
        self.row.iter().map(|(class, hooks)| (ClassId(class as u32), &**hooks))
    }
}
