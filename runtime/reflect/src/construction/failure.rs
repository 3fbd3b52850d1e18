//! Why an object was not born: which step of which class failed, for which object, and where in whose source.

use std::fmt;
use std::rc::Rc;

use alcedo_base::border::{CallError, SourcePlace};

use crate::path::short;

/// Why a hook failed. It is thin, because every step of every construction gives back that there is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StepError(Box<StepFacts>);

/// What is known of the failure of a hook.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StepFacts {
    /// Path of the class whose code it was, where the hook runs the code of several.
    pub class: Option<Rc<str>>,
    /// The sentence, or the panic's message.
    pub message: String,
    /// Where it happened, if that is known.
    pub place: Option<SourcePlace>,
}

/// An object was not born. Nothing of it is left.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{} was not born: {step} ({object}): \"{message}\"{}", short(class), at(place.as_ref()))]
pub struct ConstructionFailed {
    /// Path of the requested class.
    pub class: String,
    /// What failed, of which class.
    pub step: ConstructionStep,
    /// Name of the object it failed for: the requested one, a subobject of it or a CDO it needs.
    pub object: String,
    /// The sentence, or the panic's message.
    pub message: String,
    /// Where it happened, if that is known.
    pub place: Option<SourcePlace>,
}

/// A step of a construction. Each names the path of the class whose step it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConstructionStep {
    /// The archetype to be copied from was looked at.
    Archetype(String),
    /// The requested name was checked.
    Name(String),
    /// The class was looked at: it is abstract.
    Abstract(String),
    /// Nothing yet: the class is contextual, and no outer was named.
    Contextual(String),
    /// The CDO was requested.
    Cdo(String),
    /// The plugin part was built.
    RedConstructor(String),
    /// A subobject was made: class of the owner, name of the subobject.
    Subobject(String, String),
    /// Property defaults were set.
    Defaults(String),
    /// The constructor of a native class ran.
    NativeConstructor(String),
    /// The constructor of a dynamic class ran.
    ClassConstructor(String),
    /// The archetype's values were copied.
    CopyValues(String),
    /// PostInitProperties of the plugin ran.
    PluginPostInit(String),
    /// PostInitProperties of a native class ran.
    NativePostInit(String),
}

impl fmt::Display for ConstructionStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, class) = match self {
            Self::Archetype(class) => ("archetype", class),
            Self::Name(class) => ("name for an object", class),
            Self::Abstract(class) | Self::Contextual(class) => ("class", class),
            Self::Cdo(class) => ("class default object", class),
            Self::RedConstructor(class) => ("red constructor", class),
            Self::Subobject(class, name) => return write!(f, "subobject {name} of {}", short(class)),
            Self::Defaults(class) => ("property defaults", class),
            Self::NativeConstructor(class) => ("native constructor", class),
            Self::ClassConstructor(class) => ("class constructor", class),
            Self::CopyValues(class) => ("archetype's values for an object", class),
            Self::PluginPostInit(class) => ("PostInitProperties", class),
            Self::NativePostInit(class) => ("native PostInitProperties", class),
        };
        write!(f, "{what} of {}", short(class))
    }
}

impl From<CallError> for StepError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Panicked { message, place } => Self(Box::new(StepFacts { class: None, message, place })),
            other => Self::new(other.to_string()),
        }
    }
}

impl StepError {
    /// An error that is only a sentence.
    pub fn new(message: impl Into<String>) -> Self {
        Self(Box::new(StepFacts { class: None, message: message.into(), place: None }))
    }

    /// The same, which is known to be of this class.
    pub fn of(mut self, class: &Rc<str>) -> Self {
        self.0.class = Some(Rc::clone(class));
        self
    }

    /// What is known of it.
    pub(crate) fn into_facts(self) -> StepFacts {
        *self.0
    }
}

fn at(place: Option<&SourcePlace>) -> String {
    place.map(|place| format!(" at {place}")).unwrap_or_default()
}
