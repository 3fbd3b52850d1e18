//! Dump of the world as lines of text, grouped into parts. Tests and tools compare the dumps from before a reload and after its rollback.
//! Equal dumps confirm that the rollback restored the world.
//!
//! In addition to values, the dump contains identities, such as addresses of bodies and keys of conjugates. The dump therefore detects a
//! rollback that replaces an object by an equal copy.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use crate::bridge::core::Core;
use crate::conjugate::pairs::ConjugateKey;
use crate::handles::ObjectHandle;
use crate::lease::LeaseKind;
use crate::load::master::Loads;
use crate::load::module::master::MasterModule;
use crate::object::body::Body;
use crate::object::class::Class;

/// Text form of all objects and registries that a rollback must restore. Digests are comparable only within one runtime.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
///
/// let runtime = Runtime::builder().build()?;
/// let digest = runtime.worlds().digest();
/// for part in digest.parts() {
///     println!("{part}: {} lines", digest.part(part).len());
/// }
/// assert_eq!(digest, runtime.worlds().digest());
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WorldDigest {
    parts: BTreeMap<&'static str, Vec<String>>,
}

impl WorldDigest {
    /// Returns the lines of one part. Returns an empty slice if the part does not exist.
    pub fn part(&self, name: &str) -> &[String] {
        self.parts.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the names of the parts.
    pub fn parts(&self) -> impl Iterator<Item = &'static str> {
        self.parts.keys().copied()
    }

    /// Returns one line per difference. For example, `objects - …` is a line of the part `objects` that only `self` contains. `objects + …`
    /// is a line that only `after` contains.
    pub fn differences(&self, after: &Self) -> Vec<String> {
        let names: std::collections::BTreeSet<_> = self.parts().chain(after.parts()).collect();
        let only = |sign: char, name: &str, these: &[String], those: &[String]| {
            let those: std::collections::HashSet<_> = those.iter().collect();
            let lines = these.iter().filter(|line| !those.contains(line));
            lines.map(|line| format!("{name} {sign} {line}")).collect::<Vec<_>>()
        };
        let mut found = Vec::new();
        for name in names {
            let (before, after) = (self.part(name), after.part(name));
            let count = found.len();
            found.extend(only('-', name, before, after));
            found.extend(only('+', name, after, before));
            if found.len() == count && before != after {
                found.push(format!("{name}: the same lines in another order, or more often"));
            }
        }
        found
    }
}

impl fmt::Display for WorldDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, lines) in &self.parts {
            lines.iter().try_for_each(|line| writeln!(f, "{name}: {line}"))?;
        }
        Ok(())
    }
}

pub(crate) fn digest(core: &Core, loads: &Loads) -> WorldDigest {
    let state = format!(
        "mode {}, {} red frames open, a collection is requested: {:?}",
        core.world.mode.get(),
        core.red.depth(),
        core.collection.requested.get()
    );
    let parts = BTreeMap::from([
        ("objects", objects(core)),
        ("values", values(core)),
        ("plugin-parts", plugin_parts(core)),
        ("types", types(core)),
        ("calls", calls(core)),
        ("modules", modules(loads)),
        ("jobs", jobs(core)),
        ("blacks", owned_values(core)),
        ("numbers", numbers(core)),
        ("leases", leases(loads)),
        ("files", files(loads)),
        ("state", vec![state]),
    ]);
    WorldDigest { parts }
}

/// Counts the living owned values of plugins and of the host, per type and module.
fn owned_values(core: &Core) -> Vec<String> {
    let report = core.owned_values.report();
    report
        .live
        .iter()
        .map(|black| format!("{} {} of {} {}", black.count, black.ty, black.module, black.generation))
        .collect()
}

/// Lists the ids of value types, and the ids of objects with lazy references.
fn numbers(core: &Core) -> Vec<String> {
    let mut lines = core.value_types.lines();
    lines.extend(core.world.lazy.lines());
    lines
}

