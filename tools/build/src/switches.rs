//! Creates copies of a library that differ only in bytes that its code reads at run time: named switches, and a tag. The crate `fixture` of
//! the test plugins stores the switches and the tag in a separate section. Each copy has a different build id, as if it had been built
//! separately.

use std::ops::Range;
use std::path::Path;

use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::manifest::{self, Manifest};
use alcedo_sys::ImageFile;
use xxhash_rust::xxh3::xxh3_128;

use crate::error::{BuildError, failed};

/// Name of the section that contains the switches and the tag.
const SECTION: &str = ".alcedo.switches";

/// Prefix of a switch's name. The name is followed by `=0`.
const SWITCH: &str = "alcedo-switch:";

/// Prefix of the tag. The tag follows as eight bytes in little-endian order.
const TAG: &str = "alcedo-tag:";

/// Differences between a copy and the original library.
///
/// # Examples
/// ```
/// use alcedo_build::Switches;
///
/// let second = Switches { on: &["panics_at_start"], tag: Some(2) };
/// assert_ne!(second, Switches::default());
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Switches<'a> {
    /// Names of the switches that are on.
    pub on: &'a [&'a str],
    /// Number to store as the tag of the copy. A copy of a library without a tag differs only by its build id.
    pub tag: Option<u64>,
}

/// Returns the bytes of a library with these switches. The bytes contain no seal.
pub(crate) fn switched(library: &Path, switches: &Switches<'_>) -> Result<Vec<u8>, BuildError> {
    let image = ImageFile::read(library).map_err(|error| failed("read", library)(std::io::Error::other(error)))?;
    let mut bytes = image.bytes().to_vec();
    let range = |name| image.section(name).map(|section| range_in(section, image.bytes()));
    let own = range(SECTION).unwrap_or_default();
    let own = &mut bytes[own];
    for name in switches.on {
        if !set(own, &format!("{SWITCH}{name}="), b"1") {
            return Err(BuildError::NoSwitch {
                library: library.to_owned(),
                name: (*name).to_owned(),
                known: known(own),
            });
        }
    }
    if let Some(tag) = switches.tag {
        set(own, TAG, &tag.to_le_bytes());
    }
    if let Some(range) = range(manifest::SECTION) {
        renumber(&mut bytes[range], switches);
    }
    Ok(bytes)
}

/// Returns the range that the slice `part` of `whole` has in `whole`.
fn range_in(part: &[u8], whole: &[u8]) -> Range<usize> {
    let start = part.as_ptr().addr() - whole.as_ptr().addr();
    start..start + part.len()
}

/// Writes `value` after each occurrence of `key`. Returns `false` if `key` does not occur.
fn set(section: &mut [u8], key: &str, value: &[u8]) -> bool {
    let offsets: Vec<usize> = offsets(section, key.as_bytes()).collect();
    for offset in &offsets {
        let behind = offset + key.len();
        section[behind..behind + value.len()].copy_from_slice(value);
    }
    !offsets.is_empty()
}

fn offsets(section: &[u8], key: &[u8]) -> impl Iterator<Item = usize> {
    section.windows(key.len()).enumerate().filter(move |(_, window)| *window == key).map(|(offset, _)| offset)
}

/// Returns the names of all switches, each once.
fn known(section: &[u8]) -> Vec<String> {
    let name = |offset: usize| {
        let rest = &section[offset + SWITCH.len()..];
        let end = rest.iter().position(|byte| *byte == b'=').unwrap_or(rest.len());
        String::from_utf8_lossy(&rest[..end]).into_owned()
    };
    let mut names: Vec<_> = offsets(section, SWITCH.as_bytes()).map(name).collect();
    names.sort();
    names.dedup();
    names
}

/// Replaces the build id in a manifest, and updates the checksum at the end of the manifest.
fn renumber(section: &mut [u8], switches: &Switches<'_>) {
    let Ok(manifest) = Manifest::read(section) else { return };
    let old = manifest.build_id.to_le_bytes();
    let new = (manifest.build_id ^ xxh3_128(format!("{switches:?}").as_bytes())).to_le_bytes();
    let Some(offset) = offsets(section, &old).next() else { return };
    section[offset..offset + old.len()].copy_from_slice(&new);
    let length = u32::from_le_bytes([section[12], section[13], section[14], section[15]]) as usize;
    let (body, sum) = section[..length].split_at_mut(length - size_of::<u64>());
    sum.copy_from_slice(&Fingerprint::START.bytes(body).finish().to_le_bytes());
}
