//! Hosts of safe code.
use std::cell::{Cell, RefCell};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use alcedo_runtime::host::Listener;
use alcedo_runtime::{Budget, LeaseKind, Leases, ObjectHandle, Runtime, Signature, Value};
use corosensei::{Coroutine, Yielder};

use crate::{Rng, env, short, support};

thread_local! {
    pub(crate) static HOST: RefCell<Option<Runtime>> = const { RefCell::new(None) };
}

pub(crate) fn siege() -> std::path::PathBuf {
    support::plugin("siege", &[])
}

pub(crate) fn start() -> (Runtime, ObjectHandle) {
    let host = support::host(&[siege()]);
    offer(&host);
    let foe = host.objects().spawn("/Script/Game.Foe").expect("born");
    (host, foe)
}

pub(crate) fn offer(host: &Runtime) {
    host.calls().register_leaf("host.leaf", |(one, two): (u64, u64)| one.wrapping_add(two)).expect("free");
    host.calls().register("host.panic", Signature::default(), |_, _| panic!("in the host")).expect("free");
}

/// Everything still works.
pub(crate) fn goes_on(host: &Runtime) {
    let foe = host.objects().spawn("/Script/Game.Foe").expect("born");
    assert!(matches!(host.objects().call(foe, "poke", &[Value::U64(1)]), Ok(Some(Value::U64(65)))));
    host.collection().collect().expect("collected");
    let report = host.reload(&[siege()]).expect("a Master");
    assert!(report.is_committed(), "{report}");
    host.objects().destroy(foe);
    host.tick(Budget::frame());
}

fn try_it<T>(what: &str, code: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(code)) {
        Ok(it) => Some(it),
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|it| it.to_string()));
            eprintln!("PANIC in {what}: {text:?}");
            None
        }
    }
}

/// What is done while a pointer is lent.
#[test]
fn h01_verbs_while_a_pointer_is_hot() {
    for how in 0..12 {
        let (host, foe) = start();
        let add = host.function::<(u64, u64), u64>("uf:/Script/Game.Foe:add").expect("found");
        let said = try_it("hot", || {
            add.hot(|hot| {
                let before = hot.call((1, 2)).map_err(|e| e.to_string());
                let did = match how {
                    0 => format!("{:?}", host.unload_master().map(|_| ()).map_err(|e| e.to_string())),
                    1 => {
                        format!("{:?}", host.reload(&[siege()]).map(|it| it.is_committed()).map_err(|e| e.to_string()))
                    }
                    2 => format!("{:?}", host.clone().shutdown().left),
                    3 => format!("{:?}", host.collection().collect().map_err(|e| e.to_string())),
                    4 => {
                        host.request_reload(vec![siege()]);
                        host.tick(Budget::frame());
                        format!("{:?}", host.take_reloads().len())
                    }
                    5 => {
                        host.request_unload();
                        host.safe_point();
                        format!("{:?}", host.take_unloads().len())
                    }
                    6 => {
                        host.objects().destroy(foe);
                        host.safe_point();
                        String::new()
                    }
                    7 => format!(
                        "{:?}",
                        add.hot(|hot| hot.call((3, 4)).map_err(|e| e.to_string())).map_err(|e| e.to_string())
                    ),
                    8 => format!("{:?}", host.unloads().park(1).map_err(|e| e.to_string())),
                    9 => format!("{:?}", host.worlds().load("/nowhere").map(|_| ()).map_err(|e| e.to_string())),
                    10 => host
                        .contexts()
                        .create_slim("x")
                        .map(|slim| slim.begin_unload().map(|it| it.wait(Duration::from_secs(1)).is_ok()))
                        .map(|it| format!("{it:?}"))
                        .unwrap_or_default(),
                    _ => panic!("in hot"),
                };
                let after = hot.call((1, 2)).map_err(|e| e.to_string());
                format!("{before:?} {did} {after:?}")
            })
            .map_err(|e| e.to_string())
        });
        eprintln!("{how}: {said:?} then {:?}", add.call((1, 2)).map_err(|e| e.to_string()));
        if !host.modules().is_empty() && how != 2 {
            goes_on(&host);
        }
        eprintln!("  left {:?}", host.shutdown().left);
    }
}

