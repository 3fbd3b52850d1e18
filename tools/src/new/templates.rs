//! The template files in `templates`, and the substitution of placeholders: `{{word}}`.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// A template: path in the created folder, and contents.
pub(super) type Template = (&'static str, &'static str);

/// Files of every workspace.
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

/// Files of the first plugin of a workspace.
pub(super) const PLUGIN: &[Template] = &[
    ("Cargo.toml", include_str!("templates/plugin/Cargo.toml.in")),
    ("src/lib.rs", include_str!("templates/plugin/src/lib.rs")),
    ("tests/in_the_host.rs", include_str!("templates/plugin/tests/in_the_host.rs")),
];

/// Files of a plugin that is added to an existing workspace. The plugin extends a class of the workspace's host.
pub(super) const ADDED: &[Template] = &[
    ("Cargo.toml", include_str!("templates/plugin/Cargo.toml.in")),
    ("src/lib.rs", include_str!("templates/added/src/lib.rs")),
    ("tests/in_the_host.rs", include_str!("templates/added/tests/in_the_host.rs")),
];

/// Files of a standalone plugin for the sample engine.
pub(super) const ALONE: &[Template] = &[
    ("Cargo.toml", include_str!("templates/alone/Cargo.toml.in")),
    (".gitignore", include_str!("templates/workspace/gitignore.in")),
    ("README.md", include_str!("templates/alone/README.md")),
    ("src/lib.rs", include_str!("templates/alone/src/lib.rs")),
    ("tests/in_the_sample_engine.rs", include_str!("templates/alone/tests/in_the_sample_engine.rs")),
];

/// Placeholders and their values.
pub(super) type Placeholders = BTreeMap<&'static str, String>;

/// Returns the files, below `folder`, with all placeholders replaced.
pub(super) fn filled(templates: &[Template], folder: &str, placeholders: &Placeholders) -> Vec<(PathBuf, String)> {
    let file = |(path, text): &Template| (PathBuf::from(folder).join(path), fill(text, placeholders));
    templates.iter().map(file).collect()
}

fn fill(text: &str, placeholders: &Placeholders) -> String {
    placeholders.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{{{name}}}}}"), value))
}
