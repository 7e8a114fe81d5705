// Writes the tools as a configuration of mcp-toolbox. Each tool of mcp-toolbox is a statement for a database.

import { writeFile } from 'node:fs/promises'
import { tools } from '../catalog/definitions.mjs'

/** Each tool answers with its own name and its arguments, except arguments that are lists. */
export async function writeToolboxConfig (file, toolCount) {
  const source = { kind: 'source', name: 'memory', type: 'sqlite', database: ':memory:' }
  const documents = [source, ...tools(toolCount).map(toTool)]
  await writeFile(file, documents.map((document) => JSON.stringify(document, undefined, 2)).join('\n---\n'))
}

function toTool ({ name, description, inputSchema: { properties, required } }) {
  const simple = Object.entries(properties).filter(([, { type }]) => type !== 'array')
  const parameters = simple.map(([property, { type, description }]) => (
    { name: property, type, description, required: required.includes(property) }
  ))
  const columns = parameters.map((_, index) => `$${index + 1} AS value_${index + 1}`)
  const statement = `SELECT ${[`'${name}' AS tool`, ...columns].join(', ')}`
  return { kind: 'tool', name, type: 'sqlite-sql', source: 'memory', description, statement, parameters }
}