/// The last handle goes on the stack of a coroutine.
#[test]
fn h02_a_host_that_ends_on_a_coroutine() {
    for how in 0..5 {
        let (host, foe) = start();
        let weak = host.downgrade();
        let poster = host.post_handle();
        let dropped = Rc::new(Cell::new(false));
        struct Told(Rc<Cell<bool>>);
        impl Drop for Told {
            fn drop(&mut self) {
                self.0.set(true);
            }
        }
        let told = Told(Rc::clone(&dropped));
        host.calls()
            .register("host.held", Signature::default(), move |_, _| {
                let _t = &told;
                Ok(None)
            })
            .expect("free");
        host.objects().call(foe, "hold_busy", &[]).expect("held");
        let mut co: Coroutine<(), (), ()> = Coroutine::new(move |y: &Yielder<(), ()>, ()| match how {
            0 => drop(host),
            1 => eprintln!("{:?}", host.shutdown().left),
            2 => {
                host.tick(Budget::frame());
                y.suspend(());
                drop(host);
            }
            3 => {
                let kept = host;
                y.suspend(());
                drop(kept);
            }
            _ => {
                let second = host.clone();
                y.suspend(());
                drop((host, second));
            }
        });
        co.resume(());
        let alive = weak.upgrade().is_some();
        eprintln!("{how}: alive after the first part: {alive}, posts {}", poster.post(|_| ()));
        // Unwound by force where it is not done.
        drop(co);
        eprintln!("{how}: alive at the end {}, its callbacks are dropped {}", weak.upgrade().is_some(), dropped.get());
        if let Some(host) = weak.upgrade() {
            eprintln!("    still there: {:?}", host.shutdown().left);
        }
        eprintln!("{how}: dropped {}", dropped.get());
        assert!(dropped.get());
    }
}

/// Times without end.
#[test]
fn h03_times_without_end() {
    let max = Duration::MAX;
    let leases = Leases::new("siege");
    try_it("Leases::wait_free", || leases.wait_free(max));
    try_it("grace", || {
        let host = support::builder()
            .unloads(move |it| {
                it.grace = max;
                it.shutdown = max;
                it.park_after = Some(max);
            })
            .build()
            .expect("a host");
        host.create_master(&[siege()]).expect("made");
        let _foe = host.objects().spawn("/Script/Game.Foe").expect("born");
        host.reload(&[siege()]).expect("reloaded");
        host.unload_master().expect("unloaded");
        host.create_master(&[siege()]).expect("made");
        host.shutdown();
    });
    try_it("builder", || {
        let host = support::builder()
            .watchdog(max)
            .canary_deadline(max)
            .park_after(max)
            .parked_budget(usize::MAX)
            .largest_library(u64::MAX)
            .stack_reserve(0)
            .build()
            .map_err(|e| e.to_string());
        let host = match host {
            Ok(host) => host,
            Err(error) => return eprintln!("refused: {error}"),
        };
        host.create_master(&[siege()]).expect("made");
        host.shutdown();
    });
    for reserve in [usize::MAX, usize::MAX / 2, 1 << 40, 8 << 20] {
        try_it("stack_reserve", || {
            let host = support::builder().stack_reserve(reserve).build().map_err(|e| e.to_string());
            let host = match host {
                Ok(host) => host,
                Err(error) => return eprintln!("reserve {reserve}: refused: {error}"),
            };
            let made = host.create_master(&[siege()]).map_err(|e| e.to_string());
            eprintln!(
                "reserve {reserve}: {made:?} {:?}",
                host.objects().spawn("/Script/Engine.Actor").map_err(|e| e.to_string())
            );
            eprintln!("   {:?}", host.shutdown().left);
        });
    }
    try_it("watchdog zero", || {
        let host = support::builder().watchdog(Duration::ZERO).on_hang(|_| ()).build().expect("a host");
        host.create_master(&[siege()]).expect("made");
        host.shutdown();
    });
    let (host, foe) = start();
    try_it("wait", || {
        host.post_handle().post(|_| ());
        host.wait(max)
    });
    host.safe_point();
    try_it("unloads().wait", || host.unloads().wait(max).is_ok());
    try_it("contexts().park_after", || {
        host.contexts().park_after(Some(max));
    });
    let slim = host.contexts().create_slim("slim").expect("made");
    try_it("ticket.wait", || slim.begin_unload().map(|it| it.wait(max).is_ok()));
    for seconds in
        [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, f32::MAX, -f32::MAX, f32::MIN_POSITIVE, 1e30, -0.0]
    {
        try_it("tick", || host.tick(Budget::seconds(seconds)));
        try_it("tick with collection", || {
            host.collection().begin_in_slices();
            host.tick(Budget::seconds(seconds).with_collection(max))
        });
        eprintln!("after {seconds}: {:?}", host.game_time());
    }
    // A timer still fires.
    let before = host.objects().call(foe, "count_to", &[Value::U32(2), Value::U32(0)]).map_err(|e| e.to_string());
    for _ in 0..20 {
        host.tick(Budget::seconds(0.1));
    }
    eprintln!(
        "{before:?} jobs left {:?} time {:?} count {:?}",
        host.jobs().len(),
        host.game_time(),
        host.objects().get(foe, "count")
    );
    goes_on(&host);
    eprintln!("{:?}", host.shutdown().left);
}

