//! What a ZCall name says. Written names come from plugins, tools and configuration, so a wrong one has to say
//! where it is wrong and how it should look; a right one has one spelling, under which it is found again.

use std::fmt;
use std::str::FromStr;

use alcedo_abi::names::shows_itself;
use thiserror::Error;

use crate::border::CallError;
use crate::shown::line;

/// A parsed name. Two spellings of one name are equal, and [`fmt::Display`] writes the shorter.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ZCallName {
    /// `ex:/name`: a function somebody registered under that name.
    Ex(String),
    /// `uf:/Script/Package.Type:Function` or `uf!:/…`: a reflected function.
    Uf {
        /// `/Script/Package.Type:Function`.
        path: String,
        /// Whether an override is called instead.
        virtuality: Virtuality,
    },
    /// `up:/Script/Package.Type:Property`: a property.
    Up {
        /// `/Script/Package.Type:Property`.
        path: String,
    },
    /// `nm:/module:type path:method`: a plugin's method.
    Nm {
        /// The module's name.
        module: String,
        /// The type as it was written: `/Script/Package.Type`, `Package.Type` or `Type`.
        type_path: String,
        /// The method's name.
        method: String,
    },
    /// `nd:/`: the delegate whose handle is in the first slot.
    Nd,
    /// `protocol:/rest`: what the host's resolver of that protocol knows.
    OfHost {
        /// The protocol.
        protocol: String,
        /// All behind `:/`.
        rest: String,
    },
}

/// Which body of a reflected function is meant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Virtuality {
    /// The most derived override.
    Virtual,
    /// The one that the path names.
    Final,
}

/// A text that is no ZCall name.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("`{}` is no ZCall name: {flaw} at byte {at}; write {form}", line(text))]
pub struct NameError {
    /// The whole text.
    pub text: String,
    /// Where it goes wrong, in bytes from its start.
    pub at: usize,
    /// What is wrong there.
    pub flaw: NameFlaw,
    /// The form that was expected.
    pub form: &'static str,
}

/// What is wrong with a name.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum NameFlaw {
    /// It starts with no protocol that exists.
    #[error("no known protocol")]
    Protocol,
    /// A fixed part is not there.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A part that must hold something is empty.
    #[error("the {0} is missing")]
    Empty(&'static str),
    /// A character that may not stand there.
    #[error("{0:?} is unexpected")]
    Unexpected(char),
}

impl From<NameError> for CallError {
    fn from(error: NameError) -> Self {
        Self::NotFound { message: error.to_string() }
    }
}

impl fmt::Display for ZCallName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ex(name) => write!(f, "ex:/{name}"),
            Self::Uf { path, virtuality: Virtuality::Virtual } => write!(f, "uf:{path}"),
            Self::Uf { path, virtuality: Virtuality::Final } => write!(f, "uf!:{path}"),
            Self::Up { path } => write!(f, "up:{path}"),
            Self::Nm { module, type_path, method } => write!(f, "nm:/{module}:{type_path}:{method}"),
            Self::Nd => f.write_str("nd:/"),
            Self::OfHost { protocol, rest } => write!(f, "{protocol}:/{rest}"),
        }
    }
}

const ANY_FORM: &str = "one of `ex:/`, `uf:/`, `uf!:/`, `up:/`, `nm:/`, `nd:/` and what it needs";
const EX_FORM: &str = "`ex:/name`";
const UF_FORM: &str = "`uf:/Script/Package.Type:Function`";
const UF_FINAL_FORM: &str = "`uf!:/Script/Package.Type:Function`";
const UP_FORM: &str = "`up:/Script/Package.Type:Property`";
const NM_FORM: &str = "`nm:/module:Package.Type:method`";
const ND_FORM: &str = "`nd:/`";
const HOST_FORM: &str = "`protocol:/what the host knows`, without spaces";

/// Whether a host may have a protocol of that name.
pub fn is_protocol(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '+' | '-' | '.');
    text.len() <= 32 && text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(is_part)
}

