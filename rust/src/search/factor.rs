//! The Cholesky factor of the correlations of regressors, updated when one comes or goes.

use crate::algebra::vectors::vectorised;

/// Regressors for which there is room at first.
const ROOM: usize = 8;

/// With L the Cholesky factor of the correlations C of regressors: rows of `L⁻¹ C[regressors, covered]` and of `L⁻¹`.
#[derive(Debug, Clone, Default)]
pub(super) struct Factor {
    /// Number of columns covered.
    width: usize,
    rows: Vec<f64>,
    /// Each row has `room` entries.
    inverse: Vec<f64>,
    room: usize,
}

impl Factor {
    /// Begin without regressors.
    pub fn reset(&mut self, width: usize) {
        self.width = width;
        self.rows.clear();
        self.inverse.clear();
        self.room = ROOM;
    }

    /// Become the same as another, without allocating where there is room.
    pub fn copy_from(&mut self, other: &Self) {
        (self.width, self.room) = (other.width, other.room);
        self.rows.clone_from(&other.rows);
        self.inverse.clone_from(&other.inverse);
    }

    /// Number of regressors.
    pub fn len(&self) -> usize {
        self.inverse.len() / self.room.max(1)
    }

    /// A row of `L⁻¹ C`, and of `L⁻¹`, for each regressor.
    pub fn rows(&self) -> impl Iterator<Item = (&[f64], &[f64])> {
        self.rows.chunks_exact(self.width).zip(self.inverse.chunks_exact(self.room))
    }

    /// The row of `L⁻¹ C` of the newest regressor.
    pub fn newest(&self) -> &[f64] {
        &self.rows[self.rows.len() - self.width..]
    }

    /// Make room for one more regressor, whose correlations `append` appends to the rows.
    pub fn extend(&mut self, append: impl FnOnce(&mut Vec<f64>)) {
        let (k, room) = (self.len(), self.room);
        append(&mut self.rows);
        if k == room {
            self.room = 2 * room;
            self.inverse.resize(k * self.room, 0.0);
            for q in (0..k).rev() {
                self.inverse.copy_within(q * room..(q + 1) * room, q * self.room);
                self.inverse[q * self.room + room..(q + 1) * self.room].fill(0.0);
            }
        }
        self.inverse.resize((k + 1) * self.room, 0.0);
    }

    /// Subtract from the newest row what the others explain, and return it with the factor by which the caller is to
    /// scale it; its row of `L⁻¹` is scaled. The regressor is in this slot.
    // Vectorised for the machine at hand only where it is inlined.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub fn orthogonalise(&mut self, slot: usize) -> (&mut [f64], f64) {
        let (k, room) = (self.len() - 1, self.room);
        let (rows, new) = self.rows.split_at_mut(k * self.width);
        let (inverse, new_inverse) = self.inverse.split_at_mut(k * room);
        new_inverse[k] = 1.0;
        for (row, inverse) in rows.chunks_exact(self.width).zip(inverse.chunks_exact(room)) {
            let factor = row[slot];
            subtract(new, factor, row);
            subtract(new_inverse, factor, inverse);
        }
        let scale = 1.0 / new[slot].max(f64::EPSILON).sqrt();
        for entry in new_inverse {
            *entry *= scale;
        }
        (new, scale)
    }

    /// Rotate rows so that only the last has anything of the regressor with this number. `slot_after` gives the slot of
    /// the regressor with a number, as they are numbered without it.
    pub fn isolate(&mut self, number: usize, slot_after: impl Fn(usize) -> usize) {
        for q in number..self.len() - 1 {
            let slot = slot_after(q);
            let (upper, lower) = self.rows[q * self.width..(q + 2) * self.width].split_at_mut(self.width);
            let length = upper[slot].hypot(lower[slot]);
            let (c, s) = (upper[slot] / length, lower[slot] / length);
            let (upper_inverse, lower_inverse) =
                self.inverse[q * self.room..(q + 2) * self.room].split_at_mut(self.room);
            vectorised(
                #[inline(always)]
                || {
                    rotate(upper, lower, c, s);
                    rotate(upper_inverse, lower_inverse, c, s);
                },
            );
        }
    }

    /// Drop the last row, which alone has anything of the regressor with this number.
    pub fn drop_newest(&mut self, number: usize) {
        let (k, room) = (self.len() - 1, self.room);
        self.rows.truncate(k * self.width);
        self.inverse.truncate(k * room);
        for row in self.inverse.chunks_exact_mut(room) {
            row.copy_within(number + 1..=k, number);
            row[k] = 0.0;
        }
    }
}

/// `y -= a x`
#[allow(clippy::inline_always)]
#[inline(always)]
pub(super) fn subtract(y: &mut [f64], a: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y -= a * x;
    }
}

#[allow(clippy::inline_always)]
#[inline(always)]
fn rotate(upper: &mut [f64], lower: &mut [f64], c: f64, s: f64) {
    for (a, b) in upper.iter_mut().zip(lower) {
        (*a, *b) = (c * *a + s * *b, c * *b - s * *a);
    }
}
