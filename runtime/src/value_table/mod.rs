//! The functions that plugins handle values by. The shells stand by what they are about, a file each; what they hand on to
//! thinks in safe code.

mod blacks;
mod conjugates;
mod containers;
mod delegates;
mod links;
mod plain;

use abi_stable::prefix_type::WithMetadata;
use alcedo_abi::abi_stable;
use alcedo_abi::values::{ValueTable, ValueTableRef};

/// The table every module is attached with.
pub(crate) fn table() -> ValueTableRef {
    const TABLE: WithMetadata<ValueTable> = WithMetadata::new(ValueTable {
        type_resolve: plain::type_resolve,
        black_new: blacks::black_new,
        black_drop: blacks::black_drop,
        copy: plain::copy,
        equal: plain::equal,
        hash: plain::hash,
        print: plain::print,
        parse: plain::parse,
        clear: plain::clear,
        ansi_assign: plain::ansi_assign,
        array_splice: containers::array_splice,
        array_reserve: containers::array_reserve,
        map_find: containers::map_find,
        map_insert: containers::map_insert,
        map_remove: containers::map_remove,
        reference_assign: links::reference_assign,
        reference_resolve: links::reference_resolve,
        class_assign: links::class_assign,
        class_resolve: links::class_resolve,
        object_path: links::object_path,
        delegate_bind: delegates::delegate_bind,
        delegate_unbind: delegates::delegate_unbind,
        delegate_call: delegates::delegate_call,
        field_assign: links::field_assign,
        field_type: links::field_type,
        object_rename: links::object_rename,
        collect: links::collect,
        conjugate_state: conjugates::conjugate_state,
        conjugate_lend: conjugates::conjugate_lend,
        conjugate_open: conjugates::conjugate_open,
        conjugate_clone: conjugates::conjugate_clone,
        conjugate_type: conjugates::conjugate_type,
        conjugate_zcall: conjugates::conjugate_zcall,
        conjugate_open_as: conjugates::conjugate_open_as,
        zcall_result: conjugates::zcall_result,
    });
    static STATIC: &WithMetadata<ValueTable> = &TABLE;
    ValueTableRef(STATIC.static_as_prefix())
}

#[cfg(test)]
mod link_tests;
#[cfg(test)]
mod tests;
