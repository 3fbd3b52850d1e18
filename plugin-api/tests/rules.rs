//! Checks that each rule id in the sources of the macros has a line in `docs/mistakes.md`, that a module in `ui` breaks the rule and
//! reports the id, and that a module in `accepted` follows the rule. Conversely, each of these modules must belong to a rule.

use std::collections::BTreeSet;
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use expect_test::expect_file;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the names of the files in a folder that end with `end`, without this suffix.
fn files(folder: &str, end: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).expect("the folder is there");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"));
    names.filter_map(|name| Some(name.strip_suffix(end)?.to_owned())).collect()
}

/// Returns the paths of the macro sources, relative to this package.
fn sources_of_macros() -> BTreeSet<String> {
    let mut sources = BTreeSet::new();
    let mut folders = vec!["macros/src".to_owned()];
    while let Some(folder) = folders.pop() {
        sources.extend(files(&folder, ".rs").iter().map(|name| format!("{folder}/{name}.rs")));
        let is_folder = |name: &String| Path::new(env!("CARGO_MANIFEST_DIR")).join(name).is_dir();
        folders.extend(files(&folder, "").iter().map(|name| format!("{folder}/{name}")).filter(is_folder));
    }
    sources
}

/// Returns the rule ids in a string.
fn ids(text: &str) -> BTreeSet<String> {
    let found = text.match_indices("ALC").map(|(at, _)| text[at..].chars().take(7).collect::<String>());
    found.filter(|id| id.len() == 7 && id[3..].chars().all(|digit| digit.is_ascii_digit())).collect()
}

/// Returns the rule ids in the module names of a test file, each with the range of lines of its module.
fn modules(file: &str) -> Vec<(String, RangeInclusive<usize>)> {
    let source = read(file);
    let lines: Vec<_> = source.lines().collect();
    let module = |(first, line): (usize, &&str)| {
        let id = line.strip_prefix("mod ")?.strip_suffix(" {")?.to_uppercase();
        let length = lines[first..].iter().position(|line| *line == "}").expect("a module ends");
        ids(&id).contains(&id).then(|| (id, first + 1..=first + length + 1))
    };
    lines.iter().enumerate().filter_map(module).collect()
}

/// Returns the paths of the test files in a folder, relative to this package.
fn cases(folder: &str) -> impl Iterator<Item = String> {
    files(folder, ".rs").into_iter().map(move |name| format!("{folder}/{name}.rs"))
}

/// Returns the compiler's message for a rule, if the message points to one of these source lines.
fn message(id: &str, lines: &RangeInclusive<usize>, output: &str) -> String {
    let end = format!(" [{id}]\n");
    let reported = output.match_indices(&end).find_map(|(at, end)| {
        let line = output[at + end.len()..].split_once(".rs:")?.1.split(':').next()?.parse().ok()?;
        lines.contains(&line).then(|| output[..at].lines().last())?
    });
    let head = reported.unwrap_or_else(|| panic!("{id} is not reported for the lines {lines:?}: {output}"));
    let (_, message) = head.split_once(": ").unwrap_or_else(|| panic!("{id}: {head}"));
    message.strip_prefix("evaluation panicked: ").unwrap_or(message).replace('|', "\\|")
}

/// Folders of test files that break rules. Rules for native classes are tested in the host crate, on which no plugin depends.
const BROKEN: [&str; 2] = ["tests/ui", "../runtime/alcedo/tests/ui"];

#[test]
fn each_rule_has_a_line_a_violation_and_a_correct_example() {
    let sources: BTreeSet<_> = sources_of_macros().iter().flat_map(|path| ids(&read(path))).collect();
    assert!(sources.len() > 100, "{sources:?}");
    assert_eq!(ids(&read("docs/mistakes.md")), sources, "the list in docs/mistakes.md");
    let broken = BROKEN.into_iter().flat_map(cases).flat_map(|file| modules(&file)).map(|(id, _)| id);
    assert_eq!(broken.collect::<BTreeSet<_>>(), sources, "the modules that break a rule");

    let kept = |folder| cases(folder).flat_map(|file| ids(&read(&file).to_uppercase()));
    let folders = ["tests/accepted", "tests/accepted/rules", "../runtime/tests/accepted"];
    assert_eq!(folders.into_iter().flat_map(kept).collect::<BTreeSet<_>>(), sources, "the modules that keep to a rule");
    let program = read("tests/accepted/rules.rs");
    for name in files("tests/accepted/rules", ".rs") {
        assert!(program.contains(&format!("rules/{name}.rs")), "{name}: add the file to tests/accepted/rules.rs");
    }
}

#[test]
fn each_line_is_the_whole_message_of_the_violating_module() {
    const HEAD: &str = "| id | message |\n| --- | --- |\n";
    let page = read("docs/mistakes.md");
    let (before, _) = page.split_once(HEAD).expect("the list");
    let mut rows = BTreeSet::new();
    for file in BROKEN.into_iter().flat_map(cases) {
        let output = read(&file.replace(".rs", ".stderr"));
        for (id, lines) in modules(&file) {
            let message = message(&id, &lines, &output);
            assert!(!message.contains("``"), "{id}: a name is missing in the message: {message}");
            rows.insert(format!("| `{id}` | {message} |\n"));
        }
    }
    let list: String = rows.into_iter().collect();
    expect_file!["../docs/mistakes.md"].assert_eq(&format!("{before}{HEAD}{list}"));
}

#[test]
fn every_error_of_the_attributes_has_an_id() {
    for path in sources_of_macros().into_iter().filter(|path| !path.ends_with("/rules.rs")) {
        let source = read(&path);
        let without: Vec<_> = source.lines().filter(|line| line.contains("syn::Error::new")).collect();
        // Skips errors that a test in a single file cannot cause.
        let without_file = ["the build id of the module cannot be computed", "is a plugin itself, and one library"];
        let known = without_file.map(|words| source.matches(words).count()).iter().sum::<usize>();
        assert_eq!(without.len(), known, "in {path}, write `rules::spanned(\"ALC…\", …)`: {without:?}");
    }
}
