//! Start order of modules. Each module starts after its dependencies. The order is computed from the manifests, so an invalid set of
//! modules is rejected before any code is mapped.

use std::collections::HashMap;

use semver::{Version, VersionReq};
use thiserror::Error;

use crate::object::order::by_need;

pub(crate) fn titled(name: &str, version: &Version, build_id: u128) -> String {
    format!("{name} {version} (build {build_id:032x})")
}

/// Name, version, build and dependencies of a module, from its manifest.
#[derive(Clone, Debug)]
pub(crate) struct OrderInput {
    pub name: String,
    pub version: Version,
    /// Id of the build. Different builds have different ids.
    pub build_id: u128,
    /// Required modules, each with the accepted versions.
    pub dependencies: Vec<(String, VersionReq)>,
}

impl OrderInput {
    fn title(&self) -> String {
        titled(&self.name, &self.version, self.build_id)
    }
}

/// Reason why a set of modules cannot start.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum OrderError {
    /// Two modules have equal names.
    #[error("two modules are named `{name}`, {first} and {second}: load one of them, or rename one")]
    Duplicate {
        /// Name of both modules.
        name: String,
        /// Name, version and build of the first module.
        first: String,
        /// Name, version and build of the second module.
        second: String,
    },
    /// The set contains no module with the required name.
    #[error("`{needed_by}` needs `{name}` {range}, and {} passed: add its library", list(offered))]
    Missing {
        /// Name of the dependent module.
        needed_by: String,
        /// Name of the required module.
        name: String,
        /// Versions that the dependent module accepts.
        range: VersionReq,
        /// Names of the modules in the set.
        offered: Vec<String>,
    },
    /// The required module has a version outside of the accepted range.
    #[error("`{needed_by}` needs `{name}` {range}, and {offered} is offered: load one in that range, or change it")]
    OutOfRange {
        /// Name of the dependent module.
        needed_by: String,
        /// Name of the required module.
        name: String,
        /// Versions that the dependent module accepts.
        range: VersionReq,
        /// Version of the module in the set.
        offered: Version,
    },
    /// Modules depend on each other in a cycle.
    #[error("modules need each other: {}; take out one of these dependencies", path.join(" → "))]
    Cycle {
        /// Names of the modules in the cycle. Each module depends on the next module in the list. The last name repeats the first name.
        path: Vec<String>,
    },
}

/// Returns the dependencies on modules outside of `modules`, in order. Each entry contains the dependent module, the name of the
/// dependency, and the accepted versions.
pub(crate) fn needs_beyond<'a, M: Iterator<Item = (&'a str, &'a [(String, VersionReq)])> + Clone>(
    modules: M,
) -> Vec<(&'a str, &'a str, &'a VersionReq)> {
    let is_here = |name: &str| modules.clone().any(|(other, _)| other == name);
    let needs = modules.clone().flat_map(|(by, needs)| needs.iter().map(move |(name, range)| (by, &**name, range)));
    needs.filter(|(_, name, _)| !is_here(name)).collect()
}

/// Returns the indices of the modules in start order. Among the modules that could start next, the first module in `modules` is chosen.
/// Checks for duplicate names first, then for missing dependencies, and then for cycles.
pub(crate) fn order(modules: &[OrderInput]) -> Result<Vec<usize>, OrderError> {
    let mut indexes = HashMap::with_capacity(modules.len());
    for (at, module) in modules.iter().enumerate() {
        if let Some(first) = indexes.insert(module.name.as_str(), at) {
            let (first, second) = (modules[first].title(), module.title());
            return Err(OrderError::Duplicate { name: module.name.clone(), first, second });
        }
    }
    let offered = modules.iter().map(|module| (&*module.name, &module.version));
    let needs_of = |module: &OrderInput| {
        let found = module.dependencies.iter().map(|need| find_needed(&module.name, need, offered.clone()));
        found.collect::<Result<Vec<_>, _>>()
    };
    let needs = modules.iter().map(needs_of).collect::<Result<Vec<_>, _>>()?;
    by_need(modules.len(), |at| needs[at].clone()).map_err(|cycle| cycle_error(modules, cycle))?;
    let mut row = Vec::with_capacity(modules.len());
    let mut started = vec![false; modules.len()];
    while let Some(next) = (0..modules.len()).find(|&at| !started[at] && needs[at].iter().all(|&need| started[need])) {
        started[next] = true;
        row.push(next);
    }
    Ok(row)
}

