//! What has to be known of a plugin to tell whether it came through a reload. Plugins are met as files only, so this
//! is all that is known of them: names.

use anyhow::{Result, bail};

/// A plugin that can be tested.
#[derive(Debug, PartialEq)]
pub(crate) struct Subject {
    /// The plugin's package, as cargo knows it.
    pub(crate) name: &'static str,
    /// The packages whose libraries are loaded for it, itself included.
    pub(crate) libraries: &'static [&'static str],
    /// The reflection package that it declares its types in.
    pub(crate) package: &'static str,
    /// The class to have objects of.
    pub(crate) class: &'static str,
    /// The call that answers with the id of the build.
    pub(crate) build_tag: &'static str,
    /// A property of kind `f64` that only the host writes.
    pub(crate) property: &'static str,
    /// A property that every tick changes, if there is one.
    pub(crate) ticked: Option<&'static str>,
    /// An event without parameters that every object answers.
    pub(crate) event: &'static str,
    /// Fields that each object keeps on the plugin's side.
    pub(crate) kept_fields: u64,
    /// The function that tells how often the event was answered, out of a field that is kept.
    pub(crate) answered: Option<&'static str>,
}

const SUBJECTS: [Subject; 1] = [Subject {
    name: "magic-cube",
    libraries: &["magic-cube"],
    package: "Game",
    class: "/Script/Game.MagicCube",
    build_tag: "nm:/magic_cube:MagicCube:build_tag",
    property: "rotation_speed",
    ticked: Some("rotation"),
    event: "say_hello",
    kept_fields: 2,
    answered: Some("greeting_count"),
}];

/// The subjects of these names, each once, in the order of first mention.
pub(crate) fn subjects(names: &[String]) -> Result<Vec<&'static Subject>> {
    let mut found: Vec<&'static Subject> = Vec::new();
    for name in names {
        let Some(subject) = SUBJECTS.iter().find(|subject| subject.name == name) else {
            let known: Vec<_> = SUBJECTS.iter().map(|subject| subject.name).collect();
            bail!("nothing is known of the plugin `{name}`; name one of {}", known.join(", "));
        };
        if !found.contains(&subject) {
            found.push(subject);
        }
    }
    Ok(found)
}

/// The packages to be built for `subjects`, each once, dependencies first.
pub(crate) fn libraries(subjects: &[&Subject]) -> Vec<&'static str> {
    let mut libraries = Vec::new();
    for library in subjects.iter().flat_map(|subject| subject.libraries) {
        if !libraries.contains(library) {
            libraries.push(*library);
        }
    }
    libraries
}
