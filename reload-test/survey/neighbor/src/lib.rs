//! A plugin that comes when a surveyed one has gone. It takes the very pages that have become free and fills them with
//! a pattern, opens files, and then works as plugins do: with memory, threads, signals, panics and files. Whatever the
//! one before has left behind, and whatever still believes that it is there, meets this plugin instead of nobody.

use alcedo_plugin_api::prelude::*;

mod chores;
mod descriptors;
mod pages;
mod signals;

use std::sync::{Mutex, PoisonError};

use descriptors::Descriptors;
use pages::Pages;

module! { name: "neighbor", exit: ended }

/// What it lives in between two reloads.
struct Home {
    pages: Vec<Pages>,
    blocks: Vec<Vec<u64>>,
    descriptors: Descriptors,
}

static HOME: Mutex<Option<Home>> = Mutex::new(None);

/// Moves in. `free` has a line per range of addresses that has become free: `7f0000000000-7f0000001000 what was there`.
#[zcall(ex = "neighbor.settle")]
fn settle(free: String) -> String {
    let pages = pages::take(&free);
    match Descriptors::open() {
        Ok(descriptors) => {
            let home = Home { pages, blocks: chores::blocks(), descriptors };
            *HOME.lock().unwrap_or_else(PoisonError::into_inner) = Some(home);
            signals::tell_the_log();
            "ok".to_owned()
        }
        Err(error) => error,
    }
}

/// Does a little of everything, and tells what went wrong.
#[zcall(ex = "neighbor.work")]
fn work() -> String {
    let chores = [
        ("pages", chores::pages as fn() -> Result<(), String>),
        ("memory of C", chores::memory_of_c),
        ("threads", chores::threads),
        ("panics", chores::panics),
        ("the environment", chores::environment),
        ("the output of C", chores::output_of_c),
        ("random numbers of C", chores::random_of_c),
        ("a fork", chores::fork),
        ("signals", signals::arrive),
    ];
    for (what, chore) in chores {
        if let Err(error) = chore() {
            return format!("{what}: {error}");
        }
    }
    "ok".to_owned()
}

/// Looks whether everything is as it was left.
#[zcall(ex = "neighbor.check")]
fn check() -> String {
    let home = HOME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(home) = &*home else { return "it has not moved in".to_owned() };
    let pages = home.pages.iter().try_for_each(Pages::check);
    let found = pages.and_then(|()| chores::check_blocks(&home.blocks)).and_then(|()| home.descriptors.check());
    found.err().unwrap_or_else(|| "ok".to_owned())
}

fn ended() {
    HOME.lock().unwrap_or_else(PoisonError::into_inner).take();
}