/// Times of the game that odd ticks leave behind: is there a tick after which no timer fires?
#[test]
fn h04_timers_after_an_odd_tick() {
    for seconds in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, -1e30, f32::MAX] {
        let (host, foe) = start();
        host.tick(Budget::frame());
        try_it("tick", || host.tick(Budget::seconds(seconds)));
        let begun = host
            .objects()
            .call(
                foe,
                "count_to",
                &[
                    Value::U32(3),
                    Value::U32(0),
                    Value::Delegate(alcedo_runtime::Binding { object: foe, function: host.intern("done") }),
                ],
            )
            .map_err(|e| e.to_string());
        for _ in 0..20 {
            try_it("later tick", || host.tick(Budget::frame()));
        }
        eprintln!(
            "{seconds}: {begun:?} jobs {} time {:?} told {:?}",
            host.jobs().len(),
            host.game_time(),
            host.objects().call(foe, "told", &[])
        );
        let report = host.reload(&[siege()]).expect("a Master");
        eprintln!("   reload {}", report.is_committed());
        host.shutdown();
    }
}

/// Registrations that end in their own call, elsewhere, or never.
#[test]
fn h05_registrations_at_odd_times() {
    for how in 0..8 {
        let (host, foe) = start();
        let contexts = host.contexts();
        type Slot<T> = Arc<Mutex<Option<T>>>;
        let seat: Slot<alcedo_runtime::Registration> = Arc::default();
        let count = Arc::new(AtomicU32::new(0));
        let (own, counts) = (Arc::clone(&seat), Arc::clone(&count));
        struct DropTells(Arc<AtomicU32>);
        impl Drop for DropTells {
            fn drop(&mut self) {
                self.0.fetch_add(1000, Ordering::SeqCst);
                if self.0.load(Ordering::SeqCst) > 100_000 {
                    panic!("x");
                }
            }
        }
        let held = DropTells(Arc::clone(&count));
        let registration = contexts.on_event(move |event| {
            let _held = &held;
            counts.fetch_add(1, Ordering::SeqCst);
            let taken = own.lock().unwrap_or_else(|it| it.into_inner()).take();
            match (how, taken) {
                (0, Some(it)) => it.remove(),
                (1, Some(it)) => drop(it.guard()),
                (2, Some(it)) => std::mem::forget(it.guard()),
                (3, Some(it)) => drop(std::thread::spawn(move || it.remove()).join()),
                (4, Some(it)) => drop(std::thread::spawn(move || drop(it.guard()))),
                (5, Some(it)) => {
                    let _guard = it.guard();
                    panic!("with a guard");
                }
                (6, Some(it)) => {
                    it.remove();
                    if let Some(contexts) = event.contexts() {
                        let _slim = contexts.create_slim("inner").map(|it| it.begin_unload());
                    }
                }
                (_, it) => drop(it),
            }
        });
        *seat.lock().unwrap_or_else(|it| it.into_inner()) = Some(registration);
        for at in 0..3 {
            let slim = contexts.create_slim(&format!("slim{at}"));
            eprintln!("  {:?}", slim.as_ref().map(|_| ()).map_err(|e| e.to_string()));
            if let Ok(slim) = slim {
                slim.begin_unload().map(|it| it.wait(Duration::from_secs(5)).is_ok()).ok();
            }
        }
        goes_on(&host);
        let left = host.shutdown().left;
        std::thread::sleep(Duration::from_millis(100));
        eprintln!("{how}: {} {left:?} guard after the end", count.load(Ordering::SeqCst));
        drop(seat);
    }
    // Local ones.
    for how in 0..6 {
        let (host, foe) = start();
        type Guard = Box<dyn std::any::Any>;
        let seat: Rc<RefCell<Option<Guard>>> = Rc::default();
        let own = Rc::clone(&seat);
        let registration = host.unloads().on_unloading(0, move |host, _| {
            let taken = own.borrow_mut().take();
            eprintln!("  local called {}", taken.is_some());
            match how {
                0 => drop(taken),
                1 => std::mem::forget(taken),
                2 => {
                    drop(taken);
                    host.unloads().on_unloading(0, |_, _| eprintln!("  the inner one"));
                }
                3 => {
                    let _taken = taken;
                    panic!("with a guard")
                }
                4 => {
                    drop(taken);
                    eprintln!(
                        "  {:?} {:?}",
                        host.reload(&[siege()]).map(|_| ()).map_err(|e| e.to_string()),
                        host.unload_master().map(|_| ()).map_err(|e| e.to_string())
                    );
                }
                _ => {
                    let kept = taken;
                    HOST_LATER.with(|it| it.borrow_mut().push(Box::new(kept)));
                }
            }
        });
        *seat.borrow_mut() = Some(Box::new(registration.guard()));
        goes_on(&host);
        goes_on(&host);
        eprintln!("{how}: {:?}", host.shutdown().left);
        HOST_LATER.with(|it| it.borrow_mut().clear());
    }
}

