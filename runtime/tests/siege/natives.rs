//! Classes of the host whose code does what nobody expects.
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use alcedo_runtime::kinds::{PropertyKind, class_flags, function_flags};
use alcedo_runtime::native::{
    Delegate, FunctionHandle, MulticastDelegate, NativeClass, NativeEnum, NativeStruct, Natives, Obj, PropertyHandle,
    This, uclass, udelegate, uenum, ustruct,
};
use alcedo_runtime::thunk::{
    AnyArray, AnyMap, AnySet, AnyStruct, AnyValue, ArrayWildcard, array, array_ref, keyed, keyed_mut,
};
use alcedo_runtime::{Budget, CallError, Frame, ObjectHandle, Runtime, Value, World, natives};

use crate::host::{HOST, siege};
use crate::{Rng, env, short, support};

const OBJECT: &str = "/Script/Core.Object";

thread_local! {
    static HOW: Cell<u32> = const { Cell::new(0) };
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static LAST: Cell<ObjectHandle> = const { Cell::new(ObjectHandle::NONE) };
}

fn act(place: &str) {
    let how = HOW.get();
    if how == 0 || DEPTH.get() > 2 {
        return;
    }
    let Ok(Some(host)) = HOST.try_with(|it| it.try_borrow().ok().and_then(|it| it.clone())) else { return };
    DEPTH.set(DEPTH.get() + 1);
    let said = match how {
        1 => format!("{:?}", host.objects().spawn("/Script/Test.Holder").map_err(|e| e.to_string())),
        2 => {
            let all = host.objects().all();
            for it in all.iter().rev().take(3) {
                host.objects().destroy(*it);
            }
            format!("{} destroyed", all.len().min(3))
        }
        3 => format!("{:?}", host.collection().collect().map_err(|e| e.to_string())),
        4 => {
            host.collection().begin_in_slices();
            host.tick(Budget::frame());
            String::new()
        }
        5 => format!("{:?}", host.reload(&[siege()]).map(|it| it.is_committed()).map_err(|e| e.to_string())),
        6 => format!("{:?}", host.unload_master().map(|_| ()).map_err(|e| e.to_string())),
        7 if place != "references" => {
            format!("{:?}", host.objects().set(LAST.get(), "friends", &Value::Array(vec![])).map_err(|e| e.to_string()))
        }
        8 => format!("{:?}", host.objects().call(LAST.get(), "grow", &[]).map_err(|e| e.to_string())),
        9 => format!("{:?}", host.clone().shutdown().left),
        10 => {
            DEPTH.set(DEPTH.get() - 1);
            panic!("here {place}")
        }
        11 => {
            let folder = tempfile::tempdir().expect("a folder");
            let world = folder.path().join("w");
            let saved = host.worlds().save(&world).map_err(|e| e.to_string());
            format!("{saved:?} {:?}", host.worlds().load(&world).map(|it| it.objects).map_err(|e| e.to_string()))
        }
        12 if place != "references" => {
            format!("{:?}", host.objects().rename(LAST.get(), "Renamed", ObjectHandle::NONE).map_err(|e| e.to_string()))
        }
        13 => {
            drop(HOST.take());
            "the last handle".into()
        }
        _ => String::new(),
    };
    DEPTH.set(DEPTH.get() - 1);
    eprintln!("    in {place}: {}", short(said));
}

