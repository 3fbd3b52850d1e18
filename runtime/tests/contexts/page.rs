//! Checks that each test named in the page on load contexts exists.

use std::fs;
use std::path::Path;

/// Returns the tests that a page names, such as `contexts/kinds.rs::a3_a_slim_is_created_and_unloaded`.
fn named(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split('`').filter_map(|word| word.split_once(".rs::"))
}

#[test]
fn each_row_of_the_page_names_an_existing_test_or_a_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/load-contexts.md")).expect("the page is there");
    for (file, test) in named(&page) {
        let source = fs::read_to_string(root.join(format!("tests/{file}.rs")));
        let source = source.unwrap_or_else(|error| panic!("{file}.rs: {error}"));
        assert!(source.contains(&format!("fn {test}(")), "{file}.rs has no {test}");
    }
    let (_, table) = page.split_once("| --- | --- | --- | --- |").expect("the table of members");
    let rows: Vec<_> = table.lines().filter(|line| line.starts_with('|')).collect();
    assert!(rows.len() > 40, "{} rows", rows.len());
    for row in rows {
        assert!(named(row).next().is_some() || row.contains("| no test: "), "{row}");
    }
    let items: Vec<_> = table.split("\n* ").skip(1).collect();
    assert!(items.len() > 5, "{} items", items.len());
    for item in items {
        assert!(named(item).next().is_some(), "{item}");
    }
}
