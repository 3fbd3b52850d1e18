//! Tests of the table layouts. The functions before the mark `last_prefix_field` never change. New functions are added after the mark.

use crate::fingerprint::Fingerprint;
use crate::host::HostTable;
use crate::module::Module;
use crate::values::ValueTable;

/// Number of functions in each table when the table's mark was set.
const BEFORE_THE_MARK: [usize; 2] = [crate::MARKED_HOST_FUNCTIONS, crate::MARKED_VALUE_FUNCTIONS];

#[test]
fn every_function_is_at_the_offset_of_the_list() {
    for forms in [HostTable::FORMS, ValueTable::FORMS, Module::FORMS] {
        for (index, (offset, form)) in forms.iter().enumerate() {
            assert_eq!(*offset, index * size_of::<usize>(), "{form}");
        }
    }
    assert_eq!(size_of::<HostTable>(), HostTable::NAMES.len() * size_of::<usize>());
    assert_eq!(size_of::<ValueTable>(), ValueTable::NAMES.len() * size_of::<usize>());
    assert_eq!(size_of::<Module>(), Module::NAMES.len() * size_of::<usize>());
}

#[test]
fn entries_before_the_mark_never_change() {
    let print = |forms: &[(usize, &str)]| {
        let without_spaces = |form: &str| form.split_whitespace().collect::<String>();
        forms.iter().fold(Fingerprint::START, |print, (_, form)| print.text(&without_spaces(form))).finish()
    };
    let [host, values] = BEFORE_THE_MARK;
    let found = [print(&HostTable::FORMS[..host]), print(&ValueTable::FORMS[..values]), print(&Module::FORMS[..14])];
    let expected = [13_848_893_202_403_179_298, 13_789_162_985_481_977_784, 14_318_661_585_896_995_821];
    assert_eq!(found, expected, "a module that was built before this change would call the wrong functions");
}

#[test]
fn the_host_api_grows_with_the_lists() {
    let behind = HostTable::NAMES.len() + ValueTable::NAMES.len() - BEFORE_THE_MARK.iter().sum::<usize>();
    assert_eq!(crate::API_CURRENT as usize, 4 + behind);
}
