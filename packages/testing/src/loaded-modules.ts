import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Imports a module and prints the URL of every module that this loads. */
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

/** The URLs of all modules that an entry point loads in a new process, as one text. */
export async function loadedModules(entry: URL): Promise<string> {
  const args = ["--conditions=codexkit:source", "--input-type=module", "--eval", PROGRAM, entry.href];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout;
}
