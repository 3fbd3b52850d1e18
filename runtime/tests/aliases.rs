//! Tests that a stale handle never resolves to another object, even if its slot is reused many times. In a host with 8-bit serials, 255
//! objects exhaust a slot, so that the objects of these tests exhaust hundreds of slots. The program `soak` creates five times as many.

use std::collections::HashSet;

use alcedo_runtime::kinds::PropertyKind;
use alcedo_runtime::native::{NativeClass, Natives};
use alcedo_runtime::{AnyConjugate, ObjectHandle, Runtime, Value};

use crate::TENANTS;

/// Approximate number of handles alive at a time.
const LIVING: usize = 64;
/// Number of stale handles that the test looks up repeatedly.
const STALE: usize = 4096;
const NODE: &str = "/Script/Graph.Node";

/// Objects per slot in a host with few serials.
const FEW: u32 = 255;
/// Objects per slot in a normal host.
const MANY: u32 = u32::MAX;

struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// Operations on one kind of handle, so that objects and owned values share the code of the test.
struct Store<H> {
    make: fn(&Runtime, u64) -> H,
    end: fn(&Runtime, H),
    /// Returns the value stored for the handle, or `None` for a stale handle.
    mark: fn(&Runtime, H) -> Option<u64>,
    number: fn(H) -> u64,
}

/// Creates and destroys [`TENANTS`] objects, and looks up the kept handles of destroyed objects.
fn check<H: Copy + std::fmt::Debug>(host: &Runtime, last_serial: u32, seed: u64, store: &Store<H>) {
    let Store { make, end, mark, number } = store;
    let mut dice = Dice(seed);
    let (mut living, mut stale): (Vec<(H, u64)>, Vec<H>) = Default::default();
    let mut issued = HashSet::new();
    let mut aliases = 0;
    for made in 1..=TENANTS {
        let handle = make(host, made);
        assert!(issued.insert(number(handle)), "seed {seed}, tenant {made}: {handle:?} was issued before");
        living.push((handle, made));
        if living.len() > LIVING {
            let (handle, made) = living.swap_remove(dice.below(LIVING));
            assert_eq!(mark(host, handle), Some(made), "seed {seed}: a living handle resolves to its own object");
            end(host, handle);
            if stale.len() < STALE {
                stale.push(handle);
            } else {
                stale[dice.below(STALE)] = handle;
            }
        }
        if !stale.is_empty() {
            aliases += u64::from(mark(host, stale[dice.below(stale.len())]).is_some());
        }
    }
    aliases += stale.iter().filter(|handle| mark(host, **handle).is_some()).count() as u64;
    assert_eq!(aliases, 0, "seed {seed}: stale handles resolve to an object");
    assert!(living.iter().all(|(handle, made)| mark(host, *handle) == Some(*made)));
    living.into_iter().for_each(|(handle, _)| end(host, handle));
    // The number of distinct slots shows that an exhausted slot is never reused.
    let slots: HashSet<_> = issued.iter().map(|number| *number as u32).collect();
    let tenants = issued.len() / slots.len();
    let few = FEW as usize;
    let is_right = if last_serial == FEW { (100..=few).contains(&tenants) } else { tenants > few };
    assert!(is_right, "{tenants} objects per slot");
}

fn host(last_serial: u32) -> Runtime {
    let node =
        NativeClass::new("Graph", "Node", "/Script/Core.Object").property("mark", (PropertyKind::U64, ""), 0, "");
    let builder = Runtime::builder().natives(Natives::in_package("Graph").class(node)).last_serial(last_serial);
    builder.build().expect("right declarations")
}

#[test]
fn every_object_has_a_new_handle() {
    check_objects(MANY);
}

#[test]
fn every_object_has_a_new_handle_with_few_serials() {
    check_objects(FEW);
}

#[test]
fn every_owned_value_has_a_new_handle() {
    check_owned_values(MANY);
}

#[test]
fn every_owned_value_has_a_new_handle_with_few_serials() {
    check_owned_values(FEW);
}

fn check_objects(last_serial: u32) {
    let host = host(last_serial);
    let store: Store<ObjectHandle> = Store {
        make: |host, made| {
            let object = host.objects().spawn(NODE).expect("an object");
            host.objects().set(object, "mark", &Value::U64(made)).expect("it may be written");
            if made % 1000 == 0 {
                host.safe_point();
            }
            object
        },
        end: |host, object| host.objects().destroy(object),
        mark: |host, object| match host.objects().get(object, "mark") {
            Ok(Value::U64(mark)) => Some(mark),
            Ok(other) => panic!("a mark is a number, not {other:?}"),
            Err(_stale) => {
                assert!(!host.objects().is_alive(object) && host.objects().class_of(object).is_none());
                None
            }
        },
        number: |object| object.0,
    };
    check(&host, last_serial, 7, &store);
    assert_eq!(host.counters().objects, 0);
}

fn check_owned_values(last_serial: u32) {
    let host = host(last_serial);
    let store: Store<AnyConjugate> = Store {
        make: |host, made| host.conjugates().make("Optional(u64)", &mark_of(made)).expect("an owned value"),
        end: |host, black| host.conjugates().give_back(black),
        mark: |host, black| match host.conjugates().read(black) {
            Ok(Value::Optional(Some(mark))) => match *mark {
                Value::U64(mark) => Some(mark),
                other => panic!("a mark is a number, not {other:?}"),
            },
            Ok(other) => panic!("a mark is an optional, not {other:?}"),
            Err(_expired) => {
                assert!(host.conjugates().is_expired(black));
                host.conjugates().give_back(black);
                None
            }
        },
        number: AnyConjugate::number,
    };
    check(&host, last_serial, 9, &store);
    assert_eq!(host.conjugates().owned_values().count(), 0);
}

fn mark_of(made: u64) -> Value {
    Value::Optional(Some(Box::new(Value::U64(made))))
}
