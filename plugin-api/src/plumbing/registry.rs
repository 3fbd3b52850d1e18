//! Where the declarations of a module meet: slices that the linker fills. The host reads them after `attach`.
#![expect(unsafe_code, reason = "reads the section of used imports, whose ends the linker defines")]

use alcedo_abi::abi_stable::std_types::RSlice;
use alcedo_abi::describe::{
    ClassDesc, DelegateDesc, EnumDesc, ExportDesc, ImportDesc, InterfaceDesc, MetaDesc, StructDesc,
};
use linkme::distributed_slice;
use std::sync::OnceLock;

use super::declared::Declared;
use super::shells::bare;

/// The structs this module declares.
#[distributed_slice]
pub static STRUCTS: [&'static Declared<StructDesc>];

/// The enums this module declares.
#[distributed_slice]
pub static ENUMS: [&'static Declared<EnumDesc>];

/// The delegates with a name that this module declares.
#[distributed_slice]
pub static DELEGATES: [&'static Declared<DelegateDesc>];

/// The classes this module declares.
#[distributed_slice]
pub static CLASSES: [&'static Declared<ClassDesc>];

/// The interfaces this module declares.
#[distributed_slice]
pub static INTERFACES: [&'static Declared<InterfaceDesc>];

/// Imports of this module that are compared even if no code uses them.
#[distributed_slice]
pub static IMPORTS: [&'static Declared<ImportDesc>];

/// The static functions this module offers.
#[distributed_slice]
pub static EXPORTS: [&'static Declared<ExportDesc>];

/// Paths of types and members this module declares, with their earlier names.
#[distributed_slice]
pub static EARLIER_NAMES: [&'static Declared<MetaDesc>];

pub(super) extern "C" fn structs() -> RSlice<'static, &'static StructDesc> {
    RSlice::from_slice(bare(STRUCTS.static_slice()))
}

pub(super) extern "C" fn enums() -> RSlice<'static, &'static EnumDesc> {
    RSlice::from_slice(bare(ENUMS.static_slice()))
}

pub(super) extern "C" fn delegates() -> RSlice<'static, &'static DelegateDesc> {
    RSlice::from_slice(bare(DELEGATES.static_slice()))
}

pub(super) extern "C" fn classes() -> RSlice<'static, &'static ClassDesc> {
    RSlice::from_slice(bare(CLASSES.static_slice()))
}

pub(super) extern "C" fn interfaces() -> RSlice<'static, &'static InterfaceDesc> {
    RSlice::from_slice(bare(INTERFACES.static_slice()))
}

pub(super) extern "C" fn imports() -> RSlice<'static, &'static ImportDesc> {
    static ALL: OnceLock<Vec<&'static ImportDesc>> = OnceLock::new();
    let all = || {
        let mut used = used_imports().to_vec();
        used.sort_unstable_by_key(|import| core::ptr::from_ref(*import).addr());
        used.dedup_by(|one, other| core::ptr::eq(*one, *other));
        let used = used.iter().map(|import| &***import);
        bare(IMPORTS.static_slice()).iter().copied().chain(used).collect()
    };
    RSlice::from_slice(ALL.get_or_init(all))
}

/// Returns the imports whose cells code in the image uses, once for each call site.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
fn used_imports() -> &'static [&'static Declared<ImportDesc>] {
    unsafe extern "C" {
        #[link_name = "__start_alcedo_uses"]
        static START: [&'static Declared<ImportDesc>; 0];
        #[link_name = "__stop_alcedo_uses"]
        static STOP: [&'static Declared<ImportDesc>; 0];
    }
    // SAFETY: the assembly has no instruction. An empty section that stays makes the linker define both ends where nothing is used.
    unsafe {
        core::arch::asm!(
            ".pushsection alcedo_uses, \"awR\", @progbits",
            ".popsection",
            options(nomem, nostack, preserves_flags)
        );
    }
    let (start, stop) = (&raw const START, &raw const STOP);
    let len = (stop.addr() - start.addr()) / size_of::<&Declared<ImportDesc>>();
    // SAFETY: the linker puts the two around the section, which `import!` alone fills: with addresses of statics of this type.
    unsafe { core::slice::from_raw_parts(start.cast(), len) }
}

/// Returns nothing: all imports are in the other list.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
fn used_imports() -> &'static [&'static Declared<ImportDesc>] {
    &[]
}

pub(super) extern "C" fn exports() -> RSlice<'static, &'static ExportDesc> {
    RSlice::from_slice(bare(EXPORTS.static_slice()))
}

pub(super) extern "C" fn earlier_names() -> RSlice<'static, &'static MetaDesc> {
    RSlice::from_slice(bare(EARLIER_NAMES.static_slice()))
}
