//! The optimum under noise variances that are known up to a common factor σ².
//!
//! With misfits `M_j = n r_j / ω_j`, and T the penalties less the gains of shapes, the score of a graph is
//! `n d log(Σ M_j / (n d)) + T`, or the minimum over `μ = 1/σ²` of `μ Σ M_j + T − n d (1 + log μ)`. For a fixed μ this is a
//! sum over variables, and `φ(μ) = min over graphs of μ Σ M_j + T` follows by dynamic programming. As a minimum of linear
//! functions φ is concave: between two points where it is known it lies above its chord. So no graph whose μ lies between
//! them scores less than the minimum of the chord plus `−n d (1 + log μ)`. Unless that bound exceeds the best score so far,
//! φ is evaluated where it is attained, which divides the interval. φ is piecewise linear, so this ends.

use super::local::Local;
use super::margins::{Constrained, constrained, edges};
use super::orders::{Graph, Orders};
use crate::error::IcidError;
use crate::interrupt::Interrupt;

/// Values of several functions φ at one μ.
struct Point {
    mu: f64,
    values: Vec<f64>,
}

/// Minimises `φ(μ) − weight (1 + log μ)` for concave functions φ.
struct Minimiser {
    weight: f64,
    tolerance: f64,
    /// Where the functions are known, ascending.
    points: Vec<Point>,
}

impl Minimiser {
    fn convex_part(&self, mu: f64) -> f64 {
        -self.weight * (1.0 + mu.ln())
    }

    /// The smallest value of a function, and where it is.
    fn best(&self, function: usize) -> (f64, f64) {
        let value = |point: &Point| point.values[function] + self.convex_part(point.mu);
        let values = self.points.iter().map(|point| (value(point), point.mu));
        values.fold((f64::INFINITY, f64::NAN), |best, one| if one.0 < best.0 { one } else { best })
    }

    /// Where the lower bound of a function is smallest, and the number of points before; `None` if no graph can be better
    /// than the best so far.
    fn next(&self, function: usize) -> Option<(f64, usize)> {
        let bound = |(k, pair): (usize, &[Point])| {
            let [(low, at_low), (high, at_high)] = [&pair[0], &pair[1]].map(|point| (point.mu, point.values[function]));
            let slope = (at_high - at_low) / (high - low);
            let mu = self.weight / slope;
            let bound = at_low + slope * (mu - low) + self.convex_part(mu);
            // At the ends of the interval the values are known.
            (low < mu && mu < high).then_some((bound, mu, k + 1))
        };
        let bounds = self.points.windows(2).enumerate().filter_map(bound);
        let (bound, mu, place) = bounds.min_by(|a, b| a.0.total_cmp(&b.0))?;
        (bound < self.best(function).0 - self.tolerance).then_some((mu, place))
    }
}

/// The problem for a fixed μ.
pub(super) struct Profile<'a> {
    local: &'a Local,
    penalty: f64,
    weight: f64,
    tolerance: f64,
    interrupt: &'a Interrupt,
}

impl<'a> Profile<'a> {
    pub fn new(local: &'a Local, penalty: f64, interrupt: &'a Interrupt) -> Self {
        let weight = local.samples * local.d as f64;
        Self { local, penalty, weight, tolerance: local.tolerance, interrupt }
    }

    /// The best graph, and the best scores under constraints on its edges if they are wanted.
    pub fn optimum(&self, wants_constrained: bool) -> Result<(Graph, Vec<Constrained>), IcidError> {
        let (_, mu) = self.minimise(1, |orders, _| vec![orders.optimum()])?.best(0);
        let graph = self.orders(mu, |orders, _| orders.graph())?;
        if !wants_constrained {
            return Ok((graph, Vec::new()));
        }
        let edges = edges(&graph.parents);
        let minimiser = self.minimise(2 * edges.len(), |orders, mu| {
            constrained(orders, &self.local.scores(mu, self.penalty), &edges)
                .into_iter()
                .flat_map(|c| [c.apart, c.reversed])
                .collect()
        })?;
        let minimum = |function| minimiser.best(function).0;
        let pairs = (0..edges.len()).map(|k| Constrained { apart: minimum(2 * k), reversed: minimum(2 * k + 1) });
        Ok((graph, pairs.collect()))
    }

    /// The score of a graph.
    pub fn score(&self, graph: &Graph) -> f64 {
        let misfit: f64 = self.local.parts(graph, self.penalty).map(|(misfit, _)| misfit).sum();
        let rest: f64 = self.local.parts(graph, self.penalty).map(|(_, rest)| rest).sum();
        self.weight * (misfit / self.weight).ln() + rest
    }

    /// Minimise functions of the local scores for a fixed μ.
    fn minimise(&self, count: usize, functions: impl Fn(&Orders, f64) -> Vec<f64>) -> Result<Minimiser, IcidError> {
        let point = |mu: f64| Ok(Point { mu, values: self.orders(mu, &functions)? });
        let points = self.range().into_iter().map(point).collect::<Result<_, IcidError>>()?;
        let mut minimiser = Minimiser { weight: self.weight, tolerance: self.tolerance, points };
        for function in 0..count {
            while let Some((mu, place)) = minimiser.next(function) {
                minimiser.points.insert(place, point(mu)?);
            }
        }
        Ok(minimiser)
    }

    /// Bounds for `μ = n d / Σ M_j` of any graph.
    fn range(&self) -> [f64; 2] {
        let (mut least, mut most) = (0.0, 0.0);
        let Local { d, misfit, .. } = self.local;
        for variable in 0..*d {
            let misfits = misfit.iter().skip(variable).step_by(*d).filter(|misfit| misfit.is_finite());
            let (low, high) = misfits.fold((f64::INFINITY, 0.0_f64), |(a, b), &m| (a.min(m), b.max(m)));
            (least, most) = (least + low, most + high);
        }
        [self.weight / most, self.weight / least]
    }

    /// Ask something of the problem for a fixed μ.
    fn orders<T>(&self, mu: f64, ask: impl FnOnce(&Orders, f64) -> T) -> Result<T, IcidError> {
        self.interrupt.check()?;
        Ok(ask(&Orders::new(self.local.d, self.local.scores(mu, self.penalty)), mu))
    }
}
