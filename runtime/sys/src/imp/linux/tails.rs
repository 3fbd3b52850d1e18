//! Where a function of the C library goes on when it ends in a jump to another: a function that has nothing left to do
//! leaves its place on the stack to the one that does the rest, so that one is all that is seen of it.
//!
//! Whoever leaves by a jump can give nothing back afterwards, so it holds nothing meanwhile; what holds for the one that is
//! jumped to holds for all that jump there.

use std::ops::Range;

use super::c::loader::{enclosing, len_of};
use super::c::peek;

/// A function is not longer than this, in bytes; of a longer one the beginning is looked at.
const LONGEST: usize = 4096;

/// The functions that the one at this address ends in, by jumps within `library`, and those that these end in.
pub(super) fn of(function: usize, library: &[Range<usize>]) -> Vec<usize> {
    let is_function =
        |address: usize| library.iter().any(|range| range.contains(&address)) && enclosing(address) == Some(address);
    let mut found = Vec::new();
    let mut next = vec![(function, len_of(function).min(LONGEST))];
    while let Some((start, len)) = next.pop() {
        let mut code = vec![0; len];
        let there = peek::read(start, &mut code);
        for target in jumps(&code[..there], start) {
            let is_elsewhere = !(start..start + len).contains(&target);
            if is_elsewhere && target != function && !found.contains(&target) && is_function(target) {
                found.push(target);
                next.push((target, until_next(target, library)));
            }
        }
    }
    found
}

/// Where the jumps lead that a piece of code may have. Bytes that only look like a jump are among them: what they say is no
/// beginning of a function, but for one in a million.
fn jumps(code: &[u8], start: usize) -> Vec<usize> {
    let relative = |at: usize| -> Option<usize> {
        let distance = i32::from_le_bytes(code.get(at..at + 4)?.try_into().ok()?);
        Some(start.wrapping_add(at + 4).wrapping_add_signed(distance as isize))
    };
    let jump = |(at, pair): (usize, &[u8])| match pair {
        [0xe9, _] => relative(at + 1),
        // On a condition.
        [0x0f, 0x80..=0x8f] => relative(at + 2),
        _ => None,
    };
    code.windows(2).enumerate().filter_map(jump).collect()
}

/// How many bytes from here on belong to the same function, as its unwind record says.
fn until_next(function: usize, library: &[Range<usize>]) -> usize {
    let Some(end) = library.iter().find(|range| range.contains(&function)).map(|range| range.end) else { return 0 };
    let most = (end - function).min(LONGEST);
    // What is asked for is the first byte that is not its own; the records are in order.
    let is_own = |at: &usize| enclosing(function + at) == Some(function);
    (0..most).step_by(16).take_while(is_own).last().map_or(0, |at| (at + 1).min(most))
}

#[cfg(test)]
mod tests {
    use super::jumps;

    #[test]
    fn a_jump_leads_so_many_bytes_from_where_it_ends() {
        // Five bytes of a jump, six of one on a condition.
        let code = [0x90, 0xe9, 0x10, 0, 0, 0, 0x0f, 0x85, 0xf0, 0xff, 0xff, 0xff];
        assert_eq!(jumps(&code, 0x1000), [0x1016, 0xffc]);
        assert!(jumps(&code[..5], 0x1000).is_empty());
    }
}
