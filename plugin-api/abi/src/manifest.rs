//! The manifest section: identity and build parameters of a module. Mapping a file runs its initializers; the host reads this section
//! without mapping the file, and can therefore refuse a module before any code of the module runs.
//!
//! [`FORMAT`] is the version of the encoding. All numbers are little-endian. The section contains magic, format, total length, ABI number,
//! layout hash, oldest and newest API, flags, and build id. The name, the version and the compiler follow, as UTF-8 strings with a 16-bit
//! length, and then the number of dependencies, and the name and version range of each dependency. The section ends with a checksum of all
//! preceding bytes.
//!
//! The reader checks every string against a grammar ([`crate::names`]). The names in a [`Manifest`] are therefore safe in file names and
//! logs.

use crate::fingerprint::Fingerprint;
use crate::names::{self, Excerpt};
use crate::permissions::Permissions;
use crate::type_text::put;
use crate::{ABI_NUMBER, API_CURRENT, API_OLDEST, LAYOUT_HASH, SLOT_TYPES};

/// Name of the section that contains the manifest.
pub const SECTION: &str = crate::__alcedo_section!(manifest);

/// Name of the section with one record per declared type. A record consists of a kind, a 16-bit length and a path.
pub const TYPES_SECTION: &str = crate::__alcedo_section!(types);

/// First bytes of the manifest section.
pub const MAGIC: [u8; 8] = *b"ALCEDO\r\n";

/// Version of the encoding that this build reads and writes.
pub const FORMAT: u32 = 1;

/// Kinds of records in the types section.
pub mod type_records {
    /// Record of a class.
    pub const CLASS: u8 = 1;
    /// Record of a struct.
    pub const STRUCT: u8 = 2;
    /// Record of an interface.
    pub const INTERFACE: u8 = 3;
    /// Record of an enum.
    pub const ENUM: u8 = 4;
    /// Record of a named delegate. For a delegate that belongs to a class, the path has the form of a member path.
    pub const DELEGATE: u8 = 5;
}

const FLAG_UNWIND: u32 = 1;
const FLAG_SLOT_TYPES: u32 = 2;
const FLAG_HOOKED: u32 = 4;
const FLAG_OWN_HEAP: u32 = 8;
// The values 16 to 512 are flags of `Permissions`.

/// Data from which the `module!` macro encodes a manifest at compile time.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Name of the module.
    pub name: &'a str,
    /// Semantic version of the module.
    pub version: &'a str,
    /// Build id. Builds with different sources, compiler arguments or linked libraries have different ids.
    pub build_id: u128,
    /// Version string of the compiler.
    pub compiler: &'a str,
    /// True if panics unwind.
    pub unwinds: bool,
    /// True if the module has the hooks of [`crate::hooks`].
    pub hooked: bool,
    /// True if the module's allocator is the module heap. The host frees the pages of this heap when it unmaps the image.
    pub own_heap: bool,
    /// Declared permissions. If `None`, the manifest contains no declaration of permissions.
    pub permissions: Option<Permissions>,
    /// Name and version range of each required module.
    pub dependencies: &'a [(&'a str, &'a str)],
}

/// Returns the number of bytes that [`encode`] writes for `source`.
#[must_use]
pub const fn encoded_len(source: &Source<'_>) -> usize {
    let mut len = 8 + 4 + 4 + 4 + 8 + 4 + 4 + 4 + 16;
    len += 2 + source.name.len() + 2 + source.version.len() + 2 + source.compiler.len() + 2;
    let mut at = 0;
    while at < source.dependencies.len() {
        len += 4 + source.dependencies[at].0.len() + source.dependencies[at].1.len();
        at += 1;
    }
    len + 8
}

