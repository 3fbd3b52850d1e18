//! Calls of reflected functions. A thunk takes the parameters from the frame in order, calls [`Frame::finish`], runs its code and stores
//! the result. The parameters are stored in a block, or a script evaluates the parameters one by one. The same thunk handles both cases. A
//! wildcard parameter accepts any type. Only a script passes arguments for wildcard parameters.

mod again;

use std::rc::Rc;

use alcedo_abi::kinds::property_flags;
use alcedo_base::boundary::{CallError, mismatch};
use alcedo_base::handles::ObjectHandle;
use smallvec::SmallVec;

use crate::arguments::{Argument, Source, Steps};
use crate::function::Function;
use crate::hooks::HookContext;
use crate::owned::OwnedValue;
use crate::property::Property;
use crate::slices::{BorrowedSlices, Held};
use crate::storage::{Storage, View};
use crate::typed::FrameValue;
use crate::value::Value;
use crate::values::ptr::{Ptr, PtrMut};
use crate::values::structure::start_of;

pub use crate::arguments::{AnyArray, AnyMap, AnySet, AnyStruct, AnyValue, ArgumentKind, Param};

/// Body of a function. No store of the world may be borrowed during the call.
pub type Thunk = Rc<dyn Fn(HookContext<'_>, &mut Frame<'_>) -> Result<(), CallError>>;

/// A running call of a reflected function.
///
/// # Examples
/// ```
/// use alcedo_base::boundary::CallError;
/// use alcedo_reflect::thunk::Frame;
///
/// /// Body of a function with two parameters and a result.
/// fn add(frame: &mut Frame<'_>) -> Result<(), CallError> {
///     let (a, b) = (frame.take::<i32>()?, frame.take::<i32>()?);
///     frame.finish()?;
///     frame.set_result(a + b)
/// }
/// ```
#[derive(Debug)]
pub struct Frame<'a> {
    /// Called object, or `NONE` for a static function.
    object: ObjectHandle,
    function: &'a Function,
    params: Source<'a>,
    /// Parameters without the result.
    arguments: &'a [Property],
    /// Index of the next parameter that the thunk takes.
    at: usize,
    stage: Stage,
    /// Property and value of the last step. Each step first clears this field. The field is therefore `None` after a failed step.
    most_recent: Option<Recent<'a>>,
    /// Arguments kept for later access, with their parameter indices. The guard `held` prevents moves of these arguments.
    kept: SmallVec<[(usize, Argument<'a>); 3]>,
    /// Guard that prevents moves of the kept arguments by other code. Created by the first step to an argument inside an object.
    held: Option<Held>,
}

/// Property and argument of the last step.
#[derive(Clone, Copy, Debug)]
struct Recent<'a> {
    property: &'a Property,
    /// `None` if the argument may have moved since the step.
    argument: Option<Argument<'a>>,
}

/// Kind of access to the argument after a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    /// The thunk copies the value immediately.
    Copy,
    /// The thunk reads the value later, at its location.
    Later,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Parameters,
    Finished,
    Returned,
}

/// Owned parameter block of a function. All values are initially zero. Dropping the block destroys the values.
#[derive(Debug)]
pub struct ParamBlock<'f> {
    function: &'f Function,
    storage: Storage,
}

impl<'a> Frame<'a> {
    /// Returns the called object, or `NONE` for a static function.
    #[inline]
    pub fn object(&self) -> ObjectHandle {
        self.object
    }

    /// Takes the next parameter.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the parameter has a different type. Returns [`CallError::Other`] if all parameters were taken.
    #[inline]
    pub fn take<T: FrameValue>(&mut self) -> Result<T, CallError> {
        // Fast path for nearly all calls. These calls pass their parameters in a block.
        if self.stage == Stage::Parameters
            && let Some(param) = self.arguments.get(self.at)
            && let Some(argument) = self.params.plain_argument(self.function, param)
            && let Some(value) = argument.ptr().get::<T>()
        {
            self.most_recent = Some(Recent { property: argument.property, argument: Some(argument) });
            self.at += 1;
            return Ok(value);
        }
        self.take_slowly()
    }

