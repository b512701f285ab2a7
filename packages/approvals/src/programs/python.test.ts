import { describeProgram } from "../../test/describe-program.ts";
import { python } from "./python.ts";

describeProgram(python, {
  understood: {
    "": ["stdin-code other"],
    "--version": [],
    "-m pytest -k 'not slow'": ["action project-code"],
    "-m pip install -r requirements.txt": ["action project-code", "command pip install -r requirements.txt"],
    "-m pip --version": ["action project-code", "command pip --version"],
    "-I -m pip --version": ["command pip --version"],
    "-P -m pip list": ["command pip list"],
    "-m venv ../venv": ["action project-code", "action install", "write ../venv"],
    "manage.py test": ["execute manage.py"],
    "-c 'print(1)'": ["inline-code print(1)"],
    "-u scripts/x.py <unknown>": ["execute scripts/x.py"],
  },
  notUnderstood: [
    "-c <unknown>",
    "-m <unknown>",
    "-i x.py",
    "--version -c x",
    "<unknown>",
    "--check-hash-based-pycs always x.py",
  ],
});
