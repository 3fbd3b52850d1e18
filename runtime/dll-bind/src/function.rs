//! Declares functions of C libraries, binds them, and calls them.
#![expect(unsafe_code, reason = "calls the bound C function")]

use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use alcedo_base::cells::RefCell;
use alcedo_reflect::property::PropertyType;
use alcedo_reflect::value::Value;
use alcedo_sys::{Fenced, process};

use crate::breach::{Breach, Broken};
use crate::call::{CNumbers, CResult, Stub, TypedCode};
use crate::library::Library;
use crate::number::Number;
use crate::plan::{ALIGN, Plan, Slot, Violation, plain_value};
use crate::shape::{BindError, Layouts, Shape, Site};
use crate::utf16;
use crate::zones::RED_ZONE;

/// Maximum number of UTF-16 units that are scanned for the end of a returned string.
const LONGEST_RESULT: usize = 1 << 20;

/// Declaration of a library function.
///
/// # Examples
/// ```
/// use alcedo_dll_bind::{BindError, Import, Imported, UserCode};
/// use alcedo_reflect::property::PropertyType;
///
/// /// Binds `int32_t Add(int32_t a, int32_t b)`.
/// fn bind_add(folder: &UserCode) -> Result<Imported, BindError> {
///     let add = Import::new("Add").param("a", PropertyType::I32).param("b", PropertyType::I32);
///     add.returns(PropertyType::I32).bind(&folder.open("MathDLL"))
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Import {
    name: String,
    params: Vec<Declared>,
    result: Option<(PropertyType, BoolWidth)>,
    no_cwd: bool,
    /// True for a declaration by a script. Each struct of a different module with `f64` fields then requires an entry in [`Layouts`].
    pub(crate) of_script: bool,
}

/// Width of a `bool` result in C.
///
/// # Examples
/// ```
/// use alcedo_dll_bind::BoolWidth;
///
/// assert_eq!(BoolWidth::default(), BoolWidth::Unstated);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BoolWidth {
    /// The declaration does not state the width. A call fails if the low byte of the result is zero but its four bytes are not.
    #[default]
    Unstated,
    /// A single byte: `bool` of C++ and `_Bool` of C.
    One,
    /// Four bytes: `uint32_t`, or `BOOL` of Windows. A nonzero value is true.
    Four,
}

#[derive(Clone, Debug)]
struct Declared {
    name: String,
    ty: PropertyType,
    is_out: bool,
    len: Option<usize>,
}

/// Declaration that was bound to a C function. While this value exists, the library of the function stays open. Game thread only.
///
/// # Examples
/// ```
/// use alcedo_dll_bind::{Broken, Imported};
/// use alcedo_reflect::value::Value;
///
/// /// Adds two numbers with a bound `int32_t Add(int32_t a, int32_t b)`.
/// fn add(function: &Imported, a: i32, b: i32) -> Result<Option<Value>, Broken> {
///     Ok(function.call(&[Value::I32(a), Value::I32(b)])?.result)
/// }
/// ```
pub struct Imported {
    library: Library,
    name: String,
    params: Vec<Param>,
    result: Option<(PropertyType, Returned)>,
    no_cwd: bool,
    /// Code of the function. `None` if the library does not export the function.
    stub: Option<Arc<Stub>>,
    /// Buffers of the last call, reused by the next call. The cell is empty during a call.
    spare: Cell<Option<Box<Scratch>>>,
}

#[derive(Default)]
struct Scratch {
    plan: Plan,
    memory: Vec<u8>,
    slots: Vec<Slot>,
    words: Vec<u64>,
}

struct Param {
    name: String,
    shape: Shape,
    is_out: bool,
}

type Shapes = (Vec<Param>, Option<(PropertyType, Returned)>);

#[derive(Clone, Debug)]
enum Returned {
    Bool(BoolWidth),
    Other(Shape),
}

/// Result of a call, and the values that C wrote to its out parameters.
///
/// # Examples
/// ```
/// use alcedo_dll_bind::Outcome;
/// use alcedo_reflect::value::Value;
///
/// let outcome = Outcome { result: Some(Value::Bool(true)), out_parameters: vec![Value::I64(3)] };
/// let whole = match outcome {
///     Outcome { result: Some(Value::Bool(true)), out_parameters } => out_parameters.into_iter().next(),
///     _ => None,
/// };
/// assert_eq!(whole, Some(Value::I64(3)));
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    /// The result, if the function has one.
    pub result: Option<Value>,
    /// Values of the out parameters, in order.
    pub out_parameters: Vec<Value>,
}

