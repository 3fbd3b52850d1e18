//! Accesses conjugates by handle, for calls without static types.

use alcedo_abi::handles::{BlackHandle, ConjugateHandle, TypeNumber};
use alcedo_abi::values::{ConjugateState, RawLocation, color};

use super::arguments::{LastingLocation, MadeAt};
use super::owned_values;
use crate::boundary::CallError;
use crate::bridge::conjugates;
use crate::bridge::core::Core;
use crate::conjugate::Color;
use crate::handles::ModuleId;

pub(super) fn conjugate_state(core: &Core, conjugate: ConjugateHandle) -> Result<ConjugateState, CallError> {
    let state = conjugates::state(core, conjugate)?;
    let age = state.facts.age;
    Ok(ConjugateState {
        color: match state.color {
            Color::Red => color::RED,
            Color::Black => color::BLACK,
        },
        expired: u8::from(state.is_expired),
        kind: state.facts.kind,
        older: u8::from(!age.is_exact),
        age: u64::try_from(age.at_least.as_nanos()).unwrap_or(u64::MAX),
    })
}

pub(super) fn conjugate_borrow(_core: &Core, location: LastingLocation<'_>) -> Result<ConjugateHandle, CallError> {
    location.borrow_red()
}

pub(super) fn conjugate_open(core: &Core, conjugate: ConjugateHandle) -> Result<RawLocation, CallError> {
    let opened = conjugates::open(core, conjugate)?;
    Ok(RawLocation { owner: opened.owner, at: opened.at, ty: opened.number })
}

pub(super) fn conjugate_open_as(
    core: &Core,
    conjugate: ConjugateHandle,
    ty: TypeNumber,
) -> Result<RawLocation, CallError> {
    let opened = conjugates::open_as(core, conjugate, &core.value_types.get(ty)?)?;
    Ok(RawLocation { owner: opened.owner, at: opened.at, ty })
}

pub(super) fn conjugate_clone(
    core: &Core,
    module: ModuleId,
    conjugate: ConjugateHandle,
    site: MadeAt<'_>,
) -> Result<BlackHandle, CallError> {
    let (value, number) = conjugates::copy(core, conjugate)?;
    owned_values::keep(core, module, number, value, &site)
}

pub(super) fn conjugate_type(core: &Core, conjugate: ConjugateHandle) -> Result<String, CallError> {
    Ok(conjugates::open(core, conjugate)?.ty.to_string())
}
