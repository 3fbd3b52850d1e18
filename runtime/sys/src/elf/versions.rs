//! Checks symbol versions: the versions that the file needs from each library, the versions that it defines, and the version of each
//! symbol. The loader stores all versions in one table, which is indexed by version number. The largest version number determines its size.

use std::collections::{BTreeMap, BTreeSet};

use object::elf::{Verdaux, Verdef, Vernaux, Verneed};
use object::pod::from_bytes;
use object::{LittleEndian as LE, U16};

use super::{FormatError, ensure, malformed, records, string_at};

/// Maximum length of the names of versions and libraries.
const LONGEST_NAME: usize = 4095;

/// Mask of version numbers. The highest bit is a flag.
const NUMBER: u16 = 0x7fff;

/// Walks the needed versions as the loader does. Returns the library of each version, by version number.
pub(super) fn check_needed<'a>(
    raw: &[u8],
    strings: &'a [u8],
    count: u64,
    needed: &BTreeSet<&str>,
) -> Result<BTreeMap<u16, &'a str>, FormatError> {
    let mut libraries = BTreeMap::new();
    let mut chain = Chain::new(raw, "needed versions", count)?;
    while let Some((index, at)) = chain.next()? {
        let file: &Verneed<LE> = chain.record(at)?;
        chain.step(file.vn_version.get(LE), file.vn_next.get(LE))?;
        let name = string_at(strings, u64::from(file.vn_file.get(LE)), LONGEST_NAME);
        let name = name.ok_or_else(|| malformed(format!("needed version {index} is of a library without a name")))?;
        // The loader ends the process if a version belongs to a library that the file does not list as needed.
        ensure(needed.contains(name), || {
            format!("needed version {index} is of {name}, which the library does not need")
        })?;
        let mut versions = Chain::part(&mut chain, at, file.vn_aux.get(LE), file.vn_cnt.get(LE))?;
        while let Some((entry, at)) = versions.next()? {
            let version: &Vernaux<LE> = versions.record(at)?;
            versions.step(1, version.vna_next.get(LE))?;
            let named = string_at(strings, u64::from(version.vna_name.get(LE)), LONGEST_NAME).is_some();
            ensure(named, || format!("version {entry} of {name} has no valid name"))?;
            libraries.insert(version.vna_other.get(LE).0 & NUMBER, name);
        }
        chain.left = versions.left;
    }
    Ok(libraries)
}

/// Walks the defined versions as the loader does. Returns the largest version number.
pub(super) fn check_defined(raw: &[u8], strings: &[u8], count: u64) -> Result<u16, FormatError> {
    let mut highest = 0;
    let mut chain = Chain::new(raw, "defined versions", count)?;
    while let Some((index, at)) = chain.next()? {
        let version: &Verdef<LE> = chain.record(at)?;
        chain.step(version.vd_version.get(LE), version.vd_next.get(LE))?;
        let mut names = Chain::part(&mut chain, at, version.vd_aux.get(LE), version.vd_cnt.get(LE))?;
        while let Some((_, at)) = names.next()? {
            let name: &Verdaux<LE> = names.record(at)?;
            names.step(1, name.vda_next.get(LE))?;
            let named = string_at(strings, u64::from(name.vda_name.get(LE)), LONGEST_NAME).is_some();
            ensure(named, || format!("defined version {index} has no valid name"))?;
        }
        chain.left = names.left;
        highest = highest.max(version.vd_ndx.get(LE).0 & NUMBER);
    }
    Ok(highest)
}

/// Returns the library of each symbol in `indices`, or `None` if the version of the symbol is not a needed version. Requires a valid file.
pub(super) fn libraries(indices: &[usize], numbers: &[u8], needed: &BTreeMap<u16, &str>) -> Vec<Option<String>> {
    let numbers: &[U16<LE>] = records(numbers, "the versions of symbols").unwrap_or_default();
    let library = |index: &usize| needed.get(&(numbers.get(*index)?.get(LE) & NUMBER)).map(|name| (*name).to_owned());
    indices.iter().map(library).collect()
}

/// Checks that `raw` contains one version for each symbol, and that each version number is in the table that the loader creates.
pub(super) fn check_numbers(raw: &[u8], symbols: usize, highest: u16) -> Result<(), FormatError> {
    let numbers: &[U16<LE>] = records(raw, "the versions of symbols")?;
    ensure(numbers.len() == symbols, || format!("there are {} versions for {symbols} symbols", numbers.len()))?;
    let wrong = numbers.iter().position(|number| number.get(LE) & NUMBER > highest);
    wrong.map_or(Ok(()), |index| {
        let number = numbers[index].get(LE) & NUMBER;
        Err(malformed(format!("dynamic symbol {index} has version {number}, the versions end with {highest}")))
    })
}

