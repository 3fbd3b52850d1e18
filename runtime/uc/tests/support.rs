//! Reading the folders of programs.

use std::path::{Path, PathBuf};

use alcedo_uc::{Checked, Diagnostic, Options, Source, check};

use crate::fixture;

/// The folder of that name beside this file.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// The `.uc` files of a folder, in order.
pub(crate) fn programs(name: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder(name)).expect("the folder is there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "uc"));
    paths.sort();
    paths
}

/// The files that a program consists of: what follows a line `// file: Name.uc` is a file of its own.
pub(crate) fn sources(path: &Path) -> Vec<Source> {
    let text = Source::decode("", &std::fs::read(path).expect("a file")).text;
    let stem = path.file_name().and_then(|name| name.to_str()).expect("a name");
    // The class decides the name of the first file, so that names of programs can say what they show.
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

/// All messages, drawn.
pub(crate) fn rendered(messages: &[Diagnostic], sources: &[Source]) -> String {
    let drawn: Vec<_> = messages.iter().map(|message| message.render(sources)).collect();
    drawn.join("\n\n") + "\n"
}
