//! Expands `#[uclass(imported)]` on an `impl` of declarations: functions that the host or another module implements.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Ident, ImplItem, Result, TraitItemFn};

use crate::attr_args::{AttrArgs, take_attr};
use crate::class_impl::{EVENTS, TWO_SORTS_OF_EVENT, event_constant, event_names, view_in_block};
use crate::conditions::Conditions;
use crate::impl_block::{self, Member};
use crate::method::Method;
use crate::method_names::MethodNames;
use crate::rules;
use crate::type_names::name_self;

pub(crate) fn expand(members: &[Member], class: &Ident) -> Result<TokenStream> {
    let view = view_in_block(class);
    let (mut expanded, mut names, mut errors) = (Vec::new(), Vec::new(), rules::Errors::default());
    let mut methods = MethodNames::default();
    for member in members {
        let Member::Other(ImplItem::Verbatim(tokens)) = member else {
            errors.take::<()>(Err(rules::spanned(
                "ALC0043",
                member,
                "an imported class has declarations only, `#[ufunction] fn name(&self, …);`: its bodies are elsewhere",
            )));
            continue;
        };
        let declared = impl_block::declaration(tokens.clone())
            .and_then(|parsed| declaration((class, &view), parsed, &mut names, &mut methods));
        expanded.extend(errors.take(declared));
    }
    errors.finish()?;
    expanded.extend(event_names(&view, &names));
    expanded.extend(methods.checked_with_properties(class));
    Ok(quote! {
        #[allow(non_snake_case, reason = "the members are declared with these names")]
        const _: () = { #(#expanded)* };
    })
}

fn declaration(
    (class, view): (&Ident, &Ident),
    declaration: TraitItemFn,
    events: &mut Vec<TokenStream>,
    methods: &mut MethodNames,
) -> Result<TokenStream> {
    let TraitItemFn { mut attrs, mut sig, .. } = declaration;
    name_self(&mut sig, class);
    let Some(attr) = take_attr(&mut attrs, "ufunction")? else {
        return Err(rules::spanned("ALC0044", sig, "write `#[ufunction]`: only reflected functions can be imported"));
    };
    let attr_args = AttrArgs::of(&attr)?;
    attr_args.expect(&EVENTS)?;
    let has_both = attr_args.flag(EVENTS[0])? && attr_args.flag(EVENTS[1])?;
    rules::refuse_at("ALC0014", has_both.then_some(attr_args.span), TWO_SORTS_OF_EVENT)?;
    let method = Method::of(&sig)?;
    if !method.is_static() {
        method.needs_self(&sig, "an imported function with `this`")?;
    }
    let this = method.has_this.then(|| &sig.inputs[1]);
    rules::refuse("ALC0045", this, "the declaration lists the arguments of callers")?;
    let conditions = Conditions::of(&attrs)?;
    methods.add(("function", &method.name), method.names_on_view(&method.name), &conditions)?;
    // An implementable event is called like a function. Only scripts implement such an event. This block therefore supports no overrides of
    // implementable events.
    let event = attr_args.flag(EVENTS[0])?.then(|| event_constant(view, &method));
    if event.is_some() {
        let text = method.text();
        events.push(conditions.on_element(quote! { #text }));
    }
    let imported = method.imported((class, view), ["Class", "import_function"], &attrs);
    conditions.on_items(quote! {
        #imported
        #event
    })
}
