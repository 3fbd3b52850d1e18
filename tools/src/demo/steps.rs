//! What is edited, and what must be true after it.
use super::Stage;
use crate::error::Error;

pub(super) fn play(stage: &mut Stage) -> Result<(), Error> {
    stage.chapter("x");
    let live = stage.save(&[super::Edit { from: "a", to: "b" }])?;
    stage.check("x", 1, live.report.generation);
    Ok(())
}
