//! Results and errors of the check of a library file, shared by the checks of all file formats.

use std::collections::HashMap;
use std::ops::Range;

/// Reason why a file is not a complete library. The caller adds the path of the file.
#[derive(Debug)]
pub(crate) enum FormatError {
    /// The file ends inside the part `what`, which requires a file of at least `need` bytes.
    Truncated { what: String, need: u64 },
    /// The file is for a different platform. The file itself may be valid.
    Foreign { found: String },
    /// The file is for this machine, but not a shared library.
    WrongKind { found: String },
    /// The data is inconsistent or invalid.
    Malformed { what: String },
}

#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) sections: Vec<SectionFacts>,
    /// Names of the needed libraries, in the order in which the loader searches them.
    pub(crate) needed: Vec<String>,
    /// Undefined symbols, including weak symbols.
    pub(crate) imports: Vec<String>,
    pub(crate) pinning: Pinning,
}

/// Facts about a file that show if the loader will keep the library mapped permanently.
#[derive(Debug, Default)]
pub(crate) struct Pinning {
    /// `true` if the file has the flag `DF_1_NODELETE`.
    pub(crate) is_marked: bool,
    /// Defined symbols that are unique per process (`STB_GNU_UNIQUE`). The loader never unmaps a library that provided such a symbol.
    pub(crate) unique: Vec<String>,
    /// Library that provides each import, in the order of `imports`. `None` if the symbol version of the import does not name a library.
    pub(crate) libraries: Vec<Option<String>>,
}

#[derive(Debug)]
pub(crate) struct SectionFacts {
    pub(crate) name: String,
    pub(crate) range: Range<usize>,
    /// `true` if the loader writes to the section during mapping.
    pub(crate) is_relocated: bool,
}

/// Returns the name of the file type, for files that users often pass by mistake.
pub(crate) fn family(bytes: &[u8]) -> &'static str {
    match bytes {
        [0x7f, b'E', b'L', b'F', ..] => "an ELF file",
        [b'M', b'Z', ..] => "a Windows file",
        [0xcf, 0xfa, 0xed, 0xfe, ..] | [0xca, 0xfe, 0xba, 0xbe, ..] => "a macOS file",
        [b'!', b'<', b'a', b'r', ..] => "a static archive",
        _ if cfg!(windows) => "not a Windows file",
        _ => "not an ELF file",
    }
}

pub(crate) fn malformed(what: impl Into<String>) -> FormatError {
    FormatError::Malformed { what: what.into() }
}

pub(crate) fn ensure<S: Into<String>>(holds: bool, what: impl FnOnce() -> S) -> Result<(), FormatError> {
    if holds { Ok(()) } else { Err(malformed(what())) }
}

pub(crate) fn ensure_host<S: Into<String>>(holds: bool, found: impl FnOnce() -> S) -> Result<(), FormatError> {
    if holds { Ok(()) } else { Err(FormatError::Foreign { found: found().into() }) }
}

/// Checks that a file of `len` bytes contains the part `what`, which ends at `need`.
pub(crate) fn ensure_whole(len: u64, what: &str, need: u64) -> Result<(), FormatError> {
    if need <= len { Ok(()) } else { Err(FormatError::Truncated { what: what.to_owned(), need }) }
}

pub(crate) fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
}

/// Constants of one library. Addresses are relative to the start of the library.
#[derive(Debug)]
pub struct Constants<'a> {
    /// Name, address and size in bytes of each loaded section.
    pub(crate) sections: Vec<(&'a str, u64, u64)>,
    /// Parts of the file that are mapped, each with its address.
    pub(crate) parts: Vec<(u64, &'a [u8])>,
    /// Map from each relocated location to the address that the loader will store there.
    pub(crate) addresses: HashMap<u64, u64>,
}

impl<'a> Constants<'a> {
    /// Returns the address and the size in bytes of the loaded section with that name.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<(u64, u64)> {
        self.sections.iter().find(|(known, ..)| *known == name).map(|(_, addr, size)| (*addr, *size))
    }

    /// Returns `len` bytes at an address of the library. Returns `None` if the file does not contain all these bytes.
    #[must_use]
    pub fn bytes(&self, addr: u64, len: u64) -> Option<&'a [u8]> {
        self.parts.iter().find_map(|&(start, part)| slice(part, addr.checked_sub(start)?, len))
    }

    /// Returns the address that the loader will store at `at`. Returns `None` if no relocation stores an address of the library at `at`.
    #[must_use]
    pub fn address(&self, at: u64) -> Option<u64> {
        self.addresses.get(&at).copied()
    }
}

/// Returns a part of a file. Returns `None` if the part exceeds the file.
pub(crate) fn slice(bytes: &[u8], offset: u64, size: u64) -> Option<&[u8]> {
    let (start, end) = (usize::try_from(offset).ok()?, usize::try_from(offset.checked_add(size)?).ok()?);
    bytes.get(start..end)
}
