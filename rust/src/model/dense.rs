//! The dense kernel: matrix products over blocks of rows, for Θ so dense that the sparse kernel is slower.
//!
//! The same row-wise scheme as the sparse kernel, a block of rows at a time: `R_I = Θ_I − Ã_I Ãᵀ`, then `2 (Λ + ρR)_I Ã D^½`
//! gathered on the support. Blocks depend on d alone, so that products are the same bits for any number of threads. The
//! matrix products pack their operands into buffers that they allocate themselves, once a block; nothing else allocates.

use super::kernel::{Kernel, Term};
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::memory::ensure_room;
use crate::parallel::{Pieces, for_each_block_until};
use crate::pattern::Support;
use crate::problem::Problem;
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};
use std::ops::Range;

/// Rows of a block: enough for a matrix product to run at full speed, but few enough that all threads have work and that
/// an interrupt waits about a tenth of a second at most.
fn block_height(d: usize) -> usize {
    ((1 << 29) / (d * d)).clamp(8, 128)
}

pub(super) struct DenseKernel<'p> {
    problem: &'p Problem,
    interrupt: Interrupt,
    /// `D^½`.
    scale: Vec<f64>,
    theta: Array2<f64>,
    /// Λ; `None` while it is zero.
    multiplier: Option<Array2<f64>>,
    /// Ã.
    scaled: Array2<f64>,
    /// `Z D^½`.
    direction: Array2<f64>,
    /// `Λ + ρR`.
    weights: Array2<f64>,
    /// Results of products on their way to the support.
    product: Array2<f64>,
    blocks: Vec<Range<usize>>,
    matrix_ends: Vec<usize>,
    support_ends: Vec<usize>,
    partials: Vec<f64>,
}

impl<'p> DenseKernel<'p> {
    pub(super) fn new(problem: &'p Problem, interrupt: &Interrupt) -> Result<Self, IcidError> {
        let d = problem.dim();
        ensure_room::<f64>("the dense kernel", 6 * (d as u128).pow(2))?;
        let support = problem.support();
        let mut theta = Array2::zeros((d, d));
        scatter(support, &mut theta, problem.theta(), |_, value| value);
        let height = block_height(d);
        let blocks: Vec<_> = (0..d).step_by(height).map(|start| start..(start + height).min(d)).collect();
        Ok(Self {
            problem,
            interrupt: interrupt.clone(),
            scale: problem.noise_precision().iter().map(|d| d.sqrt()).collect(),
            theta,
            multiplier: None,
            scaled: Array2::zeros((d, d)),
            direction: Array2::zeros((d, d)),
            weights: Array2::zeros((d, d)),
            product: Array2::zeros((d, d)),
            matrix_ends: blocks.iter().map(|rows| rows.end * d).collect(),
            support_ends: blocks.iter().map(|rows| support.row(rows.end - 1).end).collect(),
            partials: vec![0.0; blocks.len()],
            blocks,
        })
    }

    /// Write `(I − B) D^½`.
    fn load(&mut self, b: &[f64]) {
        scatter(self.problem.support(), &mut self.scaled, b, |j, value| -self.scale[j] * value);
        for (diagonal, scale) in self.scaled.diag_mut().iter_mut().zip(&self.scale) {
            *diagonal = *scale;
        }
    }
}

