// Declarations of the module `chores` 0.1.0 for a host, written by `alcedo glue --for-host`.
// Run it again after a change of the module. The first use of a member compares the member here with that of the module.

use alcedo_runtime::host::*;

host_class! {
    /// A robot.
    pub Robot: alcedo_engine::Actor = "/Script/Game.Robot", members RobotMembers, extends [Robot, alcedo_engine::Actor];
    properties {
        /// How often its timer ran: seen by the host.
        beats / set_beats "beats": i32;
    }
    values {}
    delegates {}
    functions {
        /// Beats every so many milliseconds of game time.
        beat "beat"(milliseconds: u32) -> ();
        /// Stops to beat. Whether it did beat.
        rest "rest"() -> bool;
        /// Walks: a step at once, one in the next tick, one after half a second of game time, and so on for ever.
        walk "walk"() -> ();
        /// Asks for three timers and a task in an order that differs from the one they are due in.
        line_up "line_up"() -> ();
        /// Panics in a task, a timer and a posted closure.
        stumble "stumble"() -> ();
        /// Ends itself from within its own timer, and goes on for a line.
        end_in_timer "end_in_timer"() -> ();
        /// Two tasks that wake each other `rounds` times over.
        play_ball "play_ball"(rounds: u32) -> ();
        /// A task that polls a delay only when the delay's own waker says so, as combinators of many futures do.
        combine "combine"() -> ();
        /// A task that a thread of the module's own wakes, and whose waker that thread keeps until the file `until` is there.
        wait_for_thread "wait_for_thread"(until: String) -> ();
        /// Has threads of its own post to this object, each so many times. They have ended when this returns.
        post_from_threads "post_from_threads"(threads: u32, times: u32) -> ();
        /// What is refused where: from a thread, and outside of a task.
        refusals "refusals"() -> String;
        /// A task whose future asks for more when it is dropped.
        cling "cling"() -> ();
        /// How often it walked, plugin-side.
        steps "steps"() -> u32;
        /// Counts, one beat a tick, and gives what it has come to.
        count "count"(beats: u32, done: Delegate<fn(i32)>) -> ();
        /// Brings something to a place that takes a while to reach, if there is a way.
        bring "bring"(what: String, to: String, done: Delegate<fn(String, String)>) -> ();
        /// Sleeps a tick.
        nap "nap"(done: Delegate<fn()>) -> ();
        /// Opens a door that may be locked.
        unlock "unlock"(key: u32, done: Delegate<fn(String)>) -> ();
        /// Begins one of each sort, in a method that has the plugin part.
        begin_all "begin_all"() -> ();
        /// What a count came to.
        counted "counted"(value: i32) -> ();
        /// What was brought, or why not.
        brought "brought"(what: String, error: String) -> ();
        /// That it slept; and begins the next one, from within the call.
        rested "rested"() -> ();
        /// That a door is open, or why not.
        unlocked "unlocked"(error: String) -> ();
    }
    dynamic {}
}
