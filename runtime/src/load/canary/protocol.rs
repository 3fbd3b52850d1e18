//! Protocol between a host and its canary. Messages are sent as length-prefixed frames on a dedicated socket. This file encodes frames, and
//! decodes frames from pieces of any size, without I/O. Each frame contains a magic number, a version, a token for this host and canary,
//! the process id of the sender, a sequence number and a digest. With these fields, the receiver rejects bytes that a module writes to the
//! socket by mistake. The receiver also rejects frames that are incomplete, repeated or out of sequence. Frames from a second canary or
//! from a forked process are rejected too.

use std::ffi::OsString;
use std::process::ExitStatus;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::load::error::canary::CanaryStep;

/// Command-line argument that starts a program as a canary. The program receives no further arguments.
pub(crate) const ARGUMENT: &str = "--alcedo-canary";

/// The first bytes of every frame.
const MAGIC: [u8; 4] = *b"ACF\n";
/// Version of the frame format. A separate canary program may use a different version than the host.
const VERSION: u16 = 4;
/// Length of the header: magic number, version, sequence number, length, process id and token.
const HEAD: usize = 34;
/// Length of the digest at the end of a frame. The digest covers all preceding bytes.
const TAIL: usize = 8;
/// Maximum length of the message between header and digest. The message is encoded in CBOR.
const LONGEST: usize = 1 << 20;
/// Maximum length of the reason in a `Refused` message, in bytes. Longer reasons are truncated.
const LONGEST_TEXT: usize = 1 << 16;

/// Modules that the canary loads, dependencies first.
pub(crate) type Candidates = Vec<Candidate>;

/// Module that the canary loads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Candidate {
    /// Name of the module.
    pub name: String,
    /// Path of the private copy.
    pub path: OsString,
    /// Set if the canary must reject the module when it uses an undeclared resource.
    pub refuses_undeclared: bool,
}

/// Message between host and canary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Message {
    /// Sent by the host: requests that the canary loads these modules.
    Request(Candidates),
    /// Sent by the canary: confirms the request.
    Here,
    /// Sent by the canary: announces this step for the module at this index.
    Begins(u32, CanaryStep),
    /// Sent by the canary: rejects the current module for this reason.
    Refused(String),
    /// Sent by the canary: reports that all modules are loaded. Contains the number of modules.
    Done(u32),
}

/// Random number in all frames between one host and one canary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token(pub u128);

/// Reason for rejecting received bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrameError {
    #[error("received bytes that do not begin a frame")]
    NotAFrame,
    #[error(
        "the other side has version {0} of the protocol, this side has {VERSION}: start a canary of the same build"
    )]
    Version(u16),
    #[error("a frame states {0} bytes, and the maximum is {LONGEST}")]
    TooLong(usize),
    #[error("a frame belongs to another conversation")]
    Token,
    #[error("a fork of the process, made by the module, sent a frame")]
    Process,
    #[error("received frame {found} instead of frame {expected}")]
    Sequence { expected: u32, found: u32 },
    #[error("a frame was corrupted")]
    Damaged,
    #[error("the last frame was cut off after {0} bytes")]
    CutOff(usize),
    #[error("the content of a frame is invalid")]
    Content,
}

/// Encodes the frames of one side.
#[derive(Debug)]
pub(super) struct Speaker {
    token: Token,
    next: u32,
}

impl Speaker {
    /// Creates an encoder for frames with this token.
    pub(super) fn new(token: Token) -> Self {
        Self { token, next: 0 }
    }

    /// Encodes the next frame. `process` is the id of the sending process.
    ///
    /// # Errors
    /// Returns an error if the message exceeds the maximum length.
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

/// Decodes frames that arrive in pieces. The default is the decoder of the canary, which copies the token from the first frame.
#[derive(Debug, Default)]
pub(super) struct Listener {
    /// Token that all frames must contain. The canary copies the token from the first frame.
    token: Option<Token>,
    /// Id of the process that sent the first frame. A frame from a different process is an error.
    process: Option<u32>,
    next: u32,
    bytes: Vec<u8>,
}

impl Listener {
    /// Creates the decoder of the host. The host has created the token.
    pub(super) fn new(token: Token) -> Self {
        Self { token: Some(token), ..Self::default() }
    }

    /// Returns the token. Returns `None` if the canary has not received a frame.
    pub(super) fn token(&self) -> Option<Token> {
        self.token
    }

    /// Appends received bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Decodes the next message. Returns `None` if bytes of the message are missing.
    ///
    /// # Errors
    /// Returns an error if the received bytes do not belong to the next frame.
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
            return Err(FrameError::Sequence { expected: self.next, found: number });
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

