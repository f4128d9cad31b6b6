gates! { new AtomicFIFO Beta true, }
