//! Describes the tested plugins for the checks of a reload. The test does not link the plugins, so the descriptions contain only names.

use anyhow::{Result, bail};

/// A testable plugin.
#[derive(Debug, PartialEq)]
pub(crate) struct Subject {
    /// Package of the plugin in cargo.
    pub(crate) name: &'static str,
    /// Packages whose libraries are loaded for this plugin: its dependencies, and the plugin itself.
    pub(crate) libraries: &'static [&'static str],
    /// Class of the objects.
    pub(crate) class: &'static str,
    /// Names of ZCalls that return the id of the build, one per library.
    pub(crate) build_tags: &'static [&'static str],
    /// A property of kind `f64` that only the host writes.
    pub(crate) property: &'static str,
    /// Properties of kind `f64` that the test writes once, with values for which each tick changes the object.
    pub(crate) prepared: &'static [(&'static str, f64)],
    /// A property that every tick changes.
    pub(crate) ticked: &'static str,
    /// Function that the test calls on every object.
    pub(crate) called: &'static str,
    /// Arguments of the call.
    pub(crate) arguments: &'static [f64],
    /// Function that returns how often `called` was called. The plugin counts these calls in a kept field.
    pub(crate) answered: &'static str,
    /// Number by which each tick increases the result of `answered`.
    pub(crate) answers_in_tick: u32,
    /// Number of kept fields per object in the plugin.
    pub(crate) kept_fields: u64,
    /// Additional checks, for a plugin that does not release its resources itself.
    pub(crate) habits: Option<Habits>,
}

/// Checks for a plugin that does not release its resources itself, and counts the destructors and handlers that run instead. The plugin
/// writes these counts to the file that the module argument `tally=PATH` specifies.
#[derive(Debug, PartialEq)]
pub(crate) struct Habits {
    /// Name of a ZCall that returns the errors that the plugin has found, or an empty string.
    pub(crate) complaints: &'static str,
    /// Name of a ZCall that panics, and the message of this panic.
    pub(crate) panics: (&'static str, &'static str),
    /// String that each generation leaves in the buffer of its standard output.
    pub(crate) last_words: &'static str,
}

const GLUE_BASE: Subject = Subject {
    name: "glue-base",
    libraries: &["glue-base"],
    class: "/Script/Game.RegeneratingSet",
    build_tags: &["nm:/glue_base:AttributeSet:build_tag"],
    property: "regeneration",
    // Sets a low health with a very high maximum, so that each tick increases the health.
    prepared: &[("max_health", 1e15), ("health", 1.0)],
    ticked: "health",
    called: "change_health",
    arguments: &[1.0],
    answered: "change_count",
    answers_in_tick: 1,
    kept_fields: 1,
    habits: None,
};

const SUBJECTS: [Subject; 4] = [
    Subject {
        name: "magic-cube",
        libraries: &["magic-cube"],
        class: "/Script/Game.MagicCube",
        build_tags: &["nm:/magic_cube:MagicCube:build_tag"],
        property: "rotation_speed",
        prepared: &[],
        ticked: "rotation",
        called: "say_hello",
        arguments: &[],
        answered: "greeting_count",
        answers_in_tick: 0,
        kept_fields: 2,
        habits: None,
    },
    GLUE_BASE,
    Subject {
        name: "glue-derived",
        libraries: &["glue-base", "glue-derived"],
        class: "/Script/Game.ShieldedSet",
        build_tags: &[GLUE_BASE.build_tags[0], "nm:/glue_derived:ShieldedSet:build_tag"],
        kept_fields: 2,
        ..GLUE_BASE
    },
    Subject {
        name: "everything-unloads",
        libraries: &["everything-unloads"],
        class: "/Script/Game.Sink",
        build_tags: &["nm:/everything_unloads:Sink:build_tag"],
        property: "temperature",
        prepared: &[],
        ticked: "level",
        called: "fill",
        arguments: &[],
        answered: "filling_count",
        answers_in_tick: 0,
        kept_fields: 1,
        habits: Some(Habits {
            complaints: "nm:/everything_unloads:Sink:complaints",
            panics: ("nm:/everything_unloads:Sink:panic", "the sink runs over"),
            last_words: "everything-unloads: last words",
        }),
    },
];

/// Returns the subjects with these names, without duplicates, in the order of their first occurrence.
pub(crate) fn subjects(names: &[String]) -> Result<Vec<&'static Subject>> {
    let mut found: Vec<&'static Subject> = Vec::new();
    for name in names {
        let Some(subject) = SUBJECTS.iter().find(|subject| subject.name == name) else {
            let known: Vec<_> = SUBJECTS.iter().map(|subject| subject.name).collect();
            bail!("unknown plugin `{name}`; expected one of {}", known.join(", "));
        };
        if !found.contains(&subject) {
            found.push(subject);
        }
    }
    Ok(found)
}

/// Returns the packages to build for `subjects`, without duplicates. Dependencies are first.
pub(crate) fn libraries(subjects: &[&Subject]) -> Vec<&'static str> {
    let mut libraries = Vec::new();
    for library in subjects.iter().flat_map(|subject| subject.libraries) {
        if !libraries.contains(library) {
            libraries.push(*library);
        }
    }
    libraries
}

#[cfg(test)]
mod tests {
    use super::{SUBJECTS, libraries, subjects};

    fn named(names: &[&str]) -> String {
        let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
        match subjects(&names) {
            Ok(subjects) => libraries(&subjects).join(" "),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_library_is_loaded_once_and_after_what_it_depends_on() {
        assert_eq!(named(&["magic-cube", "magic-cube"]), "magic-cube");
        assert_eq!(named(&["glue-derived"]), "glue-base glue-derived");
        assert_eq!(named(&["glue-derived", "magic-cube", "glue-base"]), "glue-base glue-derived magic-cube");
    }

    #[test]
    fn an_unknown_plugin_gets_the_list_of_known_ones() {
        let expected = "unknown plugin `x`; expected one of magic-cube, glue-base, glue-derived, \
                      everything-unloads";
        assert_eq!(named(&["magic-cube", "x"]), expected);
    }

    #[test]
    fn every_library_reports_its_build() {
        assert!(SUBJECTS.iter().all(|subject| subject.libraries.len() == subject.build_tags.len()));
    }
}
