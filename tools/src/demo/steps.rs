//! Edits of the demo, and the checks after each edit. Each step first checks the report that the host returns for the reload. To check the
//! objects, the step then reads their properties, calls their functions, and ticks the world.

use alcedo_base::figures::thousands;
use alcedo_runtime::{ObjectHandle, Outcome, Value};

use super::edit::Edit;
use super::output::rounded;
use super::{Stage, label};
use crate::error::Error;
use crate::session::Live;

/// Number of ticks in one period of a cube's bobbing.
const BOB_TICKS: u32 = 120;
const TICKS_A_SECOND: f64 = 60.0;

/// Speeds that the demo sets on some cubes, so that they differ from the default.
const BY_HAND: [f64; 3] = [90.0, 120.0, 360.0];

const HIGHER: [Edit; 1] = [Edit { from: "const BOB_HEIGHT: f64 = 20.0;", to: "const BOB_HEIGHT: f64 = 60.0;" }];

const FASTER_AND_GLOWING: [Edit; 1] = [Edit {
    from: "default = 180.0)]\n    rotation_speed: f64,\n",
    to: "default = 240.0)]\n    rotation_speed: f64,\n    /// How brightly it glows.\n    #[uproperty(edit_anywhere, default = 0.5)]\n    glow: f64,\n",
}];

/// Adds a bug that affects only fast cubes: the speed of the fastest cube results in an index that is out of bounds.
const BROKEN: [Edit; 1] = [Edit {
    from: "    fn new(_this: This<Self>) -> Self {\n",
    to: "    fn new(this: This<Self>) -> Self {\n        let paces = vec![\"slow\", \"steady\", \"fast\"];\n        let pace = paces[(this.rotation_speed() / 90.0) as usize];\n        tracing::trace!(pace, \"here it turns\");\n",
}];

const MENDED: [Edit; 1] = [Edit {
    from: "        let pace = paces[(this.rotation_speed() / 90.0) as usize];\n",
    to: "        let pace = paces.get((this.rotation_speed() / 90.0) as usize).unwrap_or(&\"wild\");\n",
}];

/// Runs all steps in order. A failed check is reported and counted, and the demo continues. An error stops the demo if the remaining steps
/// would be pointless.
pub(super) fn play(stage: &mut Stage) -> Result<(), Error> {
    constant(stage)?;
    default(stage)?;
    stage.chapter("A red constructor panics for one of the cubes");
    let greetings = broken(stage)?;
    stage.chapter("The red constructor is fixed");
    mended(stage, &greetings)
}

fn constant(stage: &mut Stage) -> Result<(), Error> {
    stage.chapter("A constant in tick changes");
    let all = stage.cubes.len();
    let before = World::of(stage);
    let low = stage.count_bobbing(20.0)?;
    let live = stage.save(&HIGHER)?;
    stage.check_commit(&live, &before);
    let high = stage.count_bobbing(60.0)?;
    stage.check("the cubes bobbed 20 high with the old code", all, low);
    stage.check("they bob 60 high with the new code", all, high);
    let unchanged = stage.count("rotation_speed", 180.0)?;
    stage.check("their values are kept", all, unchanged);
    Ok(())
}

fn default(stage: &mut Stage) -> Result<(), Error> {
    stage.chapter("A default changes and a property is added, after three cubes were changed by hand");
    let all = stage.cubes.len();
    for (cube, speed) in stage.by_hand() {
        stage.runtime().objects().set(cube, "rotation_speed", &Value::F64(speed))?;
    }
    let before = World::of(stage);
    let live = stage.save(&FASTER_AND_GLOWING)?;
    stage.check_commit(&live, &before);

    let change = live.report.properties.iter().find(|change| change.property == "rotation_speed");
    let (followed, kept) = change.map_or((0, 0), |change| (change.followed, change.kept));
    stage.check("the host reports the cubes that followed the default", (all - BY_HAND.len()) as u64, followed);
    stage.check("the host reports the cubes that kept their values", BY_HAND.len() as u64, kept);
    let at_default = stage.count("rotation_speed", 240.0)?;
    stage.check("the other cubes have the new default", all - BY_HAND.len(), at_default);
    let mut own = 0;
    for (cube, speed) in stage.by_hand() {
        own += usize::from(stage.float(cube, "rotation_speed")? == speed);
    }
    stage.check("the three cubes have their assigned values", BY_HAND.len(), own);
    let glowing = stage.count("glow", 0.5)?;
    stage.check("the new property can be read, with its default", all, glowing);
    let turned = stage.turned(stage.cubes[0])?;
    stage.check("a tick turns a cube by the new default", rounded(240.0 / TICKS_A_SECOND), turned);
    Ok(())
}

