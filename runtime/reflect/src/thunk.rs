//! How a reflected function is run: its thunk takes the parameters off the frame in order, says that it is finished, works,
//! and gives the result. Parameters lie in a block, or a script steps through them one by one: a thunk sees no difference, but
//! that only a script has arguments of any type for parameters that are wildcards.

mod again;

use std::rc::Rc;

use alcedo_abi::kinds::property_flags;
use alcedo_base::border::CallError;
use alcedo_base::handles::ObjectHandle;
use smallvec::SmallVec;

use crate::arguments::{Argument, Source, Steps};
use crate::function::Function;
use crate::hooks::HookContext;
use crate::property::Property;
use crate::slices::Held;
use crate::storage::{Storage, View};
use crate::typed::FrameValue;
use crate::value::Value;
use crate::values::ptr::{Ptr, PtrMut};
use crate::values::structure::start_of;

pub use crate::arguments::{AnyArray, AnyMap, AnySet, AnyStruct, AnyValue, Param, Wanted};

/// What runs a function. Nothing of the world may be borrowed while it does.
pub type Thunk = Rc<dyn Fn(HookContext<'_>, &mut Frame<'_>) -> Result<(), CallError>>;

/// One running call.
#[derive(Debug)]
pub struct Frame<'a> {
    /// The object called, or none for a static function.
    object: ObjectHandle,
    /// The function.
    function: &'a Function,
    params: Source<'a>,
    /// The parameters without the result.
    arguments: &'a [Property],
    /// The next parameter to take.
    at: usize,
    stage: Stage,
    /// What the last step led to. Cleared before a step, so what is read after a step that failed is nothing.
    most_recent: Option<Recent<'a>>,
    /// What was stepped to and is to be looked at later. It stays where it is: see `held`.
    kept: SmallVec<[(usize, Argument<'a>); 3]>,
    /// Keeps arguments where they lie that others might move, from the step to one on.
    held: Option<Held>,
}

/// What a step led to.
#[derive(Clone, Copy, Debug)]
struct Recent<'a> {
    property: &'a Property,
    /// None where it may have moved since.
    argument: Option<Argument<'a>>,
}

