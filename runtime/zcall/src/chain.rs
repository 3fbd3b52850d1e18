//! Resolution of unknown names: the protocol parses a name, then the resolvers of the protocol are called in order until one
//! returns a function. Errors list the resolvers that were called. Declined names are not cached: the next lookup calls the
//! resolvers again.

use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use crate::border::{CallError, trap};
use crate::call::Resolved;
use crate::cells::RefCell;
use crate::explain::{Explanation, Step, StepAnswer};
use crate::handles::ModuleId;
use crate::module_status::{ModuleStatus, ModuleStatuses};
use crate::name::ZCallName;
use crate::protocol::{Protocol, is_word};
use crate::reader::{NameError, NameFlaw};
use crate::shown;

/// Maximum nesting of lookups: a resolver may look up other names.
const DEEPEST: usize = 64;

/// Resolves names of a protocol. Game thread only.
///
/// A panic in a resolver becomes an error of the caller. A resolver may look up other names, and add protocols and resolvers.
pub trait Resolver {
    /// Resolves `name`. A function is stored under its handle and resolved once; a declined name is resolved again at each lookup.
    ///
    /// # Errors
    /// The name belongs to this resolver and is faulty; no further resolver is called.
    fn resolve(&self, name: &ZCallName) -> Result<Answer, CallError>;
}

impl<F: Fn(&ZCallName) -> Result<Answer, CallError>> Resolver for F {
    fn resolve(&self, name: &ZCallName) -> Result<Answer, CallError> {
        self(name)
    }
}

/// Response of a resolver.
#[derive(Debug)]
pub enum Answer {
    /// The name resolves to this function.
    Function(Resolved),
    /// The resolver has no function of that name, with a reason that may be empty; the next resolver is called.
    Declined(String),
}

impl Answer {
    /// Makes [`Answer::Declined`] with a short reason.
    pub fn declined(reason: impl Into<String>) -> Self {
        Self::Declined(reason.into())
    }
}

/// Origin of a protocol or resolver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// Built in: only the runtime adds its resolvers, and these look up no other names.
    BuiltIn,
    /// Registered by the host.
    Host,
    /// Registered by a module; inactive while the module is suspended, removed when it ends.
    Module(ModuleId),
}

impl Origin {
    /// Returns the module that it ends with, or the host's own module.
    fn module(self) -> ModuleId {
        match self {
            Self::BuiltIn | Self::Host => ModuleId::HOST,
            Self::Module(module) => module,
        }
    }
}

/// Protocols with their resolvers in call order. Game thread only.
#[derive(Default)]
pub struct ResolverChain {
    /// In order of addition. Replaced as a whole, so that running lookups keep their snapshot. A protocol has two entries only
    /// while the module of the first is suspended.
    rows: RefCell<Rc<[Row]>>,
    /// Names in progress of protocols that are not built in, outermost first.
    under_way: RefCell<Vec<ZCallName>>,
    statuses: RefCell<ModuleStatuses>,
    /// Module names for errors.
    titles: RefCell<HashMap<ModuleId, Rc<str>>>,
}

#[derive(Clone)]
struct Row {
    word: Rc<str>,
    way_out: Rc<str>,
    protocol: Rc<dyn Protocol>,
    origin: Origin,
    links: Rc<[Link]>,
}

#[derive(Clone)]
struct Link {
    priority: i32,
    label: Rc<str>,
    origin: Origin,
    resolver: Rc<dyn Resolver>,
}

