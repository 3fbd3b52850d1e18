//! Calls reflected functions. Checks that each call is allowed, and keeps the objects of the call alive until the call returns.

use alcedo_abi::kinds::function_flags;
use alcedo_base::boundary::{CallError, mismatch};
use alcedo_base::handles::{ModuleId, ObjectHandle};

use crate::World;
use crate::function::Function;
use crate::mode::Reach;
use crate::thunk::{Frame, ParamBlock, restore_lengths};

impl Function {
    /// Runs the function on `object` with the parameters of `block`. The block must belong to this function.
    ///
    /// # Errors
    /// Returns the error of the thunk. Returns [`CallError::Signature`] if the block belongs to a different function. Returns
    /// [`CallError::DuringRebuild`] if the call is not allowed before the commit. Returns [`CallError::Borrowed`] while plugin code holds a
    /// slice. Returns [`CallError::TooDeep`] if the stack is almost exhausted. Returns [`CallError::Other`] if a custom thunk did not take
    /// all parameters, did not call `finish`, or did not store the result.
    pub fn invoke(&self, world: &World, object: ObjectHandle, block: &mut ParamBlock<'_>) -> Result<(), CallError> {
        if !std::ptr::eq(self, block.function()) {
            return Err(mismatch(&self.path, &self.signature(), &block.function().signature()));
        }
        self.may_run(world, object)?;
        let _call = world.stack.enter(&format_args!("{} of {object}", self.path))?;
        let _held = world.stack.hold(std::iter::once(object).chain(block.view().objects()));
        let mut frame = block.frame(object);
        (self.thunk)(world.context(), &mut frame).and(restore_lengths(&mut frame))?;
        match self.flags & function_flags::CUSTOM_THUNK {
            0 => Ok(()),
            _ => self.check_balance(&frame),
        }
    }

    /// Checks that a thunk followed the calling convention of this function. Called after the successful return of the thunk.
    ///
    /// # Errors
    /// Returns [`CallError::Other`] if the thunk has not taken all parameters, has not called `finish`, or has not stored the result.
    pub fn check_balance(&self, frame: &Frame<'_>) -> Result<(), CallError> {
        if frame.is_balanced() {
            return Ok(());
        }
        Err(CallError::other(format!(
            "the thunk of {} returned before it took all of ({}), called `finish` and stored the result",
            self.path,
            self.signature()
        )))
    }

    /// Checks that a call on `object` is allowed.
    ///
    /// # Errors
    /// Returns [`CallError::DuringRebuild`] if the call is not allowed before the commit. Returns [`CallError::Borrowed`] while plugin code
    /// holds a slice.
    #[inline]
    pub fn may_run(&self, world: &World, object: ObjectHandle) -> Result<(), CallError> {
        world.slices.allow_change(&format_args!("calling {}", self.path))?;
        world.mode.may_call(&self.path, || self.reach(world, object))
    }

    /// Returns the category of the code that a call on `object` runs.
    fn reach(&self, world: &World, object: ObjectHandle) -> Reach {
        match ModuleId(self.tag) {
            _ if self.flags & function_flags::PURE != 0 => Reach::Pure,
            ModuleId::HOST => Reach::Host,
            module if self.flags & function_flags::STATIC != 0 => Reach::Static(module),
            module => Reach::PluginPart(module, world.objects.is_staged(object)),
        }
    }
}

#[cfg(test)]
mod tests {
    use alcedo_abi::kinds::PropertyKind;
    use alcedo_base::boundary::CallError;
    use alcedo_base::handles::ObjectHandle;

    use crate::World;
    use crate::decl::PropertyDecl;
    use crate::testing::function;
    use crate::thunk::{Frame, ParamBlock};
    use crate::value::Value;

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
    fn a_thunk_writes_only_out_parameters_and_only_after_finish() {
        use alcedo_abi::kinds::property_flags;
        let params = [
            PropertyDecl::new("count", PropertyKind::I32),
            PropertyDecl::new("label", PropertyKind::STRING).with_flags(property_flags::OUT),
        ];
        let function = function("f", &params, |_, frame| {
            assert!(frame.set_out(1, &Value::Text("early".to_owned())).is_err());
            frame.take_value()?;
            frame.take_value()?;
            frame.finish()?;
            assert!(frame.set_out(0, &Value::I32(1)).is_err());
            assert!(frame.set_out(2, &Value::I32(1)).is_err());
            assert!(frame.set_out(1, &Value::I32(1)).is_err());
            frame.set_out(1, &Value::Text("out".to_owned()))
        });
        let mut block = ParamBlock::new(&function);
        block.set(1, &Value::Text("in".to_owned())).unwrap();
        function.invoke(&World::new(), ObjectHandle::NONE, &mut block).unwrap();
        let read = |at: usize| block.view().read(&function.arguments()[at]);
        assert_eq!((read(0), read(1)), (Ok(Value::I32(0)), Ok(Value::Text("out".to_owned()))));
    }

