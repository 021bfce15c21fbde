// Included by kernel.cu: the two matrix products of a tile, QK^T and PV, on tensor cores or with
// FMA. Both variants give a thread the same fragments of scores and of O.

// ---- on tensor cores ----

// S = Q K^T of the warp's queries and its slice of a key tile.
DEVICE void qk_mma(score_fragments &s_rmem, q_fragments &q_rmem, u32 tile_smem,
                   const thread_coords &thread) {
    conditional_t<qk_in_half, u32[m_tiles][n_tiles][2], float[m_tiles][n_tiles][4]> acc_rmem = {};
#pragma unroll
    for (int k = 0; k < k_steps; ++k) {
#pragma unroll
        for (int m = 0; m < m_tiles && !q_in_registers; ++m)
            load_a<q_tile>(q_rmem[m][k], smem_address(smem) + q_smem, thread.first_row + m * 16, k);
#pragma unroll
        for (int n = 0; n < n_tiles; n += 2) {
            u32 k_rmem[4];
            load_b_transposed<k_tile>(k_rmem, tile_smem, thread.first_key + n * 8, k);
#pragma unroll
            for (int m = 0; m < m_tiles; ++m) {
                mma_m16n8k16<element>(acc_rmem[m][n], q_rmem[m][k], k_rmem[0], k_rmem[1]);
                mma_m16n8k16<element>(acc_rmem[m][n + 1], q_rmem[m][k], k_rmem[2], k_rmem[3]);
            }
        }
    }
    to_floats(s_rmem, acc_rmem);
}

// Converts probabilities to 16 bits for PV. The accumulator layout of S is the A operand layout of
// PV, so P stays in registers.
DEVICE void pack_probabilities(p_fragments &p_rmem, const score_fragments &probabilities_rmem) {
#pragma unroll
    for (int i = 0; i < m_tiles * n_tiles * 2; ++i) {
        const int m = i / (n_tiles * 2), n = i % (n_tiles * 2) / 4;
        const float(&from)[4] = probabilities_rmem[m][n * 2 + i % 4 / 2];
        p_rmem[m][n][i % 4] = pack_pair<element>(from[i % 2 * 2], from[i % 2 * 2 + 1]);
    }
}

// O += P V of the warp's slice of a key tile.
DEVICE void pv_mma(o_fragments &o_rmem, const p_fragments &p_rmem, u32 tile_smem,
                   const thread_coords &thread) {
#pragma unroll
    for (int n = 0; n < n_tiles / 2; ++n) {
#pragma unroll
        for (int d = 0; d < d_tiles; d += 2) {
            u32 v_rmem[4];
            load_b<v_tile>(v_rmem, tile_smem, thread.first_key + n * 16, d / 2);
#pragma unroll
            for (int m = 0; m < m_tiles; ++m) {
                mma_m16n8k16<element>(o_rmem[m][d], p_rmem[m][n], v_rmem[0], v_rmem[1]);
                mma_m16n8k16<element>(o_rmem[m][d + 1], p_rmem[m][n], v_rmem[2], v_rmem[3]);
            }
        }
    }
}

// ---- with FMA ----

// Loads eight consecutive elements as floats.
DEVICE void load_8_elements(float (&to)[8], u32 place_smem) {
    const uint4 four = load_smem_16(place_smem);
    const u32 pairs[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        to[i * 2] = unpack_low<element>(pairs[i]);
        to[i * 2 + 1] = unpack_high<element>(pairs[i]);
    }
}

DEVICE void qk_simt(score_fragments &s_rmem, u32 tile_smem, const thread_coords &thread) {
#pragma unroll
    for (int i = 0; i < m_tiles * n_tiles * 4; ++i)
        s_rmem[i / 4 / n_tiles][i / 4 % n_tiles][i % 4] = 0;
#pragma unroll 1
    for (int chunk = 0; chunk < k_steps * 2; ++chunk) {
        float q_rmem[m_tiles * 2][8];
#pragma unroll
        for (int i = 0; i < m_tiles * 2; ++i)
            load_8_elements(q_rmem[i],
                            smem_address(smem) + q_smem +
                                q_tile::offset(thread.first_row + i * 8 + thread.g, chunk));
#pragma unroll
        for (int n = 0; n < n_tiles * 2; ++n) {
            float k_rmem[8];
            load_8_elements(k_rmem, tile_smem + k_tile::offset(thread.first_key + n / 2 * 8 +
                                                                   thread.t * 2 + n % 2,
                                                               chunk));
#pragma unroll
            for (int i = 0; i < m_tiles * 2 * 8; ++i)
                s_rmem[i / 16][n / 2][i / 8 % 2 * 2 + n % 2] +=
                    q_rmem[i / 8][i % 8] * k_rmem[i % 8];
        }
    }
}

// A probability is broadcast from the lane, of the four of its row, that holds it. (A template, so
// that it is not compiled for half accumulators.)
template <typename sums>
DEVICE void pv_simt(sums &o_rmem, const score_fragments &p_rmem, u32 tile_smem,
                    const thread_coords &thread) {
#pragma unroll 1
    for (int key = 0; key < 8; ++key) {
#pragma unroll
        for (int n = 0; n < n_tiles; ++n) {
            const int row = thread.first_key + n * 8 + key;
            float probability[m_tiles * 2];
#pragma unroll
            for (int i = 0; i < m_tiles * 2; ++i) {
                const float(&from)[4] = p_rmem[i / 2][n];
                probability[i] = __shfl_sync(
                    full_warp_mask, key % 2 ? from[i % 2 * 2 + 1] : from[i % 2 * 2], key / 2, 4);
            }
#pragma unroll
            for (int d = 0; d < d_tiles; ++d) {
                const u32 pair = load_smem_4(tile_smem + v_tile::offset(row, d) + thread.t * 4);
#pragma unroll
                for (int i = 0; i < m_tiles * 2; ++i) {
                    o_rmem[i / 2][d][i % 2 * 2] += probability[i] * unpack_low<element>(pair);
                    o_rmem[i / 2][d][i % 2 * 2 + 1] += probability[i] * unpack_high<element>(pair);
                }
            }
        }
    }
}

// ---- dispatch by MATH ----

DEVICE void qk_gemm(score_fragments &s_rmem, q_fragments &q_rmem, u32 tile_smem,
                    const thread_coords &thread) {
    if constexpr (simt)
        qk_simt(s_rmem, tile_smem, thread);
    else
        qk_mma(s_rmem, q_rmem, tile_smem, thread);
}

DEVICE void pv_gemm(o_fragments &o_rmem, const score_fragments &probabilities_rmem, u32 tile_smem,
                    const thread_coords &thread) {
    if constexpr (simt) {
        pv_simt(o_rmem, probabilities_rmem, tile_smem, thread);
    } else {
        p_fragments p_rmem;
        pack_probabilities(p_rmem, probabilities_rmem);
        pv_mma(o_rmem, p_rmem, tile_smem, thread);
    }
}
