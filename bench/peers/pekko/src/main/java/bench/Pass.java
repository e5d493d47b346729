package bench;

/** A set-up workload: runs so many operations to completion, says how many were handled. */
@FunctionalInterface
interface Pass {
    long run(long count);

    /** Lets go of what the passes so far have left alive. */
    default void forget() {}

    /** Waits after the warm-up until what was forgotten is gone. */
    default void settle() {}
}
