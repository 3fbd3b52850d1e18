//! Checks pages for newcomers. Runs each command as written, and checks that the code of each Rust fence is compiled. A command that this
//! file does not list is an error. `pages/tutorial.rs` runs the tutorial of the book.

mod tutorial;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{Dev, Scratch, target};

/// Paths of the pages, relative to the root of the repository.
const PAGES: [&str; 4] = [
    "README.md",
    "tools/docs/first-ten-minutes.md",
    "tools/src/new/templates/workspace/README.md",
    "tools/src/new/templates/alone/README.md",
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Run {
    /// Runs in this folder of the copied checkout. The second string contains the arguments that replace the words in capital letters.
    In(&'static str, &'static str),
    /// Does not run here. A job of `.ci/run` with this line runs the command.
    Job(&'static str),
    /// Runs in this folder. The program is killed after it prints the second string.
    Until(&'static str, &'static str),
    /// Only mentions a command. Nothing runs.
    Named,
}

use Run::{In, Job, Named, Until};

/// Commands of all pages, in the order in which the commands run. Each entry contains a complete command, as written in its page.
const COMMANDS: &[(&str, Run)] = &[
    ("git clone … alcedo && cd alcedo", Job(".ci/first-ten-minutes")),
    ("cargo run --bin alcedo -- demo", Job("cargo run -q --bin alcedo -- demo")),
    ("cargo run --bin alcedo -- dev example-plugins", In("", "")),
    ("alcedo dev example-plugins/magic-cube example-plugins/scripts/Tale", In("", "")),
    ("cargo run --bin alcedo -- new workspace my-game", In("", "")),
    ("cargo run --bin alcedo -- new workspace x", Job(".ci/first-ten-minutes")),
    ("cargo install --path tools", Job("cargo install --path tools")),
    ("cd my-game", Named),
    ("cargo test", In("my-game", "")),
    ("../target/debug/alcedo dev", In("my-game", "")),
    ("alcedo dev", In("my-game", "")),
    ("alcedo dev plugins --host my-game-host", In("my-game", "")),
    ("alcedo new plugin NAME", In("my-game", "alcedo new plugin second")),
    ("alcedo new plugin", Named),
    ("alcedo new host NAME", In("", "alcedo new host server")),
    ("alcedo new workspace", Named),
    ("alcedo doctor", In("my-game", "")),
    ("cargo build && cargo run", Until("my-game", "is at ")),
    ("alcedo glue --host my-game-host -o glue/src/host.rs", In("my-game", "")),
    ("{{install}}", Job("cargo install --path tools")),
    ("alcedo inspect target/debug/libmy_plugin.so", In("my-game", "alcedo inspect target/debug/libmy_game_patrol.so")),
    ("alcedo glue --host PACKAGE", In("my-game", "alcedo glue --host my-game-host")),
    ("alcedo glue", Named),
    (
        "alcedo check",
        In("", "alcedo check example-plugins/scripts example-plugins/magic-cube example-plugins/glue-base"),
    ),
    ("alcedo repl", Named),
    ("alcedo guard path/to/host", Named),
    (
        "cargo run --release --bin alcedo-reload-test -- --reloads 200 --objects 1000 --json report.json",
        Job(
            "cargo run -q --release --bin alcedo-reload-test -- --reloads 200 --objects 1000 --json target/reload-200.json",
        ),
    ),
    ("cargo run --release --bin alcedo-survey", Job("cargo run -q --release --bin alcedo-survey -- --reloads 20")),
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

fn page(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap().replace("{{name}}", "my-game")
}

/// Returns the fences of a page as pairs of info string and text.
fn fences(page: &str) -> Vec<(&str, &str)> {
    let whole = page.split("\n```").skip(1).step_by(2);
    whole.filter_map(|fence| fence.split_once('\n')).collect()
}

/// Returns the commands in the console fences and in the inline code of a page.
fn commands(page: &str) -> Vec<String> {
    let consoles = fences(page).into_iter().filter(|(sort, _)| *sort == "console").flat_map(|(_, text)| text.lines());
    let typed = consoles.filter_map(|line| line.strip_prefix("$ "));
    let typed = typed.map(|line| line.split("  #").next().unwrap_or(line).trim().to_owned());
    let prose: String = page.split("\n```").step_by(2).collect();
    let spans = prose.split('`').skip(1).step_by(2).map(|span| span.split_whitespace().collect::<Vec<_>>().join(" "));
    typed
        .chain(spans.filter(|span| ["alcedo ", "cargo ", "{{install"].iter().any(|program| span.starts_with(program))))
        .collect()
}

#[test]
fn each_command_of_a_page_is_run_by_a_test_or_job() {
    let written: Vec<_> = PAGES.iter().flat_map(|path| commands(&page(path))).collect();
    for command in &written {
        assert!(COMMANDS.iter().any(|(known, _)| known == command), "`COMMANDS` lacks `{command}`");
    }
    let jobs = page(".ci/run");
    for (command, run) in COMMANDS {
        assert!(written.iter().any(|line| line == command), "no page has `{command}`");
        if let Job(line) = run {
            assert!(jobs.contains(line), "no job runs `{command}`: {line}");
        }
    }
}

/// Checks that each page of an example is short, and names the test of the example.
#[test]
fn each_example_has_a_short_page_that_names_its_test() {
    let root = repository();
    let folders = fs::read_dir(root.join("example-plugins")).unwrap().map(|entry| entry.unwrap());
    let folders = folders.filter(|entry| entry.path().is_dir() && entry.file_name() != "target");
    let names: Vec<_> = folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    let list = page("example-plugins/README.md");
    for name in names.iter().filter(|name| *name != "engine-glue") {
        assert!(list.contains(&format!("({name}/README.md)")), "the list lacks {name}");
        let text = page(&format!("example-plugins/{name}/README.md"));
        assert!(text.lines().count() <= 40, "{name}: {} lines", text.lines().count());
        let (_, tests) = text.rsplit_once("\nTests: ").unwrap_or_else(|| panic!("{name} names no test"));
        let tests = tests.split('`').skip(1).step_by(2).filter(|span| span.ends_with(".rs"));
        let with_example = tests.filter(|test| page(test).contains(&format!("\"{name}\""))).count();
        assert!(with_example > 0, "no test that {name} names has it");
        for path in
            commands(&text).iter().flat_map(|line| line.split(' ')).filter(|word| word.starts_with("example-plugins/"))
        {
            assert!(path.contains("/target/") || root.join(path).exists(), "{name}: {path}");
        }
    }
    assert!(names.len() > 8, "{names:?}");
}

/// Folders of compiled sources that contain the code of the fences. `new::` compiles the templates, and `tutorial` compiles the edits of
/// the tutorial.
const COMPILED: [&str; 7] = [
    "example-plugins",
    "plugin-api/tests/accepted",
    "runtime/dll-bind/tests",
    "runtime/examples",
    "runtime/tests",
    "tools/src/new/templates",
    "tools/tests/pages",
];

/// Placeholders of the templates, each with its value in the workspace of the tutorial.
const WORDS: [(&str, &str); 4] = [
    ("{{camel}}", "MyGamePatrol"),
    ("{{glue}}", "my_game_glue"),
    ("{{host}}", "my_game_host"),
    ("{{module}}", "my_game_patrol"),
];

/// Pages whose fences are compiled as doc tests.
const WHOLE: [&str; 1] = ["runtime/docs/load-contexts.md"];

/// Fences without a compiled source. Each entry has the page, the first line, and the reason.
const EXCUSED: [(&str, &str, &str); 2] = [
    (
        "tools/docs/glue.md",
        "mod cubes;",
        "its module is written by `alcedo glue`; `runtime/tests/host_glue.rs` uses the like",
    ),
    ("tools/docs/glue.md", "// build.rs", "two files; the template of a workspace has them, and `new::` compiles that"),
];

/// Returns the files with this extension in a folder and its subfolders, except in build output, compile-fail tests, templates and `.git`.
fn files(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let expected =
        entries.filter(|path| !["target", "ui", ".git", "templates"].iter().any(|name| path.ends_with(name)));
    expected
        .flat_map(|path| match path.is_dir() {
            true => files(&path, ending),
            false => Vec::from_iter(path.extension().is_some_and(|found| found == ending).then_some(path)),
        })
        .collect()
}

/// Normalizes code: removes comments, collapses whitespace, and replaces `alcedo_runtime` by `alcedo`. Manifests of hosts use the name
/// `alcedo`.
fn bare(code: &str) -> String {
    let lines = code.lines().map(|line| if line.trim_start().starts_with("//") { "" } else { line });
    let code: Vec<_> = lines.map(|line| line.split_once(" //").map_or(line, |(code, _)| code)).collect();
    code.join(" ").split_whitespace().collect::<Vec<_>>().join(" ").replace("alcedo_runtime", "alcedo")
}

/// Splits a fence at blank lines, ellipses and lines with a closing brace. A source must contain the resulting parts in this order.
fn parts(fence: &str) -> Vec<String> {
    let lines = fence.lines().flat_map(|line| match line.trim() {
        "" | "}" => vec!["…"],
        _ => vec![line],
    });
    let parts: Vec<_> = lines.collect::<Vec<_>>().join("\n").split('…').map(bare).collect();
    parts.into_iter().filter(|part| !part.is_empty()).collect()
}

fn has(source: &str, parts: &[String]) -> bool {
    let mut rest = source;
    parts.iter().all(|part| match rest.split_once(part.as_str()) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

#[test]
fn each_fence_of_rust_is_compiled_or_excused() {
    let root = repository();
    let sources: Vec<_> = COMPILED.iter().flat_map(|folder| files(&root.join(folder), "rs")).collect();
    let filled = |source: String| WORDS.iter().fold(source, |source, (word, value)| source.replace(word, value));
    let sources: Vec<_> = sources.iter().map(|path| bare(&filled(fs::read_to_string(path).unwrap()))).collect();
    let (mut found, mut excused, mut lost) = (0, BTreeSet::new(), Vec::new());
    for path in files(&root, "md") {
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        let page = fs::read_to_string(&path).unwrap();
        let rust = fences(&page).into_iter().filter(|(sort, _)| sort.split(',').next() == Some("rust"));
        for (_, text) in rust.filter(|_| !PAGES.contains(&name.as_str()) && !WHOLE.contains(&name.as_str())) {
            let first = text.lines().next().unwrap_or_default();
            if let Some(at) = EXCUSED.iter().position(|(page, begin, _)| (*page, *begin) == (name.as_str(), first)) {
                excused.insert(at);
            } else if sources.iter().any(|source| has(source, &parts(text))) {
                found += 1;
            } else {
                lost.push(format!("{name}: {first}"));
            }
        }
    }
    assert!(lost.is_empty(), "no source of {COMPILED:?} has these fences: {lost:#?}");
    assert_eq!(excused.len(), EXCUSED.len(), "a page has lost a fence that is excused");
    assert!(found > 30, "{found} fences");
}

/// Returns the files that the source or manifest at `path` may include as modules or by their paths.
fn included(path: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(path).unwrap();
    let (folder, own) = (path.parent().unwrap(), path.with_extension(""));
    let modules = text.lines().filter_map(|line| line.strip_suffix(';')?.rsplit_once("mod ").map(|(_, name)| name));
    let modules = modules.flat_map(|name| [format!("{name}.rs"), format!("{name}/mod.rs")]);
    let modules = modules.flat_map(|file| [folder.join(&file), own.join(&file)]);
    let named = text.split('"').filter(|part| part.ends_with(".rs") && !part.contains('\n'));
    modules.chain(named.map(|part| folder.join(part))).filter_map(|file| file.canonicalize().ok()).collect()
}

/// Returns true if cargo compiles the source without a line in another file.
fn is_found_by_cargo(path: &Path) -> bool {
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let folder = path.parent().unwrap();
    let manifest = fs::read_to_string(folder.parent().unwrap().join("Cargo.toml"));
    match (&*name(folder), &*name(path)) {
        ("src", "lib.rs" | "main.rs") => true,
        (_, "build.rs") => folder.join("Cargo.toml").is_file(),
        ("tests", _) => manifest.is_ok_and(|manifest| !manifest.contains("autotests = false")),
        ("examples", _) => manifest.is_ok(),
        _ => false,
    }
}

/// Checks that no source with the code of fences is left out of all programs, because such a source is not compiled.
#[test]
fn each_source_for_fences_is_part_of_a_program() {
    let root = repository();
    let of_fences: Vec<_> = COMPILED.iter().flat_map(|folder| files(&root.join(folder), "rs")).collect();
    let all = ["rs", "toml"].iter().flat_map(|ending| files(&root, ending));
    let known: BTreeSet<_> = all.chain(of_fences.clone()).flat_map(|path| included(&path)).collect();
    let lost: Vec<_> = of_fences.iter().filter(|path| !known.contains(*path) && !is_found_by_cargo(path)).collect();
    assert!(lost.is_empty(), "no program has these sources: {lost:#?}");
}

/// Reference pages that name commands. The pages of the book are added at run time.
const REFERENCE: [&str; 4] =
    ["tools/docs/glue.md", "runtime/docs/script.md", "runtime/docs/dll-bind.md", "plugin-api/docs/mistakes.md"];

/// Folder with the sources of the book.
const BOOK: &str = "runtime/book/src";

/// Compares the commands and options in pages with the help of each command.
#[test]
fn each_command_that_a_page_names_is_there() {
    let book = files(&repository().join(BOOK), "md");
    let pages = PAGES.iter().chain(&REFERENCE).map(|path| page(path));
    let pages: Vec<_> = pages.chain(book.iter().map(|path| fs::read_to_string(path).unwrap())).collect();
    let written: Vec<_> = pages.iter().flat_map(|page| commands(page)).collect();
    let mut options: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for command in written.iter().filter_map(|command| command.strip_prefix("alcedo ")) {
        let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
        let named = rest.split(' ').take_while(|word| *word != "--").filter(|word| word.starts_with('-'));
        options.entry(verb).or_default().extend(named);
    }
    assert!(options.len() > 8, "{options:?}");
    for (verb, options) in options.into_iter().filter(|(verb, _)| !verb.starts_with('-')) {
        let help = Command::new(env!("CARGO_BIN_EXE_alcedo")).args([verb, "--help"]).output().unwrap();
        assert!(help.status.success(), "{verb}: {}", String::from_utf8_lossy(&help.stderr));
        let help = String::from_utf8(help.stdout).unwrap();
        // A build without the feature of a command lists no options for this command.
        if help.contains("This build of `alcedo` lacks it") {
            continue;
        }
        let words: BTreeSet<_> = help.split(|letter: char| !letter.is_alphanumeric() && letter != '-').collect();
        for option in options {
            assert!(words.contains(option), "`alcedo {verb}` has no option {option}:\n{help}");
        }
    }
}

/// Returns the files to which the links of a page refer. Skips fences and inline code.
fn links(page: &str) -> Vec<String> {
    let prose: String = page.split("\n```").step_by(2).collect();
    let prose: String = prose.split('`').step_by(2).collect();
    let targets = prose.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned()));
    targets.filter(|target| !target.contains("://")).collect()
}

/// Returns the anchors of the headings of a page.
fn anchors(page: &str) -> BTreeSet<String> {
    let prose: String = page.split("\n```").step_by(2).collect();
    let headings = prose.lines().filter_map(|line| line.strip_prefix('#'));
    let headings = headings.map(|line| line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-"));
    let is_kept = |letter: &char| letter.is_alphanumeric() || "-_".contains(*letter);
    headings.map(|heading| heading.chars().filter(is_kept).collect()).collect()
}

/// Returns the text of a page. If a chapter only includes a page, returns the text of the included page.
fn text(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    match text.strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}\n")) {
        Some(included) => fs::read_to_string(path.parent().unwrap().join(included)).unwrap(),
        None => text,
    }
}

/// Checks that the target and the anchor of each relative link exist, in all pages of the repository. Links of the book must stay inside of
/// the book, because its website contains no other files.
#[test]
fn each_relative_link_of_a_page_resolves() {
    let root = repository();
    let book = root.join(BOOK);
    let (mut count, mut broken) = (0, Vec::new());
    for path in files(&root, "md") {
        for target in links(&text(&path)) {
            let (file, anchor) = target.split_once('#').unwrap_or((target.as_str(), ""));
            let named = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let has_anchor = || named.is_file() && anchors(&text(&named)).contains(anchor);
            let leaves_book =
                || path.starts_with(&book) && !named.canonicalize().is_ok_and(|named| named.starts_with(&book));
            if named.exists() && (anchor.is_empty() || has_anchor()) && !leaves_book() {
                count += 1;
            } else {
                broken.push(format!("{}: {target}", path.strip_prefix(&root).unwrap().display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(count > 100, "{count} links");
}

#[test]
fn each_chapter_of_the_book_is_in_its_summary() {
    let book = repository().join(BOOK);
    let links = links(&page(&format!("{BOOK}/SUMMARY.md")));
    let listed: BTreeSet<_> = links.iter().map(|target| book.join(target)).collect();
    assert_eq!(listed.len(), links.len(), "a chapter is listed twice");
    let written: BTreeSet<_> = files(&book, "md").into_iter().filter(|path| !path.ends_with("SUMMARY.md")).collect();
    assert_eq!(written, listed);
}

#[test]
fn each_page_below_docs_is_a_chapter_of_the_book() {
    let root = repository();
    let docs = ["plugin-api/docs", "runtime/docs", "tools/docs"].map(|folder| files(&root.join(folder), "md"));
    for page in docs.into_iter().flatten().chain([root.join("runtime/ARCHITECTURE.md")]) {
        let chapter = root.join(BOOK).join(page.strip_prefix(&root).unwrap());
        assert!(chapter.is_file(), "no {} includes the page", chapter.display());
        assert!(text(&chapter) == text(&page), "{} includes another page", chapter.display());
    }
}

/// Folder that replaces a checkout. The folder contains copies of the files that the commands use. The PATH folder of the checkout contains
/// `alcedo`, and a `cargo` that runs `alcedo`.
struct Checkout {
    scratch: Scratch,
    path: String,
}

impl Checkout {
    fn new() -> Self {
        let scratch = Scratch::new();
        let root = scratch.root();
        let (bin, built) = (root.join("bin"), root.join("target/debug"));
        [&bin, &built].into_iter().for_each(|dir| fs::create_dir_all(dir).unwrap());
        let alcedo = env!("CARGO_BIN_EXE_alcedo");
        symlink(alcedo, bin.join("alcedo")).unwrap();
        symlink(alcedo, built.join("alcedo")).unwrap();
        let cargo = format!(
            "#!/bin/sh\ncase \"$*\" in \"run --bin alcedo -- \"*) shift 4; exec {alcedo} \"$@\";; esac\nexec {} \"$@\"\n",
            env!("CARGO")
        );
        fs::write(bin.join("cargo"), cargo).unwrap();
        fs::set_permissions(bin.join("cargo"), fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        Self { scratch, path }
    }

    fn shell(&self, dir: &str, line: &str) -> Command {
        let mut command = self.scratch.command("sh");
        command.args(["-c", line]).current_dir(self.scratch.root().join(dir)).env("PATH", &self.path);
        // The default target folder contains the programs and libraries. All tests share the folder for intermediate output.
        command.env_remove("CARGO_TARGET_DIR").env("CARGO_BUILD_BUILD_DIR", target()).env("CARGO_NET_OFFLINE", "true");
        command
    }

    /// Runs a line. After the program prints `text`, ends all its processes.
    fn run_until(&self, dir: &str, line: &str, text: &str) {
        let mut command = self.shell(dir, line);
        command.process_group(0);
        let mut running = Dev::run(command);
        running.wait_for(text);
        let group = format!("-{}", running.child.id());
        assert!(Command::new("kill").args(["-KILL", "--", &group]).status().unwrap().success());
    }

    /// Runs a line to its end. If the line starts a session, ends the session with `q` after the first generation is live.
    fn run(&self, dir: &str, line: &str) {
        if line.contains("alcedo dev") || line.contains("alcedo -- dev") {
            let mut dev = Dev::run(self.shell(dir, line));
            dev.wait_for("generation 1 is live");
            dev.send("q");
            return dev.expect_success();
        }
        let output = self.shell(dir, line).stdin(Stdio::null()).output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{line}: {}\n{out}\n{err}", output.status);
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        let root = self.scratch.root();
        let plugins = fs::read_dir(root.join("my-game/plugins")).into_iter().flatten().flatten();
        let plugins = plugins.filter(|entry| entry.path().is_dir()).map(|entry| entry.file_name());
        let plugins = plugins.filter_map(|name| name.into_string().ok());
        let members: Vec<_> = ["my-game-glue", "my-game-host"].map(str::to_owned).into_iter().chain(plugins).collect();
        for (dir, packages) in [("my-game", members), ("spinner", vec!["spinner".to_owned()])] {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.env("CARGO_TARGET_DIR", target()).args(["clean", "--offline", "--quiet"]);
            cargo.args(packages.iter().flat_map(|package| ["--package", package.as_str()]));
            let _ = cargo.current_dir(root.join(dir)).stderr(Stdio::null()).status();
        }
    }
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands pages:: -- --ignored`, as .ci/run does"]
fn every_command_does_what_its_page_states_and_every_fence_compiles() {
    let checkout = Checkout::new();
    let root = checkout.scratch.root();
    for (command, run) in COMMANDS {
        let (dir, other) = match run {
            In(dir, other) => (dir, other),
            Until(dir, text) => {
                checkout.run_until(dir, command, text);
                continue;
            }
            Job(_) | Named => continue,
        };
        if *command == "cargo test" {
            // Compiles fences for a host as examples of the new host.
            for (at, (_, text)) in
                fences(&page("README.md")).iter().filter(|(sort, _)| *sort == "rust,ignore").enumerate()
            {
                let source = format!(
                    "use alcedo::{{Budget, Error, Runtime}};\n\nfn natives() -> alcedo::native::Natives {{\n    \
                     alcedo::natives![my_game_host::Robot]\n}}\n\nfn main() -> Result<(), Error> {{\n\
                     let libraries: Vec<std::path::PathBuf> = Vec::new();\n{text}\nOk(())\n}}\n"
                );
                fs::create_dir_all(root.join("my-game/host/examples")).unwrap();
                fs::write(root.join(format!("my-game/host/examples/page_{at}.rs")), source).unwrap();
            }
        }
        checkout.run(dir, if other.is_empty() { command } else { other });
    }
    // Compiles fences for plugins in one plugin of the sample engine.
    checkout.run("", "alcedo new plugin spinner");
    let plugin: String = PAGES
        .iter()
        .flat_map(|path| {
            fences(&page(path))
                .iter()
                .filter(|(sort, _)| *sort == "rust")
                .map(|(_, text)| format!("{text}\n"))
                .collect::<Vec<_>>()
        })
        .collect();
    fs::write(root.join("spinner/src/lib.rs"), plugin).unwrap();
    checkout.run("", "alcedo build spinner");
}
