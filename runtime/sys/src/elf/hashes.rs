//! Checks the hash tables for symbol lookup. The loader follows a chain of symbols from a bucket without checking the length of the table.

use object::LittleEndian as LE;
use object::U32;

use super::{FormatError, ensure, malformed, records};

type Words<'a> = &'a [U32<LE>];

/// Maximum length of a chain. Linkers create chains of a few symbols. A long chain would slow down every lookup.
const LONGEST_CHAIN: usize = 4096;

/// Checks that every lookup in a `DT_GNU_HASH` table terminates within the symbols.
pub(super) fn check_gnu(raw: &[u8], symbols: usize) -> Result<(), FormatError> {
    let words: Words<'_> = records(raw, "the numbers of the symbol hash table")?;
    let short = || malformed("the symbol hash table is too short for the symbols");
    let header = words.get(..4).ok_or_else(short)?;
    let [buckets, first, bloom, shift] = [0, 1, 2, 3].map(|at: usize| header[at].get(LE) as usize);
    ensure(buckets > 0 && bloom.is_power_of_two() && shift < 64, || "the symbol hash table is malformed")?;
    let rest = bloom.checked_mul(2).and_then(|bloom| words.get(4..)?.get(bloom..)).ok_or_else(short)?;
    let (buckets, chains) = rest.split_at_checked(buckets).ok_or_else(short)?;
    for (index, bucket) in buckets.iter().enumerate() {
        let bucket = bucket.get(LE) as usize;
        let right = bucket == 0 || (first..symbols).contains(&bucket);
        ensure(right, || format!("bucket {index} of the symbol hash table points to symbol {bucket} of {symbols}"))?;
    }
    if buckets.iter().all(|bucket| bucket.get(LE) == 0) {
        return Ok(()); // without buckets, no lookup uses a chain, and linkers write no chains
    }
    // The subtraction cannot underflow, because every nonzero bucket is a symbol in `first..symbols`.
    let chains = chains.get(..symbols - first).ok_or_else(short)?;
    let mut length = 0;
    for (index, link) in chains.iter().enumerate() {
        length = if link.get(LE) & 1 == 1 { 0 } else { length + 1 };
        ensure(length < LONGEST_CHAIN, || format!("a chain of the symbol hash table is too long at {index}"))?;
    }
    ensure(length == 0, || "the last chain of the symbol hash table has no end")
}

/// Checks that every lookup in a `DT_HASH` table terminates within the symbols.
pub(super) fn check_sysv(raw: &[u8], symbols: usize) -> Result<(), FormatError> {
    let words: Words<'_> = records(raw, "the numbers of the old symbol hash table")?;
    let short = || malformed("the old symbol hash table is too short for the symbols");
    let header = words.get(..2).ok_or_else(short)?;
    let [buckets, count] = [0, 1].map(|at: usize| header[at].get(LE) as usize);
    ensure(buckets > 0 && count == symbols, || {
        format!("the old symbol hash table is for {count} of {symbols} symbols")
    })?;
    let (buckets, chains) = words[2..].split_at_checked(buckets).ok_or_else(short)?;
    let chains = chains.get(..symbols).ok_or_else(short)?;
    // In a valid table, every symbol is in at most one chain. A symbol that is reached twice proves a cycle or two chains that meet.
    let mut met = vec![false; symbols];
    for (index, bucket) in buckets.iter().enumerate() {
        let mut at = bucket.get(LE) as usize;
        let mut length = 0;
        while at != 0 {
            let outside = || format!("bucket {index} of the old symbol hash table points to symbol {at} of {symbols}");
            let met = met.get_mut(at).ok_or_else(|| malformed(outside()))?;
            let is_new = !std::mem::replace(met, true);
            ensure(is_new, || format!("bucket {index} of the old symbol hash table points to symbol {at} again"))?;
            length += 1;
            ensure(length < LONGEST_CHAIN, || format!("the chain of bucket {index} is too long"))?;
            at = chains[at].get(LE) as usize;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::fixture::outcome;
    use super::{LONGEST_CHAIN, check_gnu, check_sysv};

    fn bytes(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Builds a table with two buckets, symbols from `first` on, and one filter word of 64 bits.
    fn gnu(buckets: [u32; 2], first: u32, chains: &[u32]) -> Vec<u8> {
        bytes(&[&[2, first, 1, 6, 0, 0], &buckets[..], chains].concat())
    }

    #[test]
    fn a_gnu_table_with_terminated_chains_is_accepted() {
        assert_eq!(outcome(check_gnu(&gnu([1, 3], 1, &[2, 3, 5]), 4)), "whole");
        assert_eq!(outcome(check_gnu(&gnu([0, 0], 9, &[]), 4)), "whole");
    }

    #[test]
    fn a_malformed_gnu_table_is_refused() {
        let check = |raw: Vec<u8>, expected: &str| assert_eq!(outcome(check_gnu(&raw, 4)), expected);
        check(gnu([1, 4], 1, &[2, 3, 5]), "bucket 1 of the symbol hash table points to symbol 4 of 4");
        check(gnu([1, 3], 2, &[2, 3, 5]), "bucket 0 of the symbol hash table points to symbol 1 of 4");
        check(gnu([1, 3], 1, &[2, 3, 4]), "the last chain of the symbol hash table has no end");
        check(gnu([1, 3], 1, &[2, 3]), "the symbol hash table is too short for the symbols");
        check(bytes(&[0, 1, 1, 6, 0, 0]), "the symbol hash table is malformed");
        check(bytes(&[2, 1, 3, 6, 0, 0]), "the symbol hash table is malformed");
        check(bytes(&[u32::MAX, 1, 1 << 31, 6]), "the symbol hash table is too short for the symbols");
        check(vec![0; 7], "the numbers of the symbol hash table do not end with a whole entry");
        let long = vec![2; LONGEST_CHAIN + 8];
        let long = check_gnu(&gnu([1, 0], 1, &long), LONGEST_CHAIN + 9);
        assert_eq!(outcome(long), "a chain of the symbol hash table is too long at 4095");
    }

    #[test]
    fn an_old_table_with_terminated_chains_is_accepted() {
        assert_eq!(outcome(check_sysv(&bytes(&[2, 4, 1, 2, 0, 3, 0, 0]), 4)), "whole");
        assert_eq!(outcome(check_sysv(&bytes(&[1, 1, 0, 0]), 1)), "whole");
    }

    #[test]
    fn a_malformed_old_table_is_refused() {
        let check = |words: &[u32], expected: &str| assert_eq!(outcome(check_sysv(&bytes(words), 4)), expected);
        check(&[2, 4, 4, 2, 0, 3, 0, 0], "bucket 0 of the old symbol hash table points to symbol 4 of 4");
        check(
            &[2, 4, 1, 2, 0, 1 << 30, 0, 0],
            "bucket 0 of the old symbol hash table points to symbol 1073741824 of 4",
        );
        check(&[2, 4, 1, 2, 0, 3, 0, 1], "bucket 0 of the old symbol hash table points to symbol 1 again");
        check(&[2, 4, 1, 3, 0, 3, 0, 0], "bucket 1 of the old symbol hash table points to symbol 3 again");
        check(&[2, 5, 1, 2, 0, 3, 0, 0, 0], "the old symbol hash table is for 5 of 4 symbols");
        check(&[2, 4, 1, 2, 0, 3, 0], "the old symbol hash table is too short for the symbols");
        check(&[u32::MAX, 4], "the old symbol hash table is too short for the symbols");
    }
}
