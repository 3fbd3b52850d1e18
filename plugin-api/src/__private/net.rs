//! Network serialization of structs. `#[net_serialize]` expands to calls of these functions.

use alcedo_abi::call::FailureKind;
use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::net::{self, NetArchive, NetMap, NetObject, NetOutcome};
use alcedo_rt::CallError;

use crate::Obj;

impl<C> NetObject for Obj<C> {
    fn to_handle(&self) -> ObjectHandle {
        self.handle()
    }

    /// Does not check the class of the object, because each use of the reference checks the class, and so does the host when it stores
    /// the struct.
    fn of_handle(handle: ObjectHandle) -> Self {
        Self::from_handle(handle)
    }
}

/// Serializes a struct. Returns `None` if `net_serialize` leaves the serialization to the host.
///
/// # Errors
/// Fails with `RETURNED` if `net_serialize` reports a failure.
pub fn net_save(
    net_serialize: impl FnOnce(&mut NetArchive, &mut NetMap) -> (bool, bool),
) -> Result<Option<Vec<u8>>, CallError> {
    outcome(net::save(net_serialize))
}

/// Deserializes a struct. Returns false if `net_serialize` leaves the deserialization to the host.
///
/// # Errors
/// Fails with `RETURNED` if `net_serialize` reports a failure.
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
        NetOutcome::Failed => Err(CallError::new(FailureKind::RETURNED, "`net_serialize` did not succeed")),
    }
}
