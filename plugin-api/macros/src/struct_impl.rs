//! Expands `#[ustruct]` on the `impl` block of a struct: constructors and network serialization. A constructor starts from the default
//! value of the struct.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, Ident, ImplItem, Item, Pat, Result, ReturnType, Type};

use crate::attr_args::{AttrArgs, take_attr};
use crate::conditions::Conditions;
use crate::impl_block::{AnyItem, Function, ImplBlock, Member};
use crate::native::Side;
use crate::result::location_of;
use crate::rules;
use crate::type_names::{borrowed_type, is_named};
use crate::{class_impl, docs, pod, structure};

/// Expands `#[ustruct]` on any item.
pub(crate) fn expand(attr_args: &AttrArgs, item: AnyItem, side: Side) -> Result<TokenStream> {
    let item = match item {
        AnyItem::Impl(block) => return expand_block(attr_args, block, side),
        AnyItem::Other(item) => *item,
    };
    match (item, side) {
        (Item::Struct(item), Side::Host) => pod::of_the_host(attr_args, item),
        (Item::Struct(item), Side::Plugin) if attr_args.flag("pod")? => pod::expand(attr_args, item),
        (Item::Struct(item), Side::Plugin) => structure::expand(attr_args, &item),
        (other, _) => Err(rules::spanned(
            "ALC0197",
            other,
            "`#[ustruct]` belongs on a struct, which declares it, or on its `impl` block",
        )),
    }
}

