// Tools that change this folder. The service must notice, reload the catalog and tell the subscribers.

import { fileURLToPath } from 'node:url'
import { defineTool } from 'trivet'
import { toggleFile } from '../lib/toggle-file.ts'

const TOOL_PATH = fileURLToPath(new URL('./test_dynamic_tool.ts', import.meta.url))
const TOOL = `import { defineTool } from 'trivet'

export default defineTool({
  name: 'test_dynamic_tool',
  description: 'Comes and goes.',
  order: 1000,
  run: () => 'Here for now.'
})
`

const PROMPT_PATH = fileURLToPath(new URL('../prompts/test_dynamic_prompt.md', import.meta.url))
const PROMPT = `---
title: Dynamic prompt
description: Comes and goes.
---
Here for now.
`

export const toolChange = defineTool({
  name: 'test_trigger_tool_change',
  description: 'Adds the tool test_dynamic_tool to the catalog, or removes it.',
  run: async () => `test_dynamic_tool: ${await toggleFile(TOOL_PATH, TOOL)}`
})

export const promptChange = defineTool({
  name: 'test_trigger_prompt_change',
  description: 'Adds the prompt test_dynamic_prompt to the catalog, or removes it.',
  run: async () => `test_dynamic_prompt: ${await toggleFile(PROMPT_PATH, PROMPT)}`
})
