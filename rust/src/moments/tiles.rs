//! Square matrices in square tiles, each a whole number of strips of both factors of a product.

use super::packing::GROUP;
use super::product::{TALL, TileProduct};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

/// Fewest and most groups of columns in a tile: enough that strips are rarely read again, few enough that those of the right
/// factor stay in the second-level cache while all of the left one are read.
const FEWEST: usize = 5;
const MOST: usize = 8;

/// How columns are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grid {
    pub columns: usize,
    /// Columns of a tile.
    pub edge: usize,
    /// Tiles beside each other.
    pub count: usize,
}

impl Grid {
    /// Tiles of one size, with as little beyond the last column as can be.
    pub(super) fn new(columns: usize) -> Self {
        let groups = columns.div_ceil(GROUP);
        let count = |edge: usize| groups.div_ceil(edge);
        let edge = (FEWEST..=MOST).rev().min_by_key(|&edge| edge * count(edge)).unwrap_or(MOST).min(groups);
        Self { columns, edge: edge * GROUP, count: count(edge) }
    }

    /// Entries of a tile.
    fn size(&self) -> usize {
        self.edge * self.edge
    }

    /// Where an entry is inside its tile: by strips of rows, columns and rows.
    fn within(&self, i: usize, j: usize) -> usize {
        (i / TALL * self.edge + j) * TALL + i % TALL
    }
}

/// Which tiles are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Those on and above the diagonal: the rest mirrors them.
    Upper,
    /// All.
    Full,
}

/// A square matrix in tiles, each made of the products of pairs of strips.
#[derive(Debug, Clone)]
pub(super) struct Tiles {
    grid: Grid,
    shape: Shape,
    /// Rows and columns of tiles, one column after another: tiles that are next to each other share the right factor.
    places: Vec<(usize, usize)>,
    data: Vec<f64>,
}

impl Tiles {
    pub(super) fn zeros(columns: usize, shape: Shape) -> Self {
        let grid = Grid::new(columns);
        let height = |j: usize| if shape == Shape::Upper { j + 1 } else { grid.count };
        let places: Vec<_> = (0..grid.count).flat_map(|j| (0..height(j)).map(move |i| (i, j))).collect();
        let data = vec![0.0; places.len() * grid.size()];
        Self { grid, shape, places, data }
    }

    /// Which tile, of those there are.
    fn tile(&self, i: usize, j: usize) -> usize {
        match self.shape {
            Shape::Upper => j * (j + 1) / 2 + i,
            Shape::Full => j * self.grid.count + i,
        }
    }

    /// Where an entry is; of a mirrored one, where its image is.
    fn position(&self, i: usize, j: usize) -> usize {
        let (i, j) = if self.shape == Shape::Upper && i > j { (j, i) } else { (i, j) };
        let edge = self.grid.edge;
        self.tile(i / edge, j / edge) * self.grid.size() + self.grid.within(i % edge, j % edge)
    }

    pub(super) fn get(&self, i: usize, j: usize) -> f64 {
        self.data[self.position(i, j)]
    }

    pub(super) fn fill(&mut self, matrix: &ArrayView2<f64>) {
        for ((i, j), &value) in matrix.indexed_iter() {
            if self.shape == Shape::Full || i <= j {
                let position = self.position(i, j);
                self.data[position] = value;
            }
        }
    }

    pub(super) fn to_matrix(&self) -> Array2<f64> {
        let columns = self.grid.columns;
        Array2::from_shape_fn((columns, columns), |(i, j)| self.get(i, j))
    }

    /// Add another matrix, and the product of a column and a row.
    pub(super) fn join(&mut self, other: &Self, column: &[f64], row: &[f64]) {
        let (grid, size) = (self.grid, self.grid.size());
        let (column, row) = (padded(column, grid), padded(row, grid));
        let tiles = self.data.par_chunks_exact_mut(size).zip(other.data.par_chunks_exact(size));
        tiles.zip(&self.places).for_each(|((tile, other), &place)| {
            let (others, _) = other.as_chunks::<TALL>();
            each_column(grid, place, tile, |at, sums, i, j| {
                for ((sum, other), left) in sums.iter_mut().zip(others[at]).zip(&column[i..i + TALL]) {
                    *sum += other + left * row[j];
                }
            });
        });
    }

    /// Add `a S + b R`, both symmetric, each row times its factor.
    pub(super) fn add_rows(&mut self, factors: &[f64], (a, s): (f64, &Self), (b, r): (f64, &Self)) {
        let (grid, size) = (self.grid, self.grid.size());
        let factors = padded(factors, grid);
        self.data.par_chunks_exact_mut(size).zip(&self.places).for_each(|(tile, &(tile_i, tile_j))| {
            let (s, r) = (s.mirrored(tile_i, tile_j), r.mirrored(tile_i, tile_j));
            let factors = &factors[tile_i * grid.edge..];
            each_column(grid, (0, 0), tile, |_, sums, i, j| {
                for ((i, sum), factor) in (i..).zip(sums).zip(&factors[i..]) {
                    let below = tile_i > tile_j || (tile_i == tile_j && i > j);
                    let at = if below { grid.within(j, i) } else { grid.within(i, j) };
                    *sum += factor * (a * s[at] + b * r[at]);
                }
            });
        });
    }

