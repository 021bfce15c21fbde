/*
 * control: the samples of thread groups and of calls. samples.h includes it and provides what it
 * uses.
 */
#ifndef EVOTILE_TESTS_DEVICE_PTX_SAMPLES_CONTROL_H
#define EVOTILE_TESTS_DEVICE_PTX_SAMPLES_CONTROL_H

static inline void check_whole_grid(struct samples *bench) {
    enum { BLOCKS = 6, WIDTH = 48, HEIGHT = 2, N = BLOCKS * WIDTH * HEIGHT, STEPS = 7 };
    float in[N], got[N];
    double now[N], next[N];
    uint32_t facts[5];
    for (int i = 0; i < N; i++)
        now[i] = in[i] = samples_between(bench, -1, 1);
    sample_begin(bench, "whole_grid");
    bench->sequence.launches[0].cooperative = true;
    sample_buffer(bench, in, sizeof in);
    uint64_t out = sample_buffer(bench, NULL, sizeof got);
    uint64_t observed = sample_buffer(bench, NULL, sizeof facts);
    sample_number(bench, STEPS);
    sample_run(bench, "whole_grid", BLOCKS / 2, 2, WIDTH, HEIGHT, 0);
    sample_read(bench, out, got, sizeof got);
    sample_read(bench, observed, facts, sizeof facts);
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < N; i++)
            next[i] = now[i] / 2 + (now[(i + 1) % N] + now[(i + N - 1) % N]) / 4;
        memcpy(now, next, sizeof now);
    }
    for (int i = 0; i < N; i++)
        sample_near(got[i], now[i], 1e-6, "heat");
    assert_int_equal(facts[0], 3);
    assert_int_equal(facts[1], 1);
    assert_int_equal(facts[2], BLOCKS);
    assert_int_equal(facts[3], BLOCKS / 2 + 100 * 2);
    assert_int_equal(facts[4], BLOCKS - 1 + 100);
    sample_end(bench);
}

static inline void check_large_tiles(struct samples *bench) {
    enum { N = 256 };
    int in[N], sums[3 * N], scans[2 * N], facts[N];
    for (int i = 0; i < N; i++)
        in[i] = (int)(samples_random(bench) % 1000) - (i / 64 == 3 ? 5 : 0);
    in[70] = 7;
    sample_begin(bench, "large_groups");
    sample_buffer(bench, in, sizeof in);
    uint64_t summed = sample_buffer(bench, NULL, sizeof sums);
    uint64_t scanned = sample_buffer(bench, NULL, sizeof scans);
    uint64_t observed = sample_buffer(bench, NULL, sizeof facts);
    sample_run(bench, "large_tiles", 1, 1, N, 1, 0);
    sample_read(bench, summed, sums, sizeof sums);
    sample_read(bench, scanned, scans, sizeof scans);
    sample_read(bench, observed, facts, sizeof facts);
    for (int i = 0; i < N; i++) {
        int pair = i / 64 * 64, half = i / 128 * 128, sum = 0, most = in[half], all = 0;
        int inclusive = 0, exclusive = 0;
        bool any = false, every = true;
        for (int j = 0; j < N; j++) {
            bool in_pair = j / 64 == i / 64, in_half = j / 128 == i / 128;
            all ^= in[j];
            sum += in_pair ? in[j] : 0;
            most = in_half && in[j] > most ? in[j] : most;
            inclusive += in_pair && j <= i ? in[j] : 0;
            exclusive += in_half && j < i ? in[j] : 0;
            any |= in_pair && in[j] == 7;
            every &= !in_half || in[j] >= 0;
        }
        assert_int_equal(sums[i], sum);
        assert_int_equal(sums[N + i], most);
        assert_int_equal(sums[2 * N + i], all);
        assert_int_equal(scans[i], inclusive);
        assert_int_equal(scans[N + i], exclusive);
        assert_int_equal(facts[i], any + 2 * every + 4 * (i / 64) + 16 * (i % 128 / 64) +
                                       1000 * in[pair + 40]);
    }
    sample_end(bench);
}

