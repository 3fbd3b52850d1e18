//! Finds static thread-locals: thread-locals with a fixed offset from the thread pointer. The loader allocates them next to the
//! thread-locals of the program, in an area with little space for libraries that are mapped later. After a library is unmapped, its space
//! in this area is usually not reused.

use std::collections::BTreeSet;

use object::LittleEndian as LE;
use object::elf::{PT_TLS, Rela64, SHT_DYNSYM, SHT_RELA, SHT_SYMTAB, STT_TLS, Sym64};

use super::relocations::is_near_thread;
use super::symbols::LONGEST_NAME;
use super::{Elf, Section, headers, records, string_at};

/// Use of the static thread-local storage by a library.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct StaticTls {
    /// Total size in bytes of all thread-locals of the library, which the loader allocates together if one of them is static.
    pub bytes: u64,
    /// Linker symbols of the thread-locals with a fixed offset, in address order. Empty if the file has no symbol names.
    pub variables: Vec<String>,
}

impl StaticTls {
    /// Returns the use of static thread-locals by a library. Returns `None` if the library has no static thread-locals.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let elf = headers::read(bytes).ok()?;
        let locals = elf.segment_of_kind(PT_TLS)?;
        let offsets = fixed(&elf);
        let variables = if offsets.is_empty() { return None } else { names(&elf, &offsets) };
        Some(Self { bytes: locals.memsz, variables })
    }
}

/// Returns the offset of each static thread-local from the first thread-local of the library.
fn fixed(elf: &Elf<'_>) -> BTreeSet<u64> {
    let symbols = elf.section_of_kind(SHT_DYNSYM).map_or(&[][..], |section| table::<Sym64<LE>>(elf, section));
    let tables = elf.sections.iter().filter(|section| section.kind == SHT_RELA && section.is_loaded());
    let entries = tables.flat_map(|section| table::<Rela64<LE>>(elf, section));
    let of_entry = |entry: &Rela64<LE>| {
        let info = entry.r_info.get(LE);
        let symbol = symbols.get((info >> 32) as usize).map_or(0, |symbol| symbol.st_value.get(LE));
        is_near_thread(info as u32).then(|| symbol.wrapping_add_signed(entry.r_addend.get(LE)))
    };
    entries.filter_map(of_entry).collect()
}

fn names(elf: &Elf<'_>, offsets: &BTreeSet<u64>) -> Vec<String> {
    let Some(section) = elf.section_of_kind(SHT_SYMTAB) else { return Vec::new() };
    let strings = elf.sections.get(section.link).and_then(|strings| elf.bytes.get(strings.file_range()));
    let mut found: Vec<_> = table::<Sym64<LE>>(elf, section)
        .iter()
        .filter(|symbol| symbol.st_info.0 & 0xf == STT_TLS.0)
        .filter_map(|symbol| {
            let start = symbol.st_value.get(LE);
            let end = start.checked_add(symbol.st_size.get(LE).max(1))?;
            offsets.range(start..end).next()?;
            Some((start, string_at(strings?, symbol.st_name.get(LE).into(), LONGEST_NAME)?.to_owned()))
        })
        .collect();
    found.sort();
    found.dedup();
    found.into_iter().map(|(_, name)| name).collect()
}

/// Returns the records of a section. Returns no records if the section is invalid.
fn table<'a, T: object::pod::Pod>(elf: &Elf<'a>, section: &Section<'_>) -> &'a [T] {
    let bytes = elf.bytes.get(section.file_range()).unwrap_or_default();
    records(bytes, "a table").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::StaticTls;

    #[test]
    fn a_library_without_such_thread_locals_uses_no_storage() {
        assert_eq!(StaticTls::of(b"no library"), None);
        let program = std::fs::read(std::env::current_exe().expect("this program")).expect("its file");
        assert_eq!(StaticTls::of(&program), None, "a program has the distances in its code");
    }
}
