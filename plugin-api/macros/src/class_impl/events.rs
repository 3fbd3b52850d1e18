//! Events in the `impl` block of a class: declared events, with or without a default body, and overrides of events of base classes.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Attribute, Ident, Path, Result, ReturnType, Signature, TraitItemFn};

use super::{Body, function_flags};
use crate::attr_args::{AttrArgs, cell_name, take_attr};
use crate::class_struct::formatted;
use crate::conditions::Conditions;
use crate::custom_thunk;
use crate::docs;
use crate::function_builder::{self, Defaults};
use crate::impl_block::{Function, Member};
use crate::method::Method;
use crate::rules;
use crate::specifiers::{self, FUNCTION};
use crate::type_names::name_self;

/// Specifiers of events. The body of an event is a separate function, or is written in scripts.
pub(crate) const EVENTS: [&str; 2] = ["blueprint_native_event", "blueprint_implementable_event"];

/// Error for a function with both event specifiers.
pub(crate) const TWO_SORTS_OF_EVENT: &str =
    "an event has a default body, `blueprint_native_event`, or none, `blueprint_implementable_event`: use one of them";

const NO_BODY: &str = "only an event has no body: write `blueprint_native_event`, or add a body";

pub(super) struct Event {
    conditions: Conditions,
    method: Method,
    attr_args: AttrArgs,
    attrs: Vec<Attribute>,
}

