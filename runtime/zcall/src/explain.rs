//! Printable trace of a name resolution: the resolvers, their order and their responses.

use std::fmt;

use crate::boundary::CallError;
use crate::call::Implementer;

/// Trace of the resolution of one name: the responses of the protocol's resolvers.
///
/// # Examples
/// ```
/// # use std::rc::Rc;
/// # use alcedo_base::boundary::CallError;
/// # use alcedo_zcall::chain::{Answer, Origin, ResolverChain};
/// # use alcedo_zcall::name::ZCallName;
/// # use alcedo_zcall::protocol::PlainProtocol;
/// # let chain = ResolverChain::new();
/// # chain.add_protocol(Rc::new(PlainProtocol::new("db")), Origin::Host)?;
/// # let tables = |_: &ZCallName| Ok::<Answer, CallError>(Answer::declined("no such table"));
/// # chain.add("db", Origin::Host, 0, "tables", Rc::new(tables))?;
/// let explanation = chain.explain("db:/maps")?;
/// assert!(!explanation.is_found());
/// assert_eq!(explanation.steps[0].resolver, "tables");
/// println!("{explanation}");
/// # Ok::<(), CallError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Explanation {
    /// Canonical spelling of the name.
    pub name: String,
    /// Side that registered the protocol, formatted as in errors: `built in`, `the host`, or the name, version and build of a module.
    pub protocol: String,
    /// Resolvers in call order.
    pub steps: Vec<Step>,
    /// Help for unresolved names of this protocol. May be empty.
    pub help: String,
}

/// A resolver with its response.
///
/// # Examples
/// ```
/// use alcedo_zcall::explain::{Step, StepAnswer};
///
/// let (resolver, of) = ("tables".to_owned(), "the host".to_owned());
/// let step = Step { resolver, of, priority: 0, answer: StepAnswer::Declined("no such table".into()) };
/// assert_eq!(step.to_string(), "0  tables (the host): declined: no such table");
/// ```
#[derive(Clone, Debug)]
pub struct Step {
    /// Label of the resolver.
    pub resolver: String,
    /// Side that registered the resolver, formatted as in [`Explanation::protocol`].
    pub of: String,
    /// Priority. The resolver with the lowest priority is called first.
    pub priority: i32,
    /// Response of the resolver.
    pub answer: StepAnswer,
}

/// Response of a resolver to a name.
///
/// # Examples
/// ```
/// use alcedo_zcall::call::Implementer;
/// use alcedo_zcall::explain::StepAnswer;
///
/// let found = StepAnswer::Found { signature: "-> u64".into(), by: Implementer::Host };
/// assert_eq!(found.to_string(), "found (-> u64), implemented by the host");
/// assert_eq!(StepAnswer::Declined(String::new()).to_string(), "declined");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StepAnswer {
    /// The name resolves to a function of this resolver. The chain calls no further resolver.
    Found {
        /// Signature as a string.
        signature: String,
        /// Side that implements the function.
        by: Implementer,
    },
    /// The resolver has no function of that name. The string contains the reason, and may be empty.
    Declined(String),
    /// The name is invalid, or the resolver panicked. The chain calls no further resolver.
    Failed(CallError),
    /// The resolver was not called, because an earlier resolver returned a function or an error.
    NotCalled,
    /// The resolver was not called, because its module is suspended.
    SetAside,
}

impl Explanation {
    /// Returns `true` if a resolver has a function of that name.
    #[must_use]
    pub fn is_found(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.answer, StepAnswer::Found { .. }))
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, protocol, steps, help } = self;
        write!(f, "{name}  (protocol: {protocol})")?;
        for step in steps {
            write!(f, "\n  {step}")?;
        }
        if steps.is_empty() {
            f.write_str("\n  no resolver is registered")?;
        }
        if !self.is_found() && !help.is_empty() {
            write!(f, "\n  {help}")?;
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
            Self::NotCalled => f.write_str("not called, an earlier resolver has decided"),
            Self::SetAside => f.write_str("passed over, its module is set aside"),
        }
    }
}
