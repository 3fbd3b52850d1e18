//! Resolution of call names to functions. The protocol of a name parses the name. The chain then calls the resolvers of this protocol in
//! order until a resolver returns a function. If all resolvers decline the name, the error lists the called resolvers. Unresolved names are
//! not cached, so the next lookup of such a name calls the resolvers again.

mod lookups;

use std::fmt;
use std::rc::Rc;

use alcedo_abi::stack::StackSpan;

use crate::boundary::{CallError, catch_panics, not_found};
use crate::call::Resolved;
use crate::cells::RefCell;
use crate::escape;
use crate::explain::{Explanation, Step, StepAnswer};
use crate::handles::ModuleId;
use crate::module_status::ModuleStatuses;
use crate::name::ZCallName;
use crate::protocol::{Protocol, is_word};
use crate::reader::{NameError, NameErrorKind};
use lookups::Lookups;

/// Resolves names of a protocol. Game thread only.
///
/// If a resolver panics, the caller receives an error. A resolver may itself look up further names, and may add protocols and resolvers.
///
/// # Examples
/// ```
/// use alcedo_base::boundary::CallError;
/// use alcedo_zcall::chain::{Answer, Resolver};
/// use alcedo_zcall::name::ZCallName;
///
/// struct Tables;
///
/// impl Resolver for Tables {
///     fn resolve(&self, name: &ZCallName) -> Result<Answer, CallError> {
///         Ok(Answer::declined(format!("no table `{}`", name.rest())))
///     }
/// }
/// # let name = ZCallName::read("db:/users", &alcedo_zcall::protocol::PlainProtocol::new("db"))?;
/// assert!(matches!(Tables.resolve(&name)?, Answer::Declined(reason) if reason == "no table `users`"));
/// # Ok::<(), alcedo_base::boundary::CallError>(())
/// ```
pub trait Resolver {
    /// Resolves `name`. If a function is returned, the call table assigns a handle to the function, and does not resolve the name again. If
    /// the name is declined, the next lookup resolves the name again.
    ///
    /// # Errors
    /// Fails if this resolver is responsible for the name but the name is invalid. The chain then calls no further resolver.
    fn resolve(&self, name: &ZCallName) -> Result<Answer, CallError>;
}

impl<F: Fn(&ZCallName) -> Result<Answer, CallError>> Resolver for F {
    fn resolve(&self, name: &ZCallName) -> Result<Answer, CallError> {
        self(name)
    }
}

/// Response of a resolver.
///
/// # Examples
/// ```
/// use alcedo_zcall::call::{Call, Resolved};
/// use alcedo_zcall::chain::Answer;
/// use alcedo_zcall::signature::CallSignature;
///
/// fn answer(table: &str) -> Answer {
///     let signature = CallSignature::new("-> u64".into(), 0, ());
///     match table {
///         "users" => Answer::Function(Resolved::new(signature, |call: Call<'_>| call.into_buffer().set(0, 2_u64))),
///         other => Answer::declined(format!("no table `{other}`")),
///     }
/// }
/// assert!(matches!(answer("users"), Answer::Function(_)));
/// assert!(matches!(answer("maps"), Answer::Declined(_)));
/// ```
#[derive(Debug)]
pub enum Answer {
    /// The name resolves to this function.
    Function(Resolved),
    /// The resolver has no function of that name. The string contains the reason, and may be empty. The chain then calls the next resolver.
    Declined(String),
}

impl Answer {
    /// Creates [`Answer::Declined`] with a short reason.
    pub fn declined(reason: impl Into<String>) -> Self {
        Self::Declined(reason.into())
    }
}

/// Side that registered a protocol or resolver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// Built into the runtime. Only the runtime may add resolvers to a built-in protocol, and these resolvers do not look up further names.
    BuiltIn,
    /// The host registered the protocol or resolver.
    Host,
    /// A module registered the protocol or resolver. The registration is inactive while the module is suspended, and ends with the module.
    Module(ModuleId),
}

impl Origin {
    /// Returns the module with which the protocol or resolver is removed. For the host and the runtime, returns the host's own module,
    /// which is never unloaded.
    fn module(self) -> ModuleId {
        match self {
            Self::BuiltIn | Self::Host => ModuleId::HOST,
            Self::Module(module) => module,
        }
    }
}

