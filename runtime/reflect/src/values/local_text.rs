//! Localized text, with the namespace and key of its translation.

use std::borrow::Cow;

use alcedo_abi::value::LocalTextRaw;

use super::by_content;
use super::prelude::*;
use super::ptr::{Mut, Ref};
use super::text_memory::{set_names, text_assign, text_copy, text_equal, text_hash, text_read};
use crate::text::quote;
use crate::value::LocalText;

pub(crate) struct LocalTextKind;

fn names(at: Ref<'_, LocalTextKind>) -> (Name, Name) {
    let LocalTextRaw { namespace, key, .. } = at.raw();
    (namespace, key)
}

impl Kind for LocalTextKind {
    type Of = ();
    type Raw = LocalTextRaw;
    const KIND: PropertyKind = PropertyKind::TEXT;
    const WRITTEN: Written = Written::Text(&['"', '(']);

    fn nature(_of: &()) -> Nature {
        Nature { owns_memory: true, ..Nature::PLAIN }
    }

    fn copy(to: Mut<'_, Self>, from: Ref<'_, Self>) {
        text_copy(&to, from);
        let (namespace, key) = names(from);
        set_names(&to, namespace, key);
    }

    fn equal(one: Ref<'_, Self>, two: Ref<'_, Self>) -> bool {
        text_equal(one, two) && names(one) == names(two)
    }

    fn hash(at: Ref<'_, Self>, hasher: &mut dyn Hasher) {
        text_hash(at, hasher);
        let (namespace, key) = names(at);
        hasher.write_u32(namespace.0);
        hasher.write_u32(key.0);
    }

    fn destroy(at: Mut<'_, Self>) {
        text_assign(&at, "");
        at.zero();
    }

    fn read(at: Ref<'_, Self>) -> LocalText {
        let (namespace, key) = names(at);
        LocalText { display: text_read(at), namespace, key }
    }

    fn write(at: Mut<'_, Self>, value: &LocalText) {
        text_assign(&at, &value.display);
        set_names(&at, value.namespace, value.key);
    }

    by_content!();

    fn print(value: &LocalText, names: &Names) -> String {
        match value {
            LocalText { display, namespace: Name(0), key: Name(0) } => quote(display),
            LocalText { display, namespace, key } => {
                format!("({}, {}, {})", quote(display), quote(&names.text(*namespace)), quote(&names.text(*key)))
            }
        }
    }

    fn from_text(text: &str, _ty: &PropertyType, _names: &Names) -> Result<LocalText, ParseError> {
        Ok(LocalText { display: text.to_owned(), ..LocalText::default() })
    }

    fn parse(scanner: &mut Scanner<'_>, _of: &(), ty: &PropertyType) -> Result<LocalText, ParseError> {
        const FORM: &str = "write (\"text\", \"namespace\", \"key\")";
        if scanner.take("\"") {
            let text = scanner.quoted(ty)?;
            return Self::from_text(&text, ty, scanner.names);
        }
        if !scanner.take("(") {
            let word = scanner.word();
            return Self::from_text(word, ty, scanner.names);
        }
        let mut parts = [const { String::new() }; 3];
        for (at, part) in parts.iter_mut().enumerate() {
            if at != 0 {
                scanner.expect(",", ty, FORM)?;
            }
            scanner.expect("\"", ty, FORM)?;
            *part = scanner.quoted(ty)?;
        }
        scanner.expect(")", ty, FORM)?;
        let [display, namespace, key] = parts;
        Ok(LocalText { display, namespace: scanner.names.intern(&namespace), key: scanner.names.intern(&key) })
    }

    fn offer<'v>(value: &'v LocalText, _cx: &Conversion<'_>) -> Option<Offer<'v>> {
        let is_translated = value.namespace != Name(0) || value.key != Name(0);
        (!is_translated).then_some(Offer::Text(Cow::Borrowed(&value.display)))
    }

    fn accept(offer: Offer<'_>, _of: &(), _cx: &Conversion<'_>) -> Option<LocalText> {
        let Offer::Text(text) = offer else { return None };
        Some(LocalText { display: text.into_owned(), ..LocalText::default() })
    }
}