    #[test]
    fn a_fixed_array_in_a_block_always_has_its_length() {
        use crate::fixed::ARRAY_DIM;
        use alcedo_abi::kinds::property_flags;
        let rows = PropertyDecl::new("rows", PropertyKind::ARRAY).of_type("i32").with_flags(property_flags::OUT);
        let params = [PropertyDecl { meta: vec![(ARRAY_DIM.to_owned(), "3".to_owned())], ..rows }];
        let array = |values: &[i32]| Value::Array(values.iter().copied().map(Value::I32).collect());
        let function = function("f", &params, |_, frame| {
            let sum: i32 = frame.take::<Vec<i32>>()?.into_iter().sum();
            frame.finish()?;
            match sum {
                1 => frame.set_out(0, &Value::Array(vec![Value::I32(7)])),
                _ => frame.set_out_as(0, vec![8_i32, 0, 0, 9]),
            }
        });
        let mut block = ParamBlock::new(&function);
        let read = |block: &ParamBlock<'_>| block.view().read(&function.arguments()[0]);
        block.set(0, &array(&[1])).unwrap();
        assert_eq!(read(&block), Ok(array(&[1, 0, 0])), "written as a value");
        function.invoke(&World::new(), ObjectHandle::NONE, &mut block).unwrap();
        assert_eq!(read(&block), Ok(array(&[7, 0, 0])), "written by a thunk as a value");
        block.put(0, vec![2_i32, 0, 0, 3]).unwrap();
        assert_eq!(read(&block), Ok(array(&[2, 0, 0])), "written as a Rust type");
        function.invoke(&World::new(), ObjectHandle::NONE, &mut block).unwrap();
        assert_eq!(read(&block), Ok(array(&[8, 0, 0])), "written by a thunk as a Rust type");
    }

    #[test]
    fn a_thunk_cannot_change_the_length_of_a_fixed_array_in_place() {
        use crate::containers::array;
        use crate::fixed::ARRAY_DIM;
        use crate::thunk::AnyArray;
        use alcedo_abi::kinds::property_flags;
        let rows = PropertyDecl::new("rows", PropertyKind::ARRAY).of_type("i32").with_flags(property_flags::OUT);
        let params = [
            PropertyDecl { meta: vec![(ARRAY_DIM.to_owned(), "3".to_owned())], ..rows },
            PropertyDecl::new("again", PropertyKind::BOOL),
        ];
        let function = function("f", &params, |_, frame| {
            if frame.object().is_none() {
                let rows = frame.step_compiled_in_ref::<AnyArray>()?;
                frame.take::<bool>()?;
                frame.finish()?;
                array(frame.value_mut(rows)?).expect("it is an array").splice(1, 2, 0).expect("it has 3 elements");
                return Ok(());
            }
            let rows = frame.step_again()?;
            frame.take::<bool>()?;
            frame.finish()?;
            frame.change_again(rows, |rows| {
                array(rows).expect("it is an array").splice(3, 0, 1).expect("it has 3 elements");
                Ok(())
            })
        });
        let row = |values: [i32; 3]| Value::Array(values.map(Value::I32).to_vec());
        let (none, object) = (ObjectHandle::NONE, ObjectHandle::new(1, 1));
        for (object, expected, len) in [(none, row([1, 0, 0]), 1), (object, row([1, 2, 3]), 4)] {
            let mut block = ParamBlock::new(&function);
            block.set(0, &row([1, 2, 3])).unwrap();
            let refused = function.invoke(&World::new(), object, &mut block).unwrap_err().to_string();
            assert!(refused.contains(&format!("a fixed array of 3 elements and cannot have {len}")), "{refused}");
            assert_eq!(block.view().read(&function.arguments()[0]), Ok(expected));
        }
    }

