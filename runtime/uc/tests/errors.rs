//! Tests programs with errors. The file `NAME.stderr` contains the messages of a program, in the short form or rendered.

use expect_test::expect_file;

use crate::support::{checked, folder, listed, programs, rendered, sources};

/// Programs whose messages are rendered. These programs cover all shapes of spans, secondary locations, help, locations in other files and
/// truncated lines.
const DRAWN: [&str; 10] = [
    "attack_places",
    "class_circle",
    "columns_of_tabs",
    "empty_file",
    "foreign_files",
    "no_base",
    "only_junk",
    "open_comment",
    "open_texts",
    "struct_mistakes",
];

#[test]
fn each_error_program_reports_its_messages() {
    let all = programs("errors");
    assert!(all.len() >= 50, "{} error programs", all.len());
    let mut without = Vec::new();
    for path in all {
        let sources = sources(&path);
        let messages = match checked(&sources) {
            Ok(_) => {
                without.push(path);
                continue;
            }
            Err(messages) => messages,
        };
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
        let show = if DRAWN.contains(&name) { rendered } else { listed };
        expect_file![path.with_extension("stderr")].assert_eq(&show(&messages, &sources));
    }
    assert!(without.is_empty(), "these have no error: {without:?}");
}

/// Collects the ids of messages from the sources.
fn ids_in_sources(folder: &std::path::Path, found: &mut std::collections::BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            ids_in_sources(&path, found);
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source");
        let quoted = text.split('"').filter(|part| part.starts_with("uc-"));
        found.extend(quoted.filter(|part| part.chars().all(|c| c.is_ascii_lowercase() || c == '-')).map(str::to_owned));
    }
}

#[test]
fn the_language_page_lists_exactly_all_ids() {
    let mut used = std::collections::BTreeSet::new();
    ids_in_sources(&folder("../src"), &mut used);
    let page = std::fs::read_to_string(folder("../../docs/script-language.md")).expect("the page");
    let listed: std::collections::BTreeSet<_> =
        page.split('`').skip(1).step_by(2).filter(|word| word.starts_with("uc-")).map(str::to_owned).collect();
    let wrong: Vec<_> = used.symmetric_difference(&listed).collect();
    assert!(wrong.is_empty(), "{wrong:?} are in the sources or on the page, and not in both");
}
