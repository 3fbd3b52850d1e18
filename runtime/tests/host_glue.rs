//! Tests a host that uses classes of plugins through Rust types. `alcedo glue --for-host` has generated these types: objects, functions by
//! name, delegates and closures. Covers reloads, stale glue, and every kind of error.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use alcedo_runtime::host::{Class as _, Listener, Obj, Object};
use alcedo_runtime::{CallError, Error, ObjectHandle, Runtime, Value};

use crate::support;

#[allow(dead_code, missing_docs, unreachable_pub, reason = "a test uses a part of the glue")]
mod lamps;
#[allow(dead_code, missing_docs, unreachable_pub, reason = "a test uses a part of the glue")]
mod migration;

#[allow(dead_code, missing_docs, unreachable_pub, reason = "a test uses a part of the glue")]
mod lamps_plus;

use lamps::{Bulb, BulbMembers as _, Lamp, LampMembers as _, RoomMembers as _};
use lamps_plus::{Candle, TwinLamp, TwinLampMembers as _};
use migration::{Shapeshifter, ShapeshifterMembers as _};

fn lamps_host() -> Runtime {
    support::host(&[support::plugin("lamps", &[]), support::plugin("lamps-plus", &[])])
}

fn call_error(error: Error) -> CallError {
    match error {
        Error::Call(error) => error,
        other => panic!("{other}"),
    }
}

#[test]
fn properties_and_functions_have_the_types_of_the_plugin() {
    let host = lamps_host();
    let lamp = Lamp::create(&host).expect("it is declared");
    lamp.set_brightness(&host, 2.5).expect("it is there");
    assert_eq!(lamp.brightness(&host).expect("it is there"), 2.5);
    assert_eq!(lamp.flicker(&host, 3).expect("it flickers"), 3);
    assert_eq!(lamp.label(&host, "A".to_owned()).expect("it returns a string"), "lamp A");
    let too_often = call_error(lamp.flicker(&host, 11).expect_err("too often"));
    assert!(matches!(too_often, CallError::Returned { .. }), "{too_often}");
    let other = Lamp::create(&host).expect("it is declared");
    other.set_brightness(&host, 1.0).expect("it is there");
    assert_eq!(lamp.pass_on(&host, other, 2).expect("it flickers"), 2);
    // Calls a function on an object whose derived class overrides the function.
    let twin = host.objects().spawn("/Script/Game.TwinLamp").expect("it is declared");
    let twin: Obj<Lamp> = host.objects().cast(twin).expect("it is a lamp");
    twin.set_brightness(&host, 1.0).expect("it is there");
    assert_eq!(twin.flicker(&host, 2).expect("it flickers twice"), 4);
    // Calls a static function, an implementable event, and a function with a container.
    let bulb = Bulb::create(&host).expect("it is declared");
    assert_eq!(bulb.lumens(&host, 2, 3.0).expect("it computes"), 6.0);
    assert_eq!(bulb.inspected(&host, "me".to_owned()).expect("the zero value"), 0);
    assert_eq!(bulb.watts(&host).expect("it is there"), 40);
    let numbers = Value::Array(vec![Value::F64(1.0), Value::F64(2.5)]);
    assert_eq!(bulb.sum(&host, &[numbers]).expect("with values"), Some(Value::F64(3.5)));
    host.shutdown().into_result().expect("a clean shutdown");
}

