//! Functions with out parameters, and calls of these functions.

use alcedo_plugin_api::prelude::*;

/// Divides watts.
#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
pub struct Splitter {
    /// Number of calls of `split`.
    #[uproperty]
    splits: u32,
}

#[uclass]
impl Splitter {
    /// Returns the share of each consumer; the remainder and a log line are out parameters.
    #[ufunction(blueprint_native_event, blueprint_callable)]
    fn split(&self, watts: &mut u32, of: u32, log: &mut Vec<String>) -> Result<u32, CallError>;
    fn split_implementation(
        &mut self,
        this: This<Self>,
        watts: &mut u32,
        of: u32,
        log: &mut Vec<String>,
    ) -> Result<u32, CallError> {
        this.set_splits(this.splits() + 1);
        log.push(format!("{watts} among {of}"));
        let all = std::mem::take(watts);
        if of == 0 {
            return Err(CallError::returned("among none"));
        }
        *watts = all % of;
        Ok(all / of)
    }

    /// Out parameters of every kind.
    #[ufunction]
    fn sorts(
        &self,
        this: This<Self>,
        own: &mut Obj<Self>,
        text: &mut String,
        row: &mut UArray<f64>,
        on: &mut bool,
    ) -> Result<(), CallError> {
        *own = this.as_obj();
        text.push('!');
        this.open(row).push(2.5);
        *on = !*on;
        Ok(())
    }

    /// Static function.
    #[ufunction]
    fn twice(number: &mut f64) {
        *number *= 2.0;
    }

    /// Changes an out parameter and panics.
    #[ufunction]
    fn crash(&self, number: &mut u32) {
        *number = 7;
        panic!("{number}")
    }

    /// Event without an implementation, which leaves its out parameter unchanged.
    #[ufunction(blueprint_implementable_event)]
    fn inspected(&self, by: &mut String) -> u32;

    /// Calls the other functions of this class by type and by name.
    #[ufunction]
    fn all(&mut self, this: This<Self>) -> Result<String, CallError> {
        this.lend(self, |this| {
            let (mut watts, mut lines) = (17, vec!["first".to_owned()]);
            let each = this.split(&mut watts, 5, &mut lines)?;
            let by_name: u32 =
                this.zcall("uf:/Script/Game.Splitter:split", (Out::to(&mut watts), 2_u32, Out::to(&mut lines)))?;
            // A failed call leaves all out parameters unchanged.
            let failed = this.split(&mut watts, 0, &mut lines).is_err_and(|error| error.is_returned());
            let (mut own, mut text, mut on) = (Obj::none(), "text".to_owned(), false);
            let mut row = UArray::<f64>::new()?;
            this.sorts(&mut own, &mut text, &mut row, &mut on)?;
            let mut number = 1.5;
            this.twice(&mut number);
            let mut crashed = 3;
            let crash = this.try_crash(&mut crashed).is_err();
            let mut by = "me".to_owned();
            let seen = this.inspected(&mut by);
            let first = this.open(&row).get(0);
            Ok(format!(
                "{each} {by_name} {watts} {lines:?} {failed} {} {text} {first:?} {on} {number} {crash} {crashed} {by} {seen}",
                own == this.as_obj()
            ))
        })
    }

    /// Passes a value in place of an out parameter and vice versa; both calls must be refused.
    #[ufunction]
    fn wrong(&self, this: This<Self>) -> String {
        let plain = this.zcall::<_, ()>("uf:/Script/Game.Splitter:twice", (1.5,));
        let mut number = 0_u32;
        let out = this.zcall::<_, u32>("uf:/Script/Game.Splitter:splits_plus", (Out::to(&mut number),));
        let kinds = [plain.map_err(|error| error.kind()), out.map(drop).map_err(|error| error.kind())];
        format!("{:?}", kinds.map(|kind| kind == Err(FailureKind::SIGNATURE)))
    }

    /// Takes a plain value.
    #[ufunction]
    fn splits_plus(&self, this: This<Self>, more: u32) -> u32 {
        this.splits() + more
    }
}
