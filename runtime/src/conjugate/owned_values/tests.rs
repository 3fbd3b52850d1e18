//! Tests owned values without a loaded module. The tests create the gates, leases and threads that a module would have.

use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use alcedo_abi::handles::{BlackHandle, TypeNumber};
use alcedo_abi::kinds::PropertyKind;

use super::OwnedValues;
use crate::conjugate::gate::{Gate, ModuleTag};
use crate::conjugate::statistics::{BlackCount, SiteCount};
use crate::handles::{Generation, ModuleId, ObjectHandle, with_last_serial};
use crate::lease::{LeaseKind, Leases};
use crate::object::decl::PropertyDecl;
use crate::object::owned::OwnedValue;
use crate::object::property::PropertyType;
use crate::object::testing::structure;
use crate::object::value::Value;

struct Module {
    id: ModuleId,
    gate: Rc<Gate>,
    leases: Arc<Leases>,
}

impl Module {
    fn admit(owned_values: &OwnedValues, id: u64) -> Self {
        let gate = Gate::new(ModuleTag { id: ModuleId(id), name: "m".into(), generation: Generation(id) });
        let leases = Leases::new("m");
        owned_values.admit(&gate, Arc::clone(&leases));
        Self { id: ModuleId(id), gate, leases }
    }

    fn make(&self, owned_values: &OwnedValues, ty: &PropertyType) -> BlackHandle {
        self.make_of(owned_values, OwnedValue::zero(ty.clone()))
    }

    fn make_of(&self, owned_values: &OwnedValues, value: OwnedValue) -> BlackHandle {
        let number = TypeNumber(u32::from(value.ty().kind().0));
        owned_values.make(self.id, number, value, Some(("src/lib.rs", 7)), Instant::now()).expect("the gate is open")
    }

    fn end(&self, owned_values: &OwnedValues) -> u64 {
        self.gate.close();
        owned_values.end_modules(&BTreeSet::from([self.id]))
    }
}

fn text() -> PropertyType {
    PropertyType::Text
}

/// Returns a struct type with a string and an object reference.
fn pair() -> PropertyType {
    let fields = [
        PropertyDecl::new("label", PropertyKind::STRING),
        PropertyDecl::new("who", PropertyKind::OBJECT).of_type("/Script/Engine.Object"),
    ];
    PropertyType::Struct(structure("Pair", &fields))
}

fn lives(owned_values: &OwnedValues, black: BlackHandle) -> bool {
    owned_values.open(black.into()).is_some()
}

/// Drops owned values on several threads. Each thread drops an equal share.
fn drop_on_threads(owned_values: &OwnedValues, handles: &[BlackHandle], threads: usize) {
    std::thread::scope(|scope| {
        for share in handles.chunks(handles.len().div_ceil(threads).max(1)) {
            let drops = owned_values.drops.clone();
            scope.spawn(move || share.iter().for_each(|black| drops.leave(*black)));
        }
    });
}

#[test]
fn an_owned_value_lives_until_dropped_and_double_drops_do_nothing() {
    let owned_values = OwnedValues::default();
    let module = Module::admit(&owned_values, 1);
    let (one, two) = (module.make(&owned_values, &text()), module.make(&owned_values, &text()));
    assert_ne!(one, two);
    assert_ne!(owned_values.open(one.into()).unwrap().at, owned_values.open(two.into()).unwrap().at);
    for _twice in 0..2 {
        owned_values.dispose(one);
        assert_eq!((lives(&owned_values, one), lives(&owned_values, two)), (false, true));
    }
    assert_eq!(owned_values.report().count(), 1);
    owned_values.dispose(BlackHandle::NONE);
    owned_values.dispose(BlackHandle(u64::MAX));
    assert_eq!((owned_values.report().made, owned_values.report().released), (2, 1));
}

#[test]
fn values_dropped_on_eight_threads_are_released_on_the_game_thread() {
    let owned_values = OwnedValues::default();
    let module = Module::admit(&owned_values, 1);
    let handles: Vec<_> = (0..1000).map(|_| module.make(&owned_values, &text())).collect();
    drop_on_threads(&owned_values, &handles, 8);
    assert_eq!(
        (owned_values.report().count(), owned_values.report().queued),
        (1000, 1000),
        "nothing is released off the game thread"
    );
    // `elapsed` is constant, so the minimum duration never passes, and the flush processes all drops.
    owned_values.flush(&mut || Duration::ZERO);
    assert_eq!((owned_values.report().count(), owned_values.report().queued), (0, 0));
    assert_eq!(module.leases.count(), 0);
}

