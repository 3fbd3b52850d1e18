//! Tests random operations on values of every kind. A plugin applies the operations while the host collects, reloads and fails to reload. A
//! model of std types applies the same operations. The model must agree with every answer of the plugin and, at intervals, with the
//! complete state.
//!
//! `CHURN_SEED` and `CHURN_OPERATIONS` set the seed and the number of operations; a failure prints both numbers. `CHURN_STEP=1` compares
//! plugin and model after each operation, so that a failure also prints the values. `CHURN_STEP_FROM` sets the first operation after which
//! plugin and model are compared.

use crate::support;

mod model;
#[path = "../plugins/churn/src/ops.rs"]
mod ops;
mod references;
mod values;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::time::Duration;

use alcedo_runtime::{Budget, ObjectHandle, Outcome, Runtime, Value};

use model::Model;
use ops::{Dice, Op};

/// Number of operations between two actions of the host.
const BATCH: u64 = 500;

fn from_environment(name: &str, default: u64) -> u64 {
    let Ok(text) = std::env::var(name) else { return default };
    text.parse().unwrap_or_else(|error| panic!("{name} is to be a number, not {text:?}: {error}"))
}

/// Counters of the plugin's operations and of the host's actions.
#[derive(Default, Debug)]
struct Done {
    operations: u64,
    spawns: u64,
    collections: u64,
    collected: usize,
    slices: u64,
    reloads: u64,
    rollbacks: u64,
}

struct Churn {
    host: Runtime,
    yard: ObjectHandle,
    model: Model,
    seed: u64,
    done: Done,
    /// Two builds that alternate. `failing` is a build that fails to load.
    builds: [PathBuf; 2],
    failing: PathBuf,
}

