//! File format of a world. The envelope of a file contains a version, a length and a digest. The body contains the records as one CBOR
//! value. This module converts between bytes and records, without access to objects. `docs/world-format.md` documents the format.
//!
//! A file is written object by object, so a save needs little memory for the records. The digest covers the body and then the head, so
//! that the digest is computed while the body is written. The length in the head is known only after the body. A file is read as a whole,
//! because the whole file is checked before its use.

use std::io::{self, Seek, SeekFrom, Write};

use serde::Serialize;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::escape::line;
use crate::world::canonical::{self, KeptBytes};
use crate::world::check::check;
use crate::world::records::{ClassRecord, FlatFile, FormatError, ObjectRecord, RawFile, StructRecord, malformed};

/// First bytes of every file.
const MAGIC: [u8; 8] = *b"ALCWORLD";
/// Version of the format that this host writes. Must be incremented with every change to the format that earlier hosts would misread.
pub(super) const VERSION: u32 = 2;

/// Size in bytes of the head: magic, version, a reserved word, and the length of the body.
pub(super) const HEAD: usize = 24;
/// Size in bytes of the digest at the end.
const TAIL: usize = 8;

/// Number of bytes that are written at once.
const CHUNK: usize = 1 << 16;

/// CBOR header of a map with three entries.
const MAP_OF_THREE: u8 = 0xa3;
/// First byte of the CBOR header of an array with a length of four bytes.
const LONG_ARRAY: u8 = 0x9a;

/// Writes a file record by record. [`Envelope::seal`] completes the file. The records of classes and structs follow the objects, because
/// the saved objects determine the required classes and structs.
pub(crate) struct Records<'a> {
    to: &'a mut dyn Write,
    /// Bytes that are not yet written.
    bytes: Vec<u8>,
}

impl<'a> Records<'a> {
    /// Starts a file that will contain `objects` objects.
    pub(crate) fn new(to: &'a mut dyn Write, objects: u32) -> io::Result<Self> {
        let mut bytes = head(0);
        bytes.push(MAP_OF_THREE);
        put("objects", &mut bytes)?;
        bytes.push(LONG_ARRAY);
        bytes.extend(objects.to_be_bytes());
        Ok(Self { to, bytes })
    }

    /// Writes the next object.
    pub(crate) fn object(&mut self, record: &ObjectRecord<'_, KeptBytes>) -> io::Result<()> {
        canonical::write(record, &mut self.bytes)?;
        if self.bytes.len() >= CHUNK {
            self.to.write_all(&self.bytes)?;
            self.bytes.clear();
        }
        Ok(())
    }

    /// Writes the classes and structs of the objects.
    pub(crate) fn finish(mut self, classes: &[ClassRecord], structs: &[StructRecord]) -> io::Result<()> {
        put("classes", &mut self.bytes)?;
        put(classes, &mut self.bytes)?;
        put("structs", &mut self.bytes)?;
        put(structs, &mut self.bytes)?;
        self.to.write_all(&self.bytes)
    }
}

fn put(value: &(impl Serialize + ?Sized), to: &mut Vec<u8>) -> io::Result<()> {
    ciborium::into_writer(value, to).map_err(io::Error::other)
}

/// Returns the head of a file whose body has this length.
pub(super) fn head(length: u64) -> Vec<u8> {
    [&MAGIC, &VERSION.to_le_bytes()[..], &[0; 4], &length.to_le_bytes()].concat()
}

/// Returns the digest of a file with this head and body.
pub(super) fn digest(head: &[u8], body: &[u8]) -> u64 {
    let mut digest = Xxh3::new();
    digest.update(body);
    digest.update(head);
    digest.digest()
}

/// Writes the head and the body of a file, and computes the digest of the body.
pub(crate) struct Envelope<W> {
    to: W,
    digest: Xxh3,
    /// Number of bytes that are written.
    len: u64,
}

impl<W: Write + Seek> Envelope<W> {
    /// Starts an empty file.
    pub(crate) fn new(to: W) -> Self {
        Self { to, digest: Xxh3::new(), len: 0 }
    }

