//! Conversions between Rust containers and containers in property memory. Elements are copied one by one, without an
//! intermediate [`Value`](crate::value::Value).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, Hash};
use std::rc::Rc;

use crate::containers::KeyedMut;
use crate::nested::{ElementType, EntryType};
use crate::owned::OwnedValue;
use crate::property::PropertyType;
use crate::typed::OfKind;
use crate::values::array::Array;
use crate::values::map::Map;
use crate::values::optional::Optional;
use crate::values::ptr::{Mut, PtrMut, Ref};
use crate::values::set::Set;
use crate::values::{Content as _, Kind as _};

const MATCHES: &str = "a matching type is of the kind";

/// Implements the type methods of [`OfKind`] for a Rust container of `T`. `T` is the only inner type.
macro_rules! of_element {
    ($kind:ident) => {
        type Kind = $kind;

        fn of(ty: &PropertyType) -> Option<&Rc<ElementType>> {
            $kind::of(ty).filter(|of| T::matches(of.ty()))
        }

        fn describe() -> Cow<'static, str> {
            format!("{}({})", $kind::NAME, T::describe()).into()
        }
    };
}

impl<T: OfKind> OfKind for Vec<T> {
    of_element!(Array);

    const RUNS_CODE: bool = T::RUNS_CODE;

    fn load(at: Ref<'_, Array>) -> Self {
        at.rows().keys_of().expect(MATCHES).map(T::load).collect()
    }

    fn store(self, at: Mut<'_, Array>) {
        let mut rows = at.rows();
        rows.refill(self.len());
        rows.keys_of().expect(MATCHES).zip(self).for_each(|(target, value)| value.store(target));
    }
}

impl<T: OfKind> OfKind for Option<T> {
    of_element!(Optional);

    const RUNS_CODE: bool = T::RUNS_CODE;

    fn load(at: Ref<'_, Optional>) -> Self {
        at.inner().map(|inner| T::load(inner.to().expect(MATCHES)))
    }

    fn store(self, at: Mut<'_, Optional>) {
        let is_there = self.is_some();
        match self {
            Some(value) => value.store(at.inner().to().expect(MATCHES)),
            None => at.inner().destroy(),
        }
        at.set(is_there.into());
    }
}

/// Inserts a key into a set or map, and returns the index of the key's row. The key is first written to `own`, a temporary value.
fn put_key<K: OfKind>(keyed: &mut KeyedMut<'_>, key: K, own: &mut OwnedValue) -> u32 {
    key.store(own.as_mut().to().expect(MATCHES));
    let (row, _is_new) = keyed.insert(own.as_ptr()).expect("memory for a second copy");
    row
}

macro_rules! sets {
    ($($set:ty where [$($bound:tt)*];)*) => {$(
        impl<$($bound)*> OfKind for $set {
            of_element!(Set);

            // The host may define the comparison and the hash of the elements.
            const RUNS_CODE: bool = true;

            fn load(at: Ref<'_, Set>) -> Self {
                at.rows().keys_of().expect(MATCHES).map(T::load).collect()
            }

            fn store(self, at: Mut<'_, Set>) {
                let mut own = OwnedValue::zero(at.of().ty().clone());
                let mut keyed = at.keyed();
                keyed.clear();
                for key in self {
                    put_key(&mut keyed, key, &mut own);
                }
            }
        }
    )*};
}
sets! {
    HashSet<T, S> where [T: OfKind + Eq + Hash, S: BuildHasher + Default];
    BTreeSet<T> where [T: OfKind + Ord];
}

