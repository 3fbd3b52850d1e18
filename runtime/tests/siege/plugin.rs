//! Code of plugins.
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use alcedo_runtime::{Binding, Budget, CallError, ObjectHandle, Runtime, Signature, Value};

use crate::host::{HOST, goes_on, offer, siege, start};
use crate::{env, short, support};

fn ask(host: &Runtime, object: ObjectHandle, function: &str, values: &[Value]) -> String {
    match host.objects().call(object, function, values) {
        Ok(Some(Value::Text(it))) => it,
        Ok(other) => format!("{other:?}"),
        Err(error) => format!("refused: {}", short(error.to_string())),
    }
}

#[test]
fn p01_panics_that_are_caught_in_the_plugin() {
    for how in 0..17 {
        let (host, foe) = start();
        host.links().bind(foe, "on_told", foe, "hear").expect("bound");
        eprintln!("{}", ask(&host, foe, "caught", &[Value::U32(how)]));
        eprintln!("   {:?}", host.objects().set(foe, "numbers", &Value::Array(vec![])).map_err(|e| e.to_string()));
        eprintln!("   poke {:?}", host.objects().call(foe, "poke", &[Value::U64(1)]).map_err(|e| e.to_string()));
        goes_on(&host);
        eprintln!("   {:?}", host.shutdown().left);
    }
}

#[test]
fn p02_words_that_panic_in_a_log() {
    let _record = support::record("siege");
    for how in 0..8 {
        let (host, _foe) = start();
        eprintln!(
            "{how}: {:?}",
            host.calls().call("uf:/Script/Game.Foe:loud", &[Value::U32(how)]).map_err(|e| short(e.to_string()))
        );
        goes_on(&host);
        host.shutdown();
    }
}

#[test]
fn p03_coroutines_that_are_unwound_by_force() {
    for how in 0..4 {
        for end in 0..3 {
            let (host, foe) = start();
            host.calls()
                .register("host.act", Signature::default(), |host, _| {
                    host.safe_point();
                    Ok(None)
                })
                .expect("free");
            host.calls()
                .call("uf:/Script/Game.Foe:unwind_by_force", &[Value::Object(foe), Value::U32(how)])
                .expect("posted");
            host.safe_point();
            eprintln!("{how} {end}: {}", ask(&host, foe, "told", &[]));
            host.objects().call(foe, "hold_busy", &[]).expect("held");
            match end {
                0 => {
                    let report = host.reload(&[support::plugin("siege", &["another"])]).expect("a Master");
                    eprintln!("   {}", report.is_committed());
                    goes_on(&host);
                }
                1 => {
                    host.objects().destroy(foe);
                    host.tick(Budget::frame());
                    goes_on(&host);
                }
                _ => {
                    host.unload_master().map(|it| eprintln!("   {:?}", it.parked)).unwrap_or_else(|e| panic!("{e}"));
                    host.create_master(&[siege()]).expect("made");
                    goes_on(&host);
                }
            }
            eprintln!("   blacks {} {:?}", host.conjugates().blacks().count(), host.shutdown().left);
        }
    }
}

