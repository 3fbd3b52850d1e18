//! Containers against those of the standard library: many random operations, and the two agree after each.
#![expect(unsafe_code, reason = "the containers of these tests are raw memory")]

use std::collections::{BTreeSet, HashMap};

use alcedo_abi::value::{ArrayRaw, MapRaw, TextRaw};

use super::{
    ContainerError, array_clear, array_copy, array_destroy, array_reserve, array_splice, map_find, map_insert,
    map_remove, rows,
};
use crate::block::live;
use crate::memory;
use crate::names::Names;
use crate::owned::OwnedValue;
use crate::property::PropertyType;
use crate::testing::type_of;
use crate::text_memory::{text_assign, text_read};
use crate::value::Value;

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) % u64::from(limit.max(1))) as u32
    }
}

fn array_of(own: &OwnedValue) -> ArrayRaw {
    // SAFETY: the callers have a value there that begins with an array.
    unsafe { own.at().cast::<ArrayRaw>().read() }
}

fn element(ty: &PropertyType) -> &PropertyType {
    match ty {
        PropertyType::Array(of) => of.ty(),
        other => panic!("{other} is no array"),
    }
}

fn text_at(place: *mut u8) -> String {
    // SAFETY: the callers name rows of texts.
    unsafe { text_read(place.cast()) }
}

#[test]
fn an_array_does_what_a_vec_does() {
    let before = live();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    {
        let ty = type_of("Array(String)");
        let (own, other) = (OwnedValue::zero(ty.clone()), OwnedValue::zero(ty.clone()));
        let (array, copied, of) = (own.at().cast::<ArrayRaw>(), other.at().cast::<ArrayRaw>(), element(&ty));
        let mut model: Vec<String> = Vec::new();
        for step in 0..60_000u32 {
            let old = array_of(&own);
            let len = model.len() as u32;
            let mut ended_or_moved = false;
            match dice.below(20) {
                0..8 => {
                    let at = dice.below(len + 1);
                    let remove = dice.below((len - at).min(3) + 1);
                    let insert = dice.below(if len > 60 { 1 } else { 4 });
                    // SAFETY: the array of this test.
                    unsafe { array_splice(array, of, at, remove, insert) }.unwrap();
                    let fresh = vec![String::new(); insert as usize];
                    model.splice(at as usize..(at + remove) as usize, fresh);
                    ended_or_moved = remove != 0 || (insert != 0 && at < len);
                }
                8..17 if len != 0 => {
                    let at = dice.below(len);
                    let text = "x".repeat(dice.below(40) as usize) + &step.to_string();
                    let place = old.data.wrapping_add(at as usize * size_of::<TextRaw>());
                    // SAFETY: a text of the array.
                    unsafe { text_assign(place.cast(), &text) };
                    model[at as usize] = text;
                }
                // SAFETY: the array of this test.
                17 => unsafe { array_reserve(array, of, dice.below(30)) }.unwrap(),
                // SAFETY: two arrays of this test.
                18 => unsafe { array_copy(copied, array, of) },
                19 if dice.below(50) == 0 => {
                    // SAFETY: the array of this test.
                    unsafe { array_clear(array, of) };
                    ended_or_moved = !model.is_empty();
                    model.clear();
                }
                _ => {}
            }
            let now = array_of(&own);
            assert_eq!(now.len as usize, model.len(), "step {step}");
            assert!(now.len <= now.capacity || now.len == 0);
            ended_or_moved |= len != 0 && now.data != old.data;
            assert!(
                !ended_or_moved || now.epoch != old.epoch,
                "step {step}: an address went stale and nobody can know"
            );
            let texts: Vec<_> = rows(&now, size_of::<TextRaw>()).map(text_at).collect();
            assert_eq!(texts, model, "step {step}");
            if step % 500 == 0 {
                // SAFETY: two arrays of this test.
                unsafe { array_copy(copied, array, of) };
                // SAFETY: as above.
                assert!(unsafe { memory::equal(own.at(), other.at(), &ty) });
                assert_eq!(array_of(&other).len, array_of(&own).len);
            }
        }
    }
    assert_eq!(live(), before, "no text and no array is left");
}

