//! A class that a host or a plugin can declare. The crate that declares the class includes this file.

use std::collections::HashMap;

use super::words::*;

/// A reading of a meter.
#[ustruct(package = "Metering", pod)]
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Reading {
    /// Number of units.
    #[uproperty(default = 1)]
    pub(crate) units: u32,
    #[uproperty(default = -0.5)]
    pub(crate) cost: f64,
}

/// Tariff of a meter.
#[uenum(package = "Metering")]
#[derive(PartialEq, Eq, Debug)]
#[repr(i16)]
pub(crate) enum Tariff {
    /// By day.
    Plain,
    /// At a lower price.
    #[umeta(display_name = "At night")]
    Night = -3,
    /// No longer used.
    #[umeta(hidden)]
    Old = 300,
}

/// Locations of the seals of a meter.
#[uenum(package = "Metering", flags)]
#[repr(u8)]
pub(crate) enum Seals {
    Front = 1,
    Back = 1 << 1,
}

/// Implemented by classes with a reading.
#[uinterface(package = "Metering")]
pub(crate) trait Reads {
    /// Returns the reading if a unit costs `more` in addition.
    fn read(&self, more: f64) -> Reading;
    /// Resets the counter. Returns its last value.
    fn set_back(&mut self, allowed: bool) -> Result<u32, String>;
}

/// Broadcast after units passed.
#[udelegate(multicast, package = "Metering")]
pub(crate) type OnPassed = fn(units: u32, by: Obj<Meter>);

/// Returns true if `units` may pass.
#[udelegate(single, of = Meter)]
pub(crate) type MayPass = fn(units: u32, line: String) -> bool;

/// Counts units.
#[uclass(package = "Metering", blueprintable, implements(Reads))]
#[derive(Default)]
pub(crate) struct Meter {
    /// Price of a unit.
    #[uproperty(edit_anywhere, default = 2.5)]
    price: f64,
    /// Name of the meter.
    #[uproperty(blueprint_read, default = "main")]
    label: String,
    /// Previous meter in the chain.
    #[uproperty(transient)]
    before: Obj<Meter>,
    /// Reading at the last reset.
    #[uproperty]
    last: Reading,
    /// Broadcast after units passed.
    #[uproperty]
    reported: OnPassed,
    /// Called before units pass.
    #[uproperty(transient)]
    may_pass: MayPass,
    /// Broadcast after a reset.
    #[uproperty]
    was_set_back: SparseDelegate<fn()>,
    /// Tariff of this meter.
    #[uproperty(edit_anywhere, default = "Night")]
    tariff: Tariff,
    /// Locations of the seals.
    #[uproperty]
    seals: Seals,
    /// Next meters in the chain.
    #[uproperty]
    behind: Vec<Obj<Meter>>,
    /// Readings of the next meters.
    #[uproperty]
    readings: Vec<Reading>,
    units: u32,
}

