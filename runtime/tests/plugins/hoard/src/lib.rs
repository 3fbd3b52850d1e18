//! Values in host memory that a plugin owns and drops in every possible way. Tests select how the finalizer of a cave acts.

#![forbid(unsafe_code)]

mod fence;

use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use alcedo_plugin_api::prelude::*;
use alcedo_plugin_api::task::post;

module! { name: "hoard" }

/// Maximum time for which a finalizer waits for a reply from the game thread.
const PATIENCE: Duration = Duration::from_secs(60);

fn log_line(line: &str) {
    tracing::info!(target: "hoard", "{line}");
}

/// Value in host memory.
enum Treasure {
    Coins(UArray<f64>),
    Ledger(UMap<String, u32>),
    Jewel(UString),
}

/// Action of a cave's finalizer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Rests,
    Panics,
    QueriesGameThread,
}

/// Object that owns treasures.
#[uclass(package = "Game", blueprintable)]
pub struct Cave {
    treasures: Vec<Treasure>,
    /// Caves that this cave keeps alive.
    known: Option<UArray<Obj<Cave>>>,
    last: Last,
}

#[uclass]
impl Cave {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        assert!(!fixture::on!("failing"), "this build does not come up");
        Self { treasures: Vec::new(), known: None, last: Last::Rests }
    }

    /// Returns the number of this build.
    #[ufunction]
    fn build(&self) -> u32 {
        if fixture::on!("second") { 2 } else { 1 }
    }

    /// Creates `count` treasures of each kind.
    #[ufunction]
    fn gather(&mut self, count: u32) {
        for number in 0..count {
            let coins = UArray::of([f64::from(number), 1.0]).expect("a host");
            let ledger = UMap::of([("coins", number)]).expect("a host");
            let jewel = UString::of("ruby").expect("a host");
            self.treasures.extend([Treasure::Coins(coins), Treasure::Ledger(ledger), Treasure::Jewel(jewel)]);
        }
    }

    /// Opens each treasure, and returns the sum of the treasures' worth.
    #[ufunction]
    fn worth(&self, this: This<Self>) -> f64 {
        let worth = |treasure: &Treasure| match treasure {
            Treasure::Coins(coins) => this.open(coins).to_vec().iter().sum::<f64>(),
            Treasure::Ledger(ledger) => this.open(ledger).get("coins").map_or(0.0, f64::from),
            Treasure::Jewel(jewel) => this.open(jewel).text().len() as f64,
        };
        self.treasures.iter().map(worth).sum()
    }

    /// Drops all values on the calling thread.
    #[ufunction]
    fn let_go(&mut self) {
        self.treasures.clear();
        self.known = None;
    }

    /// Drops all values on `threads` new threads.
    #[ufunction]
    fn scatter(&mut self, threads: u32) {
        let share = self.treasures.len().div_ceil(threads.max(1) as usize);
        let mut running = Vec::new();
        while !self.treasures.is_empty() {
            let rest = self.treasures.split_off(self.treasures.len().min(share));
            let share = std::mem::replace(&mut self.treasures, rest);
            running.push(std::thread::spawn(move || drop(share)));
        }
        running.into_iter().for_each(|thread| thread.join().expect("dropping does not panic"));
    }

    /// Moves all treasures to a thread, which drops them when the file exists.
    #[ufunction]
    fn hide(&mut self, until: String) {
        let treasures = std::mem::take(&mut self.treasures);
        let hidden = std::thread::Builder::new().name("hideout".to_owned()).spawn(move || {
            while !Path::new(&until).exists() {
                std::thread::sleep(Duration::from_millis(1));
            }
            drop(treasures);
        });
        drop(hidden.expect("a thread can be started"));
    }

    /// Leaks one treasure.
    #[ufunction]
    fn forget(&mut self) {
        std::mem::forget(self.treasures.pop());
    }

    /// Stores a reference to another cave, which keeps that cave alive.
    #[ufunction]
    fn keep_alive(&mut self, other: Obj<Cave>) {
        self.known = Some(UArray::of([other]).expect("a host"));
    }

    /// Makes the finalizer panic.
    #[ufunction]
    fn will_panic(&mut self) {
        self.last = Last::Panics;
    }

    /// Makes the finalizer post to the game thread. The finalizer then waits for the reply.
    #[ufunction]
    fn will_query(&mut self) {
        self.last = Last::QueriesGameThread;
    }
}

impl Drop for Cave {
    fn drop(&mut self) {
        match self.last {
            Last::Rests => log_line("the cave ends"),
            Last::Panics => panic!("the cave collapses"),
            Last::QueriesGameThread => {
                let (answer, answered) = channel();
                let posted = post(move || answer.send(()).expect("the receiver is alive"));
                let result = posted.map_err(|error| error.to_string());
                let result = result.and_then(|()| answered.recv_timeout(PATIENCE).map_err(|error| error.to_string()));
                log_line(
                    &result
                        .map_or_else(|error| format!("no answer: {error}"), |()| "the game thread answers".to_owned()),
                );
            }
        }
    }
}

/// Subclass with another owned value.
#[uclass(package = "Game", base = Cave, blueprintable)]
pub struct Lair {
    /// Name in host memory.
    dragon: Option<UString>,
}

#[uclass]
impl Lair {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { dragon: None }
    }

    /// Sets the name.
    #[ufunction]
    fn inhabit(&mut self, name: String) {
        self.dragon = Some(UString::of(&name).expect("a host"));
    }
}

impl Drop for Lair {
    fn drop(&mut self) {
        log_line("the lair ends");
    }
}
