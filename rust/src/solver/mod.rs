//! Minimisation by accelerated proximal gradients (the paper's Algorithm 2) inside an augmented Lagrangian method
//! (Algorithm 1).

mod alm;
mod decompose;
mod fista;
mod monitor;
mod settings;
mod solution;

pub use decompose::decompose;
pub use monitor::{Monitor, Observer, Progress};
pub use settings::{Schedule, Settings};
pub use solution::{Info, Round, Solution, Status};