/// Lists the leases on the Master's modules, and the modules that accept no leases. Omits posted closures, as in [`jobs`].
fn leases(loads: &Loads) -> Vec<String> {
    let of = |module: &Rc<MasterModule>| {
        let name = module.name();
        let leases = module.leases().report().into_iter().filter(|lease| lease.kind != LeaseKind::Posted);
        let leases = leases.map(|lease| format!("{name}: {} {} {:?}", lease.kind, lease.owner, lease.place));
        let sealed = module.leases().is_sealed().then(|| format!("{name}: sealed"));
        leases.chain(sealed).collect::<Vec<_>>()
    };
    let mut lines: Vec<_> = loads.modules().iter().flat_map(of).collect();
    lines.sort_unstable();
    lines
}

/// Lists the private copies of libraries. Omits the `.spare` files of unmapped images, because a rollback does not remove these files.
fn files(loads: &Loads) -> Vec<String> {
    let entries = std::fs::read_dir(loads.registry.stage_dir.path()).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<_> = names.filter(|name| !name.ends_with(".spare")).collect();
    names.sort_unstable();
    names
}

/// Lists the scheduled jobs of modules. Omits posted closures, because other threads may post during the reload.
fn jobs(core: &Core) -> Vec<String> {
    let infos = core.tasks.infos();
    infos.iter().filter(|job| job.kind != LeaseKind::Posted).map(|job| format!("{job:?}")).collect()
}

/// Lists the objects, including class default objects, and their relations.
fn objects(core: &Core) -> Vec<String> {
    let objects = &core.world.objects;
    let line = |object: &ObjectHandle| {
        let name = objects.name(*object).map(|name| core.world.names.text(name)).unwrap_or_default();
        let outer = objects.outer(*object).unwrap_or(ObjectHandle::NONE);
        let class = objects.class(*object).map(|class| class.path.to_string()).unwrap_or_default();
        let children: Vec<_> = objects.children(*object).iter().map(ToString::to_string).collect();
        format!(
            "{object} {name} of {class} in {outer}, flags {:#x}, root {}, parts [{}], constructed {}",
            objects.flags(*object).unwrap_or_default(),
            objects.is_root(*object),
            children.join(" "),
            objects.constructed(*object),
        )
    };
    objects.alive().iter().map(line).collect()
}

fn values(core: &Core) -> Vec<String> {
    let names = &core.world.names;
    let lines = |object: &ObjectHandle| {
        let of_body = |body: &Body| {
            let line = |property: &Rc<crate::object::property::Property>| {
                let value = body.view().read(property);
                let value = value.map_or_else(|error| error.to_string(), |value| value.print(names));
                format!("{object}.{} = {value}", property.text)
            };
            let asleep = body.dormant.iter().map(|dormant| format!("{object} keeps {dormant:?}"));
            let removed = body.removed.iter().map(|removed| format!("{object} keeps {removed:?}"));
            body.class().properties.iter().map(line).chain(asleep).chain(removed).collect::<Vec<_>>()
        };
        core.world.objects.with_body(*object, of_body).unwrap_or_default()
    };
    core.world.objects.alive().iter().flat_map(lines).collect()
}

/// Lists the body and the plugin part of each object.
fn plugin_parts(core: &Core) -> Vec<String> {
    let objects = &core.world.objects;
    let line = |object: &ObjectHandle| {
        let word = objects.conjugate(*object).unwrap_or_default();
        let key = ConjugateKey::from_word(word);
        let parts = key.map(|key| core.pairs.parts(key)).unwrap_or_default();
        let part = |part: &crate::conjugate::pairs::Part| {
            format!("{:?}@{:?} of {}", part.class, part.ptr.0, part.gate.tag().name)
        };
        format!(
            "{object} at {:?}, conjugate {word:#x} {:?} [{}] {:?}",
            objects.memory(*object).unwrap_or(std::ptr::null_mut()),
            key.and_then(|key| core.pairs.color(key)),
            parts.iter().map(part).collect::<Vec<_>>().join(", "),
            core.pairs.unbuilt(*object)
        )
    };
    objects.alive().iter().map(line).collect()
}

