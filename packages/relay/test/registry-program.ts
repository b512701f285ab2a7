// The commands of a registry as a program, for tests that end a process.
import { registryCommands } from "../src/registry/commands/registry-commands.ts";

await registryCommands().parseAsync();
