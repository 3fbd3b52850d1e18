//! Values in host memory by number, for code that does not know their types: it passes them on, copies them, asks what they
//! are, and opens them as what it hopes them to be.

use core::fmt;
use core::panic::Location;
use core::time::Duration;

use alcedo_abi::handles::{BlackHandle, ConjugateHandle};
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::values::{ConjugateState, color};
use alcedo_rt::CallError;

use super::Kind;
use crate::host;

/// A value in host memory by its number, whatever its type is.
///
/// A *red* one is the host's, and lent for a call: [`Lent::lend`](crate::Lent::lend) gives one, and a host may pass a number. It may
/// be kept in fields, but it leads nowhere as soon as that call has returned; then every use is the error `EXPIRED`, which names kind
/// and age. A [`clone`](Clone::clone) of any is *black*: it belongs to the code that made it, may be kept, and may be
/// dropped on any thread. Such are results of [`ObjectView::zcall_any`](crate::ObjectView::zcall_any) too.
///
/// It may be sent to other threads, and dropped there. Only the game thread can ask about it: on others it looks expired, of no
/// known kind.
///
/// ```ignore
/// let sum: f64 = this.zcall_any("ex:/sum", (this.scores().lend()?,))?;
/// ```
pub struct AnyConjugate {
    handle: ConjugateHandle,
    /// Checks that the value is destroyed with this number.
    is_own: bool,
}

impl AnyConjugate {
    /// The conjugate of a number, be there one or not; its owner stays its owner.
    #[must_use]
    pub const fn from_number(number: u64) -> Self {
        Self { handle: ConjugateHandle(number), is_own: false }
    }

    /// A black that the host gave to this module.
    pub(crate) const fn own(handle: ConjugateHandle) -> Self {
        Self { handle, is_own: true }
    }

    /// The conjugate of a value that plugin code owns; it goes on being the value's.
    #[must_use]
    pub fn of<K: Kind>(value: &K) -> Self {
        Self { handle: value.owned().handle().into(), is_own: false }
    }

    /// Its number, as it stands in the slots of calls.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.handle.0
    }

    /// Whether plugin code or another caller owns the value; a number that was never given out has no owner.
    #[must_use]
    pub fn is_black(&self) -> bool {
        self.state().is_some_and(|state| state.color == color::BLACK)
    }

    /// Whether it leads to a value no more, or never did.
    #[must_use]
    pub fn is_expired(&self) -> bool {
        self.state().is_none_or(|state| state.expired != 0)
    }

    /// The kind of its value, also when it has expired; none for a number that was never given out.
    #[must_use]
    pub fn kind(&self) -> Option<PropertyKind> {
        self.state().map(|state| state.kind)
    }

    /// How long ago it was made or lent, at least.
    #[must_use]
    pub fn age(&self) -> Option<Duration> {
        self.state().map(|state| Duration::from_nanos(state.age))
    }

    /// The type of its value in words: `Map(Name, Array(f64))`.
    ///
    /// # Errors
    /// `EXPIRED`, with kind and age; `NOT_FOUND` for a number that was never given out; `WRONG_THREAD`.
    pub fn type_text(&self) -> Result<String, CallError> {
        host::conjugate_type(self.handle)
    }

    /// A copy of the value, which plugin code owns and may keep.
    ///
    /// # Errors
    /// `EXPIRED`, with kind and age; `NOT_FOUND` for a number that was never given out; `WRONG_THREAD`.
    #[track_caller]
    pub fn try_clone(&self) -> Result<Self, CallError> {
        host::conjugate_clone(self.handle, Location::caller()).map(|black| Self::own(black.into()))
    }

    /// Checks that the value is destroyed with this number.
    pub(super) fn is_own(&self) -> bool {
        self.is_own
    }

    fn state(&self) -> Option<ConjugateState> {
        host::conjugate_state(self.handle)
    }
}

impl Clone for AnyConjugate {
    /// As [`Self::try_clone`]; the running call fails where that is refused.
    #[track_caller]
    fn clone(&self) -> Self {
        self.try_clone().unwrap_or_else(|error| alcedo_rt::fail(error))
    }
}

impl Drop for AnyConjugate {
    fn drop(&mut self) {
        if self.is_own {
            host::black_drop(BlackHandle(self.handle.0));
        }
    }
}

impl fmt::Debug for AnyConjugate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.handle.0;
        let Some(ConjugateState { color, expired, kind, .. }) = self.state() else {
            return write!(f, "unknown {number:#x}, expired");
        };
        let color = if color == color::BLACK { "black" } else { "red" };
        let expired = if expired == 0 { "" } else { ", expired" };
        write!(f, "{color} {} {number:#x}{expired}", kind.text().unwrap_or("?"))
    }
}
