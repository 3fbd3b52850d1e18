//! Reads constants of a library with the values that they will have after mapping. Uses the bytes of the file and the library's own
//! relocations. The library is not mapped, and none of its code runs.

use std::collections::HashMap;

use object::elf::{
    EM_AARCH64, EM_RISCV, EM_X86_64, R_AARCH64_RELATIVE, R_RISCV_RELATIVE, R_X86_64_RELATIVE, Rela64, SHT_RELA,
    SHT_RELR,
};

use object::{LittleEndian as LE, U64};

use super::{Elf, HOST, headers, records};

/// Size of an address of the target.
const WORD: u64 = 8;

/// Constants of one library. Addresses are relative to the start of the library.
#[derive(Debug)]
pub struct Constants<'a> {
    elf: Elf<'a>,
    /// Addresses that the loader will store during mapping, by the location to which the loader writes.
    addresses: HashMap<u64, u64>,
}

impl<'a> Constants<'a> {
    /// Reads a valid file. Returns `None` if the headers cannot be parsed.
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
        for table in elf.sections.iter().filter(|section| section.kind == SHT_RELR && section.is_loaded()) {
            let words: &[U64<LE>] = records(bytes.get(table.file_range())?, table.name).ok()?;
            // A packed relocation has no addend: the relocated word in the file contains the address.
            let word = |at: &u64| elf.mapped(*at, WORD)?.try_into().ok().map(u64::from_le_bytes);
            addresses.extend(packed(words).into_iter().filter_map(|at| Some((at, word(&at)?))));
        }
        Some(Self { elf, addresses })
    }

    /// Returns the address and the size in bytes of the loaded section with that name.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<(u64, u64)> {
        self.elf.section_named(name).filter(|section| section.is_loaded()).map(|section| (section.addr, section.size))
    }

    /// Returns `len` bytes at an address of the library. Returns `None` if the file does not contain all these bytes.
    #[must_use]
    pub fn bytes(&self, addr: u64, len: u64) -> Option<&'a [u8]> {
        self.elf.mapped(addr, len)
    }

    /// Returns the address that the loader will store at `at`. Returns `None` if the stored address will be outside of the library.
    #[must_use]
    pub fn address(&self, at: u64) -> Option<u64> {
        self.addresses.get(&at).copied()
    }
}

/// Decodes the offsets of packed relocations. An even word is an offset. An odd word has a bit for each of the 63 words after the last
/// offset.
fn packed(words: &[U64<LE>]) -> Vec<u64> {
    let (mut addresses, mut next) = (Vec::new(), 0_u64);
    for word in words.iter().map(|word| word.get(LE)) {
        if word & 1 == 0 {
            addresses.push(word);
            next = word.saturating_add(WORD);
            continue;
        }
        addresses
            .extend((1..64).filter(|bit| word >> bit & 1 == 1).filter_map(|bit| next.checked_add((bit - 1) * WORD)));
        next = next.saturating_add(63 * WORD);
    }
    addresses
}

#[cfg(test)]
mod tests {
    use object::{LittleEndian as LE, U64};

    use super::packed;

    #[test]
    fn packed_relocations_are_addresses_followed_by_bitmaps() {
        let words = [0x1000, 0b111, 0b10_0001, 0x9000].map(|word| U64::new(LE, word));
        let behind = 0x1008 + 63 * 8;
        assert_eq!(packed(&words), [0x1000, 0x1008, 0x1010, behind + 4 * 8, 0x9000]);
        assert!(packed(&[]).is_empty());
    }
}