macro_rules! maps {
    ($($map:ty where [$($bound:tt)*];)*) => {$(
        impl<$($bound)*> OfKind for $map {
            type Kind = Map;
            // The host may define the comparison and the hash of the keys.
            const RUNS_CODE: bool = true;

            fn of(ty: &PropertyType) -> Option<&Rc<EntryType>> {
                Map::of(ty).filter(|of| K::matches(of.key()) && V::matches(of.value()))
            }

            fn describe() -> Cow<'static, str> {
                format!("Map({}, {})", K::describe(), V::describe()).into()
            }

            fn load(at: Ref<'_, Map>) -> Self {
                let rows = at.rows();
                let values = rows.values_of().expect(MATCHES).map(V::load);
                rows.keys_of().expect(MATCHES).map(K::load).zip(values).collect()
            }

            fn store(self, at: Mut<'_, Map>) {
                let mut own = OwnedValue::zero(at.of().key().clone());
                let mut keyed = at.keyed();
                keyed.clear();
                for (key, value) in self {
                    let row = put_key(&mut keyed, key, &mut own);
                    value.store(keyed.value(row).and_then(PtrMut::to).expect(MATCHES));
                }
            }
        }
    )*};
}
maps! {
    HashMap<K, V, S> where [K: OfKind + Eq + Hash, V: OfKind, S: BuildHasher + Default];
    BTreeMap<K, V> where [K: OfKind + Ord, V: OfKind];
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
    use std::fmt::Debug;

    use alcedo_abi::value::LazyRaw;
    use alcedo_base::handles::{Name, ObjectHandle};

    use crate::block::live;
    use crate::body::Body;
    use crate::decl::PropertyDecl;
    use crate::testing::{declare, dynamic, type_of, world};
    use crate::typed::OfKind;
    use crate::typed_values::words::{
        FieldPath, LazyObject, ScriptInterface, SoftClass, SoftObject, SubclassOf, WeakObject,
    };
    use crate::typed_values::{AnsiString, MulticastDelegate, SparseDelegate, Utf8String};
    use crate::value::{Binding, LocalText};

    fn check<T: OfKind + Clone + PartialEq + Debug>(type_name: &str, value: T, printed: &str) {
        let before = live();
        {
            let world = world();
            let ty = type_of(type_name);
            let decl = PropertyDecl::new("x", ty.kind()).of_type(ty.type_path());
            let class = declare(&world, [dynamic("Cube", "/Script/Engine.Object", &[decl])]).remove(0);
            let (body, property) = (Body::new(&class), &class.properties[0]);
            world.names.intern("one");
            for _twice in 0..2 {
                body.view().set(property, value.clone()).unwrap();
                assert_eq!(body.view().get::<T>(property), Ok(value.clone()));
            }
            assert_eq!(body.view().read(property).unwrap().print(&world.names), printed);
            assert!(body.view().get::<u8>(property).is_err() || type_name == "u8");
            assert!(
                T::describe().starts_with(type_name.split('(').next().unwrap()),
                "{} is {type_name}",
                T::describe()
            );
        }
        assert_eq!(live(), before, "{type_name} leaves nothing behind");
    }

    #[test]
    fn every_kind_has_a_rust_type() {
        let handle = ObjectHandle::new(3, 4);
        check("Utf8String", Utf8String("größer".into()), "\"größer\"");
        check("AnsiString", AnsiString::new("größer").unwrap(), "\"größer\"");
        check("Text", LocalText { display: "Open".into(), ..LocalText::default() }, "\"Open\"");
        check("SubclassOf(/Script/Engine.Object)", SubclassOf(Name(0)), "none");
        check("SoftClass(/Script/Engine.Object)", SoftClass(Name(0)), "none");
        check("SoftObject(/Script/Engine.Object)", SoftObject(Name(0)), "none");
        check("FieldPath", FieldPath(Name(0)), "none");
        check(
            "LazyObject(/Script/Engine.Object)",
            LazyObject(LazyRaw { high: 1, low: 2 }),
            "00000000000000010000000000000002",
        );
        check("WeakObject(/Script/Engine.Object)", WeakObject(handle), "#3.4");
        check("ScriptInterface(/Script/Engine.Sings)", ScriptInterface(handle), "#3.4");
        let binding = Binding { object: handle, function: Name(0) };
        check("Delegate()", binding, "#3.4:\"\"");
        check("MulticastDelegate()", MulticastDelegate(vec![binding]), "(#3.4:\"\")");
        check("SparseDelegate()", SparseDelegate(vec![binding]), "(#3.4:\"\")");
        assert_eq!(AnsiString::new("日"), None);
    }

    #[test]
    fn containers_are_those_of_rust() {
        check("Array(f64)", vec![1.5, -2.0], "(1.5, -2)");
        check("Array(Array(String))", vec![vec!["a".to_owned()], vec![]], "((\"a\"), ())");
        check("Optional(String)", Some("a".to_owned()), "some(\"a\")");
        check("Optional(u8)", None::<u8>, "none");
        check("Set(u8)", BTreeSet::from([1u8, 2]), "(1, 2)");
        check("Set(String)", HashSet::from(["a".to_owned()]), "(\"a\")");
        check("Map(u8, Array(u16))", BTreeMap::from([(1u8, vec![2u16]), (3, vec![])]), "((1, (2)), (3, ()))");
        check("Map(String, Optional(bool))", HashMap::from([("a".to_owned(), Some(true))]), "((\"a\", some(true)))");
        let many: BTreeMap<u32, String> = (0..500).map(|number| (number, number.to_string())).collect();
        let printed: Vec<_> = many.iter().map(|(key, value)| format!("({key}, \"{value}\")")).collect();
        check("Map(u32, String)", many, &format!("({})", printed.join(", ")));
    }

    #[test]
    fn element_types_must_match_too() {
        let ty = type_of("Array(Map(u8, String))");
        assert!(Vec::<BTreeMap<u8, String>>::matches(&ty));
        assert!(!Vec::<BTreeMap<u8, Utf8String>>::matches(&ty));
        assert!(!Vec::<BTreeSet<u8>>::matches(&ty));
        assert!(!Option::<BTreeMap<u8, String>>::matches(&ty));
    }
}
