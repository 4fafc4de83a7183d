//! Permutations of `0..d`.

use super::check::check_length;
use crate::error::IcidError;

/// The permutation that undoes another: `inverse(p)[p[i]] = i`.
pub(crate) fn inverse(permutation: &[u32]) -> Vec<u32> {
    let mut inverse = vec![0; permutation.len()];
    for (i, &p) in permutation.iter().enumerate() {
        inverse[p as usize] = i as u32;
    }
    inverse
}

/// Check that `order` holds each of `0..d` once, and store it in 32 bits.
pub(crate) fn check_order(order: &[usize], d: usize) -> Result<Vec<u32>, IcidError> {
    check_length("order", order.len(), d)?;
    let mut seen = vec![false; d];
    for &i in order {
        if i >= d || std::mem::replace(&mut seen[i], true) {
            return Err(IcidError::Order { index: i, dim: d });
        }
    }
    Ok(order.iter().map(|&i| i as u32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverse_undoes_its_permutation() {
        let order = check_order(&[2, 0, 3, 1], 4).unwrap();
        let places = inverse(&order);
        assert!(order.iter().enumerate().all(|(k, &i)| places[i as usize] as usize == k));
    }

    #[test]
    fn an_order_has_each_variable_once() {
        assert!(matches!(check_order(&[0, 1], 3), Err(IcidError::Length { expected: 3, found: 2, .. })));
        assert!(matches!(check_order(&[0, 0, 1], 3), Err(IcidError::Order { index: 0, dim: 3 })));
        assert!(matches!(check_order(&[0, 3, 1], 3), Err(IcidError::Order { index: 3, dim: 3 })));
    }
}
