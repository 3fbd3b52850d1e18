//! Interfaces: sets of functions that classes implement. A host or a module declares an interface. A reference of interface type refers to
//! an object of any implementing class. A call through the reference runs the function with that name in the object's class.

use std::rc::Rc;

use crate::function::Function;
use crate::origin::Origin;

/// Interface. Immutable after its declaration.
#[derive(Debug)]
pub struct Interface {
    /// Path, such as `/Script/Package.Name`.
    pub path: Rc<str>,
    /// Name within the package.
    pub name: Rc<str>,
    /// Name of the package, without the prefix `/Script/`.
    pub package: Rc<str>,
    /// Origin of the declaration.
    pub origin: Origin,
    /// Declared functions, without bodies. The implementing classes provide the bodies.
    pub functions: Vec<Rc<Function>>,
    /// Doc comment of the declaration.
    pub doc: Rc<str>,
}

impl Interface {
    /// Returns the function with that name.
    pub fn find_function(&self, name: &str) -> Option<&Rc<Function>> {
        self.functions.iter().find(|function| *function.text == *name)
    }
}
