//! Saves a plugin in random ways under `alcedo dev`. Checks that each final content becomes live, and that all other contents never become
//! live. Also checks that no code is reported as live too early. This file saves and records. `record.rs` checks the record.
//!
//! `ALCEDO_SAVES_SEED=7 cargo test --test commands random_saves::` runs another sequence. A failure prints its seed.

mod project;
mod record;
mod ways;

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::time::{Duration, Instant, SystemTime};

use crate::support::{Dev, now};
use project::Project;
use record::{Line, Part, Record, Write};
use ways::{Random, Style, Way};

/// Time limit for a save to become live, sufficient on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Time without an event after which a save is complete. This time is longer than the debounce time of `alcedo dev`.
const QUIET: Duration = Duration::from_millis(250);

struct Session {
    project: Project,
    dev: Dev,
    record: Record,
    random: Random,
    seed: u64,
    number: u64,
    /// Number of bytes of the tick file that are already read.
    read: u64,
}

impl Session {
    fn start(seed: u64) -> Self {
        let project = Project::new("0");
        let mut command = project.command(env!("CARGO_BIN_EXE_alcedo"));
        command.arg("dev").arg(project.folder()).args(["--objects", "1"]);
        let (dev, at) = (Dev::run(command), now());
        let writes = Part::ALL.map(|part| Write { part, value: "0".to_owned(), ended: at });
        let record = Record { writes: writes.into(), ..Record::default() };
        let mut session = Self { project, dev, record, random: Random(seed), seed, number: 0, read: 0 };
        session.settle(&"the start");
        session.record.forget();
        session
    }

    /// Saves in the way `way`, and checks the recorded results.
    fn check(&mut self, way: Way) {
        self.number += 1;
        let number = self.number.to_string();
        let first = format!("{number}-first");
        let mut changes = true;
        match way {
            Way::Source(style) => self.save(Part::Source, style, &number),
            Way::Dependency(style) => self.save(Part::Dependency, style, &number),
            Way::Included(style) => self.save(Part::Included, style, &number),
            Way::Requested(part, style) => {
                self.save(part, style, &number);
                self.dev.send("r");
            }
            Way::Switch => {
                for (path, text) in self.project.files(Part::Modules, &number) {
                    Style::Rename.save(&path, &text, &mut self.random);
                }
                self.wrote(Part::Modules, "torn");
                self.wrote(Part::Modules, &number);
            }
            Way::Twice => {
                self.save(Part::Source, Style::InPlace, &first);
                self.save(Part::Source, Style::InPlace, &number);
            }
            Way::During => {
                self.save(Part::Source, Style::InPlace, &first);
                self.random.pause(20..800);
                self.save(Part::Source, Style::Rename, &number);
            }
            Way::Formatted => {
                let (path, text) = self.project.files(Part::Source, &number).remove(0);
                Style::InPlace.save(&path, &text.replace(" = ", "  =  "), &mut self.random);
                self.random.pause(30..80);
                Style::InPlace.save(&path, &text, &mut self.random);
                self.wrote(Part::Source, &number);
            }
            Way::Broken => {
                self.save(Part::Source, Style::InPlace, "does \" not compile");
                match self.random.below(2) {
                    0 => self.random.pause(0..600),
                    _ => self.wait("a broken save", |record| record.count(&Line::NotBuilt) > 0),
                }
                self.save(Part::Source, Style::InPlace, &number);
            }
            Way::Same(style) => {
                changes = false;
                let number = self.record.saved().remove(0);
                self.save(Part::Source, style, &number);
            }
            Way::Touch => {
                changes = false;
                let (path, _) = self.project.files(Part::Source, &number).remove(0);
                File::options().append(true).open(path).unwrap().set_modified(SystemTime::now()).unwrap();
                let number = self.record.saved().remove(0);
                self.wrote(Part::Source, &number);
            }
        }
        self.settle(&way);
        let (lives, unchanged) = (self.record.count(&Line::Live), self.record.count(&Line::Unchanged));
        if changes && lives == 0 {
            self.fail(&way, "the saved content was live without a message");
        }
        if !changes && (lives > 0 || unchanged == 0) {
            self.fail(&way, "a save without a change was not reported as such");
        }
        self.record.forget();
    }