#[test]
fn a_reference_to_a_wrong_object_is_a_typed_error() {
    let host = lamps_host();
    let bulb = Bulb::create(&host).expect("it is declared");
    let lamp: Obj<Lamp> = Obj::new(bulb.handle());
    for error in [
        lamp.brightness(&host).expect_err("a bulb"),
        lamp.set_brightness(&host, 1.0).expect_err("a bulb"),
        lamp.flicker(&host, 1).map(drop).expect_err("a bulb"),
        lamp.before().call(&host, (1,)).map(drop).expect_err("a bulb"),
        lamp.before().listen(&host, |_, (times,)| Ok(times)).map(drop).expect_err("a bulb"),
    ] {
        let error = call_error(error);
        assert!(matches!(&error, CallError::WrongClass { expected, .. } if expected == Lamp::PATH), "{error}");
    }
    let real = Lamp::create(&host).expect("it is declared");
    let wrong = call_error(real.pass_on(&host, lamp, 1).expect_err("a bulb"));
    assert!(matches!(wrong, CallError::WrongClass { .. }), "{wrong}");
    host.objects().destroy(bulb.handle());
    host.collection().collect().expect("a safe point");
    let gone = call_error(bulb.watts(&host).expect_err("it is gone"));
    assert!(matches!(gone, CallError::Stale { .. }), "{gone}");
    let none: Obj<Lamp> = Obj::none();
    assert!(matches!(call_error(none.brightness(&host).expect_err("none")), CallError::Stale { .. }));
    host.shutdown().into_result().expect("a clean shutdown");
}

/// The glue was generated from the first declaration of the plugin `migration`. Some members differ in its second declaration.
#[test]
fn stale_glue_fails_at_its_member_while_other_members_work() {
    let host = support::host(&[support::plugin("migration", &[])]);
    let shape = Shapeshifter::create(&host).expect("it is declared");
    shape.set_widened(&host, 6).expect("an i32");
    assert_eq!((shape.same(&host).expect("there"), shape.removed(&host).expect("there")), (1.5, 7));
    let report = host.reload(&[support::plugin("migration", &["v2"])]).expect("it is done");
    assert!(report.is_committed(), "{report}");
    assert_eq!(shape.same(&host).expect("as it was"), 1.5);
    assert_eq!(shape.speed(&host).expect("as it was"), 240.0, "the default has changed");
    let wrong = call_error(shape.widened(&host).expect_err("an i64 now"));
    assert!(matches!(wrong, CallError::Signature { .. }), "{wrong}");
    assert!(wrong.to_string().contains("i64") && wrong.to_string().contains("i32"), "{wrong}");
    let wrong = call_error(shape.set_widened(&host, 7).expect_err("an i64 now"));
    assert!(matches!(wrong, CallError::Signature { .. }), "{wrong}");
    let gone = call_error(shape.removed(&host).expect_err("removed"));
    assert!(matches!(gone, CallError::NotFound { .. }), "{gone}");
    assert!(gone.to_string().contains("has no member removed: write the glue of the host again"), "{gone}");
    let form = call_error(shape.form(&host).map(drop).expect_err("its fields are others"));
    assert!(matches!(form, CallError::Signature { .. }), "{form}");
    assert_eq!(host.objects().get(shape.handle(), "widened").expect("there"), Value::I64(6));
    // Reloads the first declaration, which matches the glue.
    assert!(host.reload(&[support::plugin("migration", &[])]).expect("it is done").is_committed());
    assert_eq!(shape.widened(&host).expect("an i32 again"), 6);
    host.shutdown().into_result().expect("a clean shutdown");
}

#[test]
fn an_object_without_its_class_is_an_error_until_the_class_returns() {
    let host = lamps_host();
    let lamp = Lamp::create(&host).expect("it is declared");
    lamp.set_brightness(&host, 4.0).expect("it is there");
    assert!(host.reload(&[support::plugin("magic-cube", &[])]).expect("it is done").is_committed());
    let asleep = call_error(lamp.brightness(&host).expect_err("no module has it"));
    assert!(matches!(&asleep, CallError::Unavailable { what } if what.contains("/Script/Game.Lamp")), "{asleep}");
    assert!(matches!(Lamp::create(&host), Err(Error::UnknownClass { .. })));
    let back = [support::plugin("lamps", &[]), support::plugin("lamps-plus", &[])];
    assert!(host.reload(&back).expect("it is done").is_committed());
    assert_eq!(lamp.brightness(&host).expect("it woke"), 4.0);
    host.shutdown().into_result().expect("a clean shutdown");
}

