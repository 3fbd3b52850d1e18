//! Brings `tracing` events and spans of the plugin to the host's subscriber. The plugin's copy of `tracing` has
//! statics of its own, and this is their subscriber: it keeps no span data, only counts who still holds a span.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use alcedo_abi::abi_stable::std_types::RStr;
use alcedo_abi::log::{LogField, LogLevel, SpanStep};
use tracing_core::dispatcher::{set_default, set_global_default};
use tracing_core::field::{Field, Visit};
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::{Dispatch, Event, Interest, Level, LevelFilter, Metadata, Subscriber};

use crate::records;

/// The number of a span that the host does not follow. The host's own numbers count up and never get here.
const UNHEARD: u64 = u64::MAX;

/// How many handles of the plugin name each open span.
static HOLDERS: Mutex<BTreeMap<u64, usize>> = Mutex::new(BTreeMap::new());

struct Bridge;

/// Makes the bridge the subscriber of this copy of `tracing`. Returns false if the plugin has set one before.
pub(crate) fn install(level: LogLevel) -> bool {
    level == LogLevel::OFF || set_global_default(Dispatch::new(Bridge)).is_ok()
}

/// Makes the bridge the subscriber of this thread while `main` runs, which may set one for the module, and that of the module
/// if it has not. Returns false if it has.
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
        let metadata = span.metadata();
        let mut fields = Fields::default();
        span.record(&mut fields);
        let number = fields.lend(|_message, fields| {
            records::open_span(&records::record(
                level_of(*metadata.level()),
                metadata.target(),
                metadata.name(),
                metadata.file().unwrap_or_default(),
                metadata.line().unwrap_or_default(),
                fields,
            ))
        });
        if number == 0 {
            return Id::from_u64(UNHEARD);
        }
        holders().insert(number, 1);
        Id::from_u64(number)
    }

    // Values that a span gets after it was opened stay behind: the host's span has its fields from the start.
    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let metadata = event.metadata();
        let mut fields = Fields::default();
        event.record(&mut fields);
        fields.lend(|message, fields| {
            records::send_event(&records::record(
                level_of(*metadata.level()),
                metadata.target(),
                message,
                metadata.file().unwrap_or_default(),
                metadata.line().unwrap_or_default(),
                fields,
            ));
        });
    }

    fn enter(&self, span: &Id) {
        step(span, SpanStep::ENTER);
    }

    fn exit(&self, span: &Id) {
        step(span, SpanStep::EXIT);
    }

    fn clone_span(&self, span: &Id) -> Id {
        if let Some(count) = holders().get_mut(&span.into_u64()) {
            *count += 1;
        }
        span.clone()
    }

    fn try_close(&self, span: Id) -> bool {
        let number = span.into_u64();
        let mut counts = holders();
        let Some(count) = counts.get_mut(&number) else { return false };
        *count -= 1;
        if *count > 0 {
            return false;
        }
        counts.remove(&number);
        drop(counts);
        records::step_span(number, SpanStep::CLOSE);
        true
    }
}

fn holders() -> MutexGuard<'static, BTreeMap<u64, usize>> {
    // The map is whole after each change, so a panic elsewhere while it was locked does no harm.
    HOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn step(span: &Id, step: SpanStep) {
    let number = span.into_u64();
    if number != UNHEARD {
        records::step_span(number, step);
    }
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

/// The message and the fields of a record, printed.
#[derive(Default)]
struct Fields {
    message: String,
    fields: Vec<(&'static str, String)>,
}

impl Fields {
    fn lend<R>(&self, code: impl FnOnce(&str, &[LogField<'_>]) -> R) -> R {
        let lent: Vec<_> = self
            .fields
            .iter()
            .map(|(name, value)| LogField { name: RStr::from_str(name), value: RStr::from_str(value) })
            .collect();
        code(&self.message, &lent)
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => value.clone_into(&mut self.message),
            name => self.fields.push((name, value.to_owned())),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let mut text = String::new();
        // Writing into a `String` fails only when the value's own `Debug` does; what it wrote so far is still sent.
        let _cut_short = write!(text, "{value:?}");
        match field.name() {
            "message" => self.message = text,
            name => self.fields.push((name, text)),
        }
    }
}
