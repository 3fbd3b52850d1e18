//! Recognizes memory of the C library that the search does not follow, although the memory contains words that resemble addresses. This
//! memory consists of free memory, strings with stale data behind them, and buffers of streams, which contain stale heap data until text is
//! written. In a stream, only the functions and their cookie are references. The table of the time zone contains numbers and names. Entries
//! of `fork` handlers are skipped, because the C library removes the handlers of an image when the image is closed.

use std::collections::HashSet;
use std::ops::Range;

use super::super::c::library;
use super::super::c::peek::{self, words};
use super::WORD;
use super::objects::Object;

/// Number of bins in an arena. A bin is a pair of words. In an empty bin, each word is the address of the bin minus two words.
const BINS: usize = 127;
const PAIR: usize = 2 * WORD;

/// Size of the words before the bins that also refer to free memory: ten lists, the top block, and the last remainder.
const BEFORE_BINS: usize = 12 * WORD;

/// Minimum number of empty bins that identifies an arena.
const FEWEST_EMPTY: usize = 16;

const MOST_STREAMS: usize = 1 << 16;

// Offsets in `struct _IO_FILE` and `struct _IO_wide_data` of glibc on 64-bit machines.
const BUFFER: usize = 0x38;
const SAVED: usize = 0x48;
const CHAIN: usize = 0x68;
const WIDE: usize = 0xa0;
/// Offsets in a stream at which its functions are stored. For a stream of `fopencookie`, the range also contains the cookie and the
/// functions of the cookie.
pub(super) const CALLED: Range<usize> = 0xd8..0x108;
const WIDE_BUFFER: usize = 0x30;
const WIDE_SAVED: usize = 0x40;

/// Alignment of thread heaps. The C library stores an address for the next heap, but uses the address only if it is still free. Such an
/// address is therefore not a reference.
const HEAP: usize = 64 << 20;

/// Checks if a word of the C library may be the address of the next heap.
pub(super) fn is_room(word: usize) -> bool {
    word.is_multiple_of(HEAP)
}

/// Checks if the start of a block is a string. Returns `false` for six bytes followed by zeros, because these bytes may be an address.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    let len = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let is_address = len == 6 && bytes.get(7) == Some(&0);
    len != 0 && !is_address && bytes[..len].iter().all(|byte| (b' '..=b'~').contains(byte))
}

/// Checks if these bytes are a name. The caller has read the bytes at the address that is stored in the first word of a block. Blocks of
/// the C library that begin with the address of a name contain no callbacks: the environment array, locale aliases and locale files. Such a
/// block may contain stale words behind its content.
pub(super) fn is_name(bytes: &[u8]) -> bool {
    const SHORTEST: usize = 4;
    is_text(bytes) && bytes.iter().take(SHORTEST).all(|byte| *byte != 0)
}

pub(super) fn free_lists(object: &Object) -> Option<Range<usize>> {
    in_variables(object, bins)
}

/// Returns the block of the C library's time zone table.
pub(super) fn time_zone(object: &Object) -> Option<usize> {
    in_variables(object, |_, words| zone(words))
}

/// Calls `find` with the address and the content of the C library's variables, as machine words.
fn in_variables<T>(object: &Object, find: impl Fn(usize, &[usize]) -> Option<T>) -> Option<T> {
    if !object.is_c_library() {
        return None;
    }
    object.variables.iter().find_map(|range| {
        let start = range.start.next_multiple_of(WORD);
        let mut bytes = vec![0; range.end.checked_sub(start)?];
        let there = peek::read(start, &mut bytes);
        find(start, &words(&bytes[..there]).collect::<Vec<_>>())
    })
}

/// Finds the block of the time zone by nine successive variables of the C library, some of which point into the block. The variables are,
/// in this order: leap seconds, number of leap seconds, two unrelated numbers, names, types, number of types, indexes, number of
/// transitions. In the block, the transitions, leap seconds, types, indexes and names are stored without gaps. A separate variable stores
/// the address of the transitions. When the block is freed, only this variable is cleared. Returns `None` if a C library has a different
/// order of these variables. The memory scan then searches the block like any other block.
fn zone(words: &[usize]) -> Option<usize> {
    const LEAP: usize = 16;
    const TYPE: usize = 8;
    const MOST: usize = 1 << 20;
    words.windows(9).find_map(|window| {
        let &[leaps, leap_count, _, _, names, types, type_count, indexes, transition_count] = window else {
            return None;
        };
        let are_counts = [leap_count, type_count, transition_count].into_iter().all(|count| count < MOST);
        let is_table = are_counts
            && type_count > 0
            && leaps > MOST
            && types.checked_sub(leaps) == Some(leap_count * LEAP)
            && indexes.checked_sub(types) == Some(type_count * TYPE)
            && names.checked_sub(indexes) == Some(transition_count);
        if !is_table {
            return None;
        }
        let block = leaps.checked_sub(transition_count * WORD)?;
        let count = |words: &[usize]| words.iter().filter(|word| **word == block).count();
        (count(words) > count(window)).then_some(block)
    })
}

