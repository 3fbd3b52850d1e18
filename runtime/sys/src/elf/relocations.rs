//! Checks the relocations. The loader writes to the address of each relocation without a check, and may also call functions.
//!
//! Relocations may write to sections of variables, but not to a table that the loader still reads. The arrays of initializers and
//! finalizers contain function addresses, which relocations write. Relocations must write every slot of these arrays, and only with
//! addresses of code.

use std::collections::BTreeSet;
use std::ops::Range;

use object::LittleEndian as LE;
use object::elf::{
    EM_AARCH64, EM_RISCV, EM_X86_64, Machine, Rela64, SHF_WRITE, SHT_FINI_ARRAY, SHT_INIT_ARRAY, SHT_NOBITS,
    SHT_PROGBITS,
};
use object::{U64, elf};

use super::symbols::Symbols;
use super::{Code, Elf, FormatError, HOST, ensure, malformed, records};

/// Size in bytes of an address on the target.
pub(super) const WORD: u64 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Nothing,
    Own,
    Named,
    /// Writes the module id of a thread-local, or its offset inside the thread-locals of its library.
    ThreadLocal,
    /// Writes the offset of a thread-local from the thread pointer, with this width in bytes. The loader allocates the thread-local next to
    /// the thread-locals of the program. For this, the loader divides by an alignment that is read from the library that defines the
    /// thread-local.
    NearThread(u64),
    /// Calls a function of the library and writes its result.
    Called,
}

/// Returns the effect of a relocation type. Returns `None` for a type that linkers never write to libraries.
fn meaning(machine: Machine, kind: u32) -> Option<Meaning> {
    use Meaning::{Called, Named, NearThread, Nothing, Own, ThreadLocal};
    Some(match (machine, elf::RelocationType(kind)) {
        (_, elf::RelocationType(0)) => Nothing,
        (EM_X86_64, elf::R_X86_64_RELATIVE) | (EM_AARCH64, elf::R_AARCH64_RELATIVE) => Own,
        (EM_RISCV, elf::R_RISCV_RELATIVE) => Own,
        (EM_X86_64, elf::R_X86_64_64 | elf::R_X86_64_GLOB_DAT | elf::R_X86_64_JUMP_SLOT) => Named,
        (EM_AARCH64, elf::R_AARCH64_ABS64 | elf::R_AARCH64_GLOB_DAT | elf::R_AARCH64_JUMP_SLOT) => Named,
        (EM_RISCV, elf::R_RISCV_64 | elf::R_RISCV_JUMP_SLOT) => Named,
        (EM_X86_64, elf::R_X86_64_DTPMOD64 | elf::R_X86_64_DTPOFF64) => ThreadLocal,
        (EM_AARCH64, elf::R_AARCH64_TLS_DTPMOD | elf::R_AARCH64_TLS_DTPREL) => ThreadLocal,
        (EM_RISCV, elf::R_RISCV_TLS_DTPMOD64 | elf::R_RISCV_TLS_DTPREL64) => ThreadLocal,
        (EM_X86_64, elf::R_X86_64_TPOFF64) | (EM_AARCH64, elf::R_AARCH64_TLS_TPREL) => NearThread(WORD),
        (EM_RISCV, elf::R_RISCV_TLS_TPREL64) => NearThread(WORD),
        (EM_X86_64, elf::R_X86_64_TLSDESC) => NearThread(2 * WORD),
        // AArch64 compilers use this type for every thread-local.
        (EM_AARCH64, elf::R_AARCH64_TLSDESC) => NearThread(2 * WORD),
        (EM_X86_64, elf::R_X86_64_IRELATIVE) | (EM_AARCH64, elf::R_AARCH64_IRELATIVE) => Called,
        (EM_RISCV, elf::R_RISCV_IRELATIVE) => Called,
        _ => return None,
    })
}

/// Checks if relocations of this type write an address of the library itself.
pub(super) fn is_own(kind: u32) -> bool {
    meaning(HOST, kind) == Some(Meaning::Own)
}