struct Busy(&'static str, Vec<u64>);
impl Default for Busy {
    fn default() -> Self {
        Self("field", vec![7; 32])
    }
}
impl Drop for Busy {
    fn drop(&mut self) {
        act("drop of a field");
        assert!(self.1.iter().all(|it| *it == 7));
    }
}

/// A parcel.
#[ustruct(package = "Test")]
#[derive(Clone)]
pub struct Parcel {
    #[uproperty(default = "to all")]
    label: String,
    friends: Vec<Obj<Holder>>,
    by: HashMap<String, Obj<Holder>>,
    mood: Mood,
}

/// A mood.
#[uenum(package = "Test")]
#[repr(u8)]
#[derive(Default)]
pub enum Mood {
    #[default]
    Calm,
    Angry,
}

/// Was told.
#[udelegate(multicast, package = "Test")]
pub type OnTold = fn(times: u32, by: Obj<Holder>);

/// Holds a lot.
#[uclass(package = "Test", blueprintable)]
pub struct Holder {
    #[uproperty]
    friends: Vec<Obj<Holder>>,
    #[uproperty]
    parcels: Vec<Parcel>,
    #[uproperty]
    parcel: Parcel,
    #[uproperty]
    maybe: Option<Obj<Holder>>,
    #[uproperty]
    names: HashSet<String>,
    #[uproperty]
    on_told: OnTold,
    #[uproperty]
    rule: Delegate<fn(u32) -> u32>,
    busy: Busy,
    words: Vec<u64>,
    hidden: Vec<ObjectHandle>,
}

#[uclass]
impl Holder {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        act("red constructor");
        Self { busy: Busy::default(), words: vec![7; 32], hidden: Vec::new() }
    }
    #[class_constructor]
    fn construct(&mut self, _this: This<Self>) {
        act("class constructor");
    }
    #[post_init_properties]
    fn ready(&mut self, _this: This<Self>) {
        act("post init");
    }
    #[begin_destroy]
    fn ends(&mut self) {
        act("begin destroy");
        self.words.clear();
    }
    #[add_references]
    fn references(&self, visit: &mut dyn FnMut(ObjectHandle)) {
        act("references");
        for it in &self.hidden {
            visit(*it);
        }
        visit(ObjectHandle(u64::MAX));
        visit(ObjectHandle::NONE);
    }
    #[ufunction(blueprint_callable)]
    fn grow(&mut self, this: This<Self>) -> u64 {
        let words = &mut self.words;
        words.push(7);
        let mut parcel = this.parcel();
        parcel.friends.push(this.as_obj());
        parcel.by.insert("me".into(), this.as_obj());
        this.set_parcel(parcel.clone());
        let mut all = this.parcels();
        all.push(parcel);
        this.set_parcels(all);
        act("grow");
        words.push(7);
        words.iter().sum()
    }
    #[ufunction(blueprint_callable)]
    fn told(&mut self, this: This<Self>, times: u32, by: Obj<Holder>) {
        self.words.push(u64::from(times));
        if times == 2 {
            this.on_told().clear();
        }
        if times == 3 {
            this.lend(self, |this| {
                let _ = this.on_told().try_broadcast((4, by));
            });
        }
        if times == 5 {
            let host = HOST.with_borrow(Clone::clone);
            if let Some(host) = host {
                host.objects().destroy(this.handle());
                host.objects().destroy(by.handle());
            }
        }
        act("told");
        self.words.push(9);
    }
    #[ufunction(blueprint_callable)]
    fn asked(&mut self, times: u32) -> u32 {
        act("asked");
        times + self.words.len() as u32
    }
    #[ufunction(blueprint_callable)]
    fn tell(&mut self, this: This<Self>, times: u32) -> String {
        let told = this.lend(self, |this| this.on_told().try_broadcast((times, this.as_obj())));
        let ruled = this.lend(self, |this| this.rule().call((times,)));
        format!("{:?} {:?} {}", told.map_err(|e| e.to_string()), ruled.map_err(|e| e.to_string()), self.words.len())
    }
}

fn host() -> Runtime {
    let host =
        support::builder().package("Test").natives(natives![Mood, Parcel, OnTold, Holder]).build().expect("a host");
    host.create_master(&[siege()]).expect("a master");
    HOST.set(Some(host.clone()));
    host
}

