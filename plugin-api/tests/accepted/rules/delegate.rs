//! Rules of `#[udelegate]`. Each module must compile, and has the id of the rule that it follows.

mod alc0170 {
    use alcedo_plugin_api::prelude::*;

    #[udelegate(multicast, package = "Game")]
    pub type OnScored = fn(points: i32);
}

mod alc0171 {
    use alcedo_plugin_api::prelude::*;

    #[udelegate(sparse, package = "Game")]
    pub type OnScored = fn(points: i32);
}

mod alc0172 {
    use alcedo_plugin_api::prelude::*;

    #[udelegate(package = "Game", multicast)]
    pub type OnScored = fn(points: i32);
}

mod alc0173 {
    use alcedo_plugin_api::prelude::*;

    #[udelegate(single, package = "Game")]
    pub type MayScore = fn(points: i32) -> bool;

    #[udelegate(sparse, package = "Game")]
    pub type MayStop = fn() -> ();
}

mod alc0174 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Player {}

    #[udelegate(multicast, of = Player)]
    pub type OnScored = fn(points: i32);
}

mod alc0175 {
    use alcedo_plugin_api::prelude::*;

    #[udelegate(multicast, package = "Game")]
    pub type OnScored = fn(points: i32, _twice: bool);
}

mod alc0176 {
    use alcedo_plugin_api::prelude::*;

    #[udelegate(single, package = "Game")]
    pub type OnScored = fn(points: i32) -> i32;
}

mod alc0177 {
    use alcedo_plugin_api::prelude::*;

    #[udelegate(multicast, package = "Game")]
    pub type OnScored = fn(points: i32);

    #[udelegate(multicast, package = "Game")]
    pub type OnMissed = fn(points: i32);
}

mod alc0178 {
    use alcedo_plugin_api::prelude::*;

    #[udelegate(multicast, package = "Game")]
    pub type OnScored = fn(a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8);
}

mod alc0179 {
    use alcedo_plugin_api::prelude::*;

    #[udelegate(multicast, package = "Game")]
    pub type OnScored = fn(points: i32, before: i32);
}
