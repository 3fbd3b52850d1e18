//! Form of a module in an OCI registry: an artifact for each target, and an index that lists the artifacts of all targets. The functions in
//! this file build manifests, merge indexes, select artifacts and check annotations, without network access.

use std::collections::BTreeMap;
use std::env::consts::{ARCH, OS};

use alcedo_runtime::ManifestInfo;
use alcedo_runtime::development::plain_file::{LARGEST_LIBRARY, sha256};
use anyhow::{anyhow, bail};
use oci_client::manifest::{
    ImageIndexEntry, OCI_IMAGE_INDEX_MEDIA_TYPE, OCI_IMAGE_MEDIA_TYPE, OciDescriptor, OciImageIndex, OciImageManifest,
    Platform,
};
use serde_json::json;

use super::foreign;
use crate::error::Error;

/// Type of the artifact of a module.
const ARTIFACT: &str = "application/vnd.alcedo.module.v1";
/// Media type of an artifact's only layer, which is the library file.
pub(super) const LIBRARY: &str = "application/vnd.alcedo.module.library.v1";
/// Media type of an artifact without a configuration.
const EMPTY_TYPE: &str = "application/vnd.oci.empty.v1+json";
/// Content of the empty configuration.
pub(super) const EMPTY: &[u8] = b"{}";

const NAME: &str = "vnd.alcedo.name";
const VERSION: &str = "vnd.alcedo.version";
const ABI: &str = "vnd.alcedo.abi";
const API: &str = "vnd.alcedo.api";
const BUILD: &str = "vnd.alcedo.build";
const TARGET: &str = "vnd.alcedo.target";
const DEPENDENCIES: &str = "vnd.alcedo.dependencies";
const TITLE: &str = "org.opencontainers.image.title";

/// Returns the target of this program, in the format of `rustc`.
pub(super) fn own_target() -> String {
    let env = if cfg!(target_env = "musl") { "musl" } else { "gnu" };
    match OS {
        "linux" => format!("{ARCH}-unknown-linux-{env}"),
        "macos" => format!("{ARCH}-apple-darwin"),
        "windows" => format!("{ARCH}-pc-windows-{}", if cfg!(target_env = "msvc") { "msvc" } else { "gnu" }),
        other => format!("{ARCH}-unknown-{other}"),
    }
}

/// Returns the platform of a target as other OCI tools name it. Returns `None` if these tools have no name for the target.
fn platform(target: &str) -> Option<Platform> {
    let architecture = match target.split('-').next()? {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let os = ["linux", "windows", "darwin"].into_iter().find(|os| target.contains(os))?;
    serde_json::from_value(json!({ "architecture": architecture, "os": os })).ok()
}

/// Returns the annotations of a module, from the manifest of its library.
fn annotations(info: &ManifestInfo, target: &str) -> BTreeMap<String, String> {
    let needed: Vec<_> = info.dependencies.iter().map(|(name, versions)| format!("{name} {versions}")).collect();
    let entries = [
        (NAME, info.name.clone()),
        (VERSION, info.version.to_string()),
        (ABI, info.abi.to_string()),
        (API, format!("{} to {}", info.api.start(), info.api.end())),
        (BUILD, format!("{:032x}", info.build_id)),
        (TARGET, target.to_owned()),
        (DEPENDENCIES, needed.join("; ")),
    ];
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Returns the manifest of an artifact. `title`, `digest` and `size` describe the library file.
pub(super) fn manifest(info: &ManifestInfo, target: &str, title: &str, digest: &str, size: u64) -> OciImageManifest {
    let config = OciDescriptor {
        media_type: EMPTY_TYPE.to_owned(),
        digest: sha256(EMPTY),
        size: EMPTY.len() as i64,
        ..OciDescriptor::default()
    };
    let layer = OciDescriptor {
        media_type: LIBRARY.to_owned(),
        digest: digest.to_owned(),
        size: i64::try_from(size).unwrap_or(i64::MAX),
        annotations: Some(BTreeMap::from([(TITLE.to_owned(), title.to_owned())])),
        ..OciDescriptor::default()
    };
    OciImageManifest {
        media_type: Some(OCI_IMAGE_MEDIA_TYPE.to_owned()),
        config,
        layers: vec![layer],
        artifact_type: Some(ARTIFACT.to_owned()),
        annotations: Some(annotations(info, target)),
        ..OciImageManifest::default()
    }
}

/// Returns the index entry of an artifact whose manifest has this digest and size.
pub(super) fn entry(info: &ManifestInfo, target: &str, digest: &str, size: usize) -> ImageIndexEntry {
    ImageIndexEntry {
        media_type: OCI_IMAGE_MEDIA_TYPE.to_owned(),
        digest: digest.to_owned(),
        size: i64::try_from(size).unwrap_or(i64::MAX),
        platform: platform(target),
        annotations: Some(annotations(info, target)),
        artifact_type: Some(ARTIFACT.to_owned()),
    }
}

fn value<'a>(annotations: Option<&'a BTreeMap<String, String>>, key: &str) -> &'a str {
    annotations.and_then(|annotations| annotations.get(key)).map_or("", String::as_str)
}

