//! Builds scratch plugins with the real cargo, because cargo's messages and the layout of its target folder are external dependencies.

use crate::scratch::{LIB, Scratch, holds, manifest};
use alcedo_build::{BuildError, BuildRequest, Builder, Member, PluginFolder, SourceCopy, Switches, Variants, build};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

#[test]
fn a_plugin_builds_to_one_library_and_a_second_build_is_fresh() {
    let scratch = Scratch::plugin();
    let first = build(&scratch.request()).unwrap();
    let [artifact] = first.artifacts.as_slice() else { panic!("{first:?}") };
    assert_eq!((artifact.package.as_str(), artifact.fresh), ("plug", false));
    assert!(artifact.path.is_file() && artifact.path.starts_with(scratch.path("out")), "{artifact:?}");
    assert!(first.millis > 0.0 && first.warnings.is_empty(), "{first:?}");

    let second = build(&scratch.request()).unwrap();
    assert!(second.artifacts[0].fresh);
}

/// Without a unique library name, cargo would regard the copy and the author's package as equal, and would not rebuild the author's
/// library.
#[test]
fn a_copy_in_the_target_folder_of_its_package_leaves_the_authors_library_right() {
    let scratch = Scratch::plugin();
    let edits = BTreeMap::from([("src/lib.rs".into(), LIB.replace("soft-voice", "calm-voice"))]);
    let built = |request: &BuildRequest<'_>| build(request).unwrap().artifacts.remove(0);
    let copied = || {
        let copy = SourceCopy::new(scratch.manifest(), &scratch.path("out/copies/plug"), &edits).unwrap();
        built(&copy.request().target_dir(scratch.path("out"))).path
    };
    assert!(holds(&copied(), "calm-voice"));
    let own = built(&scratch.request());
    assert!(!own.fresh && holds(&own.path, "soft-voice"), "{own:?}");
    scratch.write("src/lib.rs", &LIB.replace("soft-voice", "loud-voice"));
    assert!(holds(&built(&scratch.request()).path, "loud-voice"));
    let copy = copied();
    assert!(holds(&copy, "calm-voice") && copy != own.path);
    let own = built(&scratch.request());
    assert!(own.fresh && holds(&own.path, "loud-voice"), "{own:?}");
}

#[test]
fn a_build_in_progress_counts_what_it_has_compiled() {
    let scratch = Scratch::plugin();
    for expected in [1, 0] {
        let running = Builder::new().spawn(&scratch.request()).unwrap();
        running.finished().recv().unwrap_err();
        assert_eq!(running.compiled(), expected);
        running.wait().unwrap();
    }
}

#[test]
fn compile_errors_are_printed_once_and_a_fixed_plugin_builds_again() {
    let scratch = Scratch::plugin();
    scratch.write("src/lib.rs", "pub fn f() -> u32 { \"text\" }\nfn unused() {}\n");
    match build(&scratch.request()).unwrap_err() {
        BuildError::DoesNotCompile { rendered, command, .. } => {
            assert_eq!(rendered.matches("error[E0308]: mismatched types").count(), 1, "{rendered}");
            assert!(rendered.contains("src/lib.rs:1:21") && !rendered.contains("aborting due to"), "{rendered}");
            assert!(command.starts_with("cargo build --lib"), "{command}");
        }
        other => panic!("{other:?}"),
    }
    scratch.write("src/lib.rs", "pub fn f() -> u32 { 1 }\nfn unused() {}\n");
    let mended = build(&scratch.request()).unwrap();
    assert_eq!(mended.warnings.matches("`unused` is never used").count(), 1, "{}", mended.warnings);
    assert!(!mended.warnings.contains("warning emitted") && !mended.warnings.contains('\x1b'), "{}", mended.warnings);
    let colored = build(&scratch.request().color(true)).unwrap();
    assert!(colored.warnings.contains('\x1b'), "{}", colored.warnings);
}

