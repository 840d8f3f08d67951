// A separate database for a test, on the server that `npm test` started.

import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { Test } from 'tap'

/**
 * Creates a database for a test. It is dropped if the test passes and kept for inspection if it fails.
 *
 * @param options `template`: the database to copy; default: an empty database
 * @throws Error when there is no server, because the test was not run through `npm test`
 */
export async function createTestDatabase(
  t: Test,
  { template }: { template?: string } = {},
): Promise<{ databaseUrl: string }> {
  const serverUrl = process.env.TEST_DATABASE_URL
  if (!serverUrl)
    throw new Error('TEST_DATABASE_URL is not set: run the tests through npm test, which starts a Postgres')
  const name = `t${process.env.TAP_CHILD_ID ?? 0}_${randomBytes(6).toString('hex')}`
  await administer(serverUrl, `create database ${name}${template ? ` template ${pg.escapeIdentifier(template)}` : ''}`)
  t.teardown(async () => {
    if (t.passing()) await administer(serverUrl, `drop database ${name} with (force)`)
    else t.comment(`the database ${name} is kept until the end of the run`)
  })
  return { databaseUrl: databaseAt(serverUrl, name) }
}

/** The URL of another database on the same server. */
export function databaseAt(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

/** Executes one statement on a separate connection. */
export async function administer(databaseUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
