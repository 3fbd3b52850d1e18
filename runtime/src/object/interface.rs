//! An interface: a name that a host or a module declares and that classes say of themselves. References to it lead to objects
//! of whatever class does.

use std::rc::Rc;

use crate::object::class::Origin;

/// An interface, immutable once declared.
#[derive(Debug)]
pub(crate) struct Interface {
    /// `/Script/Package.Name`.
    pub path: Rc<str>,
    /// Its name in the package.
    #[expect(dead_code, reason = "an interface keeps what its declaration says, as every type does")]
    pub name: Rc<str>,
    /// The package, without `/Script/`.
    #[expect(dead_code, reason = "as above")]
    pub package: Rc<str>,
    /// Where it was declared.
    pub origin: Origin,
    /// The doc comment.
    #[cfg_attr(not(test), expect(dead_code, reason = "as above"))]
    pub doc: Rc<str>,
}
