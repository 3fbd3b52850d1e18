//! Writes a fixed array in a struct of the script package `Ballad`.

use alcedo_plugin_api::prelude::*;

/// Struct of the script package. The field is a fixed array of three elements in the script.
#[ustruct(imported, package = "Ballad")]
pub struct Verse {
    /// Numbers of syllables of the lines.
    syllables: UArray<i32>,
}

/// Owner of a verse.
#[uclass(package = "Game")]
pub struct Reader {
    /// The verse.
    #[uproperty]
    verse: Verse,
}

#[uclass]
impl Reader {
    /// Overwrites the verse with three and with two syllables. Returns the error of the second write.
    #[ufunction]
    fn recite(&self, this: This<Self>) -> String {
        this.verse().set_syllables([4, 5, 6]);
        this.verse().try_set_syllables([7, 8]).expect_err("shorter").to_string()
    }
}
