//! What a look at the memory of a process finds that still leads into an image.

use std::fmt;
use std::time::Duration;

/// A word in memory that stays, through which code could still enter an image: a callback that was left in a
/// table of a library, for one.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Reference {
    /// The file whose variables hold the word, or lead to it: `libcrypto.so.3`.
    pub library: String,
    /// The symbol that begins nearest before the word, or the section it lies in, and how far behind that it lies:
    /// `environ`, `.bss+0x40`.
    pub place: String,
    /// Counts the blocks of the C heap, and pages of other mappings, between: none if the variable itself refers to the image.
    pub blocks: u32,
    /// What it leads to.
    pub target: Target,
}

/// What of an image a word leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Target {
    /// Code or a variable, by the name that the linker uses (mangled, if it is one of Rust's), and how far behind its
    /// beginning.
    Symbol(String, usize),
    /// Something without a name, so far behind the beginning of the image.
    Image(usize),
    /// Memory of the image's own heap, or that it has mapped.
    Memory,
}

/// What a look has found, and what it cost.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Look {
    /// The first of each variable; no more than a few.
    pub found: Vec<Reference>,
    /// Bytes of variables that were looked at.
    pub variables: u64,
    /// Blocks of the C heap that were looked at, and their bytes.
    pub blocks: u64,
    /// Their bytes.
    pub block_bytes: u64,
    /// Stopped at a limit of blocks, bytes or time: the image stays, since the rest may refer to it.
    pub is_cut_short: bool,
    /// How long it took.
    pub took: Duration,
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { library, place, blocks, target } = self;
        write!(f, "{library}: {place} still leads to {target}")?;
        match blocks {
            0 => Ok(()),
            1 => f.write_str(", through a block of memory"),
            _ => write!(f, ", through {blocks} blocks of memory"),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Symbol(name, 0) => write!(f, "`{name}`"),
            Self::Symbol(name, offset) => write!(f, "`{name}`+{offset:#x}"),
            Self::Image(offset) => write!(f, "the image, {offset:#x} behind its beginning"),
            Self::Memory => f.write_str("memory of the image"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Reference, Target};

    #[test]
    fn a_reference_says_where_it_is_and_what_it_leads_to() {
        let check = |blocks, target, expected: &str| {
            let (library, place) = ("libcrypto.so.3".to_owned(), ".bss+0x40".to_owned());
            assert_eq!(Reference { library, place, blocks, target }.to_string(), expected);
        };
        let symbol = |offset| Target::Symbol("freed".to_owned(), offset);
        check(0, symbol(0), "libcrypto.so.3: .bss+0x40 still leads to `freed`");
        check(1, symbol(16), "libcrypto.so.3: .bss+0x40 still leads to `freed`+0x10, through a block of memory");
        check(
            3,
            Target::Memory,
            "libcrypto.so.3: .bss+0x40 still leads to memory of the image, through 3 blocks of memory",
        );
    }
}
