//! Whether a file is a whole shared library that this host could map, told from its headers alone.
//!
//! The C library believes what it maps: a wrong number in a header is a crash inside `dlopen`, not an error. A linker
//! however says most things twice (segments for the loader, sections for tools, the dynamic table for both), so a cut
//! or flipped file contradicts itself. This file only compares; it does no IO and maps nothing.

mod dynamic;

use std::ops::Range;

use object::LittleEndian as LE;
use object::elf::{
    EM_AARCH64, EM_NONE, EM_RISCV, EM_X86_64, ET_DYN, FileHeader64, Machine, PF_R, PF_W, PF_X, PT_DYNAMIC,
    PT_GNU_EH_FRAME, PT_GNU_PROPERTY, PT_GNU_RELRO, PT_GNU_SFRAME, PT_GNU_STACK, PT_INTERP, PT_LOAD, PT_NOTE, PT_PHDR,
    PT_TLS, ProgramHeader64, ProgramType, SHF_ALLOC, SHF_EXECINSTR, SHF_TLS, SHF_WRITE, SHT_DYNAMIC, SHT_NOBITS,
    SHT_NOTE, SHT_NULL, SHT_STRTAB, SectionHeader64, SectionType,
};
use object::pod::{Pod, from_bytes, slice_from_all_bytes};

/// The smallest page of any host this reads files for; every `PT_LOAD` must be aligned to at least this.
const PAGE: u64 = 4096;

/// More memory than a module could address with the code model that cdylibs are built with.
const MOST_MEMORY: u64 = 1 << 31;

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

/// Why a file is not a whole library. The caller knows the path and turns this into its error.
#[derive(Debug)]
pub(crate) enum Flaw {
    /// `what` needs the file to have `need` bytes.
    Truncated { what: String, need: u64 },
    /// Well formed perhaps, but for somebody else.
    Foreign { found: String },
    /// An ELF file of this machine that is not a shared library.
    WrongKind { found: String },
    /// Two statements of the file contradict each other, or one makes no sense.
    Malformed { what: String },
}

/// What is worth keeping once a file was found whole.
#[derive(Debug)]
pub(crate) struct Facts {
    /// Name and file range of every section that has bytes in the file.
    pub(crate) sections: Vec<(String, Range<usize>)>,
    /// The names the loader will look for, in the order it will look.
    pub(crate) needed: Vec<String>,
    /// The symbols it uses and does not define.
    pub(crate) imports: Vec<String>,
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
struct Section {
    name: String,
    kind: SectionType,
    flags: u64,
    addr: u64,
    offset: u64,
    size: u64,
    link: usize,
    info: u32,
    align: u64,
}

/// A file whose headers were read; the checks below compare them.
#[derive(Debug)]
struct Elf<'a> {
    bytes: &'a [u8],
    segments: Vec<Segment>,
    sections: Vec<Section>,
}

/// What the file holds, or the first thing found that shows it is not whole.
pub(crate) fn survey(bytes: &[u8]) -> Result<Facts, Flaw> {
    let header = header(bytes)?;
    let elf = Elf { bytes, segments: segments(bytes, header)?, sections: sections(bytes, header)? };
    check_gap_after_program_headers(&elf)?;
    check_section_order(&elf)?;
    check_loads(&elf)?;
    elf.sections.iter().filter(|section| section.is_loaded()).try_for_each(|s| check_place(&elf, s))?;
    elf.segments.iter().enumerate().try_for_each(|(index, _)| check_segment(&elf, index))?;
    check_counterparts(&elf)?;
    let entry = header.e_entry.get(LE);
    ensure(entry == 0 || elf.is_code(entry), || format!("entry point {entry:#x} is outside the code"))?;
    let dynamic::Wants { needed, imports } = dynamic::check(&elf)?;
    let sections = elf.sections.iter().filter(|section| section.kind != SHT_NOBITS && section.kind != SHT_NULL);
    Ok(Facts { sections: sections.map(|s| (s.name.clone(), s.file_range())).collect(), needed, imports })
}

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

    fn allows(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// Whether the segment says of a section exactly what the section says of itself.
    fn is_exactly(&self, section: &Section) -> bool {
        (self.addr, self.offset, self.filesz, self.memsz) == (section.addr, section.offset, section.size, section.size)
    }
}

