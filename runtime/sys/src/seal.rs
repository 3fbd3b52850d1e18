//! Trailer of a library file. The build tool appends a *seal*: a digest of all preceding bytes. If a key is configured, the tool first
//! appends a *signature*.
//!
//! The ELF checks detect most damage in headers, but only the seal detects bit errors in code or data. The seal protects against accidents
//! such as a truncated copy or a faulty disk. It does not protect against attacks, because anyone can compute a digest. Only the signature
//! identifies the author.
//!
//! A file consists of its content, an optional signature ([`SIGNED`], with the key and the signature itself), and an optional seal
//! ([`MAGIC`], with the digest). The last byte of each tag is the format version. A trailer of a different version is treated as content,
//! and the file is rejected.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use crate::format::LONGEST_END;
use crate::image_error::ImageError;
use crate::signature::{SecretKey, Signed};
use crate::source::open_regular;
use crate::stamp::FileId;

const MAGIC: [u8; 8] = *b"ALCSEAL\x01";
const LEN: usize = MAGIC.len() + size_of::<u128>();

const SIGNED: [u8; 8] = *b"ALCSIGN\x01";

const _: () = assert!(LONGEST_END == (Signed::LEN + SIGNED.len() + LEN) as u64);

/// Seals a finished library file. A file with a valid seal is left unchanged. This function may be called on any thread.
///
/// # Errors
///
/// Returns the system error if the file cannot be read or written, or an error if another program replaces the file during the call.
/// Returns [`io::ErrorKind::InvalidData`] if the existing seal is invalid, because a new seal would hide the damage.
///
/// # Examples
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let library = folder.path().join("libspinner.so");
/// # std::fs::write(&library, [7_u8; 100])?;
/// alcedo_sys::seal_file(&library)?;
/// let sealed = std::fs::read(&library)?;
/// assert!(sealed.len() > 100);
/// alcedo_sys::seal_file(&library)?;
/// assert_eq!(std::fs::read(&library)?, sealed);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn seal_file(path: &Path) -> io::Result<()> {
    let (bytes, read) = read(path)?;
    let Parts { content, digest, .. } = split(&bytes).ok_or_else(broken)?;
    match digest {
        Some(_) => Ok(()),
        None => write_trailer(path, &read, content.len(), &seal_of(content)),
    }
}

/// Signs and seals a finished library file. Replaces an existing signature and seal. This function may be called on any thread.
///
/// # Errors
///
/// Returns the errors of [`seal_file`].
///
/// # Examples
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let library = folder.path().join("libspinner.so");
/// # std::fs::write(&library, [7_u8; 100])?;
/// use alcedo_sys::{SecretKey, sign_file};
///
/// sign_file(&library, &SecretKey::generate()?)?;
/// let signed = std::fs::read(&library)?;
/// assert!(signed.starts_with(&[7; 100]) && signed.len() > 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sign_file(path: &Path, key: &SecretKey) -> io::Result<()> {
    let (bytes, read) = read(path)?;
    let content = split(&bytes).ok_or_else(broken)?.content;
    let mut whole = content.to_vec();
    whole.extend(key.sign(content).to_bytes());
    whole.extend(SIGNED);
    whole.extend(seal_of(&whole));
    write_trailer(path, &read, content.len(), &whole[content.len()..])
}

/// Writes a trailer at a fixed offset. Two builds that seal a file at the same time therefore write identical bytes. Uses a single write. A
/// concurrent reader thus finds no trailer or a partial trailer. Files with a partial trailer are rejected. `read` is the open file with
/// the content. A file that has replaced it, for example in a second build, is left unchanged, because the offset may be inside its
/// content.
fn write_trailer(path: &Path, read: &File, content: usize, trailer: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    if FileId::of(&file.metadata()?) != FileId::of(&read.metadata()?) {
        return Err(io::Error::other("another program has replaced it before it was sealed; build it again"));
    }
    file.seek(SeekFrom::Start(content as u64))?;
    // Removes a partial trailer after an error such as a full disk, because a later seal would cover this part as content.
    file.write_all(trailer).inspect_err(|_| drop(file.set_len(content as u64)))
}

fn read(path: &Path) -> io::Result<(Vec<u8>, File)> {
    let (mut file, _) = open_regular(path).map_err(|error| match error {
        ImageError::Io { source, .. } => source,
        other => io::Error::other(other),
    })?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok((bytes, file))
}

fn seal_of(bytes: &[u8]) -> Vec<u8> {
    let mut seal = MAGIC.to_vec();
    seal.extend(xxh3_128(bytes).to_le_bytes());
    seal
}

fn broken() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "its seal does not match its content; build it again")
}

/// Parts of a library file.
pub(crate) struct Parts<'a> {
    pub(crate) content: &'a [u8],
    /// Digest of the content, without seal and signature. Sealing and signing therefore do not change the identity of a build. `None` if
    /// the file has no seal.
    pub(crate) digest: Option<u128>,
    /// Signature, not verified yet.
    pub(crate) signed: Option<Signed>,
}

