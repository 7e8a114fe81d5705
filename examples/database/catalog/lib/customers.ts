// The queries, with their types. Values are parameters, and never parts of the text.

import { ToolError } from 'trivet'
import type { Database } from './database.ts'

export interface Customer {
  readonly id: string
  readonly name: string
  readonly city: string
  /** Counts the changes. */
  readonly version: number
}

/** A result has no more rows than this. */
export const MAX_ROWS = 50
/** The list has no more entries than this. */
const MAX_LISTED = 1000
const ID = /^[1-9]\d{0,17}$/

export async function findCustomer ({ reader }: Database, id: string): Promise<Customer | undefined> {
  if (!ID.test(id)) return undefined
  const { rows } = await reader.query<Customer>(
    'select id, name, city, version from customers where id = $1', [id]
  )
  return rows[0]
}

export interface CustomerSearch {
  /** A part of the name. Each character stands for itself. */
  readonly name: string
  readonly city?: string | undefined
  readonly limit: number
}

/** Also says whether there are more rows than the limit. */
export async function searchCustomers (
  { reader }: Database, { name, city, limit }: CustomerSearch
): Promise<{ readonly customers: readonly Customer[], readonly hasMore: boolean }> {
  const { rows } = await reader.query<Customer>(
    `select id, name, city, version from customers
     where strpos(lower(name), lower($1)) > 0 and ($2::text is null or lower(city) = lower($2))
     order by name, id limit $3`,
    [name, city, Math.min(limit, MAX_ROWS) + 1]
  ).catch(inWordsForModels)
  return { customers: rows.slice(0, limit), hasMore: rows.length > limit }
}

/** The newest ones. */
export async function listCustomers (
  { reader }: Database
): Promise<ReadonlyArray<Pick<Customer, 'id' | 'name'>>> {
  const { rows } = await reader.query<Pick<Customer, 'id' | 'name'>>(
    'select id, name from customers order by id desc limit $1', [MAX_LISTED]
  )
  return rows
}

export async function addCustomer (
  { writer }: Database, { name, city }: Pick<Customer, 'name' | 'city'>
): Promise<Customer | undefined> {
  const { rows } = await writer.query<Customer>(
    'insert into customers (name, city) values ($1, $2) returning id, name, city, version', [name, city]
  )
  return rows[0]
}

export interface CustomerChange {
  readonly id: string
  /** That of the customer before the change. */
  readonly version: number
  readonly name?: string | undefined
  readonly city?: string | undefined
}

/** Changes nothing if the customer has another version: somebody has changed it since it was read. */
export async function changeCustomer (
  { writer }: Database, { id, version, name, city }: CustomerChange
): Promise<Customer | undefined> {
  const { rows } = await writer.query<Customer>(
    `update customers set name = coalesce($3, name), city = coalesce($4, city), version = version + 1
     where id = $1 and version = $2 returning id, name, city, version`,
    [id, version, name, city]
  )
  return rows[0]
}

/** The database has ended the query: the time was over. */
const QUERY_CANCELED = '57014'

function inWordsForModels (error: Error & { readonly code?: unknown }): never {
  if (error.code !== QUERY_CANCELED) throw error
  throw new ToolError('The search took too long. Search for a longer part of the name, or in one city.')
}
