//! Advice for plugins that link shared system libraries. The advice states how to link each library statically. Each entry was checked
//! against the features of the crate on crates.io (November 2026).

/// Advice on one shared library that a crate of a plugin may link.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Advice {
    pub package: &'static str,
    /// Help for the plugin author. Messages print the help after "link it into the plugin: ".
    pub help: &'static str,
    /// Prefix of the library's file name, up to `.so`.
    library: &'static str,
}

const fn feature(library: &'static str, package: &'static str, help: &'static str) -> Advice {
    Advice { package, help, library }
}

/// All advice, sorted by library.
const TABLE: [Advice; 12] = [
    feature("libbz2", "bzip2-sys", "feature `static`"),
    feature("libcrypto", "openssl-sys", "feature `vendored`, which the crate openssl has as well"),
    feature("libcurl", "curl-sys", "feature `static-curl`, which the crate curl has as well"),
    feature("libgit2", "libgit2-sys", "feature `vendored`, which is `vendored-libgit2` of the crate git2"),
    feature("libgomp", "openmp-sys", "feature `static`"),
    feature("liblzma", "liblzma-sys", "feature `static`"),
    feature("liblzma", "lzma-sys", "feature `static`"),
    feature("libpq", "pq-sys", "feature `bundled`"),
    feature("libsqlite3", "libsqlite3-sys", "feature `bundled`, which the crate rusqlite has as well"),
    feature("libssl", "openssl-sys", "feature `vendored`, which the crate openssl has as well"),
    feature("libz", "libz-sys", "feature `static`"),
    feature("libzstd", "zstd-sys", "do without its feature `pkg-config`"),
];

/// Pairs of a function name prefix and the file name prefix of the library, for libraries without symbol versions. If a prefix begins with
/// a shorter prefix, the longer prefix is listed first.
const FUNCTIONS: [(&str, &str); 13] = [
    ("Py", "libpython"),
    ("g_boxed_", "libgobject-"),
    ("g_cclosure_", "libgobject-"),
    ("g_closure_", "libgobject-"),
    ("g_enum_", "libgobject-"),
    ("g_flags_", "libgobject-"),
    ("g_object_", "libgobject-"),
    ("g_pointer_", "libgobject-"),
    ("g_signal_", "libgobject-"),
    ("g_type_", "libgobject-"),
    ("g_unix_", "libglib-"),
    ("g_value_", "libgobject-"),
    ("g_", "libglib-"),
];

/// Returns the library in `needed` that defines a function. The prefix of the function's name determines the library.
pub(crate) fn library_of<'a>(function: &str, needed: &'a [String]) -> Option<&'a str> {
    let (_, library) = FUNCTIONS.iter().find(|(start, _)| function.starts_with(start))?;
    needed.iter().map(String::as_str).find(|needed| needed.starts_with(library))
}

/// Checks if a library never releases the callbacks that its callers register.
pub(crate) fn forgets_nothing(library: &str) -> bool {
    FUNCTIONS.iter().any(|(_, start)| library.starts_with(start))
}

/// Returns all advice for a library. `library` is the file name, such as `libcrypto.so.3`.
pub(crate) fn on(library: &str) -> impl Iterator<Item = &'static Advice> {
    let name = library.split_once(".so").map_or(library, |(name, _)| name).to_owned();
    TABLE.iter().filter(move |advice| advice.library == name)
}

/// C library functions without a hook in `module!`, each with help on an alternative.
const WITHOUT_HOOK: [(&str, &str); 22] = [
    ("__register_frame_info", FRAME),
    ("__register_frame_info_bases", FRAME),
    ("__register_frame_info_table", FRAME),
    ("__register_frame_info_table_bases", FRAME),
    ("__register_frame_table", FRAME),
    ("__sysv_signal", SIGNAL),
    (
        "clone",
        "start threads by `std::thread` or `pthread_create`, and processes by `std::process::Command` or `fork`: there is no \
         hook for `clone`",
    ),
    ("hsearch", "use a separate table (`hsearch_r`), since the whole process shares the table of `hsearch`"),
    ("mcheck", CHECKS),
    ("mcheck_pedantic", CHECKS),
    ("pthread_clockjoin_np", JOIN),
    ("pthread_timedjoin_np", JOIN),
    ("pthread_tryjoin_np", JOIN),
    ("register_printf_function", PRINTF),
    ("register_printf_modifier", PRINTF),
    ("register_printf_specifier", PRINTF),
    ("register_printf_type", PRINTF),
    ("sigset", SIGNAL),
    ("sysv_signal", SIGNAL),
    ("thrd_create", "start threads by `pthread_create`, for which there is a hook"),
    ("tss_create", KEY),
    ("tss_set", KEY),
];

const FRAME: &str = "register unwind tables by `__register_frame`, for which there is a hook";
const SIGNAL: &str = "handle the signal by `sigaction`, for which there is a hook";
const CHECKS: &str = "leave checks of the C heap to the host: they are for the whole process";
const JOIN: &str = "join threads by `pthread_join`, for which there is a hook";
const PRINTF: &str = "leave conversions of `printf` to the host: they are for the whole process";
const KEY: &str = "keep values of threads by `pthread_key_create`, for which there is a hook";

/// Returns the help for a C library function that bypasses the hooks.
pub(crate) fn on_function(function: &str) -> &'static str {
    let known = WITHOUT_HOOK.iter().find(|(name, _)| *name == function);
    known.map_or(
        "refer to it without a version of its symbol (`.symver`), so that it is the hook of `module!`",
        |(_, help)| help,
    )
}

/// Pairs of a function name prefix and the help for the plugin author, for libraries with static thread-local storage.
const STATIC_TLS: [(&str, &str); 3] = [
    ("mi_malloc", "mimalloc has the feature `local_dynamic_tls`"),
    ("_rjem_", "jemalloc has the feature `disable_initial_exec_tls`"),
    ("je_malloc", "configure jemalloc with `--disable-initial-exec-tls`"),
];

/// Returns the help for a file with static thread-local storage, selected by the function names in the file.
pub(crate) fn on_static_tls(names: &[u8]) -> &'static str {
    let has = |start: &str| memchr::memmem::find(names, format!("\0{start}").as_bytes()).is_some();
    let known = STATIC_TLS.iter().find(|(start, _)| has(start));
    known.map_or("compile the C code that has them without `-ftls-model=initial-exec`", |(_, help)| help)
}

#[cfg(test)]
mod tests {
    use super::{TABLE, on};

    #[test]
    fn a_library_is_recognized_by_name_in_any_version() {
        assert!(TABLE.is_sorted_by_key(|advice| (advice.library, advice.package)));
        let packages = |name: &str| on(name).map(|advice| advice.package).collect::<Vec<_>>();
        for name in ["libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.so"] {
            assert_eq!(packages(name), ["openssl-sys"], "{name}");
        }
        assert_eq!(packages("libz.so.1"), ["libz-sys"]);
        assert_eq!(packages("liblzma.so.5"), ["liblzma-sys", "lzma-sys"]);
        for other in ["libzmq.so.5", "libc.so.6", "libcrypto3.so", "crypto.so", ""] {
            assert_eq!(packages(other), [""; 0], "{other}");
        }
    }
}
