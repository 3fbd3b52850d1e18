//! Tests calls through cached lookups: functions, methods, properties and batches by their Rust types. The host alternates between two
//! builds, and the result of a call shows which build was called. A call may be made after its object was destroyed, after its generation
//! ended, or during a reload. Its error then equals the error of the slow path, and no old code runs.
//!
//! This file contains the code that all these tests share: a host and its kept lookups.

mod arguments;
mod batches;
mod functions;
mod glue;
mod inside;
mod properties;
mod refusals;
mod reloads;

use std::path::PathBuf;
use std::rc::Rc;

use alcedo_runtime::host::{BatchFunction, TypedFunction, TypedProperty};
use alcedo_runtime::native::{Obj, Object};
use alcedo_runtime::{ObjectHandle, Runtime};

use crate::support;

const HORSE: &str = "/Script/Game.Horse";
const COLT: &str = "/Script/Game.Colt";
const PONY: &str = "/Script/Game.Pony";
const ROUND: &str = "uf:/Script/Game.Horse:round";

/// Returns the libraries of a build. The thirteenth build fails to load.
fn libraries(build: u64) -> Vec<PathBuf> {
    vec![support::tagged("carousel", &[], build)]
}

fn host() -> Runtime {
    support::host(&libraries(1))
}

fn reload(host: &Runtime, build: u64) {
    let report = host.reload(&libraries(build)).expect("a Master");
    report.into_result().unwrap_or_else(|report| panic!("{report}"));
}

fn spawn(host: &Runtime, class: &str) -> ObjectHandle {
    host.objects().spawn(class).unwrap_or_else(|error| panic!("{error}"))
}

fn obj(object: ObjectHandle) -> Obj<Object> {
    Obj::new(object)
}

/// Lookups that the host keeps across reloads.
struct Kept {
    tag: TypedFunction<(), i32>,
    query: TypedFunction<(i32,), i32>,
    answer: TypedFunction<(Obj<Object>, i32), i32>,
    add: TypedFunction<(Obj<Object>, i32, i32), i32>,
    round: TypedFunction<(Obj<Object>,), i32>,
    speed: TypedProperty<f64>,
    mood: TypedProperty<i32>,
    answers: BatchFunction<(i32,), i32>,
    rounds: BatchFunction<(), i32>,
}

impl Kept {
    fn of(host: &Runtime) -> Rc<Self> {
        Rc::new(Self {
            tag: host.function("nm:/carousel:Horse:build_tag").expect("it is there"),
            query: host.function("nm:/carousel:Horse:query").expect("it is there"),
            answer: host.function("uf:/Script/Game.Horse:answer").expect("it is there"),
            add: host.function("uf:/Script/Game.Horse:add").expect("it is there"),
            round: host.function(ROUND).expect("it is there"),
            speed: host.property("up:/Script/Game.Horse:speed").expect("it is there"),
            mood: host.property("up:/Script/Game.Horse:mood").expect("it is there"),
            answers: host.batch("uf:/Script/Game.Horse:answer").expect("it is there"),
            rounds: host.batch(ROUND).expect("it is there"),
        })
    }

    /// Uses each lookup on the object twice, because the second use takes the cached path. Returns the formatted results of the second use.
    fn answers(&self, horse: ObjectHandle) -> Vec<String> {
        let batch = || match self.answers.collect(&[horse], (7,)) {
            Ok((results, report)) => match report.failed.first() {
                Some((_, error)) => error.to_string(),
                None => format!("{results:?} {}", report.ended),
            },
            Err(error) => error.to_string(),
        };
        let once = || {
            vec![
                formatted(self.tag.call(())),
                formatted(self.answer.call((obj(horse), 7))),
                formatted(self.add.call((obj(horse), 20, 22))),
                formatted(self.speed.get(horse)),
                formatted(self.speed.set(horse, 4.5)),
                batch(),
            ]
        };
        let (first, second) = (once(), once());
        assert_eq!(first.len(), second.len());
        let worked = |line: &String| !line.contains("error") && !line.contains("refused");
        if first.iter().all(worked) {
            // Excludes the speed from the comparison. The first round reads the speed before the write, the second round after the write.
            assert_eq!([&first[..3], &first[4..]], [&second[..3], &second[4..]]);
        }
        second
    }
}

fn formatted<T: std::fmt::Debug>(result: Result<T, alcedo_runtime::Error>) -> String {
    result.map_or_else(|error| error.to_string(), |value| format!("{value:?}"))
}

fn of_build(build: i32) -> [String; 6] {
    let answer = build * 1000 + 7;
    [build.to_string(), answer.to_string(), "42".into(), "4.5".into(), "()".into(), format!("[Some({answer})] 0")]
}
