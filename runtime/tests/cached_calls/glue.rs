//! Tests the call caches of host glue and of accessors of native classes. A cache is valid for one host and one epoch. Calls alternate
//! between two hosts. Between the calls, modules are loaded, unloaded and replaced by another build, and objects are destroyed.

use alcedo_runtime::host::{DynamicFunctionOf, FunctionOf, PropertyOf};
use alcedo_runtime::native::{Obj, Object, This, uclass};
use alcedo_runtime::zcall::Observed;
use alcedo_runtime::{Budget, ObjectHandle, Runtime, Value, natives};

use super::{COLT, HORSE, PONY, host, libraries, reload, spawn};
use crate::support;

alcedo_runtime::host_class! {
    /// Horse that turns.
    pub Horse: Object = "/Script/Game.Horse", members HorseMembers, extends [Horse];
    properties {
        speed / set_speed "speed": f64;
        mood / set_mood "mood": i32;
        wants / set_wants "wants": bool;
        other / set_other "other": Obj<Horse>;
    }
    values {}
    delegates {}
    functions {
        degrees "degrees"() -> f64;
        add "add"(left: i32, right: i32) -> i32;
        answer "answer"(number: i32) -> i32;
        round "round"() -> i32;
        lend "lend"() -> ();
    }
    dynamic { add_dynamic "add"; }
}

fn horse(host: &Runtime, class: &str) -> Obj<Horse> {
    Obj::new(spawn(host, class))
}

fn formatted<T: std::fmt::Debug>(result: Result<T, alcedo_runtime::Error>) -> String {
    result.map_or_else(|error| error.to_string(), |value| format!("{value:?}"))
}

/// Uses each member of the object twice, because the second use takes the cached path. Returns the formatted results.
fn answers_of(host: &Runtime, horse: Obj<Horse>) -> Vec<String> {
    let once = || {
        vec![
            formatted(horse.answer(host, 7)),
            formatted(horse.add(host, 20, 22)),
            formatted(horse.set_mood(host, 0)),
            formatted(horse.mood(host)),
            formatted(horse.set_speed(host, 4.5)),
            formatted(horse.speed(host)),
            formatted(horse.set_wants(host, true)),
            formatted(horse.wants(host)),
            formatted(horse.set_other(host, horse)),
            formatted(horse.other(host).map(|other| other == horse)),
            formatted(horse.round(host)),
            formatted(horse.add_dynamic(host, &[Value::I32(20), Value::I32(22)])),
        ]
    };
    let (first, second) = (once(), once());
    assert_eq!(first, second);
    second
}

fn of_build(build: i32, answer: i32) -> Vec<String> {
    let (answer, round) = ((build * 1000 + answer).to_string(), (build * 100).to_string());
    let rest = ["42", "()", "0", "()", "4.5", "()", "true", "()", "true"].map(str::to_owned);
    [answer].into_iter().chain(rest).chain([round, "Some(I32(42))".to_owned()]).collect()
}

#[test]
fn glue_works_in_two_hosts_across_reloads_and_unloads() {
    let hosts = [host(), host()];
    let horses = [(HORSE, 7), (PONY, 7), (COLT, 507)];
    let spawned = [&hosts[0], &hosts[1]].map(|host| horses.map(|(class, answer)| (horse(host, class), answer)));
    let mut builds = [1, 1];
    for (changed, build) in [(0, 1), (1, 2), (0, 2), (0, 13), (1, 1), (1, 13), (0, 1)] {
        match (build == builds[changed], build) {
            (true, _) => {}
            (_, 13) => drop(hosts[changed].reload(&libraries(13)).expect("a Master")),
            _ => {
                reload(&hosts[changed], build);
                builds[changed] = build;
            }
        }
        for (at, host) in hosts.iter().enumerate() {
            for (horse, answer) in spawned[at] {
                assert_eq!(answers_of(host, horse), of_build(builds[at] as i32, answer), "host {at}");
            }
        }
    }
    hosts[0].unload_master().expect("there is one");
    for line in answers_of(&hosts[0], spawned[0][0].0) {
        assert!(line.parse::<f64>().is_err() && !line.contains("Some") && line.len() > 5, "no call succeeds: {line}");
    }
    assert_eq!(answers_of(&hosts[1], spawned[1][2].0), of_build(1, 507));
}

#[test]
fn glue_rejects_stale_and_wrong_objects_and_reused_slots() {
    let host = host();
    let (first, actor) = (horse(&host, PONY), spawn(&host, "/Script/Engine.Actor"));
    assert_eq!(answers_of(&host, first), of_build(1, 7));
    host.objects().destroy(first.handle());
    assert!(answers_of(&host, first).iter().all(|line| line.contains("is gone")));
    host.tick(Budget::frame());
    let next = horse(&host, HORSE);
    assert_eq!(next.handle().index(), first.handle().index(), "it has the same slot");
    assert!(answers_of(&host, first).iter().all(|line| line.contains("is gone")));
    assert_eq!(answers_of(&host, next), of_build(1, 7));
    let wrong = answers_of(&host, Obj::new(actor));
    assert!(wrong.iter().all(|line| line.contains("Actor")), "{wrong:?}");
    next.set_mood(&host, 1).expect("written");
    for _ in 0..3 {
        let panicked = next.round(&host).expect_err("it panics").to_string();
        assert!(panicked.contains("throws its rider off"), "{panicked}");
    }
    next.set_mood(&host, 2).expect("written");
    next.set_other(&host, next).expect("written");
    assert_eq!(next.round(&host).expect("it was there when it began"), 102);
    assert!(next.round(&host).expect_err("it has ended itself").to_string().contains("is gone"));
}

