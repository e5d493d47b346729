package bench;

/** Waits until the guardian's children, which stop each by itself, are gone. */
final class Children {
    private Children() {}

    static void awaitNone(Host host) {
        long end = System.nanoTime() + 60_000_000_000L;
        boolean[] none = new boolean[1];
        while (!none[0]) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("the children did not stop");
            }
            Latch looked = new Latch();
            looked.arm(1);
            host.system.tell(new Host.Run(context -> {
                none[0] = context.getChildren().isEmpty();
                looked.arrive(1);
            }));
            looked.await();
            Thread.onSpinWait();
        }
    }
}
