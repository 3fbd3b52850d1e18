//! Tests builds of a session without cargo. The program `alcedo` itself acts as the linker.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use alcedo_build::{BuildMethod, BuildOutcome, BuildRequest, Builder};

const MANIFEST: &str = "[package]\nname = \"plug\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n[lib]\ncrate-type = [\"cdylib\"]\n";

fn source(answer: u32) -> String {
    format!(
        "thread_local! {{ static LAST: std::cell::Cell<u32> = const {{ std::cell::Cell::new(0) }} }}\n\
         #[unsafe(no_mangle)]\npub extern \"C\" fn answer() -> u32 {{ LAST.set(LAST.get() + {answer}); LAST.get() }}\n\
         #[unsafe(no_mangle)]\npub extern \"C\" fn caught() -> bool {{ std::panic::catch_unwind(|| panic!(\"for the test\")).is_err() }}\n"
    )
}

/// Returns true if a section of a library contains the text.
fn section_holds(library: &Path, section: &str, text: &str) -> bool {
    use object::{Object as _, ObjectSection as _};
    let bytes = fs::read(library).unwrap();
    let file = object::File::parse(bytes.as_slice()).unwrap();
    let data = file.section_by_name(section).map(|section| section.data().unwrap());
    data.is_some_and(|data| data.windows(text.len()).any(|window| window == text.as_bytes()))
}

fn has_lld() -> bool {
    let output = std::process::Command::new("rustc").args(["--print", "sysroot"]).output().unwrap();
    let sysroot = String::from_utf8(output.stdout).unwrap();
    let tools = Path::new(sysroot.trim()).join("lib/rustlib/x86_64-unknown-linux-gnu/bin");
    tools.join("rust-lld").is_file() && tools.join("rust-objcopy").is_file()
}

#[test]
fn a_fast_link_keeps_own_lines_and_leaves_out_those_of_the_library() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = dir.path().join("Cargo.toml");
    fs::create_dir(dir.path().join("src")).unwrap();
    fs::write(&manifest, MANIFEST).unwrap();
    // A manifest that is as new as the start of a build may have changed during the build.
    thread::sleep(Duration::from_millis(30));
    let builder = Builder::new().linker(env!("CARGO_BIN_EXE_alcedo"));
    let build = |answer: u32| -> BuildOutcome {
        fs::write(dir.path().join("src/lib.rs"), source(answer)).unwrap();
        builder.build(&BuildRequest::new(&manifest).target_dir(dir.path().join("out"))).unwrap()
    };
    let cargo = build(1);
    let library = cargo.artifacts[0].path.clone();
    assert!(matches!(cargo.method, BuildMethod::Cargo(_)));
    let whole = fs::metadata(&library).unwrap().len();
    let own = |library: &Path| {
        section_holds(library, ".debug_line", "lib.rs") || section_holds(library, ".debug_line_str", "lib.rs")
    };
    assert!(own(&library));

    // After the first link, the archives are copied in the background.
    let begun = Instant::now();
    let mut answer = 2;
    loop {
        let outcome = build(answer);
        let BuildMethod::Direct { link, slow_link, .. } = outcome.method else { panic!("{outcome:?}") };
        assert!(link.is_some_and(|link| link > 0.0), "{link:?}");
        assert!(slow_link.is_none() || !has_lld(), "{slow_link:?}");
        assert!(own(&library));
        let length = fs::metadata(&library).unwrap().len();
        if length < whole / 2 || !has_lld() {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{length} of {whole} bytes");
        answer += 1;
    }
    // A build by cargo is not affected. The library of this build has the full debug information.
    fs::write(dir.path().join("src/lib.rs"), source(1)).unwrap();
    alcedo_build::build(&BuildRequest::new(&manifest).target_dir(dir.path().join("out"))).unwrap();
    assert_eq!(fs::metadata(&library).unwrap().len(), whole);
}
