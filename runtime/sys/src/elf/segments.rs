//! Checks the program headers: pages and their permissions, thread-locals, and pages that become read-only after relocation.

use object::LittleEndian as LE;
use object::elf::{
    EM_X86_64, FileHeader64, PF_R, PF_W, PF_X, PT_DYNAMIC, PT_GNU_EH_FRAME, PT_GNU_PROPERTY, PT_GNU_RELRO,
    PT_GNU_SFRAME, PT_GNU_STACK, PT_INTERP, PT_LOAD, PT_NOTE, PT_PHDR, PT_TLS, ProgramHeader64, ProgramType,
    SHF_EXECINSTR, SHF_TLS, SHF_WRITE, SHT_DYNAMIC, SHT_NOBITS, SHT_NOTE,
};

use super::{Elf, FormatError, HOST, PAGE, Section, Segment, ensure, ensure_whole, malformed};

/// Maximum memory size of a library in the code model that Rust uses for cdylibs.
const MOST_MEMORY: u64 = 1 << 31;

/// Maximum alignment. Linkers use much smaller alignments. The loader temporarily reserves twice the alignment in address space.
const MOST_ALIGNMENT: u64 = 1 << 30;

/// Maximum size of the thread-locals. Each thread that uses the thread-locals receives a block of this size. If the allocation of a block
/// fails, the loader ends the process.
const MOST_THREAD_LOCAL: u64 = 16 << 20;

const MOST_THREAD_LOCAL_ALIGNMENT: u64 = PAGE;

pub(super) fn check(elf: &Elf<'_>) -> Result<(), FormatError> {
    check_loads(elf)?;
    elf.sections.iter().filter(|section| section.is_loaded()).try_for_each(|s| check_location(elf, s))?;
    elf.segments.iter().enumerate().try_for_each(|(index, _)| check_segment(elf, index))?;
    check_counterparts(elf)
}

fn check_loads(elf: &Elf<'_>) -> Result<(), FormatError> {
    let loads: Vec<_> = elf.loads().collect();
    let (Some(first), Some(last)) = (loads.first(), loads.last()) else {
        return Err(malformed("no segment is to be loaded"));
    };
    let headers = size_of::<FileHeader64<LE>>() + elf.segments.len() * size_of::<ProgramHeader64<LE>>();
    ensure(first.offset == 0 && first.filesz >= headers as u64, || "the first segment does not hold the headers")?;
    for pair in loads.windows(2) {
        // Two segments must not share a page. A shared page would have the bytes and the permissions of only one segment.
        ensure(pair[0].pages().end <= pair[1].pages().start, || format!("segments overlap at {:#x}", pair[1].addr))?;
    }
    // The segments are sorted by address, so the last segment does not end before the start of the first segment.
    ensure(last.end().saturating_sub(first.addr) <= MOST_MEMORY, || "the segments need too much memory")?;
    loads.into_iter().try_for_each(|load| check_load(elf, load))
}

/// Checks that a load segment ends with its last section, both in the file and in memory. Also checks that the segment has exactly the
/// permissions that its sections need.
fn check_load(elf: &Elf<'_>, load: &Segment) -> Result<(), FormatError> {
    let at = load.addr;
    ensure(load.addr.checked_add(load.memsz).is_some(), || format!("segment {at:#x} wraps around memory"))?;
    ensure(load.align.is_power_of_two() && (PAGE..=MOST_ALIGNMENT).contains(&load.align), || {
        format!("segment {at:#x} has alignment {:#x}", load.align)
    })?;
    ensure(load.offset % load.align == load.addr % load.align, || format!("segment {at:#x} is not aligned"))?;
    let inside = elf.sections.iter().filter(|section| section.is_loaded() && !section.is_thread_zeroes());
    let inside: Vec<_> = inside.filter(|s| load.addr <= s.addr && s.end() <= load.end()).collect();
    let in_file = inside.iter().filter(|section| section.kind != SHT_NOBITS);
    let file_end = in_file.map(|section| section.file_end()).max();
    let end = inside.iter().map(|section| section.end()).max();
    // Also accepts an end at a page boundary, because lld extends the last code segment to a page boundary.
    let ends_at = |stated: u64, actual: u64| stated == actual || Some(stated) == actual.checked_next_multiple_of(PAGE);
    ensure(file_end.is_none_or(|actual| ends_at(load.file_end(), actual)), || {
        format!("segment {at:#x} does not end with its last section in the file")
    })?;
    ensure(end.is_some_and(|actual| ends_at(load.end(), actual)), || {
        format!("segment {at:#x} does not end with its last section in memory")
    })?;
    let is_needed = |section_flag: u64| inside.iter().any(|section| section.has(section_flag));
    let right = load.allows(PF_R.0)
        && load.allows(PF_W.0) == is_needed(SHF_WRITE.0)
        && load.allows(PF_X.0) == is_needed(SHF_EXECINSTR.0)
        && !(load.allows(PF_W.0) && load.allows(PF_X.0));
    ensure(right, || format!("segment {at:#x} has flags {:#x}, its sections need others", load.flags))
}

