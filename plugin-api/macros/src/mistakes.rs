//! Detects common mistakes with properties: `self.temperature`, `this.temperature = 1.0`. The compiler's message about an unknown field
//! does not mention the property. Therefore the generated code compares, at compile time, each field name in a method with the properties
//! of the class, and reports a match with a hint.
//!
//! The comparison uses only tokens, and ignores names that are not properties. It also ignores a method that contains an `impl` block, and
//! the fields of a variable `this`, because `self` in this block and this variable may have a different type.

use proc_macro2::{Delimiter, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

use crate::attr_args::text_of;
use crate::impl_block::Function;
use crate::rules;

/// Reports an attribute on a method whose `impl` block has no `#[uclass]`. If the method has a body, the expansion retains the method.
pub(crate) fn without_uclass(name: &str, item: TokenStream) -> TokenStream {
    let message =
        format!("`#[{name}]` is read by `#[uclass]`, which this `impl` does not have: write `#[uclass]` above `impl`");
    let error = rules::at("ALC0118", Span::call_site(), message).to_compile_error();
    let has_body = item
        .clone()
        .into_iter()
        .last()
        .is_some_and(|last| matches!(&last, TokenTree::Group(body) if body.delimiter() == Delimiter::Brace));
    let item = has_body.then_some(item);
    quote! { #error #item }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// Access `self.name` that is not a method call.
    OfSelf,
    /// Assignment `this.name = …`.
    Assigned,
}

/// Names for which the checks have already been generated.
pub(crate) type Checked = Vec<(Mistake, Ident)>;

/// Expands to the checks for the names in a function that `checked` does not contain. Adds these names to `checked`.
pub(crate) fn checks(class: &Ident, function: &Function, checked: &mut Checked) -> TokenStream {
    let mut found = Checked::new();
    if find_mistakes(function.body.stream(), true, &mut found).is_none() {
        return TokenStream::new();
    }
    found.retain(|new| !checked.contains(new));
    let checks = found.iter().map(|(mistake, name)| check(class, *mistake, name)).collect();
    checked.append(&mut found);
    checks
}

fn check(class: &Ident, mistake: Mistake, name: &Ident) -> TokenStream {
    let property = text_of(name);
    let text = match mistake {
        Mistake::OfSelf => format!(
            "`{property}` is a property, stored in the object of the host: read it with `this.{name}()`, \
             write it with `this.set_{property}(…)`, and take `this: This<Self>` as a parameter [ALC0100]"
        ),
        Mistake::Assigned => format!("`{property}` is a property: write it with `this.set_{property}(…)` [ALC0101]"),
    };
    quote_spanned! {name.span()=>
        const _: () = ::alcedo_plugin_api::__private::assert_no_property::<#class>(#property, #text);
    }
}

/// Adds each possible mistake in the tokens to `found`, without duplicates. `is_object` is `false` if `this` may be a variable of another
/// type. Returns `None` if `self` may refer to an object of another type in these tokens.
fn find_mistakes(tokens: TokenStream, mut is_object: bool, found: &mut Checked) -> Option<()> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => find_mistakes(group.stream(), is_object, found)?,
            TokenTree::Ident(ident) => {
                // The identifier is converted to a string once, because each comparison would convert it again.
                let keyword = match ident.to_string().as_str() {
                    "impl" | "trait" => return None,
                    // The variable exists until the end of the block, whose tokens are one group.
                    "let" | "for" if is_this(&tokens[at + 1..]) => {
                        is_object = false;
                        continue;
                    }
                    "self" => Mistake::OfSelf,
                    "this" if is_object => Mistake::Assigned,
                    _ => continue,
                };
                let Some((name, rest)) = field(&tokens[at + 1..]) else { continue };
                let mistake = match keyword {
                    Mistake::OfSelf if !is_call(rest) => Mistake::OfSelf,
                    Mistake::Assigned if is_assigned(rest) => Mistake::Assigned,
                    _ => continue,
                };
                if !found.iter().any(|(other, known)| *other == mistake && known == name) {
                    found.push((mistake, name.clone()));
                }
            }
            _ => {}
        }
    }
    Some(())
}

/// Returns true if the tokens begin with `this` or `mut this`.
fn is_this(tokens: &[TokenTree]) -> bool {
    let mut names = tokens.iter().map_while(|token| if let TokenTree::Ident(name) = token { Some(name) } else { None });
    names.find(|name| *name != "mut").is_some_and(|name| name == "this")
}

/// Splits `.name` from the tokens that follow.
fn field(tokens: &[TokenTree]) -> Option<(&Ident, &[TokenTree])> {
    match tokens {
        [TokenTree::Punct(dot), TokenTree::Ident(name), rest @ ..] if dot.as_char() == '.' && name != "await" => {
            Some((name, rest))
        }
        _ => None,
    }
}

/// Returns true if the tokens begin with `(…)` or `::<…>(…)`.
fn is_call(rest: &[TokenTree]) -> bool {
    match rest.first() {
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Parenthesis,
        Some(TokenTree::Punct(colon)) => colon.as_char() == ':' && colon.spacing() == Spacing::Joint,
        _ => false,
    }
}

/// Returns true if the tokens begin with `=`, `+=` or a similar operator. Returns false for comparisons.
fn is_assigned(rest: &[TokenTree]) -> bool {
    let Some(TokenTree::Punct(first)) = rest.first() else { return false };
    let is_alone = first.spacing() == Spacing::Alone;
    match first.as_char() {
        '=' => is_alone,
        '+' | '-' | '*' | '/' | '%' | '^' | '&' | '|' if !is_alone => {
            matches!(rest.get(1), Some(TokenTree::Punct(second)) if second.as_char() == '=')
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::{Checked, find_mistakes};

    #[test]
    fn only_fields_of_a_variable_this_are_ignored() {
        let body = quote! {
            { let mut this = Reading::new(); this.read = 1.0; if this.is_hot() { this.hot = 1.0; } }
            for this in readings { this.each += 1.0; }
            self.power;
        };
        let with_object = quote! { { let this = 1; this.read = 1.0; } this.speed = 2.0; self.power; };
        let names = |body| {
            let mut found = Checked::new();
            assert!(find_mistakes(body, true, &mut found).is_some());
            found.iter().map(|(_, name)| name.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(body), ["power"]);
        assert_eq!(names(with_object), ["speed", "power"]);
    }
}
