//! How an unknown name finds its function: resolvers are asked one after the other until one answers. What they are
//! and know is theirs; this file keeps the order and tells afterwards who was asked.

use std::fmt;
use std::rc::Rc;

use super::buffer::BufferMut;
use super::name::ZCallName;
use super::protocols::Protocols;
use crate::border::CallError;
use crate::cells::RefCell;
use crate::game_thread::GameThread;
use crate::handles::ModuleId;

/// The body behind a name. Game thread only.
pub trait Dispatcher {
    /// Does the call: parameters are in the first slots of `buffer`, the result goes into the last.
    ///
    /// # Errors
    /// Why the call was not done.
    fn call(&self, gt: GameThread<'_>, buffer: BufferMut<'_>) -> Result<(), CallError>;
}

/// Knows some names. It may use chain and table itself while it is asked. Game thread only.
pub trait Resolver {
    /// What `name` stands for, or `None` when it is for another resolver to know.
    ///
    /// # Errors
    /// The name is this resolver's, and something is wrong with it: no other one is asked.
    fn resolve(&self, name: &ZCallName) -> Result<Option<Resolved>, CallError>;
}

/// Who implements a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Implementer {
    /// The host: a black call, when a module makes it.
    Host,
    /// A module: a red call.
    Module(ModuleId),
}

impl fmt::Display for Implementer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("the host"),
            Self::Module(ModuleId(number)) => write!(f, "module {number}"),
        }
    }
}

/// What a name stands for.
#[derive(Clone)]
pub struct Resolved {
    /// The body.
    pub dispatcher: Rc<dyn Dispatcher>,
    /// Who implements it.
    pub side: Implementer,
    /// The module it ends with.
    pub module: ModuleId,
    /// Fingerprint of its signature; zero is not compared.
    pub fingerprint: u64,
    /// Its signature in words, for errors.
    pub signature: String,
}

impl fmt::Debug for Resolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolved")
            .field("side", &self.side)
            .field("module", &self.module)
            .field("fingerprint", &self.fingerprint)
            .field("signature", &self.signature)
            .finish_non_exhaustive()
    }
}

/// The resolvers in the order in which they are asked. Game thread only.
#[derive(Default)]
pub struct ResolverChain {
    /// Replaced whole, so that a running lookup keeps the row it began with.
    links: RefCell<Rc<[Link]>>,
    /// The host's own protocols, which no other resolver knows.
    pub protocols: Protocols,
}

#[derive(Clone)]
struct Link {
    priority: i32,
    label: Rc<str>,
    resolver: Rc<dyn Resolver>,
}

impl ResolverChain {
    /// A chain that knows nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a resolver: the smallest priority is asked first, among equal ones the one added first. Errors call it
    /// by its label. A lookup that is running does not see it.
    pub fn add(&self, priority: i32, label: &str, resolver: Rc<impl Resolver + 'static>) {
        let mut links = self.links.borrow_mut();
        let at = links.partition_point(|link| link.priority <= priority);
        let (before, after) = links.split_at(at);
        let added = Link { priority, label: label.into(), resolver };
        *links = before.iter().cloned().chain([added]).chain(after.iter().cloned()).collect();
    }

    /// What `name` stands for: the first resolver that answers decides.
    ///
    /// # Errors
    /// [`CallError::NotFound`] with every resolver asked, or the error of the resolver that knew it better.
    pub fn resolve(&self, name: &ZCallName) -> Result<Resolved, CallError> {
        if let ZCallName::OfHost { protocol, rest } = name {
            return self.protocols.resolve(name, protocol, rest);
        }
        let links = Rc::clone(&self.links.borrow());
        for link in links.iter() {
            if let Some(resolved) = link.resolver.resolve(name)? {
                return Ok(resolved);
            }
        }
        Err(not_found(name, &links))
    }
}

impl fmt::Debug for ResolverChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.links.borrow().iter().map(|link| (link.priority, &link.label))).finish()
    }
}

