//! Tests plugins that were built with another compiler, linker or profile than the host. Host and plugin share only the ABI. These plugins
//! therefore load, work and keep objects like all plugins.
//!
//! Each compiler builds all dependencies of plugins, which takes minutes. These tests therefore run only if `ALCEDO_COMPILERS` is set, as
//! in a job of `.ci/run`. Skipped tests and missing tools are reported on stderr.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

mod old;

use crate::support;

use std::path::{Path, PathBuf};
use std::process::Command;

use alcedo_abi::manifest::{Manifest, SECTION};
use alcedo_build::{BuildRequest, Switches};
use alcedo_runtime::{Budget, ReloadReport, Runtime, Value};
use semver::Version;

use support::elf::section;
use support::{skip, uses_other_compilers};

const CUBE: &str = "/Script/Game.MagicCube";
const FRAGILE: &str = "/Script/Game.Fragile";
const SHIELDED: &str = "/Script/Game.ShieldedSet";

/// Compiler other than the host's: a label, and a function that makes a build request use this compiler. Builds by this compiler have the
/// tag 2, and builds by the host's compiler have the tag 1.
struct Other {
    label: &'static str,
    change: fn(BuildRequest<'_>) -> BuildRequest<'_>,
}

impl Other {
    fn plugin(&self, package: &str) -> PathBuf {
        let label = format!("{package}-{}", self.label);
        let built = support::build(&(self.change)(support::request(package, &[])), &label);
        support::with_switches(&built, &format!("{label}-2"), &Switches { on: &[], tag: Some(2) })
    }
}

fn reload(host: &Runtime, libraries: &[&Path]) -> ReloadReport {
    host.reload(libraries).expect("there is a Master").into_result().unwrap_or_else(|report| panic!("{report}"))
}

/// Alternates between builds of two compilers: `theirs` has the tag 2. Each build keeps the objects of the previous build.
fn check_cubes(theirs: &Path) {
    let ours = support::tagged("magic-cube", &[], 1);
    let host = support::host(std::slice::from_ref(&ours));
    let mut cubes = vec![host.objects().spawn(CUBE).expect("a cube")];
    host.objects().set(cubes[0], "rotation_speed", &Value::F64(1234.5)).expect("a number");

    for (swaps, (library, tag)) in (1_u16..).zip([(theirs, 2), (&*ours, 1), (theirs, 2)]) {
        host.objects().call(cubes[0], "say_hello", &[]).expect("the call succeeds");
        let report = reload(&host, &[library]);
        let living = cubes.len() as u64; // each with a component, which has no plugin part
        assert_eq!((report.objects_kept, report.conjugates_rebuilt), (2 * living, living));
        assert_eq!((report.class_constructors_rerun, report.fields_lost), (0, vec![]));

        assert_eq!(support::tag(&host), tag);
        assert_eq!(host.objects().get(cubes[0], "rotation_speed").expect("it has one"), Value::F64(1234.5));
        assert_eq!(
            host.objects().call(cubes[0], "greeting_count", &[]).expect("it counts"),
            Some(Value::U32(swaps.into()))
        );
        // Ticks read properties, call the engine with structs, and write back.
        let value_of = |name: &str| {
            cubes.iter().map(|cube| host.objects().get(*cube, name).expect("an actor")).collect::<Vec<_>>()
        };
        let before = (value_of("rotation"), value_of("location"));
        host.tick(Budget::seconds(0.1 * f32::from(swaps))); // each build restarts the bobbing, so the height changes
        let after = (value_of("rotation"), value_of("location"));
        let pairs = before.0.iter().zip(&after.0).chain(before.1.iter().zip(&after.1));
        assert!(
            pairs.clone().count() == 2 * cubes.len() && pairs.clone().all(|(was, is)| was != is),
            "{before:?} {after:?}"
        );
        // Creates a cube of this build. A reload to the next compiler's build must keep this cube.
        cubes.push(host.objects().spawn(CUBE).expect("a cube of this build"));
    }
    assert!(cubes.iter().all(|cube| host.objects().is_alive(*cube)));
    host.shutdown().into_result().expect("both images are gone");
}

/// Checks an object with two plugin parts from two modules. Different compilers have built the modules. Then exchanges the compilers.
fn check_parts(other: &Other) {
    let ours = |package| support::plugin(package, &[]);
    let host = support::host(&[ours("glue-base"), other.plugin("glue-derived")]);
    let set = host.objects().spawn(SHIELDED).expect("a set");
    let number = |name| host.objects().get(set, name).expect("it has one");
    // The event calls the override. The override calls the base function with a string.
    let hit = || host.objects().call(set, "change_health", &[Value::F64(-30.0)]).expect("it is hit");
    let absorbed = || host.objects().call(set, "absorbed", &[]).expect("it counts");

    assert_eq!((hit(), absorbed()), (Some(Value::F64(100.0)), Some(Value::F64(30.0))));
    let report = reload(&host, &[&ours("glue-derived"), &other.plugin("glue-base")]);
    assert_eq!((report.objects_kept, report.fields_kept, report.fields_lost), (1, 2, vec![]));
    assert_eq!((number("shield"), absorbed()), (Value::F64(20.0), Some(Value::F64(30.0))));
    assert_eq!((hit(), absorbed()), (Some(Value::F64(90.0)), Some(Value::F64(50.0))));
    assert_eq!(host.objects().call(set, "change_count", &[]).expect("it counts"), Some(Value::U32(2)));
}

/// Checks calls by name in both directions, and a panic. The plugin itself must catch the panic and report the location of the panic.
fn check_calls_and_panics(other: &Other) {
    let host = support::host(&[other.plugin("broken")]);
    let answer = |_: &Runtime, _: &[Value]| Ok(Some(Value::Text("the host answers".to_owned())));
    host.calls().register("host.answer", "-> String".parse().expect("a signature"), answer).expect("a free name");
    let object = host.objects().spawn(FRAGILE).expect("an object");
    let text = |text: &str| Value::Text(text.to_owned());
    let relayed = host.objects().call(object, "relay", &[text("ex:/host.answer")]).expect("it relays");
    assert_eq!(relayed, Some(text("the host answers")));

    host.calls().call("nm:/broken:Fragile:panic_next_in", &[text("method")]).expect("it takes a text");
    let panic = host.objects().call(object, "poke", &[]).expect_err("it panics").to_string();
    let location = support::line_of("broken", r#"misbehave(fixture::on!("panic-in-method")"#);
    assert!(panic.contains("broken on purpose: method") && panic.contains(&location), "{panic}");
    assert_eq!(host.objects().call(object, "state", &[]).expect("it works"), Some(text("pokes=1 nerves=1")));
    host.shutdown().into_result().expect("its image is gone");
}

/// Returns the compiler that built the library, as named in its manifest.
fn compiler(library: &Path) -> String {
    let bytes = std::fs::read(library).expect("just built");
    let manifest = Manifest::read(&bytes[section(&bytes, SECTION)]).expect("a manifest");
    manifest.compiler.to_owned()
}

/// Returns the compiler and the linker, as named in the library's `.comment` section.
fn comment(library: &Path) -> String {
    let bytes = std::fs::read(library).expect("just built");
    String::from_utf8_lossy(&bytes[section(&bytes, ".comment")]).into_owned()
}

/// Returns the output of a program, or `None` if the program is missing or fails. The program runs without cargo's library path.
fn output_of(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).env_remove("LD_LIBRARY_PATH").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_nightly_plugin_with_layouts_of_its_own_works_in_this_host() {
    let test = "a_nightly_plugin_with_layouts_of_its_own_works_in_this_host";
    if !uses_other_compilers(test) {
        return;
    }
    // Queries rustup, because a command that names a missing toolchain may install the toolchain.
    match output_of("rustup", &["toolchain", "list"]) {
        Some(list) if list.lines().any(|line| line.starts_with("nightly-")) => {}
        Some(_) => return skip(test, "the nightly toolchain is missing; run `rustup toolchain install nightly`"),
        None => return skip(test, "rustup is missing, so no nightly toolchain can be found"),
    }
    let other = Other {
        label: "nightly",
        change: |request| {
            let request = request.toolchain("nightly").env("RUSTFLAGS", "-Zrandomize-layout");
            // Sets the optimization level in the profile instead of by `-C`, because macros and build scripts need no optimization.
            request.env("CARGO_PROFILE_DEV_OPT_LEVEL", "2").target_dir(support::test_dir().join("plugins-nightly"))
        },
    };
    let (ours, theirs) = (compiler(&support::plugin("broken", &[])), compiler(&other.plugin("broken")));
    assert!(theirs.contains("nightly") && theirs != ours, "{theirs} against {ours}");
    check_cubes(&other.plugin("magic-cube"));
    check_parts(&other);
    check_calls_and_panics(&other);
}

/// Debian's compiler, a stable version that Debian built from source.
const DEBIANS: &str = "/usr/bin/rustc";

#[test]
fn a_plugin_of_debians_compiler_works_in_this_host() {
    let test = "a_plugin_of_debians_compiler_works_in_this_host";
    if !uses_other_compilers(test) {
        return;
    }
    let Some(version) = output_of(DEBIANS, &["-V"]) else {
        return skip(test, "/usr/bin/rustc is missing; run `apt-get install rustc-web`");
    };
    let number = version.split_whitespace().nth(1).and_then(|number| Version::parse(number).ok());
    let required = Version::parse(&format!("{}.0", env!("CARGO_PKG_RUST_VERSION"))).expect("a version");
    if number.is_none_or(|number| number < required) {
        return skip(test, &format!("/usr/bin/rustc is {}, plugins need {required}", version.trim()));
    }
    let ours = compiler(&support::plugin("broken", &[]));
    if ours == version.trim() {
        return skip(test, &format!("/usr/bin/rustc is our own compiler, {ours}"));
    }
    let other = Other {
        label: "debian",
        change: |request| request.env("RUSTC", DEBIANS).target_dir(support::test_dir().join("plugins-debian")),
    };
    assert_eq!(compiler(&other.plugin("broken")), version.trim());
    check_cubes(&other.plugin("magic-cube"));
    check_parts(&other);
    check_calls_and_panics(&other);
}

#[test]
fn a_plugin_linked_by_gnu_ld_works_in_this_host() {
    if output_of("ld.bfd", &["--version"]).is_none() {
        return skip("a_plugin_linked_by_gnu_ld_works_in_this_host", "ld.bfd of the package binutils is missing");
    }
    let other = Other {
        label: "gnu-ld",
        change: |request| support::flags::with_flags(request, "gnu-ld", "-C link-arg=-fuse-ld=bfd -C strip=debuginfo"),
    };
    let theirs = comment(&other.plugin("magic-cube"));
    assert!(!theirs.contains("LLD"), "another linker signed it: {theirs}");
    check_cubes(&other.plugin("magic-cube"));
    check_parts(&other);
}

#[test]
fn an_optimized_plugin_of_one_piece_works_in_this_host() {
    if !uses_other_compilers("an_optimized_plugin_of_one_piece_works_in_this_host") {
        return;
    }
    let other = Other {
        label: "one-piece",
        change: |request| {
            let request = request.release(true).env("CARGO_PROFILE_RELEASE_LTO", "fat");
            request.env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")
        },
    };
    check_cubes(&other.plugin("magic-cube"));
    check_calls_and_panics(&other);
}

/// Returns true for an environment variable that cargo sets for the programs that it runs.
fn is_cargos_own(name: &str) -> bool {
    let names =
        ["CARGO", "CARGO_CRATE_NAME", "CARGO_PRIMARY_PACKAGE", "CARGO_TARGET_TMPDIR", "LD_LIBRARY_PATH", "OUT_DIR"];
    let prefixes = ["CARGO_MANIFEST_", "CARGO_PKG_", "CARGO_BIN_"];
    names.contains(&name) || prefixes.iter().any(|prefix| name.starts_with(prefix))
}

/// Runs cargo with the environment of a shell and the target folder of the tests. Returns the crates that cargo compiles.
fn compiled_from_a_shell(package: &str, features: &str) -> Vec<String> {
    let mut command = Command::new("cargo");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_cargos_own)) {
        command.env_remove(name);
    }
    command.args(["build", "--lib", "--message-format=json", "--package", package, "--features", features]);
    let folder = support::workspace::manifest().parent().expect("the manifest is in a folder");
    command.arg("--target-dir").arg(support::test_dir().join("plugins")).current_dir(folder);
    let output = command.output().expect("cargo runs");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(stdout.contains(r#""fresh":"#), "cargo reports each crate: {stdout}");
    stdout.lines().filter(|line| line.contains(r#""fresh":false"#)).map(str::to_owned).collect()
}

#[test]
fn a_plugin_is_built_once_for_tests_and_the_shell() {
    // No other test builds this request.
    let request = support::request("switchboard", &[]);
    let is_fresh = || {
        let built = alcedo_build::build(&request).unwrap_or_else(|error| panic!("{error}"));
        built.artifacts.iter().all(|artifact| artifact.fresh)
    };
    is_fresh(); // the first build may compile
    assert!(is_fresh(), "a test rebuilds the plugin after a test");
    assert_eq!(compiled_from_a_shell("switchboard", ""), Vec::<String>::new());
    assert!(is_fresh(), "a test rebuilds the plugin after a shell");
}

#[test]
fn changing_a_plugin_feature_recompiles_only_the_plugin() {
    let plain = support::request("broken", &[]);
    for features in ["unknown-base", "", "unknown-base"] {
        alcedo_build::build(&plain).unwrap_or_else(|error| panic!("{error}"));
        let compiled = compiled_from_a_shell("broken", features);
        let others: Vec<_> = compiled.iter().filter(|line| !line.contains(r#""name":"broken""#)).collect();
        assert!(others.is_empty(), "{others:#?}");
    }
}
