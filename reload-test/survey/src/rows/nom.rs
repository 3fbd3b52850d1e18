//! Parses a list of numbers.

use crate::local::report;

use nom::character::complete::{char, digit1};
use nom::combinator::map_res;
use nom::multi::separated_list1;
use nom::{IResult, Parser as _};

fn numbers(text: &str) -> IResult<&str, Vec<u64>> {
    separated_list1(char(','), map_res(digit1, str::parse)).parse(text)
}

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    report(numbers("1,2,39;").map(|(rest, numbers)| rest == ";" && numbers.iter().sum::<u64>() == 42))
}

pub(crate) fn end() {}
