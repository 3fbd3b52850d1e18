//! Reads offsets in a library file. Supports only the parts of the format that tests need to damage a chosen location or to identify the
//! linker. The tests check the host's own reader, and therefore cannot use it.

use std::ops::Range;

use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::manifest::SECTION;

/// Reads a little-endian number of `size` bytes.
pub(crate) fn number(bytes: &[u8], at: usize, size: usize) -> usize {
    bytes[at..at + size].iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
}

/// Returns the name and the range of every header in an ELF file, in the order of the file.
pub(crate) fn headers(elf: &[u8]) -> Vec<(String, Range<usize>)> {
    let table = |name: &'static str, start: usize, count: usize, size: usize| {
        (0..count).map(move |index| (format!("{name} {index}"), start + index * size..start + (index + 1) * size))
    };
    let mut headers = vec![("the ELF header".to_owned(), 0..64)];
    headers.extend(table("program header", number(elf, 32, 8), number(elf, 56, 2), 56));
    headers.extend(table("section header", number(elf, 40, 8), number(elf, 60, 2), 64));
    headers
}

/// Returns the name and the range of each section that has bytes in the file.
pub(crate) fn sections(elf: &[u8]) -> Vec<(String, Range<usize>)> {
    const NO_SECTION: usize = 0;
    const NO_BITS: usize = 8;
    let header = |index: usize| number(elf, 40, 8) + index * 64;
    let range = |at: usize| number(elf, at + 24, 8)..number(elf, at + 24, 8) + number(elf, at + 32, 8);
    let names = &elf[range(header(number(elf, 62, 2)))];
    let name = |at: usize| names[number(elf, at, 4)..].split(|byte| *byte == 0).next().unwrap_or_default();
    let all = (0..number(elf, 60, 2)).map(header).filter(|at| ![NO_SECTION, NO_BITS].contains(&number(elf, at + 4, 4)));
    let with_bytes = all.filter(|at| number(elf, at + 32, 8) > 0);
    with_bytes.map(|at| (String::from_utf8_lossy(name(at)).into_owned(), range(at))).collect()
}

pub(crate) fn section(elf: &[u8], section_name: &str) -> Range<usize> {
    let found = sections(elf).into_iter().find(|(name, _)| name == section_name);
    found.unwrap_or_else(|| panic!("the file has no section {section_name}")).1
}

/// Returns an unsealed library with a changed manifest and a valid checksum.
pub(crate) fn with_manifest(elf: &[u8], edit: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut elf = elf.to_vec();
    let range = section(&elf, SECTION);
    let bytes = &mut elf[range];
    let (facts, sum) = bytes.split_at_mut(number(bytes, 12, 4) - 8);
    edit(facts);
    sum[..8].copy_from_slice(&Fingerprint::START.bytes(facts).finish().to_le_bytes());
    elf
}
