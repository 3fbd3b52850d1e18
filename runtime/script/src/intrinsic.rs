//! Built-in operations on arrays, sets, maps, optionals and delegates.

use alcedo_base::boundary::{CallError, catch_panics};
use alcedo_reflect::World;
use alcedo_reflect::containers::{RowsMut, array, array_ref, keyed, keyed_mut};
use alcedo_reflect::fixed::dim;
use alcedo_reflect::owned::OwnedValue;
use alcedo_reflect::property::{Property, PropertyType};
use alcedo_reflect::value::{Binding, Value};
use alcedo_reflect::values::ptr::{Ptr, PtrMut};
use alcedo_uc::hir::Intrinsic;

use crate::call::bound_function;
use crate::cost;
use crate::exec::{LinkedPlace, LinkedRoot, Slot, Source, Transfer};
use crate::machine::Machine;
use crate::place::Registers;
use crate::rows::{failed, insert_initial, set_len};
use crate::size;
use crate::value::{binding, handle};

fn no_container(ty: &PropertyType) -> CallError {
    CallError::other(format!("a {ty} is not a container of that kind"))
}

impl Machine {
    /// Executes `array.Length = n`.
    pub(crate) fn set_length(
        &self,
        world: &World,
        place: &LinkedPlace,
        length: &Source,
        registers: &Registers,
    ) -> Result<(), CallError> {
        let len = registers.source(length).get::<i32>().unwrap_or_default().max(0) as u32;
        let Some(at) = self.found(registers.write(world, place)?) else { return Ok(()) };
        let ty = &place.property.ty;
        let mut rows = array(at).ok_or_else(|| no_container(ty))?;
        set_len(&mut rows, len, element_of(ty)?)
    }