impl Body<'_> {
    pub(super) fn add_event(&mut self, declaration: TraitItemFn) -> Result<()> {
        let TraitItemFn { mut attrs, mut sig, .. } = declaration;
        name_self(&mut sig, self.class);
        if let Some(attr) = take_attr(&mut attrs, "dll_import")? {
            return self.dll_import(&attr, &sig, &mut attrs);
        }
        let Some(attr) = take_attr(&mut attrs, "ufunction")? else {
            return Err(rules::spanned(
                "ALC0013",
                sig,
                "a declaration without a body is an event: write `#[ufunction(blueprint_native_event)]`",
            ));
        };
        let attr_args = AttrArgs::of(&attr)?;
        function_flags(&attr_args)?;
        if let Some(thunk) = custom_thunk::named(&attr_args)? {
            return self.custom_thunk(&thunk, &attr_args, &sig, &attrs);
        }
        let (native, implementable) = (attr_args.flag(EVENTS[0])?, attr_args.flag(EVENTS[1])?);
        let problem = if native { TWO_SORTS_OF_EVENT } else { NO_BODY };
        rules::refuse_at("ALC0014", (native == implementable).then_some(attr_args.span), problem)?;
        let method = Method::of(&sig)?;
        method.needs_self(&sig, "an event")?;
        rules::refuse(
            "ALC0015",
            method.has_this.then(|| &sig.inputs[1]),
            "the declaration lists the arguments of callers; `this` is a parameter of the `_implementation`",
        )?;
        let conditions = Conditions::of(&attrs)?;
        if native {
            self.events.push(Event { conditions, method, attr_args, attrs });
            return Ok(());
        }
        let mark = self.mark();
        self.implementable_event(&method, &attr_args, &attrs)?;
        self.condition(&conditions, mark)
    }

    fn implementable_event(&mut self, method: &Method, attr_args: &AttrArgs, attrs: &[Attribute]) -> Result<()> {
        rules::refuse(
            "ALC0016",
            method.result.may_fail.then_some(&method.result.returned),
            "an event without a body returns the zero value and no error: use the plain type",
        )?;
        let (class, cell) = (self.class, self.cell_of(method, attrs)?);
        let metadata = specifiers::metadata(Some(attr_args), FUNCTION, &docs::text(attrs))?;
        let defaults = Defaults::of(attr_args, method)?;
        let (types, result) = (method.types(), method.result_type());
        let builder = (&quote! { implementable_event }, &quote! { #class, (#(#types,)*), #result });
        // The builder marks the function as an event; only the specifiers that let scripts call the function become flags here.
        let flags = specifiers::flags(attr_args, &FUNCTION[..2], "function_flags")?;
        let fixed = [&flags, &cell, &metadata].map(|source| specifiers::tokens(source));
        self.functions.push(function_builder::description(method, builder, defaults.on_block(), fixed));
        self.expanded.push(defaults.checks.clone());
        self.call(method, &cell, &docs::shared(attrs));
        Ok(())
    }

    /// Finds the default body of an event, and checks that it has the same signature as the event.
    pub(super) fn finish_event(&mut self, event: Event, members: &[Member]) -> Result<()> {
        let Event { conditions, method, attr_args, attrs } = event;
        let mark = self.mark();
        let target = format_ident!("{}_implementation", method.text(), span = method.name.span());
        let bodies = members.iter().filter_map(|member| match member {
            Member::Function(function) if function.sig.ident == target => Some(function),
            _ => None,
        });
        let has_conditions = |body: &&Function| Conditions::cfg(&body.attrs) == conditions;
        let Some(Function { sig: body, .. }) = bodies.clone().find(has_conditions).or_else(|| bodies.clone().next())
        else {
            return Err(rules::at(
                "ALC0017",
                method.name.span(),
                format!("the event needs a default body, which runs without an override: write `fn {target}(…)`"),
            ));
        };
        let mut body = body.clone();
        name_self(&mut body, self.class);
        let default = Method::of(&body)?;
        default.needs_self(&body, "the body of an event")?;
        compare(&method, &default, &body)?;
        let implementation = Method { name: method.name.clone(), ..default };
        let flags = function_flags(&attr_args)?;
        let cell = self.reflect(&implementation, &target, Some(&attr_args), &flags, &"", &attrs)?;
        self.call(&method, &cell, &docs::shared(&attrs));
        self.event_constant(&method);
        let text = method.text();
        self.event_names.push(conditions.on_element(quote! { #text }));
        self.condition(&conditions, mark)
    }

    pub(super) fn override_of(&mut self, attr: &Attribute, signature: &Signature, attrs: &[Attribute]) -> Result<()> {
        let base: Path = attr.parse_args().map_err(|error| {
            rules::at("ALC0018", error.span(), "expected the class that declares the event: `#[overrides(Actor)]`")
        })?;
        let method = Method::of(signature)?;
        method.needs_self(signature, "an override")?;
        let (class, name) = (self.class, &method.name);
        let (constant, fn_type) = (method.event_constant(), method.as_fn_type());
        let (text, problem) = (method.text(), format!("`{}` declares no event `{}`", formatted(&base), method.text()));
        self.expanded.push(quote_spanned! {name.span()=>
            const _: () = {
                // If the class declares the event, the class's inherent constant takes precedence over this constant.
                #[allow(dead_code, reason = "the class should declare the event")]
                trait AlcedoEvent {
                    const #constant: ::alcedo_plugin_api::__private::NoEvent = ::alcedo_plugin_api::__private::NoEvent;
                }
                impl<T> AlcedoEvent for T {}
                type AlcedoView = <#base as ::alcedo_plugin_api::__private::Class>::View<'static>;
                ::core::assert!(
                    AlcedoView::#constant.is_declared(),
                    "{}",
                    ::alcedo_plugin_api::__private::no_event::<#base>(#problem, #text, " [ALC0117]").as_str()
                );
                AlcedoView::#constant.check::<#fn_type>();
            };
        });
        let flags = "::alcedo_plugin_api::__private::function_flags::OVERRIDE";
        let overrides = quote! { <#base as ::alcedo_plugin_api::__private::Class>::PATH };
        self.reflect(&method, name, None, flags, &overrides, attrs)?;

        let base_name = format_ident!("base_{}", text, span = name.span());
        let cell = cell_name("BASE", &text);
        let cell_type = method.cell(class);
        let path = quote! {
            ::alcedo_plugin_api::__private::join!(
                <<#class as ::alcedo_plugin_api::__private::Class>::Base as ::alcedo_plugin_api::__private::Class>::PATH,
                ":",
                #text
            )
        };
        let doc = format!("Calls the base class's body of `{text}`, which this class overrides.");
        let mut callers = method.callers(&base_name, &cell.to_string(), &path, &[syn::parse_quote!(#[doc = #doc])]);
        callers.declared.0 = "override";
        self.callers.push(callers);
        self.expanded.push(quote! {
            #[allow(clippy::type_complexity, reason = "the type has a part for each parameter")]
            static #cell: #cell_type = ::alcedo_plugin_api::__private::FunctionCell::new();
            ::alcedo_plugin_api::__private::register! {
                IMPORTS: ::alcedo_plugin_api::__private::ImportDesc =
                    ::alcedo_plugin_api::__private::import_overridden(#path, &#cell)
            }
        });
        Ok(())
    }

    /// Adds the constant with which overrides of an event are checked.
    pub(crate) fn event_constant(&mut self, method: &Method) {
        self.expanded.push(event_constant(&self.view, method));
    }
}

/// Expands to the list of event names of a class. Returns `None` for a class without events.
pub(crate) fn event_names(view: &Ident, names: &[TokenStream]) -> Option<TokenStream> {
    (!names.is_empty()).then(|| {
        quote! {
            impl #view<'_> {
                #[doc(hidden)]
                pub const ALCEDO_EVENTS: &'static [&'static ::core::primitive::str] = &[#(#names),*];
            }
        }
    })
}

/// Expands to the constant with which overrides of an event are checked.
pub(crate) fn event_constant(view: &Ident, method: &Method) -> TokenStream {
    let (constant, fn_type) = (method.event_constant(), method.as_fn_type());
    quote! {
        impl #view<'_> {
            /// Signature of the event, for overrides.
            #[doc(hidden)]
            #[allow(clippy::type_complexity, reason = "the type has a part for each parameter")]
            pub const #constant: ::alcedo_plugin_api::__private::EventOf<#fn_type> =
                ::alcedo_plugin_api::__private::EventOf::new();
        }
    }
}

fn compare(event: &Method, body: &Method, signature: &Signature) -> Result<()> {
    let text = |part: &dyn ToTokens| part.to_token_stream().to_string();
    for (at, expected) in event.parameters.iter().enumerate() {
        let (declared, reference) = (text(&expected.ty), if expected.is_out { "&mut " } else { "" });
        let Some(found) = body.parameters.get(at) else {
            return Err(rules::spanned("ALC0020", signature, format!("the event has another parameter: `{declared}`")));
        };
        let differs = text(&found.ty) != declared || found.is_out != expected.is_out;
        rules::refuse(
            "ALC0019",
            differs.then_some(&found.ty),
            format_args!("the event declares `{reference}{declared}` here"),
        )?;
    }
    let extra = body.parameters.get(event.parameters.len()).map(|extra| &extra.ty);
    rules::refuse("ALC0021", extra, "the event does not declare this parameter")?;
    let (declared, found) = (text(&event.result.returned_type()), text(&body.result.returned_type()));
    let place: &dyn ToTokens = match &signature.output {
        ReturnType::Default => signature,
        output => output,
    };
    let differs = (found != declared).then_some(place);
    rules::refuse("ALC0022", differs, format_args!("the event declares the result `{declared}`"))
}
