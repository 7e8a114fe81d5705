// The internal API. It takes tokens of the company's identity provider, and decides what each user may do.

import { defineSettings, defineUpstream, ToolError } from 'trivet'

const settings = defineSettings({
  CRM_URL: {
    type: 'string',
    format: 'uri',
    description: 'The URL of the CRM, such as https://crm.internal.example.com/api/'
  }
})

export const crm = defineUpstream({
  name: 'crm',
  settings,
  url: ({ CRM_URL }) => CRM_URL,
  auth: {
    type: 'exchange',
    // The name that the CRM has at the identity provider. README.md says what to write for yours.
    audience: 'crm',
    scopes: ['crm:read', 'crm:export'],
    // An export goes on after its request, as the same user.
    keep: true
  },
  // The CRM is in the company's own network.
  allowPrivate: true,
  limits: { timeoutMs: 5000 }
})

/** Reads an answer as JSON. A model can act on the first two errors, and nobody but the log on the last. */
export async function readJson<T> (answer: Response, what: string): Promise<T> {
  if (answer.status === 404) throw new ToolError(`There is no ${what}.`)
  if (answer.status === 403) throw new ToolError(`This user may not see ${what}.`)
  if (!answer.ok) throw new Error(`the CRM answered ${answer.status}`)
  return await answer.json() as T
}
