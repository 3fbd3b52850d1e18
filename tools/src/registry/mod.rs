//! Modules as artifacts of OCI registries: `alcedo push` uploads a signed library, `alcedo pull` downloads one, and `alcedo follow` brings
//! hosts to the modules of a document. Hosts know no registry: they watch files.

mod artifact;
mod client;
mod fetch;
pub(crate) mod follow;
pub(crate) mod pull;
pub(crate) mod push;

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::PathBuf;

use alcedo_runtime::PublicKey;
use alcedo_runtime::development::plain_file;
use anyhow::anyhow;

use crate::error::{Error, file};

/// Maximum size of a key file in bytes.
const LARGEST_KEY: u64 = 1 << 16;

/// Keys that the hosts trust.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Trust {
    /// A public key that hosts trust, as `alcedo keygen` writes it; may be given several times. Other libraries are refused.
    #[arg(long = "trust", value_name = "KEYFILE", required = true)]
    keys: Vec<PathBuf>,
}

/// Reads the public keys.
///
/// # Errors
/// A file cannot be read, or is not a public key.
fn read_keys(trust: &Trust) -> Result<Vec<PublicKey>, Error> {
    let read = |path: &PathBuf| {
        let text = plain_file::read_text(path, LARGEST_KEY).map_err(file("read", path))?;
        text.parse::<PublicKey>().map_err(|error| anyhow!("could not read {}: {error}", path.display()))
    };
    trust.keys.iter().map(read).collect()
}

/// Returns the file name of a module's library, as cargo forms it.
fn file_name(module: &str) -> String {
    format!("{DLL_PREFIX}{}{DLL_SUFFIX}", module.replace('-', "_"))
}