    #[cold]
    fn take_slowly<T: FrameValue>(&mut self) -> Result<T, CallError> {
        let argument = self.next(Use::Copy)?;
        // Converts a copy, because the code may change the object of the argument.
        let own = T::RUNS_CODE.then(|| OwnedValue::copy_of(argument.ptr()));
        match own.as_ref().map_or_else(|| argument.ptr(), OwnedValue::as_ptr).get::<T>() {
            Some(value) => {
                self.at += 1;
                Ok(value)
            }
            None => Err(argument.mismatch(&T::describe())),
        }
    }

    /// Takes the next parameter as a [`Value`]. Accepts parameters of any type.
    ///
    /// # Errors
    /// Returns [`CallError::Other`] if all parameters were taken.
    ///
    /// # Examples
    /// ```
    /// use alcedo_base::boundary::CallError;
    /// use alcedo_reflect::thunk::Frame;
    ///
    /// /// Body of a function that returns the formatted kind of its parameter.
    /// fn kind(frame: &mut Frame<'_>) -> Result<(), CallError> {
    ///     let value = frame.take_value()?;
    ///     frame.finish()?;
    ///     frame.set_result(format!("{:?}", value.kind()))
    /// }
    /// ```
    #[inline]
    pub fn take_value(&mut self) -> Result<Value, CallError> {
        let value = self.next(Use::Copy)?.read();
        self.at += 1;
        Ok(value)
    }

    /// Steps to the next parameter, of any type. Until the next step, [`Frame::most_recent_property`] and [`Frame::most_recent_value`]
    /// return the property and value of this parameter. If the argument is stored in an object, the argument does not change until the
    /// thunk returns. See [`Frame::step_compiled_in`].
    ///
    /// # Errors
    /// Returns [`CallError::Other`] if all parameters were taken.
    pub fn step(&mut self) -> Result<(), CallError> {
        self.next(Use::Later)?;
        self.at += 1;
        Ok(())
    }

    /// Evaluates an argument. Releases this frame's own guard during the evaluation. The release is sound, because only the evaluation
    /// itself runs during this time.
    fn evaluate(&mut self, at: usize, param: &'a Property) -> Result<Argument<'a>, CallError> {
        let held = self.held.take().map(Held::release);
        let argument = self.params.argument(self.function, at, param);
        self.held = held.map(|slices| slices.hold());
        argument
    }

    /// Steps to the next parameter, and keeps the location of its argument. The parameter must belong to the category `W`. After
    /// [`Frame::finish`], the thunk can read the value at this location. Example: `step_compiled_in::<AnyArray>()`.
    ///
    /// If the argument is stored in an object, the argument does not change until the thunk returns. Until then, function calls and all
    /// operations that would change, move or destroy values fail with [`CallError::Borrowed`]. Writes through this frame are allowed.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the parameter does not belong to the category. Returns [`CallError::Other`] if all parameters
    /// were taken.
    ///
    /// # Examples
    /// ```
    /// use alcedo_base::boundary::CallError;
    /// use alcedo_reflect::containers::array_ref;
    /// use alcedo_reflect::thunk::{AnyArray, Frame};
    ///
    /// /// Body of a function that returns the length of any array.
    /// fn length(frame: &mut Frame<'_>) -> Result<(), CallError> {
    ///     let target = frame.step_compiled_in::<AnyArray>()?;
    ///     frame.finish()?;
    ///     let len = array_ref(frame.value(target)).map_or(0, |rows| rows.len());
    ///     frame.set_result(len as i32)
    /// }
    /// ```
    pub fn step_compiled_in<W: ArgumentKind>(&mut self) -> Result<Param, CallError> {
        let argument = self.next(Use::Later)?;
        argument.expect::<W>()?;
        let param = Param(self.kept.len());
        self.kept.push((self.at, argument));
        self.at += 1;
        Ok(param)
    }

    /// Variant of [`Frame::step_compiled_in`] for an out parameter. The thunk can read and write the value of the parameter.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::step_compiled_in`]. Returns [`CallError::Other`] if the parameter is not an out parameter.
    pub fn step_compiled_in_ref<W: ArgumentKind>(&mut self) -> Result<Param, CallError> {
        let is_out = self.function.arguments().get(self.at).is_none_or(|param| param.flags & property_flags::OUT != 0);
        if !is_out {
            return Err(self.not_out(self.at));
        }
        self.step_compiled_in::<W>()
    }

    /// Returns the property of the last step. For a wildcard, returns the property that the caller passes, with its actual type: a property
    /// of an object, a local variable or an element of a container.
    #[inline]
    pub fn most_recent_property(&self) -> Option<&'a Property> {
        self.most_recent.map(|recent| recent.property)
    }