    /// Checks that the stream ends after a complete frame.
    ///
    /// # Errors
    /// Returns an error if the last frame is incomplete.
    pub(super) fn end(&self) -> Result<(), FrameError> {
        match self.bytes.len() {
            0 => Ok(()),
            left => Err(FrameError::CutOff(left)),
        }
    }
}

/// Reads version, sequence number, length, process id and token of a frame. Returns `None` if bytes of these fields are missing.
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

/// Progress of a canary, tracked from its messages. A canary succeeds only if the messages report every step of every module, in order. A
/// module cannot send these messages by accident, even from a forked process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Course {
    modules: u32,
    /// Current module and step.
    pub at: Option<(u32, CanaryStep)>,
    /// Set once the canary has acknowledged the request.
    pub is_here: bool,
}

/// Reason why the host stops reading messages of a canary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// All modules were loaded.
    Done,
    /// The current module was refused for this reason.
    Refused(String),
    /// The process has ended. `None` if the system no longer reports the exit status.
    Exited(Option<ExitStatus>),
    Silent,
    /// The host received invalid bytes, or a message out of order.
    Disturbed(String),
}

impl Course {
    /// Creates the progress of a canary that loads `modules` modules.
    pub(super) fn new(modules: u32) -> Self {
        Self { modules, at: None, is_here: false }
    }

    /// Applies a message. Returns an [`End`] after the last message, and after a message out of order.
    pub(super) fn take(&mut self, message: Message) -> Option<End> {
        match (message, self.is_here, self.next()) {
            (Message::Here, false, _) => self.is_here = true,
            (Message::Begins(module, step), true, Some(next)) if (module, step) == next => self.at = Some(next),
            (Message::Done(modules), true, None) if modules == self.modules => return Some(End::Done),
            (Message::Refused(text), true, _) => return Some(End::Refused(text)),
            (other, ..) => {
                return Some(End::Disturbed(format!("it sent an unexpected message: {}", in_words(&other))));
            }
        }
        None
    }

    /// Returns the module and step that follow the current step. Returns `None` after the last step.
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
    use proptest::prelude::{Just, Strategy, any, prop_oneof};
    use proptest::{collection, prop_assert, prop_assert_eq, proptest};

    use super::{
        CanaryStep, Candidate, Course, End, FrameError, HEAD, LONGEST, Listener, MAGIC, Message, Speaker, TAIL, Token,
    };

    const TOKEN: Token = Token(7);
    const PROCESS: u32 = 99;

    fn step() -> impl Strategy<Value = CanaryStep> {
        (0..3_usize).prop_map(|at| CanaryStep::ALL[at])
    }

