//! Crates that people build plugins with. Where a crate has an end, it is there in two rows: ended, and leaked.

use super::{Fate, Row, System, kept, left, row};

/// In the order of the page.
pub(super) const CRATES: &[Row] = &[
    row("redb", &["redb"], "a database in a file, dropped at the end", Fate::Unmapped),
    Row {
        grows: left(0.0, 1.0),
        ..row("redb-leaked", &["redb"], "a database in a file that nobody drops", Fate::Unmapped)
    },
    Row {
        note: "It starts seven threads that wait for ever, and has no call that ends them; dropping the database \
               ends only the thread that flushes.",
        kept_by: &["thread \"sled-io-"],
        grows: kept(32000.0, 7.0, 0.0, 1.0),
        ..row("sled", &["sled"], "a database in a folder, dropped; its threads have no end", Fate::Parked)
    },
    Row {
        kept_by: &["thread \"log flusher\"", "thread \"sled-io-"],
        grows: kept(32000.0, 8.0, 1.0, 1.0),
        ..row("sled-leaked", &["sled"], "a database in a folder that nobody drops", Fate::Parked)
    },
    row("zstd", &["zstd"], "a frame that two threads of C compress, finished at the end", Fate::Unmapped),
    Row {
        evicted: Fate::Parked,
        note: "Its threads wait for a condition variable, whose destruction waits for them: no eviction.",
        kept_by: &["thread without a name"],
        grows: kept(5500.0, 2.0, 0.0, 0.0),
        grows_evicted: kept(5500.0, 2.0, 0.0, 0.0),
        ..row("zstd-leaked", &["zstd"], "a frame that two threads of C compress, left open", Fate::Parked)
    },
    row("git2", &["git2"], "a repository with a commit, dropped at the end", Fate::Unmapped),
    row("git2-leaked", &["git2"], "a repository that nobody drops", Fate::Unmapped),
    row("curl", &["curl"], "a handle without TLS, dropped at the end", Fate::Unmapped),
    Row {
        grows: left(0.0, 4.0),
        ..row("curl-leaked", &["curl"], "a handle without TLS that nobody drops", Fate::Unmapped)
    },
    Row {
        needs: &[System::OpenSsl],
        evicted: Fate::Parked,
        note: "The library of the system stays, and each generation registers functions with it that it cannot take \
               back. With OpenSSL linked into the plugin (`vendored`) nothing stays.",
        kept_by: &["CRYPTO_get_ex_new_index of libcrypto.so.3"],
        grows: kept(3000.0, 0.0, 0.0, 1.0),
        grows_evicted: kept(3000.0, 0.0, 0.0, 1.0),
        ..row(
            "openssl-system",
            &["openssl"],
            "a connector, with the system's OpenSSL, dropped at the end",
            Fate::Parked,
        )
    },
    Row {
        needs: &[System::OpenSsl],
        evicted: Fate::Parked,
        kept_by: &["CRYPTO_get_ex_new_index of libcrypto.so.3"],
        grows: kept(3000.0, 0.0, 2.0, 1.0),
        grows_evicted: kept(3000.0, 0.0, 2.0, 1.0),
        ..row(
            "openssl-system-leaked",
            &["openssl"],
            "a connector, with the system's OpenSSL, never dropped",
            Fate::Parked,
        )
    },
    row(
        "openssl-vendored",
        &["openssl"],
        "a connector, OpenSSL linked into the plugin, dropped at the end",
        Fate::Unmapped,
    ),
    Row {
        grows: left(0.0, 2.0),
        ..row(
            "openssl-vendored-leaked",
            &["openssl"],
            "a connector, OpenSSL linked into the plugin, that nobody drops",
            Fate::Unmapped,
        )
    },
    row("quinn", &["quinn", "rustls"], "two ends with TLS by rustls, closed at the end", Fate::Unmapped),
    Row {
        kept_by: &["thread \"tokio-rt-worker\""],
        grows: kept(9000.0, 1.0, 5.0, 1.0),
        ..row("quinn-leaked", &["quinn", "rustls"], "two ends with TLS by rustls that nobody closes", Fate::Parked)
    },
    row("reqwest", &["reqwest"], "the blocking client, dropped at the end", Fate::Unmapped),
    Row {
        kept_by: &["thread \"reqwest-internal-sync-runtime\""],
        grows: kept(5500.0, 1.0, 3.0, 1.0),
        ..row("reqwest-leaked", &["reqwest"], "the blocking client that nobody drops", Fate::Parked)
    },
    row("axum", &["axum"], "a server, stopped at the end", Fate::Unmapped),
    Row {
        kept_by: &["thread \"tokio-rt-worker\""],
        grows: kept(4200.0, 2.0, 4.0, 1.0),
        ..row("axum-leaked", &["axum"], "a server that nobody stops", Fate::Parked)
    },
    row("hyper", &["hyper"], "a client and a server, dropped at the end", Fate::Unmapped),
    Row {
        kept_by: &["thread \"tokio-rt-worker\""],
        grows: kept(3800.0, 2.0, 6.0, 1.0),
        ..row("hyper-leaked", &["hyper"], "a client and a server that nobody drops", Fate::Parked)
    },
    row(
        "jemalloc",
        &["tikv-jemallocator"],
        "as the allocator of the plugin, with `disable_initial_exec_tls`",
        Fate::Unmapped,
    ),
    row("mlua", &["mlua"], "a state of Lua, dropped at the end", Fate::Unmapped),
    row("mlua-leaked", &["mlua"], "a state of Lua that nobody drops", Fate::Unmapped),
    row(
        "tracing-appender",
        &["tracing-appender"],
        "a file that a thread writes, its guard dropped at the end",
        Fate::Unmapped,
    ),
    Row {
        kept_by: &["thread \"tracing-appender\""],
        grows: kept(8500.0, 1.0, 1.0, 1.0),
        ..row(
            "tracing-appender-leaked",
            &["tracing-appender"],
            "a file that a thread writes, its guard kept",
            Fate::Parked,
        )
    },
    row("metrics", &["metrics"], "a recorder for the process, which has no end", Fate::Unmapped),
    row("metrics-local", &["metrics"], "a recorder for the length of a call", Fate::Unmapped),
    row("prometheus", &["prometheus"], "the registry of the process, which has no end", Fate::Unmapped),
    row("prometheus-own", &["prometheus"], "a registry that is dropped", Fate::Unmapped),
    Row {
        note: "What it waits for events with lies in a static and has no end: three files per reload. The mode of \
               the terminal is put back at the end of each call; in `exit` it would be taken from the next \
               generation, which has begun by then.",
        grows: left(0.0, 3.0),
        ..row("crossterm", &["crossterm"], "raw mode and keys on a pty, put back after each call", Fate::Unmapped)
    },
    Row {
        most: 400,
        grows: left(0.0, 4.0),
        ..row("crossterm-leaked", &["crossterm"], "raw mode and keys on a pty, left so", Fate::Unmapped)
    },
    row("memmap2", &["memmap2"], "a file and memory, unmapped at the end", Fate::Unmapped),
    row("memmap2-leaked", &["memmap2"], "a file and memory that nobody unmaps", Fate::Unmapped),
    row("libloading", &["libloading"], "a library of the system, closed at the end", Fate::Unmapped),
    row("libloading-leaked", &["libloading"], "a library of the system that nobody closes", Fate::Unmapped),
    Row {
        note: "As with `smol`, three descriptors per reload stay, also with eviction.",
        kept_by: &["thread \"async-io\"", "thread \"async-std/runtime\"", "thread \"blocking-"],
        grows: kept(2800.0, 4.0, 3.0, 1.0),
        grows_evicted: left(0.0, 3.0),
        ..row("async-std", &["async-std"], "the global executor, which has no end", Fate::Parked)
    },
    Row {
        most: 40,
        note: "Each generation reads the symbols of the whole process anew, the host's too, which takes long with \
               a debug host: hence no more than 40 reloads.",
        grows: left(10.0, 0.0),
        ..row("backtrace", &["backtrace"], "a backtrace, its symbols kept", Fate::Unmapped)
    },
    Row {
        most: 40,
        ..row("backtrace-cleared", &["backtrace"], "a backtrace, its symbols let go at the end", Fate::Unmapped)
    },
    Row {
        backtrace: true,
        most: 60,
        ..row("color-eyre", &["color-eyre"], "hooks, a report, a caught panic, with RUST_BACKTRACE=1", Fate::Unmapped)
    },
    Row {
        strikes_after_ms: 100,
        most: 40,
        grows: left(0.0, 1.0),
        ..row("pprof", &["pprof"], "a profile by timer and signal, ended at the end", Fate::Unmapped)
    },
    Row {
        strikes_after_ms: 100,
        most: 40,
        grows: left(3.0, 1.0),
        ..row("pprof-leaked", &["pprof"], "a profile by timer and signal that nobody ends", Fate::Unmapped)
    },
    row(
        "wasmtime",
        &["wasmtime"],
        "a module compiled and called, dropped at the end, its handlers taken off",
        Fate::Unmapped,
    ),
    Row {
        note: "Its handlers stay where nobody calls `Engine::unload_process_handlers`; they go with the image.",
        ..row(
            "wasmtime-trap",
            &["wasmtime"],
            "a module with two calls that trap, dropped at the end, its handlers left",
            Fate::Unmapped,
        )
    },
    Row {
        note: "It maps the memory of its code with system calls of its own, past the C library: it stays, two mappings \
               per reload.",
        grows: left(20.0, 0.0),
        ..row("wasmtime-leaked", &["wasmtime"], "a module compiled and called that nobody drops", Fate::Unmapped)
    },
    row("command", &[], "a child process that is talked to and waited for", Fate::Unmapped),
    Row {
        grows: left(0.0, 2.0),
        note: "It awaits Ctrl-C by a pair of sockets of tokio in a static: two files per reload.",
        ..row("actix-web", &["actix-web", "actix-rt"], "a server in a thread, stopped at the end", Fate::Unmapped)
    },
    Row {
        kept_by: &["thread \"server\"", "thread \"actix-"],
        grows: kept(6000.0, 3.0, 13.0, 1.0),
        ..row("actix-web-leaked", &["actix-web", "actix-rt"], "a server in a thread that nobody stops", Fate::Parked)
    },
    Row {
        needs: &[System::Glib],
        evicted: Fate::Parked,
        kept_by: &["of libglib-2.0.so.0"],
        grows: kept(1600.0, 0.0, 0.0, 0.0),
        grows_evicted: kept(1600.0, 0.0, 0.0, 0.0),
        ..row("glib", &["glib"], "a timeout of the main loop that nobody removes; the next runs it", Fate::Parked)
    },
    Row {
        needs: &[System::Glib],
        evicted: Fate::Parked,
        kept_by: &["of libgobject-2.0.so.0"],
        grows: kept(1600.0, 0.0, 0.0, 0.0),
        grows_evicted: kept(1600.0, 0.0, 0.0, 0.0),
        ..row("gio", &["gio"], "a closure connected to a signal, which the next emits", Fate::Parked)
    },
    Row {
        needs: &[System::Python],
        evicted: Fate::Parked,
        kept_by: &["of libpython3."],
        grows: kept(2500.0, 0.0, 0.0, 1.0),
        grows_evicted: kept(2500.0, 0.0, 0.0, 1.0),
        ..row("pyo3", &["pyo3"], "a function and a class in a module of Python, which the next calls", Fate::Parked)
    },
    Row {
        needs: &[System::Python],
        evicted: Fate::Parked,
        kept_by: &["reference libpython3."],
        note: "Python writes addresses of the plugin into its own memory and leaves them there, which the host finds.",
        grows: kept(6000.0, 0.0, 0.0, 0.0),
        grows_evicted: kept(6000.0, 0.0, 0.0, 0.0),
        ..row("pyo3-eval", &["pyo3"], "an expression that Python evaluates", Fate::Parked)
    },
    row("arc-swap", &["arc-swap"], "a value swapped under a guard", Fate::Unmapped),
    row("arc-swap-leaked", &["arc-swap"], "a value swapped under a guard that is forgotten", Fate::Unmapped),
    row("blake3", &["blake3"], "a hash", Fate::Unmapped),
    row("clap", &["clap"], "a command line", Fate::Unmapped),
    row("corosensei", &["corosensei"], "a coroutine that panics, on a stack of its own", Fate::Unmapped),
    row("corosensei-leaked", &["corosensei"], "a coroutine left asleep on its stack", Fate::Unmapped),
    row("cranelift-jit", &["cranelift-jit"], "a function made and called, given back at the end", Fate::Unmapped),
    row(
        "cranelift-jit-leaked",
        &["cranelift-jit"],
        "a function made and called that nobody gives back",
        Fate::Unmapped,
    ),
    row("dashmap", &["dashmap"], "a map in a static, filled by four threads", Fate::Unmapped),
    row("flate2", &["flate2"], "text to gzip and back", Fate::Unmapped),
    row("flexi_logger", &["flexi_logger"], "a file that a thread writes, shut down at the end", Fate::Unmapped),
    Row {
        note: "The thread that flushes has no end, also where the logger is shut down. The thread of \
               `WriteMode::AsyncWith` has one; with `Duration::ZERO` for its interval it is the only one.",
        kept_by: &["thread \"flexi_logger-flusher\""],
        grows: kept(5500.0, 1.0, 1.0, 1.0),
        ..row("flexi_logger-flushed", &["flexi_logger"], "a file that a thread flushes, which has no end", Fate::Parked)
    },
    Row {
        kept_by: &["thread \"flexi_logger-file-writer\""],
        grows: kept(5500.0, 1.0, 1.0, 1.0),
        ..row("flexi_logger-leaked", &["flexi_logger"], "a file that a thread writes, left", Fate::Parked)
    },
    row("futures", &["futures"], "a pool of threads, dropped at the end", Fate::Unmapped),
    Row {
        kept_by: &["thread without a name"],
        grows: kept(1800.0, 2.0, 0.0, 1.0),
        ..row("futures-leaked", &["futures"], "a pool of threads that nobody drops", Fate::Parked)
    },
    row("heed", &["heed"], "LMDB, closed at the end", Fate::Unmapped),
    Row { grows: left(0.0, 3.0), ..row("heed-leaked", &["heed"], "LMDB that nobody closes", Fate::Unmapped) },
    row("image", &["image"], "a picture drawn, encoded and decoded", Fate::Unmapped),
    row("indicatif", &["indicatif"], "a bar that a thread moves, finished at the end", Fate::Unmapped),
    Row {
        kept_by: &["thread without a name"],
        grows: kept(2100.0, 1.0, 0.0, 1.0),
        ..row("indicatif-leaked", &["indicatif"], "a bar that a thread moves, left ticking", Fate::Parked)
    },
    row("inventory", &["inventory"], "values collected before main", Fate::Unmapped),
    row("lazy_static", &["lazy_static"], "a map in a static", Fate::Unmapped),
    Row { grows: left(0.0, 1.0), ..row("log4rs", &["log4rs"], "a logger with a file, in a static", Fate::Unmapped) },
    row("mio", &["mio"], "a poll with a waker, dropped at the end", Fate::Unmapped),
    Row {
        grows: left(0.0, 3.0),
        ..row("mio-leaked", &["mio"], "a poll with a waker that nobody drops", Fate::Unmapped)
    },
    row("moka", &["moka"], "a cache in a static, used by four threads", Fate::Unmapped),
    row("nalgebra", &["nalgebra"], "a system of equations", Fate::Unmapped),
    row("ndarray", &["ndarray"], "the product of two matrices", Fate::Unmapped),
    row("nom", &["nom"], "a list of numbers, parsed", Fate::Unmapped),
    row("once_cell", &["once_cell"], "values in statics, made by whichever thread comes first", Fate::Unmapped),
    row(
        "opentelemetry",
        &["opentelemetry", "opentelemetry_sdk"],
        "spans exported by a thread, shut down at the end",
        Fate::Unmapped,
    ),
    Row {
        kept_by: &["thread \"OpenTelemetry.Traces.BatchProcessor\""],
        grows: kept(3500.0, 1.0, 0.0, 1.0),
        ..row(
            "opentelemetry-leaked",
            &["opentelemetry", "opentelemetry_sdk"],
            "spans exported by a thread that nobody ends",
            Fate::Parked,
        )
    },
    row("polling", &["polling"], "a poller with a socket, dropped at the end", Fate::Unmapped),
    Row {
        grows: left(0.0, 4.0),
        ..row("polling-leaked", &["polling"], "a poller with a socket that nobody drops", Fate::Unmapped)
    },
    row("r2d2", &["r2d2"], "a pool with threads that discard what waits, dropped at the end", Fate::Unmapped),
    Row {
        note: "Its threads wait for what they are to do next, which may be half a minute, unless they are of a \
               pool that discards what waits.",
        most: 60,
        kept_by: &["thread \"r2d2-worker-"],
        grows: kept(1800.0, 3.0, 0.0, 1.0),
        ..row(
            "r2d2-dropped",
            &["r2d2"],
            "a pool with threads of its own making, dropped: they wait on for half a minute",
            Fate::Parked,
        )
    },
    Row {
        kept_by: &["thread without a name"],
        grows: kept(1800.0, 3.0, 0.0, 1.0),
        ..row("r2d2-leaked", &["r2d2"], "a pool with threads that nobody drops", Fate::Parked)
    },
    row("rhai", &["rhai"], "scripts with a function of Rust", Fate::Unmapped),
    row("ring", &["ring"], "a key and a signature", Fate::Unmapped),
    Row {
        most: 60,
        ..row("sentry", &["sentry"], "a client with a hook for panics, closed at the end", Fate::Unmapped)
    },
    Row {
        most: 60,
        ..row("sentry-leaked", &["sentry"], "a client with a hook for panics that nobody closes", Fate::Unmapped)
    },
    row("socket2", &["socket2"], "a socket with options", Fate::Unmapped),
    row("sqlx", &["sqlx"], "a pool of SQLite in memory, closed at the end", Fate::Unmapped),
    Row {
        kept_by: &["thread \"sqlx-sqlite-worker-", "thread \"tokio-rt-worker\""],
        grows: kept(6500.0, 2.0, 3.0, 1.0),
        ..row("sqlx-leaked", &["sqlx"], "a pool of SQLite in memory that nobody closes", Fate::Parked)
    },
    row("sysinfo", &["sysinfo"], "memory of the system and of this process", Fate::Unmapped),
    row("tempfile", &["tempfile"], "a file and a folder", Fate::Unmapped),
    row("thread_local", &["thread_local"], "a value per thread in a static", Fate::Unmapped),
    row("time", &["time"], "a date as text", Fate::Unmapped),
    Row {
        note: "Signals come by a pair of sockets in a static, which has no end: two files per reload.",
        grows: left(0.0, 2.0),
        ..row("tokio-signal", &["tokio"], "a signal awaited; the handler has no end", Fate::Unmapped)
    },
    row(
        "tokio-util",
        &["tokio-util", "bytes", "futures"],
        "frames over a connection, for the length of a call",
        Fate::Unmapped,
    ),
    row("toml", &["toml", "serde"], "derived values to text and back", Fate::Unmapped),
    row("ureq", &["ureq"], "a client without a thread, dropped at the end", Fate::Unmapped),
    row("ureq-leaked", &["ureq"], "a client without a thread that nobody drops", Fate::Unmapped),
    row("uuid", &["uuid"], "identifiers by chance and by the clock", Fate::Unmapped),
    row("walkdir", &["walkdir"], "the files under a folder", Fate::Unmapped),
    row("wasmi", &["wasmi"], "a module interpreted, with a trap", Fate::Unmapped),
];
