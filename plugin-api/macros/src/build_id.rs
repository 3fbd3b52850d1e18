//! Reads the inputs of a compiler run, and computes the build id. The ids of two builds differ if the sources of the crate, the files that
//! these sources include, the arguments of the compiler or the linked libraries differ. Also finds linked libraries that are themselves
//! plugins.

use std::ffi::{CStr, OsStr};
use std::io;
use std::path::{Path, PathBuf};

use crate::included::Included;

pub(crate) struct Made {
    pub(crate) build_id: u128,
    /// Names of the linked crates that are plugins.
    pub(crate) plugins: Vec<String>,
}

/// Hashes the inputs of this compiler run, and finds linked plugins among the inputs.
pub(crate) fn read_inputs() -> io::Result<Made> {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| ".".into()));
    // Replaces invalid UTF-8, because the methods for strings panic.
    let args: Vec<_> = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let mut hash = Hash::START;
    let files = sources(&root, other_folder(&root, &args).as_deref(), std::env::var_os("OUT_DIR").as_deref())?;
    add_sources(&mut hash, &root, &files)?;
    for arg in &args {
        hash.add(arg.as_bytes());
    }
    let mut plugins = Vec::new();
    for (name, library) in libraries(&args) {
        let bytes = read(Path::new(library))?;
        let file = Path::new(library).file_stem().and_then(OsStr::to_str).unwrap_or_default();
        for part in without_code(&bytes, file.strip_prefix("lib").unwrap_or(file)) {
            hash.add(part);
        }
        if has_root_module(&bytes) {
            plugins.push(name.to_owned());
        }
    }
    for library in static_libraries(&args) {
        hash.add(&read(&library)?);
    }
    // Variables with the prefix of this framework are inputs, because sources can read them with `option_env!`.
    let is_own = |name: &OsStr| name.as_encoded_bytes().starts_with(b"ALCEDO_");
    let mut words: Vec<_> = std::env::vars_os().filter(|(name, _)| is_own(name)).collect();
    words.sort();
    for (name, value) in words {
        hash.add(name.as_encoded_bytes());
        hash.add(value.as_encoded_bytes());
    }
    Ok(Made { build_id: hash.finish(), plugins })
}

/// Adds the sources `files` of the package in `root` to the hash, and the files that these sources include.
fn add_sources(hash: &mut Hash, root: &Path, files: &[PathBuf]) -> io::Result<()> {
    let mut included = Included::new(root);
    // The hash contains the path of a file relative to the checkout, because the folder of the checkout does not affect the build.
    let name = |file: &Path| file.strip_prefix(root).unwrap_or(file).as_os_str().as_encoded_bytes().to_owned();
    for file in files {
        let content = match read(file) {
            // An editor has removed a temporary file.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            content => content?,
        };
        hash.add(&name(file));
        hash.add(&content);
        included.add(file, &content);
    }
    while let Some((file, content)) = included.read_next() {
        hash.add(&name(&file));
        hash.add(&content);
    }
    Ok(())
}

/// Reads a file. An error contains the path of the file.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// Returns the folder of the crate's root source if this folder is outside of `src`. One of the compiler's arguments is the path of the root
/// source.
fn other_folder(root: &Path, args: &[String]) -> Option<PathBuf> {
    let source = args.iter().skip(1).find(|arg| arg.ends_with(".rs") && !arg.starts_with('-'))?;
    let folder = Path::new(source).canonicalize().ok()?.parent()?.to_owned();
    if root.join("src").canonicalize().is_ok_and(|src| folder.starts_with(src)) {
        return None;
    }
    let inside = root.canonicalize().ok().and_then(|root| folder.strip_prefix(root).ok().map(Path::to_owned));
    Some(inside.map_or(folder, |inside| root.join(inside)))
}

