//! The neighbor, a plugin that is loaded after a surveyed plugin was unloaded. The neighbor maps exactly the freed pages, fills these pages
//! with a pattern, and opens files. Then the neighbor uses memory, threads, signals, panics and files like a usual plugin. If late effects
//! of the unloaded plugin damage this state, the neighbor detects the damage.

use alcedo_plugin_api::prelude::*;

mod chores;
mod descriptors;
mod pages;
mod signals;

use std::sync::{Mutex, PoisonError};

use descriptors::Descriptors;
use pages::Pages;

module! { name: "neighbor", exit: ended }

/// State between two calls of the neighbor.
struct Resources {
    pages: Vec<Pages>,
    blocks: Vec<Vec<u64>>,
    descriptors: Descriptors,
}

static RESOURCES: Mutex<Option<Resources>> = Mutex::new(None);

/// Maps the freed pages. `free` contains a line per freed address range: `7f0000000000-7f0000001000 former content`.
#[zcall(ex = "neighbor.reuse")]
fn reuse(free: String) -> String {
    let pages = pages::take(&free);
    match Descriptors::open() {
        Ok(descriptors) => {
            let resources = Resources { pages, blocks: chores::blocks(), descriptors };
            *RESOURCES.lock().unwrap_or_else(PoisonError::into_inner) = Some(resources);
            signals::write_to_log();
            "ok".to_owned()
        }
        Err(error) => error,
    }
}

/// Performs each operation of `chores` once. Returns the first error, or `ok`.
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

/// Checks that pages, descriptors and the remaining resources are unchanged.
#[zcall(ex = "neighbor.check")]
fn check() -> String {
    let resources = RESOURCES.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(resources) = &*resources else { return "it has not moved in".to_owned() };
    let pages = resources.pages.iter().try_for_each(Pages::check);
    let found =
        pages.and_then(|()| chores::check_blocks(&resources.blocks)).and_then(|()| resources.descriptors.check());
    found.err().unwrap_or_else(|| "ok".to_owned())
}

fn ended() {
    RESOURCES.lock().unwrap_or_else(PoisonError::into_inner).take();
}