    /// Saves one file.
    fn save(&mut self, part: Part, style: Style, number: &str) {
        let (path, text) = self.project.files(part, number).remove(0);
        style.save(&path, &text, &mut self.random);
        if part == Part::Included && matches!(style, Style::Pieces) {
            self.wrote(part, "half");
        }
        self.wrote(part, number);
    }

    fn wrote(&mut self, part: Part, number: &str) {
        self.record.writes.push(Write { part, value: number.to_owned(), ended: now() });
    }

    /// Waits for `alcedo dev` and the plugin to process the save.
    fn settle(&mut self, way: &dyn std::fmt::Debug) {
        loop {
            self.wait(way, |record| record.is_settled(now(), QUIET));
            self.dev.send("s");
            let count = self.record.lines.len();
            let is_status = |line: &Line| matches!(line, Line::Status { .. });
            self.wait(way, move |record| record.lines[count..].iter().any(|(_, line)| is_status(line)));
            let last = self.record.lines.iter().rfind(|(_, line)| is_status(line));
            if last.is_some_and(|(_, line)| *line == Line::Status { building: false }) {
                return;
            }
        }
    }

    fn wait(&mut self, way: &(impl std::fmt::Debug + ?Sized), is_over: impl Fn(&Record) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !is_over(&self.record) {
            if let Some((at, line)) = self.dev.line(Duration::from_millis(10)) {
                self.record.lines.push((at, Line::of(&line)));
            }
            self.read_ticks();
            if let Some(problem) = self.record.problems().first() {
                self.fail(way, problem);
            }
            if Instant::now() > end {
                let (running, saved) = (self.record.running(), self.record.saved());
                self.fail(way, &format!("not over in {PATIENCE:?}: {running:?} runs, and {saved:?} is saved"));
            }
        }
    }

    fn read_ticks(&mut self) {
        let Ok(mut file) = File::open(self.project.ticks()) else { return };
        let mut text = String::new();
        file.seek(SeekFrom::Start(self.read)).unwrap();
        file.read_to_string(&mut text).unwrap();
        for line in text.split_inclusive('\n').take_while(|line| line.ends_with('\n')) {
            self.read += line.len() as u64;
            self.record.tick(line.trim_end());
        }
    }

    fn fail(&self, way: &(impl std::fmt::Debug + ?Sized), problem: &str) -> ! {
        let (seed, number, output) = (self.seed, self.number, self.dev.all_since("\0"));
        let lines: Vec<_> = output.lines().collect();
        let last = lines[lines.len().saturating_sub(40)..].join("\n");
        panic!(
            "ALCEDO_SAVES_SEED={seed}: save {number}, {way:?}: {problem}\n{:#?}\nthe last output:\n{last}",
            self.record
        );
    }
}

/// Runs this number of saves, with the seed from the environment or with `seed`.
fn run(saves: usize, seed: u64) {
    let requested = std::env::var("ALCEDO_SAVES_SEED").ok().map(|seed| seed.parse().expect("a number"));
    let mut session = Session::start(requested.unwrap_or(seed));
    let mut ways = Vec::new();
    let begun = Instant::now();
    for _ in 0..saves {
        if ways.is_empty() {
            ways = session.random.ways();
        }
        session.check(ways.remove(0));
    }
    let millis = begun.elapsed().as_secs_f64() * 1000.0 / saves as f64;
    eprintln!("seed {}: {saves} saves, {millis:.0} ms each", session.seed);
    let _ = fs::remove_file(session.project.ticks());
    session.dev.send("q");
    let Session { dev, .. } = session;
    dev.expect_success();
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands random_saves:: -- --ignored`, as .ci/run does"]
fn the_final_content_of_each_random_save_is_live() {
    run(30, 1);
}

#[test]
#[ignore = "takes about 15 minutes: `.ci/saves`, which ALCEDO_CI=full runs"]
fn the_final_content_of_a_thousand_random_saves_is_live() {
    let saves = std::env::var("ALCEDO_SAVES").map_or(1000, |saves| saves.parse().expect("a number"));
    run(saves, now().as_secs());
}