    /// Returns the value of the last step. Returns `None` if the value may have moved. This is the case after [`Frame::take`] or
    /// [`Frame::take_value`] of a value that is stored in an object.
    #[inline]
    pub fn most_recent_value(&self) -> Option<Ptr<'_>> {
        self.most_recent?.argument.map(Argument::ptr)
    }

    /// Returns the property of a parameter that the frame has stepped to.
    ///
    /// # Panics
    /// Panics, or uses an arbitrary parameter of this call, if `param` belongs to a different call.
    #[inline]
    pub fn property(&self, param: Param) -> &'a Property {
        self.kept[param.0].1.property
    }

    /// Returns a pointer to the value of a parameter.
    ///
    /// # Panics
    /// Panics, or uses an arbitrary parameter of this call, if `param` belongs to a different call.
    #[inline]
    pub fn value(&self, param: Param) -> Ptr<'_> {
        self.kept[param.0].1.ptr()
    }

    /// Returns a writable pointer to the value of an out parameter. If the thunk changes the length of a fixed array, the call fails after
    /// the thunk, and the array has its declared length again.
    ///
    /// # Errors
    /// Returns [`CallError::Other`] before [`Frame::finish`], and if the parameter is not an out parameter.
    ///
    /// # Panics
    /// Panics, or uses an arbitrary parameter of this call, if `param` belongs to a different call.
    pub fn value_mut(&mut self, param: Param) -> Result<PtrMut<'_>, CallError> {
        let (at, argument) = self.kept[param.0];
        self.out(at)?;
        Ok(argument.ptr_mut())
    }

    /// Returns a writable pointer to the out parameter `param`, and a read-only pointer to the parameter `other`.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::value_mut`]. Returns [`CallError::Other`] if `param` and `other` are the same parameter.
    ///
    /// # Panics
    /// Panics, or uses an arbitrary parameter of this call, if a parameter belongs to a different call.
    pub fn value_mut_and(&mut self, param: Param, other: Param) -> Result<(PtrMut<'_>, Ptr<'_>), CallError> {
        let ((at, to), (_, from)) = (self.kept[param.0], self.kept[other.0]);
        if param.0 == other.0 {
            let path = &self.function.path;
            return Err(CallError::other(format!(
                "the thunk of {path} uses one parameter for writing and reading at the same time"
            )));
        }
        self.out(at)?;
        Ok((to.ptr_mut(), from.ptr()))
    }

    #[inline]
    fn next(&mut self, used: Use) -> Result<Argument<'a>, CallError> {
        self.most_recent = None;
        let Some(param) = self.arguments.get(self.at).filter(|_| self.stage == Stage::Parameters) else {
            return Err(self.no_more());
        };
        let argument = self.evaluate(self.at, param)?;
        let borrow_counter = self.params.borrow_counter(self.at);
        let is_readable = borrow_counter.is_none() || used == Use::Later;
        if let Some(borrow_counter) = borrow_counter.filter(|_| used == Use::Later) {
            self.held = Some(borrow_counter.hold());
        }
        self.most_recent = Some(Recent { property: argument.property, argument: is_readable.then_some(argument) });
        Ok(argument)
    }

    #[cold]
    fn no_more(&self) -> CallError {
        let (path, declared, signature) = (&self.function.path, self.arguments.len(), self.function.signature());
        CallError::other(format!(
            "the thunk of {path} takes one parameter too many (declared: {declared}): take the parameters of \
             ({signature}), then finish"
        ))
    }

    /// Marks the parameters as taken. After this call, the thunk may write the result and the out parameters.
    ///
    /// # Errors
    /// Returns [`CallError::Other`] if the thunk has not taken all parameters.
    #[inline]
    pub fn finish(&mut self) -> Result<(), CallError> {
        if self.at != self.arguments.len() {
            return Err(self.too_early());
        }
        if self.stage == Stage::Parameters {
            self.stage = Stage::Finished;
        }
        Ok(())
    }

    #[cold]
    fn too_early(&self) -> CallError {
        let Self { function, at, arguments, .. } = self;
        let (path, count, signature) = (&function.path, arguments.len(), function.signature());
        CallError::other(format!(
            "the thunk of {path} finished after {at} of {count} parameters: take all of ({signature})"
        ))
    }

    /// Stores the result.
    ///
    /// # Errors
    /// Returns [`CallError::Other`] before [`Frame::finish`] and for a function without a result. Returns [`CallError::Signature`] if the
    /// result has a different type.
    #[inline]
    pub fn set_result<T: FrameValue>(&mut self, result: T) -> Result<(), CallError> {
        // The fast path before `result_location`, for a result in a block.
        let property = self.function.result().filter(|_| self.stage != Stage::Parameters);
        let location = match property.and_then(|property| self.params.plain_argument(self.function, property)) {
            Some(location) => location,
            None => self.result_location()?,
        };
        location.store(result)?;
        self.stage = Stage::Returned;
        Ok(())
    }

    /// Stores the result from a [`Value`]. Accepts results of any type.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::set_result`].
    #[inline]
    pub fn set_result_value(&mut self, result: &Value) -> Result<(), CallError> {
        self.result_location()?.write(result)?;
        self.stage = Stage::Returned;
        Ok(())
    }

    /// Overwrites the out parameter with index `at`. Accepts parameters of any type.
    ///
    /// # Errors
    /// Returns [`CallError::Other`] before [`Frame::finish`] and if the parameter is not an out parameter. Returns [`CallError::Signature`]
    /// if the parameter has a different type.
    pub fn set_out(&mut self, at: usize, value: &Value) -> Result<(), CallError> {
        let param = self.out(at)?;
        self.evaluate(at, param)?.write(value)
    }

    /// Overwrites the out parameter with index `at` with a value of a Rust type.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::set_out`].
    pub fn set_out_as<T: FrameValue>(&mut self, at: usize, value: T) -> Result<(), CallError> {
        let param = self.out(at)?;
        let argument = self.evaluate(at, param)?;
        let borrow_counter = self.params.borrow_counter(at).filter(|_| T::RUNS_CODE);
        let _held = borrow_counter.map(BorrowedSlices::hold);
        argument.store(value)
    }

    fn out(&self, at: usize) -> Result<&'a Property, CallError> {
        let param = self.function.arguments().get(at).filter(|param| param.flags & property_flags::OUT != 0);
        match param.filter(|_| self.stage != Stage::Parameters) {
            Some(param) => Ok(param),
            None => Err(self.not_out(at)),
        }
    }

    fn not_out(&self, at: usize) -> CallError {
        CallError::other(format!(
            "the thunk of {} writes to parameter {at}: only out parameters are written, after `finish`",
            self.function.path
        ))
    }

    /// Returns the location of the result. A wildcard result has the type that the caller expects.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::set_result`].
    #[inline]
    fn result_location(&mut self) -> Result<Argument<'a>, CallError> {
        let result = self.expected_result()?;
        self.params.result(self.function, result)
    }

    /// Returns the property of the result. For a wildcard, this is the property to which the caller assigns the result.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::result_mut`].
    pub fn result_property(&mut self) -> Result<&'a Property, CallError> {
        Ok(self.result_location()?.property)
    }

    /// Returns a writable pointer to the result, and marks the result as stored. Accepts results of any type.
    ///
    /// # Errors
    /// Returns [`CallError::Other`] before [`Frame::finish`], and for a function without a result.
    pub fn result_mut(&mut self) -> Result<PtrMut<'_>, CallError> {
        let location = self.result_location()?;
        self.stage = Stage::Returned;
        Ok(location.ptr_mut())
    }

    /// Returns a writable pointer to the result, and a read-only pointer to the parameter `param`.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::result_mut`].
    ///
    /// # Panics
    /// Panics, or uses an arbitrary parameter of this call, if the parameter belongs to a different call.
    pub fn result_mut_and(&mut self, param: Param) -> Result<(PtrMut<'_>, Ptr<'_>), CallError> {
        let (location, from) = (self.result_location()?, self.kept[param.0].1);
        self.stage = Stage::Returned;
        Ok((location.ptr_mut(), from.ptr()))
    }

    fn expected_result(&self) -> Result<&'a Property, CallError> {
        let refused = |problem| Err(CallError::other(format!("the thunk of {} {problem}", self.function.path)));
        match (self.stage, self.function.result()) {
            (Stage::Parameters, _) => refused("stores the result before `finish`: call `finish` first"),
            (_, None) => refused("stores a result, but the function is declared without one: declare it"),
            (_, Some(property)) => Ok(property),
        }
    }

    /// Checks if the thunk called [`Frame::finish`]. If the function has a result, also checks if the thunk stored the result.
    pub fn is_balanced(&self) -> bool {
        match self.stage {
            Stage::Parameters => false,
            Stage::Finished => self.function.result().is_none(),
            Stage::Returned => true,
        }
    }
}

