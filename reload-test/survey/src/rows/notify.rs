//! Watches a folder and receives its events. The watcher is dropped when the module ends. In the row `notify-leaked`, the watcher is left
//! in a static. The thread of the watcher ends shortly after the drop.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use crate::local::{self, Kept};

use notify::{Error, Event, RecommendedWatcher, RecursiveMode, Watcher as _};

type Events = Receiver<Result<Event, Error>>;

static WATCH: Kept<(RecommendedWatcher, Events, PathBuf)> = Kept::new();

pub(crate) fn begin() {
    let folder = local::path("watched");
    WATCH.keep(fs::create_dir_all(&folder).map_err(Error::io).and_then(|()| {
        let (sender, events) = mpsc::channel();
        let mut watch = notify::recommended_watcher(sender)?;
        watch.watch(&folder, RecursiveMode::NonRecursive)?;
        Ok((watch, events, folder))
    }));
}

pub(crate) fn work() -> String {
    WATCH.work(|(_watch, events, folder)| {
        let name = local::path("changed");
        let file = folder.join(name.file_name().unwrap_or_default());
        fs::write(&file, "a change")?;
        loop {
            let event = events.recv_timeout(Duration::from_secs(10)).map_err(io::Error::other)?;
            if event.map_err(io::Error::other)?.paths.contains(&file) {
                return Ok::<_, io::Error>(true);
            }
        }
    })
}

pub(crate) fn end() {
    if cfg!(feature = "notify") {
        drop(WATCH.take());
    }
}
