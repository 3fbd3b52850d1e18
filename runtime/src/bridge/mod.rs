//! Where reflection meets calls by name: what the addresses `uf`, `uf!`, `up` and `nm` lead to, how slots become
//! parameters, and how a reflected function of a module is entered.

pub(crate) mod calls;
pub(crate) mod core;
pub(crate) mod module_thunk;
pub(crate) mod nm;
pub(crate) mod rebuild;
pub(crate) mod resolvers;
pub(crate) mod slots;
