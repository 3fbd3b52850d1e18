//! Describes and imports delegates that `#[udelegate]` declares.

use alcedo_abi::abi_stable::std_types::{RSlice, RStr};
use alcedo_abi::describe::{DelegateDesc, ImportDesc, ImportKind};
use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::type_text::{is_member_path, is_path_of, package_and_name};

use super::declared::{Declared, import_type};
use super::describe::SignatureBlock;
use crate::delegate_signature::{Named, NamedSignature, Signature};
use crate::{Delegate, MulticastDelegate, SparseDelegate, Value};

mod sealed {
    pub trait Sealed {}
}

/// Type of a property, parameter or element that is a named delegate.
pub trait NamedDelegate: sealed::Sealed + Value {
    /// Signature of the delegate.
    type Of: NamedSignature;
}

macro_rules! named {
    ($($delegate:ident),*) => {$(
        impl<S: NamedSignature> sealed::Sealed for $delegate<Named<S>> {}
        impl<S: NamedSignature> NamedDelegate for $delegate<Named<S>> {
            type Of = S;
        }
    )*};
}
named!(Delegate, MulticastDelegate, SparseDelegate);

type FunctionOf<D> = <<D as NamedDelegate>::Of as NamedSignature>::Function;

type BlockOf<D> = SignatureBlock<<FunctionOf<D> as Signature>::Args, <FunctionOf<D> as Signature>::Result>;

const fn path_of<D: NamedDelegate>() -> &'static str {
    <D::Of as NamedSignature>::PATH
}

/// Computes the fingerprint of kind, path and signature with the same algorithm as the host.
const fn fingerprint_of<D: NamedDelegate>() -> u64 {
    Fingerprint::START.value(D::KIND, D::TYPE_PATH).finish()
}

/// Describes a delegate of this module. For a delegate that belongs to a class, `class` is the path of the class. Otherwise,
/// `class` is empty, and `package` is the delegate's package.
#[must_use]
pub const fn delegate<D: NamedDelegate>(
    (package, class, name): (&'static str, &'static str, &'static str),
    block: &'static BlockOf<D>,
    doc: &'static str,
) -> Declared<DelegateDesc> {
    let is_known_so = match class.len() {
        0 => is_path_of(path_of::<D>(), package, name),
        _ => is_member_path(path_of::<D>(), class),
    };
    assert!(is_known_so, "the path of a delegate must match its declaration");
    Declared(DelegateDesc {
        package: RStr::from_str(package),
        class: RStr::from_str(class),
        name: RStr::from_str(name),
        kind: D::KIND,
        params: RSlice::from_slice(block.descriptions()),
        fingerprint: fingerprint_of::<D>(),
        doc: RStr::from_str(doc),
    })
}

/// Imports a delegate of another module by its fingerprint.
#[must_use]
pub const fn import_delegate<D: NamedDelegate>() -> Declared<ImportDesc> {
    import_type(ImportKind::DELEGATE, path_of::<D>(), fingerprint_of::<D>(), D::TYPE.as_str())
}

/// Returns the package of a path: `Game` for the path `/Script/Game.Cube:OnHit`.
#[must_use]
pub const fn package_of(path: &'static str) -> &'static str {
    split(path).0
}

/// Returns the part of a path after the package: `Cube:OnHit` for the path `/Script/Game.Cube:OnHit`.
#[must_use]
pub const fn name_in(path: &'static str) -> &'static str {
    split(path).1
}

const fn split(path: &'static str) -> (&'static str, &'static str) {
    package_and_name(path).expect("the path of a type contains its package")
}

#[cfg(test)]
mod tests {
    use super::{name_in, package_of};

    #[test]
    fn a_path_is_split_at_its_first_dot() {
        let path = "/Script/Game.Cube:OnHit";
        assert_eq!((package_of(path), name_in(path)), ("Game", "Cube:OnHit"));
    }
}
