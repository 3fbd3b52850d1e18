//! Values of scripts that reflection keeps, and conversions that the machine makes: from the text to what a function gives.

use alcedo_runtime::{Builder, Value};

use crate::scripts::{Package, call, spawn};
use crate::support;

/// What functions of a class give; the class is `Foo`, and the text all of it behind its first line.
fn gives(text: &str, expected: &[(&str, &str)]) {
    let package = Package::new("Tale", &[("Foo.uc", &format!("class Foo extends Actor;\n{text}"))]);
    let builder: Builder = support::builder().package("Tale");
    let host = builder.build().unwrap_or_else(|error| panic!("{error}"));
    host.create_master(std::slice::from_ref(&package.folder)).unwrap_or_else(|error| panic!("{error}"));
    let object = spawn(&host, "/Script/Tale.Foo");
    for (function, value) in expected {
        assert_eq!(call(&host, object, function, &[]), Some(Value::Text((*value).into())), "{function} of {text}");
    }
}

#[test]
fn a_fixed_array_in_a_struct_has_all_its_elements_whichever_the_defaults_name() {
    let text = "
        struct S { var int fx[3]; var string row[3]; structdefaultproperties {
            fx(1)=9
            row=(\"a\")
        } };
        var S p, q;
        function string A() { local S o; return o.fx[0] @ o.fx[1] @ o.fx[2] $ o.row[0] $ o.row[2]; }
        function string B() { return p.fx[0] @ p.fx[1] @ p.fx[2] $ p.row[0] $ p.row[2]; }
        function string C() { return q.fx[0] @ q.fx[1] @ q.fx[2] $ q.row[0] $ q.row[2]; }
        defaultproperties {
            p=(fx[0]=4)
        }";
    gives(text, &[("A", "0 9 0a"), ("B", "4 0 0a"), ("C", "0 9 0a")]);
}
