//! Class references by path. The class of a `SubclassOf` exists. The class of a `SoftClass` may be missing.

use super::prelude::*;
use super::ptr::{Mut, Ref, Word};
use super::word;
use crate::text::print_path;

/// Implements the text methods of kinds whose text form is a path or `none`.
macro_rules! path_text {
    () => {
        const WRITTEN: Written = Written::Path;

        word!();

        fn print(value: &Name, names: &Names) -> String {
            print_path(*value, names)
        }

        fn from_word(word: &str, _ty: &PropertyType, names: &Names) -> Result<Name, ParseError> {
            Ok(if word == "none" { Name::default() } else { names.intern(word) })
        }

        fn from_text(text: &str, _ty: &PropertyType, names: &Names) -> Result<Name, ParseError> {
            Ok(names.intern(text))
        }
    };
}
pub(super) use path_text;

macro_rules! class_paths {
    ($($kind:ident is $number:ident;)*) => {$(
        pub(crate) struct $kind;

        impl Kind for $kind {
            type Of = Rc<str>;
            type Raw = Name;
            const KIND: PropertyKind = PropertyKind::$number;

            path_text!();

            fn offer<'v>(value: &'v Name, _cx: &Conversion<'_>) -> Option<Offer<'v>> {
                Some(Offer::Class(*value))
            }

            fn accept(offer: Offer<'_>, _of: &Rc<str>, _cx: &Conversion<'_>) -> Option<Name> {
                if let Offer::Class(path) = offer { Some(path) } else { None }
            }
        }
    )*};
}
class_paths! { SubclassOf is SUBCLASS_OF; SoftClass is SOFT_CLASS; }