    fn message() -> impl Strategy<Value = Message> {
        let candidate = (any::<String>(), any::<String>(), any::<bool>())
            .prop_map(|(name, path, refuses_undeclared)| Candidate { name, path: path.into(), refuses_undeclared });
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

    /// Passes `bytes` to a decoder in pieces of `piece` bytes. Returns the messages, and either the first error or the result of
    /// `Listener::end`.
    fn decode(bytes: &[u8], piece: usize) -> (Vec<Message>, Result<(), FrameError>) {
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
        fn messages_are_decoded_from_pieces_of_any_size(messages in collection::vec(message(), 0..6), piece in 1..200_usize) {
            prop_assert_eq!(decode(&frames(&messages), piece), (messages, Ok(())));
        }

        #[test]
        fn a_changed_bit_is_never_another_message(message in message(), at in any::<proptest::sample::Index>(), bit in 0..8_u32) {
            let mut bytes = frames(std::slice::from_ref(&message));
            let at = at.index(bytes.len());
            bytes[at] ^= 1_u8 << bit;
            let (messages, end) = decode(&bytes, bytes.len());
            prop_assert!(messages.is_empty() && end.is_err(), "{messages:?}");
        }

        #[test]
        fn a_truncated_or_interrupted_frame_is_rejected(
            message in message(),
            at in any::<proptest::sample::Index>(),
            inside in collection::vec(any::<u8>(), 1..40),
        ) {
            let bytes = frames(std::slice::from_ref(&message));
            let at = at.index(bytes.len());
            let (messages, end) = decode(&bytes[..at], 16);
            prop_assert!(messages.is_empty() && (end.is_err() || at == 0));
            let torn = [&bytes[..at], &inside, &bytes[at..]].concat();
            let (messages, end) = decode(&torn, 16);
            // The decoder detects extra bytes after a complete frame only as a defect of the next frame.
            prop_assert!((messages.is_empty() || torn.starts_with(&bytes)) && end.is_err(), "{messages:?}");
        }

        #[test]
        fn other_bytes_are_no_message(bytes in collection::vec(any::<u8>(), 1..300)) {
            let (messages, end) = decode(&bytes, 7);
            prop_assert!(messages.is_empty() && end.is_err());
        }
    }

    #[test]
    fn foreign_and_repeated_frames_are_rejected() {
        let here = frames(&[Message::Here]);
        assert_eq!(
            decode(&[here.clone(), here.clone()].concat(), 9).1,
            Err(FrameError::Sequence { expected: 1, found: 0 })
        );
        let foreign = Speaker::new(Token(8)).frame(PROCESS, &Message::Done(1)).expect("it fits");
        assert_eq!(decode(&foreign, 9), (vec![], Err(FrameError::Token)));
        let mut of_child = Listener::default();
        of_child.push(&foreign);
        assert_eq!((of_child.next(), of_child.token()), (Ok(Some(Message::Done(1))), Some(Token(8))));
    }

    #[test]
    fn a_copy_of_the_process_is_not_the_canary() {
        let mut speaker = Speaker::new(TOKEN);
        let mut bytes = speaker.frame(PROCESS, &Message::Here).expect("it fits");
        bytes.extend(speaker.frame(PROCESS + 1, &Message::Done(0)).expect("it fits"));
        assert_eq!(decode(&bytes, 10), (vec![Message::Here], Err(FrameError::Process)));
    }

    #[test]
    fn an_oversized_frame_is_rejected_from_its_header() {
        let mut bytes = frames(&[Message::Here]);
        bytes[10..14].copy_from_slice(&(LONGEST as u32 + 1).to_le_bytes());
        assert_eq!(decode(&bytes[..HEAD], HEAD).1, Err(FrameError::TooLong(LONGEST + 1)));
        let text = "é".repeat(LONGEST);
        let bytes = frames(&[Message::Refused(text)]);
        assert!(bytes.len() < LONGEST / 4 && matches!(decode(&bytes, 4096).0[..], [Message::Refused(_)]));
        let name = Candidate { name: "n".repeat(LONGEST), path: "/copy".into(), refuses_undeclared: true };
        assert!(matches!(
            Speaker::new(TOKEN).frame(PROCESS, &Message::Request(vec![name])),
            Err(FrameError::TooLong(_))
        ));
    }

    #[test]
    fn wrong_versions_and_invalid_content_are_named() {
        let mut bytes = frames(&[Message::Here]);
        bytes[4] = 9;
        assert_eq!(decode(&bytes, 99).1, Err(FrameError::Version(9)));
        let mut bytes = frames(&[Message::Here]);
        let end = bytes.len() - TAIL;
        bytes[end - 1] ^= 1;
        let digest = xxhash_rust::xxh3::xxh3_64(&bytes[..end]);
        bytes[end..].copy_from_slice(&digest.to_le_bytes());
        assert_eq!(decode(&bytes, 99).1, Err(FrameError::Content));
        assert_eq!(decode(&MAGIC, 99).1, Err(FrameError::CutOff(4)));
    }

    #[test]
    fn names_with_any_characters_stay_separate() {
        let candidate =
            |name: &str, path: &str| Candidate { name: name.to_owned(), path: path.into(), refuses_undeclared: false };
        let candidates = vec![candidate("a\0/tmp/evil.so", "/copy\n1"), candidate("", "/a b")];
        let request = Message::Request(candidates);
        assert_eq!(decode(&frames(std::slice::from_ref(&request)), 3).0, [request]);
    }

    /// Returns all messages of a canary that loads `modules` modules, in the order of sending.
    fn whole(modules: u32) -> Vec<Message> {
        let steps = (0..modules).flat_map(|module| CanaryStep::ALL.map(|step| Message::Begins(module, step)));
        [Message::Here].into_iter().chain(steps).chain([Message::Done(modules)]).collect()
    }

    fn end(modules: u32, messages: &[Message]) -> Option<End> {
        let mut course = Course::new(modules);
        let is_expected = |end: &End| !matches!(end, End::Disturbed(_));
        messages.iter().cloned().find_map(|message| course.take(message).filter(is_expected))
    }

    #[test]
    fn only_a_canary_that_ran_every_step_has_passed() {
        for modules in 0..4 {
            let whole = whole(modules);
            assert_eq!(end(modules, &whole), Some(End::Done));
            for left_out in 0..whole.len() {
                let mut less = whole.clone();
                less.remove(left_out);
                assert_eq!(end(modules, &less), None, "{modules} without {left_out}");
            }
            for (one, other) in (0..whole.len()).flat_map(|one| (0..one).map(move |other| (one, other))) {
                let mut swapped = whole.clone();
                swapped.swap(one, other);
                assert_eq!(end(modules, &swapped), None, "{modules} with {one} and {other} swapped");
            }
            assert_eq!(end(modules + 1, &whole), None);
        }
    }

    #[test]
    fn repeated_messages_are_rejected() {
        let mut course = Course::new(1);
        for message in whole(1).iter().take(3) {
            assert_eq!(course.take(message.clone()), None);
            let again = course.take(message.clone());
            assert!(matches!(&again, Some(End::Disturbed(why)) if why.contains("an unexpected message")), "{again:?}");
        }
        assert_eq!(course.at, Some((0, CanaryStep::Attaching)));
        assert_eq!(course.take(Message::Refused("no".into())), Some(End::Refused("no".into())));
    }
}
