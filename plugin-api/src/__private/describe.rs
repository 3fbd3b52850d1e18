//! Builds descriptions as constants. The macros call these functions, so a new field of a description changes only this file.

use core::marker::PhantomData;

use alcedo_abi::abi_stable::std_types::{ROption, RSlice, RStr};
use alcedo_abi::describe::{CParam, PropertyDesc};
use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::kinds::{PropertyKind, property_flags};
use alcedo_abi::type_text::{joined_text, put};

use super::trampolines::Export;
use crate::Value;
use crate::kinds::FieldType;
use crate::ptr::BlockLayout;
use crate::signature::{Params, ReturnValue, ValueType, part_of_words};

pub(super) const fn value(name: &'static str, ty: ValueType, flags: u64) -> PropertyDesc {
    PropertyDesc {
        name: RStr::from_str(name),
        kind: ty.kind,
        type_path: RStr::from_str(ty.path),
        flags,
        default: RStr::from_str(""),
        doc: RStr::from_str(""),
        meta: RSlice::EMPTY,
        offset: 0,
        cell: ROption::RNone,
    }
}

/// Maximum number of values in a parameter block: eight parameters and a result.
const MOST: usize = 9;

/// Parameter block of a function: the parameters and the result, in the layout of C.
#[derive(Debug)]
pub struct SignatureBlock<A, R>(Block, PhantomData<fn(A) -> R>);

