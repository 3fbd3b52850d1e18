//! Access to conjugates, which are values with a handle. Borrows property values for a call, stores values that the host owns, and inspects
//! values that plugin code owns. Intended for tools, scripts and tests. Code with static types accesses properties directly.

use std::time::{Duration, Instant};

use alcedo_abi::handles::{BlackHandle, ConjugateHandle, TypeNumber};
use alcedo_abi::kinds::PropertyKind;

use super::Runtime;
use crate::boundary::CallError;
use crate::bridge::conjugates;
use crate::conjugate::pairs::ConjugateKey;
use crate::conjugate::{BlackReport, Color};
use crate::error::Error;
use crate::handles::{ModuleId, ObjectHandle};
use crate::object::owned::OwnedValue;
use crate::object::value::Value;

/// Handle of a red or a black value. A red value is owned by the host and borrowed for a call. A black value is owned by the side that
/// created the value. Any use of an expired conjugate returns an error with the kind and age of the conjugate. Handles are never reused.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{AnyConjugate, Runtime, Value};
///
/// let runtime = Runtime::builder().build()?;
/// let scores = runtime.conjugates().make("Array(u32)", &Value::Array(vec![Value::U32(3)]))?;
/// // A tool only stores the number.
/// let number = scores.number();
/// let again = AnyConjugate::from_number(number);
/// assert_eq!(runtime.conjugates().read(again)?, Value::Array(vec![Value::U32(3)]));
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AnyConjugate(ConjugateHandle);

/// Metadata of any conjugate, expired or not.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{Color, ConjugateInfo, Runtime, Value};
///
/// let runtime = Runtime::builder().build()?;
/// let title = runtime.conjugates().make("String", &Value::Text("Harbor".into()))?;
/// let ConjugateInfo { color, is_expired, .. } = runtime.conjugates().info(title)?;
/// assert_eq!((color, is_expired), (Color::Black, false));
/// runtime.conjugates().give_back(title);
/// assert!(runtime.conjugates().read(title).is_err());
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConjugateInfo {
    /// Side that created the conjugate.
    pub color: Color,
    /// Kind of the value.
    pub kind: PropertyKind,
    /// Set if an access to the value currently fails.
    pub is_expired: bool,
    /// Time since the conjugate was created or borrowed. May be only a lower bound; see `is_exact`.
    pub age: Duration,
    /// Set if `age` is exact. After another conjugate has reused the slot, `age` is only a lower bound.
    pub is_exact: bool,
}

impl AnyConjugate {
    /// Returns the number that represents the conjugate in the slots of a call.
    pub fn number(self) -> u64 {
        self.0.0
    }

    /// Creates a handle from a number. Does not check that a conjugate has this number.
    pub fn from_number(number: u64) -> Self {
        Self(ConjugateHandle(number))
    }
}

/// Access to values by handle; see [`Runtime::conjugates`]. Game thread only.
///
/// ```
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// use alcedo_runtime::{Runtime, Value};
///
/// let runtime = Runtime::builder().build()?;
/// let text = runtime.conjugates().make("String", &Value::Text("hello".into()))?;
/// assert_eq!(runtime.conjugates().read(text)?, Value::Text("hello".into()));
/// runtime.conjugates().give_back(text);
/// assert!(runtime.conjugates().is_expired(text));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Conjugates<'a>(pub(super) &'a Runtime);