/// Breaks the red constructor, and checks that the reload is rolled back. Returns the number of greetings that each cube has counted.
fn broken(stage: &mut Stage) -> Result<Vec<u32>, Error> {
    stage.greet()?;
    stage.runtime().objects().call(stage.cubes[0], "say_hello", &[])?;
    let greetings = stage.greetings()?;
    let before = World::of(stage);
    let live = stage.save(&BROKEN)?;

    let (outcome, error) = match &live.report.outcome {
        Outcome::Committed => ("committed".to_owned(), String::new()),
        Outcome::RolledBack { phase, error } => (format!("rolled back in {phase}"), error.clone()),
    };
    stage.check("the reload is rolled back", "rolled back in rebuild".to_owned(), outcome);
    let is_reported = error.contains("index out of bounds") && error.contains("red constructor");
    stage.check("its report contains the panic message", true, is_reported);
    stage.check("the generation stays", before.generation, stage.runtime().generation());
    stage.check_cubes(&before);
    let count = stage.greetings()?;
    stage.check("the cubes remember every hello", sum(&greetings), sum(&count));
    stage.greet()?;
    let count = stage.greetings()?;
    stage.check("the old code answers, and counts on from there", added(&greetings), sum(&count));
    let turned = stage.turned(stage.cubes[0])?;
    stage.check("the old code ticks", rounded(240.0 / TICKS_A_SECOND), turned);
    Ok(count)
}

fn mended(stage: &mut Stage, greetings: &[u32]) -> Result<(), Error> {
    let before = World::of(stage);
    let live = stage.save(&MENDED)?;
    stage.check_commit(&live, &before);
    let count = stage.greetings()?;
    stage.check("the hellos were kept for the new code", sum(greetings), sum(&count));
    stage.greet()?;
    let count = stage.greetings()?;
    stage.check("the new code answers, and counts on from there", added(greetings), sum(&count));
    Ok(())
}

/// State of the world before an edit.
struct World {
    generation: u64,
    objects: u64,
}

impl World {
    fn of(stage: &Stage) -> Self {
        Self { generation: stage.runtime().generation(), objects: stage.runtime().objects().iter().len() as u64 }
    }
}

impl Stage {
    /// Checks the conditions that every committed reload must fulfill.
    fn check_commit(&mut self, live: &Live, before: &World) {
        let report = &live.report;
        let cubes = self.cubes.len() as u64;
        self.routine("the reload is committed", true, report.is_committed());
        self.routine("the generation is a new one", true, report.generation > before.generation);
        self.routine("the new generation is the living one", report.generation, self.runtime().generation());
        self.routine("the host kept every object, parts and world too", before.objects, report.objects_kept);
        self.routine("the host rebuilt every conjugate", cubes, report.conjugates_rebuilt);
        self.check_cubes(before);
    }

    /// Checks the conditions that every reload must fulfill, even if it is not committed.
    fn check_cubes(&mut self, before: &World) {
        let cubes = self.cubes.len();
        let same = self.cubes.iter().enumerate().filter(|(number, cube)| self.is_labeled(**cube, *number)).count();
        self.routine("every cube lives and has its own label", cubes, same);
        self.routine("no other object came or went", before.objects, self.runtime().objects().iter().len() as u64);
        let rerun = self.runtime().counters().class_constructors_rerun;
        self.routine("no class constructor ran a second time", 0, rerun);
        let cubes = thousands(cubes as u64);
        self.end_routine(&format!("{cubes} cubes live, nothing was lost, no class constructor ran again"));
    }

