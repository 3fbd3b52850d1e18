//! Converts the holders of an image, such as running threads and registered handlers, to the blockers of an unload report.

use alcedo_sys::process::describe_thread;
use alcedo_sys::{Holder, HolderKind};

use crate::lease::{Blocker, LeaseKind};

/// Converts holders to blockers. Lists each running thread once, without its thread-locals, because an exiting thread drops its
/// thread-locals.
pub(super) fn blockers_of(holders: Vec<Holder>) -> Vec<Blocker> {
    let threads: Vec<_> = holders.iter().filter(|holder| holder.kind == HolderKind::Thread).cloned().collect();
    let is_of_a_thread = |holder: &Holder| threads.iter().any(|thread| thread.thread == holder.thread);
    let listed = holders.into_iter().filter(|holder| holder.kind != HolderKind::ThreadLocal || !is_of_a_thread(holder));
    listed.map(blocker).collect()
}

fn blocker(holder: Holder) -> Blocker {
    let kind = match holder.kind {
        HolderKind::Thread => LeaseKind::Thread,
        HolderKind::ThreadLocal => LeaseKind::ThreadLocal,
        HolderKind::Stream => LeaseKind::Stream,
        HolderKind::Reference => LeaseKind::Reference,
        HolderKind::Ring => LeaseKind::Ring,
        HolderKind::SignalStack => LeaseKind::SignalStack,
        HolderKind::Request => LeaseKind::Request,
        _ => LeaseKind::Handler,
    };
    let own = ["thread ", "io_uring ", "the handler "].iter().find_map(|kind| holder.name.strip_prefix(kind));
    let owner = own.map(str::to_owned).unwrap_or(holder.name);
    let thread = if holder.thread.is_empty() { describe_thread(None, None) } else { holder.thread };
    Blocker { kind, owner, thread, age: holder.since.elapsed(), place: None }
}

/// Formats the blockers of an image as the reason why the image stays mapped.
pub(crate) fn kept_by(blockers: &[Blocker]) -> String {
    let words = blockers.iter().map(Blocker::lasting);
    let words: Vec<_> = words.chain(hints(blockers).into_iter().map(str::to_owned)).collect();
    format!("kept by {}", words.join("; "))
}

/// Prefixes of the names that known crates set for their threads, each with help on how to end these threads. Only prefixes are compared,
/// because the operating system truncates thread names.
const THREADS_OF_CRATES: [(&str, &str); 3] = [
    ("\"tokio-r", "drop its tokio runtime in `exit`, with the servers and clients that run on it"),
    ("\"actix-", "stop its actix server in `exit` (`ServerHandle::stop`), and wait for the end of its `System`"),
    ("\"reqwest-intern", "drop its `reqwest::blocking::Client` in `exit`"),
];

/// Returns the help for running threads of known crates.
pub(super) fn hints(blockers: &[Blocker]) -> Vec<&'static str> {
    let has = |start: &str| {
        blockers.iter().any(|blocker| blocker.kind == LeaseKind::Thread && blocker.owner.starts_with(start))
    };
    THREADS_OF_CRATES.iter().filter(|(start, _)| has(start)).map(|(_, help)| *help).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use alcedo_sys::{Holder, HolderKind};

    use super::blockers_of;
    use crate::lease::LeaseKind;

    #[test]
    fn only_threads_of_known_crates_have_help() {
        let kept_by = |threads: &[&str]| {
            let holder = |name: &&str| Holder {
                kind: HolderKind::Thread,
                name: format!("thread {name}"),
                thread: "(7)".to_owned(),
                since: Instant::now(),
                address: None,
            };
            super::kept_by(&blockers_of(threads.iter().map(holder).collect()))
        };
        const TOKIO: &str = "; drop its tokio runtime in `exit`, with the servers and clients that run on it";
        for name in ["\"tokio-runtime-worker\"", "\"tokio-rt-worker\"", "\"tokio-runtime-w\""] {
            assert!(kept_by(&["\"other\"", name, name]).ends_with(&format!("thread (7){TOKIO}")), "{name}");
        }
        assert!(kept_by(&["\"actix-server worker 0\""]).contains("; stop its actix server in `exit`"));
        for name in ["without a name", "\"my-tokio-pool\"", "\"worker\"", "tokio-rt-worker"] {
            assert!(!kept_by(&[name]).contains("`exit`"), "{name}");
        }
    }

    #[test]
    fn threads_are_reported_once_and_thread_locals_only_on_other_threads() {
        let holder = |kind, name: &str, thread: &str| Holder {
            kind,
            name: name.to_owned(),
            thread: thread.to_owned(),
            since: Instant::now(),
            address: None,
        };
        let blockers = blockers_of(vec![
            holder(HolderKind::ThreadLocal, "2 thread-local destructors", "\"exporter\" (7)"),
            holder(HolderKind::Thread, "thread \"exporter\"", "\"exporter\" (7)"),
            holder(HolderKind::ThreadLocal, "a thread-local destructor", "\"pool\" (8)"),
        ]);
        let words: Vec<_> = blockers.iter().map(|blocker| (blocker.kind, blocker.owner.as_str())).collect();
        let expected = [(LeaseKind::Thread, "\"exporter\""), (LeaseKind::ThreadLocal, "a thread-local destructor")];
        assert_eq!(words, expected);
    }
}
