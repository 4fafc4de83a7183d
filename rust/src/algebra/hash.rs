//! `SplitMix64` (Steele, Lea and Flood 2014), as a hash function and as a source of random numbers.

use std::hash::{BuildHasherDefault, Hasher};

/// Increment of the state of `SplitMix64`.
pub(crate) const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spread the bits of a number over all of its bits: one output of `SplitMix64` for the state `x`.
pub(crate) fn scramble(mut x: u64) -> u64 {
    x = x.wrapping_add(GAMMA);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A random number generator that starts from any seed.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A random number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        let bits = scramble(self.0);
        self.0 = self.0.wrapping_add(GAMMA);
        ((u128::from(bits) * n as u128) >> 64) as usize
    }
}

/// A hash map whose keys are hashes already, so that they are not hashed again.
pub(crate) type HashedMap<V> = std::collections::HashMap<u64, V, BuildHasherDefault<PassThrough>>;

/// A hasher that returns its key.
#[derive(Debug, Default)]
pub(crate) struct PassThrough(u64);

impl Hasher for PassThrough {
    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are numbers");
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scrambling_is_the_published_generator() {
        // The first outputs of SplitMix64 for the seed 0.
        let outputs = [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f];
        assert_eq!([0, 1, 2].map(|k| scramble(GAMMA.wrapping_mul(k))), outputs);
    }

    #[test]
    fn random_numbers_are_below_their_bound_and_reach_all_of_it() {
        let mut random = Random::new(5);
        let mut seen = [false; 7];
        for _ in 0..200 {
            seen[random.below(7)] = true;
        }
        assert_eq!(seen, [true; 7]);
        assert_eq!(random.below(1), 0);
    }

    #[test]
    fn a_map_finds_what_was_put_in() {
        let mut map = HashedMap::default();
        for key in 0..100 {
            map.insert(scramble(key), key);
        }
        assert!((0..100).all(|key| map[&scramble(key)] == key));
    }
}
