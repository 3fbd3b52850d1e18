//! Contexts of any thread.
use std::cell::RefCell;
use std::fs;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use alcedo_runtime::{ContextKind, ContextState, Contexts, FoundModule, LoadContext, Runtime, SlimWatch, Value};

use crate::{Rng, env, short, support};

fn reports() -> std::path::PathBuf {
    support::plugin("reports", &[])
}
fn needy() -> std::path::PathBuf {
    support::plugin("reports", &["needs-figures"])
}
fn figures() -> std::path::PathBuf {
    support::plugin("figures", &[])
}

fn render(slim: &LoadContext) -> String {
    match slim.function("Report", "render", "String, u32 -> String") {
        Ok(it) => {
            format!("{:?}", it.call(&[Value::Text("Ada".into()), Value::U32(1)]).map_err(|e| short(e.to_string())))
        }
        Err(error) => short(error.to_string()),
    }
}

struct Bomb(u32);
impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0 > 0 {
            std::panic::panic_any(Bomb(self.0 - 1));
        }
    }
}

struct Liar {
    what: u32,
    bytes: Vec<u8>,
    at: usize,
    slim: Option<LoadContext>,
}
impl Read for Liar {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        if let Some(slim) = &self.slim {
            match self.what {
                10 => {
                    let _ticket = slim.begin_unload();
                }
                11 => {
                    eprintln!("   inner {:?}", slim.load_path(reports()).map(|_| ()).map_err(|e| short(e.to_string())));
                }
                12 => {
                    eprintln!(
                        "   inner {:?}",
                        slim.load_reader(
                            "reports",
                            Liar { what: 0, bytes: self.bytes.clone(), at: 0, slim: None },
                            None
                        )
                        .map(|_| ())
                        .map_err(|e| short(e.to_string()))
                    );
                }
                13 => {
                    eprintln!(
                        "   inner {:?}",
                        slim.replace_reader(
                            "reports",
                            Liar { what: 0, bytes: self.bytes.clone(), at: 0, slim: None },
                            None
                        )
                        .map(|_| ())
                        .map_err(|e| short(e.to_string()))
                    );
                }
                14 => {
                    self.slim = None;
                }
                _ => {}
            }
        }
        let n = buf.len().min(self.bytes.len() - self.at);
        buf[..n].copy_from_slice(&self.bytes[self.at..self.at + n]);
        self.at += n;
        match self.what {
            1 => Ok(buf.len() + 1),
            2 => Ok(usize::MAX),
            3 => panic!("in a read"),
            4 => std::panic::panic_any(Bomb(2)),
            5 => Ok(buf.len()),
            6 => Err(std::io::Error::new(std::io::ErrorKind::Interrupted, "again")),
            7 => Err(std::io::Error::new(std::io::ErrorKind::WouldBlock, "block")),
            8 => Ok(0),
            9 if self.at > 4096 => Ok(0),
            _ => Ok(n),
        }
    }
}
impl Drop for Liar {
    fn drop(&mut self) {
        if self.what == 3 || self.what == 8 {
            if !std::thread::panicking() {
                panic!("in the drop of a reader")
            }
        }
    }
}

#[test]
fn l01_readers_that_lie() {
    let host = support::builder().largest_library(64 << 20).build().expect("a host");
    let bytes = fs::read(reports()).expect("read");
    for what in (0..15).filter(|it| *it != 6) {
        for replace in [false, true] {
            let slim = host.contexts().create_slim(&format!("slim{what}{replace}")).expect("made");
            if replace {
                slim.load_path(reports()).expect("loaded");
            }
            let reader = Liar { what, bytes: bytes.clone(), at: 0, slim: Some(slim.clone()) };
            let began = Instant::now();
            let said = catch_unwind(AssertUnwindSafe(|| {
                if replace {
                    slim.replace_reader("reports", reader, None).map(drop).map_err(|e| short(e.to_string()))
                } else {
                    slim.load_reader("reports", reader, None).map(drop).map_err(|e| short(e.to_string()))
                }
            }));
            eprintln!(
                "{what} {replace}: {:?} in {:?}; {}",
                said.map_err(|payload| std::mem::forget(payload)),
                began.elapsed(),
                render(&slim)
            );
            // A context that can still be loaded into and end.
            if slim.state() == ContextState::Alive {
                eprintln!("    again {:?}", slim.load_path(reports()).map(|_| ()).map_err(|e| short(e.to_string())));
            }
            eprintln!(
                "    end {:?}",
                slim.begin_unload().map(|it| it.wait(Duration::from_secs(5)).is_ok()).map_err(|e| short(e.to_string()))
            );
        }
    }
    eprintln!("{:?}", host.shutdown().left);
}

