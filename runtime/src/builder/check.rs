//! What packages of scripts mean in a host, without loading them: for `alcedo check`, and for tools that read what they declare.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::emit::scripts::{check_and_declare, declare_library};
use crate::load::declared::{Declared, ScriptCheck, of_package};
use crate::object::World;
use crate::script::package::Package;

/// Checks these packages, each after those whose types it names.
pub(super) fn check(world: &World, folders: &[PathBuf]) -> Vec<ScriptCheck> {
    // What has one of its paths is found by whoever loads a package.
    let _declared = declare_library(world);
    let mut found: BTreeMap<usize, ScriptCheck> = BTreeMap::new();
    let mut packages = Vec::new();
    for (at, folder) in folders.iter().enumerate() {
        let package = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let empty = ScriptCheck {
            folder: folder.clone(),
            package,
            files: 0,
            declared: Ok(Declared::default()),
            warnings: String::new(),
        };
        match Package::read(folder) {
            Ok(read) => packages.push((at, ScriptCheck { files: read.sources.len(), ..empty }, read)),
            Err(error) => drop(found.insert(at, ScriptCheck { declared: Err(error.to_string()), ..empty })),
        }
    }
    while !packages.is_empty() {
        let names = |package: &Package| -> BTreeSet<String> {
            let bare = package.outline.types.iter().filter_map(|path| path.rsplit_once('.'));
            bare.map(|(_, name)| name.to_ascii_lowercase()).collect()
        };
        let waits = |(at, _, package): &(usize, ScriptCheck, Package)| {
            let others = packages.iter().filter(|(other, ..)| other != at);
            others.into_iter().any(|(_, _, other)| !names(other).is_disjoint(&package.outline.words))
        };
        // Of packages that name each other, the first comes first: what it does not find, it names.
        let next = packages.iter().position(|package| !waits(package)).unwrap_or(0);
        let (at, mut checked, package) = packages.remove(next);
        world.types.declare_package(&package.name);
        checked.declared = match check_and_declare(world, &package) {
            Ok(found) => {
                checked.warnings = found.warnings;
                Ok(of_package(world, &package.name))
            }
            Err(error) => Err(error.to_string()),
        };
        found.insert(at, checked);
    }
    found.into_values().collect()
}
