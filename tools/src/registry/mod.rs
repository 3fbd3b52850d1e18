//! Modules as artifacts of OCI registries. `alcedo push` uploads a signed library, `alcedo pull` downloads a library, and `alcedo follow`
//! rolls out the modules of a document to hosts. Hosts do not access registries, but only watch files.

mod answer;
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

use crate::error::{Error, one_line};

/// Maximum size of a key file in bytes.
const LARGEST_KEY: u64 = 1 << 16;

/// Maximum number of bytes of a text from a registry or document in a message.
const LONGEST: usize = 400;

/// Keys that the hosts trust.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Trust {
    /// A public key that hosts trust, as `alcedo keygen` writes it; may be repeated. Libraries that no listed key has signed are refused.
    #[arg(long = "trust", value_name = "KEYFILE", required = true)]
    keys: Vec<PathBuf>,
}

/// Reads the public keys.
///
/// # Errors
/// Fails if a file cannot be read, or if it is not a public key.
fn read_keys(trust: &Trust) -> Result<Vec<PublicKey>, Error> {
    let read = |path: &PathBuf| {
        let text = plain_file::read_text(path, LARGEST_KEY).map_err(|error| {
            anyhow!(
                "could not read the key {}: {error}; pass the public key that `alcedo keygen` has written",
                path.display()
            )
        })?;
        text.parse::<PublicKey>().map_err(|error| anyhow!("could not read {}: {error}", path.display()))
    };
    trust.keys.iter().map(read).collect()
}

/// Returns the file name of a module's library, in the form that cargo uses.
fn file_name(module: &str) -> String {
    format!("{DLL_PREFIX}{}{DLL_SUFFIX}", module.replace('-', "_"))
}

/// Escapes and truncates text from a registry or a document, for one line of a message.
fn foreign(text: &str) -> String {
    let end = text.floor_char_boundary(LONGEST);
    let escaped = one_line(&text[..end]);
    if end < text.len() { format!("{escaped}… ({} bytes)", text.len()) } else { escaped }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Trust, foreign, read_keys};

    #[test]
    fn foreign_text_is_one_short_line() {
        assert_eq!(foreign("a\u{1b}]0;b\u{7}\nc"), "a\\u{1b}]0;b\\u{7}\\nc");
        let long = foreign(&"ü".repeat(50_000));
        assert!(long.len() < 500 && long.ends_with("… (100000 bytes)"), "{long}");
    }

    #[test]
    fn an_unreadable_key_is_named() {
        let trust = Trust { keys: vec![PathBuf::from("/nothing/release.pub")] };
        let error = read_keys(&trust).expect_err("no such file").to_string();
        assert!(error.starts_with("could not read the key /nothing/release.pub: "), "{error}");
        assert!(!error.contains("disk"), "{error}");
    }
}