#[test]
fn messages_of_cargo_are_in_the_error() {
    let scratch = Scratch::plugin();
    scratch.write("Cargo.toml", "[package]\nname = \"plug\"\nversion = nonsense\n");
    let error = build(&scratch.request()).unwrap_err();
    assert!(matches!(&error, BuildError::CargoFailed { stderr, .. } if stderr.contains("Cargo.toml:3")), "{error}");

    let error = PluginFolder::of(&scratch.path("")).unwrap_err();
    assert!(matches!(&error, BuildError::Metadata { message, .. } if message.contains("Cargo.toml:3")), "{error}");

    let none = scratch.path("nowhere/Cargo.toml");
    let error = build(&BuildRequest::new(&none)).unwrap_err();
    assert!(matches!(&error, BuildError::CargoFailed { stderr, .. } if stderr.contains("nowhere")), "{error}");
}

#[test]
fn a_crate_without_a_cdylib_gets_a_hint_to_become_a_plugin() {
    let rlib = manifest("plain", "[workspace]").replace("\"cdylib\", ", "");
    let scratch = Scratch::new(&[("Cargo.toml", &rlib), ("src/lib.rs", LIB)]);
    let error = build(&scratch.request()).unwrap_err();
    assert!(matches!(error, BuildError::NoLibrary { .. }) && error.to_string().contains("crate-type"), "{error}");

    let error = PluginFolder::of(&scratch.path("")).unwrap_err();
    assert!(matches!(&error, BuildError::NoPlugins { dirs } if dirs.len() == 1), "{error}");

    let program = "[package]\nname = \"program\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
    let scratch = Scratch::new(&[("Cargo.toml", program), ("src/main.rs", "fn main() {}")]);
    let error = build(&scratch.request()).unwrap_err();
    assert!(matches!(error, BuildError::NoLibrary { .. }), "{error}");
}

#[test]
fn a_failed_build_script_speaks_for_itself() {
    let scratch = Scratch::plugin();
    scratch.write("build.rs", "fn main() { panic!(\"no such compiler\") }");
    let error = build(&scratch.request()).unwrap_err();
    assert!(matches!(&error, BuildError::CargoFailed { stderr, .. } if stderr.contains("no such compiler")), "{error}");
}

#[test]
fn a_build_script_does_not_see_the_package_that_runs_us() {
    let scratch = Scratch::plugin();
    let script = "fn main() { for name in [\"CARGO_BIN_NAME\", \"CARGO_TARGET_TMPDIR\", \"CARGO_CRATE_NAME\"] { \
                  assert!(std::env::var_os(name).is_none(), \"{name} leaked\") } \
                  assert_eq!(std::env::var(\"GIVEN\").unwrap(), \"yes\"); }";
    scratch.write("build.rs", script);
    build(&scratch.request().env("GIVEN", "yes")).unwrap();
}

#[test]
fn flags_reach_the_compiler() {
    let scratch = Scratch::plugin();
    scratch.write("src/lib.rs", "#[cfg(not(given))] compile_error!(\"not given\");");
    assert!(matches!(build(&scratch.request()), Err(BuildError::DoesNotCompile { .. })));
    build(&scratch.request().env("RUSTFLAGS", "--cfg given")).unwrap();
}

#[test]
fn a_toolchain_or_a_compiler_can_be_named() {
    let scratch = Scratch::plugin();
    let error = build(&scratch.request().toolchain("no-such")).unwrap_err();
    assert!(error.to_string().contains("no-such"), "{error}");
    let error = build(&scratch.request().env("RUSTC", scratch.path("no-rustc").display().to_string())).unwrap_err();
    assert!(error.to_string().contains("no-rustc"), "{error}");
}

#[test]
fn variants_stay_when_cargo_builds_the_plugin_differently() {
    let scratch = Scratch::plugin();
    let variants = Variants::new(scratch.path("variants"));
    let (soft, loud) = thread::scope(|scope| {
        let soft = scope.spawn(|| variants.get(&scratch.request(), "soft").unwrap());
        let loud = scope.spawn(|| variants.get(&scratch.request().feature("loud"), "loud").unwrap());
        (soft.join().unwrap(), loud.join().unwrap())
    });
    assert!(soft.starts_with(scratch.path("variants/soft")) && loud.starts_with(scratch.path("variants/loud")));
    assert!(holds(&soft, "soft-voice") && !holds(&soft, "LOUD-VOICE"));
    assert!(holds(&loud, "LOUD-VOICE") && !holds(&loud, "soft-voice"));

    let before = fs::metadata(&soft).unwrap().modified().unwrap();
    assert_eq!(variants.get(&scratch.request(), "soft").unwrap(), soft);
    assert_eq!(fs::metadata(&soft).unwrap().modified().unwrap(), before);
}

