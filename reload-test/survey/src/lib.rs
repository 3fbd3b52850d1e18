//! Plugin that uses one crate as users of the crate do, without code that prepares an unload. If the crate has a shutdown function, the row
//! specifies if the plugin calls this function.

mod local;

use alcedo_plugin_api::prelude::*;

#[cfg(not(any(feature = "jemalloc", feature = "mimalloc", feature = "port")))]
module! { name: "surveyed", main: started, exit: ended }
#[cfg(any(feature = "jemalloc", feature = "mimalloc"))]
module! { name: "surveyed", main: started, exit: ended, allocator: own }
#[cfg(feature = "port")]
module! { name: "surveyed", main: started, exit: ended, suspend: ended, resume: started }

/// Defines the module of the row that the feature selects.
macro_rules! rows {
    ($($feature:literal $row:ident $path:literal)*) => {
        $(
            #[cfg(feature = $feature)]
            #[path = $path]
            mod $row;
            #[cfg(feature = $feature)]
            use $row as row;
        )*
    };
}

// Baseline, standard library, and common crates.
rows! {
    "bare" bare "rows/bare.rs"
    "std" std_row "rows/std.rs"
    "tracing" tracing_row "rows/tracing.rs"
    "env_logger" env_logger_row "rows/env_logger.rs"
    "rand" rand_row "rows/rand.rs"
    "parking_lot" parking_lot_row "rows/parking_lot.rs"
    "crossbeam" crossbeam_row "rows/crossbeam.rs"
    "rayon-own" rayon_own "rows/rayon_own.rs"
    "rayon-global" rayon_global "rows/rayon_global.rs"
    "tokio-current" tokio_current "rows/tokio_current.rs"
    "tokio-multi" tokio_multi "rows/tokio_multi.rs"
    "tokio-leaked" tokio_leaked "rows/tokio_leaked.rs"
    "smol" smol_row "rows/smol.rs"
    "regex" regex_row "rows/regex.rs"
    "chrono" chrono_row "rows/chrono.rs"
    "serde_json" serde_json_row "rows/serde_json.rs"
    "rusqlite" rusqlite_row "rows/rusqlite.rs"
    "notify" notify_row "rows/notify.rs"
    "notify-leaked" notify_leaked "rows/notify.rs"
    "signal-hook" signal_hook_row "rows/signal_hook.rs"
    "ctor" ctor_row "rows/ctor.rs"
    "mimalloc" mimalloc_row "rows/mimalloc.rs"
    "panic-backtrace" panic_backtrace "rows/panic_backtrace.rs"
}

// Threads, rings, bundled libraries, and exclusive resources.
rows! {
    "port" port "rows/port.rs"
    "ctrlc" ctrlc_row "rows/ctrlc.rs"
    "io-uring" io_uring_row "rows/io_uring.rs"
    "io-uring-leaked" io_uring_leaked "rows/io_uring_leaked.rs"
    "io-uring-in-flight" io_uring_in_flight "rows/io_uring_in_flight.rs"
    "gomp" gomp "rows/gomp.rs"
    "cpp-threads" cpp_threads "rows/cpp.rs"
    "cpp-threads-static" cpp_threads_static "rows/cpp.rs"
    "cpp-statics" cpp_statics "rows/cpp.rs"
    "cpp-exceptions" cpp_exceptions "rows/cpp.rs"
    "cpp-tls" cpp_tls "rows/cpp.rs"
}

