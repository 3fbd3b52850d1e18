//! Lists all public methods ("verbs") of a runtime, each with valid arguments. Tests call the verbs at unexpected moments. One test
//! compares the list with the sources, so every new method must be added to the list.

use std::fs;
use std::path::Path;
use std::time::Duration;

use alcedo_runtime::host::BatchReport;
use alcedo_runtime::native::{Obj, Object};
use alcedo_runtime::zcall::{Answer, Observed, PlainProtocol, ZCallName};
use alcedo_runtime::{
    AnyConjugate, Budget, CallError, Declined, HealthWatch, NetNames, ObjectHandle, ReloadScope, Runtime, Signature,
    Value, ZCallFunction,
};

/// Effect of a verb on borrowed slices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Touch {
    /// Changes or destroys values, or runs code. Refused while any slice is borrowed.
    Changes,
    /// Reads values. Refused while a slice is borrowed mutably.
    Reads,
    /// Accesses no value. A verb of this kind that cannot return an error has no effect while a slice is borrowed.
    Nothing,
}

use Touch::{Changes, Nothing, Reads};

pub(crate) struct Tools {
    /// Object of the attacker's class `Holder`.
    pub(crate) holder: ObjectHandle,
    /// Value in host memory that the host owns.
    pub(crate) black: AnyConjugate,
    /// Library of the Master.
    pub(crate) library: std::path::PathBuf,
    pub(crate) world: std::path::PathBuf,
}

/// Network peer without shared objects.
struct Nowhere;

impl NetNames for Nowhere {
    fn id(&self, _object: ObjectHandle) -> Option<u64> {
        None
    }

    fn object(&self, _id: u64) -> Option<ObjectHandle> {
        None
    }
}

alcedo_runtime::entry_table! {
    host struct Attack { hit: fn(u64) -> u64 }
}
alcedo_runtime::entry_table! {
    host struct PureAttack { hit: fn(u64) -> u64 }
}
alcedo_runtime::entry_table! {
    module struct Defense { parry: fn(u64) -> u64 }
}

