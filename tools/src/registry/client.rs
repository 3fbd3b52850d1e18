//! Requests to OCI registries. The digest of each response is compared with the requested digest, so a registry cannot return different
//! content.

use std::collections::BTreeSet;

use alcedo_runtime::development::plain_file::sha256;
use anyhow::{anyhow, bail};
use oci_client::Reference;
use oci_client::manifest::{OCI_IMAGE_INDEX_MEDIA_TYPE, OCI_IMAGE_MEDIA_TYPE, OciManifest};

use super::answer::{Answer, Http, LARGEST_MANIFEST, Login, advice};
use super::foreign;
use crate::error::Error;

/// Environment variables with the name and the password of a user.
const USER: &str = "ALCEDO_REGISTRY_USER";
const PASSWORD: &str = "ALCEDO_REGISTRY_PASSWORD";
/// Environment variable with the registries that receive the user's password, separated by commas.
const HOSTS: &str = "ALCEDO_REGISTRY_HOSTS";

/// Registries that are accessed without TLS.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Access {
    /// A registry that is accessed by plain HTTP: `registry.lan:5000`; may be repeated.
    ///
    /// Registries on this machine (`localhost`, `127.0.0.1`, `[::1]`) are always accessed by plain HTTP. A user name and a password are read
    /// from the environment variables `ALCEDO_REGISTRY_USER` and `ALCEDO_REGISTRY_PASSWORD`. If a document names several registries,
    /// `ALCEDO_REGISTRY_HOSTS` lists the registries that receive the password, separated by commas.
    #[arg(long = "plain-http", value_name = "HOST:PORT")]
    plain_http: Vec<String>,
}

pub(super) struct Registry {
    runtime: tokio::runtime::Runtime,
    /// Client for registries on this machine.
    local: Http,
    remote: Http,
}

