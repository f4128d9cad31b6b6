//! Lends unused seats of levels to levels with more demand, once a period (upstream:
//! `updateBorrowing`).

use std::sync::Arc;
use std::time::Duration;

use crate::allocation::{Claim, compute_concurrency_allocation};
use crate::level::{MutableState, PriorityLevelState};
use crate::metrics::Metrics;

/// The demand of a level in the last period.
struct Need {
    level: Arc<PriorityLevelState>,
    is_exempt: bool,
    /// The seats that it gets if there are enough: its demand, up to its nominal limit.
    least: f64,
    /// The minimum that it gets in any case.
    lower: f64,
    claim: Claim,
}

/// Sets the seats of each level for the next period.
pub fn lend<'l>(now: Duration, levels: impl Iterator<Item = &'l Arc<PriorityLevelState>>, metrics: &Metrics) {
    let mut nominal_sum = 0.0;
    let needs: Vec<Need> = levels.map(|level| need(now, level, &mut nominal_sum)).collect();
    let limited = || needs.iter().filter(|need| !need.is_exempt);
    let exempt: f64 = needs.iter().filter(|need| need.is_exempt).map(|need| need.least).sum();
    let left = nominal_sum - exempt;
    let (lower, least): (f64, f64) = limited().fold((0.0, 0.0), |(a, b), n| (a + n.lower, b + n.least));
    let mut fair_fraction = 0.0;
    let seats: Vec<f64> = if left <= lower {
        limited().map(|need| need.lower).collect()
    } else if left <= least {
        let part = (left - lower) / (least - lower);
        limited().map(|need| need.lower + ((need.least - need.lower) * part).round()).collect()
    } else {
        let claims: Vec<Claim> = limited().map(|need| need.claim).collect();
        match compute_concurrency_allocation(nominal_sum, &claims) {
            Some((fraction, seats)) => {
                fair_fraction = fraction;
                seats
            }
            None => limited().map(|need| f64::from(need.level.lock().limits.current)).collect(),
        }
    };
    metrics.fair_fraction.set(fair_fraction);
    let mut seats = seats.into_iter();
    for need in &needs {
        let seats = if need.is_exempt { need.least } else { seats.next().unwrap_or(need.lower) };
        give(now, need, seats.round() as u32);
    }
}

fn need(now: Duration, level: &Arc<PriorityLevelState>, nominal_sum: &mut f64) -> Need {
    let mut state = level.lock();
    let MutableState { queues, demand, limits, config, .. } = &mut *state;
    queues.demand.flush(now, demand);
    *nominal_sum += f64::from(limits.nominal);
    let (lower, nominal) = (f64::from(limits.lower), f64::from(limits.nominal));
    let is_exempt = config.queuing.is_exempt();
    let needed = if is_exempt { demand.high_watermark } else { demand.high_watermark.min(nominal) };
    let least = needed.max(lower);
    let claim = Claim { target: demand.smoothed.max(least), least, most: f64::from(limits.upper) };
    Need { level: level.clone(), is_exempt, least, lower, claim }
}

fn give(now: Duration, need: &Need, seats: u32) {
    let mut state = need.level.lock();
    state.limits.current = seats;
    let queuing = state.config.queuing;
    state.queues.configure(now, queuing, seats);
    let (metrics, demand, limits) = (&need.level.metrics, state.demand, state.limits);
    metrics.current_limit.set(i64::from(limits.current));
    metrics.nominal_limit.set(i64::from(limits.nominal));
    metrics.lower_limit.set(i64::from(limits.lower));
    metrics.upper_limit.set(i64::from(limits.upper));
    metrics.demand_high_watermark.set(demand.high_watermark);
    metrics.demand_average.set(demand.average);
    metrics.demand_deviation.set(demand.deviation);
    metrics.demand_smoothed.set(demand.smoothed);
    metrics.target.set(need.claim.target);
    metrics.current_r.set(state.queues.virtual_now().as_f64());
    metrics.dispatch_r.set(state.queues.last_dispatch.at.as_f64());
    metrics.latest_s.set(state.queues.last_dispatch.start.as_f64());
}
