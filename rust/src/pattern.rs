//! Where B may be nonzero: the support of Θ, its closed neighbourhoods `N_j`, and the two-hop pattern `P`.
//!
//! Column `j` of `A = I − B` is zero outside `N_j`, so `φ_D(B) = Σ_j D_j a_j a_jᵀ` is zero outside the pairs `N_j × N_j`.
//! Their union is `P`. Both patterns are symmetric; no matrix is stored `d × d`.

use crate::algebra::csr::running_sum;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::memory::ensure_room;
use crate::parallel::{Pieces, balanced_ranges, for_each_block_until};
use std::ops::Range;

/// Groups per block of rows: some tens of microseconds of work.
const GROUPS_PER_BLOCK: usize = 1 << 12;

/// Largest number of parts in which the pattern is built.
const MAX_PARTS: usize = 16;

/// The closed neighbourhoods `N_j = {j} ∪ {i : Θ_ij ≠ 0}` as the rows of a symmetric CSR pattern.
///
/// Vectors "on the support" hold one number for each entry, row by row; the diagonal slot of `B` is always zero.
#[derive(Debug, Clone)]
pub struct Support {
    offsets: Vec<usize>,
    neighbours: Vec<u32>,
    diagonal: Vec<u32>,
    mirror: Vec<u32>,
    group_offsets: Vec<usize>,
    spans: Vec<Span>,
}

/// Numbers that kernels handle at a time. Neighbourhoods are padded to whole groups, because the processor mispredicts
/// where short loops of varying length end: without padding, an evaluation at d = 2 000 took about a seventh longer
/// (`benches/kernels.rs`, group `evaluation`).
pub const LANES: usize = 4;

/// Groups of a column in a vector stored by padded columns.
///
/// Stored for every entry `(i, j)`, about column j, in the order in which kernels read it: a look-up by j would be a cache
/// miss each time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    start: u32,
    len: u32,
}

impl Span {
    pub(crate) fn range(self) -> Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }

    pub(crate) fn len(self) -> usize {
        self.len as usize
    }
}

impl Support {
    /// From the row offsets and the sorted column indices of a symmetric pattern with a full diagonal.
    pub(crate) fn from_symmetric(offsets: Vec<usize>, neighbours: Vec<u32>) -> Result<Self, IcidError> {
        let d = offsets.len() - 1;
        let limit = u128::from(u32::MAX);
        if neighbours.len() as u128 > limit {
            let required = neighbours.len() as u128;
            return Err(IcidError::Memory { what: "the support of theta (in entries)", required, available: limit });
        }
        let mut mirror = vec![0; neighbours.len()];
        let mut diagonal = vec![0; d];
        // Rows are met in ascending order, so the mirror images of each row's entries are met in its own order.
        let mut next: Vec<usize> = offsets[..d].to_vec();
        for i in 0..d {
            for k in offsets[i]..offsets[i + 1] {
                let j = neighbours[k] as usize;
                mirror[k] = next[j] as u32;
                next[j] += 1;
                if i == j {
                    diagonal[i] = k as u32;
                }
            }
        }
        let groups: Vec<usize> = offsets.windows(2).map(|w| (w[1] - w[0]).div_ceil(LANES)).collect();
        let group_offsets = running_sum(groups.iter().copied());
        let span = |&j: &u32| {
            let j = j as usize;
            Span { start: group_offsets[j] as u32, len: groups[j] as u32 }
        };
        let spans = neighbours.iter().map(span).collect();
        Ok(Self { offsets, neighbours, diagonal, mirror, group_offsets, spans })
    }

    /// The part that belongs to a range of variables with no neighbours outside it.
    pub(crate) fn component(&self, variables: Range<usize>) -> Result<Self, IcidError> {
        let entries = self.offsets[variables.start]..self.offsets[variables.end];
        let offsets = self.offsets[variables.start..=variables.end].iter().map(|o| o - entries.start).collect();
        let first = variables.start as u32;
        Self::from_symmetric(offsets, self.neighbours[entries].iter().map(|j| j - first).collect())
    }

    /// Number of variables d.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of entries, the diagonal included: the length of every vector on the support.
    #[must_use]
    pub fn len(&self) -> usize {
        self.neighbours.len()
    }

