import { program } from "./keys-program.ts";
import { runProgram } from "./run-program.ts";

/** `npm run keys -- <command>`: issues, lists, shows, rotates and revokes API keys. */

process.exitCode = await runProgram(program, "keys");
