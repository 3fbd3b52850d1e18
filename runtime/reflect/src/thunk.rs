//! How a reflected function is run: parameters lie in a block, and its thunk takes them off the frame in order, says
//! that it is finished, works, and gives the result.

use std::rc::Rc;

use alcedo_abi::kinds::property_flags;
use alcedo_base::border::CallError;
use alcedo_base::handles::ObjectHandle;

use crate::function::Function;
use crate::hooks::HookContext;
use crate::property::Property;
use crate::storage::{Storage, View};
use crate::typed::FrameValue;
use crate::value::Value;
use crate::values::structure::start_of;

/// What runs a function. Nothing of the world may be borrowed while it does.
pub type Thunk = Rc<dyn Fn(HookContext<'_>, &mut Frame<'_>) -> Result<(), CallError>>;

/// One running call.
#[derive(Debug)]
pub struct Frame<'a> {
    /// The object called, or none for a static function.
    object: ObjectHandle,
    /// The function.
    function: &'a Function,
    params: View<'a>,
    /// The next parameter to take.
    at: usize,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Taking,
    Finished,
    Given,
}

/// An owned parameter block of a function, all zero values at first. It is destroyed with what it holds.
#[derive(Debug)]
pub struct ParamBlock<'f> {
    function: &'f Function,
    storage: Storage,
}

impl<'a> Frame<'a> {
    /// The object called, or none for a static function.
    #[inline]
    pub fn object(&self) -> ObjectHandle {
        self.object
    }

    /// The next parameter.
    ///
    /// # Errors
    /// [`CallError::Signature`] when it is of another type, [`CallError::Other`] when there is none left.
    #[inline]
    pub fn take<T: FrameValue>(&mut self) -> Result<T, CallError> {
        let value = self.params.get(self.next_param()?)?;
        self.at += 1;
        Ok(value)
    }

    /// The next parameter, of whatever type it is.
    ///
    /// # Errors
    /// [`CallError::Other`] when there is none left.
    #[inline]
    pub fn take_value(&mut self) -> Result<Value, CallError> {
        let value = self.params.read(self.next_param()?)?;
        self.at += 1;
        Ok(value)
    }

    fn next_param(&self) -> Result<&'a Property, CallError> {
        let arguments = self.function.arguments();
        arguments.get(self.at).filter(|_| self.stage == Stage::Taking).ok_or_else(|| {
            CallError::other(format!(
                "the thunk of {} takes a parameter more than the {} there are: take what ({}) says, then finish",
                self.function.path,
                arguments.len(),
                self.function.signature(),
            ))
        })
    }

    /// All parameters are taken; the work begins.
    ///
    /// # Errors
    /// [`CallError::Other`] when some are not.
    pub fn finish(&mut self) -> Result<(), CallError> {
        let count = self.function.arguments().len();
        if self.at != count {
            return Err(CallError::other(format!(
                "the thunk of {} finished after {} of {count} parameters: take all that ({}) says",
                self.function.path,
                self.at,
                self.function.signature(),
            )));
        }
        self.stage = Stage::Finished;
        Ok(())
    }

    /// Stores the result.
    ///
    /// # Errors
    /// [`CallError::Other`] before [`Frame::finish`] and where there is no result, [`CallError::Signature`] when it is
    /// of another type.
    #[inline]
    pub fn give_result<T: FrameValue>(&mut self, result: T) -> Result<(), CallError> {
        self.params.set(self.awaited()?, result)?;
        self.stage = Stage::Given;
        Ok(())
    }

    /// Stores the result, of whatever type it is.
    ///
    /// # Errors
    /// As for [`Frame::give_result`].
    #[inline]
    pub fn give_value(&mut self, result: &Value) -> Result<(), CallError> {
        self.params.write(self.awaited()?, result)?;
        self.stage = Stage::Given;
        Ok(())
    }

    /// Overwrites an out parameter, by its place among the parameters, whatever type it is of.
    ///
    /// # Errors
    /// [`CallError::Other`] before [`Frame::finish`], and where that is no out parameter; [`CallError::Signature`] when it is
    /// of another type.
    pub fn give_out(&mut self, at: usize, value: &Value) -> Result<(), CallError> {
        self.params.write(self.out(at)?, value)
    }

    /// The same by its Rust type.
    ///
    /// # Errors
    /// As for [`Frame::give_out`].
    pub fn give_out_as<T: FrameValue>(&mut self, at: usize, value: T) -> Result<(), CallError> {
        self.params.set(self.out(at)?, value)
    }

    fn out(&self, at: usize) -> Result<&'a Property, CallError> {
        let param = self.function.arguments().get(at).filter(|param| param.flags & property_flags::OUT != 0);
        match param.filter(|_| self.stage != Stage::Taking) {
            Some(param) => Ok(param),
            None => Err(CallError::other(format!(
                "the thunk of {} writes to parameter {at}: only out parameters are written, after `finish`",
                self.function.path
            ))),
        }
    }

    fn awaited(&self) -> Result<&'a Property, CallError> {
        let refused = |problem| Err(CallError::other(format!("the thunk of {} {problem}", self.function.path)));
        match (self.stage, self.function.result()) {
            (Stage::Taking, _) => refused("gives a result before it finished its parameters: call `finish` first"),
            (_, None) => refused("gives a result, but the function is declared without one: declare it"),
            (_, Some(property)) => Ok(property),
        }
    }

    /// Whether the thunk kept its side: all parameters taken, and the result given where there is one.
    pub fn is_balanced(&self) -> bool {
        match self.stage {
            Stage::Taking => false,
            Stage::Finished => self.function.result().is_none(),
            Stage::Given => true,
        }
    }
}

