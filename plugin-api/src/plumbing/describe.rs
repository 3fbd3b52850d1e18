//! Descriptions as constants: small builders that the macros call with what they read, so that a field added to a
//! description changes this file and no macro.

use alcedo_abi::abi_stable::std_types::{ROption, RSlice, RStr};
use alcedo_abi::call::Invoke;
use alcedo_abi::describe::{Cell, FunctionDesc, PropertyDesc};
use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::kinds::property_flags;

use super::shells::{Method, invoke};
use crate::signature::{BlockLayout, Params, ReturnValue, ValueType, fingerprint};
use crate::{Class, Interface, Value};

/// What the `#[uclass] impl` block of a class adds to its description.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    /// Its reflected functions.
    pub functions: &'static [FunctionDesc],
    /// Its class constructor.
    pub class_constructor: Option<Invoke>,
    /// Its PostInitProperties hook.
    pub post_init_properties: Option<Invoke>,
}

impl Body {
    /// Of a class without such a block.
    pub const EMPTY: Self = Self { functions: &[], class_constructor: None, post_init_properties: None };
}

/// A reflected property of a class.
#[must_use]
pub const fn property<T: Value>(
    name: &'static str,
    flags: u64,
    default: &'static str,
    doc: &'static str,
    cell: &'static Cell,
) -> PropertyDesc {
    let PropertyDesc { name, kind, type_path, .. } = value(name, ValueType::of::<T>(), 0).0;
    PropertyDesc {
        name,
        kind,
        type_path,
        flags,
        default: RStr::from_str(default),
        doc: RStr::from_str(doc),
        offset: 0,
        cell: ROption::RSome(cell),
    }
}

/// A parameter of a function, or a field of a struct, before it has its place.
#[must_use]
pub const fn parameter<T: Value>(name: &'static str) -> (PropertyDesc, ValueType) {
    value(name, ValueType::of::<T>(), 0)
}

/// The result of a function, before it has its place.
#[must_use]
pub const fn result<T: Value>() -> (PropertyDesc, ValueType) {
    value("return_value", ValueType::of::<T>(), property_flags::RETURN)
}

const fn value(name: &'static str, ty: ValueType, flags: u64) -> (PropertyDesc, ValueType) {
    let desc = PropertyDesc {
        name: RStr::from_str(name),
        kind: ty.kind,
        type_path: RStr::from_str(ty.path),
        flags,
        default: RStr::from_str(""),
        doc: RStr::from_str(""),
        offset: 0,
        cell: ROption::RNone,
    };
    (desc, ty)
}

/// Places values one after the other as C does.
#[must_use]
pub const fn block<const N: usize>(values: [(PropertyDesc, ValueType); N]) -> [PropertyDesc; N] {
    let mut placed = [value("", ValueType::of::<u8>(), 0).0; N];
    let mut layout = BlockLayout::EMPTY;
    let mut at = 0;
    while at < N {
        let (desc, ty) = values[at];
        let (offset, next) = layout.place(ty.size, ty.align);
        placed[at] = PropertyDesc { offset: offset as u32, ..desc };
        layout = next;
        at += 1;
    }
    placed
}

/// The same with the offsets that the compiler gave to the fields of a struct.
#[must_use]
pub const fn field_offsets<const N: usize>(
    values: [(PropertyDesc, ValueType); N],
    offsets: [usize; N],
) -> [PropertyDesc; N] {
    let mut placed = block(values);
    let mut at = 0;
    while at < N {
        placed[at].offset = offsets[at] as u32;
        at += 1;
    }
    placed
}

/// A reflected function.
#[must_use]
pub const fn function<M: Method>(
    name: &'static str,
    flags: u64,
    overrides: &'static str,
    params: &'static [PropertyDesc],
    cell: &'static Cell,
    doc: &'static str,
) -> FunctionDesc {
    let layout = match M::Result::VALUE {
        Some(ty) => M::Args::LAYOUT.place(ty.size, ty.align).1,
        None => M::Args::LAYOUT,
    };
    FunctionDesc {
        name: RStr::from_str(name),
        flags,
        overrides: RStr::from_str(overrides),
        params: RSlice::from_slice(params),
        params_size: layout.size.next_multiple_of(layout.align) as u32,
        params_align: layout.align as u32,
        fingerprint: fingerprint::<M::Args, M::Result>(),
        invoke: Invoke(invoke::<M>),
        cell,
        doc: RStr::from_str(doc),
    }
}

/// The fingerprint by which a property of another declaration is imported.
#[must_use]
pub const fn property_fingerprint<T: Value>() -> u64 {
    Fingerprint::START.value(T::KIND, T::TYPE_PATH).finish()
}

/// The fingerprint by which a class of another declaration is imported: members of its base are reached through it, so
/// the host has to agree that it is one.
#[must_use]
pub const fn base_fingerprint<B: Class>() -> u64 {
    Fingerprint::START.text(B::PATH).finish()
}

/// The path of an interface that a class implements.
#[must_use]
pub const fn interface_path<I: Interface>() -> RStr<'static> {
    RStr::from_str(I::PATH)
}

/// The fingerprint of a struct.
#[must_use]
pub const fn struct_fingerprint(size: usize, align: usize, fields: &[(&str, ValueType, usize)]) -> u64 {
    let mut print = Fingerprint::START.number(size as u64).number(align as u64);
    let mut at = 0;
    while at < fields.len() {
        let (name, ty, offset) = fields[at];
        print = print.text(name).value(ty.kind, ty.path).number(offset as u64);
        at += 1;
    }
    print.finish()
}

/// Bytes of three texts, one after the other.
#[must_use]
pub const fn joined_len(parts: [&str; 3]) -> usize {
    parts[0].len() + parts[1].len() + parts[2].len()
}

/// Three texts, one after the other; `N` is [`joined_len`].
#[must_use]
pub const fn joined<const N: usize>(parts: [&str; 3]) -> [u8; N] {
    let mut bytes = [0; N];
    let mut at = 0;
    let mut part = 0;
    while part < parts.len() {
        let text = parts[part].as_bytes();
        let mut from = 0;
        while from < text.len() {
            bytes[at] = text[from];
            at += 1;
            from += 1;
        }
        part += 1;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::{block, parameter, result, struct_fingerprint};
    use crate::signature::ValueType;
    use alcedo_abi::fingerprint::Fingerprint;
    use alcedo_abi::kinds::PropertyKind;

    #[test]
    fn parameters_lie_in_order_and_the_result_last() {
        let placed = block([parameter::<u8>("a"), parameter::<String>("b"), result::<u16>()]);
        assert_eq!(placed.map(|desc| desc.offset), [0, 8, 32]);
        assert_eq!(placed[2].name.as_str(), "return_value");
    }

    #[test]
    fn paths_are_joined_at_compile_time() {
        assert_eq!(crate::plumbing::join!("/Script/Game.Cube", ":", "spin"), "/Script/Game.Cube:spin");
    }

    #[test]
    fn a_struct_has_the_fingerprint_the_host_computes() {
        let print = struct_fingerprint(16, 8, &[("x", ValueType::of::<f64>(), 0), ("y", ValueType::of::<f64>(), 8)]);
        let host = Fingerprint::START.number(16).number(8);
        let host = host.text("x").value(PropertyKind::F64, "").number(0);
        assert_eq!(print, host.text("y").value(PropertyKind::F64, "").number(8).finish());
    }
}
