//! Requirements that a library must meet before its host parses and maps the library: maximum size and signature.

use crate::plain_file;
use crate::signature::PublicKey;

/// Requirements of a host for libraries, checked before a library is parsed. Every mapped library is a copy in a
/// [`StageDir`](crate::StageDir) and meets the demands that this `StageDir` was created with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demands {
    /// Maximum file size in bytes. Default: 1 GiB, ten times the size of a debug build of a large plugin.
    pub largest: u64,
    /// Trusted keys. A library must be signed with one of these keys. If the list is empty, the host also accepts unsigned libraries.
    pub trusted: Vec<PublicKey>,
}

impl Default for Demands {
    fn default() -> Self {
        Self { largest: plain_file::LARGEST_LIBRARY, trusted: Vec::new() }
    }
}
