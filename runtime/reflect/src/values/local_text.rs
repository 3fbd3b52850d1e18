//! Text for people, with the two names it is translated by.
#![expect(unsafe_code, reason = "the bytes of a text lie in memory of its own")]

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::LocalTextRaw;
use alcedo_base::handles::Name;

use super::ptr::{Mut, Ref};
use super::text::Text;
use super::{Kind, Offer, Written};
use crate::convert::Conversion;
use crate::names::Names;
use crate::property::PropertyType;
use crate::structs::Nature;
use crate::text::scan::Scanner;
use crate::text::{ParseError, quote};
use crate::value::LocalText;

pub(crate) struct LocalTextKind;

impl<'a> Ref<'a, LocalTextKind> {
    /// The text that is shown.
    fn shown(self) -> Ref<'a, Text> {
        // SAFETY: the pointer was promised such a text, which begins with a text.
        unsafe { Ref::new(self.at(), &()) }
    }

    fn names(self) -> (Name, Name) {
        let LocalTextRaw { namespace, key, .. } = self.raw();
        (namespace, key)
    }
}

impl<'a> Mut<'a, LocalTextKind> {
    /// The text that is shown.
    fn shown(&self) -> Mut<'a, Text> {
        // SAFETY: the pointer was promised such a text, which begins with a text.
        unsafe { Mut::new(self.at(), &()) }
    }

    fn set_names(&self, namespace: Name, key: Name) {
        let at = self.at().cast::<LocalTextRaw>();
        // SAFETY: the pointer was promised such a text to write.
        unsafe { (*at).namespace = namespace };
        // SAFETY: the pointer was promised such a text to write.
        unsafe { (*at).key = key };
    }
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
        Text::copy(to.shown(), from.shown());
        let (namespace, key) = from.names();
        to.set_names(namespace, key);
    }

    fn equal(one: Ref<'_, Self>, two: Ref<'_, Self>) -> bool {
        Text::equal(one.shown(), two.shown()) && one.names() == two.names()
    }

    fn hash(at: Ref<'_, Self>, hasher: &mut dyn Hasher) {
        Text::hash(at.shown(), hasher);
        let (namespace, key) = at.names();
        hasher.write_u32(namespace.0);
        hasher.write_u32(key.0);
    }

    fn destroy(at: Mut<'_, Self>) {
        Text::destroy(at.shown());
        at.zero();
    }

    fn read(at: Ref<'_, Self>) -> LocalText {
        let (namespace, key) = at.names();
        LocalText { shown: Text::read(at.shown()), namespace, key }
    }

    fn write(at: Mut<'_, Self>, value: &LocalText) {
        Text::write(at.shown(), &value.shown);
        at.set_names(value.namespace, value.key);
    }

    fn zero(_of: &()) -> LocalText {
        LocalText::default()
    }

    fn same(one: &LocalText, two: &LocalText) -> bool {
        one == two
    }

    fn feed(value: &LocalText, mut hasher: &mut dyn Hasher) {
        value.hash(&mut hasher);
    }

    fn print(value: &LocalText, names: &Names) -> String {
        match value {
            LocalText { shown, namespace: Name(0), key: Name(0) } => quote(shown),
            LocalText { shown, namespace, key } => {
                format!("({}, {}, {})", quote(shown), quote(&names.text(*namespace)), quote(&names.text(*key)))
            }
        }
    }

    fn from_text(text: &str, _ty: &PropertyType, _names: &Names) -> Result<LocalText, ParseError> {
        Ok(LocalText { shown: text.to_owned(), ..LocalText::default() })
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
        let [shown, namespace, key] = parts;
        Ok(LocalText { shown, namespace: scanner.names.intern(&namespace), key: scanner.names.intern(&key) })
    }

    fn offer<'v>(value: &'v LocalText, _cx: &Conversion<'_>) -> Option<Offer<'v>> {
        let is_translated = value.namespace != Name(0) || value.key != Name(0);
        (!is_translated).then_some(Offer::Text(Cow::Borrowed(&value.shown)))
    }

    fn accept(offer: Offer<'_>, _of: &(), _cx: &Conversion<'_>) -> Option<LocalText> {
        let Offer::Text(text) = offer else { return None };
        Some(LocalText { shown: text.into_owned(), ..LocalText::default() })
    }
}
