//! Table of the values that this module has registered with the host. The values may have any type. The host identifies each value by a
//! number. The table belongs to the game thread, and drops all values when the module ends, at the latest.

use core::any::Any;
use core::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

thread_local! {
    /// True after the first value was registered. Until then, no code accesses `TABLE`, because the first access would register its
    /// destructor.
    static ANY: Cell<bool> = const { Cell::new(false) };
    static TABLE: RefCell<Table> = RefCell::default();
}

#[derive(Default)]
struct Table {
    last: u64,
    all: BTreeMap<u64, Rc<dyn Any>>,
}

/// Stores the value and returns its number. Numbers are never reused.
pub(crate) fn keep(code: Rc<dyn Any>) -> u64 {
    ANY.set(true);
    TABLE.with_borrow_mut(|table| {
        table.last += 1;
        let number = table.last;
        table.all.insert(number, code);
        number
    })
}

pub(crate) fn find<T: Clone + 'static>(number: u64) -> Option<T> {
    let found = ANY.get().then(|| TABLE.with_borrow(|table| table.all.get(&number).cloned())).flatten()?;
    found.downcast_ref::<T>().cloned()
}

pub(crate) fn drop_one(number: u64) {
    // Dropping the value runs code of the plugin author, which may access the table. Therefore the borrow of the table ends before the
    // drop.
    let removed = ANY.get().then(|| TABLE.with_borrow_mut(|table| table.all.remove(&number)));
    drop(removed);
}

pub(crate) fn drop_all() {
    let removed = ANY.get().then(|| TABLE.with_borrow_mut(|table| core::mem::take(&mut table.all)));
    drop(removed);
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::{drop_all, drop_one, find, keep};

    /// Value whose `Drop` accesses the table.
    struct Reentrant(Rc<()>);

    impl Drop for Reentrant {
        fn drop(&mut self) {
            let number = keep(Rc::new(Rc::clone(&self.0)));
            assert!(find::<Rc<()>>(number).is_some());
            drop_one(number);
        }
    }

    #[test]
    fn a_number_resolves_to_its_value_while_the_value_is_kept() {
        drop_all();
        assert_eq!(find::<u8>(1), None);
        let (one, other) = (keep(Rc::new(1_u8)), keep(Rc::new("two")));
        assert_ne!(one, other);
        assert_eq!((find::<u8>(one), find::<&str>(other), find::<u8>(other)), (Some(1), Some("two"), None));
        drop_one(one);
        assert_eq!(find::<u8>(one), None);
        let counted = Rc::new(());
        keep(Rc::new(Rc::new(Reentrant(Rc::clone(&counted)))));
        drop_all();
        assert_eq!(Rc::strong_count(&counted), 1);
        assert!(keep(Rc::new(1_u8)) > other);
    }
}
