//! Tests mutations that once passed the checks and crashed the loader. The checks now reject each of these mutations, with and without a
//! seal. The error names the table and the entry.

use std::path::Path;

use alcedo_runtime::seal_file;
use alcedo_sys::{ImageError, ImageFile};
use tempfile::TempDir;

use super::anatomy::{find, get, put, table};
use super::library;

mod tag {
    pub(super) const NEEDED: u64 = 1;
    pub(super) const STRSZ: u64 = 10;
    pub(super) const INIT: u64 = 12;
    pub(super) const PLTREL: u64 = 20;
    pub(super) const RELASZ: u64 = 8;
    pub(super) const RELAENT: u64 = 9;
    pub(super) const RUNPATH: u64 = 29;
    pub(super) const FLAGS: u64 = 30;
    pub(super) const FLAGS_1: u64 = 0x6fff_fffb;
    pub(super) const VERSYM: u64 = 0x6fff_fff0;
    pub(super) const RELACOUNT: u64 = 0x6fff_fff9;
    pub(super) const GNU_HASH: u64 = 0x6fff_fef5;
    pub(super) const VERDEF: u64 = 0x6fff_fffc;
}

fn check(base: &str, change: impl FnOnce(&mut Vec<u8>), expected: &str) {
    let whole = library(base);
    let mut bytes = whole.clone();
    change(&mut bytes);
    assert!(bytes != whole, "{expected}: nothing was changed");
    let dir = TempDir::new().expect("a temporary directory");
    let file = dir.path().join("changed.so");
    let refused = |what: &str| match ImageFile::read(&file).map(|_| ()) {
        Err(error @ ImageError::Malformed { .. }) => {
            let text = error.to_string();
            let named =
                text.starts_with(&format!("{} is damaged: ", file.display())) && text.ends_with("; build it again");
            assert!(named && text.contains(expected), "{base}, {what}: {text}");
        }
        other => panic!("{base}, {what}, {expected}: {other:?}"),
    };
    std::fs::write(&file, &bytes).expect("the test directory is writable");
    refused("without a seal");
    seal(&file);
    refused("sealed");
}

fn seal(file: &Path) {
    seal_file(file).expect("the test directory is writable");
}

fn set(bytes: &mut [u8], name: &str, entry: usize, field: &str, value: impl FnOnce(u64) -> u64) {
    let field = table(bytes, name).field(entry, field);
    let value = value(get(bytes, field.at, field.size));
    put(bytes, &field, value);
}

/// Returns the index of the first entry whose field satisfies the condition.
fn entry(bytes: &[u8], name: &str, field: &str, is: impl Fn(u64) -> bool) -> usize {
    find(bytes, &table(bytes, name), field, is)
}

fn dynamic(bytes: &mut [u8], tag: u64, value: impl FnOnce(u64) -> u64) {
    let at = entry(bytes, ".dynamic", "tag", |known| known == tag);
    set(bytes, ".dynamic", at, "value", value);
}

/// Replaces the tag of one entry in the dynamic table.
fn retag(bytes: &mut [u8], tag: u64, other: u64) {
    let at = entry(bytes, ".dynamic", "tag", |known| known == tag);
    set(bytes, ".dynamic", at, "tag", |_| other);
}

/// Changes a field in the header of one section.
fn section(bytes: &mut [u8], name: &str, field: &str, value: impl FnOnce(u64) -> u64) {
    let start = super::support::elf::section(bytes, name).start as u64;
    let at = entry(bytes, "sections", "offset", |offset| offset == start);
    set(bytes, "sections", at, field, value);
}

fn segment(bytes: &mut [u8], kind: u64, field: &str, value: impl FnOnce(u64) -> u64) {
    let at = entry(bytes, "segments", "type", |known| known == kind);
    set(bytes, "segments", at, field, value);
}

fn address(bytes: &[u8], name: &str) -> u64 {
    let start = super::support::elf::section(bytes, name).start as u64;
    let sections = table(bytes, "sections");
    let at = find(bytes, &sections, "offset", |offset| offset == start);
    get(bytes, sections.field(at, "addr").at, 8)
}

