//! Tests the public behavior of the chain: which resolvers are called, in which order, and calls of the chain by resolvers.

use std::cell::RefCell;
use std::rc::Rc;

use super::{Answer, Origin, Resolver, ResolverChain};
use crate::boundary::CallError;
use crate::buffer::BufferMut;
use crate::call::{Call, Implementer, Resolved};
use crate::explicit::Ex;
use crate::handles::ModuleId;
use crate::name::ZCallName;
use crate::protocol::PlainProtocol;
use crate::signature::CallSignature;

pub(crate) fn body(
    side: Implementer,
    module: u64,
    signature: &str,
    fingerprint: u64,
    body: impl Fn(BufferMut<'_>) -> Result<(), CallError> + 'static,
) -> Resolved {
    let signature = CallSignature::new(signature.to_owned(), fingerprint, ());
    let function = Resolved::new(signature, move |call: Call<'_>| body(call.into_buffer()));
    Resolved { side, module: ModuleId(module), ..function }
}

pub(crate) fn nothing(side: Implementer, module: u64, signature: &str) -> Resolved {
    body(side, module, signature, 0, |_| Ok(()))
}

/// Creates a chain with the protocol `ex`, registered by the runtime, and the protocol `db`, registered by a host.
pub(crate) fn chain() -> ResolverChain {
    let chain = ResolverChain::new();
    chain.add_protocol(Rc::new(Ex), Origin::BuiltIn).expect("it is free");
    chain.add_protocol(Rc::new(PlainProtocol::new("db")), Origin::Host).expect("it is free");
    chain
}

pub(crate) fn add(chain: &ResolverChain, resolver: impl Fn(&ZCallName) -> Result<Answer, CallError> + 'static) {
    chain.add("ex", Origin::BuiltIn, 0, "fixture", Rc::new(resolver)).expect("there is the protocol");
}

fn resolve(chain: &ResolverChain, name: &str) -> Result<String, String> {
    let found = chain.read(name).and_then(|name| chain.resolve(&name));
    found.map(|resolved| resolved.signature_text().to_owned()).map_err(|error| error.to_string())
}

/// Checks a lookup. In `resolvers`, `2:a` adds a resolver `a` with priority 2. With the suffix `+` the resolver returns a function, with
/// `!` the resolver fails, and with `?` the resolver declines with a reason.
fn check(resolvers: &str, expected: Result<&str, &str>, expected_calls: &str) {
    let chain = chain();
    let log = Rc::new(RefCell::new(Vec::new()));
    for resolver in resolvers.split_whitespace() {
        let (priority, label) = resolver.split_once(':').expect("priority and label");
        let (answer, log) = (label.to_owned(), Rc::clone(&log));
        let resolver = move |_: &ZCallName| {
            log.borrow_mut().push(answer.clone());
            match answer.as_bytes() {
                [.., b'+'] => Ok(Answer::Function(nothing(Implementer::Host, 0, &answer))),
                [.., b'!'] => Err(CallError::other("broken")),
                [.., b'?'] => Ok(Answer::declined("unknown table f")),
                _ => Ok(Answer::declined("")),
            }
        };
        let priority = priority.parse().expect("a number");
        chain.add("ex", Origin::BuiltIn, priority, label, Rc::new(resolver)).expect("a label of its own");
    }
    assert_eq!(resolve(&chain, "ex:/f"), expected.map(str::to_owned).map_err(str::to_owned));
    assert_eq!(log.borrow().join(" "), expected_calls);
}

#[test]
fn the_smallest_priority_is_called_first_and_the_first_answer_wins() {
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
fn an_unresolved_name_lists_all_called_resolvers_with_reasons() {
    check(
        "1:functions 0:explicit",
        Err("`ex:/f` does not resolve: tried explicit, then functions; register a function of that name first"),
        "explicit functions",
    );
    check(
        "1:tables? 2:explicit",
        Err(
            "`ex:/f` does not resolve: tried tables? (declined: unknown table f), then explicit; register a function of \
             that name first",
        ),
        "tables? explicit",
    );
    check("", Err("`ex:/f` does not resolve: no resolver is registered; register a function of that name first"), "");
}

#[test]
fn a_resolver_may_add_resolvers_during_its_call() {
    let chain = Rc::new(chain());
    let inner = Rc::downgrade(&chain);
    add(&chain, move |_| {
        let chain = inner.upgrade().expect("it lives");
        let new = |_: &ZCallName| Ok(Answer::Function(nothing(Implementer::Host, 0, "new")));
        // Only a second lookup of the name calls this resolver.
        let _added = chain.add("ex", Origin::BuiltIn, -1, "new", Rc::new(new));
        Ok(Answer::declined(""))
    });
    assert!(resolve(&chain, "ex:/f").is_err(), "the running lookup keeps its row");
    assert_eq!(resolve(&chain, "ex:/f"), Ok("new".to_owned()));
}

#[test]
fn a_protocol_needs_an_unused_word() {
    let chain = chain();
    let add = |word: &str| chain.add_protocol(Rc::new(PlainProtocol::new(word)), Origin::Host);
    for good in ["cache", "http", "v8-c+.2", "cache!"] {
        add(good).expect(good);
        assert!(add(good).expect_err("it is taken").to_string().contains("is taken: the host has registered it"));
    }
    assert_eq!(
        add("ex").expect_err("it is built in").to_string(),
        "the protocol `ex` is taken: it is built in; choose another name"
    );
    for wrong in ["", "!", "a!b", "DB", "1a", "a b", "a:b", "a/b", "ä", &"a".repeat(33)] {
        assert!(add(wrong).expect_err("no protocol").to_string().contains("cannot be a protocol"), "{wrong}");
    }
    assert_eq!(chain.lines().len(), 5);
}

#[test]
fn resolvers_of_a_host_protocol_have_unique_labels() {
    let chain = chain();
    let add = |word, label| {
        let none = |_: &ZCallName| Ok(Answer::declined("no"));
        chain.add(word, Origin::Host, 0, label, Rc::new(none)).map_err(|error| error.to_string())
    };
    assert_eq!(add("db", "tables"), Ok(()));
    for (word, label, why) in [
        ("db", "tables", "it has a resolver of that label"),
        ("ex", "tables", "it is built in"),
        ("cache", "tables", "there is none of that name; add the protocol first"),
    ] {
        let error = add(word, label).expect_err(why);
        let begin = format!("the resolver `tables` cannot be added to the protocol `{word}`: ");
        assert!(error.starts_with(&begin) && error.contains(why), "{error}");
    }
    assert_eq!(
        resolve(&chain, "db:/users"),
        Err("`db:/users` does not resolve: tried tables (declined: no)".to_owned())
    );
}

#[test]
fn an_unknown_protocol_is_reported_with_the_known_ones() {
    let error = resolve(&chain(), "cache:/users").expect_err("there is none");
    let expected = "`cache:/users` is not a ZCall name: no known protocol at byte 0; write one of `ex:/`, `db:/`, followed by an address";
    assert_eq!(error, expected);
}

#[test]
fn cyclic_resolution_is_refused_and_the_cycle_printed() {
    let chain = Rc::new(chain());
    let inner = Rc::downgrade(&chain);
    let resolver = move |name: &ZCallName| {
        let next = match name.rest() {
            "a" => "db:/b",
            "b" => "db:/a",
            "deep" => return Ok(Answer::Function(nothing(Implementer::Host, 0, ""))),
            number => &format!("db:/{}", number.parse::<u32>().expect("a number") + 1),
        };
        let chain = inner.upgrade().expect("it lives");
        Ok(Answer::Function(chain.resolve(&chain.read(next)?)?))
    };
    chain.add("db", Origin::Host, 0, "tables", Rc::new(resolver)).expect("there is the protocol");
    let cycle = "the resolution of a name requires itself: db:/a → db:/b → db:/a; answer without these names";
    assert_eq!(resolve(&chain, "db:/a"), Err(cycle.to_owned()));
    assert!(resolve(&chain, "db:/1").expect_err("it never ends").contains("is resolved inside of 64 other lookups"));
    assert_eq!(resolve(&chain, "db:/deep"), Ok(String::new()), "what was refused is not under way any more");
}

struct Panics(&'static str);

impl crate::protocol::Protocol for Panics {
    fn word(&self) -> &str {
        assert_ne!(self.0, "word", "on purpose");
        "odd"
    }

    fn form(&self) -> &str {
        "`odd:/`"
    }

    fn read(&self, _: &mut crate::reader::Reader<'_>) -> Result<String, crate::reader::NameError> {
        panic!("on purpose")
    }
}

impl Resolver for Panics {
    fn resolve(&self, _: &ZCallName) -> Result<Answer, CallError> {
        panic!("on purpose")
    }
}

#[test]
fn a_panic_of_a_protocol_or_a_resolver_is_an_error() {
    let chain = chain();
    let is_panic = |error: String| assert!(error.contains("panicked: ") && error.contains("on purpose"), "{error}");
    is_panic(chain.add_protocol(Rc::new(Panics("word")), Origin::Host).expect_err("it panics").to_string());
    chain.add_protocol(Rc::new(Panics("read")), Origin::Host).expect("its word is valid");
    is_panic(resolve(&chain, "odd:/f").expect_err("it panics"));
    chain.add("db", Origin::Host, 0, "odd", Rc::new(Panics("resolve"))).expect("there is the protocol");
    for _ in 0..2 {
        is_panic(resolve(&chain, "db:/f").expect_err("it panics"));
    }
}

#[test]
fn resolvers_of_suspended_modules_are_skipped_and_of_ended_ones_removed() {
    let chain = chain();
    let (old, new) = (ModuleId(1), ModuleId(2));
    let protocol = |module| chain.add_protocol(Rc::new(PlainProtocol::new("http")), Origin::Module(module));
    let answers = |words: &'static str| {
        Rc::new(move |_: &ZCallName| Ok(Answer::Function(nothing(Implementer::Host, 0, words)))) as Rc<dyn Resolver>
    };
    let resolver = |word: &str, module, words| chain.add(word, Origin::Module(module), 0, "pages", answers(words));
    protocol(old).expect("it is free");
    resolver("http", old, "old").expect("its own");
    resolver("db", old, "old").expect("the host's");
    assert!(protocol(new).is_err() && resolver("http", new, "new").is_err() && resolver("db", new, "new").is_err());
    let both = || (resolve(&chain, "http:/a"), resolve(&chain, "db:/a"));
    assert_eq!(both(), (Ok("old".into()), Ok("old".into())));
    chain.modules.suspend(old);
    assert!(both().0.is_err_and(|error| error.contains("no known protocol")));
    assert!(both().1.is_err_and(|error| error.contains("does not resolve: tried ") || error.contains("no resolver")));
    assert!(protocol(old).is_err_and(|error| error.to_string().contains("set aside or has ended")));
    protocol(new).expect("the protocol is free");
    resolver("http", new, "new").expect("its own");
    resolver("db", new, "new").expect("the label is free too");
    assert_eq!(both(), (Ok("new".into()), Ok("new".into())));
    // Simulates the rollback of a reload.
    chain.end_module(new);
    chain.modules.resume(old);
    assert_eq!(both(), (Ok("old".into()), Ok("old".into())));
    chain.end_module(old);
    chain.end_module(ModuleId::HOST);
    assert!(both().0.is_err() && both().1.is_err() && resolver("db", old, "old").is_err());
    assert_eq!(chain.lines(), ["protocol db by "]);
}

#[test]
fn an_explanation_stops_where_a_name_is_decided() {
    let chain = chain();
    let added = |priority, label: &str, resolver: Rc<dyn Resolver>| {
        chain.add("db", Origin::Host, priority, label, resolver).expect("there is the protocol");
    };
    added(1, "second", Rc::new(|_: &ZCallName| Ok(Answer::Function(nothing(Implementer::Host, 0, "-> u8")))));
    added(0, "first", Rc::new(|_: &ZCallName| Ok(Answer::declined("not mine"))));
    added(2, "third", Rc::new(|_: &ZCallName| panic!("it is not called")));
    let explained = chain.explain("db:/a").expect("a name");
    assert!(explained.is_found());
    let expected = "db:/a  (protocol: the host)\n  0  first (the host): declined: not mine\n  1  second (the host): found (-> u8), \
                implemented by the host\n  2  third (the host): not called, an earlier resolver has decided";
    assert_eq!(explained.to_string(), expected);
}
