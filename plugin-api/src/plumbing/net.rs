//! Structs that are written for another machine: what `#[net_serialize]` becomes.

use alcedo_abi::call::FailureKind;
use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::net::{self, NetArchive, NetMap, NetObject, NetOutcome};
use alcedo_rt::CallError;

use crate::Obj;

impl<C> NetObject for Obj<C> {
    fn to_handle(&self) -> ObjectHandle {
        self.handle()
    }

    /// Whether it is of the class is looked at where it is used, and by the host when the struct is put where it belongs.
    fn of_handle(handle: ObjectHandle) -> Self {
        Self::from_handle(handle)
    }
}

/// The bytes of a struct; none where its `net_serialize` leaves it to the host.
///
/// # Errors
/// `RETURNED` when it was no success.
pub fn net_save(
    net_serialize: impl FnOnce(&mut NetArchive, &mut NetMap) -> (bool, bool),
) -> Result<Option<Vec<u8>>, CallError> {
    outcome(net::save(net_serialize))
}

/// Whether a struct was read out of bytes, or is left to the host.
///
/// # Errors
/// `RETURNED` when it was no success.
pub fn net_load(
    bytes: &[u8],
    net_serialize: impl FnOnce(&mut NetArchive, &mut NetMap) -> (bool, bool),
) -> Result<bool, CallError> {
    outcome(net::load(bytes, net_serialize)).map(|done| done.is_some())
}

fn outcome<T>(outcome: NetOutcome<T>) -> Result<Option<T>, CallError> {
    match outcome {
        NetOutcome::Done(value) => Ok(Some(value)),
        NetOutcome::NotHandled => Ok(None),
        NetOutcome::Failed => Err(CallError::new(FailureKind::RETURNED, "`net_serialize` was no success")),
    }
}
