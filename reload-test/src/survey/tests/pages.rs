//! Tests that statements about rows in pages agree with the rows' outcomes.

use super::rows::{ImageState, all};
use std::fs;
use std::path::Path;

fn text(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Finds statements about outcomes in a page, such as `` `smol` parked ``. Returns the row and the outcome.
fn claims(text: &str) -> impl Iterator<Item = (&str, ImageState)> {
    let pieces: Vec<_> = text.split('`').collect();
    let claim = |pair: &[&'_ str]| match pair[1].split_whitespace().next()?.trim_matches(|sign| ",.;)".contains(sign)) {
        "unmapped" => Some(ImageState::Unmapped),
        "parked" => Some(ImageState::Parked),
        _ => None,
    };
    let claims: Vec<_> = pieces[1..].chunks_exact(2).filter_map(|pair| Some((pair[0], claim(pair)?))).collect();
    claims.into_iter()
}

#[test]
fn each_rule_for_authors_names_a_row_with_that_outcome() {
    let page = text("plugin-api/docs/unloading.md");
    let (_, rules) = page.split_once("\n## ").expect("a heading");
    let mut count = 0;
    for rule in rules.split("\n* ").skip(1) {
        // Ignores the headings and the code that follow the rule.
        let rule = rule.split("\n\n").next().unwrap_or(rule);
        let mut named = 0;
        for (name, image_state) in claims(rule) {
            let row = all().find(|row| row.name == name);
            let row = row.unwrap_or_else(|| panic!("unknown row `{name}`: {rule}"));
            assert_eq!(row.image_state, image_state, "{name}: {rule}");
            named += 1;
        }
        assert!(named > 0, "no row backs this: {rule}");
        count += 1;
    }
    assert!(count > 15, "{count} rules");
    let outside: Vec<_> = rules.lines().filter(|line| !line.is_empty()).collect();
    let is_free = |line: &&&str| !line.starts_with("* ") && !line.starts_with("  ") && !line.starts_with("##");
    // Skips the first line, because it is the end of the first heading.
    let free: Vec<_> = outside[1..].iter().filter(is_free).collect();
    assert!(free.is_empty(), "a sentence outside of rules: {free:?}");
}

#[test]
fn the_page_of_the_survey_has_sound_and_known_rows_only() {
    let page = text("runtime/docs/crate-survey.md");
    let joined = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let (head, _) = joined.split_once("; the plugins are debug builds.").expect("a head");
    let is_stated = [" rustc ", " with glibc ", ", at commit "].map(|what| head.contains(what));
    assert_eq!((is_stated, page.lines().count() <= 300), ([true; 3], true), "{head}");
    let lines: Vec<_> = page.lines().filter(|line| line.starts_with("| `")).collect();
    assert!(lines.len() > 20, "{} rows", lines.len());
    for line in lines {
        let line = &line.replace("\\|", "/");
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let row = all().find(|row| format!("`{}`", row.name) == cells[1]);
        let row = row.unwrap_or_else(|| panic!("unknown row: {line}"));
        assert!(!line.contains("**"), "{line}");
        let image_state = match cells[4] {
            image if image.starts_with("unmapped ") => row.image_state == ImageState::Unmapped,
            image if image.starts_with("parked ") => row.image_state == ImageState::Parked,
            image => image.starts_with("not run"),
        };
        assert!(image_state, "{line}");
        let reasons = cells[4].split('`').skip(1).step_by(2);
        for reason in reasons {
            assert!(row.kept_by.iter().any(|known| reason.contains(known)), "{reason}: {line}");
        }
    }
}
