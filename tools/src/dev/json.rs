//! Converts events of a session to JSON objects. `alcedo dev --json` prints one object per line. Each object has the field `event`.
//! Programs should ignore unknown fields and events.

use alcedo_build::BuildError;
use alcedo_runtime::development::link::{FromHost, HangOf};
use serde_json::{Value, json};

use crate::fold::Folded;
use crate::reload_message::is_unchanged;
use crate::session::{Event, Live};
use crate::timings;
use crate::world::WorldEvent;

/// Returns the JSON object of an event. Returns `None` for an event that is not part of the JSON output.
pub(super) fn event(event: &Event) -> Option<Value> {
    Some(match event {
        Event::NotBuilt(BuildError::DoesNotCompile { rendered, command, .. }) => {
            json!({ "event": "not_built", "rendered": rendered, "command": command })
        }
        Event::NotBuilt(error) => json!({ "event": "not_built", "error": error.to_string() }),
        Event::Reloaded(live) => reloaded(live),
        Event::Hang { text, of } => json!({
            "event": "hang", "text": text,
            "of": match of { HangOf::Call => "call", HangOf::Work => "work", HangOf::Finalizer => "finalizer" },
        }),
        Event::WorldEnded(end) => with("world_ended", end.facts()),
        Event::Printed(printed) => output(&Folded::Line(printed.line.clone()), printed.is_error),
        Event::World(event) => return world_event(event),
        event => json!(event),
    })
}

fn world_event(event: &WorldEvent) -> Option<Value> {
    Some(match event {
        WorldEvent::Host(FromHost::Restored { objects, age, text }, _) => {
            json!({ "event": "restored", "objects": objects, "age_s": age.as_secs_f64(), "text": text })
        }
        WorldEvent::Host(FromHost::NotRestored { error }, _) => json!({ "event": "not_restored", "error": error }),
        WorldEvent::Host(FromHost::NotSaved { error }, _) => json!({ "event": "not_saved", "error": error }),
        WorldEvent::Host(FromHost::Answer { text }, _) => json!({ "event": "answer", "text": text }),
        WorldEvent::NotJoined(error) => json!({ "event": "not_joined", "error": error }),
        WorldEvent::Unreadable(error) => json!({ "event": "unreadable", "error": error }),
        WorldEvent::Panicked(panic) => with("panicked", json!(panic)),
        // Not part of the output, because the session converts these events to its own events.
        WorldEvent::Host(..) | WorldEvent::Populated(_) | WorldEvent::Done | WorldEvent::Ended(_) => return None,
    })
}

/// Returns the object for a reload with the host's report. The field `event` is `live`, `rolled_back`, or `unchanged` if no module was
/// replaced.
fn reloaded(live: &Live) -> Value {
    let report = &live.report;
    let event = match report.is_committed() {
        true if is_unchanged(report) => "unchanged",
        true => "live",
        false => "rolled_back",
    };
    with(
        event,
        json!({
            "generation": report.generation, "edit_to_live_ms": live.edit_to_live_ms, "build_ms": live.build_ms,
            "code_of": live.code_of, "changes": report.changes(), "remarks": report.remarks(),
            "timings": timings::parts(live), "report": report,
        }),
    )
}

/// Returns the object for lines that the world has printed.
pub(super) fn output(folded: &Folded, is_error: bool) -> Value {
    let stream = if is_error { "stderr" } else { "stdout" };
    match folded {
        Folded::Line(line) => json!({ "event": "output", "stream": stream, "line": line }),
        Folded::Again { lines, times } => {
            json!({ "event": "output_repeated", "stream": stream, "lines": lines, "times": times })
        }
    }
}

fn with(event: &str, mut fields: Value) -> Value {
    fields["event"] = event.into();
    fields
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use alcedo_build::BuildError;
    use alcedo_runtime::Outcome;
    use serde_json::json;

    use super::{event, output};
    use crate::fold::Folded;
    use crate::reload_message::tests::{live, rolled_back, unchanged};
    use crate::session::Event;

    #[test]
    fn a_reload_is_live_rolled_back_or_unchanged() {
        let of = |live| event(&Event::Reloaded(Box::new(live))).unwrap();
        let committed = of(live(Outcome::Committed));
        assert_eq!((&committed["event"], &committed["generation"]), (&"live".into(), &4.into()));
        assert_eq!(committed["edit_to_live_ms"], 131.2);
        assert_eq!(committed["timings"][0]["name"], "build");
        assert_eq!(committed["report"]["objects_kept"], 1000);
        assert_eq!(committed["report"]["pause_ms"], 2.0);
        assert_eq!(committed["report"]["pause_ns_per_object"], 2000.0);
        let failed = of(live(rolled_back()));
        assert_eq!((&failed["event"], &failed["report"]["error"]), (&"rolled_back".into(), &"it panicked".into()));
        assert_eq!(of(unchanged())["event"], "unchanged");
    }

    #[test]
    fn objects_have_one_line_and_the_compilers_own_text() {
        let rendered = "error: a\n --> src/lib.rs:1:1\n".to_owned();
        let (command, inputs) = ("cargo build".into(), Vec::new());
        let error = BuildError::DoesNotCompile { rendered: rendered.clone(), command, inputs };
        let object = event(&Event::NotBuilt(error)).unwrap();
        assert!(!object.to_string().contains('\n') && object["rendered"] == *rendered, "{object}");
        let again = output(&Folded::Again { lines: 2, times: 9 }, true);
        assert_eq!(again.to_string(), r#"{"event":"output_repeated","lines":2,"stream":"stderr","times":9}"#);
    }

    #[test]
    fn a_file_name_may_contain_any_bytes() {
        let name = OsStr::from_bytes(b"a\xff");
        let object = event(&Event::Noted { changed: vec![name.into()] }).unwrap();
        assert_eq!(object, json!({ "event": "noted", "changed": ["a\u{fffd}"] }));
    }
}
