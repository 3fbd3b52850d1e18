//! Errors of container operations.

/// Reason for the failure of a container operation. The container is unchanged after the failure.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ContainerError {
    /// The range of rows exceeds the length of the container.
    #[error("{count} values from {at} on are more than the {len} there are: ask for the length first")]
    OutOfRange {
        /// First index of the range.
        at: u32,
        /// Number of rows in the range.
        count: u32,
        /// Length of the container.
        len: u32,
    },
    /// The length of the container would exceed the maximum.
    #[error("{more} values more than {len} are more than a container can hold: spread them over several")]
    TooLong {
        /// Length of the container.
        len: u32,
        /// Number of rows to add.
        more: u32,
    },
    /// The system is out of memory.
    #[error("the system has no {bytes} bytes for a container: hold less")]
    NoMemory {
        /// Number of requested bytes.
        bytes: usize,
    },
}
