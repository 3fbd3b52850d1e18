//! Protocols of a module: `db`, whose names are columns of tables in this module, and a resolver for the host's protocol `console`. Both
//! end with their generation. The next generation registers the protocol and the resolver again.

#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use alcedo_plugin_api::ZFunction;
use alcedo_plugin_api::prelude::*;
use alcedo_plugin_api::protocols::{Answer, PlainProtocol, Protocol, Resolver, add_protocol, add_resolver};

module! { name: "ledger", main: started, exit: ended }

/// Numbers by column name, shared by all users.
type Columns = Rc<RefCell<BTreeMap<String, i64>>>;

thread_local! {
    static COLUMNS: Columns = Rc::new(RefCell::new(BTreeMap::from([("users.count".to_owned(), 2)])));
}

fn started() {
    let columns = COLUMNS.with(Rc::clone);
    let added = add_protocol(Db).and_then(|()| add_resolver("db", 0, "tables", Tables(columns)));
    tracing::info!(target: "ledger", "db: {}", format_result(added));
    let added = add_resolver("console", -1, "commands of the ledger", commands);
    tracing::info!(target: "ledger", "console: {}", format_result(added));
    assert!(!fixture::on!("panic-in-main"), "the switch is on");
}

fn ended() {
    tracing::info!(target: "ledger", "exit");
}

/// Protocol for names of the form `db:/table.column`. The names are case-insensitive.
struct Db;

impl Protocol for Db {
    fn word(&self) -> &str {
        "db"
    }

    fn form(&self) -> &str {
        "`db:/table.column`"
    }

    fn help(&self) -> &str {
        "the ledger has to learn it first"
    }

    fn read(&self, address: &str) -> Result<String, String> {
        let Some((table, column)) = address.split_once('.') else {
            return Err("a table and a column are missing".to_owned());
        };
        assert!(table != "crash", "the protocol crashes");
        Ok(format!("{}.{}", table.to_lowercase(), column.to_lowercase()))
    }
}

/// Resolver for the names of columns.
struct Tables(Columns);

impl Resolver for Tables {
    fn resolve(&self, name: &str) -> Result<Answer, CallError> {
        match name {
            "resolver.crash" => panic!("the resolver crashes"),
            "resolver.fails" => return Err(CallError::other("the resolver fails")),
            // Function that calls functions under other names.
            "other.sum" => {
                let add = ZFunction::<(i32, i32), i32>::find("ex:/ledger.add")?;
                return Ok(Answer::function(move |args: (i32, i32)| add.call(args)));
            }
            "itself.needed" => {
                let itself = zcall::<_, i64>("db:/itself.needed", ());
                return Ok(Answer::declined(format_result(itself)));
            }
            _ => {}
        }
        if !self.0.borrow().contains_key(name) {
            return Ok(Answer::declined(format!("unknown column {name}")));
        }
        let (columns, name, dropped) = (Rc::clone(&self.0), name.to_owned(), Dropped(name.to_owned()));
        Ok(Answer::function(move |(add,): (i64,)| {
            let _kept = &dropped;
            if add < 0 {
                return Err("a column only grows");
            }
            assert!(add != 99, "99 is too much");
            let mut columns = columns.borrow_mut();
            let number = columns.entry(name.clone()).or_default();
            *number += add;
            Ok(*number)
        }))
    }
}

/// Writes a log line when the function of a column is dropped.
struct Dropped(String);

impl Drop for Dropped {
    fn drop(&mut self) {
        tracing::info!(target: "ledger", "dropped {}", self.0);
    }
}

/// Resolves the commands that this module adds to those of the host.
fn commands(name: &str) -> Result<Answer, CallError> {
    match name {
        "build" => Ok(Answer::function(|()| fixture::tag())),
        "greet" => Ok(Answer::function(|(target,): (String,)| format!("the ledger greets {target}"))),
        other => Ok(Answer::declined(format!("the ledger has no command {other}"))),
    }
}

#[zcall(ex = "ledger.add")]
fn add(one: i32, other: i32) -> i32 {
    one.wrapping_add(other)
}

/// Functions without an object.
pub struct Sums;

#[zmethods]
impl Sums {
    /// Returns the sum.
    #[zmethod]
    fn add(one: i32, other: i32) -> i32 {
        add(one, other)
    }
}

/// Calls the function of this name with the arguments 1 and 2. With `on_thread`, makes the call on a new thread.
#[zcall(ex = "ledger.try_call")]
fn try_call(name: String, on_thread: bool) -> String {
    let call = move || match zcall::<_, i32>(&name, (1_i32, 2_i32)) {
        Ok(sum) => sum.to_string(),
        Err(error) => format!("{:?}: {error}", error.kind()),
    };
    if on_thread { std::thread::spawn(call).join().expect("no panic") } else { call() }
}

/// Adds a column of this name.
#[zcall(ex = "ledger.learn")]
fn learn(column: String) {
    COLUMNS.with(|columns| columns.borrow_mut().insert(column, 0));
}

/// Registers a protocol with this keyword. With `on_thread`, registers it on a new thread.
#[zcall(ex = "ledger.register")]
fn register(word: String, on_thread: bool) -> String {
    let register = move || format_result(add_protocol(PlainProtocol::new(&word)));
    if on_thread { std::thread::spawn(register).join().expect("no panic") } else { register() }
}

/// Adds a resolver that declines every name to a protocol.
#[zcall(ex = "ledger.resolve")]
fn resolve(protocol: String, label: String) -> String {
    format_result(add_resolver(&protocol, 0, &label, |_: &str| Ok(Answer::declined("no such name"))))
}

fn format_result<T>(done: Result<T, CallError>) -> String {
    done.map_or_else(|error| format!("{:?}: {error}", error.kind()), |_| "done".to_owned())
}