#[test]
fn a_typed_function_is_revalidated_and_calls_new_code_after_a_reload() {
    let host = support::host(&[support::tagged("glue-base", &[], 1)]);
    let tag = host.function::<(), u64>("nm:/glue_base:/Script/Game.AttributeSet:build_tag");
    let Ok(tag) = tag else { panic!("{}", tag.map(drop).expect_err("an error")) };
    assert_eq!(tag.call(()).expect("it answers"), 1);
    assert!(host.reload(&[support::tagged("glue-base", &[], 2)]).expect("it is done").is_committed());
    assert_eq!(tag.call(()).expect("it answers"), 2);
    let wrong = call_error(host.function::<(u8,), u64>(tag.name()).map(drop).expect_err("it takes nothing"));
    assert!(matches!(wrong, CallError::Signature { .. }), "{wrong}");
    // Reloads without the module that declares the class.
    assert!(host.reload(&[support::plugin("lamps", &[])]).expect("it is done").is_committed());
    let gone = call_error(tag.call(()).expect_err("removed"));
    assert!(matches!(gone, CallError::NotFound { .. }), "{gone}");
    assert!(host.reload(&[support::tagged("glue-base", &[], 3)]).expect("it is done").is_committed());
    assert_eq!(tag.call(()).expect("it is back"), 3);
    host.shutdown().into_result().expect("a clean shutdown");
    let ended = call_error(tag.call(()).expect_err("the host is gone"));
    assert!(matches!(ended, CallError::Unavailable { .. }), "{ended}");
}

#[test]
fn a_typed_method_has_its_object_first_and_remains_in_its_runtime() {
    let host = lamps_host();
    let lamp = Lamp::create(&host).expect("it is declared");
    lamp.set_brightness(&host, 1.0).expect("it is there");
    let flicker = host.function::<(Obj<Lamp>, u32), u32>("uf:/Script/Game.Lamp:flicker").expect("it is there");
    assert_eq!(flicker.call((lamp, 2)).expect("it flickers"), 2);
    let bulb = Bulb::create(&host).expect("it is declared");
    let wrong = flicker.call((Obj::new(bulb.handle()), 2)).map(drop).expect_err("a bulb").to_string();
    assert!(wrong.contains("Bulb"), "{wrong}");
    // An equal handle in another runtime is stale or refers to another object. The function still calls the runtime in which it was found.
    let other = lamps_host();
    let _theirs = Lamp::create(&other).expect("it is declared");
    assert_eq!(flicker.call((lamp, 1)).expect("it flickers here"), 3);
    for host in [host, other] {
        host.shutdown().into_result().expect("a clean shutdown");
    }
}

#[test]
fn a_host_closure_answers_a_delegate_across_reloads_until_dropped() {
    let host = lamps_host();
    let lamp = Lamp::create(&host).expect("it is declared");
    let seen = Rc::new(RefCell::new(Vec::new()));
    let inner = Rc::clone(&seen);
    let listener = lamp.before().listen(&host, move |runtime, (times,)| {
        // The listener may use the runtime.
        inner.borrow_mut().push((times, lamp.brightness(runtime)?));
        if times == 7 { Err(CallError::returned("not seven")) } else { Ok(times * 10) }
    });
    let listener = listener.expect("it is bound");
    assert!(listener.is_bound());
    assert_eq!(lamp.before().call(&host, (4,)).expect("it answers"), 40);
    let answer = lamp.call_before(&host, 2).expect("it answers");
    assert!(answer.contains("20"), "{answer}");
    let answer = lamp.call_before(&host, 7).expect("the call succeeds");
    assert!(answer.contains("not seven"), "{answer}");
    let again = [support::plugin("lamps", &[]), support::plugin("lamps-plus", &[])];
    assert!(host.reload(&again).expect("it is done").is_committed());
    host.collection().collect().expect("a safe point");
    assert_eq!(lamp.before().call(&host, (1,)).expect("it answers"), 10);
    assert_eq!(seen.borrow().iter().map(|(times, _)| *times).collect::<Vec<_>>(), [4, 2, 7, 1]);
    drop(listener);
    assert_eq!(Rc::strong_count(&seen), 1, "the closure is dropped with its listener");
    lamp.before().call(&host, (1,)).expect_err("it is bound to nothing");
    host.shutdown().into_result().expect("a clean shutdown");
}