/// Adds an artifact to the index of a tag, and replaces an earlier artifact for the same target. Artifacts for other targets remain.
///
/// # Errors
/// Fails if the tag contains another module.
pub(super) fn merge(earlier: Option<OciImageIndex>, new: ImageIndexEntry) -> Result<OciImageIndex, Error> {
    let name = value(new.annotations.as_ref(), NAME).to_owned();
    let target = value(new.annotations.as_ref(), TARGET).to_owned();
    let mut manifests = earlier.map(|index| index.manifests).unwrap_or_default();
    if let Some(other) = manifests.iter().find(|entry| value(entry.annotations.as_ref(), NAME) != name) {
        let other = foreign(value(other.annotations.as_ref(), NAME));
        bail!(
            "the tag has the module `{other}`, and `{name}` would replace it: push each module to a repository of its own"
        );
    }
    manifests.retain(|entry| value(entry.annotations.as_ref(), TARGET) != target);
    manifests.push(new);
    manifests
        .sort_by(|one, other| value(one.annotations.as_ref(), TARGET).cmp(value(other.annotations.as_ref(), TARGET)));
    Ok(OciImageIndex {
        schema_version: 2,
        media_type: Some(OCI_IMAGE_INDEX_MEDIA_TYPE.to_owned()),
        manifests,
        artifact_type: Some(ARTIFACT.to_owned()),
        annotations: Some(BTreeMap::from([(NAME.to_owned(), name)])),
    })
}

/// Returns the digest of the artifact for a target.
///
/// # Errors
/// Fails if the index has no artifact for the target.
pub(super) fn select<'a>(index: &'a OciImageIndex, target: &str) -> Result<&'a str, Error> {
    let of = |entry: &&ImageIndexEntry| value(entry.annotations.as_ref(), TARGET) == target;
    index.manifests.iter().find(of).map(|entry| entry.digest.as_str()).ok_or_else(|| {
        let found: Vec<_> = index.manifests.iter().map(|entry| value(entry.annotations.as_ref(), TARGET)).collect();
        anyhow!(
            "it has no library for {target}, only for {}: push a build of that target, or pass `--target`",
            if found.is_empty() { "no target at all".to_owned() } else { foreign(&found.join(", ")) }
        )
    })
}

/// Checks that a digest has the form of the digests that this program computes, because the digest becomes part of addresses and file
/// names.
pub(super) fn ensure_digest(digest: &str) -> Result<(), Error> {
    let digits = digest.strip_prefix("sha256:").unwrap_or_default();
    let is_digit = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
    if digits.len() != 64 || !digits.bytes().all(is_digit) {
        bail!(
            "`{}` is not a SHA-256 digest: write `sha256:` and 64 lower-case digits, as `alcedo push` prints them",
            foreign(digest)
        );
    }
    Ok(())
}

/// Returns the digest and the size of the library of an artifact, which is the only layer.
///
/// # Errors
/// Fails if the manifest does not describe a module.
pub(super) fn layer(manifest: &OciImageManifest) -> Result<(&str, u64), Error> {
    let found = manifest.artifact_type.as_deref().unwrap_or("none");
    if found != ARTIFACT {
        bail!(
            "its artifact type is {}, and a module has {ARTIFACT}: name a repository that `alcedo push` has written",
            foreign(found)
        );
    }
    let [layer] = manifest.layers.as_slice() else {
        bail!("it has {} layers, and a module has one: push the module again", manifest.layers.len());
    };
    if layer.media_type != LIBRARY {
        let found = foreign(&layer.media_type);
        bail!("its layer is of the type {found}, and a library has {LIBRARY}: push the module again");
    }
    ensure_digest(&layer.digest)?;
    match u64::try_from(layer.size) {
        Ok(size) if size <= LARGEST_LIBRARY => Ok((&layer.digest, size)),
        _ => bail!("its library has {} bytes, more than the maximum of {LARGEST_LIBRARY}", layer.size),
    }
}

