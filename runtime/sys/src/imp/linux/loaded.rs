//! Libraries mapped by the loader: their segments, names, dependencies and imports, read from the loader's tables in memory.

use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use object::elf::{DT_JMPREL, DT_NEEDED, DT_PLTRELSZ, DT_RELA, DT_RELASZ, DT_SONAME, DT_STRTAB, DT_SYMTAB};

use super::c::loader::{self, Listed};

#[derive(Clone, Debug)]
pub(super) struct Loaded {
    /// Name in the loader's list. Empty for the program itself.
    pub(super) name: Vec<u8>,
    pub(super) base: usize,
    pub(super) ranges: Vec<Range<usize>>,
    pub(super) code: Vec<Range<usize>>,
    own_name: Option<Vec<u8>>,
    needed: Vec<Vec<u8>>,
}

/// Returns all mapped libraries, the program first.
pub(super) fn all() -> Vec<Loaded> {
    loader::all(Loaded::of)
}

impl Loaded {
    fn of(listed: &Listed<'_>) -> Self {
        let names = listed.value(DT_STRTAB);
        let strings =
            |tag| listed.dynamic().filter(move |entry| entry.0 == tag).map(|entry| name_at(listed, names, entry.1));
        Self {
            name: listed.name.to_bytes().to_vec(),
            base: listed.base,
            ranges: listed.segments().collect(),
            code: listed.code(),
            own_name: strings(DT_SONAME).next(),
            // Skips empty names, because the program is listed with an empty name and would match.
            needed: strings(DT_NEEDED).filter(|name| !name.is_empty()).collect(),
        }
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        self.base == other.base && self.name == other.name
    }

    pub(super) fn path(&self) -> PathBuf {
        PathBuf::from(OsStr::from_bytes(&self.name))
    }

    pub(super) fn file(&self) -> String {
        let last = self.name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        String::from_utf8_lossy(last).into_owned()
    }

    /// Checks if the library satisfies a dependency with this name.
    fn provides(&self, name: &[u8]) -> bool {
        self.name == name || self.file().as_bytes() == name || self.own_name.as_deref() == Some(name)
    }

    /// Returns the symbols that the library refers to, including its own symbols. The list is empty if the library is no longer mapped.
    pub(super) fn refers_to(&self) -> Vec<Vec<u8>> {
        let mut names = Vec::new();
        loader::walk(|listed| {
            let is_it = listed.base == self.base && listed.name.to_bytes() == self.name;
            if is_it {
                names = imports(listed);
            }
            is_it
        });
        names
    }
}

/// Reads the string at an offset of a library's string table.
fn name_at(listed: &Listed<'_>, names: Option<usize>, offset: usize) -> Vec<u8> {
    names.map_or_else(Vec::new, |names| listed.string(listed.address(names).wrapping_add(offset)))
}

/// Returns the symbol names in a library's relocations. On all platforms with hooks, a relocation consists of an offset, a word with symbol
/// index and relocation kind, and an addend. The first field of a symbol is the offset of its name.
fn imports(listed: &Listed<'_>) -> Vec<Vec<u8>> {
    const RELOCATION: usize = 3 * size_of::<u64>();
    let Some(symbols) = listed.value(DT_SYMTAB).map(|symbols| listed.address(symbols)) else { return Vec::new() };
    let (strings, mut names) = (listed.value(DT_STRTAB), Vec::new());
    for (table, len) in [(DT_RELA, DT_RELASZ), (DT_JMPREL, DT_PLTRELSZ)] {
        let Some((table, len)) = listed.value(table).zip(listed.value(len)) else { continue };
        for relocation in listed.read(listed.address(table), len).as_chunks::<RELOCATION>().0 {
            let symbol = u32::from_ne_bytes([12, 13, 14, 15].map(|at| relocation[at])) as usize;
            let entry = symbols.wrapping_add(symbol * size_of::<libc::Elf64_Sym>());
            if symbol == 0 {
                continue;
            }
            if let Some(name) = listed.read(entry, size_of::<u32>()).first_chunk() {
                names.push(name_at(listed, strings, u32::from_ne_bytes(*name) as usize));
            }
        }
    }
    names
}

/// Returns the libraries in `all` that are direct or indirect dependencies of `root`.
pub(super) fn needs(root: &Loaded, all: &[Loaded]) -> Vec<Loaded> {
    let mut found: Vec<Loaded> = Vec::new();
    let mut next = vec![root.clone()];
    while let Some(library) = next.pop() {
        for name in &library.needed {
            let provider = all.iter().find(|other| other.provides(name));
            if let Some(provider) = provider
                && !provider.is(root)
                && !found.iter().any(|known| known.is(provider))
            {
                found.push(provider.clone());
                next.push(provider.clone());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{all, needs};

    #[test]
    fn this_program_needs_the_c_library_which_refers_to_what_it_uses() {
        let all = all();
        let needed = needs(&all[0], &all);
        let library = needed.iter().find(|library| library.file().starts_with("libc.so")).expect("it is linked");
        assert!(library.code.iter().all(|code| library.ranges.contains(code)) && !library.code.is_empty());
        assert!(needed.iter().all(|library| !library.is(&all[0])));
        let names = all[0].refers_to();
        assert!(names.iter().any(|name| name == b"dl_iterate_phdr"), "it is used here");
        let nothing = super::Loaded { needed: vec![b"no such library".to_vec()], ..all[0].clone() };
        assert!(needs(&nothing, &all).is_empty());
    }
}
