//! Links call sites. Checks that the arguments and the result have the types of the parameters. Also checks that an argument to which the
//! call writes does not overlap a second argument.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use alcedo_abi::kinds::{PropertyKind, function_flags, property_flags};
use alcedo_base::handles::ClassId;
use alcedo_reflect::function::Function;
use alcedo_reflect::origin::Origin;
use alcedo_reflect::owned::OwnedValue;
use alcedo_reflect::property::{Property, PropertyType};
use alcedo_reflect::type_text::{SignatureText, TypeText};
use alcedo_reflect::types::Types;
use rustc_hash::FxHashMap;

use super::{Checked, Linker, initial, plain_size};
use crate::code::{Argument, CallSite, MAX_OMITTED, Reg, Target};
use crate::exec::{Arg, Constant, LinkedRoot, LinkedTarget, Move, Site, Slot, Source};

/// Maximum size in bytes of a parameter block for a plain call. A few machine instructions can clear a block of this size.
const PLAIN_BLOCK: u32 = 64;

impl Linker<'_> {
    /// Returns true for calls of a static host function whose parameters are copied bytewise.
    pub(super) fn is_plain(&self, site: &Site) -> bool {
        let owner = self.world.types.class(site.function.owner);
        matches!(site.target, LinkedTarget::Static(_) | LinkedTarget::OfClass(None))
            && owner.is_some_and(|owner| owner.origin == Origin::Native)
            && !site.is_custom
            && site.owning.is_empty()
            && site.block <= PLAIN_BLOCK
            && site.moves.iter().chain(&site.moves_back).all(|one| one.plain.is_some())
    }

    /// Returns true if the interpreter loop may enter the script callee directly from the call cache.
    pub(super) fn is_direct(site: &Site) -> bool {
        matches!(site.target, LinkedTarget::Static(_) | LinkedTarget::Final(..) | LinkedTarget::Virtual(_))
            && !site.is_custom
            && site.owning.is_empty()
            && site.moves.iter().all(|one| one.plain.is_some())
    }

    pub(super) fn site(&mut self, call: &CallSite) -> Checked<Site> {
        let find = |path: &Rc<str>| self.known.find(&self.world.types, path);
        let of_self = |object: Option<Reg>, function: &Function| -> Checked<Option<u16>> {
            if let Some(object) = object {
                self.expect_object(object)?;
                return Ok(Some(self.slot(object)?.offset));
            }
            self.not_static("a call on the object itself")?;
            let owner = self.world.types.class(function.owner);
            match owner.is_none_or(|owner| self.class.is_a(&owner)) {
                true => Ok(None),
                false => Err(format!("{} is called on the object itself, a {}", function.path, self.class.path)),
            }
        };
        let (target, function, params) = match &call.callee {
            Target::Virtual(object, path) => {
                let (function, params) = find(path)?;
                (LinkedTarget::Virtual(of_self(*object, &function)?), function, params)
            }
            Target::Final(object, path) => {
                let (function, params) = find(path)?;
                (LinkedTarget::Final(of_self(*object, &function)?, OnceCell::new()), function, params)
            }
            Target::Static(_, path) | Target::OfOwnClass(path) => {
                let (function, params) = find(path)?;
                if function.flags & function_flags::STATIC == 0 {
                    return Err(format!("{} is called without an object", function.path));
                }
                let target = match call.callee {
                    Target::Static(None, _) => LinkedTarget::Static(OnceCell::new()),
                    Target::Static(Some(class), _) => {
                        self.expect_class(class)?;
                        LinkedTarget::OfClass(Some(self.slot(class)?.offset))
                    }
                    _ => LinkedTarget::OfClass(None),
                };
                (target, function, params)
            }
            Target::Interface(object, path) => {
                let (function, params) = find(path)?;
                self.expect_object(*object)?;
                (LinkedTarget::Interface(self.slot(*object)?.offset), function, params)
            }
            Target::Delegate { delegate, place, object, fallback } => {
                let delegate = self.slot(*delegate)?;
                let place = place.map(|place| self.place(place, false)).transpose()?;
                if let Some(place) = place.as_ref().filter(|place| place.property.ty != delegate.property.ty) {
                    return Err(format!("a {} is called as a {}", place.property.ty, delegate.property.ty));
                }
                let is_single = matches!(delegate.property.ty, PropertyType::Delegate(_));
                let place = place.filter(|_| !is_single).map(Box::new);
                let fallback = fallback.as_ref().map(|path| find(path).map(|(function, _)| function)).transpose()?;
                let params = Rc::new(self.params_of_delegate(&delegate.property.ty)?);
                let object = match &fallback {
                    Some(function) if function.signature_text() != &*params.signature => {
                        return Err(format!("{} has the signature ({})", function.path, function.signature()));
                    }
                    Some(function) => of_self(*object, function)?,
                    None => None,
                };
                (LinkedTarget::Delegate { delegate, place, object, fallback }, Rc::clone(self.function), params)
            }
        };
        self.arguments(call, target, function, &params)
    }

    fn arguments(
        &self,
        call: &CallSite,
        target: LinkedTarget,
        function: Rc<Function>,
        params: &Params,
    ) -> Checked<Site> {
        let name = &function.path;
        if call.args.len() != params.arguments.len() {
            return Err(format!("{name} is called with {} arguments, of {}", call.args.len(), params.arguments.len()));
        }
        let is_custom = !matches!(target, LinkedTarget::Interface(_) | LinkedTarget::Delegate { .. })
            && function.flags & function_flags::CUSTOM_THUNK != 0;
        let sets_defaults = self.sets_defaults(&function);
        let count = call.args.len();
        let (mut args, mut moves) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let (mut moves_back, mut defaults, mut skipped) = (Vec::new(), Vec::new(), 0);
        // Slots of the arguments that the call writes, and of the arguments that the call reads.
        let (mut written, mut read): (Vec<Slot>, Vec<Slot>) = (Vec::new(), Vec::new());
        let mut places = 0;
        for (at, (arg, param)) in call.args.iter().zip(&params.arguments).enumerate() {
            let is_out = param.flags & property_flags::OUT != 0;
            let wildcard = is_custom && function.is_wildcard(param);
            let same = |ty: &PropertyType| match wildcard || *ty == param.ty || fits_reference(ty, &param.ty, is_out) {
                true => Ok(()),
                false => Err(format!("{name} receives a {ty} for {}, a {}", param.text, param.ty)),
            };
            match arg {
                Argument::Copied(_) if is_out && is_custom => {
                    return Err(format!(
                        "{name} writes to {}, and receives a copy: of several written arguments, one may be a property or \
                         element; put the others into variables first",
                        param.text
                    ));
                }
                Argument::In(reg) | Argument::Copied(reg) => {
                    same(self.type_of(*reg)?)?;
                    let source = self.source(*reg)?;
                    if let Source::Slot(slot) = &source {
                        if is_out { written.push(slot.clone()) } else { read.push(slot.clone()) }
                    } else if is_out {
                        return Err(format!("{name} writes to a constant"));
                    }
                    moves.push(self.move_over(&source, param)?);
                    args.push(Arg::Value(source));
                }
                Argument::Out(reg) => {
                    same(self.type_of(*reg)?)?;
                    if !is_out {
                        return Err(format!("{name} does not write to {}", param.text));
                    }
                    let slot = self.slot(*reg)?;
                    let source = Source::Slot(slot.clone());
                    written.push(slot);
                    moves.push(self.move_over(&source, param)?);
                    moves_back.push(self.move_over(&source, param)?);
                    args.push(Arg::Value(source));
                }
                Argument::Skipped if at >= MAX_OMITTED => return Err(format!("parameter {at} is omitted")),
                Argument::Skipped => {
                    skipped |= 1 << at;
                    if is_out && is_custom {
                        return Err(format!("{name} writes to {}, which is omitted", param.text));
                    }
                    let constant =
                        |value: OwnedValue| Source::Constant(Rc::new(Constant { value, property: Rc::clone(param) }));
                    if matches!(param.ty, PropertyType::Struct(_)) {
                        let initial = constant(OwnedValue::initial(param.ty.clone()));
                        moves.push(self.move_over(&initial, param)?);
                    }
                    let mut own = OwnedValue::initial(param.ty.clone());
                    let default = param.default.as_ref().filter(|_| !sets_defaults);
                    if let Some(default) = default {
                        own.write(default)
                            .map_err(|error| format!("the default of {} is a {}", param.text, error.found))?;
                    }
                    let source = constant(own);
                    if default.is_some() {
                        defaults.push(self.move_over(&source, param)?);
                    }
                    args.push(Arg::Value(source));
                }
                Argument::Place(place) => {
                    if !is_custom {
                        return Err(format!("{name} takes values, and an argument is a place"));
                    }
                    let place = self.place(*place, is_out)?;
                    same(&place.property.ty)?;
                    places += 1;
                    if let LinkedRoot::Slot(slot) = &place.root {
                        if is_out { written.push(slot.clone()) } else { read.push(slot.clone()) }
                    }
                    args.push(Arg::Place(place));
                }
            }
        }
        let to = call.to.map(|to| self.slot(to)).transpose()?;
        match (&to, &params.result) {
            (Some(slot), Some(result)) => {
                let wildcard = is_custom && function.is_wildcard(result);
                if !wildcard && slot.property.ty != result.ty && !fits_reference(&result.ty, &slot.property.ty, false) {
                    return Err(format!("{name} returns a {}, which is assigned to a {}", result.ty, slot.property.ty));
                }
                if !wildcard && !is_custom {
                    moves_back.push(self.move_over(&Source::Slot(slot.clone()), result)?);
                }
                if is_custom {
                    written.push(slot.clone());
                }
            }
            (Some(_), None) => return Err(format!("{name} returns nothing")),
            (None, Some(_)) if is_custom => {
                return Err(format!("the result of {name} is not stored: assign it to a register"));
            }
            (None, _) => {}
        }
        if is_custom {
            if places > 1 {
                return Err(format!("{name} receives more than one place: copy the ones that are only read"));
            }
            moves.clear();
            moves_back.clear();
            defaults.clear();
            check_disjoint(&written, &read).map_err(|problem| format!("{name}: {problem}"))?;
        }
        Ok(Site {
            target,
            layout: Rc::clone(&params.layout),
            owning: Rc::clone(&params.owning),
            block: params.block,
            is_custom,
            initial: to.as_ref().and_then(|slot| initial(&slot.property.ty)),
            function,
            args: args.into(),
            moves: moves.into(),
            moves_back: moves_back.into(),
            defaults: defaults.into(),
            skipped,
            to,
            cached_class: Cell::new(ClassId::NONE),
            cached_path: Cell::default(),
            cached_run: Cell::new(0),
            cached_callee: RefCell::new(None),
            cached_is_own: Cell::new(false),
        })
    }

    /// Returns true if the called function itself sets the defaults of omitted arguments. Scripts do so, because an override may have other
    /// defaults than the function that the call names. Functions of C libraries do not.
    fn sets_defaults(&self, function: &Function) -> bool {
        let owner = self.world.types.class(function.owner);
        owner.is_some_and(|owner| owner.origin == Origin::Script) && function.flags & function_flags::DLL_IMPORT == 0
    }

    fn move_over(&self, source: &Source, param: &Rc<Property>) -> Checked<Move> {
        let param_offset = u16::try_from(param.offset).map_err(|_| "its parameters take too many bytes".to_owned())?;
        let (caller_offset, constant) = match source {
            Source::Slot(slot) => (slot.offset, None),
            Source::Constant(constant) => (0, Some(Rc::clone(constant))),
        };
        let plain = plain_size(&param.ty).and_then(|size| u16::try_from(size).ok());
        Ok(Move { plain, caller_offset, param_offset, source: constant, property: Rc::clone(param) })
    }
}

