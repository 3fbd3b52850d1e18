//! Compiles a function at run time. The memory of the function is freed when the module ends, or leaked in the row `cranelift-jit-leaked`.
#![allow(unsafe_code, reason = "calls what was made, and gives its memory back")]

use std::error::Error;

use crate::local::Kept;

use cranelift::prelude::{AbiParam, FunctionBuilder, FunctionBuilderContext, InstBuilder as _, types};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module as _, default_libcall_names};

/// Module and address of the function.
static MADE: Kept<(JITModule, usize)> = Kept::new();

fn make() -> Result<(JITModule, usize), Box<dyn Error + Send + Sync>> {
    let mut module = JITModule::new(JITBuilder::new(default_libcall_names())?);
    let mut context = module.make_context();
    context.func.signature.params = vec![AbiParam::new(types::I64); 2];
    context.func.signature.returns = vec![AbiParam::new(types::I64)];
    let mut parts = FunctionBuilderContext::new();
    let mut builder = FunctionBuilder::new(&mut context.func, &mut parts);
    let block = builder.create_block();
    builder.append_block_params_for_function_params(block);
    builder.switch_to_block(block);
    builder.seal_block(block);
    let parameters = builder.block_params(block).to_vec();
    let sum = builder.ins().iadd(parameters[0], parameters[1]);
    builder.ins().return_(&[sum]);
    builder.finalize(module.target_config());
    let id = module.declare_function("add", Linkage::Export, &context.func.signature)?;
    module.define_function(id, &mut context)?;
    module.clear_context(&mut context);
    module.finalize_definitions()?;
    let function = module.get_finalized_function(id).expose_provenance();
    Ok((module, function))
}

pub(crate) fn begin() {
    MADE.keep(make());
}

pub(crate) fn work() -> String {
    MADE.work(|(_module, function)| {
        let function = std::ptr::with_exposed_provenance::<()>(*function);
        // SAFETY: the function was compiled with this signature and calling convention, and its memory is alive.
        let add = unsafe { std::mem::transmute::<*const (), extern "C" fn(i64, i64) -> i64>(function) };
        Ok::<_, ()>(add(40, 2) == 42)
    })
}

pub(crate) fn end() {
    let Some((module, _function)) = (if cfg!(feature = "cranelift-jit-leaked") { None } else { MADE.take() }) else {
        return;
    };
    // SAFETY: the function is not called again.
    unsafe { module.free_memory() };
}
