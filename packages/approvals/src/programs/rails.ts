import { developerTool } from "./declaration/developer-tool.ts";

/** Web frameworks run the project's application. */
export const rails = developerTool({
  names: ["artisan", "django-admin", "rails", "flask", "uvicorn", "gunicorn", "celery", "streamlit"],
  prints: [],
  otherwise: ["project-code"],
});
