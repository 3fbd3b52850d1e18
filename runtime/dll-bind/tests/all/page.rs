//! Runs the code fences of `runtime/docs/dll-bind.md`, together with lines that the page omits. The test `tools/tests/pages.rs` searches
//! this file for the fences.
#![allow(dead_code, reason = "copies lines of a page; `classes.rs` runs similar code")]

use std::error::Error;
use std::path::Path;

use alcedo_runtime::dll_bind::{DllImport, Import, PropertyType, UserCode};
use alcedo_runtime::kinds::PropertyKind;
use alcedo_runtime::native::{NativeClass, NativeType, Natives};
use alcedo_runtime::{Runtime, Value};

const I32: NativeType = (PropertyKind::I32, "");

#[rustfmt::skip]
fn fences() -> Result<(), Box<dyn Error>> {
    // SAFETY: in this example, the author of the host also wrote the libraries in the folder.
    let code = unsafe { UserCode::at(Path::new("user-code")) };
    let library = code.open("TestDLL");
    let reverse = Import::new("CallDLL1").out("s", PropertyType::Text).bind(&library)?;
    let outcome = reverse.call(&[Value::Text("drawrof".into())])?;
    assert_eq!(outcome.out_parameters, [Value::Text("forward".into())]);

    let class = NativeClass::new("Game", "TestDLL", "/Script/Core.Object")
        .dll_bind(&code.open("TestDLL"))
        .import(DllImport::new("CallDLL1").out("s", (PropertyKind::STRING, "")))
        .import(DllImport::new("add").param("a", I32).param("b", I32).returns(I32).no_cwd());
    let runtime = Runtime::builder().natives(Natives::in_package("Game").dll_class(class)).build()?;
    let object = runtime.objects().spawn("/Script/Game.TestDLL")?;
    let (_, out_parameters) = runtime.objects().call_with_out_parameters(object, "CallDLL1", &[Value::Text("drawrof".into())])?;
    assert_eq!(out_parameters, [Value::Text("forward".into())]);
    Ok(())
}
