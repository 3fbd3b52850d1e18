//! Declarations of a host for `alcedo`. `alcedo glue --host` starts the host with an environment variable that contains the path of a file.
//! The host writes its native types to this file and exits before it constructs an object. For `alcedo check --host`, the host also checks
//! script packages, and writes the results. `alcedo` and the host must be built from one checkout. A comparison of [`VERSION`] detects a
//! mismatch.

use std::io;
use std::path::{Path, PathBuf};

use alcedo_sys::plain_file;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::load::declared::{Declared, ScriptCheck};

/// Environment variable with the path of the answer file.
pub const REQUEST: &str = "ALCEDO_GLUE_REQUEST";

/// Environment variable with a list of paths, in the format of `PATH`. The paths are the folders of the script packages to check, and the
/// plugin libraries that declare types for these packages.
pub const SCRIPTS: &str = "ALCEDO_CHECK_SCRIPTS";

const LARGEST: u64 = 1 << 28;

/// Version of the answer format, incremented whenever the format changes.
pub const VERSION: u32 = 3;

/// Answer file of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Answer {
    version: u32,
    runtime: String,
    /// Declarations of the host, or the error that occurred when the native types were declared.
    declared: Result<Answered, String>,
}

/// Declarations of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Answered {
    /// Native types.
    pub declared: Declared,
    /// Check results for the requested script packages; `None` if the host does not support scripts.
    pub scripts: Option<Vec<ScriptCheck>>,
}

/// Reason why an answer file cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The file cannot be read.
    #[error("its answer cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The file is not a complete answer.
    #[error("its answer is broken ({0}): build the host and `alcedo` from one checkout")]
    Broken(String),
    /// The version of the answer differs from the version of this reader.
    #[error(
        "it uses alcedo-runtime {runtime}, whose answers have version {found}, and this `alcedo` reads version {VERSION}: build both from one \
         checkout"
    )]
    Version {
        /// Version of the runtime in the host.
        runtime: String,
        /// Version of the answer format.
        found: u32,
    },
    /// The host itself rejected its native declarations.
    #[error("its native types are refused: {0}")]
    Refused(String),
}

/// Returns the path of the answer file. Returns `None` if the environment requests no answer.
pub(crate) fn requested() -> Option<PathBuf> {
    std::env::var_os(REQUEST).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Returns the requested script packages and libraries.
#[cfg(feature = "script")]
pub(crate) fn scripts() -> Vec<PathBuf> {
    std::env::var_os(SCRIPTS).map(|folders| std::env::split_paths(&folders).collect()).unwrap_or_default()
}

#[expect(clippy::print_stderr, reason = "the process ends here, and has no other way to report the reason")]
pub(crate) fn answer(to: &Path, declared: Result<Answered, Error>) -> ! {
    let declared = declared.map_err(|error| error.to_string());
    let runtime = env!("CARGO_PKG_VERSION").to_owned();
    let code = match write(to, &Answer { version: VERSION, runtime, declared }) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("the answer to {REQUEST} cannot be written to {}: {error}", to.display());
            1
        }
    };
    std::process::exit(code)
}

/// Writes the answer atomically, so that a file with the final name is always complete.
fn write(to: &Path, answer: &Answer) -> io::Result<()> {
    let mut bytes = Vec::new();
    ciborium::into_writer(answer, &mut bytes).map_err(io::Error::other)?;
    plain_file::replace(to, &bytes)
}

/// Reads the answer of a host. Returns `None` if the host has written no answer.
///
/// # Errors
/// Returns an error if the file is not an answer of this version, or if the host has written an error.
pub fn read(from: &Path) -> Result<Option<Answered>, AnswerError> {
    /// Fields that the answers of all versions contain.
    #[derive(Deserialize)]
    struct Any {
        version: u32,
        runtime: String,
    }
    let bytes = match plain_file::read(from, LARGEST) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let broken = |error: ciborium::de::Error<io::Error>| AnswerError::Broken(error.to_string());
    let Any { version, runtime } = ciborium::from_reader(&*bytes).map_err(broken)?;
    if version != VERSION {
        return Err(AnswerError::Version { runtime, found: version });
    }
    let Answer { declared, .. } = ciborium::from_reader(&*bytes).map_err(broken)?;
    declared.map(Some).map_err(AnswerError::Refused)
}

#[cfg(test)]
mod tests {
    use super::{Answer, AnswerError, Answered, VERSION, read, write};

    #[test]
    fn answers_round_trip_and_invalid_ones_are_errors_with_reasons() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("answer");
        let check = |answer: Option<Answer>| {
            if let Some(answer) = answer {
                write(&file, &answer).expect("it is written");
            }
            read(&file)
        };
        let answer = |version, declared| Some(Answer { version, runtime: "7.0.0".into(), declared });
        assert!(matches!(check(None), Ok(None)));
        assert_eq!(check(answer(VERSION, Ok(Answered::default()))).expect("it is whole"), Some(Answered::default()));
        let refused = check(answer(VERSION, Err("two of one name".into()))).expect_err("it has none").to_string();
        assert!(refused.contains("two of one name"), "{refused}");
        let other = check(answer(VERSION + 1, Ok(Answered::default()))).expect_err("it is another").to_string();
        assert!(other.contains("7.0.0") && other.contains("one checkout"), "{other}");
        let whole = std::fs::read(&file).expect("it is there");
        for len in 0..whole.len() {
            std::fs::write(&file, &whole[..len]).expect("it is written");
            assert!(matches!(read(&file), Err(AnswerError::Broken(_))), "{len}");
        }
    }
}
