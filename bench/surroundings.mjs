// The versions and the machine that the figures of a run depend on.

import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

const SDK = ['server', 'fastify', 'node'].map((name) => `@modelcontextprotocol/${name}`)
const PACKAGES = ['fastify', ...SDK, 'zod']

export function surroundings () {
  return {
    trivet: versionOf('.'),
    generator: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpus: availableParallelism(),
    packages: Object.fromEntries(PACKAGES.map((name) => [name, versionOf(`node_modules/${name}`)]))
  }
}

function versionOf (folder) {
  return JSON.parse(readFileSync(new URL(`../${folder}/package.json`, import.meta.url), 'utf8')).version
}
