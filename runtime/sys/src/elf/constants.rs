//! What the constants of a library are once it is mapped, read from its file: bytes as they stand there, and addresses as the
//! relocations of the library itself say them. Nothing is mapped, and no code of it runs.

use std::collections::HashMap;

use object::LittleEndian as LE;
use object::elf::{
    EM_AARCH64, EM_RISCV, EM_X86_64, R_AARCH64_RELATIVE, R_RISCV_RELATIVE, R_X86_64_RELATIVE, Rela64, SHT_RELA,
};

use super::{Elf, HOST, headers, records};

/// The constants of one library. Addresses are those of the file: the library begins at 0.
#[derive(Debug)]
pub struct Constants<'a> {
    elf: Elf<'a>,
    /// What the loader writes, by where it writes it.
    addresses: HashMap<u64, u64>,
}

impl<'a> Constants<'a> {
    /// Of a file that was found whole; none if its headers cannot be read.
    pub(crate) fn of(bytes: &'a [u8]) -> Option<Self> {
        let elf = headers::read(bytes).ok()?;
        let own = match HOST {
            EM_X86_64 => R_X86_64_RELATIVE,
            EM_AARCH64 => R_AARCH64_RELATIVE,
            EM_RISCV => R_RISCV_RELATIVE,
            _ => return None,
        };
        let mut addresses = HashMap::new();
        for table in elf.sections.iter().filter(|section| section.kind == SHT_RELA && section.is_loaded()) {
            let entries: &[Rela64<LE>] = records(bytes.get(table.file_range())?, table.name).ok()?;
            let own = entries.iter().filter(|entry| entry.r_type(LE, false) == own);
            addresses.extend(own.map(|entry| (entry.r_offset.get(LE), entry.r_addend.get(LE) as u64)));
        }
        Some(Self { elf, addresses })
    }

    /// Where the section of that name is in memory, and how many bytes it has.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<(u64, u64)> {
        self.elf.section_named(name).filter(|section| section.is_loaded()).map(|section| (section.addr, section.size))
    }

    /// Bytes at an address; none where the file has none for all of them.
    #[must_use]
    pub fn bytes(&self, addr: u64, len: u64) -> Option<&'a [u8]> {
        self.elf.mapped(addr, len)
    }

    /// The address that will stand at an address; none where that is none of the library itself.
    #[must_use]
    pub fn address(&self, at: u64) -> Option<u64> {
        self.addresses.get(&at).copied()
    }
}