    fn is_labeled(&self, cube: ObjectHandle, number: usize) -> bool {
        self.runtime()
            .objects()
            .get(cube, "label")
            .is_ok_and(|found| matches!(found, Value::Text(text) if text == label(number)))
    }

    /// Returns the evenly distributed cubes whose speed the demo sets, with these speeds.
    fn by_hand(&self) -> Vec<(ObjectHandle, f64)> {
        let quarter = self.cubes.len() / 4;
        (1..).zip(BY_HAND).map(|(at, speed)| (self.cubes[at * quarter], speed)).collect()
    }

    /// Counts the cubes whose maximum height in one period is `height`.
    fn count_bobbing(&self, height: f64) -> Result<usize, Error> {
        let mut highest = vec![f64::MIN; self.cubes.len()];
        for _ in 0..BOB_TICKS {
            self.session.world.tick();
            for (cube, highest) in self.cubes.iter().zip(&mut highest) {
                *highest = highest.max(self.field(*cube, "location", "z")?);
            }
        }
        // Allows a difference, because no tick may coincide with the exact maximum.
        Ok(highest.into_iter().filter(|highest| (highest - height).abs() < 0.1).count())
    }

    /// Runs a tick. Returns the angle in degrees by which the cube has turned in this tick.
    fn turned(&self, cube: ObjectHandle) -> Result<f64, Error> {
        let before = self.field(cube, "rotation", "yaw")?;
        self.session.world.tick();
        let after = self.field(cube, "rotation", "yaw")?;
        Ok(rounded((after - before).rem_euclid(360.0)))
    }

    /// Calls `say_hello` on every cube.
    fn greet(&self) -> Result<(), Error> {
        for cube in &self.cubes {
            self.runtime().objects().call(*cube, "say_hello", &[])?;
        }
        Ok(())
    }

    /// Returns the number of greetings that each cube has counted.
    fn greetings(&self) -> Result<Vec<u32>, Error> {
        let count = |cube: &ObjectHandle| match self.runtime().objects().call(*cube, "greeting_count", &[])? {
            Some(Value::U32(count)) => Ok(count),
            other => Err(unexpected("a number of greetings", &other)),
        };
        self.cubes.iter().map(count).collect()
    }

    /// Counts the cubes whose `property` has this value.
    fn count(&self, property: &str, value: f64) -> Result<usize, Error> {
        self.cubes.iter().try_fold(0, |count, cube| Ok(count + usize::from(self.float(*cube, property)? == value)))
    }

    fn float(&self, cube: ObjectHandle, property: &str) -> Result<f64, Error> {
        match self.runtime().objects().get(cube, property)? {
            Value::F64(value) => Ok(value),
            other => Err(unexpected("an f64", &other)),
        }
    }

    /// Reads a field of a struct property.
    fn field(&self, cube: ObjectHandle, property: &str, field: &str) -> Result<f64, Error> {
        let value = self.runtime().objects().get(cube, property)?;
        let Value::Struct(fields) = &value else { return Err(unexpected("a struct", &value)) };
        match fields.iter().find(|(name, _)| &**name == field) {
            Some((_, Value::F64(value))) => Ok(*value),
            _ => Err(unexpected("a struct with such a field", &value)),
        }
    }
}

fn unexpected(expected: &str, found: &impl std::fmt::Debug) -> Error {
    super::unexpected(expected, &format!("{found:?}"))
}

/// Returns the expected total number of greetings after each cube has greeted once more.
fn added(greetings: &[u32]) -> u64 {
    sum(greetings) + greetings.len() as u64
}

fn sum(greetings: &[u32]) -> u64 {
    greetings.iter().copied().map(u64::from).sum()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{BROKEN, FASTER_AND_GLOWING, HIGHER, MENDED};
    use crate::demo::edit::apply;

    #[test]
    fn every_edit_fits_the_example_plugin_after_those_before_it() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../example-plugins/magic-cube/src/lib.rs");
        let source = fs::read_to_string(path).unwrap();
        let edits = [&HIGHER, &FASTER_AND_GLOWING, &BROKEN, &MENDED];
        let edited = edits.into_iter().try_fold(source.clone(), |source, edits| apply(&source, edits)).unwrap();
        assert_ne!(edited, source);
    }
}
