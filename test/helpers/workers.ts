// What tests of a service with several workers ask of it.

import { readFile } from 'node:fs/promises'
import { toolModule } from './catalog-folder.ts'
import type { Message } from './request.ts'
import type { Service } from './service.ts'

export function logLines ({ stdout }: Pick<Service, 'stdout'>, message?: string): Message[] {
  const lines = stdout().split('\n').filter((line) => line !== '')
  return lines.map((line): Message => JSON.parse(line)).filter(({ msg }) => msg === (message ?? msg))
}

/** The lines of workers that say where they serve, one for each start. */
export const servingLines = (service: Service) => logLines(service).filter(({ url }) => /\/mcp$/.test(url ?? ''))

/** A module that waits while it is evaluated as long as the gate exists, and notes that it waits. */
export const gated = (gate: string, text: string) => `import { existsSync, writeFileSync } from 'node:fs'
  import { setTimeout } from 'node:timers/promises'
  while (existsSync(${JSON.stringify(gate)})) {
    writeFileSync(${JSON.stringify(gate)} + '.' + process.pid, '')
    await setTimeout(5)
  }
  ${toolModule('a', '', `() => '${text} ' + process.pid`)}`

/** The processes that a service has started. */
export async function readChildren ({ child: { pid } }: Pick<Service, 'child'>): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.split(' ').filter((one) => one !== '').map(Number)
}
