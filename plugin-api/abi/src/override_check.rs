//! Checks of overrides at compile time, and their messages: the attributes of plugins and of hosts expand to them.

use core::marker::PhantomData;

use crate::type_text::{TypeText, nearest};

/// Event of a class: the constant of its name on the view of the class. `E` is its signature as a function type.
#[derive(Clone, Copy, Debug)]
pub struct EventOf<E>(PhantomData<E>);

/// Replaces the constant of an event that the class does not declare.
#[derive(Clone, Copy, Debug)]
pub struct NoEvent;

/// Signature `F` of an override, compared with that of its event.
#[diagnostic::on_unimplemented(
    message = "this override is `{F}`, and its event is `{Self}`",
    label = "parameters or result differ from those of the event",
    note = "an override has the parameters and the result of its event, and may take `self` and `this` before them; `&mut T` is shown as `Out<T>`"
)]
pub trait OverriddenBy<F> {}

impl<F> OverriddenBy<F> for F {}

impl<E> EventOf<E> {
    /// Creates the event of the signature.
    #[expect(clippy::new_without_default, reason = "a constant is made of it")]
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }

    /// Returns true: the class declares the event.
    #[must_use]
    pub const fn is_declared(self) -> bool {
        true
    }

    /// Compiles if the override has the signature of the event.
    pub const fn check<F>(self)
    where
        E: OverriddenBy<F>,
    {
    }
}

impl NoEvent {
    /// Returns false: the class does not declare the event.
    #[must_use]
    pub const fn is_declared(self) -> bool {
        false
    }

    /// Compiles: a missing event is reported as such.
    pub const fn check<F>(self) {}
}

/// Events of a class whose `impl` block has none; an inherent constant takes precedence.
pub trait NoEvents {
    /// The empty list.
    const ALCEDO_EVENTS: &'static [&'static str] = &[];
}

impl<T> NoEvents for T {}

/// Returns the message about an override of an event that the class does not declare: `problem`, then the class of the `base` that
/// declares it or the most similar of `events`, then the `id` of the rule.
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
