//! Checks the dynamic table that the loader reads: compares each entry with its section, and checks the section's content.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Range, RangeInclusive};

use object::LittleEndian as LE;
use object::elf::{
    DF_1_NODEFLIB, DF_1_NODELETE, DF_1_NOW, DF_1_ORIGIN, DF_BIND_NOW, DF_ORIGIN, DF_STATIC_TLS, DF_SYMBOLIC, DT_FINI,
    DT_FINI_ARRAY, DT_FINI_ARRAYSZ, DT_FLAGS, DT_FLAGS_1, DT_GNU_HASH, DT_HASH, DT_INIT, DT_INIT_ARRAY,
    DT_INIT_ARRAYSZ, DT_JMPREL, DT_NEEDED, DT_NULL, DT_PLTGOT, DT_PLTREL, DT_PLTRELSZ, DT_RELA, DT_RELACOUNT,
    DT_RELAENT, DT_RELASZ, DT_RELR, DT_RELRENT, DT_RELRSZ, DT_RPATH, DT_RUNPATH, DT_SONAME, DT_STRSZ, DT_STRTAB,
    DT_SYMBOLIC, DT_SYMENT, DT_SYMTAB, DT_TLSDESC_GOT, DT_TLSDESC_PLT, DT_VERDEF, DT_VERDEFNUM, DT_VERNEED,
    DT_VERNEEDNUM, DT_VERSYM, Dyn64, DynamicTag, EM_X86_64, PT_DYNAMIC, PT_TLS, Rela64, SHF_ALLOC, SHT_DYNSYM,
    SHT_FINI_ARRAY, SHT_GNU_HASH, SHT_GNU_VERDEF, SHT_GNU_VERNEED, SHT_GNU_VERSYM, SHT_HASH, SHT_INIT_ARRAY, SHT_RELA,
    SHT_RELR, SHT_STRTAB, SectionType, Sym64,
};

use super::relocations::Walk;
use super::symbols::Symbols;
use super::{
    Elf, Facts, FormatError, HOST, Pinning, Section, ensure, hashes, malformed, records, slice, string_at, versions,
};

/// Tags that glibc accepts in a library, in numerical order. Excludes text relocations and `DT_REL`.
const KNOWN: [RangeInclusive<DynamicTag>; 8] = [
    DT_NULL..=DT_SYMBOLIC,
    DT_PLTREL..=DT_PLTREL,
    DT_JMPREL..=DT_FLAGS,
    DT_RELRSZ..=DT_RELRENT,
    DT_GNU_HASH..=DT_TLSDESC_GOT,
    DT_VERSYM..=DT_VERSYM,
    DT_RELACOUNT..=DT_RELACOUNT,
    DT_FLAGS_1..=DT_VERNEEDNUM,
];

/// Allowed bits of `DT_FLAGS`. Relocations in code are not allowed.
const FLAGS: u64 = DF_ORIGIN.0 | DF_SYMBOLIC.0 | DF_BIND_NOW.0 | DF_STATIC_TLS.0;

/// Allowed bits of `DT_FLAGS_1` in a library that is mapped at run time.
const FLAGS_1: u64 = DF_1_NOW.0 | DF_1_NODELETE.0 | DF_1_ORIGIN.0 | DF_1_NODEFLIB.0;

/// Maximum length of a file name on common file systems. The loader stores names on its stack.
const LONGEST_NAME: usize = 255;

/// Maximum length of a path on common file systems.
const LONGEST_PATH: usize = 4095;

const MOST_NEEDED: usize = 1024;

/// Parsed dynamic table with one value per tag. Only the tag `DT_NEEDED` may occur several times: `needed` contains all values of this tag.
struct Dynamic<'e, 'a> {
    elf: &'e Elf<'a>,
    values: BTreeMap<i64, u64>,
    needed: Vec<u64>,
}

