//! Sums of rows, however they are cut, against two plain passes over all of them.
#![allow(missing_docs)]

mod common;

use common::Random;
use icid_rs::moments::{Missing, Moments};
use icid_rs::{IcidError, Interrupt};
use ndarray::{Array2, ArrayView2, s};
use proptest::prelude::*;

fn table(n: usize, d: usize, offset: f64, random: &mut Random) -> Array2<f64> {
    Array2::from_shape_fn((n, d), |_| offset - random.uniform().ln())
}

fn update(moments: &mut Moments, rows: &ArrayView2<f64>, weights: Option<&[f64]>) {
    moments.update(rows, weights, Missing::Refuse, Some(1), &Interrupt::default()).unwrap();
}

/// Weighted sums about the mean, less exactly the first row before anything is summed.
fn two_passes(x: &Array2<f64>, weights: &[f64]) -> (Array2<f64>, Array2<f64>) {
    let mut y = x - &x.row(0);
    let total: f64 = weights.iter().sum();
    for mut column in y.columns_mut() {
        let mean = column.iter().zip(weights).map(|(y, w)| w * y).sum::<f64>() / total;
        column.mapv_inplace(|y| y - mean);
    }
    let weighted = Array2::from_shape_fn(y.raw_dim(), |(k, i)| weights[k] * y[[k, i]]);
    (weighted.t().dot(&y), (&weighted * &y).t().dot(&y))
}

fn assert_close(moments: &Moments, x: &Array2<f64>, weights: &[f64]) {
    let (second, third) = two_passes(x, weights);
    let total: f64 = weights.iter().sum();
    let scale: Vec<f64> = second.diag().iter().map(|v| (v / total).sqrt()).collect();
    let (found, found_third) = (moments.second(), moments.third().unwrap());
    for ((i, j), value) in found.indexed_iter() {
        assert!((value - second[[i, j]]).abs() <= 1e-12 * total * scale[i] * scale[j]);
        let difference = (found_third[[i, j]] - third[[i, j]]).abs();
        assert!(difference <= 1e-12 * total * scale[i] * scale[i] * scale[j], "{difference:e}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_cut_and_any_tree_of_merges(
        seed in any::<u64>(),
        n in 20usize..700,
        // The last have several tiles of sums.
        d in prop_oneof![10 => 1usize..70, 1 => 95usize..100, 1 => Just(200)],
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        weighted in any::<bool>(),
    ) {
        let mut random = Random(seed);
        let x = table(n, d, 1e6, &mut random);
        let weights: Vec<f64> = (0..n).map(|_| if weighted { 0.1 + random.uniform() } else { 1.0 }).collect();
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(n)).chain([0, n]).collect();
        ends.sort_unstable();
        let mut parts: Vec<Moments> = ends
            .windows(2)
            .map(|ends| {
                let mut part = Moments::new(d, true).unwrap();
                let given = &weights[ends[0]..ends[1]];
                update(&mut part, &x.slice(s![ends[0]..ends[1], ..]), weighted.then_some(given));
                part
            })
            .collect();
        while parts.len() > 1 {
            let other = parts.swap_remove(random.below(parts.len()));
            let last = parts.len() - 1;
            parts[random.below(last + 1)].merge(&other).unwrap();
        }
        prop_assert_eq!(parts[0].rows(), n as u64);
        let squares = [weights.iter().sum::<f64>(), weights.iter().map(|w| w * w).sum::<f64>()];
        prop_assert!(parts[0].weight().iter().zip(squares).all(|(found, sum)| (found - sum).abs() < 1e-9 * sum));
        for (j, column) in x.columns().into_iter().enumerate() {
            let mean = column.iter().zip(&weights).map(|(x, w)| w * (x - 1e6)).sum::<f64>() / squares[0];
            prop_assert!((parts[0].shift()[j] - 1e6 + parts[0].mean()[j] - mean).abs() < 1e-8);
        }
        assert_close(&parts[0], &x, &weights);
    }
}

