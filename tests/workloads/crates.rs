// Generic code, a trait object and a closure, in a crate of their own names.
use std::collections::BTreeMap;

extern "C" {
    fn clock() -> std::os::raw::c_long; // CPU time of the process in microseconds
}

fn used() -> i64 {
    unsafe { clock() as i64 / 1000 }
}

trait Shape {
    fn area(&self, rounds: u64) -> u64;
}

struct Square(u64);

impl Shape for Square {
    #[inline(never)]
    fn area(&self, rounds: u64) -> u64 {
        (0..rounds).fold(self.0, |sum, i| (sum ^ i).wrapping_mul(0xbf58476d1ce4e5b9).rotate_left(7))
    }
}

#[inline(never)]
fn sum_all<T: Shape + ?Sized>(shapes: &[Box<T>]) -> u64 {
    shapes.iter().map(|shape| shape.area(20_000)).fold(0, |a, b| a ^ b)
}

fn main() {
    let milliseconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(400);
    let end = used() + milliseconds;
    let shapes: Vec<Box<dyn Shape>> = (0..8).map(|i| Box::new(Square(i)) as Box<dyn Shape>).collect();
    let mut counts = BTreeMap::new();
    while used() < end {
        *counts.entry(sum_all(&shapes) % 100).or_insert(0u64) += 1;
    }
    assert!(!counts.is_empty());
}
