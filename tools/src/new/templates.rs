//! The files that are written, as they lie in `templates`, and how words are put into them. `{{word}}` stands for one.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// A file to be: where, seen from the folder that is made, and what is in it.
pub(super) type Template = (&'static str, &'static str);

/// What every workspace has.
pub(super) const WORKSPACE: &[Template] = &[
    ("Cargo.toml", include_str!("templates/workspace/Cargo.toml.in")),
    (".gitignore", include_str!("templates/workspace/gitignore.in")),
    ("README.md", include_str!("templates/workspace/README.md")),
    ("plugins/README.md", include_str!("templates/workspace/plugins.md")),
    ("glue/Cargo.toml", include_str!("templates/glue/Cargo.toml.in")),
    ("glue/src/lib.rs", include_str!("templates/glue/src/lib.rs")),
    ("glue/src/host.rs", include_str!("templates/glue/src/host.rs")),
    ("host/Cargo.toml", include_str!("templates/host/Cargo.toml.in")),
    ("host/src/lib.rs", include_str!("templates/host/src/lib.rs")),
    ("host/src/main.rs", include_str!("templates/host/src/main.rs")),
    ("host/tests/robots.rs", include_str!("templates/host/tests/robots.rs")),
];

/// A plugin in such a workspace.
pub(super) const PLUGIN: &[Template] = &[
    ("Cargo.toml", include_str!("templates/plugin/Cargo.toml.in")),
    ("src/lib.rs", include_str!("templates/plugin/src/lib.rs")),
    ("tests/in_the_host.rs", include_str!("templates/plugin/tests/in_the_host.rs")),
];

/// A plugin that is added to a workspace: it extends a class of the host there.
pub(super) const ADDED: &[Template] = &[
    ("Cargo.toml", include_str!("templates/plugin/Cargo.toml.in")),
    ("src/lib.rs", include_str!("templates/added/src/lib.rs")),
    ("tests/in_the_host.rs", include_str!("templates/added/tests/in_the_host.rs")),
];

/// A plugin by itself, for the sample engine.
pub(super) const ALONE: &[Template] = &[
    ("Cargo.toml", include_str!("templates/alone/Cargo.toml.in")),
    (".gitignore", include_str!("templates/workspace/gitignore.in")),
    ("README.md", include_str!("templates/alone/README.md")),
    ("src/lib.rs", include_str!("templates/alone/src/lib.rs")),
    ("tests/in_the_sample_engine.rs", include_str!("templates/alone/tests/in_the_sample_engine.rs")),
];

/// What stands for what.
pub(super) type Words = BTreeMap<&'static str, String>;

/// The files, below `folder`, with all words in place.
pub(super) fn filled(templates: &[Template], folder: &str, words: &Words) -> Vec<(PathBuf, String)> {
    let file = |(path, text): &Template| (PathBuf::from(folder).join(path), fill(text, words));
    templates.iter().map(file).collect()
}

fn fill(text: &str, words: &Words) -> String {
    words.iter().fold(text.to_owned(), |text, (word, value)| text.replace(&format!("{{{{{word}}}}}"), value))
}