#[test]
fn closures_may_panic_drop_themselves_or_own_the_runtime() {
    let host = lamps_host();
    let lamp = Lamp::create(&host).expect("it is declared");
    let panics = lamp.before().listen(&host, |_, (_,): (u32,)| -> Result<u32, CallError> { panic!("on purpose") });
    let panics = panics.expect("it is bound");
    let error = call_error(lamp.before().call(&host, (1,)).expect_err("it panics"));
    assert!(error.to_string().contains("on purpose"), "{error}");
    drop(panics);

    // Listener that is dropped during its own call. The listener owns a value whose drop reads the runtime.
    struct OnDrop(Runtime, Rc<Cell<usize>>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.1.set(self.0.objects().iter().len());
        }
    }
    let own = Rc::new(RefCell::new(None));
    let (to_clear, found) = (Rc::clone(&own), Rc::new(Cell::new(usize::MAX)));
    let on_drop = OnDrop(host.clone(), Rc::clone(&found));
    let listener = lamp.before().listen(&host, move |_, (times,)| {
        let _all_of_it = &on_drop;
        drop(to_clear.borrow_mut().take());
        Ok(times)
    });
    *own.borrow_mut() = Some(listener.expect("it is bound"));
    lamp.before().call(&host, (5,)).expect("the call completed");
    assert_ne!(found.get(), usize::MAX, "the value was dropped");
    lamp.before().call(&host, (5,)).expect_err("it is bound to nothing");

    // Listener that owns a handle to the host. The listener is still bound when the host is shut down. The log contains the location of the
    // call that bound the listener.
    let record = support::record("alcedo_runtime::callback");
    let owner = host.clone();
    let listener = lamp.before().listen(&host, move |_, (times,)| Ok(times + owner.objects().iter().len() as u32));
    let listener = listener.expect("it is bound");
    let weak = host.downgrade();
    host.shutdown().into_result().expect("a clean shutdown");
    let log = record.take();
    assert!(log.contains("callback=closure of a delegate from runtime/tests/host_glue.rs:"), "{log}");
    assert!(weak.upgrade().is_none(), "the closure is dropped with the host");
    assert!(!listener.is_bound());
    drop(listener);
}