/// A reader that is interrupted without end.
#[test]
fn l02_a_reader_that_is_interrupted_without_end() {
    // Told apart, since it may never end.
    let host = support::builder().build().expect("a host");
    let slim = host.contexts().create_slim("slim").expect("made");
    struct Often(u64);
    impl Read for Often {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            self.0 += 1;
            if self.0 > 50_000_000 {
                return Ok(0);
            }
            Err(std::io::ErrorKind::Interrupted.into())
        }
    }
    let began = Instant::now();
    eprintln!(
        "{:?} in {:?}",
        slim.load_reader("reports", Often(0), None).map(|_| ()).map_err(|e| short(e.to_string())),
        began.elapsed()
    );
    host.shutdown();
}

#[test]
fn l03_resolvers_that_act() {
    for how in 0..12 {
        let host = support::builder().build().expect("a host");
        let contexts = host.contexts();
        let slim = contexts.create_slim("top").expect("made");
        let lender = contexts.create_slim("base").expect("made");
        let lent = lender.load_path(figures()).expect("loaded");
        let (weak, base) = (slim.downgrade(), Arc::new(Mutex::new(Some(lender))));
        let kept = Arc::clone(&base);
        let registration: Arc<Mutex<Option<alcedo_runtime::Registration>>> = Arc::default();
        let own = Arc::clone(&registration);
        let handler = move |request: &alcedo_runtime::ModuleRequest| {
            let loaded = || Ok(Some(FoundModule::Loaded(lent.clone())));
            match how {
                0 => {
                    let _t = weak.upgrade().map(|it| it.begin_unload());
                    Ok(Some(FoundModule::File(figures())))
                }
                1 => {
                    if let Some(base) = kept.lock().expect("free").take() {
                        let _t = base.begin_unload();
                        drop(base);
                    }
                    loaded()
                }
                2 => {
                    if let Some(base) = kept.lock().expect("free").as_ref() {
                        let _t = base.begin_unload();
                        base.park();
                    }
                    loaded()
                }
                3 => std::panic::panic_any(Bomb(2)),
                4 => Ok(Some(FoundModule::Bytes { image: vec![0x7f; 100], symbols: None })),
                5 => Ok(Some(FoundModule::Bytes {
                    image: fs::read(figures()).expect("read"),
                    symbols: Some(vec![1, 2, 3]),
                })),
                6 => {
                    let _t = weak.upgrade().map(|it| {
                        eprintln!("   inner {:?}", it.load_path(needy()).map(|_| ()).map_err(|e| short(e.to_string())))
                    });
                    loaded()
                }
                7 => {
                    if let Some(it) = own.lock().expect("free").take() {
                        it.remove();
                    }
                    loaded()
                }
                8 => {
                    if let Some(base) = kept.lock().expect("free").as_ref() {
                        eprintln!(
                            "   replaced {:?}",
                            base.replace(figures()).map(|_| ()).map_err(|e| short(e.to_string()))
                        );
                    }
                    loaded()
                }
                9 => {
                    if let Some(it) = weak.upgrade() {
                        let _r = it.set_resolver(|_| Ok(None));
                        it.park();
                    }
                    loaded()
                }
                10 => {
                    let host = request.contexts().map(|it| {
                        it.create_slim("made meanwhile")
                            .map(|it| it.load_path(needy()).map(|_| ()).map_err(|e| short(e.to_string())))
                    });
                    eprintln!("   {host:?}");
                    loaded()
                }
                _ => Ok(Some(FoundModule::File("relative/libx.so".into()))),
            }
        };
        let made = slim.set_resolver(handler);
        *registration.lock().expect("free") = Some(made);
        let said =
            catch_unwind(AssertUnwindSafe(|| slim.load_path(needy()).map(|_| ()).map_err(|e| short(e.to_string()))))
                .map_err(std::mem::forget);
        eprintln!("{how}: {said:?}; {}; state {:?}", render(&slim), slim.state());
        if let Ok(base) = base.lock() {
            if let Some(base) = base.as_ref() {
                eprintln!(
                    "   base: {:?}",
                    base.begin_unload()
                        .map(|it| it.wait(Duration::from_millis(300)).is_ok())
                        .map_err(|e| short(e.to_string()))
                );
            }
        }
        eprintln!("   after its lender: {}", render(&slim));
        eprintln!(
            "   {:?}",
            slim.begin_unload().map(|it| it.wait(Duration::from_secs(5)).is_ok()).map_err(|e| short(e.to_string()))
        );
        drop((slim, base, registration));
        let began = Instant::now();
        eprintln!("   {:?} in {:?}", host.shutdown().left, began.elapsed());
    }
}

