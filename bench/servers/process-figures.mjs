// What the system says of a process: only where there is a /proc.

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

export const HAS_PROC = existsSync('/proc/self/status')

/** Linux counts a process's time in hundredths of a second, whatever the kernel was built with. */
const MS_PER_TICK = 10

/** The resident set, as an operator sees it. */
export async function residentBytes (pid) {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))
  return Number(kilobytes) * 1024
}

/** The time that a process has spent on any CPU. Not a number where there is no /proc. */
export async function cpuMs (pid) {
  if (!HAS_PROC) return NaN
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  // The name, in parentheses, may hold spaces; user and system time are the 12th and 13th field after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK
}
