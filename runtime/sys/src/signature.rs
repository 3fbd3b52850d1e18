//! Who made a library: ed25519 signatures over the SHA-512 digest of the whole content (Ed25519ph of RFC 8032, with a
//! context of its own, so that a signature made for anything else is none here). A signature stands behind the content and
//! before the seal. Keys are files as `openssl` writes them.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{DecodePrivateKey as _, DecodePublicKey as _, EncodePrivateKey as _, EncodePublicKey as _};
use ed25519_dalek::pkcs8::{KeypairBytes, PublicKeyBytes};
use ed25519_dalek::{Digest as _, Sha512, Signature, SigningKey, VerifyingKey};
use thiserror::Error;

use crate::folder::create_private;
use crate::plain_file;

/// What a signature is for. Another format of what is signed gets another one.
const CONTEXT: &[u8] = b"alcedo library 1";

/// A key file is shorter than this.
const LONGEST_KEY: u64 = 64 * 1024;

/// The half of a key that a host trusts. Written as 64 hex digits, or as a file of `openssl pkey -pubout`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

/// The half of a key that signs. Its holder can make libraries that hosts trust.
pub struct SecretKey(SigningKey);

/// What stands behind the content of a signed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signed {
    key: [u8; 32],
    signature: [u8; 64],
}

/// What a file that is not trusted has for a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignatureFound {
    /// None.
    Nothing,
    /// One by a key that is not among those trusted; whether it fits was not looked at. The bytes need not be a key.
    OfAnotherKey([u8; 32]),
    /// One by a trusted key, of another content.
    OfAnotherContent(PublicKey),
}

/// A key that cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The file could not be read or written.
    #[error("could not {doing} the key file {}: {source}", path.display())]
    Io {
        /// The verb: "read", "write".
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Others may read the secret key.
    #[error("{} may be read by others (mode {mode:04o}): run `chmod 600` on it, and make a new key if they should not have it", path.display())]
    Readable {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The text is no public key.
    #[error("this is no public key: {reason}; give 64 hex digits, or the text of the file that `alcedo keygen` names")]
    NotPublic {
        /// What is wrong with it.
        reason: String,
    },
    /// The text is no secret key.
    #[error("{} is no secret key: {reason}; make one with `alcedo keygen`", path.display())]
    NotSecret {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The system has no random numbers.
    #[error("the system gives no random numbers for a new key: {reason}")]
    NoRandomNumbers {
        /// What it said.
        reason: String,
    },
}

impl PublicKey {
    /// The key of these bytes.
    ///
    /// # Errors
    ///
    /// [`KeyError::NotPublic`] when they are none, or one for which anybody could sign.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, KeyError> {
        let not = |reason: &str| KeyError::NotPublic { reason: reason.to_owned() };
        let key = VerifyingKey::from_bytes(bytes).map_err(|_| not("these bytes are no point of the curve"))?;
        if key.is_weak() {
            return Err(not("it is one of the few for which anybody could sign"));
        }
        Ok(Self(key))
    }

    /// Its bytes.
    pub fn to_bytes(&self) -> [u8; 32] {
        self.0.to_bytes()
    }

    /// As the text of a file that `openssl pkey -pubin` reads.
    pub fn to_pem(&self) -> String {
        PublicKeyBytes(self.to_bytes()).to_public_key_pem(LineEnding::LF).expect("32 bytes have a short encoding")
    }
}

impl FromStr for PublicKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let text = text.trim();
        if text.starts_with("-----BEGIN") {
            let bytes = PublicKeyBytes::from_public_key_pem(text);
            return Self::from_bytes(&bytes.map_err(|error| KeyError::NotPublic { reason: error.to_string() })?.0);
        }
        let mut bytes = [0; 32];
        let is_hex = text.len() == 2 * bytes.len() && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        if !is_hex {
            return Err(KeyError::NotPublic { reason: "it has other letters, or more or fewer".to_owned() });
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).expect("two hex digits");
        }
        Self::from_bytes(&bytes)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(f, self.0.as_bytes())
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

fn hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

