//! Parallel loops over blocks that do not depend on the number of threads, so that results are the same to the bit.
//!
//! Everything here runs in the rayon pool of the caller, allocates nothing, and stays on the calling thread if there is a
//! single block.

use crate::interrupt::Interrupt;
use rayon::prelude::*;
use std::ops::Range;

/// Elements of a vector per task: enough to outweigh the scheduling, few enough to balance the load.
pub const CHUNK: usize = 1 << 14;

/// Cut `0..weights.len()` into consecutive ranges of about `target` weight each.
pub fn balanced_ranges(weights: impl Iterator<Item = usize>, target: usize) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let (mut start, mut end, mut weight) = (0, 0, 0);
    for w in weights {
        end += 1;
        weight += w;
        if weight >= target {
            ranges.push(start..end);
            (start, weight) = (end, 0);
        }
    }
    if start < end {
        ranges.push(start..end);
    }
    ranges
}

/// The output of consecutive blocks of work, which can be divided between blocks.
pub trait Split: Sized + Send {
    /// The output of the first `blocks` blocks, and that of the others.
    fn split(self, blocks: usize) -> (Self, Self);
}

/// One element per block.
impl<T: Send> Split for &mut [T] {
    fn split(self, blocks: usize) -> (Self, Self) {
        self.split_at_mut(blocks)
    }
}

/// A range of elements per block.
pub struct Pieces<'a, T> {
    data: &'a mut [T],
    start: usize,
    ends: &'a [usize],
}

impl<'a, T> Pieces<'a, T> {
    /// Block `k` owns the elements up to `ends[k]` that no earlier block owns.
    pub fn new(data: &'a mut [T], ends: &'a [usize]) -> Self {
        Self { data, start: 0, ends }
    }

    /// The elements of all blocks; inside [`for_each_block`], those of a single one.
    pub fn into_slice(self) -> &'a mut [T] {
        self.data
    }
}

impl<T: Send> Split for Pieces<'_, T> {
    fn split(self, blocks: usize) -> (Self, Self) {
        let cut = self.ends[blocks - 1];
        let (left, right) = self.data.split_at_mut(cut - self.start);
        let (ends, more_ends) = self.ends.split_at(blocks);
        (Self { data: left, start: self.start, ends }, Self { data: right, start: cut, ends: more_ends })
    }
}

impl<S: Split> Split for Option<S> {
    fn split(self, blocks: usize) -> (Self, Self) {
        self.map(|s| s.split(blocks)).unzip()
    }
}

impl<A: Split, B: Split> Split for (A, B) {
    fn split(self, blocks: usize) -> (Self, Self) {
        let ((a, more_a), (b, more_b)) = (self.0.split(blocks), self.1.split(blocks));
        ((a, b), (more_a, more_b))
    }
}

impl<A: Split, B: Split, C: Split> Split for (A, B, C) {
    fn split(self, blocks: usize) -> (Self, Self) {
        let (((a, b), c), ((more_a, more_b), more_c)) = ((self.0, self.1), self.2).split(blocks);
        ((a, b, c), (more_a, more_b, more_c))
    }
}

/// Run `work(block, out)` for each block, each with its own part of `out`.
pub fn for_each_block<S: Split, R: Sync>(blocks: &[R], out: S, work: &(impl Fn(&R, S) + Sync)) {
    match blocks {
        [] => {}
        [block] => work(block, out),
        _ => {
            let half = blocks.len() / 2;
            let (left, right) = out.split(half);
            rayon::join(
                || for_each_block(&blocks[..half], left, work),
                || for_each_block(&blocks[half..], right, work),
            );
        }
    }
}

/// As [`for_each_block`], without the blocks that begin after an interrupt.
pub fn for_each_block_until<S: Split, R: Sync>(
    interrupt: &Interrupt,
    blocks: &[R],
    out: S,
    work: &(impl Fn(&R, S) + Sync),
) {
    for_each_block(blocks, out, &|block, out| {
        if !interrupt.is_raised() {
            work(block, out);
        }
    });
}

/// Number of chunks of a vector of this length.
pub fn chunk_count(len: usize) -> usize {
    len.div_ceil(CHUNK).max(1)
}

/// Sum `K` quantities over chunks of `0..len`; `partials` holds one slot per chunk.
pub fn sum_over_chunks<const K: usize>(
    len: usize,
    partials: &mut [[f64; K]],
    part: impl Fn(Range<usize>) -> [f64; K] + Sync,
) -> [f64; K] {
    let range = |c: usize| c * CHUNK..((c + 1) * CHUNK).min(len);
    if len <= CHUNK {
        return part(0..len);
    }
    let used = &mut partials[..chunk_count(len)];
    used.par_iter_mut().enumerate().for_each(|(c, slot)| *slot = part(range(c)));
    total(used)
}

/// Fill `out` chunk by chunk and sum `K` quantities in the same pass.
pub fn fill_chunks<const K: usize>(
    out: &mut [f64],
    partials: &mut [[f64; K]],
    fill: impl Fn(Range<usize>, &mut [f64]) -> [f64; K] + Sync,
) -> [f64; K] {
    let len = out.len();
    if len <= CHUNK {
        return fill(0..len, out);
    }
    let used = &mut partials[..chunk_count(len)];
    out.par_chunks_mut(CHUNK).zip(used.par_iter_mut()).enumerate().for_each(|(c, (part, slot))| {
        *slot = fill(c * CHUNK..c * CHUNK + part.len(), part);
    });
    total(used)
}

fn total<const K: usize>(partials: &[[f64; K]]) -> [f64; K] {
    partials.iter().fold([0.0; K], |sum, part| std::array::from_fn(|k| sum[k] + part[k]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_everything_once() {
        let weights = [5, 1, 1, 9, 2, 2, 2];
        let ranges = balanced_ranges(weights.into_iter(), 6);
        assert_eq!(ranges, vec![0..2, 2..4, 4..7]);
        assert!(balanced_ranges(std::iter::empty(), 6).is_empty());
    }

    #[test]
    fn sums_are_the_same_bits_in_any_pool() {
        let x: Vec<f64> = (0..3 * CHUNK + 7).map(|i| (i as f64).sin()).collect();
        let sum = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut partials = vec![[0.0; 1]; chunk_count(x.len())];
            pool.install(|| sum_over_chunks(x.len(), &mut partials, |r| [x[r].iter().sum::<f64>()]))[0].to_bits()
        };
        assert_eq!(sum(1), sum(2));
        assert_eq!(sum(1), sum(5));
    }
}
