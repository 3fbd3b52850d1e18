//! Reasons why an image must stay mapped, with help for the plugin author. The reasons are derived from the library file before any code of
//! the file runs. A reason names a crate only if the file contains code of that crate.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use alcedo_abi::hooks::SECTION;
use alcedo_sys::ImageFile;

use super::advice::{self, Advice};
use super::hooks;
use crate::sync::lock;

/// Maximum number of names in a reason.
const MOST: usize = 3;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParkReason {
    /// Description of all causes.
    pub why: String,
    /// Help for the plugin author, for all causes.
    pub help: String,
}

impl ParkReason {
    pub(crate) fn message(&self) -> String {
        format!("{}: {}", self.why, self.help)
    }

    /// Formats the reasons without the help. Used if the help was already reported.
    pub(crate) fn briefly(&self) -> String {
        format!("{}, as reported when it was loaded", self.why)
    }
}

/// Returns the warning about C functions that a module defines itself instead of using the hooks for them. Returns `None` for an empty
/// list.
pub(crate) fn of_unhooked(names: &[String]) -> Option<String> {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    let functions = names.join(", ");
    (!names.is_empty()).then(|| {
        format!(
            "calls {functions} of its own (`unhooked` in `module!`): what these do instead of the platform's functions of the same \
             names is not recorded, and remains after the unload"
        )
    })
}

#[derive(Debug, Default)]
struct Facts<'a> {
    /// Functions that bypass the hooks. Each function is paired with its library, if a symbol version names the library.
    bypasses: Vec<(String, Option<&'a str>)>,
    /// Reason why the platform never unmaps an image.
    platform: Option<&'static str>,
    /// Set if the module was built without hooks.
    has_no_hooks: bool,
    is_marked: bool,
    unique: &'a [String],
    needed: &'a [String],
    /// Content of the section `.strtab`, with the names of the file's functions.
    names: &'a [u8],
}

/// Returns the reasons why the image of a file must stay mapped, if any.
pub(crate) fn of(image: &ImageFile) -> Option<ParkReason> {
    // The host cannot track the resources of a module without hooks.
    let has_no_hooks = image.section(SECTION).is_none();
    // Functions that register code with the process without a hook. A module that uses such a function can never be unmapped.
    let bypasses = if has_no_hooks { Vec::new() } else { image.bypassed_hooks() };
    judge(&Facts {
        bypasses: bypasses.into_iter().map(|name| (name.to_owned(), image.library_of(name))).collect(),
        platform: alcedo_sys::keeps_images(),
        has_no_hooks,
        is_marked: image.is_marked_to_stay(),
        unique: image.unique_symbols(),
        needed: image.needed(),
        names: image.section(".strtab").unwrap_or_default(),
    })
}

fn judge(facts: &Facts<'_>) -> Option<ParkReason> {
    if let Some(why) = facts.platform {
        let help = "run the host on Linux with glibc, where images are unmapped".to_owned();
        return Some(ParkReason { why: why.to_owned(), help });
    }
    let mut parts = Vec::new();
    if facts.has_no_hooks {
        let help = "build it with `module!`, for a platform that has hooks";
        parts.push(("it was built without any hooks".to_owned(), help.to_owned()));
    }
    parts.extend(of_bypasses(facts));
    if facts.is_marked {
        let help = "take that out of its build script, `.cargo/config.toml` or `RUSTFLAGS`";
        parts.push(("it was linked with `-z nodelete`".to_owned(), help.to_owned()));
    }
    if !facts.unique.is_empty() {
        let symbols = listed(facts.unique.iter().map(|name| demangled(name)));
        let why = format!("it defines symbols that exist only once in a process ({symbols})");
        parts.push((why, "compile its C++ code with `-fno-gnu-unique`, or hide those symbols".to_owned()));
    }
    let (why, hints): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    (!why.is_empty()).then(|| ParkReason { why: why.join("; and "), help: hints.join("; and ") })
}

/// Returns a reason and help for each library whose functions bypass the hooks.
fn of_bypasses(facts: &Facts<'_>) -> Vec<(String, String)> {
    let mut by_library: BTreeMap<Option<&str>, Vec<&str>> = BTreeMap::new();
    for (name, library) in &facts.bypasses {
        let library = library.or_else(|| advice::library_of(name, facts.needed));
        by_library.entry(library).or_default().push(name);
    }
    by_library.into_iter().map(|(library, names)| of_library(facts, library, &names)).collect()
}

