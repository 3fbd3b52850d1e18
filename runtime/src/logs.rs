//! Forwards the log events and spans of plugins, with their nesting, to the host's `tracing` subscriber. Each plugin contains a separate
//! copy of `tracing`, whose callsites are unmapped with the plugin. The host therefore creates its own callsite for each distinct log
//! statement of a plugin. An equal statement in the next generation reuses this callsite. Filters by target and level work as for host
//! code. The memory for callsites grows with the number of distinct statements, up to [`MOST_CALLSITES`]. A reload without new statements
//! needs no additional memory.
//! If a thread has no subscriber, its records are sent to the subscriber of the thread that built the host. If a process has several hosts,
//! for example in tests, each host receives the records of its own modules.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use alcedo_abi::log::{LogLevel, LogRecord, SpanStep};
use tracing::field::{Value, display};
use tracing::subscriber::NoSubscriber;
use tracing::{Dispatch, Event, Level, Metadata, Span, dispatcher};
use tracing_core::callsite::{Callsite, Identifier};
use tracing_core::field::FieldSet;
use tracing_core::metadata::Kind;
use tracing_core::subscriber::Interest;

use crate::boundary::CallError;
use crate::conjugate::gate::ModuleTag;
use crate::panic_guard;
use crate::sync::lock;
use crate::unheard;

/// Maximum number of callsites. A plugin can compute the targets of its log statements, and the memory of a callsite is never freed.
const MOST_CALLSITES: usize = 10_000;
/// Target of all further statements. Their records contain no location, and only the field [`OWN_TARGET`].
const FURTHER: &str = "alcedo::plugin";
/// Field of the records of further statements. Contains the target of the statement.
const OWN_TARGET: &str = "plugin.target";
/// Maximum number of fields of one statement, in addition to message, module and generation. Further fields are omitted.
const MOST_FIELDS: usize = 13;
const OWN_FIELDS: usize = 3;
/// Target of the log records for panics. Used for panics that no call returns to the host as an error.
const PANICS: &str = "alcedo::panic";

/// Receives the log records of all modules of one runtime. Can be used on any thread.
#[derive(Default)]
pub(crate) struct Logs {
    modules: Mutex<HashMap<u64, ModuleTag>>,
    /// Open spans by span id, each with the id of its module.
    spans: Mutex<HashMap<u64, (u64, Span)>>,
    next_span: AtomicU64,
    /// Subscriber of the thread that built the host, at the time of the build. The host keeps this subscriber alive.
    home: Dispatch,
}

impl Logs {
    /// Registers a module. Log records of the module then contain its name and generation.
    pub(crate) fn introduce(&self, tag: &ModuleTag) {
        lock(&self.modules).insert(tag.id.0, tag.clone());
    }

    /// Unregisters a module and closes its open spans.
    pub(crate) fn forget(&self, tag: &ModuleTag) {
        lock(&self.modules).remove(&tag.id.0);
        let open: Vec<_> = lock(&self.spans).extract_if(|_, (module, _)| *module == tag.id.0).collect();
        // Drops the spans after releasing the lock, because dropping a span calls subscribers.
        open.into_iter().for_each(|span| panic_guard::log(|| drop(span)));
    }

    pub(crate) fn event(&self, module: u64, record: &LogRecord<'_>) {
        let Some(tag) = self.tag(module) else { return };
        if record.target.as_str() == PANICS {
            let (message, file, line) = (record.message.as_str(), record.file.as_str(), record.line);
            unheard::print(&format_args!("{} panicked: {message:?} at {file}:{line}", tag.name));
        }
        let callsite = callsite(record, Kind::EVENT);
        self.with_subscriber(|| {
            if callsite.is_enabled() {
                with_values(callsite, &tag, record, |values| Event::dispatch(callsite.facts(), values));
            }
        });
    }

    /// Opens a span of a module and returns its id. Returns zero if no subscriber accepts the span.
    pub(crate) fn open(&self, module: u64, record: &LogRecord<'_>) -> u64 {
        let Some(tag) = self.tag(module) else { return 0 };
        let callsite = callsite(record, Kind::SPAN);
        let mut span = None;
        self.with_subscriber(|| {
            if callsite.is_enabled() {
                with_values(callsite, &tag, record, |values| span = Some(Span::new(callsite.facts(), values)));
            }
        });
        let Some(span) = span else { return 0 };
        let id = self.next_span.fetch_add(1, Ordering::Relaxed) + 1;
        lock(&self.spans).insert(id, (module, span));
        id
    }

