//! Fetches and stores the libraries of documents. During a rollout, another thread fetches the libraries of the next document. A slow
//! registry therefore does not delay the return of unhealthy hosts to their last good files.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use alcedo_runtime::PublicKey;
use anyhow::bail;
use oci_client::Reference;

use super::document::Document;
use super::event::{Event, Output};
use super::state::{Library, Store};
use crate::error::Error;
use crate::registry::client::{Access, Registry};
use crate::registry::fetch;

/// Fetched libraries by reference.
type Resolved = BTreeMap<String, Library>;

pub(super) type Download = JoinHandle<Result<Resolved, Error>>;

#[derive(Clone)]
pub(super) struct Libraries {
    pub(super) access: Access,
    pub(super) keys: Vec<PublicKey>,
    pub(super) target: String,
    pub(super) store: Arc<Store>,
    pub(super) out: Output,
}

impl Libraries {
    /// Returns the checked and stored libraries of the document. A library in `resolved` requires no registry.
    ///
    /// # Errors
    /// Fails if a library is rejected, or if a registry does not have the library.
    pub(super) fn of(&self, document: &Document, resolved: &mut Resolved) -> Result<Vec<Library>, Error> {
        let (mut registry, mut libraries) = (None, Vec::new());
        for (module, reference) in &document.modules {
            let library = match self.stored(reference, resolved) {
                Some((library, bytes)) => {
                    // Verifies the signature again, because the trusted keys may have changed since the library was stored.
                    fetch::admit(&reference.to_string(), &bytes, &self.keys)?;
                    library
                }
                None => {
                    let registry = match &mut registry {
                        Some(registry) => registry,
                        none => none.insert(Registry::new(&self.access, document.modules.values())?),
                    };
                    let stored = |digest: &str| self.store.get(digest);
                    let fetched = fetch::fetch(registry, reference, &self.target, &self.keys, stored)?;
                    self.store.put(&fetched.digest, &fetched.bytes)?;
                    let (version, digest) = (fetched.info.version.clone(), fetched.digest);
                    let library = Library { module: fetched.info.name, version, digest };
                    let version = library.version.to_string();
                    self.out.print(&Event::Fetched { module: &library.module, version, digest: &library.digest });
                    resolved.insert(reference.to_string(), library.clone());
                    library
                }
            };
            if library.module != *module {
                bail!(
                    "{reference} is refused: it is the module `{}`, and the document calls it `{module}`",
                    library.module
                );
            }
            libraries.push(library);
        }
        Ok(libraries)
    }

    /// Returns a fetched library and its content. Returns `None` if only a registry may have them.
    fn stored(&self, reference: &Reference, resolved: &Resolved) -> Option<(Library, Vec<u8>)> {
        let library = resolved.get(&reference.to_string())?;
        Some((library.clone(), self.store.get(&library.digest)?))
    }

    /// Checks if all libraries of the document were fetched.
    pub(super) fn are_stored(&self, document: &Document, resolved: &Resolved) -> bool {
        document.modules.values().all(|reference| self.stored(reference, resolved).is_some())
    }

    /// Fetches the libraries of the document on another thread.
    pub(super) fn download(&self, document: Document, mut resolved: Resolved) -> Download {
        let libraries = self.clone();
        thread::spawn(move || libraries.of(&document, &mut resolved).map(|_| resolved))
    }
}
