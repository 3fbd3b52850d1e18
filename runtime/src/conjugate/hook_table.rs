//! How to enter the modules of dynamic classes, by the number of the class. Every birth looks here, and numbers of classes
//! are small and in a row, so it is a row itself.

use std::rc::Rc;

use crate::conjugate::build::ClassHooks;
use crate::handles::ClassId;

/// The hooks of the classes of all modules that have not ended. Game thread only.
#[derive(Debug, Default)]
pub(crate) struct HookTable {
    row: Vec<Option<Rc<ClassHooks>>>,
}

impl HookTable {
    /// The hooks of a class.
    #[inline]
    pub(crate) fn get(&self, class: ClassId) -> Option<&Rc<ClassHooks>> {
        self.row.get(class.0 as usize)?.as_ref()
    }

    /// The class has these hooks from now on.
    pub(crate) fn insert(&mut self, class: ClassId, hooks: ClassHooks) {
        let at = class.0 as usize;
        if self.row.len() <= at {
            self.row.resize(at + 1, None);
        }
        self.row[at] = Some(Rc::new(hooks));
    }

    /// The class has none from now on.
    pub(crate) fn remove(&mut self, class: ClassId) {
        if let Some(hooks) = self.row.get_mut(class.0 as usize) {
            *hooks = None;
        }
    }

    /// All of them, in the order of the classes' numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ClassId, &ClassHooks)> {
        let numbered = (0..).map(ClassId).zip(&self.row);
        numbered.filter_map(|(class, hooks)| Some((class, &**hooks.as_ref()?)))
    }
}
