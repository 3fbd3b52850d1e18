//! Calls that had not returned, for a person: those of the author's own code first.

use std::fmt;
use std::path::Path;

/// How many lines of each part are printed.
const LINES: usize = 32;

/// A call that had not returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// The function, or the address where it has no name.
    pub(super) function: String,
    /// File and line.
    pub(super) place: Option<String>,
    /// Whose code it is.
    pub(super) of: Owner,
    /// The file that the code is of.
    pub(super) image: String,
    /// The module and generation, for a copy of a plugin.
    pub(super) module: Option<(String, u64)>,
}

/// Whose code it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// Of a crate of the author's: the module's own, or another one of their workspace.
    Author,
    /// Of a crate from a registry or a repository, of Alcedo, or of unknown origin.
    Library,
    /// Of the standard library.
    Std,
}

impl Owner {
    /// Who wrote `function` in `source`, a whole path as the compiler noted it; none where it noted nothing. `alcedo` is the
    /// checkout that this tool was built from: its crates are a library like any other, and the plugins in it are examples of
    /// authors'.
    pub(super) fn of(function: &str, source: Option<&Path>, alcedo: &Path) -> Self {
        const OF_ALCEDO: [&str; 4] = ["plugin-api", "runtime", "tools", "reload-test"];
        // What the attributes write stands where the attribute does.
        let is_written =
            function.contains("::_::") && ["::AlcedoShell", "::alcedo_"].iter().any(|of| function.contains(of));
        let Some(source) = source else { return Self::Library };
        let text = source.to_string_lossy();
        if text.starts_with("/rustc/") || text.contains("/lib/rustlib/src/") {
            return Self::Std;
        }
        // A relative path is one that was made so, which is not done to code that its author is still writing.
        let is_fetched = text.contains("/registry/src/") || text.contains("/git/checkouts/") || !source.is_absolute();
        let is_ours = OF_ALCEDO.iter().any(|of| source.starts_with(alcedo.join(of)))
            && !source.starts_with(alcedo.join("runtime/tests/plugins"));
        if is_fetched || is_ours || is_written { Self::Library } else { Self::Author }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.function)?;
        match &self.module {
            Some((module, generation)) => write!(f, "   module {module}, generation {generation}")?,
            None => write!(f, "   {}", self.image)?,
        }
        self.place.iter().try_for_each(|place| write!(f, "   {place}"))
    }
}

/// The call to name first: the innermost one of the author's code in a module; of any code in a module; or of all there are.
/// A module has a standard library of its own, which is where most crashes happen and where none begins.
pub(super) fn culprit(calls: &[Call]) -> Option<&Call> {
    let in_modules = || calls.iter().filter(|call| call.module.is_some());
    in_modules().find(|call| call.of == Owner::Author).or_else(|| in_modules().next()).or(calls.first())
}

/// Code of the host or of a library that had called further than a culprit's own: what it did is not the culprit's for certain.
/// The platform's libraries do not count as such.
pub(super) fn innermost_stranger<'a>(calls: &'a [Call], culprit: &Call) -> Option<&'a Call> {
    const PLATFORM: [&str; 7] =
        ["libc.so", "libc-", "libm.so", "libpthread.so", "ld-linux", "libgcc_s.so", "libstdc++.so"];
    culprit.module.as_ref()?;
    let further = calls.iter().take_while(|call| *call != culprit);
    let is_platform = |call: &Call| PLATFORM.iter().any(|name| call.image.starts_with(name));
    let mut strangers = further.filter(|call| call.module.is_none() && !is_platform(call));
    strangers.find(|call| call.of != Owner::Std)
}

/// The calls as lines, innermost first and numbered so; those of the author's before the others. Each line begins with its
/// end of line.
pub(super) fn told(calls: &[Call]) -> String {
    // The standard library is between everything and of no interest.
    let numbered = || calls.iter().enumerate().filter(|(_, call)| call.of != Owner::Std);
    let (own, rest): (Vec<_>, Vec<_>) = numbered().partition(|(_, call)| call.of == Owner::Author);
    match own.is_empty() || rest.is_empty() {
        true => lines(&[own, rest].concat()),
        false => format!("\n  your code:{}\n  the rest:{}", lines(&own), lines(&rest)),
    }
}

