//! Robot with timers, tasks and posted closures. The log contains each action and its time, so that tests can check the order.

#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::future::poll_fn;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::JoinHandle;
use std::time::Duration;

use alcedo_plugin_api::prelude::*;
use alcedo_plugin_api::task::{Module, TaskHandle, delay, next_tick, post, post_to};
use engine_glue::Actor;
use fixture::BUILD;

module! { name: "chores", main: started, exit: ended }

fn started() {
    if fixture::on!("panic-in-main") {
        log_line("main of the failing build");
        timer::every(Module, Duration::ZERO, |_module| log_line("a timer of the failing build"));
        task::spawn(Module, async { log_line("a task of the failing build") });
        post(|| log_line("posted by the failing build")).unwrap_or_else(|error| panic!("{error}"));
        panic!("broken on purpose: main");
    }
}

fn ended() {
    // From here on, requests are refused, because the module is being unloaded.
    let late = post(|| log_line("posted by the exit hook"));
    log_line(&late.map_or_else(|error| format!("exit: {error}"), |()| "exit: posted".to_owned()));
}

fn log_line(line: &str) {
    tracing::info!(target: "chores", "{line} (build {BUILD})");
}

/// Returns the game time in whole milliseconds.
fn now() -> u128 {
    task::game_time().as_millis()
}

/// Logs a line when it is dropped.
struct Held(&'static str);

impl Drop for Held {
    fn drop(&mut self) {
        log_line(&format!("{} is dropped", self.0));
    }
}

/// Ends the thread of `keep_posting`.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Wakers of the waiting tasks. A static without a destructor would be equally correct.
    static DOORBELL: RefCell<Vec<Waker>> = const { RefCell::new(Vec::new()) };
}

/// A robot with timers and tasks.
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct Robot {
    /// Number of runs of its timer, visible to the host.
    #[uproperty(edit_anywhere, default = 0)]
    beats: i32,
    /// Number of steps of its tasks. The plugin part contains this number, so only a rollback preserves it.
    steps: u32,
    /// Handle of the beating timer.
    beating: Option<TaskHandle>,
    /// Thread that posts until `IS_QUIET` is set. Returns the number of accepted posts.
    posting: Option<JoinHandle<u32>>,
}