/// Parameters and result of a function to call.
pub(super) struct Params {
    arguments: Vec<Rc<Property>>,
    result: Option<Rc<Property>>,
    signature: Rc<str>,
    /// Size of the parameter block in bytes.
    block: u32,
    layout: Rc<[(u32, PropertyType, bool)]>,
    owning: Rc<[Rc<Property>]>,
}

impl Params {
    fn new(arguments: Vec<Rc<Property>>, result: Option<Rc<Property>>, signature: &str, block: u32) -> Self {
        let owns = |param: &&Rc<Property>| param.ty.owns_memory();
        let owning = arguments.iter().chain(&result).filter(owns).cloned().collect();
        let one = |param: &Rc<Property>| (param.offset, param.ty.clone(), param.flags & property_flags::OUT != 0);
        let layout = arguments.iter().chain(&result).map(one).collect();
        Self { arguments, result, signature: signature.into(), block, layout, owning }
    }
}

/// Functions that a package calls, by path. All calls of one function share one copy of its parameter list.
#[derive(Default)]
pub(crate) struct KnownFunctions(RefCell<FxHashMap<Rc<str>, KnownFunction>>);

type KnownFunction = (Rc<Function>, Rc<Params>);

impl KnownFunctions {
    fn find(&self, types: &Types, path: &Rc<str>) -> Checked<KnownFunction> {
        if let Some(known) = self.0.borrow().get(path) {
            return Ok(known.clone());
        }
        let function = types.function_by_path(path).ok_or_else(|| format!("function {path} not found"))?;
        let shared = |param: &Property| Rc::new(param.clone());
        let (arguments, result) = (function.arguments().iter().map(shared).collect(), function.result().map(shared));
        let params = Rc::new(Params::new(arguments, result, function.signature_text(), function.params_size() as u32));
        self.0.borrow_mut().insert(Rc::clone(path), (Rc::clone(&function), Rc::clone(&params)));
        Ok((function, params))
    }
}

