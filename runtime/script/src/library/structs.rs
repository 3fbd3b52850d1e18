//! Library functions that accept any struct.

use alcedo_base::boundary::CallError;
use alcedo_reflect::World;
use alcedo_reflect::decl::FunctionDecl;
use alcedo_reflect::property::PropertyType;
use alcedo_reflect::thunk::{AnyStruct, Frame};

use super::build::{any_struct, custom, result};
use crate::cost;

pub(super) fn functions() -> Vec<FunctionDecl> {
    vec![custom(
        "show_struct_fields",
        "Returns the fields of a struct, each as `Property: [Struct].[Field]`, and logs them.",
        vec![any_struct("custom_struct"), result::<Vec<String>>()],
        show,
    )]
}

fn show(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let param = frame.step_compiled_in::<AnyStruct>()?;
    frame.finish()?;
    let PropertyType::Struct(of) = &frame.property(param).ty else {
        return Err(CallError::other("show_struct_fields: the argument is not a struct"));
    };
    let lines: Vec<_> = of.fields().iter().map(|field| format!("Property: [{}].[{}]", of.name, field.text)).collect();
    cost::add(cost::LINE * lines.len() as u64);
    for line in &lines {
        tracing::info!(target: "alcedo::script", "{line}");
    }
    frame.set_result(lines)
}
