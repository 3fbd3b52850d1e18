//! Stackful coroutines in safe code. Each function suspends a coroutine inside a scope that must be closed in order, and then reports the
//! outcome.
#![forbid(unsafe_code)]
#![expect(missing_docs, reason = "a fixture")]
#![expect(deprecated, reason = "yields below a host frame, without access to the generator's scope")]

use std::cell::{Cell, RefCell};
use std::fmt;
use std::time::Duration;

use alcedo_plugin_api::prelude::*;
use alcedo_plugin_api::task::{Module, post};
use corosensei::{Coroutine, ScopedCoroutine, Yielder};

module! { name: "coro" }

type Co = Coroutine<(), (), ()>;

thread_local! {
    /// Coroutines that are suspended and never resumed.
    static ASLEEP: RefCell<Vec<Co>> = const { RefCell::new(Vec::new()) };
    static LINES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static RUNAWAY: Cell<bool> = const { Cell::new(false) };
}

fn record(line: impl Into<String>) {
    LINES.with_borrow_mut(|lines| lines.push(line.into()));
}

fn record_result<T: fmt::Debug>(what: &str, result: Result<T, CallError>) {
    record(match result {
        Ok(value) => format!("{what}: {value:?}"),
        Err(error) => format!("{what}: {error}"),
    });
}

#[uclass(package = "Game", blueprintable)]
pub struct Sleeper {
    #[uproperty]
    numbers: UArray<u64>,
    #[uproperty(default = 77)]
    count: u64,
    words: Vec<u64>,
}

#[uclass]
impl Sleeper {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { words: vec![7; 64] }
    }

    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        if RUNAWAY.get() {
            let _spawned = this.spawn::<Sleeper>(Obj::none());
        }
    }

    /// Returns the notes that were recorded since the last call.
    #[ufunction(blueprint_callable)]
    fn take_notes() -> String {
        LINES.take().join("\n")
    }

    /// Tries to return from `lend` while a suspended coroutine still borrows the plugin part mutably.
    #[ufunction(blueprint_callable)]
    fn two_muts(me: Obj<Sleeper>) {
        let _posted = post(move || {
            let borrow = me.with_part(|part, this| {
                let mut co: Co = Coroutine::new(move |y: &Yielder<(), ()>, ()| {
                    record_result(
                        "with_part",
                        me.with_part(|part, _this| {
                            part.words = Vec::new();
                            y.suspend(());
                        }),
                    );
                });
                this.lend(part, |_this| co.resume(()));
                ASLEEP.with_borrow_mut(|all| all.push(co));
                part.words[5]
            });
            record_result("outside", borrow);
        });
    }

    /// Tries to use a frame-bound object after the end of its frame.
    #[ufunction(blueprint_callable)]
    fn sleep(me: Obj<Sleeper>) {
        let _posted = post(move || {
            let mut co: Co = Coroutine::new(move |y: &Yielder<(), ()>, ()| {
                record_result(
                    "with",
                    me.with(|this| {
                        y.suspend(());
                        this.set_count(0x4141);
                    }),
                );
                // Scopes on the parent stack close in order.
                record_result("on the parent stack", y.on_parent_stack(move || me.with(|this| this.count())));
                y.suspend(());
            });
            co.resume(());
            ASLEEP.with_borrow_mut(|all| all.push(co));
        });
    }

    /// Suspends a coroutine during a slice, a host call and a call of `lend`. The coroutine captures `this` of the surrounding frame.
    #[ufunction(blueprint_callable)]
    fn inside(&mut self, this: This<Self>) {
        this.numbers().assign(vec![7_u64; 64]);
        let numbers = this.numbers();
        let part = &mut *self;
        ScopedCoroutine::<(), (), (), _>::new(move |y: &Yielder<(), ()>, ()| {
            record(format!("a property: {}", this.count()));
            record_result(
                "a slice",
                numbers.try_with_slice(|slice| {
                    y.suspend(());
                    slice.len()
                }),
            );
            record_result(
                "a slice to write",
                numbers.try_with_slice_mut(|slice| {
                    y.suspend(());
                    slice.len()
                }),
            );
            record_result("a call", this.zcall::<(), u64>("uf:/Script/Game.Sleeper:nap", ()));
            this.lend(part, |_this| y.suspend(()));
        })
        .scope(|mut co| {
            let resumed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| co.resume(())));
            record(format!("a loan: {}", if resumed.is_err() { "refused" } else { "suspended" }));
        });
        record(format!("the part: {:?}", self.words.get(5)));
    }

    /// Suspends the running generator in the middle of a host call.
    #[ufunction(blueprint_callable)]
    fn nap(&mut self, this: This<Self>) -> u64 {
        if generator::is_generator() {
            generator::yield_with(1_u64);
        }
        self.words[0] = 0x4141;
        this.set_count(0x4242);
        self.words.len() as u64
    }

    /// Runs a generator that suspends inside a host frame. First a call by handle opens this frame, then a call by name.
    #[ufunction(blueprint_callable)]
    fn deep_sleep(me: Obj<Sleeper>) {
        let _posted = post(move || {
            let mut sleeping = generator::Gn::<()>::new(move || -> u64 {
                record_result(
                    "with in a generator",
                    me.with(|this| this.zcall::<(), u64>("uf:/Script/Game.Sleeper:nap", ())),
                );
                record_result("a call by name", zcall::<(), u64>("nm:/coro:Sleeper:static_nap", ()));
                0
            });
            record(format!("the generator: {:?}", sleeping.resume()));
            std::mem::forget(sleeping);
        });
    }

    /// Cancels a timer and a task on the stack of a coroutine. The drops of both are recorded.
    #[ufunction(blueprint_callable)]
    fn cancel_asleep() {
        struct Noted(&'static str);
        impl Drop for Noted {
            fn drop(&mut self) {
                record(format!("the {} is dropped", self.0));
            }
        }
        let (timer, task) = (Noted("timer"), Noted("task"));
        let timer = timer::after(Module, Duration::from_secs(1000), move |_module| record(timer.0));
        let task = task::spawn(Module, async move {
            task::delay(Duration::from_secs(1000)).await;
            drop(task);
        });
        let mut co: Co = Coroutine::new(move |_y: &Yielder<(), ()>, ()| {
            timer.cancel();
            task.cancel();
            record("canceled");
        });
        co.resume(());
    }

    #[ufunction(blueprint_callable)]
    fn add(one: u64, two: u64) -> u64 {
        one.wrapping_add(two)
    }

    #[ufunction(blueprint_callable)]
    fn call_host(&self) {
        record_result("the host", zcall::<(), ()>("ex:/host.act", ()));
    }

    #[ufunction(blueprint_callable)]
    fn recurse(&self, this: This<Self>) -> u64 {
        match this.zcall::<(), u64>("uf:/Script/Game.Sleeper:recurse", ()) {
            Ok(depth) => depth + 1,
            Err(error) => {
                record(error.to_string());
                1
            }
        }
    }

    #[ufunction(blueprint_callable)]
    fn run_away(on: bool) {
        RUNAWAY.set(on);
    }
}

#[zmethods]
impl Sleeper {
    #[zmethod]
    fn static_nap() -> u64 {
        if generator::is_generator() {
            generator::yield_with(1_u64);
        }
        3
    }
}
