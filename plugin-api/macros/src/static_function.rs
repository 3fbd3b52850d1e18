//! Functions without a plugin part: static functions, and events that only scripts implement. Also defaults of the last
//! parameters, which all functions may have.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Ident, Result};

use crate::default_value::DefaultValue;
use crate::method::{Method, Parameter};
use crate::result::place_of;
use crate::rules;
use crate::words::Words;

/// Defaults of parameters as text, with compile-time checks.
#[derive(Default)]
pub(crate) struct Defaults {
    texts: Vec<String>,
    checks: TokenStream,
}

impl Defaults {
    /// Parses `defaults(times = 3)`: defaults of the last parameters, because the first omitted argument ends the list.
    pub(crate) fn of(words: &Words, method: &Method) -> Result<Self> {
        let pairs = words.pairs("defaults")?;
        if pairs.is_empty() {
            return Ok(Self::default());
        }
        if let Some((name, _)) =
            pairs.iter().find(|(name, _)| !method.parameters.iter().any(|known| name == &known.text))
        {
            return Err(rules::at("ALC0083", name.span(), format!("`{name}` is not a parameter of `{}`", method.name)));
        }
        let (mut texts, mut checks, mut first) = (Vec::new(), TokenStream::new(), None);
        for parameter in &method.parameters {
            let default = pairs.iter().find(|(name, _)| name == &parameter.text);
            match (default, first) {
                (None, None) => texts.push(String::new()),
                (None, Some(first)) => {
                    return Err(rules::spanned(
                        "ALC0084",
                        first,
                        format!("the last parameters have defaults, and `{}` behind this has none", parameter.text),
                    ));
                }
                (Some((name, value)), _) => {
                    first = first.or(Some(name));
                    let default = DefaultValue::of(value, &parameter.ty)?;
                    texts.push(default.text);
                    checks.extend(default.check);
                }
            }
        }
        Ok(Self { texts, checks })
    }

    /// Expands to the call that adds defaults to a block.
    pub(crate) fn on_block(&self) -> Option<TokenStream> {
        let texts = &self.texts;
        (!texts.is_empty()).then(|| quote! { .with_defaults(&[#(#texts),*]) })
    }

    pub(crate) fn checks(&self) -> &TokenStream {
        &self.checks
    }
}

/// Expands to the description of a function without a plugin part, created by `builder`.
pub(crate) fn description(
    method: &Method,
    (builder, of): (&TokenStream, &TokenStream),
    flags: &TokenStream,
    defaults: &Defaults,
    cell: &Ident,
    about: &TokenStream,
) -> TokenStream {
    let (text, result) = (method.text(), method.result_type());
    let names = method.parameters.iter().map(|parameter| &parameter.text);
    let (types, defaults) = (method.types(), defaults.on_block());
    quote! {
        ::alcedo_plugin_api::plumbing::#builder::<#of>(
            #text,
            #flags,
            {
                const BLOCK: &::alcedo_plugin_api::plumbing::SignatureBlock<(#(#types,)*), #result> =
                    &::alcedo_plugin_api::plumbing::SignatureBlock::new(&[#(#names),*])#defaults;
                BLOCK
            },
            &#cell,
            #about,
        )
    }
}

pub(crate) fn shell(method: &Method, shell: &Ident, class: &Ident) -> TokenStream {
    let (name, result, place) = (&method.name, method.result_type(), place_of(&method.name));
    let returned = method.result.returned_type();
    let (patterns, call) = (method.patterns(), method.call(&quote! { #class::#name }, &TokenStream::new()));
    let types = method.parameters.iter().map(Parameter::taken);
    quote! {
        struct #shell;
        impl ::alcedo_plugin_api::plumbing::StaticMethod for #shell {
            type Class = #class;
            type Args = (#(#types,)*);
            type Result = #result;
            type Returned = #returned;
            const PLACE: ::alcedo_plugin_api::plumbing::Place = #place;

            fn run<'f>(
                #patterns: <Self::Args as ::alcedo_plugin_api::plumbing::Params>::Seen<'f>,
            ) -> Self::Returned {
                #call
            }
        }
    }
}
