//! Signatures of libraries: ed25519 over the SHA-512 digest of the whole content (Ed25519ph of RFC 8032). With their own context, these
//! signatures differ from signatures for other purposes. The signature is stored between the content and the seal. Keys are files in the
//! format of `openssl`.

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

/// Context of the signatures. If the format of the signed data changes, the context must change too.
const CONTEXT: &[u8] = b"alcedo library 1";

const LONGEST_KEY: u64 = 64 * 1024;

/// Public key that a host trusts. The key is written as 64 hex digits, or as a file of `openssl pkey -pubout`.
///
/// # Examples
/// ```
/// use alcedo_sys::{PublicKey, SecretKey};
///
/// let key = SecretKey::generate()?.public();
/// let digits: String = key.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
/// assert!(digits.parse::<PublicKey>()? == key);
/// # Ok::<(), alcedo_sys::KeyError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

/// Secret key. The holder of the key can sign libraries that hosts trust.
///
/// # Examples
/// ```
/// use alcedo_sys::SecretKey;
///
/// let (author, other) = (SecretKey::generate()?, SecretKey::generate()?);
/// assert!(author.public() != other.public());
/// # Ok::<(), alcedo_sys::KeyError>(())
/// ```
pub struct SecretKey(SigningKey);

/// Signature block after the content of a signed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signed {
    key: [u8; 32],
    signature: [u8; 64],
}

/// Reason why a file has no trusted signature.
///
/// # Examples
/// ```
/// use alcedo_sys::SignatureFound;
///
/// fn hint(found: &SignatureFound) -> &'static str {
///     match found {
///         SignatureFound::Nothing => "sign the library",
///         SignatureFound::OfAnotherKey(_) => "trust the key, or remove the library",
///         _ => "build and sign the library again",
///     }
/// }
/// assert_eq!(hint(&SignatureFound::Nothing), "sign the library");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignatureFound {
    /// The file is unsigned.
    Nothing,
    /// The key is not trusted. The signature was not verified, and the bytes may not be a valid key.
    OfAnotherKey([u8; 32]),
    /// The key is trusted, but the signature was made for different content.
    OfAnotherContent(PublicKey),
}

/// Reason why a key is unusable.
///
/// # Examples
/// ```
/// use alcedo_sys::{KeyError, PublicKey};
///
/// match "not a key".parse::<PublicKey>() {
///     Err(KeyError::NotPublic { reason }) => assert!(!reason.is_empty()),
///     _ => panic!("these are not 64 digits"),
/// }
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The file could not be read or written.
    #[error("could not {doing} the key file {}: {source}", path.display())]
    Io {
        /// Failed operation: "read" or "write".
        doing: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// The mode of the key file allows access by users other than the owner.
    #[error("{} may be read by others (mode {mode:04o}): run `chmod 600` on it, and make a new key if they should not have it", path.display())]
    Readable {
        /// Path of the file.
        path: PathBuf,
        /// Mode of the file.
        mode: u32,
    },
    /// The string is not a public key.
    #[error(
        "this is not a public key: {reason}; pass 64 hex digits, or the content of the file that `alcedo keygen` names"
    )]
    NotPublic {
        /// Reason.
        reason: String,
    },
    /// The file does not contain a secret key.
    #[error("{} is not a secret key: {reason}; make one with `alcedo keygen`", path.display())]
    NotSecret {
        /// Path of the file.
        path: PathBuf,
        /// Reason.
        reason: String,
    },
    /// The file contains a public key instead of a secret key.
    #[error("{} is the public key; pass the private one, which `alcedo keygen` wrote next to it without `.pub`", path.display())]
    IsPublic {
        /// Path of the file.
        path: PathBuf,
    },
    /// The system provides no random numbers.
    #[error("cannot read random numbers for a new key: {reason}")]
    NoRandomNumbers {
        /// Message of the system.
        reason: String,
    },
}

impl PublicKey {
    /// Makes a key from its bytes.
    ///
    /// # Errors
    ///
    /// Returns [`KeyError::NotPublic`] if the bytes are not a key, or if the key is weak. Anyone could forge signatures for a weak key.
    ///
    /// # Examples
    /// ```
    /// use alcedo_sys::{PublicKey, SecretKey};
    ///
    /// let key = SecretKey::generate()?.public();
    /// let read = PublicKey::from_bytes(&key.to_bytes())?;
    /// assert_eq!(read.to_bytes(), key.to_bytes());
    /// # Ok::<(), alcedo_sys::KeyError>(())
    /// ```
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, KeyError> {
        let not = |reason: &str| KeyError::NotPublic { reason: reason.to_owned() };
        let key = VerifyingKey::from_bytes(bytes).map_err(|_| not("these bytes are not a point of the curve"))?;
        if key.is_weak() {
            return Err(not("it is a weak key, for which anyone can forge signatures"));
        }
        Ok(Self(key))
    }

    /// Returns the bytes of the key.
    pub fn to_bytes(&self) -> [u8; 32] {
        self.0.to_bytes()
    }