/// Protocols with their resolvers in call order. Game thread only.
///
/// # Examples
/// ```
/// use std::rc::Rc;
///
/// use alcedo_base::boundary::CallError;
/// use alcedo_zcall::chain::{Answer, Origin, ResolverChain};
/// use alcedo_zcall::name::ZCallName;
/// use alcedo_zcall::protocol::PlainProtocol;
///
/// let chain = ResolverChain::new();
/// chain.add_protocol(Rc::new(PlainProtocol::new("db")), Origin::Host)?;
/// let tables = |_: &ZCallName| Ok::<Answer, CallError>(Answer::declined("no such table"));
/// chain.add("db", Origin::Host, 0, "tables", Rc::new(tables))?;
/// let error = chain.resolve(&chain.read("db:/maps")?).expect_err("declined");
/// assert!(error.to_string().contains("tables (declined: no such table)"));
/// # Ok::<(), CallError>(())
/// ```
#[derive(Default)]
pub struct ResolverChain {
    /// Entries of protocols, in order of addition. Each change replaces the whole slice, so that running lookups keep their snapshot. A
    /// protocol has two entries only while the module that added the first entry is suspended.
    entries: RefCell<Rc<[Entry]>>,
    /// Running lookups. Excludes lookups of built-in protocols.
    lookups: Lookups,
    modules: Rc<ModuleStatuses>,
}

#[derive(Clone)]
struct Entry {
    word: Rc<str>,
    help: Rc<str>,
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
    /// Creates a chain without protocols.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the stack of the game thread. Lookups of suspended coroutines then do not count as outer lookups. Has no effect if a stack was
    /// set before.
    pub fn set_stack(&self, stack: StackSpan) {
        self.lookups.set_stack(stack);
    }

    /// Adds a protocol without resolvers.
    ///
    /// # Errors
    /// Fails if the protocol name is invalid or already in use, if the protocol panics, or if its module is suspended or has ended.
    ///
    /// # Examples
    /// ```
    /// use std::rc::Rc;
    ///
    /// use alcedo_zcall::chain::{Origin, ResolverChain};
    /// use alcedo_zcall::protocol::PlainProtocol;
    ///
    /// let chain = ResolverChain::new();
    /// chain.add_protocol(Rc::new(PlainProtocol::new("db")), Origin::Host)?;
    /// let error = chain.add_protocol(Rc::new(PlainProtocol::new("db")), Origin::Host).expect_err("taken");
    /// assert!(error.to_string().starts_with("the protocol `db` is taken"));
    /// # Ok::<(), alcedo_base::boundary::CallError>(())
    /// ```
    pub fn add_protocol(&self, protocol: Rc<dyn Protocol>, origin: Origin) -> Result<(), CallError> {
        let strings = || Ok((Rc::<str>::from(protocol.word()), Rc::<str>::from(protocol.help())));
        let (word, help) = catch_panics(strings)?;
        if !is_word(&word) {
            return Err(CallError::other(format!(
                "`{}` cannot be a protocol: write at most 32 lower-case letters, digits, `+`, `-` and `.`, a letter first",
                escape::line(&word)
            )));
        }
        if let Some(entry) = self.entry(&word) {
            let owner = match entry.origin {
                Origin::BuiltIn => "it is built in".to_owned(),
                Origin::Host => "the host has registered it, and resolvers may be added to it".to_owned(),
                Origin::Module(module) => format!("{} has registered it", self.modules.title(module)),
            };
            return Err(CallError::other(format!("the protocol `{word}` is taken: {owner}; choose another name")));
        }
        self.expect_running(origin, &word)?;
        let entry = Entry { word, help, protocol, origin, links: Rc::default() };
        let mut entries = self.entries.borrow_mut();
        *entries = entries.iter().cloned().chain([entry]).collect();
        Ok(())
    }