// Crates that plugins often use.
rows! {
    "redb" redb_row "rows/redb.rs"
    "redb-leaked" redb_leaked_row "rows/redb.rs"
    "sled" sled_row "rows/sled.rs"
    "sled-leaked" sled_leaked_row "rows/sled.rs"
    "zstd" zstd_row "rows/zstd.rs"
    "zstd-leaked" zstd_leaked_row "rows/zstd.rs"
    "git2" git2_row "rows/git2.rs"
    "git2-leaked" git2_leaked_row "rows/git2.rs"
    "curl" curl_row "rows/curl.rs"
    "curl-leaked" curl_leaked_row "rows/curl.rs"
    "openssl-system" openssl_system_row "rows/openssl.rs"
    "openssl-system-leaked" openssl_system_leaked_row "rows/openssl.rs"
    "openssl-vendored" openssl_vendored_row "rows/openssl.rs"
    "openssl-vendored-leaked" openssl_vendored_leaked_row "rows/openssl.rs"
    "quinn" quinn_row "rows/quinn.rs"
    "quinn-leaked" quinn_leaked_row "rows/quinn.rs"
    "reqwest" reqwest_row "rows/reqwest.rs"
    "reqwest-leaked" reqwest_leaked_row "rows/reqwest.rs"
    "axum" axum_row "rows/axum.rs"
    "axum-leaked" axum_leaked_row "rows/axum.rs"
    "hyper" hyper_row "rows/hyper.rs"
    "hyper-leaked" hyper_leaked_row "rows/hyper.rs"
    "jemalloc" jemalloc_row "rows/jemalloc.rs"
    "mlua" mlua_row "rows/mlua.rs"
    "mlua-leaked" mlua_leaked_row "rows/mlua.rs"
    "tracing-appender" tracing_appender_row "rows/tracing_appender.rs"
    "tracing-appender-leaked" tracing_appender_leaked_row "rows/tracing_appender.rs"
    "metrics" metrics_row "rows/metrics.rs"
    "metrics-local" metrics_local_row "rows/metrics.rs"
    "prometheus" prometheus_row "rows/prometheus.rs"
    "prometheus-own" prometheus_own_row "rows/prometheus.rs"
    "crossterm" crossterm_row "rows/crossterm.rs"
    "crossterm-leaked" crossterm_leaked_row "rows/crossterm.rs"
    "memmap2" memmap2_row "rows/memmap2.rs"
    "memmap2-leaked" memmap2_leaked_row "rows/memmap2.rs"
    "libloading" libloading_row "rows/libloading.rs"
    "libloading-leaked" libloading_leaked_row "rows/libloading.rs"
    "async-std" async_std_row "rows/async_std.rs"
    "backtrace" backtrace_row "rows/backtrace.rs"
    "backtrace-cleared" backtrace_cleared_row "rows/backtrace.rs"
    "color-eyre" color_eyre_row "rows/color_eyre.rs"
    "pprof" pprof_row "rows/pprof.rs"
    "pprof-leaked" pprof_leaked_row "rows/pprof.rs"
    "wasmtime" wasmtime_row "rows/wasmtime.rs"
    "wasmtime-trap" wasmtime_trap_row "rows/wasmtime.rs"
    "wasmtime-leaked" wasmtime_leaked_row "rows/wasmtime.rs"
    "command" command_row "rows/command.rs"
    "actix-web" actix_web_row "rows/actix_web.rs"
    "actix-web-leaked" actix_web_leaked_row "rows/actix_web.rs"
    "glib" glib_row "rows/glib.rs"
    "gio" gio_row "rows/gio.rs"
    "pyo3" pyo3_row "rows/pyo3.rs"
    "pyo3-eval" pyo3_eval_row "rows/pyo3_eval.rs"
    "arc-swap" arc_swap_row "rows/arc_swap.rs"
    "arc-swap-leaked" arc_swap_leaked_row "rows/arc_swap.rs"
    "blake3" blake3_row "rows/blake3.rs"
    "clap" clap_row "rows/clap.rs"
    "corosensei" corosensei_row "rows/corosensei.rs"
    "corosensei-leaked" corosensei_leaked_row "rows/corosensei.rs"
    "cranelift-jit" cranelift_jit_row "rows/cranelift_jit.rs"
    "cranelift-jit-leaked" cranelift_jit_leaked_row "rows/cranelift_jit.rs"
    "dashmap" dashmap_row "rows/dashmap.rs"
    "flate2" flate2_row "rows/flate2.rs"
    "flexi_logger" flexi_logger_row "rows/flexi_logger.rs"
    "flexi_logger-flushed" flexi_logger_flushed_row "rows/flexi_logger.rs"
    "flexi_logger-leaked" flexi_logger_leaked_row "rows/flexi_logger.rs"
    "futures" futures_row "rows/futures.rs"
    "futures-leaked" futures_leaked_row "rows/futures.rs"
    "heed" heed_row "rows/heed.rs"
    "heed-leaked" heed_leaked_row "rows/heed.rs"
    "image" image_row "rows/image.rs"
    "indicatif" indicatif_row "rows/indicatif.rs"
    "indicatif-leaked" indicatif_leaked_row "rows/indicatif.rs"
    "inventory" inventory_row "rows/inventory.rs"
    "lazy_static" lazy_static_row "rows/lazy_static.rs"
    "log4rs" log4rs_row "rows/log4rs.rs"
    "mio" mio_row "rows/mio.rs"
    "mio-leaked" mio_leaked_row "rows/mio.rs"
    "moka" moka_row "rows/moka.rs"
    "nalgebra" nalgebra_row "rows/nalgebra.rs"
    "ndarray" ndarray_row "rows/ndarray.rs"
    "nom" nom_row "rows/nom.rs"
    "once_cell" once_cell_row "rows/once_cell.rs"
    "opentelemetry" opentelemetry_row "rows/opentelemetry.rs"
    "opentelemetry-leaked" opentelemetry_leaked_row "rows/opentelemetry.rs"
    "polling" polling_row "rows/polling.rs"
    "polling-leaked" polling_leaked_row "rows/polling.rs"
    "r2d2" r2d2_row "rows/r2d2.rs"
    "r2d2-dropped" r2d2_dropped_row "rows/r2d2.rs"
    "r2d2-leaked" r2d2_leaked_row "rows/r2d2.rs"
    "rhai" rhai_row "rows/rhai.rs"
    "ring" ring_row "rows/ring.rs"
    "sentry" sentry_row "rows/sentry.rs"
    "sentry-leaked" sentry_leaked_row "rows/sentry.rs"
    "socket2" socket2_row "rows/socket2.rs"
    "sqlx" sqlx_row "rows/sqlx.rs"
    "sqlx-leaked" sqlx_leaked_row "rows/sqlx.rs"
    "sysinfo" sysinfo_row "rows/sysinfo.rs"
    "tempfile" tempfile_row "rows/tempfile.rs"
    "thread_local" thread_local_row "rows/thread_local.rs"
    "time" time_row "rows/time.rs"
    "tokio-signal" tokio_signal_row "rows/tokio_signal.rs"
    "tokio-util" tokio_util_row "rows/tokio_util.rs"
    "toml" toml_row "rows/toml.rs"
    "ureq" ureq_row "rows/ureq.rs"
    "ureq-leaked" ureq_leaked_row "rows/ureq.rs"
    "uuid" uuid_row "rows/uuid.rs"
    "walkdir" walkdir_row "rows/walkdir.rs"
    "wasmi" wasmi_row "rows/wasmi.rs"
}

