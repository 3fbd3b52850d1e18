//! Whether the dynamic table, and the tables it points at, are fit to be acted upon.
//!
//! This is what the loader really works from: it writes through every relocation and calls every initialiser without
//! a further look, so each address is checked to lie where such a thing may lie.

use std::collections::BTreeMap;
use std::ops::Range;

use object::LittleEndian as LE;
use object::elf::{
    DT_BIND_NOW, DT_FINI, DT_FINI_ARRAY, DT_FINI_ARRAYSZ, DT_FLAGS, DT_FLAGS_1, DT_GNU_HASH, DT_HASH, DT_INIT,
    DT_INIT_ARRAY, DT_INIT_ARRAYSZ, DT_JMPREL, DT_NEEDED, DT_NULL, DT_PLTGOT, DT_PLTREL, DT_PLTRELSZ, DT_RELA,
    DT_RELACOUNT, DT_RELAENT, DT_RELASZ, DT_RELR, DT_RELRENT, DT_RELRSZ, DT_RPATH, DT_RUNPATH, DT_SONAME, DT_STRSZ,
    DT_STRTAB, DT_SYMBOLIC, DT_SYMENT, DT_SYMTAB, DT_TLSDESC_GOT, DT_TLSDESC_PLT, DT_VERDEF, DT_VERDEFNUM, DT_VERNEED,
    DT_VERNEEDNUM, DT_VERSYM, Dyn64, DynamicTag, EM_X86_64, PF_W, PT_DYNAMIC, Rela64, SHF_ALLOC, SHT_DYNSYM,
    SHT_FINI_ARRAY, SHT_GNU_HASH, SHT_GNU_VERDEF, SHT_GNU_VERNEED, SHT_GNU_VERSYM, SHT_HASH, SHT_INIT_ARRAY, SHT_RELA,
    SHT_RELR, STT_TLS, SectionType, Sym64, Vernaux, Verneed,
};
use object::pod::{from_bytes, slice_from_all_bytes};

use super::{Elf, Flaw, HOST, Section, ensure, malformed, slice, string};

/// The tags a linker writes for a library that glibc can map. Text relocations and `DT_REL` are not among them.
const KNOWN: [DynamicTag; 38] = [
    DT_BIND_NOW,
    DT_FINI,
    DT_FINI_ARRAY,
    DT_FINI_ARRAYSZ,
    DT_FLAGS,
    DT_FLAGS_1,
    DT_GNU_HASH,
    DT_HASH,
    DT_INIT,
    DT_INIT_ARRAY,
    DT_INIT_ARRAYSZ,
    DT_JMPREL,
    DT_NEEDED,
    DT_NULL,
    DT_PLTGOT,
    DT_PLTREL,
    DT_PLTRELSZ,
    DT_RELA,
    DT_RELACOUNT,
    DT_RELAENT,
    DT_RELASZ,
    DT_RELR,
    DT_RELRENT,
    DT_RELRSZ,
    DT_RPATH,
    DT_RUNPATH,
    DT_SONAME,
    DT_STRSZ,
    DT_STRTAB,
    DT_SYMBOLIC,
    DT_SYMENT,
    DT_SYMTAB,
    DT_TLSDESC_GOT,
    DT_TLSDESC_PLT,
    DT_VERDEF,
    DT_VERDEFNUM,
    DT_VERNEED,
    DT_VERSYM,
];

/// The dynamic table as read: one value for each tag, and the needed names apart, since they repeat.
struct Dynamic<'e, 'a> {
    elf: &'e Elf<'a>,
    values: BTreeMap<i64, u64>,
    needed: Vec<u64>,
}

/// What the loader will have to find elsewhere.
pub(super) struct Wants {
    /// The names of the libraries, in the order it will look.
    pub(super) needed: Vec<String>,
    /// The symbols that the file uses and does not define, weak ones included.
    pub(super) imports: Vec<String>,
}

