//! Interned names: 4-byte values that are equal if and only if their strings are equal.

use alcedo_abi::handles::Name;

use crate::{CallError, ObjectView, host};

/// Name in the host's name table, which stores the string. Names are cheap to copy and compare. Names are ordered by the time of their
/// insertion into the table, not alphabetically.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
///
/// struct Team {
///     color: UName,
/// }
///
/// fn paint(team: &mut Team, this: This<'_, Object>) -> Result<(), CallError> {
///     let red = UName::of(&this, "red")?;
///     if team.color != red {
///         team.color = red;
///     }
///     assert_eq!(team.color.text(&this), "red");
///     Ok(())
/// }
///
/// let unpainted = Team { color: UName::NONE };
/// assert!(unpainted.color.is_none());
/// ```
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
pub struct UName(pub(crate) Name);

impl UName {
    /// The empty name.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// assert_eq!(UName::NONE, UName::default());
    /// ```
    pub const NONE: Self = Self(Name(0));

    /// Interns `text` as a name. `this` may be any object of the running call.
    ///
    /// # Errors
    /// Fails if no host is attached.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn set_state(state: &mut UName, this: This<'_, Object>) {
    ///     match UName::of(&this, "burning") {
    ///         Ok(name) => *state = name,
    ///         Err(error) => eprintln!("the state is unchanged: {error}"),
    ///     }
    /// }
    /// ```
    pub fn of(_this: &ObjectView<'_>, text: &str) -> Result<Self, CallError> {
        host::intern(text).map(Self)
    }

    /// Returns the string of the name. `this` may be any object of the running call.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn describe(state: UName, this: This<'_, Object>) -> String {
    ///     format!("{} is {}", this.name(), state.text(&this))
    /// }
    /// ```
    #[must_use]
    pub fn text(self, _this: &ObjectView<'_>) -> String {
        host::name_text(self.0)
    }

    /// Returns true for the empty name.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// let key_of_door = UName::NONE;
    /// assert!(key_of_door.is_none(), "the door has no lock");
    /// ```
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.0.0 == 0
    }
}
