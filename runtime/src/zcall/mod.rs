//! Calls by name. A name is parsed, looked up once through a chain of resolvers, and from then on called by handle
//! with a buffer of slots. This floor knows nothing of classes or objects: whoever does, registers a resolver.

pub mod buffer;
pub mod chain;
pub mod explicit;
pub mod generations;
pub mod name;
pub mod owned;
pub mod table;

mod rows;
