//! Parses and compares the ELF header, the program headers and the section headers.

use object::LittleEndian as LE;
use object::elf::{
    EM_NONE, EM_RISCV, ET_DYN, FileHeader64, ProgramHeader64, SHF_ALLOC, SHT_NOBITS, SHT_NOTE, SHT_NULL, SHT_STRTAB,
    SectionHeader64,
};
use object::pod::{Pod, from_bytes};

use super::{
    Elf, FormatError, HOST, Section, Segment, ensure, ensure_host, ensure_whole, family, malformed, program, records,
    slice, string_at,
};

/// Maximum number of program headers. Linkers write about a dozen. The loader stores all program headers on its stack.
const MOST_SEGMENTS: usize = 64;

const LONGEST_NAME: usize = 255;

/// Maximum size of the trailer of a library: a signature and a seal.
pub(crate) const LONGEST_END: u64 = 128;

/// Number of bytes that [`glance`] needs.
pub(crate) const HEAD: usize = size_of::<FileHeader64<LE>>();

/// Checks the ELF header of a possible library for this host, and checks that a file of `len` bytes contains the tables of this header.
/// `head` contains the first bytes of the file. A trailer of [`crate::seal`] may follow the library.
pub(crate) fn glance(head: &[u8], len: u64) -> Result<(), FormatError> {
    let header = header(head)?;
    let tables = [
        ("the program headers", header.e_phoff.get(LE), header.e_phnum.get(LE), size_of::<ProgramHeader64<LE>>()),
        ("the section headers", header.e_shoff.get(LE), header.e_shnum.get(LE), size_of::<SectionHeader64<LE>>()),
    ];
    let ends = tables.map(|(what, at, count, each)| (what, at.saturating_add(u64::from(count) * each as u64)));
    ends.into_iter().try_for_each(|(what, need)| ensure_whole(len, what, need))?;
    let end = ends.map(|(_, end)| end).into_iter().max().unwrap_or_default();
    ensure(len - end <= LONGEST_END, || "the file does not end with the section headers")
}

pub(super) fn read(bytes: &[u8]) -> Result<Elf<'_>, FormatError> {
    let header = header(bytes)?;
    let elf = Elf { bytes, segments: segments(bytes, header)?, sections: sections(bytes, header)? };
    check_gap_after_program_headers(&elf)?;
    check_section_order(&elf)?;
    let entry = header.e_entry.get(LE);
    ensure(entry == 0 || elf.is_code(entry), || format!("entry point {entry:#x} is outside the code"))?;
    Ok(elf)
}

/// Returns the names of the sections. Returns an empty list if the ELF header or a section header is invalid.
pub(crate) fn section_names(bytes: &[u8]) -> Vec<String> {
    let sections = header(bytes).and_then(|header| sections(bytes, header)).unwrap_or_default();
    sections.into_iter().map(|section| section.name.to_owned()).collect()
}

fn header(bytes: &[u8]) -> Result<&FileHeader64<LE>, FormatError> {
    ensure_host(bytes.starts_with(&object::elf::ELFMAG[..bytes.len().min(4)]), || family(bytes))?;
    let Ok((header, _)) = from_bytes::<FileHeader64<LE>>(bytes) else {
        return Err(FormatError::Truncated {
            what: "the ELF header".to_owned(),
            need: size_of::<FileHeader64<LE>>() as u64,
        });
    };
    let ident = &header.e_ident;
    // Checks class and byte order first: they determine the format of all other fields.
    let (class, data, machine) = (ident.class.0, ident.data.0, header.e_machine.get(LE));
    ensure_host(class == object::elf::ELFCLASS64.0, || format!("an ELF file of class {class}"))?;
    ensure_host(data == object::elf::ELFDATA2LSB.0, || format!("an ELF file with byte order {data}"))?;
    ensure_host(machine == HOST && HOST != EM_NONE, || format!("an ELF file for machine {}", machine.0))?;
    let abi = ident.os_abi.0;
    ensure_host([0, 3].contains(&abi), || format!("an ELF file for system {abi}"))?;
    let kind = header.e_type.get(LE);
    if kind != ET_DYN {
        return Err(FormatError::WrongKind { found: program::named(kind) });
    }
    ensure(ident.version.0 == 1 && header.e_version.get(LE) == 1, || "the ELF version is not 1")?;
    ensure(ident.abi_version == 0 && ident.padding == [0; 7], || "the ELF identification is not clean")?;
    // Only RISC-V and older machines define flags.
    ensure(HOST == EM_RISCV || header.e_flags.get(LE).0 == 0, || "the ELF header has unknown flags")?;
    ensure(
        usize::from(header.e_ehsize.get(LE)) == size_of::<FileHeader64<LE>>(),
        || "the ELF header states a wrong size of itself",
    )?;
    Ok(header)
}

fn segments(bytes: &[u8], header: &FileHeader64<LE>) -> Result<Vec<Segment>, FormatError> {
    let (at, count) = (header.e_phoff.get(LE), u64::from(header.e_phnum.get(LE)));
    let each = size_of::<ProgramHeader64<LE>>() as u64;
    ensure(u64::from(header.e_phentsize.get(LE)) == each, || "program headers have a wrong size")?;
    ensure(at == size_of::<FileHeader64<LE>>() as u64 && count > 0, || "program headers do not follow the ELF header")?;
    ensure(count <= MOST_SEGMENTS as u64, || format!("there are {count} program headers, more than a linker writes"))?;
    let table: &[ProgramHeader64<LE>] = table(bytes, "the program headers", at, count * each)?;
    let segments = table.iter().map(|raw| Segment {
        kind: raw.p_type.get(LE),
        flags: raw.p_flags.get(LE).0,
        offset: raw.p_offset.get(LE),
        addr: raw.p_vaddr.get(LE),
        paddr: raw.p_paddr.get(LE),
        filesz: raw.p_filesz.get(LE),
        memsz: raw.p_memsz.get(LE),
        align: raw.p_align.get(LE),
    });
    Ok(segments.collect())
}

