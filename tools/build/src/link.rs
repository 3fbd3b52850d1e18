//! Links faster in builds without cargo. The compiler starts the program that [`Builder::linker`](crate::Builder::linker) has set, for
//! example `alcedo`, as its linker. This program reads the arguments of the real linker from the output of `cc -###`, and replaces itself
//! by the real linker. Archives of the standard library and of dependencies are replaced by copies without debug information, because
//! reading this information would take most of a link's time. Plugin authors do not step through the code of these archives.
//!
//! Each library still contains its own copy of the standard library, with its own heap, thread-locals and statics.

use std::env::{self, consts};
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use xxhash_rust::xxh3::xxh3_64;

use crate::call::words;
use crate::lock;
use crate::record::Record;

/// Environment variable that makes the program run as a linker. The variable contains the path of the output folder. That folder also
/// contains the files that [`NOTE`], [`WHOLE`] and [`MISSING`] name.
const FOLDER: &str = "ALCEDO_LINK_FOLDER";
/// Name of the file that contains the start time of a link, in microseconds since 1970, and the reason if the link is slow.
const NOTE: &str = "link";
/// Name of the file that lists the archives to link with their debug information.
const WHOLE: &str = "link-whole";
/// Name of the file that lists the archives without a copy. The first line is the path of the program that copies archives.
const MISSING: &str = "link-missing";
/// Folder of the copies without debug information, next to the folders of outputs.
const COPIES: &str = "archives";

/// Links and exits if a compiler of a [`Builder`](crate::Builder) started this process as its linker. Otherwise returns immediately.
///
/// # Examples
/// ```no_run
/// alcedo_build::run_if_linker();
/// let program = std::env::current_exe()?;
/// let builder = alcedo_build::Builder::new().linker(program);
/// # let _ = builder;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn run_if_linker() {
    if let Some(folder) = env::var_os(FOLDER) {
        link(Path::new(&folder), env::args_os().skip(1).collect());
        std::process::exit(1);
    }
}

/// Adds the arguments and variables of a fast link to a compiler call. Does nothing if the user has chosen a linker.
pub(crate) fn redirect(command: &mut Command, linker: &Path, record: &Record, folder: &Path) {
    let _ = fs::remove_file(folder.join(NOTE));
    let call = &record.call;
    let is_usual = call.codegen("linker").is_none() && call.codegen("linker-flavor").is_none();
    // Also checks that the linker program exists, because a build may be replacing this program.
    if !is_usual || call.value("--target").is_some() || consts::OS != "linux" || !linker.is_file() {
        return;
    }
    let whole: Vec<_> = record.debugged.iter().map(|path| path.display().to_string()).collect();
    if fs::write(folder.join(WHOLE), whole.join("\n")).is_err() {
        return;
    }
    command.arg("-C").arg(format!("linker={}", linker.display())).env(FOLDER, folder);
}

/// Reads the file [`NOTE`] of a link that ended at `end`. Returns the milliseconds that the link took, and the reason if it was slow.
pub(crate) fn read_note(folder: &Path, end: Option<SystemTime>) -> (Option<f64>, Option<String>) {
    let note = fs::read_to_string(folder.join(NOTE)).unwrap_or_default();
    let (start, slow) = note.split_once('\n').unwrap_or((&note, ""));
    let start = start.parse().ok().map(|micros| UNIX_EPOCH + Duration::from_micros(micros));
    let taken = start.zip(end).and_then(|(start, end)| end.duration_since(start).ok());
    (taken.map(|taken| taken.as_secs_f64() * 1000.0), (!slow.is_empty()).then(|| slow.to_owned()))
}