impl ZCallName {
    /// The protocols that are built in.
    pub const PROTOCOLS: [&str; 6] = ["ex", "uf", "uf!", "up", "nm", "nd"];

    /// Reads a name of the host's own `protocol`, with which it begins. The rest is the host's to read, so it may begin
    /// with `/`, unlike that of `ex`.
    ///
    /// # Errors
    /// When there is no `:/`, or nothing behind it, or a letter that no name has.
    pub(super) fn of_host(text: &str, protocol: &str) -> Result<Self, NameError> {
        let mut parser = Parser { text, at: protocol.len() + 1, form: HOST_FORM };
        parser.fixed("/")?;
        let rest = parser.rest();
        match rest.find(is_no_part).map(|at| (at, rest[at..].chars().next())) {
            Some((at, Some(c))) => {
                parser.at += at;
                Err(parser.flaw(NameFlaw::Unexpected(c)))
            }
            _ if rest.is_empty() => Err(parser.flaw(NameFlaw::Empty("name"))),
            _ => Ok(Self::OfHost { protocol: protocol.to_owned(), rest: rest.to_owned() }),
        }
    }
}

impl FromStr for ZCallName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let mut parser = Parser { text, at: 0, form: ANY_FORM };
        let Some((protocol, _)) = text.split_once(':') else { return Err(parser.flaw(NameFlaw::Protocol)) };
        let name = match protocol {
            "ex" => {
                parser.enter("ex:", EX_FORM);
                parser.fixed("/")?;
                Self::Ex(parser.free("name")?)
            }
            "uf" => {
                parser.enter("uf:", UF_FORM);
                Self::Uf { path: parser.member_path("function")?, virtuality: Virtuality::Virtual }
            }
            "uf!" => {
                parser.enter("uf!:", UF_FINAL_FORM);
                Self::Uf { path: parser.member_path("function")?, virtuality: Virtuality::Final }
            }
            "up" => {
                parser.enter("up:", UP_FORM);
                Self::Up { path: parser.member_path("property")? }
            }
            "nm" => {
                parser.enter("nm:", NM_FORM);
                parser.fixed("/")?;
                let module = parser.word("module")?;
                parser.fixed(":")?;
                let type_path = parser.type_path()?;
                parser.fixed(":")?;
                Self::Nm { module, type_path, method: parser.word("method")? }
            }
            "nd" => {
                parser.enter("nd:", ND_FORM);
                parser.fixed("/")?;
                Self::Nd
            }
            _ => return Err(parser.flaw(NameFlaw::Protocol)),
        };
        parser.end()?;
        Ok(name)
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    form: &'static str,
}

impl<'a> Parser<'a> {
    fn enter(&mut self, protocol: &str, form: &'static str) {
        self.at = protocol.len();
        self.form = form;
    }

