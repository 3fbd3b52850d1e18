//! Errors of construction. An error contains the failed step and its class, the object, and the source location.

use std::fmt;
use std::rc::Rc;

use alcedo_base::boundary::{CallError, SourcePlace};

use crate::path::short;

/// Failure of a construction step. Boxed to keep the `Result` of every construction step small.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StepError(Box<StepFacts>);

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StepFacts {
    /// Path of the class whose code failed. Set only if the hook runs code of several classes.
    pub class: Option<Rc<str>>,
    /// Error or panic message.
    pub message: String,
    /// Source location, if known.
    pub place: Option<SourcePlace>,
}

/// Failed construction. The new object and its subobjects were destroyed. CDOs that were completed before the failure remain.
///
/// # Examples
/// ```
/// use alcedo_reflect::construction::{ConstructionFailed, ConstructionStep};
///
/// let class = "/Script/Game.Lamp".to_owned();
/// let step = ConstructionStep::ClassConstructor(class.clone());
/// let failed = ConstructionFailed { class, step, object: "Lamp_1".into(), message: "no bulb".into(), place: None };
/// assert_eq!(
///     failed.to_string(),
///     "Game.Lamp was not created: class constructor of Game.Lamp (Lamp_1): \"no bulb\""
/// );
/// ```
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{} was not created: {step} ({object}): \"{message}\"{}", short(class), at(place.as_ref()))]
pub struct ConstructionFailed {
    /// Path of the requested class.
    pub class: String,
    /// Failed step and its class.
    pub step: ConstructionStep,
    /// Name of the object whose step failed. The object can be the requested object, one of its subobjects, or a required CDO.
    pub object: String,
    /// Error or panic message.
    pub message: String,
    /// Source location, if known.
    pub place: Option<SourcePlace>,
}

/// Step of a construction, with the path of its class.
///
/// # Examples
/// ```
/// use alcedo_reflect::construction::ConstructionStep;
///
/// let step = ConstructionStep::Subobject("/Script/Game.Lamp".into(), "bulb".into());
/// assert_eq!(step.to_string(), "subobject bulb of Game.Lamp");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConstructionStep {
    /// Check of the archetype.
    Archetype(String),
    /// Check of the requested name.
    Name(String),
    /// Check that the class is not abstract.
    Abstract(String),
    /// Check that an outer is specified for a contextual class.
    Contextual(String),
    /// Creation of the CDO.
    Cdo(String),
    /// Construction of the plugin part.
    RedConstructor(String),
    /// Creation of a subobject: class of the owner, name of the subobject.
    Subobject(String, String),
    /// Assignment of property defaults.
    Defaults(String),
    /// Constructor of a native class.
    NativeConstructor(String),
    /// Constructor of a dynamic class.
    ClassConstructor(String),
    /// Copy of the archetype's values.
    CopyValues(String),
    /// PostInitProperties of the plugin.
    PluginPostInit(String),
    /// PostInitProperties of a native class.
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
    /// Creates an error that has a message but neither class nor source location.
    pub fn new(message: impl Into<String>) -> Self {
        Self(Box::new(StepFacts { class: None, message: message.into(), place: None }))
    }

    /// Adds the path of the class whose code failed.
    pub fn of(mut self, class: &Rc<str>) -> Self {
        self.0.class = Some(Rc::clone(class));
        self
    }

    pub(crate) fn into_facts(self) -> StepFacts {
        *self.0
    }
}

fn at(place: Option<&SourcePlace>) -> String {
    place.map(|place| format!(" at {place}")).unwrap_or_default()
}
