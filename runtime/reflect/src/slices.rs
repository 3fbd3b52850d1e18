//! Slices of host memory that plugin code holds: while one is out, what it points to may not be moved or changed, and
//! below one that may be written it may not be read either. A module refuses its own calls meanwhile; but its log lines
//! run code of the host, which could write to the very array. So modules count their slices in a word of the host's,
//! and whatever reads or changes values, runs plugin code or ends anything looks at it first. A frame of the host whose thunk
//! looks into an argument that lies in an object counts in the same word.

use std::rc::Rc;
use std::sync::atomic::Ordering;

use alcedo_abi::host::Slices;
use alcedo_base::border::CallError;
use alcedo_base::cells::RefCell;
use alcedo_base::handles::ModuleId;
use rustc_hash::FxHashMap;

/// The slices that are out. Clones are the same count. Game thread only.
#[derive(Clone, Debug)]
pub struct LentSlices {
    shared: Rc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Its address is given to plugins, so it never moves: it lies in this `Rc`.
    word: Slices,
    /// What the modules are called that may lend.
    lenders: RefCell<FxHashMap<u64, Box<str>>>,
}

impl LentSlices {
    /// None is out.
    pub(crate) fn new() -> Self {
        Self { shared: Rc::new(Shared { word: Slices::none(), lenders: RefCell::default() }) }
    }

    /// Where modules count. Valid as long as a clone lives.
    #[inline]
    pub fn address(&self) -> *const Slices {
        &raw const self.shared.word
    }

    /// How errors call a module.
    #[inline]
    pub fn introduce(&self, module: u64, name: &str) {
        self.shared.lenders.borrow_mut().insert(module, name.into());
    }

    /// A module is gone, and with it whatever it might have lent.
    #[inline]
    pub fn forget(&self, module: u64) {
        self.shared.lenders.borrow_mut().remove(&module);
        if self.shared.word.module.load(Ordering::Relaxed) == module {
            self.shared.word.out.store(0, Ordering::Relaxed);
        }
    }

    /// Whether any slice is out.
    #[inline]
    pub fn are_out(&self) -> bool {
        self.shared.word.out.load(Ordering::Relaxed) != 0
    }

    /// Keeps everything where it lies until what is given back is dropped: as a slice that is only read does.
    pub(crate) fn hold(&self) -> Held {
        let word = &self.shared.word;
        if !self.are_out() {
            word.module.store(ModuleId::HOST.0, Ordering::Relaxed);
        }
        word.out.fetch_add(1, Ordering::Relaxed);
        Held(self.clone())
    }

    /// That values may be changed or ended now, and plugin code be run.
    ///
    /// # Errors
    /// [`CallError::Lent`] while a slice is out.
    #[inline]
    pub fn allow_change(&self, action: &dyn std::fmt::Display) -> Result<(), CallError> {
        if self.are_out() { Err(self.refusal(action)) } else { Ok(()) }
    }

    /// That values may be read now.
    ///
    /// # Errors
    /// [`CallError::Lent`] while a slice is out that may be written.
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
        if module == ModuleId::HOST.0 {
            return CallError::Lent {
                message: format!(
                    "{action} is refused while a thunk of the host looks into an argument that lies in an object: take a copy \
                     with `Frame::take` or `Frame::take_value` instead of stepping to it, or do it after the call"
                ),
            };
        }
        let lenders = self.shared.lenders.borrow();
        let lender = lenders.get(&module).map_or("a module", |name| name);
        CallError::Lent {
            message: format!(
                "{action} is refused while {lender} holds a slice of host memory: do it after the call that lent it, by \
                 `Runtime::post_handle` for instance"
            ),
        }
    }
}

/// Nothing is moved or changed while this lives.
#[derive(Debug)]
pub(crate) struct Held(LentSlices);

impl Held {
    /// Ends it. What it was a hold of.
    pub(crate) fn release(self) -> LentSlices {
        self.0.clone()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.shared.word.out.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use alcedo_abi::host::Slices;

    use super::LentSlices;

    #[test]
    fn what_is_lent_decides_what_is_refused_and_a_module_that_is_gone_lends_nothing() {
        let slices = LentSlices::new();
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
    fn what_the_host_holds_may_be_read_and_not_changed_until_the_last_hold_ends() {
        let slices = LentSlices::new();
        let (first, second) = (slices.hold(), slices.hold());
        drop(first);
        assert!(slices.allow_read(&"reading").is_ok());
        let refused = slices.allow_change(&"writing to #1.1").expect_err("one is left").to_string();
        assert!(refused.contains("a thunk of the host looks into an argument"), "{refused}");
        drop(second);
        assert!(slices.allow_change(&"writing").is_ok());
    }
}
