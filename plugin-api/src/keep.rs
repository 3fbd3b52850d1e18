//! Fields that are carried over a reload: each goes by its name, as CBOR, through the host's value tree.

use alcedo_abi::call::FailureKind;
use alcedo_rt::CallError;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A field that can be kept: what goes out before a reload.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be kept over a reload",
    label = "a `#[keep]` field needs serde",
    note = "kept fields are carried over by name through serde: derive `Serialize` and `Deserialize`, or drop `#[keep]` \
            and let the red constructor build the field anew"
)]
pub trait Keep {
    /// The value as CBOR.
    fn to_cbor(&self) -> Result<Vec<u8>, CallError>;
}

/// A field that can be kept: what comes back after a reload.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be brought back after a reload",
    label = "a `#[keep]` field needs serde",
    note = "kept fields are carried over by name through serde: derive `Serialize` and `Deserialize`, or drop `#[keep]` \
            and let the red constructor build the field anew"
)]
pub trait Restore: Sized {
    /// The value that CBOR tells of.
    fn from_cbor(data: &[u8]) -> Result<Self, CallError>;
}

impl<T: Serialize> Keep for T {
    fn to_cbor(&self) -> Result<Vec<u8>, CallError> {
        let mut data = Vec::new();
        ciborium::into_writer(self, &mut data)
            .map_err(|error| CallError::other(format!("the value cannot be kept: {error}")))?;
        Ok(data)
    }
}

impl<T: DeserializeOwned> Restore for T {
    fn from_cbor(data: &[u8]) -> Result<T, CallError> {
        ciborium::from_reader(data)
            .map_err(|error| CallError::other(format!("the kept value does not fit the field any more: {error}")))
    }
}

/// Takes one kept field back.
///
/// # Errors
/// When the value does not fit the field's type any more; the field stays as the red constructor made it.
pub fn restore<T: Restore>(field: &mut T, data: &[u8]) -> Result<(), CallError> {
    *field = T::from_cbor(data)?;
    Ok(())
}

/// A kept field that the class does not have any more.
#[must_use]
pub fn unknown_field(class: &str, name: &str) -> CallError {
    CallError::new(FailureKind::NOT_FOUND, format!("{class} has no kept field `{name}` any more: its value is dropped"))
}

#[cfg(test)]
mod tests {
    use super::{Keep, restore};

    #[test]
    fn a_kept_value_comes_back_and_a_misfit_changes_nothing() {
        let data = vec![1_u32, 2].to_cbor().expect("plain data");
        let mut numbers = Vec::<u32>::new();
        restore(&mut numbers, &data).expect("the same type");
        assert_eq!(numbers, [1, 2]);
        let mut text = "as built".to_owned();
        assert!(restore(&mut text, &data).is_err());
        assert_eq!(text, "as built");
    }
}
