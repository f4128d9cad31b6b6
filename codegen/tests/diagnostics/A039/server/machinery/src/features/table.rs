pub static GATES: &[Gate] = &[Gate::new("AtomicFIFO", Beta, true)];