#[test]
fn a_closure_is_bound_only_at_safe_points_with_the_delegates_signature() {
    let host = lamps_host();
    let lamp = Lamp::create(&host).expect("it is declared");
    // Declares the delegate with a wrong signature, as incorrect glue would.
    let wrong = alcedo_runtime::host::DelegateOf::<(f64,), u32>::new(Lamp::PATH, "before", lamp.handle());
    for error in [
        wrong.call(&host, (1.0,)).map(drop).expect_err("u32 -> u32"),
        wrong.listen(&host, |_, (_,)| Ok(1)).map(drop).expect_err("u32 -> u32"),
        wrong.bind(&host, lamp, "flicker").expect_err("u32 -> u32"),
    ] {
        let error = call_error(error);
        assert!(matches!(error, CallError::Signature { .. }), "{error}");
    }
    lamp.before().bind(&host, lamp, "flicker").expect("the types match");
    lamp.set_brightness(&host, 1.0).expect("it is there");
    assert_eq!(lamp.before().call(&host, (2,)).expect("it flickers"), 2);
    lamp.before().bind(&host, lamp, "label").expect_err("it takes a text");
    assert_eq!(lamp.before().unbind(&host, Obj::<Lamp>::none(), "flicker").expect("a delegate"), 0);
    assert_eq!(lamp.before().unbind(&host, lamp, "flicker").expect("it was there"), 1);
    // For each signature, the first closure declares a function. This declaration is refused during a plugin call. Later closures with this
    // signature only bind the declared function.
    let (late, later) = (Rc::new(RefCell::new(None)), Rc::new(RefCell::new(None)));
    let (kept, kept_later) = (Rc::clone(&late), Rc::clone(&later));
    let room = lamps::Room::create(&host).expect("it is declared");
    let name = "ex:/host.listen";
    host.calls()
        .register("host.listen", "u32 -> u32".parse().expect("a signature"), move |runtime, _values| {
            *kept.borrow_mut() = Some(lamp.before().listen(runtime, |_, (times,)| Ok(times)).map(drop));
            Ok(Some(Value::U32(0)))
        })
        .expect("the name is free");
    lamp.call_host(&host, name.to_owned(), 1).expect("the call succeeds");
    let error = late.borrow_mut().take().expect("it was asked").expect_err("plugin code is on the stack");
    assert!(matches!(error, Error::NotASafePoint { .. }), "{error}");
    drop(lamp.before().listen(&host, |_, (times,)| Ok(times)).expect("now it is declared"));
    host.calls()
        .register("host.listen_again", "u32 -> u32".parse().expect("a signature"), move |runtime, _values| {
            *kept_later.borrow_mut() = Some(lamp.before().listen(runtime, |_, (times,)| Ok(times + 1)));
            Ok(Some(Value::U32(0)))
        })
        .expect("the name is free");
    lamp.call_host(&host, "ex:/host.listen_again".to_owned(), 1).expect("the call succeeds");
    let bound = later.borrow_mut().take().expect("it was asked").expect("it was declared before");
    assert_eq!(lamp.before().call(&host, (4,)).expect("it answers"), 5);
    drop(bound);
    room.enter(&host).expect("it is there");
    host.shutdown().into_result().expect("a clean shutdown");
}

#[test]
fn a_closure_refuses_a_struct_whose_fields_a_reload_has_changed_until_the_fields_return() {
    let host = support::host(&[support::plugin("migration", &[])]);
    let widths = Rc::new(RefCell::new(Vec::new()));
    let inner = Rc::clone(&widths);
    let record = move |_: &Runtime, (form,): (migration::Form,)| {
        inner.borrow_mut().push(form.width);
        Ok(())
    };
    let listener = Listener::of(&host, record).expect("it is made");
    let class_of = |object: &ObjectHandle| host.objects().class_of(*object).unwrap_or_default();
    let closure = host.objects().iter().find(|object| class_of(object).contains("HostClosure"));
    let closure = closure.expect("the closure is an object");
    // The callee reads the struct from the memory of the caller, like in a call by a plugin.
    let name = format!("uf:{}:call", class_of(&closure));
    let call = |form: &[(&str, Value)]| {
        let form = form.iter().map(|(field, value)| ((*field).into(), value.clone())).collect();
        host.calls().call(&name, &[Value::Object(closure), Value::Struct(form)])
    };
    let narrow = [("width", Value::F32(1.5)), ("height", Value::F32(2.5))];
    call(&narrow).expect("the fields are those of the glue");
    assert!(host.reload(&[support::plugin("migration", &["v2"])]).expect("it is done").is_committed());
    let wide = [("depth", Value::F64(7.0)), ("width", Value::F64(8.0)), ("height", Value::F64(9.0))];
    let refused = call_error(call(&wide).expect_err("the fields of the memory are others"));
    assert!(matches!(&refused, CallError::Signature { found, .. } if found.contains("an earlier build")), "{refused}");
    // A closure that is created now has a new class. After the reload, closures with the earlier fields do not use this class.
    let early = Listener::of(&host, |_, (_form,): (migration::Form,)| Ok(())).expect("it is made");
    assert!(host.reload(&[support::plugin("migration", &[])]).expect("it is done").is_committed());
    call(&narrow).expect("the fields are back");
    assert_eq!(*widths.borrow(), [1.5, 1.5]);
    drop((listener, early));
    host.shutdown().into_result().expect("a clean shutdown");
}

