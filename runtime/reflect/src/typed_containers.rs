//! Containers of Rust in place of those in memory: copied in and out, element by element, without a
//! [`Value`](crate::value::Value) in between.
#![expect(unsafe_code, reason = "typed reads and writes of raw property memory")]

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, Hash};

use alcedo_abi::value::{ArrayRaw, MapRaw};

use crate::containers::{map_clear, map_insert, rows};
use crate::memory;
use crate::nested::Row;
use crate::owned::OwnedValue;
use crate::property::PropertyType;
use crate::transfer::make_room;
use crate::typed::FrameValue;

// SAFETY: the elements match, and lie in the rows of the array.
unsafe impl<T: FrameValue> FrameValue for Vec<T> {
    fn matches(ty: &PropertyType) -> bool {
        matches!(ty, PropertyType::Array(of) if T::matches(of.ty()))
    }

    fn describe() -> Cow<'static, str> {
        format!("Array({})", T::describe()).into()
    }

    unsafe fn load(at: *const u8, ty: &PropertyType) -> Self {
        let PropertyType::Array(of) = ty else { return Self::new() };
        // SAFETY: the caller promises an array there.
        let array = unsafe { at.cast::<ArrayRaw>().read() };
        // SAFETY: its rows are values of the element's type, which matches.
        rows(&array, of.ty().size()).map(|place| unsafe { T::load(place, of.ty()) }).collect()
    }

    unsafe fn store(self, at: *mut u8, ty: &PropertyType) {
        let PropertyType::Array(of) = ty else { return };
        // SAFETY: the caller promises an array there.
        let places = unsafe { make_room(at.cast(), of.ty(), self.len()) };
        for (place, value) in places.zip(self) {
            // SAFETY: the rows are values of the element's type, which matches.
            unsafe { value.store(place, of.ty()) };
        }
    }
}

// SAFETY: the value matches, and lies behind the byte.
unsafe impl<T: FrameValue> FrameValue for Option<T> {
    fn matches(ty: &PropertyType) -> bool {
        matches!(ty, PropertyType::Optional(of) if T::matches(of.ty()))
    }

    fn describe() -> Cow<'static, str> {
        format!("Optional({})", T::describe()).into()
    }

    unsafe fn load(at: *const u8, ty: &PropertyType) -> Self {
        let PropertyType::Optional(of) = ty else { return None };
        // SAFETY: the caller promises an optional value there.
        let is_there = unsafe { at.read() } != 0;
        let value = at.wrapping_add(of.value_at());
        // SAFETY: the value lies behind the byte.
        is_there.then(|| unsafe { T::load(value, of.ty()) })
    }

    unsafe fn store(self, at: *mut u8, ty: &PropertyType) {
        let PropertyType::Optional(of) = ty else { return };
        let (is_there, place) = (self.is_some(), at.wrapping_add(of.value_at()));
        match self {
            // SAFETY: a value lies behind the byte, be it used or not.
            Some(value) => unsafe { value.store(place, of.ty()) },
            // SAFETY: as above.
            None => unsafe { memory::destroy(place, of.ty()) },
        }
        // SAFETY: the caller promises an optional value there.
        unsafe { at.write(is_there.into()) };
    }
}

/// Puts a key into a set or map; where its value lies.
///
/// # Safety
/// `map` is an aligned set or map of such rows in host memory that nobody else reads or writes meanwhile; the key matches.
unsafe fn put_key<K: FrameValue>(map: *mut MapRaw, row: Row<'_>, key: K, own: &OwnedValue) -> *mut u8 {
    // SAFETY: the value of its own that keys are made in.
    unsafe { key.store(own.at(), own.ty()) };
    // SAFETY: promised by the caller; the key is apart.
    let (at, _is_new) =
        unsafe { map_insert(map, row, own.at()) }.expect("there is memory for a copy of what is in memory");
    // SAFETY: promised by the caller.
    let place = unsafe { map.read() }.entries.data.wrapping_add(at as usize * row.size);
    place.wrapping_add(row.value.map_or(0, |(_, at)| at))
}

macro_rules! sets {
    ($($set:ty where [$($bound:tt)*];)*) => {$(
        // SAFETY: the keys match, and lie in the rows of the set.
        unsafe impl<$($bound)*> FrameValue for $set {
            fn matches(ty: &PropertyType) -> bool {
                matches!(ty, PropertyType::Set(of) if T::matches(of.ty()))
            }

            fn describe() -> Cow<'static, str> {
                format!("Set({})", T::describe()).into()
            }

            unsafe fn load(at: *const u8, ty: &PropertyType) -> Self {
                let PropertyType::Set(of) = ty else { return Self::default() };
                // SAFETY: the caller promises a set there.
                let entries = unsafe { at.cast::<MapRaw>().read() }.entries;
                // SAFETY: its rows are values of the key's type, which matches.
                rows(&entries, of.ty().size()).map(|place| unsafe { T::load(place, of.ty()) }).collect()
            }

            unsafe fn store(self, at: *mut u8, ty: &PropertyType) {
                let PropertyType::Set(of) = ty else { return };
                // SAFETY: the caller promises a set there.
                unsafe { map_clear(at.cast(), of.row()) };
                let own = OwnedValue::zero(of.ty().clone());
                for key in self {
                    // SAFETY: as above; the key matches.
                    unsafe { put_key(at.cast(), of.row(), key, &own) };
                }
            }
        }
    )*};
}
sets! {
    HashSet<T, S> where [T: FrameValue + Eq + Hash, S: BuildHasher + Default];
    BTreeSet<T> where [T: FrameValue + Ord];
}

