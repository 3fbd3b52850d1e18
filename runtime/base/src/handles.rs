//! The names of things, as the whole runtime uses them. Their layout is fixed by the border crate.

use std::cell::Cell;

pub use alcedo_abi::handles::{ClassId, PartPtr};
pub use alcedo_abi::handles::{Name, ObjectHandle, ZCallHandle};

/// Which Master load context a thing belongs to. The host itself, whose things never end, is generation zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Generation(pub u64);

impl Generation {
    /// The host's own.
    pub const HOST: Self = Self(0);
}

impl std::fmt::Display for Generation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

thread_local! {
    static LAST_SERIAL: Cell<u32> = const { Cell::new(u32::MAX) };
}

/// How many tenants a slot of objects or conjugates has, one after the other, in a store that is made on this thread now.
pub fn last_serial() -> u32 {
    LAST_SERIAL.get()
}

/// Makes stores whose slots have so many tenants and no more, so that a test can see all slots used up.
pub fn with_last_serial<R>(last: u32, make: impl FnOnce() -> R) -> R {
    struct Before(u32);
    impl Drop for Before {
        fn drop(&mut self) {
            LAST_SERIAL.set(self.0);
        }
    }
    let _before = Before(LAST_SERIAL.replace(last.max(1)));
    make()
}

/// One loaded module, counted over the life of the runtime. A module that is loaded again has a new number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ModuleId(pub u64);

impl ModuleId {
    /// Stands for the host itself, whose things never end.
    pub const HOST: Self = Self(0);
}
