//! Reads constants of a library from its file, without mapping the library or running its code. For this, applies the relocations that
//! store addresses of the library itself.

use std::collections::HashMap;

use object::LittleEndian as LE;
use object::elf::{Rela64, SHT_RELA, SHT_RELR};

use super::relocations::{WORD, each_packed, is_own};
use super::{Elf, headers, records};

/// Constants of one library. Addresses are relative to the start of the mapped library.
#[derive(Debug)]
pub(crate) struct Constants<'a> {
    elf: Elf<'a>,
    /// Map from each relocated location to the address that the loader will store there.
    addresses: HashMap<u64, u64>,
}

impl<'a> Constants<'a> {
    /// Parses the headers and relocations of a valid file. Returns `None` if parsing fails.
    pub(crate) fn of(bytes: &'a [u8]) -> Option<Self> {
        let elf = headers::read(bytes).ok()?;
        let mut addresses = HashMap::new();
        for table in elf.sections.iter().filter(|section| section.kind == SHT_RELA && section.is_loaded()) {
            let entries: &[Rela64<LE>] = records(bytes.get(table.file_range())?, table.name).ok()?;
            let own = entries.iter().filter(|entry| is_own(entry.r_info.get(LE) as u32));
            addresses.extend(own.map(|entry| (entry.r_offset.get(LE), entry.r_addend.get(LE) as u64)));
        }
        for table in elf.sections.iter().filter(|section| section.kind == SHT_RELR && section.is_loaded()) {
            let words = records(bytes.get(table.file_range())?, table.name).ok()?;
            // A packed relocation has no addend. The location in the file already contains the address.
            let word = |at: u64| elf.mapped(at, WORD)?.try_into().ok().map(u64::from_le_bytes);
            let visited = each_packed(words, |at| {
                addresses.extend(word(at).map(|address| (at, address)));
                Ok(())
            });
            visited.ok()?;
        }
        Some(Self { elf, addresses })
    }

    /// Returns the address and the size in bytes of the loaded section with that name.
    pub(crate) fn section(&self, name: &str) -> Option<(u64, u64)> {
        self.elf.section_named(name).filter(|section| section.is_loaded()).map(|section| (section.addr, section.size))
    }

    /// Returns `len` bytes at an address of the library. Returns `None` if the file does not contain all these bytes.
    pub(crate) fn bytes(&self, addr: u64, len: u64) -> Option<&'a [u8]> {
        self.elf.mapped(addr, len)
    }

    /// Returns the address that the loader will store at `at`. Returns `None` if no relocation stores an address of the library at `at`.
    pub(crate) fn address(&self, at: u64) -> Option<u64> {
        self.addresses.get(&at).copied()
    }
}
