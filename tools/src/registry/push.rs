//! `alcedo push`: uploads signed libraries to a registry, and prints a reference that contains the digest of the module.

use std::path::PathBuf;
use std::process::ExitCode;

use alcedo_runtime::PublicKey;
use alcedo_runtime::development::plain_file::{self, LARGEST_LIBRARY, sha256};
use anyhow::bail;
use oci_client::manifest::{OCI_IMAGE_INDEX_MEDIA_TYPE, OCI_IMAGE_MEDIA_TYPE, OciManifest};

use super::client::{Access, Registry};
use super::{Trust, artifact, fetch, read_keys};
use crate::error::{Error, file};
use crate::screen::print_result;

/// Uploads a signed library to an OCI registry, and prints its reference with the digest.
///
/// The manifest of the library becomes the annotations of the artifact: name, version, ABI, target and dependencies. The tag names an index
/// of all targets; a library replaces the earlier library of its target only. Build and sign first: `alcedo build --release --sign KEYFILE`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The signed library: `target/release/libmy_plugin.so`.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Repository and tag: `registry.example.com/plugins/my-plugin:1.2.0`.
    #[arg(value_name = "REFERENCE")]
    reference: String,
    #[command(flatten)]
    trust: Trust,
    /// Target of the library, if its name differs from the target of this program.
    ///
    /// `alcedo push` can read only libraries for its own processor and system, so run it on a machine of the target.
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    #[command(flatten)]
    access: Access,
}

/// Uploads the library, its artifact, and the index of the tag, in this order, so that a tag never refers to missing content.
///
/// # Errors
/// Fails if the library is unsigned, no host can load it, or the registry rejects it.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Error> {
    let reference = fetch::parse(&args.reference)?;
    let Some(tag) = reference.tag().filter(|_| reference.digest().is_none()) else {
        bail!("{reference} names a digest, which only follows from the content: name a tag, such as `:1.2.0`");
    };
    let keys: Vec<PublicKey> = read_keys(&args.trust)?;
    let bytes = plain_file::read(&args.file, LARGEST_LIBRARY).map_err(file("read", &args.file))?;
    let info = fetch::admit(&args.file.display().to_string(), &bytes, &keys)?;
    let target = args.target.clone().unwrap_or_else(artifact::own_target);
    let title = super::file_name(&info.name);

    let registry = Registry::new(&args.access, [&reference])?;
    let earlier = match registry.existing(&reference)? {
        None => None,
        Some(OciManifest::ImageIndex(index)) => Some(index),
        Some(OciManifest::Image(_)) => {
            bail!("{reference} is an image, and not a module: push to a repository or tag of its own")
        }
    };
    registry.push_blob(&reference, artifact::EMPTY)?;
    registry.push_blob(&reference, &bytes)?;
    let manifest = artifact::manifest(&info, &target, &title, &sha256(&bytes), bytes.len() as u64);
    let manifest = serde_json::to_vec(&manifest)?;
    let digest = sha256(&manifest);
    registry.push_manifest(&reference.clone_with_digest(digest.clone()), OCI_IMAGE_MEDIA_TYPE, &manifest)?;
    let index = artifact::merge(earlier, artifact::entry(&info, &target, &digest, manifest.len()))?;
    let index = serde_json::to_vec(&index)?;
    registry.push_manifest(&reference, OCI_IMAGE_INDEX_MEDIA_TYPE, &index)?;
    let pinned = reference.clone_with_digest(sha256(&index));
    print_result(&format!("{} {}  {target}  {pinned}  (tag {tag})", info.name, info.version));
    Ok(ExitCode::SUCCESS)
}