#[uclass]
impl Meter {
    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        self.units = 1;
        this.set_label(format!("{}!", this.label()));
    }

    /// Counts units. Returns the cost so far.
    #[ufunction(blueprint_native_event, blueprint_callable)]
    fn pass(&self, units: u32) -> Result<f64, String>;
    fn pass_implementation(&mut self, this: This<Self>, units: u32) -> Result<f64, String> {
        if units == 0 {
            return Err("nothing passed".to_owned());
        }
        self.units += units;
        Ok(this.price() * f64::from(self.units))
    }

    /// Returns true if any units were counted.
    #[ufunction(blueprint_pure)]
    fn has_counted(&self) -> bool {
        self.units > 1
    }

    /// Returns the cost of `units` at a price.
    #[ufunction(blueprint_callable, defaults(price = 0.5), display_name = "Cost of units")]
    fn cost_of(units: u32, price: f64) -> f64 {
        f64::from(units) * price
    }

    /// Receives the number of units that passed. Scripts implement this event.
    #[ufunction(blueprint_implementable_event, category = "Meter")]
    fn on_passed(&self, units: u32) -> u32;

    /// Subtracts two from `units`, and appends to `line`.
    #[ufunction(blueprint_native_event)]
    fn take(&self, units: &mut u32, line: &mut String) -> Result<bool, String>;
    fn take_implementation(&self, units: &mut u32, line: &mut String) -> Result<bool, String> {
        line.push_str(" taken");
        *units = units.checked_sub(2).ok_or("too few")?;
        Ok(*units > 0)
    }

    /// Calls `take` twice. A failed call leaves both arguments unchanged.
    #[ufunction]
    fn take_twice(&self, this: This<Self>, mut units: u32) -> String {
        let mut line = "line".to_owned();
        let results = [this.take(&mut units, &mut line).is_ok(), this.take(&mut units, &mut line).is_ok()];
        format!("{results:?} {units} {line}")
    }

    /// Calls `cost_of` and `on_passed`. Returns the sum of both results.
    #[ufunction]
    fn sum_up(&self, this: This<Self>) -> f64 {
        this.cost_of(3, 2.0) + f64::from(this.on_passed(7))
    }

    /// Calls the interface's functions through an untyped reference.
    #[ufunction]
    fn read_as_any(&self, this: This<Self>) -> Result<f64, CallError> {
        let reads = this.as_interface::<Reads>()?;
        Ok(reads.read(0.5).cost)
    }

    /// Returns true if the reading equals a new reading.
    #[ufunction(blueprint_pure)]
    fn shows_a_new_reading(&self, this: This<Self>) -> bool {
        this.last() == Reading::default()
    }

    /// Changes the tariff and seals the back. Returns the previous tariff.
    #[ufunction(blueprint_callable)]
    fn change(&self, this: This<Self>, to: Tariff, seals: &mut Seals) -> Tariff {
        *seals = *seals | Seals::Back;
        this.set_seals(*seals);
        let before = this.tariff();
        this.set_tariff(match to {
            Tariff::Plain | Tariff::Old => Tariff::Plain,
            Tariff::Night => Tariff::Night,
        });
        before
    }

    /// Connects further meters, and reports the connection to each. Returns all meters, the last one first.
    #[ufunction(blueprint_callable)]
    fn connect(&self, this: This<Self>, meters: Vec<Obj<Meter>>, tariffs: Vec<Tariff>) -> Vec<Obj<Meter>> {
        let (mut behind, mut readings) = (this.behind(), this.readings());
        for (meter, tariff) in meters.into_iter().zip(tariffs) {
            this.reported().bind(meter, "hear");
            behind.push(meter);
            readings.push(Reading { units: u32::from(tariff == Tariff::Night), ..Reading::default() });
        }
        this.set_behind(behind.clone());
        this.set_readings(readings);
        this.reported().broadcast((behind.len() as u32, this.as_obj()));
        this.reported().clear();
        behind.reverse();
        behind
    }

    /// Adds the units, and records the previous meter.
    #[ufunction]
    fn hear(&mut self, this: This<Self>, units: u32, by: Obj<Meter>) {
        self.units += units;
        this.set_before(by);
    }

    /// Returns all readings and `more`, by label.
    #[ufunction]
    fn sorted(&self, this: This<Self>, more: Option<Reading>) -> HashMap<String, Vec<Reading>> {
        let all = this.readings().into_iter().chain(more).collect();
        HashMap::from([(this.label(), all)])
    }

    /// Returns the reading at the last reset.
    #[ufunction(blueprint_pure)]
    fn last_reading(&self, this: This<Self>) -> Reading {
        this.last()
    }
}

#[uclass]
impl Reads for Meter {
    fn read(&self, this: This<Self>, more: f64) -> Reading {
        Reading { units: self.units, cost: f64::from(self.units) * (this.price() + more) }
    }

    fn set_back(&mut self, this: This<Self>, allowed: bool) -> Result<u32, String> {
        if !allowed {
            return Err("it is sealed".to_owned());
        }
        this.set_last(Reading { units: self.units, cost: this.price() });
        Ok(std::mem::take(&mut self.units))
    }
}
