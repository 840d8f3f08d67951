// Asks the database directly, past the node, on a connection of its own: others may be cut at any time.
import pg from 'pg'

export async function queryOnce(
  databaseUrl: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<Record<string, unknown>>(text, [...values])
    return rows
  } finally {
    await client.end()
  }
}
