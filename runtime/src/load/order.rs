//! In which order modules start: each after all it needs. Only manifests go in, so a set that cannot start is
//! refused before any of its code is mapped.

use std::collections::HashMap;

use semver::{Version, VersionReq};
use thiserror::Error;

/// Name, version and build of a module, as all errors and reports say them.
pub(crate) fn titled(name: &str, version: &Version, build_id: u128) -> String {
    format!("{name} {version} (build {build_id:032x})")
}

/// What a module's manifest says about itself and its needs.
#[derive(Clone, Debug)]
pub(crate) struct OrderInput {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Version,
    /// Differs between builds that differ.
    pub build_id: u128,
    /// The modules it needs, and the versions of each that will do.
    pub dependencies: Vec<(String, VersionReq)>,
}

impl OrderInput {
    fn title(&self) -> String {
        titled(&self.name, &self.version, self.build_id)
    }
}

/// Why a set of modules cannot start.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum OrderError {
    /// One name, one build.
    #[error("two modules are named `{name}`, {first} and {second}: load one of them, or rename one")]
    Duplicate {
        /// The name.
        name: String,
        /// Name, version and build of the first in the row.
        first: String,
        /// The same of the second.
        second: String,
    },
    /// No module has the name.
    #[error("`{needed_by}` needs `{name}` {range}, and {} offered: add its library", list(offered))]
    Missing {
        /// The module that needs it.
        needed_by: String,
        /// What it needs.
        name: String,
        /// In which versions.
        range: VersionReq,
        /// The names of the modules there are.
        offered: Vec<String>,
    },
    /// The name is there in a version that will not do.
    #[error("`{needed_by}` needs `{name}` {range}, and {offered} is offered: load one in that range, or change it")]
    OutOfRange {
        /// The module that needs it.
        needed_by: String,
        /// What it needs.
        name: String,
        /// In which versions.
        range: VersionReq,
        /// The version there is.
        offered: Version,
    },
    /// Modules that need each other.
    #[error("modules need each other: {}; take out one of these dependencies", path.join(" → "))]
    Cycle {
        /// The modules in the order of need; the first stands at the end again.
        path: Vec<String>,
    },
}

/// What modules need that none of them is: by whom, name and versions, in their order.
pub(crate) fn needs_beyond<'a, M: Iterator<Item = (&'a str, &'a [(String, VersionReq)])> + Clone>(
    modules: M,
) -> Vec<(&'a str, &'a str, &'a VersionReq)> {
    let is_here = |name: &str| modules.clone().any(|(other, _)| other == name);
    let needs = modules.clone().flat_map(|(by, needs)| needs.iter().map(move |(name, range)| (by, &**name, range)));
    needs.filter(|(_, name, _)| !is_here(name)).collect()
}

/// The places of the modules in the order of their start. Among those that could start next, the one that comes
/// first in `modules` does.
///
/// # Errors
/// The first fault: names that are there twice, then needs that are not met, then a cycle.
pub(crate) fn order(modules: &[OrderInput]) -> Result<Vec<usize>, OrderError> {
    let places = places(modules)?;
    let needs = modules.iter().map(|module| needs(module, modules, &places)).collect::<Result<Vec<_>, _>>()?;
    let mut row = Vec::with_capacity(modules.len());
    let mut started = vec![false; modules.len()];
    while row.len() < modules.len() {
        let ready = |&at: &usize| !started[at] && needs[at].iter().all(|&need| started[need]);
        let Some(next) = (0..modules.len()).find(ready) else { return Err(cycle(modules, &needs, &started)) };
        started[next] = true;
        row.push(next);
    }
    Ok(row)
}

fn places(modules: &[OrderInput]) -> Result<HashMap<&str, usize>, OrderError> {
    let mut places = HashMap::with_capacity(modules.len());
    for (at, module) in modules.iter().enumerate() {
        if let Some(first) = places.insert(module.name.as_str(), at) {
            return Err(OrderError::Duplicate {
                name: module.name.clone(),
                first: modules[first].title(),
                second: module.title(),
            });
        }
    }
    Ok(places)
}

fn needs(module: &OrderInput, modules: &[OrderInput], places: &HashMap<&str, usize>) -> Result<Vec<usize>, OrderError> {
    let place = |dependency: &(String, VersionReq)| {
        let (name, range) = dependency.clone();
        let needed_by = module.name.clone();
        let Some(&at) = places.get(name.as_str()) else {
            let offered = modules.iter().filter(|other| other.name != needed_by).map(|other| other.name.clone());
            return Err(OrderError::Missing { offered: offered.collect(), needed_by, name, range });
        };
        match &modules[at].version {
            version if range.matches(version) => Ok(at),
            version => Err(OrderError::OutOfRange { needed_by, name, range, offered: version.clone() }),
        }
    };
    module.dependencies.iter().map(place).collect()
}