thread_local! {
    static HOST_LATER: RefCell<Vec<Box<dyn std::any::Any>>> = const { RefCell::new(Vec::new()) };
}

/// Class default objects and their parts.
#[test]
fn h06_class_default_objects() {
    for how in 0..9 {
        let (host, foe) = start();
        let template =
            host.objects().at_path("/World/Default__Foe").or_else(|| host.world().object_at("/World/Default__Foe"));
        let Some(template) = template else {
            eprintln!("no template: {:?}", host.objects().path_of(foe));
            return;
        };
        let did = try_it("cdo", || match how {
            0 => format!("{:?}", host.objects().destroy(template)),
            1 => {
                format!("{:?}", host.objects().rename(template, "Other", ObjectHandle::NONE).map_err(|e| e.to_string()))
            }
            2 => format!("{:?}", host.objects().rename(foe, "Inner", template).map_err(|e| e.to_string())),
            3 => format!("{:?}", host.objects().spawn_in("/Script/Game.Foe", template).map_err(|e| e.to_string())),
            4 => format!(
                "{:?}",
                host.objects()
                    .set(template, "numbers", &Value::Array(vec![Value::U64(3); 1000]))
                    .map_err(|e| e.to_string())
            ),
            5 => format!(
                "{:?} {:?}",
                host.objects().call(template, "hold_busy", &[]).map_err(|e| e.to_string()),
                host.objects().call(template, "poke", &[Value::U64(1)]).map_err(|e| e.to_string())
            ),
            6 => format!(
                "{:?} {:?}",
                host.objects().set(foe, "partner", &Value::Object(template)).map_err(|e| e.to_string()),
                host.objects().set(template, "partner", &Value::Object(foe)).map_err(|e| e.to_string())
            ),
            7 => format!(
                "{:?} {:?} {:?}",
                host.links().bind(foe, "on_told", template, "hear").map_err(|e| e.to_string()),
                host.objects().remove_root(template),
                host.links().bind(template, "on_told", foe, "hear").map_err(|e| e.to_string())
            ),
            _ => format!(
                "{:?} {:?}",
                host.objects().rename(template, "Foe_2", foe).map_err(|e| e.to_string()),
                host.objects().at_path("/World/Default__Foe")
            ),
        });
        let folder = tempfile::tempdir().expect("a folder");
        let world = folder.path().join("world");
        eprintln!("{how}: {did:?} save {:?}", try_it("save", || host.worlds().save(&world).map_err(|e| e.to_string())));
        let other = host.objects().spawn("/Script/Game.Foe").map_err(|e| e.to_string());
        eprintln!(
            "    other {other:?} {:?}",
            other.as_ref().map(|it| host.objects().get(*it, "numbers").map(|it| format!("{it:?}").len()))
        );
        let reload = host
            .reload(&[support::plugin("siege", &["another"])])
            .map(|it| it.to_string())
            .unwrap_or_else(|e| e.to_string());
        eprintln!("    {}", short(reload));
        eprintln!(
            "    load {:?}",
            try_it("load", || host.worlds().load(&world).map(|it| it.objects).map_err(|e| e.to_string()))
        );
        eprintln!(
            "    broadcast {:?}",
            host.objects()
                .all()
                .last()
                .map(|it| host.objects().call(*it, "broadcast", &[Value::U32(1)]).map_err(|e| e.to_string()))
        );
        goes_on(&host);
        eprintln!("    {:?}", host.shutdown().left);
    }
}

