//! A set of ports in upstream's storage format: the bits of a big integer
//! (`allocator.AllocationBitmap`).

use options::PortRange;

/// A subset of the ports of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bitmap {
    range: PortRange,
    /// One byte per eight ports, lowest ports first; bit 0 of a byte is its first port.
    bytes: Vec<u8>,
}

impl Bitmap {
    /// Creates an empty set.
    pub fn new(range: PortRange) -> Self {
        let size = usize::from(range.last - range.first) + 1;
        Bitmap { range, bytes: vec![0; size.div_ceil(8)] }
    }

    /// Decodes a stored bitmap: the big-endian bytes of an integer. Bits beyond the range are
    /// dropped.
    pub fn read(range: PortRange, stored: &[u8]) -> Self {
        let mut bitmap = Bitmap::new(range);
        bitmap.bytes.iter_mut().zip(stored.iter().rev()).for_each(|(byte, stored)| *byte = *stored);
        let used_bits = (range.last - range.first) % 8 + 1;
        if let Some(last) = bitmap.bytes.last_mut() {
            *last &= 0xff >> (8 - used_bits);
        }
        bitmap
    }

    /// Encodes the bytes that [`Bitmap::read`] decodes, without leading zeros (Go's
    /// `big.Int.Bytes`).
    pub fn write(&self) -> Vec<u8> {
        let length = self.bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        self.bytes[..length].iter().rev().copied().collect()
    }

    fn bit_of(&self, port: i32) -> Option<(usize, u8)> {
        let port = u16::try_from(port).ok().filter(|port| self.range.contains(*port))?;
        let offset = usize::from(port - self.range.first);
        Some((offset / 8, 1 << (offset % 8)))
    }

    pub fn contains(&self, port: i32) -> bool {
        self.bit_of(port).is_some_and(|(byte, bit)| self.bytes[byte] & bit != 0)
    }

    /// Adds a port. Returns false if it is already a member or outside the range.
    pub fn insert(&mut self, port: i32) -> bool {
        let Some((byte, bit)) = self.bit_of(port) else { return false };
        let is_new = self.bytes[byte] & bit == 0;
        self.bytes[byte] |= bit;
        is_new
    }

    /// Removes a port, if it is a member.
    pub fn remove(&mut self, port: i32) {
        if let Some((byte, bit)) = self.bit_of(port) {
            self.bytes[byte] &= !bit;
        }
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.bytes.iter().map(|byte| byte.count_ones() as usize).sum()
    }

    /// Returns the members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = i32> + '_ {
        (self.range.first..=self.range.last).map(i32::from).filter(|port| self.contains(*port))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_a_big_integer() {
        let check = |range: &str, ports: &[i32], expect: &[u8]| {
            let range = range.parse().unwrap();
            let mut bitmap = Bitmap::new(range);
            ports.iter().for_each(|port| assert!(bitmap.insert(*port)));
            assert_eq!(bitmap.write(), expect, "{ports:?}");
            assert_eq!(Bitmap::read(range, expect), bitmap);
            assert_eq!(bitmap.iter().collect::<Vec<_>>(), ports);
        };
        check("30000-32767", &[], &[]);
        check("30000-32767", &[30000], &[1]);
        check("30000-32767", &[30001, 30008], &[1, 2]);
        check("30000-30009", &[30009], &[2, 0]);
        check("1-65535", &[1, 65535], &[[0x40].as_slice(), &[0; 8190], &[1]].concat());
    }

    #[test]
    fn ports_outside_of_the_range_are_no_members() {
        let range = "30000-30003".parse().unwrap();
        let mut bitmap = Bitmap::read(range, &[0xff, 0xff]);
        assert_eq!(bitmap.iter().collect::<Vec<_>>(), [30000, 30001, 30002, 30003]);
        assert!(!bitmap.insert(30004) && !bitmap.insert(-1) && !bitmap.insert(29999) && !bitmap.insert(30000));
        bitmap.remove(30001);
        bitmap.remove(70000);
        assert!(!bitmap.contains(30001) && bitmap.contains(30000));
    }
}