#[test]
fn many_blocks_of_rows_are_one_table() {
    let random = &mut Random(8);
    let x = table(40_000, 2, 1e3, random);
    let weights: Vec<f64> = (0..40_000).map(|k| if k % 7 == 0 { 0.0 } else { random.uniform() + 0.5 }).collect();
    let mut moments = Moments::new(2, true).unwrap();
    let seen = moments.update(&x.view(), Some(&weights), Missing::Refuse, None, &Interrupt::default()).unwrap();
    assert_close(&moments, &x, &weights);
    assert!(seen.keys.is_empty() && seen.kept.iter().enumerate().all(|(k, kept)| *kept == (k % 7 != 0)));
    assert_eq!(moments.rows(), seen.kept.iter().filter(|kept| **kept).count() as u64);
    // Nothing more is known of no rows.
    let before = (moments.rows(), moments.weight(), moments.mean().to_vec(), moments.second());
    update(&mut moments, &x.slice(s![..10, ..]), Some(&[0.0; 10]));
    update(&mut moments, &x.slice(s![..0, ..]), None);
    assert_eq!((moments.rows(), moments.weight(), moments.mean().to_vec(), moments.second()), before);
}

/// Columns never mix: a power of two goes through every sum without a rounding, also where blocks are joined.
#[test]
fn the_scale_of_a_column_is_exact() {
    let (n, d) = (3_300, 211);
    let random = &mut Random(3);
    let mut x = table(n, d, 0.0, random);
    x.slice_mut(s![n / 2.., ..]).mapv_inplace(|x| x + 3.0);
    x[[7, 5]] = 1e9;
    let weights: Vec<f64> = (0..n).map(|k| if k % 7 == 0 { 0.0 } else { random.uniform() + 0.5 }).collect();
    let powers: Vec<i32> = (0..d).map(|_| random.below(401) as i32 - 200).collect();
    let sums = |x: &Array2<f64>| {
        let mut moments = Moments::new(d, true).unwrap();
        update(&mut moments, &x.slice(s![..3_200, ..]), Some(&weights[..3_200]));
        update(&mut moments, &x.slice(s![3_200.., ..]), Some(&weights[3_200..]));
        (moments.second(), moments.third().unwrap())
    };
    let (second, third) = sums(&x);
    let scaled = Array2::from_shape_fn((n, d), |(k, j)| x[[k, j]] * 2f64.powi(powers[j]));
    let (scaled_second, scaled_third) = sums(&scaled);
    for ((i, j), value) in second.indexed_iter() {
        assert_eq!(scaled_second[[i, j]], value * 2f64.powi(powers[i] + powers[j]));
        assert_eq!(scaled_third[[i, j]], third[[i, j]] * 2f64.powi(2 * powers[i] + powers[j]));
    }
}

#[test]
fn keys_depend_on_every_entry_and_the_seed() {
    let mut x = table(300, 4, 0.0, &mut Random(5));
    x.row_mut(7).fill(0.0);
    x.row_mut(8).fill(-0.0);
    let copy = x.row(3).to_owned();
    x.row_mut(200).assign(&copy);
    let keys = |x: &Array2<f64>, seed| {
        let mut moments = Moments::new(4, false).unwrap();
        moments.update(&x.view(), None, Missing::Refuse, Some(seed), &Interrupt::default()).unwrap().keys
    };
    let first = keys(&x, 1);
    let distinct: std::collections::BTreeSet<u64> = first.iter().copied().collect();
    assert_eq!((first[7], first[3], distinct.len()), (first[8], first[200], 298));
    // But for rows of zeros.
    assert_eq!(first.iter().zip(keys(&x, 2)).filter(|(one, other)| *one == other).count(), 2);
    // Half of all bits differ, on average, also where one bit of the numbers does.
    let mut changed = x.clone();
    changed.mapv_inplace(|x| if x == 0.0 { x } else { f64::from_bits(x.to_bits() ^ 1) });
    let bits: u32 = first.iter().zip(keys(&changed, 1)).map(|(one, other)| (one ^ other).count_ones()).sum();
    assert!((8_900..10_200).contains(&bits), "{bits}");
}