/// What the file wants, once everything the loader would follow was found to lie where it should.
pub(super) fn check(elf: &Elf<'_>) -> Result<Wants, Flaw> {
    let dynamic = Dynamic::read(elf)?;
    let (symbols, strings, imports) = dynamic.check_symbols()?;
    dynamic.check_hash(symbols)?;
    dynamic.check_versions(symbols, strings)?;
    dynamic.check_code()?;
    dynamic.check_relocations(symbols)?;
    for tag in [DT_SONAME, DT_RPATH, DT_RUNPATH] {
        let valid = dynamic.get(tag).is_none_or(|at| string(strings, at).is_some());
        ensure(valid, || format!("dynamic tag {:#x} names nothing", tag.0))?;
    }
    let names = dynamic.needed.iter().map(|at| string(strings, *at).filter(|name| !name.is_empty()));
    let needed: Result<_, _> =
        names.map(|name| name.ok_or_else(|| malformed("a needed library has no valid name"))).collect();
    Ok(Wants { needed: needed?, imports })
}

impl<'e, 'a> Dynamic<'e, 'a> {
    fn read(elf: &'e Elf<'a>) -> Result<Self, Flaw> {
        let segment = elf.segments.iter().find(|segment| segment.kind == PT_DYNAMIC);
        let segment = segment.ok_or_else(|| malformed("there is no dynamic table"))?;
        let raw = slice(elf.bytes, segment.offset, segment.filesz).unwrap_or_default();
        let entries: &[Dyn64<LE>] =
            slice_from_all_bytes(raw).map_err(|()| malformed("the dynamic table ends within an entry"))?;
        let end = entries.iter().position(|entry| entry.d_tag.get(LE) == DT_NULL);
        let end = end.ok_or_else(|| malformed("the dynamic table has no end"))?;
        // Tools that take an entry out leave its value behind, so only the tags count here.
        let clean = entries[end..].iter().all(|entry| entry.d_tag.get(LE) == DT_NULL);
        ensure(clean, || "the dynamic table goes on after its end".to_owned())?;
        let mut dynamic = Self { elf, values: BTreeMap::new(), needed: Vec::new() };
        for entry in &entries[..end] {
            let (tag, value) = (entry.d_tag.get(LE), entry.d_val.get(LE));
            // A machine may have tags of its own, as AArch64 has for branch protection.
            let own = HOST != EM_X86_64 && (0x7000_0000..0x7fff_ffff).contains(&tag.0);
            ensure(KNOWN.contains(&tag) || tag == DT_VERNEEDNUM || own, || {
                format!("dynamic tag {:#x} is unknown", tag.0)
            })?;
            if tag == DT_NEEDED {
                dynamic.needed.push(value);
            } else {
                let twice = dynamic.values.insert(tag.0, value).is_some();
                ensure(!twice, || format!("dynamic tag {:#x} is there twice", tag.0))?;
            }
        }
        Ok(dynamic)
    }

    fn get(&self, tag: DynamicTag) -> Option<u64> {
        self.values.get(&tag.0).copied()
    }