impl Churn {
    fn begin(seed: u64, last_serial: u32) -> Self {
        let memory: &[&str] = if std::env::var_os("CHURN_PASS_THROUGH").is_some() { &["pass-through"] } else { &[] };
        let build = |feature: &[&'static str]| support::plugin("churn", &[memory, feature].concat());
        let builds = [build(&[]), build(&["second"])];
        let host = support::builder().last_serial(last_serial).build().unwrap_or_else(|error| panic!("{error}"));
        host.create_master(&builds[..1]).unwrap_or_else(|error| panic!("{error}"));
        host.conjugates().keep_sites(true);
        let yard = host.objects().spawn(ops::YARD).unwrap_or_else(|error| panic!("{error}"));
        host.objects().call(yard, "prepare", &[]).unwrap_or_else(|error| panic!("{error}"));
        let model = Model::new(&host, yard);
        Self { host, yard, model, seed, done: Done::default(), builds, failing: build(&["failing"]) }
    }

    fn call(&self, function: &str) {
        self.host.objects().call(self.yard, function, &[]).unwrap_or_else(|error| panic!("`{function}`: {error}"));
    }

    fn number(&self, property: &str) -> u64 {
        match self.host.objects().get(self.yard, property) {
            Ok(Value::U64(number)) => number,
            other => panic!("{property} of the yard is a u64, not {other:?}"),
        }
    }

    /// Runs `count` operations in one call and checks each answer of the plugin.
    fn operate(&mut self, count: u64) {
        let (seed, from) = (self.seed, self.done.operations);
        let arguments = [Value::U64(seed), Value::U64(from), Value::U32(count as u32)];
        let answers = match self.host.objects().call(self.yard, "run", &arguments) {
            Ok(Some(Value::Array(answers))) => answers,
            Ok(other) => panic!("`run` answers each operation, not {other:?}"),
            Err(error) => {
                let index = self.number("progress");
                panic!("operation {index}, {:?}: {error}", Op::nth(seed, index));
            }
        };
        assert_eq!(answers.len() as u64, count, "an answer for each operation");
        for (index, answer) in (from..).zip(answers) {
            let Value::U64(answer) = answer else { panic!("answers are numbers, not {answer:?}") };
            let op = Op::nth(seed, index);
            self.done.spawns += u64::from(op.verb == ops::Verb::Spawn && answer != ops::NOTHING);
            let expected = self.model.apply(op, answer);
            if count == 1 {
                eprintln!("operation {index}, {op:?}: {answer:x}");
                self.model.compare(&self.host);
            }
            assert_eq!(answer, expected, "the answers of plugin and model to operation {index}, {op:?}");
        }
        self.done.operations += count;
    }

    /// Performs a random action of the host: a tick, a collection, a reload, or a reload that fails.
    fn intervene(&mut self) {
        let mut dice = Dice::new(!self.seed, self.done.operations);
        match dice.below(16) {
            0..3 => self.collect(),
            3..6 => self.collect_in_slices(),
            6..8 => self.reload(),
            8 => self.reload_rejected(),
            _ => self.host.tick(Budget::frame()),
        }
    }

    fn collect(&mut self) {
        // An owned value keeps its referents alive until a thread drops the value.
        self.wait_for_drops();
        self.done.collected += self.host.collection().collect().unwrap_or_else(|error| panic!("{error}"));
        self.done.collections += 1;
        self.model.collected(&self.host, true);
    }

    /// Collects in slices, so that the world changes while objects are marked.
    fn collect_in_slices(&mut self) {
        self.host.collection().begin_in_slices();
        loop {
            self.host.tick(Budget::frame().with_collection(Duration::ZERO));
            self.model.collected(&self.host, false);
            self.done.slices += 1;
            if let Some(collected) = self.host.collection().take_done().pop() {
                self.done.collected += collected.objects;
                return;
            }
            self.operate(20);
        }
    }

    fn reload(&mut self) {
        self.builds.swap(0, 1);
        let reload = self.host.reload(&self.builds[..1]).unwrap_or_else(|error| panic!("{error}"));
        assert!(reload.is_committed(), "{reload}");
        self.done.reloads += 1;
        self.model.reloaded();
        assert!(self.host.unloads().wait(Duration::from_secs(60)).expect("a safe point"), "the old generation ends");
    }

    fn reload_rejected(&mut self) {
        let reload = self.host.reload(&[&self.failing]).unwrap_or_else(|error| panic!("{error}"));
        let Outcome::RolledBack { error, .. } = &reload.outcome else {
            panic!("that build must fail to load: {reload}")
        };
        assert!(error.contains("this build does not come up"), "{error}");
        self.done.rollbacks += 1;
        assert!(self.host.unloads().wait(Duration::from_secs(60)).expect("a safe point"), "the new generation ends");
    }

    /// Waits until no thread has a value to drop and the host has processed all drops.
    fn wait_for_drops(&self) {
        self.call("wait_for_drops");
        let drained = self.host.drain_finalizers(Duration::from_secs(60)).unwrap_or_else(|error| panic!("{error}"));
        assert!(drained.is_complete, "{drained:?}");
        support::until("all drops are processed", || {
            self.host.safe_point();
            self.host.conjugates().owned_values().queued == 0
        });
    }

    fn compare(&mut self) {
        self.model.compare(&self.host);
        self.wait_for_drops();
        let owned_values = self.host.conjugates().owned_values();
        assert_eq!(owned_values.count(), self.model.count_owned_values(), "blacks of host and model: {owned_values}");
        assert_eq!(self.host.counters().objects, self.model.count_objects(), "objects of host and model");
    }

    /// Shuts down the host and checks that all counters of live values are zero.
    fn end(mut self) {
        self.collect();
        self.compare();
        assert!(self.number("refused") > 0, "stale accesses were tried");
        eprintln!("{:?}, {} stale accesses refused", self.done, self.number("refused"));
        self.host.unload_master().unwrap_or_else(|error| panic!("{error}"));
        assert!(self.host.unloads().wait(Duration::from_secs(60)).expect("a safe point"), "the last generation ends");
        let owned_values = self.host.conjugates().owned_values();
        assert_eq!(
            (owned_values.count(), owned_values.queued, owned_values.undropped.len()),
            (0, 0, 0),
            "{owned_values}"
        );
        assert_eq!(owned_values.made, owned_values.released);
        self.host.objects().destroy(self.yard);
        self.host.collection().collect().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(self.host.counters().objects, 0, "objects");
        assert_eq!(self.host.unloads().leases(), [], "leases");
        self.host.shutdown().into_result().unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn plugin_and_model_agree_after_any_operations() {
    check(u32::MAX);
}

/// Limits the serials to 255, so that the test exhausts and abandons slots of objects and conjugates.
#[test]
fn plugin_and_model_agree_after_any_operations_with_few_serials() {
    check(255);
}

fn check(last_serial: u32) {
    let record = support::record("churn");
    let seed = from_environment("CHURN_SEED", 20_261_121);
    let operations = from_environment("CHURN_OPERATIONS", 100_000);
    let (step, steps_from) = (from_environment("CHURN_STEP", BATCH), from_environment("CHURN_STEP_FROM", 0));
    eprintln!("seed {seed}, {operations} operations");
    let mut churn = Churn::begin(seed, last_serial);
    let run = catch_unwind(AssertUnwindSafe(|| {
        while churn.done.operations < operations {
            let end = churn.done.operations + BATCH;
            while churn.done.operations < end {
                let step = if churn.done.operations < steps_from { BATCH } else { step };
                churn.operate(step.min(end - churn.done.operations));
            }
            churn.intervene();
            if churn.done.operations % (8 * BATCH) < BATCH {
                churn.compare();
            }
        }
    }));
    if let Err(panic) = run {
        let at = churn.done.operations;
        eprintln!("again with: CHURN_SEED={seed} CHURN_OPERATIONS={}   ({:?})", at + BATCH, churn.done);
        resume_unwind(panic);
    }
    let generations = churn.done.reloads + 1;
    churn.end();
    // After the end of a generation, each finalizer accesses values of that generation. Every access must fail.
    let lines = record.take();
    let expired = lines.lines().filter(|line| line.starts_with("none is left, ") && *line != "none is left, 0 expired");
    assert!(lines.lines().count() as u64 >= generations && expired.count() > 0, "{lines}");
    assert!(!lines.contains("some are left"), "{lines}");
}
