//! What a host demands of libraries.

use crate::elf;
use crate::signature::PublicKey;

/// What a host demands of every library before anything of it is believed. Whatever is staged was measured by the demands
/// of its [`StageDir`](crate::StageDir), and whatever is mapped was staged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demands {
    /// The longest file that is looked at, in bytes. 1 GiB unless said otherwise: a debug build of a large plugin is a
    /// tenth of that.
    pub largest: u64,
    /// Keys one of which must have signed it; none for a host that takes unsigned libraries.
    pub trusted: Vec<PublicKey>,
}

impl Default for Demands {
    fn default() -> Self {
        Self { largest: elf::LARGEST, trusted: Vec::new() }
    }
}