fn sections<'a>(bytes: &'a [u8], header: &FileHeader64<LE>) -> Result<Vec<Section<'a>>, FormatError> {
    let (at, count) = (header.e_shoff.get(LE), u64::from(header.e_shnum.get(LE)));
    let each = size_of::<SectionHeader64<LE>>() as u64;
    ensure(u64::from(header.e_shentsize.get(LE)) == each, || "section headers have a wrong size")?;
    ensure(at != 0 && count > 0, || "the section headers are missing")?;
    let table: &[SectionHeader64<LE>] = table(bytes, "the section headers", at, count * each)?;
    // Linkers write the section headers last. Further bytes would belong to an older, longer file that was not completely overwritten.
    ensure(at + count * each == bytes.len() as u64, || "the file does not end with the section headers")?;
    let names = usize::from(header.e_shstrndx.get(LE).0);
    let names = table.get(names).filter(|raw| raw.sh_type.get(LE) == SHT_STRTAB);
    let names = names.ok_or_else(|| malformed("the section names are missing"))?;
    let names = slice(bytes, names.sh_offset.get(LE), names.sh_size.get(LE));
    let names = names.ok_or_else(|| malformed("the section names lie outside the file"))?;
    let mut sections = Vec::with_capacity(table.len());
    for (index, raw) in table.iter().enumerate() {
        let name = string_at(names, u64::from(raw.sh_name.get(LE)), LONGEST_NAME);
        let section = Section {
            name: name.ok_or_else(|| malformed(format!("section {index} has no valid name")))?,
            kind: raw.sh_type.get(LE),
            flags: raw.sh_flags.get(LE).0,
            addr: raw.sh_addr.get(LE),
            offset: raw.sh_offset.get(LE),
            size: raw.sh_size.get(LE),
            link: raw.sh_link.get(LE) as usize,
            info: raw.sh_info.get(LE),
            align: raw.sh_addralign.get(LE),
        };
        check_section(&section, at, table.len())?;
        sections.push(section);
    }
    ensure(sections[0].kind == SHT_NULL && sections[0].size == 0, || "section 0 is not empty")?;
    let names = &sections[usize::from(header.e_shstrndx.get(LE).0)];
    ensure(names.name == ".shstrtab", || format!("section names are taken from {}", names.name))?;
    Ok(sections)
}

fn check_section(section: &Section<'_>, table_at: u64, count: usize) -> Result<(), FormatError> {
    let Section { name, addr, align, .. } = section;
    let in_file = section.kind == SHT_NOBITS || section.offset.checked_add(section.size).is_some_and(|e| e <= table_at);
    ensure(in_file, || format!("section {name} reaches past the data of the file"))?;
    ensure(*align == 0 || align.is_power_of_two(), || format!("section {name} has alignment {align}"))?;
    ensure(*align == 0 || addr % align == 0, || format!("section {name} is not aligned"))?;
    ensure(addr.checked_add(section.size).is_some(), || format!("section {name} wraps around memory"))?;
    // A build note is not loaded, but its address is that of the code that the note describes.
    let is_valid = section.has(SHF_ALLOC.0) || *addr == 0 || section.kind == SHT_NOTE;
    ensure(is_valid, || format!("section {name} has an address but is not loaded"))?;
    ensure(section.link < count, || format!("section {name} links to a section that does not exist"))
}

/// Checks that the gap after the program headers contains only zeros, as linkers write it. Other bytes may be program headers that the ELF
/// header does not count.
fn check_gap_after_program_headers(elf: &Elf<'_>) -> Result<(), FormatError> {
    let start = (size_of::<FileHeader64<LE>>() + elf.segments.len() * size_of::<ProgramHeader64<LE>>()) as u64;
    let with_bytes = elf.sections.iter().filter(|s| s.kind != SHT_NOBITS && s.size > 0);
    let first = with_bytes.map(|section| section.offset).min().unwrap_or(start);
    let gap = first.checked_sub(start).and_then(|size| slice(elf.bytes, start, size));
    let gap = gap.ok_or_else(|| malformed("a section overlaps the program headers"))?;
    ensure(gap.iter().all(|byte| *byte == 0), || "there are uncounted program headers")
}

fn check_section_order(elf: &Elf<'_>) -> Result<(), FormatError> {
    let mut sections: Vec<_> = elf.sections.iter().filter(|s| s.kind != SHT_NOBITS && s.size > 0).collect();
    sections.sort_by_key(|section| section.offset);
    let overlap = |pair: &[&Section<'_>]| format!("{} and {} overlap", pair[0].name, pair[1].name);
    sections.windows(2).try_for_each(|pair| ensure(pair[0].file_end() <= pair[1].offset, || overlap(pair)))?;
    let mut sections: Vec<_> = elf.sections.iter().filter(|s| s.is_loaded() && !s.is_thread_zeroes()).collect();
    sections.sort_by_key(|section| section.addr);
    sections.windows(2).try_for_each(|pair| ensure(pair[0].end() <= pair[1].addr, || overlap(pair)))
}

/// Returns a table of plain records, or an error if the table extends past the end of the file.
fn table<'a, T: Pod>(bytes: &'a [u8], what: &str, offset: u64, size: u64) -> Result<&'a [T], FormatError> {
    let need = offset.saturating_add(size);
    let raw = slice(bytes, offset, size).ok_or_else(|| FormatError::Truncated { what: what.to_owned(), need })?;
    records(raw, what)
}
