//! Metrics of priority and fairness, under upstream's names.
//!
//! The series of a request are looked up when the configuration changes, so that counting costs one
//! addition.

use prometheus::core::Collector;
use prometheus::{
    Gauge, GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts,
    Registry,
};

const LEVEL: &[&str] = &["priority_level"];
const FLOW: &[&str] = &["priority_level", "flow_schema"];
const QUEUE_LENGTHS: &[f64] = &[0.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0];
const SECONDS: &[f64] = &[0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0];
const SEATS: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 100.0];
const WATCHERS: &[f64] = &[0.0, 1.0, 10.0, 100.0, 1000.0, 10_000.0];

/// The metrics of all levels and schemas.
#[derive(Clone)]
pub struct Metrics {
    rejected: IntCounterVec,
    dispatched: IntCounterVec,
    no_accommodation: IntCounterVec,
    requests_waiting: IntGaugeVec,
    seats_waiting: IntGaugeVec,
    requests_executing: IntGaugeVec,
    seats_executing: IntGaugeVec,
    queue_length: HistogramVec,
    wait_seconds: HistogramVec,
    execution_seconds: HistogramVec,
    estimated_seats: HistogramVec,
    watchers: HistogramVec,
    limits: [IntGaugeVec; 4],
    demand: [GaugeVec; 5],
    progress: [GaugeVec; 3],
    pub fair_fraction: Gauge,
}

/// The series of a level.
pub struct LevelMetrics {
    pub nominal_limit: IntGauge,
    pub lower_limit: IntGauge,
    pub upper_limit: IntGauge,
    pub current_limit: IntGauge,
    pub demand_high_watermark: Gauge,
    pub demand_average: Gauge,
    pub demand_deviation: Gauge,
    pub demand_smoothed: Gauge,
    pub target: Gauge,
    pub current_r: Gauge,
    pub dispatch_r: Gauge,
    pub latest_s: Gauge,
}

/// The series of a schema in its level.
pub struct FlowMetrics {
    pub rejected_no_seat: IntCounter,
    pub rejected_queue_full: IntCounter,
    pub rejected_time_out: IntCounter,
    pub dispatched: IntCounter,
    pub no_accommodation: IntCounter,
    pub requests_waiting: IntGauge,
    pub seats_waiting: IntGauge,
    pub requests_executing: IntGauge,
    pub seats_executing: IntGauge,
    pub queue_length: Histogram,
    pub wait_seconds_executed: Histogram,
    pub wait_seconds_rejected: Histogram,
    pub execution_seconds: Histogram,
    pub execution_seconds_watch: Histogram,
    pub estimated_seats: Histogram,
    pub watchers: Histogram,
}

impl Metrics {
    /// Creates the metrics and registers them.
    pub fn new(registry: &Registry) -> Self {
        let factory = MetricFactory(registry);
        let (counters, gauges) = (
            |name, help, labels| factory.counters(name, help, labels),
            |name, help| factory.int_gauges(name, help, FLOW),
        );
        let limit = |name, help| factory.int_gauges(name, help, LEVEL);
        let level = |name, help| factory.gauges(name, help);
        let by_flow = |name, help, buckets| factory.histograms(name, help, FLOW, buckets);
        let [level_label, flow_label] = [FLOW[0], FLOW[1]];
        Metrics {
            rejected: counters(
                "rejected_requests_total",
                "Number of rejected requests.",
                &[level_label, flow_label, "reason"],
            ),
            dispatched: counters("dispatched_requests_total", "Number of dispatched requests.", FLOW),
            no_accommodation: counters(
                "request_dispatch_no_accommodation_total",
                "Number of times that the next request needed more seats than were free.",
                FLOW,
            ),
            requests_waiting: gauges("current_inqueue_requests", "Number of requests in queues."),
            seats_waiting: gauges("current_inqueue_seats", "Number of seats needed by the requests in queues."),
            requests_executing: gauges(
                "current_executing_requests",
                "Number of executing requests; watches count only during initialization.",
            ),
            seats_executing: gauges(
                "current_executing_seats",
                "Number of seats in use; watches count only during initialization.",
            ),
            queue_length: by_flow(
                "request_queue_length_after_enqueue",
                "Length of a queue after a request was added.",
                QUEUE_LENGTHS,
            ),
            wait_seconds: factory.histograms(
                "request_wait_duration_seconds",
                "Time that requests waited for dispatch, in seconds.",
                &[level_label, flow_label, "execute"],
                SECONDS,
            ),
            execution_seconds: factory.histograms(
                "request_execution_seconds",
                "Duration of request execution, in seconds; watches count only during initialization.",
                &[level_label, flow_label, "type"],
                SECONDS,
            ),
            estimated_seats: by_flow("work_estimated_seats", "Estimated number of seats of a request.", SEATS),
            watchers: by_flow("watch_count_samples", "Number of watchers that a write request notifies.", WATCHERS),
            limits: [
                limit("nominal_limit_seats", "Configured number of seats of a priority level."),
                limit("lower_limit_seats", "Number of seats that other priority levels cannot borrow."),
                limit("upper_limit_seats", "Number of seats of a priority level including all that it may borrow."),
                limit("current_limit_seats", "Current number of seats of a priority level."),
            ],
            demand: [
                level(
                    "demand_seats_high_watermark",
                    "Maximum seat demand of a priority level in the last adjustment period.",
                ),
                level("demand_seats_average", "Average seat demand of a priority level in the last adjustment period."),
                level(
                    "demand_seats_stdev",
                    "Standard deviation of the seat demand of a priority level in the last adjustment period.",
                ),
                level("demand_seats_smoothed", "Smoothed seat demand of a priority level."),
                level("target_seats", "Target number of seats of a priority level."),
            ],
            progress: [
                level("current_r", "Current virtual time of a priority level's queues."),
                level("dispatch_r", "Virtual time at the last dispatch from a queue."),
                level("latest_s", "Virtual start time of the last request dispatched from a queue."),
            ],
            fair_fraction: factory.gauge(
                "seat_fair_frac",
                "Fraction of each priority level's demand that the seat allocation satisfies.",
            ),
        }
    }