/// Calls that are suspended below a coroutine, and end in another order.
#[test]
#[allow(deprecated)]
fn l04_calls_of_slims_on_coroutines() {
    // The module `siege-slim` calls the host, which suspends.
    let host = support::builder().unloads(|it| it.grace = Duration::from_millis(300)).build().expect("a host");
    host.calls()
        .register_shared("host.suspend", "u64 -> u64".parse().expect("a signature"), |values| {
            if generator::is_generator() {
                generator::yield_with(1_u64);
            }
            Ok(Some(values[0].clone()))
        })
        .expect("free");
    let slim = host.contexts().create_slim("slim").expect("made");
    eprintln!("{:?}", slim.load_path(support::plugin("siege-slim", &[])).map(|_| ()).map_err(|e| e.to_string()));
    let call = slim.function("Slim", "through", "u64 -> u64").expect("found");
    eprintln!("plain {:?}", call.call(&[Value::U64(5)]));
    let mut all: Vec<_> = (0..4_u64)
        .map(|at| {
            let call = call.clone();
            let slim = slim.clone();
            generator::Gn::<()>::new(move || -> u64 {
                let scope = slim.enter().map_err(|e| e.to_string());
                let lease = slim.lease("in a coroutine").map_err(|e| e.to_string());
                let said = call.call(&[Value::U64(at)]).map_err(|e| short(e.to_string()));
                eprintln!("  {at}: {said:?} {:?} {:?}", scope.as_ref().map(|_| ()), lease.as_ref().map(|_| ()));
                drop((scope, lease));
                0
            })
        })
        .collect();
    for it in &mut all {
        eprintln!("first {:?}", it.resume());
    }
    eprintln!("current {:?} held by {:?}", Contexts::current().map(|it| it.to_string()), slim.held_by());
    let ticket = slim.begin_unload().expect("begun");
    eprintln!("{:?}", ticket.wait(Duration::from_millis(300)).map(|_| ()).map_err(|e| short(e.to_string())));
    for at in [1, 3, 0] {
        eprintln!("second {at} {:?}", all[at].resume());
    }
    // The last is dropped where it sleeps.
    all.truncate(2);
    eprintln!("{:?}", ticket.wait(Duration::from_secs(2)).map(|_| ()).map_err(|e| short(e.to_string())));
    eprintln!("current {:?}", Contexts::current().map(|it| it.to_string()));
    drop(slim);
    eprintln!("{:?}", host.shutdown().left);
}

