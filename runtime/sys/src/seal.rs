//! The seal: a digest of the whole file, written behind its end by the tool that built it. Headers contradict each
//! other when they are damaged; a flipped bit in code or data contradicts nothing but this. It guards against
//! accidents (a copy cut short, a bad disk), not against malice.
//!
//! The file's last bytes are the magic and the digest of all before. A file without them is not sealed; a file that
//! ends in anything else than its section table or a seal that fits is refused.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

const MAGIC: [u8; 8] = *b"ALCSEAL\x01";
const LEN: usize = MAGIC.len() + size_of::<u128>();

/// Seals a finished library file. A file that has a seal that fits is left as it is. Any thread.
///
/// # Errors
///
/// What the system says when the file cannot be read or written.
pub fn seal_file(path: &Path) -> io::Result<()> {
    let bytes = std::fs::read(path)?;
    if let Seal::Fits(..) = split(&bytes) {
        return Ok(());
    }
    let mut seal = MAGIC.to_vec();
    seal.extend(xxh3_128(&bytes).to_le_bytes());
    // One write: whoever reads meanwhile sees a file without a seal, or with a part of one, which is refused.
    OpenOptions::new().append(true).open(path)?.write_all(&seal)
}

/// What stands at the end of a file.
pub(crate) enum Seal<'a> {
    /// No seal: all bytes.
    None(&'a [u8]),
    /// A seal that fits the bytes before it, whose digest it has.
    Fits(&'a [u8], u128),
    /// A seal of other bytes.
    Broken,
}

/// Parts a file from its seal.
pub(crate) fn split(bytes: &[u8]) -> Seal<'_> {
    let Some((body, seal)) = bytes.split_last_chunk::<LEN>() else { return Seal::None(bytes) };
    match seal.strip_prefix(&MAGIC) {
        None => Seal::None(bytes),
        Some(written) => match xxh3_128(body) {
            digest if digest.to_le_bytes() == written => Seal::Fits(body, digest),
            _ => Seal::Broken,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{Seal, seal_file, split};

    #[test]
    fn a_seal_fits_until_a_bit_is_flipped_and_sealing_twice_changes_nothing() {
        let dir = tempfile::tempdir().expect("a place for the file");
        let path = dir.path().join("file");
        std::fs::write(&path, vec![7_u8; 1000]).expect("the file");
        seal_file(&path).expect("the seal");
        let sealed = std::fs::read(&path).expect("the sealed file");
        assert!(matches!(split(&sealed), Seal::Fits(body, _) if body.len() == 1000));
        for bit in 0..sealed.len() * 8 {
            let mut bytes = sealed.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!matches!(split(&bytes), Seal::Fits(..)), "bit {bit}");
        }
        seal_file(&path).expect("the same seal");
        assert_eq!(std::fs::read(&path).expect("the same file"), sealed);
    }
}