#[test]
fn glue_calls_in_the_middle_of_a_call_of_glue() {
    let host = host();
    let [pony, other] = [PONY, PONY].map(|class| horse(&host, class));
    let query = move |host: &Runtime, (number,): (i32,)| {
        assert_eq!(other.add(host, 1, number).expect("it adds"), number + 1);
        assert_eq!(pony.mood(host).expect("read"), 4);
        assert!(pony.round(host).expect_err("its fields are in use").to_string().contains("holds it"));
        assert!(host.reload(&libraries(2)).is_err(), "code of the plugin is on the stack");
        number
    };
    host.calls().register_typed("host.query", query).expect("the name is free");
    pony.set_mood(&host, 4).expect("written");
    (0..3).for_each(|_| assert_eq!(pony.round(&host).expect("the call succeeds"), 104));
    host.calls().observe(Observed { counts: true, spans: false });
    assert_eq!(pony.add(&host, 1, 2).expect("it adds"), 3);
    let counted: Vec<_> = host.calls().times().into_iter().map(|times| (times.kind, times.calls)).collect();
    assert_eq!(counted, [("method".to_owned(), 1)]);
    host.calls().observe(Observed::default());
    assert_eq!(pony.add(&host, 1, 2).expect("it adds"), 3);
}

#[test]
fn a_member_used_with_several_types_never_confuses_them() {
    let host = host();
    let horse = spawn(&host, HORSE);
    let mood = PropertyOf::new("/Script/Game.Horse", "mood");
    for _ in 0..3 {
        mood.set(&host, horse, -1_i32).expect("it is an `i32`");
        assert_eq!(mood.get::<i32>(&host, horse).expect("it is an `i32`"), -1);
        assert!(mood.get::<u32>(&host, horse).is_err() && mood.get::<f32>(&host, horse).is_err());
        assert!(mood.set(&host, horse, 1_i64).is_err() && mood.set(&host, horse, true).is_err());
        assert!(mood.get::<bool>(&host, horse).is_err() && mood.get::<Obj<Object>>(&host, horse).is_err());
    }
    let right = FunctionOf::<(i32, i32), i32>::new("/Script/Game.Horse", "add");
    let wrong = FunctionOf::<(i32, f32), i32>::new("/Script/Game.Horse", "add");
    let fewer = FunctionOf::<(i32,), i32>::new("/Script/Game.Horse", "add");
    let values = DynamicFunctionOf::new("/Script/Game.Horse", "add");
    for _ in 0..3 {
        assert_eq!(right.call(&host, horse, (1, 2)).expect("it adds"), 3);
        assert!(wrong.call(&host, horse, (1, 2.0)).is_err() && fewer.call(&host, horse, (1,)).is_err());
        let sum = values.call(&host, horse, &[Value::I32(1), Value::I32(2)]).expect("it adds");
        assert_eq!(sum, Some(Value::I32(3)));
    }
}

/// Host class whose accessors are tested.
#[uclass(package = "Test", blueprintable)]
#[derive(Default)]
struct Gauge {
    #[uproperty(default = 3)]
    level: i32,
    #[uproperty]
    next: Obj<Gauge>,
}

#[uclass]
impl Gauge {
    #[ufunction]
    fn raise(&self, this: This<Self>, by: i32) -> i32 {
        this.set_level(this.level() + by);
        this.level()
    }
}

#[test]
fn native_accessors_use_the_object_of_the_passed_host() {
    let build = || support::builder().natives(natives![Gauge]).build().expect("a runtime");
    let hosts = [build(), build()];
    // The second host registers other classes first, so its number for the class differs from the first host's number.
    let gauges = hosts.each_ref().map(|host| -> Vec<Obj<Gauge>> {
        let spawn = |_| Obj::new(spawn(host, "/Script/Test.Gauge"));
        (0..3).map(spawn).collect()
    });
    for round in 1..=3 {
        for (host, gauges) in hosts.iter().zip(&gauges) {
            for gauge in gauges {
                let seen = host.objects().with(*gauge, |gauge: This<'_, Gauge>| {
                    gauge.set_next(gauge.as_obj());
                    (gauge.raise(10), gauge.level(), gauge.next() == gauge.as_obj())
                });
                assert_eq!(seen.expect("alive"), (3 + 10 * round, 3 + 10 * round, true));
            }
        }
    }
    let gauge = gauges[0][1];
    let destroyed = hosts[0].objects().with(gauge, |seen: This<'_, Gauge>| {
        assert_eq!(seen.level(), 33);
        hosts[0].objects().destroy(gauge.handle());
        (seen.try_set_level(1).is_err(), seen.try_raise(1).map_err(|error| error.to_string()))
    });
    let (is_refused, raised) = destroyed.expect("it was there");
    assert!(is_refused && raised.expect_err("it has ended").contains("is gone"));
}

#[test]
fn a_new_host_uses_no_cache_of_an_ended_host() {
    let mut last: Option<ObjectHandle> = None;
    for build in [1, 2, 1] {
        let host = support::host(&libraries(build));
        let pony = horse(&host, PONY);
        // Each iteration creates another host, and the pony has an equal handle in each of these hosts.
        assert_eq!(*last.get_or_insert(pony.handle()), pony.handle());
        assert_eq!(answers_of(&host, pony), of_build(build as i32, 7));
        drop(host.clone().shutdown());
        let after = answers_of(&host, pony);
        assert!(after.iter().all(|line| !line.contains("42")), "{after:?}");
    }
}
