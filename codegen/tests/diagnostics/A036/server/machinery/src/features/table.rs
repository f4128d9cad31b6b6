pub static GATES: &[Gate] = &[Gate::new("InPlacePodVerticalScaling", Ga, true)];