#[test]
fn n01_native_code_that_acts_everywhere() {
    let which = env("HOW", 99) as u32;
    for how in (1..14).filter(|it| which == 99 || *it == which) {
        HOW.set(0);
        let host = host();
        let born: Vec<_> = (0..6).map(|_| host.objects().spawn("/Script/Test.Holder").expect("born")).collect();
        for (at, it) in born.iter().enumerate() {
            let next = born[(at + 1) % 6];
            host.objects()
                .set(*it, "friends", &Value::Array(born.iter().map(|it| Value::Object(*it)).collect()))
                .expect("set");
            host.links().bind(*it, "on_told", next, "told").expect("bound");
            host.links().bind(*it, "on_told", *it, "told").expect("bound");
            host.links().bind(*it, "rule", next, "asked").expect("bound");
            host.objects().call(*it, "grow", &[]).expect("grown");
        }
        LAST.set(born[5]);
        HOW.set(how);
        eprintln!("how {how}");
        let steps: [(&str, &dyn Fn() -> String); 10] = [
            ("spawn", &|| format!("{:?}", host.objects().spawn("/Script/Test.Holder").map_err(|e| e.to_string()))),
            ("grow", &|| format!("{:?}", host.objects().call(born[0], "grow", &[]).map_err(|e| e.to_string()))),
            ("tell 1", &|| {
                format!("{:?}", host.objects().call(born[0], "tell", &[Value::U32(1)]).map_err(|e| e.to_string()))
            }),
            ("tell 3", &|| {
                format!("{:?}", host.objects().call(born[1], "tell", &[Value::U32(3)]).map_err(|e| e.to_string()))
            }),
            ("tell 2", &|| {
                format!("{:?}", host.objects().call(born[2], "tell", &[Value::U32(2)]).map_err(|e| e.to_string()))
            }),
            ("tell 5", &|| {
                format!("{:?}", host.objects().call(born[3], "tell", &[Value::U32(5)]).map_err(|e| e.to_string()))
            }),
            ("collect", &|| format!("{:?}", host.collection().collect().map_err(|e| e.to_string()))),
            ("slices", &|| {
                host.collection().begin_in_slices();
                for _ in 0..5 {
                    host.tick(Budget::frame().with_collection(Duration::from_nanos(1)));
                }
                String::new()
            }),
            ("destroy", &|| {
                host.objects().destroy(born[4]);
                host.safe_point();
                String::new()
            }),
            ("reload", &|| {
                format!("{:?}", host.reload(&[siege()]).map(|it| it.is_committed()).map_err(|e| e.to_string()))
            }),
        ];
        for (name, step) in steps {
            let said = catch_unwind(AssertUnwindSafe(step));
            eprintln!(
                "  {name}: {}",
                match said {
                    Ok(said) => short(said),
                    Err(_) => "PANIC".to_owned(),
                }
            );
        }
        HOW.set(0);
        let ended = how == 9;
        HOST.set(None);
        if !ended {
            let other = host.objects().spawn("/Script/Test.Holder").expect("born");
            assert!(
                matches!(host.objects().call(other, "grow", &[]), Ok(Some(Value::U64(238)))),
                "{:?}",
                host.objects().call(other, "grow", &[])
            );
            host.collection().collect().expect("collected");
            if host.modules().is_empty() {
                host.create_master(&[siege()]).expect("made");
            }
            assert!(host.reload(&[siege()]).expect("reloaded").is_committed());
        }
        HOW.set(if how == 9 || how == 13 { 0 } else { how });
        HOST.set(Some(host.clone()));
        let left = catch_unwind(AssertUnwindSafe(|| host.shutdown().left));
        HOST.set(None);
        eprintln!("  end {left:?}");
    }
}

