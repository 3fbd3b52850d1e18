//! Values in host memory without a static type. Code can forward or copy such a value, query its type, or open it as an expected type.

use core::fmt;
use core::panic::Location;
use core::time::Duration;

use alcedo_abi::handles::{BlackHandle, ConjugateHandle};
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::values::{ConjugateState, color};
use alcedo_rt::CallError;

use super::Kind;
use crate::host;

/// Reference to a value of any type in host memory, identified by a number that the host has assigned.
///
/// A *red* value belongs to the host, which lends the value for one call. [`Borrowed::to_conjugate`](crate::Borrowed::to_conjugate)
/// returns a reference to a red value; a host can also pass the number of a red value. A field may store the reference, but after the call
/// has returned, each use of the reference fails with `EXPIRED` and reports kind and age. A [`clone`](Clone::clone) is *black*: plugin
/// code owns the copy, may store it, and may drop it on any thread. Results of [`ObjectView::zcall_any`](crate::ObjectView::zcall_any) are
/// also black.
///
/// The reference may be sent to other threads and dropped there. Only the game thread can query the value. On all other threads,
/// `is_expired` returns `true`, and `kind` returns `None`.
///
/// # Examples
/// ```
/// # use alcedo_plugin_api::prelude::*;
/// # #[uclass(package = "Game")]
/// # #[derive(Default)]
/// # pub struct Board {
/// #     #[uproperty]
/// #     scores: UArray<f64>,
/// # }
/// fn sorted(board: This<'_, Board>) -> Result<Vec<f64>, CallError> {
///     let scores = board.scores().to_conjugate()?; // red: valid during this call
///     let sorted: AnyConjugate = board.zcall_any("ex:/sort", (scores,))?; // black: owned
///     Ok(sorted.as_::<UArray<f64>>(&board)?.to_vec())
/// }
/// ```
pub struct AnyConjugate {
    handle: ConjugateHandle,
    /// `true` if dropping this reference destroys the value.
    is_own: bool,
}

impl AnyConjugate {
    /// Creates a reference from the number of a conjugate, without ownership of the conjugate. The conjugate need not exist.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// /// Opens a value whose number was passed by a host.
    /// fn total(this: This<'_, Object>, number: u64) -> Result<f64, CallError> {
    ///     let scores = AnyConjugate::from_number(number);
    ///     let scores = scores.as_::<UArray<f64>>(&this)?;
    ///     Ok(scores.iter().sum())
    /// }
    ///
    /// assert!(AnyConjugate::from_number(7).is_expired(), "no host has a value with this number");
    /// ```
    #[must_use]
    pub const fn from_number(number: u64) -> Self {
        Self { handle: ConjugateHandle(number), is_own: false }
    }

    /// Creates a reference to a value that the host created for this module.
    pub(crate) const fn own(handle: ConjugateHandle) -> Self {
        Self { handle, is_own: true }
    }

    /// Returns a reference to an owned value. Dropping the reference does not destroy the value.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// /// Passes an owned list to a function whose parameter types are unknown.
    /// fn publish(this: This<'_, Object>, scores: &UArray<f64>) -> Result<(), CallError> {
    ///     this.zcall_any("ex:/scores.publish", (AnyConjugate::of(scores),))
    /// }
    /// ```
    #[must_use]
    pub fn of<K: Kind>(value: &K) -> Self {
        Self { handle: value.owned().handle().into(), is_own: false }
    }

    /// Returns the number of the value. Call slots contain this number.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// let value = AnyConjugate::from_number(7);
    /// assert_eq!(value.number(), 7);
    /// ```
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.handle.0
    }

    /// Returns `true` if the value is black, that is, owned by plugin code or by an external caller of the host. Returns `false` for an
    /// unknown number.
    #[must_use]
    pub fn is_black(&self) -> bool {
        self.state().is_some_and(|state| state.color == color::BLACK)
    }

    /// Returns `true` if the value was destroyed, if the call that lent the value has returned, or if the number is unknown.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn remove_expired(values: &mut Vec<AnyConjugate>) {
    ///     values.retain(|value| !value.is_expired());
    /// }
    /// ```
    #[must_use]
    pub fn is_expired(&self) -> bool {
        self.state().is_none_or(|state| state.expired != 0)
    }

    /// Returns the kind of the value, even if the value has expired. Returns `None` for an unknown number.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn is_list(value: &AnyConjugate) -> bool {
    ///     value.kind() == Some(PropertyKind::ARRAY)
    /// }
    /// assert!(!is_list(&AnyConjugate::from_number(7)), "the number is unknown");
    /// ```
    #[must_use]
    pub fn kind(&self) -> Option<PropertyKind> {
        self.state().map(|state| state.kind)
    }

    /// Returns a lower bound of the time since the value was created or lent. Returns `None` for an unknown number.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn warn_about_old(value: &AnyConjugate) {
    ///     if let Some(age) = value.age() {
    ///         tracing::warn!("{value:?} is at least {age:?} old");
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn age(&self) -> Option<Duration> {
        self.state().map(|state| Duration::from_nanos(state.age))
    }

    /// Returns the type of the value as a string: `Map(Name, Array(f64))`.
    ///
    /// # Errors
    /// Fails with `EXPIRED` if the value no longer exists; the error contains kind and age. Fails with `NOT_FOUND` for an unknown number,
    /// or with `WRONG_THREAD` on threads except the game thread.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn describe(value: &AnyConjugate) -> String {
    ///     value.type_text().unwrap_or_else(|error| format!("no value: {error}"))
    /// }
    /// ```
    pub fn type_text(&self) -> Result<String, CallError> {
        host::host("reading the type of a conjugate")?.conjugate_type(self.handle)
    }

    /// Returns an owned copy of the value.
    ///
    /// # Errors
    /// Fails with `EXPIRED` if the value no longer exists; the error contains kind and age. Fails with `NOT_FOUND` for an unknown number,
    /// or with `WRONG_THREAD` on threads except the game thread.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// /// Keeps a copy of a value that is lent for this call.
    /// fn keep(kept: &mut Vec<AnyConjugate>, borrowed: &AnyConjugate) {
    ///     match borrowed.try_clone() {
    ///         Ok(copy) => kept.push(copy),
    ///         Err(error) => tracing::warn!("not kept: {error}"),
    ///     }
    /// }
    /// ```
    #[track_caller]
    pub fn try_clone(&self) -> Result<Self, CallError> {
        host::conjugate_clone(self.handle, Location::caller()).map(|black| Self::own(black.into()))
    }

    /// Returns `true` if dropping this reference destroys the value.
    pub(super) fn is_own(&self) -> bool {
        self.is_own
    }

    fn state(&self) -> Option<ConjugateState> {
        host::conjugate_state(self.handle)
    }
}

impl Clone for AnyConjugate {
    /// Calls [`Self::try_clone`]. If an error occurs, the running call fails.
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
