//! Parses declarations: classes, variables, structs, enums, constants, functions, and unsupported constructs.

use super::{Failed, Parser, Read};
use crate::ast::{ClassHead, Const, Expr, File, Ident, Item, Modifier, Outside, OutsideKind, Var, VarName};
use crate::source::Span;
use crate::token::{Kind, Token};

/// Specifiers before a parameter's type.
pub(crate) const PARAM_SPECIFIERS: &[&str] =
    &["out", "ref", "optional", "coerce", "const", "skip", "init", "editconst", "export"];

/// Specifiers before the type of a variable.
pub(crate) const VAR_SPECIFIERS: &[&str] = &[
    "config",
    "globalconfig",
    "localized",
    "const",
    "editconst",
    "editconstarray",
    "transient",
    "travel",
    "private",
    "protected",
    "public",
    "native",
    "export",
    "input",
    "noexport",
    "edfindable",
    "editinline",
    "editinlinenotify",
    "editinlineuse",
    "noclear",
    "duplicatetransient",
    "nontransactional",
    "interp",
    "notforconsole",
    "noimport",
    "databinding",
    "repnotify",
    "repretry",
    "crosslevel",
    "crosslevelactive",
    "crosslevelpassive",
    "archetype",
    "deprecated",
    "protectedwrite",
    "privatewrite",
    "editoronly",
    "instanced",
    "init",
    "allowabstract",
    "automated",
    "editfixedsize",
    "cache",
    "serializetext",
    "nonlocalized",
    "editconstfixed",
    "pointer_only",
    "savegame",
    "hidecategories",
    "edithide",
    "edittextbox",
    "editinlinenew",
];

/// Specifiers before `function`, `event`, `delegate`, `state` and the operators.
pub(crate) const FUNCTION_SPECIFIERS: &[&str] = &[
    "native",
    "intrinsic",
    "final",
    "static",
    "simulated",
    "latent",
    "iterator",
    "singular",
    "exec",
    "private",
    "protected",
    "public",
    "reliable",
    "unreliable",
    "server",
    "client",
    "dllimport",
    "bool8",
    "bool32",
    "no_cwd",
    "noexport",
    "noexportheader",
    "const",
    "virtual",
    "demorecording",
    "auto",
    "k2call",
    "k2pure",
    "k2override",
    "coerce",
    "multicast",
    "throws",
];

pub(super) const OPERATOR_KEYWORDS: &[&str] = &["operator", "preoperator", "postoperator"];

