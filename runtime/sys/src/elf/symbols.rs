//! Checks the dynamic symbols, which are the definitions and imports of the library.

use object::LittleEndian as LE;
use object::elf::{
    SHN_ABS, SHN_LORESERVE, STB_GNU_UNIQUE, STB_LOCAL, STT_FUNC, STT_GNU_IFUNC, STT_TLS, STV_DEFAULT, Sym64,
};

use super::{Code, Elf, FormatError, ensure, malformed, records, string_at};

/// Maximum length of a name in bytes. C++ symbol names may have several kilobytes.
pub(super) const LONGEST_NAME: usize = 65_535;

pub(super) struct Symbols<'a> {
    entries: &'a [Sym64<LE>],
    /// Names of the undefined symbols, including weak symbols.
    pub(super) imports: Vec<String>,
    /// Index of each import in the symbol table.
    pub(super) import_indices: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SymbolLocation {
    Elsewhere,
    Here(usize),
    /// The value of the symbol is a number instead of an address.
    Number,
    Unknown,
}

impl<'a> Symbols<'a> {
    /// Parses and checks a symbol table with its names in `strings`.
    pub(super) fn read(elf: &Elf<'_>, raw: &'a [u8], strings: &[u8], locals: Option<u64>) -> Result<Self, FormatError> {
        let entries: &[Sym64<LE>] = records(raw, "the dynamic symbols")?;
        let first = entries.first().ok_or_else(|| malformed("the dynamic symbols are missing"))?;
        let is_null = first.st_info.0 == 0 && first.st_shndx.get(LE).0 == 0 && first.st_value.get(LE) == 0;
        ensure(is_null, || "dynamic symbol 0 is not empty")?;
        let (mut imports, mut import_indices, ground) = (Vec::new(), Vec::new(), Code::of(elf));
        // Limits the total length of the names, because names may share bytes of the string table.
        let mut room = strings.len().saturating_mul(4);
        for (index, symbol) in entries.iter().enumerate() {
            let name = string_at(strings, u64::from(symbol.st_name.get(LE)), LONGEST_NAME);
            let name = name.ok_or_else(|| malformed(format!("dynamic symbol {index} has no valid name")))?;
            let rest = room.checked_sub(name.len());
            room = rest.ok_or_else(|| malformed(format!("dynamic symbols up to {index} have too much of a name")))?;
            let wrong = |what: &str| format!("dynamic symbol {index} ({name}) {what}");
            let (value, size, kind) = (symbol.st_value.get(LE), symbol.st_size.get(LE), symbol.st_info.0 & 0xf);
            let location = location(symbol);
            match location {
                SymbolLocation::Elsewhere => ensure(value == 0, || wrong("is defined elsewhere and has a value"))?,
                SymbolLocation::Number => ensure(kind != STT_TLS.0, || wrong("is a thread-local and a number"))?,
                SymbolLocation::Unknown => return Err(malformed(wrong("is of no section"))),
                SymbolLocation::Here(section) => {
                    ensure(section < elf.sections.len(), || wrong("is of no section"))?;
                    let inside = match locals {
                        _ if kind != STT_TLS.0 => elf.load_of(value, size).is_some(),
                        Some(locals) => value.checked_add(size).is_some_and(|end| end <= locals),
                        None => false,
                    };
                    ensure(inside, || wrong("is in no segment"))?;
                }
            }
            // For an `STT_GNU_IFUNC` symbol, the loader calls the function at this address, which returns the final address.
            let called = kind == STT_GNU_IFUNC.0 && location != SymbolLocation::Elsewhere;
            let code = matches!(location, SymbolLocation::Here(_)) && ground.holds(value);
            ensure(!called || code, || wrong("is resolved by something other than code"))?;
            ensure(kind != STT_FUNC.0 || location == SymbolLocation::Elsewhere || code, || {
                wrong("is a function outside of the code")
            })?;
            if location == SymbolLocation::Elsewhere && !name.is_empty() {
                imports.push(name.to_owned());
                import_indices.push(index);
            }
        }
        Ok(Self { entries, imports, import_indices })
    }

