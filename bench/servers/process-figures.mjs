// Reads the figures of a process from /proc, if the system has /proc.

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

export const HAS_PROC = existsSync('/proc/self/status')

/** Linux reports CPU time in hundredths of a second, independent of the configuration of the kernel. */
const MS_PER_TICK = 10

/** The size of the resident set, as an operator sees it. */
export async function residentBytes (pid) {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))
  return Number(kilobytes) * 1024
}

/** The CPU time of a process, on all CPUs together. NaN if there is no /proc. */
export async function cpuMs (pid) {
  if (!HAS_PROC) return NaN
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  // The name is in parentheses and may contain spaces. User and system time are the 12th and 13th field after
  // the name.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK
}
