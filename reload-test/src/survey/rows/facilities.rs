//! Planted rows: what the system, the C library, C and C++ offer to leave something behind with.

use super::{Fate, Row, System, kept, left, row};

/// In the order of the page.
pub(super) const FACILITIES: &[Row] = &[
    row("port", &[], "a fixed port, given up in `suspend`", Fate::Unmapped),
    Row {
        kept_by: &["thread \"ctrl-c\""],
        grows: kept(1700.0, 1.0, 0.0, 1.0),
        ..row("ctrlc", &["ctrlc"], "a handler for Ctrl-C, which has no end", Fate::Parked)
    },
    Row {
        needs: &[System::IoUring],
        ..row("io-uring", &["io-uring"], "a ring for the length of a call", Fate::Unmapped)
    },
    Row {
        needs: &[System::IoUring],
        evicted: Fate::Parked,
        note: "The answers are in memory that the crate maps and nobody else reads, so the ring may have requests in \
               flight for all that is known. Its file is not closed: the image is not gone.",
        kept_by: &["io_uring that may have requests in flight"],
        grows: kept(1500.0, 0.0, 1.0, 0.0),
        grows_evicted: kept(1500.0, 0.0, 1.0, 0.0),
        ..row("io-uring-leaked", &["io-uring"], "a ring that nobody closes, all requests answered", Fate::Parked)
    },
    Row {
        needs: &[System::IoUring],
        evicted: Fate::Parked,
        kept_by: &["io_uring with requests in flight"],
        grows: kept(1600.0, 0.0, 3.0, 0.0),
        grows_evicted: kept(1600.0, 0.0, 3.0, 0.0),
        ..row("io-uring-in-flight", &["io-uring"], "a ring that nobody closes, with a request in flight", Fate::Parked)
    },
    Row {
        needs: &[System::Gomp],
        ..row("gomp", &[], "a loop of OpenMP in C; libgomp comes with the plugin", Fate::Unmapped)
    },
    Row {
        needs: &[System::Cpp],
        evicted: Fate::Parked,
        note: "libstdc++, which comes along, starts the thread, so nobody is told of it. Link it into the plugin.",
        kept_by: &["std::thread::_M_start_thread of libstdc++"],
        grows: kept(1500.0, 0.0, 0.0, 0.0),
        grows_evicted: kept(1500.0, 0.0, 0.0, 0.0),
        ..row("cpp-threads", &[], "C++ with a thread that is joined", Fate::Parked)
    },
    Row {
        needs: &[System::Cpp],
        ..row("cpp-threads-static", &[], "the same, libstdc++ linked into the plugin", Fate::Unmapped)
    },
    Row { needs: &[System::Cpp], ..row("cpp-statics", &[], "C++ with statics that have destructors", Fate::Unmapped) },
    Row { needs: &[System::Cpp], ..row("cpp-exceptions", &[], "C++ that throws and catches", Fate::Unmapped) },
    Row {
        needs: &[System::Cpp],
        ..row("cpp-tls", &[], "C++ with a thread-local that has a destructor", Fate::Unmapped)
    },
    // What POSIX has to raise signals and to call back.
    row("posix-itimer", &[], "`setitimer` that strikes all the time, left running", Fate::Unmapped),
    row("posix-itimer-ended", &[], "the same, stopped at the end", Fate::Unmapped),
    Row { strikes_after_ms: 1200, ..row("posix-alarm", &[], "`alarm` for a second, left to strike", Fate::Unmapped) },
    row("posix-timer", &[], "`timer_create` with a signal, left running", Fate::Unmapped),
    row("posix-timer-ended", &[], "the same, deleted at the end", Fate::Unmapped),
    row("posix-timer-thread", &[], "`timer_create` with a function, left running", Fate::Unmapped),
    row("posix-timer-thread-ended", &[], "the same, deleted at the end", Fate::Unmapped),
    Row {
        grows: left(0.0, 2.0),
        ..row("posix-sigio", &[], "a socket that raises SIGIO, left open; the next writes to it", Fate::Unmapped)
    },
    row("posix-mq-notify", &[], "`mq_notify` with a function, left waiting; the next takes the queue", Fate::Unmapped),
    row("posix-mq-notify-ended", &[], "the same, closed at the end", Fate::Unmapped),
    Row {
        strikes_after_ms: 150,
        ..row(
            "posix-aio",
            &[],
            "`aio_read` with a function, answered a tenth of a second after the end",
            Fate::Unmapped,
        )
    },
    Row {
        // The C library has twenty threads for them.
        most: 16,
        evicted: Fate::Parked,
        kept_by: &["asynchronous input or output that is not done"],
        grows: kept(1700.0, 1.0, 2.0, 0.0),
        grows_evicted: kept(1700.0, 1.0, 2.0, 0.0),
        ..row("posix-aio-unanswered", &[], "`aio_read` with a function, never answered", Fate::Parked)
    },
    row("posix-altstack", &[], "a signal stack that ends with a thread-local", Fate::Unmapped),
    row("posix-siglongjmp", &[], "a handler that leaves by `siglongjmp`", Fate::Unmapped),
    row("onstack-frame", &[], "a handler with 8 KiB of stack and without `SA_ONSTACK`", Fate::Unmapped),
    Row {
        strikes_after_ms: 100,
        note: "The host sets `reap_children`. Without it each leaves a zombie, which the report of the unload names.",
        ..row(
            "command-not-waited",
            &[],
            "a process that is not waited for; the next checks for zombies",
            Fate::Unmapped,
        )
    },
    row("command-waited", &[], "a process that is waited for", Fate::Unmapped),
    // What puts addresses of its own into tables of the C library.
    row("posix-putenv", &["libc"], "a string of its own in the environment, read by the next", Fate::Unmapped),
    row("posix-openlog", &["libc"], "a name of its own for the system's log, which the next writes to", Fate::Unmapped),
    row("posix-setvbuf", &["libc"], "a buffer of its own for standard error, which the next writes to", Fate::Unmapped),
    Row {
        grows: left(10.0, 0.0),
        ..row(
            "posix-fopencookie",
            &["libc"],
            "a stream of its own that nobody closes; the next flushes all",
            Fate::Unmapped,
        )
    },
    row("register-frame", &["libc"], "an unwind table that nobody takes back; the next panics", Fate::Unmapped),
];