/// Returns the called function. Not a method of [`Frame`], because host code receives frames and must not have access to this operation.
#[inline]
pub fn function_of<'a>(frame: &Frame<'a>) -> &'a Function {
    frame.function
}

/// Returns the address of the whole parameter block, for a thunk that passes the block to code with an equal layout. Marks all parameters
/// as taken and the result as stored. The code that receives the block must therefore write the result. Returns null if a script evaluates
/// the parameters, which is only done for functions with the flag `CUSTOM_THUNK`. Not a method of [`Frame`], because host code receives
/// frames and must not have access to this operation.
#[inline]
pub fn hand_over(frame: &mut Frame<'_>) -> *mut u8 {
    (frame.at, frame.stage) = (frame.function.arguments().len(), Stage::Returned);
    match &frame.params {
        Source::Block(view) => view.start(),
        Source::Steps(_) => std::ptr::null_mut(),
    }
}

/// Restores the declared lengths of fixed arrays that a thunk has changed through [`Frame::value_mut`]. Also adjusts the out parameters and
/// the result in the block, because module code writes values of any length to its block. Must be called when the thunk has returned, also
/// after an error. Not a method of [`Frame`], because only the caller of a thunk uses this operation.
///
/// # Errors
/// Returns [`CallError::Other`] if [`Frame::value_mut`] was used to change a length.
#[inline]
pub fn restore_lengths(frame: &mut Frame<'_>) -> Result<(), CallError> {
    let mut restored = Ok(());
    for (at, argument) in &frame.kept {
        if frame.arguments.get(*at).is_some_and(|param| param.flags & property_flags::OUT != 0) {
            restored = restored.and(argument.restore_length());
        }
    }
    if let Source::Block(view) = &frame.params {
        for param in frame.function.out_parameters().chain(frame.function.result()) {
            restored = restored.and(view.fix_length(param));
        }
    }
    restored
}