/// Splits a file into its parts. Returns `None` if its seal does not match the bytes.
pub(crate) fn split(bytes: &[u8]) -> Option<Parts<'_>> {
    let unsealed = Parts { content: bytes, digest: None, signed: None };
    let Some((before, seal)) = bytes.split_last_chunk::<LEN>() else { return Some(unsealed) };
    let Some(written) = seal.strip_prefix(&MAGIC) else { return Some(unsealed) };
    let digest = xxh3_128(before);
    if digest.to_le_bytes() != written {
        return None;
    }
    Some(match before.strip_suffix(&SIGNED).and_then(Signed::split) {
        None => Parts { content: before, digest: Some(digest), signed: None },
        Some((content, signed)) => Parts { content, digest: Some(xxh3_128(content)), signed: Some(signed) },
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::{fs, thread};

    use super::{seal_file, sign_file, split};
    use crate::signature::{SecretKey, SignatureFound, check};

    #[test]
    fn seals_detect_flipped_bits_and_sealing_is_idempotent() {
        let dir = tempfile::tempdir().expect("a place for the file");
        let path = dir.path().join("file");
        fs::write(&path, vec![7_u8; 1000]).expect("the file");
        seal_file(&path).expect("the seal");
        let sealed = fs::read(&path).expect("the sealed file");
        let is_sealed = |bytes: &[u8]| split(bytes).is_some_and(|parts| parts.digest.is_some());
        assert!(is_sealed(&sealed) && split(&sealed).is_some_and(|parts| parts.content.len() == 1000));
        for bit in 0..sealed.len() * 8 {
            let mut bytes = sealed.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_sealed(&bytes), "bit {bit}");
        }
        seal_file(&path).expect("the same seal");
        assert_eq!(fs::read(&path).expect("the same file"), sealed);
        // A new seal after an invalid seal would certify the damaged bytes.
        let mut damaged = sealed;
        damaged[500] ^= 1;
        fs::write(&path, &damaged).expect("the damaged file");
        let error = seal_file(&path).expect_err("it is damaged");
        assert!(error.to_string().contains("its seal does not match its content"), "{error}");
        assert_eq!(fs::read(&path).expect("still there"), damaged);
    }

    #[test]
    fn two_builds_may_seal_a_file_at_the_same_time() {
        let dir = tempfile::tempdir().expect("a place for the file");
        let path = dir.path().join("file");
        for _ in 0..200 {
            fs::write(&path, vec![7_u8; 100_000]).expect("the file");
            let both = Barrier::new(2);
            let seal = || {
                both.wait();
                seal_file(&path)
            };
            thread::scope(|scope| {
                let other = scope.spawn(seal);
                seal().expect("the seal");
                other.join().expect("no panic").expect("the same seal");
            });
            let sealed = fs::read(&path).expect("the sealed file");
            let parts = split(&sealed).expect("the seal fits");
            assert_eq!((parts.content.len(), parts.digest.is_some()), (100_000, true));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_replaces_the_sealed_one_stays_unchanged() {
        use super::{read, seal_of, write_trailer};

        let dir = tempfile::tempdir().expect("a place for the file");
        let [path, next] = ["file", "next"].map(|name| dir.path().join(name));
        fs::write(&path, vec![7_u8; 1000]).expect("the file");
        let (bytes, old) = read(&path).expect("the file");
        fs::write(&next, vec![8_u8; 4000]).expect("the next build");
        fs::rename(&next, &path).expect("moved");
        let written = write_trailer(&path, &old, bytes.len(), &seal_of(&bytes));
        written.expect_err("it is a different file");
        assert_eq!(fs::read(&path).expect("the next build"), vec![8_u8; 4000]);
    }

    #[test]
    fn signing_keeps_the_build_id_and_replaces_earlier_signatures() {
        let dir = tempfile::tempdir().expect("a place for the file");
        let path = dir.path().join("file");
        let keys = [(); 2].map(|()| SecretKey::generate().expect("random numbers"));
        fs::write(&path, vec![7_u8; 1000]).expect("the file");
        let unsigned = fs::read(&path).expect("the file").len();
        seal_file(&path).expect("the seal");
        let digest = |path| {
            let bytes = fs::read(path).expect("the file");
            let parts = split(&bytes).expect("the seal fits");
            (parts.content.len(), parts.digest.expect("it is sealed"))
        };
        let before = digest(&path);
        for key in [&keys[0], &keys[1], &keys[0]] {
            sign_file(&path, key).expect("the signature");
            assert_eq!(digest(&path), before);
            let bytes = fs::read(&path).expect("the signed file");
            assert_eq!(bytes.len(), unsigned + 96 + 8 + 24);
            let sealed = split(&bytes).expect("the seal fits");
            let trusts = |keys: &[&SecretKey]| {
                let keys: Vec<_> = keys.iter().map(|key| key.public()).collect();
                check(sealed.content, sealed.signed.as_ref(), &keys)
            };
            assert_eq!(trusts(&[key]), Ok(()));
            assert_eq!(trusts(&[&keys[0], &keys[1]]), Ok(()));
            assert_eq!(trusts(&[]), Err(SignatureFound::OfAnotherKey(key.public().to_bytes())));
            // Combines the signature of different content with a valid seal.
            let mut other = sealed.content.to_vec();
            other[0] ^= 1;
            let found = check(&other, sealed.signed.as_ref(), &[key.public()]);
            assert_eq!(found, Err(SignatureFound::OfAnotherContent(key.public())));
        }
    }
}
