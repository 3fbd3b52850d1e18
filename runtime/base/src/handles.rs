//! Handles and ids of the runtime. The ABI crate defines their layout.

use std::cell::Cell;

pub use alcedo_abi::handles::{ClassId, PartPtr};
pub use alcedo_abi::handles::{Name, ObjectHandle, ZCallHandle};

use crate::cells::Restore;

/// Generation number of the Master load context. Generation zero denotes the host, which is never unloaded.
///
/// # Examples
/// ```
/// use alcedo_base::handles::Generation;
///
/// let loaded = Generation(3);
/// assert!(loaded > Generation::HOST);
/// assert_eq!(format!("generation {loaded}"), "generation 3");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Generation(pub u64);

impl Generation {
    /// Generation of the host.
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

/// Returns the maximum number of objects or conjugates that may use one slot in succession. A store reads this limit when it is created.
/// Each thread has its own limit.
pub fn last_serial() -> u32 {
    LAST_SERIAL.get()
}

/// Runs `make` with a lower serial limit: stores that `make` creates use each slot at most `last` times. With a low limit, a test can
/// exhaust all slots.
///
/// # Examples
/// ```
/// use alcedo_base::handles::{last_serial, with_last_serial};
///
/// assert_eq!(with_last_serial(2, last_serial), 2);
/// assert_eq!(last_serial(), u32::MAX);
/// ```
pub fn with_last_serial<R>(last: u32, make: impl FnOnce() -> R) -> R {
    LAST_SERIAL.with(|serial| {
        let _before = Restore::in_cell(serial, last.max(1));
        make()
    })
}

/// Id of a loaded module. Every load receives a new id. The runtime never reuses an id.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ModuleId(pub u64);

impl ModuleId {
    /// Id of the host's own module, which is never unloaded.
    pub const HOST: Self = Self(0);
}