#[test]
fn a_variant_is_rebuilt_only_after_a_change_of_its_inputs() {
    let scratch = Scratch::plugin();
    let variants = Variants::new(scratch.path("variants"));
    let get = |request| variants.get(&request, "soft").unwrap();
    let soft = get(scratch.request());
    // All inputs are unchanged, so no build runs.
    let is_built = |request| {
        let _ = fs::remove_dir_all(scratch.path("out"));
        assert_eq!(get(request), soft);
        scratch.path("out/debug").exists()
    };
    assert!(!is_built(scratch.request()));
    assert!(is_built(scratch.request().env("RUSTFLAGS", "-C debuginfo=1")), "other flags");
    assert!(is_built(scratch.request()), "and back");
    scratch.write("src/lib.rs", &LIB.replace("soft", "calm"));
    assert!(is_built(scratch.request()) && holds(&soft, "calm-voice"), "another source");
    assert!(!is_built(scratch.request()));
    let text = fs::read_to_string(scratch.path("Cargo.toml")).unwrap();
    scratch.write("Cargo.toml", &format!("{text}[profile.dev]\nopt-level = 1\n"));
    assert!(is_built(scratch.request()), "another profile");
    assert!(!is_built(scratch.request()));
    fs::write(&soft, "damaged").unwrap();
    assert!(is_built(scratch.request()) && holds(&soft, "calm-voice"), "a copy that somebody wrote to");
    fs::remove_file(&soft).unwrap();
    assert!(is_built(scratch.request()) && soft.is_file(), "and one that is gone");
}

