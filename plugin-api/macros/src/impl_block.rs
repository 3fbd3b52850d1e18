//! Parses `impl` blocks, but leaves the bodies of functions as tokens. The attributes read only signatures, and the compiler parses each
//! body later. Creating syntax trees of all bodies would take most of an attribute's time.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::buffer::Cursor;
use syn::parse::discouraged::Speculative as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{
    Abi, AngleBracketedGenericArguments, AttrStyle, Attribute, Error, Expr, ExprLit, FnArg, GenericArgument, Generics,
    ImplItem, Item, ItemImpl, Lit, Meta, MetaNameValue, Pat, PatIdent, PatType, Path, PathArguments, PathSegment,
    Receiver, Result, ReturnType, Signature, Token, TraitItemFn, Type, TypePath, TypeReference, Visibility,
    parenthesized, token,
};

/// Item to which an attribute is applied.
#[expect(clippy::large_enum_variant, reason = "one short-lived value per item of the source")]
pub(crate) enum AnyItem {
    Impl(ImplBlock),
    /// An item that is not an `impl` block.
    Other(Box<Item>),
}

/// Parsed `impl` block.
pub(crate) struct ImplBlock {
    /// `impl` block without its members.
    pub(crate) head: ItemImpl,
    pub(crate) members: Vec<Member>,
}

/// A member of an `impl` block.
#[expect(clippy::large_enum_variant, reason = "one short-lived value per item of the source")]
pub(crate) enum Member {
    Function(Function),
    /// Member that is not a function, or function without a body.
    Other(ImplItem),
}

/// Function with a body.
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    defaultness: Option<Token![default]>,
    pub(crate) sig: Signature,
    pub(crate) body: Group,
}

impl AnyItem {
    pub(crate) fn of(tokens: TokenStream) -> Result<Self> {
        let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
        match tokens.last() {
            Some(TokenTree::Group(members)) if is_impl(&tokens) && members.delimiter() == Delimiter::Brace => {
                let (inside, mut empty) = (members.stream(), Group::new(Delimiter::Brace, TokenStream::new()));
                empty.set_span(members.span());
                tokens.pop();
                tokens.push(empty.into());
                let mut head: ItemImpl = syn::parse2(tokens.into_iter().collect())?;
                let (attrs, members) = members_of.parse2(inside)?;
                head.attrs.extend(attrs);
                Ok(Self::Impl(ImplBlock { head, members }))
            }
            _ => syn::parse2(tokens.into_iter().collect()).map(|item| Self::Other(Box::new(item))),
        }
    }

    /// Returns the item as a syntax tree in which functions have no bodies.
    pub(crate) fn into_item(self) -> Item {
        match self {
            Self::Impl(block) => Item::Impl(block.into_item()),
            Self::Other(item) => *item,
        }
    }
}

impl ImplBlock {
    pub(crate) fn of(tokens: TokenStream) -> Result<Self> {
        match AnyItem::of(tokens)? {
            AnyItem::Impl(block) => Ok(block),
            AnyItem::Other(item) => Err(Error::new_spanned(item, "expected `impl`")),
        }
    }

    /// Returns the block as a syntax tree whose members are raw tokens.
    pub(crate) fn into_item(self) -> ItemImpl {
        let Self { head, members } = self;
        let items = members.into_iter().map(|member| ImplItem::Verbatim(member.into_token_stream())).collect();
        ItemImpl { items, ..head }
    }
}