    fn flaw(&self, flaw: NameFlaw) -> NameError {
        NameError { text: self.text.to_owned(), at: self.at, flaw, form: self.form }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn fixed(&mut self, part: &'static str) -> Result<(), NameError> {
        if !self.rest().starts_with(part) {
            return Err(self.flaw(NameFlaw::Missing(part)));
        }
        self.at += part.len();
        Ok(())
    }

    /// One piece between separators.
    fn word(&mut self, what: &'static str) -> Result<String, NameError> {
        let rest = self.rest();
        let len = rest.find(|c: char| ends_word(c)).unwrap_or(rest.len());
        if len == 0 {
            return Err(self.flaw(NameFlaw::Empty(what)));
        }
        self.at += len;
        Ok(rest[..len].to_owned())
    }

    /// All that is left. It may hold separators, but not start with one, since `ex://name` would be a second
    /// spelling that leads elsewhere.
    fn free(&mut self, what: &'static str) -> Result<String, NameError> {
        let rest = self.rest();
        let len = rest.find(is_no_part).unwrap_or(rest.len());
        match rest[..len].chars().next() {
            Some('/') => Err(self.flaw(NameFlaw::Unexpected('/'))),
            Some(_) => {
                self.at += len;
                Ok(rest[..len].to_owned())
            }
            None => Err(self.flaw(NameFlaw::Empty(what))),
        }
    }

    fn script_type(&mut self) -> Result<(), NameError> {
        self.fixed("/Script/")?;
        self.word("package")?;
        self.fixed(".")?;
        self.word("type")?;
        Ok(())
    }

    fn member_path(&mut self, what: &'static str) -> Result<String, NameError> {
        if self.rest().starts_with("//") {
            self.at += 1;
        }
        let start = self.at;
        self.script_type()?;
        self.fixed(":")?;
        self.word(what)?;
        Ok(self.text[start..self.at].to_owned())
    }

    fn type_path(&mut self) -> Result<String, NameError> {
        let start = self.at;
        if self.rest().starts_with('/') {
            self.script_type()?;
        } else {
            self.word("type path")?;
            if self.rest().starts_with('.') {
                self.at += 1;
                self.word("type")?;
            }
        }
        Ok(self.text[start..self.at].to_owned())
    }

    fn end(&self) -> Result<(), NameError> {
        match self.rest().chars().next() {
            Some(c) => Err(self.flaw(NameFlaw::Unexpected(c))),
            None => Ok(()),
        }
    }
}

fn ends_word(c: char) -> bool {
    matches!(c, '/' | ':' | '.') || is_no_part(c)
}

/// Whether this letter stands in no name: a space, or one that is not seen for what it is.
fn is_no_part(c: char) -> bool {
    c.is_whitespace() || !shows_itself(c)
}

#[cfg(test)]
mod tests {
    use super::{NameFlaw, Virtuality, ZCallName};

    fn uf(path: &str, virtuality: Virtuality) -> ZCallName {
        ZCallName::Uf { path: path.to_owned(), virtuality }
    }

    fn nm(type_path: &str) -> ZCallName {
        ZCallName::Nm { module: "reports".to_owned(), type_path: type_path.to_owned(), method: "render".to_owned() }
    }

    fn check(text: &str, canonical: &str, expected: ZCallName) {
        let name: ZCallName = text.parse().expect(text);
        assert_eq!(name, expected);
        assert_eq!(name.to_string(), canonical);
        assert_eq!(canonical.parse(), Ok(name), "a name reads back as itself");
    }

    fn check_refused(text: &str, at: usize, flaw: NameFlaw) {
        let error = text.parse::<ZCallName>().expect_err(text);
        assert_eq!((error.at, &error.flaw), (at, &flaw), "{error}");
        assert!(error.to_string().contains(&*text.escape_debug().to_string()), "{error}");
    }

    #[test]
    fn each_protocol_reads_its_form() {
        const TICK: &str = "/Script/Engine.Actor:ReceiveTick";
        check("ex:/math.add", "ex:/math.add", ZCallName::Ex("math.add".to_owned()));
        check("ex:/a/b::c", "ex:/a/b::c", ZCallName::Ex("a/b::c".to_owned()));
        check("uf:/Script/Engine.Actor:ReceiveTick", &format!("uf:{TICK}"), uf(TICK, Virtuality::Virtual));
        check("uf://Script/Engine.Actor:ReceiveTick", &format!("uf:{TICK}"), uf(TICK, Virtuality::Virtual));
        check("uf!:/Script/Engine.Actor:ReceiveTick", &format!("uf!:{TICK}"), uf(TICK, Virtuality::Final));
        check("uf!://Script/Engine.Actor:ReceiveTick", &format!("uf!:{TICK}"), uf(TICK, Virtuality::Final));
        check(
            "up:/Script/Engine.Actor:Seed",
            "up:/Script/Engine.Actor:Seed",
            ZCallName::Up { path: TICK.replace("ReceiveTick", "Seed") },
        );
        check(
            "nm:/reports:/Script/Game.Report:render",
            "nm:/reports:/Script/Game.Report:render",
            nm("/Script/Game.Report"),
        );
        check("nm:/reports:Game.Report:render", "nm:/reports:Game.Report:render", nm("Game.Report"));
        check("nm:/reports:Report:render", "nm:/reports:Report:render", nm("Report"));
        check("nd:/", "nd:/", ZCallName::Nd);
    }

