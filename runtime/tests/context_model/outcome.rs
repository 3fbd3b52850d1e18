//! Defines the outcomes of steps and reports. The model predicts the outcomes, and `drive.rs` reads them from the host.

use crate::program::{Lib, Op};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    Name,
    Unloading,
    NotFound,
    Occupied,
    WrongName,
    /// A resolver failed or panicked, or the host refused a request that the resolver made.
    Resolver,
    Foreign,
    Pinned,
    Order,
    Main,
    NoFunction,
    /// The requested load is already in progress. If the program has a single thread, only a resolver can cause this refusal.
    Cycle,
}

/// Identity of a generation in the host: index and generation. The Default has the identity (0, 1).
pub(crate) type Id = (u64, u64);

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// The step required an object that the thread does not have.
    Skipped,
    Done,
    /// Handle to the context with this index.
    Handle(u64),
    /// No living context has the name.
    Missing,
    Loaded {
        owner: Id,
        lib: Lib,
    },
    Number(u64),
    /// Context of the current scope.
    Here(Option<Id>),
    Refused(Refusal),
}

/// Expected report about the end of an unloading generation.
pub(crate) enum UnloadOutcome {
    Ends,
    /// The generation is held. Its report must list at least the holders in `Named`.
    Held(Named),
    /// The design does not define the outcome.
    Open,
}

/// Holders that a report must list.
#[derive(Clone, Default, Debug)]
pub(crate) struct Named {
    pub(crate) scopes: usize,
    pub(crate) borrows: usize,
    pub(crate) calls: usize,
    /// Titles of the contexts whose modules depend on this generation.
    pub(crate) dependents: Vec<String>,
}

/// State of a generation that the host lists.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Listed {
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) is_alive: bool,
    pub(crate) is_parked: bool,
    /// Modules, dependencies first.
    pub(crate) modules: Vec<Lib>,
}

/// Returns true if the outcome is possible when other threads execute their steps at any time.
pub(crate) fn is_possible(op: Op, outcome: &Outcome) -> bool {
    let Outcome::Refused(refusal) = outcome else { return true };
    match op {
        Op::Create(_) => *refusal == Refusal::Name,
        Op::Load(..) | Op::LoadName(..) | Op::Replace(..) => {
            !matches!(refusal, Refusal::Name | Refusal::NoFunction | Refusal::Pinned)
        }
        Op::LoadDefault(_) => matches!(refusal, Refusal::NotFound | Refusal::Occupied),
        Op::Function(..) | Op::Pointer(..) | Op::BeginCall(_) | Op::Call(_) | Op::Release(_) => {
            matches!(refusal, Refusal::Unloading | Refusal::NoFunction)
        }
        Op::Enter(_) | Op::Task(_) => *refusal == Refusal::Unloading,
        _ => false,
    }
}
