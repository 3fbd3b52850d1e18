//! An attribute macro as another crate could define it, independent of this framework.

use proc_macro::TokenStream;

/// Replaces every `u32` in an item by `Rc<u32>`.
#[proc_macro_attribute]
pub fn counters_are_shared(_words: TokenStream, item: TokenStream) -> TokenStream {
    let changed = item.to_string().replace("u32", "::std::rc::Rc<u32>");
    changed.parse().unwrap_or(item)
}
