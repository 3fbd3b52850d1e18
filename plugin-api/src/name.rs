//! Interned names: 4-byte values that are equal exactly if their strings are equal.

use alcedo_abi::handles::Name;

use crate::{CallError, ObjectView, host};

/// A name of the host's name table. Cheap to copy and compare; its string stays in the host. Names are ordered by their
/// insertion into the table, not alphabetically.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
pub struct UName(pub(crate) Name);

impl UName {
    /// The empty name.
    pub const NONE: Self = Self(Name(0));

    /// Interns `text`. `this` is any object of the running call.
    ///
    /// # Errors
    /// No host is attached.
    pub fn of(_this: &ObjectView<'_>, text: &str) -> Result<Self, CallError> {
        host::intern(text).map(Self)
    }

    /// Returns the string of the name. `this` is any object of the running call.
    #[must_use]
    pub fn text(self, _this: &ObjectView<'_>) -> String {
        host::name_text(self.0)
    }

    /// Returns true for the empty name.
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.0.0 == 0
    }
}
