//! Which sets of variables may be the parents of a variable.

use crate::knowledge::Knowledge;

/// Sets of variables as bit masks: bit i stands for variable i.
pub(super) type Mask = u32;

/// Samples that a regression needs beyond one for each parent.
const SPARE_SAMPLES: f64 = 3.0;

/// Background knowledge as masks, and the largest number of parents that the samples can tell apart.
#[derive(Debug)]
pub(super) struct Limits {
    /// For each variable the parents it may have.
    allowed: Vec<Mask>,
    /// For each variable the parents it must have.
    required: Vec<Mask>,
    most: f64,
}

impl Limits {
    pub fn new(knowledge: &Knowledge, samples: f64) -> Self {
        let d = knowledge.dim() as u32;
        let mask = |is_member: &dyn Fn(u32) -> bool| (0..d).filter(|&i| is_member(i)).fold(0, |mask, i| mask | 1 << i);
        Self {
            allowed: (0..d).map(|j| mask(&|i| i != j && knowledge.allows(i, j))).collect(),
            required: (0..d).map(|j| mask(&|i| knowledge.requires(i, j))).collect(),
            most: samples - SPARE_SAMPLES,
        }
    }

    /// Whether these may be the parents of a variable. Collinear ones may only if all are required and no others.
    pub fn permits(&self, variable: usize, parents: Mask, are_collinear: bool) -> bool {
        let (allowed, required) = (self.allowed[variable], self.required[variable]);
        let agrees = parents & !allowed == 0 && required & !parents == 0;
        agrees && (parents == required || (!are_collinear && f64::from(parents.count_ones()) <= self.most))
    }

    /// The largest number of columns of parents that the samples can tell apart.
    pub fn most_columns(&self) -> f64 {
        self.most
    }

    /// Whether a permitted set of parents may agree with this one in all variables from `low` on.
    pub fn may_permit(&self, variable: usize, parents: Mask, low: usize) -> bool {
        let missing = self.required[variable] & !parents;
        parents & !self.allowed[variable] == 0 && missing >> low == 0
    }

    /// Whether all members of a set are required parents of some one variable.
    pub fn are_required_together(&self, set: Mask) -> bool {
        self.required.iter().any(|required| set & !required == 0)
    }

    /// Number of permitted pairs of a variable and its parents.
    pub fn pairs(&self) -> f64 {
        let free = |(allowed, required): (&Mask, &Mask)| f64::from((allowed & !required).count_ones());
        self.allowed.iter().zip(&self.required).map(|pair| free(pair).exp2()).sum()
    }
}