/// Encodes the manifest section; `N` is [`encoded_len`] of `source`.
///
/// # Panics
/// Panics at compile time if a string is invalid.
#[must_use]
pub const fn encode<const N: usize>(source: &Source<'_>) -> [u8; N] {
    assert!(names::is_module_name(source.name), "a module is named by at most 64 lower-case letters, digits and `_`");
    assert!(names::is_version(source.version), "the version of the package is invalid, or longer than 64 bytes");
    assert!(source.compiler.len() <= names::LONGEST_WORDS, "the version string of the compiler is too long");
    let flags = flag(source.unwinds, FLAG_UNWIND)
        | flag(SLOT_TYPES, FLAG_SLOT_TYPES)
        | flag(source.hooked, FLAG_HOOKED)
        | flag(source.own_heap, FLAG_OWN_HEAP)
        | Permissions::to_flags(source.permissions);
    let mut writer = Writer { bytes: [0; N], at: 0 };
    writer = writer.put(&MAGIC).put(&FORMAT.to_le_bytes()).put(&(N as u32).to_le_bytes());
    writer = writer.put(&ABI_NUMBER.to_le_bytes()).put(&LAYOUT_HASH.to_le_bytes());
    writer = writer.put(&API_OLDEST.to_le_bytes()).put(&API_CURRENT.to_le_bytes());
    writer = writer.put(&flags.to_le_bytes()).put(&source.build_id.to_le_bytes());
    writer = writer.text(source.name).text(source.version).text(source.compiler);
    writer = writer.put(&(source.dependencies.len() as u16).to_le_bytes());
    let mut at = 0;
    while at < source.dependencies.len() {
        let (name, range) = source.dependencies[at];
        assert!(names::is_dependency_name(name), "a dependency is named by at most 64 letters, digits and `_`");
        assert!(names::is_version_range(range), "the version range of a dependency is invalid");
        writer = writer.text(name).text(range);
        at += 1;
    }
    let sum = checksum(&writer.bytes, writer.at);
    writer = writer.put(&sum.to_le_bytes());
    assert!(writer.at == N, "encoded_len and encode disagree");
    writer.bytes
}

const fn flag(is_set: bool, flag: u32) -> u32 {
    if is_set { flag } else { 0 }
}

struct Writer<const N: usize> {
    bytes: [u8; N],
    at: usize,
}

impl<const N: usize> Writer<N> {
    const fn put(mut self, bytes: &[u8]) -> Self {
        self.at = put(&mut self.bytes, self.at, bytes);
        self
    }

    const fn text(self, text: &str) -> Self {
        assert!(text.len() < u16::MAX as usize, "a string in the manifest is too long");
        self.put(&(text.len() as u16).to_le_bytes()).put(text.as_bytes())
    }
}

const fn checksum(bytes: &[u8], len: usize) -> u64 {
    Fingerprint::START.bytes(bytes.split_at(len).0).finish()
}

/// Returns the size of a record of the types section, in bytes.
#[must_use]
pub const fn type_record_len(package: &str, name: &str) -> usize {
    1 + 2 + "/Script/".len() + package.len() + 1 + name.len()
}

/// Encodes a record of the types section; `N` is the result of [`type_record_len`].
#[must_use]
pub const fn type_record<const N: usize>(kind: u8, package: &str, name: &str) -> [u8; N] {
    let writer = Writer { bytes: [0; N], at: 0 };
    let writer = writer.put(&[kind]).put(&((N - 3) as u16).to_le_bytes());
    let writer = writer.put(b"/Script/").put(package.as_bytes()).put(b".").put(name.as_bytes());
    writer.bytes
}

/// Manifest section that has been parsed and validated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest<'a> {
    /// ABI version of the module.
    pub abi_number: u32,
    /// Layout hash of the module.
    pub layout_hash: u64,
    /// Oldest host API that the module supports.
    pub api_oldest: u32,
    /// Host API that the module was built for.
    pub api_current: u32,
    /// True if panics of the module unwind.
    pub unwinds: bool,
    /// True if slots of the module have a type byte.
    pub slot_types: bool,
    /// True if the module has the hooks of [`crate::hooks`]. A module without hooks cannot be unmapped safely.
    pub hooked: bool,
    /// True if the module's allocator is the module heap. The host frees the pages of this heap when it unmaps the image.
    pub own_heap: bool,
    /// Permissions that the module declares. `None` if the manifest has no declaration, for example because the module was built before
    /// permissions existed.
    pub permissions: Option<Permissions>,
    /// Build id; different builds have different ids.
    pub build_id: u128,
    /// Name of the module.
    pub name: &'a str,
    /// Version of the module.
    pub version: &'a str,
    /// Version string of the compiler, for information only.
    pub compiler: &'a str,
    dependencies: &'a [u8],
    dependency_count: u16,
}

