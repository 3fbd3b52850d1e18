//! Formats the events of a session as messages for the user.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use alcedo_base::figures::{counted, thousands};
use alcedo_build::BuildError;
use alcedo_runtime::development::link::{FromHost, HangOf};

use crate::figures::{listed, millis, short_time};
use crate::paint::Paint;
use crate::reload_message;
use crate::session::{Event, Live, Mode, Status};
use crate::timings;
use crate::world::WorldEvent;

/// Formats the messages of a session.
pub(super) struct Messages {
    pub(super) paint: Paint,
    /// Set if the screen has a status line, which shows a running build. A pipe has no status line.
    pub(super) is_live: bool,
    /// Set if the world is the sample engine.
    pub(super) is_sample: bool,
    /// Set if the session loads several plugins, which may belong to different hosts.
    pub(super) several: bool,
    /// Remarks that were printed for earlier reloads. Repeated remarks would distract from new remarks.
    pub(super) remarks: HashSet<String>,
    /// Set if the phases between a save and live code are printed with their times.
    pub(super) timings: bool,
}

impl Messages {
    pub(super) fn new(paint: Paint, is_live: bool, is_sample: bool) -> Self {
        Self { paint, is_live, is_sample, several: false, remarks: HashSet::new(), timings: false }
    }

    /// Returns the message of an event. Returns `None` if the event has no message. `running` is `true` if plugin code is loaded.
    pub(super) fn message(&mut self, event: &Event, running: bool) -> Option<String> {
        let paint = self.paint;
        let code = |runs: bool| if runs { "the old code keeps running" } else { "nothing runs yet" };
        let title = |generation: &u64| paint.bold(&format!("generation {generation} is live"));
        let text = match event {
            Event::Building { .. } | Event::Canceled if self.is_live => return None,
            Event::Building { changed } if changed.is_empty() => "building".to_owned(),
            Event::Building { changed } => format!("building, because {} changed", names(changed)),
            Event::Canceled => "a newer build replaces it: the build is canceled".to_owned(),
            Event::Built { warnings, .. } if warnings.is_empty() => return None,
            Event::Built { warnings, .. } => warnings.trim_end().to_owned(),
            // Prints the compiler's message unchanged.
            Event::NotBuilt(BuildError::DoesNotCompile { rendered, .. }) => {
                format!("{}\n{}", rendered.trim_end(), paint.red(code(running)))
            }
            Event::NotBuilt(error) => format!("{error}\n{} · save again to retry", paint.red(code(running))),
            Event::Unchanged => "saved, but nothing that is built has changed".to_owned(),
            Event::NotConfirmed { generation, problems } => format!(
                "{} generation {generation} is loaded, but {} · r builds again",
                paint.red("not confirmed:"),
                problems.join(", and ")
            ),
            Event::Noted { changed } => format!("{} changed (paused: r reloads once, a resumes)", names(changed)),
            Event::HostChanged { changed } => format!(
                "the host changed ({}), and an older build of it is running · k builds it and restarts it with the saved world",
                names(changed)
            ),
            Event::GlueWritten { files } => format!("declarations have changed: glue written again, {}", names(files)),
            Event::NewPlugin { folder } => new_module(folder, "plugin"),
            Event::NewPackage { folder } => new_module(folder, "package of scripts"),
            Event::Started { generation, build_ms } => {
                format!("{}   built in {}", title(generation), millis(*build_ms))
            }
            Event::Restarted { generation: Some(generation) } => {
                format!("{}   the last build that did not crash or hang · save to build again", title(generation))
            }
            Event::Restarted { generation: None } => {
                "no build is left that did not crash or hang · save to build again".to_owned()
            }
            Event::HostSuspected => {
                "the sources of the host changed before this start, so suspect the host first: the plugins \
                 keep their build · k builds an edited host and restarts it"
                    .to_owned()
            }
            Event::LeftOut => "the saved world is not restored: the last processes ended right after it was \
                 brought back"
                .to_owned(),
            Event::Refused { error, lacks_type, host_is_older, runs } => {
                let hint = match *lacks_type && self.is_sample {
                    _ if *host_is_older => {
                        "\nthe running host is older than its sources: press k to build it and restart it"
                    }
                    true => {
                        "\nthis world is the sample engine's: if the plugin is made for a host of your own, name its \
                         package with --host"
                    }
                    false if self.several && !*runs => {
                        "\nall plugins of these folders are loaded together: name the folders of plugins that belong together, or list \
                         them in `default-members` of the workspace"
                    }
                    false => "",
                };
                format!("{} {error}{hint}\n{} · save again to retry", paint.red("not loaded:"), code(*runs))
            }
            Event::Reloaded(live) => self.reload(live),
            Event::Populated(population) => population.line(paint),
            Event::Hang { text, of: HangOf::Call } => format!(
                "{} {text}\n  the world is stopped · save, or press k, to end its process and continue with the last good build",
                paint.red("it hangs:")
            ),
            Event::Hang { text, of: HangOf::Work } => format!("{text} · k ends its process and restarts it"),
            Event::Hang { text, of: HangOf::Finalizer } => {
                format!(
                    "{} {text}\n  the world continues, but no Drop of a plugin runs any more · press k to restart",
                    paint.red("it hangs:")
                )
            }
            Event::HangOver => "the hanging call has returned, the world continues".to_owned(),
            Event::HangEnded => "the process that hung was ended".to_owned(),
            Event::Stopped => "the world's process was ended".to_owned(),
            Event::HostDone => "the host has ended".to_owned(),
            Event::WorldEnded(end) => end.brief(paint),
            Event::World(event) => return self.world_event(event),
            Event::Failed { error } => format!("{} {error}", paint.red("failed:")),
            Event::Over { failed: true } => {
                "the host ends without plugins as well: it cannot continue · a host of your own needs the line \
                 `.development()` in its builder and a loop"
                    .to_owned()
            }
            // No message, because the caller prints these events.
            Event::Printed(_) | Event::Over { failed: false } => return None,
        };
        Some(text)
    }