/// Lines for the console that make no sense.
#[test]
fn h07_the_console() {
    let (host, foe) = start();
    let name = host.objects().name_of(foe).expect("a name");
    let words = [
        "help",
        "objects",
        "classes",
        "show",
        "get",
        "set",
        "call",
        "calls",
        "eval",
        "reload",
        "unload",
        "contexts",
        "context",
        "leases",
        "park",
        "blacks",
        "types",
        "explain",
        "world",
        "save",
        "load",
        "jobs",
        "tasks",
        "observe",
        "on",
        "off",
        "clear",
        "spans",
        "natives",
        "glue",
        "check",
        "scripts",
        "functions",
        "properties",
        "collect",
        "roots",
        "delegates",
        "slims",
        "modules",
        "unloads",
        "digest",
        "all",
        "1",
        "-1",
        "0",
        "18446744073709551616",
        "\u{e9}\u{301}",
        "\u{0}",
        "'",
        "\"",
        "(",
        ")",
        "(1,2",
        "=",
        "a=b",
        "é",
        "𝒳",
        "Foe",
        "/Script/Game.Foe",
        "/Script/",
        "uf:/",
        "ex:/host.leaf",
        "up:/Script/Game.Foe:count",
        ":",
        "::",
        ".",
        "..",
        "numbers",
        "count",
        "many",
        "rows",
        "on_told",
        "nan",
        "1e400",
        "()",
        "(,)",
        "((1,2),(3,4))",
        "poke",
        "add",
        "told",
        "#1",
        "#4294967296:1",
        "self",
        "class'Foe'",
        "while (true) {}",
        ";",
        "\t",
        "  ",
    ];
    let until = Instant::now() + Duration::from_secs(env("SECS", 20));
    let mut lines = 0;
    let mut rng = Rng(env("SEED", 77));
    let mut first: std::collections::BTreeMap<String, usize> = Default::default();
    while Instant::now() < until {
        let mut line = String::new();
        for _ in 0..1 + rng.below(5) {
            line += if rng.one_in(4) { &name } else { *rng.of(&words) };
            line += *rng.of(&[" ", " ", " ", "", "."]);
        }
        if line.contains("while") && !line.starts_with("eval") {
            continue;
        }
        if line.starts_with("eval") && line.contains("while") {
            continue;
        }
        lines += 1;
        let cut =
            (0..line.len()).filter(|at| line.is_char_boundary(*at)).nth(rng.below(line.len().max(1))).unwrap_or(0);
        let first_word = line.split(' ').next().unwrap_or_default().to_owned();
        let said = try_it(&format!("console {line:?}"), || host.console(&line));
        *first.entry(first_word).or_default() += said.map_or(0, |it| it.len());
        try_it(&format!("complete {:?}", &line[..cut]), || host.complete(&line[..cut]).len());
        try_it(&format!("complete {line:?}"), || host.complete(&line).len());
    }
    eprintln!("{lines} lines {}", host.console("help"));
    if host.modules().is_empty() {
        host.create_master(&[siege()]).expect("made");
    }
    goes_on(&host);
    host.shutdown();
}

/// What is printed is read back.
#[test]
fn h08_values_that_are_printed_are_read_back() {
    let (host, foe) = start();
    let texts = [
        "", "a", "\"", "\\", "\\\"", "a,b", "(", ")", "()", "\n\r\t\0", "\u{7f}", "\u{feff}", "é𝒳", "'", "none",
        "None", "null", " ", "  a ", "=", "a=b", "\u{202e}", "\\u{1}", "\\n", "{", "}", "[", "]", ":", "/*", "//",
        "#1",
    ];
    let mut wrong = 0;
    let name = |host: &Runtime| host.objects().name_of(foe).expect("a name");
    let mut try_one = |property: &str, value: Value| {
        if host.objects().set(foe, property, &value).is_err() {
            eprintln!("refused {property} {value:?}");
            return;
        }
        let read = host.objects().get(foe, property).expect("there");
        let printed = host.console(&format!("get {} {property}", name(&host)));
        let _reset = host.objects().set(
            foe,
            property,
            &match &value {
                Value::Text(_) => Value::Text("x".into()),
                Value::Map(_) => Value::Map(vec![]),
                _ => Value::Array(vec![]),
            },
        );
        let line = printed.split_once(" = ").map_or(printed.clone(), |it| it.1.to_owned());
        let said = host.console(&format!("set {} {property} {line}", name(&host)));
        let again = host.objects().get(foe, property).expect("there");
        if read != again {
            wrong += 1;
            if wrong < 20 {
                eprintln!("WRONG {property}: {read:?} printed {printed:?} said {said:?} again {again:?}");
            }
        }
    };
    for text in texts {
        try_one("text", Value::Text(text.into()));
        for other in texts {
            let name = Value::Name(host.intern(text));
            try_one(
                "many",
                Value::Map(vec![(name, Value::Array(vec![Value::Text(other.into()), Value::Text(text.into())]))]),
            );
        }
    }
    eprintln!("wrong {wrong}");
    goes_on(&host);
    host.shutdown();
}