#[test]
fn a_variant_is_rebuilt_after_a_save_during_its_build() {
    let scratch = Scratch::plugin();
    let [source, new, wrapper] =
        ["src/lib.rs", "new.rs", "wrapper"].map(|file| scratch.path(file).display().to_string());
    scratch.write("new.rs", &LIB.replace("soft", "calm"));
    // Saves another source after the compiler has read the first.
    let save = format!("if [ -f {new} ]; then cat {new} > {source}; rm {new}; fi");
    let script = format!("#!/bin/sh\n\"$@\" || exit\ncase \"$*\" in *\"--crate-name plug\"*) {save};; esac\n");
    scratch.write("wrapper", &script);
    fs::set_permissions(&wrapper, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let variants = Variants::new(scratch.path("variants"));
    for voice in ["soft-voice", "calm-voice"] {
        let library = variants.get(&scratch.request().env("RUSTC_WRAPPER", &wrapper), "plain").unwrap();
        assert!(holds(&library, voice), "{voice}");
    }
}

#[test]
fn a_variant_with_generated_code_is_up_to_date_after_one_build() {
    let scratch = Scratch::plugin();
    let script = "fn main() {\n    println!(\"cargo::rerun-if-changed=build.rs\");\n    \
                  let out = std::env::var(\"OUT_DIR\").unwrap();\n    \
                  std::fs::write(out + \"/word.txt\", \"alpha-word\").unwrap();\n}\n";
    scratch.write("build.rs", script);
    let word = "include_str!(concat!(env!(\"OUT_DIR\"), \"/word.txt\"))";
    scratch.write("src/lib.rs", &LIB.replace("\"soft-voice\"", word));
    let library = Variants::new(scratch.path("variants")).get(&scratch.request(), "plain").unwrap();
    assert!(holds(&library, "alpha-word") && scratch.path("variants/plain/made-of").is_file());
}

#[test]
fn a_variant_follows_each_file_if_its_build_script_lists_none() {
    let scratch = Scratch::plugin();
    let word = "std::fs::read_to_string(\"word.txt\").unwrap()";
    scratch.write("build.rs", &format!("fn main() {{ println!(\"cargo::rustc-env=WORD={{}}\", {word}) }}"));
    scratch.write("src/lib.rs", &LIB.replace("\"soft-voice\"", "env!(\"WORD\")"));
    let variants = Variants::new(scratch.path("variants"));
    for word in ["alpha-word", "gamma-word"] {
        scratch.write("word.txt", word);
        let library = variants.get(&scratch.request(), "plain").unwrap();
        assert!(holds(&library, word), "{word}");
    }
}

#[test]
fn a_variant_follows_the_variables_that_its_sources_and_its_build_script_read() {
    const FOLDER: &str = "VARIANT_FOLDER";
    // Each child process has other variables, and builds the variant.
    if let Some(folder) = std::env::var_os(FOLDER) {
        let (folder, manifest) = (Path::new(&folder), Path::new(&folder).join("Cargo.toml"));
        let request = BuildRequest::new(&manifest).target_dir(folder.join("out"));
        Variants::new(folder.join("variants")).get(&request, "plain").unwrap();
        return;
    }
    let scratch = Scratch::plugin();
    let script = "fn main() {\n    println!(\"cargo::rerun-if-env-changed=OF_SCRIPT\");\n    \
                  println!(\"cargo::rustc-env=WORD={}\", std::env::var(\"OF_SCRIPT\").unwrap());\n}\n";
    scratch.write("build.rs", script);
    let word = "match option_env!(\"OF_SOURCE\") { Some(word) => word, None => env!(\"WORD\") }";
    scratch.write("src/lib.rs", &LIB.replace("\"soft-voice\"", word));
    let check = |of_script: &str, of_source: Option<&str>, expected: &str| {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.arg("building::a_variant_follows_the_variables_that_its_sources_and_its_build_script_read");
        child.arg("--exact").env(FOLDER, scratch.path("")).env("OF_SCRIPT", of_script);
        let output = child.envs(of_source.map(|word| ("OF_SOURCE", word))).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        assert!(holds(&scratch.path("variants/plain/libplug.so"), expected), "{expected}");
    };
    check("alpha-word", None, "alpha-word");
    check("gamma-word", None, "gamma-word");
    check("gamma-word", Some("delta-word"), "delta-word");
    check("gamma-word", Some("sigma-word"), "sigma-word");
    check("gamma-word", None, "gamma-word");
}

#[test]
fn a_variant_is_rebuilt_with_another_lock_file() {
    let scratch = Scratch::plugin();
    let variants = Variants::new(scratch.path("variants"));
    let soft = variants.get(&scratch.request(), "soft").unwrap();
    let lock = fs::read_to_string(scratch.path("Cargo.lock")).unwrap();
    scratch.write("Cargo.lock", &format!("{lock}\n# another\n"));
    fs::remove_dir_all(scratch.path("out")).unwrap();
    assert_eq!(variants.get(&scratch.request(), "soft").unwrap(), soft);
    assert!(scratch.path("out/debug").exists());
}

/// Creates a workspace with two packages of equal sources: `soft`, and a package with the feature `loud`.
fn two_members() -> (Scratch, [Member; 2]) {
    let features = "[features]\nloud = []\n";
    let loud = format!("{features}default = [\"loud\"]\n");
    let scratch = Scratch::new(&[
        ("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"soft\", \"loud\"]\n"),
        ("soft/Cargo.toml", &manifest("soft", features)),
        ("soft/src/lib.rs", LIB),
        ("loud/Cargo.toml", &manifest("soft--loud", &loud)),
    ]);
    std::os::unix::fs::symlink(scratch.path("soft/src"), scratch.path("loud/src")).unwrap();
    let member = |package: &str, label: &str| Member {
        package: package.to_owned(),
        label: label.to_owned(),
        file: "libsoft.so".to_owned(),
    };
    (scratch, [member("soft", "soft"), member("soft--loud", "soft+loud")])
}

#[test]
fn one_build_makes_all_members_and_later_only_the_changed() {
    let (scratch, members) = two_members();
    let variants = Variants::new(scratch.path("variants"));
    let get = || variants.get_all(&scratch.request(), &members).unwrap();
    let libraries = get();
    assert_eq!(libraries, ["soft", "soft+loud"].map(|label| scratch.path("variants").join(label).join("libsoft.so")));
    let voices = |soft: &str, loud: &str| {
        assert!(holds(&libraries[0], soft) && !holds(&libraries[0], loud));
        assert!(holds(&libraries[1], loud) && !holds(&libraries[1], soft));
    };
    voices("soft-voice", "LOUD-VOICE");

    // Without changes, cargo does not run. The test removes cargo's target folder, and checks that the folder stays removed.
    let compiled = || {
        let _ = fs::remove_dir_all(scratch.path("out"));
        assert_eq!(get(), libraries);
        ["soft", "soft__loud"].map(|name| scratch.path(&format!("out/debug/lib{name}.so")).exists())
    };
    assert_eq!(compiled(), [false, false]);
    let text = fs::read_to_string(scratch.path("loud/Cargo.toml")).unwrap();
    scratch.write("loud/Cargo.toml", &text.replace("default = [\"loud\"]", "default = []"));
    assert_eq!(compiled(), [false, true], "another feature of one");
    assert!(holds(&libraries[1], "soft-voice"));
    scratch.write("loud/Cargo.toml", &text);
    scratch.write("soft/src/lib.rs", &LIB.replace("soft-", "calm-").replace("LOUD-", "HUGE-"));
    assert_eq!(compiled(), [true, true], "another source of both, one of them by a link");
    voices("calm-voice", "HUGE-VOICE");
    fs::write(&libraries[0], "damaged").unwrap();
    assert_eq!(compiled(), [true, false]);
    voices("calm-voice", "HUGE-VOICE");
    assert_eq!(compiled(), [false, false]);

    scratch.write("soft/src/lib.rs", &format!("{LIB}#[cfg(feature = \"loud\")] compile_error!(\"too loud\");"));
    let error = variants.get_all(&scratch.request(), &members).unwrap_err().to_string();
    assert!(error.contains("too loud") && error.contains("loud/src/lib.rs"), "{error}");
    assert_eq!(
        variants.get_all(&scratch.request(), &members[..1]).unwrap(),
        libraries[..1],
        "the healthy one is built"
    );
}

const SWITCHES: &str = r#"
#[used]
#[unsafe(link_section = ".alcedo.switches")]
static SWITCHES: [u8; 60] = *b"alcedo-switch:loud=0\nalcedo-switch:low=0\nalcedo-tag:\0\0\0\0\0\0\0\0";
"#;

#[test]
fn a_copy_with_switches_needs_no_build() {
    let scratch = Scratch::plugin();
    scratch.write("src/lib.rs", &format!("{LIB}{SWITCHES}"));
    let variants = Variants::new(scratch.path("variants"));
    let plain = variants.get(&scratch.request(), "plain").unwrap();
    fs::remove_dir_all(scratch.path("out")).unwrap();
    let loud = || variants.switched(&plain, "loud", &Switches { on: &["loud"], tag: Some(7) }).unwrap();
    let copy = loud();
    assert_eq!(copy, scratch.path("variants/loud").join(plain.file_name().unwrap()));
    for (library, expected) in [
        (&plain, ["switch:loud=0", "switch:low=0", "tag:\0"]),
        (&copy, ["switch:loud=1", "switch:low=0", "tag:\u{7}\0"]),
    ] {
        assert!(expected.iter().all(|text| holds(library, text)), "{}", library.display());
        assert!(alcedo_sys::ImageFile::read(library).unwrap().is_sealed());
    }

    // Checks that a copy that is up to date is not written again, because it may be loaded and watched.
    let written = || fs::metadata(&copy).unwrap().modified().unwrap();
    let before = written();
    assert_eq!((loud(), written()), (copy.clone(), before));
    fs::write(&copy, "damaged").unwrap();
    assert!(loud() == copy && holds(&copy, "switch:loud=1"));
    scratch.write("src/lib.rs", &format!("{}{SWITCHES}", LIB.replace("soft-", "calm-")));
    variants.get(&scratch.request(), "plain").unwrap();
    assert!(loud() == copy && holds(&copy, "calm-voice") && holds(&copy, "switch:loud=1"), "of another build");

    let error = variants.switched(&plain, "shrill", &Switches { on: &["shrill"], tag: None }).unwrap_err().to_string();
    assert!(
        error.contains("no switch `shrill`, but loud, low") && error.contains("fixture::on!(\"shrill\")"),
        "{error}"
    );
    assert!(!scratch.path("variants/shrill").exists());
}

#[test]
fn a_canceled_build_is_reported_and_the_next_is_complete() {
    let scratch = Scratch::plugin();
    // Uses a build script that writes a file while it runs, as a compiler would write its library.
    let script = "use std::{fs, thread, time::Duration}; fn main() { for beat in 0..600 { \
                  fs::write(\"beat\", beat.to_string()).unwrap(); thread::sleep(Duration::from_millis(20)) } }";
    scratch.write("build.rs", script);
    let beat = || fs::read_to_string(scratch.path("beat"));
    let mut running = Builder::new().spawn(&scratch.request()).unwrap();
    while beat().is_err() {
        thread::sleep(Duration::from_millis(20));
    }
    assert!(running.finished().try_recv().is_err_and(|error| error.is_empty()));
    running.cancel();
    assert!(matches!(running.wait(), Err(BuildError::Canceled { .. })));
    let last = beat().unwrap();
    thread::sleep(Duration::from_millis(200));
    assert_eq!(beat().unwrap(), last, "what cargo started was ended with it");

    fs::remove_file(scratch.path("build.rs")).unwrap();
    let running = Builder::new().spawn(&scratch.request()).unwrap();
    assert!(running.finished().recv().is_err()); // The channel is disconnected, so the build has ended.
    assert_eq!(running.wait().unwrap().artifacts.len(), 1);
}

#[test]
fn a_workspace_yields_its_plugins_and_a_member_only_itself() {
    let scratch = Scratch::new(&[
        ("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"one\", \"two\", \"shared\"]\n"),
        ("one/Cargo.toml", &manifest("one", "[dependencies]\ntwo.path = \"../two\"")),
        ("one/src/lib.rs", "pub use two::voice;"),
        ("two/Cargo.toml", &manifest("two", "[dependencies]\nshared.path = \"../shared\"\n[features]\nloud = []")),
        ("two/src/lib.rs", LIB),
        ("shared/Cargo.toml", &manifest("shared", "").replace("\"cdylib\", ", "")),
        ("shared/src/lib.rs", ""),
    ]);
    let root = scratch.path("").canonicalize().unwrap();
    let in_folder = |dir: &Path| PluginFolder::of(dir).unwrap().plugins;
    let plugins = in_folder(&root);
    let names: Vec<_> = plugins.iter().map(|plugin| plugin.name.as_str()).collect();
    assert_eq!(names, ["one", "two"]);
    assert_eq!(plugins[0].source_dirs, ["one/src", "shared/src", "two/src"].map(|dir| root.join(dir)));
    assert_eq!(plugins[1].source_dirs, ["shared/src", "two/src"].map(|dir| root.join(dir)));
    assert_eq!(in_folder(&root.join("two")), plugins[1..]);

    // Plugins that are not default members are found only if their own folders are specified.
    let members = "[workspace]\nresolver = \"3\"\nmembers = [\"one\", \"two\", \"shared\"]\n";
    scratch.write("Cargo.toml", &format!("{members}default-members = [\"shared\", \"two\"]\n"));
    let folder = PluginFolder::of(&root).unwrap();
    assert_eq!((&folder.plugins[..], &folder.left_out[..]), (&plugins[1..], &plugins[..1]));
    assert_eq!(in_folder(&root.join("one")), plugins[..1]);
    scratch.write("Cargo.toml", &format!("{members}default-members = [\"shared\"]\n"));
    assert_eq!(PluginFolder::of(&root).unwrap().plugins, plugins, "no default member is a plugin");
    scratch.write("Cargo.toml", members);

    // `two` is built as a dependency of `one`, including its cdylib. The result does not contain `two`, because only `one` was requested.
    let one = build(&plugins[0].request().target_dir(root.join("out"))).unwrap();
    assert_eq!(one.artifacts.iter().map(|artifact| artifact.package.as_str()).collect::<Vec<_>>(), ["one"]);
    let both = build(&scratch.request()).unwrap();
    assert_eq!(both.artifacts.len(), 2);
    assert!(scratch.manifest().is_file());
}
