//! Format of the library files that this host loads: PE on Windows, ELF elsewhere. This file is the only place that distinguishes formats.

use std::collections::HashMap;

use crate::elf;
use crate::pe;

pub(crate) use crate::elf::LONGEST_END;
pub(crate) use crate::facts::{Facts, FormatError, SectionFacts};

const IS_PE: bool = cfg!(windows);

/// Number of bytes that [`glance`] needs.
pub(crate) const HEAD: usize = elf::HEAD;

const _: () = assert!(pe::HEAD == HEAD);

/// Checks the first bytes of a possible library, and the required file size. `head` contains the first bytes of a file of `len` bytes.
pub(crate) fn glance(head: &[u8], len: u64) -> Result<(), FormatError> {
    if IS_PE { pe::glance(head, len) } else { elf::glance(head, len) }
}

/// Checks the whole file and returns its [`Facts`]. The error contains the first defect.
pub(crate) fn survey(bytes: &[u8]) -> Result<Facts, FormatError> {
    if IS_PE { pe::survey(bytes) } else { elf::survey(bytes) }
}

/// Returns the names of the sections. Returns an empty list if a header is invalid.
pub(crate) fn section_names(bytes: &[u8]) -> Vec<String> {
    if IS_PE { pe::section_names(bytes) } else { elf::section_names(bytes) }
}

/// Describes the libraries that this host maps.
pub(crate) fn expected() -> String {
    if IS_PE { pe::expected() } else { elf::expected() }
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
    /// Parses the headers and relocations of a valid file. Returns `None` if these cannot be parsed.
    pub(crate) fn of(bytes: &'a [u8]) -> Option<Self> {
        if IS_PE { pe::constants(bytes) } else { elf::constants(bytes) }
    }

    /// Returns the address and the size in bytes of the loaded section with that name.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<(u64, u64)> {
        self.sections.iter().find(|(known, ..)| *known == name).map(|(_, addr, size)| (*addr, *size))
    }

    /// Returns `len` bytes at an address of the library. Returns `None` if the file does not contain all these bytes.
    #[must_use]
    pub fn bytes(&self, addr: u64, len: u64) -> Option<&'a [u8]> {
        self.parts.iter().find_map(|&(start, part)| elf::slice(part, addr.checked_sub(start)?, len))
    }

    /// Returns the address that the loader will store at `at`. Returns `None` if no relocation stores an address of the library at `at`.
    #[must_use]
    pub fn address(&self, at: u64) -> Option<u64> {
        self.addresses.get(&at).copied()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::IS_PE;
    use crate::ImageFile;

    #[test]
    fn a_library_of_another_platform_is_named() {
        let (foreign, expected) = if IS_PE { (b"\x7fELF", "an ELF file") } else { (b"MZ\0\0", "a Windows file") };
        let error = ImageFile::from_bytes(Path::new("it"), foreign.to_vec()).expect_err("it is foreign").to_string();
        let hosts = if IS_PE { "a 64-bit Windows DLL" } else { "a 64-bit little-endian ELF library" };
        assert!(error.starts_with(&format!("it is {expected}, this host maps {hosts} for ")), "{error}");
    }
}
