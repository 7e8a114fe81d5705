// The text of docs/settings.md. `npm run settings` writes it.

import type { Setting } from '../../src/ops/config/setting-kinds.ts'
import { GROUPS } from '../../src/ops/config/settings.ts'

const COLUMNS = '| Variable | Default | Value | Meaning |\n| --- | --- | --- | --- |\n'

const HEAD = `# Settings

This page is made from the table in \`src/ops/config\`: \`npm run settings\` writes it.

Each setting is an environment variable. Each setting that is no secret is also a flag of \`serve\` and \`dev\`:
\`TRIVET_MAX_BODY_BYTES\` is \`--max-body-bytes\`. A flag comes before its variable. An empty variable
counts as absent. Problems stop the start, and are reported together. The log warns of a variable that begins
with \`TRIVET_\` and is no setting. [A program that embeds the service](operating/start.md#embed-it) passes
options: \`maxBodyBytes\`.
`

export function toSettingsPage (groups: typeof GROUPS = GROUPS): string {
  return [HEAD, ...Object.entries(groups).map(([group, settings]) => {
    return `\n## ${group}\n\n${COLUMNS}${Object.values(settings).map(toRow).join('')}`
  })].join('')
}

function toRow ({ variable, fallback, kind, isSecret, about }: Setting): string {
  const unit = kind.unit === undefined ? '' : `, in ${kind.unit}`
  const form = `${kind.textForm ?? kind.form}${unit}`.replaceAll('|', '\\|')
  const secret = isSecret === true ? ' Secret: no flag.' : ''
  const value = String(fallback ?? '')
  const cells = [`\`${variable}\``, value === '' ? '' : `\`${value}\``, form, `${about}${secret}`]
  return `|${cells.map((cell) => cell === '' ? ' ' : ` ${cell} `).join('|')}|\n`
}