fn lines(numbered: &[(usize, &Call)]) -> String {
    // A stack that is full is full of the same.
    let groups: Vec<_> = numbered.chunk_by(|(_, one), (_, next)| one == next).collect();
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

    use super::{Call, Owner, culprit, told};

    fn call(function: &str, module: Option<(&str, u64)>, of: Owner, place: Option<&str>) -> Call {
        Call {
            function: function.into(),
            place: place.map(str::to_owned),
            of,
            image: "host".into(),
            module: module.map(|(name, generation)| (name.to_owned(), generation)),
        }
    }

    #[test]
    fn the_authors_code_is_told_first_under_the_numbers_that_all_calls_have() {
        let cube = Some(("magic_cube", 2));
        let calls = [
            call("abort", None, Owner::Library, None),
            call("std::process::abort", cube, Owner::Std, Some("/rustc/5980/library/std/src/process.rs:1")),
            call("serde::give_up", cube, Owner::Library, Some("/c/registry/src/x/serde/src/lib.rs:3")),
            call("cube::turn", cube, Owner::Author, Some("src/lib.rs:9")),
            call("cube::turn", cube, Owner::Author, Some("src/lib.rs:9")),
            call("alcedo_rt::trap::trap", cube, Owner::Library, Some("plugin-api/rt/src/trap.rs:41")),
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
                5 alcedo_rt::trap::trap   module magic_cube, generation 2   plugin-api/rt/src/trap.rs:41
                6 alcedo_runtime::call   host   runtime/src/call.rs:4
                8 main   host   2 times"#]]
        .assert_eq(&format!("it crashed{}", told(&calls)));
        assert_eq!(culprit(&calls), Some(&calls[3]), "the innermost of the author's in a module is named");
        assert_eq!(culprit(&calls[4..]), Some(&calls[4]));
        assert_eq!(culprit(&calls[5..]), Some(&calls[5]), "code of a module before the host's");
        assert_eq!(culprit(&calls[8..]), Some(&calls[8]));
        assert_eq!(told(&calls[8..]), "\n    0 main   host   2 times", "one part needs no heading");
    }

    #[test]
    fn what_is_too_long_is_cut_in_each_part_by_itself() {
        let own = (0..40).map(|line| call("own", None, Owner::Author, Some(&format!("src/lib.rs:{line}"))));
        let others = (0..33).map(|line| call("other", None, Owner::Library, Some(&format!("/x:{line}"))));
        let calls: Vec<_> = others.chain(own).collect();
        let told = told(&calls);
        let (own, others) = told.split_once("the rest:").unwrap();
        assert!(own.ends_with("\n      and 8 more\n  "), "{own}");
        assert!(others.ends_with("\n      and 1 more"), "{others}");
    }

    #[test]
    fn code_is_the_authors_unless_it_was_fetched_or_is_of_the_checkout_of_alcedo() {
        let check = |source: &str, expected: Owner| {
            let found = Owner::of("cube::turn", Some(Path::new(source)), Path::new("/home/a/alcedo"));
            assert_eq!(found, expected, "{source}");
        };
        check("/rustc/59807616e/library/core/src/panicking.rs", Owner::Std);
        check("/home/a/.rustup/toolchains/x/lib/rustlib/src/rust/library/core/src/option.rs", Owner::Std);
        check("/home/a/.cargo/registry/src/index.crates.io-1/abi_stable-0.11.3/src/lib.rs", Owner::Library);
        check("/home/a/.cargo/git/checkouts/thing-1/2/src/lib.rs", Owner::Library);
        check("/home/a/alcedo/plugin-api/rt/src/trap.rs", Owner::Library);
        check("/home/a/alcedo/runtime/engine/src/tick.rs", Owner::Library);
        check("/home/a/alcedo/example-plugins/magic-cube/src/lib.rs", Owner::Author);
        check("/home/a/alcedo/runtime/tests/plugins/broken/src/lib.rs", Owner::Author);
        check("/home/a/game/runtime/src/lib.rs", Owner::Author);
        check("/home/a/game/plugins/cube/src/lib.rs", Owner::Author);
        check("library/std/src/rt.rs", Owner::Library);
        assert_eq!(Owner::of("cube::turn", None, Path::new("/home/a/alcedo")), Owner::Library);
        for written in [
            "<cube::_::AlcedoShell5 as alcedo_plugin_api::plumbing::shells::Method>::run",
            "cube::_::<impl cube::Cube>::alcedo_red_constructor",
        ] {
            let found = Owner::of(written, Some(Path::new("/home/a/src/lib.rs")), Path::new("/home/a/alcedo"));
            assert_eq!(found, Owner::Library, "{written}");
        }
    }
}