/* The lanes of i's warp that `is_in` selects and that have the same label as lane i. */
static inline uint32_t sample_part(const int *labels, const bool *is_in, int i) {
    uint32_t members = 0;
    for (int lane = 0; lane < 32; lane++) {
        int j = i / 32 * 32 + lane;
        members |= (uint32_t)((!is_in || is_in[j]) && labels[j] == labels[i]) << lane;
    }
    return members;
}

static inline void check_labels(struct samples *bench) {
    enum { N = 64, FACTS = 256 };
    int in[N], ranks[2 * N], sums[2 * N], facts[FACTS], fives[N], twos[N], all[N] = {0}, active = 0;
    bool threes[N];
    for (int i = 0; i < N; i++) {
        in[i] = (int)(samples_random(bench) % 100);
        fives[i] = in[i] % 5;
        twos[i] = in[i] % 2;
        active += threes[i] = in[i] % 3 == 0;
    }
    sample_begin(bench, "large_groups");
    sample_buffer(bench, in, sizeof in);
    uint64_t ranked = sample_buffer(bench, NULL, sizeof ranks);
    uint64_t summed = sample_buffer(bench, NULL, sizeof sums);
    uint64_t observed = sample_buffer(bench, NULL, sizeof facts);
    sample_run(bench, "labels", 1, 1, N, 1, 0);
    sample_read(bench, ranked, ranks, sizeof ranks);
    sample_read(bench, summed, sums, sizeof sums);
    sample_read(bench, observed, facts, sizeof facts);
    for (int i = 0; i < N; i++) {
        uint32_t alike = sample_part(fives, NULL, i), parts = sample_part(twos, NULL, i);
        uint32_t below = (1u << i % 32) - 1;
        int warp = i / 32 * 32, sum = 0, scan = 0;
        for (int lane = 0; lane < 32; lane++) {
            sum += alike >> lane & 1 ? in[warp + lane] : 0;
            scan += parts >> lane & 1 && lane <= i % 32 ? in[warp + lane] : 0;
        }
        assert_int_equal(ranks[i],
                         __builtin_popcount(alike & below) + 100 * __builtin_popcount(alike));
        assert_int_equal(ranks[N + i],
                         __builtin_popcount(parts & below) + 100 * __builtin_popcount(parts));
        assert_int_equal(sums[i], sum);
        assert_int_equal(sums[N + i], scan);
        assert_true(facts[192 + i] == facts[192 + warp] && facts[192 + i] % 10 == 0);
        if (!threes[i]) {
            assert_int_equal(facts[i], 0);
            continue;
        }
        uint32_t there = sample_part(all, threes, i), inner = sample_part(twos, threes, i);
        uint32_t above = there & ~below & ~(1u << i % 32);
        int least = in[i];
        for (int lane = 0; lane < 32; lane++)
            if (inner >> lane & 1 && in[warp + lane] < least)
                least = in[warp + lane];
        assert_int_equal(facts[i], in[warp + 31 - __builtin_clz(there)] +
                                       (above ? 1000 * in[warp + __builtin_ctz(above)] : 0));
        assert_int_equal(facts[64 + i], least);
    }
    assert_int_equal(facts[128], active);
    assert_int_equal(facts[129], 20);
    assert_int_equal(facts[192] + facts[192 + 32], 10);
    sample_end(bench);
}

static inline void check_group_copies(struct samples *bench) {
    enum { N = 4 * 96 };
    int in[N], got[N];
    for (int i = 0; i < N; i++)
        in[i] = (int)samples_random(bench);
    sample_begin(bench, "large_groups");
    sample_buffer(bench, in, sizeof in);
    uint64_t out = sample_buffer(bench, NULL, sizeof got);
    sample_run(bench, "copies", 1, 1, 64, 1, 0);
    sample_read(bench, out, got, sizeof got);
    assert_memory_equal(got, in, 64 * 16);
    for (int i = 0; i < 16; i++)
        assert_memory_equal(got + 4 * (64 + i), in + 4 * (79 - i), 16);
    sample_end(bench);
}

