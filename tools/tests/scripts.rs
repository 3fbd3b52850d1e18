//! Tests the commands with script packages. The packages are checked, inspected, reloaded after edits, and queried in a running world.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use expect_test::expect_file;

use crate::support::terminal::Terminal;
use crate::support::{Dev, folder};

const HERO: &str = "class Hero extends Actor;

var() int Health;

function int Hurt(int Amount)
{
    Health -= Amount;
    return Health;
}

defaultproperties
{
    Health=100
}
";

struct Package {
    _dir: tempfile::TempDir,
    folder: PathBuf,
}

impl Package {
    fn new(text: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("Tale");
        fs::create_dir(&folder).unwrap();
        let package = Self { _dir: dir, folder };
        package.save(text);
        package
    }

    fn save(&self, text: &str) {
        fs::write(self.folder.join("Hero.uc"), text).unwrap();
    }
}

fn alcedo(args: &[&str], package: &Package) -> (bool, String) {
    let Output { status, stdout, stderr } =
        Command::new(env!("CARGO_BIN_EXE_alcedo")).args(args).arg(&package.folder).output().unwrap();
    (status.success(), String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr))
}

#[test]
fn check_prints_errors_with_locations_and_exits_with_one() {
    let package = Package::new(HERO);
    assert_eq!(alcedo(&["check"], &package), (true, "Tale checked, 1 file: no errors\n".to_owned()));
    package.save(&HERO.replace("Health -= Amount;", "Healht -= Amount;"));
    let (succeeded, output) = alcedo(&["check"], &package);
    assert!(!succeeded && output.contains("error") && output.contains("Tale/Hero.uc:7:5"), "{output}");
    assert!(
        output.contains("Healht -= Amount;") && output.contains("^^^^^^") && output.contains("1 package has errors"),
        "{output}"
    );
    package.save("class Hero extends Actor;\nfunction (");
    let (succeeded, output) = alcedo(&["check"], &package);
    assert!(!succeeded && output.contains("Tale/Hero.uc:2"), "{output}");
}

#[test]
fn inspect_shows_what_a_package_declares() {
    let package = Package::new(HERO);
    let (succeeded, output) = alcedo(&["inspect"], &package);
    assert!(succeeded && output.contains("class /Script/Tale.Hero : /Script/Engine.Actor"), "{output}");
    assert!(output.contains("  Health: i32") && output.contains("  fn Hurt(Amount: i32) -> i32"), "{output}");
    let (succeeded, output) = alcedo(&["inspect", "--json"], &package);
    let json: serde_json::Value = serde_json::from_str(&output).unwrap_or_else(|error| panic!("{error}: {output}"));
    assert!(succeeded && json["name"] == "Tale" && json["files"] == 1, "{output}");
    assert_eq!(json["declared"]["classes"][0]["path"], "/Script/Tale.Hero");
}

