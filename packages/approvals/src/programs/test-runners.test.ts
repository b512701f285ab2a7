import { describeProjectTool } from "../../test/describe-project-tool.ts";
import { testRunners } from "./test-runners.ts";

describeProjectTool(testRunners);
