//! Fuzzing: `cargo run --release --example fuzz -- TARGET|all [--seconds N] [--seed S] [--first K]`.
//!
//! Prints the executions of each target. When one fails, prints its number and ends with 1; the same target, seed and
//! `--first NUMBER` repeat it.
#![allow(missing_docs)]

#[path = "../common/mod.rs"]
mod common;
mod driver;
mod fitting;
mod inputs;
mod missing;
mod targets;

use driver::{Until, run};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use targets::TARGETS;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str, default: u64| {
        let place = arguments.iter().position(|argument| argument == name);
        place.and_then(|k| arguments.get(k + 1)).map_or(Ok(default), |text| text.parse::<u64>())
    };
    let (Some(wanted), Ok(seconds), Ok(seed), Ok(first)) =
        (arguments.first(), option("--seconds", 10), option("--seed", 0), option("--first", 0))
    else {
        eprintln!("fuzz TARGET|all [--seconds N] [--seed S] [--first K]; targets: {:?}", TARGETS.map(|(name, _)| name));
        return ExitCode::from(2);
    };
    let chosen: Vec<_> = TARGETS.iter().filter(|(name, _)| wanted == "all" || wanted == name).collect();
    if chosen.is_empty() {
        eprintln!("there is no target {wanted:?}; there are {:?}", TARGETS.map(|(name, _)| name));
        return ExitCode::from(2);
    }
    for (name, target) in chosen {
        let start = Instant::now();
        match run(name, *target, seed, first, Until::Time(Duration::from_secs(seconds))) {
            Ok(count) => println!("{name}: {count} executions in {:.0} s, seed {seed}", start.elapsed().as_secs_f64()),
            Err((number, cause)) => {
                println!("{name}: execution {number} of seed {seed} failed: {cause}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
