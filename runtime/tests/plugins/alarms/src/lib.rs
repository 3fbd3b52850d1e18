//! Test plugin that starts timers, signal handlers, signal stacks and requests, and does not stop them.

#![deny(unsafe_code)]

mod last;
mod pages;
mod past;
mod raw;
mod requests;
mod streams;

use alcedo_plugin_api::prelude::*;

module! { name: "alarms", main: started, exit: ended }

/// Environment variable. If the variable is set, each generation runs a timer from the start of its `main` to its exit hook.
const TIMED: &str = "ALARMS_TIMED";

fn started() {
    if std::env::var_os(TIMED).is_some() {
        raw::interval();
    }
}

fn ended() {
    if std::env::var_os(TIMED).is_some() {
        raw::stop_interval();
    }
}

/// Starts the activity that `what` names, and leaves it active.
#[zcall(ex = "alarms.leave")]
fn leave(what: String) {
    match what.as_str() {
        "interval" => raw::interval(),
        "alarm" => raw::alarm(),
        "rearming" => raw::rearming(),
        "timer" => raw::timer(),
        "timer_call" => raw::timer_call(),
        "timer_call_slow" => raw::timer_call_slow(),
        "descriptor" => raw::descriptor(),
        "plain_handler" => raw::plain_handler(),
        "jump" => raw::jump(),
        "alternate_handler" => raw::alternate_handler(),
        "stack" => raw::stack(),
        "stack_there" => raw::stack_there(),
        "child" => raw::child(),
        "waited" => raw::waited(),
        "running_child" => raw::running_child(),
        "message" => requests::message(),
        "message_call" => requests::message_call(),
        "read" => requests::read(),
        "read_call" => requests::read_call(),
        "names" => requests::names(),
        "names_waited" => requests::names_waited(),
        "names_in_image" => requests::names_in_image(),
        ranges if ranges.contains('-') => pages::take(ranges),
        "cpu_limit" => past::cpu_limit(),
        "size_limit" => past::size_limit(),
        "size_limit_for_good" => past::size_limit_for_good(),
        "interval_past" => past::interval(),
        "timer_past" => past::timer(),
        "filter" => past::filter(),
        "held_mutex" => past::held_mutex(),
        "held_mutex_in_heap" => past::held_mutex_in_heap(),
        "last_thread" => last::choose(last::THREAD),
        "last_string" => last::choose(last::STRING),
        "last_stack" => last::choose(last::STACK),
        "last_everything" => last::choose(last::EVERYTHING),
        "last_row" => last::choose(last::ROW),
        "last_row_in_heap" => last::choose(last::ROW_IN_HEAP),
        "stack_by_number" => past::stack_by_number(),
        "stack_past" => past::stack(),
        "hole" => pages::hole(),
        "hole_by_number" => pages::hole_by_number(),
        "hole_by_moving" => pages::hole_by_moving(),
        "mapped_over" => pages::mapped_over(),
        "segment" => pages::segment(),
        "streams" => streams::leave(),
        "streams_closed" => streams::close(),
        "blocks_of_c" => streams::blocks(),
        unknown => panic!("unknown activity `{unknown}`"),
    }
}

/// Returns the number of calls to handlers and functions of this module.
#[zcall(ex = "alarms.calls")]
fn calls() -> u64 {
    raw::calls()
}

/// Returns `true` if the last handler ran on the alternate stack.
#[zcall(ex = "alarms.was_on_alternate")]
fn was_on_alternate() -> bool {
    raw::was_on_alternate()
}