/// Returns a function body without effect. The result of the function is the zero value.
pub fn idle() -> Thunk {
    Rc::new(|_context, frame| {
        hand_over(frame);
        Ok(())
    })
}

/// Creates the frame for a call of `function` on `object`. A script evaluates the parameters step by step.
#[inline]
pub fn stepping<'a>(object: ObjectHandle, function: &'a Function, steps: &'a mut dyn Steps<'a>) -> Frame<'a> {
    Frame::new(object, function, Source::Steps(steps))
}

/// Runs the thunk of `function` on `object` with the parameters in `block`. The caller must check that the thunk may run now, and must
/// prevent moves of borrowed memory.
///
/// # Errors
/// Returns [`CallError::Signature`] if the block belongs to a different function. Also returns the error of the thunk.
#[inline]
pub fn run_over_block(
    context: HookContext<'_>,
    object: ObjectHandle,
    function: &Function,
    block: View<'_>,
) -> Result<(), CallError> {
    if !block.is_of(function.schema()) {
        return Err(mismatch(&function.path, &function.signature(), &"the block of another function"));
    }
    let mut frame = Frame::new(object, function, Source::Block(block));
    (function.thunk)(context, &mut frame).and(restore_lengths(&mut frame))
}

impl<'a> Frame<'a> {
    #[inline]
    fn new(object: ObjectHandle, function: &'a Function, params: Source<'a>) -> Self {
        let arguments = function.arguments();
        let (stage, most_recent, kept, held) = (Stage::Parameters, None, SmallVec::new(), None);
        Self { object, function, params, arguments, at: 0, stage, most_recent, kept, held }
    }
}