/// Handles of one declaration, used in another runtime in which the same class lies elsewhere.
#[test]
fn n02_handles_of_another_runtime() {
    let mut lamp = NativeClass::new("Test", "Lamp", OBJECT).flags(class_flags::BLUEPRINTABLE);
    let a: PropertyHandle<u64> = lamp.add_property("a", 0, "1");
    let b: PropertyHandle<u64> = lamp.add_property("b", 0, "2");
    let c: PropertyHandle<String> = lamp.add_property("c", 0, "three");
    let any = lamp.add_any_property("d", (PropertyKind::ARRAY, "Array(u64)"), 0, "");
    let twice: FunctionHandle<(u64,), u64> = {
        let a = a.clone();
        lamp.add_function("twice", &["by"], function_flags::CALLABLE, move |world, lamp, (by,): (u64,)| {
            Ok(a.get(world, lamp)? * by)
        })
    };
    let one =
        support::builder().package("Test").natives(Natives::in_package("Test").class(lamp)).build().expect("a host");
    let mut other = NativeClass::new("Test", "Lamp", OBJECT).flags(class_flags::BLUEPRINTABLE);
    let _x: PropertyHandle<String> =
        other.add_property("c0", 0, "a text that is long enough to have a block of its own");
    let _b: PropertyHandle<String> =
        other.add_property("a", 0, "a text that is long enough to have a block of its own");
    let _c: PropertyHandle<u64> = other.add_property("c", 0, "5");
    let _d: PropertyHandle<String> =
        other.add_property("b", 0, "another text that is long enough to have a block of its own");
    let _e: PropertyHandle<u64> = other.add_property("d", 0, "6");
    let _twice =
        other.add_function("twice", &["by"], function_flags::CALLABLE, |_world, _lamp, (by,): (String,)| Ok(by));
    let two =
        support::builder().package("Test").natives(Natives::in_package("Test").class(other)).build().expect("a host");
    let (here, there) = (
        one.objects().spawn("/Script/Test.Lamp").expect("born"),
        two.objects().spawn("/Script/Test.Lamp").expect("born"),
    );
    eprintln!("{here} {there}");
    for round in 0..3 {
        eprintln!(
            "here {:?} {:?} {:?} {:?}",
            a.get(one.world(), here),
            b.get(one.world(), here),
            c.get(one.world(), here),
            twice.call(one.world(), here, (2,))
        );
        eprintln!(
            "there {:?} {:?} {:?} {:?}",
            a.get(two.world(), there).map_err(|e| e.to_string()),
            b.get(two.world(), there).map_err(|e| e.to_string()),
            c.get(two.world(), there).map_err(|e| e.to_string()),
            twice.call(two.world(), there, (2,)).map_err(|e| e.to_string())
        );
        eprintln!(
            "there any {:?} {:?}",
            any.read(two.world(), there).map_err(|e| e.to_string()),
            any.write(two.world(), there, &Value::Array(vec![Value::U64(1)])).map_err(|e| e.to_string())
        );
        eprintln!(
            "there set {:?} {:?} {:?}",
            a.set(two.world(), there, 0x4141).map_err(|e| e.to_string()),
            b.set(two.world(), there, 0x4141).map_err(|e| e.to_string()),
            c.set(two.world(), there, "x".repeat(100)).map_err(|e| e.to_string())
        );
        for name in ["a", "b", "c", "c0", "d"] {
            eprintln!("   {name} {:?}", two.objects().get(there, name));
        }
        if round == 1 {
            for at in 0..50 {
                let it = two.objects().spawn("/Script/Test.Lamp").expect("born");
                assert!(a.get(two.world(), it).is_err());
                let _s = b.set(two.world(), it, at);
            }
        }
    }
    // A subclass by a script of another layout.
    one.shutdown();
    eprintln!(
        "the first is gone: {:?} {:?}",
        a.get(two.world(), there).map_err(|e| e.to_string()),
        twice.call(two.world(), there, (1,)).map_err(|e| e.to_string())
    );
    two.shutdown();
}

