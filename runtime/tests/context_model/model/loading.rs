//! Models loads and replacements: each loads a library with the modules that it needs, or is refused. `model.rs` contains the state.

use std::collections::BTreeMap;

use super::{Edge, Found, Gen, Generation, Life, Model, Resolver};
use crate::outcome::{Outcome, Refusal};
use crate::program::{Answer, Lib, Module, Op};

/// Reason to end a prediction early.
enum Stop {
    Refused(&'static [Refusal]),
    /// The design does not define the outcome.
    Open,
}

/// Kind of operation that a thread performs on a module for a generation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Work {
    Searching,
    /// Load of a module with its dependencies.
    Loading,
}

/// Search or load in progress on a thread. A chain lists nested operations, the outermost operation first.
type InProgress = (Gen, Module, Work);

/// Begins a search or a load of a module. A search is refused if a search or a load of the module is in progress. A load is refused only
/// inside a load of the module, because a search may end in a load.
fn begin(chain: &mut Vec<InProgress>, to: Gen, module: Module, work: Work) -> Result<(), Stop> {
    let is_cycle = |(other, name, outer): &InProgress| {
        (*other, *name) == (to, module) && (work == Work::Searching || *outer == Work::Loading)
    };
    if chain.iter().any(is_cycle) {
        return Err(Stop::Refused(&[Refusal::Cycle]));
    }
    chain.push((to, module, work));
    Ok(())
}

impl Model {
    /// Returns the outcomes that a load or a replacement may have.
    pub(super) fn bring(&mut self, thread: usize, op: Op) -> Vec<Outcome> {
        let context = match op {
            Op::LoadDefault(lib) => return vec![self.load_default(lib)],
            Op::Load(name, ..) | Op::Replace(name, _) | Op::LoadName(name, _) => self.expect_handle(thread, name),
            _ => unreachable!("only these bring modules in"),
        };
        let Some(current) = self.contexts[context].current else {
            return vec![Outcome::Refused(Refusal::Unloading)];
        };
        if self.is_open {
            return Vec::new();
        }
        let chain = &mut Vec::new();
        let loaded = match op {
            Op::Load(_, lib, _) => self.load(current, lib, chain),
            Op::LoadName(_, module) => self.load_name(current, module, chain),
            Op::Replace(_, lib) => {
                let next = self.gens.len();
                let number = self.gens[current].number + 1;
                let life = Life::Alive;
                let (own, borrowed) = (vec![], BTreeMap::new());
                self.gens.push(Generation { context, number, life, own, borrowed, is_leaked: false });
                let loaded = self.load(next, lib, chain);
                match loaded {
                    Ok(_) => {
                        self.gens[current].life = Life::Unloading;
                        self.contexts[context].current = Some(next);
                        self.contexts[context].newest = next;
                        return vec![Outcome::Done];
                    }
                    // The failed generation was never visible. The next generation therefore reuses its number.
                    Err(_) => (self.gens[next].life, self.gens[next].number) = (Life::Dead, 0),
                }
                loaded
            }
            _ => unreachable!("only these bring modules in"),
        };
        match loaded {
            Ok(Found { owner, lib }) => {
                vec![Outcome::Loaded { owner: owner.map_or((0, 1), |owner| self.id(owner)), lib }]
            }
            Err(Stop::Refused(reasons)) => reasons.iter().map(|reason| Outcome::Refused(*reason)).collect(),
            Err(Stop::Open) => {
                self.is_open = true;
                Vec::new()
            }
        }
    }

    fn load_default(&mut self, lib: Lib) -> Outcome {
        let has = |module: Module| self.default.iter().copied().find(|known| known.module() == module);
        match has(lib.module()) {
            Some(known) if known == lib => return Outcome::Loaded { owner: (0, 1), lib },
            Some(_) => return Outcome::Refused(Refusal::Occupied),
            None => {}
        }
        if lib.needs().is_some_and(|needed| has(needed).is_none()) {
            return Outcome::Refused(Refusal::NotFound);
        }
        self.default.push(lib);
        Outcome::Loaded { owner: (0, 1), lib }
    }

    fn load_name(&mut self, to: Gen, module: Module, chain: &mut Vec<InProgress>) -> Result<Found, Stop> {
        match self.search(to, module, chain)? {
            Ok(found) => Ok(found),
            Err(lib) => self.load(to, lib, chain),
        }
    }