impl ToTokens for ImplBlock {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { head, members } = self;
        let (inner, outer): (Vec<_>, Vec<_>) =
            head.attrs.iter().partition(|attr| matches!(attr.style, AttrStyle::Inner(_)));
        let ItemImpl { defaultness, unsafety, impl_token, generics, trait_, self_ty, brace_token, .. } = head;
        let interface = trait_.as_ref().map(|(negative, path, for_token)| quote! { #negative #path #for_token });
        let where_clause = &generics.where_clause;
        tokens.extend(quote! {
            #(#outer)* #defaultness #unsafety #impl_token #generics #interface #self_ty #where_clause
        });
        brace_token.surround(tokens, |tokens| {
            inner.iter().for_each(|attr| attr.to_tokens(tokens));
            members.iter().for_each(|member| member.to_tokens(tokens));
        });
    }
}

/// Returns true for the tokens of an `impl` block. Attributes may precede the block.
fn is_impl(mut tokens: &[TokenTree]) -> bool {
    while let [TokenTree::Punct(pound), TokenTree::Group(_), rest @ ..] = tokens
        && pound.as_char() == '#'
    {
        tokens = rest;
    }
    let keywords =
        tokens.iter().map_while(|token| if let TokenTree::Ident(ident) = token { Some(ident) } else { None });
    keywords.take(3).any(|keyword| keyword == "impl")
}

/// Parses the content of an `impl` block: inner attributes and members.
fn members_of(input: ParseStream<'_>) -> Result<(Vec<Attribute>, Vec<Member>)> {
    let (attrs, mut members) = (input.call(Attribute::parse_inner)?, Vec::new());
    while !input.is_empty() {
        members.push(input.parse()?);
    }
    Ok((attrs, members))
}

impl Parse for Member {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let ahead = input.fork();
        let (attrs, vis) = (attributes(&ahead)?, ahead.parse()?);
        let is_default = ahead.peek(Token![default]) && !ahead.peek2(Token![!]);
        let defaultness = is_default.then(|| ahead.parse()).transpose()?;
        if !begins_signature(&ahead) {
            return input.parse().map(Self::Other);
        }
        let sig = signature(&ahead)?;
        if !ahead.peek(token::Brace) {
            return input.parse().map(Self::Other);
        }
        let body = body(&ahead)?;
        input.advance_to(&ahead);
        Ok(Self::Function(Function { attrs, vis, defaultness, sig, body }))
    }
}

/// Parses a function without a body. The visibility has no effect, because functions of views are public.
pub(crate) fn declaration(tokens: TokenStream) -> Result<TraitItemFn> {
    declared.parse2(tokens)
}

fn declared(input: ParseStream<'_>) -> Result<TraitItemFn> {
    let attrs = input.call(Attribute::parse_outer)?;
    input.parse::<Visibility>()?;
    let declared: TraitItemFn = input.parse()?;
    Ok(TraitItemFn { attrs, ..declared })
}

/// Parses the body of a function. Removes the invisible group that surrounds a body that a macro has captured.
fn body(input: ParseStream<'_>) -> Result<Group> {
    input.step(|cursor| {
        let (inside, span, rest) = cursor.group(Delimiter::Brace).ok_or_else(|| cursor.error("expected a body"))?;
        let mut body = Group::new(Delimiter::Brace, inside.token_stream());
        body.set_span(span.join());
        Ok((body, rest))
    })
}