// Signals and callbacks of POSIX, all in one file.
rows! {
    "posix-itimer" posix_itimer "rows/posix_signals.rs"
    "posix-itimer-ended" posix_itimer_ended "rows/posix_signals.rs"
    "posix-alarm" posix_alarm "rows/posix_signals.rs"
    "posix-timer" posix_timer "rows/posix_signals.rs"
    "posix-timer-ended" posix_timer_ended "rows/posix_signals.rs"
    "posix-timer-thread" posix_timer_thread "rows/posix_signals.rs"
    "posix-timer-thread-ended" posix_timer_thread_ended "rows/posix_signals.rs"
    "posix-sigio" posix_sigio "rows/posix_signals.rs"
    "posix-mq-notify" posix_mq_notify "rows/posix_signals.rs"
    "posix-mq-notify-ended" posix_mq_notify_ended "rows/posix_signals.rs"
    "posix-aio" posix_aio "rows/posix_signals.rs"
    "posix-altstack" posix_altstack "rows/posix_signals.rs"
    "posix-siglongjmp" posix_siglongjmp "rows/posix_signals.rs"
    "onstack-frame" onstack_frame "rows/posix_signals.rs"
    "command-not-waited" command_not_waited "rows/posix_signals.rs"
    "command-waited" command_waited "rows/posix_signals.rs"
    "posix-aio-unanswered" posix_aio_unanswered "rows/posix_signals.rs"
    "posix-putenv" posix_putenv "rows/posix_putenv.rs"
    "posix-openlog" posix_openlog "rows/posix_openlog.rs"
    "posix-setvbuf" posix_setvbuf "rows/posix_setvbuf.rs"
    "posix-fopencookie" posix_fopencookie "rows/posix_fopencookie.rs"
    "register-frame" register_frame "rows/register_frame.rs"
}

/// Id of the build. The files of two builds differ only in this id.
const BUILD_TAG: Option<&str> = option_env!("ALCEDO_BUILD_TAG");

fn started() {
    row::begin();
}

fn ended() {
    row::end();
}

/// Uses the crate once. Returns the tag of the build, followed by `ok` or an error. The tag identifies the generation.
#[zcall(ex = "surveyed.work")]
fn work() -> String {
    format!("{} {}", BUILD_TAG.unwrap_or("0"), row::work())
}