impl<'f> ParamBlock<'f> {
    /// Creates a block for calls of `function`.
    pub fn new(function: &'f Function) -> Self {
        Self { function, storage: Storage::new(function.schema().clone()) }
    }

    /// Sets parameter `index`. Fields that a struct value omits receive their defaults.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the value has a different type. Returns [`CallError::Other`] if the parameter does not exist.
    #[inline]
    pub fn set(&mut self, index: usize, value: &Value) -> Result<(), CallError> {
        let param = self.param(index)?;
        if let Some(start) = start_of(&param.ty) {
            self.storage.view().write(param, &start)?;
        }
        self.storage.view().write(param, value)
    }

    /// Sets parameter `index` to a value of a Rust type.
    ///
    /// # Errors
    /// Returns the errors of [`ParamBlock::set`].
    #[inline]
    pub fn put<T: FrameValue>(&mut self, index: usize, value: T) -> Result<(), CallError> {
        self.storage.view().set(self.param(index)?, value)
    }

    /// Returns the result, if the function has one.
    #[inline]
    pub fn result(&self) -> Option<Value> {
        self.storage.view().read(self.function.result()?).ok()
    }

    /// Returns the result as a Rust type.
    ///
    /// # Errors
    /// Returns [`CallError::Other`] if the function has no result. Returns [`CallError::Signature`] if the result has a different type.
    #[inline]
    pub fn result_as<T: FrameValue>(&self) -> Result<T, CallError> {
        let refused = || CallError::other(format!("{} has no result", self.function.path));
        self.storage.view().get(self.function.result().ok_or_else(refused)?)
    }

    /// Returns the value of parameter `index` as a Rust type.
    ///
    /// # Errors
    /// Returns the errors of [`ParamBlock::put`].
    pub(crate) fn get_as<T: FrameValue>(&self, index: usize) -> Result<T, CallError> {
        self.storage.view().get(self.param(index)?)
    }

    /// Checks that parameter `index` is an out parameter.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the parameter is not an out parameter.
    pub(crate) fn expect_out(&self, index: usize) -> Result<(), CallError> {
        let param = self.param(index)?;
        if param.flags & property_flags::OUT != 0 {
            return Ok(());
        }
        let expected = format!("`out {}` as parameter {index}", param.ty);
        Err(mismatch(&self.function.path, &self.function.signature(), &expected))
    }

    /// Returns a view of the values.
    #[inline]
    pub fn view(&self) -> View<'_> {
        self.storage.view()
    }

    pub(super) fn function(&self) -> &'f Function {
        self.function
    }

    /// Creates the frame for a call of the block's function on `object` with the current parameters. Only this method creates a frame for
    /// the block, so the block always has the layout of the frame's function.
    pub(super) fn frame(&mut self, object: ObjectHandle) -> Frame<'_> {
        Frame::new(object, self.function, Source::Block(self.storage.view()))
    }

    fn param(&self, index: usize) -> Result<&'f Property, CallError> {
        self.function.params.get(index).ok_or_else(|| {
            let (path, signature) = (&self.function.path, self.function.signature());
            CallError::other(format!("{path} has no parameter {index}: its signature is ({signature})"))
        })
    }
}

#[cfg(test)]
mod tests;
