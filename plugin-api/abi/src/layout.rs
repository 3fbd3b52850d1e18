//! Hash of the layouts of all types that cross the ABI boundary by value. The hash is stored in the manifest section, so the host can
//! refuse a plugin with different layouts before it maps the file. After mapping, `abi_stable` checks the remaining types.

use core::mem::{align_of, offset_of, size_of};

use crate::call::{Call, Failure};
use crate::describe::{
    ClassDesc, DelegateDesc, EnumDesc, EnumEntryDesc, ExportDesc, FunctionDesc, ImportDesc, InterfaceDesc, MetaDesc,
    PartHooks, PropertyDesc, SignatureDesc, StructDesc,
};
use crate::direct::{Batch, BatchItem, DirectAnswer, DirectMethod};
use crate::fingerprint::Fingerprint;
use crate::hooks::{HookContext, HookSlot, HookTable};
use crate::host::{BlackDirectory, BlackEntry, Directory, DirectoryEntry, ModuleContext, Slices};
use crate::host_direct::{DirectCallee, EachCall};
use crate::log::{LogField, LogRecord};
use crate::stack::StackSpan;
use crate::task::Job;
use crate::value::{
    ArrayRaw, DelegateRaw, KeepSink, LazyRaw, LocalTextRaw, MapRaw, SparseRaw, TextRaw, TextSink, TextView,
};
use crate::values::{ConjugateState, RawLocation, Site};
use crate::zcall::{Slot, ZCallBuffer};

macro_rules! layout {
    ($($type:ident { $($field:ident),* $(; $private:literal)? })*) => {{
        let mut print = Fingerprint::START.text(CHECKER);
        $(
            layout!(@complete $type { $($field),* } $($private)?);
            print = print
                .text(stringify!($type))
                .number(size_of::<$type>() as u64)
                .number(align_of::<$type>() as u64)
                $(.text(stringify!($field)).number(offset_of!($type, $field) as u64))*;
        )*
        print.finish()
    }};
    // Causes a compile error if the list omits a field.
    (@complete $type:ident { $($field:ident),* }) => {
        let _ = |value: &$type| {
            let $type { $($field: _),* } = value;
        };
    };
    (@complete $type:ident {} $private:literal) => {};
}

/// Crate whose types cross the ABI boundary, with the version that the workspace pins.
const CHECKER: &str = "abi_stable 0.11.3";

/// Fingerprint of the sizes, alignments and field offsets of the types that cross the ABI boundary by value. Prefix types are excluded,
/// because their size may grow.
pub const LAYOUT_HASH: u64 = layout! {
    Slot { ; "its fields are private; size and alignment are sufficient" }
    ZCallBuffer { slots, len }
    TextRaw { data, len, capacity }
    TextView { data, len }
    TextSink { context, put }
    KeepSink { context, put }
    LocalTextRaw { display, namespace, key }
    LazyRaw { high, low }
    ArrayRaw { data, len, capacity, epoch, reserved }
    MapRaw { entries, index }
    DelegateRaw { object, function, reserved }
    SparseRaw { list }
    RawLocation { owner, at, ty }
    Site { file, line }
    ConjugateState { color, expired, kind, older, age }
    Call { object, memory, part, params, failure }
    Failure { kind, line, column, object, message, file, held, expected }
    LogField { name, value }
    LogRecord { level, line, target, message, file, fields }
    MetaDesc { key, value }
    PropertyDesc { name, kind, type_path, flags, default, doc, meta, offset, cell }
    FunctionDesc { name, flags, overrides, params, params_size, params_align, fingerprint, invoke, direct, cell, doc, meta }
    PartHooks {
        red_constructor, class_constructor, post_init_properties, save_kept, load_kept, kept_print, kept_count, pack_kept,
        unpack_kept, finalize
    }
    ClassDesc {
        package, name, base, flags, properties, functions, hooks, cell, doc, implements, subobject_classes, default_overrides
    }
    SignatureDesc { name, flags, params, fingerprint, doc }
    InterfaceDesc { package, name, functions, doc }
    StructDesc { package, name, size, align, fields, fingerprint, doc }
    EnumEntryDesc { name, number, display, doc, hidden }
    EnumDesc { package, name, underlying, flags, entries, fingerprint, doc }
    DelegateDesc { package, class, name, kind, params, fingerprint, doc }
    ImportDesc { kind, path, fingerprint, expected, fields, cell }
    ExportDesc { type_path, name, fingerprint, signature, invoke, direct }
    BatchItem { object, memory, part }
    Batch { items, len, at, words, results, directory, ends, condition, ended, unmet, failure }
    DirectMethod { call, batch }
    HookSlot { magic, context }
    HookContext { table, image, stop, sets_loggers }
    HookTable {
        thread_atexit, key_create, key_delete, key_set, thread_create, thread_join, thread_detach, map, unmap, remap,
        signal_action, signal, at_exit, on_exit, malloc, calloc, realloc, memalign, free, fd_opened, fd_closed,
        heap_grow, heap_shrink, frame_registered, frame_deregistered, stream_open, stream_bound, stream_closed, log_open,
        random_init, random_set, thread_named,
        alternate_stack, interval_timer, alarm, ualarm, timer_create, timer_delete, queue_notify, io_begin,
        io_begin_list, names_begin, fd_signals, jumps, child_started,
        block_made, block_borrowed, segment_attach, segment_detach, stream_opened, looked_up,
        refuses
    }
    ModuleContext { host, table, values, module, generation, mode, directory, slices, owned_values, direct, stack, level }
    StackSpan { low, len }
    DirectAnswer { status, bits }
    DirectCallee { code, context, version }
    EachCall { objects, count, slots, len, results, failures, failed }
    Slices { out, module }
    Directory { entries, len, ends }
    DirectoryEntry { serial, class, memory }
    BlackDirectory { entries, len, ends }
    BlackEntry { serial, at }
    Job { kind, line, object, delay, period, data, run, drop, file }
};

#[cfg(test)]
mod tests {
    use super::CHECKER;

    /// Checks that the hash depends on the pinned version, so that a host refuses a module with a different version before mapping it.
    #[test]
    fn the_hash_contains_the_pinned_version_of_abi_stable() {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
        let manifest = std::fs::read_to_string(manifest).expect("the manifest of the workspace");
        let (name, version) = CHECKER.split_once(' ').expect("a name and a version");
        assert!(
            manifest.contains(&format!("{name} = {{ version = \"={version}\",")),
            "{CHECKER} is not the pinned version"
        );
    }
}
