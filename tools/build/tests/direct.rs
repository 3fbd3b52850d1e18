//! Builds scratch plugins repeatedly, with and without cargo. After any edit, the library must contain the new code, and later builds by
//! cargo must be correct.

use crate::scratch::{LIB, Scratch, holds, manifest};
use alcedo_build::{BuildError, BuildMethod, BuildOutcome, BuildRequest, Builder, CargoReason, Variants, build};
use std::fs::{self, File};
use std::thread;
use std::time::Duration;

/// A scratch plugin in an empty target folder, and a builder.
struct Edits {
    scratch: Scratch,
    builder: Builder,
}

fn cdylib(rest: &str) -> String {
    manifest("plug", rest).replace(", \"rlib\"", "")
}

/// Returns the source of a plugin whose library contains these strings.
fn strings(texts: &[&str]) -> String {
    let name = |at: usize| format!("TEXT{at}");
    let text = |(at, text): (usize, &&str)| {
        format!(
            "#[unsafe(no_mangle)]\npub extern \"C\" fn {}() -> *const u8 {{ {text}.as_ptr() }}\n",
            name(at).to_lowercase()
        )
    };
    texts.iter().enumerate().map(text).collect()
}

impl Edits {
    fn new(files: &[(&str, &str)]) -> Self {
        Self { scratch: Scratch::new(files), builder: Builder::new() }
    }

    /// Builds the request. Checks that the library contains each of `expected` and none of `stale`. Returns `direct`, or the reason why
    /// cargo ran.
    fn built_with(&self, request: &BuildRequest<'_>, expected: &[&str], stale: &[&str]) -> (String, BuildOutcome) {
        let outcome = self.builder.build(request).unwrap_or_else(|error| panic!("{error}"));
        let holds = |text: &str| holds(&outcome.artifacts[0].path, text);
        assert!(expected.iter().all(|text| holds(text)), "{expected:?} of {outcome:?}");
        assert!(!stale.iter().any(|text| holds(text)), "{stale:?} of {outcome:?}");
        let method = match &outcome.method {
            BuildMethod::Direct { .. } => "direct".to_owned(),
            BuildMethod::Cargo(CargoReason::Changed(path)) => path.file_name().unwrap().to_str().unwrap().to_owned(),
            BuildMethod::Cargo(reason) => reason.to_string(),
            _ => unreachable!(),
        };
        (method, outcome)
    }

    fn built(&self, expected: &[&str], stale: &[&str]) -> String {
        self.built_with(&self.scratch.request(), expected, stale).0
    }

    /// Replaces `old` by `new` in a file. Afterwards, the file is newer than all files of the last build.
    fn edit(&self, path: &str, old: &str, new: &str) {
        let text = fs::read_to_string(self.scratch.path(path)).unwrap();
        assert!(text.contains(old), "{text}");
        self.scratch.write(path, &text.replace(old, new));
    }
}

const NOT_RECORDED: &str = "no compiler call is recorded yet";

