//! Calls of unsafe functions in safe code. The compiler reports them after type checking. Each module breaks one rule.
#![allow(unused)]
#![forbid(unsafe_code)]

mod hidden_verbs_of_values {
    //! Functions that read or stage slots, or fill cells, trust their caller: safe code cannot call them.

    use alcedo_plugin_api::__private::{PropertyCell, Ptr, Slot};
    use alcedo_plugin_api::prelude::*;
    use alcedo_plugin_api::{AnyArgument, AnyResult, Class, IntoHost, Obj, Params, ReturnValue, Value};

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Breaker {
        #[uproperty]
        speed: u64,
    }

    static CELL: PropertyCell<Breaker, UArray<u64>> = PropertyCell::new();

    fn a_cell_is_filled_by_the_host_alone() {
        <Breaker as Class>::cell().fill(0);
    }

    fn a_result_is_taken_after_a_call_alone() {
        let _array = <UArray<u64> as ReturnValue>::take_out(Slot::EMPTY, <UArray<u64> as ReturnValue>::out());
    }

    fn a_number_has_one_owner(value: &UArray<u64>) {
        let slot = AnyArgument::slot(&AnyConjugate::of(value));
        let _alias = <AnyConjugate as AnyResult>::take(slot);
    }

    fn a_text_is_staged_in_a_call_alone(text: &UString) {
        let _view = Value::stage(text);
    }

    fn slots_are_lent_in_a_call_alone(text: UString) {
        Params::with_slots(&(text,), Obj::<Object>::none().handle(), Slot::EMPTY, |_slots| Ok(()));
    }

    fn a_value_is_read_before_the_next_call_alone(text: &Borrowed<'_, UString>) {
        let address = IntoHost::<UString>::host_address(text).unwrap().unwrap();
        let _copy = <UString as Value>::load(Ptr::new(address));
    }
}

fn main() {}
