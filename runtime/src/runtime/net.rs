//! Network serialization of structs. A struct of the host or of a module can define its network format with a `net_serialize` function.
//! Structs without this function are sent field by field as text, with a table of the referenced objects. If `net_serialize` returns
//! `NotHandled`, the struct is also sent field by field. The first byte of the serialized struct specifies the format.

use alcedo_abi::net::{NetOutcome, joined, split};

use super::Runtime;
use crate::boundary::{CallError, mismatch};
use crate::error::Error;
use crate::handles::ObjectHandle;
use crate::object::property::PropertyType;
use crate::object::value::{Value, with_objects};

/// Maps objects to network ids. Implemented by the host.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{NetNames, ObjectHandle, Runtime};
///
/// /// Objects that all machines know, numbered from 1.
/// struct Players(Vec<ObjectHandle>);
///
/// impl NetNames for Players {
///     fn id(&self, object: ObjectHandle) -> Option<u64> {
///         let at = self.0.iter().position(|known| *known == object)?;
///         Some(at as u64 + 1)
///     }
///     fn object(&self, id: u64) -> Option<ObjectHandle> {
///         self.0.get(usize::try_from(id).ok()?.checked_sub(1)?).copied()
///     }
/// }
///
/// let runtime = Runtime::builder().build()?;
/// let player = runtime.objects().spawn("/Script/Core.Object")?;
/// let names = Players(vec![player]);
/// assert_eq!(names.object(names.id(player).unwrap()), Some(player));
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
pub trait NetNames {
    /// Returns the network id of an object. A network id is never 0. Returns `None` if the object exists only on this machine.
    fn id(&self, object: ObjectHandle) -> Option<u64>;
    /// Returns the local object with this network id.
    fn object(&self, id: u64) -> Option<ObjectHandle>;
}

const BY_FIELDS: u8 = 0;
const BY_ITSELF: u8 = 1;

impl Runtime {
    /// Serializes a struct property for another machine. If the struct has a `#[net_serialize]` function, calls this function. Game thread
    /// only.
    ///
    /// # Errors
    /// Fails if the object is destroyed or has no such property, or if the property is not a struct. Also fails if `net_serialize` panics,
    /// or reports a failure ([`CallError::Returned`]).
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::native::{uclass, ustruct};
    /// use alcedo_runtime::{NetNames, ObjectHandle, Runtime, natives};
    ///
    /// #[ustruct(package = "Game", pod)]
    /// #[derive(PartialEq, Debug, Default)]
    /// struct Spot {
    ///     x: f64,
    ///     y: f64,
    /// }
    ///
    /// #[uclass(package = "Game")]
    /// struct Robot {
    ///     #[uproperty]
    ///     spot: Spot,
    /// }
    ///
    /// /// No object is known to both machines.
    /// struct NoObjects;
    /// # impl NetNames for NoObjects {
    /// #     fn id(&self, _: ObjectHandle) -> Option<u64> {
    /// #         None
    /// #     }
    /// #     fn object(&self, _: u64) -> Option<ObjectHandle> {
    /// #         None
    /// #     }
    /// # }
    ///
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// let runtime = Runtime::builder().natives(natives![Spot, Robot]).build()?;
    /// let here = runtime.objects().spawn_as::<Robot>()?;
    /// let there = runtime.objects().spawn_as::<Robot>()?;
    /// runtime.objects().with(here, |robot| robot.set_spot(Spot { x: 1.0, y: 2.0 }))?;
    /// let bytes = runtime.net_write(here.handle(), "spot", &NoObjects)?;
    /// runtime.net_read(there.handle(), "spot", &bytes, &NoObjects)?;
    /// assert_eq!(runtime.objects().with(there, |robot| robot.spot())?, Spot { x: 1.0, y: 2.0 });
    /// # Ok(())
    /// # }
    /// ```
    pub fn net_write(&self, object: ObjectHandle, property: &str, names: &dyn NetNames) -> Result<Vec<u8>, Error> {
        let (ty, value) = (self.net_type(object, property)?, self.objects().get(object, property)?);
        let id = |handle: ObjectHandle| names.id(handle).filter(|_| !handle.is_none()).unwrap_or_default();
        if let Some(row) = self.net_save(&ty, &value)? {
            let (objects, bytes) = split(&row).ok_or_else(|| broken(&ty))?;
            let ids: Vec<_> = objects.into_iter().map(|handle| ObjectHandle(id(handle))).collect();
            return Ok([&[BY_ITSELF], &*joined(&ids, bytes)].concat());
        }
        // The text contains positions in this table, because an id may not have the form of a handle, and because the keys of a set must
        // differ. The first position is 1. An object without an id has the entry 0.
        let mut ids = Vec::new();
        let value = with_objects(&value, &mut |handle| match handle {
            ObjectHandle::NONE => ObjectHandle::NONE,
            handle => {
                ids.push(ObjectHandle(id(handle)));
                ObjectHandle::new(ids.len() as u32, 1)
            }
        });
        let text = value.print(&self.core().world.names);
        Ok([&[BY_FIELDS], &*joined(&ids, text.as_bytes())].concat())
    }

