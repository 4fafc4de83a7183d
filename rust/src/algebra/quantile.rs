//! Quantiles: of the normal distribution, and of numbers.

/// The value that a standard normal variable exceeds with probability `tail`; infinite for 0 and 1.
///
/// Algorithm AS 241 (PPND16) of Wichura, "The percentage points of the normal distribution", Applied Statistics 37
/// (1988): about 16 digits.
#[allow(clippy::excessive_precision)] // the digits as published
pub(crate) fn normal_upper_quantile(tail: f64) -> f64 {
    #[rustfmt::skip] // a table
    const CENTRE: [[f64; 8]; 2] = [
        [3.387_132_872_796_366_608, 1.331_416_678_917_843_774_5e2, 1.971_590_950_306_551_442_7e3,
         1.373_169_376_550_946_112_5e4, 4.592_195_393_154_987_145_7e4, 6.726_577_092_700_870_085_3e4,
         3.343_057_558_358_812_810_5e4, 2.509_080_928_730_122_672_7e3],
        [1.0, 4.231_333_070_160_091_125_2e1, 6.871_870_074_920_579_083e2,
         5.394_196_021_424_751_107_7e3, 2.121_379_430_158_659_586_7e4, 3.930_789_580_009_271_061e4,
         2.872_908_573_572_194_267_4e4, 5.226_495_278_852_854_561e3],
    ];
    #[rustfmt::skip] // a table
    const MIDDLE: [[f64; 8]; 2] = [
        [1.423_437_110_749_683_577_34, 4.630_337_846_156_545_295_9, 5.769_497_221_460_691_405_5,
         3.647_848_324_763_204_605_04, 1.270_458_252_452_368_382_58, 2.417_807_251_774_506_117_7e-1,
         2.272_384_498_926_918_458_33e-2, 7.745_450_142_783_414_076_4e-4],
        [1.0, 2.053_191_626_637_758_821_87, 1.676_384_830_183_803_849_4,
         6.897_673_349_851_000_045_5e-1, 1.481_039_764_274_800_745_9e-1, 1.519_866_656_361_645_719_66e-2,
         5.475_938_084_995_344_946e-4, 1.050_750_071_644_416_843_24e-9],
    ];
    #[rustfmt::skip] // a table
    const FAR: [[f64; 8]; 2] = [
        [6.657_904_643_501_103_777_2, 5.463_784_911_164_114_369_9, 1.784_826_539_917_291_335_8,
         2.965_605_718_285_048_912_3e-1, 2.653_218_952_657_612_309_3e-2, 1.242_660_947_388_078_438_6e-3,
         2.711_555_568_743_487_578_15e-5, 2.010_334_399_292_288_132_65e-7],
        [1.0, 5.998_322_065_558_879_376_9e-1, 1.369_298_809_227_358_053_1e-1,
         1.487_536_129_085_061_485_25e-2, 7.868_691_311_456_132_591e-4, 1.846_318_317_510_054_681_8e-5,
         1.421_511_758_316_445_888_7e-7, 2.044_263_103_389_939_785_64e-15],
    ];
    let polynomial = |c: &[f64; 8], x: f64| c.iter().rev().fold(0.0, |sum, c| sum * x + c);
    let ratio = |[above, below]: &[[f64; 8]; 2], x: f64| polynomial(above, x) / polynomial(below, x);

    let from_middle = 0.5 - tail;
    if from_middle.abs() <= 0.425 {
        return from_middle * ratio(&CENTRE, 0.180_625 - from_middle * from_middle);
    }
    let nearest = if from_middle > 0.0 { tail } else { 1.0 - tail };
    if nearest <= 0.0 {
        return f64::INFINITY.copysign(from_middle);
    }
    let root = (-nearest.ln()).sqrt();
    let size = if root <= 5.0 { ratio(&MIDDLE, root - 1.6) } else { ratio(&FAR, root - 5.0) };
    size.copysign(from_middle)
}

/// The value that a χ² variable with one degree of freedom exceeds with probability `tail`: the square of a normal one.
pub(crate) fn chi_squared_upper_quantile(tail: f64) -> f64 {
    normal_upper_quantile(tail / 2.0).powi(2)
}

/// A quantile of numbers, interpolated linearly between the two nearest (the default of `numpy.quantile`); NaN if there
/// is no number, or one that is NaN. The numbers are reordered.
pub(crate) fn quantile(numbers: &mut [f64], level: f64) -> f64 {
    if numbers.is_empty() || numbers.iter().any(|x| x.is_nan()) {
        return f64::NAN;
    }
    let place = (numbers.len() - 1) as f64 * level;
    let below = place.floor();
    let share = place - below;
    let (_, &mut low, above) = numbers.select_nth_unstable_by(below as usize, f64::total_cmp);
    let Some(high) = above.iter().copied().min_by(f64::total_cmp) else { return low };
    // From the nearer of the two, as NumPy does it.
    if share >= 0.5 { high - (high - low) * (1.0 - share) } else { low + (high - low) * share }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::hash::scramble;

    #[test]
    fn normal_quantiles_are_the_known_ones() {
        // From `scipy.stats.norm.isf` and `chi2.isf`.
        let known = [
            (0.5, 0.0),
            (0.4, 0.253_347_103_135_799_7),
            (0.3, 0.524_400_512_708_040_9),
            (0.1, 1.281_551_565_544_600_4),
            (0.075, 1.439_531_470_938_456_3),
            (0.025, 1.959_963_984_540_054_5),
            (0.005, 2.575_829_303_548_901),
            (1e-3, 3.090_232_306_167_813),
            (1e-6, 4.753_424_308_822_899),
            (1e-10, 6.361_340_902_404_056),
            (1e-20, 9.262_340_089_798_409),
            (1e-100, 21.273_453_560_965_322),
            (1e-300, 37.047_096_299_361_2),
        ];
        for (tail, value) in known {
            let found = normal_upper_quantile(tail);
            assert!((found - value).abs() <= 1e-14 * value, "{tail}: {found} instead of {value}");
        }
        assert_eq!(normal_upper_quantile(0.75), -normal_upper_quantile(0.25));
        assert_eq!(normal_upper_quantile(0.0), f64::INFINITY);
        assert_eq!(normal_upper_quantile(1.0), f64::NEG_INFINITY);
        assert!((chi_squared_upper_quantile(0.05) / 3.841_458_820_694_128_5 - 1.0).abs() < 1e-14);
    }

    #[test]
    fn quantiles_lie_between_their_neighbours() {
        let mut numbers: Vec<f64> = (0..37).map(|k| scramble(k) as f64 / u64::MAX as f64).collect();
        let mut sorted = numbers.clone();
        sorted.sort_by(f64::total_cmp);
        for level in [0.0_f64, 0.01, 0.3, 0.5, 0.77, 0.99, 1.0] {
            let place = 36.0 * level;
            let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
            let expected = low + (high - low) * (place - place.floor());
            assert!((quantile(&mut numbers, level) - expected).abs() < 1e-15);
        }
        assert!(quantile(&mut [], 0.5).is_nan() && quantile(&mut [1.0, f64::NAN], 0.5).is_nan());
    }
}
