//! Finds tail calls of C library functions. A function that ends with a jump to a second function removes its own stack frame first. On the
//! stack, only the second function is then visible.
//!
//! A function cannot release a resource after a tail call, so it holds no resource during the tail call. If a thread can be evicted from
//! the called function, it can therefore also be evicted from every function that jumps to the called function.

use std::ops::Range;

use super::c::loader::{enclosing, len_of};
use super::c::peek;

const LONGEST: usize = 4096;

/// Returns the functions to which the function at this address jumps at its end, directly or indirectly. Follows only jumps to addresses in
/// `library`.
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

/// Returns the targets of possible jumps in code. Includes bytes that only resemble a jump, because their target is almost never the start
/// of a function.
fn jumps(code: &[u8], start: usize) -> Vec<usize> {
    let relative = |at: usize| -> Option<usize> {
        let distance = i32::from_le_bytes(code.get(at..at + 4)?.try_into().ok()?);
        Some(start.wrapping_add(at + 4).wrapping_add_signed(distance as isize))
    };
    let jump = |(at, pair): (usize, &[u8])| match pair {
        [0xe9, _] => relative(at + 1),
        // Conditional jump.
        [0x0f, 0x80..=0x8f] => relative(at + 2),
        _ => None,
    };
    code.windows(2).enumerate().filter_map(jump).collect()
}

/// Returns the number of bytes that belong to the function at `function`, according to its unwind record.
fn until_next(function: usize, library: &[Range<usize>]) -> usize {
    let Some(end) = library.iter().find(|range| range.contains(&function)).map(|range| range.end) else { return 0 };
    let most = (end - function).min(LONGEST);
    leading(most, |at| enclosing(function + at) == Some(function))
}

/// Returns the number of leading bytes for which `is_own` is true. Checks every sixteenth byte first, because each check searches the
/// unwind tables.
fn leading(most: usize, is_own: impl Fn(usize) -> bool) -> usize {
    let last = (0..most).step_by(16).take_while(|at| is_own(*at)).last();
    last.map_or(0, |at| at + (at..most).take(16).take_while(|at| is_own(*at)).count())
}

#[cfg(test)]
mod tests {
    use super::{jumps, leading};

    #[test]
    fn a_function_is_read_to_its_last_byte() {
        for len in [0, 1, 15, 16, 17, 37, 100] {
            assert_eq!(leading(100, |at| at < len), len);
        }
    }

    #[test]
    fn jumps_are_relative_to_their_end() {
        // A no-op, a jump of five bytes, and a conditional jump of six bytes.
        let code = [0x90, 0xe9, 0x10, 0, 0, 0, 0x0f, 0x85, 0xf0, 0xff, 0xff, 0xff];
        assert_eq!(jumps(&code, 0x1000), [0x1016, 0xffc]);
        assert!(jumps(&code[..5], 0x1000).is_empty());
    }
}
