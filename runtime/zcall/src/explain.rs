//! What becomes of a name, for people: which resolvers are called, in which order, and what each says.

use std::fmt;

use crate::border::CallError;
use crate::call::Implementer;

/// What each resolver of a protocol says to a name.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The name in its one spelling.
    pub name: String,
    /// Who has registered the protocol, as errors say it: `built in`, `the host`, or a module's name, version and build.
    pub protocol: String,
    /// The resolvers, in the order in which they are called.
    pub steps: Vec<Step>,
    /// What can be done about a name of this protocol that leads nowhere; may be empty.
    pub way_out: String,
}

/// One resolver, and what it says.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its label.
    pub resolver: String,
    /// Who has registered it, as [`Explanation::protocol`].
    pub of: String,
    /// Its priority: the smallest is called first.
    pub priority: i32,
    /// What it says.
    pub answer: StepAnswer,
}

/// What a resolver says to a name.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StepAnswer {
    /// The name is this function's: no further resolver is called.
    Found {
        /// What it takes and gives, in words.
        signature: String,
        /// Who implements it.
        by: Implementer,
    },
    /// It has none of that name, and why; the reason may be empty.
    Declined(String),
    /// Something is wrong with the name, or the resolver panicked: no further resolver is called.
    Failed(CallError),
    /// One before it has decided.
    NotCalled,
    /// Its module is set aside at the moment.
    SetAside,
}

impl Explanation {
    /// Whether a resolver has a function of that name.
    #[must_use]
    pub fn is_found(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.answer, StepAnswer::Found { .. }))
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, protocol, steps, way_out } = self;
        write!(f, "{name}  (protocol: {protocol})")?;
        for step in steps {
            write!(f, "\n  {step}")?;
        }
        if steps.is_empty() {
            f.write_str("\n  no resolver is registered")?;
        }
        if !self.is_found() && !way_out.is_empty() {
            write!(f, "\n  {way_out}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resolver, of, priority, answer } = self;
        write!(f, "{priority}  {resolver} ({of}): {answer}")
    }
}

impl fmt::Display for StepAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found { signature, by } => write!(f, "found ({signature}), implemented by {by}"),
            Self::Declined(reason) if reason.is_empty() => f.write_str("declined"),
            Self::Declined(reason) => write!(f, "declined: {reason}"),
            Self::Failed(error) => write!(f, "failed: {error}"),
            Self::NotCalled => f.write_str("not called, one before it has decided"),
            Self::SetAside => f.write_str("passed over, its module is set aside"),
        }
    }
}
