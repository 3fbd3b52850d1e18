//! Tests objects that are destroyed while code of their own plugin part is on the stack. Each plugin part is dropped once, after that code
//! returns. The tests count the drops of the whole process, so they run in their own process.

use crate::support;

use alcedo_runtime::Value;

#[test]
fn an_object_may_destroy_itself_and_its_method_still_ends() {
    let record = support::record("ending");
    let host = support::host(&[support::plugin("broken", &[])]);
    let object = host.objects().spawn("/Script/Game.Fragile").expect("an actor");
    let pokes = host.objects().call(object, "end_itself", &[]).expect("the method returns");
    assert_eq!(pokes, Some(Value::U32(100)));
    assert!(!host.objects().is_alive(object));
    host.safe_point();
    host.unload_master().expect("a Master");
    let mut lines: Vec<_> = record.take().lines().map(str::to_owned).collect();
    lines.sort();
    // The unload has also destroyed the class default object, which has 0 pokes.
    assert_eq!(lines, ["a Fragile with 0 pokes ends", "a Fragile with 100 pokes ends"]);
}

#[test]
fn an_object_destroyed_by_its_red_constructor_leaks_nothing() {
    let record = support::record("ending");
    let host = support::host(&[support::plugin("broken", &[])]);
    let before = host.counters().objects;
    let next = Value::Text("destroy in red constructor".into());
    host.calls().call("nm:/broken:Fragile:panic_next_in", &[next]).expect("it will");
    let error = host.objects().spawn("/Script/Game.Fragile").expect_err("it is gone");
    assert!(error.to_string().contains("is gone"), "{error}");
    assert_eq!(host.counters().objects, before);
    host.unload_master().expect("a Master");
    assert_eq!(record.take().lines().count(), 2, "its half and that of the class default object");
}
