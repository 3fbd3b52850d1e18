//! Interned names: four bytes that are equal exactly when their texts are.

use alcedo_abi::handles::Name;

use crate::{CallError, ObjectView, host};

/// A name of the host's name table. Cheap to copy and compare; its text stays with the host. Names are ordered as the table
/// got them, which is not by their letters.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
pub struct UName(pub(crate) Name);

impl UName {
    /// The empty name.
    pub const NONE: Self = Self(Name(0));

    /// The name of `text`. `this` is any object of the running call.
    ///
    /// # Errors
    /// When no host is attached.
    pub fn of(_this: &ObjectView<'_>, text: &str) -> Result<Self, CallError> {
        host::intern(text).map(Self)
    }

    /// Its text. `this` is any object of the running call.
    #[must_use]
    pub fn text(self, _this: &ObjectView<'_>) -> String {
        host::name_text(self.0)
    }

    /// Whether it is the empty name.
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.0.0 == 0
    }
}
