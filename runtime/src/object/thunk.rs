//! How a reflected function is run: parameters lie in a block, and its thunk takes them off the frame in order, says
//! that it is finished, works, and gives the result.

use std::rc::Rc;

use alcedo_abi::kinds::function_flags;

use crate::border::CallError;
use crate::handles::{ModuleId, ObjectHandle};
use crate::object::World;
use crate::object::function::Function;
use crate::object::mode::Reach;
use crate::object::property::Property;
use crate::object::storage::{Storage, View};
use crate::object::typed::FrameValue;
use crate::object::value::Value;

/// What runs a function. Nothing of the world may be borrowed while it does.
pub(crate) type Thunk = Rc<dyn Fn(&World, &mut Frame<'_>) -> Result<(), CallError>>;

/// One running call.
#[derive(Debug)]
pub struct Frame<'a> {
    /// The object called, or none for a static function.
    pub(crate) object: ObjectHandle,
    /// The function.
    pub(crate) function: &'a Function,
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
pub(crate) struct ParamBlock<'f> {
    function: &'f Function,
    storage: Storage,
}

impl<'a> Frame<'a> {
    /// A call of the block's function on `object`. The parameters were set before; they lie as that function has them, since
    /// nobody else makes a frame.
    pub(crate) fn new(object: ObjectHandle, block: &'a mut ParamBlock<'_>) -> Self {
        Self { object, function: block.function, params: block.view(), at: 0, stage: Stage::Taking }
    }

    /// The object called, or none for a static function.
    pub fn object(&self) -> ObjectHandle {
        self.object
    }

    /// The next parameter.
    ///
    /// # Errors
    /// [`CallError::Signature`] when it is of another type, [`CallError::Other`] when there is none left.
    pub fn take<T: FrameValue>(&mut self) -> Result<T, CallError> {
        let value = self.params.get(self.next_param()?)?;
        self.at += 1;
        Ok(value)
    }

    /// The next parameter, of whatever type it is.
    ///
    /// # Errors
    /// [`CallError::Other`] when there is none left.
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
    pub fn give_result<T: FrameValue>(&mut self, result: T) -> Result<(), CallError> {
        self.params.set(self.awaited()?, result)?;
        self.stage = Stage::Given;
        Ok(())
    }

    /// Stores the result, of whatever type it is.
    ///
    /// # Errors
    /// As for [`Frame::give_result`].
    pub fn give_value(&mut self, result: &Value) -> Result<(), CallError> {
        self.params.write(self.awaited()?, result)?;
        self.stage = Stage::Given;
        Ok(())
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

    /// The whole block, for a thunk that hands it to somebody who knows its layout: all parameters are taken then, and
    /// the result is his to write.
    pub(crate) fn hand_over(&mut self) -> *mut u8 {
        (self.at, self.stage) = (self.function.arguments().len(), Stage::Given);
        self.params.start()
    }
}

impl<'f> ParamBlock<'f> {
    /// A block for calls of `function`.
    pub(crate) fn new(function: &'f Function) -> Self {
        Self { function, storage: Storage::new(function.schema().clone()) }
    }

    /// Sets parameter `index`.
    ///
    /// # Errors
    /// [`CallError::Signature`] when the value is of another type, [`CallError::Other`] when there is no such
    /// parameter.
    pub(crate) fn set(&mut self, index: usize, value: &Value) -> Result<(), CallError> {
        self.storage.view().write(self.param(index)?, value)
    }

    /// Sets parameter `index` by its Rust type.
    ///
    /// # Errors
    /// As for [`ParamBlock::set`].
    #[cfg(test)]
    pub(crate) fn put<T: FrameValue>(&mut self, index: usize, value: T) -> Result<(), CallError> {
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
    pub(crate) fn result(&self) -> Option<Value> {
        self.storage.view().read(self.function.result()?).ok()
    }

    /// The contents.
    pub(crate) fn view(&self) -> View<'_> {
        self.storage.view()
    }

    fn param(&self, index: usize) -> Result<&'f Property, CallError> {
        self.function.params.get(index).ok_or_else(|| {
            let (path, signature) = (&self.function.path, self.function.signature());
            CallError::other(format!("{path} has no parameter {index}: its signature is ({signature})"))
        })
    }
}

