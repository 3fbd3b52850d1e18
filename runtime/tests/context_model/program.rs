//! Defines the random programs: in each program, some threads perform operations on contexts with a few names. A program is plain data, so
//! it can be generated, shortened and printed without a runtime.

use std::fmt;
use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};

/// Number of names. The number is small, so that programs reuse names.
pub(crate) const NAMES: usize = 3;
pub(crate) const LETTERS: [&str; NAMES] = ["a", "b", "c"];

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Module {
    Reports,
    Figures,
}

/// Library: a build of a module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Lib {
    /// Builds 1 and 2 of `reports`, without dependencies.
    Reports1,
    Reports2,
    /// A build of `reports` that needs `figures`.
    ReportsNeeds,
    ReportsPanics,
    /// Builds 1 and 2 of `figures`, without dependencies.
    Figures1,
    Figures2,
    /// A build of `figures` that needs `reports`.
    FiguresNeeds,
}

pub(crate) const LIBS: [Lib; 7] = [
    Lib::Reports1,
    Lib::Reports2,
    Lib::ReportsNeeds,
    Lib::ReportsPanics,
    Lib::Figures1,
    Lib::Figures2,
    Lib::FiguresNeeds,
];

impl Lib {
    pub(crate) fn module(self) -> Module {
        match self {
            Self::Reports1 | Self::Reports2 | Self::ReportsNeeds | Self::ReportsPanics => Module::Reports,
            Self::Figures1 | Self::Figures2 | Self::FiguresNeeds => Module::Figures,
        }
    }

    pub(crate) fn needs(self) -> Option<Module> {
        match self {
            Self::ReportsNeeds => Some(Module::Figures),
            Self::FiguresNeeds => Some(Module::Reports),
            _ => None,
        }
    }

    /// Returns the result of the library's function `build_tag`.
    pub(crate) fn tag(self) -> u64 {
        match self {
            Self::Reports1 | Self::Figures1 => 1,
            Self::Reports2 | Self::Figures2 => 2,
            Self::ReportsNeeds | Self::ReportsPanics | Self::FiguresNeeds => 0,
        }
    }

    pub(crate) fn of(module: Module, build: Build) -> Self {
        match (module, build) {
            (Module::Reports, Build::One) => Self::Reports1,
            (Module::Reports, Build::Two) => Self::Reports2,
            (Module::Reports, Build::Needs) => Self::ReportsNeeds,
            (Module::Figures, Build::One) => Self::Figures1,
            (Module::Figures, Build::Two) => Self::Figures2,
            (Module::Figures, Build::Needs) => Self::FiguresNeeds,
        }
    }
}

/// Build that a resolver returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Build {
    One,
    Two,
    /// Build of the requested module that depends on the other module.
    Needs,
}

/// Behavior of a resolver or handler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    Nothing,
    /// Returns this build of the requested module.
    File(Build),
    WrongName,
    Fails,
    Panics,
    /// Returns a module that the living context of this name has when the request is made.
    Offer(usize),
    /// Returns a module that the context had when the resolver was set, even if the context is no longer alive.
    OfferKept(usize),
    /// Loads the module by name into the living context of this name, and returns the loaded module.
    LoadFrom(usize),
}

/// Form in which a library is passed to a load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum How {
    Path,
    Bytes,
    Reader,
}

/// Step of a thread. Most steps begin with the name of a context: an index into [`LETTERS`]. A name refers to the newest handle that this
/// thread has for the name. If the thread has no such handle, the step finds or creates the context.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    Create(usize),
    Find(usize),
    /// Drops the newest handle to this name.
    Drop(usize),
    Load(usize, Lib, How),
    LoadName(usize, Module),
    SetResolver(usize, Answer),
    AddHandler(usize, Answer),
    /// Loads a module into the Default. The module is never unloaded.
    LoadDefault(Lib),
    /// Looks up a function by name and keeps the result.
    Function(usize, Module),
    /// Calls a function that the thread has kept.
    Call(usize),
    /// Takes the address of a function. The address is a lease.
    Pointer(usize, Module),
    /// Enters a scope. The scope is a lease of this thread.
    Enter(usize),
    /// Wraps a future. The future is a lease.
    Task(usize),
    /// Begins a call on a new thread. The call is a lease until the program releases it.
    BeginCall(usize),
    /// Uses the holder with this index: calls the pointer, polls the future, or checks the context of the scope.
    Use(usize),
    /// Releases a holder of the thread.
    Release(usize),
    Unload(usize),
    Replace(usize, Lib),
    Park(usize),
    Poll(usize),
    /// Waits for the end of a context if the model predicts that end. Otherwise reads the report.
    Wait(usize),
}