/// Links by replacing this process with the linker. Returns only if this replacement fails.
fn link(folder: &Path, args: Vec<OsString>) {
    let start = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
    let args = with_copies(folder, args);
    let fast = linker_call(&args);
    let slow = fast.as_ref().err().map_or("", |reason| reason.as_str());
    let _ = fs::write(folder.join(NOTE), format!("{start}\n{slow}"));
    if let Ok((linker, words)) = fast {
        replace(Command::new(linker).args(words));
    }
    replace(Command::new("cc").args(args));
}

/// Replaces this process by another program. Returns only if this replacement fails. Does nothing outside Unix: `redirect` requires Linux.
fn replace(command: &mut Command) {
    #[cfg(unix)]
    let _error = std::os::unix::process::CommandExt::exec(command);
    #[cfg(not(unix))]
    let _unused = command;
}

/// Replaces archives in the linker's arguments by their copies, and writes the list of archives without a copy to [`MISSING`].
fn with_copies(folder: &Path, mut args: Vec<OsString>) -> Vec<OsString> {
    let whole = fs::read_to_string(folder.join(WHOLE)).unwrap_or_default();
    let whole: Vec<_> = whole.lines().map(OsStr::new).collect();
    let mut missing = Vec::new();
    for arg in args.iter_mut().filter(|arg| is_archive(arg) && !whole.contains(&arg.as_os_str())) {
        let Some(copy) = copy_path(folder, Path::new(arg)) else { continue };
        if copy.is_file() {
            *arg = copy.into();
        } else {
            missing.push(arg.display().to_string());
        }
    }
    let list = folder.join(MISSING);
    let _ = match missing.is_empty() {
        true => fs::remove_file(list),
        false => fs::write(list, format!("{}\n{}", objcopy().display(), missing.join("\n"))),
    };
    args
}

/// Returns the path of `rust-objcopy`, which copies archives without debug information. The compiler adds the folder of this program to
/// PATH. Returns `objcopy` if PATH does not contain `rust-objcopy`.
fn objcopy() -> PathBuf {
    in_path().map(|folder| folder.join("rust-objcopy")).find(|path| path.is_file()).unwrap_or_else(|| "objcopy".into())
}

fn in_path() -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).collect::<Vec<_>>().into_iter()
}

fn is_archive(arg: &OsStr) -> bool {
    Path::new(arg).extension().is_some_and(|extension| extension == "rlib")
}

/// Returns the path for the copy of an archive. Each version of an archive has a different path.
fn copy_path(folder: &Path, archive: &Path) -> Option<PathBuf> {
    let metadata: Metadata = fs::metadata(archive).ok()?;
    let version = format!("{} {:?} {}", archive.display(), metadata.modified().ok(), metadata.len());
    let name = format!("{}-{:016x}.rlib", archive.file_stem()?.display(), xxh3_64(version.as_bytes()));
    Some(folder.with_file_name(COPIES).join(name))
}

/// Returns the linker that `cc` would call, and its arguments. Returns the reason as an error if `cc` itself must link.
fn linker_call(args: &[OsString]) -> Result<(PathBuf, Vec<OsString>), String> {
    if args.iter().any(|arg| arg.as_encoded_bytes().starts_with(b"@")) {
        return Err("the arguments are in a file".into());
    }
    let output = Command::new("cc").arg("-###").args(args).env("LC_ALL", "C").stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("`cc -###` cannot be run: {error}"))?;
    let words = linker_words(&String::from_utf8_lossy(&output.stderr)).ok_or("`cc -###` reports no linker")?;
    let (name, words) = split_words(words)?;
    let (linker, flags) = find_linker(&name, args).ok_or_else(|| format!("`ld.{name}` is not found"))?;
    Ok((linker, flags.into_iter().map(OsString::from).chain(words.into_iter().map(OsString::from)).collect()))
}

/// Splits the last command in the output of `cc -###` into words. The output is quoted for a shell.
fn linker_words(output: &str) -> Option<Vec<String>> {
    let line = output.lines().rfind(|line| line.starts_with(' '))?;
    let (words, _) = words(line, None)?;
    (words.len() > 1).then_some(words)
}