impl SecretKey {
    /// A new key.
    ///
    /// # Errors
    ///
    /// [`KeyError::NoRandomNumbers`].
    pub fn generate() -> Result<Self, KeyError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| KeyError::NoRandomNumbers { reason: error.to_string() })?;
        Ok(Self(SigningKey::from_bytes(&bytes)))
    }

    /// Reads a key file: PKCS#8 in PEM, as [`SecretKey::write_new`] and `openssl genpkey -algorithm ed25519` write it.
    ///
    /// # Errors
    ///
    /// When it cannot be read, others may read it, or it is no such key.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let io = |source| KeyError::Io { doing: "read", path: path.to_owned(), source };
        let (file, found) = plain_file::open(path).map_err(io)?;
        if let Some(mode) = mode_for_others(&found) {
            return Err(KeyError::Readable { path: path.to_owned(), mode });
        }
        let mut text = String::new();
        file.take(LONGEST_KEY).read_to_string(&mut text).map_err(io)?;
        let key = SigningKey::from_pkcs8_pem(text.trim());
        key.map(Self).map_err(|error| KeyError::NotSecret { path: path.to_owned(), reason: error.to_string() })
    }

    /// Writes a key file that only this user may read. A file that is there is left alone.
    ///
    /// # Errors
    ///
    /// When there is one, or it cannot be written.
    pub fn write_new(&self, path: &Path) -> Result<(), KeyError> {
        let io = |source| KeyError::Io { doing: "write", path: path.to_owned(), source };
        // Without the public half in it: that is the form that every version of openssl reads.
        let bytes = KeypairBytes { secret_key: self.0.to_bytes(), public_key: None };
        let text = bytes.to_pkcs8_pem(LineEnding::LF).expect("32 bytes have a short encoding");
        let mut file = create_private(path).map_err(io)?;
        file.write_all(text.as_bytes()).map_err(io)
    }

    /// The half to trust.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// The signature of a content.
    pub(crate) fn sign(&self, content: &[u8]) -> Signed {
        let digest = Sha512::new_with_prefix(content);
        let signature = self.0.sign_prehashed(digest, Some(CONTEXT)).expect("the context is short");
        Signed { key: self.public().to_bytes(), signature: signature.to_bytes() }
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey(of {})", self.public())
    }
}

impl Signed {
    /// Its length in a file.
    pub(crate) const LEN: usize = 96;

    pub(crate) fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..32].copy_from_slice(&self.key);
        bytes[32..].copy_from_slice(&self.signature);
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8; Self::LEN]) -> Self {
        let (mut key, mut signature) = ([0; 32], [0; 64]);
        key.copy_from_slice(&bytes[..32]);
        signature.copy_from_slice(&bytes[32..]);
        Self { key, signature }
    }
}

/// Whether one of the keys has signed this content.
///
/// # Errors
///
/// What there is instead.
pub(crate) fn check(content: &[u8], signed: Option<&Signed>, trusted: &[PublicKey]) -> Result<(), SignatureFound> {
    let signed = signed.ok_or(SignatureFound::Nothing)?;
    // The host's own copy of the key is used: what the file says is only which.
    let key = trusted.iter().find(|key| key.to_bytes() == signed.key);
    let key = key.ok_or(SignatureFound::OfAnotherKey(signed.key))?;
    let signature = Signature::from_bytes(&signed.signature);
    let digest = Sha512::new_with_prefix(content);
    let fits = key.0.verify_prehashed_strict(digest, Some(CONTEXT), &signature);
    fits.map_err(|_| SignatureFound::OfAnotherContent(*key))
}

impl fmt::Display for SignatureFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("has no signature"),
            Self::OfAnotherKey(key) => {
                f.write_str("is signed by the unknown key ")?;
                hex(f, key)
            }
            Self::OfAnotherContent(key) => write!(f, "has a signature of {key} that is of another content"),
        }
    }
}

/// The mode of a file that others than its owner may read or write.
#[cfg(unix)]
fn mode_for_others(found: &std::fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;
    (found.mode() & 0o077 != 0).then(|| found.mode() & 0o7777)
}

#[cfg(not(unix))]
fn mode_for_others(_found: &std::fs::Metadata) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use super::SecretKey;

    #[test]
    fn a_folder_in_place_of_a_key_file_is_called_no_library() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = SecretKey::read(folder.path()).expect_err("it is no file").to_string();
        assert!(error.starts_with("could not read the key file ") && error.contains("it is a folder"), "{error}");
        assert!(!error.contains("library"), "{error}");
    }
}