fn scene(place: u32, how: u32) {
    let host = support::hasty_host(&[siege()]);
    offer(&host);
    let foe = host.objects().spawn("/Script/Game.Foe").expect("born");
    host.calls()
        .register("host.act", Signature::default(), move |host, _| {
            let said = (
                host.reload(&[siege()]).map(|it| it.is_committed()).map_err(|e| short(e.to_string())),
                host.unload_master().map(|_| ()).map_err(|e| short(e.to_string())),
                host.objects().spawn("/Script/Game.Foe").map_err(|e| short(e.to_string())),
            );
            host.objects().destroy(foe);
            host.safe_point();
            host.tick(Budget::frame());
            let collected = host.collection().collect().map_err(|e| short(e.to_string()));
            eprintln!("   act: {said:?} {collected:?}");
            Ok(None)
        })
        .expect("free");
    host.objects().call(foe, "bind", &[Value::Object(foe)]).expect("bound");
    host.calls()
        .call("uf:/Script/Game.Foe:arm", &[Value::U32(place), Value::U32(how)])
        .map(drop)
        .unwrap_or_else(|e| eprintln!("arm: {e}"));
    let say = |what: &str, said: String| eprintln!("   {what}: {said}");
    say("poke", ask(&host, foe, "poke", &[Value::U64(1)]));
    say("broadcast", ask(&host, foe, "broadcast", &[Value::U32(1)]));
    say(
        "count",
        ask(
            &host,
            foe,
            "count_to",
            &[Value::U32(2), Value::U32(0), Value::Delegate(Binding { object: foe, function: host.intern("done") })],
        ),
    );
    for _ in 0..5 {
        host.tick(Budget::frame());
    }
    let born = host.objects().spawn("/Script/Game.Foe");
    say("born", format!("{:?}", born.as_ref().map_err(|e| short(e.to_string()))));
    if let Ok(born) = born {
        host.objects().destroy(born);
        host.tick(Budget::frame());
    }
    say(
        "reload",
        host.reload(&[support::plugin("siege", &["another"])])
            .map(|it| it.is_committed().to_string())
            .unwrap_or_else(|e| short(e.to_string())),
    );
    say("unload", format!("{:?}", host.unload_master().map(|it| it.parked.len()).map_err(|e| short(e.to_string()))));
    std::thread::sleep(Duration::from_millis(800));
    host.safe_point();
    say("create", format!("{:?}", host.create_master(&[siege()]).map_err(|e| short(e.to_string()))));
    let foe = host.objects().spawn("/Script/Game.Foe");
    say(
        "poke",
        format!("{:?}", foe.map(|it| ask(&host, it, "poke", &[Value::U64(1)])).map_err(|e| short(e.to_string()))),
    );
    let began = Instant::now();
    say("end", format!("{:?} in {:?}", host.shutdown().left, began.elapsed()));
}

/// Each place in which code of a plugin runs, and each thing that it may do: in a process of its own.
#[test]
fn p04_places() {
    const CHILD: &str = "SIEGE_PLACE";
    if let Ok(text) = std::env::var(CHILD) {
        let (place, how) = text.split_once(' ').expect("two");
        scene(place.parse().expect("a number"), how.parse().expect("a number"));
        eprintln!("DONE");
        return;
    }
    let (only_place, only_how) = (env("PLACE", 99) as u32, env("HOW", 99) as u32);
    let _built = (siege(), support::plugin("siege", &["another"]));
    let mut bad = 0;
    for how in (1..6).filter(|it| only_how == 99 || *it == only_how) {
        for place in (2..24).filter(|it| only_place == 99 || *it == only_place) {
            let mut child = std::process::Command::new("timeout");
            child
                .arg("60")
                .arg(std::env::current_exe().expect("there"))
                .args(["--exact", "plugin::p04_places", "--nocapture"])
                .env(CHILD, format!("{place} {how}"));
            let began = Instant::now();
            let output = child.output().expect("runs");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let whole = said.contains("DONE");
            let expected = match how {
                1 => output.status.code() == Some(7) || whole,
                _ => whole && output.status.success(),
            };
            eprintln!(
                "place {place} how {how}: {:?} done {whole} in {:?}{}",
                output.status,
                began.elapsed(),
                if expected { "" } else { "  <<<<<" }
            );
            if !expected || only_place != 99 {
                bad += usize::from(!expected);
                eprintln!("{}", said.chars().rev().take(6000).collect::<String>().chars().rev().collect::<String>());
            }
        }
    }
    assert_eq!(bad, 0);
}

