import { describeProjectTool } from "../../test/describe-project-tool.ts";
import { databaseTools } from "./database-tools.ts";

describeProjectTool(databaseTools);