    /// Performs a container operation. Copies the arguments first, because an argument may be an element of the container that the
    /// operation changes.
    pub(crate) fn intrinsic(
        &self,
        world: &World,
        what: &Intrinsic,
        place: &LinkedPlace,
        args: &[Source],
        to: Option<&Slot>,
        registers: &Registers,
    ) -> Result<Transfer, CallError> {
        let give = |value: Value| -> Result<(), CallError> {
            let Some(slot) = to else { return Ok(()) };
            registers.ptr_mut(slot).write(&value).map_err(|error| CallError::other(error.found))
        };
        let argument = |at: usize| {
            let source = args.get(at).ok_or_else(|| CallError::other("an operand is missing"));
            let copied = |from: Ptr<'_>| {
                cost::add(cost::of(from));
                OwnedValue::copy_of(from)
            };
            source.map(|source| copied(registers.source(source)))
        };
        let whole = |at: usize| argument(at).map(|value| value.as_ptr().get::<i32>().unwrap_or_default());
        let bound = || {
            let value = args.first().map(|source| size::read(registers.source(source))).transpose();
            value.map(|value| value.as_ref().map(binding).unwrap_or_default())
        };
        if *what == Intrinsic::ArraySort {
            let signature = args.first().and_then(|by| registers.source(by).ty().signature()).unwrap_or_default();
            self.sort(world, place, (bound()?, signature), registers)?;
            return Ok(Transfer::Out);
        }
        if what.is_reading() {
            let empty;
            let at = match self.found(registers.read(world, place)?) {
                Some(at) => at,
                // Reads a container that does not exist as its initial value.
                None => {
                    empty = missing(&place.property)?;
                    empty.as_ptr()
                }
            };
            let part = match what {
                Intrinsic::MapGet | Intrinsic::OptionalGet => part_of(at, args, registers)?,
                _ => {
                    give(read_container(world, what, at, args, registers)?)?;
                    return Ok(Transfer::None);
                }
            };
            match (part, to) {
                // Copies the value directly to the register, because a temporary `Value` would take more memory.
                (Some(from), Some(slot)) if *from.ty() == slot.property.ty => {
                    cost::copy(registers.ptr_mut(slot), from);
                }
                (Some(from), Some(_)) => give(size::read(from)?)?,
                (Some(_), None) => {}
                (None, _) => registers.clear(to, to.map(|slot| Value::initial(&slot.property.ty)).as_ref())?,
            }
            return Ok(Transfer::None);
        }
        let Some(mut at) = self.found(registers.write(world, place)?) else {
            registers.clear(to, None)?;
            return Ok(Transfer::None);
        };
        let ty = &place.property.ty;
        let element = || element_of(ty);
        let insert = |at: &mut PtrMut<'_>, index: i32, count: i32| -> Result<(), CallError> {
            let mut rows = array(at.reborrow()).ok_or_else(|| no_container(ty))?;
            let len = rows.len();
            let (Ok(index), Ok(count)) = (u32::try_from(index), u32::try_from(count)) else {
                return Err(CallError::other(format!("{count} elements are inserted at {index} of {len}")));
            };
            // Adds the cost of moving the elements after `index`.
            cost::add(u64::from(len.saturating_sub(index)));
            insert_initial(&mut rows, index, count, element()?)
        };
        let len = |at: &PtrMut<'_>| at.as_ptr().count().unwrap_or_default();
        match what {
            Intrinsic::ArrayAdd => {
                let before = len(&at) as i32;
                insert(&mut at, before, whole(0)?.max(0))?;
                give(Value::I32(before))?;
            }
            Intrinsic::ArrayAddItem | Intrinsic::ArrayInsertItem => {
                let is_add = *what == Intrinsic::ArrayAddItem;
                let item = argument(usize::from(!is_add))?;
                let index = if is_add { len(&at) as i32 } else { whole(0)? };
                insert(&mut at, index, 1)?;
                let mut rows = array(at).ok_or_else(|| no_container(ty))?;
                if let Some(place) = rows.get_mut(index as u32) {
                    same_type(place.as_ptr().ty(), item.as_ptr())?;
                    cost::copy(place, item.as_ptr());
                }
                give(Value::I32(index))?;
            }
            Intrinsic::ArrayInsert => insert(&mut at, whole(0)?, whole(1)?)?,
            Intrinsic::ArrayRemove => {
                let (index, count) = (whole(0)?, whole(1)?);
                let (Ok(first), Ok(count)) = (u32::try_from(index), u32::try_from(count)) else {
                    return Err(CallError::other(format!("{count} elements are removed at {index} of {}", len(&at))));
                };
                cost::add(u64::from(len(&at).saturating_sub(first)));
                array(at).ok_or_else(|| no_container(ty))?.splice(first, count, 0).map_err(failed)?;
            }
            Intrinsic::ArrayRemoveItem => {
                let item = argument(0)?;
                let mut rows = array(at).ok_or_else(|| no_container(ty))?;
                let removed = remove_equal(world, &mut rows, item.as_ptr())?;
                give(Value::I32(removed as i32))?;
            }
            Intrinsic::ArrayEmpty => set_len(&mut array(at).ok_or_else(|| no_container(ty))?, 0, element()?)?,
            Intrinsic::MapSet => {
                let (key, value) = (argument(0)?, argument(1)?);
                let mut rows = keyed_mut(at).ok_or_else(|| no_container(ty))?;
                same_type(rows.key_type(), key.as_ptr())?;
                let row = key.as_ptr().ty().size() + value.as_ptr().ty().size();
                size::one_more(rows.as_ref(), key.as_ptr(), row)?;
                let (row, _) = rows.insert(key.as_ptr()).map_err(failed)?;
                if let Some(place) = rows.value(row) {
                    same_type(place.as_ptr().ty(), value.as_ptr())?;
                    cost::copy(place, value.as_ptr());
                }
            }
            Intrinsic::SetAdd => {
                let key = argument(0)?;
                let mut rows = keyed_mut(at).ok_or_else(|| no_container(ty))?;
                same_type(rows.key_type(), key.as_ptr())?;
                size::one_more(rows.as_ref(), key.as_ptr(), key.as_ptr().ty().size())?;
                let (_, is_new) = rows.insert(key.as_ptr()).map_err(failed)?;
                give(Value::Bool(is_new))?;
            }
            Intrinsic::Remove => {
                let key = argument(0)?;
                let mut rows = keyed_mut(at).ok_or_else(|| no_container(ty))?;
                same_type(rows.key_type(), key.as_ptr())?;
                let row = rows.as_ref().find(key.as_ptr());
                if let Some(row) = row {
                    rows.remove(row).map_err(failed)?;
                }
                give(Value::Bool(row.is_some()))?;
            }
            Intrinsic::Empty => {
                cost::add(u64::from(len(&at)));
                keyed_mut(at).ok_or_else(|| no_container(ty))?.clear();
            }
            Intrinsic::OptionalReset => at.destroy(),
            Intrinsic::MulticastAdd | Intrinsic::MulticastRemove | Intrinsic::MulticastClear => {
                let one = bound()?;
                let mark = world.broadcasts.before_write(at.reborrow());
                change_bindings(what, at.reborrow(), one)?;
                world.broadcasts.after_write(mark, at.as_ptr());
            }
            _ => return Err(CallError::other(format!("{what:?} changes nothing"))),
        }
        Ok(Transfer::None)
    }

    /// Sorts an array stably with a delegate as the comparison. Sorts a copy of the elements, because the delegate may change the array.
    fn sort(
        &self,
        world: &World,
        place: &LinkedPlace,
        (by, signature): (Binding, &str),
        registers: &Registers,
    ) -> Result<(), CallError> {
        let Some(at) = self.found(registers.read(world, place)?) else { return Ok(()) };
        let len = at.count().unwrap_or_default() as usize;
        size::copies(std::iter::once(at), len * (size_of::<Value>() + size_of::<usize>() * 2))?;
        cost::add(cost::of(at));
        let Value::Array(values) = at.read() else { return Err(no_container(&place.property.ty)) };
        if !world.objects.is_alive(by.object) {
            return Ok(());
        }
        let function = bound_function(world, &by, signature, |_| true)?;
        let values = sorted(values, &mut |one, two| {
            let _mark = self.mark();
            // A sort counts as two entries into the interpreter, because it uses more stack than a usual entry.
            self.entries.set(self.entries.get() + 1);
            self.charge()?;
            let mut block = alcedo_reflect::thunk::ParamBlock::new(&function);
            block.set(0, one)?;
            block.set(1, two)?;
            catch_panics(|| function.invoke(world, by.object, &mut block))?;
            Ok(block.result_as::<i32>()? >= 0)
        })?;
        // The delegate may have destroyed the object that owns the array.
        let registers = registers.refreshed(world);
        if registers.memory().is_null() && matches!(place.root, LinkedRoot::OfSelf(_)) {
            return Err(CallError::Stale { handle: registers.object });
        }
        let place = registers.write(world, place)?;
        place.map_or(Ok(()), |at| at.write(&Value::Array(values)).map_err(|error| CallError::other(error.found)))
    }
}