    #[test]
    fn a_wrong_name_says_where_and_what() {
        check_refused("", 0, NameFlaw::Protocol);
        check_refused("render", 0, NameFlaw::Protocol);
        check_refused("fn:/render", 0, NameFlaw::Protocol);
        check_refused("UF:/Script/Engine.Actor:Tick", 0, NameFlaw::Protocol);
        check_refused("ex:render", 3, NameFlaw::Missing("/"));
        check_refused("ex:/", 4, NameFlaw::Empty("name"));
        check_refused("ex://render", 4, NameFlaw::Unexpected('/'));
        check_refused("ex:/two words", 7, NameFlaw::Unexpected(' '));
        check_refused("uf:/Engine.Actor:Tick", 3, NameFlaw::Missing("/Script/"));
        check_refused("uf:///Script/Engine.Actor:Tick", 4, NameFlaw::Missing("/Script/"));
        check_refused("uf:/Script/.Actor:Tick", 11, NameFlaw::Empty("package"));
        check_refused("uf:/Script/Engine:Tick", 17, NameFlaw::Missing("."));
        check_refused("uf:/Script/Engine.:Tick", 18, NameFlaw::Empty("type"));
        check_refused("uf:/Script/Engine.Actor", 23, NameFlaw::Missing(":"));
        check_refused("uf!:/Script/Engine.Actor:", 25, NameFlaw::Empty("function"));
        check_refused("uf:/Script/Engine.Actor:Tick:x", 28, NameFlaw::Unexpected(':'));
        check_refused("up:/Script/Engine.Actor:", 24, NameFlaw::Empty("property"));
        check_refused("nm:reports:Report:render", 3, NameFlaw::Missing("/"));
        check_refused("nm:/:Report:render", 4, NameFlaw::Empty("module"));
        check_refused("nm:/reports::render", 12, NameFlaw::Empty("type path"));
        check_refused("nm:/reports:render", 18, NameFlaw::Missing(":"));
        check_refused("nm:/reports:Report:", 19, NameFlaw::Empty("method"));
        check_refused("nm:/reports:A.B.C:render", 15, NameFlaw::Missing(":"));
        check_refused("nd:/x", 4, NameFlaw::Unexpected('x'));
        check_refused("uf:/Script/Énginé.Actör:Tick\u{202e}", 31, NameFlaw::Unexpected('\u{202e}'));
    }

    #[test]
    fn a_name_of_the_host_is_its_protocol_and_whatever_the_host_knows() {
        let read = |text: &str| ZCallName::of_host(text, "db");
        for rest in ["users.count", "/users/1", "a:b?c=d"] {
            let text = format!("db:/{rest}");
            let expected = ZCallName::OfHost { protocol: "db".to_owned(), rest: rest.to_owned() };
            assert_eq!(read(&text), Ok(expected));
            assert_eq!(read(&text).expect("it is one").to_string(), text);
        }
        let check = |text: &str, at, flaw| {
            let error = read(text).expect_err(text);
            assert_eq!((error.at, error.flaw), (at, flaw), "{text}");
        };
        check("db:users", 3, NameFlaw::Missing("/"));
        check("db:/", 4, NameFlaw::Empty("name"));
        check("db:/two words", 7, NameFlaw::Unexpected(' '));
    }

    #[test]
    fn an_error_is_one_line_whatever_the_name_was() {
        let error =
            format!("uf:/Script/A.B:c\n{}", "\u{1b}[2J".repeat(1000)).parse::<ZCallName>().expect_err("no name");
        let text = error.to_string();
        assert!(!text.contains(char::is_control) && text.len() < 600, "{text}");
    }

    #[test]
    fn an_error_shows_the_right_form() {
        let error = "uf:/Script/Engine.Actor".parse::<ZCallName>().expect_err("no member");
        assert_eq!(
            error.to_string(),
            "`uf:/Script/Engine.Actor` is no ZCall name: `:` is missing at byte 23; \
             write `uf:/Script/Package.Type:Function`"
        );
    }
}
