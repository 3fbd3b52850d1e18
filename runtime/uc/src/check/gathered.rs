//! Merges repeated messages about one subject, such as a macro name, into one message per file. The merged message lists the lines of all
//! occurrences.

use crate::diagnostic::Diagnostic;
use crate::hash::{HashMap, HashSet};

/// Ids of messages that are reported once per file and subject.
const ONCE: &[&str] = &[
    "uc-macro",
    "uc-exec",
    "uc-directive",
    "uc-unknown-member",
    "uc-unknown-function",
    "uc-delegate-out",
    "uc-operator",
    "uc-state",
    "uc-function-word",
];

const MAX_LINES: usize = 12;

/// Merges repeated messages. The input is sorted by file and offset.
pub(super) fn gathered(messages: Vec<Diagnostic>) -> Vec<Diagnostic> {
    // If a file contains `` `if ``, both branches of the condition are checked. The two branches may therefore seem to declare a name
    // twice.
    let chosen: HashSet<usize> = messages
        .iter()
        .filter(|message| message.id == "uc-macro" && message.message.to_ascii_lowercase().contains("`` `if ``"))
        .map(|message| message.file)
        .collect();
    let mut found: Vec<(Diagnostic, Vec<u32>)> = Vec::new();
    let mut known: HashMap<(usize, &'static str, String), usize> = HashMap::default();
    for message in messages {
        if message.id == "uc-declared-twice" && chosen.contains(&message.file) {
            continue;
        }
        let line = message.line;
        if ONCE.contains(&message.id) {
            let key = (message.file, message.id, message.message.to_ascii_lowercase());
            if let Some(at) = known.get(&key) {
                found[*at].1.push(line);
                continue;
            }
            known.insert(key, found.len());
        }
        found.push((message, vec![line]));
    }
    found.into_iter().map(|(message, lines)| with_lines(message, &lines)).collect()
}

fn with_lines(message: Diagnostic, lines: &[u32]) -> Diagnostic {
    let mut different = lines.to_vec();
    different.dedup();
    if different.len() < 2 {
        return message;
    }
    let numbers: Vec<_> = different.iter().take(MAX_LINES).map(u32::to_string).collect();
    let more = if different.len() > MAX_LINES { ", …" } else { "" };
    let text = format!("{} ({} times in this file: lines {}{more})", message.message, lines.len(), numbers.join(", "));
    Diagnostic { message: text, ..message }
}