/// Checks that the annotations of an artifact equal the manifest of its signed library.
pub(super) fn check(manifest: &OciImageManifest, info: &ManifestInfo, target: &str) -> Result<(), Error> {
    let signed = annotations(info, target);
    for (key, expected) in signed {
        let found = value(manifest.annotations.as_ref(), &key);
        if found != expected {
            let found = foreign(found);
            bail!(
                "its annotation {key} is `{found}`, and the signed library has `{expected}`: the registry describes another module, so \
                 push the library again"
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use oci_client::manifest::{ImageIndexEntry, OciImageManifest};

    use super::{ARTIFACT, LIBRARY, NAME, TARGET, layer, merge, own_target, platform, select};

    fn entry(name: &str, target: &str, digest: &str) -> ImageIndexEntry {
        let annotations = [(NAME, name), (TARGET, target)].map(|(key, value)| (key.to_owned(), value.to_owned()));
        ImageIndexEntry {
            media_type: String::new(),
            digest: digest.to_owned(),
            size: 1,
            platform: None,
            annotations: Some(BTreeMap::from(annotations)),
            artifact_type: None,
        }
    }

    #[test]
    fn an_index_has_one_artifact_for_each_target() {
        let index = merge(None, entry("lamp", "b", "1")).expect("a new tag");
        let index = merge(Some(index), entry("lamp", "a", "2")).expect("another target");
        let index = merge(Some(index), entry("lamp", "b", "3")).expect("a newer build");
        let digests: Vec<_> = index.manifests.iter().map(|entry| entry.digest.as_str()).collect();
        assert_eq!(digests, ["2", "3"]);
        assert_eq!((select(&index, "a").ok(), select(&index, "b").ok()), (Some("2"), Some("3")));
        let missing = select(&index, "c").expect_err("no such target").to_string();
        assert!(missing.starts_with("it has no library for c, only for a, b: "), "{missing}");
        let other = merge(Some(index), entry("fuse", "a", "4")).expect_err("another module").to_string();
        assert!(other.starts_with("the tag has the module `lamp`, and `fuse` would replace it"), "{other}");
    }

    #[test]
    fn only_an_artifact_of_a_module_has_a_library() {
        let mut manifest = OciImageManifest::default();
        let refused = |manifest: &OciImageManifest| layer(manifest).expect_err("not a module").to_string();
        assert!(refused(&manifest).starts_with("its artifact type is none"), "{}", refused(&manifest));
        manifest.artifact_type = Some(ARTIFACT.to_owned());
        assert!(refused(&manifest).starts_with("it has 0 layers"), "{}", refused(&manifest));
        manifest.layers.push(manifest.config.clone());
        assert!(refused(&manifest).starts_with("its layer is of the type"), "{}", refused(&manifest));
        manifest.layers[0].media_type = LIBRARY.to_owned();
        for digest in
            ["", "sha256:", "sha256:../../../../etc/passwd", "sha512:00", &format!("sha256:{}", "A".repeat(64))]
        {
            manifest.layers[0].digest = digest.to_owned();
            assert!(refused(&manifest).contains("is not a SHA-256 digest"), "{}", refused(&manifest));
        }
        manifest.layers[0].digest = format!("sha256:{}", "a".repeat(64));
        for size in [-1, 1 << 40] {
            manifest.layers[0].size = size;
            assert!(refused(&manifest).contains("bytes"), "{}", refused(&manifest));
        }
        manifest.artifact_type = Some("\u{1b}[2J".to_owned());
        assert!(refused(&manifest).starts_with("its artifact type is \\u{1b}[2J,"), "{}", refused(&manifest));
        manifest.artifact_type = Some(ARTIFACT.to_owned());
        manifest.layers[0].size = 7;
        assert_eq!(layer(&manifest).expect("a library").1, 7);
    }

    #[test]
    fn a_target_has_the_platform_of_other_tools() {
        assert!(own_target().split('-').count() >= 3, "{}", own_target());
        let check = |target: &str, expected: &str| {
            let found = platform(target).map(|platform| serde_json::to_string(&platform).expect("two names"));
            assert_eq!(found.as_deref(), Some(expected), "{target}");
        };
        check("x86_64-unknown-linux-gnu", r#"{"architecture":"amd64","os":"linux"}"#);
        check("aarch64-apple-darwin", r#"{"architecture":"arm64","os":"darwin"}"#);
        assert_eq!(platform("wasm32-unknown-unknown"), None);
    }
}
