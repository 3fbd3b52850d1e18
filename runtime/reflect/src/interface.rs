//! An interface: a name that a host or a module declares and that classes say of themselves. References to it lead to objects
//! of whatever class does.

use std::rc::Rc;

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
    /// The doc comment.
    pub doc: Rc<str>,
}