#[test]
fn a_flush_does_its_share_and_stops_when_its_time_is_over() {
    let owned_values = OwnedValues::default();
    let module = Module::admit(&owned_values, 1);
    let handles: Vec<_> = (0..1000).map(|_| module.make(&owned_values, &text())).collect();
    drop_on_threads(&owned_values, &handles, 1);
    for left in [950, 902] {
        owned_values.flush(&mut || Duration::from_secs(1));
        assert_eq!(owned_values.report().queued, left);
    }
    module.end(&owned_values);
    assert_eq!(
        (owned_values.report().queued, owned_values.report().count()),
        (0, 0),
        "the end of a module flushes all"
    );
}

#[test]
fn suspended_values_are_expired_and_resumed_values_are_unchanged() {
    let owned_values = OwnedValues::default();
    let module = Module::admit(&owned_values, 1);
    let [kept, dropped] = [(); 2].map(|()| module.make(&owned_values, &text()));
    let at = owned_values.open(kept.into()).unwrap().at;
    module.gate.close();
    assert!(!lives(&owned_values, kept));
    let made = owned_values.make(module.id, TypeNumber(1), OwnedValue::zero(text()), None, Instant::now());
    assert!(made.is_err(), "no value is created");
    assert_eq!(owned_values.report().count(), 2, "nothing is dropped either");
    drop_on_threads(&owned_values, &[dropped], 1);
    owned_values.flush_all();
    module.gate.reopen();
    assert_eq!(
        (lives(&owned_values, kept), lives(&owned_values, dropped)),
        (true, false),
        "a drop is heeded all the same"
    );
    assert_eq!(owned_values.open(kept.into()).unwrap().at, at);
}

#[test]
fn a_module_end_releases_its_values_and_records_late_drops() {
    let owned_values = OwnedValues::default();
    let (old, new) = (Module::admit(&owned_values, 1), Module::admit(&owned_values, 2));
    let [finalized, forgotten] = [(); 2].map(|()| old.make(&owned_values, &text()));
    let kept = new.make(&owned_values, &text());
    assert_eq!(old.end(&owned_values), 2);
    assert_eq!([finalized, forgotten, kept].map(|black| lives(&owned_values, black)), [false, false, true]);
    assert_eq!(old.end(&owned_values), 0, "once is enough");
    let undropped = |count| vec![BlackCount { count, ..count_of(1, "String") }];
    assert_eq!(owned_values.report().undropped, undropped(2));
    drop_on_threads(&owned_values, &[finalized, finalized], 1);
    owned_values.flush_all();
    assert_eq!(owned_values.report().undropped, undropped(1));
    owned_values.forget(&[old.id]);
    assert_eq!((owned_values.report().undropped, owned_values.left()), (Vec::new(), undropped(1)));
    owned_values.dispose(forgotten);
    assert!(lives(&owned_values, kept));
    assert_eq!((old.leases.count(), new.leases.count()), (0, 1));
}

fn count_of(generation: u64, ty: &str) -> BlackCount {
    BlackCount { module: "m".into(), generation, ty: ty.into(), count: 1, sites: Vec::new() }
}

#[test]
fn kinds_end_in_descending_order() {
    let owned_values = OwnedValues::default();
    let (module, other) = (Module::admit(&owned_values, 1), Module::admit(&owned_values, 2));
    for ty in [text(), pair(), PropertyType::Name, pair(), text()] {
        module.make(&owned_values, &ty);
        other.make(&owned_values, &ty);
    }
    let order = owned_values.stock.borrow().in_order_of_end(&BTreeSet::from([module.id]));
    let kinds: Vec<_> = order.into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [14, 11, 11, 2, 2]);
}

#[test]
fn plain_values_and_objects_have_no_black_conjugate() {
    let owned_values = OwnedValues::default();
    let object = PropertyType::Object { class: "/Script/Engine.Object".into() };
    for ty in [PropertyType::F64, PropertyType::Bool, object] {
        let value = OwnedValue::zero(ty.clone());
        let made = owned_values.make(ModuleId::HOST, TypeNumber::NONE, value, None, Instant::now());
        assert_eq!(made.unwrap_err().to_string(), format!("{ty} has no black conjugate: keep the value itself"));
    }
    assert_eq!(owned_values.report().made, 0);
}

#[test]
fn objects_that_owned_values_refer_to_are_listed() {
    let owned_values = OwnedValues::default();
    let module = Module::admit(&owned_values, 1);
    let object = ObjectHandle::new(4, 2);
    let mut value = OwnedValue::zero(pair());
    value.write(&Value::Struct(vec![("who".into(), Value::Object(object))])).unwrap();
    module.make_of(&owned_values, value);
    module.make(&owned_values, &pair());
    module.make(&owned_values, &text());
    let mut found = Vec::new();
    owned_values.each_object(&mut |object| found.push(object));
    found.retain(|object| !object.is_none());
    assert_eq!(found, [object]);
}

