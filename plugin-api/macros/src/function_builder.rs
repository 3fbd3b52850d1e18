//! Describes functions by a call of a builder: events that only scripts implement, custom thunks, functions of C libraries, and functions
//! of native classes. Also expands the defaults of the last parameters of any function.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Result;

use crate::attr_args::{AttrArgs, text_of};
use crate::default_value::DefaultValue;
use crate::method::Method;
use crate::rules;

/// Defaults of parameters as strings, with compile-time checks.
#[derive(Default)]
pub(crate) struct Defaults {
    pub(crate) values: Vec<String>,
    pub(crate) checks: TokenStream,
}

impl Defaults {
    /// Parses `defaults(times = 3)`. Only the last parameters may have defaults, because a caller can omit only the last arguments.
    pub(crate) fn of(attr_args: &AttrArgs, method: &Method) -> Result<Self> {
        let pairs = attr_args.pairs("defaults")?;
        if pairs.is_empty() {
            return Ok(Self::default());
        }
        if let Some((name, _)) =
            pairs.iter().find(|(name, _)| !method.parameters.iter().any(|known| text_of(name) == known.text))
        {
            return Err(rules::at("ALC0083", name.span(), format!("`{name}` is not a parameter of `{}`", method.name)));
        }
        let (mut values, mut checks, mut first) = (Vec::new(), TokenStream::new(), None);
        for parameter in &method.parameters {
            let default = pairs.iter().find(|(name, _)| text_of(name) == parameter.text);
            match (default, first) {
                (None, None) => values.push(String::new()),
                (None, Some(first)) => {
                    return Err(rules::spanned(
                        "ALC0084",
                        first,
                        format!("the last parameters have defaults, and `{}` after this has none", parameter.text),
                    ));
                }
                (Some((name, value)), _) => {
                    first = first.or(Some(name));
                    let default = DefaultValue::of(value, &parameter.ty)?;
                    values.push(default.text);
                    checks.extend(default.check);
                }
            }
        }
        Ok(Self { values, checks })
    }

    /// Expands to the call that adds the defaults to a parameter block.
    pub(crate) fn on_block(&self) -> Option<TokenStream> {
        let values = &self.values;
        (!values.is_empty()).then(|| quote! { .with_defaults(&[#(#values),*]) })
    }
}

/// Expands to the description of a function by a call of `builder`, which has the types `of`. `on_block` is a call that adds to the
/// parameter block.
pub(crate) fn description(
    method: &Method,
    (builder, of): (&TokenStream, &TokenStream),
    on_block: Option<TokenStream>,
    [flags, cell, metadata]: [TokenStream; 3],
) -> TokenStream {
    let (text, types, result) = (method.text(), method.types(), method.result_type());
    let names = method.parameters.iter().map(|parameter| &parameter.text);
    quote! {
        ::alcedo_plugin_api::__private::#builder::<#of>(
            #text,
            #flags,
            {
                const BLOCK: &::alcedo_plugin_api::__private::SignatureBlock<(#(#types,)*), #result> =
                    &::alcedo_plugin_api::__private::SignatureBlock::new(&[#(#names),*])#on_block;
                BLOCK
            },
            &#cell,
            #metadata,
        )
    }
}
