//! What the loader has mapped: every library with its segments, its name, the libraries it needs and what it imports, read
//! from its tables in memory.
#![expect(unsafe_code, reason = "walks the loader's list and reads tables of mapped libraries")]

use std::ffi::{CStr, OsStr};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use super::c::loader::{self, Listed};

/// A mapped library.
#[derive(Clone, Debug)]
pub(super) struct Loaded {
    /// The name that the loader has for it; empty for the program itself.
    pub(super) name: Vec<u8>,
    /// Where it begins, which distinguishes two libraries of one name.
    pub(super) base: usize,
    /// Where its segments are.
    pub(super) ranges: Vec<Range<usize>>,
    /// Those of them that are code.
    pub(super) code: Vec<Range<usize>>,
    /// The name it gives itself.
    own_name: Option<Vec<u8>>,
    /// The names of the other libraries that it requires.
    needed: Vec<Vec<u8>>,
    /// Where its table for the loader is.
    dynamic: Option<usize>,
}

/// The entries of that table that are looked at.
#[derive(Default)]
struct Dynamic {
    strings: usize,
    symbols: usize,
    needed: Vec<usize>,
    own_name: Option<usize>,
    /// Tables of relocations: where, and how many bytes.
    relocations: [(usize, usize); 2],
}

/// One entry of that table.
#[repr(C)]
#[derive(Clone, Copy)]
struct Entry {
    tag: i64,
    value: u64,
}

/// A relocation with an addend, the only sort that the platforms with hooks have.
#[repr(C)]
#[derive(Clone, Copy)]
struct Relocation {
    offset: u64,
    info: u64,
    addend: i64,
}

/// Every library that is mapped now, the program first.
pub(super) fn all() -> Vec<Loaded> {
    let mut found = Vec::new();
    loader::walk(|listed| {
        found.push(Loaded::of(listed));
        false
    });
    found
}

impl Loaded {
    fn of(listed: &Listed<'_>) -> Self {
        let loads = listed.of_kind(libc::PT_LOAD);
        let mut loaded = Self {
            name: listed.name.to_bytes().to_vec(),
            base: listed.base,
            ranges: listed.segments().collect(),
            code: loads.filter(|header| header.p_flags & libc::PF_X != 0).map(|header| listed.range(header)).collect(),
            own_name: None,
            needed: Vec::new(),
            dynamic: listed.of_kind(libc::PT_DYNAMIC).map(|header| listed.range(header).start).next(),
        };
        // SAFETY: the loader has it on the list, so it is mapped, and unmaps nothing during the walk; the offsets are of its
        // own table.
        unsafe {
            let Dynamic { strings, needed, own_name, .. } = loaded.dynamic();
            loaded.own_name = own_name.map(|offset| text(strings, offset));
            loaded.needed = needed.into_iter().map(|offset| text(strings, offset)).collect();
        }
        loaded
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        self.base == other.base && self.name == other.name
    }

    /// Its file, as the loader names it.
    pub(super) fn path(&self) -> PathBuf {
        PathBuf::from(OsStr::from_bytes(&self.name))
    }

    /// The last part of its name.
    pub(super) fn file(&self) -> String {
        let last = self.name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        String::from_utf8_lossy(last).into_owned()
    }

    /// Whether it is what a library asks for under this name.
    fn answers_to(&self, name: &[u8]) -> bool {
        self.name == name || self.file().as_bytes() == name || self.own_name.as_deref() == Some(name)
    }

    /// The symbols that it refers to, its own among them; nothing if it is not mapped any more.
    pub(super) fn refers_to(&self) -> Vec<Vec<u8>> {
        let mut names = Vec::new();
        loader::walk(|listed| {
            let is_it = listed.base == self.base && listed.name.to_bytes() == self.name;
            if is_it {
                // SAFETY: the loader has it on the list, so it is mapped, and unmaps nothing during the walk.
                names = unsafe { self.names() };
            }
            is_it
        });
        names
    }

    /// # Safety
    ///
    /// It is mapped.
    unsafe fn names(&self) -> Vec<Vec<u8>> {
        // SAFETY: our caller promises that it is mapped.
        let dynamic = unsafe { self.dynamic() };
        let relocations = std::ptr::with_exposed_provenance::<Relocation>;
        let symbols = std::ptr::with_exposed_provenance::<libc::Elf64_Sym>(dynamic.symbols);
        let mut names = Vec::new();
        for (table, bytes) in dynamic.relocations {
            for at in 0..bytes / size_of::<Relocation>() {
                // SAFETY: the library's own table says that there are so many bytes of relocations. Each refers to a symbol that
                // is there, and that to its name, or the loader would not have mapped the library.
                unsafe {
                    let symbol = relocations(table).wrapping_add(at).read_unaligned().info >> 32;
                    if symbol != 0 {
                        let symbol = symbols.wrapping_add(symbol as usize).read_unaligned();
                        names.push(text(dynamic.strings, symbol.st_name as usize));
                    }
                }
            }
        }
        names
    }

    /// # Safety
    ///
    /// It is mapped.
    unsafe fn dynamic(&self) -> Dynamic {
        const NEEDED: i64 = 1;
        const STRINGS: i64 = 5;
        const SYMBOLS: i64 = 6;
        const RELOCATIONS: i64 = 7;
        const RELOCATIONS_LEN: i64 = 8;
        const OWN_NAME: i64 = 14;
        const JUMPS: i64 = 23;
        const JUMPS_LEN: i64 = 2;
        let mut found = Dynamic::default();
        let Some(start) = self.dynamic else { return found };
        // The loader writes addresses over most of these, but not where the table cannot be written to.
        let address = |value: usize| if value < self.base { self.base.wrapping_add(value) } else { value };
        for at in 0.. {
            let place = std::ptr::with_exposed_provenance::<Entry>(start).wrapping_add(at);
            // SAFETY: our caller promises that the library is mapped; its table ends with the tag zero.
            let Entry { tag, value } = unsafe { place.read() };
            let value = value as usize;
            match tag {
                0 => break,
                NEEDED => found.needed.push(value),
                STRINGS => found.strings = address(value),
                SYMBOLS => found.symbols = address(value),
                RELOCATIONS => found.relocations[0].0 = address(value),
                RELOCATIONS_LEN => found.relocations[0].1 = value,
                JUMPS => found.relocations[1].0 = address(value),
                JUMPS_LEN => found.relocations[1].1 = value,
                OWN_NAME => found.own_name = Some(value),
                _ => {}
            }
        }
        found
    }
}

/// # Safety
///
/// There are C strings at `strings`, one of which begins at the offset.
unsafe fn text(strings: usize, offset: usize) -> Vec<u8> {
    if strings == 0 {
        return Vec::new();
    }
    let place = std::ptr::with_exposed_provenance(strings.wrapping_add(offset));
    // SAFETY: our caller promises a C string there, in memory that stays while it is read.
    unsafe { CStr::from_ptr(place) }.to_bytes().to_vec()
}

/// The libraries that `root` needs, and those that they need, as far as they are in `all`.
pub(super) fn needs(root: &Loaded, all: &[Loaded]) -> Vec<Loaded> {
    let mut found: Vec<Loaded> = Vec::new();
    let mut next = vec![root.clone()];
    while let Some(library) = next.pop() {
        for name in &library.needed {
            let answer = all.iter().find(|other| other.answers_to(name));
            if let Some(answer) = answer
                && !answer.is(root)
                && !found.iter().any(|known| known.is(answer))
            {
                found.push(answer.clone());
                next.push(answer.clone());
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
