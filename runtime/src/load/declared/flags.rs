//! Keywords for numbers of the ABI: kinds, flags, types.

use alcedo_abi::describe::ImportKind;
use alcedo_abi::kinds::{KindForm, PropertyKind, class_flags, function_flags, property_flags};

pub(super) const OF_CLASSES: &[(u64, &str)] = &[
    (class_flags::BLUEPRINTABLE, "blueprintable"),
    (class_flags::BLUEPRINT_TYPE, "blueprint_type"),
    (class_flags::FINAL, "final"),
    (class_flags::ABSTRACT, "abstract"),
    (class_flags::CONTEXTUAL, "contextual"),
];

pub(super) const OF_PROPERTIES: &[(u64, &str)] = &[
    (property_flags::EDIT_ANYWHERE, "edit_anywhere"),
    (property_flags::BLUEPRINT_READ, "blueprint_read"),
    (property_flags::BLUEPRINT_WRITE, "blueprint_write"),
    (property_flags::DEFAULT_SUBOBJECT, "default_subobject"),
    (property_flags::ROOT_COMPONENT, "root_component"),
    (property_flags::OUT, "out"),
    (property_flags::RETURN, "return"),
    (property_flags::TRANSIENT, "transient"),
    (property_flags::VISIBLE_ANYWHERE, "visible_anywhere"),
    (property_flags::REPLICATED, "replicated"),
    (property_flags::SAVE_GAME, "save_game"),
    (property_flags::BASE, "base"),
    (property_flags::ENUM_AS_BYTE, "enum_as_byte"),
];

pub(super) const OF_FUNCTIONS: &[(u64, &str)] = &[
    (function_flags::CALLABLE, "blueprint_callable"),
    (function_flags::PURE, "blueprint_pure"),
    (function_flags::NATIVE_EVENT, "blueprint_native_event"),
    (function_flags::STATIC, "static"),
    (function_flags::OVERRIDE, "overrides"),
    (function_flags::FALLIBLE, "may_fail"),
    (function_flags::IMPLEMENTABLE_EVENT, "blueprint_implementable_event"),
    (function_flags::CONST, "const"),
    (function_flags::DLL_IMPORT, "dll_import"),
    (function_flags::NO_CWD, "no_cwd"),
    (function_flags::BOOL8, "bool8"),
    (function_flags::BOOL32, "bool32"),
    (function_flags::CUSTOM_THUNK, "custom_thunk"),
];

/// Returns the keywords of the set bits. Bits without a keyword in this build are formatted as one number.
pub(super) fn words(table: &[(u64, &str)], flags: u64) -> Vec<String> {
    let known = table.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, word)| (*word).to_owned());
    let rest = table.iter().fold(flags, |rest, (bit, _)| rest & !bit);
    known.chain((rest != 0).then(|| format!("{rest:#x}"))).collect()
}

/// Formats a type as signatures write it.
pub(super) fn type_text(kind: PropertyKind, of: &str) -> String {
    let Some(name) = kind.text() else { return format!("kind {}", kind.0) };
    let is_delegate = kind.form() == KindForm::Signature;
    match of {
        "" if !is_delegate => name.to_owned(),
        of if kind == PropertyKind::STRUCT => of.to_owned(),
        of => format!("{name}({of})"),
    }
}

/// Returns the keyword for the number of functions that a delegate of this kind calls.
pub(super) fn of_delegate(kind: PropertyKind) -> String {
    match kind {
        PropertyKind::DELEGATE => "single".into(),
        PropertyKind::MULTICAST_DELEGATE => "multicast".into(),
        PropertyKind::SPARSE_DELEGATE => "sparse".into(),
        PropertyKind(other) => format!("kind {other}"),
    }
}

pub(super) fn of_import(kind: ImportKind) -> String {
    match kind {
        ImportKind::CLASS => "class".into(),
        ImportKind::PROPERTY => "property".into(),
        ImportKind::FUNCTION => "function".into(),
        ImportKind::FUNCTION_FINAL => "function_final".into(),
        ImportKind::STRUCT => "struct".into(),
        ImportKind::INTERFACE => "interface".into(),
        ImportKind::ENUM => "enum".into(),
        ImportKind::DELEGATE => "delegate".into(),
        ImportKind(other) => format!("kind {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{OF_FUNCTIONS, PropertyKind, function_flags, type_text, words};

    #[test]
    fn a_flag_without_a_word_is_shown_as_a_number() {
        assert_eq!(words(OF_FUNCTIONS, function_flags::CALLABLE | 1 << 40), ["blueprint_callable", "0x10000000000"]);
        assert!(words(OF_FUNCTIONS, 0).is_empty());
    }

    #[test]
    fn a_type_is_written_as_in_signatures() {
        assert_eq!(type_text(PropertyKind::F64, ""), "f64");
        assert_eq!(type_text(PropertyKind::STRUCT, "/Script/Game.Point"), "/Script/Game.Point");
        assert_eq!(type_text(PropertyKind::MAP, "Name, u8"), "Map(Name, u8)");
        assert_eq!(type_text(PropertyKind::DELEGATE, ""), "Delegate()");
        assert_eq!(type_text(PropertyKind(200), ""), "kind 200");
    }
}
