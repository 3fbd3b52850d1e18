//! Prints expressions. Adds no parentheses: the tree contains all parentheses of the source.

use alcedo_reflect::quote;
use alcedo_uc::ast::{Expr, ExprKind, Prefix};

use super::in_dots;

fn list(args: &[Option<Expr>]) -> String {
    let text: Vec<_> = args.iter().map(|arg| arg.as_ref().map_or(String::new(), expression)).collect();
    text.join(", ")
}

pub(super) fn expression(of: &Expr) -> String {
    match &of.kind {
        ExprKind::Int(text, _) | ExprKind::Float(text, _) => text.clone(),
        ExprKind::Text(text) => quote(text),
        ExprKind::Name(text) => format!("'{text}'"),
        ExprKind::Object(word, name) => format!("{}'{name}'", word.text),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::None => "none".to_owned(),
        ExprKind::SelfObject => "self".to_owned(),
        ExprKind::Super(None) => "super".to_owned(),
        ExprKind::Super(Some(of)) => format!("super({})", of.text),
        ExprKind::Global => "global".to_owned(),
        ExprKind::Default => "default".to_owned(),
        ExprKind::Static => "static".to_owned(),
        ExprKind::Triple(word, values) => {
            format!("{}({})", word.text, values.iter().map(expression).collect::<Vec<_>>().join(", "))
        }
        ExprKind::Ident(name) => name.text.clone(),
        ExprKind::Member(of, name) => format!("{}.{}", expression(of), name.text),
        ExprKind::Index(of, index) => format!("{}[{}]", expression(of), expression(index)),
        ExprKind::Call(of, args) => format!("{}({})", expression(of), list(args)),
        ExprKind::ClassCast(class, of) => format!("class<{}>({})", in_dots(class), expression(of)),
        ExprKind::New(args, class, template) => {
            let args = if args.is_empty() { String::new() } else { format!("({}) ", list(args)) };
            let template = template.as_ref().map_or(String::new(), |template| format!("({})", expression(template)));
            format!("new {args}{}{template}", expression(class))
        }
        ExprKind::Prefix(sign, of) => {
            let inner = expression(of);
            let sign = match sign {
                Prefix::Not => "!",
                Prefix::Minus => "-",
                Prefix::Plus => "+",
                Prefix::Tilde => "~",
                Prefix::Up => "++",
                Prefix::Down => "--",
            };
            // Without the space, `- -a` would become `--a`.
            let needs_space = inner.starts_with(['-', '+', '~', '=', '!']);
            if needs_space { format!("{sign} {inner}") } else { format!("{sign}{inner}") }
        }
        ExprKind::Postfix(up, of) => format!("{}{}", expression(of), if *up { "++" } else { "--" }),
        ExprKind::Infix(op, _, one, other) => format!("{} {} {}", expression(one), op.sign(), expression(other)),
        ExprKind::Operator(name, operands) => {
            let before = if operands.len() == 1 { name.text.as_str() } else { "" };
            let operands: Vec<_> = operands.iter().map(expression).collect();
            format!("{before}{}", operands.join(&format!(" {} ", name.text)))
        }
        ExprKind::Conditional(condition, one, other) => {
            format!("{} ? {} : {}", expression(condition), expression(one), expression(other))
        }
        ExprKind::Assign(target, value) => format!("{} = {}", expression(target), expression(value)),
        ExprKind::Paren(of) => format!("({})", expression(of)),
        ExprKind::Macro(name, None) => format!("`{name}"),
        ExprKind::Macro(name, Some(argument)) => format!("`{name}({argument})"),
    }
}
