//! Generates glue: Rust source with the types of a host or a module. Through glue, plugins use types of the host or of other modules, and
//! hosts use types of modules. The command `alcedo glue` uses this crate. A `build.rs` can also call this crate directly:
//!
//! ```no_run
//! # fn host_builder() -> alcedo_runtime::Builder { alcedo_runtime::Runtime::builder() }
//! // In the `build.rs` of the glue crate, with the host's library and `alcedo-glue` as build dependencies.
//! use std::path::PathBuf;
//!
//! use alcedo_glue::{Glue, Origin};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let declared = host_builder().declared()?;
//!     let source = Glue::default().for_plugins(&Origin::host("my-host"), &declared)?;
//!     alcedo_glue::write(&PathBuf::from(std::env::var("OUT_DIR")?).join("host.rs"), &source)?;
//!     Ok(())
//! }
//! ```
//!
//! The crate with this `build.rs` then contains `include!(concat!(env!("OUT_DIR"), "/host.rs"));`. Equal declarations produce equal bytes
//! on any machine.

#![forbid(unsafe_code)]

mod error;
mod for_host;
mod for_plugins;
mod host_types;
mod rewrite;
mod text;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::str::FromStr;

use alcedo_reflect::path::is_identifier;
use alcedo_runtime::Declared;
use alcedo_runtime::development::plain_file;

pub use error::GlueError;
pub use rewrite::{describes, rewritten};
pub use text::is_keyword;

/// Host or module that declares the types.
///
/// # Examples
/// ```
/// use alcedo_glue::Origin;
///
/// assert_eq!(Origin::host("my-game").to_string(), "the host `my-game`");
/// assert_eq!(Origin::module("spinner", "1.2.0").to_string(), "the module `spinner` 1.2.0");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// A host.
    Host {
        /// Name of the host program.
        name: String,
    },
    /// A module.
    Module {
        /// Module name.
        name: String,
        /// Module version.
        version: String,
    },
}

impl Origin {
    /// Returns the origin of a host, by the name of its program.
    #[must_use]
    pub fn host(name: &str) -> Self {
        Self::Host { name: name.to_owned() }
    }

    /// Returns the origin of a module, by its name and version.
    #[must_use]
    pub fn module(name: &str, version: &str) -> Self {
        Self::Module { name: name.to_owned(), version: version.to_owned() }
    }

    /// Returns `module` or `host`.
    pub(crate) fn sort(&self) -> &'static str {
        match self {
            Self::Host { .. } => "host",
            Self::Module { .. } => "module",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host { name } => write!(f, "the host `{}`", name.escape_debug()),
            Self::Module { name, version } => write!(f, "the module `{name}` {version}"),
        }
    }
}

/// Options for generating glue. By default, the generated source contains all declared types, and refers to no glue of other packages.
///
/// # Examples
/// ```
/// # use alcedo_runtime::Runtime;
/// # use alcedo_runtime::kinds::PropertyKind;
/// # use alcedo_runtime::native::{NativeClass, Natives};
/// # let door = NativeClass::new("Game", "Door", "/Script/Core.Object");
/// # let door = door.property("width", (PropertyKind::F64, ""), 0, "");
/// # let declared = Runtime::builder().natives(Natives::in_package("Game").class(door)).declared()?;
/// use alcedo_glue::{Glue, Origin};
///
/// let source = Glue::default().for_plugins(&Origin::host("my-game"), &declared)?;
/// assert!(source.contains("struct Door") && source.contains("width: f64"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Glue {
    elsewhere: BTreeMap<String, String>,
    only: BTreeSet<String>,
}

