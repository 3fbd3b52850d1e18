//! Parses the compiler calls that cargo prints. With `-vv`, cargo prints each call with its variables and arguments, quoted for a shell. A
//! wrapper program could also record the calls, but would change the environment of build scripts.

use std::env::{self, consts::EXE_SUFFIX};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::cargo_env::has_folder;
use crate::stamp::Stamp;

/// Call of the compiler for one crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CompilerCall {
    /// Environment variables that cargo sets. All other variables are inherited.
    pub(crate) envs: Vec<(String, String)>,
    pub(crate) program: String,
    pub(crate) args: Vec<String>,
}

/// Splits cargo's error stream into compiler calls and the text that cargo would print without `-vv`.
pub(crate) fn split(stderr: &str) -> (Vec<CompilerCall>, String) {
    const STATUS: &str = "Running";
    let (mut calls, mut text, mut left) = (Vec::new(), String::new(), stderr);
    while let Some((before, after)) = left.split_once(STATUS) {
        let command = after.strip_prefix("\x1b[0m").unwrap_or(after).trim_start_matches(' ').strip_prefix('`');
        match command.and_then(|command| words(command, Some('`'))) {
            Some((words, rest)) => {
                // Drops the indentation before the status word `Running`.
                text.push_str(&before[..before.rfind('\n').map_or(0, |end| end + 1)]);
                calls.extend(CompilerCall::of(words));
                left = rest.strip_prefix('\n').unwrap_or(rest);
            }
            None => {
                text.push_str(before);
                text.push_str(STATUS);
                left = after;
            }
        }
    }
    text.push_str(left);
    let kept: Vec<_> = text.lines().filter(|line| !is_verbose(line)).collect();
    (calls, kept.join("\n"))
}

/// Returns `true` for lines that cargo prints only with `-vv`: the status of fresh and dirty units, and the output of build scripts. These
/// lines may be dropped, because cargo repeats the output of a failed build script in its error message.
fn is_verbose(line: &str) -> bool {
    let status = line.trim_start().trim_start_matches("\x1b[1m").trim_start_matches("\x1b[92m").trim_start();
    let of_script = |line: &str| {
        let (package, _) = line.strip_prefix('[')?.split_once("] ")?;
        let (name, version) = package.split_once(' ')?;
        let is_name = name.chars().all(|letter| letter.is_alphanumeric() || "-_".contains(letter));
        (is_name && version.starts_with(|first: char| first.is_ascii_digit())).then_some(())
    };
    status.starts_with("Fresh") || status.starts_with("Dirty") || of_script(line).is_some()
}

/// Splits a command into words as a shell does, up to the character `end` or the end of `text`. Returns the words and the rest of `text`.
/// Returns `None` for an incomplete command.
pub(crate) fn words(text: &str, end: Option<char>) -> Option<(Vec<String>, &str)> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            _ if quote == Some(letter) => quote = None,
            '\\' if quote != Some('\'') => word.get_or_insert_default().push(letters.next()?.1),
            _ if quote.is_some() => word.get_or_insert_default().push(letter),
            '\'' | '"' => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            _ if end == Some(letter) => {
                words.extend(word);
                return Some((words, &text[at + letter.len_utf8()..]));
            }
            ' ' => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    (quote.is_none() && end.is_none()).then_some((words, ""))
}

