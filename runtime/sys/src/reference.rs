//! References to an image found by a memory scan.

use std::fmt;
use std::time::Duration;

/// Pointer into an image, in memory that outlives the image, such as a callback in a table of a library. Code could enter the image through
/// the pointer.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Reference {
    /// File whose variables contain the pointer, or contain the first pointer of a chain that ends at the image. Example: `libcrypto.so.3`.
    pub library: String,
    /// Location of the variable: the nearest preceding symbol or the section, with an offset, such as `environ` or `.bss+0x40`.
    pub location: String,
    /// Number of C heap blocks and of pages of other mappings in the chain. Zero if the variable itself points into the image.
    pub blocks: u32,
    /// Target of the pointer.
    pub target: Target,
}

/// Target of a reference in an image.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Target {
    /// Code or variable by linker symbol (mangled for Rust), with the offset from its start.
    Symbol(String, usize),
    /// Unnamed target, as offset from the start of the image.
    Image(usize),
    /// Memory of the image's own heap, or memory that the image mapped.
    Memory,
}

/// Result and cost of a memory scan.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct SearchResult {
    /// First reference from each variable, up to a small number of references.
    pub found: Vec<Reference>,
    /// Searched bytes of variables.
    pub variables: u64,
    /// Searched blocks of the C heap.
    pub blocks: u64,
    /// Searched bytes of C heap blocks.
    pub block_bytes: u64,
    /// `true` if the search stopped at a limit of blocks, bytes or time. The image then stays mapped, because memory that was not searched
    /// may refer to it.
    pub is_cut_short: bool,
    /// Duration of the search.
    pub elapsed: Duration,
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { library, location, blocks, target } = self;
        write!(f, "{library}: {location} still points to {target}")?;
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
            Self::Image(offset) => write!(f, "the image, {offset:#x} after its start"),
            Self::Memory => f.write_str("memory of the image"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Reference, Target};

    #[test]
    fn references_are_formatted_with_location_and_target() {
        let check = |blocks, target, expected: &str| {
            let (library, location) = ("libcrypto.so.3".to_owned(), ".bss+0x40".to_owned());
            assert_eq!(Reference { library, location, blocks, target }.to_string(), expected);
        };
        let symbol = |offset| Target::Symbol("freed".to_owned(), offset);
        check(0, symbol(0), "libcrypto.so.3: .bss+0x40 still points to `freed`");
        check(1, symbol(16), "libcrypto.so.3: .bss+0x40 still points to `freed`+0x10, through a block of memory");
        check(
            3,
            Target::Memory,
            "libcrypto.so.3: .bss+0x40 still points to memory of the image, through 3 blocks of memory",
        );
    }
}