/// Walk through records that are linked by relative offsets. The loader stops at an offset of zero and ignores the count.
struct Chain<'a> {
    raw: &'a [u8],
    what: &'static str,
    /// Number of records that remain according to the count in the file.
    count: u64,
    index: u64,
    at: Option<usize>,
    /// Number of records that fit in the bytes, minus the number of visited records. Ends the walk even if many chains share records.
    left: usize,
}

impl<'a> Chain<'a> {
    const SMALLEST: usize = size_of::<Verdaux<LE>>();

    fn new(raw: &'a [u8], what: &'static str, count: u64) -> Result<Self, FormatError> {
        let chain = Self { raw, what, count, index: 0, at: Some(0), left: raw.len() / Self::SMALLEST };
        ensure(count > 0, || chain.torn())?;
        Ok(chain)
    }

    /// Starts a nested chain `skip` bytes after the record at `at`.
    fn part(whole: &mut Self, at: usize, skip: u32, count: u16) -> Result<Self, FormatError> {
        let at = at.checked_add(skip as usize);
        let part = Self { at, count: count.into(), index: 0, ..*whole };
        ensure(count > 0 && at.is_some(), || part.torn())?;
        Ok(part)
    }

    fn torn(&self) -> String {
        format!("the {} are not a whole chain", self.what)
    }

    /// Returns the index and the offset of the next record. The caller must call `step` before the next call.
    fn next(&mut self) -> Result<Option<(u64, usize)>, FormatError> {
        let Some(at) = self.at else { return Ok(None) };
        self.left = self.left.checked_sub(1).ok_or_else(|| malformed(self.torn()))?;
        self.index += 1;
        Ok(Some((self.index - 1, at)))
    }

