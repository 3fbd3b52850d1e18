//! Reflected functions: name, parameters, metadata and thunk.

use std::any::Any;
use std::fmt;
use std::rc::Rc;

use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::kinds::{function_flags, property_flags};
use alcedo_base::handles::{ClassId, Name};

use crate::meta::Meta;
use crate::property::Property;
use crate::storage::Schema;
use crate::thunk::Thunk;

/// Reflected function. Immutable after its declaration.
pub struct Function {
    /// Interned name.
    pub name: Name,
    /// Name as text.
    pub text: Rc<str>,
    /// Path, such as `/Script/Package.Type:name`.
    pub path: Rc<str>,
    /// Declaring class.
    pub owner: ClassId,
    /// Path of the interface that declares the function. A function of an interface has no body. `None` for a function of a class.
    pub interface: Option<Rc<str>>,
    /// Bits of [`alcedo_abi::kinds::function_flags`].
    pub flags: u64,
    /// Parameters in order, with their offsets in the parameter block. The result is last.
    pub params: Vec<Property>,
    /// Fingerprint of the signature.
    pub fingerprint: u64,
    /// Index in the table of virtual functions. `None` for functions that are neither events nor overrides.
    pub vslot: Option<u32>,
    /// Path of the first declaration of the overridden event.
    pub overrides: Option<Rc<str>>,
    /// Doc comment of the declaration.
    pub doc: Rc<str>,
    /// Further metadata: keys and values.
    pub meta: Meta,
    /// Body of the function.
    pub thunk: Thunk,
    /// Opaque data that higher layers use to call a body in the host without a frame.
    pub black_code: Option<Rc<dyn Any>>,
    /// Opaque number that higher layers use to find the owner module.
    pub tag: u64,
    pub(super) schema: Rc<Schema>,
    pub(super) words: Rc<str>,
}

impl Function {
    /// Returns the parameters without the result.
    #[inline]
    pub fn arguments(&self) -> &[Property] {
        &self.params[..self.params.len() - usize::from(self.result().is_some())]
    }

    /// Returns the out parameters, in order.
    pub fn out_parameters(&self) -> impl Iterator<Item = &Property> {
        self.arguments().iter().filter(|param| is_out(param))
    }

    /// Returns the result, if there is one.
    #[inline]
    pub fn result(&self) -> Option<&Property> {
        self.params.last().filter(|last| is_result(last))
    }

    /// Returns the size of the parameter block in bytes, including the padding at the end.
    #[inline]
    pub fn params_size(&self) -> usize {
        self.schema.size()
    }

    /// Returns the alignment of the parameter block.
    #[inline]
    pub fn params_align(&self) -> usize {
        self.schema.align()
    }

    /// Checks if a parameter or the result is a wildcard, and therefore accepts values of several types. A function with wildcards needs
    /// a custom thunk, and lists its wildcards in its metadata.
    #[inline]
    pub fn is_wildcard(&self, param: &Property) -> bool {
        self.flags & function_flags::CUSTOM_THUNK != 0 && self.names_wildcard(&param.text)
    }

    #[cold]
    fn names_wildcard(&self, param: &str) -> bool {
        let lists = self.meta.iter().filter(|(key, _)| WILDCARDS.contains(&key.as_str()));
        lists.flat_map(|(_, names)| names.split(',')).any(|name| name.trim() == param)
    }

    /// Returns the signature as text: `f32, /Script/Engine.Rotator -> bool`.
    #[inline]
    pub fn signature(&self) -> String {
        self.words.to_string()
    }

    /// Returns the stored signature text. Each call of a delegate compares the signature of the delegate with this text.
    #[inline]
    pub fn signature_text(&self) -> &str {
        &self.words
    }

    /// Returns the layout of the parameter block.
    #[inline]
    pub fn schema(&self) -> &Rc<Schema> {
        &self.schema
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.path, self.signature())
    }
}

/// Metadata keys for wildcard parameters. The caller determines the types of these parameters. The value of each key lists parameter names,
/// separated by commas. A parameter under the first key accepts any type. If it is declared as an array, set, map or struct, it accepts
/// only types of this category. A parameter under the second key accepts any array. A parameter under the third key has the element type of
/// that array. If it is declared as an array, it has the type of that array.
pub const WILDCARDS: [&str; 3] = ["custom_struct_param", "array_parm", "array_type_dependent_params"];

/// Returns the fingerprint of a signature. A module computes an equal fingerprint at compile time.
pub(super) fn fingerprint(params: &[Property]) -> u64 {
    let add = |print: Fingerprint, param: &Property| {
        let (kind, path) = (param.ty.kind(), param.ty.type_path());
        if is_result(param) { print.result(kind, path) } else { print.param(is_out(param), kind, path) }
    };
    params.iter().fold(Fingerprint::START, add).finish()
}

pub(super) fn signature(params: &[Property]) -> String {
    let (results, arguments): (Vec<_>, Vec<_>) = params.iter().partition(|param| is_result(param));
    let word = |param: &&Property| format!("{}{}", if is_out(param) { "out " } else { "" }, param.ty);
    let arguments: Vec<_> = arguments.iter().map(word).collect();
    let mut text = arguments.join(", ");
    for result in results {
        let space = if text.is_empty() { "" } else { " " };
        text = format!("{text}{space}-> {}", result.ty);
    }
    text
}

#[inline]
pub(super) fn is_result(param: &Property) -> bool {
    param.flags & property_flags::RETURN != 0
}

#[inline]
fn is_out(param: &Property) -> bool {
    param.flags & property_flags::OUT != 0
}

#[cfg(test)]
mod tests {
    use alcedo_abi::fingerprint::Fingerprint;
    use alcedo_abi::kinds::{PropertyKind, property_flags};

    use crate::decl::PropertyDecl;
    use crate::testing::function;

    fn check(params: &[PropertyDecl], signature: &str, layout: &[u32], size: usize, fingerprint: Fingerprint) {
        let function = function("f", params, |_, _| Ok(()));
        assert_eq!(function.signature(), signature);
        assert_eq!(function.params.iter().map(|param| param.offset).collect::<Vec<_>>(), layout);
        assert_eq!((function.params_size(), function.fingerprint), (size, fingerprint.finish()));
    }

    #[test]
    fn parameters_have_c_layout_with_the_result_last() {
        let (f32, u8, text) = (PropertyKind::F32, PropertyKind::U8, PropertyKind::STRING);
        check(&[], "", &[], 0, Fingerprint::START);
        check(
            &[PropertyDecl::new("a", f32), PropertyDecl::result(u8)],
            "f32 -> u8",
            &[0, 4],
            8,
            Fingerprint::START.value(f32, "").number(0xfeed).value(u8, ""),
        );
        check(
            &[PropertyDecl::new("a", u8), PropertyDecl::new("b", text)],
            "u8, String",
            &[0, 8],
            32,
            Fingerprint::START.value(u8, "").value(text, ""),
        );
        check(
            &[PropertyDecl::new("a", u8), PropertyDecl::new("b", f32).with_flags(property_flags::OUT)],
            "u8, out f32",
            &[0, 4],
            8,
            Fingerprint::START.value(u8, "").out().value(f32, ""),
        );
        check(&[PropertyDecl::result(u8)], "-> u8", &[0], 1, Fingerprint::START.number(0xfeed).value(u8, ""));
    }
}
