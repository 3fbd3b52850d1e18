//! Expands `#[ufunction(custom_thunk = Self::exec_name)]`: a function declared without a body, with a custom thunk. The thunk reads the
//! parameters of a call one by one, so parameters that a wildcard specifier lists may be of any type.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::{Ident, Path, PathSegment, Result, Signature};

use crate::attr_args::AttrArgs;
use crate::method::{Method, SelfKind};
use crate::native::Side;
use crate::rules;
use crate::type_names::at_span;

pub(crate) const SPECIFIER: &str = "custom_thunk";

/// Specifiers that list wildcard parameters, whose types are determined by the caller.
pub(crate) const WILDCARDS: [&str; 3] = ["custom_struct_param", "array_parm", "array_type_dependent_params"];

/// Name that represents the result in a list of wildcard parameters.
const RESULT: &str = "return_value";

pub(crate) fn named(attr_args: &AttrArgs) -> Result<Option<Path>> {
    let Some(attr_arg) = attr_args.get(SPECIFIER) else {
        rules::refuse(
            "ALC0202",
            WILDCARDS.iter().find_map(|name| attr_args.get(name)).map(|lists| &lists.name),
            format_args!("only a custom thunk takes parameters of any type: add `{SPECIFIER} = Self::exec_name`"),
        )?;
        return Ok(None);
    };
    match attr_args.path(SPECIFIER) {
        Ok(Some(path)) => Ok(Some(path)),
        _ => Err(rules::at(
            "ALC0201",
            attr_arg.name.span(),
            format!("name the function that steps through the call: `{SPECIFIER} = Self::exec_name`"),
        )),
    }
}

/// Rejects a function that has both a body and a custom thunk.
pub(crate) fn refuse_body(attr_args: &AttrArgs, signature: &Signature) -> Result<()> {
    match named(attr_args)? {
        None => Ok(()),
        Some(thunk) => Err(rules::spanned(
            "ALC0200",
            signature,
            format!(
                "its thunk is `{}`, so this body would never be called: declare the function without one, `fn {}(…);`",
                thunk.to_token_stream().to_string().replace(' ', ""),
                signature.ident
            ),
        )),
    }
}

/// Checks that a declaration may have a custom thunk. `events` lists the specifiers of overridable functions.
pub(crate) fn check(attr_args: &AttrArgs, events: &[&str], method: &Method, signature: &Signature) -> Result<()> {
    for event in events {
        rules::refuse_at(
            "ALC0204",
            attr_args.flag(event)?.then_some(attr_args.span),
            format_args!("an event calls its override: `{SPECIFIER}` is for functions that cannot be overridden"),
        )?;
    }
    rules::refuse(
        "ALC0204",
        (method.self_kind == SelfKind::Exclusive || method.has_this).then_some(&signature.inputs),
        "the thunk knows its object from the frame: the declaration takes `&self`, or no object, and the arguments of callers",
    )?;
    rules::refuse(
        "ALC0204",
        method.result.may_fail.then_some(&signature.output),
        "the thunk reports its errors itself: the declaration has the plain type of the result",
    )?;
    for list in WILDCARDS {
        let Some(text) = attr_args.text(list)? else { continue };
        for name in text.value().split(',').map(str::trim) {
            let is_known = method.parameters.iter().any(|parameter| parameter.text == name)
                || (name == RESULT && method.result.returned.is_some());
            rules::refuse(
                "ALC0203",
                (!is_known).then_some(&text),
                format_args!("`{name}` is not a parameter of `{}`; the result is called `{RESULT}`", method.name),
            )?;
        }
    }
    Ok(())
}

pub(crate) fn trampoline(trampoline: &Ident, class: &Ident, thunk: &Path, side: Side) -> TokenStream {
    let thunk = of_class(thunk, class);
    let (parameter, argument) = match side {
        Side::Host => (quote! { world: &::alcedo_plugin_api::__private::World, }, quote! { world, }),
        Side::Plugin => Default::default(),
    };
    quote! {
        struct #trampoline;
        impl ::alcedo_plugin_api::__private::CustomThunk for #trampoline {
            type Class = #class;

            fn run(
                #parameter
                frame: &mut ::alcedo_plugin_api::__private::Frame<'_>,
            ) -> ::core::result::Result<(), ::alcedo_plugin_api::__private::CallError> {
                #thunk(#argument frame)
            }
        }
    }
}

/// Replaces `Self` in the path by the class, because the trampoline is outside of the `impl` block.
pub(crate) fn of_class(path: &Path, class: &Ident) -> Path {
    let mut path = path.clone();
    if let Some(first) = path.segments.first_mut().filter(|first| first.ident == "Self") {
        *first = PathSegment::from(at_span(class.clone(), first.ident.span()));
    }
    path
}
