// Creates the roles of roles.sql under unique names on the Postgres of the tests.
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import pg from 'pg'
import type { Test } from 'tap'

export type TestRoles = {
  /** With the owner of the tables, for `DATABASE_URL`. */
  readonly ownerUrl: string
  /** With the login of the query API. */
  readonly loginUrl: string
  readonly reader: string
  /** With the login of the command API. */
  readonly commandUrl: string
  readonly keysRole: string
}

/** Runs roles.sql as psql would. Everything is dropped at the end of the test. */
export async function createRoles(t: Test): Promise<TestRoles> {
  const serverUrl = process.env.TEST_DATABASE_URL
  if (!serverUrl) throw new Error('TEST_DATABASE_URL is not set: run the tests through npm test')
  const suffix = randomBytes(6).toString('hex')
  const password = 'made-up'
  const values: Readonly<Record<string, string>> = {
    owner: `owner_${suffix}`,
    reader: `reader_${suffix}`,
    login: `login_${suffix}`,
    keys: `keys_${suffix}`,
    keys_login: `keys_login_${suffix}`,
    database: `deployed_${suffix}`,
    owner_password: password,
    login_password: password,
    keys_password: password,
  }
  const value = (name: string) => values[name] ?? ''
  const administer = async (statements: readonly string[]) => {
    const client = new pg.Client({ connectionString: serverUrl })
    await client.connect()
    try {
      for (const statement of statements) await client.query(statement)
    } finally {
      await client.end()
    }
  }
  const script = await readFile(new URL('../postgres/roles.sql', import.meta.url), 'utf8')
  const sql = script
    .replaceAll(/^(\\|--).*$/gm, '')
    .replaceAll(/:"(\w+)"/g, (_, name: string) => pg.escapeIdentifier(value(name)))
    .replaceAll(/:'(\w+)'/g, (_, name: string) => pg.escapeLiteral(value(name)))
  const statements = sql.split(';').filter((statement) => statement.trim() !== '')
  t.teardown(() =>
    administer([
      `drop database if exists ${value('database')} with (force)`,
      ...['login', 'keys_login', 'reader', 'keys', 'owner'].map((name) => `drop role if exists ${value(name)}`),
    ]),
  )
  await administer(statements)
  const urlOf = (user: string) => {
    const url = new URL(serverUrl)
    Object.assign(url, { username: user, password, pathname: `/${value('database')}` })
    return url.href
  }
  return {
    ownerUrl: urlOf(value('owner')),
    loginUrl: urlOf(value('login')),
    reader: value('reader'),
    commandUrl: urlOf(value('keys_login')),
    keysRole: value('keys'),
  }
}
