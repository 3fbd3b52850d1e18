//! The signature of a method: `self`, `this`, parameters and result. `parameter.rs` parses and expands a single parameter.

mod parameter;

use proc_macro2::{Delimiter, Group, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{FnArg, GenericParam, Ident, Receiver, Result, ReturnType, Signature, Type};

pub(crate) use self::parameter::Parameter;
use self::parameter::{Argument, Named, ParameterType, Typed, parameter};
use crate::attr_args::{cell_name, text_of};
use crate::conditions::Conditions;
use crate::docs;
use crate::result::{OrUnit, ResultOf, location_of};
use crate::rules;
use crate::specifiers;
use crate::type_names::{at_span, is_named, ungrouped};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SelfKind {
    /// No `self` parameter. An async function with `this` is called on an object, and other methods may borrow the plugin part during the
    /// call.
    None,
    /// `&self`.
    Shared,
    /// `&mut self`.
    Exclusive,
}

/// Calls of a function on a view, in the syntax of the `calls!` macro.
pub(crate) struct Callers {
    pub(crate) conditions: Conditions,
    /// Kind and name of the declaration.
    pub(crate) declared: (&'static str, Ident),
    /// Names of the methods.
    pub(crate) names: Vec<String>,
    /// Variant of the method that ends the running call if the called function fails. `None` for a function without this variant.
    ending: Option<TokenStream>,
    call: TokenStream,
}

/// Expands to the calls of functions on `view`, in one block.
pub(crate) fn calls(view: &Ident, callers: Vec<Callers>) -> TokenStream {
    if callers.is_empty() {
        return TokenStream::new();
    }
    let (mut endings, mut calls) = (Vec::new(), Vec::new());
    for Callers { conditions, ending, call, .. } in callers {
        endings.extend(ending.map(|ending| Group::new(Delimiter::Brace, conditions.on_element(ending))));
        calls.push(Group::new(Delimiter::Brace, conditions.on_element(call)));
    }
    quote! { ::alcedo_plugin_api::__private::calls! { #view endings: [#(#endings)*], calls: [#(#calls)*] } }
}

/// Expands to the table of names `table` for functions of `class`. Descriptions refer to the entries `names` by position.
pub(crate) fn table_of_names(table: &Ident, class: &Ident, names: &[TokenStream]) -> TokenStream {
    quote! {
        enum #table {}
        impl ::alcedo_plugin_api::__private::Methods for #table {
            type Class = #class;
            const NAMES: &'static [::alcedo_plugin_api::__private::MethodNames] = &[#(#names),*];
        }
    }
}

pub(crate) struct Method {
    pub(crate) name: Ident,
    pub(crate) self_kind: SelfKind,
    /// True if the method takes `this`.
    pub(crate) has_this: bool,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) result: ResultOf,
}

impl Method {
    /// Parses a signature, and rejects syntax that reflected functions do not support.
    pub(crate) fn of(signature: &Signature) -> Result<Self> {
        let mut inputs = signature.inputs.iter().peekable();
        let self_kind = match inputs.next_if(|input| matches!(input, FnArg::Receiver(_))) {
            Some(FnArg::Receiver(receiver)) => self_kind(receiver),
            _ => Ok(SelfKind::None),
        };
        let is_this = |input: &FnArg| matches!(input, FnArg::Typed(typed) if is_named(&typed.ty, "This"));
        let has_this = inputs.next_if(|input| is_this(input)).is_some();
        let mut errors = rules::Errors::default();
        errors.take(refuse_decorations(signature));
        let self_kind = errors.take(self_kind).unwrap_or(SelfKind::None);
        let typed = inputs.enumerate().filter_map(|(at, input)| match input {
            FnArg::Typed(typed) => Some((at, typed)),
            FnArg::Receiver(_) => None,
        });
        let parameters: Vec<_> = typed.filter_map(|(at, typed)| errors.take(parameter(at, typed))).collect();
        if parameters.len() > 8 {
            let problem =
                "a reflected function has at most 8 parameters; the `done` of an async function is one of them";
            errors.take::<()>(Err(rules::spanned("ALC0062", &signature.ident, problem)));
        }
        errors.finish()?;
        Ok(Self {
            name: signature.ident.clone(),
            self_kind,
            has_this,
            parameters,
            result: ResultOf::of(&signature.output),
        })
    }

    pub(crate) fn text(&self) -> String {
        text_of(&self.name)
    }

    /// Expands to the type of the result, or `()` without a result.
    pub(crate) fn result_type(&self) -> OrUnit<'_> {
        self.result.value_type()
    }

    /// Returns true if the function is static.
    pub(crate) fn is_static(&self) -> bool {
        self.self_kind == SelfKind::None && !self.has_this
    }

    pub(crate) fn needs_self(&self, signature: &Signature, what: &str) -> Result<()> {
        rules::refuse_at(
            "ALC0063",
            (self.self_kind == SelfKind::None).then(|| signature.paren_token.span.span()),
            format_args!("{what} takes `&self` or `&mut self`"),
        )
    }

    /// Rejects a method with parameters or a result.
    pub(crate) fn expect_no_parameters_or_result(&self, what: &str) -> Result<()> {
        let first = self.parameters.first().map(|parameter| &parameter.ty);
        rules::refuse("ALC0064", first, format_args!("{what} takes no parameters but `self` and `this`"))?;
        rules::refuse("ALC0065", self.result.returned.as_ref(), format_args!("{what} has no result"))
    }

    /// Rejects two parameters with one name in the host, such as `_x` and `x`. Only a declared function passes these names to the host. A
    /// function of an imported class or interface and an exported function pass no names.
    pub(crate) fn expect_distinct_names(&self) -> Result<()> {
        let mut others = &self.parameters[..];
        while let [first, rest @ ..] = others {
            if rest.iter().any(|other| other.text == first.text) {
                let problem = format!("`{}` is the name of another parameter: rename one of them", first.text);
                return Err(rules::at("ALC0179", first.ident.span(), problem));
            }
            others = rest;
        }
        Ok(())
    }

    /// Expands to the definition of the type `trampoline` for this function of `class`. The `body` may use the parameters and, unless the
    /// function is static, `part` and `this`.
    pub(crate) fn trampoline(&self, trampoline: &Ident, class: &Ident, body: &TokenStream) -> TokenStream {
        let (text, result, receiver) = (self.text(), self.result_type(), self.receiver());
        let (returned, location, patterns) = (self.result.returned_type(), location_of(&self.name), self.patterns());
        let types = self.parameters.iter().map(Parameter::parameter_type);
        let (kind, of_object, parameters) = if self.is_static() {
            let arguments = quote! { #patterns: <Self::Args as ::alcedo_plugin_api::__private::Params>::Seen<'f> };
            ("StaticMethod", None, arguments)
        } else {
            let of_object = quote! {
                type Receiver = ::alcedo_plugin_api::__private::#receiver;
                const NAME: &'static str = #text;
            };
            let parameters = quote! {
                part: ::alcedo_plugin_api::__private::Held<'_, Self>,
                this: ::alcedo_plugin_api::__private::This<'f, #class>,
                #patterns: ::alcedo_plugin_api::__private::Arguments<'f, Self>
            };
            ("Method", Some(of_object), parameters)
        };
        let kind = format_ident!("{kind}");
        quote! {
            struct #trampoline;
            impl ::alcedo_plugin_api::__private::#kind for #trampoline {
                type Class = #class;
                type Args = (#(#types,)*);
                type Result = #result;
                type Returned = #returned;
                #of_object
                const LOCATION: ::alcedo_plugin_api::__private::SourceLocation = #location;

                #[allow(unused_variables, reason = "a method may ignore `this`")]
                fn run<'f>(#parameters) -> Self::Returned {
                    #body
                }
            }
        }
    }

    /// Expands to the marker type for the kind of `self`. A static function has no such type.
    fn receiver(&self) -> Ident {
        format_ident!(
            "{}",
            match self.self_kind {
                SelfKind::None => "Untouched",
                SelfKind::Shared => "Shared",
                SelfKind::Exclusive => "Exclusive",
            }
        )
    }

    pub(crate) fn patterns(&self) -> Group {
        let names = self.parameters.iter().map(|parameter| Named(parameter, || quote! { mut }));
        Group::new(Delimiter::Parenthesis, quote! { #(#names,)* })
    }

    /// Expands to a call of this function under the name `target` of `class`. The arguments are `part`, `this` and the parameters; for a
    /// static function, only the parameters. After the call, the expansion writes the out parameters back.
    pub(crate) fn call(&self, class: &Ident, target: &Ident) -> TokenStream {
        let part = (!self.is_static()).then(|| quote! { part, });
        let this = self.has_this.then(|| quote! { this, });
        let arguments = self.parameters.iter().map(|parameter| Named(parameter, || quote! { &mut }));
        let out_parameters: Vec<_> =
            self.parameters.iter().filter(|parameter| parameter.is_out).map(|out| &out.ident).collect();
        let call = quote! { #class::#target(#part #this #(#arguments),*) };
        if out_parameters.is_empty() {
            call
        } else {
            quote! { let returned = #call; #(#out_parameters.keep();)* returned }
        }
    }

    /// Expands to the function's entry in the table of names, with the defaults of its parameters.
    pub(crate) fn names(&self, defaults: &[String], may_fail: bool) -> TokenStream {
        let (text, names) = (self.text(), self.parameters.iter().map(|parameter| &parameter.text));
        let location = may_fail.then(|| location_of(&self.name));
        quote! { (#text, &[#(#names),*], &[#(#defaults),*], &[#location]) }
    }

    /// Expands to the description of a function whose body is `body`. The function's names are at position `at` in the table of names.
    pub(crate) fn description(
        &self,
        at: &Literal,
        flags: &str,
        overrides: &dyn ToTokens,
        cell: &str,
        (metadata, body): (&str, &TokenStream),
    ) -> TokenStream {
        let (types, patterns) = (self.parameters.iter().map(Parameter::parameter_type), self.patterns());
        let (result, returned, span) = (self.result_type(), self.result.returned_type(), self.result.span());
        if self.is_static() {
            let path = quote_spanned! {span=> ::alcedo_plugin_api::__private::static_method };
            let fixed = specifiers::tokens(&format!("{flags}, &{cell}, {metadata}"));
            return quote! {
                #path::<AlcedoMethods, #at, (#(#types,)*), #result, #returned, _>(#fixed, |#patterns| { #body })
            };
        }
        let receiver = self.receiver();
        let part = format_ident!("{}", if self.self_kind == SelfKind::None { "_" } else { "part" });
        let this = format_ident!("{}", if self.has_this { "this" } else { "_" });
        let path = quote_spanned! {span=> ::alcedo_plugin_api::__private::method };
        let fixed = specifiers::tokens(&format!("({flags}, &{cell}, {metadata})"));
        quote! {
            #path::<AlcedoMethods, #at, __alcedo::#receiver, (#(#types,)*), #result, #returned, _>(
                #fixed, #overrides, |#part, #this, #patterns| { #body }
            )
        }
    }

    /// Expands to the calls on a view by the method's `name`. `cell` is the expression for the cell of the function.
    pub(crate) fn callers(&self, name: &Ident, cell: &str, what: &TokenStream, attrs: &[syn::Attribute]) -> Callers {
        let (result, is_static, cell) = (self.result_type(), self.is_static(), specifiers::tokens(cell));
        let invoke = format_ident!("{}", if is_static { "invoke_static_member" } else { "invoke_member" });
        let typed: Vec<_> = self.parameters.iter().map(Typed).collect();
        let argument = self.parameters.iter().map(Argument);
        let (try_name, errors, ending) = if self.result.may_fail {
            (name.clone(), " The error returned by the function, and other failures of the call.", None)
        } else {
            let try_name = format_ident!("try_{}", text_of(name));
            let ending = quote! { #(#attrs)* #name #try_name(#(#typed),*) -> #result };
            (try_name, " Failures of the callee.", Some(ending))
        };
        let call = quote! {
            #(#attrs)* by #invoke #name #try_name(#(#typed = #argument),*) -> #result, #errors, (#cell), #what
        };
        let declared = ("function", self.name.clone());
        Callers { conditions: Conditions::default(), declared, names: self.names_on_view(name), ending, call }
    }

    /// Returns the names of the methods on a view that call this function by `name`.
    pub(crate) fn names_on_view(&self, name: &Ident) -> Vec<String> {
        let text = text_of(name);
        let tried = (!self.result.may_fail).then(|| format!("try_{text}"));
        std::iter::once(text).chain(tried).collect()
    }

    pub(crate) fn types(&self) -> impl Iterator<Item = ParameterType<'_>> {
        self.parameters.iter().map(Parameter::declared)
    }

    /// Expands to the signature as a function type, for comparisons of two declarations.
    pub(crate) fn as_fn_type(&self) -> TokenStream {
        let (types, result) = (self.types(), self.result_type());
        quote! { fn(#(#types),*) -> #result }
    }

    /// Expands to the type of the cell that receives the handle of this function of `class`.
    pub(crate) fn cell(&self, class: &Ident) -> TokenStream {
        let (types, result) = (self.types(), self.result_type());
        quote! { ::alcedo_plugin_api::__private::FunctionCell<#class, (#(#types,)*), #result> }
    }

    /// Expands to the cell of an imported function of `owner`, and to the functions of the view that call the function. `kind` is the trait
    /// of the owner. The module lists the import only if code uses the cell.
    pub(crate) fn imported(
        &self,
        (owner, view): (&Ident, &Ident),
        [kind, import]: [&str; 2],
        attrs: &[syn::Attribute],
    ) -> TokenStream {
        let (text, ty) = (self.text(), self.cell(owner));
        let (cell, kind) = (cell_name("OF", &text), format_ident!("{kind}"));
        let import = format_ident!("{import}");
        let path = quote! {
            ::alcedo_plugin_api::__private::join!(<#owner as ::alcedo_plugin_api::__private::#kind>::PATH, ":", #text)
        };
        let callers = self.callers(&self.name, &cell.to_string(), &path, &docs::shared(attrs));
        let calls = calls(view, vec![callers]);
        quote! {
            ::alcedo_plugin_api::__private::import! {
                #cell: #ty = ::alcedo_plugin_api::__private::FunctionCell::new(),
                #import(#path)
            }
            #calls
        }
    }

    /// Returns the name of the constant in a view that represents the event when overrides are checked.
    pub(crate) fn event_constant(&self) -> Ident {
        at_span(cell_name("EVENT", &self.text()), self.name.span())
    }
}

const GENERIC: &str =
    "a function that the host calls is not generic: specify its types, because the host has one signature";

const LIFETIMES: &str =
    "a function that the host calls declares no lifetimes: write `This<Self>` and `Borrowed<UArray<f64>>` without them";

fn self_kind(receiver: &Receiver) -> Result<SelfKind> {
    if receiver.reference.is_none() || receiver.colon_token.is_some() {
        return Err(rules::spanned("ALC0066", receiver, "the host owns the plugin part: take `&self` or `&mut self`"));
    }
    Ok(if receiver.mutability.is_some() { SelfKind::Exclusive } else { SelfKind::Shared })
}

fn refuse_decorations(signature: &Signature) -> Result<()> {
    let refused = [
        (signature.asyncness.map(|token| token.span), "async"),
        (signature.unsafety.map(|token| token.span), "unsafe"),
        (signature.abi.as_ref().map(Spanned::span), "extern"),
        (signature.variadic.as_ref().map(Spanned::span), "variadic"),
    ];
    for (span, keyword) in refused {
        rules::refuse_at("ALC0067", span, format_args!("a function that the host calls is not {keyword}"))?;
    }
    let is_lifetime = |parameter: &GenericParam| matches!(parameter, GenericParam::Lifetime(_));
    let problem = if signature.generics.params.iter().all(is_lifetime) { LIFETIMES } else { GENERIC };
    rules::refuse_generics("ALC0068", &signature.generics, problem)?;
    let result = match &signature.output {
        ReturnType::Type(_, ty) => Some(ungrouped(ty)),
        ReturnType::Default => None,
    };
    rules::refuse("ALC0068", result.filter(|ty| matches!(ty, Type::ImplTrait(_))), GENERIC)
}

#[cfg(test)]
mod tests {
    use proc_macro2::{Delimiter, Group, TokenStream};
    use quote::quote;
    use syn::Signature;

    use super::Method;

    #[test]
    fn a_parameter_with_a_condition_is_refused() {
        let signature: Signature = syn::parse_quote! { fn f(&self, #[cfg(any())] x: u32, y: u32) };
        let Err(error) = Method::of(&signature) else { panic!("it is accepted") };
        assert!(error.to_string().contains("ALC0035"), "{error}");
    }

    #[test]
    fn two_parameters_of_one_name_in_the_host_are_refused() {
        let method = Method::of(&syn::parse_quote! { fn f(&self, _x: u32, y: u32, x: u32) });
        let method = method.unwrap_or_else(|error| panic!("an import may have these names: {error}"));
        let error = method.expect_distinct_names().expect_err("`x` twice").to_string();
        assert_eq!(error, "`x` is the name of another parameter: rename one of them [ALC0179]");
    }

    #[test]
    fn a_signature_with_impl_trait_is_refused() {
        let captured = Group::new(Delimiter::None, quote! { impl Into<f64> });
        for signature in [
            quote! { fn f(&self, to: impl Into<f64>) },
            quote! { fn f(&self, to: #captured) },
            quote! { fn f(&self, to: &mut impl Into<f64>) },
            quote! { fn f(&self) -> impl Into<f64> },
        ] {
            let signature: Signature = syn::parse2(signature).unwrap_or_else(|error| panic!("{error}"));
            let Err(error) = Method::of(&signature) else { panic!("the signature is accepted") };
            assert!(error.to_string().contains("ALC0068"), "{error}");
        }
    }

    #[test]
    fn a_lifetime_is_refused_with_the_types_that_need_none() {
        let refused = |signature: Signature| {
            let Err(error) = Method::of(&signature) else { panic!("the signature is accepted") };
            error.to_string()
        };
        let error = refused(syn::parse_quote! { fn f<'a>(&self, this: This<'a, Self>) });
        assert!(error.contains("`This<Self>`") && error.contains("ALC0068"), "{error}");
        let error = refused(syn::parse_quote! { fn f<'a, T>(&'a self, by: T) });
        assert!(error.contains("specify its types"), "{error}");
    }

    #[test]
    fn types_that_a_macro_has_captured_are_recognized() {
        let captured = |ty: TokenStream| Group::new(Delimiter::None, ty);
        let [this, by, out] = [quote! { This<Self> }, quote! { Borrowed<Mesh> }, quote! { &mut f64 }].map(captured);
        let result = captured(quote! { Result<f64, String> });
        let signature = quote! { fn f(&self, this: #this, by: #by, out: #out) -> #result };
        let signature: Signature = syn::parse2(signature).unwrap_or_else(|error| panic!("{error}"));
        let method = Method::of(&signature).unwrap_or_else(|error| panic!("{error}"));
        assert!(method.has_this && method.result.may_fail);
        let kinds = method.parameters.iter().map(|parameter| (parameter.is_borrowed, parameter.is_out));
        assert_eq!(kinds.collect::<Vec<_>>(), [(true, false), (false, true)]);
    }
}
