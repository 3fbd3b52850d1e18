//! Why a container stays as it is.

/// Why a container was not changed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ContainerError {
    /// A place behind the end.
    #[error("{count} values from {at} on are more than the {len} there are: ask for the length first")]
    OutOfRange {
        /// The first.
        at: u32,
        /// How many.
        count: u32,
        /// How many there are.
        len: u32,
    },
    /// More than a container can hold.
    #[error("{more} values more than {len} are more than a container can hold: spread them over several")]
    TooLong {
        /// How many there are.
        len: u32,
        /// How many more.
        more: u32,
    },
    /// The system has no more memory.
    #[error("the system has no {bytes} bytes for a container: hold less")]
    NoMemory {
        /// How many were requested.
        bytes: usize,
    },
}