impl Linker<'_> {
    /// Returns the parameters of a delegate, laid out like the parameters of a function with the signature of the delegate.
    fn params_of_delegate(&self, ty: &PropertyType) -> Checked<Params> {
        let signature = ty.signature().ok_or_else(|| format!("a {ty} is called"))?;
        let read: Result<SignatureText, _> = signature.parse();
        let read = read.map_err(|error| error.to_string())?;
        let owner: Rc<str> = ty.to_string().into();
        let (mut at, mut arguments) = (0, Vec::new());
        let mut one = |text: &TypeText, flags: u64| -> Checked<Rc<Property>> {
            let ty = self.ty(text)?;
            at = usize::next_multiple_of(at, ty.align());
            let offset = at as u32;
            at += ty.size();
            let property = self.properties.make(self.properties.text("argument"), ty, offset, &owner);
            Ok(Rc::new(Property { flags, ..Property::clone(&property) }))
        };
        for (place, text) in read.arguments.iter().enumerate() {
            let flags = if read.out_parameters.contains(&place) { property_flags::OUT } else { 0 };
            arguments.push(one(text, flags)?);
        }
        let result = read.result.as_deref().map(|text| one(text, property_flags::RETURN)).transpose()?;
        let last = result.as_ref().or(arguments.last());
        let block = last.map_or(0, |last| last.offset + last.ty.size() as u32);
        Ok(Params::new(arguments, result, signature, block.next_multiple_of(16)))
    }
}

/// Accepts an object or class reference as a parameter with a different required class. This is safe because all references are handles,
/// and the source checker has verified the classes.
fn fits_reference(from: &PropertyType, to: &PropertyType, is_out: bool) -> bool {
    !is_out && from.kind() == to.kind() && matches!(from.kind(), PropertyKind::OBJECT | PropertyKind::SUBCLASS_OF)
}

/// Rejects a written slot that overlaps a read slot or another written slot.
fn check_disjoint(written: &[Slot], read: &[Slot]) -> Checked<()> {
    let range = |slot: &Slot| usize::from(slot.offset)..usize::from(slot.offset) + slot.property.ty.size();
    let overlaps = |one: &Slot, two: &Slot| {
        let (one, two) = (range(one), range(two));
        one.start < two.end && two.start < one.end
    };
    let twice = |at: usize, one: &Slot| written[at + 1..].iter().chain(read).any(|other| overlaps(one, other));
    match written.iter().enumerate().find(|(at, one)| twice(*at, one)) {
        Some((_, slot)) => Err(format!("{} is written and used in one instruction", slot.property.text)),
        None => Ok(()),
    }
}
