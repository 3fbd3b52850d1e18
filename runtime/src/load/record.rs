//! Log of irreversible effects of a reload, such as calls to listeners and to module code. The report of a rollback lists these effects.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::cells::RefCell;

/// Effects of a rolled back reload that the rollback cannot undo, such as calls to listeners and to module code. Apart from these effects,
/// the rollback restores the world, the plugin parts and the registries.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{ReloadReport, Remainder};
///
/// /// Warns about code that a rolled back reload has run.
/// fn warn(report: &ReloadReport) {
///     let Remainder { mains, pure_calls, .. } = &report.remainder;
///     for module in mains {
///         eprintln!("the main of {module} was called");
///     }
///     for call in pure_calls {
///         eprintln!("called: {call}");
///     }
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Remainder {
    /// Events that were raised for the listeners, in order, such as `Unloading 3`, `PreStartup 4`, `Resumed 3`. Includes events of the
    /// rollback.
    pub events: Vec<String>,
    /// Priorities of the unloading callbacks that were called, in order.
    pub unloading_callbacks: Vec<i32>,
    /// New modules whose main was called, in order. A rollback does not revert the effects of a main outside of the host's world.
    pub mains: Vec<String>,
    /// New modules whose exit hook was called, in order.
    pub exit_hooks: Vec<String>,
    /// Replaced modules whose `suspend` was called, in order.
    #[serde(default)]
    pub suspended: Vec<String>,
    /// Modules whose `resume` was called, in order. Contains all suspended modules.
    #[serde(default)]
    pub resumed: Vec<String>,
    /// Classes of the objects that the reload created and the rollback destroyed. Most of these objects are class default objects. The
    /// native constructors of their base classes have run.
    pub constructions: Vec<Named>,
    /// Functions outside of the new modules that new code called before the failure. Only functions that are declared pure can be called
    /// before the commit.
    pub pure_calls: Vec<Named>,
    /// Functions whose calls by new code were rejected. These functions did not run.
    pub refused_calls: Vec<Named>,
    /// Descriptions of objects that a listener added to the root set. These objects remain in the root set after the rollback.
    pub roots_added: Vec<String>,
    /// Descriptions of objects that a listener removed from the root set. The rollback does not add these objects again.
    pub roots_removed: Vec<String>,
    /// Names of functions that a call by name has resolved for the first time. These names keep their call handles after the rollback.
    pub names_resolved: Vec<String>,
}

/// Name with the number of its occurrences.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Named;
///
/// let called = Named { name: "ex:/host.version".to_owned(), times: 2 };
/// assert_eq!(called.to_string(), "ex:/host.version (2 times)");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// Path of a class or function, or name of a function that is called by name.
    pub name: String,
    /// Number of occurrences of the name.
    pub times: u64,
}

impl Named {
    /// Creates an entry for each name with at least one occurrence.
    pub(crate) fn each(counts: impl IntoIterator<Item = (impl Into<String>, u64)>) -> Vec<Self> {
        let occurring = counts.into_iter().filter(|(_, times)| *times != 0);
        occurring.map(|(name, times)| Self { name: name.into(), times }).collect()
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, times } = self;
        if *times == 1 { f.write_str(name) } else { write!(f, "{name} ({times} times)") }
    }
}

impl Remainder {
    /// Formats the modules whose main or exit hook ran, as one line. A rollback cannot undo the effects of this code outside of the host's
    /// world.
    pub(crate) fn outside(&self) -> Option<String> {
        let ran =
            [("main", &self.mains), ("exit hook", &self.exit_hooks)].into_iter().filter(|(_, list)| !list.is_empty());
        let ran: Vec<_> = ran.map(|(what, list)| format!("{what} of {}", list.join(", "))).collect();
        (!ran.is_empty()).then(|| format!("{} ran: effects outside of the world remain", ran.join(" and ")))
    }

    /// Formats each non-empty list as one line.
    pub(crate) fn lines(&self) -> Vec<String> {
        fn line<T: fmt::Display>(lines: &mut Vec<String>, words: &str, list: &[T], rest: &str) {
            if !list.is_empty() {
                let list: Vec<_> = list.iter().map(ToString::to_string).collect();
                lines.push(format!("{words} {}{rest}", list.join(", ")));
            }
        }
        let mut lines = Vec::new();
        line(&mut lines, "listeners were called with", &self.events, "");
        line(&mut lines, "unloading callbacks were called with priority", &self.unloading_callbacks, "");
        let outside = ": effects outside of the host's world are not undone";
        line(&mut lines, "main ran in", &self.mains, outside);
        line(&mut lines, "exit hook ran in", &self.exit_hooks, "");
        line(&mut lines, "suspended:", &self.suspended, "");
        line(&mut lines, "and resumed:", &self.resumed, "");
        line(&mut lines, "created and destroyed again:", &self.constructions, "");
        line(&mut lines, "called as pure:", &self.pure_calls, "");
        line(&mut lines, "refused to new code:", &self.refused_calls, "");
        line(&mut lines, "added to the root set:", &self.roots_added, "");
        line(&mut lines, "removed from the root set:", &self.roots_removed, "");
        line(&mut lines, "looked up, and still resolved:", &self.names_resolved, "");
        lines
    }
}

/// Holds the [`Remainder`] of the reload in progress, if any. Game thread only.
#[derive(Debug, Default)]
pub(crate) struct Recorder(RefCell<Option<Remainder>>);

impl Recorder {
    pub(crate) fn begin(&self) {
        *self.0.borrow_mut() = Some(Remainder::default());
    }

    /// Returns the recorded effects and ends the recording. Returns an empty [`Remainder`] if no recording is active.
    pub(crate) fn end(&self) -> Remainder {
        self.0.take().unwrap_or_default()
    }

    pub(crate) fn note(&self, note: impl FnOnce(&mut Remainder)) {
        if let Some(record) = &mut *self.0.borrow_mut() {
            note(record);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Recorder, Remainder};

    #[test]
    fn only_what_happens_while_it_is_recorded_is_written_down() {
        let recorder = Recorder::default();
        let note = |priority| recorder.note(|record| record.unloading_callbacks.push(priority));
        note(1);
        recorder.begin();
        note(2);
        assert_eq!(recorder.end(), Remainder { unloading_callbacks: vec![2], ..Remainder::default() });
        note(3);
        assert_eq!(recorder.end(), Remainder::default());
    }
}