impl CompilerCall {
    /// Parses the words as a compiler call. Returns `None` for calls of other programs, such as build scripts, and for commands that are
    /// not UTF-8.
    fn of(words: Vec<String>) -> Option<Self> {
        let is_damaged = words.iter().any(|word| word.contains('\u{fffd}'));
        let mut words = words.into_iter().peekable();
        let mut envs = Vec::new();
        while let Some((name, value)) = words.peek().and_then(|word| word.split_once('=')) {
            if !name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
                break;
            }
            envs.push((name.to_owned(), value.to_owned()));
            words.next();
        }
        let call = Self { envs, program: words.next()?, args: words.collect() };
        (!is_damaged && call.value("--crate-name").is_some()).then_some(call)
    }

    /// Returns the argument after each occurrence of a flag.
    fn values(&self, flag: &str) -> impl Iterator<Item = &str> {
        self.args.windows(2).filter(move |pair| pair[0] == flag).map(|pair| pair[1].as_str())
    }

    pub(crate) fn value(&self, flag: &str) -> Option<&str> {
        self.values(flag).next()
    }

    /// Returns the value of a code generation option. Flags of the user may have the forms `-Coption=value` and `--codegen option=value`, and
    /// underscores instead of hyphens in the option's name.
    pub(crate) fn codegen(&self, option: &str) -> Option<&str> {
        let joined =
            self.args.iter().filter_map(|arg| arg.strip_prefix("-C").or_else(|| arg.strip_prefix("--codegen=")));
        let mut all = self.values("-C").chain(self.values("--codegen")).chain(joined);
        all.find_map(|value| value.split_once('=').filter(|(name, _)| name.replace('_', "-") == option))
            .map(|(_, value)| value)
    }

    pub(crate) fn env(&self, name: &str) -> Option<&str> {
        self.envs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn is_cdylib(&self) -> bool {
        self.values("--crate-type").any(|kinds| kinds.split(',').any(|kind| kind == "cdylib"))
    }

    /// Returns the working directory of the call, derived from two paths of the crate's root source: `root` is the full path, and the call
    /// contains the path relative to the working directory.
    pub(crate) fn folder(&self, root: &Path) -> Option<PathBuf> {
        let source = Path::new(self.args.iter().find(|arg| arg.ends_with(".rs") && !arg.starts_with('-'))?);
        if source.is_absolute() {
            return self.env("CARGO_MANIFEST_DIR").map(PathBuf::from);
        }
        let depth = root.ends_with(source).then(|| source.components().count())?;
        root.ancestors().nth(depth).map(Path::to_owned)
    }

    /// Returns the programs and the libraries that a call in `dir` names. The programs are the compiler and its wrappers. The libraries are
    /// the crates of the flag `--extern`. `path` is the value of the variable PATH. For a program that the call names without a folder,
    /// returns one path per readable folder of `path`. Some of these paths may be missing: a program that is created there later may run
    /// instead of the current program. Returns `None` if no folder contains the program.
    pub(crate) fn tools(&self, path: &OsStr, dir: &Path) -> Option<(Vec<PathBuf>, Vec<PathBuf>)> {
        let find = |word: &str| {
            if has_folder(Path::new(word)) {
                return Some(vec![dir.join(word)]);
            }
            let file = format!("{}{EXE_SUFFIX}", word.strip_suffix(EXE_SUFFIX).unwrap_or(word));
            let all = env::split_paths(path).map(|folder| dir.join(folder).join(&file));
            let all: Vec<_> = all.filter(|program| Stamp::of(program) != Stamp::Unknown).collect();
            all.iter().any(|program| program.is_file()).then_some(all)
        };
        // With a wrapper, the call starts the wrapper, and the first arguments are further wrappers and the compiler.
        let wrapped = self.args.iter().map(String::as_str).take_while(|word| !word.starts_with('-'));
        let programs: Option<Vec<_>> = [self.program.as_str()].into_iter().chain(wrapped).map(find).collect();
        let libraries = self.values("--extern").filter_map(|word| word.split_once('=')).map(|(_, path)| path);
        Some((programs?.concat(), libraries.map(PathBuf::from).collect()))
    }

    /// Returns the arguments of this call, but with `dir` as the output folder, and with or without color in diagnostics.
    pub(crate) fn redirected(&self, dir: &Path, color: bool) -> Vec<String> {
        let mut args = self.args.clone();
        if let Some(at) = args.iter().position(|arg| arg == "--out-dir")
            && let Some(old) = args.get_mut(at + 1)
        {
            *old = dir.display().to_string();
        }
        // The calls of cargo always request color. Cargo then removes color codes if its output is not a terminal.
        for arg in args.iter_mut().filter(|arg| arg.starts_with("--json=") && !color) {
            *arg = arg.replace("diagnostic-rendered-ansi,", "");
        }
        args
    }
}

