//! The names of what lies at some place of a library, read from its file. Only asked for what was found.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use object::elf::{FileHeader64, STT_FUNC, STT_NOTYPE, STT_OBJECT};
use object::read::elf::{FileHeader as _, SectionHeader as _, Sym as _};
use object::{LittleEndian, elf};

/// What files say, each read once.
#[derive(Default)]
pub(super) struct Files(HashMap<PathBuf, Option<Names>>);

struct Names {
    /// Where each begins, how long it is, and what it is called; sorted.
    symbols: Vec<(u64, u64, String)>,
    sections: Vec<(u64, u64, String)>,
}

impl Files {
    /// The symbol that an address of the file lies in, and how far.
    pub(super) fn symbol(&mut self, path: &Path, address: u64) -> Option<(String, usize)> {
        let (start, _, name) =
            self.of(path)?.symbols.iter().rev().find(|(start, len, _)| within(*start, *len, address))?;
        Some((name.clone(), (address - start) as usize))
    }

    /// The symbol or, failing that, the section that an address of the file lies in, and how far.
    pub(super) fn place(&mut self, path: &Path, address: u64) -> String {
        // The program has no name with the loader.
        let path = if path.as_os_str().is_empty() { Path::new("/proc/self/exe") } else { path };
        let behind = |name: &str, start: u64| match address - start {
            0 => name.to_owned(),
            offset => format!("{name}+{offset:#x}"),
        };
        let Some(names) = self.of(path) else { return format!("{address:#x}") };
        let mut all = names.symbols.iter().rev().chain(&names.sections);
        let found = all.find(|(start, len, _)| within(*start, *len, address));
        found.map_or_else(|| format!("{address:#x}"), |(start, _, name)| behind(name, *start))
    }

    fn of(&mut self, path: &Path) -> Option<&Names> {
        self.0.entry(path.to_owned()).or_insert_with(|| read(path)).as_ref()
    }
}

fn within(start: u64, len: u64, address: u64) -> bool {
    address.checked_sub(start).is_some_and(|behind| behind < len.max(1))
}

fn read(path: &Path) -> Option<Names> {
    parse(&fs::read(path).ok()?)
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
    Some(Names { symbols, sections })
}