    fn world_event(&self, event: &WorldEvent) -> Option<String> {
        let paint = self.paint;
        match event {
            WorldEvent::Host(FromHost::Restored { objects, age, text }, _) => {
                let head = format!("the world is back as it was {} ago", short_time(*age));
                // Omits the first line of `text`, because it repeats this message.
                let rest = text.split_once('\n').map_or_else(String::new, |(_, rest)| format!("\n{rest}"));
                let objects = match objects {
                    1 => "1 object with its values".to_owned(),
                    objects => format!("{} objects with their values", thousands(*objects)),
                };
                Some(format!("{head}: {objects}{rest}"))
            }
            WorldEvent::Host(FromHost::NotRestored { error }, _) => {
                Some(format!("{} {error}", paint.red("the saved world could not be brought back:")))
            }
            WorldEvent::Host(FromHost::NotSaved { error }, _) => {
                Some(format!("{} {error}", paint.red("the world cannot be saved:")))
            }
            WorldEvent::Host(FromHost::Answer { text }, _) => Some(text.clone()),
            WorldEvent::NotJoined(error) => Some(format!("{} {error}", paint.red("not joined:"))),
            WorldEvent::Panicked(panic) => Some(panic.brief(paint)),
            // The remaining messages from the host are converted to events of the session, or printed directly.
            _ => None,
        }
    }

    /// Formats a reload. Omits remarks that earlier reloads have printed.
    fn reload(&mut self, live: &Live) -> String {
        let mut text = reload_message::reload(live, self.paint, &mut self.remarks);
        if self.timings {
            for line in timings::lines(live) {
                text.push_str(&format!("\n{}", self.paint.dim(&line)));
            }
        }
        text
    }
}

/// Returns the message for a module that the session does not load.
fn new_module(folder: &str, kind: &str) -> String {
    let name = Path::new(folder).file_name().unwrap_or_default().to_string_lossy();
    format!(
        "{name} is a new {kind}, and this session does not load it · start `alcedo dev` again, with the folder as an argument if needed"
    )
}

fn names(paths: &[PathBuf]) -> String {
    let names: Vec<_> = paths.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy())).collect();
    listed(&names)
}