/// Threads that do everything with contexts.
#[test]
fn l05_threads_that_do_everything() {
    let end = Instant::now() + Duration::from_secs(env("SECS", 30));
    let host = support::builder()
        .unloads(|it| {
            it.grace = Duration::from_millis(50);
            it.parked_budget = 10_000;
        })
        .build()
        .expect("a host");
    let (a, b, n, f) = (reports(), support::tagged("reports", &[], 2), needy(), figures());
    let contexts = host.contexts();
    let base = contexts.create_slim("figures").expect("made");
    base.load_path(&f).expect("loaded");
    let counts: Arc<[AtomicU64; 20]> = Arc::new(std::array::from_fn(|_| AtomicU64::new(0)));
    let threads: Vec<_> = (0..5_u64)
        .map(|t| {
            let (contexts, a, b, n, f, counts) =
                (contexts.clone(), a.clone(), b.clone(), n.clone(), f.clone(), Arc::clone(&counts));
            std::thread::spawn(move || {
                let mut rng = Rng(env("SEED", 3) * 1000 + t + 1);
                let mut kept: Vec<Box<dyn std::any::Any>> = Vec::new();
                let mut slims: Vec<LoadContext> = Vec::new();
                while Instant::now() < end {
                    let name = format!("s{}", rng.below(4));
                    let what = rng.below(20);
                    counts[what].fetch_add(1, Ordering::Relaxed);
                    let slim = match contexts.slim(&name) {
                        Some(it) => it,
                        None => match contexts.create_slim(&name) {
                            Ok(it) => {
                                let _resolver = it.set_resolver(|request| {
                                    let all = request
                                        .contexts()
                                        .and_then(|it| it.slim("figures"))
                                        .map(|it| it.modules())
                                        .unwrap_or_default();
                                    Ok(all.into_iter().find(|it| it.name == request.name).map(FoundModule::Loaded))
                                });
                                it
                            }
                            Err(_) => continue,
                        },
                    };
                    match what {
                        0 => drop(slim.load_path(&a)),
                        1 => drop(slim.load_path(&n)),
                        2 => drop(slim.replace(&b)),
                        3 => drop(slim.replace(&n)),
                        4 => {
                            if let Ok(ticket) = slim.begin_unload() {
                                if rng.one_in(3) {
                                    let _w = ticket.wait(Duration::from_millis(20));
                                } else {
                                    kept.push(Box::new(ticket));
                                }
                            }
                        }
                        5 if rng.one_in(10) => slim.park(),
                        6..=9 => {
                            if let Ok(it) = slim.function("Report", "render", "String, u32 -> String") {
                                for _ in 0..10 {
                                    let _c = it.call(&[Value::Text("x".into()), Value::U32(1)]);
                                }
                            }
                        }
                        10 => {
                            if let Ok(it) = slim.get_function_pointer("Report", "calls", "-> u64") {
                                let _c = it.call(&[]);
                                kept.push(Box::new(it));
                            }
                        }
                        11 => {
                            if let Ok(it) = slim.lease("kept") {
                                kept.push(Box::new(it));
                            }
                        }
                        12 => {
                            if let Ok(_scope) = slim.enter() {
                                let _f = contexts.function_here("Report", "build_tag", "-> u64").map(|it| it.call(&[]));
                            }
                        }
                        13 => {
                            slims.push(slim.clone());
                            if slims.len() > 3 {
                                slims.clear();
                            }
                        }
                        14 => {
                            let _c = slim.on_unloading(0, |event| {
                                if let Some(it) = event.load_context() {
                                    let _l = it.lease("late");
                                    let _m = it.modules();
                                }
                            });
                        }
                        15 => {
                            let _t: Vec<_> = contexts
                                .unloads()
                                .iter()
                                .map(|it| (it.state(), it.report().to_string().len()))
                                .collect();
                            let _a = contexts.all().len();
                        }
                        16 => {
                            if let Ok(ty) = slim.resolve_type("Report") {
                                kept.push(Box::new(ty));
                            }
                        }
                        17 if t == 0 => {
                            if let Some(base) = contexts.slim("figures") {
                                let _r = base.replace(&f);
                            }
                        }
                        18 => {
                            let _e = slim.on_resolving(|_| Ok(None)).guard();
                        }
                        _ => {
                            if rng.one_in(4) {
                                kept.clear();
                            }
                        }
                    }
                    if kept.len() > 20 {
                        kept.clear();
                    }
                }
            })
        })
        .collect();
    while Instant::now() < end {
        host.safe_point();
        std::thread::sleep(Duration::from_millis(1));
    }
    let panicked = threads.into_iter().map(|it| it.join()).filter(|it| it.is_err()).count();
    eprintln!("{panicked} panicked; {counts:?}");
    let began = Instant::now();
    drop(base);
    for ticket in contexts.unloads() {
        let said = ticket.wait(Duration::from_secs(5));
        if let Err(report) = said {
            eprintln!("{}", short(report.to_string()));
        }
    }
    let left = host.shutdown().left;
    eprintln!("{} left {left:?} in {:?}", left.len(), began.elapsed());
    assert_eq!(panicked, 0);
}

