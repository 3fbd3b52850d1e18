//! Counts the slices that plugin code has borrowed from host memory. While a slice exists, the memory of the slice must not be moved or
//! changed. The memory of a mutable slice must not be read either. While plugin code holds a slice, `plugin-api` refuses all calls from the
//! plugin to the host. However, a log line of the plugin runs the host's logger, and the logger could write to the borrowed memory. Modules
//! therefore count their slices in a counter of the host. The host checks the counter before it reads, changes or destroys values, and
//! before it runs plugin code. Host thunks that borrow an argument inside an object also use this counter.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::Ordering;

use alcedo_abi::host::Slices;
use alcedo_base::boundary::CallError;
use alcedo_base::cells::RefCell;
use alcedo_base::handles::ModuleId;
use rustc_hash::FxHashMap;

/// Counter of borrowed slices. Clones share the counter. Game thread only.
#[derive(Clone, Debug)]
pub struct BorrowedSlices {
    shared: Rc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Counter. Plugins write the counter at its address. The address must therefore not change.
    word: Slices,
    /// Number of slices that the host itself holds.
    held: Cell<u64>,
    /// Names of the modules that may borrow slices, by module id.
    lenders: RefCell<FxHashMap<u64, Box<str>>>,
}

impl BorrowedSlices {
    pub(crate) fn new() -> Self {
        Self { shared: Rc::new(Shared { word: Slices::none(), held: Cell::new(0), lenders: RefCell::default() }) }
    }

    /// Returns the address of the counter, for modules. The address is valid while `self` or a clone exists.
    #[inline]
    pub fn address(&self) -> *const Slices {
        &raw const self.shared.word
    }

    /// Registers the name of a module for error messages.
    #[inline]
    pub fn introduce(&self, module: u64, name: &str) {
        self.shared.lenders.borrow_mut().insert(module, name.into());
    }

    /// Removes an unloaded module. If the module was the last borrower, also removes its slices from the counter. Slices that the host
    /// holds remain counted.
    #[inline]
    pub fn forget(&self, module: u64) {
        self.shared.lenders.borrow_mut().remove(&module);
        if self.shared.word.module.load(Ordering::Relaxed) == module {
            self.shared.word.out.store(self.shared.held.get(), Ordering::Relaxed);
        }
    }

    /// Checks if at least one slice is borrowed.
    #[inline]
    pub fn are_out(&self) -> bool {
        self.shared.word.out.load(Ordering::Relaxed) != 0
    }

    /// Counts a borrow by the host itself, like a shared slice. Values must not be moved or changed until the guard is dropped.
    pub(crate) fn hold(&self) -> Held {
        let word = &self.shared.word;
        if !self.are_out() {
            word.module.store(ModuleId::HOST.0, Ordering::Relaxed);
        }
        word.out.fetch_add(1, Ordering::Relaxed);
        self.shared.held.update(|held| held + 1);
        Held(self.clone())
    }

    /// Checks that values may be changed or destroyed, and that plugin code may run.
    ///
    /// # Errors
    /// Returns [`CallError::Borrowed`] while a slice is borrowed.
    #[inline]
    pub fn allow_change(&self, action: &dyn std::fmt::Display) -> Result<(), CallError> {
        if self.are_out() { Err(self.refusal(action)) } else { Ok(()) }
    }

    /// Checks that values may be read.
    ///
    /// # Errors
    /// Returns [`CallError::Borrowed`] while a mutable slice is borrowed.
    #[inline]
    pub fn allow_read(&self, action: &dyn std::fmt::Display) -> Result<(), CallError> {
        if self.shared.word.out.load(Ordering::Relaxed) >= Slices::EXCLUSIVE {
            Err(self.refusal(action))
        } else {
            Ok(())
        }
    }

    #[cold]
    fn refusal(&self, action: &dyn std::fmt::Display) -> CallError {
        let module = self.shared.word.module.load(Ordering::Relaxed);
        let message = if module == ModuleId::HOST.0 {
            format!(
                "{action} is refused while a thunk of the host reads an argument inside an object: take a copy with \
                 `Frame::take` or `Frame::take_value` instead of stepping to it, or do it after the call"
            )
        } else {
            let lenders = self.shared.lenders.borrow();
            let lender = lenders.get(&module).map_or("a module", |name| name);
            format!(
                "{action} is refused while {lender} holds a slice of host memory: do it after the call that lent it, by \
                 `Runtime::post_handle` for instance"
            )
        };
        CallError::Borrowed { message }
    }
}

/// Guard that prevents moves and changes of values.
#[derive(Debug)]
pub(crate) struct Held(BorrowedSlices);

impl Held {
    /// Drops the guard and returns its counter.
    pub(crate) fn release(self) -> BorrowedSlices {
        self.0.clone()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.shared.held.update(|held| held - 1);
        self.0.shared.word.out.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use alcedo_abi::host::Slices;

    use super::BorrowedSlices;

    #[test]
    fn borrows_decide_what_is_refused_and_end_with_their_module() {
        let slices = BorrowedSlices::new();
        slices.introduce(7, "values");
        slices.shared.word.module.store(7, Ordering::Relaxed);
        for (out, read, change) in [
            (0, true, true),
            (1, true, false),
            (3, true, false),
            (Slices::EXCLUSIVE, false, false),
            (Slices::EXCLUSIVE + 1, false, false),
        ] {
            slices.shared.word.out.store(out, Ordering::Relaxed);
            let found = (slices.allow_read(&"reading").is_ok(), slices.allow_change(&"writing").is_ok());
            assert_eq!(found, (read, change), "{out}");
        }
        let refused = slices.allow_change(&"destroying #1.1").expect_err("a slice is out").to_string();
        assert!(refused.starts_with("destroying #1.1 is refused while values holds a slice"), "{refused}");
        slices.forget(6);
        assert!(slices.are_out());
        slices.forget(7);
        assert!(!slices.are_out());
    }

    #[test]
    fn memory_held_by_the_host_is_read_only_until_released() {
        let slices = BorrowedSlices::new();
        let (first, second) = (slices.hold(), slices.hold());
        drop(first);
        assert!(slices.allow_read(&"reading").is_ok());
        let refused = slices.allow_change(&"writing to #1.1").expect_err("one is left").to_string();
        assert!(refused.contains("a thunk of the host reads an argument"), "{refused}");
        drop(second);
        assert!(slices.allow_change(&"writing").is_ok());
    }

    #[test]
    fn memory_held_by_the_host_is_held_after_the_borrowing_module_is_unloaded() {
        let slices = BorrowedSlices::new();
        slices.shared.word.module.store(7, Ordering::Relaxed);
        slices.shared.word.out.store(1, Ordering::Relaxed);
        let held = slices.hold();
        slices.forget(7);
        assert!(slices.are_out());
        drop(held);
        assert!(!slices.are_out());
    }
}
