//! Behind which doors plugin halves are. Each dynamic class of a module has one, which is open as long as the module takes
//! calls; what stands beside an object is a part and the number of its door. So whether a part is good, and of which class it
//! is, takes one look at one row, and a generation is set aside without a walk over its objects.
#![expect(unsafe_code, reason = "vouches that zero bytes are a door")]

use crate::handles::ClassId;
use crate::object::row::Row;

/// All doors, by number. Numbers do not come again, since what stands beside an object may outlast its module. Game thread
/// only.
#[derive(Debug)]
pub(super) struct Doors {
    row: Row<Door>,
}

/// A door: the number of its class, and behind it whether it is open, in one word since the two are asked together. Zero is
/// nobody's and shut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
struct Door(u64);

impl Door {
    fn new(class: ClassId, is_open: bool) -> Self {
        Self(u64::from(class.0) << 1 | u64::from(is_open))
    }
}

impl Default for Doors {
    fn default() -> Self {
        // SAFETY: a door is a number, which may be zero.
        let row = unsafe { Row::new() };
        row.push();
        Self { row }
    }
}

impl Doors {
    /// The number of a new door, to the parts of a class.
    pub(super) fn add(&self, class: ClassId, is_open: bool) -> u32 {
        let number = self.row.len();
        self.row.push();
        self.row.set(number, Door::new(class, is_open));
        number
    }

    /// Opens or shuts a door.
    pub(super) fn set_open(&self, number: u32, is_open: bool) {
        if let Some(Door(word)) = self.row.get(number) {
            self.row.set(number, Door(word & !1 | u64::from(is_open)));
        }
    }

    /// Whether that door is open and leads to parts of that class.
    #[inline]
    pub(super) fn leads(&self, number: u32, class: ClassId) -> bool {
        self.row.get(number) == Some(Door::new(class, true))
    }
}
