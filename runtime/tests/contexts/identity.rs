//! Tests the identity of contexts, the lists of contexts, and the owners of modules. Covers the rules F1 to F4: see `main.rs`.

use std::cell::RefCell;
use std::rc::Rc;

use alcedo_runtime::native::Natives;
use alcedo_runtime::{ContextId, ContextKind, ContextState, FoundModule, Runtime};

use super::{build_tag, figures, gone, needy, refusal, reports, runtime, slim, support};

#[test]
fn f1_types_with_equal_names_in_two_contexts_are_distinct() {
    let contexts = runtime().contexts();
    let [one, other] = ["f1 one", "f1 other"].map(|name| slim(&contexts, name));
    let [ours, theirs] = [&one, &other].map(|slim| slim.resolve_type("Report").expect("it is there"));
    assert_eq!(ours.expect(&one.resolve_type("reports::Report").expect("it is there")), Ok(()));
    let error = ours.expect(&theirs).expect_err("they are two").to_string();
    let build = format!("{:032x}", one.modules()[0].build_id);
    for fact in ["Slim \"f1 one\" #2 generation 1", "Slim \"f1 other\" #3 generation 1", &build, "reports 0.1.0"] {
        assert!(error.contains(fact), "{error}");
    }
    gone(&one.replace(reports(1)).expect("it starts"));
    let next = one.resolve_type("Report").expect("it is there");
    assert!(ours.expect(&next).is_err(), "another generation has another type");
}

#[test]
fn f2_a_type_is_shared_by_resolving_it_to_the_same_module() {
    let contexts = runtime().contexts();
    contexts.default_context().load_path(figures(1)).expect("it is loaded");
    let shared = contexts.default_context().resolve_type("Sum").expect("it is there");
    for name in ["f2 one", "f2 other"] {
        let slim = contexts.create_slim(name).expect("the name is free");
        slim.load_path(needy()).expect("the Default has what it needs");
        assert_eq!(slim.resolve_type("Sum").expect("the Default has it").expect(&shared), Ok(()));
        assert_eq!(contexts.resolve_type("figures::Sum").expect("it is there").expect(&shared), Ok(()));
        gone(&slim.begin_unload().expect("it is collectible"));
    }
}

#[test]
fn f3_a_context_that_cannot_end_remains_listed() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "f3");
    let scope = slim.enter().expect("it is alive");
    let old = slim.replace(reports(2)).expect("it starts");
    let ticket = slim.begin_unload().expect("it is collectible");
    gone(&ticket);
    support::until("a scope blocks it", || old.poll() == ContextState::Blocked);
    let listed = contexts.all();
    let zombie = listed.iter().find(|info| info.name == "f3").expect("it is listed");
    assert_eq!((zombie.id.generation, zombie.state), (1, ContextState::Blocked));
    assert_eq!(zombie.to_string(), "Slim \"f3\" #2 generation 1: blocked");
    drop(scope);
    gone(&old);
    assert!(contexts.all().iter().all(|info| info.name != "f3"));
}

#[test]
fn f4_an_address_belongs_to_the_context_of_its_image() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "f4");
    let pointer = slim.get_function_pointer("Report", "build_tag", "-> u64").expect("it is offered");
    let owner = contexts.context_of_address(pointer.address()).expect("it belongs to a context");
    assert_eq!((owner.id, owner.name.as_str()), (pointer.context(), "f4"));
    let ours = contexts.context_of_address(build_tag as *const ()).expect("it is the host's");
    assert_eq!(ours.kind, ContextKind::Default);
    let heap = Box::new(0_u8);
    assert!(contexts.context_of_address(std::ptr::from_ref(&*heap).cast()).is_none());
    assert!(contexts.context_of_address(std::ptr::null()).is_none());
    let library = slim.native_library("libm.so.6", None).expect("the system has it");
    let cos = library.symbol("cos").expect("it has");
    assert!(contexts.context_of_address(cos).is_none_or(|owner| owner.name == "f4"));
}

