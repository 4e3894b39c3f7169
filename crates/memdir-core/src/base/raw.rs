#![expect(unsafe_code, reason = "SIMD, memory mapping and signals have no safe form; everything unsafe is in this file")]
//! SIMD kernels selected at run time, memory mapping that survives truncation, and a setting of the allocator. The only file with unsafe
//! code. Every kernel returns the same numbers as the portable code, bit for bit.
//!
//! Why this is sound:
//! - Kernels are called only through [`Simd`], whose value for an instruction set exists only after the processor was detected to
//!   support it. That is all a `#[target_feature]` function needs.
//! - Kernels load from references to arrays of exactly the register's width, so no load leaves its slice.
//! - A mapping is private and read-only. Callers guarantee that its file does not shrink: see [`map_file`]. If it does, the signal
//!   handler puts a page of zeros in the place of one that no access can succeed on: see [`guard_mappings`].

use std::{
    fs::File,
    io,
    ops::Deref,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

/// Makes the C library return large blocks to the system as soon as they are freed. By itself it raises the size from which it does with
/// every such block, so that a server keeps the lists of its largest request: 10 MB for a page on 10,000 memories.
pub fn return_large_blocks() {
    // Changes one number of the allocator, which is safe at any time; an unknown parameter is ignored.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES);
    }
}

/// The size of a large block; what the C library begins with.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE_BLOCK_BYTES: libc::c_int = 128 << 10;

/// An instruction set that this machine supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Simd(SimdKind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SimdKind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni,
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Simd {
    /// The portable implementation, against which the others are tested.
    pub const PORTABLE: Simd = Simd(SimdKind::Portable);

    /// Returns the fastest one of this machine. Detected once.
    pub fn best() -> Simd {
        static BEST: OnceLock<Simd> = OnceLock::new();
        *BEST.get_or_init(|| Simd::all().pop().unwrap_or(Simd::PORTABLE))
    }

    /// Returns all that this machine supports, the slowest first.
    pub fn all() -> Vec<Simd> {
        let mut all = vec![Simd::PORTABLE];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                all.push(Simd(SimdKind::Avx2));
            }
            // AVX2 is required too: the float sums use it.
            if all.len() == 2 && ["avx512f", "avx512bw", "avx512vnni"].into_iter().all(has) {
                all.push(Simd(SimdKind::Avx512Vnni));
            }
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            all.push(Simd(SimdKind::Neon));
        }
        all
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self.0 {
            SimdKind::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            SimdKind::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            SimdKind::Avx512Vnni => "avx512-vnni",
            #[cfg(target_arch = "aarch64")]
            SimdKind::Neon => "neon",
        }
    }

    /// Computes the dot product of the query with each of the consecutive rows. All values must be within ±127 for the kernels to
    /// agree (the result for a row with -128 is unspecified).
    ///
    /// # Panics
    /// If `rows` is not as many rows as `out`, or a row is longer than 65,536 (sums would not fit).
    pub fn dots(self, query: &[i8], rows: &[i8], out: &mut [i32]) {
        assert!(query.len() <= 1 << 16 && rows.len() == query.len() * out.len(), "rows and results do not fit");
        if query.is_empty() {
            return out.fill(0);
        }
        match self.0 {
            SimdKind::Portable => portable::dots(query, rows, out),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this kind exists only if the processor has AVX2.
            SimdKind::Avx2 => unsafe { x86::dots_avx2(query, rows, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this kind exists only if the processor has AVX-512 F, BW and VNNI.
            SimdKind::Avx512Vnni => unsafe { x86::dots_avx512(query, rows, out) },
            #[cfg(target_arch = "aarch64")]
            // SAFETY: this kind exists only if the processor has NEON.
            SimdKind::Neon => unsafe { neon::dots(query, rows, out) },
        }
    }

    /// Adds `factor · row` to `sum`. Multiplies, rounds, then adds on every machine, so that sums are the same everywhere.
    ///
    /// # Panics
    /// If the two are not of one length.
    pub fn add_scaled(self, sum: &mut [f32], row: &[i8], factor: f32) {
        assert_eq!(sum.len(), row.len(), "row and sum do not fit");
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: these kinds exist only if the processor has AVX2.
            SimdKind::Avx2 | SimdKind::Avx512Vnni => unsafe { x86::add_scaled_avx2(sum, row, factor) },
            // NEON is part of the baseline where it exists, so the compiler uses it here by itself.
            _ => portable::add_scaled(sum, row, factor),
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn has(feature: &str) -> bool {
    match feature {
        "avx512f" => is_x86_feature_detected!("avx512f"),
        "avx512bw" => is_x86_feature_detected!("avx512bw"),
        "avx512vnni" => is_x86_feature_detected!("avx512vnni"),
        _ => false,
    }
}

/// A file's bytes, mapped: shared with every process that maps it, read from disk when touched.
#[derive(Debug)]
pub struct Mapped(memmap2::Mmap);

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// The bytes of a table, mapped or in memory; aligned for columns of up to eight bytes per number.
#[derive(Debug)]
pub enum AlignedBytes {
    /// A mapped file.
    Mapped(Mapped),
    /// Whole numbers of eight bytes in memory.
    Owned(Vec<u64>),
}

impl Deref for AlignedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            AlignedBytes::Mapped(mapped) => mapped,
            AlignedBytes::Owned(block) => bytemuck::cast_slice(block),
        }
    }
}

