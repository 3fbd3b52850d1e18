//! Expands `async fn` under `#[ufunction]` to a task of the object. For the host, the function is a plain function with the additional
//! parameter `done`, a delegate that the task calls with the result.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::{FnArg, Ident, Result, Signature, Type};

use crate::method::Method;
use crate::native::Side;
use crate::result::{ResultOf, location_of};
use crate::rules;
use crate::type_names::{borrowed_type, has_parameters, is_named, ungrouped};

/// Name of the additional delegate parameter.
const DONE: &str = "done";

/// Metadata that marks an async function for tools. The value is the name of the delegate parameter.
pub(crate) const LATENT: (&str, &str) = ("latent", DONE);

/// An `async fn`, which is declared to the host as a plain function.
pub(crate) struct AsyncFunction {
    /// The plain function that starts the task.
    pub(crate) method: Method,
    pub(crate) result: ResultOf,
}

impl AsyncFunction {
    /// Parses the signature of an `async fn` in a class of a plugin or a host, depending on `side`.
    pub(crate) fn of(signature: &Signature, side: Side) -> Result<Self> {
        rules::refuse_at(
            "ALC0115",
            signature.asyncness.filter(|_| side == Side::Host).map(|token| token.span),
            "a function of a native class is not async: tasks belong to modules; take a delegate, and call it later",
        )?;
        let mut errors = rules::Errors::default();
        match signature.inputs.first() {
            Some(FnArg::Typed(first)) if is_obj_of_self(&first.ty) => {}
            first => {
                let (at, paren) = (first.map(|first| first.to_token_stream()), signature.paren_token.span.join());
                let problem = "an async function outlives the call that starts it: take `this: Obj<Self>` as the first \
                               parameter, and no `self`; reach the object with `this.with(…)` or `this.with_part(…)`";
                errors.take::<()>(Err(match at {
                    Some(tokens) => rules::spanned("ALC0113", tokens, problem),
                    None => rules::at("ALC0113", paren, problem),
                }));
            }
        }
        for input in signature.inputs.iter().skip(1) {
            if let FnArg::Typed(typed) = input
                && (matches!(ungrouped(&typed.ty), Type::Reference(_)) || borrowed_type(&typed.ty).is_some())
            {
                errors.take::<()>(Err(rules::spanned(
                    "ALC0114",
                    &typed.ty,
                    "an async function owns its parameters, because it outlives its call: use the type without `&` and `Borrowed`; \
                     its result is passed to `done`",
                )));
            }
        }
        let result = ResultOf::of(&signature.output);
        let method = errors.take(Method::of(&as_plain(signature, &result)));
        errors.unless(method.map(|method| Self { method, result }))
    }

    /// Expands to the body of the function's trampoline, which starts the task on an object of `class`.
    pub(crate) fn start(&self, class: &Ident) -> TokenStream {
        let (name, location) = (&self.method.name, location_of(&self.method.name));
        let mut arguments: Vec<_> = self.method.parameters.iter().map(|parameter| &parameter.ident).collect();
        let done = arguments.pop();
        let conversion = match (self.result.may_fail, self.result.has_value()) {
            (false, true) => quote! { value_done },
            (false, false) => quote! { nothing_done },
            (true, true) => quote! { value_or_error_done },
            (true, false) => quote! { error_done },
        };
        quote! {
            ::alcedo_plugin_api::__private::start_task(
                this,
                #class::#name(this.as_obj(), #(#arguments),*),
                #done,
                #location,
                ::alcedo_plugin_api::__private::#conversion,
            )
        }
    }
}

/// Returns the signature that the host receives: without `async` and result, with `this`, and with the delegate as the last parameter.
fn as_plain(signature: &Signature, result: &ResultOf) -> Signature {
    let (value, error) = (result.value_type(), result.may_fail.then(|| quote! { ::std::string::String }));
    let value = if result.has_value() {
        quote! { #value, #error }
    } else {
        quote! { #error }
    };
    let done = quote::format_ident!("{DONE}");
    let mut plain = signature.clone();
    plain.asyncness = None;
    plain.output = syn::ReturnType::Default;
    plain.inputs = core::iter::once(syn::parse_quote! { this: This<Self> })
        .chain(signature.inputs.iter().skip(1).cloned())
        .chain(core::iter::once(syn::parse_quote! {
            #done: Borrowed<::alcedo_plugin_api::Delegate<fn(#value)>>
        }))
        .collect();
    plain
}

/// Returns true for `Obj<Self>`, or `Obj` with the name of a class.
fn is_obj_of_self(ty: &Type) -> bool {
    is_named(ty, "Obj") && has_parameters(ty)
}
