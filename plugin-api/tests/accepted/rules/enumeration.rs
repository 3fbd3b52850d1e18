//! Rules of `#[uenum]`. Each module must compile, and has the id of the rule that it follows.

mod alc0160 {
    use alcedo_plugin_api::prelude::*;

    #[uenum(package = "Game")]
    #[repr(u8)]
    pub enum Mood {
        Calm,
        Angry,
    }
}

mod alc0161 {
    use alcedo_plugin_api::prelude::*;

    #[uenum(package = "Game")]
    #[repr(i64)]
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
        Look = 2,
    }
}

mod alc0163 {
    use alcedo_plugin_api::prelude::*;

    #[uenum(package = "Game")]
    #[repr(u8)]
    pub enum Mood {
        Unknown,
        Calm,
        Angry,
    }
}

mod alc0164 {
    use alcedo_plugin_api::prelude::*;

    #[uenum(package = "Game", flags)]
    #[repr(u16)]
    pub enum Rights {
        Read = 1,
        Last = 256,
    }
}

mod alc0165 {
    use alcedo_plugin_api::prelude::*;

    #[uenum(package = "Game")]
    #[repr(i8)]
    pub enum Depth {
        Here,
        Below = -1,
    }
}

mod alc0166 {
    use alcedo_plugin_api::prelude::*;

    #[uenum(package = "Game")]
    #[repr(u8)]
    pub enum Mood {
        Calm,
        Angry,
    }
}

mod alc0167 {
    use alcedo_plugin_api::prelude::*;

    #[uenum(package = "Game")]
    #[repr(u8)]
    pub enum Mood {
        Calm,
        Angry = 3,
        Furious = 1 << 4,
    }
}

mod alc0218 {
    use alcedo_plugin_api::prelude::*;

    #[uenum(package = "Game", flags)]
    #[derive(Default)]
    #[repr(u8)]
    pub enum Rights {
        #[default]
        Nothing = 0,
        Read = 1,
    }
}