/// Parses outer attributes. Doc comments are recognized by their tokens: `syn` would also parse their values.
fn attributes(input: ParseStream<'_>) -> Result<Vec<Attribute>> {
    let mut attrs = Vec::new();
    while let Some(doc) = simple(input, doc_comment)? {
        attrs.push(doc);
    }
    if input.peek(Token![#]) {
        attrs.extend(input.call(Attribute::parse_outer)?);
    }
    Ok(attrs)
}

/// Parses a simple form. Returns `None`, and consumes nothing, for all other tokens.
fn simple<T>(input: ParseStream<'_>, form: fn(Cursor<'_>) -> Option<(T, Cursor<'_>)>) -> Result<Option<T>> {
    input.step(|at| Ok(form(*at).map_or((None, *at), |(found, rest)| (Some(found), rest))))
}

fn doc_comment(at: Cursor<'_>) -> Option<(Attribute, Cursor<'_>)> {
    let (pound, rest) = at.punct().filter(|(pound, _)| pound.as_char() == '#')?;
    let (inside, span, rest) = rest.group(Delimiter::Bracket)?;
    let (name, inside) = inside.ident().filter(|(name, _)| name == "doc")?;
    let (equals, inside) = inside.punct().filter(|(equals, _)| equals.as_char() == '=')?;
    let (text, _) = inside.literal().filter(|(_, inside)| inside.eof())?;
    let value = Expr::Lit(ExprLit { attrs: Vec::new(), lit: Lit::Verbatim(text) });
    let eq_token = Token![=](equals.span());
    let attr = Attribute {
        pound_token: Token![#](pound.span()),
        style: AttrStyle::Outer,
        bracket_token: token::Bracket { span },
        meta: Meta::NameValue(MetaNameValue { path: name.into(), eq_token, value }),
    };
    Some((attr, rest))
}

/// Parses a signature. Signatures with simple types are recognized by their tokens, because `syn` tries all other forms first.
fn signature(input: ParseStream<'_>) -> Result<Signature> {
    let ahead = input.fork();
    match input.peek(Token![fn]).then(|| simple_signature(&ahead)) {
        Some(Ok(Some(signature))) => {
            input.advance_to(&ahead);
            Ok(signature)
        }
        _ => input.parse(),
    }
}

fn simple_signature(input: ParseStream<'_>) -> Result<Option<Signature>> {
    let (fn_token, ident) = (input.parse()?, input.parse()?);
    if !input.peek(token::Paren) {
        return Ok(None);
    }
    let content;
    let (paren_token, mut inputs) = (parenthesized!(content in input), Punctuated::new());
    while !content.is_empty() {
        let Some(argument) = simple(&content, simple_argument)? else { return Ok(None) };
        inputs.push_value(argument);
        if !content.is_empty() {
            inputs.push_punct(content.parse()?);
        }
    }
    let output = match input.parse()? {
        None => ReturnType::Default,
        Some(arrow) => {
            let Some(ty) = simple(input, simple_type)? else { return Ok(None) };
            ReturnType::Type(arrow, Box::new(ty))
        }
    };
    let (constness, asyncness, unsafety, abi, variadic) = (None, None, None, None, None);
    let generics = Generics::default();
    let signature = Signature {
        constness,
        asyncness,
        unsafety,
        abi,
        fn_token,
        ident,
        generics,
        paren_token,
        inputs,
        variadic,
        output,
    };
    Ok(input.peek(token::Brace).then_some(signature))
}

/// Parses `&self`, `&mut self`, or a named parameter of a simple type.
fn simple_argument(at: Cursor<'_>) -> Option<(FnArg, Cursor<'_>)> {
    let (argument, rest) = match at.punct() {
        Some((and, rest)) if and.as_char() == '&' => {
            let (first, rest) = rest.ident()?;
            let (mutability, name, rest) = match rest.ident() {
                Some((name, rest)) if first == "mut" => (Some(Token![mut](first.span())), name, rest),
                _ => (None, first, rest),
            };
            let (and_token, self_token) = (Token![&](and.span()), Token![self](name.span()));
            let elem = Box::new(Type::Path(TypePath { qself: None, path: Ident::new("Self", name.span()).into() }));
            let ty = Box::new(Type::Reference(TypeReference { and_token, lifetime: None, mutability, elem }));
            let (attrs, reference) = (Vec::new(), Some((and_token, None)));
            let receiver = Receiver { attrs, reference, mutability, self_token, colon_token: None, ty };
            (name == "self").then_some((FnArg::Receiver(receiver), rest))?
        }
        Some(_) => return None,
        None => {
            let (ident, rest) = at.ident().filter(|(ident, _)| is_plain(ident) && ident != "Self")?;
            let (colon, rest) = rest.punct().filter(|(colon, _)| colon.as_char() == ':')?;
            let (ty, rest) = simple_type(rest)?;
            let pat = PatIdent { attrs: Vec::new(), by_ref: None, mutability: None, ident, subpat: None };
            let (pat, colon_token) = (Box::new(Pat::Ident(pat)), Token![:](colon.span()));
            (FnArg::Typed(PatType { attrs: Vec::new(), pat, colon_token, ty: Box::new(ty) }), rest)
        }
    };
    let ends = rest.eof() || rest.punct().is_some_and(|(comma, _)| comma.as_char() == ',');
    ends.then_some((argument, rest))
}

/// Parses `Name` or `Name<Type>` at the start of a type.
fn simple_type(at: Cursor<'_>) -> Option<(Type, Cursor<'_>)> {
    let (name, mut rest) = at.ident().filter(|(name, _)| is_plain(name))?;
    let mut segment = PathSegment::from(name);
    if let Some((less, inside)) = rest.punct()
        && less.as_char() == '<'
    {
        let (ty, inside) = simple_type(inside)?;
        let (greater, after) = inside.punct().filter(|(greater, _)| greater.as_char() == '>')?;
        segment.arguments = PathArguments::AngleBracketed(AngleBracketedGenericArguments {
            colon2_token: None,
            lt_token: Token![<](less.span()),
            args: std::iter::once(GenericArgument::Type(ty)).collect(),
            gt_token: Token![>](greater.span()),
        });
        rest = after;
    }
    Some((Type::Path(TypePath { qself: None, path: Path::from(segment) }), rest))
}

/// Returns true if an identifier is a name, or `Self`. In valid code, all other keywords precede tokens that no simple form contains.
/// `dyn` and `impl` without a bound are errors that the compiler finds only after the expansion.
fn is_plain(ident: &Ident) -> bool {
    !matches!(ident.to_string().as_str(), "_" | "self" | "super" | "crate" | "true" | "false" | "dyn" | "impl")
}

fn begins_signature(input: ParseStream<'_>) -> bool {
    if input.peek(Token![fn]) {
        return true;
    }
    let ahead = input.fork();
    ahead.parse::<Option<Token![const]>>().is_ok()
        && ahead.parse::<Option<Token![async]>>().is_ok()
        && ahead.parse::<Option<Token![unsafe]>>().is_ok()
        && ahead.parse::<Option<Abi>>().is_ok()
        && ahead.peek(Token![fn])
}

impl ToTokens for Member {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Function(function) => function.to_tokens(tokens),
            Self::Other(item) => item.to_tokens(tokens),
        }
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { attrs, vis, defaultness, sig, body } = self;
        for attr in attrs {
            attr.to_tokens(tokens);
        }
        vis.to_tokens(tokens);
        defaultness.to_tokens(tokens);
        sig.to_tokens(tokens);
        body.to_tokens(tokens);
    }
}