/* Clusters need sm_90. */
static inline void check_clusters(struct samples *bench) {
    enum { N = 8 * 64 };
    int in[N], got[N], facts[2];
    if (bench->device->info.compute_capability < 90)
        return;
    for (int i = 0; i < N; i++)
        in[i] = (int)(samples_random(bench) % 1000);
    sample_begin(bench, "large_groups");
    sample_buffer(bench, in, sizeof in);
    uint64_t out = sample_buffer(bench, NULL, sizeof got);
    uint64_t observed = sample_buffer(bench, NULL, sizeof facts);
    sample_run(bench, "clusters", 8, 1, 64, 1, 0);
    sample_read(bench, out, got, sizeof got);
    sample_read(bench, observed, facts, sizeof facts);
    for (int i = 0; i < N; i++) {
        int block = i / 64, next = block / 4 * 4 + (block + 1) % 4;
        assert_int_equal(got[i], in[64 * next + 63 - i % 64] + 1000 * (next % 4));
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(facts[i], 256 + 4 + 10 * 3);
    sample_end(bench);
}

static inline int sample_fibonacci(int n) {
    return n < 2 ? n : sample_fibonacci(n - 1) + sample_fibonacci(n - 2);
}

static inline int sample_chain(const int *above, int depth) {
    int own[3] = {above[0] + depth, above[1] * 2, above[2] ^ depth};
    return depth ? sample_chain(own, depth - 1) + own[depth % 3] : own[0] + own[1] + own[2];
}

static inline int sample_operation(int which, int a, int b) {
    int counts = 0;
    static const int weights[] = {1, 10, 100, 1000};
    for (int rest = a; which == 2 && rest > 0; rest /= b)
        counts += weights[rest % b & 3];
    return which == 0 ? a + b : which == 1 ? a * b : counts;
}

static inline void check_calls(struct samples *bench) {
    enum { BLOCKS = 3, N = BLOCKS * 64 };
    static const float vectors[] = {1, -2, 0.5f, 100, 0};
    int in[N], out[6 * N];
    float changed[5 * N];
    for (int i = 0; i < N; i++)
        in[i] = (int)(samples_random(bench) % 1000);
    sample_begin(bench, "calls");
    sample_buffer(bench, in, sizeof in);
    uint64_t to = sample_buffer(bench, NULL, sizeof out);
    sample_buffer(bench, vectors, sizeof vectors);
    uint64_t vector = sample_buffer(bench, NULL, sizeof changed);
    sample_run(bench, "calls", BLOCKS, 1, N / BLOCKS, 1, 0);
    sample_read(bench, to, out, sizeof out);
    sample_read(bench, vector, changed, sizeof changed);
    for (int i = 0; i < N; i++) {
        int x = in[i], size = i % 2 ? x % 9 : x % 7, height = i % 2 ? x % 9 : x % 3;
        assert_int_equal(out[i], sample_operation((i + x) % 3, x, 7));
        assert_int_equal(out[N + i], sample_operation(i / 64 % 2 == 0, x, out[i]));
        assert_int_equal(out[2 * N + i], 10 * size * height + (i % 2 || height ? 4 : 2));
        assert_int_equal(out[3 * N + i], sample_fibonacci(x % 11));
        assert_int_equal(out[4 * N + i], x % 2 ? (x % 13 % 2 == 0) + 2 * (x % 6 % 2) : 0);
        assert_int_equal(out[5 * N + i], sample_chain((int[]){x, 1, i}, x % 6));
        for (int k = 0; k < 5; k++)
            sample_near(changed[5 * i + k], x % 2 ? vectors[k] * (float)x : vectors[k] + (float)x,
                        0, "vector");
    }
    sample_end(bench);
}

#endif
