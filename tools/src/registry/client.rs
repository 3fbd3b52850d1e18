//! Requests to OCI registries. Each answer is compared with the digest that was requested, so a registry cannot pass off another content.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use alcedo_runtime::development::plain_file::sha256;
use anyhow::{anyhow, bail};
use oci_client::client::{ClientConfig, ClientProtocol};
use oci_client::errors::OciDistributionError;
use oci_client::manifest::{OCI_IMAGE_INDEX_MEDIA_TYPE, OCI_IMAGE_MEDIA_TYPE, OciManifest};
use oci_client::secrets::RegistryAuth;
use oci_client::{Client, Reference};
use tokio::io::AsyncWrite;

use crate::error::Error;

/// Time limit for a connection, and for each part of an answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Environment variables with the name and the password of a user.
const USER: &str = "ALCEDO_REGISTRY_USER";
const PASSWORD: &str = "ALCEDO_REGISTRY_PASSWORD";

/// Registries that are accessed without TLS.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Access {
    /// A registry that is accessed by plain HTTP: `registry.lan:5000`; may be given several times.
    ///
    /// Registries on this machine (`localhost`, `127.0.0.1`, `[::1]`) are always accessed by plain HTTP. A user name and a password are read
    /// from the environment variables `ALCEDO_REGISTRY_USER` and `ALCEDO_REGISTRY_PASSWORD`.
    #[arg(long = "plain-http", value_name = "HOST:PORT")]
    plain_http: Vec<String>,
}

/// Client of registries.
pub(super) struct Registry {
    runtime: tokio::runtime::Runtime,
    client: Client,
    auth: RegistryAuth,
}

impl Registry {
    /// Creates a client for the registries of these references.
    ///
    /// # Errors
    /// The system has no certificates, or provides no sockets.
    pub(super) fn new<'a>(access: &Access, references: impl IntoIterator<Item = &'a Reference>) -> Result<Self, Error> {
        // Fails if a provider is installed already, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let local = references.into_iter().map(|reference| reference.resolve_registry().to_owned());
        let plain = local.filter(|registry| is_local(registry)).chain(access.plain_http.iter().cloned()).collect();
        let config = ClientConfig {
            protocol: ClientProtocol::HttpsExcept(plain),
            connect_timeout: Some(PATIENCE),
            read_timeout: Some(PATIENCE),
            ..ClientConfig::default()
        };
        let client = Client::try_from(config).map_err(|error| {
            let error = Error::from(error);
            anyhow!("could not start the client of registries: {error:#}; install the system's certificates (`ca-certificates`)")
        })?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| {
            anyhow!("could not start the client of registries: {error}; raise the limit of open files (`ulimit -n`)")
        })?;
        let auth = match (std::env::var(USER), std::env::var(PASSWORD)) {
            (Ok(user), Ok(password)) => RegistryAuth::Basic(user, password),
            _ => RegistryAuth::Anonymous,
        };
        Ok(Self { runtime, client, auth })
    }

    /// Returns the manifest or index that the reference names, with its digest.
    ///
    /// # Errors
    /// The registry cannot be reached, does not have it, or returns another content.
    pub(super) fn manifest(&self, reference: &Reference) -> Result<(OciManifest, String), Error> {
        let types = [OCI_IMAGE_INDEX_MEDIA_TYPE, OCI_IMAGE_MEDIA_TYPE];
        let pulled = self.runtime.block_on(self.client.pull_manifest_raw(reference, &self.auth, &types));
        let (bytes, _) = pulled.map_err(failed("read", reference))?;
        let digest = sha256(&bytes);
        if let Some(expected) = reference.digest().filter(|expected| *expected != digest) {
            bail!(
                "could not read {reference}: the registry returned {digest} instead of {expected}; nothing of it is used"
            );
        }
        let manifest = serde_json::from_slice(&bytes).map_err(|error| {
            anyhow!("could not read {reference}: it is not a manifest ({error}); name a module that `alcedo push` has written")
        })?;
        Ok((manifest, digest))
    }

    /// Returns the manifest or index of a tag like [`Registry::manifest`], or `None` if the tag does not exist.
    ///
    /// # Errors
    /// Returns the errors of [`Registry::manifest`].
    pub(super) fn existing(&self, reference: &Reference) -> Result<Option<OciManifest>, Error> {
        let digest = self.client.fetch_manifest_digest(reference, &self.auth);
        match self.runtime.block_on(digest) {
            Ok(_) => self.manifest(reference).map(|(manifest, _)| Some(manifest)),
            Err(error) if is_unknown(&error) => Ok(None),
            Err(error) => Err(failed("read", reference)(error)),
        }
    }

    /// Returns a blob of this digest and size.
    ///
    /// # Errors
    /// The registry cannot be reached, does not have the blob, or returns another content.
    pub(super) fn blob(&self, reference: &Reference, digest: &str, size: u64) -> Result<Vec<u8>, Error> {
        let mut bytes = Bounded { bytes: Vec::new(), most: size };
        let pulled = self.runtime.block_on(async {
            self.client.store_auth_if_needed(reference.resolve_registry(), &self.auth).await;
            self.client.pull_blob(reference, digest, &mut bytes).await
        });
        pulled.map_err(failed("read the library of", reference))?;
        let bytes = bytes.bytes;
        let (len, found) = (bytes.len(), sha256(&bytes));
        if len as u64 != size || found != digest {
            bail!(
                "could not read the library of {reference}: the registry returned {len} bytes of {found} instead of {size} bytes of \
                 {digest}; nothing of it is used"
            );
        }
        Ok(bytes)
    }

    /// Uploads a blob, unless the registry has it.
    ///
    /// # Errors
    /// The registry cannot be reached, or refuses the upload.
    pub(super) fn push_blob(&self, reference: &Reference, bytes: &[u8]) -> Result<(), Error> {
        let digest = sha256(bytes);
        let pushed = self.runtime.block_on(async {
            self.client.store_auth_if_needed(reference.resolve_registry(), &self.auth).await;
            match self.client.blob_exists(reference, &digest).await {
                Ok(true) => Ok(()),
                _ => self.client.push_blob(reference, bytes.to_vec(), &digest).await.map(drop),
            }
        });
        pushed.map_err(failed("write to", reference))
    }

    /// Uploads a manifest or index under the tag or digest of the reference.
    ///
    /// # Errors
    /// The registry cannot be reached, or refuses the upload.
    pub(super) fn push_manifest(&self, reference: &Reference, media_type: &str, bytes: &[u8]) -> Result<(), Error> {
        let media_type = media_type.parse().map_err(|_| anyhow!("the media type {media_type} is not a header"))?;
        let pushed = self.runtime.block_on(async {
            self.client.store_auth_if_needed(reference.resolve_registry(), &self.auth).await;
            self.client.push_manifest_raw(reference, bytes.to_vec(), media_type).await
        });
        pushed.map(drop).map_err(failed("write to", reference))
    }
}