impl Glue {
    /// Sets the Rust path of another package's glue. The generated source refers to the types of that package through this path.
    ///
    /// # Examples
    /// ```
    /// use alcedo_glue::Glue;
    ///
    /// // Types of the package `Engine` are used from the crate `engine_glue`.
    /// let glue = Glue::default().package("Engine=engine_glue".parse()?);
    /// # let _ = glue;
    /// # Ok::<(), String>(())
    /// ```
    #[must_use]
    pub fn package(mut self, elsewhere: Elsewhere) -> Self {
        self.elsewhere.insert(elsewhere.package, elsewhere.module);
        self
    }

    /// Limits the source to the types of this package. Repeated calls add more packages. Type names in one source must be unique, so
    /// packages with equal type names need separate sources.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_runtime::Runtime;
    /// # use alcedo_runtime::kinds::PropertyKind;
    /// # use alcedo_runtime::native::{NativeClass, Natives};
    /// # let door = NativeClass::new("Game", "Door", "/Script/Core.Object");
    /// # let door = door.property("width", (PropertyKind::F64, ""), 0, "");
    /// # let declared = Runtime::builder().natives(Natives::in_package("Game").class(door)).declared()?;
    /// use alcedo_glue::{Glue, Origin};
    ///
    /// let source = Glue::default().only("Game").for_plugins(&Origin::host("my-game"), &declared)?;
    /// assert!(source.contains("struct Door"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn only(mut self, package: &str) -> Self {
        self.only.insert(package.to_owned());
        self
    }

    /// Returns the source through which plugins use the declared types.
    ///
    /// # Errors
    /// Fails if a type belongs to a package whose glue is unknown, if a type has no Rust type, or if two types have the same name.
    pub fn for_plugins(&self, origin: &Origin, declared: &Declared) -> Result<String, GlueError> {
        for_plugins::source(self, origin, declared)
    }

    /// Returns the source through which a host uses the types of modules: see [`alcedo_runtime::host`]. A member without a Rust type is
    /// accessed through a `Value`.
    ///
    /// # Errors
    /// Fails if two types have the same name, or a requested package has no declarations.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_runtime::Runtime;
    /// # use alcedo_runtime::kinds::PropertyKind;
    /// # use alcedo_runtime::native::{NativeClass, Natives};
    /// # let door = NativeClass::new("Game", "Door", "/Script/Core.Object");
    /// # let door = door.property("width", (PropertyKind::F64, ""), 0, "");
    /// # let declared = Runtime::builder().natives(Natives::in_package("Game").class(door)).declared()?;
    /// use alcedo_glue::{Glue, Origin};
    ///
    /// let source = Glue::default().for_host(&Origin::module("doors", "1.0.0"), &declared)?;
    /// assert!(source.contains("/Script/Game.Door"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn for_host(&self, origin: &Origin, declared: &Declared) -> Result<String, GlueError> {
        for_host::source(self, origin, declared)
    }

    /// Returns `true` if the source contains the type at this path.
    fn writes(&self, path: &str) -> bool {
        self.only.is_empty() || self.only.contains(text::parts(path).0)
    }
}

/// Returns the paths of all types that the declarations contain.
///
/// # Examples
/// ```
/// # use alcedo_runtime::Runtime;
/// # use alcedo_runtime::native::{NativeClass, Natives};
/// # let door = NativeClass::new("Game", "Door", "/Script/Core.Object");
/// # let declared = Runtime::builder().natives(Natives::in_package("Game").class(door)).declared()?;
/// use alcedo_glue::type_paths;
///
/// assert!(type_paths(&declared).any(|path| path == "/Script/Game.Door"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn type_paths(declared: &Declared) -> impl Iterator<Item = &str> {
    let classes = declared.classes.iter().map(|found| found.path.as_str());
    let structs = declared.structs.iter().map(|found| found.path.as_str());
    let interfaces = declared.interfaces.iter().map(|found| found.path.as_str());
    let enums = declared.enums.iter().map(|found| found.path.as_str());
    let delegates = declared.delegates.iter().map(|found| found.path.as_str());
    classes.chain(enums).chain(delegates).chain(structs).chain(interfaces)
}