type Verb = (&'static str, Touch, fn(&Runtime, &Tools) -> Result<(), String>);

fn outcome<T, E: std::fmt::Display>(result: Result<T, E>) -> Result<(), String> {
    result.map(drop).map_err(|error| error.to_string())
}

/// Wraps a verb that cannot fail.
macro_rules! quiet {
    (|$host:ident, $tools:ident| $call:expr) => {
        |$host: &Runtime, $tools: &Tools| {
            let _ = (&$host, &$tools);
            let _answer = $call;
            Ok(())
        }
    };
}

/// Fallible verbs first, then infallible verbs.
pub(crate) const VERBS: &[Verb] = &[
    ("create_master", Changes, |host, tools| outcome(host.create_master(&[&tools.library]))),
    ("objects().spawn_as", Changes, |host, _| outcome(host.objects().spawn_as::<Object>())),
    ("reload", Changes, |host, tools| outcome(host.reload(&[&tools.library]))),
    ("reload_changed", Changes, |host, tools| outcome(host.reload_changed(&[&tools.library]))),
    ("unload_master", Changes, |host, _| outcome(host.unload_master())),
    ("objects().set", Changes, |host, tools| {
        outcome(host.objects().set(tools.holder, "numbers", &Value::Array(vec![Value::U64(9); 4096])))
    }),
    ("objects().call", Changes, |host, tools| outcome(host.objects().call(tools.holder, "sum", &[]))),
    ("objects().call_as", Changes, |host, tools| outcome(host.objects().call_as::<i64>(tools.holder, "sum", ()))),
    ("objects().call_with_out_parameters", Changes, |host, tools| {
        outcome(host.objects().call_with_out_parameters(tools.holder, "sum", &[]))
    }),
    ("calls().call", Changes, |host, tools| {
        outcome(host.calls().call("uf:/Script/Game.Holder:sum", &[Value::Object(tools.holder)]))
    }),
    ("objects().spawn", Changes, |host, _| outcome(host.objects().spawn("/Script/Game.Holder"))),
    ("objects().spawn_in", Changes, |host, tools| {
        outcome(host.objects().spawn_in("/Script/Game.Holder", tools.holder))
    }),
    ("conjugates().write", Changes, |host, tools| {
        outcome(host.conjugates().write(tools.black, &Value::Array(Vec::new())))
    }),
    ("collection().collect", Changes, |host, _| outcome(host.collection().collect())),
    ("links().point", Changes, |host, tools| outcome(host.links().point(tools.holder, "friend", tools.holder))),
    ("links().point_at_class", Changes, |host, tools| {
        outcome(host.links().point_at_class(tools.holder, "class", "/Script/Game.Holder"))
    }),
    ("links().point_at_field", Changes, |host, tools| {
        outcome(host.links().point_at_field(tools.holder, "field", "/Script/Game.Holder:numbers"))
    }),
    ("links().bind", Changes, |host, tools| {
        outcome(host.links().bind(tools.holder, "listeners", tools.holder, "fill"))
    }),
    ("links().unbind", Changes, |host, tools| {
        outcome(host.links().unbind(tools.holder, "listeners", tools.holder, "fill"))
    }),
    ("worlds().save", Changes, |host, tools| outcome(host.worlds().save(tools.world.with_extension("again")))),
    ("worlds().load", Changes, |host, tools| outcome(host.worlds().load(&tools.world))),
    ("drain_finalizers", Changes, |host, _| outcome(host.drain_finalizers(Duration::ZERO))),
    ("unloads().wait", Changes, |host, _| outcome(host.unloads().wait(Duration::ZERO))),
    ("unloads().park", Changes, |host, _| outcome(host.unloads().park(1))),
    ("world().set", Changes, |host, tools| {
        outcome(host.world().write(tools.holder, "numbers", &Value::Array(Vec::new())))
    }),
    ("objects().get", Reads, |host, tools| outcome(host.objects().get(tools.holder, "numbers"))),
    ("world().read", Reads, |host, tools| outcome(host.world().read(tools.holder, "numbers"))),
    ("conjugates().read", Reads, |host, tools| outcome(host.conjugates().read(tools.black))),
    ("conjugates().copy", Reads, |host, tools| outcome(host.conjugates().copy(tools.black))),
    ("links().resolve", Reads, |host, tools| outcome(host.links().resolve(tools.holder, "friend"))),
    ("links().resolve_class", Reads, |host, tools| outcome(host.links().resolve_class(tools.holder, "class"))),
    ("links().resolve_field", Reads, |host, tools| outcome(host.links().resolve_field(tools.holder, "field"))),
    ("links().broadcast", Nothing, quiet!(|host, tools| host.links().broadcast(tools.holder, "listeners", &[]))),
    ("request_reload", Nothing, quiet!(|host, tools| host.request_reload(vec![tools.library.clone()]))),
    ("request_reload_of", Nothing, |host, tools| {
        host.request_reload_of(vec![tools.library.clone()], ReloadScope::Changed);
        Ok(())
    }),
    ("take_reloads", Nothing, quiet!(|host, tools| host.take_reloads())),
    // The next verb ends this health watch, so that no later verb calls the health function.
    ("watch_health", Nothing, quiet!(|host, tools| host.watch_health(HealthWatch::new(Duration::ZERO, |_| Ok(()))))),
    ("watch", Nothing, quiet!(|host, tools| host.watch())),
    ("watch_changed", Nothing, quiet!(|host, tools| host.watch_changed())),
    ("may_call", Nothing, quiet!(|host, tools| host.may_call())),
    ("generation", Nothing, quiet!(|host, tools| host.generation())),
    ("modules", Nothing, quiet!(|host, tools| host.modules())),
    ("unloads().generations", Nothing, quiet!(|host, tools| host.unloads().generations())),
    ("conjugates().color_of", Nothing, quiet!(|host, tools| host.conjugates().color_of(tools.holder))),
    ("unloads().parked", Nothing, quiet!(|host, tools| host.unloads().parked())),
    ("stage_dir", Nothing, quiet!(|host, tools| host.stage_dir())),
    ("objects().destroy", Nothing, quiet!(|host, tools| host.objects().destroy(tools.holder))),
    ("objects().is_alive", Nothing, quiet!(|host, tools| host.objects().is_alive(tools.holder))),
    ("objects().iter", Nothing, quiet!(|host, tools| host.objects().iter())),
    ("objects().class_of", Nothing, quiet!(|host, tools| host.objects().class_of(tools.holder))),
    ("objects().name_of", Nothing, quiet!(|host, tools| host.objects().name_of(tools.holder))),
    ("objects().dormant_class", Nothing, quiet!(|host, tools| host.objects().dormant_class(tools.holder))),
    ("objects().outer_of", Nothing, quiet!(|host, tools| host.objects().outer_of(tools.holder))),
    ("objects().is_a", Nothing, quiet!(|host, tools| host.objects().is_a(tools.holder, "/Script/Game.Holder"))),
    (
        "types().is_subclass",
        Nothing,
        quiet!(|host, tools| host.types().is_subclass("/Script/Game.Holder", "/Script/Core.Object")),
    ),
    ("types().has", Nothing, quiet!(|host, tools| host.types().has("/Script/Game.Holder"))),
    ("types().delegate", Nothing, quiet!(|host, tools| host.types().delegate("/Script/Game.None"))),
    (
        "types().struct_extends",
        Nothing,
        quiet!(|host, tools| host.types().struct_extends("/Script/Game.Left", "/Script/Game.Right")),
    ),
    ("types().member_flags", Nothing, quiet!(|host, tools| host.types().member_flags("/Script/Game.Holder:none"))),
    ("types().member_meta", Nothing, quiet!(|host, tools| host.types().member_meta("/Script/Game.Holder:none", "key"))),
    (
        "types().implements",
        Nothing,
        quiet!(|host, tools| host.types().implements("/Script/Game.Holder", "/Script/Game.None")),
    ),
    (
        "types().redirect",
        Nothing,
        quiet!(|host, tools| host.types().redirect("/Script/Game.Left", "/Script/Game.Right")),
    ),
    ("types().declared_by", Nothing, quiet!(|host, tools| host.types().declared_by("steady"))),
    ("types().declared_natives", Nothing, quiet!(|host, tools| host.types().declared_natives())),
    ("types().dynamic_classes", Nothing, quiet!(|host, tools| host.types().dynamic_classes())),
    ("types().parse", Nothing, quiet!(|host, tools| host.types().parse("Array(u64)", "(1, 2)"))),
    ("types().print", Nothing, quiet!(|host, tools| host.types().print(&Value::Object(tools.holder)))),
    ("objects().cast", Nothing, quiet!(|host, tools| host.objects().cast::<Object>(tools.holder))),
    (
        "objects().with",
        Nothing,
        quiet!(|host, tools| host.objects().with(Obj::<Object>::new(tools.holder), |holder| holder.name())),
    ),
    ("function", Nothing, quiet!(|host, tools| host.function::<(u64,), u64>("ex:/attack.none").map(drop))),
    ("property", Nothing, quiet!(|host, tools| host.property::<u64>("up:/Script/Game.Holder:none").map(drop))),
    ("batch", Nothing, quiet!(|host, tools| host.batch::<(u64,), u64>("uf:/Script/Game.Holder:none").map(drop))),
    ("list", Nothing, quiet!(|host, tools| host.list("/Script/Game.Holder").refresh(host))),
    ("objects().find_in", Nothing, quiet!(|host, tools| host.objects().find_in(ObjectHandle::NONE, "Holder_0"))),
    (
        "objects().rename",
        Nothing,
        quiet!(|host, tools| host.objects().rename(tools.holder, "Renamed", ObjectHandle::NONE)),
    ),
    ("objects().add_root", Nothing, quiet!(|host, tools| host.objects().add_root(tools.holder))),
    ("objects().is_root", Nothing, quiet!(|host, tools| host.objects().is_root(tools.holder))),
    (
        "objects().remove_root",
        Nothing,
        quiet!(|host, tools| {
            host.objects().remove_root(tools.holder);
            host.objects().add_root(tools.holder)
        }),
    ),
    ("objects().properties_of", Nothing, quiet!(|host, tools| host.objects().properties_of(tools.holder))),
    ("calls().resolve", Nothing, quiet!(|host, tools| host.calls().resolve("uf:/Script/Game.Holder:sum"))),
    (
        "calls().call_handle",
        Nothing,
        quiet!(|host, tools| {
            let handle = host.calls().resolve("uf:/Script/Game.Holder:sum").unwrap_or_default();
            host.calls().call_handle(handle, &[Value::Object(tools.holder)])
        }),
    ),
    (
        "calls().register",
        Nothing,
        quiet!(|host, tools| {
            let signature: Signature = "u64".parse().expect("a signature");
            host.calls().register("attack.count", signature, |_, _| Ok(None))
        }),
    ),
    (
        "calls().register_pure",
        Nothing,
        quiet!(|host, tools| {
            let signature: Signature = "u64".parse().expect("a signature");
            host.calls().register_pure("attack.pure", signature, |_, _| Ok(None))
        }),
    ),
    (
        "calls().register_typed",
        Nothing,
        quiet!(|host, tools| host.calls().register_typed("attack.typed", |_, (number,): (u64,)| number)),
    ),
    (
        "calls().register_leaf",
        Nothing,
        quiet!(|host, tools| host.calls().register_leaf("attack.leaf", |(number,): (u64,)| number)),
    ),
    (
        "calls().register_shared",
        Nothing,
        quiet!(|host, tools| {
            let signature: Signature = "u64".parse().expect("a signature");
            host.calls().register_shared("attack.shared", signature, |_| Ok(None))
        }),
    ),
    (
        "calls().call_with_out_parameters",
        Nothing,
        quiet!(|host, tools| {
            host.calls().call_with_out_parameters("uf:/Script/Game.Holder:sum", &[Value::Object(tools.holder)])
        }),
    ),
    ("calls().explain", Nothing, quiet!(|host, tools| host.calls().explain("uf:/Script/Game.Holder:sum"))),
    (
        "calls().observe",
        Nothing,
        quiet!(|host, tools| {
            let before = host.calls().observed();
            host.calls().observe(Observed { counts: true, spans: true });
            host.calls().observe(before);
        }),
    ),
    ("calls().observed", Nothing, quiet!(|host, tools| host.calls().observed())),
    ("calls().times", Nothing, quiet!(|host, tools| host.calls().times())),
    ("calls().clear_times", Nothing, quiet!(|host, tools| host.calls().clear_times())),
    ("tables().offer", Nothing, quiet!(|host, tools| host.tables().offer(Attack { hit: |number| number }))),
    (
        "tables().offer_pure",
        Nothing,
        quiet!(|host, tools| host.tables().offer_pure(PureAttack { hit: |number| number })),
    ),
    ("tables().expect", Nothing, quiet!(|host, tools| host.tables().expect::<Defense>())),
    ("tables().of_module", Nothing, quiet!(|host, tools| host.tables().of_module::<Defense>("attacker"))),
    ("links().delegate", Nothing, quiet!(|host, tools| host.links().delegate::<fn()>(tools.holder, "fill"))),
    // The holder has no struct property, so both verbs refuse the property `numbers`. `get` and `set` cover other reads and writes.
    ("net_write", Nothing, quiet!(|host, tools| host.net_write(tools.holder, "numbers", &Nowhere))),
    ("net_read", Nothing, quiet!(|host, tools| host.net_read(tools.holder, "numbers", &[0], &Nowhere))),
    (
        "calls().add_value_resolver",
        Nothing,
        quiet!(|host, tools| {
            host.calls()
                .add_value_resolver("attack", |_: &Runtime, _: &str| Err::<ZCallFunction, _>(Declined::from("no")))
        }),
    ),
    (
        "calls().add_protocol",
        Nothing,
        quiet!(|host, tools| host.calls().add_protocol(PlainProtocol::new("attack-odd"))),
    ),
    (
        "calls().add_resolver",
        Nothing,
        quiet!(|host, tools| {
            host.calls().add_resolver("attack-odd", 0, "none", |_: &ZCallName| Ok(Answer::declined("no")))
        }),
    ),
    ("intern", Nothing, quiet!(|host, tools| host.intern("a name"))),
    ("text", Nothing, quiet!(|host, tools| host.text(host.intern("a name")))),
    ("world", Nothing, quiet!(|host, tools| host.world().object_count())),
    ("tick", Nothing, quiet!(|host, tools| host.tick(Budget::frame()))),
    ("safe_point", Nothing, quiet!(|host, tools| host.safe_point())),
    ("registrations", Nothing, quiet!(|host, tools| drop(host.registrations()))),
    ("post_handle", Nothing, quiet!(|host, tools| host.post_handle().post(|host| drop(host.objects().iter())))),
    ("game_time", Nothing, quiet!(|host, tools| host.game_time())),
    ("jobs", Nothing, quiet!(|host, tools| host.jobs())),
    ("worlds().hash", Nothing, quiet!(|host, tools| host.worlds().hash())),
    ("worlds().digest", Nothing, quiet!(|host, tools| host.worlds().digest())),
    ("counters", Nothing, quiet!(|host, tools| host.counters())),
    ("types().class", Nothing, quiet!(|host, tools| host.types().class("/Script/Game.Holder"))),
    ("conjugates().owned_values", Nothing, quiet!(|host, tools| host.conjugates().owned_values())),
    ("conjugates().keep_sites", Nothing, quiet!(|host, tools| host.conjugates().keep_sites(true))),
    ("conjugates().borrow", Nothing, quiet!(|host, tools| host.conjugates().borrow(tools.holder, "numbers"))),
    (
        "conjugates().make",
        Nothing,
        quiet!(|host, tools| {
            host.conjugates()
                .make("Array(u64)", &Value::Array(Vec::new()))
                .map(|black| host.conjugates().give_back(black))
        }),
    ),
    (
        "conjugates().give_back",
        Nothing,
        quiet!(|host, tools| host.conjugates().give_back(AnyConjugate::from_number(1))),
    ),
    ("conjugates().info", Nothing, quiet!(|host, tools| host.conjugates().info(tools.black))),
    ("conjugates().is_expired", Nothing, quiet!(|host, tools| host.conjugates().is_expired(tools.black))),
    ("collection().begin_in_slices", Nothing, quiet!(|host, tools| host.collection().begin_in_slices())),
    ("collection().is_in_progress", Nothing, quiet!(|host, tools| host.collection().is_in_progress())),
    ("collection().take_done", Nothing, quiet!(|host, tools| host.collection().take_done())),
    ("contexts", Nothing, quiet!(|host, tools| host.contexts().all())),
    ("objects().context_of", Nothing, quiet!(|host, tools| host.objects().context_of(tools.holder))),
    ("objects().path_of", Nothing, quiet!(|host, tools| host.objects().path_of(tools.holder))),
    ("objects().at_path", Nothing, quiet!(|host, tools| host.objects().at_path("/World/Holder_0"))),
    ("links().lazy_id_of", Nothing, quiet!(|host, tools| host.links().lazy_id_of(tools.holder))),
    ("links().object_of_lazy_id", Nothing, quiet!(|host, tools| host.links().object_of_lazy_id(1))),
    ("unloads().on_unloading", Nothing, quiet!(|host, tools| host.unloads().on_unloading(0, |_host, _generation| {}))),
    ("downgrade", Nothing, quiet!(|host, tools| host.downgrade())),
    ("unloads().lease", Nothing, quiet!(|host, tools| host.unloads().lease("attacker", "a test"))),
    ("unloads().lease_master", Nothing, quiet!(|host, tools| host.unloads().lease_master("a test"))),
    ("unloads().leases", Nothing, quiet!(|host, tools| host.unloads().leases())),
    (
        "request_unload",
        Nothing,
        quiet!(|host, tools| {
            host.request_unload();
            // `every_log_line_leaves_stores_unborrowed_and_every_verb_returns` skips this verb, because the unload would end its scene. The
            // request for an unload discards a pending request for a reload.
        }),
    ),
    ("take_unloads", Nothing, quiet!(|host, tools| host.take_unloads())),
    ("unloads().tickets", Nothing, quiet!(|host, tools| host.unloads().tickets())),
    ("console", Nothing, quiet!(|host, tools| host.console("help"))),
    ("console objects", Nothing, quiet!(|host, tools| host.console("objects"))),
    ("console spawn", Nothing, quiet!(|host, tools| host.console("spawn /Script/Game.Holder"))),
    ("complete", Nothing, quiet!(|host, tools| host.complete("show "))),
    ("objects().describe", Nothing, quiet!(|host, tools| host.objects().describe(tools.holder))),
    (
        "objects().log_failure",
        Nothing,
        quiet!(|host, tools| host.objects().log_failure("attack", tools.holder, &CallError::other("an attack").into())),
    ),
    (
        "objects().log_failures",
        Nothing,
        quiet!(|host, tools| {
            let mut report = BatchReport::default();
            report.failed = vec![(tools.holder, CallError::other("an attack").into())];
            host.objects().log_failures("attack", &report)
        }),
    ),
    ("shutdown_requested", Nothing, quiet!(|host, tools| host.shutdown_requested())),
    ("wait", Nothing, quiet!(|host, tools| host.wait(Duration::ZERO))),
    ("shutdown", Nothing, quiet!(|host, tools| host.clone().shutdown())),
];

/// Types that group methods, each with the runtime method that returns the group.
const GROUPS: [(&str, &str); 9] = [
    ("Objects", "objects"),
    ("Types", "types"),
    ("Calls", "calls"),
    ("Tables", "tables"),
    ("Links", "links"),
    ("Conjugates", "conjugates"),
    ("Unloads", "unloads"),
    ("Worlds", "worlds"),
    ("Collection", "collection"),
];

/// Returns the names of all `pub fn` of the runtime and its groups that take `&self`, as read from the sources.
fn declared() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = vec![root.join("runtime.rs"), root.join("console.rs")];
    let mut folders = vec![root.join("runtime")];
    while let Some(folder) = folders.pop() {
        let parts = fs::read_dir(folder).expect("its parts").map(|part| part.expect("an entry").path());
        let (below, sources): (Vec<_>, Vec<_>) = parts.partition(|part| part.is_dir());
        folders.extend(below);
        files.extend(sources);
    }
    let mut names = Vec::new();
    for file in files {
        let source = fs::read_to_string(&file).expect("a source");
        for block in source.split("\nimpl ") {
            let group = GROUPS.iter().find(|(group, _)| block.starts_with(&format!("{group}<'_> {{")));
            if group.is_none() && !block.starts_with("Runtime {") {
                continue;
            }
            for rest in block.split("\n    pub fn ").skip(1) {
                let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                match group {
                    Some((_, group)) => names.push(format!("{group}().{name}")),
                    None if name == "builder" || GROUPS.iter().any(|(_, group)| *group == name) => {}
                    None => names.push(name),
                }
            }
        }
    }
    names
}

#[test]
fn the_list_of_verbs_is_complete() {
    let missing: Vec<_> = declared().into_iter().filter(|name| !VERBS.iter().any(|(verb, ..)| verb == name)).collect();
    assert!(declared().len() > 80, "{:?}", declared());
    assert!(missing.is_empty(), "the list lacks these verbs: {missing:?}");
}
