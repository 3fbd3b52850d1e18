//! Forwards `tracing` events and spans of the plugin to the host's subscriber. The plugin's copy of `tracing` has its own statics, for
//! which this file defines a subscriber. The subscriber stores only the number of handles to each span, and the entered spans.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use alcedo_abi::abi_stable::std_types::RStr;
use alcedo_abi::log::{LogField, LogLevel, LogRecord, SpanStep};
use tracing_core::dispatcher::{set_default, set_global_default};
use tracing_core::field::{Field, Visit};
use tracing_core::span::{Attributes, Current, Id, Record};
use tracing_core::{Dispatch, Event, Interest, Level, LevelFilter, Metadata, Subscriber};

use crate::outside::this_thread;
use crate::records;

/// Number for spans that the host does not record. The host assigns ascending numbers, which never reach this number.
const UNHEARD: u64 = u64::MAX;

/// Spans of the plugin that the host records.
struct Spans {
    /// Number of handles to each open span, and the metadata of the span.
    open: BTreeMap<u64, (usize, &'static Metadata<'static>)>,
    /// Entered spans of each thread, outermost first. Not thread-local, because a list would need a destructor.
    entered: BTreeMap<usize, Vec<u64>>,
}

static SPANS: Mutex<Spans> = Mutex::new(Spans { open: BTreeMap::new(), entered: BTreeMap::new() });

struct Bridge;

/// Installs the bridge as the subscriber of the plugin's copy of `tracing`. Returns false if the plugin has already set a subscriber.
pub(crate) fn install(level: LogLevel) -> bool {
    level == LogLevel::OFF || set_global_default(Dispatch::new(Bridge)).is_ok()
}

/// Runs `main` with the bridge as the subscriber of this thread. After `main`, installs the bridge as the subscriber of the whole module.
/// Returns false if `main` has set a subscriber for the module.
pub(crate) fn install_behind(level: LogLevel, main: impl FnOnce()) -> bool {
    if level == LogLevel::OFF {
        main();
        return true;
    }
    let bridge = Dispatch::new(Bridge);
    let here = set_default(&bridge);
    main();
    drop(here);
    set_global_default(bridge).is_ok()
}

impl Subscriber for Bridge {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.enabled(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        records::listens(level_of(*metadata.level()))
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        let level = crate::context().map_or(LogLevel::OFF, |context| context.level);
        Some(match level {
            LogLevel::OFF => LevelFilter::OFF,
            LogLevel::ERROR => LevelFilter::ERROR,
            LogLevel::WARN => LevelFilter::WARN,
            LogLevel::INFO => LevelFilter::INFO,
            LogLevel::DEBUG => LevelFilter::DEBUG,
            _ => LevelFilter::TRACE,
        })
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields::default();
        span.record(&mut fields);
        let number = fields.with_record(span.metadata(), records::open_span);
        if number == 0 {
            return Id::from_u64(UNHEARD);
        }
        spans().open.insert(number, (1, span.metadata()));
        Id::from_u64(number)
    }

    // Ignores values that are recorded after the creation of a span, because the fields of the host's span cannot change.
    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        fields.with_record(event.metadata(), records::send_event);
    }

    fn enter(&self, span: &Id) {
        let number = span.into_u64();
        if number != UNHEARD {
            spans().entered.entry(this_thread()).or_default().push(number);
            records::step_span(number, SpanStep::ENTER);
        }
    }

    fn exit(&self, span: &Id) {
        let number = span.into_u64();
        if number != UNHEARD {
            spans().leave(number);
            records::step_span(number, SpanStep::EXIT);
        }
    }

    fn clone_span(&self, span: &Id) -> Id {
        if let Some((count, _)) = spans().open.get_mut(&span.into_u64()) {
            *count += 1;
        }
        span.clone()
    }

    fn try_close(&self, span: Id) -> bool {
        let number = span.into_u64();
        let mut spans = spans();
        let Some((count, _)) = spans.open.get_mut(&number) else { return false };
        *count -= 1;
        if *count > 0 {
            return false;
        }
        spans.open.remove(&number);
        drop(spans);
        records::step_span(number, SpanStep::CLOSE);
        true
    }

    fn current_span(&self) -> Current {
        let spans = spans();
        let innermost = spans.entered.get(&this_thread()).and_then(|entered| entered.last());
        match innermost.and_then(|number| Some((*number, spans.open.get(number)?.1))) {
            Some((number, metadata)) => Current::new(Id::from_u64(number), metadata),
            None => Current::none(),
        }
    }
}

impl Spans {
    /// Removes the latest entry into a span on this thread.
    fn leave(&mut self, number: u64) {
        let Some(entered) = self.entered.get_mut(&this_thread()) else { return };
        if let Some(at) = entered.iter().rposition(|known| *known == number) {
            entered.remove(at);
        }
        if entered.is_empty() {
            self.entered.remove(&this_thread());
        }
    }
}

fn spans() -> MutexGuard<'static, Spans> {
    // A poisoned lock is harmless, because the maps are consistent after each change.
    SPANS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn level_of(level: Level) -> LogLevel {
    match level {
        Level::ERROR => LogLevel::ERROR,
        Level::WARN => LogLevel::WARN,
        Level::INFO => LogLevel::INFO,
        Level::DEBUG => LogLevel::DEBUG,
        Level::TRACE => LogLevel::TRACE,
    }
}

/// Names and formatted values of an event or span.
#[derive(Default)]
struct Fields(Vec<(&'static str, String)>);

impl Fields {
    /// Passes the record of an event or span to `code`. The record of a span has the span's name as its message, and may have a field
    /// `message`: a parameter of a function with `#[instrument]`.
    fn with_record<R>(&self, metadata: &Metadata<'_>, code: impl FnOnce(&LogRecord<'_>) -> R) -> R {
        let mut message = if metadata.is_span() { metadata.name() } else { "" };
        let mut fields = Vec::with_capacity(self.0.len());
        for (name, value) in &self.0 {
            match *name {
                "message" if !metadata.is_span() => message = value,
                name => fields.push(LogField { name: RStr::from_str(name), value: RStr::from_str(value) }),
            }
        }
        code(&records::record(
            level_of(*metadata.level()),
            metadata.target(),
            message,
            metadata.file().unwrap_or_default(),
            metadata.line().unwrap_or_default(),
            &fields,
        ))
    }

    fn put(&mut self, field: &Field, value: String) {
        self.0.push((field.name(), value));
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let mut text = String::new();
        // The write fails only if the `Debug` of the value fails. The bridge then sends the partial output.
        let _cut_short = write!(text, "{value:?}");
        self.put(field, text);
    }
}
