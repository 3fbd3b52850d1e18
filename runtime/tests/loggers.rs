//! Tests a plugin that sets its own loggers in its main. Calls to the logging crates must succeed. The plugin's lines are written to the
//! destination that its author chose. The host receives all other lines.

use crate::support;

use alcedo_runtime::{Runtime, Value};

fn loggers(features: &[&str]) -> Result<Runtime, String> {
    let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    host.create_master(&[support::plugin("loggers", features)]).map(|_| host).map_err(|error| error.to_string())
}

fn log(host: &Runtime, what: &str) {
    let result = host.calls().call("ex:/loggers.write", &[Value::Text(what.to_owned())]);
    result.unwrap_or_else(|error| panic!("{what}: {error}"));
}

fn written(host: &Runtime) -> String {
    match host.calls().call("ex:/loggers.written", &[]) {
        Ok(Some(Value::Text(written))) => written,
        other => panic!("{other:?}"),
    }
}

/// Reloads a plugin with this feature. Checks the lines that the host receives, and the lines that the plugin's own logger receives.
fn check(feature: &str, of_host: &str, own: &[&str]) {
    let record = support::record("loggers");
    let host = loggers(&[feature]).unwrap_or_else(|error| panic!("{feature}: {error}"));
    for round in 0..2 {
        log(&host, "later");
        assert_eq!(record.take(), of_host, "{feature}, {round}");
        let written = written(&host);
        let lines: Vec<_> = written.lines().collect();
        assert_eq!(lines.len(), own.len(), "{feature}, {round}: {written}");
        assert!(lines.iter().zip(own).all(|(line, own)| line.contains(own)), "{feature}, {round}: {written}");
        let library = support::plugin("loggers", &[feature]);
        let report = host.reload(&[&library]).expect("there is a Master").into_result();
        let report = report.unwrap_or_else(|report| panic!("{feature}: {report}"));
        assert_eq!(report.parked, Vec::<String>::new(), "{feature}");
    }
    host.shutdown().into_result().unwrap_or_else(|report| panic!("{report:?}"));
}

#[test]
fn a_crates_logger_receives_log_lines_once_main_sets_it() {
    const OF_HOST: &str = "a line of tracing before\na line of tracing in main\nlater of tracing\n";
    for feature in ["env_logger", "fern", "said"] {
        check(feature, OF_HOST, &["a line of log in main", "later of log"]);
    }
}

#[test]
fn a_plugin_subscriber_receives_lines_after_main() {
    const OF_HOST: &str = "a line of log before\na line of tracing before\na line of log in main\na line of tracing in main\nlater of log\n";
    check("tracing-subscriber", OF_HOST, &["later of tracing"]);
}

#[test]
fn a_plugin_without_loggers_of_its_own_loses_no_line() {
    let record = support::record("loggers");
    let host = loggers(&[]).unwrap_or_else(|error| panic!("{error}"));
    log(&host, "later");
    assert_eq!(
        record.take(),
        "a line of log before\na line of tracing before\na line of log in main\na line of tracing in main\nlater of log\nlater of \
         tracing\n"
    );
}

#[test]
fn the_host_reports_a_logger_of_the_plugin() {
    let record = support::record("alcedo");
    let _host = loggers(&["fern"]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(record.take(), "the module has set its own logger: its records of `log` do not reach the host\n");
}

#[test]
fn a_main_setting_a_logger_too_late_fails_with_a_hint() {
    // Excludes the lines that the plugin's main logs from the records of other tests.
    let _record = support::record("loggers");
    let error = loggers(&["by-hand"]).map(drop).expect_err("the host was first");
    assert!(error.contains("already initialized"), "{error}");
    assert!(error.ends_with("write `logger: own`"), "{error}");
}