fn random_frame(frame: &mut Frame<'_>) -> Result<(), CallError> {
    let seed = SEED.get();
    SEED.set(seed + 1);
    let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut params = Vec::new();
    for _ in 0..3 + rng.below(12) {
        let done = match rng.below(30) {
            0 => frame.take::<i32>().map(drop),
            1 => frame.take::<ObjectHandle>().map(drop),
            2 => frame.take::<f64>().map(drop),
            3 => frame.take_value().map(drop),
            4 => frame.step(),
            5 => frame.step_compiled_in::<AnyArray>().map(|it| params.push(it)),
            6 => frame.step_compiled_in::<AnyValue>().map(|it| params.push(it)),
            7 => frame.step_compiled_in_ref::<AnyArray>().map(|it| params.push(it)),
            8 | 9 => frame.step_compiled_in_ref::<AnyValue>().map(|it| params.push(it)),
            10 => frame.step_compiled_in::<AnyMap>().map(|it| params.push(it)),
            11..=13 => frame.finish(),
            14 => frame.give_result(5_i32),
            15 => frame.give_result("text".to_owned()),
            16 => frame.give_value(&Value::Array(vec![Value::Text("x".into())])),
            17 => frame.give_out(rng.below(4), &Value::Array(vec![Value::I32(9); 100])),
            18 => frame.give_out_as(rng.below(4), 5_i32),
            19 => frame
                .result_mut()
                .and_then(|it| it.write(&Value::Text("y".repeat(100))).map_err(|e| CallError::other("wrong"))),
            20 => {
                frame.most_recent_value().map(|it| it.read());
                Ok(())
            }
            21 if !params.is_empty() => {
                let param = *rng.of(&params);
                frame.value(param).read();
                Ok(())
            }
            22 if !params.is_empty() => {
                let param = *rng.of(&params);
                frame.value_mut(param).map(|it| {
                    if let Some(mut rows) = array(it) {
                        let len = rows.len();
                        let (at, remove, insert) =
                            (rng.below(8) as u32, rng.below(8) as u32, *rng.of(&[0, 1, 5, 1000, u32::MAX]));
                        let _s = rows.splice(at, remove, insert);
                        let _w = rows.swap(at, remove);
                        let _r = rows.reserve(*rng.of(&[0, 10, u32::MAX]));
                        let _g = rows.get_mut(at).map(|it| it.write(&Value::I32(1)).is_ok());
                    }
                })
            }
            23 if params.len() > 1 => {
                let (one, two) = (*rng.of(&params), *rng.of(&params));
                frame.value_mut_and(one, two).map(|(to, from)| {
                    if to.as_ptr().ty() == from.ty() || rng.one_in(2) {
                        if to.as_ptr().ty() == from.ty() {
                            to.copy_from(from)
                        } else {
                            let _w = to.write(&from.read());
                        }
                    }
                })
            }
            24 if !params.is_empty() => {
                let param = *rng.of(&params);
                frame.value_mut(param).map(|it| it.destroy())
            }
            25 if !params.is_empty() => {
                let param = *rng.of(&params);
                frame.result_mut_and(param).map(|(to, from)| {
                    let _w = to.write(&from.read());
                })
            }
            26 if !params.is_empty() => {
                let param = *rng.of(&params);
                frame.value_mut(param).map(|it| {
                    if let Some(mut map) = keyed_mut(it) {
                        map.clear();
                    }
                })
            }
            27 if !params.is_empty() => {
                let param = *rng.of(&params);
                frame.value_mut(param).map(|it| it.map_objects(&mut |_| ObjectHandle(rng.next())))
            }
            28 => {
                frame.is_balanced();
                Ok(())
            }
            _ => {
                let _there = frame.most_recent_property().is_some();
                Ok(())
            }
        };
        if done.is_err() && rng.one_in(3) {
            return done;
        }
    }
    if rng.one_in(5) {
        panic!("in a frame")
    }
    Ok(())
}

thread_local! { static SEED: Cell<u64> = const { Cell::new(1) }; }

