//! What stands behind the end of a library: a *seal*, which is a digest of all before it, written by the tool that built the
//! file; and before that, where it was asked for, a *signature*.
//!
//! Headers contradict each other when they are damaged; a flipped bit in code or data contradicts nothing but the seal. It
//! guards against accidents (a copy cut short, a bad disk) and not against malice: anybody can compute a digest. Who made
//! a file is said by the signature alone.
//!
//! A file is its content; a signature, if there is one (key and signature, [`SIGNED`]); and a seal, if there is one
//! ([`MAGIC`], digest). The last byte of each name is the number of its format; what has another number is no seal or
//! signature here, and then the content does not end where it has to, so the file is refused.

use std::fs::OpenOptions;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use crate::elf::LONGEST_END;
use crate::image_error::ImageError;
use crate::signature::{SecretKey, Signed};
use crate::source::open_regular;

const MAGIC: [u8; 8] = *b"ALCSEAL\x01";
const LEN: usize = MAGIC.len() + size_of::<u128>();

/// Behind a key and its signature.
const SIGNED: [u8; 8] = *b"ALCSIGN\x01";

const _: () = assert!(LONGEST_END == (Signed::LEN + SIGNED.len() + LEN) as u64);

/// Seals a finished library file. A file that has a seal that fits is left as it is. Any thread.
///
/// # Errors
///
/// What the system says when the file cannot be read or written; [`io::ErrorKind::InvalidData`] when it has a seal that is
/// of other bytes, which another seal would only hide.
pub fn seal_file(path: &Path) -> io::Result<()> {
    let bytes = read(path)?;
    match split(&bytes) {
        Seal::Fits(_) => Ok(()),
        Seal::Broken => Err(broken()),
        // One write: a concurrent reader sees a file without a seal, or with a part of one, which is refused.
        Seal::None(all) => OpenOptions::new().append(true).open(path)?.write_all(&seal_of(all)),
    }
}

/// Signs a finished library file and seals it, in place of the seal and signature that it has. Any thread.
///
/// # Errors
///
/// As for [`seal_file`].
pub fn sign_file(path: &Path, key: &SecretKey) -> io::Result<()> {
    let bytes = read(path)?;
    let content = match split(&bytes) {
        Seal::Fits(sealed) => sealed.content,
        Seal::None(all) => all,
        Seal::Broken => return Err(broken()),
    };
    let mut whole = content.to_vec();
    whole.extend(key.sign(content).to_bytes());
    whole.extend(SIGNED);
    whole.extend(seal_of(&whole));
    // One write here as well; in between the seal is of other bytes.
    let mut file = OpenOptions::new().write(true).open(path)?;
    file.seek(SeekFrom::Start(content.len() as u64))?;
    file.write_all(&whole[content.len()..])
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let (mut file, _) = open_regular(path).map_err(ImageError::in_words)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn seal_of(bytes: &[u8]) -> Vec<u8> {
    let mut seal = MAGIC.to_vec();
    seal.extend(xxh3_128(bytes).to_le_bytes());
    seal
}

fn broken() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "its seal is of other bytes; build it again")
}

/// What stands at the end of a file.
pub(crate) enum Seal<'a> {
    /// No seal: all bytes.
    None(&'a [u8]),
    /// A seal that fits.
    Fits(Sealed<'a>),
    /// A seal of other bytes.
    Broken,
}

/// A file whose seal fits.
pub(crate) struct Sealed<'a> {
    /// The library.
    pub(crate) content: &'a [u8],
    /// Of the content alone, so that neither a seal nor a signature makes it another build.
    pub(crate) digest: u128,
    /// What was found for a signature; it has not been compared with anything.
    pub(crate) signed: Option<Signed>,
}