/// Finds the bins among words that begin at `start`.
fn bins(start: usize, words: &[usize]) -> Option<Range<usize>> {
    let refers_to_itself = |(at, pair): (usize, &[usize])| {
        let address = start + at * WORD;
        (pair[0] == pair[1] && pair[0] == address.wrapping_sub(PAIR)).then_some(address)
    };
    let empty: Vec<_> = words.windows(2).enumerate().filter_map(refers_to_itself).collect();
    let (first, last) = (*empty.first()?, *empty.last()?);
    // The last bin is almost always empty, because its blocks are larger than most programs ever free. The first bin contains recently
    // freed blocks, so it may be missing among the empty bins.
    let begin = first.min(last.saturating_sub((BINS - 1) * PAIR)).saturating_sub(BEFORE_BINS);
    (empty.len() >= FEWEST_EMPTY).then_some(begin.max(start)..last + PAIR)
}

/// Number of words in an entry of the C library's `fork` list: three functions, and the library of the functions.
const FORK_ENTRY: usize = 4;

/// Checks if a word of the C library belongs to the `fork` entry of a library for which `is_going` returns `true`. The entry identifies the
/// library by the address of a variable in the library. This variable contains its own address.
pub(super) fn is_for_fork(at: usize, is_going: impl Fn(usize) -> bool) -> bool {
    let is_entry = |start: usize| {
        let words: [_; FORK_ENTRY] = std::array::from_fn(|word| peek::word(start + word * WORD).unwrap_or_default());
        let [functions @ .., library] = words;
        let is_of_it = is_going(library) && peek::word(library) == Some(library);
        is_of_it && functions.into_iter().all(|function| function == 0 || is_going(function))
    };
    (0..FORK_ENTRY).any(|word| is_entry(at - word * WORD))
}

#[derive(Default)]
pub(super) struct Streams {
    pub(super) streams: HashSet<usize>,
    pub(super) buffers: HashSet<usize>,
}