impl Op {
    pub(crate) fn name(self) -> Option<usize> {
        match self {
            Self::Create(_)
            | Self::Find(_)
            | Self::LoadDefault(_)
            | Self::Call(_)
            | Self::Use(_)
            | Self::Release(_) => None,
            Self::Drop(name)
            | Self::Load(name, ..)
            | Self::LoadName(name, _)
            | Self::SetResolver(name, _)
            | Self::AddHandler(name, _)
            | Self::Function(name, _)
            | Self::Pointer(name, _)
            | Self::Enter(name)
            | Self::Task(name)
            | Self::BeginCall(name)
            | Self::Unload(name)
            | Self::Replace(name, _)
            | Self::Park(name)
            | Self::Poll(name)
            | Self::Wait(name) => Some(name),
        }
    }
}

/// End of the runtime.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    /// The program releases all holders and waits for the end of all contexts. Then it shuts the runtime down.
    ShutdownLast,
    /// The program shuts the runtime down while holders still exist.
    ShutdownFirst,
    /// The program drops the runtime without a shutdown, while holders still exist.
    DropFirst,
}

#[derive(Clone, PartialEq)]
pub(crate) struct Program {
    /// Steps, each with the number of the thread that executes it. Without a race, all steps run in this order. In a race, each thread
    /// executes its own steps in this order.
    pub(crate) ops: Vec<(usize, Op)>,
    pub(crate) threads: usize,
    /// True if the threads do not wait for each other.
    pub(crate) is_race: bool,
    /// True if a canary loads every library before the host does.
    pub(crate) has_canary: bool,
    pub(crate) ending: Ending,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ops, threads, is_race, has_canary, ending } = self;
        let mode = if *is_race { "racing" } else { "one at a time" };
        writeln!(f, "{threads} threads, {mode}, canary {has_canary}, {ending:?}")?;
        ops.iter().try_for_each(|(thread, op)| writeln!(f, "  {thread}: {op:?}"))
    }
}

fn name() -> impl Strategy<Value = usize> {
    0..NAMES
}

fn module() -> impl Strategy<Value = Module> {
    prop_oneof![2 => Just(Module::Reports), 1 => Just(Module::Figures)]
}

fn lib() -> impl Strategy<Value = Lib> {
    prop_oneof![
        3 => Just(Lib::Reports1),
        2 => Just(Lib::Reports2),
        4 => Just(Lib::ReportsNeeds),
        1 => Just(Lib::ReportsPanics),
        3 => Just(Lib::Figures1),
        1 => Just(Lib::Figures2),
        2 => Just(Lib::FiguresNeeds),
    ]
}

fn build() -> impl Strategy<Value = Build> {
    prop_oneof![3 => Just(Build::One), 1 => Just(Build::Two), 1 => Just(Build::Needs)]
}

fn answer() -> impl Strategy<Value = Answer> {
    prop_oneof![
        2 => Just(Answer::Nothing),
        4 => build().prop_map(Answer::File),
        1 => Just(Answer::WrongName),
        1 => Just(Answer::Fails),
        1 => Just(Answer::Panics),
        6 => name().prop_map(Answer::Offer),
        3 => name().prop_map(Answer::OfferKept),
        4 => name().prop_map(Answer::LoadFrom),
    ]
}

fn how() -> impl Strategy<Value = How> {
    prop_oneof![3 => Just(How::Path), 1 => Just(How::Bytes), 1 => Just(How::Reader)]
}

fn op() -> impl Strategy<Value = Op> {
    let pick = 0..8_usize;
    prop_oneof![
        6 => name().prop_map(Op::Create),
        4 => name().prop_map(Op::Find),
        5 => name().prop_map(Op::Drop),
        14 => (name(), lib(), how()).prop_map(|(name, lib, how)| Op::Load(name, lib, how)),
        8 => (name(), module()).prop_map(|(name, module)| Op::LoadName(name, module)),
        8 => (name(), answer()).prop_map(|(name, answer)| Op::SetResolver(name, answer)),
        3 => (name(), answer()).prop_map(|(name, answer)| Op::AddHandler(name, answer)),
        6 => (name(), module()).prop_map(|(name, module)| Op::Function(name, module)),
        6 => pick.clone().prop_map(Op::Call),
        5 => (name(), module()).prop_map(|(name, module)| Op::Pointer(name, module)),
        4 => name().prop_map(Op::Enter),
        2 => name().prop_map(Op::Task),
        2 => name().prop_map(Op::BeginCall),
        6 => pick.clone().prop_map(Op::Use),
        10 => pick.prop_map(Op::Release),
        7 => name().prop_map(Op::Unload),
        6 => (name(), lib()).prop_map(|(name, lib)| Op::Replace(name, lib)),
        4 => name().prop_map(Op::Poll),
        5 => name().prop_map(Op::Wait),
    ]
}

