//! A class that a host and a plugin declare with the same file.

use super::words::*;

/// Counts what goes through.
#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
pub(crate) struct Meter {
    /// What a unit costs.
    #[uproperty(edit_anywhere, default = 2.5)]
    price: f64,
    /// What it is called.
    #[uproperty(blueprint_read, default = "main")]
    label: String,
    /// The meter before it.
    #[uproperty(transient)]
    before: Obj<Meter>,
    units: u32,
}

#[uclass]
impl Meter {
    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        self.units = 1;
        this.set_label(format!("{}!", this.label()));
    }

    /// Counts; gives what it costs so far.
    #[ufunction(blueprint_native_event, blueprint_callable)]
    fn pass(&self, units: u32) -> Result<f64, String>;
    fn pass_implementation(&mut self, this: This<Self>, units: u32) -> Result<f64, String> {
        if units == 0 {
            return Err("nothing passed".to_owned());
        }
        self.units += units;
        Ok(this.price() * f64::from(self.units))
    }

    /// Whether it has counted.
    #[ufunction(blueprint_pure)]
    fn has_counted(&self) -> bool {
        self.units > 1
    }

    /// What so many units cost at a price.
    #[ufunction(blueprint_callable, defaults(price = 0.5), display_name = "Cost of units")]
    fn cost_of(units: u32, price: f64) -> f64 {
        f64::from(units) * price
    }

    /// For scripts to fill.
    #[ufunction(blueprint_implementable_event, category = "Meter")]
    fn on_passed(&self, units: u32) -> u32;

    /// Takes units off what is given; what is left, and a line, come back.
    #[ufunction(blueprint_native_event)]
    fn take(&self, units: &mut u32, line: &mut String) -> Result<bool, String>;
    fn take_implementation(&self, units: &mut u32, line: &mut String) -> Result<bool, String> {
        line.push_str(" taken");
        *units = units.checked_sub(2).ok_or("too few")?;
        Ok(*units > 0)
    }

    /// The same twice; what fails leaves both as they were.
    #[ufunction]
    fn take_twice(&self, this: This<Self>, mut units: u32) -> String {
        let mut line = "line".to_owned();
        let told = [this.take(&mut units, &mut line).is_ok(), this.take(&mut units, &mut line).is_ok()];
        format!("{told:?} {units} {line}")
    }

    /// Calls the others.
    #[ufunction]
    fn sum_up(&self, this: This<Self>) -> f64 {
        this.cost_of(3, 2.0) + f64::from(this.on_passed(7))
    }
}
