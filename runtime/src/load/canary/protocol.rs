//! What a host and its canary say to each other: frames of a stated length on a socket of their own. Bytes in, frames out,
//! whatever pieces they come in; nothing here reads or writes. A frame begins with a magic and a version and carries the
//! token of this one conversation, the number of the process that speaks, a number in sequence and a digest: what a module
//! writes to a descriptor that is not its own is no frame, nor is a frame cut by it, repeated, left out, kept from another
//! canary or said by a copy of the process.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::load::error::canary::CanaryStep;

/// The one argument of a program that is started as a canary.
pub(crate) const ARGUMENT: &str = "--alcedo-canary";

/// The first bytes of every frame.
const MAGIC: [u8; 4] = *b"ACF\n";
/// The version of what follows. Host and canary are the same program, unless the host names another one.
const VERSION: u16 = 3;
/// Magic, version, number, length, process, token.
const HEAD: usize = 34;
/// The digest of all that stands before it.
const TAIL: usize = 8;
/// The most bytes between the two, which are a message in CBOR.
const LONGEST: usize = 1 << 20;
/// The most bytes of a refusal that are sent.
const LONGEST_TEXT: usize = 1 << 16;

/// Modules to be loaded, dependencies first: name, and where the copy is.
pub(crate) type Candidates = Vec<(String, OsString)>;

/// What one side says to the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Message {
    /// The host: load these.
    Request(Candidates),
    /// The canary: the program is one, and has understood.
    Here,
    /// The canary: it begins this step with the module of this number.
    Begins(u32, CanaryStep),
    /// The canary: the module in hand does not load, for this reason.
    Refused(String),
    /// The canary: that many modules were loaded, all there were.
    Done(u32),
}

/// What marks the frames of one conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token(pub u128);

/// Why bytes are no frame that was to come.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrameError {
    #[error("bytes came that do not begin as a frame does")]
    NotAFrame,
    #[error(
        "the other side speaks version {0} of the protocol, this one speaks {VERSION}: start a canary of the same build"
    )]
    Version(u16),
    #[error("a frame says that it has {0} bytes, and none has more than {LONGEST}")]
    TooLong(usize),
    #[error("a frame belongs to another conversation")]
    Token,
    #[error("a copy of the process spoke, which the module had made")]
    Process,
    #[error("frame {found} came where frame {wanted} was to come")]
    Sequence { wanted: u32, found: u32 },
    #[error("a frame was changed on its way")]
    Damaged,
    #[error("the last frame was cut off after {0} bytes")]
    CutOff(usize),
    #[error("the content of a frame makes no sense")]
    Content,
}

/// Makes the frames of one side.
#[derive(Debug)]
pub(super) struct Speaker {
    token: Token,
    next: u32,
}

impl Speaker {
    /// Nothing said yet.
    pub(super) fn new(token: Token) -> Self {
        Self { token, next: 0 }
    }

    /// The bytes of the next frame, said by the process of that number.
    ///
    /// # Errors
    /// When the message is longer than a frame may be.
    pub(super) fn frame(&mut self, process: u32, message: &Message) -> Result<Vec<u8>, FrameError> {
        let mut body = Vec::new();
        let cut = match message {
            Message::Refused(text) if text.len() > LONGEST_TEXT => {
                Some(Message::Refused(text[..text.floor_char_boundary(LONGEST_TEXT)].to_owned()))
            }
            _ => None,
        };
        ciborium::into_writer(cut.as_ref().unwrap_or(message), &mut body).map_err(|_| FrameError::Content)?;
        if body.len() > LONGEST {
            return Err(FrameError::TooLong(body.len()));
        }
        let mut bytes = Vec::with_capacity(HEAD + body.len() + TAIL);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(self.next.to_le_bytes());
        bytes.extend((body.len() as u32).to_le_bytes());
        bytes.extend(process.to_le_bytes());
        bytes.extend(self.token.0.to_le_bytes());
        bytes.extend(body);
        let digest = xxh3_64(&bytes);
        bytes.extend(digest.to_le_bytes());
        self.next += 1;
        Ok(bytes)
    }
}

/// Takes frames apart that come in pieces.
#[derive(Debug)]
pub(super) struct Listener {
    /// The token of the conversation; the side that answers gets it with the first frame.
    token: Option<Token>,
    /// The process that sent the first frame; a frame of another process is an error.
    process: Option<u32>,
    next: u32,
    bytes: Vec<u8>,
}

impl Listener {
    /// The side that has made the token.
    pub(super) fn new(token: Token) -> Self {
        Self { token: Some(token), process: None, next: 0, bytes: Vec::new() }
    }

