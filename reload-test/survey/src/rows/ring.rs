//! Creates a key and a signature, and verifies the signature. The system provides the random numbers.

use crate::local::report;

use ring::error::Unspecified;
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};

fn sign() -> Result<bool, Unspecified> {
    let random = SystemRandom::new();
    let mut seed = [0; 32];
    random.fill(&mut seed)?;
    let pair = Ed25519KeyPair::from_seed_unchecked(&seed)?;
    let signature = pair.sign(b"hello");
    let key = UnparsedPublicKey::new(&ED25519, pair.public_key());
    Ok(key.verify(b"hello", signature.as_ref()).is_ok() && key.verify(b"other", signature.as_ref()).is_err())
}

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    report(sign())
}

pub(crate) fn end() {}