/// Reason why a manifest section is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManifestError {
    /// The section does not begin with the magic.
    Magic,
    /// The version of the encoding, contained in this variant, is unsupported.
    Format(u32),
    /// The section is too short, or its length field is wrong.
    Length,
    /// The checksum of the section does not match.
    Checksum,
    /// A string is not UTF-8, or a count does not match.
    Content,
    /// A string violates the rule for its kind.
    Text {
        /// Kind of the string, such as the name of the module.
        what: &'static str,
        /// Beginning of the string.
        found: Excerpt,
        /// Rule that strings of this kind must follow.
        rule: &'static str,
    },
}

impl core::fmt::Display for ManifestError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Magic => f.write_str("it does not start with the magic of a manifest"),
            Self::Format(found) => write!(f, "it has format {found}, this host reads format {FORMAT}"),
            Self::Length => f.write_str("its length does not match its header"),
            Self::Checksum => f.write_str("its checksum does not match"),
            Self::Content => f.write_str("its content is invalid"),
            Self::Text { what, found, rule } => write!(f, "its {what} is {found}, and {rule}"),
        }
    }
}

impl core::error::Error for ManifestError {}

impl<'a> Manifest<'a> {
    /// Parses the bytes of a manifest section.
    ///
    /// # Errors
    /// Fails if the bytes are damaged or are not a manifest of this format, or if a string is invalid.
    pub fn read(bytes: &'a [u8]) -> Result<Self, ManifestError> {
        let mut reader = Reader { bytes };
        if reader.take(8).map_err(|_| ManifestError::Magic)? != MAGIC {
            return Err(ManifestError::Magic);
        }
        let format = reader.u32()?;
        if format != FORMAT {
            return Err(ManifestError::Format(format));
        }
        let total = reader.u32()? as usize;
        if total > bytes.len() || total < 72 || bytes[total..].iter().any(|byte| *byte != 0) {
            return Err(ManifestError::Length);
        }
        let (body, sum) = bytes[..total].split_at(total - 8);
        if sum != checksum(body, body.len()).to_le_bytes() {
            return Err(ManifestError::Checksum);
        }
        let mut reader = Reader { bytes: &body[16..] };
        let abi_number = reader.u32()?;
        let layout_hash = u64::from_le_bytes(reader.array()?);
        let (api_oldest, api_current) = (reader.u32()?, reader.u32()?);
        let flags = reader.u32()?;
        let build_id = u128::from_le_bytes(reader.array()?);
        let name = checked("module name", reader.text()?, names::is_module_name, names::MODULE_NAME_RULE)?;
        let version = checked("version", reader.text()?, names::is_version, names::VERSION_RULE)?;
        let compiler = checked("compiler", reader.text()?, names::is_printable, names::PRINTABLE_RULE)?;
        let dependency_count = u16::from_le_bytes(reader.array()?);
        let dependencies = reader.bytes;
        for _ in 0..dependency_count {
            checked("dependency", reader.text()?, names::is_dependency_name, names::DEPENDENCY_NAME_RULE)?;
            let rule = names::VERSION_RANGE_RULE;
            checked("version range of a dependency", reader.text()?, names::is_version_range, rule)?;
        }
        if !reader.bytes.is_empty() {
            return Err(ManifestError::Content);
        }
        Ok(Self {
            abi_number,
            layout_hash,
            api_oldest,
            api_current,
            unwinds: flags & FLAG_UNWIND != 0,
            slot_types: flags & FLAG_SLOT_TYPES != 0,
            hooked: flags & FLAG_HOOKED != 0,
            own_heap: flags & FLAG_OWN_HEAP != 0,
            permissions: Permissions::of_flags(flags),
            build_id,
            name,
            version,
            compiler,
            dependencies,
            dependency_count,
        })
    }