impl Conjugates<'_> {
    /// Returns the existing black conjugates (values in host memory that plugin code owns), by module and type.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{Runtime, Value};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let title = runtime.conjugates().make("String", &Value::Text("Harbor".into()))?;
    /// println!("{}", runtime.conjugates().owned_values());
    /// assert_eq!(runtime.conjugates().owned_values().count(), 1);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn owned_values(&self) -> BlackReport {
        self.0.inner.core.owned_values.report()
    }

    /// Enables or disables recording of the source location at which each black conjugate is created. Recording costs one lookup per
    /// creation, and is off by default.
    pub fn keep_sites(&self, keeps: bool) {
        self.0.inner.core.owned_values.keep_sites(keeps);
    }

    /// Borrows the value of a property until the innermost call into a module returns.
    ///
    /// # Errors
    /// Fails if the object is destroyed or has no such property, or if no call into a module is in progress.
    pub fn borrow(&self, object: ObjectHandle, property: &str) -> Result<AnyConjugate, Error> {
        self.0.objects().property(object, property)?;
        Ok(AnyConjugate(conjugates::borrow_property(&self.0.inner.core, object, property)?))
    }

    /// Creates a value that the host owns, for example of the type `Array(f64)` or `Map(Name, String)`.
    ///
    /// # Errors
    /// Fails if the type does not exist or has no conjugates, or if the value does not match the type.
    pub fn make(&self, ty: &str, value: &Value) -> Result<AnyConjugate, Error> {
        let (core, ty) = (&self.0.inner.core, self.0.types().property_type(ty)?);
        core.world.check_objects(&ty, value, || format!("a new value of {ty}"))?;
        let mut own = OwnedValue::initial(ty);
        own.write(value).map_err(|error| CallError::other(error.to_string()))?;
        self.keep(own)
    }

    /// Copies the value of any conjugate to a new value that the host owns.
    ///
    /// # Errors
    /// Fails if the conjugate has expired.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{Runtime, Value};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let title = runtime.conjugates().make("String", &Value::Text("Harbor".into()))?;
    /// let draft = runtime.conjugates().copy(title)?;
    /// runtime.conjugates().write(draft, &Value::Text("Old harbor".into()))?;
    /// assert_eq!(runtime.conjugates().read(title)?, Value::Text("Harbor".into()));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn copy(&self, conjugate: AnyConjugate) -> Result<AnyConjugate, Error> {
        self.keep(conjugates::copy(&self.0.inner.core, conjugate.0)?.0)
    }

    /// Releases a black conjugate that the host owns. Has no effect on released and red conjugates. Also has no effect on black conjugates
    /// that plugin code owns, because only the owner can release a conjugate.
    pub fn give_back(&self, black: AnyConjugate) {
        let (owned_values, black) = (&self.0.inner.core.owned_values, BlackHandle(black.0.0));
        match owned_values.owner(black) == Some(ModuleId::HOST) {
            // A slice of the value may be borrowed now, so the next safe point drops the value.
            true if self.0.inner.core.world.slices.are_out() => owned_values.drops.leave(black),
            true => owned_values.dispose(black),
            false => {}
        }
    }

    /// Returns color, kind, age and expiry of a conjugate.
    ///
    /// # Errors
    /// Fails if no conjugate ever had this handle.
    pub fn info(&self, conjugate: AnyConjugate) -> Result<ConjugateInfo, Error> {
        let state = conjugates::state(&self.0.inner.core, conjugate.0)?;
        Ok(ConjugateInfo {
            color: state.color,
            kind: state.facts.kind,
            is_expired: state.is_expired,
            age: state.facts.age.at_least,
            is_exact: state.facts.age.is_exact,
        })
    }

    /// Returns `true` if the conjugate has expired, or if no conjugate ever had this handle.
    pub fn is_expired(&self, conjugate: AnyConjugate) -> bool {
        self.info(conjugate).map_or(true, |info| info.is_expired)
    }

    /// Reads the value of a conjugate.
    ///
    /// # Errors
    /// Fails if the conjugate has expired. The error contains the kind and age of the conjugate.
    pub fn read(&self, conjugate: AnyConjugate) -> Result<Value, Error> {
        Ok(conjugates::copy(&self.0.inner.core, conjugate.0)?.0.read())
    }

    /// Overwrites the value of a conjugate.
    ///
    /// # Errors
    /// Fails if the conjugate has expired, the owner of the value cannot currently be written, or `value` does not match the type.
    pub fn write(&self, conjugate: AnyConjugate, value: &Value) -> Result<(), Error> {
        Ok(conjugates::write(&self.0.inner.core, conjugate.0, value)?)
    }

    /// Returns the color of an object's plugin part. Returns `None` if the plugin part has expired or does not exist.
    pub fn color_of(&self, object: ObjectHandle) -> Option<Color> {
        let word = self.0.inner.core.world.objects.conjugate(object)?;
        self.0.inner.core.pairs.color(ConjugateKey::from_word(word)?)
    }

    fn keep(&self, value: OwnedValue) -> Result<AnyConjugate, Error> {
        let (module, number) = (ModuleId::HOST, TypeNumber::NONE);
        let black = self.0.inner.core.owned_values.make(module, number, value, None, Instant::now())?;
        Ok(AnyConjugate(black.into()))
    }
}
