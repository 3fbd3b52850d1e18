//! From types of the border to the host's own, and back: what a body takes, and how what it gives gets to the module.
#![expect(unsafe_code, reason = "follows what a module lends for a call")]

use std::rc::Rc;

use alcedo_abi::call::Status;
use alcedo_abi::list::prelude::*;

use crate::border::CallError;
use crate::zcall::buffer::BufferMut;
use crate::zcall::table::status_of;

/// A type of parameters, and what a body takes for it.
pub(super) trait Given {
    /// What the body takes.
    type As;

    /// Makes it so.
    ///
    /// # Safety
    /// It is what a module gave for a call that lasts, by the promises of the lists: texts are readable, and a buffer lends its
    /// slots, unshared, with pointers that are right for the call.
    unsafe fn given(self) -> Self::As;
}

impl Given for TextView {
    type As = String;

    unsafe fn given(self) -> String {
        // SAFETY: promised by the caller.
        unsafe { text_of(self) }
    }
}

impl<'a> Given for RStr<'a> {
    type As = &'a str;

    unsafe fn given(self) -> &'a str {
        self.as_str()
    }
}

impl<'a> Given for &'a mut ZCallBuffer {
    type As = BufferMut<'a>;

    unsafe fn given(self) -> BufferMut<'a> {
        // SAFETY: promised by the caller.
        unsafe { BufferMut::from_raw(self) }
    }
}

macro_rules! as_they_are {
    ($([$($generic:tt)*] $ty:ty,)*) => {
        $(impl<$($generic)*> Given for $ty {
            type As = Self;

            #[inline]
            unsafe fn given(self) -> Self {
                self
            }
        })*
    };
}

as_they_are! {
    ['a, T] &'a T,
    [T] *const T,
    [T] *mut T,
    [] u32,
    [] u64,
    [] usize,
    [] BlackHandle,
    [] ClassId,
    [] ConjugateHandle,
    [] JobId,
    [] Name,
    [] ObjectHandle,
    [] SpanStep,
    [] TypeNumber,
    [] ZCallHandle,
}

/// Where results of a call are written, and what a body gives for it.
pub(super) trait Fill<V> {
    /// What is left to be given back as the result of the function itself.
    type Left;

    /// Writes it there.
    fn fill(self, value: V) -> Self::Left;
}

impl<V> Fill<V> for () {
    type Left = V;

    #[inline]
    fn fill(self, value: V) -> V {
        value
    }
}

impl<T> Fill<T> for &mut T {
    type Left = ();

    #[inline]
    fn fill(self, value: T) {
        *self = value;
    }
}

impl Fill<bool> for &mut u8 {
    type Left = ();

    #[inline]
    fn fill(self, value: bool) {
        *self = value.into();
    }
}

impl<A, B, V, W> Fill<(V, W)> for (&mut A, &mut B)
where
    for<'a> &'a mut A: Fill<V, Left = ()>,
    for<'a> &'a mut B: Fill<W, Left = ()>,
{
    type Left = ();

    #[inline]
    fn fill(self, (first, second): (V, W)) {
        self.0.fill(first);
        self.1.fill(second);
    }
}

impl Fill<String> for &TextSink {
    type Left = ();

    fn fill(self, text: String) {
        put(self, &text);
    }
}

impl Fill<Rc<str>> for &TextSink {
    type Left = ();

    fn fill(self, text: Rc<str>) {
        put(self, &text);
    }
}

impl Fill<Option<String>> for &TextSink {
    type Left = ();

    fn fill(self, text: Option<String>) {
        if let Some(text) = text {
            put(self, &text);
        }
    }
}

/// How a call that a module made ended, in the words of its result.
pub(super) trait Answer<V, E> {
    /// The result, and the failure where there is one and the caller takes it.
    fn answer(done: Result<V, E>, failure: Option<&mut Failure>) -> Self;
}

impl Answer<(), CallError> for Status {
    #[inline]
    fn answer(done: Result<(), CallError>, failure: Option<&mut Failure>) -> Self {
        match done {
            Ok(()) => Self::OK,
            Err(error) => {
                report(&error, failure);
                Self::FAILED
            }
        }
    }
}

/// Why a ZCall did not do its work: the status says more than the error where no dispatcher was found.
pub(super) struct Refused {
    pub(super) status: ZCallStatus,
    pub(super) error: CallError,
}

impl From<CallError> for Refused {
    fn from(error: CallError) -> Self {
        Self { status: status_of(&error), error }
    }
}

impl<E: Into<Refused>> Answer<(), E> for ZCallStatus {
    #[inline]
    fn answer(done: Result<(), E>, failure: Option<&mut Failure>) -> Self {
        match done {
            Ok(()) => Self::SUCCESS,
            Err(error) => {
                let Refused { status, error } = error.into();
                report(&error, failure);
                status
            }
        }
    }
}

impl Answer<(), CallError> for () {
    fn answer(_done: Result<(), CallError>, _failure: Option<&mut Failure>) -> Self {}
}

impl Answer<u64, CallError> for u64 {
    fn answer(done: Result<u64, CallError>, _failure: Option<&mut Failure>) -> Self {
        done.unwrap_or(0)
    }
}

impl Answer<bool, CallError> for u8 {
    fn answer(done: Result<bool, CallError>, _failure: Option<&mut Failure>) -> Self {
        done.is_ok_and(|is_so| is_so).into()
    }
}

#[cold]
fn report(error: &CallError, failure: Option<&mut Failure>) {
    if let Some(failure) = failure {
        *failure = error.to_failure();
    }
}

/// Copies a text that was lent.
///
/// # Safety
/// The view's bytes are readable.
pub(super) unsafe fn text_of(view: TextView) -> String {
    if view.len == 0 {
        return String::new();
    }
    // SAFETY: promised by the caller.
    let bytes = unsafe { std::slice::from_raw_parts(view.data, view.len) };
    String::from_utf8_lossy(bytes).into_owned()
}

fn put(sink: &TextSink, text: &str) {
    // SAFETY: the sink's maker promised that `put` copies what it is lent and does not unwind.
    unsafe { (sink.put)(sink.context, text.as_ptr(), text.len()) };
}
