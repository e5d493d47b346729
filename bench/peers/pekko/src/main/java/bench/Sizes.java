package bench;

/** How many operations: timed, reported, and at least in the warm-up. */
record Sizes(long ops, long operations, long warmUp) {
    static Sizes parse(String[] arguments) {
        return new Sizes(
                option(arguments, "--ops"), option(arguments, "--operations"), option(arguments, "--warm-up"));
    }

    private static long option(String[] arguments, String name) {
        for (int index = 2; index + 1 < arguments.length; index += 2) {
            if (arguments[index].equals(name)) {
                return Long.parseLong(arguments[index + 1]);
            }
        }
        throw new IllegalArgumentException(name + " is missing");
    }
}