impl ResolverChain {
    /// Makes a chain without protocols.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a protocol without resolvers.
    ///
    /// # Errors
    /// The protocol name is taken or invalid, the protocol panics, or its module is suspended or has ended.
    pub fn add_protocol(&self, protocol: Rc<dyn Protocol>, origin: Origin) -> Result<(), CallError> {
        let texts = || Ok((Rc::<str>::from(protocol.word()), Rc::<str>::from(protocol.way_out())));
        let (word, way_out) = trap(texts)?;
        if !is_word(&word) {
            return Err(CallError::other(format!(
                "`{}` cannot be a protocol: write at most 32 lower-case letters, digits, `+`, `-` and `.`, a letter first",
                shown::line(&word)
            )));
        }
        if let Some(row) = self.row(&word) {
            let whose = match row.origin {
                Origin::BuiltIn => "it is built in".to_owned(),
                Origin::Host => "the host has registered it, and resolvers may be added to it".to_owned(),
                Origin::Module(module) => format!("{} has registered it", self.title(module)),
            };
            return Err(CallError::other(format!("the protocol `{word}` is taken: {whose}; choose another name")));
        }
        self.expect_running(origin, &word)?;
        let row = Row { word, way_out, protocol, origin, links: Rc::default() };
        let mut rows = self.rows.borrow_mut();
        *rows = rows.iter().cloned().chain([row]).collect();
        Ok(())
    }

    /// Adds a resolver to a protocol of the same origin, or a resolver of a module to a protocol of the host. The lowest priority
    /// is called first, equal priorities in order of addition. Errors refer to the resolver by its label. Running lookups do not
    /// call it.
    ///
    /// # Errors
    /// The protocol does not exist, or has a resolver with that label.
    pub fn add(
        &self,
        word: &str,
        origin: Origin,
        priority: i32,
        label: &str,
        resolver: Rc<dyn Resolver>,
    ) -> Result<(), CallError> {
        let refuse = |why: String| {
            let (word, label) = (shown::line(word), shown::line(label));
            Err(CallError::other(format!("the resolver `{label}` cannot be added to the protocol `{word}`: {why}")))
        };
        let Some(row) = self.row(word) else {
            return refuse("there is none of that name; add the protocol first".into());
        };
        match (row.origin, origin) {
            (of, by) if of == by => {}
            (Origin::Host, Origin::Module(_)) => {}
            (Origin::Module(module), _) => {
                let whose = self.title(module);
                return refuse(format!("it is {whose}'s, and ends with it; add a protocol of your own"));
            }
            (Origin::BuiltIn, _) | (Origin::Host, _) => {
                return refuse(
                    "it is built in, and its names are resolved by the runtime; add a protocol for them".into(),
                );
            }
        }
        self.expect_running(origin, label)?;
        if row.links.iter().any(|link| *link.label == *label && self.is_running(link.origin)) {
            return refuse(
                "it has a resolver of that label; choose another, since errors identify resolvers by label".into(),
            );
        }
        let at = row.links.partition_point(|link| link.priority <= priority);
        let (before, after) = row.links.split_at(at);
        let added = Link { priority, label: label.into(), origin, resolver };
        let links: Rc<[Link]> = before.iter().cloned().chain([added]).chain(after.iter().cloned()).collect();
        let mut rows = self.rows.borrow_mut();
        let with = |found: &Row| match *found.word == *word && found.origin == row.origin {
            true => Row { links: Rc::clone(&links), ..found.clone() },
            false => found.clone(),
        };
        *rows = rows.iter().map(with).collect();
        Ok(())
    }

    /// Sets the name of a module in errors, until the module ends.
    pub fn set_title(&self, module: ModuleId, title: &str) {
        self.titles.borrow_mut().insert(module, title.into());
    }

    /// Suspends the protocols and resolvers of a module until it is resumed; their names and labels are free during this.
    pub fn suspend(&self, module: ModuleId) {
        self.statuses.borrow_mut().suspend(module);
    }

    /// Resumes a suspended module. The caller must also end the module that was to replace it.
    pub fn resume(&self, module: ModuleId) {
        self.statuses.borrow_mut().resume(module);
    }

    /// Marks the modules between these two as having no entries.
    pub fn pass_over(&self, after: ModuleId, before: ModuleId) {
        self.statuses.borrow_mut().pass_over(after, before);
    }

