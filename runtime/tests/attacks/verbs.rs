//! Every verb of a runtime, with arguments that do something: for tests that call them where nobody expects it. The list is
//! compared with the sources, so that a new verb comes into it.

use std::fs;
use std::path::Path;
use std::time::Duration;

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
    ("set", Changes, |host, tools| {
        said(host.objects().set(tools.holder, "numbers", &Value::Array(vec![Value::U64(9); 4096])))
    }),
    ("call", Changes, |host, tools| said(host.objects().call(tools.holder, "sum", &[]))),
    ("zcall", Changes, |host, tools| {
        said(host.calls().call("uf:/Script/Game.Holder:sum", &[Value::Object(tools.holder)]))
    }),
    ("spawn", Changes, |host, _| said(host.objects().spawn("/Script/Game.Holder"))),
    ("spawn_in", Changes, |host, tools| said(host.objects().spawn_in("/Script/Game.Holder", tools.holder))),
    ("spawn_of", Changes, |host, _| {
        said(host.types().class("/Script/Game.Holder").and_then(|class| host.objects().spawn_of(&class)))
    }),
    ("spawn_of_in", Changes, |host, tools| {
        said(
            host.types()
                .class("/Script/Game.Holder")
                .and_then(|class| host.objects().spawn_of_in(&class, tools.holder)),
        )
    }),
    ("write_conjugate", Changes, |host, tools| said(host.conjugates().write(tools.black, &Value::Array(Vec::new())))),
    ("collect", Changes, |host, _| said(host.collection().collect())),
    ("point", Changes, |host, tools| said(host.links().point(tools.holder, "friend", tools.holder))),
    ("point_at_class", Changes, |host, tools| {
        said(host.links().point_at_class(tools.holder, "class", "/Script/Game.Holder"))
    }),
    ("point_at_field", Changes, |host, tools| {
        said(host.links().point_at_field(tools.holder, "field", "/Script/Game.Holder:numbers"))
    }),
    ("bind_delegate", Changes, |host, tools| said(host.links().bind(tools.holder, "listeners", tools.holder, "fill"))),
    ("unbind_delegate", Changes, |host, tools| {
        said(host.links().unbind(tools.holder, "listeners", tools.holder, "fill"))
    }),
    ("save_world", Changes, |host, tools| said(host.worlds().save(tools.world.with_extension("again")))),
    ("load_world", Changes, |host, tools| said(host.worlds().load(&tools.world))),
    ("drain_finalizers", Changes, |host, _| said(host.drain_finalizers(Duration::ZERO))),
    ("wait_for_unloads", Changes, |host, _| said(host.unloads().wait(Duration::ZERO))),
    ("park", Changes, |host, _| said(host.unloads().park(1))),
    ("world().set", Changes, |host, tools| {
        said(host.world().write(tools.holder, "numbers", &Value::Array(Vec::new())))
    }),
    ("get", Reads, |host, tools| said(host.objects().get(tools.holder, "numbers"))),
    ("world().read", Reads, |host, tools| said(host.world().read(tools.holder, "numbers"))),
    ("read_conjugate", Reads, |host, tools| said(host.conjugates().read(tools.black))),
    ("clone_conjugate", Reads, |host, tools| said(host.conjugates().copy(tools.black))),
    ("resolve", Reads, |host, tools| said(host.links().resolve(tools.holder, "friend"))),
    ("resolve_class", Reads, |host, tools| said(host.links().resolve_class(tools.holder, "class"))),
    ("resolve_field", Reads, |host, tools| said(host.links().resolve_field(tools.holder, "field"))),
    ("broadcast", Nothing, quiet!(|host, tools| host.links().broadcast(tools.holder, "listeners", &[]))),
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
    ("contexts", Nothing, quiet!(|host, tools| host.unloads().generations())),
    ("color_of", Nothing, quiet!(|host, tools| host.conjugates().color_of(tools.holder))),
    ("parked", Nothing, quiet!(|host, tools| host.unloads().parked())),
    ("stage_dir", Nothing, quiet!(|host, tools| host.stage_dir())),
    ("destroy", Nothing, quiet!(|host, tools| host.objects().destroy(tools.holder))),
    ("is_alive", Nothing, quiet!(|host, tools| host.objects().is_alive(tools.holder))),
    ("objects", Nothing, quiet!(|host, tools| host.objects().all())),
    ("class_of", Nothing, quiet!(|host, tools| host.objects().class_of(tools.holder))),
    ("name_of", Nothing, quiet!(|host, tools| host.objects().name_of(tools.holder))),
    ("dormant_class", Nothing, quiet!(|host, tools| host.objects().dormant_class(tools.holder))),
    ("outer_of", Nothing, quiet!(|host, tools| host.objects().outer_of(tools.holder))),
    ("is_a", Nothing, quiet!(|host, tools| host.objects().is_a(tools.holder, "/Script/Game.Holder"))),
    (
        "is_subclass",
        Nothing,
        quiet!(|host, tools| host.types().is_subclass("/Script/Game.Holder", "/Script/Core.Object")),
    ),
    ("has_type", Nothing, quiet!(|host, tools| host.types().has("/Script/Game.Holder"))),
    ("implements", Nothing, quiet!(|host, tools| host.types().implements("/Script/Game.Holder", "/Script/Game.None"))),
    ("redirect", Nothing, quiet!(|host, tools| host.types().redirect("/Script/Game.Left", "/Script/Game.Right"))),
    ("dynamic_classes", Nothing, quiet!(|host, tools| host.types().dynamic_classes())),
    ("find_in", Nothing, quiet!(|host, tools| host.objects().find_in(ObjectHandle::NONE, "Holder_0"))),
    ("rename", Nothing, quiet!(|host, tools| host.objects().rename(tools.holder, "Renamed", ObjectHandle::NONE))),
    ("add_root", Nothing, quiet!(|host, tools| host.objects().add_root(tools.holder))),
    ("is_root", Nothing, quiet!(|host, tools| host.objects().is_root(tools.holder))),
    (
        "remove_root",
        Nothing,
        quiet!(|host, tools| {
            host.objects().remove_root(tools.holder);
            host.objects().add_root(tools.holder)
        }),
    ),
    ("properties_of", Nothing, quiet!(|host, tools| host.objects().properties_of(tools.holder))),
    ("zcall_resolve", Nothing, quiet!(|host, tools| host.calls().resolve("uf:/Script/Game.Holder:sum"))),
    (
        "zcall_handle",
        Nothing,
        quiet!(|host, tools| {
            let handle = host.calls().resolve("uf:/Script/Game.Holder:sum").unwrap_or_default();
            host.calls().call_handle(handle, &[Value::Object(tools.holder)])
        }),
    ),
    (
        "register",
        Nothing,
        quiet!(|host, tools| {
            let signature: Signature = "u64".parse().expect("a signature");
            host.calls().register("attack.count", signature, |_, _| Ok(None))
        }),
    ),
    (
        "register_pure",
        Nothing,
        quiet!(|host, tools| {
            let signature: Signature = "u64".parse().expect("a signature");
            host.calls().register_pure("attack.pure", signature, |_, _| Ok(None))
        }),
    ),
    (
        "add_zcall_resolver",
        Nothing,
        quiet!(|host, tools| {
            host.calls().add_resolver("attack", |_: &Runtime, _: &str| Err::<ZCallFunction, _>(Declined::from("no")))
        }),
    ),
    ("intern", Nothing, quiet!(|host, tools| host.intern("a name"))),
    ("text", Nothing, quiet!(|host, tools| host.text(host.intern("a name")))),
    ("world", Nothing, quiet!(|host, tools| host.world().object_count())),
    ("tick", Nothing, quiet!(|host, tools| host.tick(Budget::frame()))),
    ("safe_point", Nothing, quiet!(|host, tools| host.safe_point())),
    ("post_handle", Nothing, quiet!(|host, tools| host.post_handle().post(|host| drop(host.objects().all())))),
    ("game_time", Nothing, quiet!(|host, tools| host.game_time())),
    ("errands", Nothing, quiet!(|host, tools| host.errands())),
    ("digest", Nothing, quiet!(|host, tools| host.worlds().hash())),
    ("world_digest", Nothing, quiet!(|host, tools| host.worlds().digest())),
    ("counters", Nothing, quiet!(|host, tools| host.counters())),
    ("class", Nothing, quiet!(|host, tools| host.types().class("/Script/Game.Holder"))),
    ("blacks", Nothing, quiet!(|host, tools| host.conjugates().blacks())),
    ("keep_black_sites", Nothing, quiet!(|host, tools| host.conjugates().keep_sites(true))),
    ("lend", Nothing, quiet!(|host, tools| host.conjugates().lend(tools.holder, "numbers"))),
    (
        "make_black",
        Nothing,
        quiet!(|host, tools| {
            host.conjugates()
                .make("Array(u64)", &Value::Array(Vec::new()))
                .map(|black| host.conjugates().give_back(black))
        }),
    ),
    ("drop_black", Nothing, quiet!(|host, tools| host.conjugates().give_back(AnyConjugate::from_number(1)))),
    ("conjugate", Nothing, quiet!(|host, tools| host.conjugates().info(tools.black))),
    ("is_expired", Nothing, quiet!(|host, tools| host.conjugates().is_expired(tools.black))),
    ("collect_in_slices", Nothing, quiet!(|host, tools| host.collection().begin_in_slices())),
    ("is_collecting", Nothing, quiet!(|host, tools| host.collection().is_under_way())),
    ("take_collected", Nothing, quiet!(|host, tools| host.collection().take_done())),
    ("load_contexts", Nothing, quiet!(|host, tools| host.contexts().all())),
    ("context_of_object", Nothing, quiet!(|host, tools| host.objects().context_of(tools.holder))),
    ("path_of", Nothing, quiet!(|host, tools| host.objects().path_of(tools.holder))),
    ("object_at", Nothing, quiet!(|host, tools| host.objects().at_path("/World/Holder_0"))),
    ("lazy_id_of", Nothing, quiet!(|host, tools| host.links().lazy_id_of(tools.holder))),
    ("object_of_lazy_id", Nothing, quiet!(|host, tools| host.links().object_of_lazy_id(1))),
    ("on_unloading", Nothing, quiet!(|host, tools| host.unloads().on_unloading(0, |_host, _generation| {}))),
    ("downgrade", Nothing, quiet!(|host, tools| host.downgrade())),
    ("lease", Nothing, quiet!(|host, tools| host.unloads().lease("attacker", "a test"))),
    ("lease_master", Nothing, quiet!(|host, tools| host.unloads().lease_master("a test"))),
    ("leases", Nothing, quiet!(|host, tools| host.unloads().leases())),
    (
        "request_unload",
        Nothing,
        quiet!(|host, tools| {
            host.request_unload();
            // It would end the scenario: the request after it makes the reload moot, and is taken back with it.
        }),
    ),
    ("take_unloads", Nothing, quiet!(|host, tools| host.take_unloads())),
    ("unloads", Nothing, quiet!(|host, tools| host.unloads().tickets())),
    ("console", Nothing, quiet!(|host, tools| host.console("help"))),
    ("console objects", Nothing, quiet!(|host, tools| host.console("objects"))),
    ("console spawn", Nothing, quiet!(|host, tools| host.console("spawn /Script/Game.Holder"))),
    ("complete", Nothing, quiet!(|host, tools| host.complete("show "))),
    ("describe", Nothing, quiet!(|host, tools| host.objects().describe(tools.holder))),
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
