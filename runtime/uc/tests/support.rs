//! Loads the folders of test programs.

use std::path::{Path, PathBuf};

use alcedo_uc::{Checked, Diagnostic, Options, Source, Span, check};

use crate::fixture;

/// Returns a folder next to this file.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// Returns the `.uc` files of a folder, sorted by path.
pub(crate) fn programs(name: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder(name)).expect("the folder is there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "uc"));
    paths.sort();
    paths
}

/// Returns the files of a program. Each line `// file: Name.uc` starts a further file.
pub(crate) fn sources(path: &Path) -> Vec<Source> {
    let text = Source::decode("", &std::fs::read(path).expect("a file")).text;
    let stem = path.file_name().and_then(|name| name.to_str()).expect("a name");
    // The first file is named after its class, so a test program may have any name.
    let class = text.lines().find_map(|line| line.strip_prefix("class ")?.split([' ', ';']).next());
    let first = class.map_or_else(|| stem.to_owned(), |class| format!("{class}.uc"));
    let mut files: Vec<(String, String)> = vec![(first, String::new())];
    for line in text.split_inclusive('\n') {
        if let Some(name) = line.strip_prefix("// file: ") {
            files.push((name.trim().to_owned(), String::new()));
        } else if let Some((_, text)) = files.last_mut() {
            text.push_str(line);
        }
    }
    files.iter().map(|(name, text)| Source::new(name, text.as_str())).collect()
}

pub(crate) fn options() -> Options {
    Options { libraries: vec![fixture::LIBRARY.to_owned()], ..Options::default() }
}

/// Checks the files as the package `Test` in the world of the fixture.
pub(crate) fn checked(sources: &[Source]) -> Result<Checked, Vec<Diagnostic>> {
    let world = fixture::world();
    check("Test", sources, &world.types, &options())
}

/// Renders all messages.
pub(crate) fn rendered(messages: &[Diagnostic], sources: &[Source]) -> String {
    let drawn: Vec<_> = messages.iter().map(|message| message.render(sources)).collect();
    drawn.join("\n\n") + "\n"
}

/// Formats all messages in the short form of the `.stderr` files. Each message is one line with location, marked source text, id, message
/// and label. Each secondary location and help adds a line. [`rendered`] also returns the source lines.
pub(crate) fn listed(messages: &[Diagnostic], sources: &[Source]) -> String {
    let place = |file: usize, span: Span| match sources.get(file) {
        Some(source) => {
            let marked = source.text.get(span.start as usize..span.end as usize).expect("a place is in its text");
            format!("{}:{}:{} {marked:?}", source.name, source.line(span.start), source.column(span.start))
        }
        None => "?".to_owned(),
    };
    let mut text = String::new();
    for message in messages {
        let severity = format!("{:?}", message.severity).to_lowercase();
        text += &format!("{} {severity}[{}]: {}", place(message.file, message.span), message.id, message.message);
        text += &if message.label.is_empty() { "\n".to_owned() } else { format!(" | {}\n", message.label) };
        if let Some((file, span, label)) = &message.other {
            text += &format!("    {} {label}\n", place(*file, *span));
        }
        if !message.hint.is_empty() {
            text += &format!("    help: {}\n", message.hint);
        }
    }
    text
}
