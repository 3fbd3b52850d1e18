//! Tests of thunks that receive the whole parameter block, such as the thunks of modules.

use std::rc::Rc;

use alcedo_abi::kinds::{PropertyKind, property_flags};
use alcedo_base::boundary::CallError;
use alcedo_base::handles::ObjectHandle;

use super::{Frame, ParamBlock, Source, hand_over};
use crate::World;
use crate::decl::{Batch, ClassDecl, FunctionDecl, PropertyDecl, StructDecl};
use crate::fixed::ARRAY_DIM;
use crate::function::Function;
use crate::origin::Origin;
use crate::testing::{function, native_thunk, world};
use crate::value::Value;

#[test]
fn a_fixed_array_that_a_module_writes_to_its_block_has_its_length_after_the_call() {
    let rows = PropertyDecl::new("rows", PropertyKind::ARRAY).of_type("i32").with_flags(property_flags::OUT);
    let params = [PropertyDecl { meta: vec![(ARRAY_DIM.to_owned(), "3".to_owned())], ..rows }];
    let function = function("f", &params, |_, frame| {
        let rows = PropertyDecl::new("rows", PropertyKind::ARRAY).of_type("i32");
        let other = function("g", &[rows], |_, _| Ok(()));
        let mut long = ParamBlock::new(&other);
        long.put(0, vec![1_i32, 2, 3, 4, 5])?;
        // `copy_from` adjusts no lengths, like module code that writes to the memory of the block.
        let Source::Block(view) = &frame.params else { panic!("the parameters are in a block") };
        view.copy_from(&frame.arguments[0], long.view(), &other.arguments()[0])?;
        hand_over(frame);
        Ok(())
    });
    let row = |values: [i32; 3]| Value::Array(values.map(Value::I32).to_vec());
    let mut block = ParamBlock::new(&function);
    block.set(0, &row([7, 8, 9])).unwrap();
    function.invoke(&World::new(), ObjectHandle::NONE, &mut block).unwrap();
    assert_eq!(block.view().read(&function.arguments()[0]), Ok(row([1, 2, 3])));
}

/// Declares a function with an out parameter and a result of the type `/Script/Test.Line`, a struct with an array. The array is fixed if
/// `len` is set.
fn with_struct(len: Option<&str>, thunk: fn(&World, &mut Frame<'_>) -> Result<(), CallError>) -> Rc<Function> {
    let meta = len.map(|len| (ARRAY_DIM.to_owned(), len.to_owned())).into_iter().collect();
    let rows = PropertyDecl { meta, ..PropertyDecl::new("rows", PropertyKind::ARRAY).of_type("i32") };
    let line = StructDecl { fields: vec![rows], ..StructDecl::new("Test", "Line", Origin::Native) };
    let param = PropertyDecl::new("line", PropertyKind::STRUCT).with_flags(property_flags::OUT);
    let params =
        [param, PropertyDecl::result(PropertyKind::STRUCT)].map(|param| param.of_type("/Script/Test.Line")).to_vec();
    let function = FunctionDecl { params, ..FunctionDecl::new("f", native_thunk(thunk)) };
    let owner = ClassDecl { functions: vec![function], ..ClassDecl::new("Test", "Owner", "", Origin::Native) };
    let batch = Batch { structs: vec![line], classes: vec![owner], ..Batch::default() };
    let world = world();
    let declared = world.types.declare(&world.names, &batch).expect("a right declaration");
    declared.classes[0].own_functions[0].clone()
}

fn line(rows: &[i32]) -> Value {
    Value::Struct(vec![("rows".into(), Value::Array(rows.iter().copied().map(Value::I32).collect()))])
}

#[test]
fn a_fixed_array_in_a_struct_that_a_module_writes_to_its_block_has_its_length_after_the_call() {
    let function = with_struct(Some("3"), |_, frame| {
        let other = with_struct(None, |_, _| Ok(()));
        let mut long = ParamBlock::new(&other);
        long.set(0, &line(&[1, 2, 3, 4, 5]))?;
        let Source::Block(view) = &frame.params else { panic!("the parameters are in a block") };
        for param in frame.arguments.iter().chain(frame.function.result()) {
            view.copy_from(param, long.view(), &other.arguments()[0])?;
        }
        hand_over(frame);
        Ok(())
    });
    let mut block = ParamBlock::new(&function);
    block.set(0, &line(&[7, 8, 9])).unwrap();
    function.invoke(&World::new(), ObjectHandle::NONE, &mut block).unwrap();
    for param in function.arguments().iter().chain(function.result()) {
        assert_eq!(block.view().read(param), Ok(line(&[1, 2, 3])));
    }
}
