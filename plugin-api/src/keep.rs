//! Saves kept fields by name as CBOR before a reload, and restores them after the reload. The host stores the fields as value trees. If
//! the names and types of a class's kept fields are unchanged, `packed.rs` saves the fields as bytes instead.

use alcedo_abi::call::FailureKind;
use alcedo_rt::CallError;
use serde::Serialize;
use serde::de::DeserializeOwned;

use self::limited::{Limited, MAX_DEPTH};
use self::short::Cbor;

mod limited;
pub(crate) mod packed;
mod short;

/// A field that can be saved before a reload.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be kept over a reload",
    label = "a `#[keep]` field needs serde",
    note = "kept fields are carried over by name through serde: derive `Serialize` and `Deserialize`, or drop `#[keep]` \
            and let the red constructor rebuild the field; for a type of the host, such as `Obj<Class>`, write `#[uproperty]` \
            instead of `#[keep]`"
)]
pub trait Keep {
    /// Serializes the value as CBOR.
    fn to_cbor(&self) -> Result<Cbor, CallError>;
}

/// A field that can be restored after a reload.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be restored after a reload",
    label = "a `#[keep]` field needs serde",
    note = "kept fields are carried over by name through serde: derive `Serialize` and `Deserialize`, or drop `#[keep]` \
            and let the red constructor rebuild the field; for a type of the host, such as `Obj<Class>`, write `#[uproperty]` \
            instead of `#[keep]`"
)]
pub trait Restore: Sized {
    /// Deserializes the value from CBOR.
    fn from_cbor(data: &[u8]) -> Result<Self, CallError>;
}

impl<T: Serialize> Keep for T {
    fn to_cbor(&self) -> Result<Cbor, CallError> {
        let mut limited = Limited::default();
        match ciborium::into_writer(self, &mut limited) {
            // An `Io` error occurs at the depth limit, where the data is cut off. Restoring this data fails with an error about the limit,
            // and the field then retains the value from the red constructor.
            Ok(()) | Err(ciborium::ser::Error::Io(_)) => Ok(limited.data),
            Err(error) => Err(CallError::other(format!("the value cannot be kept: {error}"))),
        }
    }
}

impl<T: DeserializeOwned> Restore for T {
    fn from_cbor(data: &[u8]) -> Result<T, CallError> {
        // No string is longer than the data. For a type that reads a borrowed string or borrowed bytes, the value must fit in the buffer.
        // A short buffer is cheaper to clear.
        let mut short = [0; 64];
        let mut long;
        let buffer = if data.len() <= short.len() {
            &mut short[..]
        } else {
            long = vec![0; data.len()];
            &mut long[..]
        };
        ciborium::de::from_reader_with_buffer(data, buffer).map_err(|error| CallError::other(misfit(&error)))
    }
}

/// Describes why a value no longer fits its field. The description omits the value, because a report has one description for all objects
/// of a class.
fn misfit<E>(error: &ciborium::de::Error<E>) -> String {
    let words = match error {
        ciborium::de::Error::Semantic(_, words) => words,
        ciborium::de::Error::RecursionLimitExceeded => {
            return format!("is nested too deeply: {MAX_DEPTH} levels at most are kept");
        }
        _ => return "is of another type".into(),
    };
    let named = |start| Some(words.strip_prefix(start)?.split_once('`')?.0);
    if let Some(field) = named("missing field `") {
        return format!(
            "has a new field `{field}`, which the kept value lacks; with `#[serde(default)]` on it the rest is kept"
        );
    }
    match named("unknown variant `") {
        Some(variant) => format!("has no variant `{variant}` any more"),
        None => "is of another type".into(),
    }
}

/// Restores a kept field.
///
/// # Errors
/// Fails if the saved value no longer fits the type of the field. The field then retains the value from the red constructor.
pub fn restore<T: Restore>(field: &mut T, data: &[u8]) -> Result<(), CallError> {
    *field = T::from_cbor(data)?;
    Ok(())
}

/// Creates the error for a saved field that the class no longer has.
#[must_use]
pub fn unknown_field(class: &str, name: &str) -> CallError {
    CallError::new(FailureKind::NOT_FOUND, format!("{class} has no kept field `{name}` any more: its value is dropped"))
}

/// Creates the error for bytes that do not contain the kept fields of the class at `path`.
#[cold]
pub(crate) fn misread(path: &str) -> CallError {
    CallError::other(format!("the bytes of the kept fields of {path} cannot be read"))
}

/// Receives the kept fields of a plugin part, one by one.
pub struct KeptWriter<'a> {
    /// Copies the name of a field, and the field's value as CBOR.
    pub(crate) sink: &'a dyn Fn(&str, &[u8]),
}