/// Returns the linker's name and arguments from a call of `collect2` or of a linker. Removes the arguments for the link-time optimizer of
/// `cc`. Fails for a linker that may reject the remaining arguments.
fn split_words(words: Vec<String>) -> Result<(String, Vec<String>), String> {
    let mut words = words.into_iter();
    let program = words.next().unwrap_or_default();
    let own_name = Path::new(&program).file_name().and_then(OsStr::to_str).and_then(|name| name.strip_prefix("ld."));
    let mut name = own_name.map(str::to_owned);
    let mut args = Vec::new();
    while let Some(word) = words.next() {
        if let Some(chosen) = word.strip_prefix("-fuse-ld=") {
            name = Some(chosen.to_owned());
        } else if word == "-plugin" {
            words.next();
        } else if !word.starts_with("-plugin-opt=") {
            args.push(word);
        }
    }
    match name {
        Some(name) if ["lld", "mold", "wild"].contains(&name.as_str()) => Ok((name, args)),
        Some(name) => Err(format!("the linker is {name}, not lld")),
        None => Err("the linker is the system's, not lld".into()),
    }
}

/// Finds a linker in the folders of the compiler's `-B` arguments, or in PATH. Returns the linker's path and its first arguments.
fn find_linker(name: &str, args: &[OsString]) -> Option<(PathBuf, Vec<&'static str>)> {
    let file = format!("ld.{name}");
    let named = args.iter().filter_map(|arg| arg.to_str()?.strip_prefix("-B")).map(PathBuf::from);
    let found = named.chain(in_path()).map(|folder| folder.join(&file)).find(|path| path.is_file())?;
    // Uses `rust-lld` in the parent folder, because the program in the toolchain's `gcc-ld` folder only starts `rust-lld`.
    let folder = found.parent()?;
    let real = folder.with_file_name("rust-lld");
    let (linker, mut flags) = match folder.ends_with("gcc-ld") && real.is_file() {
        true => (real, vec!["-flavor", "gnu"]),
        false => (found, Vec::new()),
    };
    if name == "lld" {
        // Disables threads, because for small libraries such as plugins, starting threads takes more time than the threads save.
        flags.push("--threads=1");
    }
    Some((linker, flags))
}

/// Copies all archives that the files [`MISSING`] in these output folders list. Runs in the background. The next link uses the copies.
pub(crate) fn prepare(folders: Vec<PathBuf>) {
    let lacks = |folder: &PathBuf| folder.join(MISSING).is_file();
    let folders: Vec<_> = folders.into_iter().filter(lacks).collect();
    if folders.is_empty() {
        return;
    }
    thread::spawn(move || {
        static TURN: Mutex<()> = Mutex::new(());
        let _turn = lock(&TURN);
        for folder in folders {
            let list = fs::read_to_string(folder.join(MISSING)).unwrap_or_default();
            let mut lines = list.lines().map(Path::new);
            let Some(objcopy) = lines.next() else { continue };
            for archive in lines {
                if let Err(error) = copy(&folder, archive, objcopy) {
                    tracing::debug!("{} is linked with its debug information: {error}", archive.display());
                }
            }
        }
    });
}

