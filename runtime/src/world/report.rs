//! Report of loading a world: the number of loaded objects, and the changes of values in changed classes.

use std::fmt;

use alcedo_base::figures::counted;
use serde::Serialize;

use crate::reload::changes::{ClassChange, PropertyChange, put_off};

/// Report of a loaded world. Values that the report does not list were restored unchanged.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
///
/// let runtime = Runtime::builder().build()?;
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("harbor.world");
/// runtime.objects().spawn("/Script/Core.Object")?;
/// runtime.worlds().save(&file)?;
/// let report = runtime.worlds().load(&file)?;
/// println!("{report}");
/// assert!(report.fields_lost.is_empty() && report.unresolved.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WorldLoadReport {
    /// Number of loaded objects, including default subobjects.
    pub objects: u64,
    /// Number of old objects that were destroyed.
    pub replaced: u64,
    /// Number of plugin parts that were built.
    pub conjugates_built: u64,
    /// Number of plugin parts that are built at the first use of their objects, because the classes are rebuilt lazily.
    pub conjugates_put_off: u64,
    /// Number of kept fields that were restored.
    pub fields_kept: u64,
    /// Kept fields that could not be restored to plugin parts. Each line contains class, field, reason and number of objects.
    pub fields_lost: Vec<String>,
    /// Properties whose declaration has changed, each with the number of values per outcome.
    pub properties: Vec<PropertyChange>,
    /// Classes that are missing or have a changed native base class, each with the number of objects.
    pub classes: Vec<ClassChange>,
    /// Added and removed default subobjects, and renamed members.
    pub structure: Vec<String>,
    /// Unresolved references and bindings. Each line contains the owner and the saved target.
    pub unresolved: Vec<String>,
}

impl fmt::Display for WorldLoadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} loaded · {} built{} · {} put back",
            counted(self.objects, "object"),
            counted(self.conjugates_built, "conjugate"),
            put_off(self.conjugates_put_off),
            counted(self.fields_kept, "field")
        )?;
        if self.replaced != 0 {
            write!(f, "\n  {} replaced", counted(self.replaced, "object"))?;
        }
        let (classes, properties) = (self.classes.iter(), self.properties.iter());
        let changes = classes.map(ToString::to_string).chain(properties.map(ToString::to_string));
        let lines = self.structure.iter().chain(&self.fields_lost).chain(&self.unresolved).cloned();
        changes.chain(lines).try_for_each(|line| write!(f, "\n  {line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::WorldLoadReport;
    use crate::reload::changes::{ClassChange, PropertyChange};

    #[test]
    fn a_report_lists_changed_and_lost_values() {
        let report = WorldLoadReport {
            objects: 1200,
            replaced: 3,
            conjugates_built: 1000,
            conjugates_put_off: 200,
            fields_kept: 7,
            fields_lost: vec!["Game.Cube.mood is of another type: 2 values put aside".into()],
            properties: vec![PropertyChange {
                class: "Game.Cube".into(),
                property: "speed".into(),
                change: "f32 → f64".into(),
                kept: 1000,
                ..PropertyChange::default()
            }],
            classes: vec![ClassChange { class: "Game.Ball".into(), change: "is not there".into(), objects: 2 }],
            structure: vec!["Game.Cube.tail is no longer a subobject: 1 destroyed".into()],
            unresolved: vec!["Cube_1.friend: nothing is at /World/x".into()],
        };
        expect_test::expect![[r#"
            1,200 objects loaded · 1,000 conjugates built · 200 put off until first use · 7 fields put back
              3 objects replaced
              Game.Ball is not there: 2 objects
              Game.Cube.speed   f32 → f64: 1,000 kept their own
              Game.Cube.tail is no longer a subobject: 1 destroyed
              Game.Cube.mood is of another type: 2 values put aside
              Cube_1.friend: nothing is at /World/x"#]]
        .assert_eq(&report.to_string());
    }
}