/// The folder of the copies goes away, or is something else.
#[test]
fn h09_the_folder_of_the_copies_goes() {
    for how in 0..4 {
        let (host, foe) = start();
        let folder = host.stage_dir();
        match how {
            0 => drop(fs::remove_dir_all(&folder)),
            1 => {
                drop(fs::remove_dir_all(&folder));
                fs::write(&folder, "a file").expect("written");
            }
            2 => {
                drop(fs::remove_dir_all(&folder));
                std::os::unix::fs::symlink("/nowhere", &folder).expect("linked");
            }
            _ => {
                for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                    let path = entry.path();
                    if path.is_file() {
                        fs::write(&path, "other").ok();
                    } else {
                        fs::remove_dir_all(&path).ok();
                    }
                }
            }
        }
        let report =
            host.reload(&[siege()]).map(|it| (it.is_committed(), short(it.to_string()))).map_err(|e| e.to_string());
        eprintln!("{how}: {report:?}");
        eprintln!("   {:?}", host.objects().call(foe, "poke", &[Value::U64(1)]).map_err(|e| e.to_string()));
        if fs::symlink_metadata(&folder).is_ok_and(|it| !it.is_dir()) {
            fs::remove_file(&folder).expect("gone");
        }
        goes_on(&host);
        eprintln!("   {:?}", host.shutdown().left);
        fs::remove_dir_all(&folder).ok();
    }
}

/// A file that is watched turns into something else.
#[test]
fn h10_a_watched_file_turns_into_something_else() {
    let which = env("WHICH", 99);
    for how in (0..6).filter(|it| which == 99 || *it == which) {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("libsiege.so");
        fs::copy(siege(), &path).expect("copied");
        let host = support::builder().build().expect("a host");
        host.create_master(&[path.clone()]).expect("made");
        host.watch().expect("watched");
        offer(&host);
        fs::remove_file(&path).expect("gone");
        match how {
            0 => {
                assert!(std::process::Command::new("mkfifo").arg(&path).status().expect("runs").success());
            }
            1 => std::os::unix::fs::symlink("/dev/zero", &path).expect("linked"),
            2 => fs::create_dir(&path).expect("made"),
            3 => std::os::unix::fs::symlink("libsiege.so", &path).expect("linked"),
            4 => fs::File::create(&path).expect("made").set_len(1 << 42).expect("long"),
            _ => {
                let _socket = std::os::unix::net::UnixListener::bind(&path).expect("bound");
            }
        }
        let began = Instant::now();
        let mut told = Vec::new();
        while began.elapsed() < Duration::from_secs(3) {
            host.tick(Budget::frame());
            told.extend(host.take_reloads().into_iter().map(|it| short(it.to_string())));
            std::thread::sleep(Duration::from_millis(16));
        }
        eprintln!("{how}: ticks took at most 3 s: {:?}; {told:?}", began.elapsed());
        fs::remove_file(&path).or_else(|_| fs::remove_dir(&path)).expect("gone");
        fs::copy(support::plugin("siege", &["another"]), &path).expect("copied");
        let began = Instant::now();
        let mut committed = false;
        while began.elapsed() < Duration::from_secs(10) && !committed {
            host.tick(Budget::frame());
            committed = host.take_reloads().iter().any(|it| it.is_committed());
            std::thread::sleep(Duration::from_millis(16));
        }
        eprintln!("{how}: the next build is live: {committed}");
        let began = Instant::now();
        eprintln!("{how}: {:?} in {:?}", host.shutdown().left, began.elapsed());
        assert!(committed);
    }
}