impl Kernel for DenseKernel<'_> {
    fn evaluate(&mut self, b: &[f64], term: Term, gradient: Option<&mut [f64]>) -> f64 {
        self.load(b);
        let (multiplier, rho) = match term {
            Term::Lagrangian { rho } => (self.multiplier.as_ref(), rho),
            Term::HalfSquare => (None, 1.0),
        };
        let (d, support, scale) = (self.problem.dim(), self.problem.support(), &self.scale);
        let (theta, scaled) = (&self.theta, &self.scaled);
        let out = (
            gradient.map(|g| (Pieces::new(g, &self.support_ends), pieces(&mut self.product, &self.matrix_ends))),
            pieces(&mut self.weights, &self.matrix_ends),
            self.partials.as_mut_slice(),
        );
        for_each_block_until(&self.interrupt, &self.blocks, out, &|rows, (gradient, weights, partial)| {
            let mut weights = as_rows(weights, d);
            residual_rows(rows, theta, scaled, &mut weights);
            partial[0] = weigh_residual(rows, &mut weights, multiplier, rho);
            if let Some((gradient, product)) = gradient {
                let mut product = as_rows(product, d);
                general_mat_mul(1.0, &weights, scaled, 0.0, &mut product);
                gather_gradient(support, rows, &product.view(), scale, gradient.into_slice());
            }
        });
        self.partials.iter().sum()
    }

    fn curvature(&mut self, b: &[f64], z: &[f64], rho: f64) -> f64 {
        self.load(b);
        let d = self.problem.dim();
        scatter(self.problem.support(), &mut self.direction, z, |j, value| self.scale[j] * value);
        let direction = &self.direction;
        let (theta, scaled, multiplier) = (&self.theta, &self.scaled, self.multiplier.as_ref());
        let out = (
            pieces(&mut self.weights, &self.matrix_ends),
            pieces(&mut self.product, &self.matrix_ends),
            self.partials.as_mut_slice(),
        );
        for_each_block_until(&self.interrupt, &self.blocks, out, &|rows, (weights, product, partial)| {
            let (mut weights, mut product) = (as_rows(weights, d), as_rows(product, d));
            residual_rows(rows, theta, scaled, &mut weights);
            weigh_residual(rows, &mut weights, multiplier, rho);
            let along = direction.slice(s![rows.clone(), ..]);
            general_mat_mul(1.0, &along, &direction.t(), 0.0, &mut product);
            let pure: f64 = weights.iter().zip(&product).map(|(w, q)| w * q).sum();
            general_mat_mul(1.0, &along, &scaled.t(), 0.0, &mut product);
            general_mat_mul(1.0, &scaled.slice(s![rows.clone(), ..]), &direction.t(), 1.0, &mut product);
            let mixed: f64 = product.iter().map(|s| s * s).sum();
            partial[0] = rho * mixed - 2.0 * pure;
        });
        self.partials.iter().sum()
    }

    fn update_multiplier(&mut self, b: &[f64], rho: f64) {
        self.load(b);
        let d = self.problem.dim();
        let (theta, scaled) = (&self.theta, &self.scaled);
        let multiplier = self.multiplier.get_or_insert_with(|| Array2::zeros((d, d)));
        let out = (pieces(multiplier, &self.matrix_ends), pieces(&mut self.weights, &self.matrix_ends));
        for_each_block_until(&self.interrupt, &self.blocks, out, &|rows, (multiplier, residual)| {
            let mut residual = as_rows(residual, d);
            residual_rows(rows, theta, scaled, &mut residual);
            as_rows(multiplier, d).scaled_add(rho, &residual);
        });
    }
}

fn pieces<'a>(matrix: &'a mut Array2<f64>, ends: &'a [usize]) -> Pieces<'a, f64> {
    Pieces::new(matrix.as_slice_mut().expect("matrices are stored row by row"), ends)
}

fn as_rows(piece: Pieces<'_, f64>, d: usize) -> ArrayViewMut2<'_, f64> {
    let slice = piece.into_slice();
    ArrayViewMut2::from_shape((slice.len() / d, d), slice).expect("pieces are whole rows")
}

/// Write a function of column and value for each entry on the support.
fn scatter(support: &Support, matrix: &mut Array2<f64>, values: &[f64], f: impl Fn(usize, f64) -> f64) {
    for (i, mut row) in matrix.rows_mut().into_iter().enumerate() {
        for (&j, &value) in support.neighbours(i).iter().zip(&values[support.row(i)]) {
            row[j as usize] = f(j as usize, value);
        }
    }
}

/// `R_I = Θ_I − Ã_I Ãᵀ`.
fn residual_rows(rows: &Range<usize>, theta: &Array2<f64>, scaled: &Array2<f64>, out: &mut ArrayViewMut2<f64>) {
    out.assign(&theta.slice(s![rows.clone(), ..]));
    general_mat_mul(-1.0, &scaled.slice(s![rows.clone(), ..]), &scaled.t(), 1.0, out);
}

/// Turn rows of R into rows of `Λ + ρR`; return their part of `⟨Λ, R⟩ + ρ/2 ‖R‖²`.
fn weigh_residual(
    rows: &Range<usize>,
    residual: &mut ArrayViewMut2<f64>,
    multiplier: Option<&Array2<f64>>,
    rho: f64,
) -> f64 {
    let mut value = 0.0;
    if let Some(multiplier) = multiplier {
        for (w, lambda) in residual.iter_mut().zip(multiplier.slice(s![rows.clone(), ..])) {
            value += *w * (lambda + 0.5 * rho * *w);
            *w = lambda + rho * *w;
        }
    } else {
        for w in residual {
            value += 0.5 * rho * *w * *w;
            *w *= rho;
        }
    }
    value
}

fn gather_gradient(
    support: &Support,
    rows: &Range<usize>,
    product: &ArrayView2<f64>,
    scale: &[f64],
    gradient: &mut [f64],
) {
    let first = support.row(rows.start).start;
    for (i, product) in rows.clone().zip(product.rows()) {
        for (k, &j) in support.row(i).zip(support.neighbours(i)) {
            let j = j as usize;
            gradient[k - first] = if i == j { 0.0 } else { 2.0 * scale[j] * product[j] };
        }
    }
}