    /// Adds a resolver to a protocol. A side can add a resolver to a protocol that this side has registered. A module can also add a
    /// resolver to a protocol of the host. The resolver with the lowest priority is called first. Resolvers with equal priorities are
    /// called in order of addition. Errors identify the resolver by its label. Lookups that are already running do not call the new
    /// resolver.
    ///
    /// # Errors
    /// Fails if the protocol does not exist, or already has a resolver with this label.
    pub fn add(
        &self,
        word: &str,
        origin: Origin,
        priority: i32,
        label: &str,
        resolver: Rc<dyn Resolver>,
    ) -> Result<(), CallError> {
        let refuse = |why: String| {
            let (word, label) = (escape::line(word), escape::line(label));
            Err(CallError::other(format!("the resolver `{label}` cannot be added to the protocol `{word}`: {why}")))
        };
        let Some(entry) = self.entry(word) else {
            return refuse("there is none of that name; add the protocol first".into());
        };
        match (entry.origin, origin) {
            (of, by) if of == by => {}
            (Origin::Host, Origin::Module(_)) => {}
            (Origin::Module(module), _) => {
                let owner_name = self.modules.title(module);
                return refuse(format!("it is {owner_name}'s, and ends with it; add a protocol of your own"));
            }
            (Origin::BuiltIn, _) | (Origin::Host, _) => {
                return refuse(
                    "it is built in, and its names are resolved by the runtime; add a protocol for them".into(),
                );
            }
        }
        self.expect_running(origin, label)?;
        if entry.links.iter().any(|link| *link.label == *label && self.is_running(link.origin)) {
            return refuse(
                "it has a resolver of that label; choose another, since errors identify resolvers by label".into(),
            );
        }
        let at = entry.links.partition_point(|link| link.priority <= priority);
        let (before, after) = entry.links.split_at(at);
        let added = Link { priority, label: label.into(), origin, resolver };
        let links: Rc<[Link]> = before.iter().cloned().chain([added]).chain(after.iter().cloned()).collect();
        let mut entries = self.entries.borrow_mut();
        let with = |found: &Entry| match *found.word == *word && found.origin == entry.origin {
            true => Entry { links: Rc::clone(&links), ..found.clone() },
            false => found.clone(),
        };
        *entries = entries.iter().map(with).collect();
        Ok(())
    }

    /// Returns the list of module statuses. Protocols and resolvers of a module that is not running are skipped. If a call table shares the
    /// list, change statuses only through the table, which also changes the epoch.
    #[must_use]
    pub fn modules(&self) -> &Rc<ModuleStatuses> {
        &self.modules
    }

    /// Ends a module in the list of statuses, and removes its protocols and resolvers. If a call table shares the list, end the module in
    /// the table first. The module may be suspended. Has no effect for the host's own module.
    pub fn end_module(&self, module: ModuleId) {
        if module == ModuleId::HOST {
            return;
        }
        self.modules.end(module);
        let is_its = |origin: Origin| origin == Origin::Module(module);
        let ended = {
            let mut entries = self.entries.borrow_mut();
            let has_any = |entry: &Entry| is_its(entry.origin) || entry.links.iter().any(|link| is_its(link.origin));
            if !entries.iter().any(has_any) {
                return;
            }
            let without = |entry: &Entry| Entry {
                links: entry.links.iter().filter(|link| !is_its(link.origin)).cloned().collect(),
                ..entry.clone()
            };
            let remaining = entries.iter().filter(|entry| !is_its(entry.origin)).map(without).collect();
            std::mem::replace(&mut *entries, remaining)
        };
        // Dropping a resolver may run code that calls this chain, so no borrow is held at this point.
        drop(ended);
    }

    fn is_running(&self, origin: Origin) -> bool {
        self.modules.is_running(origin.module())
    }

    fn expect_running(&self, origin: Origin, what: &str) -> Result<(), CallError> {
        match self.is_running(origin) {
            true => Ok(()),
            false => {
                let (what, module) = (escape::line(what), self.modules.title(origin.module()));
                let message = format!("`{what}` cannot be added: {module} is set aside or has ended; load it again");
                Err(CallError::other(message))
            }
        }
    }

    fn describe(&self, origin: Origin) -> String {
        match origin {
            Origin::BuiltIn => "built in".to_owned(),
            Origin::Host => "the host".to_owned(),
            Origin::Module(module) => self.modules.title(module),
        }
    }

    /// Parses a name.
    ///
    /// # Errors
    /// Fails if the string is not a valid name.
    pub fn read(&self, text: &str) -> Result<ZCallName, CallError> {
        let entry = text.split_once(':').and_then(|(word, _)| self.entry(word));
        match entry {
            Some(entry) => catch_panics(|| Ok(ZCallName::read(text, &*entry.protocol)?)),
            None => {
                let entries = Rc::clone(&self.entries.borrow());
                let running = entries.iter().filter(|entry| self.is_running(entry.origin));
                let words: Vec<_> = running.map(|entry| format!("`{}:/`", entry.word)).collect();
                let form = format!("one of {}, followed by an address", words.join(", "));
                Err(NameError { text: text.to_owned(), at: 0, kind: NameErrorKind::Protocol, form }.into())
            }
        }
    }

