//! Formats backtraces for people. Frames of the author's own code are printed first.

use std::fmt;
use std::path::Path;

use serde::Serialize;

/// Maximum number of printed lines for the author's frames, and for the remaining frames.
const LINES: usize = 32;

/// A stack frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Call {
    /// Name of the function, or its address if no name is known.
    pub(super) function: String,
    /// File and line.
    pub(super) location: Option<String>,
    /// Author of the code.
    pub(super) of: Owner,
    /// Name of the program or library that contains the code.
    pub(super) image: String,
    /// Module and generation, if the file is a copy of a plugin.
    pub(super) module: Option<(String, u64)>,
}

/// Author of some code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Owner {
    /// The author's code: the crate of the module, or another crate of the workspace.
    Author,
    /// A crate from a registry or a repository, a crate of Alcedo, or code of unknown origin.
    Library,
    Std,
}

impl Owner {
    /// Returns the author of `function`. `source` is the source path that the compiler recorded, if any. `alcedo` is the checkout from
    /// which this `alcedo` was built, if any. The crates of this checkout count as libraries, but its example plugins count as the author's
    /// code.
    pub(super) fn of(function: &str, source: Option<&Path>, alcedo: Option<&Path>) -> Self {
        const OF_ALCEDO: [&str; 4] = ["plugin-api", "runtime", "tools", "reload-test"];
        // Recognizes generated code of attribute macros by the name of its function, because debug information attributes this code to the
        // author's source file.
        let is_written = function.contains("::_::")
            && ["::ALCEDO_FUNCTIONS", "::AlcedoTrampoline", "::alcedo_"].iter().any(|of| function.contains(of));
        let Some(source) = source else { return if is_of_std(function) { Self::Std } else { Self::Library } };
        let text = source.to_string_lossy();
        if text.starts_with("/rustc/") || text.contains("/lib/rustlib/src/") {
            return Self::Std;
        }
        // Treats a relative path like a fetched crate, because path remapping produces such paths, and code in development is not remapped.
        let is_fetched = text.contains("/registry/src/") || text.contains("/git/checkouts/") || !source.is_absolute();
        let is_ours = alcedo.is_some_and(|alcedo| {
            OF_ALCEDO.iter().any(|of| source.starts_with(alcedo.join(of)))
                && !source.starts_with(alcedo.join("runtime/tests/plugins"))
        });
        if is_fetched || is_ours || is_written { Self::Library } else { Self::Author }
    }
}

/// Returns true for functions of the standard library. Recognizes these functions by name, for code without debug information.
fn is_of_std(function: &str) -> bool {
    const CRATES: [&str; 5] = ["alloc::", "core::", "std::", "__rust_", "__rustc::"];
    CRATES.iter().any(|of| function.trim_start_matches('<').starts_with(of))
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.function)?;
        match &self.module {
            Some((module, generation)) => write!(f, "   module {module}, generation {generation}")?,
            None => write!(f, "   {}", self.image)?,
        }
        self.location.iter().try_for_each(|location| write!(f, "   {location}"))
    }
}

/// Returns the frame to report first: the innermost frame of the author's code in a module, else the innermost frame in a module outside of
/// the standard library, else the innermost frame in a module, else the innermost frame. Many crashes occur in a module's copy of the
/// standard library, but are caused by the caller of this copy. Without debug information, the author's code is of unknown origin.
pub(super) fn culprit(calls: &[Call]) -> Option<&Call> {
    let in_modules = || calls.iter().filter(|call| call.module.is_some());
    let own = in_modules().find(|call| call.of == Owner::Author);
    own.or_else(|| in_modules().find(|call| call.of != Owner::Std)).or_else(|| in_modules().next()).or(calls.first())
}

/// Returns the innermost frame in the host or in a library that the frame `culprit` has called. This frame may be the cause of the crash.
/// Ignores the standard library and the libraries of the platform.
pub(super) fn innermost_stranger<'a>(calls: &'a [Call], culprit: &Call) -> Option<&'a Call> {
    const PLATFORM: [&str; 7] =
        ["libc.so", "libc-", "libm.so", "libpthread.so", "ld-linux", "libgcc_s.so", "libstdc++.so"];
    culprit.module.as_ref()?;
    let further = calls.iter().take_while(|call| *call != culprit);
    let is_platform = |call: &Call| PLATFORM.iter().any(|name| call.image.starts_with(name));
    let mut strangers = further.filter(|call| call.module.is_none() && !is_platform(call));
    strangers.find(|call| call.of != Owner::Std)
}