/// Frames that are used at random, in calls by scripts, by values and by types.
#[test]
fn n03_frames_that_are_used_at_random() {
    let flags = function_flags::CALLABLE;
    let class = NativeClass::new("Test", "Odd", OBJECT)
        .flags(class_flags::BLUEPRINTABLE)
        .property("numbers", (PropertyKind::ARRAY, "i32"), 0, "")
        .function(
            "plain",
            &[
                ("a", (PropertyKind::I32, "")),
                ("t", (PropertyKind::STRING, "")),
                ("list", (PropertyKind::ARRAY, "i32")),
                ("o", (PropertyKind::OBJECT, OBJECT)),
            ],
            Some((PropertyKind::STRING, "")),
            flags,
            |_world, frame| random_frame(frame),
        )
        .function("nothing", &[], None, flags, |_world, frame| random_frame(frame))
        .function(
            "list",
            &[("m", (PropertyKind::MAP, "String, Array(i32)")), ("s", (PropertyKind::SET, "String"))],
            Some((PropertyKind::ARRAY, "String")),
            flags,
            |_world, frame| random_frame(frame),
        );
    let package = tempfile::tempdir().expect("a folder");
    let folder = package.path().join("Tale");
    std::fs::create_dir(&folder).expect("made");
    std::fs::write(folder.join("Foe.uc"), "class Foe extends Odd;\nvar array<int> Mine;\nvar map< string, array<int> > M;\nvar set<string> S;\nvar string T;\nvar array< array<int> > Rows;\nfunction string Go() { local array<int> L; local string R; L.Length = 5; Mine.Length = 3; Rows.Length = 2; T = \"a text that has a block of its own\"; R = plain(3, T, Mine, self); R = R $ plain(L[0], R, L, self); R = R $ plain(Mine[1], T, Rows[1], self); nothing(); return R $ list(M, S).Length; }\n").expect("written");
    let host = support::builder()
        .package("Test")
        .package("Tale")
        .natives(Natives::in_package("Test").class(class))
        .build()
        .expect("a host");
    host.create_master(&[siege(), folder]).unwrap_or_else(|e| panic!("{e}"));
    let (odd, foe) = (
        host.objects().spawn("/Script/Test.Odd").expect("born"),
        host.objects().spawn("/Script/Tale.Foe").expect("born"),
    );
    let until = std::time::Instant::now() + Duration::from_secs(env("SECS", 20));
    SEED.set(env("SEED", 1));
    let mut told = std::collections::BTreeMap::<String, u32>::new();
    let mut rounds = 0;
    while std::time::Instant::now() < until {
        rounds += 1;
        for (what, said) in [
            (
                "Go",
                catch_unwind(AssertUnwindSafe(|| {
                    host.objects().call(foe, "Go", &[]).map(drop).map_err(|e| e.to_string())
                })),
            ),
            (
                "plain",
                catch_unwind(AssertUnwindSafe(|| {
                    host.objects()
                        .call(
                            odd,
                            "plain",
                            &[
                                Value::I32(1),
                                Value::Text("a text that has a block of its own".into()),
                                Value::Array(vec![Value::I32(1); 20]),
                                Value::Object(odd),
                            ],
                        )
                        .map(drop)
                        .map_err(|e| e.to_string())
                })),
            ),
            (
                "list",
                catch_unwind(AssertUnwindSafe(|| {
                    host.objects()
                        .call(
                            odd,
                            "list",
                            &[
                                Value::Map(vec![(Value::Text("k".into()), Value::Array(vec![Value::I32(4)]))]),
                                Value::Set(vec![Value::Text("one".into())]),
                            ],
                        )
                        .map(drop)
                        .map_err(|e| e.to_string())
                })),
            ),
            (
                "none",
                catch_unwind(AssertUnwindSafe(|| {
                    host.objects().call(odd, "nothing", &[]).map(drop).map_err(|e| e.to_string())
                })),
            ),
        ] {
            let said = match said {
                Ok(said) => format!("{what} {said:?}"),
                Err(_) => {
                    format!("{what} PANIC seed {}", SEED.get())
                }
            };
            let key: String = said.chars().take(160).collect();
            *told.entry(key).or_default() += 1;
        }
        if rounds % 500 == 0 {
            host.collection().collect().expect("collected");
        }
    }
    eprintln!("{rounds} rounds, {} kinds of answers, seed {}", told.len(), SEED.get());
    for (said, count) in told.iter().filter(|it| it.0.contains("PANIC") || it.0.contains("internal")).take(20) {
        eprintln!("{count} {said}");
    }
    drop(host.worlds().digest());
    host.shutdown();
}