/// The function that a frame is a call of. Not a method, since hosts have frames in their hands.
#[inline]
pub fn function_of<'a>(frame: &Frame<'a>) -> &'a Function {
    frame.function
}

/// The whole block, for a thunk that hands it to code that has its layout: all parameters are taken then, and
/// the result is that code's to write. Not a method, since hosts have frames in their hands.
#[inline]
pub fn hand_over(frame: &mut Frame<'_>) -> *mut u8 {
    (frame.at, frame.stage) = (frame.function.arguments().len(), Stage::Given);
    frame.params.start()
}

impl<'f> ParamBlock<'f> {
    /// A block for calls of `function`.
    pub fn new(function: &'f Function) -> Self {
        Self { function, storage: Storage::new(function.schema().clone()) }
    }

    /// Sets parameter `index`; what the value of a struct leaves out begins as the default of its field.
    ///
    /// # Errors
    /// [`CallError::Signature`] when the value is of another type, [`CallError::Other`] when there is no such
    /// parameter.
    #[inline]
    pub fn set(&mut self, index: usize, value: &Value) -> Result<(), CallError> {
        let param = self.param(index)?;
        if let Some(start) = start_of(&param.ty) {
            self.storage.view().write(param, &start)?;
        }
        self.storage.view().write(param, value)
    }

    /// Sets parameter `index` by its Rust type.
    ///
    /// # Errors
    /// As for [`ParamBlock::set`].
    #[inline]
    pub fn put<T: FrameValue>(&mut self, index: usize, value: T) -> Result<(), CallError> {
        self.storage.view().set(self.param(index)?, value)
    }

    /// The value of parameter `index`; the result is the last.
    ///
    /// # Errors
    /// [`CallError::Other`] when there is no such parameter.
    #[cfg(test)]
    pub(crate) fn get(&self, index: usize) -> Result<Value, CallError> {
        self.storage.view().read(self.param(index)?)
    }

    /// The result, where the function has one.
    #[inline]
    pub fn result(&self) -> Option<Value> {
        self.storage.view().read(self.function.result()?).ok()
    }

    /// The result, by its Rust type.
    ///
    /// # Errors
    /// [`CallError::Other`] when the function has none, [`CallError::Signature`] when it is of another type.
    #[inline]
    pub fn result_as<T: FrameValue>(&self) -> Result<T, CallError> {
        let refused = || CallError::other(format!("{} gives no result", self.function.path));
        self.storage.view().get(self.function.result().ok_or_else(refused)?)
    }

    /// The value of parameter `index`, by its Rust type.
    ///
    /// # Errors
    /// As for [`ParamBlock::put`].
    pub(crate) fn get_as<T: FrameValue>(&self, index: usize) -> Result<T, CallError> {
        self.storage.view().get(self.param(index)?)
    }

    /// Whether parameter `index` comes back.
    ///
    /// # Errors
    /// [`CallError::Signature`] when it only goes in.
    pub(crate) fn expect_out(&self, index: usize) -> Result<(), CallError> {
        let param = self.param(index)?;
        if param.flags & property_flags::OUT != 0 {
            return Ok(());
        }
        let (name, found) = (self.function.path.to_string(), self.function.signature());
        Err(CallError::Signature { name, found, wanted: format!("`out {}` as parameter {index}", param.ty) })
    }

    /// The contents.
    #[inline]
    pub fn view(&self) -> View<'_> {
        self.storage.view()
    }

    /// The function that it is for.
    pub(super) fn function(&self) -> &'f Function {
        self.function
    }

    /// A call of the block's function on `object`. The parameters were set before; they lie as that function has them, since
    /// nothing else makes a frame.
    pub(super) fn frame(&mut self, object: ObjectHandle) -> Frame<'_> {
        Frame { object, function: self.function, params: self.storage.view(), at: 0, stage: Stage::Taking }
    }

    fn param(&self, index: usize) -> Result<&'f Property, CallError> {
        self.function.params.get(index).ok_or_else(|| {
            let (path, signature) = (&self.function.path, self.function.signature());
            CallError::other(format!("{path} has no parameter {index}: its signature is ({signature})"))
        })
    }
}
