//! Results of steps and reports, as the model predicts them and as `drive.rs` reads them from the host.

use crate::program::{Lib, Op};

/// Why a step was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    Name,
    Unloading,
    NotFound,
    Occupied,
    WrongName,
    /// A resolver failed or panicked, or what it asked for was refused.
    Resolver,
    Foreign,
    Pinned,
    Order,
    Main,
    NoFunction,
    /// What is asked for is under way. On one thread only a resolver sees it.
    Ring,
}

/// A generation as the host numbers it: index, generation. The Default is 0, 1.
pub(crate) type Id = (u64, u64);

/// What a step came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// There was nothing to do it with.
    Skipped,
    Done,
    /// A handle to the context of this number.
    Handle(u64),
    /// No living context has the name.
    Nobody,
    Loaded {
        home: Id,
        lib: Lib,
    },
    Number(u64),
    /// The context whose scope it is.
    Here(Option<Id>),
    Refused(Refusal),
}

/// What the host is to say of a leaving generation.
pub(crate) enum Fate {
    /// It comes to its end.
    Ends,
    /// It is held, and its report has at least so many of each.
    Held(Named),
    /// The design does not say.
    Open,
}

/// What a report has to name.
#[derive(Clone, Default, Debug)]
pub(crate) struct Named {
    pub(crate) scopes: usize,
    pub(crate) borrows: usize,
    pub(crate) calls: usize,
    /// Titles of contexts whose modules depend on it.
    pub(crate) dependents: Vec<String>,
}

/// What is known of one generation that the host lists.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Listed {
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) is_alive: bool,
    pub(crate) is_parked: bool,
    /// Its modules, dependencies first.
    pub(crate) modules: Vec<Lib>,
}

/// Whether a step may come to this at all, whatever other threads do meanwhile.
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