#[test]
fn own_sources_are_compiled_without_cargo_which_is_right_afterwards() {
    let edits = Edits::new(&[("Cargo.toml", &cdylib("[workspace]")), ("src/lib.rs", &strings(&["\"alpha-word\""]))]);
    assert_eq!(edits.built(&["alpha-word"], &[]), NOT_RECORDED);
    let kept = edits.scratch.path("kept.rs");
    fs::copy(edits.scratch.path("src/lib.rs"), &kept).unwrap();
    let time = fs::metadata(edits.scratch.path("src/lib.rs")).unwrap().modified().unwrap();

    edits.edit("src/lib.rs", "alpha", "gamma");
    let (method, outcome) = edits.built_with(&edits.scratch.request(), &["gamma-word"], &["alpha-word"]);
    assert_eq!((method.as_str(), outcome.artifacts[0].fresh), ("direct", false));
    assert_eq!(outcome.artifacts[0].path, edits.scratch.path("out/debug/libplug.so"));
    assert!(alcedo_sys::ImageFile::read(&outcome.artifacts[0].path).unwrap().is_sealed());
    let (method, outcome) = edits.built_with(&edits.scratch.request(), &["gamma-word"], &["alpha-word"]);
    assert_eq!((method.as_str(), outcome.artifacts[0].fresh), ("direct", true));

    // Saves equal content. Nothing is compiled, so the build needs no lock.
    edits.edit("src/lib.rs", "gamma", "gamma");
    let lock = File::options().read(true).write(true).open(edits.scratch.path("out/debug/.cargo-lock")).unwrap();
    lock.lock().unwrap();
    let (method, outcome) = edits.built_with(&edits.scratch.request(), &["gamma-word"], &["alpha-word"]);
    assert_eq!((method.as_str(), outcome.artifacts[0].fresh), ("direct", true));
    drop(lock);

    let cargo = build(&edits.scratch.request()).unwrap();
    assert!(!cargo.artifacts[0].fresh, "the call left no trace in cargo's records");
    assert_eq!(edits.built(&["gamma-word"], &["alpha-word"]), "direct");

    // Adds a module in a new file, which the compiler finds.
    edits.scratch.write("src/more.rs", &strings(&["\"delta-word\""]).replace("text0", "more"));
    edits.edit("src/lib.rs", "#[unsafe", "pub mod more;\n#[unsafe");
    let (method, outcome) = edits.built_with(&edits.scratch.request(), &["gamma-word", "delta-word"], &[]);
    assert_eq!(method, "direct");
    let inputs = outcome.artifacts[0].inputs();
    assert!(inputs.iter().any(|input| input.ends_with("src/more.rs")), "{inputs:?}");
    edits.edit("src/more.rs", "delta", "omega");
    assert_eq!(edits.built(&["gamma-word", "omega-word"], &["delta-word"]), "direct");

    // Restores the source of cargo's last build with its modification time, so that cargo detects no change to this source.
    fs::copy(&kept, edits.scratch.path("src/lib.rs")).unwrap();
    File::options().write(true).open(edits.scratch.path("src/lib.rs")).unwrap().set_modified(time).unwrap();
    assert_eq!(edits.built(&["alpha-word"], &["gamma-word"]), "direct");
    build(&edits.scratch.request()).unwrap();
}

#[test]
fn cargo_is_right_about_a_source_that_is_restored_with_its_time() {
    let edits = Edits::new(&[("Cargo.toml", &cdylib("[workspace]")), ("src/lib.rs", &strings(&["\"alpha-word\""]))]);
    edits.built(&["alpha-word"], &[]);
    let (source, kept) = (edits.scratch.path("src/lib.rs"), edits.scratch.path("kept.rs"));
    fs::rename(&source, &kept).unwrap();
    fs::write(&source, strings(&["\"gamma-word\""])).unwrap();
    assert_eq!(edits.built(&["gamma-word"], &["alpha-word"]), "direct");
    fs::rename(&kept, &source).unwrap();
    let outcome = build(&edits.scratch.request()).unwrap();
    assert!(outcome.artifacts[0].fresh, "cargo compares times only");
    assert!(holds(&outcome.artifacts[0].path, "alpha-word"), "and has kept the library of that source");
    assert_eq!(edits.built(&["alpha-word"], &["gamma-word"]), "direct");
}

/// An editor may delete a file and write it again.
#[test]
fn a_source_that_was_missing_during_a_build_is_fresh_afterwards() {
    let edits = Edits::new(&[("Cargo.toml", &cdylib("[workspace]")), ("src/lib.rs", &strings(&["\"alpha-word\""]))]);
    edits.built(&["alpha-word"], &[]);
    edits.edit("src/lib.rs", "alpha", "gamma");
    assert_eq!(edits.built(&["gamma-word"], &["alpha-word"]), "direct");
    let source = edits.scratch.path("src/lib.rs");
    let text = fs::read_to_string(&source).unwrap();
    fs::remove_file(&source).unwrap();
    edits.builder.build(&edits.scratch.request()).unwrap_err();
    fs::write(&source, text).unwrap();
    let (method, outcome) = edits.built_with(&edits.scratch.request(), &["gamma-word"], &["alpha-word"]);
    assert_eq!((method.as_str(), outcome.artifacts[0].fresh), ("direct", true));
}

