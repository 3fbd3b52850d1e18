//! Calls by name. A name is parsed, looked up once through a chain of resolvers, and from then on called by handle
//! with a buffer of slots. This floor knows nothing of classes or objects: whoever does, registers a resolver.

pub(crate) mod buffer;
pub(crate) mod chain;
pub(crate) mod explicit;
pub(crate) mod free;
pub(crate) mod name;
pub(crate) mod owned;
pub(crate) mod protocols;
pub(crate) mod standings;
pub(crate) mod table;

mod rows;