/// Checks if relocations of this type write the offset of a thread-local from the thread pointer.
pub(super) fn is_near_thread(kind: u32) -> bool {
    meaning(HOST, kind) == Some(Meaning::NearThread(WORD))
}

/// Calls `visit` with the offset of each packed relocation. An even word is an offset. In an odd word, each of the upper 63 bits marks one
/// of the 63 words that follow the last offset. The error contains the index of the invalid word.
pub(super) fn each_packed(
    words: &[U64<LE>],
    mut visit: impl FnMut(u64) -> Result<(), &'static str>,
) -> Result<(), (usize, &'static str)> {
    let mut next: Option<u64> = None;
    for (index, entry) in words.iter().map(|word| word.get(LE)).enumerate() {
        let mut visit_entry = || {
            if entry & 1 == 0 {
                // The loader adds the load address to the word. A second relocation of a word would add this address again.
                if next.is_some_and(|next| entry < next) {
                    return Err("is out of order");
                }
                visit(entry)?;
                next = entry.checked_add(WORD);
                return Ok(());
            }
            let start = next.ok_or("is for no location")?;
            for bit in (1..64).filter(|bit| entry >> bit & 1 == 1) {
                visit(start.checked_add((bit - 1) * WORD).ok_or("is for no location")?)?;
            }
            next = start.checked_add(63 * WORD);
            Ok(())
        };
        visit_entry().map_err(|why| (index, why))?;
    }
    Ok(())
}

/// Section that relocations may write to, or an array that relocations must write to.
struct Ground {
    range: Range<u64>,
    section: usize,
    is_writable: bool,
    /// Slots of a function array, `true` if a relocation writes the slot. `None` for all other sections.
    slots: Option<Vec<bool>>,
    is_written: bool,
}