impl Function {
    /// Runs the function on `object` with the parameters of `block`. One that is no block of this very function is refused.
    ///
    /// # Errors
    /// What the thunk says; [`CallError::DuringRebuild`] when it may not run before the commit of what comes up;
    /// [`CallError::Lent`] while plugin code holds a slice.
    pub(crate) fn invoke(
        &self,
        world: &World,
        object: ObjectHandle,
        block: &mut ParamBlock<'_>,
    ) -> Result<(), CallError> {
        if !std::ptr::eq(self, block.function) {
            return Err(CallError::Signature {
                name: self.path.to_string(),
                found: self.signature().to_string(),
                wanted: block.function.signature().to_string(),
            });
        }
        world.slices.allow_change(&format_args!("calling {}", self.path))?;
        world.mode.may_call(&self.path, || self.reach(world, object))?;
        let _held = world.stack.hold(std::iter::once(object).chain(block.view().objects()));
        (self.thunk)(world, &mut Frame::new(object, block))
    }

    /// What a call on `object` runs.
    fn reach(&self, world: &World, object: ObjectHandle) -> Reach {
        match ModuleId(self.tag) {
            _ if self.flags & function_flags::PURE != 0 => Reach::Pure,
            ModuleId::HOST => Reach::Host,
            module if self.flags & function_flags::STATIC != 0 => Reach::Static(module),
            module => Reach::Half(module, world.objects.is_staged(object)),
        }
    }
}

#[cfg(test)]
mod tests {
    use alcedo_abi::kinds::PropertyKind;

    use super::{Frame, ParamBlock};
    use crate::border::CallError;
    use crate::handles::ObjectHandle;
    use crate::object::World;
    use crate::object::decl::PropertyDecl;
    use crate::object::testing::function;
    use crate::object::value::Value;

    fn check(thunk: fn(&World, &mut Frame<'_>) -> Result<(), CallError>) -> Result<Option<Value>, String> {
        let params = [
            PropertyDecl::new("count", PropertyKind::I32),
            PropertyDecl::new("label", PropertyKind::STRING),
            PropertyDecl::result(PropertyKind::STRING),
        ];
        let function = function("repeat", &params, thunk);
        let mut block = ParamBlock::new(&function);
        block.set(0, &Value::I32(3)).unwrap();
        block.put(1, "ab".to_owned()).unwrap();
        let called = function.invoke(&World::new(), ObjectHandle::NONE, &mut block);
        called.map(|()| block.result()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_thunk_takes_finishes_and_gives() {
        let result = check(|_, frame| {
            let (count, label) = (frame.take::<i32>()?, frame.take::<String>()?);
            frame.finish()?;
            frame.give_result(label.repeat(count as usize))?;
            assert!(frame.is_balanced());
            Ok(())
        });
        assert_eq!(result, Ok(Some(Value::Text("ababab".to_owned()))));
    }

    #[test]
    fn a_thunk_that_takes_otherwise_is_told() {
        let error = check(|_, frame| frame.take::<f32>().map(drop)).unwrap_err();
        assert_eq!(
            error,
            "/Script/Test.Owner:repeat:count has the signature (i32), the caller was built for (f32): rebuild the caller"
        );
        let error = check(|_, frame| {
            frame.take::<i32>()?;
            frame.take::<String>()?;
            frame.take::<String>().map(drop)
        });
        assert_eq!(
            error.unwrap_err(),
            "the thunk of /Script/Test.Owner:repeat takes a parameter more than the 2 there are: \
             take what (i32, String -> String) says, then finish"
        );
        assert!(check(|_, frame| frame.finish()).unwrap_err().contains("after 0 of 2 parameters"));
        assert!(check(|_, frame| frame.give_result(String::new())).unwrap_err().contains("call `finish` first"));
    }

    #[test]
    fn a_block_knows_its_parameters() {
        let function = function("f", &[PropertyDecl::new("on", PropertyKind::BOOL)], |_, _| Ok(()));
        let mut block = ParamBlock::new(&function);
        block.set(0, &Value::Bool(true)).unwrap();
        assert_eq!((block.get(0), block.result()), (Ok(Value::Bool(true)), None));
        assert!(block.set(0, &Value::I32(1)).is_err());
        assert!(block.put(1, 1u8).unwrap_err().to_string().contains("has no parameter 1"));
    }
}
