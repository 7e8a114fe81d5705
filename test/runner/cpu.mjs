import { readFileSync } from 'node:fs'

/** Reads the CPU seconds of the children that this process has waited for. 0 where there is no /proc. */
export function readChildrenSeconds () {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ')
    // The user and system time of children, in hundredths of a second: fields 16 and 17 of proc_pid_stat(5).
    return (Number(fields[13]) + Number(fields[14])) / 100
  } catch {
    return 0
  }
}
