//! Whether a file is a whole shared library that this host could map, judged by its bytes alone.
//!
//! The C library does not check what it maps: a wrong number is a crash inside `dlopen`, not an error. So whatever the
//! loader follows is followed here first, each kind of table in a file of its own: every address that it reads, writes
//! or jumps to must lie where such a thing may lie, and every walk must end. A linker also says most things twice
//! (segments for the loader, sections for tools, the dynamic table for both), so a cut or flipped file contradicts
//! itself. This only compares; it does no IO and maps nothing. The work grows with the size of the file, not faster.

mod constants;
mod dynamic;
#[cfg(test)]
mod fixture;
mod hashes;
mod headers;
mod notes;
mod origins;
mod program;
mod relocations;
mod segments;
mod static_tls;
mod stays;
mod symbols;
mod versions;

use std::ffi::CStr;
use std::ops::Range;

use object::elf::{
    EM_AARCH64, EM_NONE, EM_RISCV, EM_X86_64, Machine, PF_R, PF_W, PF_X, PT_LOAD, ProgramType, SHF_ALLOC,
    SHF_EXECINSTR, SHF_TLS, SHT_NOBITS, SHT_NULL, SectionType,
};
use object::pod::{Pod, slice_from_all_bytes};

pub use constants::Constants;
pub(crate) use headers::{HEAD, LONGEST_END, glance};
pub use static_tls::StaticTls;
pub(crate) use stays::Stays;

/// The smallest page of any host this reads files for; every `PT_LOAD` must be aligned to at least this.
const PAGE: u64 = 4096;

/// The machine this host was built for.
const HOST: Machine = if cfg!(target_arch = "x86_64") {
    EM_X86_64
} else if cfg!(target_arch = "aarch64") {
    EM_AARCH64
} else if cfg!(target_arch = "riscv64") {
    EM_RISCV
} else {
    EM_NONE
};

/// Why a file is not a whole library. The caller has the path and turns this into its error.
#[derive(Debug)]
pub(crate) enum Flaw {
    /// `what` needs the file to have `need` bytes.
    Truncated { what: String, need: u64 },
    /// Perhaps well formed, but for another platform.
    Foreign { found: String },
    /// An ELF file of this machine that is not a shared library.
    WrongKind { found: String },
    /// Two statements of the file contradict each other, or one makes no sense.
    Malformed { what: String },
}

/// What is worth keeping once a file was found whole.
#[derive(Debug)]
pub(crate) struct Facts {
    /// Every section that has bytes in the file.
    pub(crate) sections: Vec<SectionFacts>,
    /// The names the loader will look for, in the order it will look.
    pub(crate) needed: Vec<String>,
    /// The symbols it uses and does not define.
    pub(crate) imports: Vec<String>,
    /// By what the loader keeps it for ever.
    pub(crate) stays: Stays,
}

/// A section that has bytes in the file.
#[derive(Debug)]
pub(crate) struct SectionFacts {
    pub(crate) name: String,
    pub(crate) range: Range<usize>,
    /// Whether the loader writes into it while it maps the file.
    pub(crate) is_relocated: bool,
}

/// One program header, in numbers of this host.
#[derive(Debug)]
struct Segment {
    kind: ProgramType,
    flags: u32,
    offset: u64,
    addr: u64,
    paddr: u64,
    filesz: u64,
    memsz: u64,
    align: u64,
}

/// One section header, in numbers of this host.
#[derive(Debug)]
struct Section<'a> {
    name: &'a str,
    kind: SectionType,
    flags: u64,
    addr: u64,
    offset: u64,
    size: u64,
    link: usize,
    info: u32,
    align: u64,
}

/// A file whose headers were read; the checks compare them.
#[derive(Debug)]
struct Elf<'a> {
    bytes: &'a [u8],
    segments: Vec<Segment>,
    sections: Vec<Section<'a>>,
}

/// What the file holds, or the first thing found that shows it is not whole.
pub(crate) fn survey(bytes: &[u8]) -> Result<Facts, Flaw> {
    let elf = headers::read(bytes)?;
    program::refuse(&elf)?;
    segments::check(&elf)?;
    notes::check(&elf)?;
    let dynamic::Wants { needed, imports, relocated, stays } = dynamic::check(&elf)?;
    let sections = elf.sections.iter().enumerate().filter(|(_, s)| s.kind != SHT_NOBITS && s.kind != SHT_NULL);
    let sections = sections.map(|(index, section)| SectionFacts {
        name: section.name.to_owned(),
        range: section.file_range(),
        is_relocated: relocated.contains(&index),
    });
    Ok(Facts { sections: sections.collect(), needed, imports, stays })
}

/// The longest library that is looked at unless a host says otherwise, in bytes: a debug build of a large plugin is a tenth of that.
pub(crate) const LARGEST: u64 = 1 << 30;

/// In words, what a library must be to be mapped here.
pub(crate) fn wanted() -> String {
    format!("a 64-bit little-endian ELF library for {}", std::env::consts::ARCH)
}

impl Segment {
    fn end(&self) -> u64 {
        self.addr.saturating_add(self.memsz)
    }

    fn file_end(&self) -> u64 {
        self.offset.saturating_add(self.filesz)
    }