/// Mechanism that executes calls of a function.
///
/// # Examples
/// ```
/// use alcedo_dll_bind::{Imported, Route};
///
/// fn report(function: &Imported) -> String {
///     match function.route() {
///         Route::Nothing => format!("`{}` is missing: calls have no effect", function.name()),
///         Route::Trampoline | Route::Libffi => format!("`{}` is bound", function.name()),
///     }
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Route {
    /// The call uses a precompiled trampoline.
    Trampoline,
    /// The call uses `libffi`.
    Libffi,
    /// The library does not export the function, so calls have no effect.
    Nothing,
}

impl Import {
    /// Creates the declaration of the function with the symbol `name`, without parameters and without a result.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Adds an input parameter.
    #[must_use]
    pub fn param(self, name: &str, ty: PropertyType) -> Self {
        self.declared(name, ty, false, None)
    }

    /// Adds a parameter that the function may write to.
    ///
    /// # Examples
    /// ```
    /// use alcedo_dll_bind::{BindError, Import, Imported, Library};
    /// use alcedo_reflect::property::PropertyType;
    ///
    /// /// Binds `void Split(double value, int64_t *whole)`.
    /// fn bind_split(library: &Library) -> Result<Imported, BindError> {
    ///     let split = Import::new("Split").param("value", PropertyType::F64);
    ///     split.out("whole", PropertyType::I64).bind(library)
    /// }
    /// ```
    #[must_use]
    pub fn out(self, name: &str, ty: PropertyType) -> Self {
        self.declared(name, ty, true, None)
    }

    /// Adds an input parameter that is an array of a fixed length.
    #[must_use]
    pub fn array(self, name: &str, ty: PropertyType, len: usize) -> Self {
        self.declared(name, ty, false, Some(len))
    }

    /// Adds a parameter that is an array of a fixed length to which the function may write.
    #[must_use]
    pub fn out_array(self, name: &str, ty: PropertyType, len: usize) -> Self {
        self.declared(name, ty, true, Some(len))
    }

    /// Sets the type of the result. The width of a `bool` result is [`BoolWidth::Unstated`].
    #[must_use]
    pub fn returns(self, ty: PropertyType) -> Self {
        Self { result: Some((ty, BoolWidth::Unstated)), ..self }
    }

    /// Sets the result to a `bool` of one byte, as in C++.
    #[must_use]
    pub fn returns_bool8(self) -> Self {
        self.returns_bool(BoolWidth::One)
    }

    /// Sets the result to a `bool` of four bytes. A nonzero `uint32_t` is true.
    #[must_use]
    pub fn returns_bool32(self) -> Self {
        self.returns_bool(BoolWidth::Four)
    }

    pub(crate) fn returns_bool(self, width: BoolWidth) -> Self {
        Self { result: Some((PropertyType::Bool, width)), ..self }
    }

    /// Declares that the function does not depend on the working directory. Calls then run on the calling thread, without a change of the
    /// working directory.
    #[must_use]
    pub fn no_cwd(self) -> Self {
        Self { no_cwd: true, ..self }
    }

    pub(crate) fn declared(mut self, name: &str, ty: PropertyType, is_out: bool, len: Option<usize>) -> Self {
        self.params.push(Declared { name: name.to_owned(), ty, is_out, len });
        self
    }