#[test]
fn sizes_must_fit() {
    let x = table(5, 3, 0.0, &mut Random(6));
    let mut moments = Moments::new(3, false).unwrap();
    let mut fault = |columns: usize, weights: Option<&[f64]>| {
        let chunk = x.slice(s![.., ..columns]);
        moments.update(&chunk, weights, Missing::Refuse, None, &Interrupt::default()).unwrap_err()
    };
    assert_eq!(fault(2, None), IcidError::Size { what: "a row of the chunk", found: 2, expected: 3 });
    assert_eq!(fault(3, Some(&[1.0; 4])), IcidError::Size { what: "weights", found: 4, expected: 5 });
    let other = Moments::new(2, false).unwrap();
    let expected = Err(IcidError::Size { what: "moments", found: 2, expected: 3 });
    assert_eq!(Moments::new(3, false).unwrap().merge(&other), expected);
    assert_eq!(Moments::new(0, false).unwrap_err(), IcidError::Empty { what: "moments" });
}

#[test]
fn the_same_bits_in_any_pool() {
    let x = table(9_000, 60, 1e6, &mut Random(1));
    let sums = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut moments = Moments::new(60, true).unwrap();
        pool.install(|| update(&mut moments, &x.view(), None));
        (moments.second(), moments.third().unwrap(), moments.mean().to_vec())
    };
    assert_eq!(sums(1), sums(2));
    assert_eq!(sums(1), sums(7));
}

#[test]
fn layout_and_precision_do_not_matter() {
    let single = table(300, 25, 0.0, &mut Random(2)).mapv(|x| x as f32);
    let double = single.mapv(f64::from);
    let columns = double.t().as_standard_layout().into_owned();
    let sums = |moments: &Moments| (moments.second(), moments.third(), moments.mean().to_vec());
    let empty = || Moments::new(25, true).unwrap();
    let (mut one, mut two, mut three) = (empty(), empty(), empty());
    let interrupt = Interrupt::default();
    let keys = one.update(&single.view(), None, Missing::Refuse, Some(3), &interrupt).unwrap().keys;
    let same = two.update(&columns.t(), None, Missing::Refuse, Some(3), &interrupt).unwrap().keys;
    update(&mut three, &double.view(), None);
    assert_eq!(keys, same);
    assert_eq!(sums(&one), sums(&two));
    assert_eq!(sums(&one), sums(&three));
}

#[test]
fn a_chunk_that_is_refused_leaves_no_trace() {
    let mut x = table(20_000, 3, 0.0, &mut Random(3));
    let mut moments = Moments::new(3, false).unwrap();
    update(&mut moments, &x.slice(s![..10, ..]), None);
    let before = moments.second();
    x[[19_000, 2]] = f64::NAN;
    let interrupt = Interrupt::default();
    let error = moments.update(&x.view(), None, Missing::Refuse, None, &interrupt).unwrap_err();
    assert!(matches!(error, IcidError::NotFinite { row: 19_000, column: 2, .. }));
    interrupt.raise();
    let error = moments.update(&x.view(), None, Missing::Drop, None, &interrupt).unwrap_err();
    assert_eq!(error, IcidError::Interrupted);
    assert_eq!((moments.rows(), moments.second()), (10, before));
    let seen = moments.update(&x.view(), None, Missing::Drop, None, &Interrupt::default()).unwrap();
    assert_eq!((moments.rows(), seen.kept.iter().filter(|kept| !**kept).count()), (20_009, 1));
}

#[test]
fn sums_survive_being_taken_apart() {
    let x = table(200, 50, 5.0, &mut Random(4));
    let mut moments = Moments::new(50, true).unwrap();
    update(&mut moments, &x.view(), None);
    let (second, third) = (moments.second(), moments.third().unwrap());
    let (rows, weight) = (moments.rows(), moments.weight());
    let (shift, mean) = (moments.shift().to_vec(), moments.mean().to_vec());
    let again = Moments::from_sums(rows, weight, shift.clone(), mean, &second.view(), Some(&third.view())).unwrap();
    assert_eq!((again.second(), again.third().unwrap()), (second.clone(), third));
    assert_eq!((again.rows(), again.weight()), (200, moments.weight()));
    assert_eq!((again.shift(), again.mean()), (moments.shift(), moments.mean()));
    assert!(Moments::from_sums(rows, weight, shift, vec![0.0], &second.view(), None).is_err());
    assert_eq!(Moments::new(50, false).unwrap().merge(&again), Err(IcidError::Unlike));
}
