import { takeCoverage } from "node:v8";
import { afterAll } from "@jest/globals";

/** Writes what the file covered, because Jest can kill a worker before Node writes it at the end of the process. */
afterAll(() => takeCoverage());