    /// Removes the protocols and resolvers of a module, suspended or not. The host's own module does not end.
    pub fn end_module(&self, module: ModuleId) {
        if module == ModuleId::HOST {
            return;
        }
        self.statuses.borrow_mut().end(module);
        self.titles.borrow_mut().remove(&module);
        let is_its = |origin: Origin| origin == Origin::Module(module);
        let ended = {
            let mut rows = self.rows.borrow_mut();
            let has_any = |row: &Row| is_its(row.origin) || row.links.iter().any(|link| is_its(link.origin));
            if !rows.iter().any(has_any) {
                return;
            }
            let without = |row: &Row| Row {
                links: row.links.iter().filter(|link| !is_its(link.origin)).cloned().collect(),
                ..row.clone()
            };
            let left = rows.iter().filter(|row| !is_its(row.origin)).map(without).collect();
            std::mem::replace(&mut *rows, left)
        };
        // Dropping a resolver may run code that calls this chain.
        drop(ended);
    }

    fn is_running(&self, origin: Origin) -> bool {
        self.statuses.borrow().status(origin.module()) == ModuleStatus::Running
    }

    fn expect_running(&self, origin: Origin, what: &str) -> Result<(), CallError> {
        match self.is_running(origin) {
            true => Ok(()),
            false => {
                let (what, module) = (shown::line(what), self.title(origin.module()));
                let message = format!("`{what}` cannot be added: {module} is set aside or over; load it again");
                Err(CallError::other(message))
            }
        }
    }

    fn title(&self, module: ModuleId) -> String {
        let title = self.titles.borrow().get(&module).map(ToString::to_string);
        title.unwrap_or_else(|| format!("module {}", module.0))
    }

    fn whose(&self, origin: Origin) -> String {
        match origin {
            Origin::BuiltIn => "built in".to_owned(),
            Origin::Host => "the host".to_owned(),
            Origin::Module(module) => self.title(module),
        }
    }

    /// Parses a name.
    ///
    /// # Errors
    /// The string is not a valid name.
    pub fn read(&self, text: &str) -> Result<ZCallName, CallError> {
        let row = text.split_once(':').and_then(|(word, _)| self.row(word));
        match row {
            Some(row) => trap(|| Ok(ZCallName::read(text, &*row.protocol)?)),
            None => {
                let rows = Rc::clone(&self.rows.borrow());
                let running = rows.iter().filter(|row| self.is_running(row.origin));
                let words: Vec<_> = running.map(|row| format!("`{}:/`", row.word)).collect();
                let form = format!("one of {} and what it needs", words.join(", "));
                Err(NameError { text: text.to_owned(), at: 0, flaw: NameFlaw::Protocol, form }.into())
            }
        }
    }

    /// Resolves `name` with the first resolver that returns a function or an error.
    ///
    /// # Errors
    /// [`CallError::NotFound`] with all called resolvers and their reasons, or the error of the resolver that failed. Also if a
    /// resolver panics, or if the lookup of this name is already in progress.
    pub fn resolve(&self, name: &ZCallName) -> Result<Resolved, CallError> {
        let Some(row) = self.row(name.protocol()) else {
            let message = format!("`{name}` leads nowhere: no such protocol");
            return Err(CallError::NotFound { message });
        };
        let _under_way = match row.origin {
            Origin::BuiltIn => None,
            Origin::Host | Origin::Module(_) => Some(self.enter(name)?),
        };
        let mut reasons = Vec::new();
        for link in row.links.iter().filter(|link| self.is_running(link.origin)) {
            match trap(|| link.resolver.resolve(name))? {
                Answer::Function(resolved) => return Ok(resolved),
                Answer::Declined(reason) => reasons.push((Rc::clone(&link.label), reason)),
            }
        }
        Err(not_found(name, &reasons, &row.way_out))
    }

