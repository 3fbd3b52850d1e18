//! Protocol whose keyword, form and help are fixed strings. Used for protocols of this crate, of a host and of modules.

use crate::zcall::protocol::Protocol;
use crate::zcall::reader::{NameError, Reader};

/// Protocol with fixed strings. `read` parses the part of a name after the keyword.
pub(crate) struct DescribedProtocol<S, R> {
    pub word: S,
    pub form: S,
    pub help: S,
    pub read: R,
}

/// Protocol that this crate defines.
pub(crate) type BuiltIn = DescribedProtocol<&'static str, fn(&mut Reader<'_>) -> Result<String, NameError>>;

impl<S: AsRef<str>, R: Fn(&mut Reader<'_>) -> Result<String, NameError>> Protocol for DescribedProtocol<S, R> {
    fn word(&self) -> &str {
        self.word.as_ref()
    }

    fn form(&self) -> &str {
        self.form.as_ref()
    }

    fn help(&self) -> &str {
        self.help.as_ref()
    }

    fn read(&self, address: &mut Reader<'_>) -> Result<String, NameError> {
        (self.read)(address)
    }
}
