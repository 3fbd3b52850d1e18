//! Rules of `#[udelegate]`. Each module breaks one rule.
#![allow(unused)]
#![forbid(unsafe_code)]

mod alc0170 {
    use alcedo_plugin_api::prelude::*;

    #[udelegate(multicast, package = "Game")]
    pub struct OnScored {
        points: i32,
    }
}

mod alc0171 {
    use alcedo_plugin_api::prelude::*;

    #[udelegate(package = "Game")]
    pub type OnScored = fn(points: i32);
}

mod alc0172 {
    use alcedo_plugin_api::prelude::*;

    #[udelegate(single, package = "Game", multicast)]
    pub type OnScored = fn(points: i32);
}

mod alc0173 {
    use alcedo_plugin_api::prelude::*;

    #[udelegate(multicast, package = "Game")]
    pub type MayScore = fn(points: i32) -> bool;

    #[udelegate(sparse, package = "Game")]
    pub type MayStop = fn() -> bool;
}

mod alc0174 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Player {}

    #[udelegate(multicast, package = "Game", of = Player)]
    pub type OnScored = fn(points: i32);
}

mod alc0175 {
    use alcedo_plugin_api::prelude::*;

    #[udelegate(multicast, package = "Game")]
    pub type OnScored = fn(i32, _: bool);
}

mod alc0176 {
    use alcedo_plugin_api::prelude::*;

    #[udelegate(multicast, package = "Game")]
    pub type OnScored = fn(points: &mut i32);
}

mod alc0177 {
    use alcedo_plugin_api::prelude::*;

    #[udelegate(multicast, package = "Game")]
    pub type OnScored<T> = fn(points: T);

    #[udelegate(multicast, package = "Game")]
    pub type OnMissed = unsafe extern "C" fn(points: i32);
}

mod alc0178 {
    use alcedo_plugin_api::prelude::*;

    #[udelegate(multicast, package = "Game")]
    pub type OnScored = fn(a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8, i: u8);
}

mod alc0179 {
    use alcedo_plugin_api::prelude::*;

    #[udelegate(multicast, package = "Game")]
    pub type OnScored = fn(points: i32, points: i32);
}

fn main() {}