    /// The tag and the section of that kind must both be there, at one address, or neither.
    fn agree(&self, tag: DynamicTag, kind: SectionType) -> Result<Option<&'e Section>, Flaw> {
        let elf = self.elf;
        let section = elf.sections.iter().find(|s| s.kind == kind && s.flags & SHF_ALLOC.0 != 0 && s.size > 0);
        let at = self.get(tag).filter(|_| section.is_some() || kind != SHT_INIT_ARRAY && kind != SHT_FINI_ARRAY);
        ensure(section.map(|section| section.addr) == at, || {
            format!("dynamic tag {:#x} and its section do not agree", tag.0)
        })?;
        Ok(section)
    }

    /// How many symbols there are, the table of their names, and the names of those that are defined elsewhere.
    fn check_symbols(&self) -> Result<(u64, &'a [u8], Vec<String>), Flaw> {
        let elf = self.elf;
        let section = self.agree(DT_SYMTAB, SHT_DYNSYM)?.ok_or_else(|| malformed("there are no dynamic symbols"))?;
        let each = size_of::<Sym64<LE>>() as u64;
        ensure(self.get(DT_SYMENT) == Some(each), || "dynamic symbols have a wrong size".to_owned())?;
        let names = &elf.sections[section.link];
        let agree = self.get(DT_STRTAB) == Some(names.addr) && self.get(DT_STRSZ) == Some(names.size);
        ensure(agree, || "dynamic symbols and their names do not agree".to_owned())?;
        let strings = elf.mapped(names.addr, names.size).ok_or_else(|| malformed("symbol names are not mapped"))?;
        ensure(strings.first() == Some(&0) && strings.last() == Some(&0), || "symbol names have no end".to_owned())?;
        let raw = elf.mapped(section.addr, section.size).ok_or_else(|| malformed("symbols are not mapped"))?;
        let symbols: &[Sym64<LE>] =
            slice_from_all_bytes(raw).map_err(|()| malformed("the symbols end within an entry"))?;
        for (index, symbol) in symbols.iter().enumerate() {
            let named = u64::from(symbol.st_name.get(LE)) < names.size;
            ensure(named, || format!("dynamic symbol {index} has no valid name"))?;
            // An index into the sections says that the value is an address; above them are special meanings.
            let index_of_section = usize::from(symbol.st_shndx.get(LE).0);
            let address = (1..0xff00).contains(&index_of_section) && symbol.st_info.0 & 0xf != STT_TLS.0;
            let placed = !address || elf.load_of(symbol.st_value.get(LE), 0).is_some();
            let known = index_of_section >= 0xff00 || index_of_section < elf.sections.len();
            ensure(placed && known, || format!("dynamic symbol {index} is in no segment"))?;
        }
        let undefined = symbols.iter().filter(|symbol| symbol.st_shndx.get(LE).0 == 0);
        let imports = undefined.filter_map(|symbol| string(strings, u64::from(symbol.st_name.get(LE))));
        Ok((symbols.len() as u64, strings, imports.filter(|name| !name.is_empty()).collect()))
    }

    /// A look-up walks buckets and chains without asking for their length.
    fn check_hash(&self, symbols: u64) -> Result<(), Flaw> {
        self.agree(DT_HASH, SHT_HASH)?;
        let Some(section) = self.agree(DT_GNU_HASH, SHT_GNU_HASH)? else {
            return ensure(self.get(DT_HASH).is_some(), || "there is no way to look symbols up".to_owned());
        };
        let raw = self.elf.mapped(section.addr, section.size).unwrap_or_default();
        let word = |index: u64| {
            let bytes = slice(raw, index.checked_mul(4)?, 4)?;
            Some(u64::from(u32::from_le_bytes(bytes.try_into().ok()?)))
        };
        let wrong = || malformed("the symbol hash table does not fit the symbols");
        let (buckets, first) = word(0).zip(word(1)).ok_or_else(wrong)?;
        let (bloom, shift) = word(2).zip(word(3)).ok_or_else(wrong)?;
        ensure(buckets > 0 && bloom.is_power_of_two() && shift < 64, || "the symbol hash table is odd".to_owned())?;
        let start = 4 + bloom * 2;
        let mut empty = true;
        for index in 0..buckets {
            let bucket = word(start + index).ok_or_else(wrong)?;
            ensure(bucket == 0 || (first..symbols).contains(&bucket), || format!("hash bucket {index} is wrong"))?;
            empty &= bucket == 0;
        }
        if empty {
            return Ok(()); // no chain is ever entered, and linkers write none then
        }
        let last = word(start + buckets + symbols - first - 1).ok_or_else(wrong)?;
        ensure(last & 1 == 1, || "the last hash chain has no end".to_owned())
    }

    fn check_versions(&self, symbols: u64, strings: &[u8]) -> Result<(), Flaw> {
        self.agree(DT_VERDEF, SHT_GNU_VERDEF)?;
        if let Some(section) = self.agree(DT_VERSYM, SHT_GNU_VERSYM)? {
            ensure(section.size == symbols * 2, || "there is not one version for each symbol".to_owned())?;
        }
        let Some(section) = self.agree(DT_VERNEED, SHT_GNU_VERNEED)? else { return Ok(()) };
        let count = self.get(DT_VERNEEDNUM).unwrap_or(0);
        ensure(count == u64::from(section.info), || "the needed versions are miscounted".to_owned())?;
        let raw = self.elf.mapped(section.addr, section.size).unwrap_or_default();
        walk_versions(raw, strings, count).ok_or_else(|| malformed("the needed versions are not a whole chain"))
    }

    /// Everything the loader calls by itself must be code.
    fn check_code(&self) -> Result<(), Flaw> {
        for (tag, name) in [(DT_INIT, ".init"), (DT_FINI, ".fini")] {
            let section = self.elf.section_named(name).map(|section| section.addr);
            let at = self.get(tag);
            ensure(section.is_none() || section == at, || format!("section {name} is not announced"))?;
            ensure(at.is_none_or(|at| self.elf.is_code(at)), || format!("{name} is not code"))?;
        }
        let arrays =
            [(DT_INIT_ARRAY, DT_INIT_ARRAYSZ, SHT_INIT_ARRAY), (DT_FINI_ARRAY, DT_FINI_ARRAYSZ, SHT_FINI_ARRAY)];
        for (tag, size, kind) in arrays {
            let section = self.agree(tag, kind)?;
            let agree = section.map_or(0, |section| section.size) == self.get(size).unwrap_or(0);
            ensure(agree && self.get(size).unwrap_or(0).is_multiple_of(8), || {
                format!("dynamic tag {:#x} has a wrong size", tag.0)
            })?;
        }
        Ok(())
    }

    fn check_relocations(&self, symbols: u64) -> Result<(), Flaw> {
        let each = size_of::<Rela64<LE>>() as u64;
        ensure(self.get(DT_RELAENT).is_none_or(|size| size == each), || "relocations have a wrong size".to_owned())?;
        ensure(self.get(DT_PLTREL).is_none_or(|kind| kind == DT_RELA.0 as u64), || "calls are bound oddly".to_owned())?;
        let data = self.relocation_table(DT_RELA, DT_RELASZ)?;
        let calls = self.relocation_table(DT_JMPREL, DT_PLTRELSZ)?;
        ensure(data.is_empty() || self.get(DT_RELAENT).is_some(), || "relocations have no size".to_owned())?;
        ensure(calls.is_empty() || self.get(DT_PLTREL).is_some(), || "nothing says how calls are bound".to_owned())?;
        let covered = |s: &Section| [&data, &calls].iter().any(|range| range.start <= s.addr && s.end() <= range.end);
        let loaded = || self.elf.sections.iter().filter(|s| s.kind == SHT_RELA && s.is_loaded());
        loaded().try_for_each(|s| ensure(covered(s), || format!("section {} is not announced", s.name)))?;
        for range in [&data, &calls].into_iter().filter(|range| !range.is_empty()) {
            let starts = loaded().any(|s| s.addr == range.start);
            let ends = loaded().any(|s| s.end() == range.end);
            ensure(starts && ends, || "a relocation table is not where its section is".to_owned())?;
        }
        let packed = self.agree(DT_RELR, SHT_RELR)?.map(|section| section.size);
        ensure(packed == self.get(DT_RELRSZ), || "packed relocations have a wrong size".to_owned())?;
        ensure(self.get(DT_RELRENT).is_none_or(|size| size == 8), || "packed relocations are not words".to_owned())?;
        // The loader writes its own entry into the first words of this table.
        let tables = || [".got.plt", ".got"].into_iter().filter_map(|name| self.elf.section_named(name));
        let placed = self.get(DT_PLTGOT).is_none_or(|at| tables().any(|table| table.addr == at));
        ensure(placed, || "the call table is not where its section is".to_owned())?;
        let relative = self.get(DT_RELACOUNT).unwrap_or(0);
        ensure(relative <= (data.end - data.start) / each, || "relocations are miscounted".to_owned())?;
        self.check_table(&data, relative, symbols)?;
        self.check_table(&calls, 0, symbols)
    }

    fn relocation_table(&self, tag: DynamicTag, size: DynamicTag) -> Result<Range<u64>, Flaw> {
        match (self.get(tag), self.get(size)) {
            (None, None | Some(0)) => Ok(0..0),
            (Some(at), Some(size)) if self.elf.mapped(at, size).is_some() => Ok(at..at + size),
            _ => Err(malformed(format!("relocation table {:#x} is not mapped", tag.0))),
        }
    }

    fn check_table(&self, range: &Range<u64>, relative: u64, symbols: u64) -> Result<(), Flaw> {
        let raw = self.elf.mapped(range.start, range.end - range.start).unwrap_or_default();
        let table: &[Rela64<LE>] =
            slice_from_all_bytes(raw).map_err(|()| malformed("the relocations end within an entry"))?;
        let arrays = self.elf.sections.iter().filter(|s| s.kind == SHT_INIT_ARRAY || s.kind == SHT_FINI_ARRAY);
        let arrays: Vec<Range<u64>> = arrays.map(|section| section.addr..section.end()).collect();
        for (index, entry) in (0u64..).zip(table) {
            let (at, info) = (entry.r_offset.get(LE), entry.r_info.get(LE));
            let (kind, symbol, addend) = (info as u32, info >> 32, entry.r_addend.get(LE) as u64);
            let wrong = |what: &str| format!("relocation {index} at {at:#x} {what}");
            ensure(symbol < symbols, || wrong("names no symbol"))?;
            if HOST != EM_X86_64 {
                continue; // the numbers below are x86-64's
            }
            ensure(index >= relative || kind == RELATIVE, || wrong("is counted as relative but is not"))?;
            let width = if kind == TLSDESC { 16 } else { 8 };
            let writable = self.elf.load_of(at, width).is_some_and(|load| load.allows(PF_W.0));
            ensure(writable || kind == NONE, || wrong("would write where nothing may be written"))?;
            let right = match kind {
                NONE | ADDRESS | GLOBAL | CALL | TLS_MODULE | TLS_OFFSET | TLS_POINTER | TLSDESC => true,
                RELATIVE if arrays.iter().any(|array| array.contains(&at)) => symbol == 0 && self.elf.is_code(addend),
                RELATIVE => symbol == 0 && self.elf.load_of(addend, 0).is_some(),
                RESOLVED => symbol == 0 && self.elf.is_code(addend),
                _ => false,
            };
            ensure(right, || wrong("asks for something a library cannot have"))?;
        }
        Ok(())
    }
}

