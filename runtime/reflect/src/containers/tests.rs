//! Compares containers with containers of the standard library, after each operation of a random sequence.

use std::collections::{BTreeSet, HashMap};

use alcedo_abi::value::ArrayRaw;

use super::{ContainerError, RowsMut, array, keyed, keyed_mut};
use crate::block::live;
use crate::names::Names;
use crate::owned::OwnedValue;
use crate::property::PropertyType;
use crate::testing::type_of;
use crate::typed::owned;
use crate::value::Value;

/// Deterministic pseudorandom number generator.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) % u64::from(limit.max(1))) as u32
    }
}

fn array_in(own: &mut OwnedValue) -> RowsMut<'_> {
    array(own.as_mut()).expect("it is an array")
}

/// Returns the row header of a set or map.
fn rows_of(own: &mut OwnedValue) -> ArrayRaw {
    keyed_mut(own.as_mut()).expect("it is a set or map").rows().raw()
}

fn strings(own: &mut OwnedValue) -> Vec<String> {
    let text = |value| if let Value::Text(text) = value { text } else { panic!("{value:?} is not a text") };
    array_in(own).keys().map(|element| text(element.as_ptr().read())).collect()
}

#[test]
fn arrays_behave_like_vec() {
    let before = live();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    {
        let ty = type_of("Array(String)");
        let (mut own, mut other) = (OwnedValue::zero(ty.clone()), OwnedValue::zero(ty));
        let mut model: Vec<String> = Vec::new();
        for step in 0..60_000u32 {
            let old = array_in(&mut own).raw();
            let len = model.len() as u32;
            let mut ended_or_moved = false;
            match dice.below(20) {
                0..8 => {
                    let at = dice.below(len + 1);
                    let remove = dice.below((len - at).min(3) + 1);
                    let insert = dice.below(if len > 60 { 1 } else { 4 });
                    array_in(&mut own).splice(at, remove, insert).unwrap();
                    let fresh = vec![String::new(); insert as usize];
                    model.splice(at as usize..(at + remove) as usize, fresh);
                    ended_or_moved = remove != 0 || (insert != 0 && at < len);
                }
                8..17 if len != 0 => {
                    let at = dice.below(len);
                    let text = "x".repeat(dice.below(40) as usize) + &step.to_string();
                    let value = Value::Text(text.clone());
                    array_in(&mut own).keys().nth(at as usize).unwrap().write(&value).unwrap();
                    model[at as usize] = text;
                }
                17 => array_in(&mut own).reserve(dice.below(30)).unwrap(),
                18 => other.as_mut().copy_from(own.as_ptr()),
                19 if dice.below(50) == 0 => {
                    array_in(&mut own).clear();
                    ended_or_moved = !model.is_empty();
                    model.clear();
                }
                _ => {}
            }
            let now = array_in(&mut own).raw();
            assert_eq!(now.len as usize, model.len(), "step {step}");
            assert!(now.len <= now.capacity || now.len == 0);
            ended_or_moved |= len != 0 && now.data != old.data;
            assert!(!ended_or_moved || now.epoch != old.epoch, "step {step}: a stale address cannot be detected");
            assert_eq!(strings(&mut own), model, "step {step}");

            if step % 500 == 0 {
                other.as_mut().copy_from(own.as_ptr());
                assert!(own.as_ptr().equal(other.as_ptr()));
                assert_eq!(array_in(&mut other).raw().len, array_in(&mut own).raw().len);
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
fn nested_containers_behave_like_nested_collections() {
    let before = live();
    let mut dice = Dice(0xdead_beef_cafe_f00d);
    {
        let (ty, names) = (type_of("Map(String, Array(Set(u16)))"), Names::default());
        let PropertyType::Map(entry) = &ty else { panic!("it is a map") };
        let PropertyType::Array(sets) = entry.value() else { panic!("with arrays") };
        let PropertyType::Set(numbers) = sets.ty() else { panic!("of sets") };
        let (key_type, number_type) = (entry.key().clone(), numbers.ty().clone());
        let (mut own, mut other) = (OwnedValue::zero(ty.clone()), OwnedValue::zero(ty.clone()));
        let mut model = Model::new();
        let mut key_text = OwnedValue::zero(key_type);
        for step in 0..60_000u32 {
            let key = format!("key {}", dice.below(30));
            key_text.write(&Value::Text(key.clone())).unwrap();
            let old = rows_of(&mut own);
            let len = model.len();
            let found = keyed(own.as_ptr()).unwrap().find(key_text.as_ptr());
            assert_eq!(found.is_some(), model.contains_key(&key), "step {step}");
            let mut map = keyed_mut(own.as_mut()).unwrap();
            match dice.below(10) {
                0..3 => {
                    let (at, is_new) = map.insert(key_text.as_ptr()).unwrap();
                    assert_eq!(is_new, found.is_none());
                    assert!(is_new || found == Some(at));
                    model.entry(key).or_default();
                }
                3 => {
                    if let Some(at) = found {
                        map.remove(at).unwrap();
                        assert_ne!(rows_of(&mut own).epoch, old.epoch, "step {step}: a row ended");
                    }
                    model.remove(&key);
                }
                kind => {
                    let Some(at) = found else { continue };
                    let mut array = array(map.value(at).unwrap()).unwrap();
                    let list = model.get_mut(&key).unwrap();
                    let count = list.len() as u32;
                    if kind < 6 {
                        let (at, insert) = (dice.below(count + 1), dice.below(3));
                        let remove = if count > 6 { count - at } else { 0 };
                        array.splice(at, remove, insert).unwrap();
                        let fresh = vec![BTreeSet::new(); insert as usize];
                        list.splice(at as usize..(at + remove) as usize, fresh);
                    } else if count != 0 {
                        let at = dice.below(count) as usize;
                        let mut set = keyed_mut(array.keys().nth(at).unwrap()).unwrap();
                        let number = dice.below(25) as u16;
                        let key = owned(number_type.clone(), number);
                        match set.as_ref().find(key.as_ptr()) {
                            Some(found) if dice.below(2) == 0 => {
                                set.remove(found).unwrap();
                                list[at].remove(&number);
                            }
                            _ => {
                                set.insert(key.as_ptr()).unwrap();
                                list[at].insert(number);
                            }
                        }
                    }
                }
            }
            let now = rows_of(&mut own);
            assert!(len == 0 || now.data == old.data || now.epoch != old.epoch, "step {step}: the rows moved");
            if step % 200 == 0 {
                check_nested(&own, &model, &names);
                other.as_mut().copy_from(own.as_ptr());
                check_nested(&other, &model, &names);
                assert!(own.as_ptr().equal(other.as_ptr()));
                assert_eq!(own.as_ptr().hashed(), other.as_ptr().hashed());
            }
        }
    }
    assert_eq!(live(), before, "no text, no row and no index is left");
}

#[test]
fn invalid_operations_are_refused_without_changes() {
    let (mut own, wide) = (OwnedValue::zero(type_of("Array(u8)")), "Array(LazyObject(/Script/Engine.Object))");
    let mut splice = |at, remove, insert| array_in(&mut own).splice(at, remove, insert);
    splice(0, 0, 3).unwrap();
    assert_eq!(splice(4, 0, 1), Err(ContainerError::OutOfRange { at: 4, count: 0, len: 3 }));
    assert_eq!(splice(2, 2, 0), Err(ContainerError::OutOfRange { at: 2, count: 2, len: 3 }));
    assert_eq!(splice(u32::MAX, 2, 0), Err(ContainerError::OutOfRange { at: u32::MAX, count: 2, len: 3 }));
    assert_eq!(splice(0, 0, u32::MAX), Err(ContainerError::TooLong { len: 3, more: u32::MAX }));
    let reserved = array_in(&mut own).reserve(u32::MAX - 2);
    assert_eq!(reserved, Err(ContainerError::TooLong { len: 3, more: u32::MAX - 2 }));
    assert_eq!(own.read(), Value::Array(vec![Value::U8(0); 3]));

    let mut set = OwnedValue::zero(type_of("Set(u8)"));
    let removed = keyed_mut(set.as_mut()).unwrap().remove(0);
    assert_eq!(removed, Err(ContainerError::OutOfRange { at: 0, count: 1, len: 0 }));

    // This allocation of 64 GiB may succeed on some systems. The memory is freed immediately.
    let mut huge = OwnedValue::zero(type_of(wide));
    let reserved = array_in(&mut huge).reserve(u32::MAX);
    assert!(matches!(reserved, Ok(()) | Err(ContainerError::NoMemory { .. })), "{reserved:?}");
    huge.as_mut().destroy();
}

#[test]
fn rows_without_bytes_are_counted_too() {
    let empty = crate::testing::structure("Empty", &[]);
    let ty = PropertyType::Array(std::rc::Rc::new(crate::nested::ElementType::new(PropertyType::Struct(empty))));
    let mut own = OwnedValue::zero(ty);
    array_in(&mut own).splice(0, 0, 1000).unwrap();
    assert_eq!(own.read(), Value::Array(vec![Value::Struct(Vec::new()); 1000]));
}
