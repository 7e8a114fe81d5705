// The database: a pool for each of two roles. What reads uses the role that may only read: no error in a
// query can then change a row.

import { Pool, type PoolConfig } from 'pg'
import { defineDependency, defineSettings } from 'trivet'
import { migrate } from './migrations.ts'

const settings = defineSettings({
  DATABASE_URL: {
    type: 'string',
    format: 'uri',
    secret: true,
    description: 'The PostgreSQL with the customers, as the role that reads'
  },
  DATABASE_WRITER_URL: {
    type: 'string',
    format: 'uri',
    secret: true,
    description: 'The same as the role that writes, which owns the tables'
  },
  DATABASE_CONNECTIONS: {
    type: 'integer',
    minimum: 1,
    maximum: 50,
    default: 5,
    description: 'The connections of each replica that read, and of those that write'
  },
  DATABASE_TIMEOUT_MS: {
    type: 'integer',
    minimum: 100,
    maximum: 60_000,
    default: 5000,
    description: 'The time of a query'
  }
})

export interface Database {
  readonly reader: Pool
  readonly writer: Pool
}

export const database = defineDependency({
  name: 'database',
  settings,
  // While one replica migrates, the others wait for it.
  openTimeoutMs: 120_000,
  async open ({ settings, log }) {
    const shared: PoolConfig = {
      max: settings.DATABASE_CONNECTIONS,
      connectionTimeoutMillis: 5000,
      // A query knows no signal: the database must end one that takes too long.
      statement_timeout: settings.DATABASE_TIMEOUT_MS
    }
    const open = (connectionString: string) => {
      const pool = new Pool({ ...shared, connectionString })
      // Without these listeners a lost connection would end the process.
      pool.on('error', ({ message }) => log.warning('a connection to the database was lost', { message }))
      pool.on('connect', (client) => { client.on('error', () => {}) })
      return pool
    }
    const pools: Database = {
      reader: open(settings.DATABASE_URL), writer: open(settings.DATABASE_WRITER_URL)
    }
    try {
      await migrate(pools.writer)
      await pools.reader.query('select 1 from customers limit 1')
    } catch (error) {
      await close(pools)
      throw error
    }
    return pools
  },
  close,
  check: async ({ reader }) => await reader.query('select 1')
})

async function close ({ reader, writer }: Database): Promise<void> {
  await Promise.all([reader.end(), writer.end()])
}
