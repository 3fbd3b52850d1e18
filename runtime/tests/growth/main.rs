//! What a host keeps of what is over is bounded: after any number of reloads, rollbacks, Slims, births and deaths it has as
//! many blocks of memory as after a few. Nothing is timed and no page is counted here: the allocator of this process counts
//! the blocks and bytes that live, so the figures are the same on every machine.

mod counting;

#[path = "../support/mod.rs"]
mod support;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use alcedo_runtime::faults::{self, Fault, FaultKind, ReloadStep};
use alcedo_runtime::{Budget, ObjectHandle, Runtime, UnloadTicket, Value, VersionReq};

use counting::{Counting, Living};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const CUBE: &str = "/Script/Game.MagicCube";

/// Long enough for a machine that is shared; nothing that works waits for it.
const LONG: Duration = Duration::from_secs(60);

/// Bytes that may be there in one half and not in the other whatever the number of rounds: a queue between threads, the
/// buffer of a stream, a thread that has just ended. One small block for each round is more.
const SLACK: i64 = 1024;

/// Does `round` so many times, and as often again, and as often again: after the third part as much must live as after the
/// second. The first is there to warm up.
fn check(rounds: u64, mut round: impl FnMut(u64)) {
    let mut part = |part: u64| {
        (part * rounds..(part + 1) * rounds).for_each(&mut round);
        Living::now()
    };
    let (_warm, second, third) = (part(0), part(1), part(2));
    let grown = third - second;
    println!("{rounds} rounds: {} blocks, {} bytes more", grown.blocks, grown.bytes);
    assert!(
        grown.bytes <= SLACK,
        "{} blocks and {} bytes more live after {rounds} rounds more",
        grown.blocks,
        grown.bytes
    );
}

/// The allocator counts for the process, so one test runs at a time.
fn alone(test: impl FnOnce()) {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    test();
}

fn cube(tag: u64) -> PathBuf {
    support::tagged("magic-cube", &[], tag)
}

/// A host that has registered functions of its own before any module came, and calls some by name.
fn host(libraries: &[PathBuf]) -> Runtime {
    let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    let signature = || "u64 -> u64".parse().expect("a signature");
    host.register("host.same", signature(), |_: &Runtime, values: &[Value]| Ok(Some(values[0].clone()))).expect("free");
    host.zcall_resolve("ex:/host.same").expect("it is registered");
    host.create_master(libraries).unwrap_or_else(|error| panic!("{error}"));
    host
}

/// Every generation but the living one is gone, and its plugin halves with it.
fn settle(host: &Runtime) {
    assert!(host.wait_for_unloads(LONG).expect("a safe point"), "{:?}", host.unloads());
    host.drain_finalizers(LONG).expect("a safe point");
    assert_eq!(host.parked(), Vec::<String>::new());
}

fn gone(ticket: &UnloadTicket) {
    ticket.wait(LONG).unwrap_or_else(|report| panic!("{report}"));
}

/// Calls the cube by several ways, so that handles are given out in each generation.
fn greet(host: &Runtime, cube: ObjectHandle) {
    host.call(cube, "say_hello", &[]).expect("it says hello");
    for name in ["uf:/Script/Game.MagicCube:say_hello", "up:/Script/Game.MagicCube:rotation_speed"] {
        host.zcall_resolve(name).unwrap_or_else(|error| panic!("{error}"));
    }
    host.zcall("ex:/host.same", &[Value::U64(1)]).expect("it is registered");
}

#[test]
fn a_reload_leaves_nothing() {
    alone(|| {
        let host = host(&[cube(1)]);
        let cubes: Vec<_> = (0..4).map(|_| host.spawn(CUBE).expect("born")).collect();
        check(120, |round| {
            cubes.iter().for_each(|cube| greet(&host, *cube));
            host.tick(Budget::seconds(0.1));
            let report = host.reload(&[cube(1 + round % 2)]).expect("a Master");
            assert!(report.is_committed(), "{report}");
            host.collect().expect("a safe point");
            settle(&host);
        });
    });
}
