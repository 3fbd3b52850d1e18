//! The rules of the attributes: each id in the sources of the macros has a line in `docs/mistakes.md`, a file that breaks the
//! rule, whose error has the id, and one that keeps to it; and there are no others.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use expect_test::expect_file;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What lies in a folder, by the ends of the names.
fn files(folder: &str, end: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).expect("the folder is there");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"));
    names.filter_map(|name| Some(name.strip_suffix(end)?.to_owned())).collect()
}

/// The sources of the macros, as paths below this package.
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

/// The ids in a text.
fn ids(text: &str) -> BTreeSet<String> {
    let found = text.match_indices("ALC").map(|(at, _)| text[at..].chars().take(7).collect::<String>());
    found.filter(|id| id.len() == 7 && id[3..].chars().all(|digit| digit.is_ascii_digit())).collect()
}

#[test]
fn each_rule_has_a_line_a_file_that_breaks_it_and_one_that_keeps_to_it() {
    let sources: BTreeSet<_> = sources_of_macros().iter().flat_map(|path| ids(&read(path))).collect();
    assert!(sources.len() > 100, "{sources:?}");
    assert_eq!(ids(&read("docs/mistakes.md")), sources, "the list in docs/mistakes.md");
    // Rules that only native classes can break have their files with the host: a plugin does not depend on it.
    let of_host = files("../runtime/tests/ui/rules", ".rs");
    let with_host = |folder| &files(folder, ".rs") | &of_host;
    assert_eq!(with_host("tests/ui/rules"), sources, "the files that break a rule");
    assert_eq!(with_host("tests/accepted/rules"), sources, "the files that keep to a rule");
    assert_eq!(files("../runtime/tests/accepted/rules", ".rs"), of_host, "the files of hosts that keep to a rule");
    let program = read("tests/accepted/rules.rs") + &read("tests/refusals.rs");
    let compiles = |id: &str| program.contains(&format!("rules/{id}.rs")) || id.starts_with("ALC007");
    for id in &sources {
        let is_of_host = of_host.contains(id);
        assert!(is_of_host || compiles(id), "{id}: add its file to tests/accepted/rules.rs");
        let side = if is_of_host { "../runtime/" } else { "" };
        let said = read(&format!("{side}tests/ui/rules/{id}.stderr"));
        assert!(said.contains(&format!("[{id}]")), "{id} is broken, and its message is another: {said}");
    }
}

/// Returns the message of a rule in the output of the compiler.
fn message(id: &str, output: &str) -> String {
    let end = format!(" [{id}]");
    let (line, _) = output.lines().find_map(|line| line.split_once(&end)).unwrap_or_else(|| panic!("{id}: {output}"));
    let (_, message) = line.split_once(": ").unwrap_or_else(|| panic!("{id}: {line}"));
    message.strip_prefix("evaluation panicked: ").unwrap_or(message).replace('|', "\\|")
}

#[test]
fn each_line_of_the_list_is_the_whole_message_of_the_file_that_breaks_the_rule() {
    const HEAD: &str = "| id | message |\n| --- | --- |\n";
    let page = read("docs/mistakes.md");
    let (before, _) = page.split_once(HEAD).expect("the list");
    let mut rows = BTreeSet::new();
    for folder in ["tests/ui/rules", "../runtime/tests/ui/rules"] {
        for id in files(folder, ".stderr") {
            let message = message(&id, &read(&format!("{folder}/{id}.stderr")));
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
        // What no single file can break.
        let without_file = ["the build id of the module cannot be computed", "is a plugin itself, and one library"];
        let known = without_file.map(|words| source.matches(words).count()).iter().sum::<usize>();
        assert_eq!(without.len(), known, "in {path}, write `rules::spanned(\"ALC…\", …)`: {without:?}");
    }
}