    /// Always false: a support has at least its diagonal.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.neighbours.is_empty()
    }

    /// Positions of row `i` in a vector on the support; those of column `i` are their mirror images.
    #[must_use]
    pub fn row(&self, i: usize) -> Range<usize> {
        self.offsets[i]..self.offsets[i + 1]
    }

    /// The closed neighbourhood `N_i`, ascending.
    #[must_use]
    pub fn neighbours(&self, i: usize) -> &[u32] {
        &self.neighbours[self.row(i)]
    }

    /// The column of the entry at each position.
    #[must_use]
    pub fn columns(&self) -> &[u32] {
        &self.neighbours
    }

    /// Size of `N_i`.
    #[must_use]
    pub fn degree(&self, i: usize) -> usize {
        self.offsets[i + 1] - self.offsets[i]
    }

    /// Position of `(i, j)`, if it is on the support.
    #[must_use]
    pub fn position(&self, i: usize, j: usize) -> Option<usize> {
        let k = self.neighbours(i).binary_search(&(j as u32)).ok()?;
        Some(self.offsets[i] + k)
    }

    /// Position of `(i, i)`.
    #[must_use]
    pub fn diagonal(&self, i: usize) -> usize {
        self.diagonal[i] as usize
    }

    /// Position of `(j, i)` for the entry `(i, j)` at each position.
    #[must_use]
    pub fn mirror(&self) -> &[u32] {
        &self.mirror
    }

    /// Groups of column `j` in a vector stored by padded columns.
    pub(crate) fn column_groups(&self, j: usize) -> Range<usize> {
        self.group_offsets[j]..self.group_offsets[j + 1]
    }

    /// For the entry `(i, j)` at each position, the groups of column j.
    pub(crate) fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// `Σ_j |N_j|²`: the work of one evaluation of `φ_D(B)`.
    #[must_use]
    pub fn pairs(&self) -> u128 {
        (0..self.dim()).map(|j| (self.degree(j) as u128).pow(2)).sum()
    }

    /// Groups visited by row `r` of `φ_D(B)`: `Σ_{j ∈ N_r} ⌈|N_j| / LANES⌉`.
    fn row_groups(&self, r: usize) -> usize {
        self.spans[self.row(r)].iter().map(|span| span.len()).sum()
    }
}

/// The two-hop pattern `P`, row by row, as seen from the cliques.
///
/// Row `r` of `P` holds `N_r` itself first, in its own order, then the ring of nodes two steps away. For every
/// `j ∈ N_r` a segment says where in that row the members of `N_j` are: all a kernel needs to add a multiple of column
/// `a_j` to a row of `φ`. The columns themselves need not be stored. Segments are padded to whole groups by slots beyond
/// the row, a different one for each lane so that the lanes do not wait for each other.
#[derive(Debug, Clone)]
pub struct TwoHop {
    offsets: Vec<usize>,
    slot_offsets: Vec<usize>,
    slots: Vec<[u32; LANES]>,
    blocks: Vec<Range<usize>>,
}

impl TwoHop {
    /// Build the pattern in parallel, in `O(Σ|N_j|²)` time and memory.
    ///
    /// # Errors
    /// When it does not fit into memory, or was interrupted.
    pub fn new(support: &Support, interrupt: &Interrupt) -> Result<Self, IcidError> {
        let d = support.dim();
        let row_groups: Vec<usize> = (0..d).map(|r| support.row_groups(r)).collect();
        let slot_offsets = running_sum(row_groups.iter().copied());
        ensure_room::<[u32; LANES]>("the two-hop pattern of theta", slot_offsets[d] as u128)?;
        let blocks = balanced_ranges(row_groups.iter().copied(), GROUPS_PER_BLOCK);
        // Each part of the build has a table of all variables, so there must not be many parts.
        let build_parts = balanced_ranges(row_groups.into_iter(), GROUPS_PER_BLOCK.max(slot_offsets[d] / MAX_PARTS));

        let mut slots = vec![[0; LANES]; slot_offsets[d]];
        let mut sizes = vec![0; d];
        let row_ends: Vec<usize> = build_parts.iter().map(|rows| rows.end).collect();
        let slot_ends: Vec<usize> = build_parts.iter().map(|rows| slot_offsets[rows.end]).collect();
        let out = (Pieces::new(&mut slots, &slot_ends), Pieces::new(&mut sizes, &row_ends));
        for_each_block_until(interrupt, &build_parts, out, &|rows, (slots, sizes)| {
            number_two_hop_rows(support, rows.clone(), slots.into_slice(), sizes.into_slice());
        });
        interrupt.check()?;
        let offsets = running_sum(sizes);
        ensure_room::<f64>("the multipliers on the two-hop pattern", offsets[d] as u128)?;
        Ok(Self { offsets, slot_offsets, slots, blocks })
    }

