//! Items used by macro expansions in plugins. Not for plugin authors: names and signatures may change at any time. Safe code that uses
//! these items cannot cause undefined behavior.

mod c_functions;
mod conversions;
mod declared;
mod defaults;
mod delegates;
mod describe;
mod direct;
mod enums;
mod interfaces;
mod macros;
mod member_names;
mod members;
mod net;
mod owned;
mod part_hooks;
mod registry;
mod returned;
mod root;
mod started;
mod trampolines;

pub use ::core;
pub use alcedo_abi::abi_stable::library::LibHeader;
pub use alcedo_abi::default_part::{BuildDefault, DefaultPart, Probe};
pub use alcedo_abi::describe::{
    CONVERTS, CParam, Cell, ClassDesc, DelegateDesc, EntryDesc, EntryTables, EnumDesc, EnumEntryDesc, ExportDesc,
    ImportDesc, InterfaceDesc, MetaDesc, Metadata, StructDesc, TableDesc, meta,
};
pub use alcedo_abi::enums::enum_entry;
pub use alcedo_abi::interface_check::{InterfaceFunction, declared_as, first_absent};
pub use alcedo_abi::kinds::{CallingConvention, PropertyKind, class_flags, function_flags, property_flags};
pub use alcedo_abi::manifest;
pub use alcedo_abi::names::unraw;
pub use alcedo_abi::override_check::{EventOf, NoEvent, NoEvents};
pub use alcedo_abi::permissions::{Permission, Permissions};
pub use alcedo_abi::type_text::contains;
pub use alcedo_abi::zcall::Slot;
pub use alcedo_abi::{__alcedo_join as join, __alcedo_member_paths as member_paths, __alcedo_section as section};
pub use alcedo_rt::{__alcedo_hooks as hook_names, COMPILER, HOOKED, ModuleHeap, OWN_HEAP, fail};
pub use linkme;
pub use std::sync::OnceLock;

pub use crate::cells::{ClassCell, FunctionCell, ImportCell};
pub use crate::class::{ClassView, Members, Part};
pub use crate::delegate_signature::{Named, NamedSignature, Signature};
pub use crate::direct::{Called, CalledAs};
pub use crate::keep::packed::{Packed, Packer, Packing, SavedByName, Unpacker};
pub use crate::keep::{Keep, KeptWriter, Restore, restore, unknown_field};
pub use crate::kinds::with_open;
pub use crate::kinds::{
    Delegate, Field, FieldPlace, FieldType, MulticastDelegate, Owned, Passed, Ptr, PtrMut, Red, SparseDelegate, Stored,
    Temp, ValidityToken, Viewable, blank, borrowed_view, field, set_field,
};
pub use crate::out::{Out, OutParameters, OutValue};
pub use crate::part_cell::PartCell;
pub use crate::property::{Cells, PropertyCell};
pub use crate::ptr::{ArgumentSlot, ResultSlot};
pub use crate::signature::ValueType;
pub use crate::tables::{
    EntryFn, HostEntries, ModuleEntries, entry, entry_print, not_filled, run_entry, table, tables_of,
};
pub use crate::this::InterfaceThis;
pub use crate::thunk::Frame;
pub use crate::value::{ByPointer, NoDefault, address_slot};
pub use crate::{
    __alcedo_c_call as c_call, __alcedo_calls as calls, __alcedo_class as class, __alcedo_copied_value as copied_value,
    __alcedo_declare as declare, __alcedo_delegate as delegate, __alcedo_earlier_names as earlier_names,
    __alcedo_enum as enumeration, __alcedo_export as export, __alcedo_heap as heap, __alcedo_if_used as if_used,
    __alcedo_import as import, __alcedo_interface as interface, __alcedo_keep_section as keep_section,
    __alcedo_module as module, __alcedo_owned as owned_type, __alcedo_owned_value as owned_value, __alcedo_pod as pod,
    __alcedo_properties as properties, __alcedo_register as register, __alcedo_retain as retain,
    __alcedo_struct as structure, __alcedo_type_record as type_record, __alcedo_view as view,
};
pub use crate::{Borrowed, IntoHost, Kind};
pub use crate::{CallError, Class, Interface, ObjectView, Params, Plain, ReturnValue, This, Value};
pub use c_functions::{GiveBack, c_accepts, c_returns, dll_import, invoke_import};
pub use conversions::{converted, is_same_type};
pub(crate) use declared::SignatureWords;
pub use declared::{
    Body, Declared, Function, FunctionOf, Hook, NoBody, Property, all_functions, class as class_description,
    count_functions, custom_thunk, earlier_names as earlier_names_of, enumeration as enum_description,
    export as export_description, hook, implementable_event, import_class, import_enumeration, import_function,
    import_overridden, import_property, import_structure, member_name, method, property as property_description,
    section_of, static_method, structure as structure_description,
};
pub use defaults::{PluginState, WithoutARedConstructor, the_finalizer_thread_drops};
pub use delegates::{NamedDelegate, delegate as delegate_description, import_delegate, name_in, package_of};
pub use describe::{SignatureBlock, Words, field_descriptions, is_struct};
pub use enums::{
    OfText, Underlying, entry_number, enum_number, fits_a_byte, numbers, put_enum_number, scripts_have, unknown_entry,
};
pub use interfaces::{
    Bodies, compared, crosses, has_signature, import_interface, import_interface_function,
    interface as interface_description, interface_function, interface_path,
};
pub use member_names::{assert_no_accessor, assert_no_property, no_event};
pub use members::{base_ref, debug_view, invoke_member, invoke_static_member, or_end, read_member, write_member};
pub use net::{net_load, net_save};
pub use owned::{
    are_owned_equal, clone_owned, debug_owned, is_owned_expired, load_owned, new_owned, owned_at, owned_out,
    owned_slot, parse_owned, print_owned, store_owned,
};
pub use registry::{CLASSES, DELEGATES, EARLIER_NAMES, ENUMS, EXPORTS, IMPORTS, INTERFACES, STRUCTS, listed};
pub use returned::{ErrorInWords, Returned, SourceLocation, error_in_words};
pub use root::{COMPILED_ONCE, MainFn, ModuleHooks, Outcome, lib_header, run_hook, run_main};
pub use started::{Settled, error_done, nothing_done, start_task, value_done, value_or_error_done};
pub(crate) use trampolines::typed_slots;
pub use trampolines::{
    Arguments, CustomThunk, Exclusive, Export, Held, Method, MethodNames, Methods, Shared, Untouched,
};

/// Result of a function in the expansion of a macro.
pub type CallResult<T> = Result<T, CallError>;
