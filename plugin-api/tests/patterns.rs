//! Checks the macros that generated code calls, because plugin authors can also call these macros directly. An unsafe block in a macro must
//! not contain tokens of the caller. An item with an unsafe block must not have attributes of the caller, because such an attribute could
//! rewrite the block. An unsafe implementation must not call methods, because a trait of the caller could replace a method. An arm that
//! starts with `@` must not implement an unsafe trait, because a caller can select this arm without the arm that creates the items on which
//! the implementation relies.

use std::path::Path;

/// Returns the path and content of each source file with macros.
fn sources() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/__private/macros");
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .expect("the patterns have a folder")
        .map(|file| file.expect("readable").path())
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).expect("a text")))
        .collect();
    found.sort();
    found
}

/// Returns `text` from the opening brace at its start to the matching closing brace.
fn braced(text: &str) -> &str {
    let mut depth = 0;
    let end = text.char_indices().find_map(|(at, letter)| {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        (depth == 0).then_some(at + 1)
    });
    &text[..end.expect("braces are closed")]
}

/// Returns the text after each occurrence of `word`.
fn after<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = &'a str> {
    text.match_indices(word).map(move |(at, _)| &text[at + word.len()..])
}

#[test]
fn no_token_of_the_caller_is_in_an_unsafe_block() {
    let mut blocks = 0;
    for (path, text) in sources() {
        for block in after(&text, "unsafe ").filter(|rest| rest.starts_with('{')).map(braced) {
            blocks += 1;
            assert!(!block.replace("$crate", "").contains('$'), "{path}: {block}");
        }
    }
    assert!(blocks > 1, "the blocks were not found: {blocks}");
}

#[test]
fn no_attribute_of_the_caller_is_on_an_unsafe_item() {
    let mut items = 0;
    for (path, text) in sources() {
        // Finds only outputs of macros, because in an input pattern a fragment specifier follows the variable.
        for item in ["$(#[$attr])*", "$(#[$field_attr])*"].into_iter().flat_map(|word| after(&text, word)) {
            items += 1;
            // The item ends at a semicolon if it is a tuple or unit struct, and at a closing brace if it is a function or an enum.
            let end = item.find(['{', ';']).expect("an item has a body or an end");
            let whole = if item[end..].starts_with('{') { braced(&item[end..]) } else { &item[..end] };
            assert!(!whole.contains("unsafe"), "{path}: {whole}");
        }
    }
    assert!(items > 5, "the items were not found: {items}");
}

#[test]
fn no_macro_is_called_by_a_name_that_the_caller_could_define() {
    let mut calls = 0;
    for (path, text) in sources() {
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
            for (at, _) in
                line.match_indices('!').filter(|(at, _)| line[at + 1..].trim_start().starts_with(['(', '{', '[']))
            {
                let name = line[..at].trim_end_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
                let (before, name) = (name, &line[name.len()..at]);
                if !name.is_empty() && name != "macro_rules" {
                    calls += 1;
                    assert!(before.ends_with("::"), "{path}: {line}");
                }
            }
        }
    }
    assert!(calls > 50, "the calls were not found: {calls}");
}

#[test]
fn no_unsafe_implementation_calls_a_method() {
    let mut bodies = 0;
    for (path, text) in sources() {
        let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        // The arms in `values.rs` are parts of unsafe implementations.
        let parts = path.ends_with("values.rs").then_some(code.as_str());
        let implementations = after(&code, "unsafe impl").map(|rest| braced(&rest[rest.find('{').expect("a body")..]));
        for body in parts.into_iter().chain(implementations) {
            bodies += 1;
            for member in after(body, ".") {
                let rest = member.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
                let name = &member[..member.len() - rest.len()];
                assert!(name.is_empty() || !rest.starts_with(['(', ':']), "{path}: .{name}");
            }
        }
    }
    assert!(bodies > 9, "the implementations were not found: {bodies}");
}

#[test]
fn no_helper_arm_implements_an_unsafe_trait() {
    let mut implementations = 0;
    for (path, text) in sources() {
        // Skips the words `unsafe impl` in comments.
        for (at, word) in text.match_indices("unsafe impl") {
            if !text[at + word.len()..].starts_with([' ', '<']) {
                continue;
            }
            implementations += 1;
            // Each arm starts with a parenthesis after four spaces.
            let arm = &text[text[..at].rfind("\n    (").expect("an arm")..at];
            assert!(!arm.trim_start_matches(['\n', ' ', '(']).starts_with('@'), "{path}: {arm}");
        }
    }
    assert!(implementations > 8, "the implementations were not found: {implementations}");
}
