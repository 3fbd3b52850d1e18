//! Desired state of the hosts: a TOML document that specifies the content of each module by digest, and the hosts that load the modules.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use alcedo_runtime::development::plain_file::sha256;
use anyhow::{anyhow, bail};
use oci_client::Reference;
use serde::Deserialize;

use crate::error::Error;
use crate::figures::resolved;
use crate::registry::{artifact, fetch, foreign};

/// Default of [`Document::patience`] in seconds.
const PATIENCE: u64 = 60;

/// The parsed document before it is checked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    step: Option<usize>,
    patience: Option<u64>,
    modules: BTreeMap<String, String>,
    hosts: Vec<Host>,
}

/// A host in the document.
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
    /// Digest of `modules`, which identifies the desired state.
    pub(super) id: String,
    /// References with digests, by module name.
    pub(super) modules: BTreeMap<String, Reference>,
    pub(super) hosts: Vec<Host>,
    /// Number of hosts that receive the modules at the same time, after the first host.
    pub(super) step: usize,
    /// Time within which a host must report new files.
    pub(super) patience: Duration,
}

impl Document {
    /// Parses and checks a document.
    ///
    /// # Errors
    /// Fails if the text is not a valid document, a module has no digest, or two hosts share a folder or a status file.
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let written: Written = toml::from_str(text).map_err(|error| {
            let error = error.to_string();
            // Truncates the lines of the error, because the error quotes a line of the document, which may be long.
            let lines: Vec<_> = error.trim_end().lines().map(foreign).collect();
            anyhow!(
                "the document is invalid: {}; it has `[modules]` and one `[[hosts]]` for each host",
                lines.join("\n")
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
        ensure_distinct(&hosts)?;
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

    /// Parses the text of a document that may replace this document during its rollout. Returns `None` for an invalid document, because a
    /// program may still be writing the text, and the current rollout must continue. Also returns `None` for an equal document, because a
    /// new rollout would start the time limit of each host again.
    pub(super) fn successor(&self, text: &str) -> Option<Self> {
        let is_equal = |other: &Self| {
            (&self.id, &self.hosts, self.step, self.patience) == (&other.id, &other.hosts, other.step, other.patience)
        };
        Self::parse(text).ok().filter(|document| !is_equal(document))
    }
}

/// Checks that all paths are absolute, and that no two hosts share a folder or a status file.
fn ensure_distinct(hosts: &[Host]) -> Result<(), Error> {
    let (mut folders, mut files) = (BTreeMap::new(), BTreeMap::new());
    for host in hosts {
        if !host.plugins.is_absolute() || !host.status.is_absolute() {
            bail!("the paths of the host {} are relative: write absolute paths", host.name());
        }
        if let Some(other) = folders.insert(resolved(&host.plugins), host) {
            bail!("the host {} is listed twice (also as {}): remove one entry", host.name(), other.name());
        }
        if let Some(other) = files.insert(resolved(&host.status), host) {
            let (one, two, status) = (other.name(), host.name(), host.status.display());
            bail!("the hosts {one} and {two} have one status file, {status}: write the file of each host");
        }
    }
    Ok(())
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
        // Other hosts do not change the id of the desired state, but other content does.
        let other = document(&module, &host.replace("/a/", "/b/")).expect("a document");
        assert_eq!(found.id, other.id);
        let other = document(&module.replace("4413", "0000"), host).expect("a document");
        assert_ne!(found.id, other.id);
    }

    #[test]
    fn only_a_valid_and_different_document_interrupts_a_rollout() {
        let host = "plugins = \"/srv/a/plugins\"\nstatus = \"/srv/a/status.json\"";
        let text = |digest: &str| {
            format!("[modules]\nweather = \"localhost:5000/plugins/weather@{digest}\"\n[[hosts]]\n{host}\n")
        };
        let (old, new) = (text(DIGEST), text(&DIGEST.replace("4413", "0000")));
        let document = Document::parse(&old).expect("a document");
        let supersedes = |text: &str| document.successor(text).is_some();
        assert!(supersedes(&new) && supersedes(&old.replace("/a/", "/b/")) && supersedes(&format!("step = 2\n{old}")));
        assert!(!supersedes("") && !supersedes(&new[..new.len() - 3]), "it is not complete yet");
        assert!(!supersedes(&old) && !supersedes(&format!("# written at noon\n{old}")), "it is equal");
    }

    #[test]
    fn a_mistake_in_a_document_is_named() {
        let host = "plugins = \"/srv/a/plugins\"\nstatus = \"/srv/a/status.json\"";
        let (module, twice) =
            (format!("localhost:5000/plugins/weather@{DIGEST}"), format!("{host}\n[[hosts]]\n{host}"));
        let module = module.as_str();
        let dotted = format!("{host}\n[[hosts]]\n{}", host.replace("/srv/a/", "/srv/nothing/../a/"));
        let one_status = format!("{host}\n[[hosts]]\n{}", host.replace("/srv/a/plugins", "/srv/b/plugins"));
        for (module, host, expected) in [
            ("localhost:5000/plugins/weather:1.2.0", host, "the module `weather` has no digest"),
            ("Weather", host, "`Weather` is not a reference"),
            (module, "plugins = \"plugins\"\nstatus = \"/s\"", "the paths of the host plugins are relative"),
            (module, twice.as_str(), "the host /srv/a/plugins is listed twice"),
            (module, dotted.as_str(), "the host /srv/nothing/../a/plugins is listed twice (also as /srv/a/plugins)"),
            (module, one_status.as_str(), "the hosts /srv/a/plugins and /srv/b/plugins have one status file"),
            (module, "folder = \"/srv/a\"", "the document is invalid: "),
        ] {
            let error = document(module, host).expect_err(expected);
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn a_linked_folder_is_one_host() {
        let dir = tempfile::tempdir().expect("a folder");
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        std::fs::create_dir(&real).expect("a folder");
        std::os::unix::fs::symlink(&real, &link).expect("a link");
        let host = |folder: &std::path::Path, status: &str| {
            format!("plugins = {:?}\nstatus = {:?}", folder.join("plugins"), folder.join(status))
        };
        let module = format!("localhost:5000/plugins/weather@{DIGEST}");
        let error = document(&module, &format!("{}\n[[hosts]]\n{}", host(&real, "a"), host(&link, "b")));
        assert!(error.expect_err("one host").contains("is listed twice"));
    }

    #[test]
    fn a_long_line_of_an_invalid_document_is_cut() {
        let error = Document::parse(&format!("a={}", "[".repeat(100_000))).expect_err("invalid").to_string();
        assert!(error.len() < 2000 && error.starts_with("the document is invalid: TOML parse error"), "{error}");
    }
}
