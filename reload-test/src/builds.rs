//! Real builds to swap between: the same plugins, compiled with different ids, each build kept beside the others and
//! sealed, as `alcedo build` leaves them.

use crate::plan::Build;
use alcedo_build::{PluginCrate, PluginFolder, Variants};
use anyhow::{Context, Result, bail};
use std::path::Path;

/// The ids to build with. Three, so that code of the build before last is told from that of the last.
const TAGS: [u64; 3] = [1, 2, 3];

/// How to build.
#[derive(Debug)]
pub(crate) struct Profile<'a> {
    /// Features of every plugin.
    pub(crate) features: &'a [String],
    /// Whether with the release profile.
    pub(crate) release: bool,
}

/// Builds the plugins `packages` of the workspace `sources` once per id, and keeps the libraries in `dir`.
pub(crate) fn prebuild(sources: &Path, packages: &[&str], profile: &Profile<'_>, dir: &Path) -> Result<Vec<Build>> {
    let PluginFolder { plugins, left_out, .. } = PluginFolder::of(sources)?;
    let found = [plugins, left_out].concat();
    let plugins = packages.iter().map(|name| named(&found, name, sources)).collect::<Result<Vec<_>>>()?;
    let variants = Variants::new(dir.to_owned());
    TAGS.into_iter().map(|tag| prebuild_one(&variants, &plugins, profile, tag)).collect()
}

fn prebuild_one(variants: &Variants, plugins: &[&PluginCrate], profile: &Profile<'_>, tag: u64) -> Result<Build> {
    let label = format!("build-{tag}");
    let mut libraries = Vec::new();
    for plugin in plugins {
        let request = plugin.request().release(profile.release).env("ALCEDO_BUILD_TAG", tag.to_string());
        let request = profile.features.iter().fold(request, |request, feature| request.feature(feature));
        let library = variants.get(&request, &label)?;
        alcedo_runtime::seal_file(&library).with_context(|| format!("could not seal {}", library.display()))?;
        libraries.push(library);
    }
    Ok(Build { tag, libraries })
}

fn named<'p>(found: &'p [PluginCrate], name: &str, sources: &Path) -> Result<&'p PluginCrate> {
    match found.iter().find(|plugin| plugin.name == name) {
        Some(plugin) => Ok(plugin),
        None => bail!("no plugin `{name}` in {}: name its workspace with --sources", sources.display()),
    }
}