#[test]
fn included_files_are_sources_and_a_dependency_is_cargos() {
    let edits = Edits::new(&[
        ("Cargo.toml", &cdylib("[workspace]\n[dependencies]\ndep.path = \"dep\"")),
        ("src/lib.rs", &strings(&["include_str!(\"text.txt\")", "dep::TEXT"])),
        ("src/text.txt", "alpha-text"),
        ("dep/Cargo.toml", "[package]\nname = \"dep\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        ("dep/src/lib.rs", "mod inner;\npub use inner::TEXT;"),
        ("dep/src/inner.rs", "pub const TEXT: &str = include_str!(\"deep.txt\");"),
        ("dep/src/deep.txt", "alpha-deep"),
    ]);
    assert_eq!(edits.built(&["alpha-text", "alpha-deep"], &[]), NOT_RECORDED);
    edits.edit("src/text.txt", "alpha", "gamma");
    assert_eq!(edits.built(&["gamma-text", "alpha-deep"], &["alpha-text"]), "direct");
    edits.edit("dep/src/deep.txt", "alpha", "gamma");
    assert_eq!(edits.built(&["gamma-text", "gamma-deep"], &["alpha-deep"]), "deep.txt");
    edits.edit("dep/src/inner.rs", "TEXT: &str", "TEXT : &str");
    edits.edit("src/text.txt", "gamma", "delta");
    assert_eq!(edits.built(&["delta-text", "gamma-deep"], &["gamma-text"]), "inner.rs");
    edits.edit("src/text.txt", "delta", "omega");
    assert_eq!(edits.built(&["omega-text"], &["delta-text"]), "direct");
    // Changes the manifest of the dependency.
    edits.edit("dep/Cargo.toml", "0.1.0", "0.1.1");
    edits.edit("src/text.txt", "omega", "sigma");
    assert_eq!(edits.built(&["sigma-text"], &["omega-text"]), "Cargo.toml");
    // Cargo has written the new version into the lock file.
    assert_eq!(edits.built(&["sigma-text"], &[]), "Cargo.lock");
    assert_eq!(edits.built(&["sigma-text"], &[]), "direct");
    fs::remove_dir_all(edits.scratch.path("out")).unwrap();
    assert!(edits.built(&["sigma-text", "gamma-deep"], &[]).ends_with(".rlib"));
}

#[test]
fn a_manifest_that_a_plugin_includes_is_cargos() {
    let edits = Edits::new(&[
        ("Cargo.toml", &cdylib("[workspace]\n[features]\nloud = []")),
        ("src/lib.rs", &strings(&["include_str!(\"../Cargo.toml\")"])),
    ]);
    assert_eq!(edits.built(&["loud = []"], &[]), NOT_RECORDED);
    edits.edit("Cargo.toml", "loud = []", "calm = []");
    assert_eq!(edits.built(&["calm = []"], &["loud = []"]), "Cargo.toml");
}

#[test]
fn a_member_of_a_workspace_in_another_folder_is_cargos() {
    let edits = Edits::new(&[
        ("plug/Cargo.toml", &cdylib("").replace("edition", "workspace = \"../all\"\nedition")),
        (
            "plug/src/lib.rs",
            &strings(&["const { if cfg!(debug_assertions) { \"alpha-build\" } else { \"gamma-build\" } }"]),
        ),
        (
            "all/Cargo.toml",
            "[workspace]\nmembers = [\"../plug\"]\nresolver = \"3\"\n[profile.dev]\ndebug-assertions = true\n",
        ),
        ("plug/Cargo.lock", "# left over\n"),
    ]);
    let manifest = edits.scratch.path("plug/Cargo.toml");
    let request = BuildRequest::new(&manifest).target_dir(edits.scratch.path("out"));
    edits.built_with(&request, &["alpha-build"], &[]);
    let variants = Variants::new(edits.scratch.path("variants"));
    let holds = |text: &str| holds(&variants.get(&request, "plain").unwrap(), text);
    assert!(holds("alpha-build"));
    edits.edit("all/Cargo.toml", "true", "false");
    assert_eq!(edits.built_with(&request, &["gamma-build"], &["alpha-build"]).0, "Cargo.toml");
    assert!(holds("gamma-build"));
}

/// The program `/bin/false` fails as a linker, so a build that used it would need cargo.
#[test]
fn a_linker_in_the_flags_of_the_user_is_kept() {
    let plain = Edits::new(&[("Cargo.toml", &cdylib("[workspace]")), ("src/lib.rs", &strings(&["\"alpha-word\""]))]);
    let edits = Edits { builder: Builder::new().linker("/bin/false"), ..plain };
    let request = edits.scratch.request().env("RUSTFLAGS", "-Clinker=cc");
    edits.built_with(&request, &["alpha-word"], &[]);
    edits.edit("src/lib.rs", "alpha", "gamma");
    assert_eq!(edits.built_with(&request, &["gamma-word"], &["alpha-word"]).0, "direct");
}

#[test]
fn a_new_compiler_that_is_found_by_path_is_cargos() {
    use std::os::unix::fs::PermissionsExt as _;

    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let script = format!("#!/bin/sh\nexec '{compiler}' \"$@\"\n");
    let edits = Edits::new(&[
        ("Cargo.toml", &cdylib("[workspace]")),
        ("src/lib.rs", &strings(&["\"alpha-word\""])),
        ("bin/plain-compiler", &script),
    ]);
    let folder = edits.scratch.path("bin");
    fs::set_permissions(folder.join("plain-compiler"), fs::Permissions::from_mode(0o755)).unwrap();
    // Adds an entry that is a file. Reading the metadata of a path below a file fails.
    let entries = ["early", "plain-compiler", ""].map(|name| folder.join(name).display().to_string()).join(":");
    let path = format!("{entries}:{}", std::env::var("PATH").unwrap());
    let request = edits.scratch.request().env("PATH", path).env("RUSTC", "plain-compiler");
    edits.built_with(&request, &["alpha-word"], &[]);
    assert_eq!(edits.built_with(&request, &["alpha-word"], &[]).0, "direct");
    edits.edit("bin/plain-compiler", "#!/bin/sh", "#!/bin/sh -e");
    assert_eq!(edits.built_with(&request, &["alpha-word"], &[]).0, "plain-compiler");
    assert_eq!(edits.built_with(&request, &["alpha-word"], &[]).0, "direct");
    // Adds a compiler to an earlier folder of PATH.
    fs::create_dir(folder.join("early")).unwrap();
    std::os::unix::fs::symlink(folder.join("plain-compiler"), folder.join("early/plain-compiler")).unwrap();
    assert_eq!(edits.built_with(&request, &["alpha-word"], &[]).0, "plain-compiler");
}

#[test]
fn a_variable_a_feature_and_a_manifest_are_cargos() {
    let source = strings(&["match option_env!(\"VOICE\") { Some(voice) => voice, None => \"no-voice\" }"]);
    let edits = Edits::new(&[
        ("Cargo.toml", &cdylib("[workspace]\n[features]\nloud = []")),
        ("src/lib.rs", &(source + "#[cfg(feature = \"loud\")]\n" + &strings(&["\"LOUD\""]).replace("text0", "loud"))),
    ]);
    let request = || edits.scratch.request();
    assert_eq!(edits.built(&["no-voice"], &["LOUD"]), NOT_RECORDED);
    let soft = request().env("VOICE", "soft-voice");
    assert_eq!(edits.built_with(&soft, &["soft-voice"], &[]).0, "the variable VOICE has changed");
    edits.edit("src/lib.rs", "no-voice", "none-voice");
    assert_eq!(edits.built_with(&soft, &["soft-voice"], &[]).0, "direct");
    assert_eq!(edits.built(&["none-voice"], &["soft-voice"]), "the variable VOICE has changed");

    // Builds with two sets of features, which have separate records, but share one library path.
    let loud = request().feature("loud");
    assert_eq!(edits.built_with(&loud, &["LOUD"], &[]).0, NOT_RECORDED);
    assert_eq!(edits.built(&["none-voice"], &["LOUD"]), "direct");
    assert_eq!(edits.built_with(&loud, &["LOUD"], &[]).0, "direct");
    assert_eq!(edits.built_with(&request().release(true), &[], &["LOUD"]).0, NOT_RECORDED);
    assert_eq!(edits.built(&["none-voice"], &["LOUD"]), "direct");

    edits.edit("Cargo.toml", "loud = []", "loud = []\ndefault = [\"loud\"]");
    assert_eq!(edits.built(&["none-voice", "LOUD"], &[]), "Cargo.toml");
    let lock = fs::read_to_string(edits.scratch.path("Cargo.lock")).unwrap();
    edits.scratch.write("Cargo.lock", &format!("{lock}\n# other\n"));
    assert_eq!(edits.built(&["LOUD"], &[]), "Cargo.lock");
    edits.scratch.write(".cargo/config.toml", "[env]\nVOICE = \"config-voice\"\n");
    assert_eq!(edits.built(&["config-voice"], &[]), "config.toml");
    edits.edit("src/lib.rs", "none-voice", "zero-voice");
    assert_eq!(edits.built(&["config-voice"], &[]), "direct");

    // A removed target folder does not require cargo, because the plugin has no inputs in it.
    fs::remove_dir_all(edits.scratch.path("out")).unwrap();
    assert_eq!(edits.built(&["config-voice"], &[]), "direct");
}

#[test]
fn files_that_a_configuration_includes_are_cargos() {
    let voice = "match option_env!(\"VOICE\") { Some(voice) => voice, None => \"no-voice\" }";
    let edits = Edits::new(&[
        ("Cargo.toml", &cdylib("[workspace]")),
        ("src/lib.rs", &strings(&[voice])),
        (".cargo/config.toml", "include = [\"../one.toml\"]\n"),
        ("one.toml", "include = [{ path = \"two.toml\", optional = true }]\n"),
    ]);
    let variants = Variants::new(edits.scratch.path("variants"));
    let request = edits.scratch.request();
    let holds = |text: &str| holds(&variants.get(&request, "plain").unwrap(), text);
    edits.built(&["no-voice"], &[]);
    assert!(holds("no-voice"));
    assert_eq!(edits.built(&["no-voice"], &[]), "direct");
    edits.scratch.write("two.toml", "[env]\nVOICE = \"alpha-voice\"\n");
    assert_eq!(edits.built(&["alpha-voice"], &[]), "two.toml");
    edits.edit("two.toml", "alpha", "gamma");
    assert_eq!(edits.built(&["gamma-voice"], &[]), "two.toml");
    assert!(holds("gamma-voice"));
}

#[test]
fn a_call_is_not_repeated_after_a_build_by_another_process() {
    let voice = "const { if cfg!(feature = \"loud\") { \"LOUD\" } else { \"soft-voice\" } }";
    let edits = Edits::new(&[
        ("Cargo.toml", &cdylib("[workspace]\n[features]\nloud = []")),
        ("src/lib.rs", &strings(&["\"alpha-word\"", voice])),
    ]);
    edits.built(&["alpha-word", "soft-voice"], &["LOUD"]);
    edits.edit("Cargo.toml", "loud = []", "loud = []\ndefault = [\"loud\"]");
    build(&edits.scratch.request()).unwrap();
    assert_eq!(edits.built(&["alpha-word", "LOUD"], &["soft-voice"]), "Cargo.toml");
    edits.edit("src/lib.rs", "alpha", "gamma");
    assert_eq!(edits.built(&["gamma-word", "LOUD"], &["soft-voice"]), NOT_RECORDED);
}

#[test]
fn a_build_script_is_cargos_and_has_to_list_its_inputs() {
    let script = "fn main() { println!(\"cargo::rerun-if-changed=data.txt\"); \
                  println!(\"cargo::rustc-env=DATA={}\", std::fs::read_to_string(\"data.txt\").unwrap()) }";
    let edits = Edits::new(&[
        ("Cargo.toml", &cdylib("[workspace]")),
        ("src/lib.rs", &strings(&["\"alpha-text\"", "env!(\"DATA\")"])),
        ("build.rs", script),
        ("data.txt", "alpha-data"),
    ]);
    assert_eq!(edits.built(&["alpha-data"], &[]), NOT_RECORDED);
    edits.edit("src/lib.rs", "alpha-text", "gamma-text");
    assert_eq!(edits.built(&["gamma-text", "alpha-data"], &["alpha-text"]), "direct");
    edits.edit("data.txt", "alpha", "gamma");
    assert_eq!(edits.built(&["gamma-data"], &["alpha-data"]), "data.txt");
    edits.edit("build.rs", "DATA={}", "DATA=more-{}");
    assert!(edits.built(&["more-gamma-data"], &[]).ends_with("build.rs"));
    edits.edit("src/lib.rs", "gamma-text", "delta-text");
    assert_eq!(edits.built(&["delta-text", "more-gamma-data"], &[]), "direct");

    // If the build script lists no inputs, any file of the package is an input.
    edits.edit("build.rs", "println!(\"cargo::rerun-if-changed=data.txt\");", "");
    edits.built(&["more-gamma-data"], &[]);
    let unlisted = "the build script of plug prints no `rerun-if-changed`";
    edits.edit("data.txt", "gamma", "omega");
    assert_eq!(edits.built(&["more-omega-data"], &["gamma-data"]), unlisted);
    edits.edit("src/lib.rs", "delta-text", "sigma-text");
    assert_eq!(edits.built(&["sigma-text"], &["delta-text"]), unlisted);
}

const FOLDER_SCRIPT: &str = r#"fn main() {
    let (file, wait) = ("data/a.txt", std::time::Duration::from_millis(20));
    let text = std::fs::read_to_string(file).unwrap();
    println!("cargo::rerun-if-changed=data");
    println!("cargo::rustc-env=DATA={text}");
    if text == "early-data" {
        std::thread::sleep(wait);
        std::fs::write(file, "alpha-data").unwrap();
    }
}"#;

