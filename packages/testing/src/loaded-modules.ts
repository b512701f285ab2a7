import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** A program that imports a module and prints the URLs of all modules that are loaded. */
const PROGRAM = `
  import { registerHooks } from "node:module";
  const urls = [];
  registerHooks({
    load: (url, context, next) => {
      urls.push(url);
      return next(url, context);
    },
  });
  await import(process.argv[1]);
  console.log(JSON.stringify(urls));
`;

/** Loads an entry point in a new process. Returns the URLs of all loaded modules as one text. */
export async function loadedModules(entry: URL): Promise<string> {
  const args = ["--conditions=codexkit:source", "--input-type=module", "--eval", PROGRAM, entry.href];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout;
}
