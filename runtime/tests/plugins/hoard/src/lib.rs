//! A cave full of treasures: values in host memory that a plugin owns, and every way there is to let go of them. The half of
//! a cave ends as it was told to, so that hosts can be tested with it.

#![forbid(unsafe_code)]

mod fence;

use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use alcedo_plugin_api::prelude::*;
use alcedo_plugin_api::task::post;

module! { name: "hoard" }

/// How long a finalizer waits for the game thread to answer.
const PATIENCE: Duration = Duration::from_secs(60);

fn tell(line: &str) {
    tracing::info!(target: "hoard", "{line}");
}

/// Something of worth, in host memory.
enum Treasure {
    Coins(UArray<f64>),
    Ledger(UMap<String, u32>),
    Jewel(UString),
}

/// What the half of a cave does when it ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Rests,
    Panics,
    AsksTheGameThread,
}

/// Has treasures.
#[uclass(package = "Game", blueprintable)]
pub struct Cave {
    treasures: Vec<Treasure>,
    /// Other caves that it keeps from being collected.
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

    /// Which build this is.
    #[ufunction]
    fn build(&self) -> u32 {
        if fixture::on!("second") { 2 } else { 1 }
    }

    /// Gathers so many treasures of each sort.
    #[ufunction]
    fn gather(&mut self, count: u32) {
        for number in 0..count {
            let coins = UArray::of([f64::from(number), 1.0]).expect("the host makes it");
            let ledger = UMap::of([("coins", number)]).expect("the host makes it");
            let jewel = UString::of("ruby").expect("the host makes it");
            self.treasures.extend([Treasure::Coins(coins), Treasure::Ledger(ledger), Treasure::Jewel(jewel)]);
        }
    }

    /// What all of it is worth: every treasure is looked at.
    #[ufunction]
    fn worth(&self, this: This<Self>) -> f64 {
        let worth = |treasure: &Treasure| match treasure {
            Treasure::Coins(coins) => this.open(coins).to_vec().iter().sum::<f64>(),
            Treasure::Ledger(ledger) => this.open(ledger).get("coins").map_or(0.0, f64::from),
            Treasure::Jewel(jewel) => this.open(jewel).text().len() as f64,
        };
        self.treasures.iter().map(worth).sum()
    }

    /// Lets go of everything, here.
    #[ufunction]
    fn let_go(&mut self) {
        self.treasures.clear();
        self.known = None;
    }

    /// Lets go of everything on so many threads at once.
    #[ufunction]
    fn scatter(&mut self, threads: u32) {
        let share = self.treasures.len().div_ceil(threads.max(1) as usize);
        let mut running = Vec::new();
        while !self.treasures.is_empty() {
            let rest = self.treasures.split_off(self.treasures.len().min(share));
            let share = std::mem::replace(&mut self.treasures, rest);
            running.push(std::thread::spawn(move || drop(share)));
        }
        running.into_iter().for_each(|thread| thread.join().expect("it only drops"));
    }

    /// Hides everything with a thread, which lets go of it when the file appears.
    #[ufunction]
    fn hide(&mut self, until: String) {
        let treasures = std::mem::take(&mut self.treasures);
        let hidden = std::thread::Builder::new().name("hideout".to_owned()).spawn(move || {
            while !Path::new(&until).exists() {
                std::thread::sleep(Duration::from_millis(1));
            }
            drop(treasures);
        });
        drop(hidden.expect("the system has a thread left"));
    }

    /// Forgets one treasure: it is never let go of.
    #[ufunction]
    fn forget(&mut self) {
        std::mem::forget(self.treasures.pop());
    }

    /// Keeps another cave from being collected.
    #[ufunction]
    fn know(&mut self, other: Obj<Cave>) {
        self.known = Some(UArray::of([other]).expect("the host makes it"));
    }

    /// Its half will panic when it ends.
    #[ufunction]
    fn will_panic(&mut self) {
        self.last = Last::Panics;
    }

    /// Its half will ask the game thread for something when it ends, and wait for the answer.
    #[ufunction]
    fn will_ask(&mut self) {
        self.last = Last::AsksTheGameThread;
    }
}

impl Drop for Cave {
    fn drop(&mut self) {
        match self.last {
            Last::Rests => tell("the cave ends"),
            Last::Panics => panic!("the cave collapses"),
            Last::AsksTheGameThread => {
                let (answer, answered) = channel();
                let asked = post(move || answer.send(()).expect("it is waited for"));
                let told = asked.map_err(|error| error.to_string());
                let told = told.and_then(|()| answered.recv_timeout(PATIENCE).map_err(|error| error.to_string()));
                tell(
                    &told.map_or_else(|error| format!("no answer: {error}"), |()| "the game thread answers".to_owned()),
                );
            }
        }
    }
}

/// A cave with somebody in it.
#[uclass(package = "Game", base = Cave, blueprintable)]
pub struct Lair {
    /// Who lives there, in host memory as well.
    dragon: Option<UString>,
}

#[uclass]
impl Lair {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { dragon: None }
    }

    /// Somebody moves in.
    #[ufunction]
    fn inhabit(&mut self, name: String) {
        self.dragon = Some(UString::of(&name).expect("the host makes it"));
    }
}

impl Drop for Lair {
    fn drop(&mut self) {
        tell("the lair ends");
    }
}
