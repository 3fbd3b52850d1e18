//! Tests that observed calls are counted and have spans. Also tests that calls without an observer have no cost, and the fields of a
//! plugin's spans.

use crate::support;

use std::sync::{Arc, Mutex};

use alcedo_runtime::host::TypedFunction;
use alcedo_runtime::zcall::Observed;
use alcedo_runtime::{Runtime, Value};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Subscriber, subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;

const COUNTS: Observed = Observed { counts: true, spans: false };

fn host() -> Runtime {
    let host = support::host(&[support::plugin("switchboard", &[])]);
    host.calls().register_typed("host.sum", |_, (one, other): (i32, i32)| one + other).expect("it is free");
    let fail = |_: &Runtime, (number,): (i32,)| if number < 0 { Err("it is negative") } else { Ok(number) };
    host.calls().register_typed("host.fail", fail).expect("it is free");
    host
}

fn counted(host: &Runtime) -> Vec<(String, String, u64, u64)> {
    host.calls().times().into_iter().map(|times| (times.kind, times.name, times.calls, times.failed)).collect()
}

fn row(kind: &str, name: &str, calls: u64, failed: u64) -> (String, String, u64, u64) {
    (kind.to_owned(), name.to_owned(), calls, failed)
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn observed_calls_of_every_protocol_are_counted_by_name() {
    let host = host();
    let line = host.objects().spawn("/Script/Game.Line").expect("a line");
    let sum: TypedFunction<(i32, i32), i32> = host.function("nm:/switchboard:Line:sum").expect("it is there");
    let own: TypedFunction<(i32, i32), i32> = host.function("ex:/host.sum").expect("it is there");
    let round = || {
        for number in 0..3 {
            assert_eq!(sum.call((number, 1)).expect("a sum"), number + 1);
        }
        own.call((1, 2)).expect("a sum");
        host.calls().call("ex:/host.fail", &[Value::I32(-1)]).expect_err("the function fails");
        host.calls().call("uf:/Script/Game.Line:answer", &[Value::Object(line), text("Ana")]).expect("an answer");
        host.calls().call("up:/Script/Game.Line:number", &[Value::Object(line)]).expect("a number");
        // The plugin calls the host by name. One of these calls passes no signature.
        for by in ["add_by", "add_any"] {
            let arguments = [text("ex:/host.sum"), Value::I32(1), Value::I32(2)];
            assert_eq!(host.objects().call(line, by, &arguments).expect("the call succeeds"), Some(text("3")));
        }
    };
    round();
    assert!(counted(&host).is_empty() && !host.calls().observed().any());
    host.calls().observe(COUNTS);
    round();
    let expected = [
        row("ex", "ex:/host.fail", 1, 1),
        row("ex", "ex:/host.sum", 3, 0),
        row("nm", "nm:/switchboard:Line:sum", 3, 0),
        row("uf", "uf:/Script/Game.Line:answer", 1, 0),
        row("up", "up:/Script/Game.Line:number", 1, 0),
    ];
    let of_names = |host: &Runtime| {
        let mut counted = counted(host);
        // Excludes calls without a name, which are counted separately by kind.
        counted.retain(|(_, name, ..)| name.contains(":/"));
        counted
    };
    assert_eq!(of_names(&host), expected);
    // Every kind of call to a module function is counted. So far, `answer` was called by name, and two functions were called on the object.
    let methods: Vec<_> = counted(&host).into_iter().filter(|(kind, ..)| kind == "method").collect();
    let method = |name: &str| methods.iter().find(|(_, known, ..)| known.ends_with(name)).map(|(.., calls, _)| *calls);
    assert_eq!((method("answer"), method("add_by"), method("add_any")), (Some(1), Some(1), Some(1)), "{methods:?}");
    let times = host.calls().times();
    for times in &times {
        assert_eq!(times.histogram.buckets().map(|(_, calls)| calls).sum::<u64>(), times.calls, "{times}");
        assert!(times.longest <= times.total && times.histogram.percentile(100) >= times.longest / 2, "{times}");
    }
    let table = host.console("calls");
    assert!(table.contains("3 × nm:/switchboard:Line:sum (nm): mean ") && table.contains(", 1 failed"), "{table}");
    // With counting disabled, lookups that were made before still work, and the counters do not change.
    assert!(host.console("calls off").contains("counting of calls by name is off"));
    round();
    assert_eq!(of_names(&host), expected);
    host.console("calls clear");
    assert!(counted(&host).is_empty());
    host.console("calls on");
    // The counters continue across a reload, because the names do not change.
    own.call((1, 2)).expect("a sum");
    let report = host.reload(&[support::plugin("switchboard", &[])]).expect("a Master");
    report.into_result().unwrap_or_else(|report| panic!("{report}"));
    own.call((1, 2)).expect("a sum");
    assert_eq!(of_names(&host), [row("ex", "ex:/host.sum", 2, 0)]);
}

/// Lines for the new spans with this target.
struct Spans(Arc<Mutex<Vec<String>>>, &'static str);

#[derive(Default)]
struct Fields(Vec<String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.push(format!("{field}={value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.push(format!("{field}={value}"));
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if attributes.metadata().target() == self.1 {
            let mut fields = Fields::default();
            attributes.record(&mut fields);
            let depth = context.span_scope(id).map_or(0, Iterator::count);
            let line = format!("{depth} {} {}", attributes.metadata().name(), fields.0.join(" "));
            self.0.lock().expect("no panic").push(line);
        }
    }
}

#[test]
fn each_observed_call_is_a_span_inside_its_callers_span() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let layers = tracing_subscriber::registry().with(Spans(Arc::clone(&lines), "alcedo::calls"));
    subscriber::with_default(layers, || {
        let host = host();
        let line = host.objects().spawn("/Script/Game.Line").expect("a line");
        let query = || {
            let arguments = [Value::Object(line), text("ex:/host.sum"), Value::I32(1), Value::I32(2)];
            host.calls().call("uf:/Script/Game.Line:add_by", &arguments).expect("the call succeeds");
        };
        query();
        assert!(lines.lock().expect("no panic").is_empty(), "no observer was set");
        host.calls().observe(Observed { counts: false, spans: true });
        query();
        host.calls().observe(Observed::default());
        query();
        assert!(counted(&host).is_empty());
    });
    let mut lines = lines.lock().expect("no panic").clone();
    // Removes the span of the method `add_by`. The depth of this span is 2.
    lines.retain(|line| line.contains(":/"));
    assert_eq!(lines, ["1 call kind=uf name=uf:/Script/Game.Line:add_by", "3 call kind=ex name=ex:/host.sum"]);
}

#[test]
fn a_span_of_a_plugin_keeps_a_field_named_message() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let layers = tracing_subscriber::registry().with(Spans(Arc::clone(&lines), "loggers"));
    subscriber::with_default(layers, || {
        let host = support::host(&[support::plugin("loggers", &[])]);
        host.calls().call("ex:/loggers.write", &[text("later")]).expect("the call succeeds");
    });
    let lines = lines.lock().expect("no panic");
    assert_eq!(*lines, ["1 write message=write module=loggers generation=1 plugin.message=later"]);
}

#[test]
fn a_plugin_finds_its_current_span() {
    subscriber::with_default(tracing_subscriber::registry(), || {
        let host = support::host(&[support::plugin("loggers", &[])]);
        let current = host.calls().call("ex:/loggers.spans", &[]).expect("the call succeeds");
        assert_eq!(current, Some(text("inner outer none")));
    });
}
