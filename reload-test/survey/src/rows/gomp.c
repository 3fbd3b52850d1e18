/* A sum by four threads. */
long row_sum(long count) {
    long sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(4)
    for (long at = 0; at < count; at++) sum += at;
    return sum;
}
