//! Creates the builds between which the test reloads. The builds differ only in an id. Each library is compiled once, and each build is a
//! sealed copy of the library that contains the id of the build.

use crate::args::Args;
use crate::plan::Build;
use alcedo_build::{PluginFolder, Switches, Variants};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// Ids of the builds. Three builds suffice to distinguish stale code of the previous build from stale code of the build before it.
const TAGS: [u64; 3] = [1, 2, 3];

/// Builds the plugins `packages`, and writes a copy of their libraries to `dir` for each id. Returns the copies as builds.
pub(crate) fn prebuild(args: &Args, packages: &[&str], dir: &Path) -> Result<Vec<Build>> {
    let sources = &args.sources;
    let PluginFolder { plugins, left_out, .. } = PluginFolder::of(sources)?;
    let found = [plugins, left_out].concat();
    let named = |name: &&str| {
        let plugin = found.iter().find(|plugin| plugin.name == **name);
        plugin
            .with_context(|| format!("no plugin `{name}` in {}: name its workspace with --sources", sources.display()))
    };
    let plugins = packages.iter().map(named).collect::<Result<Vec<_>>>()?;
    let variants = Variants::new(dir.to_owned());
    let built = plugins.iter().map(|plugin| {
        let request = plugin.request().release(args.release_plugins);
        let request = args.features.iter().fold(request, |request, feature| request.feature(feature));
        Ok(variants.get(&request, &format!("build-{}", plugin.name))?)
    });
    let built = built.collect::<Result<Vec<_>>>()?;
    let copy = |library: &Path, tag| -> Result<PathBuf> {
        let name = library.file_stem().unwrap_or_default();
        Ok(variants.switched(library, &format!("{}-{tag}", name.display()), &Switches { on: &[], tag: Some(tag) })?)
    };
    let copies = |tag| built.iter().map(|library| copy(library, tag)).collect::<Result<Vec<_>>>();
    TAGS.into_iter().map(|tag| Ok(Build { tag, libraries: copies(tag)? })).collect()
}