    #[test]
    fn a_thunk_uses_stepped_block_parameters_after_finish() {
        use crate::containers::{array, array_ref};
        use crate::thunk::{AnyArray, AnyStruct, AnyValue};
        use alcedo_abi::kinds::property_flags;
        let params = [
            PropertyDecl::new("rows", PropertyKind::ARRAY).of_type("i32").with_flags(property_flags::OUT),
            PropertyDecl::new("item", PropertyKind::I32),
            PropertyDecl::result(PropertyKind::I32),
        ];
        let function = function("f", &params, |_, frame| {
            assert!(frame.most_recent_property().is_none());
            assert!(matches!(frame.step_compiled_in::<AnyStruct>(), Err(CallError::Signature { .. })));
            let rows = frame.step_compiled_in_ref::<AnyArray>()?;
            assert_eq!(frame.most_recent_property().map(|property| &*property.text), Some("rows"));
            assert!(frame.value_mut(rows).is_err(), "before it has finished");
            assert!(frame.step_compiled_in_ref::<AnyValue>().is_err(), "the parameter is not an out parameter");
            let item = frame.step_compiled_in::<AnyValue>()?;
            frame.finish()?;
            assert!(frame.value_mut(item).is_err());
            assert!(frame.value_mut_and(rows, rows).is_err());
            let (to, from) = frame.value_mut_and(rows, item)?;
            let mut to = array(to).unwrap();
            to.splice(1, 0, 1).unwrap();
            to.get_mut(1).unwrap().copy_from(from);
            assert!(to.swap(0, 1) && !to.swap(0, 9) && to.get_mut(2).is_none());
            let first = array_ref(frame.value(rows)).unwrap().get(0).unwrap().get::<i32>();
            frame.set_result(first.unwrap())
        });
        let mut block = ParamBlock::new(&function);
        block.set(0, &Value::Array(vec![Value::I32(1)])).unwrap();
        block.put(1, 7_i32).unwrap();
        function.invoke(&World::new(), ObjectHandle::NONE, &mut block).unwrap();
        let rows = block.view().read(&function.arguments()[0]);
        assert_eq!(rows, Ok(Value::Array(vec![Value::I32(7), Value::I32(1)])));
        assert_eq!(block.result(), Some(Value::I32(7)));
    }

    #[test]
    fn a_thunk_reads_its_arguments_finishes_and_returns() {
        let result = check(|_, frame| {
            let (count, label) = (frame.take::<i32>()?, frame.take::<String>()?);
            frame.finish()?;
            frame.set_result(label.repeat(count as usize))?;
            assert!(frame.is_balanced());
            Ok(())
        });
        assert_eq!(result, Ok(Some(Value::Text("ababab".to_owned()))));
    }

    #[test]
    fn wrong_use_of_a_frame_is_reported() {
        let error = check(|_, frame| frame.take::<f32>().map(drop)).unwrap_err();
        assert_eq!(
            error,
            "/Script/Test.Owner:repeat:count has the signature (i32), the caller was built for (f32): rebuild or correct the caller"
        );
        let error = check(|_, frame| {
            frame.take::<i32>()?;
            frame.take::<String>()?;
            frame.take::<String>().map(drop)
        });
        assert_eq!(
            error.unwrap_err(),
            "the thunk of /Script/Test.Owner:repeat takes one parameter too many (declared: 2): \
             take the parameters of (i32, String -> String), then finish"
        );
        assert!(check(|_, frame| frame.finish()).unwrap_err().contains("after 0 of 2 parameters"));
        assert!(check(|_, frame| frame.set_result(String::new())).unwrap_err().contains("call `finish` first"));
    }

    #[test]
    fn a_block_lists_its_parameters() {
        let function = function("f", &[PropertyDecl::new("on", PropertyKind::BOOL)], |_, _| Ok(()));
        let mut block = ParamBlock::new(&function);
        block.set(0, &Value::Bool(true)).unwrap();
        let on = block.view().read(&function.arguments()[0]);
        assert_eq!((on, block.result()), (Ok(Value::Bool(true)), None));
        assert!(block.set(0, &Value::I32(1)).is_err());
        assert!(block.put(1, 1u8).unwrap_err().to_string().contains("has no parameter 1"));
    }
}
