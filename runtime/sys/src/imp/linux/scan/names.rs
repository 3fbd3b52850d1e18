//! Finds symbol and section names for addresses in a library. The names are read from the library's file, and only for references that are
//! reported.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use object::elf::{FileHeader64, STT_FUNC, STT_NOTYPE, STT_OBJECT};
use object::read::elf::{FileHeader as _, ProgramHeader as _, SectionHeader as _, Sym as _};
use object::{LittleEndian, elf};

use crate::plain_file;

#[derive(Default)]
pub(super) struct Files(HashMap<PathBuf, Option<Names>>);

struct Names {
    /// Initial values of variables: start and bytes of each part of the file's data.
    initial: Vec<(u64, Vec<u8>)>,
    /// Start, size and name of each symbol, sorted.
    symbols: Vec<(u64, u64, String)>,
    sections: Vec<(u64, u64, String)>,
}

impl Files {
    /// Returns the name of the symbol that contains an address. Also returns the offset of the address from the start of the symbol.
    pub(super) fn symbol(&mut self, path: &Path, address: u64) -> Option<(String, usize)> {
        let (start, _, name) =
            self.of(path)?.symbols.iter().rev().find(|(start, len, _)| within(*start, *len, address))?;
        Some((name.clone(), (address - start) as usize))
    }

    /// Formats an address of the file as symbol or section with offset.
    pub(super) fn location(&mut self, path: &Path, address: u64) -> String {
        let behind = |name: &str, start: u64| match address - start {
            0 => name.to_owned(),
            offset => format!("{name}+{offset:#x}"),
        };
        let Some(names) = self.of(path) else { return format!("{address:#x}") };
        let mut all = names.symbols.iter().rev().chain(&names.sections);
        let found = all.find(|(start, len, _)| within(*start, *len, address));
        found.map_or_else(|| format!("{address:#x}"), |(start, _, name)| behind(name, *start))
    }

    pub(super) fn section(&mut self, path: &Path, name: &str) -> Option<u64> {
        self.of(path)?.sections.iter().find(|(_, _, other)| other == name).map(|(start, ..)| *start)
    }

    /// Returns the initial word of a variable. Relocations are not applied, so a word that contains an address differs from the word in
    /// memory.
    pub(super) fn initial(&mut self, path: &Path, address: u64) -> Option<usize> {
        let found = self.of(path)?.initial.iter().find(|(start, bytes)| within(*start, bytes.len() as u64, address));
        let (start, bytes) = found?;
        let word = bytes.get((address - start) as usize..)?.first_chunk()?;
        Some(usize::from_ne_bytes(*word))
    }

    fn of(&mut self, path: &Path) -> Option<&Names> {
        // The loader lists the program with an empty name.
        let path = if path.as_os_str().is_empty() { Path::new("/proc/self/exe") } else { path };
        self.0.entry(path.to_owned()).or_insert_with(|| read(path)).as_ref()
    }
}

/// Checks if a location is in the cache in which the standard library or the crate `backtrace` stores debug information of libraries.
pub(super) fn is_backtrace_cache(location: &str) -> bool {
    ["backtrace", "gimli", "MAPPINGS_CACHE"].into_iter().all(|part| location.contains(part))
}

fn within(start: u64, len: u64, address: u64) -> bool {
    address.checked_sub(start).is_some_and(|behind| behind < len.max(1))
}

fn read(path: &Path) -> Option<Names> {
    parse(&plain_file::read(path, plain_file::LARGEST_LIBRARY).ok()?)
}

fn parse(bytes: &[u8]) -> Option<Names> {
    let header = FileHeader64::<LittleEndian>::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, bytes).ok()?;
    let mut symbols = Vec::new();
    for kind in [elf::SHT_DYNSYM, elf::SHT_SYMTAB] {
        let table = sections.symbols(endian, bytes, kind).ok()?;
        for symbol in table.iter() {
            let is_named = [STT_FUNC, STT_OBJECT, STT_NOTYPE].contains(&symbol.st_type());
            let (start, len) = (symbol.st_value(endian), symbol.st_size(endian));
            if is_named && start != 0 && len != 0 && !symbol.is_undefined(endian) {
                let name = symbol.name(endian, table.strings()).unwrap_or_default();
                symbols.push((start, len, String::from_utf8_lossy(name).into_owned()));
            }
        }
    }
    symbols.sort();
    let is_there = |section: &&elf::SectionHeader64<LittleEndian>| {
        section.sh_addr(endian) != 0 && section.sh_flags(endian).0 & elf::SHF_TLS.0 == 0
    };
    let section = |section: &elf::SectionHeader64<LittleEndian>| {
        let name = sections.section_name(endian, section).unwrap_or_default();
        (section.sh_addr(endian), section.sh_size(endian), String::from_utf8_lossy(name).into_owned())
    };
    let sections = sections.iter().filter(is_there).map(section).collect();
    let is_variable = |segment: &&elf::ProgramHeader64<LittleEndian>| {
        segment.p_type(endian) == elf::PT_LOAD && segment.p_flags(endian).0 & elf::PF_W.0 != 0
    };
    let segments = header.program_headers(endian, bytes).ok()?.iter().filter(is_variable);
    let initial = segments.filter_map(|it| Some((it.p_vaddr(endian), it.data(endian, bytes).ok()?.to_vec()))).collect();
    Some(Names { initial, symbols, sections })
}

#[cfg(test)]
mod tests {
    use super::super::super::c::peek;
    use super::super::objects;
    use super::{Files, is_backtrace_cache, read};

    static ROOM: [std::sync::atomic::AtomicUsize; 2] =
        [const { std::sync::atomic::AtomicUsize::new(0x0258_0000_0001) }; 2];

    #[test]
    fn variables_start_with_the_bytes_of_their_file() {
        let objects = objects::mapped();
        let program = objects.iter().find(|object| object.is_program()).expect("it is mapped");
        let mut files = Files::default();
        let mut initial = |at: usize| files.initial(&program.path, (at - program.base) as u64);
        let at = ROOM.each_ref().map(|word| std::ptr::from_ref(word).addr());
        assert_eq!((peek::word(at[0]), initial(at[0])), (Some(0x0258_0000_0001), Some(0x0258_0000_0001)));
        ROOM[1].store(7, std::sync::atomic::Ordering::Relaxed);
        assert_eq!((peek::word(at[1]), initial(at[1])), (Some(7), Some(0x0258_0000_0001)));
    }

    #[test]
    fn the_cache_for_backtraces_is_found_by_its_name() {
        let names = read("/proc/self/exe".as_ref()).expect("the program has symbols");
        let caches: Vec<_> = names.symbols.iter().filter(|(_, _, name)| is_backtrace_cache(name)).collect();
        assert!(matches!(caches[..], [(_, 16.., _)]), "{caches:?}");
    }
}
