//! Tests rules for prose: comments, pages and messages of the repository use plain technical English. `prose.txt` lists the files that
//! still break a rule, with the number of lines that break it. The list only shrinks.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::floors::files;

/// Folders of prose below the root of the repository, besides the pages at the root.
const FOLDERS: [&str; 5] = ["runtime", "plugin-api", "tools", "reload-test", "example-plugins"];

/// Name of each rule, with the pattern that matches lines that break the rule.
const RULES: [(&str, &str); 12] = [
    (
        "a comment begins with a verb or a noun",
        r"^[ \t]*//[/!]*[ \t]+(What|Whether|Why|Where|Which|Who|Whom|How|The same|As|Another|It|That|Those|One|Its|Nothing|None|Nobody)\b[^?\n]*$",
    ),
    ("report, not tell", r"\b(told|tells?)\b"),
    ("name the caller, the host or the object", r"(?i)\b(whom|whoever|whatever|whichever|nobody)\b"),
    ("state or contain, not say", r"\b(says|is said|are said)\b"),
    ("is stored in or resolves to", r"\b(lies|stands|leads?|led) (in|at|on|where|to|into|for|beside|behind|there)\b"),
    ("no movement in the machine", r"\b(goes|comes|looks?) (by|into|to|at|for|with|back|through|from|on|whether)\b"),
    ("return or provide, not give", r"\b(gives|given) (it|them|back|to|by|up|the|a|an|what|no|nothing)\b"),
    ("request or receive, not ask or hear", r"\b(asks|hears|wishes|is asked|are asked)\b"),
    ("again, during this, next to, permanently", r"\b(anew|meanwhile|beside|for ever)\b"),
    ("is not a, not is no", r"\b(is|are) no ([a-z]\w*)"),
    ("create and destroy", r"\b(born|dies|died)\b"),
    ("fast path, slow path, strings", r"\b(short ways?|long ways?|texts|words of)\b"),
];

/// Checks if a line is a comment or has a message of at least twelve characters. All lines of pages are prose.
fn is_prose(path: &str, line: &str, message: &Regex) -> bool {
    let start = line.trim_start();
    path.ends_with(".md") || start.starts_with("//") || start.starts_with('*') || message.is_match(line)
}

struct Patterns {
    rules: Vec<(&'static str, Regex)>,
    /// Matches in every line that breaks a rule. Searches a whole file at once, because each search has a fixed cost.
    any: Regex,
    /// Matches a string of at least twelve characters.
    message: Regex,
}

impl Patterns {
    fn new() -> Self {
        let compile = |pattern: &str| Regex::new(pattern).expect("a pattern");
        // A boundary between ASCII characters is enough here, because each rule begins and ends with ASCII characters. A boundary between
        // other characters would make the search slow.
        let all = RULES.map(|(_, pattern)| format!("(?:{})", pattern.replace(r"\b", r"(?-u:\b)"))).join("|");
        Self {
            rules: RULES.map(|(rule, pattern)| (rule, compile(pattern))).into(),
            any: compile(&format!("(?m){all}")),
            message: compile(r#""[^"]{12,}""#),
        }
    }

    /// Returns the name of the rule that a line breaks.
    fn broken(&self, line: &str) -> Option<&'static str> {
        self.rules.iter().find_map(|(rule, pattern)| {
            let mut hits = pattern.captures_iter(line);
            // `is no longer` is plain English.
            hits.any(|hit| !matches!(hit.get(2).map(|word| word.as_str()), Some("longer" | "more"))).then_some(*rule)
        })
    }

    /// Returns the lines in a file that break a rule, with the name of the rule.
    fn findings(&self, path: &str, text: &str) -> Vec<String> {
        let (mut found, mut end) = (Vec::new(), 0);
        for hit in self.any.find_iter(text) {
            // Skips further matches in the line of the last match.
            if hit.start() < end {
                continue;
            }
            let start = text[..hit.start()].rfind('\n').map_or(0, |at| at + 1);
            end = text[hit.start()..].find('\n').map_or(text.len(), |length| hit.start() + length);
            let line = &text[start..end];
            if is_prose(path, line, &self.message)
                && let Some(rule) = self.broken(line)
            {
                let at = text[..start].matches('\n').count() + 1;
                found.push(format!("{path}:{at}: {rule}: {}", line.trim()));
            }
        }
        found
    }
}

#[test]
fn prose_keeps_the_rules_except_in_a_list_that_shrinks() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let patterns = Patterns::new();
    let mut found: Vec<PathBuf> = ["README.md", "CONTRIBUTING.md", "SECURITY.md"].map(|page| root.join(page)).into();
    FOLDERS.iter().for_each(|folder| files(&root.join(folder), &["rs", "md"], &mut found));
    let list = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/prose.txt")).expect("the list");
    let row =
        |line: &str| line.split_once(' ').map(|(count, path)| (path.to_owned(), count.parse().expect("a number")));
    let mut allowed: BTreeMap<String, usize> = list.lines().filter_map(row).collect();
    let mut wrong = Vec::new();
    for file in found {
        let path = file.strip_prefix(&root).expect("below the root").display().to_string();
        // This file contains the patterns themselves.
        if path == "runtime/tests/prose.rs" {
            continue;
        }
        let lines = patterns.findings(&path, &fs::read_to_string(&file).expect("a text"));
        let limit = allowed.remove(&path).unwrap_or(0);
        if lines.len() > limit {
            wrong.push(format!("{path} may have {limit} such lines, not {}:\n{}", lines.len(), lines.join("\n")));
        } else if lines.len() < limit {
            wrong.push(format!("{path} has {} such lines: lower its number in prose.txt from {limit}", lines.len()));
        }
    }
    wrong.extend(allowed.into_keys().map(|path| format!("{path} is gone: remove it from prose.txt")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn each_rule_finds_a_line_that_breaks_it() {
    let patterns = Patterns::new();
    let broken = |line: &str| !patterns.findings("x.rs", line).is_empty();
    for line in [
        "// What it holds.",
        "// The host is told.",
        "// Calls nobody.",
        "// The manifest says so.",
        "// The value lies in a slot.",
        "// The call goes to the gate.",
        "// Returns what the host has given to it.",
        "// The host asks.",
        "// Starts anew.",
        r#"panic!("it is no object");"#,
        "// The object is born.",
        "// The words of a function.",
    ] {
        assert!(broken(line), "{line}");
    }
    for line in ["// Returns the class.", "// The object is no longer alive.", "let told = 1;", r#"let a = "told";"#] {
        assert!(!broken(line), "{line}");
    }
}
