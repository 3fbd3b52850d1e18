//! Format of the library files that this host loads: PE on Windows, ELF elsewhere. This file is the only place that distinguishes formats.

use crate::elf;
use crate::pe;

pub(crate) use crate::elf::LONGEST_END;
pub use crate::facts::Constants;
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

/// Parses the headers and relocations of a valid file. Returns `None` if these cannot be parsed.
pub(crate) fn constants(bytes: &[u8]) -> Option<Constants<'_>> {
    if IS_PE { pe::constants(bytes) } else { elf::constants(bytes) }
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
