//! Results of steps and reports, as the model predicts them and as `drive.rs` reads them from the host.

use crate::program::{Lib, Op};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    Name,
    Unloading,
    NotFound,
    Occupied,
    WrongName,
    /// A resolver failed or panicked, or its own request was refused.
    Resolver,
    Foreign,
    Pinned,
    Order,
    Main,
    NoFunction,
    /// The requested load is already in progress. On a single thread, only a resolver can cause this refusal.
    Cycle,
}

/// Identity of a generation in the host: index and generation. The Default is 0, 1.
pub(crate) type Id = (u64, u64);

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// The step had no object to use.
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

/// Expected report about a leaving generation.
pub(crate) enum UnloadOutcome {
    Ends,
    /// The generation is held; its report lists at least this many holders of each kind.
    Held(Named),
    /// The design leaves the outcome open.
    Open,
}

/// Holders that a report must list.
#[derive(Clone, Default, Debug)]
pub(crate) struct Named {
    pub(crate) scopes: usize,
    pub(crate) borrows: usize,
    pub(crate) calls: usize,
    /// Titles of contexts whose modules depend on the generation.
    pub(crate) dependents: Vec<String>,
}

/// State of one listed generation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Listed {
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) is_alive: bool,
    pub(crate) is_parked: bool,
    /// Modules, dependencies first.
    pub(crate) modules: Vec<Lib>,
}

/// Checks that the outcome is possible for the step under any interleaving of other threads.
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
