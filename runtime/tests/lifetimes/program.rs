//! Generates and runs random programs. A program stores plugin values in various locations, and then causes events that drop the values.
//! Each step defines the drops that it must cause. No other drop may occur.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use alcedo_runtime::faults::{self, Fault, FaultKind, ReloadStep};
use alcedo_runtime::{Budget, ObjectHandle, Runtime, Value};
use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};

use super::model::{Changes, Model};
use super::support::{self, Record};

const HOLDER: &str = "/Script/Game.Holder";

const LONG: Duration = Duration::from_secs(60);

/// Number of locations that the module owns. The plugin numbers these locations from zero. The last location is the stack.
const FREE: u64 = 10;

/// Locations that an object may own: timers, tasks, posts, the plugin part.
const HERE: [u8; 6] = [0, 1, 2, 3, 4, 9];

pub(crate) struct Builds {
    plain: PathBuf,
    armed: PathBuf,
    panicking: PathBuf,
    failing: PathBuf,
    without: PathBuf,
}

impl Builds {
    pub(crate) fn new() -> Self {
        let memory: &[&'static str] =
            if std::env::var_os("CHURN_PASS_THROUGH").is_some() { &["pass-through"] } else { &[] };
        let build = |feature: &[&'static str]| support::plugin("lifetimes", &[memory, feature].concat());
        Self {
            plain: build(&[]),
            armed: build(&["armed"]),
            panicking: build(&["panicking-main"]),
            failing: build(&["failing-red"]),
            without: build(&["without-holders"]),
        }
    }
}

struct Dice(TestRng);

impl Dice {
    fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self(TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0.next_u64() % limit
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

struct Program<'a> {
    seed: u64,
    dice: Dice,
    builds: &'a Builds,
    record: &'a Record,
    model: Model,
    host: Runtime,
    holders: Vec<ObjectHandle>,
    /// True if the class of the objects that hold values is loaded.
    is_awake: bool,
    /// Instance of the Master's module, or `None` if the module has created no value.
    instance: Option<u64>,
    done: Vec<String>,
    drops: u64,
}

/// Generates and runs the program for a seed, and returns the number of drops.
pub(crate) fn run(seed: u64, builds: &Builds, record: &Record) -> u64 {
    record.take();
    let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    let mut program = Program {
        seed,
        dice: Dice::new(seed),
        builds,
        record,
        model: Model::default(),
        host,
        holders: Vec::new(),
        is_awake: false,
        instance: None,
        done: Vec::new(),
        drops: 0,
    };
    program.create();
    for _ in 0..4 + program.dice.below(12) {
        program.step();
    }
    program.end()
}

impl Program<'_> {
    fn step(&mut self) {
        match self.dice.below(20) {
            0..5 => self.hold(),
            5 => self.spawn(),
            6 => self.check(),
            7 => self.release(),
            8 => self.empty(),
            9..11 => self.tick(),
            11 => self.destroy(),
            12 => self.collect(),
            13..15 => self.reload(),
            15..18 => self.roll_back(),
            18 => self.sleep(),
            _ => self.unload(),
        }
    }

    fn did(&mut self, what: impl Into<String>) {
        self.done.push(what.into());
    }

    fn fail(&self, reason: &str) -> ! {
        panic!("LIFETIMES_SEED={}: {reason}; done was:\n  {}", self.seed, self.done.join("\n  "))
    }

    /// Drains finalizers, and returns the events since the last check.
    fn changes(&mut self) -> Changes {
        let drained = self.host.drain_finalizers(LONG).unwrap_or_else(|error| panic!("{error}"));
        assert!(drained.is_complete, "{drained}");
        self.read_log()
    }

    fn read_log(&mut self) -> Changes {
        let log = self.record.take();
        let model = &mut self.model;
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| model.read_log(&log)));
        let changes = result.unwrap_or_else(|_| self.fail("a rule does not hold"));
        self.drops += changes.count();
        changes
    }

    /// Checks that only values in these locations or in posts were dropped. Drops in posts are always permitted, because every step reaches
    /// a safe point and a safe point runs posts.
    fn only_in(&self, changes: &Changes, locations: &[&str]) {
        let is_other = |location: &&String| *location != "post" && !locations.contains(&location.as_str());
        let others: Vec<_> = changes.gone.keys().filter(is_other).collect();
        if !others.is_empty() {
            self.fail(&format!("dropped though nothing ended it: {others:?}"));
        }
    }

    fn held(&self) -> BTreeMap<String, u64> {
        let held = self.instance.map(|instance| self.model.held_by(instance)).unwrap_or_default();
        held.into_iter().map(|(location, count)| (location.to_owned(), count)).collect()
    }