impl Registry {
    /// Creates a client for the registries of these references.
    ///
    /// # Errors
    /// Fails if the system has no certificates or provides no sockets. Also fails if several registries would receive the password of one
    /// user.
    pub(super) fn new<'a>(access: &Access, references: impl IntoIterator<Item = &'a Reference>) -> Result<Self, Error> {
        // Ignores the error. Installing a TLS provider fails only if a provider is already installed, and this provider is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let registries: BTreeSet<_> =
            references.into_iter().map(|reference| reference.resolve_registry().to_owned()).collect();
        let local = registries.iter().filter(|registry| is_local(registry));
        let plain: Vec<_> = local.chain(&access.plain_http).cloned().collect();
        let variable = |name: &str| std::env::var(name).ok();
        let login = login(variable(USER).zip(variable(PASSWORD)), variable(HOSTS).as_deref(), registries)?;
        let http = |is_local| {
            Http::new(is_local, plain.clone(), login.clone()).map_err(|error| {
                anyhow!(
                    "could not start the client of registries: {:#}; install the system's certificates (`ca-certificates`)",
                    Error::from(error)
                )
            })
        };
        let (local, remote) = (http(true)?, http(false)?);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| {
            anyhow!("could not start the client of registries: {error}; raise the limit of open files (`ulimit -n`)")
        })?;
        Ok(Self { runtime, local, remote })
    }

    fn http(&self, reference: &Reference) -> &Http {
        if is_local(reference.resolve_registry()) { &self.local } else { &self.remote }
    }

    /// Returns the manifest or index at a reference.
    ///
    /// # Errors
    /// Fails if the registry cannot be reached, does not have the manifest, or returns different content.
    pub(super) fn manifest(&self, reference: &Reference) -> Result<OciManifest, Error> {
        let answer = self.manifest_answer(reference)?;
        parsed(answer, reference)
    }

    /// Returns the manifest or index of a tag, like [`Registry::manifest`], or `None` if the tag does not exist.
    ///
    /// # Errors
    /// Returns the errors of [`Registry::manifest`].
    pub(super) fn existing(&self, reference: &Reference) -> Result<Option<OciManifest>, Error> {
        match self.manifest_answer(reference)? {
            Answer::Refused { status: 404, .. } => Ok(None),
            answer => parsed(answer, reference).map(Some),
        }
    }

    fn manifest_answer(&self, reference: &Reference) -> Result<Answer, Error> {
        let types = format!("{OCI_IMAGE_INDEX_MEDIA_TYPE}, {OCI_IMAGE_MEDIA_TYPE}");
        let path = manifest_path(reference);
        let answer = self.http(reference).get(reference, &path, &types, LARGEST_MANIFEST);
        self.runtime.block_on(answer).map_err(|error| anyhow!("could not read {reference}: {error}"))
    }

    /// Downloads the blob with this digest and size.
    ///
    /// # Errors
    /// Fails if the registry cannot be reached, does not have the blob, or returns different content.
    pub(super) fn blob(&self, reference: &Reference, digest: &str, size: u64) -> Result<Vec<u8>, Error> {
        let doing = "read the library of";
        let path = format!("blobs/{digest}");
        let answer = self.http(reference).get(reference, &path, "*/*", size);
        let answer =
            self.runtime.block_on(answer).map_err(|error| anyhow!("could not {doing} {reference}: {error}"))?;
        let bytes = content(answer, doing, reference)?;
        let (len, found) = (bytes.len(), sha256(&bytes));
        if len as u64 != size || found != digest {
            bail!(
                "could not {doing} {reference}: the registry returned another content, {len} bytes of {found} instead of {size} bytes of \
                 {digest}; nothing of it is used"
            );
        }
        Ok(bytes)
    }

    /// Uploads a blob. Does nothing if the registry already has this blob.
    ///
    /// # Errors
    /// Fails if the registry cannot be reached, is too slow, or rejects the upload.
    pub(super) fn push_blob(&self, reference: &Reference, bytes: &[u8]) -> Result<(), Error> {
        let digest = sha256(bytes);
        self.upload(reference, self.http(reference).put_blob(reference, &digest, bytes))
    }

    /// Uploads a manifest or index under the tag or digest of the reference.
    ///
    /// # Errors
    /// Fails if the registry cannot be reached, is too slow, or rejects the upload.
    pub(super) fn push_manifest(&self, reference: &Reference, media_type: &str, bytes: &[u8]) -> Result<(), Error> {
        let path = manifest_path(reference);
        self.upload(reference, self.http(reference).put_manifest(reference, &path, media_type, bytes))
    }

    fn upload(&self, reference: &Reference, upload: impl Future<Output = Result<Answer, Error>>) -> Result<(), Error> {
        let doing = "write to";
        let answer =
            self.runtime.block_on(upload).map_err(|error| anyhow!("could not {doing} {reference}: {error}"))?;
        content(answer, doing, reference).map(drop)
    }
}

/// Returns the path of a manifest or index in its repository.
fn manifest_path(reference: &Reference) -> String {
    format!("manifests/{}", reference.digest().or_else(|| reference.tag()).unwrap_or("latest"))
}

/// Returns the user, with the registries that receive the password: those in `named`, or otherwise the single registry in `registries`.
///
/// # Errors
/// Fails if several registries would receive the password and `named` does not list them.
fn login(user: Option<(String, String)>, named: Option<&str>, registries: BTreeSet<String>) -> Result<Login, Error> {
    // Converts the name of Docker Hub to the address that references contain.
    let resolved = |name: &str| if name == "docker.io" { "index.docker.io".to_owned() } else { name.to_owned() };
    let registries: Vec<_> = match named.filter(|named| !named.trim().is_empty()) {
        Some(named) => named.split(',').map(|name| resolved(name.trim())).collect(),
        None if user.is_some() && registries.len() > 1 => bail!(
            "{} would receive the password in `{PASSWORD}`: name the registries of this user in `{HOSTS}`, separated by commas",
            registries.into_iter().collect::<Vec<_>>().join(" and ")
        ),
        None => registries.into_iter().collect(),
    };
    Ok(Login { user, registries })
}