/// Returns the sources of a package. `other` is a further folder with sources. `generated` is the folder with the sources and libraries
/// that a build script has written.
fn sources(root: &Path, other: Option<&Path>, generated: Option<&OsStr>) -> io::Result<Vec<PathBuf>> {
    let mut files = vec![root.join("Cargo.toml")];
    for folder in [Some(root.join("src")), generated.map(PathBuf::from)].into_iter().flatten() {
        collect(&folder, &|_| true, &mut files)?;
    }
    if let Some(other) = other {
        let mut found = Vec::new();
        collect(other, &is_of_sources, &mut found)?;
        // The folder of the package, and folders outside of the package, may also contain large files that are not sources.
        let is_own = other != root && other.starts_with(root);
        found.retain(|file| is_own || file.extension().is_some_and(|extension| extension == "rs"));
        files.extend(found);
    }
    files.sort();
    files.dedup();
    Ok(files)
}

/// Returns false for folders that may be next to a root source in the folder of the package, but contain no modules of the crate: hidden
/// folders, target folders and other packages.
fn is_of_sources(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default();
    let has = |file: &str| folder.join(file).is_file();
    name != "target" && !name.as_encoded_bytes().starts_with(b".") && !has("CACHEDIR.TAG") && !has("Cargo.toml")
}

/// Adds the files in a folder, and in the folders below that `enters` accepts.
fn collect(dir: &Path, enters: &dyn Fn(&Path) -> bool, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let entries = match std::fs::read_dir(dir) {
        // Skips folders that this user cannot list, such as data of another user.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {
            return Ok(());
        }
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        // Follows links, because the compiler follows links. Skips dangling links, with which editors mark unsaved files.
        match std::fs::metadata(&path) {
            Ok(found) if found.is_dir() && !is_cycle(&path) && enters(&path) => collect(&path, enters, files)?,
            Ok(found) if found.is_file() => files.push(path),
            _ => {}
        }
    }
    Ok(())
}

/// Returns true if a path is a link to a folder that encloses the link.
fn is_cycle(path: &Path) -> bool {
    let is_in =
        |real: PathBuf| path.ancestors().skip(1).any(|above| above.canonicalize().is_ok_and(|above| above == real));
    path.is_symlink() && path.canonicalize().is_ok_and(is_in)
}

/// Returns the crates and files in `--extern name=path`. Cargo may write an option, such as `noprelude:`, before a name.
fn libraries(args: &[String]) -> Vec<(&str, &str)> {
    let pairs = args.windows(2).filter(|pair| pair[0] == "--extern").map(|pair| pair[1].as_str());
    let joined = args.iter().filter_map(|arg| arg.strip_prefix("--extern="));
    pairs.chain(joined).filter_map(|word| word.split_once('=')).collect()
}

/// Returns the paths of the static libraries in `-l static=name` and `-l name` that exist in a folder of `-L native=folder`. Cargo writes
/// these arguments for a build script.
fn static_libraries(args: &[String]) -> Vec<PathBuf> {
    let values =
        |option: &'static str| args.windows(2).filter(move |pair| pair[0] == option).map(|pair| pair[1].as_str());
    let folders: Vec<_> = values("-L").map(|value| value.strip_prefix("native=").unwrap_or(value)).collect();
    let names = values("-l").filter_map(|value| match value.split_once('=') {
        // Modifiers may follow the kind, as in `static:+bundle`.
        Some((kind, name)) => kind.starts_with("static").then_some(name),
        None => Some(value),
    });
    // In `-l name:rename`, the file of the library has the name `rename`.
    let names = names.filter_map(|name| name.rsplit(':').next());
    let files = names.flat_map(|name| [format!("lib{name}.a"), format!("{name}.lib")]);
    let paths = files.flat_map(|file| folders.iter().map(move |folder| Path::new(folder).join(&file)));
    paths.filter(|path| path.is_file()).collect()
}

/// Returns true if a library defines the root module of a plugin. The symbol table in the first member of the archive then contains the
/// symbol of the root module. A library that contains only metadata, as from `cargo check`, has no symbol table.
fn has_root_module(library: &[u8]) -> bool {
    const ROOT: &[u8] = b"alcedo_root_module";
    let Some((_, mut names, _)) = library.strip_prefix(ARCHIVE).and_then(first_member) else { return false };
    // Calls the standard library to find the end of each symbol name, because the standard library is optimized in every build of this
    // macro.
    while let Ok(name) = CStr::from_bytes_until_nul(names) {
        let name = name.to_bytes();
        if name.ends_with(ROOT) {
            return true;
        }
        names = &names[name.len() + 1..];
    }
    false
}