    /// Returns the names of the defined symbols that are unique per process.
    pub(super) fn unique(&self, strings: &[u8]) -> Vec<String> {
        let is_unique = |entry: &&Sym64<LE>| {
            entry.st_info.0 >> 4 == STB_GNU_UNIQUE.0
                && matches!(location(entry), SymbolLocation::Here(_) | SymbolLocation::Number)
        };
        let name =
            |entry: &Sym64<LE>| string_at(strings, u64::from(entry.st_name.get(LE)), LONGEST_NAME).map(str::to_owned);
        self.entries.iter().filter(is_unique).filter_map(name).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn is_thread_local(&self, symbol: usize) -> bool {
        self.entries[symbol].st_info.0 & 0xf == STT_TLS.0
    }

    /// Checks if the symbol is a thread-local that a symbol of another library cannot replace.
    pub(super) fn is_own_thread_local(&self, symbol: usize) -> bool {
        let Some(entry) = self.entries.get(symbol) else { return false };
        let (is_local, is_hidden) = (entry.st_info.0 >> 4 == STB_LOCAL.0, entry.st_other.0 & 3 != STV_DEFAULT.0);
        self.is_thread_local(symbol) && matches!(location(entry), SymbolLocation::Here(_)) && (is_local || is_hidden)
    }
}

fn location(symbol: &Sym64<LE>) -> SymbolLocation {
    match symbol.st_shndx.get(LE).0 {
        0 => SymbolLocation::Elsewhere,
        section if section < SHN_LORESERVE => SymbolLocation::Here(section.into()),
        section if section == SHN_ABS.0 => SymbolLocation::Number,
        _ => SymbolLocation::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Section;
    use super::super::fixture::{CODE, DATA, END, library, outcome};
    use super::Symbols;

    const HERE: u16 = 3;
    const ELSEWHERE: u16 = 0;
    const NUMBER: u16 = 0xfff1;

    fn symbol(name: u32, kind: u8, section: u16, value: u64, size: u64) -> Vec<u8> {
        let head = [&name.to_le_bytes()[..], &[0x10 | kind, 0], &section.to_le_bytes()].concat();
        [head, value.to_le_bytes().to_vec(), size.to_le_bytes().to_vec()].concat()
    }

    fn read(raw: &[u8], strings: &[u8], locals: Option<u64>) -> String {
        let bytes = vec![0; DATA as usize];
        outcome(Symbols::read(&library(&bytes), raw, strings, locals))
    }

    /// Checks a symbol at index 1, after the empty symbol. Returns the result without the prefix that names the symbol.
    fn check(kind: u8, section: u16, value: u64, size: u64) -> String {
        let raw = [vec![0; 24], symbol(1, kind, section, value, size)].concat();
        read(&raw, b"\0name\0", Some(64)).replace("dynamic symbol 1 (name) ", "")
    }

    #[test]
    fn symbols_are_in_sections_that_suit_their_kind() {
        let (none, object, function, local, resolved) = (0, 1, 2, 6, 10);
        for (kind, section, value, size) in [
            (none, HERE, END, 0),
            (object, HERE, DATA, 64),
            (function, 1, CODE, 4096),
            (resolved, 1, CODE, 0),
            (local, HERE, 0, 64),
            (function, ELSEWHERE, 0, 0),
            (resolved, ELSEWHERE, 0, 0),
            (object, NUMBER, 0, 0),
        ] {
            assert_eq!(check(kind, section, value, size), "whole", "{kind} in {section} at {value:#x}");
        }
        for (kind, section, value, size, expected) in [
            (object, HERE, END, 1, "is in no segment"),
            (object, HERE, DATA, 1 << 20, "is in no segment"),
            (object, HERE, u64::MAX, 8, "is in no segment"),
            (object, 5, DATA, 8, "is of no section"),
            (object, 0xfff2, DATA, 8, "is of no section"),
            (object, ELSEWHERE, DATA, 8, "is defined elsewhere and has a value"),
            (function, HERE, DATA, 0, "is a function outside of the code"),
            (function, NUMBER, CODE, 0, "is a function outside of the code"),
            (resolved, HERE, DATA, 0, "is resolved by something other than code"),
            (resolved, NUMBER, CODE, 0, "is resolved by something other than code"),
            (local, HERE, 0, 65, "is in no segment"),
            (local, HERE, u64::MAX, 1, "is in no segment"),
            (local, NUMBER, 0, 0, "is a thread-local and a number"),
        ] {
            assert_eq!(check(kind, section, value, size), expected, "{kind} in {section} at {value:#x}");
        }
        let raw = [vec![0; 24], symbol(1, local, HERE, 0, 8)].concat();
        assert_eq!(read(&raw, b"\0name\0", None), "dynamic symbol 1 (name) is in no segment", "there are none");
    }

    #[test]
    fn symbol_names_cannot_exhaust_memory() {
        let named = |names: &[u32]| {
            let symbols = names.iter().flat_map(|name| symbol(*name, 0, ELSEWHERE, 0, 0));
            [vec![0; 24], symbols.collect()].concat()
        };
        assert_eq!(read(&named(&[6]), b"\0name\0", None), "dynamic symbol 1 has no valid name");
        assert_eq!(read(&named(&[1]), &[b'x'; 9], None), "dynamic symbol 0 has no valid name");
        let long = [&[0][..], &[b'x'; 60_000], &[0]].concat();
        let many = read(&named(&[1; 1000]), &long, None);
        assert_eq!(many, "dynamic symbols up to 5 have too much of a name");
        let longer = [&[0][..], &[b'x'; 70_000], &[0]].concat();
        assert_eq!(read(&named(&[1]), &longer, None), "dynamic symbol 1 has no valid name");
    }

    #[test]
    fn many_symbols_in_many_pieces_of_code_cost_no_more_than_both() {
        let bytes = vec![0; DATA as usize];
        let mut elf = library(&bytes);
        let pieces = elf.sections.remove(1);
        let each = |at: u64| Section { addr: CODE + at, offset: CODE + at, size: 1, align: 1, ..pieces };
        elf.sections.extend((0..4096).flat_map(|at| [each(at), each(at), each(at), each(at)]));
        let symbols = (0..2_000_000_u64).flat_map(|at| symbol(0, 2, 1, CODE + at % 4096, 0));
        let raw: Vec<u8> = [0; 24].into_iter().chain(symbols).collect();
        assert_eq!(outcome(Symbols::read(&elf, &raw, b"\0", None)), "whole");
    }

    #[test]
    fn the_first_symbol_is_the_null_symbol() {
        let raw = symbol(0, 10, 1, CODE, 0);
        assert_eq!(read(&raw, b"\0", None), "dynamic symbol 0 is not empty");
        assert_eq!(read(&[], b"\0", None), "the dynamic symbols are missing");
        assert_eq!(read(&[0; 25], b"\0", None), "the dynamic symbols do not end with a whole entry");
    }
}
