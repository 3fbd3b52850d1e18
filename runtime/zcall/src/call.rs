//! A function behind a name: what does its calls, what it takes and gives, and one call of it.

use std::any::Any;
use std::fmt;
use std::rc::Rc;

use alcedo_abi::zcall::SlotValue;

use crate::black_code::BlackCode;
use crate::border::CallError;
use crate::buffer::BufferMut;
use crate::handles::ModuleId;
use crate::name::ZCallName;
use crate::signature::CallSignature;

/// The body behind a name. Game thread only.
///
/// A panic in it becomes an error of the caller. It may call by name itself, also what is being called.
pub trait Dispatcher {
    /// Does the call.
    ///
    /// # Errors
    /// Why the call was not done: the caller has the same error.
    fn call(&self, call: Call<'_>) -> Result<(), CallError>;

    /// What it is, for whoever knows a shorter way to the same.
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

/// One call: the values that the caller has lent, and the place where the result goes. The signature says which they are; the
/// caller has been compared with it.
#[derive(Debug)]
pub struct Call<'a> {
    callee: &'a Callee,
    buffer: BufferMut<'a>,
}

impl<'a> Call<'a> {
    pub(crate) fn new(callee: &'a Callee, buffer: BufferMut<'a>) -> Self {
        Self { callee, buffer }
    }

    /// The name that is called.
    #[must_use]
    pub fn name(&self) -> &'a ZCallName {
        &self.callee.name
    }

    /// An argument that lies in a slot: a number, `bool`, a name or an object. They count from zero.
    ///
    /// # Errors
    /// [`CallError::Buffer`] when there is none, or it is of another type.
    #[inline]
    pub fn argument<T: SlotValue>(&self, at: usize) -> Result<T, CallError> {
        self.buffer.check_argument(&self.callee.signature, at, |kind| kind.fits_slot())?;
        self.buffer.get(at)
    }

    /// An argument that is a text.
    ///
    /// # Errors
    /// [`CallError::Buffer`] when there is none, or it is of another type.
    #[inline]
    pub fn text(&self, at: usize) -> Result<&str, CallError> {
        self.buffer.text_argument(&self.callee.signature, at)
    }

    /// Gives the result, which lies in a slot.
    ///
    /// # Errors
    /// [`CallError::Buffer`] when there is no result, or it is of another type.
    #[inline]
    pub fn give<T: SlotValue>(&mut self, value: T) -> Result<(), CallError> {
        let at = self.buffer.check_result(&self.callee.signature, |kind| kind.fits_slot())?;
        self.buffer.set(at, value)
    }

    /// Gives the result, which is a text.
    ///
    /// # Errors
    /// [`CallError::Buffer`] when there is no result, or it is of another type.
    #[inline]
    pub fn give_text(&mut self, text: &str) -> Result<(), CallError> {
        self.buffer.give_text_result(&self.callee.signature, text)
    }

    /// The slots themselves. What their addresses lead to, the signature says, and whoever follows them vouches for it.
    #[must_use]
    #[inline]
    pub fn into_buffer(self) -> BufferMut<'a> {
        self.buffer
    }
}

/// Who implements a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Implementer {
    /// The host: a black call, when a module makes it.
    Host,
    /// A module: a red call.
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

/// Whether a function of the host may be called before the commit of what comes up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It is declared to change nothing.
    Pure,
    /// It may change something.
    Any,
}

/// How the slots of a call follow from its signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Slots {
    /// The object first, if the function is one of objects; the parameters; the result last.
    #[default]
    Function,
    /// The object; 0 to read and 1 to write; the value. The signature is the type of that value.
    Property,
    /// The conjugate of a delegate first, whose own signature says what follows.
    Delegate,
}

/// What a name stands for.
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
    /// A function of the host's, which may change something: code that comes up is refused it before its commit.
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

    /// The same function, which changes nothing, by the host's word: code that comes up may call it before its commit.
    #[must_use]
    pub fn pure(self) -> Self {
        Self { effect: Effect::Pure, ..self }
    }

    /// The same function as one that a module implements, and that ends with it.
    #[must_use]
    pub fn by_module(self, module: ModuleId) -> Self {
        Self { side: Implementer::Module(module), module, ..self }
    }

    /// The same function as one that ends with a module.
    #[must_use]
    pub fn of_module(self, module: ModuleId) -> Self {
        Self { module, ..self }
    }

    /// The same function with slots that follow otherwise from its signature, so a [`Call`] reads none of them.
    #[must_use]
    pub fn with_slots(self, slots: Slots) -> Self {
        Self { slots, signature: self.signature.without_kinds(), ..self }
    }

    /// The same function, which plugins may call without slots, too.
    #[must_use]
    pub fn with_black_code(self, black_code: Option<BlackCode>) -> Self {
        Self { black_code, ..self }
    }

    /// Its signature in words.
    #[must_use]
    pub fn words(&self) -> &str {
        self.signature.words()
    }

    /// Whether it may be called before a commit.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// The same function with a body around its own.
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

/// What a handle calls. It is made once, when its name is resolved, with all that a call of it needs.
pub struct Callee {
    pub(crate) name: ZCallName,
    pub(crate) dispatcher: Rc<dyn Dispatcher>,
    pub(crate) module: ModuleId,
    pub(crate) signature: CallSignature,
    pub(crate) slots: Slots,
    pub(crate) black_code: Option<BlackCode>,
}

impl Callee {
    pub(crate) fn new(name: ZCallName, resolved: Resolved) -> Self {
        let Resolved { dispatcher, module, signature, slots, black_code, .. } = resolved;
        Self { name, dispatcher, module, signature, slots, black_code }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &ZCallName {
        &self.name
    }

    /// Its signature.
    #[must_use]
    pub fn signature(&self) -> &CallSignature {
        &self.signature
    }

    /// How its slots follow from its signature.
    #[must_use]
    pub fn slots(&self) -> Slots {
        self.slots
    }

    /// How it is called without slots, if it is.
    #[must_use]
    pub fn black_code(&self) -> Option<&BlackCode> {
        self.black_code.as_ref()
    }

    /// What its dispatcher is, for whoever knows a shorter way to the same.
    #[must_use]
    pub fn inner(&self) -> Option<&dyn Any> {
        self.dispatcher.inner()
    }

    /// Its signature as whoever resolved the name has read it.
    #[must_use]
    #[inline]
    pub fn types<T: Any>(&self) -> Option<&T> {
        self.signature.types()
    }
}

impl fmt::Debug for Callee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.signature.words())
    }
}

#[cfg(test)]
mod tests;