/// What a step is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    /// The value is copied at once.
    Copy,
    /// It is looked at later, where it lies.
    Later,
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
        // Straight from a block, as nearly all are.
        if self.stage == Stage::Taking
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
        match argument.ptr().get::<T>() {
            Some(value) => {
                self.at += 1;
                Ok(value)
            }
            None => Err(argument.mismatch(&T::describe())),
        }
    }

    /// The next parameter, of whatever type it is.
    ///
    /// # Errors
    /// [`CallError::Other`] when there is none left.
    #[inline]
    pub fn take_value(&mut self) -> Result<Value, CallError> {
        let value = self.next(Use::Copy)?.read();
        self.at += 1;
        Ok(value)
    }

    /// Steps to the next parameter, of whatever type it is. [`Frame::most_recent_property`] and
    /// [`Frame::most_recent_value`] say what it led to; it is not kept. An argument that lies in an object stays as it is until the
    /// thunk returns: see [`Frame::step_compiled_in`].
    ///
    /// # Errors
    /// [`CallError::Other`] when there is none left.
    pub fn step(&mut self) -> Result<(), CallError> {
        self.next(Use::Later)?;
        self.at += 1;
        Ok(())
    }

    /// Evaluates an argument. What this frame itself holds does not stand in the way: it stays so, since no other code runs meanwhile.
    fn evaluate(&mut self, at: usize, param: &'a Property) -> Result<Argument<'a>, CallError> {
        let held = self.held.take().map(Held::release);
        let argument = self.params.argument(self.function, at, param);
        self.held = held.map(|slices| slices.hold());
        argument
    }

    /// Steps to the next parameter, which has to be a value of that sort, and keeps its place, so that it can be read where it
    /// lies after [`Frame::finish`]: `step_compiled_in::<AnyArray>()`.
    ///
    /// Where the argument lies in an object, it stays as it is until the thunk returns: what would change, move or end anything, calls
    /// of functions too, is refused with [`CallError::Lent`] meanwhile. Writing it by this frame is not.
    ///
    /// # Errors
    /// [`CallError::Signature`] when it is of another sort, [`CallError::Other`] when there is none left.
    pub fn step_compiled_in<W: Wanted>(&mut self) -> Result<Param, CallError> {
        let argument = self.next(Use::Later)?;
        argument.expect::<W>()?;
        let param = Param(self.kept.len());
        self.kept.push((self.at, argument));
        self.at += 1;
        Ok(param)
    }

    /// The same for an out parameter, which can be written where it lies as well.
    ///
    /// # Errors
    /// As for [`Frame::step_compiled_in`]; [`CallError::Other`] when the parameter is no out parameter.
    pub fn step_compiled_in_ref<W: Wanted>(&mut self) -> Result<Param, CallError> {
        let is_out = self.function.arguments().get(self.at).is_none_or(|param| param.flags & property_flags::OUT != 0);
        if !is_out {
            return Err(self.not_out(self.at));
        }
        self.step_compiled_in::<W>()
    }

    /// What the last step led to: for a wildcard the property, local or element that the caller gave, with its own type.
    #[inline]
    pub fn most_recent_property(&self) -> Option<&'a Property> {
        self.most_recent.map(|recent| recent.property)
    }

    /// The value that the last step led to. None after [`Frame::take`] and [`Frame::take_value`] of what lies in an object, which
    /// may have moved since.
    #[inline]
    pub fn most_recent_value(&self) -> Option<Ptr<'_>> {
        self.most_recent?.argument.map(Argument::ptr)
    }

    /// The property that a parameter was stepped to with.
    ///
    /// # Panics
    /// When `param` is of another call.
    #[inline]
    pub fn property(&self, param: Param) -> &'a Property {
        self.kept[param.0].1.property
    }

    /// The value of a parameter, where it lies.
    ///
    /// # Panics
    /// When `param` is of another call.
    #[inline]
    pub fn value(&self, param: Param) -> Ptr<'_> {
        self.kept[param.0].1.ptr()
    }

    /// The value of an out parameter, where it lies, to be written.
    ///
    /// # Errors
    /// [`CallError::Other`] before [`Frame::finish`], and where it is no out parameter.
    ///
    /// # Panics
    /// When `param` is of another call.
    pub fn value_mut(&mut self, param: Param) -> Result<PtrMut<'_>, CallError> {
        let (at, argument) = self.kept[param.0];
        self.out(at)?;
        Ok(argument.ptr_mut())
    }

    /// An out parameter to be written, and another parameter to be read meanwhile.
    ///
    /// # Errors
    /// As for [`Frame::value_mut`]; [`CallError::Other`] when the two are one.
    ///
    /// # Panics
    /// When one of them is of another call.
    pub fn value_mut_and(&mut self, param: Param, other: Param) -> Result<(PtrMut<'_>, Ptr<'_>), CallError> {
        let ((at, to), (_, from)) = (self.kept[param.0], self.kept[other.0]);
        if param.0 == other.0 {
            let path = &self.function.path;
            return Err(CallError::other(format!(
                "the thunk of {path} wants a parameter to write and to read at once"
            )));
        }
        self.out(at)?;
        Ok((to.ptr_mut(), from.ptr()))
    }

    #[inline]
    fn next(&mut self, used: Use) -> Result<Argument<'a>, CallError> {
        self.most_recent = None;
        let param = self.next_param()?;
        let argument = self.evaluate(self.at, param)?;
        let keeper = self.params.keeper(self.at);
        let stays = keeper.is_none() || used == Use::Later;
        if let Some(keeper) = keeper.filter(|_| used == Use::Later) {
            self.held = Some(keeper.hold());
        }
        self.most_recent = Some(Recent { property: argument.property, argument: stays.then_some(argument) });
        Ok(argument)
    }

    fn next_param(&self) -> Result<&'a Property, CallError> {
        match self.arguments.get(self.at) {
            Some(param) if self.stage == Stage::Taking => Ok(param),
            _ => Err(self.no_more()),
        }
    }

    #[cold]
    fn no_more(&self) -> CallError {
        CallError::other(format!(
            "the thunk of {} takes a parameter more than the {} there are: take what ({}) says, then finish",
            self.function.path,
            self.arguments.len(),
            self.function.signature(),
        ))
    }

    /// All parameters are taken; the work begins.
    ///
    /// # Errors
    /// [`CallError::Other`] when some are not.
    #[inline]
    pub fn finish(&mut self) -> Result<(), CallError> {
        if self.at != self.arguments.len() {
            return Err(self.too_early());
        }
        self.stage = Stage::Finished;
        Ok(())
    }

    #[cold]
    fn too_early(&self) -> CallError {
        CallError::other(format!(
            "the thunk of {} finished after {} of {} parameters: take all that ({}) says",
            self.function.path,
            self.at,
            self.arguments.len(),
            self.function.signature(),
        ))
    }

    /// Stores the result.
    ///
    /// # Errors
    /// [`CallError::Other`] before [`Frame::finish`] and where there is no result, [`CallError::Signature`] when it is
    /// of another type.
    #[inline]
    pub fn give_result<T: FrameValue>(&mut self, result: T) -> Result<(), CallError> {
        let place = self.result_in_block();
        let place = match place {
            Some(place) => place,
            None => self.result_place()?,
        };
        if !place.ptr_mut().set(result) {
            return Err(place.mismatch(&T::describe()));
        }
        self.stage = Stage::Given;
        Ok(())
    }

    /// Stores the result, of whatever type it is.
    ///
    /// # Errors
    /// As for [`Frame::give_result`].
    #[inline]
    pub fn give_value(&mut self, result: &Value) -> Result<(), CallError> {
        self.result_place()?.write(result)?;
        self.stage = Stage::Given;
        Ok(())
    }

    /// Overwrites an out parameter, by its place among the parameters, whatever type it is of.
    ///
    /// # Errors
    /// [`CallError::Other`] before [`Frame::finish`], and where that is no out parameter; [`CallError::Signature`] when it is
    /// of another type.
    pub fn give_out(&mut self, at: usize, value: &Value) -> Result<(), CallError> {
        let param = self.out(at)?;
        self.evaluate(at, param)?.write(value)
    }

    /// The same by its Rust type.
    ///
    /// # Errors
    /// As for [`Frame::give_out`].
    pub fn give_out_as<T: FrameValue>(&mut self, at: usize, value: T) -> Result<(), CallError> {
        let param = self.out(at)?;
        self.evaluate(at, param)?.store(value)
    }

    fn out(&self, at: usize) -> Result<&'a Property, CallError> {
        let param = self.function.arguments().get(at).filter(|param| param.flags & property_flags::OUT != 0);
        match param.filter(|_| self.stage != Stage::Taking) {
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

    /// Where the result is to lie, where that is in a block; nothing for all that takes longer to find, or may not be.
    #[inline]
    fn result_in_block(&self) -> Option<Argument<'a>> {
        let result = self.function.result().filter(|_| self.stage != Stage::Taking)?;
        self.params.plain_argument(self.function, result)
    }

    /// Where the result is to lie; a wildcard among the results has the type that the caller wants.
    ///
    /// # Errors
    /// As for [`Frame::give_result`].
    #[inline]
    fn result_place(&mut self) -> Result<Argument<'a>, CallError> {
        let result = self.awaited()?;
        self.params.result(self.function, result)
    }

    /// The type of the result, which for a wildcard is that of the place where the caller wants it.
    ///
    /// # Errors
    /// As for [`Frame::result_mut`].
    pub fn result_property(&mut self) -> Result<&'a Property, CallError> {
        Ok(self.result_place()?.property)
    }

    /// The result, to be written where it lies: for a result of any type. It is given by that.
    ///
    /// # Errors
    /// [`CallError::Other`] before [`Frame::finish`], and where there is no result.
    pub fn result_mut(&mut self) -> Result<PtrMut<'_>, CallError> {
        let place = self.result_place()?;
        self.stage = Stage::Given;
        Ok(place.ptr_mut())
    }

    /// The result to be written, and a parameter to be read meanwhile.
    ///
    /// # Errors
    /// As for [`Frame::result_mut`].
    ///
    /// # Panics
    /// When the parameter is of another call.
    pub fn result_mut_and(&mut self, param: Param) -> Result<(PtrMut<'_>, Ptr<'_>), CallError> {
        let (place, from) = (self.result_place()?, self.kept[param.0].1);
        self.stage = Stage::Given;
        Ok((place.ptr_mut(), from.ptr()))
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
/// the result is that code's to write. Null where a script steps through the parameters, as it does for functions with the flag
/// `CUSTOM_THUNK` alone. Not a method, since hosts have frames in their hands.
#[inline]
pub fn hand_over(frame: &mut Frame<'_>) -> *mut u8 {
    (frame.at, frame.stage) = (frame.function.arguments().len(), Stage::Given);
    match &frame.params {
        Source::Block(view) => view.start(),
        Source::Steps(_) => std::ptr::null_mut(),
    }
}

/// Returns the body of a function that does nothing: its result is the zero value.
pub fn idle() -> Thunk {
    Rc::new(|_context, frame| {
        hand_over(frame);
        Ok(())
    })
}

/// A call of `function` on `object`, whose parameters a script steps through.
#[inline]
pub fn stepping<'a>(object: ObjectHandle, function: &'a Function, steps: &'a mut dyn Steps<'a>) -> Frame<'a> {
    Frame::new(object, function, Source::Steps(steps))
}