/// Writes the copy of an archive if this copy does not exist. The copy is also an archive, so a link uses only the members that the link
/// needs.
fn copy(folder: &Path, archive: &Path, objcopy: &Path) -> io::Result<()> {
    let Some(copy) = copy_path(folder, archive).filter(|copy| !copy.is_file()) else { return Ok(()) };
    if let Some(dir) = copy.parent() {
        fs::create_dir_all(dir)?;
    }
    let new = copy.with_extension(format!("{}.new", std::process::id()));
    let mut command = Command::new(objcopy);
    command.arg("--strip-debug").arg(archive).arg(&new).stdin(Stdio::null());
    // Adds the toolchain's folder `lib`, because `rust-objcopy` in `lib/rustlib/*/bin` needs a shared library from this folder.
    if let Some(libraries) = objcopy.ancestors().nth(4).filter(|_| objcopy.is_absolute()) {
        command.env("LD_LIBRARY_PATH", libraries);
    }
    let output = command.output()?;
    if !output.status.success() {
        let _ = fs::remove_file(&new);
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    fs::rename(&new, &copy)?;
    remove_older(&copy);
    Ok(())
}

/// Removes the copies of earlier versions of an archive.
fn remove_older(copy: &Path) {
    let name = |path: &Path| Some(path.file_name()?.to_str()?.rsplit_once('-')?.0.to_owned());
    for entry in copy.parent().and_then(|dir| fs::read_dir(dir).ok()).into_iter().flatten().flatten() {
        let path = entry.path();
        if path != copy && name(&path) == name(copy) {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NOTE, copy_path, linker_words, read_note, remove_older, split_words};
    use std::fs;
    use std::time::{Duration, UNIX_EPOCH};

    fn split(output: &str) -> Result<String, String> {
        let (name, args) = split_words(linker_words(output).ok_or("no command")?)?;
        Ok(format!("{name}: {}", args.join("|")))
    }

    #[test]
    fn the_call_of_a_linker_is_read_from_either_compiler() {
        let gcc = "Using built-in specs.\n /lib/gcc/collect2 -plugin /x.so \"-plugin-opt=/lto wrapper\" --build-id -fuse-ld=lld -o \
                   \"/a b/c.so\" /usr/crti.o x.o\n";
        assert_eq!(split(gcc).unwrap(), "lld: --build-id|-o|/a b/c.so|/usr/crti.o|x.o");
        let clang = "clang version 19\n \"/usr/bin/ld.lld\" \"-shared\" \"-o\" \"c \\\"d\\\".so\"\n";
        assert_eq!(split(clang).unwrap(), "lld: -shared|-o|c \"d\".so");
    }

    #[test]
    fn other_linkers_are_called_by_the_compiler() {
        assert_eq!(split(" collect2 -o x").unwrap_err(), "the linker is the system's, not lld");
        assert_eq!(split(" collect2 -fuse-ld=gold -o x").unwrap_err(), "the linker is gold, not lld");
        for output in ["", "cc: error: no such file", " collect2 \"-o x"] {
            assert_eq!(split(output).unwrap_err(), "no command", "{output}");
        }
    }

    #[test]
    fn a_note_has_the_start_of_a_link_and_the_reason_of_a_slow_one() {
        let dir = tempfile::tempdir().unwrap();
        let read = |note: &str| {
            fs::write(dir.path().join(NOTE), note).unwrap();
            read_note(dir.path(), Some(UNIX_EPOCH + Duration::from_millis(30)))
        };
        assert_eq!(read("10000\n"), (Some(20.0), None));
        assert_eq!(read("10000\nno lld"), (Some(20.0), Some("no lld".to_owned())));
        assert_eq!(read("40000\n"), (None, None), "a clock that was set back");
    }

    #[test]
    fn a_new_version_of_an_archive_has_another_copy() {
        let dir = tempfile::tempdir().unwrap();
        let (archive, folder) = (dir.path().join("libx-12.rlib"), dir.path().join("x"));
        let version = |text: &str| {
            fs::write(&archive, text).unwrap();
            copy_path(&folder, &archive).unwrap()
        };
        let (old, new) = (version("one"), version("three"));
        assert!(old != new && old.parent() == new.parent());
        fs::create_dir_all(new.parent().unwrap()).unwrap();
        let other = new.with_file_name("liby-12-0.rlib");
        [&old, &new, &other].into_iter().for_each(|copy| fs::write(copy, "").unwrap());
        remove_older(&new);
        assert_eq!((old.exists(), new.exists(), other.exists()), (false, true, true));
    }
}
