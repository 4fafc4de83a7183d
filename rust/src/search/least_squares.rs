//! Weights of a graph that a search has found.

use super::blocks::strengths;
use crate::Blocks;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::knowledge::Knowledge;
use crate::order::{Regression, canonical_member, fit_graph};
use crate::score::{Noise, Score};
use crate::sem::LinearSem;
use ndarray::ArrayView2;

/// Fits graphs by least squares.
#[derive(Debug)]
pub(super) struct LeastSquares<'a> {
    pub covariance: ArrayView2<'a, f64>,
    pub samples: usize,
    /// The caller's number of each variable of a graph, by which the covariance is ordered.
    pub names: &'a [u32],
    /// Whether all graphs of an equivalence class have the same score, so that their canonical one is fitted.
    pub is_class: bool,
    /// Where variables are blocks of columns: these, in the numbers of graphs, as is the covariance. The weight of an edge
    /// is then its strength.
    pub blocks: Option<&'a Blocks>,
}

impl LeastSquares<'_> {
    pub fn fit(&self, order: &[usize], causes: &[Vec<usize>], interrupt: &Interrupt) -> Result<LinearSem, IcidError> {
        if !self.is_class {
            return self.fit_graph(order, causes, interrupt);
        }
        let (order, causes) = canonical_member(order, causes)?;
        self.fit_graph(&order, &causes, interrupt)
    }

    fn fit_graph(&self, order: &[usize], causes: &[Vec<usize>], interrupt: &Interrupt) -> Result<LinearSem, IcidError> {
        let names = self.names;
        if let Some(blocks) = self.blocks {
            return strengths(self.covariance, blocks, names, order, causes);
        }
        let order: Vec<u32> = order.iter().map(|&i| names[i]).collect();
        let mut causes_by_name = vec![Vec::new(); names.len()];
        for (effect, list) in causes.iter().enumerate() {
            causes_by_name[names[effect] as usize] = list.iter().map(|&i| names[i]).collect();
        }
        // Without a penalty every parent is kept: plain least squares.
        let nothing = Knowledge::none(names.len());
        let score = Score::new(self.samples as f64, 0.0, Noise::Equal)?;
        let data = Regression::new(self.covariance, score, &nothing)?;
        Ok(fit_graph(&data, &order, causes_by_name, interrupt)?.sem)
    }
}
