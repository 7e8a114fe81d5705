import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'

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

/** Returns a function that tells which part of the time of all cores was idle since its last call. */
export function createIdleMeter () {
  let last = readTimes()
  return () => {
    const times = readTimes()
    const [idle, all] = [times.idle - last.idle, times.all - last.all]
    last = times
    return all === 0 ? 0 : idle / all
  }
}

function readTimes () {
  const cores = cpus().map(({ times }) => times)
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0)
  const all = cores.flatMap((times) => Object.values(times))
  return { idle: sum(cores.map(({ idle }) => idle)), all: sum(all) }
}