    pub fn level(&self, name: &str) -> LevelMetrics {
        let limit = |i: usize| self.limits[i].with_label_values(&[name]);
        let demand = |i: usize| self.demand[i].with_label_values(&[name]);
        let progress = |i: usize| self.progress[i].with_label_values(&[name]);
        LevelMetrics {
            nominal_limit: limit(0),
            lower_limit: limit(1),
            upper_limit: limit(2),
            current_limit: limit(3),
            demand_high_watermark: demand(0),
            demand_average: demand(1),
            demand_deviation: demand(2),
            demand_smoothed: demand(3),
            target: demand(4),
            current_r: progress(0),
            dispatch_r: progress(1),
            latest_s: progress(2),
        }
    }

    pub fn flow(&self, level: &str, schema: &str) -> FlowMetrics {
        let flow = &[level, schema];
        let rejected = |reason| self.rejected.with_label_values(&[level, schema, reason]);
        let waited = |executed| self.wait_seconds.with_label_values(&[level, schema, executed]);
        let executed = |kind| self.execution_seconds.with_label_values(&[level, schema, kind]);
        FlowMetrics {
            rejected_no_seat: rejected("concurrency-limit"),
            rejected_queue_full: rejected("queue-full"),
            rejected_time_out: rejected("time-out"),
            dispatched: self.dispatched.with_label_values(flow),
            no_accommodation: self.no_accommodation.with_label_values(flow),
            requests_waiting: self.requests_waiting.with_label_values(flow),
            seats_waiting: self.seats_waiting.with_label_values(flow),
            requests_executing: self.requests_executing.with_label_values(flow),
            seats_executing: self.seats_executing.with_label_values(flow),
            queue_length: self.queue_length.with_label_values(flow),
            wait_seconds_executed: waited("true"),
            wait_seconds_rejected: waited("false"),
            execution_seconds: executed("regular"),
            execution_seconds_watch: executed("watch"),
            estimated_seats: self.estimated_seats.with_label_values(flow),
            watchers: self.watchers.with_label_values(flow),
        }
    }
}

/// Creates metrics of this subsystem. Their names are literals of this file; the tests verify that
/// they are well-formed.
struct MetricFactory<'a>(&'a Registry);

impl MetricFactory<'_> {
    fn registered<C: Collector + Clone + 'static>(&self, collector: C) -> C {
        // Registration fails only for duplicate names, and each name is registered once.
        let _ = self.0.register(Box::new(collector.clone()));
        collector
    }

    fn counters(&self, name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
        self.registered(IntCounterVec::new(options(name, help), labels).expect("a well-formed metric"))
    }

    fn int_gauges(&self, name: &str, help: &str, labels: &[&str]) -> IntGaugeVec {
        self.registered(IntGaugeVec::new(options(name, help), labels).expect("a well-formed metric"))
    }

    fn gauges(&self, name: &str, help: &str) -> GaugeVec {
        self.registered(GaugeVec::new(options(name, help), LEVEL).expect("a well-formed metric"))
    }

    fn gauge(&self, name: &str, help: &str) -> Gauge {
        self.registered(Gauge::with_opts(options(name, help)).expect("a well-formed metric"))
    }

    fn histograms(&self, name: &str, help: &str, labels: &[&str], buckets: &[f64]) -> HistogramVec {
        let options = HistogramOpts::from(options(name, help)).buckets(buckets.to_vec());
        self.registered(HistogramVec::new(options, labels).expect("a well-formed metric"))
    }
}

fn options(name: &str, help: &str) -> Opts {
    Opts::new(name, help).namespace("apiserver").subsystem("flowcontrol")
}