    /// Enters, exits or closes a span.
    pub(crate) fn step(&self, id: u64, step: SpanStep) {
        let span = match step {
            SpanStep::CLOSE => lock(&self.spans).remove(&id).map(|(_, span)| span),
            _ => lock(&self.spans).get(&id).map(|(_, span)| span.clone()),
        };
        let Some(span) = span else { return };
        // Guards the step and the drop of the span separately, because a panic of the drop during a panic of the step would abort the
        // process.
        panic_guard::log(|| {
            span.with_subscriber(|(id, dispatch)| match step {
                SpanStep::ENTER => dispatch.enter(id),
                SpanStep::EXIT => dispatch.exit(id),
                _ => {}
            });
        });
        panic_guard::log(|| drop(span));
    }

    /// Runs `send` with the subscriber of this thread. If this thread has no subscriber, uses the subscriber of the thread that built the
    /// host. Does not run `send` while a subscriber is being called on this thread. `tracing` itself prevents this recursion, but
    /// `with_default` would allow the recursion.
    fn with_subscriber(&self, send: impl FnOnce()) {
        let has_none = |dispatch: &Dispatch| dispatch.is::<NoSubscriber>();
        // During a call of a subscriber, `get_current` returns `None`, while `get_default` returns an empty subscriber. `get_current` is
        // public, but not documented.
        let is_silent = tracing_core::dispatcher::get_current(has_none).unwrap_or(false);
        if has_none(&self.home) || !is_silent {
            send();
        } else {
            dispatcher::with_default(&self.home, send);
        }
    }

    fn tag(&self, module: u64) -> Option<ModuleTag> {
        lock(&self.modules).get(&module).cloned()
    }
}

/// Returns the key that identifies repeated failures: the file and line of the failure. For a failure without a location, the key is the
/// message without digits, because repeated messages may contain different object numbers.
pub(crate) fn location(error: &CallError) -> (String, u32) {
    match error {
        CallError::InScript { stack, .. } if !stack.is_empty() => (stack[0].function.clone(), stack[0].line),
        CallError::Panicked { place: Some(place), .. } => (place.file.clone(), place.line),
        _ => (without_digits(&error.to_string()), 0),
    }
}

pub(crate) fn without_digits(message: &str) -> String {
    message.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

/// Levels in the order of [`LogLevel`]. The first is [`LogLevel::ERROR`].
const LEVELS: [Level; 5] = [Level::ERROR, Level::WARN, Level::INFO, Level::DEBUG, Level::TRACE];

/// Returns the most verbose log level that any subscriber in this process currently accepts.
pub(crate) fn loudest() -> LogLevel {
    let loudest = tracing::level_filters::LevelFilter::current().into_level();
    let found = LEVELS.iter().zip(1..).find(|(level, _)| loudest.as_ref() == Some(level));
    found.map_or(LogLevel::OFF, |(_, number)| LogLevel(number))
}

/// Callsite for a log statement of a plugin. The metadata is set after the creation of the callsite, because the metadata contains a
/// reference to this callsite.
struct PluginCallsite {
    metadata: OnceLock<Metadata<'static>>,
    is_shared: bool,
}

impl Callsite for PluginCallsite {
    fn set_interest(&self, _interest: Interest) {}

    fn metadata(&self) -> &Metadata<'_> {
        self.facts()
    }
}

impl PluginCallsite {
    fn facts(&self) -> &Metadata<'static> {
        self.metadata.get().expect("filled in by `make` before anybody sees the callsite")
    }

    fn is_enabled(&self) -> bool {
        self.facts().level() <= &tracing::level_filters::LevelFilter::current()
            && dispatcher::get_default(|dispatch| dispatch.enabled(self.facts()))
    }
}

#[derive(PartialEq, Eq, Hash)]
struct Key {
    /// Set for a callsite that several statements share.
    is_shared: bool,
    is_span: bool,
    level: u8,
    line: u32,
    file: String,
    target: String,
    name: String,
    fields: Vec<String>,
}

type Callsites = Mutex<HashMap<Key, &'static PluginCallsite>>;

impl Key {
    /// Returns the key of the callsite that all further statements of this kind and level share.
    fn into_shared(self) -> Self {
        let name = if self.is_span { "plugin span" } else { "" }.to_owned();
        let (target, fields) = (FURTHER.to_owned(), vec![OWN_TARGET.to_owned()]);
        Self { is_shared: true, line: 0, file: String::new(), target, name, fields, ..self }
    }
}