type Model = HashMap<String, Vec<BTreeSet<u16>>>;

fn check_nested(own: &OwnedValue, model: &Model, names: &Names) {
    let set = |set: &BTreeSet<u16>| Value::Set(set.iter().map(|value| Value::U16(*value)).collect());
    let entry = |(key, value): (&String, &Vec<BTreeSet<u16>>)| {
        (Value::Text(key.clone()), Value::Array(value.iter().map(set).collect()))
    };
    let expected = Value::Map(model.iter().map(entry).collect());
    let found = own.read();
    assert_eq!(found, expected);
    let again = Value::parse(&found.print(names), own.ty(), names);
    assert_eq!(again, Ok(expected), "and as text too");
}

#[test]
fn nested_containers_do_what_nested_collections_do() {
    let before = live();
    let mut dice = Dice(0xdead_beef_cafe_f00d);
    {
        let (ty, names) = (type_of("Map(String, Array(Set(u16)))"), Names::new());
        let PropertyType::Map(entry) = &ty else { panic!("it is a map") };
        let PropertyType::Array(sets) = entry.value() else { panic!("with arrays") };
        let PropertyType::Set(numbers) = sets.ty() else { panic!("of sets") };
        let (row, of) = (entry.row(), sets.ty());
        let value_at = row.value.unwrap().1;
        let own = OwnedValue::zero(ty.clone());
        let other = OwnedValue::zero(ty.clone());
        let map = own.at().cast::<MapRaw>();
        let mut model = Model::new();
        let mut key_text = OwnedValue::zero(entry.key().clone());
        for step in 0..60_000u32 {
            let key = format!("key {}", dice.below(30));
            key_text.write(&Value::Text(key.clone())).unwrap();
            let old = array_of(&own);
            let len = model.len();
            // SAFETY: the map of this test, and a key of its own.
            let found = unsafe { map_find(map, row, key_text.at()) };
            assert_eq!(found.is_some(), model.contains_key(&key), "step {step}");
            match dice.below(10) {
                0..3 => {
                    // SAFETY: as above.
                    let (at, is_new) = unsafe { map_insert(map, row, key_text.at()) }.unwrap();
                    assert_eq!(is_new, found.is_none());
                    assert!(is_new || found == Some(at));
                    model.entry(key).or_default();
                }
                3 => {
                    if let Some(at) = found {
                        // SAFETY: the map of this test.
                        unsafe { map_remove(map, row, at) }.unwrap();
                        assert_ne!(array_of(&own).epoch, old.epoch, "step {step}: a row ended");
                    }
                    model.remove(&key);
                }
                kind => {
                    let Some(at) = found else { continue };
                    let array = old.data.wrapping_add(at as usize * row.size + value_at).cast::<ArrayRaw>();
                    let list = model.get_mut(&key).unwrap();
                    let count = list.len() as u32;
                    if kind < 6 {
                        let (at, insert) = (dice.below(count + 1), dice.below(3));
                        let remove = if count > 6 { count - at } else { 0 };
                        // SAFETY: the array of the row.
                        unsafe { array_splice(array, of, at, remove, insert) }.unwrap();
                        let fresh = vec![BTreeSet::new(); insert as usize];
                        list.splice(at as usize..(at + remove) as usize, fresh);
                    } else if count != 0 {
                        let at = dice.below(count);
                        // SAFETY: the array of the row.
                        let data = unsafe { array.read() }.data;
                        let set = data.wrapping_add(at as usize * of.size()).cast::<MapRaw>();
                        let number = dice.below(25) as u16;
                        let key = (&raw const number).cast::<u8>();
                        // SAFETY: a set of the array, and a key of its own.
                        match unsafe { map_find(set, numbers.row(), key) } {
                            Some(found) if dice.below(2) == 0 => {
                                // SAFETY: as above.
                                unsafe { map_remove(set, numbers.row(), found) }.unwrap();
                                list[at as usize].remove(&number);
                            }
                            _ => {
                                // SAFETY: as above.
                                unsafe { map_insert(set, numbers.row(), key) }.unwrap();
                                list[at as usize].insert(number);
                            }
                        }
                    }
                }
            }
            let now = array_of(&own);
            assert!(len == 0 || now.data == old.data || now.epoch != old.epoch, "step {step}: the rows moved");
            if step % 200 == 0 {
                check_nested(&own, &model, &names);
                // SAFETY: two maps of this test.
                unsafe { memory::copy(other.at(), own.at(), &ty) };
                check_nested(&other, &model, &names);
                // SAFETY: as above.
                assert!(unsafe { memory::equal(own.at(), other.at(), &ty) });
                // SAFETY: as above.
                let hashes = [own.at(), other.at()].map(|at| unsafe { memory::hashed(at, &ty) });
                assert_eq!(hashes[0], hashes[1]);
            }
        }
    }
    assert_eq!(live(), before, "no text, no row and no index is left");
}