#[cfg(test)]
mod tests {
    use super::{AnyItem, Member, declaration};
    use proc_macro2::{Delimiter, Group, TokenStream};
    use quote::{ToTokens as _, quote};
    use syn::ImplItem;

    fn block(tokens: TokenStream) -> Vec<Member> {
        match AnyItem::of(tokens) {
            Ok(AnyItem::Impl(block)) => block.members,
            Ok(AnyItem::Other(_)) => panic!("it is an `impl` block"),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn a_block_is_written_as_it_was_read() {
        let tokens = quote! {
            #[a] unsafe impl<T> Heeds for Cat<T> where T: Copy {
                const A: u32 = { 1 };
                type B = u32;
                #[doc = "one"] #[e] fn simple(&mut self, this: This<Self>, by: Vec<f64>, _times: u32,) -> Option<f64> {}
                #[doc = "two"] fn other(&self, mut a: f64, b: &str, (c, d): (u8, u8)) -> a::B where Self: Copy {}
                fn constant() -> B + 'static {}
                #[b(c)] pub(crate) const unsafe extern "C" fn d(&self, e: [u8; { 2 }]) -> Vec<{ 3 }> where T: Copy, { any text 1 }
                default fn f() {}
                g! { h }
            }
        };
        let Ok(item) = AnyItem::of(tokens.clone()) else { panic!("no item: {tokens}") };
        assert_eq!(item.into_item().to_token_stream().to_string(), tokens.to_string());
    }

    #[test]
    fn only_functions_with_a_body_are_functions() {
        let members = block(
            quote! { impl Cat { fn a() {} fn b(); const C: fn() = { a }; #[d] async fn e() { } const fn f() {} } },
        );
        let functions = members.iter().map(|member| matches!(member, Member::Function(_)));
        assert_eq!(functions.collect::<Vec<_>>(), [true, false, false, true, true]);
    }

    #[test]
    fn a_declaration_may_have_a_visibility() {
        let members = block(quote! { impl Cat { #[d] pub(crate) fn hear(&self, times: u32); } });
        let [Member::Other(ImplItem::Verbatim(tokens))] = &members[..] else { panic!("{} members", members.len()) };
        let declared = declaration(tokens.clone()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((declared.attrs.len(), declared.sig.ident.to_string()), (1, "hear".to_owned()));
    }

    #[test]
    fn a_body_that_a_macro_has_captured_is_recognized() {
        let body = Group::new(Delimiter::None, quote! { { 7 } });
        let members = block(quote! { impl Cat { #[d] fn a() -> u32 #body fn b() {} } });
        let [Member::Function(a), Member::Function(_)] = &members[..] else { panic!("{} members", members.len()) };
        assert_eq!(a.body.to_string(), "{ 7 }");
    }

    #[test]
    fn keywords_are_neither_names_of_parameters_nor_of_types() {
        for parameter in [
            quote! { _: u32 },
            quote! { crate: u32 },
            quote! { true: bool },
            quote! { mut a: u32 },
            quote! { self: Fits<Self> },
            quote! { a: Fits<true> },
            quote! { a: Fits<_> },
            quote! { a: Fits<dyn Fit> },
            quote! { a: impl Fit },
            quote! { a: fn(u32) },
        ] {
            let signature = quote! { fn f(#parameter) };
            let function = syn::parse2(quote! { #signature {} });
            let Ok(Member::Function(function)) = function else { panic!("no function: {signature}") };
            let expected: syn::Signature = syn::parse2(signature).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(function.sig, expected);
        }
    }

    #[test]
    fn an_item_of_another_sort_is_no_block() {
        for tokens in [quote! { pub struct Cat { a: u32 } }, quote! { #[a] trait Heeds { fn hear(&self) {} } }] {
            assert!(matches!(AnyItem::of(tokens), Ok(AnyItem::Other(_))));
        }
    }
}
