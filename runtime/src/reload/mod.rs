//! The reload: a transaction that makes the new generation whole beside the old one, swaps pointers, and only then
//! lets the old one go. A failure at any step before the swap leaves the world as it was.

mod carry;
pub(crate) mod changes;
pub(crate) mod digest;
pub(crate) mod fate;
pub(crate) mod goals;
pub(crate) mod journal;
pub(crate) mod migrate;
pub(crate) mod plan;
mod references;
pub(crate) mod report;
pub(crate) mod requests;
pub(crate) mod transaction;
pub(crate) mod watch;
