//! Ten thousand executions of every target, always the same ones.
#![allow(missing_docs)]

#[path = "../common/mod.rs"]
mod common;
mod driver;
mod fitting;
mod inputs;
mod missing;
mod targets;

use driver::{Until, run};
use targets::TARGETS;

#[test]
fn no_target_fails() {
    for (name, target) in TARGETS {
        let outcome = run(name, target, 0, 0, Until::Executions(10_000));
        assert_eq!(outcome, Ok(10_000), "{name}");
    }
}