/// A file that a Slim's watch looks at turns into something else.
#[test]
fn l06_a_watched_slim() {
    for how in 0..5 {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("libreports.so");
        fs::copy(reports(), &path).expect("copied");
        let host = support::builder().build().expect("a host");
        let slim = host.contexts().create_slim("slim").expect("made");
        slim.load_path(&path).expect("loaded");
        let told = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&told);
        let watch = SlimWatch::start(&slim, &path, move |it| {
            into.lock().expect("free").push(it.map(|_| ()).map_err(|e| short(e.to_string())))
        })
        .expect("started");
        fs::remove_file(&path).expect("gone");
        match how {
            0 => {
                assert!(std::process::Command::new("mkfifo").arg(&path).status().expect("runs").success());
            }
            1 => std::os::unix::fs::symlink("/dev/zero", &path).expect("linked"),
            2 => fs::create_dir(&path).expect("made"),
            3 => fs::File::create(&path).expect("made").set_len(1 << 42).expect("long"),
            _ => {
                let _socket = std::os::unix::net::UnixListener::bind(&path).expect("bound");
            }
        }
        std::thread::sleep(Duration::from_secs(2));
        fs::remove_file(&path).or_else(|_| fs::remove_dir(&path)).expect("gone");
        fs::copy(support::tagged("reports", &[], 2), &path).expect("copied");
        let began = Instant::now();
        let mut tag = String::new();
        while began.elapsed() < Duration::from_secs(10) && !tag.contains("build 2") {
            tag = render(&slim);
            std::thread::sleep(Duration::from_millis(20));
        }
        eprintln!("{how}: {tag} after {:?} {:?}", began.elapsed(), told.lock().expect("free"));
        let began = Instant::now();
        drop(watch);
        eprintln!("   watch dropped in {:?}", began.elapsed());
        drop(slim);
        eprintln!("   {:?} in {:?}", host.shutdown().left, began.elapsed());
        assert!(tag.contains("build 2"));
    }
}

/// Types that outlive what they are of.
#[test]
fn l07_types_and_pointers_that_outlive() {
    let (host, _foe) = crate::host::start();
    let contexts = host.contexts();
    let slim = contexts.create_slim("slim").expect("made");
    slim.load_path(reports()).expect("loaded");
    let ty = slim.resolve_type("Report").expect("found");
    let master = contexts.all().iter().find(|it| it.kind == ContextKind::Master).map(|it| it.id).expect("a Master");
    let foe = contexts.resolve_type_in(master, "/Script/Game.Foe").map_err(|e| e.to_string());
    eprintln!("{foe:?}");
    slim.replace(support::tagged("reports", &[], 2))
        .expect("replaced")
        .wait(Duration::from_secs(10))
        .map(|_| ())
        .unwrap_or_else(|e| panic!("{e}"));
    let second = slim.resolve_type("Report").expect("found");
    eprintln!(
        "{:?} {:?}",
        ty.expect(&second).map_err(|e| e.to_string()),
        second.expect(&second).map_err(|e| e.to_string())
    );
    host.reload(&[crate::host::siege()]).expect("reloaded");
    eprintln!(
        "old Master {:?}",
        contexts.resolve_type_in(master, "/Script/Game.Foe").map(|_| ()).map_err(|e| e.to_string())
    );
    let pointer = slim.get_function_pointer("Report", "calls", "-> u64").expect("found");
    let (function, contexts2) = (slim.function("Report", "calls", "-> u64").expect("found"), contexts.clone());
    drop(slim);
    eprintln!("{:?}", host.shutdown().left);
    eprintln!(
        "pointer {:?} function {:?}",
        pointer.call(&[]).map_err(|e| e.to_string()),
        function.call(&[]).map_err(|e| e.to_string())
    );
    let thread = std::thread::spawn(move || {
        let said = pointer.call(&[]).map_err(|e| e.to_string());
        let late = contexts2.create_slim("late").map_err(|e| e.to_string());
        let loaded = late.as_ref().map(|it| it.load_path(reports()).map(|_| ()).map_err(|e| e.to_string()));
        eprintln!("{said:?} {loaded:?} {:?}", late.as_ref().map(render));
        drop(pointer);
        late.map(|it| it.begin_unload().map(|it| it.wait(Duration::from_secs(5)).is_ok()).map_err(|e| e.to_string()))
    });
    eprintln!("{:?}", thread.join());
    eprintln!("{:?} {:?}", ty.expect(&second).map_err(|e| e.to_string()), foe.map(|it| it.to_string()));
}
