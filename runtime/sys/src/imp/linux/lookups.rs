//! Records addresses of functions that were found by name. An image can pass its addresses only to a library that it depends on, or of
//! which it stores a function address. In all remaining libraries, words that resemble an address of the image are therefore stale.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Mutex;

use super::c::loader;
use super::c::peek::{self, words};
use super::loaded::Loaded;
use super::lock;

/// Addresses that the host has looked up by name. The host may have passed these addresses to any image.
static OF_HOST: Lookups = Lookups(Mutex::new(BTreeSet::new()));

#[derive(Default)]
pub(super) struct Lookups(Mutex<BTreeSet<usize>>);

/// Records an address that the host found by name, and that the host may pass to any image.
pub(crate) fn note_for_all(address: usize) {
    OF_HOST.note(address);
}

/// Removes the addresses that the host found in libraries that are now unmapped. A different library may later be mapped at these
/// addresses.
pub(crate) fn forget_unmapped() {
    // Takes the lock first, so that the list contains the library of each recorded address.
    let mut addresses = lock(&OF_HOST.0);
    let mapped = loader::all_segments();
    addresses.retain(|address| mapped.iter().any(|segment| segment.contains(address)));
}

#[cfg(test)]
pub(crate) fn is_noted_for_all(address: usize) -> bool {
    lock(&OF_HOST.0).contains(&address)
}

impl Lookups {
    pub(super) fn note(&self, address: usize) {
        lock(&self.0).insert(address);
    }

    /// Checks if a recorded address (of this image or of the host) is in these segments.
    pub(super) fn refer_to(&self, segments: &[Range<usize>]) -> bool {
        let is_in = |all: &Self| {
            let all = lock(&all.0);
            segments.iter().any(|segment| all.range(segment.clone()).next().is_some())
        };
        is_in(self) || is_in(&OF_HOST)
    }
}

/// Returns each library to whose code a word of the image points. Such a word is an import that the loader resolved, or a stored result of
/// a lookup.
pub(super) fn called_from<'a>(image: &[Range<usize>], all: &'a [Loaded]) -> Vec<&'a Loaded> {
    let mut codes: Vec<_> =
        (0..).zip(all).flat_map(|(at, library)| library.code.iter().map(move |code| (code, at))).collect();
    codes.sort_by_key(|(code, _)| code.start);
    let mut called = BTreeSet::<usize>::new();
    for segment in image {
        peek::each_piece(segment.clone(), |_, bytes| {
            for word in words(bytes) {
                let behind = codes.partition_point(|(code, _)| code.start <= word);
                let code = behind.checked_sub(1).map(|before| codes[before]);
                called.extend(code.filter(|(code, _)| code.contains(&word)).map(|(_, library)| library));
            }
        });
    }
    called.into_iter().map(|at| &all[at]).collect()
}