    /// Checks that old instances hold values only in the locations `may_leave`. If the main of an instance has not returned, the exit hook
    /// of that instance does not run. Values that wait for this exit hook then remain.
    fn others_are_over(&self, may_leave: &[&str]) {
        for instance in self.model.instances().into_iter().filter(|instance| Some(*instance) != self.instance) {
            let left: Vec<_> =
                self.model.held_by(instance).into_keys().filter(|location| !may_leave.contains(location)).collect();
            if !left.is_empty() {
                self.fail(&format!("instance {instance} is over and was never dropped: {left:?}"));
            }
        }
    }

    fn create(&mut self) {
        if self.dice.below(4) == 0 {
            self.did("a create that fails");
            self.host.create_master(std::slice::from_ref(&self.builds.panicking)).expect_err("its main panics");
            let _changes = self.changes();
            self.instance = None;
            self.others_are_over(UNEXITED);
        }
        let is_armed = self.dice.below(2) == 0;
        self.did(format!("create, armed {is_armed}"));
        let build = if is_armed { &self.builds.armed } else { &self.builds.plain };
        self.host.create_master(std::slice::from_ref(build)).unwrap_or_else(|error| panic!("{error}"));
        self.is_awake = true;
        let changes = self.changes();
        self.instance = changes.made.first().map(|(instance, _)| *instance);
        self.only_in(&changes, &[]);
        self.spawn();
    }

    fn spawn(&mut self) {
        if !self.is_awake {
            return;
        }
        self.did("spawn");
        // In one build, the red constructor fails for every third object. A reload to this build is committed only if it rebuilds fewer
        // than three objects.
        let unwound: &[&str] = match self.host.objects().spawn(HOLDER) {
            Ok(holder) => {
                self.host.objects().add_root(holder);
                self.holders.push(holder);
                &[]
            }
            Err(error) if error.to_string().contains("on purpose") => &["half"],
            Err(error) => self.fail(&error.to_string()),
        };
        let changes = self.changes();
        self.instance = self.instance.or(changes.made.first().map(|(instance, _)| *instance));
        self.only_in(&changes, unwound);
    }

    fn holder(&mut self) -> Option<ObjectHandle> {
        if !self.is_awake || self.holders.is_empty() {
            return None;
        }
        let holders = self.holders.clone();
        Some(self.dice.one_of(&holders))
    }

    fn call(&self, holder: ObjectHandle, function: &str, arguments: &[Value]) -> Option<Value> {
        self.host
            .objects()
            .call(holder, function, arguments)
            .unwrap_or_else(|error| self.fail(&format!("{function}: {error}")))
    }

    fn hold(&mut self) {
        let Some(holder) = self.holder() else { return };
        let (function, location) = match self.dice.below(2) {
            0 => ("hold_free", self.dice.below(FREE) as u8),
            _ => ("hold_here", self.dice.one_of(&HERE)),
        };
        self.did(format!("{function} {location}"));
        self.call(holder, function, &[Value::U8(location)]);
        let changes = self.changes();
        assert!(!changes.made.is_empty());
        self.only_in(&changes, &["stack"]);
    }

    fn check(&mut self) {
        let Some(holder) = self.holder() else { return };
        self.did("check");
        let answer = self.call(holder, "check", &[]);
        let changes = self.changes();
        assert_eq!(answer, Some(Value::U64(changes.seen)));
        self.only_in(&changes, &[]);
    }

    fn release(&mut self) {
        let Some(holder) = self.holder() else { return };
        let on_thread = self.dice.below(2) == 0;
        self.did(format!("let go, on a thread {on_thread}"));
        self.call(holder, "let_go", &[Value::Bool(on_thread)]);
        let changes = self.changes();
        self.only_in(&changes, &["half"]);
    }

    fn empty(&mut self) {
        let Some(holder) = self.holder() else { return };
        self.did("empty");
        self.call(holder, "empty", &[]);
        let changes = self.changes();
        self.only_in(&changes, &["local", "static"]);
        let held = self.held();
        assert!(!held.contains_key("local") && !held.contains_key("static"), "{held:?}");
    }

    fn tick(&mut self) {
        self.did("tick");
        self.host.tick(Budget::frame());
        self.host.safe_point();
        let changes = self.changes();
        self.only_in(&changes, &[]);
        let held = self.held();
        assert!(!held.contains_key("post"), "what was posted has run: {held:?}");
    }

    /// Checks the drops after the destruction of an object that owns values.
    fn after_an_end(&mut self) {
        self.host.tick(Budget::frame());
        self.host.safe_point();
        let changes = self.changes();
        self.only_in(&changes, &["half", "timer", "task"]);
    }

    fn destroy(&mut self) {
        let Some(holder) = self.holder() else { return };
        self.did("destroy");
        self.holders.retain(|other| *other != holder);
        self.host.objects().destroy(holder);
        self.after_an_end();
    }

