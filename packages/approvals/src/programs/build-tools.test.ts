import { describeProjectTool } from "../../test/describe-project-tool.ts";
import { buildTools } from "./build-tools.ts";

describeProjectTool(buildTools);