/// Maps a whole file, read-only and private.
///
/// Only for files that are never changed or truncated in place once they have their name: memdir writes its index files
/// under another name, renames them, and later removes them whole, which leaves mappings intact. If another program
/// truncates one, what is gone is read as zeros: see [`guard_mappings`].
pub fn map_file(file: &File) -> io::Result<Mapped> {
    guard_mappings();
    // SAFETY: the mapping is read-only and the file is immutable by the contract above.
    unsafe { memmap2::MmapOptions::new().map_copy_read_only(file) }.map(Mapped)
}

/// Keeps the process alive when a mapped file is truncated in place: a touched page that is gone becomes a page of zeros, and
/// [`lost_pages`] counts it. Without this the system ends the process with SIGBUS. To be called before a file is mapped.
///
/// A signal handler, because every alternative has a cost or a gap: comparing sizes leaves a gap before the pages are touched, and reading
/// the files instead of mapping them would copy the whole index into every process.
pub fn guard_mappings() {
    #[cfg(unix)]
    bus::install();
}

/// Returns how many pages of mapped files this process has lost. If it grew during a search, the answer is not reliable.
pub fn lost_pages() -> u64 {
    LOST_PAGES.load(Ordering::Acquire)
}

static LOST_PAGES: AtomicU64 = AtomicU64::new(0);

#[cfg(unix)]
mod bus {
    use super::LOST_PAGES;
    use std::{
        mem::MaybeUninit,
        ptr,
        sync::{
            Once, OnceLock,
            atomic::{AtomicUsize, Ordering},
        },
    };

    static INSTALL: Once = Once::new();
    /// The action before ours: that of the standard library, or of the program that uses the library.
    static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();
    static PAGE: AtomicUsize = AtomicUsize::new(4096);

    pub(super) fn install() {
        INSTALL.call_once(|| {
            // SAFETY: the calls get valid pointers; the handler only makes system calls and uses atomics.
            unsafe {
                if let Ok(page) = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)) {
                    PAGE.store(page, Ordering::Relaxed);
                }
                let mut before = MaybeUninit::<libc::sigaction>::zeroed();
                if libc::sigaction(libc::SIGBUS, ptr::null(), before.as_mut_ptr()) != 0 {
                    return;
                }
                BEFORE.get_or_init(|| before.assume_init());
                let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
                action.sa_sigaction = handle as extern "C" fn(_, _, _) as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigaction(libc::SIGBUS, &action, ptr::null_mut());
            }
        });
    }

    extern "C" fn handle(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
        // SAFETY: the system passes a valid `info`. The page that is replaced is one that no access can succeed on.
        unsafe {
            if (*info).si_code == libc::BUS_ADRERR {
                let page = PAGE.load(Ordering::Relaxed);
                let start = ((*info).si_addr() as usize & !(page - 1)) as *mut libc::c_void;
                let how = libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
                if libc::mmap(start, page, libc::PROT_READ, how, -1, 0) != libc::MAP_FAILED {
                    LOST_PAGES.fetch_add(1, Ordering::Release);
                    return;
                }
            }
            // Not a lost page: the instruction is repeated, with the handler that was there before.
            if let Some(before) = BEFORE.get() {
                libc::sigaction(libc::SIGBUS, before, ptr::null_mut());
            }
        }
    }
}

mod portable {
    /// Sums over 16 numbers at a time, which the compiler turns into whatever the baseline offers.
    pub(super) fn dots(query: &[i8], rows: &[i8], out: &mut [i32]) {
        for (row, out) in rows.chunks_exact(query.len()).zip(out) {
            *out = dot(query, row);
        }
    }

    pub(super) fn dot(a: &[i8], b: &[i8]) -> i32 {
        a.iter().zip(b).map(|(&a, &b)| i32::from(i16::from(a) * i16::from(b))).sum()
    }

