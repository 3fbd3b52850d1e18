//! Tests protocols that a host registers. These protocols implement the traits that the built-in protocols implement. `console` has its own
//! grammar and two resolvers. `db` has no grammar, and a resolver is added to it during the test.

use crate::support;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use alcedo_runtime::zcall::{
    Answer, Call, Dispatcher, NameError, NameErrorKind, PlainProtocol, Protocol, Reader, Resolved, Resolver, ZCallName,
};
use alcedo_runtime::{CallError, ContextEvent, Error, Runtime, Signature, Value, WeakRuntime};
use expect_test::{Expect, expect};

const LINE: &str = "/Script/Game.Line";

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn signature(text: &str) -> Signature {
    text.parse().expect("a signature")
}

fn check(host: &Runtime, name: &str, arguments: &[Value], expected: Expect) {
    let answer = match host.calls().call(name, arguments) {
        Ok(None) => "done".to_owned(),
        Ok(Some(value)) => format!("{value:?}"),
        Err(error) => format!("refused: {error}"),
    };
    expected.assert_eq(&answer);
}

/// Protocol for names such as `console:/command`. Names are case-insensitive.
struct Console;

impl Protocol for Console {
    fn word(&self) -> &str {
        "console"
    }

    fn form(&self) -> &str {
        "`console:/command`"
    }

    fn help(&self) -> &str {
        "`console:/help` lists the commands"
    }

    fn read(&self, address: &mut Reader<'_>) -> Result<String, NameError> {
        address.fixed("/")?;
        let command = address.word("command")?.to_lowercase();
        match command.starts_with('-') {
            true => Err(address.error(NameErrorKind::Unexpected('-'))),
            false => Ok(format!("/{command}")),
        }
    }
}