#[test]
fn p05_async_functions_over_everything() {
    for how in 0..7 {
        let (host, foe) = start();
        let other = host.objects().spawn("/Script/Game.Foe").expect("born");
        host.objects().call(foe, "begin_counts", &[Value::Object(other)]).expect("begun");
        for tick in 0..12 {
            host.tick(Budget::seconds(0.01));
            if tick == how {
                match how {
                    0 => eprintln!(
                        "   reload {}",
                        host.reload(&[support::plugin("siege", &["another"])]).expect("a Master").is_committed()
                    ),
                    1 => eprintln!(
                        "   reload {}",
                        host.reload(&["/nowhere/libx.so"])
                            .map(|it| it.is_committed().to_string())
                            .unwrap_or_else(|e| short(e.to_string()))
                    ),
                    2 => {
                        host.objects().destroy(other);
                    }
                    3 => {
                        host.objects().destroy(foe);
                    }
                    4 => {
                        host.collection().collect().expect("collected");
                    }
                    5 => {
                        let folder = tempfile::tempdir().expect("a folder");
                        let w = folder.path().join("w");
                        host.worlds().save(&w).expect("saved");
                        eprintln!("   {:?}", host.worlds().load(&w).map(|it| it.objects).map_err(|e| e.to_string()));
                    }
                    _ => {
                        host.unload_master().expect("unloaded");
                        host.create_master(&[siege()]).expect("made");
                    }
                }
            }
        }
        let told = host.calls().call("uf:/Script/Game.Foe:told", &[]);
        eprintln!("{how}: {told:?} jobs {} left", host.jobs().len());
        goes_on(&host);
        eprintln!("   {:?}", host.shutdown().left);
    }
}

/// Kept fields and properties of other types, and back.
#[test]
fn p06_kept_fields_there_and_back() {
    for way in 0..4 {
        let (host, foe) = start();
        let v2 = support::plugin("siege", &["v2"]);
        host.objects().call(foe, "fill", &[]).expect("filled");
        let name = |it: &str| Value::Name(host.intern(it));
        let rows = Value::Array(vec![Value::Map(vec![(name("a"), Value::Array(vec![Value::U64(1), Value::U64(2)]))])]);
        host.objects().set(foe, "rows", &rows).expect("set");
        let before = ask(&host, foe, "kept_text", &[]);
        let folder = tempfile::tempdir().expect("a folder");
        let world = folder.path().join("w");
        let steps: &[&str] = match way {
            0 => &["v2", "v1"],
            1 => &["v2", "v2", "v1"],
            2 => &["v2", "none", "v1"],
            _ => &["none", "v2", "none", "v1"],
        };
        for step in steps {
            let report = match *step {
                "v1" => host.reload(&[siege()]),
                "v2" => host.reload(&[v2.clone()]),
                _ => host.reload(&[support::plugin("attributes", &[])]),
            }
            .expect("a Master");
            eprintln!("  {step}: {}", short(report.to_string()));
        }
        let after = ask(&host, foe, "kept_text", &[]);
        eprintln!("{way}: {before} -> {after}");
        eprintln!("   rows {:?}", host.objects().get(foe, "rows"));
        assert_eq!(before, after);
        assert_eq!(host.objects().get(foe, "rows").expect("there"), rows);
        host.shutdown();
    }
}

