package bench;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** A countdown that receivers arrive at, and how many messages they handled; armed anew for each pass. */
final class Latch {
    private static final long PATIENCE = 110;

    private volatile CountDownLatch open = new CountDownLatch(0);
    private final LongAdder handled = new LongAdder();

    void arm(long count) {
        handled.reset();
        open = new CountDownLatch(Math.toIntExact(count));
    }

    void arrive(long count) {
        handled.add(count);
        open.countDown();
    }

    long await() {
        try {
            if (!open.await(PATIENCE, TimeUnit.SECONDS)) {
                throw new IllegalStateException("the pass did not end: " + open.getCount() + " arrivals missing");
            }
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
        return handled.sum();
    }
}