#[test]
fn repl_evaluates_lines_in_a_world_with_objects_of_the_package() {
    let package = Package::new(HERO);
    let mut command = Command::new(env!("CARGO_BIN_EXE_alcedo"));
    command.arg("repl").arg(&package.folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let lines = b"1 + 2\nHero'Hero_1'.Hurt(30)\nHero'Hero_1'.Health = 5;\nHero'Hero_1'.Health\nHero'Hero_1'.Hurt(\n2\n)\nnonsense)\n\xff\n:classes\n";
    child.stdin.take().unwrap().write_all(lines).unwrap();
    let ended = child.wait_with_output().unwrap();
    let output = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(ended.status.success(), "{output}");
    let answers: Vec<_> = output.lines().collect();
    assert_eq!(answers[..5], ["3", "70", "done", "5", "3"], "{output}");
    assert!(output.contains("error") && output.contains("1 | nonsense)"), "{output}");
    assert!(
        output.contains("1 | \u{fffd}"),
        "a byte that is not UTF-8 is an error, and does not end the session: {output}"
    );
    assert_eq!(answers.last(), Some(&"Tale.Hero"), "{output}");
}

/// Runs `alcedo repl` with a package on a terminal.
fn repl(package: &Package) -> Terminal {
    let mut command = Command::new(env!("CARGO_BIN_EXE_alcedo"));
    command.arg("repl").arg(&package.folder);
    Terminal::run_built(command)
}

#[test]
fn ctrl_c_ends_a_repl_whose_line_never_returns() {
    let package = Package::new(&HERO.replace("return Health;", "while (true); return Health;"));
    let mut terminal = repl(&package);
    terminal.wait_for("> ");
    terminal.press("1 + 41\r");
    terminal.wait_for("42");
    terminal.wait_for("> ");
    // Calls no object, because the host may create its objects later.
    terminal.press("while (true);\r");
    // The editor disables bracketed paste after the line was entered.
    terminal.wait_for("\x1b[?2004l");
    terminal.interrupt();
    assert_eq!(terminal.ended(), Some(130));
}

#[test]
fn lines_that_are_pasted_ahead_are_evaluated() {
    let package = Package::new(HERO);
    let mut terminal = repl(&package);
    terminal.wait_for("> ");
    // The results differ from all echoed input. A terminal may mark the start and the end of pasted text.
    terminal.press("10 * 11\r20 * 11\r30 * 11\r");
    ["110", "220", "330"].into_iter().for_each(|result| terminal.wait_for(result));
    terminal.wait_for("> ");
    terminal.press("\x1b[200~40 * 11\r50 * 11\r60 * 11\x1b[201~\r");
    ["440", "550", "660"].into_iter().for_each(|result| terminal.wait_for(result));
}

#[test]
fn a_signal_at_the_prompt_of_a_repl_restores_the_terminal() {
    let package = Package::new(HERO);
    let mut terminal = repl(&package);
    // The editor enables bracketed paste after raw mode.
    terminal.wait_for("\x1b[?2004h");
    assert!(terminal.is_raw());
    terminal.interrupt();
    assert_eq!(terminal.ended(), Some(130));
    assert!(!terminal.is_raw());
}

/// Kills the child processes of a process.
fn kill_children(process: u32) {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let children = tasks.map(|task| fs::read_to_string(task.unwrap().path().join("children")).unwrap_or_default());
    let children: String = children.collect();
    assert!(Command::new("kill").arg("-KILL").args(children.split_whitespace()).status().unwrap().success());
}

#[test]
fn a_repl_whose_host_ends_during_a_line_prints_no_prompt() {
    let package = Package::new(HERO);
    let program = env!("CARGO_BIN_EXE_alcedo");
    let mut command = Command::new(program);
    command.args(["repl", "--host", program, "--host-arg=dev-world", "--host-arg=--package", "--host-arg=Tale"]);
    command.arg(&package.folder);
    let mut terminal = Terminal::run_built(command);
    terminal.wait_for("> ");
    terminal.press("1 + 41\r");
    terminal.wait_for("42");
    terminal.wait_for("> ");
    // Calls no object, because the host may create its objects later.
    terminal.press("while (true);\r");
    // The editor disables bracketed paste after a line was entered, and enables it together with raw mode.
    terminal.wait_for("\x1b[?2004l");
    kill_children(terminal.child.id());
    terminal.wait_for("by SIGKILL");
    assert_eq!(terminal.ended(), Some(1));
    assert_eq!(terminal.all().matches("\x1b[?2004h").count(), 2, "{}", terminal.all());
}

#[test]
fn repl_runs_c_functions_and_warns_of_a_missing_library() {
    let package =
        Package::new("class Hero extends Actor DLLBind(Sums);\n\ndllimport final function int Sum(int A, int B);\n");
    let code = package.folder.parent().unwrap().join("code");
    fs::create_dir(&code).unwrap();
    fs::write(code.join("sums.c"), "int Sum(int a, int b) { return a + b; }").unwrap();
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-o", "libSums.so", "sums.c"]).current_dir(&code);
    assert!(command.status().unwrap().success());
    let repl = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_alcedo"));
        command.arg("repl").args(arguments).arg(&package.folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"Hero'Hero_1'.Sum(40, 2)\n").unwrap();
        let output = child.wait_with_output().unwrap();
        (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (answer, warnings) = repl(&["--user-code", code.to_str().unwrap()]);
    assert!(answer == "42\n" && !warnings.contains("not bound"), "{answer}{warnings}");
    let (answer, warnings) = repl(&[]);
    assert!(answer == "0\n" && warnings.contains("a class was not bound") && warnings.contains("Sums"), "{warnings}");
    assert!(warnings.contains("`--user-code`"), "{warnings}");
    fs::remove_file(code.join("libSums.so")).unwrap();
    let (answer, warnings) = repl(&["--user-code", code.to_str().unwrap()]);
    assert!(answer == "0\n" && warnings.contains("a library was not bound") && warnings.contains("Sums"), "{warnings}");
}

#[test]
fn dev_reloads_a_saved_package_and_keeps_the_old_one_on_errors() {
    let package = Package::new(HERO);
    let mut command = Command::new(env!("CARGO_BIN_EXE_alcedo"));
    command.arg("dev").arg(&package.folder).args(["--objects", "3"]);
    let mut dev = Dev::run(command);
    dev.wait_until_live_with("3 objects of Tale.Hero");
    package.save(&HERO.replace("Health=100", "Health=150"));
    assert!(dev.wait_for("generation 1 → 2").starts_with("Tale  generation"));
    dev.wait_for("default 100 → 150: 3 followed");
    package.save(&HERO.replace("Health -= Amount;", "Healht -= Amount;"));
    dev.wait_for("Tale/Hero.uc:7:5");
    dev.send(": eval Hero'Hero_1'.Hurt(50)");
    while dev.wait_for("100") != "100" {}
    dev.send("q");
    dev.expect_success();
}

#[test]
fn a_package_whose_folder_has_an_invalid_name_is_refused_with_a_hint() {
    let package = Package::new(HERO);
    let folder = package.folder.with_file_name("my-tale");
    fs::rename(&package.folder, &folder).unwrap();
    let package = Package { folder, ..package };
    for command in ["check", "repl"] {
        let (succeeded, output) = alcedo(&[command], &package);
        assert!(!succeeded && output.contains("my-tale cannot be a package of scripts"), "{output}");
        assert!(output.contains("rename the folder"), "{output}");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_alcedo"));
    command.arg("dev").arg(&package.folder);
    let mut dev = Dev::run(command);
    dev.wait_for("my-tale cannot be a package of scripts");
    dev.send("q");
    dev.expect_success();
}

/// Compares the glue for a script package in the example plugin with generated glue. `UPDATE_EXPECT=1` writes the file.
#[test]
fn glue_of_a_package_is_what_the_example_plugin_has() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_alcedo"));
    command.arg("glue").arg(repository.join("example-plugins/scripts/Ballad"));
    command.args(["--package", "Engine=engine_glue"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = folder(&repository, "listener").join("src/ballad.rs");
    expect_file![file].assert_eq(&String::from_utf8_lossy(&output.stdout));
}