impl KeptWriter<'_> {
    /// Saves a field. If the value cannot be serialized, the running call ends with an error that names the field.
    pub fn put<T: Keep>(&mut self, name: &str, value: &T) {
        let data = value.to_cbor().unwrap_or_else(|error| {
            alcedo_rt::fail(CallError::other(format!("`{name}`: {}", error.message())));
        });
        (self.sink)(name, &data);
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::{Keep, restore};

    #[test]
    fn a_kept_value_comes_back_and_a_misfit_changes_nothing() {
        let data = vec![1_u32, 2].to_cbor().expect("plain data");
        let mut numbers = Vec::<u32>::new();
        restore(&mut numbers, &data).expect("the same type");
        assert_eq!(numbers, [1, 2]);
        let mut text = "as built".to_owned();
        assert_eq!(restore(&mut text, &data).expect_err("no text").message(), "is of another type");
        assert_eq!(text, "as built");
    }

    #[derive(Serialize, Deserialize, Default)]
    struct Node {
        next: Option<Box<Node>>,
    }

    /// Runs a check of nested values on a large stack. Without optimization, serde's stack frames are large.
    pub(super) fn on_a_large_stack(check: fn()) {
        let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(check).expect("a thread");
        thread.join().expect("it passes");
    }

    #[test]
    fn a_value_that_is_too_deep_is_refused_with_the_limit() {
        on_a_large_stack(|| {
            let nested = |depth: u32| (0..depth).fold(Node::default(), |node, _| Node { next: Some(Box::new(node)) });
            let mut node = Node::default();
            restore(&mut node, &nested(100).to_cbor().expect("plain data")).expect("it is kept");
            for depth in [300, 20_000] {
                let data = nested(depth).to_cbor().expect("plain data");
                assert!(data.len() < 2000, "{} bytes of {depth} levels", data.len());
                let error = restore(&mut node, &data).expect_err("it is too deep");
                assert_eq!(error.message(), "is nested too deeply: 256 levels at most are kept");
            }
        });
    }

    /// Bytes that are serialized as a whole, and deserialized from borrowed bytes.
    #[derive(Debug, PartialEq)]
    struct Whole(Vec<u8>);

    impl Serialize for Whole {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_bytes(&self.0)
        }
    }

    impl<'de> Deserialize<'de> for Whole {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Read;
            impl serde::de::Visitor<'_> for Read {
                type Value = Whole;

                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("bytes")
                }

                fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Whole, E> {
                    Ok(Whole(bytes.to_vec()))
                }
            }
            deserializer.deserialize_bytes(Read)
        }
    }

    #[test]
    fn bytes_as_a_whole_are_restored_as_a_list() {
        let data = Whole(vec![200; 10_000]).to_cbor().expect("plain data");
        let mut list = Vec::<u8>::new();
        restore(&mut list, &data).expect("bytes are a list");
        assert_eq!((data.len(), list), (10_003, vec![200; 10_000]));
    }

    /// String that is deserialized from a borrowed string, as by the URL and small-string types of many crates.
    #[derive(Debug, PartialEq)]
    struct Address(String);

    impl Serialize for Address {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_str(&self.0)
        }
    }

    impl<'de> Deserialize<'de> for Address {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Read;
            impl serde::de::Visitor<'_> for Read {
                type Value = Address;

                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("an address")
                }

                fn visit_str<E>(self, text: &str) -> Result<Address, E> {
                    Ok(Address(text.to_owned()))
                }
            }
            deserializer.deserialize_str(Read)
        }
    }

    #[test]
    fn a_borrowed_string_and_borrowed_bytes_of_any_length_are_restored() {
        for len in [0, 63, 64, 4095, 4096, 5000, 100_000] {
            let kept = vec![Address("x".repeat(len)), Address("short".to_owned())];
            let mut restored = Vec::<Address>::new();
            restore(&mut restored, &kept.to_cbor().expect("plain data")).expect("the same type");
            assert!(restored == kept, "{len} bytes");
            let kept = vec![Whole(vec![200; len]), Whole(vec![1, 2])];
            let mut restored = Vec::<Whole>::new();
            restore(&mut restored, &kept.to_cbor().expect("plain data")).expect("the same type");
            assert!(restored == kept, "{len} bytes");
        }
    }

    #[derive(Serialize)]
    struct Before {
        steps: u32,
    }

    #[derive(Deserialize, Default)]
    struct After {
        steps: u32,
        leaps: u32,
    }

    #[derive(Deserialize, Default)]
    struct Careful {
        steps: u32,
        #[serde(default)]
        leaps: u32,
    }

    #[derive(Serialize)]
    enum Moods {
        Wild,
    }

    #[derive(Deserialize, Debug)]
    enum LaterMoods {
        Calm,
    }

    #[test]
    fn a_struct_that_grew_names_the_field_and_the_fix() {
        let data = Before { steps: 3 }.to_cbor().expect("plain data");
        let mut after = After::default();
        let error = restore(&mut after, &data).expect_err("leaps are missing");
        assert_eq!(
            error.message(),
            "has a new field `leaps`, which the kept value lacks; with `#[serde(default)]` on it the rest is kept"
        );
        assert_eq!((after.steps, after.leaps), (0, 0));
        let mut careful = Careful::default();
        restore(&mut careful, &data).expect("it has a default");
        assert_eq!((careful.steps, careful.leaps), (3, 0));
    }

    #[test]
    fn a_variant_that_is_gone_is_named() {
        let data = Moods::Wild.to_cbor().expect("plain data");
        let mut mood = LaterMoods::Calm;
        let error = restore(&mut mood, &data).expect_err("it is gone");
        assert_eq!(error.message(), "has no variant `Wild` any more", "{mood:?}");
    }
}