    /// The side that gets the token with the first frame.
    pub(super) fn asked() -> Self {
        Self { token: None, process: None, next: 0, bytes: Vec::new() }
    }

    /// The token, once it is known.
    pub(super) fn token(&self) -> Option<Token> {
        self.token
    }

    /// Takes what has come.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole message; none while more bytes have to come.
    ///
    /// # Errors
    /// When what has come cannot become the next frame.
    pub(super) fn next(&mut self) -> Result<Option<Message>, FrameError> {
        let beginning = self.bytes.len().min(MAGIC.len());
        if self.bytes[..beginning] != MAGIC[..beginning] {
            return Err(FrameError::NotAFrame);
        }
        let mut rest = self.bytes.get(MAGIC.len()..).unwrap_or_default();
        let Some((version, number, length, process, token)) = head(&mut rest) else { return Ok(None) };
        if version != VERSION {
            return Err(FrameError::Version(version));
        }
        if length > LONGEST {
            return Err(FrameError::TooLong(length));
        }
        if *self.token.get_or_insert(token) != token {
            return Err(FrameError::Token);
        }
        if *self.process.get_or_insert(process) != process {
            return Err(FrameError::Process);
        }
        if number != self.next {
            return Err(FrameError::Sequence { wanted: self.next, found: number });
        }
        let Some((mut body, rest)) = rest.split_at_checked(length) else { return Ok(None) };
        let Some((digest, _)) = rest.split_at_checked(TAIL) else { return Ok(None) };
        if digest != xxh3_64(&self.bytes[..HEAD + length]).to_le_bytes() {
            return Err(FrameError::Damaged);
        }
        let message = ciborium::from_reader(&mut body).map_err(|_| FrameError::Content)?;
        if !body.is_empty() {
            return Err(FrameError::Content);
        }
        self.bytes.drain(..HEAD + length + TAIL);
        self.next += 1;
        Ok(Some(message))
    }

    /// Nothing more comes: whether the last frame was whole.
    ///
    /// # Errors
    /// When it was cut off.
    pub(super) fn end(&self) -> Result<(), FrameError> {
        match self.bytes.len() {
            0 => Ok(()),
            left => Err(FrameError::CutOff(left)),
        }
    }
}

/// The version, the number, the length, the process and the token of a frame; none while more bytes have to come.
fn head(bytes: &mut &[u8]) -> Option<(u16, u32, usize, u32, Token)> {
    let (version, number) = (u16::from_le_bytes(take(bytes)?), u32::from_le_bytes(take(bytes)?));
    let (length, process) = (u32::from_le_bytes(take(bytes)?) as usize, u32::from_le_bytes(take(bytes)?));
    Some((version, number, length, process, Token(u128::from_le_bytes(take(bytes)?))))
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (field, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*field)
}

/// How far a canary has come, from what it said. It has passed only if it has taken every step with every module, in
/// order: no accident of a module, such as a copy of the process that speaks as well, makes that of less.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Course {
    modules: u32,
    /// The module and step that it is at.
    at: Option<(u32, CanaryStep)>,
    is_here: bool,
}

/// What a canary has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// All modules were loaded.
    Done,
    /// The module in hand does not load, for this reason.
    Refused(String),
}

/// Something that was not to be said then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it said something out of turn: {0}")]
pub(super) struct OutOfTurn(String);

impl Course {
    /// Of a canary that was started for so many modules and has sent nothing yet.
    pub(super) fn new(modules: u32) -> Self {
        Self { modules, at: None, is_here: false }
    }

    /// Whether it has said a word.
    pub(super) fn is_here(&self) -> bool {
        self.is_here
    }

    /// The module and step it is at.
    pub(super) fn at(&self) -> Option<(u32, CanaryStep)> {
        self.at
    }

    /// Takes a message; the end, if it is one.
    ///
    /// # Errors
    /// When the message was not the next one.
    pub(super) fn take(&mut self, message: Message) -> Result<Option<Arrival>, OutOfTurn> {
        match (message, self.is_here, self.next()) {
            (Message::Here, false, _) => self.is_here = true,
            (Message::Begins(module, step), true, Some(next)) if (module, step) == next => self.at = Some(next),
            (Message::Done(modules), true, None) if modules == self.modules => return Ok(Some(Arrival::Done)),
            (Message::Refused(text), true, _) => return Ok(Some(Arrival::Refused(text))),
            (other, ..) => return Err(OutOfTurn(in_words(&other))),
        }
        Ok(None)
    }