    /// Overwrites a struct property with data from [`Runtime::net_write`] on another machine. References to unknown objects become
    /// [`ObjectHandle::NONE`]. After an error, the property is unchanged.
    ///
    /// # Errors
    /// Returns the errors of [`Runtime::net_write`]. Returns an error if the bytes are invalid for the struct, or while writes are not
    /// allowed. Returns [`CallError::WrongClass`] if a field does not accept an object.
    pub fn net_read(
        &self,
        object: ObjectHandle,
        property: &str,
        bytes: &[u8],
        names: &dyn NetNames,
    ) -> Result<(), Error> {
        let (ty, now) = (self.net_type(object, property)?, self.objects().get(object, property)?);
        let here = |id: u64| names.object(id).filter(|_| id != 0).unwrap_or_default();
        let value = match bytes.split_first() {
            Some((&BY_ITSELF, row)) => {
                let (ids, bytes) = split(row).ok_or_else(|| broken(&ty))?;
                let objects: Vec<_> = ids.into_iter().map(|id| here(id.0)).collect();
                self.net_load(&ty, &now, &joined(&objects, bytes))?.ok_or_else(|| broken(&ty))?
            }
            Some((&BY_FIELDS, row)) => {
                let (ids, text) = split(row).ok_or_else(|| broken(&ty))?;
                let text = std::str::from_utf8(text).map_err(|_| broken(&ty))?;
                let value = Value::parse(text, &ty, &self.core().world.names);
                let value = value.map_err(|error| CallError::other(error.to_string()))?;
                let id = |position: ObjectHandle| ids.get((position.index() as usize).wrapping_sub(1));
                with_objects(&value, &mut |position| id(position).map(|id| here(id.0)).unwrap_or_default())
            }
            _ => return Err(broken(&ty).into()),
        };
        self.objects().set(object, property, &value)
    }

    fn net_type(&self, object: ObjectHandle, property: &str) -> Result<PropertyType, Error> {
        match self.links().type_of(object, property)? {
            ty @ PropertyType::Struct(_) => Ok(ty),
            other => Err(mismatch(&property, &other, &"a struct").into()),
        }
    }

    fn net_save(&self, ty: &PropertyType, value: &Value) -> Result<Option<Vec<u8>>, Error> {
        if let Some(native) = self.inner.net_structs.get(ty.type_path()) {
            return successful(ty, (native.save)(ty, value)?);
        }
        let row = self.call_net(ty, "net_save", std::slice::from_ref(value))?;
        Ok(row.map(|row| bytes_of(&row).ok_or_else(|| broken(ty))).transpose()?)
    }

    fn net_load(&self, ty: &PropertyType, now: &Value, row: &[u8]) -> Result<Option<Value>, Error> {
        if let Some(native) = self.inner.net_structs.get(ty.type_path()) {
            return successful(ty, (native.load)(ty, now, row)?);
        }
        let row = Value::Array(row.iter().map(|byte| Value::U8(*byte)).collect());
        self.call_net(ty, "net_load", &[now.clone(), row])
    }

    /// Calls the serialization function in the module that declares the struct. Returns `None` if the module does not offer this function,
    /// or if the function leaves the serialization to the host.
    fn call_net(&self, ty: &PropertyType, function: &str, arguments: &[Value]) -> Result<Option<Value>, Error> {
        let path = ty.type_path();
        let is_declared = |types: &[String]| types.iter().any(|declared| declared == path);
        let module = self.inner.loads.modules().into_iter().find(|module| is_declared(&module.info().types));
        let name = module.map(|module| format!("nm:/{}:{path}:{function}", module.name()));
        let Some(name) = name.filter(|name| self.calls().resolve(name).is_ok()) else { return Ok(None) };
        match self.calls().call(&name, arguments)? {
            Some(Value::Optional(value)) => Ok(value.map(|value| *value)),
            _ => Err(broken(ty).into()),
        }
    }
}

fn successful<T>(ty: &PropertyType, outcome: NetOutcome<T>) -> Result<Option<T>, Error> {
    match outcome {
        NetOutcome::Failed => Err(CallError::returned(format!("`net_serialize` of {ty} did not succeed")).into()),
        NetOutcome::NotHandled => Ok(None),
        NetOutcome::Done(value) => Ok(Some(value)),
    }
}

fn bytes_of(row: &Value) -> Option<Vec<u8>> {
    let Value::Array(row) = row else { return None };
    let byte = |value: &Value| match value {
        Value::U8(byte) => Some(*byte),
        _ => None,
    };
    row.iter().map(byte).collect()
}

fn broken(ty: &PropertyType) -> CallError {
    CallError::other(format!("these bytes are not a {ty} as declared here: both machines need the same declaration"))
}
