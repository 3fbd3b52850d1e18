//! Addresses that plugins leave in tables and variables of permanent libraries. Each kind of address has a function, its habit. The next
//! generation calls the check of each habit. The check fails if the host has not removed the address.

#![deny(unsafe_code)]

mod addresses;
mod blocks;
mod c_library;
mod callbacks;
#[cfg(feature = "cpp")]
mod cpp;
mod looked_up;
mod unwinding;

use alcedo_plugin_api::prelude::*;

module! { name: "traces" }

/// Calls the habit with this name, which leaves its address behind.
#[zcall(ex = "traces.leave")]
fn leave(habit: String) {
    match habit.as_str() {
        "nothing" => {}
        "putenv" => c_library::putenv(),
        "environ" => c_library::row_of_the_environment(),
        "openlog" => c_library::openlog(),
        "setvbuf" => c_library::setvbuf(),
        "initstate" => c_library::initstate(),
        "name_of_the_program" => c_library::name_of_the_program(),
        "fopencookie" => c_library::fopencookie(),
        "fopencookie_as_stdout" => c_library::fopencookie_as_stdout(),
        "fopencookie_closed" => c_library::fopencookie_closed(),
        "memory_stream" => c_library::memory_stream(),
        "memory_stream_closed" => c_library::memory_stream_closed(),
        "register_frame" => unwinding::register_frame(),
        "register_frame_closed" => unwinding::register_frame_closed(),
        "entry" => callbacks::entry(),
        "variable" => callbacks::variable(),
        "data" => callbacks::data(),
        "handle" => callbacks::handle(),
        number if number.starts_with("keep ") => addresses::keep(number),
        "blocks" => blocks::leave(),
        "blocks_of_others" => blocks::leave_where_somebody_else_could_free_them(),
        "looked_up_thread" => looked_up::leave_thread(),
        "looked_up_exit_handler" => looked_up::leave_exit_handler(),
        "looked_up_exit_handler_with_status" => looked_up::leave_exit_handler_with_status(),
        "looked_up_key" => looked_up::leave_key(),
        "looked_up_thread_local" => looked_up::leave_thread_local(),
        "looked_up_fork_handlers" => looked_up::leave_fork_handlers(),
        "looked_up_timer" => looked_up::leave_timer(),
        "looked_up_alike" => looked_up::compare(),
        "looked_up_elsewhere" => looked_up::check_elsewhere(),
        #[cfg(feature = "cpp")]
        of_cpp if cpp::leave(of_cpp) => {}
        unknown => panic!("unknown habit `{unknown}`"),
    }
}

/// Runs the check of the habit: uses state that the end of the previous generation may have invalidated. Returns the outcome.
#[zcall(ex = "traces.inspect")]
fn inspect(habit: String) -> String {
    match habit.as_str() {
        "putenv" | "environ" => c_library::check_environment(),
        "openlog" => c_library::check_log(),
        "setvbuf" | "fopencookie" | "fopencookie_as_stdout" => c_library::check_streams(),
        "initstate" => c_library::check_random(),
        "name_of_the_program" => c_library::check_program_name(),
        "register_frame" => unwinding::check(),
        "addresses" => addresses::of_this_module(),
        "blocks" => c_library::check_environment() + ", " + &blocks::check(),
        "looked_up_fork_handlers" => looked_up::fork(),
        "looked_up_timer" => looked_up::wait_for_timer(),
        #[cfg(feature = "cpp")]
        of_cpp if of_cpp.starts_with("cpp_") => cpp::check(of_cpp),
        _ => "nothing to see".to_owned(),
    }
}

/// Clears the tables of the permanent library.
#[zcall(ex = "traces.clear")]
fn clear() {
    callbacks::clear();
}