    /// Loads the library with its dependencies. If one of these loads is refused, none of the modules is loaded.
    fn load(&mut self, to: Gen, lib: Lib, chain: &mut Vec<InProgress>) -> Result<Found, Stop> {
        match self.has(to, lib.module()) {
            Some(known) if known.lib == lib => return Ok(known),
            Some(_) => return Err(Stop::Refused(&[Refusal::Occupied])),
            None => {}
        }
        let depth = chain.len();
        begin(chain, to, lib.module(), Work::Loading)?;
        let (mut libs, mut present, mut at) = (vec![lib], Vec::<Found>::new(), 0);
        while at < libs.len() {
            if at > 0 {
                begin(chain, to, libs[at].module(), Work::Loading)?;
            }
            if let Some(needed) = libs[at].needs()
                && !libs.iter().any(|lib| lib.module() == needed)
                && !present.iter().any(|found| found.lib.module() == needed)
            {
                match self.search(to, needed, chain)? {
                    Ok(found) => present.push(found),
                    Err(lib) => libs.push(lib),
                }
            }
            chain.truncate(depth + 1);
            at += 1;
        }
        chain.truncate(depth);
        if libs.len() == 2 && libs.iter().all(|lib| lib.needs().is_some()) {
            return Err(Stop::Refused(&[Refusal::Order]));
        }
        let owners: Vec<_> = present.iter().filter_map(|found| found.owner).filter(|owner| *owner != to).collect();
        if owners.iter().any(|owner| self.gens[*owner].life != Life::Alive) {
            // The owner of the borrowed module has begun to unload. The design does not specify whether further modules may depend on it.
            return Err(Stop::Open);
        }
        if libs.contains(&Lib::ReportsPanics) {
            return Err(Stop::Refused(&[Refusal::Main]));
        }
        self.edges.extend(owners.into_iter().map(|owner| Edge { from: to, to: owner, is_needed: true }));
        self.gens[to].own.extend(libs.iter().rev());
        Ok(Found { owner: Some(to), lib })
    }

    /// Finds the module if it is loaded, otherwise the library to load.
    fn search(&mut self, to: Gen, module: Module, chain: &mut Vec<InProgress>) -> Result<Result<Found, Lib>, Stop> {
        if let Some(found) = self.has(to, module) {
            return Ok(Ok(found));
        }
        let depth = chain.len();
        begin(chain, to, module, Work::Searching)?;
        let found = self.run_resolvers(to, module, chain);
        chain.truncate(depth);
        found
    }

    fn run_resolvers(
        &mut self,
        to: Gen,
        module: Module,
        chain: &mut Vec<InProgress>,
    ) -> Result<Result<Found, Lib>, Stop> {
        let context = &self.contexts[self.gens[to].context];
        let (resolver, handlers) = (context.resolver.clone(), context.handlers.clone());
        if let Some(answer) =
            resolver.map(|resolver| self.run_resolver(to, &resolver, module, chain)).transpose()?.flatten()
        {
            return Ok(answer);
        }
        if let Some(lib) = self.default.iter().find(|lib| lib.module() == module) {
            return Ok(Ok(Found { owner: None, lib: *lib }));
        }
        for resolver in handlers {
            if let Some(answer) = self.run_resolver(to, &resolver, module, chain)? {
                return Ok(answer);
            }
        }
        Err(Stop::Refused(&[Refusal::NotFound]))
    }

    fn run_resolver(
        &mut self,
        to: Gen,
        resolver: &Resolver,
        module: Module,
        chain: &mut Vec<InProgress>,
    ) -> Result<Option<Result<Found, Lib>>, Stop> {
        let found = match resolver.answer {
            Answer::Nothing => return Ok(None),
            Answer::File(build) => return Ok(Some(Err(Lib::of(module, build)))),
            Answer::WrongName => return Err(Stop::Refused(&[Refusal::WrongName])),
            Answer::Fails | Answer::Panics => return Err(Stop::Refused(&[Refusal::Resolver])),
            Answer::Offer(name) => {
                let lender = self.living(name).and_then(|context| self.contexts[context].current);
                lender.and_then(|lender| self.own_of(lender, module).map(|lib| Found { owner: Some(lender), lib }))
            }
            Answer::OfferKept(_) => resolver.kept.iter().copied().find(|found| found.lib.module() == module),
            Answer::LoadFrom(name) => {
                let Some(context) = self.living(name) else { return Ok(None) };
                let current = self.contexts[context].current.expect("alive");
                let depth = chain.len();
                let found = self.load_name(current, module, chain);
                chain.truncate(depth);
                Some(found.map_err(|stop| match stop {
                    Stop::Refused(_) => Stop::Refused(&[Refusal::Resolver]),
                    Stop::Open => Stop::Open,
                })?)
            }
        };
        let Some(found) = found else { return Ok(None) };
        if let Some(owner) = found.owner.filter(|owner| *owner != to) {
            if self.gens[owner].life != Life::Alive {
                return Err(Stop::Refused(&[Refusal::Unloading, Refusal::Foreign]));
            }
            self.edges.push(Edge { from: to, to: owner, is_needed: false });
        }
        self.gens[to].borrowed.insert(module, found);
        Ok(Some(Ok(found)))
    }
}
