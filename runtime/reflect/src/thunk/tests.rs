//! Tests of thunks that receive the whole parameter block, such as the thunks of modules.

use alcedo_abi::kinds::{PropertyKind, property_flags};
use alcedo_base::handles::ObjectHandle;

use super::{ParamBlock, Source, hand_over};
use crate::World;
use crate::decl::PropertyDecl;
use crate::fixed::ARRAY_DIM;
use crate::testing::function;
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
