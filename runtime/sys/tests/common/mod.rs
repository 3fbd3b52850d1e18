//! Builds real libraries for inspection and mapping with the compilers of this machine, in a directory of the test.

pub(crate) mod hooked;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Library with an initializer, a finalizer, a thread-local, zeroed and relocated data, and a dependency.
const SOURCE: &str = r#"
#include <stdio.h>
static void touch(const char *name) { FILE *f = fopen(name, "w"); if (f) fclose(f); }
__attribute__((constructor)) static void up(void) { touch(WITNESS ".up"); }
__attribute__((destructor)) static void down(void) { touch(WITNESS ".down"); }
__thread int local = 3;
int zeroes[9000];
int numbers[100] = { 1 };
int *relocated = &numbers[7];
int answer(void) { return ANSWER + *relocated + zeroes[1] + local - 3; }

extern int __cxa_thread_atexit_impl(void (*)(void *), void *, void *);
extern void *__dso_handle;
static void nothing(void *object) { (void)object; }
void pin(void) { __cxa_thread_atexit_impl(nothing, 0, &__dso_handle); }
#ifdef LACKING
extern int nobody_defines_this(void);
int lacking(void) { return nobody_defines_this(); }
#endif
"#;

/// Builds a C library whose `answer()` returns `answer`. The initializer creates the file `<dir>/witness.up`, and the finalizer creates
/// `<dir>/witness.down`.
pub(crate) fn c_library(dir: &Path, name: &str, answer: i32, extra: &[&str]) -> PathBuf {
    let (source, library) = (dir.join(format!("{name}.c")), dir.join(format!("lib{name}.so")));
    fs::write(&source, SOURCE).expect("the test directory is writable");
    let witness = format!("-DWITNESS=\"{}\"", dir.join("witness").display());
    let mut gcc = Command::new("gcc");
    gcc.args(["-shared", "-fPIC", "-O1", &witness, &format!("-DANSWER={answer}"), "-o"]).arg(&library);
    run(gcc.arg(&source).args(extra));
    library
}

pub(crate) fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