impl Parser<'_> {
    pub(super) fn file(&mut self) -> File {
        let mut file = File::default();
        while self.peek().kind != Kind::End {
            let before = self.peek().span.start;
            if self.class_head_ahead() {
                match (self.class_head(), file.class.is_some()) {
                    (Ok(head), false) => file.class = Some(head),
                    (Ok(head), true) => {
                        let message = format!("a second class in one file: `{}`", head.name.text);
                        let error = self.error("uc-second-class", head.name.span, message);
                        self.report(error.hint("write each class into a file of its own"));
                    }
                    (Err(Failed), _) => {
                        self.skip_declaration();
                        file.is_partial = true;
                    }
                }
            } else {
                file.is_partial |= self.items_into(&mut file.items);
            }
            self.ensure_progress(before);
        }
        file
    }

    fn class_head_ahead(&mut self) -> bool {
        (self.is_word(0, "class") || self.is_word(0, "interface")) && self.peek_kind(1) == Kind::Word
    }

    /// Consumes a token if the parser is still at offset `before`, so that every loop terminates.
    pub(super) fn ensure_progress(&mut self, before: u32) {
        if self.peek().span.start == before && self.peek().kind != Kind::End {
            self.next();
        }
    }

    fn class_head(&mut self) -> Read<ClassHead> {
        let start = self.next();
        let (doc, is_interface) = (self.doc(start), self.text(start).eq_ignore_ascii_case("interface"));
        let name = self.ident("the name of the class")?;
        let meta = self.meta()?;
        let (mut base, mut modifiers) = (None, Vec::new());
        loop {
            if self.is_one_of(0, &["extends", "expands"]) {
                self.next();
                let named = self.dotted("the name of the base class")?;
                if base.is_some() {
                    let error =
                        self.error("uc-syntax", named[0].span, "a class extends one class: this is a second one");
                    self.report(error);
                }
                base = Some(named);
            } else if self.is_word(0, "within") {
                let word = self.ident("`within`")?;
                let outer = self.dotted("the name of the outer class")?;
                modifiers.push(Modifier { name: word, argument: Some(in_dots(&outer)) });
            } else if self.peek().kind == Kind::Word {
                modifiers.push(self.modifier()?);
            } else {
                break;
            }
        }
        let end = self.expect(Kind::Semicolon, "`;`", "after the class")?;
        Ok(ClassHead { is_interface, name, meta, base, modifiers, doc, span: start.span.to(end.span) })
    }

    pub(super) fn modifier(&mut self) -> Read<Modifier> {
        Ok(Modifier { name: self.ident("a word")?, argument: self.optional_parens()? })
    }

    /// Consumes parentheses if they begin at the next token. Returns their content.
    pub(super) fn optional_parens(&mut self) -> Read<Option<String>> {
        if self.peek().kind == Kind::ParenOpen { self.raw_parens().map(Some) } else { Ok(None) }
    }

    pub(super) fn dotted(&mut self, what: &str) -> Read<Vec<Ident>> {
        let first = self.ident(what)?;
        self.dotted_behind(first, what)
    }

    /// Parses the names that follow the first name, each after a dot.
    pub(super) fn dotted_behind(&mut self, first: Ident, what: &str) -> Read<Vec<Ident>> {
        let mut names = vec![first];
        while self.peek().kind == Kind::Dot && self.peek_kind(1) == Kind::Word {
            self.next();
            names.push(self.ident(what)?);
        }
        Ok(names)
    }

    /// Parses declarations up to a class header or the end of the file. Returns true if some text could not be parsed.
    fn items_into(&mut self, items: &mut Vec<Item>) -> bool {
        let mut is_partial = false;
        loop {
            let token = self.peek();
            if token.kind == Kind::End || self.class_head_ahead() {
                return is_partial;
            }
            match token.kind {
                Kind::Semicolon => {
                    self.next();
                }
                Kind::BraceClose => {
                    let error = self.error("uc-syntax", token.span, "this brace closes nothing");
                    self.report(error.hint("one of the braces above is one too many"));
                    self.next();
                    is_partial = true;
                }
                _ => {
                    if let Ok(item) = self.item() {
                        self.in_junk = false;
                        items.push(item);
                    } else {
                        self.skip_declaration();
                        is_partial = true;
                    }
                    self.ensure_progress(token.span.start);
                }
            }
        }
    }

    /// Skips to the next possible start of a declaration. A declaration may start after a semicolon or block, or at a declaration keyword
    /// that is first on its line.
    fn skip_declaration(&mut self) {
        // After a block, also skips the remaining tokens of the line, up to a semicolon.
        let ends_behind_block = |parser: &mut Self| parser.peek().on_new_line || parser.begins_declaration();
        let is_at_brace = self.skip_until(ends_behind_block, |parser, token| {
            token.span.start != parser.last_end && parser.begins_declaration()
        });
        if is_at_brace {
            self.next();
        }
    }

    /// Returns true if the next tokens begin a declaration and cannot begin a statement.
    pub(super) fn begins_declaration(&mut self) -> bool {
        let following = self.peek_kind(1);
        // Requires an identifier after the keyword, because a statement may begin with a variable that is named `Event`.
        (self.is_one_of(0, &["function", "event", "struct", "enum", "const", "state", "delegate"])
            && following == Kind::Word)
            || (self.is_word(0, "var") && matches!(following, Kind::Word | Kind::ParenOpen))
            || (self.is_one_of(0, &["defaultproperties", "replication", "cpptext"]) && following == Kind::BraceOpen)
            || (self.is_one_of(0, FUNCTION_SPECIFIERS)
                && (self.is_one_of(1, FUNCTION_SPECIFIERS)
                    || self.is_one_of(1, &["function", "event", "delegate", "state"])))
    }

    pub(super) fn item(&mut self) -> Read<Item> {
        self.deeper(Self::item_here)
    }

    fn item_here(&mut self) -> Read<Item> {
        let start = self.peek();
        match start.kind {
            Kind::Directive => return Ok(self.directive()),
            Kind::Macro => return self.macro_item(),
            Kind::Word => {}
            _ => return self.no_declaration(start),
        }
        let text = self.text(start).to_ascii_lowercase();
        match text.as_str() {
            "var" => self.var().map(Item::Var),
            // The callers skip the semicolon after a struct or an enum.
            "struct" => self.structure().map(Item::Struct),
            "enum" => self.enumeration().map(Item::Enum),
            "const" if self.peek_kind(1) == Kind::Word && !self.is_one_of(1, &["function", "event"]) => {
                self.constant().map(Item::Const)
            }
            "defaultproperties" | "structdefaultproperties" => self.defaults().map(Item::Defaults),
            "replication" if self.peek_kind(1) == Kind::BraceOpen => {
                self.next();
                let end = self.skip_braces()?;
                Ok(self.outside(OutsideKind::Replication, start, end, None))
            }
            "cpptext" | "structcpptext" | "cppstruct" if self.peek_kind(1) == Kind::BraceOpen => {
                self.next();
                let end = self.skip_cpp_braces()?;
                Ok(self.outside(OutsideKind::CppText, start, end, None))
            }
            _ => self.function_or_state(),
        }
    }

    /// Reports a token that starts no declaration. Suppresses further reports of this kind until a line begins with an identifier.
    pub(super) fn no_declaration(&mut self, token: Token) -> Read<Item> {
        let after_macro = !token.on_new_line && self.last_macro.is_some_and(|(_, end)| end == self.last_end);
        if after_macro || std::mem::replace(&mut self.in_junk, true) && !(token.on_new_line && token.kind == Kind::Word)
        {
            return Err(Failed);
        }
        let description = self.describe(token);
        let error = self.error("uc-syntax", token.span, format!("{description} begins no declaration"));
        self.fail(
            error.hint("`var`, `const`, `enum`, `struct`, `function`, `event`, `delegate` and `defaultproperties` do"),
        )
    }

    pub(super) fn outside(&mut self, what: OutsideKind, start: Token, end: Span, name: Option<Ident>) -> Item {
        let raw = self.source.slice(start.span.to(end)).to_owned();
        let span = name.as_ref().map_or(start.span, |name| start.span.to(name.span));
        Item::Outside(Outside { what, raw, name, span })
    }

    fn directive(&mut self) -> Item {
        let token = self.next();
        let raw = self.text(token).trim_end().to_owned();
        let is_exec = raw.get(..5).is_some_and(|word| word.eq_ignore_ascii_case("#exec"));
        let what = if is_exec { OutsideKind::Exec } else { OutsideKind::Directive };
        let span = Span { start: token.span.start, end: token.span.start + raw.len() as u32 };
        Item::Outside(Outside { what, raw, name: None, span })
    }

    fn macro_item(&mut self) -> Read<Item> {
        let start = self.next();
        self.rest_of_macro(start)?;
        let name = Ident { text: self.text(start).trim_matches(['`', '{', '}']).to_owned(), span: start.span };
        Ok(self.outside(OutsideKind::Macro, start, self.since(start), Some(name)))
    }

    fn var(&mut self) -> Read<Var> {
        let start = self.next();
        let mut doc = self.doc(start);
        // Skips the braces of `var{private}`, which exported headers contain.
        if self.peek().kind == Kind::BraceOpen {
            self.skip_braces()?;
        }
        let category = self.optional_parens()?;
        let modifiers = self.var_modifiers()?;
        let ty = self.type_ref()?;
        let names = self.list(|parser| parser.var_name("the name of the variable"))?;
        // Reads an editor comment: `var int X "text";`.
        if let Some(comment) = self.take(Kind::Text)
            && doc.is_empty()
        {
            doc = self.unescape(comment);
        }
        let message = "a variable cannot be initialized where it is declared";
        self.no_assignment(
            "uc-syntax",
            message,
            "set it in `defaultproperties`, and in a struct in `structdefaultproperties`",
        )?;
        let end = self.expect(Kind::Semicolon, "`;`", "after the variable")?;
        Ok(Var { category, modifiers, ty, names, doc, span: start.span.to(end.span) })
    }

    /// Returns true if a type and a name may follow the next `n` tokens, so that these `n` tokens are specifiers.
    pub(super) fn type_and_name_ahead(&mut self, n: usize) -> bool {
        let following = self.peek_kind(n + 1);
        matches!(following, Kind::Word | Kind::Lt | Kind::Dot | Kind::ParenOpen | Kind::BraceOpen)
            || (following == Kind::BracketOpen && self.is_word(n, "string"))
    }

    /// Returns true if the next identifier cannot be a type, because a type and a name follow it on the same line.
    pub(super) fn is_unknown_specifier(&mut self) -> bool {
        const TYPES: &[&str] = &[
            "struct", "enum", "int", "float", "bool", "byte", "string", "name", "array", "class", "map", "set",
            "delegate",
        ];
        let (one, two) = (self.tokens.peek(1), self.tokens.peek(2));
        let generic = two.kind == Kind::Lt && self.is_one_of(1, &["array", "class", "map", "set", "delegate"]);
        self.peek().kind == Kind::Word
            && !self.is_one_of(0, TYPES)
            && one.kind == Kind::Word
            && !one.on_new_line
            && !two.on_new_line
            && (two.kind == Kind::Word || generic)
    }

    fn var_modifiers(&mut self) -> Read<Vec<Modifier>> {
        let mut modifiers = Vec::new();
        loop {
            let known = self.is_one_of(0, VAR_SPECIFIERS);
            let following = self.peek_kind(1);
            let is_continued = match following {
                Kind::Word => self.type_and_name_ahead(1),
                Kind::ParenOpen | Kind::BraceOpen => true,
                _ => false,
            };
            // Treats an unknown word as a specifier if a type and a name must follow it.
            let odd = !known && self.is_unknown_specifier();
            if !(known && is_continued || odd) {
                return Ok(modifiers);
            }
            let word = self.modifier()?;
            if word.argument.is_none() && self.peek().kind == Kind::BraceOpen {
                self.skip_braces()?;
            }
            modifiers.push(word);
        }
    }

    pub(super) fn dim(&mut self) -> Read<Option<Expr>> {
        if self.take(Kind::BracketOpen).is_none() {
            return Ok(None);
        }
        let dim = self.expression()?;
        self.expect(Kind::BracketClose, "`]`", "after the number of elements")?;
        Ok(Some(dim))
    }

    /// Parses a name with its optional array size and its optional metadata in `<…>`.
    pub(super) fn var_name(&mut self, what: &str) -> Read<VarName> {
        let (name, dim) = (self.ident(what)?, self.dim()?);
        // Skips the C++ type in `pointer X{FVoid}`, because only native code needs it.
        if self.peek().kind == Kind::BraceOpen && !self.peek().on_new_line {
            self.skip_cpp_braces()?;
        }
        Ok(VarName { name, dim, meta: self.meta()? })
    }

    pub(super) fn constant(&mut self) -> Read<Const> {
        let start = self.next();
        let doc = self.doc(start);
        let name = self.ident("the name of the constant")?;
        self.expect(Kind::Assign, "`=`", "after the name of the constant")?;
        let value = self.expression()?;
        let end = self.expect(Kind::Semicolon, "`;`", "after the constant")?;
        Ok(Const { name, value, doc, span: start.span.to(end.span) })
    }
}

pub(crate) fn in_dots(names: &[Ident]) -> String {
    names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join(".")
}
