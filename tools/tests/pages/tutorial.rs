//! Runs the tutorial of the book in a new workspace. Applies the edits of its chapters, runs their commands, and compares the printed
//! lines.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use super::{Checkout, fences, has, page};
use crate::support::Dev;

const CHAPTERS: [&str; 7] = ["new", "first-edit", "kept-field", "rollback", "property", "second-plugin", "ship"];

const PATROL: &str = "plugins/my-game-patrol/src/lib.rs";
const RACER: &str = "plugins/racer/src/lib.rs";
const HOST: &str = "host/src/lib.rs";
const PROGRAM: &str = "host/src/main.rs";

/// Change of a source: path in the workspace, old text, new text.
type Edit = (&'static str, &'static str, &'static str);

const FIRST_EDIT: &[Edit] = &[(PATROL, "const TRACK: f64 = 10.0;", "const TRACK: f64 = 5.0;")];

const MISTAKE: &[Edit] = &[(PATROL, "const TRACK: f64 = 5.0;", "const TRACK: f64 = 5.0")];

const MISTAKE_UNDONE: &[Edit] = &[(PATROL, "const TRACK: f64 = 5.0\n", "const TRACK: f64 = 5.0;\n")];

const KEPT_FIELD: &[Edit] = &[
    (
        PATROL,
        "    #[keep]\n    turns: u32,\n}\n",
        r"    #[keep]
    turns: u32,
    /// The largest position so far, in meters.
    #[keep]
    farthest: f64,
}
",
    ),
    (
        PATROL,
        "        self.ticks += 1;\n",
        r"        self.ticks += 1;
        self.farthest = self.farthest.max(this.position());
",
    ),
    (
        PATROL,
        "    /// Returns the number of ticks of this code.\n",
        r"    /// Returns the largest position so far.
    #[ufunction(blueprint_pure)]
    fn farthest(&self) -> f64 {
        self.farthest
    }

    /// Returns the number of ticks of this code.
",
    ),
];

const SHORTER: &[Edit] = &[(PATROL, "const TRACK: f64 = 5.0;", "const TRACK: f64 = 4.0;")];

const PANIC: &[Edit] = &[(
    PATROL,
    "impl MyGamePatrolRobot {\n",
    r#"impl MyGamePatrolRobot {
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        let gears = ["slow", "fast"];
        let gear = gears[this.odometer() as usize];
        tracing::info!("{} drives in gear {gear}", this.name());
        Self { ticks: 0, turns: 0, farthest: 0.0 }
    }

"#,
)];

const REPAIR: &[Edit] = &[(
    PATROL,
    "        let gear = gears[this.odometer() as usize];\n",
    r#"        let gear = gears.get(this.odometer() as usize).unwrap_or(&"fast");
"#,
)];

const PROPERTY: &[Edit] = &[
    (
        PATROL,
        "    speed: f64,\n",
        r"    speed: f64,
    /// Factor of the speed on the way back.
    #[uproperty(edit_anywhere, default = 3.0)]
    way_back: f64,
",
    ),
    (
        PATROL,
        "        this.drive(this.speed() * f64::from(seconds));\n",
        r"        let factor = if this.speed() < 0.0 { this.way_back() } else { 1.0 };
        this.drive(this.speed() * factor * f64::from(seconds));
",
    ),
];

const OTHER_DEFAULT: &[Edit] = &[(
    PATROL,
    "    #[uproperty(edit_anywhere, default = 3.0)]\n    way_back: f64,\n",
    r"    #[uproperty(edit_anywhere, default = 2.0)]
    way_back: f64,
",
)];

const RACER_DRIVES: &[Edit] = &[(
    RACER,
    "    fn on_tick(&mut self, this: This<Self>, _seconds: f32) {\n        self.fresh += 1;\n",
    r"    fn on_tick(&mut self, this: This<Self>, seconds: f32) {
        this.drive(this.factor() * f64::from(seconds));
        self.fresh += 1;
",
)];

const HOST_FUNCTION: &[Edit] = &[(
    HOST,
    "    /// Returns the number of drives.\n",
    r"    /// Moves to the start.
    #[ufunction(blueprint_callable)]
    fn go_home(&mut self, this: This<Self>) {
        this.set_position(0.0);
    }

    /// Returns the number of drives.
",
)];

const RACER_RETURNS: &[Edit] = &[(
    RACER,
    "        this.drive(this.factor() * f64::from(seconds));\n",
    r"        this.drive(this.factor() * f64::from(seconds));
        if this.position() > 5.0 {
            this.go_home();
        }
",
)];

