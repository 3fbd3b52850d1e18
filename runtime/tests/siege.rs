//! A third attack, with safe code only. Each test in a process of its own: `--exact NAME`.
#![forbid(unsafe_code)]
#![allow(missing_docs, unused, clippy::all)]

#[path = "siege/edits.rs"]
mod edits;
#[path = "siege/host.rs"]
mod host;
#[path = "attacks/native_drops.rs"]
mod native_drops;
#[path = "siege/natives.rs"]
mod natives;
#[path = "attacks/panic_words.rs"]
mod panic_words;
#[path = "siege/plugin.rs"]
mod plugin;
#[path = "attacks/references.rs"]
mod references;
#[path = "siege/slims.rs"]
mod slims;
#[path = "attacks/small_hosts.rs"]
mod small_hosts;
mod support;
#[path = "attacks/undone_edits.rs"]
mod undone_edits;

/// Numbers that look random.
pub(crate) struct Rng(pub u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
    pub(crate) fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

pub(crate) fn env(name: &str, other: u64) -> u64 {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(other)
}

pub(crate) fn short(text: String) -> String {
    let end = text.char_indices().nth(500).map_or(text.len(), |(at, _)| at);
    text[..end].to_owned()
}