/// Generates the operations that leave images mapped until the process ends. These operations are generated rarely.
fn rare() -> impl Strategy<Value = Op> {
    let default = prop_oneof![Just(Lib::Figures1), Just(Lib::Reports1), Just(Lib::FiguresNeeds)];
    prop_oneof![default.prop_map(Op::LoadDefault), name().prop_map(Op::Park)]
}

/// Generates short sequences of steps that are useful only in a fixed order.
fn phrase() -> impl Strategy<Value = Vec<Op>> {
    let lends = prop_oneof![
        3 => name().prop_map(Answer::Offer),
        1 => name().prop_map(Answer::OfferKept),
        2 => name().prop_map(Answer::LoadFrom),
    ];
    let with_lender = move |(name, answer): (usize, Answer)| match answer {
        Answer::Offer(lender) | Answer::OfferKept(lender) | Answer::LoadFrom(lender) => vec![
            Op::Load(lender, Lib::Figures1, How::Path),
            Op::SetResolver(name, answer),
            Op::Load(name, Lib::ReportsNeeds, How::Path),
        ],
        _ => unreachable!("only these lend"),
    };
    let loaded = |name| Op::Load(name, Lib::Reports1, How::Path);
    prop_oneof![
        20 => op().prop_map(|op| vec![op]),
        4 => (name(), lends).prop_map(with_lender),
        3 => (name(), answer()).prop_map(|(name, answer)| {
            vec![Op::SetResolver(name, answer), Op::Load(name, Lib::ReportsNeeds, How::Path)]
        }),
        2 => (name(), name(), any::<bool>()).prop_map(|(name, lender, is_replaced)| {
            let leaves = if is_replaced { Op::Replace(lender, Lib::Figures2) } else { Op::Unload(lender) };
            let held = [Op::Load(lender, Lib::Figures1, How::Path), Op::Pointer(lender, Module::Figures)];
            let borrowing = [Op::SetResolver(name, Answer::OfferKept(lender)), leaves, Op::LoadName(name, Module::Figures)];
            [&held[..], &borrowing[..]].concat()
        }),
        2 => name().prop_map(move |name| vec![loaded(name), Op::Pointer(name, Module::Reports)]),
        1 => name().prop_map(move |name| vec![loaded(name), Op::BeginCall(name)]),
        2 => name().prop_map(move |name| vec![loaded(name), Op::Function(name, Module::Reports), Op::Call(0)]),
        2 => name().prop_map(|name| vec![Op::Unload(name), Op::Wait(name)]),
        1 => name().prop_map(|name| vec![Op::Unload(name), Op::Wait(name), Op::Create(name)]),
        1 => name().prop_map(|name| {
            vec![Op::Pointer(name, Module::Reports), Op::Replace(name, Lib::Reports2), Op::Wait(name)]
        }),
    ]
}

/// Generates random programs. [`Program::shorter`] shortens a program.
pub(crate) fn programs() -> impl Strategy<Value = Program> {
    let ending = prop_oneof![
        2 => Just(Ending::ShutdownLast),
        2 => Just(Ending::ShutdownFirst),
        1 => Just(Ending::DropFirst),
    ];
    let with_rare = prop_oneof![12 => phrase(), 1 => rare().prop_map(|op| vec![op])];
    let phrases = prop_oneof![
        9 => vec((0..4_usize, phrase()), 1..40),
        1 => vec((0..4_usize, with_rare), 1..40),
    ];
    (phrases, 1..=4_usize, any::<bool>(), (0..20_u8).prop_map(|throw| throw == 0), ending).prop_map(
        |(phrases, threads, is_race, has_canary, ending)| {
            let is_race = is_race && threads > 1;
            let steps =
                phrases.into_iter().flat_map(|(thread, ops)| ops.into_iter().map(move |op| (thread % threads, op)));
            Program { ops: steps.collect(), threads, is_race, has_canary, ending }
        },
    )
}

impl Program {
    /// Returns shorter variants of the program: first variants without one half, last variants without a single step.
    pub(crate) fn shorter(&self) -> Vec<Self> {
        let count = self.ops.len();
        let sizes = std::iter::successors(Some(count.div_ceil(2)), |size| (*size > 1).then_some(size / 2));
        let cuts = sizes.flat_map(|size| (0..count).step_by(size.max(1)).map(move |from| from..from + size));
        let cut = |left_out: Range<usize>| {
            let ops = self.ops.iter().enumerate().filter(|(at, _)| !left_out.contains(at)).map(|(_, step)| *step);
            Self { ops: ops.collect(), ..self.clone() }
        };
        cuts.map(cut).collect()
    }
}
