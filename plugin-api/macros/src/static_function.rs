//! Functions that need no plugin part: static ones, and events that only scripts give a body. And what all functions may
//! have: defaults for their last parameters.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Ident, Result};

use crate::default_value::DefaultValue;
use crate::method::{Method, Parameter};
use crate::result::place_of;
use crate::rules;
use crate::words::Words;

/// Defaults of parameters: the texts, and what makes the compiler check them.
#[derive(Default)]
pub(crate) struct Defaults {
    texts: Vec<String>,
    checks: TokenStream,
}

impl Defaults {
    /// Those in `defaults(times = 3)`: of the last parameters, since the first that is left out ends the arguments.
    pub(crate) fn of(words: &Words, method: &Method) -> Result<Self> {
        let pairs = words.pairs("defaults")?;
        if pairs.is_empty() {
            return Ok(Self::default());
        }
        if let Some((name, _)) =
            pairs.iter().find(|(name, _)| !method.parameters.iter().any(|known| name == &known.text))
        {
            return Err(rules::at("ALC0083", name.span(), format!("`{name}` is no parameter of `{}`", method.name)));
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

    /// What the plumbing adds to a block.
    pub(crate) fn on_block(&self) -> Option<TokenStream> {
        let texts = &self.texts;
        (!texts.is_empty()).then(|| quote! { .with_defaults(&[#(#texts),*]) })
    }

    /// The checks.
    pub(crate) fn checks(&self) -> &TokenStream {
        &self.checks
    }
}

/// The description of a function without a plugin part, made by `builder` of the plumbing.
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

/// The shell of a static function.
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
