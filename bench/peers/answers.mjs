// What Trivet has answered, by method: what a bare peer sends.

import { readFileSync } from 'node:fs'

export const answers = JSON.parse(readFileSync(process.env.BENCH_ANSWERS, 'utf8'))