pub(super) fn status_line(status: &Status, last: Option<&Live>) -> String {
    let mut parts = match status.running {
        true => vec![format!("generation {}", status.world.generation)],
        false => vec!["no generation yet".to_owned()],
    };
    parts.push(counted(status.world.objects, "object"));
    parts.push(match &status.hang {
        Some(_) => "HANGS: save or press k".to_owned(),
        None => format!("{} ticks/s", status.world.ticks),
    });
    parts.extend((status.mode == Mode::Paused).then(|| "paused".to_owned()));
    parts.extend(status.building.then(|| "building".to_owned()));
    parts.extend(last.map(reload_message::last));
    parts.join(" · ")
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt as _;
    use std::path::PathBuf;

    use alcedo_build::BuildError;
    use alcedo_runtime::Outcome;

    use super::{Messages, status_line};
    use crate::paint::Paint;
    use crate::reload_message::tests::{live, unchanged};
    use crate::session::{Event, Mode, Status};

    #[test]
    fn the_status_is_one_line() {
        let world = alcedo_runtime::development::link::Status { generation: 4, objects: 2001, ticks: 60 };
        let mut status = Status { world, mode: Mode::Automatic, building: true, running: true, hang: None };
        assert_eq!(
            status_line(&status, Some(&live(Outcome::Committed))),
            "generation 4 · 2,001 objects · 60 ticks/s · building · 3 → 4 live after 131 ms"
        );
        (status.mode, status.building, status.running) = (Mode::Paused, false, false);
        assert_eq!(status_line(&status, None), "no generation yet · 2,001 objects · 60 ticks/s · paused");
        status.world.objects = 1;
        assert_eq!(status_line(&status, None), "no generation yet · 1 object · 60 ticks/s · paused");
        status.world.objects = 2001;
        status.hang = Some("the game thread …".into());
        assert_eq!(status_line(&status, None), "no generation yet · 2,001 objects · HANGS: save or press k · paused");
    }

    #[test]
    fn a_compile_error_is_printed_once_and_the_old_code_keeps_running() {
        let event = Event::NotBuilt(BuildError::DoesNotCompile {
            rendered: "error: a\n --> src/lib.rs:1:1\n".into(),
            command: "cargo build".into(),
            inputs: Vec::new(),
        });
        let mut messages = Messages::new(Paint::off(), false, true);
        let text = messages.message(&event, true).unwrap();
        assert_eq!(text.matches("error: a\n --> src/lib.rs:1:1\n").count(), 1, "{text}");
        assert!(text.ends_with("the old code keeps running"), "{text}");
        assert!(messages.message(&event, false).unwrap().ends_with("nothing runs yet"));
    }

    #[test]
    fn builds_are_lines_on_a_pipe_and_a_status_on_a_terminal() {
        let building = Event::Building { changed: vec![PathBuf::from("/p/src/lib.rs")] };
        let on = |is_live| Messages::new(Paint::off(), is_live, true);
        assert_eq!(on(false).message(&building, true).unwrap(), "building, because lib.rs changed");
        assert_eq!(on(true).message(&building, true), None);
        let changed = vec![PathBuf::from(OsString::from_vec(b"/p/data/\xff.txt".to_vec()))];
        assert_eq!(
            on(false).message(&Event::Building { changed }, true).unwrap(),
            "building, because \u{fffd}.txt changed"
        );
        // A change of the git branch may change many files.
        let changed = (0..300).map(|at| PathBuf::from(format!("/p/src/{at}.rs"))).collect();
        assert_eq!(
            on(false).message(&Event::Building { changed }, true).unwrap(),
            "building, because 0.rs, 1.rs, 2.rs, 3.rs, 4.rs and 295 more changed"
        );
        assert_eq!(on(false).message(&Event::Built { millis: 1.0, warnings: String::new() }, true), None);
    }

    #[test]
    fn a_new_module_is_announced_with_the_way_to_load_it() {
        let text = |event| Messages::new(Paint::off(), false, true).message(&event, true).unwrap();
        let plugin = text(Event::NewPlugin { folder: "/w/plugins/lamp.v2".into() });
        assert!(
            plugin.starts_with("lamp.v2 is a new plugin") && plugin.contains("start `alcedo dev` again"),
            "{plugin}"
        );
        let package = text(Event::NewPackage { folder: "/w/scripts/Saga".into() });
        assert!(package.starts_with("Saga is a new package of scripts, and"), "{package}");
    }

    #[test]
    fn remarks_that_repeat_are_counted() {
        let mut live = live(Outcome::Committed);
        let mut messages = Messages::new(Paint::off(), false, true);
        live.report.warnings = vec!["generation 3 left a thread".into()];
        let event = |live: &crate::session::Live| Event::Reloaded(Box::new(live.clone()));
        assert!(messages.message(&event(&live), true).unwrap().contains("left a thread"));
        live.report.warnings = vec!["generation 4 left a thread".into()];
        let again = messages.message(&event(&live), true).unwrap();
        assert!(!again.contains("left a thread") && again.contains(" · 1 remark as before\n"), "{again}");
    }

    #[test]
    fn code_that_is_not_confirmed_is_not_live() {
        let problems = vec!["cube runs build 0, and the library has build 1".into()];
        let event = Event::NotConfirmed { generation: 4, problems };
        let text = Messages::new(Paint::off(), false, true).message(&event, true).unwrap();
        assert!(text.starts_with("not confirmed: generation 4 is loaded, but cube runs build 0"), "{text}");
        assert!(!text.contains("live"), "{text}");
    }

    #[test]
    fn an_unchanged_reload_is_one_line_each_time() {
        let mut messages = Messages::new(Paint::off(), false, true);
        let mut message = || messages.message(&Event::Reloaded(Box::new(unchanged())), true).unwrap();
        let first = message();
        assert_eq!(first, "generation 3 stays   its libraries are unchanged · build 104 ms");
        assert_eq!(message(), first);
    }

    #[test]
    fn a_plugin_for_another_host_gets_a_hint_to_name_it() {
        let event = Event::Refused { error: "no class".into(), lacks_type: true, host_is_older: false, runs: false };
        let message = |is_sample| Messages::new(Paint::off(), false, is_sample).message(&event, false).unwrap();
        assert!(message(true).contains("--host") && !message(false).contains("--host"));
        let mut several = Messages { several: true, ..Messages::new(Paint::off(), false, false) };
        let text = several.message(&event, false).unwrap();
        assert!(text.contains("list them in `default-members`"));
        let older = Event::Refused { error: "no class".into(), lacks_type: true, host_is_older: true, runs: false };
        let text = Messages::new(Paint::off(), false, false).message(&older, false).unwrap();
        assert!(text.contains("the running host is older than its sources: press k"), "{text}");
    }
}