    /// Binds the declaration to the function of a library. If the library does not export the function, logs a warning, and calls of the
    /// returned function have no effect.
    ///
    /// # Errors
    /// Fails if C has no representation for a type.
    pub fn bind(self, library: &Library) -> Result<Imported, BindError> {
        let (params, result) = self.shapes(&library.0.layouts)?;
        let code = library.0.library.as_ref().and_then(|opened| match opened.symbol(&self.name) {
            Ok(code) if !code.is_null() => Some(code),
            found => {
                let error = found.err().map(|error| error.to_string()).unwrap_or_default();
                let (library, function) = (library.name(), &self.name);
                alcedo_base::log!(WARN, library, function, error, "a function was not bound: calls of it do nothing");
                None
            }
        });
        // Passes each value that is not a number as an address.
        let numbers = params.iter().map(|param| param.number().unwrap_or(Number::U64));
        let result_number = result.as_ref().map(|(_, returned)| returned.number().unwrap_or(Number::U64));
        let with_trampoline = library.0.folder.has_trampolines();
        // SAFETY: the creator of the folder vouches that the functions of its libraries match their declarations, and accept all values of
        // the declared types. The result owns the library, so the function exists while calls of the stub run.
        let stub = code.map(|code| unsafe { Stub::new(code, numbers.collect(), result_number, with_trampoline) });
        let (library, name, no_cwd) = (library.clone(), self.name, self.no_cwd);
        Ok(Imported { library, name, params, result, no_cwd, stub: stub.map(Arc::new), spare: Cell::default() })
    }

    pub(crate) fn check(&self, layouts: &Layouts) -> Result<(), BindError> {
        self.shapes(layouts).map(drop)
    }

    fn shapes(&self, layouts: &Layouts) -> Result<Shapes, BindError> {
        let site = Site { function: &self.name, layouts, of_script: self.of_script, known: RefCell::default() };
        let param = |Declared { name, ty, is_out, len }: &Declared| {
            let shape = Shape::of_param(&site, name, ty, *len)?;
            Ok(Param { name: name.clone(), shape, is_out: *is_out })
        };
        let params = self.params.iter().map(param).collect::<Result<_, _>>()?;
        let result = self.result.as_ref().map(|(ty, width)| Ok((ty.clone(), Returned::of(&site, ty, *width)?)));
        Ok((params, result.transpose()?))
    }
}

impl Imported {
    /// Returns the symbol of the function.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the mechanism that executes calls of the function.
    #[must_use]
    pub fn route(&self) -> Route {
        match &self.stub {
            None => Route::Nothing,
            Some(stub) if stub.has_trampoline() => Route::Trampoline,
            Some(_) => Route::Libffi,
        }
    }

    /// Calls the function with an argument for each parameter. The length of the argument for an out parameter is the number of values or
    /// characters that C may write. If the library does not export the function, the result is the zero value, and out parameters are
    /// unchanged.
    ///
    /// # Errors
    /// Returns [`Broken`] if the arguments do not match the declaration, or if the function violated its declaration. In both cases, the
    /// call has no results.
    pub fn call(&self, arguments: &[Value]) -> Result<Outcome, Broken> {
        if arguments.len() != self.params.len() {
            let breach = Breach::Len { found: arguments.len(), expected: self.params.len() };
            return Err(self.broken("its row of arguments".to_owned(), breach));
        }
        // Takes the buffers out of the cell. A nested call of this function finds the cell empty and allocates its own buffers.
        let mut scratch = self.spare.take().unwrap_or_default();
        let outcome = self.call_with(arguments, &mut scratch);
        self.spare.set(Some(scratch));
        outcome
    }

    fn call_with(&self, arguments: &[Value], scratch: &mut Scratch) -> Result<Outcome, Broken> {
        let Scratch { plan, memory, slots, words } = scratch;
        plan.clear();
        slots.clear();
        for (index, (param, value)) in self.params.iter().zip(arguments).enumerate() {
            let slot = plan.argument(index, &param.shape, param.is_out, value);
            slots.push(slot.map_err(|found| self.broken_by(found))?);
        }
        plan.finish();
        let Some(stub) = &self.stub else { return Ok(self.nothing(arguments)) };
        let size = plan.bytes().len() + ALIGN;
        if memory.len() < size {
            memory.resize(size, 0);
        }
        let start = memory.as_ptr().align_offset(ALIGN);
        let whole = start..start + plan.bytes().len();
        plan.set_base(memory.as_ptr().addr() + start);
        let mut fences = if self.library.0.folder.has_fences() { self.fences(plan)? } else { Vec::new() };
        memory[whole.clone()].copy_from_slice(plan.bytes());
        for (at, pointer) in plan.pointers() {
            memory[start + at..start + at + pointer.len()].copy_from_slice(&pointer);
        }
        for (fence, Range { start: at, end }) in fences.iter_mut().zip(plan.ranges()) {
            fence.bytes().copy_from_slice(&memory[start + at - RED_ZONE..start + end]);
        }
        // Exposes the address of the buffers to C code. Until the call returns, no other code accesses the buffers.
        memory.as_mut_ptr().expose_provenance();
        words.clear();
        words.extend(slots.iter().map(|slot| match slot {
            Slot::Number(number) => *number,
            Slot::Block(block) => plan.address_of(*block) as u64,
        }));
        let returned = self.run(stub, words)?;
        for (fence, Range { start: at, end }) in fences.iter_mut().zip(plan.ranges()) {
            memory[start + at - RED_ZONE..start + end].copy_from_slice(fence.bytes());
        }
        let after = &memory[whole];
        plan.check(after).map_err(|found| self.broken_by(found))?;
        let mut out_parameters = Vec::new();
        for (index, (param, slot)) in self.params.iter().zip(&*slots).enumerate() {
            if let (true, Slot::Block(block)) = (param.is_out, slot) {
                out_parameters
                    .push(plan.value(after, index, *block, &param.shape).map_err(|found| self.broken_by(found))?);
            }
        }
        let result = self.result.as_ref().map(|(_, what)| what.value(returned));
        let result = result.transpose().map_err(|breach| self.broken("the result".to_owned(), breach))?;
        Ok(Outcome { result, out_parameters })
    }

