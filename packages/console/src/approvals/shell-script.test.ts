import { expect, it } from "vitest";
import { splitShell } from "./shell-script.ts";

it("extracts the script from the shell that Codex wraps it in", () => {
  expect(splitShell("/bin/bash -lc 'npm test && ls'")).toEqual({
    shell: "/bin/bash -lc",
    script: "npm test && ls",
  });
  expect(splitShell(`bash -c "echo \\"hi\\""`)).toEqual({ shell: "bash -c", script: `echo "hi"` });
  expect(splitShell(String.raw`sh -c 'it'\''s'`)).toEqual({ shell: "sh -c", script: "it's" });
});

it.each(["npm test", "bash -lc 'one' two", 'bash -lc "echo $HOME"', "bash script.sh", ""])(
  "shows %j as it is",
  (command) => {
    expect(splitShell(command)).toEqual({ shell: null, script: command });
  },
);