/// Returns the host's callsite for a log statement of a plugin. `tracing` requires that callsites are never freed.
fn callsite(record: &LogRecord<'_>, kind: Kind) -> &'static PluginCallsite {
    static KNOWN: OnceLock<Callsites> = OnceLock::new();
    callsite_in(KNOWN.get_or_init(Mutex::default), record, kind, MOST_CALLSITES)
}

/// Implements [`callsite`]. Beyond `most` callsites, all new statements of one level share a callsite.
fn callsite_in(known: &Callsites, record: &LogRecord<'_>, kind: Kind, most: usize) -> &'static PluginCallsite {
    let is_span = kind == Kind::SPAN;
    let key = Key {
        is_shared: false,
        is_span,
        level: record.level.0,
        line: record.line,
        file: record.file.as_str().to_owned(),
        target: record.target.as_str().to_owned(),
        name: if is_span { record.message.as_str().to_owned() } else { String::new() },
        fields: record.fields.iter().take(MOST_FIELDS).map(|field| field.name.as_str().to_owned()).collect(),
    };
    let mut known = lock(known);
    let key = if known.len() < most || known.contains_key(&key) { key } else { key.into_shared() };
    if let Some(callsite) = known.get(&key) {
        return callsite;
    }
    let made = make(&key, kind);
    known.insert(key, made);
    drop(known);
    tracing_core::callsite::register(made);
    made
}

fn make(key: &Key, kind: Kind) -> &'static PluginCallsite {
    let text = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
    let mut names = vec!["message", "module", "generation"];
    // Renames plugin fields named `message`, `module` or `generation`, because the host adds fields with these names.
    names.extend(
        key.fields
            .iter()
            .map(|name| if names.contains(&name.as_str()) { text(&format!("plugin.{name}")) } else { text(name) })
            .collect::<Vec<_>>(),
    );
    let names: &'static [&'static str] = Box::leak(names.into_boxed_slice());
    let name = if key.is_span { text(&key.name) } else { "plugin event" };
    let at = usize::from(key.level).checked_sub(1);
    let level = at.and_then(|at| LEVELS.get(at)).copied().unwrap_or(Level::TRACE);
    let file = (!key.file.is_empty()).then(|| text(&key.file));
    let target = text(&key.target);
    let line = (key.line != 0).then_some(key.line);
    let callsite: &'static PluginCallsite =
        Box::leak(Box::new(PluginCallsite { metadata: OnceLock::new(), is_shared: key.is_shared }));
    let fields = FieldSet::new(names, Identifier(callsite));
    let _first = callsite.metadata.set(Metadata::new(name, target, level, file, line, Some(target), fields, kind));
    callsite
}

