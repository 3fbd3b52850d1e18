//! Delegates by name: what a delegate of that name takes and gives, and how many functions it calls. A property of such a type names
//! it in its words, which have the whole signature as well; so a signature that changes is another type wherever it is used.

use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;

use crate::delegate_words::split;
use crate::function::is_result;
use crate::origin::Origin;
use crate::property::Property;

/// A delegate, immutable once declared.
#[derive(Debug)]
pub struct DelegateType {
    /// `/Script/Package.Name`, or `/Script/Package.Class:Name` for one that belongs to a class.
    pub path: Rc<str>,
    /// Its name in the package or the class.
    pub name: Rc<str>,
    /// The package, without `/Script/`.
    pub package: Rc<str>,
    /// The path of the class that it belongs to; none for a free one.
    pub class: Option<Rc<str>>,
    /// Where it was declared.
    pub origin: Origin,
    /// The doc comment.
    pub doc: Rc<str>,
    /// `DELEGATE`, `MULTICAST_DELEGATE` or `SPARSE_DELEGATE`.
    pub kind: PropertyKind,
    pub(super) params: Vec<Property>,
    pub(super) words: Rc<str>,
    pub(super) fingerprint: u64,
}

impl DelegateType {
    /// The parameters without the result.
    pub fn arguments(&self) -> &[Property] {
        &self.params[..self.params.len() - usize::from(self.result().is_some())]
    }

    /// The result, where there is one.
    pub fn result(&self) -> Option<&Property> {
        self.params.last().filter(|last| is_result(last))
    }

    /// The signature in words: `i32, String -> bool`.
    pub fn signature(&self) -> &str {
        split(&self.words).1
    }

    /// What stands in the parentheses of a type of this delegate: its path, and its signature in parentheses.
    pub fn words(&self) -> &str {
        &self.words
    }

    /// Fingerprint of kind, path and signature, as a module computes it at compile time. Names of parameters are not in it.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}
