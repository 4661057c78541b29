;; What takes nearly all of the time of a model: products with its weights, attention, exponentials.
;; Numbers are f32, addresses are of bytes, and vectors have four lanes: sizes are multiples of 4,
;; a head's of 16. plain.js does the same where there is no SIMD.
(module
  (import "env" "memory" (memory 1))

  ;; The sum of four lanes.
  (func $sum (param $v v128) (result f32)
    (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $v)) (f32x4.extract_lane 1 (local.get $v)))
      (f32.add (f32x4.extract_lane 2 (local.get $v)) (f32x4.extract_lane 3 (local.get $v)))))

  ;; The sums of four vectors, a lane each.
  (func $sums (param $a v128) (param $b v128) (param $c v128) (param $d v128) (result v128)
    (local $ab v128) (local $cd v128)
    (local.set $ab (f32x4.add
      (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $a) (local.get $b))
      (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $a) (local.get $b))))
    (local.set $cd (f32x4.add
      (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $c) (local.get $d))
      (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $c) (local.get $d))))
    (f32x4.add
      (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $ab) (local.get $cd))
      (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31
        (local.get $ab) (local.get $cd))))

  ;; exp of four numbers that are at most 0; below -87 it is no longer exact, and nearly 0.
  ;; 2^n exp(r), where |r| < .35 is left by n ln 2 and a polynomial gives exp(r) (Cephes, expf).
  (func $exp (param $x v128) (result v128)
    (local $n v128) (local $r v128)
    (local.set $x (f32x4.max (local.get $x) (f32x4.splat (f32.const -87))))
    (local.set $n (f32x4.nearest
      (f32x4.mul (local.get $x) (f32x4.splat (f32.const 1.44269504088896341)))))
    (local.set $r (f32x4.sub
      (f32x4.sub (local.get $x)
        (f32x4.mul (local.get $n) (f32x4.splat (f32.const 0.693359375))))
      (f32x4.mul (local.get $n) (f32x4.splat (f32.const -2.12194440e-4)))))
    (f32x4.mul
      (f32x4.add (f32x4.splat (f32.const 1)) (f32x4.add (local.get $r)
        (f32x4.mul (f32x4.mul (local.get $r) (local.get $r))
          (f32x4.add (f32x4.splat (f32.const 5.0000001201e-1)) (f32x4.mul (local.get $r)
          (f32x4.add (f32x4.splat (f32.const 1.6666665459e-1)) (f32x4.mul (local.get $r)
          (f32x4.add (f32x4.splat (f32.const 4.1665795894e-2)) (f32x4.mul (local.get $r)
          (f32x4.add (f32x4.splat (f32.const 8.3334519073e-3)) (f32x4.mul (local.get $r)
          (f32x4.add (f32x4.splat (f32.const 1.3981999507e-3)) (f32x4.mul (local.get $r)
            (f32x4.splat (f32.const 1.9875691500e-4)))))))))))))))
      (i32x4.shl
        (i32x4.add (i32x4.trunc_sat_f32x4_s (local.get $n)) (v128.const i32x4 127 127 127 127))
        (i32.const 23))))

  ;; n halves at `from` become floats at `to`; n is rounded up to a multiple of 16. Exponent and
  ;; mantissa move up by 13 bits, and the sign, which was spread over the upper half, stays; 2^112
  ;; makes up for the other bias, below the normal numbers too.
  (func $widen (export "widen") (param $from i32) (param $to i32) (param $n i32)
    (local $end i32) (local $kept v128) (local $bias v128)
    (local.set $end (i32.add (local.get $from) (i32.shl (local.get $n) (i32.const 1))))
    (local.set $kept (v128.const i32x4 0x8fffe000 0x8fffe000 0x8fffe000 0x8fffe000))
    (local.set $bias (f32x4.splat (f32.const 0x1p112)))
    (loop $more
      (v128.store offset=0 (local.get $to) (f32x4.mul (local.get $bias) (v128.and
        (local.get $kept)
        (i32x4.shl (v128.load16x4_s offset=0 (local.get $from)) (i32.const 13)))))
      (v128.store offset=16 (local.get $to) (f32x4.mul (local.get $bias) (v128.and
        (local.get $kept)
        (i32x4.shl (v128.load16x4_s offset=8 (local.get $from)) (i32.const 13)))))
      (v128.store offset=32 (local.get $to) (f32x4.mul (local.get $bias) (v128.and
        (local.get $kept)
        (i32x4.shl (v128.load16x4_s offset=16 (local.get $from)) (i32.const 13)))))
      (v128.store offset=48 (local.get $to) (f32x4.mul (local.get $bias) (v128.and
        (local.get $kept)
        (i32x4.shl (v128.load16x4_s offset=24 (local.get $from)) (i32.const 13)))))
      (local.set $from (i32.add (local.get $from) (i32.const 32)))
      (local.set $to (i32.add (local.get $to) (i32.const 64)))
      (br_if $more (i32.lt_u (local.get $from) (local.get $end)))))

  ;; y [rows, m] = x [rows, n] w [m, n]^T + b [m], and `least` at least: four outputs of two rows at
  ;; once. lines: room for four lines of floats where the weights are halves; 0: they are floats.
  ;; Halves are read from memory in half of the time, which a step of few rows is bound by.
  (func (export "linear")
    (param $x i32) (param $w i32) (param $b i32) (param $y i32)
    (param $rows i32) (param $n i32) (param $m i32)
    (param $lines i32) (param $least f32)
    (local $line i32) (local $from i32) (local $out i32) (local $o i32) (local $r i32)
    (local $p i32) (local $q i32) (local $end i32)
    (local $w0 i32) (local $w1 i32) (local $w2 i32) (local $w3 i32)
    (local $a v128) (local $c v128)
    (local $k0 v128) (local $k1 v128) (local $k2 v128) (local $k3 v128)
    (local $s0 v128) (local $s1 v128) (local $s2 v128) (local $s3 v128)
    (local $t0 v128) (local $t1 v128) (local $t2 v128) (local $t3 v128)
    (local.set $line (i32.shl (local.get $n) (i32.const 2)))
    (loop $outputs
      (if (local.get $lines)
        (then
          (call $widen
            (i32.add (local.get $w)
              (i32.shl (i32.mul (local.get $o) (local.get $n)) (i32.const 1)))
            (local.get $lines) (local.get $line))
          (local.set $from (local.get $lines)))
        (else (local.set $from
          (i32.add (local.get $w) (i32.mul (local.get $o) (local.get $line))))))
      (local.set $r (i32.const 0))
      (loop $in_rows
        (local.set $p (i32.add (local.get $x) (i32.mul (local.get $r) (local.get $line))))
        (local.set $end (i32.add (local.get $p) (local.get $line)))
        ;; From a row to the next one; 0: a last row without a partner.
        (local.set $q (select (local.get $line) (i32.const 0)
          (i32.lt_u (i32.add (local.get $r) (i32.const 1)) (local.get $rows))))
        ;; From a place of the row to that of each line of weights.
        (local.set $w0 (i32.sub (local.get $from) (local.get $p)))
        (local.set $w1 (i32.add (local.get $w0) (local.get $line)))
        (local.set $w2 (i32.add (local.get $w1) (local.get $line)))
        (local.set $w3 (i32.add (local.get $w2) (local.get $line)))
        (local.set $s0 (v128.const i32x4 0 0 0 0)) (local.set $s1 (local.get $s0))
        (local.set $s2 (local.get $s0)) (local.set $s3 (local.get $s0))
        (local.set $t0 (local.get $s0)) (local.set $t1 (local.get $s0))
        (local.set $t2 (local.get $s0)) (local.set $t3 (local.get $s0))
        (if (local.get $q)
          (then (loop $cells
            (local.set $a (v128.load (local.get $p)))
            (local.set $c (v128.load (i32.add (local.get $p) (local.get $q))))
            (local.set $k0 (v128.load (i32.add (local.get $w0) (local.get $p))))
            (local.set $k1 (v128.load (i32.add (local.get $w1) (local.get $p))))
            (local.set $k2 (v128.load (i32.add (local.get $w2) (local.get $p))))
            (local.set $k3 (v128.load (i32.add (local.get $w3) (local.get $p))))
            (local.set $s0 (f32x4.add (local.get $s0) (f32x4.mul (local.get $a) (local.get $k0))))
            (local.set $s1 (f32x4.add (local.get $s1) (f32x4.mul (local.get $a) (local.get $k1))))
            (local.set $s2 (f32x4.add (local.get $s2) (f32x4.mul (local.get $a) (local.get $k2))))
            (local.set $s3 (f32x4.add (local.get $s3) (f32x4.mul (local.get $a) (local.get $k3))))
            (local.set $t0 (f32x4.add (local.get $t0) (f32x4.mul (local.get $c) (local.get $k0))))
            (local.set $t1 (f32x4.add (local.get $t1) (f32x4.mul (local.get $c) (local.get $k1))))
            (local.set $t2 (f32x4.add (local.get $t2) (f32x4.mul (local.get $c) (local.get $k2))))
            (local.set $t3 (f32x4.add (local.get $t3) (f32x4.mul (local.get $c) (local.get $k3))))
            (local.set $p (i32.add (local.get $p) (i32.const 16)))
            (br_if $cells (i32.lt_u (local.get $p) (local.get $end)))))
          (else (loop $cells
            (local.set $a (v128.load (local.get $p)))
            (local.set $s0 (f32x4.add (local.get $s0) (f32x4.mul (local.get $a)
              (v128.load (i32.add (local.get $w0) (local.get $p))))))
            (local.set $s1 (f32x4.add (local.get $s1) (f32x4.mul (local.get $a)
              (v128.load (i32.add (local.get $w1) (local.get $p))))))
            (local.set $s2 (f32x4.add (local.get $s2) (f32x4.mul (local.get $a)
              (v128.load (i32.add (local.get $w2) (local.get $p))))))
            (local.set $s3 (f32x4.add (local.get $s3) (f32x4.mul (local.get $a)
              (v128.load (i32.add (local.get $w3) (local.get $p))))))
            (local.set $p (i32.add (local.get $p) (i32.const 16)))
            (br_if $cells (i32.lt_u (local.get $p) (local.get $end))))))
        (local.set $k0 (v128.load (i32.add (local.get $b) (i32.shl (local.get $o) (i32.const 2)))))
        (local.set $out (i32.add (local.get $y) (i32.shl
          (i32.add (i32.mul (local.get $r) (local.get $m)) (local.get $o)) (i32.const 2))))
        (v128.store (local.get $out) (f32x4.pmax
          (f32x4.add (local.get $k0)
            (call $sums (local.get $s0) (local.get $s1) (local.get $s2) (local.get $s3)))
          (f32x4.splat (local.get $least))))
        (if (local.get $q) (then
          (v128.store (i32.add (local.get $out) (i32.shl (local.get $m) (i32.const 2)))
            (f32x4.pmax
              (f32x4.add (local.get $k0)
                (call $sums (local.get $t0) (local.get $t1) (local.get $t2) (local.get $t3)))
              (f32x4.splat (local.get $least))))))
        (local.set $r (i32.add (local.get $r) (i32.const 2)))
        (br_if $in_rows (i32.lt_u (local.get $r) (local.get $rows))))
      (local.set $o (i32.add (local.get $o) (i32.const 4)))
      (br_if $outputs (i32.lt_u (local.get $o) (local.get $m)))))

  ;; One row of attention, all heads. q, y: [heads, size bytes]; k, v: where keys and values begin;
  ;; places [n]: bytes from there to each key that the row may see, n at least 1; weights: where the
  ;; row's weights are put, those of a head `step` bytes behind the last one's, each with room for
  ;; n rounded up to 4.
  (func (export "attend")
    (param $q i32) (param $k i32) (param $v i32) (param $places i32) (param $n i32)
    (param $heads i32) (param $size i32) (param $scale f32)
    (param $y i32) (param $weights i32) (param $step i32)
    (local $i i32) (local $p i32) (local $end i32) (local $at i32) (local $last i32) (local $d i32)
    (local $top f32) (local $score f32)
    (local $s0 v128) (local $s1 v128) (local $s2 v128) (local $s3 v128) (local $w v128)
    (local.set $last (i32.add (local.get $places) (i32.shl (local.get $n) (i32.const 2))))
    (loop $each_head
      ;; Scores, and the largest.
      (local.set $at (local.get $weights))
      (local.set $top (f32.const -inf))
      (local.set $i (local.get $places))
      (loop $keys
        (local.set $p (i32.add (local.get $k) (i32.load (local.get $i))))
        (local.set $d (i32.sub (local.get $q) (local.get $p)))
        (local.set $end (i32.add (local.get $p) (local.get $size)))
        (local.set $s0 (v128.const i32x4 0 0 0 0)) (local.set $s1 (local.get $s0))
        (local.set $s2 (local.get $s0)) (local.set $s3 (local.get $s0))
        (loop $cells
          (local.set $s0 (f32x4.add (local.get $s0) (f32x4.mul
            (v128.load (local.get $p)) (v128.load (i32.add (local.get $p) (local.get $d))))))
          (local.set $s1 (f32x4.add (local.get $s1) (f32x4.mul (v128.load offset=16 (local.get $p))
            (v128.load offset=16 (i32.add (local.get $p) (local.get $d))))))
          (local.set $s2 (f32x4.add (local.get $s2) (f32x4.mul (v128.load offset=32 (local.get $p))
            (v128.load offset=32 (i32.add (local.get $p) (local.get $d))))))
          (local.set $s3 (f32x4.add (local.get $s3) (f32x4.mul (v128.load offset=48 (local.get $p))
            (v128.load offset=48 (i32.add (local.get $p) (local.get $d))))))
          (local.set $p (i32.add (local.get $p) (i32.const 64)))
          (br_if $cells (i32.lt_u (local.get $p) (local.get $end))))
        (local.set $score (f32.mul (local.get $scale) (call $sum (f32x4.add
          (f32x4.add (local.get $s0) (local.get $s1))
          (f32x4.add (local.get $s2) (local.get $s3))))))
        (f32.store (local.get $at) (local.get $score))
        (local.set $top (f32.max (local.get $top) (local.get $score)))
        (local.set $at (i32.add (local.get $at) (i32.const 4)))
        (local.set $i (i32.add (local.get $i) (i32.const 4)))
        (br_if $keys (i32.lt_u (local.get $i) (local.get $last))))
      ;; The lanes behind the last one count nothing.
      (block $filled (loop $fill
        (br_if $filled (i32.eqz (i32.and
          (i32.sub (local.get $at) (local.get $weights)) (i32.const 15))))
        (f32.store (local.get $at) (f32.const -inf))
        (local.set $at (i32.add (local.get $at) (i32.const 4)))
        (br $fill)))
      ;; Weights.
      (local.set $end (local.get $at))
      (local.set $at (local.get $weights))
      (local.set $s0 (v128.const i32x4 0 0 0 0))
      (loop $exps
        (local.set $w (call $exp (f32x4.sub
          (v128.load (local.get $at)) (f32x4.splat (local.get $top)))))
        (v128.store (local.get $at) (local.get $w))
        (local.set $s0 (f32x4.add (local.get $s0) (local.get $w)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br_if $exps (i32.lt_u (local.get $at) (local.get $end))))
      (local.set $w (f32x4.splat (f32.div (f32.const 1) (call $sum (local.get $s0)))))
      (local.set $at (local.get $weights))
      (loop $shares
        (v128.store (local.get $at) (f32x4.mul (v128.load (local.get $at)) (local.get $w)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br_if $shares (i32.lt_u (local.get $at) (local.get $end))))
      ;; The values, mixed: sixteen numbers of each at once.
      (local.set $d (i32.const 0))
      (loop $parts
        (local.set $s0 (v128.const i32x4 0 0 0 0)) (local.set $s1 (local.get $s0))
        (local.set $s2 (local.get $s0)) (local.set $s3 (local.get $s0))
        (local.set $at (local.get $weights))
        (local.set $i (local.get $places))
        (loop $keys
          (local.set $w (v128.load32_splat (local.get $at)))
          (local.set $p (i32.add
            (i32.add (local.get $v) (local.get $d)) (i32.load (local.get $i))))
          (local.set $s0 (f32x4.add (local.get $s0)
            (f32x4.mul (local.get $w) (v128.load (local.get $p)))))
          (local.set $s1 (f32x4.add (local.get $s1)
            (f32x4.mul (local.get $w) (v128.load offset=16 (local.get $p)))))
          (local.set $s2 (f32x4.add (local.get $s2)
            (f32x4.mul (local.get $w) (v128.load offset=32 (local.get $p)))))
          (local.set $s3 (f32x4.add (local.get $s3)
            (f32x4.mul (local.get $w) (v128.load offset=48 (local.get $p)))))
          (local.set $at (i32.add (local.get $at) (i32.const 4)))
          (local.set $i (i32.add (local.get $i) (i32.const 4)))
          (br_if $keys (i32.lt_u (local.get $i) (local.get $last))))
        (local.set $p (i32.add (local.get $y) (local.get $d)))
        (v128.store (local.get $p) (local.get $s0))
        (v128.store offset=16 (local.get $p) (local.get $s1))
        (v128.store offset=32 (local.get $p) (local.get $s2))
        (v128.store offset=48 (local.get $p) (local.get $s3))
        (local.set $d (i32.add (local.get $d) (i32.const 64)))
        (br_if $parts (i32.lt_u (local.get $d) (local.get $size))))
      ;; The next head.
      (local.set $q (i32.add (local.get $q) (local.get $size)))
      (local.set $k (i32.add (local.get $k) (local.get $size)))
      (local.set $v (i32.add (local.get $v) (local.get $size)))
      (local.set $y (i32.add (local.get $y) (local.get $size)))
      (local.set $weights (i32.add (local.get $weights) (local.get $step)))
      (local.set $heads (i32.sub (local.get $heads) (i32.const 1)))
      (br_if $each_head (local.get $heads))))

  ;; The largest of n numbers.
  (func (export "largest") (param $x i32) (param $n i32) (result f32)
    (local $end i32) (local $v v128)
    (local.set $end (i32.add (local.get $x) (i32.shl (local.get $n) (i32.const 2))))
    (local.set $v (v128.load (local.get $x)))
    (loop $cells
      (local.set $v (f32x4.pmax (local.get $v) (v128.load (local.get $x))))
      (local.set $x (i32.add (local.get $x) (i32.const 16)))
      (br_if $cells (i32.lt_u (local.get $x) (local.get $end))))
    (f32.max
      (f32.max (f32x4.extract_lane 0 (local.get $v)) (f32x4.extract_lane 1 (local.get $v)))
      (f32.max (f32x4.extract_lane 2 (local.get $v)) (f32x4.extract_lane 3 (local.get $v)))))

  ;; The sum of exp(x - top) over n numbers, of which top is the largest.
  (func (export "sum_exp") (param $x i32) (param $n i32) (param $top f32) (result f32)
    (local $end i32) (local $s v128)
    (local.set $end (i32.add (local.get $x) (i32.shl (local.get $n) (i32.const 2))))
    (loop $cells
      (local.set $s (f32x4.add (local.get $s) (call $exp (f32x4.sub
        (v128.load (local.get $x)) (f32x4.splat (local.get $top))))))
      (local.set $x (i32.add (local.get $x) (i32.const 16)))
      (br_if $cells (i32.lt_u (local.get $x) (local.get $end))))
    (call $sum (local.get $s)))

  ;; Takes a number from each of n numbers.
  (func (export "lower") (param $x i32) (param $n i32) (param $by f32)
    (local $end i32)
    (local.set $end (i32.add (local.get $x) (i32.shl (local.get $n) (i32.const 2))))
    (loop $cells
      (v128.store (local.get $x)
        (f32x4.sub (v128.load (local.get $x)) (f32x4.splat (local.get $by))))
      (local.set $x (i32.add (local.get $x) (i32.const 16)))
      (br_if $cells (i32.lt_u (local.get $x) (local.get $end)))))
)
