//! Defines a macro for enums whose variants appear in messages. Each line of an invocation contains a variant and its name, so no separate
//! list of names exists.

/// Declares an enum without data, and a `Display` that prints the text of each variant.
macro_rules! named {
    ($(#[$attr:meta])* $vis:vis enum $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$attr])*
        $vis enum $name { $($(#[$doc])* $variant,)* }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(match self { $(Self::$variant => $text,)* })
            }
        }
    };
}
