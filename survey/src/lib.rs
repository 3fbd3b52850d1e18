//! One crate in one plugin, used the way its users use it: nothing is done for the sake of unloading. Where a crate has
//! a way to end what it started, the row says whether it is taken.

use alcedo_plugin_api::prelude::*;

#[cfg(not(feature = "mimalloc"))]
module! { name: "surveyed", main: started, exit: ended }
#[cfg(feature = "mimalloc")]
module! { name: "surveyed", main: started, exit: ended, allocator: own }

/// Makes the module of the row that the feature names.
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
    "notify-leaked" notify_leaked "rows/notify_leaked.rs"
    "signal-hook" signal_hook_row "rows/signal_hook.rs"
    "ctor" ctor_row "rows/ctor.rs"
    "mimalloc" mimalloc_row "rows/mimalloc.rs"
    "panic-backtrace" panic_backtrace "rows/panic_backtrace.rs"
    "posix-putenv" posix_putenv "rows/posix_putenv.rs"
    "posix-openlog" posix_openlog "rows/posix_openlog.rs"
    "posix-setvbuf" posix_setvbuf "rows/posix_setvbuf.rs"
    "posix-fopencookie" posix_fopencookie "rows/posix_fopencookie.rs"
    "register-frame" register_frame "rows/register_frame.rs"
}

/// Which build this is, so that the host has different files to swap between.
const BUILD_TAG: Option<&str> = option_env!("ALCEDO_BUILD_TAG");

fn started() {
    row::begin();
}

fn ended() {
    row::end();
}

/// Uses the crate once, and tells what came of it; an error is a sentence. Generations are told apart by the tag.
#[zcall(ex = "surveyed.work")]
fn work() -> String {
    format!("{} {}", BUILD_TAG.unwrap_or("0"), row::work())
}
