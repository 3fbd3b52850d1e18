//! Errors that end a command. An error is only printed and never matched, so an error is a string that names the failed operation, the
//! affected object and a fix. While a world runs, an error in a plugin's sources does not end the command: the error is reported, and the
//! old code continues to run.

use std::io;
use std::path::{Path, PathBuf};

use alcedo_runtime::printable;
pub(crate) use anyhow::Error;
use anyhow::anyhow;

/// Returns a function for `map_err` that converts an error of the file system.
pub(crate) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    move |source| {
        let way_out = match source.kind() {
            io::ErrorKind::NotFound => "check the path",
            io::ErrorKind::AlreadyExists => "an existing file is not overwritten, so name another",
            io::ErrorKind::PermissionDenied => "check the permissions of the file and its folder",
            io::ErrorKind::InvalidInput if doing == "listen at" => "set TMPDIR to a folder with a shorter path",
            _ if doing == "start" => "check that it is a program for this machine",
            _ if ["find", "read"].contains(&doing) => "check that it is a readable file of the expected kind",
            _ => "check that the folder is writable and the disk is not full",
        };
        anyhow!("could not {doing} {}: {source}; {way_out}", path.display())
    }
}

/// Returns a function for `map_err` that converts an error of the terminal or a pipe.
pub(crate) fn terminal(doing: &'static str) -> impl FnOnce(io::Error) -> Error {
    move |source| {
        anyhow!(
            "could not {doing}: {source}; run it with standard input and output redirected to do without a terminal"
        )
    }
}

/// Formats paths as a list separated by commas.
pub(crate) fn paths(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Escapes text from a file or a file name, so that the text fits in one line of a message.
pub(crate) fn one_line(text: &str) -> String {
    printable(&text.replace('\n', "\\n")).into_owned()
}

#[cfg(test)]
mod tests {
    use std::io::Error;

    use rustix::io::Errno;

    use super::file;

    #[test]
    fn an_error_names_the_fix_for_the_failed_operation() {
        for (doing, errno, fix) in [
            ("start", Errno::NOEXEC, "check that it is a program for this machine"),
            ("start", Errno::NOENT, "check the path"),
            ("read", Errno::ISDIR, "check that it is a readable file of the expected kind"),
            ("listen at", Errno::INVAL, "set TMPDIR to a folder with a shorter path"),
            ("write", Errno::NOSPC, "check that the folder is writable and the disk is not full"),
        ] {
            let error = file(doing, "/a".as_ref())(Error::from(errno)).to_string();
            assert!(error.starts_with(&format!("could not {doing} /a: ")) && error.ends_with(fix), "{error}");
        }
    }
}