/// Formats the frames as numbered lines, innermost first. Frames of the author's code precede all other frames. Each line starts with a
/// line feed.
pub(super) fn report(calls: &[Call]) -> String {
    // Omits frames of the standard library.
    let indexed = || calls.iter().enumerate().filter(|(_, call)| call.of != Owner::Std);
    let (own, rest): (Vec<_>, Vec<_>) = indexed().partition(|(_, call)| call.of == Owner::Author);
    match own.is_empty() || rest.is_empty() {
        true => lines(&[own, rest].concat()),
        false => format!("\n  your code:{}\n  the rest:{}", lines(&own), lines(&rest)),
    }
}

/// Formats frames of the author's code in at most `most` lines, and the number of the remaining frames. Adjacent equal frames share one
/// line. Each line starts with a line feed. Omits the frame `named`, because this frame is already part of the report.
pub(super) fn brief(calls: &[Call], named: Option<&Call>, most: usize) -> String {
    let is_own = |(_, call): &(usize, &Call)| call.of == Owner::Author && Some(*call) != named;
    let own: Vec<_> = calls.iter().enumerate().filter(is_own).collect();
    let groups = own.chunk_by(|(_, one), (_, next)| one == next).take(most);
    let own = groups.flatten().copied().collect::<Vec<_>>();
    let others = calls.iter().filter(|call| Some(*call) != named).count() - own.len();
    let frames = if others == 1 { "frame" } else { "frames" };
    format!("{}\n      and {others} other {frames} · t shows all", lines(&own))
}

