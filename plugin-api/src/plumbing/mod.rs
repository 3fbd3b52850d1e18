//! What the macros of this crate write into a plugin. Not for authors: names and shapes change without notice, and
//! the unsafe ones rest on promises that only the macros keep.

mod defaults;
mod describe;
mod macros;
mod members;
mod owned;
mod registry;
mod root;
mod shells;

pub use alcedo_abi::abi_stable::std_types::{ROption, RSlice, RStr};
pub use alcedo_abi::call::Invoke;
pub use alcedo_abi::describe::{
    Cell, ClassDesc, ExportDesc, FunctionDesc, ImportDesc, ImportKind, InterfaceDesc, PropertyDesc, StructDesc,
    ZCallInvoke,
};
pub use alcedo_abi::fingerprint::Fingerprint;
pub use alcedo_abi::kinds::{PropertyKind, class_flags, function_flags, property_flags};
pub use alcedo_abi::manifest;
pub use alcedo_abi::zcall::Slot;
pub use alcedo_rt::{__alcedo_hooks as hook_names, COMPILER, HOOKED, ModuleHeap, OWN_HEAP, fail};
pub use linkme;

pub use crate::class::Part;
pub use crate::keep::{Keep, Restore, restore, unknown_field};
pub use crate::kinds::{Owned, Passed, Red, Spot, field, field_of, set_field};
pub use crate::part_cell::PartCell;
pub use crate::signature::{ValueType, fingerprint};
pub use crate::value::{NoDefault, address_slot, pointer_of, pointer_slot, pointer_slot_out};
pub use crate::{
    __alcedo_allocator as allocator, __alcedo_call as call, __alcedo_class as class, __alcedo_emit_class as emit_class,
    __alcedo_export as export, __alcedo_hook as hook, __alcedo_import as import, __alcedo_interface as interface,
    __alcedo_join as join, __alcedo_manifest as manifest_section, __alcedo_owned as owned_type, __alcedo_pod as pod,
    __alcedo_property as property, __alcedo_red as red, __alcedo_register as register, __alcedo_root as root,
    __alcedo_struct as structure, __alcedo_type_record as type_record,
};
pub use crate::{CallError, Class, Interface, ObjectFace, Params, Plain, ReturnValue, This, Value};
pub use crate::{Give, Kind, Lent};
pub use defaults::{BuildDefault, DefaultPart, PluginState, Probe, WithoutARedConstructor, the_finalizer_thread_drops};
pub use describe::{
    Body, base_fingerprint, block, field_offsets, function, interface_path, joined, joined_len, parameter, property,
    property_fingerprint, result, struct_fingerprint,
};
pub use members::{base_ref, invoke_member, read_member, write_member};
pub use owned::{
    are_owned_equal, clone_owned, debug_owned, is_owned_expired, lend, load_owned, new_owned, owned_at, owned_out,
    owned_slot, parse_owned, print_owned, store_owned,
};
pub use registry::{CLASSES, EXPORTS, IMPORTS, INTERFACES, STRUCTS};
pub use root::{LibHeader, MainFn, ModuleHooks, lib_header, run_main};
pub use shells::{Exclusive, Export, Held, Keeper, Method, NoBody, Shared, export_shell, hooks, invoke};
