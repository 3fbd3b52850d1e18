//! Methods that call the host's functions, generated from the lists in [`alcedo_abi::list`]. Each method passes the context of this module,
//! and converts the status and failure of the call into a [`CallError`].
#![expect(unsafe_code, reason = "calls the host's functions")]

use core::mem::ManuallyDrop;

use alcedo_abi::call::FailureKind;
use alcedo_abi::host::ModuleContext;
use alcedo_abi::list::prelude::*;

use crate::error::CallError;
use crate::outside::context;

/// The host to which this module is attached, with the current action for error messages. Usable on any thread, because each host function
/// checks the calling thread.
#[derive(Clone, Copy)]
pub struct Host<'a> {
    context: &'static ModuleContext,
    what: &'a str,
}

impl<'a> Host<'a> {
    /// Returns the host while the module is attached. `what` describes the current action in error messages.
    ///
    /// # Safety
    /// While a slice of host memory is borrowed on this thread, the caller calls only host functions that neither change nor move values,
    /// and that run no code outside this module.
    #[inline]
    #[must_use]
    pub unsafe fn attached(what: &'a str) -> Option<Self> {
        context().map(|context| Self { context, what })
    }
}

/// Returns the host for the logging functions below, which are allowed while a slice of host memory is borrowed on this thread.
fn for_records() -> Option<Host<'static>> {
    // SAFETY: the result is used only for the functions below, which change no value. The host rejects changes by its own subscribers.
    unsafe { Host::attached("logging") }
}

pub(crate) fn send_event(record: &LogRecord<'_>) {
    if let Some(host) = for_records() {
        host.log_event(record);
    }
}

/// Reports a panic on this thread to the host, before the stack unwinds.
pub(crate) fn panicked(message: &str, file: &str, line: u32, column: u32) {
    if let Some(host) = for_records() {
        host.panicked(RStr::from_str(message), RStr::from_str(file), line, column);
    }
}

/// Returns true while a call of the host into a module without objects is running on this thread.
pub(crate) fn calls_are_open() -> bool {
    for_records().is_some_and(|host| host.calls_are_open() != 0)
}

/// Opens a span and returns the number that the host assigned to the span. Returns zero without a host.
pub(crate) fn open_span(record: &LogRecord<'_>) -> u64 {
    for_records().map_or(0, |host| host.span_open(record))
}

/// Enters, exits or closes a span.
pub(crate) fn step_span(span: u64, step: SpanStep) {
    if let Some(host) = for_records() {
        host.span_step(span, step);
    }
}

impl core::fmt::Debug for Host<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Host").field("module", &self.context.module).field("what", &self.what).finish()
    }
}

/// Parameter type of a host function in the ABI, with the corresponding type that a caller passes.
pub trait Param: Sized {
    /// Type of the argument that a caller passes.
    type Argument<'a>;

    /// Converts an argument into its ABI type, for one call.
    fn crossing(argument: Self::Argument<'_>) -> Self;
}

impl Param for TextView {
    type Argument<'a> = &'a str;

