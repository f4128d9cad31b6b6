//! Statistics of the seats that a level could have used (upstream: `fairqueuing.Integrator`,
//! `seatDemandStats`).

use std::time::Duration;

/// The weight of the previous smoothed demand per ten-second step; its half-life is five minutes.
const SMOOTHING: f64 = 0.977;

/// Integrates a value that changes over time.
#[derive(Clone, Debug, Default)]
pub struct Demand {
    now: f64,
    since: Duration,
    seconds: f64,
    sum: f64,
    sum_of_squares: f64,
    highest: f64,
}

impl Demand {
    /// Sets the value from `now` on.
    pub fn set(&mut self, now: Duration, seats: u32) {
        self.integrate(now);
        self.now = f64::from(seats);
        self.highest = self.highest.max(self.now);
    }

    fn integrate(&mut self, now: Duration) {
        let seconds = now.saturating_sub(self.since).as_secs_f64();
        self.since = self.since.max(now);
        self.seconds += seconds;
        self.sum += self.now * seconds;
        self.sum_of_squares += self.now * self.now * seconds;
    }

    /// Adds the time since the last call to the statistics, and resets the integrals.
    pub fn flush(&mut self, now: Duration, into: &mut DemandStats) {
        self.integrate(now);
        into.high_watermark = self.highest.round();
        if self.seconds > 0.0 {
            let average = self.sum / self.seconds;
            into.average = average;
            into.deviation = (self.sum_of_squares / self.seconds - average * average).max(0.0).sqrt();
            let envelope = into.average + into.deviation;
            into.smoothed = envelope.max(SMOOTHING * into.smoothed + (1.0 - SMOOTHING) * envelope);
        }
        *self = Demand { now: self.now, since: self.since, highest: self.now, ..Demand::default() };
    }
}

/// The demand of a level, in seats.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DemandStats {
    pub average: f64,
    pub deviation: f64,
    pub high_watermark: f64,
    /// Average plus standard deviation; rises at once and falls slowly.
    pub smoothed: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demand_rises_at_once_and_falls_slowly() {
        let (mut demand, mut stats) = (Demand::default(), DemandStats::default());
        demand.set(Duration::ZERO, 4);
        demand.set(Duration::from_secs(5), 8);
        demand.flush(Duration::from_secs(10), &mut stats);
        assert_eq!(stats, DemandStats { average: 6.0, deviation: 2.0, high_watermark: 8.0, smoothed: 8.0 });
        demand.set(Duration::from_secs(10), 0);
        demand.flush(Duration::from_secs(20), &mut stats);
        assert_eq!((stats.average, stats.high_watermark), (0.0, 8.0));
        assert!((7.8..7.9).contains(&stats.smoothed), "{}", stats.smoothed);
        // An empty period does not divide by zero.
        demand.flush(Duration::from_secs(20), &mut stats);
        assert_eq!((stats.average, stats.high_watermark), (0.0, 0.0));
    }
}
