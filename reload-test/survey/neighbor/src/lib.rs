//! A plugin that is loaded after a surveyed one is unloaded. It maps exactly the freed pages and fills them with a
//! pattern, opens files, and then works as plugins do: with memory, threads, signals, panics and files. Late effects of
//! the unloaded plugin damage this plugin and are detected.

use alcedo_plugin_api::prelude::*;

mod chores;
mod descriptors;
mod pages;
mod signals;

use std::sync::{Mutex, PoisonError};

use descriptors::Descriptors;
use pages::Pages;

module! { name: "neighbor", exit: ended }

/// State between two reloads.
struct Home {
    pages: Vec<Pages>,
    blocks: Vec<Vec<u64>>,
    descriptors: Descriptors,
}

static HOME: Mutex<Option<Home>> = Mutex::new(None);

/// Maps the freed pages. `free` has a line per freed address range: `7f0000000000-7f0000001000 former content`.
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

/// Performs each operation once, and returns the first error or `ok`.
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

/// Checks that all state is unchanged.
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
