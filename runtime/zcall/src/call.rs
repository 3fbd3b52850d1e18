//! Functions to which call names resolve, the metadata of these functions, and safe access to the slots of one call.

use std::any::Any;
use std::fmt;
use std::rc::Rc;

use alcedo_abi::zcall::SlotValue;

use crate::black_code::BlackCode;
use crate::boundary::CallError;
use crate::buffer::BufferMut;
use crate::handles::ModuleId;
use crate::name::ZCallName;
use crate::signature::CallSignature;

/// Body of a function that can be called by name. Game thread only.
///
/// If the body panics, the caller receives an error. The body may call any function by name, including itself.
///
/// # Examples
/// ```
/// use alcedo_base::boundary::CallError;
/// use alcedo_zcall::call::{Call, Dispatcher, Resolved};
/// use alcedo_zcall::signature::CallSignature;
///
/// struct Wave(u64);
///
/// impl Dispatcher for Wave {
///     fn call(&self, call: Call<'_>) -> Result<(), CallError> {
///         call.into_buffer().set(0, self.0)
///     }
/// }
/// let wave = Resolved::new(CallSignature::new("-> u64".into(), 0, ()), Wave(3));
/// assert_eq!(wave.signature_text(), "-> u64");
/// ```
pub trait Dispatcher {
    /// Executes the call.
    ///
    /// If the call fails, returns the reason as an error, which the caller of the function receives.
    fn call(&self, call: Call<'_>) -> Result<(), CallError>;

    /// Returns the concrete implementation, if this dispatcher exposes it. Some callers use the concrete type for a fast path.
    #[doc(hidden)]
    fn inner(&self) -> Option<&dyn Any> {
        None
    }
}

impl<F: Fn(Call<'_>) -> Result<(), CallError>> Dispatcher for F {
    fn call(&self, call: Call<'_>) -> Result<(), CallError> {
        self(call)
    }
}

/// Call of a function, with access to the arguments and to the slot for the result. The signature that the caller was built for was
/// already compared with the signature of the function.
///
/// # Examples
/// ```
/// use alcedo_base::boundary::CallError;
/// use alcedo_zcall::call::Call;
///
/// /// Body of a function with two numbers and their sum.
/// fn add(mut call: Call<'_>) -> Result<(), CallError> {
///     let sum = call.argument::<i32>(0)? + call.argument::<i32>(1)?;
///     call.set_result(sum)
/// }
/// ```
#[derive(Debug)]
pub struct Call<'a> {
    callee: &'a Callee,
    buffer: BufferMut<'a>,
}

impl<'a> Call<'a> {
    pub(crate) fn new(callee: &'a Callee, buffer: BufferMut<'a>) -> Self {
        Self { callee, buffer }
    }

    /// Returns the called name.
    #[must_use]
    pub fn name(&self) -> &'a ZCallName {
        &self.callee.name
    }

    /// Returns the argument at index `at`. The argument must be a value that fits in a slot: a number, a `bool`, a name or an object.
    /// Indices start at zero.
    ///
    /// # Errors
    /// Returns [`CallError::Buffer`] if the argument does not exist or has a different type.
    #[inline]
    pub fn argument<T: SlotValue>(&self, at: usize) -> Result<T, CallError> {
        self.buffer.check_argument(&self.callee.function.signature, at, |kind| kind.fits_slot())?;
        self.buffer.get(at)
    }

    /// Returns the string argument at index `at`.
    ///
    /// # Errors
    /// Returns [`CallError::Buffer`] if the argument does not exist or has a different type.
    ///
    /// # Examples
    /// ```
    /// use alcedo_base::boundary::CallError;
    /// use alcedo_zcall::call::Call;
    ///
    /// /// Body of a function that returns a greeting of its argument.
    /// fn greet(mut call: Call<'_>) -> Result<(), CallError> {
    ///     let greeting = format!("Hello, {}!", call.text(0)?);
    ///     call.set_text_result(&greeting)
    /// }
    /// ```
    #[inline]
    pub fn text(&self, at: usize) -> Result<&str, CallError> {
        self.buffer.text_argument(&self.callee.function.signature, at)
    }

    /// Sets a result that fits in a slot.
    ///
    /// # Errors
    /// Returns [`CallError::Buffer`] if the function has no result, or a result of a different type.
    #[inline]
    pub fn set_result<T: SlotValue>(&mut self, value: T) -> Result<(), CallError> {
        let at = self.buffer.check_result(&self.callee.function.signature, |kind| kind.fits_slot())?;
        self.buffer.set(at, value)
    }

    /// Sets a result that is a string.
    ///
    /// # Errors
    /// Returns [`CallError::Buffer`] if the function has no result, or a result of a different type.
    #[inline]
    pub fn set_text_result(&mut self, text: &str) -> Result<(), CallError> {
        self.buffer.set_text_result(&self.callee.function.signature, text)
    }

    /// Returns the slots. If a slot contains an address, the signature specifies the type of the value at this address. Code that
    /// dereferences the address must use this type.
    ///
    /// # Examples
    /// ```
    /// use alcedo_base::boundary::CallError;
    /// use alcedo_zcall::call::Call;
    ///
    /// /// Body of a function without parameters: its only slot is the result.
    /// fn wave(call: Call<'_>) -> Result<(), CallError> {
    ///     let mut slots = call.into_buffer();
    ///     slots.expect_len(1)?;
    ///     slots.set(0, 3_u64)
    /// }
    /// ```
    #[must_use]
    #[inline]
    pub fn into_buffer(self) -> BufferMut<'a> {
        self.buffer
    }
}

