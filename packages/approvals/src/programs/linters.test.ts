import { describeProjectTool } from "../../test/describe-project-tool.ts";
import { linters } from "./linters.ts";

describeProjectTool(linters);
