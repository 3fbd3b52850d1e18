//! Desired state: a TOML document that names the content of each module by digest, and the hosts that load the modules.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use alcedo_runtime::development::plain_file::sha256;
use anyhow::{anyhow, bail};
use oci_client::Reference;
use serde::Deserialize;

use crate::error::Error;
use crate::registry::{artifact, fetch};

/// Time for which a host may leave new files unreported, if the document does not state it.
const PATIENCE: u64 = 60;

/// The document as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    step: Option<usize>,
    patience: Option<u64>,
    modules: BTreeMap<String, String>,
    hosts: Vec<Host>,
}

/// Host of the document.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Host {
    /// Folder with the libraries that the host watches.
    pub(super) plugins: PathBuf,
    /// Status file of the host.
    pub(super) status: PathBuf,
}

impl Host {
    /// Returns the name of the host in messages and in the saved state.
    pub(super) fn name(&self) -> String {
        self.plugins.display().to_string()
    }
}

/// Checked document.
#[derive(Clone, Debug)]
pub(super) struct Document {
    /// Digest of the modules, which identifies the desired state.
    pub(super) id: String,
    /// References with digests, by module name.
    pub(super) modules: BTreeMap<String, Reference>,
    pub(super) hosts: Vec<Host>,
    /// Number of hosts that receive the modules together, after the first host.
    pub(super) step: usize,
    /// Time for which a host may leave new files unreported.
    pub(super) patience: Duration,
}

impl Document {
    /// Parses and checks a document.
    ///
    /// # Errors
    /// The text is not a document, a module has no digest, or a host is listed twice.
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let written: Written = toml::from_str(text).map_err(|error| {
            let error = error.to_string();
            anyhow!(
                "the document is invalid: {}; it has `[modules]` and one `[[hosts]]` for each host",
                error.trim_end()
            )
        })?;
        let Written { step, patience, modules, hosts } = written;
        let (step, patience) = (step.unwrap_or(1), patience.unwrap_or(PATIENCE));
        if step == 0 || patience == 0 {
            bail!("`step` and `patience` of the document are at least 1");
        }
        if modules.is_empty() || hosts.is_empty() {
            bail!("the document names {} modules and {} hosts: name at least one of each", modules.len(), hosts.len());
        }
        for (at, host) in hosts.iter().enumerate() {
            if !host.plugins.is_absolute() || !host.status.is_absolute() {
                bail!("the paths of the host {} are relative: write absolute paths", host.name());
            }
            if hosts[..at].iter().any(|other| other.plugins == host.plugins) {
                bail!("the host {} is listed twice: remove one entry", host.name());
            }
        }
        let lines: String = modules.iter().map(|(name, reference)| format!("{name} {reference}\n")).collect();
        let pinned = |(name, text): (String, String)| {
            let reference = fetch::parse(&text)?;
            let Some(digest) = reference.digest() else {
                bail!(
                    "the module `{name}` has no digest, so its content could change: write `…@sha256:…` instead of `{text}`, as \
                     `alcedo push` prints it"
                );
            };
            artifact::ensure_digest(digest)?;
            Ok((name, reference))
        };
        let modules = modules.into_iter().map(pinned).collect::<Result<_, Error>>()?;
        Ok(Self { id: sha256(lines.as_bytes()), modules, hosts, step, patience: Duration::from_secs(patience) })
    }
}

#[cfg(test)]
mod tests {
    use super::Document;

    const DIGEST: &str = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";

    fn document(module: &str, host: &str) -> Result<Document, String> {
        let text = format!("step = 2\n[modules]\nweather = \"{module}\"\n[[hosts]]\n{host}\n");
        Document::parse(&text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_document_names_contents_and_hosts() {
        let host = "plugins = \"/srv/a/plugins\"\nstatus = \"/srv/a/status.json\"";
        let module = format!("localhost:5000/plugins/weather@{DIGEST}");
        let found = document(&module, host).expect("a document");
        assert_eq!((found.step, found.patience.as_secs(), found.hosts[0].name().as_str()), (2, 60, "/srv/a/plugins"));
        assert_eq!(found.modules["weather"].digest(), Some(DIGEST));
        // Other hosts do not change the desired state, another content does.
        let other = document(&module, &host.replace("/a/", "/b/")).expect("a document");
        assert_eq!(found.id, other.id);
        let other = document(&module.replace("4413", "0000"), host).expect("a document");
        assert_ne!(found.id, other.id);
    }

    #[test]
    fn a_mistake_in_a_document_is_named() {
        let host = "plugins = \"/srv/a/plugins\"\nstatus = \"/srv/a/status.json\"";
        let (module, twice) =
            (format!("localhost:5000/plugins/weather@{DIGEST}"), format!("{host}\n[[hosts]]\n{host}"));
        let module = module.as_str();
        for (module, host, expected) in [
            ("localhost:5000/plugins/weather:1.2.0", host, "the module `weather` has no digest"),
            ("Weather", host, "`Weather` is not a reference"),
            (module, "plugins = \"plugins\"\nstatus = \"/s\"", "the paths of the host plugins are relative"),
            (module, twice.as_str(), "the host /srv/a/plugins is listed twice"),
            (module, "folder = \"/srv/a\"", "the document is invalid: "),
        ] {
            let error = document(module, host).expect_err(expected);
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