/// Returns the value that a property has in the object none. A fixed array has all its elements.
pub(crate) fn missing(property: &Property) -> Result<OwnedValue, CallError> {
    let mut value = OwnedValue::initial(property.ty.clone());
    if let (PropertyType::Array(of), Some(len)) = (&property.ty, dim(property))
        && let Some(mut rows) = array(value.as_mut())
    {
        set_len(&mut rows, len, of.ty())?;
    }
    Ok(value)
}

/// Sorts by bottom-up merging. `in_order` returns true if its second argument may follow its first argument. Before two adjacent runs are
/// merged, one comparison checks if they are already in order. Even if the results of `in_order` are inconsistent, no value is lost or
/// duplicated.
fn sorted(
    values: Vec<Value>,
    in_order: &mut dyn FnMut(&Value, &Value) -> Result<bool, CallError>,
) -> Result<Vec<Value>, CallError> {
    let len = values.len();
    let mut order: Vec<usize> = (0..len).collect();
    let mut merged = Vec::with_capacity(len);
    let mut run = 1;
    while run < len {
        merged.clear();
        for start in (0..len).step_by(run * 2) {
            let (middle, end) = ((start + run).min(len), (start + run * 2).min(len));
            let (one, two) = (&order[start..middle], &order[middle..end]);
            let (Some(last), Some(first)) = (one.last(), two.first()) else {
                merged.extend_from_slice(one);
                continue;
            };
            if in_order(&values[*last], &values[*first])? {
                merged.extend_from_slice(&order[start..end]);
                continue;
            }
            let (mut one, mut two) = (one, two);
            while let ([first, rest @ ..], [second, others @ ..]) = (one, two) {
                if in_order(&values[*first], &values[*second])? {
                    merged.push(*first);
                    one = rest;
                } else {
                    merged.push(*second);
                    two = others;
                }
            }
            merged.extend_from_slice(one);
            merged.extend_from_slice(two);
        }
        std::mem::swap(&mut order, &mut merged);
        run *= 2;
    }
    let mut values: Vec<Option<Value>> = values.into_iter().map(Some).collect();
    Ok(order.into_iter().filter_map(|at| values[at].take()).collect())
}