/// Returns the string argument with a prefix.
struct Greeter(&'static str);

impl Dispatcher for Greeter {
    fn call(&self, mut call: Call<'_>) -> Result<(), CallError> {
        let answer = format!("{}: {}", self.0, call.text(0)?);
        call.set_text_result(&answer)
    }
}

/// Resolver for `say`, for the names in `more`, and for names whose functions fail. The results of all its functions contain `label`.
/// `requests` counts the calls to the resolver.
struct Commands {
    label: &'static str,
    host: WeakRuntime,
    more: Rc<RefCell<Vec<String>>>,
    requests: Rc<Cell<u32>>,
}

impl Resolver for Commands {
    fn resolve(&self, name: &ZCallName) -> Result<Answer, CallError> {
        self.requests.set(self.requests.get() + 1);
        let text = || signature("String -> String");
        let host = || self.host.upgrade().expect("the host is alive");
        Ok(match name.rest() {
            "say" => Answer::Function(Resolved::new(text(), Greeter(self.label)).pure()),
            "add" => Answer::Function(Resolved::new(signature("i32, i32 -> i32"), |mut call: Call<'_>| {
                call.set_result(call.argument::<i32>(0)? + call.argument::<i32>(1)?)
            })),
            "panics" => panic!("on purpose"),
            "breaks" => Answer::Function(Resolved::new(text(), |_: Call<'_>| panic!("in the function"))),
            "fails" => return Err(CallError::other("the console is shut")),
            // Registers, resolves and calls during the lookup.
            "deep" => {
                let answer = host().calls().call("console:/say", &[Value::Text("deep".into())]).expect("another name");
                host().calls().add_protocol(PlainProtocol::new("inner")).expect("the first lookup adds it");
                Answer::declined(format!("{answer:?}"))
            }
            "itself" => {
                Answer::declined(host().calls().call("console:/itself", &[]).expect_err("it calls itself").to_string())
            }
            // Function that calls itself by name and counts down.
            "down" => {
                let host = self.host.clone();
                Answer::Function(Resolved::new(signature("u32 -> u32"), move |mut call: Call<'_>| {
                    let left = call.argument::<u32>(0)?;
                    let host = host.upgrade().expect("it is called");
                    let below = match left {
                        0 => Value::U32(0),
                        _ => host
                            .calls()
                            .call("console:/down", &[Value::U32(left - 1)])
                            .map_err(format_error)?
                            .expect("a number"),
                    };
                    let Value::U32(below) = below else { return Err(CallError::other("no number")) };
                    call.set_result(below + left)
                }))
            }
            known if self.more.borrow().iter().any(|more| more == known) => {
                Answer::Function(Resolved::new(text(), Greeter("more")))
            }
            other => Answer::declined(format!("unknown command {other}")),
        })
    }
}

fn format_error(error: Error) -> CallError {
    CallError::other(error.to_string())
}

struct Scene {
    host: Runtime,
    more: Rc<RefCell<Vec<String>>>,
    requests: Rc<Cell<u32>>,
}

fn scene(host: Runtime) -> Scene {
    let scene = Scene { host, more: Rc::default(), requests: Rc::default() };
    scene.host.calls().add_protocol(Console).expect("it is free");
    scene.add("console", 0, "commands").expect("there is the protocol");
    scene
}

impl Scene {
    fn add(&self, protocol: &str, priority: i32, label: &'static str) -> Result<(), Error> {
        let (host, more, requests) = (self.host.downgrade(), Rc::clone(&self.more), Rc::clone(&self.requests));
        self.host.calls().add_resolver(protocol, priority, label, Commands { label, host, more, requests })
    }
}

fn empty() -> Scene {
    scene(Runtime::builder().build().expect("a host"))
}

#[test]
fn a_name_is_read_by_its_protocol_found_once_and_called() {
    let Scene { host, requests, .. } = empty();
    check(&host, "console:/Say", &[text("hello")], expect![[r#"Text("commands: hello")"#]]);
    check(&host, "console:/SAY", &[text("again")], expect![[r#"Text("commands: again")"#]]);
    assert_eq!(requests.get(), 1, "two spellings are one name");
    check(&host, "console:/add", &[Value::I32(40), Value::I32(2)], expect!["I32(42)"]);
    check(
        &host,
        "console:/add",
        &[Value::I32(40)],
        expect!["refused: `console:/add` (i32, i32 -> i32) does not take 1 arguments, the object included"],
    );
    check(
        &host,
        "console:/add",
        &[Value::Object(alcedo_runtime::ObjectHandle::NONE), Value::I32(1), Value::I32(1)],
        expect!["refused: `console:/add`: the buffer has 4 slots, the call expects 3"],
    );
    check(
        &host,
        "console:say",
        &[],
        expect!["refused: `console:say` is not a ZCall name: `/` is missing at byte 8; write `console:/command`"],
    );
    check(
        &host,
        "console:/-say",
        &[],
        expect!["refused: `console:/-say` is not a ZCall name: '-' is unexpected at byte 13; write `console:/command`"],
    );
    check(
        &host,
        "console:/say:it",
        &[],
        expect![
            "refused: `console:/say:it` is not a ZCall name: ':' is unexpected at byte 12; write `console:/command`"
        ],
    );
}

#[test]
fn a_declined_name_is_reported_with_its_reason_and_retried() {
    let Scene { host, more, requests } = empty();
    for _ in 0..2 {
        check(
            &host,
            "console:/sing",
            &[text("a")],
            expect![
                "refused: `console:/sing` does not resolve: tried commands (declined: unknown command sing); `console:/help` lists the commands"
            ],
        );
    }
    assert_eq!(requests.get(), 2);
    more.borrow_mut().push("sing".to_owned());
    check(&host, "console:/sing", &[text("a")], expect![[r#"Text("more: a")"#]]);
}

#[test]
fn the_first_match_wins_and_all_reasons_are_reported() {
    let scene = empty();
    scene.add("console", -1, "early").expect("another label");
    scene.add("console", 1, "late").expect("another label");
    check(&scene.host, "console:/say", &[text("a")], expect![[r#"Text("early: a")"#]]);
    assert_eq!(scene.requests.get(), 1, "the other resolvers are not called");
    check(
        &scene.host,
        "console:/sing",
        &[text("a")],
        expect![
            "refused: `console:/sing` does not resolve: tried early (declined: unknown command sing), then commands (declined: unknown command sing), then late (declined: unknown command sing); `console:/help` lists the commands"
        ],
    );
    check(&scene.host, "console:/fails", &[text("a")], expect!["refused: the console is shut"]);
}

#[test]
fn an_invalid_or_used_protocol_or_label_is_refused_with_a_hint() {
    let scene = empty();
    let refused = |done: Result<(), Error>, expected: Expect| {
        expected.assert_eq(&done.expect_err("it is refused").to_string());
    };
    refused(
        scene.host.calls().add_protocol(Console),
        expect![
            "the protocol `console` is taken: the host has registered it, and resolvers may be added to it; choose another name"
        ],
    );
    refused(
        scene.host.calls().add_protocol(PlainProtocol::new("uf")),
        expect!["the protocol `uf` is taken: it is built in; choose another name"],
    );
    refused(
        scene.host.calls().add_protocol(PlainProtocol::new("Two words\n")),
        expect![[
            r#"`Two words\n` cannot be a protocol: write at most 32 lower-case letters, digits, `+`, `-` and `.`, a letter first"#
        ]],
    );
    refused(
        scene.add("console", 5, "commands"),
        expect![
            "the resolver `commands` cannot be added to the protocol `console`: it has a resolver of that label; choose another, since errors identify resolvers by label"
        ],
    );
    refused(
        scene.add("nowhere", 5, "commands"),
        expect![
            "the resolver `commands` cannot be added to the protocol `nowhere`: there is none of that name; add the protocol first"
        ],
    );
    refused(
        scene.add("ex", 5, "commands"),
        expect![
            "the resolver `commands` cannot be added to the protocol `ex`: it is built in, and its names are resolved by the runtime; add a protocol for them"
        ],
    );
    check(&scene.host, "console:/say", &[text("a")], expect![[r#"Text("commands: a")"#]]);
}

#[test]
fn a_panic_in_a_resolver_is_an_error_of_the_caller() {
    let Scene { host, .. } = empty();
    for _ in 0..2 {
        check(&host, "console:/panics", &[], expect![[r#"refused: panicked: "on purpose""#]]);
        check(&host, "console:/breaks", &[text("a")], expect![[r#"refused: panicked: "in the function""#]]);
    }
    check(&host, "console:/say", &[text("a")], expect![[r#"Text("commands: a")"#]]);
}

#[test]
fn resolvers_and_functions_may_come_back_to_the_runtime() {
    let Scene { host, .. } = empty();
    check(
        &host,
        "console:/deep",
        &[],
        expect![[
            r#"refused: `console:/deep` does not resolve: tried commands (declined: Some(Text("commands: deep"))); `console:/help` lists the commands"#
        ]],
    );
    check(&host, "inner:/x", &[], expect!["refused: `inner:/x` does not resolve: no resolver is registered"]);
    check(
        &host,
        "console:/itself",
        &[],
        expect![
            "refused: `console:/itself` does not resolve: tried commands (declined: the resolution of a name requires itself: console:/itself → console:/itself; answer without these names); `console:/help` lists the commands"
        ],
    );
    check(&host, "console:/down", &[Value::U32(10)], expect!["U32(55)"]);
}

#[test]
fn two_protocols_are_independent() {
    let scene = empty();
    scene.host.calls().add_protocol(PlainProtocol::new("db")).expect("it is free");
    check(
        &scene.host,
        "db:/say",
        &[text("a")],
        expect!["refused: `db:/say` does not resolve: no resolver is registered"],
    );
    scene.add("db", 0, "tables").expect("there is the protocol");
    check(&scene.host, "db:/say", &[text("a")], expect![[r#"Text("tables: a")"#]]);
    check(&scene.host, "console:/say", &[text("a")], expect![[r#"Text("commands: a")"#]]);
    check(
        &scene.host,
        "db:/Say",
        &[text("a")],
        expect!["refused: `db:/Say` does not resolve: tried tables (declined: unknown command Say)"],
    );
}

#[test]
fn a_host_protocol_survives_rollback_reload_and_unload() {
    let library = support::plugin("switchboard", &[]);
    let Scene { host, more, .. } = scene(support::host(std::slice::from_ref(&library)));
    let handle = host.calls().resolve("console:/say").expect("it is there");
    let query = |line, name: &str| {
        host.objects().call(line, "query", &[text(name), text("Ana")]).expect("the call succeeds").expect("a text")
    };
    let line = host.objects().spawn(LINE).expect("a line");
    assert_eq!(query(line, "console:/say"), text("commands: Ana"));
    let before = host.worlds().digest();
    let broken = host.reload(&[library.clone(), support::plugin("reports", &["panic-in-main"])]).expect("a Master");
    assert!(!broken.is_committed());
    assert_eq!(before.differences(&host.worlds().digest()), [""; 0]);
    host.reload(&[library]).expect("a Master").into_result().expect("a reload");
    assert_eq!(query(line, "console:/say"), text("commands: Ana"));
    // The refusal of an unknown name is not cached. The name resolves as soon as a resolver offers it.
    let unknown = query(line, "console:/sing");
    assert!(matches!(&unknown, Value::Text(text) if text.contains("unknown command sing")), "{unknown:?}");
    more.borrow_mut().push("sing".to_owned());
    assert_eq!(query(line, "console:/sing"), text("more: Ana"));
    host.unload_master().expect("a Master");
    assert_eq!(host.calls().call_handle(handle, &[text("Ana")]).expect("it answers"), Some(text("commands: Ana")));
}

struct Counted(Rc<Cell<u32>>, Runtime);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[test]
fn a_shutdown_drops_registrations_that_own_the_host() {
    let gone = Rc::new(Cell::new(0));
    let host = Runtime::builder().build().expect("a host");
    host.calls().add_protocol(PlainProtocol::new("db")).expect("it is free");
    let owns = Counted(Rc::clone(&gone), host.clone());
    let count = Rc::clone(&gone);
    let resolver = move |_: &ZCallName| {
        let inner = Counted(Rc::clone(&count), owns.1.clone());
        Ok(Answer::Function(Resolved::new(signature("-> u32"), move |mut call: Call<'_>| {
            call.set_result(inner.1.objects().iter().len() as u32)
        })))
    };
    host.calls().add_resolver("db", 0, "tables", resolver).expect("there is the protocol");
    let handle = host.calls().resolve("db:/objects").expect("it is there");
    assert!(host.calls().call_handle(handle, &[]).is_ok());
    let other = host.clone();
    host.shutdown();
    assert_eq!(gone.get(), 2, "the resolver and its function");
    let error = other.calls().call_handle(handle, &[]).expect_err("expired").to_string();
    assert!(error.contains("is not available"), "{error}");
}

thread_local! {
    /// Host of a generator. Stored in a thread-local, because a generator must be `Send` and a host is not.
    static HOST: RefCell<Option<WeakRuntime>> = const { RefCell::new(None) };
}

#[test]
#[expect(deprecated, reason = "yields below a host frame, without access to the generator's scope")]
fn a_suspended_lookup_of_a_coroutine_forms_no_cycle_with_later_lookups() {
    let host = Runtime::builder().build().expect("a host");
    host.calls().add_protocol(PlainProtocol::new("db")).expect("it is free");
    let suspends = Cell::new(true);
    let resolver = move |_: &ZCallName| {
        if suspends.replace(false) {
            generator::yield_with(false);
        }
        Ok(Answer::Function(Resolved::new(signature("-> u32"), |mut call: Call<'_>| call.set_result(7_u32))))
    };
    host.calls().add_resolver("db", 0, "tables", resolver).expect("there is the protocol");
    HOST.set(Some(host.downgrade()));
    let mut lookup = generator::Gn::<()>::new_opt(0x1_0000, || {
        let host = HOST.take().and_then(|host| host.upgrade()).expect("it is there");
        host.calls().resolve("db:/objects").is_ok()
    });
    assert_eq!(lookup.resume(), Some(false));
    let found = host.calls().resolve("db:/objects");
    assert!(found.is_ok(), "{found:?}");
    assert_eq!(lookup.resume(), Some(true));
}

#[test]
#[expect(deprecated, reason = "yields below a host frame, without access to the generator's scope")]
fn coroutines_may_look_up_one_name_at_the_same_time() {
    let host = Runtime::builder().build().expect("a host");
    host.calls().add_protocol(PlainProtocol::new("db")).expect("it is free");
    let inner = host.downgrade();
    let resolver = move |name: &ZCallName| {
        let next = match name.rest() {
            "objects" => {
                generator::yield_with("suspended".to_owned());
                None
            }
            "cycle" => Some("db:/inner"),
            _ => Some("db:/cycle"),
        };
        if let Some(next) = next {
            inner.upgrade().expect("it is there").calls().resolve(next)?;
        }
        Ok(Answer::Function(Resolved::new(signature("-> u32"), |mut call: Call<'_>| call.set_result(7_u32))))
    };
    host.calls().add_resolver("db", 0, "tables", resolver).expect("there is the protocol");
    HOST.set(Some(host.downgrade()));
    let lookup = |name: &'static str| {
        generator::Gn::<()>::new_opt(0x1_0000, move || {
            let host = HOST.with_borrow(|host| host.as_ref().and_then(WeakRuntime::upgrade)).expect("it is there");
            host.calls().resolve(name).map_or_else(|error| error.to_string(), |_| "found".to_owned())
        })
    };
    // The number of suspended lookups exceeds the maximum nesting depth.
    let mut lookups: Vec<_> = (0..80).map(|_| lookup("db:/objects")).collect();
    for expected in ["suspended", "found"] {
        for lookup in &mut lookups {
            assert_eq!(lookup.resume().as_deref(), Some(expected));
        }
        let cycle = lookup("db:/cycle").resume().expect("it returns");
        assert!(cycle.contains("requires itself: db:/cycle → db:/inner → db:/cycle;"), "{cycle}");
    }
    HOST.take();
}

#[test]
fn only_pure_functions_are_called_before_a_commit() {
    let (host, log) = (Rc::new(RefCell::new(None::<WeakRuntime>)), Rc::new(RefCell::new(Vec::new())));
    let (known, inner) = (Rc::clone(&host), Rc::clone(&log));
    let listener = move |event: &ContextEvent| {
        let Some(host) = known.borrow().as_ref().and_then(WeakRuntime::upgrade) else { return };
        let pure = host.calls().call("console:/say", &[text("a")]).is_ok();
        let other =
            host.calls().call("console:/add", &[Value::I32(1), Value::I32(2)]).map_err(|error| error.to_string());
        inner.borrow_mut().push((format!("{event:?}"), pure, other));
    };
    let runtime = support::builder().on_event(listener).build().expect("a host");
    *host.borrow_mut() = Some(runtime.downgrade());
    let Scene { host, .. } = scene(runtime);
    let library = support::plugin("switchboard", &[]);
    host.create_master(std::slice::from_ref(&library)).expect("a Master");
    host.reload(&[library]).expect("a Master").into_result().expect("a reload");
    let log = log.borrow();
    assert!(log.iter().all(|(_, pure, _)| *pure), "{log:?}");
    let refused = |other: &Result<_, String>| matches!(other, Err(text) if text.starts_with("calling console:/add is refused before the commit"));
    assert!(log.iter().any(|(_, _, other)| refused(other)), "{log:?}");
}
