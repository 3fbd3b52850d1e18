//! Detects common mistakes with properties: `self.temperature`, `this.temperature = 1.0`, `Self { temperature: 1.0 }`. The compiler's
//! message about an unknown field does not mention the property. Therefore the generated code compares, at compile time, each field name in
//! a method with the properties of the class, and reports a match with a hint.
//!
//! The comparison uses only tokens, and ignores names that are not properties. It also ignores a method that contains an `impl` block, and
//! the fields of a variable `this`, because `self` in this block and this variable may have a different type.

use proc_macro2::{Delimiter, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::{FnArg, Signature, Type};

use crate::attr_args::text_of;
use crate::impl_block::Function;
use crate::rules;
use crate::type_names::{is_named, ungrouped};

/// Reports an attribute on a method whose `impl` block has no `#[uclass]`. If the method has a body, the expansion retains the method.
pub(crate) fn without_uclass(name: &str, item: TokenStream) -> TokenStream {
    let (readers, reader) = match name {
        "zmethod" => ("`#[zmethods]` or `#[uclass]`", "zmethods"),
        _ => ("`#[uclass]`", "uclass"),
    };
    let message =
        format!("`#[{name}]` is read by {readers}, which this `impl` does not have: write `#[{reader}]` above `impl`");
    let error = rules::at("ALC0118", Span::call_site(), message).to_compile_error();
    let has_body = item.clone().into_iter().last().is_some_and(|last| is_body(&last));
    let item = has_body.then_some(item);
    quote! { #error #item }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// Access `self.name` that is not a method call.
    OfSelf,
    /// Assignment `this.name = …`.
    Assigned,
    /// Field `name` in `Self { … }`.
    OfLiteral,
}

/// Names for which the checks have already been generated.
pub(crate) type Checked = Vec<(Mistake, Ident)>;

/// Expands to the checks for the names in a function that `checked` does not contain. Adds these names to `checked`.
pub(crate) fn checks(class: &Ident, function: &Function, checked: &mut Checked) -> TokenStream {
    let mut found = Checked::new();
    if find_mistakes(function.body.stream(), &mut found).is_none() {
        return TokenStream::new();
    }
    let is_assigned = found.iter().any(|(mistake, _)| *mistake == Mistake::Assigned);
    if is_assigned && has_other_this(&function.sig) {
        found.retain(|(mistake, _)| *mistake != Mistake::Assigned);
    }
    found.retain(|new| !checked.contains(new));
    let checks = constants(class, &found);
    checked.append(&mut found);
    checks
}

/// Expands to constants that check for the mistakes. The fields of `Self { … }` share one constant, because each constant takes time to
/// compile. The compiler then reports only the first of these fields.
fn constants(class: &Ident, found: &[(Mistake, Ident)]) -> TokenStream {
    let (fields, others): (Vec<_>, Vec<_>) = found.iter().partition(|(mistake, _)| *mistake == Mistake::OfLiteral);
    let others = others.into_iter().map(|(mistake, name)| {
        let call = check(class, *mistake, name);
        quote_spanned! {name.span()=> const _: () = #call; }
    });
    let others: TokenStream = others.collect();
    if fields.is_empty() {
        return others;
    }
    let calls = fields.into_iter().map(|(mistake, name)| check(class, *mistake, name));
    quote! { #others const _: () = { #(#calls;)* }; }
}

/// Returns true if a parameter declares a variable `this` of a type that is neither `This` nor `Obj`, such as in a helper function.
fn has_other_this(signature: &Signature) -> bool {
    signature.inputs.iter().any(|input| {
        let FnArg::Typed(typed) = input else { return false };
        let ty = match ungrouped(&typed.ty) {
            Type::Reference(reference) => &*reference.elem,
            ty => ty,
        };
        let is_object = is_named(ty, "This") || is_named(ty, "Obj");
        !is_object && has_this(&typed.pat.to_token_stream().into_iter().collect::<Vec<_>>())
    })
}

fn check(class: &Ident, mistake: Mistake, name: &Ident) -> TokenStream {
    let property = text_of(name);
    let text = match mistake {
        Mistake::OfSelf => format!(
            "`{property}` is a property, stored in the object of the host: read it with `this.{name}()`, \
             write it with `this.set_{property}(…)`, and take `this: This<Self>` as a parameter [ALC0100]"
        ),
        Mistake::Assigned => format!("`{property}` is a property: write it with `this.set_{property}(…)` [ALC0101]"),
        Mistake::OfLiteral => format!(
            "`{property}` is a property, stored in the object of the host, and not a field of `Self {{ … }}`: read it with \
             `this.{name}()`, and set its initial value with `#[uproperty(default = …)]`, or `#[uclass(defaults(…))]` for a property \
             of a base class [ALC0216]"
        ),
    };
    quote_spanned! {name.span()=> ::alcedo_plugin_api::__private::assert_no_property::<#class>(#property, #text) }
}

/// Adds each possible mistake in the tokens to `found`, without duplicates. Ignores assignments after a pattern that may declare a variable
/// `this`. Returns `None` if `self` may refer to an object of another type in these tokens.
fn find_mistakes(tokens: TokenStream, found: &mut Checked) -> Option<()> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    // Computed only after an assignment to a field of `this`, which is rare, because the search converts identifiers to strings.
    let mut variable = None;
    for (at, token) in tokens.iter().enumerate() {
        let known = found.len();
        match token {
            TokenTree::Group(group) => find_mistakes(group.stream(), found)?,
            TokenTree::Ident(ident) => {
                // The identifier is converted to a string once, because each comparison would convert it again.
                let keyword = match ident.to_string().as_str() {
                    "impl" | "trait" => return None,
                    "self" => Mistake::OfSelf,
                    "this" => Mistake::Assigned,
                    // After `->`, the braces are the body of a closure.
                    "Self" if !is_result(&tokens[..at]) => {
                        let names = tokens.get(at + 1).map(names_of_fields).unwrap_or_default();
                        names.into_iter().for_each(|name| add(found, Mistake::OfLiteral, name));
                        continue;
                    }
                    _ => continue,
                };
                let Some((name, rest)) = field(&tokens[at + 1..]) else { continue };
                let mistake = match keyword {
                    Mistake::OfSelf if !is_call(rest) => Mistake::OfSelf,
                    Mistake::Assigned if is_assigned(rest) => Mistake::Assigned,
                    _ => continue,
                };
                add(found, mistake, name.clone());
            }
            _ => {}
        }
        let is_assigned = found[known..].iter().any(|(mistake, _)| *mistake == Mistake::Assigned);
        if is_assigned && at >= *variable.get_or_insert_with(|| first_variable(&tokens)) {
            let added = found.split_off(known);
            found.extend(added.into_iter().filter(|(mistake, _)| *mistake != Mistake::Assigned));
        }
    }
    Some(())
}

/// Adds a possible mistake to `found`, unless `found` contains this mistake.
fn add(found: &mut Checked, mistake: Mistake, name: Ident) {
    let new = (mistake, name);
    if !found.contains(&new) {
        found.push(new);
    }
}

/// Returns the position of the first pattern that may declare a variable `this`, or the number of tokens without such a pattern. The
/// variable exists at most until the end of its block, whose tokens are one group. All later tokens of the group count as its scope,
/// because a check of another type's field would reject correct code.
fn first_variable(tokens: &[TokenTree]) -> usize {
    let is_pattern = |at: usize| {
        let rest = &tokens[at + 1..];
        match &tokens[at] {
            TokenTree::Ident(keyword) => match keyword.to_string().as_str() {
                "let" => has_this(until(rest, |token| is_punct(token, '=') || is_punct(token, ';'))),
                "for" => has_this(until(rest, |token| is_ident(token, "in"))),
                "fn" => has_this(until(rest, |token| is_body(token) || is_punct(token, '=') || is_punct(token, ';'))),
                _ => false,
            },
            // The parameters of a closure end at the second `|`. An operator `||` begins no parameters.
            TokenTree::Punct(bar) if bar.as_char() == '|' && !tokens[..at].last().is_some_and(is_joint_bar) => {
                let parameters = until(rest, |token| is_punct(token, '|') || is_punct(token, ';'));
                rest.get(parameters.len()).is_some_and(|end| is_punct(end, '|')) && has_this(parameters)
            }
            _ => false,
        }
    };
    let declared = (0..tokens.len()).find(|at| is_pattern(*at));
    let arms = tokens.windows(2).enumerate().filter(|(_, pair)| is_punct(&pair[0], '=') && is_punct(&pair[1], '>'));
    let matched = arms.map(|(at, _)| arm_start(&tokens[..at])..at).find(|pattern| {
        // Excludes the guard of the arm, which declares no variable.
        has_this(until(&tokens[pattern.clone()], |token| is_ident(token, "if")))
    });
    let matched = matched.map(|pattern| pattern.start);
    declared.into_iter().chain(matched).min().unwrap_or(tokens.len())
}

/// Returns the position at which the pattern of a match arm begins. `tokens` are those before the `=>` of the arm.
fn arm_start(tokens: &[TokenTree]) -> usize {
    // Before a guard and at the end, braces contain the fields of a struct pattern. Other braces are the body of the previous arm.
    let is_before = |at: usize| tokens.get(at + 1).is_some_and(|next| !is_ident(next, "if"));
    let ends = |(at, token): (usize, &TokenTree)| is_punct(token, ',') || is_body(token) && is_before(at);
    tokens.iter().enumerate().rev().find(|found| ends(*found)).map_or(0, |(at, _)| at + 1)
}

/// Returns the tokens before the first token for which `is_end` returns true.
fn until(tokens: &[TokenTree], is_end: impl Fn(&TokenTree) -> bool) -> &[TokenTree] {
    &tokens[..tokens.iter().position(is_end).unwrap_or(tokens.len())]
}

/// Returns true if `this` is one of the tokens, or is inside one of the groups.
fn has_this(tokens: &[TokenTree]) -> bool {
    tokens.iter().any(|token| match token {
        TokenTree::Group(group) => has_this(&group.stream().into_iter().collect::<Vec<_>>()),
        token => is_ident(token, "this"),
    })
}

fn is_ident(token: &TokenTree, text: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == text)
}

fn is_punct(token: &TokenTree, letter: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == letter)
}

fn is_joint_bar(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == '|' && punct.spacing() == Spacing::Joint)
}

fn is_body(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

/// Splits `.name` from the tokens that follow.
fn field(tokens: &[TokenTree]) -> Option<(&Ident, &[TokenTree])> {
    match tokens {
        [dot, TokenTree::Ident(name), rest @ ..] if is_punct(dot, '.') && name != "await" => Some((name, rest)),
        _ => None,
    }
}

/// Returns the names of the fields in the braces of a struct expression or a struct pattern. Returns no names for any other token.
fn names_of_fields(braces: &TokenTree) -> Vec<Ident> {
    let tokens: Vec<TokenTree> = match braces {
        TokenTree::Group(fields) if is_body(braces) => fields.stream().into_iter().collect(),
        _ => return Vec::new(),
    };
    let is_first = |at: usize| at == 0 || is_punct(&tokens[at - 1], ',');
    let ends = |at: usize| match tokens.get(at + 1) {
        None => true,
        Some(TokenTree::Punct(next)) if next.as_char() == ':' => {
            next.spacing() == Spacing::Alone || !tokens.get(at + 2).is_some_and(|second| is_punct(second, ':'))
        }
        Some(next) => is_punct(next, ','),
    };
    let names = tokens.iter().enumerate().filter_map(|(at, token)| match token {
        TokenTree::Ident(name) if is_first(at) && ends(at) => Some(name.clone()),
        _ => None,
    });
    names.collect()
}

/// Returns true if the tokens end with `->`.
fn is_result(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [.., dash, arrow] if is_punct(dash, '-') && is_punct(arrow, '>'))
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
            rest.get(1).is_some_and(|second| is_punct(second, '='))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;
    use syn::parse_quote;

    use super::{Checked, Mistake, checks, find_mistakes, without_uclass};
    use crate::impl_block::Member;

    fn checks_of(function: Member) -> String {
        let Member::Function(function) = function else { panic!("a function with a body") };
        checks(&parse_quote!(Oven), &function, &mut Checked::new()).to_string()
    }

    #[test]
    fn a_parameter_this_of_another_type_is_ignored() {
        for function in [
            parse_quote! { fn cool(this: &mut Reading) { this.x = 1.0; } },
            parse_quote! { fn cool(mut this: Vec<Reading>, at: usize) { this.x = 1.0; } },
            parse_quote! { fn cool((this, _): (Reading, u32)) { this.x = 1.0; } },
            parse_quote! { fn cool(&self, Reading { this }: Reading) { this.x = 1.0; } },
        ] {
            assert_eq!(checks_of(function), "");
        }
        for function in [
            parse_quote! { fn cool(&self, this: This<Self>) { this.x = 1.0; } },
            parse_quote! { fn cool(this: &alcedo_plugin_api::This<'_, Self>) { this.x = 1.0; } },
            parse_quote! { async fn cool(this: Obj<Self>, by: f64) { this.x = 1.0; } },
        ] {
            assert!(checks_of(function).contains("ALC0101"));
        }
        // A helper function has no object `this`, but may access `self`.
        let both = checks_of(parse_quote! { fn cool(&self, this: &mut Reading) { this.x = self.y; } });
        assert!(both.contains("ALC0100") && !both.contains("ALC0101"), "{both}");
    }

    #[test]
    fn an_attribute_without_its_reader_names_the_reader() {
        for (name, fix) in
            [("zmethod", "write `#[zmethods]` above `impl`"), ("ufunction", "write `#[uclass]` above `impl`")]
        {
            let expanded = without_uclass(name, quote! { fn count() -> u32 { 1 } }).to_string();
            assert!(expanded.contains(fix) && expanded.contains("fn count"), "{expanded}");
        }
    }

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
            assert!(find_mistakes(body, &mut found).is_some());
            found.iter().map(|(_, name)| name.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(body), ["power"]);
        assert_eq!(names(with_object), ["speed", "power"]);
    }

    #[test]
    fn each_pattern_that_declares_this_is_recognized_by_itself() {
        for body in [
            quote! { if let Some(this) = reading { this.x = 1.0; } },
            quote! { while let Reading { inner: (this, _), .. } = next() { this.x = 1.0; } },
            quote! { let Some((this, _)) = pair else { return }; this.x = 1.0; },
            quote! { readings.iter_mut().for_each(|this| this.x = 1.0); },
            quote! { readings.retain(move |(at, this): (u32, &mut Reading)| { this.x = 1.0; at > 1 }); },
            quote! { match reading { Some(this) if this.is_hot() => this.x = 1.0, None => {} } },
            quote! { match reading { Reading { this } if this.is_hot() => this.x = 1.0, _ => {} } },
            quote! { match reading { None => {} Reading { this } if this.is_hot() => this.x = 1.0, _ => {} } },
            quote! { match reading { None => {} this => this.x = 1.0 } },
            quote! { match reading { None => {} Reading { this } => { this.x = 1.0; } } },
            quote! { fn cool(this: &mut Reading) { this.x = 1.0; } },
            quote! { for (_, this) in readings { this.x = 1.0; } },
        ] {
            let mut found = Checked::new();
            assert!(find_mistakes(body.clone(), &mut found).is_some());
            assert!(found.is_empty(), "{body}");
        }
    }

    #[test]
    fn the_fields_of_self_in_braces_are_names() {
        let body = quote! {
            let Self { kept, renamed: other, .. } = made;
            let list = [Self::new(), Self { speed: -Turns::<A, B>::NONE, r#type: |a, b| a, last, ..Self::default() }];
            let own = |speeds: u32| -> Self { this_one };
            Reading { at: 1 }
        };
        let mut found = Checked::new();
        assert!(find_mistakes(body, &mut found).is_some());
        assert!(found.iter().all(|(mistake, _)| *mistake == Mistake::OfLiteral));
        let names: Vec<_> = found.iter().map(|(_, name)| name.to_string()).collect();
        assert_eq!(names, ["kept", "renamed", "speed", "r#type", "last"]);
    }

    #[test]
    fn one_constant_checks_all_fields_of_self_in_braces() {
        let checks =
            checks_of(parse_quote! { fn new(&self) -> Self { self.x; Self { turns: 0, speed: 1, r#type: 2 } } });
        let count = |text: &str| checks.matches(text).count();
        assert_eq!((count("const _"), count("assert_no_property")), (2, 4), "{checks}");
        for fix in ["read it with `this.r#type()`", "`#[uclass(defaults(…))]` for a property of a base class [ALC0216]"]
        {
            assert!(checks.contains(fix), "{checks}");
        }
    }

    #[test]
    fn a_use_of_the_object_declares_no_variable() {
        for body in [
            quote! { let near = this.is_near(); this.x = 1.0; },
            quote! { let flags = a | this.flags(); let both = b; this.x = 1.0; },
            quote! { if a || this.is_near() || b { this.x = 1.0; } },
            quote! { let stop: fn(u32) = stop; this.x = 1.0; },
            quote! { readings.iter().for_each(|reading| this.x = reading.speed); },
            quote! { match this.mood() { Mood::Calm if this.is_near() => {} _ => this.x = 1.0 } },
            quote! { match mood { Mood::Calm => { this.stop(); } _ => this.x = 1.0 } },
            quote! { match mood { Mood::Calm => { this.stop(); } Mood { level } if level > 1 => this.x = 1.0, _ => {} } },
            quote! { for each in this.readings() { this.x = 1.0; } },
        ] {
            let mut found = Checked::new();
            assert!(find_mistakes(body.clone(), &mut found).is_some());
            assert_eq!(found.len(), 1, "{body}");
        }
    }
}