/// Two hosts on one thread that watch each other end, with listeners between.
#[test]
fn h11_two_hosts_with_what_is_of_the_other() {
    let (one, foe) = start();
    let (two, other) = start();
    let listener = {
        let two = two.clone();
        Listener::of(&one, move |host: &Runtime, (number,): (u32,)| {
            let said = two.objects().call(other, "poke", &[Value::U64(1)]).map_err(|e| e.to_string());
            let foreign = two.objects().call(foe, "poke", &[Value::U64(1)]).map_err(|e| e.to_string());
            let same = host.objects().call(foe, "poke", &[Value::U64(1)]).map_err(|e| e.to_string());
            let reload = two.reload(&[siege()]).map(|it| it.is_committed()).map_err(|e| e.to_string());
            let own = host.reload(&[siege()]).map(|it| it.is_committed()).map_err(|e| e.to_string());
            eprintln!("{number} {said:?} {foreign:?} {same:?} {reload:?} {own:?}");
            two.clone().shutdown();
            Ok(())
        })
        .expect("made")
    };
    let object = *one.objects().all().last().expect("one");
    eprintln!("{:?}", one.links().bind(foe, "on_told", object, "call").map_err(|e| e.to_string()));
    eprintln!("foreign bind {:?}", two.links().bind(other, "on_told", object, "call").map_err(|e| e.to_string()));
    eprintln!("{:?}", one.objects().call(foe, "broadcast", &[Value::U32(1)]).map_err(|e| e.to_string()));
    eprintln!("{:?}", one.objects().call(foe, "broadcast", &[Value::U32(2)]).map_err(|e| e.to_string()));
    eprintln!("{:?}", two.objects().call(other, "broadcast", &[Value::U32(2)]).map_err(|e| e.to_string()));
    let delegate = one.links().delegate::<fn(u32) -> u32>(foe, "asked");
    eprintln!("{:?}", delegate.as_ref().map(|_| ()).map_err(|e| e.to_string()));
    drop(one);
    eprintln!("bound {:?}", listener.is_bound());
    eprintln!("{:?}", two.shutdown().left);
    drop(listener);
}

/// Resolvers and protocols that do what they should not while they resolve.
#[test]
fn h12_value_resolvers_that_act() {
    use alcedo_runtime::ZCallFunction;
    for how in 0..8 {
        let (host, foe) = start();
        let poke = move |host: &Runtime| -> String {
            match how {
                0 => format!("{:?}", host.reload(&[siege()]).map(|it| it.is_committed()).map_err(|e| e.to_string())),
                1 => format!("{:?}", host.unload_master().map(|_| ()).map_err(|e| e.to_string())),
                2 => {
                    host.objects().destroy(foe);
                    host.safe_point();
                    String::new()
                }
                3 => format!("{:?}", host.calls().call("deep:/x", &[]).map_err(|e| short(e.to_string()))),
                4 => format!("{:?}", host.clone().shutdown().left),
                5 => panic!("in a resolver"),
                6 => format!(
                    "{:?}",
                    host.calls()
                        .add_protocol(alcedo_runtime::zcall::PlainProtocol::new("deep"))
                        .map_err(|e| e.to_string())
                ),
                _ => {
                    host.request_reload(vec![siege()]);
                    host.tick(Budget::frame());
                    host.request_unload();
                    host.tick(Budget::frame());
                    String::new()
                }
            }
        };
        let resolve = move |host: &Runtime, name: &str| -> Result<ZCallFunction, alcedo_runtime::Declined> {
            eprintln!("  resolving {name}: {}", poke(host));
            let text = vec![7_u64; 64];
            Ok(ZCallFunction::new("-> u64".parse().expect("a signature"), move |host, _| {
                eprintln!("  called: {}", poke(host));
                Ok(Some(Value::U64(text.iter().sum())))
            }))
        };

        host.calls().add_value_resolver("deep", resolve).expect("added");
        let said = try_it("call", || host.calls().call("deep:/x", &[]).map_err(|e| short(e.to_string())));
        let again = try_it("call", || host.calls().call("deep:/y", &[]).map_err(|e| short(e.to_string())));
        eprintln!(
            "{how}: {said:?} {again:?} {:?}",
            host.calls().explain("deep:/z").map(|it| it.is_found()).map_err(|e| short(e.to_string()))
        );
        if how != 4 {
            if host.modules().is_empty() {
                host.create_master(&[siege()]).expect("made");
            }
            goes_on(&host);
        }
        eprintln!("  {:?}", host.shutdown().left);
    }
}