    /// Returns the response of each resolver to a name, in call order up to the deciding one. The resolved function is not called.
    ///
    /// # Errors
    /// The string is not a valid name.
    pub fn explain(&self, text: &str) -> Result<Explanation, CallError> {
        let name = self.read(text)?;
        let row = self.row(name.protocol());
        let mut steps = Vec::new();
        let mut is_decided = false;
        let _under_way = match &row {
            Some(row) if row.origin != Origin::BuiltIn => Some(self.enter(&name)?),
            _ => None,
        };
        for link in row.iter().flat_map(|row| row.links.iter()) {
            let answer = if !self.is_running(link.origin) {
                StepAnswer::SetAside
            } else if is_decided {
                StepAnswer::NotCalled
            } else {
                match trap(|| link.resolver.resolve(&name)) {
                    Ok(Answer::Function(found)) => {
                        is_decided = true;
                        StepAnswer::Found { signature: found.words().to_owned(), by: found.side }
                    }
                    Ok(Answer::Declined(reason)) => StepAnswer::Declined(reason),
                    Err(error) => {
                        is_decided = true;
                        StepAnswer::Failed(error)
                    }
                }
            };
            let (resolver, of) = (link.label.to_string(), self.whose(link.origin));
            steps.push(Step { resolver, of, priority: link.priority, answer });
        }
        let way_out = row.as_ref().map(|row| row.way_out.to_string()).unwrap_or_default();
        let protocol = row.map_or_else(String::new, |row| self.whose(row.origin));
        Ok(Explanation { name: name.to_string(), protocol, steps, way_out })
    }

    /// Returns a sorted line for each protocol that is not built in, with its resolvers.
    pub fn lines(&self) -> Vec<String> {
        let rows = Rc::clone(&self.rows.borrow());
        let others = rows.iter().filter(|row| row.origin != Origin::BuiltIn);
        let of = |origin: Origin| match origin {
            Origin::BuiltIn | Origin::Host => String::new(),
            Origin::Module(ModuleId(number)) => {
                format!(" of module {number}, {:?}", self.statuses.borrow().status(ModuleId(number)))
            }
        };
        let line = |row: &Row| {
            let labels: Vec<_> = row.links.iter().map(|link| format!("{}{}", link.label, of(link.origin))).collect();
            format!("protocol {}{} by {}", row.word, of(row.origin), labels.join(", then "))
        };
        let mut lines: Vec<_> = others.map(line).collect();
        lines.sort_unstable();
        lines
    }

    fn row(&self, word: &str) -> Option<Row> {
        let rows = Rc::clone(&self.rows.borrow());
        rows.iter().find(|row| *row.word == *word && self.is_running(row.origin)).cloned()
    }

    fn enter(&self, name: &ZCallName) -> Result<UnderWay<'_>, CallError> {
        let mut under_way = self.under_way.borrow_mut();
        if let Some(first) = under_way.iter().position(|known| known == name) {
            let chain: Vec<_> = under_way[first..].iter().chain([name]).map(ToString::to_string).collect();
            let chain = chain.join(" → ");
            return Err(CallError::other(format!(
                "names that are resolved by themselves: {chain}; answer without them"
            )));
        }
        if under_way.len() == DEEPEST {
            return Err(CallError::other(format!("`{name}` is the {DEEPEST}th name that is resolved for another")));
        }
        under_way.push(name.clone());
        Ok(UnderWay(self))
    }
}

/// Guard of a lookup in progress; ends the lookup when dropped.
struct UnderWay<'a>(&'a ResolverChain);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.under_way.borrow_mut().pop();
    }
}

impl fmt::Debug for ResolverChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = Rc::clone(&self.rows.borrow());
        let links =
            |row: &Row| row.links.iter().map(|link| (link.priority, Rc::clone(&link.label))).collect::<Vec<_>>();
        f.debug_map().entries(rows.iter().map(|row| (&row.word, links(row)))).finish()
    }
}

fn not_found(name: &ZCallName, asked: &[(Rc<str>, String)], way_out: &str) -> CallError {
    let one = |(label, reason): &(Rc<str>, String)| match &**reason {
        "" => label.to_string(),
        reason => format!("{label} (declined: {reason})"),
    };
    let asked = match asked {
        [] => "no resolver is registered".to_owned(),
        asked => format!("tried {}", asked.iter().map(one).collect::<Vec<_>>().join(", then ")),
    };
    let way_out = if way_out.is_empty() { String::new() } else { format!("; {way_out}") };
    CallError::NotFound { message: format!("`{name}` leads nowhere: {asked}{way_out}") }
}

#[cfg(test)]
pub(crate) mod tests;