fn not_found(name: &ZCallName, links: &[Link]) -> CallError {
    let asked = match links {
        [] => "nobody".to_owned(),
        links => links.iter().map(|link| &*link.label).collect::<Vec<_>>().join(", then "),
    };
    let way_out = match name {
        ZCallName::Ex(_) => "register a function of that name first",
        ZCallName::Uf { .. } => "declare the function, or load the module that does",
        ZCallName::Up { .. } => "declare the property, or load the module that does",
        ZCallName::Nm { .. } => "load the module, and export the method from it",
        ZCallName::Nd => "add a resolver for delegates",
        ZCallName::OfHost { .. } => "add a resolver for the protocol",
    };
    CallError::NotFound { message: format!("`{name}` leads nowhere: asked {asked}; {way_out}") }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::{Dispatcher, Implementer, Resolved, Resolver, ResolverChain};
    use crate::border::CallError;
    use crate::buffer::BufferMut;
    use crate::game_thread::GameThread;
    use crate::handles::ModuleId;
    use crate::name::ZCallName;

    /// A body made of a closure.
    pub(crate) struct Body<F>(pub(crate) F);

    impl<F: Fn(BufferMut<'_>) -> Result<(), CallError>> Dispatcher for Body<F> {
        fn call(&self, _gt: GameThread<'_>, buffer: BufferMut<'_>) -> Result<(), CallError> {
            (self.0)(buffer)
        }
    }

    /// A resolver made of a closure.
    pub(crate) struct Asked<F>(pub(crate) F);

    impl<F: Fn(&ZCallName) -> Result<Option<Resolved>, CallError>> Resolver for Asked<F> {
        fn resolve(&self, name: &ZCallName) -> Result<Option<Resolved>, CallError> {
            (self.0)(name)
        }
    }

    pub(crate) fn nothing(side: Implementer, module: u64, signature: &str) -> Resolved {
        Resolved {
            dispatcher: Rc::new(Body(|_: BufferMut<'_>| Ok(()))),
            side,
            module: ModuleId(module),
            fingerprint: 0,
            signature: signature.to_owned(),
        }
    }

    /// `2:a` adds resolver `a` with priority 2; `+` behind it answers, `!` fails.
    fn check(resolvers: &str, expected: Result<&str, &str>, asked: &str) {
        let chain = ResolverChain::new();
        let log = Rc::new(RefCell::new(Vec::new()));
        for resolver in resolvers.split_whitespace() {
            let (priority, label) = resolver.split_once(':').expect("priority and label");
            let (label, log) = (label.to_owned(), Rc::clone(&log));
            let answer = label.clone();
            chain.add(
                priority.parse().expect("a number"),
                &label,
                Rc::new(Asked(move |_: &ZCallName| {
                    log.borrow_mut().push(answer.clone());
                    match answer.as_bytes() {
                        [.., b'+'] => Ok(Some(nothing(Implementer::Host, 0, &answer))),
                        [.., b'!'] => Err(CallError::other("broken")),
                        _ => Ok(None),
                    }
                })),
            );
        }
        let found = chain.resolve(&ZCallName::Ex("f".to_owned())).map(|resolved| resolved.signature);
        assert_eq!(found.map_err(|error| error.to_string()), expected.map(str::to_owned).map_err(str::to_owned));
        assert_eq!(log.borrow().join(" "), asked);
    }

    #[test]
    fn the_smallest_priority_is_asked_first_and_the_first_answer_wins() {
        check("2:late+ 1:early+", Ok("early+"), "early+");
        check("1:first+ 1:second+", Ok("first+"), "first+");
        check("5:c+ -3:a 0:b", Ok("c+"), "a b c+");
        check("1:a 1:b+ 1:c+ 0:z", Ok("b+"), "z a b+");
    }

    #[test]
    fn an_error_ends_the_search() {
        check("1:a 2:b! 3:c+", Err("broken"), "a b!");
    }

    #[test]
    fn a_name_nobody_knows_lists_all_who_were_asked() {
        check(
            "1:functions 0:explicit",
            Err("`ex:/f` leads nowhere: asked explicit, then functions; register a function of that name first"),
            "explicit functions",
        );
        check("", Err("`ex:/f` leads nowhere: asked nobody; register a function of that name first"), "");
    }

    #[test]
    fn a_resolver_may_add_resolvers_while_it_is_asked() {
        let chain = Rc::new(ResolverChain::new());
        let inner = Rc::clone(&chain);
        chain.add(
            0,
            "grows",
            Rc::new(Asked(move |_: &ZCallName| {
                inner.add(-1, "new", Rc::new(Asked(|_: &ZCallName| Ok(Some(nothing(Implementer::Host, 0, "new"))))));
                Ok(None)
            })),
        );
        assert!(chain.resolve(&ZCallName::Nd).is_err(), "the running lookup keeps its row");
        assert_eq!(chain.resolve(&ZCallName::Nd).map(|found| found.signature), Ok("new".to_owned()));
    }
}
