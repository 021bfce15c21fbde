// What is no function of the arithmetic: between lanes, memory, atomics, places, clocks.
MORE(p[lane] = __match_any_sync(~0u, p[lane]); u[lane] = __match_any_sync(~0u, q[lane]))
MORE(int z; p[lane] = __match_all_sync(~0u, p[lane], &z); u[lane] = z)
MORE(u[lane] = __reduce_add_sync(~0u, u[lane]) + __reduce_min_sync(~0u, u[lane]) + __reduce_and_sync(~0u, u[lane]);
     p[lane] = __reduce_max_sync(~0u, p[lane]))
MORE(u[lane] = __activemask())
MORE(__nanosleep(100))
MORE(u[lane] = __ballot_sync(~0u, p[lane]) + __any_sync(~0u, p[lane]) + __all_sync(~0u, p[lane]) + __uni_sync(~0u,
     p[lane]))
MORE(p[lane] = __shfl_sync(~0u, p[lane], 3) + __shfl_up_sync(~0u, p[lane], 2, 8) + __shfl_down_sync(~0u, p[lane], 1) ;
     d[lane] = __shfl_xor_sync(~0u, d[lane], 4); q[lane] = __shfl_sync(~0u, q[lane], 9, 16); h[lane] =
     __shfl_sync(~0u, h[lane], 2); b2[lane] = __shfl_xor_sync(~0u, b2[lane], 2))
MORE(p[lane] = __ldcg(p+1) + __ldca(p+2) + __ldcs(p+3) + __ldlu(p+4) + __ldcv(p+5) + __ldg(p + 6); __stcg(p, 1);
     __stwb(p+1, 3); __stcs(p+2, 3); __stwt(p+3, 2))
MORE(int4 v = __ldcg((int4*)p); __stwt((int4*)p+1, v); double2 w = __ldg((double2*)d); __stcs((double2*)d+1, w); char2
     c = __ldcs((char2*)p); __stcg((char2*)p+8, c); h[0] = __ldcg(h+5); __stcs(h2, h2[3]))
MORE(atomicAdd(p, 1); atomicSub(p, 2); atomicExch(p, 3); atomicMin(p, 4); atomicMax(p, 5); atomicInc(u, 6);
     atomicDec(u, 7); atomicCAS(p, 8, 9); atomicAnd(p, 1); atomicOr(p, 2); atomicXor(p, 3))
MORE(atomicAdd_block(p, 1); atomicSub_block(p, 2); atomicExch_block(p, 3); atomicMin_block(p, 4); atomicMax_block(p,
     5); atomicInc_block(u, 6); atomicDec_block(u, 7); atomicCAS_block(p, 8, 9); atomicAnd_block(p, 1);
     atomicOr_block(p, 2); atomicXor_block(p, 3))
MORE(atomicAdd_system(p, 1); atomicSub_system(p, 2); atomicExch_system(p, 3); atomicMin_system(p, 4);
     atomicMax_system(p, 5); atomicInc_system(u, 6); atomicDec_system(u, 7); atomicCAS_system(p, 8, 9);
     atomicAnd_system(p, 1); atomicOr_system(p, 2); atomicXor_system(p, 3))
MORE(q[1] = atomicAdd(q, 1ull); q[2] = atomicExch(q, 3ull); q[3] = atomicMin(q, 4ull); q[4] = atomicMax((long long
     *)q, 5ll); q[5] = atomicCAS(q, 8ull, 9ull); q[6] = atomicAnd(q, 1ull); q[7]=atomicOr(q, 2ull); q[8] =
     atomicXor(q, 3ull); q[9] = atomicMin((long long*)q, -3ll))
MORE(f[1] = atomicAdd(f, 1.f); f[2]=atomicExch(f, 3.f); d[1]=atomicAdd(d, 2.0); h[1]=atomicAdd(h, h[2]);
     h2[1]=atomicAdd(h2, h2[2]); b[1]=atomicAdd(b, b[2]); b2[1]=atomicAdd(b2, b2[2]); t[1] = atomicCAS(t, (unsigned
     short)1, (unsigned short)2); f[4] = atomicAdd_block(f, 2.f); d[5] = atomicAdd_system(d, 1.0))
