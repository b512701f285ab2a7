import { describeProgram } from "../../test/describe-program.ts";
import { locale } from "./locale.ts";

describeProgram(locale, { understood: { "-a": [], LC_ALL: [] }, notUnderstood: ["--all", "-x"] });