/// Checks that a loaded section is in a load segment, at the same offset in the file and in memory.
fn check_location(elf: &Elf<'_>, section: &Section<'_>) -> Result<(), FormatError> {
    let Section { name, addr, size, offset, .. } = section;
    if section.is_thread_zeroes() {
        return Ok(()); // `holds_thread_locals` checks `.tbss`
    }
    let load = elf.load_of(*addr, *size).ok_or_else(|| malformed(format!("section {name} is in no segment")))?;
    let right = match section.kind {
        // A zeroed section has no bytes in the file, so it must begin after the file content of its segment. Inside the file content, the
        // section would contain headers or padding instead of zeros.
        SHT_NOBITS => load.addr.saturating_add(load.filesz) <= *addr,
        _ => {
            load.offset <= *offset && addr - load.addr == offset - load.offset && section.file_end() <= load.file_end()
        }
    };
    ensure(right, || format!("section {name} is not where its segment maps it from"))
}

fn check_segment(elf: &Elf<'_>, index: usize) -> Result<(), FormatError> {
    let segment = &elf.segments[index];
    let Segment { kind, flags, offset, addr, filesz, memsz, align, .. } = segment;
    let what = || format!("program header {index} (type {:#x})", kind.0);
    let file_end = offset.checked_add(*filesz).unwrap_or(u64::MAX);
    ensure_whole(elf.bytes.len() as u64, &what(), file_end)?;
    ensure(segment.paddr == *addr, || format!("{} has two addresses", what()))?;
    ensure(*align == 0 || align.is_power_of_two(), || format!("{} has alignment {align}", what()))?;
    ensure(flags & !7 == 0 && segment.allows(PF_R.0), || format!("{} has flags {flags:#x}", what()))?;
    ensure(filesz <= memsz, || format!("{} is smaller in memory than in the file", what()))?;
    let alone =
        [PT_LOAD, PT_NOTE].contains(kind) || elf.segments.iter().filter(|other| other.kind == *kind).count() == 1;
    ensure(alone, || format!("{} occurs twice", what()))?;
    ensure(*kind == PT_LOAD || !segment.allows(PF_X.0), || format!("{} is executable", what()))?;
    if *kind != PT_LOAD && *kind != PT_GNU_STACK {
        ensure(*align > 0 && addr % align == 0, || format!("{} is not aligned", what()))?;
        let load = elf.load_of(*addr, *memsz).or_else(|| elf.load_of(*addr, *filesz));
        let load = load.ok_or_else(|| malformed(format!("{} is in no segment", what())))?;
        ensure(addr - load.addr == offset.wrapping_sub(load.offset), || format!("{} is misplaced", what()))?;
    }
    let exactly = |section: Option<&Section<'_>>| section.is_some_and(|s| segment.is_exactly(s) && *align >= s.align);
    let right = match *kind {
        PT_LOAD => true, // The segment was already checked together with its sections.
        // If this header marks the dynamic table as writable, the loader writes to the table, so its memory must be writable.
        PT_DYNAMIC => {
            exactly(elf.section_of_kind(SHT_DYNAMIC)) && (!segment.allows(PF_W.0) || elf.is_writable(*addr, *memsz))
        }
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
        // Each processor architecture defines its own types in this range. Libraries for x86-64 need none of these types. A larger range
        // would also accept the types above with a flipped bit.
        other => HOST != EM_X86_64 && (0x7000_0000..0x7000_0010).contains(&other.0),
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
    segment.memsz <= MOST_THREAD_LOCAL
        && segment.align <= MOST_THREAD_LOCAL_ALIGNMENT
        && start == Some(segment.addr)
        && align.is_some_and(|align| segment.align >= align)
        && end.is_some_and(|end| {
            segment.end() == end || Some(segment.end()) == end.checked_next_multiple_of(segment.align.max(1))
        })
        && segment.filesz == filesz
}

/// Checks if the segment contains no variables. After relocation, the pages of the segment become read-only, and a write to a variable in
/// these pages would crash.
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
    let overlaps = |s: &&Section<'_>| s.addr < segment.end() && segment.addr < s.end();
    let covered = elf.sections.iter().filter(|s| s.is_loaded() && !s.is_thread_zeroes()).filter(overlaps);
    let known = covered.clone().all(|section| CONSTANT.contains(&section.name) && section.has(SHF_WRITE.0));
    let starts = covered.map(|section| section.addr).min() == Some(segment.addr);
    let inside = elf.load_of(segment.addr, 1).is_some_and(|load| {
        load.allows(PF_W.0) && load.pages().start <= segment.pages().start && segment.end() <= load.pages().end
    });
    known && starts && inside && segment.memsz > 0 && segment.end().is_multiple_of(PAGE)
}

