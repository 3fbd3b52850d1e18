//! `alcedo build`: builds libraries, seals them for a host, and signs them on request. `alcedo keygen`: creates signing keys.

use std::fs::{self, File};
use std::io::{IsTerminal, Write, stderr};
use std::path::PathBuf;
use std::process::ExitCode;

use alcedo_build::BuildError;
use alcedo_runtime::{SecretKey, sign_file};

use crate::args::Plugins;
use crate::error::{Error, file};
use crate::figures::millis;
use crate::modules::{self, build};
use crate::screen::{print_progress, print_result};

/// Builds plugins and seals their libraries, so that a host can detect a damaged file.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    plugins: Plugins,
    /// Sign the libraries with the secret key in this file, for hosts that trust the matching public key.
    #[arg(long, value_name = "KEYFILE")]
    sign: Option<PathBuf>,
}

/// Creates a key to sign libraries with. Its public half is written next to it, with `.pub` appended to the name.
///
/// `openssl genpkey -algorithm ed25519` makes such keys as well.
#[derive(Debug, clap::Args)]
pub(crate) struct Keygen {
    /// Path of the secret key, readable only for this user. An existing file is not overwritten.
    #[arg(value_name = "KEYFILE")]
    path: PathBuf,
}

/// Builds and seals the plugins. If a key file is specified, signs the libraries. Stops at the first folder that fails to build.
pub(crate) fn run(Args { plugins, sign }: &Args) -> Result<ExitCode, Error> {
    // Reads the key first, so that an unreadable key fails before the build.
    let key = sign.as_deref().map(SecretKey::read).transpose()?;
    let found = modules::find(&plugins.dirs)?;
    if found.crates.is_empty() {
        return Err(BuildError::NoPlugins { dirs: plugins.dirs.clone() }.into());
    }
    found.left_out().iter().for_each(|line| print_progress(line));
    for folder in &found.crates {
        let request = folder.request().release(plugins.release).color(stderr().is_terminal());
        let outcome = build(&request)?;
        let _ = write!(stderr(), "{}", outcome.warnings);
        for artifact in &outcome.artifacts {
            let mut what = if artifact.fresh { "as it was, sealed" } else { "built, sealed" }.to_owned();
            if let Some(key) = &key {
                // Signs cargo's output file itself, because authors pass the path of this file to a host. Signing updates the modification
                // time, so cargo still considers the file up to date.
                sign_file(&artifact.path, key).map_err(file("sign", &artifact.path))?;
                what += &format!(", signed by {}", key.public());
            }
            print_result(&format!("{}  {what}  {}", artifact.package, artifact.path.display()));
        }
        print_result(&format!("  {}", millis(outcome.millis)));
    }
    Ok(ExitCode::SUCCESS)
}

/// Creates a key pair: the secret key in `path`, and the public key next to it. Fails if one of the two files exists.
pub(crate) fn keygen(Keygen { path }: &Keygen) -> Result<ExitCode, Error> {
    let (key, public) = (SecretKey::generate()?, path.with_added_extension("pub"));
    key.write_new(path)?;
    let written = File::create_new(&public).and_then(|mut file| {
        let written = file.write_all(key.public().to_pem().as_bytes());
        written.inspect_err(|_| drop(fs::remove_file(&public)))
    });
    // Removes the secret key, because an existing secret key would make the next attempt fail.
    written.inspect_err(|_| drop(fs::remove_file(path))).map_err(file("write", &public))?;
    print_result(&format!("secret key  {}  keep it to yourself; for `alcedo build --sign`", path.display()));
    print_result(&format!("public key  {}  for `Builder::trust`: {}", public.display(), key.public()));
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Keygen, keygen};

    #[test]
    fn no_secret_key_remains_without_its_public_key() {
        let dir = tempfile::tempdir().unwrap();
        let [path, public] = ["release.key", "release.key.pub"].map(|name| dir.path().join(name));
        fs::write(&public, "other").unwrap();
        keygen(&Keygen { path: path.clone() }).unwrap_err();
        assert!(!path.exists());
        assert_eq!(fs::read_to_string(&public).unwrap(), "other");
        fs::remove_file(&public).unwrap();
        keygen(&Keygen { path: path.clone() }).unwrap();
        assert!(path.exists() && public.exists());
    }
}
