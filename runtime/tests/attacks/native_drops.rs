//! Tests native objects with Rust fields whose `Drop` panics during the shutdown of the host. A second panic would abort the process.

use std::cell::Cell;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use alcedo_runtime::native::{NativeClass, This, uclass};
use alcedo_runtime::{Declined, Runtime, Signature, Value, natives};

use crate::support;
use crate::support::alone;

thread_local! {
    static ARMED: Cell<bool> = const { Cell::new(false) };
}

#[derive(Default)]
struct Grenade;

impl Drop for Grenade {
    fn drop(&mut self) {
        assert!(!ARMED.get(), "a field of the host breaks");
    }
}

#[uclass(package = "Test")]
#[derive(Default)]
struct Husk {
    grenade: Grenade,
}

#[uclass]
impl Husk {
    #[ufunction]
    fn touch(&mut self, _this: This<Self>) {
        let _there = &self.grenade;
    }
}

const CHILD: &str = "ALCEDO_TEST_NATIVE_DROPS";

fn keep(_grenade: &Grenade) -> Result<(), String> {
    Ok(())
}

fn end(how: &str, objects: usize) {
    let mut natives = natives![Husk];
    for name in ["One", "Two"] {
        let [made, whole, ended, referred, called] = [(); 5].map(|()| Grenade);
        let class = NativeClass::new("Test", name, "/Script/Core.Object")
            .constructor(move |_world, _object| keep(&made))
            .post_init_properties(move |_world, _object| keep(&whole))
            .begin_destroy(move |_world, _object| drop(keep(&ended)))
            .add_references(move |_world, _object, _visit| drop(keep(&referred)))
            .function("call", &[], None, 0, move |_world, frame| {
                drop(keep(&called));
                frame.finish()
            });
        let [ticked, notified] = [(); 2].map(|()| Grenade);
        natives = natives.class(class).ticker(move |_host, _seconds| drop(keep(&ticked)));
        natives = natives.before_destroy(move |_host, _object| drop(keep(&notified)));
    }
    let host = support::builder().natives(natives).build().unwrap_or_else(|error| panic!("{error}"));
    for name in ["one", "two"] {
        let [posted, plain, typed, resolved] = [(); 4].map(|()| Grenade);
        assert!(host.post_handle().post(move |_host| drop(keep(&posted))));
        let body = move |_: &Runtime, _: &[Value]| {
            drop(keep(&plain));
            Ok(None)
        };
        host.calls().register(&format!("{name}.plain"), Signature::default(), body).expect("a free name");
        let body = move |_: &Runtime, (number,): (u64,)| {
            drop(keep(&typed));
            number
        };
        host.calls().register_typed(&format!("{name}.typed"), body).expect("a free name");
        let resolver = move |_: &Runtime, _: &str| {
            drop(keep(&resolved));
            Err(Declined::from("none"))
        };
        host.calls().add_value_resolver(name, resolver).expect("a free protocol");
    }
    let all: Vec<_> = (0..objects).map(|_| host.objects().spawn("/Script/Test.Husk").expect("spawned")).collect();
    for husk in &all {
        host.objects().call(*husk, "touch", &[]).expect("it is called");
    }
    ARMED.set(true);
    let ended = catch_unwind(AssertUnwindSafe(|| match how {
        "drop" => drop(host),
        "shutdown" => drop(host.shutdown()),
        _ => all.iter().for_each(|husk| host.objects().destroy(*husk)),
    }));
    ARMED.set(false);
    writeln!(std::io::stdout(), "{how} of {objects} ended: {}", ended.is_ok()).expect("the parent reads");
}

/// Runs the case `how` in a separate process. Returns the output of the process, and true if the process succeeded.
fn child(how: &str, name: &str) -> (String, bool) {
    let output = alone::only(module_path!(), name).env(CHILD, how).output().expect("this program starts");
    (alone::output_text(&output), output.status.success())
}

#[test]
fn fields_whose_drops_panic_end_one_by_one_with_their_objects() {
    if let Ok(how) = std::env::var(CHILD) {
        return end(&how, 2);
    }
    let (output, succeeded) = child("destroy", "fields_whose_drops_panic_end_one_by_one_with_their_objects");
    assert!(succeeded, "{output}");
}

#[test]
fn dropping_a_host_with_panicking_field_drops_does_not_abort() {
    if let Ok(how) = std::env::var(CHILD) {
        return end(&how, 2);
    }
    let name = "dropping_a_host_with_panicking_field_drops_does_not_abort";
    let (output, succeeded) = child("drop", name);
    assert!(succeeded, "{output}");
}

#[test]
fn shutting_down_a_host_with_panicking_field_drops_does_not_abort() {
    if let Ok(how) = std::env::var(CHILD) {
        return end(&how, 2);
    }
    let name = "shutting_down_a_host_with_panicking_field_drops_does_not_abort";
    let (output, succeeded) = child("shutdown", name);
    assert!(succeeded, "{output}");
}
