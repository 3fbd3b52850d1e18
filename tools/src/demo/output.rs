//! Output of the demo: aligned lines of text for people, or one JSON object per line for programs.

use std::collections::{BTreeMap, HashSet};

use alcedo_base::figures::thousands;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::json;

use super::edit::{self, Line};
use crate::figures::millis;
use crate::paint::{Paint, for_terminal};
use crate::reload_message;
use crate::screen::print_result;
use crate::session::Live;

/// An event of the demo's output.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Message<'a> {
    /// The first build is in progress. This build compiles all dependencies of a plugin. Only text output contains this message.
    #[serde(skip)]
    Building { plugin: &'a str, compiled: usize, seconds: u64 },
    /// The world and its objects were created.
    Start { plugin: &'a str, generation: u64, objects: u64, build_ms: f64 },
    /// A chapter of the demo begins.
    Step { step: u32, title: &'a str },
    /// A source file has changed.
    Edit(Edited<'a>),
    /// Cargo has exited.
    Build { outcome: &'static str, build_ms: Option<f64>, message: &'a str },
    /// A reload has ended.
    Reload(Reloaded<'a>),
    /// Result of a check of the world.
    Check(&'a Check),
    /// The summary. This event is always last.
    Summary(&'a Summary),
}

#[derive(Debug, Serialize)]
pub(super) struct Edited<'a> {
    pub(super) file: &'a str,
    pub(super) diff: String,
    #[serde(skip)]
    pub(super) lines: Vec<Line>,
}

impl<'a> Edited<'a> {
    pub(super) fn new(file: &'a str, old: &str, new: &str) -> Self {
        Self { file, diff: edit::unified(file, old, new), lines: edit::diff(old, new, 1) }
    }
}

/// A reload, printed with the session's measurements and the host's report. Later versions may add fields.
#[derive(Debug)]
pub(super) struct Reloaded<'a>(pub(super) &'a Live);

impl Serialize for Reloaded<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(live) = self;
        let (phases, pause) = (&live.report.phases, &live.report.pause);
        let mut fields = serde_json::to_value(&live.report).map_err(S::Error::custom)?;
        let each = phases.0.iter().map(|(phase, ms)| (*phase, rounded(*ms)));
        fields["phases"] = json!(each.collect::<BTreeMap<_, _>>());
        fields["swap_ms"] = json!(rounded(phases.swap().as_secs_f64() * 1e3));
        fields["pause_ms"] = json!(rounded(pause.total().as_secs_f64() * 1e3));
        fields["pause_ns_per_object"] = json!(pause.per_object().map(|each| each.as_nanos() as u64));
        fields["build_ms"] = json!(live.build_ms.map(rounded));
        fields["edit_to_live_ms"] = json!(live.edit_to_live_ms.map(rounded));
        fields.serialize(serializer)
    }
}

/// Rounds a measured value to three decimal places. Further digits are not significant.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Check {
    pub(super) name: String,
    pub(super) ok: bool,
    pub(super) expected: String,
    pub(super) found: String,
    /// Set for a check that runs after every reload. Text output contains a routine check only if it fails.
    #[serde(skip)]
    pub(super) routine: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Summary {
    pub(super) ok: bool,
    pub(super) reloads: u64,
    pub(super) rollbacks: u64,
    pub(super) objects: u64,
    pub(super) objects_kept: u64,
    pub(super) conjugates_rebuilt: u64,
    pub(super) class_constructors_rerun: u64,
}

/// Output format: text for people, or JSON for programs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Output {
    Text(Paint),
    Json,
}

impl Output {
    pub(super) fn print(self, message: &Message<'_>) {
        let line = match self {
            Self::Text(paint) => text(message, paint).map(|line| for_terminal(&line)),
            Self::Json if matches!(message, Message::Building { .. }) => None,
            Self::Json => Some(as_json(message)),
        };
        if let Some(line) = line {
            print_result(&line);
        }
    }
}

fn as_json(message: &Message<'_>) -> String {
    // Cannot fail, because all keys are strings and all numbers are finite.
    serde_json::to_string(message).expect("the event is plain data")
}

fn text(message: &Message<'_>, paint: Paint) -> Option<String> {
    let line = match message {
        Message::Building { plugin, compiled, seconds } => {
            format!("building {plugin} and its dependencies: {compiled} crates in {seconds} s")
        }
        Message::Start { plugin, generation, objects, build_ms } => format!(
            "{}   generation {generation} · {} objects · 60 ticks a second · built in {}",
            paint.bold(plugin),
            thousands(*objects),
            millis(*build_ms)
        ),
        Message::Step { step, title } => format!("\n{}", paint.bold(&format!("{step}. {title}"))),
        Message::Edit(edited) => edited.lines.iter().map(|line| diff_line(line, paint)).collect::<Vec<_>>().join("\n"),
        // A failed build ends the demo. The error with which the demo ends contains the message of the build.
        Message::Build { outcome: "failed", .. } | Message::Build { message: "", .. } => return None,
        Message::Build { message, .. } => message.trim_end().to_owned(),
        Message::Reload(reloaded) => reload_message::reload(reloaded.0, paint, &mut HashSet::new()),
        Message::Check(check) if check.ok && check.routine => return None,
        Message::Check(check) if check.ok => format!("  {} {}", paint.green("✓"), check.name),
        Message::Check(check) => {
            let Check { name, expected, found, .. } = check;
            format!("  {} {name}: expected {expected}, found {found}", paint.red("✗"))
        }
        Message::Summary(summary) => {
            let Summary { reloads, rollbacks, objects, objects_kept, conjugates_rebuilt, .. } = summary;
            let verdict =
                if summary.ok { paint.green("all as it should be") } else { paint.red("not as it should be") };
            format!(
                "\n{verdict}   {reloads} reloads · {rollbacks} rolled back · {} of {} objects kept · {} conjugates rebuilt · {} class constructors rerun",
                thousands(*objects_kept),
                thousands(*objects),
                thousands(*conjugates_rebuilt),
                thousands(summary.class_constructors_rerun)
            )
        }
    };
    Some(line)
}

fn diff_line(line: &Line, paint: Paint) -> String {
    match line {
        Line::Same(text) => paint.dim(format!("    {text}").trim_end()),
        Line::Out(text) => paint.red(&format!("  - {text}")),
        Line::In(text) => paint.green(&format!("  + {text}")),
        Line::Gap => paint.cyan("    ⋮"),
    }
}

#[cfg(test)]
mod tests {
    use alcedo_runtime::Outcome;
    use expect_test::expect;
    use serde_json::Value;

    use super::{Check, Edited, Message, Reloaded, Summary, as_json, rounded, text};
    use crate::paint::Paint;
    use crate::reload_message::tests::{live, rolled_back};

    fn parsed(message: &Message<'_>) -> Value {
        let line = as_json(message);
        assert!(!line.contains('\n'), "{line}");
        serde_json::from_str(&line).unwrap()
    }

    #[test]
    fn a_reload_is_one_object_with_the_promised_fields() {
        let live = live(Outcome::Committed);
        let line = parsed(&Message::Reload(Reloaded(&live)));
        assert_eq!(line["event"], "reload");
        assert_eq!(line["generation"], 4);
        assert_eq!(line["outcome"], "committed");
        assert_eq!(line["edit_to_live_ms"], 131.2);
        assert_eq!(line["build_ms"], 104.4);
        assert_eq!(line["swap_ms"], 1.1);
        assert_eq!((&line["pause_ms"], &line["pause_ns_per_object"]), (&2.0.into(), &2000.into()));
        assert_eq!(line["phases"]["stage"], 6.0);
        let phases: Vec<_> = line["phases"].as_object().unwrap().keys().collect();
        assert_eq!(
            phases,
            ["canary", "classes", "commit", "migrate", "quiesce", "rebuild", "retire", "stage", "start"]
        );
        assert_eq!(line["properties"][0]["followed"], 997);
    }

    #[test]
    fn a_rollback_was_never_live_and_names_the_failed_phase() {
        let live = live(rolled_back());
        let line = parsed(&Message::Reload(Reloaded(&live)));
        assert_eq!(line["outcome"], "rolled_back");
        assert_eq!(line["generation"], 3);
        assert_eq!(line["edit_to_live_ms"], Value::Null);
        assert_eq!((&line["phase"], &line["error"]), (&"rebuild".into(), &"it panicked".into()));
    }

    #[test]
    fn a_long_build_is_reported_as_running() {
        let message = Message::Building { plugin: "cube", compiled: 12, seconds: 6 };
        let expected = "building cube and its dependencies: 12 crates in 6 s";
        assert_eq!(text(&message, Paint::off()).unwrap(), expected);
    }

    #[test]
    fn the_summary_has_the_promised_fields_and_no_others() {
        let summary = Summary { ok: true, reloads: 3, rollbacks: 1, objects: 9, ..Summary::default() };
        expect![[r#"{"event":"summary","ok":true,"reloads":3,"rollbacks":1,"objects":9,"objects_kept":0,"conjugates_rebuilt":0,"class_constructors_rerun":0}"#]]
            .assert_eq(&as_json(&Message::Summary(&summary)));
    }

    #[test]
    fn the_expected_value_is_printed_only_if_a_check_fails() {
        let mut check =
            Check { name: "one is one".into(), ok: true, expected: "1".into(), found: "1".into(), routine: false };
        let line_of = |check: &Check| text(&Message::Check(check), Paint::off());
        assert_eq!(line_of(&check).unwrap(), "  ✓ one is one");
        check.routine = true;
        assert_eq!(line_of(&check), None);
        (check.ok, check.found) = (false, "2".into());
        assert_eq!(line_of(&check).unwrap(), "  ✗ one is one: expected 1, found 2");
        assert_eq!(parsed(&Message::Check(&check))["ok"], false);
    }

    #[test]
    fn an_edit_is_printed_with_a_line_of_context() {
        let edited = Edited::new("src/lib.rs", "a\nb\nc\nd\n", "a\nb\nC\nd\n");
        assert_eq!(text(&Message::Edit(edited), Paint::off()).unwrap(), "    b\n  - c\n  + C\n    d");
        let edited = parsed(&Message::Edit(Edited::new("src/lib.rs", "a\n", "b\n")));
        assert_eq!((&edited["event"], &edited["file"]), (&"edit".into(), &"src/lib.rs".into()));
        assert!(edited["diff"].as_str().unwrap().contains("-a\n+b\n"), "{edited}");
    }

    #[test]
    fn times_have_three_decimals() {
        assert_eq!(rounded(1.234_567), 1.235);
    }
}