    /// Allocates fenced memory for each buffer of the plan. In the fenced memory, a red zone precedes the buffer.
    fn fences(&self, plan: &mut Plan) -> Result<Vec<Fenced>, Broken> {
        let sizes: Vec<_> = plan.ranges().map(|range| range.len()).collect();
        let fence = |(block, size): (usize, usize)| {
            let (param, path) = plan.location_of(block);
            let location = format!("parameter `{}{path}`", self.params[param].name);
            let label = format!("{location} of `{}` of `{}`, {size} bytes long", self.name, self.library.name());
            let mut fence = Fenced::new(RED_ZONE + size, &label)
                .map_err(|error| self.broken(location, Breach::NoFence { message: error.to_string() }))?;
            plan.set_address(block, fence.bytes().as_ptr().addr() + RED_ZONE);
            Ok(fence)
        };
        sizes.into_iter().enumerate().map(fence).collect()
    }

    /// Returns `true` if all parameters and the result are plain numbers. Such a call needs no buffers.
    pub(crate) fn is_plain(&self) -> bool {
        self.params.iter().all(|param| param.number().is_some())
            && self.result.as_ref().is_none_or(|(_, returned)| returned.number().is_some())
    }

    pub(crate) fn numbers(&self) -> impl Iterator<Item = Number> {
        self.params.iter().filter_map(Param::number)
    }

    /// Returns the number type of the result, if the result is a plain number.
    pub(crate) fn number_of_result(&self) -> Option<Number> {
        self.result.as_ref()?.1.number()
    }

    /// Reads the result, if it is a `bool`.
    pub(crate) fn read_bool(&self, word: u64) -> Result<Option<bool>, Broken> {
        let Some((_, Returned::Bool(width))) = self.result else { return Ok(None) };
        width.read(word).map(Some).map_err(|breach| self.broken("the result".to_owned(), breach))
    }

    /// Calls a function of plain numbers. `words` contains one widened number per parameter. Returns zero if the function does not exist.
    pub(crate) fn call_plain(&self, words: &[u64]) -> Result<u64, Broken> {
        self.stub.as_ref().map_or(Ok(0), |stub| self.run(stub, words))
    }