/// A batch of the host and of a plugin, in the middle of which things end.
#[test]
fn p07_batches_in_which_things_end() {
    for how in 0..6 {
        for kind in 0..2 {
            let (host, foe) = start();
            let all: Vec<_> = (0..50).map(|_| host.objects().spawn("/Script/Game.Foe").expect("born")).collect();
            let victims = all.clone();
            let times = std::rc::Rc::new(std::cell::Cell::new(0));
            host.calls()
                .register("host.act", Signature::default(), move |host, _| {
                    times.set(times.get() + 1);
                    if times.get() != 5 {
                        return Ok(None);
                    }
                    match how {
                        0 => {
                            for it in &victims[10..] {
                                host.objects().destroy(*it);
                            }
                            host.safe_point();
                        }
                        1 => {
                            for it in &victims {
                                host.objects().destroy(*it);
                            }
                            for _ in 0..100 {
                                let _b = host.objects().spawn("/Script/Game.Foe");
                            }
                        }
                        2 => eprintln!(
                            "   {:?}",
                            host.reload(&[siege()]).map(|it| it.is_committed()).map_err(|e| short(e.to_string()))
                        ),
                        3 => eprintln!("   {:?}", host.unload_master().map(|_| ()).map_err(|e| short(e.to_string()))),
                        4 => {
                            host.clone().shutdown();
                        }
                        _ => {
                            let _s =
                                host.calls().observe(alcedo_runtime::zcall::Observed { counts: true, spans: true });
                            let _c = host.collection().collect();
                        }
                    }
                    Ok(None)
                })
                .expect("free");
            host.calls().call("uf:/Script/Game.Foe:arm", &[Value::U32(20), Value::U32(5)]).expect("armed");
            if kind == 0 {
                let batch = host.batch::<(u64,), u64>("uf:/Script/Game.Foe:poke").expect("found");
                let said = batch
                    .collect(&all, (1,))
                    .map(|it| (it.0.iter().flatten().count(), it.1.ended, it.1.failed.len()))
                    .map_err(|e| short(e.to_string()));
                eprintln!("{how} host: {said:?}");
                eprintln!(
                    "   again {:?}",
                    batch.collect(&all, (1,)).map(|it| it.1.ended).map_err(|e| short(e.to_string()))
                );
            } else {
                eprintln!(
                    "{how} plugin: {}",
                    ask(&host, foe, "each", &[Value::Array(all.iter().map(|it| Value::Object(*it)).collect())])
                );
            }
            if how != 4 {
                host.calls().call("uf:/Script/Game.Foe:arm", &[Value::U32(0), Value::U32(0)]).ok();
                if host.modules().is_empty() {
                    host.create_master(&[siege()]).expect("made");
                }
                goes_on(&host);
            }
            eprintln!("   {:?}", host.shutdown().left);
        }
    }
}

/// The digest of a world before and after reloads that change nothing, with all that objects can have.
#[test]
fn p08_digests() {
    let (host, foe) = start();
    let other = host.objects().spawn("/Script/Game.Foe").expect("born");
    host.objects().call(foe, "fill", &[]).expect("filled");
    host.objects().call(foe, "bind", &[Value::Object(other)]).expect("bound");
    let name = |it: &str| Value::Name(host.intern(it));
    host.objects()
        .set(
            foe,
            "many",
            &Value::Map(
                (0..20)
                    .map(|at| (name(&format!("k{at}")), Value::Array(vec![Value::Text(format!("v{at}"))])))
                    .collect(),
            ),
        )
        .expect("set");
    host.objects().set(foe, "partner", &Value::Object(other)).expect("set");
    let hash = host.worlds().hash();
    let folder = tempfile::tempdir().expect("a folder");
    let world = folder.path().join("w");
    host.worlds().save(&world).expect("saved");
    for at in 0..6 {
        let report =
            if at % 2 == 0 { host.reload(&[support::plugin("siege", &["another"])]) } else { host.reload(&[siege()]) }
                .expect("a Master");
        assert!(report.is_committed(), "{report}");
        eprintln!("{at}: same {} {}", hash == host.worlds().hash(), ask(&host, foe, "kept_text", &[]));
    }
    let report = host.reload(&[support::plugin("siege", &["v2"])]).expect("a Master");
    eprintln!("{}", short(report.to_string()));
    // A world of v1 in v2, saved there, and read in v1.
    eprintln!(
        "load in v2: {:?}",
        host.worlds().load(&world).map(|it| (it.objects, it.fields_lost, it.properties)).map_err(|e| e.to_string())
    );
    host.worlds().save(&world).expect("saved");
    host.reload(&[siege()]).expect("a Master");
    for it in host.objects().all() {
        if host.objects().class_of(it).as_deref() == Some("/Script/Game.Foe") {
            eprintln!(
                "  after the undo: {} rows {:?}",
                ask(&host, it, "kept_text", &[]),
                host.objects().get(it, "rows")
            );
        }
    }
    eprintln!(
        "load in v1: {:?}",
        host.worlds().load(&world).map(|it| (it.objects, it.fields_lost, it.properties)).map_err(|e| e.to_string())
    );
    for it in host.objects().all() {
        if host.objects().class_of(it).as_deref() == Some("/Script/Game.Foe") {
            eprintln!(
                "  {} {:?}",
                ask(&host, it, "kept_text", &[]),
                host.objects().get(it, "many").map(|it| format!("{it:?}").len())
            );
        }
    }
    host.shutdown();
}