    #[inline]
    fn crossing(text: &str) -> Self {
        Self::of(text)
    }
}

macro_rules! as_they_are {
    ($([$($generic:tt)*] $ty:ty,)*) => {
        $(impl<$($generic)*> Param for $ty {
            type Argument<'given> = Self;

            #[inline]
            fn crossing(argument: Self) -> Self {
                argument
            }
        })*
    };
}

as_they_are! {
    ['a, T] &'a T,
    ['a, T] &'a mut T,
    ['a] RStr<'a>,
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

/// Return type of a host function in the ABI, with the corresponding type that a caller receives.
pub trait Returned: Sized {
    /// Type that a caller receives if the host function also writes a value of type `T`.
    type Of<T>;

    /// Converts the result of a call. `made` is the value that the host has written. If the call failed, `failure` returns the failure.
    /// `what` describes the caller's action, and `action` is the action that the list of host functions states.
    fn judged<T>(self, made: T, failure: impl FnOnce() -> Option<Failure>, what: &str, action: &str) -> Self::Of<T>;
}

impl Returned for Status {
    type Of<T> = Result<T, CallError>;

    #[inline]
    fn judged<T>(
        self,
        made: T,
        failure: impl FnOnce() -> Option<Failure>,
        _what: &str,
        action: &str,
    ) -> Result<T, CallError> {
        if self == Self::OK {
            return Ok(made);
        }
        Err(match failure() {
            Some(failure) => CallError::from_failure(failure),
            None => CallError::new(FailureKind::WRONG_THREAD, action),
        })
    }
}

impl Returned for ZCallStatus {
    type Of<T> = Result<T, CallError>;

    #[inline]
    fn judged<T>(
        self,
        made: T,
        failure: impl FnOnce() -> Option<Failure>,
        what: &str,
        _action: &str,
    ) -> Result<T, CallError> {
        if self == Self::SUCCESS { Ok(made) } else { Err(not_called(self, failure(), what)) }
    }
}

#[cold]
fn not_called(status: ZCallStatus, failure: Option<Failure>, what: &str) -> CallError {
    if let Some(failure) = failure
        && failure.kind != FailureKind::NONE
    {
        return CallError::from_failure(failure);
    }
    match status {
        ZCallStatus::CONTEXT_UNAVAILABLE | ZCallStatus::DISPATCHER_NOT_FOUND => {
            CallError::new(FailureKind::UNAVAILABLE, what)
        }
        ZCallStatus::BUFFER_ERROR => CallError::new(FailureKind::BUFFER, format!("{what}: the slots do not match")),
        _ => CallError::other(format!("{what}: the call failed with status {} without a reason", status.0)),
    }
}

macro_rules! as_it_is {
    ($([$($generic:tt)*] $ty:ty,)*) => {
        $(impl<$($generic)*> Returned for $ty {
            type Of<T> = Self;

            #[inline]
            fn judged<T>(self, _made: T, _failure: impl FnOnce() -> Option<Failure>, _what: &str, _action: &str) -> Self {
                self
            }
        })*
    };
}

as_it_is! {
    [] (),
    [] u8,
    [] u64,
    [U] *const U,
}

/// Creates a sink that writes into a `String` of this module.
fn sink(text: &mut String) -> TextSink {
    TextSink { context: core::ptr::from_mut(text).cast(), put: put_text }
}

/// Implements `put` for a sink that writes into a `String` of this module.
///
/// # Safety
/// `context` points to a live `String` that no other code uses. `data` points to `len` borrowed bytes.
pub unsafe extern "C" fn put_text(context: *mut (), data: *const u8, len: usize) {
    // SAFETY: the caller promises the `String` and the bytes, and received the sink with exactly this context.
    unsafe { *context.cast::<String>() = borrowed_text(TextView { data, len }) };
}

/// Copies a borrowed string, and replaces invalid UTF-8.
///
/// # Safety
/// The bytes of the view are readable during the call.
#[must_use]
pub unsafe fn borrowed_text(view: TextView) -> String {
    // SAFETY: the caller promises that the bytes of the view are readable.
    String::from_utf8_lossy(unsafe { view.bytes() }).into_owned()
}

macro_rules! or_none {
    () => {
        || None
    };
    ($failure:ident) => {
        || Some(ManuallyDrop::into_inner($failure))
    };
}

macro_rules! string {
    ($sink:ident) => {
        String
    };
}

macro_rules! rule {
    (game_thread) => {
        "Game thread only: fails on other threads."
    };
    (acts) => {
        "Game thread only: fails on other threads, and in new code before the commit."
    };
    (any_thread) => {
        "Callable on any thread, unless stated otherwise above."
    };
    (bare) => {
        "Callable on any thread."
    };
}

macro_rules! methods {
    (
        $(#[doc = $docs:tt])*
        $table:ident, $reference:ident, $field:ident;
        $(
            $(#[doc = $doc:tt])*
            $(#[sabi($mark:ident)])?
            $rule:ident($action:literal $(, $safety:tt)?)
            fn $name:ident(
                $($host:ident $(, $module:ident)?)?; $($param:ident: $ty:ty),*
                $(; returns $($out:ident: $out_ty:ty = $before:expr),+)? $(; text $sink:ident)? $(; or $failure:ident)?
            ) $(-> $result:ty)?;
        )*
    ) => {
        #[allow(unused_parens, reason = "one form for one result and for several")]
        #[allow(unused_mut, reason = "only some functions write to the variable")]
        impl Host<'_> {
            $(
                $(#[doc = $doc])*
                #[doc = ""]
                #[doc = rule!($rule)]
                $(
                    #[doc = concat!("\n# Safety\nThis is `", stringify!($safety), "`: the parameters must be as described above, ")]
                    /// and every address is that of a live value of its type, borrowed for the call.
                )?
                #[inline]
                pub $($safety)? fn $name(
                    self, $($param: <$ty as Param>::Argument<'_>),*
                ) -> <($($result)?) as Returned>::Of<($($($out_ty),+)? $(string!($sink))?)> {
                    let Self { context, what } = self;
                    let call = context.$field.$name();
                    $($(let mut $out: $out_ty = $before;)+)?
                    $(let mut $sink = String::new();)?
                    // The host writes the failure only if the call fails. After a successful call, the empty failure is not dropped,
                    // because its drop costs four calls.
                    $(let mut $failure = ManuallyDrop::new(Failure::none());)?
                    // SAFETY: host pointer and module number are from this module's context.
                    // References and strings are live during the call.
                    // If the host function has further requirements, the method is `unsafe`, and its caller fulfills them.
                    let result = unsafe {
                        call(
                            $(context.$host, $(context.$module,)?)? $(<$ty as Param>::crossing($param),)*
                            $($(&mut $out,)+)? $(&sink(&mut $sink),)? $(&mut *$failure)?
                        )
                    };
                    Returned::judged(
                        result, ($($($out),+)? $($sink)?), or_none!($($failure)?), what, $action,
                    )
                }
            )*
        }
    };
}

alcedo_abi::host_functions!(methods);
alcedo_abi::value_functions!(methods);