/// Checks that thread-locals, unwind tables and the dynamic table have their program headers.
fn check_counterparts(elf: &Elf<'_>) -> Result<(), FormatError> {
    let has = |kind: ProgramType| elf.segments.iter().any(|segment| segment.kind == kind);
    let locals = elf.sections.iter().any(|section| section.is_loaded() && section.has(SHF_TLS.0));
    ensure(has(PT_GNU_STACK), || "the segment that makes the stack non-executable is missing")?;
    ensure(has(PT_DYNAMIC), || "the dynamic table is missing")?;
    ensure(has(PT_TLS) == locals, || "thread-locals are not announced")?;
    ensure(has(PT_GNU_EH_FRAME) == elf.section_named(".eh_frame_hdr").is_some(), || "unwind tables are not announced")
}

#[cfg(test)]
mod tests {
    use super::super::Elf;
    use super::super::fixture::{CODE, INIT, ZEROES, library, outcome, with_constants, with_thread_locals};
    use super::{MOST_THREAD_LOCAL, PAGE, PF_W, SHT_NOBITS, Section, check_loads, check_location, check_segment};

    const BYTES: &[u8] = &[0; ZEROES as usize];
    const ADDED: usize = 4;

    fn loads(change: impl FnOnce(&mut Elf<'_>)) -> String {
        let mut elf = library(BYTES);
        change(&mut elf);
        outcome(check_loads(&elf))
    }

    #[test]
    fn load_segments_do_not_share_pages() {
        assert_eq!(loads(|_| {}), "whole");
        assert_eq!(loads(|elf| elf.segments[1].addr = CODE - PAGE), "segments overlap at 0x0");
        let shared = loads(|elf| {
            (elf.segments[0].filesz, elf.segments[0].memsz) = (600, 600);
            (elf.segments[1].addr, elf.segments[1].offset) = (800, 800);
        });
        assert_eq!(shared, "segments overlap at 0x320");
    }

    #[test]
    fn load_segments_have_the_size_of_their_sections() {
        let (at, memory) = ("segment 0x2000", "does not end with its last section in memory");
        assert_eq!(loads(|elf| elf.segments[2].memsz = 1 << 30), format!("{at} {memory}"));
        assert_eq!(loads(|elf| elf.segments[2].memsz = 1 << 40), "the segments need too much memory");
        assert_eq!(loads(|elf| elf.segments[2].align = 1 << 40), format!("{at} has alignment 0x10000000000"));
        assert_eq!(
            loads(|elf| elf.segments[1].flags |= PF_W.0),
            "segment 0x1000 has flags 0x7, its sections need others"
        );
        assert_eq!(loads(|elf| elf.segments[0].filesz = 100), "the first segment does not hold the headers");
    }

    #[test]
    fn zeroes_follow_the_bytes_of_the_file() {
        let check = |change: fn(&mut Section<'_>)| {
            let mut elf = library(BYTES);
            let at = elf.sections.iter().position(|section| section.kind == SHT_NOBITS).expect("it has some");
            change(&mut elf.sections[at]);
            outcome(check_location(&elf, &elf.sections[at]))
        };
        assert_eq!(check(|_| {}), "whole");
        let wrong = "section .bss is not where its segment maps it from";
        assert_eq!(check(|zeroes| (zeroes.addr, zeroes.size) = (0, 64)), wrong, "the headers");
        assert_eq!(check(|zeroes| (zeroes.addr, zeroes.size) = (ZEROES - 8, 8)), wrong, "variables");
    }

    #[test]
    fn thread_locals_have_a_size_that_fits_a_thread() {
        let check = |memsz, align| outcome(check_segment(&with_thread_locals(BYTES, memsz, align), ADDED));
        let wrong = "program header 4 (type 0x7) does not agree with the sections";
        assert_eq!(check(64, 8), "whole");
        assert_eq!(check(MOST_THREAD_LOCAL, 64), "whole");
        assert_eq!(check(MOST_THREAD_LOCAL + 1, 64), wrong);
        assert_eq!(check(1 << 40, 64), wrong);
        assert_eq!(check(64, 2 * PAGE), wrong);
    }

    #[test]
    fn relro_covers_variables_of_one_load_segment() {
        let check = |addr, memsz| outcome(check_segment(&with_constants(BYTES, addr, memsz), ADDED));
        let wrong = "program header 4 (type 0x6474e552) does not agree with the sections";
        assert_eq!(check(INIT, PAGE), "whole");
        assert_eq!(check(INIT, 2 * PAGE), wrong, "other variables");
        assert_eq!(check(INIT, 3 * PAGE), wrong, "what is behind the load");
        assert_eq!(check(CODE, 2 * PAGE), wrong, "code");
    }
}