/// Rust path of another package's glue: `Engine=engine_glue`.
///
/// # Examples
/// ```
/// use alcedo_glue::Elsewhere;
///
/// assert!("Engine=engine_glue::classes".parse::<Elsewhere>().is_ok());
/// let error = "Engine".parse::<Elsewhere>().expect_err("no module");
/// assert!(error.contains("`Engine=engine_glue`"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// Package name, as in paths.
    package: String,
    /// Path of the Rust module with the types.
    module: String,
}

impl FromStr for Elsewhere {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_path = |path: &str| path.split("::").all(is_identifier);
        match text.split_once('=') {
            Some((package, module)) if !package.is_empty() && is_path(module) => {
                Ok(Self { package: package.to_owned(), module: module.to_owned() })
            }
            _ => Err("write a package and the Rust path of its glue: `Engine=engine_glue`".to_owned()),
        }
    }
}

/// Writes a source to a file. If the file already has this content, leaves the file untouched, to avoid unnecessary builds. After an error,
/// for example on a full disk, an existing file still has its old content.
///
/// # Errors
/// Fails if the file cannot be written.
///
/// # Examples
/// ```
/// let path = std::env::temp_dir().join(format!("glue-{}.rs", std::process::id()));
/// alcedo_glue::write(&path, "// The types of a host.\n")?;
/// assert_eq!(std::fs::read_to_string(&path)?, "// The types of a host.\n");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write(path: &Path, source: &str) -> io::Result<()> {
    // Does not read a pipe or a device, for example `/dev/stdout`, which may have no end.
    if path.is_file() && fs::read(path).is_ok_and(|found| found == source.as_bytes()) {
        return Ok(());
    }
    // Replaces the target of a link, and not the link. A missing target and a device are written directly.
    match path.canonicalize() {
        Ok(file) if file.is_file() => plain_file::replace(&file, source.as_bytes()),
        Err(_) if !path.is_symlink() => plain_file::replace(path, source.as_bytes()),
        _ => fs::write(path, source),
    }
}

#[cfg(test)]
mod tests {
    use alcedo_runtime::kinds::PropertyKind;
    use alcedo_runtime::native::{NativeClass, NativeDelegate, NativeEnum, NativeStruct, Natives};
    use alcedo_runtime::{Declared, Runtime};

    use super::{Glue, GlueError, Origin, rewritten};

    fn declared(natives: Natives) -> Declared {
        Runtime::builder().natives(natives).declared().unwrap_or_else(|error| panic!("{error}"))
    }

    fn door(name: &str) -> NativeClass {
        NativeClass::new("Test", name, "/Script/Core.Object").property("width", (PropertyKind::F64, ""), 0, "")
    }

