// The forms of questions and of MCP servers, with the buttons that send them, and other bodies that few approvals have.
export { ElicitationActions, QuestionActions } from "./answer-actions.tsx";
export { ElicitationBody } from "./elicitation-body.tsx";
export { McpToolBody } from "./mcp-tool-body.tsx";
export { PermissionsBody } from "./permissions-body.tsx";
export { QuestionBody } from "./question-body.tsx";