fn of_library(facts: &Facts<'_>, library: Option<&str>, names: &[&str]) -> (String, String) {
    let symbols = listed(names.iter().map(|name| demangled(name)));
    let others: Vec<_> = facts.needed.iter().filter(|needed| !hooks::is_platform(needed)).map(String::as_str).collect();
    match (library, &others[..]) {
        (Some(library), _) if library.starts_with("libstdc++.so") => (
            format!("it bypasses {symbols} of {library}, which {}", why_of_cpp(names)),
            "link the C++ library into the plugin: `cpp_link_stdlib_static(true)` of the crate cc, in the build script that \
             compiles the C++ code"
                .to_owned(),
        ),
        (Some(library), _) if !hooks::is_platform(library) => {
            (format!("it bypasses {symbols} of {library}"), help_without(library, facts.names))
        }
        (None, [_, ..]) => {
            let hints: Vec<_> = others.iter().map(|library| help_without(library, facts.names)).collect();
            let of = if others.len() == 1 { String::new() } else { "one of these: ".to_owned() };
            (format!("it bypasses {symbols}, of {of}{}", others.join(", ")), hints.join("; or "))
        }
        _ => {
            let hints: BTreeSet<_> = names.iter().map(|name| advice::on_function(name)).collect();
            (format!("it bypasses {symbols}"), Vec::from_iter(hints).join("; and "))
        }
    }
}

/// Describes how these functions of the C++ library bypass the hooks of a plugin.
fn why_of_cpp(names: &[&str]) -> &'static str {
    let is_thread = |name: &&str| name.starts_with("_ZNSt6thread");
    match (names.iter().any(is_thread), names.iter().all(is_thread)) {
        (_, true) => "starts threads by itself",
        (true, false) => "starts threads by itself and keeps its arguments",
        (false, _) => "keeps its arguments",
    }
}

/// Returns the help on how a plugin can avoid a shared library.
fn help_without(library: &str, names: &[u8]) -> String {
    if advice::forgets_nothing(library) {
        return format!("{library} keeps pointers that it receives: call it in the host or in a separate process");
    }
    if let Some(advice) = advice::on(library).find(|advice| has_code_of(names, advice.package)) {
        return format!("link {library} into the plugin: {}, of the crate {}", advice.help, advice.package);
    }
    let perhaps = |advice: &Advice| format!("if the crate {} links it: {}", advice.package, advice.help);
    let perhaps: Vec<_> = advice::on(library).map(perhaps).collect();
    match perhaps.is_empty() {
        true => format!("link {library} into the plugin, or leave it to the host"),
        false => format!("link {library} into the plugin ({})", perhaps.join("; ")),
    }
}

/// Checks if the file contains functions of a crate. In both manglings of Rust names, the crate name is preceded by its length. A letter or
/// `_` precedes the length.
fn has_code_of(names: &[u8], package: &str) -> bool {
    let ident = package.replace('-', "_");
    [format!("_ZN{}{ident}", ident.len()), format!("_{}{ident}", ident.len())]
        .iter()
        .any(|part| memchr::memmem::find(names, part.as_bytes()).is_some())
}

/// Formats the first `MOST` names, followed by the number of the remaining names.
pub(super) fn listed(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(MOST);
    let names: Vec<_> = names.take(MOST).collect();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    names.join(", ") + &more
}

fn demangled(name: &str) -> String {
    // Omits parameter lists, because parameter lists may be long.
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let symbol = cpp_demangle::Symbol::new(name).ok();
    symbol.and_then(|symbol| symbol.demangle_with_options(&options).ok()).unwrap_or_else(|| name.to_owned())
}

/// Reported warnings, by module. A reload report does not repeat these warnings.
#[derive(Debug, Default)]
pub(crate) struct ReportedWarnings(Mutex<BTreeMap<String, Vec<String>>>);

impl ReportedWarnings {
    /// Records the warnings of a module. Returns the warnings that the previous report of the module did not contain. A warning that
    /// disappears and returns is reported again.
    pub(crate) fn unreported(&self, module: &str, warnings: Vec<String>) -> Vec<String> {
        let mut reported = lock(&self.0);
        let before = reported.insert(module.to_owned(), warnings.clone()).unwrap_or_default();
        warnings.into_iter().filter(|warning| !before.contains(warning)).collect()
    }

