//! Checks the manifest section of a library before any code of the file runs.

use alcedo_abi::manifest::Manifest;
use alcedo_abi::{ABI_NUMBER, API_CURRENT, API_OLDEST, LAYOUT_HASH, SLOT_TYPES};

use crate::load::error::LoadError;

/// Checks that a module with this manifest is compatible with the host. Returns the first difference as an error, with the values of the
/// host and of the module.
pub(crate) fn admit(manifest: &Manifest<'_>) -> Result<(), LoadError> {
    let module = || manifest.name.to_owned();
    if manifest.abi_number != ABI_NUMBER {
        return Err(LoadError::Abi { module: module(), found: manifest.abi_number, expected: ABI_NUMBER });
    }
    if manifest.api_current < API_OLDEST || manifest.api_oldest > API_CURRENT {
        return Err(LoadError::Api {
            module: module(),
            found: (manifest.api_oldest, manifest.api_current),
            expected: (API_OLDEST, API_CURRENT),
        });
    }
    if manifest.api_current > API_CURRENT {
        return Err(LoadError::Newer { module: module(), found: manifest.api_current, offered: API_CURRENT });
    }
    if manifest.slot_types != SLOT_TYPES {
        return Err(LoadError::SlotTypes { module: module(), found: manifest.slot_types });
    }
    if manifest.layout_hash != LAYOUT_HASH {
        return Err(LoadError::Layout { module: module(), found: manifest.layout_hash, expected: LAYOUT_HASH });
    }
    if !manifest.unwinds {
        return Err(LoadError::PanicAborts { module: module() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use alcedo_abi::manifest::{Manifest, Source, encode, encoded_len};

    use super::{API_CURRENT, admit};

    const SOURCE: Source<'_> = Source {
        name: "m",
        version: "1.0.0",
        build_id: 1,
        compiler: "c",
        unwinds: true,
        hooked: true,
        own_heap: true,
        permissions: None,
        dependencies: &[],
    };
    const BYTES: [u8; encoded_len(&SOURCE)] = encode(&SOURCE);

    fn check(change: impl Fn(&mut Manifest<'_>), expected: &str) {
        let mut manifest = Manifest::read(&BYTES).expect("just encoded");
        change(&mut manifest);
        match admit(&manifest) {
            Ok(()) => assert_eq!(expected, "", "was admitted"),
            Err(error) => {
                let text = error.to_string();
                assert!(!expected.is_empty() && text.contains(expected), "{text}");
            }
        }
    }

    #[test]
    fn a_module_of_this_build_is_admitted() {
        check(|_| {}, "");
        check(|manifest| manifest.compiler = "another compiler", "");
    }

    #[test]
    fn each_fact_that_does_not_fit_is_named_with_both_sides() {
        check(|manifest| manifest.abi_number = 9, "has ABI 9, this host expects 1");
        let (next, last) = (API_CURRENT + 1, API_CURRENT + 2);
        let needs = format!("needs host API {next} to {last}");
        check(|manifest| (manifest.api_oldest, manifest.api_current) = (next, last), &needs);
        check(|manifest| manifest.api_current = next, &format!("was built for host API {next}"));
        check(|manifest| manifest.slot_types = !manifest.slot_types, "slot-types");
        check(|manifest| manifest.layout_hash ^= 1, "layout");
        check(|manifest| manifest.unwinds = false, "panic = \"abort\"");
    }
}
