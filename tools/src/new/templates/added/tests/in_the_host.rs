//! Loads the library into the host. A test cannot link a `cdylib`: it is built and loaded, as in production.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use alcedo::Value;
use alcedo::build::BuildRequest;

/// Built once for all tests: a file that is being written cannot be loaded.
static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let built = alcedo::build::build(&BuildRequest::new(&manifest).package(env!("CARGO_PKG_NAME")));
    built.unwrap_or_else(|error| panic!("{error}")).artifacts.remove(0).path
});

#[test]
fn a_reload_keeps_objects_and_their_values() {
    let runtime = {{host}}::builder().build().unwrap();
    runtime.create_master(&[&*LIBRARY]).unwrap_or_else(|error| panic!("{error}"));
    let object = runtime.objects().spawn("/Script/{{plugins}}.{{class}}").unwrap();
    runtime.objects().set(object, "{{factor}}", &Value::F64(5.0)).unwrap();
{{call}}    let calls = runtime.objects().call(object, "{{count}}", &[]).unwrap();

    runtime.reload(&[&*LIBRARY]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(runtime.generation(), 2);
    assert_eq!(runtime.objects().get(object, "{{factor}}").unwrap(), Value::F64(5.0));
    assert_eq!(runtime.objects().call(object, "{{count}}", &[]).unwrap(), calls, "a reload keeps it");
    assert_eq!(runtime.objects().call(object, "{{recent}}", &[]).unwrap(), Some(Value::U32(0)), "a reload resets it");
    runtime.shutdown().into_result().unwrap();
}
