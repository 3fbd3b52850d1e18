//! Functions of the host with `ex:/` names. Modules of Slims, pinned contexts and the Default call these functions on any thread. If all
//! arguments and the result fit into slots, modules call the function directly. A function may be registered as a *leaf*: its code needs no
//! context, and a direct call jumps to this code. A direct call of any other function runs the body of the function.
#![expect(unsafe_code, reason = "declares the code of direct calls")]

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use alcedo_abi::direct::{DirectAnswer, MOST_WORDS};
use alcedo_abi::host_direct::{CLOSED, DirectBits, DirectBody, DirectCallee};
use alcedo_abi::zcall::{Slot, SlotType};
use arc_swap::ArcSwapOption;

use crate::boundary::CallError;
use crate::bridge::dynamic_call::PlainBody;
use crate::bridge::host_direct::{failed, guarded};
use crate::bridge::module_code;
use crate::callback::{HostId, Registered, Site, let_go};
use crate::handles::ObjectHandle;
use crate::signature::Signature;
use crate::zcall::black_code::LeafCode;
use crate::zcall::buffer::BufferMut;

/// Function of the host. Callable on any thread.
pub(crate) struct HostFunction {
    /// Full name `ex:/name`, for errors.
    pub full: Arc<str>,
    pub fingerprint: u64,
    /// Signature as a string.
    pub signature: Arc<str>,
    leaf: Option<LeafCode>,
    /// Slot types of the parameters and of the result. `None` if a value does not fit into a slot.
    slots: Option<(Box<[SlotType]>, Option<SlotType>)>,
    site: Site,
    /// Body of the function. `None` once the host has shut down.
    body: ArcSwapOption<Box<PlainBody>>,
}

impl HostFunction {
    /// Calls the function on this thread. Returns the errors of the body, and [`CallError::Unavailable`] once the host has shut down.
    pub(crate) fn call(&self, buffer: &mut BufferMut<'_>) -> Result<(), CallError> {
        // Keeps the body during the call without changing a shared reference count.
        let body = self.body.load();
        let body = body.as_ref().ok_or_else(|| CallError::Unavailable { what: format!("`{}`", self.full) })?;
        body(buffer)
    }

    /// Returns the code for direct calls, valid for this version of the gate word. The code receives this function as its context. The code
    /// of a leaf receives no context. Returns `NONE` if a value does not fit into a slot, or if `version` is [`CLOSED`].
    pub(crate) fn direct(self: &Arc<Self>, version: u64) -> DirectCallee {
        let Some((parameters, _)) = self.slots.as_ref().filter(|_| version != CLOSED) else {
            return DirectCallee::NONE;
        };
        match (self.leaf, module_code::code::<InSlots>(parameters.len())) {
            (Some(leaf), _) => DirectCallee { code: leaf.address(), context: DirectCallee::LEAF, version },
            (None, Some(code)) => DirectCallee { code, context: Arc::as_ptr(self).cast(), version },
            (None, None) => DirectCallee::NONE,
        }
    }

    /// Calls the function with arguments as raw bits. All arguments and the result must fit into slots. Returns the errors of
    /// [`HostFunction::call`].
    #[inline]
    fn call_bits(&self, bits: &[u64]) -> Result<u64, CallError> {
        let Some((parameters, result)) = &self.slots else {
            return Err(CallError::other("a direct call of a function with values that fit no slots"));
        };
        let mut slots = [Slot::EMPTY; MOST_WORDS + 1];
        for ((slot, of), bits) in slots.iter_mut().zip(parameters.iter()).zip(bits) {
            *slot = Slot::from_bits(*of, *bits);
        }
        let slots = &mut slots[..bits.len() + usize::from(result.is_some())];
        self.call(&mut BufferMut::over(slots))?;
        Ok(slots.get(bits.len()).map_or(0, |slot| slot.bits()))
    }
}

/// Implements direct calls for functions whose arguments and result fit into slots.
struct InSlots;

impl<Bits: DirectBits> DirectBody<Bits> for InSlots {
    /// Context that `HostFunction::direct` returns with the code. The call table of the module owns a reference to the function while the
    /// module is mapped.
    type Context = HostFunction;

    #[inline]
    unsafe fn run(function: &HostFunction, _object: ObjectHandle, bits: Bits) -> DirectAnswer {
        guarded(|| function.call_bits(bits.words()).map_or_else(failed, DirectAnswer::done))
    }
}

/// All functions of a host. Usable on any thread.
pub(crate) struct HostFunctions {
    by_name: RwLock<HashMap<Box<str>, Arc<HostFunction>>>,
    /// Gate word of the host. A module compares the gate word before each direct call.
    word: Arc<AtomicU64>,
}

impl Default for HostFunctions {
    fn default() -> Self {
        Self { by_name: RwLock::default(), word: Arc::new(AtomicU64::new(CLOSED + 1)) }
    }
}

impl HostFunctions {
    /// Adds a function under the name `ex:/name`. The name must be unique. The code in `leaf` must have the same effect as `body`.
    pub(crate) fn add(
        &self,
        name: &str,
        signature: &Signature,
        site: Site,
        body: Box<PlainBody>,
        leaf: Option<LeafCode>,
    ) {
        let parameters = signature.0.arguments.iter().map(|word| SlotType::of_kind(word.kind())).collect::<Option<_>>();
        let result = signature.0.result.as_ref().map(|word| SlotType::of_kind(word.kind()));
        let function = HostFunction {
            full: format!("ex:/{name}").into(),
            fingerprint: signature.fingerprint(),
            signature: signature.to_string().into(),
            leaf,
            slots: match result {
                Some(None) => None,
                result => parameters.zip(Some(result.flatten())),
            },
            site,
            body: ArcSwapOption::from_pointee(body),
        };
        self.by_name.write().unwrap_or_else(PoisonError::into_inner).insert(name.into(), Arc::new(function));
    }

    /// Finds a function by its name without the prefix `ex:/`.
    pub(crate) fn find(&self, name: &str) -> Option<Arc<HostFunction>> {
        self.by_name.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    pub(crate) fn names(&self) -> Vec<Arc<str>> {
        let functions = self.by_name.read().unwrap_or_else(PoisonError::into_inner);
        let mut names: Vec<_> = functions.values().map(|function| Arc::clone(&function.full)).collect();
        names.sort();
        names
    }

    /// Returns the gate word for direct calls. Its value is [`CLOSED`] once the host has shut down.
    pub(crate) fn word(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.word)
    }

    /// Drops the bodies of all functions when the host shuts down.
    pub(crate) fn let_go(&self, host: HostId) {
        self.word.store(CLOSED, Ordering::SeqCst);
        let functions: Vec<_> = {
            let mut functions = self.by_name.write().unwrap_or_else(PoisonError::into_inner);
            functions.drain().map(|(_name, function)| function).collect()
        };
        let take =
            |function: &Arc<HostFunction>| Some(Registered { code: function.body.swap(None)?, site: function.site });
        let_go(host, functions.iter().filter_map(take));
    }
}