#if __CUDA_ARCH__ >= 900
MORE(float2 x = atomicAdd((float2 *)f, make_float2(1, 2)); float4 y = atomicAdd((float4*)f+1, make_float4(1, 2, 3,
     x.x)); f[9] = y.z)
#endif
MORE(cuda::atomic_ref<int> r(p[0]); r.store(1); r.store(2, cuda::memory_order_relaxed); r.store(3,
     cuda::memory_order_release); p[1] = r.load(); p[2]=r.load(cuda::memory_order_acquire); p[3] =
     r.load(cuda::memory_order_relaxed); p[4] = r.exchange(4, cuda::memory_order_acq_rel); int e = 3;
     r.compare_exchange_strong(e, 5); r.compare_exchange_weak(e, 6, cuda::memory_order_acquire,
     cuda::memory_order_relaxed); r.fetch_add(1); r.fetch_sub(2, cuda::memory_order_relaxed); r.fetch_and(3);
     r.fetch_or(4); r.fetch_xor(5); r.fetch_min(2); r.fetch_max(9, cuda::memory_order_release); ++r; r += 3; p[9] = r)
MORE(cuda::atomic_ref<unsigned long long, cuda::thread_scope_block> r(q[0]); r.fetch_add(1,
     cuda::memory_order_acq_rel); q[1] = r.load(); r.store(3))
MORE(cuda::atomic_ref<unsigned, cuda::thread_scope_system> r(u[0]); r.fetch_add(1, cuda::memory_order_seq_cst); u[1] =
     r.load(); r.store(3))
MORE(cuda::atomic_ref<unsigned, cuda::thread_scope_thread> r(u[0]); r.fetch_add(1, cuda::memory_order_seq_cst); u[1] =
     r.load(); r.store(3))
MORE(cuda::atomic_ref<float, cuda::thread_scope_device> r(f[0]); f[1] = r.fetch_add(1.5f); f[2] = r.load();
     r.store(3); cuda::atomic_ref<double> r2(d[0]); r2.fetch_add(2.0); r2.fetch_sub(1.0); r.fetch_min(2.f);
     r2.fetch_max(9.0))
MORE(cuda::atomic_ref<short, cuda::thread_scope_device> r(s[0]); s[1] = r.fetch_add(1); s[2] = r.load(); r.store(3);
     cuda::atomic_ref<char> c(*(char*)p); c.fetch_or(3); c.exchange(4))
MORE(__threadfence(); __threadfence_block(); __threadfence_system();
     cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_block);
     cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
     cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_system))
MORE(cuda::std::atomic_flag *g = (cuda::std::atomic_flag *)p; while
     (g->test_and_set(cuda::std::memory_order_acquire)); g->clear())
MORE(cuda::atomic<int, cuda::thread_scope_device> *g = (cuda::atomic<int, cuda::thread_scope_device> *)p; if (lane ==
     0) { g->store(1); g->notify_all(); } else g->wait(0))
MORE(u[0] = __isShared(p) + __isGlobal(p) + __isLocal(p) + __isConstant(p); __shared__ int sh[4]; sh[lane & 3] = lane;
     u[1] = __cvta_generic_to_shared(sh); q[1] = __cvta_generic_to_global(p); q[2] = (unsigned long
     long)__cvta_shared_to_generic(u[1]); q[3] = (unsigned long long)__cvta_global_to_generic(q[1]); u[5] =
     __isGridConstant(p))
MORE(int *x = (int *)__builtin_assume_aligned(p, 16); __builtin_assume(lane < 32); x[lane] = __builtin_expect(lane,
     3))
MORE(if (p[0]) __trap(); if (p[1]) __brkpt())
MORE(printf("%d %f %s\n", lane, f[lane], "x"))
MORE(q[0] = clock64() + clock(); u[0] = clock(); unsigned long long time; asm volatile("mov.u64 %0, %%globaltimer;" :
     "=l"(time)); q[1] = time)
