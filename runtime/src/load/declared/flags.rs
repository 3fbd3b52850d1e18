//! Keywords for the numbers of kinds, flags and types in the ABI.

use alcedo_abi::describe::ImportKind;
use alcedo_abi::kinds::{KindForm, PropertyKind};

/// Returns the keywords of the set bits. Bits without a keyword are formatted together as one number.
pub(super) fn words(table: &[(u64, &str)], flags: u64) -> Vec<String> {
    let known = table.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, word)| (*word).to_owned());
    let rest = table.iter().fold(flags, |rest, (bit, _)| rest & !bit);
    known.chain((rest != 0).then(|| format!("{rest:#x}"))).collect()
}

/// Formats a type in the syntax of signatures.
pub(super) fn type_text(kind: PropertyKind, of: &str) -> String {
    let Some(name) = kind.text() else { return format!("kind {}", kind.0) };
    let is_delegate = kind.form() == KindForm::Signature;
    match of {
        "" if !is_delegate => name.to_owned(),
        of if kind == PropertyKind::STRUCT => of.to_owned(),
        of => format!("{name}({of})"),
    }
}

/// Returns the keyword for a kind of delegate: `single`, `multicast` or `sparse`.
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
    use alcedo_abi::kinds::function_flags::{CALLABLE, WORDS};

    use super::{PropertyKind, type_text, words};

    #[test]
    fn a_flag_without_a_word_is_formatted_as_a_number() {
        assert_eq!(words(WORDS, CALLABLE | 1 << 40), ["blueprint_callable", "0x10000000000"]);
        assert!(words(WORDS, 0).is_empty());
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
