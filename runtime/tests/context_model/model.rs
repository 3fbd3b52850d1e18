//! Models load contexts as the design defines them, without the runtime: names, generations, holders, lenders, and their consequences.
//! `program.rs` defines the steps. `drive.rs` executes the steps and compares their outcomes.
//!
//! A generation is alive, unloading, parked or dead. An unloading generation is *held* if the model contains a holder: the generation must
//! then exist. The generation *may be held* if it has lent a module to a context whose modules do not need this module. Otherwise the
//! generation must end, at an unspecified moment.

mod loading;

use std::collections::BTreeMap;

use crate::outcome::{Id, Listed, Named, Outcome, Refusal, UnloadOutcome};
use crate::program::{Answer, LETTERS, Lib, Module, Op};

/// Index of a generation in the model.
type Gen = usize;

/// State of a generation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Life {
    Alive,
    Unloading,
    Parked,
    Dead,
}

#[derive(Clone, Debug)]
struct Generation {
    context: usize,
    number: u64,
    life: Life,
    /// Modules that the generation owns. Dependencies precede their dependents.
    own: Vec<Lib>,
    /// Modules from other contexts that a resolver has returned for this generation.
    borrowed: BTreeMap<Module, Found>,
    /// True if the generation was parked while held, without own modules. Its lenders then cannot end.
    is_leaked: bool,
}

/// Loaded module with the generation that owns it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Found {
    /// Generation that owns the module, or `None` for the Default.
    owner: Option<Gen>,
    lib: Lib,
}

#[derive(Clone, Debug)]
struct Resolver {
    answer: Answer,
    /// Modules that the lender had when the resolver was set.
    kept: Vec<Found>,
}

#[derive(Clone, Debug)]
struct Context {
    name: usize,
    /// Index that the host has assigned to the context.
    index: u64,
    handles: usize,
    current: Option<Gen>,
    newest: Gen,
    resolver: Option<Resolver>,
    handlers: Vec<Resolver>,
}

/// Kind of a holder: an object of a thread that keeps a generation alive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Scope that the thread has entered, with the thread's previous scope.
    Scope {
        before: Option<Gen>,
    },
    /// Future that runs in a scope.
    Task,
    /// Address of a function in this library.
    Pointer(Lib),
    Call,
}

#[derive(Clone, Copy, Debug)]
struct Holder {
    /// Generation that the holder keeps alive, or `None` for the Default.
    held: Option<Gen>,
    kind: Kind,
}

/// Function that was looked up by name. Its target does not change while its generation is alive.
#[derive(Clone, Copy, Debug)]
struct Function {
    context: usize,
    module: Module,
    /// Generation in which the function was looked up, and the module that contains the function.
    bound: Option<(Gen, Found)>,
}

#[derive(Clone, Default, Debug)]
struct Thread {
    /// Contexts to which this thread has handles. The oldest handle is first.
    handles: Vec<usize>,
    functions: Vec<Function>,
    holders: Vec<Holder>,
    /// Generation of the current scope.
    here: Option<Gen>,
}

/// Dependency of one generation on a module that another generation owns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Edge {
    from: Gen,
    to: Gen,
    /// True if a module of `from` needs the module of `to`.
    is_needed: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Model {
    contexts: Vec<Context>,
    gens: Vec<Generation>,
    edges: Vec<Edge>,
    threads: Vec<Thread>,
    default: Vec<Lib>,
    /// True if the design does not define the outcome of a step. From then on, only the invariants are compared.
    is_open: bool,
}