/// Compiles a library from this C source, and checks that the host refuses the library.
fn compiled(source: &str, option: &str, expected: &str) {
    let dir = TempDir::new().expect("a temporary directory");
    let (code, file) = (dir.path().join("c.c"), dir.path().join("c.so"));
    std::fs::write(&code, source).expect("the test directory is writable");
    let mut gcc = std::process::Command::new("gcc");
    super::run(gcc.args(["-w", "-shared", "-fPIC", option, "-o"]).arg(&file).arg(&code));
    let error = ImageFile::read(&file).map(|_| ()).expect_err("it is refused").to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn an_initializer_that_is_looked_up_by_its_name_is_refused() {
    // The standard C library has a variable of that name. The loader would call this variable as a function.
    let source = "__attribute__((constructor)) void tzname(void) {} int answer(void) { return 1; }";
    compiled(source, "-O1", "would make the loader call an address that may not be a function of the library");
}

#[test]
fn a_library_that_calls_itself_by_a_path_is_refused() {
    let source = "int answer(void) { return 1; }";
    compiled(source, "-Wl,-soname,/tmp/other/libother.so", "calls itself /tmp/other/libother.so, which is a path");
}

#[test]
fn a_symbol_with_a_version_past_the_last_one_is_refused() {
    for base in ["c", "plugin"] {
        check(base, |bytes| set(bytes, ".gnu.version", 3, "half", |_| 0x7ffe), "dynamic symbol 3 has version 32766");
    }
}

#[test]
fn a_version_of_a_library_that_is_not_needed_is_refused() {
    let other = |bytes: &mut Vec<u8>| {
        let needed = entry(bytes, ".dynamic", "tag", |tag| tag == tag::NEEDED);
        let field = table(bytes, ".dynamic").field(needed, "value");
        let name = get(bytes, field.at, 8);
        // Increments the string offset of the first file name in the table of required versions.
        set(bytes, ".gnu.version_r", 2, "half", |_| name + 1);
    };
    for base in ["c", "plugin"] {
        check(base, other, ", which the library does not need");
    }
}

#[test]
fn symbol_versions_missing_for_a_symbol_are_refused() {
    for base in ["c", "plugin"] {
        check(base, |bytes| retag(bytes, tag::VERSYM, 24), "dynamic tag 0x6ffffff0 and its section do not agree");
        let without = |bytes: &mut Vec<u8>| {
            section(bytes, ".gnu.version", "type", |_| 1);
            retag(bytes, tag::VERSYM, 24);
        };
        check(base, without, "there are versions, but no symbol has one");
    }
}

#[test]
fn defined_symbol_versions_must_form_a_whole_chain() {
    // Damages the offset of the next entry.
    check("c", |bytes| set(bytes, ".gnu.version_d", 8, "half", |_| 0xfff0), "defined versions are not a whole chain");
    check("c", |bytes| set(bytes, ".gnu.version_d", 6, "half", |_| 0xfff0), "defined versions are not a whole chain");
    check("c", |bytes| set(bytes, ".gnu.version_d", 3, "half", |_| 0), "defined versions are not a whole chain");
    check("c", |bytes| retag(bytes, tag::VERDEF, 24), "dynamic tag 0x6ffffffc and its section do not agree");
}

#[test]
fn symbol_lookups_terminate() {
    let expected = "of the old symbol hash table points to symbol";
    check("c", |bytes| set(bytes, ".hash", 2, "word", |_| 1 << 20), expected);
    let cycle = |bytes: &mut Vec<u8>| {
        let field = table(bytes, ".hash").field(0, "word");
        let buckets = get(bytes, field.at, 4) as usize;
        set(bytes, ".hash", 2, "word", |_| 3);
        set(bytes, ".hash", 2 + buckets + 3, "word", |_| 3);
    };
    check("c", cycle, expected);
    check("c", |bytes| set(bytes, ".hash", 1, "word", |count| count + 9), "the old symbol hash table is for");
    for base in ["c", "plugin"] {
        let endless = |bytes: &mut Vec<u8>| {
            let last = table(bytes, ".gnu.hash").len() - 1;
            set(bytes, ".gnu.hash", last, "word", |link| link & !1);
        };
        check(base, endless, "the last chain of the symbol hash table has no end");
        check(base, |bytes| set(bytes, ".gnu.hash", 0, "word", |_| 1 << 30), "too short for the symbols");
        check(base, |bytes| set(bytes, ".gnu.hash", 2, "word", |_| 3), "the symbol hash table is malformed");
        check(base, |bytes| retag(bytes, tag::GNU_HASH, 24), "dynamic tag 0x6ffffef5 and its section do not agree");
    }
}

#[test]
fn thread_locals_of_a_terabyte_are_refused() {
    const TLS: u64 = 7;
    let large = |bytes: &mut Vec<u8>| {
        let segment = entry(bytes, "segments", "type", |kind| kind == TLS);
        let segments = table(bytes, "segments");
        let [at, size] = ["vaddr", "filesz"].map(|name| get(bytes, segments.field(segment, name).at, 8));
        let sections = table(bytes, "sections");
        let zeroes = find(bytes, &sections, "flags", |flags| flags & 0x400 != 0);
        let is_zeroes = |index: &usize| {
            let [kind, flags] =
                [("type", 4), ("flags", 8)].map(|(name, size)| get(bytes, sections.field(*index, name).at, size));
            (kind, flags & 0x400) == (8, 0x400)
        };
        let zeroes = (0..sections.len()).find(is_zeroes).unwrap_or(zeroes);
        let start = get(bytes, sections.field(zeroes, "addr").at, 8);
        set(bytes, "sections", zeroes, "size", |_| 1 << 40);
        set(bytes, "segments", segment, "memsz", |_| (1 << 40) + start - at);
        assert!(size > 0, "there is an initial value");
    };
    check("plugin", large, "(type 0x7) does not agree with the sections");
    for base in ["c", "plugin"] {
        check(base, |bytes| segment(bytes, TLS, "align", |_| 1 << 40), "(type 0x7)");
        check(base, |bytes| segment(bytes, TLS, "align", |_| 0), "(type 0x7) is not aligned");
    }
}

#[test]
fn a_slot_of_an_initializer_without_a_relocation_is_refused() {
    let without = |bytes: &mut Vec<u8>| {
        let slots = address(bytes, ".init_array");
        let at = entry(bytes, ".rela.dyn", "offset", |offset| offset == slots);
        // Makes the relocation write to an address in `.got` instead of the slot of the initializer.
        let other = address(bytes, ".got");
        set(bytes, ".rela.dyn", at, "offset", |_| other);
    };
    check("plugin", without, "nothing writes the address of a function into the slot at");
    let data = |bytes: &mut Vec<u8>| {
        let (slots, other) = (address(bytes, ".init_array"), address(bytes, ".data"));
        let at = entry(bytes, ".rela.dyn", "offset", |offset| offset == slots);
        set(bytes, ".rela.dyn", at, "addend", |_| other);
    };
    check("plugin", data, "would make the loader call an address that may not be a function of the library");
    // The test library in C has packed relocations, whose addends are stored in the relocated slots.
    let data = |bytes: &mut Vec<u8>| {
        let other = address(bytes, ".data");
        set(bytes, ".init_array", 0, "long", |_| other);
    };
    check("c", data, "would make the loader call an address that may not be a function of the library");
    check("c", |bytes| set(bytes, ".init_array", 0, "long", |_| 1 << 50), "is for no address");
}

/// Points an initializer at the padding between two code sections.
#[test]
fn an_initializer_between_two_sections_is_refused() {
    let between = |bytes: &mut Vec<u8>| {
        let end = address(bytes, ".init") + super::support::elf::section(bytes, ".init").len() as u64;
        set(bytes, ".init_array", 0, "long", |_| end);
    };
    check("c", between, "would make the loader call an address that may not be a function of the library");
}

#[test]
fn the_resolver_of_an_indirect_symbol_must_be_code() {
    const RESOLVED: u64 = 10;
    let data = |bytes: &mut Vec<u8>| {
        let (other, at) = (address(bytes, ".data"), entry(bytes, ".dynsym", "info", |info| info & 0xf == RESOLVED));
        set(bytes, ".dynsym", at, "value", |_| other);
    };
    check("c", data, "is resolved by something other than code");
    let variable = |bytes: &mut Vec<u8>| {
        let at = entry(bytes, ".dynsym", "info", |info| info & 0xf == 1);
        set(bytes, ".dynsym", at, "info", |info| info & 0xf0 | RESOLVED);
    };
    check("plugin", variable, "is resolved by something other than code");
    let number = |bytes: &mut Vec<u8>| {
        let at = entry(bytes, ".dynsym", "info", |info| info & 0xf == RESOLVED);
        set(bytes, ".dynsym", at, "section", |_| 0xfff1);
    };
    check("c", number, "is resolved by something other than code");
    let called = |bytes: &mut Vec<u8>| {
        let other = address(bytes, ".data");
        let at = entry(bytes, ".rela.dyn", "type", |kind| kind == 8);
        set(bytes, ".rela.dyn", at, "type", |_| 37);
        set(bytes, ".rela.dyn", at, "addend", |_| other);
        dynamic(bytes, tag::RELACOUNT, |_| 0);
    };
    check("plugin", called, "requests something that a library cannot have");
}

#[test]
fn relocations_stay_in_their_tables_and_write_variables_only() {
    check("plugin", |bytes| dynamic(bytes, tag::RELASZ, |size| size + 24 * 1000), "relocation table 0x7 is not where");
    check("plugin", |bytes| dynamic(bytes, tag::RELASZ, |size| size - 24), "relocation table 0x7 is not where");
    check("plugin", |bytes| dynamic(bytes, tag::RELACOUNT, |count| count + 1), "is counted as relative but is not");
    let expected = "would write where nothing may be written";
    for name in [".dynamic", ".text", ".dynsym", ".rela.dyn", ".gnu.version"] {
        let there = |bytes: &mut Vec<u8>| {
            let there = address(bytes, name);
            let at = entry(bytes, ".rela.dyn", "type", |kind| kind == 8);
            set(bytes, ".rela.dyn", at, "offset", |_| there);
        };
        check("plugin", there, expected);
    }
    let symbol = |bytes: &mut Vec<u8>| {
        let at = entry(bytes, ".rela.dyn", "symbol", |symbol| symbol != 0);
        set(bytes, ".rela.dyn", at, "symbol", |_| 1 << 20);
    };
    check("plugin", symbol, "names no symbol");
    check("c", |bytes| set(bytes, ".relr.dyn", 0, "long", |_| 0), "of the packed relocations");
    check("c", |bytes| set(bytes, ".relr.dyn", 1, "long", |bits| bits | 1 << 63), "of the packed relocations");
}

#[test]
fn dynamic_tags_assumed_by_the_loader_are_required() {
    check("plugin", |bytes| retag(bytes, tag::RELAENT, 24), "dynamic tag 0x9 is missing");
    check("plugin", |bytes| retag(bytes, tag::PLTREL, 24), "dynamic tag 0x14 is missing");
    check(
        "plugin",
        |bytes| dynamic(bytes, tag::STRSZ, |size| size + 1),
        "dynamic symbols and their names do not agree",
    );
    check("plugin", |bytes| dynamic(bytes, tag::INIT, |_| 64), ".init is not announced");
    check("plugin", |bytes| dynamic(bytes, tag::FLAGS, |flags| flags | 4), "dynamic tag 0x1e has flags");
    check("plugin", |bytes| dynamic(bytes, tag::FLAGS_1, |flags| flags | 0x20), "dynamic tag 0x6ffffffb has flags");
    let last = |bytes: &mut Vec<u8>| {
        let entries = table(bytes, ".dynamic").len();
        let end = entry(bytes, ".dynamic", "tag", |tag| tag == 0);
        (end..entries).for_each(|at| set(bytes, ".dynamic", at, "tag", |_| 24));
    };
    check("plugin", last, "the dynamic table has no end");
}

#[test]
fn a_needed_library_is_a_name_and_no_path() {
    let path = |bytes: &mut Vec<u8>| {
        let needed = entry(bytes, ".dynamic", "tag", |tag| tag == tag::NEEDED);
        let name = get(bytes, table(bytes, ".dynamic").field(needed, "value").at, 8) as usize;
        set(bytes, ".dynstr", name, "byte", |_| u64::from(b'/'));
    };
    check("plugin", path, "which is a path: link that library by its name");
    // Offset far past the end of the string table.
    let astray = |bytes: &mut Vec<u8>| {
        retag(bytes, tag::FLAGS, tag::RUNPATH);
        dynamic(bytes, tag::RUNPATH, |_| 1 << 20);
    };
    check("plugin", astray, "dynamic tag 0x1d names nothing");
}

#[test]
fn segments_do_not_overlap_and_there_are_not_too_many() {
    const LOAD: u64 = 1;
    const RELRO: u64 = 0x6474_e552;
    check("plugin", |bytes| set(bytes, "header", 0, "phnum", |_| 3_000), "there are 3000 program headers");
    for base in ["c", "plugin"] {
        check(base, |bytes| segment(bytes, RELRO, "memsz", |size| size + 4096), "(type 0x6474e552) does not agree");
        check(base, |bytes| segment(bytes, LOAD, "filesz", |_| 64), "the first segment");
        check(base, |bytes| segment(bytes, LOAD, "align", |_| 1 << 40), "has alignment 0x10000000000");
    }
}

#[test]
fn notes_must_end_inside_their_segment() {
    for field in [0, 1] {
        check("plugin", |bytes| set(bytes, ".note.gnu.build-id", field, "word", |_| 1 << 20), "are not a whole row");
    }
}
