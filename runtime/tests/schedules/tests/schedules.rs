//! Runs each check of this crate under some thousand schedules (`ALCEDO_SCHEDULES`).

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
    sealed_and_empty_leases_stay_empty
    no_call_is_inside_a_shut_and_empty_gate
    all_waiting_threads_get_the_single_end
    a_park_during_a_poll_parks
    a_poll_or_a_park_ends_an_unload_once
    no_callback_runs_after_its_watch_is_dropped
    a_watch_dropped_by_its_callback_ends
    an_unload_ends_a_watch
}
