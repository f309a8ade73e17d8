"""Serves pages to MCP clients, and loads the likely next ones while their models think; needs the extra `mcp`."""
