//! Rules of `module!`. Each module breaks one rule.
#![allow(unused)]
#![forbid(unsafe_code)]

mod alc0069 {
    use alcedo_plugin_api::prelude::*;

    module! { name: "thing", mian: started }
}

mod alc0070 {
    use alcedo_plugin_api::prelude::*;

    module! { name: "thing", name: "thing" }
}

mod alc0071 {
    use alcedo_plugin_api::prelude::*;

    module! {}
}

mod alc0072 {
    use alcedo_plugin_api::prelude::*;

    module! { name: "My Thing" }
}

mod alc0073 {
    use alcedo_plugin_api::prelude::*;

    fn let_go() {}
    module! { name: "thing", suspend: let_go }
}

mod alc0074 {
    use alcedo_plugin_api::prelude::*;

    fn take_again() {}
    module! { name: "thing", resume: take_again }
}

mod alc0075 {
    use alcedo_plugin_api::prelude::*;

    module! { name: "thing", allocator: mine }
}

mod alc0076 {
    use alcedo_plugin_api::prelude::*;

    module! { name: "thing", dependencies: [("the other", "^1")] }
}

mod alc0077 {
    use alcedo_plugin_api::prelude::*;

    module! { name: "thing", dependencies: ["other"] }
}

mod alc0212 {
    use alcedo_plugin_api::prelude::*;

    module! { name: "thing", permissions: [net] }
}

fn main() {}