    fn record<T: object::pod::Pod>(&self, at: usize) -> Result<&'a T, FormatError> {
        let raw = self.raw.get(at..).ok_or_else(|| malformed(self.torn()))?;
        from_bytes(raw).map(|(record, _)| record).map_err(|()| malformed(self.torn()))
    }

    fn step(&mut self, format: u16, step: u32) -> Result<(), FormatError> {
        let is_last = self.index == self.count;
        ensure(format == 1 && (step == 0) == is_last, || self.torn())?;
        let next = self.at.and_then(|at| at.checked_add(step as usize)).ok_or_else(|| malformed(self.torn()))?;
        self.at = (!is_last).then_some(next);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{BTreeSet, FormatError, check_defined, check_needed, check_numbers};

    const STRINGS: &[u8] = b"\0libc.so.6\0GLIBC_2.34\0LIB_1\0";
    const LIBC: u32 = 1;
    const GLIBC: u32 = 11;
    const LIB: u32 = 22;

    fn halves(numbers: &[u16]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    fn file(count: u16, name: u32, aux: u32, next: u32) -> Vec<u8> {
        [halves(&[1, count]), [name, aux, next].map(u32::to_le_bytes).concat()].concat()
    }

    fn version(number: u16, name: u32, next: u32) -> Vec<u8> {
        [7_u32.to_le_bytes().to_vec(), halves(&[0, number]), [name, next].map(u32::to_le_bytes).concat()].concat()
    }

    fn definition(number: u16, aux: u32, next: u32) -> Vec<u8> {
        [halves(&[1, 0, number, 1]), [9, aux, next].map(u32::to_le_bytes).concat()].concat()
    }

    fn name(at: u32, next: u32) -> Vec<u8> {
        [at, next].map(u32::to_le_bytes).concat()
    }

    fn outcome<T: std::fmt::Debug>(result: Result<T, FormatError>) -> String {
        match result {
            Ok(number) => format!("whole: {number:?}"),
            Err(FormatError::Malformed { what }) => what,
            Err(other) => format!("{other:?}"),
        }
    }

    fn needed(parts: &[Vec<u8>], count: u64) -> String {
        let libraries = check_needed(&parts.concat(), STRINGS, count, &BTreeSet::from(["libc.so.6"]));
        outcome(libraries.map(|libraries| libraries.into_keys().max().unwrap_or_default()))
    }

    #[test]
    fn needed_versions_are_walked_to_their_end() {
        assert_eq!(needed(&[file(2, LIBC, 16, 0), version(2, GLIBC, 16), version(5, GLIBC, 0)], 1), "whole: 5");
        let two = [file(1, LIBC, 16, 32), version(2, GLIBC, 0), file(1, LIBC, 16, 0), version(0x8003, GLIBC, 0)];
        assert_eq!(needed(&two, 2), "whole: 3");
    }

    #[test]
    fn malformed_needed_versions_are_refused() {
        let torn = "the needed versions are not a whole chain";
        assert_eq!(
            needed(&[file(1, GLIBC, 16, 0), version(2, GLIBC, 0)], 1),
            "needed version 0 is of GLIBC_2.34, which the library does not need"
        );
        assert_eq!(
            needed(&[file(1, 999, 16, 0), version(2, GLIBC, 0)], 1),
            "needed version 0 is of a library without a name"
        );
        assert_eq!(needed(&[file(1, LIBC, 16, 0), version(2, 999, 0)], 1), "version 0 of libc.so.6 has no valid name");
        for (what, parts, count) in [
            ("no entries", vec![file(0, LIBC, 16, 0), version(2, GLIBC, 0)], 1),
            ("no libraries", vec![file(1, LIBC, 16, 0), version(2, GLIBC, 0)], 0),
            ("fewer libraries", vec![file(1, LIBC, 16, 0), version(2, GLIBC, 0)], 2),
            ("more libraries", vec![file(1, LIBC, 16, 32), version(2, GLIBC, 0)], 1),
            ("fewer entries", vec![file(2, LIBC, 16, 0), version(2, GLIBC, 0)], 1),
            ("entries outside", vec![file(1, LIBC, 32, 0), version(2, GLIBC, 0)], 1),
            ("entries far outside", vec![file(1, LIBC, u32::MAX, 0), version(2, GLIBC, 0)], 1),
            ("a step outside", vec![file(2, LIBC, 16, 0), version(2, GLIBC, u32::MAX), version(2, GLIBC, 0)], 1),
            ("steps of a byte", vec![file(9, LIBC, 16, 0), version(2, GLIBC, 1)], 1),
        ] {
            assert_eq!(needed(&parts, count), torn, "{what}");
        }
    }

    #[test]
    fn chains_that_share_records_are_refused_before_they_cost_time() {
        // All libraries refer to the same long chain, which follows the records of the libraries.
        let libraries = 2000_u32;
        let mut parts: Vec<_> = (0..libraries)
            .map(|n| file(2000, LIBC, (libraries - n) * 16, if n + 1 == libraries { 0 } else { 16 }))
            .collect();
        parts.extend((0..2000_u32).map(|n| version(2, GLIBC, if n == 1999 { 0 } else { 16 })));
        assert_eq!(needed(&parts, libraries.into()), "the needed versions are not a whole chain");
    }

    #[test]
    fn defined_versions_are_walked_to_their_end() {
        let records = [definition(1, 20, 28), name(LIBC, 0), definition(2, 20, 0), name(LIB, 0)].concat();
        assert_eq!(outcome(check_defined(&records, STRINGS, 2)), "whole: 2");
        let torn = "the defined versions are not a whole chain";
        assert_eq!(outcome(check_defined(&records, STRINGS, 1)), torn);
        assert_eq!(outcome(check_defined(&records, STRINGS, 3)), torn);
        assert_eq!(outcome(check_defined(&records[..50], STRINGS, 2)), torn);
        let outside = [definition(1, 21, 0), name(LIBC, 0)].concat();
        assert_eq!(outcome(check_defined(&outside, STRINGS, 1)), torn);
        let nameless = [definition(1, 20, 0), name(999, 0)].concat();
        assert_eq!(outcome(check_defined(&nameless, STRINGS, 1)), "defined version 0 has no valid name");
    }

    #[test]
    fn definitions_that_share_names_are_refused_before_they_cost_time() {
        let count = 2000_u16;
        let definition = |at: u32, next: u32| {
            let aux = (u32::from(count) - at) * 20;
            [halves(&[1, 0, 2, count]), [9, aux, next].map(u32::to_le_bytes).concat()].concat()
        };
        let last = u32::from(count) - 1;
        let mut parts: Vec<_> = (0..=last).map(|at| definition(at, if at == last { 0 } else { 20 })).collect();
        parts.extend((0..=last).map(|at| name(LIB, if at == last { 0 } else { 8 })));
        let torn = "the defined versions are not a whole chain";
        assert_eq!(outcome(check_defined(&parts.concat(), STRINGS, count.into())), torn);
    }

    #[test]
    fn symbols_have_existing_versions() {
        assert_eq!(outcome(check_numbers(&halves(&[0, 1, 0x8003]), 3, 3)), "whole: ()");
        assert_eq!(
            outcome(check_numbers(&halves(&[0, 1, 4]), 3, 3)),
            "dynamic symbol 2 has version 4, the versions end with 3"
        );
        assert_eq!(
            outcome(check_numbers(&halves(&[0, 1]), 2, 0)),
            "dynamic symbol 1 has version 1, the versions end with 0"
        );
        assert_eq!(outcome(check_numbers(&halves(&[0]), 2, 3)), "there are 1 versions for 2 symbols");
    }
}