/// Checks the dynamic table and all tables that its entries point to. Returns the facts about the file.
pub(super) fn check(elf: &Elf<'_>) -> Result<Facts, FormatError> {
    let dynamic = Dynamic::read(elf)?;
    dynamic.check_flags()?;
    let (symbols, strings) = dynamic.check_symbols()?;
    let needed = dynamic.check_names(strings)?;
    dynamic.check_hashes(symbols.len())?;
    let versions = dynamic.check_versions(symbols.len(), strings, &needed)?;
    dynamic.check_code()?;
    let relocated = dynamic.check_relocations(&symbols)?;
    let pinning = dynamic.pinning(&symbols, strings, &versions);
    let needed = needed.into_iter().map(str::to_owned).collect();
    Ok(Facts { sections: elf.section_facts(&relocated), needed, imports: symbols.imports, pinning })
}

impl<'e, 'a> Dynamic<'e, 'a> {
    fn read(elf: &'e Elf<'a>) -> Result<Self, FormatError> {
        let segment = elf.segment_of_kind(PT_DYNAMIC).ok_or_else(|| malformed("the dynamic table is missing"))?;
        let raw = slice(elf.bytes, segment.offset, segment.filesz).unwrap_or_default();
        let entries: &[Dyn64<LE>] = records(raw, "the entries of the dynamic table")?;
        let end = entries.iter().position(|entry| entry.d_tag.get(LE) == DT_NULL);
        let end = end.ok_or_else(|| malformed("the dynamic table has no end"))?;
        // Checks only the tags of the entries after the end, because some tools remove an entry by clearing its tag without clearing its
        // value.
        let clean = entries[end..].iter().all(|entry| entry.d_tag.get(LE) == DT_NULL);
        ensure(clean, || "the dynamic table continues after its end")?;
        let mut dynamic = Self { elf, values: BTreeMap::new(), needed: Vec::new() };
        for entry in &entries[..end] {
            let (tag, value) = (entry.d_tag.get(LE), entry.d_val.get(LE));
            // Accepts tags that only this processor architecture defines, for example for branch protection on AArch64.
            let own = HOST != EM_X86_64 && (0x7000_0000..0x7000_0010).contains(&tag.0);
            let known = KNOWN.iter().any(|tags| tags.contains(&tag));
            ensure(known || own, || format!("dynamic tag {:#x} is unknown", tag.0))?;
            if tag == DT_NEEDED {
                dynamic.needed.push(value);
            } else {
                let twice = dynamic.values.insert(tag.0, value).is_some();
                ensure(!twice, || format!("dynamic tag {:#x} occurs twice", tag.0))?;
            }
        }
        Ok(dynamic)
    }

    fn get(&self, tag: DynamicTag) -> Option<u64> {
        self.values.get(&tag.0).copied()
    }

    fn has(&self, tag: DynamicTag) -> bool {
        self.values.contains_key(&tag.0)
    }

    /// Checks that the tag and the section of this kind have the same address, or that both are missing.
    fn agree(&self, tag: DynamicTag, kind: SectionType) -> Result<Option<&'e Section<'a>>, FormatError> {
        let elf = self.elf;
        let section = elf.sections.iter().find(|s| s.kind == kind && s.flags & SHF_ALLOC.0 != 0 && s.size > 0);
        let at = self.get(tag);
        ensure(section.map(|section| section.addr) == at, || {
            format!("dynamic tag {:#x} and its section do not agree", tag.0)
        })?;
        Ok(section)
    }

