//! Functions of geometries: the manual, "Spatial Analysis Functions", as far as they make, print and take apart single
//! geometries. Relations and measures are not here.

mod arguments;
mod cast;
mod collect;
mod describe;
mod geojson;
mod options;
mod parts;
mod print;
mod read;
mod set;
#[cfg(test)]
mod tests;

use super::Row;

pub(super) const FUNCTIONS: &[&[Row]] = &[
    cast::FUNCTIONS,
    collect::FUNCTIONS,
    describe::FUNCTIONS,
    geojson::FUNCTIONS,
    parts::FUNCTIONS,
    print::FUNCTIONS,
    read::FUNCTIONS,
    set::FUNCTIONS,
];