    /// Returns the function if it may be called directly: without a change of the working directory and without `libffi`.
    pub(crate) fn direct<A: CNumbers, R: CResult>(&self) -> Option<TypedCode<'_, A, R>> {
        let is_direct = self.no_cwd && self.library.0.folder.has_trampolines() && self.is_plain();
        let stub = self.stub.as_ref().filter(|_| is_direct)?;
        // SAFETY: the parameters and the result are plain numbers.
        unsafe { stub.typed() }
    }

    fn run(&self, stub: &Arc<Stub>, words: &[u64]) -> Result<u64, Broken> {
        if self.no_cwd {
            // SAFETY: the creator of the folder vouches for the functions of its libraries. The buffers belong to this call and do not move
            // until it returns.
            return Ok(unsafe { stub.call(words) });
        }
        let failed = |message: String| self.broken("the function".to_owned(), Breach::NoThread { message });
        let (stub, words) = (Arc::clone(stub), words.to_vec());
        let thread = self.library.0.folder.thread().map_err(failed)?;
        // SAFETY: the creator of the folder vouches for the functions of its libraries. The buffers do not move until the function returns,
        // because this thread waits for the call.
        let returned = thread.run(move || unsafe { stub.call(&words) });
        returned.map_err(|error| failed(error.to_string()))
    }

    fn nothing(&self, arguments: &[Value]) -> Outcome {
        let result = self.result.as_ref().map(|(ty, _)| Value::zero(ty));
        let out_parameters =
            self.params.iter().zip(arguments).filter(|(param, _)| param.is_out).map(|(_, value)| value.clone());
        Outcome { result, out_parameters: out_parameters.collect() }
    }

    fn broken_by(&self, Violation { param, path, breach }: Violation) -> Broken {
        self.broken(format!("parameter `{}{path}`", self.params[param].name), breach)
    }

    pub(crate) fn broken(&self, location: String, breach: Breach) -> Broken {
        Broken { library: self.library.name().to_owned(), function: self.name.clone(), location, breach }
    }
}

impl BoolWidth {
    const fn number(self) -> Number {
        match self {
            Self::One => Number::U8,
            Self::Four | Self::Unstated => Number::U32,
        }
    }

    /// Converts a returned machine word to a `bool`. If the low byte is zero but higher bits are set, the result depends on the width:
    /// `false` as one byte, `true` as four bytes.
    fn read(self, word: u64) -> Result<bool, Breach> {
        let (one, four) = (word as u8 != 0, word as u32 != 0);
        match self {
            Self::One => Ok(one),
            Self::Four => Ok(four),
            Self::Unstated if one == four => Ok(one),
            Self::Unstated => Err(Breach::Bool { word: word as u32 }),
        }
    }
}

impl Param {
    /// Returns the number type of a parameter that is passed as a number.
    fn number(&self) -> Option<Number> {
        match self.shape {
            Shape::Number(number) if !self.is_out => Some(number),
            _ => None,
        }
    }
}

impl Returned {
    fn of(site: &Site<'_>, ty: &PropertyType, width: BoolWidth) -> Result<Self, BindError> {
        match ty {
            PropertyType::Bool => Ok(Self::Bool(width)),
            _ => Shape::of_result(site, ty).map(Self::Other),
        }
    }

    /// Returns the number type of the result, if the result is a plain number.
    fn number(&self) -> Option<Number> {
        match self {
            Self::Bool(width) => Some(width.number()),
            Self::Other(Shape::Number(number)) => Some(*number),
            Self::Other(_) => None,
        }
    }

    /// Copies the value that the function returned in a register or by address.
    fn value(&self, returned: u64) -> Result<Value, Breach> {
        let address = returned as usize;
        match self {
            Self::Bool(width) => width.read(returned).map(Value::Bool),
            Self::Other(Shape::Number(number)) => Ok(number.narrowed(returned)),
            Self::Other(_) if address == 0 => Err(Breach::Null),
            Self::Other(Shape::Text) => text_at(address).map(Value::Text),
            Self::Other(shape) => {
                let mut bytes = vec![0; shape.size()];
                if process::read_memory(address, &mut bytes) != bytes.len() {
                    return Err(Breach::Nowhere { address });
                }
                plain_value(&bytes, shape)
            }
        }
    }
}

/// Reads the string at an address that a library returned. Reads through the kernel, so that an invalid address causes an error instead of
/// a fault.
fn text_at(address: usize) -> Result<String, Breach> {
    let mut units = Vec::new();
    while units.len() < LONGEST_RESULT {
        let at = address.wrapping_add(units.len() * 2);
        let mut piece = [0; 256];
        let read = process::read_memory(at, &mut piece);
        let found = utf16::units_of(&piece[..read]);
        if found.is_empty() {
            return Err(Breach::Nowhere { address: at });
        }
        if let Ok(last) = utf16::up_to_zero(&piece[..read]) {
            units.extend_from_slice(last);
            return utf16::decode(&units);
        }
        units.extend_from_slice(found);
    }
    Err(Breach::Unterminated { units: units.len() })
}

impl fmt::Debug for Imported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {:?}", self.name, self.library)
    }
}