    /// Returns the key in PEM format, as `openssl pkey -pubin` reads it.
    ///
    /// # Examples
    /// ```
    /// use alcedo_sys::SecretKey;
    ///
    /// let key = SecretKey::generate()?.public();
    /// assert!(key.to_pem().starts_with("-----BEGIN PUBLIC KEY-----"));
    /// # Ok::<(), alcedo_sys::KeyError>(())
    /// ```
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
            return Err(KeyError::NotPublic { reason: "it does not consist of 64 hex digits".to_owned() });
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
    /// Generates a key.
    ///
    /// # Errors
    ///
    /// Returns [`KeyError::NoRandomNumbers`].
    pub fn generate() -> Result<Self, KeyError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| KeyError::NoRandomNumbers { reason: error.to_string() })?;
        Ok(Self(SigningKey::from_bytes(&bytes)))
    }

    /// Reads a key file: PKCS#8 in PEM, as written by [`SecretKey::write_new`] and `openssl genpkey -algorithm ed25519`.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, if other users may read the file, or if the file contains no secret key of this format.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let io = |source| KeyError::Io { doing: "read", path: path.to_owned(), source };
        let (file, found) = plain_file::open(path).map_err(io)?;
        let mut text = String::new();
        let read = file.take(LONGEST_KEY).read_to_string(&mut text);
        // Checks for a public key before the mode, because any user may read a public key.
        if text.parse::<PublicKey>().is_ok() {
            return Err(KeyError::IsPublic { path: path.to_owned() });
        }
        if let Some(mode) = mode_for_others(&found) {
            return Err(KeyError::Readable { path: path.to_owned(), mode });
        }
        read.map_err(io)?;
        let key = SigningKey::from_pkcs8_pem(text.trim());
        key.map(Self).map_err(|error| KeyError::NotSecret { path: path.to_owned(), reason: error.to_string() })
    }

    /// Writes a key file that only this user may read. Existing files are never overwritten.
    ///
    /// # Errors
    ///
    /// Fails if the file exists or cannot be written.
    ///
    /// # Examples
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// use alcedo_sys::SecretKey;
    ///
    /// let path = folder.path().join("author.pem");
    /// let key = SecretKey::generate()?;
    /// key.write_new(&path)?;
    /// assert_eq!(SecretKey::read(&path)?.public().to_bytes(), key.public().to_bytes());
    /// assert!(key.write_new(&path).is_err(), "not overwritten");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_new(&self, path: &Path) -> Result<(), KeyError> {
        let io = |source| KeyError::Io { doing: "write", path: path.to_owned(), source };
        // Omits the public key, because not every version of openssl reads the format with a public key.
        let bytes = KeypairBytes { secret_key: self.0.to_bytes(), public_key: None };
        let text = bytes.to_pkcs8_pem(LineEnding::LF).expect("32 bytes have a short encoding");
        let mut file = create_private(path).map_err(io)?;
        // An incomplete key, for example on a full disk, would prevent the next attempt.
        file.write_all(text.as_bytes()).inspect_err(|_| drop(std::fs::remove_file(path))).map_err(io)
    }

    /// Returns the public key.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

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
    pub(crate) const LEN: usize = 96;

    pub(crate) fn to_bytes(self) -> Vec<u8> {
        [&self.key[..], &self.signature].concat()
    }

    /// Splits off the signature block at the end of `bytes`.
    pub(crate) fn split(bytes: &[u8]) -> Option<(&[u8], Self)> {
        let (rest, signature) = bytes.split_last_chunk()?;
        let (content, key) = rest.split_last_chunk()?;
        Some((content, Self { key: *key, signature: *signature }))
    }
}

/// Checks that one of the trusted keys has signed this content.
///
/// # Errors
///
/// The reason why no trusted key has signed this content.
pub(crate) fn check(content: &[u8], signed: Option<&Signed>, trusted: &[PublicKey]) -> Result<(), SignatureFound> {
    let signed = signed.ok_or(SignatureFound::Nothing)?;
    // The key bytes in the file only select a trusted key. The verification uses the host's own copy of this key.
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
            Self::OfAnotherContent(key) => write!(f, "has a signature of {key} for other content"),
        }
    }
}

/// Returns the mode of a file if any user besides the owner may access the file.
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
    fn a_folder_as_key_file_is_not_called_a_library() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = SecretKey::read(folder.path()).expect_err("a folder is not a file").to_string();
        assert!(error.starts_with("could not read the key file ") && error.contains("it is a folder"), "{error}");
        assert!(!error.contains("library"), "{error}");
    }

    #[test]
    fn a_public_key_passed_as_the_secret_one_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("release.key.pub");
        let key = SecretKey::generate().expect("random numbers").public();
        for text in [key.to_pem(), key.to_string()] {
            std::fs::write(&path, text).expect("the folder is ours");
            let error = SecretKey::read(&path).expect_err("it is public").to_string();
            assert!(error.contains("is the public key; pass the private one"), "{error}");
        }
    }
}
