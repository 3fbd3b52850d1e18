//! Parses `impl` blocks, but stores the bodies of functions as tokens. The attributes read only signatures, and the compiler parses each
//! body later. A parser that creates syntax trees of all bodies would need most of an attribute's time.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::discouraged::Speculative as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Abi, AttrStyle, Attribute, Error, ImplItem, Item, ItemImpl, Result, Signature, Token, Visibility, token};

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
    /// Parses an item.
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

    /// Returns the item as a syntax tree, without the bodies of functions.
    pub(crate) fn into_item(self) -> Item {
        match self {
            Self::Impl(block) => Item::Impl(block.into_item()),
            Self::Other(item) => *item,
        }
    }
}

impl ImplBlock {
    /// Parses an `impl` block.
    pub(crate) fn of(tokens: TokenStream) -> Result<Self> {
        match AnyItem::of(tokens)? {
            AnyItem::Impl(block) => Ok(block),
            AnyItem::Other(item) => Err(Error::new_spanned(item, "expected `impl`")),
        }
    }

    /// Returns the block as a syntax tree, without the syntax trees of its members.
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
        let (attrs, vis) = (ahead.call(Attribute::parse_outer)?, ahead.parse()?);
        let is_default = ahead.peek(Token![default]) && !ahead.peek2(Token![!]);
        let defaultness = is_default.then(|| ahead.parse()).transpose()?;
        if !begins_signature(&ahead) {
            return input.parse().map(Self::Other);
        }
        let sig = ahead.parse()?;
        if !ahead.peek(token::Brace) {
            return input.parse().map(Self::Other);
        }
        let body = ahead.parse()?;
        input.advance_to(&ahead);
        Ok(Self::Function(Function { attrs, vis, defaultness, sig, body }))
    }
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
    use super::{AnyItem, Member};
    use proc_macro2::TokenStream;
    use quote::{ToTokens as _, quote};

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
    fn an_item_of_another_sort_is_no_block() {
        for tokens in [quote! { pub struct Cat { a: u32 } }, quote! { #[a] trait Heeds { fn hear(&self) {} } }] {
            assert!(matches!(AnyItem::of(tokens), Ok(AnyItem::Other(_))));
        }
    }
}