/// Parts a file from its seal.
pub(crate) fn split(bytes: &[u8]) -> Seal<'_> {
    let Some((before, seal)) = bytes.split_last_chunk::<LEN>() else { return Seal::None(bytes) };
    let Some(written) = seal.strip_prefix(&MAGIC) else { return Seal::None(bytes) };
    let digest = xxh3_128(before);
    if digest.to_le_bytes() != written {
        return Seal::Broken;
    }
    let signed = before.strip_suffix(&SIGNED).and_then(|rest| rest.split_last_chunk());
    Seal::Fits(match signed {
        None => Sealed { content: before, digest, signed: None },
        Some((content, signed)) => {
            Sealed { content, digest: xxh3_128(content), signed: Some(Signed::from_bytes(signed)) }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Seal, Sealed, seal_file, sign_file, split};
    use crate::signature::{SecretKey, SignatureFound, check};

    #[test]
    fn a_seal_fits_until_a_bit_is_flipped_and_sealing_twice_changes_nothing() {
        let dir = tempfile::tempdir().expect("a place for the file");
        let path = dir.path().join("file");
        fs::write(&path, vec![7_u8; 1000]).expect("the file");
        seal_file(&path).expect("the seal");
        let sealed = fs::read(&path).expect("the sealed file");
        assert!(matches!(split(&sealed), Seal::Fits(Sealed { content, .. }) if content.len() == 1000));
        for bit in 0..sealed.len() * 8 {
            let mut bytes = sealed.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!matches!(split(&bytes), Seal::Fits(_)), "bit {bit}");
        }
        seal_file(&path).expect("the same seal");
        assert_eq!(fs::read(&path).expect("the same file"), sealed);
        // A second seal behind one that is broken would vouch for the damage.
        let mut damaged = sealed;
        damaged[500] ^= 1;
        fs::write(&path, &damaged).expect("the damaged file");
        let error = seal_file(&path).expect_err("it is damaged");
        assert!(error.to_string().contains("its seal is of other bytes"), "{error}");
        assert_eq!(fs::read(&path).expect("still there"), damaged);
    }

    #[test]
    fn a_signed_file_is_the_same_build_and_signing_again_replaces_the_signature() {
        let dir = tempfile::tempdir().expect("a place for the file");
        let path = dir.path().join("file");
        let keys = [(); 2].map(|()| SecretKey::generate().expect("random numbers"));
        fs::write(&path, vec![7_u8; 1000]).expect("the file");
        let unsigned = match split(&fs::read(&path).expect("the file")) {
            Seal::None(all) => all.len(),
            _ => panic!("there is no seal yet"),
        };
        seal_file(&path).expect("the seal");
        let digest = |path| match split(&fs::read(path).expect("the file")) {
            Seal::Fits(sealed) => (sealed.content.len(), sealed.digest),
            _ => panic!("it is sealed"),
        };
        let before = digest(&path);
        for key in [&keys[0], &keys[1], &keys[0]] {
            sign_file(&path, key).expect("the signature");
            assert_eq!(digest(&path), before);
            let bytes = fs::read(&path).expect("the signed file");
            assert_eq!(bytes.len(), unsigned + 96 + 8 + 24);
            let Seal::Fits(sealed) = split(&bytes) else { panic!("the seal fits") };
            let trusts = |keys: &[&SecretKey]| {
                let keys: Vec<_> = keys.iter().map(|key| key.public()).collect();
                check(sealed.content, sealed.signed.as_ref(), &keys)
            };
            assert_eq!(trusts(&[key]), Ok(()));
            assert_eq!(trusts(&[&keys[0], &keys[1]]), Ok(()));
            assert_eq!(trusts(&[]), Err(SignatureFound::OfAnotherKey(key.public().to_bytes())));
            // Of another content, under a seal that fits.
            let mut other = sealed.content.to_vec();
            other[0] ^= 1;
            let found = check(&other, sealed.signed.as_ref(), &[key.public()]);
            assert_eq!(found, Err(SignatureFound::OfAnotherContent(key.public())));
        }
    }
}
