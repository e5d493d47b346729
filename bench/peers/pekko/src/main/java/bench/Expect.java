package bench;

/** Where a pass is rounded to whole rounds, what must have been handled is not the count it was given. */
final class Expect {
    private Expect() {}

    static void handled(long expected, long handled) {
        if (handled != expected) {
            throw new IllegalStateException(handled + " of " + expected + " handled");
        }
    }
}
