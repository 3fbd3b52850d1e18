//! Models held values and their drops, as the plugin reports them. This file contains the rules. `program.rs` defines the drops that each
//! step must cause.

use std::collections::BTreeMap;

/// Identity of a held value: the module instance that created the value, and the number of the value in this instance.
pub(crate) type Held = (u64, u64);

/// State of a held value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Thing {
    /// Name of the location that holds the value: `timer`, `half`, `local`.
    pub(crate) location: String,
    pub(crate) is_gone: bool,
}

/// Model of the plugin's values: all values that were ever held.
#[derive(Default, Debug)]
pub(crate) struct Model {
    things: BTreeMap<Held, Thing>,
}

/// Events since the last check.
#[derive(Default, Debug)]
pub(crate) struct Changes {
    pub(crate) made: Vec<Held>,
    /// Values dropped since the last check, by location.
    pub(crate) gone: BTreeMap<String, Vec<Held>>,
    /// Number of accesses to values outside drops.
    pub(crate) seen: u64,
}

impl Changes {
    pub(crate) fn count(&self) -> u64 {
        self.gone.values().map(|gone| gone.len() as u64).sum()
    }
}

impl Model {
    /// Processes the output of the plugin.
    ///
    /// # Panics
    /// Panics if the output violates a rule: a value is dropped twice, on the wrong thread, or with an answer that its location does not
    /// allow.
    pub(crate) fn read_log(&mut self, log: &str) -> Changes {
        let mut changes = Changes::default();
        for line in log.lines() {
            let fields: Vec<_> = line.splitn(6, ' ').collect();
            let number = |at: usize| fields[at].parse::<u64>().unwrap_or_else(|error| panic!("{line}: {error}"));
            let held = (number(1), number(2));
            let location = fields[3].to_owned();
            match fields[0] {
                "made" => {
                    let before = self.things.insert(held, Thing { location, is_gone: false });
                    assert_eq!(before, None, "made twice: {line}");
                    changes.made.push(held);
                }
                "seen" => {
                    let thing = self.things.get(&held).unwrap_or_else(|| panic!("never made: {line}"));
                    assert!(!thing.is_gone, "seen after its end: {line}");
                    assert!(is_all_right(fields[4]), "{line}");
                    changes.seen += 1;
                }
                "gone" => {
                    let thing = self.things.get_mut(&held).unwrap_or_else(|| panic!("never made: {line}"));
                    assert!(!std::mem::replace(&mut thing.is_gone, true), "dropped twice: {line}");
                    assert!(may_drop_on(&location, fields[4]), "dropped on the wrong thread: {line}");
                    match fields[4] {
                        "game" => assert!(is_all_right(fields[5]), "{line}"),
                        _ => assert!(fields[5].split(',').all(|answer| answer == "refused"), "{line}"),
                    }
                    changes.gone.entry(location).or_default().push(held);
                }
                _ => panic!("unexpected line: {line}"),
            }
        }
        changes
    }

    /// Returns the number of values that an instance still holds, by location.
    pub(crate) fn held_by(&self, instance: u64) -> BTreeMap<&str, u64> {
        let mut held = BTreeMap::new();
        let theirs = self.things.range((instance, 0)..=(instance, u64::MAX)).filter(|(_, thing)| !thing.is_gone);
        theirs.for_each(|(_, thing)| *held.entry(thing.location.as_str()).or_default() += 1);
        held
    }

    pub(crate) fn instances(&self) -> Vec<u64> {
        let mut instances: Vec<_> = self.things.keys().map(|(instance, _)| *instance).collect();
        instances.dedup();
        instances
    }
}

fn is_all_right(answers: &str) -> bool {
    answers.split(',').all(|answer| answer == "right")
}

/// Returns true if values at the location may be dropped on the thread. A plugin part is dropped by its finalizer, by unwinding of its
/// construction, or by a method. All other values are dropped on the game thread.
fn may_drop_on(location: &str, thread: &str) -> bool {
    thread == "game" || location == "half" && (thread == "finalizer" || thread == "worker")
}
