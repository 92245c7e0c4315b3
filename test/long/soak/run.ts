import { Command, Option } from "commander";
import { wholeNumber } from "../whole-number.ts";

const description = `Sends mixed requests to a local service, half of them lists, while its store is killed four times and its functions are killed twenty times. Fails
- when a request gets no response or an unexpected one, or more than 0.1 % of the responses outside the kills are a 5xx;
- when an acknowledged pet is not in the list exactly once;
- when a kill did not happen;
- when the heap of the main thread and the store after a garbage collection, or the resident memory (mean of the second half of the quarter), grows by more than 5 % in the last quarter;
- when the service holds more than 16 descriptors above those of the start after the clients disconnected.
With --kill-service it kills the whole service under load, again and again on one data folder. Fails when an acknowledged pet is not in the list exactly once, and on any 5xx.`;

export const command = new Command("soak")
  .summary(
    "kills the store and the functions, or the whole service, under load and looks for lost pets (Linux)",
  )
  .description(description)
  .option("--requests <number>", "how many to send", wholeNumber(1000), 200_000)
  .addOption(
    new Option("--kill-service <times>", "kill the whole service instead of its parts")
      .argParser(wholeNumber(1))
      .conflicts("requests"),
  )
  .action(async ({ requests, killService }: { requests: number; killService?: number }) => {
    if (killService) await (await import("./kill-service.ts")).killService(killService);
    else await (await import("./soak.ts")).soak(requests);
  });