/// Checks all relocations of a file, table by table. Most tables are sorted, so each lookup starts at the result of the previous lookup.
pub(super) struct Walk<'a> {
    symbols: &'a Symbols<'a>,
    has_thread_locals: bool,
    grounds: Vec<Ground>,
    code: Code,
    lands: Vec<Range<u64>>,
    last: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(elf: &Elf<'_>, symbols: &'a Symbols<'a>, has_thread_locals: bool) -> Self {
        let arrays = [SHT_INIT_ARRAY, SHT_FINI_ARRAY];
        let ground = |(index, section): (usize, &super::Section<'_>)| {
            let is_array = arrays.contains(&section.kind);
            let is_variable = section.has(SHF_WRITE.0) && elf.is_writable(section.addr, section.size);
            let is_writable = is_variable && (is_array || [SHT_PROGBITS, SHT_NOBITS].contains(&section.kind));
            let is_meant = section.is_loaded() && !section.is_thread_zeroes() && (is_array || is_writable);
            is_meant.then(|| Ground {
                range: section.addr..section.end(),
                section: index,
                is_writable,
                slots: is_array.then(|| vec![false; section.size.div_ceil(WORD) as usize]),
                is_written: false,
            })
        };
        let mut grounds: Vec<_> = elf.sections.iter().enumerate().filter_map(ground).collect();
        // Sections do not overlap. Their order is therefore total.
        grounds.sort_by_key(|ground| ground.range.start);
        let code = Code::of(elf);
        let lands = elf.loads().map(|load| load.addr..load.end()).collect();
        Self { symbols, has_thread_locals, grounds, code, lands, last: 0 }
    }

    /// Checks a relocation table whose first `relative` entries must write addresses of the library itself.
    pub(super) fn table(&mut self, what: &str, raw: &[u8], relative: u64) -> Result<(), FormatError> {
        let entries: &[Rela64<LE>] = records(raw, what)?;
        ensure(relative <= entries.len() as u64, || format!("{what} are miscounted"))?;
        for (index, entry) in (0..).zip(entries) {
            if let Err(why) = self.entry(entry, index < relative) {
                let at = entry.r_offset.get(LE);
                return Err(malformed(format!("entry {index} of {what}, for {at:#x}, {why}")));
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: &Rela64<LE>, is_relative: bool) -> Result<(), &'static str> {
        let (at, info, addend) = (entry.r_offset.get(LE), entry.r_info.get(LE), entry.r_addend.get(LE) as u64);
        let (kind, symbol) = (info as u32, (info >> 32) as usize);
        let meaning = meaning(HOST, kind).ok_or("is of a type that no library has")?;
        if symbol >= self.symbols.len() {
            return Err("names no symbol");
        }
        if is_relative && meaning != Meaning::Own {
            return Err("is counted as relative but is not");
        }
        let width = match meaning {
            Meaning::Nothing => return Ok(()),
            Meaning::NearThread(width) => width,
            Meaning::Own | Meaning::Named | Meaning::ThreadLocal | Meaning::Called => WORD,
        };
        let land = self.land_of(addend);
        let right = match meaning {
            Meaning::Own => symbol == 0 && land.is_some(),
            Meaning::Called => symbol == 0 && land == Some(true),
            Meaning::ThreadLocal | Meaning::NearThread(_) if symbol == 0 => self.has_thread_locals,
            Meaning::NearThread(_) if HOST == EM_X86_64 => self.symbols.is_own_thread_local(symbol),
            Meaning::ThreadLocal | Meaning::NearThread(_) => self.symbols.is_thread_local(symbol),
            Meaning::Named | Meaning::Nothing => true,
        };
        if !right && matches!(meaning, Meaning::NearThread(_)) && symbol != 0 {
            return Err(
                "requires another library's thread-local in the static block of the thread: build that code without `initial-exec`",
            );
        }
        if !right {
            return Err("requests something that a library cannot have");
        }
        // The address in an initializer slot must be an address of this library. The loader may resolve a symbol to a different library, or
        // not at all.
        let gets_code = meaning == Meaning::Own && land == Some(true);
        self.write(at, width, gets_code)
    }

    pub(super) fn packed(&mut self, elf: &Elf<'_>, raw: &[u8]) -> Result<(), FormatError> {
        let what = "the packed relocations";
        let visited = each_packed(records(raw, what)?, |at| {
            let addend = elf.mapped(at, WORD).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
            let land = addend.and_then(|addend| self.land_of(addend)).ok_or("is for no address")?;
            self.write(at, WORD, land)
        });
        visited.map_err(|(index, why)| malformed(format!("entry {index} of {what} {why}")))
    }

    /// Checks that every slot of the initializer and finalizer arrays was written. Returns the indices of the relocated sections.
    pub(super) fn finish(self) -> Result<BTreeSet<usize>, FormatError> {
        for ground in &self.grounds {
            let empty = ground.slots.iter().flatten().position(|is_written| !is_written);
            ensure(empty.is_none(), || {
                let at = ground.range.start + empty.unwrap_or_default() as u64 * WORD;
                format!(
                    "nothing writes the address of a function into the slot at {at:#x}, which the loader would call"
                )
            })?;
        }
        Ok(self.grounds.into_iter().filter(|ground| ground.is_written).map(|ground| ground.section).collect())
    }

    fn write(&mut self, at: u64, width: u64, is_code: bool) -> Result<(), &'static str> {
        let end = at.checked_add(width).ok_or("would write outside of memory")?;
        let holds = |ground: &Ground| ground.range.start <= at && end <= ground.range.end;
        if !self.grounds.get(self.last).is_some_and(holds) {
            let behind = self.grounds.partition_point(|ground| ground.range.start <= at);
            self.last = behind.checked_sub(1).ok_or("would write where nothing may be written")?;
        }
        let ground = self.grounds.get_mut(self.last).filter(|ground| ground.is_writable && holds(ground));
        let ground = ground.ok_or("would write where nothing may be written")?;
        ground.is_written = true;
        if let Some(slots) = &mut ground.slots {
            let skip = at - ground.range.start;
            let slot = slots.get_mut((skip / WORD) as usize).filter(|_| skip.is_multiple_of(WORD) && width == WORD);
            let slot = slot.filter(|_| is_code).ok_or(
                "would make the loader call an address that may not be a function of the library: give that function no name \
                 that others see (`static`, or hidden)",
            )?;
            *slot = true;
        }
        Ok(())
    }

    /// Returns `Some(true)` for an address of code, and `Some(false)` for all other addresses in a segment or at its end. Returns `None`
    /// for an address outside of all segments.
    fn land_of(&self, addr: u64) -> Option<bool> {
        if self.code.holds(addr) {
            return Some(true);
        }
        self.lands.iter().any(|land| land.start <= addr && addr <= land.end).then_some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{CODE, DATA, END, INIT, TABLES, ZEROES, library, outcome, with_thread_locals};
    use super::super::symbols::Symbols;
    use super::{EM_X86_64, HOST, LE, U64, Walk, each_packed, elf};

    const OWN: u32 = elf::R_X86_64_RELATIVE.0;
    const NAMED: u32 = elf::R_X86_64_64.0;
    const CALLED: u32 = elf::R_X86_64_IRELATIVE.0;
    const MODULE: u32 = elf::R_X86_64_DTPMOD64.0;
    const OFFSET: u32 = elf::R_X86_64_TPOFF64.0;
    const DESCRIBED: u32 = elf::R_X86_64_TLSDESC.0;

    const SLOTS: [(u64, u32, u32, u64); 2] = [(INIT, OWN, 0, CODE), (INIT + 8, OWN, 0, CODE + 16)];

    fn table(entries: &[(u64, u32, u32, u64)]) -> Vec<u8> {
        let entry = |(at, kind, symbol, addend): &(u64, u32, u32, u64)| {
            [*at, u64::from(*symbol) << 32 | u64::from(*kind), *addend].map(u64::to_le_bytes).concat()
        };
        entries.iter().flat_map(entry).collect()
    }

    /// Returns a symbol table: symbol 1 is a function and 2 a variable of the library, 3 a function and 4 a thread-local of another
    /// library.
    fn symbols() -> Vec<u8> {
        let symbol = |info: u8, section: u16, value: u64| {
            [&[1, 0, 0, 0, info, 0][..], &section.to_le_bytes(), &value.to_le_bytes(), &[0; 8]].concat()
        };
        [vec![0; 24], symbol(0x12, 1, CODE + 32), symbol(0x11, 3, DATA), symbol(0x12, 0, 0), symbol(0x16, 0, 0)]
            .concat()
    }

    /// Checks a relocation after the relocations that write the slots.
    fn check(entry: (u64, u32, u32, u64)) -> String {
        walked(&[&SLOTS[..], &[entry]].concat(), 0)
    }

    fn walked(entries: &[(u64, u32, u32, u64)], relative: u64) -> String {
        let (bytes, raw) = (vec![0; ZEROES as usize], symbols());
        let elf = library(&bytes);
        let symbols = Symbols::read(&elf, &raw, b"\0name\0", None).unwrap_or_else(|error| panic!("{error:?}"));
        let mut walk = Walk::new(&elf, &symbols, false);
        let walked = walk.table("the relocations", &table(entries), relative);
        outcome(walked.and_then(|()| walk.finish()))
    }

    #[test]
    fn relocations_of_linkers_are_accepted() {
        if HOST != EM_X86_64 {
            return;
        }
        for entry in [
            (DATA, OWN, 0, CODE),
            (DATA, OWN, 0, END),
            (ZEROES - 8, OWN, 0, DATA),
            (END - 8, NAMED, 3, 0),
            (DATA, MODULE, 4, 0),
            (DATA + 3, NAMED, 2, 8),
            (DATA, CALLED, 0, CODE),
            (TABLES, 0, 0, 0),
        ] {
            assert_eq!(check(entry), "whole", "{entry:?}");
        }
        assert_eq!(walked(&SLOTS, 2), "whole");
    }

    #[test]
    fn writes_outside_of_variables_are_refused() {
        if HOST != EM_X86_64 {
            return;
        }
        let where_not =
            |at: u64| format!("entry 2 of the relocations, for {at:#x}, would write where nothing may be written");
        for at in [TABLES, TABLES + 512, CODE, CODE + 4088, INIT - 8, END - 7, END, 1 << 60] {
            assert_eq!(check((at, OWN, 0, CODE)), where_not(at));
        }
        // These relocations would write across two sections, and past the end of the address space.
        assert_eq!(check((ZEROES - 4, OWN, 0, CODE)), where_not(ZEROES - 4));
        let outside = "entry 2 of the relocations, for 0xffffffffffffffff, would write outside of memory";
        assert_eq!(check((u64::MAX, OWN, 0, CODE)), outside);
    }

    #[test]
    fn relocations_to_missing_things_are_refused() {
        if HOST != EM_X86_64 {
            return;
        }
        let reason = |why: &str| format!("entry 2 of the relocations, for {DATA:#x}, {why}");
        let cannot = reason("requests something that a library cannot have");
        assert_eq!(check((DATA, NAMED, 5, 0)), reason("names no symbol"));
        assert_eq!(check((DATA, elf::R_X86_64_COPY.0, 1, 0)), reason("is of a type that no library has"));
        assert_eq!(check((DATA, 4711, 0, 0)), reason("is of a type that no library has"));
        for entry in [
            (DATA, OWN, 0, END + 1),
            (DATA, OWN, 1, CODE),
            (DATA, CALLED, 0, DATA),
            (DATA, CALLED, 0, END),
            (DATA, OFFSET, 0, 0),
            (DATA, MODULE, 3, 0),
        ] {
            assert_eq!(check(entry), cannot, "{entry:?}");
        }
        // Refused, because the library that defines the symbol may have no thread-locals.
        let near = reason(
            "requires another library's thread-local in the static block of the thread: build that code without `initial-exec`",
        );
        assert_eq!([OFFSET, DESCRIBED].map(|kind| check((DATA, kind, 4, 0))), [near.clone(), near]);
        let counted = "entry 2 of the relocations, for 0x2010, is counted as relative but is not";
        assert_eq!(walked(&[&SLOTS[..], &[(DATA, NAMED, 1, 0)]].concat(), 3), counted);
        assert_eq!(walked(&SLOTS, 3), "the relocations are miscounted");
    }

    #[test]
    fn initializers_are_code_of_the_library() {
        if HOST != EM_X86_64 {
            return;
        }
        let empty = "nothing writes the address of a function into the slot at 0x2008, which the loader would call";
        assert_eq!(walked(&SLOTS[..1], 0), empty);
        assert_eq!(walked(&[SLOTS[0], (INIT + 8, 0, 0, 0)], 0), empty);
        for entry in [
            (INIT, OWN, 0, DATA),
            (INIT + 4, OWN, 0, CODE),
            (INIT, NAMED, 1, 0),
            (INIT, NAMED, 2, 0),
            (INIT, NAMED, 3, 0),
            (INIT, CALLED, 0, CODE),
            (INIT, MODULE, 4, 0),
        ] {
            let message = check(entry);
            assert!(
                message.contains("would make the loader call an address that may not be a function of the library"),
                "{entry:?}: {message}"
            );
        }
    }

    /// Checks packed relocations in a file whose three words from `INIT` on are `words`.
    fn packed(entries: &[u64], words: [u64; 3]) -> String {
        let mut bytes = vec![0; ZEROES as usize];
        bytes[INIT as usize..][..24].copy_from_slice(&words.map(u64::to_le_bytes).concat());
        let (elf, raw) = (library(&bytes), symbols());
        let symbols = Symbols::read(&elf, &raw, b"\0name\0", None).unwrap_or_else(|error| panic!("{error:?}"));
        let mut walk = Walk::new(&elf, &symbols, false);
        let raw: Vec<u8> = entries.iter().flat_map(|entry| entry.to_le_bytes()).collect();
        outcome(walk.packed(&elf, &raw).and_then(|()| walk.finish()))
    }

    #[test]
    fn packed_relocations_are_followed_bit_by_bit() {
        let words = [CODE, CODE + 8, DATA];
        assert_eq!(packed(&[INIT, 0b111], words), "whole");
        assert_eq!(packed(&[INIT, INIT + 8, DATA], words), "whole");
        let back = "entry 1 of the packed relocations is out of order";
        assert_eq!(packed(&[INIT, INIT], words), back);
        let reason = |why: &str| format!("entry {why}");
        assert_eq!(packed(&[0b11], words), reason("0 of the packed relocations is for no location"));
        assert_eq!(
            packed(&[INIT, 0b111], [CODE, DATA, DATA]),
            reason(
                "1 of the packed relocations would make the loader call an address that may not be a function of the library: \
                 give that function no name that others see (`static`, or hidden)"
            )
        );
        assert_eq!(
            packed(&[INIT, 0b111], [CODE, CODE, 1 << 40]),
            reason("1 of the packed relocations is for no address")
        );
        assert_eq!(
            packed(&[CODE], words),
            reason("0 of the packed relocations would write where nothing may be written")
        );
        assert_eq!(packed(&[END], words), reason("0 of the packed relocations is for no address"));
    }

    #[test]
    fn thread_locals_of_the_library_are_there() {
        if HOST != EM_X86_64 {
            return;
        }
        let (bytes, raw) = (vec![0; ZEROES as usize], symbols());
        let elf = with_thread_locals(&bytes, 64, 8);
        let symbols = Symbols::read(&elf, &raw, b"\0name\0", Some(64)).unwrap_or_else(|error| panic!("{error:?}"));
        let mut walk = Walk::new(&elf, &symbols, true);
        let entries = [&SLOTS[..], &[(DATA, OFFSET, 0, 0), (DATA, DESCRIBED, 0, 0)]].concat();
        assert_eq!(outcome(walk.table("the relocations", &table(&entries), 0)), "whole");
        let mut walk = Walk::new(&elf, &symbols, true);
        let past = walk.table("the relocations", &table(&[(END - 8, DESCRIBED, 0, 0)]), 0);
        assert!(outcome(past).ends_with("would write where nothing may be written"));
    }

    #[test]
    fn padding_between_sections_is_not_code() {
        let (bytes, raw) = (vec![0; ZEROES as usize], symbols());
        let mut elf = library(&bytes);
        elf.sections[1].size -= 64;
        let symbols = Symbols::read(&elf, &raw, b"\0name\0", None).unwrap_or_else(|error| panic!("{error:?}"));
        let walk = Walk::new(&elf, &symbols, false);
        let lands = [CODE, INIT - 65, INIT - 64, INIT - 1, END, END + 1].map(|at| walk.land_of(at));
        assert_eq!(lands, [Some(true), Some(true), Some(false), Some(false), Some(false), None]);
        assert!(elf.is_code(INIT - 65) && !elf.is_code(INIT - 64));
    }

    #[test]
    fn read_only_initializers_are_refused() {
        let (bytes, raw) = (vec![0; ZEROES as usize], symbols());
        let mut elf = library(&bytes);
        elf.sections[2].flags &= !super::SHF_WRITE.0;
        let symbols = Symbols::read(&elf, &raw, b"\0name\0", None).unwrap_or_else(|error| panic!("{error:?}"));
        let empty = "nothing writes the address of a function into the slot at 0x2000, which the loader would call";
        assert_eq!(outcome(Walk::new(&elf, &symbols, false).finish()), empty);
    }

    #[test]
    fn packed_relocations_are_addresses_followed_by_bitmaps() {
        let offsets = |words: &[u64]| {
            let words: Vec<_> = words.iter().map(|word| U64::new(LE, *word)).collect();
            let mut offsets = Vec::new();
            let visited = each_packed(&words, |at| {
                offsets.push(at);
                Ok(())
            });
            visited.map(|()| offsets)
        };
        let behind = 0x1008 + 63 * 8;
        let expected = vec![0x1000, 0x1008, 0x1010, behind + 4 * 8, 0x9000];
        assert_eq!(offsets(&[0x1000, 0b111, 0b10_0001, 0x9000]), Ok(expected));
        assert_eq!(offsets(&[]), Ok(Vec::new()));
    }
}
