//! Reads constants of a library from its file, without mapping the library or running its code. For this, applies the relocations that
//! store addresses of the library itself.

use std::collections::HashMap;

use object::LittleEndian as LE;
use object::elf::{PF_R, Rela64, SHT_RELA, SHT_RELR};

use super::relocations::{WORD, each_packed, is_own};
use super::{headers, records, slice};
use crate::facts::Constants;

/// Parses the headers and relocations of a valid file. Returns `None` if parsing fails.
pub(crate) fn constants(bytes: &[u8]) -> Option<Constants<'_>> {
    let elf = headers::read(bytes).ok()?;
    let loaded = || elf.sections.iter().filter(|section| section.is_loaded());
    let readable = elf.loads().filter(|load| load.allows(PF_R.0));
    let parts = readable.filter_map(|load| Some((load.addr, slice(bytes, load.offset, load.filesz)?))).collect();
    let mut addresses = HashMap::new();
    for table in loaded().filter(|section| section.kind == SHT_RELA) {
        let entries: &[Rela64<LE>] = records(bytes.get(table.file_range())?, table.name).ok()?;
        let own = entries.iter().filter(|entry| is_own(entry.r_info.get(LE) as u32));
        addresses.extend(own.map(|entry| (entry.r_offset.get(LE), entry.r_addend.get(LE) as u64)));
    }
    for table in loaded().filter(|section| section.kind == SHT_RELR) {
        let words = records(bytes.get(table.file_range())?, table.name).ok()?;
        // A packed relocation has no addend. The location in the file already contains the address.
        let word = |at: u64| elf.mapped(at, WORD)?.try_into().ok().map(u64::from_le_bytes);
        let visited = each_packed(words, |at| {
            addresses.extend(word(at).map(|address| (at, address)));
            Ok(())
        });
        visited.ok()?;
    }
    let sections = loaded().map(|section| (section.name, section.addr, section.size)).collect();
    Some(Constants { sections, parts, addresses })
}
