//! Each check of this crate, under some thousand schedules (`ALCEDO_SCHEDULES`).

use alcedo_schedules::checks;

macro_rules! tests {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                checks::$name();
            }
        )*
    };
}

tests! {
    the_last_lease_wakes_who_waits
    a_sealed_and_empty_row_of_leases_stays_empty
    no_call_is_inside_a_gate_that_was_shut_and_seen_empty
    all_who_wait_get_the_one_end
    a_park_during_a_look_parks
    a_look_or_a_park_ends_an_unload_and_only_one
    no_callback_runs_once_a_watch_is_dropped
    a_watch_that_its_callback_drops_ends
    an_unload_ends_a_watch
}
