//! Lists the field offsets of a library file, table by table. Mutations change these fields.

use std::ops::Range;

#[derive(Clone, Debug)]
pub(crate) struct Field {
    /// Names of the table, the entry and the field, for messages.
    pub(crate) name: String,
    pub(crate) at: usize,
    pub(crate) size: usize,
}

/// Table of consecutive entries of equal size. Each entry has these fields.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) range: Range<usize>,
    pub(crate) each: usize,
    fields: &'static [(&'static str, usize, usize)],
}

impl Table {
    fn new(name: &str, range: Range<usize>, fields: &'static [(&'static str, usize, usize)]) -> Self {
        let each = fields.iter().map(|(_, at, size)| at + size).max().unwrap_or(1);
        Self { name: name.to_owned(), range, each, fields }
    }

    pub(crate) fn len(&self) -> usize {
        self.range.len() / self.each
    }

    pub(crate) fn entry(&self, index: usize) -> Range<usize> {
        let at = self.range.start + index * self.each;
        at..at + self.each
    }

    pub(crate) fn fields(&self, index: usize) -> impl Iterator<Item = Field> {
        let entry = self.entry(index);
        self.fields.iter().map(move |(field, at, size)| Field {
            name: format!("{}[{index}].{field}", self.name),
            at: entry.start + at,
            size: *size,
        })
    }

    pub(crate) fn field(&self, index: usize, name: &str) -> Field {
        let field = self.fields(index).find(|field| field.name.ends_with(&format!(".{name}")));
        field.unwrap_or_else(|| panic!("{} has no field {name}", self.name))
    }
}

const HEADER: &[(&str, usize, usize)] = &[
    ("ident", 4, 4),
    ("kind", 16, 2),
    ("machine", 18, 2),
    ("entry", 24, 8),
    ("phoff", 32, 8),
    ("shoff", 40, 8),
    ("flags", 48, 4),
    ("ehsize", 52, 2),
    ("phentsize", 54, 2),
    ("phnum", 56, 2),
    ("shentsize", 58, 2),
    ("shnum", 60, 2),
    ("shstrndx", 62, 2),
];
const SEGMENT: &[(&str, usize, usize)] = &[
    ("type", 0, 4),
    ("flags", 4, 4),
    ("offset", 8, 8),
    ("vaddr", 16, 8),
    ("paddr", 24, 8),
    ("filesz", 32, 8),
    ("memsz", 40, 8),
    ("align", 48, 8),
];
const SECTION: &[(&str, usize, usize)] = &[
    ("name", 0, 4),
    ("type", 4, 4),
    ("flags", 8, 8),
    ("addr", 16, 8),
    ("offset", 24, 8),
    ("size", 32, 8),
    ("link", 40, 4),
    ("info", 44, 4),
    ("align", 48, 8),
    ("entsize", 56, 8),
];
const DYNAMIC: &[(&str, usize, usize)] = &[("tag", 0, 8), ("value", 8, 8)];
const SYMBOL: &[(&str, usize, usize)] =
    &[("name", 0, 4), ("info", 4, 1), ("other", 5, 1), ("section", 6, 2), ("value", 8, 8), ("size", 16, 8)];
const RELOCATION: &[(&str, usize, usize)] = &[("offset", 0, 8), ("type", 8, 4), ("symbol", 12, 4), ("addend", 16, 8)];
const BYTE: &[(&str, usize, usize)] = &[("byte", 0, 1)];
const HALF: &[(&str, usize, usize)] = &[("half", 0, 2)];
const WORD: &[(&str, usize, usize)] = &[("word", 0, 4)];
const LONG: &[(&str, usize, usize)] = &[("long", 0, 8)];

/// Tables that the host checks before the loader reads them. The first string of each item is the section name. Code and variables are
/// excluded, because a library with other code is a different library and not a damaged library.
const FOLLOWED: &[(&str, &[(&str, usize, usize)])] = &[
    (".dynamic", DYNAMIC),
    (".dynsym", SYMBOL),
    (".dynstr", BYTE),
    (".gnu.version", HALF),
    (".gnu.version_r", HALF),
    (".gnu.version_d", HALF),
    (".gnu.hash", WORD),
    (".hash", WORD),
    (".rela.dyn", RELOCATION),
    (".rela.plt", RELOCATION),
    (".relr.dyn", LONG),
    (".init_array", LONG),
    (".fini_array", LONG),
    (".note.gnu.build-id", WORD),
    (".note.gnu.property", WORD),
    (".shstrtab", BYTE),
    (".alcedo.manifest", BYTE),
    (".alcedo.types", BYTE),
    (".alcedo.hooks", LONG),
];

pub(crate) fn get(bytes: &[u8], at: usize, size: usize) -> u64 {
    bytes[at..at + size].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

pub(crate) fn put(bytes: &mut [u8], field: &Field, value: u64) {
    bytes[field.at..field.at + field.size].copy_from_slice(&value.to_le_bytes()[..field.size]);
}

/// Returns the tables of a valid library.
pub(crate) fn tables(elf: &[u8]) -> Vec<Table> {
    let count = |at| get(elf, at, 2) as usize;
    let (segments, sections) = (get(elf, 32, 8) as usize, get(elf, 40, 8) as usize);
    let mut tables = vec![
        Table::new("header", 0..64, HEADER),
        Table::new("segments", segments..segments + count(56) * 56, SEGMENT),
        Table::new("sections", sections..sections + count(60) * 64, SECTION),
    ];
    for (name, range) in super::support::elf::sections(elf) {
        let fields = FOLLOWED.iter().find(|(known, _)| *known == name).map(|(_, fields)| *fields);
        tables.extend(fields.map(|fields| Table::new(&name, range, fields)));
    }
    // The header of 64 bytes counts as one entry.
    tables[0].each = 64;
    tables
}

pub(crate) fn table(elf: &[u8], name: &str) -> Table {
    tables(elf).into_iter().find(|table| table.name == name).unwrap_or_else(|| panic!("there is no {name}"))
}

/// Returns the index of the first entry whose field satisfies the condition.
pub(crate) fn find(elf: &[u8], table: &Table, field: &str, is: impl Fn(u64) -> bool) -> usize {
    let value = |index| {
        let field = table.field(index, field);
        get(elf, field.at, field.size)
    };
    (0..table.len()).find(|index| is(value(*index))).unwrap_or_else(|| panic!("{} has no such {field}", table.name))
}

/// Replaces all code of the library by returns. If a process then crashes while it maps the file, the loader itself has caused the crash.
pub(crate) fn hollow(elf: &mut [u8]) {
    const RETURN: u8 = 0xc3;
    const CODE: u64 = 4;
    let sections = table(elf, "sections");
    for index in 0..sections.len() {
        let [flags, at, size] =
            ["flags", "offset", "size"].map(|name| sections.field(index, name)).map(|field| get(elf, field.at, 8));
        if flags & CODE != 0 {
            elf[at as usize..(at + size) as usize].fill(RETURN);
        }
    }
}