/// Checks if a value is `none`, an unbound delegate, or refers to a destroyed object.
fn is_gone(world: &World, at: Ptr<'_>) -> bool {
    let object = match at.ty() {
        PropertyType::Object { .. } | PropertyType::WeakObject(_) | PropertyType::ScriptInterface(_) => {
            handle(&at.read())
        }
        PropertyType::Delegate(_) => binding(&at.read()).object,
        _ => return false,
    };
    !world.objects.is_alive(object)
}

/// Checks if two values are equal. A reference to a destroyed object equals `none`, also in a struct. A delegate that is bound to a
/// destroyed object equals an unbound delegate.
pub(crate) fn equal(world: &World, one: Ptr<'_>, two: Ptr<'_>) -> bool {
    if one.equal(two) {
        return true;
    }
    match (one.ty(), two.ty()) {
        (PropertyType::Struct(of), PropertyType::Struct(other)) if one.ty().names_objects() && one.ty() == two.ty() => {
            of.fields().iter().zip(other.fields()).all(|(field, other)| {
                let fields = one.field(field).zip(two.field(other));
                fields.is_some_and(|(one, two)| equal(world, one, two))
            })
        }
        _ => is_gone(world, one) && is_gone(world, two),
    }
}

/// Returns a comparison of array elements with `needle`; see [`equal`].
pub(crate) fn equals<'a>(world: &'a World, needle: Ptr<'a>) -> impl Fn(Ptr<'_>) -> bool + 'a {
    let ty = needle.ty();
    // Other values, such as a reference to a live object, equal only themselves.
    let has_others = is_gone(world, needle) || (matches!(ty, PropertyType::Struct(_)) && ty.names_objects());
    move |found: Ptr<'_>| found.equal(needle) || (has_others && equal(world, found, needle))
}

/// Removes all elements equal to `item`. Returns the number of removed elements. Moves each remaining element at most once, and truncates
/// the array once.
pub(crate) fn remove_equal(world: &World, rows: &mut RowsMut<'_>, item: Ptr<'_>) -> Result<u32, CallError> {
    let (len, mut kept) = (rows.len(), 0);
    let is_item = equals(world, item);
    cost::add(u64::from(len));
    for at in 0..len {
        let is_equal = |found: PtrMut<'_>| {
            cost::add(cost::of(found.as_ptr()));
            is_item(found.as_ptr())
        };
        if !rows.get_mut(at).is_some_and(is_equal) {
            rows.swap(kept, at);
            kept += 1;
        }
    }
    if kept != len {
        rows.splice(kept, len - kept, 0).map_err(failed)?;
    }
    Ok(len - kept)
}

/// Returns the content of an optional, or the value of a key in a map. Returns `None` if the content or the key is absent.
fn part_of<'a>(at: Ptr<'a>, args: &[Source], registers: &Registers) -> Result<Option<Ptr<'a>>, CallError> {
    let Some(rows) = keyed(at) else { return Ok(at.content()) };
    let key = args.first().ok_or_else(|| CallError::other("an operand is missing"))?;
    let key = registers.source(key);
    same_type(rows.key_type(), key)?;
    cost::add(cost::of(key));
    Ok(rows.find(key).and_then(|row| rows.get(row)).and_then(|(_, value)| value))
}