#[test]
fn a_listed_folder_that_changes_during_a_build_is_read_again() {
    let edits = Edits::new(&[
        ("Cargo.toml", &cdylib("[workspace]")),
        ("src/lib.rs", &strings(&["env!(\"DATA\")"])),
        ("build.rs", FOLDER_SCRIPT),
        ("data/a.txt", "early-data"),
    ]);
    assert_eq!(edits.built(&["early-data"], &[]), NOT_RECORDED);
    assert_eq!(edits.built(&["alpha-data"], &["early-data"]), "data");
    assert_eq!(edits.built(&["alpha-data"], &[]), "direct");
}

#[test]
fn a_file_behind_a_link_in_a_listed_folder_is_cargos() {
    let edits = Edits::new(&[
        ("Cargo.toml", &cdylib("[workspace]")),
        ("src/lib.rs", &strings(&["env!(\"DATA\")"])),
        ("build.rs", FOLDER_SCRIPT),
        ("data/b.txt", ""),
        ("shared.txt", "alpha-data"),
    ]);
    let path = |path: &str| edits.scratch.path(path);
    std::os::unix::fs::symlink(path("shared.txt"), path("data/a.txt")).unwrap();
    std::os::unix::fs::symlink(path("data"), path("data/parent")).unwrap();
    thread::sleep(Duration::from_millis(30));
    edits.built(&["alpha-data"], &[]);
    assert_eq!(edits.built(&["alpha-data"], &[]), "direct");
    edits.edit("shared.txt", "alpha", "gamma");
    assert_eq!(edits.built(&["gamma-data"], &["alpha-data"]), "data");
}

