// Measures how fast a change that one replica announces reaches the listeners of all replicas.

import { percentile, spread } from '../figures/stats.mjs'
import { announce } from './announcer.mjs'
import { arrivals } from './stream-client.mjs'

/**
 * The replicas announce in turn. The first round is a warm-up. The last round shows that no notification of
 * an earlier round came twice.
 */
export async function measureFanOut (replicas, uris, rounds) {
  const measured = []
  for (let round = 0; round < rounds + 2; round++) measured.push(await announceOnce(replicas, uris, round))
  for (const { client } of replicas) client.check()
  const counted = measured.slice(1, -1)
  const spreadOf = (where, key) => spread(counted.map((round) => round[where][key]))
  return ['same', 'other', 'all'].map((where) => ({
    where,
    streams: counted[0][where].streams,
    firstMs: spreadOf(where, 'firstMs'),
    medianMs: spreadOf(where, 'medianMs'),
    lastMs: spreadOf(where, 'lastMs')
  }))
}

/**
 * Milliseconds from the announcement, by place of the listeners: on the announcing replica, on the others,
 * on all.
 */
async function announceOnce (replicas, uris, round) {
  const uri = uris[round % uris.length]
  const announcing = round % replicas.length
  const clients = replicas.map(({ client }) => client)
  const { url } = replicas[announcing].server
  const { changed, arrived } = await arrivals(clients, uri, () => announce(url, uri))
  const [same, other] = [true, false].map((isSame) => arrived.flatMap(({ times }, replica) => (
    (replica === announcing) === isSame ? times.map((time) => time - changed) : []
  )))
  return { same: delays(same), other: delays(other), all: delays([...same, ...other]) }
}

function delays (values) {
  const sorted = Float64Array.from(values).sort()
  const [firstMs, medianMs, lastMs] = [sorted[0], percentile(sorted, 0.5), sorted.at(-1)]
  return { streams: sorted.length, firstMs, medianMs, lastMs }
}
