// Adds two vectors on every GPU and compares the result with the host's own sum. Only names that HIP has too, but for
// their prefix.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#define CHECK(call)                                                                  \
    do {                                                                             \
        cudaError_t status = (call);                                                 \
        if (status != cudaSuccess) {                                                 \
            std::printf("%s: %s\n", #call, cudaGetErrorString(status));              \
            return 1;                                                                \
        }                                                                            \
    } while (0)

__global__ void add(const float *a, const float *b, float *sum, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) sum[i] = a[i] + b[i];
}

static int check_device(int device) {
    const int count = 1 << 20;
    const size_t bytes = count * sizeof(float);
    std::vector<float> a(count), b(count), sum(count, -1.0f);
    for (int i = 0; i < count; ++i) {
        a[i] = static_cast<float>(i % 1024);
        b[i] = static_cast<float>((i * 7) % 1024);
    }
    float *gpu_a = nullptr, *gpu_b = nullptr, *gpu_sum = nullptr;
    CHECK(cudaSetDevice(device));
    CHECK(cudaMalloc(reinterpret_cast<void **>(&gpu_a), bytes));
    CHECK(cudaMalloc(reinterpret_cast<void **>(&gpu_b), bytes));
    CHECK(cudaMalloc(reinterpret_cast<void **>(&gpu_sum), bytes));
    CHECK(cudaMemcpy(gpu_a, a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(gpu_b, b.data(), bytes, cudaMemcpyHostToDevice));
    add<<<(count + 255) / 256, 256>>>(gpu_a, gpu_b, gpu_sum, count);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(sum.data(), gpu_sum, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (sum[i] != a[i] + b[i]) {
            std::printf("device %d: element %d is %f, expected %f\n", device, i, sum[i], a[i] + b[i]);
            return 1;
        }
    }
    CHECK(cudaFree(gpu_a));
    CHECK(cudaFree(gpu_b));
    CHECK(cudaFree(gpu_sum));
    std::printf("device %d: %d sums correct\n", device, count);
    return 0;
}

int main() {
    int devices = 0;
    CHECK(cudaGetDeviceCount(&devices));
    if (devices == 0) {
        std::printf("no device\n");
        return 1;
    }
    for (int device = 0; device < devices; ++device) {
        if (check_device(device) != 0) return 1;
    }
    return 0;
}