    /// The pages it takes in memory.
    fn pages(&self) -> Range<u64> {
        self.addr - self.addr % PAGE..self.end().checked_next_multiple_of(PAGE).unwrap_or(u64::MAX)
    }

    fn allows(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    fn holds(&self, addr: u64, size: u64) -> bool {
        self.addr <= addr && addr.checked_add(size).is_some_and(|end| end <= self.end())
    }

    /// Whether the segment says of a section exactly what the section says of itself.
    fn is_exactly(&self, section: &Section<'_>) -> bool {
        (self.addr, self.offset, self.filesz, self.memsz) == (section.addr, section.offset, section.size, section.size)
    }
}

impl Section<'_> {
    fn has(&self, flag: u64) -> bool {
        self.flags & flag != 0
    }

    fn end(&self) -> u64 {
        self.addr.saturating_add(self.size)
    }

    fn file_end(&self) -> u64 {
        self.offset.saturating_add(self.size)
    }

    fn is_loaded(&self) -> bool {
        self.has(SHF_ALLOC.0) && self.size > 0
    }

    /// `.tbss` has an address but takes no memory of the image.
    fn is_thread_zeroes(&self) -> bool {
        self.kind == SHT_NOBITS && self.has(SHF_TLS.0)
    }

    /// Only for sections whose range was checked against the file.
    fn file_range(&self) -> Range<usize> {
        self.offset as usize..self.file_end() as usize
    }
}

impl<'a> Elf<'a> {
    fn loads(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(|segment| segment.kind == PT_LOAD)
    }

    /// The load that holds the memory `addr..addr + size`.
    fn load_of(&self, addr: u64, size: u64) -> Option<&Segment> {
        self.loads().find(|load| load.holds(addr, size))
    }

    fn segment_of_kind(&self, kind: ProgramType) -> Option<&Segment> {
        self.segments.iter().find(|segment| segment.kind == kind)
    }

    /// Whether a section of code holds that address. What fills the room between sections is none.
    fn is_code(&self, addr: u64) -> bool {
        self.code().any(|section| section.addr <= addr && addr < section.end())
    }

    fn code(&self) -> impl Iterator<Item = &Section<'a>> {
        let runs = |section: &&Section<'_>| {
            let load = self.load_of(section.addr, section.size);
            let is_code = section.has(SHF_EXECINSTR.0) && section.kind != SHT_NOBITS;
            section.is_loaded() && is_code && load.is_some_and(|load| load.allows(PF_X.0))
        };
        self.sections.iter().filter(runs)
    }

    fn is_writable(&self, addr: u64, size: u64) -> bool {
        self.load_of(addr, size).is_some_and(|load| load.allows(PF_W.0))
    }

    /// The bytes of the file that will be mapped at `addr`.
    fn mapped(&self, addr: u64, size: u64) -> Option<&'a [u8]> {
        let load = self.load_of(addr, size)?;
        let skip = addr - load.addr;
        if skip.checked_add(size)? > load.filesz || !load.allows(PF_R.0) {
            return None;
        }
        slice(self.bytes, load.offset.checked_add(skip)?, size)
    }

    fn section_of_kind(&self, kind: SectionType) -> Option<&Section<'a>> {
        self.sections.iter().find(|section| section.kind == kind)
    }

    fn section_named(&self, name: &str) -> Option<&Section<'a>> {
        self.sections.iter().find(|section| section.name == name)
    }
}

/// Where all code of a file is, for callers with many addresses to look up.
struct Code(Vec<Range<u64>>);

impl Code {
    fn of(elf: &Elf<'_>) -> Self {
        let mut pieces: Vec<_> = elf.code().map(|section| section.addr..section.end()).collect();
        pieces.sort_by_key(|piece| piece.start);
        Self(pieces)
    }

    /// Whether a section of code holds that address. Sections do not overlap, so only one of them can.
    fn holds(&self, addr: u64) -> bool {
        let behind = self.0.partition_point(|piece| piece.start <= addr);
        behind.checked_sub(1).is_some_and(|at| self.0[at].contains(&addr))
    }
}

fn malformed(what: impl Into<String>) -> Flaw {
    Flaw::Malformed { what: what.into() }
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), Flaw> {
    if holds { Ok(()) } else { Err(malformed(what())) }
}

fn slice(bytes: &[u8], offset: u64, size: u64) -> Option<&[u8]> {
    let (start, end) = (usize::try_from(offset).ok()?, usize::try_from(offset.checked_add(size)?).ok()?);
    bytes.get(start..end)
}

/// Bytes of the file as a table of whole records.
fn records<'a, T: Pod>(raw: &'a [u8], what: &str) -> Result<&'a [T], Flaw> {
    slice_from_all_bytes(raw).map_err(|()| malformed(format!("{what} do not end with a whole entry")))
}

/// The string that starts `at` bytes into a string table and ends inside it, if it has at most `most` bytes.
fn text(table: &[u8], at: u64, most: usize) -> Option<&str> {
    let rest = table.get(usize::try_from(at).ok()?..)?;
    let near = &rest[..rest.len().min(most.saturating_add(1))];
    CStr::from_bytes_until_nul(near).ok()?.to_str().ok()
}

/// The little-endian number at `at`.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
}