#[test]
fn f4_an_object_belongs_to_the_context_of_its_class() {
    let runtime = support::host(&[support::plugin("switchboard", &[])]);
    let line = runtime.objects().spawn("/Script/Game.Line").expect("spawned");
    let owner = runtime.objects().context_of(line).expect("alive");
    assert_eq!(owner.to_string(), "Master #1 generation 1: alive");
    let native = runtime.objects().spawn("/Script/Engine.Actor").expect("spawned");
    assert_eq!(runtime.objects().context_of(native).expect("alive").kind, ContextKind::Default);
    runtime.reload(&[support::plugin("switchboard", &[])]).expect("there is a Master");
    assert_eq!(runtime.objects().context_of(line).expect("alive").id.generation, 2);
    runtime.objects().destroy(line);
    assert!(runtime.objects().context_of(line).is_none());
    let contexts = runtime.contexts();
    let master = contexts.all().into_iter().find(|info| info.kind == ContextKind::Master).expect("it is listed");
    let ty = contexts.resolve_type_in(master.id, "Game.Line").expect("it is there");
    assert_eq!((ty.module.name.as_str(), ty.path.as_str()), ("switchboard", "/Script/Game.Line"));
}

#[test]
fn f4_objects_of_all_master_modules_belong_to_the_master() {
    let libraries = |cube| {
        let attributes = ["glue-base", "glue-derived"].map(|package| support::tagged(package, &[], 1));
        [attributes.to_vec(), vec![support::tagged("magic-cube", &[], cube)]].concat()
    };
    let ended = Rc::new(RefCell::new(Vec::new()));
    let inner = Rc::clone(&ended);
    let hook = Natives::default().before_destroy(move |runtime, object| {
        inner.borrow_mut().push(runtime.objects().context_of(object).map(|info| info.id));
    });
    let runtime = support::builder().natives(hook).build().unwrap_or_else(|error| panic!("{error}"));
    let slim = slim(&runtime.contexts(), "f4 before");
    runtime.create_master(&libraries(1)).unwrap_or_else(|error| panic!("{error}"));
    let classes = ["/Script/Game.RegeneratingSet", "/Script/Game.ShieldedSet", "/Script/Game.MagicCube"];
    let objects = classes.map(|class| runtime.objects().spawn(class).expect("spawned"));
    let owners =
        move |runtime: &Runtime| objects.map(|object| runtime.objects().context_of(object).map(|info| info.id));
    let generation = |generation| Some(ContextId { index: 1, generation });
    assert_eq!(owners(&runtime), [generation(1); 3]);
    assert!(runtime.objects().context_of(objects[0]).is_some_and(|info| info.modules.len() == 3));

    let during = Rc::new(RefCell::new(Vec::new()));
    let inner = Rc::clone(&during);
    runtime.unloads().on_unloading(0, move |runtime, _| inner.borrow_mut().extend(owners(runtime)));
    let report = runtime.reload_changed(&libraries(2)).expect("there is a Master");
    report.into_result().unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(*during.borrow(), [generation(1); 3], "the old generation is alive during the notification");
    assert_eq!(owners(&runtime), [generation(2); 3], "the two kept modules belong to the new generation");

    runtime.unload_master().expect("there is one");
    let native = Some(ContextId::DEFAULT);
    let expected = [generation(2), generation(2), generation(2), native];
    assert_eq!(*ended.borrow(), expected, "the end of the Master ends them, and the native subobject of the cube");
    assert_eq!(owners(&runtime), [None; 3]);
    gone(&slim.begin_unload().expect("it is collectible"));
}

#[test]
fn f_a_type_declared_by_two_modules_is_looked_up_by_module() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("f").expect("the name is free");
    slim.set_resolver(|_| Ok(Some(FoundModule::File(figures(1)))));
    slim.load_path(needy()).expect("it is loaded");
    assert_eq!(slim.resolve_type("figures::Sum").expect("it is there").module.name, "figures");
    let refused = refusal(slim.resolve_type("Nothing"));
    assert_eq!(refused, "Slim \"f\" has no type Nothing: it has Sum, Report");
}
