//! Prints a syntax tree in a normal form. Parsing the output returns an equal tree, and printing this tree returns equal output. Only tests
//! and fuzz targets print trees.

mod expressions;
mod statements;

use alcedo_reflect::{listed, quote};
use alcedo_uc::ast::{
    ClassHead, DefaultLine, DefaultObject, DefaultValue, DefaultValueKind, Defaults, Enum, File, Function, Ident, Item,
    Modifier, Param, Struct, TypeKind, TypeRef, Var, VarName,
};

use expressions::expression;

/// Prints a file. Keeps only comments that document a declaration.
pub(crate) fn print(file: &File) -> String {
    let mut printer = Printer { text: String::new(), indent: 0 };
    if let Some(class) = &file.class {
        printer.class(class);
    }
    for item in &file.items {
        printer.text.push('\n');
        printer.item(item);
    }
    printer.text
}

struct Printer {
    text: String,
    indent: usize,
}

impl Printer {
    fn line(&mut self, line: &str) {
        for _ in 0..self.indent {
            self.text.push_str("    ");
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn doc(&mut self, doc: &str) {
        match doc.lines().collect::<Vec<_>>()[..] {
            [] => {}
            [one] => self.line(&format!("/** {one} */")),
            ref lines => {
                self.line("/**");
                for line in lines {
                    self.line(format!(" * {line}").trim_end());
                }
                self.line(" */");
            }
        }
    }

    fn class(&mut self, class: &ClassHead) {
        self.doc(&class.doc);
        let word = if class.is_interface { "interface" } else { "class" };
        let mut head = format!("{word} {}{}", class.name.text, meta(class.meta.as_ref()));
        if let Some(base) = &class.base {
            head.push_str(&format!(" extends {}", in_dots(base)));
        }
        for word in &class.modifiers {
            match &word.argument {
                Some(outer) if word.name.is("within") => head.push_str(&format!(" {} {outer}", word.name.text)),
                _ => head.push_str(&format!(" {}", modifier(word))),
            }
        }
        self.line(&format!("{head};"));
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Var(found) => self.var(found),
            Item::Struct(found) => {
                self.doc(&found.doc);
                self.line(&structure(found));
                self.fields(found);
                self.line("};");
            }
            Item::Enum(found) => {
                self.doc(&found.doc);
                let text = enumeration(found);
                self.line(&format!("{text};"));
            }
            Item::Const(found) => {
                self.doc(&found.doc);
                self.line(&format!("const {} = {};", found.name.text, expression(&found.value)));
            }
            Item::Function(found) => self.function(found),
            Item::Defaults(found) => self.defaults(found),
            Item::Outside(found) => self.line(&found.raw),
        }
    }

    fn fields(&mut self, found: &Struct) {
        self.indent += 1;
        for item in &found.items {
            self.item(item);
        }
        self.indent -= 1;
    }

    fn var(&mut self, found: &Var) {
        self.doc(&found.doc);
        let category = found.category.as_ref().map_or(String::new(), |category| format!("({category})"));
        let head = format!("var{category} {}", modifiers(&found.modifiers));
        let names = var_names(&found.names);
        match &found.ty.kind {
            TypeKind::Struct(inner) => {
                self.line(&format!("{head}{}", structure(inner)));
                self.fields(inner);
                self.line(&format!("}} {names};"));
            }
            _ => self.line(&format!("{head}{} {names};", type_ref(&found.ty))),
        }
    }

    fn function(&mut self, found: &Function) {
        self.doc(&found.doc);
        let result = found.result.as_ref().map_or(String::new(), |result| format!("{} ", type_ref(result)));
        let params: Vec<_> = found.params.iter().map(param).collect();
        let trailing: String = found.trailing.iter().map(|word| format!(" {}", modifier(word))).collect();
        let head = format!(
            "{}{} {result}{}({}){trailing}",
            modifiers(&found.modifiers),
            modifier(&found.kind_keyword),
            found.name.text,
            params.join(", ")
        );
        match &*found.body.borrow() {
            Some(body) => {
                self.line(&format!("{head} {{"));
                self.statements(body);
                self.line("}");
            }
            None => self.line(&format!("{head};")),
        }
    }

    fn defaults(&mut self, found: &Defaults) {
        self.line(&format!("{} {{", found.keyword.text));
        self.default_lines(&found.lines);
        self.line("}");
    }

    fn default_lines(&mut self, lines: &[DefaultLine]) {
        self.indent += 1;
        for line in lines {
            match line {
                DefaultLine::Set(name, index, value) => {
                    self.line(&format!("{}{}={}", name.text, default_index(index.as_ref()), default_value(value)));
                }
                DefaultLine::Method(name, method, values, _) => {
                    let values: Vec<_> = values.iter().map(default_value).collect();
                    self.line(&format!("{}.{}({})", name.text, method.text, values.join(", ")));
                }
                DefaultLine::Object(object) => self.default_object(object),
            }
        }
        self.indent -= 1;
    }

    fn default_object(&mut self, object: &DefaultObject) {
        let mut head = "Begin Object".to_owned();
        if let Some(class) = &object.class {
            head.push_str(&format!(" Class={}", class.text));
        }
        if let Some(name) = &object.name {
            head.push_str(&format!(" Name={}", plain_or_quoted(name)));
        }
        for (word, value) in &object.others {
            head.push_str(&format!(" {}={}", word.text, default_value(value)));
        }
        self.line(&head);
        self.default_lines(&object.lines);
        self.line("End Object");
    }
}

fn plain_or_quoted(name: &Ident) -> String {
    let plain = name.text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if plain { name.text.clone() } else { format!("\"{}\"", name.text) }
}

fn modifier(word: &Modifier) -> String {
    match &word.argument {
        Some(argument) => format!("{}({argument})", word.name.text),
        None => word.name.text.clone(),
    }
}

fn modifiers(list: &[Modifier]) -> String {
    list.iter().map(|word| format!("{} ", modifier(word))).collect()
}

fn var_name(name: &VarName) -> String {
    let dim = name.dim.as_ref().map_or(String::new(), |dim| format!("[{}]", expression(dim)));
    format!("{}{dim}{}", name.name.text, meta(name.meta.as_ref()))
}

fn meta(meta: Option<&String>) -> String {
    meta.map_or_else(String::new, |meta| format!("<{meta}>"))
}

fn var_names(names: &[VarName]) -> String {
    names.iter().map(var_name).collect::<Vec<_>>().join(", ")
}

/// Prints a struct up to the opening brace.
fn structure(found: &Struct) -> String {
    let mut head = format!("struct {}{}{}", modifiers(&found.modifiers), found.name.text, meta(found.meta.as_ref()));
    if let Some(base) = &found.base {
        head.push_str(&format!(" extends {}", in_dots(base)));
    }
    head + " {"
}

fn enumeration(found: &Enum) -> String {
    let name = format!("{}{}", found.name.text, meta(found.meta.as_ref()));
    if found.entries.is_empty() {
        return format!("enum {name} {{}}");
    }
    format!("enum {name} {{ {} }}", var_names(&found.entries))
}

fn param(param: &Param) -> String {
    let default = param.default.as_ref().map_or(String::new(), |default| format!(" = {}", expression(default)));
    format!("{}{} {}{default}", modifiers(&param.modifiers), type_ref(&param.ty), var_name(&param.name))
}

fn type_ref(ty: &TypeRef) -> String {
    match &ty.kind {
        TypeKind::Named(names) => in_dots(names),
        TypeKind::Generic(name, of) => {
            let of: Vec<_> = of.iter().map(type_ref).collect();
            format!("{}<{}>", name.text, of.join(", "))
        }
        TypeKind::Delegate(names) => format!("delegate<{}>", in_dots(names)),
        TypeKind::Enum(found) => enumeration(found),
        TypeKind::Struct(found) => {
            let mut printer = Printer { text: String::new(), indent: 0 };
            printer.fields(found);
            format!("{}\n{}}}", structure(found), printer.text)
        }
    }
}

fn default_index(index: Option<&Ident>) -> String {
    index.map_or(String::new(), |index| format!("({})", index.text))
}

fn default_value(value: &DefaultValue) -> String {
    match &value.kind {
        DefaultValueKind::Empty => String::new(),
        DefaultValueKind::Int(text, _) | DefaultValueKind::Float(text, _) => text.clone(),
        DefaultValueKind::Text(text) => quote(text),
        DefaultValueKind::Name(text) => format!("'{text}'"),
        DefaultValueKind::Object(word, name) => format!("{}'{name}'", word.text),
        DefaultValueKind::Word(names) => in_dots(names),
        DefaultValueKind::Struct(fields) => {
            let field = |(name, index, value): &(Ident, Option<Ident>, DefaultValue)| {
                format!("{}{}={}", name.text, default_index(index.as_ref()), default_value(value))
            };
            listed(fields.iter().map(field))
        }
        DefaultValueKind::Array(values) => listed(values.iter().map(default_value)),
    }
}

fn in_dots(names: &[Ident]) -> String {
    names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join(".")
}