/// x86-64 relocations that a linker leaves in a library.
const NONE: u32 = 0;
const ADDRESS: u32 = 1;
const GLOBAL: u32 = 6;
const CALL: u32 = 7;
const RELATIVE: u32 = 8;
const TLS_MODULE: u32 = 16;
const TLS_OFFSET: u32 = 17;
const TLS_POINTER: u32 = 18;
const TLSDESC: u32 = 36;
const RESOLVED: u32 = 37;

/// Walks the chains as the loader would; `None` as soon as it would step outside.
fn walk_versions(raw: &[u8], strings: &[u8], count: u64) -> Option<()> {
    let mut at = 0;
    for left in (0..count).rev() {
        let (file, _) = from_bytes::<Verneed<LE>>(raw.get(at..)?).ok()?;
        let next = file.vn_next.get(LE) as usize;
        let mut entry = at + file.vn_aux.get(LE) as usize;
        string(strings, u64::from(file.vn_file.get(LE)))?;
        for entries_left in (0..file.vn_cnt.get(LE)).rev() {
            let (version, _) = from_bytes::<Vernaux<LE>>(raw.get(entry..)?).ok()?;
            string(strings, u64::from(version.vna_name.get(LE)))?;
            let step = version.vna_next.get(LE) as usize;
            // The loader stops at a zero step, not at the count.
            if (step == 0) != (entries_left == 0) {
                return None;
            }
            entry += step;
        }
        if file.vn_version.get(LE) != 1 || (next == 0) != (left == 0) {
            return None;
        }
        at += next;
    }
    Some(())
}