/// Declarations that make no sense.
#[test]
fn n04_declarations_that_make_no_sense() {
    let class = |name: &str| NativeClass::new("Test", name, OBJECT);
    let u64_ = (PropertyKind::U64, "");
    let many = |n: usize| (0..n).fold(class("Many"), |it, at| it.property(&format!("p{at}"), u64_, 0, "5"));
    let cases: Vec<(&str, Box<dyn Fn() -> Natives>)> = vec![
        ("own base", Box::new(|| Natives::in_package("Test").class(NativeClass::new("Test", "A", "/Script/Test.A")))),
        (
            "ring",
            Box::new(|| {
                Natives::in_package("Test")
                    .class(NativeClass::new("Test", "A", "/Script/Test.B"))
                    .class(NativeClass::new("Test", "B", "/Script/Test.A"))
            }),
        ),
        ("twice", Box::new(move || Natives::in_package("Test").class(class("A")).class(class("A")))),
        (
            "property twice",
            Box::new(move || {
                Natives::in_package("Test").class(class("A").property("x", u64_, 0, "").property(
                    "x",
                    (PropertyKind::STRING, ""),
                    0,
                    "",
                ))
            }),
        ),
        (
            "property of base",
            Box::new(move || {
                Natives::in_package("Test").class(class("A").property("x", u64_, 0, "")).class(
                    NativeClass::new("Test", "B", "/Script/Test.A").property("x", (PropertyKind::STRING, ""), 0, ""),
                )
            }),
        ),
        (
            "no type",
            Box::new(move || {
                Natives::in_package("Test").class(class("A").property(
                    "x",
                    (PropertyKind::STRUCT, "/Script/Test.None"),
                    0,
                    "",
                ))
            }),
        ),
        (
            "array of nothing",
            Box::new(move || {
                Natives::in_package("Test").class(class("A").property("x", (PropertyKind::ARRAY, ""), 0, ""))
            }),
        ),
        (
            "kind and words",
            Box::new(move || {
                Natives::in_package("Test").class(
                    class("A")
                        .property("x", (PropertyKind::U64, "Array(String)"), 0, "")
                        .property("y", (PropertyKind::ARRAY, "u64"), 0, "")
                        .property("z", (PropertyKind::MAP, "Set(u64)"), 0, ""),
                )
            }),
        ),
        (
            "defaults",
            Box::new(move || {
                Natives::in_package("Test").class(
                    class("A")
                        .property("x", u64_, 0, "-1")
                        .property("y", (PropertyKind::STRING, ""), 0, "\"")
                        .property("z", (PropertyKind::F64, ""), 0, "nan"),
                )
            }),
        ),
        (
            "names",
            Box::new(move || {
                Natives::in_package("Test")
                    .class(class(""))
                    .class(class("a b"))
                    .class(class("\0"))
                    .class(class("é"))
                    .class(class("A.B"))
                    .class(class("A:B"))
                    .class(class(&"x".repeat(100_000)))
            }),
        ),
        (
            "package",
            Box::new(move || {
                Natives::in_package("")
                    .class(NativeClass::new("", "A", OBJECT))
                    .class(NativeClass::new("Te/st", "A", OBJECT))
            }),
        ),
        ("many", Box::new(move || Natives::in_package("Test").class(many(20_000)))),
        (
            "struct of itself",
            Box::new(|| {
                Natives::in_package("Test")
                    .structure(NativeStruct::new("Test", "S").field("s", (PropertyKind::STRUCT, "/Script/Test.S")))
            }),
        ),
        (
            "struct of rows of itself",
            Box::new(|| {
                Natives::in_package("Test").structure(
                    NativeStruct::new("Test", "S").field("s", (PropertyKind::ARRAY, "Array(/Script/Test.S)")),
                )
            }),
        ),
        (
            "structs of each other",
            Box::new(|| {
                Natives::in_package("Test")
                    .structure(NativeStruct::new("Test", "S").field("s", (PropertyKind::STRUCT, "/Script/Test.T")))
                    .structure(
                        NativeStruct::new("Test", "T").field("s", (PropertyKind::OPTIONAL, "Optional(/Script/Test.S)")),
                    )
            }),
        ),
        (
            "doubling",
            Box::new(|| {
                (1..64).fold(
                    Natives::in_package("Test").structure(
                        NativeStruct::new("Test", "S0")
                            .field("a", (PropertyKind::U64, ""))
                            .field("b", (PropertyKind::U64, "")),
                    ),
                    |it, at| {
                        let of: &'static str = Box::leak(format!("/Script/Test.S{}", at - 1).into_boxed_str());
                        it.structure(
                            NativeStruct::new("Test", &format!("S{at}"))
                                .field("a", (PropertyKind::STRUCT, of))
                                .field("b", (PropertyKind::STRUCT, of)),
                        )
                    },
                )
            }),
        ),
        (
            "struct base ring",
            Box::new(|| {
                Natives::in_package("Test")
                    .structure(NativeStruct::new("Test", "S").extends("/Script/Test.T"))
                    .structure(NativeStruct::new("Test", "T").extends("/Script/Test.S"))
            }),
        ),
        (
            "enum of nothing",
            Box::new(|| Natives::in_package("Test").enumeration(NativeEnum::new("Test", "E", PropertyKind::U8))),
        ),
        (
            "enum without zero",
            Box::new(|| {
                Natives::in_package("Test")
                    .enumeration(NativeEnum::new("Test", "E", PropertyKind::U8).entry("A", 300).entry("A", -1))
            }),
        ),
        (
            "enum of texts",
            Box::new(|| {
                Natives::in_package("Test")
                    .enumeration(NativeEnum::new("Test", "E", PropertyKind::STRING).entry("A", 0))
            }),
        ),
        (
            "function twice",
            Box::new(move || {
                Natives::in_package("Test").class(
                    class("A").function("f", &[("a", u64_), ("a", u64_)], None, 0, |_, f| f.finish()).function(
                        "f",
                        &[],
                        Some(u64_),
                        0,
                        |_, f| f.finish(),
                    ),
                )
            }),
        ),
        (
            "many params",
            Box::new(move || {
                let names: Vec<String> = (0..5000).map(|at| format!("p{at}")).collect();
                let params: Vec<(&str, _)> = names.iter().map(|it| (it.as_str(), u64_)).collect();
                Natives::in_package("Test").class(class("A").function(
                    "f",
                    &params,
                    Some(u64_),
                    function_flags::CALLABLE,
                    |_, f| f.finish(),
                ))
            }),
        ),
        (
            "subclass of an actor",
            Box::new(|| Natives::in_package("Test").class(NativeClass::new("Test", "A", "/Script/Engine.Nothing"))),
        ),
        (
            "same as the engine's",
            Box::new(|| Natives::in_package("Engine").class(NativeClass::new("Engine", "Actor", OBJECT))),
        ),
        ("core", Box::new(|| Natives::in_package("Core").class(NativeClass::new("Core", "Object", "")))),
    ];
    for (name, natives) in cases {
        let began = std::time::Instant::now();
        let built = catch_unwind(AssertUnwindSafe(|| support::builder().package("Test").natives(natives()).build()));
        match built {
            Err(_) => eprintln!("{name}: PANIC"),
            Ok(Err(error)) => eprintln!("{name}: refused: {}", short(error.to_string())),
            Ok(Ok(host)) => {
                let used = catch_unwind(AssertUnwindSafe(|| {
                    for class in ["A", "B", "Many"] {
                        if let Ok(it) = host.objects().spawn(&format!("/Script/Test.{class}")) {
                            for property in host.objects().properties_of(it) {
                                let got = host.objects().get(it, &property).expect("there");
                                host.objects().set(it, &property, &got).expect("set");
                            }
                            eprintln!(
                                "   {class}.f {:?}",
                                host.objects().call(it, "f", &[]).map_err(|e| short(e.to_string()))
                            );
                            let _c = host.conjugates().make("Struct(/Script/Test.S)", &Value::Struct(vec![]));
                        }
                    }
                    host.collection().collect().expect("collected");
                    drop(host.worlds().digest());
                    host.shutdown();
                }));
                eprintln!("{name}: built, used {} in {:?}", used.is_ok(), began.elapsed());
            }
        }
    }
}