/// Side that implements a function: the host or a module.
///
/// # Examples
/// ```
/// use alcedo_base::handles::ModuleId;
/// use alcedo_zcall::call::Implementer;
///
/// assert_eq!(Implementer::Host.to_string(), "the host");
/// assert_eq!(Implementer::Module(ModuleId(3)).to_string(), "module 3");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Implementer {
    /// The host. A call from a module to the host is black.
    Host,
    /// A plugin module. A call from the host to a module is red.
    Module(ModuleId),
}

impl fmt::Display for Implementer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("the host"),
            Self::Module(ModuleId(number)) => write!(f, "module {number}"),
        }
    }
}

/// Side effects of a host function. Before a reload commits, new plugin code may call only functions with the effect `Effect::Pure`.
///
/// # Examples
/// ```
/// use alcedo_zcall::call::{Effect, Resolved};
///
/// fn may_call_before_commit(function: &Resolved) -> bool {
///     function.effect() == Effect::Pure
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// The function is declared to have no side effects.
    Pure,
    /// The function may have any side effects.
    Any,
}

/// Meaning of the slots in a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Slots {
    /// Call of a function. The slots contain the object (for methods), then the parameters, then the result.
    #[default]
    Function,
    /// Access to a property. The slots contain the object, then 0 (read) or 1 (write), then the value. The signature is the type of the
    /// value.
    Property,
    /// Call of a delegate. The slots contain the conjugate of the delegate, then the slots that the signature of the delegate specifies.
    Delegate,
}

/// Function to which a name resolves, with its metadata.
///
/// # Examples
/// ```
/// use alcedo_zcall::call::{Call, Effect, Resolved};
/// use alcedo_zcall::signature::CallSignature;
///
/// let signature = CallSignature::new("-> u64".into(), 0, ());
/// let score = Resolved::new(signature, |call: Call<'_>| call.into_buffer().set(0, 7_u64));
/// assert_eq!((score.signature_text(), score.effect()), ("-> u64", Effect::Any));
/// ```
#[derive(Clone)]
pub struct Resolved {
    pub(crate) dispatcher: Rc<dyn Dispatcher>,
    pub(crate) side: Implementer,
    pub(crate) module: ModuleId,
    pub(crate) signature: CallSignature,
    pub(crate) slots: Slots,
    pub(crate) effect: Effect,
    pub(crate) black_code: Option<BlackCode>,
}

impl Resolved {
    /// Creates a host function that may have side effects. New code of a plugin cannot call this function before the load of the plugin
    /// commits.
    pub fn new(signature: impl Into<CallSignature>, dispatcher: impl Dispatcher + 'static) -> Self {
        Self {
            dispatcher: Rc::new(dispatcher),
            side: Implementer::Host,
            module: ModuleId::HOST,
            signature: signature.into(),
            slots: Slots::Function,
            effect: Effect::Any,
            black_code: None,
        }
    }

