//! Builds the libraries of the programs once, and identifies them by their build ids.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use alcedo_runtime::ManifestInfo;

use crate::program::{LIBS, Lib};
use crate::support;

pub(crate) struct Libraries {
    paths: HashMap<Lib, PathBuf>,
    ids: HashMap<u128, Lib>,
}

impl Libraries {
    pub(crate) fn new() -> Self {
        let paths: HashMap<_, _> = LIBS.map(|lib| (lib, build(lib))).into_iter().collect();
        let id = |path: &PathBuf| ManifestInfo::peek(path).unwrap_or_else(|error| panic!("{error}")).build_id;
        let ids = paths.iter().map(|(lib, path)| (id(path), *lib)).collect();
        Self { paths, ids }
    }

    pub(crate) fn path(&self, lib: Lib) -> PathBuf {
        self.paths[&lib].clone()
    }

    pub(crate) fn bytes(&self, lib: Lib) -> Vec<u8> {
        fs::read(&self.paths[&lib]).expect("it was built")
    }

    pub(crate) fn lib(&self, id: u128) -> Lib {
        *self.ids.get(&id).unwrap_or_else(|| panic!("unknown build {id:032x}"))
    }
}

fn build(lib: Lib) -> PathBuf {
    match lib {
        Lib::Reports1 | Lib::Reports2 => support::tagged("reports", &[], lib.tag()),
        Lib::ReportsNeeds => support::plugin("reports", &["needs-figures"]),
        Lib::ReportsPanics => support::plugin("reports", &["panic-in-main"]),
        Lib::Figures1 | Lib::Figures2 => support::tagged("figures", &[], lib.tag()),
        Lib::FiguresNeeds => support::plugin("figures", &["needs-reports"]),
    }
}
