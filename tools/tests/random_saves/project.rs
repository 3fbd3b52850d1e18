//! Creates a workspace with a plugin. Each part of the plugin contains a number. In each tick, the plugin writes all numbers to a file, so
//! that the test can identify the running code.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::record::Part;
use crate::support::{compiled_plugins, target, turn};

/// Number of source files that a save changes together.
const MODULES: usize = 40;

/// Environment variable with the path of the tick file.
const TICKS: &str = "SAVES_TICKS";

/// Files of the workspace. `REPOSITORY` is the folder of Alcedo. `PROFILE` is the profile of the example plugins. With this profile,
/// dependencies are compiled only once.
const FILES: [(&str, &str); 3] = [
    (
        "Cargo.toml",
        "[workspace]\nresolver = \"3\"\nmembers = [\"saved\", \"saved-part\"]\ndefault-members = [\"saved\"]\nPROFILE",
    ),
    (
        "saved/Cargo.toml",
        r#"
[package]
name = "saved"
edition = "2024"
[lib]
crate-type = ["cdylib"]
[dependencies]
alcedo-plugin-api = { path = "REPOSITORY/plugin-api" }
engine-glue = { path = "REPOSITORY/example-plugins/engine-glue" }
saved-part = { path = "../saved-part" }
"#,
    ),
    ("saved-part/Cargo.toml", "[package]\nname = \"saved-part\"\nedition = \"2024\"\n"),
];

const SOURCE: &str = r#"
#![forbid(unsafe_code)]
use std::io::Write as _;
use std::sync::OnceLock;
use std::time::SystemTime;

use alcedo_plugin_api::prelude::*;
use engine_glue::Actor;

mod modules;

module! { name: "saved" }

const SOURCE: &str = "NUMBER";

const INCLUDED: &str = include_str!("number.txt");

/// Reports the numbers of this library.
#[uclass(package = "Game", base = Actor)]
pub struct Saved {}

#[uclass]
impl Saved {
    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        this.set_can_tick(true);
    }

    #[overrides(Actor)]
    fn receive_tick(&mut self, _this: This<Self>, _delta: f32) {
        static FIRST: OnceLock<u128> = OnceLock::new();
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos();
        let numbers = [
            SOURCE,
            INCLUDED.trim_end().strip_suffix('!').unwrap_or("half"),
            saved_part::NUMBER,
            option_env!("SAVES_NUMBER").unwrap_or("none"),
            modules::number(),
        ];
        let line = format!("{now} {} {}\n", FIRST.get_or_init(|| now), numbers.join(" "));
        let path = std::env::var_os("SAVES_TICKS").unwrap();
        let file = std::fs::File::options().create(true).append(true).open(path);
        file.unwrap().write_all(line.as_bytes()).unwrap();
    }
}
"#;

pub(super) struct Project {
    dir: TempDir,
    _turn: File,
}

impl Project {
    /// Writes the workspace. Each part contains this number.
    pub(super) fn new(number: &str) -> Self {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
        let project = Self { _turn: turn(), dir: tempfile::tempdir().unwrap() };
        let examples = repository.join("example-plugins");
        let workspace = fs::read_to_string(examples.join("Cargo.toml")).unwrap();
        let profile = &workspace[workspace.find("[profile.dev]").unwrap()..];
        for (path, text) in FILES {
            let text = text.replace("REPOSITORY", &repository.display().to_string()).replace("PROFILE", profile);
            write(&project.dir.path().join(path), &text);
        }
        fs::copy(examples.join("Cargo.lock"), project.dir.path().join("Cargo.lock")).unwrap();
        let modules: Vec<_> = (0..MODULES).map(|at| format!("m{at}")).collect();
        let list: String = modules.iter().map(|module| format!("mod {module};\n")).collect();
        let numbers = modules.join("::NUMBER, ");
        let function = format!(
            "pub(crate) fn number() -> &'static str {{\n    let all = [{numbers}::NUMBER];\n    \
             if all.iter().all(|one| *one == all[0]) {{ all[0] }} else {{ \"torn\" }}\n}}\n"
        );
        write(&project.folder().join("src/modules.rs"), &format!("{list}\n{function}"));
        for part in Part::ALL {
            for (path, text) in project.files(part, number) {
                write(&path, &text);
            }
        }
        project
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.dir.path().join("saved")
    }

    /// Returns the files of a part whose content is this number.
    pub(super) fn files(&self, part: Part, number: &str) -> Vec<(PathBuf, String)> {
        let file = |path: &str, text: String| vec![(self.dir.path().join(path), text)];
        let constant = || format!("pub const NUMBER: &str = \"{number}\";\n");
        match part {
            Part::Source => file("saved/src/lib.rs", SOURCE.replace("NUMBER\";", &format!("{number}\";"))),
            Part::Included => file("saved/src/number.txt", format!("{number}!\n")),
            Part::Dependency => file("saved-part/src/lib.rs", constant()),
            Part::Environment => file(".cargo/config.toml", format!("[env]\nSAVES_NUMBER = \"{number}\"\n")),
            Part::Modules => {
                let path = |at| self.folder().join(format!("src/modules/m{at}.rs"));
                (0..MODULES).map(|at| (path(at), constant().replace("pub ", "pub(crate) "))).collect()
            }
        }
    }

    pub(super) fn ticks(&self) -> PathBuf {
        self.dir.path().join("ticks")
    }

    pub(super) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("CARGO_TARGET_DIR", target()).env("CARGO_BUILD_BUILD_DIR", compiled_plugins());
        command.env(TICKS, self.ticks());
        command
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let mut cargo = self.command(env!("CARGO"));
        cargo.args(["clean", "--quiet", "--package", "saved", "--package", "saved-part", "--manifest-path"]);
        let _ = cargo.arg(self.dir.path().join("Cargo.toml")).stderr(Stdio::null()).status();
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