    /// Declares that the function has no side effects. New code of a plugin may therefore call this function before the load of the plugin
    /// commits.
    ///
    /// # Examples
    /// ```
    /// use alcedo_zcall::call::{Call, Effect, Resolved};
    /// # use alcedo_zcall::signature::CallSignature;
    /// # let signature = CallSignature::new("-> u64".into(), 0, ());
    ///
    /// let score = Resolved::new(signature, |call: Call<'_>| call.into_buffer().set(0, 7_u64)).pure();
    /// assert_eq!(score.effect(), Effect::Pure);
    /// ```
    #[must_use]
    pub fn pure(self) -> Self {
        Self { effect: Effect::Pure, ..self }
    }

    /// Marks the function as implemented by `module`. The function is removed when the module ends.
    #[must_use]
    pub fn by_module(self, module: ModuleId) -> Self {
        Self { side: Implementer::Module(module), module, ..self }
    }

    /// Binds the function to `module`: the function is removed when `module` ends.
    #[must_use]
    pub fn of_module(self, module: ModuleId) -> Self {
        Self { module, ..self }
    }

    /// Sets the meaning of the slots. A [`Call`] supports only the default meaning, [`Slots::Function`].
    #[must_use]
    #[doc(hidden)]
    pub fn with_slots(self, slots: Slots) -> Self {
        Self { slots, signature: self.signature.without_kinds(), ..self }
    }

    /// Adds native code that plugins call directly, without slots.
    #[must_use]
    #[doc(hidden)]
    pub fn with_black_code(self, black_code: Option<BlackCode>) -> Self {
        Self { black_code, ..self }
    }

    /// Returns the signature as a string.
    #[must_use]
    pub fn signature_text(&self) -> &str {
        self.signature.text()
    }

    /// Returns the declared side effects.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// Replaces the dispatcher with the wrapper that `around` creates from the dispatcher.
    ///
    /// # Examples
    /// ```
    /// use std::cell::Cell;
    /// use std::rc::Rc;
    ///
    /// use alcedo_zcall::call::{Call, Dispatcher, Resolved};
    /// # use alcedo_zcall::signature::CallSignature;
    /// # let signature = CallSignature::new("-> u64".into(), 0, ());
    ///
    /// let calls = Rc::new(Cell::new(0));
    /// let counter = Rc::clone(&calls);
    /// let score = Resolved::new(signature, |call: Call<'_>| call.into_buffer().set(0, 7_u64));
    /// let counted = score.within(|inner: Rc<dyn Dispatcher>| {
    ///     move |call: Call<'_>| {
    ///         counter.set(counter.get() + 1);
    ///         inner.call(call)
    ///     }
    /// });
    /// assert_eq!(counted.signature_text(), "-> u64");
    /// ```
    #[must_use]
    pub fn within<D: Dispatcher + 'static>(self, around: impl FnOnce(Rc<dyn Dispatcher>) -> D) -> Self {
        Self { dispatcher: Rc::new(around(self.dispatcher)), ..self }
    }
}

impl fmt::Debug for Resolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolved")
            .field("side", &self.side)
            .field("module", &self.module)
            .field("signature", &self.signature)
            .field("effect", &self.effect)
            .finish_non_exhaustive()
    }
}

/// Function to which a handle refers, with its name and metadata. Created when the name is resolved.
pub struct Callee {
    pub(crate) name: ZCallName,
    pub(crate) function: Resolved,
}

impl Callee {
    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &ZCallName {
        &self.name
    }

    /// Returns the signature.
    #[must_use]
    pub fn signature(&self) -> &CallSignature {
        &self.function.signature
    }

    /// Returns the meaning of the slots.
    #[must_use]
    pub fn slots(&self) -> Slots {
        self.function.slots
    }

    /// Returns the code for direct calls, if the function has any.
    #[must_use]
    pub fn black_code(&self) -> Option<&BlackCode> {
        self.function.black_code.as_ref()
    }

    /// Returns the concrete implementation of the dispatcher, if the dispatcher exposes it. Some callers use the concrete type for a fast
    /// path.
    #[must_use]
    pub fn inner(&self) -> Option<&dyn Any> {
        self.function.dispatcher.inner()
    }

    /// Returns the parsed form of the signature, as created by the resolver of the name. Returns `None` if the resolver has stored a type
    /// other than `T`.
    #[must_use]
    #[inline]
    pub fn types<T: Any>(&self) -> Option<&T> {
        self.signature().types()
    }
}

impl fmt::Debug for Callee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.signature().text())
    }
}

#[cfg(test)]
mod tests;
