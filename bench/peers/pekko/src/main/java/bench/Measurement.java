package bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Warms up, times one pass, reads memory. A just-in-time compiler needs the warm-up: full repetitions of the workload, one
 * at least, until they have taken three seconds. The virtual machine does not count allocations.
 */
final class Measurement {
    private static final long WARM_UP_NANOS = 3_000_000_000L;

    private final String name;
    private final Pass pass;
    private final Sizes sizes;

    Measurement(String name, Pass pass, Sizes sizes) {
        this.name = name;
        this.pass = pass;
        this.sizes = sizes;
    }

    String run() {
        warmUp();
        boolean keepsActors = name.equals("spawn") || name.equals("timers");
        // Full collections, so that neither the heap read below nor the timed pass has the warm-up's rubbish in it.
        long before = keepsActors ? liveHeap() : 0;
        long start = System.nanoTime();
        checked(sizes.ops());
        double nanos = System.nanoTime() - start;
        long peak = peak();
        String bytes = keepsActors ? number(Math.max(liveHeap() - before, 0) / (double) sizes.ops()) : "null";
        return String.format(
                Locale.ROOT,
                "{\"ops_per_sec\":%s,\"ns_per_op\":%s,\"allocs_per_op\":null,\"bytes_per_actor\":%s,\"peak_bytes\":%d}",
                number(sizes.operations() * 1e9 / nanos), number(nanos / sizes.operations()), bytes, peak);
    }

    /** Between two processes; the warm-up makes the connection and has both compile. */
    static String between(String name, Sizes sizes) throws IOException {
        Partner there = new Partner(name);
        RemoteCaller caller = new RemoteCaller(name, there.invitation);
        long warmUp = System.nanoTime();
        do {
            caller.pass(sizes.warmUp());
        } while (System.nanoTime() - warmUp < WARM_UP_NANOS);
        double farBefore = there.cpuMicros();
        double before = Partner.ownCpuMicros();
        long start = System.nanoTime();
        caller.pass(sizes.ops());
        double nanos = System.nanoTime() - start;
        double used = Partner.ownCpuMicros() - before;
        double farUsed = there.cpuMicros() - farBefore;
        there.end();
        double ops = sizes.ops();
        return String.format(
                Locale.ROOT,
                "{\"ops_per_sec\":%s,\"ns_per_op\":%s,\"allocs_per_op\":null,\"p50_us\":%s,\"p99_us\":%s,"
                        + "\"p999_us\":%s,\"peak_bytes\":%d,\"cpu_us_per_op\":%s,\"far_cpu_us_per_op\":%s}",
                number(ops * 1e9 / nanos), number(nanos / ops), caller.percentile(0.5), caller.percentile(0.99),
                caller.percentile(0.999), peak(), number(used / ops), number(farUsed / ops));
    }

    private void warmUp() {
        long start = System.nanoTime();
        checked(sizes.warmUp());
        do {
            checked(sizes.ops());
            pass.forget();
        } while (System.nanoTime() - start < WARM_UP_NANOS);
        pass.settle();
    }

    private void checked(long count) {
        long handled = pass.run(count);
        if (handled != count) {
            throw new IllegalStateException(name + ": " + handled + " of " + count + " handled");
        }
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.3f", value);
    }

    /** The resident set follows the heap's policy, not the actors; what they keep alive is in the heap. */
    private static long liveHeap() {
        Runtime runtime = Runtime.getRuntime();
        for (int round = 0; round < 3; round++) {
            System.gc();
        }
        return runtime.totalMemory() - runtime.freeMemory();
    }

    private static long peak() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith("VmHWM:")) {
                    return 1024 * Long.parseLong(line.replaceAll("[^0-9]", ""));
                }
            }
        } catch (IOException absent) {
            // Not Linux.
        }
        return 0;
    }
}
