//! Status of modules. A module's entries in a registry accept calls only while the module is running. A reload suspends an old module and
//! keeps its entries, so that a rollback can resume the module without cost. The call table, the chain and the registry of `ex` share one
//! list of statuses. The call table must be the first to change a status, because the call table also invalidates its cached handles. The
//! type ids of modules (`runtime/src/bridge/value_types.rs`) have a separate list.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use crate::cells::RefCell;
use crate::handles::ModuleId;

/// Status of the entries of a module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModuleStatus {
    /// The entries of the module accept calls.
    Running,
    /// The entries of the module do not accept calls. The module may be resumed.
    Suspended,
    /// The module has ended permanently.
    Ended,
}

/// Statuses of all past and future modules, and their names in errors. The host's own module is always running. Game thread only.
#[derive(Default, Debug)]
pub struct ModuleStatuses {
    /// Id of the last module with a recorded status. Modules with higher ids count as running.
    last_known: Cell<u64>,
    /// Modules up to `last_known` that have not ended. The value is true if the module is suspended.
    alive: RefCell<BTreeMap<u64, bool>>,
    titles: RefCell<HashMap<ModuleId, Rc<str>>>,
}

impl ModuleStatuses {
    /// Returns the status of `module`. A module without a recorded status is running.
    #[must_use]
    #[inline]
    pub fn status(&self, module: ModuleId) -> ModuleStatus {
        if module.0 > self.last_known.get() || module == ModuleId::HOST {
            return ModuleStatus::Running;
        }
        match self.alive.borrow().get(&module.0) {
            Some(false) => ModuleStatus::Running,
            Some(true) => ModuleStatus::Suspended,
            None => ModuleStatus::Ended,
        }
    }

    /// Checks if the entries of `module` accept calls.
    #[must_use]
    #[inline]
    pub fn is_running(&self, module: ModuleId) -> bool {
        self.status(module) == ModuleStatus::Running
    }

    /// Sets the name by which errors refer to a module. The name is used until the module ends.
    pub fn set_title(&self, module: ModuleId, title: &str) {
        self.titles.borrow_mut().insert(module, title.into());
    }

    /// Returns the name of a module for use in errors.
    #[must_use]
    pub fn title(&self, module: ModuleId) -> String {
        let title = self.titles.borrow().get(&module).map(ToString::to_string);
        title.unwrap_or_else(|| format!("module {}", module.0))
    }

    /// Suspends a running module. While a module is suspended, a different module may use the names of its entries. Has no effect for the
    /// host's own module and for ended modules.
    pub fn suspend(&self, module: ModuleId) {
        self.know(module.0);
        self.set_suspended(module, true);
    }

    /// Resumes a suspended module. If a replacement of the module was loaded, the caller must also end the replacement.
    pub fn resume(&self, module: ModuleId) {
        self.set_suspended(module, false);
    }

    /// Ends a module. The module may be suspended. Has no effect for the host's own module.
    pub fn end(&self, module: ModuleId) {
        self.know(module.0);
        self.alive.borrow_mut().remove(&module.0);
        self.titles.borrow_mut().remove(&module);
    }

    /// Marks the modules strictly between the ids `after` and `before` as ended. Used for modules that never have entries, because the list
    /// would otherwise store these modules permanently.
    pub fn pass_over(&self, after: ModuleId, before: ModuleId) {
        self.know(after.0);
        self.last_known.set(self.last_known.get().max(before.0.saturating_sub(1)));
        self.alive.borrow_mut().retain(|module, _| !(after.0 < *module && *module < before.0));
    }

    /// Records all modules up to `last` without a status as running.
    fn know(&self, last: u64) {
        let known = self.last_known.get();
        self.alive.borrow_mut().extend((known + 1..=last).map(|module| (module, false)));
        self.last_known.set(known.max(last));
    }

    fn set_suspended(&self, module: ModuleId, is_suspended: bool) {
        if let Some(stored) = self.alive.borrow_mut().get_mut(&module.0) {
            *stored = is_suspended;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ModuleStatus, ModuleStatuses};
    use crate::handles::ModuleId;

    /// Checks the status of modules after the steps `verbs`. The step `s3` suspends module 3, `r3` resumes module 3, and `e3` ends module
    /// 3.
    fn check(verbs: &str, expected: [ModuleStatus; 4]) {
        let statuses = ModuleStatuses::default();
        for verb in verbs.split_whitespace() {
            let (verb, module) = verb.split_at(1);
            let module = ModuleId(module.parse().expect("a number"));
            match verb {
                "s" => statuses.suspend(module),
                "r" => statuses.resume(module),
                "e" => statuses.end(module),
                _ => unreachable!("{verb}"),
            }
        }
        let found: Vec<_> = (0..4).map(|number| statuses.status(ModuleId(number))).collect();
        assert_eq!(found, expected, "{verbs}");
    }

    #[test]
    fn a_generation_is_running_suspended_or_ended() {
        use ModuleStatus::{Ended as E, Running as R, Suspended as S};
        check("", [R, R, R, R]);
        check("s1", [R, S, R, R]);
        check("s1 s1 r1", [R, R, R, R]);
        check("r1", [R, R, R, R]);
        check("s1 e1", [R, E, R, R]);
        check("s1 e1 r1", [R, E, R, R]);
        check("e1 s1", [R, E, R, R]);
        check("e2", [R, R, E, R]);
        check("e2 e2 e1", [R, E, E, R]);
        check("e3 e1 e2", [R, E, E, E]);
        check("s2 e1 e3", [R, E, S, E]);
        check("s0 e0", [R, R, R, R]);
    }

    #[test]
    fn ended_modules_are_not_stored() {
        let statuses = ModuleStatuses::default();
        (1..=1000).for_each(|number| statuses.end(ModuleId(number)));
        assert!(statuses.alive.borrow().is_empty(), "{statuses:?}");
        assert_eq!(statuses.status(ModuleId(1000)), ModuleStatus::Ended);
        assert_eq!(statuses.status(ModuleId(1001)), ModuleStatus::Running);
    }

    #[test]
    fn memory_of_module_statuses_does_not_grow_with_reloads() {
        let statuses = ModuleStatuses::default();
        // Module 3 stays alive. All other ids that are divisible by three belong to modules without entries.
        for number in (1..=3000u64).filter(|number| number % 3 != 0 || *number == 3) {
            if number > 4 && number % 3 == 1 {
                statuses.pass_over(ModuleId(number - 2), ModuleId(number));
            }
            if number != 3 {
                statuses.end(ModuleId(number));
            }
        }
        assert_eq!((statuses.last_known.get(), statuses.alive.borrow().len()), (2999, 1));
        assert_eq!(statuses.status(ModuleId(3)), ModuleStatus::Running);
        statuses.end(ModuleId(3));
        assert!(statuses.alive.borrow().is_empty(), "{statuses:?}");
    }
}