impl Section {
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
        let end = addr.checked_add(size)?;
        self.loads().find(|load| load.addr <= addr && end <= load.end())
    }

    fn is_code(&self, addr: u64) -> bool {
        self.load_of(addr, 1).is_some_and(|load| load.allows(PF_X.0))
    }

    /// The bytes of the file that will be mapped at `addr`.
    fn mapped(&self, addr: u64, size: u64) -> Option<&'a [u8]> {
        let load = self.load_of(addr, size)?;
        let skip = addr - load.addr;
        if skip.checked_add(size)? > load.filesz {
            return None;
        }
        slice(self.bytes, load.offset.checked_add(skip)?, size)
    }

    fn section_of_kind(&self, kind: SectionType) -> Option<&Section> {
        self.sections.iter().find(|section| section.kind == kind)
    }

    fn section_named(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }
}

fn header(bytes: &[u8]) -> Result<&FileHeader64<LE>, Flaw> {
    if !bytes.starts_with(&object::elf::ELFMAG[..bytes.len().min(4)]) {
        return Err(Flaw::Foreign { found: family(bytes).to_owned() });
    }
    let Ok((header, _)) = from_bytes::<FileHeader64<LE>>(bytes) else {
        return Err(Flaw::Truncated { what: "the ELF header".to_owned(), need: size_of::<FileHeader64<LE>>() as u64 });
    };
    let ident = &header.e_ident;
    // The order matters: class and byte order say how the rest is to be read at all.
    let (class, data, machine) = (ident.class.0, ident.data.0, header.e_machine.get(LE));
    ensure_host(class == object::elf::ELFCLASS64.0, || format!("an ELF file of class {class}"))?;
    ensure_host(data == object::elf::ELFDATA2LSB.0, || format!("an ELF file with byte order {data}"))?;
    ensure_host(machine == HOST && HOST != EM_NONE, || format!("an ELF file for machine {}", machine.0))?;
    let abi = ident.os_abi.0;
    ensure_host([0, 3].contains(&abi), || format!("an ELF file for system {abi}"))?;
    let kind = header.e_type.get(LE);
    if kind != ET_DYN {
        return Err(Flaw::WrongKind { found: format!("ELF type {}", kind.0) });
    }
    ensure(ident.version.0 == 1 && header.e_version.get(LE) == 1, || "the ELF version is not 1".to_owned())?;
    ensure(ident.abi_version == 0 && ident.padding == [0; 7], || "the ELF identification is not clean".to_owned())?;
    // Only RISC-V and older machines say something in these flags.
    ensure(HOST == EM_RISCV || header.e_flags.get(LE).0 == 0, || "the ELF header has unknown flags".to_owned())?;
    ensure(usize::from(header.e_ehsize.get(LE)) == size_of::<FileHeader64<LE>>(), || {
        "the ELF header gives a wrong size of itself".to_owned()
    })?;
    Ok(header)
}

/// A word for files people do hand over by mistake.
fn family(bytes: &[u8]) -> &'static str {
    match bytes {
        [b'M', b'Z', ..] => "a Windows file",
        [0xcf, 0xfa, 0xed, 0xfe, ..] | [0xca, 0xfe, 0xba, 0xbe, ..] => "a macOS file",
        [b'!', b'<', b'a', b'r', ..] => "a static archive",
        _ => "not an ELF file",
    }
}