/// A cycle among the modules that could not start. Each of them needs another of them, so following needs comes
/// back to where it was; the error begins with the member that comes first in `modules`.
fn cycle(modules: &[OrderInput], needs: &[Vec<usize>], started: &[bool]) -> OrderError {
    let waits_for = |at: usize| needs[at].iter().copied().find(|&need| !started[need]);
    let mut walked: Vec<usize> = Vec::new();
    let mut next = started.iter().position(|started| !started);
    while let Some(at) = next {
        if let Some(from) = walked.iter().position(|&before| before == at) {
            walked.drain(..from);
            break;
        }
        walked.push(at);
        next = waits_for(at);
    }
    let first = (0..walked.len()).min_by_key(|&at| walked[at]).unwrap_or(0);
    walked.rotate_left(first);
    let path = walked.iter().chain(walked.first()).map(|&at| modules[at].name.clone());
    OrderError::Cycle { path: path.collect() }
}

/// What there is to choose from, in words.
pub(crate) fn list(names: &[String]) -> String {
    match names {
        [] => "nothing else is".to_owned(),
        [name] => format!("only `{name}` is"),
        names => format!("only `{}` are", names.join("`, `")),
    }
}

#[cfg(test)]
mod tests {
    use super::{OrderInput, needs_beyond, order};

    /// `a 1.2.0: b ^1, c *; b 1.0.0` is two modules.
    fn read(text: &str) -> Vec<OrderInput> {
        let module = |text: &str| {
            let (head, needs) = text.split_once(':').unwrap_or((text, ""));
            let (name, version) = head.trim().split_once(' ').expect("name and version");
            let need = |text: &str| {
                let (name, range) = text.trim().split_once(' ').expect("name and range");
                (name.to_owned(), range.parse().expect("a range"))
            };
            OrderInput {
                name: name.to_owned(),
                version: version.parse().expect("a version"),
                build_id: version.len() as u128,
                dependencies: needs.split(',').filter(|need| !need.trim().is_empty()).map(need).collect(),
            }
        };
        text.split(';').filter(|module| !module.trim().is_empty()).map(module).collect()
    }

    fn check(text: &str, expected: &str) {
        let modules = read(text);
        let found = match order(&modules) {
            Ok(row) => row.iter().map(|&at| modules[at].name.as_str()).collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn each_module_starts_after_all_it_needs() {
        check("", "");
        check("a 1.0.0; b 1.0.0; c 1.0.0", "a b c");
        check("a 1.0.0: b *; b 1.0.0: c *; c 1.0.0", "c b a");
        check("a 1.0.0: d *; b 1.0.0; c 1.0.0; d 1.0.0", "b c d a");
        check("top 1.0.0: left *, right *; right 1.0.0: base *; left 1.0.0: base *; base 1.0.0", "base right left top");
        check("a 1.0.0: b *, b ^1; b 1.2.0", "b a");
    }

    #[test]
    fn what_nobody_of_a_set_is_is_looked_for_elsewhere() {
        let modules = read("a 1.0.0: b ^1, c ^2; b 1.0.0: c *, d *; e 1.0.0");
        let beyond = needs_beyond(modules.iter().map(|module| (&*module.name, &*module.dependencies)));
        let beyond: Vec<_> = beyond.iter().map(|(by, name, range)| format!("{by} {name} {range}")).collect();
        assert_eq!(beyond, ["a c ^2", "b c *", "b d *"]);
    }

    #[test]
    fn a_missing_module_is_told_with_its_range_and_what_there_is() {
        check(
            "a 1.0.0: b ^1.2; c 1.0.0; d 1.0.0",
            "`a` needs `b` ^1.2, and only `c`, `d` are offered: add its library",
        );
        check("a 1.0.0: b *; c 1.0.0", "`a` needs `b` *, and only `c` is offered: add its library");
        check("a 1.0.0: b *", "`a` needs `b` *, and nothing else is offered: add its library");
    }

    #[test]
    fn a_version_out_of_range_is_told_with_both() {
        check(
            "a 1.0.0: b ^1.2; b 2.0.0",
            "`a` needs `b` ^1.2, and 2.0.0 is offered: load one in that range, or change it",
        );
        check(
            "a 1.0.0: b >=1.0.0; b 1.0.0-beta",
            "`a` needs `b` >=1.0.0, and 1.0.0-beta is offered: load one in that range, or change it",
        );
    }

    #[test]
    fn a_cycle_is_printed_from_its_first_member() {
        let way_out = "; take out one of these dependencies";
        check("a 1.0.0: b *; b 1.0.0: a *", &format!("modules need each other: a → b → a{way_out}"));
        check("a 1.0.0: a *", &format!("modules need each other: a → a{way_out}"));
        check(
            "x 1.0.0: c *; ok 1.0.0; a 1.0.0: b *; b 1.0.0: ok *, c *; c 1.0.0: a *",
            &format!("modules need each other: a → b → c → a{way_out}"),
        );
    }

    #[test]
    fn two_modules_of_one_name_are_refused() {
        check(
            "a 1.0.0; a 1.1.0",
            "two modules are named `a`, a 1.0.0 (build 00000000000000000000000000000005) and a 1.1.0 (build \
             00000000000000000000000000000005): load one of them, or rename one",
        );
    }
}
