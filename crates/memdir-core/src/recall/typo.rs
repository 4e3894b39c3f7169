//! Mistyped words: how far two words are apart, and which word of a store is closest.

/// Whether two different words differ by one letter: replaced, added, left out, or swapped with its neighbour.
pub(super) fn is_one_slip(a: &str, b: &str) -> bool {
    let (a, b) = if a.len() <= b.len() { (a.as_bytes(), b.as_bytes()) } else { (b.as_bytes(), a.as_bytes()) };
    if b.len() - a.len() > 1 || a == b {
        return false;
    }
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    if a.len() < b.len() {
        return a[same..] == b[same + 1..];
    }
    let swapped = same + 1 < a.len() && a[same] == b[same + 1] && a[same + 1] == b[same] && a[same + 2..] == b[same + 2..];
    swapped || a[same + 1..] == b[same + 1..]
}

/// Longer words are not compared for two slips. The analysis cuts words at this length, too.
const LONGEST: usize = 96;

/// Whether two words differ by at most two letters, where a swap of neighbours is one.
fn is_two_slips(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len().abs_diff(b.len()) > 2 || b.len() > LONGEST {
        return false;
    }
    // The distances of the beginnings: one row for each letter of `a`, of which the last three are needed.
    let mut rows = [[0_usize; LONGEST + 1]; 3];
    (0..=b.len()).for_each(|j| rows[0][j] = j);
    for i in 1..=a.len() {
        let (this, last, before) = (i % 3, (i + 2) % 3, (i + 1) % 3);
        rows[this][0] = i;
        let mut least = i;
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[last][j] + 1).min(rows[this][j - 1] + 1).min(rows[last][j - 1] + same);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[before][j - 2] + 1);
            }
            rows[this][j] = best;
            least = least.min(best);
        }
        if least > 2 {
            return false;
        }
    }
    rows[a.len() % 3][b.len()] <= 2
}

/// How well a word of the store fits a word of the message that no memory has, best first; `None` if it does not fit.
pub(super) fn closeness(written: &str, known: &str, is_foreign: bool) -> Option<u8> {
    let (a, b) = (written.as_bytes(), known.as_bytes());
    if b.len() < 4 || !known.is_ascii() {
        return None;
    }
    if is_one_slip(written, known) && (a[0] == b[0] || a[1] == b[1]) {
        return Some(0);
    }
    if a.len() >= 8 && a[0] == b[0] && is_two_slips(written, known) {
        return Some(1);
    }
    let shared = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    (is_foreign && a.len() >= 6 && shared >= 5 && shared * 4 >= a.len().min(b.len()) * 3).then_some(2)
}

#[test]
fn a_typo_is_distinguished_from_another_word() {
    for (a, b) in [("deploy", "depoly"), ("deploy", "deplo"), ("deploy", "deeploy"), ("deploy", "deplox"), ("a", "ab")] {
        assert!(is_one_slip(a, b) && is_one_slip(b, a), "{a} {b}");
    }
    for (a, b) in [("deploy", "deploy"), ("deploy", "delpyo"), ("deploy", "dep"), ("", "ab")] {
        assert!(!is_one_slip(a, b), "{a} {b}");
    }
    assert_eq!(closeness("kuberentse", "kubernetes", false), Some(1));
    assert_eq!(closeness("kuberntees", "kubernetes", false), Some(0), "one swap of neighbours");
    assert_eq!(closeness("configration", "configuration", false), Some(0));
    assert_eq!(closeness("confgration", "configuration", false), Some(1));
    assert_eq!(closeness("confgraton", "configuration", false), None, "three letters are left out");
    assert_eq!(closeness(&"ab".repeat(60), &"ab".repeat(61), false), None, "too long to be typed");
    assert_eq!(closeness("texturkompression", "textur", true), Some(2));
    assert_eq!(closeness("texturkompression", "textur", false), None);
    assert_eq!(closeness("cars", "bats", false), None);
}