    fn collect(&mut self) {
        let Some(holder) = self.holder() else { return };
        let in_slices = self.dice.below(2) == 0;
        self.did(format!("collect, in slices {in_slices}"));
        self.holders.retain(|other| *other != holder);
        self.host.objects().remove_root(holder);
        if in_slices {
            self.host.collection().begin_in_slices();
            for _ in 0..50 {
                self.host.tick(Budget::frame());
            }
        }
        self.host.collection().collect().unwrap_or_else(|error| panic!("{error}"));
        assert!(!self.host.objects().is_alive(holder));
        self.after_an_end();
    }

    /// Stores the new instance of the Master's module, if there is one. Checks that all other instances have ended.
    fn after_a_change(&mut self, changes: &Changes) {
        let old = self.instance;
        self.instance = changes.made.iter().map(|(instance, _)| *instance).rfind(|instance| Some(*instance) != old);
        self.others_are_over(UNEXITED_BY_RED);
    }

    fn reload(&mut self) {
        let build = match self.dice.below(2) {
            0 => &self.builds.plain,
            _ => &self.builds.armed,
        };
        let library = build.clone();
        self.did("reload");
        let report = self.host.reload(&[library]).unwrap_or_else(|error| panic!("{error}"));
        if !report.is_committed() {
            self.fail(&report.to_string());
        }
        self.is_awake = true;
        assert!(self.host.unloads().wait(LONG).unwrap_or_else(|error| panic!("{error}")));
        let changes = self.changes();
        self.after_a_change(&changes);
    }

    fn sleep(&mut self) {
        self.did("sleep");
        let report =
            self.host.reload(std::slice::from_ref(&self.builds.without)).unwrap_or_else(|error| panic!("{error}"));
        if !report.is_committed() {
            self.fail(&report.to_string());
        }
        self.is_awake = false;
        assert!(self.host.unloads().wait(LONG).unwrap_or_else(|error| panic!("{error}")));
        let changes = self.changes();
        self.after_a_change(&changes);
    }

    fn roll_back(&mut self) {
        let before = self.held();
        let (library, fault) = match self.dice.below(6) {
            0 => (&self.builds.panicking, None),
            1 => (&self.builds.failing, None),
            _ => {
                let (step, kind) =
                    (self.dice.one_of(&ReloadStep::ALL), self.dice.one_of(&[FaultKind::Error, FaultKind::Panic]));
                (&self.builds.armed, Some(Fault { step, kind, nth: self.dice.below(3) }))
            }
        };
        let library = library.clone();
        self.did(format!("reload with {fault:?} to {:?}", library.file_stem()));
        let armed = fault.map(faults::arm);
        let report = self.host.reload(&[library]).unwrap_or_else(|error| panic!("{error}"));
        drop(armed);
        assert!(self.host.unloads().wait(LONG).unwrap_or_else(|error| panic!("{error}")));
        let changes = self.changes();
        if report.is_committed() {
            self.is_awake = true;
            return self.after_a_change(&changes);
        }
        self.others_are_over(UNEXITED);
        let mut after = self.held();
        // The safe point has run all posts, so no value is left in a post.
        let mut before = before;
        before.remove("post");
        after.remove("post");
        if before != after {
            self.fail(&format!("a rollback took of the old generation: {before:?} became {after:?}\n{report}"));
        }
    }

    fn unload(&mut self) {
        self.did("unload");
        self.host.unload_master().unwrap_or_else(|error| panic!("{error}"));
        assert!(self.host.unloads().wait(LONG).unwrap_or_else(|error| panic!("{error}")));
        let _changes = self.changes();
        self.instance = None;
        self.holders.clear();
        self.others_are_over(UNEXITED);
        assert_eq!(self.host.conjugates().owned_values().count(), 0, "values end with their generation");
        self.create();
    }

    fn end(mut self) -> u64 {
        let is_dropped = self.dice.below(3) == 0;
        self.did(format!("end, dropped {is_dropped}"));
        let spare = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
        let host = std::mem::replace(&mut self.host, spare);
        if is_dropped {
            drop(host);
        } else {
            let end = host.shutdown();
            assert!(end.left.is_empty() && end.plugin_parts == 0, "{end}");
        }
        self.read_log();
        self.instance = None;
        self.others_are_over(UNEXITED);
        self.drops
    }
}

/// Locations whose values are dropped by the exit hook. If the main of a module has not returned, its exit hook does not run, so these
/// values are never dropped.
const UNEXITED: &[&str] = &["static", "resource"];

/// Locations that may still hold values after a committed reload, because the main of an earlier instance may not have returned.
const UNEXITED_BY_RED: &[&str] = UNEXITED;