    #[cfg(unix)]
    #[test]
    fn a_source_is_replaced_as_a_whole_behind_its_link() {
        let dir = std::env::temp_dir().join(format!("alcedo-glue-{}", std::process::id()));
        let [file, link, old] = ["host.rs", "link.rs", "old.rs"].map(|name| dir.join(name));
        std::fs::create_dir_all(&dir).expect("a folder");
        super::write(&file, "old").expect("written");
        std::fs::hard_link(&file, &old).expect("made");
        std::os::unix::fs::symlink(&file, &link).expect("made");
        super::write(&link, "new").expect("written");
        let text = |path: &std::path::Path| std::fs::read_to_string(path).expect("a source");
        assert_eq!([text(&file), text(&old)], ["new", "old"], "the old file was not written to");
        std::fs::remove_file(&file).expect("removed");
        super::write(&link, "again").expect("written");
        assert_eq!(text(&file), "again", "the target of the link is made");
        assert!(link.is_symlink());
        std::fs::remove_dir_all(&dir).expect("removed");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_pipe_to_which_a_source_is_written_is_not_read() {
        use std::io::{Read as _, Write as _};
        use std::os::fd::AsRawFd as _;
        let (mut reader, mut writer) = std::io::pipe().expect("a pipe");
        writer.write_all(b"old, ").expect("written");
        // Without a writer, a read of the pipe ends.
        drop(writer);
        super::write(format!("/proc/self/fd/{}", reader.as_raw_fd()).as_ref(), "source").expect("written");
        let mut text = String::new();
        reader.read_to_string(&mut text).expect("the source");
        assert_eq!(text, "old, source");
    }

    #[test]
    fn a_type_that_hides_a_type_used_by_glue_is_rejected() {
        let origin = Origin::host("a host");
        for name in ["String", "Option", "UArray", "CallError"] {
            let found = declared(Natives::in_package("Test").class(door(name)));
            for glue in [Glue::default().for_plugins(&origin, &found), Glue::default().for_host(&origin, &found)] {
                let error = glue.expect_err("its properties and results would be of that class").to_string();
                assert!(error.contains(&format!("/Script/Test.{name}")) && error.contains("rename it"), "{error}");
            }
        }
        let found = declared(Natives::in_package("Test").class(door("Strings")));
        assert!(Glue::default().for_plugins(&origin, &found).is_ok());
    }

    #[test]
    fn types_of_a_module_may_have_the_names_of_types_in_glue_for_hosts() {
        let label = NativeClass::new("Test", "Label", "/Script/Core.Object")
            .property("label", (PropertyKind::NAME, ""), 0, "")
            .property("text", (PropertyKind::TEXT, ""), 0, "");
        let natives = Natives::in_package("Test").class(door("Door")).class(door("Name")).class(label);
        let text = Glue::default().for_host(&Origin::host("a host"), &declared(natives)).unwrap();
        assert!(text.contains("label / set_label \"label\": alcedo::host::Name;"), "{text}");
        assert!(text.contains("text / set_text \"text\": LocalText;"), "{text}");
    }

    #[test]
    fn invalid_rust_names_are_rejected_and_doc_comments_stay_comments() {
        let origin = Origin::host("a \"host\"\n");
        let mut bad = declared(Natives::in_package("Test").class(door("Door").doc("One.\rTwo.\n*/ fn evil() {}")));
        let text = Glue::default().for_plugins(&origin, &bad).unwrap();
        assert!(text.contains("/// One. Two.\n/// */ fn evil() {}\n#[uclass"), "{text}");
        assert!(text.starts_with("// Declarations of the host `a \\\"host\\\"\\n` for plugins"), "{text}");
        let check = |bad: &Declared| {
            for glue in [Glue::default().for_plugins(&origin, bad), Glue::default().for_host(&origin, bad)] {
                assert!(matches!(glue, Err(GlueError::Name { .. })), "{bad:?}: {glue:?}");
            }
        };
        for name in ["x {} fn evil() {} struct Y", "self", "", "1x", "a::b", "a\u{202e}"] {
            let base = std::mem::replace(&mut bad.classes[0].base, format!("/Script/Core.{name}"));
            check(&bad);
            bad.classes[0].base = base;
            let property = std::mem::replace(&mut bad.classes[0].properties[0].name, name.to_owned());
            check(&bad);
            bad.classes[0].properties[0].name = property;
        }
        bad.classes[0].properties[0].name = "type".to_owned();
        assert!(Glue::default().for_plugins(&origin, &bad).unwrap().contains("    r#type: f64,"));
        bad.classes[0].properties[0].name = "größe".to_owned();
        assert!(Glue::default().for_plugins(&origin, &bad).unwrap().contains("    größe: f64,"));
        bad.classes[0].properties[0].ty = "/Script/Other.X {} fn evil() {} struct Y".to_owned();
        let elsewhere = Glue::default().package("Other=other".parse().unwrap());
        assert!(matches!(elsewhere.for_plugins(&origin, &bad), Err(GlueError::Unknown { .. })));
        let text = elsewhere.for_host(&origin, &bad).unwrap();
        assert!(!text.contains("evil() {} struct"), "{text}");
    }

    #[test]
    fn a_source_is_written_again_from_its_own_header() {
        let both = |door| {
            let other = NativeClass::new("Other", "Gate", "/Script/Test.Door");
            let natives = Runtime::builder().natives(Natives::in_package("Test").class(door));
            natives.natives(Natives::in_package("Other").class(other)).declared().unwrap()
        };
        let (before, after) = (both(door("Door")), both(door("Door").event("ring", &[])));
        let origin = Origin::host("rig");
        for glue in [
            Glue::default(),
            Glue::default().only("Test"),
            Glue::default().only("Other").package("Test=crate::test".parse().unwrap()),
        ] {
            let text = glue.for_plugins(&origin, &before).unwrap();
            assert_eq!(rewritten(&text, &origin, &before).unwrap(), Some(text.clone()));
            assert_eq!(rewritten(&text, &origin, &after).unwrap(), Some(glue.for_plugins(&origin, &after).unwrap()));
            for stranger in [Origin::host("rigs"), Origin::module("rig", "1.0.0")] {
                assert_eq!(rewritten(&text, &stranger, &after).unwrap(), None);
            }
            let lamps = Origin::module("lamps", "1.0.0");
            let text = glue.for_host(&lamps, &before).unwrap();
            assert_eq!(rewritten(&text, &lamps, &before).unwrap(), Some(text.clone()));
            assert_eq!(rewritten(&text, &lamps, &after).unwrap(), Some(glue.for_host(&lamps, &after).unwrap()));
        }
        let first = "// What the host `rig` declares in package `Test`, for plugins that use it. Written by `alcedo glue`: change\n";
        let now = Glue::default().only("Test").for_plugins(&origin, &after).unwrap();
        assert!(
            now.starts_with(
                "// Declarations of the host `rig` in package `Test` for plugins, written by `alcedo glue`.\n"
            ),
            "{now}"
        );
        assert_eq!(rewritten(first, &origin, &after).unwrap(), Some(now));
        let first = "// What the module `lamps` 0.1.0 declares, for a host that uses it. Written by `alcedo glue --for-host`: change\n";
        let lamps = Origin::module("lamps", "1.0.0");
        let now = Glue::default().for_host(&lamps, &after).unwrap();
        assert_eq!(rewritten(first, &lamps, &after).unwrap(), Some(now));
        for other in
            ["// What is this?\n", "// Declarations of the host `rig`s for plugins, written by `alcedo glue`.\n"]
        {
            assert_eq!(rewritten(other, &origin, &after).unwrap(), None);
        }
        let module = Glue::default().for_plugins(&Origin::module("lamps", "1.0.0"), &before).unwrap();
        assert!(rewritten(&module, &Origin::module("lamps", "1.1.0"), &after).unwrap().unwrap().contains("1.1.0"));
    }

    #[test]
    fn types_of_two_packages_may_have_equal_names() {
        let vector = |package| NativeStruct::new(package, "Vector").field("x", (PropertyKind::F64, ""));
        let in_package = |package| Natives::in_package(package).structure(vector(package));
        let rig = NativeClass::new("Test", "Rig", "/Script/Core.Object")
            .property("a", (PropertyKind::STRUCT, "/Script/A.Vector"), 0, "")
            .property("b", (PropertyKind::STRUCT, "/Script/B.Vector"), 0, "");
        let natives = Runtime::builder().natives(in_package("A")).natives(in_package("B"));
        let declared = natives.natives(Natives::in_package("Test").class(rig)).declared().unwrap();
        let glue = ["A=a_glue", "B=b_glue"].map(|package| package.parse().unwrap());
        let glue = glue.into_iter().fold(Glue::default().only("Test"), Glue::package);
        let origin = Origin::host("rig");
        let mut swapped = declared.clone();
        let rig = swapped.classes.iter_mut().find(|class| class.path == "/Script/Test.Rig").unwrap();
        rig.properties.reverse();
        for later in [&declared, &swapped] {
            let text = glue.for_plugins(&origin, &declared).unwrap();
            assert!(text.contains("a_glue::Vector") && text.contains("b_glue::Vector"), "{text}");
            assert_eq!(rewritten(&text, &origin, later).unwrap(), Some(glue.for_plugins(&origin, later).unwrap()));
            let text = glue.for_host(&origin, &declared).unwrap();
            assert_eq!(rewritten(&text, &origin, later).unwrap(), Some(glue.for_host(&origin, later).unwrap()));
        }
    }

    #[test]
    fn a_derived_struct_is_written_with_its_base_and_not_as_pod() {
        let spot = NativeStruct::new("Test", "Spot").field("x", (PropertyKind::F64, ""));
        let place = NativeStruct::new("Test", "Place").extends("/Script/Test.Spot").field("y", (PropertyKind::F64, ""));
        let natives = Natives::in_package("Test").structure(spot).structure(place);
        let text = Glue::default().for_plugins(&Origin::host("host"), &declared(natives)).expect("glue");
        assert!(text.contains("#[ustruct(pod, imported, package = \"Test\")]"), "{text}");
        assert!(text.contains("#[ustruct(imported, package = \"Test\", base = Spot)]"), "{text}");
        assert!(text.contains("pub struct Place {\n    y: f64,\n}"), "{text}");
    }

    #[test]
    fn an_enum_is_written_with_its_numbers_and_its_default() {
        let mood =
            NativeEnum::new("Test", "Mood", PropertyKind::I16).entry("Calm", 0).entry("Angry", -300).doc("A mood.");
        let rights = NativeEnum::new("Test", "Rights", PropertyKind::U8).entry("Read", 1).entry("Write", 2).flags();
        let natives = Natives::in_package("Test").enumeration(mood).enumeration(rights);
        let text = Glue::default().for_plugins(&Origin::host("host"), &declared(natives)).expect("glue");
        let (_, enums) = text.split_once("prelude::*;\n").expect("the head");
        expect_test::expect![[r#"

            /// A mood.
            #[uenum(imported, package = "Test")]
            #[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
            #[repr(i16)]
            pub enum Mood {
                #[default]
                Calm = 0,
                Angry = -300,
            }

            #[uenum(imported, package = "Test", flags)]
            #[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
            #[repr(u8)]
            pub enum Rights {
                Read = 1,
                Write = 2,
            }
        "#]]
        .assert_eq(enums);
    }

    #[test]
    fn a_delegate_is_written_by_its_name_and_where_it_is_used() {
        let bool = (PropertyKind::BOOL, "");
        let on_opened = NativeDelegate::multicast("Test", "OnOpened")
            .param("by", (PropertyKind::NAME, ""))
            .doc("A door was opened.");
        let may_open = NativeDelegate::single("Test", "MayOpen").of_class("Door").result(bool);
        let door = door("Door")
            .property("on_opened", (PropertyKind::MULTICAST_DELEGATE, "/Script/Test.OnOpened(Name)"), 0, "")
            .property("may_open", (PropertyKind::DELEGATE, "/Script/Test.Door:MayOpen(-> bool)"), 0, "");
        let natives = Natives::in_package("Test").delegate(on_opened).delegate(may_open).class(door);
        let declared = declared(natives);
        let text = Glue::default().for_plugins(&Origin::host("host"), &declared).expect("glue");
        let (_, types) = text.split_once("prelude::*;\n").expect("the head");
        expect_test::expect![[r#"

            #[udelegate(imported, single, of = Door)]
            pub type MayOpen = fn() -> bool;

            /// A door was opened.
            #[udelegate(imported, multicast, package = "Test")]
            pub type OnOpened = fn(by: UName);

            #[uclass(imported, package = "Test", base = Object)]
            pub struct Door {
                #[uproperty]
                width: f64,
                #[uproperty]
                on_opened: OnOpened,
                #[uproperty]
                may_open: MayOpen,
            }
        "#]]
        .assert_eq(types);
        let text = Glue::default().for_host(&Origin::host("host"), &declared).expect("glue");
        assert!(text.contains("on_opened \"on_opened\"(Name) -> ();"), "{text}");
        assert!(text.contains("may_open \"may_open\"() -> bool;"), "{text}");
    }

    #[test]
    fn a_parameter_in_host_memory_borrows_its_argument() {
        let parcel = NativeStruct::new("Test", "Parcel").field("to", (PropertyKind::STRING, ""));
        let spot = NativeStruct::new("Test", "Spot").field("x", (PropertyKind::F64, ""));
        let (parcel_type, spot_type) =
            ((PropertyKind::STRUCT, "/Script/Test.Parcel"), (PropertyKind::STRUCT, "/Script/Test.Spot"));
        let params = [
            ("name", (PropertyKind::STRING, "")),
            ("spot", spot_type),
            ("parcel", parcel_type),
            ("keys", (PropertyKind::ARRAY, "Name")),
            ("done", (PropertyKind::DELEGATE, "u32")),
            ("kind", (PropertyKind::SUBCLASS_OF, "/Script/Test.Door")),
            ("by", (PropertyKind::OBJECT, "/Script/Test.Door")),
        ];
        let door = door("Door").function("open", &params, Some(parcel_type), 0, |_world, _frame| Ok(()));
        let natives = Natives::in_package("Test").structure(parcel).structure(spot).class(door);
        let text = Glue::default().for_plugins(&Origin::host("host"), &declared(natives)).expect("glue");
        expect_test::expect![[r#"

                &self,
                name: String,
                spot: Spot,
                parcel: Borrowed<Parcel>,
                keys: Borrowed<UArray<UName>>,
                done: Borrowed<Delegate<fn(u32)>>,
                kind: Borrowed<SubclassOf<Door>>,
                by: Obj<Door>,
            ) -> Parcel;
        }
        "#]]
        .assert_eq(text.split_once("fn open(").expect("the function").1);
    }

    #[test]
    fn two_types_of_one_name_are_refused_and_can_be_written_apart() {
        let other = NativeClass::new("Other", "Door", "/Script/Test.Door");
        let natives = Natives::in_package("Test").class(door("Door"));
        let runtime = Runtime::builder().natives(natives).natives(Natives::in_package("Other").class(other));
        let declared = runtime.declared().unwrap();
        let origin = Origin::host("host");
        let error = Glue::default().for_plugins(&origin, &declared).unwrap_err().to_string();
        assert!(error.contains("/Script/Test.Door") && error.contains("--only"), "{error}");
        let other = Glue::default().only("Other");
        let error = other.for_plugins(&origin, &declared).unwrap_err().to_string();
        assert!(error.contains("--package Test="), "{error}");
        let text = other.package("Test=crate::test".parse().unwrap()).for_plugins(&origin, &declared).unwrap();
        assert!(
            text.contains("#[uclass(imported, package = \"Other\", base = crate::test::Door)]\npub struct Door {}"),
            "{text}"
        );
    }

    #[test]
    fn a_class_called_object_is_not_the_root() {
        let natives = Natives::in_package("Test").class(door("Object")).class(NativeClass::new(
            "Test",
            "Door",
            "/Script/Test.Object",
        ));
        let declared = declared(natives);
        let text = Glue::default().for_plugins(&Origin::host("host"), &declared).unwrap();
        assert!(text.contains("base = alcedo_plugin_api::Object)]\npub struct Object {"), "{text}");
        assert!(text.contains("base = Object)]\npub struct Door {}"), "{text}");
        let text = Glue::default().for_host(&Origin::host("host"), &declared).unwrap();
        assert!(text.contains("pub Object: alcedo::host::Object = \"/Script/Test.Object\""), "{text}");
    }
}