#[cfg(test)]
mod tests {
    use super::{CompilerCall, split};
    use std::path::{Path, PathBuf};

    const CALL: &str = r"     Running `CARGO_MANIFEST_DIR=/w/x CARGO_PKG_DESCRIPTION='it'\''s a `tick`
and a line' CARGO_PKG_README='' /r/rustc --crate-name x --edition=2024 x/src/lib.rs --json=diagnostic-rendered-ansi,artifacts --crate-type cdylib --check-cfg 'cfg(a, values())' -C metadata=12 --out-dir /t/debug/deps --extern a=/t/liba.rlib --extern proc_macro`
";

    fn call() -> CompilerCall {
        split(CALL).0.pop().unwrap()
    }

    #[test]
    fn a_call_is_read_with_its_quotes() {
        let call = call();
        assert_eq!(call.env("CARGO_PKG_DESCRIPTION"), Some("it's a `tick`\nand a line"));
        assert_eq!((call.env("CARGO_PKG_README"), call.program.as_str()), (Some(""), "/r/rustc"));
        assert_eq!((call.value("--check-cfg"), call.codegen("metadata")), (Some("cfg(a, values())"), Some("12")));
        assert!(call.is_cdylib());
        let tools = |call: &CompilerCall| call.tools("".as_ref(), Path::new("/w"));
        assert_eq!(tools(&call), Some((vec!["/r/rustc".into()], vec!["/t/liba.rlib".into()])));
        let wrapped = CompilerCall {
            program: "/w/a".into(),
            args: ["/w/b", "/r/rustc", "--test"].map(String::from).into(),
            ..call
        };
        assert_eq!(tools(&wrapped).unwrap().0, ["/w/a", "/w/b", "/r/rustc"].map(PathBuf::from));
        let unknown = CompilerCall { program: "missing".into(), ..wrapped };
        assert_eq!(tools(&unknown), None);
    }

    #[test]
    fn an_option_of_code_generation_may_contain_underscores() {
        let call = CompilerCall { args: ["-Clinker_flavor=gcc".to_owned()].into(), ..call() };
        assert_eq!((call.codegen("linker-flavor"), call.codegen("linker")), (Some("gcc"), None));
    }

    #[test]
    fn the_other_text_is_as_without_the_flag() {
        let colored = CALL.replace("     Running `", "\x1b[1m\x1b[92m     Running\x1b[0m `");
        let stderr = format!(
            "       Fresh a v1.0.0\n   Compiling x v0.1.0\n     Running `/t/build-script-build`\n[x 0.1.0] cargo::x=1\n{colored}\
             error: Running out\n"
        );
        let (calls, text) = split(&stderr);
        assert_eq!((calls, text.as_str()), (vec![call()], "   Compiling x v0.1.0\nerror: Running out"));
        // Treats an incomplete line as text.
        assert_eq!(
            split("     Running `/r/rustc --crate-name"),
            (vec![], "     Running `/r/rustc --crate-name".to_owned())
        );
    }

    #[test]
    fn the_folder_of_a_call_follows_from_its_source() {
        assert_eq!(call().folder(Path::new("/w/x/src/lib.rs")), Some("/w".into()));
        assert_eq!(call().folder(Path::new("/w/y/src/lib.rs")), None);
    }

    #[test]
    fn a_redirected_call_differs_in_its_output_only() {
        let call = call();
        let differences = |color| {
            let args = call.redirected(Path::new("/d"), color);
            let pairs = args.into_iter().zip(&call.args);
            pairs.filter(|(new, old)| new != *old).map(|(new, _)| new).collect::<Vec<_>>().join(" ")
        };
        assert_eq!((differences(true).as_str(), differences(false).as_str()), ("/d", "--json=artifacts /d"));
    }
}