fn segments(bytes: &[u8], header: &FileHeader64<LE>) -> Result<Vec<Segment>, Flaw> {
    let (at, count) = (header.e_phoff.get(LE), u64::from(header.e_phnum.get(LE)));
    let each = size_of::<ProgramHeader64<LE>>() as u64;
    ensure(u64::from(header.e_phentsize.get(LE)) == each, || "program headers have a wrong size".to_owned())?;
    ensure(at == size_of::<FileHeader64<LE>>() as u64 && count > 0, || {
        "program headers do not follow the ELF header".to_owned()
    })?;
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

fn sections(bytes: &[u8], header: &FileHeader64<LE>) -> Result<Vec<Section>, Flaw> {
    let (at, count) = (header.e_shoff.get(LE), u64::from(header.e_shnum.get(LE)));
    let each = size_of::<SectionHeader64<LE>>() as u64;
    ensure(u64::from(header.e_shentsize.get(LE)) == each, || "section headers have a wrong size".to_owned())?;
    ensure(at != 0 && count > 0, || "there are no section headers".to_owned())?;
    let table: &[SectionHeader64<LE>] = table(bytes, "the section headers", at, count * each)?;
    // Linkers write this table last, so anything behind it is an older, longer file shining through.
    ensure(at + count * each == bytes.len() as u64, || "the file does not end with the section headers".to_owned())?;
    let names = usize::from(header.e_shstrndx.get(LE).0);
    let names = table.get(names).filter(|raw| raw.sh_type.get(LE) == SHT_STRTAB);
    let names = names.ok_or_else(|| malformed("the section names are missing"))?;
    let names = slice(bytes, names.sh_offset.get(LE), names.sh_size.get(LE));
    let names = names.ok_or_else(|| malformed("the section names lie outside the file"))?;
    let mut sections = Vec::with_capacity(table.len());
    for (index, raw) in table.iter().enumerate() {
        let name = string(names, u64::from(raw.sh_name.get(LE)));
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
    ensure(sections[0].kind == SHT_NULL && sections[0].size == 0, || "section 0 is not empty".to_owned())?;
    let names = &sections[usize::from(header.e_shstrndx.get(LE).0)];
    ensure(names.name == ".shstrtab", || format!("section names are taken from {}", names.name))?;
    Ok(sections)
}

fn check_section(section: &Section, table_at: u64, count: usize) -> Result<(), Flaw> {
    let Section { name, addr, align, .. } = section;
    let in_file = section.kind == SHT_NOBITS || section.offset.checked_add(section.size).is_some_and(|e| e <= table_at);
    ensure(in_file, || format!("section {name} reaches past the data of the file"))?;
    ensure(*align == 0 || align.is_power_of_two(), || format!("section {name} has alignment {align}"))?;
    ensure(*align == 0 || addr % align == 0, || format!("section {name} is not aligned"))?;
    ensure(addr.checked_add(section.size).is_some(), || format!("section {name} wraps around memory"))?;
    // Notes about the build keep the address they speak of.
    let at_home = section.has(SHF_ALLOC.0) || *addr == 0 || section.kind == SHT_NOTE;
    ensure(at_home, || format!("section {name} has an address but is not loaded"))?;
    ensure(section.link < count, || format!("section {name} links to a section that is not there"))
}

/// A program header that the ELF header forgot to count would sit in this gap, which linkers leave empty.
fn check_gap_after_program_headers(elf: &Elf<'_>) -> Result<(), Flaw> {
    let start = (size_of::<FileHeader64<LE>>() + elf.segments.len() * size_of::<ProgramHeader64<LE>>()) as u64;
    let with_bytes = elf.sections.iter().filter(|s| s.kind != SHT_NOBITS && s.size > 0);
    let first = with_bytes.map(|section| section.offset).min().unwrap_or(start);
    let gap = first.checked_sub(start).and_then(|size| slice(elf.bytes, start, size));
    let gap = gap.ok_or_else(|| malformed("a section overlaps the program headers"))?;
    ensure(gap.iter().all(|byte| *byte == 0), || "there are uncounted program headers".to_owned())
}

fn check_section_order(elf: &Elf<'_>) -> Result<(), Flaw> {
    let with_bytes = elf.sections.iter().filter(|s| s.kind != SHT_NOBITS && s.size > 0);
    let mut by_offset: Vec<_> = with_bytes.collect();
    by_offset.sort_by_key(|section| section.offset);
    by_offset.windows(2).try_for_each(|pair| {
        ensure(pair[0].file_end() <= pair[1].offset, || format!("{} and {} overlap", pair[0].name, pair[1].name))
    })
}

fn check_loads(elf: &Elf<'_>) -> Result<(), Flaw> {
    let loads: Vec<_> = elf.loads().collect();
    let (Some(first), Some(last)) = (loads.first(), loads.last()) else {
        return Err(malformed("no segment is to be loaded"));
    };
    ensure(first.offset == 0, || "the first segment does not hold the headers".to_owned())?;
    for pair in loads.windows(2) {
        ensure(pair[0].end() <= pair[1].addr, || format!("segments overlap at {:#x}", pair[1].addr))?;
    }
    // In order, so the last one ends behind the first one's start.
    ensure(last.end().saturating_sub(first.addr) <= MOST_MEMORY, || "the segments need too much memory".to_owned())?;
    loads.into_iter().try_for_each(|load| check_load(elf, load))
}

/// A load ends where its last section ends, in the file as in memory, and allows just what its sections ask for.
fn check_load(elf: &Elf<'_>, load: &Segment) -> Result<(), Flaw> {
    let at = load.addr;
    ensure(load.addr.checked_add(load.memsz).is_some(), || format!("segment {at:#x} wraps around memory"))?;
    ensure(load.align.is_power_of_two() && load.align >= PAGE, || {
        format!("segment {at:#x} has alignment {:#x}", load.align)
    })?;
    ensure(load.offset % load.align == load.addr % load.align, || format!("segment {at:#x} is not aligned"))?;
    let inside = elf.sections.iter().filter(|section| section.is_loaded() && !section.is_thread_zeroes());
    let inside: Vec<_> = inside.filter(|s| load.addr <= s.addr && s.end() <= load.end()).collect();
    let in_file = inside.iter().filter(|section| section.kind != SHT_NOBITS);
    let file_end = in_file.map(|section| section.file_end()).max();
    let end = inside.iter().map(|section| section.end()).max();
    // lld rounds the last code segment up to a page, so that its filling cannot be trimmed away.
    let ends_at = |said: u64, seen: u64| said == seen || Some(said) == seen.checked_next_multiple_of(PAGE);
    ensure(file_end.is_none_or(|seen| ends_at(load.file_end(), seen)), || {
        format!("segment {at:#x} does not end with its last section in the file")
    })?;
    ensure(end.is_some_and(|seen| ends_at(load.end(), seen)), || {
        format!("segment {at:#x} does not end with its last section in memory")
    })?;
    let asked = |section_flag: u64| inside.iter().any(|section| section.has(section_flag));
    let right = load.allows(PF_R.0)
        && load.allows(PF_W.0) == asked(SHF_WRITE.0)
        && load.allows(PF_X.0) == asked(SHF_EXECINSTR.0)
        && !(load.allows(PF_W.0) && load.allows(PF_X.0));
    ensure(right, || format!("segment {at:#x} has flags {:#x}, its sections want others", load.flags))
}

/// A loaded section lies in a load, at the same distance from its start in the file as in memory.
fn check_place(elf: &Elf<'_>, section: &Section) -> Result<(), Flaw> {
    let Section { name, addr, size, offset, .. } = section;
    if section.is_thread_zeroes() {
        return Ok(()); // judged with the thread-local segment
    }
    let load = elf.load_of(*addr, *size).ok_or_else(|| malformed(format!("section {name} is in no segment")))?;
    let right = section.kind == SHT_NOBITS
        || (load.offset <= *offset
            && addr - load.addr == offset - load.offset
            && section.file_end() <= load.file_end());
    ensure(right, || format!("section {name} is not where its segment maps it from"))
}

fn check_segment(elf: &Elf<'_>, index: usize) -> Result<(), Flaw> {
    let segment = &elf.segments[index];
    let Segment { kind, flags, offset, addr, filesz, memsz, align, .. } = segment;
    let what = || format!("program header {index} (type {:#x})", kind.0);
    let file_end = offset.checked_add(*filesz).unwrap_or(u64::MAX);
    if file_end > elf.bytes.len() as u64 {
        return Err(Flaw::Truncated { what: what(), need: file_end });
    }
    ensure(segment.paddr == *addr, || format!("{} has two addresses", what()))?;
    ensure(*align == 0 || align.is_power_of_two(), || format!("{} has alignment {align}", what()))?;
    ensure(flags & !7 == 0 && segment.allows(PF_R.0), || format!("{} has flags {flags:#x}", what()))?;
    ensure(filesz <= memsz, || format!("{} is smaller in memory than in the file", what()))?;
    let alone =
        [PT_LOAD, PT_NOTE].contains(kind) || elf.segments.iter().filter(|other| other.kind == *kind).count() == 1;
    ensure(alone, || format!("{} is there twice", what()))?;
    ensure(*kind == PT_LOAD || !segment.allows(PF_X.0), || format!("{} asks to be executable", what()))?;
    if *kind != PT_LOAD && *kind != PT_GNU_STACK {
        ensure(*align > 0 && addr % align == 0, || format!("{} is not aligned", what()))?;
        let load = elf.load_of(*addr, *memsz).or_else(|| elf.load_of(*addr, *filesz));
        let load = load.ok_or_else(|| malformed(format!("{} is in no segment", what())))?;
        ensure(addr - load.addr == offset.wrapping_sub(load.offset), || format!("{} is misplaced", what()))?;
    }
    let exactly = |section: Option<&Section>| section.is_some_and(|s| segment.is_exactly(s) && *align >= s.align);
    let right = match *kind {
        PT_LOAD => true, // judged before, with its sections
        PT_DYNAMIC => exactly(elf.section_of_kind(SHT_DYNAMIC)),
        PT_GNU_EH_FRAME => exactly(elf.section_named(".eh_frame_hdr")),
        PT_GNU_PROPERTY => exactly(elf.section_named(".note.gnu.property")),
        PT_GNU_SFRAME => exactly(elf.section_named(".sframe")),
        PT_INTERP => exactly(elf.section_named(".interp")),
        PT_PHDR => {
            let size = (elf.segments.len() * size_of::<ProgramHeader64<LE>>()) as u64;
            (*offset, *filesz, *memsz) == (size_of::<FileHeader64<LE>>() as u64, size, size)
        }
        PT_GNU_STACK => *flags == PF_R.0 | PF_W.0 && (*offset, *addr, *filesz, *memsz) == (0, 0, 0, 0),
        PT_NOTE => holds_notes(elf, segment),
        PT_TLS => holds_thread_locals(elf, segment),
        PT_GNU_RELRO => holds_only_relocated_constants(elf, segment),
        // What a machine's own types mean, only that machine's loader knows; x86-64 has none that matter.
        other => HOST != EM_X86_64 && (0x7000_0000..0x8000_0000).contains(&other.0),
    };
    ensure(right, || format!("{} does not agree with the sections", what()))
}

fn holds_notes(elf: &Elf<'_>, segment: &Segment) -> bool {
    let notes = || elf.sections.iter().filter(|section| section.kind == SHT_NOTE);
    let starts = notes().any(|s| s.addr == segment.addr && s.offset == segment.offset && s.align <= segment.align);
    let ends = notes().any(|s| s.end() == segment.end() && s.file_end() == segment.file_end());
    starts && ends
}

fn holds_thread_locals(elf: &Elf<'_>, segment: &Segment) -> bool {
    let locals = || elf.sections.iter().filter(|section| section.is_loaded() && section.has(SHF_TLS.0));
    let start = locals().map(|section| section.addr).min();
    let end = locals().map(|section| section.end()).max();
    let file_end = locals().filter(|s| s.kind != SHT_NOBITS).map(|section| section.end()).max();
    let filesz = file_end.map_or(0, |end| end - segment.addr.min(end));
    let align = locals().map(|section| section.align).max();
    start == Some(segment.addr)
        && align.is_some_and(|align| segment.align >= align)
        && end.is_some_and(|end| {
            segment.end() == end || Some(segment.end()) == end.checked_next_multiple_of(segment.align.max(1))
        })
        && segment.filesz == filesz
}

/// These pages become read-only once relocated, so a variable among them would crash on its first write.
fn holds_only_relocated_constants(elf: &Elf<'_>, segment: &Segment) -> bool {
    const CONSTANT: [&str; 13] = [
        ".tdata",
        ".init_array",
        ".fini_array",
        ".preinit_array",
        ".ctors",
        ".dtors",
        ".jcr",
        ".data.rel.ro",
        ".bss.rel.ro",
        ".dynamic",
        ".got",
        ".got.plt",
        ".relro_padding",
    ];
    let overlaps = |s: &&Section| s.addr < segment.end() && segment.addr < s.end();
    let covered = elf.sections.iter().filter(|s| s.is_loaded() && !s.is_thread_zeroes()).filter(overlaps);
    let known = covered.clone().all(|section| CONSTANT.contains(&section.name.as_str()));
    let starts = covered.map(|section| section.addr).min() == Some(segment.addr);
    known && starts && segment.memsz > 0 && segment.end().is_multiple_of(PAGE)
}

/// What the sections hold must be announced to the loader: thread-locals, unwind tables, the dynamic table.
fn check_counterparts(elf: &Elf<'_>) -> Result<(), Flaw> {
    let has = |kind: ProgramType| elf.segments.iter().any(|segment| segment.kind == kind);
    let locals = elf.sections.iter().any(|section| section.is_loaded() && section.has(SHF_TLS.0));
    ensure(has(PT_GNU_STACK), || "nothing says that the stack is not executable".to_owned())?;
    ensure(has(PT_DYNAMIC), || "there is no dynamic table".to_owned())?;
    ensure(has(PT_TLS) == locals, || "thread-locals are not announced".to_owned())?;
    ensure(has(PT_GNU_EH_FRAME) == elf.section_named(".eh_frame_hdr").is_some(), || {
        "unwind tables are not announced".to_owned()
    })
}

fn malformed(what: impl Into<String>) -> Flaw {
    Flaw::Malformed { what: what.into() }
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), Flaw> {
    if holds { Ok(()) } else { Err(malformed(what())) }
}

fn ensure_host(holds: bool, found: impl FnOnce() -> String) -> Result<(), Flaw> {
    if holds { Ok(()) } else { Err(Flaw::Foreign { found: found() }) }
}

fn slice(bytes: &[u8], offset: u64, size: u64) -> Option<&[u8]> {
    let (start, end) = (usize::try_from(offset).ok()?, usize::try_from(offset.checked_add(size)?).ok()?);
    bytes.get(start..end)
}

/// A table of plain records inside the file, or the news that the file ends before it does.
fn table<'a, T: Pod>(bytes: &'a [u8], what: &str, offset: u64, size: u64) -> Result<&'a [T], Flaw> {
    let need = offset.saturating_add(size);
    let raw = slice(bytes, offset, size).ok_or_else(|| Flaw::Truncated { what: what.to_owned(), need })?;
    slice_from_all_bytes(raw).map_err(|()| malformed(format!("{what} are not whole records")))
}

/// The string that starts `at` bytes into a string table and ends inside it.
fn string(table: &[u8], at: u64) -> Option<String> {
    let rest = table.get(usize::try_from(at).ok()?..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    String::from_utf8(rest[..end].to_vec()).ok()
}