#[test]
fn a_module_with_owned_values_is_leased_by_type() {
    let owned_values = OwnedValues::default();
    let module = Module::admit(&owned_values, 1);
    let handles = [text(), text(), pair()].map(|ty| module.make(&owned_values, &ty));
    let owners = || {
        let mut owners: Vec<_> =
            module.leases.report().into_iter().map(|blocker| (blocker.kind, blocker.owner)).collect();
        owners.sort();
        owners
    };
    let lease = |owner: &str| (LeaseKind::Black, owner.to_owned());
    assert_eq!(owners(), [lease("/Script/Test.Pair"), lease("String")]);
    owned_values.dispose(handles[0]);
    owned_values.dispose(handles[2]);
    assert_eq!(owners(), [lease("String")]);
    module.leases.seal();
    owned_values.dispose(handles[1]);
    let late = module.make(&owned_values, &text());
    assert_eq!(
        (owners(), lives(&owned_values, late)),
        (Vec::new(), true),
        "one that is made while unloading ends with the rest"
    );
}

#[test]
fn allocation_sites_are_recorded_while_tracking_is_on() {
    let owned_values = OwnedValues::default();
    let module = Module::admit(&owned_values, 1);
    module.make(&owned_values, &text());
    owned_values.keep_sites(true);
    let sited = [(); 2].map(|()| module.make(&owned_values, &text()));
    owned_values.keep_sites(false);
    module.make(&owned_values, &text());
    let made_there = |count| vec![SiteCount { site: "src/lib.rs:7".to_owned(), count }];
    let counts = |count| vec![BlackCount { count: 2 + count, sites: made_there(count), ..count_of(1, "String") }];
    assert_eq!(owned_values.report().live, counts(2));
    owned_values.dispose(sited[0]);
    assert_eq!(owned_values.report().live, counts(1));
    module.end(&owned_values);
    assert_eq!(owned_values.report().undropped[0].sites, made_there(1));
}

/// Pseudorandom number generator with the same numbers in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// Performs random operations: creates values, drops them once or twice, drops them on threads, and suspends, resumes and ends modules.
/// Compares the store with a model.
fn drive(seed: u64, operations: usize, last_serial: u32) {
    let owned_values = with_last_serial(last_serial, OwnedValues::default);
    let types = [text(), pair(), PropertyType::Name];
    let mut random = Random(seed);
    let mut next = 2;
    let mut module = Module::admit(&owned_values, 1);
    let (mut held, mut stale, mut sent) = (Vec::new(), Vec::new(), Vec::new());
    let mut assigned = HashSet::new();
    for at in 0..operations {
        match random.below(1000) {
            0..500 => {
                let black = module.make(&owned_values, &types[random.below(types.len())]);
                assert!(assigned.insert(black), "seed {seed}, operation {at}: {black:?} was given before");
                held.push(black);
            }
            500..800 if !held.is_empty() => {
                let black = held.swap_remove(random.below(held.len()));
                owned_values.dispose(black);
                stale.push(black);
            }
            800..900 if !held.is_empty() => {
                let black = held.swap_remove(random.below(held.len()));
                owned_values.drops.leave(black);
                sent.push(black);
            }
            900..950 if !stale.is_empty() => owned_values.dispose(stale[random.below(stale.len())]),
            950..990 => {
                owned_values.flush_all();
                stale.append(&mut sent);
            }
            990..994 if !held.is_empty() => {
                let threads = 1 + random.below(8);
                let share: Vec<_> = held.split_off(held.len() - held.len().min(64));
                drop_on_threads(&owned_values, &share, threads);
                sent.extend(share);
            }
            994..998 => {
                module.gate.close();
                assert!(held.iter().all(|black| !lives(&owned_values, *black)));
                module.gate.reopen();
            }
            998.. => {
                module.end(&owned_values);
                stale.append(&mut held);
                stale.append(&mut sent);
                owned_values.forget(&[module.id]);
                module = Module::admit(&owned_values, next);
                next += 1;
            }
            _ => {}
        }
        if at % 1000 == 0 {
            let wrong = held.iter().filter(|black| !lives(&owned_values, **black)).count()
                + stale.iter().filter(|black| lives(&owned_values, **black)).count();
            assert_eq!(wrong, 0, "seed {seed}, operation {at}");
            assert_eq!(owned_values.report().count(), (held.len() + sent.len()) as u64, "seed {seed}, operation {at}");
        }
    }
    module.end(&owned_values);
    assert_eq!((owned_values.report().count(), owned_values.report().queued), (0, 0));
    assert_eq!(owned_values.report().made, owned_values.report().released);
    assert!(assigned.iter().all(|black| !lives(&owned_values, *black)), "seed {seed}: a stale handle leads somewhere");
    assert_eq!(module.leases.count(), 0);
}

#[test]
fn random_lifetimes_return_all_counts_to_zero() {
    for seed in [1, 77, 4_242] {
        drive(seed, 30_000, u32::MAX);
    }
}

#[test]
fn with_eight_bits_of_serial_no_handle_is_ever_another_black() {
    drive(9, 200_000, u32::from(u8::MAX));
}
