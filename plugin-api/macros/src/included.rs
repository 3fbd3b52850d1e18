//! Finds the files outside of `src` that the sources of a plugin include. A change to such a file changes the library, so the build id
//! must contain the file.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

/// Files that sources include. Omits files of other crates' macros, paths that are not one literal, submodules of files outside of `src`,
/// and includes in files without the extension `rs`. Comments, strings and disabled code are also searched.
pub(crate) struct Included {
    /// Folder of the package.
    root: PathBuf,
    /// Folder whose files are inputs without being included. `None` if the folder does not exist.
    src: Option<PathBuf>,
    /// Found files that have not been read, as the sources name them.
    unread: VecDeque<PathBuf>,
    /// All found files, with all links resolved.
    known: BTreeSet<PathBuf>,
}

impl Included {
    pub(crate) fn new(root: &Path) -> Self {
        let src = root.join("src").canonicalize().ok();
        Self { root: root.to_owned(), src, unread: VecDeque::new(), known: BTreeSet::new() }
    }

    /// Adds the files that the source `file` includes.
    pub(crate) fn add(&mut self, file: &Path, content: &[u8]) {
        // Checks the extension first, because a file in `src` may be large and not a source.
        if file.extension().is_none_or(|end| end != "rs") {
            return;
        }
        let Ok(text) = str::from_utf8(content) else { return };
        for path in named(file, text, &self.root) {
            let real = path.canonicalize().ok().filter(|real| real.is_file());
            let Some(real) = real.filter(|real| !self.src.as_ref().is_some_and(|src| real.starts_with(src))) else {
                continue;
            };
            if self.known.insert(real) {
                self.unread.push_back(path);
            }
        }
    }

    /// Returns the next found file with its content, and adds the files that this file includes.
    pub(crate) fn read_next(&mut self) -> Option<(PathBuf, Vec<u8>)> {
        loop {
            let file = self.unread.pop_front()?;
            // Skips a file that cannot be read, because the compiler reports this error at the macro that includes the file.
            if let Ok(content) = std::fs::read(&file) {
                self.add(&file, &content);
                return Some((file, content));
            }
        }
    }
}

/// Returns the paths in `include!`, `include_bytes!`, `include_str!` and `#[path = "…"]` of a source. `root` is the folder of the package.
fn named(file: &Path, text: &str, root: &Path) -> Vec<PathBuf> {
    const MACROS: [&str; 3] = ["include", "include_bytes", "include_str"];
    let folder = file.parent().unwrap_or(root);
    // Searches single characters, because the standard library finds these with code that is optimized in every build of this macro.
    let included = text.match_indices('!').filter_map(|(at, _)| {
        let (before, rest) = (&text[..at], &text[at + 1..]);
        let rest = Some(rest).filter(|_| MACROS.iter().any(|name| before.ends_with(*name)))?;
        let rest = after(rest, '(').or_else(|| after(rest, '[')).or_else(|| after(rest, '{'))?;
        match in_package(rest) {
            Some(rest) => Some(root.join(literal(rest)?.trim_start_matches('/'))),
            None => Some(folder.join(literal(rest)?)),
        }
    });
    let modules = text.match_indices('#').flat_map(|(at, _)| {
        let attribute = after(&text[at + 1..], '[').unwrap_or_default().trim_start();
        // Length of the text that contains the names of all paths. An attribute ends at its first `]`.
        let end = if attribute.starts_with("cfg_attr") {
            attribute.find(']').unwrap_or_default()
        } else if attribute.starts_with("path") {
            "path".len()
        } else {
            0
        };
        let values = attribute[..end].match_indices("path").map(move |(at, name)| &attribute[at + name.len()..]);
        values.filter_map(move |value| Some(folder.join(literal(after(value, '=')?)?)))
    });
    included.chain(modules).collect()
}

/// Returns the rest of the text after a token, which blanks may precede.
fn after(text: &str, token: char) -> Option<&str> {
    text.trim_start().strip_prefix(token)
}

/// Returns the rest of the text after `concat!(env!("CARGO_MANIFEST_DIR"),`.
fn in_package(text: &str) -> Option<&str> {
    let inside = after(text.trim_start().strip_prefix("concat!")?, '(')?;
    let name = after(inside.trim_start().strip_prefix("env!")?, '(')?;
    let rest = name.trim_start().strip_prefix("\"CARGO_MANIFEST_DIR\"")?;
    after(after(rest, ')')?, ',')
}

/// Returns the content of the string literal at the start of a text. Escapes are not replaced.
fn literal(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let text = text.strip_prefix('r').map_or(text, |raw| raw.trim_start_matches('#'));
    text.strip_prefix('"')?.split_once('"').map(|(content, _)| content)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{Included, named};

    #[test]
    fn included_files_are_found_in_each_form() {
        let check = |text: &str, expected: &[&str]| {
            let found = named(Path::new("/p/src/deep/a.rs"), text, Path::new("/p"));
            assert_eq!(found, expected.iter().map(PathBuf::from).collect::<Vec<_>>(), "{text}");
        };
        check(r#"const A: &str = include_str!("../data/a.txt");"#, &["/p/src/deep/../data/a.txt"]);
        check("include! {\n    r#\"../b.rs\"#\n}", &["/p/src/deep/../b.rs"]);
        check(r#"f(include_bytes![ "/data/c" ], "d")"#, &["/data/c"]);
        check(r#"include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../e"))"#, &["/p/../e"]);
        check(r#"#[path = "../f.rs"] mod f;"#, &["/p/src/deep/../f.rs"]);
        check(r##"#[cfg_attr(unix, path = r#"g.rs"#)] mod g;"##, &["/p/src/deep/g.rs"]);
        check(r#"#[cfg_attr(feature = "path", path = "../g.rs")] mod g;"#, &["/p/src/deep/../g.rs"]);
        for other in [
            r#"let path = "h";"#,
            r#"f(path = "h")"#,
            r#"include_str!(concat!(env!("OUT_DIR"), "/h"))"#,
            "include_str!(NAME)",
            r#"includes("h")"#,
            "include_str!(\"h",
            "#[path",
            r#"#[cfg_attr(feature = "path", inline)]"#,
            r#"#[cfg_attr(feature = "serde", derive(X))] struct A; fn f() { let path = "h"; }"#,
            r#"#[cfg_attr(unix, path = "h""#,
        ] {
            check(other, &[]);
        }
    }

    #[test]
    fn each_file_outside_of_the_sources_is_read_once() {
        let root = std::env::temp_dir().join(format!("alcedo-included-{}", std::process::id()));
        let files = [
            ("src/lib.rs", r#"include!("../shared/a.rs"); include_str!("b.txt"); include_str!("../missing");"#),
            ("src/b.txt", ""),
            ("shared/a.rs", r#"include!("../shared/a.rs"); include_str!("../src/b.txt"); include_str!("c.txt");"#),
            ("shared/c.txt", r#"include_str!("d.txt")"#),
            ("shared/d.txt", ""),
        ];
        for (file, content) in files {
            let file = root.join(file);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("it is writable");
            std::fs::write(file, content).expect("it is writable");
        }
        let mut included = Included::new(&root);
        included.add(&root.join("src/lib.rs"), files[0].1.as_bytes());
        let found: Vec<_> = std::iter::from_fn(|| included.read_next()).collect();
        std::fs::remove_dir_all(&root).expect("it exists");
        let expected = [("src/../shared/a.rs", files[2].1), ("src/../shared/c.txt", files[3].1)];
        let expected = expected.map(|(file, content)| (root.join(file), content.as_bytes().to_owned()));
        assert_eq!(found, expected);
    }
}