/// Performs an operation that only reads the container.
fn read_container(
    world: &World,
    what: &Intrinsic,
    at: Ptr<'_>,
    args: &[Source],
    registers: &Registers,
) -> Result<Value, CallError> {
    let is_alive = |binding: &Binding| world.objects.is_alive(binding.object);
    let argument = args.first().map(|source| registers.source(source));
    let needle = || argument.ok_or_else(|| CallError::other("an operand is missing"));
    let refused = || no_container(at.ty());
    if !matches!(what, Intrinsic::Length | Intrinsic::Contains | Intrinsic::OptionalIsSet) {
        cost::add(cost::of(at));
    }
    Ok(match what {
        Intrinsic::Length => Value::I32(at.count().ok_or_else(refused)? as i32),
        Intrinsic::ArrayFind => {
            let (rows, needle) = (array_ref(at).ok_or_else(refused)?, needle()?);
            let is_item = equals(world, needle);
            let found = (0..rows.len()).find(|row| rows.get(*row).is_some_and(&is_item));
            Value::I32(found.map_or(-1, |row| row as i32))
        }
        Intrinsic::ArrayFindField(field) => {
            let PropertyType::Struct(of) = element_of(at.ty())? else { return Err(refused()) };
            let field = of.field(field).ok_or_else(|| CallError::other(format!("{} has no field {field}", of.path)))?;
            let (rows, needle) = (array_ref(at).ok_or_else(refused)?, needle()?);
            let is_item = equals(world, needle);
            let is_it = |row: &u32| {
                let found = rows.get(*row).and_then(|row| row.field(field));
                found.is_some_and(&is_item)
            };
            Value::I32((0..rows.len()).find(is_it).map_or(-1, |row| row as i32))
        }
        Intrinsic::Contains => {
            let (rows, needle) = (keyed(at).ok_or_else(refused)?, needle()?);
            same_type(rows.key_type(), needle)?;
            cost::add(cost::of(needle));
            Value::Bool(rows.find(needle).is_some())
        }
        Intrinsic::MapKeys | Intrinsic::MapValues | Intrinsic::SetValues => {
            let rows = keyed(at).ok_or_else(refused)?;
            let found = (0..rows.len()).filter_map(|row| rows.get(row)).filter_map(|(key, value)| match what {
                Intrinsic::MapValues => value,
                _ => Some(key),
            });
            size::copies(found.clone(), 0)?;
            Value::Array(found.map(Ptr::read).collect())
        }
        Intrinsic::OptionalIsSet => Value::Bool(at.content().is_some()),
        _ => Value::Bool(match size::read(at)? {
            Value::Delegate(binding) => is_alive(&binding),
            Value::Multicast(bindings) | Value::Sparse(bindings) => bindings.iter().any(is_alive),
            _ => false,
        }),
    })
}

fn change_bindings(what: &Intrinsic, at: PtrMut<'_>, one: Binding) -> Result<(), CallError> {
    let change = |mut bindings: Vec<Binding>| {
        cost::add(bindings.len() as u64);
        match what {
            Intrinsic::MulticastAdd if one.object.is_none() || bindings.contains(&one) => {}
            Intrinsic::MulticastAdd => bindings.push(one),
            Intrinsic::MulticastRemove => bindings.retain(|known| *known != one),
            _ => bindings.clear(),
        }
        bindings
    };
    let value = match size::read(at.as_ptr())? {
        Value::Multicast(bindings) => Value::Multicast(change(bindings)),
        Value::Sparse(bindings) => Value::Sparse(change(bindings)),
        _ => return Err(no_container(at.as_ptr().ty())),
    };
    at.write(&value).map_err(|error| CallError::other(error.found))
}

fn element_of(ty: &PropertyType) -> Result<&PropertyType, CallError> {
    let PropertyType::Array(of) = ty else { return Err(no_container(ty)) };
    Ok(of.ty())
}

fn same_type(expected: &PropertyType, found: Ptr<'_>) -> Result<(), CallError> {
    if expected == found.ty() {
        Ok(())
    } else {
        Err(CallError::other(format!("the type {} is not {expected}", found.ty())))
    }
}