fn expand_block(attr_args: &AttrArgs, block: ImplBlock, side: Side) -> Result<TokenStream> {
    attr_args.expect_on_impl(&[])?;
    let ty = class_impl::class_of(&block.head)?;
    let (mut errors, mut members, mut around) = (rules::Errors::default(), Vec::new(), Vec::new());
    let mut net_serializers = Vec::<Conditions>::new();
    for member in block.members {
        let Member::Function(mut function) = member else {
            members.push(member);
            continue;
        };
        let constructor = errors.take(take_attr(&mut function.attrs, "constructor")).flatten();
        let net = errors.take(take_attr(&mut function.attrs, "net_serialize")).flatten();
        match (constructor, net) {
            (Some(attr), _) => {
                let made = errors.take(expect_no_arguments(&attr).and_then(|()| self::constructor(function)));
                members.extend(made.into_iter().flatten());
            }
            (None, Some(attr)) => {
                let conditions = errors.take(Conditions::of(&function.attrs)).unwrap_or_default();
                for other in &net_serializers {
                    let second = || rules::spanned("ALC0196", &attr, "a struct has one `#[net_serialize]`");
                    around.extend(errors.take(conditions.exclude(other, second)));
                }
                let made = expect_no_arguments(&attr).and_then(|()| net_serialize(&ty, &function, side));
                around.extend(errors.take(made.and_then(|made| conditions.on_items(made))));
                net_serializers.push(conditions);
                members.push(Member::Function(function));
            }
            (None, None) => members.push(Member::Function(function)),
        }
    }
    errors.finish()?;
    let (required, item) = (docs::required_signatures(), ImplBlock { head: block.head, members }.into_item());
    Ok(quote! { #required #item #(#around)* })
}

fn expect_no_arguments(attr: &Attribute) -> Result<()> {
    AttrArgs::of(attr)?.expect(&[])
}

/// Form in which the first parameter of a constructor or of `net_serialize` receives the struct.
enum SelfForm {
    /// `&mut self`, for a struct that is passed by value.
    Value,
    /// `Borrowed<'_, Self>`, for a struct that is accessed in place.
    View,
}

fn self_form(function: &Function) -> Result<SelfForm> {
    match function.sig.inputs.first() {
        Some(FnArg::Receiver(own)) if own.reference.is_some() && own.mutability.is_some() => Ok(SelfForm::Value),
        Some(FnArg::Typed(first)) if borrowed_type(&first.ty).is_some() => Ok(SelfForm::View),
        _ => Err(rules::spanned(
            "ALC0193",
            &function.sig,
            "the first parameter is the struct: `&mut self` for a `pod` struct, `value: Borrowed<'_, Self>` for any other",
        )),
    }
}

/// Functions that each struct without `pod` has.
const DEFINED: [&str; 4] = ["new", "is_black", "is_expired", "try_clone"];

/// Returns two functions: a generated function, which creates a value, and the author's function, which modifies the default value.
fn constructor(mut function: Function) -> Result<Vec<Member>> {
    Conditions::refuse(&function.attrs)?;
    let self_form = self_form(&function)?;
    rules::refuse(
        "ALC0194",
        (!matches!(function.sig.output, ReturnType::Default)).then_some(&function.sig.output),
        "a constructor has no result: it changes the default value, which is returned to the caller",
    )?;
    let keyword = function.sig.asyncness.map(|token| token.span).or(function.sig.unsafety.map(|token| token.span));
    rules::refuse_at(
        "ALC0215",
        keyword,
        "a constructor is a plain function that returns its value immediately: it is neither `async` nor `unsafe`",
    )?;
    let (name, vis) = (function.sig.ident.clone(), function.vis.clone());
    let is_defined = matches!(self_form, SelfForm::View) && DEFINED.iter().any(|defined| name == defined);
    rules::refuse(
        "ALC0213",
        is_defined.then_some(&name),
        format!(
            "the function `{name}` is defined twice, by `#[ustruct]` and by this constructor: rename the constructor"
        ),
    )?;
    let body = format_ident!("alcedo_construct_{}", name);
    let attrs = docs::shared(&function.attrs);
    let typed = function.sig.inputs.iter().skip(1).enumerate().filter_map(|(at, input)| match input {
        FnArg::Typed(typed) => Some((at, typed)),
        FnArg::Receiver(_) => None,
    });
    let (names, types): (Vec<_>, Vec<_>) = typed.map(|(at, typed)| (name_of(at, &typed.pat), &typed.ty)).unzip();
    let (generics, where_clause) = (&function.sig.generics, &function.sig.generics.where_clause);
    // The names of the local variables differ from the names of the author's parameters.
    let change = match self_form {
        SelfForm::Value => quote! { Self::#body(&mut alcedo_value, #(#names),*); },
        SelfForm::View => quote! {
            ::alcedo_plugin_api::__private::with_open(&alcedo_value, |alcedo_view| {
                Self::#body(alcedo_view, #(#names),*)
            });
        },
    };
    let is_mut = matches!(self_form, SelfForm::Value).then(|| quote! { mut });
    let maker = quote! {
        #(#attrs)*
        #[must_use]
        #vis fn #name #generics(#(#names: #types),*) -> Self #where_clause {
            let #is_mut alcedo_value = <Self as ::alcedo_plugin_api::__private::core::default::Default>::default();
            #change
            alcedo_value
        }
    };
    function.attrs.retain(|attr| !["doc", "deprecated"].iter().any(|name| attr.path().is_ident(name)));
    function.sig.ident = body;
    function.vis = syn::Visibility::Inherited;
    Ok(vec![Member::Other(ImplItem::Verbatim(maker)), Member::Function(function)])
}

fn name_of(at: usize, pattern: &Pat) -> Ident {
    match pattern {
        Pat::Ident(pattern) => pattern.ident.clone(),
        other => format_ident!("value{at}", span = other.span()),
    }
}

fn net_serialize(ty: &Ident, function: &Function, side: Side) -> Result<TokenStream> {
    let (self_form, sig) = (self_form(function)?, &function.sig);
    let is_by_mut = |input: &FnArg, name: &str| match input {
        FnArg::Typed(typed) => match &*typed.ty {
            Type::Reference(reference) => reference.mutability.is_some() && is_named(&reference.elem, name),
            _ => false,
        },
        FnArg::Receiver(_) => false,
    };
    let inputs: Vec<_> = sig.inputs.iter().skip(1).collect();
    let returns_two =
        matches!(&sig.output, ReturnType::Type(_, ty) if matches!(&**ty, Type::Tuple(pair) if pair.elems.len() == 2));
    let are_right =
        matches!(inputs[..], [archive, map] if is_by_mut(archive, "NetArchive") && is_by_mut(map, "NetMap"));
    rules::refuse(
        "ALC0195",
        (!are_right || !returns_two).then_some(sig),
        "expected the parameters `archive: &mut NetArchive, map: &mut NetMap` and the result `(bool, bool)`: handled, and \
             successful",
    )?;
    let name = &sig.ident;
    if side == Side::Host {
        return Ok(quote! {
            impl ::alcedo_plugin_api::__private::NetStruct for #ty {
                const NET: fn(
                    &mut Self,
                    &mut ::alcedo_plugin_api::NetArchive,
                    &mut ::alcedo_plugin_api::NetMap,
                ) -> (bool, bool) = #ty::#name;
            }
            impl #ty {
                #[doc(hidden)]
                pub const ALCEDO_NET: ::alcedo_plugin_api::__private::NetHooks =
                    ::alcedo_plugin_api::__private::NetHooks::of::<#ty>();
            }
        });
    }
    let (mutable, call) = match self_form {
        SelfForm::Value => (quote! { mut }, quote! { value.#name(archive, map) }),
        SelfForm::View => (
            TokenStream::new(),
            quote! { ::alcedo_plugin_api::__private::with_open(&value, |value| #ty::#name(value, archive, map)) },
        ),
    };
    let location = location_of(name);
    Ok(quote! {
        const _: () = {
            type AlcedoBytes = ::std::vec::Vec<u8>;
            type AlcedoSaved = ::core::option::Option<AlcedoBytes>;
            type AlcedoLoaded = ::core::option::Option<#ty>;
            type AlcedoResult<T> = ::core::result::Result<T, ::alcedo_plugin_api::__private::CallError>;

            fn alcedo_save(#mutable value: #ty) -> AlcedoResult<AlcedoSaved> {
                ::alcedo_plugin_api::__private::net_save(|archive, map| #call)
            }

            fn alcedo_load(#mutable value: #ty, bytes: AlcedoBytes) -> AlcedoResult<AlcedoLoaded> {
                let is_done = ::alcedo_plugin_api::__private::net_load(&bytes, |archive, map| #call)?;
                ::core::result::Result::Ok(is_done.then_some(value))
            }

            ::alcedo_plugin_api::__private::export! {
                type_path: <#ty as ::alcedo_plugin_api::__private::Value>::TYPE_PATH, name: "net_save",
                (value: #ty) -> AlcedoSaved, returns: AlcedoResult<AlcedoSaved>, location: #location, alcedo_save
            }
            ::alcedo_plugin_api::__private::export! {
                type_path: <#ty as ::alcedo_plugin_api::__private::Value>::TYPE_PATH, name: "net_load",
                (value: #ty, bytes: AlcedoBytes) -> AlcedoLoaded, returns: AlcedoResult<AlcedoLoaded>, location: #location, alcedo_load
            }
        };
    })
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;
    use syn::parse_quote;

    use super::{DEFINED, expand};
    use crate::impl_block::AnyItem;
    use crate::native::Side;

    fn expanded(constructor: TokenStream) -> syn::Result<TokenStream> {
        let block = AnyItem::of(quote! { impl Stats { #[constructor] #constructor } })?;
        expand(&parse_quote!(), block, Side::Plugin)
    }

    #[test]
    fn a_constructor_has_no_name_that_each_struct_in_place_defines() {
        for name in DEFINED.map(|name| quote::format_ident!("{name}")) {
            let error = expanded(quote! { fn #name(value: Borrowed<'_, Self>, to: &str) {} }).expect_err("twice");
            assert!(error.to_string().contains("ALC0213"), "{error}");
            expanded(quote! { fn #name(&mut self, to: u32) {} }).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}