pub(super) fn streams() -> Streams {
    let mut found = Streams::default();
    let mut next = peek::word(library::first_stream()).unwrap_or_default();
    for _ in 0..MOST_STREAMS {
        let Some(chain) = next.checked_add(CHAIN).filter(|_| next != 0).and_then(peek::word) else { break };
        found.streams.insert(next);
        found.buffers.extend([BUFFER, SAVED].into_iter().filter_map(|at| peek::word(next + at)));
        let wide = peek::word(next + WIDE).filter(|wide| *wide != 0);
        found.buffers.extend(
            wide.into_iter()
                .flat_map(|wide| [WIDE_BUFFER, WIDE_SAVED].map(|at| wide.wrapping_add(at)))
                .filter_map(peek::word),
        );
        next = chain;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::super::c::library::{read_time_zone, with_stream};
    use super::super::blocks::Blocks;
    use super::super::objects::mapped;
    use super::{
        BEFORE_BINS, BINS, PAIR, WORD, bins, free_lists, is_for_fork, is_name, is_text, streams, time_zone, zone,
    };

    #[test]
    fn only_the_c_library_has_free_lists() {
        let lists: Vec<_> = mapped().iter().filter_map(free_lists).collect();
        assert_eq!(lists.len(), 1);
        assert_eq!(lists[0].len(), BEFORE_BINS + BINS * PAIR);
    }

    #[test]
    fn bins_are_found_among_other_values() {
        let mut words = vec![7; 20 + 2 * BINS + 20];
        let first = 0x1000 + 20 * WORD;
        for bin in (0..BINS).filter(|bin| ![0, 3, 4].contains(bin)) {
            let empty = first + bin * PAIR - PAIR;
            words[20 + 2 * bin..][..2].fill(empty);
        }
        assert_eq!(bins(0x1000, &words), Some(first - BEFORE_BINS..first + BINS * PAIR));
        assert_eq!(bins(0x1008, &words), None);
        assert_eq!(bins(0x1000, &[]), None);
    }

    #[test]
    fn the_time_zone_is_found_by_parts_that_follow_each_other() {
        let block = 0x7f00_0000_1000;
        // Time zone tables of Europe/Berlin, of UTC, and of UTC with leap seconds.
        for [leaps, types, transitions] in [[0, 9, 143], [0, 1, 0], [27, 1, 1]] {
            let leaps_at = block + transitions * WORD;
            let types_at = leaps_at + leaps * 16;
            let indexes_at = types_at + types * 8;
            let names_at = indexes_at + transitions;
            let table = [leaps_at, leaps, 0, 0, names_at, types_at, types, indexes_at, transitions];
            let among = |table: [usize; 9]| zone(&[&[0, block, 1, block][..], &table, &[0; 12]].concat());
            assert_eq!(among(table), Some(block), "{table:x?}");
            for changed in [0, 1, 4, 5, 6, 7, 8] {
                let mut other = table;
                other[changed] += 1;
                assert_eq!(among(other), None, "{other:x?}");
            }
            // A freed table: only the address of the transitions is cleared.
            assert_eq!(zone(&[&[0; 4][..], &table, &[0; 12]].concat()), None, "{table:x?}");
        }
        assert_eq!(zone(&[0; 64]), None);
    }

    #[test]
    fn the_c_library_has_one_table_of_its_time_zone() {
        if std::env::var_os("TZ").is_none() && std::fs::exists("/etc/localtime").is_ok_and(|exists| exists) {
            read_time_zone();
            let tables: Vec<_> = mapped().iter().filter_map(time_zone).collect();
            assert_eq!(tables.len(), 1);
            // Repeats the check, because a concurrent test may change the next block during the search.
            assert!((0..20).any(|_| Blocks::now(&[]).len(tables[0]).is_some()), "{tables:x?}");
        }
    }

    #[test]
    fn strings_are_distinguished_from_addresses_and_numbers() {
        let words = |words: [usize; 4]| words.map(usize::to_ne_bytes).concat();
        for text in ["UTC", "/etc/localtime", "a path that is longer than what is looked at here", "C"] {
            let block = [text.as_bytes(), &[0; 32]].concat();
            assert!(is_text(&block[..32]), "{text}");
        }
        for other in [[0; 4], [1, 0, 0, 0], [0x7f41_4243_4445, 7, 7, 7], [0x5541_4243_4430, 7, 7, 7], [usize::MAX; 4]] {
            assert!(!is_text(&words(other)), "{other:x?}");
        }
        assert!(!is_text(&[]));
    }

    #[test]
    fn names_are_distinguished_from_code_and_small_numbers() {
        for name in ["bokmal\0nb_NO.ISO-8859-1", "/usr/lib/locale/C.utf8/LC_CTYPE", "PATH=/bin\0"] {
            assert!(is_name(name.as_bytes()), "{name}");
        }
        for other in [[0x55, 0x48, 0x89, 0xe5].as_slice(), &[b'A', 0, 0, 0, 0, 0, 0, 0], &[]] {
            assert!(!is_name(other), "{other:x?}");
        }
    }

    #[test]
    fn fork_entries_are_recognized_by_a_variable_that_points_to_itself() {
        let mut own = 0;
        own = (&raw const own).addr();
        let list = [0, 7, 0, 7, (&raw const own).addr(), 1, 2];
        let address_of = |word: usize| (&raw const list[word]).addr();
        let is_going = |word| word == 7 || word == own;
        let check = |word, expected| assert_eq!(is_for_fork(address_of(word), is_going), expected, "{word}");
        (1..5).for_each(|word| check(word, true));
        check(5, false);
        assert!(!is_for_fork(address_of(1), |word| word == own), "functions of another");
        let other = [0, 7, 0, 7, (&raw const list).addr(), 1, 2];
        assert!(!is_for_fork((&raw const other[1]).addr(), |word| word == 7 || word == (&raw const list).addr()));
    }

    #[test]
    fn the_buffer_of_a_stream_is_known_while_it_is_open() {
        let mut buffer = vec![0; 4096];
        let at = buffer.as_ptr().addr();
        let stream = with_stream(&mut buffer, |stream| {
            let open = streams();
            assert!(open.streams.contains(&stream) && open.buffers.contains(&at));
        });
        let open = streams();
        assert!(!open.streams.contains(&stream) && !open.buffers.contains(&at));
    }
}
