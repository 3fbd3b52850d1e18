//! Every verb of a runtime, with arguments that do something: for tests that call them where nobody expects it. The list is
//! compared with the sources, so that a new verb comes into it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use alcedo_runtime::zcall::{Answer, PlainProtocol, ZCallName};
use alcedo_runtime::{
    AnyConjugate, Budget, Declined, ObjectHandle, ReloadScope, Runtime, Signature, Value, ZCallFunction,
};

/// What a verb does, so far as a lent slice is concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Touch {
    /// Changes or ends values, or runs code: refused while any slice is out.
    Changes,
    /// Reads values: refused while a slice is out that may be written.
    Reads,
    /// Touches no value, or cannot be refused and then does nothing.
    Nothing,
}

use Touch::{Changes, Nothing, Reads};

/// What a verb works with.
pub(crate) struct Tools {
    /// One of the attacker's holders.
    pub(crate) holder: ObjectHandle,
    /// A black of the host's.
    pub(crate) black: AnyConjugate,
    /// The library that the Master was made of.
    pub(crate) library: std::path::PathBuf,
    /// A world that was saved.
    pub(crate) world: std::path::PathBuf,
}

type Verb = (&'static str, Touch, fn(&Runtime, &Tools) -> Result<(), String>);

fn said<T, E: std::fmt::Display>(result: Result<T, E>) -> Result<(), String> {
    result.map(drop).map_err(|error| error.to_string())
}

/// Runs what gives no result.
macro_rules! quiet {
    (|$host:ident, $tools:ident| $call:expr) => {
        |$host: &Runtime, $tools: &Tools| {
            let _ = (&$host, &$tools);
            let _answer = $call;
            Ok(())
        }
    };
}

/// Those that can go wrong with an error, first; then those that cannot.
pub(crate) const VERBS: &[Verb] = &[
    ("create_master", Changes, |host, tools| said(host.create_master(&[&tools.library]))),
    ("reload", Changes, |host, tools| said(host.reload(&[&tools.library]))),
    ("reload_changed", Changes, |host, tools| said(host.reload_changed(&[&tools.library]))),
    ("unload_master", Changes, |host, _| said(host.unload_master())),
    ("set", Changes, |host, tools| said(host.set(tools.holder, "numbers", &Value::Array(vec![Value::U64(9); 4096])))),
    ("call", Changes, |host, tools| said(host.call(tools.holder, "sum", &[]))),
    ("zcall", Changes, |host, tools| said(host.zcall("uf:/Script/Game.Holder:sum", &[Value::Object(tools.holder)]))),
    ("spawn", Changes, |host, _| said(host.spawn("/Script/Game.Holder"))),
    ("spawn_in", Changes, |host, tools| said(host.spawn_in("/Script/Game.Holder", tools.holder))),
    ("spawn_of", Changes, |host, _| said(host.class("/Script/Game.Holder").and_then(|class| host.spawn_of(&class)))),
    ("spawn_of_in", Changes, |host, tools| {
        said(host.class("/Script/Game.Holder").and_then(|class| host.spawn_of_in(&class, tools.holder)))
    }),
    ("write_conjugate", Changes, |host, tools| said(host.write_conjugate(tools.black, &Value::Array(Vec::new())))),
    ("collect", Changes, |host, _| said(host.collect())),
    ("point", Changes, |host, tools| said(host.point(tools.holder, "friend", tools.holder))),
    ("point_at_class", Changes, |host, tools| said(host.point_at_class(tools.holder, "class", "/Script/Game.Holder"))),
    ("point_at_field", Changes, |host, tools| {
        said(host.point_at_field(tools.holder, "field", "/Script/Game.Holder:numbers"))
    }),
    ("bind_delegate", Changes, |host, tools| said(host.bind_delegate(tools.holder, "listeners", tools.holder, "fill"))),
    ("unbind_delegate", Changes, |host, tools| {
        said(host.unbind_delegate(tools.holder, "listeners", tools.holder, "fill"))
    }),
    ("save_world", Changes, |host, tools| said(host.save_world(tools.world.with_extension("again")))),
    ("load_world", Changes, |host, tools| said(host.load_world(&tools.world))),
    ("drain_finalizers", Changes, |host, _| said(host.drain_finalizers(Duration::ZERO))),
    ("wait_for_unloads", Changes, |host, _| said(host.wait_for_unloads(Duration::ZERO))),
    ("park", Changes, |host, _| said(host.park(1))),
    ("world().set", Changes, |host, tools| {
        said(host.world().write(tools.holder, "numbers", &Value::Array(Vec::new())))
    }),
    ("get", Reads, |host, tools| said(host.get(tools.holder, "numbers"))),
    ("world().read", Reads, |host, tools| said(host.world().read(tools.holder, "numbers"))),
    ("read_conjugate", Reads, |host, tools| said(host.read_conjugate(tools.black))),
    ("clone_conjugate", Reads, |host, tools| said(host.clone_conjugate(tools.black))),
    ("resolve", Reads, |host, tools| said(host.resolve(tools.holder, "friend"))),
    ("resolve_class", Reads, |host, tools| said(host.resolve_class(tools.holder, "class"))),
    ("resolve_field", Reads, |host, tools| said(host.resolve_field(tools.holder, "field"))),
    ("broadcast", Nothing, quiet!(|host, tools| host.broadcast(tools.holder, "listeners", &[]))),
    ("request_reload", Nothing, quiet!(|host, tools| host.request_reload(vec![tools.library.clone()]))),
    ("request_reload_of", Nothing, |host, tools| {
        host.request_reload_of(vec![tools.library.clone()], ReloadScope::Changed);
        Ok(())
    }),
    ("take_reloads", Nothing, quiet!(|host, tools| host.take_reloads())),
    ("watch", Nothing, quiet!(|host, tools| host.watch())),
    ("watch_changed", Nothing, quiet!(|host, tools| host.watch_changed())),
    ("generation", Nothing, quiet!(|host, tools| host.generation())),
    ("modules", Nothing, quiet!(|host, tools| host.modules())),
    ("module_generations", Nothing, quiet!(|host, tools| host.module_generations())),
    ("contexts", Nothing, quiet!(|host, tools| host.contexts())),
    ("color_of", Nothing, quiet!(|host, tools| host.color_of(tools.holder))),
    ("parked", Nothing, quiet!(|host, tools| host.parked())),
    ("stage_dir", Nothing, quiet!(|host, tools| host.stage_dir())),
    ("destroy", Nothing, quiet!(|host, tools| host.destroy(tools.holder))),
    ("is_alive", Nothing, quiet!(|host, tools| host.is_alive(tools.holder))),
    ("objects", Nothing, quiet!(|host, tools| host.objects())),
    ("class_of", Nothing, quiet!(|host, tools| host.class_of(tools.holder))),
    ("name_of", Nothing, quiet!(|host, tools| host.name_of(tools.holder))),
    ("dormant_class", Nothing, quiet!(|host, tools| host.dormant_class(tools.holder))),
    ("outer_of", Nothing, quiet!(|host, tools| host.outer_of(tools.holder))),
    ("is_a", Nothing, quiet!(|host, tools| host.is_a(tools.holder, "/Script/Game.Holder"))),
    ("is_subclass", Nothing, quiet!(|host, tools| host.is_subclass("/Script/Game.Holder", "/Script/Core.Object"))),
    ("has_type", Nothing, quiet!(|host, tools| host.has_type("/Script/Game.Holder"))),
    ("implements", Nothing, quiet!(|host, tools| host.implements("/Script/Game.Holder", "/Script/Game.None"))),
    ("redirect", Nothing, quiet!(|host, tools| host.redirect("/Script/Game.Left", "/Script/Game.Right"))),
    ("dynamic_classes", Nothing, quiet!(|host, tools| host.dynamic_classes())),
    ("find_in", Nothing, quiet!(|host, tools| host.find_in(ObjectHandle::NONE, "Holder_0"))),
    ("rename", Nothing, quiet!(|host, tools| host.rename(tools.holder, "Renamed", ObjectHandle::NONE))),
    ("add_root", Nothing, quiet!(|host, tools| host.add_root(tools.holder))),
    ("is_root", Nothing, quiet!(|host, tools| host.is_root(tools.holder))),
    (
        "remove_root",
        Nothing,
        quiet!(|host, tools| {
            host.remove_root(tools.holder);
            host.add_root(tools.holder)
        }),
    ),
    ("properties_of", Nothing, quiet!(|host, tools| host.properties_of(tools.holder))),
    ("zcall_resolve", Nothing, quiet!(|host, tools| host.zcall_resolve("uf:/Script/Game.Holder:sum"))),
    (
        "zcall_handle",
        Nothing,
        quiet!(|host, tools| {
            let handle = host.zcall_resolve("uf:/Script/Game.Holder:sum").unwrap_or_default();
            host.zcall_handle(handle, &[Value::Object(tools.holder)])
        }),
    ),
    (
        "register",
        Nothing,
        quiet!(|host, tools| {
            let signature: Signature = "u64".parse().expect("a signature");
            host.register("attack.count", signature, |_, _| Ok(None))
        }),
    ),
    (
        "register_pure",
        Nothing,
        quiet!(|host, tools| {
            let signature: Signature = "u64".parse().expect("a signature");
            host.register_pure("attack.pure", signature, |_, _| Ok(None))
        }),
    ),
    (
        "add_zcall_resolver",
        Nothing,
        quiet!(|host, tools| {
            host.add_zcall_resolver("attack", |_: &Runtime, _: &str| Err::<ZCallFunction, _>(Declined::from("no")))
        }),
    ),
    ("add_protocol", Nothing, quiet!(|host, tools| host.add_protocol(PlainProtocol::new("attack-odd")))),
    (
        "add_resolver",
        Nothing,
        quiet!(|host, tools| {
            host.add_resolver("attack-odd", 0, "none", |_: &ZCallName| Ok(Answer::declined("no")))
        }),
    ),
    ("intern", Nothing, quiet!(|host, tools| host.intern("a name"))),
    ("text", Nothing, quiet!(|host, tools| host.text(host.intern("a name")))),
    ("world", Nothing, quiet!(|host, tools| host.world().object_count())),
    ("tick", Nothing, quiet!(|host, tools| host.tick(Budget::frame()))),
    ("safe_point", Nothing, quiet!(|host, tools| host.safe_point())),
    ("post_handle", Nothing, quiet!(|host, tools| host.post_handle().post(|host| drop(host.objects())))),
    ("game_time", Nothing, quiet!(|host, tools| host.game_time())),
    ("errands", Nothing, quiet!(|host, tools| host.errands())),
    ("digest", Nothing, quiet!(|host, tools| host.digest())),
    ("world_digest", Nothing, quiet!(|host, tools| host.world_digest())),
    ("counters", Nothing, quiet!(|host, tools| host.counters())),
    ("class", Nothing, quiet!(|host, tools| host.class("/Script/Game.Holder"))),
    ("blacks", Nothing, quiet!(|host, tools| host.blacks())),
    ("keep_black_sites", Nothing, quiet!(|host, tools| host.keep_black_sites(true))),
    ("lend", Nothing, quiet!(|host, tools| host.lend(tools.holder, "numbers"))),
    (
        "make_black",
        Nothing,
        quiet!(|host, tools| {
            host.make_black("Array(u64)", &Value::Array(Vec::new())).map(|black| host.drop_black(black))
        }),
    ),
    ("drop_black", Nothing, quiet!(|host, tools| host.drop_black(AnyConjugate::from_number(1)))),
    ("conjugate", Nothing, quiet!(|host, tools| host.conjugate(tools.black))),
    ("is_expired", Nothing, quiet!(|host, tools| host.is_expired(tools.black))),
    ("collect_in_slices", Nothing, quiet!(|host, tools| host.collect_in_slices())),
    ("is_collecting", Nothing, quiet!(|host, tools| host.is_collecting())),
    ("take_collected", Nothing, quiet!(|host, tools| host.take_collected())),
    ("load_contexts", Nothing, quiet!(|host, tools| host.load_contexts().all())),
    ("context_of_object", Nothing, quiet!(|host, tools| host.context_of_object(tools.holder))),
    ("path_of", Nothing, quiet!(|host, tools| host.path_of(tools.holder))),
    ("object_at", Nothing, quiet!(|host, tools| host.object_at("/World/Holder_0"))),
    ("lazy_id_of", Nothing, quiet!(|host, tools| host.lazy_id_of(tools.holder))),
    ("object_of_lazy_id", Nothing, quiet!(|host, tools| host.object_of_lazy_id(1))),
    ("on_unloading", Nothing, quiet!(|host, tools| host.on_unloading(0, |_host, _generation| {}))),
    ("downgrade", Nothing, quiet!(|host, tools| host.downgrade())),
    ("lease", Nothing, quiet!(|host, tools| host.lease("attacker", "a test"))),
    ("lease_master", Nothing, quiet!(|host, tools| host.lease_master("a test"))),
    ("leases", Nothing, quiet!(|host, tools| host.leases())),
    (
        "request_unload",
        Nothing,
        quiet!(|host, tools| {
            host.request_unload();
            // It would end the scenario: the request after it makes the reload moot, and is taken back with it.
        }),
    ),
    ("take_unloads", Nothing, quiet!(|host, tools| host.take_unloads())),
    ("unloads", Nothing, quiet!(|host, tools| host.unloads())),
    ("console", Nothing, quiet!(|host, tools| host.console("help"))),
    ("console objects", Nothing, quiet!(|host, tools| host.console("objects"))),
    ("console spawn", Nothing, quiet!(|host, tools| host.console("spawn /Script/Game.Holder"))),
    ("complete", Nothing, quiet!(|host, tools| host.complete("show "))),
    ("describe", Nothing, quiet!(|host, tools| host.describe(tools.holder))),
    ("is_asked_to_end", Nothing, quiet!(|host, tools| host.is_asked_to_end())),
    ("wait", Nothing, quiet!(|host, tools| host.wait(Duration::ZERO))),
    ("shutdown", Nothing, quiet!(|host, tools| host.clone().shutdown())),
];

/// What stands in the sources as `pub fn` of a runtime, and takes one.
fn declared() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = vec![root.join("runtime.rs"), root.join("console.rs")];
    let parts = fs::read_dir(root.join("runtime")).expect("its parts");
    files.extend(parts.map(|part| part.expect("an entry").path()));
    let mut names = Vec::new();
    for file in files {
        let source = fs::read_to_string(&file).expect("a source");
        let of_runtime = source.split("\nimpl ").filter(|block| block.starts_with("Runtime {"));
        for rest in of_runtime.flat_map(|block| block.split("\n    pub fn ").skip(1)) {
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if name != "builder" {
                names.push(name);
            }
        }
    }
    names
}

#[test]
fn the_list_of_verbs_is_complete() {
    let missing: Vec<_> = declared().into_iter().filter(|name| !VERBS.iter().any(|(verb, ..)| verb == name)).collect();
    assert!(declared().len() > 80, "{:?}", declared());
    assert!(missing.is_empty(), "these are not called where nobody expects it: {missing:?}");
}
