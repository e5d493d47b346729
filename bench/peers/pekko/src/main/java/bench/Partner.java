package bench;

import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;

/** The second process of a workload: lines over stdin and stdout, and what each process has used of the processor. */
final class Partner {
    /** After this the second process ends in any case. */
    private static final long LIFE = 240_000;

    private final Process process;
    private final BufferedReader lines;
    private final PrintStream orders;
    final String invitation;

    Partner(String workload) throws IOException {
        String java = ProcessHandle.current().info().command().orElse("java");
        List<String> options = ManagementFactory.getRuntimeMXBean().getInputArguments();
        List<String> command = new java.util.ArrayList<>(List.of(java));
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), "bench.Main", "serve", workload));
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        lines = process.inputReader();
        orders = new PrintStream(process.getOutputStream(), true);
        String line = lines.readLine();
        if (line == null || !line.startsWith("ready ")) {
            throw new IllegalStateException("the second process said: " + line);
        }
        invitation = line.substring("ready ".length());
    }

    /** Microseconds of processor time there. */
    double cpuMicros() throws IOException {
        orders.println("usage");
        return Double.parseDouble(lines.readLine().replaceAll(".*\"cpu_us\":([0-9.E]+).*", "$1"));
    }

    void end() {
        process.destroyForcibly();
    }

    static double ownCpuMicros() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime() / 1e3;
    }

    static void answerQuestions(String invitation) {
        new Timer(true).schedule(new TimerTask() {
            @Override
            public void run() {
                Runtime.getRuntime().halt(3);
            }
        }, LIFE);
        System.out.println("ready " + invitation);
        System.out.flush();
        try (BufferedReader questions = new BufferedReader(new InputStreamReader(System.in))) {
            while (questions.readLine() != null) {
                System.out.println("{\"cpu_us\":" + ownCpuMicros() + ",\"allocations\":null}");
                System.out.flush();
            }
        } catch (IOException gone) {
            // Nobody asks any more.
        }
    }
}