impl<A: Params, R: ReturnValue> SignatureBlock<A, R> {
    /// Creates the block of a function whose parameters have these names.
    #[must_use]
    pub const fn new(names: &[&'static str]) -> Self {
        Self(Block::new(names, A::TYPES, R::VALUE), PhantomData)
    }

    /// Adds the defaults of the parameters. For a parameter without a default, the string is empty.
    #[must_use]
    pub const fn with_defaults(mut self, defaults: &[&'static str]) -> Self {
        let mut at = 0;
        while at < defaults.len() {
            self.0.placed[at].default = RStr::from_str(defaults[at]);
            at += 1;
        }
        self
    }

    /// Adds the C attributes of each parameter.
    #[must_use]
    pub const fn in_c(mut self, params: &[CParam]) -> Self {
        let mut at = 0;
        while at < params.len() {
            if params[at].is_out {
                self.0.placed[at].flags |= property_flags::OUT;
            }
            self.0.placed[at].meta = RSlice::from_slice(params[at].meta);
            at += 1;
        }
        self
    }

    pub(super) const fn block(&self) -> &Block {
        &self.0
    }

    pub(super) const fn descriptions(&self) -> &[PropertyDesc] {
        self.0.descriptions()
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    placed: [PropertyDesc; MOST],
    count: usize,
    layout: BlockLayout,
}

impl Block {
    const fn new(names: &[&'static str], types: &[ValueType], result: Option<ValueType>) -> Self {
        assert!(names.len() == types.len(), "a parameter has one name");
        let empty = value("", ValueType::of::<u8>(), 0);
        let mut block = Self { placed: [empty; MOST], count: 0, layout: BlockLayout::EMPTY };
        while block.count < types.len() {
            let flags = if types[block.count].is_out { property_flags::OUT } else { 0 };
            block.place(names[block.count], types[block.count], flags);
        }
        if let Some(ty) = result {
            block.place("return_value", ty, property_flags::RETURN);
        }
        block
    }

    const fn place(&mut self, name: &'static str, ty: ValueType, flags: u64) {
        let (offset, layout) = self.layout.place(ty.size, ty.align);
        self.placed[self.count] = PropertyDesc { offset: offset as u32, ..value(name, ty, flags) };
        self.count += 1;
        self.layout = layout;
    }

    pub(super) const fn descriptions(&self) -> &[PropertyDesc] {
        self.placed.split_at(self.count).0
    }

    pub(super) const fn size(&self) -> u32 {
        self.layout.size.next_multiple_of(self.layout.align) as u32
    }

    pub(super) const fn align(&self) -> u32 {
        self.layout.align as u32
    }
}

/// Describes the fields of a struct at the offsets that Rust uses.
#[must_use]
pub const fn field_descriptions<S, const N: usize>(fields: &[FieldType<S>; N]) -> [PropertyDesc; N] {
    let mut placed = [value("", ValueType::of::<u8>(), 0); N];
    let mut at = 0;
    while at < N {
        let FieldType { name, ty, offset, default, doc, is_base, .. } = fields[at];
        placed[at] = PropertyDesc {
            offset: offset as u32,
            default: RStr::from_str(default),
            doc: RStr::from_str(doc),
            ..value(name, ty, if is_base { property_flags::BASE } else { 0 })
        };
        at += 1;
    }
    placed
}

/// Returns true if `B` is a struct type, and can therefore be the base of a struct.
#[must_use]
pub const fn is_struct<B: Value>() -> bool {
    B::KIND.0 == PropertyKind::STRUCT.0
}

#[must_use]
pub(super) const fn struct_fingerprint<S: Value>(fields: &[FieldType<S>]) -> u64 {
    let mut print = Fingerprint::START.number(size_of::<S::Raw>() as u64).number(align_of::<S::Raw>() as u64);
    let mut at = 0;
    while at < fields.len() {
        let FieldType { name, ty, offset, .. } = fields[at];
        print = print.text(name).value(ty.kind, ty.path).number(offset as u64);
        at += 1;
    }
    print.finish()
}

/// Signature of an exported function as a string, in the syntax of the host: `f64, String -> bool`. Computed from the types of
/// the function.
#[derive(Debug)]
pub struct Words<E, const N: usize = 0>([u8; N], PhantomData<fn() -> E>);

impl<E: Export> Words<E> {
    /// Length of the signature in bytes.
    pub const LEN: usize = {
        let (mut len, mut at) = (0, 0);
        while let Some([separator, direction, ty]) = part::<E>(at) {
            len += separator.len() + direction.len() + ty.len();
            at += 1;
        }
        len
    };
}

impl<E: Export, const N: usize> Words<E, N> {
    /// Formats the signature. `N` must equal [`Words::LEN`].
    #[must_use]
    pub const fn in_words() -> Self {
        assert!(N == Words::<E>::LEN, "a signature has as many bytes as its words");
        let (mut bytes, mut to, mut at) = ([0; N], 0, 0);
        while let Some([separator, direction, ty]) = part::<E>(at) {
            to = put(&mut bytes, to, separator.as_bytes());
            to = put(&mut bytes, to, direction.as_bytes());
            to = put(&mut bytes, to, ty.as_bytes());
            at += 1;
        }
        Self(bytes, PhantomData)
    }

    pub(super) const fn as_str(&self) -> &str {
        joined_text(&self.0)
    }
}

const fn part<E: Export>(at: usize) -> Option<[&'static str; 3]> {
    part_of_words(<E::Args as Params>::TYPES, &E::Result::VALUE, at)
}

#[cfg(test)]
mod tests {
    use super::{Block, struct_fingerprint};
    use crate::UOptional;
    use crate::kinds::FieldType;
    use crate::signature::ValueType;
    use alcedo_abi::fingerprint::Fingerprint;
    use alcedo_abi::kinds::PropertyKind;

    #[test]
    fn parameters_lie_in_order_and_the_result_last() {
        let types = [ValueType::of::<u8>(), ValueType::of::<String>()];
        let block = Block::new(&["a", "b"], &types, Some(ValueType::of::<u16>()));
        let placed: Vec<_> = block.descriptions().iter().map(|desc| (desc.name.as_str(), desc.offset)).collect();
        assert_eq!(placed, [("a", 0), ("b", 8), ("return_value", 32)]);
        assert_eq!((block.size(), block.align()), (40, 8));
    }

    #[test]
    fn paths_are_joined_at_compile_time() {
        assert_eq!(crate::__private::join!("/Script/Game.Cube", ":", "spin"), "/Script/Game.Cube:spin");
    }

    #[test]
    fn a_struct_has_the_fingerprint_the_host_computes() {
        // An optional of `f64` has the size of two `f64` values.
        let number = ValueType::of::<f64>();
        let print =
            struct_fingerprint::<UOptional<f64>>(&[FieldType::new("x", number, 0), FieldType::new("y", number, 8)]);
        let host = Fingerprint::START.number(16).number(8);
        let host = host.text("x").value(PropertyKind::F64, "").number(0);
        assert_eq!(print, host.text("y").value(PropertyKind::F64, "").number(8).finish());
    }
}
