gates! { new InPlacePodVerticalScaling Ga true, }