/// Runs the thunk of `function` on `object` with parameters that lie in `block`. Whether it may run now, and what is held
/// meanwhile, is for the caller to see to.
///
/// # Errors
/// [`CallError::Signature`] when the memory is no block of that very function, and what the thunk says.
#[inline]
pub fn run_over_block(
    context: HookContext<'_>,
    object: ObjectHandle,
    function: &Function,
    block: View<'_>,
) -> Result<(), CallError> {
    if !block.is_of(function.schema()) {
        let (name, found) = (function.path.to_string(), function.signature());
        return Err(CallError::Signature { name, found, wanted: "the block of another function".to_owned() });
    }
    (function.thunk)(context, &mut Frame::new(object, function, Source::Block(block)))
}

impl<'a> Frame<'a> {
    #[inline]
    fn new(object: ObjectHandle, function: &'a Function, params: Source<'a>) -> Self {
        let arguments = function.arguments();
        let (stage, most_recent, kept, held) = (Stage::Taking, None, SmallVec::new(), None);
        Self { object, function, params, arguments, at: 0, stage, most_recent, kept, held }
    }
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
        Frame::new(object, self.function, Source::Block(self.storage.view()))
    }

    fn param(&self, index: usize) -> Result<&'f Property, CallError> {
        self.function.params.get(index).ok_or_else(|| {
            let (path, signature) = (&self.function.path, self.function.signature());
            CallError::other(format!("{path} has no parameter {index}: its signature is ({signature})"))
        })
    }
}
