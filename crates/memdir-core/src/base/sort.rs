//! Stable sorts whose algorithm is compiled once, and not for each type that is sorted: 6 KB of the program each, and there are about a
//! hundred. Ranking, walks and tables use the sorts of the standard library, which are faster for thousands of items.

use std::cmp::Ordering;

/// Stable sorts for lists that are short or sorted rarely.
pub trait SharedSort<T> {
    /// Sorts as [`slice::sort_by`] does.
    fn shared_sort_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    /// Sorts as [`slice::sort_by_key`] does.
    fn shared_sort_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.shared_sort_by(|a, b| key(a).cmp(&key(b)));
    }

    /// Sorts as [`slice::sort`] does.
    fn shared_sort(&mut self)
    where
        T: Ord,
    {
        self.shared_sort_by(T::cmp);
    }
}

impl<T> SharedSort<T> for [T] {
    fn shared_sort_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        if self.len() < 2 {
            return;
        }
        let mut order: Vec<usize> = (0..self.len()).collect();
        sort_numbers(&mut order, &mut |a, b| compare(&self[a], &self[b]));
        put_in_order(&mut order, &mut |a, b| self.swap(a, b));
    }
}

fn sort_numbers(order: &mut [usize], compare: &mut dyn FnMut(usize, usize) -> Ordering) {
    order.sort_by(|a, b| compare(*a, *b));
}

/// Moves each item to its place by swaps along the cycles of the permutation. `order` has the number of the item for each place.
fn put_in_order(order: &mut [usize], swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..order.len() {
        let mut place = start;
        loop {
            let item = std::mem::replace(&mut order[place], place);
            if item == start {
                break;
            }
            swap(place, item);
            place = item;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_as_the_standard_library_does(items in prop::collection::vec((0u8..10, 0u8..3), 0..60)) {
            let (mut shared, mut standard) = (items.clone(), items.clone());
            shared.shared_sort_by(|a, b| b.0.cmp(&a.0));
            standard.sort_by_key(|row| std::cmp::Reverse(row.0));
            prop_assert_eq!(&shared, &standard);
            shared.shared_sort_by_key(|item| item.1);
            standard.sort_by_key(|item| item.1);
            prop_assert_eq!(&shared, &standard);
            shared.shared_sort();
            standard.sort();
            prop_assert_eq!(shared, standard);
        }
    }
}
