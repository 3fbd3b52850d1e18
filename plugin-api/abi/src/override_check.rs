//! Compile-time checks of overrides, and their messages. The attribute macros for plugins and hosts expand to these checks.

use core::marker::PhantomData;

use crate::type_text::{TypeText, nearest};

/// Type of a constant that represents an event. The constant belongs to the view of the class, and its name contains the event's name. `E`
/// is the event's signature as a function type.
#[derive(Clone, Copy, Debug)]
pub struct EventOf<E>(PhantomData<E>);

/// Replaces [`EventOf`] if the class does not declare the event.
#[derive(Clone, Copy, Debug)]
pub struct NoEvent;

/// Requires that the signature `F` of an override equals the event's signature.
#[diagnostic::on_unimplemented(
    message = "this override is `{F}`, and its event is `{Self}`",
    label = "parameters or result differ from those of the event",
    note = "an override has the parameters and the result of its event, and may take `self` and `this` before them; `&mut T` is shown as `Out<T>`"
)]
pub trait OverriddenBy<F> {}

impl<F> OverriddenBy<F> for F {}

impl<E> EventOf<E> {
    /// Creates the constant of an event with the signature `E`.
    #[expect(clippy::new_without_default, reason = "`Default::default` is not const, and constants call `new`")]
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }

    /// Returns true, because the class declares the event.
    #[must_use]
    pub const fn is_declared(self) -> bool {
        true
    }

    /// Compiles only if the override has the signature of the event.
    pub const fn check<F>(self)
    where
        E: OverriddenBy<F>,
    {
    }
}

impl NoEvent {
    /// Returns false, because the class does not declare the event.
    #[must_use]
    pub const fn is_declared(self) -> bool {
        false
    }

    /// Accepts every signature, because a separate message reports the missing event.
    pub const fn check<F>(self) {}
}

/// Provides an empty list of events for each class. The inherent constant of a class with events takes precedence over the constant of this
/// trait.
pub trait NoEvents {
    /// Names of the events: none.
    const ALCEDO_EVENTS: &'static [&'static str] = &[];
}

impl<T> NoEvents for T {}

/// Returns the message for an override of an event that the class does not declare. The message contains `problem`, a hint, and the `id` of
/// the rule. The hint names the class `base` that declares the event, or the most similar name in `events`.
#[must_use]
pub const fn no_event(
    problem: &str,
    name: &str,
    events: &[&'static str],
    base: Option<&'static str>,
    id: &str,
) -> TypeText {
    match (base, nearest(events, name)) {
        (Some(base), _) => {
            TypeText::joined(&[problem, ", but its base ", base, " does: name that class in `#[overrides(…)]`", id])
        }
        (None, Some(near)) => TypeText::joined(&[problem, ": the nearest is `", near, "`", id]),
        (None, None) => TypeText::joined(&[problem, ", and none of a similar name", id]),
    }
}
