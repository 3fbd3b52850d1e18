//! Checks that a file is a complete shared library for this host. Uses only the bytes of the file.
//!
//! The loader of the C library does not validate the files that it maps, so a wrong number in a file can crash `dlopen`. This module
//! therefore checks all data that the loader uses. Every address that the loader reads, writes or jumps to must be valid for its purpose,
//! and every walk of the loader through a table must terminate. Each kind of table is checked in its own source file. Linkers store most
//! facts twice: in segments for the loader, and in sections for tools. The dynamic table refers to both. In a truncated or corrupted file,
//! these duplicates contradict each other. This module performs no I/O and maps no memory. Its running time is linear in the size of the
//! file.

mod constants;
mod dynamic;
#[cfg(test)]
#[path = "elf/tests/fixture.rs"]
mod fixture;
mod hashes;
mod headers;
mod notes;
mod program;
mod relocations;
mod segments;
mod static_tls;
mod symbols;
mod versions;

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::ops::Range;

use object::elf::{
    EM_AARCH64, EM_NONE, EM_RISCV, EM_X86_64, Machine, PF_R, PF_W, PF_X, PT_LOAD, ProgramType, SHF_ALLOC,
    SHF_EXECINSTR, SHF_TLS, SHT_NOBITS, SHT_NULL, SectionType,
};
use object::pod::{Pod, slice_from_all_bytes};

pub(crate) use constants::constants;
pub(crate) use headers::{HEAD, LONGEST_END, glance, section_names};
pub use static_tls::StaticTls;

use crate::facts::{
    Facts, FormatError, Pinning, SectionFacts, ensure, ensure_host, ensure_whole, family, malformed, read_u32, slice,
};

/// Smallest page size of any supported host. Every `PT_LOAD` must have at least this alignment.
const PAGE: u64 = 4096;

/// ELF machine type of libraries for this host. `EM_NONE` on systems whose libraries are not ELF files.
const HOST: Machine = if cfg!(any(windows, target_vendor = "apple")) {
    EM_NONE
} else if cfg!(target_arch = "x86_64") {
    EM_X86_64
} else if cfg!(target_arch = "aarch64") {
    EM_AARCH64
} else if cfg!(target_arch = "riscv64") {
    EM_RISCV
} else {
    EM_NONE
};

/// Program header in host byte order.
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

/// Section header in host byte order.
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

/// File to check, with its parsed headers.
#[derive(Debug)]
struct Elf<'a> {
    bytes: &'a [u8],
    segments: Vec<Segment>,
    sections: Vec<Section<'a>>,
}

/// Checks the whole file and returns its [`Facts`]. The error describes the first defect.
pub(crate) fn survey(bytes: &[u8]) -> Result<Facts, FormatError> {
    let elf = headers::read(bytes)?;
    program::refuse(&elf)?;
    segments::check(&elf)?;
    notes::check(&elf)?;
    dynamic::check(&elf)
}

pub(crate) fn expected() -> String {
    if HOST == EM_NONE {
        return "no libraries yet, since it checks only ELF and PE files".to_owned();
    }
    format!("a 64-bit little-endian ELF library for {}", std::env::consts::ARCH)
}

impl Segment {
    fn end(&self) -> u64 {
        self.addr.saturating_add(self.memsz)
    }

    fn file_end(&self) -> u64 {
        self.offset.saturating_add(self.filesz)
    }

    fn pages(&self) -> Range<u64> {
        self.addr - self.addr % PAGE..self.end().checked_next_multiple_of(PAGE).unwrap_or(u64::MAX)
    }

    fn allows(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    fn holds(&self, addr: u64, size: u64) -> bool {
        self.addr <= addr && addr.checked_add(size).is_some_and(|end| end <= self.end())
    }

    /// Checks if segment and section describe the same range.
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

    /// Checks if the section is `.tbss`, which has an address but occupies no memory of the image.
    fn is_thread_zeroes(&self) -> bool {
        self.kind == SHT_NOBITS && self.has(SHF_TLS.0)
    }

    /// Returns the range of the section in the file. The caller must have checked that the file contains the range.
    fn file_range(&self) -> Range<usize> {
        self.offset as usize..self.file_end() as usize
    }
}

impl<'a> Elf<'a> {
    fn loads(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(|segment| segment.kind == PT_LOAD)
    }

    fn load_of(&self, addr: u64, size: u64) -> Option<&Segment> {
        self.loads().find(|load| load.holds(addr, size))
    }

    fn segment_of_kind(&self, kind: ProgramType) -> Option<&Segment> {
        self.segments.iter().find(|segment| segment.kind == kind)
    }

    /// Checks if the address is in a code section. Returns `false` for the padding between sections.
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

    /// Returns the bytes of the file that are mapped at `addr`.
    fn mapped(&self, addr: u64, size: u64) -> Option<&'a [u8]> {
        let load = self.load_of(addr, size)?;
        let skip = addr - load.addr;
        if skip.checked_add(size)? > load.filesz || !load.allows(PF_R.0) {
            return None;
        }
        slice(self.bytes, load.offset.checked_add(skip)?, size)
    }

    /// Returns the sections with bytes in the file. `relocated` contains the indices of the sections that relocations write to.
    fn section_facts(&self, relocated: &BTreeSet<usize>) -> Vec<SectionFacts> {
        let sections = self.sections.iter().enumerate().filter(|(_, s)| s.kind != SHT_NOBITS && s.kind != SHT_NULL);
        let facts = sections.map(|(index, section)| SectionFacts {
            name: section.name.to_owned(),
            range: section.file_range(),
            is_relocated: relocated.contains(&index),
        });
        facts.collect()
    }

    fn section_of_kind(&self, kind: SectionType) -> Option<&Section<'a>> {
        self.sections.iter().find(|section| section.kind == kind)
    }

    fn section_named(&self, name: &str) -> Option<&Section<'a>> {
        self.sections.iter().find(|section| section.name == name)
    }
}

/// Ranges of all code sections, sorted for fast lookups of addresses.
struct Code(Vec<Range<u64>>);

impl Code {
    fn of(elf: &Elf<'_>) -> Self {
        let mut pieces: Vec<_> = elf.code().map(|section| section.addr..section.end()).collect();
        pieces.sort_by_key(|piece| piece.start);
        Self(pieces)
    }

    /// Checks if the address is in a code section. One lookup suffices, because code sections do not overlap.
    fn holds(&self, addr: u64) -> bool {
        let behind = self.0.partition_point(|piece| piece.start <= addr);
        behind.checked_sub(1).is_some_and(|at| self.0[at].contains(&addr))
    }
}

/// Returns bytes of the file as a table of records.
fn records<'a, T: Pod>(raw: &'a [u8], what: &str) -> Result<&'a [T], FormatError> {
    slice_from_all_bytes(raw).map_err(|()| malformed(format!("{what} do not end with a whole entry")))
}

/// Returns the string at offset `at` of a string table. Returns `None` if the string does not end inside the table, or if the string
/// exceeds `most` bytes.
fn string_at(table: &[u8], at: u64, most: usize) -> Option<&str> {
    let rest = table.get(usize::try_from(at).ok()?..)?;
    let near = &rest[..rest.len().min(most.saturating_add(1))];
    CStr::from_bytes_until_nul(near).ok()?.to_str().ok()
}