    /// Completes a file whose records are written: writes the length of the body, and the digest. Returns the file.
    pub(crate) fn seal(mut self) -> io::Result<W> {
        let head = head(self.len.saturating_sub(HEAD as u64));
        self.digest.update(&head);
        self.to.seek(SeekFrom::Start(0))?;
        self.to.write_all(&head)?;
        self.to.seek(SeekFrom::End(0))?;
        self.to.write_all(&self.digest.digest().to_le_bytes())?;
        Ok(self.to)
    }
}

impl<W: Write> Write for Envelope<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        let head = (HEAD as u64).saturating_sub(self.len).min(written as u64) as usize;
        self.digest.update(&bytes[head..written]);
        self.len += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl<'a> FlatFile<'a> {
    /// Decodes a complete file of a known version, and validates its records with [`check`]. The records borrow from `bytes`.
    pub(crate) fn decode(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let (version, body) = body(bytes)?;
        let file = canonical::read(body, version).map_or_else(|| read_any(body, version), Ok)?;
        check(&file)?;
        Ok(file)
    }
}

/// Reads the CBOR body of a file of this version in any valid form.
pub(super) fn read_any(mut body: &[u8], version: u32) -> Result<FlatFile<'static>, FormatError> {
    let file: RawFile = ciborium::from_reader(&mut body).map_err(of_cbor)?;
    if !body.is_empty() {
        return Err(malformed(format!("its body has {} bytes past its end", body.len())));
    }
    file.resolve(version)
}

/// Describes the error of an invalid CBOR body.
fn of_cbor(error: ciborium::de::Error<io::Error>) -> FormatError {
    use ciborium::de::Error;
    malformed(match error {
        Error::Io(_) => "its body ends in the middle of a value".to_owned(),
        Error::Syntax(at) => format!("its body is not CBOR at byte {at}"),
        Error::Semantic(Some(at), what) => format!("at byte {at} of its body: {}", line(&what)),
        Error::Semantic(None, what) => format!("its body has an invalid value: {}", line(&what)),
        Error::RecursionLimitExceeded => "its values are nested too deep".to_owned(),
    })
}

/// Checks the head of a file: magic, version and length. `found` is the number of bytes in the file. Returns the version.
pub(super) fn check_head(bytes: &[u8], found: u64) -> Result<u32, FormatError> {
    let is_ours = bytes.iter().zip(MAGIC).all(|(found, expected)| *found == expected);
    if !is_ours || bytes.is_empty() {
        return Err(FormatError::NotAWorld);
    }
    let frame = (HEAD + TAIL) as u64;
    let Some(head) = bytes.get(..HEAD).filter(|_| found >= frame) else {
        return Err(FormatError::Length { found, expected: frame });
    };
    let version = u32::from_le_bytes([head[8], head[9], head[10], head[11]]);
    if version > VERSION {
        return Err(FormatError::Newer { found: version, known: VERSION });
    }
    let expected = number(&head[HEAD - 8..]).saturating_add(frame);
    if expected != found {
        return Err(FormatError::Length { found, expected });
    }
    Ok(version)
}

/// Checks the digest of a whole file, and returns the version and the body.
fn body(bytes: &[u8]) -> Result<(u32, &[u8]), FormatError> {
    let version = check_head(bytes, bytes.len() as u64)?;
    let (whole, tail) = bytes.split_at(bytes.len() - TAIL);
    let (head, body) = whole.split_at(HEAD);
    // In version 1, the digest covers the bytes in the order of the file.
    let found = if version < 2 { xxh3_64(whole) } else { digest(head, body) };
    let expected = number(tail);
    if found != expected {
        return Err(FormatError::Damaged { found, expected });
    }
    if version == 0 || number(&head[12..16]) != 0 {
        return Err(malformed("its head has no version, or reserved bytes are not zero"));
    }
    Ok((version, body))
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
#[path = "format/tests.rs"]
mod tests;