    /// Adds warnings to the reported warnings of a module. Returns the warnings that were not reported before.
    pub(crate) fn never_reported(&self, module: &str, mut warnings: Vec<String>) -> Vec<String> {
        let mut reported = lock(&self.0);
        let known = reported.entry(module.to_owned()).or_default();
        warnings.retain(|warning| !known.contains(warning));
        known.extend_from_slice(&warnings);
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::{Facts, ReportedWarnings, demangled, has_code_of, judge};

    const THREAD: &str = "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE";

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// Returns the message for a file whose functions bypass the hooks.
    fn report(bypasses: &[(&str, Option<&str>)], needed: &[&str], names: &str) -> String {
        let bypasses = bypasses.iter().map(|(name, library)| ((*name).to_owned(), *library)).collect();
        let needed = owned(needed);
        let facts = Facts { bypasses, needed: &needed, names: names.as_bytes(), ..Facts::default() };
        judge(&facts).expect("it stays").message()
    }

    #[test]
    fn a_linked_crate_is_named_with_its_feature() {
        let crypto = [("CRYPTO_get_ex_new_index", Some("libcrypto.so.3"))];
        let needed = ["libssl.so.3", "libcrypto.so.3", "libc.so.6"];
        expect(
            &report(&crypto, &needed, "main\0_ZN11openssl_sys7openssl4init17h0123456789abcdefE\0"),
            "it bypasses CRYPTO_get_ex_new_index of libcrypto.so.3: link libcrypto.so.3 into the plugin: feature `vendored`, \
             which the crate openssl has as well, of the crate openssl-sys",
        );
        expect(
            &report(&crypto, &needed, "main\0"),
            "it bypasses CRYPTO_get_ex_new_index of libcrypto.so.3: link libcrypto.so.3 into the plugin (if the crate \
             openssl-sys links it: feature `vendored`, which the crate openssl has as well)",
        );
        let own = [("leave_address", Some("libown.so.1"))];
        let expected =
            "it bypasses leave_address of libown.so.1: link libown.so.1 into the plugin, or leave it to the host";
        expect(&report(&own, &["libown.so.1"], "_11openssl_sys"), expected);
    }

    #[test]
    fn ambiguous_symbols_name_all_possible_libraries() {
        let unknown = [("sigset", None)];
        expect(
            &report(&unknown, &["libown.so", "libc.so.6", "liblzma.so.5"], ""),
            "it bypasses sigset, of one of these: libown.so, liblzma.so.5: link libown.so into the plugin, or leave it to \
             the host; or link liblzma.so.5 into the plugin (if the crate liblzma-sys links it: feature `static`; if the \
             crate lzma-sys links it: feature `static`)",
        );
        let past = "it bypasses sigset: handle the signal by `sigaction`, for which there is a hook";
        expect(&report(&unknown, &["libc.so.6"], ""), past);
        expect(&report(&[("sigset", Some("libc.so.6"))], &["libc.so.6", "libown.so"], ""), past);
    }

    #[test]
    fn an_unhooked_function_is_reported_with_its_replacement() {
        let libc = Some("libc.so.6");
        expect(
            &report(&[("clone", libc), ("sigset", libc), ("sysv_signal", libc)], &["libc.so.6"], ""),
            "it bypasses clone, sigset, sysv_signal: handle the signal by `sigaction`, for which there is a hook; and start \
             threads by `std::thread` or `pthread_create`, and processes by `std::process::Command` or `fork`: there is no hook for \
             `clone`",
        );
        expect(
            &report(&[("pthread_timedjoin_np", libc), ("pthread_tryjoin_np", libc)], &["libc.so.6"], ""),
            "it bypasses pthread_timedjoin_np, pthread_tryjoin_np: join threads by `pthread_join`, for which there is a hook",
        );
        expect(
            &report(&[("pthread_create", libc)], &["libc.so.6"], ""),
            "it bypasses pthread_create: refer to it without a version of its symbol (`.symver`), so that it is the hook of \
             `module!`",
        );
    }

    #[test]
    fn a_library_without_versions_is_found_by_the_names_of_its_functions() {
        let calls = [("PyType_FromSpec", None), ("g_signal_connect_data", None), ("g_timeout_add_full", None)];
        let needed = ["libgobject-2.0.so.0", "libglib-2.0.so.0", "libpython3.11.so.1.0", "libc.so.6"];
        expect(
            &report(&calls, &needed, ""),
            "it bypasses g_timeout_add_full of libglib-2.0.so.0; and it bypasses g_signal_connect_data of \
             libgobject-2.0.so.0; and it bypasses PyType_FromSpec of libpython3.11.so.1.0: libglib-2.0.so.0 keeps pointers \
             that it receives: call it in the host or in a separate process; and libgobject-2.0.so.0 keeps pointers that it \
             receives: call it in the host or in a separate process; and libpython3.11.so.1.0 keeps pointers that it receives: \
             call it in the host or in a separate process",
        );
    }

    fn expect(report: &str, expected: &str) {
        assert_eq!(report, expected);
    }

    #[test]
    fn cpp_names_are_demangled() {
        assert_eq!(demangled(THREAD), "std::thread::_M_start_thread");
        assert_eq!(demangled("timer_create"), "timer_create");
        let report = report(&[(THREAD, Some("libstdc++.so.6"))], &["libstdc++.so.6", "libc.so.6"], "");
        assert!(
            report.starts_with("it bypasses std::thread::_M_start_thread of libstdc++.so.6, which starts"),
            "{report}"
        );
        assert!(report.contains("`cpp_link_stdlib_static(true)` of the crate cc"), "{report}");
        let keeps = "_ZNSt8ios_base17register_callbackEPFvNS_5eventERS_iEi";
        let at_exit = "_ZSt25notify_all_at_thread_exitRSt18condition_variableSt11unique_lockISt5mutexE";
        for (names, expected) in [
            (
                &[keeps, at_exit][..],
                "std::ios_base::register_callback, std::notify_all_at_thread_exit of libstdc++.so.6, \
                                     which keeps its arguments: link",
            ),
            (
                &[keeps, THREAD],
                "std::ios_base::register_callback, std::thread::_M_start_thread of libstdc++.so.6, \
                                which starts threads by itself and keeps its arguments: link",
            ),
        ] {
            let bypasses: Vec<_> = names.iter().map(|name| (*name, Some("libstdc++.so.6"))).collect();
            let report = self::report(&bypasses, &["libstdc++.so.6", "libc.so.6"], "");
            assert!(report.contains(expected), "{report}");
        }
        let unique = owned(&["_ZZ7countervE3one", "_ZN6HolderIiE5valueE", "_Zc", "_Zd", "_Ze"]);
        let facts = Facts { unique: &unique, is_marked: true, has_no_hooks: true, ..Facts::default() };
        let reason = judge(&facts).unwrap();
        let why = "it was built without any hooks; and it was linked with `-z nodelete`; and it defines \
                   symbols that exist only once in a process (counter()::one, Holder<int>::value, _Zc and 2 more)";
        assert_eq!(reason.why, why);
        assert_eq!(judge(&Facts::default()), None);
    }

    #[test]
    fn a_crate_is_detected_by_its_function_names() {
        for (names, expected) in [
            ("x\0_ZN11openssl_sys4init17hE\0", true),
            ("_RNvCs1234_11openssl_sys4init", true),
            ("_ZN3own11openssl_sys4initE", false),
            ("openssl_sys", false),
            ("_11openssl_syz", false),
            ("", false),
        ] {
            assert_eq!(has_code_of(names.as_bytes(), "openssl-sys"), expected, "{names}");
        }
    }

    #[test]
    fn a_platform_that_never_unmaps_is_the_only_reason() {
        let platform = Some("the loader of musl never unmaps a library");
        let facts = Facts { platform, has_no_hooks: true, is_marked: true, ..Facts::default() };
        let message =
            "the loader of musl never unmaps a library: run the host on Linux with glibc, where images are unmapped";
        assert_eq!(judge(&facts).expect("it stays").message(), message);
    }

    #[test]
    fn a_warning_is_reported_once_until_it_was_missing() {
        let reported = ReportedWarnings::default();
        let unreported = |module: &str, warnings: &[&str]| reported.unreported(module, owned(warnings));
        assert_eq!(unreported("cube", &["a"]), ["a"]);
        assert_eq!(unreported("cube", &["a"]), [""; 0]);
        assert_eq!(unreported("cube", &["a", "b"]), ["b"]);
        assert_eq!(unreported("cube", &["b"]), [""; 0]);
        assert_eq!(unreported("other", &["a"]), ["a"], "of another module it was not reported");
        assert_eq!(unreported("cube", &[]), [""; 0]);
        assert_eq!(unreported("cube", &["b"]), ["b"], "it was missing in between");
    }

    #[test]
    fn added_warnings_are_reported_only_once() {
        let reported = ReportedWarnings::default();
        let never_reported = |warnings: &[&str]| reported.never_reported("cube", owned(warnings));
        assert_eq!(never_reported(&["a"]), ["a"]);
        assert_eq!(never_reported(&[]), [""; 0]);
        assert_eq!(never_reported(&["a", "b"]), ["b"]);
        assert_eq!(never_reported(&["b", "a"]), [""; 0]);
    }
}
