//! Errors of container operations.

/// Reason for the failure of a container operation. The container is unchanged after the failure.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ContainerError {
    /// The range of rows exceeds the length of the container.
    #[error("{count} values from index {at} exceed the length {len}: check the length first")]
    OutOfRange {
        /// First index of the range.
        at: u32,
        /// Number of rows in the range.
        count: u32,
        /// Length of the container.
        len: u32,
    },
    /// The length of the container would exceed the maximum.
    #[error("{len} values and {more} more exceed the limit of a container: use several containers")]
    TooLong {
        /// Length of the container.
        len: u32,
        /// Number of rows to add.
        more: u32,
    },
    /// The system is out of memory.
    #[error("the system has no memory for a container of {bytes} bytes: store fewer values")]
    NoMemory {
        /// Number of requested bytes.
        bytes: usize,
    },
}
