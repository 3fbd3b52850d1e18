//! Library functions that accept any struct.

use alcedo_abi::kinds::function_flags;
use alcedo_base::boundary::CallError;
use alcedo_reflect::decl::FunctionDecl;
use alcedo_reflect::property::{Property, PropertyType};
use alcedo_reflect::thunk::AnyStruct;

use super::build::library;
use crate::cost;

pub(super) fn functions() -> Vec<FunctionDecl> {
    let mut functions = library! { world, frame:
        /// Returns the fields of a struct, each as `Property: [Struct].[Field]`, and logs them.
        fn show_struct_fields(custom_struct: AnyStruct) -> Vec<String> {
            let PropertyType::Struct(of) = &frame.property(custom_struct).ty else {
                return Err(CallError::other("show_struct_fields: the argument is not a struct"));
            };
            let show = |field: &Property| format!("Property: [{}].[{}]", of.name, field.text);
            let lines: Vec<_> = of.fields().iter().map(show).collect();
            cost::add(cost::LINE * lines.len() as u64);
            for line in &lines {
                alcedo_base::log!(target: "alcedo::script", INFO, "{line}");
            }
            lines
        }
    };
    // Writes to the log, which a rollback does not undo.
    functions.iter_mut().for_each(|function| function.flags &= !function_flags::PURE);
    functions
}