#[test]
fn a_new_build_script_is_run_by_cargo() {
    let edits = Edits::new(&[
        ("Cargo.toml", &cdylib("[workspace]\n[dependencies]\ndep.path = \"dep\"")),
        (
            "src/lib.rs",
            &strings(&[
                "const { match option_env!(\"DATA\") { Some(data) => data, None => \"no-data\" } }",
                "dep::TEXT",
            ]),
        ),
        ("dep/Cargo.toml", "[package]\nname = \"dep\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        (
            "dep/src/lib.rs",
            "pub const TEXT: &str = match option_env!(\"TEXT\") { Some(text) => text, None => \"no-text\" };",
        ),
    ]);
    edits.built(&["no-data", "no-text"], &[]);
    let script = |name: &str, value: &str| format!("fn main() {{ println!(\"cargo::rustc-env={name}={value}\") }}");
    edits.scratch.write("build.rs", &script("DATA", "new-data"));
    assert_eq!(edits.built(&["new-data", "no-text"], &["no-data"]), "build.rs");
    edits.scratch.write("dep/build.rs", &script("TEXT", "new-text"));
    edits.built(&["new-data", "new-text"], &["no-text"]);
}

#[test]
fn errors_and_warnings_are_those_of_cargo() {
    let edits = Edits::new(&[
        ("Cargo.toml", &cdylib("[workspace]\n[dependencies]\ndep.path = \"dep\"")),
        ("src/lib.rs", &strings(&["dep::TEXT"])),
        ("dep/Cargo.toml", "[package]\nname = \"dep\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        ("dep/src/lib.rs", "pub const TEXT: &str = \"dep-text\";\nfn unused_of_dep() {}"),
    ]);
    edits.built(&["dep-text"], &[]);
    let with_color = edits.scratch.request().color(true);
    edits.builder.build(&with_color).unwrap();
    let source = strings(&["dep::TEXT"]);
    // Cargo has compiled nothing for this request yet, so cargo builds the first edit.
    for (comment, expected) in [("more", NOT_RECORDED), ("still more", "direct")] {
        edits.scratch.write("src/lib.rs", &format!("{source}// {comment}\n"));
        assert_eq!(edits.built_with(&with_color, &["dep-text"], &[]).0, expected);
    }
    let error = |result: Result<BuildOutcome, BuildError>| match result {
        Err(BuildError::DoesNotCompile { rendered, command, .. }) => (rendered, command),
        other => panic!("{other:?}"),
    };
    for more in ["fn f() -> u8 { \"\" }\n", "fn f() { g() }\nfn unused() {}\n", "fn f() {\n"] {
        edits.scratch.write("src/lib.rs", &format!("{source}{more}"));
        for request in [&edits.scratch.request(), &with_color] {
            let direct = error(edits.builder.build(request));
            assert_eq!(direct, error(build(request)));
            assert!(direct.0.contains("src/lib.rs:3:") && direct.0.contains("unused_of_dep"), "{}", direct.0);
        }
    }
    // Causes a failed link. Cargo then builds, and reports the error of its own linker.
    edits.scratch.write("src/lib.rs", &format!("{source}unsafe extern \"C\" {{ fn no_such(); }}\n#[unsafe(no_mangle)] pub extern \"C\" fn f() {{ unsafe {{ no_such() }} }}\n#[link(name = \"no-such-library\")] unsafe extern \"C\" {{}}\n"));
    let (rendered, _) = error(edits.builder.build(&edits.scratch.request()));
    assert!(rendered.contains("linking with `cc` failed") && rendered.contains("no-such-library"), "{rendered}");

    edits.scratch.write("src/lib.rs", &format!("{source}fn unused() {{}}\n"));
    edits.builder.build(&edits.scratch.request()).unwrap();
    edits.scratch.write("src/lib.rs", &format!("{source}fn unused() {{}}\nfn unused_too() {{}}\n"));
    for direct in [false, true] {
        let (method, outcome) = edits.built_with(&edits.scratch.request(), &["dep-text"], &[]);
        assert_eq!(method, "direct");
        assert_eq!(outcome.artifacts[0].fresh, direct, "the second build has nothing to do, and repeats the warnings");
        let names = ["unused`", "unused_too`", "unused_of_dep`"].map(|name| outcome.warnings.matches(name).count());
        assert_eq!(names, [1; 3], "{}", outcome.warnings);
        let sorted = |text: &str| {
            let mut parts: Vec<_> = text.split("\n\n").map(|part| part.trim().to_owned()).collect();
            parts.sort();
            parts
        };
        assert_eq!(sorted(&outcome.warnings), sorted(&build(&edits.scratch.request()).unwrap().warnings));
        fs::remove_file(edits.scratch.path("Cargo.lock")).unwrap_or_default();
        // Cargo compiles this edit and prints the compiler call. Without an edit, cargo would print no call, and the last call would belong
        // to another process.
        let edited = format!("{source}fn unused() {{}}\nfn unused_too() {{}}\n// after {direct}\n");
        edits.scratch.write("src/lib.rs", &edited);
        edits.builder.build(&edits.scratch.request()).unwrap();
        edits.builder.build(&edits.scratch.request()).unwrap();
    }
}

