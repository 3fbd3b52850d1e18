//! What a host can do with values by number: lend those of its objects for the length of a call, own some itself, and
//! look at those that plugin code owns. For tools, scripts and tests: code that has the types reads and writes
//! properties.

use std::time::{Duration, Instant};

use alcedo_abi::handles::{BlackHandle, ConjugateHandle, TypeNumber};
use alcedo_abi::kinds::PropertyKind;

use super::Runtime;
use crate::border::CallError;
use crate::bridge::conjugates;
use crate::conjugate::pairs::ConjugateKey;
use crate::conjugate::{BlackReport, Color};
use crate::error::Error;
use crate::handles::{ModuleId, ObjectHandle};
use crate::object::owned::OwnedValue;
use crate::object::property::PropertyType;
use crate::object::value::Value;

/// A value by number: red, which belongs to the host and is lent for the length of a call, or black, which belongs to
/// the side that made it. Using one that has expired is an error that names its kind and age; a number is never another
/// value's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AnyConjugate(ConjugateHandle);

/// What can be read of any conjugate, be it expired or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConjugateInfo {
    /// Which side began it.
    pub color: Color,
    /// The kind of its value.
    pub kind: PropertyKind,
    /// Whether it leads to its value no more, or not now.
    pub is_expired: bool,
    /// How long ago it was made or lent, at least.
    pub age: Duration,
    /// Whether that is exact: it is, until another one has its place.
    pub is_exact: bool,
}

impl AnyConjugate {
    /// The number, as it stands in the slots of calls.
    pub fn number(self) -> u64 {
        self.0.0
    }

    /// The conjugate of a number, be there one or not.
    pub fn from_number(number: u64) -> Self {
        Self(ConjugateHandle(number))
    }
}

/// Values by number: [`Runtime::conjugates`]. Game thread only.
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
    /// The black conjugates that there are, by module and type: values in host memory that plugin code owns.
    pub fn blacks(&self) -> BlackReport {
        self.0.inner.core.blacks.report()
    }

    /// From now on it is written down where each black conjugate is made, or is not any more. It costs a look-up for each
    /// that is made, so it is off at first.
    pub fn keep_sites(&self, keeps: bool) {
        self.0.inner.core.blacks.keep_sites(keeps);
    }

    /// Lends a property until the innermost call into a module has returned.
    ///
    /// # Errors
    /// When the object is gone or has no such property, and when no such call is under way.
    pub fn lend(&self, object: ObjectHandle, property: &str) -> Result<AnyConjugate, Error> {
        self.0.objects().property(object, property)?;
        Ok(AnyConjugate(conjugates::lend_property(&self.0.inner.core, object, property, Instant::now())?))
    }

    /// Makes a value that the host owns by number, until it drops it: `Array(f64)`, `Map(Name, String)`.
    ///
    /// # Errors
    /// When there is no such type, values of it have no conjugate, or the value does not fit it.
    pub fn make(&self, ty: &str, value: &Value) -> Result<AnyConjugate, Error> {
        let core = &self.0.inner.core;
        let ty = PropertyType::parse(ty, &core.world.types)
            .map_err(|error| CallError::NotFound { message: format!("the type `{ty}`: {error}") })?;
        core.world.check_objects(&ty, value, || format!("a new value of {ty}"))?;
        let mut own = OwnedValue::initial(ty);
        own.write(value).map_err(|error| CallError::other(error.to_string()))?;
        self.keep(own)
    }

    /// A copy of the value of any conjugate, which the host owns until it drops it.
    ///
    /// # Errors
    /// When it has expired.
    pub fn copy(&self, conjugate: AnyConjugate) -> Result<AnyConjugate, Error> {
        self.keep(conjugates::copy(&self.0.inner.core, conjugate.0, Instant::now())?.0)
    }

    /// Gives a black of the host's own back. Without effect for one that is gone, for reds, and for those that plugin code
    /// owns: only that code can say when it does not use them any more.
    pub fn give_back(&self, black: AnyConjugate) {
        let (blacks, black) = (&self.0.inner.core.blacks, BlackHandle(black.0.0));
        match blacks.owner(black) == Some(ModuleId::HOST) {
            // It may be the very value that is lent: it waits for the next tick.
            true if self.0.inner.core.world.slices.are_out() => blacks.drops().leave(black),
            true => blacks.dispose(black),
            false => {}
        }
    }

    /// Color, kind and age of a conjugate, and whether it has expired.
    ///
    /// # Errors
    /// When no conjugate ever had this number.
    pub fn info(&self, conjugate: AnyConjugate) -> Result<ConjugateInfo, Error> {
        let state = conjugates::state(&self.0.inner.core, conjugate.0, Instant::now())?;
        Ok(ConjugateInfo {
            color: state.color,
            kind: state.facts.kind,
            is_expired: state.is_expired,
            age: state.facts.age.at_least(),
            is_exact: state.facts.age.is_exact(),
        })
    }

    /// Whether a conjugate leads to no value, or not now; so does one that never was.
    pub fn is_expired(&self, conjugate: AnyConjugate) -> bool {
        self.info(conjugate).map_or(true, |info| info.is_expired)
    }

    /// The value of a conjugate.
    ///
    /// # Errors
    /// When it has expired, with its kind and age.
    pub fn read(&self, conjugate: AnyConjugate) -> Result<Value, Error> {
        Ok(conjugates::copy(&self.0.inner.core, conjugate.0, Instant::now())?.0.read())
    }

    /// Overwrites the value of a conjugate.
    ///
    /// # Errors
    /// When it has expired, its owner may not be written now, or the value does not fit.
    pub fn write(&self, conjugate: AnyConjugate, value: &Value) -> Result<(), Error> {
        Ok(conjugates::write(&self.0.inner.core, conjugate.0, value, Instant::now())?)
    }

    /// Which side began the plugin part of an object; `None` for an object that has none, or whose plugin part has
    /// expired.
    pub fn color_of(&self, object: ObjectHandle) -> Option<Color> {
        let word = self.0.inner.core.world.objects.conjugate(object)?;
        self.0.inner.core.pairs.color(ConjugateKey::from_word(word)?)
    }

    fn keep(&self, value: OwnedValue) -> Result<AnyConjugate, Error> {
        let (module, number) = (ModuleId::HOST, TypeNumber::NONE);
        let black = self.0.inner.core.blacks.make(module, number, value, None, Instant::now())?;
        Ok(AnyConjugate(black.into()))
    }
}
