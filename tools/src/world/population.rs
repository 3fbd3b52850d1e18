//! Describes the objects that a world creates for a class of its plugins.

use alcedo_base::figures::counted;
use serde::Serialize;

use crate::figures::short;
use crate::paint::Paint;

/// Created objects of one class.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Population {
    /// Path of the class, such as `/Script/Game.MagicCube`.
    pub(crate) class: String,
    pub(crate) count: u64,
    /// Error that prevented the creation of further objects.
    pub(crate) failure: Option<String>,
}

impl Population {
    /// Formats the population as a line of output.
    pub(crate) fn line(&self, paint: Paint) -> String {
        let Self { class, count, failure } = self;
        let created = format!("  {} of {}", counted(*count, "object"), short(class));
        match failure {
            None => created,
            Some(failure) => format!("{created}, then {} {failure}", paint.red("one failed:")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Population;
    use crate::paint::Paint;

    #[test]
    fn constructions_are_counted_and_failures_reported() {
        let mut population = Population { class: "/Script/Game.MagicCube".into(), count: 1000, failure: None };
        assert_eq!(population.line(Paint::off()), "  1,000 objects of Game.MagicCube");
        (population.count, population.failure) = (0, Some("it panicked".into()));
        assert_eq!(population.line(Paint::off()), "  0 objects of Game.MagicCube, then one failed: it panicked");
    }
}