#[test]
fn a_plugin_that_another_one_links_is_built_by_cargo_for_both() {
    let scratch = Scratch::new(&[
        ("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"one\", \"two\", \"three\"]\n"),
        ("one/Cargo.toml", &manifest("one", "[dependencies]\ntwo.path = \"../two\"")),
        (
            "one/src/lib.rs",
            "pub use two::voice;\n#[unsafe(no_mangle)] pub extern \"C\" fn one() -> *const u8 { voice().as_ptr() }",
        ),
        ("two/Cargo.toml", &manifest("two", "[features]\nloud = []")),
        ("two/src/lib.rs", LIB),
        ("three/Cargo.toml", &manifest("three", "[features]\nloud = []")),
        ("three/src/lib.rs", LIB),
    ]);
    let builder = Builder::new();
    let built = || {
        let outcome = builder.build(&scratch.request()).unwrap();
        let mut names: Vec<_> = outcome
            .artifacts
            .iter()
            .map(|artifact| {
                let voice = ["soft-voice", "calm-voice"].into_iter().find(|voice| holds(&artifact.path, voice));
                let fresh = if artifact.fresh { " as it was" } else { "" };
                format!("{} {}{fresh}", artifact.package, voice.unwrap_or_default())
            })
            .collect();
        names.sort();
        let direct = matches!(outcome.method, BuildMethod::Direct { .. });
        format!("{}: {}", if direct { "direct" } else { "cargo" }, names.join(", "))
    };
    assert_eq!(built(), "cargo: one soft-voice, three soft-voice, two soft-voice");
    let edit = |name: &str| scratch.write(&format!("{name}/src/lib.rs"), &LIB.replace("soft-voice", "calm-voice"));
    edit("three");
    assert_eq!(built(), "direct: one soft-voice as it was, three calm-voice, two soft-voice as it was");
    edit("two");
    assert!(built().starts_with("cargo: one calm-voice, three calm-voice"));
}