/// Returns the content of a response, or an error if the registry has rejected the request.
fn content(answer: Answer, doing: &str, reference: &Reference) -> Result<Vec<u8>, Error> {
    match answer {
        Answer::Content(bytes) => Ok(bytes),
        Answer::Refused { status, body } => bail!(
            "could not {doing} {reference}: the registry answered with status {status}: {}; {}",
            foreign(&String::from_utf8_lossy(&body)),
            advice(status)
        ),
    }
}

/// Parses the manifest or index in a response.
///
/// # Errors
/// Fails if the registry has rejected the request, or has returned different content.
fn parsed(answer: Answer, reference: &Reference) -> Result<OciManifest, Error> {
    let bytes = content(answer, "read", reference)?;
    let digest = sha256(&bytes);
    if let Some(expected) = reference.digest().filter(|expected| *expected != digest) {
        bail!(
            "could not read {reference}: the registry returned another content, {digest} instead of {expected}; nothing of it is used"
        );
    }
    serde_json::from_slice(&bytes).map_err(|error| {
        let error = foreign(&error.to_string());
        anyhow!(
            "could not read {reference}: it is not a manifest ({error}); name a module that `alcedo push` has written"
        )
    })
}

/// Checks if the address of a registry denotes this machine.
fn is_local(registry: &str) -> bool {
    let host = match registry.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => registry.split(':').next().unwrap_or_default(),
    };
    host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use oci_client::Reference;

    use super::{Answer, is_local, login, parsed};

    #[test]
    fn a_refusal_is_escaped_and_cut() {
        let reference: Reference = "localhost:5000/plugins/weather:1.2.0".parse().expect("a reference");
        let body = format!("\u{1b}[2J\nalcedo: all fine{}", "x".repeat(1 << 20)).into_bytes();
        let error = parsed(Answer::Refused { status: 500, body }, &reference).expect_err("refused").to_string();
        assert!(error.len() < 1000 && error.contains("status 500: \\u{1b}[2J\\nalcedo: all fine"), "{error}");
        assert!(error.ends_with("the registry has failed: check its state, or try later"), "{error}");
    }

    #[test]
    fn only_registries_of_the_user_receive_the_password() {
        let user = || Some(("me".to_owned(), "secret".to_owned()));
        let of = |registries: &[&str]| -> BTreeSet<String> {
            registries.iter().map(|registry| (*registry).to_owned()).collect()
        };
        let own = Some(("me", "secret"));
        let found = login(user(), None, of(&["a.example"])).expect("one registry");
        assert_eq!((found.of("a.example"), found.of("b.example")), (own, None));
        let both = ["a.example", "b.example:5000"];
        let error = login(user(), None, of(&both)).err().expect("two registries").to_string();
        assert!(error.starts_with("a.example and b.example:5000 would receive the password"), "{error}");
        let found = login(user(), Some("b.example:5000, c.example"), of(&both)).expect("they are named");
        assert_eq!((found.of("a.example"), found.of("b.example:5000")), (None, own));
        let found = login(None, None, of(&both)).expect("no user");
        assert_eq!(found.of("a.example"), None);
        let empty = login(user(), Some(" "), of(&["a.example"])).expect("an empty variable names none");
        assert_eq!(empty.of("a.example"), own);
        let hub: Reference = "docker.io/me/weather:1.2.0".parse().expect("a reference");
        let found = login(user(), Some("docker.io"), of(&both)).expect("it is named");
        assert_eq!(found.of(hub.resolve_registry()), own);
    }

    #[test]
    fn registries_on_this_machine_need_no_tls() {
        for (registry, expected) in [
            ("localhost:5000", true),
            ("localhost", true),
            ("127.0.0.1:5000", true),
            ("[::1]:5000", true),
            ("127.0.0.1.example.com", false),
            ("localhost.example.com:5000", false),
            ("registry.example.com:5000", false),
            ("10.0.0.1:5000", false),
        ] {
            assert_eq!(is_local(registry), expected, "{registry}");
        }
    }
}
