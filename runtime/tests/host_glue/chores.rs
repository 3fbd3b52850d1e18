// Declarations of the module `chores` 0.1.0 for a host, written by `alcedo glue --for-host`.
// Run it again after a change of the module. The first use of a member compares the member here with that of the module.
// Types of other packages: Engine=alcedo_engine

use alcedo::host::*;

host_class! {
    /// A robot with timers and tasks.
    pub Robot: alcedo_engine::Actor = "/Script/Game.Robot", members RobotMembers, extends [Robot, alcedo_engine::Actor];
    properties {
        /// Number of runs of its timer, visible to the host.
        beats / set_beats "beats": i32;
    }
    values {}
    delegates {}
    functions {
        /// Starts a timer with this period of game time.
        beat "beat"(milliseconds: u32) -> ();
        /// Stops the timer. Returns `false` if no timer was running.
        rest "rest"() -> bool;
        /// Walks: starts a task that takes a step alternately after one tick and after half a second of game time.
        walk "walk"() -> ();
        /// Schedules three timers and a task in an order that differs from the due order.
        line_up "line_up"() -> ();
        /// Panics in a task, a timer and a posted closure.
        stumble "stumble"() -> ();
        /// Destroys the robot in its own timer and logs a line afterwards.
        end_in_timer "end_in_timer"() -> ();
        /// Starts two tasks that wake each other `rounds` times.
        play_ball "play_ball"(rounds: u32) -> ();
        /// Starts a task that polls a delay only after the delay's own waker was called, as combinators of many futures do.
        combine "combine"() -> ();
        /// Starts a task that a thread of the module wakes; the thread keeps the waker until the file `until` exists.
        wait_for_thread "wait_for_thread"(until: String) -> ();
        /// Posts to this object from new threads, `times` closures per thread, and joins the threads.
        post_from_threads "post_from_threads"(threads: u32, times: u32) -> ();
        /// Starts a thread that posts to this object each millisecond, until `stop_posting` is called.
        keep_posting "keep_posting"() -> ();
        /// Ends the thread of `keep_posting`. Returns the number of accepted posts.
        stop_posting "stop_posting"() -> u32;
        /// Returns the errors of calls from a new thread and from outside a task.
        refusals "refusals"() -> String;
        /// Starts a task whose future requests more work when it is dropped.
        cling "cling"() -> ();
        /// Returns the number of steps.
        steps "steps"() -> u32;
        /// Counts one beat per tick and returns the total.
        count "count"(beats: u32, done: Delegate<fn(i32)>) -> ();
        /// Brings an item to a location after a delay, or returns an error.
        bring "bring"(what: String, to: String, done: Delegate<fn(String, String)>) -> ();
        /// Sleeps for one tick.
        nap "nap"(done: Delegate<fn()>) -> ();
        /// Opens a door with a key, or returns an error.
        unlock "unlock"(key: u32, done: Delegate<fn(String)>) -> ();
        /// Starts one async function of each kind, from a method that borrows the plugin part.
        begin_all "begin_all"() -> ();
        /// Receives the result of `count`.
        counted "counted"(value: i32) -> ();
        /// Receives the result or the error of `bring`.
        brought "brought"(what: String, error: String) -> ();
        /// Receives the end of `nap` and starts another `nap` during the call.
        rested "rested"() -> ();
        /// Receives the result or the error of `unlock`.
        unlocked "unlocked"(error: String) -> ();
        /// Starts a timer of an object of any module. Each run counts a beat of this robot.
        accompany "accompany"(object: Obj<Object>) -> ();
    }
    dynamic {}
}