#[test]
fn a_world_is_saved_without_the_closures() {
    let host = lamps_host();
    let lamp = Lamp::create(&host).expect("it is declared");
    let listener = lamp.before().listen(&host, |_, (times,)| Ok(times)).expect("it is bound");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("world");
    host.worlds().save(&file).expect("it is saved");
    host.worlds().load(&file).expect("it is loaded");
    assert!(!listener.is_bound(), "loading a world unbinds it");
    let objects = host.objects();
    let all: Vec<ObjectHandle> = objects.iter().collect();
    assert_eq!(all.iter().filter_map(|object| objects.class_of(*object)).collect::<Vec<_>>(), [Lamp::PATH]);
    let lamp: Obj<Lamp> = objects.cast(all[0]).expect("it is the lamp");
    let bound = lamp.before().listen(&host, |_, (times,)| Ok(times + 2)).expect("it is bound again");
    assert_eq!(lamp.before().call(&host, (1,)).expect("it answers"), 3);
    let any: Option<Obj<Object>> = objects.cast(all[0]);
    assert!(any.is_some());
    drop((listener, bound));
    host.shutdown().into_result().expect("a clean shutdown");
}

/// Covers a plugin that uses another plugin only through glue. The first plugin extends a class of the second, overrides its event, binds
/// its delegate, implements its interface and calls its functions. The host uses both plugins through glue.
#[test]
fn plugin_glue_works_across_reloads_of_either_or_both_plugins() {
    let libraries =
        |lamps: u64, plus: u64| [support::tagged("lamps", &[], lamps), support::tagged("lamps-plus", &[], plus)];
    let host = support::host(&libraries(1, 1));
    let (lamp, twin) = (Lamp::create(&host).expect("a lamp"), TwinLamp::create(&host).expect("a twin"));
    let (room, candle) = (lamps::Room::create(&host).expect("a room"), Candle::create(&host).expect("a candle"));
    lamp.set_brightness(&host, 100.0).expect("it is there");
    twin.set_brightness(&host, 100.0).expect("it is the base's");
    twin.watch_over(&host, lamp).expect("the delegate is bound");
    room.put_up(&host, Obj::new(candle.handle())).expect("it shines");
    let check = |lamps_tag: u32, plus_tag: u32| {
        // The plugin's own fields have their initial values after each reload.
        assert_eq!(twin.flicker(&host, 2).expect("an override"), 4, "{lamps_tag} {plus_tag}");
        assert_eq!(lamp.build_tag(&host).expect("it answers"), lamps_tag);
        assert_eq!(lamp.call_before(&host, 3).expect("it answers"), format!("{}", 3 + 100 * plus_tag));
        assert_eq!(twin.dim_other(&host, lamp, 0.5).expect("it answers"), "darker");
        assert_eq!(
            twin.shine(&host, 2.0).map_err(call_error).is_ok(),
            lamp.shine(&host, 4.0).map_err(call_error).is_ok()
        );
        assert!(room.light_up(&host, 0.01).expect("the candle").starts_with("yellow"));
    };
    check(1, 1);
    for (lamps, plus) in [(2, 1), (2, 2), (3, 3), (3, 4), (5, 4)] {
        let report = host.reload_changed(&libraries(lamps, plus)).expect("it is done");
        assert!(report.is_committed(), "{report}");
        check(lamps as u32, plus as u32);
    }
    // Loads a module whose glue was generated before the other module changed. The reload is refused, and the state is unchanged.
    let stale = [support::tagged("lamps", &[], 5), support::plugin("lamps-plus", &["drifted"])];
    let message = match host.reload(&stale) {
        Ok(report) => report.to_string(),
        Err(error) => error.to_string(),
    };
    assert!(message.contains("shine"), "{message}");
    assert_eq!(lamp.call_before(&host, 3).expect("it answers"), "403");
    assert!(host.reload(&libraries(6, 6)).expect("it is done").is_committed());
    check(6, 6);
    host.shutdown().into_result().expect("a clean shutdown");
}
