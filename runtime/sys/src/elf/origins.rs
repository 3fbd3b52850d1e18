//! Maps imports to needed libraries. A versioned symbol refers to a version that belongs to a library. Requires a valid file.

use std::collections::BTreeMap;

use object::elf::{Vernaux, Verneed};
use object::pod::{Pod, from_bytes, slice_from_all_bytes};
use object::{LittleEndian as LE, U16};

use super::string_at;

const LONGEST_NAME: usize = 4095;

/// Mask of version numbers; the highest bit is a flag.
const NUMBER: u16 = 0x7fff;

/// Returns the library of each symbol in `indices`.
pub(super) fn of_imports(
    indices: &[usize],
    numbers: Option<&[u8]>,
    needs: Option<&[u8]>,
    strings: &[u8],
) -> Vec<Option<String>> {
    let libraries = needs.map(|needs| libraries(needs, strings)).unwrap_or_default();
    let numbers: &[U16<LE>] = numbers.and_then(|raw| slice_from_all_bytes(raw).ok()).unwrap_or_default();
    let library = |index: &usize| libraries.get(&(numbers.get(*index)?.get(LE) & NUMBER)).cloned();
    indices.iter().map(library).collect()
}

fn libraries(needs: &[u8], strings: &[u8]) -> BTreeMap<u16, String> {
    let mut libraries = BTreeMap::new();
    let mut at = 0;
    while let Some(file) = record::<Verneed<LE>>(needs, at) {
        let name = string_at(strings, u64::from(file.vn_file.get(LE)), LONGEST_NAME).unwrap_or_default();
        let mut of_version = at.saturating_add(file.vn_aux.get(LE) as usize);
        for _ in 0..file.vn_cnt.get(LE) {
            let Some(version) = record::<Vernaux<LE>>(needs, of_version) else { break };
            libraries.insert(version.vna_other.get(LE).0 & NUMBER, name.to_owned());
            of_version = of_version.saturating_add(version.vna_next.get(LE) as usize);
        }
        match file.vn_next.get(LE) {
            0 => break,
            step => at = at.saturating_add(step as usize),
        }
    }
    libraries
}

fn record<T: Pod>(raw: &[u8], at: usize) -> Option<&T> {
    from_bytes(raw.get(at..)?).ok().map(|(record, _)| record)
}