    /// Returns the bytes of the table whose tag and section have the same address.
    fn table(&self, tag: DynamicTag, kind: SectionType) -> Result<Option<&'a [u8]>, FormatError> {
        let Some(section) = self.agree(tag, kind)? else { return Ok(None) };
        let raw = self.elf.mapped(section.addr, section.size);
        raw.map(Some).ok_or_else(|| malformed(format!("section {} is not mapped", section.name)))
    }

    /// Checks that the file has either all or none of the tags. The loader assumes that these tags occur together.
    fn all_or_none(&self, tags: &[DynamicTag]) -> Result<(), FormatError> {
        let there = tags.iter().filter(|tag| self.has(**tag)).count();
        ensure(there == 0 || there == tags.len(), || {
            let missing = tags.iter().find(|tag| !self.has(**tag)).map_or(0, |tag| tag.0);
            format!("dynamic tag {missing:#x} is missing")
        })
    }

    /// Returns the properties of a checked file that keep its image mapped. `versions` maps the number of each needed version to its
    /// library.
    fn pinning(&self, symbols: &Symbols<'_>, strings: &[u8], versions: &BTreeMap<u16, &str>) -> Pinning {
        let numbers = self.table(DT_VERSYM, SHT_GNU_VERSYM).ok().flatten().unwrap_or_default();
        Pinning {
            is_marked: self.get(DT_FLAGS_1).is_some_and(|flags| flags & DF_1_NODELETE.0 != 0),
            unique: symbols.unique(strings),
            libraries: versions::libraries(&symbols.import_indices, numbers, versions),
        }
    }

    fn check_flags(&self) -> Result<(), FormatError> {
        for (tag, known) in [(DT_FLAGS, FLAGS), (DT_FLAGS_1, FLAGS_1)] {
            let flags = self.get(tag).unwrap_or(0);
            ensure(flags & !known == 0, || {
                format!("dynamic tag {:#x} has flags {flags:#x} that no module may have", tag.0)
            })?;
        }
        Ok(())
    }

    /// Checks the symbols. Returns the symbols, and the string table with their names.
    fn check_symbols(&self) -> Result<(Symbols<'a>, &'a [u8]), FormatError> {
        let elf = self.elf;
        let section = self.agree(DT_SYMTAB, SHT_DYNSYM)?.ok_or_else(|| malformed("the dynamic symbols are missing"))?;
        let each = size_of::<Sym64<LE>>() as u64;
        ensure(self.get(DT_SYMENT) == Some(each), || "dynamic symbols have a wrong size")?;
        let names = &elf.sections[section.link];
        let agree = self.get(DT_STRTAB) == Some(names.addr) && self.get(DT_STRSZ) == Some(names.size);
        ensure(agree && names.kind == SHT_STRTAB, || "dynamic symbols and their names do not agree")?;
        let strings = elf.mapped(names.addr, names.size).ok_or_else(|| malformed("symbol names are not mapped"))?;
        ensure(strings.first() == Some(&0) && strings.last() == Some(&0), || "symbol names have no end")?;
        let raw = elf.mapped(section.addr, section.size).ok_or_else(|| malformed("symbols are not mapped"))?;
        let locals = elf.segment_of_kind(PT_TLS).map(|segment| segment.memsz);
        Ok((Symbols::read(elf, raw, strings, locals)?, strings))
    }

    /// Checks the names of needed libraries. Rejects paths, because the loader would map the file at any path.
    fn check_names(&self, strings: &'a [u8]) -> Result<Vec<&'a str>, FormatError> {
        for (tag, most) in [(DT_SONAME, LONGEST_NAME), (DT_RPATH, LONGEST_PATH), (DT_RUNPATH, LONGEST_PATH)] {
            let valid = self.get(tag).is_none_or(|at| string_at(strings, at, most).is_some());
            ensure(valid, || format!("dynamic tag {:#x} names nothing", tag.0))?;
        }
        // The loader uses this library for every later request that names its soname. The host requests copies by their paths. A soname
        // that contains a path could therefore equal the path of a copy.
        let own = self.get(DT_SONAME).and_then(|at| string_at(strings, at, LONGEST_NAME)).unwrap_or_default();
        ensure(!own.contains('/'), || {
            format!("it calls itself {own}, which is a path: give it a name without folders")
        })?;
        ensure(self.needed.len() <= MOST_NEEDED, || format!("it needs {} libraries", self.needed.len()))?;
        let name = |at: &u64| {
            let name = string_at(strings, *at, LONGEST_NAME).filter(|name| !name.is_empty());
            let name = name.ok_or_else(|| malformed("a needed library has no valid name"))?;
            let plain = !name.contains(['/', '$']);
            ensure(plain, || format!("it needs {name}, which is a path: link that library by its name"))?;
            Ok(name)
        };
        self.needed.iter().map(name).collect()
    }

    fn check_hashes(&self, symbols: usize) -> Result<(), FormatError> {
        let old = self.table(DT_HASH, SHT_HASH)?;
        let new = self.table(DT_GNU_HASH, SHT_GNU_HASH)?;
        ensure(old.is_some() || new.is_some(), || "the symbol hash table is missing")?;
        old.map_or(Ok(()), |raw| hashes::check_sysv(raw, symbols))?;
        new.map_or(Ok(()), |raw| hashes::check_gnu(raw, symbols))
    }

    /// Checks the versions of symbols. Returns the library of each needed version.
    fn check_versions(
        &self,
        symbols: usize,
        strings: &'a [u8],
        needed: &[&str],
    ) -> Result<BTreeMap<u16, &'a str>, FormatError> {
        let counted = |tag: DynamicTag, count: DynamicTag, kind: SectionType| {
            let Some(section) = self.agree(tag, kind)? else { return Ok(None) };
            let count = self.get(count).unwrap_or(0);
            ensure(count == u64::from(section.info), || format!("section {} is miscounted", section.name))?;
            Ok(self.table(tag, kind)?.map(|raw| (raw, count)))
        };
        let verneed = counted(DT_VERNEED, DT_VERNEEDNUM, SHT_GNU_VERNEED)?;
        let verdef = counted(DT_VERDEF, DT_VERDEFNUM, SHT_GNU_VERDEF)?;
        let numbers = self.table(DT_VERSYM, SHT_GNU_VERSYM)?;
        let is_versioned = verneed.is_some() || verdef.is_some();
        ensure(numbers.is_some() || !is_versioned, || "there are versions, but no symbol has one")?;
        let needed: BTreeSet<&str> = needed.iter().copied().collect();
        let needed = verneed.map(|(raw, count)| versions::check_needed(raw, strings, count, &needed)).transpose()?;
        let needed = needed.unwrap_or_default();
        let defined = verdef.map(|(raw, count)| versions::check_defined(raw, strings, count)).transpose()?;
        let highest = needed.keys().copied().chain(defined).max().unwrap_or(0);
        numbers.map_or(Ok(()), |raw| versions::check_numbers(raw, symbols, highest))?;
        Ok(needed)
    }

    fn check_code(&self) -> Result<(), FormatError> {
        for (tag, name) in [(DT_INIT, ".init"), (DT_FINI, ".fini")] {
            let section = self.elf.section_named(name).map(|section| section.addr);
            let at = self.get(tag);
            ensure(section.is_none() || section == at, || format!("section {name} is not announced"))?;
            ensure(at.is_none_or(|at| self.elf.is_code(at)), || format!("{name} is not code"))?;
        }
        let arrays =
            [(DT_INIT_ARRAY, DT_INIT_ARRAYSZ, SHT_INIT_ARRAY), (DT_FINI_ARRAY, DT_FINI_ARRAYSZ, SHT_FINI_ARRAY)];
        for (tag, size, kind) in arrays {
            self.all_or_none(&[tag, size])?;
            // An array of size zero has no section.
            let section = if self.get(size) == Some(0) { None } else { self.agree(tag, kind)? };
            let size = self.get(size).unwrap_or(0);
            ensure(section.map_or(0, |section| section.size) == size && size.is_multiple_of(8), || {
                format!("dynamic tag {:#x} has a wrong size", tag.0)
            })?;
        }
        // Checks that the first entry of each table is writable, because a loader with lazy binding writes to it.
        for (tag, size) in [(DT_PLTGOT, 8), (DT_TLSDESC_GOT, 8)] {
            let writable = self.get(tag).is_none_or(|at| self.elf.is_writable(at, size));
            ensure(writable, || format!("dynamic tag {:#x} points to memory that is not writable", tag.0))?;
        }
        let bound = self.get(DT_TLSDESC_PLT).is_none_or(|at| self.elf.is_code(at));
        ensure(bound, || format!("dynamic tag {:#x} points to memory that is not code", DT_TLSDESC_PLT.0))
    }

    fn check_relocations(&self, symbols: &Symbols<'_>) -> Result<BTreeSet<usize>, FormatError> {
        let each = size_of::<Rela64<LE>>() as u64;
        ensure(self.get(DT_RELAENT).is_none_or(|size| size == each), || "relocations have a wrong size")?;
        ensure(
            self.get(DT_PLTREL).is_none_or(|kind| kind == DT_RELA.0 as u64),
            || "calls are bound in an unknown way",
        )?;
        ensure(self.get(DT_RELRENT).is_none_or(|size| size == 8), || "packed relocations have a wrong size")?;
        self.all_or_none(&[DT_RELA, DT_RELASZ, DT_RELAENT])?;
        self.all_or_none(&[DT_JMPREL, DT_PLTRELSZ, DT_PLTREL])?;
        self.all_or_none(&[DT_RELR, DT_RELRSZ, DT_RELRENT])?;
        let data = self.relocation_table(DT_RELA, DT_RELASZ)?;
        let calls = self.relocation_table(DT_JMPREL, DT_PLTRELSZ)?;
        let covered =
            |s: &Section<'_>| [&data, &calls].iter().any(|range| range.start <= s.addr && s.end() <= range.end);
        let loaded = || self.elf.sections.iter().filter(|s| s.kind == SHT_RELA && s.is_loaded());
        loaded().try_for_each(|s| ensure(covered(s), || format!("section {} is not announced", s.name)))?;
        // The loader writes to the start of the table of `DT_PLTGOT`, so this table must begin at the start of a section.
        let tables = || [".got.plt", ".got"].into_iter().filter_map(|name| self.elf.section_named(name));
        let is_valid = self.get(DT_PLTGOT).is_none_or(|at| tables().any(|table| table.addr == at));
        ensure(is_valid, || "the call table is not where its section is")?;

        let has_locals = self.elf.segment_of_kind(PT_TLS).is_some();
        let mut walk = Walk::new(self.elf, symbols, has_locals);
        let packed = self.table(DT_RELR, SHT_RELR)?.unwrap_or_default();
        ensure(packed.len() as u64 == self.get(DT_RELRSZ).unwrap_or(0), || "packed relocations have a wrong size")?;
        walk.packed(self.elf, packed)?;
        let relative = self.get(DT_RELACOUNT).unwrap_or(0);
        for (range, what, relative) in [(data, "the relocations", relative), (calls, "the relocations of calls", 0)] {
            let raw = self.elf.mapped(range.start, range.end - range.start).unwrap_or_default();
            walk.table(what, raw, relative)?;
        }
        walk.finish()
    }

    /// Returns the range of a relocation table, after checking that the table consists of complete relocation sections.
    fn relocation_table(&self, tag: DynamicTag, size: DynamicTag) -> Result<Range<u64>, FormatError> {
        let (at, size) = (self.get(tag).unwrap_or(0), self.get(size).unwrap_or(0));
        if size == 0 {
            return Ok(0..0);
        }
        ensure(self.elf.mapped(at, size).is_some(), || format!("relocation table {:#x} is not mapped", tag.0))?;
        let range = at..at + size;
        let inside =
            || self.elf.sections.iter().filter(|s| s.is_loaded() && s.addr < range.end && range.start < s.end());
        let whole = inside().all(|s| s.kind == SHT_RELA)
            && inside().any(|s| s.addr == range.start)
            && inside().any(|s| s.end() == range.end);
        ensure(whole, || format!("relocation table {:#x} is not where its section is", tag.0))?;
        Ok(range)
    }
}
