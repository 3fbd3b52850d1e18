//! Loads the library into the sample engine. A test cannot link a `cdylib`: it is built and loaded, as in production.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use alcedo::build::BuildRequest;
use alcedo::{Budget, Runtime, Value};

/// Built once for all tests: a file that is being written cannot be loaded.
static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let built = alcedo::build::build(&BuildRequest::new(&manifest).package(env!("CARGO_PKG_NAME")));
    built.unwrap_or_else(|error| panic!("{error}")).artifacts.remove(0).path
});

#[test]
fn a_reload_keeps_actors_and_their_values() {
    let runtime = Runtime::builder().package("Game").natives(alcedo::engine::natives()).build().unwrap();
    runtime.create_master(&[&*LIBRARY]).unwrap_or_else(|error| panic!("{error}"));
    let actor = runtime.objects().spawn("/Script/Game.{{camel}}Actor").unwrap();
    for _ in 0..3 {
        runtime.tick(Budget::seconds(4.0));
    }
    assert_eq!(runtime.objects().call(actor, "tick_count", &[]).unwrap(), Some(Value::U32(3)));
    runtime.objects().set(actor, "turning", &Value::F64(5.0)).unwrap();

    runtime.reload(&[&*LIBRARY]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(runtime.generation(), 2);
    assert!(runtime.objects().is_alive(actor));
    assert_eq!(runtime.objects().get(actor, "turning").unwrap(), Value::F64(5.0));
    assert_eq!(runtime.objects().call(actor, "flight_count", &[]).unwrap(), Some(Value::U32(1)), "it is kept");
    assert_eq!(runtime.objects().call(actor, "tick_count", &[]).unwrap(), Some(Value::U32(0)), "it is rebuilt");
    runtime.shutdown().into_result().unwrap();
}
