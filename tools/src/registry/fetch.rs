//! Fetches and checks the library to which a reference points. Compares the digest of each download, then verifies the signature of the
//! library, and reads its manifest.

use alcedo_runtime::development::plain_file::sha256;
use alcedo_runtime::{ManifestInfo, PublicKey};
use anyhow::{anyhow, bail};
use oci_client::Reference;
use oci_client::manifest::OciManifest;

use super::artifact;
use super::client::Registry;
use crate::error::{Error, one_line};

/// Library whose digest, signature and manifest were checked.
pub(super) struct Fetched {
    pub(super) info: ManifestInfo,
    /// Digest of the file.
    pub(super) digest: String,
    pub(super) bytes: Vec<u8>,
}

pub(super) fn parse(text: &str) -> Result<Reference, Error> {
    text.parse::<Reference>().map_err(|error| {
        anyhow!("`{text}` is not a reference ({error}): write `registry.example.com/plugins/weather@sha256:…`, or a tag for the digest")
    })
}

/// Returns the library of a module for a target. `stored` returns a library by its digest, if this library was fetched before.
///
/// # Errors
/// Fails if a step fails. The error names the reference. After an error, no content from the registry is used.
pub(super) fn fetch(
    registry: &Registry,
    reference: &Reference,
    target: &str,
    trusted: &[PublicKey],
    stored: impl FnOnce(&str) -> Option<Vec<u8>>,
) -> Result<Fetched, Error> {
    let refused = |error: Error| anyhow!("{reference} is refused: {error}");
    let manifest = match registry.manifest(reference)? {
        OciManifest::Image(manifest) => manifest,
        OciManifest::ImageIndex(index) => {
            let digest = artifact::select(&index, target).map_err(refused)?;
            artifact::ensure_digest(digest).map_err(refused)?;
            match registry.manifest(&reference.clone_with_digest(digest.to_owned()))? {
                OciManifest::Image(manifest) => manifest,
                OciManifest::ImageIndex(_) => {
                    bail!("{reference} is refused: its artifact for {target} is an index; push the module again")
                }
            }
        }
    };
    let (digest, size) = artifact::layer(&manifest).map_err(refused)?;
    let bytes = stored(digest).map_or_else(|| registry.blob(reference, digest, size), Ok)?;
    let info = admit(&reference.to_string(), &bytes, trusted)?;
    artifact::check(&manifest, &info, target).map_err(refused)?;
    Ok(Fetched { info, digest: digest.to_owned(), bytes })
}

/// Checks the signature of a library, and returns its manifest. Errors identify the library by `name`.
///
/// # Errors
/// Fails if no trusted key has signed the library, or if hosts of this version cannot load it.
pub(super) fn admit(name: &str, bytes: &[u8], trusted: &[PublicKey]) -> Result<ManifestInfo, Error> {
    ManifestInfo::peek_signed(name, bytes, trusted)
        .map_err(|error| anyhow!("{name} is refused: {} (digest {})", one_line(&error.to_string()), sha256(bytes)))
}