    /// Returns the name and version range of each required module.
    pub fn dependencies(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let mut reader = Reader { bytes: self.dependencies };
        (0..self.dependency_count).filter_map(move |_| Some((reader.text().ok()?, reader.text().ok()?)))
    }
}

fn checked<'a>(
    what: &'static str,
    text: &'a str,
    keeps_to: impl Fn(&str) -> bool,
    rule: &'static str,
) -> Result<&'a str, ManifestError> {
    if keeps_to(text) { Ok(text) } else { Err(ManifestError::Text { what, found: Excerpt::of(text), rule }) }
}

/// Parses the types section, and returns the kind and path of each declared type. Skips zeros between records, because a sanitizer
/// inserts padding after every static variable.
///
/// # Errors
/// Fails if a record extends past the end of the section, or does not contain a path.
pub fn read_types(bytes: &[u8]) -> Result<impl Iterator<Item = (u8, &str)>, ManifestError> {
    let mut reader = Reader { bytes };
    while reader.skip_zeros() {
        let kind = reader.take(1)?[0];
        let is_path =
            |path: &str| names::is_type_path(path) || kind == type_records::DELEGATE && names::is_member_path(path);
        checked("type path", reader.text()?, is_path, names::TYPE_PATH_RULE)?;
    }
    let mut reader = Reader { bytes };
    Ok(core::iter::from_fn(move || {
        reader.skip_zeros();
        Some((reader.take(1).ok()?[0], reader.text().ok()?))
    }))
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Skips zeros, and returns true if bytes remain.
    fn skip_zeros(&mut self) -> bool {
        let zeros = self.bytes.iter().take_while(|byte| **byte == 0).count();
        self.bytes = &self.bytes[zeros..];
        !self.bytes.is_empty()
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], ManifestError> {
        self.bytes.split_off(..len).ok_or(ManifestError::Length)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ManifestError> {
        self.take(N)?.try_into().map_err(|_| ManifestError::Length)
    }

    fn u32(&mut self) -> Result<u32, ManifestError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn text(&mut self) -> Result<&'a str, ManifestError> {
        let len = u16::from_le_bytes(self.array()?);
        core::str::from_utf8(self.take(len as usize)?).map_err(|_| ManifestError::Content)
    }
}

#[cfg(test)]
mod tests {
    use super::{Manifest, ManifestError, Source, encode, encoded_len, read_types, type_record, type_record_len};
    use crate::permissions::{Permission, Permissions};