fn types(core: &Core) -> Vec<String> {
    let types = &core.world.types;
    let class = |class: &Rc<Class>| {
        let own = class.own_properties.iter().map(|property| format!("{}: {}", property.text, property.ty));
        let functions = class.own_functions.iter().map(|function| function.text.to_string());
        let vtable = class.vtable.iter().map(|function| function.path.to_string());
        format!(
            "class {} {:?} tag {} cdo {} {:?} fn {:?} vtable {:?} implements {:?}",
            class.path,
            class.id,
            class.tag,
            class.cdo.get(),
            own.collect::<Vec<_>>(),
            functions.collect::<Vec<_>>(),
            vtable.collect::<Vec<_>>(),
            class.interfaces,
        )
    };
    let mut lines: Vec<_> = types.classes().iter().map(class).collect();
    lines.extend(types.structs().iter().map(|found| format!("struct {} {:#x}", found.path, found.fingerprint())));
    lines.extend(types.delegates().iter().map(|found| format!("delegate {} {:#x}", found.path, found.fingerprint())));
    lines.extend(types.enums().iter().map(|found| format!("enum {} {:#x}", found.path, found.fingerprint())));
    lines.extend(types.interfaces().iter().map(|found| {
        let functions = found.functions.iter().map(|function| format!("{}({})", function.text, function.signature()));
        format!("interface {} {:?} fn {:?}", found.path, found.origin, functions.collect::<Vec<_>>())
    }));
    lines.extend(types.redirects().iter().map(|(from, to)| format!("redirect {from} to {to}")));
    lines.push(format!(
        "{} classes known by number, {} with hooks",
        types.all_classes().len(),
        core.hooks.borrow().iter().count()
    ));
    #[cfg(feature = "script")]
    lines.push(format!("{} packages of scripts have code", core.scripts.len()));
    lines
}

/// Lists the call handles of modules, and the registered functions, resolvers and exports. Omits call handles that belong to no module,
/// because the host may resolve names at any time.
fn calls(core: &Core) -> Vec<String> {
    let mut lines = core.zcalls.of_modules();
    lines.extend(core.explicit.lines());
    lines.extend(core.chain.lines());
    lines.extend(core.exports.lines());
    lines.sort_unstable();
    lines
}

fn modules(loads: &Loads) -> Vec<String> {
    let mut lines: Vec<_> = loads
        .registry
        .masters
        .states()
        .into_iter()
        .map(|(generation, state)| format!("generation {generation} is {state}"))
        .collect();
    if let Some(master) = loads.master() {
        lines.push(format!("Master of generation {} from {:?}", master.generation, master.paths));
        lines.extend(master.modules.iter().map(|module| {
            let (info, gate) = (module.info(), module.gate());
            format!(
                "{} {} build {:#x}, module {} of generation {}, open {}, {} inside",
                info.name,
                info.version,
                info.build_id,
                gate.tag().id.0,
                gate.tag().generation,
                gate.is_open(),
                gate.inside()
            )
        }));
    }
    lines.extend(loads.registry.masters.unloads().iter().flat_map(|(_, ticket)| ticket.parked_lines()));
    lines
}

#[cfg(test)]
mod tests {
    use super::WorldDigest;

    fn digest(objects: &[&str], values: &[&str]) -> WorldDigest {
        let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        WorldDigest { parts: [("objects", lines(objects)), ("values", lines(values))].into() }
    }

    #[test]
    fn a_difference_names_its_part_and_its_side() {
        let before = digest(&["a", "b"], &["1"]);
        assert_eq!(before.differences(&before), Vec::<String>::new());
        assert_eq!(before.differences(&digest(&["a", "c"], &["1"])), ["objects - b", "objects + c"]);
        assert_eq!(before.differences(&digest(&["a", "b"], &[])), ["values - 1"]);
        assert_eq!(
            before.differences(&digest(&["b", "a"], &["1"])),
            ["objects: the same lines in another order, or more often"]
        );
    }
}