#[test]
fn a_locked_target_folder_and_a_canceled_build_lose_nothing() {
    let edits = Edits::new(&[("Cargo.toml", &cdylib("[workspace]")), ("src/lib.rs", &strings(&["\"text-0\""]))]);
    edits.built(&["text-0"], &[]);
    let mut text = 0;
    let mut edit = || {
        edits.edit("src/lib.rs", &format!("text-{text}"), &format!("text-{}", text + 1));
        text += 1;
        format!("text-{text}")
    };
    let expected = edit();
    let lock = File::options().read(true).write(true).open(edits.scratch.path("out/debug/.cargo-lock")).unwrap();
    lock.lock().unwrap();
    let running = edits.builder.spawn(&edits.scratch.request()).unwrap();
    lock.unlock().unwrap();
    assert_eq!(running.wait().unwrap().method, BuildMethod::Cargo(CargoReason::Locked));
    edits.built(&[expected.as_str()], &[]);

    for round in 0..12 {
        let expected = edit();
        let mut running = edits.builder.spawn(&edits.scratch.request()).unwrap();
        thread::sleep(Duration::from_millis(round * 25));
        running.cancel();
        let result = running.wait();
        assert!(matches!(result, Ok(_) | Err(BuildError::Canceled { .. })), "{result:?}");
        if round % 3 == 0 {
            assert_eq!(edits.built(&[expected.as_str()], &[]), "direct", "round {round}");
        }
    }
}

