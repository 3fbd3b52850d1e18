//! How an unknown name finds its function: its protocol reads it, and the resolvers of that protocol are called one
//! after the other until one answers. This file keeps their order, and its errors list those that were called. A
//! declined name is not cached: the next lookup calls the resolvers again.

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

/// How deep lookups may nest: a resolver may look up other names to find its own.
const DEEPEST: usize = 64;

/// Resolves names of a protocol. Game thread only.
///
/// A panic in it becomes an error of the caller. It may look other names up, and add protocols and resolvers.
pub trait Resolver {
    /// What `name` stands for. A function is kept under its handle, so it is looked up once; a name that was declined
    /// is looked up again each time.
    ///
    /// # Errors
    /// The name is this resolver's, and something is wrong with it: no further resolver is called.
    fn resolve(&self, name: &ZCallName) -> Result<Answer, CallError>;
}

impl<F: Fn(&ZCallName) -> Result<Answer, CallError>> Resolver for F {
    fn resolve(&self, name: &ZCallName) -> Result<Answer, CallError> {
        self(name)
    }
}

/// What a resolver answers to a name.
#[derive(Debug)]
pub enum Answer {
    /// This function is meant.
    Function(Resolved),
    /// It has none of that name, and why: the next resolver is called. The reason may be empty.
    Declined(String),
}

impl Answer {
    /// It has none of that name: a short sentence says why.
    pub fn declined(reason: impl Into<String>) -> Self {
        Self::Declined(reason.into())
    }
}

/// Where a protocol or a resolver comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// It is built in: only the runtime adds resolvers to it, and these look up no other names.
    BuiltIn,
    /// The host has registered it.
    Host,
    /// A module has registered it, and it ends with the module: it is passed over while the module is suspended.
    Module(ModuleId),
}

impl Origin {
    /// The module it ends with; the host's own, where it ends with none.
    fn module(self) -> ModuleId {
        match self {
            Self::BuiltIn | Self::Host => ModuleId::HOST,
            Self::Module(module) => module,
        }
    }
}

/// The protocols, and for each the resolvers in the order in which they are called. Game thread only.
#[derive(Default)]
pub struct ResolverChain {
    /// In the order in which they were added. Replaced whole, so that what is running keeps the rows it began with. A word
    /// has a second row only while the module of its first is suspended.
    rows: RefCell<Rc<[Row]>>,
    /// The names of protocols that are not built in and are being looked up, outermost first.
    under_way: RefCell<Vec<ZCallName>>,
    statuses: RefCell<ModuleStatuses>,
    /// How errors name the modules.
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
    /// A chain without protocols.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a protocol, which has no resolver yet.
    ///
    /// # Errors
    /// When its word is taken, or is none; when it panics; when its module is set aside or over.
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

    /// Adds a resolver to a protocol of that origin, or one of a module to a protocol of the host: the smallest priority is
    /// called first, among equal ones the one added first. Errors name it by its label. A lookup that is running does not
    /// call it.
    ///
    /// # Errors
    /// When there is no such protocol, or it has a resolver of that label.
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
            return refuse("it has one of that label; choose another, which is how errors tell them apart".into());
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

    /// From now on errors call a module by this name, until it ends.
    pub fn set_title(&self, module: ModuleId, title: &str) {
        self.titles.borrow_mut().insert(module, title.into());
    }

    /// Passes a module's protocols and resolvers over, until it is resumed: their words and labels are free meanwhile.
    pub fn suspend(&self, module: ModuleId) {
        self.statuses.borrow_mut().suspend(module);
    }

    /// Takes a suspended module's back. End the module that was to replace it as well.
    pub fn resume(&self, module: ModuleId) {
        self.statuses.borrow_mut().resume(module);
    }

    /// The modules between these two have none.
    pub fn pass_over(&self, after: ModuleId, before: ModuleId) {
        self.statuses.borrow_mut().pass_over(after, before);
    }

    /// Forgets a module's protocols and resolvers, suspended or not. The host's own module does not end.
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
        // Letting go of a resolver may run code that comes back here.
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

    /// How errors name a module.
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

    /// Reads a name.
    ///
    /// # Errors
    /// When it is none.
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

    /// What `name` stands for: the first resolver that answers decides.
    ///
    /// # Errors
    /// [`CallError::NotFound`] with every resolver that was called and its reason, or the error of the resolver that
    /// failed; when one panics; when the name is being looked up already.
    pub fn resolve(&self, name: &ZCallName) -> Result<Resolved, CallError> {
        let Some(row) = self.row(name.protocol()) else {
            let message = format!("`{name}` leads nowhere: there is no such protocol");
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

    /// What each resolver says to `name`, in the order in which they are called, up to the one that answers. The function
    /// that is answered with is not called.
    ///
    /// # Errors
    /// When the text is no name.
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

    /// A line for each protocol that is not built in, with its resolvers, in order.
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

/// A name is being looked up until this is dropped.
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