    /// The step after the one it is at; none when there is none left.
    fn next(&self) -> Option<(u32, CanaryStep)> {
        let next = match self.at {
            None => (0, CanaryStep::ALL[0]),
            Some((module, step)) => match CanaryStep::ALL.get(step as usize + 1) {
                Some(step) => (module, *step),
                None => (module + 1, CanaryStep::ALL[0]),
            },
        };
        (next.0 < self.modules).then_some(next)
    }
}

fn in_words(message: &Message) -> String {
    match message {
        Message::Request(_) => "a request".to_owned(),
        Message::Here => "that it is there".to_owned(),
        Message::Begins(module, step) => format!("that it begins {step} module {module}"),
        Message::Refused(_) => "a refusal".to_owned(),
        Message::Done(modules) => format!("that it is done with {modules} modules"),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use proptest::prelude::{Just, Strategy, any, prop_oneof};
    use proptest::{collection, prop_assert, prop_assert_eq, proptest};

    use super::{
        Arrival, CanaryStep, Course, FrameError, HEAD, LONGEST, Listener, MAGIC, Message, Speaker, TAIL, Token,
    };

    const TOKEN: Token = Token(7);
    const PROCESS: u32 = 99;

    fn step() -> impl Strategy<Value = CanaryStep> {
        (0..3_usize).prop_map(|at| CanaryStep::ALL[at])
    }

    fn message() -> impl Strategy<Value = Message> {
        let candidate = (any::<String>(), any::<String>().prop_map(OsString::from));
        prop_oneof![
            collection::vec(candidate, 0..4).prop_map(Message::Request),
            Just(Message::Here),
            (any::<u32>(), step()).prop_map(|(module, step)| Message::Begins(module, step)),
            any::<String>().prop_map(Message::Refused),
            any::<u32>().prop_map(Message::Done),
        ]
    }

    fn frames(messages: &[Message]) -> Vec<u8> {
        let mut speaker = Speaker::new(TOKEN);
        messages.iter().flat_map(|message| speaker.frame(PROCESS, message).expect("it fits a frame")).collect()
    }

    /// All messages in these bytes, and the error that ends them.
    fn heard(bytes: &[u8], piece: usize) -> (Vec<Message>, Result<(), FrameError>) {
        let mut listener = Listener::new(TOKEN);
        let mut messages = Vec::new();
        for piece in bytes.chunks(piece.max(1)) {
            listener.push(piece);
            loop {
                match listener.next() {
                    Ok(Some(message)) => messages.push(message),
                    Ok(None) => break,
                    Err(error) => return (messages, Err(error)),
                }
            }
        }
        let end = listener.end();
        (messages, end)
    }

    proptest! {
        #[test]
        fn what_is_said_is_heard_in_whatever_pieces(messages in collection::vec(message(), 0..6), piece in 1..200_usize) {
            prop_assert_eq!(heard(&frames(&messages), piece), (messages, Ok(())));
        }

        #[test]
        fn a_changed_bit_is_never_another_message(message in message(), at in any::<proptest::sample::Index>(), bit in 0..8_u32) {
            let mut bytes = frames(std::slice::from_ref(&message));
            let at = at.index(bytes.len());
            bytes[at] ^= 1_u8 << bit;
            let (messages, end) = heard(&bytes, bytes.len());
            prop_assert!(messages.is_empty() && end.is_err(), "{messages:?}");
        }

        #[test]
        fn a_frame_that_is_cut_off_or_has_something_in_it_is_no_message(
            message in message(),
            at in any::<proptest::sample::Index>(),
            inside in collection::vec(any::<u8>(), 1..40),
        ) {
            let bytes = frames(std::slice::from_ref(&message));
            let at = at.index(bytes.len());
            let (messages, end) = heard(&bytes[..at], 16);
            prop_assert!(messages.is_empty() && (end.is_err() || at == 0));
            let torn = [&bytes[..at], &inside, &bytes[at..]].concat();
            let (messages, end) = heard(&torn, 16);
            // What stands behind a whole frame is found when it is read: also where it repeats the frame's last byte.
            prop_assert!((messages.is_empty() || torn.starts_with(&bytes)) && end.is_err(), "{messages:?}");
        }

        #[test]
        fn other_bytes_are_no_message(bytes in collection::vec(any::<u8>(), 1..300)) {
            let (messages, end) = heard(&bytes, 7);
            prop_assert!(messages.is_empty() && end.is_err());
        }
    }

    #[test]
    fn a_frame_of_another_conversation_or_said_twice_is_none() {
        let here = frames(&[Message::Here]);
        assert_eq!(
            heard(&[here.clone(), here.clone()].concat(), 9).1,
            Err(FrameError::Sequence { wanted: 1, found: 0 })
        );
        let foreign = Speaker::new(Token(8)).frame(PROCESS, &Message::Done(1)).expect("it fits");
        assert_eq!(heard(&foreign, 9), (vec![], Err(FrameError::Token)));
        let mut asked = Listener::asked();
        asked.push(&foreign);
        assert_eq!((asked.next(), asked.token()), (Ok(Some(Message::Done(1))), Some(Token(8))));
    }

    #[test]
    fn a_copy_of_the_process_is_not_the_canary() {
        let mut speaker = Speaker::new(TOKEN);
        let mut bytes = speaker.frame(PROCESS, &Message::Here).expect("it fits");
        bytes.extend(speaker.frame(PROCESS + 1, &Message::Done(0)).expect("it fits"));
        assert_eq!(heard(&bytes, 10), (vec![Message::Here], Err(FrameError::Process)));
    }

    #[test]
    fn a_frame_that_is_too_long_is_refused_before_it_is_waited_for() {
        let mut bytes = frames(&[Message::Here]);
        bytes[10..14].copy_from_slice(&(LONGEST as u32 + 1).to_le_bytes());
        assert_eq!(heard(&bytes[..HEAD], HEAD).1, Err(FrameError::TooLong(LONGEST + 1)));
        let text = "é".repeat(LONGEST);
        let bytes = frames(&[Message::Refused(text)]);
        assert!(bytes.len() < LONGEST / 4 && matches!(heard(&bytes, 4096).0[..], [Message::Refused(_)]));
        let name = ("n".repeat(LONGEST), OsString::new());
        assert!(matches!(
            Speaker::new(TOKEN).frame(PROCESS, &Message::Request(vec![name])),
            Err(FrameError::TooLong(_))
        ));
    }

    #[test]
    fn another_version_and_a_content_that_is_no_message_are_named() {
        let mut bytes = frames(&[Message::Here]);
        bytes[4] = 9;
        assert_eq!(heard(&bytes, 99).1, Err(FrameError::Version(9)));
        let mut bytes = frames(&[Message::Here]);
        let end = bytes.len() - TAIL;
        bytes[end - 1] ^= 1;
        let digest = xxhash_rust::xxh3::xxh3_64(&bytes[..end]);
        bytes[end..].copy_from_slice(&digest.to_le_bytes());
        assert_eq!(heard(&bytes, 99).1, Err(FrameError::Content));
        assert_eq!(heard(&MAGIC, 99).1, Err(FrameError::CutOff(4)));
    }

    #[test]
    fn names_with_any_letters_stay_one_name_each() {
        let candidates =
            vec![("a\0/tmp/evil.so".to_owned(), OsString::from("/copy\n1")), (String::new(), OsString::from("/a b"))];
        let request = Message::Request(candidates);
        assert_eq!(heard(&frames(std::slice::from_ref(&request)), 3).0, [request]);
    }

    /// All that a canary of `modules` may say, in order.
    fn whole(modules: u32) -> Vec<Message> {
        let steps = (0..modules).flat_map(|module| CanaryStep::ALL.map(|step| Message::Begins(module, step)));
        [Message::Here].into_iter().chain(steps).chain([Message::Done(modules)]).collect()
    }

    fn arrival(modules: u32, messages: &[Message]) -> Option<Arrival> {
        let mut course = Course::new(modules);
        messages.iter().cloned().find_map(|message| course.take(message).ok().flatten())
    }

    #[test]
    fn only_who_took_every_step_with_every_module_has_passed() {
        for modules in 0..4 {
            let whole = whole(modules);
            assert_eq!(arrival(modules, &whole), Some(Arrival::Done));
            for left_out in 0..whole.len() {
                let mut less = whole.clone();
                less.remove(left_out);
                assert_eq!(arrival(modules, &less), None, "{modules} without {left_out}");
            }
            for (one, other) in (0..whole.len()).flat_map(|one| (0..one).map(move |other| (one, other))) {
                let mut swapped = whole.clone();
                swapped.swap(one, other);
                assert_eq!(arrival(modules, &swapped), None, "{modules} with {one} and {other} swapped");
            }
            assert_eq!(arrival(modules + 1, &whole), None);
        }
    }

    #[test]
    fn what_is_said_twice_is_out_of_turn() {
        let mut course = Course::new(1);
        for message in whole(1).iter().take(3) {
            assert_eq!(course.take(message.clone()), Ok(None));
            let again = course.take(message.clone()).expect_err("it was said before");
            assert!(again.to_string().contains("out of turn"), "{again}");
        }
        assert_eq!(course.at(), Some((0, CanaryStep::Attaching)));
        assert_eq!(course.take(Message::Refused("no".into())), Ok(Some(Arrival::Refused("no".into()))));
    }
}
