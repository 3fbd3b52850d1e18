//! Conjugates by number, for calls that know no types.
#![expect(unsafe_code, reason = "the shells turn raw words of the border into references")]

use std::time::Instant;

use alcedo_abi::call::{Failure, Status};
use alcedo_abi::handles::{BlackHandle, ConjugateHandle, TypeNumber, ZCallHandle};
use alcedo_abi::host::HostRef;
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::TextSink;
use alcedo_abi::values::{ConjugateState, Place, Site, color};
use alcedo_abi::zcall::{ZCallBuffer, ZCallStatus};

use super::blacks;
use crate::border::into_module;
use crate::bridge::conjugate_calls;
use crate::bridge::conjugates::{self, State, nanoseconds};
use crate::conjugate::Color;
use crate::conjugate::blacks::Opened;
use crate::handles::ModuleId;
use crate::host_table::{give_text, word};
use crate::zcall::buffer::BufferMut;
use crate::zcall::table::status_of;

pub(super) unsafe extern "C" fn conjugate_state(
    host: HostRef,
    conjugate: ConjugateHandle,
    out: &mut ConjugateState,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        let ask = |core: &std::rc::Rc<_>| conjugates::state(core, conjugate, Instant::now());
        *out = as_data(host.enter("asking about a conjugate", ask)?);
        Ok(())
    })
}

fn as_data(state: State) -> ConjugateState {
    let (age, older) = nanoseconds(state.facts.age);
    ConjugateState {
        color: match state.color {
            Color::Red => color::RED,
            Color::Black => color::BLACK,
        },
        expired: u8::from(state.is_expired),
        kind: state.facts.kind,
        older: u8::from(older),
        age,
    }
}

pub(super) unsafe extern "C" fn conjugate_lend(
    host: HostRef,
    place: &Place,
    out: &mut ConjugateHandle,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        *out = host.enter("lending a value", |core| {
            let ty = core.value_types.get(place.ty)?;
            let value = Opened { owner: place.owner, at: place.at, ty, number: place.ty };
            // SAFETY: `ValueTable::conjugate_lend` says so of places without an owner.
            unsafe { conjugates::lend(core, value, Instant::now()) }
        })?;
        Ok(())
    })
}

pub(super) unsafe extern "C" fn conjugate_open(
    host: HostRef,
    conjugate: ConjugateHandle,
    out: &mut Place,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        let opened = host.enter("opening a conjugate", |core| conjugates::open(core, conjugate, Instant::now()))?;
        *out = Place { owner: opened.owner, at: opened.at, ty: opened.number };
        Ok(())
    })
}

pub(super) unsafe extern "C" fn conjugate_open_as(
    host: HostRef,
    conjugate: ConjugateHandle,
    ty: TypeNumber,
    out: &mut Place,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        *out = host.enter("opening a conjugate", |core| {
            let opened = conjugates::open_as(core, conjugate, &core.value_types.get(ty)?, Instant::now())?;
            Ok(Place { owner: opened.owner, at: opened.at, ty })
        })?;
        Ok(())
    })
}

pub(super) unsafe extern "C" fn conjugate_clone(
    host: HostRef,
    module: u64,
    conjugate: ConjugateHandle,
    site: &Site,
    out: &mut BlackHandle,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        *out = host.enter("cloning a conjugate", |core| {
            let (value, number) = conjugates::copy(core, conjugate, Instant::now())?;
            blacks::keep(core, ModuleId(module), number, value, site)
        })?;
        Ok(())
    })
}

pub(super) unsafe extern "C" fn conjugate_type(
    host: HostRef,
    conjugate: ConjugateHandle,
    sink: &TextSink,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        let ty = host.enter("asking for the type of a conjugate", |core| {
            Ok(conjugates::open(core, conjugate, Instant::now())?.ty.to_string())
        })?;
        let _put = give_text(sink, Ok(&ty));
        Ok(())
    })
}

pub(super) unsafe extern "C" fn conjugate_zcall(
    host: HostRef,
    module: u64,
    handle: ZCallHandle,
    buffer: &mut ZCallBuffer,
    failure: &mut Failure,
) -> ZCallStatus {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    // SAFETY: `ValueTable::conjugate_zcall` lends the buffer, live and unshared, until this shell returns.
    let mut buffer = unsafe { BufferMut::from_raw(buffer) };
    let called = host.enter("a ZCall", |core| conjugate_calls::call(core, ModuleId(module), handle, &mut buffer));
    match called {
        Ok(()) => ZCallStatus::SUCCESS,
        Err(error) => {
            *failure = error.to_failure();
            status_of(&error)
        }
    }
}

pub(super) unsafe extern "C" fn zcall_result(
    host: HostRef,
    handle: ZCallHandle,
    out: &mut PropertyKind,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        *out = host.enter("asking what a ZCall gives", |core| conjugate_calls::result(core, handle))?;
        Ok(())
    })
}
