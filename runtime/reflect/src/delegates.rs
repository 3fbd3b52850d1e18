//! Named delegates: path, kind and signature. The type of a delegate property contains the path and the complete signature of the delegate.
//! A change to the signature therefore changes the type of the property.

use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;

use crate::delegate_text::split;
use crate::function::is_result;
use crate::origin::Origin;
use crate::property::Property;

/// Named delegate type. Immutable after its declaration.
#[derive(Debug)]
pub struct DelegateType {
    /// `/Script/Package.Name`, or `/Script/Package.Class:Name` for a delegate of a class.
    pub path: Rc<str>,
    /// Name in the package or the class.
    pub name: Rc<str>,
    /// Name of the package, without the prefix `/Script/`.
    pub package: Rc<str>,
    /// Path of the owner class. `None` for a delegate outside classes.
    pub class: Option<Rc<str>>,
    /// Origin of the declaration.
    pub origin: Origin,
    /// Doc comment of the declaration.
    pub doc: Rc<str>,
    /// `DELEGATE`, `MULTICAST_DELEGATE` or `SPARSE_DELEGATE`.
    pub kind: PropertyKind,
    pub(super) params: Vec<Property>,
    pub(super) words: Rc<str>,
    pub(super) fingerprint: u64,
}

impl DelegateType {
    /// Returns the parameters without the result.
    pub fn arguments(&self) -> &[Property] {
        &self.params[..self.params.len() - usize::from(self.result().is_some())]
    }

    /// Returns the result, if there is one.
    pub fn result(&self) -> Option<&Property> {
        self.params.last().filter(|last| is_result(last))
    }

    /// Returns the signature as text: `i32, String -> bool`.
    pub fn signature(&self) -> &str {
        split(&self.words).1
    }

    /// Returns the text inside the parentheses of the delegate's type. The text is the path, followed by the signature in parentheses.
    pub fn type_text(&self) -> &str {
        &self.words
    }

    /// Returns the fingerprint of kind, path and signature. A module computes an equal fingerprint at compile time. Parameter names are not
    /// included.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}