fn lines(indexed: &[(usize, &Call)]) -> String {
    // Groups equal adjacent frames, because the stack of an endless recursion consists of repeated frames.
    let groups: Vec<_> = indexed.chunk_by(|(_, one), (_, next)| one == next).collect();
    let mut text = String::new();
    for group in groups.iter().take(LINES) {
        let (number, call) = group[0];
        let times = if group.len() > 1 { format!("   {} times", group.len()) } else { String::new() };
        text += &format!("\n  {number:>3} {call}{times}");
    }
    if let Some(left_out) = groups.get(LINES..).filter(|left_out| !left_out.is_empty()) {
        text += &format!("\n      and {} more", left_out.concat().len());
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Call, Owner, brief, culprit, report};

    fn call(function: &str, module: Option<(&str, u64)>, of: Owner, location: Option<&str>) -> Call {
        Call {
            function: function.into(),
            location: location.map(str::to_owned),
            of,
            image: "host".into(),
            module: module.map(|(name, generation)| (name.to_owned(), generation)),
        }
    }

    #[test]
    fn the_authors_frames_are_listed_first_with_their_overall_numbers() {
        let cube = Some(("magic_cube", 2));
        let calls = [
            call("abort", None, Owner::Library, None),
            call("std::process::abort", cube, Owner::Std, Some("/rustc/5980/library/std/src/process.rs:1")),
            call("serde::give_up", cube, Owner::Library, Some("/c/registry/src/x/serde/src/lib.rs:3")),
            call("cube::turn", cube, Owner::Author, Some("src/lib.rs:9")),
            call("cube::turn", cube, Owner::Author, Some("src/lib.rs:9")),
            call(
                "alcedo_rt::panic_guard::catch_panics",
                cube,
                Owner::Library,
                Some("plugin-api/rt/src/panic_guard.rs:41"),
            ),
            call("alcedo_runtime::call", None, Owner::Library, Some("runtime/src/call.rs:4")),
            call("game::main", None, Owner::Author, Some("game/src/main.rs:12")),
            call("main", None, Owner::Library, None),
            call("main", None, Owner::Library, None),
        ];
        expect_test::expect![[r#"
            it crashed
              your code:
                3 cube::turn   module magic_cube, generation 2   src/lib.rs:9   2 times
                7 game::main   host   game/src/main.rs:12
              the rest:
                0 abort   host
                2 serde::give_up   module magic_cube, generation 2   /c/registry/src/x/serde/src/lib.rs:3
                5 alcedo_rt::panic_guard::catch_panics   module magic_cube, generation 2   plugin-api/rt/src/panic_guard.rs:41
                6 alcedo_runtime::call   host   runtime/src/call.rs:4
                8 main   host   2 times"#]]
        .assert_eq(&format!("it crashed{}", report(&calls)));
        expect_test::expect![[r#"
            it crashed
                7 game::main   host   game/src/main.rs:12
                  and 7 other frames · t shows all"#]]
        .assert_eq(&format!("it crashed{}", brief(&calls, Some(&calls[3]), 1)));
        assert_eq!(culprit(&calls), Some(&calls[3]), "the innermost of the author's in a module is named");
        assert_eq!(culprit(&calls[4..]), Some(&calls[4]));
        assert_eq!(culprit(&calls[5..]), Some(&calls[5]), "code of a module before the host's");
        assert_eq!(culprit(&calls[1..3]), Some(&calls[2]), "the caller of std, without the author's frames");
        assert_eq!(culprit(&calls[8..]), Some(&calls[8]));
        assert_eq!(report(&calls[8..]), "\n    0 main   host   2 times", "one part needs no heading");
    }

    #[test]
    fn long_parts_are_truncated_separately() {
        let own = (0..40).map(|line| call("own", None, Owner::Author, Some(&format!("src/lib.rs:{line}"))));
        let others = (0..33).map(|line| call("other", None, Owner::Library, Some(&format!("/x:{line}"))));
        let calls: Vec<_> = others.chain(own).collect();
        let report = report(&calls);
        let (own, others) = report.split_once("the rest:").unwrap();
        assert!(own.ends_with("\n      and 8 more\n  "), "{own}");
        assert!(others.ends_with("\n      and 1 more"), "{others}");
    }

    #[test]
    fn code_is_the_authors_unless_fetched_or_from_the_alcedo_checkout() {
        let check = |source: &str, expected: Owner| {
            let found = Owner::of("cube::turn", Some(Path::new(source)), Some(Path::new("/home/a/alcedo")));
            assert_eq!(found, expected, "{source}");
        };
        check("/rustc/59807616e/library/core/src/panicking.rs", Owner::Std);
        check("/home/a/.rustup/toolchains/x/lib/rustlib/src/rust/library/core/src/option.rs", Owner::Std);
        check("/home/a/.cargo/registry/src/index.crates.io-1/abi_stable-0.11.3/src/lib.rs", Owner::Library);
        check("/home/a/.cargo/git/checkouts/thing-1/2/src/lib.rs", Owner::Library);
        check("/home/a/alcedo/plugin-api/rt/src/panic_guard.rs", Owner::Library);
        check("/home/a/alcedo/runtime/engine/src/tick.rs", Owner::Library);
        check("/home/a/alcedo/example-plugins/magic-cube/src/lib.rs", Owner::Author);
        check("/home/a/alcedo/runtime/tests/plugins/broken/src/lib.rs", Owner::Author);
        check("/home/a/game/runtime/src/lib.rs", Owner::Author);
        check("/home/a/game/plugins/cube/src/lib.rs", Owner::Author);
        check("library/std/src/rt.rs", Owner::Library);
        assert_eq!(Owner::of("cube::turn", None, Some(Path::new("/home/a/alcedo"))), Owner::Library);
        // An `alcedo` that was installed from a registry has no checkout. Local sources of Alcedo then count as the author's code.
        let other = Path::new("/home/a/alcedo/runtime/engine/src/tick.rs");
        assert_eq!(Owner::of("cube::turn", Some(other), None), Owner::Author);
        for stripped in ["core::panicking::panic_fmt", "<alloc::string::String as core::fmt::Write>::write_str"] {
            assert_eq!(Owner::of(stripped, None, Some(Path::new("/home/a/alcedo"))), Owner::Std, "{stripped}");
        }
        for written in [
            "<cube::_::AlcedoTrampoline5 as alcedo_plugin_api::__private::trampolines::Method>::run",
            "cube::_::ALCEDO_FUNCTIONS::{closure#0}",
            "cube::_::<impl cube::Cube>::alcedo_red_constructor",
        ] {
            let found = Owner::of(written, Some(Path::new("/home/a/src/lib.rs")), Some(Path::new("/home/a/alcedo")));
            assert_eq!(found, Owner::Library, "{written}");
        }
    }
}
