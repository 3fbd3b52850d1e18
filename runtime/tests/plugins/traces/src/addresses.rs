//! Stores a number in a variable of this module. In a test, the number equals an address in another module: a reference for a memory scan.

use std::sync::atomic::{AtomicUsize, Ordering};

static KEPT: AtomicUsize = AtomicUsize::new(0);

/// Stores the number that follows the first space of the argument.
pub(crate) fn keep(number: &str) {
    let number = number.split_once(' ').and_then(|(_, number)| number.parse().ok()).expect("a number");
    KEPT.store(number, Ordering::SeqCst);
}

/// Returns the addresses of a function, of a byte in this function, of a constant and of heap memory.
pub(crate) fn of_this_module() -> String {
    let function = (keep as fn(&str)) as usize;
    let memory = std::ptr::from_ref(Box::leak(Box::new([7u64; 16]))).addr();
    format!("{function} {} {} {memory}", function + 1, std::ptr::from_ref("constant").addr())
}