macro_rules! maps {
    ($($map:ty where [$($bound:tt)*];)*) => {$(
        // SAFETY: keys and values match, and lie in the rows of the map.
        unsafe impl<$($bound)*> FrameValue for $map {
            fn matches(ty: &PropertyType) -> bool {
                matches!(ty, PropertyType::Map(of) if K::matches(of.key()) && V::matches(of.value()))
            }

            fn describe() -> Cow<'static, str> {
                format!("Map({}, {})", K::describe(), V::describe()).into()
            }

            unsafe fn load(at: *const u8, ty: &PropertyType) -> Self {
                let PropertyType::Map(of) = ty else { return Self::default() };
                let row = of.row();
                let value_at = row.value.map_or(0, |(_, at)| at);
                // SAFETY: the caller promises a map there.
                let entries = unsafe { at.cast::<MapRaw>().read() }.entries;
                let entry = |place: *mut u8| {
                    // SAFETY: a row begins with its key, whose type matches.
                    let key = unsafe { K::load(place, of.key()) };
                    // SAFETY: the value lies there, and its type matches.
                    (key, unsafe { V::load(place.wrapping_add(value_at), of.value()) })
                };
                rows(&entries, row.size).map(entry).collect()
            }

            unsafe fn store(self, at: *mut u8, ty: &PropertyType) {
                let PropertyType::Map(of) = ty else { return };
                // SAFETY: the caller promises a map there.
                unsafe { map_clear(at.cast(), of.row()) };
                let own = OwnedValue::zero(of.key().clone());
                for (key, value) in self {
                    // SAFETY: as above; the key matches.
                    let place = unsafe { put_key(at.cast(), of.row(), key, &own) };
                    // SAFETY: the value of the row, whose type matches.
                    unsafe { value.store(place, of.value()) };
                }
            }
        }
    )*};
}
maps! {
    HashMap<K, V, S> where [K: FrameValue + Eq + Hash, V: FrameValue, S: BuildHasher + Default];
    BTreeMap<K, V> where [K: FrameValue + Ord, V: FrameValue];
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
    use crate::typed::FrameValue;
    use crate::typed_values::{
        AnsiString, FieldPath, LazyObject, MulticastDelegate, ScriptInterface, SoftClass, SoftObject, SparseDelegate,
        SubclassOf, Utf8String, WeakObject,
    };
    use crate::value::{Binding, LocalText};

    fn check<T: FrameValue + Clone + PartialEq + Debug>(words: &str, value: T, printed: &str) {
        let before = live();
        {
            let world = world();
            let ty = type_of(words);
            let decl = PropertyDecl::new("x", ty.kind()).of_type(ty.type_path());
            let class = declare(&world, [dynamic("Cube", "/Script/Engine.Object", &[decl])]).remove(0);
            let (body, property) = (Body::new(&class), &class.properties[0]);
            world.names.intern("one");
            for _twice in 0..2 {
                body.view().set(property, value.clone()).unwrap();
                assert_eq!(body.view().get::<T>(property), Ok(value.clone()));
            }
            assert_eq!(body.view().read(property).unwrap().print(&world.names), printed);
            assert!(body.view().get::<u8>(property).is_err() || words == "u8");
            assert!(T::describe().starts_with(words.split('(').next().unwrap()), "{} is {words}", T::describe());
        }
        assert_eq!(live(), before, "{words} leaves nothing behind");
    }

    #[test]
    fn every_kind_has_a_rust_type() {
        let handle = ObjectHandle::new(3, 4);
        check("Utf8String", Utf8String("größer".into()), "\"größer\"");
        check("AnsiString", AnsiString::new("größer").unwrap(), "\"größer\"");
        check("Text", LocalText { shown: "Open".into(), ..LocalText::default() }, "\"Open\"");
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
    fn what_is_in_it_has_to_match_too() {
        let ty = type_of("Array(Map(u8, String))");
        assert!(Vec::<BTreeMap<u8, String>>::matches(&ty));
        assert!(!Vec::<BTreeMap<u8, Utf8String>>::matches(&ty));
        assert!(!Vec::<BTreeSet<u8>>::matches(&ty));
        assert!(!Option::<BTreeMap<u8, String>>::matches(&ty));
    }
}