/// `runtime/tests/pages/book/src/ship.rs` contains copies of these lines.
const TRUST: &[Edit] = &[
    (
        PROGRAM,
        "fn main() -> ExitCode {\n",
        r#"/// The key whose libraries a release accepts.
const KEY: &str = include_str!("../../release.key.pub");

fn main() -> ExitCode {
"#,
    ),
    (
        PROGRAM,
        "    let runtime = my_game_host::builder().development().build()?;\n",
        r#"    let builder = my_game_host::builder();
    let builder = match cfg!(debug_assertions) {
        true => builder.development(),
        false => builder.require_seal(true).trust(KEY.parse().expect("a public key")),
    };
    let runtime = builder.build()?;
"#,
    ),
];

/// The workspace of the tutorial, and all lines that its commands have printed.
struct Story {
    checkout: Checkout,
    printed: String,
}

impl Story {
    fn run(&mut self, dir: &str, line: &str) {
        let output = self.checkout.shell(dir, line).stdin(Stdio::null()).output().unwrap();
        let printed = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{line}: {}\n{printed}", output.status);
        self.printed += &printed;
    }

    /// Starts `alcedo dev`, and waits for a robot of this class.
    fn dev(&self, class: &str) -> Dev {
        let mut dev = Dev::run(self.checkout.shell("my-game", "alcedo dev"));
        dev.wait_for("generation 1 is live");
        dev.wait_for(&format!("{class}_1 is at "));
        dev
    }

    /// Quits the session, and records its output.
    fn quit(&mut self, mut dev: Dev) {
        dev.send("q");
        self.printed += &dev.all_since("\0");
        self.printed.push('\n');
        dev.expect_success();
    }

    /// Applies these edits, and writes each changed file once.
    fn edit(&self, edits: &[Edit]) {
        let workspace = self.checkout.scratch.root().join("my-game");
        let mut sources = BTreeMap::new();
        for (file, before, after) in edits {
            let read = || fs::read_to_string(workspace.join(file)).unwrap();
            let source: &mut String = sources.entry(*file).or_insert_with(read);
            assert_eq!(source.matches(before).count(), 1, "{file}: {before}");
            *source = source.replace(before, after);
        }
        sources.into_iter().for_each(|(file, source)| fs::write(workspace.join(file), source).unwrap());
    }
}

/// Enters a console line, and returns the number that it prints.
fn number(dev: &mut Dev, line: &str) -> f64 {
    dev.send(&format!(": {line}"));
    loop {
        if let Ok(number) = dev.wait_for("").trim().parse() {
            return number;
        }
    }
}

/// Repeats a console line for at most a minute. Returns the first number that `is_so` accepts.
fn wait(dev: &mut Dev, line: &str, is_so: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..300 {
        let found = number(dev, line);
        if is_so(found) {
            return found;
        }
        thread::sleep(Duration::from_millis(200));
    }
    panic!("`{line}` has another answer after a minute");
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands pages:: -- --ignored`, as .ci/run does"]
fn the_tutorial_does_what_its_chapters_print() {
    let mut story = Story { checkout: Checkout::new(), printed: String::new() };
    story.run("", "alcedo new workspace my-game");
    story.run("my-game", "cargo test");
    let mut dev = story.dev("MyGamePatrolRobot");
    dev.send(": show MyGamePatrolRobot_1");
    dev.wait_for("  speed = ");

    story.edit(FIRST_EDIT);
    dev.wait_for("generation 1 → 2");
    story.edit(MISTAKE);
    dev.wait_for("the old code keeps running");
    // The robot may be beyond the new end of its track, so the test waits.
    wait(&mut dev, "get MyGamePatrolRobot_1 position", |position| position < 4.5);

    story.edit(&[MISTAKE_UNDONE, KEPT_FIELD].concat());
    dev.wait_for("generation 2 → 3");
    number(&mut dev, "call MyGamePatrolRobot_1 tick_count");
    number(&mut dev, "call MyGamePatrolRobot_1 turn_count");
    // Stores the first value, because later turns may change its last digits.
    let farthest = wait(&mut dev, "call MyGamePatrolRobot_1 farthest", |farthest| farthest >= 5.0);
    story.edit(SHORTER);
    dev.wait_for("generation 3 → 4");
    assert!(number(&mut dev, "call MyGamePatrolRobot_1 farthest") >= farthest);

    story.edit(PANIC);
    dev.wait_for("generation 4 stays");
    dev.wait_for("everything is as it was");
    assert!(number(&mut dev, "call MyGamePatrolRobot_1 farthest") >= farthest);
    story.edit(REPAIR);
    dev.wait_for("generation 4 → ");

    story.edit(PROPERTY);
    dev.wait_for("added, default 3: 1 followed");
    assert_eq!(number(&mut dev, "set MyGamePatrolRobot_1 way_back 0.5"), 0.5);
    story.edit(OTHER_DEFAULT);
    dev.wait_for("default 3 → 2: 1 kept their own");
    story.quit(dev);

    story.run("my-game", "alcedo new plugin racer");
    let mut dev = story.dev("RacerRobot");
    story.edit(RACER_DRIVES);
    dev.wait_for("generation 1 → 2");
    story.edit(HOST_FUNCTION);
    dev.wait_for("the host changed (lib.rs)");
    dev.send("k");
    dev.wait_for("glue written again, host.rs");
    dev.wait_for("generation 1 is live");
    dev.wait_for("the world is back as it was");
    story.edit(RACER_RETURNS);
    dev.wait_for("generation 1 → 2");
    story.quit(dev);
    story.run("my-game", "cargo test");

    story.run("my-game", "alcedo keygen release.key");
    story.edit(TRUST);
    // A release build of all dependencies takes many minutes. This build therefore uses the debug profile for the files of the chapter.
    story.run("my-game", "cargo build --package my-game-host");
    story.run("my-game", "alcedo build --sign release.key");
    story.run("my-game", "alcedo inspect target/debug/libracer.so");
    story.run("my-game", "mkdir dist");
    let files = ["my-game-host", "libmy_game_patrol.so", "libracer.so"].map(|file| format!("target/debug/{file}"));
    story.run("my-game", &format!("cp {} dist", files.join(" ")));
    story.checkout.run_until("my-game", "dist/my-game-host", "RacerRobot_1 is at ");

    let printed = story.printed.replace("/debug/", "/release/");
    for chapter in CHAPTERS {
        let page = page(&format!("runtime/book/src/tutorial/{chapter}.md"));
        // Skips fences with a tree of folders, because no command prints such a tree.
        let transcripts = fences(&page).into_iter().filter(|(sort, text)| *sort == "text" && !text.contains('├'));
        for line in transcripts.flat_map(|(_, text)| text.lines()) {
            let parts: Vec<_> = line.split('…').map(str::to_owned).collect();
            assert!(printed.lines().any(|found| has(found, &parts)), "{chapter} prints `{line}`:\n{printed}");
        }
    }
}
