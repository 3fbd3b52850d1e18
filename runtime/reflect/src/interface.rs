//! An interface: functions that a host or a module declares and that classes say they have. References to it lead to objects
//! of whatever class does, and a call of one of its functions runs what the class has under that name.

use std::rc::Rc;

use crate::function::Function;
use crate::origin::Origin;

/// An interface, immutable once declared.
#[derive(Debug)]
pub struct Interface {
    /// `/Script/Package.Name`.
    pub path: Rc<str>,
    /// Its name in the package.
    pub name: Rc<str>,
    /// The package, without `/Script/`.
    pub package: Rc<str>,
    /// Where it was declared.
    pub origin: Origin,
    /// Its functions. They have no bodies: those are the classes'.
    pub functions: Vec<Rc<Function>>,
    /// The doc comment.
    pub doc: Rc<str>,
}

impl Interface {
    /// The function of that name.
    pub fn find_function(&self, name: &str) -> Option<&Rc<Function>> {
        self.functions.iter().find(|function| *function.text == *name)
    }
}
