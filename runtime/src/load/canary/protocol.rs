//! What a host and its canary say to each other. The host writes one request to the canary's standard input and keeps
//! that open: its end is the end of the canary. The canary answers on its standard output, which it shares with
//! whatever its modules print; so an answer is a line that begins with a mark that only the two of them know.

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use super::CanaryStep;

/// The one argument of a program that is started as a canary.
pub(super) const ARGUMENT: &str = "--alcedo-canary";

/// Modules to be loaded, dependencies first: name, and where the copy is.
pub(super) type Candidates = Vec<(String, PathBuf)>;

/// What a canary tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The program is a canary and has understood.
    Here,
    /// It begins this step with the module of this number.
    Begins(usize, CanaryStep),
    /// The module in hand does not load, for this reason.
    Refused(String),
    /// All modules were loaded.
    Done,
}

/// The mark of one canary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark(String);

impl Mark {
    /// A mark made of a number that a module does not print by chance.
    pub(super) fn new(number: u64) -> Self {
        Self(format!("\u{1}alcedo-canary-{number:016x} "))
    }

    /// The line of an answer. It begins with a line break, since a module may have printed half a line before.
    pub(super) fn line(&self, answer: &Answer) -> String {
        let mark = &self.0;
        match answer {
            Answer::Here => format!("\n{mark}here\n"),
            Answer::Begins(module, step) => format!("\n{mark}begins {module} {step}\n"),
            Answer::Refused(text) => format!("\n{mark}refused {}\n", text.replace('\\', "\\\\").replace('\n', "\\n")),
            Answer::Done => format!("\n{mark}done\n"),
        }
    }

    /// The answer in a line; none in a line that somebody else printed.
    pub(super) fn answer(&self, line: &str) -> Option<Answer> {
        let rest = line.strip_prefix(&self.0)?;
        let (word, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        match word {
            "here" => Some(Answer::Here),
            "done" => Some(Answer::Done),
            "refused" => Some(Answer::Refused(unescaped(rest))),
            "begins" => {
                let (module, name) = rest.split_once(' ')?;
                let step = CanaryStep::ALL.into_iter().find(|step| step.name() == name)?;
                Some(Answer::Begins(module.parse().ok()?, step))
            }
            _ => None,
        }
    }
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, letter == '\\') {
            (_, true) => match letters.next() {
                Some('n') => out.push('\n'),
                Some(other) => out.push(other),
                None => {}
            },
            (letter, false) => out.push(letter),
        }
    }
    out
}

/// Writes the request.
///
/// # Errors
/// When nobody reads it, or a path is not UTF-8.
pub(super) fn ask(to: &mut impl Write, number: u64, candidates: &[(&str, &Path)]) -> io::Result<()> {
    let mut request = format!("{number} {}\n", candidates.len()).into_bytes();
    for (name, path) in candidates {
        let path = path.to_str().ok_or_else(|| {
            let told = format!("the path {} is not UTF-8: let TMPDIR be one that is", path.display());
            io::Error::new(io::ErrorKind::InvalidInput, told)
        })?;
        for field in [name, path] {
            request.extend(field.bytes());
            request.push(0);
        }
    }
    to.write_all(&request)?;
    to.flush()
}

/// Reads the request: the number of the mark, and the modules.
///
/// # Errors
/// When it is not one.
pub(super) fn hear(from: &mut impl BufRead) -> io::Result<(u64, Candidates)> {
    let strange = || io::Error::new(io::ErrorKind::InvalidData, "this is no request to a canary");
    let mut head = String::new();
    from.read_line(&mut head)?;
    let (number, count) = head.trim_end().split_once(' ').ok_or_else(strange)?;
    let number = number.parse().map_err(|_| strange())?;
    let count: usize = count.parse().map_err(|_| strange())?;
    let mut field = || {
        let mut bytes = Vec::new();
        from.read_until(0, &mut bytes)?;
        match bytes.pop() {
            Some(0) => String::from_utf8(bytes).map_err(|_| strange()),
            _ => Err(strange()),
        }
    };
    let candidates = (0..count).map(|_| Ok((field()?, PathBuf::from(field()?)))).collect::<io::Result<_>>()?;
    Ok((number, candidates))
}

#[cfg(test)]
mod tests {
    use super::{Answer, CanaryStep, Mark, ask, hear};
    use std::path::{Path, PathBuf};

    #[test]
    fn every_answer_is_the_same_answer_on_the_other_side_whatever_was_printed_before() {
        let mark = Mark::new(7);
        let steps = CanaryStep::ALL.into_iter().enumerate().map(|(module, step)| Answer::Begins(module, step));
        let refused = Answer::Refused("two\nlines, \\n and a \\".to_owned());
        for answer in steps.chain([Answer::Here, Answer::Done, refused]) {
            let text = format!("half a line{}", mark.line(&answer));
            let answers: Vec<_> = text.lines().filter_map(|line| mark.answer(line)).collect();
            assert_eq!(answers, [answer]);
        }
    }

    #[test]
    fn what_a_module_prints_is_no_answer() {
        let mark = Mark::new(7);
        for line in ["", "done", "\u{1}alcedo-canary-0000000000000008 done", &Mark::new(7).0, "hello"] {
            assert_eq!(mark.answer(line), None, "{line}");
        }
    }

    #[test]
    fn a_request_is_read_as_it_was_written_and_no_further() {
        let mut bytes = Vec::new();
        ask(&mut bytes, 9, &[("a", Path::new("/tmp/a b\n.so")), ("b", Path::new("/b"))]).expect("it is UTF-8");
        bytes.extend(b"not read");
        let mut from = bytes.as_slice();
        let expected = vec![("a".to_owned(), PathBuf::from("/tmp/a b\n.so")), ("b".to_owned(), PathBuf::from("/b"))];
        assert_eq!(hear(&mut from).expect("a request"), (9, expected));
        assert_eq!(from, b"not read");
        assert!(hear(&mut &b"9 1\na\0cut"[..]).is_err());
        assert!(hear(&mut &b"hello"[..]).is_err());
    }
}
