//! Confirms that the running code is the code that was built. The host calls each module to get the module's build id, and the session
//! compares this id with the id in the library file. A generation is reported as live only after this confirmation.

use std::collections::BTreeMap;
use std::path::PathBuf;

use alcedo_runtime::ManifestInfo;

/// Build ids by module.
pub(super) type Builds = BTreeMap<String, String>;

/// Reads the build ids of libraries from their files. Omits packages of scripts, because these have no library file.
pub(super) fn expected(libraries: &[PathBuf]) -> Builds {
    let manifests = libraries.iter().filter_map(|library| ManifestInfo::peek(library).ok());
    manifests.map(|manifest| (manifest.name, format!("{:032x}", manifest.build_id))).collect()
}

/// Returns an error message for each module whose running build differs from the expected build.
pub(super) fn problems(expected: &Builds, running: &Builds) -> Vec<String> {
    let problem = |(module, build): (&String, &String)| match running.get(module) {
        Some(found) if found == build => None,
        Some(found) => Some(format!("{module} runs build {found}, and the library has build {build}")),
        None => Some(format!("{module} did not return its build id: build it with the plugin API of this tool")),
    };
    expected.iter().filter_map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::{Builds, problems};

    #[test]
    fn code_is_confirmed_by_the_id_that_it_returns_itself() {
        let builds = |text: &str| -> Builds {
            let pairs = text.split_whitespace().map(|pair| pair.split_once('=').unwrap());
            pairs.map(|(module, build)| (module.to_owned(), build.to_owned())).collect()
        };
        let check = |running: &str, expected: &[&str]| {
            assert_eq!(problems(&builds("cube=1 lamp=2"), &builds(running)), expected, "{running}");
        };
        check("cube=1 lamp=2", &[]);
        check("cube=1 lamp=2 scripts=3", &[]);
        check("cube=0 lamp=2", &["cube runs build 0, and the library has build 1"]);
        check("cube=1", &["lamp did not return its build id: build it with the plugin API of this tool"]);
    }
}
