//! How to enter the modules of dynamic classes, by the number of the class. Every construction looks here, and numbers of classes
//! are small and in a row, so it is a row itself.

use std::rc::Rc;

use crate::conjugate::build::ClassHooks;
use crate::handles::ClassId;
use crate::numbered::Numbered;

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