    const SOURCE: Source<'_> = Source {
        name: "kitchen",
        version: "1.2.3",
        build_id: 7,
        compiler: "rustc 1.95.0",
        unwinds: true,
        hooked: true,
        own_heap: false,
        permissions: None,
        dependencies: &[("base", "^1"), ("other", "*")],
    };
    const BYTES: [u8; encoded_len(&SOURCE)] = encode(&SOURCE);

    #[test]
    fn written_manifests_are_read_back_unchanged() {
        let manifest = Manifest::read(&BYTES).expect("just encoded");
        assert_eq!((manifest.name, manifest.version, manifest.build_id), ("kitchen", "1.2.3", 7));
        assert_eq!(manifest.layout_hash, crate::LAYOUT_HASH);
        assert!(manifest.unwinds && manifest.hooked && !manifest.own_heap);
        assert_eq!(manifest.permissions, None);
        assert_eq!(manifest.dependencies().collect::<Vec<_>>(), [("base", "^1"), ("other", "*")]);
    }

    #[test]
    fn a_declaration_of_permissions_changes_only_flags() {
        const DECLARED: Option<Permissions> = Some(Permissions::of(&[Permission::Files]));
        const WITH: Source<'_> = Source { permissions: DECLARED, ..SOURCE };
        let bytes: [u8; encoded_len(&WITH)] = encode(&WITH);
        let manifest = Manifest::read(&bytes).expect("just encoded");
        assert_eq!(manifest.permissions, DECLARED);
        let without = Manifest { permissions: None, ..manifest };
        assert_eq!(Manifest::read(&BYTES), Ok(without));
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        for bit in 0..BYTES.len() * 8 {
            let mut bytes = BYTES;
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(Manifest::read(&bytes).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn every_truncation_is_noticed() {
        for len in 0..BYTES.len() {
            assert!(Manifest::read(&BYTES[..len]).is_err(), "{len} bytes");
        }
    }

    /// Replaces the string `old` of the section by `new`, and updates the checksum.
    fn with_text(old: &str, new: &str) -> Vec<u8> {
        let framed = |text: &str| [&(text.len() as u16).to_le_bytes(), text.as_bytes()].concat();
        let (old, new) = (framed(old), framed(new));
        let at = BYTES.windows(old.len()).position(|bytes| bytes == old).expect("the text is there");
        let body = [&BYTES[..at], &new, &BYTES[at + old.len()..BYTES.len() - 8]].concat();
        let total = (body.len() as u32 + 8).to_le_bytes();
        let body = [&body[..12], &total, &body[16..]].concat();
        [body.as_slice(), &super::checksum(&body, body.len()).to_le_bytes()].concat()
    }

    #[test]
    fn every_string_is_checked_by_its_rule_and_printed_escaped() {
        let longest = "a".repeat(300);
        let cases = [
            ("kitchen", "kitchen\0/tmp/evil.so", "its module name is \"kitchen\\0/tmp/evil.so\", and a module is"),
            ("kitchen", "a\u{1b}[2J", r#"its module name is "a\u{1b}[2J""#),
            ("kitchen", "two\nlines", r#"its module name is "two\nlines""#),
            ("kitchen", "", "its module name is \"\""),
            ("kitchen", "../kitchen", "its module name is"),
            ("kitchen", "Kitchen", "its module name is"),
            ("kitchen", &longest, "… (300 bytes), and a module is named by at most 64"),
            ("1.2.3", "1.2.3\u{1b}", "its version is"),
            ("rustc 1.95.0", "rustc\u{1b}]0;owned\u{7}", "its compiler is"),
            ("rustc 1.95.0", &longest, "its compiler is"),
            ("base", "ba\0se", "its dependency is"),
            ("^1", "^1\n", "its version range of a dependency is"),
        ];
        for (old, new, part) in cases {
            let bytes = with_text(old, new);
            let error = Manifest::read(&bytes).expect_err(new);
            let text = error.to_string();
            assert!(matches!(error, ManifestError::Text { .. }) && text.contains(part), "{new:?}: {text}");
            assert!(text.len() < 300 && !text.contains(char::is_control), "{text}");
        }
        assert_eq!(Manifest::read(&with_text("kitchen", "kitchen_2")).expect("a name").name, "kitchen_2");
    }

    #[test]
    fn a_type_record_has_a_path_or_is_refused() {
        for path in ["", "/Script/Game.Cube\0", "/Script/Game.\u{1b}[2J", "/Script/Game.A:b", "/tmp/x", "/Script/.A"] {
            let bytes = [&[1], &(path.len() as u16).to_le_bytes()[..], path.as_bytes()].concat();
            let refused = read_types(&bytes).map(Iterator::count);
            assert!(matches!(refused, Err(ManifestError::Text { what: "type path", .. })), "{path:?}: {refused:?}");
        }
    }

    #[test]
    fn another_format_is_named() {
        let mut bytes = BYTES;
        bytes[8] = 9;
        assert_eq!(Manifest::read(&bytes), Err(ManifestError::Format(9)));
    }

    #[test]
    fn type_records_stand_one_after_the_other() {
        const A: [u8; type_record_len("Game", "Cube")] = type_record(1, "Game", "Cube");
        const B: [u8; type_record_len("Game", "Spin")] = type_record(2, "Game", "Spin");
        let bytes = [A.as_slice(), B.as_slice()].concat();
        let types: Vec<_> = read_types(&bytes).expect("whole records").collect();
        assert_eq!(types, [(1, "/Script/Game.Cube"), (2, "/Script/Game.Spin")]);
        assert!(read_types(&bytes[..bytes.len() - 1]).is_err());
        let padded = [A.as_slice(), &[0; 45], B.as_slice(), &[0; 13]].concat();
        assert_eq!(read_types(&padded).expect("whole records").collect::<Vec<_>>(), types);
    }
}
