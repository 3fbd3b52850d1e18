//! Protocols of the host's own: a name that begins with one of them is for whoever registered it, and for nobody else.
//! What they decline is not remembered, so the next question is asked anew.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use super::chain::Resolved;
use super::name::{ZCallName, is_protocol};
use crate::border::{CallError, trap};
use crate::cells::RefCell;

/// How many names may be asked for inside each other: a resolver may ask for other names to find its own.
const DEEPEST: usize = 64;

/// What the host says to a name of its protocol.
pub enum Answer {
    /// This function is meant.
    Function(Resolved),
    /// There is none, and why.
    Declined(String),
}

/// Resolves the names of one protocol; it is given what stands behind `protocol:/`.
pub type Ask = dyn Fn(&str) -> Result<Answer, CallError>;

/// Who resolves which protocol. Game thread only.
#[derive(Default)]
pub struct Protocols {
    owners: RefCell<BTreeMap<String, Rc<Ask>>>,
    /// The names that are being asked for, outermost first.
    under_way: RefCell<Vec<String>>,
}

impl Protocols {
    /// From now on `ask` resolves the names that begin with `protocol`.
    ///
    /// # Errors
    /// When it is taken, or is no protocol.
    pub fn add(&self, protocol: &str, ask: Rc<Ask>) -> Result<(), CallError> {
        if !is_protocol(protocol) {
            return Err(CallError::other(format!(
                "`{}` cannot be a protocol of the host: write at most 32 lower-case letters, digits, `+`, `-` and `.`, a \
                 letter first",
                crate::shown::line(protocol)
            )));
        }
        if ZCallName::PROTOCOLS.contains(&protocol) || self.owners.borrow().contains_key(protocol) {
            return Err(CallError::other(format!(
                "the protocol `{protocol}` is taken: one resolver answers for a protocol; choose another name"
            )));
        }
        self.owners.borrow_mut().insert(protocol.to_owned(), ask);
        Ok(())
    }

    /// Reads a name of one of these protocols, or else of the built-in ones.
    ///
    /// # Errors
    /// When it is no name.
    pub fn read(&self, text: &str) -> Result<ZCallName, CallError> {
        match text.split_once(':') {
            Some((protocol, _)) if self.owners.borrow().contains_key(protocol) => {
                Ok(ZCallName::of_host(text, protocol)?)
            }
            _ => Ok(text.parse()?),
        }
    }

    /// What a name of the host's own protocols stands for.
    ///
    /// # Errors
    /// When the host declines it, with its reason; when its resolver panics; when the name is being asked for already.
    pub fn resolve(&self, name: &ZCallName, protocol: &str, rest: &str) -> Result<Resolved, CallError> {
        let Some(ask) = self.owners.borrow().get(protocol).cloned() else {
            return Err(CallError::NotFound {
                message: format!("`{name}` leads nowhere: nobody resolves `{protocol}`"),
            });
        };
        let _under_way = self.enter(name.to_string())?;
        match trap(|| ask(rest))? {
            Answer::Function(resolved) => Ok(resolved),
            Answer::Declined(reason) => Err(CallError::NotFound {
                message: format!("`{name}` leads nowhere: the host's `{protocol}` declined it: {reason}"),
            }),
        }
    }

    /// A line for each, in order.
    pub fn lines(&self) -> Vec<String> {
        self.owners.borrow().keys().map(|protocol| format!("protocol {protocol} by the host")).collect()
    }

    fn enter(&self, name: String) -> Result<UnderWay<'_>, CallError> {
        let mut under_way = self.under_way.borrow_mut();
        if let Some(first) = under_way.iter().position(|known| *known == name) {
            let chain: Vec<_> = under_way[first..].iter().chain([&name]).map(String::as_str).collect();
            let chain = chain.join(" → ");
            return Err(CallError::other(format!(
                "names that are resolved by themselves: {chain}; answer without them"
            )));
        }
        if under_way.len() == DEEPEST {
            return Err(CallError::other(format!("`{name}` is the {DEEPEST}th name asked for to resolve another")));
        }
        under_way.push(name);
        Ok(UnderWay(self))
    }
}

/// A name is being asked for until this is dropped.
struct UnderWay<'a>(&'a Protocols);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.under_way.borrow_mut().pop();
    }
}

impl fmt::Debug for Protocols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.owners.borrow().keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::{Answer, Protocols};
    use crate::chain::Implementer;
    use crate::chain::tests::nothing;

    #[test]
    fn a_protocol_is_a_word_that_nobody_has() {
        let protocols = Protocols::default();
        let add = |protocol: &str| protocols.add(protocol, Rc::new(|_| Ok(Answer::Declined("no".into()))));
        for good in ["db", "http", "v8-c+.2"] {
            add(good).expect(good);
            assert!(add(good).expect_err("it is taken").to_string().contains("is taken"), "{good}");
        }
        for taken in ["ex", "uf", "up", "nm", "nd"] {
            assert!(add(taken).expect_err("it is built in").to_string().contains("is taken"), "{taken}");
        }
        for wrong in ["", "uf!", "DB", "1a", "a b", "a:b", "a/b", "ä", &"a".repeat(33)] {
            assert!(add(wrong).expect_err("no protocol").to_string().contains("cannot be a protocol"), "{wrong}");
        }
        assert_eq!(protocols.lines().len(), 3);
    }

    #[test]
    fn names_that_are_resolved_by_themselves_are_refused_and_the_row_is_printed() {
        let protocols = Rc::new(Protocols::default());
        let inner = Rc::downgrade(&protocols);
        let ask = move |rest: &str| {
            let next = match rest {
                "a" => "db:/b",
                "b" => "db:/a",
                "deep" => return Ok(Answer::Function(nothing(Implementer::Host, 0, ""))),
                number => &format!("db:/{}", number.parse::<u32>().expect("a number") + 1),
            };
            let protocols = inner.upgrade().expect("it lives");
            let name = protocols.read(next)?;
            let (_, rest) = next.split_once(":/").expect("it has one");
            Ok(Answer::Function(protocols.resolve(&name, "db", rest)?))
        };
        protocols.add("db", Rc::new(ask)).expect("it is free");
        let resolve = |rest: &str| {
            let name = protocols.read(&format!("db:/{rest}")).expect("a name");
            protocols.resolve(&name, "db", rest).map(drop).map_err(|error| error.to_string())
        };
        let row = "names that are resolved by themselves: db:/a → db:/b → db:/a; answer without them";
        assert_eq!(resolve("a"), Err(row.to_owned()));
        assert!(resolve("1").expect_err("it never ends").contains("is the 64th name"));
        assert_eq!(resolve("deep"), Ok(()), "what was refused is not under way any more");
    }
}
