use futures_util::FutureExt;
use telemetry::metrics::Metrics;

use super::*;

/// A table and the connections in it.
struct Test {
    table: Arc<Table>,
    connections: Vec<(Arc<ConnectionSlot>, Arc<Activity>)>,
}

impl Test {
    fn new(total: usize, per_address: usize, unauthenticated: usize, handshaking: usize) -> Self {
        let limits = ConnectionLimits { total, per_address, unauthenticated, handshaking };
        Test { table: Arc::new(Table::new(limits, Metrics::default().connections)), connections: Vec::new() }
    }

    fn enter(&mut self, host: u8) -> Result<usize, ExceededLimit> {
        let activity = Arc::new(Activity::default());
        let slot = self.table.admit(IpAddr::from([10, 0, 0, host]), &activity)?;
        self.connections.push((slot, activity));
        Ok(self.connections.len() - 1)
    }

    fn connect(&mut self, host: u8) -> usize {
        let index = self.enter(host).unwrap();
        self.connections[index].0.set_connected();
        index
    }

    fn authenticate(&mut self, host: u8) -> usize {
        let index = self.connect(host);
        self.connections[index].0.set_authenticated();
        index
    }

    /// The connections evicted since the previous call.
    fn evicted(&self) -> Vec<usize> {
        let is_evicted = |(_, (slot, _)): &(usize, &(Arc<ConnectionSlot>, _))| slot.evicted().now_or_never().is_some();
        self.connections.iter().enumerate().filter(is_evicted).map(|(index, _)| index).collect()
    }
}

#[test]
fn full_unauthenticated_share_evicts_oldest_connection_of_busiest_address() {
    let mut test = Test::new(10, 10, 4, 4);
    let other = test.connect(2);
    let mine: Vec<usize> = (0..3).map(|_| test.connect(1)).collect();
    assert_eq!(test.evicted(), [0; 0]);
    test.connect(3);
    assert_eq!(test.evicted(), [mine[0]], "address 1 has most connections");
    let request = test.connections[mine[1]].1.begin();
    test.connect(3);
    assert_eq!(test.evicted(), [mine[2]], "the older one serves a request");
    drop(request);
    // The other share is reserved for authenticated connections.
    for _ in 0..6 {
        test.authenticate(4);
    }
    assert!(!test.evicted().contains(&other), "the connection of an address that has one stays");
}

#[test]
fn handshakes_evict_handshakes() {
    let mut test = Test::new(10, 10, 6, 2);
    let connected = test.connect(1);
    let first = test.enter(1).unwrap();
    for _ in 0..2 {
        test.enter(1).unwrap();
    }
    assert_eq!(test.evicted(), [first]);
    assert!(!test.evicted().contains(&connected));
}

#[test]
fn full_table_evicts_only_idle_connections() {
    let mut test = Test::new(3, 3, 2, 2);
    let all: Vec<usize> = (0..3).map(|_| test.authenticate(1)).collect();
    let requests: Vec<_> = [0, 1].map(|index| test.connections[all[index]].1.begin()).into();
    let fourth = test.authenticate(2);
    assert_eq!(test.evicted(), [all[2]]);
    let _busy = test.connections[fourth].1.begin();
    assert_eq!(test.enter(2), Err(ExceededLimit::Total));
    drop(requests);
    assert!(test.enter(2).is_ok());
}

#[test]
fn limits_connections_per_address() {
    let mut test = Test::new(10, 2, 10, 10);
    let mine: Vec<usize> = (0..2).map(|_| test.authenticate(1)).collect();
    let _watches: Vec<_> = mine.iter().map(|index| test.connections[*index].1.begin()).collect();
    assert_eq!(test.enter(1), Err(ExceededLimit::Address));
    assert!(test.enter(2).is_ok() && test.evicted().is_empty());
}

#[test]
fn ended_connections_free_their_slots() {
    let mut test = Test::new(2, 2, 2, 2);
    for _ in 0..2 {
        test.authenticate(1);
    }
    test.connections[0].0.set_upgraded();
    test.connections.clear();
    for _ in 0..2 {
        test.authenticate(2);
    }
    assert_eq!((test.evicted(), test.table.lock().total()), (Vec::new(), 2));
}