    /// The tile on or above the diagonal that holds, or mirrors, a tile.
    fn mirrored(&self, i: usize, j: usize) -> &[f64] {
        let start = self.tile(i.min(j), i.max(j)) * self.grid.size();
        &self.data[start..start + self.grid.size()]
    }

    /// The tasks that add `Σ_k left_ki right_kj` for packed rows, one for each tile.
    pub(super) fn products<'a>(
        &'a mut self,
        left: &'a [f64],
        right: &'a [f64],
        depth: usize,
    ) -> impl Iterator<Item = TileProduct<'a>> {
        let (grid, shape) = (self.grid, self.shape);
        self.data.chunks_exact_mut(grid.size()).zip(&self.places).map(move |(tile, &(i, j))| {
            TileProduct::new(grid, (left, i), (right, j), depth, shape == Shape::Upper && i == j, tile)
        })
    }
}

/// Numbers of columns, with zeros where there is no column.
fn padded(values: &[f64], grid: Grid) -> Vec<f64> {
    values.iter().copied().chain(std::iter::repeat(0.0)).take(grid.count * grid.edge).collect()
}

/// Every column of every strip of rows, in the order of memory: its number, what it holds, first row and column. No
/// entry's place needs a division.
fn each_column(
    grid: Grid,
    (tile_i, tile_j): (usize, usize),
    tile: &mut [f64],
    mut each: impl FnMut(usize, &mut [f64; TALL], usize, usize),
) {
    let (columns, _) = tile.as_chunks_mut::<TALL>();
    for (a, strip) in columns.chunks_exact_mut(grid.edge).enumerate() {
        for (j, column) in strip.iter_mut().enumerate() {
            each(a * grid.edge + j, column, tile_i * grid.edge + a * TALL, tile_j * grid.edge + j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_all_columns_and_none_is_empty() {
        for columns in 1..4_000 {
            let Grid { edge, count, .. } = Grid::new(columns);
            assert!(edge % GROUP == 0 && edge <= MOST * GROUP);
            assert!((count - 1) * edge < columns && columns <= count * edge);
            // Little is wasted: less than a tile of the smallest size.
            assert!(count * edge < columns + FEWEST * GROUP && (count == 1 || edge >= FEWEST * GROUP));
        }
    }

    #[test]
    fn joined_is_the_sum_entry_by_entry() {
        // Of several tiles, some not full.
        for columns in [1, 30, 250, 397] {
            let of = |seed: usize| move |(i, j): (usize, usize)| ((i * 31 + j * 17 + seed * 7) % 101) as f64 - 50.0;
            let full = |seed| Array2::from_shape_fn((columns, columns), of(seed));
            let symmetric = |seed| full(seed) + full(seed).t();
            let tiles = |matrix: &Array2<f64>, shape| {
                let mut tiles = Tiles::zeros(columns, shape);
                tiles.fill(&matrix.view());
                tiles
            };
            let (column, row): (Vec<f64>, Vec<f64>) = (0..columns).map(|i| ((i % 7) as f64, (i % 5) as f64)).unzip();
            let mut third = tiles(&full(0), Shape::Full);
            third.join(&tiles(&full(1), Shape::Full), &column, &row);
            let (s, r) = (tiles(&symmetric(2), Shape::Upper), tiles(&symmetric(3), Shape::Upper));
            third.add_rows(&row, (2.0, &s), (-3.0, &r));
            let expected = Array2::from_shape_fn((columns, columns), |(i, j)| {
                let mixed = 2.0 * symmetric_at(of(2), i, j) - 3.0 * symmetric_at(of(3), i, j);
                of(0)((i, j)) + of(1)((i, j)) + column[i] * row[j] + row[i] * mixed
            });
            assert_eq!(third.to_matrix(), expected);
            let mut second = tiles(&symmetric(2), Shape::Upper);
            second.join(&tiles(&symmetric(3), Shape::Upper), &row, &row);
            let product = Array2::from_shape_fn((columns, columns), |(i, j)| row[i] * row[j]);
            assert_eq!(second.to_matrix(), symmetric(2) + symmetric(3) + product);
        }
    }

    fn symmetric_at(of: impl Fn((usize, usize)) -> f64, i: usize, j: usize) -> f64 {
        of((i, j)) + of((j, i))
    }
}