    /// Number of entries of `P`, both triangles.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets[self.offsets.len() - 1]
    }

    /// Always false: a pattern has at least its diagonal.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Positions of row `r` in a vector on `P`.
    #[must_use]
    pub fn row(&self, r: usize) -> Range<usize> {
        self.offsets[r]..self.offsets[r + 1]
    }

    /// The segments of row `r`, one after the other in the order of `N_r`.
    #[must_use]
    pub fn slots(&self, r: usize) -> &[[u32; LANES]] {
        &self.slots[self.slot_offsets[r]..self.slot_offsets[r + 1]]
    }

    /// Consecutive ranges of rows of about equal work.
    #[must_use]
    pub fn blocks(&self) -> &[Range<usize>] {
        &self.blocks
    }
}

/// Number the nodes within two steps of each row, and write down where each clique finds its members.
fn number_two_hop_rows(support: &Support, rows: Range<usize>, slots: &mut [[u32; LANES]], sizes: &mut [usize]) {
    const UNSEEN: u32 = u32::MAX;
    let mut slot_of = vec![UNSEEN; support.dim()];
    let mut members = Vec::new();
    let mut at = 0;
    for (r, size) in rows.zip(sizes) {
        let first = at;
        members.clear();
        let mut number = |c: u32| {
            let slot = &mut slot_of[c as usize];
            if *slot == UNSEEN {
                *slot = members.len() as u32;
                members.push(c);
            }
            *slot
        };
        for &c in support.neighbours(r) {
            number(c);
        }
        for &j in support.neighbours(r) {
            for members in support.neighbours(j as usize).chunks(LANES) {
                for (slot, &c) in slots[at].iter_mut().zip(members) {
                    *slot = number(c);
                }
                at += 1;
            }
        }
        *size = members.len();
        let mut group = first;
        for &j in support.neighbours(r) {
            let degree = support.degree(j as usize);
            group += degree.div_ceil(LANES);
            for (lane, slot) in slots[group - 1].iter_mut().enumerate().skip((degree - 1) % LANES + 1) {
                *slot = (members.len() + lane) as u32;
            }
        }
        for &c in &members {
            slot_of[c as usize] = UNSEEN;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The path 0 – 1 – 2 – 3.
    fn path() -> Support {
        Support::from_symmetric(vec![0, 2, 5, 8, 10], vec![0, 1, 0, 1, 2, 1, 2, 3, 2, 3]).unwrap()
    }

    #[test]
    fn mirror_and_diagonal_point_where_they_should() {
        let support = path();
        for i in 0..support.dim() {
            for k in support.row(i) {
                let (j, m) = (support.neighbours[k] as usize, support.mirror[k] as usize);
                assert!(support.row(j).contains(&m));
                assert_eq!(support.neighbours[m] as usize, i);
            }
            assert_eq!(support.neighbours[support.diagonal(i)] as usize, i);
        }
        assert_eq!(support.pairs(), 4 + 9 + 9 + 4);
    }

    #[test]
    fn two_hop_rows_start_with_the_neighbourhood_and_agree_with_the_cliques() {
        let support = path();
        let two_hop = TwoHop::new(&support, &Interrupt::default()).unwrap();
        let sizes: Vec<usize> = (0..4).map(|r| two_hop.row(r).len()).collect();
        assert_eq!(sizes, [3, 4, 4, 3]);
        for r in 0..4 {
            let mut column_at = vec![u32::MAX; two_hop.row(r).len()];
            let groups = support.neighbours(r).iter().flat_map(|&j| support.neighbours(j as usize).chunks(LANES));
            let pairs = two_hop.slots(r).iter().zip(groups);
            for (&slot, &c) in pairs.flat_map(|(slots, members)| slots.iter().zip(members)) {
                let column = &mut column_at[slot as usize];
                assert!(*column == u32::MAX || *column == c);
                *column = c;
            }
            assert_eq!(&column_at[..support.degree(r)], support.neighbours(r));
            assert!(!column_at.contains(&u32::MAX));
        }
    }

    #[test]
    fn an_interrupt_ends_the_build() {
        let interrupt = Interrupt::default();
        interrupt.raise();
        assert_eq!(TwoHop::new(&path(), &interrupt).unwrap_err(), IcidError::Interrupted);
    }
}