MORE(p[0] = __syncthreads_count(p[lane]) + __syncthreads_and(p[lane]) + __syncthreads_or(p[lane]); __syncwarp();
     __syncthreads())
MORE(u[0] = warpSize; unsigned a; asm("mov.u32 %0, %%laneid;":"=r"(a)); u[1] = a; asm("mov.u32 %0, %%smid;":"=r"(a));
     u[2] = a; asm("mov.u32 %0, %%warpid;":"=r"(a)); u[3]=a; asm("mov.u32 %0, %%lanemask_lt;":"=r"(a)); u[4]=a;
     asm("mov.u32 %0, %%dynamic_smem_size;":"=r"(a)); u[5] = a)
MORE(__nv_fp8_e4m3 x(f[lane]); __nv_fp8_e5m2 y(f[lane]); f[lane] = float(x) + float(y); h[lane] = __half(x); b[lane] =
     __nv_bfloat16(y); d[lane] = double(x); p[lane] = int(x) ; __nv_fp8x2_e4m3 v(h2[lane]); h2[lane] = __half2(v);
     __nv_fp8x4_e5m2 w(make_float4(f[0], f[1], f[2], f[3])); float4 z = float4(w); f[5] = z.w; __nv_fp8_e4m3 g(b[3]);
     __nv_fp8_e5m2 gg(d[4]); u[lane] = (unsigned)g.__x + gg.__x; __nv_fp8x2_e5m2 vb(b2[lane]); t[lane] = vb.__x;
     __nv_fp8_e8m0 e8(f[lane]); f[7] = float(e8); __nv_fp8_e8m0 e9(b[1]); b[4] = __nv_bfloat16(e8))
MORE(t[0] = __nv_cvt_float2_to_fp8x2(make_float2(f[0], f[1]), __NV_NOSAT, __NV_E4M3); t[1] =
     __nv_cvt_halfraw2_to_fp8x2(h2[0], __NV_SATFINITE, __NV_E5M2); t[2] = __nv_cvt_bfloat16raw_to_fp8(b[0],
     __NV_NOSAT, __NV_E5M2); t[3] = __nv_cvt_double_to_fp8(d[0], __NV_SATFINITE, __NV_E4M3); h[1] =
     __nv_cvt_fp8_to_halfraw(t[4], __NV_E4M3))
MORE(struct all { char c[37]; }; *(all *)(p + 64) = *(all *)p; memcpy(p + 100, p, 12); memset(p + 200, 7, 40))
MORE(__prof_trigger(3))
MORE(const float4 v = __ldg((const float4 *)f); f[lane] = v.x + __fmaf_rz(v.y, v.z, v.w) + __frsqrt_rn(v.x) +
     __fdividef(v.x, v.y) + __saturatef(v.z) + __expf(v.x) + __exp10f(v.y) + __log2f(v.x) + __log10f(v.y) +
     __logf(v.z) + __powf(v.x, v.y) + __sinf(v.x) + __cosf(v.y) + __tanf(v.z))
MORE(p[lane] = p[lane] / p[lane + 1] % 7; q[lane] = q[lane] / q[lane + 1] + q[lane] % q[lane + 2]; d[lane] = d[lane] /
     d[lane + 1] + sqrt(d[lane]); f[lane] = f[lane] / f[lane + 1] + sqrtf(f[lane]); s[lane] = s[lane] / s[lane + 1];
     f[2] = fmodf(f[1], f[3]) + remainderf(f[1], f[3]); d[3] = fmod(d[0], d[1]))
MORE(h[lane] = hexp(h[lane]) + hlog(h[lane]) + hsin(h[lane]) + hcos(h[lane]) + hsqrt(h[lane]) + hrsqrt(h[lane]) +
     hrcp(h[lane]) + hexp2(h[lane]) + htanh(h[lane]) + htanh_approx(h[lane]) + hrint(h[lane]) + hfloor(h[lane]) +
     htrunc(h[lane]) + hceil(h[lane]); b[lane] = hexp(b[lane]) + hlog2(b[lane]) + hsin(b[lane]) + htanh(b[lane]) +
     hrcp(b[lane]))