/// Returns the index of the required module in `offered`. Returns an error if the module is missing, or if its version is not accepted.
pub(crate) fn find_needed<'a>(
    needed_by: &str,
    (name, range): &(String, VersionReq),
    offered: impl Iterator<Item = (&'a str, &'a Version)> + Clone,
) -> Result<usize, OrderError> {
    let found = offered.clone().enumerate().find(|(_, (other, _))| **other == **name);
    let (needed_by, name, range) = (needed_by.to_owned(), name.clone(), range.clone());
    match found {
        Some((at, (_, version))) if range.matches(version) => Ok(at),
        Some((_, (_, version))) => Err(OrderError::OutOfRange { needed_by, name, range, offered: version.clone() }),
        None => {
            let offered = offered.map(|(other, _)| other.to_owned()).filter(|other| *other != needed_by).collect();
            Err(OrderError::Missing { needed_by, name, range, offered })
        }
    }
}

/// Returns the error for a cycle. The error lists the cycle from its module with the lowest index in `modules`.
fn cycle_error(modules: &[OrderInput], mut cycle: Vec<usize>) -> OrderError {
    let first = (0..cycle.len()).min_by_key(|&at| cycle[at]).unwrap_or(0);
    cycle.rotate_left(first);
    let path = cycle.iter().chain(cycle.first()).map(|&at| modules[at].name.clone());
    OrderError::Cycle { path: path.collect() }
}

pub(crate) fn list(names: &[String]) -> String {
    match names {
        [] => "no other library was".to_owned(),
        [name] => format!("only `{name}` was"),
        names => format!("only `{}` were", names.join("`, `")),
    }
}

#[cfg(test)]
mod tests {
    use super::{OrderInput, needs_beyond, order};

    /// Parses modules for a test. For example, `a 1.2.0: b ^1, c *; b 1.0.0` describes two modules.
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
    fn dependencies_outside_a_set_are_searched_elsewhere() {
        let modules = read("a 1.0.0: b ^1, c ^2; b 1.0.0: c *, d *; e 1.0.0");
        let beyond = needs_beyond(modules.iter().map(|module| (&*module.name, &*module.dependencies)));
        let beyond: Vec<_> = beyond.iter().map(|(by, name, range)| format!("{by} {name} {range}")).collect();
        assert_eq!(beyond, ["a c ^2", "b c *", "b d *"]);
    }

    #[test]
    fn a_missing_module_is_reported_with_range_and_available_modules() {
        check(
            "a 1.0.0: b ^1.2; c 1.0.0; d 1.0.0",
            "`a` needs `b` ^1.2, and only `c`, `d` were passed: add its library",
        );
        check("a 1.0.0: b *; c 1.0.0", "`a` needs `b` *, and only `c` was passed: add its library");
        check("a 1.0.0: b *", "`a` needs `b` *, and no other library was passed: add its library");
    }

    #[test]
    fn a_version_out_of_range_is_reported_with_both() {
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
        let help = "; take out one of these dependencies";
        check("a 1.0.0: b *; b 1.0.0: a *", &format!("modules need each other: a → b → a{help}"));
        check("a 1.0.0: a *", &format!("modules need each other: a → a{help}"));
        check(
            "x 1.0.0: c *; ok 1.0.0; a 1.0.0: b *; b 1.0.0: ok *, c *; c 1.0.0: a *",
            &format!("modules need each other: a → b → c → a{help}"),
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