impl Model {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            contexts: Vec::new(),
            gens: Vec::new(),
            edges: Vec::new(),
            threads: vec![Thread::default(); threads],
            default: Vec::new(),
            is_open: false,
        }
    }

    pub(crate) fn has_handle(&self, thread: usize, name: usize) -> bool {
        self.handle(thread, name).is_some()
    }

    /// Compares the outcome of a step with the model and updates the model.
    ///
    /// # Errors
    /// Returns a description of the expected outcomes.
    pub(crate) fn check(&mut self, thread: usize, op: Op, outcome: &Outcome) -> Result<(), String> {
        if *outcome == Outcome::Skipped {
            return Ok(());
        }
        let expected = self.step(thread, op, outcome);
        match expected.is_empty() || expected.contains(outcome) {
            true => Ok(()),
            false => Err(format!("{op:?} of thread {thread} came to {outcome:?}, and should to {expected:?}")),
        }
    }

    /// Executes the step in the model and returns the possible outcomes. An empty list permits any outcome.
    fn step(&mut self, thread: usize, op: Op, outcome: &Outcome) -> Vec<Outcome> {
        match op {
            Op::Create(name) => self.create(thread, name, outcome),
            Op::Find(name) => match self.living(name) {
                Some(context) => {
                    self.contexts[context].handles += 1;
                    self.threads[thread].handles.push(context);
                    vec![Outcome::Handle(self.contexts[context].index)]
                }
                None => vec![Outcome::Missing],
            },
            Op::Drop(name) => {
                let handle_index = self.handle_index(thread, name).expect("the step was taken");
                let context = self.threads[thread].handles.remove(handle_index);
                self.contexts[context].handles -= 1;
                if self.contexts[context].handles == 0 {
                    self.unload(context);
                }
                vec![Outcome::Done]
            }
            Op::Load(..) | Op::LoadName(..) | Op::LoadDefault(_) | Op::Replace(..) => self.bring(thread, op),
            Op::SetResolver(name, answer) => {
                let (context, resolver) = (self.expect_handle(thread, name), self.resolver(answer));
                self.contexts[context].resolver = Some(resolver);
                vec![Outcome::Done]
            }
            Op::AddHandler(name, answer) => {
                let (context, resolver) = (self.expect_handle(thread, name), self.resolver(answer));
                self.contexts[context].handlers.push(resolver);
                vec![Outcome::Done]
            }
            Op::Function(name, module) => {
                let context = self.expect_handle(thread, name);
                let found = self.offers(context, module);
                if *outcome == Outcome::Done {
                    let bound = self.contexts[context].current.zip(found.ok());
                    self.threads[thread].functions.push(Function { context, module, bound });
                }
                vec![found.map_or_else(Outcome::Refused, |_| Outcome::Done)]
            }
            Op::Call(at) => {
                let functions = &self.threads[thread].functions;
                let at = at % functions.len();
                let Function { context, module, bound } = functions[at];
                let current = self.contexts[context].current;
                if current.is_some()
                    && bound.map(|(generation, _)| generation) != current
                    && self.is_unknown(context, module)
                {
                    return Vec::new();
                }
                let found = match bound {
                    Some((generation, found)) if Some(generation) == current => Ok(found),
                    _ => self.offers(context, module),
                };
                if let (Some(current), Ok(found)) = (current, found) {
                    self.threads[thread].functions[at].bound = Some((current, found));
                }
                vec![match found {
                    Ok(found) => Outcome::Number(found.lib.tag()),
                    Err(refusal) => Outcome::Refused(refusal),
                }]
            }
            Op::Pointer(name, module) => {
                let context = self.expect_handle(thread, name);
                let found = self.offers(context, module);
                if let (Outcome::Done, Ok(found)) = (outcome, found) {
                    let held = self.holds(context, found);
                    self.threads[thread].holders.push(Holder { held, kind: Kind::Pointer(found.lib) });
                }
                vec![found.map_or_else(Outcome::Refused, |_| Outcome::Done)]
            }
            Op::BeginCall(name) => {
                let context = self.expect_handle(thread, name);
                let found = self.offers(context, Module::Reports);
                if let (Outcome::Done, Ok(found)) = (outcome, found) {
                    let held = self.holds(context, found);
                    self.threads[thread].holders.push(Holder { held, kind: Kind::Call });
                }
                vec![found.map_or_else(Outcome::Refused, |_| Outcome::Done)]
            }
            Op::Enter(name) | Op::Task(name) => {
                let context = self.expect_handle(thread, name);
                let Some(current) = self.contexts[context].current else {
                    return vec![Outcome::Refused(Refusal::Unloading)];
                };
                match op {
                    Op::Enter(_) => {
                        let before = self.threads[thread].here.replace(current);
                        self.hold(thread, context, Kind::Scope { before });
                    }
                    _ => self.hold(thread, context, Kind::Task),
                }
                vec![Outcome::Done]
            }
            Op::Use(at) => self.expect_of_use(thread, at),
            Op::Release(at) => {
                let holders = &mut self.threads[thread].holders;
                let at = at % holders.len();
                if let Kind::Scope { before } = holders.remove(at).kind {
                    self.threads[thread].here = before;
                }
                vec![Outcome::Done]
            }
            Op::Unload(name) => {
                let context = self.expect_handle(thread, name);
                self.unload(context);
                vec![Outcome::Done]
            }
            Op::Park(_) | Op::Poll(_) | Op::Wait(_) => vec![Outcome::Done],
        }
    }

    fn create(&mut self, thread: usize, name: usize, outcome: &Outcome) -> Vec<Outcome> {
        let index = 2 + self.contexts.len() as u64;
        let last =
            self.contexts.iter().filter(|context| context.name == name).map(|context| context.newest).next_back();
        let life = last.map_or(Life::Dead, |last| self.gens[last].life);
        let (is_held, may_be_held) = last.map_or((false, false), |last| (self.is_held(last), self.may_be_held(last)));
        let expected = match life {
            Life::Dead | Life::Parked => vec![Outcome::Handle(index)],
            Life::Unloading if !is_held => vec![Outcome::Handle(index), Outcome::Refused(Refusal::Name)],
            Life::Alive | Life::Unloading => vec![Outcome::Refused(Refusal::Name)],
        };
        if let Outcome::Handle(_) = outcome {
            if let Some(last) = last.filter(|_| life == Life::Unloading && !may_be_held) {
                self.gens[last].life = Life::Dead;
            }
            let first = self.gens.len();
            let context = self.contexts.len();
            self.gens.push(Generation {
                context,
                number: 1,
                life: Life::Alive,
                own: vec![],
                borrowed: BTreeMap::new(),
                is_leaked: false,
            });
            self.contexts.push(Context {
                name,
                index,
                handles: 1,
                current: Some(first),
                newest: first,
                resolver: None,
                handlers: Vec::new(),
            });
            self.threads[thread].handles.push(context);
        }
        expected
    }

    fn expect_of_use(&self, thread: usize, at: usize) -> Vec<Outcome> {
        let holders = &self.threads[thread].holders;
        let Holder { held, kind } = holders[at % holders.len()];
        match kind {
            Kind::Pointer(lib) => vec![Outcome::Number(lib.tag())],
            Kind::Call => vec![Outcome::Done],
            Kind::Task => vec![Outcome::Here(held.map(|held| self.id(held)))],
            Kind::Scope { .. } => match self.threads[thread].here {
                None => vec![Outcome::Here(None)],
                Some(here) => {
                    let mut expected = vec![Outcome::Here(Some(self.id(here)))];
                    let is_there = self.gens[here].life == Life::Alive || self.is_held(here);
                    expected.extend((!is_there).then_some(Outcome::Here(None)));
                    expected
                }
            },
        }
    }

    /// Returns true if the model cannot predict the outcome of the step.
    pub(crate) fn is_left_out(&self, thread: usize, op: Op) -> bool {
        let context = |name| self.handle(thread, name);
        match op {
            Op::Function(name, module) | Op::Pointer(name, module) => {
                context(name).is_some_and(|context| self.is_unknown(context, module))
            }
            Op::BeginCall(name) => context(name).is_some_and(|context| self.is_unknown(context, Module::Reports)),
            _ => false,
        }
    }

    /// Compares the contexts that the host lists with the required and permitted contexts.
    ///
    /// # Errors
    /// Returns a description of a missing, surplus or differing context.
    pub(crate) fn compare(&mut self, listed: &[Listed]) -> Result<(), String> {
        for at in 0..self.gens.len() {
            let (id, life) = (self.id(at), self.gens[at].life);
            let found = listed.iter().find(|listed| listed.id == id);
            if self.is_open && found.is_some_and(|found| found.is_alive) {
                self.gens[at].own = found.map(|found| found.modules.clone()).unwrap_or_default();
            }
            let title = format!("{} {id:?}, which is {life:?}", self.title(at));
            match (life, found) {
                (Life::Dead, Some(found)) => return Err(format!("{title}, is listed: {found:?}")),
                (Life::Alive | Life::Parked, None) => return Err(format!("{title}, is not listed")),
                (Life::Unloading, None) if self.is_held(at) => return Err(format!("{title} and held, is not listed")),
                (_, None) => {}
                (life, Some(found)) => {
                    let own = &self.gens[at].own;
                    let is_right = found.is_alive == (life == Life::Alive)
                        && found.is_parked == (life == Life::Parked)
                        && found.name == LETTERS[self.contexts[self.gens[at].context].name]
                        && found.modules == *own;
                    if !is_right {
                        return Err(format!("{title}, is listed as {found:?}, and has {own:?}"));
                    }
                }
            }
        }
        let is_known = |listed: &Listed| {
            listed.id == (0, 1) && listed.modules == self.default
                || (0..self.gens.len()).any(|at| self.id(at) == listed.id)
        };
        match listed.iter().find(|listed| !is_known(listed)) {
            Some(listed) => Err(format!("unexpected context {listed:?}")),
            None => Ok(()),
        }
    }

    /// Marks the unloading generations of a context: as parked if the host still lists them, otherwise as dead.
    ///
    /// # Errors
    /// Returns a description of a held generation that is not parked.
    pub(crate) fn was_parked(&mut self, thread: usize, name: usize, listed: &[Listed]) -> Result<(), String> {
        let context = self.expect_handle(thread, name);
        for at in 0..self.gens.len() {
            if self.gens[at].context != context || self.gens[at].life != Life::Unloading {
                continue;
            }
            let found = listed.iter().find(|listed| listed.id == self.id(at));
            let is_held = self.is_held(at);
            self.gens[at].life = match found {
                Some(found) if found.is_parked => Life::Parked,
                Some(found) => return Err(format!("{} was parked but is {found:?}", self.title(at))),
                // A generation without modules has no images to park.
                None if is_held && !self.gens[at].own.is_empty() => {
                    return Err(format!("{} was held and parked but has ended", self.title(at)));
                }
                None => {
                    self.gens[at].is_leaked = is_held;
                    Life::Dead
                }
            };
        }
        Ok(())
    }

    /// Returns the unloading generations of a context, each with the predicted outcome. The key is the generation's number in the host.
    pub(crate) fn unload_outcomes(&self, thread: usize, name: usize) -> Vec<(u64, UnloadOutcome)> {
        let context = self.expect_handle(thread, name);
        let unloading = |at: &Gen| self.gens[*at].context == context && self.gens[*at].life == Life::Unloading;
        (0..self.gens.len()).filter(unloading).map(|at| (self.gens[at].number, self.unload_outcome(at))).collect()
    }

    fn unload_outcome(&self, at: Gen) -> UnloadOutcome {
        if self.is_held(at) {
            return UnloadOutcome::Held(self.named(at));
        }
        if self.may_be_held(at) || self.is_open { UnloadOutcome::Open } else { UnloadOutcome::Ends }
    }

    fn named(&self, at: Gen) -> Named {
        let mut named = Named::default();
        for holder in self.threads.iter().flat_map(|thread| &thread.holders).filter(|holder| holder.held == Some(at)) {
            match holder.kind {
                Kind::Scope { .. } | Kind::Task => named.scopes += 1,
                Kind::Pointer(_) => named.borrows += 1,
                Kind::Call => named.calls += 1,
            }
        }
        let keeps = |edge: &&Edge| edge.to == at && edge.is_needed && self.keeps(edge.from);
        named.dependents = self.edges.iter().filter(keeps).map(|edge| self.title(edge.from)).collect();
        named
    }

    /// Returns true if the release of the last holder must end every context of the program.
    pub(crate) fn all_end(&self) -> bool {
        // If the outcome of a load is undefined, the model does not know all lenders of a generation.
        let has_unknown_lenders = self.is_open && self.gens.iter().any(|generation| generation.is_leaked);
        !has_unknown_lenders
            && (0..self.gens.len()).all(|at| self.gens[at].life != Life::Unloading || !self.may_be_held(at))
    }

    /// Returns the titles of contexts that remain after a shutdown, each with the minimum and maximum number of its remaining generations.
    pub(crate) fn left(&self) -> Vec<(String, usize, usize)> {
        let unloading: Vec<_> = (0..self.gens.len()).filter(|at| self.gens[*at].life == Life::Unloading).collect();
        let counted = |at: &Gen| {
            let title = self.title(*at);
            let same: Vec<_> = unloading.iter().filter(|other| self.title(**other) == title).collect();
            let held = same.iter().filter(|other| self.is_held(***other)).count();
            (title, held, same.len())
        };
        unloading.iter().map(counted).collect()
    }

    pub(crate) fn unload_all(&mut self) {
        (0..self.contexts.len()).for_each(|context| self.unload(context));
    }

    pub(crate) fn release_all(&mut self) {
        self.threads.iter_mut().for_each(|thread| thread.holders.clear());
    }

    /// Returns true if the model knows a holder of the generation.
    fn is_held(&self, at: Gen) -> bool {
        self.held(at, true, &mut Vec::new())
    }

    /// Returns true if the generation may have a holder.
    fn may_be_held(&self, at: Gen) -> bool {
        self.held(at, false, &mut Vec::new())
    }

    /// Returns true if the generation has a holder. Generations that only hold each other do not count as holders.
    fn held(&self, at: Gen, for_sure: bool, visited: &mut Vec<Gen>) -> bool {
        if visited.contains(&at) {
            return false;
        }
        visited.push(at);
        self.threads.iter().flat_map(|thread| &thread.holders).any(|holder| holder.held == Some(at))
            || self.edges.iter().filter(|edge| edge.to == at && (edge.is_needed || !for_sure)).any(|edge| {
                match self.gens[edge.from].life {
                    Life::Alive | Life::Parked => true,
                    Life::Unloading => self.held(edge.from, for_sure, visited),
                    Life::Dead => self.gens[edge.from].is_leaked,
                }
            })
    }

    fn keeps(&self, from: Gen) -> bool {
        match self.gens[from].life {
            Life::Alive | Life::Parked => true,
            Life::Unloading => self.is_held(from),
            Life::Dead => false,
        }
    }

    fn unload(&mut self, context: usize) {
        if let Some(current) = self.contexts[context].current.take() {
            self.gens[current].life = Life::Unloading;
        }
    }

    fn hold(&mut self, thread: usize, context: usize, kind: Kind) {
        let held = self.contexts[context].current.expect("an unloading context gets no new holder");
        self.threads[thread].holders.push(Holder { held: Some(held), kind });
    }

    fn resolver(&self, answer: Answer) -> Resolver {
        let lender = match answer {
            Answer::OfferKept(name) => self.living(name).and_then(|context| self.contexts[context].current),
            _ => None,
        };
        let kept = |lender: Gen| self.gens[lender].own.iter().map(move |lib| Found { owner: Some(lender), lib: *lib });
        Resolver { answer, kept: lender.into_iter().flat_map(kept).collect() }
    }

    /// Finds the module that contains the function requested from a context.
    fn offers(&self, context: usize, module: Module) -> Result<Found, Refusal> {
        let current = self.contexts[context].current.ok_or(Refusal::Unloading)?;
        let default = self.default.iter().find(|lib| lib.module() == module);
        let in_default = default.map(|lib| Found { owner: None, lib: *lib });
        self.has(current, module).or(in_default).ok_or(Refusal::NoFunction)
    }

    /// Returns the generation that a call or pointer keeps alive: the owner of the module, or the borrower if the owner is not alive.
    fn holds(&self, context: usize, found: Found) -> Option<Gen> {
        match found.owner {
            Some(owner) if self.gens[owner].life != Life::Alive => self.contexts[context].current,
            owner => owner,
        }
    }

    /// Returns true if another context may have lent the module to this context.
    fn is_unknown(&self, context: usize, module: Module) -> bool {
        let current = self.contexts[context].current;
        self.is_open && current.is_some_and(|current| self.own_of(current, module).is_none())
    }

    fn own_of(&self, at: Gen, module: Module) -> Option<Lib> {
        self.gens[at].own.iter().copied().find(|lib| lib.module() == module)
    }

    /// Finds a module that the generation owns or has borrowed.
    fn has(&self, at: Gen, module: Module) -> Option<Found> {
        let own = self.own_of(at, module).map(|lib| Found { owner: Some(at), lib });
        own.or_else(|| self.gens[at].borrowed.get(&module).copied())
    }

    fn living(&self, name: usize) -> Option<usize> {
        (0..self.contexts.len()).find(|at| self.contexts[*at].name == name && self.contexts[*at].current.is_some())
    }

    fn handle_index(&self, thread: usize, name: usize) -> Option<usize> {
        self.threads[thread].handles.iter().rposition(|context| self.contexts[*context].name == name)
    }

    fn handle(&self, thread: usize, name: usize) -> Option<usize> {
        self.handle_index(thread, name).map(|handle_index| self.threads[thread].handles[handle_index])
    }

    fn expect_handle(&self, thread: usize, name: usize) -> usize {
        self.handle(thread, name).expect("a step is taken with a handle")
    }

    fn id(&self, at: Gen) -> Id {
        (self.contexts[self.gens[at].context].index, self.gens[at].number)
    }

    fn title(&self, at: Gen) -> String {
        format!("Slim \"{}\"", LETTERS[self.contexts[self.gens[at].context].name])
    }
}