    /// Resolves `name`. Stops at the first resolver that returns a function or an error.
    ///
    /// # Errors
    /// Returns [`CallError::NotFound`] with all called resolvers and their reasons, or the error of the failed resolver. Also fails if a
    /// resolver panics, or if a lookup of this name is already in progress.
    pub fn resolve(&self, name: &ZCallName) -> Result<Resolved, CallError> {
        let Some(entry) = self.entry(name.protocol()) else {
            return Err(not_found(format!("`{name}` does not resolve: no such protocol")));
        };
        let _in_progress = match entry.origin {
            Origin::BuiltIn => None,
            Origin::Host | Origin::Module(_) => Some(self.lookups.enter(name)?),
        };
        let mut reasons = Vec::new();
        for link in entry.links.iter().filter(|link| self.is_running(link.origin)) {
            match catch_panics(|| link.resolver.resolve(name))? {
                Answer::Function(resolved) => return Ok(resolved),
                Answer::Declined(reason) => reasons.push((Rc::clone(&link.label), reason)),
            }
        }
        Err(unresolved(name, &reasons, &entry.help))
    }

    /// Resolves a name and returns the response of each resolver, in call order. Stops at the first resolver that returns a function or an
    /// error. The function itself is not called.
    ///
    /// # Errors
    /// Fails if the string is not a valid name.
    pub fn explain(&self, text: &str) -> Result<Explanation, CallError> {
        let name = self.read(text)?;
        let entry = self.entry(name.protocol());
        let mut steps = Vec::new();
        let mut is_decided = false;
        let _in_progress = match &entry {
            Some(entry) if entry.origin != Origin::BuiltIn => Some(self.lookups.enter(&name)?),
            _ => None,
        };
        for link in entry.iter().flat_map(|entry| entry.links.iter()) {
            let answer = if !self.is_running(link.origin) {
                StepAnswer::SetAside
            } else if is_decided {
                StepAnswer::NotCalled
            } else {
                match catch_panics(|| link.resolver.resolve(&name)) {
                    Ok(Answer::Function(found)) => {
                        StepAnswer::Found { signature: found.signature_text().to_owned(), by: found.side }
                    }
                    Ok(Answer::Declined(reason)) => StepAnswer::Declined(reason),
                    Err(error) => StepAnswer::Failed(error),
                }
            };
            is_decided |= matches!(answer, StepAnswer::Found { .. } | StepAnswer::Failed(_));
            let (resolver, of) = (link.label.to_string(), self.describe(link.origin));
            steps.push(Step { resolver, of, priority: link.priority, answer });
        }
        let help = entry.as_ref().map(|entry| entry.help.to_string()).unwrap_or_default();
        let protocol = entry.map_or_else(String::new, |entry| self.describe(entry.origin));
        Ok(Explanation { name: name.to_string(), protocol, steps, help })
    }

    /// Returns one line for each protocol that is not built in. Each line lists the resolvers of the protocol. The lines are sorted.
    pub fn lines(&self) -> Vec<String> {
        let entries = Rc::clone(&self.entries.borrow());
        let others = entries.iter().filter(|entry| entry.origin != Origin::BuiltIn);
        let of = |origin: Origin| match origin {
            Origin::BuiltIn | Origin::Host => String::new(),
            Origin::Module(ModuleId(number)) => {
                format!(" of module {number}, {:?}", self.modules.status(ModuleId(number)))
            }
        };
        let line = |entry: &Entry| {
            let labels: Vec<_> = entry.links.iter().map(|link| format!("{}{}", link.label, of(link.origin))).collect();
            format!("protocol {}{} by {}", entry.word, of(entry.origin), labels.join(", then "))
        };
        let mut lines: Vec<_> = others.map(line).collect();
        lines.sort_unstable();
        lines
    }

    fn entry(&self, word: &str) -> Option<Entry> {
        let entries = Rc::clone(&self.entries.borrow());
        entries.iter().find(|entry| *entry.word == *word && self.is_running(entry.origin)).cloned()
    }
}

impl fmt::Debug for ResolverChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = Rc::clone(&self.entries.borrow());
        let links =
            |entry: &Entry| entry.links.iter().map(|link| (link.priority, Rc::clone(&link.label))).collect::<Vec<_>>();
        f.debug_map().entries(entries.iter().map(|entry| (&entry.word, links(entry)))).finish()
    }
}

fn unresolved(name: &ZCallName, tried: &[(Rc<str>, String)], help: &str) -> CallError {
    let line = |(label, reason): &(Rc<str>, String)| match &**reason {
        "" => label.to_string(),
        reason => format!("{label} (declined: {reason})"),
    };
    let tried = match tried {
        [] => "no resolver is registered".to_owned(),
        tried => format!("tried {}", tried.iter().map(line).collect::<Vec<_>>().join(", then ")),
    };
    let help = if help.is_empty() { String::new() } else { format!("; {help}") };
    not_found(format!("`{name}` does not resolve: {tried}{help}"))
}

#[cfg(test)]
pub(crate) mod tests;
