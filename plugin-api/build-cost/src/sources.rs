//! Generates the sources of the two measured plugins from one description. The plugins differ only in the attributes.

use std::fmt::Write as _;
use std::path::Path;

/// Number of classes, and number of properties and functions per class.
const CLASSES: usize = 20;
const MEMBERS: usize = 10;

/// Variant of a measured plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    /// Classes with the attributes of the plugin interface.
    Attributed,
    /// Classes without attributes.
    Plain,
}

impl Sort {
    /// Both variants, in the order of the builds.
    pub(crate) const BOTH: [Self; 2] = [Self::Attributed, Self::Plain];

    /// Returns the name of the package, which is also the name of its folder.
    pub(crate) fn package(self) -> &'static str {
        match self {
            Self::Attributed => "with-attributes",
            Self::Plain => "without",
        }
    }
}

/// Returns the `Cargo.toml` of a package. Each package is a separate workspace.
pub(crate) fn manifest(sort: Sort, interface: &Path) -> String {
    let mut text = format!(
        "[package]\nname = \"{}\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n\
         [lib]\ncrate-type = [\"cdylib\"]\n\n[workspace]\n\n[profile.dev]\ndebug = \"line-tables-only\"\n",
        sort.package()
    );
    if sort == Sort::Attributed {
        let interface = interface.display().to_string();
        writeln!(text, "\n[dependencies]\nalcedo-plugin-api = {{ path = {interface:?} }}").expect("text takes all");
    }
    text
}

/// Returns the files in the `src` folder of a package, by name.
pub(crate) fn sources(sort: Sort) -> Vec<(String, String)> {
    let mut files = vec![("lib.rs".to_owned(), root(sort))];
    files.extend((0..CLASSES).map(|at| (format!("class_{at:02}.rs"), class(sort, at, 1))));
    files
}

/// Returns the name and the content of the file that each round edits. The content contains `number`, which differs in each round.
pub(crate) fn edited(sort: Sort, number: usize) -> (String, String) {
    (format!("class_{:02}.rs", CLASSES / 2), class(sort, CLASSES / 2, number))
}

fn root(sort: Sort) -> String {
    let mut text = "//! Twenty classes of ten properties and ten functions.\n\n".to_owned();
    if sort == Sort::Attributed {
        text.push_str("#![forbid(unsafe_code)]\n\nuse alcedo_plugin_api::prelude::*;\n\n");
    }
    for at in 0..CLASSES {
        writeln!(text, "pub mod class_{at:02};").expect("text takes all");
    }
    match sort {
        Sort::Attributed => text.push_str("\nmodule! { name: \"with_attributes\" }\n"),
        // Exports the functions, because the compiler omits functions that a `cdylib` does not export.
        Sort::Plain => {
            for at in 0..CLASSES {
                let name = format!("class_{at:02}::Class{at:02}");
                writeln!(
                    text,
                    "\n#[unsafe(no_mangle)]\npub static FUNCTIONS_{at:02}: [fn(&mut {name}, f64, u32) -> f64; {MEMBERS}] = ["
                )
                .expect("text takes all");
                for member in 0..MEMBERS {
                    writeln!(text, "    {name}::function_{member},").expect("text takes all");
                }
                text.push_str("];\n");
            }
        }
    }
    text
}

fn class(sort: Sort, at: usize, number: usize) -> String {
    let (attributed, name) = (sort == Sort::Attributed, format!("Class{at:02}"));
    let mut text = "//! One of twenty classes.\n\n".to_owned();
    let mut line = |content: &str| {
        text.push_str(content);
        text.push('\n');
    };
    if attributed {
        line("use alcedo_plugin_api::prelude::*;\n");
    }
    line("/// One of twenty classes.");
    line(if attributed { "#[uclass(package = \"Cost\", blueprintable)]" } else { "#[derive(Debug, Default)]" });
    line(&format!("pub struct {name} {{"));
    for member in 0..MEMBERS {
        line(&format!("    /// A number, the {member}. of its class."));
        if attributed {
            line(&format!("    #[uproperty(edit_anywhere, default = {member}.0)]"));
        }
        line(&format!("    value_{member}: f64,"));
    }
    line("    count: u32,\n}\n");
    if attributed {
        line("#[uclass]");
    }
    line(&format!("impl {name} {{"));
    if attributed {
        line("    #[red_constructor]\n    fn new(_this: This<Self>) -> Self {\n        Self { count: 0 }\n    }");
    }
    for member in 0..MEMBERS {
        let factor = if member == 0 { number } else { member };
        if attributed || member > 0 {
            line("");
        }
        line(&format!("    /// Sums up to what was asked for, the {member}. way."));
        if attributed {
            line("    #[ufunction(blueprint_callable)]");
            line(&format!("    fn function_{member}(&mut self, this: This<Self>, by: f64, times: u32) -> f64 {{"));
            line(&format!("        let mut value = this.value_{member}();"));
        } else {
            line(&format!("    pub fn function_{member}(&mut self, by: f64, times: u32) -> f64 {{"));
            line(&format!("        let mut value = self.value_{member};"));
        }
        line("        for step in 0..times {");
        line(&format!("            value += by * f64::from(step % {factor}.max(1));"));
        line("        }");
        line("        self.count += times;");
        if attributed {
            line(&format!("        this.set_value_{member}(value);"));
        } else {
            line(&format!("        self.value_{member} = value;"));
        }
        line("        value\n    }");
    }
    line("}");
    text
}
