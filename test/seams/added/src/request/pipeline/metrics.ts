import type { Observer } from './observer.ts'

const counts = new Map<string, number>()
Object.assign(globalThis, { requestCounts: counts })

export const metrics: Observer = {
  end ({ method = 'unknown' }, { protocolError }) {
    const label = `${method} ${protocolError?.code ?? 'ok'}`
    counts.set(label, (counts.get(label) ?? 0) + 1)
  }
}