fn with_values(
    callsite: &'static PluginCallsite,
    tag: &ModuleTag,
    record: &LogRecord<'_>,
    send: impl FnOnce(&tracing_core::field::ValueSet<'_>),
) {
    let set = callsite.facts().fields();
    let fields: Vec<_> = set.iter().collect();
    let message = display(record.message.as_str());
    let module: &str = &tag.name;
    let generation = tag.generation.0;
    let values: Vec<_> = match callsite.is_shared {
        true => vec![display(record.target.as_str())],
        false => record.fields.iter().take(MOST_FIELDS).map(|field| display(field.value.as_str())).collect(),
    };
    // `tracing` requires an array of fixed size for a value set. Unused elements stay empty.
    let mut row: [(&tracing::field::Field, Option<&dyn Value>); OWN_FIELDS + MOST_FIELDS] =
        [(&fields[0], None); OWN_FIELDS + MOST_FIELDS];
    row[0] = (&fields[0], Some(&message));
    row[1] = (&fields[1], Some(&module));
    row[2] = (&fields[2], Some(&generation));
    for ((slot, field), value) in row[OWN_FIELDS..].iter_mut().zip(&fields[OWN_FIELDS..]).zip(&values) {
        *slot = (field, Some(value));
    }
    send(&set.value_set(&row));
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Arc, Mutex, OnceLock};
    use std::{ptr, thread};

    use abi_stable::std_types::RSlice;
    use alcedo_abi::log::{LogLevel, LogRecord, SpanStep};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Dispatch, Event, Metadata, Span, Subscriber, dispatcher};
    use tracing_core::metadata::Kind;

    use super::{FURTHER, Logs, callsite_in, lock, with_values};
    use crate::conjugate::gate::ModuleTag;
    use crate::handles::{Generation, ModuleId};

    /// Subscriber that counts events. Calls the contained function during each of the first three events, and when a span is entered or
    /// closed.
    struct Counter(Arc<AtomicU64>, fn());

    impl Subscriber for Counter {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, _: &Event<'_>) {
            if self.0.fetch_add(1, Ordering::Relaxed) < 3 {
                (self.1)();
            }
        }

        fn enter(&self, _: &Id) {
            (self.1)();
        }

        fn exit(&self, _: &Id) {}

        fn try_close(&self, _: Id) -> bool {
            (self.1)();
            true
        }
    }

    /// Logs a record of module 7.
    fn record(target: &'static str) -> LogRecord<'static> {
        LogRecord {
            level: LogLevel::INFO,
            line: 1,
            target: target.into(),
            message: "hello".into(),
            file: "m.rs".into(),
            fields: RSlice::EMPTY,
        }
    }

    fn log(logs: &Logs) {
        logs.event(7, &record("m"));
    }

    #[test]
    fn statements_beyond_the_limit_share_a_callsite() {
        let known = Mutex::default();
        let find = |target| callsite_in(&known, &record(target), Kind::EVENT, 2);
        let [first, second, third, fourth] = ["request 1", "request 2", "request 3", "request 4"].map(find);
        assert!(!ptr::eq(first, second) && !ptr::eq(second, third) && ptr::eq(third, fourth));
        assert_eq!((first.facts().target(), third.facts().target()), ("request 1", FURTHER));
        assert!(ptr::eq(first, find("request 1")));
        assert_eq!(lock(&known).len(), 3);
        let tag = ModuleTag { id: ModuleId(7), name: "m".into(), generation: Generation(1) };
        let mut values = String::new();
        with_values(third, &tag, &record("request 3"), |found| values = format!("{found:?}"));
        assert!(values.contains("plugin.target: request 3"), "{values}");
    }

    /// Returns the logs of a host with module 7, built with the subscriber `home`.
    fn logs(home: &Dispatch) -> Logs {
        let logs = dispatcher::with_default(home, Logs::default);
        logs.introduce(&ModuleTag { id: ModuleId(7), name: "m".into(), generation: Generation(1) });
        logs
    }

    #[test]
    fn a_record_of_a_silent_thread_reaches_the_subscriber_of_the_host() {
        let counts = [(); 2].map(|()| Arc::new(AtomicU64::new(0)));
        let [home, other] = counts.clone().map(|count| Dispatch::new(Counter(count, || {})));
        let logs = logs(&home);
        let counted = || counts.each_ref().map(|count| count.load(Ordering::Relaxed));
        thread::scope(|scope| scope.spawn(|| log(&logs)).join()).unwrap();
        assert_eq!(counted(), [1, 0]);
        dispatcher::with_default(&other, || log(&logs));
        assert_eq!(counted(), [1, 1]);
    }

    #[test]
    fn a_record_inside_a_call_of_a_subscriber_is_dropped() {
        static LOGS: OnceLock<Logs> = OnceLock::new();
        let count = Arc::new(AtomicU64::new(0));
        let home = Dispatch::new(Counter(count.clone(), || LOGS.get().into_iter().for_each(log)));
        let logs = LOGS.get_or_init(|| logs(&home));
        dispatcher::with_default(&home, || log(logs));
        assert_eq!(count.load(Ordering::Relaxed), 1);
        thread::scope(|scope| scope.spawn(|| log(logs)).join()).unwrap();
        assert_eq!(count.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn spans_of_a_module_are_closed_although_the_subscriber_panics() {
        let home = Dispatch::new(Counter(Arc::default(), || panic!("a bug of the log")));
        let logs = logs(&home);
        let span = || dispatcher::with_default(&home, || tracing::trace_span!("work"));
        lock(&logs.spans).extend([1, 2, 3].map(|id| (id, (7, span()))));
        logs.step(1, SpanStep::ENTER);
        logs.step(1, SpanStep::CLOSE);
        logs.forget(&ModuleTag { id: ModuleId(7), name: "m".into(), generation: Generation(1) });
        assert!(lock(&logs.spans).is_empty());
    }

    #[test]
    fn an_unloaded_module_leaves_no_span_open() {
        let logs = Logs::default();
        let tag = |id| ModuleTag { id: ModuleId(id), name: "m".into(), generation: Generation(1) };
        [7, 8].iter().for_each(|id| logs.introduce(&tag(*id)));
        for (id, module) in [(1, 7), (2, 8), (3, 7)] {
            lock(&logs.spans).insert(id, (module, Span::none()));
        }
        logs.forget(&tag(7));
        let left: Vec<_> = lock(&logs.spans).iter().map(|(id, (module, _))| (*id, *module)).collect();
        assert_eq!((left, lock(&logs.modules).len()), (vec![(2, 8)], 1));
    }
}