    pub(super) fn add_scaled(sum: &mut [f32], row: &[i8], factor: f32) {
        for (sum, &value) in sum.iter_mut().zip(row) {
            *sum += factor * f32::from(value);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::portable;
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx2")]
    pub(super) fn dots_avx2(query: &[i8], rows: &[i8], out: &mut [i32]) {
        let (blocks, tail) = query.as_chunks::<32>();
        let ones = _mm256_set1_epi16(1);
        for (row, out) in rows.chunks_exact(query.len()).zip(out) {
            let (row_blocks, row_tail) = row.as_chunks::<32>();
            let mut sum = _mm256_setzero_si256();
            for (q, r) in blocks.iter().zip(row_blocks) {
                let (q, r) = (load32(q), load32(r));
                // The instruction requires one side without signs: move the query's signs to the row. Two products of at
                // most 127 · 127 fit in 16 bits, so nothing saturates.
                let pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(q), _mm256_sign_epi8(r, q));
                sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, ones));
            }
            *out = sum8(sum) + portable::dot(tail, row_tail);
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub(super) fn dots_avx512(query: &[i8], rows: &[i8], out: &mut [i32]) {
        let (blocks, tail) = query.as_chunks::<64>();
        let flip = _mm512_set1_epi8(-128);
        // Flipping a row's sign bits adds 128 to each number and takes the sign away, as the instruction requires.
        let mut sum = _mm512_setzero_si512();
        for q in blocks {
            sum = _mm512_dpbusd_epi32(sum, flip, load64(q));
        }
        let excess = _mm512_reduce_add_epi32(sum);
        for (row, out) in rows.chunks_exact(query.len()).zip(out) {
            let (row_blocks, row_tail) = row.as_chunks::<64>();
            let mut sum = _mm512_setzero_si512();
            for (q, r) in blocks.iter().zip(row_blocks) {
                sum = _mm512_dpbusd_epi32(sum, _mm512_xor_si512(load64(r), flip), load64(q));
            }
            *out = _mm512_reduce_add_epi32(sum) - excess + portable::dot(tail, row_tail);
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn add_scaled_avx2(sum: &mut [f32], row: &[i8], factor: f32) {
        let factors = _mm256_set1_ps(factor);
        let (sums, sum_tail) = sum.as_chunks_mut::<8>();
        let (values, tail) = row.as_chunks::<8>();
        for (sum, values) in sums.iter_mut().zip(values) {
            // SAFETY: `values` is eight bytes and `sum` eight floats, and the instructions ask for no alignment.
            unsafe {
                let bytes = _mm_loadl_epi64(values.as_ptr().cast());
                let floats = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
                let old = _mm256_loadu_ps(sum.as_ptr());
                _mm256_storeu_ps(sum.as_mut_ptr(), _mm256_add_ps(old, _mm256_mul_ps(factors, floats)));
            }
        }
        portable::add_scaled(sum_tail, tail, factor);
    }

    #[target_feature(enable = "avx2")]
    fn load32(bytes: &[i8; 32]) -> __m256i {
        // SAFETY: reads 32 bytes of 32, without asking for alignment.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    #[target_feature(enable = "avx512f")]
    fn load64(bytes: &[i8; 64]) -> __m512i {
        // SAFETY: reads 64 bytes of 64, without asking for alignment.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }

    #[target_feature(enable = "avx2")]
    fn sum8(v: __m256i) -> i32 {
        let four = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v));
        let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
        _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32::<0b10_11_00_01>(two)))
    }
}

#[cfg(target_arch = "aarch64")]
mod neon {
    use super::portable;
    use std::arch::aarch64::*;

    #[target_feature(enable = "neon")]
    pub(super) fn dots(query: &[i8], rows: &[i8], out: &mut [i32]) {
        let (blocks, tail) = query.as_chunks::<16>();
        for (row, out) in rows.chunks_exact(query.len()).zip(out) {
            let (row_blocks, row_tail) = row.as_chunks::<16>();
            let mut sum = vdupq_n_s32(0);
            for (q, r) in blocks.iter().zip(row_blocks) {
                let (q, r) = (load16(q), load16(r));
                // Two products of at most 127 · 127 fit in 16 bits.
                let pairs = vmlal_high_s8(vmull_s8(vget_low_s8(q), vget_low_s8(r)), q, r);
                sum = vpadalq_s16(sum, pairs);
            }
            *out = vaddvq_s32(sum) + portable::dot(tail, row_tail);
        }
    }

    #[target_feature(enable = "neon")]
    fn load16(bytes: &[i8; 16]) -> int8x16_t {
        // SAFETY: reads 16 bytes of 16, without asking for alignment.
        unsafe { vld1q_s8(bytes.as_ptr()) }
    }
}