/// Started by `cargo test --test builds direct:: -- --ignored`.
#[test]
#[ignore = "takes minutes: a thousand builds"]
fn a_thousand_saves_in_any_style_are_never_missed() {
    let source = |text: &str| strings(&[&format!("\"{text}\""), "include_str!(\"text.txt\")"]);
    let edits = Edits::new(&[
        ("Cargo.toml", &cdylib("[workspace]")),
        ("src/lib.rs", &source("save-0000")),
        ("src/text.txt", "file-0000"),
    ]);
    edits.built(&["save-0000"], &[]);
    let path = edits.scratch.path("src/lib.rs");
    let mut direct = 0;
    for round in 1..=1000 {
        let (text, last) = (format!("save-{round:04}"), format!("save-{:04}", round - 1));
        let new = source(&text);
        match round % 5 {
            // Styles in order: write in place; rename over the file; delete and write; move away and write; write with an included file.
            0 => fs::write(&path, new).unwrap(),
            1 => {
                fs::write(path.with_extension("new"), new).unwrap();
                fs::rename(path.with_extension("new"), &path).unwrap();
            }
            2 => {
                fs::remove_file(&path).unwrap();
                fs::write(&path, new).unwrap();
            }
            3 => {
                fs::rename(&path, path.with_extension("rs~")).unwrap();
                fs::write(&path, new).unwrap();
            }
            _ => {
                fs::write(&path, new).unwrap();
                fs::write(edits.scratch.path("src/text.txt"), format!("file-{round:04}")).unwrap();
            }
        }
        let file = format!("file-{:04}", (round + 1) / 5 * 5 - 1);
        let expected: &[&str] = if round < 4 { &[text.as_str()] } else { &[text.as_str(), file.as_str()] };
        direct += u32::from(edits.built(expected, &[last.as_str()]) == "direct");
        if round % 50 == 0 {
            build(&edits.scratch.request()).unwrap();
        }
    }
    assert!(direct > 990, "{direct}");
}
