//! Allocates seats among levels in proportion to demand (upstream: `computeConcurrencyAllocation`).
//!
//! Each level has a lower and an upper bound.

/// The target of a level and its bounds, in seats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claim {
    pub target: f64,
    pub least: f64,
    pub most: f64,
}

/// The minimum target. A level without demand can still be allocated unused seats.
const LEAST_TARGET: f64 = 0.001;

impl Claim {
    fn target(&self) -> f64 {
        self.target.max(LEAST_TARGET)
    }

    /// The allocation of the level when each level gets this fraction of its target.
    fn at(&self, fraction: f64) -> f64 {
        (fraction * self.target()).clamp(self.least, self.most.max(self.least))
    }
}

/// Finds the fraction of the targets at which the bounded allocations add up to `seats`.
///
/// Returns that fraction and the allocation of each level, or `None` when the bounds do not allow
/// that sum.
pub fn compute_concurrency_allocation(seats: f64, claims: &[Claim]) -> Option<(f64, Vec<f64>)> {
    let total = |fraction: f64| claims.iter().map(|claim| claim.at(fraction)).sum::<f64>();
    let (least, most): (f64, f64) = claims.iter().fold((0.0, 0.0), |(l, m), c| (l + c.least, m + c.most));
    if claims.is_empty() || seats < least - 1e-7 || seats > most + 1e-7 {
        return None;
    }
    // Between two neighbouring bounds the total is linear in the fraction.
    let mut bounds: Vec<f64> = claims.iter().flat_map(|c| [c.least / c.target(), c.most / c.target()]).collect();
    bounds.sort_unstable_by(f64::total_cmp);
    let above = bounds.partition_point(|bound| total(*bound) < seats).min(bounds.len() - 1);
    let (low, high) = (bounds[above.saturating_sub(1)], bounds[above]);
    let (total_low, total_high) = (total(low), total(high));
    let fraction = if total_high > total_low {
        low + (high - low) * ((seats - total_low) / (total_high - total_low)).clamp(0.0, 1.0)
    } else {
        high
    };
    Some((fraction, claims.iter().map(|claim| claim.at(fraction)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(seats: f64, claims: &[(f64, f64, f64)], expect: Option<&[f64]>) {
        let claims: Vec<Claim> =
            claims.iter().map(|(target, least, most)| Claim { target: *target, least: *least, most: *most }).collect();
        let got = compute_concurrency_allocation(seats, &claims).map(|(_, shares)| shares);
        let near = |got: &[f64], expect: &[f64]| got.iter().zip(expect).all(|(g, e)| (g - e).abs() < 1e-6);
        match (&got, expect) {
            (Some(got), Some(expect)) => assert!(near(got, expect), "{got:?}, not {expect:?}"),
            _ => assert_eq!(got.is_some(), expect.is_some()),
        }
    }

    #[test]
    fn shares_are_fair_within_bounds() {
        check(30.0, &[(10.0, 0.0, 100.0), (20.0, 0.0, 100.0)], Some(&[10.0, 20.0]));
        check(60.0, &[(10.0, 0.0, 100.0), (20.0, 0.0, 100.0)], Some(&[20.0, 40.0]));
        check(60.0, &[(10.0, 0.0, 100.0), (20.0, 0.0, 30.0)], Some(&[30.0, 30.0]));
        check(10.0, &[(10.0, 8.0, 100.0), (20.0, 0.0, 30.0)], Some(&[8.0, 2.0]));
        check(50.0, &[(0.0, 0.0, 100.0), (0.0, 0.0, 100.0)], Some(&[25.0, 25.0]));
        check(5.0, &[(5.0, 5.0, 5.0)], Some(&[5.0]));
        check(4.0, &[(5.0, 5.0, 9.0)], None);
        check(10.0, &[(5.0, 5.0, 9.0)], None);
        check(10.0, &[], None);
    }
}
