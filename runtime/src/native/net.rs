//! Host structs with custom network serialization: the expansion of `#[net_serialize]` on a native struct.

use std::collections::BTreeMap;

use alcedo_abi::net::{self, NetArchive, NetMap, NetObject, NetOutcome};

use crate::boundary::CallError;
use crate::handles::ObjectHandle;
use crate::native::Obj;
use crate::native::failing::failing;
use crate::object::native_value::{NativeParam, NativeResult, NativeValue};
use crate::object::property::PropertyType;
use crate::object::value::Value;

type Save = dyn Fn(&PropertyType, &Value) -> Result<NetOutcome<Vec<u8>>, CallError>;
type Load = dyn Fn(&PropertyType, &Value, &[u8]) -> Result<NetOutcome<Value>, CallError>;

/// Serialization functions of one struct type.
pub(crate) struct NetFunctions {
    pub(crate) save: Box<Save>,
    pub(crate) load: Box<Load>,
}

/// Serialization functions of the host's structs, by struct path.
pub(crate) type NetStructs = BTreeMap<String, NetFunctions>;

/// Constructor for the serialization functions of a struct with `#[net_serialize]`. `None` for a struct without this attribute.
pub struct NetHooks(Option<fn() -> NetFunctions>);

/// A struct with custom network serialization.
pub trait NetStruct: NativeValue {
    /// Writes or reads the struct in network format.
    const NET: fn(&mut Self, &mut NetArchive, &mut NetMap) -> (bool, bool);
}

/// Default for a struct without `#[net_serialize]`.
pub trait WithoutNet {
    #[doc(hidden)]
    const ALCEDO_NET: NetHooks = NetHooks(None);
}

impl<T> WithoutNet for T {}

impl NetHooks {
    /// Returns the serialization functions of a struct.
    pub const fn of<T: NetStruct>() -> Self {
        Self(Some(|| NetFunctions { save: Box::new(save::<T>), load: Box::new(load::<T>) }))
    }

    pub(crate) fn functions(&self) -> Option<NetFunctions> {
        self.0.map(|functions| functions())
    }
}

fn save<T: NetStruct>(ty: &PropertyType, value: &Value) -> Result<NetOutcome<Vec<u8>>, CallError> {
    let mut value = <T as NativeResult>::from_value(Some(value.clone()), Some(ty))?;
    failing(|| Ok(net::save(|archive, map| T::NET(&mut value, archive, map))))
}

fn load<T: NetStruct>(ty: &PropertyType, value: &Value, row: &[u8]) -> Result<NetOutcome<Value>, CallError> {
    let mut value = <T as NativeResult>::from_value(Some(value.clone()), Some(ty))?;
    let done = failing(|| Ok(net::load(row, |archive, map| T::NET(&mut value, archive, map))))?;
    Ok(match done {
        NetOutcome::NotHandled => NetOutcome::NotHandled,
        NetOutcome::Failed => NetOutcome::Failed,
        NetOutcome::Done(()) => NetOutcome::Done(NativeParam::into_value(value, Some(ty))?),
    })
}

impl<C> NetObject for Obj<C> {
    fn to_handle(&self) -> ObjectHandle {
        self.handle()
    }

    fn of_handle(handle: ObjectHandle) -> Self {
        Self::new(handle)
    }
}