#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    let (ty, wide) = (type_of("Array(u8)"), type_of("Array(LazyObject(/Script/Engine.Object))"));
    let own = OwnedValue::zero(ty.clone());
    let (array, of) = (own.at().cast::<ArrayRaw>(), element(&ty));
    // SAFETY: the array of this test.
    let splice = |at, remove, insert| unsafe { array_splice(array, of, at, remove, insert) };
    splice(0, 0, 3).unwrap();
    assert_eq!(splice(4, 0, 1), Err(ContainerError::OutOfRange { at: 4, count: 0, len: 3 }));
    assert_eq!(splice(2, 2, 0), Err(ContainerError::OutOfRange { at: 2, count: 2, len: 3 }));
    assert_eq!(splice(u32::MAX, 2, 0), Err(ContainerError::OutOfRange { at: u32::MAX, count: 2, len: 3 }));
    assert_eq!(splice(0, 0, u32::MAX), Err(ContainerError::TooLong { len: 3, more: u32::MAX }));
    // SAFETY: the array of this test.
    let reserved = unsafe { array_reserve(array, of, u32::MAX - 2) };
    assert_eq!(reserved, Err(ContainerError::TooLong { len: 3, more: u32::MAX - 2 }));
    assert_eq!(own.read(), Value::Array(vec![Value::U8(0); 3]));

    let set = OwnedValue::zero(type_of("Set(u8)"));
    let PropertyType::Set(numbers) = set.ty() else { panic!("it is a set") };
    // SAFETY: the set of this test.
    let removed = unsafe { map_remove(set.at().cast(), numbers.row(), 0) };
    assert_eq!(removed, Err(ContainerError::OutOfRange { at: 0, count: 1, len: 0 }));

    // 64 GiB: the system may well say yes to that, and then it is there. It is given back at once.
    let huge = OwnedValue::zero(wide.clone());
    // SAFETY: the array of this test.
    let reserved = unsafe { array_reserve(huge.at().cast(), element(&wide), u32::MAX) };
    assert!(matches!(reserved, Ok(()) | Err(ContainerError::NoMemory { .. })), "{reserved:?}");
    // SAFETY: the array of this test.
    unsafe { array_destroy(huge.at().cast(), element(&wide)) };
}

#[test]
fn rows_without_bytes_are_counted_too() {
    let empty = crate::testing::structure("Empty", &[]);
    let ty = PropertyType::Array(std::rc::Rc::new(crate::nested::ElementType::new(PropertyType::Struct(empty))));
    let own = OwnedValue::zero(ty.clone());
    // SAFETY: the array of this test.
    unsafe { array_splice(own.at().cast(), element(&ty), 0, 0, 1000) }.unwrap();
    assert_eq!(own.read(), Value::Array(vec![Value::Struct(Vec::new()); 1000]));
}
