export const SESSION_HEADER = 'mcp-session-id'
