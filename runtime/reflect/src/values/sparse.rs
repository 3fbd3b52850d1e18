//! Any number of delegates where there mostly is none: a pointer to a list, which is made when it is needed.
#![expect(unsafe_code, reason = "the list lies in memory of its own")]

use std::alloc::Layout;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::{ArrayRaw, SparseRaw};
use alcedo_base::handles::ObjectHandle;

use super::delegate::{self, NATURE};
use super::multicast::{Multicast, several};
use super::ptr::{Mut, Ref};
use super::{Form, Kind, Offer};
use crate::block;
use crate::convert::Conversion;
use crate::names::Names;
use crate::nested::ElementType;
use crate::property::PropertyType;
use crate::structs::Nature;
use crate::text::scan::Scanner;
use crate::text::{ParseError, listed};
use crate::transfer::WrongType;
use crate::value::Binding;

pub(crate) struct Sparse;

/// The list of a sparse delegate, made if there is none.
///
/// # Safety
/// `at` is an aligned [`SparseRaw`] in host memory that nobody else reads or writes meanwhile.
pub(crate) unsafe fn list(at: *mut SparseRaw) -> *mut ArrayRaw {
    // SAFETY: the caller promises the value.
    let list = unsafe { at.read() }.list;
    if !list.is_null() {
        return list;
    }
    let layout = Layout::new::<ArrayRaw>();
    let list = block::take(layout).unwrap_or_else(|| std::alloc::handle_alloc_error(layout));
    let list = list.as_ptr().cast::<ArrayRaw>();
    // SAFETY: it was just taken with that layout.
    unsafe { list.write(ArrayRaw::EMPTY) };
    // SAFETY: the caller promises the value to write.
    unsafe { at.write(SparseRaw { list }) };
    list
}

impl<'a> Ref<'a, Sparse> {
    /// Its list, or that one when there is none.
    fn list_or(self, empty: &'a ArrayRaw) -> Ref<'a, Multicast> {
        let list = self.raw().list.cast_const();
        let list = if list.is_null() { std::ptr::from_ref(empty) } else { list };
        // SAFETY: the pointer was promised a sparse delegate: its list is one of delegates, and an empty row is one too.
        unsafe { Ref::new(list.cast(), self.of()) }
    }
}

impl Mut<'_, Sparse> {
    /// Its list, made if there is none.
    fn list(&self) -> Mut<'_, Multicast> {
        // SAFETY: the pointer was promised such a value in host memory, to write.
        let list = unsafe { list(self.at().cast()) };
        // SAFETY: the list of the value, which nobody else has.
        unsafe { Mut::new(list.cast(), self.of()) }
    }
}

impl Kind for Sparse {
    type Of = Rc<ElementType>;
    type Raw = SparseRaw;
    const KIND: PropertyKind = PropertyKind::SPARSE_DELEGATE;

    several!();

    fn copy(to: Mut<'_, Self>, from: Ref<'_, Self>) {
        if from.raw().list.is_null() {
            return Self::destroy(to);
        }
        Multicast::copy(to.list(), from.list_or(&ArrayRaw::EMPTY));
    }

    fn equal(one: Ref<'_, Self>, two: Ref<'_, Self>) -> bool {
        let empty = ArrayRaw::EMPTY;
        Multicast::equal(one.list_or(&empty), two.list_or(&empty))
    }

    fn hash(at: Ref<'_, Self>, hasher: &mut dyn Hasher) {
        Multicast::hash(at.list_or(&ArrayRaw::EMPTY), hasher);
    }

    fn destroy(at: Mut<'_, Self>) {
        let list = at.raw().list;
        if list.is_null() {
            return;
        }
        Multicast::destroy(at.list());
        at.zero();
        // SAFETY: only `list` makes a list, and the value has just forgotten it.
        unsafe { block::give_back(list.cast(), Layout::new::<ArrayRaw>()) };
    }

    fn visit_objects(at: Ref<'_, Self>, visit: &mut dyn FnMut(ObjectHandle)) {
        Multicast::visit_objects(at.list_or(&ArrayRaw::EMPTY), visit);
    }

    fn map_objects(at: Mut<'_, Self>, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) {
        if !at.raw().list.is_null() {
            Multicast::map_objects(at.list(), map);
        }
    }

    fn read(at: Ref<'_, Self>) -> Vec<Binding> {
        Multicast::read(at.list_or(&ArrayRaw::EMPTY))
    }

    fn write(at: Mut<'_, Self>, value: &Vec<Binding>) {
        if value.is_empty() {
            return Self::destroy(at);
        }
        Multicast::write(at.list(), value);
    }
}
