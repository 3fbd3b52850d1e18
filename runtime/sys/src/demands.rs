//! Demands of a host on libraries.

use crate::elf;
use crate::signature::PublicKey;

/// Demands of a host on libraries, checked before a library is parsed. Staged libraries meet the demands of their
/// [`StageDir`](crate::StageDir), and all mapped libraries are staged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demands {
    /// Maximum file size in bytes. Default: 1 GiB, ten times the size of a debug build of a large plugin.
    pub largest: u64,
    /// Trusted keys, one of which must have signed the library; empty if unsigned libraries are accepted.
    pub trusted: Vec<PublicKey>,
}

impl Default for Demands {
    fn default() -> Self {
        Self { largest: elf::LARGEST, trusted: Vec::new() }
    }
}
