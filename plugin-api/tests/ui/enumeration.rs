//! Rules of `#[uenum]`. Each module breaks one rule.
#![allow(unused)]
#![forbid(unsafe_code)]

mod alc0160 {
    use alcedo_plugin_api::prelude::*;

    #[uenum(package = "Game")]
    #[repr(u8)]
    pub enum Mood<T> {
        Calm,
        Angry,
    }
}

mod alc0161 {
    use alcedo_plugin_api::prelude::*;

    #[uenum(package = "Game")]
    #[repr(usize)]
    pub enum Mood {
        Calm,
        Angry,
    }
}

mod alc0162 {
    use alcedo_plugin_api::prelude::*;

    #[uenum(package = "Game", flags)]
    #[repr(u8)]
    pub enum Rights {
        Read = 1,
        Look = 1,
    }
}

mod alc0163 {
    use alcedo_plugin_api::prelude::*;

    #[uenum(package = "Game")]
    #[repr(u8)]
    pub enum Mood {
        Calm = 1,
        Angry,
    }
}

mod alc0164 {
    use alcedo_plugin_api::prelude::*;

    #[uenum(package = "Game", flags)]
    #[repr(u8)]
    pub enum Rights {
        Read = 1,
        Last = 256,
    }
}

mod alc0165 {
    use alcedo_plugin_api::prelude::*;

    #[uenum(package = "Game", flags)]
    #[repr(i8)]
    pub enum Rights {
        Read = 1,
        Least = -1,
    }
}

mod alc0166 {
    use alcedo_plugin_api::prelude::*;

    #[uenum(package = "Game")]
    #[repr(u8)]
    pub enum Mood {
        Calm,
        Angry(u32),
    }
}

mod alc0167 {
    use alcedo_plugin_api::prelude::*;

    const LAST: u8 = 3;

    #[uenum(package = "Game")]
    #[repr(u8)]
    pub enum Mood {
        Calm,
        Angry = LAST,
    }
}

mod alc0218 {
    use alcedo_plugin_api::prelude::*;

    #[uenum(package = "Game", flags)]
    #[derive(Default)]
    #[repr(u8)]
    pub enum Rights {
        Nothing = 0,
        #[default]
        Read = 1,
    }
}

fn main() {}