#[uclass]
impl Robot {
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        if fixture::on!("starts-anew") {
            let held = Held("the timer of a red constructor");
            timer::every(this, Duration::from_secs(1), move |this| {
                let _held = &held;
                this.set_beats(this.beats() + 1);
            });
        }
        if fixture::on!("posts-anew") {
            post_to(this.as_obj(), |this| this.set_beats(this.beats() + 1)).unwrap_or_else(|error| panic!("{error}"));
        }
        Self { steps: 0, beating: None, posting: None }
    }

    /// Starts a timer with this period of game time.
    #[ufunction(blueprint_callable)]
    fn beat(&mut self, this: This<Self>, milliseconds: u32) {
        let held = Held("the beating timer");
        self.beating = Some(timer::every(this, Duration::from_millis(milliseconds.into()), move |this| {
            let _held = &held;
            this.set_beats(this.beats() + 1);
            log_line(&format!("{} beats for the {}. time at {} ms", this.name(), this.beats(), now()));
        }));
    }

    /// Stops the timer. Returns `false` if no timer was running.
    #[ufunction(blueprint_callable)]
    fn rest(&mut self) -> bool {
        let beating = self.beating.take().filter(|beating| !beating.is_finished());
        beating.inspect(|beating| beating.cancel()).is_some_and(TaskHandle::is_finished)
    }

    /// Walks: starts a task that takes a step alternately after one tick and after half a second of game time.
    #[ufunction(blueprint_callable)]
    fn walk(&mut self, this: This<Self>) {
        let (me, held) = (this.as_obj(), Held("the walking task"));
        task::spawn(this, async move {
            let _held = held;
            while me.with_part(|robot, this| robot.step(this)).is_ok() {
                next_tick().await;
                me.with_part(|robot, this| robot.step(this))?;
                delay(Duration::from_millis(500)).await;
            }
            Ok(())
        });
    }

    fn step(&mut self, this: This<Self>) {
        self.steps += 1;
        log_line(&format!("{} takes step {} at {} ms", this.name(), self.steps, now()));
    }

    /// Schedules three timers and a task in an order that differs from the due order.
    #[ufunction(blueprint_callable)]
    fn line_up(&self, this: This<Self>) {
        post(|| log_line("posted first")).unwrap_or_else(|error| panic!("{error}"));
        task::spawn(Module, async {
            log_line("task");
            task::spawn(Module, async { log_line("task of the task, a tick later") });
            timer::after(Module, Duration::ZERO, |_module| log_line("timer of the task, a tick later"));
        });
        for (name, milliseconds) in [("due second", 20), ("due first", 10), ("due second too", 20)] {
            timer::after(this, Duration::from_millis(milliseconds), move |_this| log_line(name));
        }
        post(|| log_line("posted second")).unwrap_or_else(|error| panic!("{error}"));
    }

    /// Panics in a task, a timer and a posted closure.
    #[ufunction(blueprint_callable)]
    fn stumble(&self, this: This<Self>) {
        let held = Held("the panicking task");
        task::spawn(this, async move {
            assert!(held.0.is_empty(), "broken on purpose: task");
        });
        timer::every(this, Duration::ZERO, |_this| panic!("broken on purpose: timer"));
        post(|| panic!("broken on purpose: closure")).unwrap_or_else(|error| panic!("{error}"));
        let error = CallError::other("it has no legs");
        task::spawn(this, async move { Err::<(), _>(error) });
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("broken on purpose: drop");
            }
        }
        let bomb = Bomb;
        timer::after(this, Duration::ZERO, move |_this| drop(bomb));
    }

    /// Destroys the robot in its own timer and logs a line afterwards.
    #[ufunction(blueprint_callable)]
    fn end_in_timer(&self, this: This<Self>) {
        let held = Held("the timer that ends its object");
        timer::every(this, Duration::ZERO, move |this| {
            let _held = &held;
            this.destroy().unwrap_or_else(|error| panic!("{error}"));
            log_line(&format!("{} has ended itself", this.handle()));
        });
    }

    /// Starts two tasks that wake each other `rounds` times.
    #[ufunction(blueprint_callable)]
    fn play_ball(&self, rounds: u32) {
        for player in ["ping", "pong"] {
            task::spawn(Module, async move {
                for round in 0..rounds {
                    log_line(&format!("{player} {round}"));
                    DOORBELL.with_borrow_mut(|bell| bell.drain(..).for_each(Waker::wake));
                    let mut is_back = false;
                    poll_fn(|context| {
                        if std::mem::replace(&mut is_back, true) {
                            return Poll::Ready(());
                        }
                        DOORBELL.with_borrow_mut(|bell| bell.push(context.waker().clone()));
                        Poll::Pending
                    })
                    .await;
                }
                DOORBELL.with_borrow_mut(|bell| bell.drain(..).for_each(Waker::wake));
            });
        }
    }

    /// Starts a task that polls a delay only after the delay's own waker was called, as combinators of many futures do.
    #[ufunction(blueprint_callable)]
    fn combine(&self) {
        struct Flag(AtomicBool, Mutex<Option<Waker>>);
        impl Wake for Flag {
            fn wake(self: Arc<Self>) {
                self.0.store(true, Ordering::Release);
                let outer = self.1.lock().unwrap_or_else(PoisonError::into_inner).take();
                outer.into_iter().for_each(Waker::wake);
            }
        }
        task::spawn(Module, async {
            let flag = Arc::new(Flag(AtomicBool::new(true), Mutex::new(None)));
            let inner = Waker::from(Arc::clone(&flag));
            let mut delay = std::pin::pin!(delay(Duration::from_millis(30)));
            poll_fn(move |context| {
                *flag.1.lock().unwrap_or_else(PoisonError::into_inner) = Some(context.waker().clone());
                if !flag.0.swap(false, Ordering::AcqRel) {
                    return Poll::Pending;
                }
                log_line(&format!("polled at {} ms", now()));
                delay.as_mut().poll(&mut Context::from_waker(&inner))
            })
            .await;
            log_line(&format!("combined at {} ms", now()));
        });
    }

    /// Starts a task that a thread of the module wakes; the thread keeps the waker until the file `until` exists.
    #[ufunction(blueprint_callable)]
    fn wait_for_thread(&self, this: This<Self>, until: String) {
        let waiting = async move {
            let mut until = Some(PathBuf::from(until));
            poll_fn(|context| {
                let Some(until) = until.take() else { return Poll::Ready(()) };
                let waker = context.waker().clone();
                let hold = move || {
                    waker.wake_by_ref();
                    while !until.exists() {
                        std::thread::sleep(Duration::from_millis(5));
                    }
                    drop(waker);
                };
                let thread = std::thread::Builder::new().name("waker holder".to_owned()).spawn(hold);
                thread.map(drop).unwrap_or_else(|error| panic!("{error}"));
                Poll::Pending
            })
            .await;
            log_line("woken by a thread");
        };
        task::spawn(this, waiting);
    }

    /// Posts to this object from new threads, `times` closures per thread, and joins the threads.
    #[ufunction(blueprint_callable)]
    fn post_from_threads(&self, this: This<Self>, threads: u32, times: u32) {
        let me = this.as_obj();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    for _ in 0..times {
                        post_to(me, |this| this.set_beats(this.beats() + 1)).unwrap_or_else(|error| panic!("{error}"));
                    }
                });
            }
        });
    }

    /// Starts a thread that posts to this object each millisecond, until `stop_posting` is called.
    #[ufunction(blueprint_callable)]
    fn keep_posting(&mut self, this: This<Self>) {
        let me = this.as_obj();
        self.posting = Some(std::thread::spawn(move || {
            let mut accepted = 0;
            while !IS_QUIET.load(Ordering::Acquire) {
                accepted += u32::from(post_to(me, |this| this.set_beats(this.beats() + 1)).is_ok());
                std::thread::sleep(Duration::from_millis(1));
            }
            accepted
        }));
    }

    /// Ends the thread of `keep_posting`. Returns the number of accepted posts.
    #[ufunction(blueprint_callable)]
    fn stop_posting(&mut self) -> u32 {
        IS_QUIET.store(true, Ordering::Release);
        self.posting.take().map_or(0, |thread| thread.join().unwrap_or_else(|_| panic!("the thread panicked")))
    }

    /// Returns the errors of calls from a new thread and from outside a task.
    #[ufunction(blueprint_callable)]
    fn refusals(&self, this: This<Self>) -> String {
        let me = this.as_obj();
        let off_thread = move || {
            [
                task::try_spawn(me, async {}).err(),
                timer::try_after(me, Duration::ZERO, |_this| ()).err(),
                me.with(|this| this.name()).err(),
            ]
        };
        let refused = std::thread::spawn(off_thread).join().unwrap_or_else(|_| panic!("the thread panicked"));
        let outside = me.with(|this| this.name()).err();
        let gone = task::try_spawn(Obj::<Self>::none(), async {}).map(|task| task.is_finished());
        let lines = refused.into_iter().chain([outside]).flatten().map(|error| error.to_string());
        lines.chain([format!("none: {gone:?}")]).collect::<Vec<_>>().join("\n")
    }

    /// Starts a task whose future requests more work when it is dropped.
    #[ufunction(blueprint_callable)]
    fn cling(&self, this: This<Self>) {
        struct Clinging(Obj<Robot>);
        impl Drop for Clinging {
            fn drop(&mut self) {
                let refused = task::try_spawn(Module, async { log_line("it clung on") }).err();
                let entered = self.0.with(|this| this.set_beats(-1)).err();
                for error in [refused, entered].into_iter().flatten() {
                    log_line(&format!("refused: {error}"));
                }
            }
        }
        let clinging = Clinging(this.as_obj());
        task::spawn(this, async move {
            delay(Duration::MAX).await;
            drop(clinging);
        });
    }

    /// Returns the number of steps.
    #[ufunction(blueprint_pure)]
    fn steps(&self) -> u32 {
        self.steps
    }

    /// Counts one beat per tick and returns the total.
    #[ufunction(blueprint_callable)]
    async fn count(this: Obj<Self>, beats: u32) -> i32 {
        let mut counted = 0;
        for _ in 0..beats {
            next_tick().await;
            counted = this
                .with(|this| {
                    this.set_beats(this.beats() + 1);
                    this.beats()
                })
                .unwrap_or_default();
        }
        counted
    }

    /// Brings an item to a location after a delay, or returns an error.
    #[ufunction(blueprint_callable)]
    async fn bring(this: Obj<Self>, what: String, to: String) -> Result<String, String> {
        delay(Duration::from_millis(100)).await;
        match to.as_str() {
            "nowhere" => Err(format!("no way to {to}")),
            "the edge" => panic!("broken on purpose: async function"),
            "the void" => {
                let _destroyed = this.with(|this| this.destroy());
                if what.is_empty() { Ok(what) } else { Err(format!("{what} is lost")) }
            }
            _ => Ok(format!("{} brought {what} to {to}", this.with(|this| this.name()).unwrap_or_default())),
        }
    }

    /// Sleeps for one tick.
    #[ufunction(blueprint_callable)]
    async fn nap(this: Obj<Self>) {
        next_tick().await;
        log_line(&format!("{} has slept", this.with(|this| this.name()).unwrap_or_default()));
    }

    /// Opens a door with a key, or returns an error.
    #[ufunction(blueprint_callable)]
    async fn unlock(_this: Obj<Self>, key: u32) -> Result<(), String> {
        next_tick().await;
        if key == 7 { Ok(()) } else { Err(format!("key {key} does not fit")) }
    }

    /// Starts one async function of each kind, from a method that borrows the plugin part.
    #[ufunction(blueprint_callable)]
    fn begin_all(&mut self, this: This<Self>) {
        let me = this.as_obj();
        this.count(2, (me, "counted"));
        this.bring("tea".to_owned(), "the roof".to_owned(), (me, "brought"));
        this.bring("tea".to_owned(), "nowhere".to_owned(), (me, "brought"));
        this.nap((me, "rested"));
        this.unlock(7, (me, "unlocked"));
        this.unlock(8, (me, "unlocked"));
        this.nap(());
        log_line("all have begun");
        self.steps += 1;
    }

    /// Receives the result of `count`.
    #[ufunction]
    fn counted(&mut self, value: i32) {
        self.steps += 1;
        log_line(&format!("counted {value}"));
    }

    /// Receives the result or the error of `bring`.
    #[ufunction]
    fn brought(&mut self, what: String, error: String) {
        log_line(&format!("brought {what:?}, error {error:?}"));
    }

    /// Receives the end of `nap` and starts another `nap` during the call.
    #[ufunction]
    fn rested(&mut self, this: This<Self>) {
        log_line("rested");
        this.nap(());
    }

    /// Receives the result or the error of `unlock`.
    #[ufunction]
    fn unlocked(&mut self, error: String) {
        log_line(&format!("unlocked, error {error:?}"));
    }

    /// Starts a timer of an object of any module. Each run counts a beat of this robot.
    #[ufunction(blueprint_callable)]
    fn accompany(&self, this: This<Self>, object: Obj<Object>) {
        let me = this.as_obj();
        timer::every(object, Duration::ZERO, move |object| {
            if let Ok(robot) = object.get(me) {
                robot.set_beats(robot.beats() + 1);
            }
        });
    }
}
