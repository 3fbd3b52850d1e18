//! Small library for the tests of the ELF checks. Contains a page of tables, a page of code, and pages of variables.

use object::elf::{
    PF_R, PF_W, PF_X, PT_GNU_RELRO, PT_GNU_STACK, PT_LOAD, PT_TLS, ProgramType, SHF_ALLOC, SHF_EXECINSTR, SHF_TLS,
    SHF_WRITE, SHT_INIT_ARRAY, SHT_NOBITS, SHT_PROGBITS, SectionType,
};

use super::{Elf, FormatError, PAGE, Section, Segment};

pub(super) const TABLES: u64 = 0;
pub(super) const CODE: u64 = PAGE;
/// Address of the array of initializers, which has two slots.
pub(super) const INIT: u64 = 2 * PAGE;
/// Address of the variables, which fill the rest of their page.
pub(super) const DATA: u64 = INIT + 16;
/// Address of the zeroed variables, which fill one page.
pub(super) const ZEROES: u64 = 3 * PAGE;
pub(super) const END: u64 = 4 * PAGE;

/// Address of the thread-locals, 64 bytes.
const LOCALS: u64 = INIT;

pub(super) fn library(bytes: &[u8]) -> Elf<'_> {
    let segment = |kind: ProgramType, flags: u32, addr: u64, filesz: u64, memsz: u64| Segment {
        kind,
        flags: flags | PF_R.0,
        offset: addr,
        addr,
        paddr: addr,
        filesz,
        memsz,
        align: if kind == PT_LOAD { PAGE } else { 8 },
    };
    let section = |name, kind: SectionType, flags: u64, addr, size| Section {
        name,
        kind,
        flags: flags | SHF_ALLOC.0,
        addr,
        offset: addr,
        size,
        link: 0,
        info: 0,
        align: 8,
    };
    let mut stack = segment(PT_GNU_STACK, PF_W.0, 0, 0, 0);
    stack.align = 0;
    Elf {
        bytes,
        segments: vec![
            segment(PT_LOAD, 0, TABLES, PAGE, PAGE),
            segment(PT_LOAD, PF_X.0, CODE, PAGE, PAGE),
            segment(PT_LOAD, PF_W.0, INIT, PAGE, 2 * PAGE),
            stack,
        ],
        sections: vec![
            section(".rodata", SHT_PROGBITS, 0, TABLES + 512, PAGE - 512),
            section(".text", SHT_PROGBITS, SHF_EXECINSTR.0, CODE, PAGE),
            section(".init_array", SHT_INIT_ARRAY, SHF_WRITE.0, INIT, DATA - INIT),
            section(".data", SHT_PROGBITS, SHF_WRITE.0, DATA, ZEROES - DATA),
            section(".bss", SHT_NOBITS, SHF_WRITE.0, ZEROES, PAGE),
        ],
    }
}

pub(super) fn with_thread_locals(bytes: &[u8], memsz: u64, align: u64) -> Elf<'_> {
    let mut elf = library(bytes);
    let (addr, flags) = (LOCALS.next_multiple_of(align), SHF_WRITE.0 | SHF_TLS.0 | SHF_ALLOC.0);
    let section_header =
        Section { name: ".tbss", kind: SHT_NOBITS, flags, addr, offset: addr, size: memsz, link: 0, info: 0, align };
    let filesz = 0;
    let kind = PT_TLS;
    elf.segments.push(Segment { kind, flags: PF_R.0, offset: addr, addr, paddr: addr, filesz, memsz, align });
    elf.sections.push(section_header);
    elf
}

/// Makes the first page of variables read-only after relocation.
pub(super) fn with_constants(bytes: &[u8], addr: u64, memsz: u64) -> Elf<'_> {
    let mut elf = library(bytes);
    elf.sections[3].name = ".data.rel.ro";
    let kind = PT_GNU_RELRO;
    let filesz = memsz.min(PAGE);
    elf.segments.push(Segment { kind, flags: PF_R.0, offset: addr, addr, paddr: addr, filesz, memsz, align: 1 });
    elf
}

pub(super) fn outcome<T>(result: Result<T, FormatError>) -> String {
    match result {
        Ok(_) => "whole".to_owned(),
        Err(FormatError::Malformed { what }) => what,
        Err(other) => format!("{other:?}"),
    }
}