/// A host that is used by threads that post, while it ends, reloads and begins again.
#[test]
fn h13_posts_from_threads_against_everything() {
    let until = Instant::now() + Duration::from_secs(env("SECS", 10));
    let mut rounds = 0;
    while Instant::now() < until {
        let (host, foe) = start();
        let poster = host.post_handle();
        let ran = Arc::new(AtomicU32::new(0));
        struct Again(alcedo_runtime::Poster, u32);
        impl Drop for Again {
            fn drop(&mut self) {
                if self.1 > 0 {
                    let inner = Again(self.0.clone(), self.1 - 1);
                    self.0.post(move |host| {
                        let _kept = inner;
                        host.safe_point();
                    });
                }
            }
        }
        let threads: Vec<_> = (0..3)
            .map(|at| {
                let (poster, ran) = (poster.clone(), Arc::clone(&ran));
                std::thread::spawn(move || {
                    let mut posted = 0_u32;
                    for round in 0..2000 {
                        let ran = Arc::clone(&ran);
                        let again = Again(poster.clone(), 2);
                        let done = poster.post(move |host| {
                            ran.fetch_add(1, Ordering::SeqCst);
                            let _held = again;
                            if round % 50 == 0 {
                                host.request_reload(vec![siege()]);
                            }
                            if round % 77 == 0 {
                                panic!("in a post");
                            }
                            if at == 0 && round % 31 == 0 {
                                let _said = host.objects().call(foe, "poke", &[Value::U64(1)]);
                            }
                        });
                        posted += u32::from(done);
                    }
                    posted
                })
            })
            .collect();
        for at in 0..40 {
            host.tick(Budget::frame());
            if at % 10 == 9 {
                let _unloaded = host.unload_master();
                let _made = host.create_master(&[siege()]);
            }
        }
        let left = host.shutdown().left;
        let posted: u32 = threads.into_iter().map(|it| it.join().expect("it ends")).sum();
        rounds += 1;
        eprintln!("{rounds}: posted {posted} ran {} {left:?}", ran.load(Ordering::SeqCst));
    }
}

/// Recursion without end, in code of the host alone that goes through its verbs.
#[test]
fn h14_recursion_of_the_host_through_its_verbs() {
    let which = env("WHICH", 99);
    let (host, foe) = start();
    match which {
        0 => {
            host.calls()
                .register("host.rec", Signature::default(), |host, _| {
                    let _deeper = host.calls().call("ex:/host.rec", &[])?;
                    Ok(None)
                })
                .expect("free");
            eprintln!("{:?}", host.calls().call("ex:/host.rec", &[]).map_err(|e| short(e.to_string())));
        }
        1 => {
            let listener = Listener::of(&host, move |host: &Runtime, (number,): (u32,)| {
                let _b = host.links().broadcast(foe, "on_told", &[Value::U32(number)]);
                Ok(())
            })
            .expect("made");
            let object = *host.objects().all().last().expect("one");
            host.links().bind(foe, "on_told", object, "call").expect("bound");
            eprintln!(
                "{:?}",
                host.links().broadcast(foe, "on_told", &[Value::U32(1)]).map_err(|e| short(e.to_string()))
            );
            drop(listener);
        }
        2 => {
            host.calls()
                .register_typed("host.typed", |host: &Runtime, (number,): (u64,)| -> u64 {
                    host.function::<(u64,), u64>("ex:/host.typed")
                        .and_then(|it| it.call((number + 1,)))
                        .unwrap_or(number)
                })
                .expect("free");
            eprintln!("{:?}", host.calls().call("ex:/host.typed", &[Value::U64(0)]).map_err(|e| short(e.to_string())));
        }
        3 => {
            // A chain of posts, each of which is left when the one before is dropped.
            struct Chain(alcedo_runtime::Poster, u32);
            impl Drop for Chain {
                fn drop(&mut self) {
                    if self.1 > 0 {
                        let next = Chain(self.0.clone(), self.1 - 1);
                        self.0.post(move |_| drop(next));
                    }
                }
            }
            drop(Chain(host.post_handle(), 200_000));
            host.tick(Budget::frame());
            eprintln!("{:?}", host.shutdown().left);
            return;
        }
        4 => {
            let poster = host.post_handle();
            for _ in 0..100_000 {
                poster.post(|host| host.tick(Budget::frame()));
            }
            host.tick(Budget::frame());
        }
        5 => {
            let poster = host.post_handle();
            for _ in 0..100_000 {
                poster.post(|host| {
                    let _w = host.unloads().wait(Duration::ZERO);
                });
            }
            host.tick(Budget::frame());
        }
        6 => {
            let poster = host.post_handle();
            for _ in 0..20_000 {
                poster.post(|host| {
                    let _w = host.collection().collect();
                });
            }
            host.tick(Budget::frame());
        }
        _ => {}
    }
    goes_on(&host);
    eprintln!("{:?}", host.shutdown().left);
}
