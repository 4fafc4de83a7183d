//! Checks that an allocation fits into memory, before it is made.

use crate::error::IcidError;
use sysinfo::System;

/// Share of the free memory that one computation may claim; the rest is for other processes.
const USABLE_PERCENT: u64 = 90;

/// Bytes that one computation may allocate now, within the limits of the container if there is one; `None` if unknown.
pub fn available() -> Option<u64> {
    let mut system = System::new().ok()?;
    system.refresh_memory();
    let machine = system.available_memory();
    let container = system.cgroup_limits().map(|limits| limits.total_memory.saturating_sub(limits.rss));
    let free = container.map_or(machine, |left| left.min(machine));
    Some(free / 100 * USABLE_PERCENT)
}

/// Fail unless `count` items of `T` fit into the free memory.
pub fn ensure_room<T>(what: &'static str, count: u128) -> Result<(), IcidError> {
    let required = count.saturating_mul(size_of::<T>() as u128);
    // Reading the free memory takes longer than a small allocation.
    if required < 1 << 26 {
        return Ok(());
    }
    let Some(available) = available() else { return Ok(()) };
    let available = u128::from(available);
    if required > available {
        return Err(IcidError::Memory { what, required, available });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_requests_pass_and_absurd_ones_name_their_bytes() {
        assert_eq!(ensure_room::<f64>("anything", 1000), Ok(()));
        let error = ensure_room::<f64>("the moon", u128::from(u64::MAX)).unwrap_err();
        assert!(error.to_string().contains("the moon needs 147573952589676412920 bytes"));
    }
}