/// Start of an archive.
const ARCHIVE: &[u8] = b"!<arch>\n";

/// Returns the name and the content of the first member of an archive, and the remaining members.
fn first_member(members: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    // Name, date, owner, group and mode fill 48 bytes of the header. The size has 10 digits. Two further bytes end the header.
    let (header, rest) = members.split_at_checked(60)?;
    let length: usize = str::from_utf8(&header[48..58]).ok()?.trim().parse().ok()?;
    let (content, rest) = rest.split_at_checked(length)?;
    // Members begin at even positions.
    Some((&header[..16], content, rest.get(length % 2..).unwrap_or_default()))
}

/// Returns the parts of a library that determine the content of the library. Omits the code that the compiler has generated for the crate.
/// The library's metadata contains the compiler's hash of the sources and arguments, which determines this code. A library may also contain
/// the code of a bundled static library, which the metadata does not determine.
fn without_code<'a>(library: &'a [u8], krate: &str) -> Vec<&'a [u8]> {
    let Some(mut rest) = library.strip_prefix(ARCHIVE) else { return vec![library] };
    let (mut parts, mut names) = (Vec::new(), &[][..]);
    while let Some((name, content, next)) = first_member(rest) {
        match name {
            [b'/', b' ', ..] => {}
            [b'/', b'/', ..] => names = content,
            _ if is_code(name, names, krate) => {}
            _ => parts.push(content),
        }
        rest = next;
    }
    parts.push(rest);
    parts
}

/// Returns true for the name of a member that contains generated code of `krate`. For a long name, `name` contains the position of the name
/// in `names`.
fn is_code(name: &[u8], names: &[u8], krate: &str) -> bool {
    let at = str::from_utf8(&name[1..]).ok().and_then(|at| at.trim().parse::<usize>().ok());
    let name = at.and_then(|at| names.get(at..)).and_then(|names| names.split(|letter| *letter == b'/').next());
    let rest = name.and_then(|name| name.strip_prefix(krate.as_bytes()));
    rest.is_some_and(|rest| rest.starts_with(b".") && rest.ends_with(b".rcgu.o"))
}

/// Hash by multiplication and shift of 128-bit words. The hash is fast even in a macro built without optimization. It detects
/// mistakes, but is not secure against attacks.
#[derive(Clone, Copy)]
struct Hash(u128);

impl Hash {
    const START: Self = Self(0x9e37_79b9_7f4a_7c15_c2b2_ae3d_27d4_eb4f);

    fn add(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<16>();
        let (mut state, mut at) = (self.0, 0);
        // Uses no iterator, because in an unoptimized build the calls of the iterator would take longer than the hash.
        while at < words.len() {
            state = Self::step(state, u128::from_le_bytes(words[at]));
            at += 1;
        }
        let mut last = [0; 16];
        last[..rest.len()].copy_from_slice(rest);
        self.0 = Self::step(Self::step(state, u128::from_le_bytes(last)), bytes.len() as u128);
    }

    #[inline(always)]
    fn step(state: u128, word: u128) -> u128 {
        let product = (state ^ word).wrapping_mul(0x9fb2_1c65_1e98_df25_ff51_afd7_ed55_8ccd);
        // Uses operators, because in an unoptimized build a call of `rotate_left` would take as long as the rest of the step.
        product ^ (product >> 61)
    }