/// Converts an error of a registry, for `map_err`.
fn failed(doing: &'static str, reference: &Reference) -> impl FnOnce(OciDistributionError) -> Error {
    let reference = reference.to_string();
    move |error| {
        let help = match &error {
            OciDistributionError::RequestError(_) | OciDistributionError::IoError(_) => {
                "is the registry running, and is it accessed by TLS or by `--plain-http`?"
            }
            OciDistributionError::UnauthorizedError { .. } | OciDistributionError::AuthenticationFailure(_) => {
                "set ALCEDO_REGISTRY_USER and ALCEDO_REGISTRY_PASSWORD"
            }
            OciDistributionError::DigestError(_) => "the registry returned another content; nothing of it is used",
            _ => "check the name and the digest with `alcedo push`, which prints both",
        };
        anyhow!("could not {doing} {reference}: {:#}; {help}", Error::from(error))
    }
}

/// Checks if a registry answered that it does not know a tag or a repository.
fn is_unknown(error: &OciDistributionError) -> bool {
    match error {
        OciDistributionError::ImageManifestNotFoundError(_) => true,
        OciDistributionError::ServerError { code, .. } => *code == 404,
        OciDistributionError::RequestError(error) => error.status().is_some_and(|status| status.as_u16() == 404),
        OciDistributionError::RegistryError { envelope, .. } => envelope.errors.iter().any(|error| {
            use oci_client::errors::OciErrorCode::{ManifestUnknown, NameUnknown, NotFound};
            [ManifestUnknown, NameUnknown, NotFound].contains(&error.code)
        }),
        _ => false,
    }
}

/// Checks if a registry runs on this machine.
fn is_local(registry: &str) -> bool {
    let host = match registry.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => registry.split(':').next().unwrap_or_default(),
    };
    host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

/// Buffer for at most `most` bytes, so that a registry cannot fill the memory.
struct Bounded {
    bytes: Vec<u8>,
    most: u64,
}

impl AsyncWrite for Bounded {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, part: &[u8]) -> Poll<io::Result<usize>> {
        if (self.bytes.len() + part.len()) as u64 > self.most {
            let most = self.most;
            return Poll::Ready(Err(io::Error::other(format!("the answer is longer than {most} bytes"))));
        }
        self.bytes.extend_from_slice(part);
        Poll::Ready(Ok(part.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::is_local;

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