    fn finish(self) -> u128 {
        Self::step(Self::step(self.0, self.0 >> 64), self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::path::Path;

    use super::{
        Hash, add_sources, has_root_module, libraries, other_folder, read, sources, static_libraries, without_code,
    };

    fn hash(parts: &[&[u8]]) -> u128 {
        let mut hash = Hash::START;
        for part in parts {
            hash.add(part);
        }
        hash.finish()
    }

    #[test]
    fn any_changed_bit_and_any_moved_boundary_changes_the_id() {
        let text = *b"fn main() { let x = 1; }";
        let id = hash(&[&text]);
        for bit in 0..text.len() * 8 {
            let mut changed = text;
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(hash(&[&changed]), id, "bit {bit}");
        }
        assert_ne!(hash(&[b"ab", b"c"]), hash(&[b"a", b"bc"]));
        assert_eq!(hash(&[&text]), id);
    }

    #[cfg(unix)]
    #[test]
    fn generated_files_and_linked_folders_are_sources() {
        use std::fs::Permissions;
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let root = std::env::temp_dir().join(format!("alcedo-sources-{}", std::process::id()));
        let [src, shared, out, closed] = ["src", "shared", "out", "src/closed"].map(|name| root.join(name));
        for folder in [&src, &shared, &out, &closed] {
            std::fs::create_dir_all(folder).expect("it is writable");
        }
        for file in [shared.join("part.rs"), out.join("made.rs")] {
            std::fs::write(file, "").expect("it is writable");
        }
        symlink(&shared, src.join("shared")).expect("it is writable");
        symlink(&root, shared.join("back")).expect("it is writable");
        symlink(".", out.join("out")).expect("it is writable");
        symlink("user@host.1", src.join(".#lib.rs")).expect("it is writable");
        let allow = |mode| std::fs::set_permissions(&closed, Permissions::from_mode(mode)).expect("it is ours");
        allow(0);
        let found = sources(&root, None, Some(out.as_os_str()));
        allow(0o700);
        std::fs::remove_dir_all(&root).expect("it exists");
        let files = found.expect("links are followed or skipped");
        assert_eq!(files, [root.join("Cargo.toml"), out.join("made.rs"), src.join("shared/part.rs")]);
    }

    #[test]
    fn sources_next_to_a_root_source_outside_of_src_are_found() {
        let root = std::env::temp_dir().join(format!("alcedo-other-{}", std::process::id()));
        let files = [
            "src/lib.rs",
            "code/deep/part.rs",
            "code/image",
            "code/lib.rs",
            "lib.rs",
            "image",
            "target/made.rs",
            ".git/x.rs",
            "in/Cargo.toml",
        ];
        for file in files.map(|file| root.join(file)) {
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("it is writable");
            std::fs::write(file, "").expect("it is writable");
        }
        let root = root.canonicalize().expect("it exists");
        let packages = [("", "src/lib.rs"), ("", "code/lib.rs"), ("", "lib.rs"), ("in", "code/lib.rs")];
        let found = packages.map(|(package, source)| {
            let (package, source) = (root.join(package), root.join(source).display().to_string());
            let args = ["rustc", "--crate-name", "x", &source, "--crate-type", "cdylib"].map(str::to_owned);
            sources(&package, other_folder(&package, &args).as_deref(), None)
        });
        std::fs::remove_dir_all(&root).expect("it exists");
        let found = found.map(|found| found.expect("the folders are readable"));
        let expected = |files: &[&str]| files.iter().map(|file| root.join(file)).collect::<Vec<_>>();
        let own = ["Cargo.toml", "code/deep/part.rs", "code/image", "code/lib.rs", "src/lib.rs"];
        assert_eq!(found[0], expected(&["Cargo.toml", "src/lib.rs"]));
        assert_eq!(found[1], expected(&own));
        assert_eq!(found[2], expected(&["Cargo.toml", "code/deep/part.rs", "code/lib.rs", "lib.rs", "src/lib.rs"]));
        // Outside of the package, only Rust sources are inputs.
        assert_eq!(found[3], expected(&["code/deep/part.rs", "code/lib.rs", "in/Cargo.toml"]));
    }

    #[test]
    fn a_change_of_an_included_file_outside_of_src_changes_the_id() {
        let root = std::env::temp_dir().join(format!("alcedo-add-sources-{}", std::process::id()));
        std::fs::create_dir_all(root.join("src")).expect("it is writable");
        let source = root.join("src/lib.rs");
        std::fs::write(&source, r#"include_str!("../data.txt")"#).expect("it is writable");
        let ids = ["one", "two", "one"].map(|content| {
            std::fs::write(root.join("data.txt"), content).expect("it is writable");
            let mut hash = Hash::START;
            add_sources(&mut hash, &root, std::slice::from_ref(&source)).map(|()| hash.finish())
        });
        std::fs::remove_dir_all(&root).expect("it exists");
        let [one, two, equal_to_one] = ids.map(|id| id.expect("the source is readable"));
        assert_ne!(one, two);
        assert_eq!(one, equal_to_one);
    }

    #[test]
    fn an_input_that_cannot_be_read_is_named() {
        let error = read(Path::new("/nowhere/part.rs")).expect_err("the file does not exist");
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().starts_with("/nowhere/part.rs: "), "{error}");
    }

    #[test]
    fn libraries_are_found_in_both_spellings() {
        let args = ["--extern", "a=/x/liba.rlib", "--extern=b=/x/libb.rmeta", "--extern", "proc_macro"];
        assert_eq!(libraries(&args.map(str::to_owned)), [("a", "/x/liba.rlib"), ("b", "/x/libb.rmeta")]);
    }

    #[test]
    fn static_libraries_are_found_in_the_folders_of_the_arguments() {
        let folder = std::env::temp_dir().join(format!("alcedo-static-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("it is writable");
        let files = ["libone.a", "libnew.a", "libplain.a", "libshared.a"].map(|name| folder.join(name));
        for file in &files {
            std::fs::write(file, "").expect("it is writable");
        }
        let native = format!("native={}", folder.display());
        let mut args = vec!["-L", "dependency=/x", "-L", native.as_str()];
        for name in ["static=one", "static:+whole-archive=two:new", "plain", "dylib=shared", "static=missing"] {
            args.extend(["-l", name]);
        }
        let args: Vec<_> = args.into_iter().map(str::to_owned).collect();
        let found = static_libraries(&args);
        std::fs::remove_dir_all(&folder).expect("it exists");
        assert_eq!(found, files[..3]);
    }

    #[test]
    fn code_of_the_compiler_does_not_change_the_id_of_a_library() {
        let archive = |members: &[(&str, &str)]| {
            let members = members.iter().map(|(name, content)| {
                let end = if content.len() % 2 == 1 { "\n" } else { "" };
                format!("{name:<16}{:<32}{:<10}`\n{content}{end}", "", content.len())
            });
            format!("!<arch>\n{}", members.collect::<String>()).into_bytes()
        };
        let names = ("//", "a.one.rcgu.o/\nlongname_of_c.o/\nab.one.rcgu.o/\n");
        let [code, of_c, bundled] = [("/0", "code"), ("/14", "of C"), ("/31", "of ab")];
        let library = archive(&[("/", "symbols"), names, ("lib.rmeta/", "meta"), code, of_c, bundled, ("c.o/", "C")]);
        assert_eq!(without_code(&library, "a"), [&b"meta"[..], b"of C", b"of ab", b"C", b""]);
        assert_eq!(without_code(b"metadata", "a"), [b"metadata"]);
    }

    #[test]
    fn only_the_symbol_table_identifies_a_library_as_a_plugin() {
        let archive = |list: &str, rest: &str| {
            let header = format!("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", "/", 0, 0, 0, 0, list.len());
            format!("!<arch>\n{header}{list}{rest}").into_bytes()
        };
        let root = "alcedo_root_module\0";
        assert!(has_root_module(&archive(&format!("\0\0one\0{root}two\0"), "")));
        assert!(!has_root_module(&archive("\0\0one\0two\0", root)), "a string in the code is not a symbol");
        let whole = archive(root, "");
        assert!((0..whole.len()).all(|length| !has_root_module(&whole[..length])), "a library that is cut off");
        assert!(!has_root_module(root.as_bytes()));
    }
}
